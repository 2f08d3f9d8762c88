//! Time stepping: symplectic Euler with any velocity-level model.
//!
//! A step takes (q, v) to v⁺ = v + M̂⁻¹ (Δt f + Jᵀp), q⁺ = q ⊕ Δt v⁺, where the contact model finds p under `N v⁺ ≥ −max(gap, 0)/Δt`: a body may
//! approach a surface but not enter it, and a contact never adds energy. Where friction is bounded by the normal force, a contact that closes within
//! the step has friction too; under no-slip and viscous friction only one that touches or has just held, or bodies that fly past a wall would stick
//! to it. Contacts that close within the step and have restitution rebound within it (see `restitution.rs`). Springs, damping and servos are implicit: M̂ = M + Δt D + Δt² K. Overlap
//! that the curvature of motion leaves is removed by a projection of positions, min ‖Δq‖ under N Δq ≥ −gap, never by forces: at the start of the
//! next step, which looks for contacts anyway. Loops are closed in the same way at the end of each step.

use std::mem;

use stiction_body::math::{Vec3, length};
use stiction_body::{ContactPoint, LinkMotion, Workspace};
use stiction_contact::{CONTACT_ROWS, ContactOutcome, ContactSolution, WarmStart};
use stiction_lcp::InputError;

use crate::assemble::{ContactFrame, ContactKey};
use crate::control::{Commands, View};
use crate::energy::EnergyBalance;
use crate::motors::{Bounded, add_outer};
use crate::projection::overlap_left;
use crate::simulation::{Memory, OnFailure, Simulation, StepFailure, StepReport};
use crate::world::World;

/// Limits of joints are looked at from this distance on (m or rad), besides what the joint can move in a step.
pub(crate) const LIMIT_REACH: f64 = 1e-3;

/// A contact that held in the last step and is now open by at most this part of its size holds still.
const HELD: f64 = 1e-4;

/// Points of two faces that meet within this part of the step do so together.
const TOGETHER: f64 = 0.01;

/// Bodies may be hit within the step: contacts are looked for this part of the fastest body's way farther than bodies move by themselves.
pub(crate) const HIT: f64 = 0.5;

impl Simulation {
    /// One step of symplectic Euler.
    pub(crate) fn time_step(&mut self) -> Result<StepReport, StepFailure> {
        let clock = self.clock();
        // What rests has its inertia and kinematics from the last step.
        let at_rest = self.sleep.is_at_rest() && self.kinematics_at_state;
        if !at_rest {
            self.update_inertia();
        }
        self.command(self.state.t);
        let asleep = if at_rest { self.sleep_on() } else { None };
        if at_rest && asleep.is_none() {
            self.update_inertia();
        }
        self.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        if let Some(report) = asleep {
            return Ok(report);
        }
        let report = self.held_step()?;
        self.note_rest(&report);
        Ok(report)
    }

    /// The step with the commands there are, at inertia that is up to date.
    pub(crate) fn held_step(&mut self) -> Result<StepReport, StepFailure> {
        let clock = self.clock();
        let Self { work, world, state, scratch, settings, .. } = self;
        scratch.passive.resize(world.model.nv(), 0.0);
        let (at, force) = ((&state.q[..], &state.v[..]), &mut scratch.passive);
        work.passive_forces_over_step(&world.model, at, &scratch.mass, settings.dt, force);
        self.add_ambient();
        self.scratch.projected = 0.0;
        let before = self.present_energy();
        self.update_forces().map_err(|e| self.fail(e.to_string(), false))?;
        self.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        let [penetration, overlap_left] = self.separate().map_err(|e| self.fail(e.to_string(), false))?;
        let Self { work, world, scratch, collision, settings, .. } = self;
        flatten_faces(world, work, &scratch.motion, settings.dt, collision.contacts(), &mut scratch.gaps);
        let mut report = self.solve_motors()?;
        (report.penetration, report.overlap_left) = (penetration, overlap_left);
        let clock = self.clock();
        self.advance(&mut report.energy);
        let after = self.finish_step().inspect_err(|_| self.take_back())?;
        report.energy.kinetic_before = before.0;
        report.energy.kinetic_after = after.0;
        report.energy.potential_change = after.1 - before.1;
        report.energy.projection = self.scratch.projected;
        self.phases.dynamics += clock.map_or_else(Default::default, |c| c.elapsed());
        Ok(report)
    }

