//! Nested dissection: separators halve the graph again and again, and are eliminated last.
//!
//! Separators are found on ever coarser graphs, in which neighbours are joined two by two, and
//! improved on the way back [Karypis98].

use super::graph::Graph;
use super::separator::{SEPARATOR, Separator};

/// Sets of at most this many blocks are not dissected: minimum degree is as good there.
const LEAF: usize = 200;
/// Graphs of at most this many blocks are not made coarser.
const COARSEST: usize = 60;
/// A graph is not made coarser if more than this share of its blocks is left.
const LEAST_REDUCTION: f64 = 0.9;
/// Walks from which the coarsest separator is found.
const WALKS: usize = 8;

/// Walks on the graph itself: layers of a regular heap are small separators that coarse graphs do
/// not have.
const FINE_WALKS: usize = 2;

const NONE: usize = usize::MAX;

/// A graph and what it becomes when it is made coarser.
#[derive(Debug, Clone, Default)]
struct Level {
    graph: Graph,
    /// Number of ties that are joined in each.
    ties: Vec<usize>,
    /// The block of the next graph that each belongs to.
    map: Vec<usize>,
}

/// Finds the stages of elimination; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Dissection {
    stages: Vec<usize>,
    stage: usize,
    levels: Vec<Level>,
    separator: Separator,
    part: Vec<u8>,
    /// Number of each block within the present set.
    local: Vec<usize>,
    marks: Vec<usize>,
    sorted: Vec<usize>,
}

impl Dissection {
    /// The stage of each block: those of a separator come after all that it separates.
    pub(super) fn find(&mut self, graph: &Graph) -> &[usize] {
        self.stages.clear();
        self.stages.resize(graph.blocks(), 0);
        self.local.clear();
        self.local.resize(graph.blocks(), NONE);
        self.stage = 0;
        let mut blocks: Vec<usize> = (0..graph.blocks()).collect();
        self.dissect(graph, &mut blocks);
        &self.stages
    }

    /// Gives a set of blocks their stages; sorts it.
    fn dissect(&mut self, graph: &Graph, blocks: &mut [usize]) {
        stiction_lcp::interrupt::check();
        let mut rest = &mut blocks[..];
        if rest.len() > LEAF && self.separate(graph, rest) {
            let [first, second] = self.sort_by_part(rest);
            let (side, others) = rest.split_at_mut(first);
            self.dissect(graph, side);
            let (side, others) = others.split_at_mut(second);
            self.dissect(graph, side);
            rest = others;
        }
        rest.iter().for_each(|&b| self.stages[b] = self.stage);
        self.stage += 1;
    }

    /// Sorts blocks by their parts, as they are in each; returns the sizes of the sides.
    fn sort_by_part(&mut self, blocks: &mut [usize]) -> [usize; 2] {
        self.sorted.clear();
        let mut ends = [0; 3];
        for part in 0..=SEPARATOR {
            let of_part = blocks.iter().zip(&self.part).filter(|(_, p)| **p == part);
            self.sorted.extend(of_part.map(|(b, _)| *b));
            ends[usize::from(part)] = self.sorted.len();
        }
        blocks.copy_from_slice(&self.sorted);
        [ends[0], ends[1] - ends[0]]
    }

    /// Finds the parts of a set; false if it cannot be separated.
    fn separate(&mut self, graph: &Graph, blocks: &[usize]) -> bool {
        self.levels.resize_with(self.levels.len().max(1), Level::default);
        self.induce(graph, blocks);
        let mut depth = 0;
        while self.levels[depth].graph.blocks() > COARSEST && self.coarsen(depth) {
            depth += 1;
        }
        let mut best = f64::INFINITY;
        self.try_walks(depth, WALKS, &mut best);
        // Where everything is tied to everything there is no separator that could be refined.
        let found = best < f64::INFINITY;
        for k in (0..depth).rev().filter(|_| found) {
            let level = &self.levels[k];
            self.separator.refine(&level.graph, &level.map, &self.part);
            self.part.clone_from(&self.separator.part);
            best = self.separator.score();
        }
        if depth > 0 {
            self.try_walks(0, FINE_WALKS, &mut best);
        }
        best < f64::INFINITY
    }

    /// Takes the parts of the best of some separators if it is better than what there is.
    fn try_walks(&mut self, depth: usize, walks: usize, best: &mut f64) {
        let graph = &self.levels[depth].graph;
        for k in 0..walks {
            self.separator.split_by_walk(graph, k * graph.blocks() / walks);
            if self.separator.score() < *best {
                *best = self.separator.score();
                self.part.clone_from(&self.separator.part);
            }
        }
    }

