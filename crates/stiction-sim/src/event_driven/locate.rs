//! Where a piece of smooth motion ends: conservative advancement to the first event, which is then found on the integrated motion itself.

use stiction_contact::problem::TOUCHING;

use crate::assemble::{ContactKey, key_of};
use crate::event_driven::impact::{LIMIT_TOUCHING, slip_velocity, touches};
use crate::event_driven::stages::to_exponential;
use crate::event_driven::{Events, SLIP_END};
use crate::simulation::{Simulation, StepFailure};
use crate::time_stepping::{separation_speed, smaller};

/// An advance is at least what closes this fraction of the smaller geom's size: an overlap below that may come and go unseen.
const GRAZE: f64 = 1e-3;

/// Advances along a piece; where they do not suffice it is cut short.
const ADVANCES: usize = 200;

/// Trials on the way to an event.
const TRIALS: usize = 80;

/// An event is aimed at from this far before it, in parts of a size: so that what touches does not overlap.
pub(super) const AIM: f64 = 0.25 * TOUCHING;

/// Gaps are rounded to about this fraction of a size. No more of an overlap may be met: what parted a moment ago and
/// closes again must be met while it is slow, or it sets off others.
const GAP_ROUNDING: f64 = 1e-14;

/// Slip of at most this fraction of what it was at the start of the piece has ended.
const STOPPED: f64 = 1e-6;

/// Where slip that turns around again and again makes this many pieces of a step, it ends at this fraction of what forces make of rest within a step:
/// friction that takes it there in no time at all turns too fast for any integrator.
const MANY: usize = 8;
const CREEP: f64 = 1e-4;

/// Every so many trials the interval is halved.
const HALVE_EVERY: usize = 4;

/// What the present state is like beside events.
struct Look {
    /// An event is past.
    past: bool,
    /// How far the nearest event is: gaps in parts of a size, slip as by [`Events::slip_left_of`]. Infinite if none is in sight.
    measure: f64,
}

/// What conservative advancement found, in parts of the piece.
enum Found {
    /// Nothing on the way.
    Clear,
    /// Nothing up to here, but no way to see farther.
    Cut(f64),
    /// An event between these.
    Between(f64, f64),
}

impl Events {
    /// A piece of smooth motion of at most `left` (s) from time `t`. Returns its length, or `None` if the model has no accelerations: then nothing
    /// was moved.
    pub(super) fn advance(&mut self, sim: &mut Simulation, t: f64, left: f64) -> Result<Option<f64>, StepFailure> {
        let result = self.try_advance(sim, t, left);
        let taken = result.map_err(|e| sim.fail(e.to_string(), false))?;
        let Some(taken) = taken else {
            sim.state.q.clone_from(&self.base.0);
            sim.state.v.clone_from(&self.base.1);
            return Ok(None);
        };
        if sim.state.q.iter().chain(&sim.state.v).any(|x| !x.is_finite()) {
            return Err(sim.fail("the motion is not finite", false));
        }
        Ok(Some(taken))
    }

    fn try_advance(
        &mut self,
        sim: &mut Simulation,
        t: f64,
        left: f64,
    ) -> Result<Option<f64>, stiction_lcp::InputError> {
        if !self.first_stage(sim, t, left)? || !self.integrate(sim, t, left)? {
            return Ok(None);
        }
        let mut taken = left;
        match self.look_ahead(sim, left) {
            Found::Clear => {}
            Found::Cut(part) => {
                taken = part * left;
                if !self.integrate(sim, t, taken)? {
                    return Ok(None);
                }
            }
            Found::Between(lo, hi) => match self.approach(sim, t, lo * left, hi * left)? {
                Some(end) => taken = end,
                None => return Ok(None),
            },
        }
        self.report.work += self.work(sim, taken);
        let margin = self.margin(sim, taken);
        self.stop_slip(sim, margin);
        self.settle(sim, margin)?;
        Ok(Some(taken))
    }

    /// Goes along the motion found, never farther than nothing can have touched.
    fn look_ahead(&mut self, sim: &mut Simulation, h: f64) -> Found {
        self.end.0.clone_from(&sim.state.q);
        self.end.1.clone_from(&sim.state.v);
        let found = self.search(sim, h);
        sim.state.q.clone_from(&self.end.0);
        sim.state.v.clone_from(&self.end.1);
        self.update(sim);
        let margin = self.margin(sim, h);
        match found {
            Found::Clear if self.look(sim, margin).past => Found::Between(0.0, 1.0),
            found => found,
        }
    }

