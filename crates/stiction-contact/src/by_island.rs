//! What all models share around their own mathematics: islands in, forces and motion out, certified.

use stiction_lcp::matrix::{axpy, dot, norm};
use stiction_lcp::{Basis, InputError, Lcp, Proof};

use crate::certificate::{Certifier, Law, PhysicalCertificate};
use crate::islands::{Island, Islands};
use crate::model::{
    ContactFailure, ContactOutcome, ContactRay, ContactStats, Infeasible, Level, Mode, ModelOptions, NoSolution,
    WarmStart,
};
use crate::problem::ContactProblem;
use crate::solution::{ContactForces, ContactSolution, FORCE_KINDS};
use crate::whitened::{Columns, MOST_ROW_ENTRIES, Whitened, row_entries};
use stiction_linalg::doubled::add_products;

/// Any motion that a Farkas vector leaves possible must be this many times faster than the problem's own, or the proof is rounding.
pub(crate) const FARKAS_SPEED: f64 = 1e8;

/// What a Farkas vector gains must be more than this, relative to its terms, or the proof is rounding.
pub(crate) const FARKAS_GAIN: f64 = 1e-9;

/// Forces of a failed solve above this many times what the data warrant (`√W |p| / E_I`) are reported: their rounding is 1e-11 of the motion, each.
const FORCE_BEYOND_DATA: f64 = 1e5;

/// Forces and motion of one island, in the order of its lists. Zero when a model gets it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct IslandForces {
    /// Along the normals, n.
    pub normal: Vec<f64>,
    /// Along the first tangents, n.
    pub tangent_s: Vec<f64>,
    /// Along the second tangents, n.
    pub tangent_t: Vec<f64>,
    /// Moments about the normals, n.
    pub spin: Vec<f64>,
    /// Moments against rolling about the first axes, n.
    pub roll_s: Vec<f64>,
    /// Moments against rolling about the second axes, n.
    pub roll_t: Vec<f64>,
    /// Of the bilateral rows.
    pub bilateral: Vec<f64>,
    /// Of the unilateral rows.
    pub limit: Vec<f64>,
    /// Of the bounded rows.
    pub bounded: Vec<f64>,
    /// The whitened motion, m.
    pub x: Vec<f64>,
    /// The basis to start the next solve from; empty for a model that has none.
    pub basis: Basis,
}

impl IslandForces {
    /// Zero, in the sizes of `island`, with the free motion: as a model gets it, and as one that solves an island again needs it.
    pub(crate) fn reset(&mut self, island: &Whitened) {
        let (contacts, bilateral) = (island.contacts(), island.bilateral.len());
        self.reset_sizes([contacts, bilateral, island.limit.len(), island.bounded.len()], &island.x_free);
    }

    /// Zero, for so many contacts, bilateral, unilateral and bounded rows, with this motion.
    fn reset_sizes(&mut self, [n, bilateral, limit, bounded]: [usize; 4], x_free: &[f64]) {
        let zero = |x: &mut Vec<f64>, len: usize| {
            x.clear();
            x.resize(len, 0.0);
        };
        let sizes = [n, n, n, n, n, n, bilateral, limit, bounded];
        self.all_mut().into_iter().zip(sizes).for_each(|(x, len)| zero(x, len));
        self.x.clear();
        self.x.extend_from_slice(x_free);
        self.basis.reset(0);
    }
}

impl IslandForces {
    /// The part of `all` that belongs to `island`.
    pub(crate) fn gather(&mut self, island: &Island, all: &ContactForces) {
        let rows = ContactForces::rows_of(island);
        for ((to, from), at) in self.all_mut().into_iter().zip(all.all()).zip(rows) {
            to.clear();
            to.extend(at.iter().map(|&i| from[i]));
        }
    }

    /// All forces, kind by kind.
    fn all(&self) -> [&Vec<f64>; FORCE_KINDS] {
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded, .. } = self;
        [normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded]
    }

    fn all_mut(&mut self) -> [&mut Vec<f64>; FORCE_KINDS] {
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded, .. } = self;
        [normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded]
    }
}

/// What a model knows of an island from the last solve.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Guess<'a> {
    /// The island's number in the order of [`Islands`].
    pub island: usize,
    /// The basis it left, if it left one for this island.
    pub basis: Option<&'a Basis>,
    /// The modes of the island's contacts; empty if not known.
    pub modes: &'a [Mode],
    /// Its forces, if known (x and the basis are not).
    pub forces: Option<&'a IslandForces>,
}

