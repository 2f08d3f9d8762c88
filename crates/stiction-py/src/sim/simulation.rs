//! One simulation, with its state and inputs as arrays that NumPy owns and Python may write to.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use stiction_linalg::lanes::same_bits;
use stiction_sim::Snapshot;
use stiction_sim::inputs::Layout;
use stiction_sim::recording::Rows;

use super::core::{AtStart, Core};
use super::physical::PhysicalArrays;
use super::report::{RunReport, StepReport};
use super::robot;
use super::run::{Ended, Spent, into_dict, keep, many};
use super::state;
use super::state::{Arrays, numbers};
use super::views::views;
use crate::display::{html, quoted};
use crate::scene::Scene;
use crate::{arrays, errors, interrupt, pickle};

/// What is said about a write that came while a step ran.
pub(crate) const WRITTEN: &str = "q or v was written while a step ran in another thread; that write is lost";

/// A scene in motion.
///
/// Parameters
/// ----------
/// scene : Scene or str or path
///     A path is read by `Scene.load`.
/// raises : bool
///     Whether a step that cannot be certified raises `StepFailed` (the default), or is told by the report alone. Either way the state is
///     that before the step.
/// separate : bool
///     Whether bodies that overlap at the start are taken apart by the least motion. By default
///     they are a `SceneError`; parts of one robot may overlap.
///
/// Notes
/// -----
/// ``q`` and ``v`` are the state itself, not copies: writing to them sets the state, which is checked when the next step begins (finite, unit
/// quaternions). They can not be written while a step runs in another thread, and stay valid after the simulation is gone. A free body has its
/// position and quaternion w, x, y, z in q, the velocity of its origin and its angular velocity, both along world axes, in v.
///
/// Steps run with the GIL released. One simulation is for one thread at a time: a second one gets `BusyError`.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> scene = stiction.Scene.from_dict({"bodies": [{"name": "ball", "mass": 1.0, "shape": {"sphere": 0.1}}]})
/// >>> simulation = stiction.Simulation(scene)
/// >>> simulation.v[0] = 2.0
/// >>> report = simulation.run(1000)
/// >>> report.steps, simulation.q[0].round(9)
/// (1000, np.float64(2.0))
#[pyclass(frozen, weakref, module = "stiction")]
pub(crate) struct Simulation {
    pub(super) scene: Py<Scene>,
    core: Mutex<Core>,
    raises: AtomicBool,
    /// Says whether a step that is under way is to end.
    interrupt: Mutex<Option<Py<PyAny>>>,
    separate: bool,
    pub(super) arrays: Arrays,
    beginning: Snapshot,
    /// Physical parameters, once somebody has looked.
    pub(super) physical: PyOnceLock<PhysicalArrays>,
    /// Readings of the sensors and views of them by name, once somebody has looked.
    pub(super) sensors: PyOnceLock<(Py<PyArray1<f64>>, Py<PyDict>)>,
}

impl Simulation {
    /// A simulation at the start of a scene.
    pub(crate) fn start(py: Python<'_>, scene: Bound<'_, Scene>, raises: bool, overlap: AtStart) -> PyResult<Self> {
        let inner = scene.get().inner.clone();
        let layout = Arc::new(Layout::new(&inner));
        let core = started(scene.get(), &layout, overlap)?;
        let arrays = Arrays::new(py, &core)?;
        let beginning = core.sim.snapshot();
        let (core, raises, separate) = (Mutex::new(core), AtomicBool::new(raises), overlap == AtStart::Separate);
        let (physical, sensors, interrupt) = (PyOnceLock::new(), PyOnceLock::new(), Mutex::new(None));
        Ok(Self { scene: scene.unbind(), core, raises, interrupt, separate, arrays, beginning, physical, sensors })
    }

    /// The simulation for this thread alone.
    pub(super) fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Core>> {
        match self.core.try_lock() {
            Ok(core) => Ok(core),
            Err(TryLockError::Poisoned(core)) => Ok(core.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let message =
                    "this simulation is being stepped by another thread; give each thread a simulation of its own";
                Err(errors::BUSY.raise(py, (message,)))
            }
        }
    }

