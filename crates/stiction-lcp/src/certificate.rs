//! Certificates: how well a vector solves a problem, from the problem and the vector alone.
//!
//! This file shares no code with the solvers: it has its own products and its own sums. It forms no n × n matrix
//! for a factored problem, and allocates nothing but for a row that vanishes to the last bit it can see.
//!
//! Three dimensionless numbers, with `w = M z + q`, `ωᵢ = |qᵢ| + Σⱼ |Mᵢⱼ| |zⱼ|`, `μ = max|Mᵢⱼ|` and s the scale of the
//! residual (`‖q‖∞` for an LCP):
//!
//! * `backward_error`, row by row: the least ε such that `lo ≤ z ≤ hi`, `wᵢ ≥ −ε ωᵢ` unless zᵢ is at its upper bound and
//!   `wᵢ ≤ ε ωᵢ` unless zᵢ is at its lower bound. So z solves exactly a problem whose entries differ from the given
//!   ones by a factor of at most 1 ± ε, and a large row cannot hide a small one.
//! * `residual`, scaled by the data as a whole: `max |min(μ zᵢ, wᵢ)| / s` for an LCP, the natural map for bounds.
//! * `rounding_limit`, `2u max ωᵢ / s`: the residual that rounding z to f64 produces by itself.
//!
//! `docs/certificate.md` has the definitions for all kinds of problem, and the proofs. The numbers stated are bounds of the
//! exact ones: the first two from above, the third from below. Every sum carries a bound of its own error; plain sums
//! are believed only where theirs proves enough, else the sums are made in twice the working precision.

#[cfg(feature = "exact")]
mod exact_row;
mod scales;
mod sums;

use std::fmt;

use crate::matrix::Matrix;
use crate::problem::{FactoredLcp, ProblemRef};
use crate::solver::DEFAULT_TOLERANCE;
use scales::Scales;
use sums::{Doubled, DoubledRows, LANES, PlainRows, Rows, eight, plain_dot};

/// How far a vector is from a solution. See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Certificate {
    /// Natural-map residual, scaled by the data as a whole: not less than the exact one.
    pub residual: f64,
    /// Row-by-row backward error: not less than the exact one.
    pub backward_error: f64,
    /// The residual that rounding z to f64 produces by itself, `2u max ωᵢ / s`: not more than the exact number.
    pub rounding_limit: f64,
    /// The row with the largest error: of the backward error if that is the larger, else of the residual.
    pub worst_row: Option<usize>,
}

impl Certificate {
    /// True if z is called solved: `backward_error ≤ tolerance` and `residual ≤ max(tolerance, rounding_limit)`.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.residual <= tolerance.max(self.rounding_limit) && self.backward_error <= tolerance
    }

    /// True if no vector of f64 need have a residual within `tolerance`: rounding z alone may exceed it.
    pub fn limited_by_precision(&self, tolerance: f64) -> bool {
        self.rounding_limit > tolerance
    }

    /// The larger of the two errors.
    pub fn worst(&self) -> f64 {
        self.residual.max(self.backward_error)
    }
}

impl fmt::Display for Certificate {
    /// The two errors, and the rounding limit where it is above the default tolerance.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "residual {:.1e}, backward error {:.1e}", self.residual, self.backward_error)?;
        if self.limited_by_precision(DEFAULT_TOLERANCE) {
            write!(f, ", limited by double precision to {:.1e}", self.rounding_limit)?;
        }
        Ok(())
    }
}

/// Bounds this good need no sums in twice the working precision: a hundredth of the default tolerance.
const PLAIN_SUMS_TOLERANCE: f64 = 1e-2 * DEFAULT_TOLERANCE;

/// The certificate of `z` (n) for `problem`; the recomputed `w = M z + q` goes into `w` (n).
///
/// # Panics
/// If `z` or `w` has not the order of the problem.
pub fn certify(problem: ProblemRef<'_>, z: &[f64], w: &mut [f64]) -> Certificate {
    certify_to(problem, z, w, PLAIN_SUMS_TOLERANCE)
}

/// The same for a caller that asks whether it [holds](Certificate::holds) at `tolerance`: the bounds are sharp enough
/// for that, also where the tolerance is smaller than usual.
///
/// # Panics
/// If `z` or `w` has not the order of the problem.
pub fn certify_to(problem: ProblemRef<'_>, z: &[f64], w: &mut [f64], tolerance: f64) -> Certificate {
    assert_eq!((z.len(), w.len()), (problem.n(), problem.n()), "z and w must have the order of the problem");
    let scales = Scales::new(problem);
    let listed = NonZeros::of(z);
    let plain = evaluate::<PlainRows>(problem, &scales, &listed, z, w);
    if plain.worst() <= PLAIN_SUMS_TOLERANCE.min(tolerance) {
        return plain;
    }
    evaluate::<DoubledRows>(problem, &scales, &listed, z, w)
}

/// So many non-zeros of z are listed once, so that a row does not look through all of z: a factored problem needs at most
/// rank(G) of them, and then its certificate is linear in n. Where there are more, a row's products outweigh the search.
const LISTED: usize = 256;

