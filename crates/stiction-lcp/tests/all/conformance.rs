//! Every solver over every problem of one collection.
//!
//! A solver is expected to solve what can be solved and to prove that nothing else can. Where it does not, [`EXCEPTIONS`] names the
//! solver and the problems, says what comes back instead and why; an exception that is no longer one fails the test.

use crate::collection::{Answer, Named, collection};
use crate::siconos_files;
use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::classify::classify;
use stiction_lcp::exact::{ExactCheck, check_farkas, verify_exact};
use stiction_lcp::io::{ReadOptions, read};
use stiction_lcp::{
    Basis, Enumerate, InputError, Matrix, MatrixClass, Options, Outcome, ProblemRef, Proof, StopReason, certify,
};

/// What a solver does with some problems instead of what is expected.
struct Exception {
    solver: &'static str,
    /// `ray`, `stopped` or `not applicable`; `solved` where rounding makes it a matter of luck.
    comes_back: &'static str,
    reason: &'static str,
    problems: &'static [&'static str],
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        solver: "lemke",
        comes_back: "ray",
        reason: "feasible, so no Farkas vector exists, and a ray proves nothing for this matrix",
        problems: &["feasible-unsolvable", "feasible-unsolvable (*)"],
    },
    Exception {
        solver: "lemke",
        comes_back: "ray",
        reason: "the LCP form of a problem with free rows is rounded: infeasibility of that proves nothing",
        problems: &[
            "mlcp-contradictory-equations",
            "mlcp-contradictory-equations (*)",
            "mlcp-impossible-equation",
            "mlcp-infeasible",
            "box-infeasible",
        ],
    },
    Exception {
        solver: "projected-gauss-seidel",
        comes_back: "stopped",
        reason: "a heavy body on light ones: the iteration barely moves",
        problems: &["mass-ratio-1e6-heavy-above"],
    },
    Exception {
        solver: "principal-pivot",
        comes_back: "stopped",
        reason: "no P-matrix: the least-index rule ends nowhere",
        problems: &["one-negative-both", "feasible-unsolvable", "feasible-unsolvable (*)"],
    },
    Exception {
        solver: "principal-pivot",
        comes_back: "stopped",
        reason: "copositive, not P: the method has no theorem here",
        problems: &["random-copositive-plus-30"],
    },
    Exception {
        solver: "principal-pivot",
        comes_back: "ray",
        reason: "the LCP form of a problem with free rows is rounded: infeasibility of that proves nothing",
        problems: &[
            "mlcp-contradictory-equations",
            "mlcp-contradictory-equations (*)",
            "mlcp-impossible-equation",
            "mlcp-infeasible",
            "box-infeasible",
        ],
    },
    Exception {
        solver: "nnls",
        comes_back: "ray",
        reason: "the equations of free rows contradict each other, which it does not prove exactly",
        problems: &["mlcp-contradictory-equations", "mlcp-contradictory-equations (*)", "mlcp-impossible-equation"],
    },
    Exception {
        solver: "dantzig",
        comes_back: "ray",
        reason: "an infinite step is reported as it is; no Farkas vector is looked for",
        problems: &[
            "one-zero-matrix-negative-q",
            "one-negative-both",
            "pang-perturbed",
            "pang-perturbed (*)",
            "psd-infeasible",
            "mlcp-contradictory-equations",
            "mlcp-contradictory-equations (*)",
            "mlcp-impossible-equation",
            "mlcp-infeasible",
            "factored-e-outside-range-infeasible",
            "factored-e-outside-range-infeasible (*)",
            "factored-no-rows-infeasible",
        ],
    },
    Exception {
        solver: "dantzig",
        comes_back: "stopped",
        reason: "not positive semidefinite: a driven row finds no way on",
        problems: &["feasible-unsolvable", "feasible-unsolvable (*)", "box-infeasible"],
    },
    Exception {
        solver: "interior-point",
        comes_back: "ray",
        reason: "iterates that diverge are no proof",
        problems: &[
            "one-zero-matrix-negative-q",
            "one-negative-both",
            "psd-infeasible",
            "mlcp-contradictory-equations",
            "mlcp-contradictory-equations (*)",
            "mlcp-impossible-equation",
            "mlcp-infeasible",
            "box-infeasible",
            "factored-no-rows-infeasible",
            "factored-e-outside-range-infeasible (M, q × 1e8)",
            "factored-e-outside-range-infeasible (M, q × 1e-8)",
        ],
    },
    Exception {
        solver: "interior-point",
        comes_back: "stopped",
        reason: "steps become short or singular where there is no solution; no proof is looked for",
        problems: &[
            "pang-perturbed",
            "pang-perturbed (*)",
            "feasible-unsolvable",
            "feasible-unsolvable (*)",
            "factored-e-outside-range-infeasible",
            "factored-e-outside-range-infeasible (q × 1e8)",
            "factored-e-outside-range-infeasible (q × 1e-8)",
        ],
    },
    Exception {
        solver: "feasible-interior-point",
        comes_back: "not applicable",
        reason: "no strictly feasible point",
        problems: &[
            "one-zero-matrix-negative-q",
            "one-negative-both",
            "zero-matrix-zero-q",
            "pang-isolated",
            "pang-isolated (*)",
            "pang-perturbed",
            "pang-perturbed (*)",
            "psd-infeasible",
            "random-psd-12",
            "random-psd-30",
            "mlcp-contradictory-equations",
            "mlcp-contradictory-equations (*)",
            "mlcp-impossible-equation",
            "mlcp-infeasible",
            "box-infeasible",
            "factored-least-squares",
            "factored-least-squares-zero",
            "factored-e-in-range",
            "factored-e-outside-range-infeasible",
            "factored-e-outside-range-infeasible (*)",
            "factored-no-rows",
            "factored-no-rows-infeasible",
        ],
    },
    Exception {
        solver: "feasible-interior-point",
        comes_back: "stopped",
        reason: "not monotone: the central path leads nowhere",
        problems: &["feasible-unsolvable", "feasible-unsolvable (*)"],
    },
    Exception {
        solver: "projected-gauss-seidel",
        comes_back: "stopped",
        reason: "the iteration does not converge for this P-matrix",
        problems: &["murty-cyclic-p", "murty-cyclic-p (*)"],
    },
    Exception {
        solver: "projected-gauss-seidel",
        comes_back: "stopped",
        reason: "a heavy body on a light one: converges too slowly",
        problems: &["mass-ratio-1e3-heavy-above"],
    },
    Exception {
        solver: "projected-gauss-seidel",
        comes_back: "stopped",
        reason: "the iteration proves nothing",
        problems: &[
            "psd-infeasible",
            "mlcp-contradictory-equations",
            "mlcp-contradictory-equations (*)",
            "factored-e-outside-range-infeasible",
            "factored-e-outside-range-infeasible (*)",
        ],
    },
];

