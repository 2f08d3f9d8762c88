//! Figures 9 and 10: stacks of one to five blocks.

use super::measure::{Case, METHODS, run_all};
use super::report::{faster, growth, plot, series, solved, table};
use super::stacks;
use crate::compose::failed;
use crate::timing::range;
use crate::{Claim, Effort, Experiment, ExperimentError, Progress, Section};

/// The paper's least and largest times (ms), by method.
const PAPER_TIMES: [[f64; 2]; 3] = [[2.1, 2136.0], [1.45, 224.0], [1.32, 96.0]];

/// Figures 9 and 10.
pub(super) struct Stacks;

impl Experiment for Stacks {
    fn name(&self) -> &'static str {
        "lloyd/stacks"
    }

    fn title(&self) -> &'static str {
        "Figures 9 and 10: ten stacks of one to five blocks"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let cases = run_all(&stacks(), effort, "stacks", progress).map_err(failed(self.name()))?;
        let lines = (0..3).map(|j| series(&cases, j, usize::MAX, true)).collect();
        let plots = vec![plot("stacks-time", "Fig. 10: ten stacks by three methods", true, lines)];
        let tables = vec![table("stacks", "Ten stacks, per solve", &cases, |_, _| None)];
        Ok(Section { text: explain(), tables, plots, claims: claims(&cases), ..Section::default() })
    }
}

fn explain() -> Vec<String> {
    let words = [
        "Blocks are stacked on the floor under gravity, and a random wrench acts on the top one, 20 wrenches each (paper: ten configurations of 1 \
         to 5 blocks with 4 to 32 contacts, of which it draws one).",
        "Ours are square blocks, aligned, shifted or turned by 45° on the one below; contacts are the corners of the polygon where two blocks \
         overlap, four or eight. Sizes range as in the paper, from one block with 4 contacts to five with 32.",
    ];
    words.map(String::from).to_vec()
}

fn claims(cases: &[Case]) -> Vec<Claim> {
    let mut all = vec![solved("Stacks", cases)];
    for (j, (_, name)) in METHODS.iter().enumerate() {
        let what = format!("{name}: the time grows over the ten stacks by this factor");
        all.push(growth(what, PAPER_TIMES[j], range(cases.iter().filter_map(|case| case.time(j)))));
    }
    let ours = [0, 2].map(|j| cases.last().and_then(|case| case.time(j)).unwrap_or(f64::NAN));
    let what = "reduced is faster than standard on the largest stack by this factor";
    all.push(faster(what.into(), [0, 2].map(|j: usize| PAPER_TIMES[j][1]), ours));
    all
}
