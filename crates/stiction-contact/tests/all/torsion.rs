//! Many redundant contacts with moments about their normals: bounds that follow normal forces are
//! part of the one system, so that the number of systems does not follow the number of contacts.

use stiction_contact::scenes::{Body, Touch, assemble, unit};
use stiction_contact::{ContactModel, ContactOutcome, ContactProblem, CoulombCone};
use stiction_lcp::generate::Rng;

/// Contacts of each problem.
const CONTACTS: usize = 90;

/// Linear systems for any of the problems: twice what the worst of them takes.
const MOST_FACTORIZATIONS: usize = 450;

/// Up to four bodies with mass ratios up to 10⁴ that move at random, and faces of three to twelve points on
/// pairs of them, some only about to close, with friction up to 5. Half of the points have a moment.
fn faces(seed: u64) -> ContactProblem {
    let mut rng = Rng::new(seed);
    let bodies: Vec<Body> = (0..2 + rng.below(3))
        .map(|k| {
            let mass = libm::pow(10.0, 4.0 * rng.uniform());
            let mut body = Body::cuboid(mass, [1.0, 0.8, 1.3], [0.0, 0.0, k as f64]);
            body.v = [rng.normal(), rng.normal(), rng.normal()];
            body.omega = [rng.normal(), rng.normal(), rng.normal()];
            body.force = [0.0, 0.0, -9.81 * mass];
            body
        })
        .collect();
    let mut touches = Vec::new();
    while touches.len() < CONTACTS {
        let body = rng.below(bodies.len());
        let other = Some(rng.below(bodies.len())).filter(|&o| o != body);
        let normal = unit([rng.normal(), rng.normal(), rng.normal()]);
        let mu = 5.0 * rng.uniform();
        for _ in 0..(3 + rng.below(10)).min(CONTACTS - touches.len()) {
            let point = [rng.uniform() - 0.5, rng.uniform() - 0.5, body as f64 + rng.uniform() - 0.5];
            let gap = if rng.chance(0.4) { 1e-2 * rng.uniform() } else { 0.0 };
            let mu_spin = if rng.chance(0.5) { rng.uniform() } else { 0.0 };
            touches.push(Touch { mu, mu_spin, gap, ..Touch::new(body, other, point, normal) });
        }
    }
    assemble(&bodies, &touches, 1e-3).unwrap()
}

#[test]
fn the_work_for_ninety_contacts_with_moments_is_bounded() {
    let mut model = CoulombCone::default();
    for seed in 0..40 {
        let problem = faces(seed);
        let ContactOutcome::Solved(solution) = model.solve(&problem).unwrap() else {
            panic!("{CONTACTS} contacts, seed {seed}: not solved");
        };
        assert!(solution.certificate.holds(1e-10), "seed {seed}: {:?}", solution.certificate);
        assert!(solution.forces.spin.iter().any(|p| *p != 0.0), "seed {seed} has no moments");
        let (systems, fallbacks) = (solution.stats.most_factorizations, solution.stats.fallbacks);
        assert!(fallbacks == 0 && systems <= MOST_FACTORIZATIONS, "seed {seed}: {systems} systems, {fallbacks}");
    }
}
