//! Decides what the solvers leave: a solution, or a proof that there is none within a bound, by branching over the pairs.
//!
//! A node has some pairs decided, zᵢ = 0 or wᵢ = 0. Without complementarity of the others its solutions, with every unknown at most a bound, are
//! those of a linear program. If that is infeasible, multipliers prove it; they come from an interior point method and are checked here, with
//! bounds on all rounding, so the proof does not depend on it. If it is feasible, Lemke's method is tried from its point, and the pair that is
//! least complementary there is branched on.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use stiction_lcp::{Basis, InputError, Lcp, Lemke, Matrix, Options, Position, Solver};

/// What became of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// It has a solution: Lemke's method found one, certified.
    Solved,
    /// It has none with every scaled unknown at most [`BOUND`].
    None { nodes: usize },
    /// The nodes allowed did not decide it.
    Undecided { nodes: usize },
}

/// Largest unknown, for data scaled to entries of about one.
pub(super) const BOUND: f64 = 1e6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pair {
    Open,
    ZeroZ,
    ZeroW,
}

/// Decides `lcp` part by part: unknowns that no entry of the matrix connects are independent. At most `limit` nodes in each; first few in every
/// part, because one without a solution is enough.
pub(super) fn decide(lcp: &Lcp, limit: usize) -> Result<Decision, InputError> {
    const FEW: usize = 50;
    let mut left: Vec<Lcp> = Vec::new();
    for rows in parts(lcp.m()) {
        let part = Lcp::new(
            Matrix::from_fn(rows.len(), rows.len(), |i, j| lcp.m()[(rows[i], rows[j])]),
            rows.iter().map(|&i| lcp.q()[i]).collect(),
        )?;
        if Lemke::new(Options::default()).solve(&part)?.solved().is_none() {
            left.push(part);
        }
    }
    let mut total = 0;
    for nodes in [FEW.min(limit), limit] {
        total = 0;
        let mut undecided = Vec::new();
        for part in left {
            match Tree::new(&part).search(nodes)? {
                Decision::Solved => {}
                none @ Decision::None { .. } => return Ok(none),
                Decision::Undecided { nodes } => {
                    total += nodes;
                    undecided.push(part);
                }
            }
        }
        left = undecided;
    }
    Ok(if left.is_empty() { Decision::Solved } else { Decision::Undecided { nodes: total } })
}

/// The connected parts of the matrix's graph.
fn parts(m: &Matrix) -> Vec<Vec<usize>> {
    let n = m.rows();
    let mut part = vec![usize::MAX; n];
    let mut all: Vec<Vec<usize>> = Vec::new();
    for root in 0..n {
        if part[root] != usize::MAX {
            continue;
        }
        let (mut stack, mut rows) = (vec![root], Vec::new());
        part[root] = all.len();
        while let Some(i) = stack.pop() {
            rows.push(i);
            for j in 0..n {
                if part[j] == usize::MAX && (m[(i, j)] != 0.0 || m[(j, i)] != 0.0) {
                    part[j] = all.len();
                    stack.push(j);
                }
            }
        }
        rows.sort_unstable();
        all.push(rows);
    }
    all
}

/// The exponent e of x = f · 2ᵉ with 1 ≤ f < 2, for x above 0.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

struct Tree<'a> {
    lcp: &'a Lcp,
    /// The same problem with rows and columns scaled by powers of two, and q by its largest entry.
    m: Matrix,
    q: Vec<f64>,
}

/// What the linear program of a node says.
enum Relaxed {
    Infeasible,
    Feasible { z: Vec<f64>, w: Vec<f64> },
    Unknown,
}

/// What looking ahead says of a node.
enum Probed {
    /// It has no point.
    Closed,
    /// Some of its pairs have only one branch.
    Fixed,
    /// This pair is to be branched on.
    Branch(usize),
    /// All its pairs are decided.
    Complete,
}

impl<'a> Tree<'a> {
    fn new(lcp: &'a Lcp) -> Self {
        let n = lcp.n();
        let mut m = lcp.m().clone();
        let mut q = lcp.q().to_vec();
        // 2 to minus half the exponent of x.
        let power = |x: f64| if x > 0.0 { 2.0_f64.powi(-(exponent(x) + 1).div_euclid(2)) } else { 1.0 };
        for _ in 0..6 {
            for i in 0..n {
                let r = power((0..n).fold(0.0, |a: f64, j| a.max(m[(i, j)].abs())));
                (0..n).for_each(|j| m[(i, j)] *= r);
                q[i] *= r;
            }
            for j in 0..n {
                let c = power((0..n).fold(0.0, |a: f64, i| a.max(m[(i, j)].abs())));
                (0..n).for_each(|i| m[(i, j)] *= c);
            }
        }
        let size = q.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        let unit = if size > 0.0 { 2.0_f64.powi(-exponent(size)) } else { 1.0 };
        q.iter_mut().for_each(|x| *x *= unit);
        Self { lcp, m, q }
    }

