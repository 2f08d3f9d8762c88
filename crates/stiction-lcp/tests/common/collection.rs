//! Named problems of every kind, small enough to think about, and whether each has a solution.

use stiction_lcp::generate::{Class, random};
use stiction_lcp::{BoxLcp, FactoredLcp, Lcp, Matrix, Mlcp, Problem};

const INF: f64 = f64::INFINITY;

/// What there is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Solution,
    Nothing,
}

/// A problem of the collection.
pub struct Named {
    pub name: String,
    pub problem: Problem,
    pub answer: Answer,
}

/// Builds the collection.
#[derive(Default)]
struct Collection(Vec<Named>);

impl Collection {
    fn add(&mut self, name: &str, solvable: bool, problem: impl Into<Problem>) {
        self.add_with(name, if solvable { Answer::Solution } else { Answer::Nothing }, problem.into());
    }

    fn add_with(&mut self, name: &str, answer: Answer, problem: Problem) {
        assert!(self.0.iter().all(|p| p.name != name), "{name} stands twice");
        self.0.push(Named { name: name.into(), problem, answer });
    }
}

/// Every problem.
pub fn collection() -> Vec<Named> {
    let mut all = Collection::default();
    trivial(&mut all);
    textbook(&mut all);
    classes(&mut all);
    contacts(&mut all);
    mixed(&mut all);
    boxes(&mut all);
    factored(&mut all);
    in_other_units(&mut all);
    all.0
}

pub fn rows<const N: usize>(rows: &[[f64; N]]) -> Matrix {
    Matrix::from_rows(rows).unwrap()
}

fn lcp(m: Matrix, q: &[f64]) -> Lcp {
    Lcp::new(m, q.to_vec()).unwrap()
}

fn trivial(all: &mut Collection) {
    all.add("empty", true, lcp(Matrix::zeros(0, 0), &[]));
    all.add("one-active", true, lcp(rows(&[[2.0]]), &[-3.0]));
    all.add("one-inactive", true, lcp(rows(&[[2.0]]), &[3.0]));
    all.add("one-degenerate", true, lcp(rows(&[[2.0]]), &[0.0]));
    all.add("one-zero-matrix", true, lcp(rows(&[[0.0]]), &[1.0]));
    all.add("one-zero-matrix-negative-q", false, lcp(rows(&[[0.0]]), &[-1.0]));
    all.add("one-negative-matrix", true, lcp(rows(&[[-1.0]]), &[1.0]));
    all.add("one-negative-both", false, lcp(rows(&[[-1.0]]), &[-1.0]));
    all.add("identity", true, lcp(Matrix::identity(5), &[-1.0, 2.0, 0.0, -3.0, 1.0]));
    all.add("identity-q-positive", true, lcp(Matrix::identity(3), &[1.0, 2.0, 3.0]));
    all.add("any-matrix-q-positive", true, lcp(rows(&[[-1.0, -5.0], [3.0, -2.0]]), &[1.0, 2.0]));
    all.add("zero-matrix-zero-q", true, lcp(Matrix::zeros(3, 3), &[0.0; 3]));
    all.add("zero-matrix-positive-q", true, lcp(Matrix::zeros(3, 3), &[1.0, 2.0, 3.0]));
}

