//! What keeps contacts at rest where they are, and ball joints at their limits: gaps and speeds that
//! the integrator leaves are projected out.

use stiction_body::{ContactPoint, JointLimit};
use stiction_contact::ContactModel;
use stiction_contact::problem::TOUCHING;
use stiction_lcp::InputError;

use crate::assemble::{ContactKey, key_of, surface_speed};
use crate::event_driven::Events;
use crate::event_driven::impact::{LIMIT_TOUCHING, slip_velocity};
use crate::projection::{Enough, Moved, PROJECTIONS};
use crate::simulation::Simulation;
use crate::time_stepping::{separation_speed, smaller};

/// A gap of a contact at rest above this fraction of the geom's size is closed: well within what touches.
const DRIFT: f64 = 0.1 * TOUCHING;

/// The same of a ball joint at its limit (rad).
const LIMIT_DRIFT: f64 = 0.1 * LIMIT_TOUCHING;

/// A speed above this fraction of what counts as none is projected out: rounding alone is left.
const HOLD: f64 = 1e-4;

/// Velocities below this fraction of what forces make of rest within a step (in units of energy) are rounding, and so are those below the second beside
/// the other velocities of the same tree.
const STILL: f64 = 1e-11;
const STILL_BESIDE: f64 = 1e-15;

impl Events {
    /// Takes bodies apart that overlap by more than what touches.
    pub(super) fn separate(&mut self, sim: &mut Simulation) -> Result<(), InputError> {
        for round in 0..=PROJECTIONS {
            self.find_touching(sim, 0.0);
            let contacts = sim.collision.contacts();
            let depth = contacts.iter().fold(0.0, |d: f64, p| d.max(-p.gap));
            if round == 0 {
                self.report.penetration = depth;
            }
            self.report.overlap_left = depth;
            let deep = contacts.iter().any(|p| -p.gap > TOUCHING * smaller(&sim.sizes, p));
            if !deep || round == PROJECTIONS {
                break;
            }
            let clock = sim.clock();
            sim.assembler.start(&sim.scratch.mass, &sim.scratch.zeros, &sim.scratch.zeros, 1.0)?;
            let moved = sim.project(Enough::Nothing)?;
            sim.phases.projection += clock.map_or_else(Default::default, |c| c.elapsed());
            if moved != Moved::AllTheWay {
                break;
            }
        }
        Ok(())
    }

    /// Which of the contacts found are those at rest: by their keys, or where a key is gone by their geoms.
    pub(super) fn choose(&mut self, contacts: &[ContactPoint]) {
        self.chosen.clear();
        let key = |c: usize| ContactKey::of(&contacts[c]);
        for (c, at) in contacts.iter().enumerate() {
            let resting = self.resting.binary_search_by_key(&ContactKey::of(at), |r| r.key);
            if let Ok(r) = resting {
                self.chosen.push((c, r));
            }
        }
        let known = self.chosen.len();
        for (r, resting) in self.resting.iter().enumerate() {
            if self.chosen[..known].iter().any(|&(_, other)| other == r) {
                continue;
            }
            let near = |c: &usize| key(*c).geoms == resting.key.geoms && self.chosen.iter().all(|&(d, _)| d != *c);
            let nearest = (0..contacts.len()).filter(near).min_by(|a, b| contacts[*a].gap.total_cmp(&contacts[*b].gap));
            if let Some(c) = nearest {
                self.chosen.push((c, r));
            }
        }
        self.chosen.retain(|&(_, r)| !self.resting[r].open);
        self.chosen.sort_unstable();
    }

    /// The reached limits that motion along them leaves, of those that had a force when accelerations
    /// were last found.
    fn curved_limits(&self, sim: &Simulation) -> Vec<JointLimit> {
        if self.limits.is_empty() {
            return vec![];
        }
        let memory = &sim.memory;
        let force = |key: u32| memory.limits.binary_search(&key).ok().and_then(|i| memory.start.forces.limit.get(i));
        let held = |limit: &JointLimit| {
            let key = key_of(limit);
            limit.is_curved() && self.limits.binary_search(&key).is_ok() && force(key).is_some_and(|force| *force > 0.0)
        };
        sim.world.model.limits(&sim.state.q).filter(held).collect()
    }

