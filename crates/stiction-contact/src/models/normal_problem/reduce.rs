//! From an island to the rows that must hold and the complementarity problem of the others.

use stiction_lcp::matrix::{axpy, dot, norm};
use stiction_lcp::{FactoredLcp, InputError};

use crate::find_indices::FindIndices;
use crate::model::{ContactStats, Level};
use crate::models::normal_problem::{NormalProblem, Row};
use crate::whitened::Whitened;

/// Roundings, per velocity, that an entry of e is summed from; times the size of its terms, what is below it is zero. Noise must not make a row
/// at rest a moving one, or the problem infeasible.
const ENTRY_ROUNDING: f64 = 2.0 * f64::EPSILON;

/// How much more than needed e is raised along a direction that proves nothing, so that rounding does not bring it back.
const RAISE_FACTOR: f64 = 2.0;

impl NormalProblem {
    /// Lists the rows that must hold and those of the complementarity problem. At acceleration level a contact that does not touch, and a limit that
    /// is not reached, has none.
    pub(super) fn list_rows(&mut self, island: &Whitened, level: Level) {
        let infinite = |k: usize| island.lo[k] == f64::NEG_INFINITY && island.hi[k] == f64::INFINITY;
        let velocity = level == Level::Velocity;
        self.held.clear();
        self.held.extend((0..island.bilateral.len()).map(Row::Bilateral));
        self.held.extend((0..island.bounded.len()).filter(|&k| infinite(k)).map(Row::Bounded));
        self.held.extend_from_slice(&self.extra);
        self.rows.clear();
        // A normal with the same row and bias as an earlier one asks for nothing more, and its force is that one's to bear.
        let again = |k: usize| {
            let twin = island.twin[k];
            let listed = twin < k && (velocity || island.touching[twin]);
            listed && island.normal.bias[twin] == island.normal.bias[k]
        };
        let has_say = |k: &usize| (velocity || island.touching[*k]) && !again(*k);
        self.rows.extend((0..island.contacts()).filter(has_say).map(Row::Normal));
        self.rows.extend((0..island.limit.len()).filter(|&k| velocity || island.reached[k]).map(Row::Limit));
        self.rows.extend((0..island.bounded.len()).filter(|&k| !infinite(k)).map(Row::Bounded));
    }

    /// FIND-INDICES over the rows that must hold, bilateral ones first. Where bilateral rows contradict each other their targets are made
    /// consistent; where others contradict them, [`crate::find_indices::FindIndices::contradiction`] tells.
    pub(super) fn hold_rows(&mut self, island: &Whitened, stats: &mut ContactStats) {
        let bilaterals = island.bilateral.len();
        self.consistent_targets(island, stats);
        if self.careful {
            self.order_held(island);
        }
        self.find.reset_with(island.m(), self.held.len(), self.dependence());
        for (number, row) in self.held.iter().enumerate() {
            let bias = if number < bilaterals { self.biases[number] } else { row.bias(island) };
            if self.drag.is_empty() {
                self.find.add(row.g(island), bias);
                continue;
            }
            self.column.clear();
            self.column.extend_from_slice(row.g(island));
            self.drag.solve(&mut self.column);
            self.find.add(&self.column, bias);
        }
        self.find.satisfy_kept();
    }

    /// Puts the held rows but the bilateral ones in the order in which each has most of its length left by those before, so that the rows kept are held by
    /// forces no larger than need be, and others see little of their rounding. Orthogonalizes all rows with each other, O(m n rank).
    fn order_held(&mut self, island: &Whitened) {
        let column = |row: &Row| {
            let mut column = row.g(island).to_vec();
            self.drag.solve(&mut column);
            let length = norm(&column);
            column.iter_mut().for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
            column
        };
        let mut columns: Vec<(Row, Vec<f64>)> = self.held.iter().map(|row| (*row, column(row))).collect();
        for k in 0..columns.len() {
            if k >= island.bilateral.len() {
                let left = |i: &usize| norm(&columns[*i].1);
                let most = (k..columns.len()).rev().max_by(|i, j| left(i).total_cmp(&left(j))).unwrap_or(k);
                columns[k..=most].rotate_right(1);
            }
            let (first, rest) = columns[k..].split_at_mut(1);
            let q = &mut first[0].1;
            let length = norm(q);
            if length <= self.dependence().dependent {
                continue;
            }
            q.iter_mut().for_each(|x| *x /= length);
            rest.iter_mut().for_each(|(_, column)| axpy(-dot(q, column), q, column));
        }
        self.held.clear();
        self.held.extend(columns.iter().map(|(row, _)| *row));
    }

    /// The biases of the bilateral rows, made consistent if they are not. The compromise weighs rows by the inertia alone, not by drag.
    fn consistent_targets(&mut self, island: &Whitened, stats: &mut ContactStats) {
        self.biases.clear();
        self.biases.extend_from_slice(&island.bilateral.bias);
        if self.biases.iter().all(|b| *b == 0.0) {
            return;
        }
        self.find.reset_with(island.m(), self.biases.len(), self.dependence());
        for k in 0..self.biases.len() {
            self.find.add(island.bilateral.g.col(k), island.bilateral.bias[k]);
        }
        self.find.reconcile();
        stats.inconsistency = stats.inconsistency.max(self.find.inconsistency());
        for k in 0..self.biases.len() {
            self.biases[k] = self.find.bias(k);
        }
    }

