//! One island as the driving method sees it: rows with bounds, the first of them with friction, bilateral rows projected out.

use stiction_lcp::Matrix;
use stiction_lcp::matrix::{axpy, dot, norm};

use crate::by_island::IslandForces;
use crate::find_indices::{self, FindIndices};
use crate::whitened::{Columns, Whitened};

/// Where the force of a row goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Contact(usize),
    Limit(usize),
    Bounded(usize),
}

/// Which friction a contact has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FrictionKind {
    /// No friction.
    Smooth,
    /// It does not slip: static friction.
    Static,
    /// It slips; the friction force has this direction.
    Dynamic([f64; 2]),
}

/// The rows of an island: `a = gᵀ x + bias`, `lo ≤ f ≤ hi`, `x = x0 + Σ g f + Σ (s, t) f_F`. Normals of contacts come first.
///
/// Contacts that part already and limits that are not reached give no row. Bilateral rows are gone: x is the motion
/// across them, every column is orthogonal to theirs, and what they ask for is in the biases. Reference: [Baraff94, Eq. 18].
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    /// Which bilateral rows count as dependent.
    pub dependence: find_indices::Tolerances,
    /// [`Tolerances::noise_force`](super::Tolerances::noise_force).
    pub noise_force: f64,
    pub m: usize,
    /// Number of contacts among the rows.
    pub contacts: usize,
    /// m × rows.
    pub g: Matrix,
    /// Part of a that is not in x, the motion that the bilateral rows ask for included, and the size of its terms.
    pub bias: Vec<f64>,
    pub bias_size: Vec<f64>,
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    /// ‖g‖, rows.
    pub length: Vec<f64>,
    /// First and second tangents, m × contacts each.
    pub tangent: [Matrix; 2],
    pub tangent_bias: [Vec<f64>; 2],
    pub tangent_bias_size: [Vec<f64>; 2],
    pub mu: Vec<f64>,
    pub friction_kind: Vec<FrictionKind>,
    /// Whether the second tangent is nothing.
    pub planar: Vec<bool>,
    /// Motion without contact forces, m.
    pub x0: Vec<f64>,
    source: Vec<Source>,
    find: FindIndices,
    change: Vec<f64>,
    /// Size of the terms of `change`.
    change_terms: f64,
    impulses: Vec<f64>,
}

