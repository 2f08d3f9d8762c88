//! What a projection is about, island by island: rows to be put right, and rows that are so near
//! that moving could close them.

use std::ops::Range;

use stiction_body::{ContactPoint, JointLimit, LoopRows};

use super::{Enough, NEAR, OPEN, SMALL};
use crate::actuation::TreeRow;
use crate::time_stepping::smaller;
use crate::world::World;

/// Where a row comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// A contact, by its number.
    Contact(usize),
    /// The limit of a joint, by its number, see [`Islands::limit`].
    Limit(usize),
    /// The limit of a tendon, by its number, and the direction away from it (1 or −1).
    Tendon { tendon: usize, away: f64 },
    /// A row of a closed loop.
    Loop,
}

/// A row of the projection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub source: Source,
    /// Signed distance (m or rad).
    pub gap: f64,
    /// A tree it moves.
    pub tree: usize,
    /// It is to be put right.
    wrong: bool,
}

/// An island, at its root.
#[derive(Debug, Clone, Copy, Default)]
struct Island {
    velocities: usize,
    wrong: bool,
    looped: bool,
    /// Rows, while they are counted and put in order.
    rows: usize,
}

impl Island {
    fn is_exact(&self) -> bool {
        self.wrong && (self.looped || self.velocities <= SMALL)
    }

    fn is_large(&self) -> bool {
        self.wrong && !self.is_exact()
    }
}

/// Splits the rows into islands; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Islands {
    rows: Vec<Row>,
    /// The limits of joints.
    limits: Vec<JointLimit>,
    asked: f64,
    /// Union–find over trees; the lower root stays.
    parent: Vec<usize>,
    islands: Vec<Island>,
    seen: Vec<bool>,
    /// Rows of the large islands, one island after the other, and where each begins and ends.
    order: Vec<usize>,
    large: Vec<Range<usize>>,
}

impl Islands {
    /// The largest overlap, opening or excess (m or rad).
    pub(super) fn asked(&self) -> f64 {
        self.asked
    }

    /// The limit of a joint, by its number.
    pub(super) fn limit(&self, number: usize) -> &JointLimit {
        &self.limits[number]
    }

    /// The island that a tree belongs to.
    pub(crate) fn island(&self, tree: usize) -> usize {
        self.parent[tree]
    }

    /// True if an island has loops or tendons.
    pub(crate) fn is_looped(&self, island: usize) -> bool {
        self.islands[island].looped
    }

