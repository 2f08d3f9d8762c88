//! Random scenes: boxes on the floor, on each other and at walls, and fingers of articulated manipulators that push them.

use stiction_body::math::{Mat3, Pose, Quat, Vec3, tangents, unit};
use stiction_body::{Inertia, JointKind, LinkSpec, Model, ModelBuilder, Workspace};
use stiction_contact::find_indices::FindIndices;
use stiction_contact::{Contact, ContactProblem, InputError, Mass, Rows};
use stiction_lcp::Matrix;
use stiction_lcp::generate::Rng;
use stiction_lcp::matrix::norm;

use super::layout::{Finger, Layout, Patch};
use super::plans::Plan;

/// Scenes drawn for one problem at most before it is given up.
const ATTEMPTS: u64 = 10_000;
/// Slowest slip of a contact that slides (m/s).
const SLIP: f64 = 0.01;
/// Part of its speed that a body must keep to count as moving; below is rounding.
const MOVING: f64 = 1e-9;
/// Contacts per box and per finger: where none slides, and where some must be free to.
const DENSE: [usize; 2] = [6, 4];
const SPARSE: [usize; 2] = [4, 4];
/// The same where any two bodies touch once.
const APART: [usize; 2] = [2, 2];
const GRAVITY: f64 = 9.81;

/// A problem but for its coefficient of friction.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Passive boxes.
    pub objects: usize,
    /// Fingers.
    pub fingers: usize,
    /// Joints of all fingers.
    pub joints: usize,
    /// Scenes drawn until one had the contacts that the plan asks for.
    pub draws: u64,
    blocks: Vec<Matrix>,
    v: Vec<f64>,
    force: Vec<f64>,
    spots: Vec<Spot>,
}

/// A contact: rows of its normal and tangents by block, and velocity products.
#[derive(Debug, Clone)]
struct Spot {
    rows: [Vec<(usize, Vec<f64>)>; 3],
    rate: [f64; 3],
}

/// Where a point of one body touches a face of another; `None` is the world.
#[derive(Debug, Clone, Copy)]
struct Touch {
    point: Vec3,
    normal: Vec3,
    tangents: [Vec3; 2],
    vertex: usize,
    face: Option<usize>,
    slides: bool,
}

impl Scene {
    /// The scene of a plan: scenes are drawn from the seed until one has these contacts, rolling and sliding as planned.
    ///
    /// # Errors
    /// If none of the scenes drawn has them.
    pub fn draw(plan: &Plan, seed: u64) -> Result<Self, InputError> {
        Self::draw_within(plan, seed, usize::MAX)
    }

    /// The same with at most one point between any two bodies, so that contacts are independent as a rule. (Two points of the same two bodies never
    /// are: their distance is fixed.)
    ///
    /// # Errors
    /// If none of the scenes drawn has such contacts.
    pub(crate) fn draw_apart(plan: &Plan, seed: u64) -> Result<Self, InputError> {
        Self::draw_within(plan, seed, 1)
    }

