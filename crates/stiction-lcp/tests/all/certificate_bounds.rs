//! The numbers of a certificate are bounds of the exact ones: checked in integers, for every kind of problem, over many scales.

use crate::exact_measures::{false_statement, measure};
use stiction_lcp::generate::Rng;
use stiction_lcp::{Auto, BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Options, Problem, Solver, certify};

const KINDS: usize = 4;

/// A number of either sign, over `decades` decades to both sides of 1; whole numbers where there are none.
fn number(rng: &mut Rng, decades: f64) -> f64 {
    if decades == 0.0 { rng.below(7) as f64 - 3.0 } else { rng.normal() * rng.scale(decades) }
}

fn matrix(rng: &mut Rng, rows: usize, cols: usize, decades: f64) -> Matrix {
    let columns: Vec<f64> = (0..cols).map(|_| rng.scale(decades)).collect();
    let rows_scale: Vec<f64> = (0..rows).map(|_| rng.scale(decades)).collect();
    Matrix::from_fn(rows, cols, |i, j| number(rng, decades / 4.0) * columns[j] * rows_scale[i])
}

fn problem(rng: &mut Rng, kind: usize, decades: f64) -> Problem {
    let n = 1 + rng.below(9);
    let q: Vec<f64> = (0..n).map(|_| number(rng, decades)).collect();
    let lo: Vec<f64> =
        (0..n).map(|_| if rng.chance(0.3) { f64::NEG_INFINITY } else { -number(rng, decades).abs() }).collect();
    let hi: Vec<f64> = lo
        .iter()
        .map(|lo| if rng.chance(0.3) { f64::INFINITY } else { lo.max(0.0) + number(rng, decades).abs() })
        .collect();
    let mut m = matrix(rng, n, n, decades);
    for i in 0..n {
        m[(i, i)] = m[(i, i)].abs();
    }
    match kind {
        0 => Lcp::new(m, q).unwrap().into(),
        1 => {
            let free = (0..n).map(|_| rng.chance(0.4)).collect();
            Mlcp::new(m, q, free).unwrap().into()
        }
        2 => BoxLcp::new(m, q, lo, hi).unwrap().into(),
        _ => {
            let rows = 1 + rng.below(9);
            let p = FactoredLcp::new(matrix(rng, rows, n, decades / 2.0), q).unwrap();
            if rng.chance(0.5) { p.into() } else { p.with_bounds(lo, hi).unwrap().into() }
        }
    }
}

/// A vector near its bounds, or the answer of a solver, or the latter off by rounding.
fn vector(rng: &mut Rng, problem: &Problem, solver: &mut Auto, decades: f64) -> Vec<f64> {
    let p = problem.as_ref();
    if rng.chance(0.4) {
        let any = |i: usize, rng: &mut Rng| {
            let (lo, hi) = p.bound(i);
            if rng.chance(0.5) { 0f64.clamp(lo, hi) } else { number(rng, decades).clamp(lo, hi) }
        };
        return (0..p.n()).map(|i| any(i, rng)).collect();
    }
    let outcome = solver.solve_from(p, None).unwrap();
    let mut z = match &outcome {
        stiction_lcp::Outcome::Solved(s) => s.z.clone(),
        stiction_lcp::Outcome::Stopped(s) => s.z.clone(),
        _ => vec![0.0; p.n()],
    };
    if rng.chance(0.5) {
        let i = rng.below(z.len());
        z[i] = z[i].next_up();
    }
    z
}

#[test]
fn stated_numbers_are_bounds() {
    let mut solver = Auto::new(Options { max_pivots: Some(50), ..Options::default() });
    let (mut sharp, mut zero) = (0, 0);
    for (round, decades) in [0.0, 2.0, 8.0, 12.0, 70.0, 140.0].into_iter().enumerate() {
        let mut rng = Rng::new(31 + round as u64);
        for trial in 0..400 {
            let problem = problem(&mut rng, trial % KINDS, decades);
            let z = vector(&mut rng, &problem, &mut solver, decades);
            let stated = certify(problem.as_ref(), &z, &mut vec![0.0; z.len()]);
            let wrong = false_statement(problem.as_ref(), &z, &stated);
            assert_eq!(wrong, None, "{decades} decades, trial {trial}: {problem:?}, {z:?}");
            // Where plain sums do not do, the bounds are close.
            let exact = measure(problem.as_ref(), &z);
            let tiny = z.iter().any(|z| z.is_subnormal());
            if decades <= 12.0 && !tiny && stated.worst() > 1e-11 {
                sharp += 1;
                let close = |stated: f64, exact: f64| stated <= exact * (1.0 + 1e-9) + 1e-24;
                assert!(close(stated.residual, exact.residual.to_f64()), "{stated}: {problem:?}, {z:?}");
                let backward = exact.backward_error.map_or(f64::INFINITY, |b| b.to_f64());
                assert!(close(stated.backward_error, backward), "{stated}: {problem:?}, {z:?}");
            }
            zero += usize::from(stated.worst() == 0.0);
        }
    }
    assert!(sharp > 300 && zero > 20, "{sharp} {zero}");
}

/// A row whose terms cancel to nothing in plain sums, but not exactly.
#[test]
fn a_sum_that_cancels_by_rounding_is_not_believed() {
    let m = Matrix::from_rows(&[[1e8, 1.0], [-1.0, 1.0]]).unwrap();
    let problem = Lcp::new(m, vec![-1e8 - 1.0 / 3.0, 0.5]).unwrap();
    let z = [1.0, 1.0 / 3.0 + 1e-9];
    let stated = certify((&problem).into(), &z, &mut [0.0; 2]);
    assert_eq!(false_statement((&problem).into(), &z, &stated), None);
}

/// The rounding of M z to q's last digit, for scales over 10^±12: nothing is called solved that exact arithmetic refuses.
#[test]
fn solved_means_solved_for_badly_scaled_pairs() {
    let (mut solved, mut limited) = (0, 0);
    let mut solver = Auto::new(Options::default());
    for decades in [8, 12, 20] {
        let mut rng = Rng::new(decades);
        for trial in 0..2000 {
            let a: [f64; 4] = std::array::from_fn(|_| 1.0 + rng.uniform());
            let power = |rng: &mut Rng| f64::powi(10.0, rng.below(decades as usize + 1) as i32);
            let (row, column) = (power(&mut rng), power(&mut rng));
            let m = Matrix::from_rows(&[[a[0], a[1] * column], [-a[2] * row, a[3] * row * column]]).unwrap();
            let q = vec![4.0 * rng.uniform() - 2.0, 4.0 * rng.uniform() - 2.0];
            let problem = Lcp::new(m, q).unwrap();
            let outcome = solver.solve(&problem).unwrap();
            let Some(s) = outcome.solved() else { panic!("{decades} {trial}: {problem:?} {outcome:?}") };
            solved += 1;
            limited += usize::from(s.limited_by_precision);
            assert_eq!(false_statement((&problem).into(), &s.z, &s.certificate), None, "{problem:?}");
            let exact = measure((&problem).into(), &s.z);
            let limit = exact.rounding_limit.to_f64() * (1.0 + 1e-12);
            assert!(exact.residual.at_most(1e-10f64.max(limit)), "{problem:?} {}", s.certificate);
            assert_eq!(s.limited_by_precision, limit > 1e-10, "{problem:?} {}", s.certificate);
        }
    }
    assert!(limited > 100 && limited < solved / 2, "{limited} of {solved}");
}
