//! A snapshot as bytes, and back bit for bit.

use stiction_contact::{ContactForces, Mode, WarmStart};
use stiction_lcp::{Basis, Position};

use super::bytes::{Broken, Reader, Writer, checksum};
use crate::assemble::ContactKey;
use crate::equality::Switch;
use crate::error::SceneError;
use crate::simulation::{Memory, Simulation, Snapshot, State};

/// The first bytes of a saved state.
const MAGIC: &[u8; 8] = b"STICSNAP";
/// The version of the format of saved states.
pub const SAVED_STATE_VERSION: u32 = 6;
/// The version from which on there are moments against rolling.
const WITH_ROLLING: u32 = 2;
/// The version from which on there are activations.
const WITH_ACTIVATIONS: u32 = 3;
/// The version from which on there are physical parameters that differ from the scene's own.
const WITH_PHYSICAL: u32 = 4;
/// The version from which on equalities can be switched.
const WITH_SWITCHES: u32 = 5;
/// The version from which on the limits have their keys.
const WITH_LIMITS: u32 = 6;
/// More steps than any run has: beyond this a step is no longer a double.
const MOST_STEPS: u64 = 1 << 53;
/// Bytes of a key.
const KEY: usize = 16;

impl Simulation {
    /// All that influences the next step, as bytes: [`Simulation::load_state`] of a simulation with the same world, settings and controllers
    /// continues from them bit for bit. The format is in `docs/recordings.md`.
    pub fn save_state(&self) -> Vec<u8> {
        let mut body = Writer::default();
        put_snapshot(&mut body, &self.snapshot());
        let mut out = Writer(MAGIC.to_vec());
        out.u32(SAVED_STATE_VERSION);
        out.u64(checksum(&body.0));
        out.0.extend_from_slice(&body.0);
        out.0
    }

    /// Continues from what [`Simulation::save_state`] gave. On an error nothing is changed.
    ///
    /// # Errors
    /// If the bytes are no saved state, are broken, or belong to another world.
    pub fn load_state(&mut self, bytes: &[u8]) -> Result<(), SceneError> {
        let wrong = |e: Broken| SceneError::new("saved state", e.to_string());
        let snapshot = parse(bytes).map_err(wrong)?;
        self.restore(&snapshot).map_err(|e| SceneError::input("saved state", &e))
    }
}

fn parse(bytes: &[u8]) -> Result<Snapshot, Broken> {
    let mut reader = Reader::new(bytes);
    if reader.take(MAGIC.len()).ok() != Some(&MAGIC[..]) {
        return Err(Broken("these bytes are no saved state".into()));
    }
    let version = reader.u32()?;
    if !(1..=SAVED_STATE_VERSION).contains(&version) {
        return Err(Broken(format!("version {version} is not known, only 1 to {SAVED_STATE_VERSION}")));
    }
    let sum = reader.u64()?;
    let body = reader.take(reader.left())?;
    if checksum(body) != sum {
        return Err(Broken("the bytes are not those that were saved".into()));
    }
    let mut reader = Reader::new(body);
    let has = Has {
        rolling: version >= WITH_ROLLING,
        activations: version >= WITH_ACTIVATIONS,
        physical: version >= WITH_PHYSICAL,
        switches: version >= WITH_SWITCHES,
        limits: version >= WITH_LIMITS,
    };
    let snapshot = get_snapshot(&mut reader, has)?;
    reader.end()?;
    Ok(snapshot)
}

/// Appends a snapshot.
pub(super) fn put_snapshot(out: &mut Writer, snapshot: &Snapshot) {
    let Snapshot { state, memory, controllers, physical, switches } = snapshot;
    put_state(out, state);
    let Memory { keys, limits, start, saturated } = memory;
    out.list(keys, |out, key| put_key(out, *key));
    let WarmStart { modes, bases, forces } = start;
    out.list(modes, |out, mode| put_mode(out, *mode));
    put_bases(out, bases);
    put_forces(out, forces);
    // Earlier versions had a list of closing contacts here.
    out.size(0);
    out.list(saturated, |out, sign| out.u8(sign.to_le_bytes()[0]));
    out.list(controllers, |out, memory| out.numbers(memory));
    out.list(physical, |out, (place, value)| {
        out.u32(*place);
        out.f64(*value);
    });
    put_switches(out, switches);
    out.list(limits, |out, limit| out.u32(*limit));
}

pub(super) fn put_switches(out: &mut Writer, switches: &[Switch]) {
    out.list(switches, |out, switch| {
        out.u8(match switch {
            Switch::Off => 0,
            Switch::Closing => 1,
            Switch::On => 2,
        });
    });
}

pub(super) fn get_switches(from: &mut Reader<'_>) -> Result<Vec<Switch>, Broken> {
    from.list(1, |from| match from.u8()? {
        0 => Ok(Switch::Off),
        1 => Ok(Switch::Closing),
        2 => Ok(Switch::On),
        x => Err(Broken(format!("an equality is off, closing or on, found {x}"))),
    })
}

/// What the snapshots of a version have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Has {
    /// Moments against rolling.
    pub rolling: bool,
    /// Activations.
    pub activations: bool,
    /// Physical parameters that differ from the scene's own.
    pub physical: bool,
    /// Equalities that can be switched.
    pub switches: bool,
    /// Keys of limits.
    pub limits: bool,
}

