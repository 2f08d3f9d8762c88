//! Restitution: the speeds at which contacts that close are to part again, and how much of them the energy allows.
//!
//! An impact has two phases. Compression is the plastic problem: every contact that closes stops closing. Restitution is
//! the same problem with Newton's hypothesis on the contacts that closed: `N v⁺ ≥ s e a`, with a the approach speed before
//! the impact. Without friction and with s = 1 no impact gains energy whose contacts all approached, whatever their e; else
//! s is the largest part of all rebounds, up to 1, for which the work of the contacts is not above 0, neither beside the
//! velocities before the step nor beside those its other forces lead to. The problem with s is
//! solved and certified like any other, and is the step's problem: what is recorded is the answer to it.
//!
//! Several contacts that close at once rebound at once. With [`Impacts::Sequential`] they follow each other, the fastest
//! first, as impacts of nearly rigid bodies do: the balls of Newton's cradle pass their momentum on.

use stiction_contact::{CONTACT_ROWS, ContactModel, ContactOutcome, Mode};
use stiction_lcp::InputError;

use crate::simulation::{Simulation, StepFailure, StepReport};
use crate::time_stepping::smaller;

/// Contact work above this fraction of the energies is a gain.
const GAIN: f64 = 1e-12;

/// A restitution that loses less than this fraction of the energy it may keep is the largest one.
const LARGEST: f64 = 1e-6;

/// Most problems solved for the part of restitution that gains no energy.
const SCALE_SOLVES: usize = 12;

/// Most impacts of a sequence, per contact that closes: with restitution below 1 they fade like a geometric series.
const IMPACTS_PER_CONTACT: usize = 200;

/// How the impacts of contacts that close at the same time are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impacts {
    /// All at once.
    #[default]
    Simultaneous,
    /// One pair of bodies after the other, the fastest approach first.
    Sequential,
}

impl Impacts {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Simultaneous, Self::Sequential];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simultaneous => "simultaneous",
            Self::Sequential => "sequential",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|impacts| impacts.name() == name)
    }
}

/// The part of restitution that gains no energy, between one that gains none and one that does.
struct Bracket {
    /// A part without gain, and its work (J).
    kept: (f64, f64),
    /// A part that gains, and its work (J); infinite where no answer was certified.
    gains: (f64, f64),
}

impl Bracket {
    /// Where the work is 0 if it is linear between the ends; halfway where that says nothing.
    fn next(&self) -> f64 {
        let ((a, w_a), (b, w_b)) = (self.kept, self.gains);
        let s = a + (b - a) * -w_a / (w_b - w_a);
        if w_b.is_finite() && s > a && s < b { s } else { 0.5 * (a + b) }
    }
}

impl Simulation {
    /// The rebound speeds of the contacts that closed in the compression just solved (m/s, into `scratch.rebound`; 0 for
    /// those that do not rebound); true if there is any.
    pub(crate) fn find_rebounds(&mut self) -> Result<bool, StepFailure> {
        let frames = &self.assembler.frames;
        if frames.iter().all(|frame| frame.material.restitution == 0.0) {
            return Ok(false);
        }
        let Some(solution) = self.last.as_ref().and_then(ContactOutcome::answer) else { return Ok(false) };
        let (normal, scratch) = (&self.assembler.problem.contacts().normal, &mut self.scratch);
        scratch.rebound.clear();
        scratch.closed.clear();
        for (i, frame) in frames.iter().enumerate() {
            let (closed, restitution) = (solution.modes[i] != Mode::Open, frame.material.restitution);
            let mut rebound = 0.0;
            if closed && restitution > 0.0 {
                // The slower of the speeds before and after the forces of the step: restitution gains from neither.
                let approach = (-normal.dot(i, &self.state.v)).min(-normal.dot(i, &scratch.v_free));
                rebound = if approach > self.settings.restitution_speed { restitution * approach } else { 0.0 };
            }
            scratch.closed.push(closed);
            scratch.rebound.push(rebound);
        }
        let any = scratch.rebound.iter().any(|u| *u > 0.0);
        if any && self.settings.impacts == Impacts::Sequential {
            self.follow_sequence().map_err(|e| self.fail(e.to_string(), true))?;
        }
        Ok(any)
    }

