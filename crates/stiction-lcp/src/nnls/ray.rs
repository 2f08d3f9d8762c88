//! What a null direction proves.

use crate::matrix::{axpy, norm};
use crate::nnls::active_set::ActiveSet;
use crate::outcome::{Outcome, Proof, Ray, Unsolvable};
use crate::problem::ProblemRef;
use stiction_linalg::doubled::{two_product, two_sum};
use stiction_linalg::power::times_power;

/// Relative error of a sum in twice the working precision is far below this, for any length that fits in memory.
const DOUBLED: f64 = 1e-20;

/// Largest multiple of a direction's least entry that is tried.
const DENOMINATOR: usize = 1000;

/// How near, relatively, a number must be to a whole one.
const WHOLE: f64 = 1e-12;

/// The outcome for a problem whose objective falls without end along the set's direction.
pub(crate) fn outcome(problem: ProblemRef<'_>, set: &ActiveSet) -> Outcome {
    let stats = set.stats.clone();
    let (scaled, data) = (&set.direction, &set.data);
    let direction: Vec<f64> = scaled.iter().zip(&data.exponent).map(|(d, k)| times_power(*d, -k)).collect();
    let candidates = [in_whole_numbers(&direction), Some(direction.clone())];
    if let Some(y) = candidates.into_iter().flatten().find(|y| is_farkas(problem, y)) {
        return Outcome::Unsolvable(Unsolvable { proof: Proof::Farkas(y), stats });
    }
    let mut gd = vec![0.0; data.m()];
    let (mut size, mut slope) = (0.0, 0.0);
    for (j, &d) in scaled.iter().enumerate() {
        axpy(d, data.g.col(j), &mut gd);
        size += d.abs() * data.length[j];
        slope += d * data.e[j];
    }
    let claim = format!(
        "no solution, to rounding: ‖G d‖ is {:.1e} of Σ‖gⱼ dⱼ‖, eᵀ d = {slope:.1e} < 0, and no bound stops d",
        norm(&gd) / if size > 0.0 { size } else { 1.0 }
    );
    Outcome::Ray(Ray { direction, claim, stats })
}

/// The direction in small whole numbers, if it is near some: for whole-number data the exact null vector is one of these.
pub(crate) fn in_whole_numbers(direction: &[f64]) -> Option<Vec<f64>> {
    let least = direction.iter().filter(|d| **d != 0.0).fold(f64::INFINITY, |x, d| x.min(d.abs()));
    let near = |x: f64| (x - x.round()).abs() <= WHOLE * x.abs();
    let factor = (1..=DENOMINATOR).map(|k| k as f64 / least).find(|f| direction.iter().all(|d| near(d * f)))?;
    Some(direction.iter().map(|d| (d * factor).round()).collect())
}

/// True only if `y ≥ 0`, `Mᵀ y ≤ 0` and `qᵀ y < 0` hold exactly for the numbers given, in a problem with `z ≥ 0`.
pub(crate) fn is_farkas(problem: ProblemRef<'_>, y: &[f64]) -> bool {
    let n = y.len();
    let plain = (0..n).all(|i| problem.bound(i) == (0.0, f64::INFINITY));
    if !plain || !y.iter().all(|y| *y >= 0.0 && y.is_finite()) {
        return false;
    }
    let falls = sign(problem.q().iter().copied().zip(y.iter().copied())).is_some_and(|s| s < 0.0);
    let column = |m: &crate::Matrix, j: usize| sign(m.col(j).iter().copied().zip(y.iter().copied()));
    let row = |m: &crate::Matrix, i: usize| sign((0..n).map(|j| (m[(i, j)], y[j])));
    falls
        && match problem {
            // Gᵀ(G y) ≤ 0 would give ‖G y‖² ≤ 0: for a Gram matrix it means G y = 0.
            ProblemRef::Factored(p) => (0..p.g().rows()).all(|i| row(p.g(), i) == Some(0.0)),
            ProblemRef::Lcp(p) => (0..n).all(|j| column(p.m(), j).is_some_and(|s| s <= 0.0)),
            ProblemRef::Mlcp(p) => (0..n).all(|j| column(p.m(), j).is_some_and(|s| s <= 0.0)),
            ProblemRef::Box(_) => false,
        }
}

/// A number with the exact sign of `Σ a b`, if that sign is certain: the sum is far above its error, or had none.
fn sign(terms: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut high, mut low, mut size) = (0.0, 0.0, 0.0);
    let mut exact = true;
    for (a, b) in terms {
        let (product, rest) = two_product(a, b);
        let (sum, error) = two_sum(high, product);
        exact &= rest == 0.0 && error == 0.0 && (product != 0.0 || a == 0.0 || b == 0.0);
        high = sum;
        low += rest + error;
        size += product.abs();
    }
    let total: f64 = high + low;
    // A sum that was exact in every step, or one that its error cannot turn over.
    (exact || (total.abs() > DOUBLED * size && size > f64::MIN_POSITIVE / DOUBLED)).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_certain_or_not_given() {
        let of = |a: &[f64], b: &[f64]| sign(a.iter().copied().zip(b.iter().copied()));
        assert_eq!(of(&[1.0, -2.0, 3.0], &[1.0, 2.0, 1.0]), Some(0.0));
        assert!(of(&[0.1, 0.2, -0.3], &[1.0, 1.0, 1.0]).is_some_and(|s| s > 0.0), "exactly 2.8e-17");
        assert_eq!(of(&[1e-200], &[1e-200]), None, "the product is lost");
        assert_eq!(of(&[], &[]), Some(0.0));
    }
}
