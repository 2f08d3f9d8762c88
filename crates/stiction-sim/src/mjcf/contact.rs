//! Which geoms touch, and with what surface: bit masks, the parent filter, `<exclude>`, `<pair>`.

use std::collections::BTreeSet;

use super::attributes::Attributes;
use super::bodies::{GeomRead, Tree};
use super::compiler::Options;
use super::defaults::Defaults;
use super::links::Links;
use super::notes::Notes;
use super::surface::Surface;
use super::tree::Element;
use crate::description::{Description, GeomSpec, NoteKind, PairSpec};
use crate::error::{SceneError, did_you_mean};
use crate::material::{Material, MaterialRule};
use stiction_body::Geom;
use stiction_body::math::Vec3;

/// Pairs of geoms with a surface of their own are listed up to this number.
const PAIRS: usize = 20_000;

/// Pairs of geoms are looked at one by one up to this number of geoms.
const GEOMS: usize = 5_000;

/// Writes geoms and all rules of contact.
pub(super) fn write<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    links: &Links<'a>,
    defaults: &Defaults<'a>,
    options: &Options,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    out.rule = Some(MaterialRule::Maximum);
    out.geoms = tree.geoms.iter().map(|g| geom(g, tree, links)).collect();
    for read in tree.geoms.iter().filter(|g| g.shape.is_unbounded() && tree.bodies[g.body].mocap) {
        notes.element(
            NoteKind::NotYet,
            read.element,
            "a plane stays where the file puts it, also if its body is moved",
        );
    }
    let filter = Filter::new(root, tree, options, notes)?;
    filter.write_links(tree, links, out);
    if options.is_off("contact") {
        return Ok(());
    }
    explicit_pairs(root, tree, defaults, notes, out)?;
    mixed_pairs(tree, &filter, notes, out);
    Ok(())
}

fn geom(read: &GeomRead, tree: &Tree, links: &Links) -> GeomSpec {
    let (link, pose) = match read.shape.is_unbounded() {
        true => (None, tree.bodies[read.body].world * read.pose),
        false => (links.of_body[read.body], links.frames[read.body] * read.pose),
    };
    let mut geom = Geom::new(read.name.clone(), link, pose, read.shape.clone());
    (geom.groups, geom.collides_with) = (read.contype, read.conaffinity);
    GeomSpec { geom, material: read.surface.material(), look: read.look }
}

/// Which bodies may touch.
struct Filter {
    /// For each body the one that it moves with: the last one upwards that has joints, else the world.
    moves_with: Vec<usize>,
    /// For each body what the parent of that one moves with.
    parent: Vec<usize>,
    parents_touch: bool,
    excluded: BTreeSet<(usize, usize)>,
}

impl Filter {
    fn new(root: &Element, tree: &Tree, options: &Options, notes: &mut Notes) -> Result<Self, SceneError> {
        let mut moves_with = vec![0];
        for (i, body) in tree.bodies.iter().enumerate().skip(1) {
            moves_with.push(if body.joints.is_empty() { moves_with[body.parent] } else { i });
        }
        let parent = moves_with.iter().map(|&b| moves_with[tree.bodies[b].parent]).collect();
        let mut excluded = BTreeSet::new();
        for element in root.all("contact").flat_map(|s| s.all("exclude")) {
            let (a, b) = (tree.find_body(element, "body1")?, tree.find_body(element, "body2")?);
            if !excluded.insert((a.min(b), a.max(b))) {
                notes.element(NoteKind::Warning, element, "these bodies are already excluded");
            }
        }
        Ok(Self { moves_with, parent, parents_touch: options.is_off("filterparent"), excluded })
    }

    /// MuJoCo's filter of bodies: not what moves together, not parent and child unless the parent is the world, not what is excluded.
    fn may_touch(&self, a: usize, b: usize) -> bool {
        let (i, j) = (self.moves_with[a], self.moves_with[b]);
        let family = i != 0 && j != 0 && (self.parent[i] == j || self.parent[j] == i);
        i != j && (self.parents_touch || !family) && !self.excluded.contains(&(a.min(b), a.max(b)))
    }

    /// The same rules for links: those within a body with several joints are not its parent's neighbours.
    fn write_links(&self, tree: &Tree, links: &Links, out: &mut Description) {
        let link = |body: usize| links.of_body[body];
        for (i, body) in tree.bodies.iter().enumerate().skip(1).filter(|(_, b)| !b.joints.is_empty()) {
            let touches = self.parents_touch || self.parent[i] == 0;
            if body.joints.len() == 1 {
                out.touches_parent.extend(link(i).filter(|_| touches));
            } else if !touches {
                let with = |b: usize| (0..tree.bodies.len()).filter(move |&k| self.moves_with[k] == b);
                out.excluded.extend(with(i).flat_map(|a| with(self.parent[i]).map(move |b| (link(a), link(b)))));
            }
        }
        out.excluded.extend(self.excluded.iter().map(|&(a, b)| (link(a), link(b))));
    }
}

impl Tree<'_> {
    /// The body an element refers to; `world` is the first.
    pub(super) fn find_body(&self, element: &Element, attribute: &str) -> Result<usize, SceneError> {
        let name = element.required(attribute)?;
        self.bodies.iter().position(|b| b.name == name).ok_or_else(|| {
            let near = did_you_mean(name, self.bodies.iter().map(|b| b.name.as_str()));
            element.attribute_error(attribute, format!("there is no body \"{name}\"{near}"))
        })
    }
}

