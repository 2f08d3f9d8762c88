//! The standard form of a problem: an LCP in integers, as a dictionary `w = M z + q`.
//!
//! Bounds are moved into the origin (`z = lo + y`, or `z = hi − y` with the row's sign turned); a second finite bound adds a pair
//! (λ, hi − lo − y), so that the matrix becomes `[M I; −I 0]`; fixed rows are dropped. Free rows are pivoted out, alone or
//! together with a start basis; what cannot be (a singular block) is split into z⁺ − z⁻.

use num_bigint::BigInt;
use num_traits::{One, Zero};

use super::dictionary::{Dictionary, Place};
use super::integer::IntegerProblem;
use crate::basis::{Basis, Position};

/// Pair p has the labels 2p (its z) and 2p + 1 (its w).
pub(crate) fn z_label(pair: usize) -> usize {
    2 * pair
}

/// The other variable of a pair.
pub(crate) fn complement(label: usize) -> usize {
    label ^ 1
}

/// What became of a row of the problem.
#[derive(Debug, Clone, Copy)]
enum Row {
    /// lo = hi: a constant.
    Fixed,
    /// `z = lo + y`.
    Above { pair: usize },
    /// `z = hi − y`.
    Below { pair: usize },
    /// `z = lo + y` with a second pair for the upper bound.
    Between { pair: usize, cap: usize },
    /// z free.
    Free { pair: usize },
}

/// See the [module](self).
pub(crate) struct Standard<'a> {
    problem: &'a IntegerProblem,
    rows: Vec<Row>,
    dictionary: Dictionary,
}

/// A dictionary whose basic variables are complementary, free rows out of the way.
pub(crate) struct Start {
    pub dictionary: Dictionary,
    /// True for the labels that must not become negative.
    pub signed: Vec<bool>,
    /// `(p, p′)`: pair p was free and is now z⁺ of p minus z⁻ of p′.
    splits: Vec<(usize, usize)>,
}

impl<'a> Standard<'a> {
    pub(super) fn new(problem: &'a IntegerProblem) -> Self {
        let mut pairs = 0;
        let mut next = || {
            pairs += 1;
            pairs - 1
        };
        let mut rows = Vec::with_capacity(problem.n());
        for i in 0..problem.n() {
            rows.push(match (&problem.lo[i], &problem.hi[i]) {
                (Some(lo), Some(hi)) if lo == hi => Row::Fixed,
                (Some(_), Some(_)) => Row::Between { pair: next(), cap: next() },
                (Some(_), None) => Row::Above { pair: next() },
                (None, Some(_)) => Row::Below { pair: next() },
                (None, None) => Row::Free { pair: next() },
            });
        }
        let dictionary = first_dictionary(problem, &rows, pairs);
        Self { problem, rows, dictionary }
    }

    /// The pairs whose z is basic in a basis of the problem; none if the basis is of another order.
    pub(super) fn active(&self, basis: &Basis) -> Vec<usize> {
        if basis.len() != self.rows.len() {
            return Vec::new();
        }
        let pairs = |(row, position): (&Row, &Position)| match (*row, *position) {
            (Row::Above { pair } | Row::Below { pair } | Row::Between { pair, .. }, Position::Basic) => vec![pair],
            (Row::Between { pair, cap }, Position::Upper) => vec![pair, cap],
            _ => vec![],
        };
        self.rows.iter().zip(basis.positions()).flat_map(pairs).collect()
    }

    /// The dictionary in which free rows and the pairs `active` have their z basic, as far as that can be.
    pub(super) fn start(&self, active: &[usize]) -> Start {
        let free: Vec<usize> =
            self.rows.iter().filter_map(|r| if let Row::Free { pair } = r { Some(*pair) } else { None }).collect();
        let mut dictionary = self.dictionary.clone();
        let mut splits = Vec::new();
        if !make_basic(&mut dictionary, &[&free, active].concat()).is_empty() {
            dictionary = self.dictionary.clone();
            for pair in make_basic(&mut dictionary, &free) {
                splits.push((pair, split(&mut dictionary, pair)));
            }
            make_basic(&mut dictionary, active);
        }
        let mut signed = vec![true; dictionary.labels()];
        for &pair in free.iter().filter(|p| splits.iter().all(|(s, _)| s != *p)) {
            signed[z_label(pair)] = false;
        }
        let out = |label: usize| label % 2 == 1 && !signed[complement(label)];
        dictionary.drop_columns(out);
        Start { dictionary, signed, splits }
    }

