//! Forces and inertia of motors in a step: servos on single velocities, and actuators along any row.
//!
//! Every motor's force falls linearly with the velocity after the step and acts implicitly, `M̂ = M + Δt b rᵀr` with its row r, unless it
//! is at a limit; then it is a constant force. A row over several trees would couple their inertias: the blocks of each tree, times their number, bound it
//! from above, so that the step stays stable, and consistent to first order.

use stiction_lcp::Matrix;

use crate::actuation::{Drive, clamp};
use crate::simulation::Simulation;

/// What becomes of motors that have limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounded {
    /// They are at their limits, or not, as the memory says.
    AsSaturated,
    /// They are left out where they would act implicitly: rows stand for them.
    LeftOut,
}

/// Adds `scale` times the product of a row with itself to a matrix.
pub(crate) fn add_outer(matrix: &mut Matrix, row: &[f64], scale: f64) {
    for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
        let factor = scale * x;
        matrix.col_mut(j).iter_mut().zip(row).for_each(|(entry, y)| *entry += factor * y);
    }
}

impl Simulation {
    /// Forces and inertia of the step, with springs, damping and motors.
    pub(crate) fn add_motors(&mut self, bounded: Bounded) {
        let Self { world, state, scratch, commands, memory, settings, .. } = self;
        let (dt, left_out) = (settings.dt, bounded == Bounded::LeftOut);
        scratch.force.clear();
        scratch.force.extend(scratch.passive.iter().zip(&commands.force).map(|(a, b)| a + b));
        if self.couples_velocities && !std::mem::take(&mut scratch.mass_is_of_bodies) {
            scratch.mass.iter_mut().zip(&scratch.bodies).for_each(|(to, from)| to.copy_from(from));
        }
        for link in world.model.joints() {
            let p = &link.spec.properties;
            let first = world.model.trees()[link.tree].v.start;
            let (q, spring) = if link.v.len() == 1 { (state.q[link.q.start], p.stiffness) } else { (0.0, 0.0) };
            for k in link.v.clone() {
                let slope = commands.kd[k] + dt * commands.kp[k];
                let (kp, kd, pull) = match memory.saturated[k] {
                    _ if left_out && commands.is_limited(k) && slope > 0.0 => (0.0, 0.0, 0.0),
                    0 => (commands.kp[k], commands.kd[k], commands.pull[k] + commands.effort[k]),
                    sign => (0.0, 0.0, end(commands.limit[k], sign)),
                };
                let (kp, kd, pull) = (spring + kp, p.damping + kd, spring * p.rest + pull);
                let implicit = kd + dt * kp;
                scratch.force[k] += pull - kp * q - implicit * state.v[k];
                scratch.mass[link.tree][(k - first, k - first)] = scratch.diagonal[k] + dt * implicit;
            }
        }
        self.add_drives(left_out);
    }

    /// The part of springs and actuators that act along rows.
    fn add_drives(&mut self, left_out: bool) {
        let Self { world, scratch, drives, memory, settings, .. } = self;
        let (dt, nv, model) = (settings.dt, world.model.nv(), &world.model);
        let acts = |spring: &&Drive| spring.force != 0.0 || spring.damping != 0.0;
        let springs = drives.springs.iter().filter(acts).chain(&drives.ties).map(|spring| (spring, 0, false));
        let motors = drives.motors.iter().zip(&memory.saturated[nv..]).map(|(motor, sign)| (motor, *sign, true));
        for (drive, sign, is_motor) in springs.chain(motors) {
            let slope = drive.slope(dt);
            let (force, slope) = match sign {
                _ if left_out && drive.is_bounded() && slope > 0.0 => continue,
                0 => (drive.force - dt * drive.stiffness * drive.velocity, slope),
                sign => (end(drive.range, sign), 0.0),
            };
            if let Some((k, x)) = drive.row.only() {
                if !(is_motor && memory.saturated[k] != 0) {
                    let tree = model.tree_of(k);
                    let at = k - model.trees()[tree].v.start;
                    scratch.force[k] += force * x;
                    scratch.mass[tree][(at, at)] += dt * slope.max(0.0) * x * x;
                }
                continue;
            }
            let trees = drive.row.trees() as f64;
            for (tree, values) in drive.row.blocks() {
                let first = model.trees()[tree].v.start;
                let mut row = values;
                if is_motor {
                    // Where all motors of a joint together are at a limit, that limit is the force.
                    let part = |(i, x): (usize, &f64)| if memory.saturated[first + i] != 0 { 0.0 } else { *x };
                    scratch.row.clear();
                    scratch.row.extend(values.iter().enumerate().map(part));
                    row = &scratch.row;
                }
                let out = &mut scratch.force[model.trees()[tree].v.clone()];
                out.iter_mut().zip(row).for_each(|(out, x)| *out += force * x);
                if slope > 0.0 {
                    add_outer(&mut scratch.mass[tree], row, dt * slope * trees);
                }
            }
        }
    }

    /// Efforts of servos on single velocities `dt` (s) from here, with the velocities `v`, nv (N or N m), written to `out`; not yet within
    /// their limits.
    fn servo_efforts(&self, v: &[f64], dt: f64, out: &mut Vec<f64>) {
        let Self { world, state, commands: c, .. } = self;
        out.clear();
        for link in world.model.joints() {
            let q = if link.v.len() == 1 { state.q[link.q.start] } else { 0.0 };
            out.extend(link.v.clone().map(|k| c.effort[k] + c.pull[k] - c.kp[k] * (q + dt * v[k]) - c.kd[k] * v[k]));
        }
    }

    /// Forces of all motors under the velocities `after` the step, nv (N or N m), written to `out`: those of actuators within their own
    /// limits, not yet within those of the joints. `efforts` are those of the actuators before any limit.
    pub(crate) fn motor_forces(&self, after: &[f64], efforts: &mut Vec<f64>, out: &mut Vec<f64>) {
        self.servo_efforts(after, self.settings.dt, out);
        let Self { world, memory, settings, drives, .. } = self;
        let (dt, nv) = (settings.dt, world.model.nv());
        efforts.clear();
        for (drive, sign) in drives.motors.iter().zip(&memory.saturated[nv..]) {
            let effort = drive.force_after(drive.row.dot(&world.model, after), dt);
            let force = if *sign == 0 { effort } else { end(drive.range, *sign) };
            drive.row.add_to(&world.model, clamp(force, drive.range), out);
            efforts.push(effort);
        }
    }

    /// Forces of all motors at the present state, within their limits, nv (N or N m), written to `out`; commands and actuators must be up to date.
    pub(crate) fn present_motor_forces(&self, out: &mut Vec<f64>) {
        self.servo_efforts(&self.state.v, 0.0, out);
        let Self { world, commands, drives, .. } = self;
        drives.motors.iter().for_each(|m| m.row.add_to(&world.model, m.present_force(), out));
        out.iter_mut().zip(&commands.limit).for_each(|(force, limit)| *force = clamp(*force, *limit));
    }

    /// Activations after the step.
    pub(crate) fn advance_activations(&mut self) {
        let Self { world, state, commands, settings, .. } = self;
        for (i, actuator) in world.actuators.iter().enumerate() {
            state.activation[i] = actuator.next_activation(commands.control[i], state.activation[i], settings.dt);
        }
    }
}

/// The end of a range on the side of a sign.
pub(crate) fn end(range: [f64; 2], sign: i8) -> f64 {
    if sign < 0 { range[0] } else { range[1] }
}
