//! The measures that certificates are made of.

use super::Place;

/// `|p − clamp(p − u/W, lo, hi)| W / ω`: zero exactly if lo ≤ p ≤ hi, u ≥ 0 at lo, u ≤ 0 at hi, u = 0 between.
#[inline]
pub fn natural(p: f64, u: f64, w: f64, omega: f64, lo: f64, hi: f64) -> f64 {
    if w > 0.0 {
        let projected = (p - u / w).clamp(lo, hi);
        return ratio((p - projected).abs() * w, omega);
    }
    // A row that moves nothing: only the signs can be asked for.
    let miss = match (lo == f64::NEG_INFINITY, hi == f64::INFINITY) {
        (false, true) => (-u).max(0.0),
        (true, false) => u.max(0.0),
        (true, true) => u.abs(),
        (false, false) => 0.0,
    };
    if p < lo || p > hi { f64::INFINITY } else { ratio(miss, omega) }
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

/// The largest value seen, and where.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Worst {
    pub value: f64,
    pub place: Place,
}

impl Worst {
    /// Takes note of `value`, a NaN as infinity; returns it.
    #[inline]
    pub fn see(&mut self, value: f64, place: Place) -> f64 {
        let value = if value.is_nan() { f64::INFINITY } else { value };
        if value > self.value || self.place == Place::Nowhere {
            *self = Self { value, place };
        }
        value
    }
}
