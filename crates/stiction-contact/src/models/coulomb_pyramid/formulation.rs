//! An island as the complementarity problem (32), and its forces back.
//!
//! The unknowns z and what they are complementary to, in this order (the paper's, with its sliding and rolling contacts side by side):
//!
//! | z | w | for |
//! |---|---|---|
//! | `c_n` | `a_n` | each contact |
//! | force | acceleration | each limit reached, each bounded row with one bound |
//! | `s⁺` | `a⁺` | each axis |
//! | `a⁻` | `s⁻` | each axis |
//!
//! An *axis* is a row whose force c lies between two bounds: a tangent along which a contact does not slip (`s± = μ c_n ± c`), the spin of a contact
//! that does not spin (with its own coefficient), or a bounded row (`s⁺ = c − lo`, `s⁻ = hi − c`). Its acceleration is `a = a⁺ − a⁻`. With the
//! columns
//! `h = g_n − μ Σ eₖ gₖ` of sliding contacts (e the direction of slip) and `h = g_n − μ Σ gₖ` of rolling ones, the motion is
//! `x = x₀ + Σ h c_n + Σ g s⁺ + …`, and w follows from it: `M_x = [… | A_x,Rn − (A_x,Rt + A_x,Ro) U | A_x,Rt | … | I]`, below it `[2U | −I | 0]`.
//!
//! Bilateral rows are eliminated first: all columns are projected against the independent ones among them, which leaves A of (21) as it was, with the
//! joints held.
//!
//! Reference: [Trinkle95, §3.2].

use stiction_lcp::matrix::{axpy, dot, norm};
use stiction_lcp::{InputError, Lcp, Matrix};

use crate::by_island::IslandForces;
use crate::find_indices::{self, FindIndices};
use crate::whitened::{Columns, Whitened};

/// An entry of the problem within this many roundings of its sum's terms is 0: noise must not push where nothing does.
pub(super) const ENTRY_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The kinds of rows that forces act along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    TangentS,
    TangentT,
    Spin,
    Limit,
    Bounded,
}

pub(super) const KINDS: [Kind; 6] =
    [Kind::Normal, Kind::TangentS, Kind::TangentT, Kind::Spin, Kind::Limit, Kind::Bounded];

/// The two tangents and the spin, in the order of [`Whitened::slip`].
pub(super) const AXES: [Kind; 3] = [Kind::TangentS, Kind::TangentT, Kind::Spin];

impl Kind {
    pub(super) fn of(self, island: &Whitened) -> &Columns {
        match self {
            Kind::Normal => &island.normal,
            Kind::TangentS => &island.tangent_s,
            Kind::TangentT => &island.tangent_t,
            Kind::Spin => &island.spin,
            Kind::Limit => &island.limit,
            Kind::Bounded => &island.bounded,
        }
    }

    pub(super) fn forces(self, forces: &mut IslandForces) -> &mut [f64] {
        match self {
            Kind::Normal => &mut forces.normal,
            Kind::TangentS => &mut forces.tangent_s,
            Kind::TangentT => &mut forces.tangent_t,
            Kind::Spin => &mut forces.spin,
            Kind::Limit => &mut forces.limit,
            Kind::Bounded => &mut forces.bounded,
        }
    }
}

/// A row whose motion is complementary to its force: `sign · row` moves away.
#[derive(Debug, Clone, Copy)]
pub(super) struct Single {
    pub kind: Kind,
    pub index: usize,
    /// −1 for a bounded row with an upper bound only.
    pub sign: f64,
}

/// A row whose force lies between two bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub kind: Kind,
    pub index: usize,
    /// The unknown `c_n` that the bounds are ±μ times of, and μ; `None` for the constant bounds of a bounded row.
    pub normal: Option<(usize, f64)>,
}

/// The complementarity problem of an island. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Formulation {
    /// Bilateral rows, and bounded ones without bounds after them.
    pub held: FindIndices,
    /// Which of them count as dependent.
    pub dependence: find_indices::Tolerances,
    pub free: Vec<usize>,
    /// Unknowns with a force of their own, then axes.
    pub singles: Vec<Single>,
    pub axes: Vec<Axis>,
    /// `c_k = friction[k] c_n` for each contact: of sliding ones, and of rolling ones where s⁺ = 0.
    pub friction: Vec<[f64; 3]>,
    /// Whether a contact slips or spins now against friction.
    pub slides: bool,
    /// Projected columns of all kinds, in the order of [`Kind`], and the lengths they had.
    projected: [Matrix; 6],
    lengths: [Vec<f64>; 6],
    /// Free motion and that of the forces that are known, m.
    pub known: Vec<f64>,
    /// Projected force column of each single unknown and axis, m × (singles + axes), and their lengths before.
    force: Matrix,
    force_lengths: Vec<f64>,
    pub work: Vec<f64>,
    pub impulses: Vec<f64>,
}

