//! Separators: sets of blocks without which a graph falls into two sides of about the same size.
//!
//! A separator starts as the border of what a walk by breadth meets first, and is improved by moves
//! of single blocks, downhill or not, back to the best state met [Fiduccia82; for separators of
//! vertices, Ashcraft97].

use super::graph::Graph;

/// Passes of improvement at most.
const PASSES: usize = 6;
/// Changes of a pass without a better state, at which it ends.
const PATIENCE: usize = 80;
/// Largest share of the velocities on one side.
const LARGEST_SHARE: f64 = 0.7;
/// The parts 0 and 1 are the sides, and this is the separator.
pub(super) const SEPARATOR: u8 = 2;
/// Not reached yet by a walk.
const UNSEEN: u8 = 3;

/// A separator and its two sides.
#[derive(Debug, Clone, Default)]
pub(super) struct Separator {
    /// The part of each block.
    pub part: Vec<u8>,
    /// Velocities on both sides and in the separator.
    weight: [usize; 3],
    /// By how many velocities the separator shrinks if a block of it moves to a side.
    gain: Vec<[isize; 2]>,
    members: Vec<usize>,
    /// Where each block of the separator is in `members`.
    at: Vec<usize>,
    /// Blocks that have moved in this pass.
    locked: Vec<bool>,
    /// Changes of this pass, with the part left.
    changes: Vec<(usize, u8)>,
    walk: Vec<usize>,
}

impl Separator {
    /// Size of the separator beside the product of the sides: small and in the middle is good.
    /// Infinite if a side is empty.
    pub(super) fn score(&self) -> f64 {
        let [a, b, s] = self.weight.map(|w| w as f64);
        if a == 0.0 || b == 0.0 { f64::INFINITY } else { s / (a * b) }
    }

    /// The border of the first half of a walk from the far end of one from `start`.
    pub(super) fn split_by_walk(&mut self, graph: &Graph, start: usize) {
        self.walk_from(graph, start);
        let far = self.walk[self.walk.len() - 1];
        self.walk_from(graph, far);
        let half = graph.sizes.iter().sum::<usize>() / 2;
        let mut sum = 0;
        for &v in &self.walk {
            self.part[v] = if sum < half { 0 } else { 1 };
            sum += graph.sizes[v];
        }
        for &v in &self.walk {
            if self.part[v] == 1 && graph.neighbours(v).iter().any(|&u| self.part[u] == 0) {
                self.part[v] = SEPARATOR;
            }
        }
        self.improve(graph);
    }

    /// The separator of a coarser graph, of which `map` gives the blocks.
    pub(super) fn refine(&mut self, graph: &Graph, map: &[usize], coarse: &[u8]) {
        self.part.clear();
        self.part.extend(map.iter().map(|&c| coarse[c]));
        self.improve(graph);
    }

    /// The blocks in the order of a walk by breadth, over all components.
    fn walk_from(&mut self, graph: &Graph, start: usize) {
        self.part.clear();
        self.part.resize(graph.blocks(), UNSEEN);
        self.walk.clear();
        let mut next = 0;
        for v in std::iter::once(start).chain(0..graph.blocks()) {
            if self.part[v] != UNSEEN {
                continue;
            }
            self.part[v] = 0;
            self.walk.push(v);
            while next < self.walk.len() {
                for &u in graph.neighbours(self.walk[next]) {
                    if self.part[u] == UNSEEN {
                        self.part[u] = 0;
                        self.walk.push(u);
                    }
                }
                next += 1;
            }
        }
    }

    fn improve(&mut self, graph: &Graph) {
        let n = graph.blocks();
        self.weight = [0; 3];
        self.members.clear();
        self.gain.resize(self.gain.len().max(n), [0; 2]);
        self.at.resize(self.at.len().max(n), 0);
        self.locked.resize(self.locked.len().max(n), false);
        for v in 0..n {
            self.weight[usize::from(self.part[v])] += graph.sizes[v];
            if self.part[v] == SEPARATOR {
                self.at[v] = self.members.len();
                self.members.push(v);
            }
        }
        for _ in 0..PASSES {
            if !self.pass(graph) {
                break;
            }
        }
    }

