//! The linear complementarity problem of an island, never formed: columns, coefficients and what is constant.
//!
//! In whitened coordinates, projected against the bilateral rows, with the motion `x = k + N θ + D φ`:
//!
//! ```text
//! ν = Nᵀ x + b_ν           ≥ 0  ⊥  θ ≥ 0      normals, limits, rows with one bound
//! σ = Dᵀ x + b_σ + E λ     ≥ 0  ⊥  φ ≥ 0      directions of friction, rows with two bounds
//! γ = μ θ − Eᵀ φ + cap     ≥ 0  ⊥  λ ≥ 0      one per group of directions
//! ```
//!
//! This is Lloyd's (8) with offsets b. A row `lo ≤ f ≤ hi` is a group with one direction, no normal, and `cap = hi − lo`: `f = lo + φ`. Every
//! column is scaled to about unit length by a power of two, and all motion by one more, so that tolerances are plain numbers. Neither changes
//! what solves the problem.
//!
//! Reference: [Lloyd04, Eq. 8].

mod recover;

use stiction_lcp::matrix::{axpy, dot, norm};
use stiction_lcp::{Basis, Position};

use super::Scheme;
use super::lanes::{add_scaled, padded, product};
use crate::find_indices::FindIndices;
use crate::tolerances::Tolerances;
use crate::whitened::{Columns, Whitened};

/// No normal, no group, no direction.
pub(super) const NONE: usize = usize::MAX;

/// The single direction of a bounded row, and the pair of a planar contact.
const FORTH: [[f64; 2]; 1] = [[1.0, 0.0]];
const FORTH_AND_BACK: [[f64; 2]; 2] = [[1.0, 0.0], [-1.0, 0.0]];

/// Which row of the island something comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// This contact.
    Contact(usize),
    /// This limit.
    Limit(usize),
    /// This bounded row, which has a least force only.
    From(usize),
    /// This bounded row, which has a largest force only.
    UpTo(usize),
    /// This bounded row, which has both.
    Between(usize),
}

/// One ν–θ pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Normal {
    /// The row it comes from.
    pub source: Source,
    /// Its column is this times the row's.
    pub scale: f64,
    /// b_ν.
    pub offset: f64,
    /// Size of the terms of the offset.
    pub offset_size: f64,
    /// μ in the units of the columns; 0 without friction.
    pub mu: f64,
    /// Its group of directions, or [`NONE`].
    pub group: usize,
}

/// One γ–λ pair with its σ–φ pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// The row it comes from.
    pub source: Source,
    /// Its columns are this times the rows'.
    pub scale: f64,
    /// Offsets along the two tangents: b_σ of direction (c, s) is `c b₀ + s b₁`.
    pub offset: [f64; 2],
    /// Sizes of the terms of the offsets.
    pub offset_size: [f64; 2],
    /// The normal whose force bounds it, or [`NONE`].
    pub normal: usize,
    /// The constant part of the bound.
    pub cap: f64,
    /// Number of its first direction among all.
    pub first: usize,
    /// How many directions it has.
    pub sides: usize,
}

/// An answer: impulses in the units of the columns, and the basis they belong to.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    /// θ, one per normal.
    pub theta: Vec<f64>,
    /// φ, one per direction.
    pub phi: Vec<f64>,
    /// Letters of θ, φ and λ, in this order.
    pub basis: Basis,
}

/// See the [module](self). Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Cones {
    pub tolerances: Tolerances,
    /// Number of velocities.
    pub dof: usize,
    /// Length of a column: `dof`, padded with zeros.
    pub m: usize,
    /// The constant part of the motion, m.
    pub k: Vec<f64>,
    /// Size of the terms of k, m.
    pub k_size: Vec<f64>,
    /// The ν–θ pairs.
    pub normals: Vec<Normal>,
    /// The γ–λ pairs.
    pub groups: Vec<Group>,
    /// Columns of the normals, m each.
    pub n: Vec<f64>,
    /// The two tangent columns of each group, 2 m each.
    pub st: Vec<f64>,
    /// Number of directions of all groups together.
    pub phis: usize,
    /// True if a unilateral row that nothing can move is violated.
    pub stuck: bool,
    /// The user's directions.
    directions: Vec<[f64; 2]>,
    /// All motion is divided by this.
    unit: f64,
    find: FindIndices,
    /// Which bounded row each bilateral row beyond the island's own is.
    fixed: Vec<usize>,
    /// Bounded rows with two bounds that nothing can move.
    locked: Vec<usize>,
    work: Vec<f64>,
    /// What a force moves is rounding if it is no more than this.
    floor: f64,
    impulses: Vec<f64>,
}

