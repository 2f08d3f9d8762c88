//! Outcomes of complementarity problems as Python objects.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use stiction_lcp::exact::{self, Rational};
use stiction_lcp::{Basis, Position, Problem, Proof};

use super::certificate::{Certificate, ExactCheck, Stats, fraction};
use super::pickle;
use crate::arrays::frozen;
use crate::display::{brief, quoted, shortened};
use crate::interrupt;
use crate::outcome::{self, Outcome};

/// An array that is made when it is first asked for, and then stays.
type Lazy = PyOnceLock<Py<PyArray1<f64>>>;

fn lazy<'py>(py: Python<'py>, cell: &Lazy, numbers: &[f64]) -> Bound<'py, PyArray1<f64>> {
    cell.get_or_init(py, || frozen(py, numbers).unbind()).bind(py).clone()
}

/// The outcome of `problem` as an object of its class.
pub(crate) fn to_python(
    py: Python<'_>,
    problem: Problem,
    outcome: stiction_lcp::Outcome,
    tolerance: f64,
) -> PyResult<Bound<'_, PyAny>> {
    use stiction_lcp::Outcome;
    Ok(match outcome {
        Outcome::Solved(s) => Bound::new(py, Solved::new(problem, s, tolerance))?.into_any(),
        Outcome::Unsolvable(u) => {
            let stats = Stats::new(u.stats);
            Bound::new(py, Unsolvable { problem: Arc::new(problem), proof: u.proof, stats })?.into_any()
        }
        Outcome::Ray(r) => {
            Bound::new(py, Ray { direction: r.direction, claim: r.claim, stats: Stats::new(r.stats) })?.into_any()
        }
        Outcome::Stopped(s) => Bound::new(py, Stopped::new(s))?.into_any(),
    })
}

/// A certified solution. In a pattern: ``case Solved(z, w)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Solved {
    pub(super) problem: Arc<Problem>,
    pub(super) tolerance: f64,
    pub(super) basis: Basis,
    pub(super) stats: Stats,
    pub(super) numbers: Vec<f64>,
    w: Vec<f64>,
    certificate: Certificate,
    shown: [Lazy; 2],
}

impl Solved {
    /// Of the engine's.
    pub fn new(problem: Problem, of: stiction_lcp::Solved, tolerance: f64) -> Self {
        let certificate = Certificate::new(&of.certificate);
        let (basis, stats, numbers, w) = (of.basis, Stats::new(of.stats), of.z, of.w);
        let shown = [Lazy::new(), Lazy::new()];
        Self { problem: Arc::new(problem), tolerance, basis, stats, numbers, w, certificate, shown }
    }

    /// The basis.
    pub fn basis_ref(&self) -> &Basis {
        &self.basis
    }
}

outcome::outcome!(Solved, "lcp.solved", ["z", "w"]);

impl Outcome for Solved {
    const STATUS: &'static str = "solved";
    const SOLVED: bool = true;

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, self.stats.clone())?.into_any())
    }

    fn why_not(&self) -> String {
        String::new()
    }

    fn text(&self) -> String {
        let (n, basis) = (self.numbers.len(), shortened(&self.basis.to_string()));
        let limited = if self.limited_by_precision() { ", limited by double precision" } else { "" };
        format!("Solved(n={n}, basis='{basis}', certificate={}{limited})", brief(self.certificate.worst))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::solved(py, self)
    }
}

getters!(Solved, {
    /// The basis z belongs to: a letter per row, ``z`` basic, ``w`` at the lower bound, ``u`` at the upper. The start of the next solve.
    basis: String = |this| this.basis.to_string();
    /// How well z solves the problem, from the problem and z alone.
    certificate: Certificate = |this| this.certificate.clone();
    /// Whether the answer is limited by double precision: rounding z alone may leave a residual above the tolerance.
    limited_by_precision: bool = |this| this.certificate.rounding_limit > this.tolerance;
});

#[pymethods]
impl Solved {
    /// The solution, (n,), read-only.
    #[getter]
    fn z<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        lazy(py, &self.shown[0], &self.numbers)
    }

    /// ``M z + q``, recomputed from the problem, (n,), read-only.
    #[getter]
    fn w<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        lazy(py, &self.shown[1], &self.w)
    }

    /// Which z are basic, (n,) of bool.
    #[getter]
    fn active<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let active: Vec<bool> = self.basis.positions().iter().map(|p| *p == Position::Basic).collect();
        frozen(py, &active)
    }

    /// Re-solves the basis in rational arithmetic and checks every sign of the problem exactly.
    ///
    /// Returns
    /// -------
    /// ExactCheck
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> outcome = stiction.lcp.solve([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    /// >>> outcome.verify_exact().verdict
    /// 'proven'
    fn verify_exact(&self, py: Python<'_>) -> PyResult<ExactCheck> {
        let check = || exact::verify_exact(self.problem.as_ref().as_ref(), &self.basis);
        Ok(ExactCheck::new(interrupt::detached(py, check)?))
    }

    /// The exact z and w of the basis.
    ///
    /// Returns
    /// -------
    /// (list of Fraction, list of Fraction) or None
    ///     ``None`` if the basis gives no point.
    ///
    /// Examples
    /// --------
    /// >>> import stiction
    /// >>> z, w = stiction.lcp.solve([[3.0]], [-1.0]).exact_solution()
    /// >>> z
    /// [Fraction(1, 3)]
    #[allow(clippy::type_complexity)]
    fn exact_solution<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Vec<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>)>> {
        let found = interrupt::detached(py, || exact::solve_basis(self.problem.as_ref().as_ref(), &self.basis))?;
        let Some(found) = found else { return Ok(None) };
        let all = |x: &[Rational]| x.iter().map(|x| fraction(py, &x.to_string())).collect::<PyResult<Vec<_>>>();
        Ok(Some((all(&found.z)?, all(&found.w)?)))
    }
}

