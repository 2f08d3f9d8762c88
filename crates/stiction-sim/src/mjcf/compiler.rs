//! Settings of the whole model: `<compiler>`, `<option>` and its flags.

use std::path::{Path, PathBuf};

use stiction_body::math::Vec3;

use super::attributes::Attributes;
use super::notes::Notes;
use super::tree::{Element, portable};
use crate::description::NoteKind;
use crate::error::SceneError;

/// Where the inertia of bodies comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    Never,
    Always,
    WhereMissing,
}

/// What `<compiler>` says.
#[derive(Debug, Clone)]
pub(super) struct Compiler {
    /// Radians per unit of an angle.
    pub(super) angle: f64,
    pub(super) autolimits: bool,
    pub(super) eulerseq: [u8; 3],
    pub(super) mesh_directory: Option<PathBuf>,
    pub(super) strippath: bool,
    pub(super) balance_inertia: bool,
    pub(super) bound_mass: f64,
    pub(super) bound_inertia: f64,
    pub(super) total_mass: Option<f64>,
    pub(super) inertia_from_geom: InertiaFromGeom,
    pub(super) inertia_groups: [i64; 2],
    pub(super) fit_box: bool,
    pub(super) exact_meshes: bool,
    /// The folder of the model's file, if it is one that was attached.
    pub(super) directory: Option<PathBuf>,
    /// Those of models that were attached.
    pub(super) attached: Vec<Compiler>,
}

impl Compiler {
    /// Reads all `<compiler>` sections.
    pub(super) fn read(root: &Element, notes: &mut Notes) -> Result<Self, SceneError> {
        let sections: Vec<&Element> = root.all("compiler").collect();
        let a = Attributes::sections(sections.iter().copied());
        if a.keyword("coordinate", &["local", "global"])? == Some("global") {
            return Err(a.error("coordinate", "global coordinates are not supported, as in MuJoCo since 2.3.4"));
        }
        let word = a.keyword("inertiafromgeom", &["false", "true", "auto"])?;
        let inertia_from_geom = match word {
            Some("false") => InertiaFromGeom::Never,
            Some("true") => InertiaFromGeom::Always,
            _ => InertiaFromGeom::WhereMissing,
        };
        if a.flag("alignfree")? == Some(true) {
            let text = "free bodies keep their own frames: positions in keyframes may be of other frames";
            sections.iter().for_each(|s| notes.attribute(NoteKind::Changed, s, "alignfree", text));
        }
        let directory = a.text("meshdir").or(a.text("assetdir"));
        Ok(Self {
            angle: match a.keyword("angle", &["radian", "degree"])? {
                Some("radian") => 1.0,
                _ => std::f64::consts::PI / 180.0,
            },
            autolimits: a.flag("autolimits")?.unwrap_or(true),
            eulerseq: euler_sequence(&a)?,
            mesh_directory: directory.filter(|d| !d.is_empty()).map(|d| PathBuf::from(portable(d))),
            strippath: a.flag("strippath")?.unwrap_or(false),
            balance_inertia: a.flag("balanceinertia")?.unwrap_or(false),
            bound_mass: a.nonnegative("boundmass")?.unwrap_or(0.0),
            bound_inertia: a.nonnegative("boundinertia")?.unwrap_or(0.0),
            total_mass: a.number("settotalmass")?.filter(|m| *m > 0.0),
            inertia_from_geom,
            inertia_groups: inertia_groups(&a)?,
            fit_box: a.flag("fitaabb")?.unwrap_or(false),
            exact_meshes: a.flag("exactmeshinertia")?.unwrap_or(false),
            directory: None,
            attached: vec![],
        })
    }

    /// The path of an asset's file, given the folder of the main file.
    pub(super) fn asset_path(&self, main: &Path, file: &str) -> PathBuf {
        let mut file = PathBuf::from(portable(file));
        if self.strippath {
            file = file.file_name().map(PathBuf::from).unwrap_or(file);
        }
        let main = self.directory.as_deref().unwrap_or(main);
        match &self.mesh_directory {
            Some(directory) => main.join(directory).join(file),
            None => main.join(file),
        }
    }
}

