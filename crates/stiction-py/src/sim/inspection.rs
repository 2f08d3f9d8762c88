//! What one can ask of a simulation: contacts, dynamics, places.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_body::math::Vec3;

use super::simulation::Simulation;
use super::{contacts, dynamics};
use crate::contact::{ContactProblem, PhysicalCertificate};
use crate::scene::geom;
use crate::{arrays, errors, interrupt, prescribe};

#[pymethods]
impl Simulation {
    /// The contacts of the last step as a structured array.
    ///
    /// Fields: ``body_a``, ``body_b`` (numbers in ``scene.bodies``, -1 is the world), ``geom_a``, ``geom_b``, ``feature``, ``point`` (m), ``frame``
    /// (rows: the normal from a to b, two tangents), ``gap`` (m, positive apart), ``normal_force`` (N, at least 0), ``friction_force`` (N, along
    /// the two tangents), ``spin_moment`` (N m, about the normal), ``force`` (N, world axes, on body b; body a has the opposite), ``mode`` (`Mode`:
    /// 0 open, 1 stick, 2 slide), ``mu`` (Coulomb coefficient between the surfaces), ``rolling_moment`` (N m, about the two tangents), ``mu_across`` (Coulomb coefficient along the second
    /// tangent: less than ``mu`` where friction depends on the direction). Forces are the step's impulses over its length; of an event-driven step those of its last stage.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        contacts::contacts(py, &*self.lock(py)?)
    }

    /// `contact_wrenches` per pair of bodies, as a structured array: ``body_a`` < ``body_b`` (-1 is the world), ``contacts`` (how many), ``force`` and
    /// ``moment`` about body b's origin, on body b, along world axes.
    #[getter]
    fn contact_pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        contacts::pairs(py, &mut *self.lock(py)?)
    }

    /// What the scene's controllers and the inputs ask of a step from the state it is in, as if it were time t (s): to drive another
    /// engine with them. Arrays of (nv,): ``force``, ``effort``, ``kp``, ``kd``, ``pull`` (kp times the target, plus kd times the target
    /// velocity), ``least`` and ``most`` effort, and ``prescribed`` velocities, NaN for none.
    fn _commands<'py>(&self, py: Python<'py>, t: f64) -> PyResult<Bound<'py, PyDict>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let asked = core.sim.commands_at(t);
        let out = PyDict::new(py);
        for (name, x) in [
            ("force", &asked.force),
            ("effort", &asked.effort),
            ("kp", &asked.kp),
            ("kd", &asked.kd),
            ("pull", &asked.pull),
        ] {
            out.set_item(name, PyArray1::from_slice(py, x))?;
        }
        let [least, most] = [0, 1].map(|k| asked.limit.iter().map(|limit| limit[k]).collect());
        out.set_item("least", PyArray1::from_vec(py, least))?;
        out.set_item("most", PyArray1::from_vec(py, most))?;
        let prescribed = asked.prescribed.iter().map(|x| x.unwrap_or(f64::NAN)).collect();
        out.set_item("prescribed", PyArray1::from_vec(py, prescribed))?;
        Ok(out)
    }

    /// The certificate of the last step's contact problem, if there was one.
    #[getter]
    fn certificate(&self, py: Python<'_>) -> PyResult<Option<PhysicalCertificate>> {
        let core = self.lock(py)?;
        let solution = core.sim.outcome().and_then(|o| o.answer());
        Ok(solution.map(|s| PhysicalCertificate::new(&s.certificate)))
    }

    /// The contact problem of the last step, for `stiction.contact.solve`.
    ///
    /// Returns
    /// -------
    /// ContactProblem
    ///
    /// Raises
    /// ------
    /// InputError
    ///     There was no step since the start, or since a state was loaded.
    fn problem(&self, py: Python<'_>) -> PyResult<ContactProblem> {
        let core = self.lock(py)?;
        if core.sim.outcome().is_none() {
            return Err(errors::input(py, "there is no contact problem yet: make a step first"));
        }
        Ok(ContactProblem::new_from(Arc::new(core.sim.problem().clone())))
    }

    /// The contact problem of the accelerations at the present state, with the inputs and controllers of now, for
    /// models of accelerations: ``stiction.contact.solve(problem, stiction.contact.CoulombPyramid())``. Its
    /// velocities are those of the simulation, so a row of ``problem.add_bilateral`` along a joint prescribes that
    /// joint's acceleration, and the force of the row is the effort it takes.
    ///
    /// Returns
    /// -------
    /// ContactProblem
    ///
    /// Raises
    /// ------
    /// InputError
    ///     Something that touches approaches, so that there is an impact first.
    /// SceneError
    ///     The scene has something that event-driven simulation does not, such as friction that depends on the direction.
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> scene = stiction.SceneBuilder().ground().body("ball", mass=2.0, position=[0, 0, 0.1], shape=stiction.scene.sphere(0.1)).build()
    /// >>> problem = stiction.Simulation(scene).acceleration_problem()
    /// >>> stiction.contact.solve(problem, "coulomb-pyramid").require().normal.round(9).tolist()
    /// [19.62]
    fn acceleration_problem(&self, py: Python<'_>) -> PyResult<ContactProblem> {
        let scene = self.scene.get().event_driven()?;
        let other = self.with_scene(py, Bound::new(py, scene)?)?;
        let mut core = other.get().fresh(py)?;
        let sim = &mut core.sim;
        let problem = interrupt::detached(py, || sim.acceleration_problem())?;
        Ok(ContactProblem::new_from(Arc::new(problem.map_err(|e| errors::from_input(&e))?)))
    }

    /// Kinetic and potential energy (J).
    ///
    /// Returns
    /// -------
    /// kinetic, potential : float
    fn energy(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let core = self.fresh(py)?;
        Ok(core.work.energy(&core.sim.world().model, &core.sim.state().v))
    }

    /// The inertia matrix, (nv, nv), armature included.
    ///
    /// Parameters
    /// ----------
    /// out : ndarray, (nv, nv), optional
    ///     Where to write it, without a new array: C-contiguous float64.
    ///
    /// Returns
    /// -------
    /// ndarray, (nv, nv)
    #[pyo3(signature = (*, out=None))]
    fn mass_matrix<'py>(&self, py: Python<'py>, out: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let mut core = self.fresh(py)?;
        let nv = core.sim.state().v.len();
        let whole = dynamics::mass_matrix(&mut core);
        dynamics::filled(py, nv, nv, whole, out)
    }

    /// The Jacobian of a point of a body, (6, nv): rows of the point's velocity (m/s) and of the body's angular velocity (rad/s), world axes.
    ///
    /// Parameters
    /// ----------
    /// body : str or int
    /// point : array_like, (3,), optional
    ///     In the body's frame; default its origin.
    /// out : ndarray, (6, nv), optional
    ///     Where to write it: C-contiguous float64.
    ///
    /// Returns
    /// -------
    /// ndarray, (6, nv)
    #[pyo3(signature = (body, point=None, *, out=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
        point: Option<&Bound<'py, PyAny>>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let link = self.scene.get().body_number(body)?;
        let point = point.map_or_else(|| Ok(Vec3::ZERO), |x| dynamics::three("point", x))?;
        let core = self.fresh(py)?;
        let nv = core.sim.state().v.len();
        let rows = dynamics::jacobian(&core, link, point);
        dynamics::filled(py, 6, nv, rows, out)
    }

    /// How a point of a body gives way to a force: ``J M^-1 J^T`` (1/kg), (3, 3), with J the rows of the point's velocity. Contacts and closed
    /// loops are not part of it. Its inverse is the inertia that the force feels.
    ///
    /// Parameters
    /// ----------
    /// body : str or int
    /// point : array_like, (3,), optional
    ///     In the body's frame; default its origin.
    ///
    /// Returns
    /// -------
    /// ndarray, (3, 3)
    #[pyo3(signature = (body, point=None))]
    fn mobility<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
        point: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let link = self.scene.get().body_number(body)?;
        let point = point.map_or_else(|| Ok(Vec3::ZERO), |x| dynamics::three("point", x))?;
        let mut core = self.fresh(py)?;
        arrays::from_rows(py, 3, 3, dynamics::mobility(&mut core, link, point))
    }

    /// The rows of the last step's contacts, (3 n, nv): normal and two tangents of each, one contact after the other. Times v they are the
    /// velocity of body b against body a in the contact's frame. Along a tangent without any friction the row is zero.
    ///
    /// Returns
    /// -------
    /// ndarray, (3 n, nv)
    fn contact_jacobian<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let core = self.lock(py)?;
        let (contacts, nv) = (core.sim.problem().contacts(), core.sim.world().model.nv());
        let n = if core.sim.contacts().len() == contacts.len() { contacts.len() } else { 0 };
        let mut rows = vec![0.0; 3 * n * nv];
        for i in 0..n {
            // The problem's second tangent is scaled where friction depends on the direction.
            let ratio = core.sim.contacts()[i].friction_ratio;
            let kinds = [(&contacts.normal, 1.0), (&contacts.tangent_s, 1.0), (&contacts.tangent_t, ratio)];
            for (k, (kind, scale)) in kinds.into_iter().enumerate().filter(|(_, (_, scale))| *scale > 0.0) {
                kind.add_transposed(i, 1.0 / scale, &mut rows[(3 * i + k) * nv..(3 * i + k + 1) * nv]);
            }
        }
        arrays::from_rows(py, 3 * n, nv, rows)
    }

    /// Inverse dynamics without contact: the generalized forces, (nv,), that the accelerations `a` need against gravity and velocity products,
    /// ``M a + c - g``. Springs, damping and dry friction of joints are not part of it.
    ///
    /// Parameters
    /// ----------
    /// a : array_like, (nv,), or float
    ///
    /// Returns
    /// -------
    /// ndarray, (nv,)
    ///
    /// See Also
    /// --------
    /// stiction.inverse_dynamics : with contact.
    fn inverse_dynamics<'py>(&self, py: Python<'py>, a: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut core = self.fresh(py)?;
        let world = core.sim.world().clone();
        let a = arrays::finite("a", arrays::vector_of("a", world.model.nv(), a)?, py)?;
        let mut tau = vec![0.0; world.model.nv()];
        core.work.inverse_dynamics(&world.model, &a, &mut tau);
        Ok(PyArray1::from_vec(py, tau))
    }

    /// Inverse dynamics with contact; see `stiction.inverse_dynamics`.
    #[pyo3(signature = (a, actuated=None))]
    #[allow(clippy::type_complexity)]
    fn _inverse_contact<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        actuated: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyAny>, PhysicalCertificate)> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let state = core.sim.state().clone();
        drop(core);
        let scene = &self.scene.get().inner;
        let a = arrays::finite("a", arrays::vector_of("a", state.v.len(), a)?, py)?;
        let moved = match actuated {
            Some(mask) => arrays::booleans("actuated", mask)?,
            None => prescribe::actuated(&scene.world.model),
        };
        arrays::check_len(py, "actuated", state.v.len(), moved.len())?;
        let found = dynamics::with_contact(py, scene, &state, &a, &moved)?;
        let contacts = contacts::contacts(py, &found.core)?;
        let (effort, acceleration) = (PyArray1::from_vec(py, found.effort), PyArray1::from_vec(py, found.acceleration));
        Ok((effort, acceleration, contacts, PhysicalCertificate::new(&found.certificate)))
    }

    /// Poses of the geoms of ``scene.geoms`` in the world.
    ///
    /// Returns
    /// -------
    /// ndarray, (geoms, 7)
    ///     Position (m) and quaternion w, x, y, z.
    fn geom_poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let core = self.fresh(py)?;
        let world = core.sim.world();
        let count = geom::count(world);
        let mut all = Vec::with_capacity(7 * count);
        for number in 0..count {
            let (body, pose) = geom::place(world, number);
            all.extend(geom::pose_numbers(&body.map_or(pose, |b| core.work.pose[b] * pose)));
        }
        arrays::from_rows(py, count, 7, all)
    }

    /// A picture of the present state, by ``stiction.render`` (``pip install 'stiction[render]'``). The simulation is not changed.
    ///
    /// Parameters
    /// ----------
    /// width, height : int
    ///     In pixels.
    /// camera : stiction.render.Camera, optional
    ///     Default: one that sees all that moves.
    /// forces : bool or float
    ///     Whether contact forces are drawn as arrows; a number is the force of the longest one (N).
    ///
    /// Returns
    /// -------
    /// ndarray of uint8, (height, width, 3)
    ///     Red, green and blue.
    #[pyo3(signature = (width=640, height=480, *, camera=None, forces=None), text_signature = "($self, width=640, height=480, *, camera=None, forces=False)")]
    fn render<'py>(
        slf: &Bound<'py, Self>,
        width: i64,
        height: i64,
        camera: Option<Bound<'py, PyAny>>,
        forces: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(slf.py());
        options.set_item("width", width)?;
        options.set_item("height", height)?;
        options.set_item("camera", camera)?;
        if let Some(forces) = forces {
            options.set_item("forces", forces)?;
        }
        slf.py().import("stiction.render")?.call_method("picture", (slf,), Some(&options))
    }

    /// Bodies that overlap now.
    ///
    /// Returns
    /// -------
    /// list of (str, str, float)
    ///     Two names and the depth (m).
    fn overlaps(&self, py: Python<'_>) -> PyResult<Vec<(String, String, f64)>> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let all = core.sim.overlaps();
        Ok(all
            .into_iter()
            .map(|o| {
                let [a, b] = o.names;
                (a, b, o.depth)
            })
            .collect())
    }

    /// Takes bodies that overlap apart by the least motion.
    ///
    /// Returns
    /// -------
    /// float
    ///     The deepest overlap that is left (m).
    fn take_apart(&self, py: Python<'_>) -> PyResult<f64> {
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let left = core.sim.take_apart().map_err(|e| errors::from_input(&e))?;
        self.write(py, &core)?;
        Ok(left)
    }
}
