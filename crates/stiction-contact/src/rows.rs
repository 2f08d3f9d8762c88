//! Jacobian rows in block-sparse form: a contact touches two bodies, whatever their number.

use std::fmt::Display;
use std::ops::Range;

use stiction_lcp::matrix::axpy;
use stiction_lcp::{InputError, Matrix};

use crate::check;
use crate::mass::Layout;
use stiction_linalg::doubled::add_product;
use stiction_linalg::lanes::same_bits;

/// One row by blocks: (block, the row's entries for the velocities of that block).
pub type RowBlocks<'a> = &'a [(usize, &'a [f64])];

/// Rows over the m velocities of a [`Layout`]; each holds entries for a few blocks and is zero elsewhere.
#[derive(Debug, Clone)]
pub struct Rows {
    layout: Layout,
    /// Start of each row in `entries`, rows + 1.
    starts: Vec<usize>,
    /// The entries of all rows, by ascending blocks within a row.
    entries: Vec<Entry>,
    values: Vec<f64>,
}

/// What a row has for one block. Small, as rows are read and copied more often than they are computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    block: u32,
    /// Start of its numbers in `values`.
    at: u32,
    /// Start of the block's velocities, and their number.
    from: u32,
    len: u32,
}

impl Entry {
    /// # Panics
    /// Beyond 2³² numbers.
    #[inline]
    fn new(block: usize, at: usize, from: usize, len: usize) -> Self {
        assert!(u32::try_from(block | at | from | len).is_ok(), "rows have fewer than 2³² numbers");
        Self { block: block as u32, at: at as u32, from: from as u32, len: len as u32 }
    }

    #[inline]
    fn block(&self) -> usize {
        self.block as usize
    }

    #[inline]
    fn len(&self) -> usize {
        self.len as usize
    }

    /// Where its numbers are in `values`.
    #[inline]
    fn numbers(&self) -> Range<usize> {
        self.at as usize..self.at as usize + self.len()
    }

    /// Where the block's velocities are.
    #[inline]
    fn velocities(&self) -> Range<usize> {
        self.from as usize..self.from as usize + self.len()
    }
}

/// Rows are equal if their entries are, in whatever order the blocks of a row were given.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout
            && self.len() == other.len()
            && (0..self.len()).all(|i| self.row(i).eq(other.row(i)))
    }
}

impl Rows {
    /// No rows.
    pub fn new(layout: &Layout) -> Self {
        Self { layout: layout.clone(), starts: vec![0], entries: Vec::new(), values: Vec::new() }
    }

    /// Removes all rows, keeping the storage.
    pub fn clear(&mut self) {
        self.starts.truncate(1);
        self.entries.clear();
        self.values.clear();
    }

    /// Appends a row; `what` names it in errors. On an error nothing is appended.
    ///
    /// # Errors
    /// As [`Rows::check`].
    pub fn push(&mut self, what: impl Display, row: RowBlocks<'_>) -> Result<(), InputError> {
        self.check(&what, row)?;
        self.push_checked(row);
        Ok(())
    }

    /// Appends a row that [`Rows::check`] has nothing against.
    pub(crate) fn push_checked(&mut self, row: RowBlocks<'_>) {
        let first = self.entries.len();
        for &(block, values) in row {
            let (at, from) = (self.values.len(), self.layout.range(block).start);
            self.entries.push(Entry::new(block, at, from, values.len()));
            extend(&mut self.values, values);
        }
        self.sort_last(first);
        self.starts.push(self.entries.len());
    }

    /// Appends the rows of `other`, which has the same layout.
    pub(crate) fn append(&mut self, other: &Self) {
        let (entries, values) = (self.entries.len(), self.values.len());
        let moved = |e: &Entry| Entry::new(e.block(), e.at as usize + values, e.from as usize, e.len());
        self.entries.extend(other.entries.iter().map(moved));
        self.values.extend_from_slice(&other.values);
        self.starts.extend(other.starts[1..].iter().map(|start| start + entries));
    }

    /// Becomes some rows of `whole`, in this order, over `layout`, in which block b of theirs has the number `places[b]`.
    pub(crate) fn take_rows(&mut self, whole: &Self, rows: &[usize], layout: &Layout, places: &[usize]) {
        self.clear();
        if self.layout != *layout {
            self.layout.clone_from(layout);
        }
        if whole.entries.is_empty() {
            return self.starts.resize(rows.len() + 1, 0);
        }
        for &i in rows {
            for e in whole.entries(i) {
                let (block, at) = (places[e.block()], self.values.len());
                self.entries.push(Entry::new(block, at, layout.range(block).start, e.len()));
                extend(&mut self.values, &whole.values[e.numbers()]);
            }
            self.starts.push(self.entries.len());
        }
    }

