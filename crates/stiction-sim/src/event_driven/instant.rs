//! Accelerations at one instant, without a step.

use stiction_contact::ContactProblem;
use stiction_lcp::InputError;

use crate::event_driven::Events;
use crate::simulation::Simulation;

impl Simulation {
    /// The problem of accelerations at the present state, under what controllers ask for now: contacts that touch and
    /// do not part, limits that are reached, loops, and joints with dry friction that stand. Motions that controllers
    /// prescribe go on at their velocities. Nothing is changed.
    ///
    /// Solved by a model of accelerations it gives accelerations and forces. A bilateral row along a joint, with an
    /// acceleration as its target, asks for the effort of that joint instead: the force of the row.
    ///
    /// Reference: \[Trinkle95, §2.5\].
    ///
    /// # Errors
    /// `InputError::Unsupported` if the simulation is not event-driven, or if something that touches approaches:
    /// there is an impact first.
    pub fn acceleration_problem(&mut self) -> Result<ContactProblem, InputError> {
        let Some(mut events) = self.events.take() else {
            return Err(unsupported("accelerations at an instant need an event-driven simulation"));
        };
        let memories: Vec<Vec<f64>> = self.controllers.iter().map(|c| c.memory().to_vec()).collect();
        let found = events.problem_now(self);
        self.controllers.iter_mut().zip(&memories).for_each(|(c, memory)| c.set_memory(memory));
        self.events = Some(events);
        found
    }
}

impl Events {
    fn problem_now(&mut self, sim: &mut Simulation) -> Result<ContactProblem, InputError> {
        self.measure_world(sim);
        sim.update_dynamics();
        sim.command(sim.state.t);
        self.hold_commands(sim);
        self.free_motion(sim)?;
        self.find_touching(sim, 0.0);
        if self.classify(sim) {
            return Err(unsupported(
                "something that touches approaches, or a motion is not at its velocity: there is an impact first",
            ));
        }
        // Joints that move against dry friction are known now.
        self.free_motion(sim)?;
        self.choose(sim.collision.contacts());
        self.add_rows(sim)?;
        Ok(sim.assembler.problem.clone())
    }
}

fn unsupported(reason: &str) -> InputError {
    InputError::Unsupported { solver: "event-driven", reason: reason.into() }
}
