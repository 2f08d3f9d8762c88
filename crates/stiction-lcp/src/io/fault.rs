//! An error with its place in the file, before the file's name is known: what every reader of a format returns.

use std::fmt;

use crate::error::InputError;

/// What is wrong, and at which byte.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    at: Option<usize>,
    message: String,
}

impl Fault {
    /// Something wrong at byte `at`.
    pub fn at(at: usize, message: impl fmt::Display) -> Self {
        Self { at: Some(at), message: message.to_string() }
    }

    /// Something wrong with the file as a whole, or at a place the message names.
    pub fn whole(message: impl fmt::Display) -> Self {
        Self { at: None, message: message.to_string() }
    }

    /// How far into the file the reader came; 0 if it is not known.
    pub fn depth(&self) -> usize {
        self.at.unwrap_or(0)
    }

    /// The same fault with a word added at the end.
    pub fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.message = format!("{} ({hint})", self.message);
        self
    }

    /// The error `label:line:column: message` for the file `label` with contents `bytes`.
    pub fn in_file(self, label: &str, bytes: &[u8]) -> InputError {
        let place = match self.at {
            None => label.to_string(),
            Some(at) => {
                let (line, column) = line_and_column(bytes, at);
                format!("{label}:{line}:{column}")
            }
        };
        InputError::File { place, message: self.message }
    }

    /// The error `label: byte 123: message` for the file `label`, which has no lines.
    pub fn in_binary_file(self, label: &str) -> InputError {
        let place = self.at.map_or(label.to_string(), |at| format!("{label}: byte {at}"));
        InputError::File { place, message: self.message }
    }
}

/// Line and column of byte `at`, both counted from 1, columns in characters.
fn line_and_column(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at.min(bytes.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// A piece of the file as it can stand in a message: short, in quotes, printable.
pub fn quote(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(text);
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}
