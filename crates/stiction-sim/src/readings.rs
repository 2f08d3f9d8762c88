//! What one can read of a simulation besides state and contacts: accelerations, joint forces,
//! momentum.
//!
//! Readings of the last step are those of its start, with the velocities that it led to; before the
//! first step, and after a state was loaded, they are zero.

use stiction_body::LinkMotion;
use stiction_body::math::Vec3;
use stiction_contact::{ContactOutcome, Level};
use stiction_lcp::InputError;

use crate::sensors::{LastStep, centre, centre_velocity, momentum};
use crate::simulation::{Simulation, SimulatorKind};

/// Forces along joints in the last step, nv each (N or N m).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointForces {
    /// Of limits of joints and tendons.
    pub limit: Vec<f64>,
    /// Of closed loops, and of joints that follow others.
    pub loops: Vec<f64>,
    /// Of prescribed motion: what it took to move as told.
    pub prescribed: Vec<f64>,
    /// Of dry friction of joints and tendons.
    pub friction: Vec<f64>,
}

/// Momentum of bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Momentum {
    /// Mass times velocity (kg m/s).
    pub linear: Vec3,
    /// About the common centre of mass (kg m²/s).
    pub angular: Vec3,
}

impl Simulation {
    /// What impulses of the last solution are multiplied by to be forces.
    pub(crate) fn force_scale(&self) -> f64 {
        match self.last.as_ref().and_then(ContactOutcome::answer).map(|s| s.level) {
            Some(Level::Acceleration) => 1.0,
            _ => 1.0 / self.settings.dt,
        }
    }

    /// Accelerations of the velocities in the last step, nv: their change over its length.
    pub fn acceleration(&self) -> Vec<f64> {
        let (before, after, dt) = (&self.before.v, &self.before.v_after, self.settings.dt);
        if after.is_empty() {
            return vec![0.0; self.world.model.nv()];
        }
        before.iter().zip(after).map(|(a, b)| (b - a) / dt).collect()
    }

    /// Accelerations of the links in the last step: of their origins (m/s²), and angular (rad/s²),
    /// world axes.
    pub fn link_accelerations(&self) -> Vec<LinkMotion> {
        if self.before.v_after.is_empty() {
            return vec![LinkMotion::ZERO; self.world.model.links().len()];
        }
        let gravity = self.world.model.gravity();
        let mut all = LastStep::new(self).acceleration;
        // They are kept against free fall.
        all.iter_mut().for_each(|a| a.linear += gravity);
        all
    }

    /// What the joint of each link carried in the last step: force (N), and moment about the link's
    /// origin (N m), on the link from its parent, world axes. Of a free body it is nothing but for
    /// the efforts and forces along its joint.
    pub fn joint_wrenches(&self) -> Vec<(Vec3, Vec3)> {
        if self.before.v_after.is_empty() {
            return vec![(Vec3::ZERO, Vec3::ZERO); self.world.model.links().len()];
        }
        LastStep::new(self).carried
    }

    /// Efforts that motors, servos and actuators gave in the last step, within their limits, nv (N
    /// or N m); of an event-driven step those at its end.
    pub fn applied_efforts(&mut self) -> Vec<f64> {
        if self.settings.simulator == SimulatorKind::EventDriven {
            return self.motor_efforts();
        }
        let mut out = self.scratch.applied.clone();
        out.resize(self.world.model.nv(), 0.0);
        out
    }

    /// Forces of limits, loops, prescribed motion and dry friction in the last step.
    pub fn joint_forces(&self) -> JointForces {
        let (nv, problem) = (self.world.model.nv(), &self.assembler.problem);
        let mut out = JointForces { limit: vec![0.0; nv], loops: vec![0.0; nv], ..JointForces::default() };
        (out.prescribed, out.friction) = (vec![0.0; nv], vec![0.0; nv]);
        let Some(forces) = self.impulses().filter(|f| f.fits(problem)) else { return out };
        let scale = self.force_scale();
        for (i, p) in forces.limit.iter().enumerate() {
            problem.limits().rows.add_transposed(i, scale * p, &mut out.limit);
        }
        for (i, p) in forces.bilateral.iter().enumerate() {
            let to = if i < self.assembler.loop_rows { &mut out.loops } else { &mut out.prescribed };
            problem.bilaterals().rows.add_transposed(i, scale * p, to);
        }
        for (i, p) in forces.bounded.iter().enumerate() {
            let driven = self.assembler.driven_rows.contains(&i);
            let to = if driven { &mut out.prescribed } else { &mut out.friction };
            problem.bounded().rows.add_transposed(i, scale * p, to);
        }
        out
    }

    /// Mass (kg) and centre of mass (m) of links, world axes; of no mass at all it is the origin.
    ///
    /// # Errors
    /// If a link does not exist.
    pub fn center_of_mass(&mut self, links: &[usize]) -> Result<(f64, Vec3), InputError> {
        self.check_links(links)?;
        self.kinematics();
        Ok(centre(&self.world.model, &self.work, links))
    }

    /// Momentum of links.
    ///
    /// # Errors
    /// If a link does not exist.
    pub fn momentum(&mut self, links: &[usize]) -> Result<Momentum, InputError> {
        self.check_links(links)?;
        self.kinematics();
        let (model, work) = (&self.world.model, &self.work);
        let mass = centre(model, work, links).0;
        Ok(Momentum { linear: centre_velocity(model, work, links) * mass, angular: momentum(model, work, links) })
    }

    fn check_links(&self, links: &[usize]) -> Result<(), InputError> {
        let count = self.world.model.links().len();
        match links.iter().find(|l| **l >= count) {
            Some(l) => Err(InputError::Size { what: "links, above number".into(), expected: count, found: *l }),
            None => Ok(()),
        }
    }
}
