//! Least motion under many rows: min ½ xᵀ M x with `row · x ≥ bound`.
//!
//! In whitened coordinates, where M is the identity. First by sweeps, linear in the rows, which is
//! all that the scattered overlaps of a heap take; where what is moved has to be passed on from
//! body to body, as along a tower, by Newton's method with a factor over the graph of bodies.

use stiction_contact::Mass;

use super::newton::Newton;
use super::sweeps::Sweeps;

/// A row on one block or two.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row {
    /// Where its blocks' velocities and its numbers start, and how many there are.
    pub v: [usize; 2],
    pub at: [usize; 2],
    pub len: [usize; 2],
    /// The least motion along the row.
    pub bound: f64,
    /// `row M⁻¹ rowᵀ`.
    pub w: f64,
    /// The residual allowed at its bound.
    pub tolerance: f64,
}

/// The rows of an island, and the motion.
#[derive(Debug, Clone, Default)]
pub(super) struct Problem {
    pub rows: Vec<Row>,
    /// Whitened numbers of all rows.
    numbers: Vec<f64>,
    /// Blocks that rows have numbers for, each with its first velocity here.
    pub blocks: Vec<(usize, usize)>,
    /// The whitened motion.
    pub x: Vec<f64>,
}

impl Problem {
    /// The numbers of a row for its first or second block.
    #[inline]
    pub(super) fn numbers(&self, row: &Row, k: usize) -> &[f64] {
        &self.numbers[row.at[k]..row.at[k] + row.len[k]]
    }

    /// The motion along a row.
    #[inline]
    pub(super) fn along(&self, row: &Row) -> f64 {
        let part = |k: usize| dot(self.numbers(row, k), &self.x[row.v[k]..row.v[k] + row.len[k]]);
        part(0) + part(1)
    }

    /// Moves by `p` along a row.
    #[inline]
    pub(super) fn push(&mut self, row: &Row, p: f64) {
        for k in 0..2 {
            let numbers = &self.numbers[row.at[k]..row.at[k] + row.len[k]];
            add(p, numbers, &mut self.x[row.v[k]..row.v[k] + row.len[k]]);
        }
    }
}

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct LeastMotion {
    problem: Problem,
    /// The place of each block of the whole among those of the problem.
    place: Vec<Option<usize>>,
    sweeps: Sweeps,
    newton: Newton,
}

impl LeastMotion {
    /// Forgets all rows.
    pub(super) fn clear(&mut self, blocks: usize) {
        let problem = &mut self.problem;
        problem.rows.clear();
        problem.numbers.clear();
        problem.blocks.iter().for_each(|(b, _)| self.place[*b] = None);
        self.place.resize(blocks, None);
        problem.blocks.clear();
        problem.x.clear();
    }

    /// Adds `row · x ≥ bound`, which may be missed by `tolerance`.
    pub(super) fn add(&mut self, mass: &Mass, row: &[(usize, &[f64])], bound: f64, tolerance: f64) {
        let mut new = Row { bound, tolerance, ..Row::default() };
        for (k, &(block, numbers)) in row.iter().enumerate() {
            let at = self.problem.numbers.len();
            self.problem.numbers.extend_from_slice(numbers);
            let white = &mut self.problem.numbers[at..];
            mass.solve_factor(block, white);
            new.w += white.iter().map(|x| x * x).sum::<f64>();
            (new.v[k], new.at[k], new.len[k]) = (self.velocities(block, numbers.len()), at, numbers.len());
        }
        if new.w > 0.0 {
            self.problem.rows.push(new);
        }
    }

    /// The first velocity of a block here.
    fn velocities(&mut self, block: usize, len: usize) -> usize {
        let Problem { blocks, x, .. } = &mut self.problem;
        let place = *self.place[block].get_or_insert_with(|| {
            blocks.push((block, x.len()));
            x.resize(x.len() + len, 0.0);
            blocks.len() - 1
        });
        blocks[place].1
    }

    /// Finds the least motion; true if every row holds within its tolerance. Else the motion is one
    /// that violates them little.
    pub(super) fn solve(&mut self, mass: &Mass) -> bool {
        let Self { problem, sweeps, newton, .. } = self;
        let all = sweeps.solve(problem)
            || match newton.solve(problem) {
                Some(all) => all,
                None => {
                    sweeps.give_way(problem);
                    false
                }
            };
        for k in 0..problem.blocks.len() {
            let (block, at) = problem.blocks[k];
            let end = problem.blocks.get(k + 1).map_or(problem.x.len(), |next| next.1);
            mass.solve_factor_transposed(block, &mut problem.x[at..end]);
        }
        all
    }

