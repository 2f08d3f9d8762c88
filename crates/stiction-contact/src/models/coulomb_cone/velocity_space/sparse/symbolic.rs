//! The symbolic factor: which columns are eliminated together, which rows they have, and where it
//! all lies.
//!
//! Columns of consecutive blocks with the same rows below form a supernode. It has a dense panel,
//! its columns, and a dense update, what it takes from the rows and columns below, which its parent
//! in the elimination tree adds to its own panel and update: the multifrontal method [Duff83]. Where
//! that costs more than zeros in a panel, the two become one.

use super::graph::Graph;
use super::panel::{Shape, TILE};

const NONE: usize = usize::MAX;

/// Multiplications and additions that cost as much as adding one number of an update to the parent, and as one more
/// supernode: measured on dolls and on a tower of planks, 6 % less time per factor than without
/// [`Analysis::merge_supernodes`]; twice as much gains nothing more.
const UPDATE_COST: f64 = 3.0;
const SUPERNODE_COST: f64 = 400.0;

/// Rows of length `len` that follow each other both here and there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// First row among the supernode's own: rows below its columns, from 0.
    pub from: usize,
    /// First velocity, or first row in the parent's panel.
    pub to: usize,
    /// Number of rows.
    pub len: usize,
}

/// Columns that are eliminated together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Supernode {
    /// First velocity.
    pub first: usize,
    /// Number of columns.
    pub columns: usize,
    /// Rows below the columns.
    pub below: usize,
    /// Numbers per column of the panel: rows, and zeros so that tiles end inside.
    pub stride: usize,
    /// Where its panel starts.
    pub panel: usize,
    /// Where its update starts, and numbers per column there.
    pub update: usize,
    /// Numbers per column of the update.
    pub update_stride: usize,
    /// Its rows below: runs of velocities.
    pub rows: (usize, usize),
    /// The same as runs of rows of the parent; those that are its columns come first.
    pub links: (usize, usize),
    /// Its children.
    pub children: (usize, usize),
}

impl Supernode {
    /// Sizes of its panel and update.
    pub(super) fn shape(&self) -> Shape {
        Shape { columns: self.columns, below: self.below, stride: self.stride, update_stride: self.update_stride }
    }
}

/// The symbolic factor of a graph in an order.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbolic {
    /// Blocks in the order of elimination.
    pub order: Vec<usize>,
    /// Supernodes, children before parents.
    pub supernodes: Vec<Supernode>,
    /// Runs of all supernodes.
    pub rows: Vec<Run>,
    /// Links of all supernodes.
    pub links: Vec<Run>,
    /// Children of all supernodes.
    pub children: Vec<usize>,
    /// The supernode of each velocity.
    pub owner: Vec<usize>,
    /// Numbers in all panels.
    pub panels: usize,
    /// Numbers in the updates that are there at the same time.
    pub updates: usize,
    /// Most numbers per column of a panel.
    pub tallest: usize,
    /// Multiplications and additions of a symmetric factor.
    pub flops: f64,
}

/// Finds symbolic factors; keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Analysis {
    place: Vec<usize>,
    /// First velocity of each block in the order, and the end.
    at: Vec<usize>,
    parent: Vec<usize>,
    ancestor: Vec<usize>,
    /// Rows below the diagonal of each column of blocks: ascending places.
    starts: Vec<usize>,
    structure: Vec<usize>,
    marks: Vec<usize>,
    postorder: Vec<usize>,
    first_child: Vec<usize>,
    next_sibling: Vec<usize>,
    /// First and last + 1 column of blocks of each supernode.
    parts: Vec<(usize, usize)>,
    /// Updates that are alive, by start.
    alive: Vec<(usize, usize)>,
}

impl Analysis {
    /// The symbolic factor of `graph`, its blocks eliminated as `order` says up to equivalent
    /// orders.
    pub(super) fn run(&mut self, graph: &Graph, order: &[usize], out: &mut Symbolic) {
        out.order.clear();
        out.order.extend_from_slice(order);
        self.find_places(graph, &out.order);
        self.find_tree(graph, &out.order);
        self.sort_by_tree(&mut out.order);
        self.find_places(graph, &out.order);
        self.find_structure(graph, &out.order);
        self.find_supernodes();
        self.merge_supernodes();
        self.lay_out(out);
        self.link(out);
        self.place_updates(out);
    }

    fn find_places(&mut self, graph: &Graph, order: &[usize]) {
        self.place.clear();
        self.place.resize(order.len(), 0);
        self.at.clear();
        let mut at = 0;
        for (k, &b) in order.iter().enumerate() {
            self.place[b] = k;
            self.at.push(at);
            at += graph.sizes[b];
        }
        self.at.push(at);
    }

