//! Scenes: what there is and how it is simulated.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use stiction_sim::{
    NoteKind, OnFailure, Placement, SceneError, Settings, SimulatorKind, WorldBuilder, error::nearest, load_description,
};

use crate::{errors, lcp};

/// Where a scene came from: enough to make it again in another process.
#[derive(Debug, Clone)]
pub enum Source {
    /// TOML.
    Text {
        /// The text.
        text: String,
        /// Where files it names are looked for.
        directory: PathBuf,
        /// The file it was read from.
        file: Option<PathBuf>,
        /// Written by this package from Python values: places in the text mean nothing to a user.
        described: bool,
    },
    /// A robot file, alone.
    Robot(PathBuf),
}

/// Settings put over those of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// The step (s).
    pub dt: Option<f64>,
    /// The contact model.
    pub model: Option<String>,
    /// Tolerance of certificates.
    pub tolerance: Option<f64>,
    /// `stop` or `fallback`.
    pub on_failure: Option<String>,
    /// `time-stepping` or `event-driven`.
    pub simulator: Option<String>,
    /// Slower impacts do not bounce (m/s).
    pub restitution_speed: Option<f64>,
    /// How long (s).
    pub duration: Option<f64>,
}

impl Overrides {
    fn apply(&self, scene: &mut stiction_sim::Scene) -> Result<(), SceneError> {
        let settings: &mut Settings = &mut scene.settings;
        if let Some(dt) = self.dt {
            settings.dt = dt;
        }
        if let Some(model) = &self.model {
            settings.model.clone_from(model);
        }
        if let Some(tolerance) = self.tolerance {
            settings.tolerance = tolerance;
        }
        if let Some(speed) = self.restitution_speed {
            settings.restitution_speed = speed;
        }
        let unknown = |key: &str, a: &str, b: &str, x: &str| {
            Err(SceneError::new(key, format!("expected \"{a}\" or \"{b}\", found \"{x}\"")))
        };
        match self.on_failure.as_deref() {
            None => {}
            Some("stop") => settings.on_failure = OnFailure::Stop,
            Some("fallback") => settings.on_failure = OnFailure::Fallback,
            Some(x) => return unknown("on_failure", "stop", "fallback", x),
        }
        match self.simulator.as_deref() {
            None => {}
            Some("time-stepping") => settings.simulator = SimulatorKind::TimeStepping,
            Some("event-driven") => settings.simulator = SimulatorKind::EventDriven,
            Some(x) => return unknown("simulator", "time-stepping", "event-driven", x),
        }
        match self.duration {
            Some(x) if !(x >= 0.0 && x.is_finite()) => {
                return Err(SceneError::new("duration", format!("must be at least 0 and finite, found {x}")));
            }
            Some(x) => scene.duration = x,
            None => {}
        }
        // All that a simulation refuses, here rather than later.
        stiction_sim::Simulation::new(scene.world.clone(), scene.settings.clone()).map(drop)
    }

    /// These with `newer` over them.
    fn with(&self, newer: Self) -> Self {
        let old = self.clone();
        Self {
            dt: newer.dt.or(old.dt),
            model: newer.model.or(old.model),
            tolerance: newer.tolerance.or(old.tolerance),
            on_failure: newer.on_failure.or(old.on_failure),
            simulator: newer.simulator.or(old.simulator),
            restitution_speed: newer.restitution_speed.or(old.restitution_speed),
            duration: newer.duration.or(old.duration),
        }
    }
}

type Set = Vec<(String, f64)>;

/// A scene, ready to be simulated; it does not change. Made by `Scene.load`, `Scene.parse`, `Scene.from_dict` or a `SceneBuilder`.
///
/// Examples
/// --------
/// >>> import stiction
/// >>> scene = stiction.Scene.parse('''
/// ... [[bodies]]
/// ... name = "ground"
/// ... fixed = true
/// ... shape = { plane = true }
/// ... [[bodies]]
/// ... name = "cube"
/// ... mass = 1.0
/// ... position = [0, 0, 0.1]
/// ... shape = { box = [0.2, 0.2, 0.2] }
/// ... ''')
/// >>> scene.bodies, scene.nq, scene.nv
/// (['cube'], 7, 6)
#[pyclass(frozen, module = "stiction")]
pub struct Scene {
    pub(crate) inner: Arc<stiction_sim::Scene>,
    source: Source,
    set: Set,
    overrides: Overrides,
}

