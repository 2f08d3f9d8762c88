//! From bodies with any number of joints to links with one each.
//!
//! A body's joints act in order, each about its anchor in the frame the body has reached. The link of a joint has its origin at the anchor; all
//! but the last link of a body have no mass. A joint's coordinate is the file's own: where the file puts a body at coordinate `ref`, the joint's
//! frame is turned back by `ref`.

use stiction_body::math::{Pose, Vec3, axis_angle};
use stiction_body::{Inertia, JointKind, LinkSpec, Model, ModelBuilder, Workspace};
use stiction_linalg::cholesky::singular_row;

use super::bodies::{Body, Tree};
use super::joints::{Joint, JointType};
use super::tree::Element;
use crate::actuation::{Actuator, Measured, Tendon, Transmission, TreeRow};
use crate::error::{SceneError, did_you_mean};
use crate::ties::inverse_inertia;
use crate::world::free_configuration;

/// A joint of the file and its link.
#[derive(Debug)]
pub(super) struct JointLink<'a> {
    pub(super) element: &'a Element,
    pub(super) name: String,
    pub(super) link: usize,
    pub(super) kind: JointType,
    /// Coordinates at which the body is where the file puts it.
    pub(super) reference: Vec<f64>,
    /// Stiffness of a ball or free joint.
    pub(super) turn_stiffness: f64,
    /// Least and largest total effort of its actuators.
    pub(super) effort: Option<[f64; 2]>,
    spring_damper: Option<[f64; 2]>,
}

impl JointLink<'_> {
    /// How many velocities it has.
    pub(super) fn velocities(&self) -> usize {
        match self.kind {
            JointType::Hinge | JointType::Slide => 1,
            JointType::Ball => 3,
            JointType::Free => 6,
        }
    }

    /// True for hinges and slides.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.kind, JointType::Hinge | JointType::Slide)
    }
}

/// The links of a model.
#[derive(Debug, Default)]
pub(super) struct Links<'a> {
    pub(super) specs: Vec<LinkSpec>,
    /// What each link came from.
    elements: Vec<&'a Element>,
    /// The link of each body; none for the world.
    pub(super) of_body: Vec<Option<usize>>,
    /// Each body's frame in its link.
    pub(super) frames: Vec<Pose>,
    /// Links that are moved from outside, and where the file puts them.
    pub(super) mocap: Vec<(usize, Pose)>,
    /// In the order of the file's coordinates.
    pub(super) joints: Vec<JointLink<'a>>,
}

impl<'a> Links<'a> {
    /// The links of all bodies, parents first.
    pub(super) fn new(tree: &Tree<'a>) -> Self {
        let mut out = Self { of_body: vec![None], frames: vec![Pose::identity()], ..Self::default() };
        for body in &tree.bodies[1..] {
            out.add_body(body);
        }
        out
    }

    fn add_body(&mut self, body: &Body<'a>) {
        let mut parent = self.of_body[body.parent];
        let mut base = self.frames[body.parent] * body.pose;
        // The body's origin seen from the last link's.
        let mut own = Pose::identity();
        for (k, joint) in body.joints.iter().enumerate() {
            let name = match k + 1 == body.joints.len() {
                true => body.name.clone(),
                false => self.inner_name(body, joint, k),
            };
            let anchor = if joint.kind == JointType::Slide { Vec3::ZERO } else { joint.anchor };
            let (kind, frame, reference) = match joint.kind {
                JointType::Free => {
                    let (p, q) = (body.world.translation, body.world.rotation);
                    own = Pose::identity();
                    (JointKind::Free, Pose::identity(), vec![p.x, p.y, p.z, q.w, q.x, q.y, q.z])
                }
                _ => {
                    own = Pose::from_translation(-anchor);
                    let (kind, back, reference) = motion(joint);
                    (kind, base * Pose::from_translation(anchor) * back, reference)
                }
            };
            let mut spec = LinkSpec::on(name, parent, kind, frame, Inertia::ZERO);
            spec.joint_name.clone_from(&joint.name);
            spec.properties = joint.properties;
            if let Some([low, high]) = joint.effort {
                spec.properties.effort = low.abs().max(high.abs());
            }
            self.joints.push(JointLink {
                element: joint.element,
                name: joint.name.clone(),
                link: self.specs.len(),
                kind: joint.kind,
                reference,
                turn_stiffness: joint.turn_stiffness,
                effort: joint.effort,
                spring_damper: joint.spring_damper,
            });
            parent = Some(self.push(spec, joint.element));
            base = own;
        }
        if body.mocap {
            self.mocap.push((self.specs.len(), body.world));
            let spec = LinkSpec::on(body.name.clone(), None, JointKind::Mocap, Pose::identity(), Inertia::ZERO);
            self.push(spec, body.element);
        } else if body.joints.is_empty() {
            self.push(LinkSpec::on(body.name.clone(), parent, JointKind::Fixed, base, Inertia::ZERO), body.element);
        }
        if let Some(last) = self.specs.last_mut() {
            // Of nothing there is no centre that could be elsewhere.
            last.inertia = if body.inertia.mass > 0.0 { body.inertia.transformed(&own) } else { Inertia::ZERO };
        }
        self.of_body.push(Some(self.specs.len() - 1));
        self.frames.push(own);
    }

