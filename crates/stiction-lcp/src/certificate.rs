//! Certificates: how well a vector solves a problem, from the problem and the vector alone.
//!
//! This file shares no code with the solvers: it has its own products, and its own sums in twice the working
//! precision where those are needed. It allocates nothing and forms no n × n matrix for a factored problem.
//!
//! Two dimensionless numbers, with `w = M z + q` recomputed here:
//!
//! * `residual`, scaled by the data as a whole. With `ρ = 1 / max|Mᵢⱼ|` and `σ = ‖q‖∞` (each 1 where that is 0):
//!   `max |min(zᵢ, ρ wᵢ)| / (ρ σ)` over complementary rows (`/ 1` in an LCP with q = 0), `|wᵢ| / σ` over free ones;
//!   `‖z − clip(z − ρ w, lo, hi)‖∞ / max(largest finite |bound|, ρ σ)` for problems with bounds.
//! * `backward_error`, row by row: with `ωᵢ = |qᵢ| + Σⱼ |Mᵢⱼ| |zⱼ|` the least ε such that `lo ≤ z ≤ hi`, and
//!   `wᵢ ≥ −ε ωᵢ` unless zᵢ is at its upper bound, `wᵢ ≤ ε ωᵢ` unless zᵢ is at its lower bound. So z solves exactly a problem whose
//!   entries differ from the given ones by a factor of at most 1 ± ε, and a large row cannot hide a small one.
//!
//! Where a row leaves the range of f64 nothing is known of it, and its errors are infinite. What underflow may have taken from a
//! row, and what the rounding of its entries `gᵢᵀ gⱼ` in a factored problem, counts as missing where it is not far below ωᵢ.

use std::fmt;

use crate::matrix::Matrix;
use crate::problem::{FactoredLcp, ProblemRef};

/// The two measures of a vector's error. See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Natural-map residual, scaled by the data as a whole.
    pub residual: f64,
    /// Row-by-row backward error.
    pub backward_error: f64,
    /// The row with the largest error: of the backward error if that is the larger, else of the residual.
    pub worst_row: Option<usize>,
}

impl Certificate {
    /// True if both numbers are at most `tolerance`.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.residual <= tolerance && self.backward_error <= tolerance
    }

    /// The larger of the two numbers.
    pub fn worst(&self) -> f64 {
        self.residual.max(self.backward_error)
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "residual {:.1e}, backward error {:.1e}", self.residual, self.backward_error)
    }
}

/// At most this is lost of a product, and of its error, where they are subnormal: 2⁻¹⁰⁷³.
const UNDERFLOW: f64 = 1e-323;

/// What is lost in a row is left out below this part of ω, which is far below any tolerance in use.
const NO_LOSS: f64 = 1e-12;

/// Below this the plain sums are good enough and the doubled precision is not needed.
const PLAIN_IS_ENOUGH: f64 = 1e-13;

/// The certificate of `z` (n) for `problem`; the recomputed `w = M z + q` goes into `w` (n).
///
/// # Panics
/// If `z` or `w` has not the order of the problem.
pub fn certify(problem: ProblemRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    assert_eq!((z.len(), w.len()), (problem.n(), problem.n()), "z and w must have the order of the problem");
    let plain = evaluate::<Plain>(problem, z, w);
    if plain.worst() <= PLAIN_IS_ENOUGH {
        return plain;
    }
    evaluate::<Doubled>(problem, z, w)
}

/// A running sum of products, and its size `|q| + Σ |a b|`.
trait Sum: Copy {
    /// Rounding of the sum, as a part of its size.
    const ROUNDING: f64;
    fn new(start: f64) -> Self;
    fn add(&mut self, a: f64, b: f64);
    fn value(&self) -> f64;
}

#[derive(Clone, Copy)]
struct Plain(f64);

impl Sum for Plain {
    const ROUNDING: f64 = f64::EPSILON;
    #[inline]
    fn new(start: f64) -> Self {
        Self(start)
    }
    #[inline]
    fn add(&mut self, a: f64, b: f64) {
        self.0 += a * b;
    }
    #[inline]
    fn value(&self) -> f64 {
        self.0
    }
}

/// Twice the working precision: the errors of every product and sum are carried along.
#[derive(Clone, Copy)]
struct Doubled(f64, f64);

impl Sum for Doubled {
    const ROUNDING: f64 = f64::EPSILON * f64::EPSILON;
    #[inline]
    fn new(start: f64) -> Self {
        Self(start, 0.0)
    }
    #[inline]
    fn add(&mut self, a: f64, b: f64) {
        let product = a * b;
        let product_error = a.mul_add(b, -product);
        let sum = self.0 + product;
        let back = sum - self.0;
        let sum_error = (self.0 - (sum - back)) + (product - back);
        self.0 = sum;
        self.1 += product_error + sum_error;
    }
    #[inline]
    fn value(&self) -> f64 {
        self.0 + self.1
    }
}

/// Rows done side by side: one cache line of a column.
const LANES: usize = 8;

