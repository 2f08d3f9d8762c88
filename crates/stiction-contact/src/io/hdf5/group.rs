//! The members of a group: an old symbol table, or link messages.

use stiction_lcp::io::fault::Fault;

use super::header::{Message, kind, messages};
use super::{File, Object};

/// Names and header addresses of the members of a group; soft and external links are left out.
pub(super) fn members<'a>(object: &Object<'a>) -> Result<Vec<(&'a [u8], u64)>, Fault> {
    let (file, messages) = (&object.file, messages(object)?);
    if let Some(table) = messages.iter().find(|m| m.kind == kind::SYMBOL_TABLE) {
        return symbol_table(file, table);
    }
    let Some(info) = messages.iter().find(|m| m.kind == kind::LINK_INFO) else {
        return Err(Fault::at(object.at as usize, format!("/{} is not a group", object.path())));
    };
    check_compact(file, info)?;
    let mut members = Vec::new();
    for message in messages.iter().filter(|m| m.kind == kind::LINK) {
        members.extend(link(file, message)?);
    }
    Ok(members)
}

/// Refuses a group whose links are kept in a heap, as those with more than eight members are.
fn check_compact(file: &File<'_>, info: &Message) -> Result<(), Fault> {
    let mut c = info.open(file, "the link information of a group")?;
    c.version(&[0])?;
    let flags = c.byte()?;
    c.take(if flags & 1 != 0 { 8 } else { 0 })?;
    match file.address(&mut c)? {
        None => Ok(()),
        Some(_) => Err(c.fault("a group with densely stored links (more than eight members) is not read")),
    }
}

/// Name and address of a hard link.
fn link<'a>(file: &File<'a>, message: &Message) -> Result<Option<(&'a [u8], u64)>, Fault> {
    let mut c = message.open(file, "a link")?;
    c.version(&[1])?;
    let flags = c.byte()?;
    let hard = if flags & 0x08 != 0 { c.byte()? == 0 } else { true };
    c.take(if flags & 0x04 != 0 { 8 } else { 0 })?;
    c.take(if flags & 0x10 != 0 { 1 } else { 0 })?;
    let length = c.uint(1 << (flags & 3))?;
    let name = c.take(length)?;
    if !hard {
        return Ok(None);
    }
    let at = file.address(&mut c)?.ok_or_else(|| c.fault("it leads nowhere"))?;
    Ok(Some((name, at)))
}

/// A B-tree over nodes of symbols, whose names are in a heap.
fn symbol_table<'a>(file: &File<'a>, message: &Message) -> Result<Vec<(&'a [u8], u64)>, Fault> {
    let mut c = message.open(file, "the symbol table of a group")?;
    let tree = file.address(&mut c)?;
    let heap = file.address(&mut c)?;
    let (Some(tree), Some(heap)) = (tree, heap) else { return Err(c.fault("it leads nowhere")) };
    let names = local_heap(file, heap)?;
    let mut members = Vec::new();
    walk(file, tree, 0, file.length_size as u64, &mut |_, at| symbols(file, at, names, &mut members))?;
    Ok(members)
}

/// The names of a group, each with a zero at its end.
fn local_heap<'a>(file: &File<'a>, at: u64) -> Result<&'a [u8], Fault> {
    let mut c = file.cursor(at, "the heap of names")?;
    c.mark(b"HEAP")?;
    c.version(&[0])?;
    c.take(3)?;
    let size = c.uint(file.length_size)?;
    c.uint(file.length_size)?;
    let data = file.address(&mut c)?.ok_or_else(|| c.fault("it leads nowhere"))?;
    file.cursor(data, "the heap of names")?.take(size)
}

/// Adds the members of a symbol node.
fn symbols<'a>(file: &File<'a>, at: u64, names: &'a [u8], members: &mut Vec<(&'a [u8], u64)>) -> Result<(), Fault> {
    let mut c = file.cursor(at, "a symbol node")?;
    c.mark(b"SNOD")?;
    c.version(&[1])?;
    c.take(1)?;
    for _ in 0..c.uint(2)? {
        let here = c;
        let offset = c.uint(file.offset_size)?;
        let header = file.address(&mut c)?;
        // What is cached about the member.
        c.take(24)?;
        let name = usize::try_from(offset).ok().and_then(|offset| names.get(offset..));
        let name = name.and_then(|rest| rest.iter().position(|b| *b == 0).map(|end| &rest[..end]));
        let name = name.ok_or_else(|| here.fault(format!("a name at {offset} is not in the heap")))?;
        members.extend(header.map(|header| (name, header)));
    }
    // Nodes that are entered more than once would add their members again.
    let honest = members.len() <= file.most_entries();
    if honest { Ok(()) } else { Err(c.fault("there are more members than the file has room for")) }
}

/// Goes through a B-tree of version 1 in order, and gives the place of each leaf entry's key and the address of its child to `leaf`.
/// Its nodes are of `kind` 0 (groups) or 1 (chunks), their keys of `key_size` bytes.
pub(super) fn walk(
    file: &File<'_>,
    root: u64,
    kind: u8,
    key_size: u64,
    leaf: &mut dyn FnMut(u64, u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut entries_left = file.most_entries();
    // Address and level of the nodes to come, the next one last; a root may have any level.
    let mut stack: Vec<(u64, Option<u8>)> = vec![(root, None)];
    while let Some((at, level)) = stack.pop() {
        let mut c = file.cursor(at, "an index node")?;
        c.mark(b"TREE")?;
        c.version(&[kind])?;
        let found = c.byte()?;
        if let Some(level) = level.filter(|level| *level != found) {
            return Err(c.fault(format!("level {found} stands where {level} was expected")));
        }
        let count = c.uint(2)?;
        c.take(2 * file.offset_size as u64)?;
        let first = stack.len();
        for _ in 0..count {
            entries_left = entries_left
                .checked_sub(1)
                .ok_or_else(|| c.fault("there are more entries than the file has room for"))?;
            let key = c.at() as u64;
            c.take(key_size)?;
            let child = file.address(&mut c)?.ok_or_else(|| c.fault("an entry leads nowhere"))?;
            match found.checked_sub(1) {
                None => leaf(key, child)?,
                Some(below) => stack.push((child, Some(below))),
            }
        }
        stack[first..].reverse();
    }
    Ok(())
}
