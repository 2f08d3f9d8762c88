//! Certificates of friction problems: how well impulses r solve one, from the problem and r alone.
//!
//! This file shares no code with the solvers. With `u = W r + q` recomputed here, De Saxcé's
//! `ũ_i = u_i + mu_i |u_iT| e_N` and the natural map `F_i(ρ) = r_i − P_{K_i}(r_i − ρ ũ_i)`, which is zero exactly where r_i and u_i obey
//! Signorini's condition and Coulomb's law:
//!
//! * `residual`, scaled by the data as a whole: `|F(ρ)|₂ / (ρ |q|₂)` with `ρ = n / trace(W)` (ρ = 1 where the trace is not positive,
//!   denominator 1 where q = 0);
//! * `contact_error`, contact by contact: `max_i |F_i(ρ_i)|₂ / (ρ_i ω_i)` with `ρ_i = dim / trace(W_ii)` (ρ where that trace is not
//!   positive) and `ω_i = | |q_i| + Σ_j |W_ij| |r_j| |₂`, so that a large contact cannot hide a small one.
//!
//! `F(ρ)/ρ` is the map of the impulses in units of velocity, `r/ρ`, with ρ = 1: that is what is computed, as ρ has no bound.
//!
//! For `mu = ∞` F is the residual of the limit of the law: Signorini's condition, and the least of `ρ (u_T, max(u_N, 0))` (held),
//! `(r_T, max(r_N, 0))` (free) and `(ρ u_T less its part against r_T, max(r_N, 0), ρ max(u_N, 0))` (sliding between the two).

use std::fmt;

use crate::friction_problem::FrictionProblem;

/// The two measures of impulses' error. See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrictionCertificate {
    /// Natural-map residual, scaled by the data as a whole.
    pub residual: f64,
    /// Natural-map residual of the worst contact, each scaled by its own terms.
    pub contact_error: f64,
    /// The contact with the largest error: of `contact_error` if that is the larger number, else of the residual.
    pub worst_contact: Option<usize>,
}

impl FrictionCertificate {
    /// True if both numbers are at most `tolerance`.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.residual <= tolerance && self.contact_error <= tolerance
    }

    /// The larger of the two numbers; infinite where one is not a number.
    pub fn worst(&self) -> f64 {
        if self.residual.is_nan() || self.contact_error.is_nan() {
            return f64::INFINITY;
        }
        self.residual.max(self.contact_error)
    }
}

impl fmt::Display for FrictionCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "residual {:.1e}, contact error {:.1e}", self.residual, self.contact_error)?;
        match self.worst_contact {
            Some(contact) => write!(f, " at contact {contact}"),
            None => Ok(()),
        }
    }
}

/// Measures `r` (dim · contacts, normal first) and writes `W r + q` into `u`.
///
/// Anything not finite gives infinite errors.
///
/// # Panics
/// Never, if `r` and `u` have the problem's size; a wrong size gives infinite errors.
pub fn certify_friction(problem: &FrictionProblem, r: &[f64], u: &mut [f64]) -> FrictionCertificate {
    let (dim, n) = (problem.dim(), problem.q().len());
    let mut out = FrictionCertificate { residual: 0.0, contact_error: 0.0, worst_contact: None };
    if r.len() != n || u.len() != n || r.iter().any(|x| !x.is_finite()) {
        u.fill(f64::NAN);
        return FrictionCertificate { residual: f64::INFINITY, contact_error: f64::INFINITY, ..out };
    }
    let mut omega = vec![0.0; n];
    velocities(problem, r, u, &mut omega);
    let diagonal = problem.w().diagonal();
    let trace: f64 = diagonal.iter().sum();
    let rho = if trace > 0.0 { n as f64 / trace } else { 1.0 };
    let q_norm = length(problem.q());
    let scale = if q_norm > 0.0 { q_norm } else { 1.0 / rho };
    let (mut sum, mut worst_global, mut worst_local) = (0.0, (0.0, None), (0.0, None));
    for (i, &mu) in problem.mu().iter().enumerate() {
        let rows = i * dim..(i + 1) * dim;
        let (ri, ui) = (&r[rows.clone()], &u[rows.clone()]);
        let global = natural_map(ri, ui, mu, rho) / scale;
        let own_trace: f64 = diagonal[rows.clone()].iter().sum();
        let rho_i = if own_trace > 0.0 { dim as f64 / own_trace } else { rho };
        let size = length(&omega[rows]);
        let local = natural_map(ri, ui, mu, rho_i) / if size > 0.0 { size } else { 1.0 };
        sum += global * global;
        worst_global = larger(worst_global, global, i);
        worst_local = larger(worst_local, local, i);
    }
    out.residual = if worst_global.0.is_finite() { sum.sqrt() } else { f64::INFINITY };
    out.contact_error = worst_local.0;
    out.worst_contact = if out.contact_error >= out.residual { worst_local.1 } else { worst_global.1 };
    out
}

