//! Rows of one to ten cubes.

use stiction_lcp::InputError;

use super::hold::{Held, Method, Run};
use super::scene::FirstCube;
use super::simulated::WholeSteps;
use super::{LONG, LOST, most_blocks};
use crate::compose::{Rule, claim, columns, count, line, plot, text};
use crate::timing::median;
use crate::{Cell, Claim, Effort, Plot, Progress, Series, Table};

/// One to ten blocks: what a step takes, and how long each method holds.
pub(super) struct Rows {
    /// What a step takes.
    pub sizes: Table,
    /// How long each method holds.
    pub holds: Table,
    /// Motion of two blocks over the steps, by method.
    lines: Vec<Series>,
    /// No-slip, all runs: largest motion (m), infinite if one was lost; fewest and most steps tried.
    worst: f64,
    steps: [usize; 2],
    /// Blocks, and most positive normals of no-slip.
    positive: Vec<(usize, usize)>,
    /// Stewart–Trinkle, two blocks: steps held with the first one tied and with it free, of steps tried.
    lemke: [usize; 2],
    lemke_tried: usize,
}

impl Rows {
    /// Runs all; the parts before it are two of `parts`.
    pub(super) fn run(effort: &Effort, progress: &mut dyn Progress, parts: usize) -> Result<Self, InputError> {
        let (sizes, holds) = (sizes_table(), holds_table());
        let mut rows = Self {
            sizes,
            holds,
            lines: vec![],
            worst: 0.0,
            steps: [usize::MAX, 0],
            positive: vec![],
            lemke: [0; 2],
            lemke_tried: 0,
        };
        for n in 1..=most_blocks(effort) {
            progress.report(2 + n, parts, &format!("{n} blocks"));
            for method in Method::ALL {
                rows.add(n, method, effort)?;
            }
        }
        Ok(rows)
    }

    fn add(&mut self, n: usize, method: Method, effort: &Effort) -> Result<(), InputError> {
        let mut model = method.model();
        let steps = method.steps(n, effort);
        let run = Run { first: FirstCube::Tied, n, dt: 1e-3, steps, warm: method.warm(), to_the_end: false };
        let from_scratch = Run { steps: steps.min(10), warm: false, ..run }.hold(model.as_mut())?;
        let long = run.hold(model.as_mut())?;
        self.sizes.rows.push(size_row(n, method, &from_scratch));
        self.holds.rows.push(hold_row(n, method, steps, &long));
        if method != Method::Lemke {
            self.worst = if long.steps == steps { self.worst.max(long.motion) } else { f64::INFINITY };
            self.steps = [self.steps[0].min(steps), self.steps[1].max(steps)];
            self.positive.push((n, from_scratch.positive));
        } else if n == 2 {
            let free = Run { first: FirstCube::Free, ..run }.hold(model.as_mut())?;
            (self.lemke, self.lemke_tried) = ([long.steps, free.steps], steps);
        }
        if n == 2 {
            self.lines.push(line(method.name(), long.trace));
        }
        Ok(())
    }

    /// Motion of two cubes over the steps.
    pub(super) fn plot(&self) -> Plot {
        let title = "Largest motion of two cubes beside the gripper, steps of 1 ms (below 1e-18 m is drawn as that)";
        let (x, y) = (("steps", true), ("motion beside the gripper (m)", true));
        plot("hold-time", title, x, y, self.lines.clone())
    }

    /// How long the blocks are held, and by how many contacts.
    pub(super) fn claims(&self, whole: &[WholeSteps]) -> [Claim; 3] {
        let [fewest, most] = self.steps;
        let blocks = self.positive.iter().map(|(n, _)| *n).max().unwrap_or(0);
        let tried = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        let held = Rule::when(self.worst <= LOST && fewest >= 100, format!("within {LOST:e} m for 100 steps"));
        let more = self.positive.iter().filter(|(n, positive)| *positive > 3 * (n - 1).max(1)).count();
        [
            claim(
                "No-slip holds the blocks",
                "at least 100 steps",
                format!("{tried} steps of 1 ms, 1 to {blocks} blocks: motion ≤ {:.1e} m", self.worst),
                held.better_when(fewest >= 1000, "for ten times as many"),
                "a block moves",
            ),
            self.lemke_claim(whole),
            claim(
                "No-slip has at most 3 (n − 1) positive normals for n blocks (3 for one)",
                "run again: 3 (n − 1)",
                format!("{} of {} runs, 1 to {blocks} blocks", self.positive.len() - more, self.positive.len()),
                Rule::when(more == 0, "all"),
                format!("more in {more} of {} runs", self.positive.len()),
            ),
        ]
    }

    /// That Lemke's blocks fall is a claim on numbers, not on the model.
    fn lemke_claim(&self, whole: &[WholeSteps]) -> Claim {
        let ([tied, free], tried) = (self.lemke, self.lemke_tried);
        let simulated = whole.iter().find(|w| w.method == Method::Lemke).map_or_else(String::new, |w| {
            let until =
                w.lost.map_or_else(|| format!("all {}", w.steps), |step| format!("{} of {}", step - 1, w.steps));
            format!("; through the simulator, 12 contacts: {until}, {:.0e} m in the end", w.motion)
        });
        claim(
            "Stewart–Trinkle with Lemke holds two blocks for around ten steps only",
            "around 10 of 10 ms; run again: 50 of 1 ms",
            format!("{tied} of {tried} steps with the first cube tied, {free} with it free{simulated}"),
            Rule::when(tied.min(free) <= 100, "at most 0.1 s, which are 100 steps of 1 ms, on the paper's contacts"),
            "an answer is a basis here, and its numbers are refined to rounding, so no block falls. Where the model has several solutions, as \
             through the simulator, the cubes creep",
        )
    }
}

fn sizes_table() -> Table {
    let columns = columns(&[
        ("blocks", ""),
        ("contacts", ""),
        ("method", ""),
        ("variables", ""),
        ("step from scratch, median", "µs"),
        ("pivots per step, mean", ""),
        ("pivots per step, most", ""),
        ("positive normals, most", ""),
    ]);
    let title = "Rows of 1 to 10 cubes: a step from scratch, steps of 1 ms".into();
    Table { name: "grasp-sizes".into(), title, columns, rows: vec![] }
}

fn size_row(n: usize, method: Method, held: &Held) -> Vec<Cell> {
    let contacts = 12 * (n + 1);
    vec![
        count(n),
        count(contacts),
        text(method.name()),
        count(held.variables),
        Cell::Number(1e6 * median(held.times.clone())),
        Cell::Number(held.mean_pivots()),
        count(held.most_pivots),
        count(held.positive),
    ]
}

fn holds_table() -> Table {
    let columns = columns(&[
        ("blocks", ""),
        ("method", ""),
        ("steps tried", ""),
        ("steps held", ""),
        ("motion after 10 steps", "m"),
        ("motion after 100 steps", "m"),
        ("motion after 10,000 steps", "m"),
        ("worst certificate", ""),
    ]);
    let title = "How long each method holds: largest motion beside the first gripper, steps of 1 ms".into();
    Table { name: "grasp-holds".into(), title, columns, rows: vec![] }
}

fn hold_row(n: usize, method: Method, tried: usize, held: &Held) -> Vec<Cell> {
    let after = |steps: usize| {
        let at = held.marks.iter().find(|(at, _)| *at == steps);
        at.map_or(Cell::Empty, |(_, motion)| Cell::Number(*motion))
    };
    vec![
        count(n),
        text(method.name()),
        count(tried),
        count(held.steps),
        after(10),
        after(100),
        after(LONG),
        Cell::Number(held.certificate),
    ]
}
