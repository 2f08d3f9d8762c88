//! What an actuator acts on: its length, and the row of the length's rate, along which its force acts.

use stiction_body::math::{Vec3, rotation_vector};
use stiction_body::{JointKind, Model, Workspace};

use super::row::TreeRow;
use super::tendon::{Anchor, add_point};

/// What an actuator acts on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transmission {
    /// A joint: of one velocity, or with a gear per axis.
    Joint {
        /// Its link.
        link: usize,
        /// The axes of a joint with several velocities are the parent's, not the link's own.
        in_parent: bool,
    },
    /// A tendon, by its number.
    Tendon(usize),
    /// A force and a moment at a place, along its axes, or the motion against another place along that one's axes.
    Site {
        /// The place.
        site: Anchor,
        /// The other place.
        reference: Option<Anchor>,
    },
    /// A crank and a slider joined by a rod.
    SliderCrank {
        /// The pin of the crank.
        crank: Anchor,
        /// The slider moves along its z axis.
        slider: Anchor,
        /// Length of the rod (m).
        rod: f64,
    },
    /// Adhesion: the normals of all contacts of a link, evenly.
    Body(usize),
}

/// What there is to measure with.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) model: &'a Model,
    pub(crate) work: &'a Workspace,
    pub(crate) q: &'a [f64],
    /// Lengths and rows of the tendons.
    pub(crate) tendons: &'a [(f64, TreeRow)],
}

impl Transmission {
    /// Computes the length with a gear, and the row of its rate.
    pub(crate) fn measure(&self, gear: &[f64; 6], at: Measured<'_>, row: &mut TreeRow) -> f64 {
        row.clear();
        match self {
            Self::Joint { link, in_parent } => joint(*link, *in_parent, gear, at, row),
            Self::Tendon(tendon) => {
                let (length, own) = &at.tendons[*tendon];
                row.add_row(at.model, own, gear[0]);
                gear[0] * length
            }
            Self::Site { site, reference: None } => {
                let pose = site.world(at.work);
                let (force, moment) = parts(gear);
                let at_point = (site.link, pose.translation);
                add_point(at.model, at.work, at_point, pose.rotation * force, 1.0, row);
                add_turn(site.link, pose.rotation * moment, 1.0, at, row);
                0.0
            }
            Self::Site { site, reference: Some(reference) } => between(site, reference, gear, at, row),
            Self::SliderCrank { crank, slider, rod } => gear[0] * slider_crank(crank, slider, *rod, gear[0], at, row),
            // Its row is that of the contacts, which are found later.
            Self::Body(_) => 0.0,
        }
    }

    /// The same with the numbers of links, and that of the first tendon, changed.
    pub(crate) fn with_links(
        &self,
        anchor: impl Fn(Anchor) -> Anchor,
        link: impl Fn(usize) -> usize,
        tendons: usize,
    ) -> Self {
        match *self {
            Self::Joint { link: l, in_parent } => Self::Joint { link: link(l), in_parent },
            Self::Tendon(tendon) => Self::Tendon(tendon + tendons),
            Self::Site { site, reference } => Self::Site { site: anchor(site), reference: reference.map(anchor) },
            Self::SliderCrank { crank, slider, rod } => {
                Self::SliderCrank { crank: anchor(crank), slider: anchor(slider), rod }
            }
            Self::Body(body) => Self::Body(link(body)),
        }
    }

    /// How much the length changes with a whole turn, where it is that of a rotation in space.
    pub(crate) fn turn(&self, gear: &[f64; 6], model: &Model) -> Option<f64> {
        let (linear, angular) = parts(gear);
        let length = match self {
            Self::Joint { link, .. } if model.links()[*link].spec.kind == JointKind::Spherical => linear.length(),
            Self::Site { reference: Some(_), .. } => angular.length(),
            _ => return None,
        };
        Some(2.0 * std::f64::consts::PI * length)
    }

    /// The link whose joint it acts on, if it acts on a joint.
    pub fn joint(&self) -> Option<usize> {
        match self {
            Self::Joint { link, .. } => Some(*link),
            _ => None,
        }
    }
}

/// A gear's linear and angular part.
fn parts(gear: &[f64; 6]) -> (Vec3, Vec3) {
    (Vec3::new(gear[0], gear[1], gear[2]), Vec3::new(gear[3], gear[4], gear[5]))
}

