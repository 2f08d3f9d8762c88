//! Without friction: the driving method against Gaussian elimination and against quadratic programming.

use std::hint::black_box;

use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::{InputError, Lcp, Options, Solver};

use super::elimination::Elimination;
use super::problems;
use super::quadratic_program::QuadraticProgram;
use super::timing::{exponent, median, seconds};
use crate::papers::{
    Axis, Cell, Claim, Column, Effort, Experiment, ExperimentError, Plot, Progress, Section, Series, Table, Verdict,
};

const NAME: &str = "baraff/frictionless";
/// Orders; the paper went up to 150.
const ORDERS: [usize; 8] = [10, 25, 50, 100, 150, 250, 500, 1000];
const QUICK_ORDERS: [usize; 6] = [10, 25, 50, 100, 150, 250];
/// From here on the ratio to elimination is claimed: below, the certificate is part of what is measured.
const LARGE: usize = 100;
/// The paper's largest order.
const PAPERS_LARGEST: usize = 150;
/// Problems per order, and of orders that take seconds.
const PROBLEMS: u64 = 3;
const LARGE_PROBLEMS: u64 = 1;
const SLOW: usize = 500;
/// Rounds over the problems of an order: at least, at most; and seconds after which no other is begun.
const ROUNDS: (usize, usize) = (3, 41);

/// A way to draw problems.
struct Family {
    name: &'static str,
    draw: fn(usize, u64) -> Result<Lcp, InputError>,
    /// Most entries of the matrix are zero.
    sparse: bool,
}

const FAMILIES: [Family; 4] = [
    Family { name: "all forces positive", draw: |n, seed| problems::random(n, 2, false, seed), sparse: false },
    Family { name: "half of the forces positive", draw: |n, seed| problems::random(n, 2, true, seed), sparse: false },
    Family { name: "chain of links", draw: problems::chain, sparse: false },
    Family { name: "heap of bodies", draw: problems::heap, sparse: true },
];

/// What one order of a family came to.
struct Line {
    n: usize,
    active: f64,
    pivots: f64,
    /// Largest measure of our certificates.
    certificate: f64,
    /// Largest difference of clarabel's forces from ours, beside the largest force.
    difference: f64,
    /// Median times (s): the driving method, elimination, clarabel.
    times: [f64; 3],
    solved: u64,
    asked: u64,
}

/// The comparison.
pub struct Frictionless;

impl Experiment for Frictionless {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Without friction: against Gaussian elimination and quadratic programming"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let orders: &[usize] = if effort.quick { &QUICK_ORDERS } else { &ORDERS };
        let budget = if effort.quick { 0.2 } else { 2.0 };
        let mut found = Vec::new();
        for (k, family) in FAMILIES.iter().enumerate() {
            let mut lines = Vec::new();
            for (i, n) in orders.iter().enumerate() {
                progress.report(
                    k * orders.len() + i,
                    FAMILIES.len() * orders.len(),
                    &format!("{}, n = {n}", family.name),
                );
                let line = compare(family, *n, budget);
                lines.push(line.map_err(|e| ExperimentError { experiment: NAME, message: e.to_string() })?);
            }
            found.push((family, lines));
        }
        Ok(section(&found))
    }
}

/// One order of a family: the three take turns on the same problems, so that the noise of the machine falls on all of them.
fn compare(family: &Family, n: usize, budget: f64) -> Result<Line, InputError> {
    let count = if n < SLOW { PROBLEMS } else { LARGE_PROBLEMS };
    let problems = (0..count).map(|seed| (family.draw)(n, seed)).collect::<Result<Vec<_>, _>>()?;
    let programs: Vec<QuadraticProgram> = problems.iter().map(QuadraticProgram::new).collect();
    let (mut dantzig, mut elimination) = (Dantzig::new(Options::default()), Elimination::default());
    let mut line = Line {
        n,
        active: 0.0,
        pivots: 0.0,
        certificate: 0.0,
        difference: 0.0,
        times: [0.0; 3],
        solved: 0,
        asked: count,
    };
    let part = 1.0 / problems.len() as f64;
    for (lcp, program) in problems.iter().zip(&programs) {
        let outcome = dantzig.solve(lcp)?;
        let Some(solved) = outcome.solved() else { continue };
        line.solved += 1;
        line.active += part * solved.basis.active().count() as f64;
        line.pivots += part * solved.stats.pivots as f64;
        line.certificate = line.certificate.max(solved.certificate.worst());
        let size = solved.z.iter().fold(f64::MIN_POSITIVE, |a, z| a.max(z.abs()));
        let theirs = program.solve().map_or_else(|| vec![f64::INFINITY; n], |(f, _)| f);
        let miss = solved.z.iter().zip(&theirs).fold(0.0, |a: f64, (x, y)| a.max((x - y).abs()));
        line.difference = line.difference.max(miss / size);
    }
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let mut spent = 0.0;
    while times[0].len() < ROUNDS.0 || times[0].len() < ROUNDS.1 && spent < budget {
        let mut sums = [0.0; 3];
        for (lcp, program) in problems.iter().zip(&programs) {
            sums[0] += seconds(|| drop(black_box(dantzig.solve(black_box(lcp)))));
            sums[1] += seconds(|| _ = black_box(elimination.solve(black_box(lcp.m()), black_box(lcp.q())).len()));
            sums[2] += seconds(|| drop(black_box(program.solve())));
        }
        spent += sums.iter().sum::<f64>();
        times.iter_mut().zip(sums).for_each(|(all, sum)| all.push(sum * part));
    }
    line.times = times.map(median);
    Ok(line)
}

