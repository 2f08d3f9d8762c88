//! Contact problems of free bodies, placed by hand or drawn at random: for tests, benchmarks, the soak and the papers' experiments.

pub mod piles;

use stiction_lcp::generate::Rng;
use stiction_lcp::matrix::norm;
use stiction_lcp::{InputError, Matrix};

use crate::find_indices::FindIndices;
use crate::mass::Mass;
use crate::problem::{CONTACT_ROWS, Contact, ContactProblem};
use crate::rows::Rows;

/// A vector in space.
pub type Vec3 = [f64; 3];

/// The vector product.
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Two unit tangents that make a right-handed frame with the unit vector `n`.
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    // The axis least along n gives the best-conditioned product.
    let least = (0..3).min_by(|&i, &j| n[i].abs().total_cmp(&n[j].abs())).unwrap_or(0);
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let s = unit(cross(axis, n));
    (s, cross(n, s))
}

/// `a / |a|`; the z axis for a vector of no length.
pub fn unit(a: Vec3) -> Vec3 {
    let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt();
    if length > 0.0 { a.map(|x| x / length) } else { [0.0, 0.0, 1.0] }
}

/// A free rigid body: velocities (v of its centre, ω), in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Mass (kg).
    pub mass: f64,
    /// Principal moments of inertia (kg m²), along the world axes.
    pub inertia: Vec3,
    /// Centre of mass (m).
    pub centre: Vec3,
    /// Velocity of the centre (m/s).
    pub v: Vec3,
    /// Angular velocity (rad/s).
    pub omega: Vec3,
    /// Force (N).
    pub force: Vec3,
    /// Moment about the centre (N m).
    pub moment: Vec3,
}

impl Body {
    /// A cuboid of the given mass and sides at rest at `centre`.
    pub fn cuboid(mass: f64, sides: Vec3, centre: Vec3) -> Self {
        let [a, b, c] = sides.map(|x| x * x);
        let inertia = [b + c, a + c, a + b].map(|x| mass * x / 12.0);
        Self { mass, inertia, centre, v: [0.0; 3], omega: [0.0; 3], force: [0.0; 3], moment: [0.0; 3] }
    }
}

/// A point where two bodies touch, or one touches the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// The body the normal points to.
    pub body: usize,
    /// The other body; `None` for the world.
    pub other: Option<usize>,
    /// Where (m).
    pub point: Vec3,
    /// Unit normal, from the other to the body.
    pub normal: Vec3,
    /// Signed distance (m).
    pub gap: f64,
    /// Coulomb coefficient.
    pub mu: f64,
    /// Viscous coefficient (N s/m).
    pub mu_viscous: f64,
    /// Coefficient of the moment about the normal (m).
    pub mu_spin: f64,
    /// Coefficient of the moment against rolling (m).
    pub mu_roll: f64,
    /// Size of the smaller body (m).
    pub size: f64,
}

impl Touch {
    /// A touching point without friction on bodies of about a metre.
    pub fn new(body: usize, other: Option<usize>, point: Vec3, normal: Vec3) -> Self {
        Self { body, other, point, normal, gap: 0.0, mu: 0.0, mu_viscous: 0.0, mu_spin: 0.0, mu_roll: 0.0, size: 1.0 }
    }
}

/// The row of the relative velocity along `direction` at `point` of a body at `centre`: (direction, (point − centre) × direction).
pub(crate) fn point_row(point: Vec3, centre: Vec3, direction: Vec3) -> [f64; 6] {
    let arm = [point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]];
    let turn = cross(arm, direction);
    [direction[0], direction[1], direction[2], turn[0], turn[1], turn[2]]
}

/// The problem of these bodies and touches.
///
/// # Errors
/// As [`ContactProblem`]'s own.
pub fn assemble(bodies: &[Body], touches: &[Touch], dt: f64) -> Result<ContactProblem, InputError> {
    let block = |b: &Body| {
        let inertia = Matrix::from_fn(3, 3, |i, j| if i == j { b.inertia[i] } else { 0.0 });
        Mass::free_body(b.mass, &inertia)
    };
    let mass = Mass::new(bodies.iter().map(block).collect::<Result<_, _>>()?)?;
    let v = bodies.iter().flat_map(|b| b.v.into_iter().chain(b.omega)).collect();
    let force = bodies.iter().flat_map(|b| b.force.into_iter().chain(b.moment)).collect();
    let mut problem = ContactProblem::new(mass, v, force, dt)?;
    touches.iter().try_for_each(|touch| add_touch(&mut problem, bodies, touch))?;
    Ok(problem)
}

