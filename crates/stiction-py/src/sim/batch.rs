//! Many copies of a scene, stepped over all cores.

mod exchange;
mod readings;
mod rollout;
mod scenes;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PySlice, PyTuple};
use stiction_sim::Snapshot;

use super::core::{AtStart, Core};
use super::physical::PhysicalArrays;
use super::replica::Replica;
use super::robot;
use super::simulation::{Simulation, started};
use super::views::views;
use crate::display::{html, quoted};
use crate::scene::Scene;
use crate::{arrays, errors, pickle, threads};
use stiction_sim::inputs::{Layout, PARTS, WRENCH};

/// Most copies.
const MOST: usize = 1 << 24;

/// ``n`` copies of a scene, stepped over all cores with the GIL released. What happens to one copy never depends on the others, nor on the
/// number of threads.
///
/// Parameters
/// ----------
/// scene : Scene or str or path, or sequence of them
///     Several scenes of the same structure (bodies, joints, geoms and motors with the same names) make one copy each.
/// n : int, optional
///     Not needed with several scenes.
/// parameters : dict, optional
///     Numbers of the scene's ``[parameters]``, for each copy its own: ``{"mu": [0.1, 0.2, 0.3]}``.
/// threads : int, optional
///     Default: one per core.
/// separate : bool
///     Whether bodies that overlap at the start are taken apart, as in `Simulation`; by default
///     they are a `SceneError`.
///
/// Notes
/// -----
/// ``q`` (n, nq), ``v`` (n, nv) and the inputs (n, ...) are the state itself, as in `Simulation`: write to them between steps. A copy whose state or
/// inputs cannot be used, or whose step cannot be certified, keeps its state, is marked in ``failed`` and left alone until it is reset;
/// ``messages[i]`` says why. The other copies go on. Physical parameters (``mass``, ``friction``, ``gravity``, ...) are arrays over all copies, too,
/// and so is what there is to read (``poses``, ``contact_wrenches``, ``applied_effort``, ...). ``simulation(i)`` is a `Simulation` that continues from copy i, for everything a batch
/// does not tell: contacts, Jacobians, ...
///
/// Examples
/// --------
/// >>> import stiction
/// >>> scene = stiction.Scene.from_dict({"bodies": [{"name": "ball", "mass": 1.0, "shape": {"sphere": 0.1}}]})
/// >>> batch = stiction.BatchSimulation(scene, 3)
/// >>> batch.v[:, 0] = [1.0, 2.0, float("nan")]
/// >>> batch.step(1000).tolist()
/// [True, True, False]
/// >>> batch.q[:2, 0].round(9).tolist()
/// [1.0, 2.0]
#[pyclass(frozen, weakref, module = "stiction")]
pub(crate) struct BatchSimulation {
    /// One for all copies, or one for each.
    scenes: Vec<Py<Scene>>,
    layout: Arc<Layout>,
    inner: Mutex<Vec<Replica>>,
    threads: Option<usize>,
    separate: bool,
    sizes: Sizes,
    state: Py<PyArray1<f64>>,
    inputs: Py<PyArray1<f64>>,
    q: Py<PyArray2<f64>>,
    v: Py<PyArray2<f64>>,
    parts: Vec<Py<PyArray2<f64>>>,
    /// The last of them as (n, bodies, 6).
    pub(super) wrench: Py<PyAny>,
    /// Where each of the scenes starts.
    beginnings: Vec<Snapshot>,
    /// Physical parameters, once somebody has looked.
    pub(super) physical: PyOnceLock<PhysicalArrays>,
}

/// Sizes of the arrays.
#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    nq: usize,
    nv: usize,
    inputs: usize,
}