    fn search(&mut self, sim: &mut Simulation, h: f64) -> Found {
        let variation = self.bound_speeds(sim);
        self.prepare_samples(sim);
        let (mut at, mut last) = (0.0, 0.0);
        for _ in 0..ADVANCES {
            stiction_lcp::interrupt::check();
            self.sample(sim, at, h);
            if at > 0.0 && self.collides(sim) {
                return Found::Between(last, at);
            }
            let rest = (1.0 - at) * h;
            let Some(safe) = self.safe_time(sim, rest, variation * rest) else { return Found::Clear };
            if at >= 1.0 {
                return Found::Clear;
            }
            last = at;
            at = if safe >= rest { 1.0 } else { at + safe / h };
        }
        if last > 0.0 { Found::Cut(last) } else { Found::Clear }
    }

    /// Bounds on the speeds of all geoms over the piece, from both of its ends; returns how much two of them can change (m/s).
    fn bound_speeds(&mut self, sim: &mut Simulation) -> f64 {
        sim.state.q.clone_from(&self.base.0);
        sim.state.v.clone_from(&self.base.1);
        self.update(sim);
        self.motion.clone_from(&sim.work.velocity);
        sim.state.q.clone_from(&self.end.0);
        sim.state.v.clone_from(&self.end.1);
        self.update(sim);
        self.speeds.clear();
        let mut variation = 0.0f64;
        for (geom, arm) in sim.world.geoms.iter().zip(&self.arms) {
            let Some(link) = geom.link else {
                self.speeds.push(0.0);
                continue;
            };
            let (a, b) = (&self.motion[link], &sim.work.velocity[link]);
            let change = (b.linear - a.linear).length() + arm * (b.angular - a.angular).length();
            let linear = a.linear.length().max(b.linear.length());
            let angular = a.angular.length().max(b.angular.length());
            self.speeds.push(linear + arm * angular + 0.5 * change);
            variation = variation.max(change);
        }
        2.0 * variation
    }

    /// The way from the start of the piece to its end, and its rate there, in exponential coordinates.
    fn prepare_samples(&mut self, sim: &Simulation) {
        self.way.resize(self.base.1.len(), 0.0);
        for link in sim.world.model.links() {
            let (q, v) = (link.q.clone(), link.v.clone());
            link.spec.kind.difference(&self.base.0[q.clone()], &self.end.0[q], &mut self.way[v]);
        }
        self.way_rate.clone_from(&self.end.1);
        to_exponential(sim, &self.way, &mut self.way_rate);
    }

    /// The state at a part of the piece: a cubic through both ends with their velocities.
    fn sample(&mut self, sim: &mut Simulation, at: f64, h: f64) {
        let (n, v) = (self.base.1.len(), &self.base.1);
        let (a, b, c) = (at * at * (3.0 - 2.0 * at), at * at * (at - 1.0), at * (1.0 - at) * (1.0 - at));
        self.xi.clear();
        self.xi.extend((0..n).map(|i| a * self.way[i] + h * (b * self.way_rate[i] + c * v[i])));
        self.place(sim);
        for i in 0..n {
            sim.state.v[i] = (1.0 - at) * v[i] + at * self.end.1[i];
        }
        self.update(sim);
    }

    fn update(&self, sim: &mut Simulation) {
        sim.work.update_positions(&sim.world.model, &sim.state.q);
        sim.work.update_velocities(&sim.world.model, &sim.state.v);
    }

    /// True if something touches and approaches that is not at rest.
    fn collides(&self, sim: &mut Simulation) -> bool {
        self.find_touching(sim, 0.0);
        let sim = &*sim;
        sim.collision.contacts().iter().any(|at| {
            !self.rests(ContactKey::of(at))
                && touches(sim, at)
                && separation_speed(&sim.world, &sim.work, at) < -self.no_speed(sim, at)
        })
    }

    /// How long nothing new can touch (s); `None` if nothing can within `rest` (s), with motion that changes by `margin` (m) in that time.
    fn safe_time(&mut self, sim: &mut Simulation, rest: f64, margin: f64) -> Option<f64> {
        let clock = sim.clock();
        sim.collision.find(&sim.world.model, &sim.work, &sim.work.velocity, rest, margin);
        sim.phases.collision += clock.map_or_else(Default::default, |c| c.elapsed());
        let others = sim.collision.contacts().iter().filter(|at| !self.rests(ContactKey::of(at)));
        let time = |at: &stiction_body::ContactPoint| {
            at.gap.max(GRAZE * smaller(&sim.sizes, at)) / (self.speeds[at.geoms[0]] + self.speeds[at.geoms[1]])
        };
        others.map(time).min_by(f64::total_cmp)
    }

    /// True if a contact was at rest when the piece began: it may open within it, but touches nothing new.
    fn rests(&self, key: ContactKey) -> bool {
        self.resting.binary_search_by_key(&key, |r| r.key).is_ok()
    }

