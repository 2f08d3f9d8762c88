//! A basis: the combinatorial answer of a complementarity problem.

use std::fmt;
use std::str::FromStr;

use crate::error::InputError;

/// Where the pair (zᵢ, wᵢ) of a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Position {
    /// `z`: zᵢ is basic, wᵢ = 0. The only position of a free row.
    Basic,
    /// `w`: zᵢ is at its lower bound (0 in an LCP), wᵢ ≥ 0.
    Lower,
    /// `u`: zᵢ is at its upper bound, wᵢ ≤ 0.
    Upper,
}

/// One [`Position`] per row, printed as a word: `zwwz`.
///
/// It is what a solver returns beside the numbers, the warm start of the next solve, and what exact
/// arithmetic re-checks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Basis(Vec<Position>);

impl Basis {
    /// All rows at their lower bounds: z = 0 in an LCP.
    pub fn lower(n: usize) -> Self {
        Self(vec![Position::Lower; n])
    }

    /// Puts all of `n` rows at their lower bounds, keeping the storage.
    pub fn reset(&mut self, n: usize) {
        self.0.clear();
        self.0.resize(n, Position::Lower);
    }

    /// Becomes a copy of `other`, keeping the storage.
    pub fn copy_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }

    /// The basis with the given positions.
    pub fn new(positions: Vec<Position>) -> Self {
        Self(positions)
    }

    /// The basis of an LCP of order `n` in which exactly the rows `active` have zᵢ basic.
    pub fn from_active(n: usize, active: impl IntoIterator<Item = usize>) -> Self {
        let mut basis = Self::lower(n);
        for i in active {
            basis.0[i] = Position::Basic;
        }
        basis
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for the basis of the empty problem.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The position of row `i`.
    pub fn position(&self, i: usize) -> Position {
        self.0[i]
    }

    /// Moves row `i`.
    pub fn set(&mut self, i: usize, position: Position) {
        self.0[i] = position;
    }

    /// All positions, in row order.
    pub fn positions(&self) -> &[Position] {
        &self.0
    }

    /// The rows with zᵢ basic, ascending.
    pub fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, p)| **p == Position::Basic).map(|(i, _)| i)
    }

    /// Checks the length.
    ///
    /// # Errors
    /// `InputError::Basis` if this basis is not of order `n`.
    pub fn check_len(&self, n: usize) -> Result<(), InputError> {
        if self.len() == n {
            Ok(())
        } else {
            Err(InputError::Basis(format!("has {} letters, the problem has {n} rows", self.len())))
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for p in &self.0 {
            f.write_str(match p {
                Position::Basic => "z",
                Position::Lower => "w",
                Position::Upper => "u",
            })?;
        }
        Ok(())
    }
}

impl FromStr for Basis {
    type Err = InputError;

    fn from_str(word: &str) -> Result<Self, InputError> {
        let letter = |(i, c): (usize, char)| match c {
            'z' => Ok(Position::Basic),
            'w' => Ok(Position::Lower),
            'u' => Ok(Position::Upper),
            _ => Err(InputError::Basis(format!("letter {i} is '{c}'; only z, w and u have a meaning"))),
        };
        word.chars().enumerate().map(letter).collect::<Result<Vec<_>, _>>().map(Self)
    }
}