    /// The elimination tree: the parent of a column is the first row below its diagonal.
    fn find_tree(&mut self, graph: &Graph, order: &[usize]) {
        self.parent.clear();
        self.parent.resize(order.len(), NONE);
        self.ancestor.clear();
        self.ancestor.resize(order.len(), NONE);
        for (k, &b) in order.iter().enumerate() {
            for &c in graph.neighbours(b) {
                let mut at = self.place[c];
                // Up the tree as known, with shorter ways for later.
                while at < k {
                    let next = std::mem::replace(&mut self.ancestor[at], k);
                    if next == NONE {
                        self.parent[at] = k;
                        break;
                    }
                    at = next;
                }
            }
        }
    }

    /// Sorts blocks so that a subtree is eliminated without a break.
    fn sort_by_tree(&mut self, order: &mut [usize]) {
        let n = order.len();
        for list in [&mut self.first_child, &mut self.next_sibling] {
            list.clear();
            list.resize(n + 1, NONE);
        }
        for k in (0..n).rev() {
            let parent = self.parent[k].min(n);
            self.next_sibling[k] = self.first_child[parent];
            self.first_child[parent] = k;
        }
        self.postorder.clear();
        let mut at = n;
        loop {
            while self.first_child[at] != NONE {
                at = self.first_child[at];
            }
            while at != n && self.next_sibling[at] == NONE {
                self.postorder.push(order[at]);
                at = self.parent[at].min(n);
            }
            if at == n {
                break;
            }
            self.postorder.push(order[at]);
            at = self.next_sibling[at];
        }
        order.copy_from_slice(&self.postorder);
    }

    /// Rows of every column of blocks: those of the matrix, and those of its children.
    fn find_structure(&mut self, graph: &Graph, order: &[usize]) {
        let n = order.len();
        self.starts.clear();
        self.structure.clear();
        self.marks.clear();
        self.marks.resize(n, NONE);
        self.parent.clear();
        for list in [&mut self.first_child, &mut self.next_sibling] {
            list.clear();
            list.resize(n, NONE);
        }
        for (k, &b) in order.iter().enumerate() {
            let start = self.structure.len();
            self.starts.push(start);
            self.marks[k] = k;
            for &c in graph.neighbours(b) {
                let row = self.place[c];
                if row > k {
                    self.marks[row] = k;
                    self.structure.push(row);
                }
            }
            let mut child = self.first_child[k];
            while child != NONE {
                for at in self.starts[child]..self.starts[child + 1] {
                    let row = self.structure[at];
                    if self.marks[row] != k {
                        self.marks[row] = k;
                        self.structure.push(row);
                    }
                }
                child = self.next_sibling[child];
            }
            self.structure[start..].sort_unstable();
            let parent = self.structure.get(start).copied().unwrap_or(NONE);
            self.parent.push(parent);
            if parent != NONE {
                self.next_sibling[k] = self.first_child[parent];
                self.first_child[parent] = k;
            }
        }
        self.starts.push(self.structure.len());
    }

    /// Joins a column of blocks with those before it if these have the same rows.
    fn find_supernodes(&mut self) {
        self.parts.clear();
        for k in 0..self.parent.len() {
            let rows = self.starts[k + 1] - self.starts[k];
            match self.parts.last_mut() {
                Some(part) if self.parent[k - 1] == k && self.starts[k] - self.starts[k - 1] == rows + 1 => {
                    part.1 = k + 1
                }
                _ => self.parts.push((k, k + 1)),
            }
        }
    }

    /// Joins a supernode with the one before it, its child, where the zeros that this adds to the panel cost less than the child's update.
    fn merge_supernodes(&mut self) {
        let width = |(start, end): (usize, usize)| self.at[end] - self.at[start];
        let below = |(_, end): (usize, usize)| {
            let rows = &self.structure[self.starts[end - 1]..self.starts[end]];
            rows.iter().map(|&row| width((row, row + 1))).sum::<usize>()
        };
        let mut count = 0;
        for k in 0..self.parts.len() {
            let mut part = self.parts[k];
            while count > 0 {
                let child = self.parts[count - 1];
                let [own, last] = [part, child].map(|p| (width(p), below(p)));
                let apart = flops(own.0, own.1) + flops(last.0, last.1);
                let update = UPDATE_COST * (last.1 * last.1) as f64 + SUPERNODE_COST;
                let is_child = (part.0..part.1).contains(&self.parent[child.1 - 1]);
                if !is_child || flops(last.0 + own.0, own.1) > apart + update {
                    break;
                }
                part.0 = child.0;
                count -= 1;
            }
            self.parts[count] = part;
            count += 1;
        }
        self.parts.truncate(count);
    }

