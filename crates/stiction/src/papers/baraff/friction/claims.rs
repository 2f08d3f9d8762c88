//! The paper's claims on friction, and what became of them.

use super::growth::{self, Growth};
use super::{FAMILIES, Tally};
use crate::papers::baraff::timing::exponent;
use crate::papers::{Claim, Verdict};

/// The paper's claims on friction.
pub fn claims(tallies: &[Tally], growth: &[Growth], rods: &[usize; 4], spread: f64, towers: &[usize; 2]) -> Vec<Claim> {
    let sum = |moving: bool, pick: fn(&Tally) -> usize| -> usize {
        FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving == moving).map(|(_, t)| pick(t)).sum()
    };
    let (still, still_solved) = (sum(false, |t| t.problems), sum(false, |t| t.solved));
    let (moving, ended) = (sum(true, |t| t.problems), sum(true, |t| t.solved + t.rays));
    let (rays, directed, impacts) = (sum(true, |t| t.rays), sum(true, |t| t.directed), sum(true, |t| t.impacts));
    let exponents = growth::lines(growth).map(|(_, points)| exponent(&points));
    let [a, b, c, d] = exponents;
    let steepest = exponents.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let share = |large: bool| {
        let chosen = || FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving && (f.mu[0] >= 1.0) == large);
        let (rays, all) = chosen().fold((0, 0), |s, (_, t)| (s.0 + t.rays, s.1 + t.problems));
        100.0 * Tally::share(rays, all)
    };
    let (usual, unrealistic) = (share(false), share(true));
    let all = |claim: &str, paper: &str, done: usize, of: usize, what: &str| Claim {
        claim: claim.into(),
        paper_value: paper.into(),
        ours: format!("{done} of {of} {what}"),
        verdict: if done == of { Verdict::Holds } else { Verdict::DoesNotHold(format!("{} of {of} not", of - done)) },
    };
    let certified = |claim: &str, paper: &str, moving: bool, done: usize, of: usize, what: &str| Claim {
        verdict: missed(tallies, moving).map_or(Verdict::Holds, Verdict::DoesNotHold),
        ..all(claim, paper, done, of, what)
    };
    let holds = |holds: bool, why: String| if holds { Verdict::Holds } else { Verdict::DoesNotHold(why) };
    vec![
        certified(
            "With static friction alone the method never loops and never takes an infinite step",
            "never met",
            false,
            still_solved,
            still,
            "solved and certified",
        ),
        all(
            "Static friction: towers whose top is pushed move as they must, in 2D and 3D",
            "not given",
            towers[1],
            towers[0],
            "right to 1e-10 g",
        ),
        certified(
            "With dynamic friction it ends with a solution or with an infinite step",
            "always",
            true,
            ended,
            moving,
            "did",
        ),
        Claim {
            claim: "An infinite step gives the direction of an impulse".into(),
            paper_value: "the direction".into(),
            ours: format!("{directed} of {rays} rays stop a slip; {impacts} of the impacts that follow are certified"),
            verdict: holds(directed == rays, format!("{} rays have no end", rays - directed)),
        },
        all(
            "Painlevé's rod: an infinite step exactly when its inverse mass A is negative",
            "not given",
            rods[1],
            rods[0],
            "rods",
        ),
        all("… and after the impact there are forces again", "not given", rods[3], rods[2], "jammed rods"),
        Claim {
            claim: "Infinite steps are met mostly where mu is unrealistically large".into(),
            paper_value: "mostly".into(),
            ours: format!("{usual:.2} % of the problems with mu < 1, {unrealistic:.1} % with mu from 1 to 3"),
            verdict: holds(unrealistic > 2.0 * usual, format!("{usual:.2} % against {unrealistic:.1} %")),
        },
        Claim {
            claim: "The work is about O(n) with friction too: exponent of steps over contacts".into(),
            paper_value: "1".into(),
            ours: format!("{a:.2} and {b:.2} for towers in 2D and 3D, {c:.2} and {d:.2} for the median heap"),
            verdict: holds(steepest <= 1.2, format!("{steepest:.2}")),
        },
        Claim {
            claim: "Three dimensions need no approximation: friction is the same in all directions".into(),
            paper_value: "exact cone".into(),
            ours: format!("accelerations along 64 directions differ by {spread:.0e}"),
            verdict: holds(spread <= 1e-12, format!("{spread:.1e}")),
        },
    ]
}

/// Names the problems that ended with neither forces nor a ray; `None` if there are none. With static friction a ray is one of them.
fn missed(tallies: &[Tally], moving: bool) -> Option<String> {
    /// Seeds named per family.
    const NAMED: usize = 8;
    let mut text = Vec::new();
    for (family, tally) in FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving == moving) {
        if !moving && tally.rays > 0 {
            text.push(format!("{}: {} rays", family.name, tally.rays));
        }
        if let Some((_, why)) = tally.missed.first() {
            let seeds: Vec<String> = tally.missed.iter().take(NAMED).map(|(seed, _)| seed.to_string()).collect();
            text.push(format!("{}: {} (seeds {}): {why}", family.name, tally.missed.len(), seeds.join(", ")));
        }
    }
    (!text.is_empty()).then(|| text.join("; "))
}
