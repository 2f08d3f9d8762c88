//! What a simulation is at a moment: state, what steps remember, and snapshots of both.

use stiction_contact::{CONTACT_ROWS, WarmStart};
use stiction_lcp::InputError;

use super::Simulation;
use super::rollback::Before;
use crate::assemble::{Assembler, ContactFrame, ContactKey};
use crate::equality::Switch;
use crate::physical::PhysicalChange;
use crate::world::World;

/// What changes: configuration, velocities, time.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct State {
    /// Configuration, nq.
    pub q: Vec<f64>,
    /// Velocities, nv.
    pub v: Vec<f64>,
    /// Activation of each actuator; 0 for those that have none.
    #[serde(default)]
    pub activation: Vec<f64>,
    /// Time (s).
    pub t: f64,
    /// Steps made.
    pub step: u64,
}

impl State {
    /// A step of `dt` (s) was made from time `before` (s). Where all steps were as long, time is a multiple of it, without the rounding of sums;
    /// where another length was set in between, it goes on from where it was.
    pub(crate) fn advance_time(&mut self, before: f64, dt: f64) {
        let uniform = before == self.step as f64 * dt;
        self.step += 1;
        self.t = if uniform { self.step as f64 * dt } else { before + dt };
    }

    /// A number that changes with any bit of the state: FNV-1a over the bits.
    pub fn hash(&self) -> u64 {
        // Activations of 0, as of most actuators, leave the number what it was before there were any.
        let active = self.activation.iter().any(|x| *x != 0.0).then_some(&self.activation);
        let numbers = self.q.iter().chain(&self.v).chain(active.into_iter().flatten()).chain([&self.t]);
        let numbers = numbers.map(|x| x.to_bits()).chain([self.step]);
        numbers
            .flat_map(u64::to_le_bytes)
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

/// What a step remembers for the next, besides the state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// The contacts of the last step.
    pub keys: Vec<ContactKey>,
    /// Its limits, ascending: twice the number of the velocity, or of the tendon after all velocities; one more for an upper limit.
    pub limits: Vec<u32>,
    /// Modes, bases and forces of the last step.
    pub start: WarmStart,
    /// Motors at their limit: −1, 0 or 1 per velocity, then per actuator.
    pub saturated: Vec<i8>,
}

impl Memory {
    /// Of a world that has made no step.
    pub(super) fn new(world: &World) -> Self {
        Self { saturated: vec![0; world.model.nv() + world.actuators.len()], ..Self::default() }
    }

    /// Forgets what belongs to rows that are others from now on.
    pub(crate) fn forget_rows(&mut self) {
        self.start.forces.bilateral.clear();
        self.start.bases.clear();
    }

    /// Takes over the contacts and the warm start of an answer, which has other storage then. What was remembered at the
    /// start of the step goes to `before`, the first time in a step.
    pub(crate) fn learn(&mut self, before: &mut Before, assembler: &Assembler, start: &mut WarmStart) {
        before.keep_contacts(self);
        self.keys.clear();
        self.keys.extend(assembler.frames.iter().map(|f| f.key));
        self.limits.clone_from(&assembler.limits);
        std::mem::swap(&mut self.start, start);
    }

    /// What is remembered for the rows of a problem: as it is, or else in `out`.
    pub(crate) fn start_of<'a>(&'a self, assembler: &Assembler, out: &'a mut WarmStart) -> &'a WarmStart {
        let same = assembler.frames.iter().map(|f| f.key).eq(self.keys.iter().copied());
        if same && self.limits == assembler.limits && self.start.forces.fits(&assembler.problem) {
            return &self.start;
        }
        self.map_start(assembler, out);
        out
    }

    /// Modes and forces of the contacts and limits that were there in the last step; new ones are open and without force. Other rows have the forces
    /// they had, in their order; those behind them, such as servos that stand as rows, have none.
    pub(crate) fn map_start(&self, assembler: &Assembler, out: &mut WarmStart) {
        self.map_contacts(&assembler.frames, out);
        out.bases.clear();
        let (from, to, problem) = (&self.start.forces, &mut out.forces, &assembler.problem);
        to.limit.clear();
        to.limit.extend(assembler.limits.iter().map(|key| {
            let before = self.limits.binary_search(key).ok();
            before.and_then(|i| from.limit.get(i)).copied().unwrap_or(0.0)
        }));
        let rows = [problem.bilaterals().rows.len(), problem.bounded().rows.len()];
        for ((to, from), rows) in
            [(&mut to.bilateral, &from.bilateral), (&mut to.bounded, &from.bounded)].into_iter().zip(rows)
        {
            to.clear();
            to.extend_from_slice(from);
            to.resize(rows, 0.0);
        }
    }

