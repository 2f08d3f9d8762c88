//! The inertia, block by block: a block is a free body (6 × 6) or an articulated tree.

use std::ops::Range;
use std::sync::Arc;

use stiction_lcp::matrix::axpy;
use stiction_lcp::{InputError, Matrix};
use stiction_linalg::block_factor::BlockFactor;
use stiction_linalg::lanes::{all_finite, same_bits};

use crate::check;

/// A mass block may differ from its transpose by this fraction of the geometric mean of its two diagonal entries: the rounding of whoever assembled it.
const SYMMETRY: f64 = 1e-9;

/// A pivot of the Cholesky factor at or below this fraction of its diagonal entry is no sign of a positive mass, only of rounding.
const PIVOT: f64 = 1e-14;

/// Where the velocities of each block start: block b has the velocities `starts[b]..starts[b + 1]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout(Arc<[usize]>);

impl Layout {
    /// Blocks of the given sizes, one after the other.
    pub(crate) fn from_sizes(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut starts = vec![0];
        starts.extend(sizes.into_iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        }));
        Self(starts.into())
    }

    /// Number of blocks.
    #[inline]
    pub fn blocks(&self) -> usize {
        self.0.len() - 1
    }

    /// Number of velocities, m.
    pub fn m(&self) -> usize {
        self.0[self.blocks()]
    }

    /// The velocities of block `b`.
    #[inline]
    pub fn range(&self, b: usize) -> Range<usize> {
        self.0[b]..self.0[b + 1]
    }

    /// Number of velocities of block `b`.
    #[inline]
    pub fn size(&self, b: usize) -> usize {
        self.0[b + 1] - self.0[b]
    }

    /// Becomes a layout of blocks of these sizes; keeps its storage if it has them.
    fn set_sizes(&mut self, sizes: impl ExactSizeIterator<Item = usize> + Clone) {
        if self.blocks() != sizes.len() || sizes.clone().enumerate().any(|(b, size)| self.size(b) != size) {
            *self = Self::from_sizes(sizes);
        }
    }
}

/// A symmetric positive definite inertia `M = L Lᵀ`, block-diagonal.
#[derive(Debug, Clone)]
pub struct Mass {
    layout: Layout,
    /// M, one matrix per block.
    blocks: Vec<Matrix>,
    /// L, triangular with positive diagonal, one per block.
    factors: Vec<BlockFactor>,
    /// The diagonals of L, m.
    diagonal: Vec<f64>,
    /// One over them: a substitution is a chain, and a product is several times quicker than a quotient.
    inverse: Vec<f64>,
    /// Whether L has nothing but its diagonal, as for a box along the axes: one per block.
    is_diagonal: Vec<bool>,
    /// Storage for the factors of the next blocks: these replace the present ones only when all of them exist.
    spare: Vec<BlockFactor>,
    /// Whether each of the next blocks is another one.
    changed: Vec<bool>,
}

impl PartialEq for Mass {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && self.blocks == other.blocks && self.factors == other.factors
    }
}

impl Mass {
    /// The inertia with these blocks.
    ///
    /// # Errors
    /// Naming the block, if one is not square, finite, symmetric and positive definite.
    pub fn new(blocks: Vec<Matrix>) -> Result<Self, InputError> {
        let mut factors = Vec::with_capacity(blocks.len());
        for (b, block) in blocks.iter().enumerate() {
            let mut factor = BlockFactor::default();
            factor_into(b, block, &mut factor)?;
            factors.push(factor);
        }
        Ok(Self::from_both(blocks, factors))
    }

    fn from_both(blocks: Vec<Matrix>, factors: Vec<BlockFactor>) -> Self {
        let layout = Layout::from_sizes(blocks.iter().map(Matrix::rows));
        let mut mass = Self {
            layout,
            blocks,
            factors,
            diagonal: Vec::new(),
            inverse: Vec::new(),
            is_diagonal: Vec::new(),
            spare: Vec::new(),
            changed: Vec::new(),
        };
        mass.note_diagonals();
        mass
    }

    /// Sets what is kept of the diagonals of L.
    fn note_diagonals(&mut self) {
        self.diagonal.clear();
        self.is_diagonal.clear();
        for l in &self.factors {
            l.push_diagonal(&mut self.diagonal);
            self.is_diagonal.push(l.is_diagonal());
        }
        self.inverse.clear();
        self.inverse.extend(self.diagonal.iter().map(|d| 1.0 / d));
    }

