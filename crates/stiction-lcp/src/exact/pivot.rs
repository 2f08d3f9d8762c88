//! Lemke's method in integers: from a basis that is not proven to one that is.
//!
//! The start basis is pivoted in, and Lemke's method runs on the transformed problem `w̄ = M̄ z̄ + q̄ + d z₀` with d = 1, so that a basis with
//! few wrong signs needs few pivots. Should that end on a ray, it runs again from z = 0. The lexicographic rule makes
//! both finite. This is the dictionary form with exact integers, not the factored f64 form of [`Lemke`](crate::lemke).
//!
//! Reference: [CPS09, §4.4, §4.9].

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::dictionary::{Dictionary, Place};
use super::farkas::find_farkas;
use super::integer::IntegerProblem;
use super::rational::Rational;
use super::standard::{Standard, Start, complement};
use crate::basis::Basis;
use crate::problem::ProblemRef;
use crate::work::default_flops;

/// What [`pivot_exact`] comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum ExactOutcome {
    /// An exact solution.
    Proven {
        /// Its basis. It is one that [`verify_exact`](super::verify_exact) proves, but for mixed problems whose free rows are singular by themselves:
        /// there the solution may have a basis that does not determine it.
        basis: Basis,
        /// Pivots of Lemke's method; bringing in the start basis does not count.
        pivots: usize,
        /// The exact z, each entry rounded to the nearest f64, n.
        z: Vec<f64>,
    },
    /// Lemke's method from z = 0 ended on a ray.
    Ray {
        /// The direction in z, the largest entry ±1, n.
        direction: Vec<f64>,
        /// A vector that passes [`check_farkas`](super::check_farkas), if one was found: then the problem has no solution. Without
        /// it the ray proves nothing by itself.
        farkas: Option<Vec<f64>>,
        /// Pivots, of both runs.
        pivots: usize,
    },
    /// The limit on pivots, or on work.
    Limit {
        /// Pivots made.
        pivots: usize,
    },
}

/// Pivots in exact arithmetic from `start` (n) to a proven basis, a ray, or the limit on pivots.
///
/// A start that is singular is followed as far as it is not; one of another order is ignored. Cost: one pivot of an LCP takes about n²
/// products and divisions of integers of up to 60 n bits; all pivots together take at most the work that
/// [`Options::max_flops`](crate::Options::max_flops) allows by default, a product of machine words counting as one operation.
pub fn pivot_exact(problem: ProblemRef<'_>, start: &Basis, max_pivots: usize) -> ExactOutcome {
    pivot_within(problem, start, max_pivots, &mut 0, default_flops(problem.n()))
}

/// The same, where `work` counts products of machine words, at most up to `max_work`.
pub(crate) fn pivot_within(
    problem: ProblemRef<'_>,
    start: &Basis,
    max_pivots: usize,
    work: &mut u64,
    max_work: u64,
) -> ExactOutcome {
    let integers = IntegerProblem::new(problem);
    let standard = Standard::new(&integers);
    let active = standard.active(start);
    let mut pivots = 0;
    if !active.is_empty() {
        let mut warm = standard.start(&active);
        match lemke(&mut warm, max_pivots, &mut pivots, work, max_work) {
            End::Solved => return proven(&integers, &standard, &warm, pivots),
            End::Limit => return ExactOutcome::Limit { pivots },
            End::Ray(_) => {}
        }
    }
    let mut cold = standard.start(&[]);
    match lemke(&mut cold, max_pivots, &mut pivots, work, max_work) {
        End::Solved => proven(&integers, &standard, &cold, pivots),
        End::Limit => ExactOutcome::Limit { pivots },
        End::Ray(column) => {
            let ray = standard.direction(&cold, column);
            let direction = to_floats(&ray, &integers.z_exponent);
            // For matrices that are copositive-plus the ray itself is a Farkas vector; where only the rows were scaled, the ray
            // in the scale of the rows.
            let in_rows: Vec<i64> = integers.w_exponent.iter().map(|e| -e).collect();
            let hints = [direction.clone(), to_floats(&ray, &in_rows)];
            let farkas = hints.iter().find_map(|y| super::check_farkas(problem, y).then(|| y.clone()));
            let farkas = farkas.or_else(|| find_farkas(problem, Some(&direction)));
            ExactOutcome::Ray { direction, farkas, pivots }
        }
    }
}

