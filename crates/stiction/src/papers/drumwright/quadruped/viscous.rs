//! Table III: viscous friction, the normal forces by the modified PPM against Lemke's method.

use stiction_contact::NormalSolver;
use stiction_sim::SceneError;

use super::controller::Gait;
use super::run::{Ended, Law, Walked, Walker, alone, side_by_side};
use super::terrain::Terrain;
use super::{STEPS, no_slip, paper_row, row, table, terrains, traces};
use crate::papers::drumwright::report::{claim, factor};
use crate::papers::{Claim, Effort, Progress, Section};

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
    grounds(effort)
}

/// Runs it.
pub fn run(
    effort: &Effort,
    section: &mut Section,
    progress: &mut dyn Progress,
    parts: usize,
) -> Result<(), SceneError> {
    let mut all = table("table-3", "Table III: ten seconds with viscous friction, event driven");
    all.rows.push(paper_row("viscous (Lemke)", "paper", 10.0, 0.1 * PAPER[0], None, "2.27 GHz Xeon, 2015"));
    all.rows.push(paper_row("viscous (modified PPM)", "paper", 10.0, 0.1 * PAPER[1], None, "2.27 GHz Xeon, 2015"));
    let again = "run again in 2026 for 0.4 s, when the robot is thrown";
    all.rows.push(paper_row("viscous (modified PPM)", "the paper's code", 0.4, 42.0, Some((1, 2.0, 7)), again));
    let mut shown = Vec::new();
    for (i, terrain) in terrains().into_iter().enumerate().take(grounds(effort)) {
        let terrain = terrain();
        progress.report(no_slip::PARTS + i, parts, &format!("viscous friction on {}", terrain.name));
        let (raced, alone) = on(&terrain, effort)?;
        all.rows.extend(raced.iter().chain(&alone).map(row));
        section.claims.extend(raced.iter().take(1).chain(alone.last()).map(walk_claim));
        if i == 0 {
            section.claims.extend(ratio_claims(&raced));
        }
        shown.push((raced, alone));
    }
    progress.report(parts, parts, "done");
    let walks: Vec<&Walked> = shown.iter().flat_map(|(raced, alone)| raced[..1].iter().chain(alone)).collect();
    section.plots.extend([
        traces("way-viscous", "Way of the robot with viscous friction", "way forward (m)", &walks, 1, 1.0),
        traces("roll-viscous", "Roll of the robot with viscous friction", "roll (°)", &walks, 3, 1f64.to_degrees()),
        traces(
            "pitch-viscous",
            "Pitch of the robot with viscous friction",
            "pitch, nose down (°)",
            &walks,
            4,
            1f64.to_degrees(),
        ),
    ]);
    section.tables.push(all);
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

fn walk_claim(w: &Walked) -> Claim {
    let m = &w.measured;
    let holds = m.ended == Ended::No && m.steps == STEPS && w.is_finite;
    let [roll, pitch] = m.tilt.map(f64::to_degrees);
    let end = match &m.ended {
        Ended::No => String::new(),
        Ended::TrunkTouched => ", then the trunk touches".into(),
        Ended::TippedOver => ", then it tips over".into(),
        Ended::Failed(why) => format!(", then {why}"),
    };
    let ours = format!("{:.2} s certified, roll ≤ {roll:.1}°, pitch ≤ {pitch:.1}°{end}", m.time());
    let what = format!(
        "Ten seconds with viscous friction on the {} terrain, trunk off the ground ({} controller)",
        w.terrain, w.gait
    );
    claim(
        &what,
        "ten seconds; run again: thrown after 0.4 s",
        ours,
        holds,
        "the controller throws the robot on a surface without grip",
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
