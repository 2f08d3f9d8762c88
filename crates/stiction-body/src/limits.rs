//! Limits of joints: how far each is, and the row along which it acts.
//!
//! A hinge or a slide has two, one per end. A spherical joint has one: its angle θ, that of the
//! rotation from the reference, is at most `limits[1]`. With the unit axis n of that rotation, which
//! is the same along the axes of J and of the link, θ̇ = n · ω. Velocities across n turn the axis:
//! with ω⊥ = ω − (n · ω) n,
//!
//! ```text
//! ṅ · ω = ½ cot(θ/2) |ω⊥|²
//! ```
//!
//! so a motion of constant ω along the limit leaves it, and what is beyond has to be moved back. The
//! angle is in [0, π]: a limit of π or more is none.

use std::f64::consts::PI;

use crate::joint::{JointKind, quaternion};
use crate::math::{Vec3, axis_angle, axis_of_rotation};
use crate::model::{Link, Model};

/// A spherical joint that may turn by no more than this (rad) is limited along each of J's axes
/// instead: a step could turn about any axis, and beyond the limit, before it is known which. The
/// cube of rotation vectors lies within the ball that is allowed.
const HELD: f64 = 1e-6;

/// Half the side of the largest cube in a ball of radius 1: 1/√3.
const CUBE: f64 = 0.577_350_269_189_625_7;

/// A limit of a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointLimit {
    /// The first velocity that it acts on.
    pub velocity: usize,
    /// What tells the two ends apart: 1 for a lower limit, −1 for an upper one.
    pub away: f64,
    /// Distance from it (m or rad); negative beyond it.
    pub gap: f64,
    /// The rate of `gap` per velocity, of which the first `velocities` mean something.
    row: [f64; 3],
    velocities: usize,
    /// How fast the gap closes by motion across the row: ½ cot(θ/2) of a spherical joint, else 0.
    bend: f64,
}

impl JointLimit {
    /// Of one velocity.
    fn of_velocity(velocity: usize, away: f64, gap: f64) -> Self {
        Self { velocity, away, gap, row: [away, 0.0, 0.0], velocities: 1, bend: 0.0 }
    }

    /// The rate of the gap per velocity, from the first on.
    pub fn row(&self) -> &[f64] {
        &self.row[..self.velocities]
    }

    /// Rate of the gap at velocities `v` (nv): m/s or rad/s.
    pub fn speed(&self, v: &[f64]) -> f64 {
        self.row().iter().zip(&v[self.velocity..]).map(|(row, v)| row * v).sum()
    }

    /// What the gap accelerates by at constant velocities `v` (nv): rad/s².
    pub fn rate(&self, v: &[f64]) -> f64 {
        if self.bend == 0.0 {
            return 0.0;
        }
        let along = self.speed(v);
        let all: f64 = v[self.velocity..][..self.velocities].iter().map(|v| v * v).sum();
        -self.bend * (all - along * along).max(0.0)
    }

    /// True if motion along the limit leaves it: after a step the joint may be beyond it.
    pub fn is_curved(&self) -> bool {
        self.bend != 0.0
    }
}

impl Link {
    /// The limits of its joint at configuration `q` (nq), in the order of velocities and ends.
    pub fn limits<'a>(&'a self, q: &'a [f64]) -> impl Iterator<Item = JointLimit> + 'a {
        let count = self.limit_count();
        (0..count).filter_map(move |i| if count == 1 { self.angle_limit(q) } else { self.end(q, i, count) })
    }