    fn push(&mut self, spec: LinkSpec, element: &'a Element) -> usize {
        self.specs.push(spec);
        self.elements.push(element);
        self.specs.len() - 1
    }

    /// A name for a link within a body.
    fn inner_name(&self, body: &Body, joint: &Joint, k: usize) -> String {
        match joint.name.as_str() {
            "" => format!("{}/joint{}", body.name, k + 1),
            name => format!("{}/{name}", body.name),
        }
    }

    /// The joint of that name.
    pub(super) fn joint(&self, element: &Element, attribute: &str, name: &str) -> Result<&JointLink<'a>, SceneError> {
        let named = self.joints.iter().filter(|j| !j.name.is_empty());
        named.clone().find(|j| j.name == name).ok_or_else(|| {
            let near = did_you_mean(name, named.map(|j| j.name.as_str()));
            element.attribute_error(attribute, format!("there is no joint \"{name}\"{near}"))
        })
    }

    /// The model of these links, and the number of each link in it.
    ///
    /// # Errors
    /// If a link cannot be: its element is named.
    pub(super) fn model(&self) -> Result<(Model, Vec<usize>), SceneError> {
        let mut builder = ModelBuilder::default();
        builder.gravity(Vec3::ZERO);
        for (spec, element) in self.specs.iter().zip(&self.elements) {
            builder.add(spec.clone()).map_err(|e| element.error(e.to_string()))?;
        }
        builder.build().map_err(|e| {
            let message = e.to_string();
            let mut named = self.specs.iter().zip(&self.elements);
            match named.find(|(s, _)| message.contains(&format!("\"{}\"", s.name))) {
                Some((_, element)) => element.error(message),
                None => SceneError::new("<worldbody>", message),
            }
        })
    }

    /// Checks that everything that moves has inertia: otherwise no force says how it moves.
    ///
    /// # Errors
    /// Naming the joint that can move without.
    pub(super) fn check_inertias(&self) -> Result<(), SceneError> {
        let mut at = AtReference::new(self)?;
        let mut blocks = vec![];
        at.workspace.mass_blocks(&at.model, &mut blocks);
        for (tree, block) in at.model.trees().iter().zip(&blocks) {
            let Some(k) = Some(block).filter(|b| b.rows() <= LARGEST).and_then(|b| singular_row(b, SINGULAR)) else {
                continue;
            };
            let v = tree.v.start + k;
            let moving = self.joints.iter().find(|j| at.model.links()[at.number[j.link]].v.contains(&v));
            if let Some(joint) = moving {
                let message =
                    "moves without inertia of its own: what it carries needs more of it, or it repeats another joint";
                return Err(joint.element.error(message));
            }
        }
        Ok(())
    }

    /// Stiffness and damping of joints that give a time constant and a damping ratio instead, from their inertia at the reference.
    pub(super) fn resolve_spring_dampers(&mut self) -> Result<(), SceneError> {
        if self.joints.iter().all(|j| j.spring_damper.is_none()) {
            return Ok(());
        }
        let mut at_reference = AtReference::new(self)?;
        for joint in &self.joints {
            let Some([time, ratio]) = joint.spring_damper else { continue };
            let row = at_reference.joint_row(joint.link);
            let inertia = at_reference.inertia_along(&row);
            let properties = &mut self.specs[joint.link].properties;
            properties.stiffness = inertia / (time * time * ratio * ratio);
            properties.damping = 2.0 * inertia / time;
        }
        Ok(())
    }
}

