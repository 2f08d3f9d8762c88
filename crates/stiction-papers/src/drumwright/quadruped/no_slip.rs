//! Table II: no slip against the model of Drumwright and Shell.

use stiction_contact::NormalSolver;
use stiction_sim::SceneError;

use super::controller::Gait;
use super::run::{Law, Walked, Walker, alone, side_by_side};
use super::seeds::{self, Group, samples};
use super::terrain::Terrain;
use super::{STEPS, paper_row, row, table, terrains, traces};
use crate::compose::{Rule, claim, factor};
use crate::timing::range;
use crate::{Cell, Claim, Effort, Progress, Section};

/// Parts of the experiment, for progress.
pub const PARTS: usize = 4;

/// Published times of ten seconds (s): Drumwright–Shell, no-slip.
pub(crate) const PAPER: [f64; 2] = [416.284, 301.796];

/// Processor time of the published simulator per simulated second, run again (s).
const MOBY: f64 = 6.4;

/// Least times that ours shall be faster.
const FASTER: f64 = 200.0;

/// Runs it: the processor time per simulated second without slip on the published terrain (s).
pub fn run(
    effort: &Effort,
    section: &mut Section,
    progress: &mut dyn Progress,
    parts: usize,
) -> Result<f64, SceneError> {
    let mut all = table("table-2", "Table II: ten seconds without slip, and with the model of Drumwright and Shell");
    all.rows.extend(published());
    let mut walks = Vec::new();
    for (i, terrain) in terrains().into_iter().enumerate() {
        let terrain = terrain();
        progress.report(i, parts, &format!("no-slip and Drumwright–Shell on {}", terrain.name));
        let (raced, alone) = on(&terrain, effort)?;
        all.rows.extend(raced.iter().chain(&alone).map(row));
        section.claims.push(ratio_claim(&raced, terrain.name));
        section.claims.push(time_claim(&raced[0]));
        walks.push((raced, alone));
    }
    section.claims.extend([slip_claim(&walks), contacts_claim(&walks[0].0[0])]);
    plots(section, &walks);
    section.tables.push(all);
    progress.report(PARTS - 1, parts, "other samples of the terrains");
    other_samples(effort, section)?;
    Ok(walks[0].0[0].measured.median_cpu_per_second())
}

/// The paper's figures, and those of its code run again.
fn published() -> [Vec<Cell>; 3] {
    let (machine, contacts) = ("2.27 GHz Xeon, 2015", Some((1, 6.0, 30)));
    let again = "run again in 2026: roll ≤ 4.1°, pitch ≤ 6.7°, height 0.132–0.161 m";
    [
        paper_row("Drumwright–Shell (mu = 100)", "paper", 10.0, 0.1 * PAPER[0], None, machine),
        paper_row("no-slip (modified PPM)", "paper", 10.0, 0.1 * PAPER[1], contacts, machine),
        paper_row("no-slip", "the paper's code", 10.0, MOBY, Some((1, 3.9, 8)), again),
    ]
}

