//! Kernels of rows in four fixed lanes, the same bits at every vector width.

pub(super) use stiction_linalg::lanes::{LANES, dot, dot_doubled, dot_of_sizes};

/// `y ← y + a x`.
#[inline(always)]
pub(super) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    map_lanes(x, y, |x, y| y + a * x);
}

/// `y ← a x`.
#[inline(always)]
pub(super) fn scale(a: f64, x: &[f64], y: &mut [f64]) {
    map_lanes(x, y, |x, _| a * x);
}

/// `y ← f(x, y)`, up to the end of the shorter one. Lanes are read before any is written: the compiler cannot know that x and y are apart.
#[inline(always)]
pub(super) fn map_lanes(x: &[f64], y: &mut [f64], f: impl Fn(f64, f64) -> f64) {
    let n = x.len().min(y.len());
    let ((x, x_rest), (y, y_rest)) = (x[..n].as_chunks::<LANES>(), y[..n].as_chunks_mut::<LANES>());
    for (x, y) in x.iter().zip(y) {
        let mut next = *y;
        for k in 0..LANES {
            next[k] = f(x[k], next[k]);
        }
        *y = next;
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        *y = f(*x, *y);
    }
}

/// Three rows of this stride, if there are as many: those of contacts with friction, which are nearly all. Elsewhere loops count rows.
#[inline(always)]
fn three(rows: &[f64], stride: usize) -> Option<[&[f64]; 3]> {
    let is_three = rows.len() == 3 * stride;
    is_three.then(|| [&rows[..stride], &rows[stride..2 * stride], &rows[2 * stride..3 * stride]])
}

/// `b + A x` of up to three rows of this stride; zero where there is no row.
#[inline(always)]
pub(super) fn mul_rows(rows: &[f64], stride: usize, x: &[f64], b: &[f64; 3]) -> [f64; 3] {
    if let Some([s, t, u]) = three(rows, stride) {
        return [b[0] + dot(s, x), b[1] + dot(t, x), b[2] + dot(u, x)];
    }
    let mut out = [0.0; 3];
    for (r, row) in rows.chunks_exact(stride).enumerate() {
        out[r] = b[r] + dot(row, x);
    }
    out
}

/// `y ← y + Aᵀ p` for up to three rows of this stride, one row after the other.
#[inline(always)]
pub(super) fn add_rows(rows: &[f64], stride: usize, p: [f64; 3], y: &mut [f64]) {
    let Some([a, b, c]) = three(rows, stride) else {
        return rows.chunks_exact(stride).zip(p).for_each(|(row, p)| axpy(p, row, y));
    };
    let [(a, _), (b, _), (c, _)] = [a, b, c].map(|row| row.as_chunks::<LANES>());
    for (((y, a), b), c) in y.as_chunks_mut::<LANES>().0.iter_mut().zip(a).zip(b).zip(c) {
        let mut next = *y;
        for k in 0..LANES {
            next[k] = ((next[k] + p[0] * a[k]) + p[1] * b[k]) + p[2] * c[k];
        }
        *y = next;
    }
}

/// `block ← block + Σ xₖᵀ yₖ` over the rows of x and y, each `stride` long; the block has `length` rows of the same.
#[inline(always)]
pub(super) fn add_products(stride: usize, length: usize, x: &[f64], y: &[f64], block: &mut [f64]) {
    // Two free bodies, or one: the sizes that nearly all contacts have.
    match (stride, x.len() / stride) {
        (12, 3) => add_three::<12>(length, x, y, block),
        (8, 3) => add_three::<8>(length, x, y, block),
        (_, 3) => add_three_rows(stride, length, x, y, block),
        _ => {
            for (x, y) in x.chunks_exact(stride).zip(y.chunks_exact(stride)) {
                for (to, x) in block.chunks_exact_mut(stride).zip(&x[..length]).filter(|(_, x)| **x != 0.0) {
                    axpy(*x, y, to);
                }
            }
        }
    }
}

/// [`add_products`] of three rows, one product after the other.
#[inline(always)]
fn add_three_rows(stride: usize, length: usize, x: &[f64], y: &[f64], block: &mut [f64]) {
    let (Some([s, t, u]), Some([a, b, c])) = (three(x, stride), three(y, stride)) else { return };
    let [(a, _), (b, _), (c, _)] = [a, b, c].map(|row| row.as_chunks::<LANES>());
    for (i, to) in block.chunks_exact_mut(stride).take(length).enumerate() {
        let p = [s[i], t[i], u[i]];
        if p == [0.0; 3] {
            continue;
        }
        for (((to, a), b), c) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(a).zip(b).zip(c) {
            let mut next = *to;
            for k in 0..LANES {
                next[k] = ((next[k] + p[0] * a[k]) + p[1] * b[k]) + p[2] * c[k];
            }
            *to = next;
        }
    }
}

/// [`add_products`] of three rows of S numbers.
#[inline(always)]
fn add_three<const S: usize>(length: usize, x: &[f64], y: &[f64], block: &mut [f64]) {
    let (Some(x), Some(y)) = (x.as_chunks::<S>().0.first_chunk::<3>(), y.as_chunks::<S>().0.first_chunk::<3>()) else {
        return;
    };
    for (i, to) in block.as_chunks_mut::<S>().0.iter_mut().take(length).enumerate() {
        let a = [x[0][i], x[1][i], x[2][i]];
        // All numbers of a row are read before any is written, as in `map_lanes`.
        let mut next = *to;
        for k in 0..S {
            next[k] += (a[0] * y[0][k] + a[1] * y[1][k]) + a[2] * y[2][k];
        }
        *to = next;
    }
}
