//! Lists of numbers: their size, their type, and their bytes.

use std::io::Read;

use flate2::read::ZlibDecoder;
use stiction_lcp::io::fault::Fault;

use super::cursor::Cursor;
use super::group::walk;
use super::header::{Message, kind, messages};
use super::{File, Object};

/// Bytes that a deflated byte can stand for.
const BEST_DEFLATE: u64 = 1032;

/// The whole numbers of a list.
pub(super) fn integers(object: &Object<'_>) -> Result<Vec<i64>, Fault> {
    let (element, raw) = read(object)?;
    if element.class != Class::Integer {
        return Err(Fault::at(object.at as usize, "expected whole numbers, found floating-point numbers"));
    }
    let numbers = raw.chunks_exact(element.size).map(|word| element.integer(word));
    numbers.collect::<Option<_>>().ok_or_else(|| Fault::at(object.at as usize, "a whole number is above 2⁶³"))
}

/// The numbers of a list of floats.
pub(super) fn floats(object: &Object<'_>) -> Result<Vec<f64>, Fault> {
    let (element, raw) = read(object)?;
    if element.class != Class::Float {
        return Err(Fault::at(object.at as usize, "expected floating-point numbers, found whole numbers"));
    }
    Ok(raw.chunks_exact(element.size).map(|word| element.float(word)).collect())
}

/// How the numbers are stored, and their bytes.
fn read(object: &Object<'_>) -> Result<(Element, Vec<u8>), Fault> {
    let (file, messages) = (&object.file, messages(object)?);
    let message = |kind: u16| messages.iter().find(|m| m.kind == kind);
    let (Some(space), Some(element), Some(layout)) =
        (message(kind::DATASPACE), message(kind::DATATYPE), message(kind::LAYOUT))
    else {
        return Err(Fault::at(object.at as usize, "this is not a list of numbers"));
    };
    let count = count(file, space)?;
    let element = Element::read(file, element)?;
    let filters = message(kind::FILTERS).map_or(Ok(Vec::new()), |m| filters(file, m))?;
    // The count is within the limit, so the product is far from 2⁶⁴.
    let bytes = count * element.size as u64;
    let mut c = layout.open(file, "the layout of a list")?;
    c.version(&[3, 4])?;
    let raw = match c.byte()? {
        0 => {
            let size = c.uint(2)?;
            check_size(&c, size, bytes)?;
            c.take(size)?.to_vec()
        }
        1 => contiguous(file, &mut c, bytes)?,
        2 => chunked(file, layout, count, &element, &filters)?,
        class => return Err(c.fault(format!("class {class} is not read"))),
    };
    Ok((element, raw))
}

/// The number of elements of a list: a single number, or one dimension.
fn count(file: &File<'_>, message: &Message) -> Result<u64, Fault> {
    let mut c = message.open(file, "the size of a list")?;
    let version = c.version(&[1, 2])?;
    let rank = c.byte()?;
    c.take(if version == 1 { 6 } else { 2 })?;
    let count = match rank {
        0 => 1,
        1 => c.uint(file.length_size)?,
        _ => return Err(c.fault(format!("expected a list of numbers, found an array of {rank} dimensions"))),
    };
    if count > file.max_numbers as u64 {
        return Err(c.fault(format!("{count} numbers are above the limit of {}", file.max_numbers)));
    }
    Ok(count)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Class {
    Integer,
    Float,
}

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Element {
    class: Class,
    signed: bool,
    big_endian: bool,
    /// Bytes of a number.
    size: usize,
}

impl Element {
    fn read(file: &File<'_>, message: &Message) -> Result<Self, Fault> {
        let mut c = message.open(file, "the type of a list's numbers")?;
        let here = c;
        let class = c.byte()? & 15;
        let flags = c.uint(3)?;
        let size = c.uint(4)?;
        let big_endian = flags & 1 != 0;
        match class {
            0 => {
                let offset_and_bits = (c.uint(2)?, c.uint(2)?);
                if ![1, 2, 4, 8].contains(&size) || offset_and_bits != (0, 8 * size) {
                    return Err(here.fault(format!("whole numbers of {size} bytes in this form are not read")));
                }
                Ok(Self { class: Class::Integer, signed: flags & 8 != 0, big_endian, size: size as usize })
            }
            1 => {
                let form = [2, 2, 1, 1, 1, 1, 4].map(|size| c.uint(size));
                let form: Vec<u64> = form.into_iter().collect::<Result<_, _>>()?;
                let ieee: &[u64] = match size {
                    4 => &[0, 32, 23, 8, 0, 23, 127],
                    _ => &[0, 64, 52, 11, 0, 52, 1023],
                };
                if ![4, 8].contains(&size) || form != ieee || flags & 0x40 != 0 {
                    return Err(here.fault("floating-point numbers that are no IEEE floats or doubles are not read"));
                }
                Ok(Self { class: Class::Float, signed: true, big_endian, size: size as usize })
            }
            _ => Err(here.fault(format!("expected numbers, found a type of class {class}"))),
        }
    }

    fn bits(&self, word: &[u8]) -> u64 {
        let add = |x: u64, b: &u8| x << 8 | u64::from(*b);
        if self.big_endian { word.iter().fold(0, add) } else { word.iter().rev().fold(0, add) }
    }

    fn integer(&self, word: &[u8]) -> Option<i64> {
        let (bits, unused) = (self.bits(word), 64 - 8 * self.size as u32);
        if self.signed { Some((bits << unused) as i64 >> unused) } else { i64::try_from(bits).ok() }
    }

    fn float(&self, word: &[u8]) -> f64 {
        let bits = self.bits(word);
        if self.size == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
    }
}

fn check_size(c: &Cursor<'_>, found: u64, expected: u64) -> Result<(), Fault> {
    let message = || c.fault(format!("its numbers take {expected} bytes, {found} are stored"));
    if found == expected { Ok(()) } else { Err(message()) }
}

/// Numbers in one piece.
fn contiguous(file: &File<'_>, c: &mut Cursor<'_>, bytes: u64) -> Result<Vec<u8>, Fault> {
    let at = file.address(c)?;
    let size = c.uint(file.length_size)?;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let at = at.ok_or_else(|| c.fault("its numbers were never written"))?;
    check_size(c, size, bytes)?;
    Ok(file.cursor(at, "the numbers of a list")?.take(size)?.to_vec())
}

/// A step that was applied to the bytes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Filter {
    Deflate,
    Shuffle,
}

