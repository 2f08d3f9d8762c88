//! Block Gauss–Seidel on the proximal problem: each block solved exactly for itself, in turn.
//!
//! Slow near a solution, but it never leaves the neighbourhood of one: a start for Newton's method where that has none.
//!
//! Reference: \[JourdanAlartJean98\].

use super::newton::{Proximal, velocities};
use super::problem::{Block, ConeProblem};

/// Bisections of the sliding parameter: enough for all bits of f64 over its whole range.
const BISECTIONS: usize = 200;
/// Accuracy, relative to the cone's radius, at which the sliding parameter is good enough: Newton's method follows.
const GOOD_ENOUGH: f64 = 1e-13;

/// Runs `sweeps` forward sweeps from `r`, with `u` as workspace.
pub(crate) fn sweep(problem: &ConeProblem, proximal: Proximal<'_>, sweeps: usize, r: &mut [f64], u: &mut [f64]) {
    velocities(problem, proximal, r, u);
    for _ in 0..sweeps {
        stiction_lcp::interrupt::check();
        for b in 0..problem.blocks.len() {
            let rows = problem.rows(b);
            let (size, start) = (rows.len(), rows.start);
            let mut w = [[0.0; 3]; 3];
            let mut q = [0.0; 3];
            for l in 0..size {
                let own = problem.w.own_block(start + l, b, &problem.starts);
                for k in 0..size {
                    w[k][l] = own[k] + if k == l { proximal.alpha } else { 0.0 };
                }
            }
            for k in 0..size {
                let inside: f64 = (0..size).map(|l| w[k][l] * r[start + l]).sum();
                q[k] = u[start + k] - inside;
            }
            let next = solve_block(problem.blocks[b], &w, &q);
            for k in 0..size {
                let step = next[k] - r[start + k];
                if step != 0.0 && step.is_finite() {
                    problem.w.add_column(start + k, step, &problem.starts, u);
                    u[start + k] += proximal.alpha * step;
                    r[start + k] = next[k];
                }
            }
        }
    }
}

/// The solution of a block alone, `u = w r + q`.
fn solve_block(block: Block, w: &[[f64; 3]; 3], q: &[f64; 3]) -> [f64; 3] {
    let scalar = if w[0][0] > 0.0 { -q[0] / w[0][0] } else { 0.0 };
    match block {
        Block::Coulomb { dim, mu } => one_contact(dim, mu, w, q),
        Block::NoSlip { dim } => one_held(dim, w, q),
        Block::Signorini => [scalar.max(0.0), 0.0, 0.0],
        Block::Bounded { lo, hi } => [scalar.max(lo).min(hi), 0.0, 0.0],
        Block::Free => [scalar, 0.0, 0.0],
    }
}

/// One contact: open if `q_N ≥ 0`; else sticking if that impulse is in the cone; else sliding. A sliding contact has `u_T = −τ r_T` for some τ ≥ 0, so
/// `(w + diag(0, τ, τ)) r = −q`; as τ grows from 0 (stick) to ∞ (no friction), r goes from outside the cone to inside, and the cone's surface is met between.
fn one_contact(dim: usize, mu: f64, w: &[[f64; 3]; 3], q: &[f64; 3]) -> [f64; 3] {
    if w[0][0] <= 0.0 {
        return [0.0; 3];
    }
    if q[0] >= 0.0 {
        return [0.0; 3];
    }
    if mu == 0.0 {
        return [-q[0] / w[0][0], 0.0, 0.0];
    }
    let outside = |r: &[f64; 3]| libm::hypot(r[1], r[2]) - mu * r[0];
    let stuck = resisted(dim, w, q, 0.0);
    if outside(&stuck) <= 0.0 {
        return stuck;
    }
    let (mut lo, mut hi) = (0.0, w[1][1].abs().max(w[0][0]));
    let mut r = resisted(dim, w, q, hi);
    while (outside(&r).is_nan() || outside(&r) > 0.0) && hi < f64::MAX / 16.0 {
        lo = hi;
        hi *= 16.0;
        r = resisted(dim, w, q, hi);
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (lo + hi);
        if middle <= lo || middle >= hi {
            break;
        }
        let trial = resisted(dim, w, q, middle);
        let excess = outside(&trial);
        if excess <= 0.0 {
            (hi, r) = (middle, trial);
            if mu.is_finite() && -excess <= GOOD_ENOUGH * mu * trial[0] {
                break;
            }
        } else {
            lo = middle;
        }
    }
    r
}

/// One contact that does not slip.
fn one_held(dim: usize, w: &[[f64; 3]; 3], q: &[f64; 3]) -> [f64; 3] {
    let stuck = if w[0][0] > 0.0 { resisted(dim, w, q, 0.0) } else { [-1.0; 3] };
    if stuck[0] >= 0.0 { stuck } else { tangential_only(dim, w, q) }
}

/// `(w + diag(0, τ, τ)) r = −q`, by elimination of the normal.
fn resisted(dim: usize, w: &[[f64; 3]; 3], q: &[f64; 3], tau: f64) -> [f64; 3] {
    let mut a = [[0.0; 2]; 2];
    let mut c = [0.0; 2];
    for k in 1..dim {
        let factor = w[k][0] / w[0][0];
        c[k - 1] = factor * q[0] - q[k];
        for l in 1..dim {
            a[k - 1][l - 1] = w[k][l] - factor * w[0][l] + if k == l { tau } else { 0.0 };
        }
    }
    let t = solve_tangent(dim, &a, &c);
    [-(q[0] + w[0][1] * t[0] + w[0][2] * t[1]) / w[0][0], t[0], t[1]]
}

/// `u_T = 0` with `r_N = 0`.
fn tangential_only(dim: usize, w: &[[f64; 3]; 3], q: &[f64; 3]) -> [f64; 3] {
    let t = solve_tangent(dim, &[[w[1][1], w[1][2]], [w[2][1], w[2][2]]], &[-q[1], -q[2]]);
    [0.0, t[0], t[1]]
}

/// The tangential system by Cramer's rule; zero where it is singular.
fn solve_tangent(dim: usize, a: &[[f64; 2]; 2], c: &[f64; 2]) -> [f64; 2] {
    let t = if dim == 2 {
        [c[0] / a[0][0], 0.0]
    } else {
        let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        [(c[0] * a[1][1] - c[1] * a[0][1]) / det, (c[1] * a[0][0] - c[0] * a[1][0]) / det]
    };
    if t.iter().all(|x| x.is_finite()) { t } else { [0.0; 2] }
}