    /// The first level: the graph of a set.
    fn induce(&mut self, graph: &Graph, blocks: &[usize]) {
        let level = &mut self.levels[0];
        blocks.iter().enumerate().for_each(|(k, &b)| self.local[b] = k);
        level.graph.clear();
        level.ties.clear();
        for &b in blocks {
            for &c in graph.neighbours(b).iter().filter(|&&c| self.local[c] != NONE) {
                level.graph.push_neighbour(self.local[c]);
                level.ties.push(1);
            }
            level.graph.push_block(graph.sizes[b]);
        }
        blocks.iter().for_each(|&b| self.local[b] = NONE);
    }

    /// The next level: blocks joined with the neighbour they have most ties with. False if few can
    /// be joined.
    fn coarsen(&mut self, depth: usize) -> bool {
        self.levels.resize_with(self.levels.len().max(depth + 2), Level::default);
        let (fine, coarse) = self.levels.split_at_mut(depth + 1);
        let (fine, coarse) = (&mut fine[depth], &mut coarse[0]);
        let n = fine.graph.blocks();
        self.sorted.clear();
        self.sorted.extend(0..n);
        self.sorted.sort_unstable_by_key(|&v| (fine.graph.neighbours(v).len(), v));
        fine.map.clear();
        fine.map.resize(n, NONE);
        // Pairs, by their first block.
        self.marks.clear();
        for &v in &self.sorted {
            if fine.map[v] != NONE {
                continue;
            }
            let ties = fine.ties[fine.graph.ties(v)].iter().zip(fine.graph.neighbours(v));
            let free = ties.filter(|(_, u)| fine.map[**u] == NONE);
            let mate = free.min_by_key(|(t, u)| (std::cmp::Reverse(**t), fine.graph.sizes[**u], **u));
            let number = self.marks.len() / 2;
            let mate = mate.map_or(v, |(_, u)| *u);
            (fine.map[v], fine.map[mate]) = (number, number);
            self.marks.extend([v, mate]);
        }
        let count = self.marks.len() / 2;
        if count as f64 > LEAST_REDUCTION * n as f64 {
            return false;
        }
        join(fine, &self.marks, coarse, &mut self.sorted);
        true
    }
}

/// The coarser graph, given the pairs of blocks that are joined (twice the same where one stays
/// alone).
fn join(fine: &Level, pairs: &[usize], coarse: &mut Level, places: &mut Vec<usize>) {
    let count = pairs.len() / 2;
    coarse.graph.clear();
    coarse.ties.clear();
    // Where the tie to each block is, if it is one of the block at hand.
    places.clear();
    places.resize(count, 0);
    for (k, pair) in pairs.chunks_exact(2).enumerate() {
        let first = coarse.ties.len();
        let members = if pair[0] == pair[1] { &pair[..1] } else { pair };
        for &v in members {
            for (&tie, &u) in fine.ties[fine.graph.ties(v)].iter().zip(fine.graph.neighbours(v)) {
                let other = fine.map[u];
                if other == k {
                    continue;
                }
                // Places are stored from 1 on; older ones are of earlier blocks.
                if places[other] > first {
                    coarse.ties[places[other] - 1] += tie;
                } else {
                    places[other] = coarse.graph.push_neighbour(other) + 1;
                    coarse.ties.push(tie);
                }
            }
        }
        coarse.graph.push_block(members.iter().map(|&v| fine.graph.sizes[v]).sum());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_all_tied_together_is_one_stage_whatever_was_dissected_before() {
        let complete = |count: usize| {
            let all: Vec<usize> = (0..count).collect();
            let mut graph = Graph::default();
            graph.load(all.iter().map(|_| 3), std::iter::once(&all[..]));
            graph
        };
        let mut path = Graph::default();
        let ties: Vec<[usize; 2]> = (1..400).map(|i| [i - 1, i]).collect();
        path.load((0..400).map(|_| 3), ties.iter().map(|tie| &tie[..]));
        let mut dissection = Dissection::default();
        for count in [LEAF + 50, 3 * LEAF] {
            assert!(dissection.find(&complete(count)).iter().all(|stage| *stage == 0), "{count}");
            assert!(dissection.find(&path).iter().any(|stage| *stage > 0));
        }
    }
}
