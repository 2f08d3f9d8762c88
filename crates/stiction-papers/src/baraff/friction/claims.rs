//! The paper's claims on friction, and what became of them.

use super::growth::{self, Growth};
use super::{FAMILIES, Tally};
use crate::Claim;
use crate::compose::{Rule, claim};
use crate::timing::{exponent, range};

/// What "about O(n)" allows.
const LINEAR: f64 = 1.2;

/// The paper's claims on friction.
pub(super) fn claims(
    tallies: &[Tally],
    growth: &[Growth],
    rods: &[usize; 4],
    spread: f64,
    towers: &[usize; 2],
) -> Vec<Claim> {
    let mut all = endings(tallies).to_vec();
    all.extend(known(rods, spread, towers));
    all.extend(rays(tallies));
    all.extend(steps(growth));
    all
}

/// That it ends, and how.
fn endings(tallies: &[Tally]) -> [Claim; 2] {
    let sum = |moving: bool, pick: fn(&Tally) -> usize| -> usize {
        FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving == moving).map(|(_, t)| pick(t)).sum()
    };
    let (still, still_solved) = (sum(false, |t| t.problems), sum(false, |t| t.solved));
    let (moving, ended) = (sum(true, |t| t.problems), sum(true, |t| t.solved + t.rays));
    [
        claim(
            "With static friction alone the method never loops and never takes an infinite step",
            "never met",
            format!("{still_solved} of {still} solved and certified"),
            Rule::all(still_solved, still),
            unanswered(tallies, false),
        ),
        claim(
            "With dynamic friction it ends with a solution or with an infinite step",
            "always",
            format!("{ended} of {moving} did"),
            Rule::all(ended, moving),
            unanswered(tallies, true),
        ),
    ]
}

/// Infinite steps: what they are good for, and where they are met.
fn rays(tallies: &[Tally]) -> [Claim; 2] {
    let moving = || FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving);
    let sum = |pick: fn(&Tally) -> usize| -> usize { moving().map(|(_, t)| pick(t)).sum() };
    let (rays, directed, impacts) = (sum(|t| t.rays), sum(|t| t.directed), sum(|t| t.impacts));
    let share = |large: bool| {
        let chosen = moving().filter(|(f, _)| (f.mu[0] >= 1.0) == large);
        let (rays, all) = chosen.fold((0, 0), |s, (_, t)| (s.0 + t.rays, s.1 + t.problems));
        100.0 * Tally::share(rays, all)
    };
    let (usual, unrealistic) = (share(false), share(true));
    [
        claim(
            "An infinite step gives the direction of an impulse",
            "the direction",
            format!("{directed} of {rays} rays stop a slip; {impacts} of the impacts that follow are certified"),
            Rule::all(directed, rays),
            format!("{} rays have no end", rays - directed),
        ),
        claim(
            "Infinite steps are met mostly where mu is unrealistically large",
            "mostly",
            format!("{usual:.2} % of the problems with mu < 1, {unrealistic:.1} % with mu from 1 to 3"),
            Rule::when(unrealistic > 2.0 * usual, "more than twice as often with mu from 1 to 3"),
            format!("{usual:.2} % against {unrealistic:.1} %"),
        ),
    ]
}

/// Problems with known answers.
fn known(rods: &[usize; 4], spread: f64, towers: &[usize; 2]) -> [Claim; 4] {
    let all = |what: &str, done: usize, of: usize, unit: &str| {
        claim(
            what,
            "not given",
            format!("{done} of {of} {unit}"),
            Rule::all(done, of),
            format!("{} of {of} not", of - done),
        )
    };
    [
        all(
            "Static friction: towers whose top is pushed move as they must, in 2D and 3D",
            towers[1],
            towers[0],
            "right to 1e-10 g",
        ),
        all("Painlevé's rod: an infinite step exactly when its inverse mass A is negative", rods[1], rods[0], "rods"),
        all("… and after the impact there are forces again", rods[3], rods[2], "jammed rods"),
        claim(
            "Three dimensions need no approximation: friction is the same in all directions",
            "exact cone",
            format!("accelerations along 64 directions differ by {spread:.0e}"),
            Rule::at_most(spread, 1e-12),
            format!("{spread:.1e}"),
        ),
    ]
}

/// Why steps grow faster than contacts.
const WHY: &str = "some heaps take many times the steps of others: zero steps go in circles until another order of the contacts ends them";

/// How the steps grow. The paper counts calls of `drive-to-zero`; we count what these do, the steps, which are at least as many.
fn steps(growth: &[Growth]) -> [Claim; 2] {
    let [a, b, c, d, e, f] = growth::lines(growth).map(|(_, points)| exponent(&points));
    let [_, steepest] = range([a, b, c, d]);
    let [_, mean] = range([e, f]);
    [
        claim(
            "The work is about O(n) with friction too: exponent of steps over contacts",
            "1",
            format!("{a:.2} and {b:.2} for towers in 2D and 3D, {c:.2} and {d:.2} for the median heap"),
            Rule::at_most(steepest, LINEAR),
            format!("{steepest:.2}: {WHY}"),
        ),
        claim(
            "… and on average over the heaps",
            "1",
            format!("{e:.2} and {f:.2} in 2D and 3D"),
            Rule::at_most(mean, LINEAR),
            format!("{mean:.2}: {WHY}"),
        ),
    ]
}

/// Names the problems that ended with neither forces nor a ray. With static friction a ray is one of them.
fn unanswered(tallies: &[Tally], moving: bool) -> String {
    /// Seeds named per family.
    const NAMED: usize = 8;
    let mut text = Vec::new();
    for (family, tally) in FAMILIES.iter().zip(tallies).filter(|(f, _)| f.moving == moving) {
        if !moving && tally.rays > 0 {
            text.push(format!("{}: {} rays", family.name, tally.rays));
        }
        if let Some((_, why)) = tally.unanswered.first() {
            let seeds: Vec<String> = tally.unanswered.iter().take(NAMED).map(|(seed, _)| seed.to_string()).collect();
            text.push(format!("{}: {} (seeds {}): {why}", family.name, tally.unanswered.len(), seeds.join(", ")));
        }
    }
    text.join("; ")
}
