//! Without friction: the driving method against Gaussian elimination and against quadratic programming.

use std::hint::black_box;

use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::{InputError, Lcp, Options, Solver};

use super::elimination::Elimination;
use super::problems;
use super::quadratic_program::QuadraticProgram;
use crate::compose::{Rule, claim, columns, count, failed, line, of_paper, plot};
use crate::timing::{exponent, median, range, timed};
use crate::{Cell, Claim, Effort, Experiment, ExperimentError, Plot, Progress, Section, Series, Table};

const NAME: &str = "baraff/frictionless";
/// Orders; the paper went up to 150.
const ORDERS: [usize; 8] = [10, 25, 50, 100, 150, 250, 500, 1000];
const QUICK_ORDERS: [usize; 6] = [10, 25, 50, 100, 150, 250];
/// From here on the ratio to elimination is claimed: below, the certificate is part of what is measured.
const LARGE: usize = 100;
/// The paper's largest order.
const PAPERS_LARGEST: usize = 150;
/// Problems per order, and of orders that take seconds.
const PROBLEMS: usize = 3;
const LARGE_PROBLEMS: usize = 1;
const SLOW: usize = 500;
/// Rounds over the problems of an order: at least, at most; and seconds after which no other is begun.
const ROUNDS: (usize, usize) = (3, 41);

/// A way to draw problems.
struct Family {
    name: &'static str,
    draw: fn(usize, u64) -> Result<Lcp, InputError>,
    /// Most entries of the matrix are zero.
    sparse: bool,
    /// Its times are plotted by themselves.
    drawn: bool,
}

const FAMILIES: [Family; 4] = [
    family("all forces positive", |n, seed| problems::random(n, 2, false, seed), false, false),
    family("half of the forces positive", |n, seed| problems::random(n, 2, true, seed), false, false),
    family("chain of links", problems::chain, false, true),
    family("heap of bodies", problems::heap, true, true),
];

const fn family(
    name: &'static str,
    draw: fn(usize, u64) -> Result<Lcp, InputError>,
    sparse: bool,
    drawn: bool,
) -> Family {
    Family { name, draw, sparse, drawn }
}

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
    solved: usize,
    asked: usize,
}

/// The comparison.
pub struct Frictionless;

impl Experiment for Frictionless {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "§§4 and 7: without friction, against Gaussian elimination and quadratic programming"
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
                lines.push(compare(family, *n, budget).map_err(failed(NAME))?);
            }
            found.push((family, lines));
        }
        Ok(section(&found))
    }
}

