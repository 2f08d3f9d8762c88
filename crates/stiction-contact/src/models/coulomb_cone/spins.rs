//! Moments about the normals on an island's cone problem, at velocity level: rows with a bounded force, whose bounds `±μ_spin p_n` are those of the
//! normal forces found last. The problem is solved again from its last answer until these stand still; a moment has little to do with the normal
//! forces, so that takes few rounds.

use crate::by_island::IslandForces;
use crate::model::Level;
use crate::whitened::Whitened;

/// Most rounds.
const ROUNDS: usize = 100;

/// Rounds with full steps. After them bounds go a part of the way only, so that they do not swing.
const BOLD_ROUNDS: usize = 10;
const CAUTION: f64 = 0.5;

/// Bounds that change by no more than this part stand still.
const STILL: f64 = 1e-13;

/// The largest moment of each contact of an island that has one.
#[derive(Debug, Clone, Default)]
pub(super) struct Spins {
    most: Vec<Option<f64>>,
    rounds: usize,
}

impl Spins {
    /// Starts with the bounds of earlier forces, or none.
    pub(super) fn reset(&mut self, island: &Whitened, level: Level, earlier: Option<&IslandForces>) {
        self.rounds = 0;
        self.most.clear();
        self.most.extend((0..island.contacts()).map(|i| {
            let has_moment = level == Level::Velocity && island.touching[i] && island.mu_spin[i] > 0.0;
            // Without a limit the contact is first taken to be pressed, and not to spin.
            let unknown = if island.mu_spin[i] == f64::INFINITY { f64::INFINITY } else { 0.0 };
            has_moment.then(|| earlier.map_or(unknown, |p| most(island, p, i)))
        }));
    }

    /// Rounds so far.
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    /// The largest moment of contact `i`, if it has one.
    pub(super) fn most(&self, i: usize) -> Option<f64> {
        self.most[i]
    }

    /// Takes the bounds of `forces` over; false if they are those there were, or it has been tried for too long.
    pub(super) fn follow(&mut self, island: &Whitened, forces: &IslandForces) -> bool {
        self.rounds += 1;
        let part = if self.rounds < BOLD_ROUNDS { 1.0 } else { CAUTION };
        let mut moved = false;
        for (i, bound) in self.most.iter_mut().enumerate() {
            let Some(bound) = bound.as_mut() else { continue };
            let next = most(island, forces, i);
            if island.mu_spin[i] == f64::INFINITY {
                moved |= next != *bound;
                *bound = next;
                continue;
            }
            moved |= (next - *bound).abs() > STILL * next.max(*bound);
            *bound += part * (next - *bound);
        }
        moved && self.rounds < ROUNDS
    }
}

fn most(island: &Whitened, forces: &IslandForces, i: usize) -> f64 {
    if forces.normal[i] > 0.0 { island.mu_spin[i] * forces.normal[i] } else { 0.0 }
}