    /// Checks a row without appending it.
    ///
    /// # Errors
    /// If a block does not exist or is given twice, has the wrong size, or an entry is not finite or above 1e100.
    pub fn check(&self, what: impl Display, row: RowBlocks<'_>) -> Result<(), InputError> {
        for (k, &(block, values)) in row.iter().enumerate() {
            if block >= self.layout.blocks() {
                let what = format!("{what}: block, below");
                return Err(InputError::Size { what, expected: self.layout.blocks(), found: block });
            }
            if row[..k].iter().any(|other| other.0 == block) {
                return Err(InputError::Size {
                    what: format!("{what}: times block {block} is given"),
                    expected: 1,
                    found: 2,
                });
            }
            check::size(|| format!("{what}: entries for block {block}"), self.layout.size(block), values.len())?;
            if check::are_row_entries(values) {
                continue;
            }
            for (i, &x) in values.iter().enumerate() {
                check::row_entry(|| format!("{what}: entry {i} for block {block}"), x)?;
            }
        }
        Ok(())
    }

    /// [`Rows::check`] of a row, where nothing was said against `other`, which mostly has the same blocks.
    pub(crate) fn check_like(
        &self,
        what: impl Display,
        row: RowBlocks<'_>,
        other: RowBlocks<'_>,
    ) -> Result<(), InputError> {
        let has_blocks_of_other = row.iter().zip(other).all(|(a, b)| (a.0, a.1.len()) == (b.0, b.1.len()));
        if row.len() == other.len() && has_blocks_of_other && row.iter().all(|(_, x)| check::are_row_entries(x)) {
            return Ok(());
        }
        self.check(what, row)
    }

    /// Puts the entries from `first` on in ascending order of their blocks. A row has two or three.
    #[inline]
    fn sort_last(&mut self, first: usize) {
        for i in first + 1..self.entries.len() {
            let mut j = i;
            while j > first && self.entries[j - 1].block > self.entries[j].block {
                self.entries.swap(j - 1, j);
                j -= 1;
            }
        }
    }

    /// Appends a row given by all its m entries; blocks that are all zero are left out.
    ///
    /// # Errors
    /// If there are not m entries, or one is not finite.
    pub fn push_dense(&mut self, what: impl Display, row: &[f64]) -> Result<(), InputError> {
        check::size(|| format!("{what}: entries"), self.layout.m(), row.len())?;
        let ranges = (0..self.layout.blocks()).map(|b| (b, &row[self.layout.range(b)]));
        let blocks: Vec<(usize, &[f64])> = ranges.filter(|(_, x)| x.iter().any(|x| *x != 0.0)).collect();
        self.push(what, &blocks)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries (block, numbers) of row `i`, blocks ascending.
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        self.entries(i).iter().map(|e| (e.block(), &self.values[e.numbers()]))
    }

    /// The same, with the start of each block's velocities: (block, start, numbers).
    #[inline]
    pub(crate) fn row_from(&self, i: usize) -> impl Iterator<Item = (usize, usize, &[f64])> {
        self.entries(i).iter().map(|e| (e.block(), e.from as usize, &self.values[e.numbers()]))
    }

    #[inline(always)]
    fn entries(&self, i: usize) -> &[Entry] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    /// True if row `i` has an entry for some block, be it zero.
    #[inline]
    pub fn has_entries(&self, i: usize) -> bool {
        self.starts[i] < self.starts[i + 1]
    }

    /// True if no row has any entry.
    pub(crate) fn is_all_zero(&self) -> bool {
        self.entries.is_empty()
    }

    /// True if row `i` here and row `i` of `other` have entries for the same blocks.
    #[inline(always)]
    pub(crate) fn has_blocks_of(&self, other: &Self, i: usize) -> bool {
        let (own, other) = (self.entries(i), other.entries(i));
        own.len() == other.len() && own.iter().zip(other).all(|(a, b)| a.block == b.block)
    }