/// A velocity has no inertia if this part or less of it is left when all that hangs on it moves freely.
const SINGULAR: f64 = 1e-13;

/// Trees with more velocities are not looked at: the work grows with their cube, and a simulation would report the same.
const LARGEST: usize = 1000;

/// What a joint's coordinate does, the turn back by its reference, and that reference.
fn motion(joint: &Joint) -> (JointKind, Pose, Vec<f64>) {
    let (axis, reference) = (joint.axis, joint.reference);
    match joint.kind {
        JointType::Slide => (JointKind::Prismatic { axis }, Pose::from_translation(axis * -reference), vec![reference]),
        JointType::Ball => (JointKind::Spherical, Pose::identity(), vec![1.0, 0.0, 0.0, 0.0]),
        _ => (JointKind::Revolute { axis }, Pose::from_rotation(axis_angle(axis * -reference)), vec![reference]),
    }
}

/// The model at rest where the file puts it.
#[derive(Clone)]
pub(super) struct AtReference {
    model: Model,
    number: Vec<usize>,
    workspace: Workspace,
    q: Vec<f64>,
}

impl AtReference {
    /// With all joints at their reference.
    pub(super) fn new(links: &Links) -> Result<Self, SceneError> {
        Self::at(links, |joint| joint.reference.clone())
    }

    /// With the springs of all joints at rest.
    pub(super) fn of_springs(links: &Links) -> Result<Self, SceneError> {
        Self::at(links, |joint| match joint.is_scalar() {
            true => vec![links.specs[joint.link].properties.rest],
            false => joint.reference.clone(),
        })
    }

    fn at(links: &Links, q_of: impl Fn(&JointLink) -> Vec<f64>) -> Result<Self, SceneError> {
        let (model, number) = links.model()?;
        let mut q = model.neutral();
        for joint in &links.joints {
            let range = model.links()[number[joint.link]].q.clone();
            q[range].copy_from_slice(&q_of(joint));
        }
        for (link, pose) in &links.mocap {
            let range = model.links()[number[*link]].q.clone();
            q[range].copy_from_slice(&free_configuration(pose));
        }
        let mut workspace = Workspace::default();
        workspace.update_positions(&model, &q);
        workspace.update_velocities(&model, &vec![0.0; model.nv()]);
        Ok(Self { model, number, workspace, q })
    }

    /// Length of a tendon of the description, and its row.
    pub(super) fn tendon_length(&self, tendon: &Tendon, row: &mut TreeRow) -> f64 {
        let own = tendon.with_links(|a| a.renumbered(&self.number), |l| self.number[l]);
        own.measure(&self.model, &self.workspace, &self.q, row)
    }

    /// The row of an actuator of the description.
    pub(super) fn transmission_row(&self, actuator: &Actuator, tendons: &[Tendon]) -> TreeRow {
        self.transmission(actuator, tendons).1
    }

    /// The least and the largest length of an actuator's transmission that are reached from the reference by following its moment arms, with hinges
    /// and slides within their limits; none if there is no end to it.
    pub(super) fn extreme_lengths(mut self, actuator: &Actuator, tendons: &[Tendon]) -> Option<[f64; 2]> {
        let start = self.q.clone();
        let least = -self.longest(actuator, tendons, -1.0)?;
        self.move_to(start);
        Some([least, self.longest(actuator, tendons, 1.0)?])
    }

    fn move_to(&mut self, q: Vec<f64>) {
        self.q = q;
        self.workspace.update_positions(&self.model, &self.q);
    }

