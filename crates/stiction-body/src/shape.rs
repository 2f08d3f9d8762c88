//! Shapes of collision geometry: what a user gives, checked once. All are convex but meshes and height fields.

mod triangulation;
mod volume;

pub use triangulation::Triangulation;

use std::sync::Arc;

use stiction_linalg::InputError;

use crate::math::Vec3;

/// A checked shape in its own frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Shared by all copies: meshes are large, and every simulation of a scene has a copy.
    kind: Arc<ShapeKind>,
}

/// What a [`Shape`] is. Numbers are checked: finite, lengths above 0.
#[derive(Debug, Clone, PartialEq)]
pub enum ShapeKind {
    /// A ball about the origin.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// A box about the origin, along the axes.
    Cuboid {
        /// Half of each side (m).
        half: Vec3,
    },
    /// A cylinder along z with half balls at its ends.
    Capsule {
        /// Half the length of the cylinder, without the balls (m).
        half_length: f64,
        /// Radius (m).
        radius: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Half its length (m).
        half_length: f64,
        /// Radius (m).
        radius: f64,
    },
    /// An ellipsoid about the origin, along the axes.
    Ellipsoid {
        /// Half of each axis (m).
        radii: Vec3,
    },
    /// The convex hull of points.
    Hull {
        /// The points (m); at least four, not in one plane.
        points: Vec<Vec3>,
    },
    /// A surface of triangles.
    Mesh {
        /// Vertices (m).
        vertices: Vec<Vec3>,
        /// Triples of vertices, counterclockwise seen from outside.
        triangles: Vec<[u32; 3]>,
    },
    /// Heights over a rectangular grid about the origin; z is up, solid below.
    HeightField {
        /// Heights (m), row by row: `heights[i * columns + j]` is over `x = (i/(rows−1) − ½) length_x`, `y = (j/(columns−1) − ½) length_y`.
        heights: Vec<f64>,
        /// Points along x.
        rows: usize,
        /// Points along y.
        columns: usize,
        /// Extent along x (m).
        length_x: f64,
        /// Extent along y (m).
        length_y: f64,
    },
    /// All points with z ≤ 0.
    HalfSpace,
}

impl ShapeKind {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Cuboid { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Hull { .. } => "hull",
            Self::Mesh { .. } => "mesh",
            Self::HeightField { .. } => "height-field",
            Self::HalfSpace => "half-space",
        }
    }
}

impl Shape {
    /// Most points of a height field, a thousand along each side: its hierarchy takes 400 bytes a point.
    pub const MOST_HEIGHTS: usize = 1 << 20;

    /// What it is.
    pub fn kind(&self) -> &ShapeKind {
        &self.kind
    }

    /// A ball.
    ///
    /// # Errors
    /// If the radius cannot be computed with ([`crate::range`]).
    pub fn sphere(radius: f64) -> Result<Self, InputError> {
        length("radius of a sphere", radius)?;
        Ok(Self { kind: Arc::new(ShapeKind::Sphere { radius }) })
    }

    /// A box with the given halves of its sides.
    ///
    /// # Errors
    /// If a side cannot be computed with ([`crate::range`]).
    pub fn cuboid(half: Vec3) -> Result<Self, InputError> {
        half.to_array().into_iter().try_for_each(|x| length("half side of a box", x))?;
        Ok(Self { kind: Arc::new(ShapeKind::Cuboid { half }) })
    }

    /// A capsule along z.
    ///
    /// # Errors
    /// If a length cannot be computed with ([`crate::range`]).
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, InputError> {
        length("half length of a capsule", half_length)?;
        length("radius of a capsule", radius)?;
        Ok(Self { kind: Arc::new(ShapeKind::Capsule { half_length, radius }) })
    }

    /// A cylinder along z.
    ///
    /// # Errors
    /// If a length cannot be computed with ([`crate::range`]).
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, InputError> {
        length("half length of a cylinder", half_length)?;
        length("radius of a cylinder", radius)?;
        Ok(Self { kind: Arc::new(ShapeKind::Cylinder { half_length, radius }) })
    }

    /// An ellipsoid with the given half axes (m).
    ///
    /// # Errors
    /// If a half axis cannot be computed with ([`crate::range`]).
    pub fn ellipsoid(radii: Vec3) -> Result<Self, InputError> {
        radii.to_array().into_iter().try_for_each(|x| length("half axis of an ellipsoid", x))?;
        Ok(Self { kind: Arc::new(ShapeKind::Ellipsoid { radii }) })
    }

    /// The convex hull of points.
    ///
    /// # Errors
    /// If a point is not finite, there are fewer than four, or all lie in one plane.
    pub fn hull(points: Vec<Vec3>) -> Result<Self, InputError> {
        finite_points("point of a hull", &points)?;
        if points.len() < 4 {
            return Err(InputError::Size {
                what: "points of a hull, at least".into(),
                expected: 4,
                found: points.len(),
            });
        }
        let (volume, size) = (spanned_volume(&points), extent(&points));
        if volume <= FLAT * size * size * size {
            let what = "volume spanned by the points of a hull".into();
            return Err(InputError::OutOfRange {
                what,
                expected: "above 0: the points lie in one plane",
                found: volume,
            });
        }
        Ok(Self { kind: Arc::new(ShapeKind::Hull { points }) })
    }

