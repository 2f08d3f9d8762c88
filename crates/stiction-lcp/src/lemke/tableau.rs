//! The tableau of a small problem: the quick way along a path.
//!
//! The basic variables are affine functions of the nonbasic ones, `x_B = T x_N + x̄`. Held are x̄ and the columns of T that belong to nonbasic
//! w, as many as there are basic z: a pivot adds a multiple of the entering column to each of them, one sweep. The column of an entering
//! z_s is made from theirs: with the other z at rest, w may grow by M_s if nonbasic w make up for it, `T_s = M_s − Σ_i T_{w_i} M_is` over
//! them, where M_s counts in rows with w basic. A basic w_i stands in row i, a basic z in some row whose w is nonbasic, so no row of M
//! ever has to be looked up.
//!
//! Against the [kernel](super::kernel) this is about the same arithmetic in fewer and longer pieces, and no check on drift: where
//! that is not enough (a ray, a small pivot, a path that does not move) the kernel takes over at the basis reached.
//!
//! Reference: [CPS09, Algorithm 4.4.5], with z₀ first and the soundest pivot next in ties.

use std::hint::black_box;

use super::Tolerances;
use super::kernel::{Extended, NONE};
use super::lanes::{Aligned, LANES, larger, reduce, smaller};
use super::path::Tuning;
use crate::outcome::{Stats, TraceLine, Variable};
use crate::work;

/// Lanes of a column at most; there is a loop for each number of them.
const MOST_LANES: usize = 13;
/// Rows at most.
const MOST_ROWS: usize = MOST_LANES * LANES;

/// How far the tableau went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    /// To the end: z₀ left.
    Solved,
    /// To a basis where this variable is to enter.
    Until(Variable),
}

/// The tableau. A column is `lanes` blocks of eight numbers; those beyond row n are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Tableau {
    n: usize,
    lanes: usize,
    /// The columns of nonbasic w; the first `rows.len()` are in use.
    columns: Vec<Aligned>,
    /// The index of the w of each column, and the column of each nonbasic w, else `NONE`.
    rows: Vec<usize>,
    position: Vec<usize>,
    /// x̄.
    values: Box<[Aligned; MOST_LANES]>,
    /// 1 in rows whose w is basic, else 0.
    slack: Box<[Aligned; MOST_LANES]>,
    /// The index of the z in each row, n for z₀; `NONE` where w is basic.
    occupant: Vec<usize>,
    z0_row: usize,
    /// Pivots since the path last moved.
    pub stalled: usize,
}

// A tableau may lie in memory that others allocate, such as Python's, on multiples of 16 bytes.
const _: () = assert!(align_of::<Tableau>() <= 16);

/// A column of `8 L` rows.
type Column<const L: usize> = [Aligned; L];

impl Tableau {
    /// True if a problem of order `n` is small enough.
    pub(super) fn suits(n: usize) -> bool {
        (1..=MOST_ROWS).contains(&n)
    }

    /// Order of the problem.
    pub(super) fn order(&self) -> usize {
        self.n
    }

    /// Follows the path of `w = M z + d z₀ + q` from z = 0 as far as it is plain; `m` is `[M d]`, and q is padded as its columns are.
    pub(super) fn follow(
        &mut self,
        m: &Extended,
        q: &[f64],
        tuning: &Tuning,
        trace: bool,
        max_pivots: usize,
        stats: &mut Stats,
    ) -> Stretch {
        self.begin(m.order(), q);
        let follow = match self.lanes {
            1 => Self::follow_with::<1>,
            2 => Self::follow_with::<2>,
            3 => Self::follow_with::<3>,
            4 => Self::follow_with::<4>,
            5 => Self::follow_with::<5>,
            6 => Self::follow_with::<6>,
            7 => Self::follow_with::<7>,
            8 => Self::follow_with::<8>,
            9 => Self::follow_with::<9>,
            10 => Self::follow_with::<10>,
            11 => Self::follow_with::<11>,
            12 => Self::follow_with::<12>,
            _ => Self::follow_with::<MOST_LANES>,
        };
        follow(self, m, tuning, trace, max_pivots, stats)
    }

