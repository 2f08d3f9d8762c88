//! The two forms of the scene: with the first cube tied to its gripper, as in the published file, and without.

use stiction_contact::scenes::{self, Body, Touch, assemble};
use stiction_contact::{ContactProblem, InputError};

/// What holds the first cube besides contacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstCube {
    /// A prismatic joint to its gripper, as in the published file.
    Tied,
    /// Nothing.
    Free,
}

impl FirstCube {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tied => "tied, as published",
            Self::Free => "free",
        }
    }
}

/// Cubes of 1 m and 1 kg in a row along x between two grippers, every corner of every face pair three times.
///
/// # Errors
/// None for the numbers here.
pub(super) fn grasp(first: FirstCube, n: usize, mu: f64, dt: f64) -> Result<ContactProblem, InputError> {
    match first {
        FirstCube::Tied => scenes::grasp(n, mu, dt),
        FirstCube::Free => free(n, mu, dt),
    }
}

fn free(n: usize, mu: f64, dt: f64) -> Result<ContactProblem, InputError> {
    let squeeze = 100.0 * n as f64;
    let body = |k: usize| {
        let force = match k {
            0 => [squeeze, 0.0, 0.0],
            k if k == n + 1 => [-squeeze, 0.0, 0.0],
            _ => [0.0, 0.0, -9.81],
        };
        Body { force, ..Body::cuboid(1.0, [1.0; 3], [k as f64, 0.0, 0.0]) }
    };
    let bodies: Vec<Body> = (0..n + 2).map(body).collect();
    let corners = [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)];
    let touch = |face: usize, (y, z): (f64, f64)| {
        let point = [face as f64 + 0.5, y, z];
        Touch { mu, ..Touch::new(face + 1, Some(face), point, [1.0, 0.0, 0.0]) }
    };
    let copies = |face: usize| (0..3).flat_map(move |_| corners.map(|corner| touch(face, corner)));
    let touches: Vec<Touch> = (0..=n).flat_map(copies).collect();
    let mut problem = assemble(&bodies, &touches, dt)?;
    for (own, other) in prismatic((n + 1) as f64) {
        problem.add_bilateral(&[(0, &own), (n + 1, &other)], 0.0, 0.0)?;
    }
    Ok(problem)
}

/// Rows of two bodies, the second ahead by `arm` (m) along x, that let them only slide along x: the same rotation, and at the second's centre
/// the same velocity across.
fn prismatic(arm: f64) -> [([f64; 6], [f64; 6]); 5] {
    let unit = |k: usize| [0, 1, 2, 3, 4, 5].map(|i| if i == k { 1.0 } else { 0.0 });
    let minus = |row: [f64; 6]| row.map(|x| -x);
    let turn = |k: usize| (minus(unit(k)), unit(k));
    // The first body's velocity at that point is v + ω × (arm, 0, 0).
    let (mut y, mut z) = (unit(1), unit(2));
    (y[5], z[4]) = (arm, -arm);
    [turn(3), turn(4), turn(5), (minus(y), unit(1)), (minus(z), unit(2))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_scene_is_the_tied_one_without_its_second_joint() {
        for n in [1, 2, 4] {
            let (tied, free) =
                (grasp(FirstCube::Tied, n, 100.0, 1e-2).unwrap(), grasp(FirstCube::Free, n, 100.0, 1e-2).unwrap());
            assert_eq!((tied.contacts(), tied.force(), tied.v()), (free.contacts(), free.force(), free.v()));
            let (all, some) = (&tied.bilaterals().rows, &free.bilaterals().rows);
            assert_eq!((all.len(), some.len()), (10, 5));
            let (all, some) = (all.to_dense(), some.to_dense());
            assert!((0..5).all(|i| (0..tied.m()).all(|k| all[(i, k)] == some[(i, k)])));
        }
    }
}
