//! A problem made ready for the factored methods: columns of about unit length, bounds, and a vector u with e ≈ Gᵀ u.

use crate::matrix::{Matrix, dot, norm};
use crate::nnls::{Tolerances, cholesky};
use crate::problem::{FactoredLcp, ProblemRef};
use stiction_linalg::active_qr::ActiveQr;
use stiction_linalg::doubled::dot2;
use stiction_linalg::power::{exponent, times_power};

/// The problem in scaled columns: `ĝⱼ = gⱼ 2^−kⱼ`, `êⱼ = eⱼ 2^−kⱼ`, `ẑⱼ = zⱼ 2^kⱼ`. Powers of two scale without rounding.
///
/// Everything is stated for `w = Gᵀ(G z + u) − η` with `η = Gᵀ u − e`, which is the given problem for *any* u. If
/// e = Gᵀ u, η is what rounding left.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scaled {
    /// Ĝ, m × n; each column of length in [½, 1), or zero.
    pub g: Matrix,
    /// kⱼ, n.
    pub exponent: Vec<i32>,
    /// ‖ĝⱼ‖, n.
    pub length: Vec<f64>,
    /// ê, n.
    pub e: Vec<f64>,
    /// u, m; zero if none was given and e is not in the range of Gᵀ.
    pub u: Vec<f64>,
    /// ‖u‖.
    pub u_length: f64,
    /// η, n, scaled like ê.
    pub eta: Vec<f64>,
    /// Scaled bounds, n each.
    pub lo: Vec<f64>,
    /// Scaled upper bounds.
    pub hi: Vec<f64>,
    /// The dependence threshold that suits G.
    pub dependent: f64,
    rest: Vec<f64>,
    taken: Vec<bool>,
}

impl Scaled {
    /// Takes in a problem; `qr` is used as workspace. The error says why this is no problem for the factored methods.
    pub(crate) fn load(
        &mut self,
        problem: ProblemRef<'_>,
        qr: &mut ActiveQr,
        tolerances: &Tolerances,
    ) -> Result<(), String> {
        let n = problem.n();
        self.dependent = tolerances.dependent_after_cholesky;
        match problem {
            ProblemRef::Factored(p) => {
                self.dependent = tolerances.dependent;
                self.take_factor(p)
            }
            ProblemRef::Lcp(p) => cholesky::factor(p.m(), &mut self.g, &mut self.exponent, tolerances)?,
            ProblemRef::Mlcp(p) => cholesky::factor(p.m(), &mut self.g, &mut self.exponent, tolerances)?,
            ProblemRef::Box(p) => cholesky::factor(p.m(), &mut self.g, &mut self.exponent, tolerances)?,
        }
        if !matches!(problem, ProblemRef::Factored(_)) {
            self.length.clear();
            self.length.extend((0..n).map(|j| norm(self.g.col(j))));
        }
        self.e.clear();
        self.e.extend(problem.q().iter().zip(&self.exponent).map(|(e, k)| times_power(*e, -k)));
        self.lo.clear();
        self.hi.clear();
        for j in 0..n {
            let (lo, hi) = problem.bound(j);
            self.lo.push(times_power(lo, self.exponent[j]));
            self.hi.push(times_power(hi, self.exponent[j]));
        }
        let given = if let ProblemRef::Factored(p) = problem { p.u().or(p.near()) } else { None };
        match given {
            Some(u) => self.set_u(u),
            None => self.find_u(qr, tolerances.consistent),
        }
        Ok(())
    }

    /// Number of rows of G.
    pub(crate) fn m(&self) -> usize {
        self.g.rows()
    }

    /// Number of columns of G.
    pub(crate) fn n(&self) -> usize {
        self.g.cols()
    }

    fn take_factor(&mut self, p: &FactoredLcp) {
        self.g.copy_from(p.g());
        self.exponent.clear();
        self.length.clear();
        for j in 0..p.n() {
            let column = self.g.col_mut(j);
            let length = norm(column);
            let k = exponent(length);
            column.iter_mut().for_each(|x| *x = times_power(*x, -k));
            self.exponent.push(k);
            self.length.push(times_power(length, -k));
        }
    }

    fn set_u(&mut self, u: &[f64]) {
        self.u.clear();
        self.u.extend_from_slice(u);
        self.u_length = norm(u);
        self.eta.clear();
        for j in 0..self.n() {
            self.eta.push(dot2(-self.e[j], self.g.col(j), u));
        }
    }

    /// Solves Gᵀ u = e on a greedy set of independent columns, and keeps u if the other rows agree.
    fn find_u(&mut self, qr: &mut ActiveQr, consistent: f64) {
        self.choose_independent(qr);
        let mut u = std::mem::take(&mut self.u);
        u.clear();
        u.resize(self.m(), 0.0);
        let mut c: Vec<f64> = qr.columns().iter().map(|&j| self.e[j]).collect();
        qr.solve_rt(&mut c);
        qr.add_q(&c, &mut u);
        self.set_u(&u);
        let agrees = |j: usize| self.eta[j].abs() <= consistent * (self.e[j].abs() + self.length[j] * self.u_length);
        if !(0..self.n()).all(agrees) {
            u.fill(0.0);
            self.set_u(&u);
        }
        qr.clear();
    }

    /// QR with column pivoting: always the column with the largest rest, until none is left or all are dependent.
    fn choose_independent(&mut self, qr: &mut ActiveQr) {
        let n = self.n();
        qr.reset(self.m(), n, self.dependent);
        self.rest.clear();
        self.rest.extend((0..n).map(|j| dot(self.g.col(j), self.g.col(j))));
        self.taken.clear();
        self.taken.resize(n, false);
        for _ in 0..self.m().min(n) {
            let left = (0..n).filter(|j| !self.taken[*j] && self.rest[*j] > 0.0);
            let Some(best) = left.max_by(|a, b| self.rest[*a].total_cmp(&self.rest[*b])) else { return };
            self.taken[best] = true;
            if !qr.append(self.g.col(best), best) {
                return;
            }
            let q = qr.last_q();
            for j in 0..n {
                let c = dot(q, self.g.col(j));
                self.rest[j] -= c * c;
            }
        }
    }
}
