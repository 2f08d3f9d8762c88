//! What the theorems say for small friction, and what becomes of it as friction grows.

use stiction_contact::models::coulomb_pyramid::{CoulombPyramid, Existence};
use stiction_contact::scenes::{Body, Touch, assemble};
use stiction_contact::{ContactModel, ContactProblem, ContactSolution, InputError};
use stiction_lcp::generate::Rng;
use stiction_lcp::{FeasibleInteriorPoint, Lemke, Matrix, Options, Outcome, Solver, StopReason};

use super::data::scene;
use super::formulation::Formulation;
use super::plans::{PLANS, Plan};
use super::scene::Scene;
use super::trial::solve_late;
use crate::compose::{self, Rule, claim, columns, count, failed};
use crate::{Cell, Claim, Effort, Experiment, ExperimentError, Plot, Progress, Section, Table};

/// Coefficients of friction that every problem is tried with.
const FRICTION: [f64; 6] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0];
/// So many of them, the first, count as small: the theorems do not say in numbers how small that is.
const SMALL_FRICTION: usize = 2;
/// Largest order of problems whose solutions are all found.
const ENUMERATED: usize = 10;
/// Small problems whose contacts are independent: these take turns.
const SMALL: [Plan; 5] = [plan(2, 0), plan(1, 2), plan(0, 4), plan(1, 4), plan(1, 0)];

const fn plan(rolling: usize, sliding: usize) -> Plan {
    Plan { rolling, sliding, sets: FRICTION.len() }
}

/// Every how many-th problem a quick run takes.
const QUICK: usize = 2;

/// Theorems 1 to 3.
pub(super) struct Theorems;

/// Counts over all problems at one coefficient of friction.
#[derive(Debug, Clone, Default)]
struct Counts {
    problems: usize,
    /// Matrices that some x ≥ 0 proves not to be copositive.
    not_copositive: usize,
    guaranteed: usize,
    guaranteed_solved: usize,
    first_start: usize,
    interior: usize,
    not_applicable: usize,
    /// No strictly feasible point, yet solved by the model.
    solved_without: usize,
    solved: usize,
    /// Of the problems small enough to find all solutions: with none, one, and several.
    small: [usize; 3],
}

impl Experiment for Theorems {
    fn name(&self) -> &'static str {
        "trinkle/theorems"
    }

    fn title(&self) -> &'static str {
        "Theorems 1 to 3: existence, uniqueness and convergence as friction grows"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let (mut all, mut apart) = (vec![Counts::default(); FRICTION.len()], vec![Counts::default(); FRICTION.len()]);
        let step = if effort.quick { QUICK } else { 1 };
        for plan in (0..PLANS.len()).step_by(step) {
            let what = format!("theorems, problem {} of size {}", plan + 1, PLANS[plan].size());
            progress.report(plan, PLANS.len(), &what);
            let fail = failed(self.name());
            let pair = [scene(plan), independent(plan)];
            for (scene, counts) in pair.into_iter().zip([&mut all, &mut apart]) {
                let scene = scene.map_err(&fail)?;
                for (counts, mu) in counts.iter_mut().zip(FRICTION) {
                    let problem = scene.problem(mu).map_err(&fail)?;
                    counts.add(&problem).map_err(&fail)?;
                }
            }
        }
        let tables = vec![
            table("theorems", "The problems of Table 1, by friction", &all),
            table("theorems-independent", "Small problems with independent contacts, by friction", &apart),
        ];
        let mut between_walls = Counts::default();
        for mu in FRICTION {
            let problem = box_between_walls(mu).map_err(failed(self.name()))?;
            between_walls.add(&problem).map_err(failed(self.name()))?;
        }
        let claims = claims(&all, &apart, &between_walls);
        Ok(Section { text: explain(), tables, plots: vec![plot(&all)], claims, ..Section::default() })
    }
}

