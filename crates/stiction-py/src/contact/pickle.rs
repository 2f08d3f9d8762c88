//! Pickles of outcomes: plain values, with the problem as JSON where it is needed. A solution is certified again.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction_contact::{Certifier, ContactSolution, ContactStats, Elapsed, Mode, ModelKind, WarmStart};
use stiction_lcp::{Basis, Problem};

use super::certificate::{PhysicalCertificate, StoredCertificate, restored_forces, stored_forces};
use super::model::{law, level_name, level_of};
use super::outcome::{ContactFailed, ContactRay, Infeasible, NoSolution};
use super::problem::{from_json, to_json};
use super::solved::ContactSolved;
use super::{model, problem::ContactProblem};
use crate::lcp::pickle::{self as lcp, StoredProof};
use crate::{arrays, errors, pickle};

/// Islands, guessed, pivots, factorizations, most factorizations, fallbacks, inconsistency.
type StoredStats = (usize, usize, usize, usize, usize, usize, f64);
/// Problem, model, tolerance, level; and whether it was quasistatic, which pickles from before that do not say.
type Asked = (String, String, f64, String);
type AskedWithInertia = (String, String, f64, String, bool);
/// Modes, bases, forces.
type StoredStart<'py> = (Vec<u8>, Vec<String>, Bound<'py, PyAny>);

/// Statistics as they are pickled.
pub(crate) fn stored_stats(s: &ContactStats) -> StoredStats {
    (s.islands, s.guessed, s.pivots, s.factorizations, s.most_factorizations, s.fallbacks, s.inconsistency)
}

fn restored_stats(stats: StoredStats) -> ContactStats {
    let (islands, guessed, pivots, factorizations, most_factorizations, fallbacks, inconsistency) = stats;
    let certificate = Elapsed::default();
    ContactStats {
        islands,
        guessed,
        pivots,
        factorizations,
        most_factorizations,
        fallbacks,
        inconsistency,
        certificate,
        ..ContactStats::default()
    }
}

fn stored_modes(modes: &[Mode]) -> Vec<u8> {
    modes.iter().map(|m| *m as u8).collect()
}

fn restored_modes(modes: &[u8]) -> Vec<Mode> {
    let of = |m: &u8| [Mode::Open, Mode::Stick, Mode::Slide].get(usize::from(*m)).copied().unwrap_or_default();
    modes.iter().map(of).collect()
}

/// A solution: what was asked, motion, forces, modes, the next start, statistics.
pub(crate) fn solved<'py>(py: Python<'py>, s: &ContactSolved) -> PyResult<Bound<'py, PyTuple>> {
    let (of, start) = (&s.inner, &s.inner.warm_start);
    let asked = (to_json(&s.problem), s.model, s.tolerance, level_name(of.level), s.quasistatic);
    let bases: Vec<String> = start.bases.iter().map(Basis::to_string).collect();
    let start = (stored_modes(&start.modes), bases, stored_forces(py, &start.forces)?);
    let (motion, forces) = (arrays::frozen(py, &of.motion), stored_forces(py, &of.forces)?);
    (asked, motion, forces, stored_modes(&of.modes), start, stored_stats(&of.stats)).into_pyobject(py)
}