    /// Takes over what Python wrote to the arrays.
    pub(super) fn read(&self, py: Python<'_>, core: &mut Core) -> PyResult<()> {
        let (nq, nv) = (core.sim.state().q.len(), core.sim.state().v.len());
        let (q, v) = numbers(self.arrays.state.bind(py), nq + nv)?.split_at(nq);
        core.set_state(q, v).map_err(|message| errors::input(py, message))?;
        if !same_bits(&core.sim.state().q, q) {
            // Quaternions were made unit: Python is to see it.
            self.write(py, core)?;
        }
        self.read_physical(py, core)?;
        let inputs = numbers(self.arrays.inputs.bind(py), core.inputs().len())?;
        core.set_inputs(inputs).map_err(|message| errors::input(py, message))
    }

    /// Shows Python the state.
    pub(super) fn write(&self, py: Python<'_>, core: &Core) -> PyResult<()> {
        let state = core.sim.state();
        let array = self.arrays.state.bind(py);
        state::write(array, 0, &state.q)?;
        state::write(array, self.arrays.nq, &state.v)
    }

    /// The same with the inputs.
    pub(super) fn write_all(&self, py: Python<'_>, core: &mut Core) -> PyResult<()> {
        self.write(py, core)?;
        self.write_physical(py, core)?;
        state::write(self.arrays.inputs.bind(py), 0, core.inputs())
    }

    /// Runs `work` without the GIL until Ctrl-C or `interrupt`, while Python can read the state but not write it.
    /// Python sees the state it leaves, however it ends.
    fn detached<R: Send>(
        &self,
        py: Python<'_>,
        core: &mut Core,
        work: impl FnOnce(&mut Core) -> R + Send,
    ) -> PyResult<R> {
        core.record_changes().map_err(|message| errors::input(py, message))?;
        let views = [self.arrays.q.bind(py), self.arrays.v.bind(py)];
        core.note_state();
        let writable = views.map(|view| arrays::set_writable(view, false));
        let stop = self.stop(py);
        let result = catch_unwind(AssertUnwindSafe(|| interrupt::detached_until(py, stop, || work(core))));
        views.iter().zip(writable).for_each(|(view, writable)| {
            arrays::set_writable(view, writable);
        });
        let (nq, nv) = (core.sim.state().q.len(), core.sim.state().v.len());
        let written = core.was_written(numbers(self.arrays.state.bind(py), nq + nv)?);
        self.write(py, core)?;
        self.write_sensors(py, core)?;
        let result = result.unwrap_or_else(|payload| resume_unwind(payload))?;
        core.recorded().map_err(|e| PyErr::from(std::io::Error::other(e)))?;
        if written {
            return Err(errors::BUSY.raise(py, (WRITTEN,)));
        }
        Ok(result)
    }

    /// What says whether a step is to end.
    fn stop(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let stop = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
        stop.as_ref().map(|stop| stop.clone_ref(py))
    }

    /// Takes over what was written, and brings kinematics up to date.
    pub(super) fn fresh(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Core>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        core.kinematics();
        Ok(core)
    }

    fn set_array(&self, name: &str, view: &Bound<'_, PyArray1<f64>>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, x) = (x.py(), arrays::vector_of(name, view.len(), x)?);
        drop(self.lock(py)?);
        view.call_method1("__setitem__", (py.Ellipsis(), PyArray1::from_vec(py, x))).map(drop)
    }

    fn failed(&self, py: Python<'_>, report: &Bound<'_, StepReport>) -> PyResult<()> {
        match report.get().message() {
            Some(message) if self.raises.load(Ordering::Relaxed) => {
                Err(errors::STEP_FAILED.raise(py, (message, report)))
            }
            _ => Ok(()),
        }
    }
}

