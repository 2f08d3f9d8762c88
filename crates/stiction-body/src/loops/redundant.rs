//! Which rows of closed loops are redundant but for the rounding of the file that they come from;
//! decided once, before any step.
//!
//! A loop of parallel hinges needs two of the three rows of a point: no joint moves it across its
//! plane. In a file with rounded numbers the hinges are parallel up to 1e-5 or so, and the third
//! row is noise: a constraint by its rank, with forces and velocities without measure. So the
//! mechanism is closed in several poses, and a row is left out if in none of them the others and
//! all joints together move it by more than the loop cannot be closed anyway.

use stiction_linalg::matrix::dot;
use stiction_linalg::rng::Rng;

use super::{LoopRows, RowSource};
use crate::kinematics::Workspace;
use crate::math::{Mat3, Vec3, principal};
use crate::model::{LoopKind, Model};

/// Closed poses that decide, at least and at most; and how often one is looked for.
const LEAST_POSES: usize = 4;
const MOST_POSES: usize = 8;
const TRIES: usize = 40;

/// Joints start up to this far from the reference pose (rad, or loop lengths), within their limits.
const SPREAD: f64 = 0.4;

/// Rounds of Gauss–Newton, and the sensitivity below which they leave a direction as it is
/// (relative to the loop's length).
const CLOSING_ROUNDS: usize = 60;
const DAMPING: f64 = 1e-3;

/// Multiplications after which no more closed poses are looked for: about a second. With too few
/// poses no row is left out.
const MOST_MULTIPLICATIONS: usize = 500_000_000;

/// A row is redundant if joints move it by less than so many times the closure error.
const ERROR_FACTOR: f64 = 10.0;

/// Whatever the closure error, a row that joints move by more than this is none of rounding
/// (relative to the loop's length).
const LARGEST_TOLERANCE: f64 = 1e-3;

/// Rows that joints move by less than this are rounding of doubles.
const ROUNDING: f64 = 1e-12;

/// Rows that were left out of a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RedundantRows {
    /// The loop, in [`Model::loops`].
    pub closure: usize,
    /// How many of its rows.
    pub count: usize,
    /// The most that joints move one of them (m or rad, per m or rad).
    pub sensitivity: f64,
    /// How far the loop cannot be closed with all of its rows (m or rad).
    pub closure_error: f64,
}

/// Rows of all loops at one pose, scaled, over the velocities of the model.
struct Sample {
    rows: Vec<Vec<f64>>,
}

impl Model {
    /// Leaves rows of closed loops out that are redundant but for rounding, as seen from closed
    /// poses about the configuration `q` (nq); only loops and joints that are `held` there count.
    /// The same for the same model, `q` and `held`.
    pub fn leave_out_redundant_rows(
        &mut self,
        q: &[f64],
        held: impl Fn(RowSource) -> bool + Copy,
    ) -> Vec<RedundantRows> {
        let parts = self.coupled_loops(held);
        parts.iter().flat_map(|part| Search::new(self, part, held).run(q)).collect()
    }

    /// Loops that are held, by the trees they tie together.
    fn coupled_loops(&self, held: impl Fn(RowSource) -> bool) -> Vec<Vec<usize>> {
        let mut part: Vec<usize> = (0..self.trees().len()).collect();
        let tree = |link: Option<usize>| link.map(|l| self.links()[l].tree);
        let ties = self.loops().iter().map(|l| (tree(l.a), tree(l.b)));
        let mimics = self.mimics().iter().map(|m| (tree(Some(m.link)), tree(Some(m.of))));
        let couplings = self.couplings().iter().flat_map(|c| {
            let first = c.terms.first().map(|t| t.link);
            c.terms.iter().map(move |t| (tree(first), tree(Some(t.link))))
        });
        for (a, b) in ties.chain(mimics).chain(couplings) {
            if let (Some(a), Some(b)) = (a, b) {
                let (a, b) = (part[a], part[b]);
                part.iter_mut().filter(|p| **p == a.max(b)).for_each(|p| *p = a.min(b));
            }
        }
        let mut out = vec![vec![]; part.len()];
        for (i, l) in self.loops().iter().enumerate().filter(|(i, _)| held(RowSource::Loop(*i))) {
            if let Some(tree) = tree(l.a).or(tree(l.b)) {
                out[part[tree]].push(i);
            }
        }
        out.retain(|loops| !loops.is_empty());
        out
    }
}

/// The search among loops that hang together.
struct Search<'a> {
    model: &'a mut Model,
    loops: &'a [usize],
    /// Velocities of their trees, and the joint each belongs to turns.
    columns: Vec<usize>,
    turns: Vec<bool>,
    work: Workspace,
    rows: LoopRows,
    /// Length of each loop of the model (m).
    lengths: Vec<f64>,
    /// Multiplications spent on closing.
    spent: usize,
}

