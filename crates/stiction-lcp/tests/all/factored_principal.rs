//! PPM I with the least-index rule, on the classes for which it is finite.
//!
//! `STICTION_FACTORED_CASES=20000 cargo test --release -p stiction-lcp --test all factored_principal::` runs more of them.

use stiction_lcp::generate::{Class, Rng, random};
use stiction_lcp::principal_pivot::PrincipalPivot;
use stiction_lcp::{Options, Outcome, Solver};

fn cases() -> u64 {
    std::env::var("STICTION_FACTORED_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(1000)
}

fn solves(class: Class, most: usize) {
    let mut solver = PrincipalPivot::new(Options::default());
    let mut failures = Vec::new();
    let mut pivots = 0;
    for seed in 0..cases() {
        let n = Rng::new(seed).below(most + 1);
        let p = random(class, n, seed).unwrap();
        match solver.solve(&p).unwrap() {
            Outcome::Solved(s) => {
                pivots += s.stats.pivots;
                assert!(s.certificate.holds(1e-10));
                let again = solver.solve_from((&p).into(), Some(&s.basis)).unwrap();
                if again.solved().is_none_or(|a| a.stats.pivots > 0) {
                    failures.push(format!("seed {seed}, order {n}: warm start: {again:?}"));
                }
            }
            Outcome::Stopped(s) => failures
                .push(format!("seed {seed}, order {n}: {}, {}, {} pivots", s.why, s.certificate, s.stats.pivots)),
            o => failures.push(format!("seed {seed}, order {n}: {o:?}")),
        }
    }
    assert!(pivots < 200 * cases() as usize, "{pivots} pivots in {} problems", cases());
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases(), failures.join("\n"));
}

#[test]
fn p_matrices() {
    solves(Class::P, 30);
}

#[test]
fn positive_semidefinite_matrices() {
    solves(Class::Psd, 30);
}

#[test]
fn positive_semidefinite_plus_skew() {
    solves(Class::PsdSkew, 30);
}
