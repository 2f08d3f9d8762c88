//! The problem in the method's own units: `R M C`, `R q`, with R and C powers of two, so that nothing is rounded.

use crate::interrupt::check_at;
use crate::matrix::{Matrix, dot};
use crate::problem::ProblemRef;
use stiction_linalg::equilibration::rows_then_columns;
use stiction_linalg::lanes::dot_of_sizes;
use stiction_linalg::power::{exponent, times_power};

/// Two entries that mirror each other count as equal within this: the rounding of two orders of multiplication.
const MIRROR: f64 = 4.0 * f64::EPSILON;

/// No entry of a scaled matrix is larger, if it is positive semidefinite or not symmetric.
const LARGEST_ENTRY: f64 = 2.0;

/// A column that was not formed.
const NOWHERE: usize = usize::MAX;

/// A scaled copy. A symmetric matrix is scaled by `R = C` to a diagonal between ½ and 2; any other one so that the
/// largest entries of rows and columns are. Of a factored problem only the columns that are asked for are formed.
#[derive(Debug, Clone, Default)]
pub(super) struct Scaled {
    pub n: usize,
    pub symmetric: bool,
    pub q: Vec<f64>,
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    /// Some row has no bound at all.
    pub any_free: bool,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    columns: Vec<f64>,
    rows: Vec<f64>,
    /// Which of the held columns is column j.
    slot: Vec<usize>,
    /// The scaled G of a factored problem, m × n, and `G z` for the z of [`Scaled::refresh`].
    g: Option<Matrix>,
    gz: Vec<f64>,
}

impl Scaled {
    /// Copies and scales `problem`.
    pub(super) fn load(&mut self, problem: ProblemRef<'_>) {
        let n = problem.n();
        self.n = n;
        self.columns.clear();
        self.rows.clear();
        self.slot.clear();
        self.g = None;
        match problem {
            ProblemRef::Lcp(p) => self.load_dense(p.m()),
            ProblemRef::Mlcp(p) => self.load_dense(p.m()),
            ProblemRef::Box(p) => self.load_dense(p.m()),
            ProblemRef::Factored(p) => self.load_factored(p.g()),
        }
        self.q.clear();
        self.q.extend(problem.q().iter().zip(&self.row_scale).map(|(q, r)| q * r));
        self.lo.clear();
        self.hi.clear();
        for (i, c) in self.column_scale.iter().enumerate() {
            let (lo, hi) = problem.bound(i);
            let inverse = 1.0 / c;
            self.lo.push(lo * inverse);
            self.hi.push(hi * inverse);
        }
        self.any_free = (0..n).any(|i| self.is_free(i));
    }

    fn load_dense(&mut self, m: &Matrix) {
        let n = self.n;
        self.symmetric = is_nearly_symmetric(m);
        self.slot.extend(0..n);
        if self.symmetric {
            self.scale_by_diagonal(|i| m[(i, i)], |i| m.col(i).iter().fold(0.0, |a, x| f64::max(a, x.abs())));
        } else {
            self.equilibrate(m);
        }
        self.columns.extend_from_slice(m.as_slice());
        for (j, (column, c)) in self.columns.chunks_exact_mut(n.max(1)).zip(&self.column_scale).enumerate() {
            check_at(j);
            for (x, r) in column.iter_mut().zip(&self.row_scale) {
                *x *= r * c;
            }
        }
        if !self.symmetric {
            for i in 0..n {
                check_at(i);
                self.rows.extend((0..n).map(|j| self.columns[j * n + i]));
            }
        }
    }

    fn load_factored(&mut self, g: &Matrix) {
        let n = self.n;
        self.symmetric = true;
        self.slot.resize(n, NOWHERE);
        self.columns.reserve(n * n);
        self.scale_by_diagonal(|i| dot(g.col(i), g.col(i)), |_| 0.0);
        let mut scaled = g.clone();
        for (j, c) in self.column_scale.iter().enumerate() {
            scaled.col_mut(j).iter_mut().for_each(|x| *x *= c);
        }
        self.g = Some(scaled);
    }

    /// `R = C = diag(Mᵢᵢ)^(−½)` to the next power of two; `largest` of the row where the diagonal is not positive.
    fn scale_by_diagonal(&mut self, diagonal: impl Fn(usize) -> f64, largest: impl Fn(usize) -> f64) {
        self.row_scale.clear();
        for i in 0..self.n {
            let d = diagonal(i);
            let size = if d > 0.0 { d } else { largest(i) };
            self.row_scale.push(times_power(1.0, -(exponent(size) >> 1)));
        }
        self.column_scale.clear();
        self.column_scale.extend_from_slice(&self.row_scale);
    }

