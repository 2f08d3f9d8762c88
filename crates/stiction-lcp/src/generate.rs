//! Seeded problems of the classes that a theorem speaks of, made hard: degenerate, redundant, badly scaled.
//!
//! The same seed gives the same bits on every machine. The soak (`stiction soak`), the tests and the benchmarks draw from here.

pub use stiction_linalg::rng::Rng;

use crate::error::InputError;
use crate::matrix::{Matrix, dot};
use crate::problem::Lcp;

/// A class of matrices for which every feasible problem has a solution that Lemke's method finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Symmetric positive semidefinite of any rank.
    Psd,
    /// Positive semidefinite plus skew-symmetric.
    PsdSkew,
    /// All principal minors positive.
    P,
    /// Copositive-plus: positive semidefinite plus strictly copositive, in general indefinite.
    CopositivePlus,
    /// Stewart–Trinkle contact of one rigid body: copositive, redundant, always solvable.
    Contact,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 5] = [Class::Psd, Class::PsdSkew, Class::P, Class::CopositivePlus, Class::Contact];

    /// The class's name in kebab case.
    pub fn name(self) -> &'static str {
        match self {
            Class::Psd => "psd",
            Class::PsdSkew => "psd-skew",
            Class::P => "p",
            Class::CopositivePlus => "copositive-plus",
            Class::Contact => "contact",
        }
    }
}

/// How a problem is scaled after it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaling {
    /// As it is.
    None,
    /// `D M D`, `D q` with a diagonal D over 10^±8.
    Congruent,
    /// `R M`, `R q` with a diagonal R over 10^±8.
    Rows,
}

/// A random problem of `class` and order about `n` (exactly n but for `Contact`), from `seed`.
///
/// Half of the problems have small integer data, so that ties are exact; zero rows, duplicate rows and planted degenerate
/// solutions are common; a third each are scaled by [`Scaling::Congruent`] and [`Scaling::Rows`].
///
/// # Errors
/// Never for finite scales; the signature is that of [`Lcp::new`].
pub fn random(class: Class, n: usize, seed: u64) -> Result<Lcp, InputError> {
    let mut rng = Rng::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (class as u64) << 32 ^ n as u64);
    let (m, q) = match class {
        Class::Contact => contact(&mut rng, n),
        _ => {
            let m = match class {
                Class::Psd => gram(&mut rng, n),
                Class::PsdSkew => psd_skew(&mut rng, n),
                Class::P => p_matrix(&mut rng, n),
                _ => copositive_plus(&mut rng, n),
            };
            let q = planted(&mut rng, &m);
            (m, q)
        }
    };
    let scaling = [Scaling::None, Scaling::Congruent, Scaling::Rows][rng.below(3)];
    scaled(&mut rng, m, q, scaling)
}

/// A problem of no particular class and order `n`: dense or sparse, normal or small integers, any signs. It may have no solution,
/// one or many; half of them have one planted.
///
/// # Errors
/// Never for finite scales; the signature is that of [`Lcp::new`].
pub fn any(n: usize, seed: u64) -> Result<Lcp, InputError> {
    let mut rng = Rng::new(seed.wrapping_mul(0x9fb2_1c65_1e98_df25) ^ n as u64);
    let mut m = factor(&mut rng, n, n);
    let kept = if rng.chance(0.5) { 1.0 } else { rng.uniform() };
    for x in m.as_mut_slice() {
        if !rng.chance(kept) {
            *x = 0.0;
        }
    }
    let q = if rng.chance(0.5) { planted(&mut rng, &m) } else { factor(&mut rng, n, 1).as_slice().to_vec() };
    Lcp::new(m, q)
}

/// A matrix factor of small integers or of normal numbers.
fn factor(rng: &mut Rng, rows: usize, cols: usize) -> Matrix {
    let integers = rng.chance(0.5);
    Matrix::from_fn(rows, cols, |_, _| if integers { rng.below(7) as f64 - 3.0 } else { rng.normal() })
}

