//! Where a geom is, and how two geoms move against each other within a step.

use crate::collision::vector::Norm;
use crate::math::{Mat3, Pose, Vec3};

/// A pose with its rotation as a matrix: a point p of the shape is at `rotation · p + origin`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub rotation: Mat3,
    pub origin: Vec3,
}

impl Frame {
    pub(super) const IDENTITY: Self = Self { rotation: Mat3::IDENTITY, origin: Vec3::ZERO };

    pub(super) fn new(pose: &Pose) -> Self {
        Self { rotation: Mat3::from_quat(pose.rotation), origin: pose.translation }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.origin.is_finite()
    }

    pub(super) fn point_to_world(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.origin
    }

    pub(super) fn point_to_local(&self, p: Vec3) -> Vec3 {
        self.rotation.transpose() * (p - self.origin)
    }

    pub(super) fn direction_to_local(&self, v: Vec3) -> Vec3 {
        self.rotation.transpose() * v
    }

    /// `other` seen from here; the difference of origins is taken first, so nothing is lost far from the world's origin.
    pub(super) fn relative(&self, other: &Self) -> Self {
        let back = self.rotation.transpose();
        Self { rotation: back * other.rotation, origin: back * (other.origin - self.origin) }
    }
}

/// What the second geom of a pair does against the first within the step, if nothing stops it: a point at x is displaced by
/// `linear + angular × (x − about)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drift {
    pub linear: Vec3,
    pub angular: Vec3,
    pub about: Vec3,
}

impl Drift {
    pub(super) fn at(&self, x: Vec3) -> Vec3 {
        self.linear + self.angular.cross(x - self.about)
    }

    /// The same in another frame's axes.
    pub(super) fn seen_from(&self, frame: &Frame) -> Self {
        Self {
            linear: frame.direction_to_local(self.linear),
            angular: frame.direction_to_local(self.angular),
            about: frame.point_to_local(self.about),
        }
    }

    /// What the first geom does against the second.
    pub(super) fn reversed(&self) -> Self {
        Self { linear: -self.linear, angular: -self.angular, about: self.about }
    }
}

/// What a pair is asked: which gaps matter, and which numbers are as good as zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query {
    /// Largest gap that can close (m).
    pub reach: f64,
    /// The part of it the caller allows for besides the motion (m).
    pub margin: f64,
    /// Radius of the smaller geom about the point that the motion is about (m).
    pub radius: f64,
    /// How much the motion may close a gap because it is curved (m).
    pub bend: f64,
    /// Lengths below this are as good as zero (m).
    pub touch: f64,
    /// Radius-like size of the smaller geom (m).
    pub size: f64,
    /// The motion of the second geom against the first, in world axes.
    pub drift: Drift,
}

impl Query {
    /// The same question with the geoms exchanged.
    pub(super) fn reversed(&self) -> Self {
        Self { drift: self.drift.reversed(), ..*self }
    }

    /// The largest gap to be reported.
    pub(super) fn limit(&self) -> f64 {
        self.reach + self.touch
    }

    /// The largest gap along an axis, from the first geom to the second, that matters: what the motion, in the axis's frame, closes
    /// along it, and the margin.
    pub(super) fn limit_along(&self, axis: Vec3, drift: &Drift) -> f64 {
        let turn = axis.cross(drift.angular).norm() * self.radius;
        let closing = turn + self.bend - axis.dot(drift.linear);
        self.reach.min(closing.max(0.0) + self.margin) + self.touch
    }
}

/// Two geoms along a direction in the world, from the first to the second: how far they are apart, negative where they overlap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Apart {
    pub normal: Vec3,
    pub separation: f64,
}

/// A contact of a pair: as [`super::ContactPoint`], with the normal from the first to the second geom of the call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub point: Vec3,
    pub normal: Vec3,
    pub gap: f64,
    pub feature: u64,
    /// From `point` to the point of the second geom that is to touch, across the normal; the first geom's is as far to
    /// the other side.
    pub lead: Vec3,
}

impl Touch {
    /// A contact at one point of both geoms.
    pub(super) fn new(point: Vec3, normal: Vec3, gap: f64, feature: u64) -> Self {
        Self { point, normal, gap, feature, lead: Vec3::ZERO }
    }

    /// The same with the geoms exchanged.
    pub(super) fn reversed(self) -> Self {
        Self { normal: -self.normal, lead: -self.lead, ..self }
    }
}
