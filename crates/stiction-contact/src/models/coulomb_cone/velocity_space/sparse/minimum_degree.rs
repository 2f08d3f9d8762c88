//! Minimum degree with approximate external degrees on the quotient graph, and with stages: a block
//! is eliminated only when none of an earlier stage is left.
//!
//! Reference: [Amestoy96]. Here blocks have sizes, so that degrees count velocities. An eliminated
//! block becomes an element, the clique of the blocks it leaves behind; elements inside the new one
//! are absorbed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::Graph;

/// A block that is eliminated, or merged with another one that has the same neighbours.
const GONE: usize = usize::MAX;

/// Finds orders; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct MinimumDegree {
    /// The blocks in their new order.
    pub order: Vec<usize>,
    /// Velocities of each block and of those merged with it; 0 once it is gone.
    size: Vec<usize>,
    degree: Vec<usize>,
    /// Of each block, its neighbours without an element in common, and its elements.
    blocks: Vec<Vec<usize>>,
    elements: Vec<Vec<usize>>,
    /// Blocks of each element, which has the number of the block eliminated; empty if absorbed.
    cliques: Vec<Vec<usize>>,
    /// The next of the blocks merged into one.
    merged: Vec<usize>,
    /// Velocities of each element outside of the newest, valid where `seen` says so.
    outside: Vec<usize>,
    seen: Vec<usize>,
    marks: Vec<usize>,
    mark: usize,
    /// Blocks by stage and degree.
    waiting: BinaryHeap<Reverse<(usize, usize, usize)>>,
    keys: Vec<(usize, usize)>,
}

impl MinimumDegree {
    /// Orders the blocks, those of lower stages first; returns the multiplications and additions of a symmetric factor.
    pub(super) fn find(&mut self, graph: &Graph, stages: &[usize]) -> f64 {
        self.reset(graph);
        let mut flops = 0.0;
        self.waiting.clear();
        self.waiting.extend((0..graph.blocks()).map(|b| Reverse((stages[b], self.degree[b], b))));
        while let Some(Reverse((_, degree, block))) = self.waiting.pop() {
            // A block waits with every degree it ever had; only the last counts.
            if self.size[block] > 0 && self.degree[block] == degree {
                flops += self.eliminate(block, stages);
            }
        }
        flops
    }

    fn reset(&mut self, graph: &Graph) {
        let n = graph.blocks();
        self.order.clear();
        self.size.clone_from(&graph.sizes);
        for lists in [&mut self.blocks, &mut self.elements, &mut self.cliques] {
            lists.resize_with(lists.len().max(n), Vec::new);
            lists[..n].iter_mut().for_each(Vec::clear);
        }
        self.degree.clear();
        for b in 0..n {
            self.blocks[b].extend_from_slice(graph.neighbours(b));
            self.degree.push(graph.neighbours(b).iter().map(|&c| graph.sizes[c]).sum());
        }
        self.merged.clear();
        self.merged.resize(n, GONE);
        for v in [&mut self.outside, &mut self.seen, &mut self.marks] {
            v.clear();
            v.resize(n, 0);
        }
        self.mark = 0;
    }

    /// Eliminates a block, and those that become dense with it; returns the multiplications and additions.
    fn eliminate(&mut self, pivot: usize, stages: &[usize]) -> f64 {
        let mut clique = self.form_clique(pivot);
        let mut columns = self.size[pivot];
        let total: usize = clique.iter().map(|&b| self.size[b]).sum();
        self.push_with_merged(pivot);
        self.size[pivot] = 0;
        self.count_outside(pivot, &clique);
        self.keys.clear();
        let mut left = total;
        for &b in &clique {
            let around = self.update(b, pivot, total);
            if around == 0 && stages[b] == stages[pivot] {
                // Nothing but this clique: its elimination adds no entry.
                columns += self.size[b];
                left -= self.size[b];
                self.push_with_merged(b);
                self.size[b] = 0;
            } else {
                let key = self.blocks[b].iter().chain(&self.elements[b]).sum();
                self.keys.push((key, b));
            }
        }
        clique.retain(|&b| self.size[b] > 0);
        clique.iter().for_each(|&b| self.degree[b] -= total - left);
        self.merge_equal(stages);
        clique.retain(|&b| self.size[b] > 0);
        self.waiting.extend(clique.iter().map(|&b| Reverse((stages[b], self.degree[b], b))));
        self.cliques[pivot] = clique;
        let (columns, left) = (columns as f64, left as f64);
        columns * (left * left + columns * left + columns * columns / 3.0)
    }

