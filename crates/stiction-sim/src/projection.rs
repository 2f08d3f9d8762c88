//! Projection of positions: overlap, loops that opened and joints beyond their limits are put right by moving, never by forces.

use std::mem;

use stiction_body::math::length;
use stiction_body::{JointKind, LinkMotion, Model};
use stiction_contact::{Contact, ContactModel, ContactProblem, Mass};
use stiction_lcp::{InputError, Matrix};

use crate::simulation::Simulation;
use crate::time_stepping::{HIT, LIMIT_REACH, smaller};

/// Overlap above this part of a geom's size is removed.
const OVERLAP: f64 = 1e-12;

/// A joint beyond its limit by more than this is put back (m or rad).
const BEYOND: f64 = 1e-12;

/// A loop open by more than this is closed (m or rad).
pub(crate) const OPEN: f64 = 1e-13;

/// Rounds of the projection: it is a Newton iteration, and three are plenty.
pub(crate) const PROJECTIONS: usize = 3;

/// Where not all overlap can be removed, what is left counts this many times what is moved, in units of energy.
const GIVE: f64 = 1e6;

/// A projection that moves something by more than this many times what it is to remove is no correction.
const LEVERAGE: f64 = 100.0;

/// Nor is one that turns something by more than this (rad).
const LARGEST_TURN: f64 = 0.5;

/// Most contacts and limits that may give way at a time: each is one more unknown.
const MOST_ROWS: usize = 100;

/// What a projection came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Everything is put right, up to the curvature of motion.
    AllTheWay,
    /// As far as possible.
    Partly,
    /// Nothing was moved.
    Not,
}

impl Simulation {
    /// Takes bodies that overlap apart, however deep, by the least motion; returns the deepest overlap that is left (m).
    ///
    /// # Errors
    /// If the inertia is not positive definite at the present state.
    pub fn take_apart(&mut self) -> Result<f64, InputError> {
        /// Rounds: each removes the overlap as seen from where the last one led.
        const ROUNDS: usize = 100;
        self.update_dynamics();
        self.commands.reset(&self.world.model);
        self.update_forces()?;
        self.scratch.motion.iter_mut().for_each(|m| *m = LinkMotion::ZERO);
        let mut left = self.separate()?[1];
        for _ in 0..ROUNDS {
            stiction_lcp::interrupt::check();
            if left <= 0.0 {
                break;
            }
            let next = self.separate()?[1];
            if next >= left {
                break;
            }
            left = next;
        }
        Ok(left)
    }

    /// Finds the contacts, and takes bodies that overlap apart. Returns the deepest overlap before and after.
    pub(crate) fn separate(&mut self) -> Result<[f64; 2], InputError> {
        let (depth, mut too_deep) = self.find_contacts();
        let mut left = depth;
        for _ in 0..PROJECTIONS {
            if !too_deep {
                break;
            }
            let clock = self.clock();
            let moved = self.project()?;
            self.phases.projection += clock.map_or_else(Default::default, |c| c.elapsed());
            if moved == Moved::Not {
                break;
            }
            (left, too_deep) = self.find_contacts();
            if moved == Moved::Partly {
                break;
            }
        }
        Ok([depth, left])
    }

    /// Finds the contacts of the step. Returns the deepest overlap (m), and whether one is deep enough to be removed.
    fn find_contacts(&mut self) -> (f64, bool) {
        let clock = self.clock();
        let Self { work, world, state, scratch, collision, settings, sizes, .. } = self;
        let fastest = scratch.motion.iter().map(|m| length(m.linear)).fold(0.0, f64::max);
        let margin = HIT * settings.dt * fastest;
        let points = collision.find(&world.model, work, &scratch.motion, settings.dt, margin);
        let depth = points.iter().fold(0.0, |d: f64, p| d.max(-p.gap));
        let too_deep = depth > 0.0 && points.iter().any(|p| -p.gap > OVERLAP * smaller(sizes, p));
        let too_deep = too_deep || beyond_limits(&world.model, &state.q);
        self.phases.collision += clock.map_or_else(Default::default, |c| c.elapsed());
        (depth, too_deep)
    }

    /// One round of the projection: min ‖Δq‖ in the metric of the step's inertia, under N Δq ≥ −gap and J Δq = −φ; where no motion satisfies that, the one that violates it least.
    pub(crate) fn project(&mut self) -> Result<Moved, InputError> {
        let Self { work, world, state, scratch, collision, assembler, projector, sizes, loops, .. } = self;
        assembler.restart(&scratch.zeros, &scratch.zeros, 1.0)?;
        for point in collision.contacts() {
            assembler.add_contact(world, work, point, smaller(sizes, point), |frame, contact| {
                (contact.mu, contact.mu_spin, contact.mu_viscous) = (0.0, 0.0, 0.0);
                contact.bounce = (-frame.gap).max(0.0);
            })?;
        }
        assembler.add_limits(&world.model, &state.q, |_| LIMIT_REACH, |gap| (gap, (-gap).max(0.0)))?;
        assembler.add_loops(loops, |value| if value.abs() > OPEN { -value } else { 0.0 })?;
        let mut outcome = projector.solve(&assembler.problem)?;
        let mut moved = Moved::AllTheWay;
        if outcome.solved().is_none() {
            outcome = projector.solve(&with_give(&assembler.problem)?)?;
            moved = Moved::Partly;
        }
        let Some(solution) = outcome.solved() else { return Ok(Moved::Not) };
        let energy = work.energy(&world.model, &state.v);
        let motion = &solution.motion[..world.model.nv()];
        work.link_velocities(&world.model, motion, &mut scratch.moved);
        let part = reasonable_part(&scratch.moved, asked_for(&assembler.problem));
        if part < 1.0 {
            moved = Moved::Partly;
        }
        world.model.integrate(&mut state.q, motion, part);
        projector.recycle(outcome);
        work.update_positions(&world.model, &state.q);
        work.update_velocities(&world.model, &state.v);
        loops.update(&world.model, work, &state.q);
        let moved_energy = work.energy(&world.model, &state.v);
        scratch.projected += moved_energy.0 - energy.0 + (moved_energy.1 - energy.1);
        Ok(moved)
    }

