//! Which geoms may touch.

use std::collections::BTreeSet;

use stiction_lcp::InputError;

use super::{CollisionRules, Geom};
use crate::joint::JointKind;
use crate::model::{Link, Model};

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
        let ordered = |a: Option<usize>, b: Option<usize>| (a.min(b), a.max(b));
        let excluded: BTreeSet<_> = rules.excluded.iter().map(|&(a, b)| ordered(a, b)).collect();
        let geom_pairs = |pairs: &[(usize, usize)]| pairs.iter().map(|&(p, q)| (p.min(q), p.max(q))).collect();
        let forced: BTreeSet<(usize, usize)> = geom_pairs(&rules.pairs);
        let forbidden: BTreeSet<(usize, usize)> = geom_pairs(&rules.excluded_geoms);
        let parents = jointed_parents(model, &groups, rules);
        let hangs_on = |own: Group, other: Group| matches!(own, Group::Moving(i) if parents[i] == Some(other));
        let n = geoms.len();
        let mut bits = vec![false; n * n];
        for (i, a) in geoms.iter().enumerate() {
            for (j, b) in geoms.iter().enumerate().take(i) {
                let rigid = [group(a.link), group(b.link)];
                let apart = rigid[0] != rigid[1] && rigid.iter().any(|g| matches!(g, Group::Moving(_)));
                let jointed = hangs_on(rigid[0], rigid[1]) || hangs_on(rigid[1], rigid[0]);
                let grouped = a.groups & b.collides_with != 0 || b.groups & a.collides_with != 0;
                let may = apart && grouped && !jointed && !excluded.contains(&ordered(a.link, b.link));
                let asked = apart && forced.contains(&(j, i));
                bits[i * n + j] = (may || asked) && !forbidden.contains(&(j, i));
                bits[j * n + i] = bits[i * n + j];
            }
        }
        Ok(Self { n, bits })
    }

    pub fn get(&self, i: usize, j: usize) -> bool {
        self.bits[i * self.n + j]
    }
}

/// The group that each link's own group hangs on, unless the two may touch.
fn jointed_parents(model: &Model, groups: &[Group], rules: &CollisionRules) -> Vec<Option<Group>> {
    let touches: BTreeSet<usize> = rules
        .touches_parent
        .iter()
        .filter_map(|&l| if let Group::Moving(first) = groups[l] { Some(first) } else { None })
        .collect();
    let parent = |(i, link): (usize, &Link)| {
        // The world itself is nobody's parent: what hangs on a hinge in the world touches the ground.
        let parent = link.spec.parent.filter(|_| groups[i] == Group::Moving(i) && !touches.contains(&i));
        parent.map(|p| groups[p])
    };
    model.links().iter().enumerate().map(parent).collect()
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
    match rules.pairs.iter().chain(&rules.excluded_geoms).flat_map(|(a, b)| [*a, *b]).find(|g| *g >= n) {
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