    /// True if rows `i` and `j` have entries for the same blocks.
    #[inline]
    pub(crate) fn has_same_blocks(&self, i: usize, j: usize) -> bool {
        let (one, other) = (self.entries(i), self.entries(j));
        one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.block == b.block)
    }

    /// The blocks that row `i` has entries for, ascending.
    #[inline]
    pub fn blocks(&self, i: usize) -> impl Iterator<Item = usize> {
        self.entries(i).iter().map(Entry::block)
    }

    /// True if rows `i` and `j` are the same to the last bit.
    pub(crate) fn is_same(&self, i: usize, j: usize) -> bool {
        let (left, right) = (self.entries(i), self.entries(j));
        let numbers = |e: &Entry| self.values[e.numbers()].iter().map(|x| x.to_bits());
        let same = |(a, b): (&Entry, &Entry)| a.block == b.block && numbers(a).eq(numbers(b));
        left.len() == right.len() && left.iter().zip(right).all(same)
    }

    /// True if these are what [`Rows::take_rows`] would make of them, to the last bit.
    pub(crate) fn are_rows_of(&self, whole: &Self, rows: &[usize], places: &[usize]) -> bool {
        let same_entry = |(own, of): (&Entry, &Entry)| {
            own.block() == places[of.block()] && same_bits(&self.values[own.numbers()], &whole.values[of.numbers()])
        };
        let same_row = |(k, &i): (usize, &usize)| {
            let (own, of) = (self.entries(k), whole.entries(i));
            own.len() == of.len() && own.iter().zip(of).all(same_entry)
        };
        self.len() == rows.len()
            && if whole.entries.is_empty() { self.is_all_zero() } else { rows.iter().enumerate().all(same_row) }
    }

    /// A number that rows which are the same have in common, and others hardly ever.
    pub(crate) fn key(&self, i: usize) -> u64 {
        /// An odd number without a pattern (the golden ratio).
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut key = 0u64;
        for (block, x) in self.row(i) {
            let mut factor = ODD.wrapping_mul(2 * block as u64 + 1);
            for x in x {
                // Simple numbers differ in their first bits only.
                let bits = x.to_bits();
                key = key.wrapping_add((bits ^ (bits >> 32)).wrapping_mul(factor));
                factor = factor.wrapping_add(ODD << 1);
            }
        }
        (key ^ (key >> 32)).wrapping_mul(ODD)
    }

    /// True if row `i` has no entry other than zero.
    pub fn is_zero(&self, i: usize) -> bool {
        self.row(i).all(|(_, x)| x.iter().all(|x| *x == 0.0))
    }

    /// Row `i` times the velocities `v` (m).
    #[inline]
    pub fn dot(&self, i: usize, v: &[f64]) -> f64 {
        self.sum(i, v, |x, v| x * v)
    }

    /// Row `i` times two velocities (m), each product as [`Rows::dot`] finds it.
    #[inline]
    pub fn dot_both(&self, i: usize, v: [&[f64]; 2]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for e in self.entries(i) {
            let x = &self.values[e.numbers()];
            for (sum, v) in sums.iter_mut().zip(v) {
                *sum += product(x, &v[e.velocities()], &|x, v| x * v);
            }
        }
        sums
    }

    /// `start` plus row `i` times the velocities `v` (m), summed in twice the working precision.
    pub(crate) fn accurate_dot(&self, start: f64, i: usize, v: &[f64]) -> f64 {
        let (mut high, mut low) = (start, 0.0);
        for e in self.entries(i) {
            let (x, v) = (&self.values[e.numbers()], &v[e.velocities()]);
            x.iter().zip(v).for_each(|(x, v)| add_product(*x, *v, &mut high, &mut low));
        }
        high + low
    }

    /// How many numbers row `i` has.
    #[inline]
    pub(crate) fn numbers(&self, i: usize) -> usize {
        self.entries(i).iter().map(Entry::len).sum()
    }

    /// `Σ |rowᵢⱼ| sⱼ` over non-negative `s` (m).
    #[inline]
    pub fn abs_dot(&self, i: usize, s: &[f64]) -> f64 {
        self.sum(i, s, |x, s| x.abs() * s)
    }

    /// `Σ |rowᵢⱼ vⱼ|`.
    #[inline]
    pub fn terms(&self, i: usize, v: &[f64]) -> f64 {
        self.sum(i, v, |x, v| (x * v).abs())
    }

    /// The sum of `term` over the numbers of row `i` and those of `v` (m) beside them.
    #[inline]
    fn sum(&self, i: usize, v: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
        let mut sum = 0.0;
        for e in self.entries(i) {
            let (x, v) = (&self.values[e.numbers()], &v[e.velocities()]);
            sum += product(x, v, &term);
        }
        sum
    }

    /// `y ← y + a rowᵢᵀ`, m numbers.
    pub fn add_transposed(&self, i: usize, a: f64, y: &mut [f64]) {
        for e in self.entries(i) {
            axpy(a, &self.values[e.numbers()], &mut y[e.velocities()]);
        }
    }

    /// All rows as a dense matrix, rows × m.
    pub fn to_dense(&self) -> Matrix {
        let mut out = Matrix::zeros(self.len(), self.layout.m());
        for i in 0..self.len() {
            for (b, x) in self.row(i) {
                self.layout.range(b).zip(x).for_each(|(j, x)| out[(i, j)] = *x);
            }
        }
        out
    }
}

