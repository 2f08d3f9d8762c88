//! The cone on a contact problem: an island with its bilateral rows projected out is a cone problem with `W = R̂ᵀ Ĉ`.
//!
//! With Q an orthonormal basis of the bilateral rows and `x₀` the motion they allow without contact, `x = x₀ + C r`: a force along a row moves x by its
//! projected column. At velocity level, and for contacts that roll at acceleration level, W is symmetric. A contact that slides at acceleration level has its friction
//! tied to its normal force: one row, its column the normal's less μ times that of its slip.

use stiction_lcp::Matrix;
use stiction_lcp::matrix::{axpy, dot, norm};

use super::law::{State, askew, limit_error};
use super::problem::{Block, ConeProblem};
use super::proximal::{SearchEnd, Verdict};
use super::spins::Spins;
use super::{CoulombCone, POLISHED, without_limit};
use crate::by_island::{Guess, IslandEnd, IslandForces};
use crate::find_indices::{DEPENDENT, FindIndices};
use crate::model::{ContactStats, Level, Mode};
use crate::whitened::{Columns, Whitened};

/// What follows where the states and forces of an earlier solution are not those of a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterGuess {
    Search,
    /// A search near them alone.
    SearchNear,
    Stop,
}

/// The answer of a cone problem must be this many times better than the tolerance of the certificate, which measures it again in other coordinates.
pub(super) const MARGIN: f64 = 0.1;

/// Friction within this fraction of its limit is at it.
const AT_LIMIT: f64 = 1e-9;

/// Floating-point operations that the factors of an island's Delassus operator may cost in all: about a second. Moments about the normals and
/// friction without limit solve the problem again and again, within the same budget.
const WORK_LIMIT: f64 = 4e9;

/// What a row of the cone problem belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowOf {
    /// Component 0 to 2 of a contact.
    Contact(usize, usize),
    /// The normal of a contact that slides now, with its friction.
    Slider(usize),
    /// The moment of a contact about its normal.
    Spin(usize),
    Limit(usize),
    Bounded(usize),
}

/// An island's cone problem.
#[derive(Debug, Clone, Default)]
pub(super) struct IslandProblem {
    find: FindIndices,
    /// Motion without contact that satisfies the bilateral rows, m.
    x0: Vec<f64>,
    spins: Spins,
    blocks: Vec<Block>,
    of: Vec<RowOf>,
    /// Columns that forces move x by, and rows that motion is read by, m × k, projected.
    columns: Matrix,
    rows: Matrix,
    w: Matrix,
    q: Vec<f64>,
    r: Vec<f64>,
    near: Vec<f64>,
    states: Vec<State>,
    best: Vec<f64>,
    best_error: f64,
    change: Vec<f64>,
    impulses: Vec<f64>,
    /// Systems factored so far.
    systems: usize,
}

/// How many dense systems of order `k` the work limit allows, at least one.
fn affordable(k: usize) -> usize {
    let factor = 2.0 / 3.0 * (k as f64).powi(3);
    ((WORK_LIMIT / factor.max(1.0)) as usize).max(1)
}