    fn search(&self, limit: usize) -> Result<Decision, InputError> {
        let mut stack = vec![vec![Pair::Open; self.q.len()]];
        let mut nodes = 0;
        while let Some(mut node) = stack.pop() {
            if nodes >= limit {
                return Ok(Decision::Undecided { nodes });
            }
            nodes += 1;
            let (z, w) = match self.relax(&node) {
                Relaxed::Infeasible => continue,
                Relaxed::Unknown => return Ok(Decision::Undecided { nodes }),
                Relaxed::Feasible { z, w } => (z, w),
            };
            if self.lemke_from(&node, &z, &w)? {
                return Ok(Decision::Solved);
            }
            match self.probe(&mut node, &z, &w, &mut nodes) {
                Probed::Closed => {}
                Probed::Fixed => stack.push(node),
                Probed::Branch(pair) => {
                    // The likelier one is looked at first, so it comes last.
                    let children = [Pair::ZeroZ, Pair::ZeroW];
                    for k in if z[pair] < w[pair] { [1, 0] } else { [0, 1] } {
                        let mut next = node.clone();
                        next[pair] = children[k];
                        stack.push(next);
                    }
                }
                Probed::Complete => return Ok(Decision::Undecided { nodes }),
            }
        }
        Ok(Decision::None { nodes })
    }

    /// Looks at both branches of the pairs that are least complementary at a point of the node. Those with an infeasible branch are fixed to the
    /// other.
    fn probe(&self, node: &mut [Pair], z: &[f64], w: &[f64], nodes: &mut usize) -> Probed {
        /// Pairs that are looked at.
        const PROBES: usize = 4;
        let violation = |i: usize| z[i].min(w[i]);
        let mut open: Vec<usize> = (0..z.len()).filter(|&i| node[i] == Pair::Open).collect();
        open.sort_by(|&i, &j| violation(j).total_cmp(&violation(i)));
        let Some(&worst) = open.first() else { return Probed::Complete };
        let mut fixed = false;
        for &pair in open.iter().take(PROBES) {
            let closed = [Pair::ZeroZ, Pair::ZeroW].map(|choice| {
                node[pair] = choice;
                *nodes += 1;
                matches!(self.relax(node), Relaxed::Infeasible)
            });
            node[pair] = match closed {
                [true, true] => return Probed::Closed,
                [true, false] => Pair::ZeroW,
                [false, true] => Pair::ZeroZ,
                [false, false] => Pair::Open,
            };
            fixed |= node[pair] != Pair::Open;
        }
        if fixed { Probed::Fixed } else { Probed::Branch(worst) }
    }

    /// Whether Lemke's method solves the problem from the basis next to a point.
    fn lemke_from(&self, node: &[Pair], z: &[f64], w: &[f64]) -> Result<bool, InputError> {
        let position = |i: usize| match node[i] {
            Pair::ZeroW => Position::Basic,
            Pair::Open if z[i] > w[i] => Position::Basic,
            _ => Position::Lower,
        };
        let basis = Basis::new((0..z.len()).map(position).collect());
        let mut lemke = Lemke::new(Options::default()).with_restarts(0);
        Ok(lemke.solve_from(self.lcp.into(), Some(&basis))?.solved().is_some())
    }

