//! The search for the states: a few sweeps of Gauss–Seidel and steps of Newton's method on which
//! states change one by one, then the path of smooth laws and the states it indicates; where
//! contacts contradict each other, proximal steps, and the path again near the best point.

use super::super::law::{Block, State};
use super::branches::FREE_BODY;
use super::elements::{Elements, LawBeside};
use super::gauss_seidel::{GaussSeidel, into_disc};
use super::lanes::dot;
use super::newton::Newton;
use super::path::Path;
use super::pivoting::{End, Pivoting, count_changes};
use super::smooth_law::follow_slip;
use crate::mass::Mass;

/// Steps of the semismooth Newton method, each a factor.
const SEMISMOOTH_STEPS: usize = 3;
/// A step that leaves more of the residual than this ends them.
const SEMISMOOTH_DECREASE: f64 = 0.5;
/// The same for a robot and what it holds, an island of so many blocks: from a guess they find the states as a rule, however wrong it was and whatever
/// a step leaves, in less time than the sweeps take. Those of free bodies they do not.
const STEPS_OF_ROBOTS: usize = 6;
const BLOCKS_OF_ROBOTS: usize = 2;
/// Changes of states in a search by pivoting.
const MOST_PIVOTS: usize = 20;
/// It ends where more elements than this would change their states within a step: there the smooth
/// path takes less time.
const MOST_CHANGES: usize = 12;
/// Steps of it that may go by without half the least residual.
const PIVOTING_PATIENCE: usize = 4;
/// Proximal steps, how many of them may go by without a smaller residual, and their largest α.
const PROXIMAL_STEPS: usize = 400;
const PROXIMAL_PATIENCE: usize = 100;
const LARGEST_PROXIMAL_ALPHA: f64 = 0.5;
/// A proximal step that changes more states than this, and lets the residual grow by more than this, is taken again with a larger α.
const PROXIMAL_CHANGES: usize = 10;
const PROXIMAL_GROWTH: f64 = 2.0;
/// By how much α grows and falls.
const ALPHA_GROWTH: f64 = 10.0;
const ALPHA_DECREASE: f64 = 0.1;
/// How far inside the laws the path starts again near the best point, one time after the other.
const RESTARTS: [f64; 4] = [1e-3, 1e-5, 1e-2, 1e-4];
/// Error at the end of a run, beside what is wanted, that spares the next run.
const ACCEPTED_ERROR: f64 = 4.0;
/// Factors on given states, the most of them while each brings the error down to [`POLISH_DECREASE`], and steps with each while the residual falls to that.
const POLISH_FACTORS: usize = 2;
const MOST_POLISH_FACTORS: usize = 8;
const POLISH_REUSE: usize = 5;
const POLISH_DECREASE: f64 = 0.2;

/// Times that forces are pulled inside their cones.
const PULLS_INSIDE: usize = 6;

/// A run towards a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    /// Gauss–Seidel sweeps before it: where contacts of bodies are solved one after the other, and elsewhere; none for a start from no forces.
    sweeps: [usize; 2],
    /// How far inside the laws long steps start, and the path where these do not end. From no forces: beside the fastest motion.
    inside: [f64; 2],
}

/// The runs: near what some sweeps found, then near what more of them find; then from far inside, for forces that the sweeps underrate (large mass ratios).
const RUNS: [Run; 5] = [
    Run { sweeps: [30, 150], inside: [0.03, 0.3] },
    Run { sweeps: [300; 2], inside: [0.03, 0.3] },
    Run { sweeps: [0; 2], inside: [0.3, 0.3] },
    Run { sweeps: [1; 2], inside: [1.0, 1.0] },
    Run { sweeps: [1; 2], inside: [10.0, 10.0] },
];

/// Coefficients of friction that stand in for those without limit, one after the other: the smaller, the smaller the forces of redundant contacts.
const SUBSTITUTES: [f64; 5] = [1e4, 1e2, 1e10, 1e1, 1e3];

/// How a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    /// Predictor and corrector.
    Long,
    /// Along the path.
    Short,
}

impl Steps {
    /// The most of them on an island of so many elements. Near the end of the path states may change one by one.
    fn limit(self, elements: usize) -> usize {
        match self {
            Self::Long => 100,
            Self::Short => 400 + 2 * elements,
        }
    }