impl System {
    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.bias.len()
    }

    /// Takes in an island; `friction_kind` says for each of its contacts which kind of friction it has.
    pub(super) fn load(&mut self, island: &Whitened, friction_kind: impl Fn(usize) -> FrictionKind) {
        self.m = island.m();
        self.load_bilaterals(island);
        self.choose_rows(island);
        self.g.reset(self.m, self.source.len());
        for vector in [&mut self.bias, &mut self.bias_size, &mut self.lo, &mut self.hi, &mut self.length] {
            vector.clear();
        }
        for k in 0..self.source.len() {
            let (columns, i, lo, hi) = match self.source[k] {
                Source::Contact(i) => (&island.normal, i, 0.0, f64::INFINITY),
                Source::Limit(i) => (&island.limit, i, 0.0, f64::INFINITY),
                Source::Bounded(i) => (&island.bounded, i, island.lo[i], island.hi[i]),
            };
            self.length.push(project(&self.find, columns, i, self.g.col_mut(k)));
            let (bias, size) = self.bias_of(columns, i);
            self.bias.push(bias);
            self.bias_size.push(size);
            self.lo.push(lo);
            self.hi.push(hi);
        }
        self.load_tangents(island, friction_kind);
    }

    fn load_bilaterals(&mut self, island: &Whitened) {
        let rows = &island.bilateral;
        self.find.reset_with(self.m, rows.len(), self.dependence);
        for i in 0..rows.len() {
            self.find.add(rows.g.col(i), rows.bias[i]);
        }
        self.find.satisfy();
        self.x0.clear();
        self.x0.extend_from_slice(&island.x_free);
        self.find.project_out(&mut self.x0);
    }

    /// The bias of a row of `columns` with what the bilateral rows add to it, and the size of its terms.
    fn bias_of(&self, columns: &Columns, i: usize) -> (f64, f64) {
        let (g, bias, asked) = (columns.g.col(i), columns.bias[i], self.find.x_rows());
        let size: f64 = g.iter().zip(asked).map(|(g, x)| (g * x).abs()).sum();
        (bias + dot(g, asked), bias.abs() + size)
    }

    fn choose_rows(&mut self, island: &Whitened) {
        self.source.clear();
        self.source.extend((0..island.contacts()).filter(|&i| island.touching[i]).map(Source::Contact));
        self.contacts = self.source.len();
        self.source.extend((0..island.limit.len()).filter(|&i| island.reached[i]).map(Source::Limit));
        self.source.extend((0..island.bounded.len()).map(Source::Bounded));
    }

    fn load_tangents(&mut self, island: &Whitened, friction_kind: impl Fn(usize) -> FrictionKind) {
        self.mu.clear();
        self.friction_kind.clear();
        self.planar.clear();
        for k in 0..2 {
            self.tangent[k].reset(self.m, self.contacts);
            self.tangent_bias[k].clear();
            self.tangent_bias_size[k].clear();
        }
        for c in 0..self.contacts {
            let Source::Contact(i) = self.source[c] else { continue };
            let columns = [&island.tangent_s, &island.tangent_t];
            let lengths = [0, 1].map(|k| project(&self.find, columns[k], i, self.tangent[k].col_mut(c)));
            for k in 0..2 {
                let (bias, size) = self.bias_of(columns[k], i);
                self.tangent_bias[k].push(bias);
                self.tangent_bias_size[k].push(size);
            }
            let kind = match friction_kind(i) {
                _ if island.mu[i] == 0.0 => FrictionKind::Smooth,
                // What cannot move needs no friction to be held.
                FrictionKind::Static if lengths == [0.0; 2] => FrictionKind::Smooth,
                kind => kind,
            };
            self.mu.push(island.mu[i]);
            self.friction_kind.push(kind);
            self.planar.push(lengths[1] == 0.0);
        }
    }

    /// How much dependent bilateral rows contradict each other.
    pub(super) fn inconsistency(&self) -> f64 {
        self.find.inconsistency()
    }

    /// The column of contact `c` along `e` of its tangent plane, added to `out` times `scale`.
    pub(super) fn add_tangent(&self, c: usize, e: [f64; 2], scale: f64, out: &mut [f64]) {
        for k in 0..2 {
            if e[k] != 0.0 {
                axpy(scale * e[k], self.tangent[k].col(c), out);
            }
        }
    }

    /// Puts forces along the rows and tangents in their places, with the bilateral forces that go with them, and the motion. `x` (m) is that of the
    /// projected columns.
    pub(super) fn recover(
        &mut self,
        island: &Whitened,
        f: &[f64],
        friction: &[[f64; 2]],
        x: &[f64],
        out: &mut IslandForces,
    ) {
        self.change.clear();
        self.change.extend(x.iter().zip(&island.x_free).map(|(x, free)| x - free));
        axpy(1.0, self.find.x_rows(), &mut self.change);
        self.change_terms = norm(x) + norm(&island.x_free) + norm(self.find.x_rows());
        self.scatter(island, f, friction, out);
        self.bilateral(&island.bilateral, out);
        // From the forces, not from x: where nothing moves, what is left of x after projecting is rounding, and no force makes it.
        out.x.copy_from_slice(&island.x_free);
        add_forces(&island.normal, &out.normal, &mut out.x);
        add_forces(&island.tangent_s, &out.tangent_s, &mut out.x);
        add_forces(&island.tangent_t, &out.tangent_t, &mut out.x);
        add_forces(&island.limit, &out.limit, &mut out.x);
        add_forces(&island.bounded, &out.bounded, &mut out.x);
        add_forces(&island.bilateral, &out.bilateral, &mut out.x);
    }

    /// Puts a direction of forces in its place, with the bilateral forces that keep their rows at rest.
    pub(super) fn recover_direction(
        &mut self,
        island: &Whitened,
        f: &[f64],
        friction: &[[f64; 2]],
        dx: &[f64],
        out: &mut IslandForces,
    ) {
        self.change.clear();
        self.change.extend_from_slice(dx);
        self.change_terms = norm(dx);
        self.scatter(island, f, friction, out);
        self.bilateral(&island.bilateral, out);
    }

    /// The direction that the friction of contact `c` has among `forces`; none if there is no friction.
    pub(super) fn friction_direction(&self, c: usize, forces: &IslandForces) -> Option<[f64; 2]> {
        let Source::Contact(i) = self.source[c] else { return None };
        let (s, t) = (forces.tangent_s[i], forces.tangent_t[i]);
        let size = libm::hypot(s, t);
        (size > 0.0).then(|| [s / size, t / size])
    }

    /// Forces in their places, and what of the change of motion they do not make.
    fn scatter(&mut self, island: &Whitened, f: &[f64], friction: &[[f64; 2]], out: &mut IslandForces) {
        for (k, source) in self.source.iter().enumerate() {
            let columns = match *source {
                Source::Contact(i) => {
                    out.normal[i] = f[k];
                    (out.tangent_s[i], out.tangent_t[i]) = (friction[k][0], friction[k][1]);
                    axpy(-friction[k][0], island.tangent_s.g.col(i), &mut self.change);
                    axpy(-friction[k][1], island.tangent_t.g.col(i), &mut self.change);
                    island.normal.g.col(i)
                }
                Source::Limit(i) => {
                    out.limit[i] = f[k];
                    island.limit.g.col(i)
                }
                Source::Bounded(i) => {
                    out.bounded[i] = f[k];
                    island.bounded.g.col(i)
                }
            };
            axpy(-f[k], columns, &mut self.change);
            self.change_terms += f[k].abs() * norm(columns);
        }
    }

    /// The bilateral forces that make the rest of the change.
    fn bilateral(&mut self, rows: &Columns, out: &mut IslandForces) {
        self.find.impulses(&self.change, &mut self.impulses);
        for (&i, p) in self.find.kept().iter().zip(&self.impulses) {
            let is_noise = p.abs() * norm(rows.g.col(i)) <= self.noise_force * self.change_terms;
            out.bilateral[i] = if is_noise { 0.0 } else { *p };
        }
    }
}

/// `x ← x + Σ g f`.
fn add_forces(columns: &Columns, f: &[f64], x: &mut [f64]) {
    for (i, f) in f.iter().enumerate().filter(|(_, f)| **f != 0.0) {
        axpy(*f, columns.g.col(i), x);
    }
}

/// Column `i` without its part along the bilateral rows into `out`; returns what is left of its length, 0 if that is rounding.
fn project(find: &FindIndices, columns: &Columns, i: usize, out: &mut [f64]) -> f64 {
    let g = columns.g.col(i);
    out.copy_from_slice(g);
    if find.rank() > 0 {
        find.project_out(out);
    }
    let rest = norm(out);
    if rest <= find.dependent() * norm(g) {
        out.fill(0.0);
        return 0.0;
    }
    rest
}
