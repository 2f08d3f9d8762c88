//! One NumPy array: the header of an `.npy` file, and its numbers as doubles.

use std::io::Read;

use crate::matrix::Matrix;

/// An array of numbers.
#[derive(Debug)]
pub struct Array {
    /// Its size in each dimension.
    pub shape: Vec<usize>,
    /// True if the first index runs fastest in `data`.
    pub fortran: bool,
    /// Its numbers.
    pub data: Vec<f64>,
}

impl Array {
    /// The array as a matrix.
    ///
    /// # Errors
    /// If it does not have two dimensions.
    pub fn into_matrix(self) -> Result<Matrix, String> {
        match self.shape[..] {
            [rows, cols] if self.fortran => Matrix::from_columns(rows, cols, self.data).map_err(|e| e.to_string()),
            [rows, cols] => Ok(Matrix::from_fn(rows, cols, |i, j| self.data[i * cols + j])),
            _ => Err(format!("expected a matrix, found an array of shape {:?}", self.shape)),
        }
    }

    /// The array as a vector; a single row or column is one.
    ///
    /// # Errors
    /// If it has another shape.
    pub fn into_vector(self) -> Result<Vec<f64>, String> {
        match self.shape[..] {
            [_] | [_, 1] | [1, _] => Ok(self.data),
            _ => Err(format!("expected a vector, found an array of shape {:?}", self.shape)),
        }
    }
}

/// The longest header that is read.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads an array of at most `max_numbers` numbers from a source that can give at most `max_bytes` bytes.
///
/// # Errors
/// What is wrong, in words.
pub fn read(mut source: impl Read, max_numbers: usize, max_bytes: u64) -> Result<Array, String> {
    let header = read_header(&mut source)?;
    let dict = Dict::parse(&header).ok_or_else(|| format!("the array's header cannot be read: {header:?}"))?;
    let element = Element::parse(&dict.descr)?;
    let count = dict.shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
    // An empty array may still claim a huge side.
    let count = count.filter(|n| *n <= max_numbers && dict.shape.iter().all(|d| *d <= max_numbers));
    let count = count
        .ok_or_else(|| format!("an array of shape {:?} is above the limit of {max_numbers} numbers", dict.shape))?;
    let bytes = count as u64 * element.size as u64;
    if bytes > max_bytes {
        return Err(format!("shape {:?} takes {bytes} bytes, the file cannot hold more than {max_bytes}", dict.shape));
    }
    let mut raw = Vec::with_capacity(bytes as usize);
    source.by_ref().take(bytes).read_to_end(&mut raw).map_err(|e| e.to_string())?;
    if raw.len() as u64 != bytes {
        return Err(format!("shape {:?} takes {bytes} bytes, found {}", dict.shape, raw.len()));
    }
    // The end is read as well: only there are the bytes checked against their sum.
    let surplus = source.read(&mut [0]).map_err(|e| e.to_string())?;
    if surplus > 0 {
        return Err(format!("more bytes follow than the {bytes} of shape {:?}", dict.shape));
    }
    let mut data = Vec::with_capacity(count);
    for word in raw.chunks_exact(element.size) {
        data.push(element.number(word).ok_or("an integer is too large for a double")?);
    }
    Ok(Array { shape: dict.shape, fortran: dict.fortran, data })
}

/// Magic, version, length, and the header's text.
fn read_header(source: &mut impl Read) -> Result<String, String> {
    let short = |_| "the array ends within its header".to_string();
    let mut magic = [0; 8];
    source.read_exact(&mut magic).map_err(short)?;
    if magic[..6] != *b"\x93NUMPY" {
        return Err("this is not a NumPy array".into());
    }
    let mut length = [0; 4];
    let wide = magic[6] >= 2;
    source.read_exact(&mut length[..if wide { 4 } else { 2 }]).map_err(short)?;
    let length = u32::from_le_bytes(length) as usize;
    if magic[6] == 0 || magic[6] > 3 || length > LONGEST_HEADER {
        return Err(format!("version {}.{} with a header of {length} bytes is not known", magic[6], magic[7]));
    }
    let mut text = vec![0; length];
    source.read_exact(&mut text).map_err(short)?;
    Ok(String::from_utf8_lossy(&text).trim_end().to_string())
}

