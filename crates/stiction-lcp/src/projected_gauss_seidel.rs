//! Projected Gauss–Seidel with over-relaxation: the method most simulators use, kept for comparison.
//!
//! Row after row, `zᵢ ← clip(zᵢ − ω wᵢ / Mᵢᵢ, loᵢ, hiᵢ)` with w brought up to date at once. Every diagonal entry must
//! be positive. It converges for symmetric positive definite M and 0 < ω < 2 and for diagonally dominant M, slowly
//! where M is badly conditioned, and to a solution only in the limit: what comes back is `Solved` if the certificate
//! holds, and otherwise says how far it got.
//!
//! A sweep takes O(n²), and O(m n) for a factored problem, whose matrix is not formed: `v = G z` is carried along and
//! `wᵢ = eᵢ + gᵢᵀ v`. It is not the Jacobi iteration, nor sequential impulses with warm starts and a bias.
//!
//! Reference: [CPS09, §5.2] (projected successive over-relaxation).

use crate::basis::{Basis, Position};
use crate::certificate::{Certificate, certify_to};
use crate::error::InputError;
use crate::finish::Finish;
use crate::matrix::{Matrix, axpy, dot};
use crate::outcome::{Outcome, Solved, Stats, StopReason, Stopped, TraceLine};
use crate::problem::ProblemRef;
use crate::solver::{Options, Solver};
use crate::work;

/// Sweeps allowed unless `max_pivots` says otherwise.
pub(crate) const SWEEPS: usize = 10_000;

/// Sweeps between two looks at the certificate, which costs a few of them.
const BLOCK: usize = 10;

/// The solver. See the [module](self).
#[derive(Debug, Clone)]
pub struct ProjectedGaussSeidel {
    options: Options,
    relaxation: f64,
    finish: Finish,
    /// The iterate, n.
    z: Vec<f64>,
    /// The iterate with the smallest certificate, n.
    best: Vec<f64>,
    /// Diagonal of M, n.
    diagonal: Vec<f64>,
    /// `M z + q`, n; for a factored problem `G z`, m.
    carried: Vec<f64>,
    /// w of the certificate, n.
    w: Vec<f64>,
}

impl ProjectedGaussSeidel {
    /// A solver with these options and no over-relaxation; `max_pivots` counts sweeps, 10,000 by default.
    pub fn new(options: Options) -> Self {
        let (z, best, diagonal, carried, w) = Default::default();
        Self { options, relaxation: 1.0, finish: Finish::default(), z, best, diagonal, carried, w }
    }

    /// The same solver with the factor ω of over-relaxation, in (0, 2); 1 is none.
    pub fn with_relaxation(mut self, omega: f64) -> Self {
        self.relaxation = omega;
        self
    }

    fn check_options(&self) -> Result<(), InputError> {
        self.options.check()?;
        if self.relaxation > 0.0 && self.relaxation < 2.0 {
            return Ok(());
        }
        let reason = format!("must be above 0 and below 2, found {}", self.relaxation);
        Err(InputError::Option { name: "relaxation", reason })
    }