/// A simulation at the start of a scene, whose bodies do not overlap there unless that may be.
pub(crate) fn started(scene: &Scene, layout: &Arc<Layout>, overlap: AtStart) -> PyResult<Core> {
    let mut core = Core::new(&scene.inner, layout).map_err(|e| errors::from_scene(&e))?;
    core.begin(overlap).map_err(|e| match scene.file() {
        Some(file) => errors::from_scene(&e.in_file(file)),
        None => errors::from_scene(&e),
    })?;
    Ok(core)
}

/// A scene, or the file of one.
pub(crate) fn scene_of<'py>(scene: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Scene>> {
    if let Ok(scene) = scene.cast::<Scene>() {
        return Ok(scene.clone());
    }
    let py = scene.py();
    if scene.hasattr("__fspath__")? || scene.is_instance_of::<pyo3::types::PyString>() {
        return Ok(py.get_type::<Scene>().call_method1("load", (scene,))?.cast_into()?);
    }
    Err(arrays::wrong_type("scene must be a Scene or the path of one", scene))
}

views!(Simulation, PyArray1, {
    /// The configuration, (nq,): the state itself, not a copy.
    q, set_q = |s| &s.arrays.q;
    /// The velocities, (nv,): the state itself, not a copy.
    v, set_v = |s| &s.arrays.v;
    /// Controls of the robot files' motors, (nu,), in the order of `actuators`; they hold until they are written again.
    ctrl, set_ctrl = |s| &s.arrays.parts[0];
    /// Generalized forces on the bodies, (nv,): N along, N m about. For a wrench at a point: ``jacobian(body, point).T @ wrench``.
    force, set_force = |s| &s.arrays.parts[1];
    /// Efforts of motors, (nv,): as `force`, but within the joints' limits together with the servos'.
    effort, set_effort = |s| &s.arrays.parts[2];
    /// Stiffness of servos, (nv,), at least 0: ``kp (target - q) + kd (target_velocity - v)``, implicit in the step. Only joints with one
    /// velocity have one.
    kp, set_kp = |s| &s.arrays.parts[3];
    /// Damping of servos, (nv,), at least 0.
    kd, set_kd = |s| &s.arrays.parts[4];
    /// Where servos pull, (nv,): rad or m.
    target, set_target = |s| &s.arrays.parts[5];
    /// How fast servos want to move, (nv,): rad/s or m/s.
    target_velocity, set_target_velocity = |s| &s.arrays.parts[6];
});

