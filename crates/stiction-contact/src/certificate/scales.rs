//! Islands and their energy norms: the scale that comes from the data alone.
//!
//! `E_I = √(Σ_b (‖v‖_b + dt ‖M⁻¹ f‖_b)²) + max_k |b_k| / √W_k` with `‖x‖_b² = x_bᵀ M_b x_b` over the blocks b of island I, and the maximum over
//! its rows k that drive: with a target, a bounce or a moving surface. No exact answer moves much faster: contact alone adds no energy.
//! Where the squares leave the range of normal numbers, the largest member of a sum stands for it.

use super::measures::root_or;
use crate::model::Level;
use crate::problem::{CONTACT_ROWS, ContactProblem};
use crate::rows::Rows;

/// The islands of a problem, found anew for the certificate, and the energy norm of each.
#[derive(Debug, Clone, Default)]
pub(super) struct Scales {
    /// Union–find over blocks: the parent of each, itself for a root; after `find_islands` the root.
    island: Vec<usize>,
    /// E_I (√J, or its like for accelerations) at each root.
    energy_norm: Vec<f64>,
    /// Largest `|b_k| / √W_k` at each root, while it is gathered.
    drive: Vec<f64>,
    /// `‖M⁻¹ f‖` of each block.
    pub(super) forced_norm: Vec<f64>,
    product: Vec<f64>,
}

impl Scales {
    /// Finds the energy norms of the islands, which [`Scales::find_islands`] has found, from `forced_norm`. `w` has `row M⁻¹ rowᵀ` of all rows, kind after kind.
    pub(super) fn measure(&mut self, problem: &ContactProblem, level: Level, w: &[f64]) {
        let blocks = problem.layout().blocks();
        self.energy_norm.clear();
        self.energy_norm.resize(blocks, 0.0);
        self.drive.clear();
        self.drive.resize(blocks, 0.0);
        for b in 0..blocks {
            let (free, island) = (self.free_norm(problem, level, b), self.island[b]);
            let square = free * free;
            self.energy_norm[island] += square;
            if !square.is_normal() {
                // Motions so small that their squares vanish count one by one.
                self.drive[island] = self.drive[island].max(free);
            }
        }
        self.drive_all(problem, level, w);
        self.energy_norm.iter_mut().zip(&self.drive).for_each(|(e, drive)| *e = e.sqrt() + drive);
    }

    /// Every island's energy norm is infinite: nothing is known to compare with.
    pub(super) fn lift(&mut self) {
        self.energy_norm.fill(f64::INFINITY);
    }

    /// The number of the island of a block: that of its first block.
    #[inline]
    pub(super) fn island(&self, block: usize) -> usize {
        self.island[block]
    }

    /// E_I of the island of a block.
    #[inline]
    pub(super) fn energy_norm(&self, block: usize) -> f64 {
        self.energy_norm[self.island[block]]
    }

    /// `‖v‖_b + dt ‖M⁻¹ f‖_b` (without v and dt at acceleration level). The terms are not allowed to cancel: a free velocity that is zero but for
    /// rounding is no scale.
    fn free_norm(&mut self, problem: &ContactProblem, level: Level, b: usize) -> f64 {
        let forced = self.forced_norm[b];
        if level == Level::Acceleration {
            return forced;
        }
        let v = &problem.v()[problem.layout().range(b)];
        if v.iter().all(|v| *v == 0.0) {
            return problem.dt() * forced;
        }
        self.product.clear();
        self.product.extend_from_slice(v);
        problem.mass().mul_factor_transposed(b, &mut self.product);
        let square = self.product.iter().map(|x| x * x).sum();
        root_or(square, || self.product.iter().fold(0.0, |most: f64, x| most.max(x.abs()))) + problem.dt() * forced
    }

