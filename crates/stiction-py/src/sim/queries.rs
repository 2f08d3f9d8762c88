//! Rays, distances and overlap at the present state.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use stiction_body::math::{Pose, Quat, Vec3};
use stiction_sim::World;
use stiction_sim::queries::Nearest;

use super::dynamics::three;
use super::simulation::Simulation;
use crate::scene::Scene;
use crate::{arrays, errors};

/// Distances, bodies, geoms, points and normals of rays.
type Hits<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
);

/// Distance, points, normal, geoms.
type Closest<'py> = (f64, [Bound<'py, PyArray1<f64>>; 3], [i64; 2]);

#[pymethods]
impl Simulation {
    /// Where a ray meets the first body at the present state, or many rays at once.
    ///
    /// A ray meets surfaces from outside only: one that starts within a shape does not meet that shape.
    ///
    /// Parameters
    /// ----------
    /// origin : array_like, (3,) or (k, 3)
    ///     In the world (m).
    /// direction : array_like, (3,) or (k, 3)
    ///     In the world; of any length above 0.
    /// reach : float, optional
    ///     Nothing beyond is met (m).
    /// exclude : str, int, or list of them, optional
    ///     Bodies that are looked through.
    ///
    /// Returns
    /// -------
    /// RayHit or None
    ///     Of one ray.
    /// RayHits
    ///     Of many.
    #[pyo3(signature = (origin, direction, **options), text_signature = "($self, origin, direction, *, reach=inf, exclude=())")]
    fn raycast<'py>(
        slf: &Bound<'py, Self>,
        origin: Bound<'py, PyAny>,
        direction: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._queries")?.call_method("raycast", (slf, origin, direction), options)
    }

    /// Distance and closest points of two bodies, or of a body and a point, at the present state.
    ///
    /// Parameters
    /// ----------
    /// a : str or int
    ///     A body, a fixed body or geom by its name, or ``"world"`` for all that is fixed.
    /// b : str, int, or array_like, (3,)
    ///     The same, or a point of the world (m).
    ///
    /// Returns
    /// -------
    /// Distance
    fn distance<'py>(
        slf: &Bound<'py, Self>,
        a: Bound<'py, PyAny>,
        b: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("stiction._queries")?.call_method1("distance", (slf, a, b))
    }

    /// Names of the bodies that a shape would overlap at a place, at the present state.
    ///
    /// Parameters
    /// ----------
    /// shape : dict
    ///     As `stiction.scene.box` and its like make it.
    /// position : array_like, (3,)
    ///     In the world (m).
    /// orientation : array_like, (4,), optional
    ///     Quaternion w, x, y, z.
    /// margin : float, optional
    ///     Bodies nearer than this count too (m).
    ///
    /// Returns
    /// -------
    /// list of str
    #[pyo3(signature = (shape, position=None, **options), text_signature = "($self, shape, position=(0, 0, 0), *, orientation=(1, 0, 0, 0), margin=0.0)")]
    fn overlapping<'py>(
        slf: &Bound<'py, Self>,
        shape: Bound<'py, PyAny>,
        position: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("stiction._queries")?;
        match position {
            Some(position) => module.call_method("overlapping", (slf, shape, position), options),
            None => module.call_method("overlapping", (slf, shape), options),
        }
    }

    /// Rays by rows of origins and directions, (k, 3) each; bodies that are looked through by their numbers.
    fn _raycast<'py>(
        &self,
        py: Python<'py>,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        reach: f64,
        exclude: Vec<i64>,
    ) -> PyResult<Hits<'py>> {
        let (origins, directions) = (arrays::matrix("origin", origins)?, arrays::matrix("direction", directions)?);
        if origins.cols() != 3 || directions.cols() != 3 || origins.rows() != directions.rows() {
            return Err(errors::input(py, "origin and direction must be (k, 3) each"));
        }
        let row = |m: &stiction_lcp::Matrix, i: usize| Vec3::new(m[(i, 0)], m[(i, 1)], m[(i, 2)]);
        let rays: Vec<_> = (0..origins.rows()).map(|i| (row(&origins, i), row(&directions, i))).collect();
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let world = core.sim.world().clone();
        let body = |g: usize| world.geoms[g].link.map_or(-1, |l| l as i64);
        let sim = &mut core.sim;
        let found = py.detach(|| sim.cast_rays(&rays, reach, |g| exclude.contains(&body(g))));
        let found = found.map_err(|e| errors::from_input(&e))?;
        let numbers = |of: &dyn Fn(&stiction_body::RayHit) -> [f64; 3]| {
            let all = found.iter().flat_map(|hit| hit.as_ref().map_or([f64::NAN; 3], of)).collect();
            arrays::from_rows(py, rays.len(), 3, all)
        };
        Ok((
            PyArray1::from_vec(py, found.iter().map(|h| h.map_or(f64::INFINITY, |h| h.distance)).collect()),
            PyArray1::from_vec(py, found.iter().map(|h| h.map_or(-1, |h| body(h.geom))).collect()),
            PyArray1::from_vec(py, found.iter().map(|h| h.map_or(-1, |h| h.geom as i64)).collect()),
            numbers(&|hit| hit.point.to_array())?,
            numbers(&|hit| hit.normal.to_array())?,
        ))
    }

    /// Closest points of two things, or of a thing and a point.
    fn _distance<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Closest<'py>>> {
        // Arrays have an index too.
        let number = |x: &Bound<'_, PyAny>| Ok::<_, PyErr>(x.hasattr("__index__")? && !x.hasattr("__len__")?);
        let named = |x: &Bound<'_, PyAny>| Ok::<_, PyErr>(x.is_instance_of::<PyString>() || number(x)?);
        let scene = self.scene.get();
        let first = geoms_of(scene, a)?;
        let second = if named(b)? { Ok(geoms_of(scene, b)?) } else { Err(three("b", b)?) };
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let found = match second {
            Ok(second) => core.sim.nearest(&first, &second),
            Err(point) => core.sim.nearest_to_point(&first, point),
        };
        Ok(found.map(|Nearest { geoms, separation: s }| {
            let array = |x: Vec3| PyArray1::from_slice(py, &x.to_array());
            let number = |g: Option<usize>| g.map_or(-1, |g| g as i64);
            (s.distance, [array(s.points[0]), array(s.points[1]), array(s.normal)], geoms.map(number))
        }))
    }

    /// Geoms that are nearer than `margin` to the shapes of a scene of one fixed body, moved to a pose: numbers and distances.
    fn _near_shape(
        &self,
        py: Python<'_>,
        probe: &Bound<'_, Scene>,
        position: [f64; 3],
        orientation: [f64; 4],
        margin: f64,
    ) -> PyResult<Vec<(usize, f64)>> {
        let [w, x, y, z] = orientation;
        let q = Quat::from_xyzw(x, y, z, w);
        if !(q.length().is_finite() && q.length() > 0.0) {
            return Err(errors::input(py, "orientation must be a quaternion w, x, y, z of a length above 0"));
        }
        let pose = Pose::from_parts(Vec3::from_array(position), q.normalize());
        let mut core = self.lock(py)?;
        self.read(py, &mut core)?;
        let mut all: Vec<(usize, f64)> = vec![];
        for geom in &probe.get().inner.world.geoms {
            let found = core.sim.near_shape(&geom.shape, &(pose * geom.pose), margin);
            for (g, s) in found.map_err(|e| errors::from_input(&e))? {
                match all.iter_mut().find(|(other, _)| *other == g) {
                    Some(known) => known.1 = known.1.min(s.distance),
                    None => all.push((g, s.distance)),
                }
            }
        }
        all.sort_unstable_by_key(|(g, _)| *g);
        Ok(all)
    }

    /// What the body of a geom is called: its link, or the name of what is fixed.
    fn _body_of_geom(&self, geom: usize) -> String {
        let world = &self.scene.get().inner.world;
        match world.geoms[geom].link {
            Some(link) => world.model.links()[link].spec.name.clone(),
            None => world.geom_name(geom),
        }
    }
}

/// The geoms of a body by name or number, of a fixed body or geom by name, or of all that is fixed.
pub(crate) fn geoms_of(scene: &Scene, x: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let world: &World = &scene.inner.world;
    let all = |of: &dyn Fn(usize) -> bool| (0..world.geoms.len()).filter(|g| of(*g)).collect::<Vec<_>>();
    if let Ok(name) = x.extract::<String>() {
        let named = |g: usize| {
            let own = world.geoms[g].name.as_str();
            own == name || own.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if world.model.link(&name).is_none() {
            let found = if name == "world" { all(&|g| world.geoms[g].link.is_none()) } else { all(&named) };
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    let link = scene.body_number(x)?;
    let found = all(&|g| world.geoms[g].link == Some(link));
    if found.is_empty() {
        let name = &world.model.links()[link].spec.name;
        return Err(errors::input(x.py(), format!("body \"{name}\" has no shape to measure from")));
    }
    Ok(found)
}