    /// Looks at the present state, at kinematics that are up to date, for events up to a gap of `margin` (m).
    fn look(&self, sim: &mut Simulation, margin: f64) -> Look {
        self.find_touching(sim, margin);
        let sim = &*sim;
        let mut look = Look { past: false, measure: f64::INFINITY };
        let mut see = |measure: f64| {
            look.measure = look.measure.min(measure);
            look.past |= measure <= 0.0;
        };
        see(self.slip_left);
        for at in sim.collision.contacts() {
            match self.resting.binary_search_by_key(&ContactKey::of(at), |r| r.key).map(|r| self.resting[r]) {
                Ok(r) if self.slides(sim, at, &r) => {
                    see(self.slip_left_of(sim, at, &r));
                }
                Ok(r) if !r.open => {}
                near if separation_speed(&sim.world, &sim.work, at) < -self.no_speed(sim, at) => {
                    // What opened within the piece and closed again is an event only if it overlaps: rounding closes too.
                    let slack = if near.is_ok() { TOUCHING } else { 0.0 };
                    see(at.gap / smaller(&sim.sizes, at) + slack);
                }
                _ => {}
            }
        }
        for limit in sim.world.model.limits(&sim.state.q) {
            let reached = self.limits.binary_search(&key_of(&limit)).is_ok();
            if !reached && limit.speed(&sim.state.v) < -self.no_joint_speed(sim, limit.velocity) {
                see(limit.gap * (TOUCHING / LIMIT_TOUCHING));
            }
        }
        for (k, sign) in self.dry.iter().enumerate().filter(|(_, sign)| **sign != 0.0) {
            see(sim.state.v[k] * sign / self.base.1[k].abs());
        }
        look
    }

    /// Ends the piece just before the first event between `lo` and `hi` (s), by integrations that bracket it. `None` if the model has no
    /// accelerations.
    fn approach(
        &mut self,
        sim: &mut Simulation,
        t: f64,
        mut lo: f64,
        mut hi: f64,
    ) -> Result<Option<f64>, stiction_lcp::InputError> {
        let (mut below, mut above, mut at) = (f64::INFINITY, f64::INFINITY, hi);
        let mut seen = lo == 0.0;
        for trial in 0..TRIALS {
            if !self.integrate(sim, t, at)? {
                return Ok(None);
            }
            self.update(sim);
            let margin = 2.0 * self.margin(sim, hi - lo);
            let look = self.look(sim, margin);
            if (-GAP_ROUNDING..=2.0 * AIM).contains(&look.measure) || !look.past && at >= hi {
                return Ok(Some(at));
            }
            if look.past {
                (hi, above) = (at, look.measure);
                // Slip may end, and what grazes may touch, before what the advancement saw.
                if hi <= lo {
                    (lo, below) = (0.0, f64::INFINITY);
                }
            } else {
                (lo, below) = (at, look.measure);
            }
            if !seen {
                (seen, at) = (true, lo);
                continue;
            }
            let middle = 0.5 * (lo + hi);
            if !(middle > lo && middle < hi) {
                break;
            }
            let secant = lo + (hi - lo) * ((below - AIM) / (below - above));
            let usable = below.is_finite() && above.is_finite() && secant > lo && secant < hi;
            at = if usable && trial % HALVE_EVERY != HALVE_EVERY - 1 { secant } else { middle };
        }
        // Events that no interval is short enough for: just past it, so that time goes on.
        let found = self.integrate(sim, t, hi)?;
        self.update(sim);
        Ok(found.then_some(hi))
    }

    /// Contacts and joints whose slip has come to an end are held from now on.
    fn stop_slip(&mut self, sim: &mut Simulation, margin: f64) {
        if self.dry.iter().all(|s| *s == 0.0) && self.resting.iter().all(|r| !r.dry || r.stick || r.open) {
            return;
        }
        self.update(sim);
        self.find_touching(sim, margin);
        for c in 0..sim.collision.contacts().len() {
            let at = sim.collision.contacts()[c];
            let Ok(r) = self.resting.binary_search_by_key(&ContactKey::of(&at), |r| r.key) else { continue };
            let resting = self.resting[r];
            let mut left = self.slip_left_of(sim, &at, &resting);
            let mut limit = STOPPED * resting.slip.length() + 2.0 * SLIP_END * self.no_speed(sim, &at);
            if self.report.substeps >= MANY {
                limit = limit.max(CREEP * sim.settings.dt * self.free_linear);
                left = left.min(self.slip_left);
            }
            let ends = self.slides(sim, &at, &resting) && left <= 4.0 * AIM;
            self.resting[r].stick |= ends && slip_velocity(sim, &at).length() <= limit;
        }
        for (k, sign) in self.dry.iter().enumerate().filter(|(_, sign)| **sign != 0.0) {
            if sim.state.v[k] * sign <= 4.0 * AIM * self.base.1[k].abs() {
                sim.state.v[k] = 0.0;
            }
        }
    }
}
