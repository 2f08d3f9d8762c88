//! What happens where bodies meet: impacts, and who is at rest after them.

use stiction_body::ContactPoint;
use stiction_body::math::Vec3;
use stiction_contact::ContactOutcome;
use stiction_contact::problem::TOUCHING;
use stiction_lcp::InputError;

use crate::assemble::{ContactKey, key_of, surface_speed};
use crate::event_driven::{Events, REST, Resting, SLIP_END};
use crate::restitution::{Impacts, gains};
use crate::simulation::{Simulation, StepFailure, StepReport};
use crate::time_stepping::{separation_speed, smaller};

/// A limit is reached at this distance (m or rad).
pub(super) const LIMIT_TOUCHING: f64 = 1e-9;

impl Events {
    /// Impacts of what touches and approaches; then the list of what is at rest.
    pub(super) fn meet(&mut self, sim: &mut Simulation) -> Result<(), StepFailure> {
        sim.update_dynamics();
        self.free_motion(sim).map_err(|e| sim.fail(e.to_string(), false))?;
        self.find_touching(sim, 0.0);
        if self.classify(sim) {
            self.impact(sim)?;
            sim.work.update_velocities(&sim.world.model, &sim.state.v);
            // What the impact left of approach is rounding.
            self.classify(sim);
        }
        Ok(())
    }

    /// The contacts with a gap of at most `margin` (m), and those that touch.
    pub(super) fn find_touching(&self, sim: &mut Simulation, margin: f64) {
        let clock = sim.clock();
        sim.collision.find(&sim.world.model, &sim.work, &self.still, 0.0, margin);
        sim.phases.collision += clock.map_or_else(Default::default, |c| c.elapsed());
    }

    /// A speed at a contact that is none (m/s).
    pub(super) fn no_speed(&self, sim: &Simulation, at: &ContactPoint) -> f64 {
        let speed = |geom: usize| {
            let link = sim.world.geoms[geom].link;
            link.map_or(0.0, |l| {
                let motion = &sim.work.velocity[l];
                motion.linear.length() + motion.angular.length() * self.arms[geom]
            })
        };
        REST * (speed(at.geoms[0]) + speed(at.geoms[1]) + sim.settings.dt * self.free_linear)
    }

    /// A speed of a joint that is none.
    pub(super) fn no_joint_speed(&self, sim: &Simulation, k: usize) -> f64 {
        let tree = sim.world.model.tree_of(k);
        let of = |x: &[f64]| sim.world.model.trees()[tree].v.clone().map(|k| x[k].abs()).fold(0.0, f64::max);
        REST * (of(&sim.state.v) + sim.settings.dt * of(&self.free))
    }

    /// Sorts what touches: parting, at rest (listed), or approaching (true if there is any; listed too).
    pub(super) fn classify(&mut self, sim: &Simulation) -> bool {
        self.resting.clear();
        self.limits.clear();
        let mut collides = false;
        for at in sim.collision.contacts() {
            let (speed, none) = (separation_speed(&sim.world, &sim.work, at), self.no_speed(sim, at));
            if speed > none {
                continue;
            }
            collides |= speed < -none;
            let slip = slip_velocity(sim, at);
            let mu = sim.world.surfaces.between(at.geoms[0], at.geoms[1]).mu;
            let dry = mu > 0.0 && self.model.kind().can_stick();
            let stick = dry && slip.length() <= 2.0 * SLIP_END * none;
            self.resting.push(Resting { key: ContactKey::of(at), slip, dry, stick, open: false });
        }
        for limit in sim.world.model.limits(&sim.state.q) {
            let (speed, none) = (limit.speed(&sim.state.v), self.no_joint_speed(sim, limit.velocity));
            if limit.gap > LIMIT_TOUCHING || speed > none {
                continue;
            }
            collides |= speed < -none;
            self.limits.push(key_of(&limit));
        }
        self.dry.clear();
        for link in sim.world.model.links() {
            for k in link.v.clone() {
                let (v, none) = (sim.state.v[k], self.no_joint_speed(sim, k));
                let moves = link.spec.properties.friction > 0.0 && v.abs() > none;
                self.dry.push(if moves { v.signum() } else { 0.0 });
                let wanted = sim.commands.prescribed[k].filter(|_| !sim.commands.is_limited(k));
                collides |= wanted.is_some_and(|target| (v - target).abs() > none);
            }
        }
        collides
    }