fn restore_solved(state: &Bound<'_, PyAny>) -> PyResult<ContactSolved> {
    let (asked, motion, forces, modes, start, stats): (
        Bound<'_, PyAny>,
        Bound<'_, PyAny>,
        Bound<'_, PyAny>,
        Vec<u8>,
        StoredStart<'_>,
        StoredStats,
    ) = state.extract()?;
    let (py, (text, name, tolerance, level, quasistatic)) = (state.py(), restored_question(&asked)?);
    let (problem, level) = (from_json(py, &text)?, level_of(py, &level)?);
    let kind: ModelKind = name.parse().map_err(|e| errors::from_input(&e))?;
    let (model, law) = (kind.name(), law(kind, level, quasistatic));
    let (motion, forces) = (arrays::vector("motion", &motion)?, restored_forces(&forces)?);
    arrays::check_len(py, "motion", problem.m(), motion.len())?;
    arrays::check_len(py, "modes", problem.contacts().len(), modes.len())?;
    if !forces.fits(&problem) {
        return Err(errors::input(py, "the pickled forces do not fit their problem"));
    }
    let certificate = Certifier::default().certify(&problem, law.as_ref(), &forces, &motion);
    if !certificate.holds(tolerance) {
        return Err(errors::input(py, format!("the pickled forces do not solve their problem: {certificate}")));
    }
    let parse = |word: &String| word.parse::<Basis>().map_err(|e| errors::from_input(&e));
    let bases = start.1.iter().map(parse).collect::<PyResult<Vec<_>>>()?;
    let warm_start = WarmStart { modes: restored_modes(&start.0), bases, forces: restored_forces(&start.2)? };
    let (modes, stats) = (restored_modes(&modes), restored_stats(stats));
    let inner = ContactSolution { level, forces, motion, modes, certificate, stats, warm_start };
    Ok(ContactSolved { problem: Arc::new(problem), inner, model, tolerance, quasistatic })
}

fn restored_question(stored: &Bound<'_, PyAny>) -> PyResult<AskedWithInertia> {
    stored.extract().or_else(|_| {
        let (text, name, tolerance, level): Asked = stored.extract()?;
        Ok((text, name, tolerance, level, false))
    })
}

/// A proof that a law has no solution: island, its problem, proof, statistics.
pub(crate) fn no_solution<'py>(py: Python<'py>, of: &NoSolution) -> PyResult<Bound<'py, PyTuple>> {
    let text = lcp::json(&Problem::Lcp(of.lcp.clone()));
    (of.island, text, lcp::store_proof(py, &of.proof), stored_stats(&of.stats)).into_pyobject(py)
}

fn restore_no_solution(state: &Bound<'_, PyAny>) -> PyResult<NoSolution> {
    let (island, text, proof, stats): (usize, String, StoredProof<'_>, StoredStats) = state.extract()?;
    let problem = lcp::read(&text)?;
    let proof = lcp::restore_proof(state.py(), &problem, proof)?;
    let Problem::Lcp(lcp) = problem else {
        return Err(errors::input(state.py(), "the pickled problem is no LCP"));
    };
    Ok(NoSolution { island, lcp, proof, stats: restored_stats(stats) })
}

/// An object of `stiction.contact` from its pickle.
pub(crate) fn restore<'py>(py: Python<'py>, kind: &str, state: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match kind {
        "solved" => Bound::new(py, restore_solved(state)?)?.into_any(),
        "infeasible" => {
            let (multipliers, least_speed, stats): (Bound<'_, PyAny>, f64, StoredStats) = state.extract()?;
            let (multipliers, stats) = (restored_forces(&multipliers)?, restored_stats(stats));
            Bound::new(py, Infeasible { multipliers, least_speed, stats })?.into_any()
        }
        "no-solution" => Bound::new(py, restore_no_solution(state)?)?.into_any(),
        "ray" => {
            let (direction, claim, stats): (Bound<'_, PyAny>, String, StoredStats) = state.extract()?;
            let (direction, stats) = (restored_forces(&direction)?, restored_stats(stats));
            Bound::new(py, ContactRay { direction, claim, stats })?.into_any()
        }
        "failed" => {
            let (why, best, motion, certificate, stats): (
                String,
                Bound<'_, PyAny>,
                Bound<'_, PyAny>,
                StoredCertificate,
                StoredStats,
            ) = state.extract()?;
            let (best, motion) = (restored_forces(&best)?, arrays::vector("motion", &motion)?);
            let (certificate, stats) = (PhysicalCertificate::restored(certificate), restored_stats(stats));
            Bound::new(py, ContactFailed { why, best, motion, certificate, stats })?.into_any()
        }
        "certificate" => Bound::new(py, PhysicalCertificate::restored(state.extract()?))?.into_any(),
        "problem" => {
            let (text,): (String,) = state.extract()?;
            Bound::new(py, ContactProblem::new_from(Arc::new(from_json(py, &text)?)))?.into_any()
        }
        "model" => model::restore(py, state)?,
        _ => return Err(pickle::unknown(py, &format!("contact.{kind}"))),
    })
}
