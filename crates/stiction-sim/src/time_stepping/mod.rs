//! Time stepping: symplectic Euler with any velocity-level model.
//!
//! A step takes (q, v) to v⁺ = v + M̂⁻¹ (Δt f + Jᵀp), q⁺ = q ⊕ Δt v⁺, where the contact model finds p under `N v⁺ ≥ −max(gap, 0)/Δt`: a body may
//! approach a surface but not enter it, and a contact never adds energy. Where friction is bounded by the normal force, a contact that closes within
//! the step has friction too; under no-slip and viscous friction only one that touches or has just held, or bodies that fly past a wall would stick
//! to it. Contacts that close within the step and have restitution rebound within it (see `restitution.rs`). Springs, damping and servos are implicit: M̂ = M + Δt D + Δt² K. Overlap
//! that the curvature of motion leaves is removed by a projection of positions, min ‖Δq‖ under N Δq ≥ −gap, never by forces: at the start of the
//! next step, which looks for contacts anyway. Loops are closed, and ball joints put back
//! within their limits, in the same way at the end of each step. What sticks to a link of an arm then goes along the arc that the link took (see `carried.rs`).

mod carried;
mod contacts;
mod faces;
mod parallel_normals;
mod solve;

use std::mem;

use stiction_contact::ContactOutcome;
use stiction_lcp::InputError;

use crate::control::{Commands, View};
use crate::energy::EnergyBalance;
use crate::motors::{Bounded, add_outer};
use crate::simulation::{Simulation, StepFailure, StepReport};
pub(crate) use carried::Carried;
pub(crate) use contacts::{TOUCHING_GAP, separation_speed, smaller};
pub(crate) use faces::Faces;
use faces::relative_speed;
pub(crate) use solve::describe;

/// Bodies may be hit within the step: contacts are looked for this fraction of the way of the fastest body that may hit them farther than bodies
/// move by themselves.
pub(crate) const HIT: f64 = 0.5;

impl Simulation {
    /// One step of symplectic Euler.
    pub(crate) fn time_step(&mut self) -> Result<StepReport, StepFailure> {
        let clock = self.clock();
        self.latch_closed();
        // What rests has its inertia and kinematics from the last step.
        let at_rest = self.sleep.is_at_rest() && self.kinematics_at_state;
        if !at_rest {
            self.update_inertia();
        }
        self.command(self.state.t);
        let asleep = if at_rest { self.sleep_on() } else { None };
        if at_rest && asleep.is_none() {
            self.update_inertia();
        }
        self.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        if let Some(report) = asleep {
            return Ok(report);
        }
        let report = self.held_step()?;
        self.note_rest(&report);
        Ok(report)
    }

    /// The step with the commands there are, at inertia that is up to date.
    pub(crate) fn held_step(&mut self) -> Result<StepReport, StepFailure> {
        let clock = self.clock();
        let Self { work, world, state, scratch, settings, .. } = self;
        scratch.passive.resize(world.model.nv(), 0.0);
        let (at, force) = ((&state.q[..], &state.v[..]), &mut scratch.passive);
        work.passive_forces_over_step(&world.model, at, &scratch.mass, settings.dt, force);
        self.add_ambient();
        self.scratch.projected = 0.0;
        let before = match self.scratch.energy.take() {
            Some(energy) => energy,
            None => self.present_energy(),
        };
        self.update_forces().map_err(|e| self.fail(e.to_string(), false))?;
        self.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        let [penetration, overlap_left] = self.separate().map_err(|e| self.fail(e.to_string(), false))?;
        self.add_adhesion().map_err(|e| self.fail(e.to_string(), false))?;
        let Self { work, world, scratch, collision, model, settings, sizes, .. } = self;
        let friction = model.kind().has_coulomb_friction();
        let speed = |at: &_, size| relative_speed(world, work, at, size, settings.dt);
        let links = (world.model.links().len(), |geom: usize| world.geoms[geom].link);
        scratch.faces.load(collision.contacts(), settings.dt, friction, links, |at| smaller(sizes, at), speed);
        scratch.spread.clear();
        let mut report = self.solve_motors()?;
        (report.penetration, report.overlap_left) = (penetration, overlap_left);
        report.gap_spread = self.gap_spread();
        let clock = self.clock();
        self.advance(&mut report.energy);
        let after = self.finish_step()?;
        report.energy.kinetic_before = before.0;
        report.energy.kinetic_after = after.0;
        report.energy.potential_change = after.1 - before.1;
        report.energy.projection = self.scratch.projected;
        self.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        Ok(report)
    }

    /// Closes the loops after a step, moves what is carried, and checks that state and energy are finite; returns the
    /// energy.
    fn finish_step(&mut self) -> Result<(f64, f64), StepFailure> {
        self.work.update_positions(&self.world.model, &self.state.q);
        self.close_loops().map_err(|e| self.fail(e.to_string(), false))?;
        let Self { work, world, state, scratch, settings, .. } = self;
        if scratch.carried.finish(world, work, &mut state.q, settings.dt) {
            work.update_positions(&world.model, &state.q);
        }
        self.work.update_velocities(&self.world.model, &self.state.v);
        let energy = self.present_energy();
        self.check_finite(energy)?;
        self.kinematics_at_state = true;
        self.scratch.energy = Some(energy);
        Ok(energy)
    }

