//! The physical certificate on forces and motions made by hand: right ones pass, and each violation is found where it is.

use stiction_contact::certificate::cone::ConeLaw;
use stiction_contact::certificate::{ContactView, Law, NormalLaw};
use stiction_contact::scenes::{Body, Touch, assemble};
use stiction_contact::{
    CONTACT_ROWS, Certifier, Contact, ContactForces, ContactModel, ContactProblem, CoulombCone, CoulombPolyhedral,
    Frictionless, Level, Mass, NormalOptions, PhysicalCertificate, Place, PolyhedralOptions,
};
use stiction_lcp::Matrix;

/// No law of friction: what is left is what all laws share.
struct Shared {
    normal_law: NormalLaw,
}

impl Law for Shared {
    fn level(&self) -> Level {
        Level::Velocity
    }

    fn friction(&self, _contact: &ContactView) -> f64 {
        0.0
    }

    fn normal_law(&self) -> NormalLaw {
        self.normal_law
    }
}

const SIGNORINI: Shared = Shared { normal_law: NormalLaw::Signorini };

fn certify(problem: &ContactProblem, forces: &ContactForces, motion: &[f64]) -> PhysicalCertificate {
    Certifier::default().certify(problem, &SIGNORINI, forces, motion)
}

const DT: f64 = 1e-2;
const WEIGHT: f64 = 2.0 * 9.81;

/// A block of 2 kg at rest on the four corners of its face.
fn table() -> (ContactProblem, ContactForces, Vec<f64>) {
    let mut body = Body::cuboid(2.0, [1.0, 0.6, 0.2], [0.0, 0.0, 0.1]);
    body.force = [0.0, 0.0, -WEIGHT];
    let corners = [(0.5, 0.3), (0.5, -0.3), (-0.5, -0.3), (-0.5, 0.3)];
    let touches = corners.map(|(x, y)| Touch { mu: 0.5, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) });
    let problem = assemble(&[body], &touches, DT).unwrap();
    let mut forces = ContactForces::zeros(&problem);
    forces.normal.fill(0.25 * DT * WEIGHT);
    let motion = vec![0.0; 6];
    (problem, forces, motion)
}

/// Particles on a line, velocity and force of each.
fn line(masses: &[f64], v: &[f64], force: &[f64]) -> ContactProblem {
    let blocks = masses.iter().map(|m| Matrix::from_fn(1, 1, |_, _| *m)).collect();
    ContactProblem::new(Mass::new(blocks).unwrap(), v.to_vec(), force.to_vec(), DT).unwrap()
}

#[test]
fn a_block_at_rest_is_certified() {
    let (problem, forces, motion) = table();
    let certificate = certify(&problem, &forces, &motion);
    assert!(certificate.holds(1e-14), "{certificate}");
}

/// What rests is not measured beside anything: forces beyond their limits are found all the same, and so is momentum.
#[test]
fn forces_at_rest_are_held_to_their_limits() {
    let (problem, balanced, motion) = table();
    let law = ConeLaw { level: Level::Velocity };
    let certify = |forces: &ContactForces| Certifier::default().certify(&problem, &law, forces, &motion);
    assert!(certify(&balanced).holds(1e-14));
    let most = 0.5 * balanced.normal[2];
    let pulled = |along: f64| {
        let mut forces = balanced.clone();
        (forces.tangent_s[2], forces.tangent_t[2]) = (0.6 * along, -0.8 * along);
        certify(&forces)
    };
    assert_eq!(pulled(0.99 * most).friction, 0.0);
    assert!(pulled(most).friction < 1e-14, "on the rim");
    let beyond = pulled(1.01 * most);
    assert!(beyond.friction > 1e-4 && beyond.momentum > 1e-3, "{beyond}");
    let mut forces = balanced.clone();
    forces.spin[2] = 1e-3 * most;
    assert!(certify(&forces).friction > 1e-6, "a moment that nothing resists with");
    let mut forces = balanced.clone();
    forces.normal[2] = -forces.normal[2];
    let certificate = certify(&forces);
    assert!(certificate.signorini > 1e-3, "{certificate}");
}

/// Each row is measured beside its own terms: 1 µg of a gram beside a tonne is found, and found there.
#[test]
fn momentum_of_the_lightest_body_counts() {
    let problem = line(&[1e6, 1e-6], &[1.0, 1.0], &[5.0, 3e-6]);
    let forces = ContactForces::zeros(&problem);
    let exact = [1.0 + DT * 5e-6, 1.0 + DT * 3.0];
    assert!(certify(&problem, &forces, &exact).holds(1e-14));
    for (k, off) in [(1, 1e-6), (0, 1e-6)] {
        let mut motion = exact;
        motion[k] += off;
        let certificate = certify(&problem, &forces, &motion);
        assert_eq!(certificate.worst, Place::Velocity(k));
        assert!(certificate.momentum > 1e-7 && certificate.momentum < 1e-5, "{certificate}");
    }
}

