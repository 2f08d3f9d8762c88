//! The simplex method in integers, lexicographic and so finite: for the small linear programs of proofs.

use num_bigint::{BigInt, Sign};
use num_traits::{One, Zero};

use super::dictionary::{Dictionary, Place};

/// How the simplex method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// No variable can grow to the objective's good.
    Optimal,
    /// The variable of this column can grow without bound, and the objective with it.
    Unbounded(usize),
    /// The limit on work.
    Limit,
}

/// Maximizes the variable `objective` (basic, without a sign) over non-negative values of all others.
///
/// No constant may be negative but the objective's. `order` holds the labels that are basic at the start. The dictionary's work
/// ends at `max_work` products of machine words.
pub(crate) fn maximize(dictionary: &mut Dictionary, objective: usize, order: &[usize], max_work: u64) -> End {
    while dictionary.work() <= max_work {
        let Some(column) = entering(dictionary, objective) else { return End::Optimal };
        match dictionary.ratio_test(column, order, |label| label != objective) {
            None => return End::Unbounded(column),
            Some(row) => dictionary.pivot(row, column),
        }
    }
    End::Limit
}

/// The column that raises the objective fastest.
fn entering(dictionary: &Dictionary, objective: usize) -> Option<usize> {
    let Place::Row(row) = dictionary.place(objective) else { return None };
    let rising = (0..dictionary.columns()).filter(|&c| dictionary.entry(row, c).sign() == Sign::Plus);
    rising.reduce(|best, c| if dictionary.entry(row, c) > dictionary.entry(row, best) { c } else { best })
}

/// A point `y ≥ 0` with `A y + b ≥ 0`, given the rows `[A b]` of `m + 1` integers each, as numerators and a common
/// denominator; `None` if there is none.
pub(crate) fn non_negative_point(rows: Vec<Vec<BigInt>>, m: usize) -> Option<(Vec<BigInt>, BigInt)> {
    let count = rows.len();
    let order: Vec<usize> = (m..m + count).collect();
    let mut dictionary = Dictionary::new(rows, order.clone(), (0..m).collect());
    if let Some(row) = dictionary.most_negative_row(&order, |_| true) {
        // Phase 1: raise all rows by an artificial variable and bring that to zero.
        dictionary.add_column(vec![BigInt::one(); count]);
        let mut objective = vec![BigInt::zero(); m + 2];
        objective[m] = -BigInt::one();
        let objective = dictionary.add_row(objective);
        dictionary.pivot(row, m);
        maximize(&mut dictionary, objective, &order, u64::MAX);
        if !dictionary.value(objective).is_zero() {
            return None;
        }
    }
    let point = (0..m).map(|label| dictionary.value(label)).collect();
    Some((point, dictionary.denominator().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Rng;

    fn rows(rows: &[&[i64]]) -> Vec<Vec<BigInt>> {
        rows.iter().map(|r| r.iter().map(|&x| BigInt::from(x)).collect()).collect()
    }

    #[test]
    fn finds_a_point_or_none() {
        // y₀ + y₁ ≥ 3, y₀ ≤ 1, y₁ ≤ 2: the one point (1, 2).
        let one = non_negative_point(rows(&[&[1, 1, -3], &[-1, 0, 1], &[0, -1, 2]]), 2).unwrap();
        assert_eq!(one, (vec![1.into(), 2.into()], 1.into()));
        assert!(non_negative_point(rows(&[&[1, 1, -3], &[-1, 0, 1], &[0, -2, 3]]), 2).is_none());
        assert!(non_negative_point(rows(&[&[-1]]), 0).is_none());
        assert!(non_negative_point(rows(&[&[0]]), 0).is_some());
    }

    #[test]
    fn feasible_systems_are_found_feasible() {
        let mut rng = Rng::new(6);
        for trial in 0..300 {
            let (m, count) = (1 + rng.below(4), 1 + rng.below(7));
            let y: Vec<i64> = (0..m).map(|_| rng.below(4) as i64).collect();
            let planted: Vec<Vec<BigInt>> = (0..count)
                .map(|_| {
                    let a: Vec<i64> = (0..m).map(|_| rng.below(7) as i64 - 3).collect();
                    let value: i64 = a.iter().zip(&y).map(|(a, y)| a * y).sum();
                    let slack = rng.below(2) as i64;
                    a.iter().copied().chain([slack - value]).map(BigInt::from).collect()
                })
                .collect();
            let (point, denominator) =
                non_negative_point(planted.clone(), m).unwrap_or_else(|| panic!("trial {trial}"));
            assert!(point.iter().all(|x| x.sign() != Sign::Minus));
            for row in planted {
                let value: BigInt = row.iter().zip(&point).map(|(a, y)| a * y).sum::<BigInt>() + &row[m] * &denominator;
                assert!(value.sign() != Sign::Minus);
            }
        }
    }
}