    /// Closes the loops after a step, and checks that state and energy are finite; returns the
    /// energy.
    fn finish_step(&mut self) -> Result<(f64, f64), StepFailure> {
        self.close_loops().map_err(|e| self.fail(e.to_string(), false))?;
        self.work.update_positions(&self.world.model, &self.state.q);
        self.work.update_velocities(&self.world.model, &self.state.v);
        let energy = self.present_energy();
        self.check_finite(energy)?;
        self.kinematics_at_state = true;
        Ok(energy)
    }

    /// Kinematics, inertia, gravity and velocity products at the present state.
    pub(crate) fn update_dynamics(&mut self) {
        self.kinematics_at_state = false;
        self.update_inertia();
        let Self { work, world, scratch, .. } = self;
        scratch.passive.resize(world.model.nv(), 0.0);
        work.passive_forces(&world.model, &mut scratch.passive);
        self.add_ambient();
    }

    /// Adds what acts by itself besides gravity to the passive forces.
    fn add_ambient(&mut self) {
        let Self { work, world, state, scratch, .. } = self;
        scratch.ambient.clear();
        if world.ambient.is_empty() {
            return;
        }
        scratch.ambient.resize(world.model.nv(), 0.0);
        world.ambient.add_forces(&world.model, work, &state.q, &mut scratch.ambient);
        scratch.passive.iter_mut().zip(&scratch.ambient).for_each(|(force, ambient)| *force += ambient);
    }

    /// Kinematics and inertia at the present state; after a step the kinematics are there already.
    fn update_inertia(&mut self) {
        let Self { work, world, state, scratch, loops, drives, .. } = self;
        let model = &world.model;
        if !mem::take(&mut self.kinematics_at_state) {
            work.update_positions(model, &state.q);
            work.update_velocities(model, &state.v);
        }
        loops.update(model, work, &state.q);
        work.mass_blocks(model, &mut scratch.mass);
        drives.measure_tendons(world.driven(), work, &state.q);
        for (tendon, (_, row)) in world.tendons.iter().zip(&drives.tendons).filter(|(t, _)| t.armature > 0.0) {
            row.blocks().for_each(|(tree, values)| add_outer(&mut scratch.mass[tree], values, tendon.armature));
        }
        if self.couples_velocities {
            scratch.bodies.resize_with(scratch.mass.len(), Default::default);
            scratch.bodies.iter_mut().zip(&scratch.mass).for_each(|(to, from)| to.copy_from(from));
        }
        scratch.diagonal.clear();
        scratch.diagonal.extend(scratch.mass.iter().flat_map(|block| (0..block.rows()).map(|d| block[(d, d)])));
    }

    /// What the controllers ask of a step from the state it is in, as if it were time `t` (s): for
    /// those who drive another engine with them. Controllers that remember take it for a step.
    pub fn commands_at(&mut self, t: f64) -> &Commands {
        let Self { work, world, state, .. } = self;
        work.update_positions(&world.model, &state.q);
        work.update_velocities(&world.model, &state.v);
        self.command(t);
        &self.commands
    }

    /// Asks the controllers at time `t` (s).
    pub(crate) fn command(&mut self, t: f64) {
        let Self { work, world, state, controllers, commands, settings, .. } = self;
        commands.reset(world);
        let view = View { model: &world.model, work, q: &state.q, v: &state.v, t, dt: settings.dt };
        for controller in controllers {
            controller.command(&view, commands);
        }
        let Self { work, world, state, commands, settings, drives, ties, .. } = self;
        let (at, input) = ((&state.q[..], &state.v[..]), (&commands.control[..], &state.activation[..]));
        drives.update_springs(world.driven(), &state.v);
        ties.update((&world.model, &world.ties), work, &state.v, settings.dt, &mut drives.ties);
        drives.update_motors(world.driven(), work, at, input, settings.dt);
    }

