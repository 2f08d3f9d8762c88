//! What a surface is made of, and what comes out where two meet.

use std::fmt;

use stiction_body::math::Vec3;
use stiction_lcp::InputError;

/// Surface of a geom.
#[derive(Clone, Copy, PartialEq)]
pub struct Material {
    /// Coulomb coefficient, 0 to infinity; along `mu_direction` where friction depends on the direction of slip.
    pub mu: f64,
    /// Coulomb coefficient across `mu_direction`, finite as `mu` then is; none where friction is the same in all directions.
    pub mu_across: Option<f64>,
    /// Coulomb coefficient of a contact that does not slide, not below `mu`, which is that of sliding then; none where both are the same.
    pub mu_static: Option<f64>,
    /// The direction along which `mu` counts, in the geom's own frame; of the surface of a pair in the world. Of any length above 0.
    pub mu_direction: Vec3,
    /// Torsional coefficient (m), 0 to infinity: |moment about the normal| ≤ mu_spin · normal force.
    pub mu_spin: f64,
    /// Rolling coefficient (m), 0 or above and finite: |moment in the tangent plane| ≤ mu_roll · normal force.
    pub mu_roll: f64,
    /// Viscous coefficient (N s/m), for models with viscous friction.
    pub mu_viscous: f64,
    /// Restitution, 0 to 1.
    pub restitution: f64,
    /// Velocity of the surface in the geom's own frame (m/s), as of a conveyor belt.
    pub surface_velocity: Vec3,
}

impl fmt::Debug for Material {
    /// All numbers; those that few surfaces have only where they are there, so that the fingerprints of recorded worlds
    /// without them stay what they were.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mu, mu_across, mu_static, mu_direction, mu_spin, .. } = self;
        let Self { mu_roll, mu_viscous, restitution, surface_velocity, .. } = self;
        let mut out = f.debug_struct("Material");
        out.field("mu", mu).field("mu_spin", mu_spin).field("mu_viscous", mu_viscous);
        out.field("restitution", restitution).field("surface_velocity", surface_velocity);
        if *mu_roll != 0.0 {
            out.field("mu_roll", mu_roll);
        }
        if mu_across.is_some() {
            out.field("mu_across", mu_across).field("mu_direction", mu_direction);
        }
        if mu_static.is_some() {
            out.field("mu_static", mu_static);
        }
        out.finish()
    }
}

impl Default for Material {
    /// Dry friction of 0.5, nothing else.
    fn default() -> Self {
        Self {
            mu: 0.5,
            mu_across: None,
            mu_static: None,
            mu_direction: Vec3::X,
            mu_spin: 0.0,
            mu_roll: 0.0,
            mu_viscous: 0.0,
            restitution: 0.0,
            surface_velocity: Vec3::ZERO,
        }
    }
}

impl Material {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Naming the field out of range.
    pub fn check(&self) -> Result<(), InputError> {
        let Self { mu, mu_spin, mu_roll, mu_viscous, .. } = *self;
        for (what, x) in [("mu", mu), ("mu_spin", mu_spin), ("mu_roll", mu_roll), ("mu_viscous", mu_viscous)] {
            if x.is_nan() || x < 0.0 {
                return Err(InputError::OutOfRange { what: what.into(), expected: "at least 0", found: x });
            }
        }
        if mu_roll.is_infinite() {
            return Err(InputError::NotFinite { what: "mu_roll".into(), value: mu_roll });
        }
        self.check_ellipse()?;
        if let Some(found) = self.mu_static.filter(|x| x.is_nan() || *x < mu) {
            return Err(InputError::OutOfRange { what: "mu_static".into(), expected: "at least mu", found });
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            let found = self.restitution;
            return Err(InputError::OutOfRange { what: "restitution".into(), expected: "from 0 to 1", found });
        }
        match self.surface_velocity.to_array().into_iter().find(|x| !x.is_finite()) {
            Some(value) => Err(InputError::NotFinite { what: "surface_velocity".into(), value }),
            None => Ok(()),
        }
    }
}

impl Material {
    fn check_ellipse(&self) -> Result<(), InputError> {
        let Some(across) = self.mu_across else { return Ok(()) };
        if across.is_nan() || across < 0.0 {
            return Err(InputError::OutOfRange { what: "mu_across".into(), expected: "at least 0", found: across });
        }
        for (what, value) in [("mu", self.mu), ("mu_across", across)] {
            if value.is_infinite() {
                return Err(InputError::NotFinite { what: format!("{what} beside another coefficient"), value });
            }
        }
        let length = self.mu_direction.length();
        match length.is_finite() && length > 0.0 {
            true => Ok(()),
            false => {
                let (what, expected) = ("length of mu_direction".into(), "above 0 and finite");
                Err(InputError::OutOfRange { what, expected, found: length })
            }
        }
    }
}

/// How the coefficients of two surfaces combine, restitution among them. Surface velocities are never combined: each belongs to its own side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaterialRule {
    /// √(a b): the default. Zero with anything is zero, infinite with anything above zero is infinite.
    #[default]
    GeometricMean,
    /// The smaller one.
    Minimum,
    /// The larger one, as in MuJoCo.
    Maximum,
    /// (a + b)/2.
    Mean,
}

impl MaterialRule {
    /// The pair's coefficient.
    pub fn combine(self, a: f64, b: f64) -> f64 {
        match self {
            Self::GeometricMean if a == 0.0 || b == 0.0 => 0.0,
            Self::GeometricMean if a == b => a,
            Self::GeometricMean => a.sqrt() * b.sqrt(),
            Self::Minimum => a.min(b),
            Self::Maximum => a.max(b),
            Self::Mean => 0.5 * a + 0.5 * b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_combine_without_nan() {
        use MaterialRule::*;
        assert_eq!(GeometricMean.combine(0.0, f64::INFINITY), 0.0);
        assert_eq!(GeometricMean.combine(0.5, f64::INFINITY), f64::INFINITY);
        assert_eq!(GeometricMean.combine(0.3, 0.3), 0.3);
        assert!((GeometricMean.combine(0.2, 0.8) - 0.4).abs() < 1e-15);
        assert_eq!((Minimum.combine(0.2, 0.8), Maximum.combine(0.2, 0.8), Mean.combine(0.2, 0.8)), (0.2, 0.8, 0.5));
    }

    #[test]
    fn ranges_are_checked() {
        let bad = |m: Material| m.check().unwrap_err().to_string();
        assert!(bad(Material { mu: -0.1, ..Material::default() }).starts_with("mu "));
        assert!(bad(Material { mu: f64::NAN, ..Material::default() }).starts_with("mu "));
        assert!(bad(Material { mu_roll: -0.1, ..Material::default() }).starts_with("mu_roll"));
        assert!(bad(Material { mu_roll: f64::INFINITY, ..Material::default() }).starts_with("mu_roll"));
        assert!(bad(Material { restitution: 1.1, ..Material::default() }).starts_with("restitution"));
        assert!(bad(Material { surface_velocity: Vec3::NAN, ..Material::default() }).starts_with("surface_velocity"));
        assert!(Material { mu: f64::INFINITY, ..Material::default() }.check().is_ok());
    }
}
