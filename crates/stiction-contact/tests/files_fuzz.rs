//! Garbled files of every format: no panic, and never more memory than the file can justify.
//!
//! One test, because the memory is counted for the whole process. `PROPTEST_CASES` makes it longer. Where Siconos' files are there,
//! those in HDF5 are garbled, too.

#[path = "common/hdf5.rs"]
mod hdf5_writer;
#[path = "../../stiction-lcp/tests/common/siconos.rs"]
mod siconos_files;

use std::cell::Cell;
use std::io::{Cursor, Write};

use hdf5_writer::{FORMS, Node, write};
use peak_alloc::PeakAlloc;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stiction_contact::InputError;
use stiction_contact::io::{AnyProblem, Kind, ReadOptions, read_bytes};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Good files, to be garbled.
const TEXTS: [&str; 8] = [
    "3 1\n0 3 3\n3 3\n1 2 0\n0 4 0\n0 0 -0.5\n-1 2 3\n0.7 1",
    "3 1  1 3 3  3 2 2  1 3  1 3  3 3  0 1 3  0 0 1   0 1   1 2 0   2 4 0 0 -0.5   -1 2 3  0.7  1",
    "3 1 2 3 3 1 CSparse\ntriplet: 3-by-3, nzmax: 9 nnz: 2\n0 0 : 0.5\n1 0 : 2\n-1 2 3 0.7",
    "2 1 2 2 2 2 CSparse\n2-by-2, nzmax: 2 nnz: 2, 1-norm: 4\ncol 0 : locations 0 to 0\n0 : 1\ncol 1 : locations 1 to 1\n1 : 4\n2 -0.5 0.7",
    "3 1  0 3 3 3 3  1 2 0 0 4 0 0 0 -0.5  0 3 3 3 3  1 0 0 0 0 3 0 -2 0  1 2 3  -1 0 0.25  0.5",
    "2 2  1 2 2 0  1 2 4 0  1 2  -1 0 0.25 1e-300  0.5 inf",
    "5 1 1 5 5 0 1 2 3 4 5 0.5 0.1",
    "2 0 2 2 2 2  1 0 0 1  5 6  -1 -inf  1 inf",
];
const JSONS: [&str; 4] = [
    r#"{"W": [[1, 0], [2.5e-3, 4]], "q": [-1, 2], "mu": ["inf"], "dim": 2, "name": "a"}"#,
    r#"{"kind": "friction", "W": {"rows": 2, "cols": 2, "entries": [[0, 0, 1], [1, 1, 1e2]]}, "q": [-1, 2], "mu": [0.5]}"#,
    r#"{"mass": [[[2, 0], [0, 2]], [[1]]], "v": [1, 0, 0.5], "force": [0, -9.81, 0], "dt": 1e-3, "contacts": [{"normal": [[0, [0, 1]], [1, [-1]]],
       "tangent_s": [[0, [1, 0]]], "mu": "inf", "gap": 1e-4, "rate": [0, 0, 1], "surface": [1, 0]}], "bounded": [{"row": [[1, [1]]], "lo": "-inf", "hi": 2}],
       "limits": [{"row": [], "gap": 1}], "bilateral": [{"row": [[0, [1, 1]]], "target": 1}], "kind": "contact"}"#,
    r#"{"M": [[1]], "H": {"rows": 1, "cols": 2, "entries": [[0, 1, -1]]}, "f": [1], "b": [-1, 0.5], "mu": [0]}"#,
];
const NAMES: [&str; 4] = ["a.dat", "a.json", "a.npz", "rolling.dat"];
/// What goes in place of a number in a text.
const NASTY: [&str; 12] = [
    "0",
    "-1",
    "1",
    "3",
    "65536",
    "1000000",
    "4294967296",
    "18446744073709551615",
    "1000000000000000000000",
    "1e999",
    "nan",
    "x",
];

/// A change: which, where, and with what.
type Change = (u8, usize, usize, u8);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0u8..8, any::<usize>(), any::<usize>(), any::<u8>()), 0..5)
}

/// Garbles `bytes`; `other` is spliced in.
fn garble(mut bytes: Vec<u8>, changes: &[Change], other: &[u8]) -> Vec<u8> {
    for &(what, a, b, byte) in changes {
        let n = bytes.len();
        if n == 0 {
            break;
        }
        let (at, end) = (a % n, a % n + b % (n - a % n + 1));
        match what {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= byte,
            2 => drop(bytes.splice(at..end, other.iter().copied())),
            3 => drop(bytes.drain(at..end)),
            4 => bytes.insert(at, byte),
            5 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            6 => {
                let digit = |x: &u8| x.is_ascii_digit();
                let Some(from) = bytes[at..].iter().position(digit).map(|k| at + k) else { continue };
                let to = bytes[from..].iter().position(|x| !digit(x)).map_or(n, |k| from + k);
                drop(bytes.splice(from..to, NASTY[b % NASTY.len()].bytes()));
            }
            _ => words(&mut bytes, at, b, byte),
        }
    }
    bytes
}

/// Puts another number where a small one stands in a binary file: an address, a count, a size.
fn words(bytes: &mut [u8], at: usize, b: usize, byte: u8) {
    let n = bytes.len() as u64;
    let size = [1, 2, 4, 8][usize::from(byte % 4)];
    let values =
        [0, 1, 2, 8, n / 2, n - 1, n, n + 1, u64::from(u16::MAX), u64::from(u32::MAX), 1 << 62, u64::MAX, b as u64 % n];
    let value = values[b % values.len()].to_le_bytes();
    // Places where a number stands are those before zeros.
    let zeros = |k: &usize| bytes[k + 1..].iter().take(3).all(|x| *x == 0);
    let at = (at..bytes.len()).find(zeros).unwrap_or(at);
    for (to, from) in bytes[at..].iter_mut().zip(&value[..size]) {
        *to = *from;
    }
}