/// Adds one touch to a problem of free bodies.
///
/// # Errors
/// As [`ContactProblem::add_contact`]'s.
pub fn add_touch(problem: &mut ContactProblem, bodies: &[Body], touch: &Touch) -> Result<(), InputError> {
    let (s, t) = tangents(touch.normal);
    let n = touch.normal;
    let turn = |d: Vec3| [0.0, 0.0, 0.0, d[0], d[1], d[2]];
    let along = |body: usize, d: Vec3| point_row(touch.point, bodies[body].centre, d);
    let rows = |body: usize| [along(body, n), along(body, s), along(body, t), turn(n), turn(s), turn(t)];
    let own = rows(touch.body);
    let other = touch.other.map(|o| rows(o).map(|row| row.map(|x| -x)));
    let mut blocks: [Vec<(usize, &[f64])>; CONTACT_ROWS] = Default::default();
    for k in 0..CONTACT_ROWS {
        blocks[k].push((touch.body, &own[k]));
        if let (Some(o), Some(rows)) = (touch.other, &other) {
            blocks[k].push((o, &rows[k]));
        }
    }
    problem.add_contact(Contact {
        gap: touch.gap,
        size: touch.size,
        mu: touch.mu,
        mu_viscous: touch.mu_viscous,
        mu_spin: touch.mu_spin,
        mu_roll: touch.mu_roll,
        spin: if touch.mu_spin > 0.0 { &blocks[3] } else { &[] },
        roll_s: if touch.mu_roll > 0.0 { &blocks[4] } else { &[] },
        roll_t: if touch.mu_roll > 0.0 { &blocks[5] } else { &[] },
        ..Contact::new(&blocks[0], &blocks[1], &blocks[2])
    })
}

/// Drumwright's grasp: a row of `n` unit cubes of 1 kg along x, squeezed by a gripper (a cube too) at each end with 100 n newtons; gravity acts on
/// the cubes but not on the grippers. Prismatic joints along x tie gripper to gripper and the first gripper to the first block (5 rows each). Every
/// face pair gives its four corners three times: 12 (n + 1) contacts, all with the coefficient `mu`.
///
/// The whole is free, so it must fall together with acceleration `g n/(n + 2)`. Bodies: gripper, blocks, gripper.
///
/// Reference: [Drumwright15, §VII-A].
///
/// # Errors
/// If `mu` or `dt` is out of range.
pub fn grasp(n: usize, mu: f64, dt: f64) -> Result<ContactProblem, InputError> {
    const GRAVITY: f64 = 9.81;
    let mut bodies: Vec<Body> = (0..n + 2).map(|k| Body::cuboid(1.0, [1.0; 3], [k as f64, 0.0, 0.0])).collect();
    let squeeze = 100.0 * n as f64;
    bodies[0].force = [squeeze, 0.0, 0.0];
    bodies[n + 1].force = [-squeeze, 0.0, 0.0];
    bodies[1..=n].iter_mut().for_each(|b| b.force = [0.0, 0.0, -GRAVITY * b.mass]);
    let mut touches = Vec::new();
    for face in 0..=n {
        for _ in 0..3 {
            for (y, z) in [(0.5, 0.5), (0.5, -0.5), (-0.5, -0.5), (-0.5, 0.5)] {
                let point = [face as f64 + 0.5, y, z];
                touches.push(Touch { mu, ..Touch::new(face + 1, Some(face), point, [1.0, 0.0, 0.0]) });
            }
        }
    }
    let mut problem = assemble(&bodies, &touches, dt)?;
    add_prismatic(&mut problem, &bodies, 0, n + 1)?;
    if n > 0 {
        add_prismatic(&mut problem, &bodies, 0, 1)?;
    }
    Ok(problem)
}

/// Ties two bodies so that they can only slide along x: no relative rotation, no relative velocity across at the second's centre.
fn add_prismatic(problem: &mut ContactProblem, bodies: &[Body], a: usize, b: usize) -> Result<(), InputError> {
    let minus = |x: [f64; 6]| x.map(|x| -x);
    for k in 0..3 {
        let mut turn = [0.0; 6];
        turn[3 + k] = 1.0;
        problem.add_bilateral(&[(a, &minus(turn)), (b, &turn)], 0.0, 0.0)?;
    }
    for k in 1..3 {
        let mut direction = [0.0; 3];
        direction[k] = 1.0;
        let at = bodies[b].centre;
        let (row_a, row_b) = (point_row(at, bodies[a].centre, direction), point_row(at, bodies[b].centre, direction));
        problem.add_bilateral(&[(a, &minus(row_a)), (b, &row_b)], 0.0, 0.0)?;
    }
    Ok(())
}