    /// Becomes the inertia with these blocks, as many and as large as the present ones. Allocates nothing after the first time; on an error nothing is
    /// changed.
    ///
    /// # Errors
    /// `InputError::Size` if the number or the size of the blocks is another; else as [`Mass::new`].
    pub fn set(&mut self, blocks: &[Matrix]) -> Result<(), InputError> {
        check::size(|| "mass blocks".into(), self.blocks.len(), blocks.len())?;
        self.spare.resize_with(blocks.len(), BlockFactor::default);
        self.changed.clear();
        for (b, (block, factor)) in blocks.iter().zip(&mut self.spare).enumerate() {
            check::size(|| format!("rows of mass block {b}"), self.layout.size(b), block.rows())?;
            // What did not turn has the factor it had.
            self.changed.push(!same_bits(block.as_slice(), self.blocks[b].as_slice()));
            if self.changed[b] {
                factor_into(b, block, factor)?;
            }
        }
        for b in (0..blocks.len()).filter(|&b| self.changed[b]) {
            std::mem::swap(&mut self.factors[b], &mut self.spare[b]);
            self.blocks[b].copy_from(&blocks[b]);
        }
        self.note_diagonals();
        Ok(())
    }

    /// Becomes a copy of another inertia whose blocks are as many and as large.
    ///
    /// # Errors
    /// `InputError::Size` if they are not.
    pub(crate) fn copy_from(&mut self, other: &Self) -> Result<(), InputError> {
        check::size(|| "mass blocks".into(), self.blocks.len(), other.blocks.len())?;
        for b in 0..other.blocks.len() {
            check::size(|| format!("rows of mass block {b}"), self.layout.size(b), other.layout.size(b))?;
        }
        for b in 0..other.blocks.len() {
            self.blocks[b].copy_from(&other.blocks[b]);
            self.factors[b].copy_from(&other.factors[b]);
        }
        self.diagonal.copy_from_slice(&other.diagonal);
        self.inverse.copy_from_slice(&other.inverse);
        self.is_diagonal.copy_from_slice(&other.is_diagonal);
        Ok(())
    }

    /// Becomes the inertia with some blocks of `whole`, in this order, with their factors.
    pub(crate) fn take_blocks(&mut self, whole: &Self, blocks: &[usize]) {
        self.layout.set_sizes(blocks.iter().map(|&b| whole.layout.size(b)));
        self.blocks.resize_with(blocks.len(), Matrix::default);
        self.factors.resize_with(blocks.len(), BlockFactor::default);
        self.diagonal.clear();
        self.inverse.clear();
        self.is_diagonal.clear();
        for (k, &b) in blocks.iter().enumerate() {
            let range = whole.layout.range(b);
            self.blocks[k].copy_from(&whole.blocks[b]);
            self.factors[k].copy_from(&whole.factors[b]);
            self.diagonal.extend_from_slice(&whole.diagonal[range.clone()]);
            self.inverse.extend_from_slice(&whole.inverse[range]);
            self.is_diagonal.push(whole.is_diagonal[b]);
        }
    }

    /// True if these are those `blocks` of `whole`, to the last bit.
    pub(crate) fn has_blocks_of(&self, whole: &Self, blocks: &[usize]) -> bool {
        let same = |(own, &b): (&Matrix, &usize)| {
            own.cols() == whole.layout.size(b) && same_bits(own.as_slice(), whole.blocks[b].as_slice())
        };
        self.blocks.len() == blocks.len() && self.blocks.iter().zip(blocks).all(same)
    }

    /// The inertia whose blocks have these lower triangular factors: `M_b = L_b L_bᵀ`. Entries above the diagonal are not read.
    ///
    /// # Errors
    /// Naming the block, if one is not square and finite with a positive diagonal.
    pub fn from_factors(mut factors: Vec<Matrix>) -> Result<Self, InputError> {
        let mut blocks = Vec::with_capacity(factors.len());
        for (b, l) in factors.iter_mut().enumerate() {
            check_square(b, l)?;
            for j in 0..l.cols() {
                check::positive(|| format!("factor of mass block {b}, entry ({j}, {j})"), l[(j, j)])?;
                l.col_mut(j)[..j].fill(0.0);
            }
            blocks
                .push(Matrix::from_fn(l.rows(), l.rows(), |i, j| (0..=i.min(j)).map(|k| l[(i, k)] * l[(j, k)]).sum()));
        }
        Ok(Self::from_both(blocks, factors.into_iter().map(BlockFactor::from_lower).collect()))
    }