/// How a model ended on one island. Forces, multipliers or the ray's direction are in the [`IslandForces`] it was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum IslandEnd {
    /// Solved, as the model believes.
    Solved,
    /// No motion satisfies the rows: the forces are Farkas multipliers.
    Infeasible,
    /// The law has no solution on this island.
    NoSolution {
        /// Its complementarity problem.
        lcp: Box<Lcp>,
        /// Why that has none.
        proof: Proof,
    },
    /// A ray: the forces are its direction.
    Ray {
        /// What it says.
        claim: String,
    },
    /// No answer: the forces are the best found.
    Failed {
        /// Why.
        why: String,
    },
}

/// The workspace around a model's own mathematics.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByIsland {
    islands: Islands,
    whitened: Whitened,
    forces: IslandForces,
    earlier: IslandForces,
    certifier: Certifier,
    modes: Vec<Mode>,
    /// Storage of outcomes that are not needed any more.
    #[expect(clippy::vec_box, reason = "they are handed out as they are")]
    spare: Vec<Box<ContactSolution>>,
    spare_bases: Vec<Basis>,
    /// Numbers of a block.
    storage: Vec<f64>,
}

/// Outcomes whose storage is kept: the one being replaced, and one more.
const SPARE_OUTCOMES: usize = 2;

impl ByIsland {
    /// Takes back an outcome that is not needed any more: a later solve writes into its storage, and so allocates nothing once sizes have settled.
    pub(crate) fn recycle(&mut self, outcome: ContactOutcome) {
        let answer = match outcome {
            ContactOutcome::Solved(s) | ContactOutcome::Failed(ContactFailure { best: s, .. }) => s,
            ContactOutcome::Infeasible(_) | ContactOutcome::Ray(_) | ContactOutcome::NoSolution(_) => return,
        };
        if self.spare.len() < SPARE_OUTCOMES {
            self.spare.push(answer);
        }
    }

    /// An answer without forces, with the free motion and a basis per island, in storage that is there.
    fn begin(&mut self, problem: &ContactProblem, law: &dyn Law, islands: usize) -> Box<ContactSolution> {
        let mut answer = self.spare.pop().unwrap_or_else(|| Box::new(ContactSolution::empty(law.level())));
        answer.forces.reset(problem);
        free_motion_into(problem, law, &mut answer.motion, &mut self.storage);
        let bases = &mut answer.warm_start.bases;
        while bases.len() > islands {
            self.spare_bases.extend(bases.pop());
        }
        while bases.len() < islands {
            bases.push(self.spare_bases.pop().unwrap_or_default());
        }
        answer
    }

