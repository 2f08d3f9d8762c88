//! Numbers and marks of a binary file, every access checked against its end.

use stiction_lcp::io::fault::Fault;

/// A reader at a place of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What is being read, for messages.
    what: &'static str,
}

impl<'a> Cursor<'a> {
    /// A reader of `what`, which begins at byte `at`.
    pub(super) fn new(bytes: &'a [u8], at: u64, what: &'static str) -> Result<Self, Fault> {
        match usize::try_from(at) {
            Ok(at) if at <= bytes.len() => Ok(Self { bytes, at, what }),
            _ => Err(Fault::at(
                bytes.len(),
                format!("{what} should be at byte {at}, the file has {} bytes", bytes.len()),
            )),
        }
    }

    /// The place of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// A fault here.
    pub(super) fn fault(&self, message: impl std::fmt::Display) -> Fault {
        Fault::at(self.at, format!("{}: {message}", self.what))
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => Err(self.fault(format!("{count} bytes are needed here, {} are left", rest.len()))),
        }
    }

    /// A little-endian number of `size` ≤ 8 bytes.
    pub(super) fn uint(&mut self, size: usize) -> Result<u64, Fault> {
        let bytes = self.take(size as u64)?;
        Ok(bytes.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b)))
    }

    /// A number of one byte.
    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    /// The four letters that a structure begins with.
    pub(super) fn mark(&mut self, mark: &[u8; 4]) -> Result<(), Fault> {
        let here = *self;
        if self.take(4)? == mark {
            return Ok(());
        }
        Err(here.fault(format!("expected the mark {}", String::from_utf8_lossy(mark))))
    }

    /// A version, which must be one of the `known`.
    pub(super) fn version(&mut self, known: &[u8]) -> Result<u8, Fault> {
        let here = *self;
        let version = self.byte()?;
        if known.contains(&version) {
            return Ok(version);
        }
        Err(here.fault(format!("version {version} is not read; {known:?} are")))
    }
}
