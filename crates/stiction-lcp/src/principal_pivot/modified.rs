//! The modified principal pivoting method, on the factored form. Reference: [Drumwright15, Alg. 1].
//!
//! In whitened coordinates `G = L⁻¹ Nᵀ` (M = L Lᵀ the inertia) and `u = Lᵀ f*`, so that `N M⁻¹ Nᵀ = Gᵀ G` and `N f* = Gᵀ u`. The
//! paper calls the rows with positive z *non-basic* (B̄); they are the rows with zᵢ basic here. Per iteration it moves the row
//! with the most negative w into B̄, and the one with the most negative z out of it.
//!
//! Where this departs from the paper:
//!
//! * Lines 10–12 do not build and factor `N_B̄ M⁻¹ N_B̄ᵀ`: a [QR factor](crate::factor) of G_B̄ is updated, O(m²) per pivot.
//! * Signs are tested relative to what the numbers are summed from, in units of each column's length; with the zero
//!   tolerance of the paper most problems at rest fail. The argmins of lines 15, 17 and 34 are the paper's, in its units.
//! * A column enters only if it is independent of those in B̄ (it always is, but for rounding, if e = Gᵀ u).
//! * The algorithm cycles, even on positive definite problems without ties. A repeated basis is noticed (Brent's
//!   method, bases compared row by row), and then the [active-set method](crate::nnls) goes on from there, which ends.
//!   It also finishes: refines, certifies, and pivots on where the certificate asks for it.

use crate::basis::Basis;
use crate::error::InputError;
use crate::nnls::active_set::{ActiveSet, State};
use crate::nnls::{Nnls, Proposal};
use crate::outcome::{Attempt, Outcome, TraceLine, Variable};
use crate::problem::{FactoredLcp, ProblemRef};
use crate::solver::{Options, Solver};
use stiction_linalg::power::times_power;

/// Pivots per row of G before Algorithm 1 gives way to the active-set method; it needs one or two.
const PIVOTS_PER_DIMENSION: usize = 20;

/// How Algorithm 1 ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Lines 5 and 29.
    Optimal,
    /// It came back to a basis.
    Cycle,
    /// A column with w < 0 depends on those in B̄: e is not in the range of Gᵀ.
    Dependent,
    Limit,
}

/// Drumwright's Algorithm 1 with an updated factor, made finite. Reference: [Drumwright15, Alg. 1].
///
/// Takes factored problems with `z ≥ 0`, and LCPs with symmetric positive semidefinite M.
#[derive(Debug, Clone, Default)]
pub struct ModifiedPpm {
    nnls: Nnls,
    /// The basis that Brent's method compares with.
    saved: Vec<State>,
}

impl ModifiedPpm {
    /// The method with these options.
    pub fn new(options: Options) -> Self {
        Self { nnls: Nnls::new(options), saved: Vec::new() }
    }

    /// Runs Algorithm 1 from `start` and proposes what it ends with, *not certified*, as [`Nnls::propose`]. `None` where it does not end.
    ///
    /// # Errors
    /// As [`Solver::solve_from`].
    pub fn propose(
        &mut self,
        problem: &FactoredLcp,
        start: Option<&Basis>,
    ) -> Result<Option<Proposal<'_>>, InputError> {
        self.take(problem.into(), start)?;
        self.nnls.set.establish_basis();
        Ok((self.algorithm_1() == End::Optimal).then(|| self.nnls.proposal(problem)))
    }

    /// Checks and takes in a problem.
    fn take(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<(), InputError> {
        let solver = self.name();
        if (0..problem.n()).any(|i| problem.bound(i) != (0.0, f64::INFINITY)) {
            let reason = "it has bounds or free rows; use nnls".into();
            return Err(InputError::Unsupported { solver, reason });
        }
        self.nnls.load(solver, problem, start)?;
        self.nnls.set.start(start);
        Ok(())
    }

    /// Lines 7–41.
    fn algorithm_1(&mut self) -> End {
        let negative = self.nnls.options().tolerances.principal_pivot.negative;
        let set = &mut self.nnls.set;
        let most = PIVOTS_PER_DIMENSION * (set.data.m() + 1);
        let (mut power, mut length) = (1, 0);
        self.saved.clear();
        self.saved.extend_from_slice(&set.state);
        loop {
            crate::interrupt::check();
            solve_nonbasic(set); // Lines 10–13.
            set.price(); // Line 14.
            let j = most_negative_z(set, negative); // Lines 17 and 34.
            let Some(entered) = exchange(set, j) else { return End::Dependent };
            if !entered && j.is_none() {
                drop_zeros(set);
                set.rejected.fill(false);
                return End::Optimal; // Line 29.
            }
            if set.state == self.saved {
                return End::Cycle;
            }
            if set.stats.pivots >= set.limit.min(most) || set.is_spent() {
                return End::Limit;
            }
            length += 1;
            if length == power {
                self.saved.copy_from_slice(&set.state);
                (power, length) = (2 * power, 0);
            }
        }
    }
}

