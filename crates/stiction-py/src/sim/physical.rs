//! Physical parameters as arrays that Python may write to: of a simulation, and of all copies of a batch.

use std::ops::Range;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PySlice};
use stiction_sim::{PhysicalLayout, PhysicalPart, World};

use super::batch::BatchSimulation;
use super::core::Core;
use super::replica::Replica;
use super::simulation::Simulation;
use super::state;
use crate::errors;

/// The arrays of all physical parameters.
pub(crate) struct PhysicalArrays {
    /// Where the parts of one simulation are.
    pub layout: PhysicalLayout,
    /// All numbers, part after part; of a batch each part for all copies.
    flat: Py<PyArray1<f64>>,
    /// Views of the parts, in the order of [`PhysicalPart::ALL`].
    parts: Vec<Py<PyAny>>,
}

impl PhysicalArrays {
    /// For so many copies of a world; `None` for a simulation of its own.
    fn new(py: Python<'_>, world: &World, copies: Option<usize>) -> PyResult<Self> {
        let layout = PhysicalLayout::new(world);
        let n = copies.unwrap_or(1);
        let flat = PyArray1::<f64>::zeros(py, [n * layout.len()], false);
        let mut parts = Vec::with_capacity(PhysicalPart::ALL.len());
        for part in PhysicalPart::ALL {
            let range = layout.range(part);
            let slice = PySlice::new(py, (n * range.start) as isize, (n * range.end) as isize, 1);
            let shape = PyList::new(py, copies.iter().chain(layout.shape(part)))?.to_tuple();
            parts.push(flat.get_item(slice)?.call_method1("reshape", (shape,))?.unbind());
        }
        Ok(Self { layout, flat: flat.unbind(), parts })
    }

    fn view<'py>(&self, py: Python<'py>, part: PhysicalPart) -> Bound<'py, PyAny> {
        self.parts[part as usize].bind(py).clone()
    }

    /// Where part `part` of copy `i` of `n` is.
    fn place(&self, part: PhysicalPart, i: usize, n: usize) -> Range<usize> {
        let range = self.layout.range(part);
        let first = n * range.start + i * range.len();
        first..first + range.len()
    }

    /// The numbers of copy `i` of `n`, in the order of the layout.
    pub(crate) fn gather(&self, all: &[f64], i: usize, n: usize, own: &mut [f64]) {
        for part in PhysicalPart::ALL {
            own[self.layout.range(part)].copy_from_slice(&all[self.place(part, i, n)]);
        }
    }

    /// All numbers of `n` copies.
    pub(crate) fn read(&self, py: Python<'_>, n: usize) -> PyResult<Vec<f64>> {
        Ok(state::numbers(self.flat.bind(py), n * self.layout.len())?.to_vec())
    }

    /// Shows the numbers of copy `i` of `n`.
    fn write(&self, py: Python<'_>, row: &[f64], i: usize, n: usize) -> PyResult<()> {
        for part in PhysicalPart::ALL {
            state::write(self.flat.bind(py), self.place(part, i, n).start, &row[self.layout.range(part)])?;
        }
        Ok(())
    }
}

/// Writes to a view of an array.
pub(crate) fn assign(name: &str, view: &Bound<'_, PyAny>, x: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = x.py();
    view.call_method1("__setitem__", (py.Ellipsis(), x)).map(drop).map_err(|e| {
        if !e.is_instance_of::<pyo3::exceptions::PyValueError>(py) {
            return e;
        }
        let shape = view.getattr("shape").map_or_else(|_| "?".into(), |s| s.to_string());
        errors::input(py, format!("{name} must have shape {shape} or broadcast to it: {}", e.value(py)))
    })
}

/// What has physical parameters that Python sees as arrays, once somebody has looked.
trait Physical {
    /// The arrays, if somebody has.
    fn cell(&self) -> &PyOnceLock<PhysicalArrays>;

    /// The arrays with the present values.
    fn make(&self, py: Python<'_>) -> PyResult<PhysicalArrays>;

    /// Refuses if another thread is making a step.
    fn refuse_busy(&self, py: Python<'_>) -> PyResult<()>;

    fn physical_view<'py>(&self, py: Python<'py>, part: PhysicalPart) -> PyResult<Bound<'py, PyAny>> {
        if self.cell().get(py).is_none() {
            // Another thread may have been first.
            let _ = self.cell().set(py, self.make(py)?);
        }
        let arrays = self.cell().get(py).ok_or_else(|| errors::input(py, "the parameters are gone"))?;
        Ok(arrays.view(py, part))
    }