impl Formulation {
    pub(super) fn new(dependence: find_indices::Tolerances) -> Self {
        Self { dependence, ..Self::default() }
    }

    /// Lists the unknowns of `island` and prepares its columns.
    pub(super) fn read(&mut self, island: &Whitened) {
        self.read_scaled(island, 1.0);
    }

    /// The same with all coefficients of friction times `scale`, above 0: the unknowns are the same.
    pub(super) fn read_scaled(&mut self, island: &Whitened, scale: f64) {
        self.hold(island);
        self.list(island, scale);
        self.project(island);
        self.fill_forces(island);
    }

    /// FIND-INDICES over the bilateral rows and the bounded rows without bounds, which are of the same kind.
    fn hold(&mut self, island: &Whitened) {
        self.free.clear();
        self.free.extend(
            (0..island.bounded.len()).filter(|&k| island.lo[k] == f64::NEG_INFINITY && island.hi[k] == f64::INFINITY),
        );
        self.held.reset_with(island.m(), island.bilateral.len() + self.free.len(), self.dependence);
        for j in 0..island.bilateral.len() {
            self.held.add(island.bilateral.g.col(j), island.bilateral.bias[j]);
        }
        for &k in &self.free {
            self.held.add(island.bounded.g.col(k), island.bounded.bias[k]);
        }
        self.held.satisfy();
    }

    fn list(&mut self, island: &Whitened, scale: f64) {
        self.singles.clear();
        self.axes.clear();
        self.friction.clear();
        self.slides = false;
        for i in 0..island.contacts() {
            self.friction.push([0.0; 3]);
            if island.touching[i] {
                self.list_contact(island, i, scale);
            }
        }
        let limits = (0..island.limit.len()).filter(|&k| island.reached[k]);
        self.singles.extend(limits.map(|index| Single { kind: Kind::Limit, index, sign: 1.0 }));
        for index in 0..island.bounded.len() {
            match (island.lo[index].is_finite(), island.hi[index].is_finite()) {
                (true, false) => self.singles.push(Single { kind: Kind::Bounded, index, sign: 1.0 }),
                (false, true) => self.singles.push(Single { kind: Kind::Bounded, index, sign: -1.0 }),
                (true, true) if island.lo[index] < island.hi[index] => {
                    self.axes.push(Axis { kind: Kind::Bounded, index, normal: None })
                }
                _ => {}
            }
        }
    }

    /// The normal of contact `i`, with friction against its slip (10), and an axis wherever it does not slip.
    fn list_contact(&mut self, island: &Whitened, i: usize, scale: f64) {
        let at = self.singles.len();
        self.singles.push(Single { kind: Kind::Normal, index: i, sign: 1.0 });
        let ([s, t, spin], mu) = (island.slip[i], [island.mu[i], island.mu[i], island.mu_spin[i]].map(|mu| scale * mu));
        let speed = libm::hypot(s, t);
        let (along, about) = (speed > 0.0, spin != 0.0);
        let direction = [
            if along { s / speed } else { 1.0 },
            if along { t / speed } else { 1.0 },
            if about { spin.signum() } else { 1.0 },
        ];
        for (k, kind) in AXES.into_iter().enumerate() {
            let is_row = kind.of(island).g.col(i).iter().any(|x| *x != 0.0);
            if mu[k] == 0.0 || !is_row {
                continue;
            }
            self.friction[i][k] = -mu[k] * direction[k];
            if [along, along, about][k] {
                self.slides = true;
            } else {
                self.axes.push(Axis { kind, index: i, normal: Some((at, mu[k])) });
            }
        }
    }

