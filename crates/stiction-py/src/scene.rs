//! Scenes: what there is and how it is simulated.

mod edit;
pub(crate) mod geom;
mod model;
mod recipe;
pub(crate) mod shipped;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use stiction_contact::ModelKind;
use stiction_contact::SolverKind;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use stiction_contact::Level;
use stiction_sim::description::summary_of_notes;
use stiction_sim::mjcf::Start;
use stiction_sim::{Note, SceneError};

use crate::contact::Model;
use crate::display::{html, quoted};
use crate::{arrays, errors, pickle};
pub(crate) use geom::Geom;
use recipe::{Overrides, Recipe, Set, Source, Stored};

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
pub(crate) struct Scene {
    pub(crate) inner: Arc<stiction_sim::Scene>,
    recipe: Recipe,
    /// What overlaps at the start within robots, once somebody has asked.
    overlaps: OnceLock<Vec<Note>>,
}

impl Scene {
    /// The file it was read from.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.recipe.file()
    }

    /// The scene of a recording, with the settings it was simulated with.
    pub(crate) fn recorded(header: &stiction_sim::recording::Header) -> PyResult<Self> {
        let origin = &header.origin;
        let file = (!origin.file.is_empty()).then(|| PathBuf::from(&origin.file));
        let source = Source::Text {
            text: origin.text.clone(),
            directory: origin.directory.clone().into(),
            file,
            described: false,
        };
        let mut recipe = Recipe::new(source, origin.parameters.clone());
        recipe.welds.clone_from(&origin.overlay.welds);
        recipe.overrides = Overrides::of(&header.settings, &origin.overlay);
        let mut inner = recipe.make().map_err(|e| errors::from_scene(&e))?;
        inner.settings = header.settings.clone();
        Ok(Self { inner: Arc::new(inner), recipe, overlaps: OnceLock::new() })
    }

    /// The same scene, event-driven; with the quadratic cone where its model has no accelerations.
    pub(crate) fn event_driven(&self) -> PyResult<Self> {
        let model =
            (!self.inner.settings.model.has_level(Level::Acceleration)).then(|| ModelKind::default().name().into());
        self.overridden(Overrides { simulator: Some("event-driven".into()), model, ..Overrides::default() })
    }

    /// The same scene with other settings.
    fn overridden(&self, newer: Overrides) -> PyResult<Self> {
        let mut recipe = self.recipe.clone();
        recipe.overrides = recipe.overrides.with(newer);
        let mut inner = (*self.inner).clone();
        recipe.overrides.apply(&mut inner).map_err(|e| errors::from_scene(&e))?;
        Ok(Self { inner: Arc::new(inner), recipe, overlaps: OnceLock::new() })
    }

    /// What a recording says of where it came from.
    pub(crate) fn origin(&self) -> Result<stiction_sim::recording::Origin, SceneError> {
        self.recipe.origin()
    }

    fn of(recipe: Recipe) -> PyResult<Self> {
        let inner = Arc::new(recipe.make().map_err(|e| errors::from_scene(&e))?);
        Ok(Self { inner, recipe, overlaps: OnceLock::new() })
    }

    /// Warns of what is not used as the files of the scene say, once per file.
    fn warned(self, py: Python<'_>) -> PyResult<Self> {
        static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let of_model = ("model".to_string(), self.inner.unused_notes());
        for (of, notes) in self.inner.world.notes.iter().chain([&of_model]) {
            let Some(summary) = summary_of_notes(notes) else { continue };
            let place = match &self.recipe.source {
                Source::Robot(file, _) => file.display().to_string(),
                Source::Text { .. } => of.clone(),
            };
            let message = format!("{place}: {summary}; scene.notes has all");
            if WARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(message.clone()) {
                let message = CString::new(message.replace('\0', " "))?;
                PyErr::warn(py, errors::WARNING.class(py)?, &message, 1)?;
            }
        }
        Ok(self)
    }
}

/// Values for parameters, as keyword arguments.
fn parameters(set: Option<&Bound<'_, PyDict>>) -> PyResult<Set> {
    let Some(set) = set else { return Ok(vec![]) };
    let one = |(name, x): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let Ok(value) = x.extract::<f64>() else {
            return Err(arrays::wrong_type(&format!("parameter {name} must be a number"), &x));
        };
        Ok((name.extract()?, value))
    };
    set.iter().map(one).collect()
}

/// The start that a keyframe's name or number stands for.
fn start_of(keyframe: &Bound<'_, PyAny>) -> PyResult<Start> {
    if let Ok(name) = keyframe.extract::<String>() {
        return Ok(Start::Keyframe(name));
    }
    let number = keyframe.extract::<i64>();
    let number = number.map_err(|_| arrays::wrong_type("keyframe must be a name or a whole number", keyframe))?;
    match usize::try_from(number) {
        Ok(number) => Ok(Start::Number(number)),
        Err(_) if number == -1 => Ok(Start::Reference),
        Err(_) => Err(errors::input(keyframe.py(), format!("keyframe must be at least -1, found {number}"))),
    }
}

