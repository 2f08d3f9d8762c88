//! Crossover: from a point near a solution to a basis that solves exactly.
//!
//! 1. *Guess*: zᵢ is basic where it exceeds wᵢ, in scaled units.
//! 2. *Purify*: where the columns of the guess are dependent, move z within their null space until the positive variables hold
//!    independent columns only, as linear programming does to reach a vertex.
//! 3. *Complete*: pairs with z = w = 0 (nearly) may join the basis in either way; take those that make it regular.
//! 4. *Repair*: block principal pivoting from there, all wrong signs at once while their number falls, else the last of them.
//! 5. *Hand over*: Lemke's method from the guess.

use super::Tolerances;
use super::newton::Pair;
use super::scale::Scaled;
use super::vertex::Vertex;
use crate::basis::{Basis, Position};
use crate::finish::Finish;
use crate::lemke::Lemke;
use crate::matrix::{Matrix, max_abs};
use crate::outcome::{Outcome, Solved, Stats};
use crate::problem::{Lcp, ProblemRef};
use crate::solver::{Options, Solver};
use crate::{reduce, work};
use stiction_linalg::lu::Lu;

/// Workspace of the crossover.
#[derive(Debug, Clone, Default)]
pub(super) struct Crossover {
    finish: Finish,
    lu: Lu,
    vertex: Vertex,
    wrong: Vec<usize>,
    /// Scratch: right-hand sides, sizes of rows.
    size: Vec<f64>,
    guess: Vec<bool>,
    active: Vec<usize>,
    z: Vec<f64>,
    w: Vec<f64>,
}

/// Steps of block pivoting without progress before single pivots are made.
const PATIENCE: usize = 5;

impl Crossover {
    /// Steps 1–4; the certified solution of the problem as given, if one was found.
    pub(super) fn run(
        &mut self,
        lcp: &Lcp,
        scaled: &Scaled,
        at: &Pair,
        options: &Options,
        stats: &mut Stats,
    ) -> Option<Solved> {
        let nearly_zero = options.tolerances.interior_point.nearly_zero * at.mean_gap().max(0.0).sqrt();
        for least in [0.0, nearly_zero] {
            self.guess_from(at, least);
            if let Some(solved) = self.certified(lcp, options, stats) {
                return Some(solved);
            }
        }
        self.guess_from(at, 0.0);
        self.purify(&scaled.m, at, &options.tolerances.interior_point, stats);
        stats.flops += work::factorization(lcp.n());
        if let Some(solved) = self.certified(lcp, options, stats) {
            return Some(solved);
        }
        self.complete(scaled, nearly_zero, &options.tolerances.reduce);
        self.certified(lcp, options, stats).or_else(|| self.repair(lcp, scaled, options, stats))
    }

    /// Step 5: Lemke's method from the guess.
    pub(super) fn hand_over(
        &mut self,
        lcp: &Lcp,
        at: &Pair,
        lemke: &mut Lemke,
        options: &Options,
        stats: &mut Stats,
    ) -> Option<Solved> {
        self.guess_from(at, 0.0);
        lemke.limit_flops(options.flops_allowed(lcp.n()).saturating_sub(stats.flops));
        let outcome = lemke.solve_from(ProblemRef::Lcp(lcp), Some(&self.basis())).ok()?;
        stats.pivots += outcome.stats().pivots;
        stats.refactorizations += outcome.stats().refactorizations;
        stats.flops += outcome.stats().flops;
        match outcome {
            Outcome::Solved(solved) => Some(solved),
            _ => None,
        }
    }

    /// Step 1; pairs with both numbers at most `least` are not basic.
    fn guess_from(&mut self, at: &Pair, least: f64) {
        self.guess.clear();
        self.guess.extend(at.z.iter().zip(&at.w).map(|(z, w)| z > w && *z > least));
    }

    fn basis(&self) -> Basis {
        Basis::new(self.guess.iter().map(|&z| if z { Position::Basic } else { Position::Lower }).collect())
    }

    /// The guess's solution in the problem's own numbers, if it passes and each basic row has w = 0.
    fn certified(&mut self, lcp: &Lcp, options: &Options, stats: &mut Stats) -> Option<Solved> {
        let outcome = self.finish.outcome(lcp.into(), self.basis(), options, Stats::default());
        stats.flops += outcome.stats().flops;
        match outcome {
            Outcome::Solved(solved) => Some(solved),
            _ => None,
        }
    }