    fn draw_within(plan: &Plan, seed: u64, per_pair: usize) -> Result<Self, InputError> {
        for draws in 1..=ATTEMPTS {
            let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(draws));
            if let Some(scene) = Self::try_draw(plan, per_pair, draws, &mut rng)? {
                return Ok(scene);
            }
        }
        let reason = format!("no scene with {} rolling and {} sliding contacts was drawn", plan.rolling, plan.sliding);
        Err(InputError::Option { name: "plan", reason })
    }

    fn try_draw(plan: &Plan, per_pair: usize, draws: u64, rng: &mut Rng) -> Result<Option<Self>, InputError> {
        let per_body = if per_pair == 1 {
            APART
        } else if plan.sliding > 0 {
            SPARSE
        } else {
            DENSE
        };
        let layout = Layout::draw(plan.rolling + plan.sliding, per_body, rng);
        let Some(chosen) = choose(plan, per_pair, &layout, rng) else { return Ok(None) };
        let (model, links) = build(&layout, rng)?;
        let touches: Vec<Touch> = chosen
            .into_iter()
            .map(|(patch, k, slides)| {
                let Patch { vertex, face, normal, .. } = layout.patches[patch];
                let (s, t) = tangents(normal);
                let (c, d) = turn(rng);
                Touch {
                    point: layout.patches[patch].points[k],
                    normal,
                    tangents: [s * c + t * d, t * c - s * d],
                    vertex: links[vertex],
                    face: face.map(|body| links[body]),
                    slides,
                }
            })
            .collect();
        let mut scene = Self {
            objects: layout.boxes.len(),
            fingers: layout.fingers.len(),
            joints: layout.fingers.iter().map(|finger| finger.joints.len()).sum(),
            draws,
            blocks: Vec::new(),
            v: (0..model.nv()).map(|_| 0.5 * rng.normal()).collect(),
            force: vec![0.0; model.nv()],
            spots: Vec::new(),
        };
        let mut work = Workspace::default();
        work.update_positions(&model, &configuration(&model, &layout, &links));
        work.mass_blocks(&model, &mut scene.blocks);
        scene.spots = touches.iter().map(|touch| spot(&model, &work, touch)).collect();
        scene.slow_down(&touches)?;
        if !scene.moves_as_planned(&touches)? {
            return Ok(None);
        }
        work.update_velocities(&model, &scene.v);
        for (spot, touch) in scene.spots.iter_mut().zip(&touches) {
            spot.rate = rates(&work, touch);
        }
        scene.push(&model, &mut work, &layout, &links, rng);
        Ok(Some(scene))
    }

    /// The problem with this coefficient of friction at every contact.
    ///
    /// # Errors
    /// If `mu` is out of range.
    pub fn problem(&self, mu: f64) -> Result<ContactProblem, InputError> {
        let mut problem =
            ContactProblem::new(Mass::new(self.blocks.clone())?, self.v.clone(), self.force.clone(), 1e-3)?;
        for spot in &self.spots {
            let rows: Vec<Vec<(usize, &[f64])>> =
                spot.rows.iter().map(|row| row.iter().map(|(block, x)| (*block, &x[..])).collect()).collect();
            let contact = Contact::new(&rows[0], &rows[1], &rows[2]);
            problem.add_contact(Contact { mu, rate: spot.rate, size: 0.05, ..contact })?;
        }
        Ok(problem)
    }

    /// Takes from the velocities what the contacts forbid: all of it along normals, and along the tangents of those that roll. Least change in the
    /// metric of the inertia.
    fn slow_down(&mut self, touches: &[Touch]) -> Result<(), InputError> {
        let problem = self.problem(0.0)?;
        let (mass, layout, contacts) = (problem.mass(), problem.layout(), problem.contacts());
        let mut held = FindIndices::default();
        held.reset(problem.m(), 3 * contacts.len());
        let mut hold = |rows: &Rows, i: usize| {
            let mut g = vec![0.0; layout.m()];
            rows.add_transposed(i, 1.0, &mut g);
            (0..layout.blocks()).for_each(|b| mass.solve_factor(b, &mut g[layout.range(b)]));
            held.add(&g, 0.0);
        };
        for (i, touch) in touches.iter().enumerate() {
            hold(&contacts.normal, i);
            if !touch.slides {
                hold(&contacts.tangent_s, i);
                hold(&contacts.tangent_t, i);
            }
        }
        let mut x = self.v.clone();
        (0..layout.blocks()).for_each(|b| mass.mul_factor_transposed(b, &mut x[layout.range(b)]));
        let before = x.clone();
        held.project_out(&mut x);
        for b in 0..layout.blocks() {
            let range = layout.range(b);
            if norm(&x[range.clone()]) <= MOVING * norm(&before[range.clone()]) {
                x[range.clone()].fill(0.0);
            }
            mass.solve_factor_transposed(b, &mut x[range]);
        }
        self.v = x;
        Ok(())
    }

    /// Whether every contact rolls or slides as its touch says, and none parts.
    fn moves_as_planned(&self, touches: &[Touch]) -> Result<bool, InputError> {
        let problem = self.problem(0.0)?;
        Ok(touches.iter().enumerate().all(|(i, touch)| {
            let [s, t, _] = problem.slip(i);
            !problem.parts(i) && if touch.slides { s.hypot(t) >= SLIP } else { s == 0.0 && t == 0.0 }
        }))
    }

    /// Forces: gravity (tilted by some degrees) and velocity products on the boxes, on half of them also a wrench of a quarter of their weight;
    /// efforts that make up for weight and velocity products of the fingers and press their tips on what they touch with 10 to 40 N.
    fn push(&mut self, model: &Model, work: &mut Workspace, layout: &Layout, links: &[usize], rng: &mut Rng) {
        work.passive_forces(model, &mut self.force);
        for (object, &link) in layout.boxes.iter().zip(links) {
            let weight = GRAVITY * object.mass;
            if rng.chance(0.5) {
                let scale = [weight, weight * object.half[0]];
                for (k, i) in model.links()[link].v.clone().enumerate() {
                    self.force[i] += 0.25 * scale[k / 3] * rng.normal();
                }
            }
        }
        for (k, finger) in layout.fingers.iter().enumerate() {
            let tip = links[layout.tip(k)];
            let range = model.trees()[model.links()[tip].tree].v.clone();
            let press = finger.normal * -(10.0 + 30.0 * rng.uniform()) + vector(rng, 3.0);
            let efforts = &mut self.force[range];
            efforts.fill(0.0);
            work.add_point_row(model, tip, finger.tip, press, 1.0, efforts);
        }
    }
}

