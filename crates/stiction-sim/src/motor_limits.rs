//! Which motors are at their limits in a step.
//!
//! A servo acts with the effort f = a − b v⁺ along its row, within its limits. Where it is not at the limit it is part of the inertia, M + Δt b; where it is, a constant force.
//! Which motors are at their limits is known from the step before, and mostly right. If it is not, those on the wrong side change, and if that
//! does not settle within a few rounds the motors become rows: a servo is a row of bounded force between the joint and a flywheel of inertia Δt b that turns with a/b. The row holds both together,
//! v⁺ = a/b − f/b, unless the force that takes is beyond the limit. All motors and contacts are then solved for at once; the answer tells which motors are at their limits, and
//! is where the solve with these starts from: with friction there may be others.

use std::mem;

use stiction_contact::{ContactOutcome, ContactProblem, Mass};
use stiction_lcp::{InputError, Matrix};

use crate::actuation::TreeRow;
use crate::assemble::Assembler;
use crate::motors::Bounded;
use crate::simulation::{Simulation, StepFailure, StepReport};

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

    /// Compares every motor's effort with its limits; true if the set of those at their limits changed.
    fn update_saturation(&mut self) -> bool {
        let Some(solution) = self.last.as_ref().and_then(ContactOutcome::answer) else { return false };
        let (mut total, mut efforts) = (mem::take(&mut self.scratch.motors), mem::take(&mut self.scratch.efforts));
        self.motor_forces(&solution.motion, &mut efforts, &mut total);
        let Self { world, commands, memory, drives, .. } = self;
        let (mut changed, nv) = (false, world.model.nv());
        let (joints, motors) = memory.saturated.split_at_mut(nv);
        let mut compare = |sign: &mut i8, effort: f64, range: [f64; 2]| {
            let wanted = side(*sign, effort, range);
            changed |= wanted != *sign;
            *sign = wanted;
        };
        for k in (0..nv).filter(|&k| commands.is_limited(k)) {
            compare(&mut joints[k], total[k], commands.limit[k]);
        }
        for ((drive, sign), effort) in
            drives.motors.iter().zip(motors).zip(&efforts).filter(|((d, _), _)| d.is_bounded())
        {
            compare(sign, *effort, drive.range);
        }
        (self.scratch.motors, self.scratch.efforts) = (total, efforts);
        changed
    }

    /// Solves for all motors and contacts at once, and takes over which motors are at their limits. Leaves forces and inertia without the motors.
    fn find_saturation(&mut self) -> Result<(), InputError> {
        let dt = self.settings.dt;
        self.add_motors(Bounded::LeftOut);
        let Self { world, state, scratch, commands, drives, .. } = &mut *self;
        let nv = world.model.nv();
        let (mut blocks, mut v, mut force) = (scratch.mass.clone(), state.v.clone(), scratch.force.clone());
        let mut servos = vec![];
        for link in world.model.joints() {
            let q = if link.v.len() == 1 { state.q[link.q.start] } else { 0.0 };
            for k in link.v.clone().filter(|&k| commands.is_limited(k)) {
                let slope = commands.kd[k] + dt * commands.kp[k];
                if slope > 0.0 {
                    let mut row = TreeRow::default();
                    row.add(&world.model, k, 1.0);
                    let target = (commands.effort[k] + commands.pull[k] - commands.kp[k] * q) / slope;
                    servos.push((Servo { row, range: commands.limit[k], sign: k }, slope, target));
                }
            }
        }
        for (i, drive) in drives.motors.iter().enumerate().filter(|(_, drive)| drive.is_bounded()) {
            let slope = drive.slope(dt);
            if slope > 0.0 && !drive.row.is_zero() {
                let target = (drive.force + drive.damping * drive.velocity) / slope;
                let servo = Servo { row: drive.row.clone(), range: drive.range, sign: nv + i };
                servos.push((servo, slope, target));
            }
        }
        for (_, slope, target) in &servos {
            let mut inertia = Matrix::identity(1);
            inertia[(0, 0)] = dt * slope;
            blocks.push(inertia);
            v.push(*target);
            force.push(0.0);
        }
        let servos: Vec<Servo> = servos.into_iter().map(|(servo, ..)| servo).collect();
        let first = world.model.trees().len();
        let joined = Assembler::on(ContactProblem::new(Mass::new(blocks)?, v, force, dt)?);
        let own = mem::replace(&mut self.assembler, joined);
        let efforts = self.solve_servos(&servos, first);
        self.assembler = own;
        for (servo, effort) in servos.iter().zip(efforts?) {
            self.memory.saturated[servo.sign] = reached(effort, servo.range);
        }
        Ok(())
    }

    /// The efforts of servos on flywheels, the blocks from `first` on, in the problem that the assembler has begun (N or N m).
    fn solve_servos(&mut self, servos: &[Servo], first: usize) -> Result<Vec<f64>, InputError> {
        self.add_rows()?;
        let Self { assembler, memory, scratch, model, .. } = self;
        for (i, servo) in servos.iter().enumerate() {
            assembler.add_servo(&servo.row, servo.range, first + i)?;
        }
        let own = assembler.problem.bounded().rows.len() - servos.len();
        memory.map_start(assembler, &mut scratch.start);
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

/// A motor that stands as a row.
struct Servo {
    row: TreeRow,
    range: [f64; 2],
    /// Where its sign is in the memory.
    sign: usize,
}

/// What is rounding beside the end of a range.
fn rounding(range: [f64; 2]) -> [f64; 2] {
    range.map(|end| AT_LIMIT * end.abs())
}

/// On which side of its range a motor is, given on which it was taken to be and the effort it would then have.
fn side(sign: i8, effort: f64, range: [f64; 2]) -> i8 {
    let [low, high] = rounding(range);
    match sign {
        0 if effort > range[1] + high => 1,
        0 if effort < range[0] - low => -1,
        1 if effort < range[1] - high => 0,
        -1 if effort > range[0] + low => 0,
        sign => sign,
    }
}

/// The end of its range that an effort has reached.
fn reached(effort: f64, range: [f64; 2]) -> i8 {
    let [low, high] = rounding(range);
    i8::from(effort >= range[1] - high) - i8::from(effort <= range[0] + low)
}
