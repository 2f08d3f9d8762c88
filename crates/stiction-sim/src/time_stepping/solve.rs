//! The solve of a step: from the last step's modes and forces to a certified answer, or to what the settings say of one
//! that is not certified.

use std::ops::Range;

use stiction_contact::{CONTACT_ROWS, ContactOutcome, ContactSolution, ContactStats, Island, Islands, Place};

use crate::assemble::{Assembler, ContactFrame};
use crate::energy::EnergyBalance;
use crate::simulation::{OnFailure, Simulation, StepFailure, StepReport};

/// Spreads of gaps that are tried one after the other, beside what projection leaves of overlap: gaps are known up to that.
const SPREADS: [f64; 3] = [1.0, 10.0, 100.0];

/// Factors of an island after which its gaps are spread, or spread more; most take less than a
/// hundred. A larger spread often ends where five times as many do not: only the largest has those.
const FACTORS: usize = 400;
const LAST_FACTORS: usize = 2000;

/// Most solves of a step with limited work, over all its islands.
const MOST_SPREADS: usize = 20;

/// Contacts whose work is summed at a time, whatever the number of threads.
const CHUNK: usize = 128;

/// Contacts whose work is worth a thread.
const GRAIN: usize = 400;

impl Simulation {
    /// Solves the contacts: compression, and restitution where a contact that closes is to rebound.
    pub(crate) fn solve_contacts(&mut self) -> Result<StepReport, StepFailure> {
        let clock = self.clock();
        self.scratch.stopped.clear();
        self.assemble().map_err(|e| self.fail(e.to_string(), false))?;
        self.phases.assembly += clock.map_or_else(Default::default, |c| c.elapsed());
        let clock = self.clock();
        let mut compression = self.compress()?;
        if self.find_stops() {
            let before = (compression.factorizations, compression.most_factorizations);
            self.assemble().map_err(|e| self.fail(e.to_string(), false))?;
            compression = self.compress()?;
            compression.factorizations += before.0;
            compression.most_factorizations = compression.most_factorizations.max(before.1);
        }
        self.note_solve(clock);
        if !self.find_rebounds()? {
            return Ok(compression);
        }
        let clock = self.clock();
        let report = self.restitute(compression)?;
        self.note_solve(clock);
        Ok(report)
    }

    /// Finds the contacts with static friction that slide at the start of the step and whose slip turns round within it: they come to rest there, and the
    /// static coefficient holds them from then on. False if there are none.
    fn find_stops(&mut self) -> bool {
        let Self { assembler, scratch, last, .. } = self;
        let Assembler { problem, frames, .. } = assembler;
        let Some(answer) = last.as_ref().and_then(|outcome| outcome.answer()) else { return false };
        let contacts = problem.contacts();
        let slip = |i: usize, v: &[f64]| {
            let [s, t] = contacts.surface[i];
            [contacts.tangent_s.dot(i, v) + s, contacts.tangent_t.dot(i, v) + t]
        };
        let slides =
            |(i, frame): &(usize, &ContactFrame)| frame.material.mu_static.is_some_and(|mu| mu > contacts.mu[*i]);
        for (i, frame) in frames.iter().enumerate().filter(slides) {
            let ([s, t], after) = (slip(i, problem.v()), slip(i, &answer.motion));
            if s * after[0] + t * after[1] < 0.0 {
                scratch.stopped.push(frame.key);
            }
        }
        !scratch.stopped.is_empty()
    }

    /// Solves the assembled problem. Redundant contacts whose gaps are the same but for rounding may contradict each other at the level of the
    /// tolerance: which of them have a force is then a question that takes thousands of factors, if it is answered at all. On such an island
    /// gaps are spread at random within what they are known to, and the question has one answer.
    pub(crate) fn compress(&mut self) -> Result<StepReport, StepFailure> {
        if !self.model.limit_work(Some(FACTORS)) {
            return self.solve();
        }
        let mut failed = ContactStats::default();
        let found = self.compress_within_limit(&mut failed);
        self.model.limit_work(None);
        let mut report = match found? {
            Some(report) => report,
            None => {
                if !self.scratch.spread.is_empty() {
                    self.scratch.spread.clear();
                    self.assemble().map_err(|e| self.fail(e.to_string(), false))?;
                }
                self.solve()?
            }
        };
        report.factorizations += failed.factorizations;
        report.most_factorizations = report.most_factorizations.max(failed.most_factorizations);
        Ok(report)
    }

