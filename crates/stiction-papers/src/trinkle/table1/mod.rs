//! Table 1: what Lemke's method and the feasible interior point method solve, and what is left.

mod claims;

use super::data::{Friction, data_sets, scene};
use super::plans::PLANS;
use super::trial::{Fate, Run, STARTS, Trial};
use crate::compose::{self, columns, count, failed, number, text};
use crate::{Cell, Effort, Experiment, ExperimentError, Plot, Progress, Section, Table};

/// A row of the paper's table: size, data sets, and for Lemke's method fraction solved, starts and iterations, for interior points fraction and
/// iterations.
struct PaperRow {
    size: usize,
    sets: usize,
    lemke: (f64, Option<f64>, Option<f64>),
    interior: (f64, Option<f64>),
}

const fn row(
    size: usize,
    sets: usize,
    lemke: (f64, Option<f64>, Option<f64>),
    interior: (f64, Option<f64>),
) -> PaperRow {
    PaperRow { size, sets, lemke, interior }
}

const PAPER: [PaperRow; 9] = [
    row(2, 20, (1.0, Some(1.0), Some(2.0)), (0.5, Some(8.4))),
    row(10, 60, (0.92, Some(1.3), Some(8.9)), (0.35, Some(10.4))),
    row(16, 10, (1.0, Some(1.4), Some(20.0)), (1.0, Some(17.2))),
    row(30, 26, (0.62, Some(1.7), Some(44.1)), (0.42, Some(19.6))),
    row(50, 20, (0.35, Some(2.0), Some(107.4)), (0.30, Some(61.1))),
    row(90, 23, (0.0, None, None), (0.35, Some(30.4))),
    row(120, 10, (0.10, Some(1.0), None), (0.70, None)),
    row(150, 6, (0.0, None, None), (0.50, Some(46.3))),
    row(170, 10, (0.0, None, None), (0.0, None)),
];

/// Branches over the pairs of what nothing solves, and for large friction in a quick run.
const NODES: usize = 2500;
const FEW_NODES: usize = 200;

/// Table 1.
pub(super) struct Table1;

impl Experiment for Table1 {
    fn name(&self) -> &'static str {
        "trinkle/table-1"
    }

    fn title(&self) -> &'static str {
        "Table 1: 328 random problems with manipulators, by Lemke's method and by interior points"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let (mut usual, mut large) = (Vec::new(), Vec::new());
        for plan in 0..PLANS.len() {
            progress.report(plan, PLANS.len(), &format!("problem {} of size {}", plan + 1, PLANS[plan].size()));
            for (friction, trials) in [(Friction::Usual, &mut usual), (Friction::Large, &mut large)] {
                let nodes = if effort.quick && friction == Friction::Large { FEW_NODES } else { NODES };
                for set in data_sets(plan, friction, effort.quick).map_err(failed(self.name()))? {
                    trials.push(Trial::run(&set, nodes).map_err(failed(self.name()))?);
                }
            }
        }
        let tables = vec![
            by_size(&usual),
            summary(&usual, &large),
            left_over("unsolved", "Data sets that none of our solvers solved, friction between 0 and 1", &usual),
            left_over(
                "unsolved-large-friction",
                "Data sets that none of our solvers solved, friction between 1 and 3",
                &large,
            ),
            problems().map_err(failed(self.name()))?,
        ];
        let text = explain(usual.len(), large.len());
        Ok(Section {
            text,
            tables,
            plots: vec![plot(&usual)],
            claims: claims::claims(&usual, &large),
            ..Section::default()
        })
    }
}

