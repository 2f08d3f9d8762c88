//! Projected block Gauss–Seidel on the velocities: forces that are roughly right, without a factorization of their own.
//!
//! With `M = L Lᵀ` the velocities are `z = Lᵀ v` here, and the rows `L⁻¹ aᵀ`: what a row measures of z is also what its force does to it. Where the
//! factor keeps the zeros between the limbs of a tree, a row of one limb is that limb's and those of the links that carry it, as it is in v; a force on
//! one limb changes the *v* of all others.
//!
//! A sweep is the gradient of a method of conjugate gradients, which brings forces through heaps in
//! fewer sweeps. Not those of accelerations: these belong to bodies that mostly rest on each other,
//! where plain sweeps in the order of the contacts leave friction of redundant ones within its limits,
//! so that the states are right for the next step too.
//!
//! Reference: \[Silcowitz10\].

mod batches;

use super::super::law::Block;
use super::branches::{Branch, FREE_BODY, gather, put, scatter};
use super::elements::{Elements, Group, LawBeside, by_stride};
use super::lanes::{LANES, add_rows, axpy, dot, mul_rows};
use super::newton::Newton;
use crate::mass::Mass;
use batches::{Batches, Rows};
use stiction_linalg::conjugate::Conjugate;

/// Sweeps end with the first that changes forces by this much beside what the first sweep changed:
/// the states hardly change any more. Ten times less saves as much time after the sweeps as they take.
const LAST_CHANGE: f64 = 1e-4;

/// Most sweeps that do not follow conjugate directions.
const PLAIN_SWEEPS: usize = 50;

/// Workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct GaussSeidel {
    /// Groups of elements with the velocities that they move: branches of a block whose factor keeps the zeros between them, else the whole block.
    groups: Vec<Group>,
    parts: Vec<Branch>,
    /// `L⁻¹ aᵀ` of every row at these velocities, and where those of each element start.
    rows: Vec<f64>,
    starts: Vec<usize>,
    /// `A M⁻¹ Aᵀ` of each element: diagonal, and the normal's entries with the tangents.
    inertia: Vec<[f64; 3]>,
    coupling: Vec<[f64; 2]>,
    /// The groups that are relaxed one element after the other, and all others.
    single: Vec<usize>,
    batches: Batches,
    /// `Lᵀ v`, m, and room for a body that is not there.
    z: Vec<f64>,
    conjugate: Conjugate,
    local: Vec<f64>,
    /// One row over a block.
    block: Vec<f64>,
}

