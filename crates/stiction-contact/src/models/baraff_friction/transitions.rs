//! How indices move between the sets. Reference: [Baraff94, §5.3–5.6].

use stiction_lcp::matrix::norm;

use super::drive::{Driven, Driver, fill_column, fill_row};
use super::maxstep::Event;
use super::sets::{Along, Clamp, Friction, Place};

/// An index that changes its set more often than this without a step of any length in between is dropped: it oscillates.
const OSCILLATES: u8 = 2;

impl Driver {
    /// The driven index enters the set that the end of its step belongs to.
    pub(super) fn reached(&mut self, driven: Driven, event: Event) {
        match (driven, event) {
            (Driven::Row { i, sign }, Event::DrivenBound) => {
                let (place, bound) =
                    if sign > 0.0 { (Place::Upper, self.system.hi[i]) } else { (Place::Lower, self.system.lo[i]) };
                self.place[i] = place;
                self.f[i] = bound;
            }
            (Driven::Row { i, .. }, _) => {
                self.place[i] = Place::Clamped;
                self.push(Clamp { i, along: Along::Row });
            }
            (Driven::Tangent { i, e }, Event::DrivenBound) => self.slide(i, e),
            (Driven::Tangent { i, e }, _) => {
                self.friction[i] = if self.friction[i] == Friction::Off { Friction::Along(e) } else { Friction::Stick };
                self.push(Clamp { i, along: Along::Tangent(e) });
            }
            (Driven::Release { i, .. }, _) => {
                self.f_friction[i] = [0.0; 2];
                self.friction[i] = Friction::Off;
            }
        }
    }

    /// Moves an index that has reached the limit of its set to the next one, or drops it if it oscillates.
    pub(super) fn change_sets(&mut self, event: Event) {
        let (i, part) = match event {
            Event::Bound(i, _) | Event::Closes(i) => (i, 0),
            Event::Cone(i) | Event::Turns(i) => (i, 1),
            Event::DrivenZero | Event::DrivenBound => return,
        };
        self.changes[i][part] += 1;
        let oscillates = self.changes[i][part] > OSCILLATES;
        match event {
            Event::Bound(i, upper) => {
                self.unclamp(i, upper);
                if oscillates {
                    self.place[i] = Place::Ignored;
                }
            }
            Event::Closes(i) if oscillates => self.place[i] = Place::Ignored,
            Event::Closes(i) => self.clamp(i),
            Event::Cone(i) if oscillates => self.hold(i),
            Event::Cone(i) => self.slide(i, [1.0, 0.0]),
            Event::Turns(i) if oscillates => self.hold(i),
            Event::Turns(i) => self.turn(i),
            Event::DrivenZero | Event::DrivenBound => {}
        }
    }

    /// Clamps a condition.
    pub(super) fn push(&mut self, clamp: Clamp) {
        let (mut row, mut column) = (std::mem::take(&mut self.work), std::mem::take(&mut self.column));
        row.clear();
        row.resize(self.system.m, 0.0);
        fill_row(&self.system, clamp, &mut row);
        fill_column(&self.system, &self.friction, clamp, &mut column);
        self.clamped.push(clamp, &row, &column);
        (self.work, self.column) = (row, column);
        self.changed();
    }

    /// The friction of contact `i` was tied to its normal force, or untied: the column of a clamped normal changes.
    fn retie(&mut self, i: usize) {
        if self.place[i] == Place::Clamped {
            let normal = Clamp { i, along: Along::Row };
            self.clamped.remove(|c| *c == normal);
            self.push(normal);
        }
    }

    fn changed(&mut self) {
        self.refused.fill([false; 2]);
    }

    /// C to NC: the force has reached a bound. Friction is suspended.
    fn unclamp(&mut self, i: usize, upper: bool) {
        self.clamped.remove(|c| c.i == i);
        self.changed();
        (self.place[i], self.f[i]) =
            if upper { (Place::Upper, self.system.hi[i]) } else { (Place::Lower, self.system.lo[i]) };
        if i < self.system.contacts {
            match self.friction[i] {
                Friction::Along(_) | Friction::Stick | Friction::Slide(_) | Friction::Off => {
                    self.friction[i] = Friction::Off;
                    self.f_friction[i] = [0.0; 2];
                }
                Friction::Dynamic(_) => self.f_friction[i] = [0.0; 2],
                Friction::Absent | Friction::Held => {}
            }
        }
    }

    /// NC to C, unless the row depends on the clamped ones. Friction goes on in the set that the tangential acceleration asks for.
    fn clamp(&mut self, i: usize) {
        if i < self.system.contacts && self.friction[i] == Friction::Off {
            let (a, size) = self.a_friction(i);
            let speed = norm(&a);
            if speed > self.tolerances.dependent_row * size {
                self.friction[i] = Friction::Slide(a.map(|a| -a / speed));
            }
        }
        let clamp = Clamp { i, along: Along::Row };
        if !self.is_independent(clamp) {
            if matches!(self.friction.get(i), Some(Friction::Slide(_))) {
                self.friction[i] = Friction::Off;
            }
            self.refused[i][0] = true;
            return;
        }
        self.place[i] = Place::Clamped;
        self.push(clamp);
    }

    /// Contact `i`, clamped and without friction, slides along `u`.
    pub(super) fn start_sliding(&mut self, i: usize, u: [f64; 2]) {
        self.friction[i] = Friction::Slide(u);
        self.retie(i);
    }

    /// To NC_F, in the direction of the force, or along `e` if there is none.
    fn slide(&mut self, i: usize, e: [f64; 2]) {
        let f = self.f_friction[i];
        let size = norm(&f);
        let d = self.df_friction[i];
        let change = norm(&d);
        let u = if size > 0.0 {
            f.map(|f| f / size)
        } else if change > 0.0 {
            d.map(|d| d / change)
        } else {
            e
        };
        self.clamped.remove(|c| c.i == i && c.along != Along::Row);
        self.friction[i] = Friction::Slide(u);
        self.f_friction[i] = u.map(|u| u * self.system.mu[i] * self.f[i]);
        self.changed();
        self.retie(i);
    }

    /// NC_F to C_F: the acceleration no longer opposes the force.
    fn turn(&mut self, i: usize) {
        let Friction::Slide(u) = self.friction[i] else { return };
        self.friction[i] = Friction::Along(u);
        self.retie(i);
        let clamp = Clamp { i, along: Along::Tangent(u) };
        if self.is_independent(clamp) {
            self.push(clamp);
        } else {
            self.friction[i] = Friction::Slide(u);
            self.retie(i);
            self.refused[i][1] = true;
        }
    }

    /// Gives up on the friction of contact `i` for a while.
    pub(super) fn hold(&mut self, i: usize) {
        if matches!(self.friction[i], Friction::Absent | Friction::Dynamic(_)) {
            return;
        }
        self.clamped.remove(|c| c.i == i && c.along != Along::Row);
        self.friction[i] = if self.f_friction[i] == [0.0; 2] { Friction::Off } else { Friction::Held };
        self.changed();
        self.retie(i);
    }

    /// Whether a condition can be clamped beside those that are: its own force changes its acceleration.
    pub(super) fn is_independent(&mut self, clamp: Clamp) -> bool {
        self.direction_of(clamp, 1.0) && self.da(clamp.i, clamp.along) != 0.0
    }

    /// Takes row `i` out of all sets, its force at the bound next to it.
    pub(super) fn drop_row(&mut self, i: usize) {
        let upper = self.f[i] - self.system.lo[i] > self.system.hi[i] - self.f[i];
        self.unclamp(i, upper);
        self.place[i] = Place::Ignored;
    }
}