impl CoulombCone {
    /// Reduce, solve, recover; again while the bounds of moments move.
    pub(super) fn solve_island(
        &mut self,
        island: &Whitened,
        guess: Guess<'_>,
        after_guess: AfterGuess,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> IslandEnd {
        let mut own = std::mem::take(&mut self.island);
        own.spins.reset(island, self.level, guess.forces);
        own.hold(island);
        own.systems = 0;
        stats.inconsistency = stats.inconsistency.max(own.find.inconsistency());
        let end = loop {
            own.reduce(island, self.level);
            let w = &own.w;
            self.problem.load(own.blocks.iter().copied(), &own.q, |j| w.col(j).iter().copied().enumerate());
            self.newton.reset(&self.problem);
            let last = (own.spins.rounds() > 0).then_some(&*forces);
            let guessed = own.guess(last.or(guess.forces), guess.modes, &self.problem);
            let end = self.search_island(&mut own, guessed, after_guess, stats);
            forces.reset(island);
            own.recover(island, forces);
            if end == SearchEnd::Limit || !own.spins.follow(island, forces) {
                break end;
            }
        };
        let k = own.q.len();
        self.island = own;
        // The best impulses may still pass the certificate, which measures them beside the speeds of their bodies.
        match end {
            SearchEnd::Limit if k > 0 => {
                let limit = self.max_iterations().min(affordable(k));
                IslandEnd::Failed { why: format!("limit of {limit} systems of order {k} reached") }
            }
            _ => IslandEnd::Solved,
        }
    }

    fn search_island(
        &mut self,
        own: &mut IslandProblem,
        guessed: bool,
        after_guess: AfterGuess,
        stats: &mut ContactStats,
    ) -> SearchEnd {
        let (order, systems) = (own.q.len(), own.systems);
        let limit = self.max_iterations().min(affordable(order)).saturating_sub(systems);
        let enough = MARGIN * self.options.tolerance;
        // Later rounds start from this solve's own forces, which is no guess.
        let first = own.spins.rounds() == 0;
        own.best_error = f64::INFINITY;
        own.best.clear();
        own.best.resize(own.q.len(), 0.0);
        let (near, states) = (std::mem::take(&mut own.near), std::mem::take(&mut own.states));
        let mut judge = |scaled: &ConeProblem, r: &[f64], _: &[State]| match own.offer(scaled, r) {
            error if error <= POLISHED => Verdict::Stop,
            error if error <= enough => Verdict::Enough,
            _ => Verdict::GoOn,
        };
        let mut end = None;
        self.newton.iterations = 0;
        if guessed
            && self.search.guess(&self.problem, &mut self.newton, &states, Some(&near), &mut judge) != Verdict::GoOn
        {
            stats.guessed += usize::from(first);
            end = Some(SearchEnd::Ended);
        }
        if end.is_none() && after_guess == AfterGuess::SearchNear {
            let near = self.search.run_near(&self.problem, &mut self.newton, limit, &mut judge);
            end = (near == Verdict::Stop).then_some(SearchEnd::Ended);
        }
        let end = end.or((after_guess != AfterGuess::Search).then_some(SearchEnd::Exhausted));
        let end = end.unwrap_or_else(|| {
            self.newton.iterations = 0;
            let mut starts = 0;
            let end = self.search.run(&self.problem, &mut self.newton, guessed, limit, &mut starts, &mut judge);
            stats.pivots += self.newton.iterations;
            let Self { problem, newton, search, .. } = self;
            let left = affordable(order).saturating_sub(systems + newton.iterations);
            let limits = (limit, left);
            let ended = end == SearchEnd::Ended || without_limit::search(problem, newton, search, limits, &mut judge);
            if ended { SearchEnd::Ended } else { end }
        });
        own.systems += self.newton.iterations;
        (own.near, own.states) = (near, states);
        end
    }
}

impl IslandProblem {
    /// From rows to blocks, W and q.
    fn reduce(&mut self, island: &Whitened, level: Level) {
        self.lay_out(island, level);
        let (m, k) = (island.m(), self.of.len());
        self.columns.reset(m, k);
        self.rows.reset(m, k);
        self.q.clear();
        for j in 0..k {
            let (g, bias) = row(island, self.of[j]);
            self.q.push(dot(g, &self.x0) + bias);
            self.rows.col_mut(j).copy_from_slice(g);
            self.find.project_out(self.rows.col_mut(j));
            // A row that the held ones fix moves no more; what is left of it is rounding.
            if norm(self.rows.col(j)) <= DEPENDENT * norm(g) {
                self.rows.col_mut(j).fill(0.0);
            }
            self.columns.col_mut(j).copy_from_slice(self.rows.col(j));
            if let RowOf::Slider(i) = self.of[j] {
                let direction = slip_direction(island, i);
                for (tangent, d) in [(&island.tangent_s, direction[0]), (&island.tangent_t, direction[1])] {
                    axpy(-island.mu[i] * d, tangent.g.col(i), self.columns.col_mut(j));
                }
                self.find.project_out(self.columns.col_mut(j));
            }
        }
        self.w.reset(k, k);
        for j in 0..k {
            stiction_lcp::interrupt::check();
            for i in 0..k {
                self.w[(i, j)] = dot(self.rows.col(i), self.columns.col(j));
            }
        }
    }

