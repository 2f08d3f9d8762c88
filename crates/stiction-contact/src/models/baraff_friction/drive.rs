//! `drive-to-zero` and `fdirection` with friction. Reference: [Baraff94, §5.5].

use stiction_lcp::matrix::{axpy, dot, norm};

use super::Tolerances;
use super::clamped::{Clamped, abs_dot, add_abs};
use super::maxstep::Events;
use super::sets::{Along, Clamp, Friction, Place};
use super::system::{FrictionKind, System};

/// Steps allowed by default: this many per row and contact, and for as many more.
const STEPS_PER_ROW: usize = 30;
const ROWS_MORE: usize = 10;

/// Why a drive could not be brought to its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Halt {
    /// The step is infinite; the direction is in `df`, `df_friction` and `dx`.
    Unbounded,
    /// The limit on steps.
    Limit(usize),
    /// Something was lost to rounding.
    Numerical(&'static str),
}

/// What is driven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Driven {
    /// The force of row `i`, up (1) or down (−1), until its acceleration is zero or the force at a bound.
    Row { i: usize, sign: f64 },
    /// The friction of contact `i` along `e`, until its acceleration along e is zero or the force on the cone.
    Tangent { i: usize, e: [f64; 2] },
    /// The friction of contact `i`, along `e` back to zero.
    Release { i: usize, e: [f64; 2] },
}

impl Driven {
    pub(super) fn row(self) -> usize {
        match self {
            Self::Row { i, .. } | Self::Tangent { i, .. } | Self::Release { i, .. } => i,
        }
    }

    fn along(self) -> Along {
        match self {
            Self::Row { .. } => Along::Row,
            Self::Tangent { e, .. } | Self::Release { e, .. } => Along::Tangent(e),
        }
    }

    fn sign(self) -> f64 {
        if let Self::Row { sign, .. } = self { sign } else { 1.0 }
    }
}

/// The state of the driving method: forces, index sets, and the workspace of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Driver {
    pub tolerances: Tolerances,
    pub system: System,
    /// Forces along the rows, and friction forces of contacts.
    pub f: Vec<f64>,
    pub f_friction: Vec<[f64; 2]>,
    pub place: Vec<Place>,
    pub friction: Vec<Friction>,
    pub clamped: Clamped,
    /// Motion, and the sizes of its terms, m.
    pub x: Vec<f64>,
    pub size: Vec<f64>,
    /// Change of forces and motion per unit of the step, and the sizes of the terms of the latter.
    pub df: Vec<f64>,
    pub df_friction: Vec<[f64; 2]>,
    pub dx: Vec<f64>,
    pub dsize: Vec<f64>,
    y: Vec<f64>,
    pub work: Vec<f64>,
    pub column: Vec<f64>,
    pub events: Events,
    /// Rows and contacts whose condition depends on the clamped ones and so cannot join them, until something changes.
    pub refused: Vec<[bool; 2]>,
    /// Changes of set of each row and of its friction since the last step of some length.
    pub changes: Vec<[u8; 2]>,
    /// Conditions that are off by what was found to be rounding.
    pub within_rounding: Vec<[bool; 2]>,
    /// The first direction in which the friction of each contact is established; the second is across it.
    pub frame: Vec<[f64; 2]>,
    pub steps: usize,
    pub max_steps: usize,
}

impl Driver {
    /// No forces, no row looked at.
    pub(super) fn reset(&mut self) {
        let (rows, contacts, m) = (self.system.rows(), self.system.contacts, self.system.m);
        refill(&mut self.f, rows, 0.0);
        refill(&mut self.f_friction, contacts, [0.0; 2]);
        refill(&mut self.place, rows, Place::Ignored);
        refill(&mut self.friction, contacts, Friction::Absent);
        refill(&mut self.frame, contacts, [1.0, 0.0]);
        refill(&mut self.df, rows, 0.0);
        refill(&mut self.df_friction, contacts, [0.0; 2]);
        refill(&mut self.refused, rows, [false; 2]);
        refill(&mut self.changes, rows, [0; 2]);
        refill(&mut self.within_rounding, rows, [false; 2]);
        for vector in [&mut self.x, &mut self.size, &mut self.dx, &mut self.dsize, &mut self.column] {
            refill(vector, m, 0.0);
        }
        let symmetric = self.system.friction_kind.iter().all(|r| *r == FrictionKind::Smooth);
        // Never more than m independent ones.
        self.clamped.reset(m, m.min(rows + 2 * contacts), symmetric, self.tolerances.drift);
        for i in 0..rows {
            self.f[i] = 0.0f64.clamp(self.system.lo[i], self.system.hi[i]);
        }
        for c in 0..contacts {
            self.friction[c] = match self.system.friction_kind[c] {
                FrictionKind::Smooth => Friction::Absent,
                FrictionKind::Static => Friction::Off,
                FrictionKind::Dynamic(u) => Friction::Dynamic(u),
            };
        }
        self.refresh();
    }

