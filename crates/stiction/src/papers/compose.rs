//! Small pieces that sections of the Lloyd and Trinkle experiments are made of.

use super::{Axis, Cell, Claim, Column, ExperimentError, Verdict};
use stiction_lcp::InputError;

/// Columns from their names and units.
pub(super) fn columns(all: &[(&str, &str)]) -> Vec<Column> {
    all.iter().map(|(name, unit)| Column { name: (*name).into(), unit: (*unit).into() }).collect()
}

/// Words in a cell.
pub(super) fn text(words: impl Into<String>) -> Cell {
    Cell::Text(words.into())
}

/// A count in a cell.
pub(super) fn count(n: usize) -> Cell {
    Cell::Count(n as u64)
}

/// A number in a cell, or nothing.
pub(super) fn number(x: Option<f64>) -> Cell {
    x.map_or(Cell::Empty, Cell::Number)
}

/// An axis.
pub(super) fn axis(label: &str, log: bool) -> Axis {
    Axis { label: label.into(), log }
}

/// A claim.
pub(super) fn claim(
    claim: impl Into<String>,
    paper_value: impl Into<String>,
    ours: impl Into<String>,
    verdict: Verdict,
) -> Claim {
    Claim { claim: claim.into(), paper_value: paper_value.into(), ours: ours.into(), verdict }
}

/// `Better` or `Holds`, or not, and why.
pub(super) fn judge(holds: bool, better: bool, why: impl FnOnce() -> String) -> Verdict {
    match (holds, better) {
        (true, true) => Verdict::Better,
        (true, false) => Verdict::Holds,
        (false, _) => Verdict::DoesNotHold(why()),
    }
}

/// Turns an error of the data into one of the experiment.
pub(super) fn failed(experiment: &'static str) -> impl Fn(InputError) -> ExperimentError {
    move |error| ExperimentError { experiment, message: error.to_string() }
}

/// The exponent e of the least squares fit y ~ xᵉ; 0 for fewer than two points.
pub(super) fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len().max(1) as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let square: f64 = logs.iter().map(|(x, _)| (x - mx) * (x - mx)).sum();
    if square > 0.0 { logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / square } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_found() {
        let cubes: Vec<(f64, f64)> = (1..6).map(|n| (f64::from(n), 0.2 * f64::from(n * n * n))).collect();
        assert!((exponent(&cubes) - 3.0).abs() < 1e-12);
        assert_eq!(exponent(&cubes[..1]), 0.0);
        assert_eq!(exponent(&[]), 0.0);
    }
}
