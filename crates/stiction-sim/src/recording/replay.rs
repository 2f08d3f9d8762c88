//! Running a recorded scene again: the first bit that differs, and the contact problem of any step.

use stiction_contact::ContactProblem;
use stiction_lcp::Basis;

use super::change::{Pending, bytes_of};
use super::header::Header;
use super::read::{Chunk, Recording};
use super::step::{RecordedContact, RecordedStep};
use crate::error::SceneError;
use crate::simulation::{Simulation, Snapshot, State};

/// The first number that is not what was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The step, from 0; `None` if it is there before the first one.
    pub step: Option<u64>,
    /// Which number: `q[3] (block1.qw)`, `normal impulse of contact 2 (block1, gripper1)`.
    pub what: String,
    /// As recorded.
    pub recorded: String,
    /// As found.
    pub found: String,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Recorded steps that were the same, bit for bit.
    pub steps: u64,
    /// The first difference, if there is one.
    pub difference: Option<Difference>,
}

/// Runs a simulation of the recorded scene again and compares every recorded number bit by bit; `progress` sees the steps made so far.
///
/// # Errors
/// If the recording does not fit the simulation.
pub fn replay(
    recording: &Recording,
    simulation: &mut Simulation,
    mut progress: impl FnMut(u64),
) -> Result<Replay, SceneError> {
    let header = recording.header();
    let (mut same, mut pending) = (0, Pending::default());
    let differs = |steps: u64, difference: Difference| Ok(Replay { steps, difference: Some(difference) });
    for i in 0..recording.chunks() {
        let Chunk { snapshot, steps, changes } = recording.chunk(i)?;
        if i == 0 && !header.from_start {
            simulation.restore(&snapshot).map_err(|e| SceneError::input("recording", &e))?;
        }
        if let Some(difference) = run_to(simulation, snapshot.state.step, &mut pending)? {
            return differs(same, difference);
        }
        if let Some(difference) = compare_snapshots(header, &snapshot, &simulation.snapshot()) {
            return differs(same, difference);
        }
        pending.extend(changes);
        for recorded in &steps {
            if let Some(difference) = run_to(simulation, recorded.number(), &mut pending)? {
                return differs(same, difference);
            }
            let report = match pending.step(simulation)? {
                Ok(report) => report,
                Err(e) => return differs(same, failed(e.step, &e.why)),
            };
            if let Some(difference) = compare_steps(header, recorded, &RecordedStep::of(simulation, &report)) {
                return differs(same, difference);
            }
            same += 1;
            progress(same);
        }
    }
    Ok(Replay { steps: same, difference: compare_ends(recording, simulation, &mut pending)? })
}

/// Makes steps until `step` of them are made; a difference if one fails.
fn run_to(simulation: &mut Simulation, step: u64, pending: &mut Pending) -> Result<Option<Difference>, SceneError> {
    while simulation.state().step < step {
        if let Err(e) = pending.step(simulation)? {
            return Ok(Some(failed(e.step, &e.why)));
        }
    }
    Ok(None)
}

fn failed(step: u64, why: &str) -> Difference {
    Difference { step: Some(step), what: "outcome".into(), recorded: "certified".into(), found: why.into() }
}

/// The end of the run: as many steps, and the same failure.
fn compare_ends(
    recording: &Recording,
    simulation: &mut Simulation,
    pending: &mut Pending,
) -> Result<Option<Difference>, SceneError> {
    let Some(end) = recording.end() else { return Ok(None) };
    if let Some(difference) = run_to(simulation, end.steps, pending)? {
        return Ok(Some(difference));
    }
    let Some(recorded) = end.failure.as_deref() else { return Ok(None) };
    let found = match pending.step(simulation)? {
        Ok(_) => "certified".to_string(),
        Err(e) => e.why,
    };
    let what = "outcome".into();
    Ok((found != recorded).then(|| Difference { step: Some(end.steps), what, recorded: recorded.into(), found }))
}

/// Looks for the first difference.
struct Compare<'a> {
    header: &'a Header,
    step: Option<u64>,
    found: Option<Difference>,
}

impl Compare<'_> {
    fn see(&mut self, what: impl FnOnce() -> String, recorded: impl ToString, found: impl ToString, same: bool) {
        if !same && self.found.is_none() {
            let (recorded, found) = (recorded.to_string(), found.to_string());
            self.found = Some(Difference { step: self.step, what: what(), recorded, found });
        }
    }

    fn number(&mut self, what: impl FnOnce() -> String, recorded: f64, found: f64) {
        if recorded.to_bits() != found.to_bits() {
            self.see(what, format!("{recorded:?}"), format!("{found:?}"), false);
        }
    }

    fn numbers(&mut self, what: impl Fn(usize) -> String, recorded: &[f64], found: &[f64]) {
        self.see(
            || format!("number of entries: {}", what(0)),
            recorded.len(),
            found.len(),
            recorded.len() == found.len(),
        );
        recorded.iter().zip(found).enumerate().for_each(|(i, (a, b))| self.number(|| what(i), *a, *b));
    }

    fn state(&mut self, recorded: &State, found: &State) {
        let header = self.header;
        let name = |letter: &str, names: &[String], i: usize| {
            format!("{letter}[{i}] ({})", names.get(i).map_or("", String::as_str))
        };
        self.numbers(|i| name("q", &header.q, i), &recorded.q, &found.q);
        self.numbers(|i| name("v", &header.v, i), &recorded.v, &found.v);
        self.number(|| "t".into(), recorded.t, found.t);
        self.see(|| "number of steps".into(), recorded.step, found.step, recorded.step == found.step);
    }
}