    /// `min Σ z + w` over the node: `M z + q ≥ 0`, with `= 0` where w is, 0 ≤ z ≤ BOUND, z = 0 where that is.
    fn relax(&self, node: &[Pair]) -> Relaxed {
        let n = node.len();
        let columns: Vec<usize> = (0..n).filter(|&j| node[j] != Pair::ZeroZ).collect();
        let (equal, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| node[i] == Pair::ZeroW);
        let rows: Vec<usize> = equal.iter().chain(&rest).copied().collect();
        let (mut at, mut to, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for (k, &j) in columns.iter().enumerate() {
            for (r, &i) in rows.iter().enumerate().filter(|(_, i)| self.m[(**i, j)] != 0.0) {
                at.push(r);
                to.push(k);
                entries.push(-self.m[(i, j)]);
            }
            for (r, sign) in [(n + k, -1.0), (n + columns.len() + k, 1.0)] {
                at.push(r);
                to.push(k);
                entries.push(sign);
            }
        }
        let mut b: Vec<f64> = rows.iter().map(|&i| self.q[i]).collect();
        b.resize(n + columns.len(), 0.0);
        b.resize(n + 2 * columns.len(), BOUND);
        let a = CscMatrix::new_from_triplets(b.len(), columns.len(), at, to, entries);
        let cost: Vec<f64> = columns.iter().map(|&j| 1.0 + (0..n).map(|i| self.m[(i, j)]).sum::<f64>()).collect();
        let zero = CscMatrix::zeros((columns.len(), columns.len()));
        let mut cones = Vec::new();
        if !equal.is_empty() {
            cones.push(SupportedConeT::ZeroConeT(equal.len()));
        }
        cones.push(SupportedConeT::NonnegativeConeT(b.len() - equal.len()));
        let settings = DefaultSettings { verbose: false, max_iter: 100, ..DefaultSettings::default() };
        let Ok(mut solver) = DefaultSolver::new(&zero, &cost, &a, &b, &cones, settings) else {
            return Relaxed::Unknown;
        };
        solver.solve();
        let mut y = vec![0.0; n];
        rows.iter().zip(&solver.solution.z).for_each(|(&i, x)| y[i] = *x);
        if self.excludes(node, &y) {
            return Relaxed::Infeasible;
        }
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => {
                let mut z = vec![0.0; n];
                columns.iter().zip(&solver.solution.x).for_each(|(&j, x)| z[j] = x.max(0.0));
                let mut w = vec![0.0; n];
                self.m.mul_into(&z, &mut w);
                w.iter_mut().zip(&self.q).for_each(|(w, q)| *w = (*w + q).max(0.0));
                Relaxed::Feasible { z, w }
            }
            _ => Relaxed::Unknown,
        }
    }

    /// Whether multipliers y prove that the node has no point: `yᵀ(M z + q) < 0` for all its z, although y ≥ 0 wherever w ≥ 0 is all that is asked.
    /// Every sum is bounded with its rounding.
    fn excludes(&self, node: &[Pair], y: &[f64]) -> bool {
        let n = node.len();
        let size = y.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        if !(size > 0.0 && size.is_finite()) {
            return false;
        }
        // Rounding of a sum of n products, and then some.
        let rounding = (n as f64 + 4.0) * 2.0 * f64::EPSILON;
        let y: Vec<f64> = (0..n).map(|i| if node[i] == Pair::ZeroW { y[i] } else { y[i].max(0.0) } / size).collect();
        let upper = |terms: &mut dyn Iterator<Item = f64>| {
            let (sum, size) = terms.fold((0.0, 0.0), |(s, t): (f64, f64), x| (s + x, t + x.abs()));
            sum + rounding * size
        };
        let mut most = upper(&mut y.iter().zip(&self.q).map(|(y, q)| y * q));
        for j in (0..n).filter(|&j| node[j] != Pair::ZeroZ) {
            most += BOUND * upper(&mut (0..n).map(|i| y[i] * self.m[(i, j)])).max(0.0);
        }
        most < -1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::generate::Rng;
    use stiction_lcp::{Enumerate, Outcome};

    #[test]
    fn decisions_agree_with_enumeration() {
        let mut found = [0; 2];
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let n = 2 + rng.below(5);
            let m = Matrix::from_fn(n, n, |_, _| if rng.chance(0.7) { rng.normal() } else { 0.0 });
            let lcp = Lcp::new(m, (0..n).map(|_| rng.normal() - 0.3).collect()).unwrap();
            let solvable = match Enumerate::new(Options::default()).solve(&lcp).unwrap() {
                Outcome::Solved(_) => true,
                Outcome::Unsolvable(_) => false,
                other => panic!("{seed}: {}", other.name()),
            };
            match decide(&lcp, 1000).unwrap() {
                Decision::Solved => assert!(solvable, "{seed}"),
                Decision::None { .. } => assert!(!solvable, "{seed}"),
                Decision::Undecided { nodes } => panic!("{seed}: undecided after {nodes}"),
            }
            found[usize::from(solvable)] += 1;
        }
        assert!(found[0] > 50 && found[1] > 50, "{found:?}");
    }

    #[test]
    fn parts_are_independent() {
        let m = Matrix::from_fn(4, 4, |i, j| if (i, j) == (0, 2) || (i, j) == (3, 1) || i == j { 1.0 } else { 0.0 });
        assert_eq!(parts(&m), [vec![0, 2], vec![1, 3]]);
    }
}
