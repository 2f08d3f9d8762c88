//! Sums of products with bounds of their own errors.
//!
//! Reference: [Higham02, §3.1] for `|error| ≤ n u / (1 − n u) Σ|terms|` where a term passes through n roundings, and
//! \[OgitaRump05\] for the sums in twice the working precision.

use super::Row;

/// Rows done side by side: one cache line of a column.
pub(super) const LANES: usize = 8;

/// Unit roundoff, 2⁻⁵³.
const U: f64 = f64::EPSILON / 2.0;

/// At most this is lost of a product, and of the error of a product, where they are subnormal: 2⁻¹⁰⁷⁴.
pub(super) const UNDERFLOW: f64 = 5e-324;

/// The error of a product of at least this size is a f64, if not zero: 2⁻⁹⁶⁰.
const ERROR_IS_EXACT: f64 = f64::from_bits(63 << 52);

/// Terms of a plain sum that are added up before they go to the total: a term of k passes through this and k / this
/// additions, not k.
const BLOCK: usize = 16;

/// A bound of the relative error after `n` roundings, with room for the rounding of the bound itself.
#[inline]
pub(super) fn rounding_of(n: usize) -> f64 {
    (n + 2) as f64 * (U * (1.0 + 1e-8))
}

/// `x ≥ 0`, computed with at most `n` roundings, from above; 0 stays 0.
#[inline]
pub(super) fn rounded_up(x: f64, n: usize) -> f64 {
    if x == 0.0 { 0.0 } else { (x * (1.0 + rounding_of(n + 1))).next_up() }
}

/// `a b` for factors that are not negative, known to `n` roundings, from above; also where it underflows.
#[inline]
pub(super) fn product_above(a: f64, b: f64, n: usize) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b * (1.0 + rounding_of(n + 2))).next_up() }
}

/// `a / b` for a ≥ 0 and b > 0, known to `n` roundings, from above; also where it underflows.
#[inline]
pub(super) fn quotient_above(a: f64, b: f64, n: usize) -> f64 {
    if a == 0.0 { 0.0 } else { (a / b * (1.0 + rounding_of(n + 2))).next_up() }
}

/// `x ≥ 0`, computed with at most `n` roundings, from below.
#[inline]
pub(super) fn rounded_down(x: f64, n: usize) -> f64 {
    (x * (1.0 - rounding_of(n + 1))).next_down().max(0.0)
}

/// The first eight numbers, filled up with zeros: a loop over eight is a few instructions, one over an unknown number many.
#[inline]
pub(super) fn eight(x: &[f64]) -> [f64; LANES] {
    match x.first_chunk() {
        Some(full) => *full,
        None => std::array::from_fn(|k| x.get(k).copied().unwrap_or(0.0)),
    }
}

/// Sums of eight rows at once.
pub(super) trait Rows {
    /// The sums of q alone.
    fn new(q: [f64; LANES]) -> Self;
    /// Adds a column times z.
    fn add(&mut self, column: &[f64; LANES], z: f64);
    /// The rows, after `terms` columns.
    fn finish(self, terms: usize, rows: &mut [Row; LANES]);
}

/// In working precision.
pub(super) struct PlainRows {
    total: [f64; LANES],
    block: [f64; LANES],
    /// Terms in the block.
    filled: usize,
    omega: [f64; LANES],
}

impl Rows for PlainRows {
    #[inline]
    fn new(q: [f64; LANES]) -> Self {
        Self { total: q, block: [0.0; LANES], filled: 0, omega: q.map(f64::abs) }
    }

    #[inline]
    fn add(&mut self, column: &[f64; LANES], z: f64) {
        // Copies, so that the compiler sees sums of their own and not memory that may overlap.
        let (mut block, mut omega) = (self.block, self.omega);
        for k in 0..LANES {
            let product = column[k] * z;
            block[k] += product;
            omega[k] += product.abs();
        }
        (self.block, self.omega) = (block, omega);
        self.filled += 1;
        if self.filled == BLOCK {
            self.flush();
        }
    }

    #[inline]
    fn finish(mut self, terms: usize, rows: &mut [Row; LANES]) {
        self.flush();
        // Of the computed ω, with room for its own rounding and that of the bounds.
        let passed = rounding_of(6 + terms.min(BLOCK) + terms.div_ceil(BLOCK));
        let (error_share, omega_share) = if terms == 0 { (0.0, 0.0) } else { (passed, rounding_of(terms + 4)) };
        let lost = UNDERFLOW * (2 * terms) as f64;
        for (k, row) in rows.iter_mut().enumerate() {
            let omega = self.omega[k];
            *row = Row {
                w: self.total[k],
                error: error_share * omega + lost,
                omega: omega - (omega_share * omega + lost),
            };
        }
    }
}

