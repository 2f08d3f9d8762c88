//! A dictionary in integers: the basic variables as affine functions of the others, over one denominator.
//!
//! `x_B = (T x_N + t) / D` with integers T, t and D > 0. After any number of pivots every entry is a minor of the first
//! dictionary, so the division by the last pivot is exact and no greatest common divisors are needed.
//!
//! Reference: \[Edmonds67\], \[Bareiss68\]; the lexicographic rule as in [CPS09, §4.9].

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed, Zero};

/// Where a variable stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Row(usize),
    Column(usize),
    /// Fixed at zero.
    Dropped,
}

/// What the allocation of a number costs, in products of machine words.
const ALLOCATION: u64 = 20;

/// See the [module](self). Variables have labels: whatever numbers the caller gives them.
#[derive(Debug, Clone)]
pub(crate) struct Dictionary {
    /// T and t, row by row, t last.
    entries: Vec<Vec<BigInt>>,
    denominator: BigInt,
    /// Labels of the basic variables, one per row.
    basic: Vec<usize>,
    /// Labels of the others, one per column.
    nonbasic: Vec<usize>,
    /// Inverse of these two lists.
    places: Vec<Place>,
    /// Products of machine words so far.
    work: u64,
}

impl Dictionary {
    /// The dictionary with integer rows `[T t]` and denominator 1; labels must be distinct and without gaps.
    pub(crate) fn new(entries: Vec<Vec<BigInt>>, basic: Vec<usize>, nonbasic: Vec<usize>) -> Self {
        debug_assert!(entries.len() == basic.len() && entries.iter().all(|row| row.len() == nonbasic.len() + 1));
        let mut places = vec![Place::Row(0); basic.len() + nonbasic.len()];
        basic.iter().enumerate().for_each(|(row, &label)| places[label] = Place::Row(row));
        nonbasic.iter().enumerate().for_each(|(column, &label)| places[label] = Place::Column(column));
        Self { entries, denominator: 1.into(), basic, nonbasic, places, work: 0 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.basic.len()
    }

    /// Number of labels given out.
    pub(crate) fn labels(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn columns(&self) -> usize {
        self.nonbasic.len()
    }

    /// The label of the basic variable of a row.
    pub(crate) fn basic(&self, row: usize) -> usize {
        self.basic[row]
    }

    pub(crate) fn place(&self, label: usize) -> Place {
        self.places[label]
    }

    /// D, positive.
    pub(crate) fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// T[row, column], over D.
    pub(crate) fn entry(&self, row: usize, column: usize) -> &BigInt {
        &self.entries[row][column]
    }

    /// t[row], over D: the value of the basic variable where the others are zero.
    pub(crate) fn constant(&self, row: usize) -> &BigInt {
        &self.entries[row][self.columns()]
    }

    /// The value of a variable where the nonbasic ones are zero, over D.
    pub(crate) fn value(&self, label: usize) -> BigInt {
        match self.places[label] {
            Place::Row(row) => self.constant(row).clone(),
            Place::Column(_) | Place::Dropped => BigInt::zero(),
        }
    }

    /// How fast a variable grows with the one of `column`, over D.
    pub(crate) fn rate(&self, label: usize, column: usize) -> BigInt {
        match self.places[label] {
            Place::Row(row) => self.entry(row, column).clone(),
            Place::Column(other) if other == column => self.denominator.clone(),
            Place::Column(_) | Place::Dropped => BigInt::zero(),
        }
    }

    /// The work of all pivots so far, in products of machine words.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Exchanges the basic variable of `row` with the one of `column`; the entry there must not be zero.
    pub(crate) fn pivot(&mut self, row: usize, column: usize) {
        let mut pivot_row = std::mem::take(&mut self.entries[row]);
        let pivot = pivot_row[column].clone();
        let negative = pivot.is_negative();
        let words = |x: &BigInt| 1 + x.bits() / 64;
        let most = words(&self.denominator).max(words(&pivot));
        self.work += 3 * (self.rows() * self.columns()) as u64 * (words(&pivot) * most + ALLOCATION);
        let divide = !self.denominator.is_one();
        for (_, entries) in self.entries.iter_mut().enumerate().filter(|(i, _)| *i != row) {
            crate::interrupt::check();
            let factor = entries[column].clone();
            for (j, x) in entries.iter_mut().enumerate().filter(|(j, _)| *j != column) {
                if !x.is_zero() {
                    *x *= &pivot;
                }
                if !factor.is_zero() && !pivot_row[j].is_zero() {
                    *x -= &factor * &pivot_row[j];
                }
                if divide && !x.is_zero() {
                    *x /= &self.denominator;
                }
            }
            if negative {
                entries.iter_mut().for_each(flip);
                entries[column] = -factor;
            }
        }
        for (j, x) in pivot_row.iter_mut().enumerate() {
            if j != column && !negative {
                flip(x);
            }
        }
        let old = std::mem::replace(&mut self.denominator, pivot.abs());
        pivot_row[column] = if negative { -old } else { old };
        self.entries[row] = pivot_row;
        self.exchange_labels(row, column);
    }

    fn exchange_labels(&mut self, row: usize, column: usize) {
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        self.places[self.basic[row]] = Place::Row(row);
        self.places[self.nonbasic[column]] = Place::Column(column);
    }

    /// Adds a nonbasic variable with the given integers, over D, and the next free label, which is returned.
    pub(crate) fn add_column(&mut self, entries: Vec<BigInt>) -> usize {
        let (label, column) = (self.places.len(), self.columns());
        self.entries.iter_mut().zip(entries).for_each(|(row, x)| row.insert(column, x));
        self.nonbasic.push(label);
        self.places.push(Place::Column(column));
        label
    }

    /// Adds a basic variable with the given integers `[T t]`, over D, and the next free label, which is returned.
    pub(crate) fn add_row(&mut self, entries: Vec<BigInt>) -> usize {
        let label = self.places.len();
        self.places.push(Place::Row(self.rows()));
        self.basic.push(label);
        self.entries.push(entries);
        label
    }

    /// A row as it stands, `[T t]` over D.
    pub(crate) fn row(&self, row: usize) -> &[BigInt] {
        &self.entries[row]
    }

    /// Fixes nonbasic variables at zero by dropping their columns.
    pub(crate) fn drop_columns(&mut self, drop: impl Fn(usize) -> bool) {
        for column in (0..self.columns()).rev().filter(|&c| drop(self.nonbasic[c])).collect::<Vec<_>>() {
            self.entries.iter_mut().for_each(|row| {
                row.remove(column);
            });
            self.places[self.nonbasic.remove(column)] = Place::Dropped;
        }
        for (column, &label) in self.nonbasic.iter().enumerate() {
            self.places[label] = Place::Column(column);
        }
    }

    /// The row whose variable reaches zero first as the one of `column` grows, or `None` if none ever does.
    ///
    /// Ties are broken as if the variables `order`, basic in the first dictionary, had been raised by ε, ε², …: with it no basis comes
    /// back. Only rows whose label is `blocking` take part.
    pub(crate) fn ratio_test(&self, column: usize, order: &[usize], blocking: impl Fn(usize) -> bool) -> Option<usize> {
        let mut best: Option<usize> = None;
        for row in (0..self.rows()).filter(|&r| blocking(self.basic[r])) {
            if self.entry(row, column).sign() == Sign::Minus
                && best.is_none_or(|best| self.compare_ratios(row, best, column, order) == Ordering::Less)
            {
                best = Some(row);
            }
        }
        best
    }

    /// The row with the lexicographically least `[t, ε]`, if its t is negative.
    pub(crate) fn most_negative_row(&self, order: &[usize], blocking: impl Fn(usize) -> bool) -> Option<usize> {
        let rows = (0..self.rows()).filter(|&r| blocking(self.basic[r]));
        let least = rows.reduce(|best, row| {
            let perturbed = || order.iter().map(|&l| self.perturbation(row, l).cmp(&self.perturbation(best, l)));
            let less = self
                .constant(row)
                .cmp(self.constant(best))
                .then_with(|| perturbed().find(|o| o.is_ne()).unwrap_or(Ordering::Equal));
            if less == Ordering::Less { row } else { best }
        });
        least.filter(|&row| self.constant(row).is_negative())
    }

    /// Compares `[t, ε] / −T[·, column]` of two rows.
    fn compare_ratios(&self, a: usize, b: usize, column: usize, order: &[usize]) -> Ordering {
        // Both denominators are negative: crossing them over keeps the order reversed twice.
        let cross = |x: &BigInt, y: &BigInt| (y * self.entry(a, column)).cmp(&(x * self.entry(b, column)));
        let plain = cross(self.constant(a), self.constant(b));
        plain.then_with(|| {
            let perturbed = order.iter().map(|&l| cross(&self.perturbation(a, l), &self.perturbation(b, l)));
            perturbed.into_iter().find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        })
    }

    /// True if the plain ratios of two rows are equal.
    pub(crate) fn ratios_tie(&self, a: usize, b: usize, column: usize) -> bool {
        self.constant(a) * self.entry(b, column) == self.constant(b) * self.entry(a, column)
    }

    /// The coefficient in `row` of the ε that raised `label`, over D.
    fn perturbation(&self, row: usize, label: usize) -> BigInt {
        match self.places[label] {
            Place::Row(at) if at == row => self.denominator.clone(),
            Place::Row(_) | Place::Dropped => BigInt::zero(),
            Place::Column(column) => -self.entry(row, column),
        }
    }
}

fn flip(x: &mut BigInt) {
    let taken = std::mem::take(x);
    *x = -taken;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(rows: &[&[i64]]) -> Dictionary {
        let entries = rows.iter().map(|r| r.iter().map(|&x| BigInt::from(x)).collect()).collect();
        let (n, m) = (rows.len(), rows[0].len() - 1);
        Dictionary::new(entries, (m..m + n).collect(), (0..m).collect())
    }

    /// Two pivots solve `M z = −q` and two more undo them, with negative pivots among them.
    #[test]
    fn pivots_there_and_back() {
        let mut d = dictionary(&[&[-2, 1, 3], &[4, 3, -7]]);
        let first = d.clone();
        d.pivot(0, 0);
        d.pivot(1, 1);
        // z = −M⁻¹ q with det M = −10: z₀ = (−9 − 7) / −10, z₁ = (14 − 12) / 10.
        assert_eq!(d.denominator(), &10.into());
        assert_eq!((d.value(0), d.value(1)), (16.into(), 2.into()));
        assert_eq!((d.value(2), d.value(3)), (0.into(), 0.into()));
        d.pivot(0, 0);
        d.pivot(1, 1);
        assert_eq!(d.entries, first.entries);
        assert_eq!(d.denominator(), &1.into());
        assert_eq!(d.basic, first.basic);
    }

    #[test]
    fn the_ratio_test_breaks_ties_lexicographically() {
        // Rows 0 and 1 tie at ratio 1; ε in row 0 is the larger one, so row 1 blocks first.
        let d = dictionary(&[&[-1, 0, 1], &[-2, 0, 2], &[-1, 0, 5], &[1, 0, 0]]);
        assert_eq!(d.ratio_test(0, &[2, 3, 4, 5], |_| true), Some(1));
        assert_eq!(d.ratio_test(0, &[3, 2, 4, 5], |_| true), Some(0));
        assert_eq!(d.ratio_test(0, &[2, 3, 4, 5], |l| l > 3), Some(2));
        assert_eq!(d.ratio_test(1, &[2, 3, 4, 5], |_| true), None);
        assert!(d.ratios_tie(0, 1, 0) && !d.ratios_tie(0, 2, 0));
    }
}