impl<'a> Search<'a> {
    fn new(model: &'a mut Model, loops: &'a [usize], held: impl Fn(RowSource) -> bool) -> Self {
        let tree = |link: Option<usize>| link.map(|l| model.links()[l].tree);
        let mut trees: Vec<usize> =
            loops.iter().flat_map(|&l| [model.loops()[l].a, model.loops()[l].b]).filter_map(tree).collect();
        for m in model.mimics() {
            let pair = [m.link, m.of].map(|l| model.links()[l].tree);
            if pair.iter().any(|t| trees.contains(t)) {
                trees.extend(pair);
            }
        }
        for c in model.couplings() {
            let own: Vec<usize> = c.terms.iter().map(|t| model.links()[t.link].tree).collect();
            if own.iter().any(|t| trees.contains(t)) {
                trees.extend(own);
            }
        }
        trees.sort_unstable();
        trees.dedup();
        let columns: Vec<usize> = trees.iter().flat_map(|&t| model.trees()[t].v.clone()).collect();
        let links = model.links();
        let turns = columns.iter().map(|k| {
            links
                .iter()
                .find(|l| l.v.contains(k))
                .is_some_and(|l| l.spec.kind.column(k - l.v.start).linear == Vec3::ZERO)
        });
        let turns = turns.collect();
        let lengths = vec![1.0; model.loops().len()];
        let rows = LoopRows::of(model, held);
        Self { model, loops, columns, turns, work: Workspace::default(), rows, lengths, spent: 0 }
    }

    fn run(mut self, q: &[f64]) -> Vec<RedundantRows> {
        self.measure_lengths(q);
        let mut error = self.errors(q);
        // A pose that the file leaves open says nothing of its rounding.
        error.iter_mut().filter(|e| **e > LARGEST_TOLERANCE).for_each(|e| *e = 0.0);
        let poses = self.closed_poses(q, &mut error);
        if poses.len() < LEAST_POSES {
            return vec![];
        }
        let tolerance: Vec<f64> = error.iter().map(|e| (ERROR_FACTOR * e).clamp(ROUNDING, LARGEST_TOLERANCE)).collect();
        let samples: Vec<Sample> = poses.iter().map(|q| self.sample(q)).collect();
        self.align(&samples, &tolerance);
        let samples: Vec<Sample> = poses.iter().map(|q| self.sample(q)).collect();
        self.choose(samples, &tolerance, &error)
    }

    /// Numbers of the rows of these loops and of joints that follow others, in [`LoopRows`].
    fn own_rows(&self) -> Vec<usize> {
        let own = |i: &usize| match self.rows.source(*i) {
            RowSource::Loop(l) => self.loops.contains(&l),
            RowSource::Mimic(m) => {
                let link = &self.model.links()[self.model.mimics()[m].link];
                self.columns.contains(&link.v.start)
            }
            RowSource::Coupling(c) => {
                let link = &self.model.links()[self.model.couplings()[c].terms.first().map_or(0, |t| t.link)];
                self.columns.contains(&link.v.start)
            }
        };
        (0..self.rows.len()).filter(own).collect()
    }

    fn update(&mut self, q: &[f64]) {
        self.work.update_positions(self.model, q);
        self.rows.update(self.model, &self.work, q);
    }

    /// What row `i` is divided by: rows of points count in lengths of their loop.
    fn scale(&self, i: usize) -> f64 {
        match self.rows.source(i) {
            RowSource::Loop(l) if self.rows.rows[i].part < 3 => self.lengths[l],
            _ => 1.0,
        }
    }

