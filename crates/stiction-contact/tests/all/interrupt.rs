//! Every contact model can be ended early: it then gives nothing, and asking alone changes nothing.

use std::cell::Cell;
use std::rc::Rc;

use stiction_contact::models::catalog::{CATALOG, build_at};
use stiction_contact::scenes::grasp;
use stiction_contact::{Contact, ContactOutcome, ContactProblem, Level, Mass, ModelKind, ModelOptions};
use stiction_lcp::Matrix;
use stiction_lcp::interrupt::{Interrupted, interruptible};

/// The outcome, or nothing if the solve was asked to end at its `end`-th look; and how often it
/// looked.
fn solve_until(
    end: usize,
    model: ModelKind,
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
        let (outcome, looks) = solve_until(usize::MAX, entry.kind, level, &problem);
        let plain = build_at(entry.kind, level, &ModelOptions::default()).unwrap().solve(&problem).unwrap();
        let motion = |o: &ContactOutcome| o.solved().map(|s| s.motion.clone());
        assert_eq!(motion(&outcome.unwrap()), motion(&plain), "{} at {level:?}", entry.name);
        assert!(looks > 0, "{} at {level:?} never looks", entry.name);
        for end in [1, looks / 2, looks] {
            let (outcome, last) = solve_until(end.max(1), entry.kind, level, &problem);
            assert_eq!((outcome.err(), last), (Some(Interrupted), end.max(1)), "{} at {level:?}", entry.name);
        }
    }
}

/// n velocities, and contacts that all of them move: one iteration of a conic solver takes its time.
fn dense(n: usize, contacts: usize) -> ContactProblem {
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mass = Mass::new(vec![Matrix::identity(n)]).unwrap();
    let v = (0..n).map(|_| number()).collect();
    let mut problem = ContactProblem::new(mass, v, vec![0.0; n], 0.01).unwrap();
    for _ in 0..contacts {
        let rows: [Vec<f64>; 3] = [0; 3].map(|_| (0..n).map(|_| number()).collect());
        let at = rows.each_ref().map(|row| [(0, row.as_slice())]);
        problem.add_contact(Contact { mu: 0.5, ..Contact::new(&at[0], &at[1], &at[2]) }).unwrap();
    }
    problem
}

/// The conic solver of a large program works in a thread of its own: the caller need not wait for it,
/// and finds the same bits.
#[test]
fn a_large_conic_program_can_be_left() {
    let problem = dense(60, 160);
    let options = ModelOptions::default();
    let solve = || build_at(ModelKind::DrumwrightShell, Level::Velocity, &options).unwrap().solve(&problem).unwrap();
    let motion = |o: ContactOutcome| o.solved().map(|s| s.motion.clone());
    assert_eq!(motion(interruptible(|| false, solve).unwrap()), motion(solve()));
    let (outcome, _) = solve_until(2, ModelKind::DrumwrightShell, Level::Velocity, &problem);
    assert_eq!(outcome.err(), Some(Interrupted));
}
