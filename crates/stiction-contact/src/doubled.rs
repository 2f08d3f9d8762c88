//! Sums of products in twice the working precision, for residuals.

/// An unevaluated sum of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Doubled {
    high: f64,
    low: f64,
}

impl Doubled {
    /// The sum of one number.
    pub fn new(start: f64) -> Self {
        Self { high: start, low: 0.0 }
    }

    /// `start + xᵀ y`.
    pub fn dot(start: f64, x: &[f64], y: &[f64]) -> Self {
        let mut sum = Self::new(start);
        sum.add_dot(x, y);
        sum
    }

    /// Adds `xᵀ y`.
    pub fn add_dot(&mut self, x: &[f64], y: &[f64]) {
        x.iter().zip(y).for_each(|(x, y)| self.add_product(*x, *y));
    }

    /// Adds `a b`, with the errors of the product and of the sum.
    #[inline]
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.low += a.mul_add(b, -product);
    }

    /// Adds a number, with the error of the sum.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let sum = self.high + x;
        let back = sum - self.high;
        self.low += (self.high - (sum - back)) + (x - back);
        self.high = sum;
    }

    /// The sum, rounded.
    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

/// `high + low ← high + low + x`, with `high` the rounded sum.
pub(crate) fn add_to(high: &mut f64, low: &mut f64, x: f64) {
    let mut sum = Doubled { high: *high, low: *low };
    sum.add(x);
    *high = sum.value();
    *low = sum.low - (*high - sum.high);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        assert_eq!(Doubled::dot(1.0, &[1e20, 1.0, -1e20], &[1.0, 1e-5, 1.0]).value(), 1.0 + 1e-5);
        let (mut high, mut low) = (1.0, 0.0);
        add_to(&mut high, &mut low, 1e-20);
        assert_eq!((high, low), (1.0, 1e-20));
        add_to(&mut high, &mut low, -1.0);
        assert_eq!((high, low), (1e-20, 0.0));
    }
}
