//! Problems given by their Delassus operator: `u = W p + q`, and no bodies.
//!
//! The motions of a contact are velocities of their own, those of one block, and its rows are those of the identity. Momentum is then `q − u + W p`: as for bodies with the inertia 1, the velocities q
//! before the step and W in the place of Aᵀ. Newton's matrix is `1 + W C` instead of `M + Aᵀ C A`, as sparse as W; everything else is the same.

use super::super::law::{Block, State};
use super::PASSES;
use super::elements::Elements;
use super::newton::Newton;
use super::search::{Guess, Search};
use super::sparse::BlockMatrix;
use super::tolerances::Tolerances;
use crate::friction_problem::FrictionProblem;
use stiction_linalg::power::{exponent, times_power};

/// Most multiplications and additions for a problem, ten times as many as for an island of bodies: such problems come one at a time, and not step after step.
const MOST_WORK: f64 = 10.0 * super::MOST_WORK;

/// A slip speed beside the terms of its contact's motion that is one: where friction is just enough, less is left over by the search.
const SLIP: f64 = 1e-8;

/// The rows and columns of W that belong to two elements: `[row][column]`.
type Coupling = [[f64; 3]; 3];

/// The operator by columns of elements.
#[derive(Debug, Clone, Default)]
pub(super) struct Delassus {
    /// Where the couplings of each element start, elements + 1; empty if there is no operator.
    starts: Vec<usize>,
    /// The element that is moved, where its velocities start, and how the forces of the element whose column this is move it.
    couplings: Vec<(usize, usize, Coupling)>,
}

impl Delassus {
    /// Makes it none.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.couplings.clear();
    }

    /// True if the problem has no bodies, but this.
    pub(super) fn is_some(&self) -> bool {
        !self.starts.is_empty()
    }

    /// What the forces of element `e` move, and how.
    pub(super) fn column(&self, e: usize) -> &[(usize, usize, Coupling)] {
        &self.couplings[self.starts[e]..self.starts[e + 1]]
    }

    /// The part of the operator that belongs to element `e` alone.
    pub(super) fn own(&self, e: usize) -> Coupling {
        self.column(e).iter().find(|(to, ..)| *to == e).map_or([[0.0; 3]; 3], |(_, _, own)| *own)
    }

    /// `v ← v + W p` for the forces of element `e`, the others being zero.
    pub(super) fn push(&self, e: usize, p: [f64; 3], list: &[super::elements::Element], v: &mut [f64]) {
        for (to, at, w) in self.column(e) {
            for r in 0..list[*to].rows {
                v[at + r] += w[r][0] * p[0] + w[r][1] * p[1] + w[r][2] * p[2];
            }
        }
    }
}

/// W and q made dimensionless by powers of two, which is exact: with a factor d for each contact and one σ for all,
/// `r = σ d r̂`, `u = σ û / d`, `Ŵ = d W d`, `q̂ = d q / σ`. A cone keeps its shape under a factor for the whole of it. The mean diagonal of each contact's block
/// of Ŵ is about 1, and so is the largest |q̂|: every tolerance of the search is relative to these.
#[derive(Debug, Clone, Default)]
struct Scales {
    /// log₂ d of each contact.
    factors: Vec<i32>,
    /// log₂ σ.
    sigma: i32,
}

impl Scales {
    /// d = 2^k nearest to 1 / √(mean diagonal of the contact's block), or of its largest entry where the diagonal is not positive.
    fn choose(&mut self, problem: &FrictionProblem) {
        let (dim, w, q) = (problem.dim(), problem.w(), problem.q());
        self.factors.clear();
        for b in 0..problem.contacts() {
            let (mut trace, mut largest) = (0.0, 0.0f64);
            for j in dim * b..dim * (b + 1) {
                for (i, x) in w.col(j) {
                    if i == j {
                        trace += x;
                    }
                    largest = largest.max(x.abs());
                }
            }
            let size = if trace > 0.0 { trace / dim as f64 } else { largest };
            self.factors.push(if size > 0.0 { -(exponent(size).div_euclid(2)) } else { 0 });
        }
        let scaled = |(i, q): (usize, &f64)| times_power(*q, self.factors[i / dim]).abs();
        self.sigma = exponent(q.iter().enumerate().map(scaled).fold(0.0, f64::max));
    }
}

