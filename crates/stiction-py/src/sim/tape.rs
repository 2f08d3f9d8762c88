//! A simulation's steps on their way to a recording.

use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::path::PathBuf;

use pyo3::prelude::*;
use stiction_sim::recording::Header;
use stiction_sim::{Recorder, Simulation as Engine, StepFailure, StepReport};

use super::simulation::Simulation;
use crate::{arrays, errors};

/// A recording that is being written.
pub(crate) struct Tape {
    recorder: Recorder<BufWriter<File>>,
    path: PathBuf,
    /// Why the last step failed, if it did.
    failure: Option<String>,
    /// Why something could not be written.
    broken: Option<String>,
}

impl Tape {
    /// Takes in what was changed from outside; says why it cannot.
    pub(crate) fn changes(&mut self, sim: &Engine) -> Result<(), String> {
        let hint = "close the recorder, and begin another one";
        self.recorder.before_step(sim).map_err(|e| format!("{}: {e}; {hint}", self.path.display()))
    }

    /// Takes in a step that was made, or failed.
    pub(crate) fn step(&mut self, sim: &Engine, made: &Result<StepReport, StepFailure>) {
        self.failure = made.as_ref().err().map(|failure| failure.why.clone());
        if let Ok(report) = made {
            let written = self.recorder.step(sim, report);
            self.broken = self.broken.take().or_else(|| written.err().map(|e| e.to_string()));
        }
    }

    /// Says once why something could not be written, if so.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        self.broken.take().map_or(Ok(()), |why| Err(format!("{}: cannot be written: {why}", self.path.display())))
    }

    /// Writes what is left.
    fn finish(mut self, sim: &Engine) -> Result<(), String> {
        self.check()?;
        let written = self.recorder.finish(sim, self.failure.as_deref());
        written.map(drop).map_err(|e| format!("{}: cannot be written: {e}", self.path.display()))
    }
}

#[pymethods]
impl Simulation {
    /// Begins a recording; `stiction.Recorder` does it.
    fn _begin_recording(
        &self,
        py: Python<'_>,
        path: PathBuf,
        every: &Bound<'_, PyAny>,
        overwrite: bool,
    ) -> PyResult<()> {
        let every = arrays::count("every", 1, every)? as u64;
        let mut core = self.lock(py)?;
        if let Some(tape) = &core.tape {
            let other = tape.path.display();
            return Err(errors::input(py, format!("this simulation is recorded to {other} already; close that first")));
        }
        self.read(py, &mut core)?;
        let scene = self.scene.get();
        let origin = scene.origin().map_err(|e| errors::from_scene(&e))?;
        let header = Header { inputs: true, ..Header::new(origin, &scene.inner, every) };
        let mut how = OpenOptions::new();
        how.write(true);
        if overwrite {
            how.create(true).truncate(true)
        } else {
            how.create_new(true)
        };
        let file = how.open(&path).map_err(|e| std::io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        let recorder = Recorder::new(BufWriter::new(file), &header, &core.sim)?;
        core.tape = Some(Tape { recorder, path, failure: None, broken: None });
        Ok(())
    }

    /// Ends the recording, if there is one.
    fn _end_recording(&self, py: Python<'_>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        let Some(tape) = core.tape.take() else { return Ok(()) };
        tape.finish(&core.sim).map_err(|e| std::io::Error::other(e).into())
    }

    /// The file that the simulation is recorded to, or None.
    #[getter]
    fn recorded_to(&self, py: Python<'_>) -> PyResult<Option<PathBuf>> {
        Ok(self.lock(py)?.tape.as_ref().map(|tape| tape.path.clone()))
    }
}

impl Drop for super::core::Core {
    /// A recording that nobody has closed is whole, too.
    fn drop(&mut self) {
        if let Some(tape) = self.tape.take() {
            // Nobody is left to be told.
            let _ = tape.finish(&self.sim);
        }
    }
}
