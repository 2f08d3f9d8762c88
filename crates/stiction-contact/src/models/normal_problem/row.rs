//! One row of an island, whatever its kind.

use crate::by_island::IslandForces;
use crate::whitened::{Columns, Whitened};

/// A row, by its kind and its number among the island's rows of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    Normal(usize),
    TangentS(usize),
    TangentT(usize),
    Spin(usize),
    Bilateral(usize),
    Limit(usize),
    Bounded(usize),
}

impl Row {
    fn place(self, island: &Whitened) -> (&Columns, usize) {
        match self {
            Row::Normal(k) => (&island.normal, k),
            Row::TangentS(k) => (&island.tangent_s, k),
            Row::TangentT(k) => (&island.tangent_t, k),
            Row::Spin(k) => (&island.spin, k),
            Row::Bilateral(k) => (&island.bilateral, k),
            Row::Limit(k) => (&island.limit, k),
            Row::Bounded(k) => (&island.bounded, k),
        }
    }

    /// Its whitened column, m.
    pub(crate) fn g(self, island: &Whitened) -> &[f64] {
        let (columns, k) = self.place(island);
        columns.g.col(k)
    }

    /// What its motion has beside `gᵀ x`.
    pub(crate) fn bias(self, island: &Whitened) -> f64 {
        let (columns, k) = self.place(island);
        columns.bias[k]
    }

    /// Its force.
    pub(crate) fn force(self, forces: &mut IslandForces) -> &mut f64 {
        match self {
            Row::Normal(k) => &mut forces.normal[k],
            Row::TangentS(k) => &mut forces.tangent_s[k],
            Row::TangentT(k) => &mut forces.tangent_t[k],
            Row::Spin(k) => &mut forces.spin[k],
            Row::Bilateral(k) => &mut forces.bilateral[k],
            Row::Limit(k) => &mut forces.limit[k],
            Row::Bounded(k) => &mut forces.bounded[k],
        }
    }

    /// The bounds of its force.
    pub(crate) fn bounds(self, island: &Whitened) -> (f64, f64) {
        match self {
            Row::Normal(_) | Row::Limit(_) => (0.0, f64::INFINITY),
            Row::Bounded(k) => (island.lo[k], island.hi[k]),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Its place in an island's basis, which has a letter for each normal, limit and bounded row; for those kinds only.
    pub(crate) fn slot(self, island: &Whitened) -> usize {
        match self {
            Row::Limit(k) => island.contacts() + k,
            Row::Bounded(k) => island.contacts() + island.limit.len() + k,
            Row::Normal(k) | Row::TangentS(k) | Row::TangentT(k) | Row::Spin(k) | Row::Bilateral(k) => k,
        }
    }

    /// Letters of an island's basis.
    pub(crate) fn slots(island: &Whitened) -> usize {
        island.contacts() + island.limit.len() + island.bounded.len()
    }
}
