//! Table III: viscous friction, the normal forces by the modified PPM against Lemke's method.

use stiction_contact::NormalSolver;
use stiction_sim::SceneError;

use super::controller::Gait;
use super::run::{Law, Walked, Walker, alone, side_by_side};
use super::seeds::{self, Group, samples};
use super::terrain::Terrain;
use super::{STEPS, no_slip, paper_row, row, table, terrains, traces};
use crate::compose::{Rule, claim, factor};
use crate::{Cell, Claim, Effort, Progress, Section};

/// Published times of ten seconds (s): Lemke, modified PPM.
const PAPER: [f64; 2] = [2936.36, 2139.73];

/// Calls of the controller per step.
const CALLS: f64 = 4.0;

/// Terrains walked on.
fn grounds(effort: &Effort) -> usize {
    if effort.quick { 1 } else { 3 }
}

/// Parts of the experiment, for progress.
pub fn parts(effort: &Effort) -> usize {
    grounds(effort) + 1
}

/// Runs it; `no_slip` is the processor time per simulated second without slip (s).
pub fn run(
    effort: &Effort,
    section: &mut Section,
    progress: &mut dyn Progress,
    parts: usize,
    no_slip: f64,
) -> Result<(), SceneError> {
    let mut all = table("table-3", "Table III: ten seconds with viscous friction, event driven");
    all.rows.extend(published());
    let mut shown = Vec::new();
    for (i, terrain) in terrains().into_iter().enumerate().take(grounds(effort)) {
        let terrain = terrain();
        progress.report(no_slip::PARTS + i, parts, &format!("viscous friction on {}", terrain.name));
        let (raced, alone) = on(&terrain, effort)?;
        all.rows.extend(raced.iter().chain(&alone).map(row));
        if i == 0 {
            section.claims.extend(ratio_claims(&raced));
            section.claims.push(cost_claim(&raced[0], no_slip));
        }
        shown.push((raced, alone));
    }
    let walks: Vec<&Walked> = shown.iter().flat_map(|(raced, alone)| raced[..1].iter().chain(alone)).collect();
    let plot = |name: &str, what: &str, label: &str, which: usize, scale: f64| {
        traces(
            name,
            &format!("{what} of the robot with viscous friction, first sample of each terrain"),
            label,
            &walks,
            which,
            scale,
        )
    };
    section.plots.extend([
        plot("way-viscous", "Way", "way forward (m)", 1, 1.0),
        plot("roll-viscous", "Roll", "roll (°)", 3, 1f64.to_degrees()),
        plot("pitch-viscous", "Pitch", "pitch, nose down (°)", 4, 1f64.to_degrees()),
    ]);
    section.tables.push(all);
    progress.report(parts - 1, parts, "viscous friction on other samples of the terrains");
    other_samples(effort, section, &shown)?;
    progress.report(parts, parts, "done");
    Ok(())
}

/// The paper's figures, and those of its code run again.
fn published() -> [Vec<Cell>; 3] {
    let (machine, again) = ("2.27 GHz Xeon, 2015", "run again in 2026 for 0.4 s, when the robot is thrown");
    [
        paper_row("viscous (Lemke)", "paper", 10.0, 0.1 * PAPER[0], None, machine),
        paper_row("viscous (modified PPM)", "paper", 10.0, 0.1 * PAPER[1], None, machine),
        paper_row("viscous (modified PPM)", "the paper's code", 0.4, 42.0, Some((1, 2.0, 7)), again),
    ]
}