    /// Solves with few factors, and spreads the gaps of islands for which they are not enough; counts
    /// the factors of attempts that fail.
    fn compress_within_limit(&mut self, failed: &mut ContactStats) -> Result<Option<StepReport>, StepFailure> {
        // First contacts of the islands that have their last attempt.
        let mut last_attempts = Vec::new();
        for _ in 0..MOST_SPREADS {
            let outcome = match self.try_solve()? {
                Ok(report) => return Ok(Some(report)),
                Err(outcome) => outcome,
            };
            let ContactOutcome::Failed(failure) = outcome else { return Ok(None) };
            failed.factorizations += failure.best.stats.factorizations;
            failed.most_factorizations = failed.most_factorizations.max(failure.best.stats.most_factorizations);
            let contacts = self.island_at(failure.best.certificate.worst);
            let Some(&first) = contacts.first() else { return Ok(None) };
            let spread = &mut self.scratch.spread;
            spread.resize(self.assembler.frames.len(), 0.0);
            if let Some(next) = SPREADS.into_iter().find(|&next| next > spread[first]) {
                contacts.iter().for_each(|&i| spread[i] = next);
                self.assemble().map_err(|e| self.fail(e.to_string(), false))?;
            } else if last_attempts.contains(&first) {
                return Ok(None);
            } else {
                last_attempts.push(first);
                self.model.limit_work(Some(LAST_FACTORS));
            }
        }
        Ok(None)
    }

    /// The contacts of the island that a place is in.
    fn island_at(&self, place: Place) -> Vec<usize> {
        let problem = &self.assembler.problem;
        let is_at = |island: &Island| match place {
            Place::Contact(i) => island.contacts.contains(&i),
            Place::Bilateral(i) => island.bilaterals.contains(&i),
            Place::Limit(i) => island.limits.contains(&i),
            Place::Bounded(i) => island.bounded.contains(&i),
            Place::Velocity(k) => island.blocks.iter().any(|&b| problem.layout().range(b).contains(&k)),
            Place::Island(block) => island.blocks.contains(&block),
            Place::Nowhere | Place::Whole => false,
        };
        let mut islands = Islands::default();
        islands
            .find(problem)
            .iter()
            .find(|island| is_at(island))
            .map_or_else(Vec::new, |island| island.contacts.clone())
    }

    /// Solves the assembled problem, from the last step's modes and forces.
    pub(crate) fn solve(&mut self) -> Result<StepReport, StepFailure> {
        match self.try_solve()? {
            Ok(report) => Ok(report),
            Err(outcome) => self.not_certified(outcome),
        }
    }

    /// Solves the assembled problem; what was found instead, if it is not certified.
    fn try_solve(&mut self) -> Result<Result<StepReport, ContactOutcome>, StepFailure> {
        let Self { assembler, memory, scratch, model, last, .. } = self;
        let start = match &scratch.joint_start {
            Some(found) => found,
            None => memory.start_of(assembler, &mut scratch.start),
        };
        if let Some(old) = last.take() {
            model.recycle(old);
        }
        let outcome = model.solve_from(&assembler.problem, Some(start));
        let outcome = outcome.map_err(|e| self.fail(e.to_string(), true))?;
        Ok(match outcome.solved().map(|solution| self.report(solution)) {
            Some(report) => {
                self.last = Some(outcome);
                Ok(report)
            }
            None => Err(outcome),
        })
    }

    /// What becomes of an outcome that is not certified, as [`OnFailure`] says: its best answer, the fallback model's answer to
    /// the same problem, or the failure.
    pub(crate) fn not_certified(&mut self, outcome: ContactOutcome) -> Result<StepReport, StepFailure> {
        let (why, best) = (describe(&outcome), outcome.answer().map(|answer| answer.certificate.largest()));
        let failed = |sim: &Self, why: String| StepFailure { best, ..sim.fail(why, true) };
        let bound = self.settings.accept_bound;
        match self.settings.on_failure {
            OnFailure::Stop => Err(failed(self, why)),
            OnFailure::Accept => match outcome.answer().filter(|_| best.is_some_and(|best| best <= bound)) {
                Some(answer) => {
                    let report = StepReport { accepted: true, ..self.report(answer) };
                    self.last = Some(outcome);
                    Ok(report)
                }
                None => Err(failed(self, format!("{why}; not accepted: the bound is {bound:.1e}"))),
            },
            OnFailure::Fallback => {
                let Some(fallback) = &mut self.fallback else { return Err(failed(self, why)) };
                let second = fallback.solve(&self.assembler.problem);
                let second = second.map_err(|e| failed(self, format!("{why}; the fallback: {e}")))?;
                match second.solved().map(|solution| self.report(solution)) {
                    Some(report) => {
                        self.last = Some(second);
                        Ok(StepReport { fallback: true, ..report })
                    }
                    None => Err(failed(self, format!("{why}; the fallback: {}", describe(&second)))),
                }
            }
        }
    }

