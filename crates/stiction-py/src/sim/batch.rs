//! Many copies of a scene, stepped over all cores.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice, PyTuple};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::core::Core;
use super::simulation::scene_of;
use crate::inputs::{Layout, PARTS};
use crate::lcp::html;
use crate::scene::Scene;
use crate::{arrays, errors, threads};

/// Most copies.
const MOST: usize = 1 << 24;
/// Steps between two looks for Ctrl-C.
const STEPS_PER_LOOK: u64 = 256;

/// ``n`` copies of a scene, stepped over all cores with the GIL released. What happens to one copy never depends on the others, nor on the
/// number of threads.
///
/// Parameters
/// ----------
/// scene : Scene or str or path
/// n : int
/// threads : int, optional
///     Default: one per core.
///
/// Notes
/// -----
/// ``q`` (n, nq), ``v`` (n, nv) and the inputs (n, ...) are the state itself, as in `Simulation`: write to them between steps. A copy whose state or
/// inputs cannot be used, or whose step cannot be certified, keeps its state, is marked in ``failed`` and left alone until it is reset;
/// ``messages[i]`` says why. The other copies go on.
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
pub struct BatchSimulation {
    scene: Py<Scene>,
    layout: Arc<Layout>,
    inner: Mutex<Vec<Replica>>,
    threads: Option<usize>,
    sizes: Sizes,
    state: Py<PyArray1<f64>>,
    inputs: Py<PyArray1<f64>>,
    q: Py<PyArray2<f64>>,
    v: Py<PyArray2<f64>>,
    parts: Vec<Py<PyArray2<f64>>>,
}

/// One copy.
struct Replica {
    core: Core,
    /// Why it failed.
    failure: Option<String>,
    certificate: f64,
    contacts: i64,
}

impl Replica {
    fn new(scene: &stiction_sim::Scene, layout: &Arc<Layout>) -> PyResult<Self> {
        let core = Core::new(scene, layout).map_err(|e| errors::from_scene(&e))?;
        Ok(Self { core, failure: None, certificate: 0.0, contacts: 0 })
    }

    /// Takes over state and inputs, makes steps, and gives the state back.
    fn advance(&mut self, steps: u64, q: &mut [f64], v: &mut [f64], inputs: &[f64]) {
        if self.failure.is_some() {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.try_advance(steps, q, v, inputs)));
        self.failure = match result {
            Ok(Ok(())) => None,
            Ok(Err(message)) => Some(message),
            Err(_) => Some("internal error; please report it".into()),
        };
    }

    fn try_advance(&mut self, steps: u64, q: &mut [f64], v: &mut [f64], inputs: &[f64]) -> Result<(), String> {
        self.core.set_state(q, v)?;
        self.core.set_inputs(inputs)?;
        let mut made = Ok(());
        for _ in 0..steps {
            match self.core.step() {
                Ok(report) => {
                    self.certificate = report.certificate;
                    self.contacts = report.active as i64;
                }
                Err(failure) => {
                    made = Err(failure.to_string());
                    break;
                }
            }
        }
        let state = self.core.sim.state();
        q.copy_from_slice(&state.q);
        v.copy_from_slice(&state.v);
        made
    }
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
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Vec<Replica>>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(inner)) => Ok(inner.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(errors::BUSY.raise(py, ("this batch is being stepped by another thread",)))
            }
        }
    }

    /// Copies of the arrays: all of q, all of v, all inputs.
    fn read(&self, py: Python<'_>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let (state, inputs) = (self.state.bind(py).to_vec()?, self.inputs.bind(py).to_vec()?);
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        if (state.len(), inputs.len()) != (n * (nq + nv), n * size) {
            return Err(errors::input(py, "the batch's arrays were resized"));
        }
        Ok((state, inputs))
    }

    /// Writes the state of the copies `which` to the arrays.
    fn show(&self, py: Python<'_>, copies: &[Replica], which: &[usize]) -> PyResult<()> {
        let Sizes { n, nq, nv, .. } = self.sizes;
        let mut state = self.state.bind(py).readwrite();
        let mut inputs = self.inputs.bind(py).readwrite();
        let (state, inputs) = (state.as_slice_mut()?, inputs.as_slice_mut()?);
        for &i in which {
            let core = &copies[i].core;
            state[i * nq..(i + 1) * nq].copy_from_slice(&core.sim.state().q);
            state[n * nq + i * nv..n * nq + (i + 1) * nv].copy_from_slice(&core.sim.state().v);
            for part in 0..PARTS.len() {
                inputs[self.place(part, i)].copy_from_slice(&core.inputs()[self.layout.range(part)]);
            }
        }
        Ok(())
    }

    /// Where part `part` of copy `i` is in the array of inputs, which holds part after part.
    fn place(&self, part: usize, i: usize) -> Range<usize> {
        let (range, n) = (self.layout.range(part), self.sizes.n);
        let first = n * range.start + i * range.len();
        first..first + range.len()
    }

    fn indices(&self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        let n = self.sizes.n;
        let Some(which) = which else { return Ok((0..n).collect()) };
        if let Ok(i) = which.extract::<usize>() {
            return self.check(py, vec![i]);
        }
        if let Ok(mask) = arrays::booleans("which", which) {
            arrays::check_len(py, "which", n, mask.len())?;
            return Ok((0..n).filter(|&i| mask[i]).collect());
        }
        let list = which.extract::<Vec<usize>>().map_err(|_| {
            pyo3::exceptions::PyTypeError::new_err(format!(
                "which must be a number, a list of numbers or a mask of {n} booleans"
            ))
        })?;
        self.check(py, list)
    }

    fn check(&self, py: Python<'_>, all: Vec<usize>) -> PyResult<Vec<usize>> {
        let n = self.sizes.n;
        match all.iter().find(|&&i| i >= n) {
            Some(i) => Err(errors::input(py, format!("there is no copy {i}; there are {n}"))),
            None => Ok(all),
        }
    }
}

