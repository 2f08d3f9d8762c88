//! Volume, centre and inertia of meshes, in the four ways the format has, and the boxes that primitives are fitted to.

use stiction_body::math::{Mat3, Pose, Quat, Vec3};
use stiction_body::{Inertia, Shape};

/// An entry beside the diagonal that is this small beside the diagonal is rounding.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// What a mesh is taken for when its mass is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MeshInertia {
    /// Its convex hull.
    Convex,
    /// The inside of its surface.
    Exact,
    /// Pyramids from the centre of its surface to its triangles, each counted as positive.
    Legacy,
    /// Its surface.
    Shell,
}

/// Volume (of a shell: area), and the inertia of density 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Solid {
    pub(super) volume: f64,
    /// The centre.
    pub(super) centre: Vec3,
    /// Rotational inertia about the centre, density 1.
    pub(super) inertia: Mat3,
}

impl Solid {
    /// Of a mesh; `Convex` is taken for `Exact`, see [`Solid::of_hull`]. None if the mesh has no volume (or area).
    pub(super) fn new(vertices: &[Vec3], triangles: &[[u32; 3]], kind: MeshInertia) -> Option<Self> {
        let corners = |t: &[u32; 3]| t.map(|i| vertices.get(i as usize).copied().unwrap_or(Vec3::ZERO));
        let surface = surface_centre(triangles.iter().map(corners))?;
        let volume_of = |[a, b, c]: [Vec3; 3]| {
            let volume = a.dot(b.cross(c)) / 6.0;
            if kind == MeshInertia::Legacy { volume.abs() } else { volume }
        };
        let (mut volume, mut centre) = (0.0, Vec3::ZERO);
        for triangle in triangles.iter().map(corners) {
            let [a, b, c] = triangle.map(|p| p - surface);
            let (part, middle) = match kind {
                MeshInertia::Shell => (area([a, b, c]), (a + b + c) / 3.0),
                _ => (volume_of([a, b, c]), (a + b + c) / 4.0),
            };
            volume += part;
            centre += middle * part;
        }
        if !(volume.is_finite() && volume > 0.0) {
            return None;
        }
        let centre = surface + centre / volume;
        // Where pyramids outside the surface are not subtracted, the volume depends on their apex: it is that about the centre.
        let (mut volume, mut second) = (0.0, Mat3::ZERO);
        for triangle in triangles.iter().map(corners) {
            let corners = triangle.map(|p| p - centre);
            let (part, weight) = match kind {
                MeshInertia::Shell => (area(corners), 1.0 / 12.0),
                _ => (volume_of(corners), 1.0 / 20.0),
            };
            volume += part;
            second += second_moment(corners) * (part * weight);
        }
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let inertia = Mat3::from_diagonal(Vec3::splat(trace)) - second;
        inertia.is_finite().then_some(Self { volume, centre, inertia })
    }

    /// Of the convex hull of points; none if they have none.
    pub(super) fn of_hull(points: &[Vec3]) -> Option<Self> {
        let hull = Shape::hull(points.to_vec()).ok()?;
        let volume = hull.volume().ok().filter(|v| *v > 0.0)?;
        let inertia = hull.inertia(volume).ok()?;
        Some(Self { volume, centre: inertia.com, inertia: inertia.about_com })
    }

    /// The inertia of that mass.
    pub(super) fn of_mass(&self, mass: f64) -> Inertia {
        Inertia { mass, com: self.centre, about_com: self.inertia * (mass / self.volume) }
    }

    /// The frame of the principal axes at the centre, which is the frame of geoms of this mesh.
    pub(super) fn frame(&self) -> Pose {
        Pose::from_parts(self.centre, principal(self.inertia).1)
    }

    /// The frame of the principal axes, and half the sides of the box of the same volume and inertia.
    pub(super) fn box_of_equal_inertia(&self) -> (Pose, Vec3) {
        let (moments, axes) = principal(self.inertia);
        let half = |i: usize, j: usize, k: usize| {
            let square = 6.0 * (moments[i] + moments[j] - moments[k]) / self.volume;
            0.5 * square.max(0.0).sqrt()
        };
        (Pose::from_parts(self.centre, axes), Vec3::new(half(1, 2, 0), half(0, 2, 1), half(0, 1, 2)))
    }
}

/// Centre of a surface; none if it has no area.
fn surface_centre(triangles: impl Iterator<Item = [Vec3; 3]>) -> Option<Vec3> {
    let (mut total, mut centre) = (0.0, Vec3::ZERO);
    for triangle in triangles {
        let part = area(triangle);
        total += part;
        centre += (triangle[0] + triangle[1] + triangle[2]) * (part / 3.0);
    }
    (total > 0.0 && total.is_finite()).then(|| centre / total)
}