    fn begin(&mut self, n: usize, q: &[f64]) {
        self.n = n;
        self.lanes = n.div_ceil(LANES);
        let most = (n + 1) * self.lanes;
        if self.columns.len() < most {
            self.columns.resize(most, Aligned::default());
        }
        self.rows.clear();
        self.rows.reserve(n + 1);
        self.position.clear();
        self.position.resize(n, NONE);
        self.occupant.clear();
        self.occupant.resize(n, NONE);
        for (value, lane) in self.values.iter_mut().zip(q.as_chunks().0) {
            value.0 = *lane;
        }
        self.slack.fill(Aligned([1.0; LANES]));
        self.stalled = 0;
    }

    fn follow_with<const L: usize>(
        &mut self,
        m: &Extended,
        tuning: &Tuning,
        trace: bool,
        max_pivots: usize,
        stats: &mut Stats,
    ) -> Stretch {
        let mut entering = Variable::Artificial;
        for _ in 0..max_pivots {
            let direction = self.direction::<L>(m, entering);
            let leaving = match entering {
                Variable::Artificial => self.most_negative(tuning, &direction),
                _ => self.ratio_test(tuning, &direction),
            };
            let Some(r) = leaving else { break };
            let left = self.pivot(entering, &direction, r);
            stats.pivots += 1;
            stats.flops += work::product(2 * self.n, self.rows.len() + 1);
            if trace {
                let measure = if left == Variable::Artificial { 0.0 } else { at(&*self.values, self.z0_row) };
                stats.trace.push(TraceLine { entering: Some(entering), leaving: Some(left), measure });
            }
            entering = match left {
                Variable::Artificial => return Stretch::Solved,
                Variable::Z(i) => Variable::W(i),
                Variable::W(i) => Variable::Z(i),
            };
        }
        Stretch::Until(entering)
    }

    /// The rates of all basic variables as `entering` grows.
    #[inline]
    fn direction<const L: usize>(&self, m: &Extended, entering: Variable) -> Column<L> {
        let columns = self.columns.as_chunks::<L>().0;
        let s = match entering {
            Variable::W(i) => return black_box(columns[self.position[i]]),
            Variable::Z(j) => j,
            Variable::Artificial => self.n,
        };
        let own = m.col(s);
        let mut direction = [Aligned::default(); L];
        let lanes = &own.as_chunks::<LANES>().0.as_chunks::<L>().0[0];
        for l in 0..L {
            for k in 0..LANES {
                direction[l].0[k] = lanes[l][k] * self.slack[l].0[k];
            }
        }
        for (column, i) in columns.iter().zip(&self.rows) {
            add(-own[*i], column, &mut direction);
        }
        black_box(direction)
    }

    fn values<const L: usize>(&self) -> &Column<L> {
        &self.values.as_chunks().0[0]
    }

    /// z₀ enters until every basic variable is non-negative: the row of the last to become so, the soundest of those tied.
    fn most_negative<const L: usize>(&self, tuning: &Tuning, rates: &Column<L>) -> Option<usize> {
        let values = self.values::<L>();
        let needed = (0..self.n).fold(0.0, |most, r| larger(-at(values, r) / at(rates, r), most));
        let least = needed - tuning.tolerances.tie * needed;
        let tied = (0..self.n).filter(|r| -at(values, *r) >= least * at(rates, *r));
        tied.reduce(|a, b| if at(rates, b) > at(rates, a) { b } else { a })
    }

    /// The row that blocks first as the entering variable grows; `None` where a tie, a small pivot or a ray leaves it open.
    #[inline]
    fn ratio_test<const L: usize>(&mut self, tuning: &Tuning, rates: &Column<L>) -> Option<usize> {
        let values = self.values::<L>();
        let (largest, fastest) = largest(values, rates);
        let fastest = larger(fastest, 1.0);
        let Tolerances { pivot, tie, tied_pivot, tableau_pivot, .. } = tuning.tolerances;
        let floor = pivot * fastest;
        let step = least_ratio(values, rates, floor);
        if step == f64::INFINITY {
            return None;
        }
        let near = tie * (largest + step * fastest).max(f64::MIN_POSITIVE);
        let (count, last) = tied_rows(values, rates, floor, step, near);
        let is_tied = |r: usize| -at(rates, r) > floor && at(values, r) + step * at(rates, r) <= near;
        let r = if count > 1.0 { self.break_tie(is_tied, rates, tied_pivot)? } else { last as usize };
        let sound = -at(rates, r) >= tableau_pivot * fastest;
        self.stalled = if step * fastest > near { 0 } else { self.stalled + 1 };
        (sound && self.stalled <= tuning.patience).then_some(r)
    }

