//! One simulation, with its state and inputs as arrays that NumPy owns and Python may write to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::{PyArray1, PyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use stiction_body::math::{Quat, Vec3};

use super::core::Core;
use super::report::{RunReport, StepReport};
use super::run::{Ended, Kept, many};
use super::state::{Arrays, numbers};
use super::{contacts, dynamics, state};
use crate::contact::{ContactProblem, PhysicalCertificate};
use crate::inputs::Layout;
use crate::lcp::html;
use crate::scene::Scene;
use crate::{arrays, errors, inputs};

/// A scene in motion.
///
/// Parameters
/// ----------
/// scene : Scene or str or path
///     A path is read by `Scene.load`.
/// raises : bool
///     Whether a step that cannot be certified raises `StepFailed` (the default), or is told by the report alone. Either way the state is
///     that before the step.
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
pub struct Simulation {
    scene: Py<Scene>,
    core: Mutex<Core>,
    raises: AtomicBool,
    arrays: Arrays,
}

impl Simulation {
    /// A simulation at the start of a scene.
    pub fn start(py: Python<'_>, scene: Bound<'_, Scene>, raises: bool) -> PyResult<Self> {
        let inner = scene.get().inner.clone();
        let layout = Arc::new(Layout::new(&inner));
        let core = Core::new(&inner, &layout).map_err(|e| errors::from_scene(&e))?;
        let arrays = Arrays::new(py, &core)?;
        Ok(Self { scene: scene.unbind(), core: Mutex::new(core), raises: AtomicBool::new(raises), arrays })
    }

    /// The simulation for this thread alone.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Core>> {
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
    fn read(&self, py: Python<'_>, core: &mut Core) -> PyResult<()> {
        let (nq, nv) = (core.sim.state().q.len(), core.sim.state().v.len());
        let (q, v) = numbers(self.arrays.state.bind(py), nq + nv)?.split_at(nq);
        core.set_state(q, v).map_err(|message| errors::input(py, message))?;
        let inputs = numbers(self.arrays.inputs.bind(py), core.inputs().len())?;
        core.set_inputs(inputs).map_err(|message| errors::input(py, message))
    }

    /// Shows Python the state.
    fn write(&self, py: Python<'_>, core: &Core) -> PyResult<()> {
        let state = core.sim.state();
        let array = self.arrays.state.bind(py);
        state::write(array, 0, &state.q)?;
        state::write(array, self.arrays.nq, &state.v)
    }

    /// The same with the inputs.
    fn write_all(&self, py: Python<'_>, core: &Core) -> PyResult<()> {
        self.write(py, core)?;
        state::write(self.arrays.inputs.bind(py), 0, core.inputs())
    }

    /// Runs `work` without the GIL, while Python can read the state but not write it.
    fn detached<R: Send>(
        &self,
        py: Python<'_>,
        core: &mut Core,
        work: impl FnOnce(&mut Core) -> R + Send,
    ) -> PyResult<R> {
        let views = [self.arrays.q.bind(py), self.arrays.v.bind(py)];
        core.note_state();
        let writable = views.map(|view| arrays::set_writable(view, false));
        let result = py.detach(|| work(core));
        views.iter().zip(writable).for_each(|(view, writable)| {
            arrays::set_writable(view, writable);
        });
        let (nq, nv) = (core.sim.state().q.len(), core.sim.state().v.len());
        let written = core.was_written(numbers(self.arrays.state.bind(py), nq + nv)?);
        self.write(py, core)?;
        if written {
            let message = "q or v was written while a step ran in another thread; that write is lost";
            return Err(errors::BUSY.raise(py, (message,)));
        }
        Ok(result)
    }

    /// Takes over what was written, and brings kinematics up to date.
    fn fresh(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Core>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        core.kinematics();
        Ok(core)
    }

