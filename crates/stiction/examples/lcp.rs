//! An LCP in five lines: two contacts that share a body, so M is singular, as redundant contacts make it. `examples/python/lcp.py` is its twin.
#![allow(clippy::print_stdout)]

use stiction::lcp::exact::{ExactCheck, verify_exact};
use stiction::prelude::*;

fn main() -> Result<(), InputError> {
    let problem = Lcp::new(Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]])?, vec![-1.0, -1.0])?;
    match Auto::new(Options::default()).solve(&problem)? {
        Outcome::Solved(solved) => {
            let sum: f64 = solved.z.iter().sum();
            let certified = if solved.certificate.holds(1e-10) { "True" } else { "False" };
            let exactly = match verify_exact((&problem).into(), &solved.basis) {
                ExactCheck::Proven => "proven",
                ExactCheck::Violated { .. } => "violated",
                ExactCheck::Singular => "singular",
            };
            println!("z1 + z2 = {sum:.6}, certified: {certified}, exactly: {exactly}");
        }
        other => println!("not solved: {}", other.name()),
    }
    Ok(())
}
