//! `maxstep`: how far a direction can be followed, and what ends it. Reference: [Baraff94, §4.3, Eqs. 10–12].

use super::Tolerances;

/// What ends a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The driven w has become zero.
    DrivenZero,
    /// The driven z has reached a bound.
    DrivenBound,
    /// The clamped row at this position of C has its z at a bound.
    Clamped(usize),
    /// The unclamped row at this position of NC has its w at zero.
    Unclamped(usize),
}

impl Limit {
    fn is_driven(self) -> bool {
        matches!(self, Self::DrivenZero | Self::DrivenBound)
    }
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    limit: Limit,
    row: usize,
    ratio: f64,
    rate: f64,
}

const NONE: Candidate = Candidate { limit: Limit::DrivenZero, row: usize::MAX, ratio: f64::INFINITY, rate: 0.0 };

/// The shortest of the steps offered so far.
#[derive(Debug, Clone)]
pub struct MaxStep {
    least_index: bool,
    driven_tie: f64,
    tie: f64,
    driven: Candidate,
    other: Candidate,
}

impl MaxStep {
    /// No limit yet. Ties between rows other than the driven one go to the fastest; with `least_index` to the least
    /// index, which cannot cycle.
    pub fn new(least_index: bool, tolerances: &Tolerances) -> Self {
        let Tolerances { driven_tie, tie, .. } = *tolerances;
        Self { least_index, driven_tie, tie, driven: NONE, other: NONE }
    }

    /// `row` is `distance` away from its limit and comes closer by `rate > 0` per unit of the step.
    #[inline]
    pub fn offer(&mut self, limit: Limit, row: usize, distance: f64, rate: f64) {
        let best = if limit.is_driven() { &mut self.driven } else { &mut self.other };
        if distance < f64::INFINITY && distance <= best.ratio * (1.0 + self.tie) * rate {
            let ratio = distance.max(0.0) / rate;
            let wins_tie = if self.least_index { row < best.row } else { rate > best.rate };
            if ratio < best.ratio * (1.0 - self.tie) || wins_tie {
                *best = Candidate { limit, row, ratio, rate };
            }
        }
    }

    /// True if the driven index was chosen in a tie with another one, which then reaches its limit too.
    pub(crate) fn is_tied(&self) -> bool {
        let (driven, other, most) = (self.driven.ratio, self.other.ratio, 1.0 + self.driven_tie);
        other < f64::INFINITY && driven <= other * most && other <= driven * most
    }

    /// The shortest step and its limit, the driven index before all others in a tie; `None` for an unbounded step.
    pub fn choose(&self) -> Option<(f64, Limit)> {
        let (driven, other) = (&self.driven, &self.other);
        let chosen = if driven.ratio <= other.ratio * (1.0 + self.driven_tie) { driven } else { other };
        (chosen.ratio < f64::INFINITY).then_some((chosen.ratio, chosen.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driven_index_wins_ties() {
        let mut step = MaxStep::new(false, &Tolerances::default());
        step.offer(Limit::Clamped(0), 4, 1.0, 1.0);
        step.offer(Limit::DrivenZero, 7, 1.0 + 1e-9, 1.0);
        assert_eq!(step.choose().unwrap().1, Limit::DrivenZero);
        step.offer(Limit::Unclamped(0), 2, 0.5, 1.0);
        assert_eq!(step.choose().unwrap(), (0.5, Limit::Unclamped(0)));
    }

    #[test]
    fn ties_go_to_the_fastest_or_the_least_index() {
        for (least_index, winner) in [(false, Limit::Clamped(1)), (true, Limit::Clamped(0))] {
            let mut step = MaxStep::new(least_index, &Tolerances::default());
            assert_eq!(step.choose(), None);
            step.offer(Limit::Clamped(0), 1, 0.0, 0.1);
            step.offer(Limit::Clamped(1), 2, 0.0, 5.0);
            step.offer(Limit::Clamped(2), 0, 1.0, 9.0);
            assert_eq!(step.choose().unwrap(), (0.0, winner));
        }
    }
}
