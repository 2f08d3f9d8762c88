//! Projection of positions: overlap, loops that opened and joints beyond their limits are put right
//! by moving, never by forces.
//!
//! What is to be put right, and what is so near that moving could close it, is split into islands;
//! those in which all is well are left alone. Small ones, and those with loops, are solved exactly:
//! by the rows that act, where a few rounds find them, else as a contact problem without friction.
//! Large ones are solved as far as rounds need it.

mod active_rows;
mod islands;
mod least_motion;
mod newton;
mod sweeps;

use std::mem;

use stiction_body::math::length;
use stiction_body::{LinkMotion, Margin};
use stiction_contact::{Contact, ContactModel, ContactProblem, Mass};
use stiction_lcp::{InputError, Matrix};

use crate::simulation::Simulation;
use crate::time_stepping::{HIT, smaller};
use crate::world::World;
use active_rows::{ActiveRows, Bound};
use islands::{Islands, Source, tendon_limits};
use least_motion::LeastMotion;

/// Overlap above this part of a geom's size, or of a joint beyond its limit above this (m or rad),
/// is removed.
const OVERLAP: f64 = 1e-12;

/// Once bodies were moved, they are moved again where more than this part of a geom's size is left
/// (of a joint, m or rad), or more than the second (m).
const LEFT: f64 = 1e-8;
const MOST_LEFT: f64 = 1e-9;

/// Overlap that may be left between geoms, the smaller of which has this size (m).
pub(crate) fn overlap_left(size: f64) -> f64 {
    (LEFT * size).min(MOST_LEFT)
}

/// What the solve of a large island may leave of that: the curvature of the motion is to have room.
const SOLVE_LEAVES: f64 = 0.2;

/// Nor need it find more than the next round can use: the motion's curvature leaves about
/// depth²/size, and it this part of that.
const CURVATURE: f64 = 0.1;

/// A loop open by more than this is closed (m or rad).
pub(crate) const OPEN: f64 = 1e-13;

/// Most rounds of the projection: it is a Newton iteration, and where overlap is shallow two are
/// plenty.
pub(crate) const PROJECTIONS: usize = 12;

/// A round that leaves more than this part of the worst overlap has stalled; the second such round
/// is the last. One may be: moving bodies can bring other features of them together.
const PROGRESS: f64 = 0.5;
const MOST_STALLED: usize = 2;

/// Where not all of an island can be put right, it is not moved if that would leave more than this part of its worst overlap.
const WORTH_MOVING: f64 = 0.9;

/// Joints that are beyond their limits by more than this (m or rad) are put at them before anything else is looked at: no step
/// leads there, only a start or a state that was set.
const FAR_BEYOND: f64 = 1e-2;

/// Gaps up to this many times the deepest overlap take part in a projection: it could close them.
const NEAR: f64 = 2.0;

/// Islands of up to so many velocities are solved exactly, by a dense method.
const SMALL: usize = 36;

/// Where not all overlap can be removed, what is left counts this many times what is moved, in
/// units of energy.
const GIVE: f64 = 1e6;

/// A projection that moves something by more than this many times what it is to remove is no
/// correction.
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

/// Which overlap is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enough {
    /// Rounding.
    Nothing,
    /// What may be left after a projection.
    Little,
}

impl Enough {
    const ALL: [Self; 2] = [Self::Nothing, Self::Little];

    /// Of geoms of which the smaller has this size (m).
    fn of_geoms(self, size: f64) -> f64 {
        match self {
            Self::Nothing => OVERLAP * size,
            Self::Little => overlap_left(size),
        }
    }

    /// Of joints beyond their limits (m or rad).
    fn of_joints(self) -> f64 {
        match self {
            Self::Nothing => OVERLAP,
            Self::Little => MOST_LEFT,
        }
    }
}

/// The overlap among the contacts found.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// The deepest (m).
    depth: f64,
    /// The worst overlap or excess of a joint beside what is [`Enough`], for both.
    worst: [f64; 2],
}

/// Storage of projections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Projection {
    islands: Islands,
    least: LeastMotion,
    active: ActiveRows,
    /// The motion found, nv.
    motion: Vec<f64>,
}

