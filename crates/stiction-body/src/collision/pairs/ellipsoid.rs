//! An ellipsoid with everything else: one contact, where both surfaces have a common normal.
//!
//! With s(n) the separation along n, the normal is the unit vector for which it is greatest: s is then
//! the distance, or minus the least translation that takes the shapes apart. Of faces, edges and
//! corners those normals are closed forms or roots of one equation; of rims and other ellipsoids they
//! are found by Newton's method on the sphere.

use crate::collision::closest::Closest;
use crate::collision::ellipsoid::Ellipsoid;
use crate::collision::frame::{Frame, Query, Touch};
use crate::collision::pairs::round::Ball;
use crate::collision::polytope::{Edge, PolytopeRef};
use crate::collision::surface::{Spot, Tile};
use crate::collision::vector::Norm;
use crate::math::{Mat3, Vec3};

/// Most steps of Newton's method on the sphere, and halvings of one: 5 to 10 and none near the
/// solution; thin ellipsoids that are far away take more.
const STEPS: usize = 60;
const HALVINGS: usize = 30;

/// Increase of the separation beside what its slope promises that makes a step one worth taking.
const SUFFICIENT_INCREASE: f64 = 1e-4;

/// Rounding of a separation beside the lengths it is the difference of.
const ROUNDING: f64 = 1e-15;

/// Least eigenvalue of the step's matrix beside the greatest one. Radii of curvature of an ellipsoid
/// differ by the cube of the ratio of its half axes.
const SINGULAR: f64 = 1e-13;

/// Directions from which Newton's method starts; the greatest separation can be found from any of them
/// where shapes are apart, but where they overlap each may lead to another way out.
const STARTS: usize = 4;

/// The secant method on the angle of a rim: its first and longest steps (rad), and most steps.
const FIRST_TURN: f64 = 1e-3;
const LONGEST_TURN: f64 = 0.3;
const SECANT_STEPS: usize = 20;

/// A direction, and the separation along it.
#[derive(Debug, Clone, Copy)]
struct Axis {
    normal: Vec3,
    separation: f64,
}

impl Axis {
    const NONE: Self = Self { normal: Vec3::Z, separation: f64::NEG_INFINITY };

    fn better(self, other: Self) -> Self {
        if other.separation > self.separation { other } else { self }
    }

    /// As the point closest to the ellipsoid's centre of the first shape grown by the ellipsoid.
    fn closest(self, centre: Vec3) -> Closest {
        let Self { normal, separation } = self;
        Closest { point: centre - normal * separation, normal, distance: separation }
    }
}

/// A shape and an ellipsoid; `closest` gives, in the first shape's frame, the point closest to a centre of the
/// ellipsoid on the surface of the shape grown by the ellipsoid: there the pair is a point and a convex shape.
pub(crate) fn ellipsoid(
    first: &Frame,
    second: &Frame,
    radii: Vec3,
    query: &Query,
    out: &mut Vec<Touch>,
    closest: impl Fn(&Ellipsoid, Vec3) -> Option<Closest>,
) {
    let body = seen_from(first, second, radii);
    let mut centre = Ball::new(first, second.origin, 0.0, query);
    let Some(near) = closest(&body, centre.centre).filter(|near| near.distance <= query.limit()) else { return };
    // A turn moves the surface along the normal, unlike a ball's.
    let arm = first.rotation * -body.farthest(near.normal);
    centre.drift += near.normal * near.normal.dot(first.direction_to_local(query.drift.angular.cross(arm)));
    if let Some((near, gap)) = centre.meet_from(near, query, |p| closest(&body, p)) {
        let touch = centre.touch(first, &near, gap, 0);
        out.push(Touch { point: touch.point - first.rotation * body.farthest(near.normal), ..touch });
    }
}

/// An ellipsoid in the frame of another shape.
pub(crate) fn seen_from(first: &Frame, second: &Frame, radii: Vec3) -> Ellipsoid {
    Ellipsoid { axes: first.relative(second).rotation, radii }
}

/// The grown surface of a ball.
pub(crate) fn to_sphere(body: &Ellipsoid, centre: Vec3, radius: f64) -> Closest {
    let normal = body.normal_towards(centre);
    Axis { normal, separation: normal.dot(centre) - body.extent(normal) - radius }.closest(centre)
}

