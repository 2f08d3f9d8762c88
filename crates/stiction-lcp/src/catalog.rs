//! All solvers by name: what each is, when to use it, and how to make one.

#[cfg(feature = "exact")]
use crate::Enumerate;
use crate::error::InputError;
use crate::solver::{Options, Solver};
use crate::{
    Auto, Dantzig, FeasibleInteriorPoint, InteriorPoint, Lemke, ModifiedPpm, Nnls, PrincipalPivot, ProjectedGaussSeidel,
};

/// A solver's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name in kebab case, as on the command line.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// When to use it.
    pub when: &'static str,
    /// The kinds of problem it takes, and `symmetric` if M must be so.
    pub takes: &'static str,
}

/// Every solver, the default first.
pub const CATALOG: [Entry; if cfg!(feature = "exact") { 10 } else { 9 }] = [
    Entry {
        name: "auto",
        summary: "looks at the problem, picks a method, verifies, falls back, and says what it did",
        when: "always, unless you know better",
        takes: "all",
    },
    Entry {
        name: "lemke",
        summary: "Lemke's complementary pivoting, lexicographic where it stalls, with restarts",
        when: "any matrix; solves every feasible copositive-plus problem and Coulomb friction",
        takes: "all",
    },
    Entry {
        name: "principal-pivot",
        summary: "principal pivoting (PPM I) with the least-index rule",
        when: "P-matrices, and positive semidefinite ones; short solves from a good basis",
        takes: "all",
    },
    Entry {
        name: "modified-ppm",
        summary: "principal pivoting on a factored matrix, cost linear in n for fixed rank",
        when: "many contacts on few degrees of freedom, no friction or a linear law",
        takes: "lcp, factored; symmetric",
    },
    Entry {
        name: "nnls",
        summary: "active-set least squares with an updated QR factor; always ends",
        when: "factored problems where the answer must not fail, also with bounds",
        takes: "all; symmetric",
    },
    Entry {
        name: "dantzig",
        summary: "the driving method: one row after another, incremental factor",
        when: "symmetric positive semidefinite problems, fastest of the pivoting methods there",
        takes: "all",
    },
    Entry {
        name: "interior-point",
        summary: "predictor-corrector from any start, then crossover to an exact basis",
        when: "large monotone problems, where pivoting takes too many steps",
        takes: "all",
    },
    Entry {
        name: "feasible-interior-point",
        summary: "the feasible path-following method of Trinkle and others",
        when: "to compare with the literature; needs a strictly feasible point",
        takes: "all",
    },
    Entry {
        name: "projected-gauss-seidel",
        summary: "the iteration of most physics engines; stops at its residual, which is reported",
        when: "to compare with such engines; rarely reaches the tolerance",
        takes: "all",
    },
    #[cfg(feature = "exact")]
    Entry {
        name: "enumerate",
        summary: "every complementary basis in exact arithmetic",
        when: "small problems (n up to about 20), to prove that there is no solution",
        takes: "all",
    },
];

/// The entry of the solver `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.name == name)
}

/// Makes the solver `name`.
///
/// # Errors
/// `InputError::Option` if there is no solver of that name, or an option is out of range.
pub fn build(name: &str, options: &Options) -> Result<Box<dyn Solver>, InputError> {
    options.check()?;
    construct(name, options.clone()).ok_or_else(|| {
        let names: Vec<&str> = CATALOG.iter().map(|entry| entry.name).collect();
        let reason = format!("there is no '{name}'; there are {}", names.join(", "));
        InputError::Option { name: "solver", reason }
    })
}

/// The constructors. Every name of the catalog has its line here.
fn construct(name: &str, options: Options) -> Option<Box<dyn Solver>> {
    Some(match name {
        "auto" => Box::new(Auto::new(options)),
        "lemke" => Box::new(Lemke::new(options)),
        "principal-pivot" => Box::new(PrincipalPivot::new(options)),
        "modified-ppm" => Box::new(ModifiedPpm::new(options)),
        "nnls" => Box::new(Nnls::new(options)),
        "dantzig" => Box::new(Dantzig::new(options)),
        "interior-point" => Box::new(InteriorPoint::new(options)),
        "feasible-interior-point" => Box::new(FeasibleInteriorPoint::new(options)),
        "projected-gauss-seidel" => Box::new(ProjectedGaussSeidel::new(options)),
        #[cfg(feature = "exact")]
        "enumerate" => Box::new(Enumerate::new(options)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for entry in &CATALOG {
            assert_eq!(CATALOG.iter().filter(|e| e.name == entry.name).count(), 1);
            assert_eq!(find(entry.name), Some(entry));
        }
        assert_eq!(find("simplex"), None);
    }

    #[test]
    fn an_unknown_solver_and_a_bad_option_are_input_errors() {
        let message =
            |name: &str, options: &Options| build(name, options).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message("simplex", &Options::default()).contains("there is no 'simplex'; there are auto, lemke"));
        assert!(message("auto", &Options { tolerance: f64::NAN, ..Options::default() }).contains("tolerance"));
    }

    #[test]
    fn every_entry_builds_a_solver_of_its_name() {
        for entry in &CATALOG {
            assert_eq!(build(entry.name, &Options::default()).map(|s| s.name()), Ok(entry.name));
        }
    }
}