/// A small scene whose contacts are independent, as the theorems ask: drawn until the system Jacobian has full rank.
fn independent(number: usize) -> Result<Scene, InputError> {
    const ATTEMPTS: usize = 100;
    for attempt in 0..ATTEMPTS {
        let scene = Scene::draw_apart(&SMALL[number % SMALL.len()], (number + attempt * PLANS.len()) as u64)?;
        if Formulation::new(&scene.problem(FRICTION[0])?)?.has_full_rank() {
            return Ok(scene);
        }
    }
    Err(InputError::Option { name: "plan", reason: "no scene with independent contacts was drawn".into() })
}

/// A box that two walls touch in the middle of opposite faces: what one of them gains, the other loses, so both accelerations are never positive.
fn box_between_walls(mu: f64) -> Result<ContactProblem, InputError> {
    let body = Body { force: [0.5, 0.0, -9.81], ..Body::cuboid(1.0, [0.1; 3], [0.0; 3]) };
    let walls = [-1.0, 1.0].map(|x| Touch { mu, ..Touch::new(0, None, [0.05 * x, 0.0, 0.0], [-x, 0.0, 0.0]) });
    assemble(&[body], &walls, 1e-3)
}

impl Counts {
    fn add(&mut self, problem: &ContactProblem) -> Result<(), InputError> {
        let form = Formulation::new(problem)?;
        let mut model = CoulombPyramid::default();
        let solved = model.solve(problem)?.solved().is_some() || solve_late(&form, problem)?.is_some();
        let guaranteed = model.existence(problem)? == Existence::Guaranteed;
        let lemke = Lemke::new(Options::default()).with_restarts(0).solve(&form.lcp)?;
        let interior = FeasibleInteriorPoint::new(Options::default()).solve(&form.lcp)?;
        let no_start =
            matches!(&interior, Outcome::Stopped(stopped) if matches!(stopped.why, StopReason::NotApplicable(_)));
        self.problems += 1;
        self.solved += usize::from(solved);
        self.guaranteed += usize::from(guaranteed);
        self.guaranteed_solved += usize::from(guaranteed && solved);
        self.first_start += usize::from(lemke.solved().is_some());
        self.interior += usize::from(interior.solved().is_some());
        self.not_applicable += usize::from(no_start);
        self.solved_without += usize::from(no_start && solved);
        self.not_copositive += usize::from(negative_direction(form.lcp.m()).is_some());
        if form.lcp.n() <= ENUMERATED {
            let found = model.all_solutions(problem)?;
            let number = different(&found.solutions).min(2);
            if found.complete {
                self.small[number] += 1;
            }
        }
        Ok(())
    }
}

/// How many of the solutions differ by more than rounding: degenerate bases give the same one again.
fn different(solutions: &[ContactSolution]) -> usize {
    const SAME: f64 = 1e-9;
    let near = |a: &[&[f64]], b: &[&[f64]]| {
        let all = |x: &[&[f64]]| x.concat();
        let (a, b) = (all(a), all(b));
        let size = a.iter().chain(&b).fold(0.0, |size: f64, x| size.max(x.abs()));
        a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= SAME * size)
    };
    let same = |a: &ContactSolution, b: &ContactSolution| {
        let (f, g) = (&a.forces, &b.forces);
        near(&[&f.normal, &f.tangent_s, &f.tangent_t], &[&g.normal, &g.tangent_s, &g.tangent_t])
            && near(&[&a.motion], &[&b.motion])
    };
    (0..solutions.len()).filter(|&k| !solutions[..k].iter().any(|other| same(other, &solutions[k]))).count()
}