getters!(Simulation, {
    /// The scene.
    scene: Bound<'py, Scene> = |this, py| this.scene.bind(py).clone();
    /// Names of the motors that `ctrl` speaks to: those of robot files that the scene has no signal for.
    actuators: PyResult<Vec<String>> = |this, py| {
        Ok(this.lock(py)?.layout.motors.iter().map(|m| m.name.clone()).collect())
    };
    /// Time (s).
    t: PyResult<f64> = |this, py| Ok(this.lock(py)?.sim.state().t);
    /// Steps made.
    steps: PyResult<u64> = |this, py| Ok(this.lock(py)?.sim.state().step);
});

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, *, raises=true, separate=false))]
    fn new(py: Python<'_>, scene: &Bound<'_, PyAny>, raises: bool, separate: bool) -> PyResult<Self> {
        Self::start(py, scene_of(scene)?, raises, AtStart::new(separate))
    }

    /// Makes one step, with the GIL released. Ctrl-C ends it; the state is then that before the
    /// step.
    ///
    /// Returns
    /// -------
    /// StepReport
    ///
    /// Raises
    /// ------
    /// StepFailed
    ///     The step could not be certified, and ``raises`` is true. The state is that before the step.
    /// InputError
    ///     What was written to ``q``, ``v`` or an input cannot be used.
    /// BusyError
    ///     Another thread steps this simulation.
    /// StepInterrupted
    ///     `interrupt` returned true. The state is that before the step.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, StepReport>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let (step, t) = (core.sim.state().step, core.sim.state().t);
        let result = self.detached(py, &mut core, Core::step)?;
        let report = Bound::new(py, StepReport::new(step, t, result))?;
        drop(core);
        self.failed(py, &report)?;
        Ok(report)
    }

    /// Makes `steps` steps (default: those of the scene's duration), with the GIL released all the time; stops at a step that fails.
    ///
    /// Ctrl-C ends it, also within a step, of which then nothing is left; ``q``, ``v``, ``t`` and
    /// ``steps`` say where.
    ///
    /// Parameters
    /// ----------
    /// steps : int, optional
    ///
    /// Returns
    /// -------
    /// RunReport
    ///
    /// Raises
    /// ------
    /// StepFailed, InputError, BusyError
    ///     As `step`.
    #[pyo3(signature = (steps=None))]
    fn run<'py>(&self, py: Python<'py>, steps: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, RunReport>> {
        let steps = self.steps_of(steps)?;
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let (mut run, ended) = self.detached(py, &mut core, |core| {
            let mut run = RunReport::default();
            let ended = many(steps, core, |_, core, report| run.add(core.sim.settings().dt, report));
            (run, ended)
        })?;
        drop(core);
        self.finish(py, &mut run, ended)?;
        Bound::new(py, run)
    }

    /// Makes steps and keeps what they came to, with the GIL released. `stiction.record` makes a `Trajectory` of it.
    #[pyo3(signature = (steps, every, controller=None))]
    fn _record<'py>(
        slf: &Bound<'py, Self>,
        steps: Option<&Bound<'py, PyAny>>,
        every: &Bound<'py, PyAny>,
        controller: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, RunReport>, Bound<'py, PyDict>)> {
        let (this, py) = (slf.get(), slf.py());
        let (steps, every) = (this.steps_of(steps)?, arrays::count("every", 1, every)? as u64);
        if let Some(controller) = controller {
            return Self::record_controlled(slf, steps, every, controller);
        }
        this.record_alone(py, steps, every)
    }

    /// Makes a step and then panics: for tests of what a fault of the engine leaves.
    fn _panic_in_step(&self, py: Python<'_>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        self.detached(py, &mut core, |core| {
            core.attempt(|sim| {
                let made = sim.step().is_ok();
                panic!("a step that was made: {made}");
            })
        })
    }

    /// Back to the start of the scene: state, inputs and all that steps remember. Physical parameters (``mass``, ``friction``, ...) stay
    /// what they are; `reset_physical` puts them back.
    ///
    /// Parameters
    /// ----------
    /// keyframe : str or int, optional
    ///     A keyframe of the scene's robot files, by name or number: its configuration, velocities, activations and
    ///     controls then take the place of the start's.
    ///
    /// Raises
    /// ------
    /// InputError
    ///     There is no such keyframe.
    #[pyo3(signature = (keyframe=None))]
    fn reset(&self, py: Python<'_>, keyframe: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        let number = keyframe.map(|which| robot::keyframe(core.sim.world(), which)).transpose()?;
        core.go_back(&self.beginning).map_err(|e| errors::from_input(&e))?;
        if let Some(number) = number {
            robot::take_keyframe(py, &mut core, number)?;
        }
        self.write_all(py, &mut core)?;
        self.write_sensors(py, &mut core)
    }

    /// Whether a step that cannot be certified raises.
    #[getter]
    pub(super) fn raises(&self) -> bool {
        self.raises.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_raises(&self, raises: bool) {
        self.raises.store(raises, Ordering::Relaxed);
    }

    /// A callable without arguments, or None: while a step or a run is made it is asked every 20 ms or so, in the thread that makes
    /// it, and once it returns true, the step is abandoned with `StepInterrupted`.
    ///
    /// The state is then that before the step. A step that is done sooner is not asked about. Copies and pickles have none.
    ///
    /// Examples
    /// --------
    /// >>> import stiction, threading
    /// >>> simulation = stiction.Simulation(stiction.scene.shipped("slide"))
    /// >>> stop = threading.Event()
    /// >>> simulation.interrupt = stop.is_set  # another thread may set it
    /// >>> stop.set()
    /// >>> try:
    /// ...     simulation.run(10**9)
    /// ... except stiction.StepInterrupted:
    /// ...     simulation.interrupt = None
    #[getter]
    fn interrupt(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.stop(py)
    }

    #[setter]
    fn set_interrupt(&self, stop: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        if let Some(stop) = stop.as_ref().filter(|stop| !stop.is_callable()) {
            return Err(arrays::wrong_type("interrupt must be callable or None", stop));
        }
        let old = {
            let mut now = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *now, stop.map(Bound::unbind))
        };
        // What it held may run code when it goes, which may come back here.
        drop(old);
        Ok(())
    }

    /// A number that changes with any bit of the state.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<u64> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        Ok(core.sim.state().hash())
    }

    /// All that influences the next step, as bytes.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> scene = stiction.Scene.from_dict({"bodies": [{"name": "ball", "mass": 1.0, "shape": {"sphere": 0.1}}]})
    /// >>> simulation = stiction.Simulation(scene)
    /// >>> _ = simulation.run(10)
    /// >>> state = simulation.save_state()
    /// >>> first = simulation.run(10) and simulation.hash
    /// >>> simulation.load_state(state)
    /// >>> first == (simulation.run(10) and simulation.hash)
    /// True
    fn save_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        Ok(PyBytes::new(py, &core.sim.save_state()))
    }

    /// Continues bit for bit from what `save_state` of a simulation of the same scene gave. On an error nothing is changed.
    ///
    /// Parameters
    /// ----------
    /// state : bytes
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     The bytes are no state of this scene.
    ///
    /// Notes
    /// -----
    /// What was found in the last step is no part of the state: ``contacts``, ``certificate`` and their like are empty until the next step.
    /// That is so of copies and pickles too.
    fn load_state(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let mut core = self.lock(py)?;
        core.sim.load_state(state).map_err(|e| errors::from_scene(&e))?;
        core.refresh_inputs();
        self.write_all(py, &mut core)
    }

    /// An independent simulation that continues from here bit for bit.
    ///
    /// Returns
    /// -------
    /// Simulation
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        let state = self.save_state(py)?;
        let (scene, again) = (self.scene.bind(py).clone(), AtStart::again(self.separate));
        Bound::new(py, Self::resumed(py, scene, state.as_bytes(), self.raises(), again)?)
    }

    /// A simulation of another scene that continues from here, with this one's state, time, inputs and memory.
    ///
    /// Parameters
    /// ----------
    /// scene : Scene
    ///     With the same bodies and joints: ``simulation.scene.with_settings(model="no-slip", dt=0.002)``.
    ///
    /// Returns
    /// -------
    /// Simulation
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     The state is not one of that scene: its sizes are others.
    pub(super) fn with_scene<'py>(&self, py: Python<'py>, scene: Bound<'py, Scene>) -> PyResult<Bound<'py, Self>> {
        let state = self.save_state(py)?;
        Bound::new(py, Self::resumed(py, scene, state.as_bytes(), self.raises(), AtStart::Keep)?)
    }

    /// Shows it in the browser, where it can be run, pushed and changed; see `stiction.view`.
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

    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        self.copy(py)
    }

    fn __deepcopy__<'py>(&self, py: Python<'py>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        self.copy(py)
    }

    fn __repr__(&self) -> String {
        let title = quoted(&self.scene.get().inner.title);
        let Ok(core) = self.core.try_lock() else { return format!("Simulation({title}, running in another thread)") };
        let state = core.sim.state();
        let (nq, nv) = (state.q.len(), state.v.len());
        format!("Simulation({title}, t={:.6}, steps={}, nq={nq}, nv={nv})", state.t, state.step)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = (self.scene.bind(py).clone(), self.save_state(py)?, self.raises(), self.separate);
        pickle::reduce(py, "sim.simulation", state.into_pyobject(py)?)
    }
}