impl Projection {
    /// Takes the motion of islands away of which not enough would come; false if none is left.
    fn keep_useful(&mut self, world: &World, problem: &ContactProblem) -> bool {
        let Self { islands, motion, .. } = self;
        let (mut contact, mut limit) = (0, 0);
        let (contacts, limits) = (problem.contacts(), problem.limits());
        // Of each island, by its tree: what is asked, and what would be left.
        let mut depths = vec![[0.0_f64; 2]; world.model.trees().len()];
        for row in islands.left() {
            let along = match row.source {
                Source::Contact(_) => {
                    contact += 1;
                    contacts.normal.dot(contact - 1, motion)
                }
                Source::Limit(_) | Source::Tendon { .. } => {
                    limit += 1;
                    limits.rows.dot(limit - 1, motion)
                }
                Source::Loop(_) => continue,
            };
            let [asked, left] = &mut depths[islands.island(row.tree)];
            *asked = asked.max(-row.gap);
            *left = left.max(-row.gap - along);
        }
        let mut any = false;
        for (tree, range) in world.model.trees().iter().map(|tree| tree.v.clone()).enumerate() {
            let island = islands.island(tree);
            let [asked, left] = depths[island];
            if asked > 0.0 && left > WORTH_MOVING * asked && !islands.is_looped(island) {
                motion[range].fill(0.0);
            } else {
                any |= motion[range].iter().any(|x| *x != 0.0);
            }
        }
        any
    }
}

