//! Adhesion: actuators that pull a body to all that it touches.
//!
//! The force of such an actuator is shared evenly by the body's contacts. At each of them it acts along the normal, on both bodies against each other:
//! an applied force that is known before the solve, and not a part of the law of contact. The normal force grows to balance it, so that friction
//! holds what hangs on a wall. If the contacts cannot, because something pulls harder, they open, and adhesion ends there with the next step.

use stiction_lcp::InputError;

use crate::actuation::{Transmission, clamp};
use crate::simulation::Simulation;
use crate::time_stepping::{TOUCHING_GAP, smaller};

impl Simulation {
    /// Adds adhesion to the forces of the step, at the contacts that were found for it.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_adhesion(&mut self) -> Result<(), InputError> {
        let Self { world, work, collision, assembler, drives, scratch, sizes, .. } = self;
        scratch.adhesion.clear();
        let points = collision.contacts();
        let mut any = false;
        for (actuator, drive) in world.actuators.iter().zip(&mut drives.motors) {
            let Transmission::Body(link) = actuator.transmission else { continue };
            let is_own = |i: &usize| {
                let at = &points[*i];
                at.gap <= TOUCHING_GAP * smaller(sizes, at)
                    && at.geoms.iter().any(|g| world.geoms[*g].link == Some(link))
            };
            let own: Vec<usize> = (0..points.len()).filter(is_own).collect();
            if own.is_empty() || drive.force == 0.0 {
                continue;
            }
            any = true;
            scratch.adhesion.resize(points.len(), 0.0);
            let share = 1.0 / own.len() as f64;
            for i in own {
                let (_, (blocks, count)) = assembler.normal_row(world, work, &points[i]);
                for (tree, values) in &blocks[..count] {
                    let row = drive.row.tree_mut(&world.model, *tree);
                    row.iter_mut().zip(*values).for_each(|(x, along)| *x -= share * along);
                }
                scratch.adhesion[i] += share * clamp(drive.force, drive.range);
            }
        }
        if any { self.update_forces() } else { Ok(()) }
    }
}
