//! What a solve can come to. `z` cannot be reached unless it was certified.

use std::fmt;

use crate::basis::Basis;
use crate::certificate::Certificate;
use crate::solver::Options;

/// The result of a solve.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Solved, and certified.
    Solved(Solved),
    /// There is no solution, and here is the proof.
    Unsolvable(Unsolvable),
    /// The method ended on a ray. By itself this proves nothing.
    Ray(Ray),
    /// The method stopped without an answer.
    Stopped(Stopped),
}

impl Outcome {
    /// The solution, if there is one.
    pub fn solved(&self) -> Option<&Solved> {
        match self {
            Self::Solved(s) => Some(s),
            _ => None,
        }
    }

    /// `solved`, `unsolvable`, `ray` or `stopped`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Solved(_) => "solved",
            Self::Unsolvable(_) => "unsolvable",
            Self::Ray(_) => "ray",
            Self::Stopped(_) => "stopped",
        }
    }

    /// What was done to get here.
    pub fn stats(&self) -> &Stats {
        match self {
            Self::Solved(o) => &o.stats,
            Self::Unsolvable(o) => &o.stats,
            Self::Ray(o) => &o.stats,
            Self::Stopped(o) => &o.stats,
        }
    }

    /// The statistics, writable: for a solver that calls another.
    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        match self {
            Self::Solved(o) => &mut o.stats,
            Self::Unsolvable(o) => &mut o.stats,
            Self::Ray(o) => &mut o.stats,
            Self::Stopped(o) => &mut o.stats,
        }
    }
}

/// A certified solution.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// The solution, n.
    pub z: Vec<f64>,
    /// `M z + q`, recomputed from the problem, n.
    pub w: Vec<f64>,
    /// The basis z belongs to.
    pub basis: Basis,
    /// How well z solves the problem, from the problem and z alone.
    pub certificate: Certificate,
    /// Limited by double precision: rounding z alone may leave a residual above the tolerance.
    pub limited_by_precision: bool,
    /// What was done to get here.
    pub stats: Stats,
}

impl Solved {
    /// The solution z (n) with its w (n), basis and certificate, found with these options.
    pub fn new(
        z: Vec<f64>,
        w: Vec<f64>,
        basis: Basis,
        certificate: Certificate,
        options: &Options,
        stats: Stats,
    ) -> Self {
        let limited_by_precision = certificate.limited_by_precision(options.tolerance);
        Self { z, w, basis, certificate, limited_by_precision, stats }
    }
}

/// A proof that no solution exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsolvable {
    /// The proof.
    pub proof: Proof,
    /// What was done to get here.
    pub stats: Stats,
}

/// Why a problem has no solution.
#[derive(Debug, Clone, PartialEq)]
pub enum Proof {
    /// `y ≥ 0` with `Mᵀ y ≤ 0` and `qᵀ y < 0`: no `z ≥ 0` has `M z + q ≥ 0`. The three signs hold exactly for the
    /// numbers given, checked in rational arithmetic. (With bounds, y is the vector of the problem's standard form.)
    Farkas(Vec<f64>),
    /// A ray of a method that ends on one only where there is no solution, for matrices of this class; that M is
    /// of the class was verified.
    Ray {
        /// The direction in z, n.
        direction: Vec<f64>,
        /// The verified class.
        class: MatrixClass,
    },
    /// Every complementary basis was tried in exact arithmetic, and none has a solution.
    Enumeration {
        /// How many bases.
        bases: u64,
    },
}

impl Proof {
    /// True if the proof hangs on the rounding of the data: a Farkas vector whose `qᵀ y` is rounding beside its terms. The numbers as
    /// given have no solution then, but ones that differ in their last digits may, and a certified solution may exist.
    pub fn is_thin(&self, q: &[f64]) -> bool {
        /// Share of its terms below which qᵀy counts as rounding.
        const THIN_SHARE: f64 = 1e-9;
        let Proof::Farkas(y) = self else { return false };
        let terms = q.iter().zip(y).map(|(q, y)| q * y);
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size): (f64, f64), x| (sum + x, size + x.abs()));
        sum.abs() <= THIN_SHARE * size
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Farkas(_) => f.write_str("no z ≥ 0 has M z + q ≥ 0 (Farkas vector, checked exactly)"),
            Self::Ray { class, .. } => write!(f, "secondary ray of a {class} matrix"),
            Self::Enumeration { bases } => write!(f, "none of all {bases} complementary bases has a solution"),
        }
    }
}

