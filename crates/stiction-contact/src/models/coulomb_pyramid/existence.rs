//! When Theorem 1 guarantees a solution.

use stiction_lcp::classify::classify;
use stiction_lcp::matrix::{axpy, norm};
use stiction_lcp::{FactoredLcp, InputError, Matrix, MatrixClass, Outcome, Solver};

use super::{Core, CoulombPyramid};
use crate::islands::Islands;
use crate::model::Level;
use crate::problem::ContactProblem;
use crate::whitened::Whitened;

/// Whether the theorem guarantees a solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existence {
    /// Every island has a solution.
    Guaranteed,
    /// The theorem does not speak of this island; it may have a solution all the same.
    Unknown {
        /// The first such island.
        island: usize,
        /// Which condition does not hold.
        why: &'static str,
    },
}

impl CoulombPyramid {
    /// Whether `problem` is known to have a solution before it is solved. Island by island, one of two conditions is verified numerically:
    ///
    /// * *(a)* no contact slides against friction, and (36): no forces of the pyramids that balance each other gain from the velocity products. By
    ///   Farkas' lemma that is the solvability of `Dᵀ a + ḋ ≥ 0`, with D the edges of all pyramids, which least squares decides.
    /// * *(b)* Ã of (25), the accelerations of normals and rolling tangents per unit of their forces, is positive definite: what the theorem's small
    ///   μ of the sliding contacts and full column rank are for. Verified by a Cholesky factor with a margin for rounding.
    ///
    /// Rows with two finite bounds, and the quasistatic variant, are not in the theorem.
    ///
    /// Reference: [Trinkle95, Theorem 1].
    ///
    /// # Errors
    /// As [`solve`](crate::ContactModel::solve)'s.
    pub fn existence(&mut self, problem: &ContactProblem) -> Result<Existence, InputError> {
        super::check(problem)?;
        let (mut islands, mut whitened) = (Islands::default(), Whitened::default());
        for (k, island) in islands.find(problem).iter().enumerate() {
            whitened.build(problem, island, Level::Acceleration);
            if let Some(why) = self.core.doubt(&whitened)? {
                return Ok(Existence::Unknown { island: k, why });
            }
        }
        Ok(Existence::Guaranteed)
    }
}

impl Core {
    /// Why the theorem does not guarantee a solution; `None` if it does.
    fn doubt(&mut self, island: &Whitened) -> Result<Option<&'static str>, InputError> {
        if self.quasistatic {
            return Ok(Some("the quasistatic variant is not in the theorem"));
        }
        self.formulation.read(island);
        if self.formulation.axes.iter().any(|axis| axis.normal.is_none()) {
            return Ok(Some("rows with two finite bounds are not in the theorem"));
        }
        if !self.formulation.slides {
            let holds = self.products_cannot_gain(island)?;
            return Ok((!holds).then_some("forces that balance each other gain from the velocity products"));
        }
        let class = classify(&self.tilde(island)?);
        let definite = matches!(class, MatrixClass::PositiveDefinite | MatrixClass::SymmetricPositiveDefinite);
        Ok((!definite).then_some("contacts slide, and the matrix Ã was not proven positive definite"))
    }

    /// (36), as the solvability of `Dᵀ a + ḋ ≥ 0` over the edges D of the pyramids.
    fn products_cannot_gain(&mut self, island: &Whitened) -> Result<bool, InputError> {
        let form = &self.formulation;
        let (m, singles) = (island.m(), form.singles.len());
        let (mut edges, mut rates, mut row) = (Vec::new(), Vec::new(), vec![0.0; m]);
        for normal in 0..singles {
            let axes: Vec<usize> =
                (0..form.axes.len()).filter(|&k| form.axes[k].normal.is_some_and(|(n, _)| n == normal)).collect();
            for corner in 0..1_usize << axes.len() {
                let mut edge = vec![0.0; m];
                let mut rate = form.row_into(island, normal, &mut edge);
                for (bit, &k) in axes.iter().enumerate() {
                    let mu = form.axes[k].normal.map_or(0.0, |(_, mu)| mu);
                    let factor = if corner >> bit & 1 == 1 { mu } else { -mu };
                    rate += factor * form.row_into(island, singles + k, &mut row);
                    axpy(factor, &row, &mut edge);
                }
                let length = norm(&edge);
                let unit = if length > 0.0 { 1.0 / length } else { 1.0 };
                edges.extend(edge.iter().map(|x| x * unit));
                rates.push(rate * unit);
            }
        }
        if rates.iter().all(|rate| *rate >= 0.0) {
            return Ok(true);
        }
        let factored = FactoredLcp::new(Matrix::from_columns(m, rates.len(), edges)?, rates)?;
        Ok(matches!(self.nnls.solve_from((&factored).into(), None)?, Outcome::Solved(_)))
    }

    /// Ã of (25): the force of each unknown alone, so that the tangents of rolling contacts are not taken from their normals.
    fn tilde(&self, island: &Whitened) -> Result<Matrix, InputError> {
        let lcp = self.formulation.lcp(island)?;
        let moving = self.formulation.moving();
        let mut tilde = Matrix::from_fn(moving, moving, |i, j| lcp.m()[(i, j)]);
        for (k, axis) in self.formulation.axes.iter().enumerate() {
            let Some((normal, mu)) = axis.normal else { continue };
            for i in 0..moving {
                let entry = tilde[(i, self.formulation.singles.len() + k)];
                tilde[(i, normal)] += mu * entry;
            }
        }
        Ok(tilde)
    }
}