/// Solutions that come with a basis that does not determine them: `M_αα` is singular, so exact arithmetic cannot check it.
struct SingularBasis {
    /// A solver, or `*` for all.
    solver: &'static str,
    reason: &'static str,
    problems: &'static [&'static str],
}

const SINGULAR: &[SingularBasis] = &[
    SingularBasis {
        solver: "*",
        reason: "free rows are always basic, and these equations are dependent",
        problems: &["mlcp-redundant-equations", "mlcp-empty-equation"],
    },
    SingularBasis { solver: "auto", reason: "that of dantzig", problems: &["relay-zero-matrix"] },
    SingularBasis {
        solver: "dantzig",
        reason: "a row that moved off its bound without need stays basic, or a degenerate one that C needs is left out",
        problems: &["relay-zero-matrix", "pang-isolated", "pang-isolated (*)", "random-contact-40"],
    },
    SingularBasis {
        solver: "projected-gauss-seidel",
        reason: "its z is no vertex: every positive entry counts as basic",
        problems: &["degenerate-stack", "degenerate-stack (*)", "mass-ratio-1e6-heavy-below", "relay-rank-one"],
    },
    SingularBasis {
        solver: "enumerate",
        reason: "the first basis with a solution is returned, be it singular",
        problems: &["pang-isolated", "pang-isolated (*)", "relay-rank-one"],
    },
];

/// How a solve ended, in a word, after its answer was checked.
fn ended(solver: &str, named: &Named) -> &'static str {
    let problem = named.problem.as_ref();
    let place = format!("{solver} on {}", named.name);
    let outcome = match build(solver, &Options::default()).unwrap().solve_from(problem, None) {
        Ok(outcome) => outcome,
        Err(InputError::Unsupported { .. }) => return "not applicable",
        Err(error) => panic!("{place}: {error}"),
    };
    match &outcome {
        Outcome::Solved(_) => {
            check_solution(&place, problem, &outcome);
            check_basis(solver, named, &outcome.solved().unwrap().basis);
        }
        Outcome::Unsolvable(found) => {
            assert_eq!(named.answer, Answer::Nothing, "{place}: there is a solution, but: {}", found.proof);
            check_proof(&place, problem, &found.proof);
        }
        Outcome::Stopped(s) if matches!(s.why, StopReason::NotApplicable(_)) => return "not applicable",
        Outcome::Ray(_) | Outcome::Stopped(_) => {}
    }
    outcome.name()
}

/// Certifies the solution again.
fn check_solution(place: &str, problem: ProblemRef<'_>, outcome: &Outcome) {
    let solved = outcome.solved().unwrap();
    let mut w = vec![0.0; problem.n()];
    let certificate = certify(problem, &solved.z, &mut w);
    assert!(certificate.holds(Options::default().tolerance), "{place}: uncertified, {certificate}");
    assert_eq!(
        (certificate, &w),
        (solved.certificate, &solved.w),
        "{place}: another certificate than the one returned"
    );
    assert_eq!(solved.basis.len(), problem.n(), "{place}");
}

