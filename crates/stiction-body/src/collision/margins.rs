//! How much farther than bodies move by themselves contacts are looked for: bodies that are hit within the step move on.
//!
//! What is hit is at most about as fast as what hits it, and may hit the next. So bodies that may meet within the step share the margin of the fastest of
//! them, and one that flies past all others concerns none. Bodies that hang
//! together by joints pass on hits too: a tree has one margin, and so have trees that loops tie together. Bodies that move alike, such as the links of a robot that
//! falls, cannot hit each other faster than their velocities differ: that bounds their margin where the world is out of reach.

use crate::collision::broad::{Bounds, Broad};
use crate::kinematics::LinkMotion;
use crate::math::{Vec3, length};
use crate::model::Model;

/// How much farther than they move contacts of two geoms are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Margin {
    /// The same for all (m).
    Same(f64),
    /// This part of the way of the fastest body that may hit one of them within the step, or hit what hits it.
    OfHits(f64),
}

impl From<f64> for Margin {
    fn from(margin: f64) -> Self {
        Self::Same(margin)
    }
}

/// Margins up to this part of a geom's size are hardly worth less: at rest, where bodies fall by 10 µm in a step, a look at how alike they move would cost 1 % of it.
const SMALL: f64 = 1e-2;

/// The range of no way.
const NO_WAY: [Vec3; 2] = [Vec3::INFINITY, Vec3::NEG_INFINITY];

/// The range that holds two.
fn joined(a: [Vec3; 2], b: [Vec3; 2]) -> [Vec3; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

/// The largest difference of two ways in a range.
fn spread([low, high]: [Vec3; 2]) -> f64 {
    length((high - low).max(Vec3::ZERO))
}

/// The margins of trees. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Margins {
    /// Of each tree (m), and those of the call before.
    of_trees: Vec<f64>,
    before: Vec<f64>,
    /// How far the links of each tree move within the step (m): ranges along the world's axes.
    ways: Vec<[Vec3; 2]>,
    /// Trees that may meet the world, those that share a margin, and the part of [`Margin::OfHits`].
    at_world: Vec<bool>,
    members: Vec<usize>,
    part: f64,
    /// The largest margin of a tree by itself (m).
    pub largest: f64,
    /// Trees from the largest margin to the smallest, and those whose neighbours are to be looked at.
    order: Vec<usize>,
    open: Vec<usize>,
    /// Pairs of geoms of two trees that may meet, by either tree, and where each tree's begin.
    pairs: Vec<u32>,
    starts: Vec<usize>,
    done: Vec<bool>,
}

impl Margins {
    /// Gives every tree the margin that it has by itself.
    pub fn start(&mut self, model: &Model, motion: &[LinkMotion], dt: f64, margin: Margin) {
        std::mem::swap(&mut self.of_trees, &mut self.before);
        self.of_trees.clear();
        self.ways.clear();
        match margin {
            Margin::Same(margin) => {
                self.of_trees.resize(model.trees().len(), margin);
                self.largest = margin;
            }
            Margin::OfHits(part) => {
                self.of_trees.resize(model.trees().len(), 0.0);
                self.ways.resize(model.trees().len(), NO_WAY);
                self.part = part;
                for (link, motion) in model.links().iter().zip(motion) {
                    let (own, way) = (&mut self.of_trees[link.tree], motion.linear * dt);
                    *own = own.max(way.length_squared());
                    self.ways[link.tree] = joined(self.ways[link.tree], [way; 2]);
                }
                self.of_trees.iter_mut().for_each(|own| *own = part * own.sqrt());
                self.largest = self.of_trees.iter().copied().fold(0.0, f64::max);
            }
        }
    }

    /// Leaves the margins as they are for the next call.
    pub fn keep(&mut self) {
        self.before.clone_from(&self.of_trees);
    }

    /// True if a tree has the margin of the call before, to the bit.
    pub fn is_kept(&self, tree: usize) -> bool {
        self.before.get(tree).is_some_and(|before| before.to_bits() == self.of_trees[tree].to_bits())
    }