/// Lines 10–13: `z† ← −A⁻¹ b` and `a† ← M⁻¹ N_B̄ᵀ z† + f*`.
fn solve_nonbasic(set: &mut ActiveSet) {
    set.solve_basic();
    set.z.fill(0.0);
    for (&i, x) in set.qr.columns().iter().zip(&set.target) {
        set.z[i] = *x;
    }
}

/// Lines 17 and 34: the place in B̄ of the most negative z†, if one is negative.
fn most_negative_z(set: &ActiveSet, tolerance: f64) -> Option<usize> {
    let scaled = |j: usize| set.z[j] * set.data.length[j];
    let largest = set.qr.columns().iter().fold(0.0, |m: f64, &j| m.max(scaled(j).abs()));
    let mut best = (0.0, None);
    for (a, &j) in set.qr.columns().iter().enumerate() {
        if scaled(j) < -tolerance * largest {
            let z = times_power(set.z[j], -set.data.exponent[j]);
            if z < best.0 {
                best = (z, Some(a));
            }
        }
    }
    best.1
}

/// Line 15: the most negative w† over B, not counting columns already rejected.
fn most_negative_w(set: &ActiveSet) -> Option<usize> {
    let magnitude = set.magnitude();
    let mut best = (0.0, None);
    for i in 0..set.data.n() {
        if set.w[i] < 0.0
            && set.state[i] != State::Basic
            && !set.rejected[i]
            && set.w[i] < -set.tolerances.sign * set.row_size(i, magnitude)
        {
            let w = times_power(set.w[i], set.data.exponent[i]);
            if w < best.0 {
                best = (w, Some(i));
            }
        }
    }
    best.1
}

/// Lines 18–23 and 32–38: the row at place `k` of B̄ leaves it, the row with the most negative w enters it. Returns whether
/// one entered, and `None` if one should but depends on the others.
fn exchange(set: &mut ActiveSet, k: Option<usize>) -> Option<bool> {
    if let Some(k) = k {
        remove(set, k);
    }
    let (mut entered, mut dependent) = (false, false);
    while let Some(i) = most_negative_w(set) {
        if set.qr.append(set.data.g.col(i), i) {
            set.state[i] = State::Basic;
            record(set, Variable::Z(i), Variable::W(i));
            entered = true;
            break;
        }
        set.rejected[i] = true;
        dependent |= k.is_none() && set.is_real(i);
    }
    set.rejected.fill(false);
    (entered || !dependent).then_some(entered)
}

/// Takes the rows out of B̄ whose z† is negative, but zero to rounding: with them z would not be quite non-negative.
fn drop_zeros(set: &mut ActiveSet) {
    for k in (0..set.qr.len()).rev() {
        let leaving = set.qr.columns()[k];
        if set.z[leaving] <= 0.0 {
            remove(set, k);
        }
    }
}

/// Line 21–22 and 37–38: the row at place `k` of B̄ leaves it.
fn remove(set: &mut ActiveSet, k: usize) {
    let leaving = set.qr.columns()[k];
    set.qr.remove(k);
    set.state[leaving] = State::Lower;
    set.rejected[leaving] = true;
    record(set, Variable::W(leaving), Variable::Z(leaving));
}

fn record(set: &mut ActiveSet, entering: Variable, leaving: Variable) {
    set.stats.pivots += 1;
    if set.trace {
        let measure = crate::matrix::norm(&set.r);
        set.stats.trace.push(TraceLine { entering: Some(entering), leaving: Some(leaving), measure });
    }
}

