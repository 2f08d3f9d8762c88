//! NumPy `.npz`: a zip archive with one array per field.
//!
//! The header of an array is believed only as far as the archive could hold it: stored bytes one to one, deflated ones at
//! most 1032 to one, which is as well as the method can do.

use std::io::Cursor;

use zip::{CompressionMethod, ZipArchive};

use super::fault::Fault;
use super::fields::{FIELDS, Fields, Shape, Value, nearest};
use super::npy::{self, Array};
use super::{ProblemFile, ReadOptions};
use crate::matrix::Matrix;

/// Bytes that a deflated byte can stand for.
const BEST_DEFLATE: u64 = 1032;
/// Most files in an archive; a problem has at most seven arrays.
const MOST_FILES: usize = 64;

/// The problem in the archive `bytes`.
pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Result<ProblemFile, Fault> {
    let not_zip = |e| Fault::whole(format!("this is no .npz archive: {e}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(not_zip)?;
    if archive.len() > MOST_FILES {
        return Err(Fault::whole(format!("the archive has {} files; expected the arrays M and q", archive.len())));
    }
    check_names(&archive)?;
    let mut fields = Fields::default();
    let mut budget = options.max_numbers;
    for i in 0..archive.len() {
        let file = archive.by_index(i).map_err(|e| Fault::whole(format!("file {i} of the archive: {e}")))?;
        let name = file.name().map_err(|e| Fault::whole(format!("file {i} of the archive: {e}")))?;
        let name = array_name(&name).to_string();
        let Some((key, shape, _)) = FIELDS.iter().find(|f| f.0 == name) else {
            return Err(Fault::whole(unknown(&name)));
        };
        if fields.has(key) {
            return Err(Fault::whole(format!("{key} is given twice")));
        }
        let ratio = if file.compression() == CompressionMethod::Stored { 1 } else { BEST_DEFLATE };
        let most = file.compressed_size().min(bytes.len() as u64).saturating_mul(ratio);
        let array = npy::read(file, budget, most).map_err(|e| Fault::whole(format!("{key}: {e}")))?;
        budget -= array.data.len();
        fields.insert(key, value(*shape, array).map_err(|e| Fault::whole(format!("{key}: {e}")))?);
    }
    fields.build(options.kind)
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

fn unknown(name: &str) -> String {
    let known = || FIELDS.iter().map(|f| f.0);
    match nearest(name, known()) {
        Some(near) => format!("unknown array {name:?}; did you mean {near:?}?"),
        None => format!("unknown array {name:?}; known are {}", known().collect::<Vec<_>>().join(", ")),
    }
}

/// The array as a field of the given shape.
fn value(shape: Shape, array: Array) -> Result<Value, String> {
    let Array { shape: size, fortran, data } = array;
    match (shape, &size[..]) {
        (Shape::Matrix, &[rows, cols]) if fortran => {
            Matrix::from_columns(rows, cols, data).map(Value::Matrix).map_err(|e| e.to_string())
        }
        (Shape::Matrix, &[rows, cols]) => Ok(Value::Matrix(Matrix::from_fn(rows, cols, |i, j| data[i * cols + j]))),
        (Shape::Matrix, _) => Err(format!("expected a matrix, found an array of shape {size:?}")),
        (Shape::Vector | Shape::Bounds, [_] | [_, 1] | [1, _]) => Ok(Value::Vector(data)),
        (Shape::Flags, [_] | [_, 1] | [1, _]) => match data.iter().position(|x| *x != 0.0 && *x != 1.0) {
            None => Ok(Value::Flags(data.iter().map(|x| *x == 1.0).collect())),
            Some(i) => Err(format!("expected true or false, found {} at {i}", data[i])),
        },
        _ => Err(format!("expected a vector, found an array of shape {size:?}")),
    }
}
