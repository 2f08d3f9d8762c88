//! Least motion by Newton's method: the rows' violations are penalized, min ½ xᵀ x + Σ ½ ρ max(0,
//! bound − row · x + λ/ρ)², and the multipliers λ follow.
//!
//! Each minimum is that of a strictly convex function which is quadratic between the changes of its
//! active rows, so Newton's method with a search along its steps ends there. The matrix I + Σ ρ
//! rowᵀ row is factored within its envelope, in an order of the blocks that keeps that small.

use super::least_motion::{Problem, Row};

/// The penalty of a row beside `1/w`: large, so that few rounds of multipliers are needed.
const PENALTY: f64 = 1e9;

/// Most multiplications of a factor, beyond which an island is left to sweeps, and of all factors
/// of a solve.
const MOST_WORK: f64 = 1e8;
const MOST_WORK_IN_ALL: f64 = 2e9;

/// Rounds of multipliers, Newton steps of a round, and halvings of a step.
const ROUNDS: usize = 12;
const STEPS: usize = 50;
const HALVINGS: usize = 20;

/// A round that leaves more than this part of the worst violation is the last: not all rows can
/// hold.
const PROGRESS: f64 = 0.5;

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Newton {
    multipliers: Vec<f64>,
    /// Forces of the rows at the present motion: `max(0, λ + ρ (bound − row · x))`.
    forces: Vec<f64>,
    active: Vec<bool>,
    step: Vec<f64>,
    before: Vec<f64>,
    /// Blocks that each block shares rows with, concatenated, with their starts.
    starts: Vec<usize>,
    neighbours: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    order: Vec<usize>,
    /// Where each velocity of the problem is in the matrix.
    places: Vec<usize>,
    matrix: Envelope,
    /// Factors that the solve may still make.
    factors_left: usize,
}

impl Newton {
    /// Whether every row holds within its tolerance at the motion found; `None` if a factor would
    /// be too much work.
    pub(super) fn solve(&mut self, problem: &mut Problem) -> Option<bool> {
        self.find_order(problem);
        let work = self.shape(problem);
        if work > MOST_WORK {
            return None;
        }
        self.factors_left = (MOST_WORK_IN_ALL / work.max(1.0)) as usize;
        self.multipliers.clear();
        self.multipliers.resize(problem.rows.len(), 0.0);
        problem.x.fill(0.0);
        let mut worst = f64::INFINITY;
        for round in 0..ROUNDS {
            self.minimize(problem);
            let next = self.worst(problem);
            if next <= 1.0 {
                return Some(true);
            }
            if next > PROGRESS * worst {
                if round > 1 {
                    // The least violation is that without multipliers, which grow without end.
                    self.multipliers.fill(0.0);
                    self.minimize(problem);
                }
                return Some(false);
            }
            worst = next;
            self.multipliers.clone_from(&self.forces);
        }
        Some(false)
    }

    /// The worst violation, or slack of a row that has a force, beside the row's tolerance.
    fn worst(&self, problem: &Problem) -> f64 {
        let missed = |row: &Row| row.bound - problem.along(row);
        let rows = problem.rows.iter().zip(&self.forces);
        rows.map(|(row, p)| if *p > 0.0 { missed(row).abs() } else { missed(row).max(0.0) } / row.tolerance)
            .fold(0.0, f64::max)
    }

    /// Newton's method for the minimum at the present multipliers.
    fn minimize(&mut self, problem: &mut Problem) {
        let mut value = self.evaluate(problem);
        self.active.clear();
        for _ in 0..STEPS {
            stiction_lcp::interrupt::check();
            let same = self.active.iter().copied().eq(self.forces.iter().map(|p| *p > 0.0));
            if same {
                return;
            }
            self.active.clear();
            self.active.extend(self.forces.iter().map(|p| *p > 0.0));
            if self.factors_left == 0 || !self.factor(problem) {
                return;
            }
            self.factors_left -= 1;
            self.newton_step(problem);
            self.before.clone_from(&problem.x);
            let mut length = 1.0;
            for k in 0..=HALVINGS {
                problem.x.iter_mut().zip(&self.before).zip(&self.step).for_each(|((x, b), s)| *x = b + length * s);
                let next = self.evaluate(problem);
                if next <= value || k == HALVINGS {
                    value = next;
                    break;
                }
                length *= 0.5;
            }
            if length < 1.0 {
                // The quadratic's minimum was not reached: its rows are looked at again.
                self.active.clear();
            }
        }
    }

