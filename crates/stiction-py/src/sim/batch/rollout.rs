//! Many steps of a batch in one call: with a function of Python between them, or with controls given in advance.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use super::super::replica::Replica;
use super::{BatchSimulation, Sizes};
use crate::{arrays, errors, threads};
use stiction_sim::inputs::PARTS;

/// What a copy is given and leaves, step after step.
struct Course<'a> {
    copy: &'a mut Replica,
    q: &'a mut [f64],
    v: &'a mut [f64],
    /// Its inputs and physical parameters.
    own: Vec<f64>,
    /// Its inputs of each step, in rows.
    given: &'a [f64],
    q_of: &'a mut [f64],
    v_of: &'a mut [f64],
    sensors_of: &'a mut [f64],
}

/// A row of numbers cut into one part per copy.
fn cut(all: &mut Vec<f64>, n: usize) -> impl Iterator<Item = &mut [f64]> {
    let each = all.len() / n.max(1);
    let mut rest = all.as_mut_slice();
    (0..n).map(move |_| {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(each);
        rest = others;
        own
    })
}

#[pymethods]
impl BatchSimulation {
    /// Makes `steps` steps of every copy that has not failed, one after the other, and calls `callback(batch)` after each: to read, to
    /// set inputs, or to reset copies.
    ///
    /// Parameters
    /// ----------
    /// steps : int
    /// callback : callable, optional
    ///     Called with the batch. If it returns something true, the run ends there.
    /// every : int
    ///     Steps from one call to the next.
    ///
    /// Returns
    /// -------
    /// ndarray of bool, (n,)
    ///     Which copies are well.
    #[pyo3(signature = (steps, callback=None, *, every=None), text_signature = "($self, steps, callback=None, *, every=1)")]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        steps: &Bound<'py, PyAny>,
        callback: Option<Bound<'py, PyAny>>,
        every: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut left = arrays::count("steps", 0, steps)?;
        let every = every.map_or(Ok(1), |x| arrays::count("every", 1, x))?;
        let Some(callback) = callback else { return slf.call_method1("step", (left,)) };
        if !callback.is_callable() {
            return Err(arrays::wrong_type("callback must be callable", &callback));
        }
        let mut well = slf.call_method1("step", (0,))?;
        while left > 0 {
            let some = every.min(left);
            well = slf.call_method1("step", (some,))?;
            left -= some;
            if callback.call1((slf,))?.is_truthy()? {
                break;
            }
        }
        Ok(well)
    }

    /// Makes a step for each row of controls, with the GIL released all the time, and gives all states: like MuJoCo's ``rollout``. It
    /// begins at the present states; the copies are left at the last ones.
    ///
    /// Parameters
    /// ----------
    /// controls : array_like, (n, steps, size) or (steps, size)
    ///     What ``input`` is in each step, of each copy or of all.
    /// input : str
    ///     ``"ctrl"``, ``"effort"``, ``"force"``, ``"target"``, ``"target_velocity"``, ``"kp"``, ``"kd"``; of a step to the
    ///     next the other inputs stay what they are.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``q`` (n, steps, nq) and ``v`` (n, steps, nv) after each step, ``sensors`` (n, steps, readings) of the robot files' sensors in their
    ///     order, and ``ok`` (n,): copies that made all their steps. What a failed copy did not reach is its last state.
    ///
    /// Raises
    /// ------
    /// InputError
    ///     The controls have another shape.
    #[pyo3(signature = (controls, *, input=None), text_signature = "($self, controls, *, input='ctrl')")]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        controls: &Bound<'py, PyAny>,
        input: Option<&str>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let input = input.unwrap_or("ctrl");
        let part = PARTS[..PARTS.len() - 1].iter().position(|part| *part == input);
        let part = part.ok_or_else(|| {
            errors::input(
                py,
                format!("there is no input \"{input}\"; there are {}", PARTS[..PARTS.len() - 1].join(", ")),
            )
        })?;
        let Sizes { n, nq, nv, inputs: size } = self.sizes;
        let range = self.layout.range(part);
        let (given, steps) = self.given(controls, range.len())?;
        let mut copies = self.lock(py)?;
        copies.iter_mut().for_each(Replica::begin_call);
        let (before, inputs) = self.read(py)?;
        let physical = self.physical.get(py).map(|p| Ok::<_, PyErr>((p, p.read(py, n)?))).transpose()?;
        let readings: usize = copies[0].core.sim.world().sensors.iter().map(|s| s.size()).sum();
        let mut state = before.clone();
        let (mut q_all, mut v_all) = (vec![0.0; n * steps * nq], vec![0.0; n * steps * nv]);
        let mut sensors = vec![0.0; n * steps * readings];
        let pool = threads::pool(py, self.threads)?;
        let views = [self.q.bind(py), self.v.bind(py)];
        let writable = views.map(|view| arrays::set_writable(view, false));
        let all: &mut [Replica] = &mut copies;
        let ended = threads::watched(py, &pool, |stop| {
            let (mut q, mut v) = state.split_at_mut(n * nq);
            let (mut qs, mut vs, mut ss) = (cut(&mut q_all, n), cut(&mut v_all, n), cut(&mut sensors, n));
            let each = steps * range.len();
            let mut courses: Vec<Course<'_>> = vec![];
            for (i, copy) in all.iter_mut().enumerate() {
                let mut own = vec![0.0; size];
                self.gather(i, &inputs, &mut own);
                if let Some((arrays, all)) = &physical {
                    let mut row = vec![0.0; arrays.layout.len()];
                    arrays.gather(all, i, n, &mut row);
                    copy.set_physical(&row);
                }
                courses.push(Course {
                    copy,
                    q: q.split_off_mut(..nq).unwrap_or_default(),
                    v: v.split_off_mut(..nv).unwrap_or_default(),
                    own,
                    given: &given[i * each..(i + 1) * each],
                    q_of: qs.next().unwrap_or_default(),
                    v_of: vs.next().unwrap_or_default(),
                    sensors_of: ss.next().unwrap_or_default(),
                });
            }
            courses.par_iter_mut().with_max_len(1).for_each(|course| {
                let Course { copy, q, v, own, given, q_of, v_of, sensors_of } = course;
                let mut read = vec![];
                for step in 0..steps {
                    own[range.clone()].copy_from_slice(&given[step * range.len()..(step + 1) * range.len()]);
                    copy.advance(1, stop, q, v, own);
                    q_of[step * nq..(step + 1) * nq].copy_from_slice(q);
                    v_of[step * nv..(step + 1) * nv].copy_from_slice(v);
                    if readings > 0 {
                        copy.core.sim.read_sensors(&mut read);
                        sensors_of[step * readings..(step + 1) * readings].copy_from_slice(&read);
                    }
                }
            });
        });
        views.iter().zip(writable).for_each(|(view, writable)| {
            arrays::set_writable(view, writable);
        });
        self.give_back(py, &before, &state)?;
        ended?;
        if steps > 0 {
            // The inputs of the last step hold.
            let mut last = Vec::with_capacity(n * range.len());
            (0..n).for_each(|i| {
                last.extend_from_slice(&given[((i + 1) * steps - 1) * range.len()..(i + 1) * steps * range.len()])
            });
            self.parts[part].bind(py).call_method1(
                "__setitem__",
                (py.Ellipsis(), PyArray1::from_vec(py, last).reshape([n, range.len()])?),
            )?;
        }
        let out = PyDict::new(py);
        out.set_item("q", PyArray1::from_vec(py, q_all).reshape([n, steps, nq])?)?;
        out.set_item("v", PyArray1::from_vec(py, v_all).reshape([n, steps, nv])?)?;
        out.set_item("sensors", PyArray1::from_vec(py, sensors).reshape([n, steps, readings])?)?;
        let well: Vec<bool> = copies.iter().map(|c| c.failure.is_none()).collect();
        out.set_item("ok", PyArray1::from_vec(py, well))?;
        Ok(out)
    }
}

impl BatchSimulation {
    /// Controls as rows of all copies, one copy after the other, and how many steps they are.
    fn given(&self, controls: &Bound<'_, PyAny>, size: usize) -> PyResult<(Vec<f64>, usize)> {
        let (py, n) = (controls.py(), self.sizes.n);
        let numpy = py.import("numpy")?;
        let options = PyDict::new(py);
        options.set_item("dtype", "float64")?;
        let array = numpy.call_method("asarray", (controls,), Some(&options))?;
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        let steps = match shape[..] {
            [copies, steps, columns] if copies == n && columns == size => steps,
            [steps, columns] if columns == size => steps,
            _ => {
                let message =
                    format!("controls must have shape ({n}, steps, {size}) or (steps, {size}), found {shape:?}");
                return Err(errors::input(py, message));
            }
        };
        let whole = numpy.call_method1("broadcast_to", (array, (n, steps, size)))?;
        let whole = numpy.call_method1("ascontiguousarray", (whole,))?.cast_into::<PyArrayDyn<f64>>()?;
        Ok((whole.to_vec()?, steps))
    }
}
