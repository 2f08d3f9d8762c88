//! Lloyd's problems: every answer of every method solves the full problem (8), and the counts behind the paper's complexity hold. No clock is asked.

use stiction_contact::models::coulomb_polyhedral::Method;
use stiction_contact::{ContactModel, CoulombPolyhedral, PolyhedralOptions};
use stiction_papers::lloyd::{Setting, experiments, full_residual, peg_in_hole, single_bodies, stacks};
use stiction_papers::{Cell, Effort, Silent, Verdict};

const METHODS: [Method; 3] = [Method::Standard, Method::Structural, Method::Reduced];

/// Mean pivots of a method over ten wrenches; panics on an answer that is none.
fn pivots(setting: &Setting, method: Method) -> f64 {
    const WRENCHES: u64 = 10;
    let mut model = CoulombPolyhedral::new(PolyhedralOptions { method, ..Default::default() }).unwrap();
    let mut total = 0;
    for seed in 0..WRENCHES {
        let problem = setting.problem(seed).unwrap();
        assert!(problem.contacts().mu.iter().all(|mu| (0.2..0.3).contains(mu)));
        let outcome = model.solve(&problem).unwrap();
        let solution =
            outcome.solved().unwrap_or_else(|| panic!("{} {seed} {method:?}: {}", setting.name, outcome.name()));
        let residual = full_residual(&problem, &solution.forces, 8);
        assert!(residual <= 1e-12, "{} {seed} {method:?}: {residual:e}", setting.name);
        assert_eq!(solution.stats.fallbacks, 0, "{} {seed} {method:?}", setting.name);
        total += solution.stats.pivots;
    }
    total as f64 / WRENCHES as f64
}

#[test]
fn every_method_solves_every_setting() {
    for setting in single_bodies().iter().chain(&stacks()) {
        METHODS.into_iter().for_each(|method| assert!(pivots(setting, method) > 0.0));
    }
}

#[test]
fn pivots_of_reduced_do_not_grow_and_those_of_structural_do() {
    let counts = |n: usize| [Method::Structural, Method::Reduced].map(|method| pivots(&peg_in_hole(n), method));
    let (small, large) = (counts(32), counts(256));
    assert!(large[1] < 1.5 * small[1], "reduced: {small:?} {large:?}");
    assert!(large[0] > 4.0 * small[0], "structural: {small:?} {large:?}");
    assert!(large[0] < 0.5 * 2560.0, "structural: {large:?}");
}

#[test]
fn the_residual_sees_wrong_answers() {
    let problem = peg_in_hole(16).problem(3).unwrap();
    let outcome = CoulombPolyhedral::new(PolyhedralOptions::default()).unwrap().solve(&problem).unwrap();
    let right = &outcome.solved().unwrap().forces;
    assert!(full_residual(&problem, right, 8) < 1e-12);
    let at = (0..16).max_by(|&i, &j| right.normal[i].total_cmp(&right.normal[j])).unwrap();
    for wrong in [0.999, 1.001, -1.0] {
        let mut forces = right.clone();
        forces.normal[at] *= wrong;
        assert!(full_residual(&problem, &forces, 8) > 1e-6, "{wrong}");
        let mut forces = right.clone();
        forces.tangent_s[at] += 0.01 * wrong * forces.normal[at];
        assert!(full_residual(&problem, &forces, 8) > 1e-6, "{wrong}");
    }
}

#[test]
fn sections_are_complete() {
    for experiment in experiments().iter().skip(1) {
        let section = experiment.run(&Effort { quick: true }, &mut Silent).unwrap();
        assert!(section.tables.iter().all(|t| t.rows.iter().all(|row| row.len() == t.columns.len())));
        assert_eq!(section.tables[0].rows.len(), 30, "{}", experiment.name());
        assert!(section.tables[0].rows.iter().all(|row| row[7] == Cell::Text("20/20".into())));
        assert_eq!(section.claims[0].verdict, Verdict::Holds, "{:?}", section.claims[0]);
        assert!(!section.text.is_empty() && !section.plots.is_empty());
    }
}