/// So many non-zeros of z are listed once, so that a row does not look through all of z: a factored problem needs at most rank(G) of
/// them, and then its certificate is linear in n. Where there are more, a row's products outweigh the search.
const LISTED: usize = 256;

/// The places of the non-zeros of z, if they are at most [`LISTED`].
struct NonZeros {
    at: [usize; LISTED],
    count: Option<usize>,
}

impl NonZeros {
    fn of(z: &[f64]) -> Self {
        let mut list = Self { at: [0; LISTED], count: None };
        let mut count = 0;
        for (j, _) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
            if count == LISTED {
                return list;
            }
            list.at[count] = j;
            count += 1;
        }
        list.count = Some(count);
        list
    }

    /// Calls `each` with every j that has zⱼ ≠ 0, ascending.
    #[inline]
    fn visit(&self, z: &[f64], mut each: impl FnMut(usize)) {
        match self.count {
            Some(count) => self.at[..count].iter().for_each(|j| each(*j)),
            None => (0..z.len()).filter(|j| z[*j] != 0.0).for_each(each),
        }
    }
}

fn evaluate<S: Sum>(problem: ProblemRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    let n = z.len();
    let mut omega = [0.0; LANES];
    let listed = NonZeros::of(z);
    let mut worst = Worst::new(problem);
    let loss = Loss::new::<S>(problem, z, &listed);
    for first in (0..n).step_by(LANES) {
        let rows = first..(first + LANES).min(n);
        match problem {
            ProblemRef::Lcp(p) => dense_rows::<S>(p.m(), p.q(), z, &listed, first, &mut w[rows.clone()], &mut omega),
            ProblemRef::Mlcp(p) => dense_rows::<S>(p.m(), p.q(), z, &listed, first, &mut w[rows.clone()], &mut omega),
            ProblemRef::Box(p) => dense_rows::<S>(p.m(), p.q(), z, &listed, first, &mut w[rows.clone()], &mut omega),
            ProblemRef::Factored(p) => factored_rows::<S>(p, z, &listed, first, &mut w[rows.clone()], &mut omega),
        }
        for i in rows {
            let hidden = omega[i - first] == 0.0 && has_hidden_term(problem, z, &listed, i);
            let omega = if hidden { f64::NAN } else { omega[i - first] };
            worst.row(problem, i, z[i], w[i], omega, loss.of(problem, i));
        }
    }
    worst.certificate()
}

/// What rounding and underflow can take from a row of `M z + q` beyond a small part of ωᵢ.
struct Loss {
    underflow: f64,
    /// `Σⱼ ‖gⱼ‖ |zⱼ|` of a factored problem, times the rounding of its entries: these may cancel, so that ω does not tell.
    entries: f64,
}

impl Loss {
    fn new<S: Sum>(problem: ProblemRef<'_>, z: &[f64], listed: &NonZeros) -> Self {
        let mut loss = Self { underflow: 0.0, entries: 0.0 };
        let ProblemRef::Factored(p) = problem else {
            listed.visit(z, |_| loss.underflow += UNDERFLOW);
            return loss;
        };
        let terms = p.g().rows() as f64;
        listed.visit(z, |j| {
            loss.underflow += UNDERFLOW * (1.0 + terms * z[j].abs());
            loss.entries += terms * S::ROUNDING * length(p.g().col(j)) * z[j].abs();
        });
        loss
    }

    fn of(&self, problem: ProblemRef<'_>, i: usize) -> f64 {
        match problem {
            ProblemRef::Factored(p) => self.underflow + self.entries * length(p.g().col(i)),
            _ => self.underflow,
        }
    }
}

/// ‖x‖₁, which is not less than ‖x‖ and overflows later.
fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}

/// True if row `i`, of which nothing was seen, has a term that is not zero but for underflow.
fn has_hidden_term(problem: ProblemRef<'_>, z: &[f64], listed: &NonZeros, i: usize) -> bool {
    let mut hidden = false;
    listed.visit(z, |j| {
        hidden |= match problem {
            ProblemRef::Lcp(p) => p.m()[(i, j)] != 0.0,
            ProblemRef::Mlcp(p) => p.m()[(i, j)] != 0.0,
            ProblemRef::Box(p) => p.m()[(i, j)] != 0.0,
            // Two columns may also be orthogonal: only products that vanished are hidden.
            ProblemRef::Factored(p) => {
                let products = p.g().col(i).iter().zip(p.g().col(j));
                products.into_iter().any(|(a, b)| *a != 0.0 && *b != 0.0 && (a * b == 0.0 || a * b * z[j] == 0.0))
            }
        };
    });
    hidden
}

