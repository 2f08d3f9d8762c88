//! Names the format knows, and what becomes of attributes that have no effect here.
//!
//! One pass over the elements notes every attribute that the loader does not use, and names that nobody knows.

use super::notes::Notes;
use super::tree::Element;
use crate::description::NoteKind;
use crate::error::did_you_mean;

/// What is said of attributes that only change how a model looks.
const LOOKS: &str = "for display or for other programs: no effect on motion";
/// What is said of parameters of soft constraints.
const SOFT: &str =
    "contacts, limits and equalities are rigid here: parameters of softness and of detection have no effect";
/// What is said of parameters of MuJoCo's numerical methods.
const METHOD: &str = "settings of MuJoCo's own methods: no effect here";

/// The attributes of an element, by what becomes of them.
struct Known {
    /// Used by the loader, which notes what it does not do with them.
    used: &'static str,
    looks: &'static str,
    soft: &'static str,
    /// Part of the motion, and not supported yet.
    not_yet: &'static str,
}

const fn known(used: &'static str, looks: &'static str, soft: &'static str, not_yet: &'static str) -> Known {
    Known { used, looks, soft, not_yet }
}

const MUJOCO: Known = known("model", "", "", "");
const DEFAULT: Known = known("class", "", "", "");
const REPLICATE: Known = known("count sep offset euler childclass", "", "", "");
const SUBMODEL: Known = known("name file content_type", "", "", "");
const ATTACH: Known = known("model body prefix", "", "", "");
const EQUALITY: Known = known("active", "", "solref solimp", "");
const TENDON_JOINT: Known = known("joint coef", "", "", "");
const COMPILER: Known = known(
    "angle autolimits meshdir assetdir eulerseq coordinate balanceinertia boundmass boundinertia inertiafromgeom settotalmass \
     inertiagrouprange strippath \
     fitaabb exactmeshinertia alignfree",
    "texturedir discardvisual fusestatic usethread saveinertial savecompiled savecanonical conflict passthrough convexhull",
    "",
    "",
);
const OPTION: Known = known("timestep gravity density viscosity wind magnetic actuatorgroupdisable", "", "", "");
const OPTION_METHOD: &str = "integrator cone solver iterations tolerance jacobian impratio ls_iterations ls_tolerance noslip_iterations \
     noslip_tolerance \
     ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance apirate collision sdf_iterations sdf_initpoints sleep_tolerance o_margin \
     o_solref o_solimp \
     o_friction";
const FLAG_USED: &str =
    "gravity contact filterparent limit frictionloss equality spring damper passive constraint actuation clampctrl";
const FLAG_METHOD: &str = "warmstart refsafe sensor midphase nativeccd eulerdamp autoreset override energy fwdinv invdiscrete \
     multiccd island \
     diagexact ipc sleep speculative sensornoise";
const FRAME: &str = "pos quat axisangle euler xyaxes zaxis";

const BODY: Known = known("name childclass mocap gravcomp", "user sleep simple fuse", "", "");
const JOINT: Known = known(
    "name class type pos axis range limited ref springref stiffness damping frictionloss armature springdamper actuatorfrcrange actuatorfrclimited",
    "group user actuatorgravcomp",
    "solreflimit solimplimit solreffriction solimpfriction margin",
    "springyield",
);
const FREEJOINT: Known = known("name align", "group", "", "");
const GEOM: Known = known(
    "name class type size fromto mass density shellinertia contype conaffinity condim group priority friction mesh hfield fitscale surfacevel \
     fluidshape fluidcoef",
    "rgba material user castshadow",
    "solref solimp solmix margin gap",
    "adhesion",
);
const SITE: Known = known("name class fromto", "type size group material rgba user mesh", "", "");
const INERTIAL: Known = known("mass diaginertia fullinertia", "", "", "");
const MESH: Known = known(
    "name class file vertex face scale refpos refquat inertia content_type builtin params",
    "normal texcoord smoothnormal material",
    "maxhullvert",
    "",
);
const HFIELD: Known = known("name file nrow ncol size elevation content_type", "", "", "");
const PAIR: Known =
    known("name class geom1 geom2 condim friction", "", "solref solimp solreffriction margin gap", "adhesion");
const EXCLUDE: Known = known("name body1 body2", "", "", "");
const CONNECT: Known = known("name class active body1 body2 anchor site1 site2", "", "solref solimp", "");
const WELD: Known =
    known("name class active body1 body2 anchor relpose site1 site2 torquescale", "", "solref solimp", "");
