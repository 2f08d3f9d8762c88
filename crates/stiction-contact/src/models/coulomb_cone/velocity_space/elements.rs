//! An island laid out for Newton's method on its velocities: branches of its blocks, rows one after the other in scaled coordinates.
//!
//! Velocities are scaled by powers of two, which is exact: `v̂ⱼ = vⱼ / sⱼ` with `sⱼ ≈ 1/√Mⱼⱼ`, rows `âⱼ = aⱼ sⱼ`, inertia `M̂ᵢⱼ = Mᵢⱼ sᵢ sⱼ`. So the diagonal of M̂ is about 1, and
//! `‖â‖²` is about `row M⁻¹ rowᵀ`, whatever the units.

use std::ops::Range;

use super::super::law::Block;
use super::branches::{Branch, Forest, are_tied, gather, scatter};
use super::delassus::Delassus;
use super::lanes::LANES;
use super::sparse::{BlockMatrix, Place};
use crate::islands::Island;
use crate::model::Level;
use crate::problem::{ContactProblem, Contacts};
use crate::rows::Rows;
use crate::whitened::separation_bias;
use stiction_linalg::power::{exponent, times_power};

/// Evaluates an expression in the length of rows, with that of two free bodies, or of one, as a constant: nearly all contacts have it.
macro_rules! by_stride {
    ($group:expr, $stride:ident => $body:expr) => {
        match $group.stride {
            12 => {
                let $stride = 12;
                $body
            }
            8 => {
                let $stride = 8;
                $body
            }
            $stride => $body,
        }
    };
}
pub(super) use by_stride;

/// What an element's forces belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A contact: its normal, then the tangents numbered here (1 is S, 2 is T; 0 where there is none).
    Contact(usize, [usize; 2]),
    /// The moment about the normal of a contact, whose own element is the one right before.
    Spin(usize),
    /// The moment against rolling of a contact, whose own elements are those right before, along the axes numbered here (0 is the first, 1 the second).
    Roll(usize, [usize; 2]),
    /// A unilateral row.
    Limit(usize),
    /// A bilateral row.
    Bilateral(usize),
    /// A row with bounded force.
    Bounded(usize),
}

/// A contact or a single row: up to three rows under one law.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    /// The law.
    pub law: Block,
    /// Where its forces go.
    pub source: Source,
    /// Number of rows, 1 to 3.
    pub rows: usize,
    /// The group it belongs to.
    pub group: usize,
    /// Where its rows start in `values`, each `stride` numbers long.
    pub values: usize,
    /// What is added to the motion of each row.
    pub bias: [f64; 3],
    /// `‖â‖²` of each row.
    pub w: [f64; 3],
    /// Their mean: a force p√weight has the units of v̂.
    pub weight: f64,
    /// Of a moment that the normal force of a contact bounds: the coefficient. Else 0.
    pub mu_moment: f64,
    /// Of a moment: by how many places the element of its contact is before it. Else 0.
    pub behind: usize,
    /// Of a row of a single velocity, as those of joints' limits and dry friction are: where it is.
    pub only: Option<Only>,
}

/// The one number of a row that is not zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Only {
    /// Its place in the row.
    pub at: usize,
    /// Where its square belongs in the matrix.
    pub diagonal: usize,
}

impl Only {
    /// The lanes that it is in.
    #[inline(always)]
    pub(super) fn lanes(self) -> Range<usize> {
        let start = self.at / LANES * LANES;
        start..start + LANES
    }
}

/// The law of an element beside the forces of others.
#[derive(Debug, Clone, Copy)]
pub(super) enum LawBeside {
    /// One that does not depend on others, or a moment with one axis: bounds.
    Block(Block),
    /// A moment with two axes, in the disc of this radius.
    Disc(f64),
}

impl Element {
    fn new(law: Block, source: Source, rows: usize, bias: [f64; 3]) -> Self {
        let (w, weight, mu_moment) = ([0.0; 3], 0.0, 0.0);
        Self { law, source, rows, group: 0, values: 0, bias, w, weight, mu_moment, behind: 0, only: None }
    }

