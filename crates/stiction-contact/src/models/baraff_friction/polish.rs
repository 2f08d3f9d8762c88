//! From driven forces to the returned ones: the clamped conditions as one linear system, and rounding taken out.

use stiction_lcp::matrix::{dot, norm};

use super::drive::{Driver, Halt};
use super::sets::{Along, Clamp};

/// Passes of refinement of the forces.
const REFINEMENTS: usize = 3;

impl Driver {
    /// Forces of the clamped conditions from one linear system, refined: they hold to rounding.
    pub(super) fn polish(&mut self) -> Result<(), Halt> {
        for _ in 0..REFINEMENTS {
            self.refresh();
            self.work.clear();
            for k in 0..self.clamped.list().len() {
                let bias = self.clamp_bias(self.clamped.list()[k]);
                self.work.push(-dot(self.clamped.row(k), &self.x) - bias);
            }
            if !self.clamped.solve(&mut self.work) {
                return Err(Halt::Numerical("the matrix of the clamped conditions"));
            }
            for (k, step) in self.work.iter().enumerate() {
                let i = self.clamped.list()[k].i;
                match self.clamped.list()[k].along {
                    Along::Row => self.f[i] += step,
                    Along::Tangent(e) => (0..2).for_each(|l| self.f_friction[i][l] += e[l] * step),
                }
            }
            self.tie_friction();
        }
        self.refresh();
        if self.x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Halt::Numerical("the forces")) }
    }

    /// Friction that is tied to a normal force follows it.
    pub(super) fn tie_friction(&mut self) {
        for c in 0..self.system.contacts {
            if let Some(u) = self.friction[c].tied() {
                self.f_friction[c] = u.map(|u| u * self.system.mu[c] * self.f[c]);
            }
        }
    }

    /// The part of a clamped acceleration that is not in x.
    pub(super) fn clamp_bias(&self, clamp: Clamp) -> f64 {
        match clamp.along {
            Along::Row => self.system.bias[clamp.i],
            Along::Tangent(e) => {
                e[0] * self.system.tangent_bias[0][clamp.i] + e[1] * self.system.tangent_bias[1][clamp.i]
            }
        }
    }

    /// Forces that are rounding beside the others become zero: where there is nothing to measure them by, they would stand out.
    pub(super) fn drop_noise(&mut self) {
        let noise = self.tolerances.noise_force * norm(&self.size);
        for i in 0..self.system.rows() {
            let within = self.system.lo[i] <= 0.0 && self.system.hi[i] >= 0.0;
            if within && self.f[i].abs() * self.system.length[i] <= noise {
                self.f[i] = 0.0;
            }
        }
        for c in 0..self.system.contacts {
            let length = self.tangent_length(c);
            self.f_friction[c].iter_mut().filter(|f| f.abs() * length <= noise).for_each(|f| *f = 0.0);
        }
        self.refresh();
    }
}