    /// The rows of islands that are solved exactly, in the order of contacts, limits of joints and tendons, loops.
    pub(super) fn exact(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| self.islands[self.parent[row.tree]].is_exact())
    }

    /// The large islands.
    pub(super) fn large(&self) -> impl Iterator<Item = impl Iterator<Item = &Row> + Clone> {
        self.large.iter().map(|range| self.order[range.clone()].iter().map(|&k| &self.rows[k]))
    }

    /// Finds rows and islands at configuration `q`; what is `enough` is left alone.
    pub(super) fn split(
        &mut self,
        world: &World,
        contacts: &[ContactPoint],
        sizes: &[f64],
        loops: &LoopRows,
        (q, tendons): (&[f64], &[(f64, TreeRow)]),
        enough: Enough,
    ) {
        let trees = world.model.trees();
        self.parent.clear();
        self.parent.extend(0..trees.len());
        self.islands.clear();
        self.islands.resize(trees.len(), Island::default());
        self.seen.clear();
        self.seen.resize(trees.len(), false);
        self.rows.clear();
        self.asked = contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        self.limits.clear();
        self.limits.extend(world.model.limits(q));
        self.asked = self.limits.iter().map(|limit| -limit.gap).fold(self.asked, f64::max);
        tendon_limits(world, tendons, |_, _, gap| self.asked = self.asked.max(-gap));
        self.asked = (0..loops.len()).map(|i| loops.value(i).abs()).fold(self.asked, f64::max);
        let near = NEAR * self.asked;
        for (k, at) in contacts.iter().enumerate().filter(|(_, at)| at.gap <= near) {
            let [a, b] = at.geoms.map(|g| moving_tree(world, g));
            let Some(tree) = a.or(b) else { continue };
            let wrong = -at.gap > enough.of_geoms(smaller(sizes, at));
            self.push(world, Row { source: Source::Contact(k), gap: at.gap, tree, wrong }, [a, b]);
        }
        for i in 0..self.limits.len() {
            let JointLimit { velocity, gap, .. } = self.limits[i];
            if gap <= near {
                let tree = world.model.tree_of(velocity);
                let row = Row { source: Source::Limit(i), gap, tree, wrong: -gap > enough.of_joints() };
                self.push(world, row, [Some(tree), None]);
            }
        }
        tendon_limits(world, tendons, |tendon, away, gap| {
            let moved = |&(_, values): &(usize, &[f64])| values.iter().any(|x| *x != 0.0);
            let mut own = tendons[tendon].1.blocks().filter(moved).map(|(tree, _)| tree);
            if let Some(tree) = own.next().filter(|_| gap <= near) {
                own.for_each(|other| self.join(world, [tree, other]));
                let source = Source::Tendon { tendon, away };
                self.push(world, Row { source, gap, tree, wrong: -gap > enough.of_joints() }, [Some(tree), None]);
            }
        });
        for i in 0..loops.len() {
            let blocks = loops.blocks(i);
            let Some(&(tree, _)) = blocks.first() else { continue };
            let row = Row { source: Source::Loop, gap: 0.0, tree, wrong: loops.value(i).abs() > OPEN };
            blocks.iter().for_each(|(other, _)| self.join(world, [tree, *other]));
            self.push(world, row, [Some(tree), None]);
        }
        self.number(trees.len());
    }

    fn push(&mut self, world: &World, row: Row, trees: [Option<usize>; 2]) {
        let other = trees.into_iter().flatten().last().unwrap_or(row.tree);
        self.join(world, [row.tree, other]);
        self.rows.push(row);
    }

    /// Joins two trees. Until the end each island's numbers are those of its trees, seen for the
    /// first time.
    fn join(&mut self, world: &World, trees: [usize; 2]) {
        for tree in trees {
            if !std::mem::replace(&mut self.seen[tree], true) {
                self.islands[tree].velocities = world.model.trees()[tree].v.len();
            }
        }
        let [a, b] = trees.map(|tree| self.root(tree));
        if a != b {
            let (low, high) = (a.min(b), a.max(b));
            self.parent[high] = low;
            self.islands[low].velocities += self.islands[high].velocities;
        }
    }

    fn root(&mut self, mut tree: usize) -> usize {
        while self.parent[tree] != tree {
            self.parent[tree] = self.parent[self.parent[tree]];
            tree = self.parent[tree];
        }
        tree
    }

    /// What each island has to do, and the rows of the large ones in their order.
    fn number(&mut self, trees: usize) {
        for tree in 0..trees {
            self.parent[tree] = self.root(tree);
        }
        for row in &self.rows {
            let island = &mut self.islands[self.parent[row.tree]];
            island.wrong |= row.wrong;
            island.looped |= matches!(row.source, Source::Loop | Source::Tendon { .. });
            island.rows += 1;
        }
        self.large.clear();
        let mut end = 0;
        for island in self.islands.iter_mut().filter(|island| island.is_large()) {
            self.large.push(end..end + island.rows);
            end += island.rows;
            island.rows = end - island.rows;
        }
        self.order.clear();
        self.order.resize(end, 0);
        for (k, row) in self.rows.iter().enumerate() {
            let island = &mut self.islands[self.parent[row.tree]];
            if island.is_large() {
                self.order[island.rows] = k;
                island.rows += 1;
            }
        }
    }
}

/// The tree of a geom, if it can move.
fn moving_tree(world: &World, geom: usize) -> Option<usize> {
    let tree = world.model.links()[world.geoms[geom].link?].tree;
    (!world.model.trees()[tree].v.is_empty()).then_some(tree)
}

/// Calls `see` with every limit of a tendon that joints move: its number, the direction away from it, and how far it is (m or rad).
pub(super) fn tendon_limits(world: &World, tendons: &[(f64, TreeRow)], mut see: impl FnMut(usize, f64, f64)) {
    for (i, (tendon, (length, row))) in world.tendons.iter().zip(tendons).enumerate() {
        for (gap, away) in [(length - tendon.limits[0], 1.0), (tendon.limits[1] - length, -1.0)] {
            if gap.is_finite() && !row.is_zero() {
                see(i, away, gap);
            }
        }
    }
}
