//! Bodies that are moved from outside.

use stiction_body::JointKind;
use stiction_body::math::{Pose, unit_quaternion};
use stiction_lcp::InputError;

use crate::error::did_you_mean;
use crate::simulation::Simulation;
use crate::world::{World, free_configuration};

impl World {
    /// Links that are moved from outside, in the order of their poses in q.
    pub fn mocap_links(&self) -> impl Iterator<Item = usize> {
        let links = self.model.links().iter().enumerate();
        links.filter(|(_, l)| l.spec.kind == JointKind::Mocap).map(|(i, _)| i)
    }

    /// The link of that name that is moved from outside.
    ///
    /// # Errors
    /// If there is none.
    pub fn mocap_link(&self, name: &str) -> Result<usize, InputError> {
        let named = |link: usize| self.model.links()[link].spec.name.as_str();
        self.mocap_links().find(|&l| named(l) == name).ok_or_else(|| {
            let near = did_you_mean(name, self.mocap_links().map(named));
            InputError::Option { name: "mocap", reason: format!("no body \"{name}\" is moved from outside{near}") }
        })
    }
}

impl Simulation {
    /// Puts a body that is moved from outside to a pose in the world. It has no velocity: what it touches is moved out of its way, and
    /// what is tied to it is pulled.
    ///
    /// # Errors
    /// If there is no such body, or a number is not finite.
    pub fn set_mocap(&mut self, name: &str, pose: &Pose) -> Result<(), InputError> {
        let link = self.world.mocap_link(name)?;
        let length = pose.rotation.length();
        if !pose.is_finite() || length == 0.0 {
            return Err(InputError::NotFinite { what: format!("pose of \"{name}\""), value: length });
        }
        let pose = Pose::from_parts(pose.translation, unit_quaternion(pose.rotation));
        let range = self.world.model.links()[link].q.clone();
        self.state.q[range].copy_from_slice(&free_configuration(&pose));
        self.moved_from_outside();
        Ok(())
    }

    /// The pose in the world of a body that is moved from outside.
    ///
    /// # Errors
    /// If there is no such body.
    pub fn mocap(&self, name: &str) -> Result<Pose, InputError> {
        let link = &self.world.model.links()[self.world.mocap_link(name)?];
        Ok(link.spec.kind.pose(&self.state.q[link.q.clone()]))
    }

    /// Sets the poses of all bodies that are moved from outside, as they stand at the end of q; steps remember what they do.
    ///
    /// # Errors
    /// If a size is wrong, a number not finite, or a quaternion has no unit length.
    pub fn set_mocap_poses(&mut self, poses: &[f64]) -> Result<(), InputError> {
        let first = self.world.model.jointed_nq();
        let mut q = self.state.q[..first].to_vec();
        q.extend_from_slice(poses);
        self.world.model.check_state(&q, &self.state.v)?;
        self.state.q[first..].copy_from_slice(poses);
        self.moved_from_outside();
        Ok(())
    }

    /// The kinematics are no longer those of the state, and nothing rests.
    fn moved_from_outside(&mut self) {
        self.kinematics_at_state = false;
        self.sleep.wake();
    }
}
