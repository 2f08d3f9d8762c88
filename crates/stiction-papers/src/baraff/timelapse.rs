//! Pictures of a planar simulation at several times, as the paper's figures show its mechanisms.

use std::fmt::Write;

use stiction_body::math::{Pose, Vec3};
use stiction_body::{JointKind, ShapeKind};
use stiction_sim::Simulation;

/// A point of the plane (x, z), in metres.
type Point = [f64; 2];

/// What part of the plane is shown, and how bodies are coloured.
pub(super) struct View {
    /// Least and greatest x (m).
    pub x: [f64; 2],
    /// Least and greatest z (m).
    pub z: [f64; 2],
    /// Beginnings of bodies' names and the class they are drawn with, from back to front; fixed bodies are drawn first, with ink.
    pub levels: &'static [(&'static str, &'static str)],
    /// Pictures beside each other.
    pub columns: usize,
}

/// A mechanism at one time.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// When (s).
    time: f64,
    /// Classes and outlines, from back to front.
    shapes: Vec<(&'static str, Vec<Point>)>,
    /// Hinges.
    hinges: Vec<Point>,
    /// Contacts with a force.
    contacts: Vec<Point>,
}

/// Width of one picture, room around it, and height of the line below it.
const WIDTH: f64 = 230.0;
const ROOM: f64 = 10.0;
const CAPTION: f64 = 22.0;
/// Points of a circle.
const ROUND: usize = 32;

