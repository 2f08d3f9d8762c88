//! Exact solutions of linear systems in integers, by p-adic lifting.
//!
//! The inverse C of A modulo one prime p gives the solution digit by digit: `x ← C r mod p`, `r ← (r − A x) / p`. From the
//! digits the rational solution is reconstructed, and then checked in the equations themselves, so that a result
//! is right whatever the digits were. k digits cost k² each, where fraction-free elimination costs k³ long products.
//!
//! Reference: \[Dixon82\].

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::integer::dot;
use super::modular::{Elimination, Field, eliminate};

/// The solution of a linear system.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LinearSolution {
    /// `xᵢ = numerators[i] / denominator`, the denominator positive.
    Unique { numerators: Vec<BigInt>, denominator: BigInt },
    /// The matrix is singular.
    Singular,
}

/// Solves `A x = b` with A k × k, row by row.
pub(crate) fn solve(a: &[BigInt], b: &[BigInt]) -> LinearSolution {
    let k = b.len();
    for field in Field::all() {
        let residues: Vec<u64> = a.iter().map(|x| field.residue(x)).collect();
        match eliminate(field, k, &residues) {
            Elimination::Inverse(inverse) => return lift(field, a, &inverse, b),
            Elimination::Singular { rows, columns } => {
                if column_depends(field, a, k, &rows, &columns) {
                    return LinearSolution::Singular;
                }
            }
        }
    }
    // Only a determinant with tens of thousands of these primes in it comes here; more than memory holds.
    LinearSolution::Singular
}

/// True if a column outside `columns` is exactly a combination of these. `A[rows, columns]` is not singular, modulo p and so at all.
fn column_depends(field: Field, a: &[BigInt], k: usize, rows: &[usize], columns: &[usize]) -> bool {
    let Some(outside) = (0..k).find(|j| !columns.contains(j)) else { return false };
    let sub: Vec<BigInt> = rows.iter().flat_map(|i| columns.iter().map(move |j| a[i * k + j].clone())).collect();
    let right: Vec<BigInt> = rows.iter().map(|i| a[i * k + outside].clone()).collect();
    let residues: Vec<u64> = sub.iter().map(|x| field.residue(x)).collect();
    let Elimination::Inverse(inverse) = eliminate(field, rows.len(), &residues) else { return false };
    let LinearSolution::Unique { numerators, denominator } = lift(field, &sub, &inverse, &right) else { return false };
    (0..k).all(|i| {
        let row: Vec<BigInt> = columns.iter().map(|j| a[i * k + j].clone()).collect();
        dot(&row, &numerators) == &a[i * k + outside] * &denominator
    })
}

/// Digits before the first attempt to reconstruct; later attempts come after half as many again.
const FIRST_ATTEMPT: usize = 4;

/// Solves `A x = b` given `inverse`, the inverse of A modulo p.
fn lift(field: Field, a: &[BigInt], inverse: &[u64], b: &[BigInt]) -> LinearSolution {
    let k = b.len();
    let p = BigInt::from(field.prime());
    let chunks = Chunks::new(a, k);
    let mut digits: Vec<Vec<u64>> = Vec::new();
    let mut rest = b.to_vec();
    let mut attempt = FIRST_ATTEMPT;
    loop {
        while digits.len() < attempt {
            crate::interrupt::check();
            let residues: Vec<u64> = rest.iter().map(|r| field.residue(r)).collect();
            let digit: Vec<u64> = (0..k).map(|i| field.dot(&inverse[i * k..(i + 1) * k], &residues)).collect();
            for (i, r) in rest.iter_mut().enumerate() {
                *r -= chunks.row_times(i, &digit);
                *r /= &p;
            }
            digits.push(digit);
        }
        if let Some((numerators, denominator)) = reconstruct_all(&p, &digits, k) {
            let right = |i: usize| dot(&a[i * k..(i + 1) * k], &numerators) == &b[i] * &denominator;
            if (0..k).all(right) {
                return LinearSolution::Unique { numerators, denominator };
            }
        }
        attempt += attempt / 2;
    }
}

/// A matrix cut into pieces of 56 bits, so that a product with a vector of digits runs in machine words.
struct Chunks {
    k: usize,
    /// One k × k matrix per piece, the lowest first.
    pieces: Vec<Vec<i64>>,
}

/// Bits of a piece: 1024 products with a digit of 61 bits fit into an i128.
const PIECE: u64 = 56;
const PRODUCTS: usize = 1024;

impl Chunks {
    fn new(a: &[BigInt], k: usize) -> Self {
        let bits = a.iter().map(|x| x.bits()).max().unwrap_or(0);
        let mut pieces = vec![vec![0i64; a.len()]; bits.div_ceil(PIECE).max(1) as usize];
        for (at, x) in a.iter().enumerate() {
            let (sign, mut rest) = (if x.is_negative() { -1 } else { 1 }, x.magnitude().clone());
            for piece in &mut pieces {
                let low = rest.iter_u64_digits().next().unwrap_or(0) & ((1 << PIECE) - 1);
                piece[at] = sign * low as i64;
                rest >>= PIECE;
            }
        }
        Self { k, pieces }
    }

