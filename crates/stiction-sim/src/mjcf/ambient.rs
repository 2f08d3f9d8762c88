//! What acts on bodies by itself: compensated weight, fluid, springs of ball and free joints.

use stiction_body::math::{Mat3, Pose, Quat, Vec3};

use super::bodies::{Body, Tree};
use super::compiler::Options;
use super::joints::JointType;
use super::links::Links;
use crate::ambient::TurnSpring;
use crate::description::Description;
use crate::fluid::{FluidShape, Immersed};

/// Bodies of at most this mass (kg) feel no fluid, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// Writes all of it.
pub(super) fn write(tree: &Tree, links: &Links, options: &Options, out: &mut Description) {
    for (i, body) in tree.bodies.iter().enumerate().skip(1) {
        let Some(link) = links.of_body[i] else { continue };
        if body.compensation != 0.0 && !options.is_off("gravity") && !options.is_off("spring") {
            out.ambient.compensated.push((link, body.compensation));
        }
        if (options.density > 0.0 || options.viscosity > 0.0) && body.inertia.mass > LEAST && !body.is_static {
            let (density, viscosity, wind) = (options.density, options.viscosity, options.wind);
            let mut immerse = |own: Pose, shape: FluidShape| {
                let frame = links.frames[i] * own;
                out.ambient.immersed.push(Immersed { link, frame, shape, density, viscosity, wind });
            };
            if body.ellipsoids.is_empty() {
                let axes = body.axes();
                immerse(Pose::from_parts(body.inertia.com, axes), FluidShape::Box(equal_box(body, axes)));
            }
            body.ellipsoids.iter().for_each(|(own, ellipsoid)| immerse(*own, FluidShape::Ellipsoid(*ellipsoid)));
        }
    }
    for joint in links.joints.iter().filter(|j| j.turn_stiffness > 0.0) {
        let rest = match joint.kind {
            JointType::Free => {
                let q = &joint.reference;
                Pose::from_parts(Vec3::new(q[0], q[1], q[2]), Quat::from_xyzw(q[4], q[5], q[6], q[3]))
            }
            _ => Pose::identity(),
        };
        out.ambient.springs.push(TurnSpring { link: joint.link, stiffness: joint.turn_stiffness, rest });
    }
}

/// Edges (m) of the box of equal inertia.
fn equal_box(body: &Body, axes: Quat) -> Vec3 {
    let r = Mat3::from_quat(axes);
    let local = r.transpose() * body.inertia.about_com * r;
    let (x, y, z) = (local.x_axis.x, local.y_axis.y, local.z_axis.z);
    let edge = |twice: f64| (twice.max(LEAST) / body.inertia.mass * 6.0).sqrt();
    Vec3::new(edge(y + z - x), edge(x + z - y), edge(x + y - z))
}