impl Cones {
    /// Uses these directions for every contact from now on, and these tolerances.
    pub(super) fn set(&mut self, directions: Vec<[f64; 2]>, tolerances: Tolerances) {
        (self.directions, self.tolerances) = (directions, tolerances);
    }

    /// The directions of group `g`.
    #[inline]
    pub(super) fn directions(&self, g: usize) -> &[[f64; 2]] {
        match self.groups[g].sides {
            1 => &FORTH,
            2 => &FORTH_AND_BACK,
            _ => &self.directions,
        }
    }

    /// Column of normal `i`, m.
    #[inline]
    pub(super) fn normal(&self, i: usize) -> &[f64] {
        &self.n[i * self.m..(i + 1) * self.m]
    }

    /// The two tangent columns of group `g`, m each.
    #[inline]
    pub(super) fn tangents(&self, g: usize) -> (&[f64], &[f64]) {
        self.st[2 * g * self.m..2 * (g + 1) * self.m].split_at(self.m)
    }

    /// `out ← out + a d`, with d the column of direction `j` of group `g`.
    pub(super) fn add_direction(&self, g: usize, j: usize, a: f64, out: &mut [f64]) {
        let ([c, s], (along_s, along_t)) = (self.directions(g)[j], self.tangents(g));
        if c != 0.0 {
            add_scaled(a * c, along_s, out);
        }
        if s != 0.0 {
            add_scaled(a * s, along_t, out);
        }
    }

    /// b_σ of direction `j` of group `g`.
    pub(super) fn direction_offset(&self, g: usize, j: usize) -> f64 {
        let ([c, s], [bs, bt]) = (self.directions(g)[j], self.groups[g].offset);
        c * bs + s * bt
    }

    /// The slip of group `g` along its two tangents at motion `x`, with `constant` times its offsets.
    #[inline]
    pub(super) fn slip(&self, g: usize, x: &[f64], constant: f64) -> [f64; 2] {
        let ((s, t), offset) = (self.tangents(g), self.groups[g].offset);
        [product(s, x) + constant * offset[0], product(t, x) + constant * offset[1]]
    }

    /// Order of the problem (8): θ, φ and λ together.
    pub(super) fn order(&self) -> usize {
        self.normals.len() + self.phis + self.groups.len()
    }

    /// How much dependent bilateral rows contradicted each other.
    pub(super) fn inconsistency(&self) -> f64 {
        self.find.inconsistency()
    }

    /// Becomes the problem of `island`.
    pub(super) fn load(&mut self, island: &Whitened, scheme: Scheme) {
        self.dof = island.m();
        self.m = padded(self.dof);
        self.normals.clear();
        self.groups.clear();
        self.n.clear();
        self.st.clear();
        self.phis = 0;
        self.stuck = false;
        self.locked.clear();
        self.hold_bilaterals(island);
        self.set_motion(island);
        for i in 0..island.contacts() {
            if scheme == Scheme::StewartTrinkle || island.touching[i] {
                self.add_contact(island, i);
            }
        }
        for i in 0..island.limit.len() {
            if scheme == Scheme::StewartTrinkle || island.reached[i] {
                self.add_normal(Source::Limit(i), &island.limit, i, 1.0);
            }
        }
        for i in 0..island.bounded.len() {
            self.add_bounded(island, i);
        }
    }

