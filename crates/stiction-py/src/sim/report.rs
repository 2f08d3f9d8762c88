//! What steps came to.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyTuple};
use stiction_sim::recording::{place_code, place_of};
use stiction_sim::summary::{MicrosPerStep, Outcomes, StepTimes};
use stiction_sim::{EnergyBalance as Energy, StepFailure};

use super::run::Spent;
use crate::contact::ContactProblem;
use crate::display::{brief, html, quoted};
use crate::pickle;

/// What a step did. True in a condition if the step was made and certified; a step that was
/// accepted without being certified is made, and not true.
#[pyclass(frozen, module = "stiction")]
pub(crate) struct StepReport {
    step: u64,
    t: f64,
    inner: Result<stiction_sim::StepReport, Failure>,
}

struct Failure {
    why: String,
    /// What one may try.
    advice: String,
    problem: Option<Arc<stiction_contact::ContactProblem>>,
}

impl StepReport {
    /// Of a step that began at `step` and `t`.
    pub(crate) fn new(step: u64, t: f64, result: Result<stiction_sim::StepReport, StepFailure>) -> Self {
        let inner = result.map_err(|f| {
            let advice = f.advice();
            Failure { why: f.why, advice, problem: f.problem.map(|p| Arc::new(*p)) }
        });
        Self { step, t, inner }
    }

    /// The failure's message, if the step failed.
    pub(crate) fn message(&self) -> Option<String> {
        let (step, t) = (self.step, self.t);
        self.inner.as_ref().err().map(|f| format!("step {step} (t = {t:.6} s): {}; {}", f.why, f.advice))
    }

    /// From its pickle.
    pub(crate) fn restored(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (step, t, made, failure): (u64, f64, Option<StoredStep>, StoredFailure<'_>) = state.extract()?;
        let inner = match made {
            Some(made) => Ok(restored_step(made)),
            None => {
                let problem = failure.1.map(|p| PyResult::Ok(p.try_borrow()?.shared())).transpose()?;
                Err(Failure { why: failure.0, advice: failure.2, problem })
            }
        };
        Ok(Self { step, t, inner })
    }

    fn of<V: Default>(&self, value: impl FnOnce(&stiction_sim::StepReport) -> V) -> V {
        self.inner.as_ref().map(value).unwrap_or_default()
    }
}

/// Where the energy of a step came from and where it went (J). What is missing in
/// `kinetic_after - kinetic_before + potential_change = actuators + joints + driven + projection`
/// was dissipated, up to the error of the time integration.
#[pyclass(frozen, module = "stiction")]
pub(crate) struct EnergyBalance {
    inner: Energy,
}

getters!(EnergyBalance, {
    /// Kinetic energy before the step.
    kinetic_before: f64 = |this| this.inner.kinetic_before;
    /// Kinetic energy after the step, in the new configuration.
    kinetic_after: f64 = |this| this.inner.kinetic_after;
    /// Change of the potential energy against gravity.
    potential_change: f64 = |this| this.inner.potential_change;
    /// Work of motors and of forces that controllers ask for.
    actuators: f64 = |this| this.inner.actuators;
    /// Work of the joints' own springs and damping.
    joints: f64 = |this| this.inner.joints;
    /// Work of prescribed motion, bounces and moving surfaces.
    driven: f64 = |this| this.inner.driven;
    /// Energy that moving bodies apart, closing loops and putting joints back within their limits
    /// added.
    projection: f64 = |this| this.inner.projection;
});

#[pymethods]
impl EnergyBalance {
    fn __repr__(&self) -> String {
        let names =
            ["kinetic_before", "kinetic_after", "potential_change", "actuators", "joints", "driven", "projection"];
        let fields = names.iter().zip(numbers(&self.inner)).map(|(name, x)| format!("{name}={}", brief(x)));
        format!("EnergyBalance({})", fields.collect::<Vec<_>>().join(", "))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(py, "sim.energy", (numbers(&self.inner),).into_pyobject(py)?)
    }
}

impl EnergyBalance {
    /// From its pickle.
    pub(crate) fn restored((numbers,): ([f64; 7],)) -> Self {
        Self { inner: balance(numbers) }
    }
}

/// Counts, measures, flags, the place of the largest measure, and the energy balance.
type StoredStep = ([usize; 7], [f64; 9], [bool; 3], (u8, usize), [f64; 7]);
/// Why, the contact problem, and what one may try.
type StoredFailure<'py> = (String, Option<Bound<'py, ContactProblem>>, String);

fn stored_step(r: &stiction_sim::StepReport) -> StoredStep {
    let (scale, stepped, spread) = (r.restitution_scale, r.stepped, r.gap_spread);
    let measures = [r.certificate, r.penetration, r.overlap_left, r.slip, r.work, r.kinetic, scale, stepped, spread];
    let flags = [r.guessed, r.fallback, r.accepted];
    let factors = [r.factorizations, r.most_factorizations];
    let counts = [r.contacts, r.active, r.pivots, r.substeps, r.impacts, factors[0], factors[1]];
    (counts, measures, flags, place_code(r.place), numbers(&r.energy))
}

