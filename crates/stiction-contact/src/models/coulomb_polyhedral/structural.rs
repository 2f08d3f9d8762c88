//! Lloyd's *structural* method: Lemke's method on (8) without its matrix. A pivot solves one reduced system and walks once over the contacts:
//! O(n m + m³), and nothing is updated, so nothing drifts.
//!
//! Three things that the paper leaves open. z₀ leaves in every tie, and the path ends when z₀ is rounding. Among others that are tied the fastest
//! falling leaves, which is the soundest pivot; where the path stalls for long, one of them by lot. And a path that fails starts over with
//! another covering vector.
//!
//! Reference: [Lloyd04, §4, §5, Appendix A].

use stiction_lcp::generate::Rng;

use super::active::Active;
use super::cones::{Cones, NONE, Pair};
use super::lanes::product;
use super::ratio::{Candidate, Leaving};
use super::system::{Covering, Driving, Solution, System};

/// How a path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// At a complementary basis.
    Solved,
    /// The driving variable can grow for ever.
    Ray,
    /// Too many pivots.
    Limit,
    /// The basis became singular in working precision.
    Singular,
}

/// Refinements of the values at every pivot: none, as nothing drifts, and the last basis is solved with more care.
const REFINEMENTS: usize = 0;

/// Weights of c_σ and c_γ beside c_ν: directions that are well covered block late, a bound that hardly is lets friction be what it will be in the
/// end. A fifth fewer pivots than with equal weights on pegs and bowls, and no long detours.
const DIRECTIONS: f64 = 10.0;
const CAPS: f64 = 0.1;

/// The path of almost complementary bases. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    /// The basic z.
    pub active: Active,
    pub(super) system: System,
    pub(super) covering: Covering,
    /// Values of the reduced unknowns and of the motion, and their rates.
    pub(super) value: Solution,
    pub(super) rate: Solution,
    /// θ by normal, and its rates: zero where it is nonbasic.
    pub(super) theta: [Vec<f64>; 2],
    /// Σ φ by group over all directions but the pivot one, and its rates.
    pub(super) phi: [Vec<f64>; 2],
    /// The groups that are in the problem, and whether each is.
    pub(super) expanded: Vec<usize>,
    pub(super) is_expanded: Vec<bool>,
    /// The pair with neither variable basic.
    pub(super) out: Option<Pair>,
    /// How far the bodies have come along the path, and how far they may come before each ν can be zero, as far as is known.
    pub(super) travel: f64,
    pub(super) reach: Vec<f64>,
    pub(super) candidates: Vec<Candidate>,
    /// Pivots since the path last moved.
    pub(super) stalled: usize,
    pub(super) lots: Option<Rng>,
}

impl Path {
    /// Follows the path from z = 0: all groups at once, or with `reduced` as their normals come in. `start` numbers the covering vector.
    pub(super) fn follow(
        &mut self,
        cones: &Cones,
        reduced: bool,
        start: u64,
        max_pivots: usize,
        pivots: &mut usize,
    ) -> Ended {
        self.begin(cones, reduced, start);
        let Some(first) = self.most_negative(cones) else { return Ended::Solved };
        self.out = Some(first);
        let mut driving = Driving::Z(first);
        for _ in 0..max_pivots {
            stiction_lcp::interrupt::check();
            let Some(out) = self.out else { return Ended::Solved };
            if !self.system.set_almost(cones, &self.active, &self.covering, out) {
                return Ended::Singular;
            }
            self.find_values(cones);
            if self.z0() <= cones.tolerances.coulomb_polyhedral.rounding * self.value.size {
                return Ended::Solved;
            }
            self.expand(cones, driving);
            self.find_rates(cones, driving);
            let Some(leaving) = self.ratio_test(cones, driving) else { return Ended::Ray };
            *pivots += 1;
            match self.pivot(cones, driving, leaving) {
                Some(Step::Next(next)) => driving = next,
                Some(Step::Done) => return Ended::Solved,
                None => return Ended::Singular,
            }
        }
        Ended::Limit
    }

    fn begin(&mut self, cones: &Cones, reduced: bool, start: u64) {
        self.active.clear(cones);
        for parts in [&mut self.theta, &mut self.phi].into_iter().zip([cones.normals.len(), cones.groups.len()]) {
            for x in parts.0 {
                x.clear();
                x.resize(parts.1, 0.0);
            }
        }
        self.is_expanded.clear();
        self.is_expanded.extend(cones.groups.iter().map(|group| !reduced || group.normal == NONE));
        self.expanded.clear();
        self.expanded.extend((0..cones.groups.len()).filter(|&g| self.is_expanded[g]));
        self.travel = 0.0;
        self.reach.clear();
        self.reach.resize(cones.normals.len(), f64::NEG_INFINITY);
        self.stalled = 0;
        self.lots = None;
        self.out = None;
        self.cover(cones, start);
    }

