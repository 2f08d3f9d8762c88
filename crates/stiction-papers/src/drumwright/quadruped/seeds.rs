//! The same walk on several samples of a terrain: what is claimed of a walk is claimed of all of them.

use stiction_sim::SceneError;

use super::controller::Gait;
use super::run::{Ended, Law, Walked, alone};
use super::terrain::Terrain;
use super::{STEPS, table as walks_table};
use crate::compose::{Rule, claim, columns, count, line, plot, text};
use crate::timing::{median, range};
use crate::{Cell, Claim, Plot, Series, Table};

/// How far a walk shall get (m).
const FAR: f64 = 0.2;

/// Walks that differ in the sample of their terrain alone.
pub(super) struct Group {
    terrain: &'static str,
    gait: &'static str,
    /// What is paper's and what is ours in its claims: the controller as published.
    published: bool,
    walks: Vec<Walked>,
}

/// The samples of a terrain: other seeds, or steps that begin later by a cell of the grid each; a level plate is always the same.
pub(super) fn samples(terrain: &str, count: u64) -> Vec<Terrain> {
    match terrain {
        "published" => (1..=count).map(Terrain::published).collect(),
        "hills" => (1..=count).map(Terrain::hills).collect(),
        "steps" => (0..5).map(|k| Terrain::steps(0.02 * f64::from(k))).collect(),
        _ => vec![Terrain::level()],
    }
}

impl Group {
    /// Walks on each of the samples; `walked` are those on the first of them that are there already.
    pub(super) fn walk(
        law: Law,
        samples: &[Terrain],
        gait: &'static str,
        controller: Gait,
        walked: Vec<Walked>,
    ) -> Result<Self, SceneError> {
        let mut walks = walked;
        for terrain in samples.iter().skip(walks.len()) {
            walks.push(alone(law, terrain, gait, controller, STEPS)?);
        }
        let terrain = samples.first().map_or("", |terrain| terrain.name);
        Ok(Self { terrain, gait, published: gait == "published", walks })
    }

    fn name(&self) -> String {
        format!("{} terrain, {} controller", self.terrain, self.gait)
    }

    /// Largest roll or pitch that a walk may have (rad).
    fn steepest(&self) -> f64 {
        (if matches!(self.terrain, "published" | "level") { 10.0f64 } else { 30.0 }).to_radians()
    }

    fn reaches_the_end(w: &Walked) -> bool {
        w.measured.ended == Ended::No && w.measured.steps == STEPS && w.is_finite
    }

    fn is_upright(&self, w: &Walked) -> bool {
        w.measured.tilt.iter().all(|t| *t < self.steepest())
    }

    fn gets_far(w: &Walked) -> bool {
        w.measured.distance() >= FAR
    }

    fn passes(&self, w: &Walked) -> bool {
        Self::reaches_the_end(w) && self.is_upright(w) && Self::gets_far(w)
    }

    fn count(&self, of: impl Fn(&Walked) -> bool) -> usize {
        self.walks.iter().filter(|w| of(w)).count()
    }

    fn ways(&self) -> Vec<f64> {
        self.walks.iter().map(|w| w.measured.distance()).collect()
    }

    /// Largest roll and pitch (°).
    fn tilt(&self) -> [f64; 2] {
        [0, 1].map(|k: usize| range(self.walks.iter().map(|w| w.measured.tilt[k].to_degrees()))[1])
    }

    fn row(&self) -> Vec<Cell> {
        let ([least, most], [roll, pitch]) = (range(self.ways()), self.tilt());
        vec![
            text(self.terrain),
            text(self.gait),
            count(self.walks.len()),
            count(self.count(Self::reaches_the_end)),
            count(self.count(|w| self.is_upright(w))),
            count(self.count(Self::gets_far)),
            count(self.count(|w| self.passes(w))),
            Cell::Number(least),
            Cell::Number(median(self.ways())),
            Cell::Number(most),
            Cell::Number(roll),
            Cell::Number(pitch),
        ]
    }

