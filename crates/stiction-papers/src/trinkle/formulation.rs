//! The paper's complementarity problem (32), written down from a contact problem as the paper has it: no islands, no reductions. The models have
//! their own; this one is what their answers are checked on.

use stiction_contact::find_indices::FindIndices;
use stiction_contact::{ContactForces, ContactProblem, Rows};
use stiction_lcp::certificate::certify;
use stiction_lcp::{Basis, InputError, Lcp, Matrix, Position};

/// A sum that is at most this fraction of its terms, per term, is rounding.
const NOISE: f64 = 4.0 * f64::EPSILON;

/// The problem (32) of contacts that all touch, with `z = (c_Sn, c_Rn, s_t⁺, s_o⁺, a_t⁻, a_o⁻)`.
///
/// Reference: [Trinkle95, Eqs. 32–33].
#[derive(Debug, Clone)]
pub struct Formulation {
    /// The complementarity problem, of order |S| + 5 |R|.
    pub lcp: Lcp,
    /// Contacts that slide.
    pub sliding: Vec<usize>,
    /// Contacts that roll.
    pub rolling: Vec<usize>,
    mu: Vec<f64>,
    full_rank: bool,
}

impl Formulation {
    /// Writes the problem down.
    ///
    /// # Errors
    /// If a number leaves the range of f64.
    pub fn new(problem: &ContactProblem) -> Result<Self, InputError> {
        let contacts = problem.contacts();
        let slips: Vec<[f64; 3]> = (0..contacts.len()).map(|i| problem.slip(i)).collect();
        let (sliding, rolling): (Vec<usize>, Vec<usize>) =
            (0..contacts.len()).partition(|&i| slips[i][0] != 0.0 || slips[i][1] != 0.0);
        let white = |rows: &Rows, i: usize| whitened(problem, rows, i);
        let all = sliding.iter().chain(&rolling);
        // Rows of motion, their constants, and the columns of the forces that move them.
        let mut rows: Vec<(Vec<f64>, f64)> =
            all.clone().map(|&i| (white(&contacts.normal, i), contacts.rate[i][0])).collect();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for &i in all {
            let (s, t, speed) = (slips[i][0], slips[i][1], slips[i][0].hypot(slips[i][1]));
            let part = if speed > 0.0 { [s / speed, t / speed] } else { [1.0, 1.0] };
            let mut column = white(&contacts.normal, i);
            for (rows, part) in [(&contacts.tangent_s, part[0]), (&contacts.tangent_t, part[1])] {
                let g = white(rows, i);
                column.iter_mut().zip(&g).for_each(|(x, g)| *x -= contacts.mu[i] * part * g);
            }
            columns.push(column);
        }
        for (k, tangents) in [(1, &contacts.tangent_s), (2, &contacts.tangent_t)] {
            for &i in &rolling {
                let g = white(tangents, i);
                columns.push(g.clone());
                rows.push((g, contacts.rate[i][k]));
            }
        }
        let (matrix, r) = fill(problem, &rows, &columns, sliding.len(), &rolling);
        let mut held = FindIndices::default();
        held.reset(problem.m(), 3 * contacts.len());
        let kinds = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
        let full_rank = kinds.into_iter().all(|rows| (0..contacts.len()).all(|i| held.add(&white(rows, i), 0.0)));
        Ok(Self { lcp: Lcp::new(matrix, r)?, sliding, rolling, mu: contacts.mu.clone(), full_rank })
    }

    /// Whether the contacts are independent: the system Jacobian has full column rank.
    pub(crate) fn has_full_rank(&self) -> bool {
        self.full_rank
    }

    /// The residual of forces in (32): the larger of the two measures of its certificate.
    pub fn residual(&self, forces: &ContactForces) -> f64 {
        certify((&self.lcp).into(), &self.point(forces), &mut vec![0.0; self.lcp.n()]).worst()
    }