/// A cylindrical peg in a hole: `n` contacts in rings of four along the peg, normals towards its axis, a random wrench and twist.
/// One body, so six degrees of freedom whatever n; every row differs.
///
/// Reference: [Lloyd04, §6.1].
///
/// # Errors
/// If `mu` is out of range.
pub fn peg_in_hole(n: usize, mu: f64, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let (radius, length) = (0.05, 0.2);
    let mut body = Body::cuboid(1.0, [2.0 * radius, 2.0 * radius, length], [0.0; 3]);
    body.force = random_vector(&mut rng, 10.0);
    body.moment = random_vector(&mut rng, 1.0);
    let rings = n.div_ceil(4).max(1);
    let touches: Vec<Touch> = (0..n)
        .map(|i| {
            let (ring, k) = (i / 4, i % 4);
            let height = length * ((ring as f64 + 0.5) / rings as f64 - 0.5);
            // A rational point of the unit circle, turned a little more on every ring.
            let slope = 0.4 * (ring as f64 + 1.0) / rings as f64;
            let (c, s) = ((1.0 - slope * slope) / (1.0 + slope * slope), 2.0 * slope / (1.0 + slope * slope));
            let (c, s) = [(c, s), (-s, c), (-c, -s), (s, -c)][k];
            Touch { mu, size: 2.0 * radius, ..Touch::new(0, None, [radius * c, radius * s, height], [-c, -s, 0.0]) }
        })
        .collect();
    assemble(&[body], &touches, 1e-3)
}

/// One body held in a bowl by `n` contacts at random points, all different: six degrees of freedom whatever n.
///
/// # Errors
/// If a coefficient is out of range.
pub fn body_in_bowl(n: usize, mu: f64, mu_viscous: f64, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let mut body = Body::cuboid(1.0, [0.8, 1.0, 1.2], [0.0; 3]);
    body.force = [rng.normal(), rng.normal(), -9.81];
    body.v = random_vector(&mut rng, 0.1);
    body.omega = random_vector(&mut rng, 0.1);
    let touches: Vec<Touch> = (0..n)
        .map(|_| {
            let out = unit([rng.normal(), rng.normal(), -0.2 - rng.uniform()]);
            let lean = unit([out[0] + 0.2 * rng.normal(), out[1] + 0.2 * rng.normal(), out[2]]);
            Touch { mu, mu_viscous, ..Touch::new(0, None, out.map(|x| 0.5 * x), lean.map(|x| -x)) }
        })
        .collect();
    assemble(&[body], &touches, 1e-3)
}

/// One body on a level floor with `n` contacts at random places under it, pushed and moving at random. Without slip its normals are left to find, where
/// contacts with several normals would hold it fast.
///
/// # Errors
/// None that a caller can cause.
pub fn body_on_floor(n: usize, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let mut body = Body::cuboid(1.0, [0.8, 1.0, 1.2], [0.0; 3]);
    (body.v, body.omega) = (random_vector(&mut rng, 0.1), random_vector(&mut rng, 0.1));
    (body.force, body.moment) = (random_vector(&mut rng, 1.0), random_vector(&mut rng, 1.0));
    body.force[2] -= 9.81;
    let touches: Vec<Touch> = (0..n)
        .map(|_| {
            let [x, y] = [rng.uniform() - 0.5, rng.uniform() - 0.5];
            Touch::new(0, None, [0.8 * x, y, -0.6], [0.0, 0.0, 1.0])
        })
        .collect();
    assemble(&[body], &touches, 1e-3)
}

/// What a random problem may contain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// Most bodies.
    pub bodies: usize,
    /// Most contacts, before duplicates.
    pub contacts: usize,
    /// Coulomb coefficients: 0, uniform to 1, or up to 1e3.
    pub coulomb: bool,
    /// With `coulomb`: some contacts have infinite coefficients.
    pub infinite: bool,
    /// Moments about normals and against rolling, in half of the problems; the rest of a problem is the same as without.
    pub moments: bool,
    /// Viscous coefficients from 1e-3 to 1e3.
    pub viscous: bool,
    /// Some contacts are only predicted: gaps above 0.
    pub gaps: bool,
    /// Bilateral rows between bodies, also redundant ones, with target 0.
    pub bilaterals: bool,
    /// Unilateral rows.
    pub limits: bool,
    /// Bounded rows.
    pub bounded: bool,
    /// Velocity products, targets and bounces, which can make a problem infeasible.
    pub rates: bool,
}

