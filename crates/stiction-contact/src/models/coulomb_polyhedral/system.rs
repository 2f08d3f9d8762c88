//! The reduced system of a basis: all that is ever solved, of the order of the degrees of freedom.
//!
//! Eliminating φ_x and λ of the sliding groups leaves the unknowns `y = (θ_α, φ_κ)`, and z₀ for an almost complementary basis. Each of them moves
//! the bodies along a column B_j (N_* and D_* of the paper, c_* for z₀), so `x = k_* + B y`, and each of its equations is a row
//! `A_jᵀ x + b_j + c_j z₀ = 0` (N_α and D_*; last that of w_r, by the paper's three cases). The matrix is `Aᵀ B`, plus c in the last column.
//!
//! Reference: [Lloyd04, Eqs. 28–31; Appendix A, Eqs. 39–47].

use stiction_lcp::Matrix;
use stiction_linalg::lu::Lu;

use super::active::Active;
use super::cones::{Cones, NONE, Pair};
use super::lanes::{add_scaled, product};

/// Rates are solved for and refined once; the correction is the measure of their rounding.
const RATE_SOLVES: usize = 2;

/// The covering vector, one number per normal and per group: all directions of a group share theirs, or a group could have three basic φ.
///
/// Reference: [Lloyd04, Appendix B].
#[derive(Debug, Clone, Default)]
pub(super) struct Covering {
    /// c_ν, one per normal.
    pub normal: Vec<f64>,
    /// c_σ, one per group.
    pub direction: Vec<f64>,
    /// c_γ, one per group.
    pub cap: Vec<f64>,
}

/// The variable that grows: z or w of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driving {
    /// θ, φ or λ.
    Z(Pair),
    /// ν, σ or γ.
    W(Pair),
}

/// Unknowns and motion of one right-hand side.
#[derive(Debug, Clone, Default)]
pub(super) struct Solution {
    /// θ_α, φ_κ, z₀.
    pub y: Vec<f64>,
    /// The motion, m.
    pub x: Vec<f64>,
    /// Last correction of y by refinement: what is lost to rounding.
    pub error: Vec<f64>,
    /// Size of the terms of x, one number for all.
    pub size: f64,
}

/// See the [module](self). Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct System {
    /// Order: the active unknowns, and z₀ if there is one.
    pub order: usize,
    /// A, m × order.
    a: Matrix,
    /// B, m × order.
    b: Matrix,
    /// Lengths of the columns of B.
    pub lengths: Vec<f64>,
    offset: Vec<f64>,
    cover: Vec<f64>,
    /// k_*, m.
    k: Vec<f64>,
    /// The group g if the last row is that of γ_g.
    cap_row: Option<usize>,
    cap: f64,
    artificial: bool,
    lu: Lu,
    rhs: Vec<f64>,
    column: Vec<f64>,
}

impl System {
    /// Sets up and factors the system of a complementary basis. False if it is singular.
    pub(super) fn set_complementary(&mut self, cones: &Cones, active: &Active) -> bool {
        self.set(cones, active, None)
    }

    /// Sets up and factors the system of an almost complementary basis, whose pair `out` has neither variable basic. False if it is singular.
    pub(super) fn set_almost(&mut self, cones: &Cones, active: &Active, covering: &Covering, out: Pair) -> bool {
        self.set(cones, active, Some((covering, out)))
    }

    fn set(&mut self, cones: &Cones, active: &Active, artificial: Option<(&Covering, Pair)>) -> bool {
        self.artificial = artificial.is_some();
        self.order = active.order() + usize::from(self.artificial);
        self.a.reset(cones.m, self.order);
        self.b.reset(cones.m, self.order);
        self.offset.clear();
        self.cover.clear();
        self.cap_row = None;
        let covering = artificial.map(|(c, _)| c);
        for (at, &i) in active.theta.iter().enumerate() {
            self.b.col_mut(at).copy_from_slice(cones.normal(i));
            add_friction(cones, active, i, self.b.col_mut(at));
            self.set_row(cones, active, covering, Pair::Normal(i), at);
        }
        for (at, &(g, j)) in (active.theta.len()..).zip(&active.kappa) {
            self.set_row(cones, active, covering, Pair::Direction(g, j), at);
            self.b.col_mut(at).copy_from_slice(self.a.col(at));
        }
        self.set_constants(cones, active, covering);
        if let Some((_, out)) = artificial {
            self.set_row(cones, active, covering, out, self.order - 1);
        }
        self.lengths.clear();
        self.lengths.extend((0..self.order).map(|j| product(self.b.col(j), self.b.col(j)).sqrt()));
        self.factor(cones, active, covering);
        self.lu.pivot_ratio() > 0.0
    }