    /// Restitution after a compression: the last solution becomes that of the problem in which the contacts rebound.
    pub(crate) fn restitute(&mut self, compression: StepReport) -> Result<StepReport, StepFailure> {
        let reversed = self.work_of_impact().max(0.0);
        let compressed = self.last.take();
        let motion = compressed.as_ref().and_then(ContactOutcome::answer).map_or(&[][..], |s| &s.motion);
        self.scratch.v_compressed.clear();
        self.scratch.v_compressed.extend_from_slice(motion);
        let mut report = self.largest_restitution(compression, reversed, |sim, scale| {
            sim.set_rebounds(scale).map_err(|e| sim.fail(e.to_string(), true))?;
            sim.solve()
        })?;
        if report.restitution_scale == 0.0 {
            // Nothing rebounds: the compression stands.
            self.assemble().map_err(|e| self.fail(e.to_string(), false))?;
            if let Some(other) = std::mem::replace(&mut self.last, compressed) {
                self.model.recycle(other);
            }
        } else if let Some(outcome) = compressed {
            self.model.recycle(outcome);
            report.pivots += compression.pivots;
            report.factorizations += compression.factorizations;
            report.most_factorizations = report.most_factorizations.max(compression.most_factorizations);
            report.guessed &= compression.guessed;
            // Rebounds of a compression that is not certified are not either.
            report.accepted |= compression.accepted;
        }
        Ok(report)
    }

    /// Asks every contact that closes for `scale` of its rebound speed.
    fn set_rebounds(&mut self, scale: f64) -> Result<(), InputError> {
        let Self { assembler, scratch, .. } = self;
        for (i, rebound) in scratch.rebound.iter().enumerate().filter(|(_, u)| **u > 0.0) {
            assembler.problem.set_bounce(i, scale * rebound)?;
        }
        Ok(())
    }

    /// Work of the contacts of the last solution (J) beside the velocities before the step, which is what changes the energy
    /// over many steps: forces of the step, such as gravity, speed up what closes, and a rebound may not gain that speed.
    /// Contacts that parted before and do not rebound are taken as at rest: they are no part of the restitution.
    fn work_of_impact(&self) -> f64 {
        let Some(solution) = self.last.as_ref().and_then(ContactOutcome::answer) else { return 0.0 };
        let (rows, p) = (self.assembler.problem.contacts().rows(), solution.forces.contacts());
        let mut work = 0.0;
        for i in (0..self.scratch.rebound.len()).filter(|&i| p[0][i] != 0.0) {
            for k in (0..CONTACT_ROWS).filter(|&k| rows[k].has_entries(i)) {
                let before = rows[k].dot(i, &self.state.v);
                let before = if k == 0 && self.scratch.rebound[i] == 0.0 { before.min(0.0) } else { before };
                work += 0.5 * p[k][i] * (before + rows[k].dot(i, &solution.motion));
            }
        }
        work
    }

    /// Solves for the largest part of restitution, up to 1, that gains no energy; the last solve is the one reported. That
    /// of part 0 is `compression`, whose velocities are in `scratch.v_compressed`; it is not solved again. `reversed` is its
    /// work where forces of the step reversed the motion (J).
    pub(crate) fn largest_restitution(
        &mut self,
        compression: StepReport,
        reversed: f64,
        mut solve: impl FnMut(&mut Self, f64) -> Result<StepReport, StepFailure>,
    ) -> Result<StepReport, StepFailure> {
        let stands = StepReport { restitution_scale: 0.0, ..compression };
        let mut bracket = Bracket { kept: (0.0, compression.work.min(0.0)), gains: (1.0, f64::INFINITY) };
        let (mut scale, mut last) = (1.0, stands);
        // The part solved last.
        let mut solved = 0.0;
        for k in 0..SCALE_SOLVES {
            solved = scale;
            let outcome = solve(self, scale);
            let work = outcome.as_ref().map_or(0.0, |report| report.work.max(self.work_of_impact() - reversed));
            match outcome {
                Ok(report) if !gains(work, &report) && !report.accepted => {
                    last = StepReport { restitution_scale: scale, ..report };
                    let kept = bracket.kept.1.abs().max(compression.work.abs());
                    if scale == 1.0 || work >= -LARGEST * kept {
                        return Ok(last);
                    }
                    bracket.kept = (scale, work);
                }
                Ok(report) if !report.accepted => bracket.gains = (scale, work),
                // Friction may leave no answer for rebounds that are too fast.
                _ => bracket.gains = (scale, f64::INFINITY),
            }
            scale = match k {
                0 => self.scale_without_gain(bracket.kept.1, bracket.gains.1).unwrap_or_else(|| bracket.next()),
                _ => bracket.next(),
            };
        }
        let best = bracket.kept.0;
        if best > 0.0 && best != solved {
            solve(self, best)?;
        }
        Ok(last)
    }

