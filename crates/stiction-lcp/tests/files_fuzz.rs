//! Garbled files of every format: no panic, and never more memory than the file can justify.
//!
//! One test, because the memory is counted for the whole process. `PROPTEST_CASES` makes it longer.

use std::io::{Cursor, Write};

use peak_alloc::PeakAlloc;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stiction_lcp::InputError;
use stiction_lcp::io::{Kind, ProblemFile, ReadOptions, read_bytes};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Good files, to be garbled.
const TEXTS: [&str; 9] = [
    "2\n0\n2\n2\n2\t2\n 1.0e+00 2e0\n 3 -0.4e1\n -5 6\nremark 7",
    "3 1 3 3  2 2 2  1 3  1 3  3 2  0 1 2  1 0   0 7 8   1 5 6   1 1 1",
    "2 2 2 2 1 CSparse Version 3\ntriplet: 2-by-2, nzmax: 9 nnz: 2\n 0 0 : 0.5\n 1 0 : 2\n -1 -2",
    "2 2 2 2 2 CSparse\n2-by-2, nzmax: 3 nnz: 3, 1-norm: 3\n col 0 : locations 0 to 1\n 0 : 1\n 1 : 2\n col 1 : locations 2 to 2\n 0 : 3\n-1 -2",
    "1 1 1 2  0 1 3  0 1  0 3 3 3 3  1 4 7  2 5 8  3 6 9  10 11 12   1  5 6 8 9  2 3  4 7  10  11 12",
    "0 1 1 2  1  5 6 8 9  2 3  4 7  10  11 12",
    "2 0 2 2 2 2  1 0 0 1  5 6  -1 -inf  1 inf",
    "2 2 0 4 4 4 4 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 1 1 1 1 0.5 0.5",
    "1 1 1 1 1 1 1 1 2 1 0 1 0 0 3.5 -1 0",
];
const JSONS: [&str; 4] = [
    r#"{"kind": "lcp", "M": [[2, 1], [1, 2]], "q": [-5, 6.5e-3], "name": "a\u00e9", "basis": "zw"}"#,
    r#"{"A": [[2, 0], [0, 1]], "C": [[1], [-1]], "g": [-1, 0], "D": [[1, 1]], "B": [[3]], "h": [-2]}"#,
    r#"{"kind": "box", "M": [[1]], "q": [1], "lo": ["-inf"], "hi": [null], "comment": ""}"#,
    r#"{"G": [[1, 0.5]], "e": [-1, 0.25], "lo": [0, 0], "hi": [0.75, "inf"]}"#,
];
const NAMES: [&str; 6] = ["a.dat", "relay.dat", "lcp.dat", "mlcp.dat", "a.json", "a.npz"];
/// What goes in place of a number.
const NASTY: [&str; 14] = [
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
    "-1e-999",
    "nan",
    "inf",
    "x",
];

/// A change: which, where, and with what.
type Change = (u8, usize, usize, u8);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0u8..7, any::<usize>(), any::<usize>(), any::<u8>()), 0..5)
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
            _ => {
                let digit = |x: &u8| x.is_ascii_digit();
                let Some(from) = bytes[at..].iter().position(digit).map(|k| at + k) else { continue };
                let to = bytes[from..].iter().position(|x| !digit(x)).map_or(n, |k| from + k);
                drop(bytes.splice(from..to, NASTY[b % NASTY.len()].bytes()));
            }
        }
    }
    bytes
}

fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes(), data].concat()
}

/// An archive whose first array was garbled before it was packed, so that its checksum is right.
fn archive(deflated: bool, changes: &[Change]) -> Vec<u8> {
    let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let m = garble(array("<f8", "(2, 2)", &[0; 32]), changes, b"(1000000, 1000000)");
    for (name, bytes) in [("M.npy", m), ("q.npy", array("<i4", "(2,)", &[1, 0, 0, 0, 255, 255, 255, 255]))] {
        zip.start_file(name, options).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A garbled file of some format.
fn garbled() -> impl Strategy<Value = Vec<u8>> {
    let text = (0..TEXTS.len(), 0..TEXTS.len(), changes())
        .prop_map(|(i, j, c)| garble(TEXTS[i].into(), &c, TEXTS[j].as_bytes()));
    let json = (0..JSONS.len(), 0..JSONS.len(), changes())
        .prop_map(|(i, j, c)| garble(JSONS[i].into(), &c, JSONS[j].as_bytes()));
    let inside = (any::<bool>(), changes()).prop_map(|(deflated, c)| archive(deflated, &c));
    let outside = (any::<bool>(), changes()).prop_map(|(d, c)| garble(archive(d, &[]), &c, b"PK\x05\x06\xff\xff\xff"));
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    let digits = "[0-9 .e\n-]{0,200}".prop_map(String::into_bytes);
    prop_oneof![4 => text, 3 => json, 2 => inside, 2 => outside, 1 => bytes, 1 => digits]
}

/// Memory that reading may take beside what the file's bytes and its numbers need: tables of zip and inflate.
const OVERHEAD: usize = 1 << 20;
/// The limit on numbers here.
const MAX_NUMBERS: usize = 1 << 12;

fn check(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Option<ProblemFile>, TestCaseError> {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = read_bytes(name, bytes, options);
    let used = MEMORY.peak_usage().saturating_sub(before);
    let most = OVERHEAD + 64 * bytes.len() + 4 * 8 * MAX_NUMBERS;
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
    let kinds = [None, Some(Kind::Lcp), Some(Kind::Mlcp), Some(Kind::Relay)];
    let input = (garbled(), 0..NAMES.len(), 0..kinds.len());
    let config = Config { cases: Config::default().cases.max(4096), failure_persistence: None, ..Config::default() };
    let mut read = 0;
    let counted = std::cell::RefCell::new(&mut read);
    let outcome = TestRunner::new(config).run(&input, |(bytes, name, kind)| {
        let options = ReadOptions { kind: kinds[kind], max_numbers: MAX_NUMBERS };
        for name in [NAMES[name], "a.dat"] {
            if let Some(file) = check(name, &bytes, &options)? {
                **counted.borrow_mut() += 1;
                let again = check("a.json", file.to_json().as_bytes(), &ReadOptions { kind: None, ..options.clone() })?;
                prop_assert_eq!(again, Some(file));
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
    assert!(read > 100, "only {read} files could be read: the garbling is too wild to reach far");
}
