//! What the paper says of its table, and what became of it.

use super::{Fate, PAPER, PaperRow, Trial, fraction, share};
use crate::Claim;
use crate::compose::{Rule, claim};

/// Data sets that the paper's two methods solved together, of 328 (%); and what we ask of all our methods (%).
const PAPER_SOLVED: f64 = 100.0 * 229.0 / 328.0;
const BAR: f64 = 95.0;

/// The claims.
pub(super) fn claims(usual: &[Trial], large: &[Trial]) -> Vec<Claim> {
    let total = usual.len();
    let counted = |of: &dyn Fn(&Trial) -> bool| usual.iter().filter(|trial| of(trial)).count();
    let percent = |part: usize| 100.0 * fraction(part, total);
    let solved = counted(&Trial::is_solved);
    let (lemke, either) = (counted(&|t| t.lemke.solved), counted(&|t| t.lemke.solved || t.interior.solved));
    let worst = usual.iter().chain(large).fold(0.0, |a: f64, t| a.max(t.residual));
    let left = 100.0 - percent(lemke);
    let mut all = vec![
        claim(
            "data sets solved, by all methods (%)",
            "69.8 (229 of 328)",
            format!("{:.1} ({solved} of {total}), each certified; worst residual of (32) {worst:.0e}", percent(solved)),
            Rule::at_least(percent(solved), PAPER_SOLVED).better_at_least(percent(solved), BAR),
            format!("{:.1} % is less than the paper's", percent(solved)),
        ),
        claim(
            format!("… and at least {BAR} % of them"),
            "69.8",
            format!("{:.1}", percent(solved)),
            Rule::at_least(percent(solved), BAR).ours(),
            format!("{:.1} %; those left are listed", percent(solved)),
        ),
        claim(
            "data sets solved by one of the two methods, with the paper's limits (%)",
            "69.8 (229 of 328)",
            format!("{:.1} ({either} of {total})", percent(either)),
            Rule::at_least(percent(either), PAPER_SOLVED).better_at_least(percent(either), 1.1 * PAPER_SOLVED),
            format!("{:.1} %", percent(either)),
        ),
        claim(
            "the problems are hard: Lemke's method with the paper's limits leaves so many unsolved (%)",
            "41 of the 185 in the table",
            format!("{left:.1} of {total}"),
            Rule::at_least(left, 20.0).ours(),
            format!("{left:.1} %"),
        ),
        unsolved(usual, large),
    ];
    all.extend(shape(usual));
    all
}

/// What is left: proven unsolvable, or named.
fn unsolved(usual: &[Trial], large: &[Trial]) -> Claim {
    let proven = |trials: &[Trial]| trials.iter().filter(|t| matches!(t.fate, Fate::Proven(_))).count();
    let open = |trials: &[Trial]| trials.iter().filter(|t| matches!(t.fate, Fate::Open(_))).count();
    let (found, undecided) = (proven(usual), open(usual));
    claim(
        "the problems that were not solved may have no solution",
        "possible, not decided",
        format!(
            "friction up to 1: {found} proven unsolvable, {undecided} open; between 1 and 3: {} proven, {} open, of {}. All are listed",
            proven(large),
            open(large),
            large.len()
        ),
        Rule::when(found > 0, "one with friction up to 1 is proven unsolvable")
            .better_when(undecided == 0, "none of these is open"),
        "none was proven unsolvable",
    )
}

/// How the two methods compare by size, with the paper's limits.
fn shape(usual: &[Trial]) -> Vec<Claim> {
    let part = |chosen: &dyn Fn(usize) -> bool, of: fn(&Trial) -> bool| {
        let group: Vec<&Trial> = usual.iter().filter(|t| chosen(t.size)).collect();
        (share(&group, of), group.len())
    };
    let lemke = |t: &Trial| t.lemke.solved;
    let both = [
        of_the_table("Lemke's method", |row| row.lemke.0, |size| part(&|n| n == size, lemke).0),
        of_the_table("interior points", |row| row.interior.0, |size| part(&|n| n == size, |t| t.interior.solved).0),
    ];
    let ((small, _), (few, _), (many, large)) =
        (part(&|n| n <= 16, lemke), part(&|n| n <= 90, lemke), part(&|n| n >= 120, lemke));
    let saved = usual.iter().filter(|t| !t.lemke.solved && t.interior.solved).count();
    let no_start = usual.iter().filter(|t| t.interior.not_applicable).count();
    let more = [
        claim(
            "Lemke's method solves nearly all small problems (size up to 16)",
            "0.95 of 90",
            format!("{small:.2}"),
            Rule::at_least(small, 0.95).better_at_least(small, 0.99),
            format!("{small:.2}"),
        ),
        claim(
            "and less of the large ones (size 120 and more) than of those up to 90, within its limit of iterations",
            "0.04 of 26, 0.68 of 159",
            format!("{many:.2} of {large}, {few:.2} up to 90"),
            Rule::when(many < few, "a smaller fraction"),
            format!("{many:.2} of the large, {few:.2} of the others"),
        ),
        claim(
            "interior points are an alternative: they solve some that Lemke's method does not",
            "at sizes 90, 120 and 150",
            format!(
                "{saved} data sets, with the paper's limits; {no_start} have no strictly feasible point to start from"
            ),
            Rule::when(saved > 0, "at least one"),
            "none",
        ),
    ];
    both.into_iter().chain(more).collect()
}

/// A method's fraction over the paper's table: ours of a size counts as often as the table has data sets of it, however many we have.
fn of_the_table(name: &str, theirs: fn(&PaperRow) -> f64, ours: impl Fn(usize) -> f64) -> Claim {
    let sets: usize = PAPER.iter().map(|row| row.sets).sum();
    let mean =
        |of: &dyn Fn(&PaperRow) -> f64| PAPER.iter().map(|row| row.sets as f64 * of(row)).sum::<f64>() / sets as f64;
    let (paper, ours) = (mean(&theirs), mean(&|row| ours(row.size)));
    claim(
        format!(
            "{name}: fraction solved over the sizes of the paper's table, each with its weight there, with the paper's limits"
        ),
        format!("{paper:.2} of {sets}"),
        format!("{ours:.2}"),
        Rule::at_least(ours, paper).better_at_least(ours, 1.1 * paper),
        format!("{ours:.2}"),
    )
}
