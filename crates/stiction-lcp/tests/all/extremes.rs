//! Numbers from one end of f64 to the other, through every solver: no panic, an end, and nothing called solved that is not.
//!
//! What is called solved is checked again in integers: every f64 is a whole multiple of 2⁻¹⁰⁷⁴, so w and the size of its row are
//! computed without rounding, underflow or overflow.

use crate::exact_measures::{exact_row, false_statement};
use num_traits::{Signed, Zero};
use stiction_lcp::basis::Position;
use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::generate::Rng;
use stiction_lcp::{
    Basis, BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Options, Outcome, Problem, ProblemRef, Proof, Solver, certify, exact,
};

const EXTREMES: [f64; 9] = [0.0, 1.0, 1e308, f64::MAX, 1e-308, 5e-324, 1e16, 1e154, 1e-160];
const SEEDS: u64 = 1000;
/// A Gram matrix whose entries cancel to all but 1e-308 of their terms.
const CANCELLING: u64 = 16679;
/// A row may miss by this share of its size: ten times the tolerance that the solvers were given.
const SHARE: u64 = 1_000_000_000;

/// Draws entries from a few of the extremes, so that problems with a solution are not too rare.
struct Palette {
    rng: Rng,
    numbers: Vec<f64>,
}

impl Palette {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.below(4);
        let numbers = (0..count).map(|_| EXTREMES[rng.below(EXTREMES.len())]).chain([0.0, 1.0]).collect();
        Self { rng, numbers }
    }

    fn entry(&mut self) -> f64 {
        let size = match self.rng.below(4) {
            0 => self.rng.normal(),
            _ => self.numbers[self.rng.below(self.numbers.len())],
        };
        if self.rng.chance(0.5) { size } else { -size }
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.entry()).collect()
    }

    /// Any matrix, a symmetric one, or one whose diagonal is not negative.
    fn matrix(&mut self, n: usize) -> Matrix {
        let mut m = Matrix::from_columns(n, n, self.vector(n * n)).unwrap();
        let (symmetric, diagonal) = (self.rng.chance(0.5), self.rng.chance(0.7));
        for j in 0..n {
            if diagonal {
                m[(j, j)] = m[(j, j)].abs();
            }
            for i in 0..j {
                if symmetric {
                    m[(i, j)] = m[(j, i)];
                }
            }
        }
        m
    }

    fn bounds(&mut self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let side = |palette: &mut Self| if palette.rng.chance(0.3) { f64::INFINITY } else { palette.entry().abs() };
        (0..n).map(|_| if self.rng.chance(0.4) { (0.0, side(self)) } else { (-side(self), side(self)) }).unzip()
    }

    fn problem(&mut self, kind: usize) -> Option<Problem> {
        let n = 1 + self.rng.below(6);
        let problem = match kind {
            0 => Lcp::new(self.matrix(n), self.vector(n)).ok()?.into(),
            1 => {
                let free = (0..n).map(|_| self.rng.chance(0.4)).collect();
                Mlcp::new(self.matrix(n), self.vector(n), free).ok()?.into()
            }
            2 => {
                let (lo, hi) = self.bounds(n);
                BoxLcp::new(self.matrix(n), self.vector(n), lo, hi).ok()?.into()
            }
            _ => self.factored(n)?.into(),
        };
        Some(problem)
    }

    fn factored(&mut self, n: usize) -> Option<FactoredLcp> {
        let m = 1 + self.rng.below(4);
        let g = Matrix::from_columns(m, n, self.vector(m * n)).unwrap();
        let problem = match self.rng.chance(0.5) {
            true => FactoredLcp::new(g, self.vector(n)),
            false => FactoredLcp::least_squares(g, self.vector(m)),
        };
        let problem = problem.ok()?;
        if self.rng.chance(0.6) {
            return Some(problem);
        }
        let (lo, hi) = self.bounds(n);
        problem.with_bounds(lo, hi).ok()
    }

    fn basis(&mut self, n: usize) -> Basis {
        let all = [Position::Lower, Position::Basic, Position::Upper];
        Basis::new((0..n).map(|_| all[self.rng.below(3)]).collect())
    }
}