    /// Forces and inertia of the step, and the velocities without contact.
    pub(crate) fn update_forces(&mut self) -> Result<(), InputError> {
        self.add_motors(Bounded::AsSaturated);
        let Self { world, state, scratch, settings, assembler, work, .. } = self;
        let dt = settings.dt;
        assembler.start(&scratch.mass, &state.v, &scratch.force, dt)?;
        scratch.v_free.clear();
        scratch.v_free.extend(scratch.force.iter().map(|f| dt * f));
        assembler.problem.mass().solve(&mut scratch.v_free);
        scratch.v_free.iter_mut().zip(&state.v).for_each(|(x, v)| *x += v);
        work.link_velocities(&world.model, &scratch.v_free, &mut scratch.motion);
        Ok(())
    }

    /// Solves the contacts: compression, and restitution where a contact that closes is to rebound.
    pub(crate) fn solve_contacts(&mut self) -> Result<StepReport, StepFailure> {
        let clock = self.clock();
        self.assemble().map_err(|e| self.fail(e.to_string(), false))?;
        self.phases.assembly += clock.map_or_else(Default::default, |c| c.elapsed());
        let clock = self.clock();
        let compression = self.solve()?;
        self.note_solve(clock);
        if !self.find_rebounds()? {
            return Ok(compression);
        }
        let clock = self.clock();
        let report = self.restitute(compression)?;
        self.note_solve(clock);
        Ok(report)
    }

    /// The contact problem of the step, without restitution.
    pub(crate) fn assemble(&mut self) -> Result<(), InputError> {
        self.assembler.restart(&self.state.v, &self.scratch.force, self.settings.dt)?;
        self.add_rows()
    }

    /// The rows of contacts, joint limits, loops, prescribed motion and dry friction.
    pub(crate) fn add_rows(&mut self) -> Result<(), InputError> {
        let Self {
            work,
            world,
            state,
            scratch,
            collision,
            assembler,
            memory,
            settings,
            commands,
            sizes,
            loops,
            friction_needs_force,
            threads,
            drives,
            ..
        } = self;
        let points = collision.contacts();
        assembler.add_contacts(
            world,
            work,
            points,
            &scratch.gaps,
            |at| smaller(sizes, at),
            *threads,
            |frame, contact| {
                // A gap below what projection leaves of overlap is rounding; over dt it would be a
                // velocity, and redundant contacts would contradict each other.
                if contact.gap > 0.0 && contact.gap <= overlap_left(contact.size) {
                    contact.gap = 0.0;
                }
                contact.predicted = contact.gap > 0.0 && (*friction_needs_force || held(memory, frame));
            },
        )?;
        let reach = |k: usize| 2.0 * settings.dt * state.v[k].abs().max(scratch.v_free[k].abs()) + LIMIT_REACH;
        assembler.add_limits(&world.model, &state.q, reach, |gap| (gap, 0.0))?;
        assembler.add_loops(loops, |_| 0.0)?;
        for link in world.model.links() {
            for k in link.v.clone() {
                if let Some(target) = commands.prescribed[k] {
                    if commands.is_limited(k) {
                        assembler.add_joint_motor(&world.model, k, commands.limit[k], target)?;
                    } else {
                        assembler.add_joint_target(&world.model, k, target)?;
                    }
                }
                let dry = link.spec.properties.friction;
                if dry > 0.0 {
                    assembler.add_joint_bounded(&world.model, k, [-dry, dry], 0.0)?;
                }
            }
        }
        for (tendon, (length, row)) in world.tendons.iter().zip(&drives.tendons) {
            let speed = row.dot(&world.model, &state.v).abs().max(row.dot(&world.model, &scratch.v_free).abs());
            let reach = 2.0 * settings.dt * speed + LIMIT_REACH;
            for (gap, sign) in [(length - tendon.limits[0], 1.0), (tendon.limits[1] - length, -1.0)] {
                if gap <= reach {
                    assembler.add_row_limit(row, sign, gap)?;
                }
            }
            if tendon.friction > 0.0 {
                assembler.add_row_bounded(row, [-tendon.friction, tendon.friction])?;
            }
        }
        Ok(())
    }

