//! The conic program of one island, made dimensionless.

use stiction_lcp::Matrix;
use stiction_lcp::matrix::{axpy, dot, norm};

use crate::by_island::IslandForces;
use crate::find_indices::FindIndices;
use crate::model::ContactStats;
use crate::whitened::{Columns, Whitened};

/// Where a block's impulses may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Set {
    /// The friction cone `|p_t| ≤ μ p_n` of a touching contact, rows (n, s, t), by the cosine and sine of its half angle `atan μ`:
    /// so 0 ≤ μ ≤ ∞ needs no exceptions. The cone of μ = ∞ is closed: p_n ≥ 0, p_t free.
    Cone {
        /// `1/√(1 + μ²)`.
        cos: f64,
        /// `μ/√(1 + μ²)`.
        sin: f64,
    },
    /// p ≥ 0: normals without friction, limits.
    Ray,
    /// Any p: bilateral rows.
    Line,
    /// lo ≤ p ≤ hi: bounded rows.
    Interval {
        /// Least.
        lo: f64,
        /// Largest.
        hi: f64,
    },
}

/// Rows that share one set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Block {
    /// The set.
    pub set: Set,
    /// First row.
    pub first: usize,
    /// Number of rows: 3 for a cone, else 1.
    pub rows: usize,
    /// What its columns were divided by: the length of the longest, rounded to a power of two.
    pub length: f64,
    /// Which forces these are.
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Contact(usize),
    Limit(usize),
    Bilateral(usize),
    Bounded(usize),
}

/// `min ½‖x‖² + biasᵀ p`, `x = x_free + G p`, p in a product of sets: the columns of a block are divided by the longest of them (its impulses
/// multiplied), all motions by the largest speed. The motion of the rows is `u = Gᵀ x + bias`.
#[derive(Debug, Clone, Default)]
pub(super) struct Conic {
    /// The blocks, in the order of their rows.
    pub blocks: Vec<Block>,
    /// G, m × rows.
    pub g: Matrix,
    /// Biases of the rows.
    pub bias: Vec<f64>,
    /// Free motion, m.
    pub x_free: Vec<f64>,
    /// The speed that was divided by.
    pub unit: f64,
    find: FindIndices,
    speeds: Vec<f64>,
}

impl Conic {
    /// Becomes the program of `island`.
    pub(super) fn load(&mut self, island: &Whitened, stats: &mut ContactStats) {
        self.blocks.clear();
        self.bias.clear();
        self.x_free.clear();
        self.x_free.extend_from_slice(&island.x_free);
        self.lay_out(island);
        let rows = self.blocks.last().map_or(0, |b| b.first + b.rows);
        self.g.reset(island.m(), rows);
        self.bias.resize(rows, 0.0);
        self.fill(island);
        self.settle_bilaterals(island, stats);
        self.divide_by_speed();
    }

    /// Becomes the program whose solution proves that `of` has none, if it has none: `min ½‖G y‖² + ½(1 + biasᵀ y)²` over the directions y in which
    /// the sets of `of` have no end. At zero, `G y = 0` and `biasᵀ y = −1`, while every motion with u in the dual sets has `yᵀ u ≥ 0`.
    pub(super) fn load_proof(&mut self, of: &Conic) {
        let m = of.x_free.len();
        self.x_free.clear();
        self.x_free.resize(m, 0.0);
        self.x_free.push(1.0);
        self.unit = 1.0;
        self.bias.clear();
        self.bias.resize(of.rows(), 0.0);
        self.blocks.clear();
        self.blocks.extend_from_slice(&of.blocks);
        self.blocks.iter_mut().for_each(|b| b.set = b.set.endless());
        self.g.reset(m + 1, of.rows());
        for k in 0..of.rows() {
            self.g.col_mut(k)[..m].copy_from_slice(of.g.col(k));
            self.g.col_mut(k)[m] = of.bias[k];
        }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.bias.len()
    }

    fn push(&mut self, set: Set, rows: usize, source: Source) {
        let first = self.blocks.last().map_or(0, |b| b.first + b.rows);
        self.blocks.push(Block { set, first, rows, length: 1.0, source });
    }

    fn lay_out(&mut self, island: &Whitened) {
        (0..island.bilateral.len()).for_each(|i| self.push(Set::Line, 1, Source::Bilateral(i)));
        for i in 0..island.contacts() {
            let mu = island.mu[i];
            if island.touching[i] && mu > 0.0 {
                let cos = 1.0 / libm::hypot(mu, 1.0);
                let sin = if mu == f64::INFINITY { 1.0 } else { mu * cos };
                self.push(Set::Cone { cos, sin }, 3, Source::Contact(i));
            } else {
                self.push(Set::Ray, 1, Source::Contact(i));
            }
        }
        (0..island.limit.len()).for_each(|i| self.push(Set::Ray, 1, Source::Limit(i)));
        for i in 0..island.bounded.len() {
            self.push(Set::Interval { lo: island.lo[i], hi: island.hi[i] }, 1, Source::Bounded(i));
        }
    }

