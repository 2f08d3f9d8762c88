//! Sparse LU with partial pivoting for large systems, on faer, in one thread.

use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuSymbolicParams, NumericLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};

/// A square matrix by compressed columns, rows ascending within each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Start of each column, n + 1.
    pub starts: &'a [usize],
    /// Row of each entry.
    pub rows: &'a [usize],
    /// Value of each entry.
    pub values: &'a [f64],
}

/// The workspace, kept from one matrix to the next.
#[derive(Default)]
pub(crate) struct SparseLu {
    buffer: Option<(usize, MemBuffer)>,
}

impl fmt::Debug for SparseLu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseLu").finish_non_exhaustive()
    }
}

impl Clone for SparseLu {
    /// Workspaces are not worth copying.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl SparseLu {
    /// Factors A and replaces each of the `n`-vectors in `x` by `A⁻¹ x`; false if A is singular in its pattern or a result is not finite.
    pub(crate) fn solve(&mut self, a: Columns<'_>, x: &mut [f64]) -> bool {
        let n = a.starts.len() - 1;
        if n == 0 || x.is_empty() {
            return true;
        }
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, a.starts, None, a.rows);
        let Ok(symbolic) = factorize_symbolic_lu(pattern, LuSymbolicParams::default()) else { return false };
        let columns = x.len() / n;
        let need = symbolic
            .factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq));
        if self.buffer.as_ref().is_none_or(|(size, _)| *size < need.unaligned_bytes_required()) {
            let Ok(buffer) = MemBuffer::try_new(need) else { return false };
            self.buffer = Some((need.unaligned_bytes_required(), buffer));
        }
        let Some((_, buffer)) = self.buffer.as_mut() else { return false };
        // A used one keeps the order of its first matrix.
        let mut numeric = NumericLu::new();
        let matrix = SparseColMatRef::new(pattern, a.values);
        let Ok(factor) =
            symbolic.factorize_numeric_lu(&mut numeric, matrix, Par::Seq, MemStack::new(buffer), Default::default())
        else {
            return false;
        };
        let right = MatMut::from_column_major_slice_mut(x, n, columns);
        factor.solve_in_place_with_conj(Conj::No, right, Par::Seq, MemStack::new(buffer));
        x.iter().all(|x| x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_reports_a_singular_matrix() {
        // [2 1; 0 4] x = (4, 8).
        let (starts, rows) = ([0, 1, 3], [0, 0, 1]);
        let mut x = [4.0, 8.0, 2.0, 0.0];
        let mut lu = SparseLu::default();
        assert!(lu.solve(Columns { starts: &starts, rows: &rows, values: &[2.0, 1.0, 4.0] }, &mut x));
        assert_eq!(x, [1.0, 2.0, 1.0, 0.0]);
        assert!(!lu.solve(Columns { starts: &starts, rows: &rows, values: &[2.0, 1.0, 0.0] }, &mut [1.0, 1.0]));
        assert!(!lu.solve(Columns { starts: &[0, 1, 2], rows: &[0, 0], values: &[1.0, 1.0] }, &mut [1.0, 1.0]));
    }
}
