//! Every tolerance ten times larger and ten times smaller, over one collection: the same outcomes, certified, the unique answers
//! equal, and no more than twice the work.
//!
//! [`EXCEPTIONS`] names what is not so, field by field; an exception that is no longer one fails the test.

use crate::collection::collection;
use crate::drawn::{CLASSES, draw};
use stiction_lcp::catalog::build;
use stiction_lcp::classify::classify;
use stiction_lcp::{InputError, Matrix, MatrixClass, Options, Outcome, Problem, Tolerances, certify};

/// The solvers that the tolerances of each method decide in.
const SOLVERS: [(&str, &[&str]); 9] = [
    ("auto", &["auto"]),
    ("dantzig", &["dantzig"]),
    ("lemke", &["lemke", "auto"]),
    ("nnls", &["nnls", "modified-ppm"]),
    ("principal_pivot", &["principal-pivot", "modified-ppm"]),
    ("interior_point", &["interior-point", "feasible-interior-point"]),
    ("finish", &["lemke", "dantzig", "nnls", "principal-pivot", "interior-point"]),
    ("reduce", &["lemke", "principal-pivot"]),
    ("branch", &["auto"]),
];

/// A field for which something changes, and the problems for which it does; `*` for all.
struct Exception {
    field: &'static str,
    factor: f64,
    solver: &'static str,
    problems: &'static [&'static str],
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        field: "interior_point.ray",
        factor: 0.1,
        solver: "interior-point",
        problems: &[
            "factored-e-outside-range-infeasible",
            "factored-e-outside-range-infeasible (q × 1e8)",
            "factored-e-outside-range-infeasible (q × 1e-8)",
        ],
        reason: "there is no solution; it says from which size on iterates that grow are called a ray",
    },
    Exception {
        field: "interior_point.ray",
        factor: 10.0,
        solver: "interior-point",
        problems: &[
            "factored-e-outside-range-infeasible (M, q × 1e8)",
            "factored-e-outside-range-infeasible (M, q × 1e-8)",
        ],
        reason: "the same",
    },
    Exception {
        field: "interior_point.start",
        factor: 0.1,
        solver: "feasible-interior-point",
        problems: &["copositive-plus 3"],
        reason: "not monotone: the central path leads nowhere, and what is tried after it depends on where it stops",
    },
    Exception {
        field: "interior_point.start",
        factor: 10.0,
        solver: "feasible-interior-point",
        problems: &["copositive-plus 3"],
        reason: "the same",
    },
];

/// Pivots that count as few: up to twice as many are no more work.
const FEW_PIVOTS: usize = 10;

/// What is to stay as it is.
struct Answer {
    ended: &'static str,
    /// z and w, where there is a solution.
    solution: Option<[Vec<f64>; 2]>,
    work: usize,
}

/// A problem, and which of z and w its matrix makes unique.
struct Case {
    name: String,
    problem: Problem,
    unique: [bool; 2],
}

fn cases() -> Vec<Case> {
    let named = collection().into_iter().map(|p| (p.name, p.problem));
    let drawn = CLASSES.iter().flat_map(|class| {
        (0..4).map(move |seed| (format!("{class} {seed}"), draw(class, 4 + 9 * seed as usize, seed)))
    });
    let case = |(name, problem): (String, Problem)| {
        let p = problem.as_ref();
        let unique = match classify(&Matrix::from_fn(p.n(), p.n(), |i, j| p.entry(i, j))) {
            MatrixClass::SymmetricPositiveDefinite | MatrixClass::PositiveDefinite => [true, true],
            MatrixClass::SymmetricPositiveSemidefinite => [false, true],
            _ => [false, false],
        };
        Case { name, problem, unique }
    };
    // Beyond the tableau of Lemke's method.
    let large = ["psd", "p"].iter().map(|class| (format!("{class}, large"), draw(class, 110, 1)));
    named.chain(drawn).chain(large).map(case).collect()
}

