//! Equality constraints that can be switched: loops, welds and joints that follow others, on and off while a simulation runs.
//!
//! One that is on is rigid. One that is switched on while it is open is first pulled closed by the soft law of [`crate::ties`], as in MuJoCo: nothing
//! jumps. Its rows are then those of motors, which bring them to the velocity that the law gives, with forces that are equal and opposite on both sides. A step that finds it closed to [`CLOSED`] makes it rigid.

use stiction_body::{LoopKind, LoopRows, Model, RowSource, Workspace};
use stiction_contact::ContactProblem;
use stiction_lcp::InputError;

use crate::error::did_you_mean;
use crate::simulation::{Simulation, SimulatorKind};
use crate::ties::{Softness, inverse_inertia};
use crate::world::World;

/// An equality that was switched on is rigid from the step on that finds it open by at most this (m, or rad times the torque scale).
pub const CLOSED: f64 = 1e-3;

/// An equality constraint with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Equality {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub held: Held,
    /// On at the start.
    pub active: bool,
    /// How it pulls until it is closed.
    pub softness: Softness,
}

/// What an equality holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nothing: its sides cannot move, or it is not supported.
    Nothing,
    /// Rows of the model.
    Rows(RowSource),
    /// A tie to a body that is moved from outside, which is never rigid.
    Tie(usize),
}

/// What an equality is at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Off.
    Off,
    /// On, and not closed yet.
    Closing,
    /// On.
    On,
}

impl World {
    /// The equalities as they are at the start.
    pub(crate) fn switches(&self) -> Vec<Switch> {
        self.equalities.iter().map(|e| if e.active { Switch::On } else { Switch::Off }).collect()
    }

    /// The number of the equality of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn equality(&self, name: &str) -> Result<usize, InputError> {
        self.equalities.iter().position(|e| e.name == name).ok_or_else(|| {
            let near = did_you_mean(name, self.equalities.iter().map(|e| e.name.as_str()));
            InputError::Option { name: "equality", reason: format!("there is no equality \"{name}\"{near}") }
        })
    }

    /// The state of what rows belong to; those of no equality are on.
    fn switch_of(&self, switches: &[Switch], held: Held) -> Switch {
        let own = self.equalities.iter().zip(switches).find(|(e, _)| e.held == held);
        own.map_or(Switch::On, |(_, switch)| *switch)
    }

    /// The rows that are rigid.
    pub(crate) fn rigid_rows(&self, switches: &[Switch]) -> LoopRows {
        LoopRows::of(&self.model, |source| self.switch_of(switches, Held::Rows(source)) == Switch::On)
    }

    /// Ties that are on.
    pub(crate) fn ties_on(&self, switches: &[Switch]) -> Vec<bool> {
        (0..self.ties.len()).map(|i| self.switch_of(switches, Held::Tie(i)) != Switch::Off).collect()
    }

    fn kind_of(&self, source: RowSource) -> Option<LoopKind> {
        match source {
            RowSource::Loop(i) => Some(self.model.loops()[i].kind),
            RowSource::Mimic(_) | RowSource::Coupling(_) => None,
        }
    }
}

/// Equalities that are on and not closed yet, and their rows. Keeps its storage.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    rows: LoopRows,
    /// Equalities, and their first and last rows.
    of: Vec<(usize, std::ops::Range<usize>)>,
}