    /// z = 0 or the bound next to it; or the solution of the start basis, if it has one.
    fn start(&mut self, problem: ProblemRef<'_>, basis: Option<&Basis>) {
        let n = problem.n();
        self.z.clear();
        match basis.and_then(|basis| self.finish.solution(problem, basis, &self.options)) {
            Some(z) => self.z.extend_from_slice(&z),
            None => self.z.extend((0..n).map(|i| {
                let (lo, hi) = problem.bound(i);
                0.0f64.clamp(lo, hi)
            })),
        }
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|i| problem.entry(i, i)));
        self.best.clear();
        self.best.extend_from_slice(&self.z);
        self.w.clear();
        self.w.resize(n, 0.0);
    }

    /// Computes what the sweeps carry along from z alone, so that its rounding does not add up.
    fn refresh(&mut self, problem: ProblemRef<'_>) {
        match problem {
            ProblemRef::Factored(p) => {
                self.carried.resize(p.g().rows(), 0.0);
                p.g().mul_into(&self.z, &mut self.carried);
            }
            ProblemRef::Lcp(p) => self.refresh_dense(p.m(), p.q()),
            ProblemRef::Mlcp(p) => self.refresh_dense(p.m(), p.q()),
            ProblemRef::Box(p) => self.refresh_dense(p.m(), p.q()),
        }
    }

    fn refresh_dense(&mut self, m: &Matrix, q: &[f64]) {
        self.carried.resize(q.len(), 0.0);
        m.mul_into(&self.z, &mut self.carried);
        axpy(1.0, q, &mut self.carried);
    }

    /// One sweep over all rows.
    fn sweep(&mut self, problem: ProblemRef<'_>) {
        match problem {
            ProblemRef::Factored(p) => {
                let (g, e) = (p.g(), p.e());
                self.sweep_with(problem, |i, carried| e[i] + dot(g.col(i), carried), |i| g.col(i));
            }
            ProblemRef::Lcp(p) => self.sweep_with(problem, |i, carried| carried[i], |i| p.m().col(i)),
            ProblemRef::Mlcp(p) => self.sweep_with(problem, |i, carried| carried[i], |i| p.m().col(i)),
            ProblemRef::Box(p) => self.sweep_with(problem, |i, carried| carried[i], |i| p.m().col(i)),
        }
    }

    /// The sweep, with wᵢ from what is carried and the column by which a change of zᵢ changes it.
    fn sweep_with<'p>(
        &mut self,
        problem: ProblemRef<'p>,
        w: impl Fn(usize, &[f64]) -> f64,
        column: impl Fn(usize) -> &'p [f64],
    ) {
        for i in 0..self.z.len() {
            let (lo, hi) = problem.bound(i);
            let old = self.z[i];
            let new = (old - self.relaxation * w(i, &self.carried) / self.diagonal[i]).max(lo).min(hi);
            if new != old {
                self.z[i] = new;
                axpy(new - old, column(i), &mut self.carried);
            }
        }
    }

    /// Sweeps until the certificate holds, the limit is reached, or z is lost.
    fn iterate(&mut self, problem: ProblemRef<'_>, stats: &mut Stats) -> (Certificate, Option<StopReason>) {
        let limit = self.options.max_pivots.unwrap_or(SWEEPS);
        let mut best = certify_to(problem, &self.z, &mut self.w, self.options.tolerance);
        while !best.holds(self.options.tolerance) {
            if stats.iterations >= limit {
                return (best, Some(StopReason::Limit(limit)));
            }
            let allowed = self.options.flops_allowed(problem.n());
            if stats.flops > allowed {
                return (best, Some(StopReason::Budget(allowed)));
            }
            self.refresh(problem);
            let sweeps = BLOCK.min(limit - stats.iterations);
            for _ in 0..sweeps {
                crate::interrupt::check();
                self.sweep(problem);
            }
            stats.iterations += sweeps;
            let rows = match problem {
                ProblemRef::Factored(p) => 2 * p.g().rows(),
                _ => problem.n(),
            };
            stats.flops += (sweeps as u64 + 2) * work::product(rows, problem.n());
            let certificate = certify_to(problem, &self.z, &mut self.w, self.options.tolerance);
            if self.options.trace {
                stats.trace.push(TraceLine { entering: None, leaving: None, measure: certificate.worst() });
            }
            if !self.z.iter().all(|z| z.is_finite()) {
                return (best, Some(StopReason::Numerical("the iteration diverges".into())));
            }
            if certificate.worst() < best.worst() {
                best = certificate;
                self.best.copy_from_slice(&self.z);
            }
        }
        (best, None)
    }

    fn stopped(&mut self, problem: ProblemRef<'_>, why: StopReason, stats: Stats) -> Outcome {
        let certificate = certify_to(problem, &self.best, &mut self.w, self.options.tolerance);
        Outcome::Stopped(Stopped { why, z: self.best.clone(), certificate, stats })
    }
}

/// The basis that z stands for: basic where zᵢ is strictly between its bounds or free.
fn basis_of(problem: ProblemRef<'_>, z: &[f64]) -> Basis {
    let position = |(i, &z): (usize, &f64)| match problem.bound(i) {
        (lo, _) if z == lo => Position::Lower,
        (_, hi) if z == hi => Position::Upper,
        _ => Position::Basic,
    };
    Basis::new(z.iter().enumerate().map(position).collect())
}

