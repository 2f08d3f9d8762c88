//! Recordings: the scene, every step's state, contacts, impulses and certificate, and snapshots from which any step can be made again.
//!
//! `docs/recordings.md` describes the file. A [`Recorder`] writes it while a simulation runs, in chunks that are whole by themselves, so that a crash
//! loses at most one of them; a [`Recording`] reads what there is, and says where and why it ends. [`fn@replay`] runs the
//! scene again, with what a program changed from outside between steps ([`Change`]), and compares bit by bit;
//! [`problem_of_step`] gives the contact problem of a step, [`Remaking`] those of all steps beside what was recorded, and
//! [`Recording::rows`], [`export_csv`] and [`export_npz`] the numbers.

mod bytes;
mod change;
mod contact;
mod csv;
mod header;
mod npz;
mod read;
mod remake;
mod replay;
mod rows;
mod snapshot;
mod step;
#[cfg(test)]
mod tests;
mod write;

pub use change::{Change, Changed};
pub use contact::ContactRow;
pub use csv::export_csv;
pub use header::{GeomName, Header, NamedFile, Origin, Overlay, q_names, v_names};
pub use npz::export_npz;
pub use read::{Chunk, End, Recording};
pub use remake::{RemadeStep, Remaking};
pub use replay::{Difference, Replay, problem_of_step, replay};
pub use rows::Rows;
pub use snapshot::SAVED_STATE_VERSION;
pub use step::{FrictionEllipse, RecordedContact, RecordedStep, place_code, place_of};
pub use write::Recorder;

/// The first bytes of a recording.
const MAGIC: &[u8; 8] = b"STICREC\n";
/// The version of the format of recordings.
pub const VERSION: u32 = 10;
/// The oldest version that can be read: without [`Settings::impacts`](crate::Settings) and
/// [`RecordedStep::restitution_scale`].
const OLDEST: u32 = 2;
/// The version from which on there are these.
const WITH_RESTITUTION: u32 = 3;
/// The version from which on steps may be accepted: [`Settings::accept_bound`](crate::Settings) and
/// [`RecordedStep::accepted`].
const WITH_ACCEPTANCE: u32 = 4;
/// The version from which on there are moments against rolling, and friction that depends on the direction of slip.
const WITH_ROLLING: u32 = 5;
/// The version from which on there are [`RecordedStep::factorizations`] and
/// [`RecordedStep::most_factorizations`].
const WITH_FACTORIZATIONS: u32 = 5;
/// The version from which on states have activations.
const WITH_ACTIVATIONS: u32 = 6;
/// The version from which on snapshots have physical parameters that differ from the scene's own.
const WITH_PHYSICAL: u32 = 7;
/// The version from which on there are inputs from outside, and what a program changed between steps.
const WITH_CHANGES: u32 = 8;
/// The version from which on there is [`RecordedStep::gap_spread`].
const WITH_GAP_SPREAD: u32 = 9;
/// The version from which on snapshots have equalities that can be switched.
const WITH_SWITCHES: u32 = 9;
/// The version from which on snapshots have the keys of limits.
const WITH_LIMITS: u32 = 10;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// What is said before the first step.
    Header,
    /// A snapshot and the steps after it.
    Steps,
    /// How the run ended.
    End,
}

impl Tag {
    const ALL: [Self; 3] = [Self::Header, Self::Steps, Self::End];

    fn byte(self) -> u8 {
        match self {
            Self::Header => b'H',
            Self::Steps => b'S',
            Self::End => b'E',
        }
    }
}

/// The checksum of a chunk: its tag, its sizes and its bytes.
fn chunk_sum(tag: u8, raw: u64, packed: &[u8]) -> u64 {
    bytes::checksum(packed)
        ^ bytes::checksum(&[&[tag][..], &raw.to_le_bytes(), &(packed.len() as u64).to_le_bytes()].concat())
}
