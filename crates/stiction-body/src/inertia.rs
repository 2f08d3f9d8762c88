//! Mass, centre and rotational inertia of a link.

use crate::math::{Mat3, Pose, Vec3};
use crate::range;
use stiction_linalg::InputError;

/// How far the triangle inequality of principal moments may be missed, beside the largest: the rounding of a model file.
const TRIANGLE: f64 = 1e-6;

/// Inertia of a rigid body in its own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass in the body's frame (m).
    pub com: Vec3,
    /// Rotational inertia about the centre of mass, along the body's axes (kg m²), symmetric.
    pub about_com: Mat3,
}

impl Inertia {
    /// Nothing at all: for links that only connect others.
    pub const ZERO: Self = Self { mass: 0.0, com: Vec3::ZERO, about_com: Mat3::ZERO };

    /// A body of the given mass, centre and inertia about the centre.
    ///
    /// # Errors
    /// If the mass is not positive, a number is not finite or beyond what can be computed with
    /// ([`crate::range`]), or no body can have such an inertia (negative principal moments, or one
    /// larger than the sum of the two others).
    pub fn new(mass: f64, com: Vec3, about_com: Mat3) -> Result<Self, InputError> {
        if let Some(x) = com.to_array().into_iter().chain(about_com.to_cols_array()).find(|x| !x.is_finite()) {
            return Err(InputError::NotFinite { what: "centre of mass or inertia".into(), value: x });
        }
        let out = Self { mass, com, about_com: symmetric(about_com) };
        out.check_range("")?;
        out.check_moments()?;
        Ok(out)
    }

    /// Checks that mass, centre and rotational inertia are numbers that can be computed with;
    /// nothing at all is one.
    ///
    /// # Errors
    /// Naming the number after `place`.
    pub(crate) fn check_range(&self, place: &str) -> Result<(), InputError> {
        let what = |field: &str| format!("{place}{field}");
        if *self == Self::ZERO {
            return Ok(());
        }
        range::check(what("mass"), self.mass)?;
        for x in self.com.to_array() {
            range::check_coordinate(what("centre of mass"), x)?;
        }
        let largest = self.about_com.to_cols_array().into_iter().fold(0.0, |max: f64, x| max.max(x.abs()));
        let fits = largest == 0.0 || (1.0 / range::LARGEST_INERTIA..=range::LARGEST_INERTIA).contains(&largest);
        if fits {
            return Ok(());
        }
        let expected = "from 1e-150 to 1e150, or 0";
        Err(InputError::OutOfRange { what: what("rotational inertia"), expected, found: largest })
    }

    /// A principal moment at least 0 and at most the sum of the two others: `½ trace(I) 1 − I` is positive semidefinite.
    fn check_moments(&self) -> Result<(), InputError> {
        let trace = self.about_com.x_axis.x + self.about_com.y_axis.y + self.about_com.z_axis.z;
        let slack = TRIANGLE * trace.abs();
        let density = Mat3::from_diagonal(Vec3::splat(0.5 * trace + slack)) - self.about_com;
        if trace >= 0.0 && positive_semidefinite(density) {
            return Ok(());
        }
        let reason = "one principal moment is negative, or larger than the sum of the two others".into();
        Err(InputError::NotPositiveDefinite { what: "rotational inertia".into(), reason })
    }

    /// A solid box with the given full sides.
    pub fn cuboid(mass: f64, sides: Vec3) -> Self {
        let s = sides * sides;
        let moments = Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass / 12.0);
        Self { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(moments) }
    }

    /// A solid sphere.
    pub fn sphere(mass: f64, radius: f64) -> Self {
        Self { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(Vec3::splat(0.4 * mass * radius * radius)) }
    }

    /// A solid ellipsoid with half axes `radii` (m) along x, y and z.
    pub fn ellipsoid(mass: f64, radii: Vec3) -> Self {
        let s = radii * radii * (mass / 5.0);
        Self { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y)) }
    }

    /// A solid cylinder of the given length along z.
    pub fn cylinder(mass: f64, radius: f64, length: f64) -> Self {
        let across = mass * (3.0 * radius * radius + length * length) / 12.0;
        let along = 0.5 * mass * radius * radius;
        Self { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(Vec3::new(across, across, along)) }
    }

    /// A solid capsule along z: a cylinder of the given length with half spheres at its ends.
    pub fn capsule(mass: f64, radius: f64, length: f64) -> Self {
        let (r2, l) = (radius * radius, length);
        // Volumes over π r².
        let (cylinder, ball) = (l, 4.0 / 3.0 * radius);
        let (mc, mb) = (mass * cylinder / (cylinder + ball), mass * ball / (cylinder + ball));
        let along = 0.5 * mc * r2 + 0.4 * mb * r2;
        let across = mc * (3.0 * r2 + l * l) / 12.0 + mb * (0.4 * r2 + 0.25 * l * l + 0.375 * l * radius);
        Self { mass, com: Vec3::ZERO, about_com: Mat3::from_diagonal(Vec3::new(across, across, along)) }
    }

    /// The same body seen from a frame in which its own frame has the given pose.
    pub fn transformed(&self, pose: &Pose) -> Self {
        let r = Mat3::from_quat(pose.rotation);
        Self {
            mass: self.mass,
            com: pose.transform_point(self.com),
            about_com: symmetric(r * self.about_com * r.transpose()),
        }
    }

    /// Two bodies as one, in the same frame.
    pub fn joined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return Self::ZERO;
        }
        let com = (self.com * self.mass + other.com * other.mass) / mass;
        let about = |part: &Self| part.about_com + point_inertia(part.mass, part.com - com);
        Self { mass, com, about_com: symmetric(about(self) + about(other)) }
    }
}

