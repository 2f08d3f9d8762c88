//! Branching over the pairs of a problem that no path reaches: matrices of no class, singular ones.
//!
//! A node has some pairs decided, zᵢ = 0 or wᵢ = 0. Without complementarity of the others its points z ≥ 0, M z + q ≥ 0 are those
//! of a linear program, and complementarity is a bilinear function of them: minimize zᵀw by linear programs in turn, each with
//! the gradient at the last point (the separable bilinear program of [Mangasarian95]). Where that does not end at 0, a path of
//! Lemke's method is tried from its point, and the pair that is least complementary is branched on. Nothing is proven here: a
//! tree without a solution leaves the question open.

use crate::basis::Basis;
use crate::error::InputError;
use crate::finish::{Finish, outcome_of, stopped_at};
use crate::lemke::Lemke;
use crate::matrix::{Matrix, dot};
use crate::outcome::{Outcome, Stats, StopReason};
use crate::problem::{Lcp, ProblemRef};
use crate::solver::{Options, Solver};
use crate::tolerances;
use stiction_linalg::equilibration::Equilibration;
use stiction_linalg::power::times_power;

/// Nodes of the tree at most.
const MOST_NODES: usize = 300;
/// Linear programs in turn at a node.
const DESCENTS: usize = 4;

tolerances! {
    /// Tolerances of the search, for data scaled to 1.
    Tolerances {
        /// Rows of the linear programs hold up to this: what rounding makes of a problem that has a solution. Ten times less, and thin
        /// feasible sets come out empty; ten times more, and points are off by as much, which the certificate sees.
        row_slack = 1e-13,
        /// A pair whose product is below this is complementary: a point is then tried as a solution. More only tries points that fail;
        /// less asks for more than `row_slack` leaves.
        complementary = 1e-12,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    Open,
    ZeroZ,
    ZeroW,
}

/// A point of a node's relaxation, scaled.
struct Point {
    z: Vec<f64>,
    w: Vec<f64>,
}

/// A search of one problem.
pub(crate) struct Branch<'a> {
    lcp: &'a Lcp,
    options: Options,
    scales: Equilibration,
    m: Matrix,
    q: Vec<f64>,
    finish: Finish,
    stats: Stats,
}

impl<'a> Branch<'a> {
    /// A search of `lcp`, which ends at the options' number of floating-point operations.
    pub(crate) fn new(lcp: &'a Lcp, options: Options) -> Self {
        let (n, mut scales) = (lcp.n(), Equilibration::default());
        scales.fit(lcp.m(), lcp.q(), false);
        let (mut m, mut q) = (Matrix::zeros(n, n), vec![0.0; n]);
        (0..n).for_each(|j| scales.apply_to_column(j, lcp.m().col(j), m.col_mut(j)));
        scales.apply_to_column(n, lcp.q(), &mut q);
        Self { lcp, options, scales, m, q, finish: Finish::default(), stats: Stats::default() }
    }

    /// Depth first, the branch that is nearer to complementary before the other.
    ///
    /// # Errors
    /// None: the linear programs are made of the problem's own numbers.
    pub(crate) fn solve(mut self) -> Result<Outcome, InputError> {
        let mut stack = vec![vec![Pair::Open; self.q.len()]];
        let mut why = StopReason::NotApplicable("no branch has a solution that was found".into());
        while let Some(node) = stack.pop() {
            crate::interrupt::check();
            self.stats.iterations += 1;
            if self.stats.iterations > MOST_NODES {
                why = StopReason::Limit(MOST_NODES);
                break;
            }
            if self.stats.flops > self.options.flops_allowed(self.q.len()) {
                why = StopReason::Budget(self.options.flops_allowed(self.q.len()));
                break;
            }
            let Some(point) = self.descend(&node)? else { continue };
            if let Some(solved) = self.look_at(&point)? {
                return Ok(solved);
            }
            let product = |i: usize| point.z[i] * point.w[i];
            let open = (0..node.len()).filter(|i| node[*i] == Pair::Open);
            let Some(i) = open.reduce(|best, i| if product(i) > product(best) { i } else { best }) else { continue };
            let order = match point.z[i] < point.w[i] {
                true => [Pair::ZeroW, Pair::ZeroZ],
                false => [Pair::ZeroZ, Pair::ZeroW],
            };
            for decided in order {
                let mut child = node.clone();
                child[i] = decided;
                stack.push(child);
            }
        }
        let zero = vec![0.0; self.q.len()];
        Ok(Outcome::Stopped(stopped_at(self.lcp.into(), zero, why, self.stats)))
    }

