//! Friction problems given by their Delassus operator alone, without masses and Jacobians.

use stiction_lcp::{InputError, Matrix};

use crate::check;
use crate::sparse::SparseMatrix;
use crate::whitened::why_not_formed;
use stiction_linalg::lu::Lu;

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

    /// The local problem `W = Hᵀ M⁻¹ H`, `q = Hᵀ M⁻¹ f + b`, by an LU of every body's part of M: of every set of velocities that M couples.
    ///
    /// # Errors
    /// `InputError::Unsupported` naming M if it is singular, or so nearly that `M x = h` is not solved for a column h of H or for f; if it couples more than
    /// 4,096 velocities.
    pub fn to_local(&self) -> Result<FrictionProblem, InputError> {
        let (m, n) = (self.f.len(), self.b.len());
        let bodies = self.factor_bodies()?;
        let (mut entries, mut product) = (Vec::new(), vec![0.0; n]);
        let (mut right, mut x) = (vec![0.0; m], vec![0.0; m]);
        for j in 0..n {
            stiction_lcp::interrupt::check();
            right.fill(0.0);
            self.h.col(j).for_each(|(i, h)| right[i] = h);
            self.solve(&bodies, &right, &mut x)?;
            self.h.mul_transposed_into(&x, &mut product);
            entries.extend(product.iter().enumerate().filter(|e| *e.1 != 0.0).map(|(i, &w)| (i, j, w)));
        }
        self.solve(&bodies, &self.f, &mut x)?;
        self.h.mul_transposed_into(&x, &mut product);
        let q = product.iter().zip(&self.b).map(|(q, b)| q + b).collect();
        FrictionProblem::new(self.dim, SparseMatrix::from_entries(n, n, entries)?, q, self.mu.clone())
    }

    /// The sets of velocities that M couples, each with its factor.
    fn factor_bodies(&self) -> Result<Vec<(Vec<usize>, Lu)>, InputError> {
        let mut place = vec![0; self.f.len()];
        let mut bodies = vec![];
        for members in self.mass.components(1) {
            stiction_lcp::interrupt::check();
            let order = members.len();
            if let Some(why) = why_not_formed(order) {
                return Err(unsupported(format!("M couples {order} velocities: {why}")));
            }
            members.iter().enumerate().for_each(|(k, &j)| place[j] = k);
            let mut block = Matrix::zeros(order, order);
            for &j in &members {
                // An entry that is stored and zero couples nothing.
                let entries = self.mass.col(j).filter(|(_, x)| *x != 0.0);
                entries.for_each(|(i, x)| block[(place[i], place[j])] = x);
            }
            let mut lu = Lu::default();
            lu.factor(&block);
            if lu.pivot_ratio() == 0.0 {
                return Err(singular());
            }
            bodies.push((members, lu));
        }
        Ok(bodies)
    }

    /// `x ← M⁻¹ right`.
    fn solve(&self, bodies: &[(Vec<usize>, Lu)], right: &[f64], x: &mut [f64]) -> Result<(), InputError> {
        let mut local = vec![];
        for (members, lu) in bodies {
            local.clear();
            local.extend(members.iter().map(|&j| right[j]));
            if local.iter().any(|x| *x != 0.0) {
                lu.solve(&mut local);
            }
            members.iter().zip(&local).for_each(|(&j, value)| x[j] = *value);
        }
        if self.solves(x, right) { Ok(()) } else { Err(singular()) }
    }

    /// True if `M x` is `right` to half of its digits: with a singular M not even the first digit is right.
    fn solves(&self, x: &[f64], right: &[f64]) -> bool {
        const HALF_DIGITS: f64 = 1e-8;
        let mut product = vec![0.0; x.len()];
        self.mass.mul_into(x, &mut product);
        let size = right.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        product.iter().zip(right).all(|(p, r)| (p - r).abs() <= HALF_DIGITS * size)
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

fn unsupported(reason: String) -> InputError {
    InputError::Unsupported { solver: "GlobalFrictionProblem::to_local", reason }
}

fn singular() -> InputError {
    unsupported("M is singular, or too nearly so to be solved with".into())
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

    fn global(mass: &[f64]) -> GlobalFrictionProblem {
        let m = mass.len();
        let mass = SparseMatrix::from_entries(m, m, (0..m).map(|i| (i, i, mass[i]))).unwrap();
        // A point, and a second one on top of it.
        let h = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 3, -1.0), (1, 4, -1.0), (2, 5, -1.0), (3, 3, 1.0)];
        let h = SparseMatrix::from_entries(m, 6, h).unwrap();
        GlobalFrictionProblem::new(3, mass, h, vec![-2.0, 1.0, 0.0, -3.0], vec![0.5; 6], vec![0.5; 2]).unwrap()
    }

    #[test]
    fn global_becomes_local() {
        let local = global(&[2.0, 2.0, 4.0, 1.0]).to_local().unwrap();
        let w = local.w().to_dense();
        assert_eq!([w[(0, 0)], w[(0, 3)], w[(3, 3)], w[(2, 2)], w[(0, 1)]], [0.5, -0.5, 1.5, 0.25, 0.0]);
        assert_eq!(local.q(), [-0.5, 1.0, 0.5, -1.5, 0.0, 0.5]);
        let message = global(&[2.0, 0.0, 4.0, 1.0]).to_local().unwrap_err().to_string();
        assert!(message.contains("M is singular"), "{message}");
    }

    #[test]
    fn velocities_that_the_mass_couples_are_solved_together() {
        // Velocities 0 and 2 of one body, 1 of another, which has no contact but a force.
        let with = |coupling: f64| {
            let mass = [(0, 0, 2.0), (2, 0, coupling), (1, 1, 4.0), (2, 1, 0.0), (0, 2, coupling), (2, 2, 2.0)];
            let mass = SparseMatrix::from_entries(3, 3, mass).unwrap();
            assert_eq!(mass.components(1), [vec![0, 2], vec![1]]);
            let h = SparseMatrix::from_entries(3, 2, [(0, 0, 1.0), (2, 1, 1.0)]).unwrap();
            GlobalFrictionProblem::new(2, mass, h, vec![3.0, 1.0, 0.0], vec![0.0; 2], vec![0.5]).unwrap().to_local()
        };
        let local = with(1.0).unwrap();
        let w = local.w().to_dense();
        for (found, expected) in [(w[(0, 0)], 2.0 / 3.0), (w[(0, 1)], -1.0 / 3.0), (local.q()[0], 2.0)] {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        assert!(with(2.0).unwrap_err().to_string().contains("M is singular"));
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
