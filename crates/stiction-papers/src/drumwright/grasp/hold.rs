//! Steps of the grasp on its contact problem: symplectic Euler with rows that do not change.

use stiction_contact::models::coulomb_polyhedral::{CoulombPolyhedral, Method as Lloyd};
use stiction_contact::{
    ContactModel, ContactOutcome, ContactProblem, NoSlip, NoSlipOptions, NormalOptions, NormalSolver,
    PolyhedralOptions, WarmStart,
};
use stiction_lcp::InputError;

use super::scene::{FirstCube, grasp};
use super::{LONG, LOST};
use crate::Effort;
use crate::timing::timed;

/// A model and its solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Stewart and Trinkle's, by Lemke's standard method.
    Lemke,
    /// No-slip, an active-set method.
    ActiveSet,
    /// No-slip, the modified PPM.
    Ppm,
}

impl Method {
    /// In the order of Table I.
    pub(super) const ALL: [Self; 3] = [Self::Lemke, Self::ActiveSet, Self::Ppm];

    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lemke => "Stewart–Trinkle (Lemke)",
            Self::ActiveSet => "no-slip (active-set QP)",
            Self::Ppm => "no-slip (modified PPM)",
        }
    }

    /// The model.
    pub(super) fn model(self) -> Box<dyn ContactModel> {
        let no_slip = |solver| {
            let normals = NormalOptions { solver, ..NormalOptions::default() };
            Box::new(NoSlip::new(NoSlipOptions { normals, release: false }))
        };
        match self {
            Self::Lemke => {
                let options = PolyhedralOptions {
                    directions: DIRECTIONS,
                    method: Lloyd::Standard,
                    ..PolyhedralOptions::default()
                };
                Box::new(CoulombPolyhedral::new(options).expect("four directions are allowed"))
            }
            Self::ActiveSet => no_slip(NormalSolver::Nnls),
            Self::Ppm => no_slip(NormalSolver::ModifiedPpm),
        }
    }

    /// Whether long runs start each step from the last one's answer. Lemke's method does not: its answers are what is looked at.
    pub(super) fn warm(self) -> bool {
        self != Self::Lemke
    }

    /// Steps of the long run of `n` blocks. Lemke's method takes its time.
    pub(super) fn steps(self, n: usize, effort: &Effort) -> usize {
        match (self, effort.quick) {
            (Self::Lemke, false) if n <= 2 => LONG,
            (Self::Lemke, true) if n <= 2 => 1000,
            (Self::Lemke, _) if n <= 4 => 100,
            (Self::Lemke, _) => 10,
            (_, true) if n > 2 => 1000,
            _ => LONG,
        }
    }
}

/// Directions of friction of Stewart and Trinkle's model, and its coefficient.
const DIRECTIONS: usize = 4;
const MU: f64 = 100.0;

/// Steps that are kept for plots: about this many to a decade.
const PER_DECADE: f64 = 10.0;

/// What is drawn as nothing (m).
const NOTHING: f64 = 1e-18;

/// What a run came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// Steps made, and those while the blocks were held.
    pub made: usize,
    /// Steps made while the blocks were held.
    pub steps: usize,
    /// Largest motion beside the first gripper (m).
    pub motion: f64,
    /// The same after 10, 100 and 10,000 steps, as far as it came.
    pub marks: Vec<(usize, f64)>,
    /// The same over the steps, for a plot.
    pub trace: Vec<(f64, f64)>,
    /// Time of each step (s), up to the first thousand.
    pub times: Vec<f64>,
    /// Pivots in all, and most of a step.
    pub pivots: usize,
    /// Most pivots of a step.
    pub most_pivots: usize,
    /// Most positive normals of a step.
    pub positive: usize,
    /// Complementarity variables: letters of the last step's bases.
    pub variables: usize,
    /// Worst certificate.
    pub certificate: f64,
}

impl Held {
    /// Mean pivots of a step.
    pub(super) fn mean_pivots(&self) -> f64 {
        self.pivots as f64 / self.made.max(1) as f64
    }
}

/// Ten steps of 10 ms from scratch with two blocks, whether they are held or not: their time (s), and what they came to.
pub(super) fn ten_steps(first: FirstCube, model: &mut dyn ContactModel) -> Result<(f64, Held), InputError> {
    let run = Run { first, n: 2, dt: 1e-2, steps: 10, warm: false, to_the_end: true };
    let held = run.hold(model)?;
    Ok((held.times.iter().sum(), held))
}

/// Steps to be made, until one is not solved or the blocks are lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// The form of the scene.
    pub first: FirstCube,
    /// Blocks.
    pub n: usize,
    /// The step (s).
    pub dt: f64,
    /// How many.
    pub steps: usize,
    /// Each from the last one's answer.
    pub warm: bool,
    /// Goes on when the blocks are lost.
    pub to_the_end: bool,
}

impl Run {
    /// Makes them.
    pub(super) fn hold(self, model: &mut dyn ContactModel) -> Result<Held, InputError> {
        let Self { first, n, dt, steps, warm, to_the_end } = self;
        let mut problem = grasp(first, n, MU, dt)?;
        let force = problem.force().to_vec();
        let (mut v, mut q) = (vec![0.0; problem.m()], vec![0.0; problem.m()]);
        let (mut held, mut start) = (Held::default(), None);
        let mut next = 1.0f64;
        for step in 1..=steps {
            let (time, solved) = timed(|| advance(&mut problem, &force, dt, model, start.as_ref(), &mut v, &mut q));
            let outcome = solved?;
            let Some(solution) = outcome.solved() else { break };
            if held.times.len() < 1000 {
                held.times.push(time);
            }
            held.pivots += solution.stats.pivots;
            held.most_pivots = held.most_pivots.max(solution.stats.pivots);
            held.positive = held.positive.max(solution.active_contacts());
            held.variables = solution.warm_start.bases.iter().map(|basis| basis.len()).sum();
            held.certificate = held.certificate.max(solution.certificate.largest());
            held.motion = beside_the_first(&q);
            held.made = step;
            let lost = held.motion > LOST || held.steps + 1 < step;
            if lost && !to_the_end {
                break;
            }
            if !lost {
                held.steps = step;
            }
            if [10, 100, LONG].contains(&step) {
                held.marks.push((step, held.motion));
            }
            if step as f64 >= next {
                held.trace.push((step as f64, held.motion.max(NOTHING)));
                next = (next * 10f64.powf(1.0 / PER_DECADE)).ceil();
            }
            start = warm.then(|| solution.warm_start.clone());
            model.recycle(outcome);
        }
        Ok(held)
    }
}

/// One step; the motion goes on if it is solved.
fn advance(
    problem: &mut ContactProblem,
    force: &[f64],
    dt: f64,
    model: &mut dyn ContactModel,
    start: Option<&WarmStart>,
    v: &mut [f64],
    q: &mut [f64],
) -> Result<ContactOutcome, InputError> {
    problem.set_motion(v, force)?;
    let outcome = model.solve_from(problem, start)?;
    if let Some(solution) = outcome.solved() {
        v.copy_from_slice(&solution.motion);
        q.iter_mut().zip(&*v).for_each(|(q, v)| *q += dt * v);
    }
    Ok(outcome)
}

/// Largest way (m or rad) of a body beside the first one.
fn beside_the_first(q: &[f64]) -> f64 {
    let (first, others) = q.split_at(6);
    others.chunks_exact(6).flat_map(|body| body.iter().zip(first)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
