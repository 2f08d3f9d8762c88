//! What there is to read of all copies, as arrays.

use numpy::{PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;

use super::super::contacts;
use super::super::core::Core;
use super::super::readings::six;
use super::super::replica::Replica;
use super::BatchSimulation;
use crate::arrays;
use crate::scene::geom::pose_numbers;

impl BatchSimulation {
    /// Rows of so many numbers per copy, at the present state.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        mut of: impl FnMut(&mut Core) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut copies = self.lock(py)?;
        let mut all = vec![];
        for (i, copy) in copies.iter_mut().enumerate() {
            self.take_well(py, copy, i)?;
            all.extend(of(&mut copy.core));
        }
        arrays::frozen_rows(py, copies.len(), all.len() / copies.len().max(1), all)
    }

    /// The same with so many numbers per body.
    fn per_body<'py>(
        &self,
        py: Python<'py>,
        size: usize,
        of: impl FnMut(&mut Core) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let flat = self.rows(py, of)?;
        let bodies = self.scenes[0].get().inner.world.model.links().len();
        let array = flat.reshape([self.sizes.n, bodies, size])?;
        arrays::set_writable(&array, false);
        Ok(array)
    }

    /// Takes over what Python wrote for a copy that has not failed.
    fn take_well(&self, py: Python<'_>, copy: &mut Replica, i: usize) -> PyResult<()> {
        if copy.failure.is_none() { self.take(py, copy, i) } else { Ok(()) }
    }
}

#[pymethods]
impl BatchSimulation {
    /// Poses of the bodies, (n, bodies, 7): position (m) and quaternion w, x, y, z.
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.per_body(py, 7, |core| {
            core.kinematics();
            core.work.pose.iter().flat_map(pose_numbers).collect()
        })
    }

    /// Velocities of the bodies, (n, bodies, 6): of the origin (m/s) and angular (rad/s), world axes.
    #[getter]
    fn body_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.per_body(py, 6, |core| {
            core.kinematics();
            six(core.work.velocity.iter().map(|m| (m.linear, m.angular)))
        })
    }

    /// Accelerations of the bodies in each copy's last step, (n, bodies, 6): of the origin (m/s²) and angular (rad/s²), world axes.
    #[getter]
    fn body_accelerations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.per_body(py, 6, |core| six(core.sim.link_accelerations().iter().map(|a| (a.linear, a.angular))))
    }

    /// What contacts did to each body in the last step, (n, bodies, 6): see `Simulation.contact_wrenches`.
    #[getter]
    fn contact_wrenches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.per_body(py, 6, |core| contacts::body_wrenches(core).into_iter().flatten().collect())
    }

    /// What the joint of each body carried in the last step, (n, bodies, 6): see `Simulation.joint_wrenches`.
    #[getter]
    fn joint_wrenches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.per_body(py, 6, |core| six(core.sim.joint_wrenches()))
    }

    /// What the contacts between two bodies did to the second one in the last step, (n, 6): force (N), and moment about its origin
    /// (N m), world axes.
    ///
    /// Parameters
    /// ----------
    /// a, b : str or int
    ///     Bodies; -1 is the world.
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
        let number = |x: &Bound<'_, PyAny>| match x.extract::<i64>() {
            Ok(-1) => Ok(-1),
            _ => Ok::<_, PyErr>(self.scenes[0].get().body_number(x)? as i32),
        };
        let pair = [number(a)?, number(b)?];
        self.rows(py, |core| contacts::between(core, pair).to_vec())
    }

    /// Accelerations of the velocities in each copy's last step, (n, nv).
    #[getter]
    fn acceleration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |core| core.sim.acceleration())
    }

    /// Efforts that motors, servos and actuators gave in the last step, (n, nv): see `Simulation.applied_effort`.
    #[getter]
    fn applied_effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |core| core.sim.applied_efforts())
    }

    /// Forces of limits of joints and tendons in the last step, (n, nv).
    #[getter]
    fn limit_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |core| core.sim.joint_forces().limit)
    }

    /// Forces of closed loops in the last step, (n, nv).
    #[getter]
    fn loop_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |core| core.sim.joint_forces().loops)
    }

    /// Kinetic and potential energy of each copy (J).
    ///
    /// Returns
    /// -------
    /// ndarray, (n, 2)
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |core| {
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
        self.rows(py, |core| core.sim.center_of_mass(&links).map_or(vec![0.0; 3], |(_, at)| at.to_array().to_vec()))
    }
}