impl BatchSimulation {
    /// At the start of a scene.
    fn start(
        py: Python<'_>,
        scenes: Vec<Bound<'_, Scene>>,
        n: usize,
        threads: Option<usize>,
        overlap: AtStart,
    ) -> PyResult<Self> {
        scenes::check_structure(py, &scenes)?;
        let inner = scenes[0].get().inner.clone();
        let layout = Arc::new(Layout::new(&inner));
        let (mut copies, mut beginnings) = (Vec::with_capacity(n), Vec::with_capacity(scenes.len()));
        for scene in &scenes {
            let own = Arc::new(Layout::new(&scene.get().inner));
            let first = started(scene.get(), &own, overlap)?;
            beginnings.push(first.sim.snapshot());
            copies.push(Replica::new(first));
        }
        while copies.len() < n {
            let mut copy = Replica::new(Core::new(&inner, &layout).map_err(|e| errors::from_scene(&e))?);
            copy.go_back(&beginnings[0])?;
            copies.push(copy);
        }
        let (nq, nv, size) = (inner.world.model.nq(), inner.world.model.nv(), layout.len());
        let sizes = Sizes { n, nq, nv, inputs: size };
        let state = PyArray1::zeros(py, [n * (nq + nv)], false);
        let inputs = PyArray1::zeros(py, [n * size], false);
        let view = |of: &Bound<'_, PyArray1<f64>>, range: Range<usize>| {
            let slice = PySlice::new(py, range.start as isize, range.end as isize, 1);
            let cols = range.len() / n;
            let flat = of.get_item(slice)?.cast_into::<PyArray1<f64>>()?;
            Ok::<_, PyErr>(flat.reshape([n, cols])?.unbind())
        };
        let (q, v) = (view(&state, 0..n * nq)?, view(&state, n * nq..n * (nq + nv))?);
        let part = |i: usize| {
            let range = layout.range(i);
            view(&inputs, n * range.start..n * range.end)
        };
        let parts: Vec<Py<PyArray2<f64>>> = (0..PARTS.len()).map(part).collect::<PyResult<_>>()?;
        let bodies = layout.range(WRENCH).len() / 6;
        let wrench = parts[WRENCH].bind(py).call_method1("reshape", ((n, bodies, 6),))?.unbind();
        let (state, inputs, inner) = (state.unbind(), inputs.unbind(), Mutex::new(copies));
        let scenes = scenes.into_iter().map(Bound::unbind).collect();
        let (separate, physical) = (overlap == AtStart::Separate, PyOnceLock::new());
        let batch = Self {
            scenes,
            layout,
            inner,
            threads,
            separate,
            sizes,
            state,
            inputs,
            q,
            v,
            parts,
            wrench,
            beginnings,
            physical,
        };
        let all: Vec<usize> = (0..n).collect();
        batch.show(py, &mut batch.lock(py)?, &all)?;
        Ok(batch)
    }

    pub(super) fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Vec<Replica>>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(errors::BUSY.raise(py, ("this batch is being stepped by another thread",)))
            }
        }
    }
}

views!(BatchSimulation, PyArray2, {
    /// Configurations, (n, nq): the state itself, not a copy.
    q, set_q = |b| &b.q;
    /// Velocities, (n, nv): the state itself, not a copy.
    v, set_v = |b| &b.v;
    /// Controls of the robot files' motors, (n, nu).
    ctrl, set_ctrl = |b| &b.parts[0];
    /// Generalized forces, (n, nv).
    force, set_force = |b| &b.parts[1];
    /// Efforts of motors, (n, nv).
    effort, set_effort = |b| &b.parts[2];
    /// Stiffness of servos, (n, nv).
    kp, set_kp = |b| &b.parts[3];
    /// Damping of servos, (n, nv).
    kd, set_kd = |b| &b.parts[4];
    /// Where servos pull, (n, nv).
    target, set_target = |b| &b.parts[5];
    /// How fast servos want to move, (n, nv).
    target_velocity, set_target_velocity = |b| &b.parts[6];
});

getters!(BatchSimulation, {
    /// Number of copies.
    n: usize = |this| this.sizes.n;
    /// Number of threads.
    threads: usize = |this| threads::count(this.threads);
    /// Names of the motors that `ctrl` speaks to: those of robot files that the scene has no signal for.
    actuators: Vec<&str> = |this| this.layout.motors.iter().map(|m| m.name.as_str()).collect();
});

