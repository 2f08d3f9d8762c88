//! Reading a recording: all of it, or up to the last whole chunk.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::bytes::{Broken, Reader};
use super::change::{CHANGE, Change};
use super::header::Header;
use super::snapshot::{Has, get_snapshot};
use super::step::RecordedStep;
use super::{
    MAGIC, OLDEST, Tag, VERSION, WITH_ACTIVATIONS, WITH_CHANGES, WITH_LIMITS, WITH_PHYSICAL, WITH_ROLLING,
    WITH_SWITCHES, chunk_sum,
};
use crate::error::SceneError;
use crate::simulation::Snapshot;

/// Bytes that a packed byte can stand for, at the method's best.
const BEST_DEFLATE: u64 = 1032;
/// Most bytes of a chunk: one is closed long before, and what is made of them takes several times as much.
const LARGEST_CHUNK: u64 = 1 << 26;
/// Least bytes of a recorded step.
const STEP: usize = 8 * 20;

/// A snapshot, and the recorded steps up to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Before its first step.
    pub snapshot: Snapshot,
    /// Its steps.
    pub steps: Vec<RecordedStep>,
    /// What was changed from outside before one of its steps, or of those that were made and not recorded.
    pub changes: Vec<Change>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Steps made in all.
    pub steps: u64,
    /// Why the next one failed, if it did.
    pub failure: Option<String>,
}

/// Where a chunk is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub packed: Range<usize>,
    pub raw: u64,
    /// Steps made before it.
    first: u64,
    /// Steps recorded in it.
    steps: usize,
}

/// A recording: the file in memory, its chunks unpacked when they are asked for.
#[derive(Debug, Clone)]
pub struct Recording {
    bytes: Vec<u8>,
    /// The version of its format.
    format: u32,
    header: Header,
    places: Vec<Place>,
    end: Option<End>,
    damage: Option<String>,
}

impl Recording {
    /// Reads the recording at `path`.
    ///
    /// # Errors
    /// If it cannot be read, is no recording, or breaks off before its first step.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        let bytes = crate::files::read(path).map_err(|e| SceneError::new("", e.to_string()).in_file(path))?;
        Self::parse(bytes).map_err(|e| e.in_file(path))
    }

    /// Reads a recording up to its last whole chunk.
    ///
    /// # Errors
    /// If the bytes are no recording, or break off before the first step.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, SceneError> {
        let (format, header, mut at) = read_header(&bytes).map_err(|e| SceneError::new("recording", e.to_string()))?;
        let mut recording = Self { bytes, format, header, places: vec![], end: None, damage: None };
        while recording.end.is_none() {
            match recording.next_chunk(&mut at) {
                Ok(()) => {}
                Err(e) if recording.places.is_empty() => {
                    return Err(SceneError::new("recording", format!("it ends before its first step: {e}")));
                }
                Err(e) => {
                    recording.damage = Some(format!("it breaks off at byte {at}: {e}"));
                    break;
                }
            }
        }
        Ok(recording)
    }

    /// Reads the chunk at byte `at`, which moves on.
    fn next_chunk(&mut self, at: &mut usize) -> Result<(), Broken> {
        let (tag, place, next) = frame(&self.bytes, *at)?;
        let raw = unpack(&self.bytes[place.packed.clone()], place.raw)?;
        match tag {
            Tag::Header => return Err(Broken("a second header".into())),
            Tag::Steps => {
                let chunk = self.decode(&raw)?;
                let before = self.places.last().map_or(0, |p| p.first);
                let first = chunk.snapshot.state.step;
                let ascends = chunk.steps.is_sorted_by(|a, b| a.state.step < b.state.step);
                let changes = chunk.changes.is_sorted_by(|a, b| a.step <= b.step)
                    && chunk.changes.first().is_none_or(|change| change.step >= first);
                if first < before || !ascends || !changes || chunk.steps.iter().any(|s| s.state.step <= first) {
                    return Err(Broken("steps are not in order".into()));
                }
                self.places.push(Place { first, steps: chunk.steps.len(), ..place });
            }
            Tag::End => {
                let mut from = Reader::new(&raw);
                let (steps, failed, why) = (from.u64()?, from.bool()?, from.text()?);
                from.end()?;
                self.end = Some(End { steps, failure: failed.then_some(why) });
            }
        }
        *at = next;
        Ok(())
    }

    fn decode(&self, raw: &[u8]) -> Result<Chunk, Broken> {
        let mut from = Reader::new(raw);
        let has = Has {
            rolling: self.format >= WITH_ROLLING,
            activations: self.format >= WITH_ACTIVATIONS,
            physical: self.format >= WITH_PHYSICAL,
            switches: self.format >= WITH_SWITCHES,
            limits: self.format >= WITH_LIMITS,
        };
        let snapshot = get_snapshot(&mut from, has)?;
        let (nq, nv) = (self.header.q.len(), self.header.v.len());
        let steps = from.list(STEP, |from| RecordedStep::get(from, self.format, nq, nv))?;
        let changes =
            if self.format >= WITH_CHANGES { from.list(CHANGE, |from| Change::get(from, has))? } else { vec![] };
        from.end()?;
        Ok(Chunk { snapshot, steps, changes })
    }

    /// What is said before the first step.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of chunks; at least one.
    pub fn chunks(&self) -> usize {
        self.places.len()
    }

    /// Chunk `i`.
    ///
    /// # Errors
    /// If there is none.
    pub fn chunk(&self, i: usize) -> Result<Chunk, SceneError> {
        let place = self.places.get(i).ok_or_else(|| SceneError::new("recording", format!("there is no chunk {i}")))?;
        let chunk = unpack(&self.bytes[place.packed.clone()], place.raw).and_then(|raw| self.decode(&raw));
        chunk.map_err(|e| SceneError::new("recording", e.to_string()))
    }

    /// The chunk from whose snapshot step `k` can be made: the last one that begins at or before it.
    pub(crate) fn chunk_of(&self, k: u64) -> Option<usize> {
        self.places.partition_point(|p| p.first <= k).checked_sub(1)
    }

    /// All recorded steps, one after the other.
    pub fn steps(&self) -> impl Iterator<Item = RecordedStep> + '_ {
        (0..self.places.len()).flat_map(|i| self.chunk(i).map(|c| c.steps).unwrap_or_default())
    }

    /// Recorded step `i`, counted from 0 over the whole file; unpacks the chunk it is in.
    pub fn step(&self, i: usize) -> Option<RecordedStep> {
        let mut before = 0;
        let at = self.places.iter().position(|p| {
            let here = i < before + p.steps;
            before += if here { 0 } else { p.steps };
            here
        })?;
        self.chunk(at).ok()?.steps.into_iter().nth(i - before)
    }

    /// Number of recorded steps.
    pub fn step_count(&self) -> usize {
        self.places.iter().map(|p| p.steps).sum()
    }

    /// How the run ended; `None` if the recording breaks off before.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Why the recording breaks off early, if it does.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }
}

