//! Exponents, and exact products with powers of two.

/// The exponent e with `2^(e−1) ≤ |x| < 2^e`; 0 for 0.
#[inline]
pub fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let bits = ((x.to_bits() >> 52) & 0x7ff) as i32;
    if bits == 0 { exponent(x * f64::from_bits(0x43f0_0000_0000_0000)) - 64 } else { bits - 1022 }
}

/// `x · 2^e`, exact unless it leaves the range of f64.
#[inline]
pub fn times_power(x: f64, e: i32) -> f64 {
    let power = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    if (-1022..=1023).contains(&e) {
        return x * power(e);
    }
    let half = (e / 2).clamp(-1022, 1023);
    let rest = (e - half).clamp(-1022, 1023);
    x * power(half) * power(rest)
}