fn explain(usual: usize, large: usize) -> Vec<String> {
    vec![
        "The paper draws 35 random problems with passive bodies and manipulators, varies the coefficient of friction of each about ten times (328 \
         data sets), and solves the pyramid's complementarity problem (32) by Lemke's method with restarts (at most 100 iterations per start) and \
         by a feasible interior point method (300). Its problems are not published."
            .into(),
        format!(
            "Ours are boxes on a floor, in rows and stacks, at walls, pushed by fingers of two to four joints with given efforts; half of the \
             problems have contacts that slide. Sizes and numbers of data sets are those of the paper's table, and 15 problems of sizes 115 to \
             165 stand for those that it leaves out. Friction is uniform between 0 and 1 ({usual} data sets here), and between 1 and 3 apart \
             ({large}). Seeds are the problems' numbers."
        ),
        format!(
            "With the paper's limits Lemke's method has {STARTS} starts with random covering vectors and 100 pivots each; interior points stop at \
             a gap of 1e-6. With ours, pivots are limited far beyond need and answers are crossed over to a vertex. The model (`CoulombPyramid`) \
             tries Lemke's method, friction raised step by step, interior points and exact arithmetic. A data set counts as solved if its answer \
             is certified; the model's answers are also checked on (32) as written down independently here. What is left is proven to have no \
             solution, by a Farkas vector, by trying all bases, or by branching over the pairs with linear programs whose infeasibility is \
             verified; or it is listed as open."
        ),
    ]
}

/// Mean over the runs that solved, `None` if none did.
fn mean(runs: &[Run], of: impl Fn(&Run) -> usize) -> Option<f64> {
    let solved: Vec<usize> = runs.iter().filter(|run| run.solved).map(of).collect();
    (!solved.is_empty()).then(|| solved.iter().sum::<usize>() as f64 / solved.len() as f64)
}

fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn share(trials: &[&Trial], of: impl Fn(&Trial) -> bool) -> f64 {
    fraction(trials.iter().filter(|trial| of(trial)).count(), trials.len())
}

/// The sizes that occur, each with its trials.
fn sizes(trials: &[Trial]) -> Vec<(usize, Vec<&Trial>)> {
    let mut all: Vec<(usize, Vec<&Trial>)> = Vec::new();
    for trial in trials {
        match all.iter_mut().find(|(size, _)| *size == trial.size) {
            Some((_, group)) => group.push(trial),
            None => all.push((trial.size, vec![trial])),
        }
    }
    all.sort_by_key(|(size, _)| *size);
    all
}

fn by_size(trials: &[Trial]) -> Table {
    let mut rows = Vec::new();
    for (size, group) in sizes(trials) {
        let paper = PAPER.iter().find(|row| row.size == size);
        let runs = |of: fn(&Trial) -> Run| group.iter().map(|trial| of(trial)).collect::<Vec<Run>>();
        let (lemke, interior) = (runs(|t| t.lemke), runs(|t| t.interior));
        rows.push(vec![
            count(size),
            paper.map_or(Cell::Empty, |row| count(row.sets)),
            count(group.len()),
            number(paper.map(|row| row.lemke.0)),
            Cell::Number(share(&group, |t| t.lemke.solved)),
            number(paper.and_then(|row| row.lemke.1)),
            number(mean(&lemke, |run| run.starts)),
            number(paper.and_then(|row| row.lemke.2)),
            number(mean(&lemke, |run| run.iterations)),
            number(paper.map(|row| row.interior.0)),
            Cell::Number(share(&group, |t| t.interior.solved)),
            number(paper.and_then(|row| row.interior.1)),
            number(mean(&interior, |run| run.iterations)),
            Cell::Number(share(&group, |t| t.lemke_ours.solved)),
            Cell::Number(share(&group, |t| t.interior_ours.solved)),
            Cell::Number(share(&group, Trial::is_solved)),
            count(group.iter().filter(|t| matches!(t.fate, Fate::Proven(_))).count()),
            count(group.iter().filter(|t| matches!(t.fate, Fate::Open(_))).count()),
        ]);
    }
    let names = [
        "size",
        "data sets, paper",
        "data sets",
        "Lemke solved, paper",
        "Lemke solved",
        "starts, paper",
        "starts",
        "pivots, paper",
        "pivots",
        "interior solved, paper",
        "interior solved",
        "iterations, paper",
        "iterations",
        "Lemke solved, our limits",
        "interior solved, our limits",
        "solved and certified",
        "proven unsolvable",
        "open",
    ];
    let title = "Fractions solved with the paper's limits and with ours, friction between 0 and 1".into();
    Table { name: "table-1".into(), title, columns: columns(&names.map(|name| (name, ""))), rows }
}