    /// The basis that forces of another law suggest: each pair has the larger of its two numbers basic.
    pub(crate) fn basis_near(&self, forces: &ContactForces) -> Basis {
        let (z, mut w) = (self.point(forces), vec![0.0; self.lcp.n()]);
        certify((&self.lcp).into(), &z, &mut w);
        let size = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |a: f64, x| a.max(x.abs()));
        let (a, b) = (size(&z), size(&w));
        let pairs = z.iter().zip(&w);
        Basis::new(pairs.map(|(z, w)| if z / a > w / b { Position::Basic } else { Position::Lower }).collect())
    }

    /// z of these forces. What is rounding beside its terms (a slack beside μ c_n, a tangential acceleration
    /// beside all that adds up to it) is 0.
    fn point(&self, forces: &ContactForces) -> Vec<f64> {
        const ROUNDING: f64 = 1e-12;
        let (n, roll) = (self.lcp.n(), self.rolling.len());
        let mut z: Vec<f64> = self.sliding.iter().chain(&self.rolling).map(|&i| forces.normal[i]).collect();
        for tangent in [&forces.tangent_s, &forces.tangent_t] {
            for &i in &self.rolling {
                let most = self.mu[i] * forces.normal[i];
                let is_edge = |edge: f64| (tangent[i] - edge).abs() <= ROUNDING * most;
                z.push(if is_edge(-most) {
                    0.0
                } else if is_edge(most) {
                    2.0 * most
                } else {
                    tangent[i] + most
                });
            }
        }
        z.resize(n, 0.0);
        let first = self.sliding.len() + roll;
        for k in 0..2 * roll {
            let row = (0..n).map(|j| self.lcp.m()[(first + k, j)] * z[j]);
            let start = self.lcp.q()[first + k];
            let (sum, size) = row.fold((start, start.abs()), |(sum, size), x| (sum + x, size + x.abs()));
            z[first + 2 * roll + k] = if sum < -ROUNDING * size { -sum } else { 0.0 };
        }
        z
    }
}

/// M and r of (32).
fn fill(
    problem: &ContactProblem,
    rows: &[(Vec<f64>, f64)],
    columns: &[Vec<f64>],
    sliding: usize,
    rolling: &[usize],
) -> (Matrix, Vec<f64>) {
    let (moving, roll) = (rows.len(), rolling.len());
    let n = moving + 2 * roll;
    let mut matrix = Matrix::zeros(n, n);
    for (i, (row, _)) in rows.iter().enumerate() {
        for (j, column) in columns.iter().enumerate() {
            matrix[(i, j)] = product(row, column, 0.0);
        }
    }
    for k in 0..2 * roll {
        let (plus, minus) = (sliding + roll + k, moving + k);
        matrix[(plus, minus)] = 1.0;
        matrix[(minus, plus)] = -1.0;
        matrix[(minus, sliding + k % roll)] = 2.0 * problem.contacts().mu[rolling[k % roll]];
    }
    let mut free = problem.force().to_vec();
    let layout = problem.layout();
    (0..layout.blocks()).for_each(|b| problem.mass().solve_factor(b, &mut free[layout.range(b)]));
    let mut r: Vec<f64> = rows.iter().map(|(row, rate)| product(row, &free, *rate)).collect();
    r.resize(n, 0.0);
    (matrix, r)
}

/// `L⁻¹ rowᵀ`, with L Lᵀ the inertia.
fn whitened(problem: &ContactProblem, rows: &Rows, i: usize) -> Vec<f64> {
    let layout = problem.layout();
    let mut g = vec![0.0; layout.m()];
    rows.add_transposed(i, 1.0, &mut g);
    (0..layout.blocks()).for_each(|b| problem.mass().solve_factor(b, &mut g[layout.range(b)]));
    g
}

/// `a · b + c`, 0 where that is rounding.
fn product(a: &[f64], b: &[f64], c: f64) -> f64 {
    let (sum, size) = a.iter().zip(b).fold((c, c.abs()), |(sum, size), (a, b)| (sum + a * b, size + (a * b).abs()));
    if sum.abs() <= NOISE * a.len() as f64 * size { 0.0 } else { sum }
}
