//! Which motors are at their limits in a step.
//!
//! A servo acts with the effort f = a − b v⁺, within ± its limit. Where it is not at the limit it is part of the inertia, M + Δt b; where it is, a constant force.
//! Which motors are at their limits is known from the step before, and mostly right. If it is not, those on the wrong side change, and if that
//! does not settle within a few rounds the motors become rows: a servo is a row of bounded force between the joint and a flywheel of inertia Δt b that turns with a/b. The row holds both together,
//! v⁺ = a/b − f/b, unless the force that takes is beyond the limit. All motors and contacts are then solved for at once; the answer tells which motors are at their limits, and
//! is where the solve with these starts from: with friction there may be others.

use std::mem;

use stiction_contact::{ContactOutcome, ContactProblem, Mass};
use stiction_lcp::{InputError, Matrix};

use crate::assemble::Assembler;
use crate::simulation::{Simulation, StepFailure, StepReport};
use crate::time_stepping::map_start;

/// How often motors on the wrong side of their limits change before all are solved for at once, and how often after it.
const ROUNDS: usize = 3;

/// An effort beyond its limit by this part is rounding.
const AT_LIMIT: f64 = 1e-9;

impl Simulation {
    /// Solves the contacts of the step together with the motors.
    pub(crate) fn solve_motors(&mut self) -> Result<StepReport, StepFailure> {
        self.scratch.joint_start = None;
        let mut report = self.solve_contacts()?;
        for round in 1..=2 * ROUNDS {
            stiction_lcp::interrupt::check();
            if !self.update_saturation() {
                return Ok(report);
            }
            if round == ROUNDS {
                self.find_saturation().map_err(|e| self.fail(e.to_string(), false))?;
            }
            self.update_forces().map_err(|e| self.fail(e.to_string(), false))?;
            report = self.solve_contacts()?;
        }
        Err(self.fail("which motors are at their limits does not settle", true))
    }

    /// Compares every motor's effort with its limit; true if the set of those at their limits changed.
    fn update_saturation(&mut self) -> bool {
        let Self { world, state, commands, memory, settings, last, .. } = self;
        let Some(solution) = last.as_ref().and_then(ContactOutcome::answer) else { return false };
        let mut changed = false;
        for link in world.model.links() {
            let q = if link.v.len() == 1 { state.q[link.q.start] } else { 0.0 };
            for k in link.v.clone().filter(|&k| commands.limit[k].is_finite()) {
                let (v, limit) = (solution.motion[k], commands.limit[k]);
                let effort =
                    commands.effort[k] + commands.pull[k] - commands.kp[k] * (q + settings.dt * v) - commands.kd[k] * v;
                let wanted = match memory.saturated[k] {
                    0 if effort.abs() > limit * (1.0 + AT_LIMIT) => effort.signum() as i8,
                    sign if sign != 0 && effort * f64::from(sign) < limit * (1.0 - AT_LIMIT) => 0,
                    sign => sign,
                };
                changed |= wanted != memory.saturated[k];
                memory.saturated[k] = wanted;
            }
        }
        changed
    }

    /// Solves for all motors and contacts at once, and takes over which motors are at their limits. Leaves forces and inertia without the motors.
    fn find_saturation(&mut self) -> Result<(), InputError> {
        let dt = self.settings.dt;
        self.add_motors(|commands, memory, k| {
            if commands.limit[k].is_finite() && commands.kd[k] + dt * commands.kp[k] > 0.0 {
                return (0.0, 0.0, 0.0);
            }
            let effort = commands.pull[k] + commands.effort[k];
            match memory.saturated[k] {
                0 => (commands.kp[k], commands.kd[k], effort),
                sign => (0.0, 0.0, f64::from(sign) * commands.limit[k]),
            }
        });
        let Self { world, state, scratch, commands, .. } = &mut *self;
        let (mut blocks, mut v, mut force) = (scratch.mass.clone(), state.v.clone(), scratch.force.clone());
        let mut servos = vec![];
        for link in world.model.links() {
            let q = if link.v.len() == 1 { state.q[link.q.start] } else { 0.0 };
            for k in link.v.clone().filter(|&k| commands.limit[k].is_finite()) {
                let slope = commands.kd[k] + dt * commands.kp[k];
                if slope > 0.0 {
                    let mut inertia = Matrix::identity(1);
                    inertia[(0, 0)] = dt * slope;
                    blocks.push(inertia);
                    v.push((commands.effort[k] + commands.pull[k] - commands.kp[k] * q) / slope);
                    force.push(0.0);
                    servos.push(k);
                }
            }
        }
        let first = world.model.trees().len();
        let joined = Assembler::on(ContactProblem::new(Mass::new(blocks)?, v, force, dt)?);
        let own = mem::replace(&mut self.assembler, joined);
        let efforts = self.solve_servos(&servos, first);
        self.assembler = own;
        for (k, effort) in servos.iter().zip(efforts?) {
            let limit = self.commands.limit[*k];
            self.memory.saturated[*k] =
                if effort.abs() >= limit * (1.0 - AT_LIMIT) { effort.signum() as i8 } else { 0 };
        }
        Ok(())
    }

    /// The efforts of servos on flywheels, the blocks from `first` on, in the problem that the assembler has begun (N or N m).
    fn solve_servos(&mut self, servos: &[usize], first: usize) -> Result<Vec<f64>, InputError> {
        self.add_rows()?;
        let Self { assembler, memory, scratch, model, world, commands, .. } = self;
        for (i, &k) in servos.iter().enumerate() {
            assembler.add_servo(&world.model, k, commands.limit[k], first + i)?;
        }
        map_start(&memory.start, &memory.keys, &assembler.frames, &mut scratch.start);
        let own = assembler.problem.bounded().rows.len() - servos.len();
        scratch.start.forces.bounded.resize(own + servos.len(), 0.0);
        let mut outcome = model.solve_from(&assembler.problem, Some(&scratch.start))?;
        // The best answer will do: the step is solved again with the set that it indicates.
        let Some(answer) = outcome.answer_mut() else { return Ok(vec![]) };
        let efforts = answer.forces.bounded[own..].iter().map(|p| p / assembler.problem.dt()).collect();
        let mut start = mem::take(&mut answer.warm_start);
        start.bases.clear();
        start.forces.bounded.truncate(own);
        scratch.joint_start = Some(start);
        model.recycle(outcome);
        Ok(efforts)
    }
}
