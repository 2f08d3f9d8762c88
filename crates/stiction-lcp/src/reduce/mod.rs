//! Mixed, boxed and factored problems as linear complementarity problems, and their solutions back.
//!
//! First the *standard form*, in which every row is complementary or free:
//!
//! | row of the problem | becomes |
//! |---|---|
//! | lo finite, hi = ∞ | `y = z − lo` |
//! | lo = −∞, hi finite | `y = hi − z`, the row and its column negated |
//! | both finite | `y = z − lo` and one more pair `0 ≤ t ⊥ s (hi − lo − y) ≥ 0`: matrix `[M sI; −sI 0]` |
//! | lo = hi | moved into q |
//! | both infinite | a free row |
//!
//! A positive semidefinite M stays so (s is a power of two that gives the new rows the size of the old). Then the free rows
//! are eliminated.
//!
//! *The free block A regular*: `x = −A⁻¹ (C y + g)` leaves the LCP of `F = B − D A⁻¹ C`, `e = h − D A⁻¹ g` [Drumwright15, Eqs. 4–7].
//! *A singular, or nearly*: complementary rows K join the pivot block until it is regular; in the LCP w_K and z_K have changed places, and a
//! positive semidefinite matrix stays so, as under every principal pivot [CPS09, §4.1]. *Redundant equations* are dropped. *What
//! else remains* is substituted, `x = y − t·1` with `y, t ≥ 0`.

mod choice;
mod eliminate;
mod solve;

use crate::basis::{Basis, Position};
use crate::error::InputError;
use crate::finish::Finish;
use crate::matrix::Matrix;
use crate::problem::{BoxLcp, Lcp, ProblemRef};
use crate::solver::Options;
use crate::tolerances;
pub(crate) use choice::regular_block;
use eliminate::Elimination;
pub(crate) use solve::solve_reduced;
use stiction_linalg::doubled::{Doubled, two_sum};
use stiction_linalg::power::{exponent, times_power};

tolerances! {
    /// Tolerances of the elimination of free rows, for a matrix scaled to entries up to 1.
    Tolerances {
        /// A pivot among the free rows this large is taken at once: the reduced data then lose half of their digits at most. Below it a
        /// complementary row that offers a better one is taken instead; the LCP is another, its solutions are the same.
        good_pivot = 1e-8,
        /// An entry this small, after elimination, is rounding, and an equation of nothing but such entries redundant. Less takes the
        /// rounding of dependent equations for pivots; more drops equations that hold by a small entry.
        zero_pivot = 1e-12,
        /// An entry of a refined column this small, relative to the largest, is the rounding of a zero: refinement in twice the working
        /// precision ends near ε² times the condition of the pivot block.
        refined_zero = 1e-24,
    }
}

/// A problem as an [`Lcp`], with what is needed to go back.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The problem to solve.
    pub lcp: Lcp,
    rows: Vec<Row>,
    elimination: Option<Elimination>,
    exact: bool,
    options: Options,
}

/// What a row of the problem became; `at` is its row in the standard form.
#[derive(Debug, Clone, Copy)]
enum Row {
    /// `z = lo + y`.
    Above { lo: f64, at: usize },
    /// `z = hi − y`.
    Below { hi: f64, at: usize },
    /// `z = lo + y`, and row `pair` keeps y below hi − lo.
    Between { lo: f64, hi: f64, at: usize, pair: usize },
    /// `z` has one value only.
    Fixed(f64),
    /// `z` is free.
    Free { at: usize },
}

impl Reduced {
    /// The problem as an LCP. An [`Lcp`] is copied; a factored problem is formed densely first.
    ///
    /// # Errors
    /// `InputError::NotFinite` if the numbers of the reduced problem leave the range of f64.
    pub fn new(problem: ProblemRef<'_>) -> Result<Self, InputError> {
        Self::with_options(problem, &Options::default())
    }