    /// Of the tied rows that of z₀, unless it falls too slowly, else the one that falls fastest.
    #[cold]
    fn break_tie(&self, is_tied: impl Fn(usize) -> bool, rates: &[Aligned], enough: f64) -> Option<usize> {
        let tied = (0..self.n).filter(|r| is_tied(*r));
        let fastest = tied.reduce(|a, b| if at(rates, b) < at(rates, a) { b } else { a })?;
        let z0 = self.z0_row;
        let takes_z0 = is_tied(z0) && at(rates, z0) <= enough * at(rates, fastest);
        Some(if takes_z0 { z0 } else { fastest })
    }

    /// Moves all values along the direction, exchanges the entering variable with that of row `r`, and returns what left.
    ///
    /// A w that enters takes its own row: the z that stood there moves to row r.
    #[inline]
    fn pivot<const L: usize>(&mut self, entering: Variable, direction: &Column<L>, r: usize) -> Variable {
        let pivot = at(direction, r);
        let home = if let Variable::W(i) = entering { i } else { r };
        let reciprocal = 1.0 / pivot;
        let columns = self.columns.as_chunks_mut::<L>().0;
        for column in &mut columns[..self.rows.len()] {
            let factor = -at(column, r) * reciprocal;
            add(factor, direction, column);
            settle(column, factor, home, r);
        }
        let step = -at(&*self.values, r) / pivot;
        let step = if entering == Variable::Artificial { step } else { larger(step, 0.0) };
        let values = &mut self.values.as_chunks_mut::<L>().0[0];
        add(step, direction, values);
        settle(values, step, home, r);
        let left = self.take_row(entering, home, r);
        if let Some(place) = self.take_column(entering, left) {
            let column = &mut self.columns.as_chunks_mut::<L>().0[place];
            *column = [Aligned::default(); L];
            add(reciprocal, direction, column);
            settle(column, reciprocal, home, r);
        }
        left
    }

    /// Notes which variables stand in rows `home` and `r` after the pivot, and returns the one that left row `r`.
    fn take_row(&mut self, entering: Variable, home: usize, r: usize) -> Variable {
        let left = match self.occupant[r] {
            NONE => Variable::W(r),
            z if z == self.n => Variable::Artificial,
            z => Variable::Z(z),
        };
        self.occupant[r] = self.occupant[home];
        self.occupant[home] = match entering {
            Variable::W(_) => NONE,
            Variable::Z(j) => j,
            Variable::Artificial => self.n,
        };
        for row in [home, r] {
            *at_mut(&mut *self.slack, row) = if self.occupant[row] == NONE { 1.0 } else { 0.0 };
            if self.occupant[row] == self.n {
                self.z0_row = row;
            }
        }
        left
    }

    /// Drops the column of a w that entered; the column for a w that left, if any.
    fn take_column(&mut self, entering: Variable, left: Variable) -> Option<usize> {
        let free = match entering {
            Variable::W(i) => std::mem::replace(&mut self.position[i], NONE),
            _ => NONE,
        };
        match (free, left) {
            (NONE, Variable::W(i)) => {
                self.position[i] = self.rows.len();
                self.rows.push(i);
                Some(self.position[i])
            }
            (NONE, _) => None,
            (p, Variable::W(i)) => {
                self.position[i] = p;
                self.rows[p] = i;
                Some(p)
            }
            (p, _) => {
                let last = self.rows.len() - 1;
                self.rows.swap_remove(p);
                if p < last {
                    self.position[self.rows[p]] = p;
                    self.columns.copy_within(last * self.lanes..(last + 1) * self.lanes, p * self.lanes);
                }
                None
            }
        }
    }

    /// The rows of the kernel in the order of the columns here: i of every nonbasic w_i.
    pub(super) fn kernel_rows(&self) -> &[usize] {
        &self.rows
    }

