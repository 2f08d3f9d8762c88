//! Files of friction and contact problems, and of all problems: Siconos text, FCLIB's HDF5, NumPy `.npz`, and JSON, which is also written.
//!
//! `docs/file-formats.md` describes them. [`read`] takes complementarity, friction and contact problems alike and finds out from the contents which
//! of them a file holds; [`ReadOptions::kind`] decides otherwise. A bad file gives an [`InputError::File`] with `file:line:column`,
//! `file: byte` or the key, what was found and what was expected. No size in a file is believed before the file could hold as many numbers.
//!
//! ```
//! use stiction_contact::io::{self, AnyProblem, FrictionFile, ReadOptions};
//!
//! let text = br#"{"W": [[2, 0, 0], [0, 1, 0], [0, 0, 1]], "q": [-1, 0.5, 0], "mu": [0.7]}"#;
//! let AnyProblem::Friction(FrictionFile::Local(problem)) = io::read_bytes("inline.json", text, &ReadOptions::default())? else {
//!     panic!("W and mu make a friction problem");
//! };
//! assert_eq!((problem.dim(), problem.contacts()), (3, 1));
//! # Ok::<(), stiction_contact::InputError>(())
//! ```

mod build;
mod contact;
#[cfg(feature = "hdf5")]
mod fclib;
#[cfg(feature = "hdf5")]
mod hdf5;
mod json;
mod json_write;
mod npz;
mod siconos;

use std::path::Path;
use std::str::FromStr;

use stiction_lcp::InputError;
use stiction_lcp::io as lcp;
use stiction_lcp::io::fault::Fault;
use stiction_lcp::io::{Format, ProblemFile};

use crate::friction_problem::{FrictionProblem, GlobalFrictionProblem};
use crate::problem::ContactProblem;

pub use contact::contact_to_json;

/// A friction problem in the form its file has.
#[derive(Debug, Clone, PartialEq)]
pub enum FrictionFile {
    /// In local coordinates: W, q, mu.
    Local(FrictionProblem),
    /// In global coordinates: M, H, f, b, mu.
    Global(GlobalFrictionProblem),
}

impl FrictionFile {
    /// `friction` or `global-friction`, as in files and options.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Local(_) => Kind::Friction,
            Self::Global(_) => Kind::GlobalFriction,
        }
    }

    /// The problem as JSON, matrices by their entries. Reading it gives back every number bit for bit.
    pub fn to_json(&self) -> String {
        json_write::to_json(self)
    }
}

impl From<FrictionProblem> for FrictionFile {
    fn from(problem: FrictionProblem) -> Self {
        Self::Local(problem)
    }
}

impl From<GlobalFrictionProblem> for FrictionFile {
    fn from(problem: GlobalFrictionProblem) -> Self {
        Self::Global(problem)
    }
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyProblem {
    /// A complementarity problem, with the start, name and comment of its file.
    Complementarity(ProblemFile),
    /// A friction problem.
    Friction(FrictionFile),
    /// A contact problem: inertia, velocities, forces and rows.
    Contact(Box<ContactProblem>),
}

impl AnyProblem {
    /// The problem as JSON. Reading it gives back every number bit for bit.
    pub fn to_json(&self) -> String {
        match self {
            Self::Complementarity(file) => file.to_json(),
            Self::Friction(file) => file.to_json(),
            Self::Contact(problem) => contact_to_json(problem),
        }
    }
}

/// The kinds of problem that a file can be said to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A complementarity problem of one of its kinds.
    Complementarity(lcp::Kind),
    /// Friction in local coordinates.
    Friction,
    /// Friction in global coordinates.
    GlobalFriction,
    /// Contact, from inertia and rows. Read from JSON only.
    Contact,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Complementarity(lcp::Kind::Lcp),
        Self::Complementarity(lcp::Kind::Mlcp),
        Self::Complementarity(lcp::Kind::Relay),
        Self::Friction,
        Self::GlobalFriction,
        Self::Contact,
    ];

    /// `lcp`, `mlcp`, `relay`, `friction`, `global-friction` or `contact`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complementarity(kind) => kind.name(),
            Self::Friction => "friction",
            Self::GlobalFriction => "global-friction",
            Self::Contact => "contact",
        }
    }
}

