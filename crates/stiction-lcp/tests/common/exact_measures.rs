//! The numbers of a certificate without rounding, as `docs/certificate.md` defines them: every f64 is a whole multiple of 2⁻¹⁰⁷⁴,
//! so all sums are sums of integers.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use stiction_lcp::{Certificate, ProblemRef};

const UNIT: usize = 1074;

/// x as a whole multiple of 2⁻¹⁰⁷⁴.
pub fn whole(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let size = if exponent == 0 { BigInt::from(fraction) } else { BigInt::from(fraction | 1 << 52) << (exponent - 1) };
    if x < 0.0 { -size } else { size }
}

/// Entry (i, j) of M in units of 2⁻²¹⁴⁸.
fn entry(problem: ProblemRef<'_>, i: usize, j: usize) -> BigInt {
    match problem {
        ProblemRef::Factored(p) => p.g().col(i).iter().zip(p.g().col(j)).map(|(a, b)| whole(*a) * whole(*b)).sum(),
        _ => whole(problem.entry(i, j)) << UNIT,
    }
}

/// Row i of `M z + q` and of `|q| + |M| |z|`, in units of 2⁻³²²².
pub fn exact_row(problem: ProblemRef<'_>, z: &[f64], i: usize) -> (BigInt, BigInt) {
    let q: BigInt = whole(problem.q()[i]) << (2 * UNIT);
    let (mut w, mut omega) = (q.clone(), q.abs());
    for j in (0..z.len()).filter(|j| z[*j] != 0.0) {
        let term = entry(problem, i, j) * whole(z[j]);
        omega += term.abs();
        w += term;
    }
    (w, omega)
}

/// A quotient of two whole numbers that are not negative, the second positive.
#[derive(Debug, Clone)]
pub struct Ratio(BigInt, BigInt);

impl Ratio {
    fn zero() -> Self {
        Self(BigInt::zero(), BigInt::from(1))
    }

    fn max(self, other: Self) -> Self {
        if &self.0 * &other.1 >= &other.0 * &self.1 { self } else { other }
    }

    /// `self ≤ factor · x`, for a finite x ≥ 0; true if x is infinite.
    pub fn at_most(&self, x: f64) -> bool {
        !x.is_finite() || &self.0 << UNIT <= whole(x) * &self.1
    }

    /// `self ≥ x`.
    pub fn at_least(&self, x: f64) -> bool {
        x.is_finite() && &self.0 << UNIT >= whole(x) * &self.1
    }

    /// Roughly, for messages and for counting.
    pub fn to_f64(&self) -> f64 {
        let shift = 2000 + self.1.bits() as i64 - self.0.bits() as i64;
        let shift = shift.max(0) as usize;
        let quotient = (&self.0 << shift) / &self.1;
        let bits = quotient.bits() as i64;
        let keep = (bits - 60).max(0);
        let mantissa: f64 = (quotient >> keep as usize).to_string().parse().unwrap();
        let exponent = keep - shift as i64;
        let half = exponent / 2;
        mantissa * f64::powi(2.0, half as i32) * f64::powi(2.0, (exponent - half) as i32)
    }
}

/// The exact numbers of a finite z; `None` for the backward error if z is outside its bounds.
#[derive(Debug, Clone)]
pub struct Measures {
    pub backward_error: Option<Ratio>,
    pub residual: Ratio,
    pub rounding_limit: Ratio,
}

/// The exact numbers of `z` (n, finite).
pub fn measure(problem: ProblemRef<'_>, z: &[f64]) -> Measures {
    let n = z.len();
    let one = |bits: usize| BigInt::from(1) << bits;
    let mu = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| entry(problem, i, j).abs()).max();
    let mu = mu.filter(|mu| !mu.is_zero()).unwrap_or_else(|| one(2 * UNIT));
    let q = problem.q().iter().map(|q| whole(q.abs())).max().unwrap_or_default() << (2 * UNIT);
    let sigma = if q.is_zero() { one(3 * UNIT) } else { q.clone() };
    let bounded = match problem {
        ProblemRef::Lcp(_) | ProblemRef::Mlcp(_) => false,
        ProblemRef::Box(_) => true,
        ProblemRef::Factored(p) => p.bounds().is_some(),
    };
    let finite = |x: f64| if x.is_finite() && bounded { x.abs() } else { 0.0 };
    let bound = (0..n).map(|i| problem.bound(i)).fold(0.0, |m: f64, (lo, hi)| m.max(finite(lo)).max(finite(hi)));
    let scale = match problem {
        ProblemRef::Mlcp(_) => sigma.clone(),
        _ => q.max(&mu * whole(bound)),
    };
    let scale = if scale.is_zero() { &mu << UNIT } else { scale };

    let mut out =
        Measures { backward_error: Some(Ratio::zero()), residual: Ratio::zero(), rounding_limit: Ratio::zero() };
    for i in 0..n {
        let (w, omega) = exact_row(problem, z, i);
        let (lo, hi) = problem.bound(i);
        let free = matches!(problem, ProblemRef::Mlcp(_)) && lo == f64::NEG_INFINITY;
        let residual = if free {
            Ratio(w.abs(), sigma.clone())
        } else {
            let mut map = w.clone();
            if hi.is_finite() {
                map = map.max(&mu * (whole(z[i]) - whole(hi)));
            }
            if lo.is_finite() {
                map = map.min(&mu * (whole(z[i]) - whole(lo)));
            }
            Ratio(map.abs(), scale.clone())
        };
        out.residual = out.residual.max(residual);
        if !(z[i] >= lo && z[i] <= hi) {
            out.backward_error = None;
        }
        if lo == hi {
            continue;
        }
        let wrong = if w.is_negative() { z[i] != hi } else { z[i] != lo };
        if wrong && !w.is_zero() {
            out.backward_error = out.backward_error.map(|b| b.max(Ratio(w.abs(), omega.clone())));
        }
        out.rounding_limit = out.rounding_limit.max(Ratio(omega, &scale << 52));
    }
    out
}

/// What is false of a stated certificate, if anything.
pub fn false_statement(problem: ProblemRef<'_>, z: &[f64], stated: &Certificate) -> Option<String> {
    let exact = measure(problem, z);
    if !exact.residual.at_most(stated.residual) {
        return Some(format!("residual {:e}, exactly {:e}", stated.residual, exact.residual.to_f64()));
    }
    if !exact.rounding_limit.at_least(stated.rounding_limit) {
        return Some(format!("limit {:e}, exactly {:e}", stated.rounding_limit, exact.rounding_limit.to_f64()));
    }
    match exact.backward_error {
        None if stated.backward_error.is_finite() => Some("backward error of a z outside its bounds".into()),
        Some(b) if !b.at_most(stated.backward_error) => {
            Some(format!("backward error {:e}, exactly {:e}", stated.backward_error, b.to_f64()))
        }
        _ => None,
    }
}