    fn fill(&mut self, island: &Whitened) {
        for b in &mut self.blocks {
            let kinds: [(&Columns, usize); 3] = match b.source {
                Source::Contact(i) => [(&island.normal, i), (&island.tangent_s, i), (&island.tangent_t, i)],
                Source::Limit(i) => [(&island.limit, i); 3],
                Source::Bilateral(i) => [(&island.bilateral, i); 3],
                Source::Bounded(i) => [(&island.bounded, i); 3],
            };
            let longest = kinds[..b.rows].iter().map(|(c, i)| norm(c.g.col(*i))).fold(0.0, f64::max);
            b.length = power_of_two(longest);
            for (k, (columns, i)) in kinds[..b.rows].iter().enumerate() {
                let column = self.g.col_mut(b.first + k);
                column.copy_from_slice(columns.g.col(*i));
                column.iter_mut().for_each(|x| *x /= b.length);
                // A tangent that nothing moves along has no slip.
                let moves = k == 0 || column.iter().any(|x| *x != 0.0);
                self.bias[b.first + k] = if moves { columns.bias[*i] / b.length } else { 0.0 };
            }
            if let Set::Interval { lo, hi } = &mut b.set {
                (*lo, *hi) = (*lo * b.length, *hi * b.length);
            }
        }
    }

    /// Bilateral rows that contradict each other get the targets of their least-squares compromise.
    fn settle_bilaterals(&mut self, island: &Whitened, stats: &mut ContactStats) {
        let rows = island.bilateral.len();
        if self.bias[..rows].iter().all(|b| *b == 0.0) {
            return;
        }
        self.find.reset(island.m(), rows);
        (0..rows).for_each(|k| {
            self.find.add(self.g.col(k), self.bias[k]);
        });
        self.find.satisfy();
        stats.inconsistency = stats.inconsistency.max(self.find.inconsistency());
        if self.find.is_inconsistent() {
            (0..rows).for_each(|k| self.bias[k] = -dot(self.g.col(k), self.find.x_rows()));
        }
    }

    /// Speeds relative to the largest in the problem; impulses with them.
    fn divide_by_speed(&mut self) {
        let speed = self.bias.iter().fold(norm(&self.x_free), |max, b| max.max(b.abs()));
        self.unit = power_of_two(speed);
        let unit = self.unit;
        self.x_free.iter_mut().chain(&mut self.bias).for_each(|x| *x /= unit);
        for b in &mut self.blocks {
            if let Set::Interval { lo, hi } = &mut b.set {
                (*lo, *hi) = (*lo / unit, *hi / unit);
            }
        }
    }

    /// `x ← x_free + G p`.
    pub(super) fn motion_into(&self, p: &[f64], x: &mut Vec<f64>) {
        x.clear();
        x.extend_from_slice(&self.x_free);
        p.iter().enumerate().filter(|(_, p)| **p != 0.0).for_each(|(k, p)| axpy(*p, self.g.col(k), x));
    }

    /// `u ← Gᵀ x + bias`.
    pub(super) fn row_motion_into(&self, x: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend(self.bias.iter().enumerate().map(|(k, b)| dot(self.g.col(k), x) + b));
    }

    /// How far p is from a solution, block by block `‖p − P(p − u)‖` beside the size the terms of u have before they cancel: the largest.
    pub(super) fn residual(&mut self, p: &[f64], u: &[f64]) -> f64 {
        self.measure_speeds(p);
        self.largest_residual(p, u, |b| self.size(b))
    }

    /// As [`Conic::residual`], beside the largest speed in the problem: however large the impulses are.
    pub(super) fn plain_residual(&self, p: &[f64], u: &[f64]) -> f64 {
        self.largest_residual(p, u, |_| 1.0)
    }

    fn largest_residual(&self, p: &[f64], u: &[f64], size: impl Fn(&Block) -> f64) -> f64 {
        let mut worst = 0.0_f64;
        for b in &self.blocks {
            let mut from = [0.0; 3];
            (0..b.rows).for_each(|k| from[k] = p[b.first + k] - u[b.first + k]);
            let onto = b.set.project(from);
            let residual = (0..b.rows).map(|k| (p[b.first + k] - onto[k]).abs()).fold(0.0, f64::max);
            let part = if residual == 0.0 { 0.0 } else { residual / size(b) };
            worst = if part.is_nan() { f64::INFINITY } else { worst.max(part) };
        }
        worst
    }