    /// Moves blocks, the best first, each once; ends in the best state met. True if that is better.
    fn pass(&mut self, graph: &Graph) -> bool {
        for k in 0..self.members.len() {
            self.compute_gain(graph, self.members[k]);
        }
        let most = (LARGEST_SHARE * self.weight.iter().sum::<usize>() as f64) as usize;
        let start = self.score();
        let (mut best, mut length) = (start, 0);
        self.changes.clear();
        while self.changes.len() < length + PATIENCE {
            let Some((v, side)) = self.choose(graph, most) else { break };
            self.move_to(graph, v, side);
            let score = self.score();
            if score < best {
                (best, length) = (score, self.changes.len());
            }
        }
        for k in (0..self.changes.len()).rev() {
            let (v, part) = self.changes[k];
            self.locked[v] = false;
            if k >= length {
                self.set(graph, v, part);
            }
        }
        best < start
    }

    fn compute_gain(&mut self, graph: &Graph, v: usize) {
        let mut gain = [graph.sizes[v] as isize; 2];
        for &u in graph.neighbours(v).iter().filter(|&&u| self.part[u] != SEPARATOR) {
            gain[usize::from(1 - self.part[u])] -= graph.sizes[u] as isize;
        }
        self.gain[v] = gain;
    }

    /// The best move of a block that has not moved yet: largest gain, then to the lighter side.
    fn choose(&self, graph: &Graph, most: usize) -> Option<(usize, u8)> {
        let mut best = ((isize::MIN, false), None);
        let lighter = u8::from(self.weight[1] < self.weight[0]);
        for &v in self.members.iter().filter(|&&v| !self.locked[v]) {
            for side in 0..2 {
                let key = (self.gain[v][usize::from(side)], side == lighter);
                if key > best.0 && self.weight[usize::from(side)] + graph.sizes[v] <= most {
                    best = (key, Some((v, side)));
                }
            }
        }
        best.1
    }

    /// Moves a block from the separator to a side; its neighbours on the other side take its place.
    fn move_to(&mut self, graph: &Graph, v: usize, side: u8) {
        let (to, other) = (usize::from(side), usize::from(1 - side));
        self.locked[v] = true;
        self.change(graph, v, side);
        for &u in graph.neighbours(v) {
            if self.part[u] == SEPARATOR {
                self.gain[u][other] -= graph.sizes[v] as isize;
            } else if usize::from(self.part[u]) == other {
                self.change(graph, u, SEPARATOR);
                for &t in graph.neighbours(u) {
                    if self.part[t] == SEPARATOR {
                        self.gain[t][to] += graph.sizes[u] as isize;
                    }
                }
                self.compute_gain(graph, u);
            }
        }
    }

    fn change(&mut self, graph: &Graph, v: usize, part: u8) {
        self.changes.push((v, self.part[v]));
        self.set(graph, v, part);
    }

    fn set(&mut self, graph: &Graph, v: usize, part: u8) {
        let old = std::mem::replace(&mut self.part[v], part);
        self.weight[usize::from(old)] -= graph.sizes[v];
        self.weight[usize::from(part)] += graph.sizes[v];
        if old == SEPARATOR {
            self.members.swap_remove(self.at[v]);
            if let Some(&moved) = self.members.get(self.at[v]) {
                self.at[moved] = self.at[v];
            }
        }
        if part == SEPARATOR {
            self.at[v] = self.members.len();
            self.members.push(v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_apart_and_about_equal() {
        let place = |a: usize, b: usize, c: usize| (a * 10 + b) * 10 + c;
        let (mut groups, mut sizes) = (Vec::new(), Vec::new());
        for (a, b, c) in (0..1000).map(|i| (i / 100, i / 10 % 10, i % 10)) {
            let next = [(a + 1, b, c), (a, b + 1, c), (a, b, c + 1)];
            let inside = next.into_iter().filter(|n| n.0.max(n.1).max(n.2) < 10);
            groups.extend(inside.map(|n| [place(a, b, c), place(n.0, n.1, n.2)]));
            sizes.push(1 + (a + b + c) % 3);
        }
        let mut graph = Graph::default();
        graph.load(sizes.iter().copied(), groups.iter().map(|g| &g[..]));
        let mut separator = Separator::default();
        for start in [0, 444, 999] {
            separator.split_by_walk(&graph, start);
            let part = &separator.part;
            assert!(
                groups.iter().all(|g| part[g[0]] == SEPARATOR || part[g[1]] == SEPARATOR || part[g[0]] == part[g[1]])
            );
            let mut weight = [0; 3];
            part.iter().zip(&sizes).for_each(|(p, s)| weight[usize::from(*p)] += s);
            assert_eq!(weight, separator.weight);
            let total: usize = weight.iter().sum();
            assert!(weight[0].max(weight[1]) as f64 <= LARGEST_SHARE * total as f64, "{weight:?}");
            // A layer has 100 blocks of mean size 2, one across the diagonal 75.
            assert!(weight[2] <= 150, "{weight:?}");
        }
    }
}