    /// Random numbers in [½, 2), others for every start, times a weight for each kind. With equal ones the path passes every contact that lies
    /// between those that are met first and those that hold in the end, O(n) of them along a peg; at random few stand out, and ties are rare.
    fn cover(&mut self, cones: &Cones, start: u64) {
        let mut rng = Rng::new(start);
        let mut fill = |x: &mut Vec<f64>, len: usize, weight: f64| {
            x.clear();
            x.extend((0..len).map(|_| weight * (0.5 + 1.5 * rng.uniform())));
        };
        fill(&mut self.covering.normal, cones.normals.len(), 1.0);
        fill(&mut self.covering.direction, cones.groups.len(), DIRECTIONS);
        fill(&mut self.covering.cap, cones.groups.len(), CAPS);
    }

    /// Step 0: the row that asks for the largest z₀; `None` if none asks for any.
    fn most_negative(&self, cones: &Cones) -> Option<Pair> {
        let mut most = (0.0, None);
        let mut see = |needed: f64, pair: Pair| {
            if needed > most.0 {
                most = (needed, Some(pair));
            }
        };
        for (i, normal) in cones.normals.iter().enumerate() {
            see(-(product(cones.normal(i), &cones.k) + normal.offset) / self.covering.normal[i], Pair::Normal(i));
        }
        for &g in &self.expanded {
            let u = cones.slip(g, &cones.k, 1.0);
            for (j, d) in cones.directions(g).iter().enumerate() {
                see(-(d[0] * u[0] + d[1] * u[1]) / self.covering.direction[g], Pair::Direction(g, j));
            }
        }
        most.1
    }

    pub(super) fn z0(&self) -> f64 {
        self.value.y.last().copied().unwrap_or(0.0)
    }

    pub(super) fn z0_rate(&self) -> f64 {
        self.rate.y.last().copied().unwrap_or(0.0)
    }

    /// q′: the values of the basic variables. Reference: [Lloyd04, Eq. 19].
    fn find_values(&mut self, cones: &Cones) {
        self.system.solve_values(cones, &self.active, Some(&self.covering), REFINEMENTS, &mut self.value);
        self.spread(cones, 0);
    }

    /// m′: their rates as the driving variable grows. Reference: [Lloyd04, Eqs. 20, 21].
    fn find_rates(&mut self, cones: &Cones, driving: Driving) {
        self.system.solve_rates(cones, &self.active, &self.covering, driving, &mut self.rate);
        self.spread(cones, 1);
        match driving {
            Driving::Z(Pair::Normal(i)) => self.theta[1][i] = 1.0,
            Driving::Z(Pair::Direction(g, _)) => self.phi[1][g] += 1.0,
            _ => {}
        }
    }

    /// Puts the unknowns in the places of their normals and groups.
    fn spread(&mut self, cones: &Cones, which: usize) {
        let y = if which == 0 { &self.value.y } else { &self.rate.y };
        for (&i, y) in self.active.theta.iter().zip(y) {
            self.theta[which][i] = *y;
            // A group's sum starts from zero even where none of its directions is among the unknowns.
            let group = cones.normals[i].group;
            if group != NONE {
                self.phi[which][group] = 0.0;
            }
        }
        self.active.slides.iter().for_each(|&g| self.phi[which][g] = 0.0);
        self.active.kappa.iter().for_each(|&(g, _)| self.phi[which][g] = 0.0);
        for (&(g, _), y) in self.active.kappa.iter().zip(&y[self.active.theta.len()..]) {
            self.phi[which][g] += y;
        }
    }

    /// Exchanges the two variables; gives the next driving one, the complement of what left. `None` if the basis is lost.
    fn pivot(&mut self, cones: &Cones, driving: Driving, leaving: Leaving) -> Option<Step> {
        self.forget(driving);
        let left = match leaving {
            Leaving::Artificial => None,
            Leaving::Z(pair) => {
                self.forget(Driving::Z(pair));
                Some((pair, Driving::W(pair)))
            }
            Leaving::W(pair) => Some((pair, Driving::Z(pair))),
        };
        // A λ needs a basic φ at all times: first in, then out, but for a λ that leaves or enters.
        let enters = if let Driving::Z(pair) = driving { Some(pair) } else { None };
        let leaves = if let Leaving::Z(pair) = leaving { Some(pair) } else { None };
        let leaves_first = matches!(leaves, Some(Pair::Cap(_)));
        let mut sound = true;
        if let (true, Some(pair)) = (leaves_first, leaves) {
            sound &= self.active.leave(cones, pair);
        }
        if let Some(pair) = enters {
            sound &= self.active.enter(cones, pair);
        }
        if let (false, Some(pair)) = (leaves_first, leaves) {
            sound &= self.active.leave(cones, pair);
        }
        if !sound || self.active.order() > cones.dof + 1 {
            return None;
        }
        self.out = left.map(|(pair, _)| pair);
        Some(left.map_or(Step::Done, |(_, next)| Step::Next(next)))
    }

    /// Clears what was kept of a variable that is no longer basic, or driving.
    fn forget(&mut self, variable: Driving) {
        match variable {
            Driving::Z(Pair::Normal(i)) => (self.theta[0][i], self.theta[1][i]) = (0.0, 0.0),
            Driving::Z(Pair::Direction(g, _)) => (self.phi[0][g], self.phi[1][g]) = (0.0, 0.0),
            _ => {}
        }
    }
}

/// What follows a pivot.
enum Step {
    /// This variable grows next.
    Next(Driving),
    /// z₀ has left.
    Done,
}