/// The walks without slip on other samples of the terrains: what is claimed of how the robot walks.
fn other_samples(effort: &Effort, section: &mut Section) -> Result<(), SceneError> {
    let count = if effort.quick { 5 } else { 20 };
    let (published, improved) = (Gait::published(1.0), Gait::improved());
    let all = [
        ("published", "published", published),
        ("level", "published", published),
        ("published", "improved", improved),
        ("hills", "improved", improved),
        ("steps", "improved", improved),
    ];
    let law = Law::NoSlip(NormalSolver::ModifiedPpm);
    let walk = |(terrain, name, gait)| Group::walk(law, &samples(terrain, count), name, gait, vec![]);
    let groups = all.into_iter().map(walk).collect::<Result<Vec<_>, _>>()?;
    let paper = "ten seconds, one walk";
    section.claims.push(groups[0].ends_claim("without slip", paper, "a walk ends before"));
    section.claims.extend(groups.iter().map(Group::passes_claim));
    let title = "Walks without slip on several samples of each terrain";
    section.tables.push(seeds::table("samples-no-slip", title, &groups));
    section.tables.push(seeds::all_walks("samples-no-slip-all", "The same, each walk", &groups));
    section.plots.push(seeds::ways("samples-no-slip-way", title, &groups));
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

fn ratio_claim(raced: &[Walked], terrain: &str) -> Claim {
    let [shell, no_slip] = [2, 0].map(|k: usize| raced[k].measured.median_cpu_per_second());
    let ratio = shell / no_slip;
    let what =
        format!("Drumwright–Shell takes longer than no-slip by this factor, whole simulation ({terrain} terrain)");
    factor(&what, PAPER[0] / PAPER[1], ratio, "the cone program is cheaper here than it was there")
}

fn time_claim(w: &Walked) -> Claim {
    let seconds = w.measured.median_cpu_per_second();
    let times = MOBY / seconds;
    claim(
        format!("CPU time per simulated second without slip, controller included ({} terrain)", w.terrain),
        format!("run again: {MOBY} s"),
        format!("{:.1} ms, {times:.0} times less", 1e3 * seconds),
        Rule::when(times >= FASTER, format!("{FASTER} times less")).ours(),
        "a step takes longer than that on this machine",
    )
}

fn slip_claim(walks: &[(Vec<Walked>, Vec<Walked>)]) -> Claim {
    let held = |w: &&Walked| matches!(w.law, Law::NoSlip(_));
    let all = walks.iter().flat_map(|(a, b)| a.iter().chain(b)).filter(held);
    let [_, worst] = range(all.map(|w| w.measured.slip));
    claim(
        "Feet on the ground do not slip, from the step after they come down (the way of ten seconds, m)",
        "0",
        format!("{worst:.1e}"),
        Rule::at_most(worst, 1e-9),
        "a contact slips by more than rounding",
    )
}

fn contacts_claim(w: &Walked) -> Claim {
    let (m, mean) = (&w.measured, w.measured.mean_contacts());
    let near = |ours: f64, paper: f64| (ours / paper - 1.0).abs() <= 0.25;
    claim(
        "Numbers of contact points of the walk: least, mean and most",
        "1, 6, 30 (run again: 1, 3.9, 8)",
        format!("{}, {mean:.1}, {}", m.contacts[0], m.contacts[2]),
        Rule::when(
            near(mean, 6.0) && near(m.contacts[2] as f64, 30.0),
            "mean and most within a quarter of the paper's",
        ),
        "a foot is a ball that touches a face in one point; the published simulator adds every grid point inside the foot, which sinks in",
    )
}

fn plots(section: &mut Section, walks: &[(Vec<Walked>, Vec<Walked>)]) {
    let first: Vec<&Walked> = walks.iter().map(|(raced, _)| &raced[0]).collect();
    let flat: Vec<&Walked> = walks[0].0[..1].iter().chain(&walks[0].1).collect();
    let title = |what: &str| format!("{what} of the robot without slip, first sample of each terrain");
    section.plots.extend([
        traces("way-no-slip", &title("Way"), "way forward (m)", &first, 1, 1.0),
        traces("height-no-slip", &title("Height"), "height of the trunk (m)", &first, 2, 1.0),
        traces("roll-no-slip", &title("Roll"), "roll (°)", &first, 3, 1f64.to_degrees()),
        traces("pitch-no-slip", &title("Pitch"), "pitch, nose down (°)", &first, 4, 1f64.to_degrees()),
        traces(
            "way-controllers",
            "Way on the published terrain, first sample, with three controllers",
            "way forward (m)",
            &flat,
            1,
            1.0,
        ),
        traces(
            "pitch-controllers",
            "Pitch on the published terrain, first sample, with three controllers",
            "pitch, nose down (°)",
            &flat,
            4,
            1f64.to_degrees(),
        ),
    ]);
}
