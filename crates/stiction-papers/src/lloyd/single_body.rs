//! Figures 7 and 8: ten bodies that touch the world in 1 to 16 points.

use super::measure::{Case, METHODS, run_all};
use super::report::{faster, of_paper, plot, series, solved, table, times};
use super::single_bodies;
use crate::compose::{Rule, claim, failed};
use crate::timing::exponent;
use crate::{Claim, Effort, Experiment, ExperimentError, Progress, Section};

/// The paper's times (ms) at 8 and at 16 contacts, by method.
const PAPER_TIMES: [[(f64, f64); 2]; 3] =
    [[(8.0, 5.2), (16.0, 50.9)], [(8.0, 2.1), (16.0, 12.5)], [(8.0, 0.57), (16.0, 1.34)]];

/// Contacts between which the paper gives times.
const LEAST: usize = 8;
const MOST: usize = 16;

/// Figures 7 and 8.
pub(super) struct SingleBody;

impl Experiment for SingleBody {
    fn name(&self) -> &'static str {
        "lloyd/single-body"
    }

    fn title(&self) -> &'static str {
        "Figures 7 and 8: ten single-body problems"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let cases = run_all(&single_bodies(), effort, "single bodies", progress).map_err(failed(self.name()))?;
        let scatter = |j: usize| series(&cases, j, usize::MAX, true);
        let plots = vec![
            plot(
                "single-body-time",
                "Fig. 7: ten single bodies by three methods",
                true,
                (0..3).flat_map(|j| [scatter(j), of_paper(j, &PAPER_TIMES[j])]).collect(),
            ),
            plot("single-body-reduced", "Fig. 8: the reduced method, close up", false, vec![scatter(2)]),
        ];
        let tables = vec![table("single-body", "Ten single bodies, per solve", &cases, |_, _| None)];
        Ok(Section { text: explain(), tables, plots, claims: claims(&cases), ..Section::default() })
    }
}

fn explain() -> Vec<String> {
    let words = [
        "Ten ways for one body to touch the world, 1 to 16 contacts (paper: block in corner, ball in the rim of a hole, block in groove, face on \
         surface and so on; it names four and draws three). Ours: a ball on the floor, in a groove of two walls and in a corner of three; a cube \
         on the floor, on another cube's face (their overlap has six corners), in a groove and in a corner; a ball in the rim of a hole; a disc \
         on a ring; a peg in a hole.",
        "The body's weight and a random wrench of its size act on it, 20 wrenches each. The paper's figures are for its own ten problems, which \
         are not published: only how times grow can be compared.",
    ];
    words.map(String::from).to_vec()
}

fn claims(cases: &[Case]) -> Vec<Claim> {
    let mut all = vec![solved("Single bodies", cases)];
    for (j, (_, name)) in METHODS.iter().enumerate() {
        let [(_, from), (_, to)] = PAPER_TIMES[j];
        let (paper, ours) =
            ((to / from).log2(), exponent(&times(cases.iter().filter(|case| case.contacts >= LEAST), j)));
        all.push(claim(
            format!("{name}: exponent of the time over the contacts, single bodies, {LEAST} to {MOST} contacts"),
            format!("{paper:.2} ({from} to {to} ms)"),
            format!("{ours:.2}"),
            Rule::at_most(ours, paper + 0.15).better_at_most(ours, paper - 0.3),
            format!("{ours:.2}: the ten problems differ in more than their number of contacts"),
        ));
    }
    let largest = cases.iter().find(|case| case.contacts == MOST);
    let ours = [0, 2].map(|j| largest.and_then(|case| case.time(j)).unwrap_or(f64::NAN));
    let what = format!("reduced is faster than standard at {MOST} contacts, single bodies, by this factor");
    all.push(faster(what, [0, 2].map(|j: usize| PAPER_TIMES[j][1].1), ours));
    all
}
