//! Every contact model can be ended early: it then gives nothing, and asking alone changes nothing.

use std::cell::Cell;
use std::rc::Rc;

use stiction_contact::models::catalog::{CATALOG, build_at};
use stiction_contact::scenes::grasp;
use stiction_contact::{ContactOutcome, ContactProblem, Level, ModelOptions};
use stiction_lcp::interrupt::{Interrupted, interruptible};

/// The outcome, or nothing if the solve was asked to end at its `end`-th look; and how often it
/// looked.
fn solve_until(
    end: usize,
    model: &str,
    level: Level,
    problem: &ContactProblem,
) -> (Result<ContactOutcome, Interrupted>, usize) {
    let looks = Rc::new(Cell::new(0));
    let seen = looks.clone();
    let asked = move || {
        seen.set(seen.get() + 1);
        seen.get() == end
    };
    let mut model = build_at(model, level, &ModelOptions::default()).unwrap();
    let outcome = interruptible(asked, || model.solve(problem).unwrap());
    (outcome, looks.get())
}

#[test]
fn every_model_looks_and_ends_where_it_is_asked_to() {
    let problem = grasp(3, 0.8, 1e-2).unwrap();
    for (entry, &level) in CATALOG.iter().flat_map(|e| e.levels.iter().map(move |l| (e, l))) {
        let (outcome, looks) = solve_until(usize::MAX, entry.name, level, &problem);
        let plain = build_at(entry.name, level, &ModelOptions::default()).unwrap().solve(&problem).unwrap();
        let motion = |o: &ContactOutcome| o.solved().map(|s| s.motion.clone());
        assert_eq!(motion(&outcome.unwrap()), motion(&plain), "{} at {level:?}", entry.name);
        assert!(looks > 0, "{} at {level:?} never looks", entry.name);
        for end in [1, looks / 2, looks] {
            let (outcome, last) = solve_until(end.max(1), entry.name, level, &problem);
            assert_eq!((outcome.err(), last), (Some(Interrupted), end.max(1)), "{} at {level:?}", entry.name);
        }
    }
}
