//! The text of a document: how it is decoded, what is forgiven, and where its lines are.

use std::path::{Path, PathBuf};

use super::Document;
use crate::error::SceneError;

/// XML text with its file and the starts of its lines.
///
/// What other readers of robot files let pass is forgiven: `--` within comments, prefixes that nobody declared, lines before the XML declaration,
/// zero bytes at the end.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    file: Option<PathBuf>,
    text: String,
    /// Where declarations of prefixes were put in, and how many bytes.
    inserted: (usize, usize),
}

/// At most this many undeclared prefixes are forgiven.
const PREFIXES: usize = 32;

impl Source {
    /// Reads a file. Text that is not UTF-8 is taken as Latin-1.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Self, SceneError> {
        let bytes =
            crate::files::read(path).map_err(|e| SceneError::new("", format!("cannot read: {e}")).in_file(path))?;
        let text = String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|&b| char::from(b)).collect());
        Ok(Self::new(text, Some(path.into())))
    }

    /// A text, and the file to name in errors.
    pub(crate) fn new(text: impl Into<String>, file: Option<PathBuf>) -> Self {
        let mut text = without_comments(text.into());
        text.truncate(text.trim_end_matches('\0').len());
        let mut source = Self { file, text: without_late_declaration(text), inserted: (0, 0) };
        source.declare_prefixes();
        source
    }

    /// Replaces every `$(optenv NAME VALUE)` of ROS by its value with blanks around it, so that
    /// places stay as they are; the environment has no say in what a file means. True if there was
    /// one.
    pub(crate) fn take_defaults(&mut self) -> bool {
        const START: &str = "$(optenv ";
        let (mut out, mut rest) = (String::with_capacity(self.text.len()), self.text.as_str());
        while let Some(at) = rest.find(START) {
            let (before, after) = rest.split_at(at);
            let Some((inner, tail)) = after[START.len()..].split_once(')') else { break };
            let name = inner.trim_start().split_ascii_whitespace().next().unwrap_or_default();
            let value = inner.trim_start().trim_start_matches(name).trim();
            let blanks = after.len() - tail.len() - value.len();
            out.push_str(before);
            out.push_str(value);
            out.extend(std::iter::repeat_n(' ', blanks));
            rest = tail;
        }
        out.push_str(rest);
        let changed = out != self.text;
        self.text = out;
        changed
    }

    /// The file.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The text that is parsed: comments are blanks.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Reads the elements.
    ///
    /// # Errors
    /// If the text is not well-formed, with the place.
    pub(crate) fn parse(&self) -> Result<Document<'_>, SceneError> {
        match self.tree() {
            Ok(tree) => Ok(Document { source: self, tree, seen: Default::default() }),
            Err(error) => Err(self.syntax_error(&error)),
        }
    }

    /// Line and column from 1 of a byte of the text.
    pub(crate) fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let (at, count) = self.inserted;
        let shift = if (start..offset).contains(&at) { count.min(offset - at) } else { 0 };
        let characters = before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count();
        (line, (characters + 1).saturating_sub(shift).max(1))
    }

    fn tree(&self) -> Result<roxmltree::Document<'_>, roxmltree::Error> {
        // Every node takes a byte, unless entities multiply them.
        let nodes_limit = u32::try_from(self.text.len()).unwrap_or(u32::MAX).saturating_add(2);
        let options = roxmltree::ParsingOptions { allow_dtd: true, nodes_limit, ..Default::default() };
        roxmltree::Document::parse_with_options(&self.text, options)
    }

    fn syntax_error(&self, error: &roxmltree::Error) -> SceneError {
        let message = error.to_string();
        // The parser ends its messages with the place.
        let message = message.rsplit_once(" at ").map_or(message.as_str(), |(text, _)| text).to_string();
        let position = error.pos();
        let line = (position.row as usize).max(1);
        let start = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
        let column = self.text[start..].char_indices().nth((position.col as usize).saturating_sub(1));
        let (line, column) = self.place(start + column.map_or(0, |(i, _)| i));
        self.name_file(SceneError::new("XML", message).at(line, column))
    }

    /// The same error in this file, if it has one.
    pub(super) fn name_file(&self, error: SceneError) -> SceneError {
        match &self.file {
            Some(file) => error.in_file(file),
            None => error,
        }
    }

    /// Declares prefixes that nobody declared in the outermost element.
    fn declare_prefixes(&mut self) {
        for _ in 0..PREFIXES {
            let Err(roxmltree::Error::UnknownNamespace(prefix, _)) = self.tree() else { return };
            let Some(at) = end_of_root_name(&self.text) else { return };
            let declaration = format!(" xmlns:{prefix}=\"undeclared:{prefix}\"");
            self.text.insert_str(at, &declaration);
            self.inserted = (at, self.inserted.1 + declaration.len());
        }
    }
}

/// Where the name of the outermost element ends.
fn end_of_root_name(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find('<')? + 1;
        let rest = &text[start..];
        if !rest.starts_with(['?', '!']) {
            return rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/').map(|i| start + i);
        }
        from = start;
    }
}

/// The same text with blanks for an XML declaration that has lines or comments before it.
fn without_late_declaration(mut text: String) -> String {
    let start = text.len() - text.trim_start().len();
    if let Some(length) = text[start..].find("?>").filter(|_| start > 0 && text[start..].starts_with("<?xml ")) {
        let blank = blanks(&text[start..start + length + 2]);
        text.replace_range(start..start + length + 2, &blank);
    }
    text
}

/// As many blanks as a text has bytes; line ends stay.
fn blanks(text: &str) -> String {
    text.bytes().map(|b| if matches!(b, b'\n' | b'\r') { char::from(b) } else { ' ' }).collect()
}

/// The same text with blanks for comments, byte by byte but for line ends. A comment without an end stays, for the parser to report.
fn without_comments(text: String) -> String {
    let (open, close, cdata) = ("<!--", "-->", "<![CDATA[");
    if !text.contains(open) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("<!") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let comment = tail.starts_with(open);
        let end = match comment {
            true => tail[open.len()..].find(close).map(|i| open.len() + i + close.len()),
            false if tail.starts_with(cdata) => tail.find("]]>"),
            false => Some(2),
        };
        let Some(end) = end else {
            rest = tail;
            break;
        };
        let (part, after) = tail.split_at(end);
        match comment {
            true => out.push_str(&blanks(part)),
            false => out.push_str(part),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
