//! Many random problems under the friction pyramid: rates by friction and by how much slides. Every success is certified, or it would not be one.
//!
//! `SOAK_FIRST` and `SOAK_COUNT` choose the seeds, `SOAK_RECIPE` one recipe, `SOAK_METHOD` `lemke` or `interior` instead of the default.

use stiction_contact::models::coulomb_pyramid::Existence;
use stiction_contact::scenes::{self, Recipe};
use stiction_contact::{
    Contact, ContactModel, ContactOutcome, ContactProblem, CoulombPyramid, PyramidMethod, PyramidOptions,
};

#[derive(Default, Clone, Copy)]
struct Count {
    all: usize,
    solved: usize,
    no_solution: usize,
    infeasible: usize,
    ray: usize,
    failed: usize,
    guaranteed: usize,
    guaranteed_unsolved: usize,
}

/// Share of the contacts with a say that slide: none, up to half, more.
fn sliding(problem: &ContactProblem) -> usize {
    let n = problem.contacts().len();
    let say: Vec<usize> = (0..n).filter(|&i| problem.contacts().touches(i) && !problem.parts(i)).collect();
    let slide = say.iter().filter(|&&i| problem.slip(i)[..2] != [0.0; 2]).count();
    if slide == 0 { 0 } else { 1 + usize::from(2 * slide > say.len()) }
}

/// The same problem with all coefficients set to `mu`.
fn with_mu(problem: &ContactProblem, mu: f64) -> ContactProblem {
    let mut out =
        ContactProblem::new(problem.mass().clone(), problem.v().to_vec(), problem.force().to_vec(), problem.dt())
            .unwrap();
    let all = problem.contacts();
    for i in 0..all.len() {
        let row = |rows: &stiction_contact::Rows| rows.row(i).map(|(b, x)| (b, x.to_vec())).collect::<Vec<_>>();
        let kinds = [row(&all.normal), row(&all.tangent_s), row(&all.tangent_t), row(&all.spin)];
        let blocks: Vec<Vec<(usize, &[f64])>> =
            kinds.iter().map(|r| r.iter().map(|(b, x)| (*b, &x[..])).collect()).collect();
        let contact = Contact {
            mu,
            gap: all.gap[i],
            size: all.size[i],
            rate: all.rate[i],
            ..Contact::new(&blocks[0], &blocks[1], &blocks[2])
        };
        out.add_contact(contact).unwrap();
    }
    out
}

#[test]
#[ignore = "a soak: minutes in release"]
fn soak() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default);
    let (first, count) = (number("SOAK_FIRST", 0), number("SOAK_COUNT", 10_000));
    let method = match std::env::var("SOAK_METHOD").as_deref() {
        Ok("lemke") => PyramidMethod::Lemke,
        Ok("interior") => PyramidMethod::FeasibleInteriorPoint,
        _ => PyramidMethod::Auto,
    };
    let plain = Recipe { coulomb: true, ..Recipe::PLAIN };
    let recipes = [
        ("contacts", plain),
        ("small", Recipe { bodies: 2, contacts: 4, ..plain }),
        ("all rows", Recipe { gaps: true, bilaterals: true, limits: true, bounded: true, ..plain }),
        ("rates", Recipe { rates: true, bilaterals: true, ..plain }),
    ];
    let ranges = [("recipe's", 0.0, 0.0), ("< 0.3", 0.0, 0.3), ("0.3–1", 0.3, 1.0), ("1–3", 1.0, 3.0)];
    let mut model = CoulombPyramid::new(PyramidOptions { method, ..PyramidOptions::default() });
    let only = std::env::var("SOAK_RECIPE").ok();
    for (name, recipe) in recipes.into_iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        let mut table = [[Count::default(); 3]; 4];
        let mut slow = (std::time::Duration::ZERO, 0);
        for seed in first..first + count {
            let problem =
                if seed % 3 == 0 { scenes::random(&recipe, seed) } else { scenes::random_sliding(&recipe, seed) }
                    .unwrap();
            let range = seed as usize % 4;
            let spread = (seed / 4 % 100) as f64 / 100.0;
            let (_, low, high) = ranges[range];
            let problem =
                if range == 0 || name == "all rows" { problem } else { with_mu(&problem, low + spread * (high - low)) };
            let cell = &mut table[range][sliding(&problem)];
            let clock = std::time::Instant::now();
            let outcome = model.solve(&problem).unwrap();
            if clock.elapsed() > slow.0 {
                slow = (clock.elapsed(), seed);
            }
            cell.all += 1;
            match &outcome {
                ContactOutcome::Solved(_) => cell.solved += 1,
                ContactOutcome::NoSolution(_) => cell.no_solution += 1,
                ContactOutcome::Infeasible(_) => cell.infeasible += 1,
                ContactOutcome::Ray(_) => cell.ray += 1,
                ContactOutcome::Failed(failure) => {
                    cell.failed += 1;
                    if table.iter().flatten().map(|c| c.failed).sum::<usize>() <= number("SOAK_SHOW", 5) as usize {
                        eprintln!("  {name} seed {seed}: {} {:?}", failure.why, failure.best.stats);
                    }
                }
            }
            if seed / 4 % 2 == 1 {
                let cell = &mut table[range][sliding(&problem)];
                if model.existence(&problem).unwrap() == Existence::Guaranteed {
                    cell.guaranteed += 1;
                    cell.guaranteed_unsolved += usize::from(outcome.solved().is_none());
                }
            }
        }
        eprintln!("{name}: slowest {:?} (seed {})", slow.0, slow.1);
        for (range, row) in ranges.iter().zip(&table) {
            for (share, c) in ["rolling", "≤ half", "more"].iter().zip(row) {
                eprintln!(
                    "  μ {:8} sliding {share:8} {:6}: solved {:6} no solution {:4} infeasible {:4} ray {:4} failed {:4}; guaranteed {} ({} unsolved)",
                    range.0,
                    c.all,
                    c.solved,
                    c.no_solution,
                    c.infeasible,
                    c.ray,
                    c.failed,
                    c.guaranteed,
                    c.guaranteed_unsolved
                );
            }
        }
    }
}
