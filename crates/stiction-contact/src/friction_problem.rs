//! Friction problems given by their Delassus operator alone, without masses and Jacobians.

use stiction_lcp::InputError;

use crate::check;
use crate::sparse::SparseMatrix;

/// Coulomb friction in local coordinates: find impulses r with
///
/// ```text
/// u = W r + q,   K_i ∋ r_i ⊥ u_i + mu_i |u_iT| e_N ∈ K_i*   for every contact i,
/// K_i = { r : |r_T| ≤ mu_i r_N }
/// ```
///
/// which is Signorini's condition and Coulomb's law. Each contact has `dim` rows, the normal first. W need be neither symmetric nor of
/// full rank; `mu` may be zero or infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct FrictionProblem {
    dim: usize,
    w: SparseMatrix,
    q: Vec<f64>,
    mu: Vec<f64>,
}

impl FrictionProblem {
    /// A problem of `mu.len()` contacts with `dim` rows each.
    ///
    /// # Errors
    /// If `dim` is not 2 or 3, sizes disagree, an entry is not finite, or a coefficient is negative or NaN.
    pub fn new(dim: usize, w: SparseMatrix, q: Vec<f64>, mu: Vec<f64>) -> Result<Self, InputError> {
        check_dim(dim)?;
        let n = dim * mu.len();
        check::size(|| "rows of W".into(), n, w.rows())?;
        check::size(|| "columns of W".into(), n, w.cols())?;
        check::vector("q", n, &q)?;
        check_mu(&mu)?;
        Ok(Self { dim, w, q, mu })
    }

    /// Rows per contact: 2 or 3.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// The Delassus operator, square of order dim · contacts.
    pub fn w(&self) -> &SparseMatrix {
        &self.w
    }

    /// Relative velocities without impulses, dim · contacts.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Coulomb coefficient of each contact.
    pub fn mu(&self) -> &[f64] {
        &self.mu
    }
}

/// Coulomb friction in global coordinates: `M v = H r + f`, `u = Hᵀ v + b`, and u, r as in [`FrictionProblem`].
///
/// The local problem has `W = Hᵀ M⁻¹ H` and `q = Hᵀ M⁻¹ f + b`.
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalFrictionProblem {
    dim: usize,
    mass: SparseMatrix,
    h: SparseMatrix,
    f: Vec<f64>,
    b: Vec<f64>,
    mu: Vec<f64>,
}

impl GlobalFrictionProblem {
    /// A problem of `mu.len()` contacts with `dim` rows each on `f.len()` velocities.
    ///
    /// # Errors
    /// If `dim` is not 2 or 3, sizes disagree, an entry is not finite, or a coefficient is negative or NaN. Whether M is regular
    /// shows when the problem is made local.
    pub fn new(
        dim: usize,
        mass: SparseMatrix,
        h: SparseMatrix,
        f: Vec<f64>,
        b: Vec<f64>,
        mu: Vec<f64>,
    ) -> Result<Self, InputError> {
        check_dim(dim)?;
        let (n, m) = (dim * mu.len(), f.len());
        check::size(|| "rows of M".into(), m, mass.rows())?;
        check::size(|| "columns of M".into(), m, mass.cols())?;
        check::size(|| "rows of H".into(), m, h.rows())?;
        check::size(|| "columns of H".into(), n, h.cols())?;
        check::vector("f", m, &f)?;
        check::vector("b", n, &b)?;
        check_mu(&mu)?;
        Ok(Self { dim, mass, h, f, b, mu })
    }

    /// Rows per contact: 2 or 3.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// The inertia M, square; as given, symmetric or not.
    pub fn mass(&self) -> &SparseMatrix {
        &self.mass
    }

    /// The transposed Jacobian H, velocities × (dim · contacts).
    pub fn h(&self) -> &SparseMatrix {
        &self.h
    }

    /// The right-hand side of the momentum balance (an impulse: M v_free).
    pub fn f(&self) -> &[f64] {
        &self.f
    }

    /// The offset of the relative velocities, dim · contacts.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Coulomb coefficient of each contact.
    pub fn mu(&self) -> &[f64] {
        &self.mu
    }
}

fn check_dim(dim: usize) -> Result<(), InputError> {
    if dim == 2 || dim == 3 {
        return Ok(());
    }
    Err(InputError::Option { name: "dim", reason: format!("a contact has 2 or 3 rows, found {dim}") })
}

fn check_mu(mu: &[f64]) -> Result<(), InputError> {
    mu.iter().enumerate().try_for_each(|(i, &x)| check::coefficient(|| format!("mu[{i}]"), x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(dim: usize, q: Vec<f64>, mu: Vec<f64>) -> Result<FrictionProblem, InputError> {
        let w = SparseMatrix::from_entries(3, 3, (0..3).map(|i| (i, i, 1.0))).unwrap();
        FrictionProblem::new(dim, w, q, mu)
    }

    #[test]
    fn bad_fields_are_named() {
        assert!(one(3, vec![0.0; 3], vec![0.5]).is_ok());
        assert!(one(3, vec![0.0; 3], vec![f64::INFINITY]).is_ok());
        let message = |result: Result<FrictionProblem, InputError>| result.unwrap_err().to_string();
        assert!(message(one(4, vec![0.0; 3], vec![0.5])).contains("2 or 3 rows"));
        assert!(message(one(3, vec![0.0; 2], vec![0.5])).contains('q'));
        assert!(message(one(3, vec![0.0, f64::NAN, 0.0], vec![0.5])).contains("q[1]"));
        assert!(message(one(3, vec![0.0; 3], vec![-0.1])).contains("mu[0]"));
        assert!(message(one(2, vec![0.0; 2], vec![0.5])).contains("rows of W"));
    }
}
