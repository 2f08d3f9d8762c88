//! Small things the experiments here share: cells, columns, verdicts, medians and slopes.

use std::time::Duration;

use cpu_time::ThreadTime;

use crate::papers::{Axis, Cell, Claim, Column, Plot, Series, Verdict};

/// A column without a unit is one of words or counts.
pub fn columns(names: &[(&str, &str)]) -> Vec<Column> {
    names.iter().map(|(name, unit)| Column { name: (*name).into(), unit: (*unit).into() }).collect()
}

/// A cell of words.
pub fn text(words: impl Into<String>) -> Cell {
    Cell::Text(words.into())
}

/// A cell with a count.
pub fn count(n: usize) -> Cell {
    Cell::Count(n as u64)
}

/// A claim whose verdict depends on whether it holds: `why` says why not.
pub fn claim(claim: &str, paper_value: &str, ours: String, holds: bool, why: &str) -> Claim {
    let verdict = if holds { Verdict::Holds } else { Verdict::DoesNotHold(why.into()) };
    Claim { claim: claim.into(), paper_value: paper_value.into(), ours, verdict }
}

/// A claim of a factor: better where ours is beyond the paper's by a tenth.
pub fn factor(what: &str, paper: f64, ours: f64, why: &str) -> Claim {
    let verdict = if ours >= 1.1 * paper {
        Verdict::Better
    } else if ours >= paper {
        Verdict::Holds
    } else {
        Verdict::DoesNotHold(why.into())
    };
    Claim { claim: what.into(), paper_value: format!("{paper:.2}"), ours: format!("{ours:.2}"), verdict }
}

/// A plot over labelled axes, each logarithmic if so.
pub fn plot(name: &str, title: &str, x: (&str, bool), y: (&str, bool), series: Vec<Series>) -> Plot {
    let axis = |(label, log): (&str, bool)| Axis { label: label.into(), log };
    Plot { name: name.into(), title: title.into(), x: axis(x), y: axis(y), series }
}

/// A line of a plot.
pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, ..Series::default() }
}

/// The median; NaN of nothing.
pub fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    x.get(x.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Mean and standard deviation.
pub fn mean_deviation(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
    let square = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len().max(1) as f64;
    (mean, square.sqrt())
}

/// The slope of the straight line through points on logarithmic axes.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y)| (x.ln(), y.ln())).unzip();
    let ((mx, _), (my, _)) = (mean_deviation(&x), mean_deviation(&y));
    let top: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    top / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

/// Processor time of a call, and what it gives.
pub fn timed<R>(call: impl FnOnce() -> R) -> (Duration, R) {
    let clock = ThreadTime::now();
    let result = call();
    (clock.elapsed(), result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_and_medians() {
        let cubic: Vec<(f64, f64)> = (1..6).map(|n| (f64::from(n), 2.0 * f64::from(n).powi(3))).collect();
        assert!((slope(&cubic) - 3.0).abs() < 1e-12);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(mean_deviation(&[1.0, 3.0]), (2.0, 1.0));
    }
}
