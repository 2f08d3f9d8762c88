//! Factors of matrices over graphs of many kinds against their matrices.

use super::*;
use stiction_lcp::generate::Rng;

/// Blocks and the groups they are tied in.
struct Case {
    name: &'static str,
    sizes: Vec<usize>,
    groups: Vec<Vec<usize>>,
}

impl Case {
    fn new(name: &'static str, sizes: Vec<usize>, groups: Vec<Vec<usize>>) -> Self {
        Self { name, sizes, groups }
    }

    fn shape(&self, matrix: &mut BlockMatrix) {
        matrix.shape(self.sizes.iter().copied(), self.groups.iter().map(|g| &g[..]));
    }
}

/// Uniform in [−1, 1).
fn signed(rng: &mut Rng) -> f64 {
    2.0 * rng.uniform() - 1.0
}

/// Pairs of neighbours in a grid of k × l × m blocks.
fn grid(k: usize, l: usize, m: usize) -> Vec<Vec<usize>> {
    let place = |a: usize, b: usize, c: usize| (a * l + b) * m + c;
    let mut groups = Vec::new();
    for (a, b, c) in (0..k * l * m).map(|i| (i / (l * m), i / m % l, i % m)) {
        let next = [(a + 1, b, c), (a, b + 1, c), (a, b, c + 1)];
        let inside = next.into_iter().filter(|n| n.0 < k && n.1 < l && n.2 < m);
        groups.extend(inside.map(|n| vec![place(a, b, c), place(n.0, n.1, n.2)]));
    }
    groups
}