    /// Splits `problem`, lets `solve_island` solve each island, puts the answers together and certifies them under `law`. An island whose dense
    /// rows would have more than 2²⁵ entries is not solved.
    ///
    /// # Errors
    /// Those of `solve_island`.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        options: &ModelOptions,
        start: Option<&WarmStart>,
        mut solve_island: impl FnMut(
            &Whitened,
            Guess<'_>,
            &mut IslandForces,
            &mut ContactStats,
        ) -> Result<IslandEnd, InputError>,
    ) -> Result<ContactOutcome, InputError> {
        let mut stats = ContactStats { islands: self.islands.find(problem).len(), ..ContactStats::default() };
        let mut answer = self.begin(problem, law, stats.islands);
        let ContactSolution { forces, motion, warm_start, .. } = &mut *answer;
        let mut trouble = None;
        for (k, island) in self.islands.list().iter().enumerate() {
            stiction_lcp::interrupt::check();
            self.whitened.build_motion(problem, island, law.level());
            let [contacts, bilaterals] = [&island.contacts, &island.bilaterals].map(Vec::len);
            let sizes = [contacts, bilaterals, island.limits.len(), island.bounded.len()];
            self.forces.reset_sizes(sizes, &self.whitened.x_free);
            let entries = row_entries(&self.whitened.x_free, island);
            let end = if entries > MOST_ROW_ENTRIES {
                IslandEnd::Failed {
                    why: format!(
                        "the dense rows of its {contacts} contacts would have {entries} entries; \
                         at most {MOST_ROW_ENTRIES} are formed"
                    ),
                }
            } else {
                self.whitened.build_rows(problem, island, law.level());
                self.modes.clear();
                let earlier = start.filter(|s| s.modes.len() == problem.contacts().len());
                self.modes.extend(earlier.iter().flat_map(|s| island.contacts.iter().map(|&i| s.modes[i])));
                let basis = start.filter(|s| s.bases.len() == stats.islands).map(|s| &s.bases[k]);
                let earlier = start.filter(|s| s.forces.fits(problem));
                if let Some(start) = earlier {
                    self.earlier.gather(island, &start.forces);
                }
                let guess = Guess { island: k, basis, modes: &self.modes, forces: earlier.map(|_| &self.earlier) };
                solve_island(&self.whitened, guess, &mut self.forces, &mut stats)?
            };
            if end != IslandEnd::Solved && trouble.is_none() {
                // A proof or a ray is one island's alone: no force of another belongs to it.
                if !matches!(end, IslandEnd::Failed { .. }) {
                    forces.reset(problem);
                }
                scatter(problem, island, &self.forces, forces, motion);
                trouble = Some((k, end));
            } else if trouble.as_ref().is_none_or(|(_, end)| matches!(end, IslandEnd::Failed { .. })) {
                scatter(problem, island, &self.forces, forces, motion);
            }
            std::mem::swap(&mut warm_start.bases[k], &mut self.forces.basis);
        }
        match trouble {
            Some((_, IslandEnd::Infeasible)) => {
                let least_speed = least_speed(problem, law, forces);
                if least_speed > FARKAS_SPEED {
                    let multipliers = answer.forces;
                    return Ok(ContactOutcome::Infeasible(Infeasible { multipliers, least_speed, stats }));
                }
                let why = "the proof of infeasibility does not hold up".into();
                forces.reset(problem);
                Ok(self.failed(problem, law, answer, stats, why))
            }
            Some((island, IslandEnd::NoSolution { lcp, proof })) => {
                Ok(ContactOutcome::NoSolution(NoSolution { island, lcp: *lcp, proof, stats }))
            }
            Some((_, IslandEnd::Ray { claim })) => {
                Ok(ContactOutcome::Ray(ContactRay { direction: answer.forces, claim, stats }))
            }
            Some((k, IslandEnd::Failed { why })) => {
                let why = if stats.islands > 1 { format!("island {k}: {why}") } else { why };
                Ok(self.failed(problem, law, answer, stats, why))
            }
            _ => Ok(self.certified(problem, law, options, answer, stats)),
        }
    }

    /// An answer that was found without islands being whitened: certified, unless `why` says that it is none, and only the best there is.
    pub(crate) fn outcome_of(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        options: &ModelOptions,
        (forces, motion): (&ContactForces, &[f64]),
        stats: ContactStats,
        why: Option<String>,
    ) -> ContactOutcome {
        let mut answer = self.begin(problem, law, 0);
        answer.forces.copy_from(forces);
        answer.motion.copy_from_slice(motion);
        match why {
            Some(why) => self.failed(problem, law, answer, stats, why),
            None => self.certified(problem, law, options, answer, stats),
        }
    }

    /// An answer that is believed to be a solution, and is one if its certificate holds.
    fn certified(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        options: &ModelOptions,
        mut answer: Box<ContactSolution>,
        mut stats: ContactStats,
    ) -> ContactOutcome {
        let ContactSolution { forces, motion, .. } = &mut *answer;
        let mut certificate = self.certifier.certify_timed(problem, law, forces, motion, &mut stats);
        if certificate.momentum > options.tolerance && !law.quasistatic() {
            // Forces on a light body between heavy ones are rounded beside their own size.
            balance_momentum(problem, law.level(), forces, motion);
            certificate = self.certifier.certify_timed(problem, law, forces, motion, &mut stats);
        }
        let certified = certificate.holds(options.tolerance);
        let why = (!certified).then(|| format!("the answer is not certified: {certificate}"));
        let why = why.map(|why| self.with_doubtful_row(why, problem, forces, &certificate));
        self.note_measured(&mut answer, law, certificate, stats);
        match why {
            None => ContactOutcome::Solved(answer),
            Some(why) => ContactOutcome::Failed(ContactFailure { why, best: answer }),
        }
    }

    /// Adds to an answer what its certificate, computed last, says of it.
    fn note_measured(
        &self,
        answer: &mut ContactSolution,
        law: &dyn Law,
        certificate: PhysicalCertificate,
        stats: ContactStats,
    ) {
        let ContactSolution { forces, modes, warm_start, .. } = answer;
        modes.clear();
        modes.extend_from_slice(self.certifier.modes());
        warm_start.modes.clone_from(modes);
        warm_start.forces.copy_from(forces);
        (answer.level, answer.certificate, answer.stats) = (law.level(), certificate, stats);
    }

    /// A failed solve with its best answer: the motion as it was found, or the one that its forces bring, whichever is closer to
    /// a solution.
    fn failed(
        &mut self,
        problem: &ContactProblem,
        law: &dyn Law,
        mut answer: Box<ContactSolution>,
        mut stats: ContactStats,
        why: String,
    ) -> ContactOutcome {
        let ContactSolution { forces, motion, .. } = &mut *answer;
        let mut certificate = self.certifier.certify_timed(problem, law, forces, motion, &mut stats);
        if !law.quasistatic() {
            let found = motion.clone();
            balance_momentum(problem, law.level(), forces, motion);
            let balanced = self.certifier.certify_timed(problem, law, forces, motion, &mut stats);
            if balanced.largest() <= certificate.largest() {
                certificate = balanced;
            } else {
                motion.copy_from_slice(&found);
                certificate = self.certifier.certify_timed(problem, law, forces, motion, &mut stats);
            }
        }
        let why = self.with_doubtful_row(why, problem, forces, &certificate);
        self.note_measured(&mut answer, law, certificate, stats);
        ContactOutcome::Failed(ContactFailure { why, best: answer })
    }

    /// `why`, and the row whose force is far beyond what the data warrant, or the bilateral one that is satisfied least, if there is one; of the forces certified last.
    fn with_doubtful_row(
        &self,
        why: String,
        problem: &ContactProblem,
        forces: &ContactForces,
        certificate: &PhysicalCertificate,
    ) -> String {
        match self.certifier.largest_force(problem, forces) {
            (size, place) if size > FORCE_BEYOND_DATA => format!(
                "{why}; the force of {place} is {size:.0e} times what the data warrant: is the row redundant but for rounding?"
            ),
            _ if certificate.bilateral > 0.0 && certificate.bilateral == certificate.largest() => format!(
                "{why}; {} is off by {:.0e}: is the row redundant but for rounding?",
                certificate.worst, certificate.bilateral
            ),
            _ => why,
        }
    }
}