    /// Reduces the positive variables to independent columns: z stays non-negative, w_α zero and the other w non-negative.
    fn purify(&mut self, m: &Matrix, at: &Pair, tolerances: &Tolerances, stats: &mut Stats) {
        self.collect_active();
        self.z.clear();
        self.z.extend(self.active.iter().map(|&i| at.z[i]));
        self.w.clone_from(&at.w);
        self.vertex.set(m, &self.active, &self.guess);
        self.vertex.eliminate(tolerances.dependent);
        for j in self.vertex.dependent(&self.z) {
            stats.pivots += usize::from(self.vertex.remove(&mut self.z, &mut self.w, j, tolerances.dependent));
        }
        self.guess.fill(false);
        for b in self.vertex.basic_columns() {
            self.guess[self.active[b]] = true;
        }
        // Those that were driven out have w = 0 as well.
        for &i in &self.active {
            self.w[i] = 0.0;
        }
    }

    /// Completes the positive variables to a regular basis by pairs that are nearly zero.
    fn complete(&mut self, scaled: &Scaled, nearly_zero: f64, tolerances: &reduce::Tolerances) {
        let n = self.guess.len();
        for (a, &i) in self.active.iter().enumerate() {
            self.guess[i] &= self.z[a] > nearly_zero;
        }
        let undecided: Vec<usize> = (0..n).filter(|&i| self.guess[i] || self.w[i] <= nearly_zero).collect();
        let chosen = reduce::regular_block(&scaled.m, &scaled.q, &undecided, &self.guess, tolerances);
        self.guess.fill(false);
        for i in chosen {
            self.guess[i] = true;
        }
    }

    fn collect_active(&mut self) {
        self.active.clear();
        self.active.extend((0..self.guess.len()).filter(|&i| self.guess[i]));
    }

    /// Block principal pivoting with single pivots as a safeguard. Reference: \[JudicePires94\].
    fn repair(&mut self, lcp: &Lcp, scaled: &Scaled, options: &Options, stats: &mut Stats) -> Option<Solved> {
        let (n, tolerances) = (lcp.n(), &options.tolerances.interior_point);
        let (mut fewest, mut patience) = (n + 1, PATIENCE);
        for _ in 0..4 * PATIENCE + n {
            crate::interrupt::check();
            let basic = self.guess.iter().filter(|z| **z).count();
            stats.flops += work::factorization(basic) + work::product(n, 2 * n);
            if stats.flops > options.flops_allowed(n) || !self.solve_guess(scaled, tolerances.dependent) {
                return None;
            }
            self.find_wrong_rows(scaled, tolerances.wrong_sign);
            let wrong = self.wrong.len();
            if wrong == 0 {
                return self.certified(lcp, options, stats);
            }
            if wrong < fewest {
                (fewest, patience) = (wrong, PATIENCE);
            } else {
                patience = patience.saturating_sub(1);
            }
            let flips = if patience > 0 { &self.wrong[..] } else { &self.wrong[wrong - 1..] };
            for &i in flips {
                self.guess[i] = !self.guess[i];
            }
            stats.pivots += flips.len();
        }
        None
    }

    /// z and w of the guess, in scaled units; false if its columns are dependent.
    fn solve_guess(&mut self, scaled: &Scaled, dependent: f64) -> bool {
        let n = self.guess.len();
        self.collect_active();
        let active = &self.active;
        self.lu.factor_with(active.len(), |a, b| scaled.m[(active[a], active[b])]);
        if self.lu.pivot_ratio() <= dependent {
            return false;
        }
        self.size.clear();
        self.size.extend(active.iter().map(|&i| -scaled.q[i]));
        self.lu.solve(&mut self.size);
        self.z.clear();
        self.z.resize(n, 0.0);
        for (&i, x) in active.iter().zip(&self.size) {
            self.z[i] = *x;
        }
        self.w.resize(n, 0.0);
        scaled.m.mul_into(&self.z, &mut self.w);
        for i in 0..n {
            self.w[i] += scaled.q[i];
        }
        self.z.iter().all(|x| x.is_finite())
    }

    /// Collects the rows whose basic variable is negative: w beside the terms it is the sum of, z beside the largest.
    fn find_wrong_rows(&mut self, scaled: &Scaled, wrong_sign: f64) {
        let n = self.guess.len();
        self.size.clear();
        self.size.extend(scaled.q.iter().map(|q| q.abs()));
        for j in (0..n).filter(|&j| self.z[j] != 0.0) {
            for (s, entry) in self.size.iter_mut().zip(scaled.m.col(j)) {
                *s += (entry * self.z[j]).abs();
            }
        }
        let largest = max_abs(&self.z);
        self.wrong.clear();
        for i in 0..n {
            let (value, size) = if self.guess[i] { (self.z[i], largest) } else { (self.w[i], self.size[i]) };
            if value < -wrong_sign * size {
                self.wrong.push(i);
            }
        }
    }
}
