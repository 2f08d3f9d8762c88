//! Static and dynamic friction by the driving method.
//!
//! Contact forces at acceleration level, found one condition at a time: the force of a contact is changed until its conditions hold, while those of the
//! contacts before it are kept. A contact that slips has dynamic friction, the others static friction; [`BaraffLaw`] says what that is.
//!
//! It is not an optimization, and not a complementarity problem in the usual sense: friction is its own index set. Unlike `CoulombPyramid`
//! there are no facets; unlike `CoulombCone` the friction of a contact that starts to slide in space has the direction it had when it
//! reached the cone, and need only be partially opposed to the acceleration.
//!
//! Where this departs from the paper, and why:
//! * Normals are established first, all of them. The frame in each tangent plane is then turned against the acceleration there: the answer does not
//!   depend on how the user chose the tangents, and contacts that would slide together have the same direction.
//! * In space, when the acceleration of a sliding contact no longer opposes its friction u, it is clamped along u, and across u established later: the
//!   paper's C_F would need an acceleration of zero, which it does not have.
//! * Friction is suspended while the normal is in NC; back in C it slides against its acceleration. Fewer steps of no length.
//! * The driven index comes first in ties, and accelerations that change by no more than rounding do not change: on redundant contacts a
//!   spurious infinite step would appear otherwise.
//! * If one order of the conditions does not end well, others are tried; the paper leaves the order open.
//! * If none does, and no ray was found, a complementarity solver finds the place to drive on from.
//! * Bilateral rows are projected out first. Rows with bounded force have both bounds as index sets.
//! * The last clamped conditions are solved for again as one linear system, refined, and certified.
//!
//! Reference: [Baraff94, §4–6].

mod clamped;
mod drive;
mod fallback;
mod impact;
mod maxstep;
mod polish;
mod sets;
mod system;
mod transitions;
mod violation;
mod warm;

use stiction_lcp::matrix::norm;
use stiction_lcp::{Basis, InputError, Options, tolerances};

