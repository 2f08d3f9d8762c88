//! Crossover: from a point near a solution to a basis that solves exactly.
//!
//! 1. *Guess*: zᵢ is basic where it exceeds wᵢ, in scaled units.
//! 2. *Purify*: where the columns of the guess are dependent, move z within their null space until the positive variables hold
//!    independent columns only, as linear programming does to reach a vertex.
//! 3. *Complete*: pairs with z = w = 0 (nearly) may join the basis in either way; take those that make it regular.
//! 4. *Repair*: block principal pivoting from there, all wrong signs at once while their number falls, else the last of them.
//! 5. *Hand over*: a pivoting method of the caller's choice, warm-started.

use super::newton::Pair;
use super::scale::Scaled;
use crate::basis::{Basis, Position};
use crate::finish::Finish;
use crate::lu::Lu;
use crate::matrix::{Matrix, axpy};
use crate::outcome::{Outcome, Solved, Stats};
use crate::problem::{Lcp, ProblemRef};
use crate::reduce::regular_block;
use crate::solver::{Options, Solver};

/// Workspace of the crossover.
#[derive(Debug, Default)]
pub(super) struct Crossover {
    finish: Finish,
    lu: Lu,
    /// The columns of the guess, reduced to independent ones and the coefficients of the others.
    tableau: Matrix,
    guess: Vec<bool>,
    active: Vec<usize>,
    z: Vec<f64>,
    w: Vec<f64>,
}

/// A pivot smaller than this, in a scaled matrix with entries up to about one, counts as a dependent column.
const DEPENDENT: f64 = 1e-10;

/// A rate above this can block a move in the null space.
const BLOCKING: f64 = 1e-9;

/// A z or w below this times the root of the mean gap may be zero.
const NEARLY_ZERO: f64 = 10.0;

/// A z or w below minus this, relative to its scale, has the wrong sign.
const WRONG_SIGN: f64 = 1e-10;

/// Steps of block pivoting without progress before single pivots are made.
const PATIENCE: usize = 5;

impl Crossover {
    /// Steps 1–4; the certified solution of the problem as given, if one was found.
    pub fn run(
        &mut self,
        lcp: &Lcp,
        scaled: &Scaled,
        at: &Pair,
        options: &Options,
        stats: &mut Stats,
    ) -> Option<Solved> {
        let nearly_zero = NEARLY_ZERO * at.mean_gap().max(0.0).sqrt();
        for least in [0.0, nearly_zero] {
            self.guess_from(at, least);
            if let Some(solved) = self.certified(lcp, options) {
                return Some(solved);
            }
        }
        self.guess_from(at, 0.0);
        self.purify(&scaled.m, at, stats);
        if let Some(solved) = self.certified(lcp, options) {
            return Some(solved);
        }
        self.complete(scaled, nearly_zero);
        self.certified(lcp, options).or_else(|| self.repair(lcp, scaled, options, stats))
    }

