//! Tables II and III: a quadruped walks over uneven ground, without slip and with viscous friction.
pub mod controller;
pub mod leg;
pub mod no_slip;
pub mod robot;
pub mod run;
mod seeds;
pub mod spline;
pub mod terrain;
pub mod viscous;

use run::{STEP, Walked};
use terrain::Terrain;

use crate::compose::{columns, count, failed, line, number, plot, text};
use crate::{Cell, Effort, Experiment, ExperimentError, Plot, Progress, Section, Table};

/// Seed of the terrains.
pub const SEED: u64 = 1;

/// Steps of a walk: ten seconds.
pub const STEPS: usize = 10_000;

const NAME: &str = "drumwright/quadruped";

/// The experiment of Tables II and III.
pub struct Locomotion;

impl Experiment for Locomotion {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Tables II and III: a quadruped walks over uneven ground"
    }

    fn run(&self, effort: &Effort, progress: &mut dyn Progress) -> Result<Section, ExperimentError> {
        let mut section = Section { text: introduction(), ..Section::default() };
        let parts = no_slip::PARTS + viscous::parts(effort);
        let no_slip = no_slip::run(effort, &mut section, progress, parts).map_err(failed(NAME))?;
        viscous::run(effort, &mut section, progress, parts, no_slip).map_err(failed(NAME))?;
        Ok(section)
    }
}

fn introduction() -> Vec<String> {
    [
        "The paper walks a quadruped of 1.34 kg with twelve joints over a terrain for ten seconds, once without slip (symplectic \
         Euler, steps of 1 ms, against the model of Drumwright and Shell with a coefficient of 100) and once with viscous friction \
         (fourth-order Runge–Kutta between impacts, the normal forces by the modified PPM against Lemke's method). Robot, gait and \
         controller here are those of its published experiment. Every step carries its certificate.",
        "Three terrains of 3 m × 3 m: the published one, which is noise of a micrometre; hills of 2 cm like those of its figure (1000 \
         Gaussian hills, seeded); and steps of 1 cm every 10 cm. A walk ends early if the trunk touches the ground, the robot tips \
         over, or a step is not certified. Walks that are compared in time take turns, and claims about time are of medians over tenths \
         of a second. Claims about how the robot walks are not of one walk but of several: other seeds of noise and hills, steps that \
         begin later.",
        "The published controller is shown as it is: its integral of the feet's errors grows by every call, whatever the step; it goes \
         at twice the speed while the nose is down and stands otherwise; and a foot's way starts and ends with the velocity the foot \
         happens to have when it is planned, which is often that of an impact. Its walk is therefore sensitive: another micrometre of \
         noise is another walk. The improved controller has the integral per second, a steady speed, and ways that start and end at \
         rest; it is used where the published one does not get across.",
    ]
    .map(String::from)
    .to_vec()
}

/// The terrains of the experiment.
fn terrains() -> [fn() -> Terrain; 3] {
    [|| Terrain::published(SEED), || Terrain::hills(SEED), || Terrain::steps(0.0)]
}

/// A table of walks, to be filled by [`row`].
fn table(name: &str, title: &str) -> Table {
    let columns = columns(&[
        ("terrain", ""),
        ("model", ""),
        ("controller", ""),
        ("simulated", "s"),
        ("CPU per simulated second", "ms"),
        ("the same, median of tenths", "ms"),
        ("way forward", "m"),
        ("largest roll", "°"),
        ("largest pitch", "°"),
        ("least height of the trunk", "m"),
        ("largest height of the trunk", "m"),
        ("slip", "m"),
        ("contacts, least", ""),
        ("contacts, mean", ""),
        ("contacts, most", ""),
        ("worst certificate", ""),
        ("impacts", ""),
        ("made by time stepping", "s"),
        ("end", ""),
    ]);
    Table { name: name.into(), title: title.into(), columns, rows: vec![] }
}

fn row(w: &Walked) -> Vec<Cell> {
    let m = &w.measured;
    let events = w.law.is_event_driven();
    let least = if m.touching > 0 { count(m.contacts[0]) } else { Cell::Empty };
    vec![
        text(w.terrain),
        text(w.law.name()),
        text(w.gait),
        Cell::Number(m.time()),
        Cell::Number(1e3 * m.cpu_per_second()),
        Cell::Number(1e3 * m.median_cpu_per_second()),
        Cell::Number(m.distance()),
        Cell::Number(m.tilt[0].to_degrees()),
        Cell::Number(m.tilt[1].to_degrees()),
        Cell::Number(m.height[0]),
        Cell::Number(m.height[1]),
        Cell::Number(m.slip),
        least,
        Cell::Number(m.mean_contacts()),
        count(m.contacts[2]),
        Cell::Number(m.certificate),
        if events { count(m.impacts) } else { Cell::Empty },
        number(events.then_some(m.stepped)),
        text(m.ended.to_string()),
    ]
}

/// The published figures as rows of such a table: model, simulated time (s), time per simulated second (s), and what is known of the walk.
fn paper_row(
    model: &str,
    who: &str,
    simulated: f64,
    seconds: f64,
    contacts: Option<(usize, f64, usize)>,
    end: &str,
) -> Vec<Cell> {
    let mut cells = vec![Cell::Empty; 19];
    (cells[0], cells[1], cells[2]) = (text("published"), text(model), text(who));
    (cells[3], cells[4]) = (Cell::Number(simulated), Cell::Number(1e3 * seconds));
    if let Some((least, mean, most)) = contacts {
        (cells[12], cells[13], cells[14]) = (count(least), Cell::Number(mean), count(most));
    }
    cells[18] = text(end);
    cells
}

/// Way, height or tilt of walks over time: `which` of a trace, times `scale`.
fn traces(name: &str, title: &str, label: &str, walkers: &[&Walked], which: usize, scale: f64) -> Plot {
    let series = walkers.iter().map(|w| {
        let points = w.measured.trace.iter().map(|p| (p[0], scale * p[which])).collect();
        line(format!("{} terrain, {} controller", w.terrain, w.gait), points)
    });
    plot(name, title, ("time (s)", false), (label, false), series.collect())
}
