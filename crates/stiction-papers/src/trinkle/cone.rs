//! Proposition 1, and what the solvers of the quadratic cone make of the same data sets.

use stiction_contact::certificate::cone::ConeLaw;
use stiction_contact::models::coulomb_pyramid::satisfies_cone;
use stiction_contact::{
    BaraffFriction, Certifier, ContactModel, ContactSolution, CoulombCone, CoulombPyramid, InputError, Level,
    ModelOptions,
};

use super::data::{DataSet, Friction, data_sets};
use super::plans::PLANS;
use crate::compose::{self, Rule, claim, columns, count, failed, line, text};
use crate::{Cell, Claim, Effort, Experiment, ExperimentError, Plot, Progress, Section, Table};

/// A solution is one of the cone if its certificate under that law is at most this.
const TOLERANCE: f64 = 1e-9;

/// Proposition 1 and the cone.
pub(super) struct Cone;

/// What the models made of one data set.
struct Seen {
    mu: f64,
    plan: usize,
    friction: Friction,
    slides: bool,
    pyramid: &'static str,
    cone: &'static str,
    baraff: &'static str,
    /// Whether the pyramid's forces lie in the cones, and how well they then satisfy the law of the cone.
    inside: Option<f64>,
}

impl Experiment for Cone {
    fn name(&self) -> &'static str {
        "trinkle/cone"
    }

    fn title(&self) -> &'static str {
        "Proposition 1: from the friction pyramid to the quadratic cone"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let mut all = Vec::new();
        for plan in 0..PLANS.len() {
            progress.report(plan, PLANS.len(), &format!("cone, problem {} of size {}", plan + 1, PLANS[plan].size()));
            for friction in [Friction::Usual, Friction::Large] {
                for set in data_sets(plan, friction, effort.quick).map_err(failed(self.name()))? {
                    all.push(see(&set, friction).map_err(failed(self.name()))?);
                }
            }
        }
        let tables = vec![table(&all), left_over(&all)];
        Ok(Section { text: explain(&all), tables, plots: vec![plot(&all)], claims: claims(&all), ..Section::default() })
    }
}

fn see(set: &DataSet, friction: Friction) -> Result<Seen, InputError> {
    let problem = &set.problem;
    let pyramid = CoulombPyramid::default().solve(problem)?;
    let cone = CoulombCone::new(Level::Acceleration, ModelOptions::default()).solve(problem)?;
    let baraff = BaraffFriction::new(ModelOptions::default()).solve(problem)?;
    let certify = |solution: &ContactSolution| {
        let law = ConeLaw { level: Level::Acceleration };
        Certifier::default().certify(problem, &law, &solution.forces, &solution.motion).largest()
    };
    let inside = pyramid.solved().filter(|solution| satisfies_cone(problem, solution)).map(certify);
    let (mu, plan, slides) = (set.mu, set.plan, PLANS[set.plan].sliding > 0);
    let (pyramid, cone, baraff) = (pyramid.name(), cone.name(), baraff.name());
    Ok(Seen { mu, plan, friction, slides, pyramid, cone, baraff, inside })
}

fn explain(all: &[Seen]) -> Vec<String> {
    let usual = || all.iter().filter(|s| s.friction == Friction::Usual && s.pyramid == "solved");
    let (solved, inside) = (usual().count(), usual().filter(|s| s.inside.is_some()).count());
    let how_often = format!(
        "With friction up to 1 the pyramid's forces lie in the cones in {inside} of the {solved} data sets it solves. With contacts that only roll \
         that is rare: a contact that begins to slide has its force on an edge of the pyramid, outside the cone."
    );
    let words = [
        "Proposition 1: a solution of the friction pyramid whose forces lie in the quadratic cones solves the problem with the cone, although the \
         two laws treat contacts that begin to slide differently. The paper leaves open how often that helps.",
        "We solve every data set of Table 1 with the pyramid, look whether its forces lie in the cones, and if so certify them, as they are, \
         under the law of the cone. Then the cone is solved by itself (`CoulombCone` at acceleration level, which has no convergence theory where \
         contacts slide), and by Baraff's driving method with friction, whose law for contacts at rest is static friction.",
    ];
    words.map(String::from).into_iter().chain([how_often]).collect()
}

/// The four groups: usual and large friction, with and without contacts that slide.
fn groups(all: &[Seen]) -> Vec<(&'static str, &'static str, Vec<&Seen>)> {
    let mut out = Vec::new();
    for (friction, range) in [(Friction::Usual, "0 to 1"), (Friction::Large, "1 to 3")] {
        for (slides, contacts) in [(false, "rolling only"), (true, "some slide")] {
            let group = all.iter().filter(|seen| seen.friction == friction && seen.slides == slides).collect();
            out.push((range, contacts, group));
        }
    }
    out
}

