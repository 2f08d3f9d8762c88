//! Sums over columns in four lanes. Columns are padded with zeros to a multiple of four, so there is no rest.

use stiction_linalg::lanes::LANES;
pub(super) use stiction_linalg::lanes::{dot as product, padded};

/// `xᵀ a` and `xᵀ b` of padded columns in one pass.
#[inline]
pub(super) fn two_products(x: &[f64], a: &[f64], b: &[f64]) -> (f64, f64) {
    let (mut left, mut right) = ([0.0f64; LANES], [0.0f64; LANES]);
    let both = a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0);
    for (x, (a, b)) in x.as_chunks::<LANES>().0.iter().zip(both) {
        for k in 0..LANES {
            left[k] += x[k] * a[k];
            right[k] += x[k] * b[k];
        }
    }
    (sum(left), sum(right))
}

/// `y ← y + a x` of padded columns.
#[inline]
pub(super) fn add_scaled(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.as_chunks_mut::<LANES>().0.iter_mut().zip(x.as_chunks::<LANES>().0) {
        for k in 0..LANES {
            y[k] += a * x[k];
        }
    }
}

fn sum(lane: [f64; LANES]) -> f64 {
    (lane[0] + lane[2]) + (lane[1] + lane[3])
}
