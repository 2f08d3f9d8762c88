//! Least motion by the rows that act: min ½ xᵀ M x with `A x = b`, where few rows can be told to.
//!
//! In whitened coordinates, where M is the identity, and with `Aᵀ = Q R`, it is `x = Q R⁻ᵀ b` with the multipliers `R⁻¹ R⁻ᵀ b`. It is the least
//! motion under `row · x ≥ b` if no row that acts pulls and no other is violated: the conditions of Karush, Kuhn and Tucker. Else the
//! former are left out, the latter act too, and the motion is found again: a primal–dual active-set method, which a few rounds end or
//! not. Rows that depend on others are left out, and hold or not.
//!
//! Reference: \[HIK02\] (M. Hintermüller, K. Ito, K. Kunisch: The primal-dual active set strategy as a semismooth Newton method).

use std::ops::Range;

use stiction_body::Model;
use stiction_contact::Mass;
use stiction_linalg::active_qr::{ActiveQr, DEPENDENT};
use stiction_linalg::matrix::dot;

/// Most rounds: nearly all take one to three.
const ROUNDS: usize = 6;

/// What is asked of the motion along a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// The motion, or the least of it.
    pub value: f64,
    /// What it may lack.
    pub slack: f64,
    /// It is a row that acts, as far as known.
    pub acts: bool,
    /// It always acts, and may pull.
    pub always: bool,
}

/// The rows of an island, and the motion.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveRows {
    /// Where the velocities of each block of the whole begin here, if rows have numbers for it; and these blocks.
    starts: Vec<Option<usize>>,
    blocks: Vec<(usize, Range<usize>)>,
    bounds: Vec<Bound>,
    /// Whitened numbers of all rows; of each row their blocks, first number and how many there are; and where each row's begin.
    numbers: Vec<f64>,
    parts: Vec<(usize, usize, usize)>,
    rows: Vec<usize>,
    qr: ActiveQr,
    column: Vec<f64>,
    /// The motion, whitened until it is found.
    x: Vec<f64>,
}

impl ActiveRows {
    /// Forgets all rows.
    pub(super) fn clear(&mut self, blocks: usize) {
        self.starts.clear();
        self.starts.resize(blocks, None);
        self.blocks.clear();
        self.bounds.clear();
        self.numbers.clear();
        self.parts.clear();
        self.rows.clear();
        self.x.clear();
    }

    /// Adds `factor` times a row.
    pub(super) fn add(&mut self, mass: &Mass, (factor, row): (f64, &[(usize, &[f64])]), bound: Bound) {
        self.rows.push(self.parts.len());
        self.bounds.push(bound);
        for &(block, numbers) in row {
            let at = self.numbers.len();
            self.numbers.extend(numbers.iter().map(|x| factor * x));
            mass.solve_factor(block, &mut self.numbers[at..]);
            if self.starts[block].is_none() {
                let start = self.x.len();
                self.starts[block] = Some(start);
                self.x.resize(start + numbers.len(), 0.0);
                self.blocks.push((block, start..self.x.len()));
            }
            self.parts.push((block, at, numbers.len()));
        }
    }

    /// Finds the motion; false if rounds do not end, or rows contradict each other.
    pub(super) fn solve(&mut self, mass: &Mass) -> bool {
        for _ in 0..ROUNDS {
            let pulling = self.move_by_acting();
            match self.add_violated() {
                None => return false,
                Some(false) if !pulling => {
                    for (block, range) in &self.blocks {
                        mass.solve_factor_transposed(*block, &mut self.x[range.clone()]);
                    }
                    return true;
                }
                Some(_) => {}
            }
        }
        false
    }