    /// A single free body: mass (kg) and rotational inertia about its centre (kg m²), velocities (v, ω).
    ///
    /// # Errors
    /// If the mass is not positive or the inertia not symmetric and positive definite.
    pub fn free_body(mass: f64, inertia: &Matrix) -> Result<Matrix, InputError> {
        check::positive(|| "mass".into(), mass)?;
        check::size(|| "rows of the rotational inertia".into(), 3, inertia.rows())?;
        check::size(|| "columns of the rotational inertia".into(), 3, inertia.cols())?;
        let block = Matrix::from_fn(6, 6, |i, j| match (i, j) {
            _ if i >= 3 && j >= 3 => inertia[(i - 3, j - 3)],
            _ if i == j => mass,
            _ => 0.0,
        });
        Self::new(vec![block.clone()]).map(|_| block)
    }

    /// Where the blocks are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of velocities, m.
    pub fn m(&self) -> usize {
        self.layout.m()
    }

    /// M of block `b`.
    pub fn block(&self, b: usize) -> &Matrix {
        &self.blocks[b]
    }

    /// L of block `b` where it is lower triangular: not of trees with many branches, unless they were given by it.
    #[inline]
    pub fn lower_factor(&self, b: usize) -> Option<&Matrix> {
        self.factors[b].lower()
    }

    /// One over the diagonal of L of block `b`.
    #[inline]
    pub(crate) fn reciprocals(&self, b: usize) -> &[f64] {
        &self.inverse[self.layout.range(b)]
    }

    /// True if L of block `b` has nothing but its diagonal.
    #[inline]
    pub(crate) fn is_diagonal(&self, b: usize) -> bool {
        self.is_diagonal[b]
    }

    /// `y ← M x`, m numbers.
    pub fn mul_into(&self, x: &[f64], y: &mut [f64]) {
        for (b, block) in self.blocks.iter().enumerate() {
            let range = self.layout.range(b);
            block.mul_into(&x[range.clone()], &mut y[range]);
        }
    }

    /// `x ← M⁻¹ x`, m numbers.
    pub fn solve(&self, x: &mut [f64]) {
        for b in 0..self.layout.blocks() {
            let part = &mut x[self.layout.range(b)];
            self.solve_factor(b, part);
            self.solve_factor_transposed(b, part);
        }
    }

    /// `x ← M_b⁻¹ x`, the numbers of block `b`, to rounding beside what each velocity has: a tree is eliminated from its leaves, which
    /// leaves at the root the rounding of what they have, so it is refined once. Needs storage for the numbers.
    pub(crate) fn solve_block(&self, b: usize, x: &mut [f64], storage: &mut Vec<f64>) {
        let factor = &self.factors[b];
        if factor.lower().is_some() {
            self.solve_factor(b, x);
            return self.solve_factor_transposed(b, x);
        }
        storage.clear();
        storage.extend_from_slice(x);
        factor.solve(x);
        for (k, x) in x.iter().enumerate() {
            axpy(-x, self.blocks[b].col(k), storage);
        }
        factor.solve(storage);
        axpy(1.0, storage, x);
    }

    /// `x ← L_b⁻¹ x`, the numbers of block `b`: a row or force in whitened coordinates.
    #[inline]
    pub fn solve_factor(&self, b: usize, x: &mut [f64]) {
        if self.is_diagonal[b] {
            return self.divide(b, x);
        }
        match (self.free_factor(b), x.first_chunk_mut()) {
            (Some(l), Some(x)) => solve_lower(l, x),
            _ => self.factors[b].solve_factor(x),
        }
    }

    /// `x ← L_b⁻ᵀ x`, the numbers of block `b`: a velocity from its whitened coordinates.
    #[inline]
    pub fn solve_factor_transposed(&self, b: usize, x: &mut [f64]) {
        if self.is_diagonal[b] {
            return self.divide(b, x);
        }
        match (self.free_factor(b), x.first_chunk_mut()) {
            (Some(l), Some(x)) => solve_lower_transposed(l, x),
            _ => self.factors[b].solve_factor_transposed(x),
        }
    }

    /// L of block `b` if it has the size of a free body's.
    #[inline]
    pub(crate) fn free_factor(&self, b: usize) -> Option<&[f64; FREE_SQUARED]> {
        self.factors[b].lower().and_then(|l| l.as_slice().try_into().ok())
    }

