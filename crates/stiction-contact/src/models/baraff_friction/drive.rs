//! `drive-to-zero` and `fdirection` with friction. Reference: [Baraff94, §5.5].

use stiction_lcp::Matrix;
use stiction_lcp::lu::Lu;
use stiction_lcp::matrix::{axpy, dot, norm};

use super::maxstep::{Event, Events};
use super::sets::{Along, Clamp, Friction, Place};
use super::system::{NEGLIGIBLE, Rubbing, System};

/// A change of acceleration is rounding if it is at most this part of its terms.
pub(super) const NOISE: f64 = 1e-12;

/// A row whose acceleration cannot be changed is satisfied if that is at most this part of its terms.
const SETTLED: f64 = 1e-11;

/// A step is one of no length if it changes no motion by more than this part of its terms.
const NO_LENGTH: f64 = 1e-13;

/// An index that changes its set more often than this without a step of any length in between is dropped: it oscillates.
const OSCILLATES: u8 = 2;

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
    pub fn row(self) -> usize {
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
    pub system: System,
    /// Forces along the rows, and friction forces of contacts.
    pub f: Vec<f64>,
    pub f_friction: Vec<[f64; 2]>,
    pub place: Vec<Place>,
    pub friction: Vec<Friction>,
    /// The clamped conditions, in the order of the matrix, with the row and the force column of each (m × k).
    pub clamps: Vec<Clamp>,
    clamp_rows: Matrix,
    clamp_columns: Matrix,
    lu: Lu,
    stale: bool,
    /// Motion, and the sizes of its terms, m.
    pub x: Vec<f64>,
    pub size: Vec<f64>,
    /// Change of forces and motion per unit of the step, and the sizes of the terms of the latter.
    pub df: Vec<f64>,
    pub df_friction: Vec<[f64; 2]>,
    pub dx: Vec<f64>,
    pub dsize: Vec<f64>,
    y: Vec<f64>,
    work: Vec<f64>,
    column: Vec<f64>,
    pub events: Events,
    /// Rows and contacts whose condition depends on the clamped ones and so cannot join them, until something changes.
    pub refused: Vec<[bool; 2]>,
    /// Changes of set of each row and of its friction since the last step of some length.
    changes: Vec<[u8; 2]>,
    /// Conditions that are off by what was found to be rounding.
    pub excused: Vec<[bool; 2]>,
    /// The first direction in which the friction of each contact is established; the second is across it.
    pub frame: Vec<[f64; 2]>,
    pub steps: usize,
    pub max_steps: usize,
}

impl Driver {
    /// No forces, no row looked at.
    pub fn reset(&mut self) {
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
        refill(&mut self.excused, rows, [false; 2]);
        for vector in [&mut self.x, &mut self.size, &mut self.dx, &mut self.dsize, &mut self.column] {
            refill(vector, m, 0.0);
        }
        self.clamps.clear();
        self.stale = true;
        for i in 0..rows {
            self.f[i] = 0.0f64.clamp(self.system.lo[i], self.system.hi[i]);
        }
        for c in 0..contacts {
            self.friction[c] = match self.system.rubbing[c] {
                Rubbing::Smooth => Friction::Absent,
                Rubbing::Static => Friction::Off,
                Rubbing::Dynamic(u) => Friction::Dynamic(u),
            };
        }
        self.refresh();
    }

