//! One basis decided exactly: does its cone hold a solution?

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

use crate::basis::{Basis, Position};
use crate::exact::{Dictionary, Integers, Place, non_negative_point};

/// A point of a cone, z′ in the scale of the integers over a positive denominator.
pub(super) struct ConePoint {
    pub z: Vec<BigInt>,
    pub denominator: BigInt,
    /// The basis is singular, so that its solutions may be a whole set.
    pub singular: bool,
}

/// A solution with the positions of `basis`, or `None` if there is none: `wᵢ = 0` and z within its bounds where basic, z at a
/// bound and w on its side elsewhere. No position may be at an infinite bound.
pub(super) fn decide(problem: &Integers, basis: &Basis) -> Option<ConePoint> {
    let active: Vec<usize> = basis.active().collect();
    let k = active.len();
    let constants = constants(problem, basis);
    let row = |&i: &usize| active.iter().map(|&j| problem.entry(i, j)).chain([constants[i].clone()]).collect();
    let dictionary = Dictionary::new(active.iter().map(row).collect(), (k..2 * k).collect(), (0..k).collect());
    let mut cone = Cone { problem, basis, active, constants, dictionary };
    cone.eliminate();
    // Equations left over have no variable left: they must hold as they stand.
    if !(k..2 * k).all(|w| cone.dictionary.value(w).is_zero()) {
        return None;
    }
    let free: Vec<usize> = (0..k).filter(|&a| matches!(cone.dictionary.place(a), Place::Column(_))).collect();
    if free.is_empty() { cone.vertex() } else { cone.face(&free) }
}

/// `q′ + M′ z′` with the active z′ zero and the others at their bounds.
fn constants(problem: &Integers, basis: &Basis) -> Vec<BigInt> {
    let at_bound = |i: usize| match basis.position(i) {
        Position::Basic => BigInt::zero(),
        Position::Lower => problem.lo[i].clone().unwrap_or_default(),
        Position::Upper => problem.hi[i].clone().unwrap_or_default(),
    };
    let at_bounds: Vec<BigInt> = (0..problem.n()).map(at_bound).collect();
    if at_bounds.iter().all(|z| z.is_zero()) {
        return problem.q.clone();
    }
    problem.times(&at_bounds).iter().zip(&problem.q).map(|(w, q)| w + q).collect()
}

/// The equations of a basis: columns and labels 0..k are the active z, rows and labels k..2k their w, which must be zero.
struct Cone<'a> {
    problem: &'a Integers,
    basis: &'a Basis,
    active: Vec<usize>,
    constants: Vec<BigInt>,
    dictionary: Dictionary,
}

