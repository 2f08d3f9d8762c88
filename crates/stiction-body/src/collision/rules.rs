//! Which geoms may touch.

use std::collections::BTreeSet;

use stiction_linalg::InputError;

use super::{CollisionRules, Geom};
use crate::joint::JointKind;
use crate::model::{Link, Model};

/// Which pairs of geoms may touch: a few numbers per geom, and sorted lists of the exceptions.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    geoms: Vec<Rule>,
    /// Pairs of links that never touch, ascending within a pair and sorted.
    excluded: Vec<LinkPair>,
    /// Pairs of geoms that are looked at whatever else is said, and pairs that never touch; as
    /// above.
    forced: Vec<(usize, usize)>,
    forbidden: Vec<(usize, usize)>,
}

type LinkPair = (Option<usize>, Option<usize>);

/// What is asked of a geom.
#[derive(Debug, Clone, Copy)]
struct Rule {
    link: Option<usize>,
    rigid: Group,
    /// The group that its own hangs on by a joint, unless the two may touch.
    parent: Option<Group>,
    groups: u32,
    collides_with: u32,
    /// It is, or its link is, in one of the lists.
    listed: bool,
}

impl Allowed {
    /// # Errors
    /// If a rule names a link or geom that is not there.
    pub(super) fn new(model: &Model, geoms: &[Geom], rules: &CollisionRules) -> Result<Self, InputError> {
        check(model, geoms, rules)?;
        let groups = rigid_groups(model);
        let excluded = sorted(&rules.excluded);
        let (forced, forbidden) = (sorted(&rules.pairs), sorted(&rules.excluded_geoms));
        let parents = jointed_parents(model, &groups, rules);
        let links: BTreeSet<Option<usize>> = excluded.iter().flat_map(|&(a, b)| [a, b]).collect();
        let numbers: BTreeSet<usize> = forced.iter().chain(&forbidden).flat_map(|&(a, b)| [a, b]).collect();
        let rule = |(i, geom): (usize, &Geom)| {
            let rigid = geom.link.map_or(Group::World, |l| groups[l]);
            let parent = if let Group::Moving(i) = rigid { parents[i] } else { None };
            let listed = links.contains(&geom.link) || numbers.contains(&i);
            Rule { link: geom.link, rigid, parent, groups: geom.groups, collides_with: geom.collides_with, listed }
        };
        Ok(Self { geoms: geoms.iter().enumerate().map(rule).collect(), excluded, forced, forbidden })
    }

    /// Adds pairs of geoms that never touch.
    pub(super) fn forbid(&mut self, pairs: Vec<(usize, usize)>) {
        for &(a, b) in &pairs {
            self.geoms[a].listed = true;
            self.geoms[b].listed = true;
        }
        self.forbidden.extend(pairs.into_iter().map(ordered));
        self.forbidden.sort_unstable();
    }

    pub(super) fn get(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.geoms[i], &self.geoms[j]);
        if a.rigid == b.rigid || !(a.moves() || b.moves()) {
            return false;
        }
        let jointed = a.parent == Some(b.rigid) || b.parent == Some(a.rigid);
        let grouped = a.groups & b.collides_with != 0 || b.groups & a.collides_with != 0;
        if !(a.listed && b.listed) {
            return grouped && !jointed;
        }
        let (links, pair) = (ordered((a.link, b.link)), ordered((i, j)));
        let may = grouped && !jointed && self.excluded.binary_search(&links).is_err();
        (may || self.forced.binary_search(&pair).is_ok()) && self.forbidden.binary_search(&pair).is_err()
    }
}

impl Rule {
    fn moves(&self) -> bool {
        matches!(self.rigid, Group::Moving(_))
    }
}

fn ordered<K: Ord>((a, b): (K, K)) -> (K, K) {
    if a <= b { (a, b) } else { (b, a) }
}

fn sorted<K: Ord + Copy>(pairs: &[(K, K)]) -> Vec<(K, K)> {
    let mut all: Vec<(K, K)> = pairs.iter().map(|&pair| ordered(pair)).collect();
    all.sort_unstable();
    all
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
    /// Links fixed to the world, or put into it from outside, by their tree.
    Fixed(usize),
    /// A link on a joint, and those fixed to it.
    Moving(usize),
}

/// The group of each link.
pub(crate) fn rigid_groups(model: &Model) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(model.links().len());
    for (i, link) in model.links().iter().enumerate() {
        // What is put somewhere from outside does not move as far as contacts can tell.
        let fixed = matches!(link.spec.kind, JointKind::Fixed | JointKind::Mocap);
        let parent = link.spec.parent.map_or(Group::Fixed(link.tree), |p| groups[p]);
        groups.push(if fixed { parent } else { Group::Moving(i) });
    }
    groups
}