    /// Projects the bilateral rows out, and the bounded rows without bounds.
    fn hold(&mut self, island: &Whitened) {
        self.find.reset(island.m(), island.bilateral.len() + island.bounded.len());
        for i in 0..island.bilateral.len() {
            self.find.add(island.bilateral.g.col(i), island.bilateral.bias[i]);
        }
        for i in (0..island.bounded.len()).filter(|&i| is_bilateral(island, i)) {
            self.find.add(island.bounded.g.col(i), island.bounded.bias[i]);
        }
        self.find.satisfy();
        self.x0.clear();
        self.x0.extend_from_slice(&island.x_free);
        self.find.project_out(&mut self.x0);
        axpy(1.0, self.find.x_rows(), &mut self.x0);
    }

    /// The blocks, contacts first, and what each row belongs to.
    fn lay_out(&mut self, island: &Whitened, level: Level) {
        self.blocks.clear();
        self.of.clear();
        for i in 0..island.contacts() {
            let touching = island.touching[i];
            if !touching && level == Level::Acceleration || self.is_repeated(island, i) {
                continue;
            }
            let sliding = level == Level::Acceleration && island.slip[i][..2] != [0.0; 2];
            let tangents = [&island.tangent_s, &island.tangent_t].map(|t| norm(t.g.col(i)) > 0.0);
            if touching && sliding && island.mu[i] > 0.0 {
                self.blocks.push(Block::Signorini);
                self.of.push(RowOf::Slider(i));
            } else if !touching || island.mu[i] == 0.0 || tangents == [false; 2] {
                self.blocks.push(Block::Signorini);
                self.of.push(RowOf::Contact(i, 0));
            } else {
                let dim = 1 + tangents.iter().filter(|t| **t).count();
                self.blocks.push(Block::Coulomb { dim, mu: island.mu[i] });
                self.of.push(RowOf::Contact(i, 0));
                self.of.extend((0..2).filter(|&k| tangents[k]).map(|k| RowOf::Contact(i, k + 1)));
            }
            if let Some(most) = self.spins.most(i) {
                self.blocks.push(Block::Bounded { lo: -most, hi: most });
                self.of.push(RowOf::Spin(i));
            }
        }
        for i in (0..island.limit.len()).filter(|&i| level == Level::Velocity || island.reached[i]) {
            self.blocks.push(Block::Signorini);
            self.of.push(RowOf::Limit(i));
        }
        for i in (0..island.bounded.len()).filter(|&i| !is_bilateral(island, i)) {
            self.blocks.push(Block::Bounded { lo: island.lo[i], hi: island.hi[i] });
            self.of.push(RowOf::Bounded(i));
        }
    }

    /// True if an earlier contact is the same and has at least as much friction: its force obeys the law of both, and this one needs none.
    fn is_repeated(&self, island: &Whitened, i: usize) -> bool {
        let twin = island.twin[i];
        let same = |columns: &Columns| columns.bias[i] == columns.bias[twin];
        twin < i
            && [&island.normal, &island.tangent_s, &island.tangent_t].into_iter().all(same)
            && island.touching[i] == island.touching[twin]
            && island.slip[i] == island.slip[twin]
            && island.mu[i] <= island.mu[twin]
            && self.spins.most(i).is_none()
    }

