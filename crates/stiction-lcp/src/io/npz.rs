//! NumPy `.npz`: a zip archive with one array per field.
//!
//! The header of an array is believed only as far as the archive could hold it: stored bytes one to one, deflated ones at
//! most 1032 to one, which is as well as the method can do.

use std::io::Cursor;

use zip::{CompressionMethod, ZipArchive};

use super::fault::Fault;
use super::fields::{KEYS, ProblemFields, nearest};
use super::json_values::{Fields, Shape, Value};
use super::npy::{self, Array};
use super::{ProblemFile, ReadOptions};

/// Bytes that a deflated byte can stand for.
const BEST_DEFLATE: u64 = 1032;
/// Most files in an archive; a problem has at most seven arrays.
const MOST_FILES: usize = 64;

/// The problem in the archive `bytes`.
pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<ProblemFile, Fault> {
    let numbers: Vec<_> = KEYS.iter().filter(|key| key.1 != Shape::Text).collect();
    let known: Vec<&str> = numbers.iter().map(|key| key.0).collect();
    let mut fields = Fields::default();
    for (key, array) in arrays(bytes, &known, options.max_numbers)? {
        let shape = numbers.iter().find(|k| k.0 == key).map_or(Shape::NUMBERS, |k| k.1);
        fields.insert(key, value(shape, array).map_err(|e| Fault::whole(format!("{key}: {e}")))?);
    }
    ProblemFields(fields).build(options.kind)
}

/// The names of the arrays in the archive `bytes`.
///
/// # Errors
/// If it is no archive, or has more files than a problem has arrays.
pub fn names(bytes: &[u8]) -> Result<Vec<String>, Fault> {
    Ok(open(bytes)?.file_names().flatten().map(|file| array_name(&file).to_string()).collect())
}

/// The arrays in the archive `bytes`, at most `max_numbers` numbers in all; each must have one of the `known` names.
///
/// # Errors
/// What is wrong, with the name of the array.
pub fn arrays<'a>(bytes: &[u8], known: &[&'a str], max_numbers: usize) -> Result<Vec<(&'a str, Array)>, Fault> {
    let mut archive = open(bytes)?;
    check_names(&archive)?;
    let mut found: Vec<(&str, Array)> = Vec::new();
    let mut budget = max_numbers;
    for i in 0..archive.len() {
        let file = archive.by_index(i).map_err(|e| Fault::whole(format!("file {i} of the archive: {e}")))?;
        let name = file.name().map_err(|e| Fault::whole(format!("file {i} of the archive: {e}")))?;
        let name = array_name(&name).to_string();
        let Some(&key) = known.iter().find(|k| **k == name) else {
            return Err(Fault::whole(unknown(&name, known)));
        };
        if found.iter().any(|(k, _)| *k == key) {
            return Err(Fault::whole(format!("{key} is given twice")));
        }
        let ratio = if file.compression() == CompressionMethod::Stored { 1 } else { BEST_DEFLATE };
        let most = file.compressed_size().min(bytes.len() as u64).saturating_mul(ratio);
        let array = npy::read(file, budget, most).map_err(|e| Fault::whole(format!("{key}: {e}")))?;
        budget -= array.data.len();
        found.push((key, array));
    }
    Ok(found)
}

fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, Fault> {
    let archive = ZipArchive::new(Cursor::new(bytes));
    let archive = archive.map_err(|e| Fault::whole(format!("this is no .npz archive: {e}")))?;
    if archive.len() > MOST_FILES {
        return Err(Fault::whole(format!("the archive has {} files; expected the arrays M and q", archive.len())));
    }
    Ok(archive)
}

fn array_name(file: &str) -> &str {
    file.strip_suffix(".npy").unwrap_or(file)
}

/// All names at once, so that a sparse matrix of SciPy is named as such.
fn check_names(archive: &ZipArchive<Cursor<&[u8]>>) -> Result<(), Fault> {
    let has = |name: &str| archive.file_names().flatten().any(|file| array_name(&file) == name);
    if has("indptr") && has("indices") || has("row") && has("col") {
        return Err(Fault::whole("this is a sparse matrix of SciPy; save numpy.savez(file, M=M.toarray(), q=q)"));
    }
    Ok(())
}

fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown array {name:?}; did you mean {near:?}?"),
        None => format!("unknown array {name:?}; known are {}", known.join(", ")),
    }
}

/// The array as a field of the given shape.
fn value(shape: Shape, array: Array) -> Result<Value, String> {
    match shape {
        Shape::Matrix => array.into_matrix().map(Value::Matrix),
        Shape::Flags => {
            let data = array.into_vector()?;
            match data.iter().position(|x| *x != 0.0 && *x != 1.0) {
                None => Ok(Value::Flags(data.iter().map(|x| *x == 1.0).collect())),
                Some(i) => Err(format!("expected true or false, found {} at {i}", data[i])),
            }
        }
        _ => array.into_vector().map(Value::Numbers),
    }
}