/// The places of the non-zeros of z.
struct NonZeros {
    /// How many there are.
    count: usize,
    /// The first of them; all, if they are at most [`LISTED`].
    at: [usize; LISTED],
}

impl NonZeros {
    fn of(z: &[f64]) -> Self {
        let mut list = Self { count: 0, at: [0; LISTED] };
        for (j, _) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
            if let Some(place) = list.at.get_mut(list.count) {
                *place = j;
            }
            list.count += 1;
        }
        list
    }

    /// Calls `each` with every j that has zⱼ ≠ 0, ascending.
    #[inline]
    fn visit(&self, z: &[f64], mut each: impl FnMut(usize)) {
        match self.at.get(..self.count) {
            Some(all) => all.iter().for_each(|j| each(*j)),
            None => (0..z.len()).filter(|j| z[*j] != 0.0).for_each(each),
        }
    }
}

/// One row of `M z + q` with bounds of its rounding.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    w: f64,
    /// |w − exact w| is at most this.
    error: f64,
    /// The exact ω is at least this; not positive, or not finite, if nothing is known of it.
    omega: f64,
}

/// How rows are summed.
trait Precision: Rows {
    /// Nothing but exact arithmetic knows more.
    const SHARP: bool;
    fn factored_row(p: &FactoredLcp, z: &[f64], listed: &NonZeros, spread: f64, i: usize) -> Row;
}

fn evaluate<R: Precision>(
    problem: ProblemRef<'_>,
    scales: &Scales,
    listed: &NonZeros,
    z: &[f64],
    w: &mut [f64],
) -> Certificate {
    let mut rows = [Row::default(); LANES];
    let mut worst = Worst::new(scales, R::SHARP);
    let spread = spread_of(problem, z, listed);
    for first in (0..z.len()).step_by(LANES) {
        crate::interrupt::check();
        let count = LANES.min(z.len() - first);
        match problem {
            ProblemRef::Lcp(p) => dense_rows::<R>(p.m(), p.q(), z, listed, first, &mut rows),
            ProblemRef::Mlcp(p) => dense_rows::<R>(p.m(), p.q(), z, listed, first, &mut rows),
            ProblemRef::Box(p) => dense_rows::<R>(p.m(), p.q(), z, listed, first, &mut rows),
            ProblemRef::Factored(p) => {
                for (k, row) in rows[..count].iter_mut().enumerate() {
                    *row = R::factored_row(p, z, listed, spread, first + k);
                }
            }
        }
        for (k, row) in rows[..count].iter().enumerate() {
            w[first + k] = row.w;
            worst.row(problem, z, first + k, *row);
        }
    }
    worst.certificate()
}

/// Eight rows of a dense matrix.
#[inline]
fn dense_rows<R: Rows>(m: &Matrix, q: &[f64], z: &[f64], listed: &NonZeros, first: usize, rows: &mut [Row; LANES]) {
    let mut sums = R::new(eight(&q[first..]));
    listed.visit(z, |j| sums.add(&eight(&m.col(j)[first..]), z[j]));
    sums.finish(listed.count, rows);
}

/// `Σⱼ ‖gⱼ‖ |zⱼ|` of a factored problem: what the rounding of its entries is relative to. 0 for the others.
fn spread_of(problem: ProblemRef<'_>, z: &[f64], listed: &NonZeros) -> f64 {
    let ProblemRef::Factored(p) = problem else { return 0.0 };
    let mut sum = 0.0;
    listed.visit(z, |j| sum += sums::norm_bound(p.g().col(j)) * z[j].abs());
    sums::rounded_up(sum, listed.count + 4)
}

impl Precision for PlainRows {
    const SHARP: bool = false;

    /// Entry by entry. An entry is known to `c ‖gᵢ‖ ‖gⱼ‖`, however much of it cancels.
    fn factored_row(p: &FactoredLcp, z: &[f64], listed: &NonZeros, spread: f64, i: usize) -> Row {
        let (g, e) = (p.g().col(i), p.e()[i]);
        let (mut sum, mut omega) = (e, e.abs());
        let mut size = 0.0;
        listed.visit(z, |j| {
            let term = plain_dot(g, p.g().col(j)) * z[j];
            sum += term;
            omega += term.abs();
            size += z[j].abs();
        });
        let terms = listed.count;
        let entries = sums::plain_dot_rounding(g.len()) * sums::norm_bound(g) * spread;
        let lost = sums::UNDERFLOW * (terms as f64 + g.len() as f64 * size);
        let error = sums::rounded_up(sums::rounding_of(terms + 1) * omega + entries + lost, 8);
        Row { w: sum, error, omega: omega - error }
    }
}

impl Precision for DoubledRows {
    const SHARP: bool = true;