/// One order of a family: the three take turns on the same problems, so that the noise of the machine falls on all of them.
fn compare(family: &Family, n: usize, budget: f64) -> Result<Line, InputError> {
    let count = if n < SLOW { PROBLEMS } else { LARGE_PROBLEMS };
    let problems = (0..count as u64).map(|seed| (family.draw)(n, seed)).collect::<Result<Vec<_>, _>>()?;
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
        let difference = solved.z.iter().zip(&theirs).fold(0.0, |a: f64, (x, y)| a.max((x - y).abs()));
        line.difference = line.difference.max(difference / size);
    }
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let mut spent = 0.0;
    while times[0].len() < ROUNDS.0 || times[0].len() < ROUNDS.1 && spent < budget {
        let mut sums = [0.0; 3];
        for (lcp, program) in problems.iter().zip(&programs) {
            sums[0] += timed(|| drop(black_box(dantzig.solve(black_box(lcp))))).0;
            sums[1] += timed(|| black_box(elimination.solve(black_box(lcp.m()), black_box(lcp.q())).len())).0;
            sums[2] += timed(|| drop(black_box(program.solve()))).0;
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
    Section { text, tables, plots: plots(found), pictures: Vec::new(), claims: claims(found) }
}

fn plots(found: &Found<'_>) -> Vec<Plot> {
    let shown = found.iter().filter(|(family, _)| family.drawn);
    let elimination = ratio_plot(
        found,
        "frictionless-ratio",
        "The driving method beside Gaussian elimination of the same order",
        "time of Dantzig / time of elimination",
        [0, 1],
        [("paper: three times", 3.0), ("paper: two times", 2.0)],
    );
    let programming = ratio_plot(
        found,
        "frictionless-quadratic-programming",
        "Quadratic programming beside the driving method",
        "time of clarabel / time of Dantzig",
        [2, 0],
        [("paper: ten times", 10.0), ("paper: five times", 5.0)],
    );
    shown.map(times_plot).chain([elimination, programming]).collect()
}

fn file_name(family: &Family) -> String {
    family.name.replace(' ', "-")
}

fn table(family: &Family, lines: &[Line]) -> Table {
    let row = |l: &Line| {
        let [d, e, c] = l.times;
        let numbers = [l.active, l.pivots, d * 1e6, e * 1e6, c * 1e6, d / e, c / d, l.certificate, l.difference];
        std::iter::once(count(l.n)).chain(numbers.map(Cell::Number)).collect()
    };
    Table {
        name: format!("frictionless-{}", file_name(family)),
        title: format!("Times: {}", family.name),
        columns: columns(&[
            ("n", ""),
            ("positive forces", ""),
            ("pivots", ""),
            ("Dantzig", "µs"),
            ("elimination", "µs"),
            ("clarabel", "µs"),
            ("Dantzig / elimination", ""),
            ("clarabel / Dantzig", ""),
            ("our certificate", ""),
            ("clarabel's difference", ""),
        ]),
        rows: lines.iter().map(row).collect(),
    }
}

fn line_of(name: &str, lines: &[Line], y: impl Fn(&Line) -> f64) -> Series {
    line(name, lines.iter().map(|l| (l.n as f64, y(l))).collect())
}

/// Times of the three on a family.
fn times_plot((family, lines): &(&Family, Vec<Line>)) -> Plot {
    let names = ["Dantzig", "Gaussian elimination", "clarabel"];
    let series = (0..3).map(|k| line_of(names[k], lines, |l| l.times[k] * 1e6)).collect();
    let name = format!("frictionless-times-{}", file_name(family));
    let title = format!("Time of a solve: {}", family.name);
    plot(&name, &title, ("contacts n", true), ("processor time (µs)", true), series)
}

/// A ratio of times over n for each family, and lines of the paper's up to its largest n.
fn ratio_plot(
    found: &Found<'_>,
    name: &str,
    title: &str,
    label: &str,
    of: [usize; 2],
    paper: [(&str, f64); 2],
) -> Plot {
    let ratio = |l: &Line| l.times[of[0]] / l.times[of[1]];
    let ours = found.iter().map(|(family, lines)| line_of(family.name, lines, ratio));
    let orders =
        || found.first().map_or(&[][..], |(_, lines)| lines).iter().map(|l| l.n).filter(|n| *n <= PAPERS_LARGEST);
    let theirs = paper.map(|(name, y)| of_paper(name, orders().map(|n| (n as f64, y)).collect()));
    plot(name, title, ("contacts n", true), (label, of[0] == 2), ours.chain(theirs).collect())
}

/// How many times faster than clarabel; five to ten times is what the paper says.
fn faster(found: &Found<'_>, sparse: bool, orders: std::ops::RangeInclusive<usize>, what: String) -> Claim {
    const BAR: f64 = 5.0;
    let chosen = || found.iter().filter(|(family, _)| family.sparse == sparse).flat_map(|(_, lines)| lines);
    let ratios: Vec<(usize, f64)> =
        chosen().filter(|l| orders.contains(&l.n)).map(|l| (l.n, l.times[2] / l.times[0])).collect();
    let [least, most] = range(ratios.iter().map(|(_, ratio)| *ratio));
    let slow = ratios.iter().filter(|(_, ratio)| *ratio < BAR).map(|(n, ratio)| format!("{ratio:.1} at n = {n}"));
    let why = if sparse { "; clarabel uses that most of the matrix is zero, the driving method does not" } else { "" };
    claim(
        what,
        "5 to 10",
        format!("{least:.1} to {most:.0}"),
        Rule::at_least(least, BAR).better_at_least(least, 10.0),
        slow.collect::<Vec<_>>().join(", ") + why,
    )
}

fn claims(found: &Found<'_>) -> Vec<Claim> {
    let all = || found.iter().flat_map(|(_, lines)| lines);
    let [least, most] = range(all().filter(|l| l.n >= LARGE).map(|l| l.times[0] / l.times[1]));
    let [_, small] = range(all().filter(|l| l.n < LARGE).map(|l| l.times[0] / l.times[1]));
    let largest = all().map(|l| l.n).max().unwrap_or(0);
    let pivots =
        |(_, lines): &(&Family, Vec<Line>)| exponent(&lines.iter().map(|l| (l.n as f64, l.pivots)).collect::<Vec<_>>());
    let [_, steepest] = range(found.iter().map(pivots));
    let (solved, asked) = (all().map(|l| l.solved).sum::<usize>(), all().map(|l| l.asked).sum::<usize>());
    vec![
        claim(
            format!(
                "Forces without friction take two to three times a Gaussian elimination of the same size (n ≥ {LARGE})"
            ),
            "2 to 3",
            format!("{least:.2} to {most:.2}; for smaller n up to {small:.2}"),
            Rule::at_most(most, 3.0).better_at_most(most, 2.0),
            format!("{most:.2} at the most"),
        ),
        faster(
            found,
            false,
            0..=PAPERS_LARGEST,
            format!("Five to ten times faster than quadratic programming up to n = {PAPERS_LARGEST}, full matrices"),
        ),
        faster(found, false, PAPERS_LARGEST + 1..=usize::MAX, format!("… and so it remains up to n = {largest}")),
        faster(
            found,
            true,
            0..=PAPERS_LARGEST,
            format!("… and up to n = {PAPERS_LARGEST} for heaps of bodies, of whose matrix most is zero"),
        ),
        faster(found, true, PAPERS_LARGEST + 1..=usize::MAX, format!("… and for heaps up to n = {largest}")),
        claim(
            "The work is about O(n) changes of the index sets: exponent of pivots over n",
            "1",
            format!("{steepest:.2}"),
            Rule::at_most(steepest, 1.15),
            format!("{steepest:.2}"),
        ),
        claim(
            "Without friction the method always ends with a solution",
            "proven",
            format!("{solved} of {asked} solved and certified"),
            Rule::all(solved, asked),
            format!("{} not solved", asked - solved),
        ),
    ]
}