    /// The motion of each block.
    pub(super) fn motion(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let Problem { blocks, x, .. } = &self.problem;
        let ends = blocks.iter().skip(1).map(|(_, at)| *at).chain([x.len()]);
        blocks.iter().zip(ends).map(|(&(block, at), end)| (block, &x[at..end]))
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
    /// The order of the rows is against that of the particles, so that sweeps pass on little.
    fn line(n: usize, heavy: f64) -> (Mass, LeastMotion) {
        let masses = (0..n).map(|k| Matrix::from_fn(1, 1, |_, _| if k % 2 == 0 { 1.0 } else { heavy })).collect();
        let (mass, mut least) = (Mass::new(masses).unwrap(), LeastMotion::default());
        least.clear(n);
        (1..n).rev().for_each(|k| least.add(&mass, &[(k - 1, &[-1.0]), (k, &[1.0])], 1e-5, 1e-11));
        least.add(&mass, &[(0, &[1.0])], 1e-5, 1e-11);
        (mass, least)
    }

    #[test]
    fn overlaps_along_a_line_add_up() {
        for (n, heavy) in [(1, 1.0), (2, 100.0), (20, 1.0), (20, 3.0), (2000, 1.0)] {
            let (mass, mut least) = line(n, heavy);
            assert!(least.solve(&mass));
            for (block, x) in least.motion() {
                let error = x[0] - 1e-5 * (block + 1) as f64;
                assert!(error.abs() < 1e-11 * n as f64, "{n} {block}: {x:?}");
            }
        }
    }

    /// Boxes on each other with four contacts each, all of which overlap by other amounts: tilts
    /// add up.
    #[test]
    fn a_tower_is_taken_apart() {
        for n in [5, 60] {
            let mass = Mass::new((0..n).map(|_| Matrix::identity(6)).collect()).unwrap();
            let mut least = LeastMotion::default();
            least.clear(n);
            #[allow(clippy::type_complexity)] // Rows as (block, values), and their right-hand sides.
            let mut rows: Vec<(Vec<(usize, [f64; 6])>, f64)> = Vec::new();
            for k in 0..n {
                for corner in 0..4_usize {
                    let [x, y] = [corner & 1, corner >> 1].map(|bit| 2.0 * bit as f64 - 1.0);
                    let mut row = vec![(k, [0.0, 0.0, 1.0, y, -x, 0.0])];
                    if k > 0 {
                        row.push((k - 1, [0.0, 0.0, -1.0, -y, x, 0.0]));
                    }
                    rows.push((row, 1e-4 * (1.0 + ((7 * k + 3 * corner) % 5) as f64)));
                }
            }
            for (row, bound) in &rows {
                let row: Vec<(usize, &[f64])> = row.iter().map(|(k, x)| (*k, &x[..])).collect();
                least.add(&mass, &row, *bound, 1e-9);
            }
            assert!(least.solve(&mass), "{n}");
            let mut motion = vec![[0.0; 6]; n];
            least.motion().for_each(|(block, x)| motion[block].copy_from_slice(x));
            for (row, bound) in &rows {
                let along: f64 = row.iter().map(|(k, a)| dot(a, &motion[*k])).sum();
                assert!(along >= bound - 1.1e-9, "{n}: {along} {bound}");
            }
        }
    }

    #[test]
    fn rows_that_hold_are_left_alone_and_contradictions_are_shared() {
        let (mass, mut least) = line(3, 1.0);
        least.clear(3);
        least.add(&mass, &[(1, &[1.0])], -1.0, 1e-12);
        least.add(&mass, &[(2, &[1.0])], 0.0, 1e-12);
        assert!(least.solve(&mass) && least.motion().all(|(_, x)| x == [0.0]));
        least.clear(3);
        least.add(&mass, &[(1, &[1.0])], 3e-3, 1e-12);
        least.add(&mass, &[(1, &[-1.0])], -1e-3, 1e-12);
        assert!(!least.solve(&mass));
        let (block, x) = least.motion().next().unwrap();
        assert!(block == 1 && (x[0] - 2e-3).abs() < 2e-5, "{x:?}");
    }
}