    /// The largest length times a sign, uphill from the present configuration; none if it does not end.
    fn longest(&mut self, actuator: &Actuator, tendons: &[Tendon], sign: f64) -> Option<f64> {
        /// Rounds, the first and largest motion of a round (rad or m), that which ends the search, and where there is no end.
        const ROUNDS: usize = 2000;
        const STEP: [f64; 2] = [0.1, 0.5];
        const SHORTEST: f64 = 1e-9;
        const FARTHEST: f64 = 100.0;
        let mut step = STEP[0];
        let (mut length, mut row) = self.transmission(actuator, tendons);
        for _ in 0..ROUNDS {
            let mut gradient = vec![0.0; self.model.nv()];
            row.add_to(&self.model, sign, &mut gradient);
            let mut next = self.q.clone();
            let scalar = self.model.links().iter().filter(|l| l.v.len() == 1);
            let steepest = scalar.clone().map(|l| gradient[l.v.start].abs()).fold(0.0, f64::max);
            if steepest == 0.0 || step < SHORTEST {
                return Some(sign * length);
            }
            for link in scalar {
                let ([lo, hi], x) = (link.spec.properties.limits, &mut next[link.q.start]);
                *x = (*x + step * gradient[link.v.start] / steepest).max(lo).min(hi);
            }
            if next.iter().any(|x| x.abs() > FARTHEST) {
                return None;
            }
            let here = std::mem::replace(&mut self.q, next);
            self.workspace.update_positions(&self.model, &self.q);
            let (found, along) = self.transmission(actuator, tendons);
            if sign * found > sign * length {
                (length, row, step) = (found, along, (1.5 * step).min(STEP[1]));
            } else {
                self.move_to(here);
                step *= 0.5;
            }
        }
        Some(sign * length)
    }

    /// The length and the row of an actuator of the description.
    fn transmission(&self, actuator: &Actuator, tendons: &[Tendon]) -> (f64, TreeRow) {
        let tendons: Vec<(f64, TreeRow)> = match actuator.transmission {
            Transmission::Tendon(i) => {
                let mut all = vec![(0.0, TreeRow::default()); tendons.len()];
                all[i].0 = self.tendon_length(&tendons[i], &mut all[i].1);
                all
            }
            _ => vec![],
        };
        let own = actuator.transmission.with_links(|a| a.renumbered(&self.number), |l| self.number[l], 0);
        let at = Measured { model: &self.model, work: &self.workspace, q: &self.q, tendons: &tendons };
        let mut row = TreeRow::default();
        let length = own.measure(&actuator.gear, at, &mut row);
        (length, row)
    }

    /// Inverse inertias of a link of the description, as [`inverse_inertia`] has them.
    pub(super) fn inverse_inertia(&mut self, link: Option<usize>) -> [f64; 2] {
        link.map_or([0.0; 2], |l| inverse_inertia(&self.model, &mut self.workspace, self.number[l]))
    }

    /// The row of a joint with one velocity.
    fn joint_row(&self, link: usize) -> TreeRow {
        let mut row = TreeRow::default();
        row.add(&self.model, self.model.links()[self.number[link]].v.start, 1.0);
        row
    }

    /// The inverse inertia of a joint with one velocity; 0 if it has none.
    pub(super) fn inverse_joint_inertia(&mut self, link: usize) -> f64 {
        let row = self.joint_row(link);
        let inertia = self.inertia_along(&row);
        if inertia > 0.0 { 1.0 / inertia } else { 0.0 }
    }

    /// The inertia that a force along a row J feels: `1/(J M⁻¹ Jᵀ)`; 0 if it feels none.
    pub(super) fn inertia_along(&mut self, row: &TreeRow) -> f64 {
        let (mut force, mut acceleration) = (vec![0.0; self.model.nv()], vec![0.0; self.model.nv()]);
        row.add_to(&self.model, 1.0, &mut force);
        self.workspace.forward_dynamics(&self.model, &force, &mut acceleration);
        let inverse: f64 = force.iter().zip(&acceleration).map(|(f, a)| f * a).sum();
        if inverse > 0.0 && inverse.is_finite() { 1.0 / inverse } else { 0.0 }
    }

    /// The acceleration that a unit of force along a row gives, as a length over all velocities.
    pub(super) fn acceleration(&mut self, row: &TreeRow) -> f64 {
        let (mut force, mut acceleration) = (vec![0.0; self.model.nv()], vec![0.0; self.model.nv()]);
        row.add_to(&self.model, 1.0, &mut force);
        self.workspace.forward_dynamics(&self.model, &force, &mut acceleration);
        acceleration.iter().map(|a| a * a).sum::<f64>().sqrt()
    }
}