impl Recipe {
    /// Contacts alone, touching, without friction.
    pub const PLAIN: Self = Self {
        bodies: 4,
        contacts: 20,
        coulomb: false,
        infinite: false,
        moments: false,
        viscous: false,
        gaps: false,
        bilaterals: false,
        limits: false,
        bounded: false,
        rates: false,
    };
}

/// A random problem: stacks and heaps of bodies at rest or in motion, faces with redundant and repeated points, mass ratios up to 1e6, metres or
/// millimetres.
///
/// # Errors
/// None for the recipes here; those of [`ContactProblem`] if a number overflows.
pub fn random(recipe: &Recipe, seed: u64) -> Result<ContactProblem, InputError> {
    let mut rng = Rng::new(seed);
    let length = if rng.chance(0.3) { 1e3 } else { 1.0 };
    let decades = if rng.chance(0.5) { 0.5 } else { 3.0 };
    let rest = rng.chance(0.4);
    let bodies: Vec<Body> =
        (0..1 + rng.below(recipe.bodies)).map(|k| random_body(&mut rng, k, length, decades, rest)).collect();
    let mut touches: Vec<Touch> = Vec::new();
    let most = 1 + rng.below(recipe.contacts);
    while touches.len() < most {
        random_face(&mut rng, recipe, &bodies, length, &mut touches);
    }
    if recipe.moments {
        add_random_moments(&mut Rng::new(!seed), length, &mut touches);
    }
    if rng.chance(0.3) {
        let copies: Vec<Touch> = touches.iter().filter(|_| rng.chance(0.3)).copied().collect();
        touches.extend(copies);
    }
    let mut problem = assemble(&bodies, &touches, if rng.chance(0.5) { 1e-3 } else { 1e-2 })?;
    if recipe.rates {
        problem = with_rates(&mut rng, &bodies, &touches, &problem)?;
    }
    add_random_rows(&mut rng, recipe, &bodies, length, &mut problem)?;
    Ok(problem)
}

/// A random problem in sustained contact: as [`random`], but the velocities satisfy `N v = 0` at every touching contact and `J v = 0`, so bodies
/// slide, roll and turn on each other without parting. Velocities that are nothing but rounding afterwards are 0.
///
/// # Errors
/// As [`random`]'s.
pub fn random_sliding(recipe: &Recipe, seed: u64) -> Result<ContactProblem, InputError> {
    /// Part of its speed that a body must keep to count as moving.
    const SPEED_ROUNDING: f64 = 1e-9;
    let mut problem = random(recipe, seed)?;
    let (mass, layout) = (problem.mass(), problem.layout());
    let whiten = |x: &mut [f64]| (0..layout.blocks()).for_each(|b| mass.solve_factor(b, &mut x[layout.range(b)]));
    let mut held = FindIndices::default();
    let contacts = problem.contacts();
    let joints = &problem.bilaterals().rows;
    held.reset(problem.m(), contacts.len() + joints.len());
    let mut add = |rows: &Rows, i: usize| {
        let mut g = vec![0.0; layout.m()];
        rows.add_transposed(i, 1.0, &mut g);
        whiten(&mut g);
        held.add(&g, 0.0);
    };
    (0..joints.len()).for_each(|j| add(joints, j));
    (0..contacts.len()).filter(|&i| contacts.touches(i)).for_each(|i| add(&contacts.normal, i));
    let mut x = problem.v().to_vec();
    for b in 0..layout.blocks() {
        mass.mul_factor_transposed(b, &mut x[layout.range(b)]);
    }
    let before = x.clone();
    held.project_out(&mut x);
    for b in 0..layout.blocks() {
        let range = layout.range(b);
        if norm(&x[range.clone()]) <= SPEED_ROUNDING * norm(&before[range.clone()]) {
            x[range.clone()].fill(0.0);
        }
        mass.solve_factor_transposed(b, &mut x[range]);
    }
    let force = problem.force().to_vec();
    problem.set_motion(&x, &force)?;
    Ok(problem)
}

fn random_vector(rng: &mut Rng, scale: f64) -> Vec3 {
    [scale * rng.normal(), scale * rng.normal(), scale * rng.normal()]
}