const EQUALITY_JOINT: Known = known("name class active joint1 joint2 polycoef", "", "solref solimp", "");
const TENDON: Known = known(
    "name class limited range stiffness damping frictionloss springlength armature actuatorfrcrange actuatorfrclimited springyield",
    "group width material rgba user",
    "solreflimit solimplimit solreffriction solimpfriction margin",
    "",
);
const ACTUATOR: Known = known(
    "name class joint jointinparent tendon site refsite body cranksite slidersite cranklength group ctrllimited ctrlrange forcelimited \
     forcerange gear kp kv \
     dampratio timeconst inheritrange dyntype gaintype biastype dynprm gainprm biasprm armature damping delay actlimited actrange actdim actearly \
     lengthrange area diameter bias tausmooth range force scale lmin lmax vmax fpmax fvmax gain",
    "user nsample interp input",
    "",
    "",
);
const KEY: Known = known("name time qpos qvel act ctrl mpos mquat plastic", "", "", "");

/// What is known of an element in a section; `None` if its attributes are not looked at.
fn known_of(section: &str, name: &str) -> Option<&'static Known> {
    Some(match (section, name) {
        ("mujoco", _) => &MUJOCO,
        ("compiler", "compiler") => &COMPILER,
        ("option", "option") => &OPTION,
        ("worldbody", "body" | "frame" | "worldbody") => &BODY,
        ("worldbody", "replicate") => &REPLICATE,
        ("worldbody", "attach") => &ATTACH,
        ("asset", "model") => &SUBMODEL,
        ("worldbody" | "default", "joint") => &JOINT,
        ("worldbody", "freejoint") => &FREEJOINT,
        ("worldbody" | "default", "geom") => &GEOM,
        ("worldbody" | "default", "site") => &SITE,
        ("worldbody", "inertial") => &INERTIAL,
        ("asset" | "default", "mesh") => &MESH,
        ("asset", "hfield") => &HFIELD,
        ("contact" | "default", "pair") => &PAIR,
        ("contact", "exclude") => &EXCLUDE,
        ("equality", "connect") => &CONNECT,
        ("equality", "weld") => &WELD,
        ("equality", "joint") => &EQUALITY_JOINT,
        ("tendon", "fixed" | "spatial") | ("default", "tendon") => &TENDON,
        (
            "actuator" | "default",
            "general" | "motor" | "position" | "velocity" | "intvelocity" | "damper" | "cylinder" | "muscle"
            | "adhesion",
        ) => &ACTUATOR,
        ("keyframe", "key") => &KEY,
        ("default", "default") => &DEFAULT,
        ("default", "equality") => &EQUALITY,
        ("tendon", "joint") => &TENDON_JOINT,
        _ => return None,
    })
}

/// Elements whose position and orientation count.
fn has_frame(name: &str) -> bool {
    matches!(name, "body" | "frame" | "geom" | "site" | "inertial")
}

/// The sections of a model.
const SECTIONS: &str = "compiler option size statistic visual default extension custom asset worldbody contact deformable tendon equality \
     actuator sensor keyframe";

/// The children an element may have, and `None` if any may be there.
fn children(section: &str, name: &str) -> Option<&'static str> {
    Some(match (section, name) {
        ("compiler", _) => "lengthrange",
        ("option", _) => "flag",
        ("worldbody", "worldbody" | "body" | "frame" | "replicate") => {
            "body frame replicate inertial joint freejoint geom site camera light composite flexcomp plugin attach"
        }
        ("default", "default") => {
            "default mesh texture material joint geom site camera light pair equality tendon general motor position velocity intvelocity \
     orientation pid damper \
             cylinder muscle adhesion dcmotor plugin"
        }
        ("asset", "asset") => "mesh hfield skin texture material model",
        ("contact", "contact") => "pair exclude",
        ("equality", "equality") => "connect weld joint tendon flex flexvert flexstrain distance",
        ("tendon", "tendon") => "fixed spatial",
        ("actuator", "actuator") => {
            "general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor plugin"
        }
        ("keyframe", "keyframe") => "key",
        _ => return None,
    })
}

/// Notes everything in a model that the loader does not use, and every name it does not know.
pub(super) fn audit(root: &Element, notes: &mut Notes) {
    attributes(root, "mujoco", notes);
    for section in &root.children {
        let name = section.name.as_str();
        match name {
            _ if !words(SECTIONS, name) => unknown(section, SECTIONS, notes),
            "sensor" => {}
            "size" | "statistic" | "visual" | "custom" => {
                notes.tag(NoteKind::Ignored, section, "sections without effect on motion here");
            }
            "extension" => notes.tag(NoteKind::NotYet, section, "plugins are not supported"),
            "deformable" => notes.tag(NoteKind::NotYet, section, "deformable bodies are not supported"),
            _ => walk(section, name, notes),
        }
    }
}