    /// A moment that the normal force of the contact `behind` places before bounds, with this coefficient.
    fn moment(source: Source, rows: usize, mu_moment: f64, behind: usize) -> Self {
        let law = Block::Bounded { lo: 0.0, hi: 0.0 };
        Self { mu_moment, behind, ..Self::new(law, source, rows, [0.0; 3]) }
    }

    /// True of a moment that the normal force of its contact bounds.
    pub(super) fn is_moment(&self) -> bool {
        self.mu_moment > 0.0
    }

    /// The law, given the normal force of its contact.
    #[inline]
    pub(super) fn law_beside(&self, normal: f64) -> LawBeside {
        if self.is_moment() {
            let most = if normal > 0.0 { self.mu_moment * normal } else { 0.0 };
            return match self.rows {
                1 => LawBeside::Block(Block::Bounded { lo: -most, hi: most }),
                _ => LawBeside::Disc(most),
            };
        }
        LawBeside::Block(self.law)
    }
}

/// Which coefficients of friction contacts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::models) enum Friction {
    /// Those of the problem: Coulomb's law.
    #[default]
    Coulomb,
    /// Contact without slip, and without spin where the problem has a moment at all.
    NoSlip,
}

/// True if contact `i` has a moment about its normal.
fn has_moment(contacts: &Contacts, i: usize) -> bool {
    contacts.mu_spin[i] > 0.0 && contacts.has_friction(i) && !contacts.spin.is_zero(i)
}

/// The number of axes about which contact `i` resists rolling, and these.
fn rolling_axes(contacts: &Contacts, i: usize) -> (usize, [usize; 2]) {
    let (mut count, mut axes) = (0, [0; 2]);
    if contacts.mu_roll[i] > 0.0 && contacts.has_friction(i) {
        let rows = [&contacts.roll_s, &contacts.roll_t];
        for k in (0..2).filter(|&k| !rows[k].is_zero(i)) {
            axes[count] = k;
            count += 1;
        }
    }
    (count, axes)
}

/// The step that forces act for.
fn step(problem: &ContactProblem, level: Level) -> f64 {
    if level == Level::Velocity { problem.dt() } else { 1.0 }
}

/// True if contact `i` can have a force at acceleration level: it touches and does not part.
fn can_press(problem: &ContactProblem, i: usize) -> bool {
    problem.contacts().touches(i) && !problem.parts(i)
}

/// The direction in which contact `i` slides now, along its tangents; none if it does not.
pub(super) fn slip_direction(problem: &ContactProblem, i: usize) -> [f64; 2] {
    let [s, t, _] = problem.slip(i);
    let length = libm::hypot(s, t);
    if length > 0.0 { [s / length, t / length] } else { [0.0; 2] }
}

/// Consecutive elements among the same branches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Group {
    /// First and last + 1 of its segments, of their pairs, and of its elements.
    pub segments: (usize, usize),
    /// Its pairs of segments.
    pub pairs: (usize, usize),
    /// Its elements.
    pub elements: (usize, usize),
    /// Numbers per row, and the same padded.
    pub length: usize,
    /// Padded length of a row.
    pub stride: usize,
}