    /// The forces of the rows, and the function's value.
    fn evaluate(&mut self, problem: &Problem) -> f64 {
        self.forces.clear();
        let mut value = 0.5 * problem.x.iter().map(|x| x * x).sum::<f64>();
        for (row, multiplier) in problem.rows.iter().zip(&self.multipliers) {
            let penalty = PENALTY / row.w;
            let force = (multiplier + penalty * (row.bound - problem.along(row))).max(0.0);
            value += 0.5 * force * force / penalty;
            self.forces.push(force);
        }
        value
    }

    /// `step ← −H⁻¹ gradient`, the gradient being `x − Σ force rowᵀ`.
    fn newton_step(&mut self, problem: &Problem) {
        self.step.clear();
        self.step.resize(problem.x.len(), 0.0);
        for (from, to) in self.places.iter().enumerate() {
            self.step[*to] = -problem.x[from];
        }
        for (row, force) in problem.rows.iter().zip(&self.forces).filter(|(_, p)| **p > 0.0) {
            for k in 0..2 {
                let numbers = problem.numbers(row, k);
                numbers.iter().enumerate().for_each(|(j, a)| self.step[self.places[row.v[k] + j]] += force * a);
            }
        }
        self.matrix.solve(&mut self.step);
        self.before.clear();
        self.before.extend(self.places.iter().map(|&to| self.step[to]));
        std::mem::swap(&mut self.step, &mut self.before);
    }

    /// Factors I + Σ ρ rowᵀ row over the active rows; false if a pivot is rounding.
    fn factor(&mut self, problem: &Problem) -> bool {
        self.matrix.clear();
        for (row, _) in problem.rows.iter().zip(&self.active).filter(|(_, active)| **active) {
            let penalty = PENALTY / row.w;
            for (k, l) in [(0, 0), (0, 1), (1, 1)] {
                for (i, a) in problem.numbers(row, k).iter().enumerate() {
                    for (j, b) in problem.numbers(row, l).iter().enumerate() {
                        let (p, q) = (self.places[row.v[k] + i], self.places[row.v[l] + j]);
                        if k != l || q <= p {
                            self.matrix.add(p.max(q), p.min(q), penalty * a * b);
                        }
                    }
                }
            }
        }
        self.matrix.factor()
    }

