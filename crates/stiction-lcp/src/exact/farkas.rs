//! Farkas vectors: proofs that no z meets even the inequalities of a problem, checked exactly.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::dictionary::Dictionary;
use super::integer::{IntegerProblem, dot};
use super::rational::{Dyadic, Rational};
use super::simplex::{End, maximize};
use crate::matrix::max_abs;
use crate::problem::ProblemRef;

/// True if `y` (n) proves, exactly for the f64s given, that the problem has no solution.
///
/// For an LCP: `y ≥ 0`, `Mᵀ y ≤ 0`, `qᵀ y < 0`. In general: `yᵢ` has the sign that wᵢ must have (≥ 0 where only the lower
/// bound is finite, ≤ 0 where only the upper one is, any where none is and so `wᵢ = 0`, and 0 where both are), and
/// `yᵀ(M z + q) < 0` for all z within the bounds. False for a vector of another length or with a number that is not finite.
pub fn check_farkas<'p>(problem: impl Into<ProblemRef<'p>>, y: &[f64]) -> bool {
    check(&IntegerProblem::new(problem.into()), y)
}

/// A vector that passes [`check_farkas`], if one is found.
///
/// First the hint (n; a secondary ray with its rounding errors, say) is cleaned: clamped, its small entries set to
/// zero, rounded to few bits or to small fractions. Then, for LCPs up to order 60, `max −qᵀy, Mᵀ y ≤ 0, y ≥ 0` is decided by the simplex
/// method in integers. `None` if the problem is feasible, if it was not decided, or if no proof was found whose entries are f64s.
pub fn find_farkas<'p>(problem: impl Into<ProblemRef<'p>>, hint: Option<&[f64]>) -> Option<Vec<f64>> {
    let problem = IntegerProblem::new(problem.into());
    let hint = hint.filter(|y| y.len() == problem.n() && y.iter().all(|x| x.is_finite()));
    if let Some(y) = hint.and_then(|y| cleaned(&problem, y)) {
        return Some(y);
    }
    let plain =
        problem.lo.iter().all(|lo| lo.as_ref().is_some_and(|x| x.is_zero())) && problem.hi.iter().all(|x| x.is_none());
    (plain && problem.n() <= MOST_ROWS).then(|| by_simplex(&problem)).flatten()
}

/// Order up to which the linear program is solved exactly.
const MOST_ROWS: usize = 60;

fn check(problem: &IntegerProblem, y: &[f64]) -> bool {
    let n = problem.n();
    if y.len() != n || !y.iter().all(|x| x.is_finite()) {
        return false;
    }
    // In the scale of the integers y′ = y 2^ω, times one power of two that makes all of it whole.
    let scaled: Vec<Dyadic> = y.iter().map(|&x| Dyadic::from_f64(x)).collect();
    let lowest =
        scaled.iter().zip(&problem.w_exponent).filter_map(|(x, e)| x.lowest_bit().map(|l| l + e)).min().unwrap_or(0);
    let y: Vec<BigInt> = scaled.iter().zip(&problem.w_exponent).map(|(x, e)| x.over_power(lowest - e)).collect();
    let signs_hold = (0..n).all(|i| match (&problem.lo[i], &problem.hi[i]) {
        (Some(_), None) => !y[i].is_negative(),
        (None, Some(_)) => !y[i].is_positive(),
        (None, None) => true,
        (Some(_), Some(_)) => y[i].is_zero(),
    });
    signs_hold && greatest(problem, &y).is_some_and(|g| g.is_negative())
}

/// The greatest `yᵀ(M′ z′ + q′)` over all z′ within the bounds; `None` if there is none.
fn greatest(problem: &IntegerProblem, y: &[BigInt]) -> Option<BigInt> {
    let mut sum = dot(&problem.q, y);
    for (j, c) in problem.transposed_times(y).into_iter().enumerate() {
        if !c.is_zero() {
            sum += c.clone() * if c.is_positive() { problem.hi[j].as_ref()? } else { problem.lo[j].as_ref()? };
        }
    }
    Some(sum)
}