    /// Solves the assembled problem, from the last step's modes and forces.
    pub(crate) fn solve(&mut self) -> Result<StepReport, StepFailure> {
        let Self { assembler, memory, scratch, model, last, .. } = self;
        let same = assembler.frames.iter().map(|f| f.key).eq(memory.keys.iter().copied());
        let start = if let Some(found) = &scratch.joint_start {
            found
        } else if same {
            &memory.start
        } else {
            map_start(&memory.start, &memory.keys, &assembler.frames, &mut scratch.start);
            &scratch.start
        };
        if let Some(old) = last.take() {
            model.recycle(old);
        }
        let outcome = model.solve_from(&assembler.problem, Some(start));
        let outcome = outcome.map_err(|e| self.fail(e.to_string(), true))?;
        match outcome.solved().map(|solution| self.report(solution)) {
            Some(report) => {
                self.last = Some(outcome);
                Ok(report)
            }
            None => self.not_certified(outcome),
        }
    }

    /// What becomes of an outcome that is not certified, as [`OnFailure`] says: its best answer, the fallback model's answer to
    /// the same problem, or the failure.
    pub(crate) fn not_certified(&mut self, outcome: ContactOutcome) -> Result<StepReport, StepFailure> {
        let (why, best) = (describe(&outcome), outcome.answer().map(|answer| answer.certificate.largest()));
        let failed = |sim: &Self, why: String| StepFailure { best, ..sim.fail(why, true) };
        let bound = self.settings.accept_bound;
        match self.settings.on_failure {
            OnFailure::Stop => Err(failed(self, why)),
            OnFailure::Accept => match outcome.answer().filter(|_| best.is_some_and(|best| best <= bound)) {
                Some(answer) => {
                    let report = StepReport { accepted: true, ..self.report(answer) };
                    self.last = Some(outcome);
                    Ok(report)
                }
                None => Err(failed(self, format!("{why}; not accepted: the bound is {bound:.1e}"))),
            },
            OnFailure::Fallback => {
                let Some(fallback) = &mut self.fallback else { return Err(failed(self, why)) };
                let second = fallback.solve(&self.assembler.problem);
                let second = second.map_err(|e| failed(self, format!("{why}; the fallback: {e}")))?;
                match second.solved().map(|solution| self.report(solution)) {
                    Some(report) => {
                        self.last = Some(second);
                        Ok(StepReport { fallback: true, ..report })
                    }
                    None => Err(failed(self, format!("{why}; the fallback: {}", describe(&second)))),
                }
            }
        }
    }

    /// What a solution says of the step.
    pub(crate) fn report(&self, solution: &ContactSolution) -> StepReport {
        let (problem, forces) = (&self.assembler.problem, &solution.forces);
        let contacts = problem.contacts();
        let (rows, p) = (contacts.rows(), forces.contacts());
        let (mut work, mut slip) = (0.0, 0.0f64);
        for i in (0..contacts.len()).filter(|&i| forces.normal[i] != 0.0) {
            let mut speed = [0.0; CONTACT_ROWS];
            for k in (0..CONTACT_ROWS).filter(|&k| rows[k].has_entries(i)) {
                speed[k] = rows[k].dot(i, &solution.motion);
                work += 0.5 * p[k][i] * (rows[k].dot(i, &self.scratch.v_free) + speed[k]);
            }
            let (s, mut t) = (speed[1] + contacts.surface[i][0], speed[2] + contacts.surface[i][1]);
            let ratio = self.assembler.frames.get(i).map_or(1.0, |frame| frame.friction_ratio);
            if ratio != 1.0 {
                // The row is that of the unit tangent times the ratio; along a tangent without friction nothing slips.
                t = if ratio > 0.0 { t / ratio } else { 0.0 };
            }
            slip = slip.max((s * s + t * t).sqrt());
        }
        StepReport {
            contacts: contacts.len(),
            active: solution.active_contacts(),
            pivots: solution.stats.pivots,
            factorizations: solution.stats.factorizations,
            most_factorizations: solution.stats.most_factorizations,
            guessed: solution.stats.guessed == solution.stats.islands,
            certificate: solution.certificate.largest(),
            place: solution.certificate.worst,
            penetration: 0.0,
            overlap_left: 0.0,
            slip,
            work,
            kinetic: self.kinetic(&solution.motion),
            restitution_scale: 1.0,
            fallback: false,
            accepted: false,
            substeps: 1,
            impacts: 0,
            stepped: 0.0,
            energy: EnergyBalance::default(),
        }
    }