/// Walks on other samples of the terrains than those of `shown`, which are the first of each.
fn other_samples(
    effort: &Effort,
    section: &mut Section,
    shown: &[(Vec<Walked>, Vec<Walked>)],
) -> Result<(), SceneError> {
    let count = if effort.quick { 2 } else { 5 };
    let all = [
        ("published", "published", Gait::published(CALLS)),
        ("published", "per second", Gait::per_second()),
        ("published", "improved", Gait::improved()),
        ("hills", "improved", Gait::improved()),
        ("steps", "improved", Gait::improved()),
    ];
    let law = Law::Viscous(NormalSolver::ModifiedPpm);
    let walk = |(terrain, name, gait)| {
        let same = |w: &&Walked| (w.law, w.terrain, w.gait) == (law, terrain, name);
        let first = shown.iter().flat_map(|(raced, alone)| raced.iter().chain(alone)).find(same);
        Group::walk(law, &samples(terrain, count), name, gait, first.cloned().into_iter().collect())
    };
    let chosen = if effort.quick { &all[..3] } else { &all[..] };
    let groups = chosen.iter().copied().map(walk).collect::<Result<Vec<_>, _>>()?;
    let (paper, why) = ("ten seconds; run again: thrown after 0.4 s", "a walk is thrown, or a step is not certified");
    section.claims.extend(groups.iter().map(|group| group.ends_claim("with viscous friction", paper, why)));
    let title = "Walks with viscous friction on several samples of each terrain";
    section.tables.push(seeds::table("samples-viscous", title, &groups));
    section.tables.push(seeds::all_walks("samples-viscous-all", "The same, each walk", &groups));
    Ok(())
}

/// PPM and Lemke side by side with the terrain's controller, and other controllers by themselves.
fn on(terrain: &Terrain, effort: &Effort) -> Result<(Vec<Walked>, Vec<Walked>), SceneError> {
    let published = terrain.name == "published";
    let (name, gait) = if published { ("published", Gait::published(CALLS)) } else { ("improved", Gait::improved()) };
    let solvers = [NormalSolver::ModifiedPpm, NormalSolver::Lemke];
    let walker = |solver| Walker::new(Law::Viscous(solver), terrain, name, gait);
    let raced = solvers.into_iter().map(walker).collect::<Result<Vec<_>, _>>()?;
    let raced = side_by_side(raced, STEPS);
    let others = if published {
        [("per second", Gait::per_second()), ("improved", Gait::improved())].to_vec()
    } else if effort.quick {
        vec![]
    } else {
        [("published", Gait::published(CALLS))].to_vec()
    };
    let mut others_walked = Vec::new();
    for (name, gait) in others {
        others_walked.push(alone(Law::Viscous(NormalSolver::ModifiedPpm), terrain, name, gait, STEPS)?);
    }
    Ok((raced, others_walked))
}

/// The paper wonders why viscous friction takes so much longer than no slip.
fn cost_claim(viscous: &Walked, no_slip: f64) -> Claim {
    let (paper, ours) = (PAPER[1] / no_slip::PAPER[1], viscous.measured.median_cpu_per_second() / no_slip);
    claim(
        "Viscous friction takes longer than no slip by this factor, modified PPM, whole simulation",
        format!("{paper:.2}"),
        format!("{ours:.2}"),
        Rule::at_most(ours, paper).better_at_most(ours, 0.5 * paper),
        "a step has four stages, each with collision, dynamics, a solve and a certificate, and begins anew after an impact; without slip it is one",
    )
}

/// Lemke against PPM: the whole simulation, and the contact model alone.
fn ratio_claims(raced: &[Walked]) -> [Claim; 2] {
    let [lemke, ppm] = [1, 0].map(|k: usize| raced[k].measured.median_cpu_per_second());
    let whole = lemke / ppm;
    let solving = |w: &Walked| w.solving / w.measured.time().max(super::STEP);
    let alone = solving(&raced[1]) / solving(&raced[0]);
    let why = "a step of this engine is mostly dynamics, collision and certificates, and with two to four contacts, most of them guessed from \
     the last stage, either method has next to nothing to do";
    [
        factor(
            "Viscous: Lemke takes longer than the modified PPM by this factor, whole simulation",
            PAPER[0] / PAPER[1],
            whole,
            why,
        ),
        factor(
            "Viscous: Lemke takes longer than the modified PPM by this factor, contact model alone",
            PAPER[0] / PAPER[1],
            alone,
            why,
        ),
    ]
}