fn array(shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes(), data].concat()
}

/// An archive whose first array was garbled before it was packed, so that its checksum is right.
fn archive(changes: &[Change]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let w = garble(array("(2, 2)", &[0; 32]), changes, b"(1000000, 1000000)");
    for (name, bytes) in [("W.npy", w), ("q.npy", array("(2,)", &[0; 16])), ("mu.npy", array("(1,)", &[0; 8]))] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A small problem of FCLIB.
fn fclib() -> Node {
    let integers = |x: &[i32]| Node::Integers(x.to_vec());
    let matrix = Node::Group(vec![
        ("m", integers(&[2])),
        ("n", integers(&[2])),
        ("nz", integers(&[3])),
        ("p", integers(&[0, 0, 1])),
        ("i", integers(&[0, 1, 1])),
        ("x", Node::Floats(vec![1.0, -0.5, 2.0])),
    ]);
    let vectors = vec![("q", Node::Floats(vec![1.0, -1.0])), ("mu", Node::Floats(vec![0.5]))];
    let group = vec![("spacedim", integers(&[2])), ("W", matrix), ("vectors", Node::Group(vectors))];
    Node::Group(vec![("fclib_local", Node::Group(group))])
}

/// HDF5 files: small ones in every form, and those of Siconos.
fn hdf5_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = FORMS.iter().map(|form| write(&fclib(), *form)).collect();
    if let Some(folder) = siconos_files::folder() {
        for path in ["FrictionContact", "python"].iter().flat_map(|sub| siconos_files::files(&folder.join(sub))) {
            if path.extension().is_some_and(|e| e == "hdf5") {
                seeds.push(std::fs::read(path).unwrap());
            }
        }
    }
    seeds
}

/// A garbled file of some format.
fn garbled() -> impl Strategy<Value = Vec<u8>> {
    let text = (0..TEXTS.len(), 0..TEXTS.len(), changes())
        .prop_map(|(i, j, c)| garble(TEXTS[i].into(), &c, TEXTS[j].as_bytes()));
    let json = (0..JSONS.len(), 0..JSONS.len(), changes())
        .prop_map(|(i, j, c)| garble(JSONS[i].into(), &c, JSONS[j].as_bytes()));
    let inside = changes().prop_map(|c| archive(&c));
    let seeds = hdf5_seeds();
    let hdf5 = (0..seeds.len(), changes()).prop_map(move |(i, c)| {
        // A file that should be longer is refused at once; one that says it is short is looked into.
        let mut bytes = garble(seeds[i].clone(), &c, b"TREE\x01\x00\xff\xff");
        if let Some(end) = bytes.get_mut(if i % FORMS.len() < 3 { 40..48 } else { 28..36 }) {
            end.fill(0);
        }
        bytes
    });
    let magic = prop::collection::vec(any::<u8>(), 0..200).prop_map(|b| [&b"\x89HDF\r\n\x1a\n\x00"[..], &b].concat());
    prop_oneof![4 => text, 3 => json, 1 => inside, 6 => hdf5, 1 => magic]
}

/// Memory that reading may take beside what the file's bytes and its numbers need: tables of zip and inflate.
const OVERHEAD: usize = 1 << 20;
/// The limit on numbers here.
const MAX_NUMBERS: usize = 1 << 14;

fn check(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Option<AnyProblem>, TestCaseError> {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = read_bytes(name, bytes, options);
    let used = MEMORY.peak_usage().saturating_sub(before);
    // An HDF5 file has up to nine lists of numbers, and matrices have indices.
    let most = OVERHEAD + 64 * bytes.len() + 12 * 8 * MAX_NUMBERS;
    prop_assert!(used <= most, "{used} bytes for a file of {}", bytes.len());
    match result {
        Ok(file) => Ok(Some(file)),
        Err(InputError::File { place, message }) => {
            prop_assert!(place.starts_with(name) && !message.is_empty());
            Ok(None)
        }
        Err(other) => Err(TestCaseError::fail(format!("an error without a place: {other}"))),
    }
}

#[test]
fn garbled_files_neither_panic_nor_take_memory() {
    let kinds = [
        None,
        None,
        None,
        None,
        Some(Kind::Friction),
        Some(Kind::GlobalFriction),
        Some(Kind::Contact),
        Some(Kind::ALL[0]),
    ];
    let input = (garbled(), 0..NAMES.len(), 0..kinds.len());
    let config = Config { cases: Config::default().cases.max(4096), failure_persistence: None, ..Config::default() };
    let (read, read_hdf5, read_contact) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = TestRunner::new(config).run(&input, |(bytes, name, kind)| {
        let options = ReadOptions { kind: kinds[kind], max_numbers: MAX_NUMBERS };
        for name in [NAMES[name], "a"] {
            let file = match check(name, &bytes, &options)? {
                Some(file @ (AnyProblem::Friction(_) | AnyProblem::Contact(_))) => file,
                _ => continue,
            };
            read.set(read.get() + 1);
            read_hdf5.set(read_hdf5.get() + usize::from(bytes.starts_with(b"\x89HDF")));
            read_contact.set(read_contact.get() + usize::from(matches!(file, AnyProblem::Contact(_))));
            let plain = ReadOptions { max_numbers: 1 << 20, ..ReadOptions::default() };
            let again = read_bytes("a.json", file.to_json().as_bytes(), &plain);
            prop_assert_eq!(again, Ok(file));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
    assert!(
        read.get() > 100 && read_hdf5.get() > 20 && read_contact.get() > 20,
        "{read:?} files, {read_hdf5:?} in HDF5, {read_contact:?} contact problems: the garbling is too wild"
    );
}