    /// Closes the loops that the step opened by the curvature of its motion, with the contacts of the new configuration in place.
    pub(crate) fn close_loops(&mut self) -> Result<(), InputError> {
        if self.loops.is_empty() {
            return Ok(());
        }
        mem::swap(&mut self.assembler, &mut self.afterwards);
        let closed = self.project_loops();
        mem::swap(&mut self.assembler, &mut self.afterwards);
        closed
    }

    /// Rounds of the projection until the loops are closed.
    fn project_loops(&mut self) -> Result<(), InputError> {
        let Self { assembler, scratch, .. } = self;
        assembler.start(&scratch.mass, &scratch.zeros, &scratch.zeros, 1.0)?;
        for _ in 0..PROJECTIONS {
            let Self { work, world, state, loops, scratch, .. } = self;
            work.update_positions(&world.model, &state.q);
            loops.update(&world.model, work, &state.q);
            if (0..loops.len()).all(|i| loops.value(i).abs() <= OPEN) {
                break;
            }
            work.update_velocities(&world.model, &state.v);
            work.link_velocities(&world.model, &state.v, &mut scratch.motion);
            self.find_contacts();
            if self.project()? != Moved::AllTheWay {
                break;
            }
        }
        Ok(())
    }
}

/// True if a joint is beyond its limit by more than rounding.
fn beyond_limits(model: &Model, q: &[f64]) -> bool {
    model.links().iter().any(|link| {
        let [lo, hi] = link.spec.properties.limits;
        let limited = matches!(link.spec.kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
        limited && (q[link.q.start] < lo - BEYOND || q[link.q.start] > hi + BEYOND)
    })
}

/// The largest overlap, opening or excess that a projection is to remove (m or rad).
fn asked_for(problem: &ContactProblem) -> f64 {
    let largest = |x: &[f64]| x.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    largest(&problem.contacts().bounce)
        .max(largest(&problem.limits().bounce))
        .max(largest(&problem.bilaterals().target))
}

/// The part of a projection's motion that is still a correction: near a singular pose the linear equations ask for motions far beyond what they hold for.
fn reasonable_part(motion: &[LinkMotion], asked: f64) -> f64 {
    let far = motion.iter().map(|m| length(m.linear)).fold(0.0, f64::max);
    let turn = motion.iter().map(|m| length(m.angular)).fold(0.0, f64::max);
    let share = |most: f64, x: f64| if x > most { most / x } else { 1.0 };
    share(LEVERAGE * asked, far).min(share(LARGEST_TURN, turn))
}

/// The problem of a projection in which contacts and limits may give way a little: each has a body of its own that moves along it, and heavy. Of very many rows it has the deepest.
fn with_give(problem: &ContactProblem) -> Result<ContactProblem, InputError> {
    let (contacts, limits, blocks) = (problem.contacts(), problem.limits(), problem.layout().blocks());
    let mut masses: Vec<Matrix> = (0..blocks).map(|b| problem.mass().block(b).clone()).collect();
    let deepest = deepest_rows(problem);
    let row_of = |k: usize| {
        if k < contacts.len() { contacts.normal.row(k) } else { limits.rows.row(k - contacts.len()) }
    };
    for &k in &deepest {
        let mut w = 0.0;
        for (b, values) in row_of(k) {
            let mut white = values.to_vec();
            problem.mass().solve_factor(b, &mut white);
            w += white.iter().map(|x| x * x).sum::<f64>();
        }
        masses.push(Matrix::from_fn(1, 1, |_, _| if w > 0.0 { GIVE / w } else { 1.0 }));
    }
    let m = problem.m() + deepest.len();
    let mut soft = ContactProblem::new(Mass::new(masses)?, vec![0.0; m], vec![0.0; m], 1.0)?;
    for (place, &k) in deepest.iter().enumerate() {
        let mut row: Vec<(usize, &[f64])> = row_of(k).collect();
        row.push((blocks + place, &[1.0]));
        if let Some(i) = k.checked_sub(contacts.len()) {
            soft.add_limit(&row, limits.gap[i], 0.0, limits.bounce[i])?;
        } else {
            let (gap, size, bounce) = (contacts.gap[k], contacts.size[k], contacts.bounce[k]);
            soft.add_contact(Contact { gap, size, bounce, ..Contact::new(&row, &[], &[]) })?;
        }
    }
    let bilaterals = problem.bilaterals();
    for i in 0..bilaterals.rows.len() {
        let row: Vec<(usize, &[f64])> = bilaterals.rows.row(i).collect();
        soft.add_bilateral(&row, 0.0, bilaterals.target[i])?;
    }
    Ok(soft)
}

/// The deepest contacts, then limits (numbered after the contacts), at most [`MOST_ROWS`] of them, in their order.
fn deepest_rows(problem: &ContactProblem) -> Vec<usize> {
    let (gaps, limits) = (&problem.contacts().gap, &problem.limits().gap);
    let gap = |k: usize| gaps.get(k).copied().unwrap_or_else(|| limits[k - gaps.len()]);
    let mut rows: Vec<usize> = (0..gaps.len() + limits.len()).collect();
    rows.sort_by(|&a, &b| gap(a).total_cmp(&gap(b)));
    rows.truncate(MOST_ROWS);
    rows.sort_unstable();
    rows
}
