//! Shapes made ready for collision: polytopes with their edges, bounds, sizes.

use stiction_linalg::InputError;

use crate::collision::polytope::Polytope;
use crate::collision::surface::Surface;
use crate::math::Vec3;
use crate::shape::{Shape, ShapeKind};

/// A shape with what its pairs need.
#[derive(Debug, Clone)]
pub(crate) enum Solid {
    HalfSpace,
    Surface(Surface),
    Hull(Polytope),
    Cuboid { half: Vec3, polytope: Polytope },
    Cylinder { half_length: f64, radius: f64 },
    Capsule { half_length: f64, radius: f64 },
    Sphere { radius: f64 },
    Ellipsoid { radii: Vec3 },
}

impl Solid {
    /// # Errors
    /// If the shape has no hull; the message starts with `place`.
    pub(super) fn new(shape: &Shape, place: &str) -> Result<Self, InputError> {
        Ok(match shape.kind() {
            ShapeKind::Sphere { radius } => Self::Sphere { radius: *radius },
            ShapeKind::Cuboid { half } => Self::Cuboid { half: *half, polytope: Polytope::cuboid(*half) },
            ShapeKind::Capsule { half_length, radius } => Self::Capsule { half_length: *half_length, radius: *radius },
            ShapeKind::Ellipsoid { radii } => Self::Ellipsoid { radii: *radii },
            ShapeKind::HalfSpace => Self::HalfSpace,
            ShapeKind::Hull { points } => match Polytope::hull(points) {
                Some(polytope) => Self::Hull(polytope),
                None => return Err(unsupported(format!("{place}: the points have no convex hull"))),
            },
            ShapeKind::Mesh { vertices, triangles } => {
                let surface = Surface::mesh(vertices, triangles);
                if surface.is_empty() {
                    return Err(unsupported(format!("{place}: no triangle of the mesh has an area")));
                }
                Self::Surface(surface)
            }
            ShapeKind::HeightField { heights, rows, columns, length_x, length_y } => {
                Self::Surface(Surface::height_field(heights, *rows, *columns, [*length_x, *length_y]))
            }
            ShapeKind::Cylinder { half_length, radius } => {
                Self::Cylinder { half_length: *half_length, radius: *radius }
            }
        })
    }

    /// Pairs are computed with the lower rank first.
    pub(super) fn rank(&self) -> usize {
        match self {
            Self::HalfSpace => 0,
            Self::Surface(_) => 1,
            Self::Hull(_) => 2,
            Self::Cuboid { .. } => 3,
            Self::Cylinder { .. } => 4,
            Self::Capsule { .. } => 5,
            Self::Sphere { .. } => 6,
            Self::Ellipsoid { .. } => 7,
        }
    }

    /// Radius-like size from the half sides of the bounding box.
    pub(super) fn size(&self, half: Vec3) -> f64 {
        if matches!(self, Self::Surface(_)) { half.max_element() } else { half.min_element() }
    }

    /// Lower and upper corner of the bounding box in the shape's frame.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        match self {
            Self::HalfSpace => [Vec3::NEG_INFINITY, Vec3::INFINITY],
            Self::Surface(surface) => bounds(&surface.vertices),
            Self::Hull(polytope) => bounds(&polytope.vertices),
            Self::Cuboid { half, .. } => [-*half, *half],
            Self::Cylinder { half_length, radius } => {
                let half = Vec3::new(*radius, *radius, *half_length);
                [-half, half]
            }
            Self::Capsule { half_length, radius } => {
                let half = Vec3::new(*radius, *radius, half_length + radius);
                [-half, half]
            }
            Self::Sphere { radius } => [Vec3::splat(-radius), Vec3::splat(*radius)],
            Self::Ellipsoid { radii } => [-*radii, *radii],
        }
    }
}

/// An error of this module.
pub(crate) fn unsupported(reason: String) -> InputError {
    InputError::Unsupported { solver: "collision", reason }
}

fn bounds(points: &[Vec3]) -> [Vec3; 2] {
    let low = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
    let high = points.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    [low, high]
}
