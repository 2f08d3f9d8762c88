//! Frictionless contact as a quadratic program, for clarabel.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use stiction_lcp::Lcp;

/// `min ½ fᵀ A f + bᵀ f, f ≥ 0`, ready for clarabel.
///
/// Its optimality conditions are those of the contact forces. The paper's own form, `min fᵀ(A f + b)` with `A f + b ≥ 0` beside `f ≥ 0`, has
/// twice the rows,
/// half of them dense: clarabel gets the easier one.
///
/// Reference: [Baraff94, Eq. 5].
pub struct QuadraticProgram {
    objective: CscMatrix<f64>,
    linear: Vec<f64>,
    rows: CscMatrix<f64>,
    bias: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl QuadraticProgram {
    /// The program of a complementarity problem with a symmetric matrix.
    pub fn new(lcp: &Lcp) -> Self {
        let n = lcp.n();
        let mut objective = CscMatrix { m: n, n, colptr: vec![0], rowval: Vec::new(), nzval: Vec::new() };
        for j in 0..n {
            let entries = lcp.m().col(j)[..=j].iter().enumerate().filter(|(_, a)| **a != 0.0);
            for (i, a) in entries {
                objective.rowval.push(i);
                objective.nzval.push(*a);
            }
            objective.colptr.push(objective.rowval.len());
        }
        let rows = CscMatrix { m: n, n, colptr: (0..=n).collect(), rowval: (0..n).collect(), nzval: vec![-1.0; n] };
        let cones = vec![SupportedConeT::NonnegativeConeT(n)];
        Self { objective, linear: lcp.q().to_vec(), rows, bias: vec![0.0; n], cones }
    }

    /// The forces and the iterations, with clarabel's own settings but for its output; `None` if it does not solve the program.
    pub fn solve(&self) -> Option<(Vec<f64>, u32)> {
        let settings = DefaultSettings { verbose: false, max_threads: 1, ..Default::default() };
        let mut solver =
            DefaultSolver::new(&self.objective, &self.linear, &self.rows, &self.bias, &self.cones, settings).ok()?;
        solver.solve();
        let solved = matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
        solved.then(|| (std::mem::take(&mut solver.solution.x), solver.solution.iterations))
    }
}