/// The name of a contact model given by name or as an object.
fn model_name(model: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(model) = model.cast::<Model>() {
        return Ok(model.get().choice().kind.name().into());
    }
    model.extract().map_err(|_| arrays::wrong_type("model must be a name or a stiction.contact.Model", model))
}

getters!(Scene, {
    /// ``"time-stepping"`` or ``"event-driven"``.
    simulator: &'static str = |this| this.inner.settings.simulator.name();
    /// What it shows, in a line.
    title: &str = |this| &this.inner.title;
    /// Names of the numbers of ``q``: ``body.x``, ..., or the body's alone where its joint has one.
    q_names: Vec<String> = |this| stiction_sim::recording::q_names(&this.inner.world);
    /// Names of the numbers of ``v``.
    v_names: Vec<String> = |this| stiction_sim::recording::v_names(&this.inner.world);
    /// The step (s).
    dt: f64 = |this| this.inner.settings.dt;
    /// How long a run is (s).
    duration: f64 = |this| this.inner.duration;
    /// Steps in its duration.
    steps: u64 = |this| this.inner.steps();
    /// The contact model.
    model: &'static str = |this| this.inner.settings.model.name();
    /// The model's solver; None is its usual one.
    solver: Option<&'static str> = |this| this.inner.settings.solver.map(SolverKind::name);
    /// A step's certificate must be at most this.
    tolerance: f64 = |this| this.inner.settings.tolerance;
    /// ``"simultaneous"`` or ``"sequential"``.
    impacts: &'static str = |this| this.inner.settings.impacts.name();
    /// ``"stop"``, ``"accept"`` or ``"fallback"``.
    on_failure: &'static str = |this| this.inner.settings.on_failure.name();
    /// With ``on_failure="accept"``: the largest certificate that is accepted.
    accept_bound: f64 = |this| this.inner.settings.accept_bound;
});

