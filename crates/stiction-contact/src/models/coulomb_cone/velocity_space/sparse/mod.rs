//! The matrix of an island, sparse as its graph of bodies: a fill-reducing order, found once per
//! graph, and a factor by supernodes in it.

mod dissection;
mod graph;
mod minimum_degree;
mod ordering;
mod panel;
mod separator;
mod symbolic;
#[cfg(test)]
mod tests;

use super::lanes::axpy;
use graph::Graph;
use ordering::Ordering;
use symbolic::{Analysis, Run, Supernode, Symbolic};

/// Graphs that are looked at for the one asked for: islands come in the same order step after step,
/// so it is most likely the one behind the last.
const SEARCH: usize = 64;
/// Blocks in all graphs that are kept; beyond, all are forgotten.
const MOST_BLOCKS: usize = 16384;

/// A graph and its symbolic factor.
#[derive(Debug, Clone, Default)]
struct Pattern {
    graph: Graph,
    symbolic: Symbolic,
}

/// Where two blocks meet in the panels, or one meets itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    at: usize,
    stride: usize,
}

impl Place {
    /// Where entry `k` of the diagonal of a block on the diagonal is.
    pub(super) fn diagonal(self, k: usize) -> usize {
        self.at + k * (self.stride + 1)
    }
}

/// A square matrix of blocks with a symmetric pattern, then its factor: `L Lᵀ`, or `L U` without
/// pivoting.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockMatrix {
    /// The graphs met last, and which of them is that of this matrix.
    patterns: Vec<Pattern>,
    current: usize,
    graph: Graph,
    ordering: Ordering,
    analysis: Analysis,
    symmetric: bool,
    /// Panels of L and of Uᵀ (none in a symmetric matrix), the diagonal of the factor left out.
    panels: [Vec<f64>; 2],
    /// Panels of L of the part that factors have in common, which is symmetric.
    kept: Vec<f64>,
    updates: [Vec<f64>; 2],
    /// Inverses of the diagonal of L (symmetric) or U, n.
    inverses: Vec<f64>,
    entries: Vec<f64>,
    local: Vec<f64>,
    factors: usize,
}

