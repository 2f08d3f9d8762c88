//! A simulation with what Python asks of it: state and inputs come in as slices, and are validated where they changed.

use std::sync::Arc;

use stiction_body::Workspace;
use stiction_lcp::InputError;
use stiction_sim::{Scene, SceneError, Simulation, Snapshot, StepFailure, StepReport};

use crate::inputs::Layout;

/// A simulation, and what was last seen of its arrays.
pub struct Core {
    /// The engine's simulation.
    pub sim: Simulation,
    /// Where inputs are.
    pub layout: Arc<Layout>,
    controller: usize,
    /// The inputs the controller has.
    inputs: Vec<f64>,
    /// Configuration and velocities before the last step.
    before: (Vec<f64>, Vec<f64>),
    /// The state as Python saw it when the last work without the GIL began: q, then v.
    seen: Vec<f64>,
    /// For questions about states other than that of the last step.
    pub work: Workspace,
}

impl Core {
    /// At the start of a scene.
    pub fn new(scene: &Scene, layout: &Arc<Layout>) -> Result<Self, SceneError> {
        let sim = layout.simulation(scene)?;
        let before = (sim.state().q.clone(), sim.state().v.clone());
        let inputs = vec![0.0; layout.len()];
        let controller = layout.controller(scene);
        Ok(Self { sim, layout: layout.clone(), controller, inputs, before, seen: vec![], work: Workspace::default() })
    }

    /// Takes configuration and velocities over, if they are not those of the simulation.
    pub fn set_state(&mut self, q: &[f64], v: &[f64]) -> Result<(), String> {
        let state = self.sim.state();
        if same_bits(&state.q, q) && same_bits(&state.v, v) {
            return Ok(());
        }
        self.sim.set_state(q, v).map_err(|e| e.to_string())
    }

    /// Takes inputs over, if they changed.
    pub fn set_inputs(&mut self, inputs: &[f64]) -> Result<(), String> {
        if same_bits(&self.inputs, inputs) {
            return Ok(());
        }
        self.layout.check(inputs)?;
        self.sim.set_controller_memory(self.controller, inputs).map_err(|e| e.to_string())?;
        self.inputs.copy_from_slice(inputs);
        Ok(())
    }

    /// The inputs the controller has.
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// Learns the inputs from the simulation, after its state was loaded.
    pub fn refresh_inputs(&mut self) {
        if let Some(memory) = self.sim.snapshot().controllers.get(self.controller) {
            self.inputs.clone_from(memory);
        }
        self.keep();
    }

    /// Back to a snapshot of the same scene, such as its start; workspaces keep their sizes.
    pub fn go_back(&mut self, to: &Snapshot) -> Result<(), InputError> {
        self.sim.restore(to)?;
        if let Some(memory) = to.controllers.get(self.controller) {
            self.inputs.clone_from(memory);
        }
        self.keep();
        Ok(())
    }

    /// One step.
    pub fn step(&mut self) -> Result<StepReport, StepFailure> {
        self.keep();
        self.sim.step()
    }

    fn keep(&mut self) {
        let state = self.sim.state();
        self.before.0.clone_from(&state.q);
        self.before.1.clone_from(&state.v);
    }

    /// Remembers the state that Python sees.
    pub fn note_state(&mut self) {
        let state = self.sim.state();
        self.seen.clear();
        self.seen.extend_from_slice(&state.q);
        self.seen.extend_from_slice(&state.v);
    }

    /// Whether Python's state, q then v, is another than it was at [`Core::note_state`].
    pub fn was_written(&self, now: &[f64]) -> bool {
        !same_bits(now, &self.seen)
    }

    /// Configuration and velocities before the last step.
    pub fn before(&self) -> (&[f64], &[f64]) {
        (&self.before.0, &self.before.1)
    }

    /// Poses and velocities of the bodies now, in `work`.
    pub fn kinematics(&mut self) {
        let (world, state) = (self.sim.world(), self.sim.state());
        self.work.update_positions(&world.model, &state.q);
        self.work.update_velocities(&world.model, &state.v);
    }
}

/// Whether two slices of one length hold the same numbers, bit for bit: without a branch per number, because every step asks.
pub fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |other, (a, b)| other | (a.to_bits() ^ b.to_bits())) == 0
}