    /// Iterations in which τ is to halve, or the run has stalled; below `rounding_tau` rounding is the cause.
    fn patience(self, tau: f64, rounding_tau: f64) -> usize {
        match self {
            Self::Long if tau > rounding_tau => 10,
            Self::Long => 6,
            // The path may turn back many times.
            Self::Short => 60,
        }
    }
}

/// The guess that a search starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    /// Forces of an earlier solution.
    Forces,
    /// States alone.
    States,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The states given were right.
    Guessed,
    /// Others were.
    Searched,
    /// None were found; the best forces are left.
    Nothing,
}

/// Workspace of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    sweeps: GaussSeidel,
    pivoting: Pivoting,
    path: Path,
    best_v: Vec<f64>,
    best_p: Vec<[f64; 3]>,
    best_error: f64,
    point_v: Vec<f64>,
    point_p: Vec<[f64; 3]>,
    point_u: Vec<[f64; 3]>,
    point_momentum: Vec<f64>,
    free_v: Vec<f64>,
    swept_v: Vec<f64>,
    swept_p: Vec<[f64; 3]>,
    last: Vec<State>,
    tried: Vec<State>,
    tried_tau: f64,
    /// α of the last factor.
    alpha: f64,
}

impl Search {
    /// Forgets what was found.
    pub(super) fn reset(&mut self) {
        self.best_error = f64::INFINITY;
    }

    /// Solves the system of the states in `newton`. Where forces leave their cones though all contacts stick or are open, a redundant support may have room: pull them inside and solve for the
    /// least change again, with the same factor. True if the error comes down to `enough`.
    pub(super) fn try_given_states(&mut self, el: &Elements, newton: &mut Newton, enough: f64) -> bool {
        newton.finish(el);
        let mut error = self.offer(el, newton);
        for _ in 0..PULLS_INSIDE {
            if error <= enough || newton.states.contains(&State::Slide) || !newton.pull_inside(el) {
                break;
            }
            stiction_lcp::interrupt::check();
            newton.finish_again(el);
            let next = self.offer(el, newton);
            if next > enough && next > error {
                break;
            }
            error = next;
        }
        error <= enough
    }

    /// Searches for an error of `enough` at most, with at most `limit` factors; a problem without bodies has no mass. The answer, or the best found, is left in `newton`.
    pub(super) fn run(
        &mut self,
        el: &Elements,
        newton: &mut Newton,
        mass: Option<&Mass>,
        guess: Guess,
        enough: f64,
        limit: usize,
    ) -> Found {
        let tolerances = newton.tolerances;
        self.swept_p.clone_from(&newton.p);
        make_admissible(el, &mut self.swept_p);
        // From the guess first, unless its forces are far off: what a redundant set leaves open stays as it was, or even.
        let (near, alpha) = (self.best_error <= tolerances.guess_error, tolerances.semismooth_alpha);
        let from_guess = match is_robot(el) {
            true => self.semismooth_while(el, newton, alpha, STEPS_OF_ROBOTS, f64::INFINITY, enough),
            false if near || guess == Guess::States => self.semismooth(el, newton, alpha, enough),
            false => f64::INFINITY,
        };
        let found = from_guess <= enough || self.run_all(el, newton, mass, enough, limit);
        if self.best_error == f64::INFINITY {
            // Nothing could be measured: numbers overflowed.
            newton.set_free(el);
            return Found::Nothing;
        }
        if found && self.best_error > tolerances.rounding_error {
            // What is good enough is brought down to rounding, with the factor there is, else with one more.
            let alpha = self.alpha;
            for factors in 0..2 {
                newton.v.clone_from(&self.best_v);
                newton.p.clone_from(&self.best_p);
                newton.evaluate(el, false);
                if self.polish(el, newton, alpha, factors, tolerances.rounding_error) <= tolerances.refactored_error {
                    break;
                }
            }
        }
        newton.v.clone_from(&self.best_v);
        newton.p.clone_from(&self.best_p);
        // What is not as good as wanted may still be good enough for the certificate.
        if found || self.best_error <= tolerances.certified_error * enough { Found::Searched } else { Found::Nothing }
    }

