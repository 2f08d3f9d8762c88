//! Smooth motion: accelerations under the model, and their integration.

use stiction_body::math::Vec3;
use stiction_body::{ContactPoint, JointKind, JointLimit};
use stiction_contact::{ContactOutcome, ContactSolution, Mode};
use stiction_lcp::InputError;

use crate::assemble::key_of;
use crate::event_driven::impact::slip_velocity;
use crate::event_driven::locate::AIM;
use crate::event_driven::{Events, Resting, SLIP_END};
use crate::rolling::contact_rates;
use crate::simulation::{Integrator, Simulation};
use crate::time_stepping::{describe, smaller};

/// Stages of the classical method: where in the piece, and their weights.
const AT: [f64; 4] = [0.0, 0.5, 0.5, 1.0];
const WEIGHT: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

impl Events {
    /// The forces of controllers and actuators, within the limits of the motors: explicit, from the present state.
    pub(super) fn hold_commands(&mut self, sim: &mut Simulation) {
        sim.present_motor_forces(&mut self.held);
        self.held.iter_mut().zip(&sim.commands.force).for_each(|(held, force)| *held += force);
    }

    /// All forces but those of contacts and joints that stand, at dynamics that are up to date: written to the scratch.
    fn update_forces(&mut self, sim: &mut Simulation) {
        let Simulation { world, state, scratch, drives, .. } = sim;
        scratch.force.clear();
        scratch.force.extend(scratch.passive.iter().zip(&self.held).map(|(a, b)| a + b));
        drives.update_springs(world.driven(), &state.v);
        drives.springs.iter().for_each(|spring| spring.row.add_to(&world.model, spring.force, &mut scratch.force));
        for link in world.model.joints() {
            let p = &link.spec.properties;
            for k in link.v.clone() {
                if link.v.len() == 1 {
                    scratch.force[k] += p.stiffness * (p.rest - state.q[link.q.start]);
                }
                scratch.force[k] -= p.damping * state.v[k];
                if let Some(sign) = self.dry.get(k).filter(|sign| **sign != 0.0) {
                    scratch.force[k] -= sign * p.friction;
                }
            }
        }
    }

    /// Accelerations without contact at the present state, the measure of what is at rest.
    pub(super) fn free_motion(&mut self, sim: &mut Simulation) -> Result<(), InputError> {
        self.update_forces(sim);
        sim.assembler.start(&sim.scratch.mass, &sim.state.v, &sim.scratch.force, sim.settings.dt)?;
        self.free.clone_from(&sim.scratch.force);
        sim.assembler.problem.mass().solve(&mut self.free);
        sim.work.link_velocities(&sim.world.model, &self.free, &mut self.motion);
        self.free_linear = self.motion.iter().map(|m| m.linear.length()).fold(0.0, f64::max);
        Ok(())
    }

    /// Integrates from the start of the piece for `h` (s), to the state. False if the model has no accelerations at a stage.
    pub(super) fn integrate(&mut self, sim: &mut Simulation, t: f64, h: f64) -> Result<bool, InputError> {
        self.resting.clone_from(&self.resting_first);
        self.slip_left = f64::INFINITY;
        match sim.settings.integrator {
            Integrator::Rk4 => {
                for stage in 1..4 {
                    self.move_to_stage(sim, stage, h);
                    if !self.accelerate(sim, stage, t + AT[stage] * h, h)? {
                        return Ok(false);
                    }
                }
                self.combine(sim, h, WEIGHT);
            }
            Integrator::SymplecticEuler => {
                let (q, v) = &self.base;
                sim.state.v.clone_from(v);
                sim.state.v.iter_mut().zip(&self.accelerations[0]).for_each(|(v, a)| *v += h * a);
                sim.state.q.clone_from(q);
                sim.world.model.integrate(&mut sim.state.q, &sim.state.v, h);
            }
        }
        Ok(true)
    }

    /// The first stage, which all integrations of a piece share. False if the model has no accelerations.
    pub(super) fn first_stage(&mut self, sim: &mut Simulation, t: f64, h: f64) -> Result<bool, InputError> {
        self.base.0.clone_from(&sim.state.q);
        self.base.1.clone_from(&sim.state.v);
        let found = self.accelerate(sim, 0, t, h)?;
        self.resting_first.clone_from(&self.resting);
        Ok(found)
    }

    /// Work of the contacts over a piece of `h` (s) (J).
    pub(super) fn work(&self, sim: &Simulation, h: f64) -> f64 {
        match sim.settings.integrator {
            Integrator::Rk4 => h * WEIGHT.iter().zip(self.powers).map(|(w, p)| w * p).sum::<f64>(),
            Integrator::SymplecticEuler => h * self.powers[0],
        }
    }

