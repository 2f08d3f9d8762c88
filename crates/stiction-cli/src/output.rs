//! Where the command writes, and how it fails.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use stiction_lcp::InputError;

/// Why nothing could be done. Not being solved is no failure.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file, an option or a problem that cannot be used.
    Input(InputError),
    /// Anything else, in words.
    Message(String),
    /// Ctrl-C ended it, and all there is to say is said.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Message(text) => f.write_str(text),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Message(format!("cannot write: {error}"))
    }
}

/// A writer that goes quiet once its reader has left, as in `stiction solve … | head`.
pub(crate) struct Pipe<W> {
    inner: W,
    closed: bool,
}

impl<W> Pipe<W> {
    /// Wraps a writer.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, closed: false }
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        match self.inner.write(bytes) {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(bytes.len())
            }
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        match self.inner.flush() {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other,
        }
    }
}

/// A file that the command writes.
pub(crate) struct Target {
    /// Its name.
    pub name: String,
    /// The file.
    pub file: File,
}

impl Target {
    /// Writes all of it.
    pub(crate) fn write(mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(bytes);
        written.map_err(|e| self.failed(&e))
    }

    /// Why it could not be written.
    pub(crate) fn failed(&self, error: &io::Error) -> Failure {
        Failure::Message(format!("{}: cannot be written: {error}", self.name))
    }
}

/// Opens a file for writing; one that exists is replaced only with `force`.
pub(crate) fn write_new(target: &Path, force: bool) -> Result<Target, Failure> {
    let mut how = OpenOptions::new();
    how.write(true);
    let opened = if force { how.create(true).truncate(true).open(target) } else { how.create_new(true).open(target) };
    let name = target.display().to_string();
    match opened {
        Ok(file) => Ok(Target { name, file }),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::Message(format!("{name}: exists already; --force replaces it")))
        }
        Err(e) => Err(Failure::Message(format!("{name}: cannot be written: {e}"))),
    }
}
