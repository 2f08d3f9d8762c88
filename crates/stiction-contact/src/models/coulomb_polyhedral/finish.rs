//! From a complementary basis to numbers, and how well these solve the whole problem (8).

use stiction_lcp::matrix::norm;

use super::active::Active;
use super::cones::{Answer, Cones, NONE};
use super::lanes::{add_scaled, product};
use super::system::{Solution, System};

/// Refinements of the last solve: after the first the rows are rounding already.
const REFINEMENTS: usize = 2;

/// Workspace of the last step.
#[derive(Debug, Clone, Default)]
pub(super) struct Finish {
    system: System,
    solution: Solution,
    x: Vec<f64>,
    size: Vec<f64>,
}

impl Finish {
    /// The numbers of a complementary basis: one reduced system, refined, and what is negative by rounding set to zero. False if the
    /// basis is singular.
    pub(super) fn answer(&mut self, cones: &Cones, active: &Active, out: &mut Answer) -> bool {
        if !self.system.set_complementary(cones, active) {
            return false;
        }
        self.system.solve_values(cones, active, None, REFINEMENTS, &mut self.solution);
        let y = &self.solution.y;
        reset(&mut out.theta, cones.normals.len());
        reset(&mut out.phi, cones.phis);
        for (&i, y) in active.theta.iter().zip(y) {
            out.theta[i] = y.max(0.0);
        }
        for (&(g, j), y) in active.kappa.iter().zip(&y[active.theta.len()..]) {
            out.phi[cones.groups[g].first + j] = y.max(0.0);
        }
        for &g in &active.slides {
            let group = &cones.groups[g];
            let others: f64 = out.phi[group.first..group.first + group.sides].iter().sum();
            out.phi[group.first + active.pivot[g]] = (bound(cones, g, &out.theta) - others).max(0.0);
        }
        active.basis_into(cones, &mut out.basis);
        y.iter().all(|y| y.is_finite())
    }

    /// The largest residual of any row of (8), as a natural map beside the size of the row's terms; λ is what the motion asks for. All contacts
    /// are looked at, also those that a method left out.
    pub(super) fn residual(&mut self, cones: &Cones, answer: &Answer) -> f64 {
        self.set_motion(cones, answer);
        let (mut worst, mut asked) = (0.0f64, norm(&cones.k_size));
        for (i, (normal, theta)) in cones.normals.iter().zip(&answer.theta).enumerate() {
            let n = cones.normal(i);
            asked = asked.max(normal.offset_size);
            let motion = product(n, &self.x) + normal.offset;
            let size = abs_product(n, &self.size) + normal.offset_size;
            worst = larger(worst, (product(n, n) * theta).min(motion), size);
        }
        for g in 0..cones.groups.len() {
            worst = worst.max(self.group_residual(cones, answer, g));
        }
        let most = cones.tolerances.coulomb_polyhedral.huge * asked;
        if worst.is_nan() || norm(&self.size) > most { f64::INFINITY } else { worst }
    }

    fn group_residual(&self, cones: &Cones, answer: &Answer, g: usize) -> f64 {
        let (group, (s, t)) = (&cones.groups[g], cones.tangents(g));
        let phi = &answer.phi[group.first..group.first + group.sides];
        if group.normal != NONE && answer.theta[group.normal] == 0.0 && phi.iter().all(|x| *x == 0.0) {
            return 0.0;
        }
        let u = [product(s, &self.x) + group.offset[0], product(t, &self.x) + group.offset[1]];
        let size =
            abs_product(s, &self.size) + group.offset_size[0] + abs_product(t, &self.size) + group.offset_size[1];
        let w = product(s, s).max(product(t, t));
        let speed = |d: &[f64; 2]| d[0] * u[0] + d[1] * u[1];
        let lambda = cones.directions(g).iter().fold(0.0, |max: f64, d| max.max(-speed(d)));
        let gamma = bound(cones, g, &answer.theta) - phi.iter().sum::<f64>();
        let mut worst = larger(0.0, (w * gamma).min(lambda), size);
        for (d, phi) in cones.directions(g).iter().zip(phi) {
            worst = larger(worst, (w * phi).min(speed(d) + lambda), size);
        }
        worst
    }

    /// `x = k + N θ + D φ`, and the size of its terms.
    fn set_motion(&mut self, cones: &Cones, answer: &Answer) {
        self.x.clear();
        self.x.extend_from_slice(&cones.k);
        self.size.clear();
        self.size.extend_from_slice(&cones.k_size);
        let mut add = |a: f64, column: &[f64]| {
            add_scaled(a, column, &mut self.x);
            self.size.iter_mut().zip(column).for_each(|(s, c)| *s += (a * c).abs());
        };
        for (i, theta) in answer.theta.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            add(*theta, cones.normal(i));
        }
        for g in 0..cones.groups.len() {
            let (group, (s, t)) = (&cones.groups[g], cones.tangents(g));
            for (phi, d) in answer.phi[group.first..].iter().zip(cones.directions(g)).filter(|(x, _)| **x != 0.0) {
                add(phi * d[0], s);
                add(phi * d[1], t);
            }
        }
    }
}

/// `μ θ + cap` of group `g`.
fn bound(cones: &Cones, g: usize, theta: &[f64]) -> f64 {
    let group = &cones.groups[g];
    if group.normal == NONE { group.cap } else { cones.normals[group.normal].mu * theta[group.normal] + group.cap }
}

fn larger(worst: f64, residual: f64, size: f64) -> f64 {
    let ratio = if residual == 0.0 { 0.0 } else { residual.abs() / size };
    // Not `max`, which would lose a NaN.
    if ratio <= worst { worst } else { ratio }
}

fn abs_product(x: &[f64], size: &[f64]) -> f64 {
    x.iter().zip(size).map(|(x, s)| x.abs() * s).sum()
}

fn reset(x: &mut Vec<f64>, len: usize) {
    x.clear();
    x.resize(len, 0.0);
}