    /// Kinetic energy of velocities `v` (J), with what acts implicitly.
    pub(crate) fn kinetic(&self, v: &[f64]) -> f64 {
        let mass = &self.scratch.mass;
        let blocks = mass.iter().zip(self.world.model.trees()).map(|(block, tree)| {
            let v = &v[tree.v.clone()];
            (0..v.len()).map(|j| v[j] * stiction_lcp::matrix::dot(block.col(j), v)).sum::<f64>()
        });
        0.5 * blocks.sum::<f64>()
    }

    /// Takes the solution over: velocities, configuration, time, and what the next step remembers.
    fn advance(&mut self, energy: &mut EnergyBalance) {
        if let Some(solution) = self.last.as_ref().and_then(ContactOutcome::answer) {
            energy.driven = solution.certificate.driven_work;
            let mut after = mem::take(&mut self.scratch.v_after);
            after.clone_from(&solution.motion);
            (energy.actuators, energy.joints) = self.joint_work(&after);
            self.scratch.v_after = after;
        }
        self.advance_activations();
        let Self { world, state, memory, assembler, settings, last, scratch, .. } = self;
        let Some(solution) = last.as_mut().and_then(ContactOutcome::answer_mut) else { return };
        mem::swap(&mut memory.keys, &mut scratch.keys_before);
        memory.keys.clear();
        memory.keys.extend(assembler.frames.iter().map(|f| f.key));
        mem::swap(&mut memory.start, &mut solution.warm_start);
        state.v.copy_from_slice(&solution.motion);
        world.model.integrate(&mut state.q, &state.v, settings.dt);
        state.advance_time(state.t, settings.dt);
    }

    /// Undoes what [`Simulation::advance`] did to the memory of contacts; the rest goes back as
    /// after any failure.
    fn take_back(&mut self) {
        let Self { memory, last, scratch, .. } = self;
        if let Some(solution) = last.as_mut().and_then(ContactOutcome::answer_mut) {
            mem::swap(&mut memory.keys, &mut scratch.keys_before);
            mem::swap(&mut memory.start, &mut solution.warm_start);
        }
    }
}

/// The gaps of contacts as the problem has them. Where two faces meet, points whose gaps differ by little are given the least of them: the curvature of
/// earlier motion leaves such differences, they close within a small part of the step, and which of the points would close first is what
/// a solver has to spend most of its work on.
fn flatten_faces(
    world: &World,
    work: &Workspace,
    motion: &[LinkMotion],
    dt: f64,
    points: &[ContactPoint],
    gaps: &mut Vec<f64>,
) {
    gaps.clear();
    let speed = |geom: usize, point: Vec3| {
        let Some(link) = world.geoms[geom].link else { return 0.0 };
        length(motion[link].linear + motion[link].angular.cross(point - work.pose[link].translation))
    };
    for face in points.chunk_by(|a, b| a.geoms == b.geoms && a.normal == b.normal) {
        let (first, least) = (gaps.len(), face.iter().fold(f64::INFINITY, |least, at| least.min(at.gap)).max(0.0));
        gaps.extend(face.iter().map(|at| at.gap));
        if face.len() > 1 && gaps[first..].iter().any(|gap| *gap > least) {
            let fastest =
                |most: f64, at: &ContactPoint| at.geoms.iter().fold(most, |most, g| most.max(speed(*g, at.point)));
            let together = least + TOGETHER * dt * face.iter().fold(0.0, fastest);
            gaps[first..].iter_mut().filter(|gap| **gap <= together).for_each(|gap| *gap = gap.min(least));
        }
    }
}

