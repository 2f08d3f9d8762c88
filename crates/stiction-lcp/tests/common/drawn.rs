//! Generated problems of every kind and class, the same on every machine.

use stiction_lcp::generate::{Class, Rng, random};
use stiction_lcp::{BoxLcp, FactoredLcp, Mlcp, Problem};
use stiction_lcp::{Lcp, Matrix};

/// The kinds and classes drawn from, by name.
pub const CLASSES: [&str; 8] = ["psd", "psd-skew", "p", "copositive-plus", "contact", "mlcp", "box", "factored"];

/// A problem of the class of this name, of order about `n`, that has a solution.
pub fn draw(class: &str, n: usize, seed: u64) -> Problem {
    let mut rng = Rng::new(seed ^ 0x5eed);
    match class {
        // Any q has a solution where M is positive definite, whatever the rows are.
        "mlcp" => {
            let p = definite(n, seed);
            let free = (0..p.n()).map(|_| rng.chance(0.4)).collect();
            Mlcp::new(p.m().clone(), p.q().to_vec(), free).unwrap().into()
        }
        "box" => {
            let p = definite(n, seed);
            let bounds = |rng: &mut Rng| match rng.below(5) {
                0 => (f64::NEG_INFINITY, f64::INFINITY),
                1 => (f64::NEG_INFINITY, rng.normal()),
                2 => (0.5, 0.5),
                3 => (-1.0, 1.0),
                _ => (0.0, f64::INFINITY),
            };
            let (lo, hi) = (0..p.n()).map(|_| bounds(&mut rng)).unzip();
            BoxLcp::new(p.m().clone(), p.q().to_vec(), lo, hi).unwrap().into()
        }
        "factored" => {
            let integers = rng.chance(0.5);
            let mut entry = || if integers { rng.below(7) as f64 - 3.0 } else { rng.normal() };
            let g = Matrix::from_fn(6, n, |_, _| entry());
            let u = (0..6).map(|_| entry()).collect();
            FactoredLcp::least_squares(g, u).unwrap().into()
        }
        _ => {
            let class = Class::ALL.into_iter().find(|c| c.name() == class).unwrap();
            random(class, n, seed).unwrap().into()
        }
    }
}

/// A symmetric positive definite or, every other time, an unsymmetric one, with any q.
fn definite(n: usize, seed: u64) -> Lcp {
    let mut rng = Rng::new(seed.wrapping_mul(0x1234_5679) ^ n as u64);
    let a = Matrix::from_fn(n, n, |_, _| rng.normal());
    let skew = if seed.is_multiple_of(2) { 0.0 } else { 1.0 };
    let product = |i: usize, j: usize| a.col(i).iter().zip(a.col(j)).map(|(x, y)| x * y).sum::<f64>();
    let m = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Equal => product(i, i) + 0.5,
        std::cmp::Ordering::Less => product(i, j) + skew * a[(i, j)],
        std::cmp::Ordering::Greater => product(j, i) - skew * a[(j, i)],
    });
    let q = (0..n).map(|_| rng.normal()).collect();
    Lcp::new(m, q).unwrap()
}