fn euler_sequence(a: &Attributes) -> Result<[u8; 3], SceneError> {
    let text = a.text("eulerseq").unwrap_or("xyz");
    match <[u8; 3]>::try_from(text.as_bytes()) {
        Ok(letters) if letters.iter().all(|c| b"xyzXYZ".contains(c)) => Ok(letters),
        _ => Err(a.error("eulerseq", format!("expected 3 letters of xyzXYZ, found \"{text}\""))),
    }
}

fn inertia_groups(a: &Attributes) -> Result<[i64; 2], SceneError> {
    match a.numbers::<2>("inertiagrouprange")? {
        Some(range) if range.iter().any(|x| x.fract() != 0.0) => {
            Err(a.error("inertiagrouprange", "expected two whole numbers"))
        }
        range => Ok(range.map_or([0, 5], |r| r.map(|x| x as i64))),
    }
}

/// What `<option>` says, as far as it is used.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) gravity: Vec3,
    pub(super) timestep: f64,
    pub(super) magnetic: Vec3,
    /// Of the fluid (kg/m³, Pa s, m/s).
    pub(super) density: f64,
    pub(super) viscosity: f64,
    pub(super) wind: Vec3,
    /// Parts of the pipeline that are switched off.
    disabled: Vec<&'static str>,
    /// Groups of actuators that are switched off.
    pub(super) actuator_groups_off: Vec<f64>,
}

/// Flags that are honoured when they switch something off.
const SWITCHES: [&str; 10] = [
    "clampctrl",
    "gravity",
    "contact",
    "filterparent",
    "limit",
    "frictionloss",
    "equality",
    "spring",
    "damper",
    "actuation",
];

impl Options {
    /// Reads all `<option>` sections.
    pub(super) fn read(root: &Element) -> Result<Self, SceneError> {
        let sections: Vec<&Element> = root.all("option").collect();
        let a = Attributes::sections(sections.iter().copied());
        let flags: Vec<&Element> = sections.iter().flat_map(|s| s.all("flag")).collect();
        let flag = Attributes::sections(flags.iter().copied());
        let mut disabled = vec![];
        for name in SWITCHES {
            if flag.keyword(name, &["disable", "enable"])? == Some("disable") {
                disabled.push(name);
            }
        }
        if flag.keyword("passive", &["disable", "enable"])? == Some("disable") {
            disabled.extend(["spring", "damper"]);
        }
        if flag.keyword("constraint", &["disable", "enable"])? == Some("disable") {
            disabled.extend(["contact", "limit", "frictionloss", "equality"]);
        }
        let timestep = a.number("timestep")?.unwrap_or(0.002);
        if timestep <= 0.0 {
            return Err(a.error("timestep", format!("must be above 0, found {timestep}")));
        }
        let (density, viscosity) = (a.nonnegative("density")?, a.nonnegative("viscosity")?);
        let wind = a.vector("wind")?.unwrap_or(Vec3::ZERO);
        let gravity = a.vector("gravity")?.unwrap_or(Vec3::new(0.0, 0.0, -9.81));
        let magnetic = a.vector("magnetic")?.unwrap_or(Vec3::new(0.0, -0.5, 0.0));
        let mut out = Self {
            gravity,
            timestep,
            magnetic,
            density: density.unwrap_or(0.0),
            viscosity: viscosity.unwrap_or(0.0),
            wind,
            disabled,
            actuator_groups_off: vec![],
        };
        if out.is_off("gravity") {
            out.gravity = Vec3::ZERO;
        }
        out.actuator_groups_off = a.list("actuatorgroupdisable")?.unwrap_or_default();
        Ok(out)
    }

    /// True if a flag switches that part off.
    pub(super) fn is_off(&self, part: &str) -> bool {
        self.disabled.contains(&part)
    }
}