    /// The factor of block `b`.
    #[inline]
    pub(crate) fn factor(&self, b: usize) -> &BlockFactor {
        &self.factors[b]
    }

    /// `x ← L_b⁻¹ x` where L is diagonal.
    #[inline]
    fn divide(&self, b: usize, x: &mut [f64]) {
        let diagonal = &self.diagonal[self.layout.range(b)];
        if let (Ok(d), Some(x)) = (<&[f64; FREE]>::try_from(diagonal), x.first_chunk_mut::<FREE>()) {
            for k in 0..FREE {
                x[k] /= d[k];
            }
            return;
        }
        x.iter_mut().zip(diagonal).for_each(|(x, d)| *x /= d);
    }

    /// `x ← L_bᵀ x`, the numbers of block `b`: a velocity in whitened coordinates.
    pub fn mul_factor_transposed(&self, b: usize, x: &mut [f64]) {
        self.factors[b].mul_factor_transposed(x);
    }
}

/// Velocities of a free body. Most blocks have as many, and loops of a known length are a few instructions.
const FREE: usize = 6;
const FREE_SQUARED: usize = FREE * FREE;

/// `x ← L⁻¹ x` for the factor of a free body, by columns.
#[inline]
fn solve_lower(l: &[f64; FREE_SQUARED], x: &mut [f64; FREE]) {
    for j in 0..FREE {
        x[j] /= l[j * FREE + j];
        for i in j + 1..FREE {
            x[i] -= x[j] * l[j * FREE + i];
        }
    }
}

/// `x ← L⁻ᵀ x` for the factor of a free body, by columns.
#[inline]
fn solve_lower_transposed(l: &[f64; FREE_SQUARED], x: &mut [f64; FREE]) {
    for j in (0..FREE).rev() {
        let mut sum = 0.0;
        for i in j + 1..FREE {
            sum += l[j * FREE + i] * x[i];
        }
        x[j] = (x[j] - sum) / l[j * FREE + j];
    }
}

fn check_square(b: usize, block: &Matrix) -> Result<(), InputError> {
    if block.rows() != block.cols() {
        return Err(InputError::NotSquare { what: format!("mass block {b}"), rows: block.rows(), cols: block.cols() });
    }
    if all_finite(block.as_slice()) {
        return (0..block.cols())
            .try_for_each(|j| check::inertia(|| format!("mass block {b}, entry ({j}, {j})"), block[(j, j)]));
    }
    for j in 0..block.cols() {
        for i in 0..block.rows() {
            check::finite(|| format!("mass block {b}, entry ({i}, {j})"), block[(i, j)])?;
        }
    }
    Ok(())
}

fn check_symmetric(b: usize, block: &Matrix) -> Result<(), InputError> {
    if block.is_symmetric() {
        return Ok(());
    }
    for j in 0..block.cols() {
        for i in j + 1..block.rows() {
            let (x, y) = (block[(i, j)], block[(j, i)]);
            if x == y {
                continue;
            }
            let scale = block[(i, i)].abs().sqrt() * block[(j, j)].abs().sqrt();
            if (x - y).abs() > SYMMETRY * scale.max(x.abs()) {
                let reason = format!("entry ({i}, {j}) is {x}, entry ({j}, {i}) is {y}");
                return Err(InputError::NotPositiveDefinite { what: format!("mass block {b}"), reason });
            }
        }
    }
    Ok(())
}

