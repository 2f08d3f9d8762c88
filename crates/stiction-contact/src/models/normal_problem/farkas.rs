//! Proofs that no motion satisfies the rows: multipliers whose combination of rows vanishes while that of the biases is negative.
//!
//! A direction d of the complementarity problem with `G d = 0` and `eᵀ d < 0` gives the multipliers of its rows; those of the held rows make up for
//! what the projection took away, `Σ g d + Xᵀ λ = 0`. Then `biasᵀ d + bias_Xᵀ λ = eᵀ d`. All but one of the rows involved are independent, so their
//! multipliers follow from the last one's, with refinement.

use crate::by_island::{FARKAS_GAIN, IslandForces};
use crate::models::normal_problem::{NormalProblem, Row};
use crate::whitened::Whitened;

impl NormalProblem {
    /// Multipliers of all rows from the direction `d` over the rows of the complementarity problem. False if they prove nothing: what d gains is
    /// rounding beside the biases it is made of.
    pub(super) fn prove(&mut self, island: &Whitened, d: &[f64], forces: &mut IslandForces) -> bool {
        if self.was_inconsistent(island) {
            self.prove_bilaterals(island, forces);
            return true;
        }
        self.factor_held(island);
        let recovery = &mut self.recovery;
        recovery.fixed.clear();
        let involved = || d.iter().enumerate().filter(|(_, d)| **d != 0.0);
        let last = involved().next_back().map(|(j, _)| j);
        for (j, d) in involved() {
            let row = self.rows[j];
            let must = Some(j) == last && recovery.fixed.is_empty();
            if must || !recovery.append(island, &self.drag, row, row.bias(island)) {
                recovery.fixed.push((row, *d));
            }
        }
        self.write_multipliers(island, forces);
        let multipliers = self.recovery.active.iter().map(|(row, _)| *row).zip(self.recovery.p.iter().copied());
        let (mut gain, mut terms) = (0.0, 0.0);
        for (row, y) in multipliers.chain(self.recovery.fixed.iter().copied()) {
            gain -= row.bias(island) * y;
            terms += (row.bias(island) * y).abs();
        }
        gain > FARKAS_GAIN * terms
    }

    /// The proof where held row `number` contradicts those kept.
    pub(super) fn prove_from_held(&mut self, island: &Whitened, number: usize, forces: &mut IslandForces) {
        if self.was_inconsistent(island) {
            return self.prove_bilaterals(island, forces);
        }
        self.factor_held(island);
        self.write_contradiction(island, self.held[number], forces);
    }

    /// The proof where the bilateral rows alone contradict each other. It stands whatever else does.
    fn prove_bilaterals(&mut self, island: &Whitened, forces: &mut IslandForces) {
        self.find.reset_with(island.m(), island.bilateral.len(), self.options.model.tolerances.find_indices);
        self.drag.reset(island.m());
        self.held.truncate(island.bilateral.len());
        for k in 0..island.bilateral.len() {
            self.find.add(island.bilateral.g.col(k), island.bilateral.bias[k]);
        }
        self.find.satisfy_kept();
        if let Some(k) = self.find.contradiction() {
            self.factor_held(island);
            self.write_contradiction(island, Row::Bilateral(k), forces);
        }
    }

    /// The multiplier of `row` is 1 against the sign of its residual; those of the rows in the factor balance it.
    fn write_contradiction(&mut self, island: &Whitened, row: Row, forces: &mut IslandForces) {
        let recovery = &mut self.recovery;
        recovery.fixed.clear();
        recovery.fixed.push((row, 1.0));
        recovery.balance(island, &self.drag);
        let sum = |(total, p): (f64, (f64, f64))| total + p.0 * p.1;
        let biases = recovery.active.iter().map(|(row, _)| row.bias(island)).zip(recovery.p.iter().copied());
        let total = biases.fold(row.bias(island), |total, p| sum((total, p)));
        if total > 0.0 {
            recovery.fixed[0].1 = -1.0;
        }
        self.write_multipliers(island, forces);
    }

    /// Balances the fixed rows and writes all multipliers. One that rounding left on the wrong side of zero is zero.
    fn write_multipliers(&mut self, island: &Whitened, forces: &mut IslandForces) {
        let recovery = &mut self.recovery;
        recovery.balance(island, &self.drag);
        let active = recovery.active.iter().map(|(row, _)| *row).zip(recovery.p.iter().copied());
        for (row, y) in active.chain(recovery.fixed.iter().copied()) {
            let (lo, hi) = row.bounds(island);
            let may = if y > 0.0 { hi == f64::INFINITY } else { lo == f64::NEG_INFINITY };
            *row.force(forces) = if may { y } else { 0.0 };
        }
    }
}