impl Frame {
    /// The simulation as it stands.
    pub(super) fn of(simulation: &mut Simulation, view: &View) -> Self {
        let contacts = forces(simulation);
        let (time, world) = (simulation.state().t, simulation.world().clone());
        let work = simulation.kinematics();
        let pose = |link: Option<usize>| link.map_or(Pose::identity(), |l| work.pose[l]);
        let mut shapes: Vec<(usize, &'static str, Vec<Point>)> = Vec::new();
        for geom in &world.geoms {
            let name = geom.link.map(|link| world.model.links()[link].spec.name.as_str());
            let level = name.map(|name| view.levels.iter().position(|(start, _)| name.starts_with(start)));
            let (order, class) = match level {
                None => (0, "ink solid"),
                Some(Some(k)) => (k + 1, view.levels[k].1),
                Some(None) => continue,
            };
            let place = pose(geom.link) * geom.pose;
            shapes.push((
                order,
                class,
                hull(outline(geom.shape.kind()).into_iter().map(|p| flat(place * p)).collect()),
            ));
        }
        shapes.sort_by_key(|(order, _, _)| *order);
        let turns = |kind: &JointKind| matches!(kind, JointKind::Revolute { .. } | JointKind::Continuous { .. });
        let links = world.model.links().iter().enumerate();
        let mut hinges: Vec<Point> =
            links.filter(|(_, l)| turns(&l.spec.kind)).map(|(i, _)| flat(work.pose[i].translation)).collect();
        hinges.extend(world.model.loops().iter().map(|l| flat((pose(l.a) * l.frame_a).translation)));
        let shapes = shapes.into_iter().map(|(_, class, points)| (class, points)).collect();
        Self { time, shapes, hinges, contacts }
    }
}

/// Where contacts push.
fn forces(simulation: &Simulation) -> Vec<Point> {
    let Some(impulses) = simulation.impulses() else { return Vec::new() };
    let pushes = simulation.contacts().iter().zip(&impulses.normal).filter(|(_, p)| **p > 0.0);
    pushes.map(|(contact, _)| flat(contact.point)).collect()
}

fn flat(p: Vec3) -> Point {
    [p.x, p.z]
}

/// Points whose convex hull, seen along y, is the shape.
fn outline(kind: &ShapeKind) -> Vec<Vec3> {
    let signs = [-1.0, 1.0];
    let ring = |radius: f64, height: f64, round: bool| {
        (0..ROUND).flat_map(move |k| {
            let angle = std::f64::consts::TAU * k as f64 / ROUND as f64;
            let (c, s) = (radius * libm::cos(angle), radius * libm::sin(angle));
            // Of a ball a circle in the plane of the picture, of a cylinder the rim.
            if round { [Vec3::new(c, 0.0, height + s); 2] } else { [Vec3::new(c, s, height); 2] }
        })
    };
    match kind {
        ShapeKind::Sphere { radius } => ring(*radius, 0.0, true).collect(),
        ShapeKind::Cuboid { half } => {
            let corner = |x: f64, y: f64, z: f64| Vec3::new(x * half.x, y * half.y, z * half.z);
            signs.iter().flat_map(|x| signs.iter().flat_map(move |y| signs.map(|z| corner(*x, *y, z)))).collect()
        }
        ShapeKind::Capsule { half_length, radius } => {
            ring(*radius, *half_length, true).chain(ring(*radius, -half_length, true)).collect()
        }
        ShapeKind::Cylinder { half_length, radius } => {
            ring(*radius, *half_length, false).chain(ring(*radius, -half_length, false)).collect()
        }
        ShapeKind::Ellipsoid { radii } => ring(1.0, 0.0, true).map(|p| p * *radii).collect(),
        ShapeKind::Hull { points } => points.clone(),
        ShapeKind::Mesh { vertices, .. } => vertices.clone(),
        ShapeKind::HeightField { .. } | ShapeKind::HalfSpace => Vec::new(),
    }
}

/// The convex hull, counterclockwise.
fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    let turn = |a: Point, b: Point, c: Point| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let half = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for p in points {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0.0 {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut all = half(&mut points.iter().copied());
    all.extend(half(&mut points.iter().rev().copied()));
    all
}

/// The frames beside each other, in rows; an `<svg>` element with the classes of the report.
pub(super) fn picture(frames: &[Frame], view: &View) -> String {
    let scale = WIDTH / (view.x[1] - view.x[0]);
    let height = (view.z[1] - view.z[0]) * scale;
    let (cell_x, cell_y) = (WIDTH + ROOM, height + CAPTION + ROOM);
    let rows = frames.len().div_ceil(view.columns);
    let (width, tall) = (ROOM + cell_x * view.columns as f64, ROOM + cell_y * rows as f64);
    let mut svg = format!("<svg viewBox=\"0 0 {width:.0} {tall:.0}\" role=\"img\" aria-label=\"time-lapse picture\">");
    for (k, frame) in frames.iter().enumerate() {
        let (left, top) = (ROOM + cell_x * (k % view.columns) as f64, ROOM + cell_y * (k / view.columns) as f64);
        let place = |p: &Point| (left + (p[0] - view.x[0]) * scale, top + (view.z[1] - p[1]) * scale);
        for (class, points) in frame.shapes.iter().filter(|(_, points)| !points.is_empty()) {
            let corners: Vec<String> = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = write!(svg, "<polygon class=\"{class}\" stroke-width=\"0.8\" points=\"{}\"/>", corners.join(" "));
        }
        for (class, radius, points) in [("ink hollow", 3.2, &frame.hinges), ("ink fill-3", 2.4, &frame.contacts)] {
            for (x, y) in points.iter().map(place) {
                let _ = write!(
                    svg,
                    "<circle class=\"{class}\" stroke-width=\"0.8\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"
                );
            }
        }
        let (x, y) = (left + 0.5 * WIDTH, top + height + 15.0);
        let _ = write!(
            svg,
            "<text class=\"ink\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{:.2} s</text>",
            frame.time
        );
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_convex_and_of_the_right_size() {
        let square = outline(&ShapeKind::Cuboid { half: Vec3::new(1.0, 5.0, 2.0) });
        let corners = hull(square.into_iter().map(flat).collect());
        assert_eq!(corners, [[-1.0, -2.0], [1.0, -2.0], [1.0, 2.0], [-1.0, 2.0]]);
        let area = |p: &[Point]| {
            let next = p.iter().cycle().skip(1);
            p.iter().zip(next).map(|(a, b)| 0.5 * (a[0] * b[1] - a[1] * b[0])).sum::<f64>()
        };
        let pill = hull(outline(&ShapeKind::Capsule { half_length: 1.0, radius: 0.5 }).into_iter().map(flat).collect());
        let exact = 2.0 + std::f64::consts::PI * 0.25;
        assert!((area(&pill) / exact - 1.0).abs() < 0.01, "{}", area(&pill));
        assert!(hull(Vec::new()).is_empty() && hull(vec![[1.0, 1.0]; 3]).len() <= 1);
    }
}
