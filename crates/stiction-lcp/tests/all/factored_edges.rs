//! Small cases with known answers, and inputs at the edge of what f64 can say.

use stiction_lcp::generate::Rng;
use stiction_lcp::nnls::Nnls;
use stiction_lcp::outcome::Variable;
use stiction_lcp::principal_pivot::{ModifiedPpm, PrincipalPivot};
use stiction_lcp::{
    Basis, BoxLcp, FactoredLcp, InputError, Lcp, Matrix, Options, Outcome, ProblemRef, Proof, Solver, StopReason,
};

const INF: f64 = f64::INFINITY;

fn rows<const N: usize>(rows: &[[f64; N]]) -> Matrix {
    Matrix::from_rows(rows).unwrap()
}

fn nnls<'p>(problem: impl Into<ProblemRef<'p>>) -> Outcome {
    Nnls::new(Options::default()).solve(problem).unwrap()
}

fn z_of(outcome: &Outcome) -> &[f64] {
    &outcome.solved().unwrap_or_else(|| panic!("{outcome:?}")).z
}

#[test]
fn empty_problems() {
    for m in [0, 3] {
        let p = FactoredLcp::least_squares(Matrix::zeros(m, 0), vec![1.0; m]).unwrap();
        assert_eq!(z_of(&nnls(&p)), &[] as &[f64]);
        assert_eq!(z_of(&ModifiedPpm::new(Options::default()).solve(&p).unwrap()), &[] as &[f64]);
    }
    let p = FactoredLcp::new(Matrix::zeros(0, 2), vec![0.0, 3.0]).unwrap();
    assert_eq!(z_of(&nnls(&p)), [0.0, 0.0]);
    let p = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
    assert_eq!(z_of(&PrincipalPivot::new(Options::default()).solve(&p).unwrap()), &[] as &[f64]);
    assert_eq!(z_of(&nnls(&p)), &[] as &[f64]);
}

