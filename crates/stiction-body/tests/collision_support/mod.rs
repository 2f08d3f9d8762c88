//! Free bodies with one geom each, placed and moved at will.
#![allow(dead_code, reason = "each test file uses its part")]

use stiction_body::math::{Pose, Quat, Vec3, axis_angle};
use stiction_body::{
    Collision, CollisionRules, ContactPoint, Geom, Inertia, LinkMotion, LinkSpec, Margin, Model, ModelBuilder, Shape,
    ShapeKind, Workspace,
};

/// A scene: shapes of the world and of free bodies.
pub struct Scene {
    pub model: Model,
    pub collision: Collision,
    pub work: Workspace,
    pub motion: Vec<LinkMotion>,
}

impl Scene {
    /// Bodies (at their poses, in order) after the world's shapes.
    pub fn new(world: &[(Shape, Pose)], bodies: &[(Shape, Pose)]) -> Self {
        Self::with_rules(world, bodies, CollisionRules::default())
    }

    pub fn with_rules(world: &[(Shape, Pose)], bodies: &[(Shape, Pose)], rules: CollisionRules) -> Self {
        let mut builder = ModelBuilder::default();
        for i in 0..bodies.len() {
            builder.add(LinkSpec::free(format!("b{i}"), Inertia::sphere(1.0, 1.0))).unwrap();
        }
        let (model, _) = builder.build().unwrap();
        let mut geoms = Vec::new();
        for (shape, pose) in world {
            geoms.push(Geom::new("", None, *pose, shape.clone()));
        }
        for (i, (shape, _)) in bodies.iter().enumerate() {
            geoms.push(Geom::new("", Some(i), Pose::identity(), shape.clone()));
        }
        let collision = Collision::new(&model, geoms, rules).unwrap();
        let mut work = Workspace::default();
        work.pose = bodies.iter().map(|b| b.1).collect();
        Self { model, collision, work, motion: vec![LinkMotion::ZERO; bodies.len()] }
    }

    pub fn moving(mut self, body: usize, linear: Vec3, angular: Vec3) -> Self {
        self.motion[body] = LinkMotion { angular, linear };
        self
    }

    pub fn find(&mut self, dt: f64, margin: impl Into<Margin>) -> Vec<ContactPoint> {
        self.collision.find(&self.model, &self.work, &self.motion, dt, margin).to_vec()
    }

    /// The contacts where the bodies of another scene are.
    pub fn find_at(mut self, other: &Self, dt: f64, margin: impl Into<Margin>) -> Vec<ContactPoint> {
        (self.work, self.motion) = (other.work.clone(), other.motion.clone());
        self.find(dt, margin)
    }
}

/// Contacts of two free bodies.
pub fn touch(a: (&Shape, Pose), b: (&Shape, Pose), margin: f64) -> Vec<ContactPoint> {
    Scene::new(&[], &[(a.0.clone(), a.1), (b.0.clone(), b.1)]).find(0.0, margin)
}

pub fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(Vec3::new(x, y, z))
}

pub fn turned(x: f64, y: f64, z: f64, rotation: Vec3) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), axis_angle(rotation))
}

pub fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(Vec3::new(x, y, z)).unwrap()
}

pub fn sphere(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

pub fn capsule(half_length: f64, radius: f64) -> Shape {
    Shape::capsule(half_length, radius).unwrap()
}

pub fn cylinder(half_length: f64, radius: f64) -> Shape {
    Shape::cylinder(half_length, radius).unwrap()
}

/// The hull of a box's corners.
pub fn box_hull(x: f64, y: f64, z: f64) -> Shape {
    let corner = |c: i32| {
        Vec3::new(if c & 1 > 0 { x } else { -x }, if c & 2 > 0 { y } else { -y }, if c & 4 > 0 { z } else { -z })
    };
    Shape::hull((0..8).map(corner).collect()).unwrap()
}

/// Uniform numbers, the same every time.
pub struct Random(pub u64);

impl Random {
    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.within(-size, size), self.within(-size, size), self.within(-size, size))
    }

    pub fn rotation(&mut self) -> Quat {
        loop {
            let q = Quat::from_xyzw(
                self.within(-1.0, 1.0),
                self.within(-1.0, 1.0),
                self.within(-1.0, 1.0),
                self.within(-1.0, 1.0),
            );
            if q.length() > 0.1 && q.length() < 1.0 {
                return q.normalize();
            }
        }
    }

    pub fn pose(&mut self, size: f64) -> Pose {
        Pose::from_parts(self.vector(size), self.rotation())
    }
}

/// Sorted gaps.
pub fn gaps(contacts: &[ContactPoint]) -> Vec<f64> {
    let mut gaps: Vec<f64> = contacts.iter().map(|c| c.gap).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

/// True if some contact is at the point.
pub fn has_point(contacts: &[ContactPoint], point: Vec3, tolerance: f64) -> bool {
    contacts.iter().any(|c| (c.point - point).abs().max_element() <= tolerance)
}

/// A second pose for which the shapes are near each other.
pub fn near(random: &mut Random) -> Pose {
    let pose = random.pose(1.0);
    Pose::from_parts(pose.translation.normalize_or(Vec3::X) * random.within(0.4, 1.4), pose.rotation)
}

/// Shapes of every kind that is convex.
pub fn shapes() -> Vec<Shape> {
    let mut random = Random(17);
    let stone = (0..20).map(|_| random.vector(1.0).normalize() * random.within(0.3, 0.4)).collect();
    vec![
        sphere(0.3),
        cuboid(0.3, 0.4, 0.2),
        capsule(0.3, 0.15),
        cylinder(0.3, 0.25),
        Shape::hull(stone).unwrap(),
        box_hull(0.2, 0.5, 0.3),
    ]
}

/// How far a shape extends along n.
pub fn extent(shape: &Shape, n: Vec3) -> f64 {
    let across = (n.x * n.x + n.y * n.y).sqrt();
    match shape.kind() {
        ShapeKind::Sphere { radius } => *radius,
        ShapeKind::Cuboid { half } => half.dot(n.abs()),
        ShapeKind::Capsule { half_length, radius } => half_length * n.z.abs() + radius,
        ShapeKind::Cylinder { half_length, radius } => half_length * n.z.abs() + radius * across,
        ShapeKind::Ellipsoid { radii } => (*radii * n).length(),
        ShapeKind::Hull { points } => points.iter().map(|p| p.dot(n)).fold(f64::NEG_INFINITY, f64::max),
        _ => unreachable!(),
    }
}