    fn push_with_merged(&mut self, block: usize) {
        let mut at = block;
        while at != GONE {
            self.order.push(at);
            at = self.merged[at];
        }
    }

    /// All blocks that share an element with the pivot or are its neighbours; absorbs its elements.
    fn form_clique(&mut self, pivot: usize) -> Vec<usize> {
        self.mark += 1;
        self.marks[pivot] = self.mark;
        let mut clique = std::mem::take(&mut self.cliques[pivot]);
        clique.clear();
        let elements = std::mem::take(&mut self.elements[pivot]);
        let lists = elements.iter().map(|&e| &self.cliques[e]).chain([&self.blocks[pivot]]);
        for &b in lists.flatten() {
            if self.size[b] > 0 && self.marks[b] != self.mark {
                self.marks[b] = self.mark;
                clique.push(b);
            }
        }
        elements.iter().for_each(|&e| self.cliques[e].clear());
        self.elements[pivot] = elements;
        clique
    }

    /// For all elements around the clique: velocities of theirs that are not in it.
    fn count_outside(&mut self, pivot: usize, clique: &[usize]) {
        for &b in clique {
            let (cliques, size) = (&self.cliques, &self.size);
            self.elements[b].retain(|&e| !cliques[e].is_empty());
            for &e in &self.elements[b] {
                if self.seen[e] != self.mark {
                    self.seen[e] = self.mark;
                    self.outside[e] = cliques[e].iter().map(|&c| size[c]).sum();
                }
                self.outside[e] -= size[b];
            }
        }
        self.seen[pivot] = self.mark;
    }

    /// The lists and the degree of a block of the new clique; returns the bound of the velocities
    /// around it that are not in the clique.
    fn update(&mut self, b: usize, pivot: usize, total: usize) -> usize {
        let (outside, marks, mark, size) = (&self.outside, &self.marks, self.mark, &self.size);
        self.elements[b].retain(|&e| outside[e] > 0);
        self.blocks[b].retain(|&c| marks[c] != mark && size[c] > 0);
        let around: usize = self.elements[b].iter().map(|&e| outside[e]).sum::<usize>()
            + self.blocks[b].iter().map(|&c| size[c]).sum::<usize>();
        self.elements[b].push(pivot);
        let inside = total - size[b];
        self.degree[b] = (self.degree[b] + inside).min(around + inside);
        around
    }

    /// Merges blocks of the clique that have the same neighbours and elements: they stay so.
    fn merge_equal(&mut self, stages: &[usize]) {
        self.keys.sort_unstable();
        let mut start = 0;
        while start < self.keys.len() {
            let key = self.keys[start].0;
            let end = start + self.keys[start..].partition_point(|k| k.0 == key);
            for i in start..end {
                let a = self.keys[i].1;
                for j in i + 1..end {
                    let b = self.keys[j].1;
                    let alike = self.size[a] > 0 && self.size[b] > 0 && stages[a] == stages[b];
                    if alike
                        && same_set(&self.blocks[a], &self.blocks[b])
                        && same_set(&self.elements[a], &self.elements[b])
                    {
                        self.degree[a] -= self.size[b];
                        self.size[a] += std::mem::take(&mut self.size[b]);
                        let mut last = a;
                        while self.merged[last] != GONE {
                            last = self.merged[last];
                        }
                        self.merged[last] = b;
                    }
                }
            }
            start = end;
        }
    }
}

/// True if two short lists without duplicates have the same members.
fn same_set(x: &[usize], y: &[usize]) -> bool {
    x.len() == y.len() && x.iter().all(|a| y.contains(a))
}
