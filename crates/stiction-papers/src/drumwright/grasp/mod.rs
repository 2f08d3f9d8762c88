//! Table I: two grippers squeeze a row of cubes.
mod hold;
mod rows;
mod scene;
mod simulated;

use hold::{Held, Method, ten_steps};
use rows::Rows;
use scene::FirstCube;
use stiction_lcp::InputError;

use crate::compose::{Rule, claim, columns, count, factor, failed, text};
use crate::timing::{mean_deviation, median};
use crate::{Cell, Claim, Effort, Experiment, ExperimentError, Progress, Section, Table};

/// The experiment of Table I.
pub struct Grasp;

/// Published times of ten steps (s), mean and deviation, in the order of [`Method::ALL`].
const PAPER: [(f64, f64); 3] = [(10.9681, 2.1812), (1.9892, 0.2640), (1.6680, 0.3669)];

const NAME: &str = "drumwright/grasp";

/// Motion beside the first gripper from which blocks are not held any more (m).
const LOST: f64 = 1e-9;

/// Trials of Table I.
const TRIALS: usize = 10;

/// Steps of the long runs.
const LONG: usize = 10_000;

impl Experiment for Grasp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Table I: two grippers hold a row of cubes"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let parts = 3 + most_blocks(effort);
        let mut section = Section { text: introduction(), ..Section::default() };
        progress.report(0, parts, "ten trials of ten steps");
        let trials = [FirstCube::Tied, FirstCube::Free].map(|first| Trials::run(first, effort));
        let [tied, free] = trials.map(|t| t.map_err(failed(NAME)));
        let trials = [tied?, free?];
        section.tables.push(Trials::table(&trials));
        section.claims.extend(trials.iter().flat_map(Trials::ratio_claims));
        section.claims.extend(trials[1].claims());
        progress.report(1, parts, "whole steps of the simulator");
        let whole = simulated::whole_steps(effort).map_err(failed(NAME))?;
        section.tables.push(simulated::table(&whole));
        section.claims.extend(simulated::claims(&whole));
        progress.report(2, parts, "10,000 steps");
        let rows = Rows::run(effort, progress, parts).map_err(failed(NAME))?;
        section.claims.extend(rows.claims(&whole));
        section.plots.push(rows.plot());
        section.tables.extend([rows.sizes, rows.holds]);
        progress.report(parts, parts, "done");
        Ok(section)
    }
}

fn most_blocks(effort: &Effort) -> usize {
    if effort.quick { 5 } else { 10 }
}

fn introduction() -> Vec<String> {
    [
        "Two grippers squeeze a row of n unit cubes of 1 kg with 100 n newtons, and gravity pulls at the cubes. Every face pair has \
         its four corners three times, as in the paper: 12 (n + 1) contacts, 36 for its two cubes, all kept. A prismatic joint ties the \
         grippers, and in the published file another one the first cube to its gripper. The whole is free, so it must fall with \
         g n/(n + 2); held means no motion beside the first gripper.",
        "Compared are Stewart and Trinkle's model with four directions and mu = 100 by Lemke's standard method (six variables per \
         contact), no-slip with the normals by an active-set method for the quadratic program, and no-slip with the modified PPM (one \
         variable per contact). In Table I every step is solved from scratch, as in the paper, with steps of 10 ms, and time is that of \
         the whole step on the given contacts: setting the problem's motion, solving, certifying, integrating. A trial is the median of \
         several runs of ten steps, in which the three take turns. No-slip looks at contacts that are the same bit for bit only once; \
         Lemke's matrix has them all, but for friction that a joint makes idle: with the first cube tied that of its 12 contacts, so \
         the paper's 216 variables are those of the scene with the cube free, and Table I has both.",
        "The same through the simulator, collision included: there a face pair gives its four corners once, 12 contacts for two cubes, \
         and the grippers are on prismatic joints in the world. The paper's own times are those of an interpreter. Stewart and \
         Trinkle's model has several solutions here: one has a face's whole normal force on a corner, about which a cube can turn in \
         that step.",
    ]
    .map(String::from)
    .to_vec()
}

/// Ten steps again and again, for each method.
struct Trials {
    first: FirstCube,
    times: [Vec<f64>; 3],
    held: [Held; 3],
}

