//! A contact problem, built from dense or sparse matrices.

// Arguments have the names that Python's users write.
#![allow(non_snake_case)]

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction_contact::io::{AnyProblem, Kind, ReadOptions, read_bytes};
use stiction_contact::{Contact, Mass, Rows};
use stiction_lcp::{InputError, Matrix};

pub(crate) use stiction_contact::io::contact_to_json as to_json;

use super::rows::{Entries, borrowed, by_block, columns, entries, mass_blocks, optional};
use crate::display::html;
use crate::{arrays, errors, pickle};

/// Inertia, velocities, forces, and the rows of everything that touches or holds. Matrices may be NumPy arrays or SciPy sparse matrices.
///
/// Parameters
/// ----------
/// mass : array_like or sparse matrix, (m, m), or a list of square blocks
///     Symmetric and positive definite. The finest blocks along the diagonal are found, and keep the cost of many bodies low; a list of blocks, one
///     per body or tree, also gives resultants per body.
/// v : array_like, (m,)
///     Velocities before the step.
/// force : array_like, (m,)
///     Forces other than those of the rows: gravity, motors, velocity products with their sign on this side (``-C v``).
/// dt : float
///     The step (s). Models of accelerations do not use it.
///
/// Examples
/// --------
/// >>> import numpy as np, stiction
/// >>> problem = stiction.contact.ContactProblem(np.eye(3), v=np.zeros(3), force=[0.0, 0.0, -9.81], dt=1e-3)
/// >>> problem.add_contacts([[0.0, 0.0, 1.0]], mu=0.0)
/// >>> problem
/// ContactProblem(m=3, blocks=3, contacts=1, bilateral=0, limits=0, bounded=0)
#[pyclass(module = "stiction.contact")]
pub struct ContactProblem {
    inner: Arc<stiction_contact::ContactProblem>,
}

impl ContactProblem {
    /// Of the engine's.
    pub fn new_from(inner: Arc<stiction_contact::ContactProblem>) -> Self {
        Self { inner }
    }

    /// The engine's problem as it is now.
    pub fn shared(&self) -> Arc<stiction_contact::ContactProblem> {
        self.inner.clone()
    }
}

getters!(ContactProblem, {
    /// Number of velocities.
    m: usize = |this| this.inner.m();
    /// Number of contacts.
    contacts: usize = |this| this.inner.contacts().len();
    /// The step (s).
    dt: f64 = |this| this.inner.dt();
});