    fn set_physical_view(&self, py: Python<'_>, part: PhysicalPart, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let view = self.physical_view(py, part)?;
        self.refuse_busy(py)?;
        assign(part.name(), &view, x)
    }
}

impl Physical for Simulation {
    fn cell(&self) -> &PyOnceLock<PhysicalArrays> {
        &self.physical
    }

    fn make(&self, py: Python<'_>) -> PyResult<PhysicalArrays> {
        let mut core = self.lock(py)?;
        let made = PhysicalArrays::new(py, core.sim.world(), None)?;
        made.write(py, core.physical(), 0, 1)?;
        Ok(made)
    }

    fn refuse_busy(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py).map(drop)
    }
}

impl Physical for BatchSimulation {
    fn cell(&self) -> &PyOnceLock<PhysicalArrays> {
        &self.physical
    }

    fn make(&self, py: Python<'_>) -> PyResult<PhysicalArrays> {
        let mut copies = self.lock(py)?;
        let n = copies.len();
        let made = PhysicalArrays::new(py, copies[0].core.sim.world(), Some(n))?;
        for (i, copy) in copies.iter_mut().enumerate() {
            made.write(py, copy.core.physical(), i, n)?;
        }
        Ok(made)
    }

    fn refuse_busy(&self, py: Python<'_>) -> PyResult<()> {
        self.lock(py).map(drop)
    }
}

impl Simulation {
    /// Takes over what Python wrote to the physical parameters.
    pub(super) fn read_physical(&self, py: Python<'_>, core: &mut Core) -> PyResult<()> {
        let Some(arrays) = self.physical.get(py) else { return Ok(()) };
        let row = state::numbers(arrays.flat.bind(py), arrays.layout.len())?;
        core.set_physical(row).map_err(|message| errors::input(py, message))
    }

    /// Shows the physical parameters, if somebody has looked.
    pub(super) fn write_physical(&self, py: Python<'_>, core: &mut Core) -> PyResult<()> {
        let Some(arrays) = self.physical.get(py) else { return Ok(()) };
        arrays.write(py, core.physical(), 0, 1)
    }
}

impl BatchSimulation {
    /// Shows the physical parameters of the copies `which`, if somebody has looked.
    pub(super) fn show_physical(&self, py: Python<'_>, copies: &mut [Replica], which: &[usize]) -> PyResult<()> {
        let Some(arrays) = self.physical.get(py) else { return Ok(()) };
        let n = copies.len();
        which.iter().try_for_each(|&i| arrays.write(py, copies[i].core.physical(), i, n))
    }
}