stiction_linalg::vectorized! {
    fn iterate(sweeps: &'a mut GaussSeidel, el: &'a Elements, forces: &'a mut [[f64; 3]], count: usize) = sweeps.iterate_all(el, forces, count)
}

impl GaussSeidel {
    /// Takes an island over.
    pub(super) fn load(&mut self, el: &Elements, mass: Option<&Mass>) {
        for list in [&mut self.rows, &mut self.local] {
            list.clear();
        }
        self.groups.clear();
        self.parts.clear();
        self.starts.clear();
        self.inertia.clear();
        self.coupling.clear();
        self.batches.clear();
        let Some(mass) = mass else {
            for e in 0..el.list.len() {
                let w = el.delassus.own(e);
                self.inertia.push([w[0][0], w[1][1], w[2][2]]);
                self.coupling.push([w[1][0], w[2][0]]);
            }
            return;
        };
        for group in &el.groups {
            let first = self.parts.len();
            self.list_parts(el, mass, group);
            let length = self.parts[first..].iter().map(|part| part.len).sum::<usize>();
            let segments = (first, self.parts.len());
            let own = Group { segments, length, stride: length.next_multiple_of(LANES), ..*group };
            self.local.resize(self.local.len().max(own.stride), 0.0);
            (group.elements.0..group.elements.1).for_each(|e| self.load_element(el, mass, [group, &own], e));
            self.groups.push(own);
        }
        let rows = Rows {
            groups: &self.groups,
            parts: &self.parts,
            values: &self.rows,
            starts: &self.starts,
            inertia: &self.inertia,
            coupling: &self.coupling,
        };
        if el.is_at_acceleration {
            self.single.clear();
            self.single.extend(0..rows.groups.len());
        } else {
            self.batches.load(el, &rows, &mut self.single);
        }
    }

    /// True if there are contacts that are solved several at a time: sweeps over them take little time.
    pub(super) fn has_batches(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Appends the velocities that the rows of a group move.
    fn list_parts(&mut self, el: &Elements, mass: &Mass, group: &Group) {
        for of_block in branches_by_block(el, group) {
            if keeps_branches(mass, of_block) {
                self.parts.extend_from_slice(of_block);
            } else {
                let of = of_block[0].of;
                let range = el.block_range(of);
                self.parts.push(Branch { first: 0, at: range.start, len: range.len(), ..of_block[0] });
            }
        }
    }

    /// The rows of an element, whose group has the branches of its first form, and the parts of its second.
    fn load_element(&mut self, el: &Elements, mass: &Mass, [group, own]: [&Group; 2], e: usize) {
        let (element, stride, start) = (&el.list[e], own.stride, self.rows.len());
        self.starts.push(start);
        self.rows.resize(start + element.rows * stride, 0.0);
        for (r, to) in self.rows[start..].chunks_exact_mut(stride).enumerate() {
            let (mut values, mut to) = (el.row(element, r), to);
            for branches in branches_by_block(el, group) {
                let (of, block) = (branches[0].of, &mut self.block);
                block.clear();
                block.resize(el.block_range(of).len(), 0.0);
                for b in branches {
                    let (own, rest) = values.split_at(b.len);
                    let unscaled = own.iter().zip(&el.scale[b.at..b.at + b.len]).map(|(x, s)| x / s);
                    block[b.first..b.first + b.len].iter_mut().zip(unscaled).for_each(|(to, x)| *to = x);
                    values = rest;
                }
                if keeps_branches(mass, branches) {
                    // Velocities behind the last branch are those of other limbs.
                    let end = branches.last().map_or(0, |b| b.first + b.len);
                    mass.solve_factor(branches[0].block, &mut block[..end]);
                    for b in branches {
                        to[..b.len].copy_from_slice(&block[b.first..b.first + b.len]);
                        to = &mut to[b.len..];
                    }
                } else {
                    mass.solve_factor(branches[0].block, block);
                    to[..block.len()].copy_from_slice(block);
                    to = &mut to[block.len()..];
                }
            }
        }
        let rows = &self.rows[start..];
        let (mut inertia, mut coupling) = ([0.0; 3], [0.0; 2]);
        for (r, row) in rows.chunks_exact(stride).enumerate() {
            inertia[r] = dot(row, row);
            if r > 0 {
                coupling[r - 1] = dot(row, &rows[..stride]);
            }
        }
        self.inertia.push(inertia);
        self.coupling.push(coupling);
    }

    /// Adds to the velocities in `newton` what its forces bring.
    pub(super) fn push(&mut self, el: &Elements, mass: Option<&Mass>, newton: &mut Newton) {
        let Some(mass) = mass else { return Newton::push_delassus(el, &newton.p, &mut newton.v) };
        self.z.clear();
        self.z.resize(el.m(), 0.0);
        for group in &self.groups {
            let change = &mut self.local[..group.stride];
            change.fill(0.0);
            for e in group.elements.0..group.elements.1 {
                let (start, stride) = (self.starts[e], group.stride);
                add_rows(&self.rows[start..start + el.list[e].rows * stride], stride, newton.p[e], change);
            }
            scatter(&self.parts[group.segments.0..group.segments.1], change, &mut self.z);
        }
        self.find_velocities(el, mass);
        axpy(1.0, &self.z, &mut newton.v);
    }

    /// Sweeps over all elements from the forces in `newton`; its velocities are those that the forces bring before and after.
    pub(super) fn sweep(&mut self, el: &Elements, mass: Option<&Mass>, newton: &mut Newton, sweeps: usize) {
        let Some(mass) = mass else {
            for _ in 0..sweeps {
                stiction_lcp::interrupt::check();
                self.sweep_delassus(el, newton);
            }
            return;
        };
        self.z.clear();
        self.z.extend(newton.v.iter().zip(&el.scale).map(|(v, s)| v * s));
        for (k, &(b, _)) in el.blocks.iter().enumerate() {
            mass.mul_factor_transposed(b, &mut self.z[el.block_range(k)]);
        }
        self.z.resize(el.m() + FREE_BODY, 0.0);
        iterate(self, el, &mut newton.p, sweeps);
        self.z.truncate(el.m());
        self.find_velocities(el, mass);
        newton.v.copy_from_slice(&self.z);
    }

    /// At most so many sweeps. The last one ends within the laws.
    #[inline(always)]
    fn iterate_all(&mut self, el: &Elements, forces: &mut [[f64; 3]], count: usize) {
        self.conjugate.begin(forces.as_flattened(), &self.z);
        let count = if el.is_at_acceleration { count.min(PLAIN_SWEEPS) } else { count };
        for left in (0..count).rev() {
            stiction_lcp::interrupt::check();
            self.relax_all(el, forces);
            if el.is_at_acceleration {
                continue;
            }
            let change = self.conjugate.change(forces.as_flattened(), self.inertia.as_flattened());
            if left == 0 || change <= LAST_CHANGE {
                return;
            }
            self.conjugate.follow(forces.as_flattened_mut(), &mut self.z);
        }
    }

    /// `z ← v`, scaled.
    fn find_velocities(&mut self, el: &Elements, mass: &Mass) {
        for (k, &(b, _)) in el.blocks.iter().enumerate() {
            mass.solve_factor_transposed(b, &mut self.z[el.block_range(k)]);
        }
        self.z.iter_mut().zip(&el.scale).for_each(|(z, s)| *z /= s);
    }

    /// One sweep over all elements.
    #[inline(always)]
    fn relax_all(&mut self, el: &Elements, forces: &mut [[f64; 3]]) {
        self.batches.relax(&mut self.z, forces);
        for k in 0..self.single.len() {
            let group = self.groups[self.single[k]];
            let parts = group.segments.0..group.segments.1;
            gather(&self.parts[parts.clone()], &self.z, &mut self.local[..group.stride]);
            by_stride!(group, stride => self.relax_group(el, &group, stride, forces));
            put(&self.parts[parts], &self.local, &mut self.z);
        }
    }

    /// One sweep over the elements of a problem without bodies.
    fn sweep_delassus(&self, el: &Elements, newton: &mut Newton) {
        for (e, element) in el.list.iter().enumerate() {
            let (at, mut u) = (el.blocks[e].1, [0.0; 3]);
            u[..element.rows].copy_from_slice(&newton.v[at..at + element.rows]);
            let p = newton.p[e];
            let next = relax(element.law, &p, &u, &self.inertia[e], &self.coupling[e]);
            if next != p {
                el.delassus.push(e, [0, 1, 2].map(|r| next[r] - p[r]), &el.list, &mut newton.v);
                newton.p[e] = next;
            }
        }
    }

    /// One sweep over the elements of a group, whose velocities are in `local`.
    #[inline(always)]
    fn relax_group(&mut self, el: &Elements, group: &Group, stride: usize, forces: &mut [[f64; 3]]) {
        let local = &mut self.local[..stride];
        let mut normal = 0.0;
        for e in group.elements.0..group.elements.1 {
            let (element, p, start) = (&el.list[e], &mut forces[e], self.starts[e]);
            let rows = &self.rows[start..start + element.rows * stride];
            let u = mul_rows(rows, stride, local, &element.bias);
            let next = match element.law_beside(normal) {
                LawBeside::Block(law) => relax(law, p, &u, &self.inertia[e], &self.coupling[e]),
                LawBeside::Disc(radius) => relax_disc(radius, p, &u, &self.inertia[e]),
            };
            if !element.is_moment() {
                normal = next[0];
            }
            if next != *p {
                add_rows(rows, stride, [0, 1, 2].map(|r| next[r] - p[r]), local);
                *p = next;
            }
        }
    }
}

/// The branches of a group, block by block.
fn branches_by_block<'a>(el: &'a Elements, group: &Group) -> impl Iterator<Item = &'a [Branch]> {
    el.segments[group.segments.0..group.segments.1].chunk_by(|a, b| a.of == b.of)
}

