//! The energy inequality: contact alone never adds energy.
//!
//! With `T(x) = ½ xᵀ M x` and `v_f = v + dt M⁻¹ f`, every exact answer at velocity level has `T(v⁺) + T(v⁺ − v_f) ≤ T(v_f) + W`, where
//! `W = −Σ p_r b_r + Σ c_r u_r` is the work of targets, bounces and moving surfaces (less what closing gaps takes); the second sum is over bounded rows
//! whose force cannot be zero, c the least one they may have. The left side less T(v_f) is `v⁺ · (M (v⁺ − v) − dt f)`, so no inverse is needed.

use super::Place;
use super::measures::{UNIT, Worst, ratio};

/// The inequality's two sides, island by island.
#[derive(Debug, Clone, Default)]
pub(super) struct EnergySums {
    islands: Vec<Island>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Island {
    /// `v⁺ · (M (v⁺ − v) − dt f)` (J).
    gain: f64,
    /// W (J).
    work: f64,
    /// Sizes of all terms (J).
    terms: f64,
    /// Those of the terms that are not zero to the last bit, and so have a rounding.
    rounded: f64,
    /// Additions, for the rounding.
    count: usize,
}

impl EnergySums {
    /// Nothing yet, for islands with numbers below `islands`.
    pub(super) fn start(&mut self, islands: usize) {
        self.islands.clear();
        self.islands.resize(islands, Island::default());
    }

    /// Adds a block of `island`: its velocities, `M (v⁺ − v) − dt f` and the sizes of its terms.
    pub(super) fn add_inertia(&mut self, island: usize, motion: &[f64], change: &[f64], size: &[f64]) {
        let sums = &mut self.islands[island];
        for ((v, change), size) in motion.iter().zip(change).zip(size) {
            sums.gain += v * change;
            sums.rounded += v.abs() * size;
            sums.terms += v.abs() * size;
        }
        // Each `change` is a sum of as many products.
        sums.count += 2 * motion.len() + 2;
    }

    /// Adds a row with force p, bias b, motion u measured beside ω, and the least force c it may have.
    #[inline]
    pub(super) fn add_row(&mut self, island: usize, p: f64, bias: f64, omega: f64, least: f64, u: f64) {
        if p != 0.0 || least != 0.0 {
            let sums = &mut self.islands[island];
            let terms = (p.abs() + least.abs()) * omega;
            sums.work += least * u - p * bias;
            sums.terms += terms;
            sums.rounded += if bias == 0.0 && least == 0.0 { 0.0 } else { terms };
            sums.count += 2;
        }
    }

    /// The worst island's violation beside its terms, as an upper bound.
    pub(super) fn measure(&self, worst: &mut Worst) -> f64 {
        let mut largest = 0.0f64;
        for (block, sums) in self.islands.iter().enumerate() {
            let above = sums.gain - sums.work + UNIT * sums.count as f64 * sums.rounded;
            // Not `<=`: what is not a number is no proof.
            let violation = if above <= 0.0 { 0.0 } else { ratio(above, sums.terms) };
            largest = largest.max(worst.see(violation, Place::Island(block)));
        }
        largest
    }

    /// W over all islands (J).
    pub(super) fn driven_work(&self) -> f64 {
        self.islands.iter().map(|island| island.work).sum()
    }
}