/// True if the contact had a force in the last step and has hardly opened since: what the curvature of motion opens is no parting.
fn held(memory: &Memory, frame: &ContactFrame) -> bool {
    let force = || memory.keys.binary_search(&frame.key).ok().and_then(|i| memory.start.forces.normal.get(i));
    frame.gap <= HELD * frame.size && force().is_some_and(|p| *p > 0.0)
}

/// Size of the smaller geom of a contact (m).
pub(crate) fn smaller(sizes: &[f64], at: &ContactPoint) -> f64 {
    sizes[at.geoms[0]].min(sizes[at.geoms[1]])
}

/// Separation speed of a contact before the step (m/s).
pub(crate) fn separation_speed(world: &World, work: &Workspace, at: &ContactPoint) -> f64 {
    let velocity = |geom: usize| world.geoms[geom].link.map_or(Vec3::ZERO, |l| work.point_velocity(l, at.point));
    at.normal.dot(velocity(at.geoms[1]) - velocity(at.geoms[0]))
}

/// Modes and forces of the contacts that were there in the last step; new ones are open and without force. A contact at a corner may change from one feature to another with a last digit: if each is
/// the only one of its two geoms that is new or gone, it takes over.
pub(crate) fn map_start(old: &WarmStart, old_keys: &[ContactKey], frames: &[ContactFrame], out: &mut WarmStart) {
    out.modes.clear();
    out.bases.clear();
    let (mut to, from) = (out.forces.contacts_mut(), old.forces.contacts());
    to.iter_mut().for_each(|x| x.clear());
    let mut rest = old_keys;
    for pair in frames.chunk_by(|a, b| a.key.geoms == b.key.geoms) {
        rest = &rest[rest.partition_point(|key| key.geoms < pair[0].key.geoms)..];
        let first = old_keys.len() - rest.len();
        let before = &rest[..rest.partition_point(|key| key.geoms == pair[0].key.geoms)];
        let mut gone = (0..before.len()).filter(|&k| pair.iter().all(|frame| frame.key != before[k]));
        let renamed = gone.next().filter(|_| gone.next().is_none());
        let new = pair.iter().filter(|frame| !before.contains(&frame.key)).count();
        for frame in pair {
            let same = before.iter().position(|key| *key == frame.key).or(renamed.filter(|_| new == 1));
            let i = same.map(|k| first + k).filter(|i| *i < old.modes.len());
            let of = |x: &[f64]| i.and_then(|i| x.get(i)).copied().unwrap_or(0.0);
            out.modes.push(i.map_or_else(Default::default, |i| old.modes[i]));
            (0..CONTACT_ROWS).for_each(|k| to[k].push(of(from[k])));
        }
    }
    let f = &mut out.forces;
    f.bilateral.clone_from(&old.forces.bilateral);
    f.limit.clone_from(&old.forces.limit);
    f.bounded.clone_from(&old.forces.bounded);
}

/// Why an outcome is no solution.
pub(crate) fn describe(outcome: &ContactOutcome) -> String {
    match outcome {
        ContactOutcome::Solved(_) => "solved".into(),
        ContactOutcome::Infeasible(i) => {
            format!("no motion satisfies the rows (any would need {:.1e} times the speed)", i.least_speed)
        }
        ContactOutcome::NoSolution(_) => "the law of friction has no solution here".into(),
        ContactOutcome::Ray(ray) => ray.claim.clone(),
        ContactOutcome::Failed(f) => format!("{} ({})", f.why, f.best.certificate),
    }
}
