//! Exact arithmetic: proofs about the f64 problem as given.
//!
//! A f64 is an integer times a power of two, so a problem in f64s is a problem in rational numbers, and a basis is right or
//! wrong, not nearly right. What is proven is the problem as given, not the rounding made while it was built: on
//! degenerate data a basis that was meant to be exact is often violated by an amount of that rounding.
//!
//! * [`verify_exact`] re-solves a basis and checks all signs: proven, violated by this much, or singular.
//! * [`solve_basis`] gives the exact z and w of a basis.
//! * [`pivot_exact`] goes on from a basis that is not proven to one that is, by Lemke's method in integers.
//! * [`check_farkas`] checks a proof that a problem has no solution; [`find_farkas`] looks for one.

mod dictionary;
mod dixon;
mod farkas;
mod integer;
mod modular;
mod pivot;
mod rational;
mod simplex;
mod standard;

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::basis::{Basis, Position};
use crate::problem::ProblemRef;
use dixon::LinearSolution;
use integer::IntegerProblem;

pub(crate) use dictionary::{Dictionary, Place};
pub use farkas::{check_farkas, find_farkas};
pub(crate) use pivot::pivot_within;
pub use pivot::{ExactOutcome, pivot_exact};
pub use rational::Rational;
pub(crate) use {integer::IntegerProblem as Integers, simplex::non_negative_point};

/// What exact arithmetic says about a basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExactCheck {
    /// The basis gives an exact solution of the problem as given.
    Proven,
    /// Some z is beyond its bound, or some w has the wrong sign.
    Violated {
        /// The row of the largest violation.
        row: usize,
        /// The largest violation, positive: by how much z is beyond its bound or w on the wrong side of 0, in the units of the problem.
        amount: Rational,
    },
    /// The basis gives no z: its matrix `M_αα` is singular, a row stands at an infinite bound, or it is of another order.
    Singular,
}

/// The exact vectors of a basis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactSolution {
    /// z, n: the bounds, and the solution of `M_αα z_α = −(q_α + M_αβ z_β)`.
    pub z: Vec<Rational>,
    /// `w = M z + q`, n; zero where z is basic.
    pub w: Vec<Rational>,
}

/// Re-solves `basis` (n) in rational arithmetic and checks every sign of the problem exactly.
///
/// Of several violations the largest counts, whether of z or of w; of equal ones the first.
pub fn verify_exact(problem: ProblemRef<'_>, basis: &Basis) -> ExactCheck {
    let integers = IntegerProblem::new(problem);
    let Some(point) = Point::of_basis(&integers, basis) else { return ExactCheck::Singular };
    let mut worst: Option<(usize, Rational)> = None;
    for row in 0..integers.n() {
        for amount in point.violations(&integers, basis.position(row), row).into_iter().flatten() {
            if worst.as_ref().is_none_or(|(_, largest)| amount > *largest) {
                worst = Some((row, amount));
            }
        }
    }
    match worst {
        None => ExactCheck::Proven,
        Some((row, amount)) => ExactCheck::Violated { row, amount },
    }
}

/// The exact z and w of `basis` (n), whatever their signs; `None` where [`verify_exact`] says `Singular`.
pub fn solve_basis(problem: ProblemRef<'_>, basis: &Basis) -> Option<ExactSolution> {
    let integers = IntegerProblem::new(problem);
    let point = Point::of_basis(&integers, basis)?;
    let z = (0..integers.n()).map(|j| integers.z(j, &point.z[j], &point.denominator)).collect();
    let w = (0..integers.n()).map(|i| integers.w(i, &point.w[i], &point.denominator)).collect();
    Some(ExactSolution { z, w })
}

/// z′ and w′ of a problem in integers, over one denominator.
pub(crate) struct Point {
    pub z: Vec<BigInt>,
    pub w: Vec<BigInt>,
    pub denominator: BigInt,
}

impl Point {
    /// The point of a basis, or `None` if the basis does not give one.
    fn of_basis(problem: &IntegerProblem, basis: &Basis) -> Option<Self> {
        let n = problem.n();
        basis.check_len(n).ok()?;
        let active: Vec<usize> = basis.active().collect();
        if active.len() > problem.most_rank() {
            return None;
        }
        let mut z = vec![BigInt::zero(); n];
        for i in 0..n {
            match basis.position(i) {
                Position::Basic => {}
                Position::Lower => z[i] = problem.lo[i].clone()?,
                Position::Upper => z[i] = problem.hi[i].clone()?,
            }
        }
        let mut w = problem.times(&z);
        let right: Vec<BigInt> = active.iter().map(|&i| -(&w[i] + &problem.q[i])).collect();
        let matrix: Vec<BigInt> =
            active.iter().flat_map(|&i| active.iter().map(move |&j| problem.entry(i, j))).collect();
        let mut denominator = BigInt::one();
        if !active.is_empty() {
            let LinearSolution::Unique { numerators, denominator: common } = dixon::solve(&matrix, &right) else {
                return None;
            };
            z.iter_mut().for_each(|x| *x *= &common);
            active.iter().zip(numerators).for_each(|(&i, x)| z[i] = x);
            w = problem.times(&z);
            denominator = common;
        }
        for i in 0..n {
            w[i] += &problem.q[i] * &denominator;
        }
        Some(Self { z, w, denominator })
    }

    /// By how much z of this row is beyond a bound and w on the wrong side; none, one or both.
    fn violations(&self, problem: &IntegerProblem, position: Position, i: usize) -> [Option<Rational>; 2] {
        let beyond = |x: BigInt| x.is_positive().then_some(x);
        if position == Position::Basic {
            let below = problem.lo[i].as_ref().and_then(|lo| beyond(lo * &self.denominator - &self.z[i]));
            let above = problem.hi[i].as_ref().and_then(|hi| beyond(&self.z[i] - hi * &self.denominator));
            return [below, above].map(|x| x.map(|x| problem.z(i, &x, &self.denominator)));
        }
        if problem.lo[i] == problem.hi[i] {
            return [None, None];
        }
        let wrong = if position == Position::Lower { beyond(-&self.w[i]) } else { beyond(self.w[i].clone()) };
        [wrong.map(|x| problem.w(i, &x, &self.denominator)), None]
    }
}
