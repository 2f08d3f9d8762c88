//! Sums in twice the working precision, the certificates' own: what judges an answer shares no arithmetic with what computed it, so these are not the
//! ones that solvers refine with.
//!
//! With at most n products in a sum, `|high + low − exact| ≤ u |exact| + (n + 1)² u² Σ|terms|`, u = 2⁻⁵³, unless a product underflows.
//!
//! Reference: \[OgitaRump05\].

/// `high + low ← high + low + a x`, number by number.
#[inline]
pub(crate) fn add_multiple(a: f64, x: &[f64], high: &mut [f64], low: &mut [f64]) {
    for ((x, high), low) in x.iter().zip(high).zip(low) {
        add_product(a, *x, high, low);
    }
}

/// `high + low ← high + low + a x`: what rounding takes from the product and from the sum goes to `low`. Returns `a x`, rounded.
#[inline(always)]
pub(crate) fn add_product(a: f64, x: f64, high: &mut f64, low: &mut f64) -> f64 {
    let product = a * x;
    let lost_in_product = a.mul_add(x, -product);
    let sum = *high + product;
    // What of the sum came from the product, and what from `high`.
    let from_product = sum - *high;
    let from_high = sum - from_product;
    let lost_in_sum = (*high - from_high) + (product - from_product);
    *high = sum;
    *low += lost_in_product + lost_in_sum;
    product
}

/// `a − b` rounded, and what rounding takes from it.
#[inline(always)]
pub(crate) fn difference(a: f64, b: f64) -> (f64, f64) {
    let difference = a - b;
    let from_a = difference + b;
    (difference, (a - from_a) - (b - (from_a - difference)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_cancels_keeps_its_small_terms() {
        let (mut high, mut low) = ([1.0, 0.0], [0.0; 2]);
        for (a, x) in [(1.0, 1e20), (1e-5, 1.0), (-1.0, 1e20)] {
            add_multiple(a, &[x, -x], &mut high, &mut low);
        }
        assert_eq!(high[0] + low[0], 1.0 + 1e-5);
        assert_eq!(high[1] + low[1], -1e-5);
    }

    #[test]
    fn a_product_keeps_what_rounding_takes() {
        // (1 + ε)² − 1 − 2 ε = ε².
        let x = 1.0 + f64::EPSILON;
        let (mut high, mut low) = (0.0, 0.0);
        add_product(x, x, &mut high, &mut low);
        add_product(-1.0, 1.0 + 2.0 * f64::EPSILON, &mut high, &mut low);
        assert_eq!(high + low, f64::EPSILON * f64::EPSILON);
    }
}