fn textbook(all: &mut Collection) {
    // CPS Remark 4.1.14: every z ≥ 0 with z₁ + z₂ = 1 is a solution.
    all.add("cps-line-of-solutions", true, lcp(rows(&[[1.0, 1.0], [1.0, 1.0]]), &[-1.0, -1.0]));
    let m = rows(&[[0.0, -1.0, 2.0], [2.0, 0.0, -2.0], [-1.0, 1.0, 0.0]]);
    all.add("cps-4.4.7", true, lcp(m, &[-3.0, 6.0, -1.0]));
    let pang = || rows(&[[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
    all.add("pang-isolated", true, lcp(pang(), &[0.0, -1.0, 1.0]));
    all.add("pang-perturbed", false, lcp(pang(), &[-1e-4, -1.0, 1.0]));
    // z = (0, 1) has w = (0, 1) ≥ 0; but z₂ ≥ 1 asks for w₂ = z₁ + 1 = 0.
    all.add("feasible-unsolvable", false, lcp(rows(&[[0.0, 1.0], [1.0, 0.0]]), &[-1.0, 1.0]));
    // Zero-sum game: skew-symmetric.
    let game = rows(&[[0.0, 0.0, 3.0, -1.0], [0.0, 0.0, -1.0, 2.0], [-3.0, 1.0, 0.0, 0.0], [1.0, -2.0, 0.0, 0.0]]);
    all.add("skew", true, lcp(game, &[-1.0, -1.0, 1.0, 1.0]));
}

fn classes(all: &mut Collection) {
    let m = rows(&[[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]);
    // CPS Example 4.2.2 (Murty): a P-matrix on which principal pivoting without least index cycles.
    all.add("murty-cyclic-p", true, lcp(m, &[-1.0, -1.0, -1.0]));
    let triangle =
        |n: usize, f: f64| Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { f * f64::from(u8::from(i > j)) });
    // Murty's exponential example for Lemke: unit lower triangular with twos.
    all.add("triangular-lower", true, lcp(triangle(8, 2.0), &[-1.0; 8]));
    all.add("triangular-upper", true, lcp(triangle(8, 2.0).transposed(), &[-1.0; 8]));
    all.add("triangular-lower-negative", true, lcp(triangle(8, -2.0), &[-1.0; 8]));
    // Fathi's symmetric positive definite one, L Lᵀ of the same triangle.
    let l = triangle(7, 2.0).transposed();
    let fathi = Matrix::from_fn(7, 7, |i, j| l.col(i).iter().zip(l.col(j)).map(|(a, b)| a * b).sum());
    all.add("fathi-positive-definite", true, lcp(fathi, &[-1.0; 7]));
    all.add("copositive-indefinite", true, lcp(rows(&[[1.0, 3.0], [3.0, 1.0]]), &[-1.0, -1.0]));
    all.add("psd-infeasible", false, lcp(rows(&[[1.0, -1.0], [-1.0, 1.0]]), &[-1.0, -1.0]));
    for (class, n, seed) in [
        (Class::Psd, 12, 1),
        (Class::Psd, 30, 2),
        (Class::PsdSkew, 12, 3),
        (Class::PsdSkew, 30, 4),
        (Class::P, 12, 5),
        (Class::P, 30, 6),
        (Class::CopositivePlus, 12, 7),
        (Class::CopositivePlus, 30, 8),
    ] {
        all.add(&format!("random-{}-{n}", class.name()), true, random(class, n, seed).unwrap());
    }
}

/// A pile of `masses` on the ground, each resting on `points` copies of one contact: normal impulses of a step of 1 ms.
fn pile(masses: &[f64], points: usize) -> Lcp {
    let n = masses.len() * points;
    let inverse = |k: usize| 1.0 / masses[k];
    let m = Matrix::from_fn(n, n, |i, j| {
        let (a, b) = (i.min(j) / points, i.max(j) / points);
        let (a, b) = (a.min(b), a.max(b));
        match b - a {
            0 if a == 0 => inverse(0),
            0 => inverse(a) + inverse(a - 1),
            1 => -inverse(a),
            _ => 0.0,
        }
    });
    // Only the ground's contacts approach: the others would be at rest in free fall.
    lcp(m, &(0..n).map(|i| if i < points { -9.81e-3 } else { 0.0 }).collect::<Vec<_>>())
}

fn contacts(all: &mut Collection) {
    all.add("degenerate-stack", true, pile(&[1.0; 4], 3));
    all.add("mass-ratio-1e3-heavy-above", true, pile(&[1.0, 1e3], 2));
    all.add("mass-ratio-1e6-heavy-above", true, pile(&[1.0, 1e3, 1e6], 2));
    all.add("mass-ratio-1e6-heavy-below", true, pile(&[1e6, 1e3, 1.0], 2));
    for (n, seed) in [(12, 1), (24, 2), (40, 3), (60, 4)] {
        all.add(&format!("random-contact-{n}"), true, random(Class::Contact, n, seed).unwrap());
    }
}

fn mixed(all: &mut Collection) {
    let mlcp = |m: Matrix, q: &[f64], free: &[bool]| Mlcp::new(m, q.to_vec(), free.to_vec()).unwrap();
    let m = rows(&[[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]);
    all.add("mlcp-regular", true, mlcp(m.clone(), &[1.0, -2.0, 3.0], &[true, false, false]));
    all.add("mlcp-free-rows-anywhere", true, mlcp(m.clone(), &[1.0, -2.0, 3.0], &[false, true, false]));
    all.add("mlcp-equations-only", true, mlcp(m, &[1.0, -2.0, 3.0], &[true; 3]));
    all.add("mlcp-zero-block", true, mlcp(rows(&[[0.0, 1.0], [-1.0, 0.0]]), &[-1.0, 2.0], &[true, false]));
    // Saddle point of a quadratic program with one equation: A = 0 for its multiplier.
    let saddle = rows(&[[0.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]);
    all.add("mlcp-saddle", true, mlcp(saddle, &[-1.0, 0.5, -0.5], &[true, false, false]));
    let redundant = rows(&[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 2.0]]);
    all.add("mlcp-redundant-equations", true, mlcp(redundant.clone(), &[-2.0, -2.0, -3.0], &[true, true, false]));
    all.add("mlcp-contradictory-equations", false, mlcp(redundant, &[-2.0, -3.0, -3.0], &[true, true, false]));
    let zero_row = rows(&[[0.0, 0.0], [0.0, 1.0]]);
    all.add("mlcp-empty-equation", true, mlcp(zero_row.clone(), &[0.0, -1.0], &[true, false]));
    all.add("mlcp-impossible-equation", false, mlcp(zero_row, &[1.0, -1.0], &[true, false]));
    // w = -x + 1 with x = 2 from the equation, whatever y is.
    all.add("mlcp-infeasible", false, mlcp(rows(&[[1.0, 0.0], [-1.0, 0.0]]), &[-2.0, 1.0], &[true, false]));
}

fn boxes(all: &mut Collection) {
    let boxed =
        |m: Matrix, q: &[f64], lo: &[f64], hi: &[f64]| BoxLcp::new(m, q.to_vec(), lo.to_vec(), hi.to_vec()).unwrap();
    all.add("box-clamp-upper", true, boxed(rows(&[[1.0]]), &[-5.0], &[0.0], &[2.0]));
    all.add("box-clamp-lower", true, boxed(rows(&[[1.0]]), &[5.0], &[-2.0], &[2.0]));
    all.add("box-inside", true, boxed(rows(&[[1.0]]), &[-1.0], &[-2.0], &[2.0]));
    let m = rows(&[[4.0, 1.0, -1.0], [1.0, 3.0, 0.5], [-1.0, 0.5, 2.0]]);
    all.add("relay", true, boxed(m.clone(), &[-9.0, 1.0, 6.0], &[-1.0; 3], &[1.0; 3]));
    all.add("box-infinite-bounds", true, boxed(m.clone(), &[-9.0, 1.0, 6.0], &[-INF, 0.0, -INF], &[1.0, INF, INF]));
    all.add("box-equal-bounds", true, boxed(m.clone(), &[-9.0, 1.0, 6.0], &[1.5, -1.0, 0.0], &[1.5, 1.0, 0.0]));
    let unsymmetric = rows(&[[2.0, 1.0, -1.0], [-1.0, 2.0, 1.0], [1.0, -1.0, 2.0]]);
    all.add("box-unsymmetric", true, boxed(unsymmetric, &[-9.0, 1.0, 6.0], &[-1.0, 0.0, -INF], &[1.0, INF, 3.0]));
    all.add("relay-rank-one", true, boxed(rows(&[[1.0, 1.0], [1.0, 1.0]]), &[-0.5, -0.5], &[-1.0; 2], &[1.0; 2]));
    all.add("relay-zero-matrix", true, boxed(Matrix::zeros(3, 3), &[1.0, -1.0, 0.0], &[-1.0; 3], &[1.0; 3]));
    all.add("relay-negative", true, boxed(rows(&[[-1.0]]), &[0.25], &[-1.0], &[1.0]));
    let free = boxed(rows(&[[0.0, 1.0], [1.0, 1.0]]), &[1.0, 0.0], &[-INF, 0.0], &[INF, INF]);
    all.add("box-infeasible", false, free);
}

fn factored(all: &mut Collection) {
    let g = rows(&[[1.0, -1.0, 2.0, 0.5], [0.0, 1.0, 1.0, -2.0]]);
    let square = |u: &[f64]| FactoredLcp::least_squares(g.clone(), u.to_vec()).unwrap();
    all.add("factored-least-squares", true, square(&[-3.0, 1.0]));
    all.add("factored-least-squares-zero", true, square(&[0.0, 0.0]));
    let opposite = rows(&[[1.0, -1.0]]);
    let any = |e: [f64; 2]| FactoredLcp::new(opposite.clone(), e.to_vec()).unwrap();
    all.add("factored-e-in-range", true, any([-1.0, 1.0]));
    all.add("factored-e-outside-range-feasible", true, any([1.0, -0.5]));
    all.add("factored-e-outside-range-infeasible", false, any([-1.0, 0.5]));
    all.add("factored-no-rows", true, FactoredLcp::new(Matrix::zeros(0, 2), vec![1.0, 0.0]).unwrap());
    all.add("factored-no-rows-infeasible", false, FactoredLcp::new(Matrix::zeros(0, 2), vec![1.0, -1.0]).unwrap());
    let bounded = square(&[-3.0, 1.0]).with_bounds(vec![0.0, -1.0, 0.25, -INF], vec![0.5, 1.0, 0.25, INF]).unwrap();
    all.add("factored-bounds", true, bounded);
    let relay = any([-1.0, -1.0]).with_bounds(vec![-1.0; 2], vec![1.0; 2]).unwrap();
    all.add("factored-relay-e-outside-range", true, relay);
    let tall = Matrix::from_fn(9, 5, |i, j| ((3 * i + 7 * j) % 11) as f64 - 5.0);
    all.add(
        "factored-tall",
        true,
        FactoredLcp::least_squares(tall, vec![1.0, -2.0, 3.0, 0.0, 1.0, -1.0, 2.0, 5.0, -4.0]).unwrap(),
    );
}

/// Some problems again with M and q in other units: the answer must not depend on them.
fn in_other_units(all: &mut Collection) {
    let names = [
        "identity",
        "cps-4.4.7",
        "pang-isolated",
        "pang-perturbed",
        "feasible-unsolvable",
        "murty-cyclic-p",
        "degenerate-stack",
        "random-contact-24",
        "mlcp-saddle",
        "mlcp-contradictory-equations",
        "relay",
        "box-infinite-bounds",
        "factored-bounds",
        "factored-e-outside-range-infeasible",
    ];
    for name in names {
        for (label, of_m, of_q) in
            [("M, q × 1e8", 1e8, 1e8), ("M, q × 1e-8", 1e-8, 1e-8), ("q × 1e8", 1.0, 1e8), ("q × 1e-8", 1.0, 1e-8)]
        {
            let original = all.0.iter().find(|p| p.name == name).unwrap();
            let (problem, answer) = (scaled(&original.problem, of_m, of_q), original.answer);
            all.add_with(&format!("{name} ({label})"), answer, problem);
        }
    }
}

/// M times `of_m` and q times `of_q`, with the bounds in the units of z that follow.
fn scaled(problem: &Problem, of_m: f64, of_q: f64) -> Problem {
    let times = |x: &[f64], s: f64| x.iter().map(|x| x * s).collect::<Vec<f64>>();
    let matrix = |m: &Matrix, s: f64| Matrix::from_columns(m.rows(), m.cols(), times(m.as_slice(), s)).unwrap();
    let of_z = of_q / of_m;
    match problem {
        Problem::Lcp(p) => Lcp::new(matrix(p.m(), of_m), times(p.q(), of_q)).unwrap().into(),
        Problem::Mlcp(p) => Mlcp::new(matrix(p.m(), of_m), times(p.q(), of_q), p.free().to_vec()).unwrap().into(),
        Problem::Box(p) => {
            let bounds = (times(p.lo(), of_z), times(p.hi(), of_z));
            BoxLcp::new(matrix(p.m(), of_m), times(p.q(), of_q), bounds.0, bounds.1).unwrap().into()
        }
        Problem::Factored(p) => {
            let g = matrix(p.g(), of_m.sqrt());
            let same = match p.u() {
                Some(u) => FactoredLcp::least_squares(g, times(u, of_q / of_m.sqrt())).unwrap(),
                None => FactoredLcp::new(g, times(p.e(), of_q)).unwrap(),
            };
            match p.bounds() {
                Some((lo, hi)) => same.with_bounds(times(lo, of_z), times(hi, of_z)).unwrap().into(),
                None => same.into(),
            }
        }
    }
}
