//! What a scene is made of: bodies, joints, geoms, motors, and where they are in its arrays.

use numpy::{PyArray1, PyArray2};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PySlice;
use stiction_body::model::{JointProperties, Link};
use stiction_sim::error::nearest;

use super::{Geom, Scene, geom};
use crate::{arrays, errors};

impl Scene {
    /// The number of a body given by name or number.
    pub(crate) fn body_number(&self, body: &Bound<'_, PyAny>) -> PyResult<usize> {
        let links = self.inner.world.model.links();
        if body.hasattr(intern!(body.py(), "__index__"))? {
            let number = body.extract::<usize>().ok().filter(|number| *number < links.len());
            let none = || errors::input(body.py(), format!("there is no body {body}; there are {}", links.len()));
            return number.ok_or_else(none);
        }
        let Ok(name) = body.extract::<String>() else {
            return Err(arrays::wrong_type("body must be a name or a number", body));
        };
        self.inner
            .world
            .model
            .link(&name)
            .ok_or_else(|| unknown(body.py(), "body", &name, links.iter().map(|l| l.spec.name.as_str())))
    }

    /// The link of a joint given by the name of the joint or of its body.
    fn joint(&self, py: Python<'_>, name: &str) -> PyResult<&Link> {
        let model = &self.inner.world.model;
        let link = model.joint(name).or_else(|| model.link(name));
        let names = || model.links().iter().map(joint_name);
        link.map(|l| &model.links()[l]).ok_or_else(|| unknown(py, "joint", name, names()))
    }

    /// Two numbers per velocity.
    fn per_velocity<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&JointProperties) -> [f64; 2],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let links = self.inner.world.model.links().iter();
        rows(py, links.flat_map(|l| l.v.clone().map(|_| of(&l.spec.properties))))
    }
}

fn joint_name(link: &Link) -> &str {
    if link.spec.joint_name.is_empty() { &link.spec.name } else { &link.spec.joint_name }
}

fn unknown<'a>(py: Python<'_>, what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> PyErr {
    let hint = nearest(name, known).map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
    errors::input(py, format!("there is no {what} called \"{name}\"{hint}"))
}

/// Two numbers a row.
fn rows(py: Python<'_>, all: impl Iterator<Item = [f64; 2]>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let all: Vec<f64> = all.flatten().collect();
    let array = arrays::from_rows(py, all.len() / 2, 2, all)?;
    arrays::set_writable(&array, false);
    Ok(array)
}

getters!(Scene, {
    /// Gravity (m/s²).
    gravity: (f64, f64, f64) = |this| this.inner.world.model.gravity().into();
    /// Names of the bodies that move or hang on joints, by their numbers.
    bodies: Vec<&str> = |this| this.inner.world.model.links().iter().map(|l| l.spec.name.as_str()).collect();
    /// Names of the joints, one per body; a joint without a name of its own has its body's.
    joints: Vec<&str> = |this| this.inner.world.model.links().iter().map(joint_name).collect();
    /// Names of the motors of robot files.
    actuators: Vec<&str> = |this| this.inner.world.actuators.iter().map(|a| a.name.as_str()).collect();
    /// Names of the equality constraints that can be switched on and off (`Simulation.set_equality`): those of robot files, then loops of the
    /// scene that have a name.
    equalities: Vec<&str> = |this| this.inner.world.equalities.iter().map(|e| e.name.as_str()).collect();
    /// Names of the keyframes of robot files, in the order of their numbers; empty for those without.
    keyframes: Vec<&str> = |this| this.inner.world.keyframes.iter().map(|k| k.name.as_str()).collect();
    /// Names of the sensors of robot files.
    sensors: Vec<&str> = |this| this.inner.world.sensors.iter().map(|s| s.name.as_str()).collect();
    /// Names of the tendons of robot files; empty for those without.
    tendons: Vec<&str> = |this| this.inner.world.tendons.iter().map(|t| t.name.as_str()).collect();
    /// Kinds of the joints, one per body: ``"free"``, ``"revolute"``, ``"continuous"``, ``"prismatic"``, ``"planar"``, ``"spherical"`` or
    /// ``"fixed"``.
    joint_types: Vec<&'static str> = |this| this.inner.world.model.links().iter().map(|l| l.spec.kind.name()).collect();
    /// Size of a configuration.
    nq: usize = |this| this.inner.world.model.nq();
    /// Number of velocities.
    nv: usize = |this| this.inner.world.model.nv();
});