/// Classes of matrices that a theorem speaks of, as far as they can be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixClass {
    /// Symmetric and positive definite.
    SymmetricPositiveDefinite,
    /// Symmetric and positive semidefinite.
    SymmetricPositiveSemidefinite,
    /// Positive definite, not symmetric.
    PositiveDefinite,
    /// Positive semidefinite, not symmetric: a monotone problem.
    PositiveSemidefinite,
    /// No negative entry, positive diagonal: strictly copositive.
    StrictlyCopositive,
    /// None of these was found to hold.
    Other,
}

impl fmt::Display for MatrixClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SymmetricPositiveDefinite => "symmetric positive definite",
            Self::SymmetricPositiveSemidefinite => "symmetric positive semidefinite",
            Self::PositiveDefinite => "positive definite",
            Self::PositiveSemidefinite => "positive semidefinite",
            Self::StrictlyCopositive => "strictly copositive",
            Self::Other => "general",
        })
    }
}

/// A ray the method ended on: the driving variable grew without a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Ray {
    /// The direction in z, n.
    pub direction: Vec<f64>,
    /// What the ray supports, in words.
    pub claim: String,
    /// What was done to get here.
    pub stats: Stats,
}

/// A solve that ended without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopped {
    /// Why.
    pub why: StopReason,
    /// The best iterate, n. Not a solution.
    pub z: Vec<f64>,
    /// How far z is from one.
    pub certificate: Certificate,
    /// What was done to get here.
    pub stats: Stats,
}

/// Why a solve stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReason {
    /// The limit on pivots or iterations.
    Limit(usize),
    /// The budget of floating-point operations.
    Budget(u64),
    /// The method came back to a basis it had been at.
    Cycle,
    /// The best answer does not pass the certificate.
    Uncertified,
    /// A pivot or factor was lost to rounding.
    Numerical(String),
    /// The method needs something this problem does not have.
    NotApplicable(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(n) => write!(f, "limit of {n} reached"),
            Self::Budget(flops) => write!(f, "budget of {:.1e} floating-point operations used up", *flops as f64),
            Self::Cycle => f.write_str("the method cycles on this problem"),
            Self::Uncertified => f.write_str("the answer does not pass its certificate"),
            Self::Numerical(what) => write!(f, "lost to rounding: {what}"),
            Self::NotApplicable(what) => write!(f, "not applicable: {what}"),
        }
    }
}

/// What a solver did. The counts are deterministic.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// Basis changes.
    pub pivots: usize,
    /// Iterations of an iterative method (interior point, Gauss–Seidel).
    pub iterations: usize,
    /// Factorizations made from scratch; the others were updates.
    pub refactorizations: usize,
    /// Floating-point operations, as far as they grow with the order of the problem.
    pub flops: u64,
    /// Starts over with another covering vector.
    pub restarts: usize,
    /// What was tried before, in order; the last entry is what gave the outcome. Empty unless several were tried.
    pub attempts: Vec<Attempt>,
    /// One line per pivot or iteration, if asked for.
    pub trace: Vec<TraceLine>,
}

/// One method that a solver tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The method.
    pub solver: &'static str,
    /// How it ended, in words.
    pub ended: String,
}

/// A variable of the pivoting methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// zᵢ.
    Z(usize),
    /// wᵢ.
    W(usize),
    /// The artificial variable z₀ of Lemke's method.
    Artificial,
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Z(i) => write!(f, "z{i}"),
            Self::W(i) => write!(f, "w{i}"),
            Self::Artificial => f.write_str("z₀"),
        }
    }
}

/// One pivot, or one iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceLine {
    /// The variable that became basic.
    pub entering: Option<Variable>,
    /// The variable that became nonbasic.
    pub leaving: Option<Variable>,
    /// The method's own measure of progress: z₀ for Lemke, the norm for NNLS, the gap for interior points.
    pub measure: f64,
}