    /// The present velocities without what the chosen contacts must not have: written to `v`. The inertia must be in the assembler.
    pub(super) fn hold_velocities(&mut self, sim: &mut Simulation) -> Result<(), InputError> {
        self.v.clone_from(&sim.state.v);
        let drifts = |&(c, r): &(usize, usize)| {
            let at = &sim.collision.contacts()[c];
            let none = HOLD * self.no_speed(sim, at);
            let slips = || self.resting[r].stick && slip_velocity(sim, at).length() > none;
            separation_speed(&sim.world, &sim.work, at).abs() > none || slips()
        };
        let limits = self.curved_limits(sim);
        let leaves =
            |limit: &JointLimit| limit.speed(&sim.state.v).abs() > HOLD * self.no_joint_speed(sim, limit.velocity);
        if self.chosen.iter().any(drifts) || limits.iter().any(leaves) || !sim.loops.is_empty() {
            let Simulation { world, work, state, scratch, collision, assembler, loops, projector, .. } = sim;
            assembler.restart(&state.v, &scratch.zeros, 1.0)?;
            for &(c, r) in &self.chosen {
                let at = &collision.contacts()[c];
                let (s, t) = stiction_body::math::tangents(at.normal);
                let surface = surface_speed(world, work, at);
                let stick = self.resting[r].stick;
                let along = |d: stiction_body::math::Vec3| stick.then(|| -surface.dot(d));
                assembler.hold_contact(world, work, at, [Some(0.0), along(s), along(t)])?;
            }
            for limit in &limits {
                assembler.hold_limit(&world.model, limit, 0.0)?;
            }
            assembler.add_loops(loops, |_| 0.0)?;
            if let Some(solution) = projector.solve(&assembler.problem)?.solved() {
                self.v.copy_from_slice(&solution.motion);
            }
        }
        if !self.chosen.is_empty() {
            self.drop_rounding(sim);
        }
        Ok(())
    }

    /// Velocities that are rounding are none: a body at rest neither parts nor slips.
    fn drop_rounding(&mut self, sim: &Simulation) {
        for (tree, block) in sim.world.model.trees().iter().zip(&sim.scratch.mass) {
            let size = |x: &[f64]| {
                let root = |k: usize| block[(k, k)].sqrt() * x[tree.v.start + k].abs();
                (0..tree.v.len()).map(root).fold(0.0, f64::max)
            };
            let rounding = STILL * sim.settings.dt * size(&self.free) + STILL_BESIDE * size(&self.v);
            for k in 0..tree.v.len() {
                let v = &mut self.v[tree.v.start + k];
                if block[(k, k)].sqrt() * v.abs() <= rounding {
                    *v = 0.0;
                }
            }
        }
    }

    /// Puts contacts at rest, and ball joints that press against their limits, back to a gap and a
    /// speed of zero, at the end of a piece.
    pub(super) fn settle(&mut self, sim: &mut Simulation, margin: f64) -> Result<(), InputError> {
        sim.update_dynamics();
        if self.resting.is_empty() && sim.loops.is_empty() {
            return self.settle_limits(sim);
        }
        sim.assembler.start(&sim.scratch.mass, &sim.state.v, &sim.scratch.zeros, sim.settings.dt)?;
        self.find_touching(sim, margin);
        self.choose(sim.collision.contacts());
        let clock = sim.clock();
        if self.close_gaps(sim)? {
            self.find_touching(sim, margin);
            self.choose(sim.collision.contacts());
        }
        self.hold_velocities(sim)?;
        sim.state.v.copy_from_slice(&self.v);
        sim.phases.projection += clock.map_or_else(Default::default, |c| c.elapsed());
        Ok(())
    }

    /// The same where there are limits alone. The last stage's problem stays, for the readings of its
    /// forces.
    fn settle_limits(&mut self, sim: &mut Simulation) -> Result<(), InputError> {
        if self.curved_limits(sim).is_empty() {
            return Ok(());
        }
        self.chosen.clear();
        std::mem::swap(&mut sim.assembler, &mut sim.second_assembler);
        let held = sim.assembler.start(&sim.scratch.mass, &sim.state.v, &sim.scratch.zeros, sim.settings.dt);
        let held = held.and_then(|()| self.close_gaps(sim)).and_then(|_| self.hold_velocities(sim));
        std::mem::swap(&mut sim.assembler, &mut sim.second_assembler);
        held?;
        sim.state.v.copy_from_slice(&self.v);
        Ok(())
    }

    /// min ‖Δq‖ under N Δq = −gap for the chosen contacts and limits; true if something was moved.
    fn close_gaps(&mut self, sim: &mut Simulation) -> Result<bool, InputError> {
        let limits = self.curved_limits(sim);
        let Simulation { world, work, state, scratch, collision, assembler, loops, projector, sizes, .. } = sim;
        let contacts = collision.contacts();
        let drifts = |&(c, _): &(usize, usize)| contacts[c].gap.abs() > DRIFT * smaller(sizes, &contacts[c]);
        if !self.chosen.iter().any(drifts) && limits.iter().all(|limit| limit.gap.abs() <= LIMIT_DRIFT) {
            return Ok(false);
        }
        assembler.restart(&scratch.zeros, &scratch.zeros, 1.0)?;
        for &(c, _) in &self.chosen {
            assembler.hold_contact(world, work, &contacts[c], [Some(-contacts[c].gap), None, None])?;
        }
        for limit in &limits {
            assembler.hold_limit(&world.model, limit, -limit.gap)?;
        }
        assembler.add_loops(loops, |value| -value)?;
        let outcome = projector.solve(&assembler.problem)?;
        let Some(solution) = outcome.solved() else { return Ok(false) };
        world.model.integrate(&mut state.q, &solution.motion, 1.0);
        sim.update_dynamics();
        sim.assembler.start(&sim.scratch.mass, &sim.state.v, &sim.scratch.zeros, sim.settings.dt)?;
        Ok(true)
    }
}
