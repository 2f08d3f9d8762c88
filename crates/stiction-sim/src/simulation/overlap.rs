//! Geoms that overlap: at the start, which is a mistake or drawn that way, and at any time.

use std::fmt;

use stiction_body::collision::{self, Collision};
use stiction_lcp::InputError;

use super::Simulation;

/// Two geoms that overlap at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// Their names.
    pub names: [String; 2],
    /// How deep (m).
    pub depth: f64,
    /// They belong to one model: a robot's own parts.
    pub one_model: bool,
}

impl Overlap {
    /// Why a run must not begin with these overlaps: the first that is not within one model, and
    /// how many more there are. `None` if there is none.
    pub fn refusal(all: &[Self]) -> Option<String> {
        let mut between = all.iter().filter(|o| !o.one_model);
        let first = between.next()?;
        let rest = match between.count() {
            0 => String::new(),
            1 => " (and 1 more pair)".into(),
            more => format!(" (and {more} more pairs)"),
        };
        Some(format!("{first} at the start{rest}"))
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" and \"{}\" overlap by {:.3e} m", self.names[0], self.names[1], self.depth)
    }
}

/// Overlap at the start above this fraction of the smaller geom's size is worth a word.
const OVERLAP_AT_START: f64 = 1e-6;

/// Why bodies all in one place are no scene.
pub(super) const CROWDED: &str = "too many geoms are near each other: more pairs or contacts than can be looked at";

impl Simulation {
    /// Geoms that overlap now by more than 1e-6 of the smaller one's size, the deepest point of each pair; without those of [`Simulation::ignored_overlaps`].
    pub fn overlaps(&mut self) -> Vec<Overlap> {
        self.find_overlaps().iter().map(|o| self.named(o)).collect()
    }

    /// Links of one tree of joints that overlap at the start: drawn that way, and never meant to touch. They never do here, unless the
    /// world allows that overlap and no more.
    pub fn ignored_overlaps(&self) -> &[Overlap] {
        &self.ignored
    }

    fn find_overlaps(&mut self) -> Vec<collision::Overlap> {
        self.kinematics();
        self.collision.overlaps(&self.world.model, &self.work, OVERLAP_AT_START)
    }

    fn named(&self, overlap: &collision::Overlap) -> Overlap {
        let owner = |k: usize| self.world.geom_owner[overlap.geoms[k]];
        let names = overlap.geoms.map(|g| self.world.geom_name(g));
        Overlap { names, depth: overlap.depth, one_model: owner(0) == owner(1) }
    }

    /// Takes pairs of links that hang on each other and overlap at the start out of collision.
    pub(super) fn ignore_own_overlaps(&mut self) -> Result<(), InputError> {
        let mut rules = self.world.rules.clone();
        let mut overlaps = self.find_overlaps();
        // A start beyond the limits of joints is left with the first step.
        if let Some(within) = self.within_limits() {
            let start = std::mem::replace(&mut self.state.q, within);
            for overlap in self.find_overlaps() {
                match overlaps.iter_mut().find(|o| o.geoms == overlap.geoms) {
                    Some(known) => known.depth = known.depth.max(overlap.depth),
                    None => overlaps.push(overlap),
                }
            }
            self.state.q = start;
            self.kinematics_at_state = false;
        }
        if self.collision.take_crowded() {
            return Err(InputError::Unsupported { solver: "collision", reason: CROWDED.into() });
        }
        let mut allowances = vec![];
        for overlap in overlaps {
            let tree = |k: usize| {
                let link = self.world.geoms[overlap.geoms[k]].link;
                link.map(|link| self.world.model.links()[link].tree)
            };
            if tree(0).is_some() && tree(0) == tree(1) {
                rules.excluded_geoms.push((overlap.geoms[0], overlap.geoms[1]));
                allowances.push((overlap.geoms, overlap.depth));
                self.ignored.push(self.named(&overlap));
            }
        }
        if self.world.allow_start_overlap {
            self.collision.allow_overlaps(allowances);
        } else if !self.ignored.is_empty() {
            self.collision = Collision::new(&self.world.model, self.world.geoms.clone(), rules)?;
            self.collision.set_threads(self.threads);
        }
        Ok(())
    }
}