/// That of a capsule along z.
pub(crate) fn to_capsule(body: &Ellipsoid, centre: Vec3, half_length: f64, radius: f64) -> Closest {
    let end = Vec3::new(0.0, 0.0, half_length);
    let along = |normal: Vec3| Axis {
        normal,
        separation: normal.dot(centre) - half_length * normal.z.abs() - radius - body.extent(normal),
    };
    let mut best = along(body.normal_across(centre, Vec3::Z));
    for q in [centre - end, centre + end] {
        best = best.better(along(body.normal_towards(q)));
    }
    if best.separation < 0.0 {
        let others = [centre - end, centre + end].into_iter().filter_map(|q| body.other_normal_towards(q));
        best = others.chain(body.other_normal_across(centre, Vec3::Z)).map(along).fold(best, Axis::better);
    }
    best.closest(centre)
}

/// That of a cylinder along z.
pub(crate) fn to_cylinder(body: &Ellipsoid, centre: Vec3, half_length: f64, radius: f64) -> Closest {
    let across = |n: Vec3| Vec3::new(n.x, n.y, 0.0);
    let along = |normal: Vec3| {
        let extent = half_length * normal.z.abs() + radius * across(normal).norm() + body.extent(normal);
        Axis { normal, separation: normal.dot(centre) - extent }
    };
    let side = along(body.normal_across(centre, Vec3::Z));
    let mut best = along(Vec3::Z).better(along(-Vec3::Z)).better(side);
    if best.separation < 0.0 {
        best = body.other_normal_across(centre, Vec3::Z).map(along).into_iter().fold(best, Axis::better);
    }
    let foot = centre - body.farthest(best.normal);
    let over = if best.normal.z == 0.0 { foot.z.abs() <= half_length } else { across(foot).norm() <= radius };
    if over && best.separation > 0.0 {
        return best.closest(centre);
    }
    for z in [1.0, -1.0] {
        let slope = |n: Vec3| {
            let wide = across(n).norm();
            let spoke = across(n).unit_or_zero();
            let turn = Vec3::Z.cross(spoke);
            let rim = spoke * radius + Vec3::Z * (z * half_length);
            let curved = Mat3::from_cols(turn * turn.x, turn * turn.y, turn * turn.z) * (radius / wide);
            Slope {
                separation: n.dot(centre - rim) - body.extent(n),
                gradient: centre - rim - body.farthest(n),
                curvature_radii: curved + body.curvature_radii(n),
            }
        };
        let scale = centre.norm() + half_length + radius + body.radii.max_element();
        for start in [side.normal + Vec3::Z * z, side.normal + Vec3::Z * (0.1 * z), side.normal * 0.1 + Vec3::Z * z] {
            best = best.better(along(climb(start.unit_or_zero(), scale, slope)));
        }
        // Where the normal is nearly along the axis the rim turns faster than it.
        let spoke = across(best.normal).unit_or(side.normal);
        best = best.better(along(around_rim(body, centre - Vec3::Z * (z * half_length), radius, spoke)));
    }
    best.closest(centre)
}

/// The normal at the point of a circle about z that is closest to the ellipsoid, near the point at `spoke`: by the
/// secant method on the angle, with the normal at each point of the circle.
fn around_rim(body: &Ellipsoid, centre: Vec3, radius: f64, spoke: Vec3) -> Vec3 {
    let turn = Vec3::Z.cross(spoke);
    let at = |angle: f64| {
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let normal = body.normal_towards(centre - (spoke * cos + turn * sin) * radius);
        (normal, normal.dot(turn * cos - spoke * sin))
    };
    let mut last = (0.0, at(0.0));
    let mut here = (FIRST_TURN, at(FIRST_TURN));
    let mut best = if here.1.1.abs() < last.1.1.abs() { here } else { last };
    for _ in 0..SECANT_STEPS {
        let step = here.1.1 * (here.0 - last.0) / (here.1.1 - last.1.1);
        let next = here.0 - step.clamp(-LONGEST_TURN, LONGEST_TURN);
        if next.is_nan() || next == here.0 {
            break;
        }
        (last, here) = (here, (next, at(next)));
        if here.1.1.abs() < best.1.1.abs() {
            best = here;
        }
    }
    best.1.0
}

/// That of another ellipsoid, along the axes.
pub(crate) fn to_ellipsoid(body: &Ellipsoid, centre: Vec3, radii: Vec3) -> Closest {
    let own = Ellipsoid { axes: Mat3::IDENTITY, radii };
    let along =
        |normal: Vec3| Axis { normal, separation: normal.dot(centre) - own.extent(normal) - body.extent(normal) };
    let slope = |n: Vec3| Slope {
        separation: along(n).separation,
        gradient: centre - own.farthest(n) - body.farthest(n),
        curvature_radii: own.curvature_radii(n) + body.curvature_radii(n),
    };
    let scale = centre.norm() + radii.max_element() + body.radii.max_element();
    let mut starts = [Axis::NONE; STARTS];
    let mut add = |n: Vec3| {
        let new = along(n);
        if let Some(k) = starts.iter().position(|s| new.separation > s.separation) {
            starts[k..].rotate_right(1);
            starts[k] = new;
        }
    };
    add(centre.unit_or(Vec3::Z));
    add(own.normal_towards(centre));
    add(body.normal_towards(centre));
    for axes in [own.axes, body.axes] {
        for axis in [axes.x_axis, axes.y_axis, axes.z_axis] {
            add(if axis.dot(centre) < 0.0 { -axis } else { axis });
            add(if axis.dot(centre) < 0.0 { axis } else { -axis });
        }
    }
    let mut best = Axis::NONE;
    for start in starts {
        best = best.better(along(climb(start.normal, scale, slope)));
        if best.separation > 0.0 {
            break;
        }
    }
    best.closest(centre)
}