    /// Row i times the digits.
    fn row_times(&self, i: usize, digit: &[u64]) -> BigInt {
        let mut sum = BigInt::zero();
        for piece in self.pieces.iter().rev() {
            sum <<= PIECE;
            let row = &piece[i * self.k..(i + 1) * self.k];
            for (row, digit) in row.chunks(PRODUCTS).zip(digit.chunks(PRODUCTS)) {
                sum += row.iter().zip(digit).map(|(a, x)| i128::from(*a) * i128::from(*x)).sum::<i128>();
            }
        }
        sum
    }
}

/// A reconstructed fraction must be shorter than the digits by this many bits to be believed and checked.
const MARGIN: u64 = 40;

/// All entries over one common denominator, or `None` if there are not enough digits.
fn reconstruct_all(p: &BigInt, digits: &[Vec<u64>], k: usize) -> Option<(Vec<BigInt>, BigInt)> {
    let modulus = p.pow(digits.len() as u32);
    let half = &modulus >> 1u32;
    let mut denominator = BigInt::one();
    let mut numerators: Vec<BigInt> = Vec::with_capacity(k);
    for i in 0..k {
        crate::interrupt::check();
        let column: Vec<u64> = digits.iter().map(|d| d[i]).collect();
        let mut x = (join(p, &column) * &denominator).mod_floor(&modulus);
        if x > half {
            x -= &modulus;
        }
        if 2 * x.bits() + MARGIN <= modulus.bits() {
            numerators.push(x);
            continue;
        }
        let (numerator, factor) = reconstruct(&modulus, x)?;
        numerators.iter_mut().for_each(|n| *n *= &factor);
        numerators.push(numerator);
        denominator *= factor;
        if denominator.bits() + MARGIN > modulus.bits() {
            return None;
        }
    }
    Some((numerators, denominator))
}

/// `Σ digits[t] pᵗ`, halves first so that the products are balanced.
fn join(p: &BigInt, digits: &[u64]) -> BigInt {
    if digits.len() <= 8 {
        return digits.iter().rev().fold(BigInt::zero(), |sum, d| sum * p + *d);
    }
    let (low, high) = digits.split_at(digits.len() / 2);
    join(p, low) + join(p, high) * p.pow(low.len() as u32)
}

/// The fraction n/d ≡ x modulo `modulus` with n and d below its root, by the extended Euclidean algorithm.
fn reconstruct(modulus: &BigInt, x: BigInt) -> Option<(BigInt, BigInt)> {
    let stop = modulus.bits() / 2;
    let (mut r0, mut r1) = (modulus.clone(), x.mod_floor(modulus));
    let (mut s0, mut s1) = (BigInt::zero(), BigInt::one());
    while r1.bits() > stop {
        let (quotient, r2) = r0.div_rem(&r1);
        let s2 = s0 - &s1 * quotient;
        (r0, r1, s0, s1) = (r1, r2, s1, s2);
    }
    let believable = !s1.is_zero() && r1.bits() + s1.bits() + MARGIN <= modulus.bits();
    believable.then(|| if s1.is_negative() { (-r1, -s1) } else { (r1, s1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;

    fn integers(x: &[i64]) -> Vec<BigInt> {
        x.iter().map(|x| BigInt::from(*x)).collect()
    }

    #[test]
    fn solves_a_small_system() {
        let LinearSolution::Unique { numerators, denominator } = solve(&integers(&[2, 1, 1, 3]), &integers(&[1, 1]))
        else {
            panic!("not singular")
        };
        assert_eq!((numerators, denominator), (integers(&[2, 1]), 5.into()));
    }

    #[test]
    fn tells_singular_from_divisible_by_the_prime() {
        assert_eq!(solve(&integers(&[1, 2, 2, 4]), &integers(&[1, 2])), LinearSolution::Singular);
        assert_eq!(solve(&integers(&[0]), &integers(&[0])), LinearSolution::Singular);
        let p = Field::all().next().unwrap().prime() as i64;
        let b = solve(&integers(&[p, 0, 0, 1]), &integers(&[3, 5]));
        let expected =
            LinearSolution::Unique { numerators: vec![3.into(), BigInt::from(5) * p], denominator: p.into() };
        assert_eq!(b, expected);
        assert_eq!(solve(&integers(&[p, 0, 0, 0]), &integers(&[3, 5])), LinearSolution::Singular);
    }

    #[test]
    fn long_entries_and_long_solutions() {
        let mut rng = Rng::new(5);
        for k in [1, 3, 17, 40] {
            let long = |rng: &mut Rng| (BigInt::from(rng.bits()) << 90u32) - BigInt::from(rng.bits()) * rng.bits();
            let a: Vec<BigInt> = (0..k * k).map(|_| long(&mut rng)).collect();
            let b: Vec<BigInt> = (0..k).map(|_| long(&mut rng) - (BigInt::one() << 150u32)).collect();
            let LinearSolution::Unique { numerators, denominator } = solve(&a, &b) else { panic!("singular") };
            assert!(denominator.is_positive());
            for i in 0..k {
                assert_eq!(dot(&a[i * k..(i + 1) * k], &numerators), &b[i] * &denominator);
            }
        }
    }
}