    /// What a solution says of the step.
    pub(crate) fn report(&self, solution: &ContactSolution) -> StepReport {
        let contacts = self.assembler.problem.contacts();
        let (work, slip) = self.work_and_slip(solution);
        StepReport {
            contacts: contacts.len(),
            active: solution.active_contacts(),
            pivots: solution.stats.pivots,
            factorizations: solution.stats.factorizations,
            most_factorizations: solution.stats.most_factorizations,
            guessed: solution.stats.guessed == solution.stats.islands,
            certificate: solution.certificate.largest(),
            place: solution.certificate.worst,
            penetration: 0.0,
            overlap_left: 0.0,
            gap_spread: 0.0,
            slip,
            work,
            kinetic: self.kinetic(&solution.motion),
            restitution_scale: 1.0,
            fallback: false,
            accepted: false,
            substeps: 1,
            impacts: 0,
            stepped: 0.0,
            energy: EnergyBalance::default(),
        }
    }

    /// The work of the forces at all contacts (J), and the largest slip there (m/s).
    fn work_and_slip(&self, solution: &ContactSolution) -> (f64, f64) {
        let Self { assembler, scratch, threads, .. } = self;
        let (all, v_free) = (assembler.problem.contacts().len(), &scratch.v_free);
        let part = |first: usize| work_and_slip(assembler, v_free, solution, first..all.min(first + CHUNK));
        let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1.max(b.1));
        let count = threads.worth(all / 2, GRAIN);
        if count == 1 {
            return (0..all).step_by(CHUNK).map(part).fold((0.0, 0.0), add);
        }
        let mut parts = vec![(0.0, 0.0); all.div_ceil(CHUNK)];
        threads.share(&mut vec![(); count], parts.iter_mut().enumerate(), |(), (k, out)| *out = part(k * CHUNK));
        parts.into_iter().fold((0.0, 0.0), add)
    }

    /// Kinetic energy of velocities `v` (J), with what acts implicitly.
    pub(crate) fn kinetic(&self, v: &[f64]) -> f64 {
        let mass = &self.scratch.mass;
        let blocks = mass.iter().zip(self.world.model.trees()).map(|(block, tree)| {
            let v = &v[tree.v.clone()];
            (0..v.len()).map(|j| v[j] * stiction_lcp::matrix::dot(block.col(j), v)).sum::<f64>()
        });
        0.5 * blocks.sum::<f64>()
    }
}

/// The work of the forces at some contacts (J), and the largest slip there (m/s).
fn work_and_slip(assembler: &Assembler, v_free: &[f64], solution: &ContactSolution, range: Range<usize>) -> (f64, f64) {
    let (contacts, forces) = (assembler.problem.contacts(), &solution.forces);
    let (rows, p) = (contacts.rows(), forces.contacts());
    let (mut work, mut slip) = (0.0, 0.0f64);
    for i in range.filter(|&i| forces.normal[i] != 0.0) {
        let mut speed = [0.0; CONTACT_ROWS];
        for k in (0..CONTACT_ROWS).filter(|&k| rows[k].has_entries(i)) {
            let [free, after] = rows[k].dot_both(i, [v_free, &solution.motion]);
            speed[k] = after;
            work += 0.5 * p[k][i] * (free + after);
        }
        let (s, mut t) = (speed[1] + contacts.surface[i][0], speed[2] + contacts.surface[i][1]);
        let ratio = assembler.frames.get(i).map_or(1.0, |frame| frame.friction_ratio);
        if ratio != 1.0 {
            // The row is that of the unit tangent times the ratio; along a tangent without friction nothing slips.
            t = if ratio > 0.0 { t / ratio } else { 0.0 };
        }
        slip = slip.max((s * s + t * t).sqrt());
    }
    (work, slip)
}

/// Why an outcome is no solution.
pub(crate) fn describe(outcome: &ContactOutcome) -> String {
    match outcome {
        ContactOutcome::Solved(_) => "solved".into(),
        ContactOutcome::Infeasible(i) => {
            format!("no motion satisfies the rows (any would need {:.1e} times the speed)", i.least_speed)
        }
        ContactOutcome::NoSolution(_) => "the law of friction has no solution here".into(),
        ContactOutcome::Ray(ray) => ray.claim.clone(),
        ContactOutcome::Failed(f) => format!("{} ({})", f.why, f.best.certificate),
    }
}
