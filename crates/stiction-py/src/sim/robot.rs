//! What robot files bring along: activations and forces of actuators, equalities, sensors, keyframes.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyString};
use stiction_body::math::{Quat, Vec3};
use stiction_sim::World;

use super::batch::BatchSimulation;
use super::core::Core;
use super::simulation::Simulation;
use crate::{arrays, errors};

/// The number of a keyframe that is named, or numbered.
pub(crate) fn keyframe(world: &World, which: &Bound<'_, PyAny>) -> PyResult<usize> {
    let keys = &world.keyframes;
    if let Ok(name) = which.cast::<PyString>() {
        let name = name.to_string();
        return keys.iter().position(|k| k.name == name).ok_or_else(|| {
            let known: Vec<&str> = keys.iter().map(|k| k.name.as_str()).collect();
            errors::input(which.py(), format!("there is no keyframe \"{name}\"; there are {known:?}"))
        });
    }
    arrays::index("keyframe", keys.len(), which)
}

/// Takes over a keyframe with its controls.
pub(crate) fn take_keyframe(py: Python<'_>, core: &mut Core, number: usize) -> PyResult<()> {
    core.sim.set_keyframe(number).map_err(|e| errors::from_input(&e))?;
    let world = core.sim.world().clone();
    let mut inputs = core.inputs().to_vec();
    let motors = core.layout.motors.iter().map(|motor| world.keyframes[number].control[motor.actuator]);
    inputs.iter_mut().zip(motors).for_each(|(x, control)| *x = control);
    core.set_inputs(&inputs).map_err(|message| errors::input(py, message))
}

/// As many switches as there are equalities.
fn switches(size: usize, x: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    if x.is_instance_of::<PyString>() || x.try_iter().is_err() {
        return Err(arrays::wrong_type("equality_active must be a sequence of booleans", x));
    }
    let all = arrays::vector("equality_active", x)?;
    if all.len() != size {
        return Err(errors::input(x.py(), format!("equality_active must have shape ({size},)")));
    }
    Ok(all.into_iter().map(|x| x != 0.0).collect())
}

/// Names of a world's sensors with the places of their numbers.
fn places(world: &World) -> Vec<(String, std::ops::Range<usize>)> {
    let mut first = 0;
    let place = |sensor: &stiction_sim::sensors::Sensor| {
        let range = first..first + sensor.size();
        first = range.end;
        (sensor.name.clone(), range)
    };
    world.sensors.iter().map(place).collect()
}

