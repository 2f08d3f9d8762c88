//! Least motion by Gauss–Seidel sweeps with conjugate directions. Each step of a sweep solves one row.

use stiction_linalg::conjugate::Conjugate;

use super::least_motion::Problem;

/// Most sweeps: what takes longer is for a factor.
const MOST_SWEEPS: usize = 300;

/// Where the rows cannot all hold, each gives way by this part of what its own multiplier moves.
const COMPLIANCE: f64 = 1e-2;

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Sweeps {
    multipliers: Vec<f64>,
    /// w of all rows.
    weights: Vec<f64>,
    conjugate: Conjugate,
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
        self.multipliers.clear();
        self.multipliers.resize(problem.rows.len(), 0.0);
        self.weights.clear();
        self.weights.extend(problem.rows.iter().map(|row| row.w));
        problem.x.fill(0.0);
        self.conjugate.begin(&self.multipliers, &problem.x);
        for _ in 0..MOST_SWEEPS {
            stiction_lcp::interrupt::check();
            if self.sweep(problem, compliance) <= 1.0 {
                return true;
            }
            self.conjugate.change(&self.multipliers, &self.weights);
            self.conjugate.follow(&mut self.multipliers, &mut problem.x);
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