    /// Finds the independent rows among those that must hold: bilateral ones, and bounded ones without a bound.
    fn hold_bilaterals(&mut self, island: &Whitened) {
        let free = |i: usize| island.lo[i] == f64::NEG_INFINITY && island.hi[i] == f64::INFINITY;
        self.fixed.clear();
        self.fixed.extend((0..island.bounded.len()).filter(|&i| free(i)));
        self.find.reset_with(self.dof, island.bilateral.len() + self.fixed.len(), self.tolerances.find_indices);
        for (j, bias) in island.bilateral.bias.iter().enumerate() {
            self.find.add(island.bilateral.g.col(j), *bias);
        }
        for &i in &self.fixed {
            self.find.add(island.bounded.g.col(i), island.bounded.bias[i]);
        }
        self.find.satisfy();
    }

    /// `k ← P (x_free + Σ g · lo)` over the bounded rows, in units of its own size.
    fn set_motion(&mut self, island: &Whitened) {
        self.k.clear();
        self.k.extend_from_slice(&island.x_free);
        self.k_size.clear();
        self.k_size.extend(island.x_free.iter().zip(self.find.x_rows()).map(|(x, r)| x.abs() + r.abs()));
        for i in 0..island.bounded.len() {
            let force = constant_force(island.lo[i], island.hi[i]);
            if force != 0.0 {
                axpy(force, island.bounded.g.col(i), &mut self.k);
                let size = self.k_size.iter_mut().zip(island.bounded.g.col(i));
                size.for_each(|(s, g)| *s += (force * g).abs());
            }
        }
        if self.find.rank() > 0 {
            self.find.project_out(&mut self.k);
            // Where the rows hold all there is, rounding remains.
            let floor = self.tolerances.coulomb_polyhedral.rounding * norm(&self.k_size);
            self.k.iter_mut().filter(|k| k.abs() <= floor).for_each(|k| *k = 0.0);
        }
        let offsets = || [&island.normal, &island.limit, &island.bounded].into_iter().flat_map(|c| &c.bias);
        let size = norm(&self.k_size);
        let size = if size > 0.0 { size } else { offsets().fold(0.0, |max: f64, b| max.max(b.abs())) };
        self.unit = power_of_two(size);
        self.k.iter_mut().chain(&mut self.k_size).for_each(|x| *x /= self.unit);
        self.k.resize(self.m, 0.0);
        self.k_size.resize(self.m, 0.0);
    }

    /// `work ← P g`, zero if nothing but rounding is left; returns its length, the offset `bias + gᵀ x_rows` and the size of its terms.
    fn project(&mut self, g: &[f64], bias: f64) -> (f64, f64, f64) {
        let before = norm(g);
        self.work.clear();
        self.work.extend_from_slice(g);
        if self.find.rank() == 0 {
            return (before, bias, bias.abs());
        }
        self.find.project_out(&mut self.work);
        let after = norm(&self.work);
        let held = dot(g, self.find.x_rows());
        let size = bias.abs() + g.iter().zip(self.find.x_rows()).map(|(g, x)| (g * x).abs()).sum::<f64>();
        (if after <= self.find.dependent() * before { 0.0 } else { after }, bias + held, size)
    }

    /// Adds the pair of row `i` of `columns`, times `sign`; false if nothing can move the row.
    fn add_normal(&mut self, source: Source, columns: &Columns, i: usize, sign: f64) -> bool {
        let (length, offset, size) = self.project(columns.g.col(i), columns.bias[i]);
        if length == 0.0 {
            let terms =
                size + self.unit * columns.g.col(i).iter().zip(&self.k_size).map(|(g, k)| g.abs() * k).sum::<f64>();
            self.stuck |= sign * offset < -self.tolerances.coulomb_polyhedral.violated * terms;
            return false;
        }
        let scale = sign / power_of_two(length);
        self.n.extend(self.work.iter().map(|x| x * scale));
        self.n.resize((self.normals.len() + 1) * self.m, 0.0);
        let (offset, offset_size) = (offset * scale / self.unit, (size * scale / self.unit).abs());
        self.normals.push(Normal { source, scale, offset, offset_size, mu: 0.0, group: NONE });
        true
    }

