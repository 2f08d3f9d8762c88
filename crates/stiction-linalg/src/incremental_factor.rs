//! A factor `A_CC = L D U` of the matrix of an index set, kept while indices come and go.
//!
//! `L` is unit lower, `U` unit upper triangular, `D` diagonal; for a symmetric matrix `U = Lᵀ` and only `L` is held.
//! An index enters by forward substitution and leaves by a rank-one update of what stood behind it, both O(k²);
//! nothing is exchanged for stability, so every leading block must be regular, which holds for positive definite
//! matrices, symmetric or not, and for P-matrices. A pivot that is lost is reported, and then the factor must be
//! built again.
//!
//! Storage is packed row by row and never moves: [`IncrementalFactor::reset`] takes all of it.
//!
//! References: [Baraff94, §4.5]; [GillGolubMurraySaunders74, method C1]; [Bennett65, rank-one update of L D U].

use std::hint::black_box;

use crate::interrupt;
use crate::lanes::dot;

/// Strictly lower triangle of a unit lower triangular matrix: row i has its i entries at `i (i − 1) / 2`.
#[derive(Debug, Clone, Default)]
struct Triangle {
    data: Vec<f64>,
}

/// Start of row `i` in a packed strict triangle.
#[inline]
fn start(i: usize) -> usize {
    i * i.saturating_sub(1) / 2
}

/// Rows worked on side by side, so that their sums do not wait for one another.
const BLOCK: usize = 4;

impl Triangle {
    fn reset(&mut self, capacity: usize) {
        self.data.clear();
        self.data.reserve(start(capacity));
    }

    /// Row `i`, its first `length` entries.
    #[inline]
    fn row(&self, i: usize, length: usize) -> &[f64] {
        &self.data[start(i)..start(i) + length]
    }

    /// `y ← L⁻¹ y`.
    fn forward(&self, y: &mut [f64]) {
        let k = y.len();
        let whole = k - k % BLOCK;
        for i in (0..whole).step_by(BLOCK) {
            interrupt::check_at(i / BLOCK);
            let rows = [self.row(i, i), self.row(i + 1, i), self.row(i + 2, i), self.row(i + 3, i)];
            let (known, rest) = y.split_at_mut(i);
            let sums = if i == 0 { [0.0; BLOCK] } else { four_dots(rows, known) };
            for r in 0..BLOCK {
                let mut sum = rest[r] - sums[r];
                for (c, l) in self.data[start(i + r) + i..start(i + r) + i + r].iter().enumerate() {
                    sum -= l * rest[c];
                }
                rest[r] = sum;
            }
        }
        for i in whole..k {
            let (known, rest) = y.split_at_mut(i);
            rest[0] -= dot(self.row(i, i), known);
        }
    }

    /// `x ← L⁻ᵀ x`.
    fn backward(&self, x: &mut [f64]) {
        let k = x.len();
        let whole = k - k % BLOCK;
        for i in (whole..k).rev() {
            let (rest, known) = x.split_at_mut(i);
            crate::matrix::axpy(-known[0], self.row(i, i), rest);
        }
        for i in (0..whole).step_by(BLOCK).rev() {
            interrupt::check_at(i / BLOCK);
            let (rest, block) = x.split_at_mut(i);
            for r in (1..BLOCK).rev() {
                for c in 0..r {
                    block[c] -= self.data[start(i + r) + i + c] * block[r];
                }
            }
            if i > 0 {
                let rows = [self.row(i, i), self.row(i + 1, i), self.row(i + 2, i), self.row(i + 3, i)];
                subtract_four(rows, [block[0], block[1], block[2], block[3]], rest);
            }
        }
    }

