use super::*;
use crate::matrix::Matrix;
use crate::outcome::Variable;
use crate::problem::{BoxLcp, FactoredLcp, Lcp, Mlcp};

fn matrix<const N: usize>(rows: [[f64; N]; N]) -> Matrix {
    Matrix::from_rows(&rows).unwrap()
}

fn solve<'p>(problem: impl Into<ProblemRef<'p>>) -> Outcome {
    Dantzig::new(Options::default()).solve(problem).unwrap()
}

fn solved<'p>(problem: impl Into<ProblemRef<'p>>) -> Solved {
    let outcome = solve(problem);
    outcome.solved().unwrap_or_else(|| panic!("{outcome:?}")).clone()
}

#[test]
fn two_rows() {
    let lcp = Lcp::new(matrix([[2.0, 1.0], [1.0, 2.0]]), vec![-5.0, -6.0]).unwrap();
    let s = solved(&lcp);
    assert!((s.z[0] - 4.0 / 3.0).abs() < 1e-15 && (s.z[1] - 7.0 / 3.0).abs() < 1e-15);
    assert_eq!((s.basis.to_string().as_str(), s.stats.pivots), ("zz", 2));
}

#[test]
fn nothing_to_solve() {
    assert!(solved(&Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap()).z.is_empty());
    assert_eq!(solved(&Lcp::new(Matrix::zeros(3, 3), vec![0.0, 1.0, 0.0]).unwrap()).z, [0.0; 3]);
    assert_eq!(solved(&FactoredLcp::new(Matrix::zeros(0, 2), vec![1.0, 0.0]).unwrap()).z, [0.0; 2]);
}

#[test]
fn small_rows_beside_large_ones() {
    let lcp = Lcp::new(Matrix::identity(3), vec![1e12, -1.0, -2.0]).unwrap();
    assert_eq!(solved(&lcp).z, [0.0, 1.0, 2.0]);
    let lcp = Lcp::new(matrix([[1e-300, 0.0], [0.0, 1e300]]), vec![-1e-300, -1e300]).unwrap();
    assert_eq!(solved(&lcp).z, [1.0, 1.0]);
}

#[test]
fn a_row_that_stands_twice_enters_once() {
    let lcp = Lcp::new(matrix([[1.0, 1.0], [1.0, 1.0]]), vec![-1.0, -1.0]).unwrap();
    let s = solved(&lcp);
    assert_eq!(s.z[0] + s.z[1], 1.0);
    assert_eq!(s.basis.active().count(), 1);
}

/// The driven column depends on C and w is not zero: another row must leave first. Rows 0 and 1 pull against each other.
#[test]
fn a_dependent_row_takes_the_place_of_another() {
    let m = matrix([[1.0, 0.0, -1.0], [0.0, 1.0, 1.0], [-1.0, 1.0, 2.0]]);
    let lcp = Lcp::new(m, vec![-1.0, -1.0, -0.5]).unwrap();
    let s = solved(&lcp);
    assert!(s.certificate.holds(1e-14), "{}", s.certificate);
}

#[test]
fn without_a_solution_there_is_a_direction() {
    let lcp = Lcp::new(matrix([[1.0, -1.0], [-1.0, 1.0]]), vec![-1.0, -1.0]).unwrap();
    let Outcome::Ray(ray) = solve(&lcp) else { panic!() };
    assert_eq!(ray.direction, [1.0, 1.0]);
    assert!(ray.claim.contains("Farkas"));
    let Outcome::Ray(ray) = solve(&Lcp::new(Matrix::zeros(2, 2), vec![0.0, -1.0]).unwrap()) else { panic!() };
    assert_eq!(ray.direction, [0.0, 1.0]);
}

#[test]
fn bilateral_rows_come_first_and_stay() {
    let m = matrix([[2.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0]]);
    let mlcp = Mlcp::new(m, vec![3.0, -1.0, 1.0], vec![false, true, false]).unwrap();
    let s = solved(&mlcp);
    assert_eq!(s.basis.position(1), Position::Basic);
    assert_eq!(s.w[1], 0.0);
}

