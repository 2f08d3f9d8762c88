//! What the three experiments show alike: the table, the lines of a plot, the claim that everything is solved.

use super::measure::{Case, METHODS};
use crate::papers::compose::{axis, claim, columns, count, judge, number, text};
use crate::papers::{Cell, Claim, Plot, Series, Table};

/// A row per case and method; `paper` gives the paper's time (ms) where it has one.
pub(super) fn table(name: &str, title: &str, cases: &[Case], paper: impl Fn(&Case, usize) -> Option<f64>) -> Table {
    let mut rows = Vec::new();
    for case in cases {
        for (j, (_, method)) in METHODS.iter().enumerate().filter(|(j, _)| case.methods[*j]) {
            let tally = &case.results[j];
            rows.push(vec![
                text(&case.name),
                count(case.bodies),
                count(case.contacts),
                text(*method),
                number(paper(case, j)),
                number(tally.time),
                Cell::Number(tally.pivots),
                text(format!("{}/{}", tally.solved, case.problems())),
                count(tally.fallbacks),
                Cell::Number(tally.residual),
                Cell::Number(tally.certificate),
            ]);
        }
    }
    let names = [
        ("problem", ""),
        ("bodies", ""),
        ("contacts", ""),
        ("method", ""),
        ("paper", "ms"),
        ("time", "ms"),
        ("pivots, mean", ""),
        ("solved", ""),
        ("by another method", ""),
        ("miss of (8), worst", ""),
        ("certificate, worst", ""),
    ];
    Table { name: name.into(), title: title.into(), columns: columns(&names), rows }
}

/// Times against contacts.
pub(super) fn plot(name: &str, title: &str, log: bool, series: Vec<Series>) -> Plot {
    let (x, y) = (axis("contacts n", log), axis("time per solve (ms)", log));
    Plot { name: name.into(), title: title.into(), x, y, series }
}

/// The times of one method over cases of at most this many contacts.
pub(super) fn series(cases: &[Case], j: usize, most: usize, scattered: bool) -> Series {
    let small = cases.iter().filter(|case| case.contacts <= most);
    let points = small.filter_map(|case| Some((case.contacts as f64, case.time(j)?))).collect();
    Series { name: METHODS[j].1.into(), points, scattered, paper: false }
}

/// Points of the paper's own.
pub(super) fn of_paper(j: usize, points: &[(f64, f64)]) -> Series {
    let name = format!("{}, paper (2004)", METHODS[j].1);
    Series { name, points: points.to_vec(), paper: true, scattered: false }
}

/// Everything is solved, by the method asked for, and on the full problem.
pub(super) fn solved(what: &str, cases: &[Case]) -> Claim {
    let (mut done, mut total, mut fallbacks) = (0, 0, 0);
    let (mut residual, mut certificate) = (0.0_f64, 0.0_f64);
    for case in cases {
        for (_, tally) in case.results.iter().enumerate().filter(|(j, _)| case.methods[*j]) {
            (done, total, fallbacks) = (done + tally.solved, total + case.problems(), fallbacks + tally.fallbacks);
            (residual, certificate) = (residual.max(tally.residual), certificate.max(tally.certificate));
        }
    }
    claim(
        format!("{what}: every problem is solved by every method"),
        "all; how exactly is not stated",
        format!(
            "{done} of {total}; miss of the full problem (8) at most {residual:.0e}, physical certificate at most {certificate:.0e}; {fallbacks} \
             answered by another method than asked for"
        ),
        judge(done == total && fallbacks == 0, residual <= 1e-10, || {
            format!("{} without an answer, {fallbacks} by another method", total - done)
        }),
    )
}

/// A range of times, or of ratios.
pub(super) fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, 0.0], |[lo, hi], x| [lo.min(x), hi.max(x)])
}