impl Scene {
    fn make(source: Source, set: Set, overrides: Overrides) -> Result<Self, SceneError> {
        let mut scene = match &source {
            Source::Text { text, directory, file, described } => stiction_sim::Scene::parse(text, directory, &set)
                .map_err(|e| match file {
                    Some(file) => e.in_file(file),
                    None if *described => SceneError { at: None, ..e },
                    None => e,
                })?,
            Source::Robot(file) => robot(file, &set).map_err(|e| e.in_file(file))?,
        };
        overrides.apply(&mut scene)?;
        Ok(Self { inner: Arc::new(scene), source, set, overrides })
    }

    /// The number of a body given by name or number.
    pub fn body_number(&self, body: &Bound<'_, PyAny>) -> PyResult<usize> {
        let links = self.inner.world.model.links();
        if let Ok(number) = body.extract::<usize>() {
            return if number < links.len() {
                Ok(number)
            } else {
                Err(errors::input(body.py(), format!("there is no body {number}; there are {}", links.len())))
            };
        }
        let name: String = body.extract()?;
        self.inner
            .world
            .model
            .link(&name)
            .ok_or_else(|| unknown(body.py(), "body", &name, links.iter().map(|l| l.spec.name.as_str())))
    }

    /// The link of a joint given by the name of the joint or of its body.
    fn joint(&self, py: Python<'_>, name: &str) -> PyResult<&stiction_body::model::Link> {
        let model = &self.inner.world.model;
        let link = model.joint(name).or_else(|| model.link(name));
        let names = || model.links().iter().map(joint_name);
        link.map(|l| &model.links()[l]).ok_or_else(|| unknown(py, "joint", name, names()))
    }
}

fn joint_name(link: &stiction_body::model::Link) -> &str {
    if link.spec.joint_name.is_empty() { &link.spec.name } else { &link.spec.joint_name }
}

fn unknown<'a>(py: Python<'_>, what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> PyErr {
    let hint = nearest(name, known).map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
    errors::input(py, format!("there is no {what} called \"{name}\"{hint}"))
}

/// A scene of one robot file, with its own gravity and step.
fn robot(file: &Path, set: &[(String, f64)]) -> Result<stiction_sim::Scene, SceneError> {
    if let Some((name, _)) = set.first() {
        return Err(SceneError::new("parameters", format!("a robot file has none; found \"{name}\"")));
    }
    let description = load_description(file)?;
    let mut builder = WorldBuilder::new();
    if let Some(gravity) = description.gravity {
        builder.gravity(gravity);
    }
    builder.add(&description, &Placement::default())?;
    let mut settings = Settings::default();
    if let Some(dt) = description.dt {
        settings.dt = dt;
    }
    Ok(stiction_sim::Scene {
        title: description.name.clone(),
        parameters: vec![],
        world: Arc::new(builder.build()?.0),
        controllers: vec![],
        settings,
        duration: 1.0,
        files: vec![file.to_path_buf()],
    })
}

fn parameters(set: Option<&Bound<'_, PyDict>>) -> PyResult<Set> {
    let Some(set) = set else { return Ok(vec![]) };
    set.iter().map(|(name, x)| Ok((name.extract()?, x.extract()?))).collect()
}

#[pymethods]
impl Scene {
    /// Reads a scene (``.toml``) or a robot file (URDF or MJCF), which is then a scene of its own with the file's gravity and step.
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    /// **parameters : float
    ///     Other values for numbers of the scene's ``[parameters]``.
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     The first thing that is wrong, with its place: ``file:line:column: element: message``.
    #[staticmethod]
    #[pyo3(signature = (path, **parameters))]
    fn load(path: PathBuf, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let set = self::parameters(parameters)?;
        let toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let source = if toml {
            let bad = |e: std::io::Error| errors::from_scene(&SceneError::new("", e.to_string()).in_file(&path));
            let text = std::fs::read_to_string(&path).map_err(bad)?;
            let directory = std::path::absolute(&path).ok().and_then(|p| p.parent().map(Path::to_path_buf));
            Source::Text { text, directory: directory.unwrap_or_default(), file: Some(path), described: false }
        } else {
            Source::Robot(path)
        };
        Self::make(source, set, Overrides::default()).map_err(|e| errors::from_scene(&e))
    }

    /// Reads a scene from text; files it names are looked for in `directory`.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     TOML; the format is in ``docs/scenes.md``.
    /// directory : str or path
    /// **parameters : float
    ///     Other values for numbers of the scene's ``[parameters]``.
    #[staticmethod]
    #[pyo3(signature = (text, directory=PathBuf::from("."), **parameters), text_signature = "(text, directory='.', **parameters)")]
    fn parse(text: String, directory: PathBuf, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let source = Source::Text { text, directory, file: None, described: false };
        Self::make(source, self::parameters(parameters)?, Overrides::default()).map_err(|e| errors::from_scene(&e))
    }