#[test]
fn no_solution_is_proven_where_the_numbers_are_exact() {
    // G = 0 and e < 0; two opposite columns that both want to be pushed.
    let zero = FactoredLcp::new(Matrix::zeros(2, 2), vec![1.0, -1.0]).unwrap();
    let opposite = FactoredLcp::new(rows(&[[1.0, -2.0], [3.0, -6.0]]), vec![1.0, -3.0]).unwrap();
    for p in [zero, opposite] {
        match nnls(&p) {
            Outcome::Unsolvable(u) => assert!(matches!(u.proof, Proof::Farkas(_))),
            other => panic!("{other:?}"),
        }
        match ModifiedPpm::new(Options::default()).solve(&p).unwrap() {
            Outcome::Unsolvable(u) => assert!(matches!(u.proof, Proof::Farkas(_))),
            other => panic!("{other:?}"),
        }
    }
    // w₀ = −z₁ − 1 < 0 whatever z.
    let p = Lcp::new(rows(&[[0.0, -1.0], [1.0, 0.0]]), vec![-1.0, 2.0]).unwrap();
    match PrincipalPivot::new(Options::default()).solve(&p).unwrap() {
        Outcome::Unsolvable(u) => assert_eq!(u.proof, Proof::Farkas(vec![1.0, 0.0])),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_contradiction_of_free_rows_is_a_ray() {
    let g = rows(&[[1.0, 1.0]]);
    let free = |e: Vec<f64>| FactoredLcp::new(g.clone(), e).unwrap().with_bounds(vec![-INF; 2], vec![INF; 2]).unwrap();
    assert!(matches!(nnls(&free(vec![1.0, 2.0])), Outcome::Ray(_)));
    let consistent = free(vec![2.0, 2.0]);
    assert_eq!(z_of(&nnls(&consistent)), [-2.0, 0.0]);
}

#[test]
fn bounds_of_every_kind() {
    // One row per kind: M = I, so zᵢ = clip(−eᵢ, loᵢ, hiᵢ).
    let e = vec![-5.0, 5.0, 3.0, -3.0, 0.25, 7.0];
    let lo = vec![0.0, -1.0, -INF, -INF, -1.0, 2.0];
    let hi = vec![1.0, INF, INF, 1.0, 1.0, 2.0];
    let p = FactoredLcp::new(Matrix::identity(6), e).unwrap().with_bounds(lo, hi).unwrap();
    let outcome = nnls(&p);
    assert_eq!(z_of(&outcome), [1.0, -1.0, -3.0, 1.0, -0.25, 2.0]);
    assert_eq!(outcome.solved().unwrap().basis.to_string(), "uwzuzw");
    let again = Nnls::new(Options::default()).solve_from((&p).into(), Some(&"uwzuzw".parse().unwrap())).unwrap();
    assert_eq!((z_of(&again), again.stats().pivots), (z_of(&outcome), 0));
}

#[test]
fn a_stack_at_rest_is_no_trouble() {
    // Nine equal contacts under one weight: every basis is degenerate.
    let mut g = Matrix::zeros(3, 9);
    for j in 0..9 {
        let (x, y) = ((j % 3) as f64 - 1.0, (j / 3) as f64 - 1.0);
        g.col_mut(j).copy_from_slice(&[1.0, y, -x]);
    }
    let p = FactoredLcp::least_squares(g, vec![-1.0, 0.0, 0.0]).unwrap();
    for outcome in [nnls(&p), ModifiedPpm::new(Options::default()).solve(&p).unwrap()] {
        let solved = outcome.solved().unwrap();
        assert!((solved.z.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(solved.stats.pivots < 10 && solved.stats.attempts.is_empty());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let skew = Lcp::new(rows(&[[1.0, 1.0], [-1.0, 1.0]]), vec![1.0, 1.0]).unwrap();
    assert!(matches!(Nnls::new(Options::default()).solve(&skew), Err(InputError::Unsupported { .. })));
    let boxed = BoxLcp::new(Matrix::identity(1), vec![1.0], vec![0.0], vec![1.0]).unwrap();
    assert!(matches!(ModifiedPpm::new(Options::default()).solve(&boxed), Err(InputError::Unsupported { .. })));
    assert_eq!(z_of(&PrincipalPivot::new(Options::default()).solve(&boxed).unwrap()), [0.0]);
    assert_eq!(z_of(&nnls(&boxed)), [0.0]);
    let p = FactoredLcp::least_squares(Matrix::identity(2), vec![1.0, 1.0]).unwrap();
    let short = Basis::lower(1);
    assert!(matches!(Nnls::new(Options::default()).solve_from((&p).into(), Some(&short)), Err(InputError::Basis(_))));
    let bad = Options { tolerance: 0.0, ..Options::default() };
    assert!(matches!(Nnls::new(bad.clone()).solve(&p), Err(InputError::Option { .. })));
    assert!(matches!(PrincipalPivot::new(bad).solve(&skew), Err(InputError::Option { .. })));
}

#[test]
fn the_limit_on_pivots_is_kept() {
    let mut rng = Rng::new(1);
    let g = Matrix::from_fn(8, 40, |_, _| rng.normal());
    let u: Vec<f64> = (0..8).map(|_| rng.normal()).collect();
    let p = FactoredLcp::least_squares(g, u).unwrap();
    let options = Options { max_pivots: Some(2), ..Options::default() };
    for outcome in [Nnls::new(options.clone()).solve(&p).unwrap(), ModifiedPpm::new(options.clone()).solve(&p).unwrap()]
    {
        match outcome {
            Outcome::Stopped(s) => assert_eq!(s.why, StopReason::Limit(2)),
            other => panic!("{other:?}"),
        }
    }
    let p = Lcp::new(rows(&[[2.0, 1.0], [1.0, 2.0]]), vec![-5.0, -6.0]).unwrap();
    let options = Options { max_pivots: Some(1), ..Options::default() };
    assert!(
        matches!(PrincipalPivot::new(options).solve(&p).unwrap(), Outcome::Stopped(s) if s.why == StopReason::Limit(1))
    );
}

#[test]
fn the_trace_names_every_pivot() {
    let p = FactoredLcp::least_squares(Matrix::identity(2), vec![-1.0, -2.0]).unwrap();
    let options = Options { trace: true, ..Options::default() };
    let outcome = Nnls::new(options).solve(&p).unwrap();
    let entering: Vec<_> = outcome.stats().trace.iter().map(|t| t.entering).collect();
    assert_eq!(entering, [Some(Variable::Z(1)), Some(Variable::Z(0))]);
    assert_eq!(outcome.stats().pivots, 2);
}

/// Units do not matter: all lengths and forces scaled by powers of ten, and the answer with them.
#[test]
fn any_units() {
    let mut rng = Rng::new(9);
    for case in 0..200 {
        let (m, n) = (1 + rng.below(6), 1 + rng.below(12));
        let (a, b) = (10f64.powi(rng.below(140) as i32 - 70), 10f64.powi(rng.below(140) as i32 - 70));
        let g = Matrix::from_fn(m, n, |_, _| a * rng.normal());
        let u: Vec<f64> = (0..m).map(|_| b * rng.normal()).collect();
        let p = FactoredLcp::least_squares(g, u).unwrap();
        assert!(nnls(&p).solved().is_some(), "case {case}: {:?}", nnls(&p));
    }
}

/// Numbers near the ends of the range: any outcome but a panic, an endless loop or an uncertified answer.
#[test]
fn absurd_numbers_do_no_harm() {
    let pick = |rng: &mut Rng| {
        let extreme = [0.0, 1.0, -1.0, 1e308, -1e308, 1e-308, 5e-324, -5e-324, 1e200, -1e-200, 1e154, 1e-160];
        if rng.chance(0.5) { extreme[rng.below(extreme.len())] } else { rng.normal() }
    };
    for seed in 0..500 {
        let mut rng = Rng::new(seed);
        let (m, n) = (rng.below(5), rng.below(7));
        let g = Matrix::from_fn(m, n, |_, _| pick(&mut rng));
        let e: Vec<f64> = (0..n).map(|_| pick(&mut rng)).collect();
        let square = Matrix::from_fn(n, n, |_, _| pick(&mut rng));
        let mut p = FactoredLcp::new(g, e.clone()).unwrap();
        if rng.chance(0.5) {
            let lo: Vec<f64> = (0..n).map(|_| if rng.chance(0.3) { -INF } else { -pick(&mut rng).abs() }).collect();
            let hi: Vec<f64> = (0..n).map(|_| if rng.chance(0.3) { INF } else { pick(&mut rng).abs() }).collect();
            p = p.with_bounds(lo, hi).unwrap();
        }
        let certified =
            |o: Outcome| o.solved().is_none_or(|s| s.certificate.holds(1e-10) && s.z.iter().all(|z| z.is_finite()));
        assert!(certified(nnls(&p)), "seed {seed}");
        if let Ok(o) = ModifiedPpm::new(Options::default()).solve(&p) {
            assert!(certified(o), "seed {seed}");
        }
        let lcp = Lcp::new(square, e).unwrap();
        assert!(certified(PrincipalPivot::new(Options::default()).solve(&lcp).unwrap()), "seed {seed}");
        let _ = Nnls::new(Options::default()).solve(&lcp);
    }
}
