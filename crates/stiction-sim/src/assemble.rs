//! The one bridge from bodies and contact points to a contact problem: the only file that knows both sides.
//!
//! Block b of the problem is tree b of the model. A contact's rows are the relative velocity of the second geom's body against the first's, along
//! the normal and two
//! tangents, at the contact point.

use stiction_body::math::Vec3;
use stiction_body::{ContactPoint, JointLimit, LoopRows, Model, Workspace};
use stiction_contact::{CONTACT_ROWS, Contact, ContactBatch, ContactProblem, Mass};
use stiction_lcp::{InputError, Matrix, Threads};

use crate::actuation::TreeRow;
use crate::friction_ellipse::friction_axes;
use crate::material::Material;
use crate::world::World;

/// What tells one contact from all others, from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ContactKey {
    /// The geoms, ascending.
    pub geoms: [u32; 2],
    /// The feature of the two geoms.
    pub feature: u64,
}

impl ContactKey {
    /// The key of a contact point.
    pub fn of(point: &ContactPoint) -> Self {
        Self { geoms: [point.geoms[0] as u32, point.geoms[1] as u32], feature: point.feature }
    }
}

/// What tells the limit of a velocity, or of a tendon (which are numbered after the velocities), from all others.
/// That of the angle of a ball joint is the upper one of its first velocity.
pub(crate) fn limit_key(of: usize, away: f64) -> u32 {
    2 * of as u32 + u32::from(away < 0.0)
}

/// The key of a joint's limit.
pub(crate) fn key_of(limit: &JointLimit) -> u32 {
    limit_key(limit.velocity, limit.away)
}

/// A contact as it went into the problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactFrame {
    /// Who it is.
    pub key: ContactKey,
    /// Where it is (m).
    pub point: Vec3,
    /// From `point` to the second geom's point that is to touch (m); the first geom's is at `point − lead`.
    pub lead: Vec3,
    /// Unit normal, from the first geom to the second.
    pub normal: Vec3,
    /// The two tangents; where friction depends on the direction of slip, the axes of its ellipse.
    pub tangents: [Vec3; 2],
    /// The part of the Coulomb coefficient `material.mu`, which counts along the first tangent, that counts along the second: at
    /// most 1. The second tangent's row in the problem is that of the unit tangent times this, and its force too must be multiplied by
    /// it to be the one along the unit tangent.
    pub friction_ratio: f64,
    /// Signed distance (m).
    pub gap: f64,
    /// Size of the smaller geom (m).
    pub size: f64,
    /// Coefficients of the pair; its `mu` is the one that counts in this step.
    pub material: Material,
}

/// Builds contact problems in place, step after step.
#[derive(Debug, Clone)]
pub(crate) struct Assembler {
    /// The problem built last.
    pub problem: ContactProblem,
    /// Its contacts.
    pub frames: Vec<ContactFrame>,
    /// Its limits, by [`limit_key`].
    pub limits: Vec<u32>,
    /// How many of its bilateral rows, the first ones, are of loops and of joints that follow others.
    pub(crate) loop_rows: usize,
    /// The bounded rows of joints that move as told.
    pub(crate) driven_rows: Vec<usize>,
    rows: ContactRows,
    /// A row along a length, with its sign.
    along: TreeRow,
    /// Of each thread that makes contacts ready, and what they make.
    thread_rows: Vec<ContactRows>,
    batches: Vec<Batch>,
}

/// Rows of one contact on each of its two trees: normal, tangents, spin, rolling about the tangents.
#[derive(Debug, Clone, Default)]
struct ContactRows([[Vec<f64>; CONTACT_ROWS]; 2]);

/// Contacts that one thread makes ready. Keeps its storage.
#[derive(Debug, Clone)]
struct Batch {
    contacts: ContactBatch,
    frames: Vec<ContactFrame>,
    result: Result<(), InputError>,
}

/// Contacts that are worth a thread: to compute their rows takes several times as long as to wake it.
const GRAIN: usize = 100;

/// Batches per thread, so that none waits long for another.
const BATCHES: usize = 8;

/// A thread that makes contacts ready.
enum Worker<'a> {
    /// The caller's own, whose contacts are the first: it adds them to the problem at once. Counts its batches.
    Caller {
        rows: &'a mut ContactRows,
        problem: &'a mut ContactProblem,
        frames: &'a mut Vec<ContactFrame>,
        batches: usize,
        result: Result<(), InputError>,
    },
    Helper(&'a mut ContactRows),
}

