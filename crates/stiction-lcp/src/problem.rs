//! The four kinds of complementarity problem.
//!
//! | kind | given | find |
//! |---|---|---|
//! | [`Lcp`] | `M`, `q` | `w = M z + q`, `0 ≤ z ⊥ w ≥ 0` |
//! | [`Mlcp`] | `M`, `q`, the free rows | `wᵢ = 0` and `zᵢ` free there, `0 ≤ zᵢ ⊥ wᵢ ≥ 0` elsewhere |
//! | [`BoxLcp`] | `M`, `q`, `lo ≤ hi` | `lo ≤ z ≤ hi`; `wᵢ ≥ 0` at lo, `≤ 0` at hi, `= 0` between |
//! | [`FactoredLcp`] | `G`, `e` | the same with `M = Gᵀ G`, never formed |
//!
//! A problem is validated when it is built, so that a solver never meets a NaN or a wrong size.

use crate::error::InputError;
use crate::matrix::{Matrix, dot, max_abs};

/// The linear complementarity problem `w = M z + q`, `0 ≤ z ⊥ w ≥ 0`.
#[derive(Debug, Clone, PartialEq)]
pub struct Lcp {
    m: Matrix,
    q: Vec<f64>,
}

impl Lcp {
    /// The problem with matrix `m` (n × n) and vector `q` (n).
    ///
    /// # Errors
    /// `InputError` if `m` is not square, `q` has another length, or a number is not finite.
    pub fn new(m: Matrix, q: Vec<f64>) -> Result<Self, InputError> {
        check_square(&m, &q)?;
        Ok(Self { m, q })
    }

    /// Order of the problem.
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// The matrix M, n × n.
    pub fn m(&self) -> &Matrix {
        &self.m
    }

    /// The vector q, n.
    pub fn q(&self) -> &[f64] {
        &self.q
    }
}

/// The mixed problem: some rows are equations with a free variable, the others are complementary.
///
/// In block form `A x + C y + g = 0`, `0 ≤ y ⊥ D x + B y + h ≥ 0`; rows may come in any order, and each free
/// row carries a free variable in the same place. Reference: [Drumwright15, Eqs. 4–7].
#[derive(Debug, Clone, PartialEq)]
pub struct Mlcp {
    m: Matrix,
    q: Vec<f64>,
    free: Vec<bool>,
}

impl Mlcp {
    /// The problem `w = M z + q` with `wᵢ = 0`, zᵢ free where `free[i]`.
    ///
    /// # Errors
    /// `InputError` if sizes disagree or a number is not finite.
    pub fn new(m: Matrix, q: Vec<f64>, free: Vec<bool>) -> Result<Self, InputError> {
        check_square(&m, &q)?;
        check_len("free", free.len(), q.len())?;
        Ok(Self { m, q, free })
    }

    /// The problem from its blocks: free rows first, then complementary ones. `A` is p × p, `B` r × r, `C` p × r,
    /// `D` r × p, `g` p, `h` r.
    ///
    /// # Errors
    /// `InputError` if sizes disagree or a number is not finite.
    pub fn from_blocks(
        a: &Matrix,
        b: &Matrix,
        c: &Matrix,
        d: &Matrix,
        g: &[f64],
        h: &[f64],
    ) -> Result<Self, InputError> {
        let (p, r) = (g.len(), h.len());
        for (name, block, rows, cols) in [("A", a, p, p), ("B", b, r, r), ("C", c, p, r), ("D", d, r, p)] {
            check_len(&format!("rows of {name}"), block.rows(), rows)?;
            check_len(&format!("columns of {name}"), block.cols(), cols)?;
        }
        let m = Matrix::from_fn(p + r, p + r, |i, j| match (i < p, j < p) {
            (true, true) => a[(i, j)],
            (true, false) => c[(i, j - p)],
            (false, true) => d[(i - p, j)],
            (false, false) => b[(i - p, j - p)],
        });
        let free = (0..p + r).map(|i| i < p).collect();
        Self::new(m, [g, h].concat(), free)
    }

    /// Order of the problem, free and complementary rows together.
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// The whole matrix, n × n.
    pub fn m(&self) -> &Matrix {
        &self.m
    }

    /// The whole vector, n.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// True where a row is an equation with a free variable.
    pub fn free(&self) -> &[bool] {
        &self.free
    }
}