/// `u ← W r + q` and `ω ← |W| |r| + |q|`.
fn velocities(problem: &FrictionProblem, r: &[f64], u: &mut [f64], omega: &mut [f64]) {
    u.fill(0.0);
    for (j, &rj) in r.iter().enumerate() {
        for (i, w) in problem.w().col(j) {
            u[i] += w * rj;
            omega[i] += (w * rj).abs();
        }
    }
    for (i, &q) in problem.q().iter().enumerate() {
        u[i] += q;
        omega[i] += q.abs();
    }
}

/// The larger of a running maximum and a new error; what is no number counts as infinite.
fn larger(so_far: (f64, Option<usize>), error: f64, contact: usize) -> (f64, Option<usize>) {
    let error = if error.is_nan() { f64::INFINITY } else { error };
    if error > so_far.0 || so_far.1.is_none() { (error, Some(contact)) } else { so_far }
}

/// `|r − P_K(r − ρ ũ)|₂ / ρ` of one contact.
fn natural_map(r: &[f64], u: &[f64], mu: f64, rho: f64) -> f64 {
    let mut scaled = [0.0; 3];
    scaled.iter_mut().zip(r).for_each(|(s, r)| *s = r / rho);
    let r = &scaled[..r.len()];
    if mu.is_infinite() {
        return limit_map(r, u);
    }
    let mut y = [0.0; 3];
    y[0] = r[0] - (u[0] + mu * length(&u[1..]));
    for k in 1..r.len() {
        y[k] = r[k] - u[k];
    }
    let y = &mut y[..r.len()];
    project(y, mu);
    r.iter().zip(y.iter()).map(|(r, p)| (r - p) * (r - p)).sum::<f64>().sqrt()
}