    /// Takes away row and column `p`, leaving out column p of the rows `first..first + count` behind it and carrying
    /// `v` through their columns up to `first`: `vᵢ ← vᵢ − vⱼ Lᵢⱼ`, `Lᵢⱼ ← Lᵢⱼ + βⱼ vᵢ`.
    fn carry_block(&mut self, p: usize, first: usize, count: usize, v: &mut [f64], beta: &[f64]) {
        for i in first..first + count {
            self.data.copy_within(start(i)..start(i) + p, start(i - 1));
        }
        if count == BLOCK {
            let from = [start(first), start(first + 1), start(first + 2), start(first + 3)];
            let to = [start(first - 1), start(first), start(first + 1), start(first + 2)];
            let mut sum = [v[first], v[first + 1], v[first + 2], v[first + 3]];
            for j in p + 1..first {
                let (vj, bj) = (v[j], beta[j]);
                for r in 0..BLOCK {
                    let l = self.data[from[r] + j];
                    sum[r] -= vj * l;
                    self.data[to[r] + j - 1] = l + bj * sum[r];
                }
            }
            v[first..first + BLOCK].copy_from_slice(&sum);
        } else {
            for i in first..first + count {
                self.carry_row(i, p + 1, first, v, beta);
            }
        }
    }

    /// Carries `v` through the columns `from..to` of row `i`, which moves up one row and its columns one to the left.
    fn carry_row(&mut self, i: usize, from: usize, to: usize, v: &mut [f64], beta: &[f64]) {
        let mut sum = v[i];
        for j in from..to {
            let l = self.data[start(i) + j];
            sum -= v[j] * l;
            self.data[start(i - 1) + j - 1] = l + beta[j] * sum;
        }
        v[i] = sum;
    }
}

/// The products of four rows with `y`, each summed in four fixed lanes.
#[inline]
fn four_dots(rows: [&[f64]; BLOCK], y: &[f64]) -> [f64; BLOCK] {
    let mut lane = [[0.0f64; 4]; BLOCK];
    let n = y.len();
    let rows = rows.map(|row| &row[..n]);
    let chunks = rows[0].chunks_exact(4).zip(rows[1].chunks_exact(4));
    let chunks = chunks.zip(rows[2].chunks_exact(4).zip(rows[3].chunks_exact(4)));
    for (((a, b), (c, d)), y) in chunks.zip(y.chunks_exact(4)) {
        add_products(&mut lane[0], a, y);
        add_products(&mut lane[1], b, y);
        add_products(&mut lane[2], c, y);
        add_products(&mut lane[3], d, y);
    }
    // Out of the compiler's sight, or it arranges the whole loop for these few sums and halves its speed.
    let mut sums = black_box(lane).map(|l| (l[0] + l[2]) + (l[1] + l[3]));
    for j in n - n % 4..n {
        for r in 0..BLOCK {
            sums[r] += rows[r][j] * y[j];
        }
    }
    sums
}

#[inline]
fn add_products(lane: &mut [f64; 4], row: &[f64], y: &[f64]) {
    for k in 0..4 {
        lane[k] += row[k] * y[k];
    }
}

/// `x ← x − Σᵣ aᵣ rowᵣ`.
#[inline]
fn subtract_four(rows: [&[f64]; BLOCK], a: [f64; BLOCK], x: &mut [f64]) {
    let n = x.len();
    let [r0, r1, r2, r3] = rows.map(|row| &row[..n]);
    for j in 0..n {
        x[j] -= (a[0] * r0[j] + a[1] * r1[j]) + (a[2] * r2[j] + a[3] * r3[j]);
    }
}

/// The row and column that would enter the factor next, already substituted. See [`IncrementalFactor::border`].
#[derive(Debug, Clone, Default)]
pub struct Border {
    /// In: `A_Cd`. Out: `D⁻¹ L⁻¹ A_Cd`, the new column of U. k.
    pub column: Vec<f64>,
    /// In: `A_dC`. Out: `D⁻¹ U⁻ᵀ A_dCᵀ`, the new row of L. k; not used for a symmetric matrix.
    pub row: Vec<f64>,
    /// In: `A_dd`. Out: the pivot `A_dd − A_dC A_CC⁻¹ A_Cd`, which is `Δw_d` of [Baraff94, Eq. 8].
    pub pivot: f64,
}

