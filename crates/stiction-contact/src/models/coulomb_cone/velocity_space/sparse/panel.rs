//! Dense kernels of a supernode, in tiles of eight rows by four columns.
//!
//! A symmetric matrix has one half, L of `L Lᵀ`; any other has two, L and Uᵀ of `L U`, which are
//! treated alike: what one subtracts are products with the other. So every function here takes H
//! halves, and the partner of half h is half H − 1 − h. Panels are column by column, of constant
//! stride. Every entry is the sum of its own products in a fixed order: the same bits at every
//! vector width.

/// Columns of a tile, and the least number of its rows.
pub(super) const TILE: usize = 4;
/// Rows of a tile but for the last.
const ROWS: usize = 2 * TILE;
/// Columns that are eliminated before the rest is updated: their panel stays in the cache nearby.
const BLOCK: usize = 48;
/// A pivot of at most this, relative to its diagonal entry, is rounding.
const PIVOT_TOLERANCE: f64 = 1e-15;

/// Sizes of a panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Number of columns.
    pub columns: usize,
    /// Rows below the columns.
    pub below: usize,
    /// Numbers from one column to the next.
    pub stride: usize,
    /// Numbers from one column of the update to the next.
    pub update_stride: usize,
}

/// Factors panels, whose pivots are compared with `entries`, into `inverses` of the diagonal, and
/// computes what their columns take from the rows and columns below. False if a pivot is rounding
/// or, with one half, not positive.
#[inline(always)]
pub(super) fn factor<const H: usize>(
    mut panels: [&mut [f64]; H],
    updates: [&mut [f64]; H],
    shape: &Shape,
    entries: &[f64],
    inverses: &mut [f64],
) -> bool {
    let (columns, stride) = (shape.columns, shape.stride);
    let mut start = 0;
    while start < columns {
        let end = (start + BLOCK).min(columns);
        let mut j = start;
        while j < end {
            let width = TILE.min(end - j);
            let (entries, inverses) = (&entries[j..j + width], &mut inverses[j..j + width]);
            let done = match width {
                4 => eliminate::<H, 4>(&mut panels, shape, start, j, entries, inverses),
                3 => eliminate::<H, 3>(&mut panels, shape, start, j, entries, inverses),
                2 => eliminate::<H, 2>(&mut panels, shape, start, j, entries, inverses),
                _ => eliminate::<H, 1>(&mut panels, shape, start, j, entries, inverses),
            };
            if !done {
                return false;
            }
            j += width;
        }
        for h in 0..H {
            for j in (end..columns).step_by(TILE) {
                let (done, rest) = split(&mut panels, end * stride);
                let (a, b) = (&done[h][start * stride + j..], &done[H - 1 - h][start * stride + j..]);
                let to = &mut rest[h][(j - end) * stride + j..];
                let rows = columns + shape.below - j;
                match TILE.min(columns - j) {
                    4 => subtract::<4>(a, b, stride, end - start, to, stride, rows, false),
                    3 => subtract::<3>(a, b, stride, end - start, to, stride, rows, false),
                    2 => subtract::<2>(a, b, stride, end - start, to, stride, rows, false),
                    _ => subtract::<1>(a, b, stride, end - start, to, stride, rows, false),
                }
            }
            for j in (0..shape.below).step_by(TILE) {
                let at = start * stride + columns + j;
                let (a, b) = (&panels[h][at..], &panels[H - 1 - h][at..]);
                let to = &mut updates[h][j * shape.update_stride + j..];
                subtract::<TILE>(a, b, stride, end - start, to, shape.update_stride, shape.below - j, start == 0);
            }
        }
        start = end;
    }
    true
}

/// All halves before and after a place.
#[inline(always)]
fn split<'a, const H: usize>(panels: &'a mut [&mut [f64]; H], at: usize) -> ([&'a [f64]; H], [&'a mut [f64]; H]) {
    let mut after: [&mut [f64]; H] = std::array::from_fn(|_| &mut [][..]);
    let mut before: [&[f64]; H] = [&[]; H];
    for (k, panel) in panels.iter_mut().enumerate() {
        let (first, rest) = panel.split_at_mut(at);
        before[k] = first;
        after[k] = rest;
    }
    (before, after)
}