    fn set_array(&self, py: Python<'_>, name: &str, view: &Py<PyArray1<f64>>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let view = view.bind(py);
        let x = arrays::vector_of(name, view.len(), x)?;
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

/// A scene, or the file of one.
pub fn scene_of<'py>(scene: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Scene>> {
    if let Ok(scene) = scene.cast::<Scene>() {
        return Ok(scene.clone());
    }
    let py = scene.py();
    if scene.hasattr("__fspath__")? || scene.is_instance_of::<pyo3::types::PyString>() {
        return Ok(py.get_type::<Scene>().call_method1("load", (scene,))?.cast_into()?);
    }
    let message = format!("scene must be a Scene or the path of one, found {}", scene.get_type().name()?);
    Err(pyo3::exceptions::PyTypeError::new_err(message))
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, *, raises=true))]
    fn new(py: Python<'_>, scene: &Bound<'_, PyAny>, raises: bool) -> PyResult<Self> {
        Self::start(py, scene_of(scene)?, raises)
    }

    /// Makes one step, with the GIL released.
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
    /// Returns
    /// -------
    /// RunReport
    #[pyo3(signature = (steps=None))]
    fn run<'py>(&self, py: Python<'py>, steps: Option<u64>) -> PyResult<Bound<'py, RunReport>> {
        let steps = steps.unwrap_or_else(|| self.scene.get().inner.steps());
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
    #[pyo3(signature = (steps, every=1))]
    fn _record<'py>(
        &self,
        py: Python<'py>,
        steps: u64,
        every: u64,
    ) -> PyResult<(Bound<'py, RunReport>, Bound<'py, PyDict>)> {
        if every == 0 {
            return Err(errors::input(py, "every must be at least 1"));
        }
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let (nq, nv) = (core.sim.state().q.len(), core.sim.state().v.len());
        let nb = core.sim.world().model.links().len();
        let (mut run, ended, kept) = self.detached(py, &mut core, |core| {
            let (mut run, mut kept) = (RunReport::default(), Kept::default());
            kept.add(core, None);
            let ended = many(steps, core, |i, core, report| {
                run.add(core.sim.settings().dt, report);
                if (i + 1) % every == 0 {
                    kept.add(core, Some(report));
                }
            });
            (run, ended, kept)
        })?;
        drop(core);
        self.finish(py, &mut run, ended)?;
        let all = kept.into_dict(py, [nq, nv, nb])?;
        Ok((Bound::new(py, run)?, all))
    }

    /// Back to the start of the scene: state, inputs and all that steps remember.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        let layout = core.layout.clone();
        *core = Core::new(&self.scene.get().inner, &layout).map_err(|e| errors::from_scene(&e))?;
        self.write_all(py, &core)
    }

    /// The scene.
    #[getter]
    fn scene<'py>(&self, py: Python<'py>) -> Bound<'py, Scene> {
        self.scene.bind(py).clone()
    }

    /// Whether a step that cannot be certified raises.
    #[getter]
    fn raises(&self) -> bool {
        self.raises.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_raises(&self, raises: bool) {
        self.raises.store(raises, Ordering::Relaxed);
    }

    /// The configuration, (nq,): the state itself, not a copy.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.q.bind(py).clone()
    }

    #[setter]
    fn set_q(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "q", &self.arrays.q, x)
    }

    /// The velocities, (nv,): the state itself, not a copy.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.v.bind(py).clone()
    }

    #[setter]
    fn set_v(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "v", &self.arrays.v, x)
    }

    /// Controls of the robot files' motors, (nu,), in the order of `actuators`; they hold until they are written again.
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[0].bind(py).clone()
    }

    #[setter]
    fn set_ctrl(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "ctrl", &self.arrays.parts[0], x)
    }

    /// Generalized forces on the bodies, (nv,): N along, N m about. For a wrench at a point: ``jacobian(body, point).T @ wrench``.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[1].bind(py).clone()
    }

    #[setter]
    fn set_force(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "force", &self.arrays.parts[1], x)
    }

    /// Efforts of motors, (nv,): as `force`, but within the joints' limits together with the servos'.
    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[2].bind(py).clone()
    }

    #[setter]
    fn set_effort(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "effort", &self.arrays.parts[2], x)
    }

    /// Stiffness of servos, (nv,), at least 0: ``kp (target - q) + kd (target_velocity - v)``, implicit in the step. Only joints with one
    /// velocity have one.
    #[getter]
    fn kp<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[3].bind(py).clone()
    }

    #[setter]
    fn set_kp(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "kp", &self.arrays.parts[3], x)
    }

    /// Damping of servos, (nv,), at least 0.
    #[getter]
    fn kd<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[4].bind(py).clone()
    }

    #[setter]
    fn set_kd(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "kd", &self.arrays.parts[4], x)
    }

    /// Where servos pull, (nv,): rad or m.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[5].bind(py).clone()
    }

    #[setter]
    fn set_target(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "target", &self.arrays.parts[5], x)
    }

    /// How fast servos want to move, (nv,): rad/s or m/s.
    #[getter]
    fn target_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.arrays.parts[6].bind(py).clone()
    }

    #[setter]
    fn set_target_velocity(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_array(py, "target_velocity", &self.arrays.parts[6], x)
    }

    /// Names of the motors that `ctrl` speaks to: those of robot files that the scene has no signal for.
    #[getter]
    fn actuators(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.layout.motors.iter().map(|m| m.actuator.name.clone()).collect())
    }

    /// Time (s).
    #[getter]
    fn t(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.sim.state().t)
    }

    /// Steps made.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.lock(py)?.sim.state().step)
    }

    /// A number that changes with any bit of the state.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<u64> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        Ok(core.sim.state().hash())
    }

    /// The contacts of the last step as a structured array.
    ///
    /// Fields: ``body_a``, ``body_b`` (numbers in ``scene.bodies``, -1 is the world), ``geom_a``, ``geom_b``, ``feature``, ``point`` (m), ``frame``
    /// (rows: the normal from a to b, two tangents), ``gap`` (m, positive apart), ``normal_force`` (N, at least 0), ``friction_force`` (N, along the
    /// two tangents), ``spin_moment`` (N m, about the normal), ``force`` (N, world axes, on body b; body a has the opposite), ``mode`` (`Mode`: 0 open,
    /// 1 stick, 2 slide). Forces are the step's impulses over its length; of an event-driven step those of its last stage.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        contacts::contacts(py, &*self.lock(py)?)
    }

    /// What contacts did to each body in the last step, (bodies, 6): force (N) and moment about the body's origin (N m), along world axes, on the
    /// body. Unlike the forces of single contacts of a redundant support they are unique.
    #[getter]
    fn contact_wrenches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        contacts::wrenches(py, &mut *self.lock(py)?)
    }

    /// The same per pair of bodies, as a structured array: ``body_a`` < ``body_b`` (-1 is the world), ``contacts`` (how many), ``force`` and
    /// ``moment`` about body b's origin, on body b, along world axes.
    #[getter]
    fn contact_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        contacts::pairs(py, &mut *self.lock(py)?)
    }

    /// The certificate of the last step's contact problem, if there was one.
    #[getter]
    fn certificate(&self, py: Python<'_>) -> PyResult<Option<PhysicalCertificate>> {
        let core = self.lock(py)?;
        let solution = core.sim.outcome().and_then(|o| o.solved());
        Ok(solution.map(|s| PhysicalCertificate(s.certificate.clone())))
    }

    /// The contact problem of the last step, for `stiction.contact.solve`.
    fn problem(&self, py: Python<'_>) -> PyResult<ContactProblem> {
        Ok(ContactProblem::new_from(Arc::new(self.lock(py)?.sim.problem().clone())))
    }

    /// Kinetic and potential energy (J).
    fn energy(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let core = self.fresh(py)?;
        Ok(core.work.energy(&core.sim.world().model, &core.sim.state().v))
    }

    /// The inertia matrix, (nv, nv), armature included.
    ///
    /// Parameters
    /// ----------
    /// out : ndarray, (nv, nv), optional
    ///     Where to write it, without a new array: C-contiguous float64.
    #[pyo3(signature = (*, out=None))]
    fn mass_matrix<'py>(&self, py: Python<'py>, out: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let mut core = self.fresh(py)?;
        let nv = core.sim.state().v.len();
        let whole = dynamics::mass_matrix(&mut core);
        dynamics::filled(py, nv, nv, whole, out)
    }

    /// The Jacobian of a point of a body, (6, nv): rows of the point's velocity (m/s) and of the body's angular velocity (rad/s), world axes.
    ///
    /// Parameters
    /// ----------
    /// body : str or int
    /// point : array_like, (3,), optional
    ///     In the body's frame; default its origin.
    /// out : ndarray, (6, nv), optional
    ///     Where to write it: C-contiguous float64.
    #[pyo3(signature = (body, point=None, *, out=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
        point: Option<&Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let link = self.scene.get().body_number(body)?;
        let point = point.map_or_else(|| Ok(Vec3::ZERO), |x| dynamics::three("point", x))?;
        let core = self.fresh(py)?;
        let nv = core.sim.state().v.len();
        let rows = dynamics::jacobian(&core, link, point);
        dynamics::filled(py, 6, nv, rows, out)
    }

    /// The rows of the last step's contacts, (3 n, nv): normal and two tangents of each, one contact after the other. Times v they are the
    /// velocity of body b against body a in the contact's frame.
    fn contact_jacobian<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let core = self.lock(py)?;
        let (contacts, nv) = (core.sim.problem().contacts(), core.sim.world().model.nv());
        let n = if core.sim.contacts().len() == contacts.len() { contacts.len() } else { 0 };
        let mut rows = vec![0.0; 3 * n * nv];
        for i in 0..n {
            for (k, kind) in [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t].into_iter().enumerate() {
                kind.add_transposed(i, 1.0, &mut rows[(3 * i + k) * nv..(3 * i + k + 1) * nv]);
            }
        }
        arrays::from_rows(py, 3 * n, nv, rows)
    }

    /// Inverse dynamics without contact: the generalized forces, (nv,), that the accelerations `a` need against gravity and velocity products,
    /// ``M a + c - g``. Springs, damping and dry friction of joints are not part of it.
    fn inverse_dynamics<'py>(&self, py: Python<'py>, a: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        let world = core.sim.world().clone();
        let a = dynamics::finite("a", arrays::vector_of("a", world.model.nv(), a)?, py)?;
        let mut tau = vec![0.0; world.model.nv()];
        core.work.inverse_dynamics(&world.model, &a, &mut tau);
        Ok(PyArray1::from_vec(py, tau))
    }

    /// Inverse dynamics with contact; see `stiction.inverse_dynamics`.
    #[pyo3(signature = (a, actuated=None))]
    #[allow(clippy::type_complexity)]
    fn _inverse_contact<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        actuated: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyAny>, PhysicalCertificate)> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let state = core.sim.state().clone();
        drop(core);
        let scene = &self.scene.get().inner;
        let a = dynamics::finite("a", arrays::vector_of("a", state.v.len(), a)?, py)?;
        let moved = match actuated {
            Some(mask) => arrays::booleans("actuated", mask)?,
            None => inputs::actuated(&scene.world.model),
        };
        arrays::check_len(py, "actuated", state.v.len(), moved.len())?;
        let found = dynamics::with_contact(py, scene, &state, &a, &moved)?;
        let contacts = contacts::contacts(py, &found.core)?;
        let (effort, acceleration) = (PyArray1::from_vec(py, found.effort), PyArray1::from_vec(py, found.acceleration));
        Ok((effort, acceleration, contacts, PhysicalCertificate(found.certificate)))
    }

    /// Poses of the bodies, (bodies, 7): position (m) and quaternion w, x, y, z.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let core = self.fresh(py)?;
        let pose = |pose: &stiction_body::math::Pose| {
            let (p, Quat { x, y, z, w }) = (pose.translation, pose.rotation);
            [p.x, p.y, p.z, w, x, y, z]
        };
        let all: Vec<f64> = core.work.pose.iter().flat_map(pose).collect();
        arrays::from_rows(py, all.len() / 7, 7, all)
    }

    /// Velocities of the bodies, (bodies, 6): of the origin (m/s) and angular (rad/s), world axes.
    #[getter]
    fn body_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let core = self.fresh(py)?;
        let motion =
            core.work.velocity.iter().flat_map(|m| m.linear.to_array().into_iter().chain(m.angular.to_array()));
        let all: Vec<f64> = motion.collect();
        arrays::from_rows(py, all.len() / 6, 6, all)
    }

    /// Bodies that overlap now: tuples of two names and the depth (m).
    fn overlaps(&self, py: Python<'_>) -> PyResult<Vec<(String, String, f64)>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let all = core.sim.overlaps();
        Ok(all
            .into_iter()
            .map(|o| {
                let [a, b] = o.names;
                (a, b, o.depth)
            })
            .collect())
    }

    /// Takes bodies that overlap apart by the least motion; returns the deepest overlap that is left (m).
    fn take_apart(&self, py: Python<'_>) -> PyResult<f64> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let left = core.sim.take_apart().map_err(|e| errors::from_input(&e))?;
        self.write(py, &core)?;
        Ok(left)
    }

    /// All that influences the next step, as bytes.
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
    fn load_state(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let mut core = self.lock(py)?;
        core.sim.load_state(state).map_err(|e| errors::from_scene(&e))?;
        core.refresh_inputs();
        self.write_all(py, &core)
    }

    /// An independent simulation that continues from here bit for bit.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        let copy = Self::start(py, self.scene.bind(py).clone(), self.raises())?;
        copy.load_state(py, self.save_state(py)?.as_bytes())?;
        Bound::new(py, copy)
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        self.copy(py)
    }

    fn __deepcopy__<'py>(&self, py: Python<'py>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        self.copy(py)
    }

    fn __repr__(&self) -> String {
        let title = &self.scene.get().inner.title;
        let Ok(core) = self.core.try_lock() else { return format!("Simulation({title:?}, running in another thread)") };
        let state = core.sim.state();
        let (nq, nv) = (state.q.len(), state.v.len());
        format!("Simulation({title:?}, t={:.6}, steps={}, nq={nq}, nv={nv})", state.t, state.step)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, Scene>, Bound<'py, PyBytes>, bool))> {
        let make = py.import("stiction._stiction")?.getattr("_restore_simulation")?;
        Ok((make, (self.scene.bind(py).clone(), self.save_state(py)?, self.raises())))
    }
}

impl Simulation {
    /// Says how a run ended, or raises.
    fn finish(&self, py: Python<'_>, run: &mut RunReport, ended: Ended) -> PyResult<()> {
        match ended {
            Ended::Done => run.ok = true,
            Ended::Interrupted(error) => return Err(error),
            Ended::Failed(step, t, failure) => {
                let report = Bound::new(py, StepReport::new(step, t, Err(failure)))?;
                run.why = report.get().message().unwrap_or_default();
                self.failed(py, &report)?;
            }
        }
        Ok(())
    }
}

/// A simulation from its pickle.
#[pyfunction(name = "_restore_simulation")]
pub fn restore_simulation(py: Python<'_>, scene: Bound<'_, Scene>, state: &[u8], raises: bool) -> PyResult<Simulation> {
    let simulation = Simulation::start(py, scene, raises)?;
    simulation.load_state(py, state)?;
    Ok(simulation)
}
