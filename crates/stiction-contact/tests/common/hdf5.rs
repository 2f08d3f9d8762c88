//! A writer of small HDF5 files in every form that is read. The checksums of its version 2 headers are left zero.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A group or a list of numbers.
#[derive(Clone)]
pub(super) enum Node {
    Group(Vec<(&'static str, Node)>),
    Integers(Vec<i32>),
    Floats(Vec<f64>),
}

/// How a list is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Storage {
    Contiguous,
    Compact,
    /// Chunks of as many numbers.
    Chunks(usize),
    /// The same, shuffled and deflated.
    Deflated(usize),
}

/// The form of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Superblock 2, object headers 2 and links, instead of superblock 0, headers 1 and symbol tables.
    pub new: bool,
    pub storage: Storage,
    pub big_endian: bool,
    /// Messages stand in a continuation of the header.
    pub continued: bool,
}

pub(super) const FORMS: [Form; 6] = [
    Form { new: false, storage: Storage::Contiguous, big_endian: false, continued: false },
    Form { new: false, storage: Storage::Deflated(3), big_endian: false, continued: true },
    Form { new: false, storage: Storage::Chunks(2), big_endian: true, continued: false },
    Form { new: true, storage: Storage::Compact, big_endian: false, continued: false },
    Form { new: true, storage: Storage::Contiguous, big_endian: true, continued: true },
    Form { new: true, storage: Storage::Deflated(100), big_endian: true, continued: false },
];

const NOWHERE: u64 = u64::MAX;

/// The file with this root group.
pub(super) fn write(root: &Node, form: Form) -> Vec<u8> {
    let mut out = Writer { bytes: vec![0; if form.new { 48 } else { 96 }], form };
    let root = out.node(root);
    let end = out.bytes.len() as u64;
    let mut head = b"\x89HDF\r\n\x1a\n".to_vec();
    if form.new {
        head.extend([2, 8, 8, 0]);
        head.extend([0, NOWHERE, end, root].map(u64::to_le_bytes).concat());
    } else {
        head.extend([0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0]);
        head.extend([0, NOWHERE, end, NOWHERE, 0, root].map(u64::to_le_bytes).concat());
    }
    out.bytes[..head.len()].copy_from_slice(&head);
    out.bytes
}

struct Writer {
    bytes: Vec<u8>,
    form: Form,
}

impl Writer {
    fn put(&mut self, piece: &[u8]) -> u64 {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(piece);
        at as u64
    }

    /// Writes a node after all below it; gives the place of its header.
    fn node(&mut self, node: &Node) -> u64 {
        let messages = match node {
            Node::Group(members) => {
                let members: Vec<_> = members.iter().map(|(name, node)| (*name, self.node(node))).collect();
                if self.form.new { links(&members) } else { vec![(0x11, self.symbol_table(&members))] }
            }
            Node::Integers(numbers) => {
                let kind = [0x10, if self.form.big_endian { 9 } else { 8 }, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];
                let words: Vec<Vec<u8>> = numbers.iter().map(|x| self.ordered(x.to_le_bytes())).collect();
                self.list(&kind, &words)
            }
            Node::Floats(numbers) => {
                let kind = [0x11, 0x20 | u8::from(self.form.big_endian), 63, 0, 8, 0, 0, 0];
                let kind = [&kind[..], &[0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0]].concat();
                let words: Vec<Vec<u8>> = numbers.iter().map(|x| self.ordered(x.to_le_bytes())).collect();
                self.list(&kind, &words)
            }
        };
        self.header(&messages)
    }

    fn ordered<const N: usize>(&self, mut word: [u8; N]) -> Vec<u8> {
        if self.form.big_endian {
            word.reverse();
        }
        word.to_vec()
    }

    fn header(&mut self, messages: &[(u8, Vec<u8>)]) -> u64 {
        let new = self.form.new;
        let mut body: Vec<u8> = messages.iter().flat_map(|(kind, data)| message(new, *kind, data)).collect();
        if self.form.continued {
            let block = if new { [b"OCHK", &body[..], &[0; 4]].concat() } else { body };
            let at = self.put(&block);
            body = message(new, 0x10, &[at, block.len() as u64].map(u64::to_le_bytes).concat());
        }
        let size = (body.len() as u32).to_le_bytes();
        let header = if new {
            [b"OHDR", &[2, 2][..], &size, &body, &[0; 4]].concat()
        } else {
            [&[1, 0, messages.len() as u8, 0, 1, 0, 0, 0][..], &size, &[0; 4], &body].concat()
        };
        self.put(&header)
    }

