//! Sums in twice the working precision, for residuals: a number is an unevaluated sum `high + low`.
//!
//! The certificates have sums of their own, with bounds of their errors: what judges an answer shares
//! no arithmetic with what computed it.

/// `a + b` as a rounded sum and its exact error.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

/// `a b` as a rounded product and its error, which is exact unless it underflows.
#[inline(always)]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// `high + low ← high + low + a x`, with the errors of the product and the sum.
#[inline(always)]
pub fn add_product(a: f64, x: f64, high: &mut f64, low: &mut f64) {
    let (product, product_error) = two_product(a, x);
    let (sum, sum_error) = two_sum(*high, product);
    *high = sum;
    *low += product_error + sum_error;
}

/// `high + low ← high + low + a x`, number by number, with the errors of products and sums.
#[inline]
pub fn add_products(a: f64, x: &[f64], high: &mut [f64], low: &mut [f64]) {
    x.iter().zip(high).zip(low).for_each(|((x, high), low)| add_product(a, *x, high, low));
}

/// `high + low ← high + low + (a + rest) x`, number by number, with the errors of the sums and of the
/// products with `a`; `rest` is small beside `a`.
#[inline]
pub fn add_products_of_two(a: f64, rest: f64, x: &[f64], high: &mut [f64], low: &mut [f64]) {
    for ((x, high), low) in x.iter().zip(high).zip(low) {
        let (product, product_error) = two_product(*x, a);
        let (sum, sum_error) = two_sum(*high, product);
        *high = sum;
        *low += product_error + sum_error + x * rest;
    }
}

/// `high + low ← high + low + x`, with `high` the rounded sum.
#[inline]
pub fn add_to(high: &mut f64, low: &mut f64, x: f64) {
    let (sum, error) = two_sum(*high, x);
    let rest = *low + error;
    *high = sum + rest;
    *low = rest - (*high - sum);
}

/// `start + xᵀ y` in twice the working precision, rounded once at the end; summed in eight fixed lanes.
#[inline]
pub fn dot2(start: f64, x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let ((xc, xr), (yc, yr)) = (x[..n].as_chunks::<8>(), y[..n].as_chunks::<8>());
    let (mut high, mut low) = ([0.0f64; 8], [0.0f64; 8]);
    for (a, b) in xc.iter().zip(yc) {
        add_lanes(a, b, &mut high, &mut low);
    }
    if !xr.is_empty() {
        let (mut a, mut b) = ([0.0; 8], [0.0; 8]);
        a[..xr.len()].copy_from_slice(xr);
        b[..yr.len()].copy_from_slice(yr);
        add_lanes(&a, &b, &mut high, &mut low);
    }
    for width in [4, 2, 1] {
        for k in 0..width {
            let (total, error) = two_sum(high[k], high[k + width]);
            high[k] = total;
            low[k] += low[k + width] + error;
        }
    }
    let (sum, error) = two_sum(start, high[0]);
    sum + (error + low[0])
}

/// `high + low ← high + low + a b`, lane by lane.
#[inline]
fn add_lanes(a: &[f64; 8], b: &[f64; 8], high: &mut [f64; 8], low: &mut [f64; 8]) {
    for k in 0..8 {
        add_product(a[k], b[k], &mut high[k], &mut low[k]);
    }
}

/// A sum of products in twice the working precision.
#[derive(Debug, Clone, Copy)]
pub struct Doubled {
    /// The rounded sum.
    pub high: f64,
    /// What rounding took from it.
    pub low: f64,
}

impl Doubled {
    /// The sum of `start` alone.
    #[inline]
    pub fn new(start: f64) -> Self {
        Self { high: start, low: 0.0 }
    }

    /// Adds `a b`.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        add_product(a, b, &mut self.high, &mut self.low);
    }

    /// The sum, rounded once.
    #[inline]
    pub fn value(&self) -> f64 {
        self.high + self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        let (mut high, mut low) = ([1.0], [0.0]);
        for (a, x) in [(1.0, 1e20), (1e-5, 1.0), (-1.0, 1e20)] {
            add_products(a, &[x], &mut high, &mut low);
        }
        assert_eq!(high[0] + low[0], 1.0 + 1e-5);
        let (mut high, mut low) = (1.0, 0.0);
        add_to(&mut high, &mut low, 1e-20);
        assert_eq!((high, low), (1.0, 1e-20));
        add_to(&mut high, &mut low, -1.0);
        assert_eq!((high, low), (1e-20, 0.0));
    }

    #[test]
    fn products_keep_their_errors() {
        // (1 + ε)² = 1 + 2 ε + ε².
        let a = 1.0 + f64::EPSILON;
        assert_eq!(two_product(a, a), (1.0 + 2.0 * f64::EPSILON, f64::EPSILON * f64::EPSILON));
        let x = [1e20, 1.0, -1e20, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0];
        let y = [1.0, 1e-5, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
        assert_eq!(dot2(1.0, &x, &y), 11.0 + 1e-5);
        let (mut high, mut low) = ([0.0], [0.0]);
        add_products_of_two(1.0, 1e-20, &[4.0], &mut high, &mut low);
        assert_eq!((high, low), ([4.0], [4e-20]));
    }
}