fn left_over(name: &str, title: &str, trials: &[Trial]) -> Table {
    let rest = trials.iter().filter(|trial| !trial.is_solved());
    let rows = rest
        .map(|trial| {
            let (fate, why) = match &trial.fate {
                Fate::Proven(why) => ("proven unsolvable", why),
                Fate::Open(why) => ("open", why),
                Fate::Solved => ("solved", &String::new()),
                Fate::SolvedLate(how) => ("solved late", &(*how).into()),
            };
            vec![
                count(trial.plan + 1),
                count(trial.size),
                Cell::Number(trial.mu),
                text(if trial.slides { "yes" } else { "no" }),
                text(fate),
                text(why),
            ]
        })
        .collect();
    let names = [("problem", ""), ("size", ""), ("mu", ""), ("contacts slide", ""), ("outcome", ""), ("why", "")];
    Table { name: name.into(), title: title.into(), columns: columns(&names), rows }
}

fn summary(usual: &[Trial], large: &[Trial]) -> Table {
    let mut rows = Vec::new();
    for (friction, trials) in [("0 to 1", usual), ("1 to 3", large)] {
        for (contacts, slides) in [("rolling only", false), ("some slide", true)] {
            let group: Vec<&Trial> = trials.iter().filter(|trial| trial.slides == slides).collect();
            let sum = |of: fn(&Trial) -> bool| count(group.iter().filter(|trial| of(trial)).count());
            rows.push(vec![
                text(friction),
                text(contacts),
                count(group.len()),
                sum(|t| t.lemke.solved),
                sum(|t| t.interior.solved),
                sum(|t| t.interior.not_applicable),
                sum(|t| t.lemke_ours.solved),
                sum(|t| t.interior_ours.solved),
                sum(Trial::is_solved),
                sum(|t| matches!(t.fate, Fate::Proven(_))),
                sum(|t| matches!(t.fate, Fate::Open(_))),
            ]);
        }
    }
    let names = [
        "friction",
        "contacts",
        "data sets",
        "Lemke, paper's limits",
        "interior, paper's limits",
        "no strictly feasible point",
        "Lemke, our limits",
        "interior, our limits",
        "solved and certified",
        "proven unsolvable",
        "open",
    ];
    let title = "Data sets solved, by friction and by contacts".into();
    Table { name: "summary".into(), title, columns: columns(&names.map(|name| (name, ""))), rows }
}

fn problems() -> Result<Table, stiction_lcp::InputError> {
    let mut rows = Vec::new();
    for (k, plan) in PLANS.iter().enumerate() {
        let scene = scene(k)?;
        let numbers = [k + 1, plan.size(), plan.rolling, plan.sliding, scene.objects, scene.fingers, scene.joints];
        let more = [6 * scene.objects + scene.joints, plan.sets, k, scene.draws as usize];
        rows.push(numbers.into_iter().chain(more).map(count).collect());
    }
    let names = [
        "problem",
        "size",
        "rolling",
        "sliding",
        "boxes",
        "fingers",
        "joints",
        "degrees of freedom",
        "data sets",
        "seed",
        "scenes drawn",
    ];
    let title = "The 35 problems".into();
    Ok(Table { name: "problems".into(), title, columns: columns(&names.map(|name| (name, ""))), rows })
}

fn plot(trials: &[Trial]) -> Plot {
    let groups = sizes(trials);
    let ours = |name: &str, of: fn(&Trial) -> bool| {
        compose::line(name, groups.iter().map(|(size, group)| (*size as f64, share(group, of))).collect())
    };
    let paper = |name: &str, of: fn(&PaperRow) -> f64| {
        compose::of_paper(name, PAPER.iter().map(|row| (row.size as f64, of(row))).collect())
    };
    compose::plot(
        "solved-by-size",
        "Fraction of the data sets solved",
        ("size of the complementarity problem", false),
        ("fraction solved", false),
        vec![
            ours("certified, all our solvers", Trial::is_solved),
            ours("Lemke, paper's limits", |t| t.lemke.solved),
            ours("interior point, paper's limits", |t| t.interior.solved),
            paper("Lemke, paper (1995)", |row| row.lemke.0),
            paper("interior point, paper (1995)", |row| row.interior.0),
        ],
    )
}
