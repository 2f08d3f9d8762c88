//! What keeps contacts at rest where they are: gaps and speeds that the integrator leaves are projected out.

use stiction_body::ContactPoint;
use stiction_contact::ContactModel;
use stiction_contact::problem::TOUCHING;
use stiction_lcp::InputError;

use crate::assemble::{ContactKey, surface_speed};
use crate::event_driven::Events;
use crate::event_driven::impact::slip_velocity;
use crate::projection::{Enough, Moved, PROJECTIONS};
use crate::simulation::Simulation;
use crate::time_stepping::{separation_speed, smaller};

/// A gap of a contact at rest above this fraction of the geom's size is closed: well within what touches.
const DRIFT: f64 = 0.1 * TOUCHING;

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

    /// The present velocities without what the chosen contacts must not have: written to `v`. The inertia must be in the assembler.
    pub(super) fn hold_velocities(&mut self, sim: &mut Simulation) -> Result<(), InputError> {
        self.v.clone_from(&sim.state.v);
        let drifts = |&(c, r): &(usize, usize)| {
            let at = &sim.collision.contacts()[c];
            let none = HOLD * self.no_speed(sim, at);
            let slips = || self.resting[r].stick && slip_velocity(sim, at).length() > none;
            separation_speed(&sim.world, &sim.work, at).abs() > none || slips()
        };
        if self.chosen.iter().any(drifts) || !sim.loops.is_empty() {
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

    /// Puts contacts at rest back to a gap and a speed of zero, at the end of a piece.
    pub(super) fn settle(&mut self, sim: &mut Simulation, margin: f64) -> Result<(), InputError> {
        sim.update_dynamics();
        if self.resting.is_empty() && sim.loops.is_empty() {
            return Ok(());
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

    /// min ‖Δq‖ under N Δq = −gap for the chosen contacts; true if something was moved.
    fn close_gaps(&mut self, sim: &mut Simulation) -> Result<bool, InputError> {
        let Simulation { world, work, state, scratch, collision, assembler, loops, projector, sizes, .. } = sim;
        let contacts = collision.contacts();
        let drifts = |&(c, _): &(usize, usize)| contacts[c].gap.abs() > DRIFT * smaller(sizes, &contacts[c]);
        if !self.chosen.iter().any(drifts) {
            return Ok(false);
        }
        assembler.restart(&scratch.zeros, &scratch.zeros, 1.0)?;
        for &(c, _) in &self.chosen {
            assembler.hold_contact(world, work, &contacts[c], [Some(-contacts[c].gap), None, None])?;
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