#[test]
fn a_bilateral_row_that_moves_is_found() {
    let mut problem = line(&[1.0, 2.0, 1.0], &[1.0, 1.0, 1.0], &[0.0; 3]);
    problem.add_bilateral(&[(0, &[1.0]), (1, &[-1.0])], 0.0, 0.0).unwrap();
    problem.add_bilateral(&[(1, &[1.0]), (2, &[-1.0])], 0.0, 0.0).unwrap();
    let mut forces = ContactForces::zeros(&problem);
    assert!(certify(&problem, &forces, &[1.0; 3]).holds(1e-14));
    // An impulse along the second row, in balance, that tears it.
    forces.bilateral[1] = 1e-6;
    let certificate = certify(&problem, &forces, &[1.0, 1.0 + 0.5e-6, 1.0 - 1e-6]);
    assert_eq!(certificate.worst, Place::Bilateral(1));
    assert!(certificate.momentum < 1e-14 && certificate.bilateral > 1e-7, "{certificate}");
}

/// Rows that contradict each other: halfway is accepted, anything else is not.
#[test]
fn contradicting_rows_hold_only_at_their_compromise() {
    let mut problem = line(&[2.0], &[0.0], &[0.0]);
    problem.add_bilateral(&[(0, &[1.0])], 0.0, 1.0).unwrap();
    problem.add_bilateral(&[(0, &[3.0])], 0.0, 6.0).unwrap();
    let at = |v: f64| {
        let mut forces = ContactForces::zeros(&problem);
        forces.bilateral[0] = 2.0 * v;
        certify(&problem, &forces, &[v])
    };
    // Targets 1 and 2, rows of unit length.
    let compromise = at(1.5);
    assert!(compromise.holds(1e-14) && compromise.inconsistency > 0.1, "{compromise}");
    for v in [1.0, 2.0, 1.5 + 1e-6] {
        let certificate = at(v);
        assert!(certificate.bilateral > 1e-8, "{v}: {certificate}");
        assert!(matches!(certificate.worst, Place::Bilateral(_)));
    }
}

#[test]
fn a_pulling_contact_is_found() {
    let (problem, mut forces, motion) = table();
    // Two corners of each diagonal share its load as they like: the balance holds.
    let load = 0.25 * DT * WEIGHT;
    forces.normal = vec![load * (2.0 + 1e-6), -1e-6 * load, load * (2.0 + 1e-6), -1e-6 * load];
    for normal_law in [NormalLaw::Signorini, NormalLaw::Unilateral] {
        let certificate = Certifier::default().certify(&problem, &Shared { normal_law }, &forces, &motion);
        assert!(certificate.momentum < 1e-14, "{certificate}");
        assert!(matches!(certificate.worst, Place::Contact(1 | 3)), "{certificate}");
        assert!(certificate.signorini > 1e-8, "{certificate}");
    }
}

#[test]
fn a_contact_that_pushes_while_it_parts_is_found() {
    let (problem, mut forces, mut motion) = table();
    forces.normal.iter_mut().for_each(|p| *p *= 1.001);
    motion[2] = 0.001 * DT * WEIGHT / 2.0;
    let certificate = certify(&problem, &forces, &motion);
    assert!(certificate.momentum < 1e-12, "{certificate}");
    assert!(certificate.signorini > 1e-5 && matches!(certificate.worst, Place::Contact(_)), "{certificate}");
    // A law that allows it must still not let the contact do work.
    let unilateral = Shared { normal_law: NormalLaw::Unilateral };
    let certificate = Certifier::default().certify(&problem, &unilateral, &forces, &motion);
    assert!(certificate.signorini < 1e-15, "{certificate}");
    assert!(certificate.work > 1e-5, "{certificate}");
}

#[test]
fn a_contact_that_closes_is_found() {
    let (problem, mut forces, mut motion) = table();
    forces.normal.iter_mut().for_each(|p| *p *= 0.999);
    motion[2] = -0.001 * DT * WEIGHT / 2.0;
    for normal_law in [NormalLaw::Signorini, NormalLaw::Unilateral] {
        let certificate = Certifier::default().certify(&problem, &Shared { normal_law }, &forces, &motion);
        assert!(certificate.signorini > 1e-5 && matches!(certificate.worst, Place::Contact(_)), "{certificate}");
    }
}

/// Friction that drives the block on, in balance.
#[test]
fn positive_work_is_found() {
    let (problem, mut forces, mut motion) = table();
    let push = 1e-4 * DT * WEIGHT;
    forces.tangent_s[2] = push;
    let contacts = problem.contacts();
    contacts.tangent_s.add_transposed(2, push, &mut motion);
    problem.mass().solve(&mut motion);
    let certificate = certify(&problem, &forces, &motion);
    assert!(certificate.momentum < 1e-14, "{certificate}");
    assert!(certificate.work > 1e-7, "{certificate}");
}