/// Reads a snapshot.
pub(super) fn get_snapshot(from: &mut Reader<'_>, has: Has) -> Result<Snapshot, Broken> {
    let state = get_state(from, has.activations)?;
    let keys = from.list(KEY, get_key)?;
    let modes = from.list(1, get_mode)?;
    let bases = get_bases(from)?;
    let start = WarmStart { modes, bases, forces: get_forces(from, has.rolling)? };
    from.list(KEY + 8, |from| Ok((get_key(from)?, from.f64()?)))?;
    let saturated = from.list(1, |from| match i8::from_le_bytes([from.u8()?]) {
        sign @ -1..=1 => Ok(sign),
        sign => Err(Broken(format!("a motor's sign is −1, 0 or 1, found {sign}"))),
    })?;
    let controllers = from.list(8, Reader::numbers)?;
    let physical = if has.physical { from.list(12, |from| Ok((from.u32()?, from.f64()?)))? } else { vec![] };
    let switches = if has.switches { get_switches(from)? } else { vec![] };
    let limits = if has.limits { from.list(4, Reader::u32)? } else { vec![] };
    Ok(Snapshot { state, memory: Memory { keys, limits, start, saturated }, controllers, physical, switches })
}

pub(super) fn put_state(out: &mut Writer, state: &State) {
    let State { q, v, activation, t, step } = state;
    out.numbers(q);
    out.numbers(v);
    out.numbers(activation);
    out.f64(*t);
    out.u64(*step);
}

/// Reads a state, with or without activations.
pub(super) fn get_state(from: &mut Reader<'_>, activations: bool) -> Result<State, Broken> {
    let (q, v) = (from.numbers()?, from.numbers()?);
    let activation = if activations { from.finite()? } else { vec![] };
    let state = State { q, v, activation, t: from.f64()?, step: from.u64()? };
    if !state.t.is_finite() || state.step > MOST_STEPS {
        return Err(Broken(format!("the time is {} after {} steps", state.t, state.step)));
    }
    Ok(state)
}

pub(super) fn put_key(out: &mut Writer, key: ContactKey) {
    key.geoms.iter().for_each(|geom| out.u32(*geom));
    out.u64(key.feature);
}

pub(super) fn get_key(from: &mut Reader<'_>) -> Result<ContactKey, Broken> {
    Ok(ContactKey { geoms: [from.u32()?, from.u32()?], feature: from.u64()? })
}

pub(super) fn put_mode(out: &mut Writer, mode: Mode) {
    out.u8(match mode {
        Mode::Open => 0,
        Mode::Stick => 1,
        Mode::Slide => 2,
    });
}

pub(super) fn get_mode(from: &mut Reader<'_>) -> Result<Mode, Broken> {
    match from.u8()? {
        0 => Ok(Mode::Open),
        1 => Ok(Mode::Stick),
        2 => Ok(Mode::Slide),
        x => Err(Broken(format!("there is no mode {x}"))),
    }
}

pub(super) fn put_bases(out: &mut Writer, bases: &[Basis]) {
    out.list(bases, |out, basis| out.list(basis.positions(), |out, position| put_position(out, *position)));
}

pub(super) fn get_bases(from: &mut Reader<'_>) -> Result<Vec<Basis>, Broken> {
    from.list(8, |from| from.list(1, get_position).map(Basis::new))
}

fn put_position(out: &mut Writer, position: Position) {
    out.u8(match position {
        Position::Basic => 0,
        Position::Lower => 1,
        Position::Upper => 2,
    });
}

fn get_position(from: &mut Reader<'_>) -> Result<Position, Broken> {
    [Position::Basic, Position::Lower, Position::Upper]
        .get(usize::from(from.u8()?))
        .copied()
        .ok_or_else(|| Broken("a basis has a position that there is not".into()))
}

pub(super) fn put_forces(out: &mut Writer, forces: &ContactForces) {
    let ContactForces { normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded } = forces;
    [normal, tangent_s, tangent_t, spin, bilateral, limit, bounded].into_iter().for_each(|x| out.numbers(x));
    // Most recordings have none.
    let rolls = roll_s.iter().chain(roll_t).any(|x| x.to_bits() != 0);
    out.bool(rolls);
    if rolls {
        [roll_s, roll_t].into_iter().for_each(|x| out.numbers(x));
    }
}

/// Reads forces, with or without moments against rolling.
pub(super) fn get_forces(from: &mut Reader<'_>, rolling: bool) -> Result<ContactForces, Broken> {
    let mut forces = ContactForces {
        normal: from.finite()?,
        tangent_s: from.finite()?,
        tangent_t: from.finite()?,
        spin: from.finite()?,
        bilateral: from.finite()?,
        limit: from.finite()?,
        bounded: from.finite()?,
        ..ContactForces::default()
    };
    let n = forces.normal.len();
    (forces.roll_s, forces.roll_t) = match rolling && from.bool()? {
        true => (from.finite()?, from.finite()?),
        false => (vec![0.0; n], vec![0.0; n]),
    };
    Ok(forces)
}
