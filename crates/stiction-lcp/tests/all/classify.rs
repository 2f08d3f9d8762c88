//! Classes of matrices, in any units.

use stiction_lcp::classify::{classify, classify_exact};
use stiction_lcp::generate::Rng;
use stiction_lcp::matrix::dot;
use stiction_lcp::{Matrix, MatrixClass};

fn gram(rng: &mut Rng, n: usize, rank: usize, integers: bool) -> Matrix {
    let a = Matrix::from_fn(rank, n, |_, _| if integers { rng.below(7) as f64 - 3.0 } else { rng.normal() });
    Matrix::from_fn(n, n, |i, j| dot(a.col(i.min(j)), a.col(i.max(j))))
}

fn congruent(rng: &mut Rng, m: &Matrix) -> Matrix {
    let d: Vec<f64> = (0..m.rows()).map(|_| rng.scale(8.0)).collect();
    Matrix::from_fn(m.rows(), m.cols(), |i, j| m[(i, j)] * d[i.min(j)] * d[i.max(j)])
}

fn with_skew(rng: &mut Rng, m: &Matrix) -> Matrix {
    let k = Matrix::from_fn(m.rows(), m.cols(), |_, _| rng.below(5) as f64 - 2.0);
    Matrix::from_fn(m.rows(), m.cols(), |i, j| m[(i, j)] + k[(i, j)] - k[(j, i)])
}

#[test]
fn semidefinite_of_any_rank_and_scale() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let n = 1 + rng.below(30);
        let rank = rng.below(n);
        let integers = rng.chance(0.5);
        let m = gram(&mut rng, n, rank, integers);
        assert_eq!(classify(&m), MatrixClass::SymmetricPositiveSemidefinite);
        if integers && n <= 12 {
            assert_eq!(classify_exact(&m), MatrixClass::SymmetricPositiveSemidefinite);
        }
        assert_eq!(classify(&congruent(&mut rng, &m)), MatrixClass::SymmetricPositiveSemidefinite);
        let skew = with_skew(&mut rng, &m);
        // Adding the skew part rounds: by that much the sum may really be definite.
        let rounded = !integers && classify(&skew) == MatrixClass::PositiveDefinite;
        if !skew.is_symmetric() && !rounded {
            assert_eq!(classify(&skew), MatrixClass::PositiveSemidefinite);
        }
    }
}

#[test]
fn definite_ones_are_proven() {
    let mut rng = Rng::new(2);
    for _ in 0..200 {
        let n = 1 + rng.below(30);
        let rank = rng.below(n + 1);
        let mut m = gram(&mut rng, n, rank, true);
        for i in 0..n {
            m[(i, i)] += 1e-3;
        }
        assert_eq!(classify(&m), MatrixClass::SymmetricPositiveDefinite);
        assert_eq!(classify(&congruent(&mut rng, &m)), MatrixClass::SymmetricPositiveDefinite);
        let skew = with_skew(&mut rng, &m);
        if !skew.is_symmetric() {
            assert_eq!(classify(&skew), MatrixClass::PositiveDefinite);
        }
    }
}

#[test]
fn indefinite_ones_are_seen() {
    let mut rng = Rng::new(3);
    for _ in 0..200 {
        let n = 2 + rng.below(20);
        let mut m = gram(&mut rng, n, n / 2, true);
        // Subtract a little along a direction outside the range of a rank-deficient matrix.
        let v: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        for j in 0..n {
            for i in 0..n {
                m[(i, j)] -= 1e-6 * v[i.min(j)] * v[i.max(j)];
            }
        }
        let indefinite = |m: &Matrix| matches!(classify(m), MatrixClass::Other | MatrixClass::StrictlyCopositive);
        assert!(indefinite(&m) && indefinite(&congruent(&mut rng, &m)));
    }
}

#[test]
fn exact_sees_the_last_bit() {
    let up = f64::from_bits(1.0f64.to_bits() + 1);
    let below = Matrix::from_rows(&[[1.0, up], [up, 1.0]]).unwrap();
    let above = Matrix::from_rows(&[[up, 1.0], [1.0, up]]).unwrap();
    assert_eq!(classify(&below), MatrixClass::SymmetricPositiveSemidefinite, "to rounding");
    assert_eq!(classify_exact(&below), MatrixClass::StrictlyCopositive, "indefinite, exactly");
    assert_eq!(classify_exact(&above), MatrixClass::SymmetricPositiveDefinite);
    let wide = Matrix::from_rows(&[[1e300, 1.0], [1.0, 2e-300]]).unwrap();
    assert_eq!(classify_exact(&wide), MatrixClass::SymmetricPositiveDefinite);
    assert_eq!(classify(&wide), MatrixClass::SymmetricPositiveDefinite);
}

#[test]
fn signs_and_shapes() {
    let of = |rows: &[[f64; 2]]| classify(&Matrix::from_rows(rows).unwrap());
    assert_eq!(of(&[[1.0, 5.0], [5.0, 1.0]]), MatrixClass::StrictlyCopositive);
    assert_eq!(of(&[[1.0, 5.0], [-5.0, 0.0]]), MatrixClass::PositiveSemidefinite);
    assert_eq!(of(&[[0.0, 1.0], [1.0, 1.0]]), MatrixClass::Other);
    assert_eq!(of(&[[0.0, 0.0], [0.0, 1.0]]), MatrixClass::SymmetricPositiveSemidefinite);
    assert_eq!(of(&[[-1.0, 0.0], [0.0, 1.0]]), MatrixClass::Other);
    assert_eq!(of(&[[2e-320, 1e-320], [1e-320, 2e-320]]), MatrixClass::SymmetricPositiveDefinite);
    assert_eq!(classify(&Matrix::zeros(2, 3)), MatrixClass::Other);
    assert_eq!(classify(&Matrix::zeros(0, 0)), MatrixClass::SymmetricPositiveDefinite);
    assert_eq!(classify(&Matrix::zeros(3, 3)), MatrixClass::SymmetricPositiveSemidefinite);
}