/// Eliminates columns j to j + W, from which those from `start` to j have not been subtracted yet.
#[inline(always)]
fn eliminate<const H: usize, const W: usize>(
    panels: &mut [&mut [f64]; H],
    shape: &Shape,
    start: usize,
    j: usize,
    entries: &[f64],
    inverses: &mut [f64],
) -> bool {
    let (stride, height, count) = (shape.stride, shape.columns + shape.below, j - start);
    let (done, rest) = split(panels, j * stride);
    let mut top = [[[0.0; TILE]; W]; H];
    for h in 0..H {
        let (a, b) = (&done[h][start * stride..], &done[H - 1 - h][start * stride..]);
        top[h] = load(&rest[h][j..], stride);
        take_products(&mut top[h], a, b, j, j, stride, count);
    }
    let mut corner = Corner::<H, W>::default();
    if !corner.factor(&top, entries) {
        return false;
    }
    inverses.copy_from_slice(&corner.inverses);
    for h in 0..H {
        corner.solve(h, &mut top[h]);
        for (k, column) in top[h].iter_mut().enumerate() {
            column[..=k].fill(0.0);
        }
        store(&top[h], &mut rest[h][j..], stride);
        let (a, b) = (&done[h][start * stride..], &done[H - 1 - h][start * stride..]);
        let mut row = j + TILE;
        while row + TILE < height {
            let mut x: [[f64; ROWS]; W] = load(&rest[h][row..], stride);
            take_products(&mut x, a, b, row, j, stride, count);
            corner.solve(h, &mut x);
            store(&x, &mut rest[h][row..], stride);
            row += ROWS;
        }
        if row < height {
            let mut x: [[f64; TILE]; W] = load(&rest[h][row..], stride);
            take_products(&mut x, a, b, row, j, stride, count);
            corner.solve(h, &mut x);
            store(&x, &mut rest[h][row..], stride);
        }
    }
    true
}

/// The factor of a small block on the diagonal.
struct Corner<const H: usize, const W: usize> {
    /// Strictly lower triangles by which the rows of each half are solved: Uᵀ and L, or L alone.
    triangles: [[[f64; W]; W]; H],
    inverses: [f64; W],
}

impl<const H: usize, const W: usize> Default for Corner<H, W> {
    fn default() -> Self {
        Self { triangles: [[[0.0; W]; W]; H], inverses: [0.0; W] }
    }
}

impl<const H: usize, const W: usize> Corner<H, W> {
    /// Factors the first W rows of the tiles on top.
    #[inline(always)]
    fn factor(&mut self, top: &[[[f64; TILE]; W]; H], entries: &[f64]) -> bool {
        let partner = H - 1;
        for j in 0..W {
            let mut pivot = top[0][j][j];
            for l in 0..j {
                pivot -= self.triangles[partner][j][l] * self.triangles[0][j][l];
            }
            let (size, entry) = if H == 1 { (pivot, entries[j]) } else { (pivot.abs(), entries[j].abs()) };
            if size.is_nan() || size <= PIVOT_TOLERANCE * entry {
                return false;
            }
            self.inverses[j] = if H == 1 { 1.0 / pivot.sqrt() } else { 1.0 / pivot };
            for i in j + 1..W {
                for h in 0..H {
                    let mut x = top[h][j][i];
                    for l in 0..j {
                        // Rows of L are kept as the triangle of its partner, and the other way
                        // round.
                        x -= self.triangles[H - 1 - h][i][l] * self.triangles[h][j][l];
                    }
                    self.triangles[H - 1 - h][i][j] = if h == 0 { x * self.inverses[j] } else { x };
                }
            }
        }
        true
    }

    /// Divides the rows of a tile by the block.
    #[inline(always)]
    fn solve<const M: usize>(&self, half: usize, x: &mut [[f64; M]; W]) {
        for j in 0..W {
            let mut column = x[j];
            for l in 0..j {
                for (c, y) in column.iter_mut().zip(&x[l]) {
                    *c -= y * self.triangles[half][j][l];
                }
            }
            if half == 0 {
                column.iter_mut().for_each(|c| *c *= self.inverses[j]);
            }
            x[j] = column;
        }
    }
}

/// `c ← c − Σ aₖ bₖᵀ` over `count` columns, for W columns of c; only the product if `fresh`.
#[inline(always)]
fn subtract<const W: usize>(
    a: &[f64],
    b: &[f64],
    stride: usize,
    count: usize,
    c: &mut [f64],
    c_stride: usize,
    rows: usize,
    fresh: bool,
) {
    let mut row = 0;
    while row + TILE < rows {
        let mut x: [[f64; ROWS]; W] = if fresh { [[0.0; ROWS]; W] } else { load(&c[row..], c_stride) };
        take_products(&mut x, a, b, row, 0, stride, count);
        store(&x, &mut c[row..], c_stride);
        row += ROWS;
    }
    if row < rows {
        let mut x: [[f64; TILE]; W] = if fresh { [[0.0; TILE]; W] } else { load(&c[row..], c_stride) };
        take_products(&mut x, a, b, row, 0, stride, count);
        store(&x, &mut c[row..], c_stride);
    }
}

/// `x ← x − Σ aₖ bₖᵀ`, of rows from `row` and `col` on.
#[inline(always)]
fn take_products<const M: usize, const W: usize>(
    x: &mut [[f64; M]; W],
    a: &[f64],
    b: &[f64],
    row: usize,
    col: usize,
    stride: usize,
    count: usize,
) {
    if count == 0 {
        return;
    }
    let mut sum = [[0.0; M]; W];
    // Not by `chunks`, whose length takes a division.
    let (mut a, mut b) = (&a[row..], &b[col..]);
    for n in 0..count {
        if n > 0 {
            (a, b) = (&a[stride..], &b[stride..]);
        }
        let (Some(a), Some(b)) = (a.first_chunk::<M>(), b.first_chunk::<W>()) else { return };
        for k in 0..W {
            for i in 0..M {
                sum[k][i] += a[i] * b[k];
            }
        }
    }
    for k in 0..W {
        for i in 0..M {
            x[k][i] -= sum[k][i];
        }
    }
}