fn table(all: &[Seen]) -> Table {
    let rows = groups(all)
        .into_iter()
        .map(|(range, contacts, group)| {
            let sum = |of: &dyn Fn(&Seen) -> bool| count(group.iter().filter(|seen| of(seen)).count());
            vec![
                text(range),
                text(contacts),
                count(group.len()),
                sum(&|s| s.pyramid == "solved"),
                sum(&|s| s.inside.is_some()),
                sum(&|s| s.inside.is_some_and(|residual| residual <= TOLERANCE)),
                sum(&|s| s.cone == "solved"),
                sum(&|s| s.cone == "solved" && s.pyramid != "solved"),
                sum(&|s| s.baraff == "solved"),
                sum(&|s| s.baraff == "ray"),
            ]
        })
        .collect();
    let names = [
        "friction",
        "contacts",
        "data sets",
        "pyramid solved",
        "its forces lie in the cones",
        "and solve the cone's problem",
        "cone solved",
        "cone but not pyramid",
        "Baraff solved",
        "Baraff: ray",
    ];
    let title = "The pyramid's solutions and the cone's".into();
    Table { name: "cone".into(), title, columns: columns(&names.map(|name| (name, ""))), rows }
}

fn left_over(all: &[Seen]) -> Table {
    let rest = all.iter().filter(|seen| seen.cone != "solved");
    let rows = rest
        .map(|seen| {
            vec![
                count(seen.plan + 1),
                count(PLANS[seen.plan].size()),
                Cell::Number(seen.mu),
                text(if seen.slides { "yes" } else { "no" }),
                text(seen.cone),
                text(seen.pyramid),
                text(seen.baraff),
            ]
        })
        .collect();
    let names = ["problem", "size", "mu", "contacts slide", "cone", "pyramid", "Baraff"];
    let title = "Data sets that the cone's solver left".into();
    Table { name: "cone-unsolved".into(), title, columns: columns(&names.map(|name| (name, ""))), rows }
}

/// How often Proposition 1 applies, by friction.
fn plot(all: &[Seen]) -> Plot {
    const BINS: usize = 5;
    let by_friction = |name: &str, slides: bool| {
        let points = (0..BINS)
            .map(|k| {
                let (lo, hi) = (k as f64 / BINS as f64, (k + 1) as f64 / BINS as f64);
                let own = |s: &&Seen| s.slides == slides && s.pyramid == "solved" && (lo..hi).contains(&s.mu);
                let group: Vec<&Seen> = all.iter().filter(own).collect();
                let inside = group.iter().filter(|s| s.inside.is_some()).count();
                (0.5 * (lo + hi), if group.is_empty() { f64::NAN } else { inside as f64 / group.len() as f64 })
            })
            .collect();
        line(name, points)
    };
    compose::plot(
        "proposition-1",
        "How often the pyramid's forces lie in the cones",
        ("coefficient of friction", false),
        ("fraction of the data sets solved", false),
        vec![by_friction("rolling only", false), by_friction("some contacts slide", true)],
    )
}

fn claims(all: &[Seen]) -> Vec<Claim> {
    let inside: Vec<f64> = all.iter().filter_map(|seen| seen.inside).collect();
    let held = inside.iter().filter(|residual| **residual <= TOLERANCE).count();
    let worst = inside.iter().fold(0.0, |a: f64, x| a.max(*x));
    let usual: Vec<&Seen> = all.iter().filter(|seen| seen.friction == Friction::Usual).collect();
    let sum = |of: &dyn Fn(&Seen) -> bool| usual.iter().filter(|seen| of(seen)).count();
    let cone = sum(&|s| s.cone == "solved");
    let percent = 100.0 * cone as f64 / usual.len().max(1) as f64;
    vec![
        claim(
            "Proposition 1: pyramid solutions inside the cones solve the cone's problem",
            "proven",
            format!("{held} of {} (certificate under the cone's law at most {worst:.0e})", inside.len()),
            Rule::all(held, inside.len()),
            format!("{} do not", inside.len() - held),
        ),
        claim(
            "the cone's own problem is solved, friction up to 1 (%)",
            "no method; candidates are named",
            format!(
                "{percent:.1} ({cone} of {}), each certified; Baraff's method solves {} and finds {} rays",
                usual.len(),
                sum(&|s| s.baraff == "solved"),
                sum(&|s| s.baraff == "ray"),
            ),
            Rule::at_least(percent, 90.0).ours(),
            format!("{percent:.1} %"),
        ),
    ]
}