    /// That the robot walks for ten seconds: on every sample.
    pub(super) fn ends_claim(&self, law: &str, paper: &str, why: &str) -> Claim {
        let (done, [roll, pitch]) = (self.count(Self::reaches_the_end), self.tilt());
        let first = self.walks.iter().find(|w| !Self::reaches_the_end(w));
        let events = self.walks.iter().filter(|w| w.law.is_event_driven());
        let stepped: f64 = events.map(|w| w.measured.stepped).sum();
        let stepped =
            if stepped > 0.0 { format!("; {:.1} ms in all by time stepping", 1e3 * stepped) } else { String::new() };
        let end =
            first.map_or_else(String::new, |w| format!("; one after {:.2} s: {}", w.measured.time(), w.measured.ended));
        claim(
            format!("The robot walks ten seconds {law}, trunk off the ground, every step certified: {}", self.name()),
            paper,
            format!("{done} of {} walks, roll ≤ {roll:.1}°, pitch ≤ {pitch:.1}°{end}{stepped}", self.walks.len()),
            Rule::all(done, self.walks.len()),
            why,
        )
    }

    /// That it gets somewhere, and how upright: on every sample.
    pub(super) fn passes_claim(&self) -> Claim {
        let (done, [least, most], [roll, pitch]) = (self.count(|w| self.passes(w)), range(self.ways()), self.tilt());
        let steepest = self.steepest().to_degrees();
        let why = if self.published {
            "its walk is chaotic: it goes at twice the speed or not at all as the nose is down or up, and another micrometre of noise is \
             another walk"
        } else {
            "a walk falls, tilts too far or does not get far enough"
        };
        claim(
            format!(
                "The robot gets {FAR} m forward in ten seconds without slip, trunk off the ground, roll and pitch below {steepest:.0}°: {}",
                self.name()
            ),
            "run again: roll ≤ 4.1°, pitch ≤ 6.7°",
            format!(
                "{done} of {} walks; {least:.2} to {most:.2} m forward, roll ≤ {roll:.1}°, pitch ≤ {pitch:.1}°",
                self.walks.len()
            ),
            Rule::all(done, self.walks.len()).ours(),
            why,
        )
    }
}

/// A row per group.
pub(super) fn table(name: &str, title: &str, groups: &[Group]) -> Table {
    let columns = columns(&[
        ("terrain", ""),
        ("controller", ""),
        ("walks", ""),
        ("to the end", ""),
        ("upright", ""),
        ("0.2 m and more", ""),
        ("all three", ""),
        ("way forward, least", "m"),
        ("way forward, median", "m"),
        ("way forward, most", "m"),
        ("largest roll", "°"),
        ("largest pitch", "°"),
    ]);
    Table { name: name.into(), title: title.into(), columns, rows: groups.iter().map(Group::row).collect() }
}

/// A row per walk.
pub(super) fn all_walks(name: &str, title: &str, groups: &[Group]) -> Table {
    let numbered = |(k, w): (usize, &Walked)| std::iter::once(count(k + 1)).chain(super::row(w)).collect();
    let rows = groups.iter().flat_map(|group| group.walks.iter().enumerate().map(numbered)).collect();
    let mut table = Table { rows, ..walks_table(name, title) };
    table.columns.splice(0..0, columns(&[("sample", "")]));
    table
}

/// Way forward by sample.
pub(super) fn ways(name: &str, title: &str, groups: &[Group]) -> Plot {
    let points = |group: &Group| group.ways().into_iter().enumerate().map(|(k, way)| ((k + 1) as f64, way)).collect();
    let series = groups.iter().map(|group| Series { scattered: true, ..line(group.name(), points(group)) });
    plot(name, title, ("sample of the terrain", false), ("way forward in ten seconds (m)", false), series.collect())
}