impl BlockMatrix {
    /// Takes blocks of these sizes, all blocks of a group tied to each other. The order of
    /// elimination and the pattern of the factor depend on that graph only.
    pub(super) fn shape<'a>(
        &mut self,
        sizes: impl Iterator<Item = usize>,
        groups: impl Iterator<Item = &'a [usize]> + Clone,
    ) {
        self.graph.load(sizes, groups);
        let count = self.patterns.len();
        for k in 0..count.min(SEARCH) {
            let at = (self.current + k) % count;
            if self.patterns[at].graph == self.graph {
                self.current = at;
                return;
            }
        }
        if self.patterns.iter().map(|p| p.graph.blocks()).sum::<usize>() + self.graph.blocks() > MOST_BLOCKS {
            self.patterns.clear();
        }
        let mut pattern = Pattern { graph: self.graph.clone(), symbolic: Symbolic::default() };
        let order = self.ordering.find(&self.graph);
        self.analysis.run(&self.graph, order, &mut pattern.symbolic);
        self.current = self.patterns.len();
        self.patterns.push(pattern);
    }

    /// The blocks in the order of their velocities in this matrix.
    pub(super) fn order(&self) -> &[usize] {
        self.patterns.get(self.current).map_or(&[], |p| &p.symbolic.order)
    }

    /// Order of the matrix.
    #[allow(dead_code)] // For tests and benchmarks.
    pub(super) fn n(&self) -> usize {
        self.patterns.get(self.current).map_or(0, |p| p.symbolic.owner.len())
    }

    /// Multiplications and additions of a factor.
    pub(super) fn flops(&self, symmetric: bool) -> f64 {
        let half = self.patterns.get(self.current).map_or(0.0, |p| p.symbolic.flops);
        if symmetric { half } else { 2.0 * half }
    }

    /// Factors computed so far.
    #[allow(dead_code)] // For tests and benchmarks.
    pub(super) fn factors(&self) -> usize {
        self.factors
    }

    /// True if the determinant of the matrix factored last is negative.
    pub(super) fn is_negative(&self) -> bool {
        !self.symmetric && self.inverses.iter().filter(|x| **x < 0.0).count() % 2 == 1
    }

    /// Makes all entries zero.
    #[allow(dead_code)] // For tests and benchmarks.
    pub(super) fn clear(&mut self, symmetric: bool) {
        self.symmetric = symmetric;
        let size = self.patterns.get(self.current).map_or(0, |p| p.symbolic.panels);
        for panels in &mut self.panels {
            panels.clear();
        }
        self.panels[0].resize(size, 0.0);
        if !symmetric {
            self.panels[1].resize(size, 0.0);
        }
    }

    /// Makes the part that factors have in common zero.
    pub(super) fn clear_kept(&mut self) {
        let size = self.patterns.get(self.current).map_or(0, |p| p.symbolic.panels);
        self.kept.clear();
        self.kept.resize(size, 0.0);
    }

    /// Sets a block of the part that factors have in common, and the one that mirrors it: `columns` are those of the block
    /// at (row, col), row ≥ col, one every `stride` numbers.
    pub(super) fn keep(&mut self, row: usize, col: usize, [rows, cols]: [usize; 2], columns: &[f64], stride: usize) {
        let place = self.place(row, col);
        for j in 0..cols {
            let from = if row == col { j } else { 0 };
            let to = place.at + j * place.stride;
            self.kept[to + from..to + rows].copy_from_slice(&columns[j * stride + from..j * stride + rows]);
        }
    }

    /// Starts from the part that factors have in common.
    pub(super) fn take_kept(&mut self, symmetric: bool) {
        self.symmetric = symmetric;
        let halves = if symmetric { 1 } else { 2 };
        self.panels.iter_mut().take(halves).for_each(|panels| panels.clone_from(&self.kept));
    }

    /// Where blocks that begin at these velocities meet.
    pub(super) fn place(&self, a: usize, b: usize) -> Place {
        let Some(Pattern { symbolic, .. }) = self.patterns.get(self.current) else { return Place { at: 0, stride: 0 } };
        let (low, high) = (a.min(b), a.max(b));
        let node = &symbolic.supernodes[symbolic.owner[low]];
        let at = node.panel + (low - node.first) * node.stride + row_in(node, &symbolic.rows, high);
        Place { at, stride: node.stride }
    }

    /// Adds the `rows × cols` numbers `g` (rows of length `stride`) at (row, col): a block, whose
    /// rows and columns are those of two blocks of one group or of one block. Blocks above the diagonal
    /// of a symmetric matrix are not added.
    pub(super) fn add(&mut self, row: usize, col: usize, rows: usize, cols: usize, g: &[f64], stride: usize) {
        let place = self.place(row, col);
        if row >= col {
            self.add_lower(place, [rows, cols], g, stride);
        }
        if row <= col && !self.symmetric {
            self.add_upper(place, [rows, cols], g, stride);
        }
    }

    /// Adds two blocks that mirror each other, the one below the diagonal of `sizes`, or a block on
    /// the diagonal twice.
    #[inline(always)]
    pub(super) fn add_pair(&mut self, place: Place, sizes: [usize; 2], blocks: [&[f64]; 2], stride: usize) {
        let [rows, cols] = sizes;
        self.add_lower(place, sizes, blocks[0], stride);
        if !self.symmetric {
            self.add_upper(place, [cols, rows], blocks[1], stride);
        }
    }

    /// Adds a number to the diagonal at a place of the panels.
    #[inline(always)]
    pub(super) fn add_diagonal(&mut self, at: usize, x: f64) {
        self.panels[0][at] += x;
        if !self.symmetric {
            self.panels[1][at] += x;
        }
    }

    /// Adds a block to L, all of it: what is above the diagonal there is never read.
    #[inline(always)]
    fn add_lower(&mut self, place: Place, [rows, cols]: [usize; 2], g: &[f64], stride: usize) {
        let mut row = 0;
        while row < rows {
            let (to, g) = (&mut self.panels[0][place.at + row..], &g[row * stride..]);
            row += match rows - row {
                6 => add_transposed::<6>(to, place.stride, g, stride, cols),
                1 => add_transposed::<1>(to, place.stride, g, stride, cols),
                2 => add_transposed::<2>(to, place.stride, g, stride, cols),
                3 => add_transposed::<3>(to, place.stride, g, stride, cols),
                _ => add_transposed::<4>(to, place.stride, g, stride, cols),
            };
        }
    }

    /// The same to Uᵀ.
    #[inline(always)]
    fn add_upper(&mut self, place: Place, [rows, cols]: [usize; 2], g: &[f64], stride: usize) {
        let to = &mut self.panels[1][place.at..];
        for i in 0..rows {
            axpy(1.0, &g[i * stride..i * stride + cols], &mut to[i * place.stride..i * place.stride + cols]);
        }
    }

    /// Factors in place; false if a pivot is rounding or, in a symmetric matrix, not positive.
    pub(super) fn factor(&mut self) -> bool {
        factor_all(self)
    }

    #[inline(always)]
    fn factor_in_place(&mut self) -> bool {
        let Some(Pattern { symbolic, .. }) = self.patterns.get(self.current) else { return true };
        self.factors += 1;
        self.inverses.resize(symbolic.owner.len(), 0.0);
        for updates in &mut self.updates[..if self.symmetric { 1 } else { 2 }] {
            if updates.len() < symbolic.updates {
                updates.resize(symbolic.updates, 0.0);
            }
        }
        let ([lower, upper], [first, second]) = (&mut self.panels, &mut self.updates);
        let (entries, inverses) = (&mut self.entries, &mut self.inverses);
        if self.symmetric {
            factor(symbolic, [lower], [first], entries, inverses)
        } else {
            factor(symbolic, [lower, upper], [first, second], entries, inverses)
        }
    }

    /// `x ← A⁻¹ x` after a factor.
    #[inline(always)]
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        let Some(Pattern { symbolic, .. }) = self.patterns.get(self.current) else { return };
        self.local.resize(self.local.len().max(symbolic.tallest), 0.0);
        for node in &symbolic.supernodes {
            let (own, below) = self.local[..node.stride].split_at_mut(node.columns);
            own.copy_from_slice(&x[node.first..node.first + node.columns]);
            below.fill(0.0);
            let inverses = self.symmetric.then_some(&self.inverses[node.first..]);
            panel::solve_forward(&self.panels[0][node.panel..], &node.shape(), inverses, &mut self.local);
            let (own, below) = self.local.split_at(node.columns);
            x[node.first..node.first + node.columns].copy_from_slice(own);
            for run in &symbolic.rows[node.rows.0..node.rows.1] {
                axpy(1.0, &below[run.from..run.from + run.len], &mut x[run.to..run.to + run.len]);
            }
        }
        let upper = &self.panels[if self.symmetric { 0 } else { 1 }];
        for node in symbolic.supernodes.iter().rev() {
            let (own, below) = self.local[..node.stride].split_at_mut(node.columns);
            own.copy_from_slice(&x[node.first..node.first + node.columns]);
            for run in &symbolic.rows[node.rows.0..node.rows.1] {
                below[run.from..run.from + run.len].copy_from_slice(&x[run.to..run.to + run.len]);
            }
            below[node.below..].fill(0.0);
            panel::solve_backward(&upper[node.panel..], &node.shape(), &self.inverses[node.first..], &mut self.local);
            x[node.first..node.first + node.columns].copy_from_slice(&self.local[..node.columns]);
        }
    }
}

