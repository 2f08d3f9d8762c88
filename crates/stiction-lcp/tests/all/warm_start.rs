//! Solving again from the basis of a solution takes no pivot.

use crate::drawn::{CLASSES, draw};
use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::generate::Rng;
use stiction_lcp::{InputError, Lcp, Lemke, Options, Outcome, Problem, Solver};

/// Problems per class.
const SEEDS: u64 = 300;

/// Solver, class, and how many of the [`SEEDS`] problems took work again, with the reason.
const NOT_ZERO: &[(&str, &str, usize, &str)] = &[
    ("dantzig", "psd-skew", 3, "a degenerate row is dropped from C at the end, and the basis without it is singular"),
    ("dantzig", "contact", 2, "a degenerate row is dropped from C at the end, and the basis without it is singular"),
    ("projected-gauss-seidel", "psd", 44, "no pivoting method: a start is where it begins to iterate"),
    ("projected-gauss-seidel", "factored", 174, "no pivoting method: a start is where it begins to iterate"),
];

/// Solved problems, and those of them that took pivots or iterations again.
fn again(solver: &mut dyn Solver, class: &str) -> (usize, usize) {
    let (mut solved, mut worked) = (0, 0);
    for seed in 0..SEEDS {
        let problem = draw(class, 1 + seed as usize % 30, seed);
        let first = match solver.solve_from(problem.as_ref(), None) {
            Ok(Outcome::Solved(first)) => first,
            Ok(_) | Err(InputError::Unsupported { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let second = solver.solve_from(problem.as_ref(), Some(&first.basis)).unwrap();
        assert!(second.solved().is_some(), "{} on {class} {seed}: solved, then {second:?}", solver.name());
        solved += 1;
        worked += usize::from(second.stats().pivots + second.stats().iterations > 0);
    }
    (solved, worked)
}

#[test]
fn from_the_basis_of_a_solution_there_is_nothing_to_do() {
    let mut surprises = Vec::new();
    // Enumeration goes through the bases in its own order, and has no start.
    for entry in CATALOG.iter().filter(|entry| entry.name != "enumerate") {
        let mut solver = build(entry.name, &Options::default()).unwrap();
        for class in CLASSES {
            let (solved, worked) = again(solver.as_mut(), class);
            let exception = NOT_ZERO.iter().find(|e| (e.0, e.1) == (entry.name, class));
            if worked != exception.map_or(0, |e| e.2) {
                surprises.push(format!("{} on {class}: {worked} of {solved} took work again", entry.name));
            }
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// The problem with each qᵢ moved by about 1e-6 of itself.
fn moved(problem: &Lcp, rng: &mut Rng) -> Lcp {
    let q = problem.q().iter().map(|q| q * (1.0 + 1e-6 * rng.normal())).collect();
    Lcp::new(problem.m().clone(), q).unwrap()
}

/// What a simulation does: the next step starts from the basis of the last.
#[test]
fn a_slowly_changing_problem_takes_few_pivots() {
    // A tenth of the pairs of "p" are zero on both sides, so that any move of q decides them anew: a pivot each.
    // Contacts are redundant, and a q that moves in each of them by itself decides anew which of them bear.
    for (class, seeds, least_percent) in [("p", 20, 70), ("contact", 20, 80)] {
        let (mut cold, mut warm, mut steps, mut none) = (0, 0, 0, 0);
        for seed in 0..seeds {
            let mut lemke = Lemke::new(Options::default());
            let mut rng = Rng::new(seed);
            let Problem::Lcp(mut problem) = draw(class, 30, seed) else { panic!("an LCP") };
            let mut basis = lemke.solve(&problem).unwrap().solved().unwrap().basis.clone();
            for _ in 0..20 {
                problem = moved(&problem, &mut rng);
                cold += lemke.solve(&problem).unwrap().stats().pivots;
                let outcome = lemke.solve_from((&problem).into(), Some(&basis)).unwrap();
                let solved = outcome.solved().unwrap_or_else(|| panic!("{class} {seed}: {outcome:?}"));
                basis = solved.basis.clone();
                steps += 1;
                warm += solved.stats.pivots;
                none += usize::from(solved.stats.pivots == 0);
            }
        }
        eprintln!("{class}: {none} of {steps} steps without a pivot; {warm} pivots instead of {cold}");
        assert!(100 * none >= least_percent * steps, "{class}: {none} of {steps} steps without a pivot");
        assert!(9 * warm <= cold, "{class}: {warm} pivots instead of {cold}");
    }
}
