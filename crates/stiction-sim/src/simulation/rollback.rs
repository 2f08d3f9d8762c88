//! The one way back: what a step may change is kept when it starts, and put back if it fails, whatever simulator it
//! belongs to and however far it came.

use stiction_contact::WarmStart;

use super::{Memory, Simulation};
use crate::assemble::ContactKey;
use crate::control::{Controller, LinkWrench};
use crate::equality::Switch;

/// What a step that fails goes back to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Velocities that the step left; none if there was no step, or its state was replaced by a snapshot.
    pub v_after: Vec<f64>,
    /// What pushed on links from outside in it.
    pub wrenches: Vec<LinkWrench>,
    pub activation: Vec<f64>,
    pub t: f64,
    step: u64,
    pub saturated: Vec<i8>,
    switches: Vec<Switch>,
    /// What each controller remembers.
    controllers: Vec<Vec<f64>>,
    /// Contacts, limits and warm start that the step began with, from the moment it has others.
    pub keys: Vec<ContactKey>,
    pub limits: Vec<u32>,
    pub start: WarmStart,
    /// They are here, and not in the memory.
    pub has_contacts: bool,
}

impl Before {
    /// Moves what is remembered of contacts here, unless it is from an earlier moment of the step.
    pub(super) fn keep_contacts(&mut self, memory: &mut Memory) {
        if !std::mem::replace(&mut self.has_contacts, true) {
            self.swap_contacts(memory);
        }
    }

    fn swap_contacts(&mut self, memory: &mut Memory) {
        std::mem::swap(&mut memory.keys, &mut self.keys);
        std::mem::swap(&mut memory.limits, &mut self.limits);
        std::mem::swap(&mut memory.start, &mut self.start);
    }

    /// Controllers remember what they did at the start of the step.
    pub(crate) fn restore_controllers(&self, controllers: &mut [Box<dyn Controller>]) {
        controllers.iter_mut().zip(&self.controllers).for_each(|(c, memory)| c.set_memory(memory));
    }
}

impl Simulation {
    /// Keeps what a step can change before it is known to succeed.
    pub(super) fn keep(&mut self) {
        let Self { before, state, memory, controllers, switches, .. } = self;
        before.switches.clone_from(switches);
        before.q.clone_from(&state.q);
        before.v.clone_from(&state.v);
        before.activation.clone_from(&state.activation);
        (before.t, before.step) = (state.t, state.step);
        before.saturated.clone_from(&memory.saturated);
        before.has_contacts = false;
        before.controllers.resize_with(controllers.len(), Vec::new);
        for (kept, controller) in before.controllers.iter_mut().zip(controllers) {
            kept.clear();
            kept.extend_from_slice(controller.memory());
        }
    }

    /// Goes back to what was kept.
    pub(super) fn go_back(&mut self) {
        self.kinematics_at_state = false;
        self.model.limit_work(None);
        if self.before.switches != self.switches {
            self.set_switches(self.before.switches.clone());
        }
        let Self { before, state, memory, controllers, .. } = self;
        state.q.clone_from(&before.q);
        state.v.clone_from(&before.v);
        state.activation.clone_from(&before.activation);
        (state.t, state.step) = (before.t, before.step);
        memory.saturated.clone_from(&before.saturated);
        if std::mem::take(&mut before.has_contacts) {
            before.swap_contacts(memory);
        }
        before.restore_controllers(controllers);
    }
}