/// The island. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Elements {
    /// Its velocities are accelerations.
    pub is_at_acceleration: bool,
    /// All elements.
    pub list: Vec<Element>,
    /// Groups of elements among the same branches.
    pub groups: Vec<Group>,
    /// The branches of each group.
    pub segments: Vec<Branch>,
    /// The pairs of segments of all groups.
    pub pairs: Vec<Pair>,
    /// The branches of all blocks, block by block, and where those of each start, blocks + 1.
    pub branches: Vec<Branch>,
    branch_starts: Vec<usize>,
    /// Pairs of branches that the inertia ties together.
    pub ties: Vec<[usize; 2]>,
    /// Rows.
    pub values: Vec<f64>,
    /// Longest padded row.
    pub longest: usize,
    /// Velocities before the step, scaled, m.
    pub v_before: Vec<f64>,
    /// `dt f`, scaled, m.
    pub dt_force: Vec<f64>,
    /// Scales, m.
    pub scale: Vec<f64>,
    /// Blocks of the island, each with its first velocity here.
    pub blocks: Vec<(usize, usize)>,
    /// M̂, block by block, row after row, and where each block starts.
    pub mass: Vec<f64>,
    mass_starts: Vec<usize>,
    /// Size of the motion in the norm of energy that the data alone warrant, as the certificate has it: of velocities and forces, and of the rows that drive.
    pub energy_norm: f64,
    /// The operator of a problem without bodies.
    pub delassus: Delassus,
    /// Branches of each group (numbers within the island).
    members: Vec<usize>,
    member_starts: Vec<usize>,
    /// Place of each block of the problem in the island's list.
    local: Vec<usize>,
    solved: Vec<f64>,
    forest: Forest,
}

/// Two segments of a group, or one with itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// Where they meet in the matrix.
    pub place: Place,
    /// Where the numbers of the one that is eliminated last begin in a row of the group, and how many
    /// there are; then of the other one.
    pub ranges: [(usize, usize); 2],
}

impl Pair {
    /// True for a segment with itself.
    pub(super) fn is_diagonal(&self) -> bool {
        self.ranges[0] == self.ranges[1]
    }
}

/// Adds the pairs of a group's segments.
fn push_pairs(segments: &[Branch], matrix: &BlockMatrix, pairs: &mut Vec<Pair>) {
    let mut first = 0;
    for (k, a) in segments.iter().enumerate() {
        let mut second = first;
        for b in &segments[k..] {
            let (a_range, b_range) = ((first, a.len), (second, b.len));
            let ranges = if a.place >= b.place { [a_range, b_range] } else { [b_range, a_range] };
            pairs.push(Pair { place: matrix.place(a.place, b.place), ranges });
            second += b.len;
        }
        first += a.len;
    }
}

impl Elements {
    /// Number of velocities.
    pub(super) fn m(&self) -> usize {
        self.v_before.len()
    }

    /// The velocities of block `k` of the island.
    pub(super) fn block_range(&self, k: usize) -> Range<usize> {
        self.blocks[k].1..self.blocks.get(k + 1).map_or(self.m(), |next| next.1)
    }

    /// Takes an island over, with the pattern of its matrix; false if a contact that nothing presses together has friction without a limit.
    ///
    /// Accelerations are velocities from rest after a step of one second: forces are impulses then, and velocity products are biases. Contacts that part,
    /// and limits that are not reached, have no rows.
    pub(super) fn load(
        &mut self,
        problem: &ContactProblem,
        level: Level,
        island: &Island,
        friction: Friction,
        matrix: &mut BlockMatrix,
    ) -> bool {
        self.begin();
        self.is_at_acceleration = level == Level::Acceleration;
        self.delassus.clear();
        self.lay_blocks(problem, island);
        if !self.list_contacts(problem, level, island, friction) {
            return false;
        }
        self.list_rows(problem, level, island);
        self.end_groups();
        self.find_order(matrix);
        self.load_motion(problem, level);
        self.load_rows(problem);
        self.measure_energy(problem, level);
        true
    }

    fn begin(&mut self) {
        self.list.clear();
        self.groups.clear();
        self.members.clear();
        self.member_starts.clear();
    }

    fn end_groups(&mut self) {
        self.member_starts.push(self.members.len());
        if let Some(group) = self.groups.last_mut() {
            group.elements.1 = self.list.len();
        }
    }

    /// Begins a problem without bodies, to which elements with velocities of their own are added.
    pub(super) fn begin_without_bodies(&mut self) {
        self.begin();
        self.blocks.clear();
        self.branches.clear();
        self.branch_starts.clear();
        self.ties.clear();
        for v in [&mut self.v_before, &mut self.dt_force, &mut self.scale, &mut self.mass, &mut self.values] {
            v.clear();
        }
        self.mass_starts.clear();
    }