    fn add_contact(&mut self, island: &Whitened, i: usize) {
        if !self.add_normal(Source::Contact(i), &island.normal, i, 1.0) || island.mu[i] == 0.0 || !island.touching[i] {
            return;
        }
        let planar = island.tangent_t.g.col(i).iter().all(|x| *x == 0.0) && island.tangent_t.bias[i] == 0.0;
        let sides = if planar { 2 } else { self.directions.len() };
        let both = [(&island.tangent_s, i), (&island.tangent_t, i)];
        if !self.add_group(Source::Contact(i), both, sides, 0.0) {
            return;
        }
        let (normal, group) = (self.normals.len() - 1, self.groups.len() - 1);
        self.groups[group].normal = normal;
        self.normals[normal].group = group;
        self.normals[normal].mu = island.mu[i] * self.normals[normal].scale / self.groups[group].scale;
    }

    fn add_bounded(&mut self, island: &Whitened, i: usize) {
        let (lo, hi) = (island.lo[i], island.hi[i]);
        match (lo == f64::NEG_INFINITY, hi == f64::INFINITY) {
            (true, true) => {}
            (false, true) => {
                self.add_normal(Source::From(i), &island.bounded, i, 1.0);
            }
            (true, false) => {
                self.add_normal(Source::UpTo(i), &island.bounded, i, -1.0);
            }
            (false, false) if lo == hi => {}
            (false, false) => {
                let rows = [(&island.bounded, i), (&island.bounded, NONE)];
                if !self.add_group(Source::Between(i), rows, 1, hi - lo) {
                    self.locked.push(i);
                }
            }
        }
    }

    /// Adds a group on two rows, the second of which may be [`NONE`]; false if nothing can move either.
    fn add_group(&mut self, source: Source, rows: [(&Columns, usize); 2], sides: usize, cap: f64) -> bool {
        let start = self.st.len();
        let (mut lengths, mut offset, mut offset_size) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for (a, (columns, i)) in rows.into_iter().enumerate() {
            if i != NONE {
                (lengths[a], offset[a], offset_size[a]) = self.project(columns.g.col(i), columns.bias[i]);
            }
            if lengths[a] != 0.0 {
                self.st.extend_from_slice(&self.work);
            }
            self.st.resize(start + (a + 1) * self.m, 0.0);
        }
        if lengths == [0.0; 2] {
            self.st.truncate(start);
            return false;
        }
        let scale = 1.0 / power_of_two(lengths[0].max(lengths[1]));
        self.st[start..].iter_mut().for_each(|x| *x *= scale);
        let unit = self.unit;
        let (offset, offset_size) = (offset.map(|x| x * scale / unit), offset_size.map(|x| x * scale / unit));
        let cap = cap / scale / unit;
        self.groups.push(Group { source, scale, offset, offset_size, normal: NONE, cap, first: self.phis, sides });
        self.phis += sides;
        true
    }

    /// The number of the letter of θ_i, of φ_gj or of λ_g in a basis.
    pub(super) fn letter(&self, pair: Pair) -> usize {
        match pair {
            Pair::Normal(i) => i,
            Pair::Direction(g, j) => self.normals.len() + self.groups[g].first + j,
            Pair::Cap(g) => self.normals.len() + self.phis + g,
        }
    }
}

/// A pair of complementary variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// ν_i and θ_i.
    Normal(usize),
    /// σ_gj and φ_gj.
    Direction(usize, usize),
    /// γ_g and λ_g.
    Cap(usize),
}

/// Sets the letter of a basic z.
pub(super) fn set_basic(basis: &mut Basis, letter: usize) {
    basis.set(letter, Position::Basic);
}

/// The part of a bounded row's force that is no unknown: the bound it is counted from.
fn constant_force(lo: f64, hi: f64) -> f64 {
    match (lo == f64::NEG_INFINITY, hi == f64::INFINITY) {
        (true, true) => 0.0,
        (true, false) => hi,
        _ => lo,
    }
}

/// The largest power of two that is at most `x`; 1 for zero and what is no number.
fn power_of_two(x: f64) -> f64 {
    /// The exponent's bits: without those of the fraction a positive number is the power of two below it.
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if x > 0.0 && x.is_finite() && x >= f64::MIN_POSITIVE { f64::from_bits(x.to_bits() & EXPONENT) } else { 1.0 }
}
