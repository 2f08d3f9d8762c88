//! Friction problems as complementarity problems: without friction, or with a polyhedral cone. They need W alone.
//!
//! With `D` the d directions of each contact (unit vectors in its tangent plane, ± the tangent for dim 2), `z = (θ, φ, λ)` and E the incidence of
//! directions and contacts:
//!
//! ```text
//! ν = W_nn θ + W_nD φ + q_n,    σ = W_Dn θ + W_DD φ + E λ + q_D,    γ = μ θ − Eᵀ φ,    0 ≤ z ⊥ (ν, σ, γ) ≥ 0
//! ```
//!
//! Reference: [Lloyd04, Eq. 8], \[StewartTrinkle96\].

use stiction_lcp::{InputError, Lcp, Matrix};

use crate::friction_problem::FrictionProblem;
use crate::models::coulomb_polyhedral::directions as tangent_directions;

/// The law of friction of a [`FrictionLcp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrictionLaw {
    /// None: `0 ≤ r_N ⊥ u_N ≥ 0`, `r_T = 0`.
    Frictionless,
    /// A cone with this many sides, even and at least 4 (always 2 for dim 2).
    Polyhedral {
        /// The number of sides.
        sides: usize,
    },
}

/// Largest order of the problem formed: its matrix is dense.
const MOST_ROWS: usize = 6000;

/// A friction problem's complementarity problem, and the way back.
#[derive(Debug, Clone, PartialEq)]
pub struct FrictionLcp {
    /// The problem.
    pub lcp: Lcp,
    dim: usize,
    contacts: usize,
    /// The directions, each by its components along the contact's tangents.
    directions: Vec<Vec<f64>>,
}

impl FrictionLcp {
    /// The complementarity problem of `problem` under `law`.
    ///
    /// # Errors
    /// If the number of sides is odd or below 4, a coefficient is infinite (a polyhedral cone has none), or the problem is too large.
    pub fn new(problem: &FrictionProblem, law: FrictionLaw) -> Result<Self, InputError> {
        let (dim, contacts) = (problem.dim(), problem.contacts());
        let directions = directions(dim, law)?;
        let d = directions.len();
        if d > 0 && problem.mu().iter().any(|mu| mu.is_infinite()) {
            let reason = "an infinite coefficient has no place in a polyhedral cone; use coulomb-cone".into();
            return Err(InputError::Unsupported { solver: "coulomb-polyhedral", reason });
        }
        let order = contacts * if d > 0 { d + 2 } else { 1 };
        if order > MOST_ROWS {
            return Err(InputError::TooLarge { rows: order, cols: order });
        }
        let mut out = Self { lcp: Lcp::new(Matrix::zeros(0, 0), vec![])?, dim, contacts, directions };
        out.lcp = out.form(problem, order)?;
        Ok(out)
    }

    fn form(&self, problem: &FrictionProblem, order: usize) -> Result<Lcp, InputError> {
        let (n, d, dim) = (self.contacts, self.directions.len(), self.dim);
        let (mut m, mut q) = (Matrix::zeros(order, order), vec![0.0; order]);
        // Rows of (θ, φ) that a row (contact, component) of W feeds, with their factors.
        let parts = |row: usize| -> Vec<(usize, f64)> {
            let (i, k) = (row / dim, row % dim);
            if k == 0 {
                return vec![(i, 1.0)];
            }
            (0..d).map(|j| (n + i * d + j, self.directions[j][k - 1])).collect()
        };
        for column in 0..dim * n {
            let into = parts(column);
            for (row, w) in problem.w().col(column) {
                for (a, x) in parts(row) {
                    for &(b, y) in &into {
                        m[(a, b)] += x * w * y;
                    }
                }
            }
        }
        for (row, &x) in problem.q().iter().enumerate() {
            for (a, factor) in parts(row) {
                q[a] += factor * x;
            }
        }
        for i in 0..if d > 0 { n } else { 0 } {
            let lambda = n + n * d + i;
            m[(lambda, i)] = problem.mu()[i];
            for j in 0..d {
                m[(n + i * d + j, lambda)] = 1.0;
                m[(lambda, n + i * d + j)] = -1.0;
            }
        }
        Lcp::new(m, q)
    }

    /// The impulses r (dim · contacts, normal first) of a solution z.
    pub fn impulses(&self, z: &[f64]) -> Vec<f64> {
        let (n, d) = (self.contacts, self.directions.len());
        let mut r = vec![0.0; self.dim * n];
        for i in 0..n {
            r[i * self.dim] = z[i];
            for (j, direction) in self.directions.iter().enumerate() {
                let phi = z[n + i * d + j];
                direction.iter().enumerate().for_each(|(k, x)| r[i * self.dim + 1 + k] += x * phi);
            }
        }
        r
    }
}

fn directions(dim: usize, law: FrictionLaw) -> Result<Vec<Vec<f64>>, InputError> {
    let sides = match law {
        FrictionLaw::Frictionless => return Ok(vec![]),
        FrictionLaw::Polyhedral { .. } if dim == 2 => return Ok(vec![vec![1.0], vec![-1.0]]),
        FrictionLaw::Polyhedral { sides } => sides,
    };
    if sides < 4 || !sides.is_multiple_of(2) {
        return Err(InputError::Option {
            name: "sides",
            reason: format!("must be even and at least 4, found {sides}"),
        });
    }
    Ok(tangent_directions(sides).iter().map(|d| d.to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::SparseMatrix;
    use stiction_lcp::{Auto, Options, Solver};

    fn particle(q: [f64; 3], mu: f64) -> FrictionProblem {
        let w = SparseMatrix::from_entries(3, 3, (0..3).map(|i| (i, i, 1.0))).unwrap();
        FrictionProblem::new(3, w, q.to_vec(), vec![mu]).unwrap()
    }

    fn solve(problem: &FrictionProblem, law: FrictionLaw) -> Vec<f64> {
        let form = FrictionLcp::new(problem, law).unwrap();
        let outcome = Auto::new(Options::default()).solve(&form.lcp).unwrap();
        form.impulses(&outcome.solved().unwrap().z)
    }

    #[test]
    fn a_particle_sticks_slides_or_has_no_friction() {
        let law = FrictionLaw::Polyhedral { sides: 8 };
        let close = |r: Vec<f64>, expected: [f64; 3]| {
            assert!(r.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{r:?}")
        };
        close(solve(&particle([-1.0, 0.2, -0.1], 0.5), law), [1.0, -0.2, 0.1]);
        close(solve(&particle([-1.0, 2.0, 0.0], 0.5), law), [1.0, -0.5, 0.0]);
        close(solve(&particle([-1.0, 2.0, 0.0], 0.5), FrictionLaw::Frictionless), [1.0, 0.0, 0.0]);
        close(solve(&particle([1.0, 2.0, 0.0], 0.5), law), [0.0; 3]);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let sides = |sides| FrictionLcp::new(&particle([0.0; 3], 0.5), FrictionLaw::Polyhedral { sides });
        assert!(sides(3).is_err() && sides(5).is_err() && sides(4).is_ok() && sides(6).is_ok());
        let infinite = particle([0.0; 3], f64::INFINITY);
        assert!(FrictionLcp::new(&infinite, FrictionLaw::Polyhedral { sides: 4 }).is_err());
    }
}
