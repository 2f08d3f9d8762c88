//! The problem the core works on: blocks of rows, each with its law, and the operator made dimensionless.

use super::operator::Operator;

/// The law of one block of rows. With `u = W r + q`:
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Block {
    /// Signorini and Coulomb on `dim` rows, the normal first; mu = 0 means `r_T = 0`, mu = ∞ the limit of Coulomb's law: `u_T = 0` where `r_N > 0`,
    /// `r_T = 0` where `u_N > 0`.
    Coulomb {
        /// 2 or 3.
        dim: usize,
        /// The friction coefficient, in [0, ∞].
        mu: f64,
    },
    /// Signorini on the normal and `u_T = 0`, whatever the normal force, on `dim` rows.
    NoSlip {
        /// 2 or 3.
        dim: usize,
    },
    /// One row, `0 ≤ r ⊥ u ≥ 0`.
    Signorini,
    /// One row, `lo ≤ r ≤ hi`, `u ≥ 0` where r = lo, `u ≤ 0` where r = hi, u = 0 between.
    Bounded {
        /// Lower bound, may be −∞.
        lo: f64,
        /// Upper bound, may be ∞.
        hi: f64,
    },
    /// One row, `u = 0`.
    Free,
}

impl Block {
    /// Number of rows.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Coulomb { dim, .. } | Self::NoSlip { dim } => dim,
            _ => 1,
        }
    }
}

/// Blocks, W and q, scaled by powers of two, which is exact: with a factor d_b for each block and one σ for all,
/// `r = σ d_b r̂`, `u = σ û / d_b`, `Ŵ = d W d`, `q̂ = d q / σ`. A cone keeps its shape under a factor for the whole of it. The mean diagonal of each block
/// of Ŵ is about 1, and so is the largest |q̂|: every tolerance of the core is relative to these.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConeProblem {
    /// The law of each block.
    pub blocks: Vec<Block>,
    /// First row of each block, and n.
    pub starts: Vec<usize>,
    /// The block of each row, n.
    pub block_of: Vec<usize>,
    /// The scaled operator Ŵ, n × n.
    pub w: Operator,
    /// q̂, n.
    pub q: Vec<f64>,
    /// The diagonal of Ŵ, n.
    pub diagonal: Vec<f64>,
    /// log₂ d_b of each block.
    factors: Vec<i32>,
    /// log₂ σ.
    sigma: i32,
}

impl ConeProblem {
    /// Order of W.
    pub(super) fn n(&self) -> usize {
        self.q.len()
    }

    /// Rows of block `b`.
    pub(super) fn rows(&self, b: usize) -> std::ops::Range<usize> {
        self.starts[b]..self.starts[b + 1]
    }

    /// Loads and scales a problem; `column(j)` gives the entries (row, value) of W's column j, rows ascending. All numbers are finite.
    pub(super) fn load<'w, C: Iterator<Item = (usize, f64)> + 'w>(
        &mut self,
        blocks: impl IntoIterator<Item = Block>,
        q: &[f64],
        column: impl Fn(usize) -> C,
    ) {
        self.lay_out(blocks);
        self.choose_factors(&column);
        self.scale_q(q);
        self.scale_bounds();
        let (factors, block_of) = (&self.factors, &self.block_of);
        self.w.load(&self.starts, block_of, |j| {
            column(j).map(move |(i, x)| (i, times_power(x, factors[block_of[i]] + factors[block_of[j]])))
        });
        self.diagonal.clear();
        for j in 0..q.len() {
            let (b, local) = (self.block_of[j], j - self.starts[self.block_of[j]]);
            self.diagonal.push(self.w.own_block(j, b, &self.starts)[local]);
        }
    }

    fn lay_out(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.clear();
        self.blocks.extend(blocks);
        self.starts.clear();
        self.block_of.clear();
        self.starts.push(0);
        for (b, block) in self.blocks.iter().enumerate() {
            self.block_of.extend((0..block.size()).map(|_| b));
            self.starts.push(self.block_of.len());
        }
    }

    /// d_b = 2^k nearest to 1 / √(mean diagonal of the block), or of its largest entry where the diagonal is not positive.
    fn choose_factors<'w, C: Iterator<Item = (usize, f64)> + 'w>(&mut self, column: &impl Fn(usize) -> C) {
        self.factors.clear();
        for b in 0..self.blocks.len() {
            let rows = self.starts[b]..self.starts[b + 1];
            let (mut trace, mut largest) = (0.0, 0.0f64);
            for j in rows.clone() {
                for (i, x) in column(j) {
                    if i == j {
                        trace += x;
                    }
                    largest = largest.max(x.abs());
                }
            }
            let size = if trace > 0.0 { trace / rows.len() as f64 } else { largest };
            self.factors.push(if size > 0.0 { -(exponent(size).div_euclid(2)) } else { 0 });
        }
    }

    fn scale_q(&mut self, q: &[f64]) {
        let scaled = |i: usize| times_power(q[i], self.factors[self.block_of[i]]);
        let largest = (0..q.len()).map(|i| scaled(i).abs()).fold(0.0, f64::max);
        self.sigma = exponent(largest);
        self.q.clear();
        self.q.extend((0..q.len()).map(|i| times_power(q[i], self.factors[self.block_of[i]] - self.sigma)));
    }

    fn scale_bounds(&mut self) {
        for (block, factor) in self.blocks.iter_mut().zip(&self.factors) {
            if let Block::Bounded { lo, hi } = block {
                *lo = times_power(*lo, -factor - self.sigma);
                *hi = times_power(*hi, -factor - self.sigma);
            }
        }
    }

    /// Impulses in the units of the problem as given, scaled.
    pub(super) fn scale_into(&self, r: &[f64], out: &mut [f64]) {
        for (i, (out, r)) in out.iter_mut().zip(r).enumerate() {
            *out = times_power(*r, -self.factors[self.block_of[i]] - self.sigma);
        }
    }

    /// The impulses in the units of the problem as given.
    pub(super) fn unscale_into(&self, r: &[f64], out: &mut [f64]) {
        for (i, (out, r)) in out.iter_mut().zip(r).enumerate() {
            *out = times_power(*r, self.factors[self.block_of[i]] + self.sigma);
        }
    }
}

/// The exponent e with `2^(e−1) ≤ |x| < 2^e`; 0 for 0.
pub(crate) fn exponent(x: f64) -> i32 {
    /// 2^64, which lifts the least positive number into the normal range.
    const LIFT: f64 = 18_446_744_073_709_551_616.0;
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let bits = ((x.to_bits() >> 52) & 0x7ff) as i32;
    if bits == 0 { exponent(x * LIFT) - 64 } else { bits - 1022 }
}

/// `x · 2^e`, exact unless it leaves the range of f64.
pub(crate) fn times_power(x: f64, e: i32) -> f64 {
    let power = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    if (-1022..=1023).contains(&e) {
        return x * power(e);
    }
    let half = (e / 2).clamp(-1022, 1023);
    x * power(half) * power((e - half).clamp(-1022, 1023))
}
