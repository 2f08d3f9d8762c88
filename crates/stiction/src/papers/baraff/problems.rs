//! Problems without friction, as complementarity problems.

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

/// `a = A f + b` of a heap of bodies under gravity with `n` contacts, `A = N M⁻¹ Nᵀ`: each of about n/3 bodies lies on those below it or on the floor, at points
/// and along normals drawn at random, so A is not singular but for chance.
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
    let rows = problem.contacts().normal.to_dense();
    let mut moved = Matrix::zeros(problem.m(), n);
    for i in 0..n {
        let row: Vec<f64> = (0..problem.m()).map(|k| rows[(i, k)]).collect();
        moved.col_mut(i).copy_from_slice(&row);
        problem.mass().solve(moved.col_mut(i));
    }
    let normals = rows.transposed();
    let a = Matrix::from_fn(n, n, |i, j| dot(normals.col(i.min(j)), moved.col(i.max(j))));
    let b = (0..n).map(|i| dot(moved.col(i), problem.force())).collect();
    Lcp::new(a, b)
}