impl Border {
    /// Takes room for `capacity` indices.
    pub fn reset(&mut self, capacity: usize) {
        self.column.clear();
        self.column.reserve(capacity);
        self.row.clear();
        self.row.reserve(capacity);
        self.pivot = 0.0;
    }
}

/// A pivot was lost: zero, or not a number. The factor is of no further use until it is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostPivot;

/// The factor. See the [module](self).
#[derive(Debug, Clone, Default)]
pub struct IncrementalFactor {
    symmetric: bool,
    lower: Triangle,
    upper: Triangle,
    diagonal: Vec<f64>,
    /// Scratch of [`IncrementalFactor::remove`]: the column and row taken away, and the two multipliers.
    left: Vec<f64>,
    right: Vec<f64>,
    left_beta: Vec<f64>,
    right_beta: Vec<f64>,
}

impl IncrementalFactor {
    /// The factor of the empty set, with room for `capacity` indices. A symmetric one holds `L` only.
    pub fn reset(&mut self, capacity: usize, symmetric: bool) {
        self.symmetric = symmetric;
        self.lower.reset(capacity);
        self.upper.reset(if symmetric { 0 } else { capacity });
        let vectors = [&mut self.diagonal, &mut self.left, &mut self.right, &mut self.left_beta, &mut self.right_beta];
        for vector in vectors {
            vector.clear();
            vector.reserve(capacity);
        }
    }

    /// Number of indices k in the set.
    pub fn order(&self) -> usize {
        self.diagonal.len()
    }

    /// Substitutes a border in place: half of the work of [`Self::direction`], and all of that of [`Self::append`].
    pub fn border(&self, border: &mut Border) {
        let upper = if self.symmetric { &self.lower } else { &self.upper };
        self.lower.forward(&mut border.column);
        if self.symmetric {
            for (c, d) in border.column.iter_mut().zip(&self.diagonal) {
                let y = *c;
                *c = y / d;
                border.pivot -= y * *c;
            }
        } else {
            upper.forward(&mut border.row);
            for ((c, r), d) in border.column.iter_mut().zip(&mut border.row).zip(&self.diagonal) {
                let y = *c;
                *c = y / d;
                border.pivot -= *r * *c;
                *r /= d;
            }
        }
    }

    /// The size of the terms of the pivot: `|pivot| + Σ |lᵢ dᵢ uᵢ|`.
    pub fn size(&self, border: &Border) -> f64 {
        let row = if self.symmetric { &border.column } else { &border.row };
        let terms = row.iter().zip(&border.column).zip(&self.diagonal);
        terms.fold(border.pivot.abs(), |s, ((l, u), d)| s + (l * d * u).abs())
    }

    /// `x ← −A_CC⁻¹ A_Cd` from the substituted border. Reference: [Baraff94, Eq. 9].
    pub fn direction(&self, border: &Border, x: &mut Vec<f64>) {
        x.clear();
        x.extend(border.column.iter().map(|c| -c));
        if self.symmetric { self.lower.backward(x) } else { self.upper.backward(x) }
    }

    /// `y ← −A_CC⁻ᵀ A_dCᵀ` from the substituted border; the same as [`Self::direction`] for a symmetric matrix.
    pub fn left_direction(&self, border: &Border, y: &mut Vec<f64>) {
        y.clear();
        let row = if self.symmetric { &border.column } else { &border.row };
        y.extend(row.iter().map(|r| -r));
        self.lower.backward(y);
    }

    /// The substituted border becomes the last row and column.
    ///
    /// # Errors
    /// `LostPivot` if its pivot is zero or not finite; the factor is unchanged.
    pub fn append(&mut self, border: &Border) -> Result<(), LostPivot> {
        if border.pivot == 0.0 || !border.pivot.is_finite() {
            return Err(LostPivot);
        }
        let row = if self.symmetric { &border.column } else { &border.row };
        self.lower.data.extend_from_slice(row);
        if !self.symmetric {
            self.upper.data.extend_from_slice(&border.column);
        }
        self.diagonal.push(border.pivot);
        Ok(())
    }