type Found<'a> = [(&'a Family, Vec<Line>)];

fn section(found: &Found<'_>) -> Section {
    let text = vec![
        "The paper says that the forces of n contacts without friction take two to three times as long as one Gaussian elimination of the n \
         × n matrix, and that this is five to ten times faster than the best quadratic programming it knew, up to n = 150.".into(),
        "Here the driving method is `Dantzig`, called as users call it: factor updates, the refined last solve and the certificate are part \
         of its time. Elimination is the textbook's: partial pivoting, column by column, not blocked. The quadratic program is solved by \
         clarabel, an interior point method, with one thread, its own settings, and the form of the program that is easiest for it. Times \
         are medians of processor time over rounds in which the three take turns on the same problems.".into(),
        "Problems: random positive definite matrices of which all or half of the forces are positive at the solution; a planar chain of \
         links on an uneven floor, whose matrix is full; heaps of bodies under gravity, of whose matrix most is zero. The paper does not \
         say which problems it timed; its factorization was dense, as ours is.".into(),
    ];
    let tables = found.iter().map(|(family, lines)| table(family, lines)).collect();
    Section {
        text,
        tables,
        plots: vec![times_plot(found), ratio_plot(found)],
        pictures: Vec::new(),
        claims: claims(found),
    }
}

fn file_name(family: &Family) -> String {
    family.name.replace(' ', "-")
}

fn table(family: &Family, lines: &[Line]) -> Table {
    let column = |name: &str, unit: &str| Column { name: name.into(), unit: unit.into() };
    let row = |l: &Line| {
        let [d, e, c] = l.times;
        let count = Cell::Count(l.n as u64);
        let numbers = [l.active, l.pivots, d * 1e6, e * 1e6, c * 1e6, d / e, c / d, l.certificate, l.difference];
        std::iter::once(count).chain(numbers.map(Cell::Number)).collect()
    };
    Table {
        name: format!("frictionless-{}", file_name(family)),
        title: format!("Times: {}", family.name),
        columns: vec![
            column("n", ""),
            column("positive forces", ""),
            column("pivots", ""),
            column("Dantzig", "µs"),
            column("elimination", "µs"),
            column("clarabel", "µs"),
            column("Dantzig / elimination", ""),
            column("clarabel / Dantzig", ""),
            column("our certificate", ""),
            column("clarabel's difference", ""),
        ],
        rows: lines.iter().map(row).collect(),
    }
}

fn line_of(name: String, lines: &[Line], y: impl Fn(&Line) -> f64) -> Series {
    Series { name, points: lines.iter().map(|l| (l.n as f64, y(l))).collect(), ..Series::default() }
}

fn times_plot(found: &Found<'_>) -> Plot {
    let chain = found.iter().find(|(family, _)| family.name.starts_with("chain")).map_or(&[][..], |(_, lines)| lines);
    let names = ["Dantzig", "Gaussian elimination", "clarabel"];
    Plot {
        name: "frictionless-times".into(),
        title: "Time of a solve: chain of links".into(),
        x: Axis { label: "contacts n".into(), log: true },
        y: Axis { label: "processor time (µs)".into(), log: true },
        series: (0..3).map(|k| line_of(names[k].into(), chain, |l| l.times[k] * 1e6)).collect(),
    }
}

