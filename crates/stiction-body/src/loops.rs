//! Rows of closed loops and of joints that follow others: what must stay zero, how it changes with the velocities, and how that changes while the velocities
//! stay.
//!
//! A loop keeps a frame A on one link and a frame B on another together. With positions `p`, rotations `R` and the quaternion `(w, u)` of `R_Aᵀ R_B`,
//! w ≥ 0:
//!
//! | kind | φ | rows |
//! |---|---|---|
//! | `Point` | `p_B − p_A` along the axes of A (m) | 3 |
//! | `Hinge` | the same, and the sines `x_A · (z_A × z_B)`, `y_A · (z_A × z_B)` of the angle between the axes (rad) | 5 |
//! | `Weld` | the same as `Point`, and `2 u` along the axes of A: the rotation vector up to third order (rad) | 6 |
//! | mimic | `q_link − multiplier · q_of − offset` (rad or m) | 1 |
//! | coupling | `Σᵢ pᵢ(qᵢ) − offset` | 1 |
//!
//! All are smooth where they are near zero. A hinge is also at zero with its axes opposite: the sines cannot tell.
//!
//! Rows that are redundant but for the rounding of a file are left out
//! ([`Model::leave_out_redundant_rows`]): a loop of parallel hinges has no row across its plane.
//! For that the rows are taken along directions fixed in A ([`crate::model::LoopAxes`]), where the
//! plane stands still.

use std::ops::{Deref, Range};

use crate::kinematics::{LinkMotion, Workspace};
use crate::math::{Mat3, Pose, Vec3};
use crate::model::{Coupling, CouplingTerm, LoopAxes, LoopClosure, LoopKind, Mimic, Model};

mod redundant;

pub use redundant::RedundantRows;

/// What a row belongs to, by its number in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowSource {
    /// A loop of [`Model::loops`].
    Loop(usize),
    /// A joint of [`Model::mimics`].
    Mimic(usize),
    /// A sum of [`Model::couplings`].
    Coupling(usize),
}

/// Rows of all loops of a model, then of all joints that follow others, then of couplings. Nothing is allocated after [`LoopRows::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct LoopRows {
    rows: Vec<Row>,
    /// Entries of all rows, block by block.
    entries: Vec<f64>,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    source: RowSource,
    /// Which of its loop's rows it is: 0 to 2 of the point, 3 to 5 of the rotation.
    part: usize,
    /// Trees and where their entries are; the first `count` mean something.
    blocks: [(usize, Range<usize>); 2],
    count: usize,
    value: f64,
    rate: f64,
}

/// What a row of a closed loop acts along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopAction {
    /// The links of the loop: the first has the opposite of what the second has. `None`: the world.
    pub links: [Option<usize>; 2],
    /// Direction of the force or moment, in the world.
    pub axis: Vec3,
    /// Where the force acts, in the world (m); none for a moment.
    pub at: Option<Vec3>,
}

