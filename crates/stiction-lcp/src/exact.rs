//! To come.
use crate::problem::Lcp;
/// To come.
pub fn check_farkas(_lcp: &Lcp, _y: &[f64]) -> bool {
    false
}