    pub(crate) fn with_options(problem: ProblemRef<'_>, options: &Options) -> Result<Self, InputError> {
        match problem {
            ProblemRef::Factored(p) => return Self::with_options(p.to_dense().as_ref(), options),
            ProblemRef::Lcp(p) => {
                let rows = (0..p.n()).map(|at| Row::Above { lo: 0.0, at }).collect();
                return Ok(Self { lcp: p.clone(), rows, elimination: None, exact: true, options: options.clone() });
            }
            ProblemRef::Mlcp(_) | ProblemRef::Box(_) => {}
        }
        let form = StandardForm::new(problem);
        let (lcp, elimination) = if form.free.contains(&true) {
            let (m, q, elimination) = Elimination::new(&form.m, &form.q, &form.free, &options.tolerances.reduce);
            (Lcp::new(m, q)?, Some(elimination))
        } else {
            (Lcp::new(form.m, form.q)?, None)
        };
        let exact = form.exact && elimination.is_none();
        Ok(Self { lcp, rows: form.rows, elimination, exact, options: options.clone() })
    }

    /// True if no number was rounded on the way: then what is proven of the LCP is proven of the problem.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The basis of the LCP that corresponds to a basis of the problem: a warm start. Positions that a row does not have
    /// (`u` without an upper bound) count as basic.
    ///
    /// # Panics
    /// If `basis` has not the order of the problem.
    pub fn start(&self, basis: &Basis) -> Basis {
        assert_eq!(basis.len(), self.rows.len(), "the basis must have the order of the problem");
        let mut standard = Basis::lower(self.standard_order());
        for (i, row) in self.rows.iter().enumerate() {
            let position = basis.position(i);
            match *row {
                Row::Above { at, .. } if position != Position::Lower => standard.set(at, Position::Basic),
                Row::Below { at, .. } if position != Position::Upper => standard.set(at, Position::Basic),
                Row::Between { at, pair, .. } if position != Position::Lower => {
                    standard.set(at, Position::Basic);
                    if position == Position::Upper {
                        standard.set(pair, Position::Basic);
                    }
                }
                Row::Free { at } => standard.set(at, Position::Basic),
                _ => {}
            }
        }
        match &self.elimination {
            None => standard,
            Some(e) => e.start(&standard),
        }
    }

    /// The solution of the problem that corresponds to `z` and `basis` of the LCP: its z and basis, in the problem's order.
    ///
    /// A z at a bound in the basis is that bound exactly. The others carry the rounding of the reduction; the basis gives
    /// them more accurately through [`Finish`] wherever it is not singular in the problem. It is singular where equations
    /// are redundant; then the remaining ones are solved here, from the problem's own data.
    ///
    /// # Panics
    /// If `z` or `basis` has not the order of the LCP, or `problem` is not the one that was reduced.
    pub fn recover(&self, problem: ProblemRef<'_>, z: &[f64], basis: &Basis) -> (Vec<f64>, Basis) {
        assert_eq!(
            (z.len(), basis.len()),
            (self.lcp.n(), self.lcp.n()),
            "z and the basis must have the order of the LCP"
        );
        assert_eq!(problem.n(), self.rows.len(), "the problem must be the one that was reduced");
        let Some(elimination) = &self.elimination else {
            return self.recover_standard(z, basis);
        };
        let (y, standard) = elimination.recover(&self.lcp, z, basis);
        let (mut z, basis) = self.recover_standard(&y, &standard);
        if elimination.has_dropped() {
            self.solve_kept(problem, elimination, &mut z, &basis);
        }
        (z, basis)
    }