/// The entries of a row, by tree in ascending order: none, one or two blocks of (tree, entries for the velocities of that tree).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopBlocks<'a> {
    blocks: [(usize, &'a [f64]); 2],
    count: usize,
}

impl<'a> Deref for LoopBlocks<'a> {
    type Target = [(usize, &'a [f64])];

    fn deref(&self) -> &Self::Target {
        &self.blocks[..self.count]
    }
}

/// A frame of a loop in the world, and the motion of its link about the frame's origin.
#[derive(Debug, Clone, Copy)]
struct End {
    link: Option<usize>,
    pose: Pose,
    rotation: Mat3,
}

impl LoopRows {
    /// Storage for the rows of a model, all zero until [`LoopRows::update`].
    pub fn new(model: &Model) -> Self {
        Self::of(model, |_| true)
    }

    /// Storage for the rows of a model that are `held`, in the same order.
    pub fn of(model: &Model, held: impl Fn(RowSource) -> bool) -> Self {
        let mut out = Self { rows: vec![], entries: vec![] };
        for (i, closure) in model.loops().iter().enumerate().filter(|(i, _)| held(RowSource::Loop(*i))) {
            let trees = [closure.a, closure.b].map(|link| link.map(|l| model.links()[l].tree));
            let used = |k: &usize| model.loop_axes()[i].used[*k];
            (0..closure.kind.rows()).filter(used).for_each(|k| out.add(model, RowSource::Loop(i), k, trees));
        }
        for (i, mimic) in model.mimics().iter().enumerate().filter(|(i, _)| held(RowSource::Mimic(*i))) {
            out.add(model, RowSource::Mimic(i), 0, [mimic.link, mimic.of].map(|l| Some(model.links()[l].tree)));
        }
        for (i, coupling) in model.couplings().iter().enumerate().filter(|(i, _)| held(RowSource::Coupling(*i))) {
            let tree = |t: &CouplingTerm| model.links()[t.link].tree;
            let trees = || coupling.terms.iter().map(tree);
            out.add(model, RowSource::Coupling(i), 0, [trees().min(), trees().max()]);
        }
        out
    }

    /// Storage for all rows of ties that are not among the loops of the model.
    pub fn of_ties<'a>(model: &Model, ties: impl IntoIterator<Item = &'a LoopClosure>) -> Self {
        let mut out = Self { rows: vec![], entries: vec![] };
        for (i, tie) in ties.into_iter().enumerate() {
            let trees = [tie.a, tie.b].map(|link| link.map(|l| model.links()[l].tree));
            (0..tie.kind.rows()).for_each(|k| out.add(model, RowSource::Loop(i), k, trees));
        }
        out
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What row `i` belongs to.
    pub fn source(&self, i: usize) -> RowSource {
        self.rows[i].source
    }

    /// Which row of its loop row `i` is: 0 to 2 of the point, 3 to 5 of the rotation.
    pub fn part(&self, i: usize) -> usize {
        self.rows[i].part
    }

    /// φ of row `i` (m or rad): zero where the loop is closed.
    pub fn value(&self, i: usize) -> f64 {
        self.rows[i].value
    }

    /// `J̇ v` of row `i` (m/s² or rad/s²): `φ̈ = J v̇ + J̇ v`. From the last [`LoopRows::update_rates`].
    pub fn rate(&self, i: usize) -> f64 {
        self.rows[i].rate
    }

    /// J of row `i`: `φ̇ = J v`.
    pub fn blocks(&self, i: usize) -> LoopBlocks<'_> {
        let row = &self.rows[i];
        let block = |k: usize| (row.blocks[k].0, &self.entries[row.blocks[k].1.clone()]);
        LoopBlocks { blocks: [block(0), block(1)], count: row.count }
    }

    /// `φ̇ = J v` of row `i` at velocities `v` (nv).
    pub fn speed(&self, model: &Model, i: usize, v: &[f64]) -> f64 {
        let of_tree = |&(tree, entries): &(usize, &[f64])| {
            let v = &v[model.trees()[tree].v.clone()];
            entries.iter().zip(v).map(|(a, b)| a * b).sum::<f64>()
        };
        self.blocks(i).iter().map(of_tree).sum()
    }

    /// Values and entries at configuration `q` (nq), at which the positions of `work` must be; the model is the one the rows were made for.
    pub fn update(&mut self, model: &Model, work: &Workspace, q: &[f64]) {
        let first = self.update_loops(model, model.loops().iter().zip(model.loop_axes()), work);
        for i in first..self.rows.len() {
            match self.rows[i].source {
                RowSource::Mimic(k) => self.update_mimic(model, i, &model.mimics()[k], q),
                RowSource::Coupling(k) => self.update_coupling(model, i, &model.couplings()[k], q),
                RowSource::Loop(_) => {}
            }
        }
    }

    /// The same for the ties that the rows were made for.
    pub fn update_ties<'a>(
        &mut self,
        model: &Model,
        work: &Workspace,
        ties: impl IntoIterator<Item = &'a LoopClosure>,
    ) {
        let axes = LoopAxes::default();
        self.update_loops(model, ties.into_iter().map(|tie| (tie, &axes)), work);
    }

    /// Values and entries of the rows of loops; returns how many there are.
    fn update_loops<'a>(
        &mut self,
        model: &Model,
        loops: impl Iterator<Item = (&'a LoopClosure, &'a LoopAxes)>,
        work: &Workspace,
    ) -> usize {
        self.entries.fill(0.0);
        let mut i = 0;
        for (number, (closure, axes)) in loops.enumerate() {
            let [a, b] = ends(closure, work);
            while i < self.rows.len() && self.rows[i].source == RowSource::Loop(number) {
                match (self.rows[i].part, closure.kind) {
                    (k @ 0..3, _) => self.update_point(model, work, i, a, b, axes.point.col(k)),
                    (k, LoopKind::Weld) => self.update_weld(model, work, i, a, b, axes.turn.col(k - 3)),
                    (k, _) => self.update_hinge(model, work, i, a, b, a.hinge_side(k - 3)),
                }
                i += 1;
            }
        }
        i
    }

    /// Rates at the positions and velocities of `work`.
    pub fn update_rates(&mut self, model: &Model, work: &Workspace) {
        let mut i = 0;
        for (number, (closure, axes)) in model.loops().iter().zip(model.loop_axes()).enumerate() {
            let [a, b] = ends(closure, work);
            let (point, turning) = (point_rate(work, a, b), Turning::new(work, a, b));
            while i < self.rows.len() && self.rows[i].source == RowSource::Loop(number) {
                self.rows[i].rate = match (self.rows[i].part, closure.kind) {
                    (k @ 0..3, _) => point.dot(a.rotation * axes.point.col(k)),
                    (k, LoopKind::Weld) => turning.weld_rate().dot(axes.turn.col(k - 3)),
                    (k, _) => turning.hinge_rate(k - 3),
                };
                i += 1;
            }
        }
    }

    /// What a unit force along row `i` does at the positions of `work`: a force at a point or a moment on the second link,
    /// the opposite on the first. `None` for rows that are not of loops but of joints that follow others.
    pub fn action(&self, model: &Model, work: &Workspace, i: usize) -> Option<LoopAction> {
        let Row { source: RowSource::Loop(number), part, .. } = self.rows[i] else { return None };
        let (closure, axes) = (&model.loops()[number], &model.loop_axes()[number]);
        let [a, b] = ends(closure, work);
        let links = [a.link, b.link];
        let (axis, at) = match (part, closure.kind) {
            (k @ 0..3, _) => (a.rotation * axes.point.col(k), Some(b.pose.translation)),
            (k, LoopKind::Weld) => {
                let ((w, u), direction) = (relative_rotation(a, b), axes.turn.col(k - 3));
                (a.rotation * (direction * w + u.cross(direction)), None)
            }
            (k, _) => (b.rotation.z_axis.cross(a.hinge_side(k - 3)), None),
        };
        Some(LoopAction { links, axis, at })
    }

    /// Adds a row over the velocities of two trees (`None`: the world); trees that cannot move have no entries.
    fn add(&mut self, model: &Model, source: RowSource, part: usize, trees: [Option<usize>; 2]) {
        let moves = |t: &usize| !model.trees()[*t].v.is_empty();
        let [a, b] = trees.map(|t| t.filter(moves));
        let (first, second) = match (a, b) {
            (Some(a), Some(b)) if a != b => (Some(a.min(b)), Some(a.max(b))),
            (a, b) => (a.or(b), None),
        };
        let mut row = Row { source, part, blocks: [(0, 0..0), (0, 0..0)], count: 0, value: 0.0, rate: 0.0 };
        for tree in [first, second].into_iter().flatten() {
            let start = self.entries.len();
            self.entries.resize(start + model.trees()[tree].v.len(), 0.0);
            row.blocks[row.count] = (tree, start..self.entries.len());
            row.count += 1;
        }
        self.rows.push(row);
    }

    /// The entries of row `i` for the tree of a link.
    fn block_mut(&mut self, model: &Model, i: usize, link: usize) -> &mut [f64] {
        let (row, tree) = (&self.rows[i], model.links()[link].tree);
        let range = row.blocks[..row.count].iter().find(|b| b.0 == tree).map_or(0..0, |b| b.1.clone());
        &mut self.entries[range]
    }

    /// `e · (p_B − p_A)` with e fixed in A changes with the velocity along e of the point of B at
    /// p_B against that of A there: so what moves both links moves it by nothing, to the bit.
    fn update_point(&mut self, model: &Model, work: &Workspace, i: usize, a: End, b: End, direction: Vec3) {
        let (axis, at) = (a.rotation * direction, b.pose.translation);
        self.rows[i].value = axis.dot(at - a.pose.translation);
        for (end, sign) in [(a, -1.0), (b, 1.0)] {
            if let Some(link) = end.link {
                work.add_point_row(model, link, at, axis, sign, self.block_mut(model, i, link));
            }
        }
    }

    /// `s · z_B` with s = −y_A and x_A changes with `(ω_B − ω_A) · (z_B × s)`.
    fn update_hinge(&mut self, model: &Model, work: &Workspace, i: usize, a: End, b: End, side: Vec3) {
        let z = b.rotation.z_axis;
        self.rows[i].value = side.dot(z);
        self.add_turning_row(model, work, i, a, b, z.cross(side));
    }

    /// `d/dt 2u = w ω − u × ω` with ω = R_Aᵀ (ω_B − ω_A), along a direction fixed in A.
    fn update_weld(&mut self, model: &Model, work: &Workspace, i: usize, a: End, b: End, direction: Vec3) {
        let (w, u) = relative_rotation(a, b);
        self.rows[i].value = 2.0 * u.dot(direction);
        self.add_turning_row(model, work, i, a, b, a.rotation * (direction * w + u.cross(direction)));
    }

    /// The row of `(ω_B − ω_A) · axis`.
    fn add_turning_row(&mut self, model: &Model, work: &Workspace, i: usize, a: End, b: End, axis: Vec3) {
        for (end, sign) in [(a, -1.0), (b, 1.0)] {
            if let Some(link) = end.link {
                work.add_angular_row(model, link, axis, sign, self.block_mut(model, i, link));
            }
        }
    }

    fn update_coupling(&mut self, model: &Model, i: usize, coupling: &Coupling, q: &[f64]) {
        self.rows[i].value = -coupling.offset;
        for term in &coupling.terms {
            let link = &model.links()[term.link];
            let [value, slope] = term.at(q[link.q.start]);
            let k = link.v.start - model.trees()[link.tree].v.start;
            self.rows[i].value += value;
            self.block_mut(model, i, term.link)[k] += slope;
        }
    }

    fn update_mimic(&mut self, model: &Model, i: usize, mimic: &Mimic, q: &[f64]) {
        let at = |link: usize| q[model.links()[link].q.start];
        self.rows[i].value = at(mimic.link) - mimic.multiplier * at(mimic.of) - mimic.offset;
        for (link, entry) in [(mimic.link, 1.0), (mimic.of, -mimic.multiplier)] {
            let link_model = &model.links()[link];
            let k = link_model.v.start - model.trees()[link_model.tree].v.start;
            self.block_mut(model, i, link)[k] += entry;
        }
    }
}