/// The numbers of an energy balance, in the order of its fields.
fn numbers(e: &Energy) -> [f64; 7] {
    [e.kinetic_before, e.kinetic_after, e.potential_change, e.actuators, e.joints, e.driven, e.projection]
}

/// An energy balance from its numbers.
fn balance(n: [f64; 7]) -> Energy {
    let [kinetic_before, kinetic_after, potential_change, actuators, joints, driven, projection] = n;
    Energy { kinetic_before, kinetic_after, potential_change, actuators, joints, driven, projection }
}

fn restored_step((counts, measures, flags, place, energy): StoredStep) -> stiction_sim::StepReport {
    let [contacts, active, pivots, substeps, impacts, factorizations, most_factorizations] = counts;
    let [certificate, penetration, overlap_left, slip, work, kinetic, restitution_scale, stepped, gap_spread] =
        measures;
    let [guessed, fallback, accepted] = flags;
    stiction_sim::StepReport {
        contacts,
        active,
        pivots,
        factorizations,
        most_factorizations,
        guessed,
        certificate,
        place: place_of(place).unwrap_or_default(),
        penetration,
        overlap_left,
        gap_spread,
        slip,
        work,
        kinetic,
        restitution_scale,
        fallback,
        accepted,
        substeps,
        impacts,
        stepped,
        energy: balance(energy),
    }
}

getters!(StepReport, {
    /// Whether the step was made, and certified.
    ok: bool = |this| this.inner.as_ref().is_ok_and(|r| !r.accepted);
    /// Whether the step was made with the best answer found, though that is not certified
    /// (``on_failure="accept"``): ``certificate`` says how good it is.
    accepted: bool = |this| this.of(|r| r.accepted);
    /// Why it was not made; empty if it was.
    why: &str = |this| this.inner.as_ref().err().map_or("", |f| &f.why);
    /// The contact problem of a step that failed, if there was one.
    problem: Option<ContactProblem> = |this| {
        this.inner.as_ref().err().and_then(|f| f.problem.clone()).map(ContactProblem::new_from)
    };
    /// The step's number, from 0.
    step: u64 = |this| this.step;
    /// Time at its start (s).
    t: f64 = |this| this.t;
    /// Contacts in the problem.
    contacts: usize = |this| this.of(|r| r.contacts);
    /// Contacts with a force.
    active: usize = |this| this.of(|r| r.active);
    /// Pivots or iterations.
    pivots: usize = |this| this.of(|r| r.pivots);
    /// Linear systems factored; 0 where the model does not count them.
    factorizations: usize = |this| this.of(|r| r.factorizations);
    /// Most linear systems factored for one island.
    most_factorizations: usize = |this| this.of(|r| r.most_factorizations);
    /// Solved from the last step's modes without a pivot.
    guessed: bool = |this| this.of(|r| r.guessed);
    /// Largest measure of the certificate.
    certificate: f64 = |this| this.inner.as_ref().map_or(f64::NAN, |r| r.certificate);
    /// Where it is, in words.
    place: String = |this| this.of(|r| r.place.to_string());
    /// Deepest overlap found (m).
    penetration: f64 = |this| this.of(|r| r.penetration);
    /// Overlap that could not be removed (m).
    overlap_left: f64 = |this| this.of(|r| r.overlap_left);
    /// Largest gap by which contacts that contradict each other were set apart, at random, in the step's problem (m);
    /// 0 in most steps.
    gap_spread: f64 = |this| this.of(|r| r.gap_spread);
    /// Largest slip speed of a contact with a force (m/s).
    slip: f64 = |this| this.of(|r| r.slip);
    /// Work of all contact impulses (J): at most 0 but for rounding.
    work: f64 = |this| this.of(|r| r.work);
    /// Kinetic energy after the step (J).
    kinetic: f64 = |this| this.of(|r| r.kinetic);
    /// Where the step's energy came from and went.
    energy: EnergyBalance = |this| EnergyBalance { inner: this.of(|r| r.energy) };
    /// The part of the rebound speeds that contacts with restitution got: 1, or as much as gains no energy.
    restitution_scale: f64 = |this| this.inner.as_ref().map_or(f64::NAN, |r| r.restitution_scale);
    /// Restitution was lowered because the impact would have gained energy.
    restitution_lowered: bool = |this| this.of(stiction_sim::StepReport::restitution_lowered);
    /// The fallback model answered.
    fallback: bool = |this| this.of(|r| r.fallback);
    /// Pieces of smooth motion the step was made of; 1 in time stepping.
    substeps: usize = |this| this.of(|r| r.substeps);
    /// Impacts within it; 0 in time stepping.
    impacts: usize = |this| this.of(|r| r.impacts);
    /// Time at the end of an event-driven step that was made by time stepping (s): too many events, or forces that no
    /// acceleration goes with.
    stepped: f64 = |this| this.of(|r| r.stepped);
});

