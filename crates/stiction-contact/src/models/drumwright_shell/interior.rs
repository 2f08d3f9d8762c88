//! The conic program as clarabel takes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use stiction_lcp::interrupt;

use super::conic::{Conic, Set};

/// Order of a system from which on one iteration can take longer than a caller who wants the end
/// should wait.
const INTERRUPTIBLE_ORDER: usize = 500;

/// Between two looks whether the caller wants the end.
const INTERRUPTION_INTERVAL: Duration = Duration::from_millis(5);

/// How clarabel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With impulses, as good as it could.
    Impulses,
    /// With multipliers that prove that no motion satisfies the rows.
    Infeasible,
    /// With nothing of use.
    Nothing,
}

/// What clarabel gives.
struct Answer {
    multipliers: Vec<f64>,
    status: SolverStatus,
    iterations: usize,
}

/// Solves `min ½‖x‖² − x_freeᵀ x + Σ (hi u⁻ − lo u⁺)` subject to `Gᵀ x + bias` in the dual sets, with `u⁺ − u⁻` the motion of bounded rows, and
/// writes the multipliers, which are the impulses, to `p`. Returns how it ended and the iterations.
pub(super) fn solve(conic: &Conic, most: u32, tolerance: f64, p: &mut Vec<f64>) -> (End, usize) {
    p.clear();
    p.resize(conic.rows(), 0.0);
    let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
    if conic.g.as_slice().is_empty() || !finite(conic.g.as_slice()) || !finite(&conic.bias) || !finite(&conic.x_free) {
        return (End::Nothing, 0);
    }
    let program = Arc::new(Program::new(conic, tolerance));
    let answer = if interrupt::is_active() && program.order() > INTERRUPTIBLE_ORDER {
        solve_aside(program.clone(), most)
    } else {
        let look = || {
            interrupt::check();
            false
        };
        program.solve(most, look)
    };
    let Some(Answer { multipliers, status, iterations }) = answer else { return (End::Nothing, 0) };
    if multipliers.iter().any(|z| !z.is_finite()) {
        return (End::Nothing, iterations);
    }
    for (row, (&at, &factor)) in program.at.iter().zip(&program.factor).enumerate() {
        p[row] = if at == usize::MAX { 0.0 } else { multipliers[at] * factor };
    }
    let end = match status {
        SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => End::Infeasible,
        _ => End::Impulses,
    };
    (end, iterations)
}

/// Solves the program in a thread of its own, so that a caller who wants the end need not wait for a
/// factorization: the thread ends with the iteration it is at.
fn solve_aside(program: Arc<Program>, most: u32) -> Option<Answer> {
    let ends = EndOnDrop::default();
    let (ended, (sender, receiver)) = (ends.0.clone(), mpsc::channel());
    thread::spawn(move || {
        // Nobody receives if the caller has left.
        let _ = sender.send(program.solve(most, move || ended.load(Ordering::Relaxed)));
    });
    loop {
        interrupt::check();
        match receiver.recv_timeout(INTERRUPTION_INTERVAL) {
            Err(RecvTimeoutError::Timeout) => {}
            answer => return answer.ok()?,
        }
    }
}

