//! Axes: which numbers they span, and where their ticks are.

use super::number::{power_of_ten, short};

/// Ticks with a label, at most about.
const LABELS: usize = 8;
/// Decades up to which every multiple of a decade has a line.
const MINOR_DECADES: f64 = 4.5;
/// Numbers beyond this are cut: their differences would not be finite. (On a logarithmic axis also those below its inverse.)
const LARGEST: f64 = 1e300;

/// Maps numbers of an axis to 0 … 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    log: bool,
    /// The ends; of the decimal logarithm if `log`.
    lo: f64,
    hi: f64,
}

/// A tick: where, and its label (none for lines between).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// From 0 to 1.
    pub at: f64,
    /// Its label.
    pub label: Option<String>,
}

impl Scale {
    /// A scale that holds all finite values (on a logarithmic axis: all above zero), with a little room.
    pub(super) fn fit(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.filter_map(|x| level(x, log)) {
            (lo, hi) = (lo.min(x), hi.max(x));
        }
        if lo > hi {
            (lo, hi) = (0.0, 1.0);
        }
        let whole = lo;
        let room = if lo == hi { if log { 0.5 } else { lo.abs().max(1.0) * 0.5 } } else { (hi - lo) * 0.04 };
        (lo, hi) = (lo - room, hi + room);
        // An axis that comes near zero starts there.
        if !log && whole >= 0.0 && (lo < 0.0 || whole < 0.4 * hi) {
            lo = 0.0;
        }
        Self { log, lo, hi }
    }

    /// Where a number is, if it is on the axis.
    pub(super) fn at(&self, x: f64) -> Option<f64> {
        level(x, self.log).map(|x| (x - self.lo) / (self.hi - self.lo))
    }

    /// Ticks from low to high.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let ticks = if self.log { self.log_ticks() } else { self.linear_ticks() };
        ticks.into_iter().filter(|tick| (-1e-9..=1.0 + 1e-9).contains(&tick.at)).collect()
    }

    fn linear_ticks(&self) -> Vec<Tick> {
        let step = nice_step((self.hi - self.lo) / LABELS as f64);
        let largest = self.lo.abs().max(self.hi.abs());
        let digits = ((largest / step).log10().ceil().max(0.0) as usize + 1).clamp(2, 15);
        let first = (self.lo / step).ceil();
        let values = (0..=2 * LABELS).map(|k| (first + k as f64) * step);
        let tick = |x: f64| Tick { at: (x - self.lo) / (self.hi - self.lo), label: Some(short(x, digits)) };
        values.map(|x| if x.abs() < step * 1e-9 { 0.0 } else { x }).map(tick).collect()
    }

    fn log_ticks(&self) -> Vec<Tick> {
        let decades = self.hi - self.lo;
        let at = |level: f64| (level - self.lo) / decades;
        let inside = |level: f64| (self.lo..=self.hi).contains(&level);
        let powers = self.lo.floor() as i32..=self.hi.ceil() as i32;
        let count = powers.clone().filter(|k| inside(f64::from(*k))).count();
        if decades < 0.5 {
            // Too little for powers and their multiples: round numbers, not evenly spaced.
            let (lo, hi) = (10f64.powf(self.lo), 10f64.powf(self.hi));
            let linear = Self { log: false, lo, hi };
            let value = |tick: &Tick| (lo + tick.at * (hi - lo)).log10();
            return linear.linear_ticks().into_iter().map(|t| Tick { at: at(value(&t)), ..t }).collect();
        }
        let stride = count.div_ceil(LABELS).max(1) as i32;
        let multiples: &[u32] = if count >= 3 {
            &[]
        } else if decades < 1.2 {
            &[2, 3, 5, 7]
        } else {
            &[2, 5]
        };
        let mut ticks = Vec::new();
        for power in powers {
            let label = (power.rem_euclid(stride) == 0).then(|| power_of_ten(power));
            if label.is_some() || decades <= MINOR_DECADES {
                ticks.push(Tick { at: at(f64::from(power)), label });
            }
            for k in (2..10).filter(|_| decades <= MINOR_DECADES) {
                let level = f64::from(power) + f64::from(k).log10();
                let label = multiples.contains(&k).then(|| short(10f64.powf(level), 2));
                ticks.push(Tick { at: at(level), label });
            }
        }
        ticks
    }
}

/// The number as it stands on the axis, if it can stand there.
fn level(x: f64, log: bool) -> Option<f64> {
    if !x.is_finite() || log && x <= 0.0 {
        return None;
    }
    Some(if log { x.clamp(1.0 / LARGEST, LARGEST).log10() } else { x.clamp(-LARGEST, LARGEST) })
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|s| *s >= step * (1.0 - 1e-9)).unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], log: bool) -> Vec<String> {
        Scale::fit(values.iter().copied(), log).ticks().into_iter().filter_map(|t| t.label).collect()
    }

    #[test]
    fn linear_axes_have_round_numbers_and_zero() {
        assert_eq!(labels(&[0.0, 10.0], false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&[0.3, 1.0], false), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&[-1.0, 1.0], false), ["−1", "−0.5", "0", "0.5", "1"]);
        assert_eq!(labels(&[100.0, 100.3], false), ["100", "100.05", "100.1", "100.15", "100.2", "100.25", "100.3"]);
    }

    #[test]
    fn log_axes_have_decades_or_multiples() {
        assert_eq!(labels(&[1.0, 1e4], true), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(&[8.0, 32.0], true), ["10", "20", "30"]);
        assert_eq!(labels(&[3.0, 80.0], true), ["5", "10", "20", "50"]);
        assert!(labels(&[1e-300, 1e300], true).len() <= LABELS);
        assert!(labels(&[1e-16, 1.0], true).contains(&"1".to_string()));
    }

    #[test]
    fn every_axis_holds_its_numbers_and_has_distinct_labels() {
        let sets: [&[f64]; 9] = [
            &[],
            &[0.0],
            &[5.0, 5.0],
            &[-f64::MAX, f64::MAX],
            &[1e-320, 2e-320],
            &[1e9, 1e9 + 1.0],
            &[f64::NAN, 3.0, f64::INFINITY],
            &[3.1, 3.2],
            &[1e-3, 0.5],
        ];
        for (set, log) in sets.iter().flat_map(|s| [(s, false), (s, true)]) {
            let scale = Scale::fit(set.iter().copied(), log);
            for x in set.iter().filter(|x| x.is_finite() && (!log || **x > 0.0)) {
                let at = scale.at(*x).unwrap();
                assert!((0.0..=1.0).contains(&at), "{x} of {set:?} at {at}");
            }
            let ticks = scale.ticks();
            assert!(ticks.len() < 60, "{set:?}: {ticks:?}");
            let labels: Vec<_> = ticks.iter().filter_map(|t| t.label.as_ref()).collect();
            assert!(labels.windows(2).all(|w| w[0] != w[1]), "{set:?} {log}: {labels:?}");
        }
    }
}