/// Appends numbers. Six, as most blocks have, are moved as an array: a copy of a known length takes no call.
#[inline]
fn extend(to: &mut Vec<f64>, from: &[f64]) {
    match <[f64; 6]>::try_from(from) {
        Ok(from) => to.extend(from),
        Err(_) => to.extend_from_slice(from),
    }
}

/// The sum of `term` over the numbers of one block.
#[inline]
fn product(x: &[f64], v: &[f64], term: &impl Fn(f64, f64) -> f64) -> f64 {
    match (x.try_into(), v.try_into()) {
        (Ok(x), Ok(v)) => sum_of_six(x, v, term),
        _ => x.iter().zip(v).map(|(x, v)| term(*x, *v)).sum::<f64>(),
    }
}

/// A sum over the velocities of a free body, as most blocks are.
#[inline]
fn sum_of_six(x: &[f64; 6], v: &[f64; 6], term: &impl Fn(f64, f64) -> f64) -> f64 {
    let t: [f64; 6] = std::array::from_fn(|k| term(x[k], v[k]));
    (t[0] + t[1] + t[2]) + (t[3] + t[4] + t[5])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_sparse_and_dense_rows() {
        let layout = Layout::from_sizes([2, 1, 2]);
        let mut rows = Rows::new(&layout);
        rows.push("row", &[(2, &[5.0, 6.0]), (0, &[1.0, -2.0])]).unwrap();
        rows.push_dense("row", &[0.0, 0.0, 3.0, 0.0, 0.0]).unwrap();
        rows.push("row", &[]).unwrap();
        assert_eq!(rows.row(0).map(|(b, _)| b).collect::<Vec<_>>(), [0, 2], "blocks ascend");
        assert_eq!(rows.row(1).count(), 1);
        let mut sorted = Rows::new(&layout);
        sorted.push("row", &[(0, &[1.0, -2.0]), (2, &[5.0, 6.0])]).unwrap();
        sorted.push("row", &[(1, &[3.0])]).unwrap();
        assert_ne!(sorted, rows);
        sorted.push("row", &[]).unwrap();
        assert_eq!(sorted, rows);
        assert!(rows.is_zero(2) && !rows.is_zero(1));
        let v = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(rows.dot(0, &v), 1.0 - 4.0 + 20.0 + 30.0);
        assert_eq!(rows.dot_both(0, [&v, &[0.0, 1.0, 2.0, 3.0, 4.0]]), [rows.dot(0, &v), -2.0 + 15.0 + 24.0]);
        assert_eq!(rows.abs_dot(0, &v), 1.0 + 4.0 + 20.0 + 30.0);
        let mut y = [0.0; 5];
        rows.add_transposed(0, 2.0, &mut y);
        assert_eq!(y, [2.0, -4.0, 0.0, 10.0, 12.0]);
        assert_eq!(rows.to_dense()[(1, 2)], 3.0);
    }

    #[test]
    fn a_refused_row_leaves_no_trace() {
        let layout = Layout::from_sizes([2, 1]);
        let mut rows = Rows::new(&layout);
        let message = |e: Result<(), InputError>| e.unwrap_err().to_string();
        assert!(
            message(rows.push("normal of contact 4", &[(0, &[1.0, 2.0]), (2, &[1.0])]))
                .starts_with("normal of contact 4: block")
        );
        assert!(message(rows.push("n", &[(0, &[1.0])])).contains("entries for block 0"));
        assert!(message(rows.push("n", &[(1, &[1.0]), (1, &[1.0])])).contains("block 1 is given"));
        assert!(message(rows.push("n", &[(0, &[1.0, f64::NAN])])).contains("entry 1 for block 0"));
        assert!(message(rows.push_dense("n", &[1.0])).contains("expected 3"));
        assert_eq!(rows, Rows::new(&layout));
    }
}
