//! What happens where bodies meet: impacts, and who is at rest after them.

use stiction_body::ContactPoint;
use stiction_body::math::Vec3;
use stiction_contact::ContactOutcome;
use stiction_contact::problem::TOUCHING;
use stiction_lcp::InputError;

use crate::assemble::{ContactKey, surface_speed};
use crate::event_driven::{Events, REST, Reached, Resting, SLIP_END, can_stick, limits};
use crate::simulation::{Simulation, StepFailure};
use crate::time_stepping::{GAIN, HALVINGS, describe, separation_speed, smaller};

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
        let tree = sim.world.model.trees().partition_point(|tree| tree.v.end <= k);
        let of = |x: &[f64]| sim.world.model.trees()[tree].v.clone().map(|k| x[k].abs()).fold(0.0, f64::max);
        REST * (of(&sim.state.v) + sim.settings.dt * of(&self.free))
    }

    /// Sorts what touches: parting, at rest (listed), or approaching (true if there is any; listed too).
    fn classify(&mut self, sim: &Simulation) -> bool {
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
            let dry = mu > 0.0 && can_stick(self.model.name());
            let stick = dry && slip.length() <= 2.0 * SLIP_END * none;
            self.resting.push(Resting { key: ContactKey::of(at), slip, dry, stick, open: false });
        }
        for (velocity, gap, away) in limits(&sim.world, &sim.state.q) {
            let (speed, none) = (away * sim.state.v[velocity], self.no_joint_speed(sim, velocity));
            if gap > LIMIT_TOUCHING || speed > none {
                continue;
            }
            collides |= speed < -none;
            self.limits.push(Reached { velocity, away });
        }
        self.dry.clear();
        for link in sim.world.model.links() {
            for k in link.v.clone() {
                let (v, none) = (sim.state.v[k], self.no_joint_speed(sim, k));
                let moves = link.spec.properties.friction > 0.0 && v.abs() > none;
                self.dry.push(if moves { v.signum() } else { 0.0 });
                let wanted = sim.commands.prescribed[k].filter(|_| sim.commands.limit[k].is_infinite());
                collides |= wanted.is_some_and(|target| (v - target).abs() > none);
            }
        }
        collides
    }

    /// An impact of everything that touches: a problem of velocities in no time, with less restitution where it would gain energy.
    fn impact(&mut self, sim: &mut Simulation) -> Result<(), StepFailure> {
        sim.scratch.v_free.clone_from(&sim.state.v);
        let mut lowered = false;
        for halving in 0..=HALVINGS {
            let scale = if halving == HALVINGS { 0.0 } else { 0.5f64.powi(halving as i32) };
            let bounces = self.assemble_impact(sim, scale).map_err(|e| sim.fail(e.to_string(), false))?;
            let clock = sim.clock();
            let outcome = sim.model.solve(&sim.assembler.problem).map_err(|e| sim.fail(e.to_string(), true))?;
            let report = match &outcome {
                ContactOutcome::Solved(solution) => {
                    let report = sim.report(solution);
                    sim.last = Some(outcome);
                    report
                }
                _ => sim
                    .solve_fallback(&outcome)
                    .map_err(|e| StepFailure { why: format!("impact: {}", describe(&outcome)), ..e })?,
            };
            sim.note_solve(clock);
            let gains = report.work > GAIN * (report.kinetic + report.work.abs());
            if !(bounces && gains) || halving == HALVINGS {
                self.report.restitution_lowered |= lowered;
                self.report.fallback |= report.fallback;
                self.report.impacts += 1;
                self.count(&report);
                break;
            }
            lowered = true;
        }
        if let Some(solution) = sim.last.as_ref().and_then(ContactOutcome::solved) {
            sim.state.v.copy_from_slice(&solution.motion);
        }
        Ok(())
    }

    /// The problem of an impact. True if something bounces.
    fn assemble_impact(&self, sim: &mut Simulation, restitution: f64) -> Result<bool, InputError> {
        let Simulation { world, work, state, scratch, collision, assembler, settings, commands, sizes, loops, .. } =
            sim;
        assembler.start(&scratch.mass, &state.v, &scratch.zeros, settings.dt)?;
        let mut bounces = false;
        for at in collision.contacts() {
            assembler.add_contact(world, work, at, smaller(sizes, at), |frame, contact| {
                contact.gap = 0.0;
                // Drag takes time, unless it holds at once.
                if contact.mu_viscous.is_finite() {
                    contact.mu_viscous = 0.0;
                }
                let rebound = frame.material.restitution * -separation_speed(world, work, at);
                if rebound > 0.0 && rebound >= settings.restitution_speed {
                    contact.bounce = restitution * rebound;
                    bounces = true;
                }
            })?;
        }
        assembler.add_limits(&world.model, &state.q, |_| LIMIT_TOUCHING, |_| (0.0, 0.0))?;
        assembler.add_loops(loops, |_| 0.0)?;
        for (k, target) in commands.prescribed.iter().enumerate() {
            if let Some(target) = target.filter(|_| commands.limit[k].is_infinite()) {
                assembler.add_joint_target(&world.model, k, target)?;
            }
        }
        Ok(bounces)
    }
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
