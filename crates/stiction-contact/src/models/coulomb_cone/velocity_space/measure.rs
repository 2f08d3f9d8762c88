//! How far forces and velocities are from a solution, as the certificate measures it.

use super::super::law::{Block, askew, limit_error};
use super::elements::{Element, Elements, Group, LawBeside, by_stride};
use super::lanes::{dot_of_sizes, map_lanes};
use super::length;
use super::newton::Newton;

/// The terms of a row count as at least this part of its bodies' own speed, as in the certificate.
const FLOOR: f64 = 1e-5;

stiction_linalg::vectorized! {
    fn error(newton: &'a mut Newton, el: &'a Elements) -> f64 = newton.measure_error(el)
}

impl Newton {
    /// The natural map of each element beside the terms of its motion, and the momentum evaluated last beside its terms: the worst. As the
    /// certificate measures it, but with M's diagonal in place of M.
    pub(super) fn error(&mut self, el: &Elements) -> f64 {
        error(self, el)
    }

    #[inline(always)]
    fn measure_error(&mut self, el: &Elements) -> f64 {
        self.measure_speeds(el);
        let mut worst = 0.0f64;
        for block in (0..el.blocks.len()).map(|k| el.block_range(k)) {
            let fastest = self.speed[block.clone()].iter().fold(0.0, |max: f64, s| max.max(*s));
            for j in block.filter(|&j| self.momentum[j] != 0.0) {
                let size = self.speed[j] + self.v[j].abs() + FLOOR * fastest;
                worst = worst.max(self.momentum[j].abs() / size.min(el.energy_norm));
            }
        }
        if self.momentum.iter().any(|x| x.is_nan()) {
            return f64::INFINITY;
        }
        for group in &el.groups {
            el.gather(group, &self.speed, &mut self.local);
            let error = by_stride!(group, stride => self.group_error(el, group, stride));
            if error.is_nan() {
                return f64::INFINITY;
            }
            worst = worst.max(error);
        }
        worst
    }

    /// The worst of a group whose speeds are in `local`; not a number if one is not.
    #[inline(always)]
    fn group_error(&self, el: &Elements, group: &Group, stride: usize) -> f64 {
        let speed = &self.local[..stride];
        let fastest = speed.iter().fold(0.0, |max: f64, s| max.max(*s));
        let mut worst = 0.0f64;
        for e in group.elements.0..group.elements.1 {
            let element = &el.list[e];
            let mut size = [0.0; 3];
            for (r, row) in el.rows_of(element, stride).chunks_exact(stride).enumerate() {
                let terms = match element.only {
                    Some(only) => dot_of_sizes(&row[only.lanes()], &speed[only.lanes()]),
                    None => dot_of_sizes(row, speed),
                };
                let root = element.w[r].sqrt();
                size[r] = element.bias[r].abs() + (terms + FLOOR * root * fastest).min(root * el.energy_norm);
            }
            let error = match element.law_beside(self.p[e - element.behind][0]) {
                LawBeside::Block(law) => natural_error(element, law, &self.p[e], &self.u[e], &size),
                LawBeside::Disc(radius) => {
                    let (p, u, w) = (&self.p[e], &self.u[e], element.w[0].max(element.w[1]));
                    let size = (size[0] * size[0] + size[1] * size[1]).sqrt();
                    disc_error([p[0], p[1]], [u[0], u[1]], w, size, radius)
                }
            };
            worst = if error <= worst { worst } else { error };
            if error.is_nan() {
                return error;
            }
        }
        worst
    }

    /// `speed ← |v_before| + |dt f| + Σ |â p|`, scaled.
    #[inline(always)]
    fn measure_speeds(&mut self, el: &Elements) {
        for (s, (v, f)) in self.speed.iter_mut().zip(el.v_before.iter().zip(&el.dt_force)) {
            *s = v.abs() + f.abs();
        }
        if el.delassus.is_some() {
            return self.add_delassus_sizes(el);
        }
        for group in &el.groups {
            by_stride!(group, stride => self.sum_sizes(el, group, stride));
            el.scatter(group, &self.sum, &mut self.speed);
        }
    }

    /// `sum ← Σ |â p|` of a group.
    #[inline(always)]
    fn sum_sizes(&mut self, el: &Elements, group: &Group, stride: usize) {
        let sum = &mut self.sum[..stride];
        sum.fill(0.0);
        for e in group.elements.0..group.elements.1 {
            let (element, p) = (&el.list[e], &self.p[e]);
            if let Some(only) = element.only {
                sum[only.at] += el.values[element.values + only.at].abs() * p[0].abs();
                continue;
            }
            for (row, p) in el.rows_of(element, stride).chunks_exact(stride).zip(p) {
                map_lanes(row, sum, |a, s| s + a.abs() * p.abs());
            }
        }
    }
}

/// The natural map of one element beside the sizes of its motions' terms.
#[inline(always)]
fn natural_error(element: &Element, law: Block, p: &[f64; 3], u: &[f64; 3], size: &[f64; 3]) -> f64 {
    let w = element.w;
    let clamped = |lo: f64, hi: f64| ratio(u[0].max(w[0] * (p[0] - hi)).min(w[0] * (p[0] - lo)), size[0]);
    match law {
        Block::Signorini => clamped(0.0, f64::INFINITY),
        Block::Bounded { lo, hi } => clamped(lo, hi),
        Block::Free => ratio(u[0], size[0]),
        Block::Slider { friction } => {
            let error = [1, 2].map(|k| p[k] - friction[k - 1] * p[0]);
            let friction = ratio(length(error) * w[1].max(w[2]), length([size[1], size[2]]));
            clamped(0.0, f64::INFINITY).max(friction)
        }
        Block::NoSlip { .. } => {
            let slip = ratio((u[1] * u[1] + u[2] * u[2]).sqrt(), (size[1] * size[1] + size[2] * size[2]).sqrt());
            clamped(0.0, f64::INFINITY).max(slip)
        }
        Block::Coulomb { mu, .. } => {
            let normal = clamped(0.0, f64::INFINITY);
            let (pressed, parting) = (ratio((w[0] * p[0]).max(0.0), size[0]), ratio(u[0].max(0.0), size[0]));
            let size = (size[1] * size[1] + size[2] * size[2]).sqrt();
            let w = w[1].max(w[2]);
            if mu.is_infinite() {
                let (force, slip) = ((p[1] * p[1] + p[2] * p[2]).sqrt() * w, (u[1] * u[1] + u[2] * u[2]).sqrt());
                let askew = ratio(askew([p[1], p[2]], [u[1], u[2]]), size);
                return normal.max(limit_error(pressed, parting, ratio(force, size), ratio(slip, size), askew));
            }
            normal.max(disc_error([p[1], p[2]], [u[1], u[2]], w, size, mu * p[0].max(0.0)))
        }
    }
}

/// The natural map of friction in the disc of this radius, beside the size of its motion's terms.
#[inline(always)]
fn disc_error(p: [f64; 2], u: [f64; 2], w: f64, size: f64, radius: f64) -> f64 {
    let y = [p[0] - u[0] / w, p[1] - u[1] / w];
    let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
    if length <= radius {
        return ratio((u[0] * u[0] + u[1] * u[1]).sqrt(), size);
    }
    let scale = radius / length;
    let residual = [p[0] - scale * y[0], p[1] - scale * y[1]];
    ratio((residual[0] * residual[0] + residual[1] * residual[1]).sqrt() * w, size)
}

/// `|value| / size`, with 0/0 = 0.
#[inline(always)]
fn ratio(value: f64, size: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.abs() / size }
}