/// Getters and setters of the parts, for both classes.
macro_rules! physical {
    ({ $($(#[$doc:meta])* $name:ident, $set:ident = $part:ident;)+ }) => {
        physical!(@ Simulation { $($(#[$doc])* $name, $set = $part;)+ });
        physical!(@ BatchSimulation { $($(#[$doc])* $name, $set = $part;)+ });
    };
    (@ $class:ident { $($(#[$doc:meta])* $name:ident, $set:ident = $part:ident;)+ }) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.physical_view(py, PhysicalPart::$part)
                }

                #[setter]
                fn $set(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
                    self.set_physical_view(py, PhysicalPart::$part, x)
                }
            )+
        }
    };
}

physical!({
    /// Gravity (m/s²), (3,); of a batch (n, 3). As all physical parameters it may be written while the simulation runs, is checked when
    /// the next step begins, and is part of saved states.
    gravity, set_gravity = Gravity;
    /// Mass of each body (kg), (bodies,); of a batch (n, bodies). ``inertia`` is a number of its own: scale it too for a body of
    /// another density, or use ``body(name).set_mass(...)``.
    mass, set_mass = Mass;
    /// Centre of mass of each body in its frame (m), (bodies, 3).
    body_center_of_mass, set_body_center_of_mass = CenterOfMass;
    /// Rotational inertia of each body about its centre of mass, along its axes (kg m²), (bodies, 3, 3).
    inertia, set_inertia = Inertia;
    /// Coulomb coefficient of each geom that can touch, (geoms,) in the order of ``scene.geoms``; two geoms combine theirs by the
    /// scene's rule. Pairs with a surface of their own have ``pair_friction``.
    friction, set_friction = Friction;
    /// Torsional coefficient of each geom (m), (geoms,).
    torsional_friction, set_torsional_friction = TorsionalFriction;
    /// Rolling coefficient of each geom (m), (geoms,).
    rolling_friction, set_rolling_friction = RollingFriction;
    /// Viscous coefficient of each geom (N s/m), (geoms,), for models with viscous friction.
    viscous_friction, set_viscous_friction = ViscousFriction;
    /// Restitution of each geom, 0 to 1, (geoms,).
    restitution, set_restitution = Restitution;
    /// Coulomb coefficient of each pair of geoms with a surface of its own, ascending by geoms.
    pair_friction, set_pair_friction = PairFriction;
    /// Viscous damping of the joints, (nv,): N m s/rad or N s/m. All velocities of a joint have the same.
    damping, set_damping = Damping;
    /// Dry friction of the joints, (nv,): N m or N.
    joint_friction, set_joint_friction = JointFriction;
    /// Rotor inertia seen at the joints, (nv,): kg m² or kg.
    armature, set_armature = Armature;
    /// Stiffness of the joints' own springs, (nv,): N m/rad or N/m.
    stiffness, set_stiffness = Stiffness;
    /// Where these springs are at rest, (nv,): rad or m.
    rest, set_rest = Rest;
    /// Least and largest position of the joints, (nv, 2): rad or m; infinite for none.
    joint_limits, set_joint_limits = JointLimits;
    /// Least and largest effort of all motors on each velocity together, (nv, 2): N m or N; infinite for none.
    effort_limits, set_effort_limits = EffortLimits;
    /// Gain of each actuator of the robot files, (actuators, 3): constant, per length, per velocity.
    actuator_gain, set_actuator_gain = ActuatorGain;
    /// Bias of each actuator of the robot files, (actuators, 3): constant, per length, per velocity.
    actuator_bias, set_actuator_bias = ActuatorBias;
    /// Least and largest control of each actuator, (actuators, 2); infinite for none.
    ctrl_limits, set_ctrl_limits = CtrlLimits;
    /// Least and largest force of each actuator, (actuators, 2): N or N m before the gear; infinite for none.
    force_limits, set_force_limits = ForceLimits;
});

#[pymethods]
impl Simulation {
    /// Gives the physical parameters the values of the scene again.
    fn reset_physical(&self, py: Python<'_>) -> PyResult<()> {
        let mut core = self.lock(py)?;
        core.sim.set_physical_changes(&[]).map_err(|e| errors::from_input(&e))?;
        self.write_physical(py, &mut core)
    }

    /// A force and a moment about its origin on each body, along world axes, (bodies, 6): N and N m. They hold until written again, and
    /// move with the body.
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.arrays.wrench.bind(py).clone()
    }

    #[setter]
    fn set_wrench(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        drop(self.lock(py)?);
        assign("wrench", self.arrays.wrench.bind(py), x)
    }
}

#[pymethods]
impl BatchSimulation {
    /// Gives the physical parameters of copies the values of their scene again.
    ///
    /// Parameters
    /// ----------
    /// which : int, sequence of int, or mask of n bools, optional
    ///     Default: all.
    #[pyo3(signature = (which=None))]
    fn reset_physical(&self, py: Python<'_>, which: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let which = self.indices(py, which)?;
        let mut copies = self.lock(py)?;
        for &i in &which {
            copies[i].core.sim.set_physical_changes(&[]).map_err(|e| errors::from_input(&e))?;
        }
        self.show_physical(py, &mut copies, &which)
    }

    /// Forces and moments on the bodies, (n, bodies, 6): see `Simulation.wrench`.
    #[getter]
    fn wrench<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.wrench.bind(py).clone()
    }

    #[setter]
    fn set_wrench(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        drop(self.lock(py)?);
        assign("wrench", self.wrench.bind(py), x)
    }
}
