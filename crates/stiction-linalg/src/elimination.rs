//! One step of Gauss–Jordan elimination, for tableaus whose pivots the caller chooses.

use crate::matrix::{Matrix, axpy};

/// Eliminates with row `r` in the columns that `takes_part` names: `a_rj ← a_rj / pivot`, then
/// `aᵢⱼ ← aᵢⱼ − multipliersᵢ a_rj`. The multipliers are the pivot's column in the rows to eliminate in, and
/// zero in all others, row r among them.
pub fn eliminate(a: &mut Matrix, r: usize, pivot: f64, multipliers: &[f64], takes_part: impl Fn(usize) -> bool) {
    for j in (0..a.cols()).filter(|&j| takes_part(j)) {
        let target = a.col_mut(j);
        target[r] /= pivot;
        let head = target[r];
        if head != 0.0 {
            axpy(-head, multipliers, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_becomes_a_unit_vector() {
        let mut a = Matrix::from_rows(&[[2.0, 4.0, 1.0], [3.0, 7.0, 0.0], [1.0, 1.0, 5.0]]).unwrap();
        // Row 2 stays as it is.
        eliminate(&mut a, 0, 2.0, &[0.0, 3.0, 0.0], |j| j != 1);
        assert_eq!(a, Matrix::from_rows(&[[1.0, 4.0, 0.5], [0.0, 7.0, -1.5], [1.0, 1.0, 5.0]]).unwrap());
    }
}
