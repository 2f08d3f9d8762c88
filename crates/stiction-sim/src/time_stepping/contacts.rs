//! The contact problem of a step: the contacts, limits, loops, prescribed motions and dry friction it is made of.

use stiction_body::math::Vec3;
use stiction_body::{ContactPoint, JointLimit, Workspace};
use stiction_contact::Mode;
use stiction_lcp::InputError;
use stiction_linalg::rng::Rng;

use crate::assemble::{ContactFrame, ContactKey};
use crate::projection::overlap_left;
use crate::simulation::{Memory, Simulation};
use crate::world::World;

/// Limits of joints are looked at from this distance on (m or rad), besides what the joint can move in a step.
const LIMIT_REACH: f64 = 1e-3;

/// A contact that is open by at most this fraction of the smaller geom's size touches: one that held in the last step holds still.
pub(crate) const TOUCHING_GAP: f64 = 1e-4;

/// Slip speed from which on a contact slides at the start of a step (m/s): rounding leaves less of what rests.
const SLIDING: f64 = 1e-9;

impl Simulation {
    /// The contact problem of the step, without restitution.
    pub(crate) fn assemble(&mut self) -> Result<(), InputError> {
        self.assembler.restart(&self.state.v, &self.scratch.force, self.settings.dt)?;
        self.add_rows()?;
        self.spread_gaps()
    }

    /// Gives the contacts of islands that were not solved gaps that differ, see [`Self::compress`].
    fn spread_gaps(&mut self) -> Result<(), InputError> {
        let Self { assembler, scratch, .. } = self;
        for (i, spread) in scratch.spread.iter().enumerate().filter(|(_, spread)| **spread > 0.0) {
            let contacts = assembler.problem.contacts();
            let (gap, size) = (contacts.gap[i], contacts.size[i]);
            let predicted = contacts.predicted[i] || gap <= 0.0;
            let apart = spread * overlap_left(size) * share(&assembler.frames[i].key);
            assembler.problem.set_gap(i, gap.max(0.0) + apart, predicted)?;
        }
        Ok(())
    }

    /// Largest gap by which contacts were set apart in the step (m).
    pub(crate) fn gap_spread(&self) -> f64 {
        let sizes = &self.assembler.problem.contacts().size;
        self.scratch.spread.iter().zip(sizes).fold(0.0, |most, (spread, size)| most.max(spread * overlap_left(*size)))
    }

    /// The rows of contacts, joint limits, loops, prescribed motion and dry friction.
    pub(crate) fn add_rows(&mut self) -> Result<(), InputError> {
        let Self {
            work,
            world,
            state,
            scratch,
            assembler,
            memory,
            settings,
            commands,
            sizes,
            loops,
            model,
            threads,
            drives,
            closing,
            ..
        } = self;
        let friction_needs_force = model.kind().friction_needs_force();
        let (faces, stopped) = (&scratch.faces, &scratch.stopped);
        assembler.add_contacts(
            world,
            work,
            &faces.points,
            &faces.gaps,
            |at| smaller(sizes, at),
            *threads,
            |frame, contact| {
                contact.predicted = contact.gap > 0.0 && (friction_needs_force || held(memory, frame));
                if let Some(mu_static) = frame.material.mu_static
                    && (stopped.binary_search(&frame.key).is_ok()
                        || sticks(memory, world, work, frame, contact.surface))
                {
                    contact.mu = mu_static;
                }
            },
        )?;
        for (frame, mu) in assembler.frames.iter_mut().zip(&assembler.problem.contacts().mu) {
            frame.material.mu = *mu;
        }
        let speed = |k: usize| state.v[k].abs().max(scratch.v_free[k].abs());
        let reach = |limit: &JointLimit| {
            let own = limit.velocity..limit.velocity + limit.row().len();
            2.0 * settings.dt * own.map(speed).sum::<f64>() + LIMIT_REACH
        };
        assembler.add_limits(&world.model, &state.q, reach, |gap| (gap, 0.0))?;
        assembler.add_loops(loops, |_| 0.0)?;
        for link in world.model.joints() {
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
        for (of, (tendon, (length, row))) in (world.model.nv()..).zip(world.tendons.iter().zip(&drives.tendons)) {
            let speed = row.dot(&world.model, &state.v).abs().max(row.dot(&world.model, &scratch.v_free).abs());
            let reach = 2.0 * settings.dt * speed + LIMIT_REACH;
            for (gap, sign) in [(length - tendon.limits[0], 1.0), (tendon.limits[1] - length, -1.0)] {
                if gap <= reach {
                    assembler.add_row_limit(of, row, sign, gap, 0.0)?;
                }
            }
            if tendon.friction > 0.0 {
                assembler.add_row_bounded(row, [-tendon.friction, tendon.friction])?;
            }
        }
        closing.add_rows(world, (&state.v, &scratch.v_free), settings.dt, &mut assembler.problem)
    }
}

/// A number from 0 to 1 that belongs to a contact.
fn share(key: &ContactKey) -> f64 {
    let geoms = key.geoms.iter().fold(0, |bits, geom| Rng::new(bits ^ u64::from(*geom)).bits());
    Rng::new(geoms ^ key.feature).uniform()
}

/// True if the contact had a force in the last step and has hardly opened since: what the curvature of motion opens is no parting.
fn held(memory: &Memory, frame: &ContactFrame) -> bool {
    let force = || memory.keys.binary_search(&frame.key).ok().and_then(|i| memory.start.forces.normal.get(i));
    frame.gap <= TOUCHING_GAP * frame.size && force().is_some_and(|p| *p > 0.0)
}

/// True if the contact does not slide at the start of the step: it did not in the last one or, where that one does not say, it has no slip.
fn sticks(memory: &Memory, world: &World, work: &Workspace, frame: &ContactFrame, surface: [f64; 2]) -> bool {
    let before = memory.keys.binary_search(&frame.key).ok().and_then(|i| memory.start.modes.get(i));
    match before {
        Some(Mode::Stick) => true,
        Some(Mode::Slide) => false,
        Some(Mode::Open) | None => {
            let [a, b] = frame.key.geoms.map(|g| {
                world.geoms[g as usize].link.map_or(Vec3::ZERO, |link| work.point_velocity(link, frame.point))
            });
            let slip = |k: usize| (frame.tangents[k].dot(b - a) + surface[k]).abs();
            slip(0).max(slip(1)) <= SLIDING
        }
    }
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