/// Moves on to the motion that the forces bring, by the residual of momentum summed in twice the working precision.
pub(crate) fn balance_momentum(problem: &ContactProblem, level: Level, forces: &ContactForces, motion: &mut [f64]) {
    let (mass, layout) = (problem.mass(), problem.layout());
    let (unit, velocity) = if level == Level::Velocity { (problem.dt(), 1.0) } else { (1.0, 0.0) };
    let (mut high, mut low) = (vec![0.0; problem.m()], vec![0.0; problem.m()]);
    add_products(unit, problem.force(), &mut high, &mut low);
    for (rows, p) in forces.with_rows(problem) {
        for i in 0..rows.len() {
            for (block, row) in rows.row(i) {
                let range = layout.range(block);
                add_products(p[i], row, &mut high[range.clone()], &mut low[range]);
            }
        }
    }
    for b in 0..layout.blocks() {
        let (range, block) = (layout.range(b), mass.block(b));
        let (high, low) = (&mut high[range.clone()], &mut low[range.clone()]);
        for (k, j) in range.clone().enumerate() {
            add_products(-motion[j], block.col(k), high, low);
            add_products(velocity * problem.v()[j], block.col(k), high, low);
        }
        high.iter_mut().zip(low).for_each(|(high, low)| *high += *low);
        mass.solve_factor(b, high);
        mass.solve_factor_transposed(b, high);
        motion[range].iter_mut().zip(high).for_each(|(v, change)| *v += *change);
    }
}

/// `motion ←` that without any row: `v + dt M⁻¹ f`, or `M⁻¹ f`; none in quasistatics.
fn free_motion_into(problem: &ContactProblem, law: &dyn Law, motion: &mut Vec<f64>, storage: &mut Vec<f64>) {
    motion.clear();
    if law.quasistatic() {
        return motion.resize(problem.m(), 0.0);
    }
    motion.extend_from_slice(problem.force());
    for b in 0..problem.layout().blocks() {
        problem.mass().solve_block(b, &mut motion[problem.layout().range(b)], storage);
    }
    if law.level() == Level::Velocity {
        motion.iter_mut().zip(problem.v()).for_each(|(a, v)| *a = v + problem.dt() * *a);
    }
}

/// Puts an island's forces and motion in the places of the whole problem.
fn scatter(
    problem: &ContactProblem,
    island: &Island,
    part: &IslandForces,
    forces: &mut ContactForces,
    motion: &mut [f64],
) {
    let rows = ContactForces::rows_of(island);
    for ((to, from), at) in forces.all_mut().into_iter().zip(part.all()).zip(rows) {
        at.iter().zip(from).for_each(|(&i, x)| to[i] = *x);
    }
    let mut at = 0;
    for &b in &island.blocks {
        let v = &mut motion[problem.layout().range(b)];
        v.copy_from_slice(&part.x[at..at + v.len()]);
        problem.mass().solve_factor_transposed(b, v);
        at += v.len();
    }
}