fn solve(solver: &str, case: &Case, tolerances: Tolerances) -> Answer {
    let options = Options { tolerances, ..Options::default() };
    let outcome = match build(solver, &options).unwrap().solve_from(case.problem.as_ref(), None) {
        Ok(outcome) => outcome,
        Err(InputError::Unsupported { .. }) => return Answer { ended: "not applicable", solution: None, work: 0 },
        Err(error) => panic!("{solver} on {}: {error}", case.name),
    };
    let stats = outcome.stats();
    let work = stats.pivots + stats.iterations + stats.refactorizations;
    let ended = outcome.name();
    let solution = match outcome {
        Outcome::Solved(solved) => Some([solved.z, solved.w]),
        _ => None,
    };
    Answer { ended, solution, work }
}

/// What is wrong with an answer, beside the one with the default tolerances.
fn change(case: &Case, usual: &Answer, found: &Answer) -> Option<String> {
    if found.ended != usual.ended {
        return Some(format!("{} instead of {}", found.ended, usual.ended));
    }
    if found.work > 2 * usual.work.max(FEW_PIVOTS) {
        return Some(format!("{} pivots instead of {}", found.work, usual.work));
    }
    let [new, old] = [found.solution.as_ref()?, usual.solution.as_ref()?];
    let certificate = certify(case.problem.as_ref(), &new[0], &mut vec![0.0; new[0].len()]);
    if !certificate.holds(1e-10) {
        return Some(format!("uncertified: {certificate}"));
    }
    let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let sizes = [largest(&old[0]), largest(&old[1]).max(largest(case.problem.as_ref().q()))];
    (0..2).filter(|i| case.unique[*i]).find_map(|i| {
        let apart = new[i].iter().zip(&old[i]).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        (apart > 1e-8 * sizes[i]).then(|| format!("off by {:.1e}", apart / sizes[i]))
    })
}

#[test]
fn every_tolerance_may_be_ten_times_more_or_less() {
    let cases = cases();
    let all =
        |solver: &str, tolerances| -> Vec<Answer> { cases.iter().map(|c| solve(solver, c, tolerances)).collect() };
    let usual: Vec<(&str, Vec<Answer>)> = {
        let mut solvers: Vec<&str> = SOLVERS.iter().flat_map(|s| s.1).copied().collect();
        solvers.sort_unstable();
        solvers.dedup();
        solvers.into_iter().map(|s| (s, all(s, Tolerances::default()))).collect()
    };
    let mut surprises = Vec::new();
    let mut used = vec![false; EXCEPTIONS.len()];
    for at in 0..Tolerances::default().fields().len() {
        for factor in [0.1, 10.0] {
            let mut tolerances = Tolerances::default();
            let (method, field, value) = tolerances.fields().swap_remove(at);
            *value *= factor;
            let field = format!("{method}.{field}");
            let solvers = SOLVERS.iter().find(|s| s.0 == method).expect("a method without solvers").1;
            for solver in solvers {
                let usual = &usual.iter().find(|u| u.0 == *solver).unwrap().1;
                let found = all(solver, tolerances);
                let [before, after] = [usual, &found].map(|all| all.iter().map(|a| a.work).sum::<usize>());
                if after > 2 * before || before > 2 * after {
                    surprises.push(format!("{field} × {factor}, {solver}: {after} pivots in all instead of {before}"));
                }
                for ((case, usual), found) in cases.iter().zip(usual).zip(&found) {
                    let Some(change) = change(case, usual, found) else { continue };
                    let excepts = |e: &Exception| {
                        let names = e.problems.contains(&"*") || e.problems.contains(&case.name.as_str());
                        names && e.field == field && e.factor == factor && e.solver == *solver
                    };
                    match EXCEPTIONS.iter().position(excepts) {
                        Some(e) => used[e] = true,
                        None => surprises.push(format!("{field} × {factor}, {solver} on {}: {change}", case.name)),
                    }
                }
            }
        }
    }
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
    for (exception, used) in EXCEPTIONS.iter().zip(used) {
        assert!(used, "no exception any more: {} × {} ({})", exception.field, exception.factor, exception.reason);
    }
}