    /// A surface of triangles.
    ///
    /// # Errors
    /// If a vertex is not finite, a triangle names a vertex that is not there, or there are no triangles.
    pub fn mesh(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Self, InputError> {
        finite_points("vertex of a mesh", &vertices)?;
        if triangles.is_empty() {
            return Err(InputError::Size { what: "triangles of a mesh, at least".into(), expected: 1, found: 0 });
        }
        for (i, triangle) in triangles.iter().enumerate() {
            if let Some(&vertex) = triangle.iter().find(|v| **v as usize >= vertices.len()) {
                let what = format!("triangle {i} of a mesh: vertex, below");
                return Err(InputError::Size { what, expected: vertices.len(), found: vertex as usize });
            }
        }
        Ok(Self { kind: Arc::new(ShapeKind::Mesh { vertices, triangles }) })
    }

    /// Heights over a grid of `rows` points along x by `columns` points along y; see [`ShapeKind::HeightField`].
    ///
    /// # Errors
    /// If there are fewer than 2 × 2 points or more than [`Shape::MOST_HEIGHTS`], their number is wrong, or a number is not finite.
    pub fn height_field(
        heights: Vec<f64>,
        rows: usize,
        columns: usize,
        length_x: f64,
        length_y: f64,
    ) -> Result<Self, InputError> {
        for (what, found) in
            [("rows of a height field, at least", rows), ("columns of a height field, at least", columns)]
        {
            if found < 2 {
                return Err(InputError::Size { what: what.into(), expected: 2, found });
            }
        }
        if rows.saturating_mul(columns) > Self::MOST_HEIGHTS {
            let (expected, found) = (Self::MOST_HEIGHTS, rows.saturating_mul(columns));
            return Err(InputError::Size { what: "points of a height field, at most".into(), expected, found });
        }
        if Some(heights.len()) != rows.checked_mul(columns) {
            let expected = rows.saturating_mul(columns);
            return Err(InputError::Size { what: "heights of a height field".into(), expected, found: heights.len() });
        }
        if let Some((i, &value)) = heights.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(InputError::NotFinite { what: format!("height {i} of a height field"), value });
        }
        length("extent of a height field along x", length_x)?;
        length("extent of a height field along y", length_y)?;
        Ok(Self { kind: Arc::new(ShapeKind::HeightField { heights, rows, columns, length_x, length_y }) })
    }

    /// The half-space below z = 0.
    pub fn half_space() -> Self {
        Self { kind: Arc::new(ShapeKind::HalfSpace) }
    }

    /// True if the shape has no bounds: it can only belong to the world.
    pub fn is_unbounded(&self) -> bool {
        matches!(*self.kind, ShapeKind::HalfSpace)
    }
}

/// Points whose tetrahedra span less than this fraction of their extent's cube lie in one plane.
const FLAT: f64 = 1e-12;

fn length(what: &str, x: f64) -> Result<(), InputError> {
    crate::range::check(what, x)
}

fn finite_points(what: &str, points: &[Vec3]) -> Result<(), InputError> {
    let coordinates = points.iter().enumerate().flat_map(|(i, p)| p.to_array().map(|x| (i, x)));
    let beyond = |x: f64| !x.is_finite() || x.abs() > crate::range::LARGEST;
    for (i, x) in coordinates.filter(|(_, x)| beyond(*x)) {
        crate::range::check_coordinate(format!("{what} ({i})"), x)?;
    }
    Ok(())
}

/// The longest side of the points' bounding box.
fn extent(points: &[Vec3]) -> f64 {
    let low = points.iter().fold(Vec3::INFINITY, |a, p| a.min(*p));
    let high = points.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p));
    (high - low).max_element()
}

/// Six times the volume of a large tetrahedron among the points: the far point of the first, the point farthest from their line, the one
/// farthest from that plane.
fn spanned_volume(points: &[Vec3]) -> f64 {
    let origin = points[0];
    let farthest = |measure: &dyn Fn(Vec3) -> f64| {
        let from_origin = points.iter().map(|p| *p - origin);
        from_origin.fold(Vec3::ZERO, |best, p| if measure(p) > measure(best) { p } else { best })
    };
    let a = farthest(&|p| p.length_squared());
    let b = farthest(&|p| p.cross(a).length_squared());
    let normal = a.cross(b);
    let c = farthest(&|p| p.dot(normal).abs());
    c.dot(normal).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_shapes_are_named() {
        let flat = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0), Vec3::new(0.3, 0.2, 1e-15)];
        let cases: Vec<(Result<Shape, InputError>, &str)> = vec![
            (Shape::sphere(0.0), "radius of a sphere"),
            (Shape::sphere(f64::NAN), "radius of a sphere"),
            (Shape::cuboid(Vec3::new(1.0, -1.0, 1.0)), "half side of a box"),
            (Shape::capsule(f64::INFINITY, 1.0), "half length of a capsule"),
            (Shape::cylinder(1.0, 0.0), "radius of a cylinder"),
            (Shape::ellipsoid(Vec3::new(1.0, 0.0, 1.0)), "half axis of an ellipsoid"),
            (Shape::hull(flat), "one plane"),
            (Shape::hull(vec![Vec3::NAN; 4]), "point of a hull (0)"),
            (Shape::mesh(vec![Vec3::ZERO; 3], vec![[0, 1, 3]]), "triangle 0 of a mesh"),
            (Shape::mesh(vec![], vec![]), "triangles of a mesh"),
            (Shape::height_field(vec![0.0; 3], 1, 3, 1.0, 1.0), "rows of a height field"),
            (Shape::height_field(vec![0.0; 3], 2, 2, 1.0, 1.0), "heights of a height field"),
            (Shape::height_field(vec![0.0, 0.0, f64::NAN, 0.0], 2, 2, 1.0, 1.0), "height 2"),
            (Shape::height_field(vec![0.0; 4], 2, 2, 0.0, 1.0), "along x"),
        ];
        for (result, text) in cases {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(text), "{message} lacks {text}");
        }
    }

    #[test]
    fn a_thin_hull_is_a_hull() {
        let thin =
            [0.0, 1e-6].into_iter().flat_map(|z| [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, z)));
        assert!(Shape::hull(thin.collect()).is_ok());
    }
}
