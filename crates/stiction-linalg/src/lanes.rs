//! Sums of products in four fixed lanes, for rows of a few numbers; [`crate::matrix::dot`] has eight, for
//! long ones. Plain, of absolute values, and in twice the working precision. Comparison of rows bit by bit.

use crate::doubled::{add_product, two_sum};

/// Numbers done side by side. Rows that are padded with zeros to a multiple of it have no remainder.
pub const LANES: usize = 4;

/// `n` rounded up to whole lanes.
pub fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// True if two rows hold the same numbers, to the last bit.
#[inline]
pub fn same_bits(x: &[f64], y: &[f64]) -> bool {
    let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits();
    x.len() == y.len() && if x.len() < 16 { x.iter().zip(y).all(same) } else { same_bits_of_long(x, y) }
}

/// True if all numbers are finite.
pub fn all_finite(x: &[f64]) -> bool {
    // A product with zero is zero, or else no number.
    let (eights, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for eight in eights {
        for k in 0..8 {
            sums[k] += 0.0 * eight[k];
        }
    }
    sums.iter().chain(rest).all(|x| x.is_finite())
}

/// [`same_bits`] of rows of one length, many numbers at a time.
fn same_bits_of_long(x: &[f64], y: &[f64]) -> bool {
    let differ = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0, |bits, (x, y)| bits | (x.to_bits() ^ y.to_bits())) != 0;
    let ((xc, xr), (yc, yr)) = (x.as_chunks::<16>(), y.as_chunks::<16>());
    !xc.iter().zip(yc).any(|(x, y)| differ(x, y)) && !differ(xr, yr)
}

/// `xᵀ y`.
#[inline(always)]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (xc, xr) = x[..n].as_chunks::<LANES>();
    let (yc, yr) = y[..n].as_chunks::<LANES>();
    let mut lane = [0.0f64; LANES];
    for (a, b) in xc.iter().zip(yc) {
        for k in 0..LANES {
            lane[k] += a[k] * b[k];
        }
    }
    let mut sum = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    for (a, b) in xr.iter().zip(yr) {
        sum += a * b;
    }
    sum
}

/// `Σ |xᵢ yᵢ|`.
#[inline(always)]
pub fn dot_of_sizes(x: &[f64], y: &[f64]) -> f64 {
    let ((xc, xr), (yc, yr)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut lane = [0.0f64; LANES];
    for (a, b) in xc.iter().zip(yc) {
        for k in 0..LANES {
            lane[k] += (a[k] * b[k]).abs();
        }
    }
    let sum = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    xr.iter().zip(yr).fold(sum, |sum, (a, b)| sum + (a * b).abs())
}

/// `start + xᵀ y` for lengths that are multiples of [`LANES`], every product and sum with its error.
#[inline(always)]
pub fn dot_doubled(start: f64, x: &[f64], y: &[f64]) -> f64 {
    let (xc, _) = x.as_chunks::<LANES>();
    let (yc, _) = y.as_chunks::<LANES>();
    let (mut high, mut low) = ([0.0f64; LANES], [0.0f64; LANES]);
    high[0] = start;
    for (a, b) in xc.iter().zip(yc) {
        for k in 0..LANES {
            add_product(a[k], b[k], &mut high[k], &mut low[k]);
        }
    }
    let (mut sum, mut rest) = (high[0], (low[0] + low[2]) + (low[1] + low[3]));
    for x in &high[1..] {
        let (next, error) = two_sum(sum, *x);
        rest += error;
        sum = next;
    }
    sum + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_sums_keep_what_plain_ones_lose() {
        let (x, y) = ([1e20, 1.0, -1e20, 0.0, 3.0, 0.0, 0.0, 0.0], [1.0, 1e-5, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(dot_doubled(1.0, &x, &y), 7.0 + 1e-5);
        assert_eq!(dot(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0; 5]), 15.0);
        assert_eq!(dot_of_sizes(&[1.0, -2.0, 3.0, -4.0, 5.0], &[-1.0; 5]), 15.0);
        assert_eq!((padded(0), padded(1), padded(4), padded(5)), (0, 4, 4, 8));
    }

    #[test]
    fn one_bit_anywhere_is_a_difference() {
        for n in 0..50 {
            let x: Vec<f64> = (0..n).map(|i| if i % 7 == 3 { f64::NAN } else { f64::from(i) }).collect();
            assert!(same_bits(&x, &x.clone()));
            for i in 0..x.len() {
                let mut y = x.clone();
                y[i] = f64::from_bits(y[i].to_bits() ^ 1);
                assert!(!same_bits(&x, &y), "{i} of {n}");
            }
            assert!(n == 0 || !same_bits(&x, &x[1..]));
        }
        assert!(!same_bits(&[0.0], &[-0.0]));
    }
}
