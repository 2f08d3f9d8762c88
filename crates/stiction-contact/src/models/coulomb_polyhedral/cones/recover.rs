//! From an answer back to forces and motion, and from multipliers to a proof.

use stiction_lcp::matrix::{axpy, dot, norm};

use super::{Answer, Cones, NONE, Source, constant_force};
use crate::by_island::IslandForces;
use crate::models::coulomb_polyhedral::Scheme;
use crate::whitened::{Columns, Whitened};

impl Cones {
    /// Turns an answer into forces and motion of the island.
    pub(crate) fn recover(&mut self, island: &Whitened, answer: &Answer, forces: &mut IslandForces) {
        for i in 0..island.bounded.len() {
            forces.bounded[i] = constant_force(island.lo[i], island.hi[i]);
        }
        for (normal, theta) in self.normals.iter().zip(&answer.theta) {
            let p = theta * normal.scale * self.unit;
            match normal.source {
                Source::Contact(i) => forces.normal[i] = p,
                Source::Limit(i) => forces.limit[i] = p,
                Source::From(i) | Source::UpTo(i) | Source::Between(i) => forces.bounded[i] += p,
            }
        }
        for g in 0..self.groups.len() {
            self.recover_group(g, island, answer, forces);
        }
        self.drop_noise(island, forces);
        self.recover_motion(island, forces);
        self.recover_unmoved(island, forces);
        forces.basis.copy_from(&answer.basis);
    }

    /// Forces that are nothing but the rounding of others are none. Left in, they would be all there is of a motion that nothing else causes, and
    /// beside its own size no such motion is small.
    fn drop_noise(&mut self, island: &Whitened, forces: &mut IslandForces) {
        let kinds = [
            (&island.normal, &mut forces.normal),
            (&island.tangent_s, &mut forces.tangent_s),
            (&island.tangent_t, &mut forces.tangent_t),
            (&island.limit, &mut forces.limit),
            (&island.bounded, &mut forces.bounded),
        ];
        let moves = |columns: &Columns, i: usize, p: f64| if p == 0.0 { 0.0 } else { p.abs() * norm(columns.g.col(i)) };
        let sum = |(columns, p): &(&Columns, &mut Vec<f64>)| {
            p.iter().enumerate().map(|(i, p)| moves(columns, i, *p)).sum::<f64>()
        };
        let noise = self.tolerances.coulomb_polyhedral.noise_force;
        self.floor = noise * (norm(&self.k_size) * self.unit + kinds.iter().map(sum).sum::<f64>());
        for (columns, p) in kinds {
            p.iter_mut().enumerate().filter(|(i, p)| moves(columns, *i, **p) <= self.floor).for_each(|(_, p)| *p = 0.0);
        }
        for i in 0..island.contacts() {
            if forces.normal[i] == 0.0 {
                (forces.tangent_s[i], forces.tangent_t[i]) = (0.0, 0.0);
            }
        }
        for (i, p) in forces.bounded.iter_mut().enumerate() {
            *p = p.clamp(island.lo[i], island.hi[i]);
        }
    }

    fn recover_group(&self, g: usize, island: &Whitened, answer: &Answer, forces: &mut IslandForces) {
        let group = &self.groups[g];
        let mut p = [0.0; 2];
        for (phi, d) in answer.phi[group.first..].iter().zip(self.directions(g)) {
            p = [p[0] + phi * d[0], p[1] + phi * d[1]];
        }
        let p = p.map(|x| x * group.scale * self.unit);
        match group.source {
            Source::Contact(i) => (forces.tangent_s[i], forces.tangent_t[i]) = (p[0], p[1]),
            Source::Between(i) => forces.bounded[i] = (island.lo[i] + p[0]).clamp(island.lo[i], island.hi[i]),
            _ => {}
        }
    }

    /// `x = x_free + Σ g p`, with the impulses of the bilateral rows that bring it to `x_rows + P (x_free + Σ g p)`.
    fn recover_motion(&mut self, island: &Whitened, forces: &mut IslandForces) {
        self.fixed.iter().for_each(|&i| forces.bounded[i] = 0.0);
        let rows = [
            (&island.normal, &forces.normal),
            (&island.tangent_s, &forces.tangent_s),
            (&island.tangent_t, &forces.tangent_t),
            (&island.limit, &forces.limit),
            (&island.bounded, &forces.bounded),
        ];
        forces.x.copy_from_slice(&island.x_free);
        for (columns, p) in rows {
            for (i, p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
                axpy(*p, columns.g.col(i), &mut forces.x);
            }
        }
        self.work.clear();
        self.work.extend_from_slice(&forces.x);
        self.find.project_out(&mut self.work);
        self.work.iter_mut().zip(self.find.x_rows()).zip(&forces.x).for_each(|((w, r), x)| *w = *w + r - x);
        self.find.impulses(&self.work, &mut self.impulses);
        self.drop_held_noise(island);
        for (&row, p) in self.find.kept().iter().zip(&self.impulses) {
            axpy(*p, self.held_column(island, row), &mut forces.x);
        }
        self.set_held_impulses(island, forces);
    }

    fn drop_held_noise(&mut self, island: &Whitened) {
        for (at, &row) in self.find.kept().iter().enumerate() {
            if self.impulses[at].abs() * norm(self.held_column(island, row)) <= self.floor {
                self.impulses[at] = 0.0;
            }
        }
    }

