//! Problems given by their Delassus operator: `u = W p + q`, and no bodies.
//!
//! The motions of a contact are velocities of their own, those of one block, and its rows are those of the identity. Momentum is then `q − u + W p`: as for bodies with the inertia 1, the velocities q
//! before the step and W in the place of Aᵀ. Newton's matrix is `1 + W C` instead of `M + Aᵀ C A`, as sparse as W; everything else is the same.

use super::super::law::State;
use super::super::problem::{Block, ConeProblem};
use super::PASSES;
use super::elements::Elements;
use super::newton::Newton;
use super::search::{Found, Guess, Search};
use super::sparse::BlockMatrix;
use super::tolerances::Tolerances;

/// Most multiplications for a problem, ten times as many as for an island of bodies: such problems come one at a time, and not step after step.
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
    pub fn clear(&mut self) {
        self.starts.clear();
        self.couplings.clear();
    }

    /// True if the problem has no bodies, but this.
    pub fn is_some(&self) -> bool {
        !self.starts.is_empty()
    }

    /// What the forces of element `e` move, and how.
    pub fn column(&self, e: usize) -> &[(usize, usize, Coupling)] {
        &self.couplings[self.starts[e]..self.starts[e + 1]]
    }

    /// The part of the operator that belongs to element `e` alone.
    pub fn own(&self, e: usize) -> Coupling {
        self.column(e).iter().find(|(to, ..)| *to == e).map_or([[0.0; 3]; 3], |(_, _, own)| *own)
    }

    /// `v ← v + W p` for the forces of element `e`, the others being zero.
    pub fn push(&self, e: usize, p: [f64; 3], list: &[super::elements::Element], v: &mut [f64]) {
        for (to, at, w) in self.column(e) {
            for r in 0..list[*to].rows {
                v[at + r] += w[r][0] * p[0] + w[r][1] * p[1] + w[r][2] * p[2];
            }
        }
    }
}