impl Solver for ProjectedGaussSeidel {
    fn name(&self) -> &'static str {
        "projected-gauss-seidel"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        self.check_options()?;
        if let Some(basis) = start {
            basis.check_len(problem.n())?;
        }
        self.start(problem, start);
        let mut stats = Stats::default();
        if let Some(row) = self.diagonal.iter().position(|d| *d <= 0.0) {
            let why = format!("row {row} has {} on the diagonal, which must be positive", self.diagonal[row]);
            return Ok(self.stopped(problem, StopReason::NotApplicable(why), stats));
        }
        let (certificate, why) = self.iterate(problem, &mut stats);
        if let Some(why) = why {
            return Ok(self.stopped(problem, why, stats));
        }
        let (z, w, basis) = (self.z.clone(), self.w.clone(), basis_of(problem, &self.z));
        Ok(Outcome::Solved(Solved::new(z, w, basis, certificate, &self.options, stats)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;
    use crate::problem::{BoxLcp, FactoredLcp, Lcp, Mlcp};

    fn definite(rng: &mut Rng, n: usize) -> Matrix {
        let g = Matrix::from_fn(2 * n, n, |_, _| rng.normal());
        Matrix::from_fn(n, n, |i, j| dot(g.col(i.min(j)), g.col(i.max(j))))
    }

    fn vector(rng: &mut Rng, n: usize) -> Vec<f64> {
        (0..n).map(|_| rng.normal()).collect()
    }

    fn assert_solved<'p>(problem: impl Into<ProblemRef<'p>>) -> Stats {
        let problem = problem.into();
        let mut solver = ProjectedGaussSeidel::new(Options::default());
        let outcome = solver.solve(problem).unwrap();
        let solved = outcome.solved().unwrap_or_else(|| panic!("{outcome:?}"));
        let again = solver.solve_from(problem, Some(&solved.basis)).unwrap();
        assert_eq!(again.solved().unwrap().stats.iterations, 0);
        solved.stats.clone()
    }

    #[test]
    fn solves_definite_problems_of_every_kind() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let n = seed as usize % 30;
            let (m, q) = (definite(&mut rng, n), vector(&mut rng, n));
            assert_solved(&Lcp::new(m.clone(), q.clone()).unwrap());
            let free = (0..n).map(|i| i % 3 == 0).collect();
            assert_solved(&Mlcp::new(m.clone(), q.clone(), free).unwrap());
            let lo = (0..n).map(|i| if i % 4 == 0 { f64::NEG_INFINITY } else { -0.01 }).collect();
            assert_solved(&BoxLcp::new(m, q, lo, vec![0.02; n]).unwrap());
        }
    }

    #[test]
    fn factored_sweeps_give_what_dense_ones_give() {
        let mut rng = Rng::new(7);
        let g = Matrix::from_fn(40, 20, |_, _| rng.normal());
        let factored = FactoredLcp::least_squares(g, vector(&mut rng, 40)).unwrap();
        let sweeps = assert_solved(&factored).iterations;
        assert_eq!(assert_solved(&factored.to_dense()).iterations, sweeps);
    }

    #[test]
    fn says_how_far_it_got() {
        let mut rng = Rng::new(3);
        let lcp = Lcp::new(definite(&mut rng, 20), vec![-1.0; 20]).unwrap();
        let options = Options { max_pivots: Some(13), trace: true, tolerance: 1e-14, ..Options::default() };
        let outcome = ProjectedGaussSeidel::new(options).solve(&lcp).unwrap();
        let Outcome::Stopped(stopped) = outcome else { panic!("{outcome:?}") };
        assert_eq!((stopped.why, stopped.stats.iterations), (StopReason::Limit(13), 13));
        assert_eq!(stopped.stats.trace.len(), 2);
        assert!(stopped.certificate.worst() > 1e-14 && stopped.certificate.worst() < 1e-2);
    }

    #[test]
    fn names_the_row_without_a_diagonal() {
        let m = Matrix::from_rows(&[[1.0, 0.0], [0.0, 0.0]]).unwrap();
        let outcome = ProjectedGaussSeidel::new(Options::default()).solve(&Lcp::new(m, vec![1.0; 2]).unwrap()).unwrap();
        let Outcome::Stopped(stopped) = outcome else { panic!("{outcome:?}") };
        assert!(matches!(&stopped.why, StopReason::NotApplicable(why) if why.contains("row 1")), "{}", stopped.why);
    }

    #[test]
    fn over_relaxation_is_checked_and_helps_chains() {
        let n = 30;
        let m = Matrix::from_fn(n, n, |i, j| [2.0, -1.0, 0.0][i.abs_diff(j).min(2)]);
        let lcp = Lcp::new(m, vec![-1.0; n]).unwrap();
        let sweeps = |omega: f64| {
            let mut solver = ProjectedGaussSeidel::new(Options::default()).with_relaxation(omega);
            solver.solve(&lcp).map(|o| o.solved().expect("a chain").stats.iterations)
        };
        assert!(4 * sweeps(1.8).unwrap() < sweeps(1.0).unwrap());
        assert!(matches!(sweeps(2.0), Err(InputError::Option { name: "relaxation", .. })));
        assert!(matches!(sweeps(f64::NAN), Err(InputError::Option { .. })));
    }

    #[test]
    fn divergence_ends_it() {
        let m = Matrix::from_rows(&[[1.0, 9.0], [9.0, 1.0]]).unwrap();
        let mlcp = Mlcp::new(m, vec![1.0, -2.0], vec![true, true]).unwrap();
        let outcome = ProjectedGaussSeidel::new(Options::default()).solve(&mlcp).unwrap();
        let Outcome::Stopped(stopped) = outcome else { panic!("{outcome:?}") };
        assert!(matches!(stopped.why, StopReason::Numerical(_)), "{}", stopped.why);
        assert!(stopped.z.iter().all(|z| z.is_finite()));
    }
}
