//! Mass and rotational inertia of a link, and what is done about inertias that no body can have.

use stiction_body::Inertia;
use stiction_body::math::{Mat3, Vec3, principal};

use super::origin;
use crate::description::NoteKind;
use crate::error::SceneError;
use crate::xml::Element;

/// Where clipping would make a rod, each principal second moment of mass is at least this fraction of the largest: a rod a few percent thick.
const THIN: f64 = 1e-3;

/// Rotational inertia below this many m² of the mass is rounding: that of a body a micrometre in size.
const POINT: f64 = 1e-12;

/// The inertia of a link in its own frame; `None` where it has none or its mass is 0.
pub(super) fn read(link: Element) -> Result<Option<Inertia>, SceneError> {
    let Some(inertial) = link.child("inertial") else { return Ok(None) };
    let pose = origin(inertial)?;
    let Some(mass_element) = inertial.child("mass") else {
        inertial.note(NoteKind::Warning, "has no <mass>: the link has no inertia");
        inertial.mark_all();
        return Ok(None);
    };
    let mass = mass_element.required_number("value")?;
    if mass < 0.0 {
        return Err(mass_element.attribute_error("value", format!("a mass must be at least 0, found {mass}")));
    }
    let tensor = read_tensor(inertial)?;
    if mass == 0.0 {
        inertial.note(NoteKind::Warning, "the mass is 0: the link has no inertia, whatever <inertia> says");
        return Ok(None);
    }
    Ok(Some(possible(inertial, mass, tensor)?.transformed(&pose)))
}

/// An inertia about its centre of mass, raised to the nearest possible one where no body has it.
pub(crate) fn possible(inertial: Element, mass: f64, tensor: Mat3) -> Result<Inertia, SceneError> {
    let largest = tensor.to_cols_array().into_iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    Ok(match Inertia::new(mass, Vec3::ZERO, tensor) {
        Ok(inertia) => inertia,
        Err(_) if largest <= POINT * mass => Inertia { mass, com: Vec3::ZERO, about_com: Mat3::ZERO },
        Err(_) => Inertia { mass, com: Vec3::ZERO, about_com: clip(inertial, tensor)? },
    })
}

fn read_tensor(inertial: Element) -> Result<Mat3, SceneError> {
    let Some(inertia) = inertial.child("inertia") else {
        inertial.note(NoteKind::Warning, "has no <inertia>: the mass is a point");
        return Ok(Mat3::ZERO);
    };
    let mut x = [0.0; 6];
    for (x, name) in x.iter_mut().zip(["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]) {
        let diagonal = matches!(name, "ixx" | "iyy" | "izz");
        *x = if diagonal { inertia.required_number(name)? } else { inertia.number(name)?.unwrap_or(0.0) };
    }
    let [xx, xy, xz, yy, yz, zz] = x;
    Ok(Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz)))
}

/// The nearest possible inertia: the second moments of mass `½ trace(I) 1 − I` with their negative principal values raised.
fn clip(inertial: Element, tensor: Mat3) -> Result<Mat3, SceneError> {
    let (axes, moments) = principal(tensor);
    let trace = moments[0] + moments[1] + moments[2];
    let second = moments.map(|m| 0.5 * trace - m);
    let largest = second[0].max(second[1]).max(second[2]);
    if !(trace > 0.0 && largest.is_finite()) {
        let found = moments.map(|m| format!("{m:.3e}")).join(", ");
        return Err(inertial.error(format!("no body has the principal moments of inertia {found}")));
    }
    // A plate has one second moment of 0 and can be turned about every axis, a rod has two and cannot.
    let is_rod = second.iter().filter(|s| **s < THIN * largest).count() > 1;
    let raised = second.map(|s| s.max(if is_rod { THIN * largest } else { 0.0 }));
    let sum = raised[0] + raised[1] + raised[2];
    let text = "no body has this inertia (a principal moment is negative, or larger than the sum of the two others)";
    inertial.note(NoteKind::Warning, format!("{text}: raised to the nearest possible one"));
    let diagonal = Mat3::from_diagonal(Vec3::from_array(raised.map(|s| sum - s)));
    Ok(axes * diagonal * axes.transpose())
}
