//! The index sets as a basis, for the next solve.
//!
//! A letter per row, as everywhere, and two per contact for its friction: clamped tangents are basic; a contact that slides along the first direction
//! of its frame has both letters at the upper bound, one that slides against it only the second. Other directions have no letter; they are
//! those of the earlier friction.

use stiction_lcp::{Basis, Position};

use super::drive::Driver;
use super::sets::{Along, Clamp, Friction, Place};
use crate::by_island::IslandForces;

impl Driver {
    /// The basis that the index sets stand for.
    pub(super) fn basis(&self) -> Basis {
        let rows = (0..self.system.rows()).map(|i| match self.place[i] {
            Place::Clamped => Position::Basic,
            _ if self.f[i] == self.system.hi[i] => Position::Upper,
            _ => Position::Lower,
        });
        let same = self.tolerances.same_direction;
        let friction = (0..self.system.contacts).flat_map(|c| match self.friction[c] {
            Friction::Along(_) => [Position::Basic, Position::Lower],
            Friction::Stick => [Position::Basic; 2],
            Friction::Slide(u) if along(u, self.frame[c]) > 1.0 - same => [Position::Upper; 2],
            Friction::Slide(u) if along(u, self.frame[c]) < same - 1.0 => [Position::Lower, Position::Upper],
            _ => [Position::Lower; 2],
        });
        Basis::new(rows.chain(friction).collect())
    }

    /// Index sets and forces as the basis and the earlier forces say, as far as their conditions are independent. False if the basis is not one of this
    /// system, or has no forces.
    pub(super) fn start_from(&mut self, basis: &Basis, earlier: Option<&IslandForces>) -> bool {
        let (rows, contacts) = (self.system.rows(), self.system.contacts);
        if basis.len() != rows + 2 * contacts {
            return false;
        }
        self.reset();
        self.steps = 0;
        for i in 0..rows {
            self.start_row(i, basis);
        }
        if self.polish().is_err() {
            return false;
        }
        self.turn_frames();
        for c in 0..contacts {
            if self.place[c] != Place::Clamped || self.friction[c] != Friction::Off {
                continue;
            }
            let letters = [basis.position(rows + 2 * c), basis.position(rows + 2 * c + 1)];
            if let Some(direction) = self.earlier_direction(c, letters, earlier) {
                self.start_sliding(c, direction);
            }
            let count = letters.iter().filter(|p| **p == Position::Basic).count();
            // The force of a contact that is held along one direction is along that.
            let held = earlier.filter(|_| count == 1).and_then(|forces| self.system.friction_direction(c, forces));
            self.start_sticking(c, count, held.unwrap_or([1.0, 0.0]));
        }
        self.polish().is_ok()
    }

    /// Where the friction of a contact pointed that slid: that of its earlier force, for the frame may have turned; the letter's where there is none.
    fn earlier_direction(&self, c: usize, letters: [Position; 2], earlier: Option<&IslandForces>) -> Option<[f64; 2]> {
        if letters.contains(&Position::Basic) {
            return None;
        }
        let listed = (letters[1] == Position::Upper).then(|| {
            let sign = if letters[0] == Position::Upper { 1.0 } else { -1.0 };
            self.frame[c].map(|x| sign * x)
        });
        earlier.and_then(|forces| self.system.friction_direction(c, forces)).or(listed)
    }

    fn start_row(&mut self, i: usize, basis: &Basis) {
        let clamp = Clamp { i, along: Along::Row };
        match basis.position(i) {
            Position::Upper if self.system.hi[i].is_finite() => self.f[i] = self.system.hi[i],
            Position::Lower if self.system.lo[i].is_finite() => self.f[i] = self.system.lo[i],
            Position::Basic if self.is_independent(clamp) => {
                self.place[i] = Place::Clamped;
                self.push(clamp);
            }
            _ => {}
        }
    }

    /// Clamps up to `count` independent tangents of contact `c`, that along `e` first.
    fn start_sticking(&mut self, c: usize, count: usize, e: [f64; 2]) {
        let mut clamped = 0;
        for e in [e, [-e[1], e[0]]] {
            let clamp = Clamp { i: c, along: Along::Tangent(e) };
            if clamped < count && self.is_independent(clamp) {
                self.push(clamp);
                clamped += 1;
                self.friction[c] = if clamped == 1 { Friction::Along(e) } else { Friction::Stick };
            }
        }
    }
}

fn along(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}