fn random_body(rng: &mut Rng, k: usize, length: f64, decades: f64, rest: bool) -> Body {
    let sides = [0.2 + rng.uniform(), 0.2 + rng.uniform(), 1.0].map(|x| x * length);
    let mut body = Body::cuboid(rng.scale(decades), sides, [0.0, 0.0, length * (k as f64 + 0.5)]);
    if !rest {
        body.v = random_vector(rng, length);
        body.omega = random_vector(rng, 1.0);
    }
    body.force = [0.0, 0.0, -9.81 * length * body.mass];
    if rng.chance(0.5) {
        let push = random_vector(rng, 5.0 * length * body.mass);
        body.force = [body.force[0] + push[0], body.force[1] + push[1], body.force[2] + push[2]];
        body.moment = random_vector(rng, length * length * body.mass);
    }
    body
}

/// A face of one to eight points: a body on the one below it or on the floor, at a wall, or anywhere.
fn random_face(rng: &mut Rng, recipe: &Recipe, bodies: &[Body], length: f64, touches: &mut Vec<Touch>) {
    let body = rng.below(bodies.len());
    let other = body.checked_sub(1).filter(|_| rng.chance(0.8));
    let height = body as f64 * length;
    let (normal, spread) = match rng.below(4) {
        0 => (unit(random_vector(rng, 1.0)), true),
        1 => ([1.0, 0.0, 0.0], false),
        _ => ([0.0, 0.0, 1.0], false),
    };
    let mu = match rng.below(5) {
        _ if !recipe.coulomb => 0.0,
        0 | 1 if recipe.infinite => f64::INFINITY,
        0 => 0.0,
        1 => rng.scale(3.0),
        _ => rng.uniform(),
    };
    let mu_viscous = if recipe.viscous { rng.scale(3.0) } else { 0.0 };
    let (gapped, gap) = (recipe.gaps && rng.chance(0.3), length * 1e-3 * rng.uniform());
    for _ in 0..[1, 2, 4, 8][rng.below(4)] {
        let mut point = if spread {
            random_vector(rng, 0.5 * length)
        } else if normal[2] == 1.0 {
            [0.5 * length * (rng.below(3) as f64 - 1.0), 0.5 * length * (rng.below(3) as f64 - 1.0), 0.0]
        } else {
            [-0.5 * length, 0.5 * length * (rng.below(3) as f64 - 1.0), length * rng.uniform()]
        };
        point[2] += height;
        let gap = if gapped { gap } else { 0.0 };
        touches.push(Touch { mu, mu_viscous, gap, size: length, ..Touch::new(body, other, point, normal) });
    }
}

/// Gives touches moments, in half of all cases: most of a lever arm up to a tenth of the length, some up to many times that.
fn add_random_moments(rng: &mut Rng, length: f64, touches: &mut [Touch]) {
    if rng.chance(0.5) {
        return;
    }
    for touch in touches {
        for mu in [&mut touch.mu_spin, &mut touch.mu_roll] {
            *mu = length
                * match rng.below(4) {
                    0 => 0.0,
                    1 => 0.1 * rng.scale(3.0),
                    _ => 0.1 * rng.uniform(),
                };
        }
    }
}

/// The same contacts with velocity products and bounces.
fn with_rates(
    rng: &mut Rng,
    bodies: &[Body],
    touches: &[Touch],
    problem: &ContactProblem,
) -> Result<ContactProblem, InputError> {
    let mut out = assemble(bodies, &[], problem.dt())?;
    let all = problem.contacts();
    for (i, touch) in touches.iter().enumerate() {
        let row = |rows: &Rows| rows.row(i).map(|(b, x)| (b, x.to_vec())).collect::<Vec<_>>();
        fn blocks(row: &[(usize, Vec<f64>)]) -> Vec<(usize, &[f64])> {
            row.iter().map(|(b, x)| (*b, &x[..])).collect()
        }
        let rows = all.rows().map(row);
        let [n, s, t, spin, roll_s, roll_t] = rows.each_ref().map(|row| blocks(row));
        out.add_contact(Contact {
            gap: touch.gap,
            size: touch.size,
            mu: touch.mu,
            mu_viscous: touch.mu_viscous,
            mu_spin: touch.mu_spin,
            mu_roll: touch.mu_roll,
            spin: &spin,
            roll_s: &roll_s,
            roll_t: &roll_t,
            rate: random_vector(rng, touch.size),
            bounce: if rng.chance(0.3) { touch.size * rng.uniform() } else { 0.0 },
            ..Contact::new(&n, &s, &t)
        })?;
    }
    Ok(out)
}

