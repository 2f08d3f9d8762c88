//! Kernels of rows in four fixed lanes, the same bits at every vector width.

pub(super) use stiction_linalg::lanes::{LANES, dot, dot_doubled, dot_of_sizes};

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