/// True if the factor of the block of these branches keeps the zeros between its limbs.
fn keeps_branches(mass: &Mass, branches: &[Branch]) -> bool {
    mass.lower_factor(branches[0].block).is_none()
}

/// The forces of one element that satisfy its law, the others staying as they are: the normal first, then friction beside it.
#[inline(always)]
fn relax(law: Block, p: &[f64; 3], u: &[f64; 3], w: &[f64; 3], coupling: &[f64; 2]) -> [f64; 3] {
    let mut next = *p;
    let towards = |r: usize, u: f64, w: f64| if w > 0.0 { p[r] - u / w } else { p[r] };
    match law {
        Block::Free => next[0] = towards(0, u[0], w[0]),
        Block::Bounded { lo, hi } => next[0] = towards(0, u[0], w[0]).max(lo).min(hi),
        Block::Signorini => next[0] = towards(0, u[0], w[0]).max(0.0),
        Block::Slider { friction } => {
            next[0] = towards(0, u[0], w[0] + friction[0] * coupling[0] + friction[1] * coupling[1]).max(0.0);
            (next[1], next[2]) = (friction[0] * next[0], friction[1] * next[0]);
        }
        Block::Coulomb { .. } | Block::NoSlip { .. } => {
            next[0] = towards(0, u[0], w[0]).max(0.0);
            let tangential = w[1].max(w[2]);
            for r in 1..3 {
                next[r] = towards(r, u[r] + coupling[r - 1] * (next[0] - p[0]), tangential);
            }
            if let Block::Coulomb { mu, .. } = law {
                let radius = if next[0] > 0.0 { mu * next[0] } else { 0.0 };
                [next[1], next[2]] = into_disc([next[1], next[2]], radius);
            }
        }
    }
    next
}