/// Points in a cube, tied if they are closer than `reach`.
fn near_points(count: usize, reach: f64, rng: &mut Rng) -> Vec<Vec<usize>> {
    let points: Vec<[f64; 3]> = (0..count).map(|_| [rng.uniform(), rng.uniform(), rng.uniform()]).collect();
    let near = |p: &[f64; 3], q: &[f64; 3]| (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>() < reach * reach;
    let mut groups = Vec::new();
    for i in 0..count {
        groups.extend((0..i).filter(|&j| near(&points[i], &points[j])).map(|j| vec![i, j]));
    }
    groups
}

fn cases() -> Vec<Case> {
    let rng = &mut Rng::new(7);
    let mixed = |n: usize, rng: &mut Rng| (0..n).map(|_| 1 + rng.below(9)).collect::<Vec<_>>();
    let shuffled = [3, 0, 4, 1, 2, 6, 5, 8, 7];
    let chain = |n: usize| (1..n).map(|i| vec![i - 1, i]).collect::<Vec<_>>();
    vec![
        Case::new("nothing", vec![], vec![]),
        Case::new("one block", vec![6], vec![vec![0]]),
        Case::new("one wide block", vec![131], vec![vec![0], vec![0]]),
        Case::new("chain", vec![6; 60], chain(60)),
        Case::new("shuffled chain", mixed(9, rng), shuffled.windows(2).map(<[usize]>::to_vec).collect()),
        Case::new("ring", mixed(30, rng), (0..30).map(|i| vec![i, (i + 1) % 30]).collect()),
        Case::new("star", mixed(40, rng), (1..40).map(|i| vec![0, i]).collect()),
        Case::new("star of a robot", [vec![40], vec![6; 30]].concat(), (1..31).map(|i| vec![i, 0]).collect()),
        Case::new("clique", mixed(12, rng), vec![(0..12).collect()]),
        Case::new("triples", mixed(30, rng), (0..28).map(|i| vec![i + 2, i, i + 1]).collect()),
        Case::new("components", mixed(50, rng), (0..48).filter(|i| i % 7 != 0).map(|i| vec![i, i + 2]).collect()),
        Case::new("plane", mixed(120, rng), grid(12, 10, 1)),
        Case::new("grid", vec![6; 216], grid(6, 6, 6)),
        Case::new("mixed grid", mixed(150, rng), grid(5, 6, 5)),
        Case::new("near points", mixed(200, rng), near_points(200, 0.22, rng)),
        Case::new("dissected points", vec![1; 900], near_points(900, 0.15, rng)),
    ]
}

/// The blocks of a matrix by pairs of blocks (row, column), of each group one after the other.
fn entries(case: &Case, symmetric: bool, rng: &mut Rng) -> Vec<(usize, usize, Vec<f64>)> {
    let mut list = Vec::new();
    let ties: f64 = case.groups.iter().map(|g| g.len() * g.len()).sum::<usize>() as f64;
    for (a, &size) in case.sizes.iter().enumerate() {
        let mut block: Vec<f64> = (0..size * size).map(|_| signed(rng)).collect();
        for i in 0..size {
            (0..i).filter(|_| symmetric).for_each(|j| block[j * size + i] = block[i * size + j]);
            block[i * size + i] += 60.0 + ties.min(200.0);
        }
        list.push((a, a, block));
    }
    for group in &case.groups {
        for (k, &a) in group.iter().enumerate() {
            for &b in &group[..k] {
                let (rows, cols) = (case.sizes[a], case.sizes[b]);
                let block: Vec<f64> = (0..rows * cols).map(|_| signed(rng)).collect();
                let other = if symmetric {
                    (0..cols * rows).map(|i| block[i % rows * cols + i / rows]).collect()
                } else {
                    (0..cols * rows).map(|_| signed(rng)).collect()
                };
                list.push((a, b, block));
                list.push((b, a, other));
            }
        }
    }
    list
}

/// First velocity of each block.
fn places(case: &Case, matrix: &BlockMatrix) -> Vec<usize> {
    let mut places = vec![usize::MAX; case.sizes.len()];
    let mut at = 0;
    for &b in matrix.order() {
        assert_eq!(places[b], usize::MAX, "{}: block {b} twice", case.name);
        places[b] = at;
        at += case.sizes[b];
    }
    assert_eq!((at, matrix.order().len()), (case.sizes.iter().sum(), case.sizes.len()), "{}", case.name);
    places
}

/// Assembles, factors and solves; the solution and the largest residual.
fn solve(case: &Case, symmetric: bool, matrix: &mut BlockMatrix) -> (Vec<f64>, f64) {
    let rng = &mut Rng::new(11);
    let list = entries(case, symmetric, rng);
    case.shape(matrix);
    let places = places(case, matrix);
    matrix.clear(symmetric);
    for (a, b, block) in &list {
        let (rows, cols) = (case.sizes[*a], case.sizes[*b]);
        matrix.add(places[*a], places[*b], rows, cols, block, cols);
    }
    assert!(matrix.factor(), "{}", case.name);
    let right: Vec<f64> = (0..matrix.n()).map(|_| signed(rng)).collect();
    let mut x = right.clone();
    matrix.solve(&mut x);
    let mut residual = right;
    for (a, b, block) in &list {
        for (i, row) in block.chunks_exact(case.sizes[*b]).enumerate() {
            let sum: f64 = row.iter().zip(&x[places[*b]..]).map(|(g, x)| g * x).sum();
            residual[places[*a] + i] -= sum;
        }
    }
    (x, residual.iter().fold(0.0, |most, r| r.abs().max(most)))
}

#[test]
fn solutions_satisfy_their_systems() {
    let mut matrix = BlockMatrix::default();
    for case in &cases() {
        for symmetric in [true, false] {
            let (_, residual) = solve(case, symmetric, &mut matrix);
            assert!(residual < 1e-13, "{} symmetric {symmetric}: {residual:e}", case.name);
        }
    }
    assert_eq!(matrix.factors(), 2 * cases().len());
}

#[test]
fn bits_do_not_depend_on_what_was_solved_before() {
    let mut used = BlockMatrix::default();
    for round in 0..2 {
        for case in &cases() {
            for symmetric in [false, true] {
                let fresh = solve(case, symmetric, &mut BlockMatrix::default()).0;
                assert_eq!(solve(case, symmetric, &mut used).0, fresh, "{} in round {round}", case.name);
            }
        }
    }
}

#[test]
fn a_graph_met_before_is_not_analysed_again() {
    let cases = cases();
    let mut matrix = BlockMatrix::default();
    cases.iter().for_each(|c| c.shape(&mut matrix));
    assert_eq!(matrix.patterns.len(), cases.len());
    // The same ties in another order, twice and the other way round.
    for case in &cases {
        let groups = case.groups.iter().rev().chain(&case.groups).map(|g| g.iter().rev().copied().collect());
        Case::new(case.name, case.sizes.clone(), groups.collect()).shape(&mut matrix);
        assert_eq!((matrix.patterns.len(), matrix.n()), (cases.len(), case.sizes.iter().sum()), "{}", case.name);
    }
    // Other sizes, or a tie less, are other graphs.
    Case::new("chain", vec![5; 60], cases[3].groups.clone()).shape(&mut matrix);
    Case::new("chain", vec![6; 60], cases[3].groups[1..].to_vec()).shape(&mut matrix);
    assert_eq!(matrix.patterns.len(), cases.len() + 2);
    // Their number is bounded.
    for k in 0..MOST_BLOCKS / 500 + 1 {
        Case::new("blocks", vec![1 + k; 500], vec![]).shape(&mut matrix);
    }
    assert!(matrix.patterns.iter().map(|p| p.graph.blocks()).sum::<usize>() <= MOST_BLOCKS);
}

/// Multiplications and additions of a symmetric factor of blocks of six velocities.
fn flops(blocks: usize, groups: &[Vec<usize>]) -> f64 {
    let mut matrix = BlockMatrix::default();
    matrix.shape(std::iter::repeat_n(6, blocks), groups.iter().map(|g| &g[..]));
    matrix.flops(true)
}

#[test]
fn chains_and_stars_have_no_fill() {
    // Panels of 12 by 6, the last of 6 by 6: sums of the squares of 7..=12 and of 1..=6.
    let expected = |blocks: f64| (blocks - 1.0) * 559.0 + 91.0;
    for blocks in [2, 10, 50, 1500] {
        // Numbered anyhow: 7 has no factor in common with the lengths.
        let chain: Vec<Vec<usize>> = (1..blocks).map(|i| vec![(i - 1) * 7 % blocks, i * 7 % blocks]).collect();
        assert_eq!(flops(blocks, &chain), expected(blocks as f64), "{blocks}");
        let star: Vec<Vec<usize>> = (1..blocks).map(|i| vec![0, i]).collect();
        assert_eq!(flops(blocks, &star), expected(blocks as f64), "{blocks}");
    }
}

#[test]
fn grids_have_about_as_few_operations_as_by_metis() {
    // METIS 5: 3.92e7, 3.63e8 and 1.20e9.
    for (k, most) in [(7, 3.9e7), (10, 3.7e8), (12, 1.25e9)] {
        let found = flops(k * k * k, &grid(k, k, k));
        assert!(found < most, "{k}: {found:e}");
    }
}

#[test]
fn rounding_is_not_a_pivot() {
    let mut matrix = BlockMatrix::default();
    matrix.shape([2].into_iter(), std::iter::empty());
    let mut factor = |symmetric: bool, g: &[f64; 4]| {
        matrix.clear(symmetric);
        matrix.add(0, 0, 2, 2, g, 2);
        matrix.factor()
    };
    // Indefinite: no symmetric factor, but one.
    assert!(!factor(true, &[1.0, 2.0, 2.0, 1.0]));
    assert!(factor(false, &[1.0, 2.0, 2.0, 1.0]));
    assert!(!factor(false, &[1.0, 2.0, 2.0, 4.0]));
    assert!(!factor(false, &[f64::NAN, 2.0, 2.0, 4.0]));
    // A block that an earlier one makes singular.
    let pair = Case::new("pair", vec![1, 1], vec![vec![0, 1]]);
    for symmetric in [true, false] {
        pair.shape(&mut matrix);
        matrix.clear(symmetric);
        matrix.add(0, 0, 1, 1, &[4.0], 1);
        matrix.add(1, 1, 1, 1, &[1.0], 1);
        matrix.add(1, 0, 1, 1, &[2.0], 1);
        matrix.add(0, 1, 1, 1, &[2.0], 1);
        assert!(!matrix.factor());
    }
}
