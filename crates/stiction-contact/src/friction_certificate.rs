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
//! `F(ρ)/ρ` is the map of the impulses in units of velocity, `r/ρ`, with ρ = 1: that is what is computed, as ρ has no bound. Its length changes by no
//! more than ρ does, as a part of it: the rounding of ρ is that of any other factor.
//!
//! What is stated is an upper bound of the exact number, that of real arithmetic on the same doubles: velocities are summed in twice the working
//! precision, and the bound of what rounding leaves is added. `docs/certificate.md` has the definitions.
//!
//! For `mu = ∞` F is the residual of the limit of the law: Signorini's condition, and the least of `ρ (u_T, max(u_N, 0))` (held),
//! `(r_T, max(r_N, 0))` (free) and `(ρ u_T less its part against r_T, max(r_N, 0), ρ max(u_N, 0))` (sliding between the two).

mod natural_map;

use std::fmt;

use crate::certificate::sums::add_product;
use crate::friction_problem::FrictionProblem;
use natural_map::natural_map;

/// Unit roundoff, 2⁻⁵³.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// What may be lost of a product, or of its error, where it is subnormal: 2⁻¹⁰⁷⁴.
const UNDERFLOW: f64 = 5e-324;

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
    let Velocities { error, omega } = velocities(problem, r, u);
    let diagonal = problem.w().diagonal();
    let (lambda, lambda_error) = mean(&diagonal);
    let (lambda, lambda_error) = if lambda > 0.0 { (lambda, lambda_error) } else { (1.0, 0.0) };
    let q_norm = length(problem.q());
    let scale = if q_norm > 0.0 { q_norm } else { lambda };
    let (mut sum, mut worst_global, mut worst_local) = (0.0, (0.0, None), (0.0, None));
    for (i, &mu) in problem.mu().iter().enumerate() {
        let rows = i * dim..(i + 1) * dim;
        let (ri, ui, ei) = (&r[rows.clone()], &u[rows.clone()], &error[rows.clone()]);
        let global = natural_map(ri, ui, ei, mu, lambda).above() * (1.0 + lambda_error) / scale;
        let (own, own_error) = mean(&diagonal[rows.clone()]);
        let (own, own_error) = if own > 0.0 { (own, own_error) } else { (lambda, lambda_error) };
        let size = length(&omega[rows]);
        let local = natural_map(ri, ui, ei, mu, own).above() * (1.0 + own_error) / if size > 0.0 { size } else { 1.0 };
        sum += global * global;
        worst_global = larger(worst_global, global, i);
        worst_local = larger(worst_local, local, i);
    }
    // Sums of squares, and the sizes of rows that are divided by, are rounded once per term.
    let raised = 1.0 + UNIT * (2 * n + ROUNDINGS_OF_A_RATIO) as f64;
    // The root keeps what is too small to be squared: the worst contact.
    let residual = sum.sqrt().max(worst_global.0) * raised;
    out.residual = if worst_global.0.is_finite() { residual } else { f64::INFINITY };
    out.contact_error = worst_local.0 * raised;
    out.worst_contact = if out.contact_error >= out.residual { worst_local.1 } else { worst_global.1 };
    out
}

/// Roundings of a measure besides those of its sums.
const ROUNDINGS_OF_A_RATIO: usize = 16;

/// What is known of the velocities besides their values.
struct Velocities {
    /// A bound of each one's error.
    error: Vec<f64>,
    /// `|W| |r| + |q|`.
    omega: Vec<f64>,
}

/// `u ← W r + q`, summed in twice the working precision.
fn velocities(problem: &FrictionProblem, r: &[f64], u: &mut [f64]) -> Velocities {
    let n = u.len();
    let (mut low, mut omega, mut terms) = (vec![0.0; n], vec![0.0; n], vec![1usize; n]);
    for (i, &q) in problem.q().iter().enumerate() {
        u[i] = q;
        omega[i] = q.abs();
    }
    for (j, &rj) in r.iter().enumerate().filter(|(_, r)| **r != 0.0) {
        for (i, w) in problem.w().col(j) {
            add_product(w, rj, &mut u[i], &mut low[i]);
            omega[i] += (w * rj).abs();
            terms[i] += 1;
        }
    }
    let mut error = vec![0.0; n];
    for i in 0..n {
        u[i] += low[i];
        let count = terms[i] as f64;
        let rounding = (UNIT * (count + 2.0)).powi(2) * omega[i] * (1.0 + UNIT * (count + 4.0));
        error[i] = if terms[i] == 1 { 0.0 } else { UNIT * u[i].abs() + rounding + count * UNDERFLOW };
    }
    Velocities { error, omega }
}

/// The mean of numbers, and a bound of its relative error where it is positive.
fn mean(x: &[f64]) -> (f64, f64) {
    let (mut high, mut low, mut size) = (0.0, 0.0, 0.0);
    for x in x {
        add_product(*x, 1.0, &mut high, &mut low);
        size += x.abs();
    }
    let (sum, count) = (high + low, x.len().max(1) as f64);
    let error = if sum > 0.0 { (UNIT * (count + 2.0)).powi(2) * size / sum } else { 0.0 };
    (sum / count, 4.0 * UNIT + 2.0 * error)
}

/// The larger of a running maximum and a new error; what is no number counts as infinite.
fn larger(so_far: (f64, Option<usize>), error: f64, contact: usize) -> (f64, Option<usize>) {
    let error = if error.is_nan() { f64::INFINITY } else { error };
    if error > so_far.0 || so_far.1.is_none() { (error, Some(contact)) } else { so_far }
}