    /// True if the targets of the bilateral rows had to be made consistent.
    pub(super) fn was_inconsistent(&self, island: &Whitened) -> bool {
        let consistent = self.dependence().consistent;
        let off = |(a, b): (&f64, &f64)| (a - b).abs() > consistent * (a.abs() + b.abs());
        self.biases.iter().zip(&island.bilateral.bias).any(off)
    }

    /// The complementarity problem that the held rows leave: `G = P g`, and e the motion of the rows under the held ones alone; `exact` asks for e
    /// as exact as the data, where working precision would do for a guess.
    pub(super) fn form(&mut self, island: &Whitened, exact: bool) -> Result<(), InputError> {
        let (m, n) = (island.m(), self.rows.len());
        let had_bounds = self.lcp.bounds().is_some();
        let (mut g, mut e, mut u, bounds) = std::mem::take(&mut self.lcp).into_parts();
        if had_bounds {
            self.bounds = bounds;
        }
        self.free_motion_into(island, &mut u);
        project(&self.find, &mut u);
        if exact {
            self.move_held(island);
        } else {
            self.move_roughly(&u);
        }
        let (speed, unsure) =
            (self.recovery.speed(), if exact { self.tolerances().unsure } else { 1.0 } * norm(&self.x_free));
        g.reshape(m, n);
        e.clear();
        self.terms.clear();
        for j in 0..n {
            stiction_lcp::interrupt::check();
            let row = self.rows[j];
            let (motion, terms) = self.recovery.motion(island, row, exact);
            let (length, left) = self.project_row(island, row, g.col_mut(j));
            let terms = terms + length * unsure;
            // What a column adds to the held ones by less than the threshold of dependence is no motion of its own.
            let unknown = if left == 0.0 { self.find.dependent() * length * speed } else { 0.0 };
            let noise = (ENTRY_ROUNDING * m as f64 * terms).max(unknown);
            self.terms.push(terms + length * speed);
            e.push(if motion.abs() <= noise { 0.0 } else { motion });
        }
        let bounded = self.rows.iter().any(|row| matches!(row, Row::Bounded(_)));
        let lcp = FactoredLcp::new(g, e)?.with_near(u)?;
        if !bounded {
            self.lcp = lcp;
            return Ok(());
        }
        let (mut lo, mut hi) = std::mem::take(&mut self.bounds);
        lo.clear();
        lo.extend(self.rows.iter().map(|row| row.bounds(island).0));
        hi.clear();
        hi.extend(self.rows.iter().map(|row| row.bounds(island).1));
        self.lcp = lcp.with_bounds(lo, hi)?;
        Ok(())
    }

    /// `column ← P g` of `row`, zero where that is rounding; returns the lengths of g and of what is left.
    fn project_row(&mut self, island: &Whitened, row: Row, column: &mut [f64]) -> (f64, f64) {
        column.copy_from_slice(row.g(island));
        let length = norm(column);
        self.drag.solve(column);
        if self.find.rank() == 0 {
            return (length, length);
        }
        self.column.clear();
        self.column.extend_from_slice(column);
        let size = if self.drag.is_empty() { length } else { norm(column) };
        let left = project(&self.find, column);
        if self.find.is_rounding(&self.column, size, column, left) {
            column.fill(0.0);
            return (length, 0.0);
        }
        (length, left)
    }

    /// Raises e along the direction `d` (`G d = 0`, `eᵀ d < 0`), which proves nothing, so that `eᵀ d ≥ 0`: each entry by the same part of what it
    /// was summed from. The certificate judges the answer. False if that is not possible.
    pub(super) fn forgive(&mut self, d: &[f64]) -> bool {
        let gain: f64 = d.iter().zip(self.lcp.e()).map(|(d, e)| d * e).sum();
        let room: f64 = d.iter().zip(&self.terms).map(|(d, t)| d.abs() * t).sum();
        let part = (RAISE_FACTOR * (-gain / room)).max(self.tolerances().least_raise);
        if !part.is_finite() {
            return false;
        }
        let bounded = self.lcp.bounds().is_some();
        let (g, mut e, u, (lo, hi)) = std::mem::take(&mut self.lcp).into_parts();
        for ((e, d), t) in e.iter_mut().zip(d).zip(&self.terms) {
            if *d != 0.0 {
                *e += part * d.signum() * t;
            }
        }
        let lcp = FactoredLcp::new(g, e).and_then(|lcp| lcp.with_near(u));
        let lcp = if bounded { lcp.and_then(|lcp| lcp.with_bounds(lo, hi)) } else { lcp };
        lcp.map(|lcp| self.lcp = lcp).is_ok()
    }

    /// `y ← L⁻¹ (x_free − Σ c bias g)`: the free motion under the drag of moving surfaces.
    fn free_motion_into(&self, island: &Whitened, y: &mut Vec<f64>) {
        y.clear();
        y.extend_from_slice(&self.x_free);
        for (row, c) in &self.drag.rows {
            let bias = row.bias(island);
            if bias != 0.0 {
                axpy(-c * bias, row.g(island), y);
            }
        }
        self.drag.solve(y);
    }
}

/// `x ← P x`; returns its length.
fn project(find: &FindIndices, x: &mut [f64]) -> f64 {
    if find.rank() == x.len() {
        x.fill(0.0);
        return 0.0;
    }
    find.project_out(x)
}
