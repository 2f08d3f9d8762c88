//! `maxstep`: how far a direction can be followed, and what ends it. Reference: [Baraff94, §4.3, Eqs. 10–12].

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

/// The driven index is preferred where another one comes first by no more than this, relative to the step: on
/// rank-deficient matrices another one wins such ties by rounding, and the driven column then depends on C.
const DRIVEN_TIE: f64 = 1e-8;

/// Other indices tie within this, relative to the step, and the one that moves fastest is the safest pivot.
const TIE: f64 = 1e-11;

#[derive(Debug, Clone, Copy)]
struct Candidate {
    limit: Limit,
    row: usize,
    ratio: f64,
    rate: f64,
}

/// All limits of one step.
#[derive(Debug, Clone, Default)]
pub struct MaxStep {
    candidates: Vec<Candidate>,
}

impl MaxStep {
    /// Forgets all limits; room for `capacity` of them.
    pub fn reset(&mut self, capacity: usize) {
        self.candidates.clear();
        self.candidates.reserve(capacity);
    }

    /// `row` is `distance` away from its limit and comes closer by `rate > 0` per unit of the step.
    pub fn offer(&mut self, limit: Limit, row: usize, distance: f64, rate: f64) {
        let ratio = distance.max(0.0) / rate;
        if ratio < f64::INFINITY {
            self.candidates.push(Candidate { limit, row, ratio, rate });
        }
    }

    /// The shortest step and its limit, or `None` for an unbounded one.
    ///
    /// In a tie the driven index comes first, then the fastest; with `least_index` the least index, which cannot cycle.
    pub fn choose(&self, least_index: bool) -> Option<(f64, Limit)> {
        let shortest = self.candidates.iter().fold(f64::INFINITY, |s, c| s.min(c.ratio));
        let driven = self.candidates.iter().filter(|c| c.limit.is_driven());
        let driven = driven.reduce(|a, b| if b.ratio < a.ratio { b } else { a });
        if let Some(d) = driven.filter(|d| d.ratio <= shortest * (1.0 + DRIVEN_TIE)) {
            return Some((d.ratio, d.limit));
        }
        let tied = self.candidates.iter().filter(|c| !c.limit.is_driven() && c.ratio <= shortest * (1.0 + TIE));
        let better = |a: &Candidate, b: &Candidate| if least_index { b.row < a.row } else { b.rate > a.rate };
        tied.reduce(|a, b| if better(a, b) { b } else { a }).map(|c| (c.ratio, c.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driven_index_wins_ties() {
        let mut step = MaxStep::default();
        step.reset(3);
        step.offer(Limit::Clamped(0), 4, 1.0, 1.0);
        step.offer(Limit::DrivenZero, 7, 1.0 + 1e-9, 1.0);
        assert_eq!(step.choose(false).unwrap().1, Limit::DrivenZero);
        step.offer(Limit::Unclamped(0), 2, 0.5, 1.0);
        assert_eq!(step.choose(false).unwrap(), (0.5, Limit::Unclamped(0)));
    }

    #[test]
    fn ties_go_to_the_fastest_or_the_least_index() {
        let mut step = MaxStep::default();
        step.reset(2);
        step.offer(Limit::Clamped(0), 1, 0.0, 0.1);
        step.offer(Limit::Clamped(1), 2, 0.0, 5.0);
        assert_eq!(step.choose(false).unwrap().1, Limit::Clamped(1));
        assert_eq!(step.choose(true).unwrap().1, Limit::Clamped(0));
        step.reset(0);
        assert_eq!(step.choose(false), None);
    }
}
