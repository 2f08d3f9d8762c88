//! Which class a matrix is of, as far as numbers can tell.
//!
//! All tests are unchanged by a congruence `D M D` with D diagonal and positive, because they scale the diagonal to one first (by
//! powers of two, so nothing is rounded).

#[cfg(feature = "exact")]
use num_bigint::BigInt;
#[cfg(feature = "exact")]
use num_traits::{Signed, Zero};

use crate::matrix::Matrix;
use crate::outcome::MatrixClass;
use stiction_linalg::cholesky::{self, PivotedCholesky};
use stiction_linalg::power::{exponent, times_power};

/// The class of a square matrix, in O(n³/3) at most; other matrices are [`MatrixClass::Other`].
///
/// * *Symmetric* means to the last bit.
/// * *Positive definite* is proven: the symmetric part, less a multiple of the identity that exceeds every rounding error, has a
///   Cholesky factor. Reference: \[Rump06\].
/// * *Positive semidefinite* holds to rounding only: a singular matrix and a slightly indefinite one differ by less than the
///   rounding of their entries. [`classify_exact`] decides it for the numbers as given.
/// * *Strictly copositive* is read off the signs.
pub fn classify(m: &Matrix) -> MatrixClass {
    let definiteness = Part::new(m).map_or(Definiteness::None, |mut part| {
        if part.is_definite() {
            Definiteness::Definite
        } else if part.is_semidefinite() {
            Definiteness::Semidefinite
        } else {
            Definiteness::None
        }
    });
    class_of(m, definiteness)
}