    /// A point of the node where zᵀw does not fall any more; `None` if it has none.
    fn descend(&mut self, node: &[Pair]) -> Result<Option<Point>, InputError> {
        let n = node.len();
        let ones = Point { z: vec![1.0; n], w: vec![1.0; n] };
        let Some(mut point) = self.relax(node, &ones)? else { return Ok(None) };
        for _ in 0..DESCENTS {
            let before = dot(&point.z, &point.w);
            if before <= self.options.tolerances.branch.complementary {
                break;
            }
            match self.relax(node, &point)? {
                Some(next) if dot(&next.z, &next.w) < 0.99 * before => point = next,
                _ => break,
            }
        }
        Ok(Some(point))
    }

    /// The point of the node that minimizes `at.zᵀ w + at.wᵀ z`; `None` if there is none.
    fn relax(&mut self, node: &[Pair], at: &Point) -> Result<Option<Point>, InputError> {
        let n = node.len();
        let columns: Vec<usize> = (0..n).filter(|j| node[*j] != Pair::ZeroZ).collect();
        let held: Vec<usize> = (0..n).filter(|i| node[*i] == Pair::ZeroW).collect();
        let (k, rows) = (columns.len(), n + held.len());
        // M_i z + q_i ≥ 0, and ≤ 0 too where w_i = 0.
        let row = |i: usize| if i < n { (i, 1.0) } else { (held[i - n], -1.0) };
        let program = Matrix::from_fn(k + rows, k + rows, |i, j| match (i < k, j < k) {
            (false, true) => row(i - k).1 * self.m[(row(i - k).0, columns[j])],
            (true, false) => -row(j - k).1 * self.m[(row(j - k).0, columns[i])],
            _ => 0.0,
        });
        let cost = columns.iter().map(|&j| at.w[j] + dot(&at.z, self.m.col(j)));
        let constant = (0..rows).map(|i| row(i).1 * self.q[row(i).0] + self.options.tolerances.branch.row_slack);
        let program = Lcp::new(program, cost.chain(constant).collect())?;
        let outcome = Lemke::new(self.lemke_options()).with_restarts(0).solve(&program)?;
        self.stats.pivots += outcome.stats().pivots;
        self.stats.flops += outcome.stats().flops;
        let Some(solved) = outcome.solved() else { return Ok(None) };
        let mut z = vec![0.0; n];
        columns.iter().zip(&solved.z).for_each(|(j, x)| z[*j] = *x);
        let mut w = vec![0.0; n];
        self.m.mul_into(&z, &mut w);
        w.iter_mut().zip(&self.q).zip(node).for_each(|((w, q), pair)| {
            *w = if *pair == Pair::ZeroW { 0.0 } else { (*w + q).max(0.0) };
        });
        Ok(Some(Point { z, w }))
    }

    fn lemke_options(&self) -> Options {
        let left = self.options.flops_allowed(self.q.len()).saturating_sub(self.stats.flops);
        Options { max_flops: Some(left), trace: false, ..self.options.clone() }
    }

    /// The solution that a point is, or that a path from it leads to.
    fn look_at(&mut self, point: &Point) -> Result<Option<Outcome>, InputError> {
        let (n, problem) = (self.q.len(), ProblemRef::Lcp(self.lcp));
        let active = |i: &usize| point.z[*i] > point.w[*i];
        let basis = Basis::from_active(n, (0..n).filter(active));
        if dot(&point.z, &point.w) <= self.options.tolerances.branch.complementary {
            let by_basis = self.finish.outcome(problem, basis.clone(), &self.options, self.stats.clone());
            if by_basis.solved().is_some() {
                return Ok(Some(by_basis));
            }
            // The basis may be singular, and z one of many.
            let unit = -self.scales.column[n];
            let value = |i: usize| times_power(point.z[i], self.scales.column[i] + unit);
            let z = (0..n).map(|i| if active(&i) { value(i) } else { 0.0 }).collect();
            let as_it_is = outcome_of(problem, z, basis.clone(), &self.options, self.stats.clone());
            if as_it_is.solved().is_some() {
                return Ok(Some(as_it_is));
            }
        }
        let mut outcome = Lemke::new(self.lemke_options()).with_restarts(0).solve_from(problem, Some(&basis))?;
        self.stats.pivots += outcome.stats().pivots;
        self.stats.flops += outcome.stats().flops;
        *outcome.stats_mut() = self.stats.clone();
        Ok(outcome.solved().is_some().then_some(outcome))
    }
}