impl Elements {
    /// Takes over those blocks of a problem that `members` lists, and which W couples with no others; `place` gives the number of each block in that list.
    pub fn load_delassus(
        &mut self,
        problem: &ConeProblem,
        members: &[usize],
        place: &[usize],
        matrix: &mut BlockMatrix,
    ) {
        self.begin_without_bodies();
        for (e, &b) in members.iter().enumerate() {
            let (law, rows) = match problem.blocks[b] {
                Block::Coulomb { mu: 0.0, .. } => (Block::Signorini, 1),
                law => (law, law.size()),
            };
            let start = problem.starts[b];
            self.push_block(law, e, &problem.q[start..start + rows], &problem.diagonal[start..start + rows]);
        }
        let mut operator = std::mem::take(&mut self.delassus);
        operator.clear();
        operator.starts.push(0);
        let mut slots = vec![usize::MAX; members.len()];
        for (e, &b) in members.iter().enumerate() {
            let first = operator.couplings.len();
            for c in 0..self.list[e].rows {
                problem.w.visit(problem.starts[b] + c, &problem.starts, |to, entries| {
                    if entries.iter().all(|x| *x == 0.0) {
                        return;
                    }
                    let to = place[to];
                    if slots[to] < first || slots[to] == usize::MAX {
                        slots[to] = operator.couplings.len();
                        operator.couplings.push((to, self.blocks[to].1, [[0.0; 3]; 3]));
                    }
                    let w = &mut operator.couplings[slots[to]].2;
                    entries.iter().take(self.list[to].rows).enumerate().for_each(|(r, x)| w[r][c] = *x);
                });
            }
            operator.starts.push(operator.couplings.len());
            self.ties.extend(operator.couplings[first..].iter().filter(|(to, ..)| *to != e).map(|(to, ..)| [e, *to]));
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

/// States to start from, with impulses (scaled) if there are any.
type Start<'a> = Option<(&'a [State], Option<&'a [f64]>)>;

/// Solves friction problems. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct DelassusSpace {
    elements: Elements,
    newton: Newton,
    search: Search,
    /// The blocks that are being solved for, and the number of each block among them.
    members: Vec<usize>,
    place: Vec<usize>,
    /// Multiplications that are left of the budget.
    work_left: f64,
    /// Linear systems factored by the last solve.
    pub iterations: usize,
    /// The impulses found, scaled, and the state of each block.
    pub r: Vec<f64>,
    pub states: Vec<State>,
}

impl DelassusSpace {
    /// With these tolerances of the search.
    pub fn new(tolerances: Tolerances) -> Self {
        let mut space = Self::default();
        space.newton.tolerances = tolerances;
        space
    }

    /// Begins a new problem: all solves that follow share its budget.
    pub fn begin(&mut self) {
        self.work_left = MOST_WORK;
    }

    /// Solves every set of blocks that W couples, to an error of `enough`, with at most `limit` factors each, from impulses `near` (scaled) with their `states`, if there are any. True if all were solved.
    pub fn solve(&mut self, problem: &ConeProblem, start: Start<'_>, enough: f64, limit: usize) -> bool {
        self.iterations = 0;
        self.r.clear();
        self.r.resize(problem.n(), 0.0);
        self.states.clear();
        self.states.resize(problem.blocks.len(), State::Open);
        let mut all = true;
        for members in components(problem) {
            stiction_lcp::interrupt::check();
            self.place.resize(problem.blocks.len(), 0);
            members.iter().enumerate().for_each(|(e, &b)| self.place[b] = e);
            self.members = members;
            all &= self.solve_component(problem, start, enough, limit);
        }
        all
    }

    fn solve_component(&mut self, problem: &ConeProblem, start: Start<'_>, enough: f64, limit: usize) -> bool {
        let Self { elements: el, newton, search, members, place, .. } = self;
        el.load_delassus(problem, members, place, &mut newton.matrix);
        if el.list.iter().all(|element| element.weight <= 0.0) {
            // Impulses move nothing here; without any is as good as it gets.
            return true;
        }
        newton.reset(el);
        search.reset();
        let work = newton.matrix.flops(false) + PASSES * 9.0 * el.delassus.couplings.len() as f64;
        if work > MOST_WORK {
            // Where everything touches everything a single factor takes minutes and gigabytes.
            return false;
        }
        let limit = limit.min((self.work_left / work.max(1.0)) as usize);
        let mut guess = Guess::States;
        if let Some((states, near)) = start {
            for (e, &b) in members.iter().enumerate() {
                newton.states[e] = states[b];
                if let Some(near) = near {
                    let rows = el.list[e].rows;
                    newton.p[e][..rows].copy_from_slice(&near[problem.starts[b]..][..rows]);
                    guess = Guess::Forces;
                }
            }
            newton.follow_delassus(el);
        } else {
            for (state, element) in newton.states.iter_mut().zip(&el.list) {
                *state = if newton.v[el.blocks[element.group].1] > 0.0 { State::Open } else { State::Stick };
            }
        }
        let guessed = search.try_given_states(el, newton, enough);
        let found = guessed || search.run(el, newton, None, guess, enough, limit) != Found::Nothing;
        self.iterations += newton.iterations;
        self.work_left = (self.work_left - newton.iterations as f64 * work).max(0.0);
        newton.find_motions(el, false);
        newton.error(el);
        for (e, &b) in members.iter().enumerate() {
            let rows = el.list[e].rows;
            self.r[problem.starts[b]..][..rows].copy_from_slice(&newton.p[e][..rows]);
            self.states[b] = state_of(el, newton, e);
        }
        found
    }
}

/// The sets of blocks that W couples, blocks ascending.
fn components(problem: &ConeProblem) -> Vec<Vec<usize>> {
    let count = problem.blocks.len();
    // W may have an entry without its mirror image.
    let mut ties = vec![vec![]; count];
    for j in 0..problem.n() {
        let own = problem.block_of[j];
        problem.w.visit(j, &problem.starts, |to, entries| {
            if to != own && entries.iter().any(|x| *x != 0.0) {
                ties[own].push(to);
                ties[to].push(own);
            }
        });
    }
    let (mut met, mut all) = (vec![false; count], vec![]);
    for first in 0..count {
        if met[first] {
            continue;
        }
        met[first] = true;
        let (mut members, mut next) = (vec![first], 0);
        while let Some(&b) = members.get(next) {
            next += 1;
            for &to in &ties[b] {
                if !std::mem::replace(&mut met[to], true) {
                    members.push(to);
                }
            }
        }
        members.sort_unstable();
        all.push(members);
    }
    all
}

/// What an element does: a slip that may be left over by the search is none.
fn state_of(el: &Elements, newton: &Newton, e: usize) -> State {
    let (p, u) = (newton.p[e], newton.motion(e));
    let slips = || {
        let size = newton.speed[el.blocks[e].1..].iter().take(el.list[e].rows).fold(0.0, |max: f64, x| max.max(*x));
        u[1].abs().max(u[2].abs()) > SLIP * size
    };
    match el.list[e].law {
        Block::Coulomb { .. } | Block::NoSlip { .. } | Block::Signorini if p[0] <= 0.0 => State::Open,
        Block::Coulomb { mu, .. } if newton.is_at_limit(p, mu) && slips() => State::Slide,
        _ => State::Stick,
    }
}
