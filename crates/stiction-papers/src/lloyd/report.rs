//! What the three experiments show alike: the table, the lines of a plot, the claim that everything is solved.

use super::measure::{Case, METHODS};
use crate::compose::{self, Rule, claim, columns, count, number, text};
use crate::{Cell, Claim, Plot, Series, Table};

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
        ("residual of (8), worst", ""),
        ("certificate, worst", ""),
    ];
    Table { name: name.into(), title: title.into(), columns: columns(&names), rows }
}

/// Times against contacts.
pub(super) fn plot(name: &str, title: &str, log: bool, series: Vec<Series>) -> Plot {
    compose::plot(name, title, ("contacts n", log), ("time per solve (ms)", log), series)
}

/// Contacts and time (ms) of one method on each case.
pub(super) fn times<'a>(cases: impl Iterator<Item = &'a Case>, j: usize) -> Vec<(f64, f64)> {
    cases.filter_map(|case| Some((case.contacts as f64, case.time(j)?))).collect()
}

/// The times of one method over cases of at most this many contacts.
pub(super) fn series(cases: &[Case], j: usize, most: usize, scattered: bool) -> Series {
    let small = cases.iter().filter(|case| case.contacts <= most);
    Series { scattered, ..compose::line(METHODS[j].1, times(small, j)) }
}

/// Points of the paper's own.
pub(super) fn of_paper(j: usize, points: &[(f64, f64)]) -> Series {
    compose::of_paper(format!("{}, paper (2004)", METHODS[j].1), points.to_vec())
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
        "not stated",
        format!(
            "{done} of {total}; residual of the full problem (8) at most {residual:.0e}, physical certificate at most {certificate:.0e}; {fallbacks} \
             answered by another method than asked for"
        ),
        Rule::when(done == total && fallbacks == 0, "all, by the method asked for, with a residual of at most 1e-9")
            .ours(),
        format!("{} without an answer, {fallbacks} by another method", total - done),
    )
}

/// Growth of the time: no more than the paper's.
pub(super) fn growth(what: String, paper: [f64; 2], ours: [f64; 2]) -> Claim {
    let factor = |[from, to]: [f64; 2]| to / from;
    let (theirs, found) = (factor(paper), factor(ours));
    claim(
        what,
        format!("×{theirs:.1} ({} to {} ms)", paper[0], paper[1]),
        format!("×{found:.1} ({:.4} to {:.4} ms)", ours[0], ours[1]),
        Rule::at_most(found, 1.1 * theirs).better_at_most(found, 0.8 * theirs),
        format!("the time grows by {found:.1}"),
    )
}

/// How many times faster reduced is than standard, beside the paper's ratio of its own two: times (ms) of standard and reduced.
pub(super) fn faster(what: String, paper: [f64; 2], ours: [f64; 2]) -> Claim {
    let ratio = |[standard, reduced]: [f64; 2]| standard / reduced;
    let (theirs, found) = (ratio(paper), ratio(ours));
    let gained = |k: usize| paper[k] / ours[k];
    claim(
        what,
        format!("{theirs:.1} times ({} to {} ms)", paper[0], paper[1]),
        format!("{found:.1} times ({:.4} to {:.4} ms)", ours[0], ours[1]),
        Rule::at_least(found, theirs).better_at_least(found, 1.25 * theirs),
        format!(
            "our standard method gained more: it takes 1/{:.0} of the paper's time, our reduced one 1/{:.0}",
            gained(0),
            gained(1)
        ),
    )
}
