//! Volume and inertia of shapes with uniform density; of hulls and meshes by sums over tetrahedra.

use std::f64::consts::PI;

use stiction_linalg::InputError;

use super::triangulation::fans;
use super::{Shape, ShapeKind};
use crate::collision::polytope::Polytope;
use crate::inertia::Inertia;
use crate::math::{Mat3, Vec3};

impl Shape {
    /// Volume (m³).
    ///
    /// # Errors
    /// If the shape has none: a half-space, a height field, a mesh that is not closed or whose triangles look inwards.
    pub fn volume(&self) -> Result<f64, InputError> {
        Ok(match &*self.kind {
            ShapeKind::Sphere { radius } => 4.0 / 3.0 * PI * radius * radius * radius,
            ShapeKind::Cuboid { half } => 8.0 * half.x * half.y * half.z,
            ShapeKind::Capsule { half_length, radius } => {
                PI * radius * radius * (2.0 * half_length + 4.0 / 3.0 * radius)
            }
            ShapeKind::Cylinder { half_length, radius } => PI * radius * radius * 2.0 * half_length,
            ShapeKind::Ellipsoid { radii } => 4.0 / 3.0 * PI * radii.x * radii.y * radii.z,
            ShapeKind::Hull { .. } | ShapeKind::Mesh { .. } => self.moments()?.volume,
            ShapeKind::HeightField { .. } => return Err(none("a height field", "it has no bottom")),
            ShapeKind::HalfSpace => return Err(none("a half-space", "it has no bounds")),
        })
    }

    /// Inertia of the shape in its own frame, filled evenly with `mass` (kg).
    ///
    /// # Errors
    /// If the mass cannot be computed with ([`crate::range`]), or as for [`Shape::volume`].
    pub fn inertia(&self, mass: f64) -> Result<Inertia, InputError> {
        crate::range::check("mass", mass)?;
        Ok(match &*self.kind {
            ShapeKind::Sphere { radius } => Inertia::sphere(mass, *radius),
            ShapeKind::Cuboid { half } => Inertia::cuboid(mass, *half * 2.0),
            ShapeKind::Capsule { half_length, radius } => Inertia::capsule(mass, *radius, 2.0 * half_length),
            ShapeKind::Cylinder { half_length, radius } => Inertia::cylinder(mass, *radius, 2.0 * half_length),
            ShapeKind::Ellipsoid { radii } => Inertia::ellipsoid(mass, *radii),
            _ => self.moments()?.inertia(mass)?,
        })
    }

    fn moments(&self) -> Result<Moments, InputError> {
        match &*self.kind {
            ShapeKind::Hull { points } => {
                let hull = Polytope::hull(points).ok_or_else(|| none("a hull", "its points span none"))?;
                Ok(Moments::new(&hull.vertices, fans(&hull)))
            }
            ShapeKind::Mesh { vertices, triangles } => {
                check_closed(vertices, triangles)?;
                let moments = Moments::new(vertices, triangles.iter().copied());
                if moments.volume > 0.0 {
                    return Ok(moments);
                }
                Err(none("a mesh", "its triangles look inwards, or it is flat"))
            }
            ShapeKind::HeightField { .. } => Err(none("a height field", "it has no bottom")),
            _ => Err(none("a half-space", "it has no bounds")),
        }
    }
}

fn none(shape: &str, reason: &str) -> InputError {
    InputError::Unsupported { solver: "volume", reason: format!("{shape} has no volume: {reason}") }
}

/// Volume, and first and second moments about a point near it.
struct Moments {
    about: Vec3,
    volume: f64,
    first: Vec3,
    /// ∫ x xᵀ
    second: Mat3,
}

impl Moments {
    /// Sums over the tetrahedra between the triangles and a point in their middle.
    fn new(vertices: &[Vec3], triangles: impl Iterator<Item = [u32; 3]>) -> Self {
        let about = vertices.iter().copied().sum::<Vec3>() / vertices.len().max(1) as f64;
        let mut out = Self { about, volume: 0.0, first: Vec3::ZERO, second: Mat3::ZERO };
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| vertices[v as usize] - about);
            let (volume, sum) = (a.dot(b.cross(c)) / 6.0, a + b + c);
            out.volume += volume;
            out.first += sum * (0.25 * volume);
            out.second += (square(a) + square(b) + square(c) + square(sum)) * (0.05 * volume);
        }
        out
    }

    fn inertia(&self, mass: f64) -> Result<Inertia, InputError> {
        let density = mass / self.volume;
        let com = self.first / self.volume;
        let second = self.second * density - square(com) * mass;
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        Inertia::new(mass, self.about + com, Mat3::from_diagonal(Vec3::splat(trace)) - second)
    }
}