/// The class of a square matrix, with semidefiniteness decided for the f64 entries as they are, in integer arithmetic.
///
/// The integers grow with n and with the range of the entries: for small problems, and for proofs.
#[cfg(feature = "exact")]
pub fn classify_exact(m: &Matrix) -> MatrixClass {
    class_of(m, exact_definiteness(m))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Definiteness {
    Definite,
    Semidefinite,
    None,
}

fn class_of(m: &Matrix, definiteness: Definiteness) -> MatrixClass {
    match (definiteness, m.is_symmetric()) {
        (Definiteness::Definite, true) => MatrixClass::SymmetricPositiveDefinite,
        (Definiteness::Definite, false) => MatrixClass::PositiveDefinite,
        (Definiteness::Semidefinite, true) => MatrixClass::SymmetricPositiveSemidefinite,
        (Definiteness::Semidefinite, false) => MatrixClass::PositiveSemidefinite,
        (Definiteness::None, _) if is_strictly_copositive_by_sign(m) => MatrixClass::StrictlyCopositive,
        (Definiteness::None, _) => MatrixClass::Other,
    }
}

/// No negative entry and a positive diagonal: then zᵀ M z > 0 for every z ≥ 0 but 0.
fn is_strictly_copositive_by_sign(m: &Matrix) -> bool {
    m.rows() == m.cols() && m.as_slice().iter().all(|&x| x >= 0.0) && (0..m.rows()).all(|i| m[(i, i)] > 0.0)
}

/// The symmetric part, scaled to a diagonal in [1/2, 2), without the rows of zeros.
struct Part {
    scaled: Matrix,
    work: Matrix,
    /// The largest entry of M scaled like that: what the rounding of the entries is relative to.
    largest: f64,
    /// A row of zeros was left out: not definite.
    has_zero_row: bool,
}

impl Part {
    /// `None` if the diagonal, or a zero on it with a non-zero beside, shows that the matrix is not semidefinite.
    fn new(m: &Matrix) -> Option<Self> {
        let n = m.rows();
        if m.cols() != n {
            return None;
        }
        let mut rows = Vec::with_capacity(n);
        for i in 0..n {
            if m[(i, i)] > 0.0 {
                rows.push(i);
            } else if m[(i, i)] < 0.0 || (0..n).any(|j| m[(i, j)] != -m[(j, i)]) {
                return None;
            }
        }
        // Half the exponent of the diagonal, rounded so that the scaled diagonal lies in [1/2, 2).
        let shift: Vec<i32> = rows.iter().map(|&i| exponent(m[(i, i)]).div_euclid(2)).collect();
        let entry = |a: usize, b: usize| {
            if a == 0 {
                crate::interrupt::check_at(b);
            }
            let scale = -shift[a] - shift[b];
            0.5 * times_power(m[(rows[a], rows[b])], scale) + 0.5 * times_power(m[(rows[b], rows[a])], scale)
        };
        let scaled = Matrix::from_fn(rows.len(), rows.len(), entry);
        let size = |a: usize, b: usize| times_power(m[(rows[a], rows[b])].abs(), -shift[a] - shift[b]);
        let largest = (0..rows.len()).fold(1.0, |l: f64, b| {
            crate::interrupt::check_at(b);
            (0..rows.len()).fold(l, |l, a| l.max(size(a, b)))
        });
        // Semidefinite matrices have |h_ij|² ≤ h_ii h_jj < 4.
        let bounded = scaled.as_slice().iter().all(|x| x.abs() <= 2.0 + f64::EPSILON * largest);
        bounded.then(|| Self { scaled, work: Matrix::default(), largest, has_zero_row: rows.len() < n })
    }

    /// True if a Cholesky factor exists with a margin for all rounding errors.
    fn is_definite(&mut self) -> bool {
        let n = self.scaled.rows();
        self.work.copy_from(&self.scaled);
        // Backward error of the factorization (n + 2) u tr H and of forming H (n u max|h| ≤ 2 n u), twice over.
        let trace: f64 = (0..n).map(|i| self.scaled[(i, i)]).sum();
        let margin = f64::EPSILON * ((n + 2) as f64 * trace + 2.0 * n as f64);
        for i in 0..n {
            self.work[(i, i)] -= margin;
        }
        !self.has_zero_row && cholesky::factor(&mut self.work, |_, pivot| (pivot > 0.0).then_some(pivot)).is_ok()
    }

    /// True if diagonal pivoting leaves nothing but rounding.
    fn is_semidefinite(&mut self) -> bool {
        let n = self.scaled.rows();
        let rounding = 16.0 * f64::EPSILON * n as f64 * self.largest;
        let mut factor = PivotedCholesky::default();
        factor.factor_with(n, |i, j| self.scaled[(i, j)], |_| rounding);
        // A diagonal entry only falls, so one that has become negative beyond rounding still is.
        factor.rest().all(|x| x.abs() <= 4.0 * rounding) && (factor.rank()..n).all(|j| factor.column(j)[0] >= -rounding)
    }
}

/// Fraction-free elimination of `M + Mᵀ` with diagonal pivots: every diagonal it meets is a ratio of principal minors.
#[cfg(feature = "exact")]
fn exact_definiteness(m: &Matrix) -> Definiteness {
    let n = m.rows();
    if m.cols() != n || m.as_slice().iter().any(|x| !x.is_finite()) {
        return Definiteness::None;
    }
    let lowest = m.as_slice().iter().filter(|x| **x != 0.0).map(|&x| exponent(x)).min().unwrap_or(0);
    let mut a: Vec<Vec<BigInt>> =
        (0..n).map(|i| (0..n).map(|j| integer(m[(i, j)], lowest) + integer(m[(j, i)], lowest)).collect()).collect();
    let mut previous = BigInt::from(1);
    for k in 0..n {
        if (k..n).any(|i| a[i][i].is_negative()) {
            return Definiteness::None;
        }
        let Some(pivot) = (k..n).find(|&i| a[i][i].is_positive()) else {
            let empty = (k..n).all(|i| (k..n).all(|j| a[i][j].is_zero()));
            return if empty { Definiteness::Semidefinite } else { Definiteness::None };
        };
        a.swap(k, pivot);
        for row in &mut a {
            row.swap(k, pivot);
        }
        let (done, rest) = a.split_at_mut(k + 1);
        let head = &done[k];
        for row in rest {
            crate::interrupt::check();
            let factor = row[k].clone();
            for j in k + 1..n {
                row[j] = (&row[j] * &head[k] - &factor * &head[j]) / &previous;
            }
        }
        previous = head[k].clone();
    }
    Definiteness::Definite
}

/// `x · 2^(53 − lowest)`, an integer for every x whose exponent is not below `lowest`.
#[cfg(feature = "exact")]
fn integer(x: f64, lowest: i32) -> BigInt {
    if x == 0.0 {
        return BigInt::ZERO;
    }
    let e = exponent(x);
    // |x| = f 2^e with 1/2 ≤ f < 1 and f 2^53 an integer.
    let mantissa = times_power(times_power(x, -e), 53) as i64;
    BigInt::from(mantissa) << (e - lowest) as usize
}
