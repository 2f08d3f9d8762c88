//! `maxstep` with friction: how far a direction can be followed, and which index must change its set there. Reference: [Baraff94, §5.5, §5.6].

use stiction_lcp::dantzig;
use stiction_lcp::dantzig::step::{Limit, MaxStep};
use stiction_lcp::matrix::norm;

use super::drive::{Driven, Driver};
use super::sets::{Along, Friction, Place};

/// What ends a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Event {
    /// The driven acceleration is zero, or the driven force to be released.
    DrivenZero,
    /// The driven force is at a bound or on its cone.
    DrivenBound,
    /// The force of a clamped row is at its lower (false) or upper (true) bound.
    Bound(usize, bool),
    /// The acceleration of an unclamped row is zero.
    Closes(usize),
    /// The friction of a sticking contact is on its cone.
    Cone(usize),
    /// The acceleration of a sliding contact no longer opposes its friction.
    Turns(usize),
}

impl Event {
    /// True if the step ends with the driven index itself.
    pub(super) fn is_of_driven(self) -> bool {
        matches!(self, Self::DrivenZero | Self::DrivenBound)
    }
}

/// The events offered so far, in the numbers that [`MaxStep`] knows them by.
pub(super) type Events = Vec<Event>;

/// Offers an event of an index other than the driven one.
fn offer(step: &mut MaxStep, events: &mut Events, event: Event, row: usize, distance: f64, rate: f64) {
    if rate > 0.0 {
        step.offer(Limit::Clamped(events.len()), row, distance.max(0.0), rate);
        events.push(event);
    }
}

impl Driver {
    /// The longest step that keeps all conditions, and what ends it; `None` if nothing does.
    pub(super) fn maxstep(&mut self, driven: Driven) -> Option<(f64, Event)> {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let mut step = MaxStep::new(false, &dantzig::Tolerances::default());
        self.offer_driven(driven, &mut step);
        for i in (0..self.system.rows()).filter(|&i| i != driven.row() || !matches!(driven, Driven::Row { .. })) {
            self.offer_row(i, &mut step, &mut events);
        }
        for c in (0..self.system.contacts).filter(|&c| c != driven.row() || matches!(driven, Driven::Row { .. })) {
            self.offer_friction(c, &mut step, &mut events);
        }
        let chosen = step.choose().map(|(s, limit)| match limit {
            Limit::DrivenZero => (s, Event::DrivenZero),
            Limit::DrivenBound => (s, Event::DrivenBound),
            Limit::Clamped(p) | Limit::Unclamped(p) => (s, events[p]),
        });
        self.events = events;
        chosen
    }

    fn offer_driven(&self, driven: Driven, step: &mut MaxStep) {
        match driven {
            Driven::Row { i, sign } => {
                let rate = self.da(i, Along::Row) * sign;
                if rate > 0.0 {
                    step.offer(Limit::DrivenZero, i, (-self.a(i).0 * sign).max(0.0), rate);
                }
                let bound = if sign > 0.0 { self.system.hi[i] } else { self.system.lo[i] };
                step.offer(Limit::DrivenBound, i, (bound - self.f[i]) * sign, 1.0);
            }
            Driven::Tangent { i, e } => {
                let (a, rate) = (self.a_friction(i).0, self.da(i, Along::Tangent(e)));
                if rate > 0.0 {
                    step.offer(Limit::DrivenZero, i, (-(a[0] * e[0] + a[1] * e[1])).max(0.0), rate);
                }
                if let Some((distance, rate)) = self.to_cone(i) {
                    step.offer(Limit::DrivenBound, i, distance, rate);
                }
            }
            Driven::Release { i, .. } => step.offer(Limit::DrivenZero, i, norm(&self.f_friction[i]), 1.0),
        }
    }

    fn offer_row(&self, i: usize, step: &mut MaxStep, events: &mut Events) {
        match self.place[i] {
            Place::Ignored => {}
            Place::Clamped => {
                let (df, upper) = (self.df[i], self.df[i] > 0.0);
                let bound = if upper { self.system.hi[i] } else { self.system.lo[i] };
                if bound.is_finite() {
                    offer(step, events, Event::Bound(i, upper), i, (bound - self.f[i]).abs(), df.abs());
                }
            }
            Place::Lower | Place::Upper => {
                let inward = if self.place[i] == Place::Lower { 1.0 } else { -1.0 };
                let fixed = self.system.lo[i] == self.system.hi[i];
                if !self.refused[i][0] && !fixed {
                    let rate = -inward * self.da(i, Along::Row);
                    offer(step, events, Event::Closes(i), i, inward * self.a(i).0, rate);
                }
            }
        }
    }

    fn offer_friction(&self, c: usize, step: &mut MaxStep, events: &mut Events) {
        match self.friction[c] {
            Friction::Along(_) | Friction::Stick => {
                if let Some((distance, rate)) = self.to_cone(c) {
                    offer(step, events, Event::Cone(c), c, distance, rate);
                }
            }
            Friction::Slide(u) if self.place[c] == Place::Clamped && !self.refused[c][1] => {
                let a = self.a_friction(c).0;
                let rate = self.da(c, Along::Tangent(u));
                offer(step, events, Event::Turns(c), c, -(a[0] * u[0] + a[1] * u[1]), rate);
            }
            _ => {}
        }
    }

    /// How far the friction of contact `c` is inside its cone and how fast it nears it, so that the step is their ratio.
    fn to_cone(&self, c: usize) -> Option<(f64, f64)> {
        let (f, d) = (self.f_friction[c], self.df_friction[c]);
        let (most, d_most) = (self.system.mu[c] * self.f[c], self.system.mu[c] * self.df[c]);
        let size = norm(&f);
        let room = most - size;
        if self.system.planar[c] {
            let sign = |x: f64| if f[0] == 0.0 { x.abs() } else { x * f[0].signum() };
            // Nearing the side it is on, or the other one.
            let (near, far) = (sign(d[0]) - d_most, -sign(d[0]) - d_most);
            let near = (near > 0.0).then_some((room.max(0.0), near));
            let far = (far > 0.0).then_some((most + size, far));
            return match (near, far) {
                (Some(a), Some(b)) => Some(if a.0 * b.1 <= b.0 * a.1 { a } else { b }),
                (a, b) => a.or(b),
            };
        }
        // |f + s d|² = (most + s d_most)²: a s² + 2 b s − c = 0, c ≥ 0. Reference: [Baraff94, Eq. 23].
        let a = d[0] * d[0] + d[1] * d[1] - d_most * d_most;
        let b = f[0] * d[0] + f[1] * d[1] - most * d_most;
        let c = room.max(0.0) * (most + size);
        let root = b * b + a * c;
        if root < 0.0 {
            return None;
        }
        let root = root.sqrt();
        let s = if b > 0.0 {
            c / (b + root)
        } else if a > 0.0 {
            (root - b) / a
        } else {
            return None;
        };
        let rate = norm(&d) + d_most.abs();
        s.is_finite().then_some((s * rate, rate))
    }
}
