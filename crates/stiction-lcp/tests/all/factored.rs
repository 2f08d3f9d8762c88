//! The factored methods on random problems of every kind: each answer must be certified.
//!
//! `STICTION_FACTORED_CASES=20000 cargo test --release -p stiction-lcp --test all factored::` runs more of them.

use stiction_lcp::generate::{Class, Rng, random};
use stiction_lcp::nnls::Nnls;
use stiction_lcp::principal_pivot::ModifiedPpm;
use stiction_lcp::{FactoredLcp, InputError, Matrix, Options, Outcome, Solver};

fn cases() -> u64 {
    std::env::var("STICTION_FACTORED_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(2000)
}

/// G of any shape and rank: small integers or normal numbers, zero, duplicate, opposite and nearly equal columns, scales over 1e±8.
fn random_factor(rng: &mut Rng) -> Matrix {
    let (m, n) = match rng.below(4) {
        0 => (rng.below(7), rng.below(40)),
        1 => (rng.below(30), rng.below(12)),
        2 => {
            let n = 1 + rng.below(20);
            (n, n)
        }
        _ => (6, 1 + rng.below(60)),
    };
    let integers = rng.chance(0.5);
    let entry = |rng: &mut Rng| if integers { rng.below(7) as f64 - 3.0 } else { rng.normal() };
    let mut g = Matrix::from_fn(m, n, |_, _| entry(rng));
    if m > 1 && rng.chance(0.4) {
        // Rank at most r: every column a combination of r others.
        let r = 1 + rng.below(m);
        let base = Matrix::from_fn(m, r, |_, _| entry(rng));
        for j in 0..n {
            let weights: Vec<f64> = (0..r).map(|_| entry(rng)).collect();
            base.mul_into(&weights, g.col_mut(j));
        }
    }
    for j in 0..n {
        if rng.chance(0.05) {
            g.col_mut(j).fill(0.0);
        } else if j > 0 && rng.chance(0.1) {
            let factor = [1.0, -1.0, 3.0, -0.7][rng.below(4)];
            let twin: Vec<f64> = g.col(rng.below(j)).iter().map(|x| factor * x).collect();
            g.col_mut(j).copy_from_slice(&twin);
        }
    }
    if rng.chance(0.4) {
        for j in 0..n {
            let d = rng.scale(8.0);
            g.col_mut(j).iter_mut().for_each(|x| *x *= d);
        }
    }
    g
}

/// u: zero, random, or such that a planted degenerate z is a solution.
fn random_u(rng: &mut Rng, g: &Matrix) -> Vec<f64> {
    let m = g.rows();
    match rng.below(4) {
        0 => (0..m).map(|_| rng.below(5) as f64 - 2.0).collect(),
        1 => (0..m).map(|_| rng.normal()).collect(),
        2 if rng.chance(0.2) => vec![0.0; m],
        _ => {
            // Some columns carry the load exactly; all others are at rest with w = 0.
            let mut u = vec![0.0; m];
            for j in 0..g.cols() {
                if rng.chance(0.3) {
                    let size = g.col(j).iter().fold(0.0, |s: f64, x| s.max(x.abs()));
                    let z = if size > 0.0 { (1 + rng.below(4)) as f64 / size } else { 1.0 };
                    u.iter_mut().zip(g.col(j)).for_each(|(u, g)| *u -= z * g);
                }
            }
            u
        }
    }
}

fn random_bounds(rng: &mut Rng, g: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let n = g.cols();
    let (mut lo, mut hi) = (vec![0.0; n], vec![f64::INFINITY; n]);
    let kind = rng.below(3);
    for j in 0..n {
        let size = g.col(j).iter().fold(0.0, |s: f64, x| s.max(x.abs()));
        let unit = if size > 0.0 { 1.0 / size } else { 1.0 };
        (lo[j], hi[j]) = match if kind == 0 { 1 } else { rng.below(7) } {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            1 => (-unit, unit),
            2 => (0.0, f64::INFINITY),
            3 => (f64::NEG_INFINITY, rng.normal() * unit),
            4 => (rng.normal() * unit, f64::INFINITY),
            5 => (0.5 * unit, 0.5 * unit),
            _ => (0.0, rng.uniform() * unit),
        };
    }
    (lo, hi)
}

fn random_problem(seed: u64) -> FactoredLcp {
    let mut rng = Rng::new(seed);
    let g = random_factor(&mut rng);
    let u = random_u(&mut rng, &g);
    let bounds = rng.chance(0.4).then(|| random_bounds(&mut rng, &g));
    // The same problem with and without its u.
    let problem = FactoredLcp::least_squares(g, u).unwrap();
    let problem =
        if rng.chance(0.2) { FactoredLcp::new(problem.g().clone(), problem.e().to_vec()).unwrap() } else { problem };
    match bounds {
        Some((lo, hi)) => problem.with_bounds(lo, hi).unwrap(),
        None => problem,
    }
}

/// True if e = Gᵀ u is nothing but the rounding of its sums: then the numbers of e pose a problem of their own, which
/// may have no solution.
fn is_noise(p: &FactoredLcp, seed: u64) -> bool {
    let mut rng = Rng::new(seed);
    let g = random_factor(&mut rng);
    let u = random_u(&mut rng, &g);
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let tiny = |j: usize| p.e()[j].abs() <= 1e-13 * length(g.col(j)) * length(&u);
    p.e().iter().any(|e| *e != 0.0) && (0..p.n()).all(tiny)
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Stopped(s) => format!("stopped: {}, {}, {} pivots", s.why, s.certificate, s.stats.pivots),
        Outcome::Ray(r) => format!("ray: {}", r.claim),
        other => other.name().to_string(),
    }
}