/// Which points of which patches touch, and whether they slide: patches are made rolling or sliding at random, then taken in random order until the
/// numbers are right. `None` if there are not enough of either.
fn choose(plan: &Plan, per_pair: usize, layout: &Layout, rng: &mut Rng) -> Option<Vec<(usize, usize, bool)>> {
    let share = plan.sliding as f64 / (plan.sliding + plan.rolling) as f64;
    let mut order: Vec<usize> = (0..layout.patches.len()).collect();
    (1..order.len()).rev().for_each(|k| order.swap(k, rng.below(k + 1)));
    let (mut left, mut chosen) = ([plan.rolling, plan.sliding], Vec::new());
    for patch in order {
        let slides = rng.chance(share);
        let Patch { vertex, face, ref points, .. } = layout.patches[patch];
        for k in 0..points.len().min(left[usize::from(slides)]) {
            let pair = |other: &&(usize, usize, bool)| {
                let other = &layout.patches[other.0];
                (other.vertex, other.face) == (vertex, face)
            };
            if chosen.iter().filter(pair).count() < per_pair {
                chosen.push((patch, k, slides));
                left[usize::from(slides)] -= 1;
            }
        }
    }
    chosen.sort_unstable();
    (left == [0, 0]).then_some(chosen)
}

/// A free link per box, then the chains of the fingers; and the number of each in the model.
fn build(layout: &Layout, rng: &mut Rng) -> Result<(Model, Vec<usize>), InputError> {
    let mut builder = ModelBuilder::default();
    let tilt = vector(rng, 0.15);
    builder.gravity(unit(Vec3::new(tilt.x, tilt.y, -1.0)) * GRAVITY);
    for (k, object) in layout.boxes.iter().enumerate() {
        let sides = Vec3::from_array(object.half) * 2.0;
        builder.add(LinkSpec::free(format!("box {k}"), Inertia::cuboid(object.mass, sides)))?;
    }
    let mut links = layout.boxes.len();
    for (k, finger) in layout.fingers.iter().enumerate() {
        for j in 0..finger.joints.len() {
            let parent = (j > 0).then_some(links - 1);
            builder.add(finger_link(k, j, parent, finger, rng)?)?;
            links += 1;
        }
    }
    builder.build()
}