    /// The direction in the problem's z that corresponds to a direction of the LCP's: for rays.
    ///
    /// # Panics
    /// If `direction` has not the order of the LCP.
    pub fn direction(&self, direction: &[f64]) -> Vec<f64> {
        assert_eq!(direction.len(), self.lcp.n(), "the direction must have the order of the LCP");
        let standard = match &self.elimination {
            None => direction.to_vec(),
            Some(e) => e.direction(&self.lcp, direction),
        };
        let along = |row: &Row| match *row {
            Row::Above { at, .. } | Row::Between { at, .. } | Row::Free { at } => standard[at],
            Row::Below { at, .. } => -standard[at],
            Row::Fixed(_) => 0.0,
        };
        self.rows.iter().map(along).collect()
    }

    /// Solves the basis again without the equations that were dropped; leaves z alone if that fails.
    fn solve_kept(&self, problem: ProblemRef<'_>, elimination: &Elimination, z: &mut [f64], basis: &Basis) {
        // The equation that stands in the place of each kept row: free ones may have been paired anew.
        let mut equation: Vec<Option<usize>> = vec![None; z.len()];
        let free: Vec<usize> = (0..z.len()).filter(|&i| matches!(self.rows[i], Row::Free { .. })).collect();
        let original =
            |at: usize| free.iter().copied().find(|&i| matches!(self.rows[i], Row::Free { at: a } if a == at));
        for (row, column) in elimination.pivots() {
            if let (Some(row), Some(column)) = (original(row), original(column)) {
                equation[column] = Some(row);
            }
        }
        for i in 0..z.len() {
            if !matches!(self.rows[i], Row::Free { .. }) {
                equation[i] = Some(i);
            }
        }
        let kept: Vec<usize> = (0..z.len()).filter(|&i| equation[i].is_some()).collect();
        let at = |k: usize| equation[kept[k]].unwrap_or(kept[k]);
        let m = Matrix::from_fn(kept.len(), kept.len(), |a, b| problem.entry(at(a), kept[b]));
        let q = (0..kept.len()).map(|a| problem.q()[at(a)]).collect();
        let (lo, hi) = kept.iter().map(|&i| problem.bound(i)).unzip();
        let word = Basis::new(kept.iter().map(|&i| basis.position(i)).collect());
        let Ok(rest) = BoxLcp::new(m, q, lo, hi) else { return };
        if let Some(solved) = Finish::default().solution(ProblemRef::Box(&rest), &word, &self.options) {
            for (&i, value) in kept.iter().zip(solved) {
                z[i] = value;
            }
        }
    }

    fn recover_standard(&self, y: &[f64], basis: &Basis) -> (Vec<f64>, Basis) {
        let mut z = Vec::with_capacity(self.rows.len());
        let mut positions = Vec::with_capacity(self.rows.len());
        let mut push = |value: f64, position: Position| {
            z.push(value);
            positions.push(position);
        };
        let basic = |at: usize| basis.position(at) == Position::Basic;
        for row in &self.rows {
            match *row {
                Row::Above { lo, at } if basic(at) => push((lo + y[at]).max(lo), Position::Basic),
                Row::Above { lo, .. } => push(lo, Position::Lower),
                Row::Below { hi, at } if basic(at) => push((hi - y[at]).min(hi), Position::Basic),
                Row::Below { hi, .. } => push(hi, Position::Upper),
                Row::Between { lo, at, .. } if !basic(at) => push(lo, Position::Lower),
                Row::Between { hi, pair, .. } if basic(pair) => push(hi, Position::Upper),
                Row::Between { lo, hi, at, .. } => push((lo + y[at]).clamp(lo, hi), Position::Basic),
                Row::Fixed(value) => push(value, Position::Lower),
                Row::Free { at } => push(y[at], Position::Basic),
            }
        }
        (z, Basis::new(positions))
    }

    /// Order of the standard form.
    fn standard_order(&self) -> usize {
        let last = |row: &Row| match *row {
            Row::Above { at, .. } | Row::Below { at, .. } | Row::Free { at } => at + 1,
            Row::Between { pair, .. } => pair + 1,
            Row::Fixed(_) => 0,
        };
        self.rows.iter().map(last).max().unwrap_or(0)
    }
}