/// The basis determines z, unless it is listed as one that does not.
fn check_basis(solver: &str, named: &Named, basis: &Basis) {
    let lists =
        |s: &SingularBasis| (s.solver == solver || s.solver == "*") && s.problems.iter().any(|p| names(p, &named.name));
    let singular = verify_exact(named.problem.as_ref(), basis) == ExactCheck::Singular;
    let reason = SINGULAR.iter().find(|s| lists(s)).map(|s| s.reason);
    assert_eq!(singular, reason.is_some(), "{solver} on {}: basis {basis}, {reason:?}", named.name);
}

/// A Farkas vector is checked in exact arithmetic; the other proofs are for a matrix or an order that the solver has verified.
fn check_proof(place: &str, problem: ProblemRef<'_>, proof: &Proof) {
    if let Proof::Farkas(y) = proof {
        assert!(check_farkas(problem, y), "{place}: the Farkas vector proves nothing");
    }
}

/// True if the method is made for such a problem.
fn takes(solver: &str, problem: ProblemRef<'_>) -> bool {
    let n = problem.n();
    let psd = || {
        let m = Matrix::from_fn(n, n, |i, j| problem.entry(i, j));
        matches!(classify(&m), MatrixClass::SymmetricPositiveDefinite | MatrixClass::SymmetricPositiveSemidefinite)
    };
    match solver {
        "nnls" => psd(),
        "modified-ppm" => psd() && (0..n).all(|i| problem.bound(i) == (0.0, f64::INFINITY)),
        "projected-gauss-seidel" => (0..n).all(|i| problem.entry(i, i) > 0.0),
        "enumerate" => n <= 20,
        _ => true,
    }
}

/// What is expected of `solver` on `problem`.
fn expected(solver: &str, problem: &Named) -> &'static str {
    let named = |e: &&Exception| e.solver == solver && e.problems.iter().any(|p| names(p, &problem.name));
    if let Some(exception) = EXCEPTIONS.iter().find(named) {
        return exception.comes_back;
    }
    match problem.answer {
        _ if !takes(solver, problem.problem.as_ref()) => "not applicable",
        Answer::Solution => "solved",
        Answer::Nothing => "unsolvable",
    }
}

/// True if `name` is `pattern`; `x (*)` stands for x in all its other units.
fn names(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix("(*)") {
        Some(stem) => name.strip_prefix(stem).is_some_and(|units| units.starts_with('(')),
        None => name == pattern,
    }
}

#[test]
fn every_solver_does_what_is_expected_on_every_problem() {
    let problems = collection();
    let mut surprises = Vec::new();
    for entry in &CATALOG {
        for problem in &problems {
            let (found, expected) = (ended(entry.name, problem), expected(entry.name, problem));
            if found != expected {
                surprises.push(format!("{} on {}: expected {expected}, found {found}", entry.name, problem.name));
            }
        }
    }
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}

#[test]
fn exceptions_name_what_there_is_once_and_are_exceptions() {
    let problems = collection();
    let mut seen = Vec::new();
    for exception in EXCEPTIONS {
        assert!(CATALOG.iter().any(|entry| entry.name == exception.solver), "there is no {}", exception.solver);
        assert!(!exception.reason.is_empty());
        for name in exception.problems {
            let matching: Vec<&Named> = problems.iter().filter(|p| names(name, &p.name)).collect();
            assert!(!matching.is_empty(), "there is no {name}");
            for problem in matching {
                let place = (exception.solver, problem.name.as_str());
                assert!(!seen.contains(&place), "{place:?} stands twice");
                seen.push(place);
                assert!(takes(exception.solver, problem.problem.as_ref()), "{place:?} is not applicable anyway");
                let allowed = match (exception.solver, exception.comes_back) {
                    ("auto", _) => false,
                    ("lemke", _) => problem.answer == Answer::Nothing,
                    (_, what) => ["ray", "stopped", "not applicable"].contains(&what),
                };
                assert!(allowed, "no exception for {place:?}: {}", exception.reason);
            }
        }
    }
}

#[test]
fn the_collection_says_rightly_what_has_a_solution() {
    let mut enumerate = Enumerate::new(Options::default());
    for problem in collection().iter().filter(|p| p.problem.as_ref().n() <= 9) {
        let solutions = enumerate.all_solutions(problem.problem.as_ref()).unwrap();
        assert_eq!(solutions.solutions.is_empty(), problem.answer == Answer::Nothing, "{}", problem.name);
    }
}

#[test]
fn the_problem_files_of_siconos() {
    let Some(root) = siconos_files::folder() else { return };
    for path in ["LCP", "MLCP", "Relay"].iter().flat_map(|kind| siconos_files::files(&root.join(kind))) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let problem = read(&path, &ReadOptions::default()).unwrap().problem;
        let solvable = name != "lcp_Pang_isolated_sol_perturbed.dat";
        let answer = if solvable { Answer::Solution } else { Answer::Nothing };
        let named = Named { name, problem, answer };
        for solver in ["auto", "lemke"] {
            let expected = if solvable { "solved" } else { "unsolvable" };
            assert_eq!(ended(solver, &named), expected, "{solver} on {}", named.name);
        }
    }
}
