//! What one can read of simulations and batches: places, velocities, accelerations, forces along joints, momentum.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_body::math::Vec3;

use super::batch::BatchSimulation;
use super::contacts;
use super::core::{AtStart, Core};
use super::simulation::Simulation;
use crate::scene::Scene;
use crate::scene::geom::pose_numbers;
use crate::{arrays, errors};

/// Rows of a force and a moment.
pub(crate) fn six(all: impl IntoIterator<Item = (Vec3, Vec3)>) -> Vec<f64> {
    all.into_iter().flat_map(|(a, b)| a.to_array().into_iter().chain(b.to_array())).collect()
}

/// What a reading has a row for.
#[derive(Clone, Copy)]
pub(crate) enum Per {
    /// A number per velocity.
    Velocity,
    /// So many numbers per body.
    Body(usize),
}

/// What a reading is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// The present state: what Python wrote to it counts.
    Now,
    /// The last step.
    LastStep,
}

impl Simulation {
    fn reading<'py>(
        &self,
        py: Python<'py>,
        (when, per): (When, Per),
        of: impl Fn(&mut Core) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut core = self.lock(py)?;
        if when == When::Now {
            self.read(py, &mut core)?;
        }
        let all = of(&mut core);
        Ok(match per {
            Per::Velocity => arrays::frozen(py, &all).into_any(),
            Per::Body(size) => arrays::frozen_rows(py, all.len() / size, size, all)?.into_any(),
        })
    }
}

