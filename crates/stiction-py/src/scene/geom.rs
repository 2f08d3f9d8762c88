//! A geom of a scene: its shape, place, surface and looks.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stiction_body::math::{Pose, Quat};
use stiction_body::{Shape, ShapeKind, Triangulation};
use stiction_sim::World;
use stiction_sim::looks::default_color;

use super::Scene;
use crate::display::quoted;
use crate::{arrays, errors, pickle};

/// A shape on a body: one that can touch others, or one that is only drawn. Made by `Scene.geoms`.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> from stiction.scene import box
/// >>> scene = stiction.SceneBuilder().ground().body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2)).build()
/// >>> ground, cube = scene.geoms
/// >>> cube.name, cube.shape, cube.size["sides"], cube.friction
/// ('cube', 'box', array([0.2, 0.2, 0.2]), 0.5)
/// >>> vertices, faces = cube.mesh()
/// >>> vertices.shape, faces.shape
/// ((8, 3), (12, 3))
#[pyclass(frozen, module = "stiction")]
pub(crate) struct Geom {
    scene: Py<Scene>,
    /// Its place in the geoms of the world, and after these in its visuals.
    number: usize,
}

/// The number of all geoms, those that are only drawn among them.
pub(crate) fn count(world: &World) -> usize {
    world.geoms.len() + world.visuals.len()
}

/// A geom's body and its pose in that.
pub(crate) fn place(world: &World, number: usize) -> (Option<usize>, Pose) {
    match number.checked_sub(world.geoms.len()) {
        None => (world.geoms[number].link, world.geoms[number].pose),
        Some(i) => (world.visuals[i].link, world.visuals[i].pose),
    }
}

/// Position, then quaternion w, x, y, z.
pub(crate) fn pose_numbers(pose: &Pose) -> [f64; 7] {
    let (p, Quat { x, y, z, w }) = (pose.translation, pose.rotation);
    [p.x, p.y, p.z, w, x, y, z]
}

impl Geom {
    pub(crate) fn new(scene: Py<Scene>, number: usize) -> Self {
        Self { scene, number }
    }

    fn world(&self) -> &World {
        &self.scene.get().inner.world
    }

    /// Its number among what is only drawn.
    fn visual_number(&self) -> Option<usize> {
        self.number.checked_sub(self.world().geoms.len())
    }

    fn form(&self) -> &Shape {
        match self.visual_number() {
            None => &self.world().geoms[self.number].shape,
            Some(i) => &self.world().visuals[i].shape,
        }
    }

    fn place(&self) -> (Option<usize>, Pose) {
        place(self.world(), self.number)
    }
}

getters!(Geom, {
    /// Its place in ``scene.geoms``; of one that collides also the number in ``Simulation.contacts``.
    number: usize = |this| this.number;
    /// The number of its body; -1 is the world.
    body: i64 = |this| this.place().0.map_or(-1, |l| l as i64);
    /// ``"box"``, ``"sphere"``, ``"capsule"``, ``"cylinder"``, ``"ellipsoid"``, ``"hull"``, ``"mesh"``, ``"height-field"`` or ``"half-space"``.
    shape: &'static str = |this| this.form().kind().name();
    /// Coulomb coefficient of its surface; None of what is only drawn. How two combine: ``docs/scenes.md``.
    friction: Option<f64> = |this| this.world().surfaces.of.get(this.number).map(|m| m.mu);
    /// Restitution of its surface, 0 to 1; None of what is only drawn.
    restitution: Option<f64> = |this| this.world().surfaces.of.get(this.number).map(|m| m.restitution);
    /// Whether it is only drawn: it has no part in the simulation.
    visual: bool = |this| this.visual_number().is_some();
    /// Whether it can touch others.
    collides: bool = |this| this.visual_number().is_none() && this.world().can_touch(this.number);
});

#[pymethods]
impl Geom {
    /// Its name; that of its body where it has none of its own. Several may have the same.
    #[getter]
    fn name(&self) -> String {
        let world = self.world();
        match self.visual_number() {
            None => world.geom_name(self.number),
            Some(i) => world.name_or_link(&world.visuals[i].name, world.visuals[i].link),
        }
    }

