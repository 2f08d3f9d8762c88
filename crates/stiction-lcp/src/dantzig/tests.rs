use super::*;
use crate::generate::{self, Class, Rng};
use crate::matrix::{Matrix, dot};
use crate::problem::{BoxLcp, Lcp, Mlcp};

fn solve<'p>(problem: impl Into<ProblemRef<'p>>) -> Outcome {
    Dantzig::new(Options::default()).solve(problem).unwrap()
}

#[test]
fn textbook() {
    let m = Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]).unwrap();
    let lcp = Lcp::new(m, vec![-5.0, -6.0]).unwrap();
    let outcome = solve(&lcp);
    let solved = outcome.solved().unwrap();
    assert!((solved.z[0] - 4.0 / 3.0).abs() < 1e-15 && (solved.z[1] - 7.0 / 3.0).abs() < 1e-15);
    assert_eq!(solved.basis.to_string(), "zz");
}

#[test]
fn psd_sweep() {
    let mut bad = 0;
    let mut count = std::collections::BTreeMap::new();
    for seed in 0..3000 {
        let n = (seed % 61) as usize;
        let lcp = generate::random(Class::Psd, n, seed).unwrap();
        let outcome = solve(&lcp);
        if outcome.solved().is_none() {
            bad += 1;
            let s = match &outcome {
                Outcome::Stopped(s) => format!("{} {} pivots {}", s.why, s.certificate, s.stats.pivots),
                Outcome::Ray(r) => r.claim.clone(),
                _ => String::new(),
            };
            *count.entry((outcome.name(), lcp.m().is_symmetric())).or_insert(0) += 1;
            eprintln!("seed {seed} n {n} sym {}: {} {s}", lcp.m().is_symmetric(), outcome.name());
        }
    }
    assert_eq!(bad, 0, "{count:?}");
}