    /// Projects all columns against the rows held.
    fn project(&mut self, island: &Whitened) {
        for kind in KINDS {
            let (to, lengths) = (&mut self.projected[kind as usize], &mut self.lengths[kind as usize]);
            to.copy_from(&kind.of(island).g);
            lengths.clear();
            for j in 0..to.cols() {
                let length = norm(to.col(j));
                lengths.push(length);
                if self.held.rank() > 0 {
                    self.held.project_out(to.col_mut(j));
                    if norm(to.col(j)) <= self.held.dependent() * length {
                        to.col_mut(j).fill(0.0);
                    }
                }
            }
        }
    }

    /// The force column of every unknown, and the motion that known forces give.
    fn fill_forces(&mut self, island: &Whitened) {
        let (m, singles) = (island.m(), self.singles.len());
        self.force.reset(m, singles + self.axes.len());
        self.force_lengths.clear();
        for j in 0..singles + self.axes.len() {
            self.work.clear();
            self.work.resize(m, 0.0);
            let mut column = std::mem::take(&mut self.work);
            let mut length = self.add_column(j, &mut column);
            if let Some(single) = self.singles.get(j).filter(|s| s.kind == Kind::Normal) {
                let friction = self.friction[single.index];
                for (k, axis) in AXES.into_iter().enumerate().filter(|(k, _)| friction[*k] != 0.0) {
                    length += self.add_projected(axis, single.index, friction[k], &mut column);
                }
            }
            self.force.col_mut(j).copy_from_slice(&column);
            self.force_lengths.push(length);
            self.work = column;
        }
        self.known.clear();
        self.known.extend_from_slice(&island.x_free);
        for k in 0..island.bounded.len() {
            let force = known_force(island, k);
            if force != 0.0 {
                axpy(force, island.bounded.g.col(k), &mut self.known);
            }
        }
    }

    /// Order of the problem.
    pub(super) fn order(&self) -> usize {
        self.singles.len() + 2 * self.axes.len()
    }

    /// Number of unknowns with a row of motion: singles and axes.
    pub(super) fn moving(&self) -> usize {
        self.singles.len() + self.axes.len()
    }

    /// The row whose motion is complementary to unknown `i`: kind, index and sign.
    pub(super) fn row(&self, i: usize) -> (Kind, usize, f64) {
        match self.singles.get(i) {
            Some(single) => (single.kind, single.index, single.sign),
            None => {
                let axis = self.axes[i - self.singles.len()];
                (axis.kind, axis.index, 1.0)
            }
        }
    }

    /// The LCP (32).
    ///
    /// # Errors
    /// If a number leaves the range of f64.
    pub(super) fn lcp(&self, island: &Whitened) -> Result<Lcp, InputError> {
        let moving = self.moving();
        let mut matrix = Matrix::zeros(self.order(), self.order());
        for j in 0..moving {
            stiction_lcp::interrupt::check();
            for i in 0..moving {
                matrix[(i, j)] = self.entry(i, j);
            }
        }
        self.couple(&mut matrix, 0);
        let mut q: Vec<f64> = (0..moving).map(|i| self.constant(island, i)).collect();
        q.extend(self.axes.iter().map(|axis| self.width(island, axis)));
        Lcp::new(matrix, q)
    }

    /// Motion of row `i` per unit of unknown `j`.
    fn entry(&self, i: usize, j: usize) -> f64 {
        self.product(i, self.force.col(j), self.force_lengths[j])
    }

    /// Motion of row `i` along the projected force column `h`, which had this length before; 0 where that is rounding.
    pub(super) fn product(&self, i: usize, h: &[f64], length: f64) -> f64 {
        let (kind, index, sign) = self.row(i);
        let g = self.projected[kind as usize].col(index);
        let sum = dot(g, h);
        let size = if self.held.rank() > 0 {
            self.lengths[kind as usize][index] * length
        } else {
            g.iter().zip(h).map(|(g, h)| (g * h).abs()).sum()
        };
        if sum.abs() <= ENTRY_ROUNDING * g.len() as f64 * size { 0.0 } else { sign * sum }
    }

    /// Adds the projected column of row `i` with its sign to `column`; its length before projection.
    pub(super) fn add_column(&self, i: usize, column: &mut [f64]) -> f64 {
        let (kind, index, sign) = self.row(i);
        self.add_projected(kind, index, sign, column)
    }

    /// Adds `factor` times a projected column to `column`; the length that had before projection.
    pub(super) fn add_projected(&self, kind: Kind, index: usize, factor: f64, column: &mut [f64]) -> f64 {
        axpy(factor, self.projected[kind as usize].col(index), column);
        factor.abs() * self.lengths[kind as usize][index]
    }