    /// Places of panels, and the rows of every supernode.
    fn lay_out(&mut self, out: &mut Symbolic) {
        out.supernodes.clear();
        out.rows.clear();
        out.owner.clear();
        (out.panels, out.tallest, out.flops) = (0, 0, 0.0);
        for (s, &(start, end)) in self.parts.iter().enumerate() {
            let first_run = out.rows.len();
            let mut below = 0;
            for &row in &self.structure[self.starts[end - 1]..self.starts[end]] {
                let (to, len) = (self.at[row], self.at[row + 1] - self.at[row]);
                push_run(&mut out.rows, first_run, Run { from: below, to, len });
                below += len;
            }
            let columns = self.at[end] - self.at[start];
            let stride = panel_stride(columns + below);
            out.supernodes.push(Supernode {
                first: self.at[start],
                columns,
                below,
                stride,
                panel: out.panels,
                update_stride: below.next_multiple_of(TILE),
                rows: (first_run, out.rows.len()),
                ..Supernode::default()
            });
            out.owner.resize(out.owner.len() + columns, s);
            out.panels += columns * stride;
            out.tallest = out.tallest.max(stride);
            out.flops += flops(columns, below);
        }
    }

    /// Children, and where the rows of a supernode are in its parent.
    fn link(&mut self, out: &mut Symbolic) {
        out.links.clear();
        out.children.clear();
        let count = out.supernodes.len();
        for list in [&mut self.first_child, &mut self.next_sibling] {
            list.clear();
            list.resize(count, NONE);
        }
        for s in 0..count {
            let first_child = out.children.len();
            let mut child = self.first_child[s];
            while child != NONE {
                out.children.push(child);
                child = self.next_sibling[child];
            }
            out.supernodes[s].children = (first_child, out.children.len());
            let node = out.supernodes[s];
            let first_link = out.links.len();
            if node.below > 0 {
                let p = out.owner[out.rows[node.rows.0].to];
                self.next_sibling[s] = self.first_child[p];
                self.first_child[p] = s;
                link_rows(&node, &out.supernodes[p], &out.rows, &mut out.links);
            }
            out.supernodes[s].links = (first_link, out.links.len());
        }
    }

    /// Gives every update the first place that is free while it is needed.
    fn place_updates(&mut self, out: &mut Symbolic) {
        self.alive.clear();
        out.updates = 0;
        for s in 0..out.supernodes.len() {
            let size = out.supernodes[s].update_stride.pow(2);
            if size > 0 {
                let (mut at, mut slot) = (0, 0);
                for &(start, end) in &self.alive {
                    if start >= at + size {
                        break;
                    }
                    at = end;
                    slot += 1;
                }
                self.alive.insert(slot, (at, at + size));
                out.supernodes[s].update = at;
                out.updates = out.updates.max(at + size);
            }
            for &child in &out.children[out.supernodes[s].children.0..out.supernodes[s].children.1] {
                let at = out.supernodes[child].update;
                self.alive.retain(|u| u.0 != at);
            }
        }
    }
}

/// Tiles of up to eight rows, four at the end, go over the last row by at most three. Columns a
/// multiple of 512 bytes apart would share few places of a cache.
fn panel_stride(height: usize) -> usize {
    let stride = (height + TILE - 1).next_multiple_of(TILE);
    if stride.is_multiple_of(64) { stride + TILE } else { stride }
}

/// Appends a run, or makes the last one longer.
fn push_run(runs: &mut Vec<Run>, first: usize, run: Run) {
    match runs[first..].last_mut() {
        Some(last) if last.from + last.len == run.from && last.to + last.len == run.to => last.len += run.len,
        _ => runs.push(run),
    }
}

/// Where the rows of `node` are in the panel of its parent.
fn link_rows(node: &Supernode, parent: &Supernode, rows: &[Run], links: &mut Vec<Run>) {
    let first = links.len();
    let above = &rows[parent.rows.0..parent.rows.1];
    let end = parent.first + parent.columns;
    let mut k = 0;
    for run in &rows[node.rows.0..node.rows.1] {
        let mut done = 0;
        while done < run.len {
            let (from, velocity) = (run.from + done, run.to + done);
            let (to, room) = if velocity < end {
                (velocity - parent.first, end - velocity)
            } else {
                while above[k].to + above[k].len <= velocity {
                    k += 1;
                }
                let inside = velocity - above[k].to;
                (parent.columns + above[k].from + inside, above[k].len - inside)
            };
            let len = room.min(run.len - done);
            // The parent's columns and the rows below them go to different places.
            let own = if to == parent.columns { links.len() } else { first };
            push_run(links, own, Run { from, to, len });
            done += len;
        }
    }
}

/// Multiplications and additions of a symmetric factor of a panel and its update: the sum of the squares of the
/// heights.
fn flops(columns: usize, below: usize) -> f64 {
    let (c, b) = (columns as f64, below as f64);
    c * b * b + c * (c + 1.0) * b + c * (c + 1.0) * (2.0 * c + 1.0) / 6.0
}