#[pymethods]
impl Scene {
    /// The geoms: first those of collision, in the order of the numbers in ``Simulation.contacts``, then what is only drawn.
    #[getter]
    fn geoms(slf: &Bound<'_, Self>) -> Vec<Geom> {
        let count = geom::count(&slf.get().inner.world);
        (0..count).map(|number| Geom::new(slf.clone().unbind(), number)).collect()
    }

    /// Names of the bodies that are moved from outside (`Simulation.set_mocap`), in the order of their poses at the end of q.
    #[getter]
    fn mocap_bodies(&self) -> Vec<&str> {
        let world = &self.inner.world;
        world.mocap_links().map(|l| world.model.links()[l].spec.name.as_str()).collect()
    }

    /// Parents of the bodies, by their numbers, (bodies,); -1 is the world.
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let links = self.inner.world.model.links().iter();
        let all: Vec<i64> = links.map(|l| l.spec.parent.map_or(-1, |p| p as i64)).collect();
        arrays::frozen(py, &all)
    }

    /// The body of each geom, (geoms,); -1 is the world.
    #[getter]
    fn geom_bodies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let world = &self.inner.world;
        let body = |number: usize| geom::place(world, number).0.map_or(-1, |l| l as i64);
        let all: Vec<i64> = (0..geom::count(world)).map(body).collect();
        arrays::frozen(py, &all)
    }

    /// Least and largest value of the joint of each velocity (rad or m), (nv, 2); infinite for none.
    #[getter]
    fn joint_limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.per_velocity(py, |p| p.limits)
    }

    /// Largest effort of a motor on the joint of each velocity (N or N m), (nv,); infinite for none.
    #[getter]
    fn effort_limits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let links = self.inner.world.model.links().iter();
        let all: Vec<f64> = links.flat_map(|l| l.v.clone().map(|_| l.spec.properties.effort)).collect();
        arrays::frozen(py, &all)
    }

    /// Least and largest control of each motor of robot files, (actuators, 2); infinite for none.
    #[getter]
    fn ctrl_limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        rows(py, self.inner.world.actuators.iter().map(|a| a.control))
    }

    /// Mass of each body (kg).
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let all: Vec<f64> = self.inner.world.model.links().iter().map(|l| l.spec.inertia.mass).collect();
        arrays::frozen(py, &all)
    }

    /// What loaders left out or changed, which links of one robot overlap at the start, and what the contact model does not use: tuples of the description, the kind (``"ignored"``, ``"changed"``, ``"not yet"``, ``"warning"``), the
    /// element and what was done.
    #[getter]
    fn notes(&self) -> PyResult<Vec<(&str, &'static str, String, String)>> {
        let overlaps = match self.overlaps.get() {
            Some(overlaps) => overlaps,
            None => {
                let found = self.inner.overlap_notes().map_err(|e| errors::from_scene(&e))?;
                self.overlaps.get_or_init(|| found)
            }
        };
        let all = self.inner.world.notes.iter().flat_map(|(of, notes)| notes.iter().map(move |n| (of.as_str(), n)));
        let all = all.chain(overlaps.iter().map(|n| ("start", n)));
        let all = all.map(|(of, n)| (of, n.kind.name(), n.element.clone(), n.text.clone()));
        Ok(all
            .chain(self.inner.unused_notes().into_iter().map(|n| ("model", n.kind.name(), n.element, n.text)))
            .collect())
    }

    /// The number of a body: its place in ``bodies``, ``Simulation.poses`` and the like.
    ///
    /// Parameters
    /// ----------
    /// name : str or int
    ///
    /// Returns
    /// -------
    /// int
    fn body(&self, name: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.body_number(name)
    }

    /// The place of a joint in q.
    ///
    /// Parameters
    /// ----------
    /// joint : str
    ///     Its name, or that of its body.
    ///
    /// Returns
    /// -------
    /// slice
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> scene = stiction.Scene.from_dict({"bodies": [{"name": "ball", "mass": 1.0, "shape": {"sphere": 0.1}}]})
    /// >>> scene.q_slice("ball"), scene.v_slice("ball")
    /// (slice(0, 7, 1), slice(0, 6, 1))
    fn q_slice<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PySlice>> {
        let q = self.joint(py, joint)?.q.clone();
        Ok(PySlice::new(py, q.start as isize, q.end as isize, 1))
    }

    /// The place of a joint in v.
    ///
    /// Parameters
    /// ----------
    /// joint : str
    ///     Its name, or that of its body.
    ///
    /// Returns
    /// -------
    /// slice
    fn v_slice<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PySlice>> {
        let v = self.joint(py, joint)?.v.clone();
        Ok(PySlice::new(py, v.start as isize, v.end as isize, 1))
    }
}