/// A proof that there is no solution. In a pattern: ``case Unsolvable(proof)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Unsolvable {
    pub(super) problem: Arc<Problem>,
    pub(super) proof: Proof,
    pub(super) stats: Stats,
}

outcome::outcome!(Unsolvable, "lcp.unsolvable", ["proof"]);

impl Outcome for Unsolvable {
    const STATUS: &'static str = "unsolvable";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, self.stats.clone())?.into_any())
    }

    fn why_not(&self) -> String {
        format!("no solution: {}", self.proof)
    }

    fn text(&self) -> String {
        format!("Unsolvable({})", quoted(&self.proof.to_string()))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::unsolvable(py, self)
    }
}

#[pymethods]
impl Unsolvable {
    /// The proof, in words.
    #[getter]
    fn proof(&self) -> String {
        self.proof.to_string()
    }

    /// Farkas vector: ``y >= 0``, ``M' y <= 0``, ``q' y < 0``, exactly; ``None`` if the proof is of another kind.
    #[getter]
    fn farkas<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        if let Proof::Farkas(y) = &self.proof { Some(frozen(py, y)) } else { None }
    }

    /// Direction of the secondary ray, if that is the proof.
    #[getter]
    fn direction<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        if let Proof::Ray { direction, .. } = &self.proof { Some(frozen(py, direction)) } else { None }
    }

    /// How many complementary bases were tried, if the proof is that none has a solution.
    #[getter]
    fn bases(&self) -> Option<u64> {
        if let Proof::Enumeration { bases } = &self.proof { Some(*bases) } else { None }
    }

    /// Checks a Farkas vector again in rational arithmetic.
    ///
    /// Returns
    /// -------
    /// bool or None
    ///     ``None`` if the proof is of another kind.
    fn verify_exact(&self, py: Python<'_>) -> PyResult<Option<bool>> {
        let Proof::Farkas(y) = &self.proof else { return Ok(None) };
        interrupt::detached(py, || exact::check_farkas(self.problem.as_ref(), y)).map(Some)
    }
}

/// The method ended on a ray, which by itself proves nothing. In a pattern: ``case Ray(direction, claim)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Ray {
    pub(super) direction: Vec<f64>,
    /// What the ray supports, in words.
    #[pyo3(get)]
    pub(super) claim: String,
    pub(super) stats: Stats,
}

outcome::outcome!(Ray, "lcp.ray", ["direction", "claim"]);
outcome::arrays!(Ray, {
    /// The direction in z, (n,), read-only.
    direction = |ray| &ray.direction;
});

impl Outcome for Ray {
    const STATUS: &'static str = "ray";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, self.stats.clone())?.into_any())
    }

    fn why_not(&self) -> String {
        format!("ended on a ray: {}", self.claim)
    }

    fn text(&self) -> String {
        format!("Ray({})", quoted(&self.claim))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (frozen(py, &self.direction), &self.claim, self.stats.stored()).into_pyobject(py)
    }
}

/// The method stopped without an answer. In a pattern: ``case Stopped(why)``.
#[pyclass(frozen, module = "stiction.lcp")]
pub struct Stopped {
    /// Why, in words.
    #[pyo3(get)]
    pub(super) why: String,
    /// Why: ``"limit"``, ``"budget"``, ``"cycle"``, ``"uncertified"``, ``"numerical"`` or ``"not-applicable"``.
    #[pyo3(get)]
    pub(super) reason: String,
    pub(super) best: Vec<f64>,
    /// How far the best iterate is from a solution.
    #[pyo3(get)]
    pub(super) certificate: Certificate,
    pub(super) stats: Stats,
}

impl Stopped {
    fn new(of: stiction_lcp::Stopped) -> Self {
        use stiction_lcp::StopReason;
        let reason = match of.why {
            StopReason::Limit(_) => "limit",
            StopReason::Budget(_) => "budget",
            StopReason::Cycle => "cycle",
            StopReason::Uncertified => "uncertified",
            StopReason::Numerical(_) => "numerical",
            StopReason::NotApplicable(_) => "not-applicable",
        };
        let (why, reason, stats) = (of.why.to_string(), reason.to_string(), Stats::new(of.stats));
        Self { why, reason, best: of.z, certificate: Certificate::new(&of.certificate), stats }
    }
}

outcome::outcome!(Stopped, "lcp.stopped", ["why"]);
outcome::arrays!(Stopped, {
    /// The best iterate, (n,), read-only. Not a solution, and therefore not called z.
    best = |stopped| &stopped.best;
});

impl Outcome for Stopped {
    const STATUS: &'static str = "stopped";

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(py, self.stats.clone())?.into_any())
    }

    fn why_not(&self) -> String {
        let Certificate { residual, backward_error, .. } = self.certificate;
        format!("stopped: {}; best: residual {residual:.1e}, backward error {backward_error:.1e}", self.why)
    }

    fn text(&self) -> String {
        format!("Stopped({})", quoted(&self.why))
    }

    fn stored<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (best, certificate) = (frozen(py, &self.best), self.certificate.stored());
        (&self.why, &self.reason, best, certificate, self.stats.stored()).into_pyobject(py)
    }
}
