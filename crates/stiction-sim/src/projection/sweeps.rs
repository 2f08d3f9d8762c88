//! Least motion by Gauss–Seidel sweeps with conjugate directions.
//!
//! Each step of a sweep solves one row; the steps of two sweeps give the factor by which the
//! direction of the last one is followed, and where steps grow the direction is forgotten.
//!
//! Reference: [Silcowitz10].

use super::least_motion::Problem;

/// Most sweeps: what takes longer is for a factor.
const MOST_SWEEPS: usize = 300;

/// Where the rows cannot all hold, each gives way by this part of what its own multiplier moves.
const COMPLIANCE: f64 = 1e-2;

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Sweeps {
    multipliers: Vec<f64>,
    before: Vec<f64>,
    direction: Vec<f64>,
    x_before: Vec<f64>,
    x_direction: Vec<f64>,
}

impl Sweeps {
    /// True if every row holds after so many sweeps.
    pub(super) fn solve(&mut self, problem: &mut Problem) -> bool {
        self.iterate(problem, 0.0)
    }

    /// The motion of rows that give way a little.
    pub(super) fn give_way(&mut self, problem: &mut Problem) {
        self.iterate(problem, COMPLIANCE);
    }

    fn iterate(&mut self, problem: &mut Problem, compliance: f64) -> bool {
        let zero = |x: &mut Vec<f64>, len: usize| {
            x.clear();
            x.resize(len, 0.0);
        };
        zero(&mut self.multipliers, problem.rows.len());
        zero(&mut self.direction, problem.rows.len());
        zero(&mut self.x_direction, problem.x.len());
        problem.x.fill(0.0);
        let mut last = 0.0;
        for _ in 0..MOST_SWEEPS {
            stiction_lcp::interrupt::check();
            self.before.clone_from(&self.multipliers);
            self.x_before.clone_from(&problem.x);
            if self.sweep(problem, compliance) <= 1.0 {
                return true;
            }
            let steps = self.multipliers.iter().zip(&self.before).zip(&problem.rows);
            let square: f64 = steps.map(|((new, old), row)| row.w * (new - old) * (new - old)).sum();
            let factor = if square < last { square / last } else { 0.0 };
            last = square;
            follow(&mut self.multipliers, &self.before, &mut self.direction, factor);
            follow(&mut problem.x, &self.x_before, &mut self.x_direction, factor);
        }
        false
    }

    /// Solves row after row; returns the largest change of a row's own motion beside its tolerance.
    fn sweep(&mut self, problem: &mut Problem, compliance: f64) -> f64 {
        let mut worst = 0.0_f64;
        for (k, multiplier) in self.multipliers.iter_mut().enumerate() {
            let row = problem.rows[k];
            let motion = problem.along(&row) + compliance * row.w * *multiplier - row.bound;
            let w = (1.0 + compliance) * row.w;
            let new = (*multiplier - motion / w).max(0.0);
            let step = new - *multiplier;
            *multiplier = new;
            worst = worst.max(step.abs() * w / row.tolerance);
            if step != 0.0 {
                problem.push(&row, step);
            }
        }
        worst
    }
}

/// `direction ← x − before + factor direction`, and `x` moves by `factor` of what the direction
/// was.
fn follow(x: &mut [f64], before: &[f64], direction: &mut [f64], factor: f64) {
    for ((x, before), direction) in x.iter_mut().zip(before).zip(direction) {
        let along = factor * *direction;
        *direction = *x - before + along;
        *x += along;
    }
}