/// x xᵀ
fn square(x: Vec3) -> Mat3 {
    Mat3::from_cols(x * x.x, x * x.y, x * x.z)
}

/// Every side must be met by as many triangles in one direction as in the other; vertices at the same place are one.
fn check_closed(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), InputError> {
    let key = |v: u32| vertices[v as usize].to_array().map(|x| (x + 0.0).to_bits());
    let mut sides: Vec<_> = Vec::with_capacity(3 * triangles.len());
    for (i, triangle) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (key(triangle[k]), key(triangle[(k + 1) % 3]));
            if a != b {
                sides.push((a.min(b), a.max(b), i, if a < b { 1 } else { -1 }));
            }
        }
    }
    sides.sort_unstable();
    for side in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        if side.iter().map(|s| s.3).sum::<i32>() != 0 {
            let reason =
                format!("it is not closed: triangle {} has a side that no other meets the other way", side[0].2);
            return Err(none("a mesh", &reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Pose, axis_angle};

    fn corners(half: Vec3) -> Vec<Vec3> {
        Polytope::cuboid(half).vertices
    }

    fn box_triangles() -> Vec<[u32; 3]> {
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        faces.iter().flat_map(|f: &[u32; 4]| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]]).collect()
    }

    #[test]
    fn a_box_is_a_box_as_hull_and_as_mesh_wherever_it_is() {
        let half = Vec3::new(0.1, 0.2, 0.3);
        let pose = Pose::from_parts(Vec3::new(10.0, -3.0, 5.0), axis_angle(Vec3::new(0.5, 0.2, -0.7)));
        let points: Vec<Vec3> = corners(half).into_iter().map(|p| pose.transform_point(p)).collect();
        let expected = Shape::cuboid(half).unwrap().inertia(2.0).unwrap().transformed(&pose);
        let soup: Vec<Vec3> = box_triangles().iter().flatten().map(|v| points[*v as usize]).collect();
        let soup_triangles = (0..12).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        for shape in [
            Shape::hull(points.clone()).unwrap(),
            Shape::mesh(points.clone(), box_triangles()).unwrap(),
            Shape::mesh(soup, soup_triangles).unwrap(),
        ] {
            assert!((shape.volume().unwrap() - 0.048).abs() < 1e-15);
            let found = shape.inertia(2.0).unwrap();
            assert!(found.com.abs_diff_eq(expected.com, 1e-14), "{found:?}");
            assert!(found.about_com.abs_diff_eq(expected.about_com, 1e-14), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn volumes_of_round_shapes() {
        let volume = |s: Shape| s.volume().unwrap();
        assert!((volume(Shape::sphere(2.0).unwrap()) - 32.0 / 3.0 * PI).abs() < 1e-13);
        assert!((volume(Shape::cylinder(0.5, 2.0).unwrap()) - 4.0 * PI).abs() < 1e-14);
        assert!((volume(Shape::ellipsoid(Vec3::new(1.0, 2.0, 3.0)).unwrap()) - 8.0 * PI).abs() < 1e-13);
        assert!((volume(Shape::capsule(0.5, 1.0).unwrap()) - 7.0 / 3.0 * PI).abs() < 1e-14);
    }

    #[test]
    fn shapes_without_volume_say_why() {
        let open = Shape::mesh(corners(Vec3::ONE), box_triangles()[1..].to_vec()).unwrap();
        let turned: Vec<_> = box_triangles().iter().map(|t| [t[0], t[2], t[1]]).collect();
        let inside_out = Shape::mesh(corners(Vec3::ONE), turned).unwrap();
        let field = Shape::height_field(vec![0.0; 4], 2, 2, 1.0, 1.0).unwrap();
        for (shape, reason) in [
            (open, "not closed"),
            (inside_out, "look inwards"),
            (field, "no bottom"),
            (Shape::half_space(), "no bounds"),
        ] {
            assert!(shape.volume().unwrap_err().to_string().contains(reason));
            assert!(shape.inertia(1.0).unwrap_err().to_string().contains(reason));
        }
        assert!(Shape::sphere(1.0).unwrap().inertia(f64::NAN).is_err());
    }
}
