//! All models and their names: the table that programs, the soak and the documentation share.

use std::fmt;
use std::str::FromStr;

use stiction_lcp::InputError;

use crate::model::{ContactModel, Level, ModelOptions};
use crate::models::coulomb_polyhedral::Method;
use crate::models::{
    BaraffFriction, CoulombCone, CoulombPolyhedral, CoulombPyramid, Frictionless, NoSlip, NoSlipOptions, NormalOptions,
    NormalSolver, PolyhedralOptions, PyramidMethod, PyramidOptions, Viscous,
};

/// A contact model. Scene files, programs and Python know it by its [name](ModelKind::name), which [`str::parse`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// [`CoulombCone`].
    #[default]
    CoulombCone,
    /// [`CoulombPolyhedral`].
    CoulombPolyhedral,
    /// [`Frictionless`].
    Frictionless,
    /// [`Viscous`].
    Viscous,
    /// [`NoSlip`].
    NoSlip,
    /// [`CoulombPyramid`].
    CoulombPyramid,
    /// [`BaraffFriction`].
    BaraffFriction,
    /// [`DrumwrightShell`](super::DrumwrightShell).
    #[cfg(feature = "clarabel")]
    DrumwrightShell,
}

impl ModelKind {
    /// Its place in the catalog.
    pub fn entry(self) -> &'static Entry {
        &CATALOG[self as usize]
    }

    /// The name in kebab case.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// True if friction is bounded by the normal force, as Coulomb has it.
    pub fn has_coulomb_friction(self) -> bool {
        !matches!(self, Self::Frictionless | Self::NoSlip | Self::Viscous)
    }

    /// True if it can solve for this.
    pub fn has_level(self, level: Level) -> bool {
        self.entry().levels.contains(&level)
    }

    /// The solver of that name.
    ///
    /// # Errors
    /// `InputError::Option` if it has none of that name, with the names there are.
    pub fn solver(self, name: &str) -> Result<SolverKind, InputError> {
        let solvers = self.entry().solvers;
        let found = solvers.iter().find(|solver| solver.name() == name);
        found.copied().ok_or_else(|| no_such_solver(self, name))
    }

    /// True if friction is nothing where there is no normal force.
    pub fn friction_needs_force(self) -> bool {
        !matches!(self, Self::NoSlip | Self::Viscous)
    }

    /// True if its contacts can stick.
    pub fn can_stick(self) -> bool {
        !matches!(self, Self::Viscous | Self::Frictionless)
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ModelKind {
    type Err = InputError;

    fn from_str(name: &str) -> Result<Self, InputError> {
        CATALOG.iter().find(|entry| entry.name == name).map(|entry| entry.kind).ok_or_else(|| {
            let names = CATALOG.each_ref().map(|entry| entry.name).join(", ");
            InputError::Option { name: "model", reason: format!("expected one of {names}, found '{name}'") }
        })
    }
}

/// A method that a model can be solved by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// [`NormalSolver::Nnls`].
    Nnls,
    /// [`NormalSolver::ModifiedPpm`].
    ModifiedPpm,
    /// Lemke's method, of the models of normal forces and of the pyramid.
    Lemke,
    /// [`Method::Reduced`] of the polyhedral cone.
    Reduced,
    /// [`Method::Structural`].
    Structural,
    /// [`Method::Standard`].
    Standard,
    /// [`PyramidMethod::Auto`].
    Auto,
    /// [`PyramidMethod::FeasibleInteriorPoint`].
    FeasibleInteriorPoint,
}

impl SolverKind {
    /// The name in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nnls => "nnls",
            Self::ModifiedPpm => "modified-ppm",
            Self::Lemke => "lemke",
            Self::Reduced => "reduced",
            Self::Structural => "structural",
            Self::Standard => "standard",
            Self::Auto => "auto",
            Self::FeasibleInteriorPoint => "feasible-interior-point",
        }
    }
}

impl fmt::Display for SolverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Which it is.
    pub kind: ModelKind,
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
    pub solvers: &'static [SolverKind],
}

const VELOCITY: &[Level] = &[Level::Velocity];
const ACCELERATION: &[Level] = &[Level::Acceleration];
const BOTH: &[Level] = &[Level::Velocity, Level::Acceleration];