impl Simulation {
    /// Takes bodies that overlap apart, however deep, by the least motion; returns the deepest
    /// overlap that is left (m).
    ///
    /// # Errors
    /// If the inertia is not positive definite at the present state.
    pub fn take_apart(&mut self) -> Result<f64, InputError> {
        /// Rounds: each removes the overlap as seen from where the last one led.
        const ROUNDS: usize = 100;
        self.update_dynamics();
        self.commands.reset(&self.world);
        self.drives.springs.clear();
        self.drives.ties.clear();
        self.drives.motors.clear();
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

    /// Finds the contacts, and takes bodies that overlap apart. Returns the deepest overlap before
    /// and after.
    pub(crate) fn separate(&mut self) -> Result<[f64; 2], InputError> {
        self.put_joints_at_their_limits();
        let mut found = self.find_contacts(false);
        let (depth, mut stalled) = (found.depth, 0);
        for round in 0..PROJECTIONS {
            let enough = if round == 0 { Enough::Nothing } else { Enough::Little };
            let worst = found.worst[enough as usize];
            if worst <= 1.0 {
                break;
            }
            let clock = self.clock();
            let moved = self.project(enough)?;
            self.phases.projection += clock.map_or_else(Default::default, |c| c.elapsed());
            if moved == Moved::Not {
                break;
            }
            found = self.find_contacts(true);
            stalled += usize::from(found.worst[enough as usize] > PROGRESS * worst);
            if stalled == MOST_STALLED {
                break;
            }
        }
        Ok([depth, found.depth])
    }

    /// The present configuration with joints that are far beyond their limits at them, each by itself; `None` if none is. Where loops are
    /// closed other joints would have to follow: these are left to the projection.
    pub(crate) fn within_limits(&self) -> Option<Vec<f64>> {
        let Self { world, state, loops, .. } = self;
        if !loops.is_empty() || world.model.beyond_limits(&state.q) <= FAR_BEYOND {
            return None;
        }
        let mut q = state.q.clone();
        for link in world.model.joints() {
            if link.beyond_limits(&q) > FAR_BEYOND {
                link.put_within_limits(&mut q);
            }
        }
        Some(q)
    }

    /// Puts joints that are far beyond their limits at them.
    fn put_joints_at_their_limits(&mut self) {
        if let Some(q) = self.within_limits() {
            self.put_joints_at(q);
        }
    }

    /// Moves to another configuration, at the same velocities.
    fn put_joints_at(&mut self, q: Vec<f64>) {
        let Self { work, world, state, scratch, drives, .. } = self;
        let energy = work.energy(&world.model, &state.v);
        state.q = q;
        work.update_positions(&world.model, &state.q);
        drives.measure_tendons(world.driven(), work, &state.q);
        work.update_velocities(&world.model, &state.v);
        let moved = work.energy(&world.model, &state.v);
        scratch.projected += moved.0 - energy.0 + (moved.1 - energy.1);
    }

    /// Finds the contacts of the step, `again` after a projection.
    fn find_contacts(&mut self, again: bool) -> Found {
        let clock = self.clock();
        let Self { work, world, state, scratch, collision, settings, sizes, drives, .. } = self;
        let (model, motion, dt) = (&world.model, &scratch.motion, settings.dt);
        let points = if again {
            collision.find_again(model, work, motion, dt)
        } else {
            collision.find(model, work, motion, dt, Margin::OfHits(HIT))
        };
        let mut beyond = world.model.beyond_limits(&state.q);
        tendon_limits(world, &drives.tendons, |_, _, gap| beyond = beyond.max(-gap));
        let mut found = Found { depth: 0.0, worst: Enough::ALL.map(|enough| beyond / enough.of_joints()) };
        for point in points.iter().filter(|p| p.gap < 0.0) {
            found.depth = found.depth.max(-point.gap);
            let size = smaller(sizes, point);
            for enough in Enough::ALL {
                let worst = &mut found.worst[enough as usize];
                *worst = worst.max(-point.gap / enough.of_geoms(size));
            }
        }
        self.phases.collision += clock.map_or_else(Default::default, |c| c.elapsed());
        found
    }

    /// Finds the contacts that take part where so much is to be put right, or more if something overlaps.
    fn find_contacts_near(&mut self, asked: f64) {
        let clock = self.clock();
        let Self { work, world, scratch, collision, .. } = self;
        let mut deepest_within = |margin: f64| {
            let contacts = collision.find(&world.model, work, &scratch.motion, 0.0, margin);
            contacts.iter().map(|point| -point.gap).fold(0.0, f64::max)
        };
        let deepest = deepest_within(NEAR * asked);
        if deepest > asked {
            deepest_within(NEAR * deepest);
        }
        self.phases.collision += clock.map_or_else(Default::default, |c| c.elapsed());
    }

    /// One round of the projection: min ‖Δq‖ in the metric of the step's inertia, under N Δq ≥ −gap
    /// and J Δq = −φ; where no motion satisfies that, the one that violates it least.
    pub(crate) fn project(&mut self, enough: Enough) -> Result<Moved, InputError> {
        let Self { world, state, collision, sizes, loops, projection, drives, .. } = self;
        projection.islands.split(world, collision.contacts(), sizes, loops, (&state.q, &drives.tendons), enough);
        let asked = projection.islands.asked();
        projection.motion.clear();
        projection.motion.resize(world.model.nv(), 0.0);
        let active = self.project_active();
        let exactly = self.project_exactly()?;
        let large = self.project_large();
        if !active && exactly == Moved::Not && large == Moved::Not {
            return Ok(Moved::Not);
        }
        let Self { work, world, state, scratch, loops, projection, drives, .. } = self;
        let energy = work.energy(&world.model, &state.v);
        work.link_velocities(&world.model, &projection.motion, &mut scratch.moved);
        let part = reasonable_part(&scratch.moved, asked);
        world.model.integrate(&mut state.q, &projection.motion, part);
        work.update_positions(&world.model, &state.q);
        work.update_velocities(&world.model, &state.v);
        loops.update(&world.model, work, &state.q);
        drives.measure_tendons(world.driven(), work, &state.q);
        let moved_energy = work.energy(&world.model, &state.v);
        scratch.projected += moved_energy.0 - energy.0 + (moved_energy.1 - energy.1);
        let all = part == 1.0 && exactly != Moved::Partly && large != Moved::Partly;
        Ok(if all { Moved::AllTheWay } else { Moved::Partly })
    }

    /// The islands that are small or have loops, where it takes little to find which rows act: their part of the motion. True if there are any.
    fn project_active(&mut self) -> bool {
        let Self { work, world, collision, assembler, sizes, loops, projection, drives, .. } = self;
        let Projection { islands, active, motion, .. } = projection;
        let (model, points, mut any) = (&world.model, collision.contacts(), false);
        for number in 0..islands.count_exact() {
            active.clear(model.trees().len());
            for row in islands.rows_of_exact(number) {
                let bound = |slack: f64| Bound { value: -row.gap, slack, acts: row.wrong, always: false };
                match row.source {
                    Source::Contact(k) => {
                        let bound = bound(Enough::Nothing.of_geoms(smaller(sizes, &points[k])));
                        let (mass, (normal, count)) = assembler.normal_row(world, work, &points[k]);
                        active.add(mass, (1.0, &normal[..count]), bound);
                    }
                    Source::Limit(i) => {
                        let limit = islands.limit(i);
                        let (mass, along) = assembler.joint_row(model, limit.velocity, limit.row());
                        active.add(mass, (1.0, &[along]), bound(Enough::Nothing.of_joints()));
                    }
                    Source::Tendon { tendon, away } => {
                        let (mass, bound) = (assembler.problem.mass(), bound(Enough::Nothing.of_joints()));
                        drives.tendons[tendon].1.with_blocks(|blocks| active.add(mass, (away, blocks), bound));
                    }
                    Source::Loop(i) => {
                        let value = loop_target(loops.value(i));
                        let bound = Bound { value, slack: OPEN, acts: true, always: true };
                        active.add(assembler.problem.mass(), (1.0, &loops.blocks(i)), bound);
                    }
                }
            }
            if active.solve(assembler.problem.mass()) {
                active.write(model, motion);
                islands.note_done(number);
                any = true;
            }
        }
        any
    }

    /// Those that are left, exactly: their part of the motion.
    fn project_exactly(&mut self) -> Result<Moved, InputError> {
        let Self { work, world, scratch, collision, assembler, projector, sizes, loops, projection, drives, .. } = self;
        let points = collision.contacts();
        assembler.restart(&scratch.zeros, &scratch.zeros, 1.0)?;
        let mut any = false;
        for row in projection.islands.left() {
            any = true;
            let bounce = (-row.gap).max(0.0);
            match row.source {
                Source::Contact(k) => {
                    assembler.add_normal(world, work, &points[k], smaller(sizes, &points[k]), bounce)?;
                }
                Source::Limit(i) => {
                    assembler.add_limit(&world.model, projection.islands.limit(i), (row.gap, 0.0), bounce)?;
                }
                Source::Tendon { tendon, away } => {
                    let (of, along) = (world.model.nv() + tendon, &drives.tendons[tendon].1);
                    assembler.add_row_limit(of, along, away, row.gap, bounce)?;
                }
                Source::Loop(_) => {}
            }
        }
        if !any {
            return Ok(Moved::Not);
        }
        let islands = &projection.islands;
        assembler.add_loops_of(loops, |tree| islands.is_left(tree), loop_target)?;
        let mut outcome = projector.solve(&assembler.problem)?;
        let mut moved = Moved::AllTheWay;
        if outcome.solved().is_none() {
            outcome = projector.solve(&with_slack(&assembler.problem)?)?;
            moved = Moved::Partly;
        }
        let Some(solution) = outcome.solved() else { return Ok(Moved::Not) };
        // Zero where the motion is found already.
        projection.motion.iter_mut().zip(&solution.motion).for_each(|(own, found)| *own += found);
        projector.recycle(outcome);
        if moved == Moved::Partly && !projection.keep_useful(world, &assembler.problem) {
            return Ok(Moved::Not);
        }
        Ok(moved)
    }

    /// The large islands, one after the other: their part of the motion.
    fn project_large(&mut self) -> Moved {
        let Self { work, world, collision, assembler, sizes, projection, .. } = self;
        let Projection { islands, least, motion, .. } = projection;
        let (mut moved, points, trees) = (Moved::Not, collision.contacts(), world.model.trees());
        for rows in islands.large() {
            least.clear(trees.len());
            let deepest = rows.clone().map(|row| -row.gap).fold(0.0, f64::max);
            for row in rows {
                match row.source {
                    Source::Contact(k) => {
                        let size = smaller(sizes, &points[k]);
                        let bend = CURVATURE * deepest * deepest / size;
                        let tolerance = bend.max(SOLVE_LEAVES * Enough::Little.of_geoms(size));
                        let (mass, (normal, count)) = assembler.normal_row(world, work, &points[k]);
                        least.add(mass, &normal[..count], -row.gap, tolerance);
                    }
                    Source::Limit(i) => {
                        let limit = islands.limit(i);
                        let (mass, along) = assembler.joint_row(&world.model, limit.velocity, limit.row());
                        let bend = CURVATURE * deepest * deepest;
                        let tolerance = bend.max(SOLVE_LEAVES * Enough::Little.of_joints());
                        least.add(mass, &[along], -row.gap, tolerance);
                    }
                    // Their islands are solved exactly.
                    Source::Loop(_) | Source::Tendon { .. } => {}
                }
            }
            let all = least.solve(assembler.problem.mass());
            moved = if all && moved != Moved::Partly { Moved::AllTheWay } else { Moved::Partly };
            for (tree, x) in least.motion() {
                motion[trees[tree].v.clone()].copy_from_slice(x);
            }
        }
        moved
    }

    /// Closes the loops that the step opened by the curvature of its motion, and puts ball joints that
    /// it led beyond their limits back, with the contacts of the new configuration in place. Positions must be up to date, and are then.
    pub(crate) fn close_loops(&mut self) -> Result<(), InputError> {
        if self.loops.is_empty() && self.beyond_curved_limits() <= Enough::Nothing.of_joints() {
            return Ok(());
        }
        mem::swap(&mut self.assembler, &mut self.second_assembler);
        let closed = self.project_loops();
        mem::swap(&mut self.assembler, &mut self.second_assembler);
        closed
    }

    /// How far the farthest joint is beyond a limit that motion along it leaves (rad); 0 if none is.
    fn beyond_curved_limits(&self) -> f64 {
        let joints = self.world.model.joints().filter(|link| link.has_angle_limit());
        joints.map(|link| link.beyond_limits(&self.state.q)).fold(0.0, f64::max)
    }

    /// Rounds of the projection until the loops are closed and ball joints within their limits.
    fn project_loops(&mut self) -> Result<(), InputError> {
        let Self { work, world, state, loops, drives, .. } = self;
        loops.update(&world.model, work, &state.q);
        drives.measure_tendons(world.driven(), work, &state.q);
        for round in 0..PROJECTIONS {
            let enough = if round == 0 { Enough::Nothing } else { Enough::Little };
            let beyond = self.beyond_curved_limits();
            let opened = (0..self.loops.len()).map(|i| self.loops.value(i).abs()).fold(0.0, f64::max);
            let within = beyond <= enough.of_joints();
            if within && opened <= OPEN {
                break;
            }
            if round == 0 {
                // In the metric of the step.
                self.assembler.problem.copy_mass(&self.second_assembler.problem)?;
                self.work.update_velocities(&self.world.model, &self.state.v);
                self.scratch.motion.fill(LinkMotion::ZERO);
            }
            self.find_contacts_near(opened.max(beyond));
            let moved = self.project(Enough::Nothing)?;
            if moved == Moved::Not || within && moved == Moved::Partly {
                break;
            }
        }
        self.put_balls_at_their_limits();
        Ok(())
    }

    /// Puts ball joints that the rounds left beyond their limits at them, each by itself.
    fn put_balls_at_their_limits(&mut self) {
        if !self.loops.is_empty() || self.beyond_curved_limits() <= Enough::Little.of_joints() {
            return;
        }
        let mut q = self.state.q.clone();
        for link in self.world.model.joints().filter(|link| link.has_angle_limit()) {
            if link.beyond_limits(&q) > Enough::Little.of_joints() {
                link.put_within_limits(&mut q);
            }
        }
        self.put_joints_at(q);
    }
}

/// The motion that a loop asks for that is open by this.
fn loop_target(value: f64) -> f64 {
    if value.abs() > OPEN { -value } else { 0.0 }
}

/// The part of a projection's motion that is still a correction: near a singular pose the linear
/// equations ask for motions far beyond what they hold for.
fn reasonable_part(motion: &[LinkMotion], asked: f64) -> f64 {
    let far = motion.iter().map(|m| length(m.linear)).fold(0.0, f64::max);
    let turn = motion.iter().map(|m| length(m.angular)).fold(0.0, f64::max);
    let share = |most: f64, x: f64| if x > most { most / x } else { 1.0 };
    share(LEVERAGE * asked, far).min(share(LARGEST_TURN, turn))
}

/// The problem of a projection in which contacts and limits may give way a little: each has a body
/// of its own that moves along it, and heavy. Of very many rows it has the deepest.
fn with_slack(problem: &ContactProblem) -> Result<ContactProblem, InputError> {
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

/// The deepest contacts, then limits (numbered after the contacts), at most [`MOST_ROWS`] of them,
/// in their order.
fn deepest_rows(problem: &ContactProblem) -> Vec<usize> {
    let (gaps, limits) = (&problem.contacts().gap, &problem.limits().gap);
    let gap = |k: usize| gaps.get(k).copied().unwrap_or_else(|| limits[k - gaps.len()]);
    let mut rows: Vec<usize> = (0..gaps.len() + limits.len()).collect();
    rows.sort_by(|&a, &b| gap(a).total_cmp(&gap(b)));
    rows.truncate(MOST_ROWS);
    rows.sort_unstable();
    rows
}