#[pymethods]
impl BatchSimulation {
    #[new]
    #[pyo3(signature = (scene, n, *, threads=None))]
    fn new(py: Python<'_>, scene: &Bound<'_, PyAny>, n: usize, threads: Option<usize>) -> PyResult<Self> {
        if !(1..=MOST).contains(&n) {
            return Err(errors::input(py, format!("n must be from 1 to {MOST}, found {n}")));
        }
        let scene = scene_of(scene)?;
        let inner = scene.get().inner.clone();
        let layout = Arc::new(Layout::new(&inner));
        let copies = (0..n).map(|_| Replica::new(&inner, &layout)).collect::<PyResult<Vec<_>>>()?;
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
        let parts = (0..PARTS.len()).map(part).collect::<PyResult<_>>()?;
        threads::count(py, threads)?;
        let all: Vec<usize> = (0..n).collect();
        let (state, inputs) = (state.unbind(), inputs.unbind());
        let batch = Self {
            scene: scene.unbind(),
            layout,
            inner: Mutex::new(copies),
            threads,
            sizes,
            state,
            inputs,
            q,
            v,
            parts,
        };
        batch.show(py, &batch.lock(py)?, &all)?;
        Ok(batch)
    }

    /// Makes `steps` steps of every copy that has not failed.
    ///
    /// Returns
    /// -------
    /// ndarray of bool, (n,)
    ///     Which copies are well.
    #[pyo3(signature = (steps=1))]
    fn step<'py>(&self, py: Python<'py>, steps: u64) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut copies = self.lock(py)?;
        let pool = threads::pool(py, self.threads)?;
        let (before, inputs) = self.read(py)?;
        let mut state = before.clone();
        let mut signal = Ok(());
        let mut left = steps;
        while left > 0 && signal.is_ok() {
            let some = left.min(STEPS_PER_LOOK);
            self.advance(py, &pool, &mut copies, some, &mut state, &inputs);
            left -= some;
            signal = py.check_signals();
        }
        self.give_back(py, &before, &state)?;
        signal?;
        let well: Vec<bool> = copies.iter().map(|c| c.failure.is_none()).collect();
        Ok(PyArray1::from_vec(py, well))
    }

    /// Puts copies back to the start of the scene: state, inputs, status and all that steps remember.
    ///
    /// Parameters
    /// ----------
    /// which : int, sequence of int, or mask of n bools, optional
    ///     Default: all.
    #[pyo3(signature = (which=None))]
    fn reset(&self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let which = self.indices(py, which)?;
        let mut copies = self.lock(py)?;
        for &i in &which {
            copies[i] = Replica::new(&self.scene.get().inner, &self.layout)?;
        }
        self.show(py, &copies, &which)
    }

    /// The scene.
    #[getter]
    fn scene<'py>(&self, py: Python<'py>) -> Bound<'py, Scene> {
        self.scene.bind(py).clone()
    }

    /// Number of copies.
    #[getter]
    fn n(&self) -> usize {
        self.sizes.n
    }

    fn __len__(&self) -> usize {
        self.sizes.n
    }

    /// Number of threads.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        threads::count(py, self.threads)
    }

    /// Configurations, (n, nq): the state itself, not a copy.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.q.bind(py).clone()
    }

    /// Velocities, (n, nv): the state itself, not a copy.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.v.bind(py).clone()
    }

    /// Controls of the robot files' motors, (n, nu).
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[0].bind(py).clone()
    }

    /// Generalized forces, (n, nv).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[1].bind(py).clone()
    }

    /// Efforts of motors, (n, nv).
    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[2].bind(py).clone()
    }

    /// Stiffness of servos, (n, nv).
    #[getter]
    fn kp<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[3].bind(py).clone()
    }

    /// Damping of servos, (n, nv).
    #[getter]
    fn kd<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[4].bind(py).clone()
    }

    /// Where servos pull, (n, nv).
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[5].bind(py).clone()
    }

    /// How fast servos want to move, (n, nv).
    #[getter]
    fn target_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.parts[6].bind(py).clone()
    }

    /// Which copies have failed, (n,) of bool.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let failed: Vec<bool> = self.lock(py)?.iter().map(|c| c.failure.is_some()).collect();
        Ok(PyArray1::from_vec(py, failed))
    }

    /// Why each copy failed; empty for those that did not.
    #[getter]
    fn messages(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.lock(py)?.iter().map(|c| c.failure.clone().unwrap_or_default()).collect())
    }

    /// Time of each copy (s), (n,).
    #[getter]
    fn t<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let t: Vec<f64> = self.lock(py)?.iter().map(|c| c.core.sim.state().t).collect();
        Ok(PyArray1::from_vec(py, t))
    }

    /// Largest measure of the certificate of each copy's last step, (n,).
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let all: Vec<f64> = self.lock(py)?.iter().map(|c| c.certificate).collect();
        Ok(PyArray1::from_vec(py, all))
    }

    /// Contacts with a force in each copy's last step, (n,).
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let all: Vec<i64> = self.lock(py)?.iter().map(|c| c.contacts).collect();
        Ok(PyArray1::from_vec(py, all))
    }

    /// Replica `i` as bytes, which `Simulation.load_state` and `load_state` read.
    fn save_state<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.check(py, vec![i])?;
        let mut copies = self.lock(py)?;
        self.take(py, &mut copies[i], i)?;
        Ok(PyBytes::new(py, &copies[i].core.sim.save_state()))
    }

    /// Continues copy `i` bit for bit from a saved state; its failure is forgotten.
    fn load_state(&self, py: Python<'_>, i: usize, state: &[u8]) -> PyResult<()> {
        self.check(py, vec![i])?;
        let mut copies = self.lock(py)?;
        let copy = &mut copies[i];
        copy.core.sim.load_state(state).map_err(|e| errors::from_scene(&e))?;
        copy.core.refresh_inputs();
        copy.failure = None;
        self.show(py, &copies, &[i])
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (scene, threads) = (&self.scene.get().inner, self.threads(py)?);
        Ok(format!("BatchSimulation({:?}, n={}, threads={threads})", scene.title, self.sizes.n))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("stiction.sim")?.getattr("_restore_batch")?;
        let states = (0..self.sizes.n).map(|i| self.save_state(py, i)).collect::<PyResult<Vec<_>>>()?;
        let args = (self.scene.bind(py).clone(), self.threads, states);
        Ok((make, args.into_pyobject(py)?))
    }
}

