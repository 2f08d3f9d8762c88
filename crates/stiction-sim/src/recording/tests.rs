//! Contents that are wrong although their checksums are right: errors, or something shorter, and never a panic.

use std::path::Path;

use super::bytes::{Reader, Writer};
use super::read::{frame, unpack};
use super::write::write_chunk;
use super::*;
use crate::simulation::Simulation;

const SCENE: &str = r#"
dt = 0.01
duration = 1
[[bodies]]
name = "floor"
fixed = true
shape = { plane = true }
[[bodies]]
name = "ball"
mass = 1
position = [0, 0, 0.1]
velocity = [1, 0, 0]
shape = { sphere = 0.1 }
[[bodies]]
name = "slider"
mass = 1
position = [3, 0, 1]
shape = { box = [0.2, 0.2, 0.2] }
joint = { type = "prismatic", axis = [0, 0, 1], limits = [-0.5, 0.5] }
[[controllers]]
type = "servo"
joint = "slider"
kp = 10
ki = 1
kd = 1
"#;

fn origin() -> Origin {
    Origin { text: SCENE.into(), ..Origin::default() }
}

fn record(steps: usize) -> Vec<u8> {
    let scene = origin().scene().unwrap();
    let mut simulation = scene.simulation().unwrap();
    let header = Header::new(origin(), &scene, 1);
    let mut recorder = Recorder::new(Vec::new(), &header, &simulation).unwrap();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        recorder.step(&simulation, &report).unwrap();
    }
    recorder.finish(&simulation, None).unwrap()
}

/// The unpacked chunks of a recording.
fn chunks(bytes: &[u8]) -> Vec<(Tag, Vec<u8>)> {
    let mut at = MAGIC.len() + 4;
    let mut all = Vec::new();
    while at < bytes.len() {
        let (tag, place, next) = frame(bytes, at).unwrap();
        all.push((tag, unpack(&bytes[place.packed], place.raw).unwrap()));
        at = next;
    }
    all
}

fn pack(chunks: &[(Tag, Vec<u8>)]) -> Vec<u8> {
    let mut out = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
    chunks.iter().for_each(|(tag, raw)| write_chunk(&mut out, *tag, raw).unwrap());
    out
}

struct Garbage(u64);

impl Garbage {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Puts a nasty number somewhere, or changes the length.
fn garble(raw: &mut Vec<u8>, random: &mut Garbage) {
    const NASTY: [u64; 8] = [0, 1, u64::MAX, 1 << 40, 1 << 62, 0x7ff0 << 48, 0x7ff8 << 48, 0x7fe0 << 48];
    let at = random.below(raw.len());
    match random.below(5) {
        0 => raw[at] ^= 1 << random.below(8),
        1 => raw.truncate(at),
        2 => raw.insert(at, random.below(256) as u8),
        3 => drop(raw.drain(at..(at + 8).min(raw.len()))),
        _ => {
            let word = NASTY[random.below(NASTY.len())].to_le_bytes();
            // Most numbers stand at multiples of eight bytes.
            raw[at / 8 * 8..].iter_mut().zip(word).for_each(|(to, from)| *to = from);
        }
    }
}

#[test]
fn packing_is_exact() {
    let bytes = record(120);
    let all = chunks(&bytes);
    assert_eq!(all.iter().map(|c| c.0).collect::<Vec<_>>(), [Tag::Header, Tag::Steps, Tag::Steps, Tag::End]);
    assert_eq!(pack(&all), bytes);
}

#[test]
fn wrong_contents_with_right_checksums_never_panic() {
    let all = chunks(&record(12));
    let mut simulation = origin().scene().unwrap().simulation().unwrap();
    let mut random = Garbage(7);
    let (mut read, mut refused, mut damaged) = (0, 0, 0);
    for _ in 0..3000 {
        let mut garbled = all.clone();
        let which = random.below(all.len());
        garble(&mut garbled[which].1, &mut random);
        let Ok(recording) = Recording::parse(pack(&garbled)) else {
            refused += 1;
            continue;
        };
        read += 1;
        damaged += usize::from(recording.damage().is_some());
        use_it(&recording, &mut simulation);
    }
    assert!(read > 300 && refused > 300 && damaged > 100, "{read} read, {damaged} of them damaged, {refused} refused");
}

/// All that a recording is for, without a panic; what comes out does not matter.
fn use_it(recording: &Recording, simulation: &mut Simulation) {
    if let Ok(rows) = recording.rows(simulation.world(), |_| {}) {
        let _ = export_csv(recording, &rows, std::io::sink(), std::io::sink());
        let _ = export_npz(recording, &rows, std::io::Cursor::new(Vec::new()));
    }
    let _ = problem_of_step(recording, simulation, 3);
    if let Ok((scene, _)) = recording.header().scene() {
        let _ = scene.simulation();
    }
}

#[test]
fn a_header_comes_back() {
    let scene = origin().scene().unwrap();
    let mut header = Header::new(Origin { parameters: vec![("n".into(), -0.0)], ..origin() }, &scene, 3);
    header.files = vec![NamedFile::of(Path::new("no/such/file")), NamedFile { path: "x".into(), hash: Some(5) }];
    let mut out = Writer::default();
    header.put(&mut out);
    assert_eq!(Header::get(&mut Reader::new(&out.0), VERSION).unwrap(), header);
    assert_eq!(header.q[..8], ["ball.x", "ball.y", "ball.z", "ball.qw", "ball.qx", "ball.qy", "ball.qz", "slider"]);
    assert_eq!((header.body(0), header.body(1), header.body(99)), ("world", "ball", "world"));
}

#[test]
fn single_steps_are_those_of_all() {
    let recording = Recording::parse(record(230)).unwrap();
    assert!(recording.chunks() > 2);
    for (i, step) in recording.steps().enumerate() {
        assert_eq!(recording.step(i), Some(step));
    }
    assert_eq!((recording.step(230), recording.step(usize::MAX)), (None, None));
}
