//! Rational numbers, and f64s taken apart: every f64 is an integer times a power of two.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use stiction_linalg::power::times_power;

/// An exact rational number p/q with q > 0.
///
/// It is kept as it was computed and brought to lowest terms when it is printed: `-7/3`, or `5` where q = 1.
#[derive(Debug, Clone)]
pub struct Rational {
    numerator: BigInt,
    denominator: BigInt,
}

impl Rational {
    /// `numerator / denominator`; the denominator must not be zero.
    pub(crate) fn new(numerator: BigInt, denominator: BigInt) -> Self {
        debug_assert!(!denominator.is_zero());
        if denominator.is_negative() {
            Self { numerator: -numerator, denominator: -denominator }
        } else {
            Self { numerator, denominator }
        }
    }

    /// `numerator · 2^exponent / denominator`.
    pub(crate) fn scaled(numerator: &BigInt, denominator: &BigInt, exponent: i64) -> Self {
        let shift = exponent.unsigned_abs();
        if exponent >= 0 {
            Self::new(numerator << shift, denominator.clone())
        } else {
            Self::new(numerator.clone(), denominator << shift)
        }
    }

    /// The number `x` exactly; `None` if it is not finite.
    pub fn from_f64(x: f64) -> Option<Self> {
        x.is_finite().then(|| {
            let Dyadic { mantissa, exponent } = Dyadic::from_f64(x);
            Self::scaled(&mantissa, &BigInt::one(), exponent)
        })
    }

    /// Numerator p in lowest terms.
    pub fn numerator(&self) -> BigInt {
        &self.numerator / self.numerator.gcd(&self.denominator)
    }

    /// Denominator q in lowest terms, positive.
    pub fn denominator(&self) -> BigInt {
        &self.denominator / self.numerator.gcd(&self.denominator)
    }

    /// True for 0.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// True below 0.
    pub fn is_negative(&self) -> bool {
        self.numerator.is_negative()
    }

    /// |self|.
    pub(crate) fn magnitude(&self) -> Self {
        Self { numerator: self.numerator.abs(), denominator: self.denominator.clone() }
    }

    /// `self / other` for other ≠ 0.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self::new(&self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }

    /// The nearest f64, ties to even; ±∞ beyond the range of f64.
    pub fn to_f64(&self) -> f64 {
        let magnitude = nearest_f64(self.numerator.magnitude(), self.denominator.magnitude());
        if self.is_negative() { -magnitude } else { magnitude }
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rational {}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divisor = self.numerator.gcd(&self.denominator);
        let (p, q) = (&self.numerator / &divisor, &self.denominator / &divisor);
        if q.is_one() { write!(f, "{p}") } else { write!(f, "{p}/{q}") }
    }
}

/// Bits of an f64's significand.
const PRECISION: i64 = 53;
/// Exponent of the smallest normal f64.
const LEAST_EXPONENT: i64 = -1022;

/// `p / q` to the nearest f64, ties to even.
fn nearest_f64(p: &BigUint, q: &BigUint) -> f64 {
    if p.is_zero() {
        return 0.0;
    }
    // A quotient of two or three bits more than an f64 holds, and whether anything is left.
    let shift = PRECISION + 2 - (p.bits() as i64 - q.bits() as i64);
    let (quotient, rest) = if shift >= 0 { (p << shift as u64).div_rem(q) } else { p.div_rem(&(q << (-shift) as u64)) };
    let quotient = quotient.to_u64().unwrap_or(u64::MAX);
    let length = i64::from(64 - quotient.leading_zeros());
    let top = length - 1 - shift;
    if top > 1023 {
        return f64::INFINITY;
    }
    // Numbers below the least normal one have fewer bits.
    let kept = PRECISION.min(PRECISION + top - LEAST_EXPONENT);
    if kept < 0 {
        return 0.0;
    }
    let dropped = (length - kept) as u32;
    let half = 1u64 << (dropped - 1);
    let (mut significand, tail) = (quotient >> dropped, quotient & (2 * half - 1));
    let tie = tail == half && rest.is_zero();
    if tail > half || tail == half && !tie || tie && significand % 2 == 1 {
        significand += 1;
    }
    times_power(significand as f64, (i64::from(dropped) - shift) as i32)
}

