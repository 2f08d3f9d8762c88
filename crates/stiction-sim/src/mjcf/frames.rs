//! Positions and orientations of elements, in all the ways the format has.

use stiction_body::math::{Mat3, Pose, Quat, Vec3, axis_angle};

use super::attributes::Attributes;
use super::compiler::Compiler;
use crate::error::SceneError;

/// A direction shorter than this has none: MuJoCo's bound.
const SHORT: f64 = 1e-14;

/// `pos` and the orientation.
pub(super) fn pose(a: &Attributes, compiler: &Compiler) -> Result<Pose, SceneError> {
    let position = a.vector("pos")?.unwrap_or(Vec3::ZERO);
    Ok(Pose::from_parts(position, orientation(a, compiler)?.unwrap_or(Quat::IDENTITY)))
}

/// `axisangle`, `xyaxes`, `zaxis`, `euler` or `quat`, the first there is.
pub(super) fn orientation(a: &Attributes, compiler: &Compiler) -> Result<Option<Quat>, SceneError> {
    let compiler = compiler.at(a);
    if let Some([x, y, z, angle]) = a.numbers::<4>("axisangle")? {
        let axis = unit(a, "axisangle", Vec3::new(x, y, z))?;
        return Ok(Some(axis_angle(axis * (angle * compiler.angle))));
    }
    if let Some([x0, x1, x2, y0, y1, y2]) = a.numbers::<6>("xyaxes")? {
        let x = unit(a, "xyaxes", Vec3::new(x0, x1, x2))?;
        let y = Vec3::new(y0, y1, y2);
        let y = unit(a, "xyaxes", y - x * x.dot(y))?;
        return Ok(Some(Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))).normalize()));
    }
    if let Some(z) = a.vector("zaxis")? {
        return Ok(Some(turn_z_to(unit(a, "zaxis", z)?)));
    }
    if let Some(angles) = a.numbers::<3>("euler")? {
        return Ok(Some(euler(angles, compiler)));
    }
    quaternion(a, "quat")
}

/// A quaternion w, x, y, z, normalized.
pub(super) fn quaternion(a: &Attributes, name: &str) -> Result<Option<Quat>, SceneError> {
    let Some([w, x, y, z]) = a.numbers::<4>(name)? else { return Ok(None) };
    normalized([w, x, y, z]).map(Some).ok_or_else(|| a.error(name, "the quaternion is zero"))
}

/// The unit quaternion of w, x, y, z; none if they are all zero.
pub(super) fn normalized(wxyz: [f64; 4]) -> Option<Quat> {
    let largest = wxyz.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let [w, x, y, z] = wxyz.map(|x| x / largest);
    (largest > 0.0).then(|| Quat::from_xyzw(x, y, z, w).normalize())
}

/// Three rotations in the compiler's sequence: lower-case axes turn with the frame, upper-case ones stay.
pub(super) fn euler(angles: [f64; 3], compiler: &Compiler) -> Quat {
    let mut out = Quat::IDENTITY;
    for (letter, angle) in compiler.eulerseq.iter().zip(angles) {
        let axis = match letter.to_ascii_lowercase() {
            b'x' => Vec3::X,
            b'y' => Vec3::Y,
            _ => Vec3::Z,
        };
        let turn = axis_angle(axis * (angle * compiler.angle));
        out = if letter.is_ascii_lowercase() { out * turn } else { turn * out };
    }
    out.normalize()
}

/// The shortest rotation that takes z to a unit vector.
pub(super) fn turn_z_to(z: Vec3) -> Quat {
    let axis = Vec3::Z.cross(z);
    let sine = axis.length();
    if sine < SHORT {
        return if z.z > 0.0 { Quat::IDENTITY } else { Quat::from_xyzw(1.0, 0.0, 0.0, 0.0) };
    }
    axis_angle(axis / sine * libm::atan2(sine, z.z))
}

/// The unit vector of an attribute's vector.
pub(super) fn unit(a: &Attributes, name: &str, v: Vec3) -> Result<Vec3, SceneError> {
    let largest = v.abs().max_element();
    if largest < SHORT {
        return Err(a.error(name, "a direction has length 0"));
    }
    Ok((v / largest).normalize())
}