/// The box-constrained problem (a relay problem where both bounds are finite): `w = M z + q`, `lo ≤ z ≤ hi`,
/// with `wᵢ ≥ 0` where zᵢ = loᵢ, `wᵢ ≤ 0` where zᵢ = hiᵢ, and `wᵢ = 0` between.
///
/// Bounds may be infinite; a row with both infinite is a free row of an [`Mlcp`].
#[derive(Debug, Clone, PartialEq)]
pub struct BoxLcp {
    m: Matrix,
    q: Vec<f64>,
    lo: Vec<f64>,
    hi: Vec<f64>,
}

impl BoxLcp {
    /// The problem with matrix `m` (n × n), vector `q` and bounds `lo ≤ hi` (n each).
    ///
    /// # Errors
    /// `InputError` if sizes disagree, a number is not finite, or a pair of bounds is empty.
    pub fn new(m: Matrix, q: Vec<f64>, lo: Vec<f64>, hi: Vec<f64>) -> Result<Self, InputError> {
        check_square(&m, &q)?;
        check_bounds(&lo, &hi, q.len())?;
        Ok(Self { m, q, lo, hi })
    }

    /// Order of the problem.
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// The matrix, n × n.
    pub fn m(&self) -> &Matrix {
        &self.m
    }

    /// The vector, n.
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Lower bounds, n; −∞ where there is none.
    pub fn lo(&self) -> &[f64] {
        &self.lo
    }

    /// Upper bounds, n; ∞ where there is none.
    pub fn hi(&self) -> &[f64] {
        &self.hi
    }
}

/// Lower and upper bounds, n each.
pub type Bounds = (Vec<f64>, Vec<f64>);

/// The factored problem `w = Gᵀ G z + e` with `G` m × n, usually m ≪ n; the n × n matrix is never formed.
///
/// With `e = Gᵀ u` it is the non-negative least squares problem `min ‖G z + u‖, z ≥ 0`, which always has a
/// solution; any other `e` may leave the problem infeasible. Bounds `lo ≤ z ≤ hi` are optional.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FactoredLcp {
    g: Matrix,
    e: Vec<f64>,
    u: Option<Vec<f64>>,
    near: Option<Vec<f64>>,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
}

impl FactoredLcp {
    /// The problem with factor `g` (m × n) and any `e` (n).
    ///
    /// # Errors
    /// `InputError` if sizes disagree or a number is not finite.
    pub fn new(g: Matrix, e: Vec<f64>) -> Result<Self, InputError> {
        check_len("e", e.len(), g.cols())?;
        g.check_finite("G")?;
        check_finite("e", &e)?;
        Ok(Self { g, e, u: None, near: None, bounds: None })
    }

    /// The least squares problem `min ‖G z + u‖` with `u` (m): `e = Gᵀ u`. An eⱼ that is nothing but the rounding of its own sum
    /// is 0: where u is orthogonal to a column, noise must not make the problem infeasible.
    ///
    /// # Errors
    /// `InputError` if sizes disagree or a number is not finite.
    pub fn least_squares(g: Matrix, u: Vec<f64>) -> Result<Self, InputError> {
        check_len("u", u.len(), g.rows())?;
        g.check_finite("G")?;
        check_finite("u", &u)?;
        let rounding = f64::EPSILON * u.len() as f64;
        let entry = |j: usize| {
            let sum = dot(g.col(j), &u);
            let size: f64 = g.col(j).iter().zip(&u).map(|(g, u)| (g * u).abs()).sum();
            if sum.abs() <= rounding * size { 0.0 } else { sum }
        };
        let e: Vec<f64> = (0..g.cols()).map(entry).collect();
        check_finite("Gᵀu", &e)?;
        Ok(Self { g, e, u: Some(u), near: None, bounds: None })
    }

    /// The same problem with a vector `u` (m) for which `e = Gᵀ u` in most rows. It changes no solution: the factored methods start from
    /// it instead of looking for one, which would cost them O(m² n).
    ///
    /// # Errors
    /// `InputError` if sizes disagree or a number is not finite.
    pub fn with_near(mut self, u: Vec<f64>) -> Result<Self, InputError> {
        check_len("u", u.len(), self.g.rows())?;
        check_finite("u", &u)?;
        self.near = Some(u);
        Ok(self)
    }

    /// What the problem was built from, to be filled again: the factor, e, and the vectors of [`FactoredLcp::with_near`] and
    /// [`FactoredLcp::with_bounds`] (empty if there were none).
    pub fn into_parts(self) -> (Matrix, Vec<f64>, Vec<f64>, Bounds) {
        (self.g, self.e, self.near.unwrap_or_default(), self.bounds.unwrap_or_default())
    }