impl BatchSimulation {
    /// Makes steps of all copies without the GIL.
    fn advance(
        &self,
        py: Python<'_>,
        pool: &ThreadPool,
        copies: &mut [Replica],
        steps: u64,
        state: &mut [f64],
        inputs: &[f64],
    ) {
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        py.detach(|| {
            let (mut q, mut v) = state.split_at_mut(n * nq);
            let mut each = Vec::with_capacity(n);
            for copy in copies {
                each.push((copy, q.split_off_mut(..nq).unwrap_or_default(), v.split_off_mut(..nv).unwrap_or_default()));
            }
            pool.install(|| {
                each.into_par_iter().enumerate().for_each(|(i, (copy, q, v))| {
                    let mut own = vec![0.0; size];
                    for part in 0..PARTS.len() {
                        own[self.layout.range(part)].copy_from_slice(&inputs[self.place(part, i)]);
                    }
                    copy.advance(steps, q, v, &own);
                });
            });
        });
    }

    /// Shows Python the state, which it must not have changed since `before`.
    fn give_back(&self, py: Python<'_>, before: &[f64], state: &[f64]) -> PyResult<()> {
        let mut array = self.state.bind(py).readwrite();
        let now = array.as_slice_mut()?;
        if now.len() != state.len() {
            return Err(errors::input(py, "the batch's arrays were resized"));
        }
        let written = now.iter().zip(before).any(|(a, b)| a.to_bits() != b.to_bits());
        now.copy_from_slice(state);
        if written {
            let message = "q or v was written while a step ran in another thread; that write is lost";
            return Err(errors::BUSY.raise(py, (message,)));
        }
        Ok(())
    }

    /// Takes over what Python wrote for copy `i`.
    fn take(&self, py: Python<'_>, copy: &mut Replica, i: usize) -> PyResult<()> {
        let (state, inputs) = self.read(py)?;
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        let bad = |message: String| errors::input(py, format!("copy {i}: {message}"));
        copy.core
            .set_state(&state[i * nq..(i + 1) * nq], &state[n * nq + i * nv..n * nq + (i + 1) * nv])
            .map_err(bad)?;
        let mut own = vec![0.0; size];
        for part in 0..PARTS.len() {
            own[self.layout.range(part)].copy_from_slice(&inputs[self.place(part, i)]);
        }
        copy.core.set_inputs(&own).map_err(bad)
    }
}
