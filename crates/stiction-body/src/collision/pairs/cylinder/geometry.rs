//! A cylinder in the frame of the other shape: its lowest points, its rims, what crosses its side.

use crate::collision::closest::to_cylinder;
use crate::collision::frame::Frame;
use crate::collision::pairs::half_space::{between_spokes, spokes};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// A cylinder in the frame of the other shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cylinder {
    pub centre: Vec3,
    /// Unit vectors; the third is the axis.
    pub axes: [Vec3; 3],
    pub half_length: f64,
    pub radius: f64,
}

impl Cylinder {
    pub(crate) fn new(relative: &Frame, half_length: f64, radius: f64) -> Self {
        let r = &relative.rotation;
        Self { centre: relative.origin, axes: [r.x_axis, r.y_axis, r.z_axis], half_length, radius }
    }

    pub(crate) fn axis(&self) -> Vec3 {
        self.axes[2]
    }

    /// The part of a vector across the axis.
    pub(crate) fn across(&self, v: Vec3) -> Vec3 {
        v - self.axis() * self.axis().dot(v)
    }

    /// The cylinder's lowest point in direction n; one of them where there are many.
    pub(crate) fn lowest(&self, n: Vec3) -> Vec3 {
        let end = if self.axis().dot(n) < 0.0 { self.half_length } else { -self.half_length };
        self.centre + self.axis() * end - self.spoke(n) * self.radius
    }

    /// The unit vector across the axis that is most along the unit vector n; zero if n is along the axis.
    fn spoke(&self, n: Vec3) -> Vec3 {
        /// Below this nothing but rounding is left across the axis.
        const NOTHING: f64 = 1e-15;
        let across = self.across(n);
        let length = across.norm();
        // What rounding left along the axis is large beside a short vector: taken out once more.
        if length > NOTHING { self.across(across / length).unit_or_zero() } else { Vec3::ZERO }
    }

    /// Four points of the rim that is lower in direction n, the lowest first, and the point of the other rim above that.
    pub(crate) fn rim_points(&self, n: Vec3) -> [Vec3; 5] {
        let [x, y, z] = self.axes;
        let end = z * if z.dot(n) < 0.0 { self.half_length } else { -self.half_length };
        let spokes = spokes(Vec3::new(-x.dot(n), -y.dot(n), 0.0)).map(|s| (x * s.x + y * s.y) * self.radius);
        let on = |k: usize, end: Vec3| self.centre + end + spokes[k];
        [on(0, end), on(1, end), on(2, end), on(3, end), on(0, -end)]
    }

    /// Points of the lower rim between those of [`Self::rim_points`], if it is tilted.
    pub(crate) fn between_rim_points(&self, n: Vec3) -> Option<[Vec3; 4]> {
        let [x, y, z] = self.axes;
        let end = z * if z.dot(n) < 0.0 { self.half_length } else { -self.half_length };
        let spokes = between_spokes(Vec3::new(-x.dot(n), -y.dot(n), 0.0))?;
        Some(spokes.map(|s| self.centre + end + (x * s.x + y * s.y) * self.radius))
    }

    /// Coordinates along the axis and distance from it.
    pub(crate) fn cylindrical(&self, p: Vec3) -> [f64; 2] {
        [self.axis().dot(p - self.centre), self.across(p - self.centre).norm()]
    }

    /// Parameters in [0, 1] where the segment from p to q crosses the cylinder's side, endless along the axis.
    pub(crate) fn side_crossings(&self, p: Vec3, q: Vec3) -> [Option<f64>; 2] {
        let (from, along) = (self.across(p - self.centre), self.across(q - p));
        let (a, b, c) = (along.length_squared(), from.dot(along), from.length_squared() - self.radius * self.radius);
        let discriminant = b * b - a * c;
        if a <= 0.0 || discriminant <= 0.0 {
            return [None; 2];
        }
        // Both roots without cancellation.
        let s = -b - discriminant.sqrt().copysign(b);
        [s / a, c / s].map(|t| (0.0..=1.0).contains(&t).then_some(t))
    }

    /// The direction in which the cylinder leaves a point inside it soonest, and the negative way.
    pub(crate) fn way_out(&self, p: Vec3) -> (Vec3, f64) {
        let [x, y, z] = self.axes.map(|a| a.dot(p - self.centre));
        let near = to_cylinder(Vec3::new(x, y, z), self.half_length, self.radius);
        let [x, y, z] = self.axes;
        (-(x * near.normal.x + y * near.normal.y + z * near.normal.z), near.distance)
    }

    /// A point of the segment from p to q inside the cylinder, halfway through it.
    pub(crate) fn inside_on(&self, p: Vec3, q: Vec3) -> Option<Vec3> {
        let [from, to] = [p, q].map(|x| self.axis().dot(x - self.centre));
        let ends = [-self.half_length, self.half_length].map(|z| (z - from) / (to - from));
        let (mut enter, mut leave) = if from == to {
            if from.abs() < self.half_length { (0.0, 1.0) } else { return None }
        } else {
            (ends[0].min(ends[1]).max(0.0), ends[0].max(ends[1]).min(1.0))
        };
        let (start, along) = (self.across(p - self.centre), self.across(q - p));
        let (a, b, c) = (along.length_squared(), start.dot(along), start.length_squared() - self.radius * self.radius);
        let discriminant = b * b - a * c;
        if a > 0.0 && discriminant > 0.0 {
            enter = f64::max(enter, (-b - discriminant.sqrt()) / a);
            leave = f64::min(leave, (-b + discriminant.sqrt()) / a);
        } else if c >= 0.0 {
            return None;
        }
        (enter < leave).then(|| p + (q - p) * (0.5 * (enter + leave)))
    }
}
