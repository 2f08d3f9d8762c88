//! The whole of the paper's problem (8), evaluated at an answer: what the answers of all three methods are judged by.

use stiction_contact::models::coulomb_polyhedral::directions;
use stiction_contact::{ContactForces, ContactProblem, Rows};

/// The residual of impulses in the full complementarity problem (8) with `d` directions per contact: the largest of `−z`, `−w` and `min(z, w)` over
/// all its n (2 + d) rows, each beside the size of its own terms. The velocities are computed anew from the impulses; the unknowns φ of a contact are
/// its tangential impulse along the two directions next to it, and λ is the largest speed against a direction.
///
/// Only problems whose rows are contacts that touch, as the paper's are.
///
/// Reference: [Lloyd04, Eqs. 3–5 and 8].
pub fn full_residual(problem: &ContactProblem, forces: &ContactForces, d: usize) -> f64 {
    let v = velocities(problem, forces);
    let sizes = terms(problem, forces);
    let (contacts, all) = (problem.contacts(), directions(d));
    let largest = forces.normal.iter().fold(0.0, |a: f64, p| a.max(p.abs()));
    let mut worst = 0.0_f64;
    let mut pair = |z: f64, w: f64| worst = worst.max(-z).max(-w).max(z.min(w));
    for i in 0..contacts.len() {
        let speed = |rows: &Rows| (rows.dot(i, &v), rows.abs_dot(i, &sizes).max(f64::MIN_POSITIVE));
        let (nu, nu_size) = speed(&contacts.normal);
        let ((s, s_size), (t, t_size)) = (speed(&contacts.tangent_s), speed(&contacts.tangent_t));
        let (theta, size) = (forces.normal[i], s_size.max(t_size));
        let force_size = largest.max(f64::MIN_POSITIVE);
        pair(theta / force_size, nu / nu_size);
        let along: Vec<f64> = all.iter().map(|[c, sin]| c * s + sin * t).collect();
        let lambda = along.iter().fold(0.0, |a: f64, x| a.max(-x));
        let phi = components(&all, [forces.tangent_s[i], forces.tangent_t[i]]);
        for (phi, speed) in phi.iter().zip(&along) {
            pair(phi / force_size, (speed + lambda) / size);
        }
        let gamma = contacts.mu[i] * theta - phi.iter().sum::<f64>();
        pair(lambda / size, gamma / force_size);
    }
    worst
}

/// A vector of the tangent plane as a sum of directions with factors that are not negative: along the two next to it, which makes the sum of the
/// factors the least possible. A factor that is rounding beside the vector is 0.
fn components(all: &[[f64; 2]], [s, t]: [f64; 2]) -> Vec<f64> {
    let d = all.len();
    let mut phi = vec![0.0; d];
    let noise = 1e-14 * s.hypot(t);
    for j in 0..d {
        let k = (j + 1) % d;
        let ([a, b], [e, f]) = (all[j], all[k]);
        let determinant = a * f - b * e;
        let (x, y) = ((s * f - t * e) / determinant, (a * t - b * s) / determinant);
        if x >= -noise && y >= -noise {
            (phi[j], phi[k]) = (x.max(0.0), y.max(0.0));
            break;
        }
    }
    phi
}

/// v⁺ = v + M⁻¹ (dt f + Σ rowᵀ p).
fn velocities(problem: &ContactProblem, forces: &ContactForces) -> Vec<f64> {
    let mut x: Vec<f64> = problem.force().iter().map(|f| problem.dt() * f).collect();
    for (rows, impulses) in forces.with_rows(problem) {
        (0..rows.len()).for_each(|i| rows.add_transposed(i, impulses[i], &mut x));
    }
    problem.mass().solve(&mut x);
    x.iter().zip(problem.v()).map(|(x, v)| x + v).collect()
}

/// For each velocity the size of what it is the sum of: the free velocity, and that of every impulse alone.
fn terms(problem: &ContactProblem, forces: &ContactForces) -> Vec<f64> {
    let free = velocities(problem, &ContactForces::zeros(problem));
    let mut sizes: Vec<f64> = free.iter().map(|x| x.abs()).collect();
    let mut x = vec![0.0; problem.m()];
    for (rows, impulses) in forces.with_rows(problem) {
        for i in (0..rows.len()).filter(|&i| impulses[i] != 0.0) {
            x.fill(0.0);
            rows.add_transposed(i, impulses[i], &mut x);
            problem.mass().solve(&mut x);
            sizes.iter_mut().zip(&x).for_each(|(size, x)| *size += x.abs());
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_add_up_and_are_least() {
        let all = directions(8);
        for [s, t] in [[1.0, 0.0], [0.3, -0.7], [-0.2, -0.2], [0.0, 0.0], [-3.0, 1e-9]] {
            let phi = components(&all, [s, t]);
            let sum = phi.iter().zip(&all).fold([0.0, 0.0], |x, (p, a)| [x[0] + p * a[0], x[1] + p * a[1]]);
            assert!((sum[0] - s).abs() < 1e-15 * 8.0 && (sum[1] - t).abs() < 1e-15 * 8.0, "{s} {t}: {phi:?}");
            assert!(phi.iter().filter(|p| **p > 0.0).count() <= 2);
        }
    }
}
