//! Friction that depends on the direction of slip: the axes of a contact's friction ellipse.
//!
//! The friction (f_s, f_t) along two tangents lies in the ellipse `(f_s/μ_s)² + (f_t/μ_t)² ≤ f_n²` and dissipates most. With
//! `f_t = (μ_t/μ_s) q` the pair (f_s, q) lies in the disc of radius μ_s f_n, and dissipates most against the slip `(u_s, (μ_t/μ_s) u_t)`: the
//! law of the disc, with the row of the second tangent times μ_t/μ_s. So the ellipse is a matter of rows alone.

use stiction_body::math::{Vec3, tangents};
use stiction_body::{ContactPoint, Workspace};

use crate::material::Material;
use crate::world::World;

/// A direction whose part in the tangent plane is at most this has none there.
const ALONG_NORMAL: f64 = 1e-6;

/// Sine of the angle below which a direction is along an axis, or across it.
const ALIGNED: f64 = 1e-9;

/// The axes of a contact's friction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FrictionAxes {
    /// Unit tangents, a right-handed frame with the normal.
    pub tangents: [Vec3; 2],
    /// Coulomb coefficient along the first tangent; not below that along the second.
    pub mu: f64,
    /// The part of it that counts along the second.
    pub ratio: f64,
}

/// The friction of one surface in a contact's tangent plane.
#[derive(Debug, Clone, Copy)]
struct Ellipse {
    /// Where `along` counts; none where friction is the same in all directions.
    axis: Option<Vec3>,
    along: f64,
    across: f64,
}

impl Ellipse {
    /// Of a material with its direction in the world.
    fn new(material: &Material, direction: Vec3, normal: Vec3) -> Self {
        let Some(across) = material.mu_across.filter(|across| *across != material.mu) else {
            return Self { axis: None, along: material.mu, across: material.mu };
        };
        let tangential = direction - normal * normal.dot(direction);
        let length = tangential.length();
        if length <= ALONG_NORMAL * direction.length() {
            // Seen from its end, every direction is across it.
            return Self { axis: None, along: across, across };
        }
        Self { axis: Some(tangential * (1.0 / length)), along: material.mu, across }
    }

    /// The coefficient along the unit tangent `x`.
    fn radius(&self, x: Vec3) -> f64 {
        let Some(axis) = self.axis else { return self.along };
        let cos = axis.dot(x);
        let sin = (x - axis * cos).length();
        if cos.abs() <= ALIGNED {
            self.across
        } else if sin <= ALIGNED {
            self.along
        } else {
            self.along * self.across / libm::hypot(self.across * cos, self.along * sin)
        }
    }
}

/// The axes of the friction at a contact between geoms with this material.
#[inline]
pub(crate) fn friction_axes(world: &World, work: &Workspace, at: &ContactPoint, material: &Material) -> FrictionAxes {
    match material.mu_across {
        None => {
            let (s, t) = tangents(at.normal);
            FrictionAxes { tangents: [s, t], mu: material.mu, ratio: 1.0 }
        }
        Some(_) => ellipse_axes(world, work, at),
    }
}

/// The same where friction depends on the direction. Where both surfaces have a direction, the axes are those of the first, and the
/// second counts with its coefficients along them.
fn ellipse_axes(world: &World, work: &Workspace, at: &ContactPoint) -> FrictionAxes {
    let (s, t) = tangents(at.normal);
    let same = |mu: f64| FrictionAxes { tangents: [s, t], mu, ratio: 1.0 };
    let surfaces = &world.surfaces;
    let [a, b] = match surfaces.pair(at.geoms[0], at.geoms[1]) {
        Some(pair) => [Ellipse::new(pair, pair.mu_direction, at.normal); 2],
        None => at.geoms.map(|g| {
            let (geom, own) = (&world.geoms[g], &surfaces.of[g]);
            let rotation = geom.link.map_or(geom.pose.rotation, |l| work.pose[l].rotation * geom.pose.rotation);
            Ellipse::new(own, rotation * own.mu_direction, at.normal)
        }),
    };
    let rule = surfaces.rule_between(at.geoms[0], at.geoms[1]);
    let Some(e) = a.axis.or(b.axis) else { return same(rule.combine(a.along, b.along)) };
    let f = at.normal.cross(e);
    // A number combined with itself is itself, under every rule.
    let [along, across] = [e, f].map(|x| rule.combine(a.radius(x), b.radius(x)));
    if along == across {
        return same(along);
    }
    match along > across {
        true => FrictionAxes { tangents: [e, f], mu: along, ratio: across / along },
        false => FrictionAxes { tangents: [f, e * -1.0], mu: across, ratio: along / across },
    }
}