/// A lower bound on the speed of any motion that satisfies the rows, from Farkas multipliers y and the problem as given, beside the speed of the
/// free motion and of the biases. Such a motion has `yᵀ (row v + bias) ≥ 0`, so `‖x‖ ≥ −yᵀ bias / ‖L⁻¹ Σ rowᵀ y‖`. Zero if y proves nothing.
fn least_speed(problem: &ContactProblem, law: &dyn Law, y: &ContactForces) -> f64 {
    let (mut whitened, mut islands, mut sum) = (Whitened::default(), Islands::default(), Farkas::default());
    for island in islands.find(problem) {
        whitened.build(problem, island, law.level());
        let terms = sum.terms;
        let pick = |all: &[f64], of: &[usize]| of.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let contact = |all: &[f64]| pick(all, &island.contacts);
        let ahead = law.level() == Level::Velocity && !law.only_touching();
        let has_row = |k: usize| ahead || whitened.touching[k];
        let has_limit = |k: usize| ahead || whitened.reached[k];
        // A row whose force has no upper bound may not move below its target, one without a lower bound not above it.
        let may_bounded = |k: usize, y: f64| {
            if y > 0.0 { whitened.hi[k] == f64::INFINITY } else { whitened.lo[k] == f64::NEG_INFINITY }
        };
        let mut combined = vec![0.0; whitened.m()];
        let [normal, tangent_s, tangent_t] = [&y.normal, &y.tangent_s, &y.tangent_t].map(|y| contact(y));
        let may = |k: usize| {
            let y = [normal[k], tangent_s[k], tangent_t[k]];
            let (mu, mu_viscous) = (whitened.mu[k], whitened.mu_viscous[k]);
            let tangents = whitened.touching[k] && law.allows_multipliers(mu, mu_viscous, y);
            y[0] >= 0.0 && has_row(k) && (tangents || y[1..] == [0.0; 2])
        };
        let holds_spin = |k: usize| law.holds_spin(whitened.mu_spin[k]) && whitened.touching[k];
        let may_limit = |k: usize, y: f64| y >= 0.0 && has_limit(k);
        let fits = sum.add(&mut combined, &whitened.normal, &normal, |k, _| may(k))
            && sum.add(&mut combined, &whitened.tangent_s, &tangent_s, |k, _| may(k))
            && sum.add(&mut combined, &whitened.tangent_t, &tangent_t, |k, _| may(k))
            && sum.add(&mut combined, &whitened.spin, &contact(&y.spin), |k, _| holds_spin(k))
            && sum.add(&mut combined, &whitened.bilateral, &pick(&y.bilateral, &island.bilaterals), |_, _| true)
            && sum.add(&mut combined, &whitened.limit, &pick(&y.limit, &island.limits), may_limit)
            && sum.add(&mut combined, &whitened.bounded, &pick(&y.bounded, &island.bounded), may_bounded);
        if !fits {
            return 0.0;
        }
        sum.rest += dot(&combined, &combined);
        // The motion of what is not part of the proof is no measure of it.
        if sum.terms > terms {
            sum.speed += dot(&whitened.x_free, &whitened.x_free);
        }
    }
    sum.least_speed()
}

/// The sums of [`least_speed`].
#[derive(Debug, Clone, Copy, Default)]
struct Farkas {
    /// `−yᵀ bias`, and the size of its terms.
    gain: f64,
    terms: f64,
    /// `‖L⁻¹ Σ rowᵀ y‖²`.
    rest: f64,
    /// `‖x_free‖²`.
    speed: f64,
    /// Largest `|bias| / ‖g‖` of a row with a multiplier: the speed the row asks for.
    asked: f64,
}

impl Farkas {
    /// Adds rows with their multipliers; false if one may not have the multiplier it has.
    fn add(&mut self, combined: &mut [f64], columns: &Columns, y: &[f64], may: impl Fn(usize, f64) -> bool) -> bool {
        for (k, &y) in y.iter().enumerate().filter(|(_, y)| **y != 0.0) {
            if !may(k, y) {
                return false;
            }
            let (g, bias) = (columns.g.col(k), columns.bias[k]);
            axpy(y, g, combined);
            self.gain -= bias * y;
            self.terms += (bias * y).abs();
            let length = norm(g);
            if length > 0.0 {
                self.asked = self.asked.max(bias.abs() / length);
            }
        }
        true
    }

    fn least_speed(&self) -> f64 {
        if self.gain.is_nan() || self.gain <= FARKAS_GAIN * self.terms || self.gain <= 0.0 {
            return 0.0;
        }
        self.gain / self.rest.sqrt() / self.speed.sqrt().max(self.asked)
    }
}
