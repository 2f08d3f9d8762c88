//! Which conditions do not hold, and which of them is established next.

use stiction_lcp::matrix::norm;

use super::drive::{Driven, Driver, Halt};
use super::sets::{Along, Friction, Place};

/// The order in which violated conditions are established. The paper leaves it open, and the answer may depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Normals before friction, the worst first.
    Worst,
    /// Contact by contact.
    First,
    /// Contact by contact, from the last.
    Last,
    /// Shuffled, by a number.
    Shuffled(u64),
}

/// Rounds of driving and polishing, at most.
const ROUNDS: usize = 8;

impl Driver {
    /// Establishes one condition after the other in this order, until all hold with the forces of one linear system.
    pub(super) fn establish(&mut self, order: Order) -> Result<(), Halt> {
        for _ in 0..ROUNDS {
            while let Some(driven) = self.next(order) {
                self.drive_to_zero(driven)?;
            }
            self.polish()?;
            if !self.repair() && self.next(order).is_none() {
                return Ok(());
            }
        }
        Err(Halt::Numerical("conditions that do not hold after they were established"))
    }

    /// Establishes the conditions of rows alone.
    pub(super) fn establish_normals(&mut self, order: Order) -> Result<(), Halt> {
        while let Some(driven) = self.next(order).filter(|d| matches!(d, Driven::Row { .. })) {
            self.drive_to_zero(driven)?;
        }
        Ok(())
    }

    /// The next condition to establish and how; `None` if all hold.
    pub(super) fn next(&mut self, order: Order) -> Option<Driven> {
        let rows = self.system.rows();
        match order {
            Order::Worst => {
                let normals = (0..rows).filter_map(|i| self.row_violation(i));
                let worst = |best: Option<(Driven, f64)>, next: (Driven, f64)| match best {
                    Some(best) if best.1 >= next.1 => Some(best),
                    _ => Some(next),
                };
                normals
                    .fold(None, worst)
                    .or_else(|| (0..self.system.contacts).filter_map(|c| self.friction_violation(c)).fold(None, worst))
                    .map(|(driven, _)| driven)
            }
            Order::First => (0..rows).find_map(|i| self.any_violation(i)),
            Order::Last => (0..rows).rev().find_map(|i| self.any_violation(i)),
            Order::Shuffled(seed) => {
                let key = |i: &usize| (*i as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
                let violated = (0..rows).filter_map(|i| Some((i, self.any_violation(i)?)));
                violated.min_by_key(|(i, _)| key(i)).map(|(_, driven)| driven)
            }
        }
    }

    fn any_violation(&self, i: usize) -> Option<Driven> {
        let friction = || if i < self.system.contacts { self.friction_violation(i) } else { None };
        self.row_violation(i).or_else(friction).map(|(driven, _)| driven)
    }

    /// How to establish the condition of row `i` if it does not hold, and the acceleration it lacks, in units of its row.
    fn row_violation(&self, i: usize) -> Option<(Driven, f64)> {
        let (lo, hi, f) = (self.system.lo[i], self.system.hi[i], self.f[i]);
        if self.place[i] == Place::Clamped || lo == hi || self.within_rounding[i][0] {
            return None;
        }
        let (a, size) = self.a(i);
        let holds = f == lo && a >= 0.0 || f == hi && a <= 0.0 || a.abs() <= self.tolerances.violated * size;
        let sign = if a < 0.0 { 1.0 } else { -1.0 };
        (!holds).then(|| (Driven::Row { i, sign }, a.abs() / self.system.length[i]))
    }

    /// How to establish the friction of contact `c` if it does not hold. Normals come first: without a normal force there is nothing to establish.
    fn friction_violation(&self, c: usize) -> Option<(Driven, f64)> {
        let holds = self.place[c] == Place::Clamped && self.f[c] > 0.0;
        let (driven, e) = match self.friction[c] {
            Friction::Absent | Friction::Dynamic(_) | Friction::Stick => return None,
            Friction::Held => {
                let f = self.f_friction[c];
                let size = norm(&f);
                return Some((Driven::Release { i: c, e: f.map(|f| -f / size) }, f64::INFINITY));
            }
            _ if !holds || self.within_rounding[c][1] => return None,
            Friction::Off => {
                let (a, size) = self.a_friction(c);
                let first = against(self.frame[c], a);
                let settled = along(first, a).abs() <= self.tolerances.violated * size;
                let e = if settled && !self.system.planar[c] { against(across(first), a) } else { first };
                (Driven::Tangent { i: c, e }, e)
            }
            Friction::Along(_) if self.system.planar[c] => return None,
            Friction::Along(e) => {
                let e = against(across(e), self.a_friction(c).0);
                (Driven::Tangent { i: c, e }, e)
            }
            // Kept by the steps, but for rounding.
            Friction::Slide(u) => (Driven::Release { i: c, e: u.map(|u| -u) }, u.map(|u| -u)),
        };
        let (a, size) = self.a_friction(c);
        let lacks = -along(e, a);
        (lacks > self.tolerances.violated * size).then(|| (driven, lacks / self.tangent_length(c)))
    }

    pub(super) fn tangent_length(&self, c: usize) -> f64 {
        let length = |k: usize| norm(self.system.tangent[k].col(c));
        norm(&[length(0), length(1)])
    }

    /// Puts forces back within their limits where rounding has left them outside, and drops conditions whose force is clearly outside. True if
    /// any was dropped.
    pub(super) fn repair(&mut self) -> bool {
        let mut dropped = false;
        for k in (0..self.clamped.list().len()).rev() {
            let Some(&clamp) = self.clamped.list().get(k).filter(|c| c.along == Along::Row) else { continue };
            let i = clamp.i;
            let bound = self.f[i].clamp(self.system.lo[i], self.system.hi[i]);
            let beyond = (self.f[i] - bound).abs() * self.system.length[i] * self.system.length[i];
            if beyond > self.tolerances.violated * self.a(i).1 {
                self.drop_row(i);
                dropped = true;
            } else {
                self.f[i] = bound;
            }
        }
        for c in 0..self.system.contacts {
            dropped |= self.repair_friction(c);
        }
        self.within_rounding.fill([false; 2]);
        self.refresh();
        dropped
    }

    fn repair_friction(&mut self, c: usize) -> bool {
        if let Some(u) = self.friction[c].tied() {
            self.f_friction[c] = u.map(|u| u * self.system.mu[c] * self.f[c]);
            return false;
        }
        let (force, most) = (norm(&self.f_friction[c]), self.system.mu[c] * self.f[c]);
        if force <= most || !matches!(self.friction[c], Friction::Along(_) | Friction::Stick) {
            return false;
        }
        let length = self.tangent_length(c);
        if (force - most) * length * length > self.tolerances.violated * self.a_friction(c).1 {
            self.hold(c);
            return true;
        }
        self.f_friction[c] = self.f_friction[c].map(|f| f * (most / force));
        false
    }
}

fn along(e: [f64; 2], a: [f64; 2]) -> f64 {
    e[0] * a[0] + e[1] * a[1]
}

fn across(e: [f64; 2]) -> [f64; 2] {
    [-e[1], e[0]]
}

/// ±e, whichever is against `a`.
fn against(e: [f64; 2], a: [f64; 2]) -> [f64; 2] {
    if along(e, a) > 0.0 { e.map(|x| -x) } else { e }
}
