//! Newton's equations of the interior point methods.

use crate::matrix::Matrix;
use crate::work;
use stiction_linalg::lu::Lu;

/// A pair of vectors (z, w), or a direction (dz, dw).
#[derive(Debug, Clone, Default)]
pub(super) struct Pair {
    pub z: Vec<f64>,
    pub w: Vec<f64>,
}

impl Pair {
    pub(super) fn reset(&mut self, n: usize) {
        for x in [&mut self.z, &mut self.w] {
            x.clear();
            x.resize(n, 0.0);
        }
    }

    pub(super) fn copy_from(&mut self, other: &Pair) {
        self.z.clone_from(&other.z);
        self.w.clone_from(&other.w);
    }

    /// `zᵀw / n`; 0 for the empty pair.
    pub(super) fn mean_gap(&self) -> f64 {
        let sum: f64 = self.z.iter().zip(&self.w).map(|(z, w)| z * w).sum();
        if self.z.is_empty() { 0.0 } else { sum / self.z.len() as f64 }
    }

    /// The mean gap of `self + step · direction`.
    pub(super) fn mean_gap_after(&self, direction: &Pair, step: f64) -> f64 {
        let n = self.z.len();
        let sum: f64 = (0..n).map(|i| (self.z[i] + step * direction.z[i]) * (self.w[i] + step * direction.w[i])).sum();
        if n == 0 { 0.0 } else { sum / n as f64 }
    }

    /// The largest step ≤ 1 that keeps the pair non-negative.
    pub(super) fn step_to_boundary(&self, direction: &Pair) -> f64 {
        let mut step: f64 = 1.0;
        for (x, d) in [(&self.z, &direction.z), (&self.w, &direction.w)] {
            for (x, d) in x.iter().zip(d) {
                if *d < 0.0 {
                    step = step.min(-x / d);
                }
            }
        }
        step
    }

    pub(super) fn advance(&mut self, direction: &Pair, step: f64) {
        for (x, d) in [(&mut self.z, &direction.z), (&mut self.w, &direction.w)] {
            for (x, d) in x.iter_mut().zip(d) {
                *x += step * d;
            }
        }
    }

    pub(super) fn is_positive(&self) -> bool {
        self.z.iter().chain(&self.w).all(|x| *x > 0.0 && x.is_finite())
    }
}

/// The work of an iteration: one factorization, up to four solves and their checks.
pub(super) fn iteration_flops(n: usize) -> u64 {
    work::factorization(n) + work::product(n, 10 * n)
}

/// The factored system `[−I M; Z W]`, reduced to `D M D + I` with `D² = W⁻¹ Z`: for a monotone problem its symmetric part
/// is at least the identity, however far z and w are apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    lu: Lu,
    /// D.
    root: Vec<f64>,
    right: Vec<f64>,
    correction: Pair,
    remainder: Vec<f64>,
    zero: Vec<f64>,
}

impl Newton {
    /// Factors at the positive pair `at`; false if the system is singular.
    pub(super) fn factor(&mut self, m: &Matrix, at: &Pair) -> bool {
        let n = at.z.len();
        self.root.clear();
        self.root.extend(at.z.iter().zip(&at.w).map(|(z, w)| (z / w).sqrt()));
        let root = &self.root;
        self.lu.factor_with(n, |i, j| root[i] * m[(i, j)] * root[j] + if i == j { 1.0 } else { 0.0 });
        self.lu.pivot_ratio() > 0.0
    }

    /// Solves `M dz − dw = −residual`, `W dz + Z dw = complementarity`, refined once.
    pub(super) fn solve(&mut self, m: &Matrix, at: &Pair, residual: &[f64], complementarity: &[f64], out: &mut Pair) {
        let n = at.z.len();
        out.reset(n);
        self.solve_once(at, residual, complementarity, out);
        self.remainder.resize(n, 0.0);
        m.mul_into(&out.z, &mut self.remainder);
        for i in 0..n {
            self.remainder[i] += residual[i] - out.w[i];
        }
        self.zero.clear();
        self.zero.resize(n, 0.0);
        let (remainder, zero) = (std::mem::take(&mut self.remainder), std::mem::take(&mut self.zero));
        let mut correction = std::mem::take(&mut self.correction);
        correction.reset(n);
        self.solve_once(at, &remainder, &zero, &mut correction);
        out.advance(&correction, 1.0);
        (self.remainder, self.zero, self.correction) = (remainder, zero, correction);
    }

    fn solve_once(&mut self, at: &Pair, residual: &[f64], complementarity: &[f64], out: &mut Pair) {
        let n = at.z.len();
        self.right.clear();
        self.right.extend((0..n).map(|i| self.root[i] * (complementarity[i] / at.z[i] - residual[i])));
        self.lu.solve(&mut self.right);
        for i in 0..n {
            out.z[i] = self.root[i] * self.right[i];
            out.w[i] = (complementarity[i] - at.w[i] * out.z[i]) / at.z[i];
        }
    }
}
