//! Table II: no slip against the model of Drumwright and Shell.

use stiction_contact::NormalSolver;
use stiction_sim::SceneError;

use super::controller::Gait;
use super::run::{Ended, Law, Walked, Walker, alone, side_by_side};
use super::terrain::Terrain;
use super::{SEED, STEPS, paper_row, row, seconds, steepest, table, terrains, traces};
use crate::papers::drumwright::report::{claim, columns, factor, text};
use crate::papers::{Cell, Claim, Effort, Progress, Section, Table, Verdict};

/// Parts of the experiment, for progress.
pub const PARTS: usize = 4;

/// Published times of ten seconds (s): Drumwright–Shell, no-slip.
const PAPER: [f64; 2] = [416.284, 301.796];

/// Processor time of the published simulator per simulated second, run again (s).
const MOBY: f64 = 6.4;

/// Least times that ours shall be faster.
const FASTER: f64 = 200.0;

/// How far a walk shall get (m).
const FAR: f64 = 0.2;

/// Runs it.
pub fn run(
    effort: &Effort,
    section: &mut Section,
    progress: &mut dyn Progress,
    parts: usize,
) -> Result<(), SceneError> {
    let mut all = table("table-2", "Table II: ten seconds without slip, and with the model of Drumwright and Shell");
    all.rows.push(paper_row("Drumwright–Shell (mu = 100)", "paper", 10.0, 0.1 * PAPER[0], None, "2.27 GHz Xeon, 2015"));
    all.rows.push(paper_row(
        "no-slip (modified PPM)",
        "paper",
        10.0,
        0.1 * PAPER[1],
        Some((1, 6.0, 30)),
        "2.27 GHz Xeon, 2015",
    ));
    let again = "run again in 2026: roll ≤ 4.1°, pitch ≤ 6.7°, height 0.132–0.161 m";
    all.rows.push(paper_row("no-slip", "the paper's code", 10.0, MOBY, Some((1, 3.9, 8)), again));
    let mut walks = Vec::new();
    for (i, terrain) in terrains().into_iter().enumerate() {
        let terrain = terrain();
        progress.report(i, parts, &format!("no-slip and Drumwright–Shell on {}", terrain.name));
        let (raced, alone) = on(&terrain, effort)?;
        all.rows.extend(raced.iter().chain(&alone).map(row));
        section.claims.push(walk_claim(&raced[0]));
        section.claims.push(ratio_claim(&raced, terrain.name));
        section.claims.push(time_claim(&raced[0]));
        walks.push((raced, alone));
    }
    progress.report(PARTS - 1, parts, "the published controller on other noise");
    section.claims.extend([slip_claim(&walks), contacts_claim(&walks[0].0[0])]);
    plots(section, &walks);
    section.tables.push(all);
    section.tables.push(other_noise(effort)?);
    Ok(())
}

/// The walks on a terrain: those that are compared in time, side by side, and others.
fn on(terrain: &Terrain, effort: &Effort) -> Result<(Vec<Walked>, Vec<Walked>), SceneError> {
    let published = terrain.name == "published";
    let (name, gait) = if published { ("published", Gait::published(1.0)) } else { ("improved", Gait::improved()) };
    let mut laws = vec![
        Law::NoSlip(NormalSolver::ModifiedPpm),
        Law::NoSlip(NormalSolver::Nnls),
        Law::DrumwrightShell(100.0),
        Law::DrumwrightShell(1000.0),
    ];
    if effort.quick {
        laws.pop();
    }
    let walker = |law: &Law| Walker::new(*law, terrain, name, gait);
    let raced = laws.iter().map(walker).collect::<Result<Vec<_>, _>>()?;
    let raced = side_by_side(raced, STEPS);
    let others = if published {
        [("per second", Gait::per_second()), ("improved", Gait::improved())].to_vec()
    } else {
        [("published", Gait::published(1.0))].to_vec()
    };
    let mut others_walked = Vec::new();
    for (name, gait) in others {
        others_walked.push(alone(Law::NoSlip(NormalSolver::Nnls), terrain, name, gait, STEPS)?);
    }
    Ok((raced, others_walked))
}

/// The published controller without slip on other noise of a micrometre: how far it gets is a matter of chance.
fn other_noise(effort: &Effort) -> Result<Table, SceneError> {
    let columns =
        columns(&[("seed", ""), ("way forward", "m"), ("largest roll", "°"), ("largest pitch", "°"), ("end", "")]);
    let title = "The published controller without slip on the published terrain, with other seeds of its noise".into();
    let mut table = Table { name: "published-controller-seeds".into(), title, columns, rows: vec![] };
    for seed in SEED..=if effort.quick { 3 } else { 8 } {
        let terrain = Terrain::published(seed);
        let walked = alone(Law::NoSlip(NormalSolver::ModifiedPpm), &terrain, "published", Gait::published(1.0), STEPS)?;
        let m = &walked.measured;
        let end = if m.ended == Ended::No { "walks to the end" } else { "does not walk to the end" };
        let [roll, pitch] = m.tilt.map(f64::to_degrees);
        let way = Cell::Number(m.distance());
        table.rows.push(vec![Cell::Count(seed), way, Cell::Number(roll), Cell::Number(pitch), text(end)]);
    }
    Ok(table)
}