    /// The basis of the problem that a complementary dictionary stands for.
    pub(super) fn basis(&self, dictionary: &Dictionary) -> Basis {
        let basic = |pair: usize| matches!(dictionary.place(z_label(pair)), Place::Row(_));
        let position = |row: &Row| match *row {
            Row::Free { .. } => Position::Basic,
            Row::Between { pair, cap } if basic(pair) && basic(cap) => Position::Upper,
            Row::Above { pair } | Row::Below { pair } | Row::Between { pair, .. } if basic(pair) => Position::Basic,
            Row::Below { .. } => Position::Upper,
            Row::Fixed | Row::Above { .. } | Row::Between { .. } => Position::Lower,
        };
        Basis::new(self.rows.iter().map(position).collect())
    }

    /// z′ of the problem where the nonbasic variables are zero, over the dictionary's denominator.
    pub(super) fn point(&self, start: &Start) -> Vec<BigInt> {
        let d = start.dictionary.denominator();
        let offset = origin(self.problem, &self.rows);
        self.vector(start, |label| start.dictionary.value(label))
            .into_iter()
            .zip(offset)
            .map(|(y, o)| y + o * d)
            .collect()
    }

    /// How fast z′ moves with the variable of `column`, over the dictionary's denominator.
    pub(super) fn direction(&self, start: &Start, column: usize) -> Vec<BigInt> {
        self.vector(start, |label| start.dictionary.rate(label, column))
    }

    fn vector(&self, start: &Start, y: impl Fn(usize) -> BigInt) -> Vec<BigInt> {
        let entry = |row: &Row| match *row {
            Row::Fixed => BigInt::zero(),
            Row::Below { pair } => -y(z_label(pair)),
            Row::Above { pair } | Row::Between { pair, .. } => y(z_label(pair)),
            Row::Free { pair } => match start.splits.iter().find(|(p, _)| *p == pair) {
                Some((_, minus)) => y(z_label(pair)) - y(z_label(*minus)),
                None => y(z_label(pair)),
            },
        };
        self.rows.iter().map(entry).collect()
    }
}

/// Where z′ stands when all y are zero.
fn origin(problem: &IntegerProblem, rows: &[Row]) -> Vec<BigInt> {
    let bound = |x: &Option<BigInt>| x.clone().unwrap_or_default();
    let place = |(i, row): (usize, &Row)| match row {
        Row::Fixed | Row::Above { .. } | Row::Between { .. } => bound(&problem.lo[i]),
        Row::Below { .. } => bound(&problem.hi[i]),
        Row::Free { .. } => BigInt::zero(),
    };
    rows.iter().enumerate().map(place).collect()
}

fn first_dictionary(problem: &IntegerProblem, rows: &[Row], pairs: usize) -> Dictionary {
    let origin = origin(problem, rows);
    let shift = problem.times(&origin);
    let kept: Vec<(usize, usize, bool)> = rows
        .iter()
        .enumerate()
        .filter_map(|(i, row)| match *row {
            Row::Fixed => None,
            Row::Below { pair } => Some((i, pair, true)),
            Row::Above { pair } | Row::Between { pair, .. } | Row::Free { pair } => Some((i, pair, false)),
        })
        .collect();
    let turn = |x: BigInt, turned: bool| if turned { -x } else { x };
    let mut entries = vec![vec![BigInt::zero(); pairs + 1]; pairs];
    for &(i, p, turned) in &kept {
        for &(j, other, also_turned) in &kept {
            entries[p][other] = turn(problem.entry(i, j), turned != also_turned);
        }
        entries[p][pairs] = turn(&problem.q[i] + &shift[i], turned);
        if let (Row::Between { cap, .. }, Some(hi)) = (rows[i], &problem.hi[i]) {
            entries[p][cap] = BigInt::one();
            entries[cap][p] = -BigInt::one();
            entries[cap][pairs] = hi - &origin[i];
        }
    }
    let labels = |odd: usize| (0..pairs).map(|p| z_label(p) + odd).collect();
    Dictionary::new(entries, labels(1), labels(0))
}

