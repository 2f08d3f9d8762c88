//! Vector kernels over slices whose length is a multiple of eight, padded with zeros.
//!
//! Pivots of small problems are many short vector operations; without remainders the compiler turns each into a handful of
//! instructions. Every sum has a fixed order, so the width of the machine's vectors does not show in the results. (`black_box` between a
//! loop and the sum of its lanes keeps the compiler from shuffling lanes inside the loop to please that one sum.)

use std::hint::black_box;

/// Numbers done side by side.
pub(super) const LANES: usize = 8;

type Lane = [f64; LANES];

/// Eight numbers on a cache line of their own. Kept on the heap and the stack, never by value in a
/// type that others hold: their allocator may know no more than 16 bytes of alignment.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Aligned(pub Lane);

/// `n` rounded up to whole lanes.
pub(super) fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

#[inline]
fn lanes(x: &[f64]) -> &[Lane] {
    x.as_chunks().0
}

#[inline]
fn lanes_mut(x: &mut [f64]) -> &mut [Lane] {
    x.as_chunks_mut().0
}

/// `y ← y + a x`.
#[inline]
pub(super) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (x, y) in lanes(x).iter().zip(lanes_mut(y)) {
        for k in 0..LANES {
            y[k] += a * x[k];
        }
    }
}

/// `y ← y + a₀ x₀ + a₁ x₁ + a₂ x₂ + a₃ x₃`.
#[inline]
pub(super) fn axpy4(a: [f64; 4], x: [&[f64]; 4], y: &mut [f64]) {
    let y = lanes_mut(y);
    let n = y.len();
    let (x0, x1, x2, x3) = (&lanes(x[0])[..n], &lanes(x[1])[..n], &lanes(x[2])[..n], &lanes(x[3])[..n]);
    for i in 0..n {
        for k in 0..LANES {
            y[i][k] += (a[0] * x0[i][k] + a[1] * x1[i][k]) + (a[2] * x2[i][k] + a[3] * x3[i][k]);
        }
    }
}

/// `xᵀ c` for four columns at a time.
#[inline]
pub(super) fn dot4(x: &[f64], columns: [&[f64]; 4]) -> [f64; 4] {
    let x = lanes(x);
    let n = x.len();
    let [c0, c1, c2, c3] = columns;
    let (c0, c1, c2, c3) = (&lanes(c0)[..n], &lanes(c1)[..n], &lanes(c2)[..n], &lanes(c3)[..n]);
    let mut sum = [[0.0; LANES]; 4];
    for i in 0..n {
        add_products(&mut sum[0], &x[i], &c0[i]);
        add_products(&mut sum[1], &x[i], &c1[i]);
        add_products(&mut sum[2], &x[i], &c2[i]);
        add_products(&mut sum[3], &x[i], &c3[i]);
    }
    let sum = black_box(sum);
    [total(sum[0]), total(sum[1]), total(sum[2]), total(sum[3])]
}

#[inline]
fn add_products(sum: &mut Lane, x: &Lane, y: &Lane) {
    for k in 0..LANES {
        sum[k] += x[k] * y[k];
    }
}

#[inline]
fn total(s: Lane) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// `fold` over the lanes, halves first.
#[inline]
pub(super) fn reduce(s: Lane, pick: impl Fn(f64, f64) -> f64) -> f64 {
    let half = [pick(s[0], s[4]), pick(s[1], s[5]), pick(s[2], s[6]), pick(s[3], s[7])];
    pick(pick(half[0], half[2]), pick(half[1], half[3]))
}

/// The larger one; `b` if `a` is no number.
#[inline]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller one; `b` if `a` is no number.
#[inline]
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The largest |value| and the largest |rate| of two kinds of variables.
#[inline]
pub(super) fn largest(z: (&[f64], &[f64]), w: (&[f64], &[f64])) -> (f64, f64) {
    let (mut value, mut rate) = ([0.0f64; LANES], [0.0f64; LANES]);
    for (values, rates) in [z, w] {
        for (v, r) in lanes(values).iter().zip(lanes(rates)) {
            for k in 0..LANES {
                value[k] = larger(v[k].abs(), value[k]);
                rate[k] = larger(r[k].abs(), rate[k]);
            }
        }
    }
    (reduce(value, larger), reduce(rate, larger))
}

/// The least `max(value, 0) / −rate` over the rates below −floor, of two kinds of variables; ∞ if there is none.
#[inline]
pub(super) fn least_ratio(
    z: (&[f64], &[f64]),
    w: (&[f64], &[f64]),
    z_floor: impl Fn(usize) -> f64,
    w_floor: impl Fn(usize) -> f64,
) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    sweep_ratios(z, z_floor, &mut least);
    sweep_ratios(w, w_floor, &mut least);
    reduce(least, smaller)
}

#[inline]
fn sweep_ratios((values, rates): (&[f64], &[f64]), floor: impl Fn(usize) -> f64, least: &mut Lane) {
    for (i, (v, r)) in lanes(values).iter().zip(lanes(rates)).enumerate() {
        for k in 0..LANES {
            // Divided in any case: a choice between two numbers is vectorised, a branch is not.
            let ratio = larger(v[k], 0.0) / -r[k];
            let ratio = if -r[k] > floor(i * LANES + k) { ratio } else { f64::INFINITY };
            least[k] = smaller(ratio, least[k]);
        }
    }
}