    /// How far its joint is beyond a limit at configuration `q` (nq): m or rad, 0 if it is within all.
    pub fn beyond_limits(&self, q: &[f64]) -> f64 {
        let [least, largest] = self.spec.properties.limits;
        match self.spec.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                let x = q[self.q.start];
                (least - x).max(x - largest).max(0.0)
            }
            _ => self.limits(q).map(|limit| -limit.gap).fold(0.0, f64::max),
        }
    }

    /// The most limits that its joint can be near.
    pub(crate) fn limit_count(&self) -> usize {
        use JointKind::{Prismatic, Revolute, Spherical};
        let [least, largest] = self.spec.properties.limits;
        match self.spec.kind {
            Revolute { .. } | Prismatic { .. } if least.is_finite() || largest.is_finite() => 2,
            Spherical if largest <= HELD => 6,
            _ => usize::from(self.has_angle_limit()),
        }
    }

    /// True of a spherical joint whose angle is limited: motion along the limit may leave it.
    pub fn has_angle_limit(&self) -> bool {
        let largest = self.spec.properties.limits[1];
        matches!(self.spec.kind, JointKind::Spherical) && largest > HELD && largest < PI
    }

    /// The limit of the angle of a spherical joint; none where it has no axis.
    fn angle_limit(&self, q: &[f64]) -> Option<JointLimit> {
        let (axis, angle, cotangent) = axis_of_rotation(quaternion(&q[self.q.clone()]))?;
        Some(JointLimit {
            velocity: self.v.start,
            away: -1.0,
            gap: self.spec.properties.limits[1] - angle,
            row: (-axis).to_array(),
            velocities: 3,
            bend: 0.5 * cotangent,
        })
    }

    /// The lower (even) or upper end of one of the joint's velocities; none if it is infinite.
    fn end(&self, q: &[f64], number: usize, count: usize) -> Option<JointLimit> {
        let [lo, hi] = self.spec.properties.limits;
        let (k, lower) = (number / 2, number.is_multiple_of(2));
        let (x, [lo, hi]) = match count {
            2 => (q[self.q.start], [lo, hi]),
            _ => (self.turn(q)[k], [-hi * CUBE, hi * CUBE]),
        };
        let (away, gap) = if lower { (1.0, x - lo) } else { (-1.0, hi - x) };
        gap.is_finite().then(|| JointLimit::of_velocity(self.v.start + k, away, gap))
    }

    /// The rotation vector of a spherical joint.
    fn turn(&self, q: &[f64]) -> Vec3 {
        let found = axis_of_rotation(quaternion(&q[self.q.clone()]));
        found.map_or(Vec3::ZERO, |(axis, angle, _)| axis * angle)
    }

    /// Puts its joint at the nearest place within its limits, in configuration `q` (nq).
    pub fn put_within_limits(&self, q: &mut [f64]) {
        let [lo, hi] = self.spec.properties.limits;
        match self.spec.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                let x = &mut q[self.q.start];
                *x = x.max(lo).min(hi);
            }
            JointKind::Spherical => {
                let own = &mut q[self.q.clone()];
                if let Some((axis, ..)) = axis_of_rotation(quaternion(own)).filter(|(_, angle, _)| *angle > hi) {
                    let put = axis_angle(axis * hi);
                    own.copy_from_slice(&[put.w, put.x, put.y, put.z]);
                }
            }
            _ => {}
        }
    }
}

impl Model {
    /// The limits of all joints at configuration `q` (nq), in the order of velocities and ends.
    pub fn limits<'a>(&'a self, q: &'a [f64]) -> impl Iterator<Item = JointLimit> + 'a {
        self.bodies().limited.iter().flat_map(move |link| self.links()[*link].limits(q))
    }