/// Rotational inertia of a point mass at `r`: `m (|r|² 1 − r rᵀ)`.
pub(crate) fn point_inertia(mass: f64, r: Vec3) -> Mat3 {
    Mat3::from_diagonal(Vec3::splat(mass * r.length_squared()))
        - Mat3::from_cols(r * (mass * r.x), r * (mass * r.y), r * (mass * r.z))
}

fn symmetric(a: Mat3) -> Mat3 {
    (a + a.transpose()) * 0.5
}

/// True if all leading and other principal minors of a symmetric 3 × 3 matrix are at least 0.
fn positive_semidefinite(a: Mat3) -> bool {
    let (d, o) = ([a.x_axis.x, a.y_axis.y, a.z_axis.z], [a.x_axis.y, a.x_axis.z, a.y_axis.z]);
    let minors = [d[0] * d[1] - o[0] * o[0], d[0] * d[2] - o[1] * o[1], d[1] * d[2] - o[2] * o[2]];
    d.iter().all(|x| *x >= 0.0) && minors.iter().all(|x| *x >= 0.0) && a.determinant() >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, axis_angle};

    #[test]
    fn a_capsule_without_length_is_a_sphere_and_with_much_a_rod() {
        let (a, b) = (Inertia::capsule(2.0, 0.3, 0.0), Inertia::sphere(2.0, 0.3));
        assert!((a.about_com - b.about_com).abs_diff_eq(Mat3::ZERO, 1e-15));
        let rod = Inertia::capsule(1.0, 1e-6, 2.0).about_com.x_axis.x;
        assert!((rod - 4.0 / 12.0).abs() < 1e-5);
    }

    #[test]
    fn two_halves_make_a_whole_wherever_they_are_seen_from() {
        let half = Inertia::cuboid(1.0, Vec3::new(1.0, 2.0, 3.0));
        let at = |x: f64| half.transformed(&Pose::from_translation(Vec3::new(x, 0.0, 0.0)));
        let whole = at(-0.5).joined(&at(0.5));
        let expected = Inertia::cuboid(2.0, Vec3::new(2.0, 2.0, 3.0));
        assert!(whole.about_com.abs_diff_eq(expected.about_com, 1e-14) && whole.com.length() < 1e-15);
        let pose = Pose::from_parts(Vec3::new(0.3, 1.0, -2.0), axis_angle(Vec3::new(0.4, 0.3, -0.2)));
        let moved = at(-0.5).transformed(&pose).joined(&at(0.5).transformed(&pose));
        let expected = expected.transformed(&pose);
        assert!(moved.about_com.abs_diff_eq(expected.about_com, 1e-13) && moved.com.abs_diff_eq(expected.com, 1e-14));
        assert!(Quat::IDENTITY.is_normalized());
    }

    #[test]
    fn impossible_inertias_are_refused() {
        let diagonal = |x, y, z| Inertia::new(1.0, Vec3::ZERO, Mat3::from_diagonal(Vec3::new(x, y, z)));
        assert!(diagonal(1.0, 1.0, 2.0).is_ok(), "a thin plate");
        assert!(diagonal(1.0, 1.0, 2.1).is_err());
        assert!(diagonal(-1.0, 1.0, 1.0).is_err());
        assert!(diagonal(0.0, 0.0, 0.0).is_ok(), "a point");
        assert!(Inertia::new(0.0, Vec3::ZERO, Mat3::IDENTITY).is_err());
        assert!(Inertia::new(1.0, Vec3::NAN, Mat3::IDENTITY).is_err());
    }
}
