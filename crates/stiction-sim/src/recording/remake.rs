//! The recorded steps made again one by one, each with the contact problem that its forces and motion answer.

use stiction_contact::{ContactOutcome, ContactProblem, Level, ModelKind};

use super::change::Pending;
use super::read::{Chunk, Recording};
use super::step::RecordedStep;
use crate::error::SceneError;
use crate::simulation::Simulation;

/// A recorded step beside the same step made again.
#[derive(Debug, Clone)]
pub struct RemadeStep {
    /// As recorded.
    pub recorded: RecordedStep,
    /// The contact problem of the step made again, with the model that answered it.
    pub problem: ContactProblem,
    /// The model's name in the catalog.
    pub model: ModelKind,
    /// Velocities (or accelerations, by the recorded level) of the answer found again, nv; empty if the step had no contact problem.
    pub motion: Vec<f64>,
    /// Velocities after the step made again, nv. They are `motion` unless the step was made of several pieces.
    pub v: Vec<f64>,
}

/// Makes the steps of a recording again, from each of its snapshots: what is wrong in one chunk says nothing of the next.
pub struct Remaking {
    recording: Recording,
    simulation: Simulation,
    /// The next chunk.
    chunk: usize,
    /// Steps left of the present one.
    steps: std::vec::IntoIter<RecordedStep>,
    /// What was changed from outside, and is to be changed again.
    pending: Pending,
    /// A step is being made: true afterwards only if that was abandoned in the middle.
    within_step: bool,
}

impl Remaking {
    /// Builds the recorded scene; also gives what is no longer as it was, in words.
    ///
    /// # Errors
    /// If the scene cannot be built any more.
    pub fn new(recording: Recording) -> Result<(Self, Vec<String>), SceneError> {
        let (scene, notes) = recording.header().scene()?;
        let simulation = recording.header().simulation(&scene)?;
        let (steps, pending) = (vec![].into_iter(), Pending::default());
        Ok((Self { recording, simulation, chunk: 0, steps, pending, within_step: false }, notes))
    }

    /// The recording.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The next recorded step; `None` after the last.
    ///
    /// # Errors
    /// If the recording does not fit the scene, a step cannot be made any more, or an earlier one was abandoned in the middle.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<RemadeStep>, SceneError> {
        let recorded = loop {
            if let Some(step) = self.steps.next() {
                break step;
            }
            if self.chunk == self.recording.chunks() {
                return Ok(None);
            }
            let Chunk { snapshot, steps, changes } = self.recording.chunk(self.chunk)?;
            self.simulation.restore(&snapshot).map_err(|e| SceneError::input("recording", &e))?;
            (self.steps, self.chunk) = (steps.into_iter(), self.chunk + 1);
            self.pending.replace(changes);
        };
        if std::mem::replace(&mut self.within_step, true) {
            return Err(SceneError::new("recording", "a step was abandoned in the middle; begin again"));
        }
        let simulation = &mut self.simulation;
        while simulation.state().step <= recorded.number() {
            let failed = |e: crate::StepFailure| SceneError::new(format!("step {}", e.step), e.why);
            self.pending.step(simulation)?.map_err(failed)?;
        }
        self.within_step = false;
        let solution = simulation.outcome().and_then(ContactOutcome::answer);
        let motion = solution.map(|s| s.motion.clone()).unwrap_or_default();
        let settings = simulation.settings();
        let model = match (recorded.fallback, recorded.level) {
            (true, _) => ModelKind::CoulombPolyhedral,
            (false, Level::Acceleration) => settings.model,
            (false, Level::Velocity) => simulation.model.kind(),
        };
        let (problem, v) = (simulation.problem().clone(), simulation.state().v.clone());
        Ok(Some(RemadeStep { recorded, problem, model, motion, v }))
    }
}