    /// An impact of everything that touches: a problem of velocities in no time, with less restitution where it would gain energy.
    fn impact(&mut self, sim: &mut Simulation) -> Result<(), StepFailure> {
        sim.scratch.v_free.clone_from(&sim.state.v);
        self.find_rebounds(sim).map_err(|e| sim.fail(e.to_string(), false))?;
        let solve = |sim: &mut Simulation, scale: f64| solve_impact(sim, scale);
        let clock = sim.clock();
        let mut report = solve(sim, 1.0)?;
        if gains(report.work, &report) && sim.scratch.rebound.iter().any(|u| *u > 0.0) {
            let compression = solve(sim, 0.0)?;
            let motion = sim.last.as_ref().and_then(ContactOutcome::answer).map_or(&[][..], |s| &s.motion);
            sim.scratch.v_compressed.clear();
            sim.scratch.v_compressed.extend_from_slice(motion);
            report = sim.largest_restitution(compression, 0.0, solve)?;
            if report.restitution_scale == 0.0 {
                solve(sim, 0.0)?;
            }
        }
        sim.note_solve(clock);
        self.report.restitution_scale = self.report.restitution_scale.min(report.restitution_scale);
        self.report.fallback |= report.fallback;
        self.report.accepted |= report.accepted;
        self.report.impacts += 1;
        self.count(&report);
        if let Some(solution) = sim.last.as_ref().and_then(ContactOutcome::answer) {
            sim.state.v.copy_from_slice(&solution.motion);
        }
        Ok(())
    }

    /// The rebound speeds of what touches and approaches (m/s).
    fn find_rebounds(&self, sim: &mut Simulation) -> Result<(), InputError> {
        let (world, work, scratch) = (&sim.world, &sim.work, &mut sim.scratch);
        scratch.closed.clear();
        scratch.rebound.clear();
        for at in sim.collision.contacts() {
            let restitution = world.surfaces.between(at.geoms[0], at.geoms[1]).restitution;
            let rebound = restitution * -separation_speed(world, work, at);
            let fast = rebound > 0.0 && rebound >= sim.settings.restitution_speed;
            scratch.closed.push(true);
            scratch.rebound.push(if fast { rebound } else { 0.0 });
        }
        if sim.settings.impacts == Impacts::Sequential && scratch.rebound.iter().any(|u| *u > 0.0) {
            assemble_impact(sim, 0.0)?;
            sim.follow_sequence()?;
        }
        Ok(())
    }
}

/// Solves an impact with `scale` of its rebound speeds.
fn solve_impact(sim: &mut Simulation, scale: f64) -> Result<StepReport, StepFailure> {
    assemble_impact(sim, scale).map_err(|e| sim.fail(e.to_string(), false))?;
    let outcome = sim.model.solve(&sim.assembler.problem).map_err(|e| sim.fail(e.to_string(), true))?;
    match outcome.solved().map(|solution| sim.report(solution)) {
        Some(report) => {
            sim.last = Some(outcome);
            Ok(report)
        }
        None => sim.not_certified(outcome).map_err(|e| StepFailure { why: format!("impact: {}", e.why), ..e }),
    }
}

/// The problem of an impact with `scale` of its rebound speeds.
fn assemble_impact(sim: &mut Simulation, scale: f64) -> Result<(), InputError> {
    let Simulation { world, work, state, scratch, collision, assembler, settings, commands, sizes, loops, .. } = sim;
    assembler.start(&scratch.mass, &state.v, &scratch.zeros, settings.dt)?;
    for (at, rebound) in collision.contacts().iter().zip(&scratch.rebound) {
        assembler.add_contact(world, work, at, smaller(sizes, at), |_, contact| {
            contact.gap = 0.0;
            // Drag takes time, unless it holds at once.
            if contact.mu_viscous.is_finite() {
                contact.mu_viscous = 0.0;
            }
            contact.bounce = scale * rebound;
        })?;
    }
    assembler.add_limits(&world.model, &state.q, |_| LIMIT_TOUCHING, |_| (0.0, 0.0))?;
    assembler.add_loops(loops, |_| 0.0)?;
    for (k, target) in commands.prescribed.iter().enumerate() {
        if let Some(target) = target.filter(|_| !commands.is_limited(k)) {
            assembler.add_joint_target(&world.model, k, target)?;
        }
    }
    Ok(())
}

/// Slip velocity of a contact, with the motion of its surfaces (m/s).
pub(super) fn slip_velocity(sim: &Simulation, at: &ContactPoint) -> Vec3 {
    let velocity =
        |geom: usize| sim.world.geoms[geom].link.map_or(Vec3::ZERO, |l| sim.work.point_velocity(l, at.point));
    let relative = velocity(at.geoms[1]) - velocity(at.geoms[0]) + surface_speed(&sim.world, &sim.work, at);
    relative - at.normal * at.normal.dot(relative)
}

/// True if a contact touches.
pub(super) fn touches(sim: &Simulation, at: &ContactPoint) -> bool {
    at.gap <= TOUCHING * smaller(&sim.sizes, at)
}
