//! What the friction pyramid can say besides a solution: whether there is one, and all there are.

use pyo3::prelude::*;
use stiction_contact::models::coulomb_pyramid::Existence;

use super::model::Model;
use super::problem::ContactProblem;
use super::solved::ContactSolved;
use crate::{errors, interrupt};

/// Whether Theorem 1 of Trinkle et al. guarantees a solution: ``None``, or the first island it does not speak of and
/// why. See `stiction.contact.CoulombPyramid.existence`.
///
/// Parameters
/// ----------
/// model : CoulombPyramid
/// problem : ContactProblem
///
/// Returns
/// -------
/// (int, str) or None
#[pyfunction]
pub(crate) fn pyramid_existence(
    model: &Bound<'_, Model>,
    problem: &Bound<'_, ContactProblem>,
) -> PyResult<Option<(usize, &'static str)>> {
    let (py, shared) = (problem.py(), problem.try_borrow()?.shared());
    let mut pyramid = model.get().choice().pyramid();
    let found = interrupt::detached(py, || pyramid.existence(&shared))?.map_err(|e| errors::from_input(&e))?;
    Ok(match found {
        Existence::Guaranteed => None,
        Existence::Unknown { island, why } => Some((island, why)),
    })
}

/// All solutions of a small problem, and whether there are no others. See
/// `stiction.contact.CoulombPyramid.all_solutions`.
///
/// Parameters
/// ----------
/// model : CoulombPyramid
/// problem : ContactProblem
///
/// Returns
/// -------
/// (list of Solved, bool)
#[pyfunction]
pub(crate) fn pyramid_solutions<'py>(
    model: &Bound<'py, Model>,
    problem: &Bound<'py, ContactProblem>,
) -> PyResult<(Vec<Bound<'py, ContactSolved>>, bool)> {
    let (py, shared) = (problem.py(), problem.try_borrow()?.shared());
    let choice = model.get().choice();
    let mut pyramid = choice.pyramid();
    let all = interrupt::detached(py, || pyramid.all_solutions(&shared))?.map_err(|e| errors::from_input(&e))?;
    let solved = all.solutions.into_iter().map(|s| Bound::new(py, ContactSolved::new(shared.clone(), s, choice)));
    Ok((solved.collect::<PyResult<_>>()?, all.complete))
}
