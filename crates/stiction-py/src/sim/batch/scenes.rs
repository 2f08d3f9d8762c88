//! The scenes of a batch: one for all copies, or one for each.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use stiction_sim::World;

use super::super::simulation::scene_of;
use crate::scene::Scene;
use crate::{arrays, errors};
use stiction_sim::inputs::Layout;

/// The scenes that were asked for, and how many copies.
pub(crate) fn scenes_of<'py>(
    scene: &Bound<'py, PyAny>,
    n: Option<usize>,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Vec<Bound<'py, Scene>>, usize)> {
    let py = scene.py();
    if scene.is_instance_of::<PyList>() || scene.is_instance_of::<PyTuple>() {
        let scenes = scene.try_iter()?.map(|scene| scene_of(&scene?)).collect::<PyResult<Vec<_>>>()?;
        if parameters.is_some() {
            return Err(errors::input(py, "parameters are for one scene; several scenes have their own"));
        }
        if scenes.is_empty() || n.is_some_and(|n| n != scenes.len()) {
            let message = format!("a batch of several scenes has one copy of each: there are {} scenes", scenes.len());
            return Err(errors::input(py, message));
        }
        let n = scenes.len();
        return Ok((scenes, n));
    }
    let scene = scene_of(scene)?;
    let Some(parameters) = parameters.filter(|p| !p.is_empty()) else {
        let n = n.ok_or_else(|| errors::input(py, "n, the number of copies, is missing"))?;
        return Ok((vec![scene], n));
    };
    let mut values: Vec<(Bound<'py, PyAny>, Vec<f64>)> = vec![];
    let mut count = n;
    for (name, x) in parameters.iter() {
        let what = format!("parameter {name}");
        let row = match (x.extract::<f64>(), count) {
            (Ok(x), Some(n)) => vec![x; n],
            _ => arrays::vector(&what, &x)?,
        };
        arrays::check_len(py, &what, count.unwrap_or(row.len()), row.len())?;
        count = Some(row.len());
        values.push((name, row));
    }
    let n = count.unwrap_or(0);
    let scenes = (0..n).map(|i| {
        let own = PyDict::new(py);
        values.iter().try_for_each(|(name, row)| own.set_item(name, row[i]))?;
        Ok(scene.call_method("with_parameters", (), Some(&own))?.cast_into::<Scene>()?)
    });
    let scenes = scenes.collect::<PyResult<Vec<_>>>()?;
    if scenes.is_empty() {
        return Err(errors::input(py, "parameters must have a value for each copy"));
    }
    Ok((scenes, n))
}

/// Checks that arrays over all scenes make sense.
pub(crate) fn check_structure(py: Python<'_>, scenes: &[Bound<'_, Scene>]) -> PyResult<()> {
    let first = &scenes[0].get().inner;
    for (i, scene) in scenes.iter().enumerate().skip(1) {
        let other = &scene.get().inner;
        if let Some(what) = difference(&first.world, &other.world) {
            return Err(errors::input(py, format!("scene {i} has another structure than scene 0: {what}")));
        }
        let names = |layout: &Layout| layout.motors.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
        if names(&Layout::new(first)) != names(&Layout::new(other)) {
            return Err(errors::input(py, format!("scene {i} leaves other motors to ctrl than scene 0")));
        }
    }
    Ok(())
}

fn difference(a: &World, b: &World) -> Option<String> {
    let kinds = |w: &World| {
        let links = w.model.links().iter();
        links.map(|l| (l.spec.name.clone(), l.q.clone(), l.v.clone(), l.spec.parent)).collect::<Vec<_>>()
    };
    let geoms = |w: &World| w.geoms.iter().map(|g| (g.name.clone(), g.link)).collect::<Vec<_>>();
    if kinds(a) != kinds(b) {
        return Some("bodies or joints differ".into());
    }
    if geoms(a) != geoms(b) || !a.surfaces.pairs.keys().eq(b.surfaces.pairs.keys()) {
        return Some("shapes or pairs differ".into());
    }
    let names = |w: &World| w.actuators.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
    let sensors = |w: &World| w.sensors.iter().map(|s| (s.name.clone(), s.size())).collect::<Vec<_>>();
    (names(a) != names(b) || sensors(a) != sensors(b)).then(|| "motors or sensors differ".into())
}
