//! NumPy arrays and everything that becomes one, as the engine's vectors and matrices.
//!
//! An array of doubles that is contiguous is read where it is; any other layout, and numbers that fit a double, go through a copy that NumPy
//! makes. Whatever would lose something is a `TypeError`.

use numpy::ndarray::Dimension;
use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use numpy::{
    Element, IntoPyArray, PyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_lcp::Matrix;

use crate::errors;

/// A vector of numbers, whatever its layout.
pub(crate) fn vector(what: &str, x: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if let Ok(array) = x.cast::<PyArray1<f64>>()
        && let Some(numbers) = array.try_readonly().ok().and_then(|a| a.as_slice().ok().map(<[f64]>::to_vec))
    {
        return Ok(numbers);
    }
    let array = as_doubles(what, x)?;
    let array = array.cast::<PyArray1<f64>>().map_err(|_| wrong_shape(what, "a vector (one dimension)", &array))?;
    array.to_vec().map_err(Into::into)
}

/// A vector of `n` numbers; one number stands for all of them.
pub(crate) fn vector_of(what: &str, n: usize, x: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if !x.is_instance_of::<PyUntypedArray>()
        && let Ok(x) = x.extract::<f64>()
    {
        return Ok(vec![x; n]);
    }
    if let Ok(array) = x.cast::<PyUntypedArray>()
        && array.ndim() == 0
    {
        return vector_of(what, n, &x.call_method0(intern!(x.py(), "item"))?);
    }
    let numbers = vector(what, x)?;
    check_len(x.py(), what, n, numbers.len())?;
    Ok(numbers)
}

/// As [`vector_of`], with a default for what was not given.
pub(crate) fn optional_vector(what: &str, n: usize, x: Option<&Bound<'_, PyAny>>, default: f64) -> PyResult<Vec<f64>> {
    x.map_or_else(|| Ok(vec![default; n]), |x| vector_of(what, n, x))
}

/// A whole number of at least `least`.
pub(crate) fn count(what: &str, least: usize, x: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let Some(count) = x.extract().ok().filter(|count| *count >= least) {
        return Ok(count);
    }
    if !x.hasattr(intern!(x.py(), "__index__"))? {
        return Err(wrong_type(&format!("{what} must be a whole number"), x));
    }
    let range = if x.gt(least)? { "below 2**64".into() } else { format!("at least {least}") };
    Err(errors::input(x.py(), format!("{what} must be {range}, found {x}")))
}

/// One of `n` things by its number; negative ones count from the end.
pub(crate) fn index(what: &str, n: usize, x: &Bound<'_, PyAny>) -> PyResult<usize> {
    if !x.hasattr(intern!(x.py(), "__index__"))? {
        return Err(wrong_type(&format!("the number of a {what} must be a whole number"), x));
    }
    let number = x.extract::<i64>().ok();
    let place = number.map(|i| if i < 0 { i + n as i64 } else { i }).and_then(|i| usize::try_from(i).ok());
    let none = || errors::input(x.py(), format!("there is no {what} {x}; there are {n}"));
    place.filter(|i| *i < n).ok_or_else(none)
}

/// An argument of a type that cannot be used.
pub(crate) fn wrong_type(expected: &str, x: &Bound<'_, PyAny>) -> PyErr {
    let found = x.get_type().name().map_or_else(|_| "something else".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{expected}, found {found}"))
}

/// Numbers that are finite.
pub(crate) fn finite(what: &str, x: Vec<f64>, py: Python<'_>) -> PyResult<Vec<f64>> {
    match x.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(errors::input(py, format!("{what}[{i}] is {}; every number must be finite", x[i]))),
        None => Ok(x),
    }
}

/// Checks a length.
pub(crate) fn check_len(py: Python<'_>, what: &str, expected: usize, found: usize) -> PyResult<()> {
    if expected == found {
        return Ok(());
    }
    Err(errors::input(py, format!("{what} must have {expected} entries, found {found}")))
}

/// A matrix of numbers, whatever its layout; sparse matrices of SciPy are made dense.
pub(crate) fn matrix(what: &str, x: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    if let Ok(array) = x.cast::<PyArray2<f64>>()
        && let Some(matrix) = contiguous(array)
    {
        return Ok(matrix);
    }
    let py = x.py();
    let dense = if x.hasattr(intern!(py, "tocsr"))? { x.call_method0(intern!(py, "toarray"))? } else { x.clone() };
    let array = as_doubles(what, &dense)?;
    let wrong = || wrong_shape(what, "a matrix (two dimensions)", &array);
    let array = array.cast::<PyArray2<f64>>().map_err(|_| wrong())?;
    contiguous(array).ok_or_else(wrong)
}

/// A matrix whose numbers lie one after the other, by rows or by columns.
fn contiguous(array: &Bound<'_, PyArray2<f64>>) -> Option<Matrix> {
    let (rows, cols) = (array.dims()[0], array.dims()[1]);
    let read = array.try_readonly().ok()?;
    let numbers = read.as_slice().ok()?;
    if array.is_fortran_contiguous() {
        return Matrix::from_columns(rows, cols, numbers.to_vec()).ok();
    }
    let mut data = vec![0.0; rows * cols];
    for (i, row) in numbers.chunks_exact(cols.max(1)).enumerate() {
        row.iter().zip(data[i..].iter_mut().step_by(rows)).for_each(|(x, y)| *y = *x);
    }
    Matrix::from_columns(rows, cols, data).ok()
}

/// Anything NumPy takes for an array of real numbers, as contiguous doubles by columns.
fn as_doubles<'py>(what: &str, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let numpy = numpy::get_array_module(py)?;
    let array = numpy
        .call_method1(intern!(py, "asarray"), (x,))
        .map_err(|e| errors::input(py, format!("{what} is no array of numbers: {}", e.value(py))))?;
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    let size: usize = dtype.getattr(intern!(py, "itemsize"))?.extract()?;
    if !matches!(kind.as_str(), "f" | "i" | "u" | "b") || size > 8 {
        let message = format!("{what} must hold real numbers (float64 or what fits it), found dtype {dtype}");
        return Err(PyTypeError::new_err(message));
    }
    let options = PyDict::new(py);
    options.set_item(intern!(py, "dtype"), intern!(py, "float64"))?;
    options.set_item(intern!(py, "order"), intern!(py, "F"))?;
    numpy.call_method(intern!(py, "array"), (array,), Some(&options))
}