    /// Adds element `e` of a problem without bodies: its velocities without forces, and the diagonal of its operator.
    pub(super) fn push_block(&mut self, law: Block, e: usize, q: &[f64], diagonal: &[f64]) {
        let (rows, at) = (q.len(), self.v_before.len());
        self.blocks.push((e, at));
        self.branches.push(Branch { block: e, of: e, at, len: rows, ..Branch::default() });
        self.mass_starts.push(self.mass.len());
        for r in 0..rows {
            self.mass.extend((0..rows).map(|c| if r == c { 1.0 } else { 0.0 }));
        }
        self.v_before.extend_from_slice(q);
        self.dt_force.resize(at + rows, 0.0);
        self.scale.resize(at + rows, 1.0);
        let mut element = Element::new(law, Source::Contact(e, [1, 2]), rows, [0.0; 3]);
        element.w[..rows].copy_from_slice(diagonal);
        element.weight = diagonal.iter().sum::<f64>() / rows as f64;
        element.group = e;
        self.list.push(element);
        self.member_starts.push(self.members.len());
        self.members.push(e);
        self.groups.push(Group { elements: (e, e + 1), ..Group::default() });
    }

    /// Lays out what the added elements and the pairs of them in `ties` need.
    pub(super) fn end_without_bodies(&mut self, matrix: &mut BlockMatrix) {
        self.end_groups();
        self.find_order(matrix);
        self.energy_norm = (0..self.list.len()).map(|e| self.energy(e)).sum::<f64>().sqrt();
        for e in 0..self.list.len() {
            let (rows, stride) = (self.list[e].rows, self.groups[e].stride);
            self.list[e].values = self.values.len();
            for r in 0..rows {
                self.values.extend((0..stride).map(|c| if r == c { 1.0 } else { 0.0 }));
            }
        }
    }

    /// Energy of the velocities without forces that an element of a problem without bodies has, as if it were coupled with none.
    pub(super) fn energy(&self, e: usize) -> f64 {
        let (element, at) = (&self.list[e], self.blocks[e].1);
        let square = self.v_before[at..at + element.rows].iter().map(|q| q * q).sum::<f64>();
        if element.weight > 0.0 { square / element.weight } else { 0.0 }
    }

    fn list_contacts(&mut self, problem: &ContactProblem, level: Level, island: &Island, friction: Friction) -> bool {
        let contacts = problem.contacts();
        for &i in island.contacts.iter().filter(|&&i| level == Level::Velocity || can_press(problem, i)) {
            let kinds = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
            let mu = if friction == Friction::NoSlip { f64::INFINITY } else { contacts.mu[i] };
            let mut axes = [0; 2];
            let mut rows = 1;
            if mu > 0.0 && contacts.has_friction(i) {
                for k in (1..3).filter(|&k| !kinds[k].is_zero(i)) {
                    axes[rows - 1] = k;
                    rows += 1;
                }
            }
            if contacts.normal.is_zero(i) {
                // Nothing presses the two together, so without a normal force there is no friction.
                if rows > 1 && friction == Friction::NoSlip {
                    return false;
                }
                continue;
            }
            let slip = if level == Level::Velocity { [0.0; 2] } else { slip_direction(problem, i) };
            let law = match friction {
                _ if rows == 1 => Block::Signorini,
                Friction::Coulomb if slip != [0.0; 2] => {
                    let along = |r: usize| if axes[r] > 0 { -mu * slip[axes[r] - 1] } else { 0.0 };
                    Block::Slider { friction: [along(0), along(1)] }
                }
                Friction::Coulomb => Block::Coulomb { dim: rows, mu },
                Friction::NoSlip => Block::NoSlip { dim: rows },
            };
            let [surface_s, surface_t] = contacts.surface[i];
            let from = match level {
                Level::Velocity => [contacts.separation_bias(i, problem.dt()), surface_s, surface_t],
                Level::Acceleration => contacts.rate[i],
            };
            let mut bias = [from[0], 0.0, 0.0];
            for r in 1..rows {
                bias[r] = from[axes[r - 1]];
            }
            self.push(law, Source::Contact(i, axes), rows, bias);
            let of = [Some(i), (rows > 1).then_some(i), (rows > 2).then_some(i)];
            let spin = has_moment(contacts, i).then_some(i);
            // Rolling is no slip.
            let (rolling, roll_axes) =
                if friction == Friction::NoSlip { (0, [0; 2]) } else { rolling_axes(contacts, i) };
            let rolls = (rolling > 0).then_some(i);
            let all = [
                (kinds[0], of[0]),
                (kinds[axes[0]], of[1]),
                (kinds[axes[1]], of[2]),
                (&contacts.spin, spin),
                (&contacts.roll_s, rolls),
                (&contacts.roll_t, rolls),
            ];
            self.join_group(&all);
            // Moments are in the group of their contact, right behind it.
            if spin.is_some() {
                self.list.push(match friction {
                    Friction::NoSlip => Element::new(Block::Free, Source::Spin(i), 1, [0.0; 3]),
                    Friction::Coulomb => Element::moment(Source::Spin(i), 1, contacts.mu_spin[i], 1),
                });
                self.join_group(&all);
            }
            if rolls.is_some() {
                let (source, behind) = (Source::Roll(i, roll_axes), 1 + usize::from(spin.is_some()));
                self.list.push(Element::moment(source, rolling, contacts.mu_roll[i], behind));
                self.join_group(&all);
            }
        }
        true
    }