#[pymethods]
impl ContactProblem {
    #[new]
    fn new(mass: &Bound<'_, PyAny>, v: &Bound<'_, PyAny>, force: &Bound<'_, PyAny>, dt: f64) -> PyResult<Self> {
        let bad = |e: InputError| errors::from_input(&e);
        let mass = Mass::new(mass_blocks(mass)?).map_err(bad)?;
        let (v, force) = (arrays::vector_of("v", mass.m(), v)?, arrays::vector_of("force", mass.m(), force)?);
        let inner = stiction_contact::ContactProblem::new(mass, v, force, dt).map_err(bad)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Adds n contacts by their rows. On an error none is added.
    ///
    /// Parameters
    /// ----------
    /// N : array_like or sparse matrix, (n, m)
    ///     ``N v`` is the separation speed (m/s), positive apart.
    /// S, T : array_like or sparse matrix, (n, m), optional
    ///     ``S v`` and ``T v`` are the slip speeds along two tangents orthogonal to the normal and to each other.
    /// mu : array_like, (n,), or float
    ///     Coulomb coefficients, 0 to infinity; above 0 they need S or T, or both.
    /// gap : array_like, (n,), or float
    ///     Signed distances (m), positive apart.
    /// size : array_like, (n,), or float
    ///     Sizes of the smaller bodies (m): a gap up to 1e-9 of it touches.
    /// predicted : array_like, (n,), or bool
    ///     Seen ahead: an open gap that may close within the step, and then has friction. Without it an open gap has none.
    /// spin : array_like or sparse matrix, (n, m), optional
    ///     Spin about the normals (rad/s), for contacts that resist it.
    /// mu_spin : array_like, (n,), or float
    ///     ``|moment| <= mu_spin * normal force`` (m); above 0 it needs ``spin``.
    /// roll : pair of array_like or sparse matrices, (n, m) each, optional
    ///     Rolling about two axes orthogonal to the normal and to each other (rad/s), for contacts that resist it.
    /// mu_roll : array_like, (n,), or float
    ///     ``hypot(m_s, m_t) <= mu_roll * normal force`` (m), finite; above 0 it needs ``roll``.
    /// mu_viscous : array_like, (n,), or float
    ///     Viscous coefficients (N s/m); above 0 they need S or T, or both.
    /// rate : array_like, (n, 3), optional
    ///     Velocity products of the three rows (m/s²), for models of accelerations.
    /// bounce : array_like, (n,), or float
    ///     Least separation speeds wanted after the step (m/s): ``N v+ >= bounce - max(gap, 0) / dt``; of predicted contacts with
    ///     a bounce above 0, which close their gap within the step and part again, ``N v+ >= bounce``.
    /// surface : array_like, (n, 2), optional
    ///     Speeds of conveyor surfaces along the tangents (m/s).
    #[pyo3(signature = (N, S=None, T=None, *, mu=None, gap=None, size=None, spin=None, mu_spin=None, mu_viscous=None, rate=None, bounce=None,
                        surface=None, predicted=None, roll=None, mu_roll=None),
           text_signature = "($self, N, S=None, T=None, *, mu=0.0, gap=0.0, size=1.0, spin=None, mu_spin=0.0, \
                             mu_viscous=0.0, rate=None, bounce=0.0, surface=None, predicted=False, roll=None, mu_roll=0.0)")]
    fn add_contacts(
        &mut self,
        N: &Bound<'_, PyAny>,
        S: Option<&Bound<'_, PyAny>>,
        T: Option<&Bound<'_, PyAny>>,
        mu: Option<&Bound<'_, PyAny>>,
        gap: Option<&Bound<'_, PyAny>>,
        size: Option<&Bound<'_, PyAny>>,
        spin: Option<&Bound<'_, PyAny>>,
        mu_spin: Option<&Bound<'_, PyAny>>,
        mu_viscous: Option<&Bound<'_, PyAny>>,
        rate: Option<&Bound<'_, PyAny>>,
        bounce: Option<&Bound<'_, PyAny>>,
        surface: Option<&Bound<'_, PyAny>>,
        predicted: Option<&Bound<'_, PyAny>>,
        roll: Option<[Bound<'_, PyAny>; 2]>,
        mu_roll: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let m = self.inner.m();
        let normal = entries("N", m, N)?;
        let n = normal.len();
        let of = |what, x| optional(what, m, &normal, x);
        let (s, t, spin) = (of("S", S)?, of("T", T)?, of("spin", spin)?);
        let roll = roll.as_ref().map_or([None; 2], |roll| roll.each_ref().map(Some));
        let (roll_s, roll_t) = (of("roll[0]", roll[0])?, of("roll[1]", roll[1])?);
        let number = |what, x, default| arrays::optional_vector(what, n, x, default);
        let (mu, gap, size) = (number("mu", mu, 0.0)?, number("gap", gap, 0.0)?, number("size", size, 1.0)?);
        let (mu_spin, mu_viscous) = (number("mu_spin", mu_spin, 0.0)?, number("mu_viscous", mu_viscous, 0.0)?);
        let (bounce, mu_roll) = (number("bounce", bounce, 0.0)?, number("mu_roll", mu_roll, 0.0)?);
        let predicted = number("predicted", predicted, 0.0)?;
        let (rate, surface) = (columns::<3>("rate", n, rate)?, columns::<2>("surface", n, surface)?);
        self.edit(n, |problem| {
            let layout = problem.layout().clone();
            for i in 0..n {
                let rows = [&normal, &s, &t, &spin, &roll_s, &roll_t].map(|kind| by_block(&layout, &kind[i]));
                let [normal, s, t, spin, roll_s, roll_t] = [0, 1, 2, 3, 4, 5].map(|k: usize| borrowed(&rows[k]));
                problem.add_contact(Contact {
                    spin: &spin,
                    roll_s: &roll_s,
                    roll_t: &roll_t,
                    gap: gap[i],
                    predicted: predicted[i] != 0.0,
                    size: size[i],
                    mu: mu[i],
                    mu_spin: mu_spin[i],
                    mu_roll: mu_roll[i],
                    mu_viscous: mu_viscous[i],
                    rate: rate[i],
                    bounce: bounce[i],
                    surface: surface[i],
                    ..Contact::new(&normal, &s, &t)
                })?;
            }
            Ok(())
        })
    }

    /// Adds bilateral rows: ``J v+ = target`` at velocity level, ``J a + rate = target`` at acceleration level.
    ///
    /// Parameters
    /// ----------
    /// J : array_like or sparse matrix, (j, m)
    /// target, rate : array_like, (j,), or float
    #[pyo3(signature = (J, *, target=None, rate=None), text_signature = "($self, J, *, target=0.0, rate=0.0)")]
    fn add_bilateral(
        &mut self,
        J: &Bound<'_, PyAny>,
        target: Option<&Bound<'_, PyAny>>,
        rate: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let rows = entries("J", self.inner.m(), J)?;
        let number = |what, x| arrays::optional_vector(what, rows.len(), x, 0.0);
        let (target, rate) = (number("target", target)?, number("rate", rate)?);
        self.add_rows(&rows, |problem, i, row| problem.add_bilateral(row, rate[i], target[i]))
    }

    /// Adds frictionless unilateral rows such as joint limits: ``row v+ >= bounce - max(gap, 0) / dt``.
    ///
    /// Parameters
    /// ----------
    /// rows : array_like or sparse matrix, (l, m)
    ///     Positive moves away from the limit.
    /// gap, rate, bounce : array_like, (l,), or float
    #[pyo3(signature = (rows, *, gap=None, rate=None, bounce=None), text_signature = "($self, rows, *, gap=0.0, rate=0.0, bounce=0.0)")]
    fn add_limits(
        &mut self,
        rows: &Bound<'_, PyAny>,
        gap: Option<&Bound<'_, PyAny>>,
        rate: Option<&Bound<'_, PyAny>>,
        bounce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let rows = entries("rows", self.inner.m(), rows)?;
        let number = |what, x| arrays::optional_vector(what, rows.len(), x, 0.0);
        let (gap, rate, bounce) = (number("gap", gap)?, number("rate", rate)?, number("bounce", bounce)?);
        self.add_rows(&rows, |problem, i, row| problem.add_limit(row, gap[i], rate[i], bounce[i]))
    }

    /// Adds rows whose force stays within bounds and brings the row to its target if it can: motors, dry friction of joints.
    ///
    /// Parameters
    /// ----------
    /// rows : array_like or sparse matrix, (b, m)
    /// lo, hi : array_like, (b,), or float
    ///     Least and largest force (N or N m).
    /// target, rate : array_like, (b,), or float
    #[pyo3(signature = (rows, lo, hi, *, target=None, rate=None), text_signature = "($self, rows, lo, hi, *, target=0.0, rate=0.0)")]
    fn add_bounded(
        &mut self,
        rows: &Bound<'_, PyAny>,
        lo: &Bound<'_, PyAny>,
        hi: &Bound<'_, PyAny>,
        target: Option<&Bound<'_, PyAny>>,
        rate: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let rows = entries("rows", self.inner.m(), rows)?;
        let number = |what, x| arrays::optional_vector(what, rows.len(), x, 0.0);
        let (lo, hi) = (arrays::vector_of("lo", rows.len(), lo)?, arrays::vector_of("hi", rows.len(), hi)?);
        let (target, rate) = (number("target", target)?, number("rate", rate)?);
        self.add_rows(&rows, |problem, i, row| problem.add_bounded(row, lo[i], hi[i], rate[i], target[i]))
    }

    /// The inertia, (m, m).
    #[getter]
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (mass, m) = (self.inner.mass(), self.inner.m());
        let mut whole = Matrix::zeros(m, m);
        for b in 0..mass.layout().blocks() {
            let (block, range) = (mass.block(b), mass.layout().range(b));
            for j in 0..block.cols() {
                whole.col_mut(range.start + j)[range.clone()].copy_from_slice(block.col(j));
            }
        }
        arrays::from_matrix(py, whole)
    }

    /// N, (n, m): ``N v`` is the separation speed.
    #[getter]
    #[pyo3(name = "N")]
    fn normal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        dense(py, &self.inner.contacts().normal)
    }

    /// S, (n, m): slip speeds along the first tangents.
    #[getter]
    #[pyo3(name = "S")]
    fn tangent_s<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        dense(py, &self.inner.contacts().tangent_s)
    }

    /// T, (n, m): slip speeds along the second tangents.
    #[getter]
    #[pyo3(name = "T")]
    fn tangent_t<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        dense(py, &self.inner.contacts().tangent_t)
    }

    /// J of the bilateral rows, (j, m).
    #[getter]
    #[pyo3(name = "J")]
    fn bilateral<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        dense(py, &self.inner.bilaterals().rows)
    }

    /// The problem as JSON, which ``stiction solve`` reads, bit for bit.
    ///
    /// Returns
    /// -------
    /// str
    fn to_json(&self) -> String {
        to_json(&self.inner)
    }

    /// The problem that `to_json` or ``stiction extract`` wrote.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///
    /// Returns
    /// -------
    /// ContactProblem
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { inner: Arc::new(from_json(py, text)?) })
    }

    fn __repr__(&self) -> String {
        let p = &self.inner;
        let rows = [p.contacts().len(), p.bilaterals().rows.len(), p.limits().rows.len(), p.bounded().rows.len()];
        format!(
            "ContactProblem(m={}, blocks={}, contacts={}, bilateral={}, limits={}, bounded={})",
            p.m(),
            p.layout().blocks(),
            rows[0],
            rows[1],
            rows[2],
            rows[3]
        )
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __copy__(&self) -> Self {
        Self { inner: self.inner.clone() }
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.__copy__()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "contact.problem", (self.to_json(),).into_pyobject(py)?)
    }
}

