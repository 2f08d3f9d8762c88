//! A row whose size is lost in working precision, decided in whole numbers: every term of it is zero, or what is left is
//! below the rounding of its terms, or their sum is beyond the range of f64.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use super::sums::rounded_up;
use crate::problem::ProblemRef;

/// The share of ωᵢ by which wᵢ has a wrong sign, from above; 0 if ωᵢ = 0. `z` (n) is finite and within its bounds.
#[cold]
pub(super) fn backward_error(problem: ProblemRef<'_>, z: &[f64], i: usize) -> f64 {
    if !matches!(problem, ProblemRef::Factored(_)) && problem.q()[i] == 0.0 {
        let empty = (0..z.len()).all(|j| z[j] == 0.0 || problem.entry(i, j) == 0.0);
        if empty {
            return 0.0;
        }
    }
    let (w, omega) = row(problem, z, i);
    let (lo, hi) = problem.bound(i);
    let allowed = w.is_zero() || (w.is_positive() && z[i] == lo) || (w.is_negative() && z[i] == hi);
    if allowed { 0.0 } else { ratio_above(&w.abs(), &omega) }
}

/// Row i of `M z + q` and of `|q| + |M| |z|`, without rounding, in units of 2⁻³²²².
fn row(problem: ProblemRef<'_>, z: &[f64], i: usize) -> (BigInt, BigInt) {
    const UNIT: usize = 1074;
    let entry = |j: usize| match problem {
        ProblemRef::Factored(p) => p.g().col(i).iter().zip(p.g().col(j)).map(|(a, b)| whole(*a) * whole(*b)).sum(),
        _ => whole(problem.entry(i, j)) << UNIT,
    };
    let q: BigInt = whole(problem.q()[i]) << (2 * UNIT);
    let (mut w, mut omega) = (q.clone(), q.abs());
    for j in (0..z.len()).filter(|j| z[*j] != 0.0) {
        let term: BigInt = entry(j) * whole(z[j]);
        omega += term.abs();
        w += term;
    }
    (w, omega)
}

/// x as a whole multiple of 2⁻¹⁰⁷⁴.
fn whole(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let size = if exponent == 0 { BigInt::from(fraction) } else { BigInt::from(fraction | 1 << 52) << (exponent - 1) };
    if x < 0.0 { -size } else { size }
}

/// a / b ≤ 1 as a f64 that is not below it; both are positive.
fn ratio_above(a: &BigInt, b: &BigInt) -> f64 {
    const BITS: u32 = 300;
    let quotient = ((a << BITS) / b + 1u32).to_f64().unwrap_or(f64::INFINITY);
    rounded_up(quotient * f64::powi(2.0, -(BITS as i32)), 2)
}
