//! From z back to forces and motion.

use stiction_lcp::matrix::{axpy, norm};
use stiction_lcp::{Basis, Position};

use super::formulation::{AXES, ENTRY_ROUNDING, Formulation, KINDS, Kind};
use crate::by_island::IslandForces;
use crate::whitened::Whitened;

impl Formulation {
    /// Forces of all rows but the bilateral ones from z. With a basis a force at a bound is that bound exactly.
    pub(super) fn forces_into(&self, island: &Whitened, z: &[f64], basis: Option<&Basis>, out: &mut IslandForces) {
        for (j, unknown) in self.singles.iter().enumerate() {
            unknown.kind.forces(out)[unknown.index] = self.known_of(island, j) + unknown.sign * z[j];
            if unknown.kind == Kind::Normal {
                for (k, axis) in AXES.into_iter().enumerate() {
                    axis.forces(out)[unknown.index] = self.friction[unknown.index][k] * z[j];
                }
            }
        }
        for k in 0..island.bounded.len() {
            if island.lo[k] == island.hi[k] {
                out.bounded[k] = island.lo[k];
            }
        }
        for (k, axis) in self.axes.iter().enumerate() {
            let (plus, minus) = (self.singles.len() + k, self.moving() + k);
            let (lo, hi) = match axis.normal {
                Some((normal, mu)) => (-mu * z[normal], mu * z[normal]),
                None => (island.lo[axis.index], island.hi[axis.index]),
            };
            let basic = |row: usize| basis.is_some_and(|b| b.position(row) == Position::Basic);
            axis.kind.forces(out)[axis.index] = if basis.is_some() && !basic(plus) {
                lo
            } else if basic(minus) {
                hi
            } else {
                (lo + z[plus]).max(lo).min(hi)
            };
        }
    }

    /// The direction of forces, bilateral ones too, that belongs to a direction of z.
    pub(super) fn direction_into(&mut self, island: &Whitened, z: &[f64], out: &mut IslandForces) {
        for (j, unknown) in self.singles.iter().enumerate() {
            unknown.kind.forces(out)[unknown.index] = unknown.sign * z[j];
            if unknown.kind == Kind::Normal {
                for (k, axis) in AXES.into_iter().enumerate() {
                    axis.forces(out)[unknown.index] = self.friction[unknown.index][k] * z[j];
                }
            }
        }
        for (k, axis) in self.axes.iter().enumerate() {
            let base = axis.normal.map_or(0.0, |(normal, mu)| -mu * z[normal]);
            axis.kind.forces(out)[axis.index] = base + z[self.singles.len() + k];
        }
        self.work.clear();
        self.work.resize(island.m(), 0.0);
        add_forces(island, out, &mut self.work);
        out.x.copy_from_slice(&self.work);
        self.held.project_out(&mut out.x);
        self.hold_into(island, out);
    }

    /// The motion that belongs to the forces in `out`, and the bilateral forces that hold the joints.
    pub(super) fn motion_into(&mut self, island: &Whitened, out: &mut IslandForces) {
        self.work.clear();
        self.work.extend_from_slice(&island.x_free);
        add_forces(island, out, &mut self.work);
        out.x.copy_from_slice(&self.work);
        self.held.project_out(&mut out.x);
        if self.held.rank() == 0 {
            return;
        }
        axpy(1.0, self.held.x_rows(), &mut out.x);
        self.hold_into(island, out);
        // From the forces once more, so that the balance of momentum holds to the rounding of its own terms in every coordinate.
        out.x.copy_from_slice(&island.x_free);
        let mut x = std::mem::take(&mut out.x);
        add_forces(island, out, &mut x);
        for (j, &p) in out.bilateral.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            axpy(p, island.bilateral.g.col(j), &mut x);
        }
        out.x = x;
    }

    /// Bilateral forces that change the motion `work` into `out.x`.
    fn hold_into(&mut self, island: &Whitened, out: &mut IslandForces) {
        if self.held.rank() == 0 {
            return;
        }
        let size = norm(&island.x_free) + sizes(island, out) + norm(self.held.x_rows());
        self.work.iter_mut().zip(&out.x).for_each(|(w, x)| *w = x - *w);
        self.held.impulses(&self.work, &mut self.impulses);
        for (k, &row) in self.held.kept().iter().enumerate() {
            let (g, _) = self.held_row(island, row);
            if self.impulses[k].abs() * norm(g) <= ENTRY_ROUNDING * g.len() as f64 * size {
                self.impulses[k] = 0.0;
            }
        }
        self.put_all_held(island, &self.impulses, out);
    }

    /// Puts the forces of the independent rows held, in their order, where they belong.
    pub(super) fn put_all_held(&self, island: &Whitened, forces: &[f64], out: &mut IslandForces) {
        for (&row, &force) in self.held.kept().iter().zip(forces) {
            match row.checked_sub(island.bilateral.len()) {
                None => out.bilateral[row] = force,
                Some(k) => out.bounded[self.free[k]] = force,
            }
        }
    }
}

/// `x ← x + Σ g p` over all rows but the bilateral ones.
fn add_forces(island: &Whitened, forces: &mut IslandForces, x: &mut [f64]) {
    for kind in KINDS {
        let columns = &kind.of(island).g;
        for (j, &p) in kind.forces(forces).iter().enumerate() {
            if p != 0.0 {
                axpy(p, columns.col(j), x);
            }
        }
    }
}

/// `Σ ‖g‖ |p|` over the same rows.
fn sizes(island: &Whitened, forces: &mut IslandForces) -> f64 {
    let mut sum = 0.0;
    for kind in KINDS {
        let columns = &kind.of(island).g;
        let parts = kind.forces(forces).iter().enumerate().filter(|(_, p)| **p != 0.0);
        sum += parts.map(|(j, p)| norm(columns.col(j)) * p.abs()).sum::<f64>();
    }
    sum
}

/// Whether polishing changed forces by no more than rounding: where the basis is nearly singular, or a force was left out that was none to leave
/// out, it does.
pub(super) fn is_near(island: &Whitened, polished: &mut IslandForces, found: &IslandForces, tolerance: f64) -> bool {
    let mut before = found.clone();
    let size = sizes(island, &mut before);
    for kind in KINDS {
        let now = kind.forces(polished);
        kind.forces(&mut before).iter_mut().zip(now.iter()).for_each(|(b, n)| *b -= n);
    }
    sizes(island, &mut before) <= tolerance * size
}