impl Cone<'_> {
    /// Exchanges w with z as long as there is a pivot, and fixes those w at zero.
    fn eliminate(&mut self) {
        let k = self.active.len();
        for row in 0..k {
            let pivot = (0..self.dictionary.columns()).find(|&c| !self.dictionary.entry(row, c).is_zero());
            if let Some(column) = pivot {
                self.dictionary.pivot(row, column);
                self.dictionary.drop_columns(|label| label >= k);
            }
        }
    }

    /// The only point of a basis that is not singular, if its signs are right.
    fn vertex(&self) -> Option<ConePoint> {
        let right = |row: Vec<BigInt>| !row[0].is_negative();
        // The bounds of z first: the other side costs products.
        let holds = self.bounds(&[]).into_iter().all(right) && self.sides(&[]).into_iter().all(right);
        holds.then(|| self.point(&[], &[], &BigInt::one(), false))
    }

    /// A point of a singular basis: `free` are active z that no equation fixes.
    fn face(&self, free: &[usize]) -> Option<ConePoint> {
        let coordinates: Vec<Coordinate> = free.iter().flat_map(|&a| self.coordinates(a)).collect();
        let inequalities = [self.bounds(&coordinates), self.sides(&coordinates)].concat();
        let (y, denominator) = non_negative_point(inequalities, coordinates.len())?;
        Some(self.point(&coordinates, &y, &denominator, true))
    }

    /// An undetermined z as non-negative coordinates: from its lower bound up, from its upper bound down, or both ways.
    fn coordinates(&self, a: usize) -> Vec<Coordinate> {
        let j = self.active[a];
        let from = |origin: &BigInt, up: bool| Coordinate { variable: a, origin: origin.clone(), up };
        match (&self.problem.lo[j], &self.problem.hi[j]) {
            (Some(lo), _) => vec![from(lo, true)],
            (None, Some(hi)) => vec![from(hi, false)],
            (None, None) => vec![from(&BigInt::zero(), true), from(&BigInt::zero(), false)],
        }
    }

    /// The a-th active z as an affine function of the coordinates, over the dictionary's denominator: coefficients, then constant.
    fn active_z(&self, a: usize, coordinates: &[Coordinate]) -> Vec<BigInt> {
        let mut row: Vec<BigInt> = Vec::with_capacity(coordinates.len() + 1);
        let mut constant = self.dictionary.value(a);
        for c in coordinates {
            let Place::Column(column) = self.dictionary.place(c.variable) else { continue };
            let rate = self.dictionary.rate(a, column);
            constant += &rate * &c.origin;
            row.push(if c.up { rate } else { -rate });
        }
        row.push(constant);
        row
    }

    /// `z − lo` and `hi − z` of all active z.
    fn bounds(&self, coordinates: &[Coordinate]) -> Vec<Vec<BigInt>> {
        let last = coordinates.len();
        let mut rows = Vec::new();
        for (a, &j) in self.active.iter().enumerate() {
            let z = self.active_z(a, coordinates);
            let above = |bound: &BigInt| {
                let mut row = z.clone();
                row[last] -= bound * self.dictionary.denominator();
                row
            };
            rows.extend(self.problem.lo[j].as_ref().map(above));
            rows.extend(self.problem.hi[j].as_ref().map(|hi| negated(above(hi))));
        }
        rows
    }

    /// w of the rows at lower bounds, −w of those at upper bounds.
    fn sides(&self, coordinates: &[Coordinate]) -> Vec<Vec<BigInt>> {
        let last = coordinates.len();
        let z: Vec<Vec<BigInt>> = (0..self.active.len()).map(|a| self.active_z(a, coordinates)).collect();
        let mut rows = Vec::new();
        for i in 0..self.problem.n() {
            let fixed = self.problem.lo[i].is_some() && self.problem.lo[i] == self.problem.hi[i];
            if fixed || self.basis.position(i) == Position::Basic {
                continue;
            }
            let mut w = vec![BigInt::zero(); last + 1];
            w[last] = &self.constants[i] * self.dictionary.denominator();
            for (z, &j) in z.iter().zip(&self.active) {
                let entry = self.problem.entry(i, j);
                w.iter_mut().zip(z).for_each(|(w, z)| *w += &entry * z);
            }
            rows.push(if self.basis.position(i) == Position::Lower { w } else { negated(w) });
        }
        rows
    }

    /// The whole z′ where the coordinates are `y / denominator`.
    fn point(&self, coordinates: &[Coordinate], y: &[BigInt], denominator: &BigInt, singular: bool) -> ConePoint {
        let common = self.dictionary.denominator() * denominator;
        let bound = |x: &Option<BigInt>| x.clone().unwrap_or_default() * &common;
        let mut z: Vec<BigInt> = (0..self.problem.n())
            .map(|i| {
                if self.basis.position(i) == Position::Upper {
                    bound(&self.problem.hi[i])
                } else {
                    bound(&self.problem.lo[i])
                }
            })
            .collect();
        for (a, &j) in self.active.iter().enumerate() {
            let row = self.active_z(a, coordinates);
            let moved: BigInt = row.iter().zip(y).map(|(a, y)| a * y).sum();
            z[j] = moved + &row[coordinates.len()] * denominator;
        }
        debug_assert!(self.problem.solved_by(&z, &common));
        ConePoint { z, denominator: common, singular }
    }
}

fn negated(row: Vec<BigInt>) -> Vec<BigInt> {
    row.into_iter().map(|x| -x).collect()
}

/// `z = origin ± y` with y ≥ 0, for an undetermined active z.
struct Coordinate {
    variable: usize,
    origin: BigInt,
    up: bool,
}