    /// A scene from Python values: the keys of the TOML format as a dictionary.
    ///
    /// Parameters
    /// ----------
    /// description : dict
    /// directory : str or path
    ///     Where files it names are looked for.
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> scene = stiction.Scene.from_dict({"bodies": [{"name": "ball", "mass": 1.0, "shape": {"sphere": 0.1}}]})
    /// >>> scene.bodies
    /// ['ball']
    #[staticmethod]
    #[pyo3(signature = (description, directory=PathBuf::from(".")), text_signature = "(description, directory='.')")]
    fn from_dict(description: &Bound<'_, PyDict>, directory: PathBuf) -> PyResult<Self> {
        let text: String =
            description.py().import("stiction._toml")?.call_method1("dumps", (description,))?.extract()?;
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let source = Source::Text { text, directory, file: None, described: true };
        Self::make(source, vec![], Overrides::default()).map_err(|e| errors::from_scene(&e))
    }

    /// The same scene with other settings; what is not given stays.
    ///
    /// Parameters
    /// ----------
    /// dt : float, optional
    ///     The step (s).
    /// model : str, optional
    ///     The contact model: ``stiction.contact.catalog()``.
    /// tolerance : float, optional
    ///     A step's certificate must be at most this.
    /// on_failure : {"stop", "fallback"}, optional
    ///     What to do where a step is not certified: stop, or take the polyhedral cone of eight sides.
    /// simulator : {"time-stepping", "event-driven"}, optional
    /// restitution_speed : float, optional
    ///     Slower impacts do not bounce (m/s).
    /// duration : float, optional
    ///     How long a run is (s).
    ///
    /// Returns
    /// -------
    /// Scene
    #[pyo3(signature = (*, dt=None, model=None, tolerance=None, on_failure=None, simulator=None, restitution_speed=None, duration=None))]
    fn with_settings(
        &self,
        dt: Option<f64>,
        model: Option<String>,
        tolerance: Option<f64>,
        on_failure: Option<String>,
        simulator: Option<String>,
        restitution_speed: Option<f64>,
        duration: Option<f64>,
    ) -> PyResult<Self> {
        let newer = Overrides { dt, model, tolerance, on_failure, simulator, restitution_speed, duration };
        let overrides = self.overrides.with(newer);
        let mut inner = (*self.inner).clone();
        overrides.apply(&mut inner).map_err(|e| errors::from_scene(&e))?;
        Ok(Self { inner: Arc::new(inner), source: self.source.clone(), set: self.set.clone(), overrides })
    }

    /// The same scene with other values for numbers of its ``[parameters]``; what is not given stays.
    #[pyo3(signature = (**parameters))]
    fn with_parameters(&self, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut set = self.set.clone();
        set.extend(self::parameters(parameters)?);
        Self::make(self.source.clone(), set, self.overrides.clone()).map_err(|e| errors::from_scene(&e))
    }