impl Elements {
    /// Takes over those contacts of a problem that `members` lists, and which W couples with no others; `place` gives the number of each contact in that list.
    fn load_delassus(
        &mut self,
        problem: &FrictionProblem,
        scales: &Scales,
        members: &[usize],
        place: &[usize],
        matrix: &mut BlockMatrix,
    ) {
        self.begin_without_bodies();
        let (dim, factors) = (problem.dim(), &scales.factors);
        let rows = |b: usize| if problem.mu()[b] == 0.0 { 1 } else { dim };
        let mut starts = vec![0];
        members.iter().for_each(|&b| starts.push(starts[starts.len() - 1] + rows(b)));
        let mut operator = std::mem::take(&mut self.delassus);
        operator.clear();
        operator.starts.push(0);
        let mut slots = vec![usize::MAX; members.len()];
        for (e, &b) in members.iter().enumerate() {
            let first = operator.couplings.len();
            for c in 0..rows(b) {
                for (i, x) in problem.w().col(dim * b + c).filter(|(_, x)| *x != 0.0) {
                    let (of, r) = (i / dim, i % dim);
                    let to = place[of];
                    if r >= rows(of) {
                        continue;
                    }
                    if slots[to] < first || slots[to] == usize::MAX {
                        slots[to] = operator.couplings.len();
                        operator.couplings.push((to, starts[to], [[0.0; 3]; 3]));
                    }
                    operator.couplings[slots[to]].2[r][c] = times_power(x, factors[of] + factors[b]);
                }
            }
            operator.starts.push(operator.couplings.len());
            self.ties.extend(operator.couplings[first..].iter().filter(|(to, ..)| *to != e).map(|(to, ..)| [e, *to]));
        }
        for (e, &b) in members.iter().enumerate() {
            let (mu, rows) = (problem.mu()[b], rows(b));
            let law = if rows == 1 { Block::Signorini } else { Block::Coulomb { dim, mu } };
            let (own, mut q, mut diagonal) = (operator.own(e), [0.0; 3], [0.0; 3]);
            for r in 0..rows {
                q[r] = times_power(problem.q()[dim * b + r], factors[b] - scales.sigma);
                diagonal[r] = own[r][r];
            }
            self.push_block(law, e, &q[..rows], &diagonal[..rows]);
        }
        self.delassus = operator;
        self.end_without_bodies(matrix);
    }

    /// In a problem without bodies, the speed in the norm of energy of an element and of those it is coupled with: its forces may have to undo all of these. Else 0.
    pub(super) fn speed_around(&self, e: usize) -> f64 {
        if !self.delassus.is_some() {
            return 0.0;
        }
        self.delassus.column(e).iter().map(|(to, ..)| self.energy(*to)).sum::<f64>().sqrt()
    }
}

impl Newton {
    /// `momentum ← momentum + W p`, for forces `p` of all elements.
    pub(super) fn push_delassus(el: &Elements, p: &[[f64; 3]], momentum: &mut [f64]) {
        for (e, p) in p.iter().enumerate().filter(|(_, p)| **p != [0.0; 3]) {
            el.delassus.push(e, *p, &el.list, momentum);
        }
    }

    /// Adds the sizes of the terms of `W p`.
    pub(super) fn add_delassus_sizes(&mut self, el: &Elements) {
        for (e, p) in self.p.iter().enumerate() {
            for (to, at, w) in el.delassus.column(e) {
                for r in 0..el.list[*to].rows {
                    self.speed[at + r] += (0..3).map(|c| (w[r][c] * p[c]).abs()).sum::<f64>();
                }
            }
        }
    }

    /// Adds `W C`.
    pub(super) fn add_delassus(&mut self, el: &Elements) {
        for e in 0..el.list.len() {
            stiction_lcp::interrupt::check();
            let map = &self.maps[e];
            if !map.acts {
                continue;
            }
            let (own, columns) = (el.branches[e].place, el.list[e].rows);
            for (to, _, w) in el.delassus.column(e) {
                let mut g = [0.0; 9];
                let rows = el.list[*to].rows;
                for r in 0..rows {
                    for c in 0..columns {
                        g[3 * r + c] = w[r][0] * map.c[0][c] + w[r][1] * map.c[1][c] + w[r][2] * map.c[2][c];
                    }
                }
                self.matrix.add(el.branches[*to].place, own, rows, columns, &g, 3);
            }
        }
    }
}

/// Solves friction problems. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct DelassusSpace {
    scales: Scales,
    elements: Elements,
    newton: Newton,
    search: Search,
    /// The contacts that are being solved for, and the number of each contact among them.
    members: Vec<usize>,
    place: Vec<usize>,
    /// Multiplications and additions that are left of the budget.
    work_left: f64,
    /// A search of the last solve ended at its limit.
    pub(in super::super) limit_reached: bool,
    /// Linear systems factored by the last solve, but for those of states that were given and right.
    pub iterations: usize,
    /// The impulses found, and the state of each contact.
    pub r: Vec<f64>,
    pub states: Vec<State>,
}

