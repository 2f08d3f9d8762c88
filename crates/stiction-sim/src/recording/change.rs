//! What a program changed from outside between two steps: inputs, poses of bodies that it moves, physical parameters, equalities, or anything else.

use std::collections::VecDeque;

use stiction_lcp::InputError;

use super::bytes::{Broken, Reader, Writer};
use super::snapshot::{Has, get_snapshot, get_switches, put_snapshot, put_switches};
use crate::equality::Switch;
use crate::error::SceneError;
use crate::physical::PhysicalChange;
use crate::simulation::{Simulation, Snapshot, StepFailure, StepReport};

/// Bytes of a change at least: its step, its kind, a count.
pub(super) const CHANGE: usize = 17;

/// A change between two steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Steps made before it.
    pub step: u64,
    /// What became different.
    pub what: Changed,
}

/// What became different.
#[derive(Debug, Clone, PartialEq)]
pub enum Changed {
    /// Numbers that controllers remember, inputs among them: controller, place, value.
    Controllers(Vec<(u32, u32, f64)>),
    /// Poses of bodies that are moved from outside, as they stand at the end of q.
    Mocap(Vec<f64>),
    /// Physical parameters: all that differ from the scene's own.
    Physical(Vec<PhysicalChange>),
    /// What each equality is.
    Equalities(Vec<Switch>),
    /// Anything else, such as configuration and velocities: all that influences the next step.
    Snapshot(Box<Snapshot>),
}

/// A snapshot as bytes: snapshots are the same if these are.
pub(super) fn bytes_of(snapshot: &Snapshot) -> Vec<u8> {
    let mut out = Writer::default();
    put_snapshot(&mut out, snapshot);
    out.0
}

impl Changed {
    /// What makes the second snapshot of the first, in as few numbers as can be; `jointed` is where poses that are set from outside begin in q.
    pub(super) fn between(before: &Snapshot, after: &Snapshot, jointed: usize) -> Vec<Self> {
        if bytes_of(before) == bytes_of(after) {
            return vec![];
        }
        let sizes = |s: &Snapshot| (s.state.q.len(), s.controllers.iter().map(Vec::len).collect::<Vec<_>>());
        if sizes(before) != sizes(after) {
            return vec![Self::Snapshot(Box::new(after.clone()))];
        }
        let parts = [
            controllers(before, after),
            (!same(&before.state.q[jointed..], &after.state.q[jointed..]))
                .then(|| Self::Mocap(after.state.q[jointed..].to_vec())),
            (before.physical != after.physical).then(|| Self::Physical(after.physical.clone())),
            (before.switches != after.switches).then(|| Self::Equalities(after.switches.clone())),
        ];
        let parts: Vec<Self> = parts.into_iter().flatten().collect();
        let mut made = before.clone();
        let applied = parts.iter().try_for_each(|part| part.put_into(&mut made));
        if applied.is_ok() && bytes_of(&made) == bytes_of(after) {
            return parts;
        }
        vec![Self::Snapshot(Box::new(after.clone()))]
    }

    /// Changes a snapshot.
    fn put_into(&self, snapshot: &mut Snapshot) -> Result<(), InputError> {
        match self {
            Self::Controllers(numbers) => {
                for &(controller, place, value) in numbers {
                    let memory = snapshot.controllers.get_mut(controller as usize);
                    let number = memory.and_then(|memory| memory.get_mut(place as usize));
                    *number.ok_or_else(|| size("numbers of a controller", place as usize, 0))? = value;
                }
            }
            Self::Mocap(poses) => {
                let (found, expected) = (poses.len(), snapshot.state.q.len());
                let first = expected.checked_sub(found).ok_or_else(|| size("poses", expected, found))?;
                snapshot.state.q[first..].copy_from_slice(poses);
            }
            Self::Physical(all) => snapshot.physical.clone_from(all),
            Self::Equalities(all) => {
                snapshot.switches.clone_from(all);
                snapshot.memory.forget_rows();
            }
            Self::Snapshot(all) => snapshot.clone_from(all),
        }
        Ok(())
    }

    pub(super) fn put(&self, out: &mut Writer) {
        match self {
            Self::Controllers(numbers) => {
                out.u8(0);
                out.list(numbers, |out, (controller, place, value)| {
                    out.u32(*controller);
                    out.u32(*place);
                    out.f64(*value);
                });
            }
            Self::Mocap(poses) => {
                out.u8(1);
                out.numbers(poses);
            }
            Self::Physical(all) => {
                out.u8(2);
                out.list(all, |out, (place, value)| {
                    out.u32(*place);
                    out.f64(*value);
                });
            }
            Self::Equalities(all) => {
                out.u8(4);
                put_switches(out, all);
            }
            Self::Snapshot(snapshot) => {
                out.u8(3);
                put_snapshot(out, snapshot);
            }
        }
    }

    fn get(from: &mut Reader<'_>, has: Has) -> Result<Self, Broken> {
        Ok(match from.u8()? {
            0 => Self::Controllers(from.list(16, |from| Ok((from.u32()?, from.u32()?, from.f64()?)))?),
            1 => Self::Mocap(from.numbers()?),
            2 => Self::Physical(from.list(12, |from| Ok((from.u32()?, from.f64()?)))?),
            3 => Self::Snapshot(Box::new(get_snapshot(from, has)?)),
            4 => Self::Equalities(get_switches(from)?),
            x => return Err(Broken(format!("there is no change of kind {x}"))),
        })
    }
}

/// Numbers of controllers that differ.
fn controllers(before: &Snapshot, after: &Snapshot) -> Option<Changed> {
    let mut all = vec![];
    for (i, (a, b)) in before.controllers.iter().zip(&after.controllers).enumerate() {
        let differ = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a.to_bits() != b.to_bits());
        all.extend(differ.map(|(k, (_, b))| (i as u32, k as u32, *b)));
    }
    (!all.is_empty()).then_some(Changed::Controllers(all))
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}

fn size(what: &str, expected: usize, found: usize) -> InputError {
    InputError::Size { what: what.into(), expected, found }
}

impl Change {
    pub(super) fn put(&self, out: &mut Writer) {
        out.u64(self.step);
        self.what.put(out);
    }

    pub(super) fn get(from: &mut Reader<'_>, has: Has) -> Result<Self, Broken> {
        Ok(Self { step: from.u64()?, what: Changed::get(from, has)? })
    }
}

/// Changes that are still to be made, in their order.
#[derive(Debug, Default)]
pub(super) struct Pending(VecDeque<Change>);

impl Pending {
    /// Takes in the changes of a chunk.
    pub(crate) fn extend(&mut self, changes: Vec<Change>) {
        self.0.extend(changes);
    }

    /// Only those of a chunk from now on.
    pub(crate) fn replace(&mut self, changes: Vec<Change>) {
        self.0 = changes.into();
    }

    /// Makes the changes that are due, and then a step.
    ///
    /// # Errors
    /// If a change does not fit the simulation.
    pub(crate) fn step(&mut self, simulation: &mut Simulation) -> Result<Result<StepReport, StepFailure>, SceneError> {
        let now = simulation.state().step;
        while self.0.front().is_some_and(|change| change.step <= now) {
            let Some(change) = self.0.pop_front() else { break };
            let mut snapshot = simulation.snapshot();
            let made = change.what.put_into(&mut snapshot).and_then(|()| simulation.restore(&snapshot));
            made.map_err(|e| SceneError::input("recording", &e))?;
            if simulation.state().step != now {
                return Err(SceneError::new("recording", format!("a change at step {now} is one of another step")));
            }
        }
        Ok(simulation.step())
    }
}