#[pymethods]
impl StepReport {
    fn __bool__(&self) -> bool {
        self.ok()
    }

    fn __repr__(&self) -> String {
        match &self.inner {
            Ok(r) => {
                let (step, certificate) = (self.step, brief(r.certificate));
                let accepted = if r.accepted { ", accepted=True" } else { "" };
                format!(
                    "StepReport(step={step}, contacts={}, active={}, certificate={certificate}{accepted})",
                    r.contacts, r.active
                )
            }
            Err(f) => format!("StepReport(step={}, ok=False, why={})", self.step, quoted(&f.why)),
        }
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let made = self.inner.as_ref().ok().map(stored_step);
        let advice = self.inner.as_ref().err().map_or("", |f| &f.advice);
        let state = (self.step, self.t, made, (self.why(), self.problem(), advice));
        pickle::reduce(py, "sim.step", state.into_pyobject(py)?)
    }
}

/// What a run of several steps came to. True in a condition if every step was made and certified.
#[pyclass(frozen, module = "stiction")]
#[derive(Default)]
pub(crate) struct RunReport {
    /// Steps made.
    #[pyo3(get)]
    pub steps: u64,
    /// All steps that were asked for were made.
    pub done: bool,
    /// Why the run ended early; empty if it did not.
    #[pyo3(get)]
    pub why: String,
    /// Largest measure of a certificate.
    #[pyo3(get)]
    pub certificate: f64,
    /// Most contacts in a step.
    #[pyo3(get)]
    pub contacts: usize,
    /// Pivots or iterations in all.
    #[pyo3(get)]
    pub pivots: usize,
    /// Linear systems factored in all; 0 where the model does not count them.
    #[pyo3(get)]
    pub factorizations: usize,
    /// Most linear systems factored for one island.
    #[pyo3(get)]
    pub most_factorizations: usize,
    /// Steps solved from the last step's modes without a pivot.
    #[pyo3(get)]
    pub guessed: u64,
    /// Deepest overlap found (m).
    #[pyo3(get)]
    pub penetration: f64,
    /// Distance slipped by the contact that slips most, summed over the steps (m).
    #[pyo3(get)]
    pub slip: f64,
    /// Pieces of smooth motion in all; as many as steps in time stepping.
    #[pyo3(get)]
    pub substeps: usize,
    /// Impacts in all, of event-driven steps.
    #[pyo3(get)]
    pub impacts: usize,
    /// Time of event-driven steps that was made by time stepping (s).
    #[pyo3(get)]
    pub stepped: f64,
    /// Steps in which restitution was lowered because an impact would have gained energy.
    #[pyo3(get)]
    pub restitution_lowered: u64,
    outcomes: Outcomes,
    times: StepTimes,
    phases: MicrosPerStep,
}

/// How a run ended.
type StoredEnd = (u64, bool, String);

/// Contacts, pivots, steps guessed, factorizations, most of one island.
type StoredCounts = (usize, usize, u64, usize, usize);

/// Pieces, impacts, time made by time stepping, steps with less restitution.
type StoredEvents = (usize, usize, f64, u64);

/// Mean, median, 99 % and worst; the worst step; the phases.
type StoredTimes = ([f64; 4], Option<u64>, [f64; 7]);

impl RunReport {
    /// From its pickle; those from before events were counted have none.
    pub(crate) fn restored(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        type WithEvents = (StoredEnd, StoredCounts, [f64; 3], [u64; 4], StoredTimes, StoredEvents);
        type Without = (StoredEnd, StoredCounts, [f64; 3], [u64; 4], StoredTimes);
        let (ended, counts, measures, outcomes, times, events) = state.extract::<WithEvents>().or_else(|_| {
            let (ended, counts, measures, outcomes, times): Without = state.extract()?;
            PyResult::Ok((ended, counts, measures, outcomes, times, StoredEvents::default()))
        })?;
        let (steps, done, why) = ended;
        let (contacts, pivots, guessed, factorizations, most_factorizations) = counts;
        let [certificate, penetration, slip] = measures;
        let [certified, fallback, accepted, failed] = outcomes;
        let ([mean, median, percentile_99, worst], worst_step, phases) = times;
        let [total, dynamics, collision, assembly, solve, certifying, projection] = phases;
        Ok(Self {
            steps,
            done,
            why,
            certificate,
            contacts,
            pivots,
            factorizations,
            most_factorizations,
            guessed,
            penetration,
            slip,
            substeps: events.0,
            impacts: events.1,
            stepped: events.2,
            restitution_lowered: events.3,
            outcomes: Outcomes { certified, fallback, accepted, failed },
            times: StepTimes { mean, median, percentile_99, worst, worst_step },
            phases: MicrosPerStep { total, dynamics, collision, assembly, solve, certificate: certifying, projection },
        })
    }