/// `A Aᵀ` with A n × r of any rank, rows of zeros and rows that stand twice.
fn gram(rng: &mut Rng, n: usize) -> Matrix {
    let rank = rng.below(n + 1);
    let mut at = factor(rng, rank, n);
    for j in 0..n {
        if rng.chance(0.05) {
            at.col_mut(j).fill(0.0);
        } else if j > 0 && rng.chance(0.1) {
            let twin = rng.below(j);
            let column = at.col(twin).to_vec();
            at.col_mut(j).copy_from_slice(&column);
        }
    }
    Matrix::from_fn(n, n, |i, j| dot(at.col(i.min(j)), at.col(i.max(j))))
}

fn psd_skew(rng: &mut Rng, n: usize) -> Matrix {
    let mut m = gram(rng, n);
    let k = factor(rng, n, n);
    for j in 0..n {
        for i in 0..j {
            m[(i, j)] += k[(i, j)];
            m[(j, i)] -= k[(i, j)];
        }
    }
    m
}

/// P-matrices of several kinds: positive definite plus skew, strictly diagonally dominant with signs, triangular.
fn p_matrix(rng: &mut Rng, n: usize) -> Matrix {
    match rng.below(3) {
        0 => {
            let mut m = psd_skew(rng, n);
            for i in 0..n {
                m[(i, i)] += 1.0;
            }
            m
        }
        1 => {
            let mut m = factor(rng, n, n);
            for i in 0..n {
                let others: f64 = (0..n).filter(|j| *j != i).map(|j| m[(i, j)].abs()).sum();
                m[(i, i)] = others + 1.0;
            }
            m
        }
        _ => {
            let upper = rng.chance(0.5);
            let f = factor(rng, n, n);
            Matrix::from_fn(n, n, |i, j| {
                if i == j {
                    1.0
                } else if (i < j) == upper {
                    f[(i, j)]
                } else {
                    0.0
                }
            })
        }
    }
}

fn copositive_plus(rng: &mut Rng, n: usize) -> Matrix {
    let mut m = gram(rng, n);
    let integers = rng.chance(0.5);
    for j in 0..n {
        for i in 0..=j {
            let p = if integers { 1.0 + rng.below(4) as f64 } else { 0.01 + rng.uniform() };
            m[(i, j)] += p;
            if i != j {
                m[(j, i)] += p;
            }
        }
    }
    m
}

/// `q = w − M z` for a planted complementary pair, in which a tenth of the pairs are both zero.
fn planted(rng: &mut Rng, m: &Matrix) -> Vec<f64> {
    let n = m.rows();
    let integers = rng.chance(0.5);
    let active = rng.uniform();
    let mut q = vec![0.0; n];
    let mut z = vec![0.0; n];
    for i in 0..n {
        let size = if integers { 1.0 + rng.below(5) as f64 } else { 0.1 + rng.uniform() };
        if rng.chance(0.1) {
            continue;
        }
        if rng.chance(active) {
            z[i] = size;
        } else {
            q[i] = size;
        }
    }
    let w = q.clone();
    m.mul_into(&z, &mut q);
    w.iter().zip(&q).map(|(w, mz)| w - mz).collect()
}

