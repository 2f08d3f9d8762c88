//! Forces of a fluid on bodies that move in it.
//!
//! Both models are MuJoCo's. The fluid is everywhere, has no surface and is not moved by what is in it.
//!
//! Reference: MuJoCo's documentation, "Fluid forces".

use std::f64::consts::PI;

use stiction_body::math::{Pose, Vec3};
use stiction_body::{Model, Workspace};

/// Divisors are at least this, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// Something in a fluid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Immersed {
    /// The link.
    pub link: usize,
    /// The frame of its shape in the link.
    pub frame: Pose,
    /// What the fluid flows around.
    pub shape: FluidShape,
    /// Density of the fluid (kg/m³).
    pub density: f64,
    /// Viscosity of the fluid (Pa s).
    pub viscosity: f64,
    /// Velocity of the fluid (m/s).
    pub wind: Vec3,
}

/// What a fluid flows around.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FluidShape {
    /// The box of equal inertia of a body, by its edges (m). Its centre is the centre of mass.
    Box(Vec3),
    /// A geom, taken for an ellipsoid.
    Ellipsoid(FluidEllipsoid),
}

/// An ellipsoid in a fluid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FluidEllipsoid {
    /// Semi-axes (m).
    radii: Vec3,
    coefficients: FluidCoefficients,
    /// Volume of the fluid that moves with it, along each axis (m³).
    added_volume: Vec3,
    /// The same about each axis (m⁵).
    added_moment: Vec3,
}

/// How strongly a fluid acts on an ellipsoid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FluidCoefficients {
    /// Drag of the area that is seen from the direction of motion.
    pub blunt_drag: f64,
    /// Drag of the rest of the largest area.
    pub slender_drag: f64,
    /// Drag of rotation.
    pub angular_drag: f64,
    /// Lift of a surface that is inclined to the flow (Kutta and Zhukovsky).
    pub kutta_lift: f64,
    /// Lift of rotation across the flow (Magnus).
    pub magnus_lift: f64,
}

impl Immersed {
    /// Adds the forces at a state whose kinematics are up to date to `out`, nv (N or N m).
    pub(crate) fn add_forces(&self, model: &Model, work: &Workspace, out: &mut [f64]) {
        let frame = work.pose[self.link] * self.frame;
        let local = |x: Vec3| frame.rotation.inverse() * x;
        let linear = local(work.point_velocity(self.link, frame.translation) - self.wind);
        let angular = local(work.velocity[self.link].angular);
        let (force, moment) = match &self.shape {
            FluidShape::Box(edges) => self.on_box(*edges, linear, angular),
            FluidShape::Ellipsoid(ellipsoid) => ellipsoid.forces(self.density, self.viscosity, linear, angular),
        };
        let range = model.trees()[model.links()[self.link].tree].v.clone();
        let row = &mut out[range];
        work.add_point_row(model, self.link, frame.translation, frame.rotation * force, 1.0, row);
        work.add_angular_row(model, self.link, frame.rotation * moment, 1.0, row);
    }

    /// Force and moment on a box, along its axes.
    fn on_box(&self, edges: Vec3, linear: Vec3, angular: Vec3) -> (Vec3, Vec3) {
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        if self.viscosity > 0.0 {
            let (drag, turning) = stokes((edges.x + edges.y + edges.z) / 3.0);
            force -= linear * (drag * self.viscosity);
            moment -= angular * (turning * self.viscosity);
        }
        if self.density > 0.0 {
            let (a, b, c) = (edges.x, edges.y, edges.z);
            let areas = Vec3::new(b * c, a * c, a * b);
            force -= areas * (linear * linear.abs()) * (0.5 * self.density);
            let fourth = edges.to_array().map(|x| x.powi(4));
            let arms = Vec3::new(a * (fourth[1] + fourth[2]), b * (fourth[0] + fourth[2]), c * (fourth[0] + fourth[1]));
            moment -= arms * (angular * angular.abs()) * (self.density / 64.0);
        }
        (force, moment)
    }
}

