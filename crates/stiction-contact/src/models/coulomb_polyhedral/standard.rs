//! Lloyd's *standard* method: the problem (8) as a matrix, and Lemke's method with restarts on it.
//!
//! Reference: [Lloyd04, §4, §5.4].

use stiction_lcp::matrix::dot;
use stiction_lcp::{Auto, InputError, Lcp, Lemke, Matrix, Options, Outcome, Solver};

use super::cones::{Answer, Cones, NONE, Pair};
use crate::whitened::why_not_formed;

/// Forms the problem and solves it.
#[derive(Debug, Clone)]
pub(super) struct Standard {
    lemke: Lemke,
    auto: Auto,
}

impl Standard {
    /// With these options of the complementarity solver.
    pub(super) fn new(options: Options) -> Self {
        Self { lemke: Lemke::new(options.clone()), auto: Auto::new(options) }
    }

    /// Solves the problem by Lemke's method. True if it says that it did; false if the problem is too large to be formed, too.
    pub(super) fn solve(&mut self, cones: &Cones, pivots: &mut usize, out: &mut Answer) -> Result<bool, InputError> {
        if why_not_formed(cones.order()).is_some() {
            return Ok(false);
        }
        let lcp = form(cones)?;
        Ok(take(cones, self.lemke.solve(&lcp)?, pivots, out))
    }

    /// The last resort: every method there is for the problem (8).
    pub(super) fn solve_by_every_method(
        &mut self,
        cones: &Cones,
        pivots: &mut usize,
        out: &mut Answer,
    ) -> Result<bool, InputError> {
        if why_not_formed(cones.order()).is_some() {
            return Ok(false);
        }
        let lcp = form(cones)?;
        Ok(take(cones, self.auto.solve(&lcp)?, pivots, out))
    }
}

fn take(cones: &Cones, outcome: Outcome, pivots: &mut usize, out: &mut Answer) -> bool {
    *pivots += outcome.stats().pivots;
    let Outcome::Solved(solved) = outcome else { return false };
    let (normals, phis) = (cones.normals.len(), cones.phis);
    out.theta.clear();
    out.theta.extend_from_slice(&solved.z[..normals]);
    out.phi.clear();
    out.phi.extend_from_slice(&solved.z[normals..normals + phis]);
    out.basis = solved.basis;
    true
}

/// M and q of (8), in the order θ, φ, λ.
fn form(cones: &Cones) -> Result<Lcp, InputError> {
    let (m, normals) = (cones.m, cones.normals.len());
    let forces = normals + cones.phis;
    let mut columns = Matrix::zeros(m, forces);
    let mut q = vec![0.0; cones.order()];
    for i in 0..normals {
        columns.col_mut(i).copy_from_slice(cones.normal(i));
        q[i] = rounded(columns.col(i), cones, cones.normals[i].offset);
    }
    let mut matrix = Matrix::zeros(cones.order(), cones.order());
    for (g, group) in cones.groups.iter().enumerate() {
        let cap = cones.letter(Pair::Cap(g));
        for j in 0..group.sides {
            let at = cones.letter(Pair::Direction(g, j));
            cones.add_direction(g, j, 1.0, columns.col_mut(at));
            q[at] = rounded(columns.col(at), cones, cones.direction_offset(g, j));
            matrix[(at, cap)] = 1.0;
            matrix[(cap, at)] = -1.0;
        }
        if group.normal != NONE {
            matrix[(cap, group.normal)] = cones.normals[group.normal].mu;
        }
        q[cap] = group.cap;
    }
    for j in 0..forces {
        stiction_lcp::interrupt::check();
        for i in 0..=j {
            let product = dot(columns.col(i), columns.col(j));
            matrix[(i, j)] = product;
            matrix[(j, i)] = product;
        }
    }
    Lcp::new(matrix, q)
}

/// `columnᵀ k + offset`, zero if it is nothing but the rounding of k: "q ≥ 0" needs a tolerance.
fn rounded(column: &[f64], cones: &Cones, offset: f64) -> f64 {
    let sum = dot(column, &cones.k) + offset;
    let size: f64 = column.iter().zip(&cones.k_size).map(|(c, k)| c.abs() * k).sum::<f64>() + offset.abs();
    if sum.abs() <= cones.tolerances.coulomb_polyhedral.rounding * size { 0.0 } else { sum }
}
