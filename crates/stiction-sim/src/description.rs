//! What a robot file describes, whatever its format: links, geoms, joints that follow others, closed loops, actuators, and what was left out.
//!
//! A loader makes a [`Description`]; the scene puts it into the world. Numbers of links and geoms are those of the description.

use stiction_body::math::Vec3;
use stiction_body::{Coupling, Geom, LinkSpec, LoopClosure, Mimic};

use crate::actuation::{Actuator, Tendon};
use crate::ambient::Ambient;
use crate::equality::Equality;
use crate::looks::{Look, Visual};
use crate::material::{Material, MaterialRule};
use crate::sensors::Sensor;
use crate::ties::Tie;

/// A shape on a link with its surface.
#[derive(Debug, Clone, PartialEq)]
pub struct GeomSpec {
    /// Shape, link and groups.
    pub geom: Geom,
    /// Its surface.
    pub material: Material,
    /// How it is drawn.
    pub look: Look,
}

impl GeomSpec {
    /// A geom with its surface, drawn in the colour of its body.
    pub fn new(geom: Geom, material: Material) -> Self {
        Self { geom, material, look: Look::default() }
    }
}

/// Two geoms that are always looked at, with a surface of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSpec {
    /// The geoms.
    pub geoms: (usize, usize),
    /// The pair's surface; `None` to combine those of the geoms.
    pub material: Option<Material>,
}

/// A state that a file tells by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeyframeSpec {
    /// Name; empty for none.
    pub name: String,
    /// Time (s).
    pub time: f64,
    /// Configuration of each joint that has one: link, its joint's q.
    pub q: Vec<(usize, Vec<f64>)>,
    /// Velocities of each joint that has some: link, its joint's v.
    pub v: Vec<(usize, Vec<f64>)>,
    /// Control of each actuator.
    pub control: Vec<f64>,
    /// Activation of each actuator; 0 for those that have none.
    pub activation: Vec<f64>,
}

/// Why something stands in a list of notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Read and not used: has no effect here (visuals, names, sensors).
    Ignored,
    /// Used in a changed form (a collision mesh becomes its convex hull).
    Changed,
    /// Part of the motion in the file's own engine, and not supported yet here: results will differ.
    NotYet,
    /// Looks wrong, and was used as it is.
    Warning,
}

impl NoteKind {
    /// `ignored`, `changed`, `not yet` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Changed => "changed",
            Self::NotYet => "not yet",
            Self::Warning => "warning",
        }
    }
}

/// One thing a loader left out, changed or wonders about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Why it is noted.
    pub kind: NoteKind,
    /// The element, with its line where known.
    pub element: String,
    /// What was done.
    pub text: String,
}

/// How many things are not used as a file says, in a line with the first of those left out; `None` if all are, or have no effect.
pub fn summary_of_notes(notes: &[Note]) -> Option<String> {
    let of = |kind: NoteKind| notes.iter().filter(move |n| n.kind == kind);
    let kinds = [(NoteKind::NotYet, "left out"), (NoteKind::Changed, "changed"), (NoteKind::Warning, "doubtful")];
    let counts: Vec<(usize, &str)> = kinds.iter().map(|(kind, word)| (of(*kind).count(), *word)).collect();
    let total: usize = counts.iter().map(|(n, _)| n).sum();
    let first = kinds.iter().find_map(|(kind, _)| of(*kind).next())?;
    let parts: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let things = if total == 1 { "1 thing is" } else { &format!("{total} things are") };
    Some(format!("{things} not used as written ({}), first: {}: {}", parts.join(", "), first.element, first.text))
}

/// Links, geoms and all that hangs on them, as read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Name of the model.
    pub name: String,
    /// Links, parents before children; a link without a parent hangs on the world by its own joint.
    pub links: Vec<LinkSpec>,
    /// Collision geoms. `link: None` is fixed to the frame the description is put at.
    pub geoms: Vec<GeomSpec>,
    /// What is only drawn, its links as those of geoms.
    pub visuals: Vec<Visual>,
    /// Joints that follow others.
    pub mimics: Vec<Mimic>,
    /// Joints that keep sums of polynomials.
    pub couplings: Vec<Coupling>,
    /// Closed loops.
    pub loops: Vec<LoopClosure>,
    /// What pulls bodies to others that are moved from outside.
    pub ties: Vec<Tie>,
    /// Those loops, ties and joints that can be switched on and off.
    pub equalities: Vec<Equality>,
    /// Links that may touch their parents.
    pub touches_parent: Vec<usize>,
    /// Pairs of links that never touch; `None` is the world.
    pub excluded: Vec<(Option<usize>, Option<usize>)>,
    /// Pairs of geoms that are always looked at.
    pub pairs: Vec<PairSpec>,
    /// How surfaces within the description combine; `None` leaves it to the scene.
    pub rule: Option<MaterialRule>,
    /// Motors.
    pub actuators: Vec<Actuator>,
    /// Tendons.
    pub tendons: Vec<Tendon>,
    /// Least and largest total effort of the actuators on a joint (N m or N), where the two are not each other's opposites: link and range.
    pub effort_ranges: Vec<(usize, [f64; 2])>,
    /// What acts on bodies by itself besides gravity.
    pub ambient: Ambient,
    /// Sensors.
    pub sensors: Vec<Sensor>,
    /// States by name.
    pub keyframes: Vec<KeyframeSpec>,
    /// The keyframe that is the start.
    pub start: Option<usize>,
    /// Configurations other than neutral at the start: link, its joint's q.
    pub initial: Vec<(usize, Vec<f64>)>,
    /// Gravity of the file (m/s²), if it has one.
    pub gravity: Option<Vec3>,
    /// Time step of the file (s), if it has one.
    pub dt: Option<f64>,
    /// What was left out or changed.
    pub notes: Vec<Note>,
}

impl Description {
    /// An empty description of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            links: vec![],
            geoms: vec![],
            visuals: vec![],
            mimics: vec![],
            couplings: vec![],
            loops: vec![],
            ties: vec![],
            equalities: vec![],
            touches_parent: vec![],
            excluded: vec![],
            pairs: vec![],
            rule: None,
            actuators: vec![],
            tendons: vec![],
            effort_ranges: vec![],
            ambient: Ambient::default(),
            sensors: vec![],
            keyframes: vec![],
            start: None,
            initial: vec![],
            gravity: None,
            dt: None,
            notes: vec![],
        }
    }

    /// Notes something.
    pub fn note(&mut self, kind: NoteKind, element: impl Into<String>, text: impl Into<String>) {
        self.notes.push(Note { kind, element: element.into(), text: text.into() });
    }

    /// The link of that name.
    pub fn link(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|l| l.name == name)
    }
}