/// Makes the z of these pairs basic in place of their w. Gives back the pairs for which that could not be done.
fn make_basic(dictionary: &mut Dictionary, pairs: &[usize]) -> Vec<usize> {
    let left = principal_pivots(dictionary, pairs.to_vec());
    if left.is_empty() {
        return left;
    }
    // Where no 1 × 1 or 2 × 2 block is left, the rest may still be non-singular as a whole.
    let mut trial = dictionary.clone();
    if block_pivot(&mut trial, &left) {
        *dictionary = trial;
        return Vec::new();
    }
    left
}

/// Entry (wₐ, z_b) of a dictionary, with its place, if it is not zero.
fn pivot_place(dictionary: &Dictionary, a: usize, b: usize) -> Option<(usize, usize)> {
    match (dictionary.place(complement(z_label(a))), dictionary.place(z_label(b))) {
        (Place::Row(row), Place::Column(column)) if !dictionary.entry(row, column).is_zero() => Some((row, column)),
        _ => None,
    }
}

/// Principal pivots on 1 × 1 blocks, and on 2 × 2 blocks where the diagonal is zero; the basis is complementary after each.
fn principal_pivots(dictionary: &mut Dictionary, mut left: Vec<usize>) -> Vec<usize> {
    loop {
        crate::interrupt::check();
        if let Some(at) = left.iter().position(|&p| pivot_place(dictionary, p, p).is_some()) {
            let p = left.remove(at);
            pivot_on(dictionary, p, p);
            continue;
        }
        let twos = left.iter().flat_map(|&a| left.iter().map(move |&b| (a, b))).find(|&(a, b)| {
            a < b && pivot_place(dictionary, a, b).is_some() && pivot_place(dictionary, b, a).is_some()
        });
        let Some((a, b)) = twos else { return left };
        pivot_on(dictionary, a, b);
        pivot_on(dictionary, b, a);
        left.retain(|&p| p != a && p != b);
    }
}

/// Pivots on the whole block of these pairs; true if it is not singular.
fn block_pivot(dictionary: &mut Dictionary, pairs: &[usize]) -> bool {
    let (mut rows, mut columns) = (pairs.to_vec(), pairs.to_vec());
    while let Some(a) = rows.pop() {
        let Some(at) = columns.iter().position(|&b| pivot_place(dictionary, a, b).is_some()) else { return false };
        pivot_on(dictionary, a, columns.swap_remove(at));
    }
    true
}

fn pivot_on(dictionary: &mut Dictionary, a: usize, b: usize) {
    if let Some((row, column)) = pivot_place(dictionary, a, b) {
        dictionary.pivot(row, column);
    }
}

/// Splits the free z of a pair into z⁺ − z⁻ and its `w = 0` into `w ≥ 0` and `−w ≥ 0`. Gives the pair of z⁻.
fn split(dictionary: &mut Dictionary, pair: usize) -> usize {
    let (Place::Column(column), Place::Row(row)) =
        (dictionary.place(z_label(pair)), dictionary.place(complement(z_label(pair))))
    else {
        return pair;
    };
    let minus = (0..dictionary.rows()).map(|r| -dictionary.entry(r, column)).collect();
    let label = dictionary.add_column(minus);
    let minus = dictionary.row(row).iter().map(|x| -x).collect();
    dictionary.add_row(minus);
    label / 2
}
