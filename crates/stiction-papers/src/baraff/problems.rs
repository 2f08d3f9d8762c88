//! Problems without friction, as complementarity problems.

use stiction_contact::Mass;
use stiction_contact::scenes::{Body, Touch, assemble, unit};
use stiction_lcp::generate::Rng;
use stiction_lcp::matrix::dot;
use stiction_lcp::{InputError, Lcp, Matrix};

/// `A Aᵀ` with A n × width n (condition about 30 for 2, about n² for 1), and q so that every second row or every row is active at the solution.
///
/// # Errors
/// If a number overflows.
pub fn random(n: usize, width: usize, half: bool, seed: u64) -> Result<Lcp, InputError> {
    let mut rng = Rng::new(seed);
    let at = Matrix::from_fn(width * n, n, |_, _| rng.normal());
    let m = Matrix::from_fn(n, n, |i, j| dot(at.col(i.min(j)), at.col(i.max(j))));
    let mut w = vec![0.0; n];
    let mut z = vec![0.0; n];
    for i in 0..n {
        let size = 0.1 + rng.uniform();
        if half && i % 2 == 1 { w[i] = size * n as f64 } else { z[i] = size }
    }
    let mut mz = vec![0.0; n];
    m.mul_into(&z, &mut mz);
    let q = w.iter().zip(&mz).map(|(w, mz)| w - mz).collect();
    Lcp::new(m, q)
}

/// `a = A f + b` of a heap of bodies under gravity with `n` contacts, `A = N M⁻¹ Nᵀ`: each of about n/3 bodies lies on those below it or on the
/// floor, at points
/// and along normals drawn at random, so A is not singular but for chance; most of its entries are zero.
///
/// # Errors
/// If a number overflows.
pub fn heap(n: usize, seed: u64) -> Result<Lcp, InputError> {
    let mut rng = Rng::new(seed);
    let count = n.div_ceil(3).max(1);
    let bodies: Vec<Body> = (0..count)
        .map(|k| {
            let mut body = Body::cuboid(0.5 + rng.uniform(), [1.0, 0.8, 0.6], [rng.normal(), rng.normal(), k as f64]);
            body.force = [0.2 * rng.normal(), 0.2 * rng.normal(), -9.81 * body.mass];
            body
        })
        .collect();
    let touches: Vec<Touch> = (0..n)
        .map(|i| {
            let body = i % count;
            let other = if body == 0 || rng.chance(0.3) { None } else { Some(rng.below(body)) };
            let at = bodies[body].centre;
            let point = [at[0] + rng.uniform() - 0.5, at[1] + rng.uniform() - 0.5, at[2] - 0.3];
            Touch::new(body, other, point, unit([0.3 * rng.normal(), 0.3 * rng.normal(), 1.0]))
        })
        .collect();
    let problem = assemble(&bodies, &touches, 1e-3)?;
    delassus(&problem.contacts().normal.to_dense(), problem.mass(), problem.force())
}

/// `a = A f + b` of a planar chain of `n` links on hinges that lies on an uneven floor, a contact under each link: every force is felt along
/// the whole
/// chain, so no entry of A is zero. Velocities: of its first end (x, z), then the rate of each link's angle.
///
/// # Errors
/// If a number overflows.
pub fn chain(n: usize, seed: u64) -> Result<Lcp, InputError> {
    const GRAVITY: f64 = 9.81;
    let mut rng = Rng::new(seed);
    let angles: Vec<f64> = (0..n).map(|_| 0.3 * rng.normal()).collect();
    let across: Vec<[f64; 2]> = angles.iter().map(|t| [-libm::sin(*t), libm::cos(*t)]).collect();
    // Links of 1 kg and 1 m: what hangs on the far end of link j, and half of j itself.
    let carried = |j: usize| (n - 1 - j) as f64 + 0.5;
    let along = |i: usize, j: usize| across[i][0] * across[j][0] + across[i][1] * across[j][1];
    let inertia = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        (i, j) if j < 2 => {
            if i == j {
                n as f64
            } else {
                0.0
            }
        }
        (i, j) if i < 2 => across[j - 2][i] * carried(j - 2),
        (i, j) if i == j => carried(i - 2) - 0.5 + 1.0 / 3.0,
        (i, j) => along(i - 2, j - 2) * carried(j - 2),
    };
    let mass = Mass::new(vec![Matrix::from_fn(n + 2, n + 2, inertia)])?;
    let mut force = vec![0.0, -GRAVITY * n as f64];
    force.extend((0..n).map(|j| -GRAVITY * across[j][1] * carried(j) + 2.0 * rng.normal()));
    let mut rows = Matrix::zeros(n, n + 2);
    for k in 0..n {
        let [x, _, z] = unit([0.3 * rng.normal(), 0.0, 1.0]);
        let reach = 0.1 + 0.8 * rng.uniform();
        (rows[(k, 0)], rows[(k, 1)]) = (x, z);
        for j in 0..=k {
            let arm = if j == k { reach } else { 1.0 };
            rows[(k, j + 2)] = arm * (x * across[j][0] + z * across[j][1]);
        }
    }
    delassus(&rows, &mass, &force)
}

/// `A = N M⁻¹ Nᵀ`, `b = N M⁻¹ force`.
fn delassus(rows: &Matrix, mass: &Mass, force: &[f64]) -> Result<Lcp, InputError> {
    let normals = rows.transposed();
    let mut moved = normals.clone();
    (0..rows.rows()).for_each(|i| mass.solve(moved.col_mut(i)));
    let n = rows.rows();
    let a = Matrix::from_fn(n, n, |i, j| dot(normals.col(i.min(j)), moved.col(i.max(j))));
    let b = (0..n).map(|i| dot(moved.col(i), force)).collect();
    Lcp::new(a, b)
}