impl End {
    fn new(link: Option<usize>, frame: &Pose, work: &Workspace) -> Self {
        let pose = link.map_or(*frame, |l| work.pose[l] * *frame);
        Self { link, pose, rotation: Mat3::from_quat(pose.rotation) }
    }

    /// Velocity of the link's point at `at`, and its acceleration when every v̇ is 0.
    fn motion_at(&self, work: &Workspace, at: Vec3) -> (Vec3, Vec3) {
        self.link.map_or((Vec3::ZERO, Vec3::ZERO), |l| (work.point_velocity(l, at), work.point_bias(l, at)))
    }

    /// The directions whose part of the other axis a hinge keeps at zero: −y and x.
    fn hinge_side(&self, k: usize) -> Vec3 {
        if k == 0 { -self.rotation.y_axis } else { self.rotation.x_axis }
    }
}

/// `d²/dt² (p_B − p_A)` as seen from A when every v̇ is 0: relative acceleration of the links'
/// points at p_B less that of Coriolis, along world axes.
fn point_rate(work: &Workspace, a: End, b: End) -> Vec3 {
    let at = b.pose.translation;
    let (on_a, on_b) = (a.motion_at(work, at), b.motion_at(work, at));
    let omega = a.link.map_or(Vec3::ZERO, |l| work.velocity[l].angular);
    on_b.1 - on_a.1 - 2.0 * omega.cross(on_b.0 - on_a.0)
}