enum End {
    Solved,
    /// The variable of this column grows without bound.
    Ray(usize),
    Limit,
}

fn lemke(start: &mut Start, max_pivots: usize, pivots: &mut usize, work: &mut u64, max_work: u64) -> End {
    let signed = &start.signed;
    let blocks = |label: usize| signed.get(label).is_none_or(|s| *s);
    let dictionary = &mut start.dictionary;
    let before = *work;
    let order: Vec<usize> = (0..dictionary.rows()).map(|r| dictionary.basic(r)).filter(|&l| blocks(l)).collect();
    let Some(mut row) = dictionary.most_negative_row(&order, blocks) else { return End::Solved };
    let artificial = add_artificial(dictionary, blocks);
    let mut driving = artificial;
    loop {
        let Place::Column(column) = dictionary.place(driving) else { return End::Limit };
        if driving != artificial {
            match blocking_row(dictionary, column, artificial, &order, blocks) {
                Some(found) => row = found,
                None => return End::Ray(column),
            }
        }
        *work = before + dictionary.work();
        if *pivots == max_pivots || *work > max_work {
            return End::Limit;
        }
        *pivots += 1;
        let leaving = dictionary.basic(row);
        dictionary.pivot(row, column);
        if leaving == artificial {
            return End::Solved;
        }
        driving = complement(leaving);
    }
}

/// Adds z₀ with the covering vector 1 on all signed rows.
fn add_artificial(dictionary: &mut Dictionary, blocks: impl Fn(usize) -> bool) -> usize {
    let one = dictionary.denominator().clone();
    let covered = |r: usize| if blocks(dictionary.basic(r)) { one.clone() } else { BigInt::zero() };
    let column = (0..dictionary.rows()).map(covered).collect();
    dictionary.add_column(column)
}

/// The lexicographic ratio test; z₀ leaves wherever it can, as the problem is solved then.
fn blocking_row(
    dictionary: &Dictionary,
    column: usize,
    artificial: usize,
    order: &[usize],
    blocks: impl Fn(usize) -> bool,
) -> Option<usize> {
    let found = dictionary.ratio_test(column, order, blocks)?;
    match dictionary.place(artificial) {
        Place::Row(row) if dictionary.entry(row, column).is_negative() && dictionary.ratios_tie(row, found, column) => {
            Some(row)
        }
        _ => Some(found),
    }
}

fn proven(problem: &IntegerProblem, standard: &Standard<'_>, end: &Start, pivots: usize) -> ExactOutcome {
    let (point, denominator) = (standard.point(end), end.dictionary.denominator());
    debug_assert!(problem.solved_by(&point, denominator));
    let z = point.iter().enumerate().map(|(j, x)| problem.z(j, x, denominator).to_f64()).collect();
    ExactOutcome::Proven { basis: standard.basis(&end.dictionary), pivots, z }
}

/// `x 2^exponent` over the largest of its entries, as f64s.
fn to_floats(x: &[BigInt], exponent: &[i64]) -> Vec<f64> {
    let exact: Vec<Rational> = x.iter().zip(exponent).map(|(x, e)| Rational::scaled(x, &1.into(), *e)).collect();
    let Some(largest) = exact.iter().map(Rational::magnitude).max().filter(|x| !x.is_zero()) else {
        return vec![0.0; x.len()];
    };
    exact.iter().map(|x| x.over(&largest).to_f64()).collect()
}
