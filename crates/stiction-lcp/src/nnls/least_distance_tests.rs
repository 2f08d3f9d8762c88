//! The least-distance form: a factored problem with any e as a least squares problem, which always has a solution.
//!
//! With `E = [G; −s eᵀ]` (m+1 × n) and `t = (0, …, 0, 1)`, solve `min ‖E y − t‖, y ≥ 0` and let `r = E y − t`. If r = 0, then `G y = 0` and
//! `eᵀ y < 0`: no z ≥ 0 has `Gᵀ G z + e ≥ 0`. Otherwise `r[m] < 0`, and `z = −y / (s r[m])` solves the problem. Any s > 0 will do;
//! here it is the power of two that brings the last row to the size of the others.
//!
//! The name is that of the dual: `G z` is the point of least length that satisfies `gᵢᵀ a + eᵢ ≥ 0`.
//!
//! Reference: [LawsonHanson74, ch. 23, problem LDP].

use crate::certificate::certify;
use crate::error::InputError;
use crate::generate::Rng;
use crate::matrix::{Matrix, dot, max_abs};
use crate::nnls::Nnls;
use crate::problem::FactoredLcp;
use crate::solver::{Options, Solver};
use stiction_linalg::power::{exponent, times_power};

/// Below this the residual of the least squares problem, which is at most 1, counts as zero.
const VANISHES: f64 = 1e-10;

/// The least squares problem `min ‖E y − t‖, y ≥ 0` of a problem without bounds.
///
/// # Errors
/// `InputError` if numbers leave the range of f64.
fn form(problem: &FactoredLcp) -> Result<FactoredLcp, InputError> {
    let (m, n, s) = (problem.g().rows(), problem.n(), scale(problem));
    let last = |j: usize| -times_power(problem.e()[j], s);
    let e = Matrix::from_fn(m + 1, n, |i, j| if i < m { problem.g()[(i, j)] } else { last(j) });
    let mut minus_t = vec![0.0; m + 1];
    minus_t[m] = -1.0;
    FactoredLcp::least_squares(e, minus_t)
}

/// z (n) of the given problem from y (n) of its [`form`], or `None` if r = 0: then y shows that there is none.
fn solution(problem: &FactoredLcp, y: &[f64]) -> Option<Vec<f64>> {
    let s = scale(problem);
    let last = -times_power(dot(problem.e(), y), s) - 1.0;
    (last < -VANISHES).then(|| y.iter().map(|y| times_power(-y / last, -s)).collect())
}

/// The exponent of s.
fn scale(problem: &FactoredLcp) -> i32 {
    exponent(problem.g().max_abs()) - exponent(max_abs(problem.e()))
}

/// Both routes find a solution of the same problems, and the form's passes the certificate too.
#[test]
fn agrees_with_the_direct_method() {
    let mut nnls = Nnls::new(Options::default());
    let (mut solved, mut none) = (0, 0);
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let (m, n) = (1 + rng.below(5), 1 + rng.below(12));
        let g = Matrix::from_fn(m, n, |_, _| rng.normal());
        let e = (0..n).map(|_| 100.0 * rng.normal()).collect();
        let problem = FactoredLcp::new(g, e).unwrap();
        let direct = nnls.solve(&problem).unwrap();
        let outcome = nnls.solve(&form(&problem).unwrap()).unwrap();
        let y = &outcome.solved().expect("always solvable").z;
        match solution(&problem, y) {
            Some(z) => {
                assert!(direct.solved().is_some(), "seed {seed}");
                let certificate = certify((&problem).into(), &z, &mut vec![0.0; n]);
                assert!(certificate.holds(1e-8), "seed {seed}: {certificate}");
                solved += 1;
            }
            None => {
                assert_eq!(direct.name(), "ray", "seed {seed}");
                none += 1;
            }
        }
    }
    assert!(solved > 200 && none > 200, "{solved} {none}");
}
