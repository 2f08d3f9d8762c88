//! Bodies in contact with friction, in the plane and in space, at rest or sliding.

use stiction_contact::find_indices::FindIndices;
use stiction_contact::scenes::{Body, Touch, assemble, unit};
use stiction_contact::{Contact, ContactProblem, Mass};
use stiction_lcp::generate::Rng;
use stiction_lcp::{InputError, Matrix};

/// Free fall (m/s²).
pub const GRAVITY: f64 = 9.81;
/// The step that problems of accelerations have but do not use (s).
const DT: f64 = 1e-3;

/// The plane or space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Bodies with three velocities, contacts with one tangent.
    Two,
    /// Bodies with six velocities, contacts with two tangents.
    Three,
}

/// How a heap is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Heap {
    /// The plane or space.
    pub dimension: Dimension,
    /// Contacts.
    pub contacts: usize,
    /// Least and greatest coefficient of friction.
    pub mu: [f64; 2],
    /// Bodies slide, roll and turn without parting; otherwise all is at rest.
    pub moving: bool,
}

/// A heap of bodies under gravity, pushed at random: body i lies on those below it or on the floor, at points and along normals drawn at random.
///
/// # Errors
/// If a coefficient is out of range.
pub fn heap(recipe: &Heap, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let space = recipe.dimension == Dimension::Three;
    let sideways = if space { 1.0 } else { 0.0 };
    let per_body = if space { 3 } else { 2 };
    let count = recipe.contacts.div_ceil(per_body).max(1);
    let bodies: Vec<Body> = (0..count)
        .map(|k| {
            let centre = [rng.normal(), sideways * rng.normal(), k as f64];
            let mut body = Body::cuboid(0.5 + rng.uniform(), [1.0, 0.8, 0.6], centre);
            body.force = [3.0 * rng.normal(), sideways * 3.0 * rng.normal(), -GRAVITY * body.mass];
            body
        })
        .collect();
    let touches: Vec<Touch> = (0..recipe.contacts)
        .map(|i| {
            let body = i % count;
            let other = if body == 0 || rng.chance(0.3) { None } else { Some(rng.below(body)) };
            let at = bodies[body].centre;
            let point = [at[0] + rng.uniform() - 0.5, at[1] + sideways * (rng.uniform() - 0.5), at[2] - 0.3];
            let normal = unit([0.3 * rng.normal(), sideways * 0.3 * rng.normal(), 1.0]);
            let mu = recipe.mu[0] + (recipe.mu[1] - recipe.mu[0]) * rng.uniform();
            Touch { mu, ..Touch::new(body, other, point, normal) }
        })
        .collect();
    let mut problem = if space { assemble(&bodies, &touches, DT)? } else { flat(&bodies, &touches)? };
    if recipe.moving {
        slide(&mut problem, &mut rng)?;
    }
    Ok(problem)
}

/// A tower of `n` blocks, two contacts per face in the plane and three in space, the top one pushed sideways with `push` of the force that
/// would move it.
/// (Four contacts per face leave the normal forces open, and with them friction and motion: some motions that satisfy the law turn the block.)
///
/// # Errors
/// If the coefficient is out of range.
pub fn tower(dimension: Dimension, n: usize, mu: f64, push: f64) -> Result<ContactProblem, InputError> {
    let mut bodies: Vec<Body> = (0..n)
        .map(|k| {
            let block = Body::cuboid(1.0, [1.0, 1.0, 0.5], [0.0, 0.0, 0.5 * k as f64 + 0.25]);
            Body { force: [0.0, 0.0, -GRAVITY], ..block }
        })
        .collect();
    if let Some(top) = bodies.last_mut() {
        // At its foot, so that it slides before it tips.
        top.force[0] = push * mu * GRAVITY;
        top.moment[1] = -0.25 * top.force[0];
    }
    let feet: &[[f64; 2]] = if dimension == Dimension::Three {
        &[[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.0]]
    } else {
        &[[-0.5, 0.0], [0.5, 0.0]]
    };
    let mut touches = Vec::new();
    for k in 0..n {
        for [x, y] in feet {
            let point = [*x, *y, 0.5 * k as f64];
            touches.push(Touch { mu, ..Touch::new(k, k.checked_sub(1), point, [0.0, 0.0, 1.0]) });
        }
    }
    if dimension == Dimension::Three { assemble(&bodies, &touches, DT) } else { flat(&bodies, &touches) }
}