#[pymethods]
impl Scene {
    /// Reads a scene (``.toml``) or a robot file (URDF, MJCF, SDF), which is then a scene of its own with the file's gravity and step.
    ///
    /// Parameters
    /// ----------
    /// path : str or path
    ///     A ``.xacro`` file is expanded to URDF by the package ``xacro`` (``pip install xacro``).
    /// keyframe : str or int, optional
    ///     The keyframe of an MJCF file that is the start, by name or number; -1 for none, which is the configuration that the
    ///     file writes the bodies down in. By default the one named ``home``, else the first, if there is one. In a scene
    ///     file robots have a ``keyframe`` of their own.
    /// **parameters : float
    ///     Other values for numbers of the scene's ``[parameters]``; of a xacro file, its arguments.
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     The first thing that is wrong, with its place: ``file:line:column: element: message``.
    ///
    /// Warns
    /// -----
    /// StictionWarning
    ///     Once per file, if something of it is not used as it stands there: ``notes`` has all.
    #[staticmethod]
    #[pyo3(signature = (path, *, keyframe=None, **parameters))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        keyframe: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xacro")) {
            let made = py.import("stiction._xacro")?.call_method1("expanded", (path, parameters))?.extract()?;
            return Self::load(py, made, keyframe, None);
        }
        let set = self::parameters(parameters)?;
        let start = keyframe.map(start_of).transpose()?;
        let toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        if let (true, Some(keyframe)) = (toml, keyframe) {
            let message = "a robot of a scene file has its keyframe there: [[robots]] keyframe = ...";
            return Err(errors::input(keyframe.py(), message));
        }
        let source = if toml {
            let bad = |e: std::io::Error| errors::from_scene(&SceneError::new("", e.to_string()).in_file(&path));
            let text = std::fs::read_to_string(&path).map_err(bad)?;
            let directory = std::path::absolute(&path).ok().and_then(|p| p.parent().map(Path::to_path_buf));
            Source::Text { text, directory: directory.unwrap_or_default(), file: Some(path), described: false }
        } else {
            Source::Robot(path, start.unwrap_or_default())
        };
        Self::of(Recipe::new(source, set))?.warned(py)
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
    fn parse(
        py: Python<'_>,
        text: String,
        directory: PathBuf,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let source = Source::Text { text, directory, file: None, described: false };
        Self::of(Recipe::new(source, self::parameters(parameters)?))?.warned(py)
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
        Self::of(Recipe::new(source, vec![]))?.warned(description.py())
    }

    /// The same scene with other settings; what is not given stays.
    ///
    /// Parameters
    /// ----------
    /// dt : float, optional
    ///     The step (s).
    /// model : str or stiction.contact.Model, optional
    ///     The contact model: ``stiction.contact.catalog()``. Of a `Model` the name counts, not its options.
    /// solver : str, optional
    ///     The model's solver, if not its usual one; with another ``model`` the usual one is back.
    /// gravity : sequence of 3 float, optional
    ///     In m/s².
    /// friction : float, optional
    ///     Coulomb coefficient of every surface, also of single pairs.
    /// tolerance : float, optional
    ///     A step's certificate must be at most this.
    /// on_failure : {"stop", "accept", "fallback"}, optional
    ///     What to do where a step is not certified: stop, go on with the best answer (the step is accepted, not ok),
    ///     or take the polyhedral cone of eight sides.
    /// accept_bound : float, optional
    ///     With "accept": the largest certificate that is accepted.
    /// simulator : {"time-stepping", "event-driven"}, optional
    /// restitution_speed : float, optional
    ///     Slower impacts do not bounce (m/s).
    /// impacts : {"simultaneous", "sequential"}, optional
    ///     How impacts at the same time are resolved.
    /// duration : float, optional
    ///     How long a run is (s).
    /// threads : int, optional
    ///     Threads that share the work of a step; one per core unless the scene says otherwise. Results do not depend on it. The
    ///     simulations of a `BatchSimulation` have one each.
    /// allow_start_overlap : bool, optional
    ///     Whether links of one robot that overlap at the start touch where they overlap by more than there; by default they never touch.
    /// sleeping : bool, optional
    ///     Whether steps that would only repeat the last one, because nothing changes, are left out: by default they are. Results do not
    ///     depend on it.
    ///
    /// Returns
    /// -------
    /// Scene
    #[pyo3(signature = (*, dt=None, model=None, solver=None, gravity=None, friction=None, tolerance=None, on_failure=None, accept_bound=None, simulator=None, restitution_speed=None, impacts=None, duration=None, threads=None, sleeping=None, allow_start_overlap=None))]
    fn with_settings(
        &self,
        dt: Option<f64>,
        model: Option<&Bound<'_, PyAny>>,
        solver: Option<String>,
        gravity: Option<[f64; 3]>,
        friction: Option<f64>,
        tolerance: Option<f64>,
        on_failure: Option<String>,
        accept_bound: Option<f64>,
        simulator: Option<String>,
        restitution_speed: Option<f64>,
        impacts: Option<String>,
        duration: Option<f64>,
        threads: Option<&Bound<'_, PyAny>>,
        sleeping: Option<bool>,
        allow_start_overlap: Option<bool>,
    ) -> PyResult<Self> {
        let model = model.map(model_name).transpose()?;
        let threads = crate::threads::asked(threads)?;
        let newer = Overrides {
            dt,
            model,
            solver,
            gravity,
            friction,
            tolerance,
            on_failure,
            accept_bound,
            simulator,
            restitution_speed,
            impacts,
            duration,
            threads,
            sleeping,
            allow_start_overlap,
        };
        self.overridden(newer)
    }

    /// The scene as MJCF, the format of MuJoCo: bodies, joints, shapes, friction, gravity, step,
    /// and the start as its first key frame.
    ///
    /// Parameters
    /// ----------
    /// controllers : bool
    ///     Controllers are not written. They are refused, unless this is false: then they are left out.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     MuJoCo has no equal of something in it, such as restitution, or it is not written, such as controllers.
    #[pyo3(signature = (*, controllers=true))]
    fn to_mjcf(&self, controllers: bool) -> PyResult<String> {
        let written = if controllers {
            stiction_sim::mjcf::write(&self.inner)
        } else {
            stiction_sim::mjcf::write(&stiction_sim::Scene { controllers: vec![], ..(*self.inner).clone() })
        };
        written.map_err(|e| errors::from_scene(&e))
    }

    /// The same scene with other values for numbers of its ``[parameters]``; what is not given stays.
    ///
    /// Parameters
    /// ----------
    /// **parameters : float
    ///
    /// Returns
    /// -------
    /// Scene
    #[pyo3(signature = (**parameters))]
    fn with_parameters(&self, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut recipe = self.recipe.clone();
        recipe.set.extend(self::parameters(parameters)?);
        Self::of(recipe)
    }

    /// Its numbers that can be set from outside.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        self.inner.parameters.iter().try_for_each(|(name, x)| all.set_item(name, x))?;
        Ok(all)
    }

    fn __repr__(&self) -> String {
        let s = &self.inner;
        let (bodies, nv) = (s.world.model.links().len(), s.world.model.nv());
        format!(
            "Scene({}, bodies={bodies}, nv={nv}, dt={}, model='{}')",
            quoted(&s.title),
            s.settings.dt,
            s.settings.model
        )
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "scene", self.recipe.stored().into_pyobject(py)?)
    }
}

/// A scene from its pickle. Files it names must be where they were.
pub(crate) fn restore(stored: Stored) -> PyResult<Scene> {
    Scene::of(Recipe::restored(stored))
}