impl Closing {
    pub(crate) fn new(world: &World, switches: &[Switch]) -> Self {
        let rows =
            LoopRows::of(&world.model, |source| world.switch_of(switches, Held::Rows(source)) == Switch::Closing);
        let mut of: Vec<(usize, std::ops::Range<usize>)> = vec![];
        for i in 0..rows.len() {
            let held = Held::Rows(rows.source(i));
            let Some(own) = world.equalities.iter().position(|e| e.held == held) else { continue };
            match of.last_mut() {
                Some((last, range)) if *last == own => range.end = i + 1,
                _ => of.push((own, i..i + 1)),
            }
        }
        Self { rows, of }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Values and entries of all rows at a configuration, at which the positions of `work` must be.
    pub(crate) fn update(&mut self, world: &World, work: &Workspace, q: &[f64]) {
        if !self.is_empty() {
            self.rows.update(&world.model, work, q);
        }
    }

    /// Adds all rows to the problem of a step of `dt` (s) from velocities `v`, which would be `free` without contact.
    ///
    /// With an acceleration `a₀` of its own, inverse inertia A and the law's acceleration `a` and compliance r, a row accelerates by
    /// `a₀ + (a − a₀) A/(A + r)`. That is the velocity it is brought to, with a force of at most `|a − a₀|/r`: that of the law if it were held.
    ///
    /// # Errors
    /// If a number is not finite.
    pub(crate) fn add_rows(
        &self,
        world: &World,
        (v, free): (&[f64], &[f64]),
        dt: f64,
        problem: &mut ContactProblem,
    ) -> Result<(), InputError> {
        let model = &world.model;
        let mut answer = vec![0.0; if self.is_empty() { 0 } else { problem.m() }];
        for (equality, own) in &self.of {
            let (softness, kind) = (&world.equalities[*equality].softness, world.kind_of(self.rows.source(own.start)));
            let law = softness.law(dt, softness.error(&self.rows, own.clone(), kind));
            for i in own.clone() {
                let (blocks, scale) = (self.rows.blocks(i), softness.scale(self.rows.part(i), kind));
                answer.fill(0.0);
                for (tree, values) in blocks.iter() {
                    answer[model.trees()[*tree].v.clone()].copy_from_slice(values);
                }
                problem.mass().solve(&mut answer);
                let inverse = scale * scale * self.rows.speed(model, i, &answer);
                let [speed, free] = [v, free].map(|v| scale * self.rows.speed(model, i, v));
                let acceleration = law.acceleration(scale * self.rows.value(i), speed);
                let compliance = law.compliance(self.rows.part(i));
                if scale == 0.0 || inverse <= 0.0 {
                    continue;
                }
                let missing = speed + dt * acceleration - free;
                let target = free + missing * inverse / (inverse + compliance);
                let most = scale * missing.abs() / (dt * compliance);
                problem.add_bounded(&blocks, -most, most, 0.0, target / scale)?;
            }
        }
        Ok(())
    }

    /// The equalities that are closed at a configuration.
    fn closed(&mut self, world: &World, work: &Workspace, q: &[f64]) -> Vec<usize> {
        self.rows.update(&world.model, work, q);
        let is_closed = |(equality, own): &&(usize, std::ops::Range<usize>)| {
            let (softness, kind) = (&world.equalities[*equality].softness, world.kind_of(self.rows.source(own.start)));
            softness.error(&self.rows, own.clone(), kind) <= CLOSED
        };
        self.of.iter().filter(is_closed).map(|(equality, _)| *equality).collect()
    }
}

impl Simulation {
    /// Which equalities are on, in the order of [`World::equalities`].
    pub fn equality_active(&self) -> impl Iterator<Item = bool> {
        self.switches.iter().map(|switch| *switch != Switch::Off)
    }

    /// The equalities as they are now.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Switches equality number `i` on or off. One that is on already stays as it is; one that is open is pulled closed.
    ///
    /// # Errors
    /// If there is no such equality; or if the simulation is event-driven, which pulls nothing, and it is open.
    pub fn set_equality_active(&mut self, i: usize, active: bool) -> Result<(), InputError> {
        let next = self.switched(i, active)?;
        if self.switches[i] != next {
            let mut switches = self.switches.clone();
            switches[i] = next;
            self.set_switches(switches);
        }
        Ok(())
    }

    /// Switches all equalities, or none if one is refused.
    ///
    /// # Errors
    /// As [`Simulation::set_equality_active`]; or if there are not as many.
    pub fn set_equalities_active(&mut self, active: &[bool]) -> Result<(), InputError> {
        let switches = self.check_equalities_active(active)?;
        if self.switches != switches {
            self.set_switches(switches);
        }
        Ok(())
    }

    /// What [`Simulation::set_equalities_active`] would make of all equalities.
    ///
    /// # Errors
    /// As there.
    pub fn check_equalities_active(&mut self, active: &[bool]) -> Result<Vec<Switch>, InputError> {
        let (expected, found) = (self.switches.len(), active.len());
        if expected != found {
            return Err(InputError::Size { what: "equalities".into(), expected, found });
        }
        active.iter().enumerate().map(|(i, active)| self.switched(i, *active)).collect()
    }

