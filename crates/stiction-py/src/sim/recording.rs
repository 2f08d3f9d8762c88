//! A recording, its steps made again one by one beside what was recorded.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_sim::recording::Remaking;

use super::recorded;
use super::report::RunReport;
use super::run::into_dict;
use crate::contact::{ContactProblem, PhysicalCertificate, forces, level_name};
use crate::display::html;
use crate::scene::Scene;
use crate::{arrays, errors, interrupt};

/// A file of ``stiction run --record``, `record` or `Recorder`: what was recorded of each step, beside the contact problem of the step made again.
///
/// Iterating over it gives a dictionary per recorded step, in order: ``step`` (from 0), ``t`` (s, after it), ``problem`` (a
/// `contact.ContactProblem`), ``model`` and ``level`` of its answer, the recorded ``forces`` (by kind of row), ``v`` (velocities after
/// the step), ``modes``, ``certificate`` and ``accepted``; and of the step made again ``remade_motion`` (the answer's velocities or accelerations) and
/// ``remade_v``. Steps are made again from the snapshots of the file. `trajectory` and `contacts` give what was recorded without making it again.
///
/// Parameters
/// ----------
/// path : str or path
///
/// Raises
/// ------
/// SceneError
///     If the file is no recording, or its scene cannot be built any more.
#[pyclass(frozen, module = "stiction")]
pub(crate) struct Recording {
    // Boxed: a simulation holds values that ask for more alignment than Python's objects have.
    remaking: Mutex<Box<Remaking>>,
    notes: Vec<String>,
    scene: Py<Scene>,
}

impl Recording {
    fn with<R>(&self, of: impl FnOnce(&mut Remaking) -> R) -> R {
        of(&mut self.remaking.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

getters!(Recording, {
    /// What is no longer as it was when the recording was made, in words.
    notes: Vec<String> = |this| this.notes.clone();
    /// The step (s).
    dt: f64 = |this| this.with(|r| r.recording().header().settings.dt);
    /// The contact model.
    model: &'static str = |this| this.with(|r| r.recording().header().settings.model.name());
    /// The tolerance of certificates.
    tolerance: f64 = |this| this.with(|r| r.recording().header().settings.tolerance);
    /// Why the file breaks off early, if it does.
    damage: Option<String> = |this| this.with(|r| r.recording().damage().map(str::to_string));
});

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let open = || Remaking::new(stiction_sim::Recording::load(&path)?);
        let (remaking, notes) = py.detach(open).map_err(|e| errors::from_scene(&e))?;
        let scene = Py::new(py, Scene::recorded(remaking.recording().header())?)?;
        Ok(Self { remaking: Mutex::new(Box::new(remaking)), notes, scene })
    }

    /// The scene, with the settings it was simulated with.
    #[getter]
    fn scene(&self, py: Python<'_>) -> Py<Scene> {
        self.scene.clone_ref(py)
    }

    /// What was recorded: a row per recorded step, after the state before the first. Energies and slip speeds are computed from it.
    ///
    /// Returns
    /// -------
    /// Trajectory
    fn trajectory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let world = self.scene.get().inner.world.clone();
        let read = || self.with(|r| recorded::trajectory(r.recording(), &world));
        let (run, rows): (RunReport, _) = py.detach(read).map_err(|e| errors::from_scene(&e))?;
        let (model, bodies) = (&world.model, world.model.links().len());
        let arrays = into_dict(rows, py, [model.nq(), model.nv(), bodies])?;
        arrays.set_item("scene", &self.scene)?;
        arrays.set_item("report", Bound::new(py, run)?)?;
        py.import("stiction.sim")?.getattr("Trajectory")?.call((), Some(&arrays))
    }

    /// The contacts of a recorded step.
    ///
    /// Parameters
    /// ----------
    /// i : int
    ///     Which of the recorded steps, from 0: row ``i + 1`` of `trajectory`. A negative one counts from the end.
    ///
    /// Returns
    /// -------
    /// structured ndarray
    ///     As ``Simulation.contacts``.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     There is no such step.
    fn contacts<'py>(&self, py: Python<'py>, i: isize) -> PyResult<Bound<'py, PyAny>> {
        self.with(|r| {
            let (recording, count) = (r.recording(), r.recording().step_count());
            let at = if i < 0 { i.checked_add_unsigned(count) } else { Some(i) };
            let step = at.and_then(|i| usize::try_from(i).ok()).and_then(|i| recording.step(i));
            let none = || PyIndexError::new_err(format!("there is no recorded step {i}, only {count}"));
            recorded::contacts(py, &step.ok_or_else(none)?, recording.header(), &self.scene.get().inner.world)
        })
    }

    /// Shows it in the browser with a timeline; see `stiction.view`.
    ///
    /// Parameters
    /// ----------
    /// **options
    ///     As of `stiction.view.view`: ``port``, ``host``, ``run``, ...
    ///
    /// Returns
    /// -------
    /// stiction.view.Viewer
    #[pyo3(signature = (**options))]
    fn view<'py>(slf: &Bound<'py, Self>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction.view")?.call_method("view", (slf,), options)
    }

    /// ``time-stepping`` or ``event-driven``.
    #[getter]
    fn simulator(&self) -> &'static str {
        self.with(|r| r.recording().header().settings.simulator.name())
    }

    fn __len__(&self) -> usize {
        self.with(|r| r.recording().step_count())
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let next = interrupt::detached(py, || self.with(Remaking::next))?.map_err(|e| errors::from_scene(&e))?;
        let Some(step) = next else { return Ok(None) };
        let recorded = &step.recorded;
        let modes: Vec<&str> = recorded.contacts.iter().map(|c| c.mode.name()).collect();
        let out = PyDict::new(py);
        out.set_item("step", recorded.number())?;
        out.set_item("t", recorded.state.t)?;
        out.set_item("problem", Bound::new(py, ContactProblem::new_from(Arc::new(step.problem)))?)?;
        out.set_item("model", step.model.name())?;
        out.set_item("level", level_name(recorded.level))?;
        out.set_item("forces", forces(py, &recorded.impulses)?)?;
        out.set_item("v", arrays::frozen(py, &recorded.state.v))?;
        out.set_item("modes", modes)?;
        out.set_item("certificate", Bound::new(py, PhysicalCertificate::new(&recorded.certificate))?)?;
        out.set_item("accepted", recorded.accepted)?;
        out.set_item("remade_motion", arrays::frozen(py, &step.motion))?;
        out.set_item("remade_v", arrays::frozen(py, &step.v))?;
        Ok(Some(out))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __repr__(&self) -> String {
        format!("Recording(steps={}, model='{}', dt={})", self.__len__(), self.model(), self.dt())
    }
}
