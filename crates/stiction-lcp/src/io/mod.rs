//! Problem files: Siconos text, NumPy `.npz`, and JSON, which is also written.
//!
//! `docs/file-formats.md` describes them. The extension decides (`.json`, `.npz`), else the first bytes; the path `-` is
//! standard input. A bad file gives an [`InputError::File`] with `file:line:column` or the key, what was found and
//! what was expected. No size in a file is believed before the file could hold as many numbers, and no problem
//! has more numbers than [`ReadOptions::max_numbers`].
//!
//! ```
//! use stiction_lcp::io::{self, ReadOptions};
//!
//! let text = br#"{"kind": "lcp", "M": [[2, 1], [1, 2]], "q": [-5, -6]}"#;
//! let file = io::read_bytes("inline.json", text, &ReadOptions::default())?;
//! assert_eq!(file.problem.as_ref().n(), 2);
//! # Ok::<(), stiction_lcp::InputError>(())
//! ```
//!
//! The modules are what a reader of further kinds of problem in these formats is made of: [`load`] a file, find its [`Format`], take its
//! words ([`tokens`], [`siconos_matrix`]), values ([`json_values`]) or arrays ([`npz`]), and say what is wrong ([`fault`]).

pub mod fault;
mod fields;
mod json;
pub mod json_values;
pub mod json_write;
pub mod npy;
pub mod npz;
mod siconos;
pub mod siconos_matrix;
pub mod tokens;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use crate::basis::Basis;
use crate::error::InputError;
use crate::problem::Problem;
use fault::Fault;

/// What a text file holds, where it is not to be found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A linear complementarity problem.
    Lcp,
    /// A mixed one.
    Mlcp,
    /// A relay problem: bounds on both sides.
    Relay,
}

impl Kind {
    /// `lcp`, `mlcp` or `relay`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lcp => "lcp",
            Self::Mlcp => "mlcp",
            Self::Relay => "relay",
        }
    }
}

impl FromStr for Kind {
    type Err = InputError;

    fn from_str(word: &str) -> Result<Self, InputError> {
        [Self::Lcp, Self::Mlcp, Self::Relay].into_iter().find(|k| k.name() == word).ok_or_else(|| InputError::Option {
            name: "kind",
            reason: format!("expected lcp, mlcp or relay, found '{word}'"),
        })
    }
}

/// How a file is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The kind of problem, where the file must not decide. Default `None`.
    pub kind: Option<Kind>,
    /// The most entries a matrix may have. Default 2²⁵, which is 256 MiB, or a square matrix of order 5,792: a small
    /// packed file can claim as many, and reading takes three times as much memory.
    pub max_numbers: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { kind: None, max_numbers: 1 << 25 }
    }
}

/// The largest file that is read: 2 GiB.
const MAX_FILE: u64 = 1 << 31;
/// The most that is read where the size is not known beforehand: 256 MiB.
const MAX_STREAM: u64 = 1 << 28;

/// A problem, and what else its file says.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemFile {
    /// The problem.
    pub problem: Problem,
    /// A basis to start from, of the order of the problem.
    pub basis: Option<Basis>,
    /// The problem's name.
    pub name: Option<String>,
    /// A remark.
    pub comment: Option<String>,
}

impl From<Problem> for ProblemFile {
    fn from(problem: Problem) -> Self {
        Self { problem, basis: None, name: None, comment: None }
    }
}

impl ProblemFile {
    /// The file as JSON, one row of a matrix per line. Reading it gives back every number bit for bit.
    pub fn to_json(&self) -> String {
        json_write::to_json(self)
    }
}

/// Reads the file at `path`; `-` is standard input.
///
/// # Errors
/// `InputError::File` if it cannot be opened, is too large, or holds no problem.
pub fn read(path: &Path, options: &ReadOptions) -> Result<ProblemFile, InputError> {
    let (label, bytes) = load(path)?;
    read_bytes(&label, &bytes, options)
}

/// The name for messages and the contents of the file at `path`; `-` is standard input.
///
/// # Errors
/// `InputError::File` if it cannot be opened or is too large: 2 GiB, or 256 MiB where the size is not known beforehand.
pub fn load(path: &Path) -> Result<(String, Vec<u8>), InputError> {
    let label = path.display().to_string();
    if label == "-" {
        let label = "standard input".to_string();
        return load_up_to(&label, std::io::stdin().lock(), MAX_STREAM).map(|bytes| (label, bytes));
    }
    let cannot = |message: String| InputError::File { place: label.clone(), message };
    let file = File::open(path).map_err(|e| cannot(format!("cannot be opened: {}", reason(&e))))?;
    let bytes = match file.metadata() {
        Ok(meta) if meta.is_dir() => return Err(cannot("is a directory, expected a file".into())),
        Ok(meta) if meta.is_file() && meta.len() > MAX_FILE => return Err(cannot(too_large(MAX_FILE))),
        Ok(meta) if meta.is_file() => load_up_to(&label, file, MAX_FILE)?,
        _ => load_up_to(&label, file, MAX_STREAM)?,
    };
    Ok((label, bytes))
}

fn load_up_to(label: &str, source: impl Read, most: u64) -> Result<Vec<u8>, InputError> {
    let cannot = |message: String| InputError::File { place: label.into(), message };
    let mut bytes = Vec::new();
    let size = source.take(most + 1).read_to_end(&mut bytes);
    let size = size.map_err(|e| cannot(format!("cannot be read: {}", reason(&e))))?;
    if size as u64 > most {
        return Err(cannot(too_large(most)));
    }
    Ok(bytes)
}

fn too_large(most: u64) -> String {
    format!("is larger than {} MiB, the most that is read", most >> 20)
}

/// Reads a problem from `bytes`; `label` is the name in messages, and its extension counts.
///
/// # Errors
/// `InputError::File` with the place and what was expected there.
pub fn read_bytes(label: &str, bytes: &[u8], options: &ReadOptions) -> Result<ProblemFile, InputError> {
    let result = match Format::of(label, bytes) {
        Format::Json => json::read(bytes, options),
        Format::Npz => npz::read(bytes, options),
        Format::Text => siconos::read(label, bytes, options).map(ProblemFile::from),
        Format::Hdf5 => {
            Err(Fault::whole("this is an HDF5 file (a friction-contact problem of FCLIB?), which is not read"))
        }
        Format::Npy => {
            Err(Fault::whole("this is a single NumPy array; save M and q together with numpy.savez(file, M=M, q=q)"))
        }
    };
    result.map_err(|fault| fault.in_file(label, bytes))
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// A zip archive of NumPy arrays.
    Npz,
    /// A single NumPy array, which is no problem.
    Npy,
    /// HDF5.
    Hdf5,
    /// Anything else, that is, Siconos' text.
    Text,
}

impl Format {
    /// By extension, `.json` and `.npz`, else by the first bytes.
    pub fn of(label: &str, bytes: &[u8]) -> Self {
        let extension = Path::new(label).extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("json") => return Self::Json,
            Some("npz") => return Self::Npz,
            _ => {}
        }
        let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
        match bytes {
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Self::Npz,
            [0x89, b'H', b'D', b'F', ..] => Self::Hdf5,
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Self::Npy,
            _ if first == Some(&b'{') => Self::Json,
            _ => Self::Text,
        }
    }
}

/// The system's message without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_string()
}