    /// As [`Conic::residual`], and beside the terms of their own rows too: normals that close, and work that contacts do.
    pub(super) fn strict_residual(&mut self, p: &[f64], u: &[f64]) -> f64 {
        let mut worst = self.residual(p, u);
        for b in self.blocks.iter().filter(|b| b.rows == 3) {
            let rows = b.first..b.first + 3;
            let ratio = |value: f64, size: f64| if value > 0.0 { value / size } else { 0.0 };
            worst = worst.max(ratio(-u[b.first], self.row_size(b.first)));
            if self.bias[b.first] >= 0.0 && self.bias[b.first + 1..b.first + 3] == [0.0; 2] {
                let power = rows.clone().map(|i| p[i] * (u[i] - self.bias[i])).sum();
                worst = worst.max(ratio(power, rows.map(|i| p[i].abs() * self.row_size(i)).sum()));
            }
        }
        worst
    }

    /// Sets impulses to zero that are at most the part `noise` of the motion of their block. Where nothing else moves, rounding would be all there
    /// is to compare rounding with.
    pub(super) fn remove_noise(&mut self, p: &mut [f64], noise: f64) {
        self.measure_speeds(p);
        for b in &self.blocks {
            let noise = noise * self.size(b);
            let tiny = p[b.first].abs() <= noise;
            for (k, p) in p[b.first..b.first + b.rows].iter_mut().enumerate() {
                if p.abs() <= noise || (tiny && k > 0 && matches!(b.set, Set::Cone { cos, .. } if cos > 0.0)) {
                    *p = b.set.project([0.0; 3])[0];
                }
            }
        }
    }

    /// Speeds before anything cancels, m: `|x_free| + Σ |g p|`.
    fn measure_speeds(&mut self, p: &[f64]) {
        self.speeds.clear();
        self.speeds.extend(self.x_free.iter().map(|x| x.abs()));
        for (k, p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            self.speeds.iter_mut().zip(self.g.col(k)).for_each(|(s, g)| *s += (g * p).abs());
        }
    }

    /// Size of the terms of a block's motion at these speeds.
    fn size(&self, b: &Block) -> f64 {
        (b.first..b.first + b.rows).map(|i| self.row_size(i)).fold(0.0, f64::max)
    }

    fn row_size(&self, i: usize) -> f64 {
        self.g.col(i).iter().zip(&self.speeds).map(|(g, s)| g.abs() * s).sum::<f64>() + self.bias[i].abs()
    }

    /// The impulses in `forces`, scaled, each moved into its set.
    pub(super) fn load_impulses(&self, forces: &IslandForces, p: &mut Vec<f64>) {
        p.clear();
        for b in &self.blocks {
            let value = match b.source {
                Source::Contact(i) => [forces.normal[i], forces.tangent_s[i], forces.tangent_t[i]],
                Source::Limit(i) => [forces.limit[i], 0.0, 0.0],
                Source::Bilateral(i) => [forces.bilateral[i], 0.0, 0.0],
                Source::Bounded(i) => [forces.bounded[i], 0.0, 0.0],
            };
            let onto = b.set.project(value.map(|x| x * b.length / self.unit));
            p.extend_from_slice(&onto[..b.rows]);
        }
    }

    /// Where in its set each block's impulse is: the modes of the contacts and rows.
    pub(super) fn modes_into(&self, p: &[f64], on_mantle: f64, modes: &mut Vec<Within>) {
        modes.clear();
        modes.extend(self.blocks.iter().map(|b| {
            let mut q = [0.0; 3];
            q[..b.rows].copy_from_slice(&p[b.first..b.first + b.rows]);
            b.set.within(q, on_mantle)
        }));
    }

    /// Writes impulses p (scaled) and their motion into `forces`.
    pub(super) fn unload(&self, p: &[f64], x: &[f64], forces: &mut IslandForces) {
        self.unload_multipliers(p, forces);
        forces.x.iter_mut().zip(x).for_each(|(to, x)| *to = x * self.unit);
    }

    /// Writes impulses or multipliers p (scaled) into `forces`.
    pub(super) fn unload_multipliers(&self, p: &[f64], forces: &mut IslandForces) {
        for b in &self.blocks {
            let value = |k: usize| p[b.first + k] * self.unit / b.length;
            match b.source {
                Source::Contact(i) => {
                    forces.normal[i] = value(0);
                    if b.rows == 3 {
                        (forces.tangent_s[i], forces.tangent_t[i]) = (value(1), value(2));
                    }
                }
                Source::Limit(i) => forces.limit[i] = value(0),
                Source::Bilateral(i) => forces.bilateral[i] = value(0),
                Source::Bounded(i) => forces.bounded[i] = value(0),
            }
        }
    }
}