fn joint(link: usize, in_parent: bool, gear: &[f64; 6], at: Measured<'_>, row: &mut TreeRow) -> f64 {
    let (spec, q, first) = {
        let link = &at.model.links()[link];
        (&link.spec, &at.q[link.q.clone()], link.v.start)
    };
    let (linear, angular) = parts(gear);
    let mut add =
        |k: usize, x: Vec3| x.to_array().iter().enumerate().for_each(|(i, x)| row.add(at.model, first + k + i, *x));
    let turned = |x: Vec3| if in_parent { x } else { spec.kind.pose(q).rotation * x };
    match spec.kind {
        JointKind::Spherical => {
            // Velocities are along the parent's axes, as is the rotation vector, which is also the link's.
            let axis = turned(linear);
            add(0, axis);
            rotation_vector(spec.kind.pose(q).rotation).dot(axis)
        }
        JointKind::Free => {
            add(0, linear);
            add(3, turned(angular));
            0.0
        }
        JointKind::Planar { .. } => {
            add(0, linear);
            linear.dot(Vec3::new(q[0], q[1], q[2]))
        }
        JointKind::Fixed | JointKind::Mocap => 0.0,
        JointKind::Revolute { .. } | JointKind::Continuous { .. } | JointKind::Prismatic { .. } => {
            row.add(at.model, first, gear[0]);
            gear[0] * q[0]
        }
    }
}

/// Adds the row of an angular speed.
fn add_turn(link: Option<usize>, axis: Vec3, scale: f64, at: Measured<'_>, row: &mut TreeRow) {
    let Some(link) = link else { return };
    let tree = at.model.links()[link].tree;
    at.work.add_angular_row(at.model, link, axis, scale, row.tree_mut(at.model, tree));
}

/// Motion of a place against another, along that one's axes. Joints that move both together have no part in it.
fn between(site: &Anchor, reference: &Anchor, gear: &[f64; 6], at: Measured<'_>, row: &mut TreeRow) -> f64 {
    let (own, other) = (site.world(at.work), reference.world(at.work));
    let (linear, angular) = parts(gear);
    let mut length = 0.0;
    if linear != Vec3::ZERO {
        length += (other.rotation.inverse() * (own.translation - other.translation)).dot(linear);
    }
    if angular != Vec3::ZERO {
        length += rotation_vector(other.rotation.inverse() * own.rotation).dot(angular);
    }
    let (force, moment) = (other.rotation * linear, other.rotation * angular);
    add_point(at.model, at.work, (site.link, own.translation), force, 1.0, row);
    add_point(at.model, at.work, (reference.link, other.translation), force, -1.0, row);
    add_turn(site.link, moment, 1.0, at, row);
    add_turn(reference.link, moment, -1.0, at, row);
    clear_shared(site.link, reference.link, at.model, row);
    length
}

/// Sets the numbers of joints to 0 that both links hang on.
fn clear_shared(a: Option<usize>, b: Option<usize>, model: &Model, row: &mut TreeRow) {
    let (Some(mut a), Some(mut b)) = (a, b) else { return };
    // A parent has the smaller number.
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        match model.links()[*later].spec.parent {
            Some(parent) => *later = parent,
            None => return,
        }
    }
    let mut shared = Some(a);
    while let Some(link) = shared {
        let (range, tree) = (model.links()[link].v.clone(), model.links()[link].tree);
        let first = model.trees()[tree].v.start;
        row.tree_mut(model, tree)[range.start - first..range.end - first].fill(0.0);
        shared = model.links()[link].spec.parent;
    }
}

/// The slider's offset from the crank's pin along its axis: `a − √(a² + rod² − |d|²)` with the offset d and its part a along the axis.
fn slider_crank(crank: &Anchor, slider: &Anchor, rod: f64, gear: f64, at: Measured<'_>, row: &mut TreeRow) -> f64 {
    let (pin, slide) = (crank.world(at.work), slider.world(at.work));
    let (axis, offset) = (slide.rotation * Vec3::Z, pin.translation - slide.translation);
    let along = axis.dot(offset);
    let square = along * along + rod * rod - offset.dot(offset);
    let (length, by_offset, by_axis) = if square <= 0.0 {
        (along, axis, offset)
    } else {
        let root = square.sqrt();
        (along - root, axis * (1.0 - along / root) + offset / root, offset * (1.0 - along / root))
    };
    add_point(at.model, at.work, (crank.link, pin.translation), by_offset, gear, row);
    add_point(at.model, at.work, (slider.link, slide.translation), by_offset, -gear, row);
    // The axis turns with the slider: its rate is ω × axis.
    add_turn(slider.link, axis.cross(by_axis), gear, at, row);
    length
}
