//! The problems: bodies, and the points where they touch.

use stiction_contact::models::coulomb_polyhedral::directions;
use stiction_contact::scenes::{Body, Touch, Vec3, assemble, unit};
use stiction_contact::{ContactProblem, InputError};
use stiction_lcp::generate::Rng;

const GRAVITY: f64 = 9.81;
const DT: f64 = 1e-2;
/// Friction coefficients are drawn from here.
const MU: [f64; 2] = [0.2, 0.3];

/// Bodies at rest and their contacts, to be pushed by random wrenches.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Name, in kebab case.
    pub name: String,
    /// The bodies, with their weight as force.
    pub bodies: Vec<Body>,
    /// Where they touch.
    pub touches: Vec<Touch>,
    /// The body that the wrench acts on.
    pub pushed: usize,
    /// Standard deviation of the wrench's forces (N) and moments (N m).
    pub wrench: [f64; 2],
}

impl Setting {
    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.touches.len()
    }

    /// The problem of a random wrench (normally distributed) and random friction coefficients (uniform in 0.2 to 0.3, one per contact).
    ///
    /// # Errors
    /// None for the settings here.
    pub fn problem(&self, seed: u64) -> Result<ContactProblem, InputError> {
        let mut rng = Rng::new(seed);
        let (mut bodies, mut touches) = (self.bodies.clone(), self.touches.clone());
        let body = &mut bodies[self.pushed];
        for k in 0..3 {
            body.force[k] += self.wrench[0] * rng.normal();
            body.moment[k] += self.wrench[1] * rng.normal();
        }
        touches.iter_mut().for_each(|touch| touch.mu = MU[0] + (MU[1] - MU[0]) * rng.uniform());
        assemble(&bodies, &touches, DT)
    }
}

/// A setting of one body of 1 kg with its centre at the origin that the world touches at these points.
fn one_body(name: &str, mut body: Body, down: Vec3, size: f64, points: &[(Vec3, Vec3)]) -> Setting {
    body.force = unit(down).map(|x| x * GRAVITY * body.mass);
    let touches = points.iter().map(|(point, normal)| Touch { size, ..Touch::new(0, None, *point, unit(*normal)) });
    let wrench = [GRAVITY, GRAVITY * size / 2.0];
    Setting { name: name.into(), bodies: vec![body], touches: touches.collect(), pushed: 0, wrench }
}

fn ball(radius: f64) -> Body {
    let inertia = 0.4 * radius * radius;
    Body { inertia: [inertia; 3], ..Body::cuboid(1.0, [radius; 3], [0.0; 3]) }
}

fn cylinder(radius: f64, length: f64) -> Body {
    let across = (3.0 * radius * radius + length * length) / 12.0;
    Body { inertia: [across, across, 0.5 * radius * radius], ..Body::cuboid(1.0, [radius, radius, length], [0.0; 3]) }
}

/// The peg of Fig. 4: n contacts, an even number, in turn at the top and the bottom of the hole and evenly spaced around it; no weight, a random
/// wrench at the centre.
pub fn peg_in_hole(n: usize) -> Setting {
    let (radius, depth) = (0.05, 0.2);
    let points: Vec<(Vec3, Vec3)> = directions(n)
        .into_iter()
        .enumerate()
        .map(|(j, [c, s])| {
            let height = if j % 2 == 0 { depth / 2.0 } else { -depth / 2.0 };
            ([radius * c, radius * s, height], [-c, -s, 0.0])
        })
        .collect();
    let mut setting = one_body("peg-in-hole", cylinder(radius, 1.5 * depth), [0.0, 0.0, -1.0], 2.0 * radius, &points);
    setting.bodies[0].force = [0.0; 3];
    setting
}

