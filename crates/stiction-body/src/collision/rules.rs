//! Which geoms may touch.

use stiction_lcp::InputError;

use super::{CollisionRules, Geom};
use crate::joint::JointKind;
use crate::model::Model;

/// A symmetric table of geoms: true where two may touch.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    n: usize,
    bits: Vec<bool>,
}

impl Allowed {
    /// # Errors
    /// If a rule names a link or geom that is not there.
    pub fn new(model: &Model, geoms: &[Geom], rules: &CollisionRules) -> Result<Self, InputError> {
        check(model, geoms, rules)?;
        let groups = rigid_groups(model);
        let group = |link: Option<usize>| link.map_or(Group::World, |l| groups[l]);
        let mut excluded: Vec<[Option<usize>; 2]> = rules.excluded.iter().map(|&(a, b)| [a, b]).collect();
        // Every group and the one its first link hangs on, unless they may touch.
        let mut joined: Vec<[Group; 2]> = Vec::new();
        for (i, link) in model.links().iter().enumerate() {
            let own = Group::Moving(i);
            let touches = rules.touches_parent.iter().any(|&l| groups[l] == own);
            // The world itself is nobody's parent: what hangs on a hinge in the world touches the ground.
            if let Some(parent) = link.spec.parent.filter(|_| groups[i] == own && !touches) {
                joined.push([own, groups[parent]]);
            }
        }
        excluded.iter_mut().for_each(|pair| pair.sort_unstable());
        let n = geoms.len();
        let mut bits = vec![false; n * n];
        for (i, a) in geoms.iter().enumerate() {
            for (j, b) in geoms.iter().enumerate().take(i) {
                let mut links = [a.link, b.link];
                links.sort_unstable();
                let rigid = [group(a.link), group(b.link)];
                let apart = rigid[0] != rigid[1] && rigid.iter().any(|g| matches!(g, Group::Moving(_)));
                let jointed = joined.iter().any(|p| *p == rigid || [p[1], p[0]] == rigid);
                let grouped = a.groups & b.collides_with != 0 || b.groups & a.collides_with != 0;
                let may = apart && grouped && !jointed && !excluded.contains(&links);
                let forced = rules.pairs.iter().any(|&(p, q)| (p, q) == (i, j) || (q, p) == (i, j));
                bits[i * n + j] = may || (forced && apart);
                bits[j * n + i] = bits[i * n + j];
            }
        }
        Ok(Self { n, bits })
    }

    pub fn get(&self, i: usize, j: usize) -> bool {
        self.bits[i * self.n + j]
    }
}

fn check(model: &Model, geoms: &[Geom], rules: &CollisionRules) -> Result<(), InputError> {
    let size = |what: String, expected: usize, found: usize| Err(InputError::Size { what, expected, found });
    let (links, n) = (model.links().len(), geoms.len());
    for (i, geom) in geoms.iter().enumerate() {
        if let Some(link) = geom.link.filter(|l| *l >= links) {
            return size(format!("{}: link, below", place(i, geom)), links, link);
        }
    }
    if let Some(&link) = rules.touches_parent.iter().find(|l| **l >= links) {
        return size("link that touches its parent, below".into(), links, link);
    }
    if let Some(link) = rules.excluded.iter().flat_map(|(a, b)| [*a, *b]).flatten().find(|l| *l >= links) {
        return size("link of an excluded pair, below".into(), links, link);
    }
    match rules.pairs.iter().flat_map(|(a, b)| [*a, *b]).find(|g| *g >= n) {
        Some(geom) => size("geom of a pair, below".into(), n, geom),
        None => Ok(()),
    }
}

/// How messages name a geom.
pub(crate) fn place(number: usize, geom: &Geom) -> String {
    if geom.name.is_empty() { format!("geom {number}") } else { format!("geom \"{}\"", geom.name) }
}

/// Links (or the world) that cannot move against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// The world's own geoms.
    World,
    /// Links fixed to the world, by their tree.
    Fixed(usize),
    /// A link on a joint, and those fixed to it.
    Moving(usize),
}

/// The group of each link.
pub(crate) fn rigid_groups(model: &Model) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(model.links().len());
    for (i, link) in model.links().iter().enumerate() {
        let fixed = matches!(link.spec.kind, JointKind::Fixed);
        let parent = link.spec.parent.map_or(Group::Fixed(link.tree), |p| groups[p]);
        groups.push(if fixed { parent } else { Group::Moving(i) });
    }
    groups
}