/// The same of a moment in the disc of this radius.
#[inline(always)]
fn relax_disc(radius: f64, p: &[f64; 3], u: &[f64; 3], w: &[f64; 3]) -> [f64; 3] {
    let w = w[0].max(w[1]);
    let towards = |r: usize| if w > 0.0 { p[r] - u[r] / w } else { p[r] };
    let [s, t] = into_disc([towards(0), towards(1)], radius);
    [s, t, 0.0]
}

/// The nearest point of the disc of this radius.
#[inline(always)]
pub(super) fn into_disc(p: [f64; 2], radius: f64) -> [f64; 2] {
    let square = p[0] * p[0] + p[1] * p[1];
    // No root where there is nothing to shorten.
    if square <= radius * radius {
        return p;
    }
    let part = radius / square.sqrt();
    p.map(|x| part * x)
}

#[cfg(test)]
mod tests {
    use super::super::elements::Friction;
    use super::*;
    use crate::islands::Islands;
    use crate::model::Level;
    use crate::problem::{Contact, ContactProblem};
    use stiction_lcp::Matrix;
    use stiction_linalg::rng::Rng;

    /// Inertia of a base with limbs of two: `Σ c cᵀ + I` with vectors c along the ways to the base.
    fn tree(base: usize, limbs: usize, rng: &mut Rng) -> Matrix {
        let n = base + 2 * limbs;
        let mut inertia = Matrix::identity(n);
        for tip in (0..limbs).flat_map(|k| [base + 2 * k, base + 2 * k + 1]) {
            let way: Vec<usize> = (0..base).chain(base + (tip - base) / 2 * 2..=tip).collect();
            let c: Vec<f64> = way.iter().map(|_| rng.normal()).collect();
            for (&i, x) in way.iter().zip(&c) {
                way.iter().zip(&c).for_each(|(&j, y)| inertia[(i, j)] += x * y);
            }
        }
        inertia
    }

