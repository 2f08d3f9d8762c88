//! Where a function changes its sign, to rounding.
//!
//! Reference: \[Chandrupatla97\].

/// Most evaluations. Halving alone would take 60 for all digits, and is what a function that jumps
/// needs.
const LIMIT: usize = 200;

/// Width of the interval that is left, beside that of the start.
const ROUNDING: f64 = 1e-16;

/// A place between `low` and `high` where `f` changes its sign, by inverse quadratic interpolation
/// where the function is near a parabola and by halving elsewhere. One of the ends if the sign is
/// the same at both: that whose value is nearer to zero.
pub(crate) fn sign_change(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    // The newest point, the other end of the interval, and the point before.
    let (mut a, mut b) = ((high, f(high)), (low, f(low)));
    if (a.1 > 0.0) == (b.1 > 0.0) {
        return if a.1.abs() < b.1.abs() { a.0 } else { b.0 };
    }
    let width = ROUNDING * (high - low);
    let mut part = 0.5;
    for _ in 0..LIMIT {
        let x = a.0 + part * (b.0 - a.0);
        let new = (x, f(x));
        let before = if (new.1 > 0.0) == (a.1 > 0.0) { a } else { std::mem::replace(&mut b, a) };
        a = new;
        let least = width / (b.0 - a.0).abs();
        if a.1 == 0.0 || least > 0.5 {
            break;
        }
        let xi = (a.0 - b.0) / (before.0 - b.0);
        let phi = (a.1 - b.1) / (before.1 - b.1);
        part = 0.5;
        if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            let (to_b, to_before) = (b.1 - a.1, before.1 - a.1);
            let between = before.1 - b.1;
            part = a.1 / to_b * before.1 / -between + (before.0 - a.0) / (b.0 - a.0) * a.1 / to_before * b.1 / between;
        }
        part = part.clamp(least, 1.0 - least);
    }
    if a.1.abs() <= b.1.abs() { a.0 } else { b.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// The sign change, and the number of evaluations.
    fn found(low: f64, high: f64, f: impl Fn(f64) -> f64) -> (f64, usize) {
        let count = Cell::new(0);
        let counted = |x: f64| {
            count.set(count.get() + 1);
            f(x)
        };
        (sign_change(low, high, counted), count.get())
    }

    #[test]
    fn smooth_functions_take_few_evaluations() {
        for root in [0.1, 0.5, 0.999, 1e-3] {
            let (x, count) = found(0.0, 1.0, |x| (x - root) * (1.0 + 0.5 * x));
            assert!((x - root).abs() < 1e-15 && count < 14, "{root}: {x}, {count}");
            let (x, count) = found(-1.0, 1.0, |x| libm::atan(3.0 * (root - x)));
            assert!((x - root).abs() < 1e-15 && count < 18, "{root}: {x}, {count}");
        }
    }

    #[test]
    fn jumps_and_flat_parts_are_found_too() {
        let (x, count) = found(0.0, 1.0, |x| if x < 0.3 { -1.0 } else { 1.0 });
        assert!((x - 0.3).abs() < 1e-15 && count < 80, "{x}, {count}");
        let (x, count) = found(0.0, 1.0, |x| (x - 0.7).powi(9));
        assert!((x - 0.7).abs() < 1e-4 && count < 120, "{x}, {count}");
        assert_eq!(found(0.0, 1.0, |x| x + 1.0), (0.0, 2));
        assert_eq!(found(0.0, 1.0, |x| x - 2.0), (1.0, 2));
        assert_eq!(found(0.0, 1.0, |_| f64::NAN).1, 2);
    }
}
