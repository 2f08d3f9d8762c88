//! The linear system of an island: order, pattern, assembly, factor and solve over graphs of
//! bodies.
//!
//! `cargo run --release --bin island_factor` in `benchmarks/` prints, for heaps of boxes (a
//! jittered grid in which three of four neighbours touch), a tower and small islands, median times
//! in microseconds: of the first `shape` of a graph (order and symbolic factor), of one that was
//! met before, of assembly, factor and solve, and the rate of the factor in 10⁹ operations per
//! second. Files given as arguments are graphs of free bodies: a pair of numbers per line.
//! `order_vs_metis.py` counts the same graphs' operations in METIS's order.
//!
//! Before this factor an envelope in reverse Cuthill–McKee order was used. Its times of factor and
//! solve in µs (symmetric; unsymmetric) and those of this one, both the least of several runs side by
//! side on one core of a shared Xeon of 2024, on heaps of the same kind:
//!
//! | island | envelope | this one | ratio of factors |
//! |---|---|---|---|
//! | tower of 50 | 15.1, 3.0; 15.3, 2.9 | 7.5, 4.0; 12.5, 4.0 | 2.0; 1.2 |
//! | heap of 27 | 34, 2.3; 57, 2.4 | 10.6, 2.4; 18.6, 2.6 | 3.2; 3.1 |
//! | heap of 125 | 889, 26; 1730, 26 | 111, 15; 221, 15 | 8.0; 7.8 |
//! | heap of 343 | 7790, 152; 15100, 208 | 624, 51; 1330, 77 | 12; 11 |
//! | heap of 1000 | 90800, 2010; 237000, 1520 | 8360, 410; 16900, 586 | 11; 14 |

use std::hint::black_box;

use stiction_benchmarks::median_us;
use stiction_lcp::generate::Rng;

// The factor is no part of the library's interface.
#[allow(dead_code, unused_imports)]
#[path = "../../../crates/stiction-contact/src/models/coulomb_cone/velocity_space/lanes.rs"]
mod lanes;
#[allow(dead_code)]
#[path = "../../../crates/stiction-contact/src/models/coulomb_cone/velocity_space/sparse/mod.rs"]
mod sparse;

use sparse::BlockMatrix;

/// Share of the neighbours in a heap's grid that touch.
const DENSITY: f64 = 0.75;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    println!("island          n  symmetric   shape   again  assemble    factor    solve Mflop  GFlop/s");
    for file in &files {
        let pairs = read(file);
        let bodies = pairs.iter().flatten().max().map_or(0, |last| last + 1);
        measure(file, &vec![6; bodies], &pairs);
    }
    if !files.is_empty() {
        return;
    }
    measure("one body", &[6], &[]);
    measure("robot and box", &[29, 6], &[[0, 1]]);
    measure("tower of 50", &[6; 50], &(1..50).map(|i| [i - 1, i]).collect::<Vec<_>>());
    for k in [2, 3, 5, 7, 10] {
        measure(&format!("heap of {}", k * k * k), &vec![6; k * k * k], &heap(k));
    }
}

/// The pairs of a file.
fn read(file: &str) -> Vec<[usize; 2]> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let number =
        |x: Option<&str>, line: &str| x.and_then(|x| x.parse().ok()).unwrap_or_else(|| panic!("{file}: {line}"));
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace();
        [number(numbers.next(), line), number(numbers.next(), line)]
    };
    text.lines().map(pair).collect()
}

/// Pairs of bodies that touch in a heap of k³.
fn heap(k: usize) -> Vec<[usize; 2]> {
    let rng = &mut Rng::new(1);
    let place = |a: usize, b: usize, c: usize| (a * k + b) * k + c;
    let mut pairs = Vec::new();
    for (a, b, c) in (0..k * k * k).map(|i| (i / (k * k), i / k % k, i % k)) {
        for (d, e, f) in [(a + 1, b, c), (a, b + 1, c), (a, b, c + 1)] {
            if d.max(e).max(f) < k && rng.chance(DENSITY) {
                pairs.push([place(a, b, c), place(d, e, f)]);
            }
        }
    }
    pairs
}

fn measure(name: &str, sizes: &[usize], pairs: &[[usize; 2]]) {
    let shape = |matrix: &mut BlockMatrix| matrix.shape(sizes.iter().copied(), pairs.iter().map(|p| &p[..]));
    let first = median_us(|| shape(black_box(&mut BlockMatrix::default())));
    let mut matrix = BlockMatrix::default();
    shape(&mut matrix);
    let again = median_us(|| shape(black_box(&mut matrix)));
    let mut places = vec![0; sizes.len()];
    let mut n = 0;
    for &b in matrix.order() {
        places[b] = n;
        n += sizes[b];
    }
    let rng = &mut Rng::new(2);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut diagonal: Vec<f64> = (0..largest * largest).map(|_| rng.normal()).collect();
    (0..largest).for_each(|i| diagonal[i * (largest + 1)] += 100.0);
    let tie: Vec<f64> = (0..largest * largest).map(|_| rng.normal()).collect();
    for symmetric in [true, false] {
        let assemble = |matrix: &mut BlockMatrix| {
            matrix.clear(symmetric);
            for (&at, &size) in places.iter().zip(sizes) {
                matrix.add(at, at, size, size, &diagonal, largest);
            }
            for &[a, b] in pairs {
                matrix.add(places[a], places[b], sizes[a], sizes[b], &tie, largest);
                matrix.add(places[b], places[a], sizes[b], sizes[a], &tie, largest);
            }
        };
        let assembly = median_us(|| assemble(black_box(&mut matrix)));
        let both = median_us(|| {
            assemble(black_box(&mut matrix));
            assert!(matrix.factor(), "a diagonal that dominates");
        });
        let mut x = vec![0.0; n];
        let solve = median_us(|| {
            x.fill(1.0);
            matrix.solve(black_box(&mut x));
        });
        let (factor, flops) = (both - assembly, matrix.flops(symmetric));
        println!(
            "{name:13} {n:>4}  {symmetric:9} {first:7.1} {again:7.2} {assembly:9.2} {factor:9.2} {solve:8.2} {:6.2} {:8.1}",
            flops / 1e6,
            1e-3 * flops / factor
        );
    }
}