    /// Its lengths (m) by name, as `stiction.scene.box` and its like take them.
    ///
    /// Of a box ``sides`` (3,), full; of a sphere ``radius``; of a capsule ``radius`` and ``length``, without its ends; of a cylinder ``radius``
    /// and ``length``; of an ellipsoid ``radii`` (3,); of a hull ``points`` (k, 3); of a height field ``sides`` (2,) along x and y and
    /// ``heights`` (rows along x, columns along y). Of a mesh and a half-space nothing.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        let three = |v: stiction_body::math::Vec3| PyArray1::from_slice(py, &v.to_array());
        match self.form().kind() {
            ShapeKind::Ellipsoid { radii } => out.set_item("radii", three(*radii))?,
            ShapeKind::Sphere { radius } => out.set_item("radius", radius)?,
            ShapeKind::Cuboid { half } => out.set_item("sides", three(*half * 2.0))?,
            ShapeKind::Capsule { half_length, radius } | ShapeKind::Cylinder { half_length, radius } => {
                out.set_item("radius", radius)?;
                out.set_item("length", 2.0 * half_length)?;
            }
            ShapeKind::Hull { points } => {
                let all: Vec<f64> = points.iter().flat_map(|p| p.to_array()).collect();
                out.set_item("points", arrays::from_rows(py, points.len(), 3, all)?)?;
            }
            ShapeKind::HeightField { heights, rows, columns, length_x, length_y } => {
                out.set_item("sides", PyArray1::from_slice(py, &[*length_x, *length_y]))?;
                out.set_item("heights", arrays::from_rows(py, *rows, *columns, heights.clone())?)?;
            }
            ShapeKind::Mesh { .. } | ShapeKind::HalfSpace => {}
        }
        Ok(out)
    }

    /// Origin of its frame in its body's (m), (3,); of the world's geoms in the world.
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &pose_numbers(&self.place().1)[..3])
    }

    /// Turn of its frame in its body's: quaternion w, x, y, z, (4,).
    #[getter]
    fn quaternion<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &pose_numbers(&self.place().1)[3..])
    }

    /// Red, green, blue and opacity, each 0 to 1: the file's, or one by its body.
    #[getter]
    fn color(&self) -> (f64, f64, f64, f64) {
        let world = self.world();
        let rgba = match self.visual_number() {
            None => world.geom_color(self.number),
            Some(i) => {
                let visual = &world.visuals[i];
                visual.look.rgba.unwrap_or_else(|| default_color(visual.link))
            }
        };
        rgba.into()
    }

    /// Whether pictures show it. A collision shape is not shown where its body has others to look at, nor what its file hides.
    #[getter]
    fn drawn(&self) -> bool {
        match self.visual_number() {
            None => self.world().looks[self.number].drawn,
            Some(i) => self.world().visuals[i].look.drawn,
        }
    }

    /// Its surface as triangles, in its own frame; closed, but for height fields, open meshes and half-spaces.
    ///
    /// Parameters
    /// ----------
    /// resolution : int
    ///     Chords of a full circle, for round shapes; 32 unless given.
    /// extent : float
    ///     A half-space is a square of its plane with sides of twice this (m).
    ///
    /// Returns
    /// -------
    /// vertices : ndarray, (n, 3)
    ///     In metres.
    /// faces : ndarray of int64, (m, 3)
    ///     Numbers of vertices, counterclockwise seen from outside.
    #[pyo3(signature = (resolution=None, *, extent=10.0))]
    #[allow(clippy::type_complexity)]
    fn mesh<'py>(
        &self,
        py: Python<'py>,
        resolution: Option<&Bound<'py, PyAny>>,
        extent: f64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>)> {
        /// Chords of a circle that look round at the size of a picture.
        const DEFAULT_RESOLUTION: usize = 32;
        /// More would only fill the memory.
        const MOST_RESOLUTION: usize = 4096;
        let segments = resolution.map_or(Ok(DEFAULT_RESOLUTION), |n| arrays::count("resolution", 3, n))?;
        if segments > MOST_RESOLUTION {
            return Err(errors::input(py, format!("resolution must be at most {MOST_RESOLUTION}, found {segments}")));
        }
        if !(extent > 0.0 && extent.is_finite()) {
            return Err(errors::input(py, format!("extent must be above 0 and finite, found {extent}")));
        }
        let Triangulation { vertices, triangles } = self.form().triangulated(segments, extent);
        let numbers: Vec<f64> = vertices.iter().flat_map(|v| v.to_array()).collect();
        let corners: Vec<i64> = triangles.iter().flatten().map(|&v| i64::from(v)).collect();
        let faces = corners.into_pyarray(py).reshape([triangles.len(), 3])?;
        Ok((arrays::from_rows(py, vertices.len(), 3, numbers)?, faces))
    }

    fn __repr__(&self) -> String {
        let only_drawn = if self.visual_number().is_some() { ", visual" } else { "" };
        format!("Geom({}, {}, body={}{only_drawn})", quoted(&self.name()), self.shape(), self.body())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "geom", (self.scene.bind(py).clone(), self.number).into_pyobject(py)?)
    }
}

/// A geom from its pickle.
pub(crate) fn restore(py: Python<'_>, (scene, number): (Py<Scene>, usize)) -> PyResult<Geom> {
    if number >= count(&scene.get().inner.world) {
        return Err(errors::input(py, format!("the scene has no geom {number} to unpickle")));
    }
    Ok(Geom::new(scene, number))
}
