//! Pickles of outcomes: plain values, with the problem as JSON where it is needed. A solution is certified again.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction_lcp::io::{ProblemFile, ReadOptions, read_bytes};
use stiction_lcp::outcome::MatrixClass;
use stiction_lcp::{Basis, InputError, Problem, Proof, exact};

use super::certificate::{Certificate, ExactCheck, Stats, StoredCertificate, StoredStats};
use super::outcome::{Ray, Solved, Stopped, Unsolvable};
use super::solver;
use crate::arrays::{self, frozen};
use crate::{errors, interrupt, pickle};

/// The classes a proof can speak of.
const CLASSES: [MatrixClass; 6] = [
    MatrixClass::SymmetricPositiveDefinite,
    MatrixClass::SymmetricPositiveSemidefinite,
    MatrixClass::PositiveDefinite,
    MatrixClass::PositiveSemidefinite,
    MatrixClass::StrictlyCopositive,
    MatrixClass::Other,
];

/// A proof: its kind, its vector, the class it speaks of, how many bases it went through.
pub(crate) type StoredProof<'py> = (String, Bound<'py, PyAny>, String, u64);

/// A problem as JSON.
pub(crate) fn json(problem: &Problem) -> String {
    ProblemFile::from(problem.clone()).to_json()
}

/// A problem from JSON.
pub(crate) fn read(text: &str) -> PyResult<Problem> {
    let file = read_bytes("pickle.json", text.as_bytes(), &ReadOptions::default());
    file.map(|file| file.problem).map_err(|e| errors::from_input(&e))
}

/// A solution: problem, z, basis, tolerance, statistics.
pub(crate) fn solved<'py>(py: Python<'py>, s: &Solved) -> PyResult<Bound<'py, PyTuple>> {
    let (z, basis) = (frozen(py, &s.numbers), s.basis.to_string());
    (json(&s.problem), z, basis, s.tolerance, s.stats.stored()).into_pyobject(py)
}

/// A proof that there is none: problem, proof, statistics.
pub(crate) fn unsolvable<'py>(py: Python<'py>, u: &Unsolvable) -> PyResult<Bound<'py, PyTuple>> {
    (json(&u.problem), store_proof(py, &u.proof), u.stats.stored()).into_pyobject(py)
}

/// A proof as it is pickled.
pub(crate) fn store_proof<'py>(py: Python<'py>, proof: &Proof) -> StoredProof<'py> {
    let (kind, vector, class, bases) = match proof {
        Proof::Farkas(y) => ("farkas", y.as_slice(), String::new(), 0),
        Proof::Ray { direction, class } => ("ray", direction.as_slice(), class.to_string(), 0),
        Proof::Enumeration { bases } => ("enumeration", [].as_slice(), String::new(), *bases),
    };
    (kind.into(), frozen(py, vector).into_any(), class, bases)
}

/// A proof from its pickle; a Farkas vector is checked again.
pub(crate) fn restore_proof(py: Python<'_>, problem: &Problem, stored: StoredProof<'_>) -> PyResult<Proof> {
    let (kind, vector, class, bases) = stored;
    let vector = arrays::vector("proof", &vector)?;
    let proof = match kind.as_str() {
        "farkas" => Proof::Farkas(vector),
        "ray" => {
            let class = CLASSES.into_iter().find(|c| c.to_string() == class).unwrap_or(MatrixClass::Other);
            Proof::Ray { direction: vector, class }
        }
        _ => Proof::Enumeration { bases },
    };
    if let Proof::Farkas(y) = &proof
        && !interrupt::detached(py, || exact::check_farkas(problem, y))?
    {
        return Err(errors::input(py, "the pickled Farkas vector proves nothing about its problem"));
    }
    Ok(proof)
}

/// An object of `stiction.lcp` from its pickle.
pub(crate) fn restore<'py>(py: Python<'py>, kind: &str, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match kind {
        "solved" => Bound::new(py, restore_solved(state)?)?.into_any(),
        "unsolvable" => Bound::new(py, restore_unsolvable(state)?)?.into_any(),
        "ray" => {
            let (direction, claim, stats): (Bound<'_, PyAny>, String, StoredStats) = state.extract()?;
            let direction = arrays::vector("direction", &direction)?;
            Bound::new(py, Ray { direction, claim, stats: Stats::restored(stats) })?.into_any()
        }
        "stopped" => {
            let (why, reason, best, certificate, stats): (_, _, Bound<'_, PyAny>, StoredCertificate, StoredStats) =
                state.extract()?;
            let (certificate, stats) = (Certificate::restored(certificate), Stats::restored(stats));
            let best = arrays::vector("best", &best)?;
            Bound::new(py, Stopped { why, reason, best, certificate, stats })?.into_any()
        }
        "certificate" => Bound::new(py, Certificate::restored(state.extract()?))?.into_any(),
        "stats" => Bound::new(py, Stats::restored(state.extract()?))?.into_any(),
        "exact" => Bound::new(py, ExactCheck::restored(state.extract()?))?.into_any(),
        "solver" => solver::restore(py, state)?,
        _ => return Err(pickle::unknown(py, &format!("lcp.{kind}"))),
    })
}

fn restore_solved(state: &Bound<'_, PyAny>) -> PyResult<Solved> {
    let (problem, z, basis, tolerance, stats): (String, Bound<'_, PyAny>, String, f64, StoredStats) =
        state.extract()?;
    let py = state.py();
    let bad = |e: InputError| errors::from_input(&e);
    let (problem, z, basis) = (read(&problem)?, arrays::vector("z", &z)?, basis.parse::<Basis>().map_err(bad)?);
    arrays::check_len(py, "z", problem.as_ref().n(), z.len())?;
    basis.check_len(z.len()).map_err(bad)?;
    let mut w = vec![0.0; z.len()];
    let certificate = stiction_lcp::certify_to(problem.as_ref(), &z, &mut w, tolerance);
    if !certificate.holds(tolerance) {
        return Err(errors::input(py, format!("the pickled z does not solve its problem: {certificate}")));
    }
    let options = stiction_lcp::Options { tolerance, ..stiction_lcp::Options::default() };
    let of = stiction_lcp::Solved::new(z, w, basis, certificate, &options, stiction_lcp::Stats::default());
    let mut solved = Solved::new(problem, of, tolerance);
    solved.stats = Stats::restored(stats);
    Ok(solved)
}

fn restore_unsolvable(state: &Bound<'_, PyAny>) -> PyResult<Unsolvable> {
    let (problem, proof, stats): (String, StoredProof<'_>, StoredStats) = state.extract()?;
    let problem = read(&problem)?;
    let proof = restore_proof(state.py(), &problem, proof)?;
    Ok(Unsolvable { problem: Arc::new(problem), proof, stats: Stats::restored(stats) })
}
