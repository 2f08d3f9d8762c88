//! `M = Gᵀ G` for a symmetric positive semidefinite M, by Cholesky with diagonal pivoting.

use crate::matrix::{Matrix, dot};
use crate::nnls::Tolerances;
use stiction_linalg::cholesky::PivotedCholesky;
use stiction_linalg::power::{exponent, times_power};

/// A pivot at most this many roundings (times the order) of its own diagonal entry is zero: the rank is reached.
const RANK: f64 = 8.0 * f64::EPSILON;

/// Factors `M ≈ D Ĝᵀ Ĝ D` with `D = diag(2^kⱼ)`: Ĝ (rank × n) goes to `g`, k to `exponents`.
///
/// The error says in words why M has no such factor.
pub(crate) fn factor(
    m: &Matrix,
    g: &mut Matrix,
    exponents: &mut Vec<i32>,
    tolerances: &Tolerances,
) -> Result<(), String> {
    let n = m.rows();
    exponents.clear();
    for i in 0..n {
        if m[(i, i)] < 0.0 {
            return Err(format!("M is not positive semidefinite: M[{i}, {i}] = {:e}", m[(i, i)]));
        }
        exponents.push((exponent(m[(i, i)]) + 1).div_euclid(2));
    }
    let scaled = |i: usize, j: usize| times_power(m[(i, j)], -exponents[i] - exponents[j]);
    for j in 0..n {
        for i in 0..j {
            let (a, b) = (scaled(i, j), scaled(j, i));
            let size = (scaled(i, i) * scaled(j, j)).sqrt();
            if a != b && (a - b).abs() > tolerances.symmetric * size {
                return Err(format!(
                    "M is not symmetric: M[{i}, {j}] = {:e}, M[{j}, {i}] = {:e}",
                    m[(i, j)],
                    m[(j, i)]
                ));
            }
        }
    }
    let mut work = PivotedCholesky::default();
    work.factor_with(n, scaled, |i| RANK * n as f64 * scaled(i, i));
    g.reset(work.rank(), n);
    for k in 0..work.rank() {
        for (x, &j) in work.column(k).iter().zip(&work.order()[k..]) {
            g[(k, j)] = *x;
        }
    }
    for j in 0..n {
        crate::interrupt::check();
        for i in 0..=j {
            let rest = (scaled(i, j) - dot(g.col(i), g.col(j))).abs();
            if rest.is_nan() || rest > tolerances.semidefinite * (scaled(i, i) * scaled(j, j)).sqrt() {
                return Err(format!("M is not positive semidefinite (seen at rows {i} and {j})"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_is_revealed_whatever_the_units() {
        let rows = [[1.0, 2.0, 3.0, 0.0], [0.0, 1.0, 1.0, 0.0]];
        let d = [1.0, 1e-7, 1e9, 1.0];
        let column = |j: usize| [rows[0][j] * d[j], rows[1][j] * d[j]];
        let m = Matrix::from_fn(4, 4, |i, j| dot(&column(i.min(j)), &column(i.max(j))));
        let (mut g, mut k) = (Matrix::default(), Vec::new());
        factor(&m, &mut g, &mut k, &Tolerances::default()).unwrap();
        assert_eq!((g.rows(), g.cols()), (2, 4));
        assert_eq!(g.col(3), [0.0, 0.0]);
    }

    #[test]
    fn says_why_not() {
        let (mut g, mut k) = (Matrix::default(), Vec::new());
        let mut reason = |m: [[f64; 2]; 2]| {
            factor(&Matrix::from_rows(&m).unwrap(), &mut g, &mut k, &Tolerances::default()).unwrap_err()
        };
        assert!(reason([[1.0, 2.0], [0.0, 1.0]]).contains("symmetric"));
        assert!(reason([[1.0, 2.0], [2.0, 1.0]]).contains("semidefinite"));
        assert!(reason([[0.0, 1.0], [1.0, 1.0]]).contains("semidefinite"));
        assert!(reason([[-1.0, 0.0], [0.0, 1.0]]).contains("M[0, 0]"));
    }
}