    /// A contact at a corner may change from one feature to another with a last digit: if each is the only one of its two geoms that is new or gone, it
    /// takes over.
    fn map_contacts(&self, frames: &[ContactFrame], out: &mut WarmStart) {
        let (old, old_keys) = (&self.start, &self.keys);
        out.modes.clear();
        let (mut to, from) = (out.forces.contacts_mut(), old.forces.contacts());
        to.iter_mut().for_each(|x| x.clear());
        let mut rest = &old_keys[..];
        for pair in frames.chunk_by(|a, b| a.key.geoms == b.key.geoms) {
            rest = &rest[rest.partition_point(|key| key.geoms < pair[0].key.geoms)..];
            let first = old_keys.len() - rest.len();
            let before = &rest[..rest.partition_point(|key| key.geoms == pair[0].key.geoms)];
            let mut gone = (0..before.len()).filter(|&k| pair.iter().all(|frame| frame.key != before[k]));
            let renamed = gone.next().filter(|_| gone.next().is_none());
            let new = pair.iter().filter(|frame| !before.contains(&frame.key)).count();
            for frame in pair {
                let same = before.iter().position(|key| *key == frame.key).or(renamed.filter(|_| new == 1));
                let i = same.map(|k| first + k).filter(|i| *i < old.modes.len());
                let of = |x: &[f64]| i.and_then(|i| x.get(i)).copied().unwrap_or(0.0);
                out.modes.push(i.map_or_else(Default::default, |i| old.modes[i]));
                (0..CONTACT_ROWS).for_each(|k| to[k].push(of(from[k])));
            }
        }
    }
}

/// All that influences the next step: a simulation that takes it continues bit for bit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// The state.
    pub state: State,
    /// What steps remember.
    pub memory: Memory,
    /// What each controller remembers.
    pub controllers: Vec<Vec<f64>>,
    /// Physical parameters that differ from the scene's own.
    pub physical: Vec<PhysicalChange>,
    /// What each equality is; none of earlier versions, where all are as at the start.
    pub switches: Vec<Switch>,
}

impl Simulation {
    /// All that influences the next step.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        self.snapshot_into(&mut snapshot);
        snapshot
    }

    /// The same into an earlier snapshot, whose storage is used again.
    pub fn snapshot_into(&self, to: &mut Snapshot) {
        let State { q, v, activation, t, step } = &self.state;
        to.state.q.clone_from(q);
        to.state.v.clone_from(v);
        to.state.activation.clone_from(activation);
        (to.state.t, to.state.step) = (*t, *step);
        let Memory { keys, limits, start, saturated } = &self.memory;
        to.memory.keys.clone_from(keys);
        to.memory.limits.clone_from(limits);
        to.memory.start.modes.clone_from(&start.modes);
        to.memory.start.bases.clone_from(&start.bases);
        to.memory.start.forces.copy_from(&start.forces);
        to.memory.saturated.clone_from(saturated);
        to.controllers.resize_with(self.controllers.len(), Vec::new);
        to.controllers.iter_mut().zip(&self.controllers).for_each(|(to, c)| {
            to.clear();
            to.extend_from_slice(c.memory());
        });
        to.physical.clone_from(&self.physical_changes);
        to.switches.clone_from(&self.switches);
    }

    /// Continues from a snapshot of a simulation with the same world, settings and controllers.
    ///
    /// # Errors
    /// If it does not fit this simulation.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), InputError> {
        let jointed = self.world.model.jointed_nq();
        let mut q = snapshot.state.q.clone();
        if q.len() == jointed {
            // Earlier versions did not move what is moved from outside.
            q.extend_from_slice(&self.world.q[jointed..]);
        }
        self.world.model.check_state(&q, &snapshot.state.v)?;
        let size = |what: &str, expected: usize, found: usize| {
            if expected == found { Ok(()) } else { Err(InputError::Size { what: what.into(), expected, found }) }
        };
        let (nv, nu) = (self.world.model.nv(), self.world.actuators.len());
        // Earlier versions knew of velocities only, and of no activations.
        if snapshot.memory.saturated.len() != nv {
            size("saturated motors", nv + nu, snapshot.memory.saturated.len())?;
        }
        if !snapshot.state.activation.is_empty() {
            size("activations", nu, snapshot.state.activation.len())?;
        }
        size("controllers", self.controllers.len(), snapshot.controllers.len())?;
        for (i, (controller, memory)) in self.controllers.iter().zip(&snapshot.controllers).enumerate() {
            if !controller.takes_memory(memory.len()) {
                size(&format!("memory of controller {i}"), controller.memory().len(), memory.len())?;
            }
        }
        let switches = if snapshot.switches.is_empty() { self.world.switches() } else { snapshot.switches.clone() };
        size("equalities", self.world.equalities.len(), switches.len())?;
        self.set_physical_changes(&snapshot.physical)?;
        if switches != self.switches {
            self.set_switches(switches);
        }
        self.kinematics_at_state = false;
        self.sleep.wake();
        self.state.clone_from(&snapshot.state);
        self.state.q = q;
        self.state.activation.resize(nu, 0.0);
        self.memory.clone_from(&snapshot.memory);
        self.memory.saturated.resize(nv + nu, 0);
        // What can be seen of the last step belongs to another one.
        self.last = None;
        self.before.v_after.clear();
        self.scratch.applied.clear();
        self.assembler.frames.clear();
        for (controller, memory) in self.controllers.iter_mut().zip(&snapshot.controllers) {
            controller.set_memory(memory);
        }
        Ok(())
    }
}