#[test]
fn limits_and_bounded_rows_are_measured() {
    let mut problem = line(&[1.0, 1.0], &[0.0, 0.0], &[1.0, 1.0]);
    problem.add_limit(&[(0, &[-1.0])], 0.0, 0.0, 0.0).unwrap();
    problem.add_bounded(&[(1, &[1.0])], -0.5, 0.5, 0.0, 0.0).unwrap();
    let mut forces = ContactForces::zeros(&problem);
    (forces.limit[0], forces.bounded[0]) = (DT, -0.5 * DT);
    let exact = [0.0, 0.5 * DT];
    assert!(certify(&problem, &forces, &exact).holds(1e-14));
    // Beyond its bound, in balance: it stops the particle, but it may not.
    let mut beyond = forces.clone();
    beyond.bounded[0] = -DT;
    let certificate = certify(&problem, &beyond, &[0.0, 0.0]);
    assert_eq!(certificate.worst, Place::Bounded(0));
    assert!(certificate.momentum < 1e-14 && certificate.bounded > 0.1, "{certificate}");
    // Weaker than it could be.
    let mut weak = forces.clone();
    weak.bounded[0] = -0.25 * DT;
    let certificate = certify(&problem, &weak, &[0.0, 0.75 * DT]);
    assert_eq!(certificate.worst, Place::Bounded(0));
    // A limit that lets itself be passed.
    forces.limit[0] = 0.5 * DT;
    let certificate = certify(&problem, &forces, &[0.5 * DT, 0.5 * DT]);
    assert_eq!(certificate.worst, Place::Limit(0));
}

#[test]
fn a_nan_is_never_certified() {
    let (problem, forces, motion) = table();
    for k in 0..6 {
        let mut wrong = motion.clone();
        wrong[k] = f64::NAN;
        assert_eq!(certify(&problem, &forces, &wrong).largest(), f64::INFINITY, "motion {k}");
    }
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for kind in 0..CONTACT_ROWS {
            let mut wrong = forces.clone();
            wrong.contacts_mut()[kind][1] = value;
            let certificate = certify(&problem, &wrong, &motion);
            assert!(!certificate.holds(1.0) && certificate.largest() == f64::INFINITY, "{value}: {certificate}");
        }
    }
}

/// A bilateral or bounded row or a limit without any entry moves nothing: a NaN along it must be seen all the same.
#[test]
fn a_nan_on_a_row_that_moves_nothing_is_seen() {
    let mut problem = line(&[1.0], &[0.0], &[0.0]);
    problem.add_bilateral(&[], 0.0, 0.0).unwrap();
    problem.add_limit(&[], 0.0, 0.0, 0.0).unwrap();
    problem.add_bounded(&[], -1.0, 1.0, 0.0, 0.0).unwrap();
    problem.add_contact(Contact::new(&[], &[], &[])).unwrap();
    let spoil: [fn(&mut ContactForces) -> &mut Vec<f64>; 4] =
        [|f| &mut f.bilateral, |f| &mut f.limit, |f| &mut f.bounded, |f| &mut f.normal];
    for (k, field) in spoil.into_iter().enumerate() {
        let mut forces = ContactForces::zeros(&problem);
        assert!(certify(&problem, &forces, &[0.0]).holds(0.0));
        field(&mut forces)[0] = f64::NAN;
        assert!(!certify(&problem, &forces, &[0.0]).holds(1.0), "kind {k}");
    }
}

/// A body that touches nothing says nothing about the others, however heavy: floor and ceiling both
/// want a particle away from them, which cannot be.
#[test]
fn a_heavy_bystander_does_not_hide_an_error() {
    for (mass, speed) in [(1.0, 1.0), (1e9, 1.0), (1e15, 1e3)] {
        let block = |m: f64| Matrix::from_fn(3, 3, |i, j| if i == j { m } else { 0.0 });
        let inertia = Mass::new(vec![block(1e-3), block(mass)]).unwrap();
        let (v, force) = (vec![0.0, 0.0, 0.0, speed, 0.0, 0.0], vec![0.0, 0.0, -9.81e-3, 0.0, 0.0, -9.81 * mass]);
        let mut problem = ContactProblem::new(inertia, v, force, DT).unwrap();
        for n in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]] {
            problem.add_contact(Contact { bounce: 0.5, ..Contact::new(&[(0, &n)], &[], &[]) }).unwrap();
        }
        for outcome in [
            CoulombCone::default().solve(&problem).unwrap(),
            Frictionless::new(Level::Velocity, NormalOptions::default()).solve(&problem).unwrap(),
            CoulombPolyhedral::new(PolyhedralOptions::default()).unwrap().solve(&problem).unwrap(),
        ] {
            assert!(outcome.solved().is_none(), "mass {mass}: {outcome:?}");
        }
        // Forces that grow without end must not make their own error look small.
        for p in [1.0, 1e6, 1e12] {
            let mut forces = ContactForces::zeros(&problem);
            forces.normal.copy_from_slice(&[p + DT * 9.81e-3, p]);
            let motion = [0.0, 0.0, 0.0, speed, 0.0, -9.81 * DT];
            let certificate = certify(&problem, &forces, &motion);
            assert!(certificate.signorini > 1e-3, "mass {mass}, force {p}: {certificate}");
        }
    }
}