getters!(BatchSimulation, {
    /// The scene; of a batch of several scenes the first.
    scene: Bound<'py, Scene> = |this, py| this.scenes[0].bind(py).clone();
    /// The scene of each copy.
    scenes: Vec<Bound<'py, Scene>> = |this, py| (0..this.sizes.n).map(|i| this.scene_at(py, i)).collect();
    /// Which copies have failed, (n,) of bool.
    failed: PyResult<Bound<'py, PyArray1<bool>>> = |this, py| this.each(py, |c| c.failure.is_some());
    /// Why each copy failed; empty for those that did not.
    messages: PyResult<Vec<String>> = |this, py| {
        Ok(this.lock(py)?.iter().map(|c| c.failure.clone().unwrap_or_default()).collect())
    };
    /// Time of each copy (s), (n,).
    t: PyResult<Bound<'py, PyArray1<f64>>> = |this, py| this.each(py, |c| c.core.sim.state().t);
    /// Steps of each copy in the last call of `step` that were accepted without being certified
    /// (``on_failure="accept"``), (n,) of int.
    accepted: PyResult<Bound<'py, PyArray1<i64>>> = |this, py| this.each(py, |c| c.accepted);
    /// Largest measure of the certificates of each copy's steps in the last call of `step`, (n,).
    certificate: PyResult<Bound<'py, PyArray1<f64>>> = |this, py| this.each(py, |c| c.certificate);
    /// Contacts with a force in each copy's last step, (n,).
    contacts: PyResult<Bound<'py, PyArray1<i64>>> = |this, py| this.each(py, |c| c.contacts);
});

#[pymethods]
impl BatchSimulation {
    #[new]
    #[pyo3(signature = (scene, n=None, *, parameters=None, threads=None, separate=false))]
    fn new(
        py: Python<'_>,
        scene: &Bound<'_, PyAny>,
        n: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
        threads: Option<&Bound<'_, PyAny>>,
        separate: bool,
    ) -> PyResult<Self> {
        let n = n.map(|n| arrays::count("n", 1, n)).transpose()?;
        if let Some(n) = n.filter(|n| !(1..=MOST).contains(n)) {
            return Err(errors::input(py, format!("n must be from 1 to {MOST}, found {n}")));
        }
        let (scenes, n) = scenes::scenes_of(scene, n, parameters)?;
        Self::start(py, scenes, n, threads::asked(threads)?, AtStart::new(separate))
    }