    /// Runs of the path one after the other, with sweeps from the forces of the guess; true when an answer is good enough.
    fn run_all(&mut self, el: &Elements, newton: &mut Newton, mass: Option<&Mass>, enough: f64, limit: usize) -> bool {
        let tolerances = newton.tolerances;
        newton.set_free(el);
        self.free_v.clone_from(&newton.v);
        self.sweeps.load(el, mass);
        let size = |p: &[[f64; 3]]| p.iter().zip(&el.list).map(|(p, e)| e.weight * dot(p, p)).sum::<f64>().sqrt();
        let most = tolerances.guess_size * (dot(&newton.v, &newton.v) + dot(&el.v_before, &el.v_before)).sqrt();
        if size(&self.swept_p) <= most {
            newton.p.clone_from(&self.swept_p);
            self.sweeps.push(el, mass, newton);
        } else {
            self.swept_p.fill([0.0; 3]);
        }
        self.swept_v.clone_from(&newton.v);
        self.load_path(el, newton, SUBSTITUTES[0]);
        if !self.path.has_substitutes() {
            return RUNS.iter().any(|run| self.run_from(el, newton, mass, run, enough, limit));
        }
        // Long steps are quick, and one of the substitutes is often right.
        self.sweep(el, newton, mass, &RUNS[0], enough, limit)
            || SUBSTITUTES.iter().any(|substitute| {
                self.load_path(el, newton, *substitute);
                self.run_steps(el, newton, &RUNS[0], Steps::Long, enough, limit)
            })
            || RUNS.iter().any(|run| {
                SUBSTITUTES.iter().any(|substitute| {
                    self.load_path(el, newton, *substitute);
                    self.run_from(el, newton, mass, run, enough, limit)
                })
            })
    }

    /// Lays the path out with this coefficient in place of those without limit.
    fn load_path(&mut self, el: &Elements, newton: &mut Newton, substitute: f64) {
        newton.v.clone_from(&self.free_v);
        self.path.load(el, newton, substitute);
    }

    /// One run; true when an answer is good enough.
    fn run_from(
        &mut self,
        el: &Elements,
        newton: &mut Newton,
        mass: Option<&Mass>,
        run: &Run,
        enough: f64,
        limit: usize,
    ) -> bool {
        let tolerances = newton.tolerances;
        if newton.iterations >= limit {
            return false;
        }
        if self.sweep(el, newton, mass, run, enough, limit) {
            return true;
        }
        if !self.path.has_pairs() {
            return false;
        }
        if [Steps::Long, Steps::Short].into_iter().any(|steps| self.run_steps(el, newton, run, steps, enough, limit)) {
            return true;
        }
        if self.best_error <= tolerances.certified_error * enough && !self.is_acceptable(enough) {
            // The states are right, and what is left is the rounding of motions divided by α.
            self.keep_point(newton);
            newton.v.clone_from(&self.best_v);
            newton.p.clone_from(&self.best_p);
            self.semismooth(el, newton, tolerances.proximal_alpha, enough);
            self.take_point(newton);
        }
        if self.path.tau <= tolerances.proximal_tau {
            self.proximal(el, newton, enough, limit);
        }
        // The path, and steps that find which of the states contradict each other: from the best point each often ends what the other cannot.
        for inside in RESTARTS {
            if self.is_acceptable(enough) || self.best_error > tolerances.restart_error {
                break;
            }
            newton.v.clone_from(&self.best_v);
            newton.p.clone_from(&self.best_p);
            self.path.start_near(el, newton, inside);
            if self.follow_path(el, newton, Steps::Short, enough, limit) {
                return true;
            }
            self.proximal(el, newton, enough, limit);
        }
        self.is_acceptable(enough)
    }

    /// The sweeps of a run, and pivoting from there; true when an answer is good enough.
    fn sweep(
        &mut self,
        el: &Elements,
        newton: &mut Newton,
        mass: Option<&Mass>,
        run: &Run,
        enough: f64,
        limit: usize,
    ) -> bool {
        let dear = mass.is_some() && !el.is_at_acceleration && !self.sweeps.has_batches();
        let sweeps = run.sweeps[usize::from(!dear)];
        if sweeps == 0 {
            return false;
        }
        newton.v.clone_from(&self.swept_v);
        newton.p.clone_from(&self.swept_p);
        self.sweeps.sweep(el, mass, newton, sweeps);
        self.swept_v.clone_from(&newton.v);
        self.swept_p.clone_from(&newton.p);
        self.pivot(el, newton, enough, limit)
    }