fn area([a, b, c]: [Vec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// Σ p pᵀ + s sᵀ with s = Σ p over the corners: 12 ∫ x xᵀ over a triangle of unit area, 20 ∫ x xᵀ over its pyramid from the origin of unit
/// volume.
fn second_moment(corners: [Vec3; 3]) -> Mat3 {
    let outer = |v: Vec3| Mat3::from_cols(v * v.x, v * v.y, v * v.z);
    corners.iter().fold(outer(corners[0] + corners[1] + corners[2]), |sum, p| sum + outer(*p))
}

/// Principal moments, the largest first, and the rotation to their axes: of all that there are, that which MuJoCo takes.
///
/// Jacobi's method, from the given axes on: the largest entry beside the diagonal is made zero by the smaller of the two turns
/// that can. Then quarter turns put the moments in order.
pub(super) fn principal(inertia: Mat3) -> ([f64; 3], Quat) {
    /// More than Jacobi's method takes for three rows.
    const TURNS: usize = 50;
    let mut axes = Quat::IDENTITY;
    let along = |axes: Quat| {
        let r = Mat3::from_quat(axes);
        r.transpose() * inertia * r
    };
    let mut a = along(axes);
    for _ in 0..TURNS {
        // The entry of the two axes other than k.
        let beside = [a.col(2).y, a.col(2).x, a.col(1).x];
        let k = match beside.map(f64::abs) {
            [x, y, z] if z > x && z > y => 2,
            [x, y, _] if y > x => 1,
            _ => 0,
        };
        let (p, q) = ((k + 1) % 3, (k + 2) % 3);
        let (low, high) = (a.col(p)[p], a.col(q)[q]);
        if beside[k].abs() <= ROUNDING * low.abs().max(high.abs()).max(a.col(k)[k].abs()) {
            break;
        }
        let ratio = (high - low) / (2.0 * beside[k]);
        let tangent = 1.0 / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
        let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
        // The sine of half the angle, without the cancellation of 1 − cosine.
        let half = 0.5 * tangent * cosine / (0.5 * (1.0 + cosine)).sqrt();
        axes = (axes * turn_about(k, if ratio >= 0.0 { -half } else { half })).normalize();
        a = along(axes);
    }
    let mut moments = [a.col(0).x, a.col(1).y, a.col(2).z];
    for i in [0, 1, 0] {
        if moments[i] < moments[i + 1] {
            moments.swap(i, i + 1);
            axes = (axes * turn_about((i + 2) % 3, std::f64::consts::FRAC_1_SQRT_2)).normalize();
        }
    }
    (moments, axes)
}

/// The rotation about an axis by an angle with that sine of its half.
fn turn_about(axis: usize, sine: f64) -> Quat {
    let mut xyz = [0.0; 3];
    xyz[axis] = sine;
    Quat::from_xyzw(xyz[0], xyz[1], xyz[2], (1.0 - sine * sine).sqrt())
}

/// An inertia with its principal moments changed by `change`.
pub(super) fn with_moments(inertia: &Inertia, change: impl Fn([f64; 3]) -> [f64; 3]) -> Inertia {
    let (moments, axes) = principal(inertia.about_com);
    let changed = change(moments);
    if changed == moments {
        return *inertia;
    }
    let r = Mat3::from_quat(axes);
    Inertia { about_com: r * Mat3::from_diagonal(Vec3::from_array(changed)) * r.transpose(), ..*inertia }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with corners at 0 and `size`.
    fn cuboid(size: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let bit = |i: u32, k: u32| f64::from(i >> k & 1);
        let vertices = (0..8).map(|i| Vec3::new(bit(i, 0), bit(i, 1), bit(i, 2)) * size).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        (vertices, quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
    }

    #[test]
    fn a_box_as_a_mesh_is_a_box() {
        let size = Vec3::new(1.0, 2.0, 3.0);
        let (vertices, triangles) = cuboid(size);
        let expected = Inertia::cuboid(6.0, size).about_com;
        for kind in [MeshInertia::Exact, MeshInertia::Legacy] {
            let solid = Solid::new(&vertices, &triangles, kind).unwrap();
            assert!((solid.volume - 6.0).abs() < 1e-14 && solid.centre.abs_diff_eq(size / 2.0, 1e-14), "{kind:?}");
            assert!(solid.inertia.abs_diff_eq(expected, 1e-13), "{kind:?}");
            let (pose, half) = solid.box_of_equal_inertia();
            let turned = pose.rotation * half;
            assert!(turned.abs().abs_diff_eq(size / 2.0, 1e-12) || half.abs_diff_eq(Vec3::new(0.5, 1.0, 1.5), 1e-12));
        }
        let shell = Solid::new(&vertices, &triangles, MeshInertia::Shell).unwrap();
        assert!((shell.volume - 22.0).abs() < 1e-13);
        assert!(Solid::new(&vertices, &triangles[..1], MeshInertia::Exact).is_none(), "one triangle has no volume");
    }

    #[test]
    fn principal_axes_diagonalize() {
        let turn = stiction_body::math::axis_angle(Vec3::new(0.3, -1.1, 0.7));
        let r = Mat3::from_quat(turn);
        let a = r * Mat3::from_diagonal(Vec3::new(2.0, 5.0, 3.0)) * r.transpose();
        let (moments, axes) = principal(a);
        assert!(moments.iter().zip([5.0, 3.0, 2.0]).all(|(x, y)| (x - y).abs() < 1e-14), "{moments:?}");
        let r = Mat3::from_quat(axes);
        assert!((r.transpose() * a * r).abs_diff_eq(Mat3::from_diagonal(Vec3::new(5.0, 3.0, 2.0)), 1e-13));
        assert_eq!(principal(Mat3::ZERO).0, [0.0; 3]);
    }
}
