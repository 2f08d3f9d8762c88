//! The measures that certificates are made of.

use super::Place;

/// Half the distance from 1 to the next number: the relative error of one operation.
pub(super) const UNIT: f64 = 0.5 * f64::EPSILON;

/// The relative error of a few operations.
pub(super) const SHORT_ROUNDING: f64 = 8.0 * UNIT;

/// What every measure is raised by, as a part of it: more than the rounding of W, s and E_I in
/// blocks of M whose condition number (of the matrix scaled to unit diagonal) is below 1e12.
const SCALE_ROUNDING: f64 = 1.0 / 512.0;

/// `|p − clamp(p − u/W, lo, hi)| W / ω`, which is `|clamp(u, W (p − hi), W (p − lo))| / ω`: zero
/// exactly if lo ≤ p ≤ hi, u ≥ 0 at lo, u ≤ 0 at hi, u = 0 between.
#[inline]
pub fn natural(p: f64, u: f64, w: f64, omega: f64, lo: f64, hi: f64) -> f64 {
    if w > 0.0 {
        // Written so that nothing is rounded beside a large p.
        return ratio(u.max(w * (p - hi)).min(w * (p - lo)), omega);
    }
    // A row that moves nothing: only the signs can be asked for.
    let residual = match (lo == f64::NEG_INFINITY, hi == f64::INFINITY) {
        (false, true) => (-u).max(0.0),
        (true, false) => u.max(0.0),
        (true, true) => u.abs(),
        (false, false) => 0.0,
    };
    if p < lo || p > hi { f64::INFINITY } else { ratio(residual, omega) }
}

/// `max(−W p, −u, 0) / ω`: zero exactly if p ≥ 0 and u ≥ 0.
pub(super) fn unilateral(p: f64, u: f64, w: f64, omega: f64) -> f64 {
    if p.is_nan() || u.is_nan() || (p < 0.0 && w == 0.0) {
        return f64::INFINITY;
    }
    ratio((-w * p).max(-u).max(0.0), omega)
}

/// `|value| / size`, with 0/0 = 0.
#[inline]
pub(super) fn ratio(value: f64, size: f64) -> f64 {
    // The division is done in any case: a guess at the branch would often be wrong.
    let ratio = value.abs() / size;
    if value == 0.0 { 0.0 } else { ratio }
}

/// The length of a vector in the plane. Its square is rounded beside itself unless it leaves the range of normal numbers.
#[inline]
pub(super) fn length([x, y]: [f64; 2]) -> f64 {
    let square = x * x + y * y;
    if square.is_normal() || (x == 0.0 && y == 0.0) { square.sqrt() } else { libm::hypot(x, y) }
}

/// The root of a sum of squares; `largest`, which is at most that, where the sum leaves the range of normal numbers.
#[inline]
pub(super) fn root_or(square: f64, largest: impl FnOnce() -> f64) -> f64 {
    if square.is_normal() { square.sqrt() } else { largest() }
}

/// The larger of two numbers, `x` unless `y` is larger: a single instruction.
#[inline(always)]
pub(super) fn larger(x: f64, y: f64) -> f64 {
    if y > x { y } else { x }
}

/// The largest value seen, and where.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Worst {
    pub value: f64,
    pub place: Place,
}

impl Worst {
    /// Takes note of `value`, a NaN as infinity, raised by the rounding of scales; returns it.
    #[inline]
    pub(super) fn see(&mut self, value: f64, place: Place) -> f64 {
        let value = if value.is_nan() { f64::INFINITY } else { value * (1.0 + SCALE_ROUNDING) };
        if value > self.value || self.place == Place::Nowhere {
            *self = Self { value, place };
        }
        value
    }
}
