//! Object headers: the messages that describe a group or a list.

use stiction_lcp::io::fault::Fault;

use super::cursor::Cursor;
use super::{File, Object};

/// The kinds of message that are read.
pub(super) mod kind {
    pub(in super::super) const DATASPACE: u16 = 0x01;
    pub(in super::super) const LINK_INFO: u16 = 0x02;
    pub(in super::super) const DATATYPE: u16 = 0x03;
    pub(in super::super) const LINK: u16 = 0x06;
    pub(in super::super) const LAYOUT: u16 = 0x08;
    pub(in super::super) const FILTERS: u16 = 0x0b;
    pub(in super::super) const CONTINUATION: u16 = 0x10;
    pub(in super::super) const SYMBOL_TABLE: u16 = 0x11;
}

/// A message: its kind and where its contents are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub(super) kind: u16,
    shared: bool,
    at: u64,
    size: u64,
}

impl Message {
    /// Its contents, to be read from byte `self.at`.
    pub(super) fn open<'a>(&self, file: &File<'a>, what: &'static str) -> Result<Cursor<'a>, Fault> {
        let end = (self.at + self.size) as usize;
        let c = Cursor::new(&file.bytes[..end.min(file.bytes.len())], self.at, what)?;
        if self.shared { Err(c.fault("a description shared between objects is not read")) } else { Ok(c) }
    }
}

/// A piece of a header with messages in it.
struct Block {
    at: u64,
    size: u64,
}

/// All messages of an object.
pub(super) fn messages(object: &Object<'_>) -> Result<Vec<Message>, Fault> {
    let file = &object.file;
    let mut c = file.cursor(object.at, "an object header")?;
    let style = match c.byte()? {
        1 => Style::One,
        b'O' => {
            let mut c = file.cursor(object.at, "an object header")?;
            c.mark(b"OHDR")?;
            c.version(&[2])?;
            Style::Two { flags: c.byte()? }
        }
        version => {
            let path = &object.path;
            return Err(Fault::at(
                object.at as usize,
                format!("/{path}: an object header of version {version} is not read"),
            ));
        }
    };
    let mut blocks = vec![first_block(file, object.at, style)?];
    let mut messages = Vec::new();
    // Blocks that lie over each other could go on for ever; honest ones share the file's bytes.
    let mut budget = file.bytes.len() as u64;
    while let Some(block) = blocks.pop() {
        budget = budget.checked_sub(block.size.max(1)).ok_or_else(|| {
            Fault::at(block.at as usize, "an object header: its pieces are together larger than the file")
        })?;
        read_block(file, &block, style, &mut messages, &mut blocks)?;
    }
    Ok(messages)
}

#[derive(Clone, Copy)]
enum Style {
    One,
    Two { flags: u8 },
}

fn first_block(file: &File<'_>, at: u64, style: Style) -> Result<Block, Fault> {
    let mut c = file.cursor(at, "an object header")?;
    let size = match style {
        Style::One => {
            c.take(8)?;
            let size = c.uint(4)?;
            c.take(4)?;
            size
        }
        Style::Two { flags } => {
            c.take(6)?;
            c.take(if flags & 0x20 != 0 { 16 } else { 0 })?;
            c.take(if flags & 0x10 != 0 { 4 } else { 0 })?;
            c.uint(1 << (flags & 3))?
        }
    };
    let at = c.at() as u64;
    c.take(size)?;
    Ok(Block { at, size })
}

/// Adds the messages of a block to `messages`, and the blocks they name to `blocks`.
fn read_block(
    file: &File<'_>,
    block: &Block,
    style: Style,
    messages: &mut Vec<Message>,
    blocks: &mut Vec<Block>,
) -> Result<(), Fault> {
    let mut c = file.cursor(block.at, "an object header's message")?;
    let (head, end) = (style.message_head(), block.at + block.size);
    while c.at() as u64 + head <= end {
        let (kind, size, flags) = match style {
            Style::One => {
                let found = (c.uint(2)? as u16, c.uint(2)?, c.byte()?);
                c.take(3)?;
                found
            }
            Style::Two { flags } => {
                let found = (u16::from(c.byte()?), c.uint(2)?, c.byte()?);
                c.take(if flags & 0x04 != 0 { 2 } else { 0 })?;
                found
            }
        };
        let at = c.at() as u64;
        if at + size > end {
            return Err(c.fault(format!("{size} bytes are needed here, its block ends after {}", end - at)));
        }
        c.take(size)?;
        let message = Message { kind, shared: flags & 2 != 0, at, size };
        if kind == kind::CONTINUATION {
            blocks.push(continuation(file, &message, style)?);
        } else {
            messages.push(message);
        }
    }
    Ok(())
}

impl Style {
    /// Bytes of a message before its contents.
    fn message_head(self) -> u64 {
        match self {
            Self::One => 8,
            Self::Two { flags } => 4 + if flags & 0x04 != 0 { 2 } else { 0 },
        }
    }
}

fn continuation(file: &File<'_>, message: &Message, style: Style) -> Result<Block, Fault> {
    let mut c = message.open(file, "a continuation of an object header")?;
    let at = file.address(&mut c)?.ok_or_else(|| c.fault("its address is nowhere"))?;
    let size = c.uint(file.length_size)?;
    let mut c = file.cursor(at, "a continuation of an object header")?;
    let inner = match style {
        Style::One => size,
        Style::Two { .. } => {
            c.mark(b"OCHK")?;
            size.checked_sub(8).ok_or_else(|| c.fault(format!("{size} bytes are too few")))?
        }
    };
    let at = c.at() as u64;
    c.take(inner)?;
    Ok(Block { at, size: inner })
}
