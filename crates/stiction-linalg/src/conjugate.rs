//! Conjugate directions for sweeps that solve one row after the other: the change that a sweep
//! brings stands for the gradient. Laws with kinks are allowed, for a sweep knows them.
//!
//! Reference: \[Silcowitz10\].

use crate::lanes::LANES;

/// What multipliers and the motion that they bring followed so far. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub struct Conjugate {
    multipliers: Followed,
    motion: Followed,
    /// Squares of what the first, the last and the present sweep changed.
    first: f64,
    last: f64,
    square: f64,
}

/// A vector before the sweep, and its direction.
#[derive(Debug, Clone, Default)]
struct Followed {
    before: Vec<f64>,
    direction: Vec<f64>,
}

impl Conjugate {
    /// Begins here, without a direction.
    pub fn begin(&mut self, multipliers: &[f64], motion: &[f64]) {
        self.multipliers.begin(multipliers);
        self.motion.begin(motion);
        (self.first, self.last, self.square) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    }

    /// What a sweep changed, beside what the first one did; `weights` are those of the multipliers.
    #[inline(always)]
    pub fn change(&mut self, multipliers: &[f64], weights: &[f64]) -> f64 {
        self.last = self.square;
        self.square = self.multipliers.square(multipliers, weights);
        if self.first == f64::INFINITY {
            self.first = self.square;
        }
        if self.square > 0.0 { (self.square / self.first).sqrt() } else { 0.0 }
    }

    /// After [`Self::change`]: goes on along the direction of the sweeps before, which is forgotten
    /// where a sweep changes more than the last one did.
    #[inline(always)]
    pub fn follow(&mut self, multipliers: &mut [f64], motion: &mut [f64]) {
        if self.square > self.last {
            self.multipliers.begin(multipliers);
            self.motion.begin(motion);
        } else if self.square > 0.0 {
            let factor = self.square / self.last;
            self.multipliers.follow(multipliers, factor);
            self.motion.follow(motion, factor);
        }
    }
}

impl Followed {
    fn begin(&mut self, x: &[f64]) {
        self.before.clear();
        self.before.extend_from_slice(x);
        self.direction.clear();
        self.direction.resize(x.len(), 0.0);
    }

    /// `Σ w (x − before)²`.
    #[inline(always)]
    fn square(&self, x: &[f64], weights: &[f64]) -> f64 {
        let ((x, x_rest), (before, before_rest)) = (x.as_chunks::<LANES>(), self.before.as_chunks::<LANES>());
        let (weights, weights_rest) = weights.as_chunks::<LANES>();
        let term = |x: f64, before: f64, w: f64| w * (x - before) * (x - before);
        let mut sums = [0.0; LANES];
        for ((x, before), w) in x.iter().zip(before).zip(weights) {
            for k in 0..LANES {
                sums[k] += term(x[k], before[k], w[k]);
            }
        }
        for (k, ((x, before), w)) in x_rest.iter().zip(before_rest).zip(weights_rest).enumerate() {
            sums[k] += term(*x, *before, *w);
        }
        sums.iter().sum()
    }

    /// `direction ← x − before + factor direction`, and `x` moves by `factor` of what the direction was.
    #[inline(always)]
    fn follow(&mut self, x: &mut [f64], factor: f64) {
        for ((x, before), direction) in x.iter_mut().zip(&mut self.before).zip(&mut self.direction) {
            let along = factor * *direction;
            *direction = *x - *before + along;
            *x += along;
            *before = *x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::rng::Rng;

    /// Sweeps over `A x = b`, forwards and backwards in turns, until x changes by less than 1e-9.
    fn sweeps(a: &Matrix, b: &[f64], conjugate: bool) -> usize {
        let n = b.len();
        let (mut x, mut motion) = (vec![0.0; n], vec![0.0; n]);
        let weights: Vec<f64> = (0..n).map(|i| a[(i, i)]).collect();
        let mut directions = Conjugate::default();
        directions.begin(&x, &motion);
        for count in 1..100_000 {
            let mut worst = 0.0f64;
            for k in 0..n {
                let i = if count % 2 == 0 { k } else { n - 1 - k };
                let step = (b[i] - motion[i]) / weights[i];
                x[i] += step;
                (0..n).for_each(|j| motion[j] += a[(j, i)] * step);
                worst = worst.max(step.abs());
            }
            if worst < 1e-9 {
                return count;
            }
            if conjugate {
                directions.change(&x, &weights);
                directions.follow(&mut x, &mut motion);
            }
        }
        panic!("no end");
    }

    #[test]
    fn conjugate_sweeps_are_few() {
        // A chain of springs: sweeps alone need some n² of them, conjugate ones some n.
        let n = 60;
        let mut a = Matrix::zeros(n, n);
        for i in 0..n {
            a[(i, i)] = 2.0;
            if i > 0 {
                (a[(i, i - 1)], a[(i - 1, i)]) = (-1.0, -1.0);
            }
        }
        let mut rng = Rng::new(3);
        let b: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let (plain, conjugate) = (sweeps(&a, &b, false), sweeps(&a, &b, true));
        assert!(10 * conjugate < plain, "{conjugate} of {plain}");
    }
}
