//! Where the driving method goes round in circles: the conditions as a complementarity problem.
//!
//! The tangential force of a static contact is a sum of forces `φ ≥ 0` along directions d, with `0 ≤ φ ⊥ d · a_F + λ ≥ 0` and
//! `0 ≤ λ ⊥ μ f_N − Σ φ ≥ 0`. In the plane two directions make exactly the law of static friction. In space four make a pyramid: its solution
//! meets the law where each contact sticks or has one active direction, and is a place to drive on from otherwise.
//!
//! Reference: [Trinkle95, §3.2], [CPS09, §4.4] for why Lemke's method ends with a solution when nothing slips.

use stiction_lcp::matrix::{dot, norm};
use stiction_lcp::{Auto, BoxLcp, Matrix, Options, Solver};

use super::drive::{Driver, fill_column, fill_row};
use super::sets::{Along, Clamp, Friction, Place};
use super::system::FrictionKind;
use crate::whitened::why_not_formed;

/// What a variable of the complementarity problem is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Variable {
    /// A force, along a row or a direction of a tangent plane.
    Force(Clamp),
    /// λ of a contact.
    Slip(usize),
}

impl Driver {
    /// Takes forces and sets from a complementarity problem. False if that is not solved.
    pub(super) fn start_from_lcp(&mut self, options: &Options) -> bool {
        self.reset();
        let variables = self.variables();
        let Some(z) = self
            .lcp(&variables)
            .and_then(|lcp| Auto::new(options.clone()).solve(&lcp).ok()?.solved().map(|s| s.z.clone()))
        else {
            return false;
        };
        for (variable, z) in variables.iter().zip(z) {
            match *variable {
                Variable::Force(Clamp { i, along: Along::Row }) => self.f[i] = z,
                Variable::Force(Clamp { i, along: Along::Tangent(d) }) => {
                    (0..2).for_each(|k| self.f_friction[i][k] += d[k] * z);
                }
                Variable::Slip(_) => {}
            }
        }
        self.tie_friction();
        self.refresh();
        self.take_sets();
        true
    }

    fn variables(&self) -> Vec<Variable> {
        let system = &self.system;
        let mut all: Vec<Variable> =
            (0..system.rows()).map(|i| Variable::Force(Clamp { i, along: Along::Row })).collect();
        for c in (0..system.contacts).filter(|&c| system.friction_kind[c] == FrictionKind::Static) {
            let directions = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
            let count = if system.planar[c] { 2 } else { 4 };
            all.extend(directions[..count].iter().map(|&d| Variable::Force(Clamp { i: c, along: Along::Tangent(d) })));
            all.push(Variable::Slip(c));
        }
        all
    }

    fn lcp(&self, variables: &[Variable]) -> Option<BoxLcp> {
        let system = &self.system;
        let (n, m) = (variables.len(), system.m);
        if why_not_formed(n).is_some() {
            return None;
        }
        let (mut rows, mut columns) = (Matrix::zeros(m, n), Matrix::zeros(m, n));
        let (mut q, mut lo, mut hi) = (vec![0.0; n], vec![0.0; n], vec![f64::INFINITY; n]);
        for (k, variable) in variables.iter().enumerate() {
            let Variable::Force(clamp) = *variable else { continue };
            fill_row(system, clamp, rows.col_mut(k));
            fill_column(system, &self.friction, clamp, columns.col_mut(k));
            q[k] = dot(rows.col(k), &system.x0) + self.clamp_bias(clamp);
            if clamp.along == Along::Row {
                (lo[k], hi[k]) = (system.lo[clamp.i], system.hi[clamp.i]);
            }
        }
        let entry = |i: usize, j: usize| match (variables[i], variables[j]) {
            (Variable::Force(_), Variable::Force(_)) => dot(rows.col(i), columns.col(j)),
            (Variable::Force(Clamp { i: a, along }), Variable::Slip(b)) => {
                if a == b && along != Along::Row {
                    1.0
                } else {
                    0.0
                }
            }
            (Variable::Slip(a), Variable::Force(Clamp { i: b, along })) => match along {
                _ if a != b => 0.0,
                Along::Row => system.mu[a],
                Along::Tangent(_) => -1.0,
            },
            (Variable::Slip(_), Variable::Slip(_)) => 0.0,
        };
        BoxLcp::new(Matrix::from_fn(n, n, entry), q, lo, hi).ok()
    }

    /// The sets that the forces belong to.
    fn take_sets(&mut self) {
        for i in 0..self.system.rows() {
            if self.f[i] > self.system.lo[i] && self.f[i] < self.system.hi[i] {
                if i < self.system.contacts {
                    self.take_friction(i);
                }
                let clamp = Clamp { i, along: Along::Row };
                if self.is_independent(clamp) {
                    self.place[i] = Place::Clamped;
                    self.push(clamp);
                }
            }
        }
        for c in 0..self.system.contacts {
            if self.friction[c] == Friction::Held && self.place[c] == Place::Clamped {
                self.try_to_stick(c);
            }
        }
    }

    fn take_friction(&mut self, c: usize) {
        if self.friction[c] != Friction::Off {
            return;
        }
        let (force, most) = (norm(&self.f_friction[c]), self.system.mu[c] * self.f[c]);
        if force > 0.0 {
            let slides = force >= most * (1.0 - self.tolerances.on_cone);
            self.friction[c] =
                if slides { Friction::Slide(self.f_friction[c].map(|f| f / force)) } else { Friction::Held };
        }
    }

    /// A held force inside of its cone sticks, if its contact does not move and its directions are independent.
    fn try_to_stick(&mut self, c: usize) {
        let force = norm(&self.f_friction[c]);
        let e = self.f_friction[c].map(|f| f / force);
        let first = Clamp { i: c, along: Along::Tangent(e) };
        if !self.is_independent(first) {
            return;
        }
        self.push(first);
        self.friction[c] = Friction::Along(e);
        let second = Clamp { i: c, along: Along::Tangent([-e[1], e[0]]) };
        if !self.system.planar[c] && self.is_independent(second) {
            self.push(second);
            self.friction[c] = Friction::Stick;
        }
    }
}