impl DelassusSpace {
    /// With these tolerances of the search.
    pub(crate) fn new(tolerances: Tolerances) -> Self {
        let mut space = Self::default();
        space.newton.tolerances = tolerances;
        space
    }

    /// Begins a new problem: all solves that follow share its budget.
    pub(crate) fn begin(&mut self, problem: &FrictionProblem) {
        self.work_left = MOST_WORK;
        self.scales.choose(problem);
    }

    /// Solves every set of contacts that W couples, to an error of `enough`, with at most `limit` factors each, from given `states` and impulses `near`, if there are any.
    pub(crate) fn solve(
        &mut self,
        problem: &FrictionProblem,
        states: Option<&[State]>,
        near: Option<&[f64]>,
        enough: f64,
        limit: usize,
    ) {
        (self.iterations, self.limit_reached) = (0, false);
        self.r.clear();
        self.r.resize(problem.q().len(), 0.0);
        self.states.clear();
        self.states.resize(problem.contacts(), State::Open);
        self.place.resize(problem.contacts(), 0);
        for members in problem.w().components(problem.dim()) {
            stiction_lcp::interrupt::check();
            members.iter().enumerate().for_each(|(e, &b)| self.place[b] = e);
            self.members = members;
            self.solve_component(problem, states, near, enough, limit);
        }
    }

    fn solve_component(
        &mut self,
        problem: &FrictionProblem,
        states: Option<&[State]>,
        near: Option<&[f64]>,
        enough: f64,
        limit: usize,
    ) {
        let Self { scales, elements: el, newton, search, members, place, .. } = self;
        el.load_delassus(problem, scales, members, place, &mut newton.matrix);
        if el.list.iter().all(|element| element.weight <= 0.0) {
            // Impulses move nothing here; without any is as good as it gets.
            return;
        }
        newton.reset(el);
        search.reset();
        let work = newton.matrix.flops(false) + PASSES * 9.0 * el.delassus.couplings.len() as f64;
        if work > MOST_WORK {
            // Where everything touches everything a single factor takes minutes and gigabytes.
            return;
        }
        let limit = limit.min((self.work_left / work.max(1.0)) as usize);
        let scale = |b: usize| scales.factors[b] + scales.sigma;
        if let Some(states) = states {
            for (e, &b) in members.iter().enumerate() {
                newton.states[e] = states[b];
                if let Some(near) = near {
                    let rows = &near[problem.dim() * b..][..el.list[e].rows];
                    newton.p[e].iter_mut().zip(rows).for_each(|(p, r)| *p = times_power(*r, -scale(b)));
                }
            }
            newton.follow_delassus(el);
        } else {
            for (state, element) in newton.states.iter_mut().zip(&el.list) {
                *state = if newton.v[el.blocks[element.group].1] > 0.0 { State::Open } else { State::Stick };
            }
        }
        let guess = if near.is_some() { Guess::Forces } else { Guess::States };
        if near.is_some() {
            // They may be a solution as they are.
            newton.find_motions(el, true);
            search.offer(el, newton);
        }
        search.try_given_states(el, newton, enough);
        if !search.take_best(newton, enough) {
            search.run(el, newton, None, guess, enough, limit);
            self.iterations += newton.iterations;
            self.limit_reached |= newton.iterations >= limit;
        }
        self.work_left = (self.work_left - newton.iterations as f64 * work).max(0.0);
        newton.find_motions(el, false);
        newton.error(el);
        for (e, &b) in members.iter().enumerate() {
            let rows = &mut self.r[problem.dim() * b..][..el.list[e].rows];
            rows.iter_mut().zip(&newton.p[e]).for_each(|(r, p)| *r = times_power(*p, scale(b)));
            self.states[b] = state_of(el, newton, e);
        }
    }
}

/// What an element does: a slip that may be left over by the search is none.
fn state_of(el: &Elements, newton: &Newton, e: usize) -> State {
    let (p, u) = (newton.p[e], newton.motion(e));
    let slips = || {
        let size = newton.speed[el.blocks[e].1..].iter().take(el.list[e].rows).fold(0.0, |max: f64, x| max.max(*x));
        u[1].abs().max(u[2].abs()) > SLIP * size
    };
    match el.list[e].law {
        Block::Coulomb { mu, .. } if mu.is_infinite() && p[0] <= 0.0 && (p[1], p[2]) != (0.0, 0.0) => State::Slide,
        _ if p[0] <= 0.0 => State::Open,
        Block::Coulomb { mu, .. } if newton.is_at_limit(p, mu) && slips() => State::Slide,
        _ => State::Stick,
    }
}