fn compare_snapshots(header: &Header, recorded: &Snapshot, found: &Snapshot) -> Option<Difference> {
    let step = recorded.state.step.checked_sub(1);
    let mut compare = Compare { header, step, found: None };
    compare.state(&recorded.state, &found.state);
    if compare.found.is_none() && bytes_of(recorded) != bytes_of(found) {
        for (i, (a, b)) in recorded.controllers.iter().zip(&found.controllers).enumerate() {
            compare.numbers(|k| format!("memory {k} of controller {i}"), a, b);
        }
        compare.see(|| "what the next step starts from".into(), "as recorded", "other modes, bases or forces", false);
    }
    compare.found
}

fn compare_steps(header: &Header, recorded: &RecordedStep, found: &RecordedStep) -> Option<Difference> {
    let mut compare = Compare { header, step: Some(recorded.number()), found: None };
    let (a, b) = (recorded, found);
    compare.see(
        || "number of contacts".into(),
        a.contacts.len(),
        b.contacts.len(),
        a.contacts.len() == b.contacts.len(),
    );
    let name = |i: usize| {
        let [first, second] = a.contacts.get(i).map_or([0; 2], |c| c.key.geoms).map(|g| header.body(g));
        format!("contact {i} ({first}, {second})")
    };
    for (i, (x, y)) in a.contacts.iter().zip(&b.contacts).enumerate() {
        if x.key != y.key {
            compare.see(|| format!("identity of {}", name(i)), format!("{:?}", x.key), format!("{:?}", y.key), false);
        }
        for k in 0..3 {
            compare.number(|| format!("point[{k}] of {}", name(i)), x.point[k], y.point[k]);
            compare.number(|| format!("normal[{k}] of {}", name(i)), x.normal[k], y.normal[k]);
        }
        compare.number(|| format!("gap of {}", name(i)), x.gap, y.gap);
        if x.ellipse != y.ellipse {
            let words = |x: &RecordedContact| format!("{:?}", x.ellipse);
            compare.see(|| format!("friction of {}", name(i)), words(x), words(y), false);
        }
    }
    let (p, r) = (&a.impulses, &b.impulses);
    compare.numbers(|i| format!("normal impulse of {}", name(i)), &p.normal, &r.normal);
    compare.numbers(|i| format!("first tangential impulse of {}", name(i)), &p.tangent_s, &r.tangent_s);
    compare.numbers(|i| format!("second tangential impulse of {}", name(i)), &p.tangent_t, &r.tangent_t);
    compare.numbers(|i| format!("spin impulse of {}", name(i)), &p.spin, &r.spin);
    compare.numbers(|i| format!("first rolling impulse of {}", name(i)), &p.roll_s, &r.roll_s);
    compare.numbers(|i| format!("second rolling impulse of {}", name(i)), &p.roll_t, &r.roll_t);
    compare.numbers(|i| format!("impulse of bilateral row {i}"), &p.bilateral, &r.bilateral);
    compare.numbers(|i| format!("impulse of limit {i}"), &p.limit, &r.limit);
    compare.numbers(|i| format!("impulse of bounded row {i}"), &p.bounded, &r.bounded);
    for (i, (x, y)) in a.contacts.iter().zip(&b.contacts).enumerate() {
        compare.see(|| format!("mode of {}", name(i)), x.mode, y.mode, x.mode == y.mode);
    }
    let words = |bases: &[Basis]| bases.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    if a.bases != b.bases {
        compare.see(|| "bases".into(), words(&a.bases), words(&b.bases), false);
    }
    compare.state(&a.state, &b.state);
    compare.see(|| "certificate".into(), &a.certificate, &b.certificate, a.certificate == b.certificate);
    compare.see(|| "pivots".into(), a.pivots, b.pivots, a.pivots == b.pivots);
    compare.see(|| "accepted".into(), a.accepted, b.accepted, a.accepted == b.accepted);
    compare.found
}

/// The contact problem of step `k` (from 0), made again from the snapshot before it by a simulation of the recorded scene. A step that failed has
/// one, too.
///
/// # Errors
/// If the step is beyond the recording, cannot be made any more, or had no contact problem.
pub fn problem_of_step(
    recording: &Recording,
    simulation: &mut Simulation,
    k: u64,
) -> Result<ContactProblem, SceneError> {
    let wrong = |message: String| SceneError::new(format!("step {k}"), message);
    let chunk = recording.chunk_of(k).ok_or_else(|| wrong("the recording begins later".into()))?;
    let last = match recording.end() {
        Some(end) => end.steps - u64::from(end.failure.is_none()).min(end.steps),
        None => recording.chunk(recording.chunks() - 1)?.steps.last().map_or(0, RecordedStep::number),
    };
    if k > last {
        return Err(wrong(format!("the last one in the recording is {last}")));
    }
    let Chunk { snapshot, changes, .. } = recording.chunk(chunk)?;
    simulation.restore(&snapshot).map_err(|e| SceneError::input("recording", &e))?;
    let mut pending = Pending::default();
    pending.extend(changes);
    while simulation.state().step < k {
        pending.step(simulation)?.map_err(|e| SceneError::new(format!("step {}", e.step), e.why))?;
    }
    match pending.step(simulation)? {
        Ok(_) => Ok(simulation.problem().clone()),
        Err(e) => {
            e.problem.map(|problem| *problem).ok_or_else(|| wrong(format!("it had no contact problem: {}", e.why)))
        }
    }
}