/// The ten single bodies, from 1 to 16 contacts.
pub fn single_bodies() -> Vec<Setting> {
    let (r, down, side) = (0.05, [0.0, 0.0, -1.0], 0.1);
    let half = side / 2.0;
    let cube = || Body::cuboid(1.0, [side; 3], [0.0; 3]);
    let on_ball = |normals: &[Vec3]| normals.iter().map(|n| (unit(*n).map(|x| -r * x), *n)).collect::<Vec<_>>();
    let floor = face(half, 2);
    let groove: Vec<_> = [0, 2].into_iter().flat_map(|k| face(half, k)).collect();
    let corner: Vec<_> = (0..3).flat_map(|k| face(half, k)).collect();
    let (mut other, turn) = (square(half, [0.0; 2], [1.0, 0.0]), directions(12)[1]);
    other.iter_mut().for_each(|p| *p = [turn[0] * p[0] - turn[1] * p[1] + 0.6 * half, turn[1] * p[0] + turn[0] * p[1]]);
    let overlap: Vec<_> = clip(&square(half, [0.0; 2], [1.0, 0.0]), &other)
        .into_iter()
        .map(|[x, y]| ([x, y, -half], [0.0, 0.0, 1.0]))
        .collect();
    // The rim is a circle of 0.6 of the ball's radius below its centre.
    let rim: Vec<_> = directions(10).into_iter().map(|[c, s]| [-0.6 * c, -0.6 * s, 0.8]).collect();
    let ring: Vec<_> = directions(14).into_iter().map(|[c, s]| ([r * c, r * s, -half], [0.0, 0.0, 1.0])).collect();
    vec![
        one_body("ball-on-floor", ball(r), down, 2.0 * r, &on_ball(&[[0.0, 0.0, 1.0]])),
        one_body("ball-in-groove", ball(r), down, 2.0 * r, &on_ball(&[[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]])),
        one_body(
            "ball-in-corner",
            ball(r),
            [-1.0, -1.0, -1.0],
            2.0 * r,
            &on_ball(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        ),
        one_body("block-on-floor", cube(), down, side, &floor),
        one_body("face-on-face", cube(), down, side, &overlap),
        one_body("block-in-groove", cube(), [-1.0, 0.0, -1.0], side, &groove),
        one_body("ball-in-rim", ball(r), down, 2.0 * r, &on_ball(&rim)),
        one_body("block-in-corner", cube(), [-1.0, -1.0, -1.0], side, &corner),
        one_body("disc-on-ring", cylinder(1.2 * r, side), down, 2.0 * r, &ring),
        Setting { name: "peg-in-hole".into(), ..peg_in_hole(16) },
    ]
}

/// The four corners of the cube's face against axis `k`, pushed back along the axis.
fn face(half: f64, k: usize) -> Vec<(Vec3, Vec3)> {
    let mut normal = [0.0; 3];
    normal[k] = 1.0;
    [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
        .into_iter()
        .map(|(a, b)| {
            let mut point = [0.0; 3];
            (point[k], point[(k + 1) % 3], point[(k + 2) % 3]) = (-half, a * half, b * half);
            (point, normal)
        })
        .collect()
}

/// How a block lies on the one below: shifted by this fraction of its side, and turned by an eighth of a circle or not.
#[derive(Debug, Clone, Copy)]
struct Lie {
    shift: [f64; 2],
    turned: bool,
}

const PLAIN: Lie = Lie { shift: [0.0, 0.0], turned: false };
const EAST: Lie = Lie { shift: [0.2, 0.1], turned: false };
const WEST: Lie = Lie { shift: [-0.15, -0.2], turned: false };
const TWISTED: Lie = Lie { shift: [0.0, 0.0], turned: true };

/// The ten stacks of one to five blocks with 4 to 32 contacts: the corners of the lowest block, and the corners of the polygon where two blocks
/// overlap (four if they are shifted, eight if one is turned by 45°). The wrench acts on the top block.
pub fn stacks() -> Vec<Setting> {
    let all: [(&str, &[Lie]); 10] = [
        ("one", &[PLAIN]),
        ("two-aligned", &[PLAIN, PLAIN]),
        ("two-twisted", &[PLAIN, TWISTED]),
        ("three-shifted", &[PLAIN, EAST, WEST]),
        ("three-one-twisted", &[PLAIN, TWISTED, PLAIN]),
        ("three-twisted", &[PLAIN, TWISTED, TWISTED]),
        ("four-shifted", &[PLAIN, EAST, WEST, EAST]),
        ("four-twisted", &[PLAIN, TWISTED, TWISTED, EAST]),
        ("five-shifted", &[PLAIN, EAST, WEST, EAST, WEST]),
        ("five-twisted", &[PLAIN, TWISTED, TWISTED, TWISTED, PLAIN]),
    ];
    all.into_iter().map(|(name, lies)| stack(name, lies)).collect()
}

fn stack(name: &str, lies: &[Lie]) -> Setting {
    let (side, height) = (0.2, 0.1);
    let (mut at, mut turned) = ([0.0; 2], false);
    let (mut bodies, mut touches) = (Vec::new(), Vec::new());
    let mut below: Option<Vec<[f64; 2]>> = None;
    for (k, lie) in lies.iter().enumerate() {
        at = [at[0] + side * lie.shift[0], at[1] + side * lie.shift[1]];
        turned ^= lie.turned;
        let own = square(side / 2.0, at, directions(8)[usize::from(turned)]);
        let mut body = Body::cuboid(1.0, [side, side, height], [at[0], at[1], height * (k as f64 + 0.5)]);
        body.force = [0.0, 0.0, -GRAVITY * body.mass];
        bodies.push(body);
        let overlap = below.as_ref().map_or_else(|| own.clone(), |below| clip(&own, below));
        touches.extend(overlap.iter().map(|[x, y]| {
            let point = [*x, *y, height * k as f64];
            Touch { size: height, ..Touch::new(k, k.checked_sub(1), point, [0.0, 0.0, 1.0]) }
        }));
        below = Some(own);
    }
    let pushed = bodies.len() - 1;
    Setting { name: name.into(), bodies, touches, pushed, wrench: [GRAVITY, GRAVITY * side / 2.0] }
}

/// The corners of a square, counterclockwise, its sides turned to `direction`.
fn square(half: f64, centre: [f64; 2], [c, s]: [f64; 2]) -> Vec<[f64; 2]> {
    [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
        .into_iter()
        .map(|(x, y)| [centre[0] + half * (c * x - s * y), centre[1] + half * (s * x + c * y)])
        .collect()
}

/// The corners of the intersection of two convex polygons, both counterclockwise: one cut by the sides of the other in turn. Corners closer than
/// rounding are one.
fn clip(polygon: &[[f64; 2]], by: &[[f64; 2]]) -> Vec<[f64; 2]> {
    const NEAR: f64 = 1e-9;
    let mut rest = polygon.to_vec();
    let size = by.iter().flatten().fold(0.0, |a: f64, x| a.max(x.abs()));
    for k in 0..by.len() {
        let (a, b) = (by[k], by[(k + 1) % by.len()]);
        // Positive inside.
        let side = |p: [f64; 2]| {
            let x = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
            if x.abs() <= NEAR * size * size { 0.0 } else { x }
        };
        let mut kept = Vec::new();
        for j in 0..rest.len() {
            let (p, q) = (rest[j], rest[(j + 1) % rest.len()]);
            let (x, y) = (side(p), side(q));
            if x >= 0.0 {
                kept.push(p);
            }
            if x * y < 0.0 {
                let t = x / (x - y);
                kept.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
            }
        }
        rest = kept;
    }
    let mut corners: Vec<[f64; 2]> = Vec::new();
    for p in rest {
        if corners.iter().all(|c| (c[0] - p[0]).hypot(c[1] - p[1]) > NEAR * size) {
            corners.push(p);
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_have_the_papers_sizes() {
        let singles: Vec<usize> = single_bodies().iter().map(Setting::contacts).collect();
        assert_eq!(singles, [1, 2, 3, 4, 6, 8, 10, 12, 14, 16]);
        let sizes: Vec<(usize, usize)> = stacks().iter().map(|s| (s.bodies.len(), s.contacts())).collect();
        assert_eq!(sizes, [(1, 4), (2, 8), (2, 12), (3, 12), (3, 16), (3, 20), (4, 16), (4, 24), (5, 20), (5, 32)]);
        for n in [8, 30, 32, 512] {
            assert_eq!(peg_in_hole(n).contacts(), n);
        }
    }

    #[test]
    fn normals_point_into_the_body() {
        for setting in single_bodies() {
            for touch in &setting.touches {
                let inwards: f64 = touch.normal.iter().zip(touch.point).map(|(n, p)| -n * p).sum();
                assert!(inwards > 0.0, "{}", setting.name);
            }
        }
    }
}