    /// The same problem with bounds instead of `z ≥ 0`; infinite ones are allowed.
    ///
    /// # Errors
    /// `InputError` if sizes disagree or a pair of bounds is empty.
    pub fn with_bounds(mut self, lo: Vec<f64>, hi: Vec<f64>) -> Result<Self, InputError> {
        check_bounds(&lo, &hi, self.n())?;
        self.bounds = Some((lo, hi));
        Ok(self)
    }

    /// Number of variables.
    pub fn n(&self) -> usize {
        self.g.cols()
    }

    /// The factor G, m × n.
    pub fn g(&self) -> &Matrix {
        &self.g
    }

    /// The vector e, n.
    pub fn e(&self) -> &[f64] {
        &self.e
    }

    /// The vector u, m, if the problem was given as least squares: then e = Gᵀ u.
    pub fn u(&self) -> Option<&[f64]> {
        self.u.as_deref()
    }

    /// The vector of [`FactoredLcp::with_near`], m.
    pub fn near(&self) -> Option<&[f64]> {
        self.near.as_deref()
    }

    /// The bounds (lo, hi), if any; z ≥ 0 otherwise.
    pub fn bounds(&self) -> Option<(&[f64], &[f64])> {
        self.bounds.as_ref().map(|(lo, hi)| (lo.as_slice(), hi.as_slice()))
    }

    /// The bounds of row `i`: (0, ∞) unless bounds were given.
    pub fn bound(&self, i: usize) -> (f64, f64) {
        self.bounds.as_ref().map_or((0.0, f64::INFINITY), |(lo, hi)| (lo[i], hi[i]))
    }

    /// The same problem with the n × n matrix formed, for methods that need one.
    pub fn to_dense(&self) -> Problem {
        let m = Matrix::from_fn(self.n(), self.n(), |i, j| {
            let (a, b) = if i <= j { (i, j) } else { (j, i) };
            dot(self.g.col(a), self.g.col(b))
        });
        match &self.bounds {
            None => Problem::Lcp(Lcp { m, q: self.e.clone() }),
            Some((lo, hi)) => Problem::Box(BoxLcp { m, q: self.e.clone(), lo: lo.clone(), hi: hi.clone() }),
        }
    }
}

/// A problem of any kind, owned: what a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// See [`Lcp`].
    Lcp(Lcp),
    /// See [`Mlcp`].
    Mlcp(Mlcp),
    /// See [`BoxLcp`].
    Box(BoxLcp),
    /// See [`FactoredLcp`].
    Factored(FactoredLcp),
}

impl Problem {
    /// A borrowed view, which is what solvers and certificates take.
    pub fn as_ref(&self) -> ProblemRef<'_> {
        self.into()
    }
}