    /// The part at which the work of the contacts is 0 if motion is linear in it: work is then quadratic, with the energy of
    /// the difference of compression (work `w_0`) and full restitution (work `w_1`, solved last) as its curvature.
    fn scale_without_gain(&mut self, w_0: f64, w_1: f64) -> Option<f64> {
        let motion = &self.last.as_ref().and_then(ContactOutcome::answer)?.motion;
        let mut change = std::mem::take(&mut self.scratch.v_compressed);
        change.iter_mut().zip(motion).for_each(|(x, v)| *x = v - *x);
        let a = self.kinetic(&change);
        self.scratch.v_compressed = change;
        let b = w_1 - w_0 - a;
        let root = (b * b - 4.0 * a * w_0).max(0.0).sqrt();
        let s = if b >= 0.0 { -2.0 * w_0 / (b + root) } else { (root - b) / (2.0 * a) };
        (s > 0.0 && s < 1.0).then_some(s)
    }

    /// Impacts one pair of bodies after the other, without friction, from the velocities before the step: the rebound
    /// speeds become the separation speeds at the end of the sequence.
    pub(crate) fn follow_sequence(&mut self) -> Result<(), InputError> {
        let mut v = std::mem::take(&mut self.scratch.sequence);
        v.clone_from(&self.state.v);
        let closed = self.scratch.closed.iter().filter(|c| **c).count();
        self.scratch.rebound.fill(0.0);
        for _ in 0..IMPACTS_PER_CONTACT * closed {
            let Some(first) = self.fastest_approach(&v) else { break };
            let Some(next) = self.impact_of_pair(first, &v)? else { break };
            v.copy_from_slice(&next);
        }
        let normal = &self.assembler.problem.contacts().normal;
        for (i, rebound) in self.scratch.rebound.iter_mut().enumerate().filter(|(_, u)| **u > 0.0) {
            // A contact that took part does not close again within the step.
            *rebound = normal.dot(i, &v).max(f64::MIN_POSITIVE);
        }
        self.scratch.sequence = v;
        Ok(())
    }

    /// The contact that closes the fastest at velocities `v`, if one does: the first of several.
    fn fastest_approach(&self, v: &[f64]) -> Option<usize> {
        let normal = &self.assembler.problem.contacts().normal;
        let mut fastest = (self.settings.restitution_speed, None);
        for i in (0..normal.len()).filter(|&i| self.scratch.closed[i]) {
            let approach = -normal.dot(i, v);
            if approach > fastest.0 * (1.0 + GAIN) {
                fastest = (approach, Some(i));
            }
        }
        fastest.1
    }

    /// The velocities after the impact of the two bodies of contact `first`, which both keep to their joints; `None` if
    /// there are none. Contacts that take part get a rebound above 0.
    fn impact_of_pair(&mut self, first: usize, v: &[f64]) -> Result<Option<Vec<f64>>, InputError> {
        let Self { world, work, state, scratch, collision, assembler, second_assembler, commands, loops, .. } = self;
        let (settings, sizes, projector) = (&self.settings, &self.sizes, &mut self.projector);
        let bodies = |i: usize| assembler.frames[i].key.geoms.map(|g| world.geoms[g as usize].link);
        let normal = &assembler.problem.contacts().normal;
        second_assembler.start(&scratch.mass, v, &scratch.zeros, settings.dt)?;
        for (i, at) in collision.contacts().iter().enumerate() {
            if !scratch.closed[i] || bodies(i) != bodies(first) {
                continue;
            }
            let approach = -normal.dot(i, v);
            let fast = approach > settings.restitution_speed;
            scratch.rebound[i] = if fast { approach } else { scratch.rebound[i] };
            second_assembler.add_contact(world, work, at, smaller(sizes, at), |frame, contact| {
                (contact.gap, contact.mu, contact.mu_spin) = (0.0, 0.0, 0.0);
                (contact.mu_roll, contact.mu_viscous) = (0.0, 0.0);
                contact.bounce = if fast { frame.material.restitution * approach } else { 0.0 };
            })?;
        }
        second_assembler.add_limits(&world.model, &state.q, |_| 0.0, |_| (0.0, 0.0))?;
        second_assembler.add_loops(loops, |_| 0.0)?;
        for (k, target) in commands.prescribed.iter().enumerate() {
            if let Some(target) = target.filter(|_| !commands.is_limited(k)) {
                second_assembler.add_joint_target(&world.model, k, target)?;
            }
        }
        let outcome = projector.solve(&second_assembler.problem)?;
        Ok(outcome.solved().map(|solution| solution.motion.clone()))
    }
}

/// True if contacts of this work (J) add energy.
pub(crate) fn gains(work: f64, report: &StepReport) -> bool {
    work > GAIN * (report.kinetic + work.abs())
}
