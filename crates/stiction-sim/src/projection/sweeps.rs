//! Least motion under many rows: min ½ xᵀ M x with `row · x ≥ bound`, over the multipliers of the rows.
//!
//! Gauss–Seidel sweeps with conjugate directions: a sweep is linear in the rows, and the directions carry what one sweep
//! hands from body to neighbour across a whole heap. Each step of a sweep solves one row; the steps of two sweeps give the
//! factor by which the direction of the last one is followed, and where a step grows the direction is forgotten.
//!
//! Reference: [Silcowitz10].

use stiction_contact::Mass;

/// Most sweeps: where the rows cannot all hold, multipliers grow without end.
const MOST_SWEEPS: usize = 300;

/// Where the rows cannot all hold, each gives way by this part of what its own multiplier moves.
const COMPLIANCE: f64 = 1e-2;

/// A row: its numbers, and those of M⁻¹ rowᵀ, for one or two blocks.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// Where its blocks' velocities and numbers start.
    v: [usize; 2],
    at: [usize; 2],
    len: [usize; 2],
    bound: f64,
    /// `row M⁻¹ rowᵀ`.
    w: f64,
    tolerance: f64,
}

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Sweeps {
    rows: Vec<Row>,
    /// Numbers of the rows, and beside them those of M⁻¹ rowᵀ.
    numbers: Vec<f64>,
    pushes: Vec<f64>,
    /// Blocks of the problem that rows have numbers for, each with its first velocity here.
    blocks: Vec<(usize, usize)>,
    /// The place of each block of the problem in `blocks`.
    place: Vec<Option<usize>>,
    multipliers: Vec<f64>,
    before: Vec<f64>,
    direction: Vec<f64>,
    x: Vec<f64>,
    x_before: Vec<f64>,
    x_direction: Vec<f64>,
}

impl Sweeps {
    /// Forgets all rows.
    pub fn clear(&mut self, blocks: usize) {
        self.rows.clear();
        self.numbers.clear();
        self.pushes.clear();
        self.blocks.iter().for_each(|(b, _)| self.place[*b] = None);
        self.place.resize(blocks, None);
        self.blocks.clear();
        self.x.clear();
    }

    /// Adds `row · x ≥ bound`, which may be missed by `tolerance`. A row is on one block or two.
    pub fn add(&mut self, mass: &Mass, row: &[(usize, &[f64])], bound: f64, tolerance: f64) {
        let mut new = Row { bound, tolerance, ..Row::default() };
        for (k, &(block, numbers)) in row.iter().enumerate() {
            let at = self.numbers.len();
            self.numbers.extend_from_slice(numbers);
            self.pushes.extend_from_slice(numbers);
            let push = &mut self.pushes[at..];
            mass.solve_factor(block, push);
            new.w += push.iter().map(|x| x * x).sum::<f64>();
            mass.solve_factor_transposed(block, push);
            (new.v[k], new.at[k], new.len[k]) = (self.velocities(block, numbers.len()), at, numbers.len());
        }
        if new.w > 0.0 {
            self.rows.push(new);
        }
    }

    /// The first velocity of a block here.
    fn velocities(&mut self, block: usize, len: usize) -> usize {
        let (blocks, x) = (&mut self.blocks, &mut self.x);
        let place = *self.place[block].get_or_insert_with(|| {
            blocks.push((block, x.len()));
            x.resize(x.len() + len, 0.0);
            blocks.len() - 1
        });
        blocks[place].1
    }

    /// Finds the least motion; true if every row holds within its tolerance. Else the rows give way a little, and the motion
    /// is the one that violates them least.
    pub fn solve(&mut self) -> bool {
        if self.iterate(0.0) {
            return true;
        }
        self.iterate(COMPLIANCE);
        false
    }

    /// The motion of each block.
    pub fn motion(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let ends = self.blocks.iter().skip(1).map(|(_, at)| *at).chain([self.x.len()]);
        self.blocks.iter().zip(ends).map(|(&(block, at), end)| (block, &self.x[at..end]))
    }

    fn iterate(&mut self, compliance: f64) -> bool {
        let zero = |x: &mut Vec<f64>, len: usize| {
            x.clear();
            x.resize(len, 0.0);
        };
        zero(&mut self.multipliers, self.rows.len());
        zero(&mut self.direction, self.rows.len());
        zero(&mut self.x_direction, self.x.len());
        self.x.fill(0.0);
        let mut last = 0.0;
        for _ in 0..MOST_SWEEPS {
            stiction_lcp::interrupt::check();
            self.before.clone_from(&self.multipliers);
            self.x_before.clone_from(&self.x);
            if self.sweep(compliance) <= 1.0 {
                return true;
            }
            let steps = self.multipliers.iter().zip(&self.before).zip(&self.rows);
            let square: f64 = steps.map(|((new, old), row)| row.w * (new - old) * (new - old)).sum();
            let factor = if square < last { square / last } else { 0.0 };
            last = square;
            follow(&mut self.multipliers, &self.before, &mut self.direction, factor);
            follow(&mut self.x, &self.x_before, &mut self.x_direction, factor);
        }
        false
    }