/// The residual of one contact without a limit to its friction, ρ = 1.
fn limit_map(r: &[f64], u: &[f64]) -> f64 {
    let normal = r[0] - (r[0] - u[0]).max(0.0);
    let (pressed, parting) = (r[0].max(0.0), u[0].max(0.0));
    let friction = length(&r[1..]);
    let along: f64 = r[1..].iter().zip(&u[1..]).map(|(r, u)| r / friction * u).sum();
    // A contact slides against its friction, never along it.
    let against = if friction > 0.0 { along.min(0.0) / friction } else { 0.0 };
    let askew = r[1..].iter().zip(&u[1..]).map(|(r, u)| (u - against * r) * (u - against * r)).sum::<f64>().sqrt();
    let (held, free) = (libm::hypot(length(&u[1..]), parting), libm::hypot(friction, pressed));
    let slides = libm::hypot(askew, libm::hypot(pressed, parting));
    libm::hypot(normal, held.min(free).min(slides))
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `y ← P_K(y)` for `K = { |y_T| ≤ mu y_N, y_N ≥ 0 }`.
fn project(y: &mut [f64], mu: f64) {
    let t = length(&y[1..]);
    // Without friction, `t ≤ mu y_N` holds for t = 0 whatever the sign of y_N; the cone has y_N ≥ 0.
    if y[0] >= 0.0 && t <= mu * y[0] {
        return;
    }
    if mu * t <= -y[0] {
        y.fill(0.0);
        return;
    }
    // The cone's edge (cos, sin): mu² would leave the range of f64 before mu does.
    let edge = libm::hypot(1.0, mu);
    let (cos, sin) = (1.0 / edge, mu / edge);
    let along = cos * y[0] + sin * t;
    y[0] = cos * along;
    for x in &mut y[1..] {
        *x *= sin * along / t;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::SparseMatrix;

    /// Contacts of weight 2 each, not coupled.
    fn problem(dim: usize, q: &[f64], mu: &[f64]) -> FrictionProblem {
        let n = q.len();
        let w = SparseMatrix::from_entries(n, n, (0..n).map(|i| (i, i, 2.0))).unwrap();
        FrictionProblem::new(dim, w, q.to_vec(), mu.to_vec()).unwrap()
    }

    fn measure(problem: &FrictionProblem, r: &[f64]) -> FrictionCertificate {
        certify_friction(problem, r, &mut vec![0.0; r.len()])
    }

    #[test]
    fn solutions_have_no_error() {
        // Stick, slide, open; mu = 0; mu = ∞: open, held, and between the two.
        let cases: [(&[f64], f64, &[f64]); 8] = [
            (&[2.0, 0.0, 0.0], 0.0, &[0.0; 3]),
            (&[-2.0, 0.6, 0.0], 0.5, &[1.0, -0.3, 0.0]),
            (&[-2.0, 3.0, -4.0], 0.5, &[1.0, -0.3, 0.4]),
            (&[2.0, 3.0, -4.0], 0.5, &[0.0; 3]),
            (&[-2.0, 3.0, -4.0], 0.0, &[1.0, 0.0, 0.0]),
            (&[2.0, 3.0, -4.0], f64::INFINITY, &[0.0; 3]),
            (&[-2.0, 3.0, -4.0], f64::INFINITY, &[1.0, -1.5, 2.0]),
            (&[0.0, 3.0, -4.0], f64::INFINITY, &[0.0, -0.75, 1.0]),
        ];
        for (q, mu, r) in cases {
            let found = measure(&problem(3, q, &[mu]), r);
            assert!(found.holds(1e-15), "{q:?} {mu}: {found}");
        }
    }

    #[test]
    fn errors_by_hand() {
        // r = 0 with u = q = (−2, 0, 0): F = −P(−ρ u) = −(2ρ, 0, 0), so |F| / (ρ |q|) = 1 and |F| / (ρ ω) = 1.
        let found = measure(&problem(3, &[-2.0, 0.0, 0.0], &[0.5]), &[0.0; 3]);
        assert_eq!((found.residual, found.contact_error), (1.0, 1.0));
        // dim 2, mu = 1, r = (1, 0), q = (−2, 1): u = (0, 1), ũ = (1, 1), ρ = 1/2, y = (1/2, −1/2) is on the edge; F = (1/2, 1/2).
        // residual = (√½) / (½ √5); ω = (4, 1): contact error = √½ / (½ √17).
        let found = measure(&problem(2, &[-2.0, 1.0], &[1.0]), &[1.0, 0.0]);
        assert!((found.residual - 2.0 * (0.5f64 / 5.0).sqrt()).abs() < 1e-15);
        assert!((found.contact_error - 2.0 * (0.5f64 / 17.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_large_contact_hides_no_small_one() {
        let q = [-2e9, 0.0, 0.0, -2.0, 0.0, 0.0];
        let found = measure(&problem(3, &q, &[0.5, 0.5]), &[1e9, 0.0, 0.0, 0.5, 0.0, 0.0]);
        assert!(found.residual < 1e-9 && found.contact_error > 0.1);
        assert_eq!(found.worst_contact, Some(1));
        assert!(!found.holds(1e-8));
    }

    #[test]
    fn a_contact_that_nothing_moves_is_measured_like_any_other() {
        // The second contact's block of W is zero, or next to it: u = q there, whatever r is.
        for weight in [0.0, -1e-300, 5e-324, 1e-300, 1e-30] {
            for mu in [0.0, 0.5, f64::INFINITY] {
                let w = (0..6).map(|i| (i, i, if i < 3 { 2.0 } else { weight }));
                let w = SparseMatrix::from_entries(6, 6, w).unwrap();
                let p = |q: [f64; 3]| {
                    let q = [&[-2.0, 0.0, 0.0], &q[..]].concat();
                    FrictionProblem::new(3, w.clone(), q, vec![0.5, mu]).unwrap()
                };
                let open = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
                let parting = p([3.0, 1.0, -2.0]);
                assert_eq!(measure(&parting, &open).worst(), 0.0, "{weight} {mu}");
                let resting = p([0.0; 3]);
                assert_eq!(measure(&resting, &open).worst(), 0.0, "{weight} {mu}");
                let closing = p([-3.0, 0.0, 0.0]);
                assert_eq!(measure(&closing, &open).contact_error, 1.0, "{weight} {mu}");
                // An impulse on a contact that parts is wrong, also where it moves nothing.
                let pressed = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
                assert!(weight > 0.0 || measure(&parting, &pressed).contact_error > 0.1, "{weight} {mu}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_never_certified() {
        let p = problem(3, &[-2.0, 0.0, 0.0], &[0.5]);
        assert_eq!(measure(&p, &[f64::NAN, 0.0, 0.0]).worst(), f64::INFINITY);
        assert_eq!(measure(&p, &[1e308, 1e308, 1e308]).worst(), f64::INFINITY);
        assert_eq!(certify_friction(&p, &[0.0; 2], &mut [0.0; 2]).worst(), f64::INFINITY);
        assert!(measure(&problem(3, &[], &[]), &[]).holds(1e-300));
    }
}