    fn list_rows(&mut self, problem: &ContactProblem, level: Level, island: &Island) {
        let (limits, bilaterals, bounded) = (problem.limits(), problem.bilaterals(), problem.bounded());
        let dt = step(problem, level);
        let rate = |rates: &[f64], i: usize| if level == Level::Velocity { 0.0 } else { rates[i] };
        for &i in island.bilaterals.iter().filter(|&&i| !bilaterals.rows.is_zero(i)) {
            let bias = rate(&bilaterals.rate, i) - bilaterals.target[i];
            self.push(Block::Free, Source::Bilateral(i), 1, [bias, 0.0, 0.0]);
            self.join_group(&[(&bilaterals.rows, Some(i))]);
        }
        let reached = |i: usize| level == Level::Velocity || limits.gap[i] <= 0.0;
        for &i in island.limits.iter().filter(|&&i| reached(i) && !limits.rows.is_zero(i)) {
            let bias = match level {
                Level::Velocity => separation_bias(limits.gap[i], dt, limits.bounce[i]),
                Level::Acceleration => limits.rate[i],
            };
            self.push(Block::Signorini, Source::Limit(i), 1, [bias, 0.0, 0.0]);
            self.join_group(&[(&limits.rows, Some(i))]);
        }
        for &i in island.bounded.iter().filter(|&&i| !bounded.rows.is_zero(i)) {
            let (lo, hi) = (dt * bounded.lo[i], dt * bounded.hi[i]);
            let free = lo == f64::NEG_INFINITY && hi == f64::INFINITY;
            let law = if free { Block::Free } else { Block::Bounded { lo, hi } };
            let bias = rate(&bounded.rate, i) - bounded.target[i];
            self.push(law, Source::Bounded(i), 1, [bias, 0.0, 0.0]);
            self.join_group(&[(&bounded.rows, Some(i))]);
        }
    }

    fn push(&mut self, law: Block, source: Source, rows: usize, bias: [f64; 3]) {
        self.list.push(Element::new(law, source, rows, bias));
    }