    /// The least motion under the rows that act, as equations. Those that pull act no more; true if there are any.
    fn move_by_acting(&mut self) -> bool {
        self.qr.reset(self.x.len(), self.rows.len(), DEPENDENT);
        let mut column = std::mem::take(&mut self.column);
        for i in 0..self.rows.len() {
            if self.bounds[i].acts {
                column.clear();
                column.resize(self.x.len(), 0.0);
                for (at, numbers) in self.row(i) {
                    column[at..at + numbers.len()].iter_mut().zip(numbers).for_each(|(to, from)| *to += from);
                }
                self.qr.append(&column, i);
            }
        }
        column.clear();
        column.extend(self.qr.columns().iter().map(|i| self.bounds[*i].value));
        self.qr.solve_rt(&mut column);
        self.x.fill(0.0);
        self.qr.add_q(&column, &mut self.x);
        self.qr.solve_r(&mut column);
        let mut any = false;
        for (&i, multiplier) in self.qr.columns().iter().zip(&column) {
            if *multiplier < 0.0 && !self.bounds[i].always {
                self.bounds[i].acts = false;
                any = true;
            }
        }
        self.column = column;
        any
    }

    /// Lets rows that are violated act; true if there are any. `None` if one acted already, and depends on others, or is not finite.
    fn add_violated(&mut self) -> Option<bool> {
        let mut any = false;
        for i in 0..self.rows.len() {
            let Bound { value, slack, acts, always } = self.bounds[i];
            let lack = value - self.row(i).map(|(at, row)| dot(row, &self.x[at..at + row.len()])).sum::<f64>();
            if lack > slack || lack.is_nan() || always && lack < -slack {
                if acts || lack.is_nan() {
                    return None;
                }
                self.bounds[i].acts = true;
                any = true;
            }
        }
        Some(any)
    }

    /// The parts of a row: where their velocities begin here, and their numbers.
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let end = self.rows.get(i + 1).copied().unwrap_or(self.parts.len());
        let part = |&(block, at, len): &(usize, usize, usize)| Some((self.starts[block]?, &self.numbers[at..at + len]));
        self.parts[self.rows[i]..end].iter().filter_map(part)
    }

    /// Writes the motion into that of the whole.
    pub(super) fn write(&self, model: &Model, motion: &mut [f64]) {
        for (block, range) in &self.blocks {
            motion[model.trees()[*block].v.clone()].copy_from_slice(&self.x[range.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_lcp::Matrix;

    #[test]
    fn motions_are_least_or_none() {
        let mass = Mass::new(vec![Matrix::identity(2), Matrix::from_fn(1, 1, |_, _| 4.0)]).unwrap();
        let mut active = ActiveRows::default();
        let rows: [&[(usize, &[f64])]; 3] =
            [&[(0, &[1.0, 0.0]), (1, &[-1.0])], &[(0, &[0.0, 1.0])], &[(0, &[1.0, 1.0]), (1, &[-1.0])]];
        let mut solve = |bounds: &[(usize, f64, bool)]| {
            active.clear(2);
            for &(i, value, always) in bounds {
                let bound = Bound { value, slack: 1e-12, acts: always || value > 0.0, always };
                active.add(&mass, (1.0, rows[i]), bound);
            }
            active.solve(&mass).then(|| active.x.clone())
        };
        let near = |x: &[f64], y: [f64; 3]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-15);
        // The lighter of two moves four times as far.
        assert!(near(&solve(&[(0, 0.5, false), (1, -0.2, true)]).unwrap(), [0.4, -0.2, -0.1]));
        // What holds does not act, unless it must.
        assert!(near(&solve(&[(0, -0.5, false)]).unwrap(), [0.0; 3]));
        assert!(near(&solve(&[(0, -0.5, true)]).unwrap(), [-0.4, 0.0, 0.1]));
        // A row that the motion of the others would violate acts too: alone the sum leaves 0.28 between the two, not 0.45.
        let x = solve(&[(2, 0.5, false), (1, -0.1, false), (0, 0.45, false)]).unwrap();
        assert!((x[0] - x[2] - 0.45).abs() < 1e-15 && (x[1] - 0.05).abs() < 1e-15, "{x:?}");
        // The sum of two rows, as both say, less, more, and another value than that.
        let with = |value: f64, always: bool| [(0, 0.5, false), (1, 0.2, false), (2, value, always)];
        assert!(solve(&with(0.7, false)).is_some() && solve(&with(0.6, false)).is_some());
        assert!(solve(&with(0.6, true)).is_none());
    }
}