#[pymethods]
impl Simulation {
    /// Activation of each actuator of the robot files, (nu,) in the order of ``scene.actuators``; 0 for those that have none. A copy:
    /// assign to it to set them.
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(arrays::frozen(py, &self.lock(py)?.sim.state().activation))
    }

    #[setter]
    fn set_act(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        let x = arrays::vector_of("act", core.sim.world().actuators.len(), x)?;
        core.sim.set_activation(&x).map_err(|e| errors::from_input(&e))
    }

    /// Which equality constraints are on, (equalities,) bool in the order of ``scene.equalities``: ``data.eq_active`` of MuJoCo. A copy: assign
    /// to it to switch them, or use `set_equality`.
    ///
    /// What is switched on while it is open is pulled closed as MuJoCo's soft constraints pull, and is rigid from the step on that finds it
    /// closed to 1e-3 (m or rad).
    #[getter]
    fn equality_active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        Ok(PyArray1::from_vec(py, self.lock(py)?.sim.equality_active().collect()))
    }

    #[setter]
    fn set_equality_active(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let size = core.sim.world().equalities.len();
        core.sim.set_equalities_active(&switches(size, x)?).map_err(|e| errors::from_input(&e))
    }

    /// Switches an equality constraint on or off.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     One of `scene.equalities`.
    /// active : bool
    ///     Whether it holds from now on; see `equality_active`.
    ///
    /// Raises
    /// ------
    /// InputError
    ///     There is no such equality; or it is open, and the simulation event-driven.
    fn set_equality(&self, py: Python<'_>, name: &str, active: bool) -> PyResult<()> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let number = core.sim.world().equality(name).map_err(|e| errors::from_input(&e))?;
        core.sim.set_equality_active(number, active).map_err(|e| errors::from_input(&e))
    }

    /// Force of each actuator of the robot files at the present state and controls (N or N m, before the gear), (nu,) in the order of
    /// ``scene.actuators``.
    #[getter]
    fn actuator_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        let forces: Vec<f64> = core.sim.drives().motors.iter().map(|m| m.present_force()).collect();
        Ok(arrays::frozen(py, &forces))
    }

    /// Puts a body that is moved from outside (``mocap="true"`` in MJCF, ``joint = {type = "mocap"}`` in scenes) to a pose.
    ///
    /// It has no velocity: what it touches is moved out of its way, and what is welded or connected to it is pulled after it as in
    /// MuJoCo. Its pose is also in ``q``, after the coordinates of all joints.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The body; ``scene.mocap_bodies`` has all names.
    /// position : (3,), optional
    ///     Of its origin in the world (m); by default it stays.
    /// quaternion : (4,), optional
    ///     w, x, y, z, of any length but 0; by default it stays.
    #[pyo3(signature = (name, position=None, quaternion=None))]
    fn set_mocap(
        &self,
        py: Python<'_>,
        name: &str,
        position: Option<&Bound<'_, PyAny>>,
        quaternion: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let mut pose = core.sim.mocap(name).map_err(|e| errors::from_input(&e))?;
        if let Some(x) = position {
            let x = arrays::vector_of("position", 3, x)?;
            pose.translation = Vec3::new(x[0], x[1], x[2]);
        }
        if let Some(x) = quaternion {
            let x = arrays::vector_of("quaternion", 4, x)?;
            pose.rotation = Quat::from_xyzw(x[1], x[2], x[3], x[0]);
        }
        core.sim.set_mocap(name, &pose).map_err(|e| errors::from_input(&e))?;
        self.write(py, &core)
    }

    /// Position (m), (3,), and quaternion w, x, y, z, (4,), of a body that is moved from outside.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     One of `scene.mocap_bodies`.
    fn mocap<'py>(&self, py: Python<'py>, name: &str) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let pose = core.sim.mocap(name).map_err(|e| errors::from_input(&e))?;
        let q = pose.rotation;
        let quaternion = PyArray1::from_slice(py, &[q.w, q.x, q.y, q.z]);
        Ok([PyArray1::from_slice(py, &pose.translation.to_array()), quaternion])
    }

    /// Length of each actuator's transmission at the present state, (nu,).
    #[getter]
    fn actuator_length<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        Ok(arrays::frozen(py, &core.sim.drives().motors.iter().map(|m| m.length).collect::<Vec<_>>()))
    }

    /// Length of each tendon at the present state (m or rad), (tendons,).
    #[getter]
    fn tendon_length<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        Ok(arrays::frozen(py, &core.sim.drives().tendons.iter().map(|t| t.0).collect::<Vec<_>>()))
    }

    /// Efforts of all motors at the present state, within their limits, (nv,): N along, N m about.
    #[getter]
    fn motor_effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        Ok(arrays::frozen(py, &core.sim.motor_efforts()))
    }

    /// Forces of springs and dampers, and of all else that acts by itself besides gravity, at the present state, (nv,): N along, N m about.
    #[getter]
    fn passive_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        Ok(arrays::frozen(py, &core.sim.spring_forces()))
    }

    /// Readings of the robot files' sensors by name: arrays that every step, and every look at this, brings up to date.
    ///
    /// Positions and velocities are those of the present state; accelerations and forces those of the last step.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let (flat, all) = self.sensor_arrays(py, core.sim.world())?;
        let mut readings = vec![];
        core.sim.read_sensors(&mut readings);
        super::state::write(&flat, 0, &readings)?;
        Ok(all)
    }
}