    /// Puts the last element in the last group if its rows have entries for that group's blocks, else in a new one.
    fn join_group(&mut self, rows: &[(&Rows, Option<usize>)]) {
        let first = self.members.len();
        for (kind, row) in rows {
            let Some(row) = *row else { continue };
            for (block, values) in kind.row(row) {
                let of = self.local[block];
                for k in self.branch_starts[of]..self.branch_starts[of + 1] {
                    let branch = &self.branches[k];
                    let moves = |branch: &Branch| values[branch.first..][..branch.len].iter().any(|x| *x != 0.0);
                    if branch.parent.is_none() || moves(branch) {
                        self.join_branch(first, k);
                    }
                }
            }
        }
        self.members[first..].sort_unstable();
        let at = self.list.len() - 1;
        let last = self.member_starts.last().copied().unwrap_or(first);
        if !self.groups.is_empty() && self.members[last..first] == self.members[first..] {
            self.members.truncate(first);
        } else {
            if let Some(group) = self.groups.last_mut() {
                group.elements.1 = at;
            }
            self.member_starts.push(first);
            self.groups.push(Group { elements: (at, at), ..Group::default() });
        }
        self.list[at].group = self.groups.len() - 1;
    }

    /// Adds a branch to the members from `first` on, with those that carry it.
    fn join_branch(&mut self, first: usize, branch: usize) {
        let mut next = Some(branch);
        while let Some(k) = next.filter(|k| !self.members[first..].contains(k)) {
            self.members.push(k);
            next = self.branches[k].parent;
        }
    }

    /// Lays the blocks out one after the other, and finds their branches.
    fn lay_blocks(&mut self, problem: &ContactProblem, island: &Island) {
        self.local.resize(problem.layout().blocks(), 0);
        self.blocks.clear();
        self.branches.clear();
        self.branch_starts.clear();
        self.ties.clear();
        let mut at = 0;
        let rows = 3 * island.contacts.len() + island.bilaterals.len() + island.limits.len() + island.bounded.len();
        for (k, &b) in island.blocks.iter().enumerate() {
            let (inertia, start) = (problem.mass().block(b), self.branches.len());
            self.local[b] = k;
            self.blocks.push((b, at));
            self.branch_starts.push(start);
            self.forest.push_branches(inertia, b, k, at, rows, &mut self.branches);
            for i in start..self.branches.len() {
                let tied = |j: &usize| are_tied(inertia, &self.branches[i], &self.branches[*j]);
                self.ties.extend((start..i).filter(tied).map(|j| [i, j]));
            }
            at += problem.layout().size(b);
        }
        self.branch_starts.push(self.branches.len());
    }

    /// Finds the order of elimination, which depends on the graph of branches, and the branches of each group.
    fn find_order(&mut self, matrix: &mut BlockMatrix) {
        let sizes = self.branches.iter().map(|b| b.len);
        let groups = self.member_starts.windows(2).map(|w| &self.members[w[0]..w[1]]);
        matrix.shape(sizes, groups.chain(self.ties.iter().map(|tie| &tie[..])));
        let mut place = 0;
        for &k in matrix.order() {
            self.branches[k].place = place;
            place += self.branches[k].len;
        }
        self.segments.clear();
        self.pairs.clear();
        self.longest = 0;
        for (group, w) in self.groups.iter_mut().zip(self.member_starts.windows(2)) {
            let first = self.segments.len();
            self.segments.extend(self.members[w[0]..w[1]].iter().map(|&k| self.branches[k]));
            group.length = self.segments[first..].iter().map(|b| b.len).sum();
            group.segments = (first, self.segments.len());
            group.stride = group.length.next_multiple_of(LANES);
            self.longest = self.longest.max(group.stride);
            let start = self.pairs.len();
            push_pairs(&self.segments[first..], matrix, &mut self.pairs);
            group.pairs = (start, self.pairs.len());
        }
    }