    fn factored_row(p: &FactoredLcp, z: &[f64], listed: &NonZeros, _spread: f64, i: usize) -> Row {
        let (g, e) = (p.g().col(i), p.e()[i]);
        let (mut sum, mut omega, mut entries) = (Doubled::new(e), e.abs(), 0.0);
        listed.visit(z, |j| {
            let mut entry = Doubled::new(0.0);
            for (a, b) in g.iter().zip(p.g().col(j)) {
                entry.add(*a, *b);
            }
            let (high, low, error) = entry.parts(g.len());
            sum.add(high, z[j]);
            sum.add(low, z[j]);
            omega += (high * z[j]).abs();
            entries += error * z[j].abs();
        });
        let (w, rest, error) = sum.parts(2 * listed.count);
        let error = sums::rounded_up(error + rest.abs() + entries, listed.count + 4);
        let lost = sums::rounding_of(listed.count + 2) * omega + sums::UNDERFLOW * listed.count as f64;
        Row { w, error, omega: omega - sums::rounded_up(lost + entries, listed.count + 4) }
    }
}

/// The largest errors so far.
struct Worst<'a> {
    scales: &'a Scales,
    /// The rows are as well known as they can be without exact arithmetic.
    sharp: bool,
    /// The largest natural map, in units of w.
    map: (f64, Option<usize>),
    /// The largest |w| of a free row of a mixed problem.
    equation: (f64, Option<usize>),
    backward: (f64, Option<usize>),
    omega: f64,
}

impl<'a> Worst<'a> {
    fn new(scales: &'a Scales, sharp: bool) -> Self {
        Self { scales, sharp, map: (0.0, None), equation: (0.0, None), backward: (0.0, None), omega: 0.0 }
    }

    #[inline]
    fn row(&mut self, problem: ProblemRef<'_>, z: &[f64], i: usize, row: Row) {
        let ((lo, hi), x) = (problem.bound(i), z[i]);
        if !(x.is_finite() && row.w.is_finite() && row.error.is_finite()) {
            raise(&mut self.map, f64::INFINITY, i);
            raise(&mut self.backward, f64::INFINITY, i);
            return;
        }
        let (least, most) = (row.w - row.error, row.w + row.error);
        let inside = x >= lo && x <= hi;
        if lo == f64::NEG_INFINITY && hi == f64::INFINITY && matches!(problem, ProblemRef::Mlcp(_)) {
            raise(&mut self.equation, (-least).max(most), i);
        } else if !inside || (-least).max(most) > self.map.0 {
            // z − clip(z − w/μ, lo, hi) in units of w: it grows with w, and with the distances to the bounds. It is at
            // most |w| where z is within them.
            let (above, below) = (self.scales.distance(x - lo), self.scales.distance(x - hi));
            let map = |w: f64| w.max(below).min(above).abs();
            raise(&mut self.map, map(least).max(map(most)), i);
        }
        if lo == hi && x == lo {
            return;
        }
        let known = row.omega > 0.0 && row.omega < f64::INFINITY;
        if known {
            self.omega = self.omega.max(row.omega);
        }
        let wrong = if !inside {
            f64::INFINITY
        } else {
            let too_small = if x == hi { 0.0 } else { -least };
            let too_large = if x == lo { 0.0 } else { most };
            too_small.max(too_large).max(0.0)
        };
        // A division only where the row may be the worst.
        if wrong > 0.0 && (!known || wrong > self.backward.0 * row.omega) {
            let share = if wrong == f64::INFINITY {
                wrong
            } else if known {
                sums::quotient_above(wrong, row.omega, 2)
            } else if self.sharp || !matches!(problem, ProblemRef::Factored(_)) {
                backward_error_of_lost_row(problem, z, i)
            } else {
                f64::INFINITY
            };
            raise(&mut self.backward, share, i);
        }
    }

    fn certificate(self) -> Certificate {
        let map = (self.scales.residual_of_map(self.map.0), self.map.1);
        let equation = (self.scales.residual_of_equation(self.equation.0), self.equation.1);
        let residual = if equation.0 > map.0 { equation } else { map };
        let worst_row = if self.backward.0 >= residual.0 { self.backward.1 } else { residual.1 };
        Certificate {
            residual: residual.0,
            backward_error: self.backward.0,
            rounding_limit: self.scales.rounding_limit(self.omega),
            worst_row,
        }
    }
}

/// The share of ωᵢ by which wᵢ has a wrong sign, from above, of a row whose size is lost in working precision.
#[cfg(feature = "exact")]
fn backward_error_of_lost_row(problem: ProblemRef<'_>, z: &[f64], i: usize) -> f64 {
    exact_row::backward_error(problem, z, i)
}

/// The same where only an empty row can be told from others: all of ωᵢ, which bounds every row.
#[cfg(not(feature = "exact"))]
fn backward_error_of_lost_row(problem: ProblemRef<'_>, z: &[f64], i: usize) -> f64 {
    let factored = matches!(problem, ProblemRef::Factored(_));
    let empty = || problem.q()[i] == 0.0 && (0..z.len()).all(|j| z[j] == 0.0 || problem.entry(i, j) == 0.0);
    if !factored && empty() { 0.0 } else { 1.0 }
}

/// Keeps the larger error and its place; what is no number counts as infinite.
#[inline]
fn raise(best: &mut (f64, Option<usize>), value: f64, i: usize) {
    let value = if value.is_nan() { f64::INFINITY } else { value };
    if value > best.0 {
        *best = (value, Some(i));
    }
}