    /// `k_* = k + Σ cap d_x` and `c_* = Σ c_γ d_x` over the sliding groups.
    fn set_constants(&mut self, cones: &Cones, active: &Active, covering: Option<&Covering>) {
        self.k.clear();
        self.k.extend_from_slice(&cones.k);
        for &g in &active.slides {
            let cap = cones.groups[g].cap;
            if cap != 0.0 {
                cones.add_direction(g, active.pivot[g], cap, &mut self.k);
            }
            if let Some(covering) = covering {
                cones.add_direction(g, active.pivot[g], covering.cap[g], self.b.col_mut(self.order - 1));
            }
        }
    }

    /// Row `at`: the w of `pair` is zero.
    fn set_row(&mut self, cones: &Cones, active: &Active, covering: Option<&Covering>, pair: Pair, at: usize) {
        let (mut offset, mut cover) = (0.0, 0.0);
        match pair {
            Pair::Normal(i) => {
                self.a.col_mut(at).copy_from_slice(cones.normal(i));
                offset = cones.normals[i].offset;
                cover = covering.map_or(0.0, |c| c.normal[i]);
            }
            Pair::Direction(g, j) => {
                cones.add_direction(g, j, 1.0, self.a.col_mut(at));
                offset = cones.direction_offset(g, j);
                let pivot = active.pivot[g];
                if pivot == NONE {
                    cover = covering.map_or(0.0, |c| c.direction[g]);
                } else {
                    cones.add_direction(g, pivot, -1.0, self.a.col_mut(at));
                    offset -= cones.direction_offset(g, pivot);
                }
            }
            Pair::Cap(g) => {
                self.cap_row = Some(g);
                self.cap = cones.groups[g].cap;
            }
        }
        self.offset.push(offset);
        self.cover.push(cover);
    }

    fn factor(&mut self, cones: &Cones, active: &Active, covering: Option<&Covering>) {
        let (last, cap_row, thetas) = (self.order.wrapping_sub(1), self.cap_row, active.theta.len());
        let (a, b, cover, artificial) = (&self.a, &self.b, &self.cover, self.artificial);
        self.lu.factor_with(self.order, |i, j| {
            if let (Some(g), true) = (cap_row, i == last) {
                return cap_entry(cones, active, covering, g, j, thetas, last);
            }
            let product = product(a.col(i), b.col(j));
            if artificial && j == last { product + cover[i] } else { product }
        });
    }

    /// The values of all unknowns at the present basis.
    pub(super) fn solve_values(
        &mut self,
        cones: &Cones,
        active: &Active,
        covering: Option<&Covering>,
        refinements: usize,
        out: &mut Solution,
    ) {
        out.y.clear();
        out.y.resize(self.order, 0.0);
        out.error.clear();
        out.error.resize(self.order, 0.0);
        out.x.clear();
        out.x.extend_from_slice(&self.k);
        for _ in 0..=refinements {
            self.residuals(&out.y, &out.x, 1.0);
            if let Some(g) = self.cap_row {
                self.rhs[self.order - 1] = self.cap + self.cap_sum(cones, active, covering, g, &out.y);
            }
            self.correct(out);
            out.x.clear();
            out.x.extend_from_slice(&self.k);
            self.add_columns(&out.y, &mut out.x);
        }
        out.size =
            product(&self.k, &self.k).sqrt() + out.y.iter().zip(&self.lengths).map(|(y, l)| y.abs() * l).sum::<f64>();
    }