/// `|x|₂`, to a rounding per number; also where the squares leave the range of doubles.
fn length(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    if (1e-100..1e100).contains(&largest) {
        return x.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    largest * x.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
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
            assert!(found.holds(1e-14), "{q:?} {mu}: {found}");
        }
    }

    #[test]
    fn errors_by_hand() {
        // r = 0 with u = q = (−2, 0, 0): F = −P(−ρ u) = −(2ρ, 0, 0), so |F| / (ρ |q|) = 1 and |F| / (ρ ω) = 1.
        let found = measure(&problem(3, &[-2.0, 0.0, 0.0], &[0.5]), &[0.0; 3]);
        assert!((found.residual - 1.0).abs() < 1e-14 && (found.contact_error - 1.0).abs() < 1e-14);
        // dim 2, mu = 1, r = (1, 0), q = (−2, 1): u = (0, 1), ũ = (1, 1), ρ = 1/2, y = (1/2, −1/2) is on the edge; F = (1/2, 1/2).
        // residual = (√½) / (½ √5); ω = (4, 1): contact error = √½ / (½ √17).
        let found = measure(&problem(2, &[-2.0, 1.0], &[1.0]), &[1.0, 0.0]);
        assert!((found.residual - 2.0 * (0.5f64 / 5.0).sqrt()).abs() < 1e-14);
        assert!((found.contact_error - 2.0 * (0.5f64 / 17.0).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn a_large_contact_hides_no_small_one() {
        let q = [-2e9, 0.0, 0.0, -2.0, 0.0, 0.0];
        let found = measure(&problem(3, &q, &[0.5, 0.5]), &[1e9, 0.0, 0.0, 0.5, 0.0, 0.0]);
        assert!(found.residual < 1e-9 && found.contact_error > 0.1);
        assert_eq!(found.worst_contact, Some(1));
        assert!(!found.holds(1e-8));
    }

    /// Impulses whose terms in `W r + q` are 10⁶ to 10⁸ times q, and cancel to nothing in a plain sum; the residuals are those of 60-digit arithmetic.
    #[test]
    fn what_cancels_in_a_plain_sum_is_seen() {
        let cases = [
            (
                [137293792999909.77, 12924761.094956651, 2.496212166474958],
                -0.25,
                [3.678810033797908e-08, -0.3907830516599077],
                4.2497457636280426e-08,
            ),
            (
                [1.1963791597342003e+17, 358111266.12648857, 2.6898579206781084],
                -0.25,
                [9.250398601392345e-10, -0.3090375849005327],
                6.660608489299614e-08,
            ),
            (
                [3158997981262403.0, 75793765.75088012, 3.29926326127711],
                0.25,
                [8.10165605968724e-09, -0.33766781652667943],
                8.852726977471922e-08,
            ),
        ];
        for ([nn, nt, tt], q, r, exact) in cases {
            let w = [(0, 0, nn), (0, 1, nt), (1, 0, nt), (1, 1, tt), (2, 2, 1.0)];
            let w = SparseMatrix::from_entries(3, 3, w).unwrap();
            let p = FrictionProblem::new(3, w, vec![q, 0.5, 0.0], vec![1e9]).unwrap();
            assert_eq!(nn * r[0] + nt * r[1] + q, 0.0, "a plain sum");
            let found = measure(&p, &[r[0], r[1], 0.0]);
            assert!(found.residual >= exact && found.residual < 1.001 * exact, "{found:?}, exact {exact:e}");
            assert!(!found.holds(1e-10));
        }
    }

    /// The map written so that nothing is rounded beside the impulses is the map by its definition.
    #[test]
    fn the_map_is_that_of_the_definition() {
        let mut rng = stiction_linalg::rng::Rng::new(7);
        for _ in 0..20_000 {
            let mu = [0.0, 0.3, 1.0, 20.0][rng.below(4)];
            let mut number = || [0.0, 1.0, 1.0, 1.0][rng.below(4)] * rng.normal() * rng.scale(2.0);
            let r = [number(), number(), number()];
            let u = [number(), number(), number()];
            let slip = libm::hypot(u[1], u[2]);
            let y = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
            let t = libm::hypot(y[1], y[2]);
            let projected = if y[0] >= 0.0 && t <= mu * y[0] {
                y
            } else if mu * t <= -y[0] {
                [0.0; 3]
            } else {
                let normal = (y[0] + mu * t) / (1.0 + mu * mu);
                [normal, mu * normal * y[1] / t, mu * normal * y[2] / t]
            };
            let plain = length(&[r[0] - projected[0], r[1] - projected[1], r[2] - projected[2]]);
            let found = natural_map(&r, &u, &[0.0; 3], mu, 1.0);
            let rounding = 1e-14 * (length(&r) + (1.0 + mu) * length(&u));
            assert!((found.value - plain).abs() <= rounding && found.error <= 10.0 * rounding, "{r:?} {u:?} {mu}");
        }
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
                assert!(measure(&parting, &open).worst() < 1e-14, "{weight} {mu}");
                let resting = p([0.0; 3]);
                assert!(measure(&resting, &open).worst() < 1e-14, "{weight} {mu}");
                let closing = p([-3.0, 0.0, 0.0]);
                assert!((measure(&closing, &open).contact_error - 1.0).abs() < 1e-14, "{weight} {mu}");
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