    /// Kinematics, inertia, gravity and velocity products at the present state.
    pub(crate) fn update_dynamics(&mut self) {
        self.kinematics_at_state = false;
        self.update_inertia();
        let Self { work, world, scratch, .. } = self;
        scratch.passive.resize(world.model.nv(), 0.0);
        work.passive_forces(&world.model, &mut scratch.passive);
        self.add_ambient();
    }

    /// Adds what acts by itself besides gravity to the passive forces.
    fn add_ambient(&mut self) {
        let Self { work, world, state, scratch, .. } = self;
        scratch.ambient.clear();
        if world.ambient.is_empty() {
            return;
        }
        scratch.ambient.resize(world.model.nv(), 0.0);
        world.ambient.add_forces(&world.model, work, &state.q, &mut scratch.ambient);
        scratch.passive.iter_mut().zip(&scratch.ambient).for_each(|(force, ambient)| *force += ambient);
    }

    /// Kinematics and inertia at the present state; after a step the kinematics are there already.
    fn update_inertia(&mut self) {
        let Self { work, world, state, scratch, loops, closing, drives, .. } = self;
        let model = &world.model;
        if !mem::take(&mut self.kinematics_at_state) {
            work.update_positions(model, &state.q);
            work.update_velocities(model, &state.v);
            scratch.energy = None;
        }
        loops.update(model, work, &state.q);
        closing.update(world, work, &state.q);
        work.mass_blocks(model, &mut scratch.mass);
        drives.measure_tendons(world.driven(), work, &state.q);
        for (tendon, (_, row)) in world.tendons.iter().zip(&drives.tendons).filter(|(t, _)| t.armature > 0.0) {
            row.blocks().for_each(|(tree, values)| add_outer(&mut scratch.mass[tree], values, tendon.armature));
        }
        if self.couples_velocities {
            scratch.bodies.resize_with(scratch.mass.len(), Default::default);
            scratch.bodies.iter_mut().zip(&scratch.mass).for_each(|(to, from)| to.copy_from(from));
            scratch.mass_is_of_bodies = true;
        }
        scratch.diagonal.clear();
        scratch.diagonal.extend(scratch.mass.iter().flat_map(|block| (0..block.rows()).map(|d| block[(d, d)])));
    }

    /// What the controllers ask of a step from the state it is in, as if it were time `t` (s): for
    /// those who drive another engine with them. Controllers that remember take it for a step.
    pub fn commands_at(&mut self, t: f64) -> &Commands {
        let Self { work, world, state, .. } = self;
        work.update_positions(&world.model, &state.q);
        work.update_velocities(&world.model, &state.v);
        self.command(t);
        &self.commands
    }

    /// Asks the controllers at time `t` (s).
    pub(crate) fn command(&mut self, t: f64) {
        let Self { work, world, state, controllers, commands, settings, .. } = self;
        commands.reset(world);
        let view = View { model: &world.model, work, q: &state.q, v: &state.v, t, dt: settings.dt };
        for controller in controllers {
            controller.command(&view, commands);
        }
        let Self { work, world, state, commands, settings, drives, ties, .. } = self;
        let (at, input) = ((&state.q[..], &state.v[..]), (&commands.control[..], &state.activation[..]));
        drives.update_springs(world.driven(), &state.v);
        ties.update((&world.model, &world.ties), work, &state.v, settings.dt, &mut drives.ties);
        drives.update_motors(world.driven(), work, at, input, settings.dt);
    }

    /// Forces and inertia of the step, and the velocities without contact.
    pub(crate) fn update_forces(&mut self) -> Result<(), InputError> {
        self.add_motors(Bounded::AsSaturated);
        let Self { world, state, scratch, settings, assembler, work, .. } = self;
        let dt = settings.dt;
        assembler.start(&scratch.mass, &state.v, &scratch.force, dt)?;
        scratch.v_free.clear();
        scratch.v_free.extend(scratch.force.iter().map(|f| dt * f));
        assembler.problem.mass().solve(&mut scratch.v_free);
        scratch.v_free.iter_mut().zip(&state.v).for_each(|(x, v)| *x += v);
        work.link_velocities(&world.model, &scratch.v_free, &mut scratch.motion);
        Ok(())
    }

    /// Takes the solution over: velocities, configuration, time, and what the next step remembers.
    fn advance(&mut self, energy: &mut EnergyBalance) {
        if let Some(solution) = self.last.as_ref().and_then(ContactOutcome::answer) {
            energy.driven = solution.certificate.driven_work;
            let mut after = mem::take(&mut self.scratch.v_after);
            after.clone_from(&solution.motion);
            (energy.actuators, energy.joints) = self.joint_work(&after);
            self.scratch.v_after = after;
        }
        self.advance_activations();
        let Self { world, work, state, memory, before, assembler, settings, last, scratch, model, .. } = self;
        let Some(solution) = last.as_mut().and_then(ContactOutcome::answer_mut) else { return };
        memory.learn(before, assembler, &mut solution.warm_start);
        let is_coulomb = model.kind().has_coulomb_friction();
        let has_friction = |i: usize| !is_coulomb || assembler.problem.contacts().mu[i] > 0.0;
        scratch.carried.begin(world, work, memory, &solution.motion, has_friction);
        state.v.copy_from_slice(&solution.motion);
        world.model.integrate(&mut state.q, &state.v, settings.dt);
        state.advance_time(state.t, settings.dt);
    }
}