    /// Column of the row with this number among those that must hold.
    fn held_column<'a>(&self, island: &'a Whitened, row: usize) -> &'a [f64] {
        let (rows, i) = match row.checked_sub(island.bilateral.len()) {
            None => (&island.bilateral, row),
            Some(at) => (&island.bounded, self.fixed[at]),
        };
        rows.g.col(i)
    }

    /// Contacts whose tangents nothing can move have no group: where bilateral rows make them slip, friction is full and opposes it. So does
    /// a bounded row that nothing can move.
    fn recover_unmoved(&mut self, island: &Whitened, forces: &mut IslandForces) {
        let mut changed = false;
        for &i in &self.locked {
            if self.held_motion(&island.bounded, i) < 0.0 {
                forces.bounded[i] = island.hi[i];
                changed = true;
            }
        }
        for normal in self.normals.iter().filter(|n| n.group == NONE) {
            let Source::Contact(i) = normal.source else { continue };
            if island.mu[i] == 0.0 || !island.touching[i] || forces.normal[i] == 0.0 {
                continue;
            }
            let (us, ut) = (self.held_motion(&island.tangent_s, i), self.held_motion(&island.tangent_t, i));
            if (us, ut) == (0.0, 0.0) {
                continue;
            }
            let speed = |d: &[f64; 2]| d[0] * us + d[1] * ut;
            let Some(d) = self.directions.iter().min_by(|a, b| speed(a).total_cmp(&speed(b))) else { continue };
            let bound = island.mu[i] * forces.normal[i];
            (forces.tangent_s[i], forces.tangent_t[i]) = (bound * d[0], bound * d[1]);
            changed = true;
        }
        if changed {
            self.recover_motion(island, forces);
        }
    }

    /// The motion of a row that only the bilateral rows move: `gᵀ x_rows + bias`, zero if it is rounding.
    fn held_motion(&self, columns: &Columns, i: usize) -> f64 {
        let (g, bias) = (columns.g.col(i), columns.bias[i]);
        let terms = g.iter().zip(self.find.x_rows()).map(|(g, x)| (g * x).abs()).sum::<f64>() + bias.abs();
        let motion = dot(g, self.find.x_rows()) + bias;
        if motion.abs() <= self.tolerances.coulomb_polyhedral.no_motion * terms { 0.0 } else { motion }
    }

    /// The unilateral rows without friction as `Gᵀ x + e ≥ 0`: columns (m each, projected) and offsets, in the order of normals, limits and
    /// bounded rows; a row that asks for nothing is zero.
    pub(crate) fn unilateral_rows(&mut self, island: &Whitened, scheme: Scheme) -> (Vec<f64>, Vec<f64>) {
        let (mut columns, mut e) = (Vec::new(), Vec::new());
        let all = scheme == Scheme::StewartTrinkle;
        let contacts =
            (0..island.contacts()).map(|i| (&island.normal, i, if all || island.touching[i] { 1.0 } else { 0.0 }));
        let limits =
            (0..island.limit.len()).map(|i| (&island.limit, i, if all || island.reached[i] { 1.0 } else { 0.0 }));
        let bounded = (0..island.bounded.len()).map(|i| (&island.bounded, i, one_sided(island.lo[i], island.hi[i])));
        for (rows, i, sign) in contacts.chain(limits).chain(bounded) {
            let (length, offset, _) = self.project(rows.g.col(i), rows.bias[i]);
            let sign_of_column = if length == 0.0 { 0.0 } else { sign };
            columns.extend(self.work.iter().map(|x| sign_of_column * x));
            e.push(sign * offset);
        }
        (columns, e)
    }

    /// Turns multipliers of these rows into those of all rows, as a proof that no motion satisfies them.
    pub(crate) fn recover_proof(&mut self, island: &Whitened, y: &[f64], forces: &mut IslandForces) {
        let (normal, rest) = y.split_at(island.contacts());
        let (limit, bounded) = rest.split_at(island.limit.len());
        forces.normal.copy_from_slice(normal);
        forces.limit.copy_from_slice(limit);
        for (i, y) in bounded.iter().enumerate() {
            forces.bounded[i] = y * one_sided(island.lo[i], island.hi[i]);
        }
        self.work.clear();
        self.work.resize(self.dof, 0.0);
        for (columns, y) in
            [(&island.normal, &forces.normal), (&island.limit, &forces.limit), (&island.bounded, &forces.bounded)]
        {
            y.iter().enumerate().for_each(|(i, y)| axpy(-y, columns.g.col(i), &mut self.work));
        }
        self.find.impulses(&self.work, &mut self.impulses);
        self.set_held_impulses(island, forces);
    }

    /// Writes the impulses of the rows that must hold to their places.
    fn set_held_impulses(&self, island: &Whitened, forces: &mut IslandForces) {
        let own = island.bilateral.len();
        for (&row, p) in self.find.kept().iter().zip(&self.impulses) {
            if row < own {
                forces.bilateral[row] = *p;
            } else {
                forces.bounded[self.fixed[row - own]] = *p;
            }
        }
    }
}

/// 1 for a row with a least force only, whose motion is never negative; −1 for one with a largest only; 0 for others.
fn one_sided(lo: f64, hi: f64) -> f64 {
    match (lo == f64::NEG_INFINITY, hi == f64::INFINITY) {
        (false, true) => 1.0,
        (true, false) => -1.0,
        _ => 0.0,
    }
}