    fn list(&mut self, kind: &[u8], words: &[Vec<u8>]) -> Vec<(u8, Vec<u8>)> {
        let count = (words.len() as u64).to_le_bytes();
        let space = if self.form.new { vec![2, 1, 0, 1] } else { vec![1, 1, 0, 0, 0, 0, 0, 0] };
        let mut messages = vec![(0x01, [&space[..], &count].concat()), (0x03, kind.to_vec())];
        let raw = words.concat();
        let layout = match self.form.storage {
            Storage::Contiguous => {
                let at = self.put(&raw);
                [&[3, 1][..], &at.to_le_bytes(), &(raw.len() as u64).to_le_bytes()].concat()
            }
            Storage::Compact => [&[3, 0][..], &(raw.len() as u16).to_le_bytes(), &raw].concat(),
            Storage::Chunks(length) => self.chunks(words, kind[4], length, false),
            Storage::Deflated(length) => {
                let head = [1, 2, 0, 0, 0, 0, 0, 0];
                let shuffle = [2, 0, 0, 0, 1, 0, 1, 0, kind[4], 0, 0, 0, 0, 0, 0, 0];
                let deflate = [1, 0, 0, 0, 1, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0];
                messages.push((0x0b, [&head[..], &shuffle, &deflate].concat()));
                self.chunks(words, kind[4], length, true)
            }
        };
        messages.push((0x08, layout));
        messages
    }

    /// The chunks and their index; gives the layout.
    fn chunks(&mut self, words: &[Vec<u8>], size: u8, length: usize, deflated: bool) -> Vec<u8> {
        let mut entries = Vec::new();
        for (k, chunk) in words.chunks(length).enumerate() {
            let mut full = chunk.to_vec();
            full.resize(length, vec![0; usize::from(size)]);
            let bytes = if deflated {
                let shuffled = (0..usize::from(size)).flat_map(|b| full.iter().map(move |word| word[b]));
                let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
                deflate.write_all(&shuffled.collect::<Vec<u8>>()).unwrap();
                deflate.finish().unwrap()
            } else {
                full.concat()
            };
            let at = self.put(&bytes);
            entries.extend((bytes.len() as u64).to_le_bytes());
            entries.extend([(k * length) as u64, 0, at].map(u64::to_le_bytes).concat());
        }
        let count = (words.len().div_ceil(length) as u16).to_le_bytes();
        let siblings = [NOWHERE; 2].map(u64::to_le_bytes).concat();
        let index = self.put(&[b"TREE", &[1, 0][..], &count, &siblings, &entries, &[0; 24]].concat());
        let sizes = [length as u32, u32::from(size)].map(u32::to_le_bytes).concat();
        [&[3, 2, 2][..], &index.to_le_bytes(), &sizes].concat()
    }

    /// A heap of names, a node of symbols, and an index of one entry; gives the message.
    fn symbol_table(&mut self, members: &[(&str, u64)]) -> Vec<u8> {
        let (mut names, mut symbols) = (vec![0; 8], Vec::new());
        for (name, at) in members {
            symbols.extend([names.len() as u64, *at, 0, 0, 0].map(u64::to_le_bytes).concat());
            names.extend(name.bytes().chain([0]));
        }
        let data = self.put(&names);
        let sizes = [names.len() as u64, NOWHERE, data].map(u64::to_le_bytes).concat();
        let heap = self.put(&[b"HEAP", &[0; 4][..], &sizes].concat());
        let node = self.put(&[b"SNOD", &[1, 0, members.len() as u8, 0][..], &symbols].concat());
        let entry = [NOWHERE, NOWHERE, 0, node, 0].map(u64::to_le_bytes).concat();
        let index = self.put(&[b"TREE", &[0, 0, 1, 0][..], &entry].concat());
        [index, heap].map(u64::to_le_bytes).concat()
    }
}

fn links(members: &[(&str, u64)]) -> Vec<(u8, Vec<u8>)> {
    let info = [&[0, 0][..], &[NOWHERE; 2].map(u64::to_le_bytes).concat()].concat();
    let link =
        |(name, at): &(&str, u64)| (0x06, [&[1, 0, name.len() as u8][..], name.as_bytes(), &at.to_le_bytes()].concat());
    std::iter::once((0x02, info)).chain(members.iter().map(link)).collect()
}

fn message(new: bool, kind: u8, data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    if !new {
        data.resize(data.len().next_multiple_of(8), 0);
    }
    let size = (data.len() as u16).to_le_bytes();
    let head = if new { vec![kind, size[0], size[1], 0] } else { vec![kind, 0, size[0], size[1], 0, 0, 0, 0] };
    [head, data].concat()
}
