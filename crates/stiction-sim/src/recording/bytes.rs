//! Numbers as bytes, little-endian, and back: nothing is believed that the bytes cannot hold.

use std::fmt;

/// Why bytes could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A number that changes with any byte: FNV-1a.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Bytes under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Writer(pub Vec<u8>);

impl Writer {
    /// One byte.
    pub(super) fn u8(&mut self, x: u8) {
        self.0.push(x);
    }

    /// True or false, a byte.
    pub(super) fn bool(&mut self, x: bool) {
        self.0.push(u8::from(x));
    }

    /// Four bytes.
    pub(super) fn u32(&mut self, x: u32) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    /// Eight bytes.
    pub(super) fn u64(&mut self, x: u64) {
        self.0.extend_from_slice(&x.to_le_bytes());
    }

    /// A count or an index, eight bytes.
    pub(super) fn size(&mut self, x: usize) {
        self.u64(x as u64);
    }

    /// The bits of a number.
    pub(super) fn f64(&mut self, x: f64) {
        self.u64(x.to_bits());
    }

    /// Numbers whose count is known from elsewhere.
    pub(super) fn array(&mut self, x: &[f64]) {
        x.iter().for_each(|x| self.f64(*x));
    }

    /// A count and as many numbers.
    pub(super) fn numbers(&mut self, x: &[f64]) {
        self.size(x.len());
        self.array(x);
    }

    /// A count and as many bytes of UTF-8.
    pub(super) fn text(&mut self, x: &str) {
        self.size(x.len());
        self.0.extend_from_slice(x.as_bytes());
    }

    /// A count and as many items.
    pub(super) fn list<I>(&mut self, items: &[I], mut each: impl FnMut(&mut Self, &I)) {
        self.size(items.len());
        items.iter().for_each(|item| each(self, item));
    }
}

/// Bytes to be read.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// All of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes left.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        if count > self.0.len() {
            return Err(Broken(format!("{count} bytes are expected where {} are left", self.0.len())));
        }
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Ok(taken)
    }

    fn fixed<const K: usize>(&mut self) -> Result<[u8; K], Broken> {
        let mut out = [0; K];
        out.copy_from_slice(self.take(K)?);
        Ok(out)
    }

    /// One byte.
    ///
    /// # Errors
    /// If none is left.
    pub(super) fn u8(&mut self) -> Result<u8, Broken> {
        self.fixed::<1>().map(|x| x[0])
    }

    /// True or false.
    ///
    /// # Errors
    /// If the byte is neither 0 nor 1.
    pub(super) fn bool(&mut self) -> Result<bool, Broken> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            x => Err(Broken(format!("0 or 1 is expected where {x} stands"))),
        }
    }

    /// Four bytes.
    ///
    /// # Errors
    /// If they are not left.
    pub(super) fn u32(&mut self) -> Result<u32, Broken> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    ///
    /// # Errors
    /// If they are not left.
    pub(super) fn u64(&mut self) -> Result<u64, Broken> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// An index.
    ///
    /// # Errors
    /// If the bytes are not left, or the machine has no such number.
    pub(super) fn size(&mut self) -> Result<usize, Broken> {
        let x = self.u64()?;
        usize::try_from(x).map_err(|_| Broken(format!("{x} is no size")))
    }

    /// The count of items of at least `least` bytes each.
    ///
    /// # Errors
    /// If the bytes left cannot hold as many.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, Broken> {
        let count = self.size()?;
        if count > self.left() / least.max(1) {
            return Err(Broken(format!("{count} items are announced where {} bytes are left", self.left())));
        }
        Ok(count)
    }

    /// A number.
    ///
    /// # Errors
    /// If its bytes are not left.
    pub(super) fn f64(&mut self) -> Result<f64, Broken> {
        self.u64().map(f64::from_bits)
    }

    /// K numbers.
    ///
    /// # Errors
    /// If their bytes are not left.
    pub(super) fn array<const K: usize>(&mut self) -> Result<[f64; K], Broken> {
        let mut out = [0.0; K];
        for x in &mut out {
            *x = self.f64()?;
        }
        Ok(out)
    }

    /// A count and as many numbers.
    ///
    /// # Errors
    /// If their bytes are not left.
    pub(super) fn numbers(&mut self) -> Result<Vec<f64>, Broken> {
        self.list(8, Self::f64)
    }

    /// A count and as many finite numbers.
    ///
    /// # Errors
    /// If their bytes are not left, or one is not finite.
    pub(super) fn finite(&mut self) -> Result<Vec<f64>, Broken> {
        self.list(8, |from| match from.f64()? {
            x if x.is_finite() => Ok(x),
            x => Err(Broken(format!("a number is {x}"))),
        })
    }

    /// A count and as many bytes of UTF-8.
    ///
    /// # Errors
    /// If they are not left, or no text.
    pub(super) fn text(&mut self) -> Result<String, Broken> {
        let count = self.count(1)?;
        let bytes = self.take(count)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| Broken("a text is not UTF-8".into()))
    }

    /// A count and as many items of at least `least` bytes each.
    ///
    /// # Errors
    /// If the bytes cannot hold as many, or an item is wrong.
    pub(super) fn list<I>(
        &mut self,
        least: usize,
        mut each: impl FnMut(&mut Self) -> Result<I, Broken>,
    ) -> Result<Vec<I>, Broken> {
        let count = self.count(least)?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(each(self)?);
        }
        Ok(items)
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// If something is.
    pub(super) fn end(&self) -> Result<(), Broken> {
        if self.0.is_empty() { Ok(()) } else { Err(Broken(format!("{} bytes too many", self.0.len()))) }
    }
}