impl Simulation {
    /// The array of all readings, and the views of it by name.
    fn sensor_arrays<'py>(
        &self,
        py: Python<'py>,
        world: &World,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyDict>)> {
        let (flat, all) = self.sensors.get_or_try_init(py, || {
            let places = places(world);
            let flat = PyArray1::<f64>::zeros(py, [places.last().map_or(0, |(_, range)| range.end)], false);
            let all = PyDict::new(py);
            for (name, range) in places {
                all.set_item(name, flat.get_item(PySlice::new(py, range.start as isize, range.end as isize, 1))?)?;
            }
            Ok::<_, PyErr>((flat.unbind(), all.unbind()))
        })?;
        Ok((flat.bind(py).clone(), all.bind(py).clone()))
    }

    /// Brings the readings up to date that somebody has looked at.
    pub(super) fn write_sensors(&self, py: Python<'_>, core: &mut Core) -> PyResult<()> {
        let Some((flat, _)) = self.sensors.get(py) else { return Ok(()) };
        let mut readings = vec![];
        core.sim.read_sensors(&mut readings);
        super::state::write(flat.bind(py), 0, &readings)
    }
}

#[pymethods]
impl BatchSimulation {
    /// Readings of the robot files' sensors by name, (n, size) each, as of now: see `Simulation.sensors`.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        let mut copies = self.lock(py)?;
        let places = places(copies[0].core.sim.world());
        let (n, size) = (copies.len(), places.last().map_or(0, |(_, range)| range.end));
        let (mut numbers, mut readings) = (Vec::with_capacity(n * size), vec![]);
        for (i, copy) in copies.iter_mut().enumerate() {
            if copy.failure.is_none() {
                self.take(py, copy, i)?;
            }
            copy.core.sim.read_sensors(&mut readings);
            numbers.extend_from_slice(&readings);
        }
        let flat: Bound<'py, PyArray2<f64>> = PyArray1::from_vec(py, numbers).reshape([n, size])?;
        for (name, range) in places {
            let columns = PySlice::new(py, range.start as isize, range.end as isize, 1);
            all.set_item(name, flat.get_item((PySlice::full(py), columns))?)?;
        }
        Ok(all)
    }

    /// Which equality constraints of each copy are on, (n, equalities) bool: see `Simulation.equality_active`.
    #[getter]
    fn equality_active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let copies = self.lock(py)?;
        let all: Vec<bool> = copies.iter().flat_map(|c| c.core.sim.equality_active()).collect();
        let size = all.len() / copies.len().max(1);
        PyArray1::from_vec(py, all).reshape([copies.len(), size])
    }

    #[setter]
    fn set_equality_active(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut copies = self.lock(py)?;
        let size = copies[0].core.sim.world().equalities.len();
        let rows = match x.try_iter() {
            Ok(rows) if !x.is_instance_of::<PyString>() => rows.collect::<PyResult<Vec<_>>>()?,
            _ => return Err(arrays::wrong_type("equality_active must be rows of booleans", x)),
        };
        if rows.len() != copies.len() {
            return Err(errors::input(py, format!("equality_active must have shape ({}, {size})", copies.len())));
        }
        let rows = rows.iter().map(|row| switches(size, row)).collect::<PyResult<Vec<_>>>()?;
        for (i, (copy, row)) in copies.iter_mut().zip(&rows).enumerate() {
            if copy.failure.is_none() {
                self.take(py, copy, i)?;
            }
            copy.core.sim.check_equalities_active(row).map_err(|e| errors::from_input(&e))?;
        }
        let mut all = copies.iter_mut().zip(&rows);
        all.try_for_each(|(copy, row)| copy.core.sim.set_equalities_active(row)).map_err(|e| errors::from_input(&e))
    }

    /// Activation of each copy's actuators, (n, nu): see `Simulation.act`.
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let copies = self.lock(py)?;
        let numbers: Vec<f64> = copies.iter().flat_map(|c| c.core.sim.state().activation.iter().copied()).collect();
        let size = numbers.len() / copies.len().max(1);
        PyArray1::from_vec(py, numbers).reshape([copies.len(), size])
    }

    #[setter]
    fn set_act(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut copies = self.lock(py)?;
        let size = copies[0].core.sim.world().actuators.len();
        let rows: Vec<Vec<f64>> =
            x.extract().map_err(|_| errors::input(py, format!("act must have shape (n, {size})")))?;
        if rows.len() != copies.len() {
            return Err(errors::input(py, format!("act must have shape ({}, {size})", copies.len())));
        }
        for (copy, row) in copies.iter_mut().zip(&rows) {
            copy.core.sim.set_activation(row).map_err(|e| errors::from_input(&e))?;
        }
        Ok(())
    }
}
