//! All models by name: the table that programs, the soak and the documentation share.

use stiction_lcp::InputError;

use crate::model::{ContactModel, Level, ModelOptions};
use crate::models::coulomb_polyhedral::Method;
use crate::models::{
    BaraffFriction, CoulombCone, CoulombPolyhedral, CoulombPyramid, Frictionless, NoSlip, NoSlipOptions, NormalOptions,
    NormalSolver, PolyhedralOptions, PyramidMethod, PyramidOptions, Viscous,
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
    /// The methods it can be solved by, the usual one first; empty where there is one only.
    pub solvers: &'static [&'static str],
}

const VELOCITY: &[Level] = &[Level::Velocity];
const ACCELERATION: &[Level] = &[Level::Acceleration];
const BOTH: &[Level] = &[Level::Velocity, Level::Acceleration];

const NORMALS: &[&str] = &["nnls", "modified-ppm", "lemke"];

/// All models.
pub const CATALOG: [Entry; if cfg!(feature = "clarabel") { 8 } else { 7 }] = [
    Entry {
        name: "coulomb-cone",
        levels: BOTH,
        law: "Coulomb with the quadratic cone",
        when: "always, unless you know better",
        needs_only_delassus: true,
        solvers: &[],
    },
    Entry {
        name: "coulomb-polyhedral",
        levels: VELOCITY,
        law: "Coulomb with a cone of d sides (Stewart–Trinkle, Anitescu–Potra)",
        when: "a solution must be certain; many contacts on few bodies",
        needs_only_delassus: true,
        solvers: &["reduced", "structural", "standard"],
    },
    Entry {
        name: "frictionless",
        levels: BOTH,
        law: "Signorini alone",
        when: "there is no friction",
        needs_only_delassus: true,
        solvers: NORMALS,
    },
    Entry {
        name: "viscous",
        levels: BOTH,
        law: "drag in proportion to slip, whatever the normal force (Drumwright)",
        when: "lubricated contact",
        needs_only_delassus: false,
        solvers: NORMALS,
    },
    Entry {
        name: "no-slip",
        levels: VELOCITY,
        law: "touching contacts do not slip (Drumwright)",
        when: "grasps and feet that must hold; the fastest",
        needs_only_delassus: false,
        solvers: NORMALS,
    },
    Entry {
        name: "coulomb-pyramid",
        levels: ACCELERATION,
        law: "Coulomb with a four-sided pyramid; rolling and sliding, soft fingers (Trinkle et al.)",
        when: "accelerations and forces at an instant",
        needs_only_delassus: false,
        solvers: &["auto", "lemke", "feasible-interior-point"],
    },
    Entry {
        name: "baraff-friction",
        levels: ACCELERATION,
        law: "static and dynamic friction by the driving method (Baraff)",
        when: "comparison with the literature; rays that become impacts",
        needs_only_delassus: false,
        solvers: &[],
    },
    #[cfg(feature = "clarabel")]
    Entry {
        name: "drumwright-shell",
        levels: VELOCITY,
        law: "least kinetic energy within the cones (Drumwright and Shell)",
        when: "impacts as a convex program",
        needs_only_delassus: false,
        solvers: &[],
    },
];

/// Makes the model of that name at its usual level, with its usual solver.
///
/// # Errors
/// `InputError::Option` if there is no such model, with the names there are.
pub fn build(name: &str, options: &ModelOptions) -> Result<Box<dyn ContactModel>, InputError> {
    build_with(name, None, None, options)
}

/// Makes the model of that name at a level, with its usual solver.
///
/// # Errors
/// `InputError::Option` if there is no such model, with the names there are, or if it does not have that level.
pub fn build_at(name: &str, level: Level, options: &ModelOptions) -> Result<Box<dyn ContactModel>, InputError> {
    build_with(name, Some(level), None, options)
}

/// Makes the model of that name, at a level and with a solver if given.
///
/// # Errors
/// `InputError::Option` if there is no such model, or if it does not have that level or solver; with the names there are.
pub fn build_with(
    name: &str,
    level: Option<Level>,
    solver: Option<&str>,
    options: &ModelOptions,
) -> Result<Box<dyn ContactModel>, InputError> {
    options.check()?;
    let Some(entry) = CATALOG.iter().find(|entry| entry.name == name) else {
        let names = CATALOG.map(|entry| entry.name).join(", ");
        return Err(InputError::Option { name: "model", reason: format!("expected one of {names}, found '{name}'") });
    };
    let level = level.unwrap_or(entry.levels[0]);
    if !entry.levels.contains(&level) {
        return Err(no_such_level(name, level));
    }
    if let Some(solver) = solver.filter(|solver| !entry.solvers.contains(solver)) {
        return Err(no_such_solver(entry, solver));
    }
    let normals = || {
        let solver = match solver {
            Some("modified-ppm") => NormalSolver::ModifiedPpm,
            Some("lemke") => NormalSolver::Lemke,
            _ => NormalSolver::Nnls,
        };
        NormalOptions { model: options.clone(), solver, ..NormalOptions::default() }
    };
    Ok(match name {
        "coulomb-polyhedral" => {
            let method = match solver {
                Some("standard") => Method::Standard,
                Some("structural") => Method::Structural,
                _ => Method::Reduced,
            };
            let model = options.clone();
            Box::new(CoulombPolyhedral::new(PolyhedralOptions { model, method, ..PolyhedralOptions::default() })?)
        }
        "frictionless" => Box::new(Frictionless::new(level, normals())),
        "viscous" => Box::new(Viscous::new(level, normals())),
        "no-slip" => Box::new(NoSlip::new(NoSlipOptions { normals: normals(), ..NoSlipOptions::default() })),
        "coulomb-pyramid" => {
            let method = match solver {
                Some("lemke") => PyramidMethod::Lemke,
                Some("feasible-interior-point") => PyramidMethod::FeasibleInteriorPoint,
                _ => PyramidMethod::Auto,
            };
            let common = options.clone();
            Box::new(CoulombPyramid::new(PyramidOptions { common, method, ..PyramidOptions::default() }))
        }
        "baraff-friction" => Box::new(BaraffFriction::new(options.clone())),
        #[cfg(feature = "clarabel")]
        "drumwright-shell" => {
            let mut model = super::DrumwrightShell::default();
            model.options = options.clone();
            Box::new(model)
        }
        _ => Box::new(CoulombCone::new(level, options.clone())),
    })
}

fn no_such_level(name: &str, level: Level) -> InputError {
    let of = |level: Level| CATALOG.iter().filter(move |e| e.levels.contains(&level)).map(|e| e.name);
    let (what, names) = match level {
        Level::Velocity => ("velocities", of(level).collect::<Vec<_>>().join(", ")),
        Level::Acceleration => ("accelerations", of(level).collect::<Vec<_>>().join(", ")),
    };
    InputError::Option { name: "model", reason: format!("expected a model of {what} ({names}), found '{name}'") }
}

fn no_such_solver(entry: &Entry, solver: &str) -> InputError {
    let names = if entry.solvers.is_empty() { "one only".into() } else { entry.solvers.join(", ") };
    InputError::Option { name: "solver", reason: format!("{} has {names}, found '{solver}'", entry.name) }
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
            for solver in entry.solvers {
                assert_eq!(build_with(entry.name, None, Some(solver), &options).unwrap().name(), entry.name);
            }
            let error = build_with(entry.name, None, Some("magic"), &options).err().unwrap().to_string();
            assert!(error.contains(entry.name) && error.contains("'magic'"), "{error}");
        }
    }
}