    /// The rates of all unknowns as `driving`, the z or w of the pair left out, grows.
    pub(super) fn solve_rates(
        &mut self,
        cones: &Cones,
        active: &Active,
        covering: &Covering,
        driving: Driving,
        out: &mut Solution,
    ) {
        self.column.clear();
        self.column.resize(cones.m, 0.0);
        match driving {
            Driving::Z(Pair::Normal(i)) => {
                self.column.copy_from_slice(cones.normal(i));
                add_friction(cones, active, i, &mut self.column);
            }
            Driving::Z(Pair::Direction(g, j)) => {
                cones.add_direction(g, j, 1.0, &mut self.column);
                if active.pivot[g] != NONE {
                    cones.add_direction(g, active.pivot[g], -1.0, &mut self.column);
                }
            }
            _ => {}
        }
        out.y.clear();
        out.y.resize(self.order, 0.0);
        out.error.clear();
        out.error.resize(self.order, 0.0);
        out.x.clear();
        out.x.extend_from_slice(&self.column);
        for _ in 0..RATE_SOLVES {
            self.residuals(&out.y, &out.x, 0.0);
            if let Some(g) = self.cap_row {
                self.rhs[self.order - 1] = self.cap_sum(cones, active, Some(covering), g, &out.y);
            }
            match driving {
                Driving::W(_) => self.rhs[self.order - 1] -= 1.0,
                Driving::Z(Pair::Cap(g)) => {
                    let first = active.theta.len();
                    let own = active.kappa.iter().enumerate().filter(|(_, k)| k.0 == g);
                    own.for_each(|(at, _)| self.rhs[first + at] += 1.0);
                }
                Driving::Z(_) => {}
            }
            self.correct(out);
            out.x.clear();
            out.x.extend_from_slice(&self.column);
            self.add_columns(&out.y, &mut out.x);
        }
        out.size = 1.0
            + product(&self.column, &self.column).sqrt()
            + out.y.iter().zip(&self.lengths).map(|(y, l)| y.abs() * l).sum::<f64>();
    }

    /// `y ← y − (matrix)⁻¹ rhs`, with rhs the residuals of the rows.
    fn correct(&mut self, out: &mut Solution) {
        self.lu.solve(&mut self.rhs);
        for ((y, error), step) in out.y.iter_mut().zip(&mut out.error).zip(&self.rhs) {
            *y -= step;
            *error = *step;
        }
    }

    fn add_columns(&self, y: &[f64], x: &mut [f64]) {
        for (j, y) in y.iter().enumerate() {
            add_scaled(*y, self.b.col(j), x);
        }
    }

    /// `rhs ← Aᵀ x + constant · b + c z₀`.
    fn residuals(&mut self, y: &[f64], x: &[f64], constant: f64) {
        let z0 = if self.artificial { y[self.order - 1] } else { 0.0 };
        self.rhs.clear();
        for j in 0..self.order {
            self.rhs.push(product(self.a.col(j), x) + constant * self.offset[j] + self.cover[j] * z0);
        }
    }

    /// `μ θ − Σ φ + c z₀` of group `g`.
    fn cap_sum(&self, cones: &Cones, active: &Active, covering: Option<&Covering>, g: usize, y: &[f64]) -> f64 {
        let (thetas, last) = (active.theta.len(), self.order - 1);
        (0..self.order).map(|j| y[j] * cap_entry(cones, active, covering, g, j, thetas, last)).sum()
    }
}

/// The entry of column `j` in the row of γ_g, whose λ is nonbasic.
fn cap_entry(
    cones: &Cones,
    active: &Active,
    covering: Option<&Covering>,
    g: usize,
    j: usize,
    thetas: usize,
    last: usize,
) -> f64 {
    if j < thetas {
        let i = active.theta[j];
        return if cones.normals[i].group == g { cones.normals[i].mu } else { 0.0 };
    }
    if j == last {
        return covering.map_or(0.0, |c| c.cap[g]);
    }
    if active.kappa[j - thetas].0 == g { -1.0 } else { 0.0 }
}

/// `out ← out + μ d_x` where the group of normal `i` slides: friction grows with the normal force.
fn add_friction(cones: &Cones, active: &Active, i: usize, out: &mut [f64]) {
    let normal = &cones.normals[i];
    if normal.group != NONE && active.pivot[normal.group] != NONE {
        cones.add_direction(normal.group, active.pivot[normal.group], normal.mu, out);
    }
}
