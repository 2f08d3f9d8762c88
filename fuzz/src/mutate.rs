//! Changes to good files: bits, numbers, words, lines, sections, nesting, cuts and splices.

use crate::{Parts, Random, Target};

/// What goes in place of a number in a text.
const NUMBERS: [&str; 30] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "17",
    "255",
    "65536",
    "1000000",
    "2147483648",
    "4294967296",
    "-2147483649",
    "9007199254740993",
    "18446744073709551615",
    "1e20",
    "-1e20",
    "1e150",
    "1e-150",
    "1e300",
    "-1e308",
    "1e999",
    "5e-324",
    "1e-310",
    "nan",
    "inf",
    "-inf",
    "0.1",
    "1e-9",
    "x",
];
/// What goes in place of eight bytes of a binary number.
const DOUBLES: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 1e-310, 5e-324, 1e300, -1e308, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-9];
/// Most good inputs that are kept to be changed further.
const LARGEST_POOL: usize = 2000;
/// An input that has grown beyond this is not kept.
const LARGEST_KEPT: usize = 1 << 16;
/// One input in so many has a part repeated until it is large, for packers that make a small file of it.
const BLOWN_UP: usize = 20_000;
/// How large such a part becomes, in bytes.
const BLOWN_UP_SIZE: usize = 1 << 25;

/// The inputs of a target: good files, and changed ones whose answer was a new one.
#[derive(Debug)]
pub struct Inputs {
    seeds: Vec<Parts>,
    pool: Vec<Parts>,
    dictionary: &'static [&'static str],
    pack: fn(&[Vec<u8>]) -> Vec<u8>,
}

impl Inputs {
    /// Those of `target`.
    pub fn new(target: &Target) -> Self {
        let seeds = (target.seeds)();
        Self { seeds, pool: vec![], dictionary: target.dictionary, pack: target.pack }
    }

    /// The good files as they are.
    pub fn good(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.seeds.iter().map(|parts| (self.pack)(parts))
    }

    /// A changed file, and its parts.
    pub fn next(&self, random: &mut Random) -> (Vec<u8>, Parts) {
        let from = if self.pool.is_empty() || random.one_in(2) { &self.seeds } else { &self.pool };
        let mut parts = random.pick(from).clone();
        let other = random.pick(&self.seeds).clone();
        // Half of them have a single change: the next reader behind the first sees those.
        let changes = if random.one_in(2) { 1 } else { 2 + random.below(3) };
        for _ in 0..changes {
            let k = random.below(parts.len());
            let donor = random.pick(&other);
            self.change(&mut parts[k], donor, random);
        }
        if random.one_in(30) {
            let k = random.below(parts.len());
            if random.one_in(2) { drop(parts.remove(k)) } else { parts.insert(k, random.pick(&other).clone()) }
        }
        if random.one_in(BLOWN_UP) && !parts.is_empty() {
            let k = random.below(parts.len());
            let times = BLOWN_UP_SIZE / parts[k].len().max(1);
            parts[k] = parts[k].repeat(times);
        }
        let mut bytes = (self.pack)(&parts);
        if random.one_in(6) {
            let donor = random.pick(&other).clone();
            self.change(&mut bytes, &donor, random);
        }
        (bytes, parts)
    }

    /// Keeps an input whose answer was a new one.
    pub fn keep(&mut self, parts: Parts) {
        let size: usize = parts.iter().map(Vec::len).sum();
        if self.pool.len() < LARGEST_POOL && size <= LARGEST_KEPT && !parts.is_empty() {
            self.pool.push(parts);
        }
    }

