//! Projected block Gauss–Seidel on the velocities: forces that are roughly right, without a factorization.

use super::super::problem::Block;
use super::elements::{Elements, Group};
use super::lanes::{axpy, by_stride, dot};
use super::newton::Newton;
use crate::mass::Mass;

/// Workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct GaussSeidel {
    /// `M̂⁻¹ âᵀ` of every row, laid out as the rows themselves.
    responses: Vec<f64>,
    /// `A M̂⁻¹ Aᵀ` of each element: diagonal, and the normal's entries with the tangents.
    inertia: Vec<[f64; 3]>,
    coupling: Vec<[f64; 2]>,
    local: Vec<f64>,
    change: Vec<f64>,
}

impl GaussSeidel {
    /// Takes an island over.
    pub fn load(&mut self, el: &Elements, mass: &Mass) {
        self.responses.clear();
        self.responses.extend_from_slice(&el.values);
        self.inertia.clear();
        self.coupling.clear();
        self.local.resize(el.longest, 0.0);
        self.change.resize(el.longest, 0.0);
        for element in &el.list {
            let group = &el.groups[element.group];
            for r in 0..element.rows {
                let start = element.values + r * group.stride;
                let mut offset = start;
                for s in &el.segments[group.segments.0..group.segments.1] {
                    let part = &mut self.responses[offset..offset + s.len];
                    offset += s.len;
                    if part.iter().all(|x| *x == 0.0) {
                        continue;
                    }
                    let scale = &el.scale[s.at..s.at + s.len];
                    part.iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
                    mass.solve_factor(s.block, part);
                    mass.solve_factor_transposed(s.block, part);
                    part.iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
                }
            }
            let response = |r: usize| {
                let start = element.values + r * group.stride;
                &self.responses[start..start + group.stride]
            };
            let (mut own, mut coupled) = ([0.0; 3], [0.0; 2]);
            for r in 0..element.rows {
                own[r] = dot(el.row(element, r), response(r));
                if r > 0 {
                    coupled[r - 1] = dot(el.row(element, r), response(0));
                }
            }
            self.inertia.push(own);
            self.coupling.push(coupled);
        }
    }

    /// Adds to the velocities in `newton` what its forces bring.
    pub fn push(&mut self, el: &Elements, newton: &mut Newton) {
        for group in &el.groups {
            self.change[..group.stride].fill(0.0);
            for e in group.elements.0..group.elements.1 {
                let element = &el.list[e];
                for r in 0..element.rows {
                    let start = element.values + r * group.stride;
                    axpy(newton.p[e][r], &self.responses[start..start + group.stride], &mut self.change);
                }
            }
            el.scatter(group, &self.change, &mut newton.v);
        }
    }

    /// Sweeps over all elements from the forces in `newton`; its velocities are those that the forces bring before and after.
    pub fn sweep(&mut self, el: &Elements, newton: &mut Newton, sweeps: usize) {
        for _ in 0..sweeps {
            stiction_lcp::interrupt::check();
            for group in &el.groups {
                el.gather(group, &newton.v, &mut self.local);
                by_stride!(group, stride => self.relax_group(el, group, stride, &mut newton.p));
                el.put(group, &self.local, &mut newton.v);
            }
        }
    }

    /// One sweep over the elements of a group, whose velocities are in `local`.
    #[inline(always)]
    fn relax_group(&mut self, el: &Elements, group: &Group, stride: usize, forces: &mut [[f64; 3]]) {
        let local = &mut self.local[..stride];
        let mut normal = 0.0;
        for e in group.elements.0..group.elements.1 {
            let (element, p) = (&el.list[e], &mut forces[e]);
            let mut u = element.bias;
            for r in 0..element.rows {
                u[r] += dot(el.row_of(element, r, stride), local);
            }
            let next = relax(element.law_beside(normal), p, &u, &self.inertia[e], &self.coupling[e]);
            if !element.is_moment() {
                normal = next[0];
            }
            if next != *p {
                for r in 0..element.rows {
                    let start = element.values + r * stride;
                    axpy(next[r] - p[r], &self.responses[start..start + stride], local);
                }
                *p = next;
            }
        }
    }
}

#[inline(always)]
/// The forces of one element that satisfy its law, the others staying as they are: the normal first, then friction beside it.
fn relax(law: Block, p: &[f64; 3], u: &[f64; 3], w: &[f64; 3], coupling: &[f64; 2]) -> [f64; 3] {
    let mut next = *p;
    let towards = |r: usize, u: f64, w: f64| if w > 0.0 { p[r] - u / w } else { p[r] };
    match law {
        Block::Free => next[0] = towards(0, u[0], w[0]),
        Block::Bounded { lo, hi } => next[0] = towards(0, u[0], w[0]).max(lo).min(hi),
        Block::Signorini => next[0] = towards(0, u[0], w[0]).max(0.0),
        Block::Coulomb { .. } | Block::NoSlip { .. } => {
            next[0] = towards(0, u[0], w[0]).max(0.0);
            let tangential = w[1].max(w[2]);
            for r in 1..3 {
                next[r] = towards(r, u[r] + coupling[r - 1] * (next[0] - p[0]), tangential);
            }
            if let Block::Coulomb { mu, .. } = law {
                let length = (next[1] * next[1] + next[2] * next[2]).sqrt();
                let radius = if next[0] > 0.0 { mu * next[0] } else { 0.0 };
                if length > radius {
                    let scale = radius / length;
                    (next[1], next[2]) = (scale * next[1], scale * next[2]);
                }
            }
        }
    }
    next
}