use crate::by_island::{ByIsland, Guess, IslandEnd, IslandForces};
use crate::certificate::MOTION_TOLERANCE;
use crate::certificate::baraff::BaraffLaw;
use crate::islands::Islands;
use crate::model::{ContactModel, ContactOutcome, ContactStats, Level, ModelOptions, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::unsupported::{Values, refuse};
use crate::problem::ContactProblem;
use crate::whitened::Whitened;
use drive::{Driver, Halt};
use system::FrictionKind;
use violation::Order;

pub use impact::Impact;

/// The orders tried, one after the other, and their names.
const ORDERS: [(Order, &str); 5] = [
    (Order::Worst, "worst first"),
    (Order::First, "contact by contact"),
    (Order::Last, "from the last contact"),
    (Order::Shuffled(1), "shuffled"),
    (Order::Shuffled(2), "shuffled again"),
];

tolerances! {
    /// Tolerances of the driving method with friction. All are relative to the terms of the sum they are compared with.
    Tolerances {
        /// A condition is violated if its acceleration has the wrong sign, or is not zero, by more than this: some thousand roundings. Less drives
        /// rounding, more leaves it to the certificate.
        violated = 1e-12,
        /// A change of acceleration is rounding if it is at most this. More takes rows for dependent that are not, less follows rounding to
        /// infinity.
        no_change = 1e-12,
        /// A row whose acceleration cannot be changed is satisfied if that is at most this.
        dependent_row = 1e-11,
        /// A step is one of no length if it changes no motion by more than this.
        no_length = 1e-13,
        /// A clamped acceleration that changes by more than this says that the updated factor has lost its way. Less factors anew more often.
        drift = 1e-13,
        /// A force is rounding if it changes the motion by at most this.
        noise_force = 1e-14,
        /// Multipliers prove that no motion satisfies the rows only if they move nothing: at most this. The proof itself is checked from the problem.
        no_motion = 1e-8,
        /// A force of friction that a complementarity solver found stands on its cone if it is within this of it.
        on_cone = 1e-9,
        /// Directions of sliding are the same if one minus their product is at most this. It tells which letters a start has.
        same_direction = 1e-9,
    }
}

/// The model. See the [module](self).
#[derive(Debug, Clone, Default)]
pub struct BaraffFriction {
    options: ModelOptions,
    by_island: ByIsland,
    solver: IslandSolver,
}

impl BaraffFriction {
    /// A model with these options; `max_pivots` bounds the steps per island, by default 30 (rows + contacts + 10) for each of five orders.
    pub fn new(options: ModelOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

impl ContactModel for BaraffFriction {
    fn kind(&self) -> ModelKind {
        ModelKind::BaraffFriction
    }

    fn level(&self) -> Level {
        Level::Acceleration
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        check(problem)?;
        let law = BaraffLaw { level: Level::Acceleration };
        self.solver.begin(problem, Level::Acceleration, &self.options);
        let solver = &mut self.solver;
        self.by_island.solve(problem, &law, &self.options, start, |island, guess, forces, stats| {
            Ok(solver.solve(island, guess, forces, stats))
        })
    }
}

/// Refuses what the law has no place for.
fn check(problem: &ContactProblem) -> Result<(), InputError> {
    let c = problem.contacts();
    let why = ", and its law has no place for that";
    let refused = [
        ("mu", c.mu.as_slice(), Values::Infinite, why),
        ("mu_spin", &c.mu_spin, Values::NotZero, why),
        ("mu_roll", &c.mu_roll, Values::NotZero, why),
        ("mu_viscous", &c.mu_viscous, Values::NotZero, why),
    ];
    refuse(ModelKind::BaraffFriction, &refused)
}

/// Solves islands one after the other.
#[derive(Debug, Clone, Default)]
struct IslandSolver {
    islands: Islands,
    /// The number of the island that is being solved.
    number: usize,
    /// How each contact of the problem kind.
    friction_kind: Vec<FrictionKind>,
    max_steps: Option<usize>,
    driver: Driver,
}

impl IslandSolver {
    fn begin(&mut self, problem: &ContactProblem, level: Level, options: &ModelOptions) {
        self.islands.find(problem);
        self.max_steps = options.max_pivots;
        self.driver.tolerances = options.tolerances.baraff_friction;
        self.driver.system.dependence = options.tolerances.find_indices;
        self.driver.system.noise_force = options.tolerances.baraff_friction.noise_force;
        self.friction_kind.clear();
        let friction_kind =
            |i| if level == Level::Acceleration { friction_kind(problem, i) } else { FrictionKind::Static };
        self.friction_kind.extend((0..problem.contacts().len()).map(friction_kind));
    }

    fn load(&mut self, island: &Whitened) {
        let contacts = &self.islands.list()[self.number].contacts;
        let friction_kind = &self.friction_kind;
        self.driver.system.load(island, |i| friction_kind[contacts[i]]);
    }

    /// An island, from the guess if there is one.
    fn solve(
        &mut self,
        island: &Whitened,
        guess: Guess<'_>,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
    ) -> IslandEnd {
        self.number = guess.island;
        self.load(island);
        stats.inconsistency = stats.inconsistency.max(self.driver.system.inconsistency());
        if guess.basis.is_some_and(|basis| self.start_from(basis, guess.forces, stats)) {
            self.solved(island, forces)
        } else {
            self.compute_forces(island, forces, stats)
        }
    }

    /// True if the conditions hold, or could be established, from the sets of an earlier solution.
    fn start_from(&mut self, basis: &Basis, earlier: Option<&IslandForces>, stats: &mut ContactStats) -> bool {
        let driver = &mut self.driver;
        driver.max_steps = self.max_steps.unwrap_or(driver.default_steps());
        if !driver.start_from(basis, earlier) {
            return false;
        }
        driver.repair();
        let established = driver.establish(Order::Worst).is_ok();
        stats.pivots += driver.steps;
        stats.guessed += usize::from(established && driver.steps == 0);
        driver.drop_noise();
        established
    }

    fn solved(&mut self, island: &Whitened, forces: &mut IslandForces) -> IslandEnd {
        let driver = &mut self.driver;
        driver.system.recover(island, &driver.f, &driver.f_friction, &driver.x, forces);
        forces.basis = driver.basis();
        IslandEnd::Solved
    }

    /// `compute-forces` of the paper on one island, in one order after the other.
    fn compute_forces(&mut self, island: &Whitened, forces: &mut IslandForces, stats: &mut ContactStats) -> IslandEnd {
        let mut first = None;
        let mut left = self.max_steps;
        for (place, (order, name)) in ORDERS.into_iter().enumerate() {
            self.driver.max_steps = left.unwrap_or(self.driver.default_steps());
            let end = self.attempt(order);
            stats.pivots += self.driver.steps;
            match end {
                Ok(()) => {
                    stats.answered_by(place, name);
                    return self.solved(island, forces);
                }
                Err(halt) if first.is_none() => first = Some(self.halted(halt, island, forces)),
                Err(_) => {}
            }
            left = left.map(|left| left.saturating_sub(self.driver.steps));
            if left == Some(0) {
                break;
            }
        }
        let first = first.unwrap_or(IslandEnd::Failed { why: "no step allowed".into() });
        if self.max_steps.is_some() { first } else { self.beyond_driving(island, forces, stats, first) }
    }

    /// No order ended well, the first as given: a proof that there is nothing to find, or a last try.
    fn beyond_driving(
        &mut self,
        island: &Whitened,
        forces: &mut IslandForces,
        stats: &mut ContactStats,
        first: IslandEnd,
    ) -> IslandEnd {
        if self.is_infeasible() {
            let driver = &mut self.driver;
            driver.system.recover_direction(island, &driver.df, &driver.df_friction, &driver.dx, forces);
            return IslandEnd::Infeasible;
        }
        self.load(island);
        if !matches!(first, IslandEnd::Ray { .. }) && self.fall_back() {
            stats.fallbacks += 1;
            stats.answered_by(ORDERS.len(), "complementarity problem");
            return self.solved(island, forces);
        }
        first
    }

    /// True if the conditions hold from a start that a complementarity solver found.
    fn fall_back(&mut self) -> bool {
        let driver = &mut self.driver;
        driver.steps = 0;
        driver.max_steps = driver.default_steps();
        if !driver.start_from_lcp(&Options::default()) || driver.establish(Order::Worst).is_err() {
            return false;
        }
        driver.drop_noise();
        true
    }

    /// True if no motion satisfies the rows even without friction: then the driven forces are Farkas multipliers.
    fn is_infeasible(&mut self) -> bool {
        self.driver.system.friction_kind.fill(FrictionKind::Smooth);
        self.driver.max_steps = self.driver.default_steps();
        let unbounded = self.attempt(Order::Worst) == Err(Halt::Unbounded);
        unbounded && norm(&self.driver.dx) <= self.driver.tolerances.no_motion * norm(&self.driver.dsize)
    }

    /// Establishes one condition after the other in this order, until all hold.
    fn attempt(&mut self, order: Order) -> Result<(), Halt> {
        let driver = &mut self.driver;
        driver.steps = 0;
        driver.reset();
        driver.establish_normals(order)?;
        driver.turn_frames();
        driver.establish(order)?;
        driver.drop_noise();
        Ok(())
    }

    /// What an attempt that was not brought to its end comes to.
    fn halted(&mut self, halt: Halt, island: &Whitened, forces: &mut IslandForces) -> IslandEnd {
        let driver = &mut self.driver;
        let slips =
            |c: usize| matches!(driver.system.friction_kind[c], FrictionKind::Dynamic(_)) && driver.df[c] != 0.0;
        if halt == Halt::Unbounded && (0..driver.system.contacts).any(slips) {
            driver.system.recover_direction(island, &driver.df, &driver.df_friction, &driver.dx, forces);
            let claim = "forces along this direction grow without meeting the conditions of dynamic friction: the direction of an \
                         impulse. It does not prove that there is no solution";
            return IslandEnd::Ray { claim: claim.into() };
        }
        driver.system.recover(island, &driver.f, &driver.f_friction, &driver.x, forces);
        let why = match halt {
            Halt::Unbounded => {
                "an infinite step without dynamic friction: lost to rounding, or what the rows ask for jams".into()
            }
            Halt::Limit(limit) => format!("no end after {limit} steps"),
            Halt::Numerical(what) => format!("lost to rounding: {what}"),
        };
        IslandEnd::Failed { why }
    }
}

/// Whether contact `i` slips, and where its friction then points.
fn friction_kind(problem: &ContactProblem, i: usize) -> FrictionKind {
    let contacts = problem.contacts();
    let rows = [&contacts.tangent_s, &contacts.tangent_t];
    let slip = [0, 1].map(|k| contacts.surface[i][k] + rows[k].dot(i, problem.v()));
    let terms = [0, 1].map(|k| {
        let row = |(b, x): (usize, &[f64])| {
            x.iter().zip(&problem.v()[problem.layout().range(b)]).map(|(x, v)| (x * v).abs()).sum::<f64>()
        };
        contacts.surface[i][k].abs() + rows[k].row(i).map(row).sum::<f64>()
    });
    let speed = norm(&slip);
    if speed > MOTION_TOLERANCE * norm(&terms) {
        FrictionKind::Dynamic(slip.map(|x| -x / speed))
    } else {
        FrictionKind::Static
    }
}
