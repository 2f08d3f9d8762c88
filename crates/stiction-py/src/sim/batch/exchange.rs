//! What goes between the arrays of a batch and its copies.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

use super::super::physical::PhysicalArrays;
use super::super::replica::Replica;
use super::super::simulation::WRITTEN;
use super::{BatchSimulation, Sizes};
use crate::{arrays, errors, threads};
use stiction_linalg::lanes::same_bits;
use stiction_sim::inputs::PARTS;

/// How many steps make a round: about a tenth of a second of work, whatever a step costs.
struct Round {
    clock: Instant,
    steps: u64,
}

impl Round {
    fn new() -> Self {
        Self { clock: Instant::now(), steps: 16 }
    }

    fn next(&mut self) {
        let elapsed = self.clock.elapsed();
        if elapsed < Duration::from_millis(50) {
            self.steps = self.steps.saturating_mul(2);
        } else if elapsed > Duration::from_millis(200) {
            self.steps = (self.steps / 2).max(1);
        }
        self.clock = Instant::now();
    }
}

impl BatchSimulation {
    /// A number per copy.
    pub(super) fn each<'py, E: numpy::Element>(
        &self,
        py: Python<'py>,
        of: impl Fn(&Replica) -> E,
    ) -> PyResult<Bound<'py, PyArray1<E>>> {
        Ok(PyArray1::from_vec(py, self.lock(py)?.iter().map(of).collect()))
    }

    /// Copies of the arrays: all of q, all of v, all inputs.
    pub(super) fn read(&self, py: Python<'_>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let (state, inputs) = (self.state.bind(py).to_vec()?, self.inputs.bind(py).to_vec()?);
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        if (state.len(), inputs.len()) != (n * (nq + nv), n * size) {
            return Err(errors::input(py, "the batch's arrays were resized"));
        }
        Ok((state, inputs))
    }

    /// Writes the state of the copies `which` to the arrays.
    pub(super) fn show(&self, py: Python<'_>, copies: &mut [Replica], which: &[usize]) -> PyResult<()> {
        self.show_physical(py, copies, which)?;
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

    /// The inputs of copy `i` in the order of its layout.
    pub(super) fn gather(&self, i: usize, inputs: &[f64], own: &mut [f64]) {
        for part in 0..PARTS.len() {
            own[self.layout.range(part)].copy_from_slice(&inputs[self.place(part, i)]);
        }
    }

    pub(in crate::sim) fn indices(&self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        let n = self.sizes.n;
        let Some(which) = which else { return Ok((0..n).collect()) };
        if which.hasattr("__index__")? && !which.hasattr("__len__")? {
            return Ok(vec![arrays::index("copy", n, which)?]);
        }
        if let Ok(mask) = arrays::booleans("which", which) {
            arrays::check_len(py, "which", n, mask.len())?;
            return Ok((0..n).filter(|&i| mask[i]).collect());
        }
        let list = which.extract::<Vec<Bound<'_, PyAny>>>().ok();
        let list = list.filter(|list| list.iter().all(|i| i.hasattr("__index__").unwrap_or(false)));
        let wrong = || {
            arrays::wrong_type(&format!("which must be a number, a list of numbers or a mask of {n} booleans"), which)
        };
        list.ok_or_else(wrong)?.iter().map(|i| arrays::index("copy", n, i)).collect()
    }

    pub(super) fn set_array(&self, name: &str, view: &Bound<'_, PyArray2<f64>>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = x.py();
        drop(self.lock(py)?);
        view.call_method1("__setitem__", (py.Ellipsis(), x)).map(drop).map_err(|e| {
            if !e.is_instance_of::<pyo3::exceptions::PyValueError>(py) {
                return e;
            }
            let (rows, cols) = (view.shape()[0], view.shape()[1]);
            errors::input(py, format!("{name} must have shape ({rows}, {cols}) or broadcast to it: {}", e.value(py)))
        })
    }

    /// Writes rows of a view: one for each of `which`, or one for all.
    pub(super) fn set_rows(
        &self,
        name: &str,
        view: &Bound<'_, PyArray2<f64>>,
        which: &[usize],
        x: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = x.py();
        view.call_method1("__setitem__", (which.to_vec(), x)).map(drop).map_err(|e| {
            if !e.is_instance_of::<pyo3::exceptions::PyValueError>(py) {
                return e;
            }
            let (rows, cols) = (which.len(), view.shape()[1]);
            errors::input(py, format!("{name} must have shape ({rows}, {cols}) or broadcast to it: {}", e.value(py)))
        })
    }

    /// Makes steps of all copies without the GIL, in rounds of some steps each, so that copies that are told to stop have come about equally far.
    /// In a round every copy is a piece of work of its own: a core that is held up leaves the rest to the others.
    pub(super) fn advance(
        &self,
        py: Python<'_>,
        copies: &mut [Replica],
        steps: u64,
        state: &mut [f64],
        inputs: &[f64],
        physical: Option<&(&PhysicalArrays, Vec<f64>)>,
    ) -> PyResult<()> {
        let pool = threads::pool(py, self.threads)?;
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        threads::watched(py, &pool, |stop| {
            let (mut q, mut v) = state.split_at_mut(n * nq);
            let mut each = Vec::with_capacity(n);
            for copy in copies {
                each.push((copy, q.split_off_mut(..nq).unwrap_or_default(), v.split_off_mut(..nv).unwrap_or_default()));
            }
            let (mut left, mut round) = (steps, Round::new());
            while left > 0 && !stop.load(Ordering::Relaxed) {
                let some = round.steps.min(left);
                each.par_iter_mut().enumerate().with_max_len(1).for_each_init(
                    || (vec![0.0; size], vec![0.0; physical.map_or(0, |(p, _)| p.layout.len())]),
                    |(own, row), (i, (copy, q, v))| {
                        self.gather(i, inputs, own);
                        if let Some((arrays, all)) = physical {
                            arrays.gather(all, i, n, row);
                            copy.set_physical(row);
                        }
                        copy.advance(some, stop, q, v, own);
                    },
                );
                left -= some;
                round.next();
            }
        })
    }

    /// Shows Python the state, which it must not have changed since `before`.
    pub(super) fn give_back(&self, py: Python<'_>, before: &[f64], state: &[f64]) -> PyResult<()> {
        let mut array = self.state.bind(py).readwrite();
        let now = array.as_slice_mut()?;
        if now.len() != state.len() {
            return Err(errors::input(py, "the batch's arrays were resized"));
        }
        let written = !same_bits(now, before);
        now.copy_from_slice(state);
        if written { Err(errors::BUSY.raise(py, (WRITTEN,))) } else { Ok(()) }
    }

    /// Takes over what Python wrote for copy `i`.
    pub(in crate::sim) fn take(&self, py: Python<'_>, copy: &mut Replica, i: usize) -> PyResult<()> {
        let (state, inputs) = self.read(py)?;
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        let bad = |message: String| errors::input(py, format!("copy {i}: {message}"));
        if let Some(arrays) = self.physical.get(py) {
            let mut row = vec![0.0; arrays.layout.len()];
            arrays.gather(&arrays.read(py, n)?, i, n, &mut row);
            copy.core.set_physical(&row).map_err(bad)?;
        }
        let (q, v) = (&state[i * nq..(i + 1) * nq], &state[n * nq + i * nv..n * nq + (i + 1) * nv]);
        copy.core.set_state(q, v).map_err(bad)?;
        let mut own = vec![0.0; size];
        self.gather(i, &inputs, &mut own);
        copy.core.set_inputs(&own).map_err(bad)
    }
}