    fn drive_all(&mut self, problem: &ContactProblem, level: Level, w: &[f64]) {
        let (contacts, limits, bounded) = (problem.contacts(), problem.limits(), problem.bounded());
        let (n, j) = (contacts.len(), problem.bilaterals().rows.len());
        let accelerates = level == Level::Acceleration;
        for i in 0..n {
            let biases = if accelerates {
                contacts.rate[i]
            } else {
                [contacts.bounce[i].max(0.0), contacts.surface[i][0], contacts.surface[i][1]]
            };
            if biases != [0.0; 3] {
                let rows = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
                (0..3).for_each(|k| self.drive_row(rows[k], i, biases[k], w[k * n + i]));
            }
        }
        let all = problem.bilaterals();
        for i in 0..j {
            let rate = if accelerates { all.rate[i] } else { 0.0 };
            self.drive_row(&all.rows, i, rate - all.target[i], w[CONTACT_ROWS * n + i]);
        }
        let first = CONTACT_ROWS * n + j;
        for i in 0..limits.rows.len() {
            let bias = if accelerates { limits.rate[i] } else { limits.bounce[i].max(0.0) };
            self.drive_row(&limits.rows, i, bias, w[first + i]);
        }
        let (first, unit) = (first + limits.rows.len(), if accelerates { 1.0 } else { problem.dt() });
        for i in 0..bounded.rows.len() {
            let (rate, w) = (if accelerates { bounded.rate[i] } else { 0.0 }, w[first + i]);
            let most = unit * bounded.lo[i].abs().max(bounded.hi[i].abs()) * w;
            self.drive_row(&bounded.rows, i, (rate - bounded.target[i]).abs().min(most), w);
        }
    }

    /// The row asks for a motion of size `bias`: at least `|bias| / √W` in the norm of energy.
    fn drive_row(&mut self, rows: &Rows, i: usize, bias: f64, w: f64) {
        if bias == 0.0 || w == 0.0 {
            return;
        }
        if let Some(block) = rows.blocks(i).next() {
            let drive = &mut self.drive[self.island[block]];
            *drive = drive.max(bias.abs() / w.sqrt());
        }
    }

    /// Finds the islands: joins the blocks of every row. All rows of a contact are rows of their own.
    pub(super) fn find_islands(&mut self, problem: &ContactProblem) {
        let blocks = problem.layout().blocks();
        self.island.clear();
        self.island.extend(0..blocks);
        let contacts = problem.contacts();
        let (kinds, used) = (contacts.rows(), contacts.used_kinds().max(1));
        for i in (0..contacts.len()).filter(|&i| contacts.twin[i] == i) {
            // The contacts of two bodies mostly follow each other.
            if i == 0 || !contacts.normal.has_same_blocks(i, i - 1) {
                self.join(&contacts.normal, i);
            }
            for rows in &kinds[1..used] {
                if !rows.has_blocks_of(&contacts.normal, i) {
                    self.join(rows, i);
                    self.join_pair(rows.blocks(i).next(), contacts.normal.blocks(i).next());
                }
            }
        }
        for rows in [&problem.bilaterals().rows, &problem.limits().rows, &problem.bounded().rows] {
            (0..rows.len()).for_each(|i| self.join(rows, i));
        }
        (0..blocks).for_each(|b| self.island[b] = self.root(b));
    }

    fn join(&mut self, rows: &Rows, i: usize) {
        let mut blocks = rows.blocks(i);
        let first = blocks.next();
        blocks.for_each(|other| self.join_pair(first, Some(other)));
    }

    /// The lower root stays.
    fn join_pair(&mut self, a: Option<usize>, b: Option<usize>) {
        if let (Some(a), Some(b)) = (a, b) {
            let (a, b) = (self.root(a), self.root(b));
            self.island[a.max(b)] = a.min(b);
        }
    }

    fn root(&mut self, mut block: usize) -> usize {
        while self.island[block] != block {
            self.island[block] = self.island[self.island[block]];
            block = self.island[block];
        }
        block
    }
}