#[test]
fn redundant_bilateral_rows_are_left_at_rest() {
    let m = matrix([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let mlcp = Mlcp::new(m.clone(), vec![-2.0, -2.0, -1.0], vec![true, true, false]).unwrap();
    let s = solved(&mlcp);
    assert_eq!(s.z, [2.0, 0.0, 1.0]);
    let again = Dantzig::new(Options::default()).solve_from((&mlcp).into(), Some(&s.basis)).unwrap();
    assert_eq!((again.solved().unwrap().z.clone(), again.stats().pivots), (s.z, 0));
    let contradiction = Mlcp::new(m, vec![-2.0, -3.0, -1.0], vec![true, true, false]).unwrap();
    assert_eq!(solve(&contradiction).name(), "ray");
}

#[test]
fn bounds_on_both_sides() {
    let m = matrix([[2.0, 1.0], [1.0, 2.0]]);
    let problem = BoxLcp::new(m, vec![-9.0, 0.5], vec![-1.0, -1.0], vec![1.0, 3.0]).unwrap();
    let s = solved(&problem);
    assert_eq!((s.z.as_slice(), s.basis.to_string().as_str()), ([1.0, -0.75].as_slice(), "uz"));
}

#[test]
fn any_basis_is_a_start() {
    let m = matrix([[4.0, -1.0, 0.5], [-1.0, 3.0, 0.0], [0.5, 0.0, 2.0]]);
    let lcp = Lcp::new(m, vec![-1.0, 2.0, -3.0]).unwrap();
    let cold = solved(&lcp);
    let mut solver = Dantzig::new(Options::default());
    for word in ["www", "zzz", "wzw", "zwz", "wwz"] {
        let warm = solver.solve_from((&lcp).into(), Some(&word.parse().unwrap())).unwrap();
        assert_eq!(warm.solved().unwrap().basis, cold.basis, "{word}");
        assert_eq!(warm.stats().pivots == 0, word.parse::<Basis>().unwrap() == cold.basis, "{word}");
    }
    let wrong = solver.solve_from((&lcp).into(), Some(&"wu".parse().unwrap()));
    assert!(matches!(wrong, Err(InputError::Basis(_))));
    let wrong = solver.solve_from((&lcp).into(), Some(&"wuw".parse().unwrap()));
    assert!(matches!(wrong, Err(InputError::Basis(why)) if why.contains("row 1")));
}

#[test]
fn a_trace_has_a_line_per_pivot() {
    let lcp = Lcp::new(matrix([[1.0, 2.0], [2.0, 9.0]]), vec![-1.0, -1.0]).unwrap();
    let outcome = Dantzig::new(Options { trace: true, ..Options::default() }).solve(&lcp).unwrap();
    let stats = outcome.stats();
    assert_eq!(stats.trace.len(), stats.pivots);
    assert_eq!(stats.trace[0].entering, Some(Variable::Z(0)));
}

#[test]
fn as_many_pivots_as_asked_for() {
    let lcp = Lcp::new(Matrix::identity(5), vec![-1.0; 5]).unwrap();
    let with = |pivots| Dantzig::new(Options { max_pivots: Some(pivots), ..Options::default() }).solve(&lcp).unwrap();
    assert!(with(5).solved().is_some());
    assert!(matches!(with(4), Outcome::Stopped(s) if s.why == StopReason::Limit(4)));
}

#[test]
fn too_many_factored_rows_are_refused() {
    let n = FACTORED_LIMIT + 1;
    let problem = FactoredLcp::new(Matrix::zeros(1, n), vec![1.0; n]).unwrap();
    let outcome = Dantzig::new(Options::default()).solve(&problem);
    assert!(matches!(outcome, Err(InputError::Unsupported { solver: "dantzig", .. })));
}

#[test]
fn a_rotation_needs_two_rows_at_once() {
    let lcp = Lcp::new(matrix([[0.0, 1.0], [-1.0, 0.0]]), vec![-1.0, 1.0]).unwrap();
    assert_eq!(solved(&lcp).z, [1.0, 1.0]);
}
