//! Islands at rest: where the forces of the last step balance all others up to their own rounding, they and v⁺ = 0 are the answer.
//!
//! Solved anew, forces would come out with other last digits, and velocities as what these leave, some 1e-20 m/s: bodies at rest would creep by them. Forces that are kept move nothing, so that a
//! step of an island at rest leads to the same state, forces and modes, to the last bit. They are certified like any other answer.

use super::Friction;
use crate::islands::Island;
use crate::model::WarmStart;
use crate::problem::{CONTACT_ROWS, ContactProblem};
use crate::rows::Rows;
use crate::whitened::separation_bias;

/// What forces leave of the momentum of a body, beside the sum of their sizes: the rounding of a sum of some tens of terms.
const BALANCE: f64 = 1e-14;

/// What rounding may add to a force at its limit, as a part of it.
const AT_LIMIT: f64 = 1e-14;

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest {
    /// `M v + dt f + Σ rowᵀ p`, m.
    momentum: Vec<f64>,
    /// The sizes of its terms but for `M v`, m.
    size: Vec<f64>,
}

impl Rest {
    /// True if v⁺ = 0 with the forces of `start` is an answer of the island, to rounding.
    pub(super) fn holds(
        &mut self,
        problem: &ContactProblem,
        island: &Island,
        start: &WarmStart,
        friction: Friction,
    ) -> bool {
        obeys_laws(problem, island, start, friction) && self.is_balanced(problem, island, start)
    }

    fn is_balanced(&mut self, problem: &ContactProblem, island: &Island, start: &WarmStart) -> bool {
        let (mass, layout) = (problem.mass(), problem.layout());
        self.momentum.resize(problem.m(), 0.0);
        self.size.resize(problem.m(), 0.0);
        for &b in &island.blocks {
            let range = layout.range(b);
            let momentum = &mut self.momentum[range.clone()];
            momentum.iter_mut().zip(&problem.force()[range.clone()]).for_each(|(x, f)| *x = problem.dt() * f);
            self.size[range.clone()].iter_mut().zip(&*momentum).for_each(|(size, x)| *size = x.abs());
            for (k, v) in problem.v()[range].iter().enumerate().filter(|(_, v)| **v != 0.0) {
                momentum.iter_mut().zip(mass.block(b).col(k)).for_each(|(x, m)| *x += m * v);
            }
        }
        let (rows, forces) = (problem.contacts().rows(), start.forces.contacts());
        for &i in &island.contacts {
            (0..CONTACT_ROWS).for_each(|k| self.add(rows[k], i, forces[k][i]));
        }
        let forces = &start.forces;
        island.bilaterals.iter().for_each(|&i| self.add(&problem.bilaterals().rows, i, forces.bilateral[i]));
        island.limits.iter().for_each(|&i| self.add(&problem.limits().rows, i, forces.limit[i]));
        island.bounded.iter().for_each(|&i| self.add(&problem.bounded().rows, i, forces.bounded[i]));
        // Each velocity in units of √Mⱼⱼ.
        let in_energy = |b: usize, x: &[f64]| {
            let terms = layout.range(b).enumerate().map(|(j, k)| x[k].abs() / mass.block(b)[(j, j)].sqrt());
            terms.sum::<f64>()
        };
        island.blocks.iter().all(|&b| in_energy(b, &self.momentum) <= BALANCE * in_energy(b, &self.size))
    }

    /// Adds the force `p` along a row.
    fn add(&mut self, rows: &Rows, i: usize, p: f64) {
        if p == 0.0 {
            return;
        }
        for (_, from, row) in rows.row_from(i) {
            let range = from..from + row.len();
            let sums = self.momentum[range.clone()].iter_mut().zip(&mut self.size[range]);
            for ((x, size), row) in sums.zip(row) {
                let term = p * row;
                *x += term;
                *size += term.abs();
            }
        }
    }
}

/// True if nothing drives the island, and the forces are within their laws where nothing moves.
fn obeys_laws(problem: &ContactProblem, island: &Island, start: &WarmStart, friction: Friction) -> bool {
    let (forces, dt) = (&start.forces, problem.dt());
    // 0 ≤ p ⊥ u ≥ 0 where u is the bias.
    let unilateral = |p: f64, bias: f64| if p > 0.0 { bias == 0.0 } else { p == 0.0 && bias >= 0.0 };
    let (limits, bounded) = (problem.limits(), problem.bounded());
    let within = |p: f64, lo: f64, hi: f64| p >= lo - AT_LIMIT * lo.abs() && p <= hi + AT_LIMIT * hi.abs();
    island.contacts.iter().all(|&i| {
        unilateral(forces.normal[i], problem.contacts().separation_bias(i, dt))
            && obeys_friction(problem, i, start, friction)
    }) && island
        .limits
        .iter()
        .all(|&i| unilateral(forces.limit[i], separation_bias(limits.gap[i], dt, limits.bounce[i])))
        && island.bilaterals.iter().all(|&i| problem.bilaterals().target[i] == 0.0)
        && island
            .bounded
            .iter()
            .all(|&i| bounded.target[i] == 0.0 && within(forces.bounded[i], dt * bounded.lo[i], dt * bounded.hi[i]))
}

/// True if contact `i` neither slips, spins nor rolls under its forces where no body moves.
fn obeys_friction(problem: &ContactProblem, i: usize, start: &WarmStart, friction: Friction) -> bool {
    let (contacts, forces) = (problem.contacts(), &start.forces);
    let (p, s, t, spin) = (forces.normal[i], forces.tangent_s[i], forces.tangent_t[i], forces.spin[i]);
    let (roll_s, roll_t) = (forces.roll_s[i], forces.roll_t[i]);
    if !contacts.has_friction(i) {
        return [s, t, spin, roll_s, roll_t] == [0.0; 5];
    }
    contacts.surface[i] == [0.0; 2]
        && match friction {
            Friction::NoSlip => true,
            Friction::Coulomb => {
                let most = |mu: f64| if p > 0.0 { (1.0 + AT_LIMIT) * mu * p } else { 0.0 };
                (s * s + t * t).sqrt() <= most(contacts.mu[i])
                    && spin.abs() <= most(contacts.mu_spin[i])
                    && (roll_s * roll_s + roll_t * roll_t).sqrt() <= most(contacts.mu_roll[i])
            }
        }
}