    /// Step 5: the pivoting method from the guess.
    pub fn hand_over(&mut self, lcp: &Lcp, at: &Pair, pivoting: &mut dyn Solver, stats: &mut Stats) -> Option<Solved> {
        self.guess_from(at, 0.0);
        let outcome = pivoting.solve_from(ProblemRef::Lcp(lcp), Some(&self.basis())).ok()?;
        stats.pivots += outcome.stats().pivots;
        stats.refactorizations += outcome.stats().refactorizations;
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
    fn certified(&mut self, lcp: &Lcp, options: &Options) -> Option<Solved> {
        match self.finish.outcome(lcp.into(), self.basis(), options, Stats::default()) {
            Outcome::Solved(solved) => Some(solved),
            _ => None,
        }
    }

    /// Reduces the positive variables to independent columns: z stays non-negative, w_α zero and the other w non-negative.
    fn purify(&mut self, m: &Matrix, at: &Pair, stats: &mut Stats) {
        self.collect_active();
        let (n, k) = (self.guess.len(), self.active.len());
        self.z.clear();
        self.z.extend(self.active.iter().map(|&i| at.z[i]));
        self.w.clone_from(&at.w);
        // Rows of the guess first, then the others.
        let rows: Vec<usize> = self.active.iter().copied().chain((0..n).filter(|&i| !self.guess[i])).collect();
        self.tableau.reset(n, k);
        for b in 0..k {
            for a in 0..n {
                self.tableau[(a, b)] = m[(rows[a], self.active[b])];
            }
        }
        let mut vertex = Vertex { basic: gauss_jordan(&mut self.tableau), rows };
        for j in vertex.dependent(&self.z) {
            stats.pivots += usize::from(vertex.remove(&mut self.tableau, &mut self.z, &mut self.w, j));
        }
        self.guess.fill(false);
        for &b in vertex.basic.iter().flatten() {
            self.guess[self.active[b]] = true;
        }
        // Those that were driven out have w = 0 as well.
        for &i in &self.active {
            self.w[i] = 0.0;
        }
    }

    /// Completes the positive variables to a regular basis by pairs that are nearly zero.
    fn complete(&mut self, scaled: &Scaled, nearly_zero: f64) {
        let n = self.guess.len();
        for (a, &i) in self.active.iter().enumerate() {
            self.guess[i] &= self.z[a] > nearly_zero;
        }
        let undecided: Vec<usize> = (0..n).filter(|&i| self.guess[i] || self.w[i] <= nearly_zero).collect();
        let chosen = regular_block(&scaled.m, &scaled.q, &undecided, &self.guess);
        self.guess.fill(false);
        for i in chosen {
            self.guess[i] = true;
        }
    }

    fn collect_active(&mut self) {
        self.active.clear();
        self.active.extend((0..self.guess.len()).filter(|&i| self.guess[i]));
    }

    /// Block principal pivoting with single pivots as a safeguard. Reference: [JudicePires94].
    fn repair(&mut self, lcp: &Lcp, scaled: &Scaled, options: &Options, stats: &mut Stats) -> Option<Solved> {
        let n = lcp.n();
        let (mut fewest, mut patience) = (n + 1, PATIENCE);
        for _ in 0..4 * PATIENCE + n {
            if !self.solve_guess(scaled) {
                return None;
            }
            let wrong = self.wrong_rows(scaled);
            let Some(&last) = wrong.last() else {
                return self.certified(lcp, options);
            };
            if wrong.len() < fewest {
                (fewest, patience) = (wrong.len(), PATIENCE);
            } else if patience > 0 {
                patience -= 1;
            }
            let flips: &[usize] = if patience > 0 { &wrong } else { &[last] };
            for &i in flips {
                self.guess[i] = !self.guess[i];
            }
            stats.pivots += flips.len();
        }
        None
    }

    /// z and w of the guess, in scaled units; false if its columns are dependent.
    fn solve_guess(&mut self, scaled: &Scaled) -> bool {
        let n = self.guess.len();
        self.collect_active();
        let active = &self.active;
        self.lu.factor_with(active.len(), |a, b| scaled.m[(active[a], active[b])]);
        if self.lu.pivot_ratio() <= DEPENDENT {
            return false;
        }
        let mut right: Vec<f64> = active.iter().map(|&i| -scaled.q[i]).collect();
        self.lu.solve(&mut right);
        self.z.clear();
        self.z.resize(n, 0.0);
        for (&i, x) in active.iter().zip(&right) {
            self.z[i] = *x;
        }
        self.w.resize(n, 0.0);
        scaled.m.mul_into(&self.z, &mut self.w);
        for i in 0..n {
            self.w[i] += scaled.q[i];
        }
        self.z.iter().all(|x| x.is_finite())
    }

    /// Rows whose basic variable is negative: w beside the terms it is the sum of, z beside the largest.
    fn wrong_rows(&self, scaled: &Scaled) -> Vec<usize> {
        let n = self.guess.len();
        let mut size: Vec<f64> = scaled.q.iter().map(|q| q.abs()).collect();
        for j in (0..n).filter(|&j| self.z[j] != 0.0) {
            for (s, entry) in size.iter_mut().zip(scaled.m.col(j)) {
                *s += (entry * self.z[j]).abs();
            }
        }
        let largest = crate::matrix::max_abs(&self.z);
        let wrong = |i: &usize| {
            let (value, size) = if self.guess[*i] { (self.z[*i], largest) } else { (self.w[*i], size[*i]) };
            value < -WRONG_SIGN * size
        };
        (0..n).filter(wrong).collect()
    }
}

/// The basic columns of the tableau while a vertex is sought.
struct Vertex {
    /// The column whose unit vector stands in each row, if any.
    basic: Vec<Option<usize>>,
    /// The problem's row of each row of the tableau: those of the guess first.
    rows: Vec<usize>,
}

impl Vertex {
    /// Columns that are not basic, smallest z first.
    fn dependent(&self, z: &[f64]) -> Vec<usize> {
        let mut columns: Vec<usize> = (0..z.len()).filter(|j| !self.basic.contains(&Some(*j))).collect();
        columns.sort_by(|&i, &j| z[i].total_cmp(&z[j]));
        columns
    }

