//! Problems with known answers: Painlevé's rod, a cube pushed along many directions, towers.

use stiction_contact::models::BaraffFriction;
use stiction_contact::scenes::{Body, Touch, assemble};
use stiction_contact::{ContactModel, ContactOutcome, ModelOptions};
use stiction_lcp::InputError;

use crate::baraff::bodies::{self, Dimension, GRAVITY};

/// Rods of many angles and coefficients: (rods, answers as `A = 1/m + (c² − mu c s)/J` says, rays, rays that end in an impact).
pub(super) fn painleve() -> Result<[usize; 4], InputError> {
    let mut counts = [0; 4];
    let mut model = BaraffFriction::new(ModelOptions::default());
    for slope in (1..20).map(|k| f64::from(k) * 0.1) {
        let length = (1.0 + slope * slope).sqrt();
        let (c, s) = (1.0 / length, slope / length);
        for mu in (0..60).map(|k| 0.05 * f64::from(k) + 0.013) {
            let inverse_mass = 1.0 + 3.0 * c * c - 3.0 * mu * c * s;
            let problem = bodies::rod([c, s], mu)?;
            let outcome = model.solve(&problem)?;
            counts[0] += 1;
            counts[1] += usize::from(match &outcome {
                ContactOutcome::Solved(_) => inverse_mass > 0.0,
                ContactOutcome::Ray(_) => inverse_mass < 0.0,
                _ => false,
            });
            if let ContactOutcome::Ray(ray) = &outcome {
                counts[2] += 1;
                let Some(impact) = model.impact(&problem, ray)? else { continue };
                let Some(after) = impact.outcome.solved() else { continue };
                let mut next = problem.clone();
                next.set_motion(&after.motion, problem.force())?;
                counts[3] += usize::from(model.solve(&next)?.solved().is_some());
            }
        }
    }
    Ok(counts)
}

/// A cube on the floor pushed along 64 directions, twice as hard as friction holds: the largest part by which its acceleration differs from mu
/// g along the push.
pub(super) fn isotropy() -> Result<f64, InputError> {
    const DIRECTIONS: usize = 64;
    let mu = 0.4;
    let mut model = BaraffFriction::new(ModelOptions::default());
    let mut worst = 0.0f64;
    for k in 0..DIRECTIONS {
        let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
        let (c, s) = (libm::cos(angle), libm::sin(angle));
        let push = 2.0 * mu * GRAVITY;
        // At the height of the floor: the cube slides and does not tip.
        let mut cube = Body::cuboid(1.0, [1.0; 3], [0.0, 0.0, 0.5]);
        cube.force = [push * c, push * s, -GRAVITY];
        cube.moment = [0.5 * push * s, -0.5 * push * c, 0.0];
        let corners = [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)];
        let touches = corners.map(|(x, y)| Touch { mu, ..Touch::new(0, None, [x, y, 0.0], [0.0, 0.0, 1.0]) });
        let outcome = model.solve(&assemble(&[cube], &touches, 1e-3)?)?;
        let Some(solved) = outcome.solved() else { return Ok(f64::INFINITY) };
        let expected = mu * GRAVITY;
        let difference = (solved.motion[0] - expected * c).hypot(solved.motion[1] - expected * s);
        worst = worst.max(difference / expected);
    }
    Ok(worst)
}

/// Towers whose top is pushed: how many, and how many move as they must (all at rest below the limit, the top alone above).
pub(super) fn towers() -> Result<[usize; 2], InputError> {
    let mut counts = [0; 2];
    let mut model = BaraffFriction::new(ModelOptions::default());
    for dimension in [Dimension::Two, Dimension::Three] {
        let (per_body, first) = if dimension == Dimension::Two { (3, 0) } else { (6, 0) };
        for (n, mu) in (1..=10).flat_map(|n| [0.1, 0.3, 0.6].map(|mu| (n, mu))) {
            for push in [0.0, 0.5, 0.99, 1.01, 2.0] {
                counts[0] += 1;
                let outcome = model.solve(&bodies::tower(dimension, n, mu, push)?)?;
                let Some(solved) = outcome.solved() else { continue };
                let expected = (push - 1.0f64).max(0.0) * mu * GRAVITY;
                let top = (n - 1) * per_body + first;
                let right = solved.motion.iter().enumerate().all(|(k, a)| {
                    let wanted = if k == top { expected } else { 0.0 };
                    (a - wanted).abs() <= 1e-10 * GRAVITY
                });
                counts[1] += usize::from(right);
            }
        }
    }
    Ok(counts)
}