/// A problem whose rows are complementary or free.
struct StandardForm {
    m: Matrix,
    q: Vec<f64>,
    free: Vec<bool>,
    rows: Vec<Row>,
    exact: bool,
}

impl StandardForm {
    fn new(problem: ProblemRef<'_>) -> Self {
        let n = problem.n();
        let rows = classify_rows(problem);
        let kept: Vec<(usize, f64)> = (0..n)
            .filter_map(|i| match rows[i] {
                Row::Fixed(_) => None,
                Row::Below { .. } => Some((i, -1.0)),
                _ => Some((i, 1.0)),
            })
            .collect();
        let pairs = rows.iter().filter(|r| matches!(r, Row::Between { .. })).count();
        let order = kept.len() + pairs;
        let mut m = Matrix::zeros(order, order);
        for (b, &(j, sign_j)) in kept.iter().enumerate() {
            for (a, &(i, sign_i)) in kept.iter().enumerate() {
                m[(a, b)] = sign_i * sign_j * problem.entry(i, j);
            }
        }
        let (shifted, mut exact) = shifted_q(problem, &rows);
        let mut q = vec![0.0; order];
        for (a, &(i, sign)) in kept.iter().enumerate() {
            q[a] = sign * shifted[i];
        }
        for row in &rows {
            if let Row::Between { lo, hi, at, pair } = *row {
                let size = (0..kept.len()).fold(0.0, |s: f64, b| s.max(m[(at, b)].abs()));
                let scale = times_power(1.0, exponent(size));
                m[(at, pair)] = scale;
                m[(pair, at)] = -scale;
                let (width, error) = two_sum(hi, -lo);
                exact &= error == 0.0;
                q[pair] = scale * width;
            }
        }
        let mut free = vec![false; order];
        for row in &rows {
            if let Row::Free { at } = *row {
                free[at] = true;
            }
        }
        Self { m, q, free, rows, exact }
    }
}

/// What each row becomes; the pairs of two-sided rows come after all others.
fn classify_rows(problem: ProblemRef<'_>) -> Vec<Row> {
    let n = problem.n();
    let fixed = (0..n).filter(|&i| problem.bound(i).0 == problem.bound(i).1).count();
    let (mut at, mut pair) = (0, n - fixed);
    let mut rows = Vec::with_capacity(n);
    for i in 0..n {
        let (lo, hi) = problem.bound(i);
        if lo == hi {
            rows.push(Row::Fixed(lo));
            continue;
        }
        rows.push(match (lo.is_finite(), hi.is_finite()) {
            (true, false) => Row::Above { lo, at },
            (false, true) => Row::Below { hi, at },
            (false, false) => Row::Free { at },
            (true, true) => {
                pair += 1;
                Row::Between { lo, hi, at, pair: pair - 1 }
            }
        });
        at += 1;
    }
    rows
}

/// `q + M c` with c the bound that each row is measured from, summed in twice the working precision; and whether its
/// rounding to f64 lost nothing.
fn shifted_q(problem: ProblemRef<'_>, rows: &[Row]) -> (Vec<f64>, bool) {
    let n = problem.n();
    let mut sums: Vec<Doubled> = problem.q().iter().map(|&q| Doubled::new(q)).collect();
    let mut column = vec![0.0; n];
    for (j, row) in rows.iter().enumerate() {
        let from = match *row {
            Row::Above { lo, .. } | Row::Between { lo, .. } => lo,
            Row::Below { hi, .. } => hi,
            Row::Fixed(value) => value,
            Row::Free { .. } => 0.0,
        };
        if from != 0.0 {
            problem.column_into(j, &mut column);
            for (sum, &entry) in sums.iter_mut().zip(&column) {
                sum.add_product(entry, from);
            }
        }
    }
    let exact = sums.iter().all(|s| s.low == 0.0);
    (sums.iter().map(Doubled::value).collect(), exact)
}