fn wrong_shape(what: &str, expected: &str, array: &Bound<'_, PyAny>) -> PyErr {
    let shape = array.getattr("shape").map_or_else(|_| "?".into(), |s| s.to_string());
    errors::input(array.py(), format!("{what} must be {expected}, found an array of shape {shape}"))
}

/// An array that is written in place: doubles, by rows without holes, writable, of this shape.
pub(crate) fn check_out(what: &str, shape: &[usize], x: &Bound<'_, PyAny>) -> PyResult<()> {
    let expected = format!("{what} must be a writable C-contiguous float64 array of shape {}", tuple(shape));
    let Ok(array) = x.cast::<PyUntypedArray>() else {
        return Err(wrong_type(&expected, x));
    };
    if !array.dtype().is_equiv_to(&numpy::dtype::<f64>(x.py())) {
        return Err(PyTypeError::new_err(format!("{expected}, found dtype {}", array.dtype())));
    }
    if array.shape() != shape {
        return Err(errors::input(x.py(), format!("{expected}, found shape {}", tuple(array.shape()))));
    }
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err(format!(
            "{expected}; this one is not contiguous: numpy.ascontiguousarray makes one"
        )));
    }
    if !x.getattr("flags")?.getattr("writeable")?.extract::<bool>()? {
        return Err(PyTypeError::new_err(format!("{expected}; this one is read-only")));
    }
    Ok(())
}

fn tuple(shape: &[usize]) -> String {
    let all: Vec<String> = shape.iter().map(usize::to_string).collect();
    if all.len() == 1 { format!("({},)", all[0]) } else { format!("({})", all.join(", ")) }
}

/// A new array that nobody may write to: part of a result.
pub(crate) fn frozen<'py, E: Element>(py: Python<'py>, numbers: &[E]) -> Bound<'py, PyArray1<E>> {
    let array = PyArray1::from_slice(py, numbers);
    set_writable(&array, false);
    array
}

/// Numbers by rows as a new array of `rows × cols` that nobody may write to.
pub(crate) fn frozen_rows(
    py: Python<'_>,
    rows: usize,
    cols: usize,
    numbers: Vec<f64>,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let array = from_rows(py, rows, cols, numbers)?;
    set_writable(&array, false);
    Ok(array)
}

/// Lets Python write to an array or not; returns what was so before.
pub(crate) fn set_writable<E: Element, D: Dimension>(array: &Bound<'_, PyArray<E, D>>, writable: bool) -> bool {
    let pointer = array.as_array_ptr();
    // SAFETY: the pointer is that of a living array, and its flags are changed under the GIL. The arrays of this package own their memory, or are
    // views of such, so that they may be writable.
    unsafe {
        let before = (*pointer).fields.flags & NPY_ARRAY_WRITEABLE != 0;
        if writable {
            (*pointer).fields.flags |= NPY_ARRAY_WRITEABLE;
        } else {
            (*pointer).fields.flags &= !NPY_ARRAY_WRITEABLE;
        }
        before
    }
}

/// A matrix as a new array by columns, of which NumPy takes the storage over.
pub(crate) fn from_matrix(py: Python<'_>, matrix: Matrix) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let by_columns = matrix.as_slice().to_vec().into_pyarray(py).reshape([cols, rows])?;
    by_columns.transpose()
}

/// Numbers by rows as a new array of `rows × cols`, of which NumPy takes the storage over.
pub(crate) fn from_rows(
    py: Python<'_>,
    rows: usize,
    cols: usize,
    numbers: Vec<f64>,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    numbers.into_pyarray(py).reshape([rows, cols])
}

/// A vector of booleans.
pub(crate) fn booleans(what: &str, x: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let py = x.py();
    let array = numpy::get_array_module(py)?.call_method1(intern!(py, "asarray"), (x,))?;
    match array.cast::<PyArray1<bool>>() {
        Ok(array) => Ok(array.readonly().as_array().to_vec()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{what} must be a vector of booleans, found dtype {} of shape {}",
            array.getattr("dtype")?,
            array.getattr("shape")?
        ))),
    }
}