impl FromStr for Kind {
    type Err = InputError;

    fn from_str(word: &str) -> Result<Self, InputError> {
        Self::ALL.into_iter().find(|k| k.name() == word).ok_or_else(|| InputError::Option {
            name: "kind",
            reason: format!("expected {}, found '{word}'", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// How a file is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The kind of problem, where the file must not decide. Default `None`.
    pub kind: Option<Kind>,
    /// The most numbers of a dense matrix, of an `.npz` archive, or of a list in HDF5. Default 2²⁵, which is 256 MiB.
    pub max_numbers: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { kind: None, max_numbers: lcp::ReadOptions::default().max_numbers }
    }
}

/// Reads the file at `path`, whatever kind of problem it holds; `-` is standard input.
///
/// # Errors
/// `InputError::File` if it cannot be opened, is too large, or holds no problem that is read.
pub fn read(path: &Path, options: &ReadOptions) -> Result<AnyProblem, InputError> {
    let (label, bytes) = lcp::load(path)?;
    read_bytes(&label, &bytes, options)
}

/// Reads a problem of any kind from `bytes`; `label` is the name in messages, and its extension counts.
///
/// # Errors
/// `InputError::File` with the place and what was expected there.
pub fn read_bytes(label: &str, bytes: &[u8], options: &ReadOptions) -> Result<AnyProblem, InputError> {
    let complementarity = || {
        let kind = match options.kind {
            Some(Kind::Complementarity(kind)) => Some(kind),
            _ => None,
        };
        let options = lcp::ReadOptions { kind, max_numbers: options.max_numbers };
        lcp::read_bytes(label, bytes, &options).map(AnyProblem::Complementarity)
    };
    let friction = |read: Result<FrictionFile, Fault>| {
        let read = read.and_then(|file| check_kind(file, options.kind));
        read.map(AnyProblem::Friction).map_err(|fault| fault.in_file(label, bytes))
    };
    match Format::of(label, bytes) {
        Format::Json if contact::is_contact(bytes, options.kind) => {
            let read = contact::read(bytes).map(|problem| AnyProblem::Contact(Box::new(problem)));
            read.map_err(|fault| fault.in_file(label, bytes))
        }
        _ if options.kind == Some(Kind::Contact) => {
            Err(Fault::whole("contact problems are read from JSON only").in_file(label, bytes))
        }
        Format::Json if json::is_friction(bytes, options.kind) => friction(json::read(bytes)),
        Format::Npz if npz::is_friction(bytes, options.kind) => friction(npz::read(bytes, options.max_numbers)),
        #[cfg(not(feature = "hdf5"))]
        Format::Hdf5 => {
            let why = "this build reads no HDF5: stiction-contact was compiled without its feature hdf5";
            Err(Fault::whole(why).in_binary_file(label))
        }
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => {
            let read = fclib::read(bytes, options.max_numbers).and_then(|file| check_kind(file, options.kind));
            read.map(AnyProblem::Friction).map_err(|fault| fault.in_binary_file(label))
        }
        Format::Text if siconos::looks_like_friction(bytes, options.kind) => {
            let read = siconos::read(label, bytes, options);
            match (options.kind, friction(read)) {
                (None, Err(error)) => complementarity().map_err(|_| error),
                (_, result) => result,
            }
        }
        _ => complementarity(),
    }
}

/// Refuses a friction problem where another kind was asked for.
fn check_kind(file: FrictionFile, asked: Option<Kind>) -> Result<FrictionFile, Fault> {
    match asked.filter(|asked| *asked != file.kind()) {
        None => Ok(file),
        Some(asked) => {
            let (kind, asked) = (file.kind().name(), asked.name());
            Err(Fault::whole(format!("the file holds a problem of kind {kind}, not {asked}")))
        }
    }
}