impl Assembler {
    /// For the bodies of a model.
    pub(crate) fn new(model: &Model) -> Self {
        let identity = model.trees().iter().map(|tree| Matrix::identity(tree.v.len())).collect();
        let (zero, one) = (vec![0.0; model.nv()], 1.0);
        let problem = Mass::new(identity).and_then(|mass| ContactProblem::new(mass, zero.clone(), zero, one));
        Self::on(problem.expect("an identity is positive definite, and zero is finite"))
    }

    /// Goes on with a problem whose first blocks are the trees of a model.
    pub(crate) fn on(problem: ContactProblem) -> Self {
        Self {
            problem,
            frames: vec![],
            limits: vec![],
            loop_rows: 0,
            driven_rows: vec![],
            rows: ContactRows::default(),
            along: TreeRow::default(),
            thread_rows: vec![],
            batches: vec![],
        }
    }

    /// Starts a problem: inertia, velocities, forces and step.
    ///
    /// # Errors
    /// If the inertia is not positive definite, or a number is not finite.
    pub(crate) fn start(&mut self, mass: &[Matrix], v: &[f64], force: &[f64], dt: f64) -> Result<(), InputError> {
        self.problem.set_mass(mass)?;
        self.restart(v, force, dt)
    }

    /// Starts a problem on the inertia of the last one.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn restart(&mut self, v: &[f64], force: &[f64], dt: f64) -> Result<(), InputError> {
        self.problem.reset(v, force, dt)?;
        self.frames.clear();
        self.limits.clear();
        self.driven_rows.clear();
        self.loop_rows = 0;
        Ok(())
    }

    /// Adds a contact; `edit` may change it before it is added.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_contact(
        &mut self,
        world: &World,
        work: &Workspace,
        at: &ContactPoint,
        size: f64,
        edit: impl FnOnce(&ContactFrame, &mut Contact<'_>),
    ) -> Result<(), InputError> {
        let Self { problem, frames, rows, .. } = self;
        rows.with_contact(world, work, at, size, edit, frames, |contact| problem.add_contact(contact))
    }

    /// Adds the contacts at all `points`, in their order, on several threads if that is worth it; `gaps` are those that the problem has for
    /// them, and `edit` may change each before it is added.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_contacts(
        &mut self,
        world: &World,
        work: &Workspace,
        points: &[ContactPoint],
        gaps: &[f64],
        size: impl Fn(&ContactPoint) -> f64 + Sync,
        threads: Threads,
        edit: impl Fn(&ContactFrame, &mut Contact<'_>) + Sync,
    ) -> Result<(), InputError> {
        let count = threads.worth(points.len() / 2, GRAIN);
        let Self { problem, frames, rows, thread_rows, batches, .. } = self;
        if count == 1 {
            let add = |contact: Contact<'_>| problem.add_contact(contact);
            return rows.with_contacts((world, work), (points, gaps), &size, &edit, frames, add);
        }
        let (first, length) = (frames.len(), points.len().div_ceil(count * BATCHES));
        let chunks = points.chunks(length).zip(gaps.chunks(length));
        let all = chunks.len();
        batches.resize_with(all.max(batches.len()), || Batch::new(problem));
        thread_rows.resize_with(count - 1, ContactRows::default);
        let caller = Worker::Caller { rows, problem, frames, batches: 0, result: Ok(()) };
        let mut workers: Vec<_> = Some(caller).into_iter().chain(thread_rows.iter_mut().map(Worker::Helper)).collect();
        threads.share(&mut workers, chunks.zip(&mut *batches).enumerate(), |worker, (k, (at, batch))| match worker {
            Worker::Caller { rows, problem, frames, batches, result } => {
                *batches += 1;
                if result.is_ok() {
                    let add = |contact: Contact<'_>| problem.add_contact(contact);
                    *result = rows.with_contacts((world, work), at, &size, &edit, frames, add);
                }
            }
            Worker::Helper(rows) => {
                batch.restart(first + k * length);
                let Batch { contacts, frames, result } = batch;
                let add = |contact: Contact<'_>| contacts.add_contact(contact);
                *result = rows.with_contacts((world, work), at, &size, &edit, frames, add);
            }
        });
        let Some(Worker::Caller { problem, frames, batches: own, result, .. }) = workers.into_iter().next() else {
            return Ok(());
        };
        result?;
        for batch in &mut batches[own..all] {
            std::mem::replace(&mut batch.result, Ok(()))?;
            problem.add_batch(&batch.contacts);
            frames.append(&mut batch.frames);
        }
        Ok(())
    }

    /// Adds a contact that has its normal alone, and is to part by at least `bounce`.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_normal(
        &mut self,
        world: &World,
        work: &Workspace,
        at: &ContactPoint,
        size: f64,
        bounce: f64,
    ) -> Result<(), InputError> {
        let trees = self.fill_normal(world, work, at);
        let (normal, count) = self.rows.blocks(trees, 0);
        self.problem.add_contact(Contact { gap: at.gap, size, bounce, ..Contact::new(&normal[..count], &[], &[]) })
    }

    /// The row of a contact's normal by tree, of which the first so many mean something, beside the
    /// inertia.
    pub(crate) fn normal_row(&mut self, world: &World, work: &Workspace, at: &ContactPoint) -> (&Mass, RowOfTrees<'_>) {
        let trees = self.fill_normal(world, work, at);
        (self.problem.mass(), self.rows.blocks(trees, 0))
    }

    /// The tree and row of a joint, with `numbers` for its velocities from `k` on, beside the
    /// inertia.
    pub(crate) fn joint_row(&mut self, model: &Model, k: usize, numbers: &[f64]) -> (&Mass, (usize, &[f64])) {
        let tree = model.tree_of(k);
        let range = model.trees()[tree].v.clone();
        let row = &mut self.rows.0[0][0];
        clear(row, range.len(), false);
        row[k - range.start..][..numbers.len()].copy_from_slice(numbers);
        (self.problem.mass(), (tree, row))
    }

    /// Fills the normals' rows of both sides of a contact; returns their trees as
    /// [`ContactRows::fill`] does.
    fn fill_normal(&mut self, world: &World, work: &Workspace, at: &ContactPoint) -> [Option<usize>; 2] {
        let mut trees = [None; 2];
        for side in 0..2 {
            let Some(link) = world.geoms[at.geoms[side]].link else { continue };
            let tree = world.model.links()[link].tree;
            let size = world.model.trees()[tree].v.len();
            if size > 0 {
                let shared = trees[0] == Some(tree);
                let row = &mut self.rows.0[if shared { 0 } else { side }][0];
                clear(row, size, shared);
                let sign = if side == 0 { -1.0 } else { 1.0 };
                work.add_point_row(&world.model, link, at.point, at.normal, sign, row);
                trees[side] = Some(tree);
            }
        }
        trees
    }

    /// Adds bilateral rows for a contact that is held: along the normal and the tangents for which a target is given (m/s, or m for a projection).
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn hold_contact(
        &mut self,
        world: &World,
        work: &Workspace,
        at: &ContactPoint,
        targets: [Option<f64>; 3],
    ) -> Result<(), InputError> {
        let frame = contact_frame(world, work, at, 0.0);
        let trees = [0, 1].map(|side| self.rows.fill(world, work, &frame, at.geoms[side], side));
        for (k, target) in targets.into_iter().enumerate() {
            let (row, count) = self.rows.blocks(trees, k);
            if let Some(target) = target.filter(|_| count > 0) {
                self.problem.add_bilateral(&row[..count], 0.0, target)?;
            }
        }
        Ok(())
    }

    /// Adds a row of one velocity: a bilateral one with a target.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_joint_target(&mut self, model: &Model, k: usize, target: f64) -> Result<(), InputError> {
        self.with_joint_row(model, k, &[1.0], |problem, row| problem.add_bilateral(row, 0.0, target))
    }

    /// Adds a motor that brings velocity `k` to `target` with an effort within `limits`.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_joint_motor(
        &mut self,
        model: &Model,
        k: usize,
        limits: [f64; 2],
        target: f64,
    ) -> Result<(), InputError> {
        self.driven_rows.push(self.problem.bounded().rows.len());
        self.add_joint_bounded(model, k, limits, target)
    }

    /// Adds a motor that brings velocity `k` to `target` with an effort within `limits`, or dry friction (target 0).
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_joint_bounded(
        &mut self,
        model: &Model,
        k: usize,
        limits: [f64; 2],
        target: f64,
    ) -> Result<(), InputError> {
        self.with_joint_row(model, k, &[1.0], |problem, row| {
            problem.add_bounded(row, limits[0], limits[1], 0.0, target)
        })
    }

    /// Adds a force within `limits` along a row, against its motion: dry friction.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_row_bounded(&mut self, row: &TreeRow, limits: [f64; 2]) -> Result<(), InputError> {
        match row.is_zero() {
            true => Ok(()),
            false => row.with_blocks(|blocks| self.problem.add_bounded(blocks, limits[0], limits[1], 0.0, 0.0)),
        }
    }

    /// Adds the limit at the distance `gap` along the row of a tendon, whose positive direction (of `sign`) is away from it, and from which it is to
    /// be moved by `bounce`; `of` is the tendon's number after those of the velocities.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_row_limit(
        &mut self,
        of: usize,
        row: &TreeRow,
        sign: f64,
        gap: f64,
        bounce: f64,
    ) -> Result<(), InputError> {
        if row.is_zero() {
            return Ok(());
        }
        let Self { problem, along, limits, .. } = self;
        limits.push(limit_key(of, sign));
        along.copy_from(row);
        along.scale(sign);
        along.with_blocks(|blocks| problem.add_limit(blocks, gap, 0.0, bounce))
    }

    /// Adds a motor whose effort, within `limits`, brings the velocity along a row to that of block `to`, which has one.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_servo(&mut self, row: &TreeRow, limits: [f64; 2], to: usize) -> Result<(), InputError> {
        let own = row.blocks().filter(|(_, values)| !values.is_empty());
        let blocks: Vec<(usize, &[f64])> = own.chain([(to, &[-1.0][..])]).collect();
        self.problem.add_bounded(&blocks, limits[0], limits[1], 0.0, 0.0)
    }

    /// Adds the limits of the joints that lie within their `reach` (m or rad).
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_limits(
        &mut self,
        model: &Model,
        q: &[f64],
        reach: impl Fn(&JointLimit) -> f64,
        mut row: impl FnMut(f64) -> (f64, f64),
    ) -> Result<(), InputError> {
        model.limits(q).filter(|limit| limit.gap <= reach(limit)).try_for_each(|limit| {
            let (gap, bounce) = row(limit.gap);
            self.add_limit(model, &limit, (gap, 0.0), bounce)
        })
    }

    /// Adds the limit of a joint with a gap (m or rad) and a rate of its velocities, from which it is
    /// to be moved by `bounce`.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_limit(
        &mut self,
        model: &Model,
        limit: &JointLimit,
        (gap, rate): (f64, f64),
        bounce: f64,
    ) -> Result<(), InputError> {
        self.limits.push(key_of(limit));
        self.with_joint_row(model, limit.velocity, limit.row(), |problem, row| {
            problem.add_limit(row, gap, rate, bounce)
        })
    }

    /// Adds a bilateral row for a limit that is held: it is to move away by `target` (m/s or rad/s, or
    /// m or rad for a projection).
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn hold_limit(&mut self, model: &Model, limit: &JointLimit, target: f64) -> Result<(), InputError> {
        self.with_joint_row(model, limit.velocity, limit.row(), |problem, row| problem.add_bilateral(row, 0.0, target))
    }

    /// Adds the rows of closed loops and of joints that follow others; `target` gives each the change wanted from its value. A row that no
    /// velocity has a
    /// part in says nothing, and is left out.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_loops(&mut self, loops: &LoopRows, target: impl Fn(f64) -> f64) -> Result<(), InputError> {
        self.add_loops_of(loops, |_| true, target)
    }

    /// Those of them whose first tree is one of these.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_loops_of(
        &mut self,
        loops: &LoopRows,
        is_one: impl Fn(usize) -> bool,
        target: impl Fn(f64) -> f64,
    ) -> Result<(), InputError> {
        for i in 0..loops.len() {
            // A row that no velocity moves holds or not, whatever is done.
            let blocks = loops.blocks(i);
            let is_one = blocks.first().is_some_and(|(tree, _)| is_one(*tree));
            if is_one && blocks.iter().any(|(_, row)| row.iter().any(|x| *x != 0.0)) {
                self.problem.add_bilateral(&blocks, loops.rate(i), target(loops.value(i)))?;
                self.loop_rows += 1;
            }
        }
        Ok(())
    }

    fn with_joint_row(
        &mut self,
        model: &Model,
        k: usize,
        numbers: &[f64],
        add: impl FnOnce(&mut ContactProblem, &[(usize, &[f64])]) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let (_, (tree, _)) = self.joint_row(model, k, numbers);
        add(&mut self.problem, &[(tree, &self.rows.0[0][0])])
    }
}

