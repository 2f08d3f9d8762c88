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
    /// A row of a closed loop, by its number.
    Loop(usize),
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
    pub wrong: bool,
}

/// An island, at its root.
#[derive(Debug, Clone, Copy, Default)]
struct Island {
    velocities: usize,
    wrong: bool,
    looped: bool,
    /// Its motion is found.
    done: bool,
    /// Rows, while they are counted and put in order.
    rows: usize,
}

impl Island {
    fn is_exact(&self) -> bool {
        self.wrong && (self.looped || self.velocities <= SMALL)
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
    /// Rows of the islands that are wrong, one island after the other, and where those of each begin and end.
    order: Vec<usize>,
    exact: Vec<Range<usize>>,
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

    /// Number of islands that are solved exactly.
    pub(super) fn count_exact(&self) -> usize {
        self.exact.len()
    }

    /// The rows of one of them.
    pub(super) fn rows_of_exact(&self, number: usize) -> impl Iterator<Item = &Row> + Clone {
        self.in_range(&self.exact[number])
    }

    /// Notes that the motion of one of them is found.
    pub(super) fn note_done(&mut self, number: usize) {
        let row = self.rows[self.order[self.exact[number].start]];
        self.islands[self.parent[row.tree]].done = true;
    }

    /// True if the island of a tree is still to be solved exactly.
    pub(super) fn is_left(&self, tree: usize) -> bool {
        let island = &self.islands[self.parent[tree]];
        island.is_exact() && !island.done
    }

    /// The rows of islands that are still to be solved exactly, in the order of contacts, limits of joints and tendons, loops.
    pub(super) fn left(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| self.is_left(row.tree))
    }

    /// The large islands.
    pub(super) fn large(&self) -> impl Iterator<Item = impl Iterator<Item = &Row> + Clone> {
        self.large.iter().map(|range| self.in_range(range))
    }

    fn in_range(&self, range: &Range<usize>) -> impl Iterator<Item = &Row> + Clone {
        self.order[range.clone()].iter().map(|&k| &self.rows[k])
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
            let row = Row { source: Source::Loop(i), gap: 0.0, tree, wrong: loops.value(i).abs() > OPEN };
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

    /// What each island has to do, and the rows of those that are wrong in their order.
    fn number(&mut self, trees: usize) {
        for tree in 0..trees {
            self.parent[tree] = self.root(tree);
        }
        for row in &self.rows {
            let island = &mut self.islands[self.parent[row.tree]];
            island.wrong |= row.wrong;
            island.looped |= matches!(row.source, Source::Loop(_) | Source::Tendon { .. });
            island.rows += 1;
        }
        self.exact.clear();
        self.large.clear();
        let mut end = 0;
        for island in self.islands.iter_mut().filter(|island| island.wrong) {
            let of_kind = if island.is_exact() { &mut self.exact } else { &mut self.large };
            of_kind.push(end..end + island.rows);
            end += island.rows;
            island.rows = end - island.rows;
        }
        self.order.clear();
        self.order.resize(end, 0);
        for (k, row) in self.rows.iter().enumerate() {
            let island = &mut self.islands[self.parent[row.tree]];
            if island.wrong {
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