/// Says that the work is to end when its caller has left.
#[derive(Default)]
struct EndOnDrop(Arc<AtomicBool>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `min ½ yᵀ P y + linearᵀ y`, `A y + s = bias`, s in the cones.
struct Program {
    /// Of residuals and gap.
    tolerance: f64,
    objective: CscMatrix<f64>,
    linear: Vec<f64>,
    rows: CscMatrix<f64>,
    bias: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    /// Where each row of the conic program went, and what its multiplier must be multiplied by.
    at: Vec<usize>,
    factor: Vec<f64>,
}

impl Program {
    /// Unknowns and rows: the order of the systems that clarabel factors.
    fn order(&self) -> usize {
        self.linear.len() + self.bias.len()
    }

    /// Runs clarabel until it ends or `ends`, which it asks once per iteration.
    fn solve(&self, most: u32, ends: impl Fn() -> bool + Send + Sync + 'static) -> Option<Answer> {
        let settings = DefaultSettings {
            verbose: false,
            max_iter: most,
            max_threads: 1,
            direct_solve_method: "qdldl".into(),
            tol_gap_abs: self.tolerance,
            tol_gap_rel: self.tolerance,
            tol_feas: self.tolerance,
            ..Default::default()
        };
        let Self { objective, linear, rows, bias, cones, .. } = self;
        let mut solver = DefaultSolver::new(objective, linear, rows, bias, cones, settings).ok()?;
        solver.set_termination_callback(move |_: &_| ends());
        solver.solve();
        let solution = solver.solution;
        Some(Answer { multipliers: solution.z, status: solution.status, iterations: solution.iterations as usize })
    }

    fn new(conic: &Conic, tolerance: f64) -> Self {
        let m = conic.x_free.len();
        let mut out = Self {
            tolerance,
            objective: CscMatrix::zeros((0, 0)),
            linear: conic.x_free.iter().map(|x| -x).collect(),
            rows: CscMatrix::zeros((0, 0)),
            bias: vec![],
            cones: vec![],
            at: vec![usize::MAX; conic.rows()],
            factor: vec![1.0; conic.rows()],
        };
        let mut slack = Triplets::default();
        out.place(conic, &mut slack);
        out.bound(&mut slack);
        let columns = m + slack.columns;
        let (mut i, mut j, mut v) = (slack.i, slack.j.iter().map(|j| j + m).collect::<Vec<_>>(), slack.v);
        for (row, (&at, factor)) in out.at.iter().zip(&out.factor).enumerate() {
            for (k, g) in conic.g.col(row).iter().enumerate().filter(|(_, g)| **g != 0.0) {
                i.push(at);
                j.push(k);
                v.push(-g * factor);
            }
        }
        out.rows = CscMatrix::new_from_triplets(out.bias.len(), columns, i, j, v);
        let diagonal: Vec<usize> = (0..m).collect();
        out.objective = CscMatrix::new_from_triplets(columns, columns, diagonal.clone(), diagonal, vec![1.0; m]);
        out
    }

    /// Rows in the order equalities, inequalities, cones.
    fn place(&mut self, conic: &Conic, slack: &mut Triplets) {
        let blocks = || conic.blocks.iter();
        for b in blocks() {
            match b.set {
                Set::Line => self.put(conic, b.first, 1.0),
                // Where friction has no bound, nothing slips.
                Set::Cone { cos: 0.0, .. } => (1..3).for_each(|k| self.put(conic, b.first + k, 1.0)),
                Set::Interval { lo, hi } => {
                    for (bound, sign) in [(lo, 1.0), (hi, -1.0)] {
                        if bound.is_finite() {
                            slack.push(self.bias.len(), slack.columns, sign);
                            slack.columns += 1;
                            self.linear.push(-sign * bound);
                        }
                    }
                    self.put(conic, b.first, 1.0);
                }
                _ => {}
            }
        }
        self.close(SupportedConeT::ZeroConeT, 0);
        let first = self.bias.len();
        for b in blocks().filter(|b| matches!(b.set, Set::Ray | Set::Cone { cos: 0.0, .. })) {
            self.put(conic, b.first, 1.0);
        }
        self.close(SupportedConeT::NonnegativeConeT, first);
        for b in blocks() {
            if let Set::Cone { cos, sin } = b.set
                && cos != 0.0
            {
                let first = self.bias.len();
                self.put(conic, b.first, cos);
                (1..3).for_each(|k| self.put(conic, b.first + k, sin));
                self.close(SupportedConeT::SecondOrderConeT, first);
            }
        }
    }

    /// u⁺ ≥ 0 and u⁻ ≥ 0.
    fn bound(&mut self, slack: &mut Triplets) {
        let first = self.bias.len();
        for column in 0..slack.columns {
            slack.push(self.bias.len(), column, -1.0);
            self.bias.push(0.0);
        }
        self.close(SupportedConeT::NonnegativeConeT, first);
    }

    /// The next row is `factor` times that of the conic program.
    fn put(&mut self, conic: &Conic, row: usize, factor: f64) {
        self.at[row] = self.bias.len();
        self.factor[row] = factor;
        self.bias.push(factor * conic.bias[row]);
    }

    /// The rows from `first` on are in a cone of this kind.
    fn close(&mut self, cone: impl Fn(usize) -> SupportedConeT<f64>, first: usize) {
        if self.bias.len() > first {
            self.cones.push(cone(self.bias.len() - first));
        }
    }
}

/// Entries of the columns of u⁺ and u⁻.
#[derive(Default)]
struct Triplets {
    columns: usize,
    i: Vec<usize>,
    j: Vec<usize>,
    v: Vec<f64>,
}

impl Triplets {
    fn push(&mut self, i: usize, j: usize, v: f64) {
        self.i.push(i);
        self.j.push(j);
        self.v.push(v);
    }
}