/// Getters of what can be read as numbers per velocity or body, for both classes.
macro_rules! readings {
    ({ $($(#[$doc:meta])* $name:ident: $when:ident, $per:expr, $of:expr;)+ }) => {
        readings!(@ Simulation { $($(#[$doc])* $name: $when, $per, $of;)+ });
        readings!(@ BatchSimulation { $($(#[$doc])* $name: $when, $per, $of;)+ });
    };
    (@ $class:ident { $($(#[$doc:meta])* $name:ident: $when:ident, $per:expr, $of:expr;)+ }) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    let of: fn(&mut Core) -> Vec<f64> = $of;
                    self.reading(py, (When::$when, $per), of)
                }
            )+
        }
    };
}

readings!({
    /// Poses of the bodies, (bodies, 7): position (m) and quaternion w, x, y, z; of a batch (n, bodies, 7).
    ///
    /// A body on a joint has its origin on the joint's axis. Of MJCF files that is MuJoCo's ``xpos`` unless the (last) joint of the body has a
    /// ``pos``: then the body's own frame is at minus that from here, along the axes of the body.
    poses: Now, Per::Body(7), |core| {
        core.kinematics();
        core.work.pose.iter().flat_map(pose_numbers).collect()
    };
    /// Velocities of the bodies, (bodies, 6): of the origin (m/s) and angular (rad/s), world axes; of a batch (n, bodies, 6).
    body_velocities: Now, Per::Body(6), |core| {
        core.kinematics();
        six(core.work.velocity.iter().map(|m| (m.linear, m.angular)))
    };
    /// Accelerations of the bodies in the last step, (bodies, 6): of the origin (m/s²) and angular (rad/s²), world axes; of a batch
    /// (n, bodies, 6).
    body_accelerations: LastStep, Per::Body(6), |core| {
        six(core.sim.link_accelerations().iter().map(|a| (a.linear, a.angular)))
    };
    /// What contacts did to each body in the last step, (bodies, 6): force (N) and moment about the body's origin (N m), along world axes, on the
    /// body; of a batch (n, bodies, 6). Unlike the forces of single contacts of a redundant support they are unique.
    contact_wrenches: LastStep, Per::Body(6), |core| contacts::body_wrenches(core).into_iter().flatten().collect();
    /// What the joint of each body carried in the last step, (bodies, 6): force (N) and moment about the body's origin (N m), on the body
    /// from its parent, world axes; of a batch (n, bodies, 6). Contacts, closed loops and wrenches from outside are taken off; efforts along
    /// the joint are in it.
    joint_wrenches: LastStep, Per::Body(6), |core| six(core.sim.joint_wrenches());
    /// Accelerations of the velocities in the last step, (nv,): their change over its length; of a batch (n, nv). Zero before the first step.
    acceleration: LastStep, Per::Velocity, |core| core.sim.acceleration();
    /// Efforts that motors, servos and actuators gave in the last step, within their limits, (nv,): N or N m; of a batch (n, nv). Of an
    /// event-driven step those at its end.
    applied_effort: LastStep, Per::Velocity, |core| core.sim.applied_efforts();
    /// Forces of limits of joints and tendons in the last step, (nv,): N or N m; of a batch (n, nv).
    limit_force: LastStep, Per::Velocity, |core| core.sim.joint_forces().limit;
    /// Forces of closed loops, and of joints that follow others, in the last step, (nv,): N or N m; of a batch (n, nv).
    loop_force: LastStep, Per::Velocity, |core| core.sim.joint_forces().loops;
    /// What prescribed motion took in the last step, (nv,): N or N m; of a batch (n, nv).
    prescribed_effort: LastStep, Per::Velocity, |core| core.sim.joint_forces().prescribed;
    /// Forces of dry friction of joints and tendons in the last step, (nv,): N or N m; of a batch (n, nv).
    friction_force: LastStep, Per::Velocity, |core| core.sim.joint_forces().friction;
});

#[pymethods]
impl Simulation {
    /// Centre of mass (m) of bodies at the present state.
    ///
    /// Parameters
    /// ----------
    /// bodies : str, int, or list of them, optional
    ///     Default: all.
    ///
    /// Returns
    /// -------
    /// ndarray, (3,)
    #[pyo3(signature = (bodies=None))]
    fn center_of_mass<'py>(
        &self,
        py: Python<'py>,
        bodies: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let links = self.links_of(bodies)?;
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let (_, at) = core.sim.center_of_mass(&links).map_err(|e| errors::from_input(&e))?;
        Ok(PyArray1::from_slice(py, &at.to_array()))
    }

    /// Momentum of bodies at the present state.
    ///
    /// Parameters
    /// ----------
    /// bodies : str, int, or list of them, optional
    ///     Default: all.
    ///
    /// Returns
    /// -------
    /// linear : ndarray, (3,)
    ///     In kg m/s.
    /// angular : ndarray, (3,)
    ///     About the common centre of mass (kg m²/s).
    #[pyo3(signature = (bodies=None))]
    #[allow(clippy::type_complexity)]
    fn momentum<'py>(
        &self,
        py: Python<'py>,
        bodies: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let links = self.links_of(bodies)?;
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let found = core.sim.momentum(&links).map_err(|e| errors::from_input(&e))?;
        let array = |x: Vec3| PyArray1::from_slice(py, &x.to_array());
        Ok((array(found.linear), array(found.angular)))
    }

    /// A body by name or number, with its place, motion and parameters; see `stiction.Body`.
    ///
    /// Parameters
    /// ----------
    /// name : str or int
    ///
    /// Returns
    /// -------
    /// stiction.Body
    fn body<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._parts")?.call_method1("Body", (slf, name))
    }

    /// A joint by its name or that of its body; see `stiction.Joint`.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///
    /// Returns
    /// -------
    /// stiction.Joint
    fn joint<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._parts")?.call_method1("Joint", (slf, name))
    }

    /// All bodies by name; see `stiction.Body`.
    #[getter]
    fn bodies<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._parts")?.call_method1("bodies", (slf,))
    }

    /// All joints that can move by name, those of free bodies among them; see `stiction.Joint`.
    #[getter]
    fn joints<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._parts")?.call_method1("joints", (slf,))
    }
}

#[pymethods]
impl Simulation {
    /// A simulation that goes on from here with one more body.
    ///
    /// Parameters
    /// ----------
    /// name : str
    /// **options
    ///     As of `SceneBuilder.body`: ``shape``, ``mass``, ``position``, ``velocity``, ``joint``, ``parent``, ...
    ///
    /// Returns
    /// -------
    /// Simulation
    ///     Of a new scene, with this one's state, time, inputs and parameters for all that both have.
    #[pyo3(signature = (name, **options))]
    fn with_body<'py>(
        slf: &Bound<'py, Self>,
        name: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._edit")?.call_method("with_body", (slf, name), options)
    }

    /// A simulation that goes on from here without a body, and without what only it had: controllers, pairs and loops.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     No other body may hang on it.
    ///
    /// Returns
    /// -------
    /// Simulation
    fn without_body<'py>(slf: &Bound<'py, Self>, name: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._edit")?.call_method1("without_body", (slf, name))
    }

    /// A simulation that goes on from here with one more robot.
    ///
    /// Parameters
    /// ----------
    /// name : str
    /// file : str or path
    ///     URDF or MJCF.
    /// **options
    ///     As of `SceneBuilder.robot`: ``base``, ``position``, ...
    ///
    /// Returns
    /// -------
    /// Simulation
    #[pyo3(signature = (name, file, **options))]
    fn with_robot<'py>(
        slf: &Bound<'py, Self>,
        name: Bound<'py, PyAny>,
        file: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._edit")?.call_method("with_robot", (slf, name, file), options)
    }

    /// A simulation that goes on from here without a robot.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///
    /// Returns
    /// -------
    /// Simulation
    fn without_robot<'py>(slf: &Bound<'py, Self>, name: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._edit")?.call_method1("without_robot", (slf, name))
    }

    /// A simulation that goes on from here with two bodies held together as they are now; they do not touch each other then.
    ///
    /// Parameters
    /// ----------
    /// a : str
    /// b : str, optional
    ///     Default: the world.
    ///
    /// Returns
    /// -------
    /// Simulation
    #[pyo3(signature = (a, b=None))]
    fn welded<'py>(
        slf: &Bound<'py, Self>,
        a: Bound<'py, PyAny>,
        b: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._edit")?.call_method1("welded", (slf, a, b))
    }

    /// A simulation that goes on from here with bodies that `welded` held together let go.
    ///
    /// Parameters
    /// ----------
    /// a : str
    /// b : str, optional
    ///     Default: the world.
    ///
    /// Returns
    /// -------
    /// Simulation
    #[pyo3(signature = (a, b=None))]
    fn released<'py>(
        slf: &Bound<'py, Self>,
        a: Bound<'py, PyAny>,
        b: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._edit")?.call_method1("released", (slf, a, b))
    }

    /// A simulation of another scene that goes on from here with all that both have, by name.
    fn _carried<'py>(&self, py: Python<'py>, scene: Bound<'py, Scene>) -> PyResult<Bound<'py, Self>> {
        let other = Self::start(py, scene, self.raises(), AtStart::Keep)?;
        {
            let mut core = self.lock(py)?;
            self.read(py, &mut core)?;
            let mut new = other.lock(py)?;
            new.sim.carry_from(&core.sim).map_err(|e| errors::from_input(&e))?;
            let inputs = new.layout.carried(new.inputs(), &core.layout, core.inputs());
            new.set_inputs(&inputs).map_err(|message| errors::input(py, message))?;
            other.write_all(py, &mut new)?;
        }
        Bound::new(py, other)
    }
}

impl Simulation {
    /// The numbers of bodies given one by one or as a list; all if none is given.
    fn links_of(&self, bodies: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
        let scene = self.scene.get();
        let Some(bodies) = bodies else { return Ok((0..scene.inner.world.model.links().len()).collect()) };
        if bodies.is_instance_of::<pyo3::types::PyString>()
            || (bodies.hasattr("__index__")? && !bodies.hasattr("__len__")?)
        {
            return Ok(vec![scene.body_number(bodies)?]);
        }
        bodies.try_iter()?.map(|body| scene.body_number(&body?)).collect()
    }
}