    /// Solves row after row; returns the largest change of a row's own motion beside its tolerance.
    fn sweep(&mut self, compliance: f64) -> f64 {
        let mut worst = 0.0_f64;
        for (row, multiplier) in self.rows.iter().zip(&mut self.multipliers) {
            let mut motion = compliance * row.w * *multiplier - row.bound;
            for k in 0..2 {
                let numbers = &self.numbers[row.at[k]..row.at[k] + row.len[k]];
                motion += dot(numbers, &self.x[row.v[k]..row.v[k] + row.len[k]]);
            }
            let w = (1.0 + compliance) * row.w;
            let new = (*multiplier - motion / w).max(0.0);
            let step = new - *multiplier;
            *multiplier = new;
            worst = worst.max(step.abs() * w / row.tolerance);
            if step != 0.0 {
                for k in 0..2 {
                    let push = &self.pushes[row.at[k]..row.at[k] + row.len[k]];
                    let x = &mut self.x[row.v[k]..row.v[k] + row.len[k]];
                    add(step, push, x);
                }
            }
        }
        worst
    }
}

/// `direction ← x − before + factor direction`, and `x` moves by `factor` of what the direction was.
fn follow(x: &mut [f64], before: &[f64], direction: &mut [f64], factor: f64) {
    for ((x, before), direction) in x.iter_mut().zip(before).zip(direction) {
        let along = factor * *direction;
        *direction = *x - before + along;
        *x += along;
    }
}

/// A product of two rows of numbers: six of a free body at once, else one after the other.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    match (<&[f64; 6]>::try_from(a), <&[f64; 6]>::try_from(b)) {
        (Ok(a), Ok(b)) => (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]),
        _ => a.iter().zip(b).map(|(a, b)| a * b).sum(),
    }
}

#[inline]
fn add(factor: f64, a: &[f64], x: &mut [f64]) {
    match (<&[f64; 6]>::try_from(a), <&mut [f64; 6]>::try_from(&mut *x)) {
        (Ok(a), Ok(x)) => (0..6).for_each(|k| x[k] += factor * a[k]),
        _ => x.iter_mut().zip(a).for_each(|(x, a)| *x += factor * a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::Matrix;

    /// A row of particles on a line, each overlapping its neighbours; the first is held by a wall.
    fn line(n: usize, heavy: f64) -> (Mass, Sweeps) {
        let masses = (0..n).map(|k| Matrix::from_fn(1, 1, |_, _| if k % 2 == 0 { 1.0 } else { heavy })).collect();
        let (mass, mut sweeps) = (Mass::new(masses).unwrap(), Sweeps::default());
        sweeps.clear(n);
        sweeps.add(&mass, &[(0, &[1.0])], 1e-5, 1e-12);
        (1..n).for_each(|k| sweeps.add(&mass, &[(k - 1, &[-1.0]), (k, &[1.0])], 1e-5, 1e-12));
        (mass, sweeps)
    }

    #[test]
    fn overlaps_along_a_line_add_up() {
        for (n, heavy) in [(1, 1.0), (2, 100.0), (20, 1.0), (20, 3.0)] {
            let (_, mut sweeps) = line(n, heavy);
            assert!(sweeps.solve());
            for (block, x) in sweeps.motion() {
                assert!((x[0] - 1e-5 * (block + 1) as f64).abs() < 1e-10, "{n} {block}: {x:?}");
            }
        }
    }

    #[test]
    fn rows_that_hold_are_left_alone_and_contradictions_are_shared() {
        let (mass, mut sweeps) = line(3, 1.0);
        sweeps.clear(3);
        sweeps.add(&mass, &[(1, &[1.0])], -1.0, 1e-12);
        sweeps.add(&mass, &[(2, &[1.0])], 0.0, 1e-12);
        assert!(sweeps.solve() && sweeps.motion().all(|(_, x)| x == [0.0]));
        sweeps.clear(3);
        sweeps.add(&mass, &[(1, &[1.0])], 3e-3, 1e-12);
        sweeps.add(&mass, &[(1, &[-1.0])], -1e-3, 1e-12);
        assert!(!sweeps.solve());
        let (block, x) = sweeps.motion().next().unwrap();
        assert!(block == 1 && (x[0] - 2e-3).abs() < 2e-5, "{x:?}");
    }
}