    fn load_motion(&mut self, problem: &ContactProblem, level: Level) {
        let dt = step(problem, level);
        for v in [&mut self.v_before, &mut self.dt_force, &mut self.scale, &mut self.mass] {
            v.clear();
        }
        self.mass_starts.clear();
        for &(b, _) in &self.blocks {
            self.mass_starts.push(self.mass.len());
            let (block, range) = (problem.mass().block(b), problem.layout().range(b));
            let start = self.scale.len();
            self.scale.extend((0..range.len()).map(|j| times_power(1.0, -exponent(block[(j, j)]).div_euclid(2))));
            let scale = &self.scale[start..];
            for (s, j) in scale.iter().zip(range.clone()) {
                self.v_before.push(if level == Level::Velocity { problem.v()[j] / s } else { 0.0 });
                self.dt_force.push(dt * problem.force()[j] * s);
            }
            for (i, s) in scale.iter().enumerate() {
                // The block is symmetric, up to the rounding of whoever assembled it.
                self.mass.extend(block.col(i).iter().zip(scale).map(|(x, t)| x * s * t));
            }
        }
    }

    fn load_rows(&mut self, problem: &ContactProblem) {
        let contacts = problem.contacts();
        let kinds = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
        self.values.clear();
        for e in 0..self.list.len() {
            let element = self.list[e];
            let stride = self.groups[element.group].stride;
            let start = self.values.len();
            self.list[e].values = start;
            self.values.resize(start + stride * element.rows, 0.0);
            match element.source {
                Source::Contact(i, axes) => {
                    self.load_row(kinds[0], i, e, 0);
                    (1..element.rows).for_each(|r| self.load_row(kinds[axes[r - 1]], i, e, r));
                }
                Source::Spin(i) => self.load_row(&contacts.spin, i, e, 0),
                Source::Roll(i, axes) => {
                    let rolls = [&contacts.roll_s, &contacts.roll_t];
                    (0..element.rows).for_each(|r| self.load_row(rolls[axes[r]], i, e, r));
                }
                Source::Limit(i) => self.load_row(&problem.limits().rows, i, e, 0),
                Source::Bilateral(i) => self.load_row(&problem.bilaterals().rows, i, e, 0),
                Source::Bounded(i) => self.load_row(&problem.bounded().rows, i, e, 0),
            }
            // Moments may follow the force of a contact.
            let single = matches!(element.source, Source::Limit(_) | Source::Bilateral(_) | Source::Bounded(_));
            let only = if single { self.find_only(e) } else { None };
            let element = &mut self.list[e];
            element.only = only;
            for r in 0..element.rows {
                let row = &self.values[start + r * stride..start + (r + 1) * stride];
                element.w[r] = super::lanes::dot(row, row);
            }
            element.weight = element.w[..element.rows].iter().sum::<f64>() / element.rows as f64;
        }
    }

    /// The one number of the row of element `e` that is not zero, unless there are more.
    fn find_only(&self, e: usize) -> Option<Only> {
        let (element, group) = (&self.list[e], &self.groups[self.list[e].group]);
        let row = self.row(element, 0);
        let at = row.iter().position(|x| *x != 0.0).filter(|at| row[at + 1..].iter().all(|x| *x == 0.0))?;
        let mut pairs = self.pairs[group.pairs.0..group.pairs.1].iter().filter(|pair| pair.is_diagonal());
        let pair = pairs.find(|pair| (pair.ranges[0].0..pair.ranges[0].0 + pair.ranges[0].1).contains(&at))?;
        Some(Only { at, diagonal: pair.place.diagonal(at - pair.ranges[0].0) })
    }