/// Notes what nobody knows in an `<attach>` element, which is gone when the rest is looked at.
pub(super) fn audit_attach(element: &Element, notes: &mut Notes) {
    attributes(element, "worldbody", notes);
}

/// Notes what nobody knows in `<replicate>` elements, which are gone when the rest is looked at.
pub(super) fn audit_replicas(element: &Element, notes: &mut Notes) {
    if element.name == "replicate" {
        attributes(element, "worldbody", notes);
    }
    element.children.iter().for_each(|c| audit_replicas(c, notes));
}

fn walk(element: &Element, section: &str, notes: &mut Notes) {
    attributes(element, section, notes);
    for child in &element.children {
        match children(section, &element.name) {
            Some(known) if !words(known, &child.name) => unknown(child, known, notes),
            _ => walk(child, section, notes),
        }
    }
    let name = element.name.as_str();
    match (section, name) {
        ("worldbody" | "default", "camera" | "light") | ("asset" | "default", "texture" | "material" | "skin") => {
            notes.tag(NoteKind::Ignored, element, LOOKS);
        }
        ("default", "orientation" | "pid" | "dcmotor" | "plugin") => {
            notes.tag(NoteKind::Ignored, element, "defaults of kinds of actuators that are not supported")
        }
        ("compiler", "lengthrange") => notes.tag(NoteKind::Ignored, element, METHOD),
        ("worldbody", "composite" | "flexcomp") => {
            notes.element(NoteKind::NotYet, element, "bodies made by the compiler are not supported: left out");
        }
        ("worldbody" | "asset" | "actuator", "plugin") => {
            notes.tag(NoteKind::NotYet, element, "plugins are not supported");
        }
        _ => {}
    }
}

fn attributes(element: &Element, section: &str, notes: &mut Notes) {
    let name = element.name.as_str();
    if (section, name) == ("option", "flag") {
        return flags(element, notes);
    }
    let Some(known) = known_of(section, name) else { return };
    for attribute in element.attributes.iter().map(|a| a.name.as_str()).filter(|a| !a.starts_with('\0')) {
        if words(known.used, attribute) || (has_frame(name) && words(FRAME, attribute)) {
            continue;
        }
        if words(known.looks, attribute) {
            notes.attribute(NoteKind::Ignored, element, attribute, LOOKS);
        } else if words(known.soft, attribute) {
            notes.attribute(NoteKind::Ignored, element, attribute, SOFT);
        } else if words(known.not_yet, attribute) {
            notes.attribute(NoteKind::NotYet, element, attribute, "not supported: results will differ");
        } else if name == "option" && words(OPTION_METHOD, attribute) {
            notes.attribute(NoteKind::Ignored, element, attribute, METHOD);
        } else {
            unknown_attribute(element, attribute, known, notes);
        }
    }
}

fn flags(element: &Element, notes: &mut Notes) {
    for attribute in element.attributes.iter().map(|a| a.name.as_str()) {
        if words(FLAG_USED, attribute) {
            if element.text(attribute) == Some("disable") {
                let text = "switched off by the file, and so here";
                notes.attribute(NoteKind::Ignored, element, attribute, text);
            }
        } else if words(FLAG_METHOD, attribute) {
            notes.attribute(NoteKind::Ignored, element, attribute, METHOD);
        } else {
            let near = did_you_mean(attribute, FLAG_USED.split(' ').chain(FLAG_METHOD.split_ascii_whitespace()));
            notes.attribute(NoteKind::Warning, element, attribute, format!("unknown attribute, not used{near}"));
        }
    }
}

fn unknown_attribute(element: &Element, attribute: &str, known: &Known, notes: &mut Notes) {
    let lists = [known.used, known.looks, known.soft, known.not_yet];
    let frame = if has_frame(&element.name) { FRAME } else { "" };
    let names = lists.into_iter().chain([frame]).flat_map(str::split_ascii_whitespace);
    let near = did_you_mean(attribute, names);
    notes.attribute(NoteKind::Warning, element, attribute, format!("unknown attribute, not used{near}"));
}

fn unknown(element: &Element, known: &'static str, notes: &mut Notes) {
    let near = did_you_mean(&element.name, known.split_ascii_whitespace());
    notes.element(NoteKind::Warning, element, format!("unknown element, not used{near}"));
}

/// True if a name is among the words of a list.
fn words(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|w| w == name)
}
