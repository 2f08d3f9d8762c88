//! Projected block Gauss–Seidel on the velocities: forces that are roughly right, without a factorization.

use super::super::law::Block;
use super::branches::{Branch, gather, put, scatter};
use super::elements::{Elements, Group, LawBeside, by_stride};
use super::lanes::{LANES, axpy, dot};
use super::newton::Newton;
use crate::mass::Mass;

/// Workspace. Rows here reach over whole blocks: a force on one branch moves all others.
#[derive(Debug, Clone, Default)]
pub(super) struct GaussSeidel {
    /// Groups of elements with the blocks that they move, and these blocks.
    groups: Vec<Group>,
    blocks: Vec<Branch>,
    /// Every row and its `M̂⁻¹ âᵀ`, and where those of each element start.
    rows: Vec<f64>,
    responses: Vec<f64>,
    starts: Vec<usize>,
    /// `A M̂⁻¹ Aᵀ` of each element: diagonal, and the normal's entries with the tangents.
    inertia: Vec<[f64; 3]>,
    coupling: Vec<[f64; 2]>,
    local: Vec<f64>,
}

impl GaussSeidel {
    /// Takes an island over.
    pub(super) fn load(&mut self, el: &Elements, mass: Option<&Mass>) {
        for list in [&mut self.rows, &mut self.responses, &mut self.local] {
            list.clear();
        }
        self.groups.clear();
        self.blocks.clear();
        self.starts.clear();
        self.inertia.clear();
        self.coupling.clear();
        let Some(mass) = mass else {
            for e in 0..el.list.len() {
                let w = el.delassus.own(e);
                self.inertia.push([w[0][0], w[1][1], w[2][2]]);
                self.coupling.push([w[1][0], w[2][0]]);
            }
            return;
        };
        for group in &el.groups {
            let first = self.blocks.len();
            self.list_blocks(el, group);
            let length = self.blocks[first..].iter().map(|b| b.len).sum::<usize>();
            let segments = (first, self.blocks.len());
            let group = Group { segments, length, stride: length.next_multiple_of(LANES), ..*group };
            self.local.resize(self.local.len().max(group.stride), 0.0);
            (group.elements.0..group.elements.1).for_each(|e| self.load_element(el, mass, &group, e));
            self.groups.push(group);
        }
    }

    /// Appends the blocks that the branches of a group belong to.
    fn list_blocks(&mut self, el: &Elements, group: &Group) {
        let first = self.blocks.len();
        for branch in &el.segments[group.segments.0..group.segments.1] {
            if self.blocks[first..].iter().all(|b| b.of != branch.of) {
                let (at, end) = (el.blocks[branch.of].1, el.blocks.get(branch.of + 1).map_or(el.m(), |next| next.1));
                self.blocks.push(Branch { first: 0, at, len: end - at, ..*branch });
            }
        }
    }

    fn load_element(&mut self, el: &Elements, mass: &Mass, group: &Group, e: usize) {
        let (element, stride) = (&el.list[e], group.stride);
        let branches = &el.segments[el.groups[element.group].segments.0..el.groups[element.group].segments.1];
        let start = self.rows.len();
        self.starts.push(start);
        self.rows.resize(start + element.rows * stride, 0.0);
        for (r, to) in self.rows[start..].chunks_exact_mut(stride).enumerate() {
            let (mut row, mut offset) = (el.row(element, r), 0);
            for block in &self.blocks[group.segments.0..group.segments.1] {
                for branch in branches.iter().filter(|b| b.of == block.of) {
                    let (values, rest) = row.split_at(branch.len);
                    to[offset + branch.first..][..branch.len].copy_from_slice(values);
                    row = rest;
                }
                offset += block.len;
            }
        }
        self.responses.extend_from_slice(&self.rows[start..]);
        for response in self.responses[start..].chunks_exact_mut(stride) {
            let mut offset = 0;
            for b in &self.blocks[group.segments.0..group.segments.1] {
                let (part, scale) = (&mut response[offset..offset + b.len], &el.scale[b.at..b.at + b.len]);
                offset += b.len;
                if part.iter().all(|x| *x == 0.0) {
                    continue;
                }
                part.iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
                mass.solve_factor(b.block, part);
                mass.solve_factor_transposed(b.block, part);
                part.iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
            }
        }
        let (rows, responses) = (&self.rows[start..], &self.responses[start..]);
        let (mut own, mut coupled) = ([0.0; 3], [0.0; 2]);
        for (r, (row, response)) in rows.chunks_exact(stride).zip(responses.chunks_exact(stride)).enumerate() {
            own[r] = dot(row, response);
            if r > 0 {
                coupled[r - 1] = dot(row, &responses[..stride]);
            }
        }
        self.inertia.push(own);
        self.coupling.push(coupled);
    }

    /// Adds to the velocities in `newton` what its forces bring.
    pub(super) fn push(&mut self, el: &Elements, newton: &mut Newton) {
        if el.delassus.is_some() {
            return Newton::push_delassus(el, &newton.p, &mut newton.v);
        }
        for group in &self.groups {
            let change = &mut self.local[..group.stride];
            change.fill(0.0);
            for e in group.elements.0..group.elements.1 {
                let responses = self.responses[self.starts[e]..].chunks_exact(group.stride);
                responses.take(el.list[e].rows).zip(&newton.p[e]).for_each(|(row, p)| axpy(*p, row, change));
            }
            scatter(&self.blocks[group.segments.0..group.segments.1], change, &mut newton.v);
        }
    }

    /// Sweeps over all elements from the forces in `newton`; its velocities are those that the forces bring before and after.
    pub(super) fn sweep(&mut self, el: &Elements, newton: &mut Newton, sweeps: usize) {
        for _ in 0..sweeps {
            stiction_lcp::interrupt::check();
            if el.delassus.is_some() {
                self.sweep_delassus(el, newton);
                continue;
            }
            for k in 0..self.groups.len() {
                let group = self.groups[k];
                let blocks = group.segments.0..group.segments.1;
                gather(&self.blocks[blocks.clone()], &newton.v, &mut self.local[..group.stride]);
                by_stride!(group, stride => self.relax_group(el, &group, stride, &mut newton.p));
                put(&self.blocks[blocks], &self.local, &mut newton.v);
            }
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
            let mut u = element.bias;
            for r in 0..element.rows {
                u[r] += dot(&self.rows[start + r * stride..start + (r + 1) * stride], local);
            }
            let next = match element.law_beside(normal) {
                LawBeside::Block(law) => relax(law, p, &u, &self.inertia[e], &self.coupling[e]),
                LawBeside::Disc(radius) => relax_disc(radius, p, &u, &self.inertia[e]),
            };
            if !element.is_moment() {
                normal = next[0];
            }
            if next != *p {
                for r in 0..element.rows {
                    axpy(next[r] - p[r], &self.responses[start + r * stride..start + (r + 1) * stride], local);
                }
                *p = next;
            }
        }
    }
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
fn relax_disc(radius: f64, p: &[f64; 3], u: &[f64; 3], w: &[f64; 3]) -> [f64; 3] {
    let w = w[0].max(w[1]);
    let towards = |r: usize| if w > 0.0 { p[r] - u[r] / w } else { p[r] };
    let [s, t] = into_disc([towards(0), towards(1)], radius);
    [s, t, 0.0]
}

/// The nearest point of the disc of this radius.
pub(super) fn into_disc(p: [f64; 2], radius: f64) -> [f64; 2] {
    let length = (p[0] * p[0] + p[1] * p[1]).sqrt();
    if length > radius { p.map(|x| radius / length * x) } else { p }
}