fn all_certified(mut solve: impl FnMut(&FactoredLcp) -> Outcome, mut problem: impl FnMut(u64) -> FactoredLcp) {
    let (mut failures, mut noise) = (Vec::new(), 0);
    for seed in 0..cases() {
        let p = problem(seed);
        if is_noise(&p, seed) {
            noise += 1;
            continue;
        }
        let outcome = solve(&p);
        if outcome.solved().is_none_or(|s| !s.certificate.holds(1e-10)) {
            failures.push(format!("seed {seed} ({} × {}): {}", p.g().rows(), p.n(), describe(&outcome)));
        }
    }
    assert!(noise * 100 < cases(), "the filter throws too much away");
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases(), failures.join("\n"));
}

#[test]
fn nnls_certifies_every_least_squares_problem() {
    let mut nnls = Nnls::new(Options::default());
    all_certified(|p| nnls.solve(p).unwrap(), random_problem);
}

#[test]
fn nnls_takes_no_pivot_from_its_own_basis() {
    let mut nnls = Nnls::new(Options::default());
    for seed in 0..cases() {
        let p = random_problem(seed);
        let outcome = nnls.solve(&p).unwrap();
        let Some(first) = outcome.solved() else { continue };
        let again = nnls.solve_from((&p).into(), Some(&first.basis)).unwrap();
        let again = again.solved().unwrap_or_else(|| panic!("seed {seed}: {}", describe(&again)));
        assert_eq!((again.stats.pivots, &again.basis, &again.z), (0, &first.basis, &first.z), "seed {seed}");
    }
}

#[test]
fn modified_ppm_certifies_every_problem_without_bounds() {
    let mut ppm = ModifiedPpm::new(Options::default());
    let mut fallbacks = 0;
    let solve = |p: &FactoredLcp| {
        let outcome = ppm.solve(p).unwrap();
        fallbacks += u64::from(!outcome.stats().attempts.is_empty());
        outcome
    };
    all_certified(solve, |seed| {
        let p = random_problem(seed);
        let n = p.n();
        if p.bounds().is_some() { p.with_bounds(vec![0.0; n], vec![f64::INFINITY; n]).unwrap() } else { p }
    });
    assert!(fallbacks * 20 < cases(), "Algorithm 1 should nearly always do alone: {fallbacks} of {}", cases());
}

/// Symmetric positive semidefinite LCPs are factored first; all others are refused with a reason.
#[test]
fn dense_problems_are_factored_or_refused() {
    let mut nnls = Nnls::new(Options::default());
    let (mut solved, mut failures) = (0, Vec::new());
    for seed in 0..cases() {
        let n = Rng::new(seed).below(31);
        let p = random(Class::Psd, n, seed).unwrap();
        match nnls.solve(&p) {
            Ok(outcome) => {
                assert!(n < 2 || p.m().is_symmetric());
                solved += 1;
                if outcome.solved().is_none() {
                    failures.push(format!("seed {seed}, order {n}: {}", describe(&outcome)));
                }
            }
            Err(InputError::Unsupported { solver: "nnls", reason }) => {
                assert!(reason.contains("symmetric"), "{reason}")
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(solved * 3 > cases());
    assert!(failures.is_empty(), "{} of {solved}:\n{}", failures.len(), failures.join("\n"));
}

/// Towers of blocks at rest, four contacts per face, all blocks equal: six rows per block, every basis degenerate, most contacts redundant.
fn tower(blocks: usize, rng: &mut Rng) -> FactoredLcp {
    let mut g = Matrix::zeros(6 * blocks, 4 * blocks);
    let mass = if rng.chance(0.5) { 1.0 } else { rng.scale(3.0) };
    let (half, height) = (0.5, 0.3);
    for level in 0..blocks {
        for corner in 0..4 {
            let x = if corner % 2 == 0 { half } else { -half };
            let y = if corner < 2 { half } else { -half };
            let root = mass.sqrt();
            let turn = 1.0 / (mass * (1.0f64 + height * height) / 12.0).sqrt();
            let column = g.col_mut(4 * level + corner);
            let wrench = [0.0, 0.0, 1.0 / root, y * turn, -x * turn, 0.0];
            column[6 * level..6 * level + 6].copy_from_slice(&wrench);
            if level > 0 {
                for i in 0..6 {
                    column[6 * (level - 1) + i] = -wrench[i];
                }
            }
        }
    }
    let slide = if rng.chance(0.5) { 0.0 } else { rng.normal() };
    let u = (0..6 * blocks).map(|i| {
        mass.sqrt()
            * if i % 6 == 2 {
                -0.00981
            } else if i % 6 == 0 {
                slide
            } else {
                0.0
            }
    });
    FactoredLcp::least_squares(g, u.collect()).unwrap()
}

#[test]
fn towers_at_rest_are_certified_in_few_pivots() {
    let mut rng = Rng::new(2);
    let mut nnls = Nnls::new(Options::default());
    let mut ppm = ModifiedPpm::new(Options::default());
    for blocks in [1, 2, 3, 5, 8, 10, 15, 20] {
        for _ in 0..4 {
            let p = tower(blocks, &mut rng);
            for outcome in [nnls.solve(&p).unwrap(), ppm.solve(&p).unwrap()] {
                let solved = outcome.solved().unwrap_or_else(|| panic!("{blocks} blocks: {}", describe(&outcome)));
                assert!(solved.stats.pivots <= 20 * blocks, "{blocks} blocks: {} pivots", solved.stats.pivots);
                // The lowest four contacts carry all blocks.
                let carried: f64 = solved.z[..4].iter().sum();
                let weight = blocks as f64 * 0.00981 / p.g()[(2, 0)].powi(2);
                assert!((carried - weight).abs() < 1e-10 * weight, "{carried} {weight}");
            }
        }
    }
}