    /// Takes the index at position `p` out of the set; those behind it move up by one.
    ///
    /// What stood behind p satisfies `L₃ D₃ U₃ + d_p l u`, l and u the column and row of p: a rank-one update.
    ///
    /// # Errors
    /// `LostPivot` if a pivot becomes zero or not finite.
    pub fn remove(&mut self, p: usize) -> Result<(), LostPivot> {
        let k = self.order();
        let mut alpha = self.diagonal[p];
        fill_with_column(&self.lower, p, k, &mut self.left, &mut self.left_beta);
        if !self.symmetric {
            fill_with_column(&self.upper, p, k, &mut self.right, &mut self.right_beta);
        }
        let mut sound = true;
        for first in (p + 1..k).step_by(BLOCK) {
            interrupt::check_at(first / BLOCK);
            let count = BLOCK.min(k - first);
            self.lower.carry_block(p, first, count, &mut self.left, &self.left_beta);
            if !self.symmetric {
                self.upper.carry_block(p, first, count, &mut self.right, &self.right_beta);
            }
            for i in first..first + count {
                self.lower.carry_row(i, first, i, &mut self.left, &self.left_beta);
                if !self.symmetric {
                    self.upper.carry_row(i, first, i, &mut self.right, &self.right_beta);
                }
                let (l, old) = (self.left[i], self.diagonal[i]);
                let u = if self.symmetric { l } else { self.right[i] };
                let new = old + alpha * l * u;
                sound &= new != 0.0 && new.is_finite();
                self.left_beta[i] = alpha * u / new;
                if !self.symmetric {
                    self.right_beta[i] = alpha * l / new;
                }
                alpha *= old / new;
                self.diagonal[i - 1] = new;
            }
        }
        self.diagonal.pop();
        self.lower.data.truncate(start(k - 1));
        self.upper.data.truncate(start(k - 1));
        if sound { Ok(()) } else { Err(LostPivot) }
    }

    /// `x ← A_CC⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        self.lower.forward(x);
        for (x, d) in x.iter_mut().zip(&self.diagonal) {
            *x /= d;
        }
        if self.symmetric { self.lower.backward(x) } else { self.upper.backward(x) }
    }
}

