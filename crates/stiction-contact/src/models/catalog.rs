//! All models by name: the table that programs, the soak and the documentation share.

use stiction_lcp::InputError;

use crate::model::{ContactModel, Level, ModelOptions};
use crate::models::{
    BaraffFriction, CoulombCone, CoulombPolyhedral, CoulombPyramid, DrumwrightShell, Frictionless, NoSlip,
    NoSlipOptions, NormalOptions, PolyhedralOptions, PyramidOptions, Viscous,
};

/// One model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name in kebab case.
    pub name: &'static str,
    /// The levels it has, the usual one first.
    pub levels: &'static [Level],
    /// Its law in a few words.
    pub law: &'static str,
    /// When to use it.
    pub when: &'static str,
    /// Whether it can be computed from a Delassus operator alone.
    pub needs_only_delassus: bool,
}

const VELOCITY: &[Level] = &[Level::Velocity];
const ACCELERATION: &[Level] = &[Level::Acceleration];
const BOTH: &[Level] = &[Level::Velocity, Level::Acceleration];

/// All models.
pub const CATALOG: [Entry; 8] = [
    Entry {
        name: "coulomb-cone",
        levels: BOTH,
        law: "Coulomb with the quadratic cone",
        when: "always, unless you know better",
        needs_only_delassus: true,
    },
    Entry {
        name: "coulomb-polyhedral",
        levels: VELOCITY,
        law: "Coulomb with a cone of d sides (Stewart–Trinkle, Anitescu–Potra)",
        when: "a solution must be certain; many contacts on few bodies",
        needs_only_delassus: true,
    },
    Entry {
        name: "frictionless",
        levels: BOTH,
        law: "Signorini alone",
        when: "there is no friction",
        needs_only_delassus: true,
    },
    Entry {
        name: "viscous",
        levels: BOTH,
        law: "drag in proportion to slip, whatever the normal force (Drumwright)",
        when: "lubricated contact",
        needs_only_delassus: false,
    },
    Entry {
        name: "no-slip",
        levels: VELOCITY,
        law: "touching contacts do not slip (Drumwright)",
        when: "grasps and feet that must hold; the fastest",
        needs_only_delassus: false,
    },
    Entry {
        name: "coulomb-pyramid",
        levels: ACCELERATION,
        law: "Coulomb with a four-sided pyramid; rolling and sliding, soft fingers (Trinkle et al.)",
        when: "accelerations and forces at an instant",
        needs_only_delassus: false,
    },
    Entry {
        name: "baraff-friction",
        levels: ACCELERATION,
        law: "static and dynamic friction by the driving method (Baraff)",
        when: "comparison with the literature; rays that become impacts",
        needs_only_delassus: false,
    },
    Entry {
        name: "drumwright-shell",
        levels: VELOCITY,
        law: "least kinetic energy within the cones (Drumwright and Shell)",
        when: "impacts as a convex program",
        needs_only_delassus: false,
    },
];

/// Makes the model of that name at a level.
///
/// # Errors
/// `InputError::Option` if there is no such model, with the names there are, or if it does not have that level.
pub fn build_at(name: &str, level: Level, options: &ModelOptions) -> Result<Box<dyn ContactModel>, InputError> {
    let model = build(name, options)?;
    if model.level() == level {
        return Ok(model);
    }
    let normals = || NormalOptions { model: options.clone(), ..NormalOptions::default() };
    Ok(match name {
        "coulomb-cone" => Box::new(CoulombCone::new(level, options.clone())),
        "frictionless" => Box::new(Frictionless::new(level, normals())),
        "viscous" => Box::new(Viscous::new(level, normals())),
        _ => {
            let of = |level: Level| CATALOG.iter().filter(move |e| e.levels.contains(&level)).map(|e| e.name);
            let (what, names) = match level {
                Level::Velocity => ("velocities", of(level).collect::<Vec<_>>().join(", ")),
                Level::Acceleration => ("accelerations", of(level).collect::<Vec<_>>().join(", ")),
            };
            let reason = format!("expected a model of {what} ({names}), found '{name}'");
            return Err(InputError::Option { name: "model", reason });
        }
    })
}

/// Makes the model of that name at its usual level.
///
/// # Errors
/// `InputError::Option` if there is no such model, with the names there are.
pub fn build(name: &str, options: &ModelOptions) -> Result<Box<dyn ContactModel>, InputError> {
    options.check()?;
    let normals = || NormalOptions { model: options.clone(), ..NormalOptions::default() };
    Ok(match name {
        "coulomb-cone" => Box::new(CoulombCone::new(Level::Velocity, options.clone())),
        "coulomb-polyhedral" => Box::new(CoulombPolyhedral::new(PolyhedralOptions {
            model: options.clone(),
            ..PolyhedralOptions::default()
        })?),
        "frictionless" => Box::new(Frictionless::new(Level::Velocity, normals())),
        "viscous" => Box::new(Viscous::new(Level::Velocity, normals())),
        "no-slip" => Box::new(NoSlip::new(NoSlipOptions { normals: normals(), ..NoSlipOptions::default() })),
        "coulomb-pyramid" => {
            Box::new(CoulombPyramid::new(PyramidOptions { common: options.clone(), ..PyramidOptions::default() }))
        }
        "baraff-friction" => Box::new(BaraffFriction::new(options.clone())),
        "drumwright-shell" => {
            let mut model = DrumwrightShell::default();
            model.options = options.clone();
            Box::new(model)
        }
        _ => {
            let names = CATALOG.map(|entry| entry.name).join(", ");
            return Err(InputError::Option {
                name: "model",
                reason: format!("expected one of {names}, found '{name}'"),
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_built_at_the_levels_they_have() {
        let options = ModelOptions::default();
        for entry in CATALOG {
            assert_eq!(build(entry.name, &options).unwrap().level(), entry.levels[0], "{}", entry.name);
            for level in [Level::Velocity, Level::Acceleration] {
                let model = build_at(entry.name, level, &options);
                assert_eq!(model.is_ok(), entry.levels.contains(&level), "{} {level:?}", entry.name);
                match model {
                    Ok(model) => assert_eq!((model.name(), model.level()), (entry.name, level)),
                    Err(e) => assert!(e.to_string().contains(entry.name), "{e}"),
                }
            }
        }
    }
}
