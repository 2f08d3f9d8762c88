//! A problem of accelerations as one of velocities, so that it is solved on the m velocities of its graph too.
//!
//! From rest, with a step of one second and the velocity products as biases, impulses are forces and velocities are
//! accelerations; contacts that part, and limits that are not reached, have no rows. This is exact for contacts that
//! roll. A contact that slides now has the friction `−μ p_n d`, where d is the direction of its slip, whatever its
//! acceleration: so it stands on a belt that runs along d faster than any acceleration, less what its
//! acceleration has across d. Then its slip is along d, and Coulomb's law of velocities is that of the slider. What it has across
//! d is known from the round before; each round reduces the error by the ratio of accelerations to the belt's speed.
//!
//! Where accelerations have no solution (Painlevé's paradox) the belt drags its contact along, and the answer is
//! refused by the certificate of the accelerations, which every answer must pass.

use stiction_lcp::InputError;

use super::velocity_space::VelocitySpace;
use crate::certificate::Certifier;
use crate::certificate::cone::ConeLaw;
use crate::islands::{Island, Islands};
use crate::model::{ContactStats, Level, WarmStart};
use crate::problem::{Contact, ContactProblem};
use crate::rows::Rows;
use crate::solution::ContactSolution;

/// Speed of a belt beside the largest free acceleration along a contact's row.
const BELT_SPEED: f64 = 1e4;

/// Rounds in which belts are corrected.
const ROUNDS: usize = 5;

/// Contacts of an island up to which its Delassus operator costs less than rounds with belts.
const SMALL_ISLAND: usize = 16;

/// Certificate, relative to the tolerance, that another round need not improve.
const SETTLED_CERTIFICATE: f64 = 1e-2;

/// The workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Accelerations {
    certifier: Certifier,
    islands: Islands,
    /// The problem of velocities.
    problem: Option<ContactProblem>,
    /// Of contacts that slide: the direction of slip, along the tangents, and the speed of the belt.
    sliders: Vec<Slider>,
    /// Whether every contact and limit has rows: then the islands are those of the problem of accelerations.
    complete: bool,
}

#[derive(Debug, Clone, Copy)]
struct Slider {
    contact: usize,
    direction: [f64; 2],
    belt: [f64; 2],
}

impl Accelerations {
    /// The solution of `problem` at acceleration level, if one that is certified is found; at most `limit` systems are
    /// factored for an island in a round.
    ///
    /// # Errors
    /// If a number of the problem of velocities is out of range.
    pub(super) fn solution(
        &mut self,
        problem: &ContactProblem,
        velocities: &mut VelocitySpace,
        start: Option<&WarmStart>,
        tolerance: f64,
        limit: usize,
    ) -> Result<Option<ContactSolution>, InputError> {
        let (velocity_law, law) = (ConeLaw { level: Level::Velocity }, ConeLaw { level: Level::Acceleration });
        let speed = BELT_SPEED * largest_acceleration(problem);
        self.find_sliders(problem, speed);
        self.problem = None;
        let small = |island: &Island| island.contacts.len() <= SMALL_ISLAND;
        if !self.sliders.is_empty() && self.islands.find(problem).iter().all(small) {
            return Ok(None);
        }
        let mut best: Option<ContactSolution> = None;
        for _ in 0..ROUNDS {
            self.build(problem)?;
            let Some(translated) = &self.problem else { break };
            let from = best.as_ref().map(|s| &s.warm_start).or(start);
            let found = velocities.solution(translated, &velocity_law, from, tolerance, limit);
            let Some(mut found) = found else { break };
            found.level = Level::Acceleration;
            found.certificate =
                self.certifier.certify_timed(problem, &law, &found.forces, &found.motion, &mut found.stats);
            found.modes.clear();
            found.modes.extend_from_slice(self.certifier.modes());
            found.warm_start.modes.clone_from(&found.modes);
            self.correct_belts(problem, &found.motion, speed);
            let improves = best.as_ref().is_none_or(|best| found.certificate.largest() < best.certificate.largest());
            let enough =
                self.sliders.is_empty() || !improves || found.certificate.holds(SETTLED_CERTIFICATE * tolerance);
            if let Some(earlier) = &best {
                add_work(&mut found.stats, &earlier.stats);
            }
            if improves {
                best = Some(found);
            } else if let Some(best) = &mut best {
                best.stats = found.stats;
            }
            if enough {
                break;
            }
        }
        // An answer that was found and refused is right for no island but those without sliders.
        self.complete &= best.is_none() || !self.sliders.is_empty();
        Ok(best.filter(|best| best.certificate.holds(tolerance)))
    }

    /// The problem of velocities solved last, if its islands are those of the problem of accelerations; for islands
    /// without contacts that slide.
    pub(super) fn same_islands(&self) -> Option<&ContactProblem> {
        self.problem.as_ref().filter(|_| self.complete)
    }