/// What is wrong with z as a solution, in exact arithmetic.
fn fault(problem: ProblemRef<'_>, z: &[f64]) -> Option<String> {
    (0..z.len()).find_map(|i| {
        let (lo, hi) = problem.bound(i);
        if !(z[i].is_finite() && z[i] >= lo && z[i] <= hi) {
            return Some(format!("z[{i}] = {:e} is outside of [{lo:e}, {hi:e}]", z[i]));
        }
        let (w, size) = exact_row(problem, z, i);
        let misses = match &w {
            w if w.is_zero() || lo == hi => false,
            w if w.is_positive() => z[i] != lo,
            _ => z[i] != hi,
        };
        (misses && w.abs() * SHARE > size).then(|| format!("row {i} misses by more than its share, z = {:e}", z[i]))
    })
}

fn check(problem: ProblemRef<'_>, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Solved(solved) if !solved.certificate.holds(1e-10) => Some("solved without its certificate".into()),
        Outcome::Solved(solved) => {
            fault(problem, &solved.z).or_else(|| false_statement(problem, &solved.z, &solved.certificate))
        }
        Outcome::Unsolvable(found) => match (&found.proof, problem) {
            (Proof::Farkas(y), ProblemRef::Lcp(lcp)) if !exact::check_farkas(lcp, y) => Some("false proof".into()),
            _ => None,
        },
        _ => None,
    }
}

fn run(name: &str) {
    let mut solver: Box<dyn Solver> = build(name, &Options::default()).unwrap();
    let mut solved = 0;
    for seed in (0..SEEDS).chain([CANCELLING]) {
        let kind = (seed % 4) as usize;
        let mut palette = Palette::new(seed);
        let Some(problem) = palette.problem(kind) else { continue };
        let start = palette.basis(problem.as_ref().n());
        for start in [None, Some(&start)] {
            let Ok(outcome) = solver.solve_from(problem.as_ref(), start) else { continue };
            solved += usize::from(outcome.solved().is_some());
            let wrong = check(problem.as_ref(), &outcome);
            assert_eq!(wrong, None, "{name}, seed {seed}, start {start:?}: {problem:?} gave {outcome:?}");
        }
    }
    assert!(solved > 0, "{name} solved none");
}

/// w is ∞ − ∞ at an upper bound, where no sign of it is wrong; and all of w is lost to underflow.
#[test]
fn a_row_outside_of_the_range_is_not_certified() {
    let m = Matrix::from_rows(&[[1e308, -1e308], [0.0, 1.0]]).unwrap();
    let problem = BoxLcp::new(m, vec![0.0, -20.0], vec![0.0; 2], vec![10.0; 2]).unwrap();
    assert!(!certify((&problem).into(), &[10.0; 2], &mut [0.0; 2]).holds(1e-10));
    let problem = Lcp::new(Matrix::from_rows(&[[-1e-200]]).unwrap(), vec![0.0]).unwrap();
    assert!(!certify((&problem).into(), &[1e-200], &mut [0.0]).holds(1e-10));
}

macro_rules! every_solver {
    ($($test:ident: $name:literal),*) => {
        $(#[test]
        fn $test() {
            run($name);
        })*

        #[test]
        fn none_is_left_out() {
            assert!(CATALOG.iter().map(|entry| entry.name).eq([$($name),*]));
        }
    };
}

every_solver! {
    auto: "auto", lemke: "lemke", principal_pivot: "principal-pivot", modified_ppm: "modified-ppm", nnls: "nnls",
    dantzig: "dantzig", interior_point: "interior-point", feasible_interior_point: "feasible-interior-point",
    projected_gauss_seidel: "projected-gauss-seidel", enumerate: "enumerate"
}