    /// Takes the impulses and modes of an earlier solution over, if there is one.
    fn guess(&mut self, earlier: Option<&IslandForces>, modes: &[Mode], scaled: &ConeProblem) -> bool {
        self.near.clear();
        self.states.clear();
        let Some(earlier) = earlier else { return false };
        let force = |of: RowOf| match of {
            RowOf::Contact(i, k) => [&earlier.normal, &earlier.tangent_s, &earlier.tangent_t][k][i],
            RowOf::Slider(i) => earlier.normal[i],
            RowOf::Spin(i) => earlier.spin[i],
            RowOf::Limit(i) => earlier.limit[i],
            RowOf::Bounded(i) => earlier.bounded[i],
        };
        let mut at = 0;
        for block in &self.blocks {
            let p = force(self.of[at]);
            self.states.push(match (*block, self.of[at]) {
                (Block::Bounded { lo, .. }, _) if p <= lo => State::Lower,
                (Block::Bounded { hi, .. }, _) if p >= hi => State::Upper,
                // Without limit friction does not say whether a contact slides.
                (Block::Coulomb { mu, .. }, RowOf::Contact(i, _))
                    if mu.is_infinite() && modes.get(i) == Some(&Mode::Slide) =>
                {
                    State::Slide
                }
                (Block::Coulomb { .. } | Block::Signorini, _) if p <= 0.0 => State::Open,
                (Block::Coulomb { mu, .. }, RowOf::Contact(i, _)) if on_cone(earlier, i, mu) => State::Slide,
                _ => State::Stick,
            });
            at += block.size();
        }
        let forces: Vec<f64> = self.of.iter().map(|&of| force(of)).collect();
        self.near.resize(forces.len(), 0.0);
        scaled.scale_into(&forces, &mut self.near);
        true
    }

    /// Measures impulses of the scaled problem, and keeps them if they are the best so far: the natural map of each block beside its own terms.
    fn offer(&mut self, scaled: &ConeProblem, r: &[f64]) -> f64 {
        self.r.clear();
        self.r.resize(r.len(), 0.0);
        scaled.unscale_into(r, &mut self.r);
        let (mut error, mut at) = (0.0f64, 0);
        for block in &self.blocks {
            let rows = at..at + block.size();
            at = rows.end;
            let motion = |i: usize| {
                let column = |j: usize| self.w[(i, j)] * self.r[j];
                let (sum, size) =
                    (0..r.len()).map(column).fold((0.0, 0.0), |(s, a): (f64, f64), x| (s + x, a + x.abs()));
                (sum + self.q[i], size + self.q[i].abs(), self.w[(i, i)])
            };
            error = error.max(block_error(*block, &self.r[rows.clone()], rows.map(motion)));
        }
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if error < self.best_error {
            self.best_error = error;
            self.best.clone_from(&self.r);
        }
        error
    }

    /// Forces and motion of the best impulses.
    fn recover(&mut self, island: &Whitened, forces: &mut IslandForces) {
        forces.x.copy_from_slice(&self.x0);
        for (j, &p) in self.best.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            axpy(p, self.columns.col(j), &mut forces.x);
            match self.of[j] {
                RowOf::Contact(i, 0) => forces.normal[i] = p,
                RowOf::Contact(i, 1) => forces.tangent_s[i] = p,
                RowOf::Contact(i, _) => forces.tangent_t[i] = p,
                RowOf::Slider(i) => {
                    let direction = slip_direction(island, i);
                    forces.normal[i] = p;
                    forces.tangent_s[i] = -island.mu[i] * p * direction[0];
                    forces.tangent_t[i] = -island.mu[i] * p * direction[1];
                }
                RowOf::Spin(i) => forces.spin[i] = p,
                RowOf::Limit(i) => forces.limit[i] = p,
                RowOf::Bounded(i) => forces.bounded[i] = p,
            }
        }
        self.recover_held(island, forces);
    }

    /// Forces of the held rows: what the others leave of the change of x.
    fn recover_held(&mut self, island: &Whitened, forces: &mut IslandForces) {
        self.change.clear();
        self.change.extend(forces.x.iter().zip(&island.x_free).map(|(x, free)| x - free));
        let kinds = [
            (&island.normal, &forces.normal),
            (&island.tangent_s, &forces.tangent_s),
            (&island.tangent_t, &forces.tangent_t),
            (&island.spin, &forces.spin),
            (&island.limit, &forces.limit),
            (&island.bounded, &forces.bounded),
        ];
        for (columns, p) in kinds {
            for (i, &p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
                axpy(-p, columns.g.col(i), &mut self.change);
            }
        }
        self.find.impulses(&self.change, &mut self.impulses);
        let bilateral = island.bilateral.len();
        let unbounded: Vec<usize> = (0..island.bounded.len()).filter(|&i| is_bilateral(island, i)).collect();
        for (&row, &p) in self.find.kept().iter().zip(&self.impulses) {
            if row < bilateral {
                forces.bilateral[row] = p;
            } else {
                forces.bounded[unbounded[row - bilateral]] = p;
            }
        }
    }
}