    /// Makes `steps` steps of every copy that has not failed. Ctrl-C ends it soon, within a step
    /// too, of which then nothing is left; all copies come about equally far: ``t`` says where.
    ///
    /// Parameters
    /// ----------
    /// steps : int
    ///
    /// Returns
    /// -------
    /// ndarray of bool, (n,)
    ///     Which copies are well: have made all their steps. ``accepted`` counts those that are not certified.
    ///
    /// Raises
    /// ------
    /// BusyError
    ///     Another thread steps this batch.
    #[pyo3(signature = (steps=None), text_signature = "($self, steps=1)")]
    fn step<'py>(&self, py: Python<'py>, steps: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let steps = steps.map_or(Ok(1), |n| arrays::count("steps", 0, n))? as u64;
        let mut copies = self.lock(py)?;
        copies.iter_mut().for_each(Replica::begin_call);
        let (before, inputs) = self.read(py)?;
        let physical = self.physical.get(py).map(|p| Ok::<_, PyErr>((p, p.read(py, self.sizes.n)?))).transpose()?;
        let mut state = before.clone();
        let views = [self.q.bind(py), self.v.bind(py)];
        let writable = views.map(|view| arrays::set_writable(view, false));
        let ended = self.advance(py, &mut copies, steps, &mut state, &inputs, physical.as_ref());
        views.iter().zip(writable).for_each(|(view, writable)| {
            arrays::set_writable(view, writable);
        });
        self.give_back(py, &before, &state)?;
        ended?;
        let well: Vec<bool> = copies.iter().map(|c| c.failure.is_none()).collect();
        Ok(PyArray1::from_vec(py, well))
    }

    /// Puts copies back to the start of their scene: state, inputs, status and all that steps remember. Physical parameters stay what they
    /// are; `reset_physical` puts them back.
    ///
    /// Parameters
    /// ----------
    /// which : int, sequence of int, or mask of n bools, optional
    ///     Default: all.
    /// keyframe : str or int, optional
    ///     As of `Simulation.reset`.
    /// q, v : array_like, optional
    ///     States to start from in place of the scene's: as many rows as copies are meant, or one for all.
    #[pyo3(signature = (which=None, keyframe=None, *, q=None, v=None))]
    fn reset(
        &self,
        py: Python<'_>,
        which: Option<&Bound<'_, PyAny>>,
        keyframe: Option<&Bound<'_, PyAny>>,
        q: Option<&Bound<'_, PyAny>>,
        v: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let which = self.indices(py, which)?;
        let mut copies = self.lock(py)?;
        let number = keyframe.map(|key| robot::keyframe(copies[0].core.sim.world(), key)).transpose()?;
        for &i in &which {
            copies[i].go_back(self.beginnings.get(i).unwrap_or(&self.beginnings[0]))?;
            if let Some(number) = number {
                robot::take_keyframe(py, &mut copies[i].core, number)?;
            }
        }
        self.show(py, &mut copies, &which)?;
        drop(copies);
        for (name, view, x) in [("q", &self.q, q), ("v", &self.v, v)] {
            if let Some(x) = x {
                self.set_rows(name, view.bind(py), &which, x)?;
            }
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.sizes.n
    }

    /// Copy `i` as bytes, which `Simulation.load_state` and `load_state` read.
    ///
    /// Parameters
    /// ----------
    /// i : int
    ///     Negative numbers count from the end.
    ///
    /// Returns
    /// -------
    /// bytes
    fn save_state<'py>(&self, py: Python<'py>, i: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let i = arrays::index("copy", self.sizes.n, i)?;
        let mut copies = self.lock(py)?;
        self.take(py, &mut copies[i], i)?;
        Ok(PyBytes::new(py, &copies[i].core.sim.save_state()))
    }

    /// Continues copy `i` bit for bit from a saved state; its failure is forgotten.
    ///
    /// Parameters
    /// ----------
    /// i : int
    /// state : bytes
    ///     From `save_state` of a batch or a simulation of the same scene.
    fn load_state(&self, py: Python<'_>, i: &Bound<'_, PyAny>, state: &[u8]) -> PyResult<()> {
        let i = arrays::index("copy", self.sizes.n, i)?;
        self.load(py, i, state, None)
    }

    /// An independent simulation that continues from copy `i` bit for bit.
    ///
    /// Parameters
    /// ----------
    /// i : int
    ///
    /// Returns
    /// -------
    /// Simulation
    fn simulation<'py>(&self, py: Python<'py>, i: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Simulation>> {
        let state = self.save_state(py, i)?;
        let number = arrays::index("copy", self.sizes.n, i)?;
        let (scene, again) = (self.scene_at(py, number), AtStart::again(self.separate));
        Bound::new(py, Simulation::resumed(py, scene, state.as_bytes(), true, again)?)
    }

    fn __repr__(&self) -> String {
        let (title, n, threads) = (quoted(&self.scenes[0].get().inner.title), self.sizes.n, self.threads());
        format!("BatchSimulation({title}, n={n}, threads={threads})")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut copies = self.lock(py)?;
        let mut states = Vec::with_capacity(copies.len());
        for (i, copy) in copies.iter_mut().enumerate() {
            if copy.failure.is_none() {
                self.take(py, copy, i)?;
            }
            states.push((PyBytes::new(py, &copy.core.sim.save_state()), copy.failure.clone()));
        }
        let scenes: Vec<_> = self.scenes.iter().map(|scene| scene.bind(py).clone()).collect();
        let state = (scenes, self.threads, states, self.separate);
        pickle::reduce(py, "sim.batch", state.into_pyobject(py)?)
    }
}

impl BatchSimulation {
    /// The scene of copy `i`.
    fn scene_at<'py>(&self, py: Python<'py>, i: usize) -> Bound<'py, Scene> {
        self.scenes.get(i).unwrap_or(&self.scenes[0]).bind(py).clone()
    }

    fn load(&self, py: Python<'_>, i: usize, state: &[u8], failure: Option<String>) -> PyResult<()> {
        let mut copies = self.lock(py)?;
        let copy = &mut copies[i];
        copy.core.sim.load_state(state).map_err(|e| errors::from_scene(&e))?;
        copy.core.refresh_inputs();
        copy.failure = failure;
        self.show(py, &mut copies, &[i])
    }

    /// From its pickle.
    #[allow(clippy::type_complexity)]
    pub(crate) fn restored(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = state.py();
        let (scenes, threads, states, separate): (
            Vec<Bound<'_, Scene>>,
            Option<usize>,
            Vec<(Vec<u8>, Option<String>)>,
            bool,
        ) = state.extract()?;
        if states.is_empty() || ![1, states.len()].contains(&scenes.len()) {
            return Err(errors::input(py, "the pickled batch has no copies, or not a scene for each"));
        }
        let threads = threads.map(|count| threads::within(py, count)).transpose()?;
        let batch = Self::start(py, scenes, states.len(), threads, AtStart::again(separate))?;
        for (i, (state, failure)) in states.into_iter().enumerate() {
            batch.load(py, i, &state, failure)?;
        }
        Ok(batch)
    }
}
