//! The operator W by columns, dense or by the blocks a column meets.

use stiction_lcp::matrix::axpy;
use stiction_linalg::doubled::add_products;

/// Orders up to this are stored dense whatever their pattern: no index costs less than the work it saves.
const ALWAYS_DENSE: usize = 48;
/// The share of entries above which a matrix is stored dense.
const DENSE_SHARE: f64 = 0.3;

/// A square matrix whose columns are cut into the problem's blocks of rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operator {
    n: usize,
    /// All blocks of all columns are stored, column by column.
    dense: bool,
    /// Start of each column in `runs`, n + 1; empty if dense.
    starts: Vec<usize>,
    /// Block and place in `values` of each stored block of a column. Blocks ascend; the column's own block is always there.
    runs: Vec<(usize, usize)>,
    values: Vec<f64>,
}

impl Operator {
    /// Loads the matrix; rows ascend within `column(j)`.
    pub(super) fn load<C: Iterator<Item = (usize, f64)>>(
        &mut self,
        starts: &[usize],
        block_of: &[usize],
        column: impl Fn(usize) -> C,
    ) {
        self.n = block_of.len();
        let n = self.n;
        let mut count = 0usize;
        if n > ALWAYS_DENSE {
            count = (0..n).map(|j| column(j).count()).sum();
        }
        self.dense = n <= ALWAYS_DENSE || count as f64 > DENSE_SHARE * (n as f64) * (n as f64);
        self.starts.clear();
        self.runs.clear();
        self.values.clear();
        if self.dense {
            self.values.resize(n * n, 0.0);
            for j in 0..n {
                column(j).for_each(|(i, x)| self.values[j * n + i] = x);
            }
            return;
        }
        self.starts.push(0);
        for j in 0..n {
            let own = block_of[j];
            let mut own_stored = false;
            for (i, x) in column(j) {
                let b = block_of[i];
                if !own_stored && b >= own {
                    self.open_run(own, starts);
                    own_stored = true;
                }
                if self.last_block(j) != Some(b) {
                    self.open_run(b, starts);
                }
                let (_, place) = self.runs[self.runs.len() - 1];
                self.values[place + i - starts[b]] = x;
            }
            if !own_stored {
                self.open_run(own, starts);
            }
            self.starts.push(self.runs.len());
        }
    }

    fn last_block(&self, j: usize) -> Option<usize> {
        if self.runs.len() > self.starts[j] { self.runs.last().map(|r| r.0) } else { None }
    }

    fn open_run(&mut self, block: usize, starts: &[usize]) {
        self.runs.push((block, self.values.len()));
        self.values.resize(self.values.len() + starts[block + 1] - starts[block], 0.0);
    }

    /// True if systems with this matrix are better solved dense.
    pub(super) fn is_dense(&self) -> bool {
        self.dense
    }

    /// Calls `visit(block, entries)` for every stored block of column `j`, blocks ascending.
    #[inline]
    pub(super) fn visit(&self, j: usize, starts: &[usize], mut visit: impl FnMut(usize, &[f64])) {
        if self.dense {
            let column = &self.values[j * self.n..(j + 1) * self.n];
            for b in 0..starts.len() - 1 {
                visit(b, &column[starts[b]..starts[b + 1]]);
            }
        } else {
            for &(b, place) in &self.runs[self.starts[j]..self.starts[j + 1]] {
                visit(b, &self.values[place..place + starts[b + 1] - starts[b]]);
            }
        }
    }

    /// The entries of column `j` in block `b`, which must be the column's own.
    pub(super) fn own_block(&self, j: usize, b: usize, starts: &[usize]) -> &[f64] {
        let size = starts[b + 1] - starts[b];
        if self.dense {
            let first = j * self.n + starts[b];
            return &self.values[first..first + size];
        }
        let runs = &self.runs[self.starts[j]..self.starts[j + 1]];
        match runs.binary_search_by_key(&b, |r| r.0) {
            Ok(k) => &self.values[runs[k].1..runs[k].1 + size],
            Err(_) => &[],
        }
    }

    /// `y ← y + a · (column j)`.
    #[inline]
    pub(super) fn add_column(&self, j: usize, a: f64, starts: &[usize], y: &mut [f64]) {
        if self.dense {
            axpy(a, &self.values[j * self.n..(j + 1) * self.n], y);
        } else {
            for &(b, place) in &self.runs[self.starts[j]..self.starts[j + 1]] {
                let rows = starts[b]..starts[b + 1];
                let size = rows.len();
                axpy(a, &self.values[place..place + size], &mut y[rows]);
            }
        }
    }

    /// `y ← y + W x`.
    pub(super) fn mul_add(&self, x: &[f64], starts: &[usize], y: &mut [f64]) {
        for (j, &xj) in x.iter().enumerate() {
            if xj != 0.0 {
                self.add_column(j, xj, starts, y);
            }
        }
    }

    /// `y ← y + W x` with every sum in twice the working precision.
    pub(super) fn mul_add_doubled(&self, x: &[f64], starts: &[usize], y: &mut [f64], low: &mut [f64]) {
        low.fill(0.0);
        for (j, &xj) in x.iter().enumerate() {
            if xj == 0.0 {
                continue;
            }
            self.visit(j, starts, |b, entries| {
                add_products(xj, entries, &mut y[starts[b]..], &mut low[starts[b]..]);
            });
        }
        for (y, low) in y.iter_mut().zip(low) {
            *y += *low;
        }
    }
}