crate::outcome::arrays!(ContactProblem, {
    /// Velocities before the step, (m,).
    v = |p| p.inner.v();
    /// Forces other than those of the rows, (m,).
    force = |p| p.inner.force();
    /// Coulomb coefficients, (n,).
    mu = |p| &p.inner.contacts().mu;
    /// Signed distances (m), (n,).
    gap = |p| &p.inner.contacts().gap;
});

impl ContactProblem {
    /// Adds `rows` rows, or leaves the problem as it was. A single row is added in place, unless others share the problem: the engine refuses a
    /// row before it changes anything.
    fn edit(
        &mut self,
        rows: usize,
        change: impl FnOnce(&mut stiction_contact::ContactProblem) -> Result<(), InputError>,
    ) -> PyResult<()> {
        let bad = |e: InputError| errors::from_input(&e);
        if rows <= 1 {
            return change(Arc::make_mut(&mut self.inner)).map_err(bad);
        }
        let mut next = (*self.inner).clone();
        change(&mut next).map_err(bad)?;
        self.inner = Arc::new(next);
        Ok(())
    }

    fn add_rows(
        &mut self,
        rows: &[Entries],
        mut add: impl FnMut(&mut stiction_contact::ContactProblem, usize, &[(usize, &[f64])]) -> Result<(), InputError>,
    ) -> PyResult<()> {
        self.edit(rows.len(), |problem| {
            let layout = problem.layout().clone();
            for (i, row) in rows.iter().enumerate() {
                add(problem, i, &borrowed(&by_block(&layout, row)))?;
            }
            Ok(())
        })
    }
}

fn dense<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyArray2<f64>>> {
    arrays::from_matrix(py, rows.to_dense())
}

/// A contact problem from JSON.
pub(crate) fn from_json(py: Python<'_>, text: &str) -> PyResult<stiction_contact::ContactProblem> {
    let options = ReadOptions { kind: Some(Kind::Contact), ..ReadOptions::default() };
    match read_bytes("problem.json", text.as_bytes(), &options) {
        Ok(AnyProblem::Contact(problem)) => Ok(*problem),
        Ok(_) => Err(errors::input(py, "the text holds no contact problem")),
        Err(e) => Err(errors::from_input(&e)),
    }
}