impl Simulation {
    /// Steps without Python in between, and what is kept of them.
    fn record_alone<'py>(
        &self,
        py: Python<'py>,
        steps: u64,
        every: u64,
    ) -> PyResult<(Bound<'py, RunReport>, Bound<'py, PyDict>)> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let sizes = sizes(&core);
        let (mut run, ended, kept) = self.detached(py, &mut core, |core| {
            let (mut run, mut kept) = (RunReport::default(), Rows::default());
            keep(&mut kept, core, None);
            let ended = many(steps, core, |i, core, report| {
                run.add(core.sim.settings().dt, report);
                if (i + 1) % every == 0 {
                    keep(&mut kept, core, Some(report));
                }
            });
            (run, ended, kept)
        })?;
        drop(core);
        self.finish(py, &mut run, ended)?;
        Ok((Bound::new(py, run)?, into_dict(kept, py, sizes)?))
    }

    /// Steps with a function of Python before each of them, and what is kept of them.
    fn record_controlled<'py>(
        slf: &Bound<'py, Self>,
        steps: u64,
        every: u64,
        controller: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, RunReport>, Bound<'py, PyDict>)> {
        let (this, py) = (slf.get(), slf.py());
        if !controller.is_callable() {
            return Err(arrays::wrong_type("controller must be callable", controller));
        }
        let (mut run, mut kept) = (RunReport::default(), Rows::default());
        let (sizes, before, mut spent) = {
            let mut core = this.lock(py)?;
            this.read(py, &mut core)?;
            keep(&mut kept, &mut core, None);
            let spent = Spent { first: core.sim.state().step, ..Spent::default() };
            (sizes(&core), core.sim.phases(), spent)
        };
        let mut ended = Ended::Done;
        for i in 0..steps {
            controller.call1((slf,))?;
            let mut core = this.lock(py)?;
            this.read(py, &mut core)?;
            let (rest, kept_step) = (&mut run, (i + 1).is_multiple_of(every));
            let rows = &mut kept;
            let (how, own) = this.detached(py, &mut core, |core| {
                many(1, core, |_, core, report| {
                    rest.add(core.sim.settings().dt, report);
                    if kept_step {
                        keep(rows, core, Some(report));
                    }
                })
            })?;
            spent.seconds.extend(own.seconds);
            spent.phases = core.sim.phases().since(&before);
            ended = how;
            if matches!(ended, Ended::Failed(..)) {
                break;
            }
        }
        this.finish(py, &mut run, (ended, spent))?;
        Ok((Bound::new(py, run)?, into_dict(kept, py, sizes)?))
    }
}