    /// Row `i` over all velocities; joints that slide move by the loop's length, others by 1 rad.
    fn dense(&self, i: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.model.nv()];
        for (tree, entries) in self.rows.blocks(i).iter() {
            row[self.model.trees()[*tree].v.clone()].copy_from_slice(entries);
        }
        let (scale, length) = (self.scale(i), self.length_of(i));
        let columns = self.columns.iter().zip(&self.turns);
        columns.map(|(&k, &turns)| row[k] / scale * if turns { 1.0 } else { length }).collect()
    }

    fn length_of(&self, i: usize) -> f64 {
        match self.rows.source(i) {
            RowSource::Loop(l) => self.lengths[l],
            RowSource::Mimic(_) | RowSource::Coupling(_) => 1.0,
        }
    }

    /// The length of a loop is the largest lever arm of its joints.
    fn measure_lengths(&mut self, q: &[f64]) {
        self.update(q);
        let mut lengths = vec![0.0_f64; self.lengths.len()];
        for i in self.own_rows() {
            if let RowSource::Loop(l) = self.rows.source(i)
                && self.rows.rows[i].part < 3
            {
                let turning = self.dense(i).into_iter().zip(&self.turns).filter(|(_, turns)| **turns);
                lengths[l] = turning.fold(lengths[l], |max, (x, _)| max.max(x.abs()));
            }
        }
        self.lengths = lengths.into_iter().map(|l| if l > 0.0 { l } else { 1.0 }).collect();
    }

    /// How far each loop is open, at a pose (relative to its length, or rad).
    fn errors(&mut self, q: &[f64]) -> Vec<f64> {
        self.update(q);
        let mut errors = vec![0.0_f64; self.lengths.len()];
        for i in self.own_rows() {
            if let RowSource::Loop(l) = self.rows.source(i) {
                errors[l] = errors[l].max((self.rows.value(i) / self.scale(i)).abs());
            }
        }
        errors
    }

    /// Closed poses about `q`; `error` takes in how far their loops stay open.
    fn closed_poses(&mut self, q: &[f64], error: &mut [f64]) -> Vec<Vec<f64>> {
        let mut rng = Rng::new(1);
        let mut poses = vec![];
        for _ in 0..TRIES {
            let start = self.perturbed(q, &mut rng);
            if let Some(pose) = self.close(start) {
                let open = self.errors(&pose);
                if open.iter().all(|e| *e <= LARGEST_TOLERANCE) {
                    error.iter_mut().zip(open).for_each(|(e, x)| *e = e.max(x));
                    poses.push(pose);
                }
            }
            if poses.len() == MOST_POSES || self.spent >= MOST_MULTIPLICATIONS {
                break;
            }
        }
        poses
    }

    fn perturbed(&self, q: &[f64], rng: &mut Rng) -> Vec<f64> {
        let length = self.loops.iter().map(|&l| self.lengths[l]).fold(0.0, f64::max);
        let mut v = vec![0.0; self.model.nv()];
        for (&k, &turns) in self.columns.iter().zip(&self.turns) {
            v[k] = SPREAD * (2.0 * rng.uniform() - 1.0) * if turns { 1.0 } else { length };
        }
        let mut out = q.to_vec();
        self.model.integrate(&mut out, &v, 1.0);
        self.model.joints().for_each(|link| link.put_within_limits(&mut out));
        out
    }

    /// Closes the loops by damped Gauss–Newton, which leaves directions alone that joints hardly
    /// move.
    fn close(&mut self, mut q: Vec<f64>) -> Option<Vec<f64>> {
        /// Rounds end where the rows change by less than this fraction of themselves.
        const STEADY: f64 = 1e-3;
        let own = self.own_rows();
        let mut last = f64::INFINITY;
        for _ in 0..CLOSING_ROUNDS {
            if self.spent >= MOST_MULTIPLICATIONS {
                return None;
            }
            self.spent += own.len() * own.len() * (own.len() + self.columns.len()) + self.model.nv() * own.len();
            self.update(&q);
            let value: Vec<f64> = own.iter().map(|&i| self.rows.value(i) / self.scale(i)).collect();
            let norm = dot(&value, &value).sqrt();
            if !norm.is_finite() {
                return None;
            }
            if (last - norm).abs() <= STEADY * norm + f64::EPSILON {
                return Some(q);
            }
            last = norm;
            let rows: Vec<Vec<f64>> = own.iter().map(|&i| self.dense(i)).collect();
            let step = damped_step(&rows, &value);
            let mut v = vec![0.0; self.model.nv()];
            let length = self.loops.iter().map(|&l| self.lengths[l]).fold(0.0, f64::max);
            for ((&k, &turns), x) in self.columns.iter().zip(&self.turns).zip(&step) {
                v[k] = -x.clamp(-1.0, 1.0) * if turns { 1.0 } else { length };
            }
            self.model.integrate(&mut q, &v, 1.0);
        }
        Some(q)
    }

    /// Takes rows along the directions in which joints move the loop least and most, where the
    /// least is none.
    fn align(&mut self, samples: &[Sample], tolerance: &[f64]) {
        let own = self.own_rows();
        for &l in self.loops {
            let weld = self.model.loops()[l].kind == LoopKind::Weld;
            for block in 0..if weld { 2 } else { 1 } {
                let of_block = |k: &usize| {
                    self.rows.source(own[*k]) == RowSource::Loop(l) && self.rows.rows[own[*k]].part / 3 == block
                };
                let rows: Vec<usize> = (0..own.len()).filter(of_block).collect();
                let entry = |i: usize, j: usize| -> f64 {
                    samples.iter().map(|s| dot(&s.rows[rows[i]], &s.rows[rows[j]])).sum()
                };
                let (axes, _) = principal(Mat3::from_cols_array_2d(&[0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))));
                let moves = |axis: Vec3| samples.iter().map(|s| s.norm_along(&rows, axis)).fold(0.0, f64::max);
                if (0..3).any(|k| moves(axes.col(k)) <= tolerance[l]) {
                    let own = &mut self.model.loop_axes[l];
                    *(if block == 0 { &mut own.point } else { &mut own.turn }) = axes;
                }
            }
        }
    }

    fn sample(&mut self, q: &[f64]) -> Sample {
        self.update(q);
        Sample { rows: self.own_rows().into_iter().map(|i| self.dense(i)).collect() }
    }

    /// Keeps the row that joints and the rows kept so far leave most of, in any pose, until what is
    /// left is rounding. Joints that follow others are kept first.
    fn choose(self, mut samples: Vec<Sample>, tolerance: &[f64], error: &[f64]) -> Vec<RedundantRows> {
        let own = self.own_rows();
        let mut open: Vec<usize> = (0..own.len()).collect();
        let mimics: Vec<usize> = open
            .iter()
            .copied()
            .filter(|&k| matches!(self.rows.source(own[k]), RowSource::Mimic(_) | RowSource::Coupling(_)))
            .collect();
        for k in mimics {
            samples.iter_mut().for_each(|s| s.keep(k, &open));
            open.retain(|j| *j != k);
        }
        let left = |samples: &[Sample], k: usize| samples.iter().map(|s| s.norm(k)).fold(0.0, f64::max);
        let limit = |k: usize| match self.rows.source(own[k]) {
            RowSource::Loop(l) => tolerance[l],
            RowSource::Mimic(_) | RowSource::Coupling(_) => 0.0,
        };
        loop {
            let best = open.iter().map(|&k| (left(&samples, k), k)).filter(|(x, k)| *x > limit(*k));
            let Some((_, k)) = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else { break };
            samples.iter_mut().for_each(|s| s.keep(k, &open));
            open.retain(|j| *j != k);
        }
        let mut found: Vec<RedundantRows> = vec![];
        for k in open {
            let RowSource::Loop(l) = self.rows.source(own[k]) else { continue };
            let row = &self.rows.rows[own[k]];
            self.model.loop_axes[l].used[row.part] = false;
            let scale = if row.part < 3 { self.lengths[l] } else { 1.0 };
            let sensitivity = left(&samples, k) * scale;
            let closure_error = error[l] * scale;
            match found.iter_mut().find(|f| f.closure == l) {
                Some(f) => {
                    (f.count, f.sensitivity) = (f.count + 1, f.sensitivity.max(sensitivity));
                }
                None => found.push(RedundantRows { closure: l, count: 1, sensitivity, closure_error }),
            }
        }
        found
    }
}