/// That of a convex polytope.
pub(crate) fn to_polytope(body: &Ellipsoid, centre: Vec3, polytope: PolytopeRef) -> Closest {
    let (mut best, mut nearest) = (Axis::NONE, 0);
    let mut look = |i: usize| {
        let face = &polytope.faces[i];
        let separation = face.normal.dot(centre) - face.offset - body.extent(face.normal);
        if separation > best.separation {
            (best, nearest) = (Axis { normal: face.normal, separation }, i);
        }
        best.separation
    };
    let mut apart = false;
    polytope.faces_below(centre, 0.0, |i, _| apart |= look(i) > 0.0);
    if !apart {
        (0..polytope.faces.len()).for_each(|i| _ = look(i));
    }
    let lowest = centre - body.farthest(best.normal);
    if best.separation > 0.0 && polytope.projects_inside(nearest, lowest) {
        return best.closest(centre);
    }
    // For a normal n of an edge or corner at p, s(n) ≤ n · (x − p) with any point x of the ellipsoid, and
    // that is at most the greatest height of x above the faces there, if all are negative.
    let bound = best.separation.min(0.0);
    let height = |face: u32| {
        let face = &polytope.faces[face as usize];
        face.normal.dot(lowest) - face.offset
    };
    let may = |face: u32| height(face) > bound;
    // With c the least cosine between a vector and the faces' normals, n is a sum of these with factors whose sum is at most 1 / c.
    let beats = |faces: &mut dyn Iterator<Item = u32>, cosine: f64, best: f64| {
        faces.map(height).fold(f64::NEG_INFINITY, f64::max) > if best > 0.0 { best * cosine.max(0.0) } else { best }
    };
    let mut look_at_edge = |edge: &Edge| {
        let [p, q] = edge.vertices.map(|v| polytope.vertices[v as usize]);
        let [m, n] = edge.faces.map(|f| polytope.faces[f as usize].normal);
        if !beats(&mut edge.faces.into_iter(), 0.5 * (m + n).norm(), best.separation) {
            return;
        }
        let along = (q - p).unit_or_zero();
        let along = if along.dot(m.cross(n)) < 0.0 { -along } else { along };
        let mut add = |normal: Vec3| {
            let separation = normal.dot(centre - p) - body.extent(normal);
            let between = along.dot(m.cross(normal)) >= 0.0 && along.dot(normal.cross(n)) >= 0.0;
            if separation > best.separation && between {
                best = Axis { normal, separation };
            }
            best.separation
        };
        if add(body.normal_across(centre - p, along)) < 0.0 {
            body.other_normal_across(centre - p, along).map(add);
        }
    };
    match polytope.planes {
        // Each once: with the first of its faces that counts.
        Some(planes) => polytope.faces_below(lowest, bound, |i, _| {
            let edges = planes.edges_of(&polytope.faces[i]).iter().map(|e| &polytope.edges[*e as usize]);
            edges.filter(|edge| edge.faces.iter().find(|f| may(**f)) == Some(&(i as u32))).for_each(&mut look_at_edge)
        }),
        None => polytope.edges.iter().filter(|edge| edge.faces.iter().any(|f| may(*f))).for_each(look_at_edge),
    }
    polytope.faces_below(lowest, bound, |i, _| {
        for &v in &polytope.loops[polytope.faces[i].range()] {
            if polytope.around.is_some_and(|around| {
                let faces = || around.edges_at(v as usize).iter().flat_map(|e| polytope.edges[*e as usize].faces);
                let middle = faces().map(|f| polytope.faces[f as usize].normal).sum::<Vec3>().unit_or_zero();
                let cosine = faces().map(|f| polytope.faces[f as usize].normal.dot(middle)).fold(1.0, f64::min);
                !beats(&mut faces(), cosine, best.separation)
            }) {
                continue;
            }
            let p = polytope.vertices[v as usize];
            let mut add = |normal: Vec3| {
                let separation = normal.dot(centre - p) - body.extent(normal);
                if separation > best.separation && polytope.vertices.iter().all(|q| normal.dot(*q - p) <= 0.0) {
                    best = Axis { normal, separation };
                }
                best.separation
            };
            if add(body.normal_towards(centre - p)) < 0.0 {
                body.other_normal_towards(centre - p).map(add);
            }
        }
    });
    best.closest(centre)
}