    /// Newton's method, the states of a step changed one by one along it. It finds states of which
    /// few are wrong. Each step is a factor. True when an answer is good enough.
    fn pivot(&mut self, el: &Elements, newton: &mut Newton, enough: f64, limit: usize) -> bool {
        self.alpha = newton.tolerances.semismooth_alpha;
        let (mut left, mut slow, mut least) = (MOST_PIVOTS, 0, newton.evaluate(el, false));
        while slow <= PIVOTING_PATIENCE && newton.iterations < limit && newton.direction(el, self.alpha, true) {
            match if el.delassus.is_some() { 0 } else { count_changes(el, newton) } {
                0 => newton.move_by(1.0),
                count if count > MOST_CHANGES || left == 0 => break,
                _ if self.pivoting.follow(el, newton, self.alpha, &mut left) == End::Singular => break,
                _ => {}
            }
            let residual = newton.evaluate(el, false);
            if self.offer(el, newton) <= enough {
                return true;
            }
            slow += 1;
            if residual < 0.5 * least {
                (least, slow) = (residual, 0);
            }
        }
        false
    }

    /// Steps of one kind from the start of a run; true when an answer is good enough.
    fn run_steps(
        &mut self,
        el: &Elements,
        newton: &mut Newton,
        run: &Run,
        steps: Steps,
        enough: f64,
        limit: usize,
    ) -> bool {
        self.start(el, newton, run, run.inside[usize::from(steps == Steps::Short)]);
        self.follow_path(el, newton, steps, enough, limit)
    }

    /// True if the best error is as good as the certificate asks for, if not as good as wanted.
    fn is_acceptable(&self, enough: f64) -> bool {
        self.best_error <= ACCEPTED_ERROR * enough
    }

    /// Starts inside the laws, near what the sweeps found or from no forces.
    fn start(&mut self, el: &Elements, newton: &mut Newton, run: &Run, inside: f64) {
        if run.sweeps == [0; 2] {
            newton.v.clone_from(&self.free_v);
            newton.p.fill([0.0; 3]);
            self.path.start_cold(el, newton, inside);
        } else {
            newton.v.clone_from(&self.swept_v);
            newton.p.clone_from(&self.swept_p);
            self.path.start_near(el, newton, inside);
        }
    }

    /// A few steps of the semismooth Newton method; returns the best error.
    fn semismooth(&mut self, el: &Elements, newton: &mut Newton, alpha: f64, enough: f64) -> f64 {
        self.semismooth_while(el, newton, alpha, SEMISMOOTH_STEPS, SEMISMOOTH_DECREASE, enough)
    }

    /// At most `steps` of them, each a factor, while a step leaves at most this part of the residual.
    fn semismooth_while(
        &mut self,
        el: &Elements,
        newton: &mut Newton,
        alpha: f64,
        steps: usize,
        decrease: f64,
        enough: f64,
    ) -> f64 {
        self.alpha = alpha;
        let mut residual = newton.evaluate(el, false);
        for _ in 0..steps {
            stiction_lcp::interrupt::check();
            let before = residual;
            self.last.clone_from(&newton.states);
            for fresh in [true, false, false] {
                if !newton.direction(el, alpha, fresh) {
                    return self.best_error;
                }
                newton.move_by(1.0);
                residual = newton.evaluate(el, false);
                if self.offer(el, newton) <= enough {
                    return self.best_error;
                }
                if newton.states != self.last || newton.states.contains(&State::Slide) {
                    break;
                }
            }
            if residual > decrease * before {
                break;
            }
        }
        self.best_error
    }

    /// Proximal steps from the end of a path. Redundant contacts may contradict each other at the level of the tolerance: with states that do, every step
    /// leaves the same residual and moves the forces on by the same amount, until one of them reaches its bound. They are moved there at once.
    fn proximal(&mut self, el: &Elements, newton: &mut Newton, enough: f64, limit: usize) {
        let tolerances = newton.tolerances;
        self.path.drop_small_forces(newton);
        let mut alpha = tolerances.proximal_alpha;
        let mut residual = newton.evaluate(el, false);
        // The least residual, and when it was found.
        let mut least = (f64::INFINITY, 0);
        for k in 0..PROXIMAL_STEPS {
            stiction_lcp::interrupt::check();
            if residual < least.0 {
                least = (residual, k);
            }
            if self.is_acceptable(enough) || k - least.1 > PROXIMAL_PATIENCE || newton.iterations >= limit {
                return;
            }
            self.keep_point(newton);
            self.last.clone_from(&newton.states);
            if !newton.direction(el, alpha, true) {
                return;
            }
            newton.move_by(1.0);
            let mut next = newton.evaluate(el, false);
            self.offer(el, newton);
            let changes = newton.states.iter().zip(&self.last).filter(|(state, last)| state != last).count();
            if next > PROXIMAL_GROWTH * residual && changes > PROXIMAL_CHANGES && alpha < LARGEST_PROXIMAL_ALPHA {
                self.take_point(newton);
                newton.evaluate(el, false);
                alpha *= ALPHA_GROWTH;
                continue;
            }
            if changes == 0 {
                // Steps that fall in proportion, as those of soft motions do, end where their sum does.
                let sum = if next < residual { residual / (residual - next) } else { f64::INFINITY };
                let to_next = (1.0 + tolerances.past_state) * newton.steps_to_next_state(el);
                let (steps, walks) = (sum.min(to_next), next > SEMISMOOTH_DECREASE * residual);
                if walks && steps.is_finite() {
                    newton.move_by(steps);
                    next = newton.evaluate(el, false);
                    self.offer(el, newton);
                }
                if !walks || sum < to_next {
                    alpha = (ALPHA_DECREASE * alpha).max(tolerances.proximal_alpha);
                }
            }
            residual = next;
        }
    }