    /// Lowers z_j to zero within the null space. If another variable reaches zero first, j takes its place: true.
    fn remove(&mut self, a: &mut Matrix, z: &mut [f64], w: &mut [f64], j: usize) -> bool {
        let k = z.len();
        let (mut step, mut blocking) = (z[j], None);
        // Lowering z_j by θ raises the basic z of a row by θ a_rj, and lowers the w of a row without one by θ a_rj.
        for r in 0..self.rows.len() {
            let (value, rate) = match self.basic[r] {
                Some(b) => (z[b], -a[(r, j)]),
                None if r >= k => (w[self.rows[r]], a[(r, j)]),
                None => continue,
            };
            if rate > BLOCKING && value / rate < step {
                (step, blocking) = (value / rate, Some(r));
            }
        }
        for r in 0..self.rows.len() {
            match self.basic[r] {
                Some(b) => z[b] = (z[b] + step * a[(r, j)]).max(0.0),
                None if r >= k => w[self.rows[r]] = (w[self.rows[r]] - step * a[(r, j)]).max(0.0),
                None => {}
            }
        }
        z[j] -= step;
        let Some(r) = blocking else { return false };
        match self.basic[r] {
            Some(b) => z[b] = 0.0,
            None => w[self.rows[r]] = 0.0,
        }
        self.basic[r] = Some(j);
        clear_column(a, r, j, &self.basic);
        true
    }
}

/// Gauss–Jordan elimination of the square upper part with complete pivoting, as far as its columns are independent. Returns the
/// basic column of each row.
fn gauss_jordan(a: &mut Matrix) -> Vec<Option<usize>> {
    let (n, k) = (a.rows(), a.cols());
    let mut basic = vec![None; n];
    let mut is_basic = vec![false; k];
    for _ in 0..k {
        let mut best = (DEPENDENT, 0, 0);
        for j in (0..k).filter(|&j| !is_basic[j]) {
            for i in (0..k).filter(|&i| basic[i].is_none()) {
                let size = a[(i, j)].abs();
                if size > best.0 {
                    best = (size, i, j);
                }
            }
        }
        let (size, row, column) = best;
        if size <= DEPENDENT {
            break;
        }
        is_basic[column] = true;
        basic[row] = Some(column);
        clear_column(a, row, column, &basic);
    }
    basic
}

/// Makes `column` the unit vector of row `r`, by row operations on the columns that are not basic.
fn clear_column(a: &mut Matrix, r: usize, column: usize, basic: &[Option<usize>]) {
    let mut is_basic = vec![false; a.cols()];
    basic.iter().flatten().for_each(|&b| is_basic[b] = true);
    let mut multipliers = a.col(column).to_vec();
    let pivot = multipliers[r];
    multipliers[r] = 0.0;
    for j in (0..a.cols()).filter(|&j| !is_basic[j]) {
        let target = a.col_mut(j);
        target[r] /= pivot;
        let head = target[r];
        if head != 0.0 {
            axpy(-head, &multipliers, target);
        }
    }
    let target = a.col_mut(column);
    target.fill(0.0);
    target[r] = 1.0;
}
