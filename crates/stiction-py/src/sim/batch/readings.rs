//! What there is to read of all copies, as arrays.

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::super::contacts;
use super::super::core::Core;
use super::super::queries::geoms_of;
use super::super::readings::{Per, When};
use super::super::replica::Replica;
use super::BatchSimulation;
use crate::arrays;

impl BatchSimulation {
    /// Numbers per velocity or body, for all copies.
    pub(in super::super) fn reading<'py>(
        &self,
        py: Python<'py>,
        (when, per): (When, Per),
        of: impl FnMut(&mut Core) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let flat = self.rows(py, when, of)?;
        let Per::Body(size) = per else { return Ok(flat.into_any()) };
        let bodies = self.scenes[0].get().inner.world.model.links().len();
        let array = flat.reshape([self.sizes.n, bodies, size])?;
        arrays::set_writable(&array, false);
        Ok(array.into_any())
    }

    /// Rows of so many numbers per copy.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        when: When,
        mut of: impl FnMut(&mut Core) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut copies = self.lock(py)?;
        let mut all = vec![];
        for (i, copy) in copies.iter_mut().enumerate() {
            if when == When::Now {
                self.take_well(py, copy, i)?;
            }
            all.extend(of(&mut copy.core));
        }
        arrays::frozen_rows(py, copies.len(), all.len() / copies.len().max(1), all)
    }

    /// Takes over what Python wrote for a copy that has not failed.
    fn take_well(&self, py: Python<'_>, copy: &mut Replica, i: usize) -> PyResult<()> {
        if copy.failure.is_none() { self.take(py, copy, i) } else { Ok(()) }
    }
}

#[pymethods]
impl BatchSimulation {
    /// What the contacts between two bodies did to the second one in the last step, (n, 6): force (N), and moment about its origin
    /// (N m), world axes.
    ///
    /// Parameters
    /// ----------
    /// a, b : str or int
    ///     Bodies, fixed ones by name; "world" or -1 is all that is fixed.
    ///
    /// Returns
    /// -------
    /// ndarray, (n, 6)
    fn pair_wrenches<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let scene = self.scenes[0].get();
        let world = PyString::new(py, "world").into_any();
        let geoms = |x: &Bound<'py, PyAny>| {
            let is_world = x.extract::<i64>().is_ok_and(|number| number == -1);
            geoms_of(scene, if is_world { &world } else { x })
        };
        let pair = [geoms(a)?, geoms(b)?];
        self.rows(py, When::LastStep, |core| contacts::between(core, &pair).to_vec())
    }

    /// Kinetic and potential energy of each copy (J).
    ///
    /// Returns
    /// -------
    /// ndarray, (n, 2)
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, When::Now, |core| {
            let (kinetic, potential) = core.sim.energy();
            vec![kinetic, potential]
        })
    }

    /// Centre of mass of all bodies of each copy (m).
    ///
    /// Returns
    /// -------
    /// ndarray, (n, 3)
    fn center_of_mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let links: Vec<usize> = (0..self.scenes[0].get().inner.world.model.links().len()).collect();
        self.rows(py, When::Now, |core| {
            core.sim.center_of_mass(&links).map_or(vec![0.0; 3], |(_, at)| at.to_array().to_vec())
        })
    }
}