/// `mantissa · 2^exponent`, the mantissa odd (or 0 with exponent 0).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dyadic {
    pub mantissa: BigInt,
    pub exponent: i64,
}

impl Dyadic {
    pub(super) fn new(mantissa: BigInt, exponent: i64) -> Self {
        match mantissa.trailing_zeros() {
            None => Self { mantissa, exponent: 0 },
            Some(0) => Self { mantissa, exponent },
            Some(zeros) => Self { mantissa: mantissa >> zeros, exponent: exponent + zeros as i64 },
        }
    }

    /// The finite number `x`.
    pub(super) fn from_f64(x: f64) -> Self {
        let (mantissa, exponent) = parts(x);
        Self { mantissa: mantissa.into(), exponent }
    }

    /// The exponent of the lowest bit; `None` for 0, which fits any scale.
    pub(super) fn lowest_bit(&self) -> Option<i64> {
        (!self.mantissa.is_zero()).then_some(self.exponent)
    }

    /// The integer `self / 2^exponent`; `exponent` must not be above the lowest bit.
    pub(super) fn over_power(&self, exponent: i64) -> BigInt {
        if self.mantissa.sign() == Sign::NoSign {
            BigInt::zero()
        } else {
            debug_assert!(self.exponent >= exponent);
            &self.mantissa << (self.exponent - exponent) as u64
        }
    }
}

/// `x = mantissa · 2^exponent` with an odd mantissa, or (0, 0).
pub(crate) fn parts(x: f64) -> (i64, i64) {
    if x == 0.0 {
        return (0, 0);
    }
    let bits = x.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as i64;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    let zeros = mantissa.trailing_zeros();
    let mantissa = mantissa >> zeros;
    (if x < 0.0 { -mantissa } else { mantissa }, exponent + i64::from(zeros))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;

    fn ratio(p: i64, q: i64) -> Rational {
        Rational::new(p.into(), q.into())
    }

    #[test]
    fn prints_in_lowest_terms() {
        assert_eq!(ratio(-14, 6).to_string(), "-7/3");
        assert_eq!(ratio(10, -5).to_string(), "-2");
        assert_eq!(ratio(0, 7).to_string(), "0");
        assert_eq!(ratio(6, 4), ratio(3, 2));
        assert!(ratio(-1, 3) < ratio(-1, 4));
        assert_eq!(ratio(6, 4).denominator(), 2.into());
    }

    #[test]
    fn every_f64_comes_back() {
        let mut rng = Rng::new(1);
        let special = [0.0, 1.0, -0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, -3e-320, 1.0 + f64::EPSILON];
        let random: Vec<f64> = (0..2000).map(|_| f64::from_bits(rng.bits())).filter(|x| x.is_finite()).collect();
        for x in special.into_iter().chain(random) {
            assert_eq!(Rational::from_f64(x).unwrap().to_f64(), x);
        }
        assert!(Rational::from_f64(f64::NAN).is_none());
    }

    #[test]
    fn quotients_round_as_the_processor_does() {
        let mut rng = Rng::new(2);
        for _ in 0..5000 {
            let (p, q) = ((rng.bits() >> 12) as i64, (rng.bits() >> 12) as i64 + 1);
            assert_eq!(ratio(p, q).to_f64(), p as f64 / q as f64);
        }
        // Half of the least f64 is a tie and goes to zero, a little more does not.
        assert_eq!(Rational::scaled(&1.into(), &1.into(), -1075).to_f64(), 0.0);
        assert_eq!(Rational::scaled(&5.into(), &4.into(), -1075).to_f64(), 5e-324);
        assert_eq!(Rational::scaled(&1.into(), &1.into(), 1024).to_f64(), f64::INFINITY);
        assert_eq!(Rational::scaled(&BigInt::from((1u64 << 54) - 1), &1.into(), 970).to_f64(), f64::INFINITY);
    }
}