    /// What equality number `i` becomes when it is switched on or off.
    fn switched(&mut self, i: usize, active: bool) -> Result<Switch, InputError> {
        let Some(now) = self.switches.get(i) else {
            let expected = self.switches.len();
            return Err(InputError::Size { what: "equalities, more than".into(), expected, found: i });
        };
        let next = match (active, now) {
            (false, _) => Switch::Off,
            (true, Switch::Off) if matches!(self.world.equalities[i].held, Held::Rows(_)) => Switch::Closing,
            (true, Switch::Closing) => Switch::Closing,
            (true, _) => Switch::On,
        };
        if self.settings.simulator == SimulatorKind::TimeStepping || next != Switch::Closing {
            return Ok(next);
        }
        let mut switches = self.switches.clone();
        switches[i] = next;
        self.kinematics();
        let closed = Closing::new(&self.world, &switches).closed(&self.world, &self.work, &self.state.q);
        if closed.contains(&i) {
            return Ok(Switch::On);
        }
        let name = &self.world.equalities[i].name;
        let reason = format!("\"{name}\" is open by more than {CLOSED}: what is pulled closed needs time stepping");
        Err(InputError::Option { name: "equality", reason })
    }

    /// Takes over the state of all equalities.
    pub(crate) fn set_switches(&mut self, switches: Vec<Switch>) {
        let world = &self.world;
        self.loops = world.rigid_rows(&switches);
        self.ties.switch(world.ties_on(&switches));
        self.closing = Closing::new(world, &switches);
        self.switches = switches;
        self.memory.forget_rows();
        self.kinematics_at_state = false;
        self.sleep.wake();
    }

    /// Makes equalities rigid that are closed.
    pub(crate) fn latch_closed(&mut self) {
        if self.closing.is_empty() {
            return;
        }
        self.kinematics();
        let Self { world, work, closing, state, switches, .. } = self;
        let closed = closing.closed(world, work, &state.q);
        if closed.is_empty() {
            return;
        }
        let mut next = switches.clone();
        closed.into_iter().for_each(|i| next[i] = Switch::On);
        self.set_switches(next);
    }
}

/// Gives equalities that do not say it the inverse inertia that their rows have at a configuration.
pub(crate) fn find_inverse_inertias(equalities: &mut [Equality], model: &Model, q: &[f64]) {
    if equalities.iter().all(|e| e.softness.inverse_inertia.is_some()) {
        return;
    }
    let mut work = Workspace::default();
    work.update_positions(model, q);
    work.update_velocities(model, &vec![0.0; model.nv()]);
    for equality in equalities.iter_mut().filter(|e| e.softness.inverse_inertia.is_none()) {
        let Held::Rows(source) = equality.held else { continue };
        equality.softness.inverse_inertia = Some(match source {
            RowSource::Loop(i) => {
                let closure = &model.loops()[i];
                let mut of = |link: Option<usize>| link.map_or([0.0; 2], |l| inverse_inertia(model, &mut work, l));
                let (a, b) = (of(closure.a), of(closure.b));
                [a[0] + b[0], a[1] + b[1]]
            }
            RowSource::Mimic(_) | RowSource::Coupling(_) => [along_row(model, &mut work, source, q); 2],
        });
    }
}

/// `J M⁻¹ Jᵀ` of a row of joints, at kinematics that are up to date.
fn along_row(model: &Model, work: &mut Workspace, source: RowSource, q: &[f64]) -> f64 {
    let mut rows = LoopRows::of(model, |other| other == source);
    rows.update(model, work, q);
    let mut force = vec![0.0; model.nv()];
    for (tree, values) in rows.blocks(0).iter() {
        force[model.trees()[*tree].v.clone()].copy_from_slice(values);
    }
    let (mut rest, mut pushed) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
    work.forward_dynamics(model, &vec![0.0; model.nv()], &mut rest);
    work.forward_dynamics(model, &force, &mut pushed);
    force.iter().zip(pushed.iter().zip(&rest)).map(|(f, (a, b))| f * (a - b)).sum()
}
