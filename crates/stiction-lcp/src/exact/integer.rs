//! The f64 problem as a problem in integers.
//!
//! f64s are integers times powers of two. With row and column scales `z = z′ 2^ζ`, `w = w′ 2^ω` the problem
//! becomes `w′ = M′ z′ + q′` in integers, `M′ᵢⱼ = Mᵢⱼ 2^(ζⱼ − ωᵢ)`, with the same signs and so the same bases. Scaling row by row and
//! column by column keeps the integers near the 53 bits of their f64s even where the data spans many orders of magnitude.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::rational::{Dyadic, Rational, parts};
use crate::matrix::Matrix;
use crate::problem::{FactoredLcp, ProblemRef};

/// A problem in integers; see the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct IntegerProblem {
    matrix: IntegerMatrix,
    /// q′, n.
    pub q: Vec<BigInt>,
    /// Lower bounds of z′, n; `None` where there is none.
    pub lo: Vec<Option<BigInt>>,
    /// Upper bounds of z′, n; `None` where there is none.
    pub hi: Vec<Option<BigInt>>,
    /// ζ, n: `zⱼ = z′ⱼ 2^ζⱼ`.
    pub z_exponent: Vec<i64>,
    /// ω, n: `wᵢ = w′ᵢ 2^ωᵢ`.
    pub w_exponent: Vec<i64>,
}

#[derive(Debug, Clone)]
enum IntegerMatrix {
    /// M′, n × n, row by row.
    Dense(Vec<BigInt>),
    /// M′ = FᵀF with F m × n, column by column.
    Gram { rows: usize, factor: Vec<BigInt> },
}

impl IntegerProblem {
    pub(crate) fn new(problem: ProblemRef<'_>) -> Self {
        match problem {
            ProblemRef::Lcp(p) => Self::dense(problem, p.m()),
            ProblemRef::Mlcp(p) => Self::dense(problem, p.m()),
            ProblemRef::Box(p) => Self::dense(problem, p.m()),
            ProblemRef::Factored(p) => Self::gram(problem, p),
        }
    }

    fn dense(problem: ProblemRef<'_>, m: &Matrix) -> Self {
        let n = m.rows();
        let lowest = |i: usize, j: usize| match m[(i, j)] {
            0.0 => None,
            x => Some(parts(x).1),
        };
        let row: Vec<i64> = (0..n).map(|i| least((0..n).map(|j| lowest(i, j)))).collect();
        let column: Vec<i64> = (0..n).map(|j| least((0..n).map(|i| lowest(i, j).map(|l| l - row[i])))).collect();
        let mut entries = Vec::with_capacity(n * n);
        for i in 0..n {
            for j in 0..n {
                let (mantissa, exponent) = parts(m[(i, j)]);
                let shift = if mantissa == 0 { 0 } else { exponent - row[i] - column[j] };
                entries.push(BigInt::from(mantissa) << shift as u64);
            }
        }
        let q = problem.q().iter().map(|&x| Dyadic::from_f64(x)).collect();
        let z_exponent = column.iter().map(|c| -c).collect();
        Self::assemble(problem, IntegerMatrix::Dense(entries), q, z_exponent, row)
    }

    fn gram(problem: ProblemRef<'_>, p: &FactoredLcp) -> Self {
        let (g, n) = (p.g(), p.n());
        let lowest = |x: &f64| if *x == 0.0 { None } else { Some(parts(*x).1) };
        let column: Vec<i64> = (0..n).map(|j| least(g.col(j).iter().map(lowest))).collect();
        let integer = |x: f64, exponent: i64| Dyadic::from_f64(x).over_power(exponent);
        let factor: Vec<BigInt> =
            (0..n).flat_map(|j| g.col(j).iter().map(move |&x| (x, j))).map(|(x, j)| integer(x, column[j])).collect();
        let q = match p.u() {
            None => p.e().iter().map(|&x| Dyadic::from_f64(x)).collect(),
            Some(u) => {
                let exponent = least(u.iter().map(lowest));
                let u: Vec<BigInt> = u.iter().map(|&x| integer(x, exponent)).collect();
                let product = |j: usize| dot(&factor[j * g.rows()..(j + 1) * g.rows()], &u);
                (0..n).map(|j| Dyadic::new(product(j), column[j] + exponent)).collect()
            }
        };
        let z_exponent = column.iter().map(|c| -c).collect();
        Self::assemble(problem, IntegerMatrix::Gram { rows: g.rows(), factor }, q, z_exponent, column)
    }