#[inline(always)]
fn load<const M: usize, const W: usize>(from: &[f64], stride: usize) -> [[f64; M]; W] {
    let mut x = [[0.0; M]; W];
    for (k, column) in x.iter_mut().enumerate() {
        column.copy_from_slice(&from[k * stride..k * stride + M]);
    }
    x
}

#[inline(always)]
fn store<const M: usize, const W: usize>(x: &[[f64; M]; W], to: &mut [f64], stride: usize) {
    for (k, column) in x.iter().enumerate() {
        to[k * stride..k * stride + M].copy_from_slice(column);
    }
}

/// Sums of a row's products, in lanes that are added in a fixed order.
#[inline(always)]
fn add_lanes(lanes: &[f64; TILE]) -> f64 {
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
}

/// `x ← L⁻¹ x` for the rows of a panel: its columns first, then what they take from the rows below.
/// The diagonal of L has these inverses, or is one.
#[inline(always)]
pub(super) fn solve_forward(panel: &[f64], shape: &Shape, inverses: Option<&[f64]>, x: &mut [f64]) {
    let mut j = 0;
    while j < shape.columns {
        match shape.columns - j {
            1 => forward::<1>(panel, shape, j, inverses, x),
            2 => forward::<2>(panel, shape, j, inverses, x),
            3 => forward::<3>(panel, shape, j, inverses, x),
            _ => forward::<4>(panel, shape, j, inverses, x),
        }
        j += TILE;
    }
}

#[inline(always)]
fn forward<const W: usize>(panel: &[f64], shape: &Shape, j: usize, inverses: Option<&[f64]>, x: &mut [f64]) {
    let (columns, rows) = columns_from::<W>(panel, shape, j);
    let Some((top, rest)) = x[j..j + rows].as_chunks_mut::<TILE>().0.split_first_mut() else { return };
    let mut own = *top;
    for k in 0..W {
        own[k] *= inverses.map_or(1.0, |s| s[j + k]);
        for i in k + 1..TILE {
            own[i] -= columns[k][0][i] * own[k];
        }
    }
    *top = own;
    for (r, x) in rest.iter_mut().enumerate() {
        let mut below = *x;
        for k in 0..W {
            for i in 0..TILE {
                below[i] -= columns[k][r + 1][i] * own[k];
            }
        }
        *x = below;
    }
}

/// `x ← L⁻ᵀ x` for the columns of a panel, given x of the rows below. The diagonal of L has these
/// inverses.
#[inline(always)]
pub(super) fn solve_backward(panel: &[f64], shape: &Shape, inverses: &[f64], x: &mut [f64]) {
    for j in (0..shape.columns).step_by(TILE).rev() {
        match shape.columns - j {
            1 => backward::<1>(panel, shape, j, inverses, x),
            2 => backward::<2>(panel, shape, j, inverses, x),
            3 => backward::<3>(panel, shape, j, inverses, x),
            _ => backward::<4>(panel, shape, j, inverses, x),
        }
    }
}

#[inline(always)]
fn backward<const W: usize>(panel: &[f64], shape: &Shape, j: usize, inverses: &[f64], x: &mut [f64]) {
    let (columns, rows) = columns_from::<W>(panel, shape, j);
    let Some((top, rest)) = x[j..j + rows].as_chunks_mut::<TILE>().0.split_first_mut() else { return };
    let mut sums = [[0.0; TILE]; W];
    for (r, x) in rest.iter().enumerate() {
        for k in 0..W {
            for i in 0..TILE {
                sums[k][i] += columns[k][r + 1][i] * x[i];
            }
        }
    }
    let mut own = *top;
    for k in 0..W {
        for i in W..TILE {
            sums[k][i] += columns[k][0][i] * own[i];
        }
        own[k] -= add_lanes(&sums[k]);
    }
    for k in (0..W).rev() {
        own[k] *= inverses[j + k];
        for i in 0..k {
            own[i] -= columns[i][0][k] * own[k];
        }
    }
    *top = own;
}

/// W columns from the diagonal of the first of them on, in tiles, and the number of rows.
#[inline(always)]
fn columns_from<'a, const W: usize>(panel: &'a [f64], shape: &Shape, j: usize) -> ([&'a [[f64; TILE]]; W], usize) {
    let rows = (shape.columns + shape.below - j).next_multiple_of(TILE);
    (std::array::from_fn(|k| panel[(j + k) * shape.stride + j..][..rows].as_chunks().0), rows)
}