    /// Goes to the end, and solves the system of states that have settled; true when an answer is good enough.
    fn follow_path(&mut self, el: &Elements, newton: &mut Newton, steps: Steps, enough: f64, limit: usize) -> bool {
        let tolerances = newton.tolerances;
        if steps == Steps::Long {
            self.path.centre();
        }
        self.tried_tau = f64::INFINITY;
        self.last.clear();
        self.tried.clear();
        // τ that was last half of what it was before, and when.
        let mut halved = (self.path.tau, 0);
        for k in 0..steps.limit(el.list.len()) {
            stiction_lcp::interrupt::check();
            if self.path.tau < 0.5 * halved.0 {
                halved = (self.path.tau, k);
            } else if k - halved.1 >= steps.patience(self.path.tau, tolerances.rounding_tau) {
                // Long steps that friction stops are left for the path; what rounding stops goes on with a larger proximal term.
                let lost = steps == Steps::Long && self.path.tau > tolerances.rounding_tau;
                if lost || !self.path.grow_alpha() {
                    return false;
                }
                halved = (self.path.tau, k);
            }
            let stepped = newton.iterations < limit
                && match steps {
                    Steps::Long => self.path.long_step(el, newton),
                    Steps::Short => self.path.short_step(el, newton),
                };
            if !stepped {
                return false;
            }
            let tau = self.path.tau;
            if tau < tolerances.answer_tau && self.offer_point(el, newton) <= enough {
                // With forces exactly at their limits the next step has states to start from.
                newton.states.clone_from(&self.path.states);
                self.polish(el, newton, tolerances.polish_alpha, POLISH_FACTORS, tolerances.rounding_error);
                return true;
            }
            let same = self.last == self.path.states;
            self.last.clone_from(&self.path.states);
            if tau < tolerances.indicated_tau
                && same
                && (self.tried != self.last || tau <= tolerances.retried_tau * self.tried_tau)
            {
                self.tried.clone_from(&self.last);
                self.tried_tau = tau;
                self.keep_point(newton);
                if self.try_states(el, newton, enough) {
                    return true;
                }
                self.take_point(newton);
            }
            if self.path.is_at_end() {
                return false;
            }
        }
        false
    }

    /// The states indicated, and those beside them; true when an answer is good enough.
    fn try_states(&mut self, el: &Elements, newton: &mut Newton, enough: f64) -> bool {
        let tolerances = newton.tolerances;
        newton.states.clone_from(&self.path.states);
        // Close to the end a state that is wrong is wrong by little, and its law says so.
        self.polish(el, newton, tolerances.polish_alpha, POLISH_FACTORS, enough) <= enough
            || newton.error(el) <= tolerances.repaired_error
                && self.semismooth(el, newton, tolerances.polish_alpha, enough) <= enough
    }