impl Solver for ModifiedPpm {
    fn name(&self) -> &'static str {
        "modified-ppm"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        let solver = self.name();
        self.take(problem, start)?;
        // Algorithm 1 may see a sign wrong in a degenerate row that the certificate calls rounding.
        if start.is_some()
            && let Some(outcome) = self.nnls.settled(problem)
        {
            return Ok(outcome);
        }
        self.nnls.set.establish_basis();
        let end = self.algorithm_1();
        let before = self.nnls.set.stats.pivots;
        let mut outcome = self.nnls.conclude(problem);
        let ended = match end {
            End::Optimal if outcome.stats().pivots == before => return Ok(outcome),
            End::Optimal => "optimal to its tolerance, not to the certificate's",
            End::Cycle => "came back to a basis",
            End::Dependent => "needs a column that depends on the others",
            End::Limit => "pivot limit",
        };
        let name = outcome.name();
        outcome.stats_mut().attempts.extend([
            Attempt { solver, ended: ended.into() },
            Attempt { solver: self.nnls.name(), ended: name.into() },
        ]);
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// The exact cycle of the paper's algorithm, with M = I: G = Nᵀ, u = f*.
    fn cycle() -> FactoredLcp {
        let n = Matrix::from_rows(&[[-10.0, 13.0, -18.0], [7.0, -17.0, 8.0], [4.0, -7.0, 6.0]]).unwrap();
        FactoredLcp::least_squares(n.transposed(), vec![-9.0, 5.0, -17.0]).unwrap()
    }

    #[test]
    fn algorithm_1_comes_back_to_its_first_basis() {
        let problem = cycle();
        let mut ppm = ModifiedPpm::new(Options::default());
        ppm.nnls.load("modified-ppm", (&problem).into(), None).unwrap();
        let set = &mut ppm.nnls.set;
        set.start(None);
        set.establish_basis();
        // B̄ in the paper's numbers: {2} → {2, 3} → {1, 3} → {1} → ∅ → {2}.
        for expected in [&[1][..], &[1, 2], &[0, 2], &[0], &[], &[1]] {
            solve_nonbasic(set);
            set.price();
            let j = most_negative_z(set, 1e-12);
            exchange(set, j).unwrap();
            let mut columns = set.qr.columns().to_vec();
            columns.sort_unstable();
            assert_eq!(columns, expected);
        }
    }

    #[test]
    fn a_proposal_is_the_answer_or_nothing() {
        let mut ppm = ModifiedPpm::new(Options::default());
        assert!(ppm.propose(&cycle(), None).unwrap().is_none(), "Algorithm 1 cycles");
        let g = Matrix::from_rows(&[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]).unwrap();
        let problem = FactoredLcp::least_squares(g, vec![-2.0, -1.0]).unwrap();
        let (z, basis) = {
            let proposal = ppm.propose(&problem, None).unwrap().expect("a proposal");
            (proposal.z.to_vec(), proposal.basis.clone())
        };
        let outcome = ppm.solve(&problem).unwrap();
        let solved = outcome.solved().expect("solved");
        assert_eq!(basis, solved.basis);
        assert!(z.iter().zip(&solved.z).all(|(a, b)| (a - b).abs() < 1e-14), "{z:?} {:?}", solved.z);
        assert_eq!(ppm.propose(&problem, Some(&basis)).unwrap().expect("again").pivots, 0);
    }

    #[test]
    fn the_cycle_is_noticed_and_the_problem_solved() {
        let problem = cycle();
        let outcome = ModifiedPpm::new(Options::default()).solve(&problem).unwrap();
        let solved = outcome.solved().expect("solved");
        assert_eq!(solved.stats.attempts[0].ended, "came back to a basis");
        assert_eq!(solved.stats.attempts[1].solver, "nnls");
        assert_eq!(solved.basis.to_string(), "wwz");
        for (found, exact) in solved.z.iter().zip([0.0, 0.0, 173.0 / 101.0]) {
            assert!((found - exact).abs() < 1e-15, "{found}");
        }
        for (found, exact) in solved.w.iter().zip([5214.0 / 101.0, 5051.0 / 101.0, 0.0]) {
            assert!((found - exact).abs() < 1e-13, "{found}");
        }
    }
}