/// Checks mass block `b` and writes its factor to `to`, which keeps its storage.
fn factor_into(b: usize, block: &Matrix, to: &mut BlockFactor) -> Result<(), InputError> {
    check_square(b, block)?;
    check_symmetric(b, block)?;
    let accept = |j: usize, pivot: f64| (pivot > PIVOT * block[(j, j)] && pivot > 0.0).then_some(pivot);
    to.factor(block, accept).map_err(|rejected| {
        let reason = format!("pivot {} of its Cholesky factor is {:e}", rejected.column, rejected.pivot);
        InputError::NotPositiveDefinite { what: format!("mass block {b}"), reason }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_linalg::matrix::dot;

    fn sample() -> Mass {
        let a = Matrix::from_rows(&[[4.0, 2.0], [2.0, 5.0]]).unwrap();
        let b = Matrix::from_rows(&[[9.0]]).unwrap();
        Mass::new(vec![a, b]).unwrap()
    }

    #[test]
    fn factors_and_products_agree() {
        let mass = sample();
        assert_eq!(mass.m(), 3);
        let x = [1.0, -2.0, 3.0];
        let mut y = [0.0; 3];
        mass.mul_into(&x, &mut y);
        assert_eq!(y, [0.0, -8.0, 27.0]);
        mass.solve(&mut y);
        assert!(y.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-14));
        let mut white = x;
        for b in 0..2 {
            let part = &mut white[mass.layout().range(b)];
            mass.mul_factor_transposed(b, part);
        }
        assert!((dot(&white, &white) - (4.0 - 8.0 + 20.0 + 81.0)).abs() < 1e-12, "vᵀ M v");
        for b in 0..2 {
            let part = &mut white[mass.layout().range(b)];
            mass.solve_factor_transposed(b, part);
        }
        assert!(white.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-14));
        let again = Mass::from_factors([0, 1].map(|b| mass.lower_factor(b).unwrap().clone()).to_vec()).unwrap();
        assert!((again.block(0)[(1, 1)] - 5.0).abs() < 1e-15);
    }

    #[test]
    fn blocks_set_in_place_are_those_of_a_new_inertia_and_bad_ones_change_nothing() {
        let mut mass = sample();
        let block = |a: f64| Matrix::from_rows(&[[a, 1.0], [1.0, 2.0]]).unwrap();
        let one = |a: f64| Matrix::from_rows(&[[a]]).unwrap();
        for a in [3.0, 7.0, 0.6] {
            mass.set(&[block(a), one(a)]).unwrap();
            assert_eq!(mass, Mass::new(vec![block(a), one(a)]).unwrap());
        }
        let before = mass.clone();
        assert!(mass.set(&[block(5.0)]).unwrap_err().to_string().contains("mass blocks"));
        assert!(mass.set(&[one(1.0), block(5.0)]).unwrap_err().to_string().contains("rows of mass block 0"));
        assert!(mass.set(&[block(5.0), one(-1.0)]).unwrap_err().to_string().contains("mass block 1"));
        assert!(mass.set(&[block(5.0), Matrix::zeros(1, 2)]).is_err());
        assert_eq!(mass, before);
    }

    #[test]
    fn bad_blocks_are_named() {
        let message = |rows: &[[f64; 2]; 2]| {
            let good = Matrix::identity(1);
            Mass::new(vec![good, Matrix::from_rows(rows).unwrap()]).unwrap_err().to_string()
        };
        assert!(message(&[[1.0, 2.0], [2.0, 1.0]]).contains("mass block 1 is not symmetric and positive definite"));
        assert!(message(&[[1.0, 0.5], [0.0, 1.0]]).contains("entry (1, 0) is 0"));
        assert!(message(&[[-1.0, 0.0], [0.0, 1.0]]).contains("pivot 0"));
        assert!(message(&[[1.0, 1.0], [1.0, 1.0]]).contains("pivot 1"), "singular");
        assert!(message(&[[f64::NAN, 0.0], [0.0, 1.0]]).contains("entry (0, 0)"));
        assert!(Mass::new(vec![Matrix::zeros(2, 3)]).is_err());
        assert!(Mass::free_body(0.0, &Matrix::identity(3)).is_err());
        assert!(Mass::new(vec![]).is_ok());
    }

    /// A heavy base of three velocities, with eight limbs of two that are a millionth of it.
    #[test]
    fn trees_are_solved_to_rounding_beside_what_each_velocity_has() {
        let (base, n) = (3, 19);
        let limb = |i: usize| (i - base) / 2;
        let block = Matrix::from_fn(n, n, |i, j| match (i.min(j), i.max(j)) {
            (a, b) if b < base => 1e3 * f64::from(u8::from(a == b)),
            (a, b) if a < base => 1e-3 / (1.0 + (a + b) as f64),
            (a, b) if limb(a) == limb(b) => 1e-3 * f64::from(1 + u8::from(a == b)),
            _ => 0.0,
        });
        let mass = Mass::new(vec![block.clone()]).unwrap();
        assert!(mass.lower_factor(0).is_none(), "it has branches");
        // A push on one limb, of which the base hardly feels anything.
        let force: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == n - 1))).collect();
        let mut x = force.clone();
        mass.solve_block(0, &mut x, &mut vec![]);
        for i in 0..n {
            let terms: Vec<f64> = (0..n).map(|j| block[(i, j)] * x[j]).collect();
            let (sum, size) = (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>());
            assert!((sum - force[i]).abs() <= 8.0 * f64::EPSILON * size, "{i}: {sum:e} of {size:e}");
        }
    }
}