    /// Motion and sizes from the forces.
    pub fn refresh(&mut self) {
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
    pub fn a(&self, i: usize) -> (f64, f64) {
        let (g, bias) = (self.system.g.col(i), self.system.bias[i]);
        (dot(g, &self.x) + bias, abs_dot(g, &self.size) + self.system.bias_size[i])
    }

    /// Tangential acceleration of contact `c`, and the size of its terms.
    pub fn a_friction(&self, c: usize) -> ([f64; 2], f64) {
        let (tangent, bias, sizes) = (&self.system.tangent, &self.system.tangent_bias, &self.system.tangent_bias_size);
        let a = [0, 1].map(|k| dot(tangent[k].col(c), &self.x) + bias[k][c]);
        let size = [0, 1].map(|k| abs_dot(tangent[k].col(c), &self.size) + sizes[k][c]);
        (a, norm(&size))
    }

    /// Change of the acceleration of row `i` along `along`, 0 if that is rounding.
    pub fn da(&self, i: usize, along: Along) -> f64 {
        let (change, size) = match along {
            Along::Row => (dot(self.system.g.col(i), &self.dx), abs_dot(self.system.g.col(i), &self.dsize)),
            Along::Tangent(e) => {
                let part = |k: usize| self.system.tangent[k].col(i);
                let change = e[0] * dot(part(0), &self.dx) + e[1] * dot(part(1), &self.dx);
                (change, e[0].abs() * abs_dot(part(0), &self.dsize) + e[1].abs() * abs_dot(part(1), &self.dsize))
            }
        };
        if change.abs() > NOISE * size { change } else { 0.0 }
    }

    /// Changes one force until its goal is met, keeping the conditions of all index sets. Reference: [Baraff94, §5.5].
    pub fn drive_to_zero(&mut self, driven: Driven) -> Result<(), Halt> {
        self.refused.fill([false; 2]);
        self.changes.fill([0; 2]);
        self.place[driven.row()] = if matches!(driven, Driven::Row { .. }) { Place::Ignored } else { self.place[driven.row()] };
        loop {
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
            if event.is_of(driven) {
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
    pub fn default_steps(&self) -> usize {
        STEPS_PER_ROW * (self.system.rows() + self.system.contacts + ROWS_MORE)
    }

    /// Counts a step.
    fn count(&mut self) -> Result<(), Halt> {
        self.steps += 1;
        if self.steps > self.max_steps { Err(Halt::Limit(self.max_steps)) } else { Ok(()) }
    }

    /// Δf for a unit change of the driven force: no clamped acceleration changes. Reference: [Baraff94, Eq. 9, §5.5].
    pub fn fdirection(&mut self, driven: Driven) -> Result<(), Halt> {
        self.factor()?;
        let clamp = Clamp { i: driven.row(), along: driven.along() };
        self.direction_of(clamp, driven.sign());
        self.spread(clamp, driven.sign());
        if self.dx.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Halt::Numerical("the direction")) }
    }

    /// `dx`, `dsize` and y for a change by `sign` of the force of `clamp`, refined once.
    fn direction_of(&mut self, clamp: Clamp, sign: f64) {
        fill_column(&self.system, &self.friction, clamp, &mut self.column);
        self.dx.iter_mut().zip(&self.column).for_each(|(dx, h)| *dx = sign * h);
        refill(&mut self.y, self.clamps.len(), 0.0);
        for _ in 0..2 {
            self.work.clear();
            self.work.extend((0..self.clamps.len()).map(|k| -dot(self.clamp_rows.col(k), &self.dx)));
            self.lu.solve(&mut self.work);
            for (k, step) in self.work.iter().enumerate() {
                self.y[k] += step;
                axpy(*step, self.clamp_columns.col(k), &mut self.dx);
            }
        }
        self.dsize.iter_mut().zip(&self.column).for_each(|(s, h)| *s = h.abs());
        for (k, y) in self.y.iter().enumerate() {
            add_abs(*y, self.clamp_columns.col(k), &mut self.dsize);
        }
    }

    /// Δf as forces of all rows and contacts.
    fn spread(&mut self, driven: Clamp, sign: f64) {
        self.df.fill(0.0);
        self.df_friction.fill([0.0; 2]);
        let noise = f64::EPSILON * norm(&self.dsize);
        for (k, &clamp) in self.clamps.iter().chain([&driven]).enumerate() {
            let y = if k < self.y.len() { self.y[k] } else { sign };
            if k < self.y.len() && y.abs() * norm(self.clamp_columns.col(k)) <= noise {
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

    /// The matrix of the clamped conditions and its factor, if they have changed.
    fn factor(&mut self) -> Result<(), Halt> {
        if !self.stale {
            return Ok(());
        }
        let k = self.clamps.len();
        self.clamp_rows.reset(self.system.m, k);
        self.clamp_columns.reset(self.system.m, k);
        for (at, &clamp) in self.clamps.iter().enumerate() {
            fill_row(&self.system, clamp, self.clamp_rows.col_mut(at));
            fill_column(&self.system, &self.friction, clamp, self.clamp_columns.col_mut(at));
        }
        let (rows, columns) = (&self.clamp_rows, &self.clamp_columns);
        self.lu.factor_with(k, |i, j| dot(rows.col(i), columns.col(j)));
        self.stale = false;
        if self.lu.pivot_ratio() > 0.0 { Ok(()) } else { Err(Halt::Numerical("the matrix of the clamped conditions")) }
    }

    /// True if the driven acceleration does not change and is zero to rounding.
    fn is_settled(&self, driven: Driven) -> bool {
        match driven {
            Driven::Row { i, .. } => {
                let (a, size) = self.a(i);
                self.da(i, Along::Row) == 0.0 && a.abs() <= SETTLED * size
            }
            Driven::Tangent { i, e } => {
                let (a, size) = self.a_friction(i);
                self.da(i, Along::Tangent(e)) == 0.0 && (a[0] * e[0] + a[1] * e[1]).abs() <= SETTLED * size
            }
            Driven::Release { .. } => false,
        }
    }

    /// Leaves the driven condition where it is: met, to rounding, by the clamped ones it depends on.
    fn settle(&mut self, driven: Driven) {
        match driven {
            Driven::Row { i, .. } => self.excused[i][0] = true,
            Driven::Tangent { i, .. } | Driven::Release { i, .. } => {
                self.excused[i][1] = true;
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
        self.dsize.iter().zip(&self.size).any(|(d, size)| s * d > NO_LENGTH * size)
    }

    /// The driven index enters the set that the end of its step belongs to.
    fn reached(&mut self, driven: Driven, event: Event) {
        match (driven, event) {
            (Driven::Row { i, sign }, Event::DrivenBound) => {
                let (place, bound) =
                    if sign > 0.0 { (Place::Upper, self.system.hi[i]) } else { (Place::Lower, self.system.lo[i]) };
                self.place[i] = place;
                self.f[i] = bound;
            }
            (Driven::Row { i, .. }, _) => {
                self.place[i] = Place::Clamped;
                self.push(Clamp { i, along: Along::Row });
            }
            (Driven::Tangent { i, e }, Event::DrivenBound) => self.slide(i, e),
            (Driven::Tangent { i, e }, _) => {
                self.friction[i] = if self.friction[i] == Friction::Off { Friction::Along(e) } else { Friction::Stick };
                self.push(Clamp { i, along: Along::Tangent(e) });
            }
            (Driven::Release { i, .. }, _) => {
                self.f_friction[i] = [0.0; 2];
                self.friction[i] = Friction::Off;
            }
        }
    }

    /// Moves an index that has reached the limit of its set to the next one, or drops it if it oscillates.
    fn change_sets(&mut self, event: Event) {
        let (i, part) = match event {
            Event::Bound(i, _) | Event::Closes(i) => (i, 0),
            Event::Cone(i) | Event::Turns(i) => (i, 1),
            Event::DrivenZero | Event::DrivenBound => return,
        };
        self.changes[i][part] += 1;
        let oscillates = self.changes[i][part] > OSCILLATES;
        match event {
            Event::Bound(i, upper) => {
                self.unclamp(i, upper);
                if oscillates {
                    self.place[i] = Place::Ignored;
                }
            }
            Event::Closes(i) if oscillates => self.place[i] = Place::Ignored,
            Event::Closes(i) => self.clamp(i),
            Event::Cone(i) if oscillates => self.hold(i),
            Event::Cone(i) => self.slide(i, [1.0, 0.0]),
            Event::Turns(i) if oscillates => self.hold(i),
            Event::Turns(i) => self.turn(i),
            Event::DrivenZero | Event::DrivenBound => {}
        }
    }

    /// Friction is driven only while the normal force holds.
    fn can_go_on(&self, driven: Driven) -> bool {
        match driven {
            Driven::Tangent { i, .. } => self.place[i] == Place::Clamped,
            _ => true,
        }
    }

    fn push(&mut self, clamp: Clamp) {
        self.clamps.push(clamp);
        self.changed();
    }

    fn changed(&mut self) {
        self.stale = true;
        self.refused.fill([false; 2]);
    }

    /// C to NC: the force has reached a bound. Friction is suspended.
    fn unclamp(&mut self, i: usize, upper: bool) {
        self.clamps.retain(|c| c.i != i);
        self.changed();
        (self.place[i], self.f[i]) =
            if upper { (Place::Upper, self.system.hi[i]) } else { (Place::Lower, self.system.lo[i]) };
        if i < self.system.contacts {
            match self.friction[i] {
                Friction::Along(_) | Friction::Stick | Friction::Slide(_) | Friction::Off => {
                    self.friction[i] = Friction::Off;
                    self.f_friction[i] = [0.0; 2];
                }
                Friction::Dynamic(_) => self.f_friction[i] = [0.0; 2],
                Friction::Absent | Friction::Held => {}
            }
        }
    }

    /// NC to C, unless the row depends on the clamped ones. Friction goes on in the set that the tangential acceleration asks for.
    fn clamp(&mut self, i: usize) {
        if i < self.system.contacts && self.friction[i] == Friction::Off {
            let (a, size) = self.a_friction(i);
            let speed = norm(&a);
            if speed > SETTLED * size {
                self.friction[i] = Friction::Slide(a.map(|a| -a / speed));
            }
        }
        let clamp = Clamp { i, along: Along::Row };
        if !self.is_independent(clamp) {
            if matches!(self.friction.get(i), Some(Friction::Slide(_))) {
                self.friction[i] = Friction::Off;
            }
            self.refused[i][0] = true;
            return;
        }
        self.place[i] = Place::Clamped;
        self.push(clamp);
    }

    /// To NC_F, in the direction of the force, or along `e` if there is none.
    fn slide(&mut self, i: usize, e: [f64; 2]) {
        let f = self.f_friction[i];
        let size = norm(&f);
        let d = self.df_friction[i];
        let change = norm(&d);
        let u = if size > 0.0 {
            f.map(|f| f / size)
        } else if change > 0.0 {
            d.map(|d| d / change)
        } else {
            e
        };
        self.clamps.retain(|c| c.i != i || c.along == Along::Row);
        self.friction[i] = Friction::Slide(u);
        self.f_friction[i] = u.map(|u| u * self.system.mu[i] * self.f[i]);
        self.changed();
    }

    /// NC_F to C_F: the acceleration no longer opposes the force.
    fn turn(&mut self, i: usize) {
        let Friction::Slide(u) = self.friction[i] else { return };
        self.friction[i] = Friction::Along(u);
        self.stale = true;
        let clamp = Clamp { i, along: Along::Tangent(u) };
        if self.is_independent(clamp) {
            self.push(clamp);
        } else {
            self.friction[i] = Friction::Slide(u);
            self.stale = true;
            self.refused[i][1] = true;
        }
    }

    /// Gives up on the friction of contact `i` for a while.
    pub fn hold(&mut self, i: usize) {
        if matches!(self.friction[i], Friction::Absent | Friction::Dynamic(_)) {
            return;
        }
        self.clamps.retain(|c| c.i != i || c.along == Along::Row);
        self.friction[i] = if self.f_friction[i] == [0.0; 2] { Friction::Off } else { Friction::Held };
        self.changed();
    }

    /// Whether a condition can be clamped beside those that are: its own force changes its acceleration.
    fn is_independent(&mut self, clamp: Clamp) -> bool {
        if self.factor().is_err() {
            return false;
        }
        self.direction_of(clamp, 1.0);
        self.da(clamp.i, clamp.along) != 0.0
    }

    /// Forces of the clamped conditions from one linear system, refined: they hold to rounding.
    pub fn polish(&mut self) -> Result<(), Halt> {
        const REFINEMENTS: usize = 3;
        self.factor()?;
        for _ in 0..REFINEMENTS {
            self.refresh();
            self.work.clear();
            for k in 0..self.clamps.len() {
                let bias = self.clamp_bias(self.clamps[k]);
                self.work.push(-dot(self.clamp_rows.col(k), &self.x) - bias);
            }
            self.lu.solve(&mut self.work);
            for (k, step) in self.work.iter().enumerate() {
                let i = self.clamps[k].i;
                match self.clamps[k].along {
                    Along::Row => self.f[i] += step,
                    Along::Tangent(e) => (0..2).for_each(|l| self.f_friction[i][l] += e[l] * step),
                }
            }
            for c in 0..self.system.contacts {
                if let Some(u) = self.friction[c].tied() {
                    self.f_friction[c] = u.map(|u| u * self.system.mu[c] * self.f[c]);
                }
            }
        }
        self.refresh();
        if self.x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Halt::Numerical("the forces")) }
    }

    fn clamp_bias(&self, clamp: Clamp) -> f64 {
        match clamp.along {
            Along::Row => self.system.bias[clamp.i],
            Along::Tangent(e) => {
                e[0] * self.system.tangent_bias[0][clamp.i] + e[1] * self.system.tangent_bias[1][clamp.i]
            }
        }
    }

    /// The frame of each contact is turned against its present acceleration.
    pub fn turn_frames(&mut self) {
        for c in 0..self.system.contacts {
            let (a, size) = self.a_friction(c);
            let speed = norm(&a);
            let turned = speed > SETTLED * size && !self.system.planar[c];
            self.frame[c] = if turned { a.map(|a| -a / speed) } else { [1.0, 0.0] };
        }
    }

    /// Forces that are rounding beside the others become zero: where there is nothing to measure them by, they would stand out.
    pub fn drop_noise(&mut self) {
        let noise = NEGLIGIBLE * norm(&self.size);
        for i in 0..self.system.rows() {
            let within = self.system.lo[i] <= 0.0 && self.system.hi[i] >= 0.0;
            if within && self.f[i].abs() * self.system.length[i] <= noise {
                self.f[i] = 0.0;
            }
        }
        for c in 0..self.system.contacts {
            let length = self.tangent_length(c);
            self.f_friction[c].iter_mut().filter(|f| f.abs() * length <= noise).for_each(|f| *f = 0.0);
        }
        self.refresh();
    }

    /// Takes row `i` out of all sets, its force at the bound next to it.
    pub fn drop_row(&mut self, i: usize) {
        let upper = self.f[i] - self.system.lo[i] > self.system.hi[i] - self.f[i];
        self.unclamp(i, upper);
        self.place[i] = Place::Ignored;
    }
}

/// The row of a condition: the acceleration it holds is `rowᵀ x`.
fn fill_row(system: &System, clamp: Clamp, out: &mut [f64]) {
    match clamp.along {
        Along::Row => out.copy_from_slice(system.g.col(clamp.i)),
        Along::Tangent(e) => {
            out.fill(0.0);
            system.add_tangent(clamp.i, e, 1.0, out);
        }
    }
}

/// The column of a condition: a unit of its force, with the friction that is tied to it, changes x by this.
fn fill_column(system: &System, friction: &[Friction], clamp: Clamp, out: &mut [f64]) {
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

/// `y ← y + |a x|`, entry by entry.
fn add_abs(a: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += (a * x).abs());
}

/// `Σ |gⱼ| sⱼ`.
fn abs_dot(g: &[f64], s: &[f64]) -> f64 {
    g.iter().zip(s).map(|(g, s)| g.abs() * s).sum()
}