/// Adds R rows of a block to columns; returns R.
#[inline(always)]
fn add_transposed<const R: usize>(to: &mut [f64], to_stride: usize, g: &[f64], stride: usize, cols: usize) -> usize {
    let mut rows = [&g[..0]; R];
    for (i, row) in rows.iter_mut().enumerate() {
        *row = &g[i * stride..][..cols];
    }
    for j in 0..cols {
        let Some(column) = to[j * to_stride..].first_chunk_mut::<R>() else { break };
        // All are read before any is written, as in `map_lanes`.
        let mut next = *column;
        for i in 0..R {
            next[i] += rows[i][j];
        }
        *column = next;
    }
    R
}

stiction_linalg::vectorized! {
    fn factor_all(matrix: &'a mut BlockMatrix) -> bool = matrix.factor_in_place()
}

/// The row of a velocity in the panel of a supernode.
fn row_in(node: &Supernode, rows: &[Run], velocity: usize) -> usize {
    if velocity < node.first + node.columns {
        return velocity - node.first;
    }
    let runs = &rows[node.rows.0..node.rows.1];
    let run = &runs[runs.partition_point(|r| r.to + r.len <= velocity)];
    node.columns + run.from + velocity - run.to
}

/// Factors all supernodes, with one half (symmetric) or two.
#[inline(always)]
fn factor<const H: usize>(
    symbolic: &Symbolic,
    mut panels: [&mut Vec<f64>; H],
    mut updates: [&mut Vec<f64>; H],
    entries: &mut Vec<f64>,
    inverses: &mut [f64],
) -> bool {
    for node in &symbolic.supernodes {
        stiction_lcp::interrupt::check();
        let children = &symbolic.children[node.children.0..node.children.1];
        let own = panels.each_mut().map(|p| &mut p[node.panel..node.panel + node.columns * node.stride]);
        entries.clear();
        entries.extend((0..node.columns).map(|j| own[0][j * (node.stride + 1)]));
        for &child in children {
            let child = &symbolic.supernodes[child];
            let links = &symbolic.links[child.links.0..child.links.1];
            let inside = links.partition_point(|l| l.to < node.columns);
            for h in 0..H {
                let from = &updates[h][child.update..];
                add_update(from, child.update_stride, links, 0..inside, own[h], node.stride, 0);
            }
        }
        let inverses = &mut inverses[node.first..node.first + node.columns];
        if !panel::factor(own, updates.each_mut().map(|u| &mut u[node.update..]), &node.shape(), entries, inverses) {
            return false;
        }
        for &child in children {
            let child = &symbolic.supernodes[child];
            let links = &symbolic.links[child.links.0..child.links.1];
            let inside = links.partition_point(|l| l.to < node.columns);
            for h in 0..H {
                let (from, to) = two_parts(updates[h], child.update, node.update);
                let outside = inside..links.len();
                add_update(from, child.update_stride, links, outside, to, node.update_stride, node.columns);
            }
        }
    }
    true
}

/// The parts of a list from two places on, of which the first ends where the second starts if it is
/// before it.
#[inline(always)]
fn two_parts(list: &mut [f64], from: usize, to: usize) -> (&[f64], &mut [f64]) {
    if from < to {
        let (first, second) = list.split_at_mut(to);
        (&first[from..], second)
    } else {
        let (first, second) = list.split_at_mut(from);
        (second, &mut first[to..])
    }
}

/// Adds those columns of a child's update that belong to `links[which]`; rows and columns are
/// `shift` lower there.
#[inline(always)]
fn add_update(
    from: &[f64],
    stride: usize,
    links: &[Run],
    which: std::ops::Range<usize>,
    to: &mut [f64],
    to_stride: usize,
    shift: usize,
) {
    for q in which {
        let link = links[q];
        for k in 0..link.len {
            let from = &from[(link.from + k) * stride..][..stride];
            let to = &mut to[(link.to - shift + k) * to_stride..][..to_stride];
            let mut first = k;
            for run in &links[q..] {
                let from = &from[run.from + first..run.from + run.len];
                axpy(1.0, from, &mut to[run.to - shift + first..run.to - shift + run.len]);
                first = 0;
            }
        }
    }
}
