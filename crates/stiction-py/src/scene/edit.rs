//! Scenes with other bodies: what a scene says as Python values, and another scene from such.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use stiction_sim::Weld;
use stiction_sim::mjcf::Start;
use toml::de::{DeArray, DeTable, DeValue};

use super::Scene;
use super::recipe::{Recipe, Source, StoredWeld};
use crate::errors;

#[pymethods]
impl Scene {
    /// What the scene says, as `Scene.from_dict` takes it; a robot file alone is a robot without a name of its own.
    fn _description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.recipe.source {
            Source::Text { text, .. } => {
                let parsed = DeTable::parse(text).map_err(|e| errors::input(py, e.message().to_string()))?;
                table(py, parsed.get_ref())
            }
            Source::Robot(file, start) => {
                let robot = PyDict::new(py);
                robot.set_item("name", "")?;
                robot.set_item("file", std::path::absolute(file).unwrap_or_else(|_| file.clone()))?;
                match start {
                    Start::Keyframe(name) => robot.set_item("keyframe", name)?,
                    Start::Number(number) => robot.set_item("keyframe", number)?,
                    Start::Reference => robot.set_item("keyframe", -1)?,
                    Start::Home => {}
                }
                let all = PyDict::new(py);
                all.set_item("title", &self.inner.title)?;
                all.set_item("dt", self.inner.settings.dt)?;
                all.set_item("gravity", self.inner.world.model.gravity().to_array())?;
                all.set_item("robots", PyList::new(py, [robot])?)?;
                Ok(all)
            }
        }
    }

    /// A scene of such values, with this one's directory, parameters and settings, and with bodies that hold together.
    fn _described(&self, description: &Bound<'_, PyDict>, welds: Vec<StoredWeld>) -> PyResult<Self> {
        let py = description.py();
        let text: String = py.import("stiction._toml")?.call_method1("dumps", (description,))?.extract()?;
        let directory = match &self.recipe.source {
            Source::Text { directory, .. } => directory.clone(),
            Source::Robot(..) => std::path::PathBuf::from("."),
        };
        let source = Source::Text { text, directory, file: None, described: true };
        let welds = welds.into_iter().map(|(a, b, frame_a, frame_b)| Weld { a, b, frame_a, frame_b }).collect();
        let recipe = Recipe { source, set: self.recipe.set.clone(), overrides: self.recipe.overrides.clone(), welds };
        Self::of(recipe)
    }

    /// The same scene with other bodies that hold together.
    fn _with_welds(&self, welds: Vec<StoredWeld>) -> PyResult<Self> {
        let welds = welds.into_iter().map(|(a, b, frame_a, frame_b)| Weld { a, b, frame_a, frame_b }).collect();
        Self::of(Recipe { welds, ..self.recipe.clone() })
    }

    /// Bodies that hold together: their names, and the frames on them that stay at one place.
    #[getter]
    fn _welds(&self) -> Vec<StoredWeld> {
        self.recipe.stored().4
    }
}

fn table<'py>(py: Python<'py>, table: &DeTable<'_>) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (key, x) in table.iter() {
        out.set_item(key.get_ref().as_ref(), value(py, x.get_ref())?)?;
    }
    Ok(out)
}

fn list<'py>(py: Python<'py>, list: &DeArray<'_>) -> PyResult<Bound<'py, PyAny>> {
    let all = list.iter().map(|x| value(py, x.get_ref())).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, all)?.into_any())
}

fn value<'py>(py: Python<'py>, x: &DeValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    let number = |text: &str| {
        let plain = text.replace('_', "");
        plain.parse::<f64>().map_err(|_| errors::input(py, format!("{text} is no number")))
    };
    Ok(match x {
        DeValue::String(text) => text.as_ref().into_pyobject(py)?.into_any(),
        DeValue::Integer(i) => match i64::from_str_radix(&i.as_str().replace(['_', '+'], ""), i.radix()) {
            Ok(x) => x.into_pyobject(py)?.into_any(),
            Err(_) => number(i.as_str())?.into_pyobject(py)?.into_any(),
        },
        DeValue::Float(f) => number(f.as_str())?.into_pyobject(py)?.into_any(),
        DeValue::Boolean(b) => pyo3::types::PyBool::new(py, *b).to_owned().into_any(),
        DeValue::Datetime(d) => d.to_string().into_pyobject(py)?.into_any(),
        DeValue::Array(items) => list(py, items)?,
        DeValue::Table(inner) => table(py, inner)?.into_any(),
    })
}