/// Some x ≥ 0 with `xᵀ M x < 0`, if one is found: then M is not copositive. A search, so none found proves nothing: pairs first, then descent
/// on the simplex, two entries at a time, from several points.
fn negative_direction(m: &Matrix) -> Option<Vec<f64>> {
    const STARTS: u64 = 12;
    const STEPS: usize = 400;
    /// A form below this, for a matrix with unit diagonal, is negative beyond rounding.
    const NEGATIVE: f64 = -1e-9;
    let n = m.rows();
    let mut s = Matrix::from_fn(n, n, |i, j| 0.5 * (m[(i, j)] + m[(j, i)]));
    let size = |i: usize| if s[(i, i)] > 0.0 { s[(i, i)].sqrt() } else { 1.0 };
    let sizes: Vec<f64> = (0..n).map(size).collect();
    for i in 0..n {
        for j in 0..n {
            s[(i, j)] /= sizes[i] * sizes[j];
        }
    }
    for start in 0..STARTS {
        let mut rng = Rng::new(start);
        let mut x: Vec<f64> = (0..n).map(|_| if rng.chance(0.5) { rng.uniform() } else { 0.0 }).collect();
        let sum: f64 = x.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        x.iter_mut().for_each(|x| *x /= sum);
        let mut g = vec![0.0; n];
        s.mul_into(&x, &mut g);
        for _ in 0..STEPS {
            let value: f64 = x.iter().zip(&g).map(|(x, g)| x * g).sum();
            if value < NEGATIVE {
                return Some(x);
            }
            let up = (0..n).min_by(|&i, &j| g[i].total_cmp(&g[j]))?;
            let down = (0..n).filter(|&i| x[i] > 0.0).max_by(|&i, &j| g[i].total_cmp(&g[j]))?;
            let (slope, bend) = (g[up] - g[down], s[(up, up)] + s[(down, down)] - 2.0 * s[(up, down)]);
            if slope >= -1e-12 {
                break;
            }
            let step = if bend > 0.0 { (-slope / bend).min(x[down]) } else { x[down] };
            x[up] += step;
            x[down] = (x[down] - step).max(0.0);
            g.iter_mut().enumerate().for_each(|(k, g)| *g += step * (s[(k, up)] - s[(k, down)]));
        }
    }
    None
}

fn explain() -> Vec<String> {
    let words = [
        "For small friction and independent contacts the paper proves that a solution exists and is unique (Theorem 1), that Lemke's method finds \
         it (Theorem 2, because the matrix is copositive) and that the feasible interior point method converges (Theorem 3). How small is not \
         said in numbers; for contacts at rest, a solution exists for any friction.",
        "We take the problems of Table 1, whose contacts are not all independent, through friction from 0.01 to 3: whether some x ≥ 0 shows that \
         the matrix is not copositive (a search: none found proves nothing), whether a condition of Theorem 1 is verified numerically, what \
         Lemke's first start and the interior point method do, and for problems of size up to 10 how many solutions there are, in exact \
         arithmetic. Two points of the same two bodies are never independent (their distance is fixed), so the same is done for small problems in \
         which any two bodies touch once and the system Jacobian has full rank, for which the theorems are.",
    ];
    words.map(String::from).to_vec()
}

fn table(name: &str, title: &str, all: &[Counts]) -> Table {
    let rows = all
        .iter()
        .zip(FRICTION)
        .map(|(c, mu)| {
            let numbers = [
                c.problems,
                c.not_copositive,
                c.guaranteed,
                c.guaranteed_solved,
                c.solved,
                c.first_start,
                c.interior,
                c.not_applicable,
                c.solved_without,
                c.small[0],
                c.small[1],
                c.small[2],
            ];
            std::iter::once(Cell::Number(mu)).chain(numbers.map(count)).collect()
        })
        .collect();
    let names = [
        "mu",
        "problems",
        "not copositive",
        "existence guaranteed",
        "of these solved",
        "solved",
        "Lemke, first start",
        "interior point",
        "no strictly feasible point",
        "of these solved by the model",
        "small: no solution",
        "small: one",
        "small: several",
    ];
    Table { name: name.into(), title: title.into(), columns: columns(&names.map(|name| (name, ""))), rows }
}

fn plot(all: &[Counts]) -> Plot {
    let line = |name: &str, of: fn(&Counts) -> usize| {
        let share = |(c, mu): (&Counts, f64)| (mu, of(c) as f64 / c.problems.max(1) as f64);
        compose::line(name, all.iter().zip(FRICTION).map(share).collect())
    };
    compose::plot(
        "theorems",
        "Fractions of the problems of Table 1 as friction grows",
        ("coefficient of friction", true),
        ("fraction of the problems", false),
        vec![
            line("solved and certified", |c| c.solved),
            line("Lemke, first start", |c| c.first_start),
            line("existence guaranteed", |c| c.guaranteed),
            line("not copositive", |c| c.not_copositive),
        ],
    )
}