/// A light body between the floor and a heavy one that falls: the floor does not give way, however
/// much the forces are beside what the light body alone would need.
#[test]
fn a_light_body_is_not_pressed_into_the_floor() {
    for heavy in [1.0, 1e3, 1e5] {
        let light = 1e-5;
        let mut problem = line(&[light, heavy], &[0.0, -1.0], &[0.0, 0.0]);
        problem.add_contact(Contact::new(&[(0, &[1.0])], &[], &[])).unwrap();
        problem.add_contact(Contact::new(&[(0, &[-1.0]), (1, &[1.0])], &[], &[])).unwrap();
        let mut forces = ContactForces::zeros(&problem);
        let speed = -0.76;
        forces.normal[1] = heavy * (speed + 1.0);
        forces.normal[0] = forces.normal[1] + light * speed;
        let certificate = certify(&problem, &forces, &[speed, speed]);
        assert!(!certificate.holds(1e-10) && certificate.signorini > 1e-8, "{heavy}: {certificate}");
        let outcome = CoulombCone::default().solve(&problem).unwrap();
        // What the certificate allows beside the energy of the heavy body.
        assert!(outcome.solved().unwrap().motion.iter().all(|v| v.abs() < 1e-5), "{heavy}");
    }
}

/// Two rows that are parallel but for rounding ask for different speeds: what would satisfy both is
/// a motion far beyond the data, and is not certified.
#[test]
fn a_motion_that_the_data_do_not_warrant_is_not_certified() {
    let mut problem = {
        let inertia = Mass::new(vec![Matrix::identity(2)]).unwrap();
        ContactProblem::new(inertia, vec![0.3, 0.0], vec![0.0; 2], DT).unwrap()
    };
    let noise = 1e-9;
    problem.add_bilateral(&[(0, &[1.0, 0.0])], 0.0, 0.0).unwrap();
    problem.add_contact(Contact::new(&[(0, &[1.0, noise])], &[], &[])).unwrap();
    // Neither row is violated by this, and momentum is balanced, but it has energy from nowhere.
    let v = 1e5;
    let mut forces = ContactForces::zeros(&problem);
    forces.normal[0] = v / noise;
    forces.bilateral[0] = -0.3 - forces.normal[0];
    let certificate = certify(&problem, &forces, &[0.0, v]);
    assert!(certificate.signorini > 1e-6 && certificate.energy > 1e-6, "{certificate}");
}

/// Targets and moving surfaces bring energy, and that is counted.
#[test]
fn driven_work_is_counted() {
    let mut problem = line(&[2.0], &[0.0], &[0.0]);
    problem.add_bilateral(&[(0, &[1.0])], 0.0, 3.0).unwrap();
    let mut forces = ContactForces::zeros(&problem);
    forces.bilateral[0] = 6.0;
    let certificate = certify(&problem, &forces, &[3.0]);
    assert!(certificate.holds(1e-14), "{certificate}");
    assert_eq!(certificate.driven_work, 18.0);
}

#[test]
fn motions_whose_squares_vanish_are_measured_too() {
    // A joint that dry friction stops turns a little less in every step, by the rounding that is left.
    for exponent in [-100, -300, -500, -520, -540, -600, -900, -1000] {
        let scale = 2f64.powi(exponent);
        let mut problem = line(&[0.0152, 0.3], &[-3.0 * scale, scale], &[scale, -7.0 * scale]);
        problem.add_bounded(&[(0, &[1.0])], -0.1, 0.1, 0.0, 0.0).unwrap();
        let outcome = CoulombCone::default().solve(&problem).unwrap();
        let solution = outcome.solved().unwrap_or_else(|| panic!("2^{exponent}: {outcome:?}"));
        let mut wrong = solution.motion.clone();
        wrong[0] += 1e-6 * scale;
        let certificate = Certifier::default().certify(&problem, &SIGNORINI, &solution.forces, &wrong);
        assert!(!certificate.holds(1e-10), "2^{exponent}: {certificate:?}");
    }
}
