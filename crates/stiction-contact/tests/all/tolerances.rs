//! Every tolerance of the models ten times larger and ten times smaller, over one collection of problems: the same outcomes, certified,
//! the unique motions equal, and no more than twice the work.
//!
//! [`EXCEPTIONS`] names what is not so, field by field; an exception that is no longer one fails the test.

use stiction_contact::models::drumwright_shell::{self, DrumwrightShell};
use stiction_contact::models::{NoSlip, NoSlipOptions, NormalOptions, catalog};
use stiction_contact::scenes::{self, Recipe, piles};
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, ModelKind, ModelOptions, Tolerances};

/// The models that the tolerances of each decide in, with a solver where it is not the usual one.
const MODELS: [(&str, &[&str]); 7] = [
    ("find_indices", &["frictionless", "no-slip", "coulomb-polyhedral", "coulomb-pyramid", "baraff-friction"]),
    ("normal_problem", &["frictionless", "viscous", "no-slip"]),
    ("no_slip", &["no-slip", "no-slip with release"]),
    ("coulomb_polyhedral", &["coulomb-polyhedral", "coulomb-polyhedral structural", "coulomb-polyhedral standard"]),
    ("coulomb_cone", &["coulomb-cone"]),
    ("coulomb_pyramid", &["coulomb-pyramid"]),
    ("baraff_friction", &["baraff-friction"]),
];

/// The models whose motion is the only one.
const UNIQUE: [&str; 4] = ["frictionless", "viscous", "no-slip", "drumwright-shell"];

/// A field for which something changes, and the problems for which it does; `*` for all.
struct Exception {
    field: &'static str,
    factor: f64,
    model: &'static str,
    problems: &'static [&'static str],
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        field: "coulomb_cone.guess_size",
        factor: 10.0,
        model: "coulomb-cone",
        problems: &["coulomb 6", "sliding 6"],
        reason: "the sweeps start from forces of the first guess that are far too large",
    },
    Exception {
        field: "drumwright_shell.good",
        factor: 0.1,
        model: "drumwright-shell",
        problems: &["*"],
        reason: "residuals end between 1e-13 and 1e-12: larger penalties are tried in vain, two to three times the steps",
    },
    Exception {
        field: "drumwright_shell.interior",
        factor: 0.1,
        model: "drumwright-shell",
        problems: &["sliding 2"],
        reason: "more than clarabel's factorization can reach: Newton's method starts again from no impulse",
    },
    Exception {
        field: "drumwright_shell.flat",
        factor: 0.1,
        model: "drumwright-shell",
        problems: &["plain 8"],
        reason: "below rounding: steps that change nothing any more",
    },
];

/// Pivots that count as few: up to twice as many are no more work.
const FEW_PIVOTS: usize = 20;

/// What is to stay as it is.
struct Answer {
    ended: &'static str,
    /// The motion, and whether it is certified, where there is a solution.
    solution: Option<(Vec<f64>, bool)>,
    work: usize,
}

fn problems() -> Vec<(String, ContactProblem)> {
    let rows = Recipe { bilaterals: true, limits: true, bounded: true, gaps: true, ..Recipe::PLAIN };
    let mut all = vec![
        ("stack".to_string(), piles::stack(5, 0.5, 1e-2)),
        ("pyramid".into(), piles::pyramid(3, 0.3, 1e-2)),
        ("quadruped".into(), piles::quadruped(0.6, 1e-2, 1)),
        ("grasp".into(), scenes::grasp(12, 0.5, 1e-2)),
        ("peg".into(), scenes::peg_in_hole(24, 0.25, 1)),
        ("bowl".into(), scenes::body_in_bowl(24, 0.3, 0.0, 1)),
    ];
    for seed in 0..10 {
        all.push((format!("plain {seed}"), scenes::random(&Recipe::PLAIN, seed)));
        all.push((format!("coulomb {seed}"), scenes::random(&Recipe { coulomb: true, ..Recipe::PLAIN }, seed)));
        all.push((format!("sliding {seed}"), scenes::random_sliding(&Recipe { coulomb: true, ..Recipe::PLAIN }, seed)));
        all.push((format!("rows {seed}"), scenes::random(&Recipe { coulomb: true, ..rows }, seed)));
        all.push((format!("rates {seed}"), scenes::random(&Recipe { viscous: true, rates: true, ..rows }, seed)));
    }
    all.into_iter().map(|(name, problem)| (name, problem.unwrap())).collect()
}