/// The header: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
#[derive(Debug, PartialEq)]
struct Dict {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Dict {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix('{')?.strip_suffix('}')?;
        let value = |key: &str| {
            let at = text.find(&format!("'{key}'"))? + key.len() + 2;
            Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = value("descr")?;
        let descr = match descr.strip_prefix('\'') {
            Some(rest) => &rest[..rest.find('\'')?],
            None => descr.split(", 'fortran_order'").next()?,
        };
        let order = value("fortran_order")?;
        let fortran = if order.starts_with("True") { true } else { order.starts_with("False").then_some(false)? };
        let shape = value("shape")?.strip_prefix('(')?;
        let shape = shape[..shape.find(')')?].split(',').map(str::trim).filter(|d| !d.is_empty());
        let shape = shape.map(|d| d.parse().ok()).collect::<Option<_>>()?;
        Some(Self { descr: descr.to_string(), fortran, shape })
    }
}

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Element {
    big_endian: bool,
    /// `f`, `i`, `u` or `b`.
    kind: u8,
    /// Bytes of a number.
    size: usize,
}

impl Element {
    fn parse(descr: &str) -> Result<Self, String> {
        let bad = || format!("numbers of type {descr:?} are not read; float and integer types, and bool, are");
        let [order, kind, size] = descr.as_bytes() else { return Err(bad()) };
        let known: &[u8] = match kind {
            b'f' => b"48",
            b'i' | b'u' => b"1248",
            b'b' => b"1",
            _ => b"",
        };
        if !known.contains(size) || !b"<>|=".contains(order) {
            return Err(bad());
        }
        Ok(Self { big_endian: *order == b'>', kind: *kind, size: usize::from(size - b'0') })
    }

    /// The number stored in `word`, or `None` if it is an integer that no double is equal to.
    fn number(self, word: &[u8]) -> Option<f64> {
        let mut bits = 0u64;
        for k in 0..self.size {
            let byte = word[if self.big_endian { k } else { self.size - 1 - k }];
            bits = bits << 8 | u64::from(byte);
        }
        let unused = 64 - 8 * self.size as u32;
        match (self.kind, self.size) {
            (b'f', 4) => Some(f64::from(f32::from_bits(bits as u32))),
            (b'f', _) => Some(f64::from_bits(bits)),
            (b'i', _) => {
                let integer = (bits << unused) as i64 >> unused;
                Some(integer as f64).filter(|x| *x as i128 == i128::from(integer))
            }
            _ => Some(bits as f64).filter(|x| *x as u128 == u128::from(bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_numpy_version_are_read() {
        let dict = Dict::parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }").unwrap();
        assert_eq!(dict, Dict { descr: "<f8".into(), fortran: false, shape: vec![3, 4] });
        let dict = Dict::parse("{'shape': (5,), 'fortran_order': True, 'descr': '|b1'}").unwrap();
        assert_eq!(dict, Dict { descr: "|b1".into(), fortran: true, shape: vec![5] });
        assert_eq!(Dict::parse("{'descr': '<f8', 'fortran_order': False, 'shape': ()}").unwrap().shape, vec![0; 0]);
        for bad in ["", "{}", "{'descr': '<f8', 'fortran_order': 1, 'shape': (2,)}", "{'descr': '<f8'", "{'descr': '"] {
            assert_eq!(Dict::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_type_of_number_becomes_the_same_double() {
        let number = |descr: &str, word: &[u8]| Element::parse(descr).unwrap().number(word);
        assert_eq!(number("<f8", &(-0.1f64).to_le_bytes()), Some(-0.1));
        assert_eq!(number(">f8", &(-0.1f64).to_be_bytes()), Some(-0.1));
        assert_eq!(number("<f4", &0.5f32.to_le_bytes()), Some(0.5));
        assert_eq!(number("<i4", &(-7i32).to_le_bytes()), Some(-7.0));
        assert_eq!(number(">i2", &(-7i16).to_be_bytes()), Some(-7.0));
        assert_eq!(number("|i1", &[0xff]), Some(-1.0));
        assert_eq!(number("|u1", &[0xff]), Some(255.0));
        assert_eq!(number("<i8", &i64::MIN.to_le_bytes()), Some(-(2f64.powi(63))));
        assert_eq!(number("<i8", &((1i64 << 53) + 1).to_le_bytes()), None);
        assert_eq!(number("<u8", &u64::MAX.to_le_bytes()), None);
        assert!(Element::parse("<c16").is_err() && Element::parse("|O").is_err() && Element::parse("<f2").is_err());
    }
}