    /// The columns of the kernel: j of every basic z_j, n for z₀, with its row here.
    pub(super) fn kernel_cols(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let z = self.occupant.iter().enumerate().filter(|(_, j)| **j != NONE);
        z.map(|(r, j)| (*j, r))
    }

    /// `x ← K⁻¹ b`: b by row of the problem, of which those with nonbasic w count; x by index of the basic z, others are left.
    pub(super) fn solve_into(&self, b: &[f64], x: &mut [f64]) {
        let mut answer = [Aligned::default(); MOST_LANES];
        for (column, &i) in self.columns.chunks_exact(self.lanes).zip(&self.rows) {
            for (answer, lane) in answer.iter_mut().zip(column) {
                for k in 0..LANES {
                    answer.0[k] += b[i] * lane.0[k];
                }
            }
        }
        for (j, r) in self.kernel_cols() {
            x[j] = at(&answer, r);
        }
    }

    /// Entries (rows, p) of the columns into `out`.
    pub(super) fn gather_column(&self, p: usize, rows: &[usize], out: &mut [f64]) {
        let column = &self.columns[p * self.lanes..(p + 1) * self.lanes];
        for (x, r) in out.iter_mut().zip(rows) {
            *x = at(column, *r);
        }
    }
}

/// Puts what a pivot leaves in its own row: the entering variable's number goes to row `home`, what stood there to row `r`.
#[inline]
fn settle(column: &mut [Aligned], number: f64, home: usize, r: usize) {
    *at_mut(column, r) = at(column, home);
    *at_mut(column, home) = number;
}

#[inline]
fn at(column: &[Aligned], r: usize) -> f64 {
    column[r / LANES].0[r % LANES]
}

#[inline]
fn at_mut(column: &mut [Aligned], r: usize) -> &mut f64 {
    &mut column[r / LANES].0[r % LANES]
}

/// `y ← y + a x`. Inlined, so that what is used again stays in registers.
#[inline(always)]
fn add<const L: usize>(a: f64, x: &Column<L>, y: &mut Column<L>) {
    for l in 0..L {
        for k in 0..LANES {
            y[l].0[k] += a * x[l].0[k];
        }
    }
}

/// The largest |value| and the largest |rate|.
#[inline]
fn largest<const L: usize>(values: &Column<L>, rates: &Column<L>) -> (f64, f64) {
    let (mut value, mut rate) = ([0.0; LANES], [0.0; LANES]);
    for l in 0..L {
        for k in 0..LANES {
            value[k] = larger(values[l].0[k].abs(), value[k]);
            rate[k] = larger(rates[l].0[k].abs(), rate[k]);
        }
    }
    let (value, rate) = black_box((value, rate));
    (reduce(value, larger), reduce(rate, larger))
}

/// The least `max(value, 0) / −rate` over the rates below −floor; ∞ if there is none.
#[inline]
fn least_ratio<const L: usize>(values: &Column<L>, rates: &Column<L>, floor: f64) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    for l in 0..L {
        for k in 0..LANES {
            let (value, fall) = (values[l].0[k], -rates[l].0[k]);
            // Divided in any case: a choice between two numbers is vectorised, a branch is not.
            let ratio = larger(value, 0.0) / fall;
            let ratio = if fall > floor { ratio } else { f64::INFINITY };
            least[k] = smaller(ratio, least[k]);
        }
    }
    reduce(black_box(least), smaller)
}

/// How many rows with a rate below −floor `step` brings down to `near`, and the last of them.
#[inline]
fn tied_rows<const L: usize>(values: &Column<L>, rates: &Column<L>, floor: f64, step: f64, near: f64) -> (f64, f64) {
    let (mut count, mut last) = ([0.0; LANES], [0.0; LANES]);
    let mut row = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    for l in 0..L {
        for k in 0..LANES {
            let (value, rate) = (values[l].0[k], rates[l].0[k]);
            let left = value + step * rate;
            let left = if -rate > floor { left } else { f64::INFINITY };
            count[k] += if left <= near { 1.0 } else { 0.0 };
            last[k] = if left <= near { row[k] } else { last[k] };
            row[k] += LANES as f64;
        }
    }
    let (count, last) = black_box((count, last));
    (reduce(count, |a, b| a + b), reduce(last, larger))
}
