//! Figures 5 and 6: a peg in a hole, times against the number of contacts.

use super::measure::{Case, METHODS, Timing, run};
use super::report::{faster, growth, of_paper, plot, series, solved, table, times};
use super::{DIRECTIONS, peg_in_hole as peg};
use crate::compose::{Rule, claim, failed};
use crate::timing::{exponent, range};
use crate::{Claim, Effort, Experiment, ExperimentError, Plot, Progress, Section};

/// The paper's range, and its ends.
const PAPER: [usize; 2] = [8, 32];
/// The paper's times (ms) by method: contacts and mean time, as far as its text gives them.
const PAPER_TIMES: [&[(f64, f64)]; 3] = [
    &[(8.0, 6.18), (16.0, 30.0), (32.0, 400.75)],
    &[(8.0, 2.55), (32.0, 26.63)],
    &[(8.0, 1.08), (16.0, 2.0), (32.0, 4.58)],
];
/// Exponents are fitted from here on.
const FIT: usize = 64;

/// Figures 5 and 6.
pub(super) struct PegInHole;

impl Experiment for PegInHole {
    fn name(&self) -> &'static str {
        "lloyd/peg-in-hole"
    }

    fn title(&self) -> &'static str {
        "Figures 5 and 6: peg in hole, time against contacts"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let sizes: &[usize] = if effort.quick {
            &[8, 16, 24, 32, 64, 128, 256, 512]
        } else {
            &[8, 12, 16, 20, 24, 28, 32, 64, 128, 256, 512]
        };
        let timing =
            if effort.quick { Timing { rounds: 7, seconds: 0.03 } } else { Timing { rounds: 15, seconds: 0.15 } };
        let case = |n: &usize| Case::new(&peg(*n), [*n <= PAPER[1], true, true]);
        let mut cases: Vec<Case> = sizes.iter().map(case).collect::<Result<_, _>>().map_err(failed(self.name()))?;
        run(&mut cases, &timing, "peg in hole", progress).map_err(failed(self.name()))?;
        let paper = |case: &Case, j: usize| {
            PAPER_TIMES[j].iter().find(|(n, _)| *n == case.contacts as f64).map(|(_, time)| *time)
        };
        let tables = vec![table("peg-in-hole", "Peg in hole, per solve", &cases, paper)];
        Ok(Section { text: explain(), tables, plots: plots(&cases), claims: claims(&cases), ..Section::default() })
    }
}

fn explain() -> Vec<String> {
    let words = [
        "A peg passes through a hole in a fixed block; contacts lie around the hole's top and bottom, and a random wrench acts at the peg's \
         centre (paper: 8 to 32 contacts, 20 wrenches each, d = 8, mu between 0.2 and 0.3, Java on a 1 GHz Pentium III-M).",
        "We solve the same problems with the same three methods, and go on to 512 contacts with structural and reduced. Every answer of every \
         method is checked on the full problem (8) with velocities recomputed from its impulses. Times are processor time per solve, certificate \
         included, mean over the 20 wrenches; sizes and methods take turns, and the least of several medians counts. Exponents are fitted from 64 \
         contacts on.",
    ];
    words.map(String::from).to_vec()
}

fn plots(cases: &[Case]) -> Vec<Plot> {
    let both = |j: usize| [series(cases, j, usize::MAX, false), of_paper(j, PAPER_TIMES[j])];
    let close = |j: usize| series(cases, j, PAPER[1], false);
    vec![
        plot(
            "peg-in-hole-time",
            "Fig. 5: the three methods, and on to 512 contacts",
            true,
            (0..3).flat_map(both).collect(),
        ),
        plot("peg-in-hole-close-up", "Fig. 6: structural and reduced, close up", false, vec![close(1), close(2)]),
    ]
}

/// Time of a method at n contacts, NaN if there is none.
fn time(cases: &[Case], j: usize, n: usize) -> f64 {
    cases.iter().find(|case| case.contacts == n).and_then(|case| case.time(j)).unwrap_or(f64::NAN)
}

fn claims(cases: &[Case]) -> Vec<Claim> {
    let mut all = vec![solved("Peg in hole", cases)];
    all.extend(growths(cases));
    all.extend(exponents(cases));
    all.extend(pivots(cases));
    all.extend(speed(cases));
    all
}