    /// The order of reverse Cuthill–McKee over blocks that share rows.
    fn find_order(&mut self, problem: &Problem) {
        let count = problem.blocks.len();
        let block = |v: usize| problem.blocks.partition_point(|(_, at)| *at <= v) - 1;
        self.pairs.clear();
        for row in problem.rows.iter().filter(|row| row.len[1] > 0) {
            let [a, b] = row.v.map(block);
            self.pairs.extend([(a, b), (b, a)]);
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        self.pairs.iter().for_each(|(a, _)| self.starts[a + 1] += 1);
        (0..count).for_each(|b| self.starts[b + 1] += self.starts[b]);
        self.neighbours.clear();
        self.neighbours.extend(self.pairs.iter().map(|(_, b)| *b));
        // From a block at the end of a walk from a block at the end of a walk.
        let mut start = 0;
        for _ in 0..3 {
            self.walk(start, count);
            start = self.order.last().copied().unwrap_or(0);
        }
        self.order.reverse();
    }

    /// All blocks, level by level from `start`, then those that are not connected with it.
    fn walk(&mut self, start: usize, count: usize) {
        self.order.clear();
        self.active.clear();
        self.active.resize(count, false);
        for first in std::iter::once(start).chain(0..count) {
            if count == 0 || std::mem::replace(&mut self.active[first], true) {
                continue;
            }
            let mut next = self.order.len();
            self.order.push(first);
            while next < self.order.len() {
                let block = self.order[next];
                next += 1;
                for &other in &self.neighbours[self.starts[block]..self.starts[block + 1]] {
                    if !std::mem::replace(&mut self.active[other], true) {
                        self.order.push(other);
                    }
                }
            }
        }
    }

    /// Places of the velocities and the matrix's envelope; returns the multiplications of a factor.
    fn shape(&mut self, problem: &Problem) -> f64 {
        let blocks = &problem.blocks;
        let end = |b: usize| blocks.get(b + 1).map_or(problem.x.len(), |next| next.1);
        self.places.clear();
        self.places.resize(problem.x.len(), 0);
        let mut at = 0;
        for &b in &self.order {
            for v in blocks[b].1..end(b) {
                self.places[v] = at;
                at += 1;
            }
        }
        self.matrix.first.clear();
        self.matrix.first.resize(problem.x.len(), 0);
        for (b, &(_, from)) in blocks.iter().enumerate() {
            let near = &self.neighbours[self.starts[b]..self.starts[b + 1]];
            let own = self.places[from];
            let first = near.iter().map(|&other| self.places[blocks[other].1]).fold(own, usize::min);
            (from..end(b)).for_each(|v| self.matrix.first[self.places[v]] = first);
        }
        self.matrix.shape()
    }
}

/// A symmetric matrix that is zero outside its envelope, then its Cholesky factor.
#[derive(Debug, Clone, Default)]
struct Envelope {
    /// First column of each row, and where the row starts in `numbers`, its diagonal last.
    first: Vec<usize>,
    starts: Vec<usize>,
    numbers: Vec<f64>,
}

impl Envelope {
    /// Lays out the rows; returns the multiplications of a factor.
    fn shape(&mut self) -> f64 {
        self.starts.clear();
        self.starts.push(0);
        let (mut end, mut work) = (0, 0.0);
        for (i, first) in self.first.iter().enumerate() {
            end += i + 1 - first;
            work += ((i - first) * (i - first)) as f64;
            self.starts.push(end);
        }
        0.5 * work
    }

    /// Becomes the identity.
    fn clear(&mut self) {
        self.numbers.clear();
        self.numbers.resize(self.starts.last().copied().unwrap_or(0), 0.0);
        self.starts.iter().skip(1).for_each(|end| self.numbers[end - 1] = 1.0);
    }

    fn add(&mut self, i: usize, j: usize, x: f64) {
        self.numbers[self.starts[i] + j - self.first[i]] += x;
    }

    fn factor(&mut self) -> bool {
        for i in 0..self.first.len() {
            let (first, start) = (self.first[i], self.starts[i]);
            let (above, rest) = self.numbers.split_at_mut(start);
            let row = &mut rest[..i + 1 - first];
            for j in first..i {
                let from = first.max(self.first[j]);
                let other = &above[self.starts[j] + from - self.first[j]..self.starts[j + 1]];
                let (other, diagonal) = other.split_at(j - from);
                row[j - first] = (row[j - first] - dot(&row[from - first..j - first], other)) / diagonal[0];
            }
            let (row, diagonal) = row.split_at_mut(i - first);
            let pivot = diagonal[0] - dot(row, row);
            // M is the identity: no pivot is below 1 but for rounding.
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            diagonal[0] = pivot.sqrt();
        }
        true
    }

    fn solve(&self, x: &mut [f64]) {
        for i in 0..self.first.len() {
            let row = &self.numbers[self.starts[i]..self.starts[i + 1]];
            let (row, diagonal) = row.split_at(i - self.first[i]);
            x[i] = (x[i] - dot(row, &x[self.first[i]..i])) / diagonal[0];
        }
        for i in (0..self.first.len()).rev() {
            let row = &self.numbers[self.starts[i]..self.starts[i + 1]];
            let (row, diagonal) = row.split_at(i - self.first[i]);
            x[i] /= diagonal[0];
            let xi = x[i];
            x[self.first[i]..i].iter_mut().zip(row).for_each(|(x, a)| *x -= xi * a);
        }
    }
}

/// In four lanes, the same on every machine.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        (0..4).for_each(|k| sums[k] += a[k] * b[k]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