fn ratio_plot(found: &Found<'_>) -> Plot {
    let mut series: Vec<Series> =
        found.iter().map(|(f, lines)| line_of(f.name.into(), lines, |l| l.times[0] / l.times[1])).collect();
    let ends = || found.first().map_or(&[][..], |(_, lines)| lines).iter().map(|l| l.n as f64);
    for (name, y) in [("paper: three times", 3.0), ("paper: two times", 2.0)] {
        let points = ends().filter(|n| *n <= PAPERS_LARGEST as f64).map(|n| (n, y)).collect();
        series.push(Series { name: name.into(), points, paper: true, scattered: false });
    }
    Plot {
        name: "frictionless-ratio".into(),
        title: "The driving method beside Gaussian elimination of the same order".into(),
        x: Axis { label: "contacts n".into(), log: true },
        y: Axis { label: "time of Dantzig / time of elimination".into(), log: false },
        series,
    }
}

/// Least and greatest of a figure over the lines of some families and of a range of orders.
fn range<'a>(
    lines: impl Iterator<Item = &'a Line>,
    orders: std::ops::RangeInclusive<usize>,
    y: impl Fn(&Line) -> f64,
) -> (f64, f64) {
    lines
        .filter(|l| orders.contains(&l.n))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), l| (lo.min(y(l)), hi.max(y(l))))
}

/// How many times faster than clarabel; five to ten times is what the paper says.
fn faster(found: &Found<'_>, sparse: bool, orders: std::ops::RangeInclusive<usize>, claim: String) -> Claim {
    let lines = found.iter().filter(|(family, _)| family.sparse == sparse).flat_map(|(_, lines)| lines);
    let (least, most) = range(lines, orders, |l| l.times[2] / l.times[0]);
    let why = if sparse { ": clarabel uses that most of the matrix is zero, the driving method does not" } else { "" };
    Claim {
        claim,
        paper_value: "5 to 10".into(),
        ours: format!("{least:.1} to {most:.0}"),
        verdict: judge(-least, -10.0, -5.0, || format!("{least:.1} at the least{why}")),
    }
}

fn claims(found: &Found<'_>) -> Vec<Claim> {
    let all = || found.iter().flat_map(|(_, lines)| lines);
    let (least, most) = range(all(), LARGE..=usize::MAX, |l| l.times[0] / l.times[1]);
    let elimination = Claim {
        claim: format!(
            "Forces without friction take at most three times a Gaussian elimination of the same size (n ≥ {LARGE})"
        ),
        paper_value: "2 to 3".into(),
        ours: format!("{least:.2} to {most:.2}"),
        verdict: judge(most, 2.0, 3.0, || format!("{most:.2} at the most")),
    };
    let largest = all().map(|l| l.n).max().unwrap_or(0);
    let claim = "Five to ten times faster than quadratic programming up to n = 150".to_string();
    let beyond = format!("… and so it remains up to n = {largest}");
    let zeros = format!("… and for heaps of bodies, of whose matrix most is zero, up to n = {largest}");
    let pivots: Vec<f64> = found
        .iter()
        .map(|(_, lines)| exponent(&lines.iter().map(|l| (l.n as f64, l.pivots)).collect::<Vec<_>>()))
        .collect();
    let steepest = pivots.iter().copied().fold(0.0, f64::max);
    let (solved, asked) = (all().map(|l| l.solved).sum::<u64>(), all().map(|l| l.asked).sum::<u64>());
    vec![
        elimination,
        faster(found, false, 0..=PAPERS_LARGEST, claim),
        faster(found, false, PAPERS_LARGEST + 1..=usize::MAX, beyond),
        faster(found, true, 0..=usize::MAX, zeros),
        Claim {
            claim: "The work is about O(n) changes of the index sets: exponent of pivots over n".into(),
            paper_value: "1".into(),
            ours: format!("{steepest:.2}"),
            verdict: if steepest <= 1.15 { Verdict::Holds } else { Verdict::DoesNotHold(format!("{steepest:.2}")) },
        },
        Claim {
            claim: "Without friction the method always ends with a solution".into(),
            paper_value: "proven".into(),
            ours: format!("{solved} of {asked} solved and certified"),
            verdict: if solved == asked {
                Verdict::Holds
            } else {
                Verdict::DoesNotHold(format!("{} not solved", asked - solved))
            },
        },
    ]
}

/// `Better` up to `better`, `Holds` up to `bar`.
fn judge(x: f64, better: f64, bar: f64, why: impl FnOnce() -> String) -> Verdict {
    match x {
        x if x <= better => Verdict::Better,
        x if x <= bar => Verdict::Holds,
        _ => Verdict::DoesNotHold(why()),
    }
}