/// Entries below these parts of the largest are tried as zeros.
const ENTRY_THRESHOLDS: [f64; 7] = [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5];
/// Bits kept in the tries at rounding.
const FEW_BITS: [i32; 4] = [8, 16, 24, 36];
/// Largest denominator of a small fraction.
const SMALL_DENOMINATOR: f64 = 1000.0;

/// A version of `y` that passes, if cleaning helps.
fn cleaned(problem: &IntegerProblem, y: &[f64]) -> Option<Vec<f64>> {
    let largest = max_abs(y);
    if largest == 0.0 {
        return None;
    }
    let passes = |y: Vec<f64>| check(problem, &y).then_some(y);
    for part in ENTRY_THRESHOLDS {
        let keep = |i: usize| match (&problem.lo[i], &problem.hi[i]) {
            (Some(_), None) => y[i] > part * largest,
            (None, Some(_)) => y[i] < -part * largest,
            (None, None) => y[i].abs() > part * largest,
            (Some(_), Some(_)) => false,
        };
        let kept: Vec<f64> = (0..y.len()).map(|i| if keep(i) { y[i] / largest } else { 0.0 }).collect();
        let coarse = |bits: i32| kept.iter().map(|x| (x * f64::powi(2.0, bits)).round()).collect();
        let found = passes(kept.clone())
            .or_else(|| small_fractions(&kept).and_then(passes))
            .or_else(|| FEW_BITS.iter().find_map(|&bits| passes(coarse(bits))));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Entries in [−1, 1] as integers over one denominator of small fractions; `None` if that is too large for f64s.
fn small_fractions(y: &[f64]) -> Option<Vec<f64>> {
    let fractions: Vec<(f64, f64)> = y.iter().map(|&x| small_fraction(x)).collect();
    let mut common = 1u64;
    for (_, q) in &fractions {
        common = common.checked_mul(*q as u64 / common.gcd(&(*q as u64))).filter(|c| *c < 1 << 53)?;
    }
    Some(fractions.iter().map(|(p, q)| p * (common as f64 / q)).collect())
}

/// The last convergent p/q of the continued fraction of x with a small q.
fn small_fraction(x: f64) -> (f64, f64) {
    let (mut p, mut q) = ((1.0, x.floor()), (0.0, 1.0));
    let mut rest = x - x.floor();
    // Every step at least doubles q over two steps, so the bound on q ends this.
    while rest > f64::EPSILON {
        let whole = (1.0 / rest).floor();
        let next = whole * q.1 + q.0;
        if next > SMALL_DENOMINATOR {
            break;
        }
        (p, q) = ((p.1, whole * p.1 + p.0), (q.1, next));
        rest = 1.0 / rest - whole;
    }
    (p.1, q.1)
}

/// Products of machine words after which a linear program is given up: about a second.
const MAX_WORK: u64 = 1_000_000_000;

/// The cone is shrunk by these parts of its columns, in bits, so that what is left survives rounding.
const MARGINS: [u32; 2] = [24, 40];
/// Order up to which the larger linear program of [`interior`] is solved.
const MOST_INTERIOR_ROWS: usize = 24;

/// Decides the linear program of an LCP, and looks for a vector that survives rounding to f64s.
fn by_simplex(problem: &IntegerProblem) -> Option<Vec<f64>> {
    let n = problem.n();
    let columns: Vec<Vec<BigInt>> = (0..n).map(|j| (0..n).map(|i| problem.entry(i, j)).collect()).collect();
    let passes = |y: Vec<BigInt>| Some(to_floats(problem, &y)).filter(|y| check(problem, y));
    passes(falling_edge(&columns, &problem.q)?)
        .or_else(|| MARGINS.iter().find_map(|&bits| strictly_inside(&columns, &problem.q, bits).and_then(passes)))
        .or_else(|| if n <= MOST_INTERIOR_ROWS { interior(problem).and_then(passes) } else { None })
}

/// An edge of the cone `cᵀ y ≤ 0` for all columns c, `y ≥ 0`, along which `qᵀ y` falls; `None` if there is none.
///
/// `max −qᵀ y, cᵀ y ≤ 1, y ≥ 0` starts at y = 0 and is unbounded exactly if there is one.
fn falling_edge(columns: &[Vec<BigInt>], q: &[BigInt]) -> Option<Vec<BigInt>> {
    let n = q.len();
    let rows = columns.iter().map(|c| c.iter().map(|x| -x).chain([BigInt::one()]).collect()).collect();
    let order: Vec<usize> = (n..2 * n).collect();
    let mut dictionary = Dictionary::new(rows, order.clone(), (0..n).collect());
    let objective = dictionary.add_row(q.iter().map(|q| -q).chain([BigInt::zero()]).collect());
    match maximize(&mut dictionary, objective, &order, MAX_WORK) {
        End::Unbounded(column) => Some((0..n).map(|i| dictionary.rate(i, column)).collect()),
        End::Optimal | End::Limit => None,
    }
}

/// The same with every entry raised by 2^−bits of the largest in its column: what is found has that much slack.
fn strictly_inside(columns: &[Vec<BigInt>], q: &[BigInt], bits: u32) -> Option<Vec<BigInt>> {
    let raised = |c: &[BigInt]| {
        let part = c.iter().map(|x| x.abs()).max().unwrap_or_default();
        c.iter().map(|x| if x.is_zero() { BigInt::zero() } else { (x << bits) + &part }).collect::<Vec<_>>()
    };
    let columns: Vec<Vec<BigInt>> = columns.iter().map(|c| raised(c)).collect();
    falling_edge(&columns, &raised(q))
}

/// A vector of the cone with slack in every inequality that can have some, so that it may survive rounding.
///
/// `max Σ t, M′ᵀ y + t ≤ 0, q′ᵀ y + t₀ ≤ 0, t ≤ 1, y ≥ 0`: as the cone can be scaled, every t that can be positive ends at 1.
fn interior(problem: &IntegerProblem) -> Option<Vec<BigInt>> {
    let n = problem.n();
    let columns = n + n + 1;
    let mut rows: Vec<Vec<BigInt>> = Vec::with_capacity(2 * n + 2);
    for j in 0..=n {
        let mut row: Vec<BigInt> = (0..n).map(|i| if j < n { -problem.entry(i, j) } else { -&problem.q[i] }).collect();
        row.resize(columns + 1, BigInt::zero());
        row[n + j] = -BigInt::one();
        rows.push(row);
    }
    for j in 0..=n {
        let mut row = vec![BigInt::zero(); columns + 1];
        row[n + j] = -BigInt::one();
        row[columns] = BigInt::one();
        rows.push(row);
    }
    let order: Vec<usize> = (columns..columns + rows.len()).collect();
    let mut dictionary = Dictionary::new(rows, order.clone(), (0..columns).collect());
    let objective =
        (0..=columns).map(|c| if (n..columns).contains(&c) { BigInt::one() } else { BigInt::zero() }).collect();
    let objective = dictionary.add_row(objective);
    let end = maximize(&mut dictionary, objective, &order, MAX_WORK);
    (end == End::Optimal).then(|| (0..n).map(|i| dictionary.value(i)).collect())
}

/// `y = y′ 2^−ω` as f64s, divided by the common divisor of y′ and scaled by one power of two so that the largest is about 1:
/// exact wherever small integers are behind it.
fn to_floats(problem: &IntegerProblem, y: &[BigInt]) -> Vec<f64> {
    let divisor = y.iter().fold(BigInt::zero(), |d, x| d.gcd(x)).max(BigInt::one());
    let y: Vec<BigInt> = y.iter().map(|x| x / &divisor).collect();
    let sizes = y.iter().zip(&problem.w_exponent).filter(|(x, _)| !x.is_zero()).map(|(x, e)| x.bits() as i64 - e);
    let largest = sizes.max().unwrap_or(0);
    let one = BigInt::one();
    y.iter().zip(&problem.w_exponent).map(|(x, e)| Rational::scaled(x, &one, -e - largest).to_f64()).collect()
}