    fn measure_energy(&mut self, problem: &ContactProblem, level: Level) {
        let (contacts, limits, bounded) = (problem.contacts(), problem.limits(), problem.bounded());
        let dt = step(problem, level);
        // The largest number where the squares vanish.
        let norm = |x: &[f64]| match x.iter().map(|x| x * x).sum::<f64>() {
            square if square.is_normal() => square.sqrt(),
            _ => x.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
        };
        let (mut sum, mut drive) = (0.0, 0.0f64);
        for &(b, _) in &self.blocks {
            let range = problem.layout().range(b);
            self.solved.clear();
            self.solved.extend_from_slice(&problem.force()[range.clone()]);
            problem.mass().solve_factor(b, &mut self.solved);
            let mut size = dt * norm(&self.solved);
            if level == Level::Velocity {
                self.solved.clear();
                self.solved.extend_from_slice(&problem.v()[range]);
                problem.mass().mul_factor_transposed(b, &mut self.solved);
                size += norm(&self.solved);
            }
            sum += size * size;
            if !(size * size).is_normal() {
                drive = drive.max(size);
            }
        }
        for element in &self.list {
            let driven = match element.source {
                Source::Contact(..) | Source::Limit(_) if level == Level::Acceleration => {
                    (-element.bias[0]).max(element.bias[1].abs()).max(element.bias[2].abs())
                }
                Source::Contact(i, _) => {
                    contacts.bounce[i].max(contacts.surface[i][0].abs()).max(contacts.surface[i][1].abs())
                }
                Source::Spin(_) | Source::Roll(..) => 0.0,
                Source::Limit(i) => limits.bounce[i].max(0.0),
                Source::Bilateral(_) => element.bias[0].abs(),
                Source::Bounded(i) => {
                    let most = dt * bounded.lo[i].abs().max(bounded.hi[i].abs()) * element.w[0];
                    element.bias[0].abs().min(most)
                }
            };
            if driven > 0.0 {
                let w = element.w[..element.rows].iter().fold(0.0f64, |max, w| max.max(*w));
                drive = drive.max(driven / w.sqrt());
            }
        }
        self.energy_norm = sum.sqrt() + drive;
    }

    /// Row `i` of `rows`, scaled, becomes row `r` of element `e`.
    fn load_row(&mut self, rows: &Rows, i: usize, e: usize, r: usize) {
        let element = self.list[e];
        let group = self.groups[element.group];
        let to = &mut self.values[element.values + r * group.stride..element.values + (r + 1) * group.stride];
        for (block, values) in rows.row(i) {
            let mut offset = 0;
            for s in &self.segments[group.segments.0..group.segments.1] {
                if s.block == block {
                    let (values, scale) = (&values[s.first..s.first + s.len], &self.scale[s.at..s.at + s.len]);
                    for ((to, x), s) in to[offset..offset + s.len].iter_mut().zip(values).zip(scale) {
                        *to = x * s;
                    }
                }
                offset += s.len;
            }
        }
    }

    /// M̂ between two branches of a block: where it starts, and the distance from row to row.
    pub(super) fn inertia(&self, a: &Branch, b: &Branch) -> (&[f64], usize) {
        let (start, size) = (self.mass_starts[a.of], self.block_range(a.of).len());
        (&self.mass[start + a.first * size + b.first..], size)
    }

    /// `local ← v` at the velocities of a group, padded with zeros.
    #[inline(always)]
    pub(super) fn gather(&self, group: &Group, v: &[f64], local: &mut [f64]) {
        gather(&self.segments[group.segments.0..group.segments.1], v, &mut local[..group.stride]);
    }

    /// `v ← v + local` at the velocities of a group.
    #[inline(always)]
    pub(super) fn scatter(&self, group: &Group, local: &[f64], v: &mut [f64]) {
        scatter(&self.segments[group.segments.0..group.segments.1], local, v);
    }

    /// Row `r` of an element.
    #[inline(always)]
    pub(super) fn row(&self, element: &Element, r: usize) -> &[f64] {
        self.row_of(element, r, self.groups[element.group].stride)
    }

    /// The lanes of an element's row that its one number is in.
    #[inline(always)]
    pub(super) fn lanes_of(&self, element: &Element, only: Only) -> &[f64] {
        &self.values[element.values..][only.lanes()]
    }

    /// All rows of an element, whose rows have this length.
    #[inline(always)]
    pub(super) fn rows_of(&self, element: &Element, stride: usize) -> &[f64] {
        &self.values[element.values..element.values + element.rows * stride]
    }

    /// Row `r` of an element, whose rows have this length.
    #[inline(always)]
    pub(super) fn row_of(&self, element: &Element, r: usize, stride: usize) -> &[f64] {
        &self.values[element.values + r * stride..element.values + (r + 1) * stride]
    }
}