impl Trials {
    fn run(first: FirstCube, effort: &Effort) -> Result<Self, InputError> {
        let mut times: [Vec<f64>; 3] = Default::default();
        let mut held: [Held; 3] = Default::default();
        let mut models = Method::ALL.map(Method::model);
        let repeats = if effort.quick { 9 } else { 30 };
        for trial in 0..=TRIALS {
            let mut runs: [Vec<f64>; 3] = Default::default();
            for repeat in 0..repeats {
                for turn in 0..3 {
                    // Each follows each as often, so that none always finds the caches of the largest one.
                    let k = (turn + repeat) % 3;
                    let (seconds, run) = ten_steps(first, models[k].as_mut())?;
                    runs[k].push(seconds);
                    held[k] = run;
                }
            }
            // The first one warms up.
            if trial > 0 {
                times.iter_mut().zip(runs).for_each(|(times, runs)| times.push(median(runs)));
            }
        }
        Ok(Self { first, times, held })
    }

    fn table(all: &[Self; 2]) -> Table {
        let columns = columns(&[
            ("first cube", ""),
            ("method", ""),
            ("variables", ""),
            ("paper: ten steps", "s"),
            ("paper: deviation", "s"),
            ("ten steps, mean", "ms"),
            ("deviation", "ms"),
            ("pivots per step, mean", ""),
            ("pivots per step, most", ""),
            ("positive normals, most", ""),
            ("steps held", ""),
        ]);
        let row = |trials: &Self, k: usize| {
            let ((mean, deviation), held) = (mean_deviation(&trials.times[k]), &trials.held[k]);
            vec![
                text(trials.first.name()),
                text(Method::ALL[k].name()),
                count(held.variables),
                Cell::Number(PAPER[k].0),
                Cell::Number(PAPER[k].1),
                Cell::Number(1e3 * mean),
                Cell::Number(1e3 * deviation),
                Cell::Number(held.mean_pivots()),
                count(held.most_pivots),
                count(held.positive),
                count(held.steps),
            ]
        };
        let title = "Table I: two cubes, 36 contacts, ten steps of 10 ms from scratch".into();
        let rows = all.iter().flat_map(|trials| (0..3).map(move |k| row(trials, k))).collect();
        Table { name: "table-1".into(), title, columns, rows }
    }

    /// How the times compare.
    fn ratio_claims(&self) -> [Claim; 3] {
        let [lemke, active, ppm] = self.times.each_ref().map(|times| mean_deviation(times).0);
        let why = if self.first == FirstCube::Tied {
            "Lemke's method has fewer variables here than the paper's 216: friction that the joint makes idle is left out"
        } else {
            "Lemke's method is cheaper here than it was there"
        };
        let scene = format!(
            "first cube {}, {} and {} variables",
            self.first.name(),
            self.held[0].variables,
            self.held[2].variables
        );
        [
            factor(
                format!(
                    "Stewart–Trinkle with Lemke takes longer than no-slip with the modified PPM by this factor ({scene})"
                ),
                PAPER[0].0 / PAPER[2].0,
                lemke / ppm,
                why,
            ),
            factor(
                format!(
                    "Stewart–Trinkle with Lemke takes longer than no-slip with an active-set QP by this factor ({scene})"
                ),
                PAPER[0].0 / PAPER[1].0,
                lemke / active,
                why,
            ),
            factor(
                format!(
                    "No-slip with an active-set QP takes longer than with the modified PPM by this factor ({scene})"
                ),
                PAPER[1].0 / PAPER[2].0,
                active / ppm,
                "both are the same kind of method here, on the same updated factor; the active-set one needs no certificate of its \
                 own and is the default",
            ),
        ]
    }

    /// What is counted.
    fn claims(&self) -> [Claim; 3] {
        let Held { most_pivots, variables, positive, .. } = self.held[2];
        let (pivots, all) = (self.held[2].mean_pivots(), self.held[0].variables);
        [
            claim(
                "Pivots of the modified PPM per step, mean and most",
                "5.5, 7",
                format!("{pivots:.1}, {most_pivots}"),
                Rule::when(pivots <= 5.5 && most_pivots <= 7, "at most as many")
                    .better_when(pivots < 5.5 && most_pivots < 7, "both fewer"),
                "it takes more pivots",
            ),
            claim(
                "No-slip has a sixth of the variables (the paper says a fifth, and gives these numbers)",
                "36 instead of 216",
                format!("{variables} instead of {all}"),
                Rule::when(variables == 36 && all == 216, "the same numbers").better_when(variables < 36, "fewer"),
                "other numbers",
            ),
            claim(
                "Few contacts need a force: positive normals of no-slip, two cubes",
                "6: two of the twelve contacts of each face pair",
                positive.to_string(),
                Rule::at_most(positive as f64, 6.0).better_when(positive < 6, "fewer"),
                "more normals are positive",
            ),
        ]
    }
}