    fn change(&self, bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
        let n = bytes.len();
        let at = random.below(n + 1);
        let end = at + random.below((n - at).min(64) + 1);
        match random.below(16) {
            0 => bytes.truncate(at),
            1 if at < n => bytes[at] ^= 1 << random.below(8),
            2 if at < n => bytes[at] = random.byte(),
            3 => {
                let from = random.below(other.len() + 1);
                let to = from + random.below((other.len() - from).min(200) + 1);
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            6..=8 => self.number(bytes, at, random),
            9 => binary_number(bytes, at, random),
            10 | 11 => self.word(bytes, at, random),
            12 => lines(bytes, at, random),
            13 => section(bytes, at, random),
            14 => nest(bytes, at, random),
            _ => binary_size(bytes, at, random),
        }
    }

    /// Another number in place of the next one of a text.
    fn number(&self, bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
        let is_number = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e');
        let Some(from) = bytes[at..].iter().position(u8::is_ascii_digit).map(|k| at + k) else { return };
        let to = bytes[from..].iter().position(|b| !is_number(b)).map_or(bytes.len(), |k| from + k);
        drop(bytes.splice(from..to, random.pick(&NUMBERS).bytes()));
    }

    /// A word of the dictionary, in place of the next one or before it.
    fn word(&self, bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let Some(from) = bytes[at..].iter().position(is_word).map(|k| at + k) else { return };
        let to = bytes[from..].iter().position(|b| !is_word(b)).map_or(bytes.len(), |k| from + k);
        let to = if random.one_in(3) { from } else { to };
        let word = random.pick(self.dictionary);
        drop(bytes.splice(from..to, word.bytes()));
    }
}

/// One of the doubles that readers fall over, at a multiple of eight bytes or anywhere.
fn binary_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let at = if random.one_in(2) { at / 8 * 8 } else { at };
    let value = random.pick(&DOUBLES).to_le_bytes();
    bytes[at..].iter_mut().zip(value).for_each(|(to, from)| *to = from);
}

/// Another count, size or address in place of a small one: those stand before zeros.
fn binary_size(bytes: &mut [u8], at: usize, random: &mut Random) {
    let n = bytes.len() as u64;
    let values = [0, 1, 2, 8, n / 2, n, n + 1, 0xffff, 1 << 20, 0x7fff_ffff, 0xffff_ffff, 1 << 32, 1 << 62, u64::MAX];
    let value = random.pick(&values).to_le_bytes();
    let size = *random.pick(&[1, 2, 4, 8]);
    let zeros = |k: &usize| bytes[k + 1..].iter().take(3).all(|x| *x == 0);
    let at = (at..bytes.len()).find(zeros).unwrap_or(at);
    bytes[at..].iter_mut().zip(&value[..size]).for_each(|(to, from)| *to = *from);
}

/// A line is lost, doubled, or goes elsewhere.
fn lines(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |k| k + 1);
    let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |k| at + k + 1);
    let line: Vec<u8> = bytes[start..end].to_vec();
    if !random.one_in(3) {
        bytes.drain(start..end);
    }
    for _ in 0..random.below(3) {
        let to = random.below(bytes.len() + 1);
        let to = bytes[..to].iter().rposition(|b| *b == b'\n').map_or(0, |k| k + 1);
        drop(bytes.splice(to..to, line.iter().copied()));
    }
}

/// A section, up to the next empty line, closing brace or tag, is doubled, up to a few hundred times.
fn section(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let border = |k: &usize| matches!(bytes[*k], b'>' | b'}') || bytes[*k..].starts_with(b"\n\n");
    let start = (0..at).rev().find(border).map_or(0, |k| k + 1);
    let end = (at..bytes.len()).find(border).map_or(bytes.len(), |k| k + 1);
    let times = if random.one_in(20) { 300 } else { 1 + random.below(3) };
    let copy = bytes[start..end].repeat(times.min(LARGEST_KEPT / (end - start).max(1)));
    drop(bytes.splice(end..end, copy));
}

/// Something opens many times, and may close as often.
fn nest(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let pairs =
        [("[", "]"), ("{", "}"), ("(", ")"), ("{\"a\":", "}"), ("<body>", "</body>"), ("<a>", "</a>"), ("-", "")];
    let (open, close) = *random.pick(&pairs);
    let depth = if random.one_in(50) { 100_000 } else { 1 + random.below(200) };
    let close = if random.one_in(2) { close } else { "" };
    let middle = if random.one_in(2) { "1" } else { "" };
    let text = open.repeat(depth) + middle + &close.repeat(depth);
    drop(bytes.splice(at..at, text.bytes()));
}

/// A message without its numbers, names and places: inputs with the same shape of answer came to the same place in the reader.
pub fn shape_of(message: &str) -> String {
    let mut shape = String::new();
    let mut quoted = false;
    for c in message.chars() {
        match c {
            '"' | '\'' | '`' => quoted = !quoted,
            _ if quoted || c.is_ascii_digit() => {}
            _ => shape.push(c),
        }
    }
    shape
}