    /// Rows, then columns, to a largest entry between ½ and 1.
    fn equilibrate(&mut self, m: &Matrix) {
        let (mut row, mut column) = (Vec::new(), Vec::new());
        rows_then_columns(m, &mut row, &mut column);
        for (scale, exponents) in [(&mut self.row_scale, row), (&mut self.column_scale, column)] {
            scale.clear();
            scale.extend(exponents.iter().map(|e| times_power(1.0, (-e).clamp(-1000, 1000))));
        }
    }

    /// Adds `shift` to the diagonal of a matrix that is not symmetric, until the next [`Self::load`].
    pub(super) fn shift_diagonal(&mut self, shift: f64) {
        for i in 0..self.n.min(self.rows.len()) {
            self.columns[i * self.n + i] += shift;
            self.rows[i * self.n + i] += shift;
        }
    }

    /// Forms column `j` if it was not asked for before.
    #[inline]
    pub(super) fn form(&mut self, j: usize) {
        if self.slot[j] == NOWHERE {
            self.form_new(j);
        }
    }

    fn form_new(&mut self, j: usize) {
        if let Some(g) = &self.g {
            self.slot[j] = self.columns.len() / self.n;
            let gj = g.col(j);
            self.columns.extend((0..self.n).map(|i| dot(g.col(i), gj)));
        }
    }

    /// Column `j`, which must have been formed.
    #[inline]
    pub(super) fn column(&self, j: usize) -> &[f64] {
        let at = self.slot[j] * self.n;
        &self.columns[at..at + self.n]
    }

    /// Row `i`, which must have been formed.
    #[inline]
    pub(super) fn row(&self, i: usize) -> &[f64] {
        if self.symmetric { self.column(i) } else { &self.rows[i * self.n..(i + 1) * self.n] }
    }

    /// Makes ready for [`Self::w`] of rows that are not formed.
    pub(super) fn refresh(&mut self, z: &[f64]) {
        if let Some(g) = &self.g {
            self.gz.resize(g.rows(), 0.0);
            g.mul_into(z, &mut self.gz);
        }
    }

    /// `wᵢ = qᵢ + (M z)ᵢ`; for a row that is not formed with the z of the last [`Self::refresh`].
    #[inline]
    pub(super) fn w(&self, i: usize, z: &[f64]) -> f64 {
        if self.slot[i] != NOWHERE {
            return self.q[i] + dot(self.row(i), z);
        }
        self.q[i] + self.g.as_ref().map_or(0.0, |g| dot(g.col(i), &self.gz))
    }

    /// `ωᵢ = |qᵢ| + Σⱼ |Mᵢⱼ zⱼ|`, what the rounding of wᵢ is relative to. The row must have been formed.
    pub(super) fn size(&self, i: usize, z: &[f64]) -> f64 {
        self.q[i].abs() + dot_of_sizes(self.row(i), z)
    }

    /// Not less than [`Self::size`] for any z with `‖z‖₁ = z_sum`, at no cost, unless the matrix is symmetric and
    /// indefinite.
    pub(super) fn most(&self, i: usize, z_sum: f64) -> f64 {
        self.q[i].abs() + LARGEST_ENTRY * z_sum
    }

    /// True if `(M dz)ᵢ` is at most `noise` in units of the row's diagonal.
    pub(super) fn row_is_still(&self, i: usize, dz: &[f64], noise: f64) -> bool {
        let change = match &self.g {
            Some(g) if self.slot[i] == NOWHERE => (0..self.n).map(|j| dot(g.col(i), g.col(j)) * dz[j]).sum(),
            _ => dot(self.row(i), dz),
        };
        change.abs() <= noise
    }

    /// True if row `i` has no bound at all.
    pub(super) fn is_free(&self, i: usize) -> bool {
        self.lo[i] == f64::NEG_INFINITY && self.hi[i] == f64::INFINITY
    }

    /// The scaled `zᵢ` in the problem's own units.
    pub(super) fn unscaled(&self, i: usize, z: f64) -> f64 {
        z * self.column_scale[i]
    }
}

fn is_nearly_symmetric(m: &Matrix) -> bool {
    let equal = |a: f64, b: f64| a == b || (a - b).abs() <= MIRROR * a.abs().min(b.abs());
    let (n, data) = (m.rows(), m.as_slice());
    (1..n).all(|j| {
        check_at(j);
        let column = &data[j * n..j * n + j];
        column.iter().enumerate().all(|(i, a)| equal(*a, data[i * n + j]))
    })
}