/// A rigid box (6 degrees of freedom) with redundant contacts on its lower face, `z = (θ, φ, λ)`; order near `n`.
///
/// Reference: [Lloyd04, Eq. 8], \[StewartTrinkle96\].
fn contact(rng: &mut Rng, n: usize) -> (Matrix, Vec<f64>) {
    let directions = [4, 6, 8][rng.below(3)];
    let contacts = (n / (directions + 2)).max(1);
    let mu = if rng.chance(0.1) { 0.0 } else { rng.uniform() * 1.5 };
    let size = [1.0, 0.6, 0.4];
    let inertia = |a: f64, b: f64| (a * a + b * b) / 12.0;
    let mass = [1.0, 1.0, 1.0, inertia(size[1], size[2]), inertia(size[0], size[2]), inertia(size[0], size[1])];
    let grid = rng.chance(0.7);
    let points: Vec<[f64; 3]> = (0..contacts)
        .map(|_| {
            let mut at = || if grid { rng.below(3) as f64 * 0.5 - 0.5 } else { rng.uniform() - 0.5 };
            [at() * size[0], at() * size[1], -size[2] / 2.0]
        })
        .collect();
    // Columns of L⁻¹ [Nᵀ Dᵀ]: wrench divided by the root of the inertia.
    let column = |p: &[f64; 3], d: [f64; 3]| {
        let torque = [p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0]];
        let mut c = [d[0], d[1], d[2], torque[0], torque[1], torque[2]];
        for (x, m) in c.iter_mut().zip(&mass) {
            *x /= m.sqrt();
        }
        c
    };
    let unit = octagon(directions);
    let mut wrenches: Vec<[f64; 6]> = points.iter().map(|p| column(p, [0.0, 0.0, 1.0])).collect();
    for p in &points {
        wrenches.extend(unit.iter().map(|d| column(p, [d[0], d[1], 0.0])));
    }
    let mut v = [0.0, 0.0, -0.0981, 0.0, 0.0, 0.0];
    match rng.below(3) {
        0 => {}
        1 => {
            v[0] += 1.0;
            v[1] += 0.3;
            v[5] += 0.7;
        }
        _ => v.iter_mut().for_each(|x| *x += rng.normal()),
    }
    let velocity: Vec<f64> = v.iter().zip(&mass).map(|(v, m)| v * m.sqrt()).collect();
    let (a, b) = (contacts, contacts * directions);
    let order = a + b + a;
    let m = Matrix::from_fn(order, order, |i, j| match (i < a + b, j < a + b) {
        (true, true) => dot(&wrenches[i.min(j)], &wrenches[i.max(j)]),
        (true, false) if i >= a && (i - a) / directions == j - a - b => 1.0,
        (false, true) if j < a && j == i - a - b => mu,
        (false, true) if j >= a && (j - a) / directions == i - a - b => -1.0,
        _ => 0.0,
    });
    let q = (0..order).map(|i| if i < a + b { dot(&wrenches[i], &velocity) } else { 0.0 }).collect();
    (m, q)
}

/// `d` unit vectors spread over the circle, opposite ones exactly opposite.
fn octagon(d: usize) -> Vec<[f64; 2]> {
    let half: Vec<[f64; 2]> = match d {
        4 => vec![[1.0, 0.0], [0.0, 1.0]],
        6 => vec![[1.0, 0.0], [0.5, 0.75f64.sqrt()], [-0.5, 0.75f64.sqrt()]],
        _ => {
            let h = 0.5f64.sqrt();
            vec![[1.0, 0.0], [h, h], [0.0, 1.0], [-h, h]]
        }
    };
    half.iter().copied().chain(half.iter().map(|u| [-u[0], -u[1]])).collect()
}

fn scaled(rng: &mut Rng, mut m: Matrix, mut q: Vec<f64>, scaling: Scaling) -> Result<Lcp, InputError> {
    let n = q.len();
    if scaling != Scaling::None {
        let mut d: Vec<f64> = (0..n).map(|_| rng.scale(8.0)).collect();
        // The largest unit goes to the largest |q|. Where it goes to a row with q = 0, rounding z to f64 alone can exceed any
        // bound on the residual, which is relative to ‖q‖∞.
        let largest = |x: &[f64]| (0..n).max_by(|a, b| x[*a].abs().total_cmp(&x[*b].abs())).unwrap_or(0);
        if n > 0 {
            let (of_d, of_q) = (largest(&d), largest(&q));
            d.swap(of_d, of_q);
        }
        for j in 0..n {
            for i in 0..n {
                m[(i, j)] *= d[i] * if scaling == Scaling::Congruent { d[j] } else { 1.0 };
            }
        }
        q.iter_mut().zip(&d).for_each(|(q, d)| *q *= d);
    }
    Lcp::new(m, q)
}