    /// Motion and sizes from the forces.
    pub(super) fn refresh(&mut self) {
        let system = &self.system;
        self.x.copy_from_slice(&system.x0);
        self.size.iter_mut().zip(&system.x0).for_each(|(s, x)| *s = x.abs());
        for i in (0..system.rows()).filter(|&i| self.f[i] != 0.0) {
            axpy(self.f[i], system.g.col(i), &mut self.x);
            add_abs(self.f[i], system.g.col(i), &mut self.size);
        }
        for c in 0..system.contacts {
            for k in (0..2).filter(|&k| self.f_friction[c][k] != 0.0) {
                axpy(self.f_friction[c][k], system.tangent[k].col(c), &mut self.x);
                add_abs(self.f_friction[c][k], system.tangent[k].col(c), &mut self.size);
            }
        }
    }

    /// Acceleration of row `i`, and the size of its terms.
    pub(super) fn a(&self, i: usize) -> (f64, f64) {
        let (g, bias) = (self.system.g.col(i), self.system.bias[i]);
        (dot(g, &self.x) + bias, abs_dot(g, &self.size) + self.system.bias_size[i])
    }

    /// Tangential acceleration of contact `c`, and the size of its terms.
    pub(super) fn a_friction(&self, c: usize) -> ([f64; 2], f64) {
        let (tangent, bias, sizes) = (&self.system.tangent, &self.system.tangent_bias, &self.system.tangent_bias_size);
        let a = [0, 1].map(|k| dot(tangent[k].col(c), &self.x) + bias[k][c]);
        let size = [0, 1].map(|k| abs_dot(tangent[k].col(c), &self.size) + sizes[k][c]);
        (a, norm(&size))
    }

    /// Change of the acceleration of row `i` along `along`, 0 if that is rounding.
    pub(super) fn da(&self, i: usize, along: Along) -> f64 {
        let (change, size) = match along {
            Along::Row => (dot(self.system.g.col(i), &self.dx), abs_dot(self.system.g.col(i), &self.dsize)),
            Along::Tangent(e) => {
                let part = |k: usize| self.system.tangent[k].col(i);
                let change = e[0] * dot(part(0), &self.dx) + e[1] * dot(part(1), &self.dx);
                (change, e[0].abs() * abs_dot(part(0), &self.dsize) + e[1].abs() * abs_dot(part(1), &self.dsize))
            }
        };
        if change.abs() > self.tolerances.no_change * size { change } else { 0.0 }
    }

    /// Changes one force until its goal is met, keeping the conditions of all index sets. Reference: [Baraff94, §5.5].
    pub(super) fn drive_to_zero(&mut self, driven: Driven) -> Result<(), Halt> {
        self.refused.fill([false; 2]);
        self.changes.fill([0; 2]);
        self.clamped.mend();
        match driven {
            Driven::Row { i, .. } => self.place[i] = Place::Ignored,
            Driven::Tangent { .. } => {}
            Driven::Release { i, .. } => self.hold(i),
        }
        loop {
            stiction_lcp::interrupt::check();
            self.count()?;
            self.fdirection(driven)?;
            if self.is_settled(driven) {
                self.settle(driven);
                return Ok(());
            }
            let Some((s, event)) = self.maxstep(driven) else { return Err(Halt::Unbounded) };
            self.advance(s);
            if self.has_length(s) {
                self.changes.fill([0; 2]);
            }
            if event.is_of_driven() {
                self.reached(driven, event);
                return Ok(());
            }
            self.change_sets(event);
            if !self.can_go_on(driven) {
                return Ok(());
            }
        }
    }

    /// Steps allowed to an attempt unless the options say otherwise.
    pub(super) fn default_steps(&self) -> usize {
        STEPS_PER_ROW * (self.system.rows() + self.system.contacts + ROWS_MORE)
    }

    /// Counts a step.
    fn count(&mut self) -> Result<(), Halt> {
        self.steps += 1;
        if self.steps > self.max_steps { Err(Halt::Limit(self.max_steps)) } else { Ok(()) }
    }