/// A problem of any kind, borrowed.
#[derive(Debug, Clone, Copy)]
pub enum ProblemRef<'a> {
    /// See [`Lcp`].
    Lcp(&'a Lcp),
    /// See [`Mlcp`].
    Mlcp(&'a Mlcp),
    /// See [`BoxLcp`].
    Box(&'a BoxLcp),
    /// See [`FactoredLcp`].
    Factored(&'a FactoredLcp),
}

impl<'a> ProblemRef<'a> {
    /// Order of the problem: the length of z.
    pub fn n(&self) -> usize {
        match self {
            Self::Lcp(p) => p.n(),
            Self::Mlcp(p) => p.n(),
            Self::Box(p) => p.n(),
            Self::Factored(p) => p.n(),
        }
    }

    /// `lcp`, `mlcp`, `box` or `factored`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Lcp(_) => "lcp",
            Self::Mlcp(_) => "mlcp",
            Self::Box(_) => "box",
            Self::Factored(_) => "factored",
        }
    }

    /// The vector q (e for a factored problem).
    pub fn q(&self) -> &'a [f64] {
        match self {
            Self::Lcp(p) => p.q(),
            Self::Mlcp(p) => p.q(),
            Self::Box(p) => p.q(),
            Self::Factored(p) => p.e(),
        }
    }

    /// The bounds (lo, hi) of row `i`: (0, ∞) for a complementary row, (−∞, ∞) for a free one.
    pub fn bound(&self, i: usize) -> (f64, f64) {
        match self {
            Self::Lcp(_) => (0.0, f64::INFINITY),
            Self::Mlcp(p) if p.free()[i] => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Mlcp(_) => (0.0, f64::INFINITY),
            Self::Box(p) => (p.lo()[i], p.hi()[i]),
            Self::Factored(p) => p.bound(i),
        }
    }

    /// Column `j` of the matrix into `out` (n).
    pub(crate) fn column_into(&self, j: usize, out: &mut [f64]) {
        match self {
            Self::Lcp(p) => out.copy_from_slice(p.m().col(j)),
            Self::Mlcp(p) => out.copy_from_slice(p.m().col(j)),
            Self::Box(p) => out.copy_from_slice(p.m().col(j)),
            Self::Factored(p) => p.g().mul_transposed_into(p.g().col(j), out),
        }
    }

    /// Entries (rows, j) of the matrix into `out` (as many as rows).
    pub(crate) fn gather_column(&self, j: usize, rows: &[usize], out: &mut [f64]) {
        let dense = match self {
            Self::Lcp(p) => p.m(),
            Self::Mlcp(p) => p.m(),
            Self::Box(p) => p.m(),
            Self::Factored(_) => {
                for (x, &i) in out.iter_mut().zip(rows) {
                    *x = self.entry(i, j);
                }
                return;
            }
        };
        let column = dense.col(j);
        for (x, &i) in out.iter_mut().zip(rows) {
            *x = column[i];
        }
    }

    /// Entry (i, j) of the matrix.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Lcp(p) => p.m()[(i, j)],
            Self::Mlcp(p) => p.m()[(i, j)],
            Self::Box(p) => p.m()[(i, j)],
            Self::Factored(p) => dot(p.g().col(i.min(j)), p.g().col(i.max(j))),
        }
    }

    /// The largest |entry| of the matrix. For a Gram matrix it stands on the diagonal, so none is formed.
    pub fn max_abs(&self) -> f64 {
        match self {
            Self::Lcp(p) => p.m().max_abs(),
            Self::Mlcp(p) => p.m().max_abs(),
            Self::Box(p) => p.m().max_abs(),
            Self::Factored(p) => (0..p.n()).fold(0.0, |m, j| f64::max(m, dot(p.g().col(j), p.g().col(j)))),
        }
    }

    /// An owned copy.
    pub fn to_owned(&self) -> Problem {
        match *self {
            Self::Lcp(p) => Problem::Lcp(p.clone()),
            Self::Mlcp(p) => Problem::Mlcp(p.clone()),
            Self::Box(p) => Problem::Box(p.clone()),
            Self::Factored(p) => Problem::Factored(p.clone()),
        }
    }

    /// The largest |q| entry.
    pub(crate) fn max_abs_q(&self) -> f64 {
        max_abs(self.q())
    }
}

macro_rules! impl_from {
    ($($kind:ident($ty:ty)),*) => {$(
        impl<'a> From<&'a $ty> for ProblemRef<'a> {
            fn from(p: &'a $ty) -> Self { Self::$kind(p) }
        }
        impl From<$ty> for Problem {
            fn from(p: $ty) -> Self { Self::$kind(p) }
        }
    )*};
}
impl_from!(Lcp(Lcp), Mlcp(Mlcp), Box(BoxLcp), Factored(FactoredLcp));

impl<'a> From<&'a Problem> for ProblemRef<'a> {
    fn from(p: &'a Problem) -> Self {
        match p {
            Problem::Lcp(p) => Self::Lcp(p),
            Problem::Mlcp(p) => Self::Mlcp(p),
            Problem::Box(p) => Self::Box(p),
            Problem::Factored(p) => Self::Factored(p),
        }
    }
}

fn check_len(what: &str, found: usize, expected: usize) -> Result<(), InputError> {
    if found == expected { Ok(()) } else { Err(InputError::Size { what: what.into(), expected, found }) }
}

fn check_finite(what: &str, x: &[f64]) -> Result<(), InputError> {
    match x.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => Err(InputError::NotFinite { what: format!("{what}[{i}]"), value: x[i] }),
    }
}

fn check_square(m: &Matrix, q: &[f64]) -> Result<(), InputError> {
    if m.rows() != m.cols() {
        return Err(InputError::NotSquare { what: "M".into(), rows: m.rows(), cols: m.cols() });
    }
    check_len("q", q.len(), m.rows())?;
    m.check_finite("M")?;
    check_finite("q", q)
}

fn check_bounds(lo: &[f64], hi: &[f64], n: usize) -> Result<(), InputError> {
    check_len("lo", lo.len(), n)?;
    check_len("hi", hi.len(), n)?;
    for row in 0..n {
        let (lo, hi) = (lo[row], hi[row]);
        if lo.is_nan() || hi.is_nan() || lo > hi || lo == f64::INFINITY || hi == f64::NEG_INFINITY {
            return Err(InputError::EmptyBounds { row, lo, hi });
        }
    }
    Ok(())
}