/// `w` and `ω` of up to eight rows of a dense matrix.
fn dense_rows<S: Sum>(
    m: &Matrix,
    q: &[f64],
    z: &[f64],
    listed: &NonZeros,
    first: usize,
    w: &mut [f64],
    omega: &mut [f64; LANES],
) {
    let mut sum = [S::new(0.0); LANES];
    let q = eight(&q[first..]);
    for k in 0..LANES {
        sum[k] = S::new(q[k]);
        omega[k] = q[k].abs();
    }
    listed.visit(z, |j| {
        let column = eight(&m.col(j)[first..]);
        // Copies, so that the compiler sees eight sums of their own and not memory that may overlap.
        let (mut sums, mut sizes) = (sum, *omega);
        for k in 0..LANES {
            sums[k].add(column[k], z[j]);
            sizes[k] += (column[k] * z[j]).abs();
        }
        (sum, *omega) = (sums, sizes);
    });
    for (w, sum) in w.iter_mut().zip(&sum) {
        *w = sum.value();
    }
}

/// The first eight numbers, filled up with zeros: a loop over eight is a few instructions, one over an unknown number many.
#[inline]
fn eight(x: &[f64]) -> [f64; LANES] {
    match x.first_chunk() {
        Some(full) => *full,
        None => std::array::from_fn(|k| x.get(k).copied().unwrap_or(0.0)),
    }
}

/// `w` and `ω` of up to eight rows of a Gram matrix, entry by entry.
fn factored_rows<S: Sum>(
    p: &FactoredLcp,
    z: &[f64],
    listed: &NonZeros,
    first: usize,
    w: &mut [f64],
    omega: &mut [f64; LANES],
) {
    for (k, wk) in w.iter_mut().enumerate() {
        let row = p.g().col(first + k);
        let mut sum = S::new(p.e()[first + k]);
        omega[k] = p.e()[first + k].abs();
        listed.visit(z, |j| {
            let mut entry = S::new(0.0);
            for (a, b) in row.iter().zip(p.g().col(j)) {
                entry.add(*a, *b);
            }
            let entry = entry.value();
            sum.add(entry, z[j]);
            omega[k] += (entry * z[j]).abs();
        });
        *wk = sum.value();
    }
}

/// The largest errors so far, with the scales of the residual.
struct Worst {
    /// ρ, the unit of z per unit of w.
    rho: f64,
    /// What the natural map of a complementary or bounded row is divided by.
    map_scale: f64,
    /// σ, what w of a free row is divided by.
    equation_scale: f64,
    residual: (f64, Option<usize>),
    backward: (f64, Option<usize>),
}

impl Worst {
    fn new(problem: ProblemRef<'_>) -> Self {
        let or_one = |x: f64| if x > 0.0 { x } else { 1.0 };
        let rho = 1.0 / or_one(problem.max_abs());
        let q = problem.max_abs_q();
        let map_scale = match problem {
            ProblemRef::Lcp(_) => or_one(rho * q),
            ProblemRef::Mlcp(_) => rho * or_one(q),
            ProblemRef::Factored(p) if p.bounds().is_none() => or_one(rho * q),
            ProblemRef::Box(_) | ProblemRef::Factored(_) => {
                let finite = |b: f64| if b.is_finite() { b.abs() } else { 0.0 };
                let bound = (0..problem.n()).map(|i| problem.bound(i));
                or_one(bound.fold(rho * q, |m, (lo, hi)| m.max(finite(lo)).max(finite(hi))))
            }
        };
        Self { rho, map_scale, equation_scale: or_one(q), residual: (0.0, None), backward: (0.0, None) }
    }

    fn row(&mut self, problem: ProblemRef<'_>, i: usize, z: f64, w: f64, omega: f64, lost: f64) {
        let (lo, hi) = problem.bound(i);
        let free = lo == f64::NEG_INFINITY && hi == f64::INFINITY;
        let residual = if !(z.is_finite() && w.is_finite() && omega.is_finite()) {
            f64::INFINITY
        } else if free && matches!(problem, ProblemRef::Mlcp(_)) {
            w.abs() / self.equation_scale
        } else {
            // z − clip(z − ρw, lo, hi), without losing ρw where it is small beside z.
            let step = (self.rho * w).max(z - hi).min(z - lo);
            step.abs() / self.map_scale
        };
        let missing = if !(w.is_finite() && omega.is_finite()) {
            f64::INFINITY
        } else if z >= lo && z <= hi {
            let below = if z == hi && hi > lo || lo == hi { 0.0 } else { (-w).max(0.0) };
            let above = if z == lo { 0.0 } else { w.max(0.0) };
            let size = if omega > 0.0 { omega } else { 1.0 };
            let lost = if lo < hi && lost > NO_LOSS * size { lost } else { 0.0 };
            (below.max(above) + lost) / size
        } else {
            f64::INFINITY
        };
        raise(&mut self.residual, residual, i);
        raise(&mut self.backward, missing, i);
    }

    fn certificate(self) -> Certificate {
        let worst_row = if self.backward.0 >= self.residual.0 { self.backward.1 } else { self.residual.1 };
        Certificate { residual: self.residual.0, backward_error: self.backward.0, worst_row }
    }
}

/// Keeps the larger error and its place; what is no number counts as infinite.
fn raise(best: &mut (f64, Option<usize>), value: f64, i: usize) {
    let value = if value.is_nan() { f64::INFINITY } else { value };
    if value > best.0 {
        *best = (value, Some(i));
    }
}
