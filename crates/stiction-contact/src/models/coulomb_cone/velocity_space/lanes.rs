//! Sums of products in four fixed lanes, plain and in twice the working precision: the same bits at every vector width.

use stiction_linalg::doubled::{add_product, two_sum};

/// Rows are padded with zeros to a multiple of this.
pub(super) const LANES: usize = 4;

/// `xᵀ y`.
#[inline(always)]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (xc, xr) = x[..n].as_chunks::<LANES>();
    let (yc, yr) = y[..n].as_chunks::<LANES>();
    let mut lane = [0.0f64; LANES];
    for (a, b) in xc.iter().zip(yc) {
        for k in 0..LANES {
            lane[k] += a[k] * b[k];
        }
    }
    let mut sum = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    for (a, b) in xr.iter().zip(yr) {
        sum += a * b;
    }
    sum
}

/// `|x|ᵀ y` for lengths that are multiples of [`LANES`].
#[inline(always)]
pub(super) fn dot_of_sizes(x: &[f64], y: &[f64]) -> f64 {
    let mut lane = [0.0f64; LANES];
    for (a, b) in x.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        for k in 0..LANES {
            lane[k] += a[k].abs() * b[k];
        }
    }
    (lane[0] + lane[2]) + (lane[1] + lane[3])
}

/// `start + xᵀ y` for lengths that are multiples of [`LANES`], every product and sum with its error.
#[inline(always)]
pub(super) fn dot_doubled(start: f64, x: &[f64], y: &[f64]) -> f64 {
    let (xc, _) = x.as_chunks::<LANES>();
    let (yc, _) = y.as_chunks::<LANES>();
    let (mut high, mut low) = ([0.0f64; LANES], [0.0f64; LANES]);
    high[0] = start;
    for (a, b) in xc.iter().zip(yc) {
        for k in 0..LANES {
            add_product(a[k], b[k], &mut high[k], &mut low[k]);
        }
    }
    let (mut sum, mut rest) = (high[0], (low[0] + low[2]) + (low[1] + low[3]));
    for x in &high[1..] {
        let (next, error) = two_sum(sum, *x);
        rest += error;
        sum = next;
    }
    sum + rest
}

/// `y ← y + a x`.
#[inline(always)]
pub(super) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `y ← a x`.
#[inline]
pub(super) fn scale(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = a * x;
    }
}

/// `block ← block + Σ xₖᵀ yₖ` over the rows of x and y, each `stride` long; the block has `length` rows of the same.
#[inline]
pub(super) fn add_products(stride: usize, length: usize, x: &[f64], y: &[f64], block: &mut [f64]) {
    // Two free bodies, or one: the sizes that nearly all contacts have.
    match (stride, x.len() / stride) {
        (12, 3) => add_three::<12>(length, x, y, block),
        (8, 3) => add_three::<8>(length, x, y, block),
        _ => {
            for (x, y) in x.chunks_exact(stride).zip(y.chunks_exact(stride)) {
                for (to, x) in block.chunks_exact_mut(stride).zip(&x[..length]).filter(|(_, x)| **x != 0.0) {
                    axpy(*x, y, to);
                }
            }
        }
    }
}

/// [`add_products`] of three rows of S numbers.
#[inline]
fn add_three<const S: usize>(length: usize, x: &[f64], y: &[f64], block: &mut [f64]) {
    let (Some(x), Some(y)) = (x.as_chunks::<S>().0.first_chunk::<3>(), y.as_chunks::<S>().0.first_chunk::<3>()) else {
        return;
    };
    for (i, to) in block.as_chunks_mut::<S>().0.iter_mut().take(length).enumerate() {
        let a = [x[0][i], x[1][i], x[2][i]];
        for k in 0..S {
            to[k] += (a[0] * y[0][k] + a[1] * y[1][k]) + a[2] * y[2][k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_sums_keep_what_plain_ones_lose() {
        let (x, y) = ([1e20, 1.0, -1e20, 0.0, 3.0, 0.0, 0.0, 0.0], [1.0, 1e-5, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(dot_doubled(1.0, &x, &y), 7.0 + 1e-5);
        assert_eq!(dot(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0; 5]), 15.0);
    }
}
