//! What a solve of a friction problem can come to.

use std::fmt;

use crate::friction_certificate::FrictionCertificate;
use crate::model::Mode;

/// The result of [`CoulombCone::solve_friction`](super::CoulombCone::solve_friction).
#[derive(Debug, Clone, PartialEq)]
pub enum FrictionOutcome {
    /// Solved, and certified.
    Solved(FrictionSolved),
    /// No certified answer was found.
    Failed(FrictionFailed),
}

impl FrictionOutcome {
    /// The solution, if there is one.
    pub fn solved(&self) -> Option<&FrictionSolved> {
        match self {
            Self::Solved(solved) => Some(solved),
            Self::Failed(_) => None,
        }
    }

    /// The certificate of the solution, or of the best impulses found.
    pub fn certificate(&self) -> &FrictionCertificate {
        match self {
            Self::Solved(solved) => &solved.certificate,
            Self::Failed(failed) => &failed.certificate,
        }
    }

    /// What was done to get here.
    pub fn stats(&self) -> &FrictionStats {
        match self {
            Self::Solved(solved) => &solved.stats,
            Self::Failed(failed) => &failed.stats,
        }
    }
}

/// A certified solution.
#[derive(Debug, Clone, PartialEq)]
pub struct FrictionSolved {
    /// Impulses, dim · contacts, per contact the normal first.
    pub r: Vec<f64>,
    /// Relative velocities `W r + q`, recomputed from the problem, dim · contacts.
    pub u: Vec<f64>,
    /// What each contact does; the start of the next solve of a similar problem.
    pub modes: Vec<Mode>,
    /// How well r solves the problem, from the problem and r alone.
    pub certificate: FrictionCertificate,
    /// What was done to get here.
    pub stats: FrictionStats,
}

/// A solve without a certified answer.
#[derive(Debug, Clone, PartialEq)]
pub struct FrictionFailed {
    /// Why.
    pub why: FailureReason,
    /// The best impulses found, dim · contacts. Not a solution.
    pub best_r: Vec<f64>,
    /// How far they are from one.
    pub certificate: FrictionCertificate,
    /// What was done to get here.
    pub stats: FrictionStats,
}

/// Why a solve failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureReason {
    /// The limit of iterations.
    Limit(usize),
    /// The best impulses are exact to rounding, contact by contact, but they are so large beside q that their rounding is above the tolerance.
    Rounding,
    /// Every start was tried; none came to impulses that pass the certificate.
    Uncertified,
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(n) => write!(f, "limit of {n} iterations reached"),
            Self::Rounding => f.write_str("the rounding of impulses this large beside q is above the tolerance"),
            Self::Uncertified => f.write_str("no start came to an answer that passes its certificate"),
        }
    }
}

/// What was done in a solve. The counts are deterministic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrictionStats {
    /// Linear systems solved to find the modes; 0 if the modes given as a start hold.
    pub iterations: usize,
    /// Starts that were tried.
    pub starts: usize,
    /// q is so small (max |q| < 1e-14) that it is likely the rounding of a problem at rest, and the answer an answer to noise.
    pub rounding_noise: bool,
}
