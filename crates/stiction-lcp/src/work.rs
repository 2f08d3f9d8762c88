//! The work of a solve, counted in floating-point operations.
//!
//! A solve ends at a number of operations, never at a time, so that where it ends is the same in every run and on every
//! machine. Methods count what grows with the order of the problem: factorizations, updates, solves, products.
//! Arithmetic with whole numbers counts by products of machine words.

/// Operations that every solve may take: about ten seconds on a laptop, in loops bound by memory.
const ALLOWED_AT_LEAST: u64 = 20_000_000_000;
/// And in units of n³, for large problems: a dense factorization takes ⅔ n³.
const ALLOWED_PER_CUBE: u64 = 20;

/// Operations that a solve of order `n` may take unless the options say otherwise: 2·10¹⁰ or 20 n³, whichever is more.
pub(crate) fn default_flops(n: usize) -> u64 {
    let n = n as u64;
    ALLOWED_AT_LEAST.max(ALLOWED_PER_CUBE.saturating_mul(n.saturating_pow(3)))
}

/// An LU factorization of order k.
pub(crate) fn factorization(k: usize) -> u64 {
    2 * (k as u64).pow(3) / 3
}

/// The inverse of a matrix of order k, by its factorization.
pub(crate) fn inversion(k: usize) -> u64 {
    factorization(k) + 2 * (k as u64).pow(3)
}

/// A matrix of `rows` × `cols` times a vector, or an update of it by a product of two vectors.
pub(crate) fn product(rows: usize, cols: usize) -> u64 {
    2 * rows as u64 * cols as u64
}
