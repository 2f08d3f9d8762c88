//! Arithmetic modulo a prime just below 2^61, and inverses of matrices there.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;

/// Bits of the primes.
const BITS: u32 = 61;
/// 2^61.
const POWER: u64 = 1 << BITS;

/// The field of a prime `p = 2^61 − c` with small c, for which reduction takes two multiplications by c.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    c: u64,
}

impl Field {
    /// The fields of all primes below 2^61, the largest first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        // Reduction needs c² ≪ 2^61; there are tens of thousands of primes in this range.
        (0..1u64 << 20).map(|k| Self { c: 2 * k + 1 }).filter(Self::is_prime)
    }

    pub(super) fn prime(self) -> u64 {
        POWER - self.c
    }

    /// `x mod p`.
    #[inline]
    pub(super) fn reduce(self, x: u128) -> u64 {
        let mask = u128::from(POWER - 1);
        let x = (x & mask) + (x >> BITS) * u128::from(self.c);
        let x = ((x & mask) + (x >> BITS) * u128::from(self.c)) as u64;
        if x >= self.prime() { x - self.prime() } else { x }
    }

    #[inline]
    pub(super) fn times(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    #[inline]
    pub(super) fn minus(self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.prime() - b }
    }

    fn power(self, base: u64, mut exponent: u64) -> u64 {
        let (mut base, mut result) = (base % self.prime(), 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.times(result, base);
            }
            base = self.times(base, base);
            exponent >>= 1;
        }
        result
    }

    /// `1 / a` for a ≠ 0, by Fermat.
    fn inverse(self, a: u64) -> u64 {
        self.power(a, self.prime() - 2)
    }

    /// Miller–Rabin with the twelve bases that decide every number below 2^64.
    fn is_prime(&self) -> bool {
        let odd = (self.prime() - 1) >> (self.prime() - 1).trailing_zeros();
        let twos = (self.prime() - 1).trailing_zeros();
        [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].iter().all(|&base| {
            let mut x = self.power(base, odd);
            let mut passes = x == 1;
            for _ in 0..twos {
                passes |= x == self.prime() - 1;
                x = self.times(x, x);
            }
            passes
        })
    }

    /// `x mod p`, not negative.
    pub(super) fn residue(self, x: &BigInt) -> u64 {
        let p = self.prime();
        match x.to_i128() {
            Some(x) => x.rem_euclid(i128::from(p)) as u64,
            None => x.mod_floor(&BigInt::from(p)).to_u64().unwrap_or(0),
        }
    }

    /// `aᵀ b`.
    pub(super) fn dot(self, a: &[u64], b: &[u64]) -> u64 {
        // 32 products of 122 bits fit into 127.
        let part = |(a, b): (&[u64], &[u64])| {
            let sum: u128 = a.iter().zip(b).map(|(a, b)| u128::from(*a) * u128::from(*b)).sum();
            u128::from(self.reduce(sum))
        };
        self.reduce(a.chunks(32).zip(b.chunks(32)).map(part).sum())
    }
}

/// What elimination modulo p finds.
pub(crate) enum Elimination {
    /// The inverse, k × k row by row.
    Inverse(Vec<u64>),
    /// Rows and columns of a non-singular sub-matrix of full rank, in the order they were eliminated.
    Singular { rows: Vec<usize>, columns: Vec<usize> },
}

/// Inverts the k × k matrix `a` (row by row) modulo p by Gauss–Jordan elimination with row exchanges.
pub(crate) fn eliminate(field: Field, k: usize, a: &[u64]) -> Elimination {
    if k == 0 {
        return Elimination::Inverse(Vec::new());
    }
    let width = 2 * k;
    let mut t = vec![0; k * width];
    for i in 0..k {
        t[i * width..i * width + k].copy_from_slice(&a[i * k..(i + 1) * k]);
        t[i * width + k + i] = 1;
    }
    let mut original: Vec<usize> = (0..k).collect();
    let (mut columns, mut rank) = (Vec::with_capacity(k), 0);
    let mut pivot_row = vec![0; width];
    for column in 0..k {
        crate::interrupt::check();
        let Some(found) = (rank..k).find(|i| t[i * width + column] != 0) else { continue };
        if found != rank {
            original.swap(rank, found);
            for j in 0..width {
                t.swap(rank * width + j, found * width + j);
            }
        }
        let inverse = field.inverse(t[rank * width + column]);
        for j in 0..width {
            pivot_row[j] = field.times(t[rank * width + j], inverse);
        }
        for (i, row) in t.chunks_exact_mut(width).enumerate() {
            let factor = row[column];
            if i == rank {
                row.copy_from_slice(&pivot_row);
            } else if factor != 0 {
                for j in column..width {
                    row[j] = field.minus(row[j], field.times(factor, pivot_row[j]));
                }
            }
        }
        columns.push(column);
        rank += 1;
    }
    if rank < k {
        original.truncate(rank);
        return Elimination::Singular { rows: original, columns };
    }
    Elimination::Inverse(t.chunks_exact(width).flat_map(|row| row[k..].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;

    #[test]
    fn the_largest_primes_are_the_known_ones() {
        // 2^61 − 1 is Mersenne's, the next ones are 2^61 − 31 and 2^61 − 45.
        let first: Vec<u64> = Field::all().take(3).map(|f| f.c).collect();
        assert_eq!(first, [1, 31, 45]);
        for f in Field::all().take(3) {
            let p = f.prime();
            assert!((3..100_000u64).step_by(2).all(|d| p % d != 0));
        }
    }

    #[test]
    fn products_agree_with_wide_division() {
        let mut rng = Rng::new(3);
        for field in Field::all().take(5) {
            let p = field.prime();
            let a: Vec<u64> = (0..100).map(|_| rng.bits() % p).collect();
            let b: Vec<u64> = (0..100).map(|_| p - 1 - rng.bits() % 3).collect();
            let mut sum = 0u128;
            for (a, b) in a.iter().zip(&b) {
                let product = u128::from(*a) * u128::from(*b) % u128::from(p);
                assert_eq!(u128::from(field.times(*a, *b)), product);
                sum = (sum + product) % u128::from(p);
            }
            assert_eq!(u128::from(field.dot(&a, &b)), sum);
            assert_eq!(field.residue(&BigInt::from(-1)), p - 1);
            assert_eq!(field.residue(&(BigInt::from(-1) << 400u32)), p - field.residue(&(BigInt::from(1) << 400u32)));
        }
    }

    #[test]
    fn inverse_times_matrix_is_one() {
        let mut rng = Rng::new(4);
        let field = Field::all().next().unwrap();
        let k = 9;
        let a: Vec<u64> = (0..k * k).map(|_| rng.bits() % 5).collect();
        let Elimination::Inverse(inverse) = eliminate(field, k, &a) else { panic!("this one is not singular") };
        for i in 0..k {
            for j in 0..k {
                let column: Vec<u64> = (0..k).map(|l| a[l * k + j]).collect();
                assert_eq!(field.dot(&inverse[i * k..(i + 1) * k], &column), u64::from(i == j));
            }
        }
    }
}
