//! The forces of a basis once more, in their own variables.
//!
//! A basis says of every contact whether it presses, and of every axis whether its force is at its lower bound, at its upper one, or holds the
//! acceleration at zero. What remains is one linear system: the accelerations of the pressing and holding rows are zero. Solving it for c itself,
//! not for
//! `s⁺ = μ c_n + c`, keeps a force that is small beside μ c_n as accurate as any other, and makes one that nothing asks for exactly zero.

use stiction_lcp::finish::Finish;
use stiction_lcp::matrix::axpy;
use stiction_lcp::{Basis, InputError, Matrix, Mlcp, Options, Position};

use super::formulation::{AXES, Formulation, Kind};
use crate::by_island::IslandForces;
use crate::whitened::Whitened;

/// What the force of an axis does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    AtLower,
    AtUpper,
    Holds,
}

/// Rounds of leaving out forces that are rounding.
const ROUNDS: usize = 4;

/// A force whose effect on its own row is at most this fraction of the row's largest term is rounding: the row is still without it.
const FORCE_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// True if the force of row `a` is rounding beside what else acts on that row.
fn is_noise(system: &Mlcp, c: &[f64], a: usize) -> bool {
    let terms = (0..c.len()).map(|b| (system.m()[(a, b)] * c[b]).abs());
    let largest = terms.fold(system.q()[a].abs(), f64::max);
    (system.m()[(a, a)] * c[a]).abs() <= FORCE_ROUNDING * largest
}

