//! Sums in twice the working precision, for residuals: a number is an unevaluated sum `high + low`.

/// `high + low ← high + low + a x`, number by number, with the errors of products and sums.
#[inline]
pub(crate) fn add_products(a: f64, x: &[f64], high: &mut [f64], low: &mut [f64]) {
    x.iter().zip(high).zip(low).for_each(|((x, high), low)| add_product(a, *x, high, low));
}

/// `high + low ← high + low + a x`, with the errors of the product and the sum.
#[inline]
pub(crate) fn add_product(a: f64, x: f64, high: &mut f64, low: &mut f64) {
    let product = a * x;
    let (sum, error) = two_sum(*high, product);
    *low += error + a.mul_add(x, -product);
    *high = sum;
}

/// `high + low ← high + low + x`, with `high` the rounded sum.
#[inline]
pub(crate) fn add_to(high: &mut f64, low: &mut f64, x: f64) {
    let (sum, error) = two_sum(*high, x);
    let rest = *low + error;
    *high = sum + rest;
    *low = rest - (*high - sum);
}

/// `a + b` as a rounded sum and its exact error.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        let (mut high, mut low) = ([1.0], [0.0]);
        for (a, x) in [(1.0, 1e20), (1e-5, 1.0), (-1.0, 1e20)] {
            add_products(a, &[x], &mut high, &mut low);
        }
        assert_eq!(high[0] + low[0], 1.0 + 1e-5);
        let (mut high, mut low) = (1.0, 0.0);
        add_to(&mut high, &mut low, 1e-20);
        assert_eq!((high, low), (1.0, 1e-20));
        add_to(&mut high, &mut low, -1.0);
        assert_eq!((high, low), (1e-20, 0.0));
    }
}