/// Painlevé's rod of length 2 m and mass 1 kg: its lower end slides over the floor at 1 m/s, towards the side that the rod leans away from;
/// `(c, s)` is its direction, up
/// from that end.
///
/// # Errors
/// If the coefficient is out of range.
pub fn rod([c, s]: [f64; 2], mu: f64) -> Result<ContactProblem, InputError> {
    let rod = Body {
        inertia: [1.0 / 3.0; 3],
        v: [1.0, 0.0, 0.0],
        force: [0.0, 0.0, -GRAVITY],
        ..Body::cuboid(1.0, [1.0; 3], [0.0; 3])
    };
    flat(&[rod], &[Touch { mu, ..Touch::new(0, None, [c, 0.0, -s], [0.0, 0.0, 1.0]) }])
}

/// The problem of bodies and touches in the plane y = 0: velocities (x, z, turn about y) of each.
fn flat(bodies: &[Body], touches: &[Touch]) -> Result<ContactProblem, InputError> {
    let block = |b: &Body| Matrix::from_fn(3, 3, |i, j| if i == j { [b.mass, b.mass, b.inertia[1]][i] } else { 0.0 });
    let pick = |a: [f64; 3], turn: f64| [a[0], a[2], turn];
    let v = bodies.iter().flat_map(|b| pick(b.v, b.omega[1])).collect();
    let force = bodies.iter().flat_map(|b| pick(b.force, b.moment[1])).collect();
    let mut problem = ContactProblem::new(Mass::new(bodies.iter().map(block).collect())?, v, force, DT)?;
    for touch in touches {
        let row = |body: usize, d: [f64; 2]| {
            let arm = [touch.point[0] - bodies[body].centre[0], touch.point[2] - bodies[body].centre[2]];
            [d[0], d[1], arm[1] * d[0] - arm[0] * d[1]]
        };
        let (normal, tangent) = ([touch.normal[0], touch.normal[2]], [touch.normal[2], -touch.normal[0]]);
        let (n, s) = (row(touch.body, normal), row(touch.body, tangent));
        let other = touch.other.map(|o| (o, row(o, normal).map(|x| -x), row(o, tangent).map(|x| -x)));
        let mut rows: [Vec<(usize, &[f64])>; 2] = [vec![(touch.body, &n)], vec![(touch.body, &s)]];
        if let Some((o, n, s)) = &other {
            rows[0].push((*o, n));
            rows[1].push((*o, s));
        }
        let [n, s] = &rows;
        problem.add_contact(Contact { mu: touch.mu, size: touch.size, ..Contact::new(n, s, &[]) })?;
    }
    Ok(problem)
}

/// Random velocities that keep every contact closed. What is only rounding afterwards is rest.
fn slide(problem: &mut ContactProblem, rng: &mut Rng) -> Result<(), InputError> {
    const ROUNDING: f64 = 1e-11;
    let m = problem.m();
    let normals = problem.contacts().normal.to_dense();
    let mut held = FindIndices::default();
    held.reset(m, normals.rows());
    for i in 0..normals.rows() {
        let row: Vec<f64> = (0..m).map(|k| normals[(i, k)]).collect();
        held.add(&row, 0.0);
    }
    let mut v: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
    held.project_out(&mut v);
    v.iter_mut().filter(|x| x.abs() < ROUNDING).for_each(|x| *x = 0.0);
    let force = problem.force().to_vec();
    problem.set_motion(&v, &force)
}