/// Link j of a finger: a rod from its joint to the next, or to the tip, that turns about a random axis across it.
fn finger_link(
    k: usize,
    j: usize,
    parent: Option<usize>,
    finger: &Finger,
    rng: &mut Rng,
) -> Result<LinkSpec, InputError> {
    let at = finger.joints[j];
    let from = if j > 0 { finger.joints[j - 1] } else { Vec3::ZERO };
    let along = finger.joints.get(j + 1).copied().unwrap_or(finger.tip) - at;
    let (a, b) = tangents(unit(along));
    let (c, s) = turn(rng);
    let mass = 0.05 + 0.2 * rng.uniform();
    // A rod, with a little of its width.
    let square = along.dot(along) + 1e-4;
    let about = Mat3::from_diagonal(Vec3::splat(mass * square / 12.0));
    let kind = JointKind::Revolute { axis: unit(a * c + b * s) };
    let frame = Pose::from_parts(at - from, Quat::IDENTITY);
    Ok(LinkSpec::on(format!("finger {k}.{j}"), parent, kind, frame, Inertia::new(mass, along * 0.5, about)?))
}

/// Boxes where they are, all joints at zero.
fn configuration(model: &Model, layout: &Layout, links: &[usize]) -> Vec<f64> {
    let mut q = model.neutral();
    for (object, &link) in layout.boxes.iter().zip(links) {
        let at = model.links()[link].q.start;
        q[at..at + 3].copy_from_slice(&object.centre.to_array());
    }
    q
}

/// The rows of a contact.
fn spot(model: &Model, work: &Workspace, touch: &Touch) -> Spot {
    let row = |direction: Vec3| {
        let mut row: Vec<(usize, Vec<f64>)> = Vec::new();
        for (link, scale) in [(Some(touch.vertex), 1.0), (touch.face, -1.0)] {
            let Some(link) = link else { continue };
            let tree = model.links()[link].tree;
            let mut x = vec![0.0; model.trees()[tree].v.len()];
            work.add_point_row(model, link, touch.point, direction, scale, &mut x);
            row.push((tree, x));
        }
        row.sort_by_key(|(block, _)| *block);
        row
    };
    Spot { rows: [row(touch.normal), row(touch.tangents[0]), row(touch.tangents[1])], rate: [0.0; 3] }
}

/// Velocity products of a point on a face. The distance from the face has the second derivative `n · (a − a_face) + 2 (ω_face × n) · u` with u the
/// velocity of the point relative to the face; a contact that rolls has u = 0, and its tangential accelerations have no such term.
fn rates(work: &Workspace, touch: &Touch) -> [f64; 3] {
    let mut bias = work.point_bias(touch.vertex, touch.point);
    let mut coriolis = 0.0;
    if let Some(face) = touch.face {
        bias -= work.point_bias(face, touch.point);
        let slip = work.point_velocity(touch.vertex, touch.point) - work.point_velocity(face, touch.point);
        coriolis = 2.0 * work.velocity[face].angular.cross(touch.normal).dot(slip);
    }
    [touch.normal.dot(bias) + coriolis, touch.tangents[0].dot(bias), touch.tangents[1].dot(bias)]
}

/// A vector with normally distributed entries.
fn vector(rng: &mut Rng, scale: f64) -> Vec3 {
    Vec3::new(rng.normal(), rng.normal(), rng.normal()) * scale
}

/// Cosine and sine of a random angle.
fn turn(rng: &mut Rng) -> (f64, f64) {
    let x = unit(Vec3::new(rng.normal(), rng.normal(), 0.0));
    (x.x, x.y)
}