    /// The part of the force of single unknown `i` that is known.
    pub(super) fn known_of(&self, island: &Whitened, i: usize) -> f64 {
        let single = self.singles[i];
        if single.kind == Kind::Bounded { known_force(island, single.index) } else { 0.0 }
    }

    /// Motion of row `i` without the unknown forces, 0 where that is rounding.
    pub(super) fn constant(&self, island: &Whitened, i: usize) -> f64 {
        let (kind, index, sign) = self.row(i);
        let (g, raw, bias) =
            (self.projected[kind as usize].col(index), kind.of(island).g.col(index), kind.of(island).bias[index]);
        let sum = dot(g, &self.known) + (dot(raw, self.held.x_rows()) + bias);
        let terms = |g: &[f64], x: &[f64]| g.iter().zip(x).map(|(g, x)| (g * x).abs()).sum::<f64>();
        let mut size = terms(g, &self.known) + bias.abs();
        if self.held.rank() > 0 {
            size += norm(raw) * (norm(&self.known) + norm(self.held.x_rows()));
        }
        if sum.abs() <= ENTRY_ROUNDING * g.len() as f64 * size { 0.0 } else { sign * sum }
    }

    /// `s⁺ + s⁻` of an axis where it does not depend on a normal force.
    pub(super) fn width(&self, island: &Whitened, axis: &Axis) -> f64 {
        if axis.normal.is_none() { island.hi[axis.index] - island.lo[axis.index] } else { 0.0 }
    }

    /// The identities and 2U: `a⁺ = a + a⁻`, `s⁻ = 2 μ c_n − s⁺` (or `hi − lo − s⁺`), with the first unknown in row `first`.
    pub(super) fn couple(&self, matrix: &mut Matrix, first: usize) {
        for (k, axis) in self.axes.iter().enumerate() {
            let (plus, minus) = (first + self.singles.len() + k, first + self.moving() + k);
            matrix[(plus, minus)] = 1.0;
            matrix[(minus, plus)] = -1.0;
            if let Some((normal, mu)) = axis.normal {
                matrix[(minus, first + normal)] = 2.0 * mu;
            }
        }
    }

    /// Column and bias of held row number `row`.
    pub(super) fn held_row<'a>(&self, island: &'a Whitened, row: usize) -> (&'a [f64], f64) {
        match row.checked_sub(island.bilateral.len()) {
            None => (island.bilateral.g.col(row), island.bilateral.bias[row]),
            Some(k) => (island.bounded.g.col(self.free[k]), island.bounded.bias[self.free[k]]),
        }
    }

    /// Projected column of row `i` with its sign into `g`, and its motion that no force along an unknown row and no free motion makes: for the
    /// geometry of the rows alone.
    pub(super) fn row_into(&self, island: &Whitened, i: usize, g: &mut [f64]) -> f64 {
        let (kind, index, sign) = self.row(i);
        g.fill(0.0);
        axpy(sign, self.projected[kind as usize].col(index), g);
        sign * (dot(kind.of(island).g.col(index), self.held.x_rows()) + kind.of(island).bias[index])
    }

    /// Force column of unknown `j`, not projected, into `g`.
    pub(super) fn raw_force_into(&self, island: &Whitened, j: usize, g: &mut [f64]) {
        let (kind, index, sign) = self.row(j);
        g.fill(0.0);
        axpy(sign, kind.of(island).g.col(index), g);
        if kind == Kind::Normal {
            for (k, axis) in AXES.into_iter().enumerate() {
                axpy(self.friction[index][k], axis.of(island).g.col(index), g);
            }
        }
    }

    /// Column and bias of row `i`, with its sign, not projected.
    pub(super) fn raw_row_into(&self, island: &Whitened, i: usize, g: &mut [f64]) -> f64 {
        let (kind, index, sign) = self.row(i);
        g.fill(0.0);
        axpy(sign, kind.of(island).g.col(index), g);
        sign * kind.of(island).bias[index]
    }
}

/// The part of a bounded row's force that is no unknown: its one bound, its lower bound as an axis, its only value.
fn known_force(island: &Whitened, k: usize) -> f64 {
    match (island.lo[k].is_finite(), island.hi[k].is_finite()) {
        (true, _) => island.lo[k],
        (false, true) => island.hi[k],
        (false, false) => 0.0,
    }
}