/// Drag and moment of a slow sphere of that diameter, per viscosity and velocity (m and m³).
fn stokes(diameter: f64) -> (f64, f64) {
    (3.0 * PI * diameter, PI * diameter.powi(3))
}

impl FluidEllipsoid {
    /// An ellipsoid with those semi-axes (m).
    pub fn new(radii: Vec3, coefficients: FluidCoefficients) -> Self {
        let volume = volume(radii);
        let r = radii.to_array();
        let kappa = [0, 1, 2].map(|i| added_mass_integral(r[i], r[(i + 1) % 3], r[(i + 2) % 3]));
        // About the first axis, from the two others. Of two that are equal it moves no fluid.
        let moment = |i: usize| {
            let (y, z) = ((i + 1) % 3, (i + 2) % 3);
            let (difference, sum) = (r[y] * r[y] - r[z] * r[z], r[y] * r[y] + r[z] * r[z]);
            let between = kappa[y] - kappa[z];
            let divisor = (2.0 * difference + sum * between).abs().max(LEAST);
            volume / 5.0 * difference * difference * between.abs() / divisor
        };
        Self {
            radii,
            coefficients,
            added_volume: Vec3::from_array(kappa.map(|k| volume * k / (2.0 - k).max(LEAST))),
            added_moment: Vec3::from_array([0, 1, 2].map(moment)),
        }
    }

    /// Force and moment along its axes, of a motion through the fluid along them.
    fn forces(&self, density: f64, viscosity: f64, linear: Vec3, angular: Vec3) -> (Vec3, Vec3) {
        let (r, c) = (self.radii, &self.coefficients);
        // The momentum of the fluid that moves with it turns with it. What its change in size takes is left out, as in MuJoCo.
        let momentum = self.added_volume * linear * density;
        let spin = self.added_moment * angular * density;
        let mut force = momentum.cross(angular);
        let mut moment = momentum.cross(linear) + spin.cross(angular);

        // The area seen from the direction of motion, and the normal of the surface where the flow meets it.
        let speed = linear.length();
        let sides = Vec3::new(r.y * r.z, r.z * r.x, r.x * r.y);
        let normal = sides * sides * linear;
        let (across, along) = (normal.length_squared(), normal.dot(linear));
        let area = PI * (across / along.max(LEAST)).sqrt();
        let inclination = along / (speed * across).max(LEAST);
        force += angular.cross(linear) * (c.magnus_lift * density * volume(r));
        force += normal.cross(linear).cross(linear) * (c.kutta_lift * density * inclination * area);

        let (least, largest) = (r.min_element(), r.max_element());
        let middle = r.x + r.y + r.z - least - largest;
        let (drag, turning) = stokes(2.0 / 3.0 * (r.x + r.y + r.z));
        let shadow = c.blunt_drag * area + c.slender_drag * (PI * largest * middle - area);
        force -= linear * (viscosity * drag + density * speed * shadow);

        let turned = |along: f64, across: f64| 8.0 / 15.0 * PI * along * across.powi(4);
        let own = Vec3::new(turned(r.x, r.y.max(r.z)), turned(r.y, r.z.max(r.x)), turned(r.z, r.x.max(r.y)));
        let rest = Vec3::splat(turned(middle, largest)) - own;
        let resistance = (angular * (own * c.angular_drag + rest * c.slender_drag)).length();
        moment -= angular * (viscosity * turning + density * resistance);
        (force, moment)
    }
}

fn volume(radii: Vec3) -> f64 {
    4.0 / 3.0 * PI * radii.x * radii.y * radii.z
}