fn add_random_rows(
    rng: &mut Rng,
    recipe: &Recipe,
    bodies: &[Body],
    length: f64,
    problem: &mut ContactProblem,
) -> Result<(), InputError> {
    let minus = |x: [f64; 6]| x.map(|x| -x);
    if recipe.bilaterals && rng.chance(0.6) {
        for _ in 0..1 + rng.below(3) {
            let (a, at, direction) =
                (rng.below(bodies.len()), random_vector(rng, length), unit(random_vector(rng, 1.0)));
            let row = point_row(at, bodies[a].centre, direction);
            let target = if recipe.rates && rng.chance(0.5) { 0.1 * length * rng.normal() } else { 0.0 };
            let repeats = 1 + rng.below(2);
            for _ in 0..repeats {
                match (0..bodies.len()).find(|&b| b != a && rng.chance(0.7)) {
                    Some(b) => {
                        let other = minus(point_row(at, bodies[b].centre, direction));
                        problem.add_bilateral(&[(a, &row), (b, &other)], 0.0, target)?;
                    }
                    None => problem.add_bilateral(&[(a, &row)], 0.0, target)?,
                }
            }
        }
    }
    let random_row = |rng: &mut Rng| {
        let (a, at, direction) = (rng.below(bodies.len()), random_vector(rng, length), unit(random_vector(rng, 1.0)));
        (a, point_row(at, bodies[a].centre, direction))
    };
    if recipe.limits && rng.chance(0.6) {
        for _ in 0..1 + rng.below(3) {
            let (a, row) = random_row(rng);
            let gap = if rng.chance(0.5) { 0.0 } else { 1e-3 * length * rng.uniform() };
            problem.add_limit(&[(a, &row)], gap, 0.0, 0.0)?;
        }
    }
    if recipe.bounded && rng.chance(0.6) {
        for _ in 0..1 + rng.below(3) {
            let (a, row) = random_row(rng);
            let most = 9.81 * length * bodies[a].mass * rng.scale(2.0);
            let (lo, hi) = [(-most, most), (0.0, most), (f64::NEG_INFINITY, most), (f64::NEG_INFINITY, f64::INFINITY)]
                [rng.below(4)];
            let target = if rng.chance(0.3) { length * rng.normal() } else { 0.0 };
            // A force without a bound must reach its target, which contacts may forbid.
            let reachable = (lo.is_finite() && hi.is_finite()) || recipe.rates;
            problem.add_bounded(&[(a, &row)], lo, hi, 0.0, if reachable { target } else { 0.0 })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grasp_has_the_papers_sizes() {
        let problem = grasp(2, 100.0, 1e-3).unwrap();
        assert_eq!((problem.m(), problem.contacts().len(), problem.bilaterals().rows.len()), (24, 36, 10));
        // Falling together satisfies every row.
        let mut v = vec![0.0; 24];
        (0..4).for_each(|b| v[6 * b + 2] = -3.0);
        let all = problem.contacts();
        for rows in [&all.normal, &all.tangent_s, &all.tangent_t, &problem.bilaterals().rows] {
            assert!((0..rows.len()).all(|i| rows.dot(i, &v).abs() < 1e-15));
        }
    }

    #[test]
    fn rigid_rotation_moves_no_contact_between_two_bodies() {
        let bodies = [Body::cuboid(1.0, [1.0; 3], [0.3, 0.0, 0.0]), Body::cuboid(2.0, [1.0; 3], [0.0, 0.7, 0.1])];
        let normal = unit([1.0, -2.0, 0.5]);
        let touch = Touch { mu_spin: 0.1, mu_roll: 0.1, ..Touch::new(1, Some(0), [0.2, 0.2, 0.2], normal) };
        let problem = assemble(&bodies, &[touch], 1.0).unwrap();
        let omega = [0.3, -0.4, 0.9];
        let v: Vec<f64> = bodies.iter().flat_map(|b| cross(omega, b.centre).into_iter().chain(omega)).collect();
        let all = problem.contacts();
        assert!(all.rows().iter().all(|rows| rows.dot(0, &v).abs() < 1e-15));
    }

    #[test]
    fn random_problems_are_valid_and_repeatable() {
        let recipe = Recipe {
            coulomb: true,
            viscous: true,
            gaps: true,
            bilaterals: true,
            limits: true,
            bounded: true,
            rates: true,
            ..Recipe::PLAIN
        };
        for seed in 0..200 {
            assert_eq!(random(&recipe, seed).unwrap(), random(&recipe, seed).unwrap());
        }
    }
}