    /// The state of a later stage: `q = q₀ ⊕ c h kᵥ`, `v = v₀ + c h kₐ` with the rates of the stage before.
    fn move_to_stage(&mut self, sim: &mut Simulation, stage: usize, h: f64) {
        let step = AT[stage] * h;
        self.xi.clear();
        self.xi.extend(self.rates[stage - 1].iter().map(|k| step * k));
        self.place(sim);
        sim.state.v.clone_from(&self.base.1);
        sim.state.v.iter_mut().zip(&self.accelerations[stage - 1]).for_each(|(v, a)| *v += step * a);
    }

    /// Puts the configuration at `xi` from the start of the piece.
    pub(super) fn place(&self, sim: &mut Simulation) {
        sim.state.q.clone_from(&self.base.0);
        sim.world.model.integrate(&mut sim.state.q, &self.xi, 1.0);
    }

    fn combine(&mut self, sim: &mut Simulation, h: f64, weight: [f64; 4]) {
        let n = self.base.1.len();
        let sum = |k: &[Vec<f64>; 4], i: usize| (0..4).map(|s| weight[s] * k[s][i]).sum::<f64>();
        self.xi.clear();
        self.xi.extend((0..n).map(|i| h * sum(&self.rates, i)));
        self.place(sim);
        sim.state.v.clear();
        sim.state.v.extend((0..n).map(|i| self.base.1[i] + h * sum(&self.accelerations, i)));
    }

    /// Rates of a stage at the state: `xi` is how far the configuration is from the start of the piece. False if the model has no accelerations.
    fn accelerate(&mut self, sim: &mut Simulation, stage: usize, t: f64, h: f64) -> Result<bool, InputError> {
        if stage == 0 {
            self.xi.clear();
            self.xi.resize(sim.state.v.len(), 0.0);
        }
        let mut rate = std::mem::take(&mut self.rates[stage]);
        rate.clone_from(&sim.state.v);
        to_exponential(sim, &self.xi, &mut rate);
        self.rates[stage] = rate;
        let clock = sim.clock();
        sim.update_dynamics();
        if sim.settings.controllers_per_stage {
            sim.before.restore_controllers(&mut sim.controllers);
            sim.command(t);
            self.hold_commands(sim);
        }
        self.update_forces(sim);
        sim.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        self.powers[stage] = 0.0;
        sim.assembler.start(&sim.scratch.mass, &sim.state.v, &sim.scratch.force, sim.settings.dt)?;
        self.chosen.clear();
        if !self.resting.is_empty() {
            self.find_touching(sim, self.margin(sim, h));
            self.choose(sim.collision.contacts());
            self.see_slip(sim);
        }
        if !self.add_rows(sim)? {
            let a = &mut self.accelerations[stage];
            a.clone_from(&sim.scratch.force);
            sim.assembler.problem.mass().solve(a);
            return Ok(true);
        }
        self.solve(sim, stage)
    }

    /// How far gaps of contacts at rest may be off at a stage (m).
    pub(super) fn margin(&self, sim: &Simulation, h: f64) -> f64 {
        let fastest = |m: &stiction_body::LinkMotion| m.linear.length();
        h * (sim.work.velocity.iter().map(fastest).fold(0.0, f64::max) + h * self.free_linear)
    }

    /// Rows of contacts at rest, limits, loops and joints. False if there are none.
    pub(super) fn add_rows(&mut self, sim: &mut Simulation) -> Result<bool, InputError> {
        let joints = sim.world.model.links().iter().any(|l| l.spec.properties.friction > 0.0)
            || sim.commands.prescribed.iter().any(Option::is_some);
        if self.chosen.is_empty() && self.limits.is_empty() && sim.loops.is_empty() && !joints {
            return Ok(false);
        }
        let clock = sim.clock();
        self.hold_velocities(sim)?;
        let Simulation { world, work, scratch, collision, assembler, settings, commands, sizes, loops, state, .. } =
            sim;
        assembler.restart(&self.v, &scratch.force, settings.dt)?;
        for &(c, _) in &self.chosen {
            let at = &collision.contacts()[c];
            assembler.add_contact(world, work, at, smaller(sizes, at), |frame, contact| {
                contact.gap = 0.0;
                contact.rate = contact_rates(world, work, at, frame.tangents[0], frame.tangents[1]);
            })?;
        }
        if !self.limits.is_empty() {
            let reached = |limit: &JointLimit| self.limits.binary_search(&key_of(limit)).is_ok();
            for limit in world.model.limits(&state.q).filter(reached) {
                assembler.add_limit(&world.model, &limit, (0.0, limit.rate(&state.v)), 0.0)?;
            }
        }
        loops.update_rates(&world.model, work);
        assembler.add_loops(loops, |_| 0.0)?;
        for link in world.model.joints() {
            for k in link.v.clone() {
                match commands.prescribed[k] {
                    Some(target) if commands.is_limited(k) => {
                        let wanted = (target - state.v[k]) / settings.dt;
                        assembler.add_joint_motor(&world.model, k, commands.limit[k], wanted)?;
                    }
                    Some(_) => assembler.add_joint_target(&world.model, k, 0.0)?,
                    None => {}
                }
                let dry = link.spec.properties.friction;
                if dry > 0.0 && self.dry[k] == 0.0 {
                    assembler.add_joint_bounded(&world.model, k, [-dry, dry], 0.0)?;
                }
            }
        }
        sim.phases.assembly += clock.map_or_else(Default::default, |c| c.elapsed());
        Ok(true)
    }

