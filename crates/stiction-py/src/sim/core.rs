//! A simulation with what Python asks of it: state and inputs come in as slices, and are validated where they changed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use stiction_body::Workspace;
use stiction_lcp::InputError;
use stiction_linalg::lanes::same_bits;
use stiction_sim::inputs::Layout;
use stiction_sim::{Overlap, Scene, SceneError, Simulation, Snapshot, StepFailure, StepReport};

use super::tape::Tape;

/// What becomes of bodies that overlap at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtStart {
    /// They are an error.
    Refuse,
    /// They are taken apart.
    Separate,
    /// They stay: another state is loaded anyway.
    Keep,
}

impl AtStart {
    /// Of a scene that is begun.
    pub(crate) fn new(separate: bool) -> Self {
        if separate { Self::Separate } else { Self::Refuse }
    }

    /// Of a scene that goes on from a saved state: the start is what it was, and nothing is
    /// refused.
    pub(crate) fn again(separate: bool) -> Self {
        if separate { Self::Separate } else { Self::Keep }
    }
}

/// A simulation, and what was last seen of its arrays.
pub(crate) struct Core {
    /// The engine's simulation.
    pub sim: Simulation,
    /// Where inputs are.
    pub layout: Arc<Layout>,
    controller: usize,
    /// The inputs the controller has.
    inputs: Vec<f64>,
    /// All that influences the last step, from before it.
    before: Snapshot,
    /// The physical parameters as they were last seen; none if nobody has looked.
    physical: Vec<f64>,
    /// To build the simulation anew from.
    pub scene: Arc<Scene>,
    /// The state as Python saw it when the last work without the GIL began: q, then v.
    seen: Vec<f64>,
    /// For questions about states other than that of the last step.
    pub work: Workspace,
    /// Where its steps are recorded, if they are.
    pub(super) tape: Option<Tape>,
}

impl Core {
    /// At the start of a scene.
    pub(crate) fn new(scene: &Arc<Scene>, layout: &Arc<Layout>) -> Result<Self, SceneError> {
        let sim = layout.simulation(scene)?;
        let before = sim.snapshot();
        let inputs = layout.at_start();
        let controller = layout.controller(scene);
        let (scene, layout, work) = (scene.clone(), layout.clone(), Workspace::default());
        Ok(Self { sim, layout, controller, inputs, before, physical: vec![], scene, seen: vec![], work, tape: None })
    }

    /// Prepares the start: bodies that overlap there are an error, or are taken apart; parts of one
    /// model may overlap.
    pub(crate) fn begin(&mut self, overlap: AtStart) -> Result<(), SceneError> {
        if overlap == AtStart::Keep {
            return Ok(());
        }
        let Some(refusal) = Overlap::refusal(&self.sim.overlaps()) else { return Ok(()) };
        if overlap == AtStart::Refuse {
            return Err(SceneError::new("", format!("{refusal}; separate=True takes them apart")));
        }
        self.sim.take_apart().map_err(|e| SceneError::input("", &e))?;
        self.keep();
        Ok(())
    }

    /// Takes configuration and velocities over, if they are not those of the simulation.
    pub(crate) fn set_state(&mut self, q: &[f64], v: &[f64]) -> Result<(), String> {
        let state = self.sim.state();
        if same_bits(&state.q, q) && same_bits(&state.v, v) {
            return Ok(());
        }
        // What is moved from outside may be moved before every step: steps go on remembering.
        let jointed = self.sim.world().model.jointed_nq();
        if q.len() == state.q.len() && same_bits(&state.q[..jointed], &q[..jointed]) && same_bits(&state.v, v) {
            return self.sim.set_mocap_poses(&q[jointed..]).map_err(|e| e.to_string());
        }
        self.sim.set_state(q, v).map_err(|e| e.to_string())
    }

    /// Takes inputs over, if they changed.
    pub(crate) fn set_inputs(&mut self, inputs: &[f64]) -> Result<(), String> {
        if same_bits(&self.inputs, inputs) {
            return Ok(());
        }
        self.layout.check(inputs, &self.inputs)?;
        self.sim.set_controller_memory(self.controller, inputs).map_err(|e| e.to_string())?;
        self.inputs.copy_from_slice(inputs);
        Ok(())
    }

