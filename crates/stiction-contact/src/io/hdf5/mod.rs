//! A reader for the part of HDF5 that FCLIB files use.
//!
//! Read are: superblocks 0 to 3 at the front of the file; object headers 1 and 2; groups as symbol tables or with compact links; lists (rank
//! 0 or 1) of integers and IEEE floats in either byte order, stored compactly, in one piece, or in chunks under a B-tree of version 1,
//! as they are, deflated or shuffled. Anything else is refused by name. No size is believed before the file could hold as much, no index is
//! followed further than the file has room for nodes, and every fault has its byte. Checksums of version 2 headers are not compared.
//!
//! Reference: the HDF5 File Format Specification, version 3.0.

mod cursor;
mod dataset;
mod group;
mod header;

use stiction_lcp::io::fault::Fault;

use cursor::Cursor;

/// An HDF5 file.
#[derive(Debug, Clone, Copy)]
pub(super) struct File<'a> {
    bytes: &'a [u8],
    /// Bytes of an address.
    offset_size: usize,
    /// Bytes of a length.
    length_size: usize,
    /// Where the header of the root group is.
    root: u64,
    /// The most numbers of a list.
    max_numbers: usize,
}

/// A group or a list of numbers in a file.
#[derive(Debug, Clone)]
pub(super) struct Object<'a> {
    file: File<'a>,
    /// Its path, for messages.
    path: String,
    /// Where its header is.
    at: u64,
}

const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

impl<'a> File<'a> {
    /// The file with contents `bytes`; its lists have at most `max_numbers` numbers.
    ///
    /// # Errors
    /// If it is no HDF5 file, is cut off, or is of a version that is not read.
    pub(super) fn open(bytes: &'a [u8], max_numbers: usize) -> Result<Self, Fault> {
        let mut c = Cursor::new(bytes, 0, "the HDF5 superblock")?;
        if c.take(8)? != SIGNATURE {
            return Err(Fault::at(0, "this is no HDF5 file: its first eight bytes are wrong"));
        }
        let version = c.version(&[0, 1, 2, 3])?;
        if version < 2 {
            c.take(4)?;
        }
        let size = |c: &mut Cursor<'_>| match c.byte()? {
            size @ (2 | 4 | 8) => Ok(usize::from(size)),
            size => Err(c.fault(format!("addresses and lengths of {size} bytes are not read; 2, 4 and 8 are"))),
        };
        let (offset_size, length_size) = (size(&mut c)?, size(&mut c)?);
        c.take(match version {
            0 => 9,
            1 => 13,
            _ => 1,
        })?;
        let mut file = Self { bytes, offset_size, length_size, root: 0, max_numbers };
        if c.uint(offset_size)? != 0 {
            return Err(c.fault("a file with a base address is not read"));
        }
        file.address(&mut c)?;
        let end = c.uint(offset_size)?;
        if end > bytes.len() as u64 {
            return Err(Fault::at(bytes.len(), format!("the file is cut off: it should have {end} bytes")));
        }
        if version < 2 {
            // The driver's block, and the name of the root's entry.
            file.address(&mut c)?;
            file.address(&mut c)?;
        }
        file.root = file.address(&mut c)?.ok_or_else(|| c.fault("there is no root group"))?;
        Ok(file)
    }

    /// The root group.
    pub(super) fn root(self) -> Object<'a> {
        Object { file: self, path: String::new(), at: self.root }
    }

    /// An address, or `None` where all its bits are set, which means nowhere.
    fn address(&self, c: &mut Cursor<'_>) -> Result<Option<u64>, Fault> {
        let address = c.uint(self.offset_size)?;
        let nowhere = u64::MAX >> (64 - 8 * self.offset_size);
        Ok(Some(address).filter(|a| *a != nowhere))
    }

    /// A structure called `what` at an address.
    fn cursor(&self, at: u64, what: &'static str) -> Result<Cursor<'a>, Fault> {
        Cursor::new(self.bytes, at, what)
    }

    /// The most entries of an index that the file has room for: an entry has an address and a key of at least two bytes.
    fn most_entries(&self) -> usize {
        self.bytes.len() / (2 + self.offset_size) + 1
    }
}

impl<'a> Object<'a> {
    /// Its path from the root, without the first slash.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The member `name` of this group, if there is one.
    ///
    /// # Errors
    /// If this is no group, or the file is broken.
    pub(super) fn member(&self, name: &str) -> Result<Option<Object<'a>>, Fault> {
        let at = group::members(self)?.into_iter().find(|m| m.0 == name.as_bytes()).map(|m| m.1);
        let path = if self.path.is_empty() { name.to_string() } else { format!("{}/{name}", self.path) };
        Ok(at.map(|at| Object { file: self.file, path, at }))
    }

    /// The member `name` of this group, which must be there.
    ///
    /// # Errors
    /// If it is not, this is no group, or the file is broken.
    pub(super) fn get(&self, name: &str) -> Result<Object<'a>, Fault> {
        self.member(name)?.ok_or_else(|| Fault::whole(format!("/{}/{name} is missing", self.path)))
    }

    /// The whole numbers of the list that this is.
    ///
    /// # Errors
    /// If it is none, or the file is broken.
    pub(super) fn integers(&self) -> Result<Vec<i64>, Fault> {
        dataset::integers(self).map_err(|fault| fault.with_hint(format!("in /{}", self.path)))
    }

    /// The numbers of the list of floats that this is.
    ///
    /// # Errors
    /// If it is none, or the file is broken.
    pub(super) fn floats(&self) -> Result<Vec<f64>, Fault> {
        dataset::floats(self).map_err(|fault| fault.with_hint(format!("in /{}", self.path)))
    }
}