    /// The contacts that slide now, each on a belt of this speed.
    fn find_sliders(&mut self, problem: &ContactProblem, speed: f64) {
        let contacts = problem.contacts();
        self.sliders.clear();
        for contact in (0..contacts.len()).filter(|&i| contacts.mu[i] > 0.0 && acts(problem, i)) {
            let [s, t, _] = problem.slip(contact);
            let length = libm::hypot(s, t);
            if length > 0.0 {
                let direction = [s / length, t / length];
                self.sliders.push(Slider { contact, direction, belt: direction.map(|d| speed * d) });
            }
        }
    }

    /// Takes what accelerations have across the direction of slip out of the belts.
    fn correct_belts(&mut self, problem: &ContactProblem, accelerations: &[f64], speed: f64) {
        let contacts = problem.contacts();
        for Slider { contact, direction: [x, y], belt } in &mut self.sliders {
            let [_, rate_s, rate_t] = contacts.rate[*contact];
            let s = contacts.tangent_s.dot(*contact, accelerations) + rate_s;
            let t = contacts.tangent_t.dot(*contact, accelerations) + rate_t;
            let across = t * *x - s * *y;
            *belt = [speed * *x + across * *y, speed * *y - across * *x];
        }
    }

    /// Builds the problem of velocities, with its belts.
    fn build(&mut self, problem: &ContactProblem) -> Result<(), InputError> {
        let mass = problem.mass().clone();
        let mut out = ContactProblem::new(mass, vec![0.0; problem.m()], problem.force().to_vec(), 1.0)?;
        self.complete = true;
        let contacts = problem.contacts();
        let mut belts = self.sliders.iter().peekable();
        let mut rows: [Vec<(usize, &[f64])>; 3] = Default::default();
        for i in 0..contacts.len() {
            let [normal, s, t] = contacts.rate[i];
            let belt = belts.next_if(|slider| slider.contact == i).map_or([0.0; 2], |slider| slider.belt);
            let acts = acts(problem, i);
            self.complete &= acts;
            for (row, kind) in rows.iter_mut().zip([&contacts.normal, &contacts.tangent_s, &contacts.tangent_t]) {
                take_row(row, kind, i, acts);
            }
            out.add_contact(Contact {
                mu: contacts.mu[i],
                bounce: -normal,
                surface: [s + belt[0], t + belt[1]],
                ..Contact::new(&rows[0], &rows[1], &rows[2])
            })?;
        }
        let mut row = vec![];
        let (bilaterals, limits, bounded) = (problem.bilaterals(), problem.limits(), problem.bounded());
        for i in 0..bilaterals.rows.len() {
            take_row(&mut row, &bilaterals.rows, i, true);
            out.add_bilateral(&row, 0.0, bilaterals.target[i] - bilaterals.rate[i])?;
        }
        for i in 0..limits.rows.len() {
            let reached = limits.gap[i] <= 0.0;
            self.complete &= reached;
            take_row(&mut row, &limits.rows, i, reached);
            out.add_limit(&row, 0.0, 0.0, -limits.rate[i])?;
        }
        for i in 0..bounded.rows.len() {
            take_row(&mut row, &bounded.rows, i, true);
            let target = bounded.target[i] - bounded.rate[i];
            out.add_bounded(&row, bounded.lo[i], bounded.hi[i], 0.0, target)?;
        }
        self.problem = Some(out);
        Ok(())
    }
}

/// Adds the work of an earlier round.
fn add_work(stats: &mut ContactStats, earlier: &ContactStats) {
    stats.guessed = earlier.guessed;
    stats.pivots += earlier.pivots;
    stats.factorizations += earlier.factorizations;
    stats.most_factorizations += earlier.most_factorizations;
    stats.certificate.0 += earlier.certificate.0;
}

/// True if contact `i` can have a force: it touches and does not part.
fn acts(problem: &ContactProblem, i: usize) -> bool {
    problem.contacts().touches(i) && !problem.parts(i)
}

/// Row `i` of `rows`, or none.
fn take_row<'a>(to: &mut Vec<(usize, &'a [f64])>, rows: &'a Rows, i: usize, take: bool) {
    to.clear();
    if take {
        to.extend(rows.row(i));
    }
}

/// The largest acceleration along a row of a contact before contact forces act, by the size of its terms (m/s²).
fn largest_acceleration(problem: &ContactProblem) -> f64 {
    let mut free = problem.force().to_vec();
    problem.mass().solve(&mut free);
    let contacts = problem.contacts();
    let kinds = [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t];
    let along = |i: usize| {
        let size = |(rows, rate): (&&Rows, &f64)| rows.terms(i, &free) + rate.abs();
        kinds.iter().zip(&contacts.rate[i]).map(size).fold(0.0, f64::max)
    };
    (0..contacts.len()).filter(|&i| acts(problem, i)).map(along).fold(0.0, f64::max)
}
