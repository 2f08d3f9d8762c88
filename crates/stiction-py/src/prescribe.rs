//! Joints that move as told, whatever that takes: for inverse dynamics.

use stiction_body::Model;
use stiction_sim::{Commands, Controller, View};

/// A controller that gives chosen velocities chosen values, whatever that takes: for inverse dynamics.
pub(crate) struct Prescribe {
    /// Per velocity its value after the step, if it is prescribed.
    pub velocities: Vec<Option<f64>>,
}

impl Controller for Prescribe {
    fn command(&mut self, _view: &View<'_>, commands: &mut Commands) {
        commands.prescribed.copy_from_slice(&self.velocities);
        commands.limit.fill([f64::NEG_INFINITY, f64::INFINITY]);
    }
}

/// The joints that motors can move: all but those of free bodies.
pub(crate) fn actuated(model: &Model) -> Vec<bool> {
    let mut all = vec![false; model.nv()];
    for link in model.links() {
        let moved = !matches!(link.spec.kind, stiction_body::JointKind::Free);
        all[link.v.clone()].fill(moved);
    }
    all
}