    /// Takes physical parameters over, if they changed.
    pub(crate) fn set_physical(&mut self, row: &[f64]) -> Result<(), String> {
        if same_bits(&self.physical, row) {
            return Ok(());
        }
        self.sim.set_physical(row).map_err(|e| e.to_string())?;
        self.physical.clear();
        self.physical.extend_from_slice(row);
        Ok(())
    }

    /// The physical parameters, after which [`Core::set_physical`] asks.
    pub(crate) fn physical(&mut self) -> &[f64] {
        self.physical = self.sim.physical();
        &self.physical
    }

    /// The inputs the controller has.
    pub(crate) fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// Learns the inputs from the simulation, after its state was loaded.
    pub(crate) fn refresh_inputs(&mut self) {
        if let Some(memory) = self.sim.snapshot().controllers.get(self.controller) {
            self.inputs.clone_from(memory);
        }
        self.keep();
    }

    /// Back to a snapshot of the same scene, such as its start; workspaces keep their sizes, and physical parameters
    /// stay what they are.
    pub(crate) fn go_back(&mut self, to: &Snapshot) -> Result<(), InputError> {
        if self.sim.physical_changes().is_empty() && to.physical.is_empty() {
            self.sim.restore(to)?;
        } else {
            let physical = self.sim.physical_changes().to_vec();
            self.sim.restore(&Snapshot { physical, ..to.clone() })?;
        }
        if let Some(memory) = to.controllers.get(self.controller) {
            self.inputs.clone_from(memory);
        }
        self.keep();
        Ok(())
    }

    /// One step, recorded if steps are.
    pub(crate) fn step(&mut self) -> Result<StepReport, StepFailure> {
        let made = self.attempt(Simulation::step);
        if let Some(tape) = &mut self.tape {
            tape.step(&self.sim, &made);
        }
        made
    }

    /// Records what was changed since the last step, if steps are recorded; says why it cannot be.
    pub(crate) fn record_changes(&mut self) -> Result<(), String> {
        self.tape.as_mut().map_or(Ok(()), |tape| tape.changes(&self.sim))
    }

    /// Says why steps could not be recorded, if so.
    pub(crate) fn recorded(&mut self) -> Result<(), String> {
        self.tape.as_mut().map_or(Ok(()), Tape::check)
    }

    /// Does `work` on the simulation. If it is interrupted, or ends in a panic, the simulation is
    /// that before it.
    pub(crate) fn attempt<R>(&mut self, work: impl FnOnce(&mut Simulation) -> R) -> R {
        self.keep();
        catch_unwind(AssertUnwindSafe(|| work(&mut self.sim))).unwrap_or_else(|payload| {
            // Whatever was at work is in no defined state.
            if let Ok(sim) = self.layout.simulation(&self.scene) {
                self.sim = sim;
            }
            // The snapshot is of a simulation of the same scene, so it fits.
            let _ = self.sim.restore(&self.before);
            resume_unwind(payload)
        })
    }

    fn keep(&mut self) {
        self.sim.snapshot_into(&mut self.before);
    }

    /// Remembers the state that Python sees.
    pub(crate) fn note_state(&mut self) {
        let state = self.sim.state();
        self.seen.clear();
        self.seen.extend_from_slice(&state.q);
        self.seen.extend_from_slice(&state.v);
    }

    /// Whether Python's state, q then v, is another than it was at [`Core::note_state`].
    pub(crate) fn was_written(&self, now: &[f64]) -> bool {
        !same_bits(now, &self.seen)
    }

    /// Configuration and velocities before the last step.
    pub(crate) fn before(&self) -> (&[f64], &[f64]) {
        (&self.before.state.q, &self.before.state.v)
    }

    /// Poses and velocities of the bodies now, in `work`.
    pub(crate) fn kinematics(&mut self) {
        let (world, state) = (self.sim.world(), self.sim.state());
        self.work.update_positions(&world.model, &state.q);
        self.work.update_velocities(&world.model, &state.v);
    }
}