/// Column `p` of a triangle below its diagonal into `v[p + 1..k]`; `beta` gets the same length.
fn fill_with_column(triangle: &Triangle, p: usize, k: usize, v: &mut Vec<f64>, beta: &mut Vec<f64>) {
    v.clear();
    v.resize(k, 0.0);
    beta.clear();
    beta.resize(k, 0.0);
    for i in p + 1..k {
        v[i] = triangle.data[start(i) + p];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::rng::Rng;

    /// Puts index `j` of `a` behind the indices `set`.
    fn append(factor: &mut IncrementalFactor, a: &Matrix, set: &mut Vec<usize>, j: usize) {
        let mut border = Border {
            column: set.iter().map(|&i| a[(i, j)]).collect(),
            row: set.iter().map(|&i| a[(j, i)]).collect(),
            pivot: a[(j, j)],
        };
        factor.border(&mut border);
        factor.append(&border).unwrap();
        set.push(j);
    }

    /// The largest |A_CC x − b| for the solution x of a fixed b.
    fn residual(factor: &IncrementalFactor, a: &Matrix, set: &[usize]) -> f64 {
        let b: Vec<f64> = (0..set.len()).map(|i| 1.0 + i as f64).collect();
        let mut x = b.clone();
        factor.solve(&mut x);
        let row = |i: usize| -> f64 { set.iter().zip(&x).map(|(&j, x)| a[(set[i], j)] * x).sum() };
        (0..set.len()).map(|i| (row(i) - b[i]).abs()).fold(0.0, f64::max)
    }

    fn positive_definite(rng: &mut Rng, n: usize, skew: f64) -> Matrix {
        let g = Matrix::from_fn(n, n, |_, _| rng.normal());
        let k = Matrix::from_fn(n, n, |_, _| skew * rng.normal());
        Matrix::from_fn(n, n, |i, j| {
            let gram: f64 = (0..n).map(|l| g[(i, l)] * g[(j, l)]).sum();
            gram + k[(i, j)] - k[(j, i)] + if i == j { 1.0 } else { 0.0 }
        })
    }

    #[test]
    fn comes_and_goes_like_a_fresh_factor() {
        for (seed, skew) in [(1, 0.0), (2, 0.0), (3, 3.0), (4, 3.0)] {
            let mut rng = Rng::new(seed);
            let n = 41;
            let a = positive_definite(&mut rng, n, skew);
            let mut factor = IncrementalFactor::default();
            factor.reset(n, skew == 0.0);
            let (mut set, mut out) = (Vec::new(), (0..n).collect::<Vec<_>>());
            for _ in 0..400 {
                if out.is_empty() || !set.is_empty() && rng.chance(0.45) {
                    let p = rng.below(set.len());
                    factor.remove(p).unwrap();
                    out.push(set.remove(p));
                } else {
                    let j = out.swap_remove(rng.below(out.len()));
                    append(&mut factor, &a, &mut set, j);
                }
                assert_eq!(factor.order(), set.len());
                assert!(residual(&factor, &a, &set) < 1e-9, "skew {skew}, set of {}", set.len());
            }
        }
    }

    #[test]
    fn direction_is_the_papers() {
        let mut rng = Rng::new(9);
        let a = positive_definite(&mut rng, 7, 2.0);
        let mut factor = IncrementalFactor::default();
        factor.reset(7, false);
        let mut set = Vec::new();
        for j in [3, 0, 6, 2] {
            append(&mut factor, &a, &mut set, j);
        }
        let d = 5;
        let mut border = Border {
            column: set.iter().map(|&i| a[(i, d)]).collect(),
            row: set.iter().map(|&i| a[(d, i)]).collect(),
            pivot: a[(d, d)],
        };
        factor.border(&mut border);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        factor.direction(&border, &mut x);
        factor.left_direction(&border, &mut y);
        for &i in &set {
            let delta: f64 = set.iter().zip(&x).map(|(&j, x)| a[(i, j)] * x).sum::<f64>() + a[(i, d)];
            let left: f64 = set.iter().zip(&y).map(|(&j, y)| a[(j, i)] * y).sum::<f64>() + a[(d, i)];
            assert!(delta.abs() < 1e-12 && left.abs() < 1e-12, "row {i}: {delta:e} {left:e}");
        }
        let delta = set.iter().zip(&x).map(|(&j, x)| a[(d, j)] * x).sum::<f64>() + a[(d, d)];
        assert!((delta - border.pivot).abs() < 1e-12 * delta.abs());
    }

    #[test]
    fn lost_pivots_are_reported() {
        let a = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
        let mut factor = IncrementalFactor::default();
        factor.reset(2, true);
        append(&mut factor, &a, &mut Vec::new(), 0);
        let mut border = Border { column: vec![1.0], row: vec![], pivot: 1.0 };
        factor.border(&mut border);
        assert_eq!(border.pivot, 0.0);
        assert_eq!(factor.append(&border), Err(LostPivot));
        assert_eq!(factor.order(), 1);
        // [0 1; 1 0] has a factor only as a whole pivoted one: without row 0 nothing is left of row 1.
        let mut factor = IncrementalFactor::default();
        factor.reset(2, true);
        let b = Matrix::from_rows(&[[1.0, 1.0], [1.0, 0.0]]).unwrap();
        let mut set = Vec::new();
        append(&mut factor, &b, &mut set, 0);
        append(&mut factor, &b, &mut set, 1);
        assert_eq!(factor.remove(0), Err(LostPivot));
    }
}
