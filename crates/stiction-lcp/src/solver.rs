//! The one trait of all solvers, and their common options.

use crate::basis::Basis;
use crate::error::InputError;
use crate::outcome::Outcome;
use crate::problem::ProblemRef;
use crate::tolerances::Tolerances;
use crate::work::default_flops;

/// A method for complementarity problems. It owns its workspace, so keep one and use it again, in any thread.
pub trait Solver: Send {
    /// The method's name in kebab case.
    fn name(&self) -> &'static str;

    /// Solves `problem`, starting from a basis if one is given. Re-solving from the basis of a solution takes no pivot.
    ///
    /// # Errors
    /// `InputError` if the method does not take problems of this kind, or the basis does not fit.
    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError>;

    /// Solves `problem`.
    ///
    /// # Errors
    /// `InputError` if the method does not take problems of this kind.
    fn solve<'p>(&mut self, problem: impl Into<ProblemRef<'p>>) -> Result<Outcome, InputError>
    where
        Self: Sized,
    {
        self.solve_from(problem.into(), None)
    }
}

/// The tolerance of certificates unless the options say otherwise.
pub const DEFAULT_TOLERANCE: f64 = 1e-10;

/// Options that all solvers have.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A solution is certified if its backward error is at most this, and its residual too or at most the limit that double
    /// precision sets: see [`Certificate::holds`](crate::Certificate::holds). Dimensionless, in (0, 1); default 1e-10.
    pub tolerance: f64,
    /// Most pivots (or iterations) before the solver stops; `None` leaves it to the method. Default `None`.
    pub max_pivots: Option<usize>,
    /// Most floating-point operations before the solver stops, over everything it tries; `None` for
    /// 2·10¹⁰ or 20 n³, whichever is more. Default `None`.
    pub max_flops: Option<u64>,
    /// Keep one [`TraceLine`](crate::outcome::TraceLine) per pivot. Default false.
    pub trace: bool,
    /// Tolerances of the methods' own decisions; none of them decides what is certified.
    pub tolerances: Tolerances,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: DEFAULT_TOLERANCE,
            max_pivots: None,
            max_flops: None,
            trace: false,
            tolerances: Tolerances::default(),
        }
    }
}

impl Options {
    /// The floating-point operations that a solve of order `n` may take.
    pub(crate) fn flops_allowed(&self, n: usize) -> u64 {
        self.max_flops.unwrap_or_else(|| default_flops(n))
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// `InputError::Option` naming the first option out of range.
    pub fn check(&self) -> Result<(), InputError> {
        if self.tolerance > 0.0 && self.tolerance < 1.0 {
            Ok(())
        } else {
            let reason = format!("must be above 0 and below 1, found {}", self.tolerance);
            Err(InputError::Option { name: "tolerance", reason })
        }
    }
}