/// `κ = a b c ∫ dλ / ((a² + λ) √((a² + λ) (b² + λ) (c² + λ)))` over λ from 0 on: what motion along `a` takes with it.
///
/// By the rule of Gauss and Kronrod with 15 points, in x with `λ = s x³ / (1 − x)²`. MuJoCo's forces are those of this rule with points
/// and weights to eight digits (κ within 1e-3 of the integral for radii up to 10 : 1), so it is this rule here too.
fn added_mass_integral(a: f64, b: f64, c: f64) -> f64 {
    /// The weight of the middle of the interval from 0 to 1.
    const MIDDLE: f64 = 0.104_741_07;
    /// The points below the middle, and their weights, which those as far above it have too.
    const PAIRS: [(f64, f64); 7] = [
        (0.396_107_52, 0.102_216_47),
        (0.297_077_42, 0.095_175_29),
        (0.206_956_38, 0.084_502_36),
        (0.129_234_41, 0.070_326_63),
        (0.067_567_79, 0.052_395_01),
        (0.025_446_04, 0.031_546_05),
        (0.004_272_31, 0.011_467_66),
    ];
    let scale = libm::pow(a * a * a * b * c, 0.4);
    let per_square = [a, b, c].map(|r| scale / (r * r));
    let at = |x: f64| {
        let rest = 1.0 - x;
        let lambda = x * x * x / (rest * rest);
        let rate = x * x * (3.0 - x) / (rest * rest * rest);
        let [a, b, c] = per_square.map(|s| 1.0 + s * lambda);
        rate / (a * (a * b * c).sqrt())
    };
    let pairs = PAIRS.iter().map(|&(x, weight)| weight * (at(x) + at(1.0 - x)));
    (MIDDLE * at(0.5) + pairs.sum::<f64>()) * scale / (a * a)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: FluidCoefficients =
        FluidCoefficients { blunt_drag: 0.5, slender_drag: 0.25, angular_drag: 1.5, kutta_lift: 1.0, magnus_lift: 1.0 };

    #[test]
    fn a_sphere_moves_half_of_its_volume() {
        // κ is 2/3 of a sphere, by integration; of a long needle across its length 1, which is its whole volume.
        let sphere = FluidEllipsoid::new(Vec3::splat(0.3), PLAIN);
        let half = 0.5 * volume(sphere.radii);
        assert!((sphere.added_volume / half).abs_diff_eq(Vec3::ONE, 1e-4), "{:?}", sphere.added_volume);
        assert_eq!(sphere.added_moment, Vec3::ZERO);
        let needle = FluidEllipsoid::new(Vec3::new(0.1, 0.1, 2.0), PLAIN);
        let parts = needle.added_volume / volume(needle.radii);
        assert!((parts.x - 1.0).abs() < 0.02 && parts.x == parts.y && parts.z < 0.01, "{parts}");
    }

    #[test]
    fn drag_takes_energy_and_lift_none() {
        let ellipsoid = FluidEllipsoid::new(Vec3::new(0.1, 0.3, 0.2), PLAIN);
        let lift = FluidCoefficients { blunt_drag: 0.0, slender_drag: 0.0, angular_drag: 0.0, ..PLAIN };
        let lifted = FluidEllipsoid::new(ellipsoid.radii, lift);
        for k in 0..20 {
            let x = f64::from(k);
            let linear = Vec3::new(libm::sin(x), libm::cos(3.0 * x), libm::sin(2.0 * x + 1.0));
            let angular = Vec3::new(libm::cos(x), libm::sin(5.0 * x), libm::cos(2.0 * x));
            let power = |of: &FluidEllipsoid, viscosity| {
                let (force, moment) = of.forces(1.2, viscosity, linear, angular);
                force.dot(linear) + moment.dot(angular)
            };
            assert!(power(&lifted, 0.0).abs() < 1e-15, "{}", power(&lifted, 0.0));
            assert!(power(&ellipsoid, 0.0) < 0.0 && power(&lifted, 0.1) < 0.0);
        }
        assert_eq!(ellipsoid.forces(1.2, 0.1, Vec3::ZERO, Vec3::ZERO), (Vec3::ZERO, Vec3::ZERO));
    }
}
