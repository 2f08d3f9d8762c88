//! Small pieces that the sections of all experiments are made of.

use super::report::short;
use super::{Axis, Cell, Claim, Column, ExperimentError, Plot, Series, Verdict};

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

/// Axes from their labels, each logarithmic if so, and lines over them.
pub(super) fn plot(name: &str, title: &str, x: (&str, bool), y: (&str, bool), series: Vec<Series>) -> Plot {
    let axis = |(label, log): (&str, bool)| Axis { label: label.into(), log };
    Plot { name: name.into(), title: title.into(), x: axis(x), y: axis(y), series }
}

/// A line of a plot.
pub(super) fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, ..Series::default() }
}

/// A line of the paper's own figures.
pub(super) fn of_paper(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
    Series { paper: true, ..line(name, points) }
}

/// When a claim holds and when it is bettered, in words and as found: the two come from the same numbers.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    text: String,
    holds: bool,
    better: bool,
}

impl Rule {
    /// Holds if so; `text` says what is asked.
    pub(crate) fn when(holds: bool, text: impl Into<String>) -> Self {
        Self { text: text.into(), holds, better: false }
    }

    /// Holds if `x` is at least `bar`. A number that is none never is.
    pub(crate) fn at_least(x: f64, bar: f64) -> Self {
        Self::when(x >= bar, format!("at least {}", short(bar, 3)))
    }

    /// Holds if `x` is at most `bar`. A number that is none never is.
    pub(crate) fn at_most(x: f64, bar: f64) -> Self {
        Self::when(x <= bar, format!("at most {}", short(bar, 3)))
    }

    /// Holds if all of at least one did.
    pub(crate) fn all(done: usize, of: usize) -> Self {
        Self::when(done == of && of > 0, "all")
    }

    /// Better, if it holds, where `better` is true; `text` says when that is.
    pub(crate) fn better_when(self, better: bool, text: &str) -> Self {
        Self { text: format!("{}; better: {text}", self.text), better, ..self }
    }

    /// Better, if it holds, from `bar` on.
    pub(crate) fn better_at_least(self, x: f64, bar: f64) -> Self {
        self.better_when(x >= bar, &format!("at least {}", short(bar, 3)))
    }

    /// Better, if it holds, up to `bar`.
    pub(crate) fn better_at_most(self, x: f64, bar: f64) -> Self {
        self.better_when(x <= bar, &format!("at most {}", short(bar, 3)))
    }

    /// Says that the bar is not the paper's but ours.
    pub(crate) fn ours(self) -> Self {
        Self { text: format!("our bar: {}", self.text), ..self }
    }
}

/// A claim: what the paper says, its figure and ours, the rule, and why it does not hold where it does not.
pub(super) fn claim(
    claim: impl Into<String>,
    paper_value: impl Into<String>,
    ours: impl Into<String>,
    rule: Rule,
    why: impl Into<String>,
) -> Claim {
    let verdict = match (rule.holds, rule.better) {
        (true, true) => Verdict::Better,
        (true, false) => Verdict::Holds,
        (false, _) => Verdict::DoesNotHold(why.into()),
    };
    Claim { claim: claim.into(), paper_value: paper_value.into(), ours: ours.into(), rule: rule.text, verdict }
}

/// A claim of a factor: holds from the paper's on, better from a tenth beyond it.
pub(super) fn factor(what: impl Into<String>, paper: f64, ours: f64, why: impl Into<String>) -> Claim {
    let rule = Rule::at_least(ours, paper).better_at_least(ours, 1.1 * paper);
    claim(what, format!("{paper:.2}"), format!("{ours:.2}"), rule, why)
}

/// Turns an error of the data or of a scene into one of the experiment.
pub(super) fn failed<E: std::fmt::Display>(experiment: &'static str) -> impl Fn(E) -> ExperimentError + Copy {
    move |error| ExperimentError { experiment, message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_say_what_they_do() {
        let verdict = |rule: Rule| claim("", "", "", rule, "why").verdict;
        let not = Verdict::DoesNotHold("why".into());
        let rule = |x: f64| Rule::at_most(x, 3.0).better_at_most(x, 2.0);
        assert_eq!(rule(1.0).text, "at most 3; better: at most 2");
        assert_eq!([2.0, 2.5, 3.0].map(|x| verdict(rule(x))), [Verdict::Better, Verdict::Holds, Verdict::Holds]);
        assert_eq!([3.1, f64::NAN].map(|x| verdict(rule(x))), [not.clone(), not.clone()]);
        let rule = |x: f64| Rule::at_least(x, 5.0).ours().better_at_least(x, 10.0);
        assert_eq!(rule(1.0).text, "our bar: at least 5; better: at least 10");
        assert_eq!([4.9, f64::NAN].map(|x| verdict(rule(x))), [not.clone(), not.clone()]);
        assert_eq!([5.0, 10.0].map(|x| verdict(rule(x))), [Verdict::Holds, Verdict::Better]);
        assert_eq!([(0, 0), (1, 2), (2, 2)].map(|(a, b)| verdict(Rule::all(a, b))), [not.clone(), not, Verdict::Holds]);
    }
}