/// The steps in the order in which they were applied.
fn filters(file: &File<'_>, message: &Message) -> Result<Vec<Filter>, Fault> {
    let mut c = message.open(file, "the filters of a list")?;
    let version = c.version(&[1, 2])?;
    let count = c.byte()?;
    c.take(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let here = c;
        let id = c.uint(2)?;
        let name = if version == 1 || id >= 256 { c.uint(2)? } else { 0 };
        c.take(2)?;
        let values = c.uint(2)?;
        c.take(if version == 1 { name.next_multiple_of(8) } else { name })?;
        c.take(4 * values)?;
        c.take(if version == 1 && values % 2 == 1 { 4 } else { 0 })?;
        filters.push(match id {
            1 => Filter::Deflate,
            2 => Filter::Shuffle,
            _ => return Err(here.fault(format!("filter {id} is not read; deflate (1) and shuffle (2) are"))),
        });
    }
    Ok(filters)
}

/// Numbers in chunks of equal length, the last one possibly not full.
fn chunked(
    file: &File<'_>,
    layout: &Message,
    count: u64,
    element: &Element,
    filters: &[Filter],
) -> Result<Vec<u8>, Fault> {
    let mut c = layout.open(file, "the layout of a list in chunks")?;
    if c.version(&[3, 4])? == 4 {
        return Err(
            c.fault("chunks as HDF5 1.10 indexes them are not read; those of HDF5 1.8 are, and lists in one piece")
        );
    }
    c.take(1)?;
    let dimensions = c.byte()?;
    if dimensions != 2 {
        return Err(c.fault(format!("expected chunks of one dimension, found {}", i16::from(dimensions) - 1)));
    }
    let index = file.address(&mut c)?;
    let (length, size) = (c.uint(4)?, c.uint(4)?);
    if length == 0 || length > file.max_numbers as u64 || size != element.size as u64 {
        return Err(c.fault(format!("chunks of {length} numbers of {size} bytes are not possible here")));
    }
    let (bytes, chunk_bytes) = (count * size, length * size);
    let mut raw: Vec<u8> = Vec::new();
    if let Some(index) = index {
        // Length and filter mask, the number of the first element, a zero.
        let key_size = 8 + 8 * u64::from(dimensions);
        walk(file, index, 1, key_size, &mut |key, at| {
            let mut k = file.cursor(key, "the key of a chunk")?;
            let (stored, mask, first) = (k.uint(4)?, k.uint(4)?, k.uint(8)?);
            if raw.len() as u64 >= bytes || first.checked_mul(size) != Some(raw.len() as u64) {
                return Err(k.fault(format!("a chunk begins at number {first}, expected {}", raw.len() as u64 / size)));
            }
            let stored = file.cursor(at, "a chunk")?.take(stored)?;
            let chunk = unpack(stored, mask, filters, element, chunk_bytes);
            let chunk = chunk.map_err(|message| Fault::at(at as usize, format!("a chunk: {message}")))?;
            let wanted = (bytes - raw.len() as u64).min(chunk_bytes) as usize;
            raw.extend_from_slice(&chunk[..wanted]);
            Ok(())
        })?;
    }
    check_size(&c, raw.len() as u64, bytes)?;
    Ok(raw)
}

/// The `expected` bytes of a chunk, with its filters undone but for those in `mask`.
fn unpack(stored: &[u8], mask: u64, filters: &[Filter], element: &Element, expected: u64) -> Result<Vec<u8>, String> {
    let mut bytes = stored.to_vec();
    for (k, filter) in filters.iter().enumerate().rev() {
        if k < 32 && mask & (1 << k) != 0 {
            continue;
        }
        bytes = match filter {
            Filter::Deflate => inflate(&bytes, expected)?,
            Filter::Shuffle => unshuffle(&bytes, element.size),
        };
    }
    let found = bytes.len() as u64;
    if found == expected { Ok(bytes) } else { Err(format!("its numbers take {expected} bytes, found {found}")) }
}

fn inflate(bytes: &[u8], expected: u64) -> Result<Vec<u8>, String> {
    if expected > BEST_DEFLATE * bytes.len() as u64 {
        return Err(format!("{} deflated bytes cannot stand for {expected}", bytes.len()));
    }
    let mut out = Vec::new();
    let read = ZlibDecoder::new(bytes).take(expected + 1).read_to_end(&mut out);
    read.map_err(|e| format!("its deflated bytes are broken: {e}"))?;
    Ok(out)
}

/// All first bytes of the numbers, then all second bytes, and so on, put back; what is left over stands at the end.
fn unshuffle(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let mut out = Vec::with_capacity(bytes.len());
    for i in 0..count {
        out.extend((0..size).map(|k| bytes[k * count + i]));
    }
    out.extend_from_slice(&bytes[count * size..]);
    out
}
