//! Problems too large for dense matrices end with a message instead of gigabytes.
//!
//! One test, because the memory is counted for the whole process.

use peak_alloc::PeakAlloc;
use stiction_contact::models::catalog;
use stiction_contact::{Contact, ContactOutcome, ContactProblem, Mass, ModelOptions};
use stiction_lcp::Matrix;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// No solve may take more (bytes).
const MOST_MEMORY: usize = 1_000_000_000;

const AXES: [[f64; 3]; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// Particles that touch each other, each with those `strides` places further on: hardly a pair is far apart in that graph, so its matrix has no sparse factor.
fn crowd(particles: usize, strides: &[usize]) -> ContactProblem {
    let mass = Mass::new(vec![Matrix::identity(3); particles]).unwrap();
    let v = (0..3 * particles).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect();
    let mut problem = ContactProblem::new(mass, v, vec![0.0; 3 * particles], 0.01).unwrap();
    let minus = AXES.map(|axis| axis.map(|x| -x));
    for a in 0..particles {
        for stride in strides {
            let b = (a * stride + stride) % particles;
            if a != b {
                let rows: [_; 3] = std::array::from_fn(|k| [(a, &AXES[k][..]), (b, &minus[k][..])]);
                let contact = Contact { mu: 0.5, ..Contact::new(&rows[0], &rows[1], &rows[2]) };
                problem.add_contact(contact).unwrap();
            }
        }
    }
    problem
}

/// One particle in a bowl of so many contacts.
fn bowl(contacts: usize) -> ContactProblem {
    let mass = Mass::new(vec![Matrix::identity(3)]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![0.0; 3], vec![0.0, 0.0, -9.81], 0.01).unwrap();
    for i in 0..contacts {
        let lean = 0.5 * i as f64 / contacts as f64;
        let (c, s) = (1.0 / (1.0 + lean * lean).sqrt(), lean / (1.0 + lean * lean).sqrt());
        let (n, t) = ([s, 0.0, c], [c, 0.0, -s]);
        let rows: [[(usize, &[f64]); 1]; 3] = [[(0, &n)], [(0, &t)], [(0, &AXES[2])]];
        problem.add_contact(Contact { mu: 0.5, ..Contact::new(&rows[0], &rows[1], &rows[2]) }).unwrap();
    }
    problem
}

#[test]
fn a_solve_takes_less_than_a_gigabyte() {
    let crowd = crowd(2200, &[3, 5, 7, 11, 13, 17, 19, 23]);
    let bowl = bowl(4000);
    for (name, problem, says) in [
        // Its factor is beyond the budget.
        ("coulomb-cone", &crowd, "budget of work"),
        // The rows have 6,600 × 4 × 17,600 entries.
        ("frictionless", &crowd, "dense rows"),
        ("coulomb-polyhedral", &crowd, "dense rows"),
        ("drumwright-shell", &crowd, "dense rows"),
        ("baraff-friction", &crowd, "dense rows"),
        ("coulomb-pyramid", &crowd, "dense rows"),
        // The complementarity problem has 20,000 unknowns.
        ("coulomb-pyramid", &bowl, "matrix of order"),
        ("coulomb-polyhedral", &bowl, ""),
        ("baraff-friction", &bowl, ""),
        ("coulomb-cone", &bowl, ""),
        ("drumwright-shell", &bowl, ""),
    ] {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let outcome = catalog::build(name.parse().unwrap(), &ModelOptions::default()).unwrap().solve(problem).unwrap();
        let used = MEMORY.peak_usage() - before;
        assert!(used < MOST_MEMORY, "{name}: {used}");
        if !says.is_empty() {
            let ContactOutcome::Failed(failure) = outcome else { panic!("{name}: {}", outcome.name()) };
            assert!(failure.why.contains(says), "{name}: {}", failure.why);
        }
    }
}
