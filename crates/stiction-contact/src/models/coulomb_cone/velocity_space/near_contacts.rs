//! Contacts of an island that its motion may close, where most of them stay open.
//!
//! Collision finds all contacts that any motion of a step could close, hundreds about a hand that moves fast, and the step closes a few of them. The others are
//! left out until a motion is found that would close them: an answer with which they stay open without a force is one for all.

use crate::islands::Island;
use crate::model::WarmStart;
use crate::problem::ContactProblem;
use crate::whitened::separation_bias;

/// Islands of fewer contacts are solved whole: that takes no longer than to choose.
const FEW: usize = 64;
/// Islands are solved whole if more than this part of their contacts is near.
const LARGEST_PART: f64 = 0.5;
/// A contact is near if velocities before the step, or those without forces, close this part of its gap.
const CLOSED_PART: f64 = 0.5;
/// Velocity by which a contact may seem to close by rounding, beside its speed.
const ROUNDED: f64 = 1e-14;

/// The contacts that are taken into account. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct NearContacts {
    /// The island with these contacts alone.
    pub island: Island,
    /// Whether each contact of the island is one of them.
    is_near: Vec<bool>,
}

impl NearContacts {
    /// Chooses those that had forces, and those that get near at the velocities before the step or at those without forces, `free` (m). False if there are
    /// too many to leave the others out.
    pub(super) fn choose(
        &mut self,
        problem: &ContactProblem,
        island: &Island,
        start: Option<&WarmStart>,
        free: &[f64],
    ) -> bool {
        let contacts = problem.contacts();
        self.is_near.clear();
        self.is_near.extend(island.contacts.iter().map(|&i| {
            let bias = separation_bias(contacts.gap[i], problem.dt(), contacts.bounce[i]);
            let [before, without_forces] = contacts.normal.dot_both(i, [problem.v(), free]);
            bias <= 0.0
                || before.min(without_forces) <= -CLOSED_PART * bias
                || start.is_some_and(|start| start.forces.normal[i] > 0.0)
        }));
        self.list(island);
        self.island.contacts.len() as f64 <= LARGEST_PART * island.contacts.len() as f64
    }

    /// True if an island has enough contacts to choose from.
    pub(super) fn are_worth_choosing(island: &Island) -> bool {
        island.contacts.len() >= FEW
    }

    /// Adds those that the velocities `motion` (m) would close; false if there are none.
    pub(super) fn add_closed(&mut self, problem: &ContactProblem, island: &Island, motion: &[f64]) -> bool {
        let contacts = problem.contacts();
        let mut added = false;
        for (near, &i) in self.is_near.iter_mut().zip(&island.contacts).filter(|(near, _)| !**near) {
            let bias = separation_bias(contacts.gap[i], problem.dt(), contacts.bounce[i]);
            let speed = contacts.normal.dot(i, motion);
            *near = speed + bias < -ROUNDED * speed.abs();
            added |= *near;
        }
        self.list(island);
        added
    }

    /// Lists the contacts that are near.
    fn list(&mut self, island: &Island) {
        let Self { island: of, is_near } = self;
        of.contacts.clear();
        of.contacts.extend(island.contacts.iter().zip(&*is_near).filter(|(_, near)| **near).map(|(i, _)| *i));
        let copies = [
            (&mut of.blocks, &island.blocks),
            (&mut of.bilaterals, &island.bilaterals),
            (&mut of.limits, &island.limits),
            (&mut of.bounded, &island.bounded),
        ];
        copies.into_iter().for_each(|(to, from)| to.clone_from(from));
    }
}
