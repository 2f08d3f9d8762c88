//! The graph of an island: its blocks of velocities, and which of them some rows tie together.

/// Blocks with their sizes, and the neighbours of each in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Graph {
    /// Velocities of each block.
    pub sizes: Vec<usize>,
    /// Where the neighbours of each block start, blocks + 1.
    starts: Vec<usize>,
    neighbours: Vec<usize>,
}

impl Graph {
    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.sizes.len()
    }

    /// The neighbours of a block, ascending.
    pub(super) fn neighbours(&self, block: usize) -> &[usize] {
        &self.neighbours[self.starts[block]..self.starts[block + 1]]
    }

    /// Takes blocks of these sizes; all blocks of a group are tied to each other.
    pub(super) fn load<'a>(
        &mut self,
        sizes: impl Iterator<Item = usize>,
        groups: impl Iterator<Item = &'a [usize]> + Clone,
    ) {
        self.sizes.clear();
        self.sizes.extend(sizes);
        let blocks = self.sizes.len();
        self.starts.clear();
        self.starts.resize(blocks + 1, 0);
        for group in groups.clone() {
            group.iter().for_each(|&b| self.starts[b] += group.len() - 1);
        }
        // From counts to ends; filling from the back turns them into starts.
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.neighbours.clear();
        self.neighbours.resize(end, 0);
        for group in groups {
            for (k, &a) in group.iter().enumerate() {
                for (_, &b) in group.iter().enumerate().filter(|(l, _)| *l != k) {
                    self.starts[a] -= 1;
                    self.neighbours[self.starts[a]] = b;
                }
            }
        }
        self.remove_duplicates();
    }

    /// Forgets all blocks.
    pub(super) fn clear(&mut self) {
        self.sizes.clear();
        self.neighbours.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    /// Appends a neighbour of the block that is pushed next; returns the place of this tie among
    /// all.
    pub(super) fn push_neighbour(&mut self, neighbour: usize) -> usize {
        self.neighbours.push(neighbour);
        self.neighbours.len() - 1
    }

    /// Appends a block.
    pub(super) fn push_block(&mut self, size: usize) {
        self.sizes.push(size);
        self.starts.push(self.neighbours.len());
    }

    /// Where the ties of a block are among all.
    pub(super) fn ties(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    fn remove_duplicates(&mut self) {
        let (mut from, mut to) = (0, 0);
        for block in 0..self.blocks() {
            let end = self.starts[block + 1];
            self.neighbours[from..end].sort_unstable();
            self.starts[block] = to;
            for k in from..end {
                let b = self.neighbours[k];
                if to == self.starts[block] || self.neighbours[to - 1] != b {
                    self.neighbours[to] = b;
                    to += 1;
                }
            }
            from = end;
        }
        if let Some(last) = self.starts.last_mut() {
            *last = to;
        }
        self.neighbours.truncate(to);
    }
}