impl Formulation {
    /// Solves the system of `basis` for the forces and puts them in `out`; leaves `out` alone if it is singular.
    ///
    /// # Errors
    /// If a number leaves the range of f64.
    pub(super) fn polish(
        &mut self,
        island: &Whitened,
        basis: &Basis,
        finish: &mut Finish,
        options: &Options,
        out: &mut IslandForces,
    ) -> Result<(), InputError> {
        let states: Vec<State> = (0..self.axes.len()).map(|k| self.state(basis, k)).collect();
        self.know_bounds(island, &states);
        let mut active = self.active(basis, &states);
        for _ in 0..ROUNDS {
            let system = self.system(island, &active, &states)?;
            let all = Basis::new(vec![Position::Basic; active.len()]);
            let Some(c) = finish.solution((&system).into(), &all, options) else { return Ok(()) };
            self.put(island, &active, &states, &c, out);
            let count = active.len();
            let noise: Vec<usize> = (0..count).filter(|&a| is_noise(&system, &c, a)).map(|a| active[a]).collect();
            active.retain(|i| !noise.contains(i) && self.normal_of(*i).is_none_or(|normal| !noise.contains(&normal)));
            if active.len() == count {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The rows whose acceleration is zero by a force of their own: singles that press, then axes that hold, at a contact that presses if they are
    /// of one.
    fn active(&self, basis: &Basis, states: &[State]) -> Vec<usize> {
        let presses = |i: usize| basis.position(i) == Position::Basic;
        let holds =
            |k: &usize| states[*k] == State::Holds && self.axes[*k].normal.is_none_or(|(normal, _)| presses(normal));
        let axes = (0..self.axes.len()).filter(holds).map(|k| self.singles.len() + k);
        (0..self.singles.len()).filter(|i| presses(*i)).chain(axes).collect()
    }

    /// The normal that the bounds of row `i` depend on, if it is an axis of a contact.
    fn normal_of(&self, i: usize) -> Option<usize> {
        let axis = self.axes.get(i.checked_sub(self.singles.len())?)?;
        axis.normal.map(|(normal, _)| normal)
    }

    /// `K c + q = 0` over the active rows; c of singles is not negative.
    fn system(&self, island: &Whitened, active: &[usize], states: &[State]) -> Result<Mlcp, InputError> {
        let columns = self.columns(island, active, states);
        let matrix = Matrix::from_fn(active.len(), active.len(), |a, b| {
            let (column, length) = &columns[b];
            self.product(active[a], column, *length)
        });
        let q = active.iter().map(|&i| self.constant(island, i)).collect();
        Mlcp::new(matrix, q, active.iter().map(|&i| i >= self.singles.len()).collect())
    }

    fn state(&self, basis: &Basis, k: usize) -> State {
        let basic = |row: usize| basis.position(row) == Position::Basic;
        match (basic(self.singles.len() + k), basic(self.moving() + k)) {
            (false, _) => State::AtLower,
            (true, true) => State::AtUpper,
            (true, false) => State::Holds,
        }
    }

    /// The known motion, with bounded rows at the bounds they are at and without those that hold.
    fn know_bounds(&mut self, island: &Whitened, states: &[State]) {
        for (axis, state) in self.axes.iter().zip(states).filter(|(axis, _)| axis.normal.is_none()) {
            let (lo, hi) = (island.lo[axis.index], island.hi[axis.index]);
            let change = match state {
                State::AtLower => 0.0,
                State::AtUpper => hi - lo,
                State::Holds => -lo,
            };
            axpy(change, island.bounded.g.col(axis.index), &mut self.known);
        }
    }

    /// Force column of each active row, with the friction that goes with a normal, and its length before projection.
    fn columns(&self, island: &Whitened, active: &[usize], states: &[State]) -> Vec<(Vec<f64>, f64)> {
        let column = |&i: &usize| {
            let mut column = vec![0.0; island.m()];
            let mut length = self.add_column(i, &mut column);
            if let Some(single) = self.singles.get(i).filter(|s| s.kind == Kind::Normal) {
                let friction = self.friction_of(single.index, states);
                for (k, axis) in AXES.into_iter().enumerate().filter(|(k, _)| friction[*k] != 0.0) {
                    length += self.add_projected(axis, single.index, friction[k], &mut column);
                }
            }
            (column, length)
        };
        active.iter().map(column).collect()
    }

    /// Friction per unit of the normal force of contact `i`; 0 along axes that hold.
    fn friction_of(&self, i: usize, states: &[State]) -> [f64; 3] {
        let mut friction = self.friction[i];
        for (axis, state) in self.axes.iter().zip(states) {
            let Some((_, mu)) = axis.normal.filter(|_| axis.index == i) else { continue };
            let k = AXES.iter().position(|kind| *kind == axis.kind).unwrap_or(0);
            friction[k] = match state {
                State::AtLower => -mu,
                State::AtUpper => mu,
                State::Holds => 0.0,
            };
        }
        friction
    }

    /// Forces from the c of the active rows; those of other singles, with all their friction, and of other axes that hold are 0.
    fn put(&self, island: &Whitened, active: &[usize], states: &[State], c: &[f64], out: &mut IslandForces) {
        for (i, single) in self.singles.iter().enumerate() {
            single.kind.forces(out)[single.index] = self.known_of(island, i);
            if single.kind == Kind::Normal {
                AXES.into_iter().for_each(|axis| axis.forces(out)[single.index] = 0.0);
            }
        }
        for (axis, _) in
            self.axes.iter().zip(states).filter(|(axis, state)| axis.normal.is_none() && **state == State::Holds)
        {
            out.bounded[axis.index] = 0.0_f64.max(island.lo[axis.index]).min(island.hi[axis.index]);
        }
        for (&i, &c) in active.iter().zip(c) {
            let (kind, index, sign) = self.row(i);
            match self.singles.get(i) {
                Some(_) if kind == Kind::Normal => {
                    out.normal[index] = c;
                    let friction = self.friction_of(index, states);
                    AXES.into_iter().enumerate().for_each(|(k, axis)| axis.forces(out)[index] = friction[k] * c);
                }
                Some(_) => kind.forces(out)[index] = self.known_of(island, i) + sign * c,
                None => {}
            }
        }
        // After all normals: an axis that holds is within its bounds, but for rounding.
        for (&i, &c) in active.iter().zip(c).filter(|(i, _)| **i >= self.singles.len()) {
            let axis = self.axes[i - self.singles.len()];
            let (lo, hi) = match axis.normal {
                Some((_, mu)) => (-mu * out.normal[axis.index], mu * out.normal[axis.index]),
                None => (island.lo[axis.index], island.hi[axis.index]),
            };
            axis.kind.forces(out)[axis.index] = c.max(lo).min(hi);
        }
    }
}
