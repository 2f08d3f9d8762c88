//! Where a step's energy came from and where it went.

use crate::motors::end;
use crate::simulation::{Simulation, StepFailure};

/// The energy balance of a step (J). Work is that of the step's impulses along the mean of the
/// velocities before and after it.
///
/// What is dissipated is not listed: it is what is missing in
/// `kinetic_after − kinetic_before + potential_change = actuators + joints + driven + projection −
/// dissipated`, up to the error of the time integration, which is of first order in the step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EnergyBalance {
    /// Kinetic energy before the step.
    pub kinetic_before: f64,
    /// Kinetic energy after the step, in the new configuration.
    pub kinetic_after: f64,
    /// Change of the potential energy against gravity.
    pub potential_change: f64,
    /// Work of motors and of forces that controllers ask for.
    pub actuators: f64,
    /// Work of the joints' own springs and damping.
    pub joints: f64,
    /// Work of prescribed motion, bounces and moving surfaces.
    pub driven: f64,
    /// Energy that moving bodies apart, closing loops and putting joints back within their limits
    /// added.
    pub projection: f64,
}

impl Simulation {
    /// Kinetic and potential energy at the kinematics of the workspace, which must be those of the
    /// present state.
    pub(crate) fn present_energy(&self) -> (f64, f64) {
        self.work.energy(&self.world.model, &self.state.v)
    }

    /// Work of motors and commands, and of springs and damping of joints and tendons, over the step that led
    /// from `q` and `v` at its start to the velocities `after`. The motors' forces are those that were compared with their limits last.
    pub(crate) fn joint_work(&mut self, after: &[f64]) -> (f64, f64) {
        let mut applied = std::mem::take(&mut self.scratch.applied);
        applied.clear();
        let Self { world, state, commands, memory, drives, scratch, .. } = &*self;
        let dt = self.settings.dt;
        let (mut actuators, mut joints) = (0.0, 0.0);
        for link in world.model.joints() {
            let p = &link.spec.properties;
            let (q, stiffness) = if link.v.len() == 1 { (state.q[link.q.start], p.stiffness) } else { (0.0, 0.0) };
            for k in link.v.clone() {
                let v = after[k];
                let motor = match memory.saturated[k] {
                    0 => scratch.motors[k],
                    sign => end(commands.limit[k], sign),
                };
                applied.push(motor);
                let way = 0.5 * dt * (state.v[k] + v);
                actuators += way * (commands.force[k] + motor);
                joints += way * scratch.ambient.get(k).copied().unwrap_or(0.0);
                joints += way * (stiffness * (p.rest - q - dt * v) - p.damping * v);
            }
        }
        for spring in drives.springs.iter().chain(&drives.ties) {
            let velocity = spring.row.dot(&world.model, after);
            joints += 0.5 * dt * (spring.velocity + velocity) * spring.force_after(velocity, dt);
        }
        self.scratch.applied = applied;
        (actuators, joints)
    }

    /// The failure, if a number of the state or the energy is not finite.
    pub(crate) fn check_finite(&self, energy: (f64, f64)) -> Result<(), StepFailure> {
        let place = |what: &str, x: &[f64]| x.iter().position(|x| !x.is_finite()).map(|i| format!("{what}[{i}]"));
        if let Some(place) = place("q", &self.state.q).or_else(|| place("v", &self.state.v)) {
            let why = format!(
                "the state after the step is not finite ({place}): too fast for steps of {} s",
                self.settings.dt
            );
            return Err(self.fail(why, true));
        }
        if !(energy.0.is_finite() && energy.1.is_finite()) {
            let why = format!("the energy is not finite (kinetic {}, potential {} J)", energy.0, energy.1);
            return Err(self.fail(why, true));
        }
        Ok(())
    }
}
