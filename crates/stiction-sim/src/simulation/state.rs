//! What a simulation is at a moment: state, what steps remember, and snapshots of both.

use stiction_contact::WarmStart;
use stiction_lcp::InputError;

use super::Simulation;
use super::rollback::Before;
use crate::assemble::ContactKey;
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
    pub(crate) fn learn(&mut self, before: &mut Before, keys: impl Iterator<Item = ContactKey>, start: &mut WarmStart) {
        before.keep_contacts(self);
        self.keys.clear();
        self.keys.extend(keys);
        std::mem::swap(&mut self.start, start);
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
        let Memory { keys, start, saturated } = &self.memory;
        to.memory.keys.clone_from(keys);
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
