//! Principal pivoting methods: both exchange zᵢ and wᵢ of the same row, and nothing else.
//!
//! * [`ModifiedPpm`]: Drumwright's Algorithm 1 on the factored form, with at most rank(G) basic z.
//! * [`PrincipalPivot`]: PPM I with the least-index rule on a dense matrix.

mod least_index;
mod modified;
mod transform;

pub use least_index::PrincipalPivot;
pub use modified::ModifiedPpm;