/// A row of a contact by tree, of which the first so many mean something.
type RowOfTrees<'a> = ([(usize, &'a [f64]); 2], usize);

impl ContactRows {
    /// Gives the contacts at all `points`, with `gaps` and sizes, to `add`, after `edit` may have changed them, and adds their frames to `frames`.
    fn with_contacts(
        &mut self,
        (world, work): (&World, &Workspace),
        (points, gaps): (&[ContactPoint], &[f64]),
        size: &impl Fn(&ContactPoint) -> f64,
        edit: &impl Fn(&ContactFrame, &mut Contact<'_>),
        frames: &mut Vec<ContactFrame>,
        mut add: impl FnMut(Contact<'_>) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        points.iter().zip(gaps).try_for_each(|(at, gap)| {
            let edit = |frame: &ContactFrame, contact: &mut Contact<'_>| {
                contact.gap = *gap;
                edit(frame, contact);
            };
            self.with_contact(world, work, at, size(at), edit, frames, &mut add)
        })
    }

    /// Gives the contact at a point to `add`, after `edit` may have changed it, and adds its frame to `frames`; on an error nothing.
    fn with_contact(
        &mut self,
        world: &World,
        work: &Workspace,
        at: &ContactPoint,
        size: f64,
        edit: impl FnOnce(&ContactFrame, &mut Contact<'_>),
        frames: &mut Vec<ContactFrame>,
        add: impl FnOnce(Contact<'_>) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let number = frames.len();
        frames.push(contact_frame(world, work, at, size));
        let frame = &frames[number];
        let (material, [s, t], ratio) = (frame.material, frame.tangents, frame.friction_ratio);
        let surface = surface_speed(world, work, at);
        let trees = [0, 1].map(|side| self.fill(world, work, frame, at.geoms[side], side));
        if ratio != 1.0 {
            self.0.iter_mut().for_each(|rows| rows[2].iter_mut().for_each(|x| *x *= ratio));
        }
        // Exact where friction is the same in all directions.
        let t = t * ratio;
        fn filled<'a>(row: &'a RowOfTrees<'_>) -> &'a [(usize, &'a [f64])] {
            &row.0[..row.1]
        }
        let (normal, first, second) = (self.blocks(trees, 0), self.blocks(trees, 1), self.blocks(trees, 2));
        let moment = |mu: f64, k: usize| if mu > 0.0 { self.blocks(trees, k) } else { ([(0, &[][..]); 2], 0) };
        let (spin, roll_s) = (moment(material.mu_spin, 3), moment(material.mu_roll, 4));
        let roll_t = moment(material.mu_roll, 5);
        let mut contact = Contact {
            spin: filled(&spin),
            roll_s: filled(&roll_s),
            roll_t: filled(&roll_t),
            gap: at.gap,
            size,
            mu: material.mu,
            mu_spin: material.mu_spin,
            mu_roll: material.mu_roll,
            mu_viscous: material.mu_viscous,
            rate: rates(world, work, at, s, t),
            surface: [surface.dot(s), surface.dot(t)],
            ..Contact::new(filled(&normal), filled(&first), filled(&second))
        };
        edit(frame, &mut contact);
        add(contact).inspect_err(|_| frames.truncate(number))
    }

    /// Fills the rows of one side; returns its tree, or `None` if that side cannot move. Two sides on one tree share the first side's rows.
    fn fill(
        &mut self,
        world: &World,
        work: &Workspace,
        frame: &ContactFrame,
        geom: usize,
        side: usize,
    ) -> Option<usize> {
        let link = world.geoms[geom].link?;
        let tree = world.model.links()[link].tree;
        let size = world.model.trees()[tree].v.len();
        if size == 0 {
            return None;
        }
        let other = if side == 1 { world.geoms[frame.key.geoms[0] as usize].link } else { None };
        let shared = other.is_some_and(|l| world.model.links()[l].tree == tree);
        let rows = &mut self.0[if shared { 0 } else { side }];
        let sign = if side == 0 { -1.0 } else { 1.0 };
        let point = frame.point + frame.lead * sign;
        let ContactFrame { material, normal, tangents: [s, t], .. } = frame;
        let [along, first, second, moments @ ..] = rows;
        for row in [&mut *along, &mut *first, &mut *second] {
            clear(row, size, shared);
        }
        work.add_point_rows(&world.model, link, point, [*normal, *s, *t], sign, [along, first, second]);
        let axes = [(material.mu_spin, *normal), (material.mu_roll, *s), (material.mu_roll, *t)];
        for ((_, axis), row) in axes.into_iter().zip(moments).filter(|((mu, _), _)| *mu > 0.0) {
            clear(row, size, shared);
            work.add_angular_row(&world.model, link, axis, sign, row);
        }
        Some(tree)
    }

    /// Row `k` of the contact filled in last.
    #[inline]
    fn blocks(&self, trees: [Option<usize>; 2], k: usize) -> RowOfTrees<'_> {
        let [first, second] = &self.0;
        let a = trees[0].map(|tree| (tree, first[k].as_slice()));
        let b = trees[1].filter(|_| trees[0] != trees[1]).map(|tree| (tree, second[k].as_slice()));
        match (a, b) {
            (Some(a), Some(b)) => ([a, b], 2),
            (Some(a), None) | (None, Some(a)) => ([a, a], 1),
            (None, None) => ([(0, &[][..]); 2], 0),
        }
    }
}

impl Batch {
    fn new(problem: &ContactProblem) -> Self {
        Self { contacts: ContactBatch::new(problem.layout()), frames: vec![], result: Ok(()) }
    }

    /// Empty, before contact number `first` of the problem.
    fn restart(&mut self, first: usize) {
        self.contacts.restart(first);
        self.frames.clear();
        self.result = Ok(());
    }
}

fn contact_frame(world: &World, work: &Workspace, at: &ContactPoint, size: f64) -> ContactFrame {
    let material = world.surfaces.between(at.geoms[0], at.geoms[1]);
    let mut axes = friction_axes(world, work, at, &material);
    if material.mu_viscous > 0.0 {
        // A model with drag has no Coulomb friction, and the other way round: drag is the same in all directions.
        axes.ratio = 1.0;
    }
    // Both coefficients are scaled alike where they depend on the direction.
    let part = if axes.mu == material.mu || material.mu == 0.0 { 1.0 } else { axes.mu / material.mu };
    let mu_static = material.mu_static.map(|mu| (part * mu).max(axes.mu));
    ContactFrame {
        key: ContactKey::of(at),
        point: at.point,
        lead: at.lead,
        normal: at.normal,
        tangents: axes.tangents,
        friction_ratio: axes.ratio,
        gap: at.gap,
        size,
        material: Material { mu: axes.mu, mu_static, ..material },
    }
}

fn clear(row: &mut Vec<f64>, size: usize, keep: bool) {
    if keep {
        return;
    }
    row.resize(size, 0.0);
    match <&mut [f64; 6]>::try_from(&mut row[..]) {
        // Those of a free body, in a few stores.
        Ok(row) => *row = [0.0; 6],
        Err(_) => row.fill(0.0),
    }
}

/// Velocity of the second geom's surface against the first's that is in no velocity of a body, in the world.
pub(crate) fn surface_speed(world: &World, work: &Workspace, at: &ContactPoint) -> Vec3 {
    let of = |geom: usize| {
        let u = world.surfaces.of[geom].surface_velocity;
        if u == Vec3::ZERO {
            return Vec3::ZERO;
        }
        let geom = &world.geoms[geom];
        geom.link.map_or(geom.pose.rotation, |l| work.pose[l].rotation * geom.pose.rotation) * u
    };
    of(at.geoms[1]) - of(at.geoms[0])
}

/// Velocity products of a contact's rows along the normal and the tangents, for the material points at the contact.
fn rates(world: &World, work: &Workspace, at: &ContactPoint, s: Vec3, t: Vec3) -> [f64; 3] {
    let bias = |geom: usize| world.geoms[geom].link.map_or(Vec3::ZERO, |l| work.point_bias(l, at.point));
    let relative = bias(at.geoms[1]) - bias(at.geoms[0]);
    [relative.dot(at.normal), relative.dot(s), relative.dot(t)]
}