    #[test]
    fn velocities_are_those_that_the_forces_bring() {
        let mut rng = Rng::new(5);
        // Five limbs have most of their pairs of rows apart, one limb has none; and a free body.
        let (many, one) = (tree(1, 5, &mut rng), tree(6, 1, &mut rng));
        let mass = Mass::new(vec![many, one, Matrix::identity(6)]).unwrap();
        assert_eq!([0, 1, 2].map(|b| mass.lower_factor(b).is_none()), [true, false, false]);
        let m = mass.m();
        let numbers = |n: usize, rng: &mut Rng| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
        let (v, force) = (numbers(m, &mut rng), numbers(m, &mut rng));
        let mut problem = ContactProblem::new(mass, v, force, 0.01).unwrap();
        // So many that limbs are worth branches of their own.
        for (limb, of) in [(0, 1), (3, 2), (4, 1), (3, 1)].into_iter().cycle().take(120) {
            let rows: Vec<[Vec<f64>; 2]> = (0..3)
                .map(|_| {
                    let mut row = numbers(11, &mut rng);
                    (1..11).filter(|k| (k - 1) / 2 != limb).for_each(|k| row[k] = 0.0);
                    [row, numbers([11, 8, 6][of], &mut rng)]
                })
                .collect();
            let blocks = [0, 1, 2].map(|r| [(0, &rows[r][0][..]), (of, &rows[r][1][..])]);
            let contact = Contact::new(&blocks[0], &blocks[1], &blocks[2]);
            problem.add_contact(Contact { mu: 0.5, ..contact }).unwrap();
        }
        let (mut el, mut newton, mut islands) = (Elements::default(), Newton::default(), Islands::default());
        let [island] = islands.find(&problem) else { panic!("one island") };
        assert!(el.load(&problem, Level::Velocity, island, Friction::Coulomb, &mut newton.matrix));
        newton.reset(&el);
        newton.set_free(&el);
        let free = newton.v.clone();
        let mut sweeps = GaussSeidel::default();
        sweeps.load(&el, Some(problem.mass()));
        let limb = sweeps.parts[sweeps.groups[0].segments.0..sweeps.groups[0].segments.1].iter();
        assert_eq!(limb.map(|part| part.len).sum::<usize>(), 1 + 2 + 8, "the base, one limb, and the other tree");
        newton.p.iter_mut().for_each(|p| *p = [rng.uniform(), 0.1 * rng.normal(), 0.1 * rng.normal()]);
        sweeps.push(&el, Some(problem.mass()), &mut newton);
        for sweep in 0..3 {
            // What is left of the balance of momentum, which the velocities without forces have.
            newton.find_motions(&el, false);
            let left = newton.momentum.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            assert!(left < 1e-12 && newton.v != free, "{sweep}: {left:e}");
            sweeps.sweep(&el, Some(problem.mass()), &mut newton, 10);
        }
    }

    #[test]
    fn free_bodies_in_batches_have_the_velocities_and_laws_of_their_forces() {
        let (mut rng, mu, bodies) = (Rng::new(8), 0.5, 10);
        let numbers = |n: usize, rng: &mut Rng| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
        let mass = Mass::new(vec![Matrix::identity(6); bodies]).unwrap();
        let (v, force) = (numbers(6 * bodies, &mut rng), numbers(6 * bodies, &mut rng));
        let mut problem = ContactProblem::new(mass, v, force, 0.01).unwrap();
        // Pairs along a chain, and two bodies that touch the world.
        for k in 0..3 * (bodies + 1) {
            let pair = k % (bodies + 1);
            let rows: Vec<[Vec<f64>; 2]> = (0..3).map(|_| [numbers(6, &mut rng), numbers(6, &mut rng)]).collect();
            let blocks = [0, 1, 2].map(|r| match pair {
                0 => vec![(0, &rows[r][0][..])],
                pair if pair == bodies => vec![(bodies - 1, &rows[r][0][..])],
                pair => vec![(pair - 1, &rows[r][0][..]), (pair, &rows[r][1][..])],
            });
            problem.add_contact(Contact { mu, ..Contact::new(&blocks[0], &blocks[1], &blocks[2]) }).unwrap();
        }
        let (mut el, mut newton, mut islands) = (Elements::default(), Newton::default(), Islands::default());
        let [island] = islands.find(&problem) else { panic!("one island") };
        assert!(el.load(&problem, Level::Velocity, island, Friction::Coulomb, &mut newton.matrix));
        newton.reset(&el);
        newton.set_free(&el);
        let before = newton.evaluate(&el, false);
        let mut sweeps = GaussSeidel::default();
        sweeps.load(&el, Some(problem.mass()));
        assert!(sweeps.has_batches() && sweeps.single.len() <= 4, "{:?}", sweeps.single);
        sweeps.sweep(&el, Some(problem.mass()), &mut newton, 150);
        let after = newton.evaluate(&el, false);
        let left = newton.momentum.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        assert!(left < 1e-12 && after < 1e-2 * before, "{left:e}, {after:e} of {before:e}");
        let within = |p: &[f64; 3]| p[0] >= 0.0 && p[1].hypot(p[2]) <= mu * p[0] * (1.0 + 1e-12);
        assert!(newton.p.iter().all(within) && newton.p.iter().any(|p| p[0] > 0.0));
    }
}