    /// Takes a step in.
    pub(crate) fn add(&mut self, dt: f64, r: &stiction_sim::StepReport) {
        self.steps += 1;
        self.certificate = self.certificate.max(r.certificate);
        self.contacts = self.contacts.max(r.contacts);
        // Of a garbled recording these are any numbers.
        self.pivots = self.pivots.saturating_add(r.pivots);
        self.factorizations = self.factorizations.saturating_add(r.factorizations);
        self.most_factorizations = self.most_factorizations.max(r.most_factorizations);
        self.guessed += u64::from(r.guessed);
        self.penetration = self.penetration.max(r.penetration);
        self.slip += dt * r.slip;
        self.substeps = self.substeps.saturating_add(r.substeps);
        self.impacts = self.impacts.saturating_add(r.impacts);
        self.stepped += r.stepped;
        self.restitution_lowered += u64::from(r.restitution_lowered());
        self.outcomes.count(r);
    }

    /// Takes the end in: why it failed, if it did, and the time it took.
    pub(crate) fn end(&mut self, why: Option<String>, spent: &Spent) {
        self.done = why.is_none();
        self.outcomes.failed = u64::from(why.is_some());
        self.why = why.unwrap_or_default();
        self.times = StepTimes::of(&spent.seconds, spent.first);
        self.phases = MicrosPerStep::of(&spent.phases, spent.seconds.iter().sum(), self.steps);
    }

    fn phase_numbers(&self) -> [f64; 7] {
        let p = &self.phases;
        [p.total, p.dynamics, p.collision, p.assembly, p.solve, p.certificate, p.projection]
    }
}

getters!(RunReport, {
    /// Whether every step was made, and certified.
    ok: bool = |this| this.done && this.outcomes.accepted == 0;
    /// Steps answered by the fallback.
    fallbacks: u64 = |this| this.outcomes.fallback;
    /// Steps accepted without being certified (``on_failure="accept"``).
    accepted: u64 = |this| this.outcomes.accepted;
});

#[pymethods]
impl RunReport {
    /// How many steps ended how: ``certified``, ``fallback``, ``accepted``, ``failed``.
    #[getter]
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let o = &self.outcomes;
        let all =
            [("certified", o.certified), ("fallback", o.fallback), ("accepted", o.accepted), ("failed", o.failed)];
        all.into_py_dict(py)
    }

    /// How long single steps took (µs): ``mean``, ``median``, ``percentile_99``, ``worst``; ``worst_step`` is the number
    /// of the longest.
    #[getter]
    fn step_time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = &self.times;
        let quantiles = [("mean", t.mean), ("median", t.median), ("percentile_99", t.percentile_99)];
        let all = quantiles.into_iter().chain([("worst", t.worst)]).into_py_dict(py)?;
        all.set_item("worst_step", t.worst_step)?;
        Ok(all)
    }

    /// Mean time per step, and where it went (µs): ``total``, ``dynamics``, ``collision``, ``assembly``, ``solve``,
    /// ``certificate``, ``projection``.
    #[getter]
    fn us_per_step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = ["total", "dynamics", "collision", "assembly", "solve", "certificate", "projection"];
        names.into_iter().zip(self.phase_numbers()).into_py_dict(py)
    }

    fn __bool__(&self) -> bool {
        self.ok()
    }

    fn __repr__(&self) -> String {
        let end = if self.done { String::new() } else { format!(", ok=False, why={}", quoted(&self.why)) };
        let accepted = match self.outcomes.accepted {
            0 => String::new(),
            n => format!(", accepted={n}"),
        };
        let (steps, certificate) = (self.steps, brief(self.certificate));
        format!("RunReport(steps={steps}, certificate={certificate}, contacts={}{accepted}{end})", self.contacts)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        html(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (o, t) = (&self.outcomes, &self.times);
        let ended = (self.steps, self.done, &self.why);
        let counts = (self.contacts, self.pivots, self.guessed, self.factorizations, self.most_factorizations);
        let outcomes = [o.certified, o.fallback, o.accepted, o.failed];
        let times = ([t.mean, t.median, t.percentile_99, t.worst], t.worst_step, self.phase_numbers());
        let events = (self.substeps, self.impacts, self.stepped, self.restitution_lowered);
        let state = (ended, counts, [self.certificate, self.penetration, self.slip], outcomes, times, events);
        pickle::reduce(py, "sim.run", state.into_pyobject(py)?)
    }
}