/// Sizes of q and v, and the number of bodies.
fn sizes(core: &Core) -> [usize; 3] {
    let model = &core.sim.world().model;
    [model.nq(), model.nv(), model.links().len()]
}

impl Simulation {
    /// Says how a run ended, or raises.
    fn finish(&self, py: Python<'_>, run: &mut RunReport, (ended, spent): (Ended, Spent)) -> PyResult<()> {
        match ended {
            Ended::Done => run.end(None, &spent),
            Ended::Failed(step, t, failure) => {
                let report = Bound::new(py, StepReport::new(step, t, Err(failure)))?;
                run.end(Some(report.get().message().unwrap_or_default()), &spent);
                self.failed(py, &report)?;
            }
        }
        Ok(())
    }

    /// How many steps are meant: those of the scene's duration if nothing was said.
    fn steps_of(&self, steps: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        steps.map_or_else(|| Ok(self.scene.get().inner.steps()), |n| Ok(arrays::count("steps", 0, n)? as u64))
    }

    /// An independent simulation of a scene that continues from a saved state.
    pub(crate) fn resumed(
        py: Python<'_>,
        scene: Bound<'_, Scene>,
        state: &[u8],
        raises: bool,
        overlap: AtStart,
    ) -> PyResult<Self> {
        let simulation = Self::start(py, scene, raises, overlap)?;
        simulation.load_state(py, state)?;
        Ok(simulation)
    }
}
