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
    let mut cone = Cone { problem, basis, active, dictionary: first_dictionary(problem, basis) };
    cone.eliminate();
    // Equations left over have no variable left: they must hold as they stand.
    if !cone.active.iter().all(|&i| cone.dictionary.value(k + i).is_zero()) {
        return None;
    }
    let free: Vec<usize> = (0..k).filter(|&a| matches!(cone.dictionary.place(a), Place::Column(_))).collect();
    if free.is_empty() { cone.vertex() } else { cone.face(&free) }
}

/// Column a is the a-th active z, row i is wᵢ with label k + i; the other z stand at their bounds.
fn first_dictionary(problem: &Integers, basis: &Basis) -> Dictionary {
    let n = problem.n();
    let active: Vec<usize> = basis.active().collect();
    let at_bounds: Vec<BigInt> = (0..n)
        .map(|i| match basis.position(i) {
            Position::Basic => BigInt::zero(),
            Position::Lower => problem.lo[i].clone().unwrap_or_default(),
            Position::Upper => problem.hi[i].clone().unwrap_or_default(),
        })
        .collect();
    let shift = problem.times(&at_bounds);
    let row = |i: usize| active.iter().map(|&j| problem.entry(i, j)).chain([&problem.q[i] + &shift[i]]).collect();
    let k = active.len();
    Dictionary::new((0..n).map(row).collect(), (k..k + n).collect(), (0..k).collect())
}

struct Cone<'a> {
    problem: &'a Integers,
    basis: &'a Basis,
    active: Vec<usize>,
    dictionary: Dictionary,
}

impl Cone<'_> {
    /// Exchanges w of active rows with active z as long as there is a pivot, and fixes those w at zero.
    fn eliminate(&mut self) {
        let k = self.active.len();
        for &i in &self.active {
            let Place::Row(row) = self.dictionary.place(k + i) else { continue };
            let columns = (0..self.dictionary.columns()).filter(|&c| self.dictionary.nonbasic(c) < k);
            let pivot = columns.into_iter().find(|&c| !self.dictionary.entry(row, c).is_zero());
            if let Some(column) = pivot {
                self.dictionary.pivot(row, column);
                self.dictionary.drop_columns(|label| label >= k);
            }
        }
    }

    /// The only point of a basis that is not singular, if its signs are right.
    fn vertex(&self) -> Option<ConePoint> {
        let none: [Coordinate; 0] = [];
        let right = self.inequalities(&none).iter().all(|row| !row[0].is_negative());
        right.then(|| self.point(&none, &[], &BigInt::one(), false))
    }

    /// A point of a singular basis: `free` are active z that no equation fixes.
    fn face(&self, free: &[usize]) -> Option<ConePoint> {
        let coordinates: Vec<Coordinate> = free.iter().flat_map(|&a| self.coordinates(a)).collect();
        let (y, denominator) = non_negative_point(self.inequalities(&coordinates), coordinates.len())?;
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

    /// A variable as an affine function of the coordinates, over the dictionary's denominator: the coefficients, then the constant.
    fn affine(&self, label: usize, coordinates: &[Coordinate]) -> Vec<BigInt> {
        let mut row: Vec<BigInt> = Vec::with_capacity(coordinates.len() + 1);
        let mut constant = self.dictionary.value(label);
        for c in coordinates {
            let Place::Column(column) = self.dictionary.place(c.variable) else { continue };
            let rate = self.dictionary.rate(label, column);
            constant += &rate * &c.origin;
            row.push(if c.up { rate } else { -rate });
        }
        row.push(constant);
        row
    }

    /// All inequalities of the basis in the coordinates.
    fn inequalities(&self, coordinates: &[Coordinate]) -> Vec<Vec<BigInt>> {
        let k = self.active.len();
        let d = self.dictionary.denominator();
        let negated = |row: Vec<BigInt>| row.into_iter().map(|x| -x).collect::<Vec<_>>();
        let mut rows = Vec::new();
        for (a, &j) in self.active.iter().enumerate() {
            let z = self.affine(a, coordinates);
            let beyond = |bound: &BigInt| {
                let mut row = z.clone();
                row[coordinates.len()] -= bound * d;
                row
            };
            rows.extend(self.problem.lo[j].as_ref().map(beyond));
            rows.extend(self.problem.hi[j].as_ref().map(|hi| negated(beyond(hi))));
        }
        for i in
            (0..self.problem.n()).filter(|&i| self.problem.lo[i].is_none() || self.problem.lo[i] != self.problem.hi[i])
        {
            match self.basis.position(i) {
                Position::Basic => {}
                Position::Lower => rows.push(self.affine(k + i, coordinates)),
                Position::Upper => rows.push(negated(self.affine(k + i, coordinates))),
            }
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
            let row = self.affine(a, coordinates);
            let moved: BigInt = row.iter().zip(y).map(|(a, y)| a * y).sum();
            z[j] = moved + &row[coordinates.len()] * denominator;
        }
        debug_assert!(self.problem.solved_by(&z, &common));
        ConePoint { z, denominator: common, singular }
    }
}

/// `z = origin ± y` with y ≥ 0, for an undetermined active z.
struct Coordinate {
    variable: usize,
    origin: BigInt,
    up: bool,
}