/// The row of `of` in whitened coordinates, and its bias.
fn row(island: &Whitened, of: RowOf) -> (&[f64], f64) {
    let (columns, i) = match of {
        RowOf::Contact(i, 0) | RowOf::Slider(i) => (&island.normal, i),
        RowOf::Contact(i, 1) => (&island.tangent_s, i),
        RowOf::Contact(i, _) => (&island.tangent_t, i),
        RowOf::Spin(i) => (&island.spin, i),
        RowOf::Limit(i) => (&island.limit, i),
        RowOf::Bounded(i) => (&island.bounded, i),
    };
    (columns.g.col(i), columns.bias[i])
}

fn slip_direction(island: &Whitened, i: usize) -> [f64; 2] {
    let [s, t, _] = island.slip[i];
    let length = libm::hypot(s, t);
    [s / length, t / length]
}

/// True if the friction of contact `i` is at its limit: it slides, or is about to.
fn on_cone(forces: &IslandForces, i: usize, mu: f64) -> bool {
    libm::hypot(forces.tangent_s[i], forces.tangent_t[i]) >= (1.0 - AT_LIMIT) * mu * forces.normal[i]
}

fn is_bilateral(island: &Whitened, i: usize) -> bool {
    island.lo[i] == f64::NEG_INFINITY && island.hi[i] == f64::INFINITY
}

/// The natural map of one block beside its terms; `motion` gives (u, ω, W) of each of its rows.
fn block_error(block: Block, r: &[f64], motion: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let mut rows = [(0.0, 0.0, 0.0); 3];
    motion.zip(&mut rows).for_each(|(from, to)| *to = from);
    let ratio = |value: f64, size: f64| if value == 0.0 { 0.0 } else { value.abs() / size };
    let clamped = |lo: f64, hi: f64| {
        let (u, omega, w) = rows[0];
        if w > 0.0 { ratio((r[0] - (r[0] - u / w).clamp(lo, hi)) * w, omega) } else { ratio((-u).max(0.0), omega) }
    };
    match block {
        Block::Signorini => clamped(0.0, f64::INFINITY),
        Block::Bounded { lo, hi } => clamped(lo, hi),
        Block::Free => ratio(rows[0].0, rows[0].1),
        Block::NoSlip { .. } => {
            clamped(0.0, f64::INFINITY).max(ratio(libm::hypot(rows[1].0, rows[2].0), libm::hypot(rows[1].1, rows[2].1)))
        }
        Block::Coulomb { mu, dim } => {
            let normal = clamped(0.0, f64::INFINITY);
            let (u, w) = ([rows[1].0, rows[2].0], rows[1].2.max(rows[2].2));
            let (omega, p) = (libm::hypot(rows[1].1, rows[2].1), [r[1], if dim == 3 { r[2] } else { 0.0 }]);
            if mu.is_infinite() {
                let (pressed, parting) = ((rows[0].2 * r[0]).max(0.0), rows[0].0.max(0.0));
                let [pressed, parting] = [pressed, parting].map(|x| ratio(x, rows[0].1));
                let [force, slip] = [libm::hypot(p[0], p[1]) * w, libm::hypot(u[0], u[1])].map(|x| ratio(x, omega));
                return normal.max(limit_error(pressed, parting, force, slip, ratio(askew(p, u), omega)));
            }
            let (y, radius) = ([p[0] - u[0] / w, p[1] - u[1] / w], mu * r[0].max(0.0));
            let length = libm::hypot(y[0], y[1]);
            let scale = if length > radius { radius / length } else { 1.0 };
            normal.max(ratio(libm::hypot(p[0] - scale * y[0], p[1] - scale * y[1]) * w, omega))
        }
    }
}