fn claims(all: &[Counts], apart: &[Counts], between_walls: &Counts) -> Vec<Claim> {
    let total = |of: fn(&Counts) -> usize| all.iter().chain(apart).map(of).sum::<usize>();
    let low = |counts: &[Counts], of: fn(&Counts) -> usize| counts[..SMALL_FRICTION].iter().map(of).sum::<usize>();
    let one = low(apart, |c| c.small[1]);
    let (checked, redundant) = (low(apart, |c| c.problems), low(all, |c| c.small[0] + c.small[2]));
    let high = apart.last().map_or(0, |c| c.small[0] + c.small[2]);
    let (guaranteed, kept) = (total(|c| c.guaranteed), total(|c| c.guaranteed_solved));
    let (solved, first, interior) =
        (low(apart, |c| c.solved), low(apart, |c| c.first_start), low(apart, |c| c.interior));
    let not_copositive = low(apart, |c| c.not_copositive);
    let by_mu = |of: fn(&Counts) -> usize| {
        all.iter().zip(FRICTION).map(|(c, mu)| format!("{} at {mu}", of(c))).collect::<Vec<_>>().join(", ")
    };
    let table_1 = format!("problems of Table 1, of {} each", all[0].problems);
    vec![
        claim(
            "Theorem 1: where its condition is verified, a solution exists",
            "proven",
            format!("{kept} of {guaranteed} solved and certified, friction 0.01 to 3"),
            Rule::all(kept, guaranteed),
            format!("{} were not solved", guaranteed - kept),
        ),
        claim(
            "Theorem 1: for small friction a solution exists",
            "proven for independent contacts",
            format!(
                "{solved} of {checked} with independent contacts, friction 0.01 and 0.03; {table_1}: {}",
                by_mu(|c| c.solved)
            ),
            Rule::all(solved, checked),
            format!("{} were not solved", checked - solved),
        ),
        claim(
            "Theorem 1: for small friction the solution is unique",
            "proven for independent contacts",
            format!(
                "one solution in {one} of {checked} small problems with independent contacts at friction 0.01 and 0.03; at 3, {high} of {} have \
                 none or several. With redundant contacts {redundant} of the small ones of Table 1 have several even at 0.01 or 0.03",
                apart.last().map_or(0, |c| c.problems)
            ),
            Rule::all(one, checked),
            format!("{} have none or several", checked - one),
        ),
        claim(
            "Theorem 2: for small friction M is copositive and Lemke's method solves the problem",
            "proven for independent contacts",
            format!(
                "{first} of {checked} by the first start, {not_copositive} seen not to be copositive, friction 0.01 and 0.03; not copositive, \
                 {table_1}: {}",
                by_mu(|c| c.not_copositive)
            ),
            Rule::when(
                first == checked && first > 0 && not_copositive == 0,
                "all by the first start, none not copositive",
            ),
            format!("{} needed another start, {not_copositive} are not copositive", checked - first),
        ),
        claim(
            "Theorem 3: for small friction the interior point method converges",
            "proven for independent contacts",
            format!(
                "{interior} of {checked} with independent contacts, friction 0.01 and 0.03; {table_1}: {}",
                by_mu(|c| c.interior)
            ),
            Rule::all(interior, checked),
            format!("{} were not solved", checked - interior),
        ),
        claim(
            "the interior point method needs a strictly feasible point, which not every problem with a solution has",
            "an assumption of the method",
            format!(
                "a box between two walls has none at {} of {} coefficients, and is solved at {} of these; of the problems above {} have \
                 none, {} of them solved all the same",
                between_walls.not_applicable,
                between_walls.problems,
                between_walls.solved_without,
                total(|c| c.not_applicable),
                total(|c| c.solved_without)
            ),
            Rule::all(between_walls.solved_without, between_walls.problems),
            "a box between two walls has a strictly feasible point, or is not solved",
        ),
    ]
}
