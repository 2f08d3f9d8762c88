//! Everything that moves must have inertia: otherwise no force says how it moves.

use stiction_body::math::{Mat3, Vec3};
use stiction_body::{ModelBuilder, Workspace};
use stiction_lcp::Matrix;

use super::tree::Tree;
use crate::description::{Description, NoteKind};
use crate::error::SceneError;

/// A velocity has no inertia of its own if this part or less of it is left when all that hangs on it moves freely.
const SINGULAR: f64 = 1e-13;

/// Trees with more velocities are not looked at: the work grows with their cube, and a simulation would report the same.
const LARGEST: usize = 1000;

/// Density of the ball that stands for a point mass where its rotation matters (kg/m³): that of water.
const DENSITY: f64 = 1000.0;

/// Refuses joints that move nothing; point masses whose rotation matters become balls.
pub(super) fn check(tree: &Tree, numbers: &[Option<usize>], out: &mut Description) -> Result<(), SceneError> {
    let element =
        |link: usize| tree.links[tree.order.iter().copied().find(|&i| numbers[i] == Some(link)).unwrap_or(0)].element;
    check_masses(tree, numbers, out)?;
    let Some(link) = joint_without_inertia(out).map_err(|e| SceneError::new("robot", e))? else { return Ok(()) };
    for below in subtree(out, link) {
        let inertia = &mut out.links[below].inertia;
        if inertia.mass > 0.0 && inertia.about_com.determinant() == 0.0 {
            inertia.about_com += Mat3::from_diagonal(Vec3::splat(ball(inertia.mass)));
            let text = "turns without rotational inertia: given that of a ball of its mass with the density of water";
            element(below).note(NoteKind::Warning, text);
        }
    }
    match joint_without_inertia(out).map_err(|e| SceneError::new("robot", e))? {
        None => Ok(()),
        Some(link) => Err(element(link).error("can move without moving any mass: it needs an <inertial> of its own")),
    }
}

/// Every joint that moves must carry some mass.
fn check_masses(tree: &Tree, numbers: &[Option<usize>], out: &Description) -> Result<(), SceneError> {
    let mut carried: Vec<f64> = out.links.iter().map(|l| l.inertia.mass).collect();
    for (i, link) in out.links.iter().enumerate().rev() {
        if let Some(parent) = link.parent {
            carried[parent] += carried[i];
        }
    }
    for &i in &tree.order {
        let (Some(number), Some(joint)) = (numbers[i], &tree.links[i].joint) else { continue };
        if joint.kind.nv() > 0 && carried[number] == 0.0 && joint.properties.armature == 0.0 {
            let name = joint.name;
            let message = format!("moves by joint \"{name}\", and neither it nor anything below it has a mass above 0");
            return Err(tree.links[i].element.error(message));
        }
    }
    Ok(())
}

/// Rotational inertia of a solid ball: ⅖ m r² with m = 4/3 π r³ · density.
fn ball(mass: f64) -> f64 {
    let radius = libm::cbrt(0.75 * mass / (std::f64::consts::PI * DENSITY));
    0.4 * mass * radius * radius
}

/// A link and all below it.
fn subtree(out: &Description, root: usize) -> Vec<usize> {
    let mut inside = vec![false; out.links.len()];
    for i in root..out.links.len() {
        inside[i] = i == root || out.links[i].parent.is_some_and(|p| inside[p]);
    }
    (0..inside.len()).filter(|&i| inside[i]).collect()
}

/// The first link from the leaves whose joint can move, in a general configuration, without moving any mass: where the factor of the inertia matrix breaks down.
fn joint_without_inertia(out: &Description) -> Result<Option<usize>, String> {
    let mut builder = ModelBuilder::default();
    for link in &out.links {
        builder.add(link.clone()).map_err(|e| e.to_string())?;
    }
    let (model, _) = builder.build().map_err(|e| e.to_string())?;
    // Far from the symmetric places at which axes happen to be in line.
    let v: Vec<f64> = (0..model.nv()).map(|k| 0.2 + (0.618_034 * k as f64).fract()).collect();
    let mut q = model.neutral();
    model.integrate(&mut q, &v, 1.0);
    if model.trees().iter().any(|t| t.v.len() > LARGEST) {
        return Ok(None);
    }
    let (mut work, mut blocks) = (Workspace::default(), vec![]);
    work.update_positions(&model, &q);
    work.mass_blocks(&model, &mut blocks);
    for (tree, block) in model.trees().iter().zip(&blocks) {
        if let Some(k) = singular_pivot(block) {
            let k = tree.v.start + k;
            return Ok(model.links().iter().position(|l| l.v.contains(&k)));
        }
    }
    Ok(None)
}

/// Eliminates from the last velocity, a leaf, to the first: the first pivot that vanishes.
fn singular_pivot(block: &Matrix) -> Option<usize> {
    let n = block.rows();
    let mut m = block.clone();
    for k in (0..n).rev() {
        let pivot = m[(k, k)];
        if pivot.is_nan() || pivot <= SINGULAR * block[(k, k)] {
            return Some(k);
        }
        for j in 0..k {
            let factor = m[(k, j)] / pivot;
            if factor != 0.0 {
                (0..k).for_each(|i| m[(i, j)] -= factor * m[(i, k)]);
            }
        }
    }
    None
}