const NORMALS: &[SolverKind] = &[SolverKind::Nnls, SolverKind::ModifiedPpm, SolverKind::Lemke];

/// All models, in the order of [`ModelKind`].
pub static CATALOG: [Entry; if cfg!(feature = "clarabel") { 8 } else { 7 }] = [
    Entry {
        kind: ModelKind::CoulombCone,
        name: "coulomb-cone",
        levels: BOTH,
        law: "Coulomb with the quadratic cone",
        when: "always, unless you know better",
        needs_only_delassus: true,
        solvers: &[],
    },
    Entry {
        kind: ModelKind::CoulombPolyhedral,
        name: "coulomb-polyhedral",
        levels: VELOCITY,
        law: "Coulomb with a cone of d sides (Stewart–Trinkle, Anitescu–Potra)",
        when: "a solution must be certain; many contacts on few bodies",
        needs_only_delassus: true,
        solvers: &[SolverKind::Reduced, SolverKind::Structural, SolverKind::Standard],
    },
    Entry {
        kind: ModelKind::Frictionless,
        name: "frictionless",
        levels: BOTH,
        law: "Signorini alone",
        when: "there is no friction",
        needs_only_delassus: true,
        solvers: NORMALS,
    },
    Entry {
        kind: ModelKind::Viscous,
        name: "viscous",
        levels: BOTH,
        law: "drag in proportion to slip, whatever the normal force (Drumwright)",
        when: "lubricated contact",
        needs_only_delassus: false,
        solvers: NORMALS,
    },
    Entry {
        kind: ModelKind::NoSlip,
        name: "no-slip",
        levels: VELOCITY,
        law: "touching contacts do not slip (Drumwright)",
        when: "grasps and feet that must hold; the fastest",
        needs_only_delassus: false,
        solvers: NORMALS,
    },
    Entry {
        kind: ModelKind::CoulombPyramid,
        name: "coulomb-pyramid",
        levels: ACCELERATION,
        law: "Coulomb with a four-sided pyramid; rolling and sliding, soft fingers (Trinkle et al.)",
        when: "accelerations and forces at an instant",
        needs_only_delassus: false,
        solvers: &[SolverKind::Auto, SolverKind::Lemke, SolverKind::FeasibleInteriorPoint],
    },
    Entry {
        kind: ModelKind::BaraffFriction,
        name: "baraff-friction",
        levels: ACCELERATION,
        law: "static and dynamic friction by the driving method (Baraff)",
        when: "comparison with the literature; rays that become impacts",
        needs_only_delassus: false,
        solvers: &[],
    },
    #[cfg(feature = "clarabel")]
    Entry {
        kind: ModelKind::DrumwrightShell,
        name: "drumwright-shell",
        levels: VELOCITY,
        law: "least kinetic energy within the cones (Drumwright and Shell)",
        when: "impacts as a convex program",
        needs_only_delassus: false,
        solvers: &[],
    },
];

/// Makes a model at its usual level, with its usual solver.
///
/// # Errors
/// `InputError::Option` if an option is out of range.
pub fn build(kind: ModelKind, options: &ModelOptions) -> Result<Box<dyn ContactModel>, InputError> {
    build_with(kind, None, None, options)
}

/// Makes a model at a level, with its usual solver.
///
/// # Errors
/// `InputError::Option` if it does not have that level, or an option is out of range.
pub fn build_at(kind: ModelKind, level: Level, options: &ModelOptions) -> Result<Box<dyn ContactModel>, InputError> {
    build_with(kind, Some(level), None, options)
}