impl PlainRows {
    #[inline]
    fn flush(&mut self) {
        for k in 0..LANES {
            self.total[k] += self.block[k];
        }
        self.block = [0.0; LANES];
        self.filled = 0;
    }
}

/// In twice the working precision.
pub(super) struct DoubledRows {
    high: [f64; LANES],
    low: [f64; LANES],
    spilled: [f64; LANES],
    lost: [f64; LANES],
    omega: [f64; LANES],
}

impl Rows for DoubledRows {
    #[inline]
    fn new(q: [f64; LANES]) -> Self {
        let zero = [0.0; LANES];
        Self { high: q, low: zero, spilled: zero, lost: zero, omega: q.map(f64::abs) }
    }

    #[inline]
    fn add(&mut self, column: &[f64; LANES], z: f64) {
        let (mut high, mut low, mut spilled) = (self.high, self.low, self.spilled);
        let (mut lost, mut omega) = (self.lost, self.omega);
        for k in 0..LANES {
            let mut sum = Doubled { high: high[k], low: low[k], spilled: spilled[k], lost: lost[k] };
            sum.add(column[k], z);
            (high[k], low[k], spilled[k], lost[k]) = (sum.high, sum.low, sum.spilled, sum.lost);
            omega[k] += (column[k] * z).abs();
        }
        (self.high, self.low, self.spilled, self.lost, self.omega) = (high, low, spilled, lost, omega);
    }

    #[inline]
    fn finish(self, terms: usize, rows: &mut [Row; LANES]) {
        for (k, row) in rows.iter_mut().enumerate() {
            let (high, low, spilled, lost) = (self.high[k], self.low[k], self.spilled[k], self.lost[k]);
            let (w, rest, error) = Doubled { high, low, spilled, lost }.parts(terms);
            let lost = rounding_of(terms + 2) * self.omega[k] + UNDERFLOW * terms as f64;
            *row = Row { w, error: rounded_up(error + rest.abs(), 2), omega: self.omega[k] - lost };
        }
    }
}

/// A sum of products; the errors of every product and sum are carried along.
#[derive(Clone, Copy)]
pub(super) struct Doubled {
    high: f64,
    low: f64,
    /// Sum of the sizes of what went into `low`, which is what its own rounding is relative to.
    spilled: f64,
    /// What underflow took.
    lost: f64,
}

impl Doubled {
    #[inline]
    pub(super) fn new(start: f64) -> Self {
        Self { high: start, low: 0.0, spilled: 0.0, lost: 0.0 }
    }

    /// Adds `a b`.
    #[inline]
    pub(super) fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let product_error = a.mul_add(b, -product);
        let sum = self.high + product;
        let back = sum - self.high;
        let sum_error = (self.high - (sum - back)) + (product - back);
        self.high = sum;
        self.low += product_error + sum_error;
        self.spilled += product_error.abs() + sum_error.abs();
        let tiny = (product.abs() < ERROR_IS_EXACT) & (a != 0.0) & (b != 0.0);
        self.lost += if tiny { UNDERFLOW } else { 0.0 };
    }

    /// The sum of `terms` products as two numbers, and a bound of the error of both together.
    #[inline]
    pub(super) fn parts(&self, terms: usize) -> (f64, f64, f64) {
        let sum = self.high + self.low;
        let back = sum - self.high;
        let rest = (self.high - (sum - back)) + (self.low - back);
        let error = rounded_up(rounding_of(2 * terms) * self.spilled + self.lost, 2 * terms);
        (sum, rest, error)
    }
}

/// `aᵀ b`, eight partial sums.
#[inline]
pub(super) fn plain_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (full_a, rest_a) = a.as_chunks::<LANES>();
    let (full_b, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in full_a.iter().zip(full_b) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    let rest = rest_a.iter().zip(rest_b).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}

/// The rounding of [`plain_dot`] for vectors of length `m`, relative to `Σ |aᵢ bᵢ|`.
#[inline]
pub(super) fn plain_dot_rounding(m: usize) -> f64 {
    rounding_of(1 + m / LANES + 2 * LANES)
}

/// ‖x‖ or a little more; ‖x‖₁ where squares leave the range of f64.
pub(super) fn norm_bound(x: &[f64]) -> f64 {
    const SAFE: std::ops::Range<f64> = 1e-280..1e280;
    let square = plain_dot(x, x);
    let norm = if SAFE.contains(&square) { square.sqrt() } else { x.iter().map(|x| x.abs()).sum() };
    rounded_up(norm, x.len() + 2)
}