    /// The margin of two geoms on these trees, or in the world (m).
    pub fn of(&self, trees: [Option<usize>; 2]) -> f64 {
        let [a, b] = trees.map(|tree| tree.map_or(0.0, |tree| self.of_trees[tree]));
        a.max(b)
    }

    /// Lets trees that may meet, or are tied together, share the larger margin, from the fastest on. `bounds` have the largest margin, `tree` is
    /// that of a geom, and `size` that of the smallest one (m).
    pub fn share(
        &mut self,
        model: &Model,
        (broad, count): (&Broad, usize),
        bounds: &[Bounds],
        tree: impl Fn(usize) -> Option<usize>,
        size: f64,
    ) {
        let trees = |k: usize| {
            let (i, j) = broad.pair(k);
            tree(i).zip(tree(j)).filter(|(a, b)| a != b)
        };
        let n = self.of_trees.len();
        let Self { of_trees, ways, at_world, members, part, order, open, pairs, starts, done, largest, .. } = self;
        // Where a link hardly moves, velocities differ by the largest of them.
        let alike =
            *largest > SMALL * size && of_trees.iter().zip(&*ways).any(|(margin, way)| *part * spread(*way) < *margin);
        if !alike && of_trees.iter().all(|margin| margin == largest) {
            return;
        }
        at_world.clear();
        at_world.resize(n, false);
        if alike {
            for (i, j) in (0..count).map(|k| broad.pair(k)) {
                if let (Some(tree), None) | (None, Some(tree)) = (tree(i), tree(j)) {
                    at_world[tree] = at_world[tree] || bounds[i].meets(&bounds[j]);
                }
            }
        }
        // The pairs of each tree, counted and then filled from their ends.
        starts.clear();
        starts.resize(n + 1, 0);
        (0..count).filter_map(trees).for_each(|(a, b)| {
            starts[a] += 1;
            starts[b] += 1;
        });
        let mut end = 0;
        for start in starts.iter_mut() {
            end += *start;
            *start = end;
        }
        pairs.clear();
        pairs.resize(end, 0);
        for k in 0..count {
            for tree in trees(k).into_iter().flat_map(|(a, b)| [a, b]) {
                starts[tree] -= 1;
                pairs[starts[tree]] = k as u32;
            }
        }
        done.clear();
        done.resize(n, false);
        order.clear();
        order.extend(0..n);
        order.sort_unstable_by(|&a, &b| of_trees[b].total_cmp(&of_trees[a]).then(a.cmp(&b)));
        for &first in &*order {
            let margin = of_trees[first];
            open.push(first);
            while let Some(at) = open.pop() {
                if std::mem::replace(&mut done[at], true) {
                    continue;
                }
                of_trees[at] = margin;
                members.push(at);
                for (a, b) in model.tied_trees().filter(|(a, b)| *a == at || *b == at) {
                    open.push(if a == at { b } else { a });
                }
                for &k in &pairs[starts[at]..starts[at + 1]] {
                    let Some((a, b)) = trees(k as usize) else { continue };
                    let (other, (i, j)) = (if a == at { b } else { a }, broad.pair(k as usize));
                    if !done[other] && bounds[i].meets_within(&bounds[j], *largest - margin) {
                        open.push(other);
                    }
                }
            }
            if alike && !members.iter().any(|&tree| at_world[tree]) {
                let ways = members.iter().fold(NO_WAY, |all, &tree| joined(all, ways[tree]));
                let margin = margin.min(*part * spread(ways));
                members.iter().for_each(|&tree| of_trees[tree] = margin);
            }
            members.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_the_larger_margin_of_their_trees() {
        let margins = Margins { of_trees: vec![0.1, 0.3], largest: 0.3, ..Margins::default() };
        assert_eq!(margins.of([Some(0), None]), 0.1);
        assert_eq!(margins.of([Some(0), Some(1)]), 0.3);
    }
}