/// Makes a model, at a level and with a solver if given.
///
/// # Errors
/// `InputError::Option` if it does not have that level or solver, or an option is out of range.
pub fn build_with(
    kind: ModelKind,
    level: Option<Level>,
    solver: Option<SolverKind>,
    options: &ModelOptions,
) -> Result<Box<dyn ContactModel>, InputError> {
    options.check()?;
    let level = level.unwrap_or(kind.entry().levels[0]);
    if !kind.has_level(level) {
        return Err(no_such_level(kind, level));
    }
    if let Some(solver) = solver.filter(|solver| !kind.entry().solvers.contains(solver)) {
        return Err(no_such_solver(kind, solver.name()));
    }
    let normals = || {
        let solver = match solver {
            Some(SolverKind::ModifiedPpm) => NormalSolver::ModifiedPpm,
            Some(SolverKind::Lemke) => NormalSolver::Lemke,
            _ => NormalSolver::Nnls,
        };
        NormalOptions { model: options.clone(), solver, ..NormalOptions::default() }
    };
    Ok(match kind {
        ModelKind::CoulombCone => Box::new(CoulombCone::new(level, options.clone())),
        ModelKind::CoulombPolyhedral => {
            let method = match solver {
                Some(SolverKind::Standard) => Method::Standard,
                Some(SolverKind::Structural) => Method::Structural,
                _ => Method::Reduced,
            };
            let model = options.clone();
            Box::new(CoulombPolyhedral::new(PolyhedralOptions { model, method, ..PolyhedralOptions::default() })?)
        }
        ModelKind::Frictionless => Box::new(Frictionless::new(level, normals())),
        ModelKind::Viscous => Box::new(Viscous::new(level, normals())),
        ModelKind::NoSlip => Box::new(NoSlip::new(NoSlipOptions { normals: normals(), ..NoSlipOptions::default() })),
        ModelKind::CoulombPyramid => {
            let method = match solver {
                Some(SolverKind::Lemke) => PyramidMethod::Lemke,
                Some(SolverKind::FeasibleInteriorPoint) => PyramidMethod::FeasibleInteriorPoint,
                _ => PyramidMethod::Auto,
            };
            let common = options.clone();
            Box::new(CoulombPyramid::new(PyramidOptions { common, method, ..PyramidOptions::default() }))
        }
        ModelKind::BaraffFriction => Box::new(BaraffFriction::new(options.clone())),
        #[cfg(feature = "clarabel")]
        ModelKind::DrumwrightShell => {
            let mut model = super::DrumwrightShell::default();
            model.options = options.clone();
            Box::new(model)
        }
    })
}

fn no_such_level(kind: ModelKind, level: Level) -> InputError {
    let names: Vec<_> = CATALOG.iter().filter(|e| e.levels.contains(&level)).map(|e| e.name).collect();
    let what = match level {
        Level::Velocity => "velocities",
        Level::Acceleration => "accelerations",
    };
    let reason = format!("expected a model of {what} ({}), found '{kind}'", names.join(", "));
    InputError::Option { name: "model", reason }
}

fn no_such_solver(kind: ModelKind, found: &str) -> InputError {
    let names: Vec<_> = kind.entry().solvers.iter().map(|solver| solver.name()).collect();
    let names = if names.is_empty() { "one only".into() } else { names.join(", ") };
    InputError::Option { name: "solver", reason: format!("{kind} has {names}, found '{found}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_built_at_the_levels_they_have() {
        let options = ModelOptions::default();
        for entry in &CATALOG {
            let kind = entry.kind;
            assert_eq!((kind.entry(), kind.name().parse()), (entry, Ok(kind)));
            assert_eq!(build(kind, &options).unwrap().level(), entry.levels[0], "{kind}");
            for level in [Level::Velocity, Level::Acceleration] {
                let model = build_at(kind, level, &options);
                assert_eq!(model.is_ok(), kind.has_level(level), "{kind} {level:?}");
                match model {
                    Ok(model) => assert_eq!((model.kind(), model.level()), (kind, level)),
                    Err(e) => assert!(e.to_string().contains(entry.name), "{e}"),
                }
            }
            for solver in entry.solvers {
                assert_eq!(kind.solver(solver.name()), Ok(*solver));
                assert_eq!(build_with(kind, None, Some(*solver), &options).unwrap().kind(), kind);
            }
            let error = kind.solver("magic").unwrap_err().to_string();
            assert!(error.contains(entry.name) && error.contains("'magic'"), "{error}");
        }
        let error = build_with(ModelKind::CoulombCone, None, Some(SolverKind::Lemke), &options).err().unwrap();
        assert!(error.to_string().contains("one only, found 'lemke'"), "{error}");
    }
}
