//! Piles of cubes and a walking machine at rest: islands that are large, redundant, or one dense block.

use stiction_lcp::generate::Rng;
use stiction_lcp::{InputError, Matrix};

use super::{Body, Touch, Vec3, assemble};
use crate::mass::Mass;
use crate::problem::{Contact, ContactProblem};

const GRAVITY: f64 = 9.81;

/// A unit cube of 1 kg under gravity, at rest.
fn cube(centre: Vec3) -> Body {
    Body { force: [0.0, 0.0, -GRAVITY], ..Body::cuboid(1.0, [1.0; 3], centre) }
}

/// The corners of the rectangle `x × y` at height z.
fn corners(x: [f64; 2], y: [f64; 2], z: f64) -> [Vec3; 4] {
    [[x[0], y[0], z], [x[1], y[0], z], [x[1], y[1], z], [x[0], y[1], z]]
}

/// A tower of `n` unit cubes on the floor, four contacts per face: 6 n velocities, 4 n contacts.
///
/// # Errors
/// If `mu` or `dt` is out of range.
pub fn stack(n: usize, mu: f64, dt: f64) -> Result<ContactProblem, InputError> {
    let bodies: Vec<Body> = (0..n).map(|k| cube([0.0, 0.0, k as f64 + 0.5])).collect();
    let touches: Vec<Touch> = (0..n)
        .flat_map(|k| corners([-0.5, 0.5], [-0.5, 0.5], k as f64).map(|point| (k, point)))
        .map(|(k, point)| Touch { mu, ..Touch::new(k, k.checked_sub(1), point, [0.0, 0.0, 1.0]) })
        .collect();
    assemble(&bodies, &touches, dt)
}

/// A pyramid of unit cubes, `base` of them on the floor and each other on two of those below, neighbours apart: four contacts per pair.
///
/// # Errors
/// If `mu` or `dt` is out of range.
pub fn pyramid(base: usize, mu: f64, dt: f64) -> Result<ContactProblem, InputError> {
    /// Distance of neighbours in a row, so that they do not touch.
    const PITCH: f64 = 1.1;
    let (mut bodies, mut touches) = (Vec::new(), Vec::new());
    let mut below = 0;
    for row in 0..base {
        let first = bodies.len();
        for k in 0..base - row {
            let (x, z) = (PITCH * (k as f64 + 0.5 * row as f64), row as f64);
            let body = bodies.len();
            bodies.push(cube([x, 0.0, z + 0.5]));
            let mut face = |other: Option<usize>, x: [f64; 2]| {
                touches.extend(
                    corners(x, [-0.5, 0.5], z)
                        .map(|point| Touch { mu, ..Touch::new(body, other, point, [0.0, 0.0, 1.0]) }),
                );
            };
            if row == 0 {
                face(None, [x - 0.5, x + 0.5]);
            } else {
                face(Some(below + k), [x - 0.5, x - 0.5 * PITCH + 0.5]);
                face(Some(below + k + 1), [x + 0.5 * PITCH - 0.5, x + 0.5]);
            }
        }
        below = first;
    }
    assemble(&bodies, &touches, dt)
}

/// A machine of one dense block of 18 velocities (a trunk and four legs of three joints) standing on its four feet, its joints pushed at random.
///
/// # Errors
/// If `mu` or `dt` is out of range.
pub fn quadruped(mu: f64, dt: f64, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let m = 18;
    let mix = Matrix::from_fn(m, m, |_, _| 0.1 * rng.normal());
    let inertia = |i: usize| if i < 3 { 12.0 } else { 0.5 };
    let mass = Matrix::from_fn(m, m, |i, j| {
        let coupled: f64 = (0..m).map(|k| mix[(i, k)] * mix[(j, k)]).sum();
        coupled + if i == j { inertia(i) } else { 0.0 }
    });
    let mut force = vec![0.0; m];
    force[2] = -GRAVITY * 12.0;
    force[6..].iter_mut().for_each(|f| *f = rng.normal());
    let mut problem = ContactProblem::new(Mass::new(vec![mass])?, vec![0.0; m], force, dt)?;
    let feet: [Vec3; 4] = [[0.3, 0.2, -0.4], [0.3, -0.2, -0.4], [-0.3, -0.2, -0.4], [-0.3, 0.2, -0.4]];
    for (leg, foot) in feet.iter().enumerate() {
        let mut rows = [[0.0; 18]; 3];
        for (row, direction) in rows.iter_mut().zip([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]) {
            row[..6].copy_from_slice(&super::point_row(*foot, [0.0; 3], direction));
            row[6 + 3 * leg..9 + 3 * leg].iter_mut().for_each(|x| *x = 0.3 * rng.normal());
        }
        problem.add_contact(Contact {
            mu,
            size: 0.05,
            ..Contact::new(&[(0, &rows[0])], &[(0, &rows[1])], &[(0, &rows[2])])
        })?;
    }
    Ok(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piles_have_their_sizes() {
        let sizes = |p: ContactProblem| (p.m(), p.contacts().len());
        assert_eq!(sizes(stack(3, 0.5, 1e-3).unwrap()), (18, 12));
        assert_eq!(sizes(pyramid(10, 0.5, 1e-3).unwrap()), (330, 400));
        assert_eq!(sizes(quadruped(0.5, 1e-3, 0).unwrap()), (18, 4));
    }
}
