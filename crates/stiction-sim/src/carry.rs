//! From one scene to another with other bodies: state, time and parameters of what both have go
//! over by name.

use std::sync::Arc;

use stiction_body::math::{Pose, Quat, Vec3};
use stiction_body::{LoopClosure, LoopKind};
use stiction_lcp::InputError;

use crate::error::SceneError;
use crate::physical::{PhysicalLayout, PhysicalPart};
use crate::scene::Scene;
use crate::simulation::Simulation;
use crate::world::World;

/// Two bodies that hold together as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Weld {
    /// The first body.
    pub a: String,
    /// The second body; none is the world.
    pub b: Option<String>,
    /// Frame on the first body that stays where `frame_b` is: position (m), quaternion w, x, y, z.
    pub frame_a: [f64; 7],
    /// Frame on the second body, or in the world.
    pub frame_b: [f64; 7],
}

fn pose([px, py, pz, w, x, y, z]: [f64; 7]) -> Pose {
    Pose::from_parts(Vec3::new(px, py, pz), Quat::from_xyzw(x, y, z, w).normalize())
}

impl Weld {
    /// Holds two bodies of a scene together, and lets them not touch each other.
    ///
    /// # Errors
    /// If there is no such body, or a number is not finite.
    pub fn apply(&self, scene: &mut Scene) -> Result<(), SceneError> {
        let find = |name: &String| {
            let none = || SceneError::new("weld", format!("there is no body called \"{name}\""));
            scene.world.model.link(name).ok_or_else(none)
        };
        let (a, b) = (find(&self.a)?, self.b.as_ref().map(find).transpose()?);
        let (frame_a, frame_b) = (pose(self.frame_a), pose(self.frame_b));
        let world = Arc::make_mut(&mut scene.world);
        let closure = LoopClosure { a: Some(a), b, frame_a, frame_b, kind: LoopKind::Weld };
        world.model.add_loop(closure).map_err(|e| SceneError::input("weld", &e))?;
        world.rules.excluded.push((Some(a), b));
        Ok(())
    }
}

impl Simulation {
    /// Goes on from another simulation: configuration and velocities of bodies with the same name
    /// and kind of joint, activations of actuators and switches of equalities with the same name, time, number of steps,
    /// and physical parameters that were changed. What only this one has is as at its start; contacts
    /// start afresh. Controllers remember what those of the other do if there are as many.
    ///
    /// # Errors
    /// If what comes together is no state.
    pub fn carry_from(&mut self, other: &Self) -> Result<(), InputError> {
        let (mut q, mut v) = (self.state.q.clone(), self.state.v.clone());
        for link in self.world.model.links() {
            let Some(from) = other.world.model.link(&link.spec.name) else { continue };
            let from = &other.world.model.links()[from];
            if std::mem::discriminant(&from.spec.kind) == std::mem::discriminant(&link.spec.kind) {
                q[link.q.clone()].copy_from_slice(&other.state.q[from.q.clone()]);
                v[link.v.clone()].copy_from_slice(&other.state.v[from.v.clone()]);
            }
        }
        let mut activation = self.state.activation.clone();
        for (actuator, x) in self.world.actuators.iter().zip(&mut activation) {
            if let Some(i) = other.world.actuators.iter().position(|a| a.name == actuator.name) {
                *x = other.state.activation.get(i).copied().unwrap_or(0.0);
            }
        }
        self.carry_physical(other)?;
        self.set_state(&q, &v)?;
        self.set_activation(&activation)?;
        self.carry_switches(other);
        (self.state.t, self.state.step) = (other.state.t, other.state.step);
        if self.controllers.len() == other.controllers.len() {
            for (own, from) in self.controllers.iter_mut().zip(&other.controllers) {
                if own.memory().len() == from.memory().len() {
                    own.set_memory(from.memory());
                }
            }
        }
        Ok(())
    }

    /// Takes over what equalities with the same name are.
    fn carry_switches(&mut self, other: &Self) {
        let mut switches = self.switches.clone();
        for (equality, switch) in self.world.equalities.iter().zip(&mut switches) {
            if let Some(i) = other.world.equalities.iter().position(|e| e.name == equality.name) {
                *switch = other.switches[i];
            }
        }
        if switches != self.switches {
            self.set_switches(switches);
        }
    }

    /// Takes over physical parameters that were changed, by the names of what they are of.
    fn carry_physical(&mut self, other: &Self) -> Result<(), InputError> {
        if other.physical_changes.is_empty() {
            return Ok(());
        }
        let (own, from) = (PhysicalLayout::new(&self.world), PhysicalLayout::new(&other.world));
        let mut row = self.physical();
        for (place, value) in &other.physical_changes {
            let place = *place as usize;
            let Some(part) = PhysicalPart::ALL.into_iter().find(|part| from.range(*part).contains(&place)) else {
                continue;
            };
            let offset = place - from.range(part).start;
            let inner: usize = match part {
                PhysicalPart::Gravity => 1,
                _ => from.shape(part)[1..].iter().product(),
            };
            let (item, rest) = (offset / inner, offset % inner);
            if let Some(item) = same_item(part, item, &other.world, &self.world) {
                row[own.range(part).start + item * inner + rest] = *value;
            }
        }
        self.set_physical(&row)
    }
}

/// The item of another world that has the same name.
fn same_item(part: PhysicalPart, item: usize, from: &World, to: &World) -> Option<usize> {
    use PhysicalPart as P;
    match part {
        P::Gravity => Some(item),
        P::Mass | P::CenterOfMass | P::Inertia => to.model.link(&from.model.links()[item].spec.name),
        P::Friction | P::TorsionalFriction | P::RollingFriction | P::ViscousFriction | P::Restitution => {
            let name = &from.geoms[item].name;
            to.geoms.iter().position(|g| !name.is_empty() && g.name == *name)
        }
        P::PairFriction => None,
        P::Damping | P::JointFriction | P::Armature | P::Stiffness | P::Rest | P::JointLimits | P::EffortLimits => {
            let link = from.model.links().iter().find(|l| l.v.contains(&item))?;
            let same = &to.model.links()[to.model.link(&link.spec.name)?];
            (same.v.len() == link.v.len()).then(|| same.v.start + item - link.v.start)
        }
        P::ActuatorGain | P::ActuatorBias | P::CtrlLimits | P::ForceLimits => {
            let name = &from.actuators[item].name;
            to.actuators.iter().position(|a| !name.is_empty() && a.name == *name)
        }
    }
}
