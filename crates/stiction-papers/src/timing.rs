//! Processor times, and what is made of many numbers: medians, means, exponents.

use cpu_time::ThreadTime;

/// Processor time of this thread for one call (s), and what the call gives.
pub(super) fn timed<R>(call: impl FnOnce() -> R) -> (f64, R) {
    let clock = ThreadTime::now();
    let result = call();
    (clock.elapsed().as_secs_f64(), result)
}

/// The median, of an even number the mean of the two in the middle; NaN of nothing.
pub(super) fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    let at = |k: usize| x.get(k).copied().unwrap_or(f64::NAN);
    if x.len() % 2 == 1 { at(x.len() / 2) } else { 0.5 * (at((x.len() / 2).wrapping_sub(1)) + at(x.len() / 2)) }
}

/// Mean and standard deviation; NaN of nothing.
pub(super) fn mean_deviation(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let square = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, square.sqrt())
}

/// Least and greatest; infinite the wrong way round of nothing.
pub(super) fn range(x: impl IntoIterator<Item = f64>) -> [f64; 2] {
    x.into_iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], x| [lo.min(x), hi.max(x)])
}

/// The exponent e of the least squares fit y ~ xᵉ over points with both above zero; NaN for fewer than two of them.
pub(super) fn exponent(points: &[(f64, f64)]) -> f64 {
    let positive = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
    let (x, y): (Vec<f64>, Vec<f64>) = positive.map(|(x, y)| (x.ln(), y.ln())).unzip();
    let ((mx, dx), (my, _)) = (mean_deviation(&x), mean_deviation(&y));
    let product: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    product / (x.len() as f64 * dx * dx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_found() {
        let cubes: Vec<(f64, f64)> = (1..6).map(|n| (f64::from(n), 0.2 * f64::from(n).powi(3))).collect();
        assert!((exponent(&cubes) - 3.0).abs() < 1e-12);
        let with_none: Vec<(f64, f64)> = cubes.iter().copied().chain([(7.0, 0.0), (8.0, f64::NAN)]).collect();
        assert!((exponent(&with_none) - 3.0).abs() < 1e-12);
        assert!(exponent(&cubes[..1]).is_nan() && exponent(&[]).is_nan());
    }

    #[test]
    fn medians_and_means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
        assert_eq!(mean_deviation(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(range([2.0, -1.0, 5.0]), [-1.0, 5.0]);
    }
}
