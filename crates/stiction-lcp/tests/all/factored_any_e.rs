//! The active-set method where e is outside the range of Gᵀ: it solves, or shows a direction along which nothing can hold.
//!
//! `STICTION_FACTORED_CASES=20000 cargo test --release -p stiction-lcp --test all factored_any_e::` runs more of them.

use stiction_lcp::generate::Rng;
use stiction_lcp::matrix::norm;
use stiction_lcp::nnls::Nnls;
use stiction_lcp::{FactoredLcp, Matrix, Options, Outcome, Proof, Solver};

fn cases() -> u64 {
    std::env::var("STICTION_FACTORED_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(2000)
}

/// More columns than rank, and an e that owes nothing to G: about as many problems have a solution as have none.
fn random_problem(seed: u64, bounded: bool) -> FactoredLcp {
    let mut rng = Rng::new(seed);
    let (m, n) = (rng.below(6), 1 + rng.below(20));
    let integers = rng.chance(0.5);
    let scaled = rng.chance(0.3);
    let up = rng.uniform();
    let mut g = Matrix::zeros(m, n);
    let mut e = vec![0.0; n];
    for j in 0..n {
        let d = if scaled { rng.scale(6.0) } else { 1.0 };
        for i in 0..m {
            g[(i, j)] = d * if integers { rng.below(7) as f64 - 3.0 } else { rng.normal() };
        }
        e[j] = d * if integers { rng.below(5) as f64 - 2.0 } else { rng.normal() };
        if rng.chance(up) {
            e[j] = e[j].abs();
        }
    }
    let unit: Vec<f64> = (0..n).map(|j| 1.0 / norm(g.col(j)).max(1e-300)).collect();
    let problem = FactoredLcp::new(g, e).unwrap();
    if !bounded {
        return problem;
    }
    let (mut lo, mut hi) = (vec![0.0; n], vec![f64::INFINITY; n]);
    for j in 0..n {
        let unit = if unit[j].is_finite() && unit[j] < 1e200 { unit[j] } else { 1.0 };
        (lo[j], hi[j]) = match rng.below(6) {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            1 | 2 => (-unit, rng.uniform() * unit),
            3 => (f64::NEG_INFINITY, rng.normal() * unit),
            4 => (0.5 * unit, 0.5 * unit),
            _ => (0.0, f64::INFINITY),
        };
    }
    problem.with_bounds(lo, hi).unwrap()
}

/// d keeps within the bounds for ever, G d = 0 to rounding, and eᵀ d < 0 by more than that.
fn is_ray(p: &FactoredLcp, d: &[f64]) -> bool {
    let within = (0..p.n()).all(|j| {
        let (lo, hi) = p.bound(j);
        (d[j] >= 0.0 || lo == f64::NEG_INFINITY) && (d[j] <= 0.0 || hi == f64::INFINITY)
    });
    let mut gd = vec![0.0; p.g().rows()];
    p.g().mul_into(d, &mut gd);
    let size: f64 = (0..p.n()).map(|j| d[j].abs() * norm(p.g().col(j))).sum();
    let slope: f64 = p.e().iter().zip(d).map(|(e, d)| e * d).sum();
    let slopes: f64 = p.e().iter().zip(d).map(|(e, d)| (e * d).abs()).sum();
    within && norm(&gd) <= 1e-12 * size && slope < -1e-10 * slopes
}

fn solves_or_shows_a_ray(bounded: bool) {
    let mut nnls = Nnls::new(Options::default());
    let (mut solved, mut none, mut proven, mut failures) = (0, 0, 0, Vec::new());
    for seed in 0..cases() {
        let p = random_problem(seed, bounded);
        match nnls.solve(&p).unwrap() {
            Outcome::Solved(s) => {
                assert!(s.certificate.holds(1e-10));
                solved += 1;
                let again = nnls.solve_from((&p).into(), Some(&s.basis)).unwrap();
                assert_eq!(again.stats().pivots, 0, "seed {seed}");
            }
            Outcome::Ray(r) if is_ray(&p, &r.direction) => none += 1,
            Outcome::Unsolvable(u) => match u.proof {
                Proof::Farkas(y) if is_ray(&p, &y) => {
                    none += 1;
                    proven += 1;
                }
                proof => failures.push(format!("seed {seed}: {proof:?}")),
            },
            Outcome::Stopped(s) => {
                failures.push(format!("seed {seed}: {}, {}, {} pivots", s.why, s.certificate, s.stats.pivots))
            }
            Outcome::Ray(r) => failures.push(format!("seed {seed}: {}", r.claim)),
        }
    }
    assert!(bounded || proven * 4 > none, "{proven} of {none} proven exactly");
    assert!(
        solved * 4 > cases() && none * 10 > cases(),
        "{solved} solved, {none} without a solution: a test of one side only"
    );
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases(), failures.join("\n"));
}

#[test]
fn with_z_non_negative() {
    solves_or_shows_a_ray(false);
}

#[test]
fn with_bounds_of_every_kind() {
    solves_or_shows_a_ray(true);
}
