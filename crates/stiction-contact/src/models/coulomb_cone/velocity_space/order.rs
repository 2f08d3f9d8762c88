//! The order of an island's blocks that keeps the envelope of their matrix small: reverse Cuthill–McKee.

/// Finds orders; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    /// The blocks in their new order.
    list: Vec<usize>,
    /// Neighbours of each block, concatenated, with their starts.
    starts: Vec<usize>,
    neighbours: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    seen: Vec<bool>,
    level: Vec<usize>,
}

impl Order {
    /// Orders `blocks` blocks; `groups` gives the blocks that some rows tie together.
    pub fn find<'a>(&mut self, blocks: usize, groups: impl Iterator<Item = &'a [usize]>) -> &[usize] {
        self.collect_neighbours(blocks, groups);
        self.list.clear();
        self.seen.clear();
        self.seen.resize(blocks, false);
        while let Some(start) = (0..blocks).filter(|&b| !self.seen[b]).min_by_key(|&b| self.degree(b)) {
            let far = self.farthest(start);
            self.walk(far);
        }
        self.list.reverse();
        &self.list
    }

    /// The blocks in the order found last.
    pub fn list(&self) -> &[usize] {
        &self.list
    }

    fn degree(&self, block: usize) -> usize {
        self.starts[block + 1] - self.starts[block]
    }

    fn collect_neighbours<'a>(&mut self, blocks: usize, groups: impl Iterator<Item = &'a [usize]>) {
        self.pairs.clear();
        for group in groups {
            for &a in group {
                self.pairs.extend(group.iter().filter(|&&b| b != a).map(|&b| (a, b)));
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.starts.clear();
        self.starts.resize(blocks + 1, 0);
        self.pairs.iter().for_each(|(a, _)| self.starts[a + 1] += 1);
        for b in 0..blocks {
            self.starts[b + 1] += self.starts[b];
        }
        self.neighbours.clear();
        self.neighbours.extend(self.pairs.iter().map(|(_, b)| *b));
    }

    /// A block at the end of a longest walk from `start`: walks from there are long and thin.
    fn farthest(&mut self, start: usize) -> usize {
        let mut at = start;
        // Two walks are as good as more in practice.
        for _ in 0..2 {
            let before = self.list.len();
            self.walk(at);
            at = self.list[self.list.len() - 1];
            for &b in &self.list[before..] {
                self.seen[b] = false;
            }
            self.list.truncate(before);
        }
        at
    }

    /// Appends all blocks connected with `start`, level by level, those with few neighbours first.
    fn walk(&mut self, start: usize) {
        let mut next = self.list.len();
        self.list.push(start);
        self.seen[start] = true;
        while next < self.list.len() {
            let block = self.list[next];
            next += 1;
            self.level.clear();
            for &b in &self.neighbours[self.starts[block]..self.starts[block + 1]] {
                if !self.seen[b] {
                    self.seen[b] = true;
                    self.level.push(b);
                }
            }
            let starts = &self.starts;
            self.level.sort_unstable_by_key(|&b| (starts[b + 1] - starts[b], b));
            self.list.extend_from_slice(&self.level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_in_any_numbering_becomes_a_band() {
        let chain = [3, 0, 4, 1, 2, 6, 5];
        let pairs: Vec<[usize; 2]> = chain.windows(2).map(|w| [w[0], w[1]]).collect();
        let mut order = Order::default();
        let list = order.find(8, pairs.iter().map(|p| &p[..]).chain([&[7][..]])).to_vec();
        assert_eq!(list.len(), 8);
        let place = |b: usize| list.iter().position(|x| *x == b).unwrap();
        assert!(pairs.iter().all(|p| place(p[0]).abs_diff(place(p[1])) == 1), "{list:?}");
    }
}