/// The version of the format, the header, and where the first chunk of steps begins.
fn read_header(bytes: &[u8]) -> Result<(u32, Header, usize), Broken> {
    let mut from = Reader::new(bytes);
    if from.take(MAGIC.len()).ok() != Some(&MAGIC[..]) {
        return Err(Broken("this is no recording of Stiction".into()));
    }
    let version = from.u32()?;
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(Broken(format!("version {version} of the format is not known, only {OLDEST} to {VERSION}")));
    }
    let (tag, place, next) = frame(bytes, bytes.len() - from.left())?;
    if tag != Tag::Header {
        return Err(Broken("it does not begin with a header".into()));
    }
    let raw = unpack(&bytes[place.packed], place.raw)?;
    Ok((version, Header::get(&mut Reader::new(&raw), version)?, next))
}

/// The chunk at byte `at`: its tag, its place, and where the next one begins.
pub(super) fn frame(bytes: &[u8], at: usize) -> Result<(Tag, Place, usize), Broken> {
    let mut from = Reader::new(bytes.get(at..).unwrap_or(&[]));
    if from.left() == 0 {
        return Err(Broken("the rest is missing".into()));
    }
    let (tag, raw, count, sum) = (from.u8()?, from.u64()?, from.size()?, from.u64()?);
    let start = bytes.len() - from.left();
    let packed = from.take(count)?;
    if chunk_sum(tag, raw, packed) != sum {
        return Err(Broken("its checksum is wrong".into()));
    }
    let known = Tag::ALL.into_iter().find(|t| t.byte() == tag);
    let known = known.ok_or_else(|| Broken(format!("there are no chunks of kind {tag}")))?;
    let range = start..start + count;
    Ok((known, Place { packed: range.clone(), raw, first: 0, steps: 0 }, range.end))
}

/// Unpacks a chunk; its size is believed only as far as the packed bytes can stand for it.
pub(super) fn unpack(packed: &[u8], raw: u64) -> Result<Vec<u8>, Broken> {
    if raw > LARGEST_CHUNK || raw > (packed.len() as u64).saturating_mul(BEST_DEFLATE) {
        return Err(Broken(format!("{} bytes cannot stand for {raw}", packed.len())));
    }
    let mut out = Vec::new();
    let read = ZlibDecoder::new(packed).take(raw + 1).read_to_end(&mut out);
    read.map_err(|e| Broken(format!("it cannot be unpacked: {e}")))?;
    if out.len() as u64 != raw {
        return Err(Broken(format!("{} bytes where {raw} are announced", out.len())));
    }
    Ok(out)
}