/// That of a triangle of a surface, unless the surface is nearer elsewhere or the centre is behind by more
/// than `behind`.
pub(crate) fn to_tile(body: &Ellipsoid, centre: Vec3, tile: &Tile, behind: f64) -> Option<Closest> {
    let height = tile.height(centre);
    if height < -behind {
        return None;
    }
    let lowest = centre - body.farthest(tile.normal());
    if tile.is_over(lowest) {
        return Some(Axis { normal: tile.normal(), separation: tile.height(lowest) }.closest(centre));
    }
    if height < 0.0 || tile.is_smooth() {
        return None;
    }
    let mut best = Axis::NONE;
    let mut add = |normal: Vec3, corner: Vec3, spot: Spot| {
        let separation = normal.dot(centre - corner) - body.extent(normal);
        if separation > best.separation && tile.allowed(normal, spot) {
            best = Axis { normal, separation };
        }
    };
    for k in 0..3 {
        let (a, b) = (tile.corners[k], tile.corners[(k + 1) % 3]);
        add(body.normal_towards(centre - a), a, Spot::Corner(k));
        let along = (b - a).unit_or_zero();
        let normal = body.normal_across(centre - a, along);
        let foot = along.dot(centre - body.farthest(normal) - a);
        if foot > 0.0 && foot < (b - a).norm() {
            add(normal, a, Spot::Side(k));
        }
    }
    (best.separation > f64::NEG_INFINITY).then(|| best.closest(centre))
}

/// The separation along a direction n as a function of n, homogeneous of degree one.
struct Slope {
    separation: f64,
    /// Its gradient: between the points of the two surfaces whose normals are n.
    gradient: Vec3,
    /// Minus its second derivatives: the sum of both shapes' radii of curvature.
    curvature_radii: Mat3,
}

/// The direction with the greatest separation near `start`, by Newton's method on the sphere with a line
/// search. `scale` is the length that rounding is beside.
fn climb(start: Vec3, scale: f64, slope: impl Fn(Vec3) -> Slope) -> Vec3 {
    let across = |n: Vec3, v: Vec3| v - n * n.dot(v);
    let mut n = start;
    let mut here = slope(n);
    for _ in 0..STEPS {
        let gradient = across(n, here.gradient);
        let steepness = gradient.norm();
        if steepness.is_nan() || steepness <= ROUNDING * scale {
            break;
        }
        let step = uphill(n, &here, gradient);
        let promised = SUFFICIENT_INCREASE * gradient.dot(step);
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..HALVINGS {
            let next = (n + step * length).unit_or(n);
            let there = slope(next);
            let rises = there.separation > here.separation + length * promised;
            // Near the end the separation is even up to rounding, and only its slope tells.
            let ends = there.separation >= here.separation - ROUNDING * scale
                && across(next, there.gradient).norm() <= 0.5 * steepness;
            if rises || ends {
                found = Some((next, there));
                break;
            }
            length *= 0.5;
        }
        let Some((next, there)) = found else { break };
        (n, here) = (next, there);
    }
    n
}

/// Newton's step across n, with the matrix made positive definite where the separation is not concave.
fn uphill(n: Vec3, slope: &Slope, gradient: Vec3) -> Vec3 {
    let a = n.any_orthogonal_vector().unit_or(Vec3::X);
    let b = n.cross(a);
    let (ra, rb) = (slope.curvature_radii * a, slope.curvature_radii * b);
    let (mut p, q, mut r) = (a.dot(ra) + slope.separation, a.dot(rb), b.dot(rb) + slope.separation);
    let half = 0.5 * (p - r);
    let spread = (half * half + q * q).sqrt();
    let (least, most) = (0.5 * (p + r) - spread, 0.5 * (p + r) + spread);
    let floor = SINGULAR * most.abs().max(least.abs());
    if least < floor {
        // Minus the eigenvalue, so that the step leaves a saddle, and no longer than a turn allows.
        let shift = (-2.0 * least).max(floor - least).max(gradient.norm() - least);
        (p, r) = (p + shift, r + shift);
    }
    let determinant = p * r - q * q;
    let (x, y) = (a.dot(gradient), b.dot(gradient));
    a * ((r * x - q * y) / determinant) + b * ((p * y - q * x) / determinant)
}