    /// Adds to all of ζ and ω the one number that makes q′ and the bounds integers, which leaves M′ as it is.
    fn assemble(
        problem: ProblemRef<'_>,
        matrix: IntegerMatrix,
        q: Vec<Dyadic>,
        mut z_exponent: Vec<i64>,
        mut w_exponent: Vec<i64>,
    ) -> Self {
        let n = q.len();
        let bound = |x: f64| x.is_finite().then(|| Dyadic::from_f64(x));
        let lo: Vec<Option<Dyadic>> = (0..n).map(|i| bound(problem.bound(i).0)).collect();
        let hi: Vec<Option<Dyadic>> = (0..n).map(|i| bound(problem.bound(i).1)).collect();
        let over = |x: &Option<Dyadic>, e: i64| x.as_ref().and_then(|x| x.lowest_bit()).map(|l| l - e);
        let constants = (0..n).map(|i| q[i].lowest_bit().map(|l| l - w_exponent[i]));
        let bounds = (0..n).flat_map(|j| [over(&lo[j], z_exponent[j]), over(&hi[j], z_exponent[j])]);
        let shift = least(constants.chain(bounds));
        z_exponent.iter_mut().chain(w_exponent.iter_mut()).for_each(|e| *e += shift);
        let scaled = |x: Vec<Option<Dyadic>>| {
            x.iter().zip(&z_exponent).map(|(x, e)| x.as_ref().map(|x| x.over_power(*e))).collect()
        };
        let (lo, hi) = (scaled(lo), scaled(hi));
        let q = q.iter().zip(&w_exponent).map(|(x, e)| x.over_power(*e)).collect();
        Self { matrix, q, lo, hi, z_exponent, w_exponent }
    }

    pub(crate) fn n(&self) -> usize {
        self.q.len()
    }

    /// An upper bound of the rank of M′ that can be told at a glance.
    pub(crate) fn most_rank(&self) -> usize {
        match &self.matrix {
            IntegerMatrix::Dense(_) => self.n(),
            IntegerMatrix::Gram { rows, .. } => self.n().min(*rows),
        }
    }

    /// M′ᵢⱼ.
    pub(crate) fn entry(&self, i: usize, j: usize) -> BigInt {
        match &self.matrix {
            IntegerMatrix::Dense(m) => m[i * self.n() + j].clone(),
            IntegerMatrix::Gram { rows, factor } => {
                dot(&factor[i * rows..(i + 1) * rows], &factor[j * rows..(j + 1) * rows])
            }
        }
    }

    /// `M′ x` for integers x, n.
    pub(crate) fn times(&self, x: &[BigInt]) -> Vec<BigInt> {
        let n = self.n();
        match &self.matrix {
            IntegerMatrix::Dense(m) => (0..n).map(|i| dot(&m[i * n..(i + 1) * n], x)).collect(),
            IntegerMatrix::Gram { rows, factor } => {
                let mut motion = vec![BigInt::zero(); *rows];
                for (column, x) in factor.chunks_exact((*rows).max(1)).zip(x).filter(|(_, x)| !x.is_zero()) {
                    motion.iter_mut().zip(column).for_each(|(v, f)| *v += f * x);
                }
                (0..n).map(|i| dot(&factor[i * rows..(i + 1) * rows], &motion)).collect()
            }
        }
    }

    /// `M′ᵀ y` for integers y, n.
    pub(crate) fn transposed_times(&self, y: &[BigInt]) -> Vec<BigInt> {
        let n = self.n();
        match &self.matrix {
            IntegerMatrix::Gram { .. } => self.times(y),
            IntegerMatrix::Dense(m) => {
                let mut product = vec![BigInt::zero(); n];
                for (row, y) in m.chunks_exact(n.max(1)).zip(y).filter(|(_, y)| !y.is_zero()) {
                    product.iter_mut().zip(row).for_each(|(sum, m)| *sum += m * y);
                }
                product
            }
        }
    }

    /// True if `z′ = z / denominator` (denominator positive) solves the problem.
    pub(crate) fn solved_by(&self, z: &[BigInt], denominator: &BigInt) -> bool {
        let w: Vec<BigInt> = self.times(z).iter().zip(&self.q).map(|(w, q)| w + q * denominator).collect();
        (0..self.n()).all(|i| {
            let to_lo = self.lo[i].as_ref().map(|lo| &z[i] - lo * denominator);
            let to_hi = self.hi[i].as_ref().map(|hi| hi * denominator - &z[i]);
            let within = [&to_lo, &to_hi].into_iter().flatten().all(|x| !x.is_negative());
            let (at_lo, at_hi) = (to_lo.is_some_and(|x| x.is_zero()), to_hi.is_some_and(|x| x.is_zero()));
            within && (at_hi || !w[i].is_negative()) && (at_lo || !w[i].is_positive())
        })
    }

    /// zⱼ of `z′ⱼ = numerator / denominator`.
    pub(crate) fn z(&self, j: usize, numerator: &BigInt, denominator: &BigInt) -> Rational {
        Rational::scaled(numerator, denominator, self.z_exponent[j])
    }

    /// wᵢ of `w′ᵢ = numerator / denominator`.
    pub(crate) fn w(&self, i: usize, numerator: &BigInt, denominator: &BigInt) -> Rational {
        Rational::scaled(numerator, denominator, self.w_exponent[i])
    }
}

/// The least of the exponents; 0 if there is none.
fn least(exponents: impl Iterator<Item = Option<i64>>) -> i64 {
    exponents.flatten().min().unwrap_or(0)
}

/// `xᵀ y`.
pub(crate) fn dot(x: &[BigInt], y: &[BigInt]) -> BigInt {
    let mut sum = BigInt::zero();
    for (a, b) in x.iter().zip(y) {
        if !a.is_zero() && !b.is_zero() {
            sum += a * b;
        }
    }
    sum
}