/// How the two frames of a loop turn.
struct Turning {
    a: End,
    b: End,
    omega_a: Vec3,
    omega_b: Vec3,
    /// α_B − α_A when every v̇ is 0.
    alpha: Vec3,
}

impl Turning {
    fn new(work: &Workspace, a: End, b: End) -> Self {
        let of = |motion: &[LinkMotion], end: &End| end.link.map_or(Vec3::ZERO, |l| motion[l].angular);
        let alpha = of(&work.bias, &b) - of(&work.bias, &a);
        Self { a, b, omega_a: of(&work.velocity, &a), omega_b: of(&work.velocity, &b), alpha }
    }

    /// `d/dt (ω_B − ω_A) · (z × s)`, with z fixed in B and s fixed in A.
    fn hinge_rate(&self, k: usize) -> f64 {
        let (s, z) = (self.a.hinge_side(k), self.b.rotation.z_axis);
        let turned = self.omega_b.cross(z).cross(s) + z.cross(self.omega_a.cross(s));
        self.alpha.dot(z.cross(s)) + (self.omega_b - self.omega_a).dot(turned)
    }

    /// `d/dt (w ω − u × ω)` with `ẇ = −½ u · ω`, `u̇ = ½ (w ω − u × ω)`, `ω̇ = R_Aᵀ (α_B − α_A − ω_A × (ω_B − ω_A))`.
    fn weld_rate(&self) -> Vec3 {
        let (w, u) = relative_rotation(self.a, self.b);
        let to_a = self.a.rotation.transpose();
        let relative = self.omega_b - self.omega_a;
        let omega = to_a * relative;
        let alpha = to_a * (self.alpha - self.omega_a.cross(relative));
        let u_rate = 0.5 * (omega * w - u.cross(omega));
        omega * (-0.5 * u.dot(omega)) - u_rate.cross(omega) + alpha * w - u.cross(alpha)
    }
}

/// The quaternion of `R_Aᵀ R_B` with w ≥ 0, as w and (x, y, z).
fn relative_rotation(a: End, b: End) -> (f64, Vec3) {
    let q = a.pose.rotation.inverse() * b.pose.rotation;
    let q = if q.w < 0.0 { -q } else { q };
    (q.w, Vec3::new(q.x, q.y, q.z))
}

fn ends(closure: &LoopClosure, work: &Workspace) -> [End; 2] {
    [End::new(closure.a, &closure.frame_a, work), End::new(closure.b, &closure.frame_b, work)]
}

#[cfg(test)]
mod tests;