    /// Newton's method on given states, at most `factors` factors; returns the best error.
    fn polish(&mut self, el: &Elements, newton: &mut Newton, alpha: f64, factors: usize, enough: f64) -> f64 {
        self.alpha = alpha;
        let mut residual = newton.evaluate(el, true);
        let (mut slow, mut used, mut error) = (0, 0, f64::INFINITY);
        loop {
            let (first, before) = (residual, error);
            for reuse in 0..POLISH_REUSE {
                stiction_lcp::interrupt::check();
                newton.keep_best();
                // Without factors, with the one there is.
                if !newton.direction(el, alpha, factors > 0 && reuse == 0) {
                    return self.best_error;
                }
                newton.move_by(1.0);
                let next = newton.evaluate(el, true);
                error = self.offer(el, newton).min(error);
                if error <= enough {
                    return self.best_error;
                }
                if reuse > 0 && next > residual {
                    // The way is curved, and the factor is that of another place.
                    newton.take_best();
                    newton.evaluate(el, true);
                    break;
                }
                let falls = next <= POLISH_DECREASE * residual;
                residual = next;
                if !falls {
                    break;
                }
            }
            used += 1;
            slow += usize::from(residual > 0.5 * first);
            let ends = residual.is_nan() || residual > 10.0 * first || slow > 1 || residual <= 1e-15 * newton.size(el);
            let nearer = error <= (POLISH_DECREASE * before).min(newton.tolerances.repaired_error);
            let more = factors > 0 && used < MOST_POLISH_FACTORS && nearer;
            if ends || used >= factors && !more {
                return self.best_error;
            }
        }
    }

    /// Measures the point of the path, its small normal forces left out; it stays where it is.
    fn offer_point(&mut self, el: &Elements, newton: &mut Newton) -> f64 {
        self.keep_point(newton);
        self.path.drop_small_forces(newton);
        newton.find_motions(el, false);
        self.offer(el, newton);
        self.take_point(newton);
        self.best_error
    }

    /// Remembers forces, velocities, motions and momentum.
    pub(super) fn keep_point(&mut self, newton: &Newton) {
        self.point_v.clone_from(&newton.v);
        self.point_p.clone_from(&newton.p);
        self.point_u.clone_from(&newton.u);
        self.point_momentum.clone_from(&newton.momentum);
    }

    /// Goes back to what was remembered.
    pub(super) fn take_point(&self, newton: &mut Newton) {
        newton.v.copy_from_slice(&self.point_v);
        newton.p.copy_from_slice(&self.point_p);
        newton.u.copy_from_slice(&self.point_u);
        newton.momentum.copy_from_slice(&self.point_momentum);
    }

    /// Goes back to the best forces and velocities, if their error is at most `enough`; false if it is not.
    pub(super) fn take_best(&self, newton: &mut Newton, enough: f64) -> bool {
        let within = self.best_error <= enough;
        if within {
            newton.v.copy_from_slice(&self.best_v);
            newton.p.copy_from_slice(&self.best_p);
        }
        within
    }

    /// Measures the forces and velocities, and keeps them if they are the best so far.
    pub(super) fn offer(&mut self, el: &Elements, newton: &mut Newton) -> f64 {
        let error = newton.error(el);
        if error < self.best_error {
            self.best_error = error;
            self.best_v.clone_from(&newton.v);
            self.best_p.clone_from(&newton.p);
        }
        error
    }
}

/// True of an island of a robot, and of what it holds.
fn is_robot(el: &Elements) -> bool {
    let is_free = |k: usize| el.block_range(k).len() == FREE_BODY;
    !el.delassus.is_some() && el.blocks.len() <= BLOCKS_OF_ROBOTS && !(0..el.blocks.len()).all(is_free)
}

/// Moves forces that rounding left outside their bounds back onto them.
fn make_admissible(el: &Elements, forces: &mut [[f64; 3]]) {
    let mut normal = 0.0;
    for (element, p) in el.list.iter().zip(forces) {
        let law = match element.law_beside(normal) {
            LawBeside::Block(law) => law,
            LawBeside::Disc(radius) => {
                [p[0], p[1]] = into_disc([p[0], p[1]], radius);
                continue;
            }
        };
        match law {
            Block::Coulomb { mu, .. } => {
                p[0] = p[0].max(0.0);
                let (length, radius) = ((p[1] * p[1] + p[2] * p[2]).sqrt(), mu * p[0]);
                if length > radius {
                    p[1] *= radius / length;
                    p[2] *= radius / length;
                }
            }
            Block::Signorini | Block::NoSlip { .. } => p[0] = p[0].max(0.0),
            Block::Slider { .. } => {
                p[0] = p[0].max(0.0);
                follow_slip(law, p);
            }
            Block::Bounded { lo, hi } => p[0] = p[0].max(lo).min(hi),
            Block::Free => {}
        }
        if !element.is_moment() {
            normal = p[0];
        }
    }
}
