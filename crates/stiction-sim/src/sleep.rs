//! Sleep: a step that changed nothing is not computed again until something changes that it depends on.
//!
//! A step depends on the state, on what steps remember, and on what controllers ask of it. If it left the first two as they were, to the last bit, the next one does the same as long as controllers
//! ask for the same: they are asked in every step. Its report, contacts, forces and certificate are those of the step that was computed, which are the ones it would have. So sleep can be seen
//! in the time a step takes, and nowhere else.
//!
//! Where something moves, the islands that do not are kept by [`SeparateIslands`](stiction_contact::SeparateIslands).

use stiction_linalg::lanes::same_bits;

use crate::control::{Commands, LinkWrench};
use crate::simulation::{Simulation, StepReport};

/// What is known of a step that changed nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sleep {
    /// Its report; `None` if the last step changed something.
    report: Option<StepReport>,
    /// What controllers asked of it.
    commands: Commands,
    /// The last step was not computed.
    asleep: bool,
}

impl Sleep {
    /// The next step is computed.
    pub(crate) fn wake(&mut self) {
        self.report = None;
    }

    /// True if the last step changed nothing.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.report.is_some()
    }
}

impl Simulation {
    /// True if the last step was not computed, because nothing had changed since one that changed nothing.
    pub fn is_asleep(&self) -> bool {
        self.sleep.asleep
    }

    /// The step that starts now, if it is the last one over again: time goes on.
    pub(crate) fn sleep_on(&mut self) -> Option<StepReport> {
        let Self { sleep, commands, state, settings, .. } = self;
        let report = sleep.report.filter(|_| sleep.commands.is_same(commands))?;
        state.advance_time(state.t, settings.dt);
        sleep.asleep = true;
        Some(report)
    }

    /// Takes note of a step that was computed: whether all that the next one depends on is what it was before.
    pub(crate) fn note_rest(&mut self, report: &StepReport) {
        let rests = self.settings.sleeping && self.changed_nothing();
        let Self { sleep, commands, .. } = self;
        sleep.asleep = false;
        sleep.report = rests.then_some(*report);
        if rests {
            sleep.commands.clone_from(commands);
        }
    }

    fn changed_nothing(&self) -> bool {
        let Self { state, memory, before, .. } = self;
        same_bits(&state.v, &before.v)
            && same_bits(&state.q, &before.q)
            && same_bits(&state.activation, &before.activation)
            && memory.saturated == before.saturated
            && before.has_contacts
            && memory.keys == before.keys
            && memory.limits == before.limits
            && memory.start.is_same(&before.start)
    }
}

impl Commands {
    /// True if both ask for the same, to the last bit.
    fn is_same(&self, other: &Self) -> bool {
        let Self { force, effort, kp, kd, pull, limit, control, prescribed, wrenches } = self;
        let wrench = |w: &LinkWrench| (w.link, [w.force, w.moment].map(|x| x.to_array().map(f64::to_bits)));
        let bits = |x: &Option<f64>| x.map(f64::to_bits);
        same_bits(force, &other.force)
            && same_bits(effort, &other.effort)
            && same_bits(kp, &other.kp)
            && same_bits(kd, &other.kd)
            && same_bits(pull, &other.pull)
            && same_bits(limit.as_flattened(), other.limit.as_flattened())
            && same_bits(control, &other.control)
            && prescribed.iter().map(bits).eq(other.prescribed.iter().map(bits))
            && wrenches.iter().map(wrench).eq(other.wrenches.iter().map(wrench))
    }
}