    /// Accelerations of the stage by the model, from the last forces. False if it has none.
    fn solve(&mut self, sim: &mut Simulation, stage: usize) -> Result<bool, InputError> {
        let clock = sim.clock();
        let start = sim.memory.start_of(&sim.assembler, &mut sim.scratch.start);
        let mut outcome = self.model.solve_from(&sim.assembler.problem, Some(start))?;
        let ContactOutcome::Solved(solution) = &mut outcome else {
            self.why = describe(&outcome);
            return Ok(false);
        };
        self.accelerations[stage].clone_from(&solution.motion);
        self.see_modes(solution);
        self.powers[stage] = self.power(sim, solution);
        sim.memory.learn(&mut sim.before, &sim.assembler, &mut solution.warm_start);
        sim.last = Some(outcome);
        sim.note_solve(clock);
        Ok(true)
    }

    /// Friction turns around where slip does: such a stage says nothing of the motion before it.
    fn see_slip(&mut self, sim: &Simulation) {
        for &(c, r) in &self.chosen {
            let (at, resting) = (&sim.collision.contacts()[c], &self.resting[r]);
            if self.slides(sim, at, resting) {
                self.slip_left = self.slip_left.min(self.slip_left_of(sim, at, resting));
            }
        }
    }

    /// True if a contact at rest along its normal slides over the piece, against dry friction.
    pub(super) fn slides(&self, sim: &Simulation, at: &ContactPoint, resting: &Resting) -> bool {
        resting.dry && !resting.open && !resting.stick && resting.slip.length() > SLIP_END * self.no_speed(sim, at)
    }

    /// How much of its slip a contact has left before it ends: in parts of that at the start of the piece, and of a speed of which
    /// [`AIM`] is none. Where slip is small to begin with, friction is not known to a small part of it.
    pub(super) fn slip_left_of(&self, sim: &Simulation, at: &ContactPoint, resting: &Resting) -> f64 {
        let (start, none) = (resting.slip.length(), self.no_speed(sim, at));
        (slip_velocity(sim, at).dot(resting.slip) / start - SLIP_END * none) / (start + none / AIM)
    }

    /// Contacts that open have no say in later stages, and those that begin to slip are not held.
    fn see_modes(&mut self, solution: &ContactSolution) {
        for (&(_, r), mode) in self.chosen.iter().zip(&solution.modes) {
            let resting = &mut self.resting[r];
            resting.open |= *mode == Mode::Open;
            resting.stick &= *mode == Mode::Stick;
        }
    }

    /// Power of the contacts (W): normal forces have none, for nothing moves along them; and what a stage's solution says of the step.
    fn power(&mut self, sim: &Simulation, solution: &ContactSolution) -> f64 {
        let (problem, forces) = (&sim.assembler.problem, &solution.forces);
        let (mut power, mut fastest) = (0.0, 0.0f64);
        for i in 0..problem.contacts().len() {
            let ([s, t, spin], surface) = (problem.slip(i), problem.contacts().surface[i]);
            power += forces.tangent_s[i] * (s - surface[0]) + forces.tangent_t[i] * (t - surface[1]);
            power += forces.spin[i] * spin;
            if forces.normal[i] > 0.0 {
                fastest = fastest.max((s * s + t * t).sqrt());
            }
        }
        let stats = &solution.stats;
        let report = crate::simulation::StepReport {
            contacts: problem.contacts().len(),
            active: solution.active_contacts(),
            pivots: stats.pivots,
            factorizations: stats.factorizations,
            most_factorizations: stats.most_factorizations,
            guessed: stats.guessed == stats.islands,
            certificate: solution.certificate.largest(),
            place: solution.certificate.worst,
            slip: fastest,
            ..super::empty_report()
        };
        self.count(&report);
        power
    }
}

/// Turns velocities into rates of exponential coordinates at `xi`: `ξ̇ = ω − ½ ξ × ω + ¹⁄₁₂ ξ × (ξ × ω)` up to fourth order, for joints with a
/// quaternion.
///
/// Reference: \[MuntheKaas98\] (H. Munthe-Kaas: Runge–Kutta methods on Lie groups).
pub(super) fn to_exponential(sim: &Simulation, xi: &[f64], rate: &mut [f64]) {
    for link in sim.world.model.links() {
        let first = match link.spec.kind {
            JointKind::Spherical => link.v.start,
            JointKind::Free => link.v.start + 3,
            _ => continue,
        };
        let at = |x: &[f64]| Vec3::new(x[first], x[first + 1], x[first + 2]);
        let (x, omega) = (at(xi), at(rate));
        let once = x.cross(omega);
        let turned = omega - once * 0.5 + x.cross(once) / 12.0;
        rate[first..first + 3].copy_from_slice(&turned.to_array());
    }
}