    /// How far the farthest joint is beyond one of its limits at configuration `q` (nq): m or rad, 0 if none is.
    pub fn beyond_limits(&self, q: &[f64]) -> f64 {
        self.bodies().limited.iter().map(|link| self.links()[*link].beyond_limits(q)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inertia::Inertia;
    use crate::math::Pose;
    use crate::model::{JointProperties, LinkSpec, ModelBuilder};

    /// A hinge with a ball joint on it, of which the angle is at most `largest`.
    fn model(largest: f64) -> Model {
        let mut builder = ModelBuilder::default();
        let inertia = Inertia::sphere(1.0, 0.1);
        let hinge = LinkSpec::on("hinge", None, JointKind::Revolute { axis: Vec3::X }, Pose::IDENTITY, inertia);
        let base = builder.add(hinge).unwrap();
        let mut ball = LinkSpec::on("ball", Some(base), JointKind::Spherical, Pose::IDENTITY, inertia);
        ball.properties = JointProperties { limits: [0.0, largest], ..JointProperties::default() };
        builder.add(ball).unwrap();
        builder.build().unwrap().0
    }

    fn turned(by: Vec3) -> Vec<f64> {
        let q = axis_angle(by);
        vec![0.0, q.w, q.x, q.y, q.z]
    }

    fn gap(model: &Model, q: &[f64]) -> f64 {
        model.limits(q).next().unwrap().gap
    }

    #[test]
    fn rows_and_rates_are_derivatives_of_the_gap() {
        let (model, v) = (model(2.5), [0.7, 0.4, -0.9, 1.3]);
        for by in [Vec3::new(0.3, -0.2, 0.5), Vec3::new(-1.5, 1.0, 0.4), Vec3::new(0.0, 3.1, 0.1)] {
            let moved = |h: f64| {
                let mut q = turned(by);
                model.integrate(&mut q, &v, h);
                gap(&model, &q)
            };
            let limit = model.limits(&turned(by)).next().unwrap();
            assert_eq!((limit.velocity, limit.row().len(), limit.is_curved()), (1, 3, true));
            assert!((limit.gap - (2.5 - by.length())).abs() < 1e-14);
            let h = 1e-4;
            let (speed, rate) =
                ((moved(h) - moved(-h)) / (2.0 * h), (moved(h) - 2.0 * moved(0.0) + moved(-h)) / (h * h));
            assert!((limit.speed(&v) - speed).abs() < 1e-7, "{by}: {speed}");
            assert!((limit.rate(&v) - rate).abs() < 1e-5, "{by}: {rate} {}", limit.rate(&v));
        }
    }

    #[test]
    fn a_quaternion_and_its_negative_are_one_rotation() {
        let model = model(1.0);
        let q = turned(Vec3::new(0.2, 0.9, -1.0));
        let negative: Vec<f64> = q.iter().map(|x| -x).collect();
        assert_eq!(model.limits(&q).next(), model.limits(&negative).next());
        // Beyond half a turn the shorter way is the other one.
        let far = model.limits(&turned(Vec3::new(0.0, 3.3, 0.0))).next().unwrap();
        assert!((far.gap - (1.0 - (2.0 * PI - 3.3))).abs() < 1e-14 && far.row()[1] > 0.99, "{far:?}");
    }

    #[test]
    fn there_is_none_at_half_a_turn_or_without_an_axis() {
        assert_eq!(model(PI).limits(&turned(Vec3::X)).count(), 0);
        assert_eq!(model(f64::INFINITY).limits(&turned(Vec3::X)).count(), 0);
        assert_eq!(model(1.0).limits(&turned(Vec3::ZERO)).count(), 0);
    }

    #[test]
    fn a_joint_that_hardly_turns_is_held_along_every_axis() {
        for largest in [0.0, 5e-7] {
            let (model, q) = (model(largest), turned(Vec3::ZERO));
            let keys: Vec<_> = model.limits(&q).map(|l| (l.velocity, l.away, l.gap)).collect();
            let gap = largest / 3.0_f64.sqrt();
            let expected: Vec<_> = (1..4).flat_map(|k| [(k, 1.0, gap), (k, -1.0, gap)]).collect();
            assert_eq!(keys.len(), 6);
            let near = |(a, b): (&(usize, f64, f64), &(usize, f64, f64))| {
                (a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() < 1e-20
            };
            assert!(keys.iter().zip(&expected).all(near), "{keys:?}");
        }
    }

    #[test]
    fn joints_are_put_within_their_limits_about_the_same_axis() {
        let (model, by) = (model(0.5), Vec3::new(1.0, -2.0, 0.5));
        let mut q = turned(by);
        model.links()[1].put_within_limits(&mut q);
        let expected = turned(by.normalize() * 0.5);
        assert!(q.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-15), "{q:?}");
        let inside = turned(Vec3::new(0.1, 0.2, 0.3));
        q.clone_from(&inside);
        model.links()[1].put_within_limits(&mut q);
        assert_eq!(q, inside);
    }

    #[test]
    fn beyond_limits_is_as_far_as_the_farthest_gap() {
        let mut builder = ModelBuilder::default();
        let inertia = Inertia::sphere(1.0, 0.1);
        let kinds = [
            (JointKind::Revolute { axis: Vec3::X }, [-0.5, 0.75]),
            (JointKind::Prismatic { axis: Vec3::Y }, [f64::NEG_INFINITY, 0.25]),
            (JointKind::Revolute { axis: Vec3::Z }, [f64::NEG_INFINITY, f64::INFINITY]),
            (JointKind::Spherical, [0.0, 0.5]),
            (JointKind::Spherical, [0.0, 0.0]),
        ];
        let mut parent = None;
        for (i, (kind, limits)) in kinds.into_iter().enumerate() {
            let mut spec = LinkSpec::on(format!("link {i}"), parent, kind, Pose::IDENTITY, inertia);
            spec.properties.limits = limits;
            parent = Some(builder.add(spec).unwrap());
        }
        let model = builder.build().unwrap().0;
        let mut q = model.neutral();
        assert_eq!(model.beyond_limits(&q), 0.0);
        for (k, x, expected) in [(1, 0.5, 0.25), (0, -1.25, 0.75), (2, 9.0, 0.75), (0, 0.5, 0.25), (1, -3.0, 0.0)] {
            q[k] = x;
            assert_eq!(model.beyond_limits(&q), expected, "{q:?}");
            let farthest = model.limits(&q).map(|limit| -limit.gap).fold(0.0, f64::max);
            assert_eq!(model.beyond_limits(&q), farthest);
        }
        let turned = axis_angle(Vec3::new(0.0, 0.9, 0.0));
        q[3..7].copy_from_slice(&[turned.w, turned.x, turned.y, turned.z]);
        assert!((model.beyond_limits(&q) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn limits_that_are_no_angles_are_refused() {
        for (limits, field) in [([-0.1, 1.0], "lower"), ([0.1, 1.0], "lower"), ([f64::NEG_INFINITY, -1.0], "upper")] {
            let mut spec = LinkSpec::on("a", None, JointKind::Spherical, Pose::IDENTITY, Inertia::sphere(1.0, 0.1));
            spec.properties.limits = limits;
            let error = ModelBuilder::default().add(spec).unwrap_err().to_string();
            assert!(error.contains("link \"a\"") && error.contains(field), "{error}");
        }
    }
}