/// `<pair>`: always looked at, with a friction of its own, whatever that of the two geoms is.
fn explicit_pairs<'a>(
    root: &'a Element,
    tree: &Tree<'a>,
    defaults: &Defaults<'a>,
    notes: &mut Notes,
    out: &mut Description,
) -> Result<(), SceneError> {
    for element in root.all("contact").flat_map(|s| s.all("pair")) {
        let a = defaults.resolve(element, "pair", None)?;
        let find = |attribute: &str| -> Result<usize, SceneError> {
            let name = element.required(attribute)?;
            tree.geoms.iter().position(|g| g.name == name).ok_or_else(|| {
                let near = did_you_mean(name, tree.geoms.iter().map(|g| g.name.as_str()));
                element.attribute_error(attribute, format!("there is no geom \"{name}\" that can touch{near}"))
            })
        };
        let (i, j) = (find("geom1")?, find("geom2")?);
        let surface = pair_surface(&a, element, notes)?;
        if out.pairs.iter().any(|p| p.geoms == (i.min(j), i.max(j))) {
            notes.element(NoteKind::Warning, element, "there is already a pair of these geoms: the first counts");
            continue;
        }
        out.pairs.push(PairSpec { geoms: (i.min(j), i.max(j)), material: Some(surface.material()) });
    }
    Ok(())
}

fn pair_surface(a: &Attributes, element: &Element, notes: &mut Notes) -> Result<Surface, SceneError> {
    /// MuJoCo's, of the pair, not of its geoms: two for slip, then spin, two for rolling.
    const FRICTION: [f64; 5] = [1.0, 1.0, 0.005, 0.0001, 0.0001];
    let condim = a.integer("condim")?.unwrap_or(3);
    if ![1, 3, 4, 6].contains(&condim) {
        return Err(a.error("condim", format!("expected 1, 3, 4 or 6, found {condim}")));
    }
    let (friction, _) = a.merged::<5>("friction", FRICTION)?;
    if let Some(x) = friction.iter().find(|x| **x < 0.0) {
        return Err(a.error("friction", format!("must be at least 0, found {x}")));
    }
    if condim == 6 && friction[3] != friction[4] {
        let text = "rolling friction is the same in all directions here: the first number counts";
        notes.attribute(NoteKind::Changed, element, "friction", text);
    }
    let across = (friction[0] != friction[1]).then_some(friction[1]);
    if across.is_some() && condim > 1 {
        let text = "the first direction is that of the y axis in the tangent plane";
        notes.attribute(NoteKind::Changed, element, "friction", text);
    }
    let friction = [friction[0], friction[2], friction[3]];
    Ok(Surface { condim, priority: 0, friction, across, velocity: Vec3::ZERO })
}

/// MuJoCo's rule for two geoms: the one of higher priority counts, or the larger of each.
fn mix(a: &Surface, b: &Surface) -> Surface {
    let larger = |i: usize| a.friction[i].max(b.friction[i]);
    let mut out = match a.priority.cmp(&b.priority) {
        std::cmp::Ordering::Greater => *a,
        std::cmp::Ordering::Less => *b,
        std::cmp::Ordering::Equal => {
            let friction = [larger(0), larger(1), larger(2)];
            Surface { condim: a.condim.max(b.condim), friction, ..*a }
        }
    };
    out.velocity = Vec3::ZERO;
    out
}

/// Where priorities or dimensions of contacts differ, MuJoCo's rule is not that of the materials alone: such pairs get a surface of their own.
fn mixed_pairs(tree: &Tree, filter: &Filter, notes: &mut Notes, out: &mut Description) {
    let kind = |g: &GeomRead| (g.surface.priority, g.surface.condim);
    let Some(first) = tree.geoms.first() else { return };
    if tree.geoms.iter().all(|g| kind(g) == kind(first)) {
        return;
    }
    if tree.geoms.len() > GEOMS {
        let text = format!("of more than {GEOMS} geoms: the larger friction counts");
        return notes.attribute(NoteKind::NotYet, first.element, "priority or condim", text);
    }
    let given: BTreeSet<(usize, usize)> = out.pairs.iter().map(|p| p.geoms).collect();
    for (i, a) in tree.geoms.iter().enumerate() {
        for (j, b) in tree.geoms.iter().enumerate().skip(i + 1).filter(|(_, b)| kind(a) != kind(b)) {
            let masks = a.contype & b.conaffinity | b.contype & a.conaffinity;
            if masks == 0 || given.contains(&(i, j)) || !filter.may_touch(a.body, b.body) {
                continue;
            }
            let material = mix(&a.surface, &b.surface).material();
            if same_friction(&material, &a.surface.material(), &b.surface.material()) {
                continue;
            }
            let element = if a.surface.priority >= b.surface.priority { a.element } else { b.element };
            if out.pairs.len() == PAIRS {
                let text =
                    format!("more than {PAIRS} pairs have a friction of their own: the rest takes the larger one");
                return notes.attribute(NoteKind::NotYet, element, "priority", text);
            }
            notes.attribute(
                NoteKind::Changed,
                element,
                "priority or condim",
                "pairs within the file have the friction MuJoCo gives them; with geoms from elsewhere the larger one counts",
            );
            out.pairs.push(PairSpec { geoms: (i, j), material: Some(material) });
        }
    }
}

fn same_friction(pair: &Material, a: &Material, b: &Material) -> bool {
    let larger = |of: fn(&Material) -> f64| of(pair) == of(a).max(of(b));
    larger(|m| m.mu) && larger(|m| m.mu_spin) && larger(|m| m.mu_roll)
}