fn walk_claim(w: &Walked) -> Claim {
    let m = &w.measured;
    let upright = m.tilt.iter().all(|t| *t < steepest(w.terrain));
    let holds = m.ended == Ended::No && m.steps == STEPS && upright && m.distance() >= FAR;
    let [roll, pitch] = m.tilt.map(f64::to_degrees);
    let ours = format!("{:.1} s, {:.2} m forward, roll ≤ {roll:.1}°, pitch ≤ {pitch:.1}°", m.time(), m.distance());
    let what = format!("The robot walks ten seconds without slip on the {} terrain ({} controller)", w.terrain, w.gait);
    let why = "it falls, tilts too far, or does not get 0.2 m forward";
    claim(&what, "ten seconds; run again: roll ≤ 4.1°, pitch ≤ 6.7°", ours, holds, why)
}

fn ratio_claim(raced: &[Walked], terrain: &str) -> Claim {
    let [shell, no_slip] = [2, 0].map(|k: usize| raced[k].measured.median_cpu_per_second());
    let ratio = shell / no_slip;
    let what =
        format!("Drumwright–Shell takes longer than no-slip by this factor, whole simulation ({terrain} terrain)");
    factor(&what, PAPER[0] / PAPER[1], ratio, "the cone program is cheaper here than it was there")
}

fn time_claim(w: &Walked) -> Claim {
    let seconds = w.measured.median_cpu_per_second();
    let what = format!(
        "CPU time per simulated second without slip, controller included, is at least {FASTER} times less than the published \
         simulator's ({} terrain)",
        w.terrain
    );
    let ours = format!("{:.1} ms, {:.0} times less", 1e3 * seconds, MOBY / seconds);
    let mut claim = claim(
        &what,
        &format!("{MOBY} s"),
        ours,
        MOBY / seconds >= FASTER,
        "a step takes longer than that on this machine",
    );
    if claim.verdict == Verdict::Holds {
        claim.verdict = Verdict::Better;
    }
    claim
}

fn slip_claim(walks: &[(Vec<Walked>, Vec<Walked>)]) -> Claim {
    let held = |w: &&Walked| matches!(w.law, Law::NoSlip(_));
    let worst =
        walks.iter().flat_map(|(a, b)| a.iter().chain(b)).filter(held).map(|w| w.measured.slip).fold(0.0, f64::max);
    let ours = format!("{worst:.1e} m of slip in {} s", seconds(STEPS));
    claim("Feet on the ground do not slip", "0", ours, worst <= 1e-9, "a contact slips by more than rounding")
}

fn contacts_claim(w: &Walked) -> Claim {
    let m = &w.measured;
    let ours = format!("{} to {}, mean {:.1}", m.contacts[0], m.contacts[2], m.mean_contacts());
    let why = "a foot is a ball that touches a face in one point; the published simulator adds every grid point inside the foot, which sinks \
     in";
    claim("Numbers of contact points of the walk", "1 to 30, mean 6 (run again: 1 to 8, mean 3.9)", ours, false, why)
}

fn plots(section: &mut Section, walks: &[(Vec<Walked>, Vec<Walked>)]) {
    let first: Vec<&Walked> = walks.iter().map(|(raced, _)| &raced[0]).collect();
    let flat: Vec<&Walked> = walks[0].0[..1].iter().chain(&walks[0].1).collect();
    let title = |what: &str| format!("{what} of the robot without slip on three terrains");
    section.plots.extend([
        traces("way-no-slip", &title("Way"), "way forward (m)", &first, 1, 1.0),
        traces("height-no-slip", &title("Height"), "height of the trunk (m)", &first, 2, 1.0),
        traces("roll-no-slip", &title("Roll"), "roll (°)", &first, 3, 1f64.to_degrees()),
        traces("pitch-no-slip", &title("Pitch"), "pitch, nose down (°)", &first, 4, 1f64.to_degrees()),
        traces(
            "way-controllers",
            "Way on the published terrain with three controllers",
            "way forward (m)",
            &flat,
            1,
            1.0,
        ),
        traces(
            "pitch-controllers",
            "Pitch on the published terrain with three controllers",
            "pitch, nose down (°)",
            &flat,
            4,
            1f64.to_degrees(),
        ),
    ]);
}
