//! Principal pivoting methods: both exchange zᵢ and wᵢ of the same row, and nothing else.
//!
//! * [`ModifiedPpm`]: Drumwright's Algorithm 1 on the factored form, with at most rank(G) basic z.
//! * [`PrincipalPivot`]: PPM I with the least-index rule on a dense matrix.

mod least_index;
mod modified;
mod transform;

use crate::tolerances;
pub use least_index::PrincipalPivot;
pub use modified::ModifiedPpm;

tolerances! {
    /// Tolerances of the principal pivoting methods, for data scaled to 1.
    Tolerances {
        /// A basic variable is negative below −this, relative to what it is summed from (z of Algorithm 1: to the largest, in units of the
        /// columns' lengths): some thousand roundings. Less pivots on rounding, more ends too early, and the certificate asks for more pivots.
        negative = 1e-12,
        /// An entry of the transform at most this, relative to what it is summed from, is zero. More takes pairs where one row would do, or
        /// a ray where there is a pivot; less pivots on rounding.
        zero_entry = 1e-10,
        /// The transform is computed afresh when the relative residual of its rows is above this. Less computes it more often.
        drift = 1e-11,
        /// A pivot of a refactorization at most this, relative to the largest entry of its row, is not used.
        tiny_pivot = 1e-12,
        /// No entry of the transform is known better than this, relative to the largest in its row, in units of `negative`.
        known_entry = 1e-2,
    }
}