/// Growth from 8 to 32 contacts: times 65, 10 and 4.2.
fn growths(cases: &[Case]) -> Vec<Claim> {
    let one = |j: usize| {
        let ends = [PAPER_TIMES[j][0].1, PAPER_TIMES[j][PAPER_TIMES[j].len() - 1].1];
        let what = format!("{}: the time grows from 8 to 32 contacts by this factor", METHODS[j].1);
        growth(what, ends, PAPER.map(|n| time(cases, j, n)))
    };
    (0..3).map(one).collect()
}

fn exponents(cases: &[Case]) -> Vec<Claim> {
    let fit = |j: usize, from: usize| exponent(&times(cases.iter().filter(|case| case.contacts >= from), j));
    let large = [(1, "nearly 2: O(n²) at fixed m", 2.1), (2, "nearly 1: O(n) at fixed m", 1.15)];
    let [structural, reduced] = large.map(|(j, paper, bar)| {
        let ours = fit(j, FIT);
        claim(
            format!("{}: exponent of the time over the contacts, n ≥ {FIT}", METHODS[j].1),
            paper,
            format!("{ours:.2}"),
            Rule::at_most(ours, bar).ours().better_at_most(ours, bar - 0.25),
            format!("{ours:.2} is above {bar}"),
        )
    });
    let standard = fit(0, 0);
    let standard = claim(
        "standard: exponent of the time over the contacts, n = 8 to 32",
        "nearly 3: O(n³)",
        format!("{standard:.2}"),
        Rule::at_most(standard, 3.2).better_at_most(standard, 2.7),
        format!("{standard:.2} is above 3.2"),
    );
    vec![structural, reduced, standard]
}

/// What the expected cost rests on: pivots of the order of the matrix for structural, of the degrees of freedom for reduced.
fn pivots(cases: &[Case]) -> Vec<Claim> {
    let fit = |j: usize| {
        let large = cases.iter().filter(|case| case.contacts >= FIT);
        exponent(&large.map(|case| (case.contacts as f64, case.results[j].pivots)).collect::<Vec<_>>())
    };
    let share = |case: &Case| case.results[1].pivots / (case.contacts * (2 + DIRECTIONS)) as f64;
    let [_, most] = range(cases.iter().map(share));
    let largest = cases.last().map_or(0.0, |case| case.results[2].pivots);
    let (structural, reduced) = (fit(1), fit(2));
    vec![
        claim(
            "structural: pivots are of the order of the matrix, n (2 + d)",
            "expected, not measured",
            format!("at most {most:.2} n (2 + d); exponent {structural:.2} for n ≥ {FIT}"),
            Rule::at_most(most, 1.0).better_at_most(most, 0.5),
            format!("{most:.2} n (2 + d) pivots"),
        ),
        claim(
            format!("reduced: pivots depend on the degrees of freedom only, exponent over the contacts, n ≥ {FIT}"),
            "0: O(m) in the best case",
            format!("{reduced:.2}; {largest:.1} pivots at the largest n"),
            Rule::at_most(reduced, 0.2),
            format!("exponent {reduced:.2}"),
        ),
    ]
}

/// Standard against reduced. The paper's ratio is between its own two implementations.
fn speed(cases: &[Case]) -> Vec<Claim> {
    /// What we ask of 32 contacts.
    const BAR: f64 = 20.0;
    let ours = |n: usize| [0, 2].map(|j| time(cases, j, n));
    let ratio = |n: usize| ours(n)[0] / ours(n)[1];
    let far = ratio(PAPER[1]);
    let bar = claim(
        format!("reduced is at least {BAR} times faster than standard at 32 contacts"),
        "88 times",
        format!("{far:.0} times"),
        Rule::at_least(far, BAR).ours(),
        format!("{far:.0} times"),
    );
    let papers = [(16, [30.0, 2.0]), (32, [400.75, 4.58])];
    let as_much = papers.map(|(n, paper)| {
        let what = format!("reduced is faster than standard at {n} contacts by this factor");
        faster(what, paper, ours(n))
    });
    std::iter::once(bar).chain(as_much).collect()
}
