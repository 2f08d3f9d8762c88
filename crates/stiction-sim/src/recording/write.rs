//! Writing a recording, chunk by chunk.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::bytes::Writer;
use super::change::{Change, Changed};
use super::header::Header;
use super::snapshot::put_snapshot;
use super::step::RecordedStep;
use super::{MAGIC, Tag, VERSION, chunk_sum};
use crate::simulation::{Simulation, Snapshot, StepReport};

/// Steps from one snapshot to the next: what must be made again at most to come to a step, and what a crash loses at most.
const SNAPSHOT_STEPS: u64 = 100;
/// A chunk ends early beyond this many bytes.
const CHUNK_BYTES: usize = 4 << 20;
/// How hard chunks are packed: harder costs several times as much and gains a few percent on such numbers.
const LEVEL: Compression = Compression::new(3);

/// Writes a recording while a simulation runs.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    out: W,
    every: u64,
    /// The snapshot that the chunk begins with, as bytes.
    snapshot: Writer,
    /// The steps of the chunk, as bytes.
    steps: Writer,
    /// How many of them.
    count: u64,
    /// Steps made since the snapshot, recorded or not.
    made: u64,
    /// What was changed from outside since the snapshot, as bytes.
    changes: Writer,
    /// How many times.
    changed: u64,
    /// What the simulation was after its last step or change, where a program may change it between steps.
    last: Option<Snapshot>,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording of a simulation from its present state on.
    ///
    /// # Errors
    /// Of the writer.
    pub fn new(mut out: W, header: &Header, simulation: &Simulation) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let mut bytes = Writer::default();
        // Inputs are not part of the scene's start.
        Header { from_start: !header.inputs && at_start(simulation), ..header.clone() }.put(&mut bytes);
        write_chunk(&mut out, Tag::Header, &bytes.0)?;
        let [snapshot, steps, changes] = [const { Writer(Vec::new()) }; 3];
        let (every, last) = (header.every.max(1), header.inputs.then(|| simulation.snapshot()));
        let mut recorder = Self { out, every, snapshot, steps, count: 0, made: 0, changes, changed: 0, last };
        recorder.begin(simulation);
        Ok(recorder)
    }

    /// Takes in what was changed from outside since the last step: to be called before each step of a simulation that a program speaks to, which
    /// the header says ([`Header::inputs`]).
    ///
    /// # Errors
    /// If the simulation is no longer at the step it was at, because another state was loaded.
    pub fn before_step(&mut self, simulation: &Simulation) -> io::Result<()> {
        let Some(last) = &mut self.last else { return Ok(()) };
        let (now, step) = (simulation.snapshot(), simulation.state().step);
        if step != last.state.step {
            let why = format!("its number of steps went from {} to {step}, and a recording goes on", last.state.step);
            return Err(io::Error::other(format!("the simulation was put elsewhere: {why}")));
        }
        let jointed = simulation.world().model.jointed_nq();
        for what in Changed::between(last, &now, jointed) {
            Change { step, what }.put(&mut self.changes);
            self.changed += 1;
        }
        *last = now;
        Ok(())
    }

    /// Takes the step in that the simulation made just now: to be called after each of them.
    ///
    /// # Errors
    /// Of the writer.
    pub fn step(&mut self, simulation: &Simulation, report: &StepReport) -> io::Result<()> {
        self.made += 1;
        if simulation.state().step.is_multiple_of(self.every) {
            RecordedStep::of(simulation, report).put(&mut self.steps);
            self.count += 1;
        }
        if let Some(last) = &mut self.last {
            simulation.snapshot_into(last);
        }
        if self.made >= SNAPSHOT_STEPS || self.steps.0.len() + self.changes.0.len() >= CHUNK_BYTES {
            self.write_steps()?;
            self.begin(simulation);
        }
        Ok(())
    }

    /// Writes what is left, and how the run ended: why its last step failed, if it did.
    ///
    /// # Errors
    /// Of the writer.
    pub fn finish(mut self, simulation: &Simulation, failure: Option<&str>) -> io::Result<W> {
        self.write_steps()?;
        let mut bytes = Writer::default();
        // A program may have put the simulation elsewhere since.
        bytes.u64(self.last.as_ref().map_or(simulation.state().step, |last| last.state.step));
        bytes.bool(failure.is_some());
        bytes.text(failure.unwrap_or_default());
        write_chunk(&mut self.out, Tag::End, &bytes.0)?;
        Ok(self.out)
    }

    /// Begins a chunk.
    fn begin(&mut self, simulation: &Simulation) {
        self.snapshot.0.clear();
        put_snapshot(&mut self.snapshot, &simulation.snapshot());
        self.steps.0.clear();
        self.changes.0.clear();
        (self.count, self.made, self.changed) = (0, 0, 0);
    }

    fn write_steps(&mut self) -> io::Result<()> {
        let Self { snapshot, steps, count, changes, changed, .. } = self;
        snapshot.u64(*count);
        snapshot.0.append(&mut steps.0);
        snapshot.u64(*changed);
        snapshot.0.append(&mut changes.0);
        write_chunk(&mut self.out, Tag::Steps, &self.snapshot.0)
    }
}

/// True if nothing has changed since the scene's start.
fn at_start(simulation: &Simulation) -> bool {
    let (state, world) = (simulation.state(), simulation.world());
    let same = |a: &[f64], b: &[f64]| a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()));
    let switched = simulation.switches() != world.switches();
    state.step == 0 && same(&state.q, &world.q) && same(&state.v, &world.v) && !switched
}

/// A tag, the size of the bytes, their size packed, a checksum, the packed bytes.
pub(super) fn write_chunk(out: &mut impl Write, tag: Tag, raw: &[u8]) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::new(), LEVEL);
    encoder.write_all(raw)?;
    let packed = encoder.finish()?;
    out.write_all(&[tag.byte()])?;
    out.write_all(&(raw.len() as u64).to_le_bytes())?;
    out.write_all(&(packed.len() as u64).to_le_bytes())?;
    out.write_all(&chunk_sum(tag.byte(), raw.len() as u64, &packed).to_le_bytes())?;
    out.write_all(&packed)?;
    out.flush()
}