fn build(model: &str, options: ModelOptions) -> Box<dyn ContactModel> {
    if model == "no-slip with release" {
        let normals = NormalOptions { model: options, ..NormalOptions::default() };
        return Box::new(NoSlip::new(NoSlipOptions { normals, release: true }));
    }
    let (name, solver) = model.split_once(' ').map_or((model, None), |(name, solver)| (name, Some(solver)));
    let kind: ModelKind = name.parse().unwrap();
    catalog::build_with(kind, None, solver.map(|name| kind.solver(name).unwrap()), &options).unwrap()
}

/// What the model makes of each problem; `None` where its law has no place for something.
fn solve_all(mut model: Box<dyn ContactModel>, problems: &[(String, ContactProblem)]) -> Vec<Option<Answer>> {
    let mut solve = |problem: &ContactProblem| {
        let outcome = model.solve(problem).ok()?;
        let (ended, stats) = (outcome.name(), outcome.stats());
        let work = stats.pivots + stats.factorizations;
        let solution = match outcome {
            ContactOutcome::Solved(s) => Some((s.motion, s.certificate.holds(1e-10))),
            _ => None,
        };
        Some(Answer { ended, solution, work })
    };
    problems.iter().map(|(_, problem)| solve(problem)).collect()
}

/// What is wrong with an answer, beside the one with the default tolerances; `speed` where the motion is the only one.
fn change(speed: Option<f64>, usual: &Answer, found: &Answer) -> Option<String> {
    if found.ended != usual.ended {
        return Some(format!("{} instead of {}", found.ended, usual.ended));
    }
    if found.work > 2 * usual.work.max(FEW_PIVOTS) {
        return Some(format!("{} pivots instead of {}", found.work, usual.work));
    }
    let ((new, certified), (old, _)) = (found.solution.as_ref()?, usual.solution.as_ref()?);
    if !certified {
        return Some("uncertified".into());
    }
    let size = old.iter().fold(speed?, |m, x| m.max(x.abs()));
    let apart = new.iter().zip(old).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    (apart > 1e-8 * size).then(|| format!("off by {:.1e}", apart / size))
}

/// What motion there is without contacts: beside it the rounding of a body at rest is small.
fn free_speed(problem: &ContactProblem) -> f64 {
    let blocks = (0..problem.layout().blocks()).flat_map(|b| {
        let mass = problem.mass().block(b);
        problem.layout().range(b).enumerate().map(move |(k, j)| (j, mass[(k, k)]))
    });
    blocks.fold(0.0, |m: f64, (j, mass)| {
        m.max(problem.v()[j].abs()).max((problem.dt() * problem.force()[j] / mass).abs())
    })
}

/// Collects what is no exception, and which exceptions there were.
#[derive(Default)]
struct Surprises {
    list: Vec<String>,
    used: Vec<(&'static str, &'static str)>,
}

impl Surprises {
    fn compare(
        &mut self,
        (field, factor, model): (&str, f64, &str),
        problems: &[(String, ContactProblem)],
        usual: &[Option<Answer>],
        found: &[Option<Answer>],
    ) {
        let [before, after] = [usual, found].map(|all| all.iter().flatten().map(|a| a.work).sum::<usize>());
        if after > 2 * before || before > 2 * after {
            self.list.push(format!("{field} × {factor}, {model}: {after} pivots in all instead of {before}"));
        }
        for ((name, problem), (usual, found)) in problems.iter().zip(usual.iter().zip(found)) {
            let (Some(usual), Some(found)) = (usual, found) else { continue };
            let speed = UNIQUE.contains(&model).then(|| free_speed(problem));
            let Some(change) = change(speed, usual, found) else { continue };
            let names = |e: &&Exception| {
                (e.problems == ["*"] || e.problems.contains(&name.as_str()))
                    && e.field == field
                    && e.factor == factor
                    && e.model == model
            };
            match EXCEPTIONS.iter().find(names) {
                Some(e) => self.used.push((e.field, e.reason)),
                None => self.list.push(format!("{field} × {factor}, {model} on {name}: {change}")),
            }
        }
    }