    /// What it shows, in a line.
    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    /// Its numbers that can be set from outside.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        self.inner.parameters.iter().try_for_each(|(name, x)| all.set_item(name, x))?;
        Ok(all)
    }

    /// The step (s).
    #[getter]
    fn dt(&self) -> f64 {
        self.inner.settings.dt
    }

    /// How long a run is (s).
    #[getter]
    fn duration(&self) -> f64 {
        self.inner.duration
    }

    /// Steps in its duration.
    #[getter]
    fn steps(&self) -> u64 {
        self.inner.steps()
    }

    /// The contact model.
    #[getter]
    fn model(&self) -> &str {
        &self.inner.settings.model
    }

    /// A step's certificate must be at most this.
    #[getter]
    fn tolerance(&self) -> f64 {
        self.inner.settings.tolerance
    }

    /// ``"time-stepping"`` or ``"event-driven"``.
    #[getter]
    fn simulator(&self) -> &'static str {
        match self.inner.settings.simulator {
            SimulatorKind::TimeStepping => "time-stepping",
            SimulatorKind::EventDriven => "event-driven",
        }
    }

    /// ``"stop"`` or ``"fallback"``.
    #[getter]
    fn on_failure(&self) -> &'static str {
        match self.inner.settings.on_failure {
            OnFailure::Stop => "stop",
            OnFailure::Fallback => "fallback",
        }
    }

    /// Gravity (m/s²).
    #[getter]
    fn gravity(&self) -> (f64, f64, f64) {
        self.inner.world.model.gravity().into()
    }

    /// Names of the bodies that move or hang on joints, by their numbers.
    #[getter]
    fn bodies(&self) -> Vec<&str> {
        self.inner.world.model.links().iter().map(|l| l.spec.name.as_str()).collect()
    }

    /// Names of the joints, one per body; a joint without a name of its own has its body's.
    #[getter]
    fn joints(&self) -> Vec<&str> {
        self.inner.world.model.links().iter().map(joint_name).collect()
    }

    /// Names of the geoms, by their numbers.
    #[getter]
    fn geoms(&self) -> Vec<String> {
        (0..self.inner.world.geoms.len()).map(|g| self.inner.world.geom_name(g)).collect()
    }

    /// Names of the motors of robot files.
    #[getter]
    fn actuators(&self) -> Vec<&str> {
        self.inner.world.actuators.iter().map(|a| a.name.as_str()).collect()
    }

    /// Mass of each body (kg).
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArray1<f64>> {
        let all: Vec<f64> = self.inner.world.model.links().iter().map(|l| l.spec.inertia.mass).collect();
        crate::arrays::frozen(py, &all)
    }

    /// Size of a configuration.
    #[getter]
    fn nq(&self) -> usize {
        self.inner.world.model.nq()
    }

    /// Number of velocities.
    #[getter]
    fn nv(&self) -> usize {
        self.inner.world.model.nv()
    }

    /// What loaders left out or changed: tuples of the description, the kind (``"ignored"``, ``"changed"``, ``"not yet"``, ``"warning"``), the
    /// element and what was done.
    #[getter]
    fn notes(&self) -> Vec<(&str, &'static str, &str, &str)> {
        let kind = |k: NoteKind| match k {
            NoteKind::Ignored => "ignored",
            NoteKind::Changed => "changed",
            NoteKind::NotYet => "not yet",
            NoteKind::Warning => "warning",
        };
        let all = self.inner.world.notes.iter().flat_map(|(of, notes)| notes.iter().map(move |n| (of, n)));
        all.map(|(of, n)| (of.as_str(), kind(n.kind), n.element.as_str(), n.text.as_str())).collect()
    }

    /// The number of a body.
    fn body(&self, name: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.body_number(name)
    }

    /// The place of a joint in q.
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
    fn v_slice<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PySlice>> {
        let v = self.joint(py, joint)?.v.clone();
        Ok(PySlice::new(py, v.start as isize, v.end as isize, 1))
    }

    fn __repr__(&self) -> String {
        let s = &self.inner;
        let (bodies, nv) = (s.world.model.links().len(), s.world.model.nv());
        format!("Scene({:?}, bodies={bodies}, nv={nv}, dt={}, model='{}')", s.title, s.settings.dt, s.settings.model)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        lcp::html(slf.as_any())
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Stored, Set, StoredOverrides))> {
        let stored = match &self.source {
            Source::Text { text, directory, file, described } => {
                (Some(text.clone()), directory.clone(), file.clone(), *described)
            }
            Source::Robot(file) => {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                (None, PathBuf::new(), Some(file), false)
            }
        };
        let o = self.overrides.clone();
        let overrides = (o.dt, o.model, o.tolerance, o.on_failure, o.simulator, o.restitution_speed, o.duration);
        let make = py.import("stiction._stiction")?.getattr("_restore_scene")?;
        Ok((make, (stored, self.set.clone(), overrides)))
    }
}

/// Text, directory, file, whether it was written by this package.
type Stored = (Option<String>, PathBuf, Option<PathBuf>, bool);

/// [`Overrides`] in the order of their fields.
type StoredOverrides =
    (Option<f64>, Option<String>, Option<f64>, Option<String>, Option<String>, Option<f64>, Option<f64>);

/// A scene from its pickle. Files it names must be where they were.
#[pyfunction(name = "_restore_scene")]
pub fn restore_scene(stored: Stored, set: Set, overrides: StoredOverrides) -> PyResult<Scene> {
    let source = match stored {
        (Some(text), directory, file, described) => Source::Text { text, directory, file, described },
        (None, _, file, _) => Source::Robot(file.unwrap_or_default()),
    };
    let (dt, model, tolerance, on_failure, simulator, restitution_speed, duration) = overrides;
    let overrides = Overrides { dt, model, tolerance, on_failure, simulator, restitution_speed, duration };
    Scene::make(source, set, overrides).map_err(|e| errors::from_scene(&e))
}