impl Sample {
    fn norm(&self, k: usize) -> f64 {
        dot(&self.rows[k], &self.rows[k]).sqrt()
    }

    /// Length of the combination of three rows.
    fn norm_along(&self, rows: &[usize], axis: Vec3) -> f64 {
        let entry = |j: usize| (0..3).map(|k| axis[k] * self.rows[rows[k]][j]).sum::<f64>();
        (0..self.rows[rows[0]].len()).map(|j| entry(j) * entry(j)).sum::<f64>().sqrt()
    }

    /// Takes row `k`'s direction out of the others of `open`.
    fn keep(&mut self, k: usize, open: &[usize]) {
        let square = dot(&self.rows[k], &self.rows[k]);
        if square <= ROUNDING * ROUNDING {
            return;
        }
        let row = self.rows[k].clone();
        for &j in open.iter().filter(|j| **j != k) {
            let share = dot(&row, &self.rows[j]) / square;
            self.rows[j].iter_mut().zip(&row).for_each(|(x, y)| *x -= share * y);
        }
    }
}

/// `Jᵀ (J Jᵀ + λ²)⁻¹ φ`.
fn damped_step(rows: &[Vec<f64>], value: &[f64]) -> Vec<f64> {
    let n = rows.len();
    let mut a: Vec<Vec<f64>> = rows.iter().map(|r| rows.iter().map(|s| dot(r, s)).collect()).collect();
    (0..n).for_each(|i| a[i][i] += DAMPING * DAMPING);
    let mut x = value.to_vec();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            (k..n).for_each(|j| a[i][j] -= factor * a[k][j]);
            x[i] -= factor * x[k];
        }
    }
    for k in (0..n).rev() {
        x[k] = (x[k] - (k + 1..n).map(|j| a[k][j] * x[j]).sum::<f64>()) / a[k][k];
    }
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).map(|j| (0..n).map(|i| rows[i][j] * x[i]).sum()).collect()
}