    fn conclude(self, method: impl Fn(&str) -> bool) {
        assert!(self.list.is_empty(), "{} surprises:\n{}", self.list.len(), self.list.join("\n"));
        for e in EXCEPTIONS.iter().filter(|e| method(e.field)) {
            assert!(self.used.contains(&(e.field, e.reason)), "no exception any more: {} × {}", e.field, e.factor);
        }
    }
}

/// Varies the tolerances of the methods that are asked for.
fn vary(problems: &[(String, ContactProblem)], asked: impl Fn(&str) -> bool) {
    let with = |tolerances| ModelOptions { tolerances, ..ModelOptions::default() };
    let mut usual: Vec<(&str, Vec<Option<Answer>>)> = Vec::new();
    let mut surprises = Surprises::default();
    for at in 0..Tolerances::default().fields().len() {
        for factor in [0.1, 10.0] {
            let mut tolerances = Tolerances::default();
            let (method, field, value) = tolerances.fields().swap_remove(at);
            if !asked(method) {
                continue;
            }
            *value *= factor;
            let field = format!("{method}.{field}");
            for model in MODELS.iter().find(|m| m.0 == method).expect("a struct without models").1 {
                if !usual.iter().any(|u| u.0 == *model) {
                    usual.push((model, solve_all(build(model, ModelOptions::default()), problems)));
                }
                let usual = &usual.iter().find(|u| u.0 == *model).unwrap().1;
                let found = solve_all(build(model, with(tolerances)), problems);
                surprises.compare((&field, factor, model), problems, usual, &found);
            }
        }
    }
    surprises.conclude(|field| field.split_once('.').is_some_and(|(method, _)| asked(method)));
}

#[test]
fn every_tolerance_may_be_ten_times_more_or_less() {
    vary(&problems(), |method| !matches!(method, "coulomb_cone" | "drumwright_shell"));
}

/// The cone's search has more to decide where many bodies move.
#[test]
fn every_tolerance_of_the_cone_may_be_ten_times_more_or_less() {
    let moving = Recipe { bodies: 20, contacts: 120, coulomb: true, gaps: true, ..Recipe::PLAIN };
    let rows = Recipe { moments: true, bilaterals: true, limits: true, bounded: true, ..moving };
    let heaps = (0..8).flat_map(|seed| {
        let heap = |name: &str, recipe: &Recipe| (format!("{name} {seed}"), scenes::random(recipe, seed).unwrap());
        [heap("heap", &moving), heap("heap with rows", &rows)]
    });
    let all: Vec<_> = problems().into_iter().chain(heaps).collect();
    vary(&all, |method| method == "coulomb_cone");
}

#[test]
fn every_tolerance_of_drumwright_and_shell_may_be_ten_times_more_or_less() {
    let problems = problems();
    let with = |tolerances| {
        let mut model = DrumwrightShell::default();
        model.tolerances = tolerances;
        Box::new(model)
    };
    let usual = solve_all(with(drumwright_shell::Tolerances::default()), &problems);
    let mut surprises = Surprises::default();
    for at in 0..drumwright_shell::Tolerances::default().fields().len() {
        for factor in [0.1, 10.0] {
            let mut tolerances = drumwright_shell::Tolerances::default();
            let (field, value) = tolerances.fields().swap_remove(at);
            *value *= factor;
            let place = format!("drumwright_shell.{field}");
            let found = solve_all(with(tolerances), &problems);
            surprises.compare((&place, factor, "drumwright-shell"), &problems, &usual, &found);
        }
    }
    surprises.conclude(|field| field.starts_with("drumwright_shell"));
}