    /// Δf for a unit change of the driven force: no clamped acceleration changes. Reference: [Baraff94, Eq. 9, §5.5].
    pub(super) fn fdirection(&mut self, driven: Driven) -> Result<(), Halt> {
        let clamp = Clamp { i: driven.row(), along: driven.along() };
        if !self.direction_of(clamp, driven.sign()) {
            return Err(Halt::Numerical("the matrix of the clamped conditions"));
        }
        self.spread(clamp, driven.sign());
        if self.dx.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Halt::Numerical("the direction")) }
    }

    /// `dx`, `dsize` and y for a change by `sign` of the force of `clamp`. False if there is no such direction.
    pub(super) fn direction_of(&mut self, clamp: Clamp, sign: f64) -> bool {
        fill_column(&self.system, &self.friction, clamp, &mut self.column);
        self.dx.iter_mut().zip(&self.column).for_each(|(dx, h)| *dx = sign * h);
        self.dsize.iter_mut().zip(&self.column).for_each(|(s, h)| *s = h.abs());
        self.clamped.hold(&mut self.dx, &mut self.dsize, &mut self.y)
    }

    /// Δf as forces of all rows and contacts.
    fn spread(&mut self, driven: Clamp, sign: f64) {
        self.df.fill(0.0);
        self.df_friction.fill([0.0; 2]);
        let noise = f64::EPSILON * norm(&self.dsize);
        for (k, &clamp) in self.clamped.list().iter().chain([&driven]).enumerate() {
            let y = if k < self.y.len() { self.y[k] } else { sign };
            if k < self.y.len() && y.abs() * norm(self.clamped.column(k)) <= noise {
                continue;
            }
            let (i, e) = match clamp.along {
                Along::Row => {
                    self.df[clamp.i] += y;
                    let Some(u) = self.friction.get(clamp.i).and_then(|f| f.tied()) else { continue };
                    (clamp.i, u.map(|u| u * self.system.mu[clamp.i]))
                }
                Along::Tangent(e) => (clamp.i, e),
            };
            (0..2).for_each(|l| self.df_friction[i][l] += e[l] * y);
        }
    }

    /// True if the driven acceleration does not change and is zero to rounding.
    fn is_settled(&self, driven: Driven) -> bool {
        match driven {
            Driven::Row { i, .. } => {
                let (a, size) = self.a(i);
                self.da(i, Along::Row) == 0.0 && a.abs() <= self.tolerances.dependent_row * size
            }
            Driven::Tangent { i, e } => {
                let (a, size) = self.a_friction(i);
                let most = self.tolerances.dependent_row * size;
                self.da(i, Along::Tangent(e)) == 0.0 && (a[0] * e[0] + a[1] * e[1]).abs() <= most
            }
            Driven::Release { .. } => false,
        }
    }

    /// Leaves the driven condition where it is: met, to rounding, by the clamped ones it depends on.
    fn settle(&mut self, driven: Driven) {
        match driven {
            Driven::Row { i, .. } => self.within_rounding[i][0] = true,
            Driven::Tangent { i, .. } | Driven::Release { i, .. } => {
                self.within_rounding[i][1] = true;
                self.hold(i);
            }
        }
    }

    /// `f ← f + s Δf`; friction that is tied to a normal force follows exactly.
    fn advance(&mut self, s: f64) {
        for (f, df) in self.f.iter_mut().zip(&self.df) {
            *f += s * df;
        }
        for c in 0..self.system.contacts {
            match self.friction[c].tied() {
                Some(u) => self.f_friction[c] = u.map(|u| u * self.system.mu[c] * self.f[c]),
                None => (0..2).for_each(|k| self.f_friction[c][k] += s * self.df_friction[c][k]),
            }
        }
        self.refresh();
    }

    fn has_length(&self, s: f64) -> bool {
        let least = self.tolerances.no_length;
        self.dsize.iter().zip(&self.size).any(|(d, size)| s * d > least * size)
    }

    /// Friction is driven only while the normal force holds.
    fn can_go_on(&self, driven: Driven) -> bool {
        match driven {
            Driven::Tangent { i, .. } => self.place[i] == Place::Clamped,
            _ => true,
        }
    }

    /// The frame of each contact is turned against its present acceleration.
    pub(super) fn turn_frames(&mut self) {
        for c in 0..self.system.contacts {
            let (a, size) = self.a_friction(c);
            let speed = norm(&a);
            let turned = speed > self.tolerances.dependent_row * size && !self.system.planar[c];
            self.frame[c] = if turned { a.map(|a| -a / speed) } else { [1.0, 0.0] };
        }
    }
}

/// The row of a condition: the acceleration it holds is `rowᵀ x`.
pub(super) fn fill_row(system: &System, clamp: Clamp, out: &mut [f64]) {
    match clamp.along {
        Along::Row => out.copy_from_slice(system.g.col(clamp.i)),
        Along::Tangent(e) => {
            out.fill(0.0);
            system.add_tangent(clamp.i, e, 1.0, out);
        }
    }
}

/// The column of a condition: a unit of its force, with the friction that is tied to it, changes x by this.
pub(super) fn fill_column(system: &System, friction: &[Friction], clamp: Clamp, out: &mut [f64]) {
    fill_row(system, clamp, out);
    if clamp.along == Along::Row
        && let Some(u) = friction.get(clamp.i).and_then(|f| f.tied())
    {
        system.add_tangent(clamp.i, u, system.mu[clamp.i], out);
    }
}

fn refill<A: Clone>(vector: &mut Vec<A>, len: usize, value: A) {
    vector.clear();
    vector.resize(len, value);
}