/// Where in its set an impulse is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Nowhere at its boundary.
    Free,
    /// At zero, or at its lower bound.
    Lower,
    /// On the mantle of its cone, or at its upper bound.
    Upper,
}

impl Set {
    /// Where in the set the impulse p is; friction within `on_mantle` of its limit, relative to that, is there.
    fn within(&self, p: [f64; 3], on_mantle: f64) -> Within {
        match *self {
            Set::Line => Within::Free,
            Set::Ray | Set::Cone { .. } if p[0] <= 0.0 => Within::Lower,
            Set::Ray => Within::Free,
            Set::Interval { lo, hi } => match p[0] {
                x if x <= lo => Within::Lower,
                x if x >= hi => Within::Upper,
                _ => Within::Free,
            },
            Set::Cone { cos, sin } if cos * libm::hypot(p[1], p[2]) >= (1.0 - on_mantle) * sin * p[0] => Within::Upper,
            Set::Cone { .. } => Within::Free,
        }
    }

    /// The directions in which the set has no end.
    fn endless(&self) -> Self {
        match *self {
            Set::Interval { lo, hi } => {
                let end = |bound: f64| if bound.is_finite() { 0.0 } else { bound };
                Set::Interval { lo: end(lo), hi: end(hi) }
            }
            set => set,
        }
    }

    /// The nearest point of the set; only the first entry counts unless it is a cone.
    pub(super) fn project(&self, q: [f64; 3]) -> [f64; 3] {
        match *self {
            Set::Line => q,
            Set::Ray => [q[0].max(0.0), 0.0, 0.0],
            Set::Interval { lo, hi } => [q[0].clamp(lo, hi), 0.0, 0.0],
            Set::Cone { cos, sin } => match Part::of(q, cos, sin) {
                Part::Inside => q,
                Part::Apex => [0.0; 3],
                Part::Mantle { e, along, .. } => [cos * along, sin * along * e[0], sin * along * e[1]],
            },
        }
    }
}

/// The power of two at or below x, so that dividing by it is exact; 1 if x is zero, not finite, or too small to divide by.
fn power_of_two(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    if x.is_normal() { f64::from_bits(x.to_bits() & EXPONENT) } else { 1.0 }
}

/// Where in its cone the projection of a point lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// The point is in the cone.
    Inside,
    /// It is in the polar cone: the projection is zero.
    Apex,
    /// The projection is on the mantle: `along · (cos, sin e)`.
    Mantle {
        /// Direction of the tangential part.
        e: [f64; 2],
        /// Length of the projection.
        along: f64,
        /// Length of the point's tangential part.
        radius: f64,
    },
}

impl Part {
    /// For the point q and a cone of half angle (cos, sin).
    pub(super) fn of(q: [f64; 3], cos: f64, sin: f64) -> Self {
        let radius = libm::hypot(q[1], q[2]);
        if q[0] >= 0.0 && cos * radius <= sin * q[0] {
            Part::Inside
        } else if q[0] <= 0.0 && sin * radius <= -cos * q[0] {
            Part::Apex
        } else {
            Part::Mantle { e: [q[1] / radius, q[2] / radius], along: cos * q[0] + sin * radius, radius }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::generate::Rng;

    fn cone(mu: f64) -> Set {
        let cos = 1.0 / libm::hypot(mu, 1.0);
        Set::Cone { cos, sin: if mu == f64::INFINITY { 1.0 } else { mu * cos } }
    }

    /// Moreau: q = π − π°, π in the cone, π° in its dual, orthogonal.
    #[test]
    fn projections_split_a_point_into_cone_and_polar() {
        let mut rng = Rng::new(3);
        for mu in [1e-300, 1e-3, 0.5, 1.0, 30.0, 1e200, f64::INFINITY] {
            for _ in 0..200 {
                let q = [rng.normal(), rng.normal(), rng.normal()];
                let p = cone(mu).project(q);
                let d: Vec<f64> = (0..3).map(|k| p[k] - q[k]).collect();
                let slack = 1e-14;
                let t = libm::hypot(p[1], p[2]);
                assert!(p[0] >= 0.0 && (mu == f64::INFINITY || t <= mu * p[0] + slack), "{mu} {p:?}");
                let (dn, dt) = (d[0], libm::hypot(d[1], d[2]));
                assert!(
                    if mu == f64::INFINITY { dt <= slack } else { mu * dt <= (dn + slack) * (1.0 + mu) },
                    "{mu} {d:?}"
                );
                assert!((p[0] * d[0] + p[1] * d[1] + p[2] * d[2]).abs() <= slack, "{mu}");
            }
        }
    }
}
