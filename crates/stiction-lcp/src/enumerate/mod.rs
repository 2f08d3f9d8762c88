//! Enumeration of all complementary bases: the oracle for small problems.
//!
//! Every solution of a complementarity problem belongs to a basis, one of 2ⁿ for an LCP, so trying them all finds a
//! solution or proves that there is none. A basis is excluded by a rigorous bound in f64s or decided in exact
//! arithmetic. Singular bases are decided too: their solutions, if any, form a polyhedron, of which one point is found by exact
//! linear programming. Reference: [CPS09, §1.3].

mod cone;
mod filter;

use std::collections::BTreeSet;

use crate::basis::{Basis, Position};
use crate::certificate::{Certificate, certify_to};
use crate::error::InputError;
use crate::exact::Integers;
use crate::finish::{Finish, outcome_of, stopped_at};
use crate::outcome::{Outcome, Proof, Stats, StopReason, Unsolvable};
use crate::problem::ProblemRef;
use crate::solver::{Options, Solver};
use crate::work;
use cone::ConePoint;
use filter::Filter;

/// Tries all complementary bases of a small problem of any kind.
///
/// The bases come in the order of a counter whose fastest digit is row 0, each row going through lower bound, basic, upper
/// bound: an LCP begins with z = 0, then z₀ alone basic. `solve` returns the first solution that there is exactly. If there is none, but a
/// basis has a z that passes the certificate (as where data was rounded), that is returned; else `Unsolvable` with [`Proof::Enumeration`].
#[derive(Debug, Clone)]
pub struct Enumerate {
    options: Options,
    max_order: usize,
    finish: Finish,
}

/// One solution, exact up to the rounding of its entries.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumeratedSolution {
    /// The exact z, each entry rounded to the nearest f64, n.
    pub z: Vec<f64>,
    /// `M z + q`, recomputed from the problem, n.
    pub w: Vec<f64>,
    /// The first basis it was found at.
    pub basis: Basis,
    /// True if that basis is singular.
    pub singular: bool,
    /// How well the rounded z solves the problem.
    pub certificate: Certificate,
}

/// All solutions of a problem.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Solutions {
    /// The different solutions in the order of their bases: the only one of each basis that is not singular, and one of each
    /// singular basis that has any.
    pub solutions: Vec<EnumeratedSolution>,
    /// The singular bases with solutions. Each may hold infinitely many; if there is none, `solutions` is complete.
    pub singular: Vec<Basis>,
    /// How many bases there are.
    pub bases: u64,
}

/// Default of [`Enumerate::with_max_order`].
const MAX_ORDER: usize = 20;
/// Beyond this the bases cannot be counted.
const COUNTABLE_ORDER: usize = 62;

impl Enumerate {
    /// The solver, for up to 2²⁰ bases.
    pub fn new(options: Options) -> Self {
        Self { options, max_order: MAX_ORDER, finish: Finish::default() }
    }

    /// The same for problems with up to 2^`max_order` bases: LCPs up to that order. Default 20.
    pub fn with_max_order(mut self, max_order: usize) -> Self {
        self.max_order = max_order;
        self
    }

    /// Stops after this many floating-point operations from now on.
    pub(crate) fn limit_flops(&mut self, max_flops: u64) {
        self.options.max_flops = Some(max_flops);
    }

    /// Every solution of the problem, certified or not.
    ///
    /// # Errors
    /// `InputError::Unsupported` if there are more than 2^`max_order` bases, `InputError::Option` for a bad option.
    pub fn all_solutions<'p>(&mut self, problem: impl Into<ProblemRef<'p>>) -> Result<Solutions, InputError> {
        let problem = problem.into();
        let mut bases = self.bases(problem)?;
        let mut search = Search::new(problem);
        let mut found = Solutions { bases: bases.count, ..Solutions::default() };
        let mut seen = BTreeSet::new();
        while let Some(basis) = bases.next() {
            crate::interrupt::check();
            if let Some((z, singular)) = search.solution(basis) {
                if singular {
                    found.singular.push(basis.clone());
                }
                if seen.insert(z.iter().map(|x| x.to_bits()).collect::<Vec<_>>()) {
                    let mut w = vec![0.0; z.len()];
                    let certificate = certify_to(problem, &z, &mut w, 0.0);
                    found.solutions.push(EnumeratedSolution { z, w, basis: basis.clone(), singular, certificate });
                }
            }
        }
        Ok(found)
    }

    fn bases(&self, problem: ProblemRef<'_>) -> Result<Bases, InputError> {
        self.options.check()?;
        let bases = Bases::new(problem);
        let most = self.max_order.min(COUNTABLE_ORDER);
        match bases.count {
            count if count <= 1 << most => Ok(bases),
            _ => {
                let reason = format!("it has more than 2^{most} bases; enumeration is for small problems");
                Err(InputError::Unsupported { solver: "enumerate", reason })
            }
        }
    }

    /// The first z of a basis that passes the certificate though it is not exact.
    fn nearly(&mut self, problem: ProblemRef<'_>, stats: &Stats) -> Option<Outcome> {
        let mut bases = Bases::new(problem);
        let mut stats = stats.clone();
        while let Some(basis) = bases.next() {
            crate::interrupt::check();
            stats.flops += Finish::flops(problem.n(), basis.active().count());
            if stats.flops > self.options.flops_allowed(problem.n()) {
                return None;
            }
            if let Some(z) = self.finish.solution(problem, basis, &self.options) {
                let basis = at_bounds(problem, basis, &z);
                let outcome = outcome_of(problem, z, basis, &self.options, stats.clone());
                if outcome.solved().is_some() {
                    return Some(outcome);
                }
            }
        }
        None
    }
}

impl Solver for Enumerate {
    fn name(&self) -> &'static str {
        "enumerate"
    }

    /// Looks at `start` first, then at all bases. `Stats::iterations` counts the bases looked at.
    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        let mut bases = self.bases(problem)?;
        let mut search = Search::new(problem);
        let mut stats = Stats::default();
        let mut uncertified = None;
        if let Some(start) = start {
            start.check_len(problem.n())?;
        }
        let mut next = start.filter(|s| bases.contain(s)).cloned().or_else(|| bases.next().cloned());
        let allowed = self.options.flops_allowed(problem.n());
        while let Some(basis) = next {
            crate::interrupt::check();
            stats.iterations += 1;
            stats.flops += basis_flops(&basis);
            if stats.flops > allowed {
                let why = StopReason::Budget(allowed);
                let z = (0..problem.n()).map(|i| problem.bound(i)).map(|(lo, hi)| 0f64.clamp(lo, hi)).collect();
                return Ok(uncertified.unwrap_or_else(|| Outcome::Stopped(stopped_at(problem, z, why, stats))));
            }
            let found = search.solution(&basis);
            stats.flops += std::mem::take(&mut search.exact_flops);
            if let Some((z, _)) = found {
                match outcome_of(problem, z, basis, &self.options, stats.clone()) {
                    solved @ Outcome::Solved(_) => return Ok(solved),
                    other => uncertified = uncertified.or(Some(other)),
                }
            }
            next = bases.next().cloned();
        }
        if let Some(outcome) = self.nearly(problem, &stats).or(uncertified) {
            return Ok(outcome);
        }
        Ok(Outcome::Unsolvable(Unsolvable { proof: Proof::Enumeration { bases: bases.count }, stats }))
    }
}

/// Rows whose z came to stand at a bound are not basic.
fn at_bounds(problem: ProblemRef<'_>, basis: &Basis, z: &[f64]) -> Basis {
    let mut basis = basis.clone();
    for (i, &z) in z.iter().enumerate() {
        let (lo, hi) = problem.bound(i);
        if z == lo {
            basis.set(i, Position::Lower);
        } else if z == hi {
            basis.set(i, Position::Upper);
        }
    }
    basis
}

/// Machine words that an entry gains per row eliminated: a f64 has 53 bits.
const WORDS_PER_ROW: u64 = 1;

/// The work of excluding a basis by bounds in f64s.
fn basis_flops(basis: &Basis) -> u64 {
    let k = basis.active().count();
    4 * work::factorization(k) + work::product(basis.len(), 4 * k)
}

/// A problem prepared for the decision of its bases.
struct Search {
    integers: Integers,
    filter: Filter,
    /// The work of exact decisions since it was last taken.
    exact_flops: u64,
}

impl Search {
    fn new(problem: ProblemRef<'_>) -> Self {
        let integers = Integers::new(problem);
        let filter = Filter::new(&integers);
        Self { integers, filter, exact_flops: 0 }
    }

    /// A solution of a basis, rounded, and whether the basis is singular.
    fn solution(&mut self, basis: &Basis) -> Option<(Vec<f64>, bool)> {
        if self.filter.excludes(basis) {
            return None;
        }
        // Fraction-free elimination: every entry grows by a word or so per row.
        let words = (basis.active().count() as u64 + 1) * WORDS_PER_ROW;
        self.exact_flops += (basis.len() as u64).pow(3) * words * words;
        let ConePoint { z, denominator, singular } = cone::decide(&self.integers, basis)?;
        let z = z.iter().enumerate().map(|(j, x)| self.integers.z(j, x, &denominator).to_f64()).collect();
        Some((z, singular))
    }
}

/// A counter over all bases of a problem.
struct Bases {
    positions: Vec<Vec<Position>>,
    digits: Vec<usize>,
    basis: Basis,
    /// How many there are; `u64::MAX` if that is too many to count.
    count: u64,
    started: bool,
}

impl Bases {
    fn new(problem: ProblemRef<'_>) -> Self {
        let positions: Vec<Vec<Position>> = (0..problem.n()).map(|i| positions_of(problem.bound(i))).collect();
        let count = positions.iter().try_fold(1u64, |count, p| count.checked_mul(p.len() as u64)).unwrap_or(u64::MAX);
        let basis = Basis::new(positions.iter().map(|p| p[0]).collect());
        Self { digits: vec![0; positions.len()], positions, basis, count, started: false }
    }

    /// The next basis, or `None` after the last.
    fn next(&mut self) -> Option<&Basis> {
        if !std::mem::replace(&mut self.started, true) {
            return Some(&self.basis);
        }
        for i in 0..self.digits.len() {
            self.digits[i] = (self.digits[i] + 1) % self.positions[i].len();
            self.basis.set(i, self.positions[i][self.digits[i]]);
            if self.digits[i] > 0 {
                return Some(&self.basis);
            }
        }
        None
    }

    fn contain(&self, basis: &Basis) -> bool {
        basis.positions().iter().zip(&self.positions).all(|(p, allowed)| allowed.contains(p))
    }
}

/// The positions a row with these bounds can have.
fn positions_of((lo, hi): (f64, f64)) -> Vec<Position> {
    if lo == hi {
        return vec![Position::Lower];
    }
    let lower = lo.is_finite().then_some(Position::Lower);
    let upper = hi.is_finite().then_some(Position::Upper);
    lower.into_iter().chain([Position::Basic]).chain(upper).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Class, Rng, random};
    use crate::matrix::Matrix;
    use crate::problem::{BoxLcp, Lcp};

    /// What the filter excludes must be excluded exactly. Gives how many it excludes and how many there are.
    fn compare(problem: ProblemRef<'_>) -> (u64, u64) {
        let mut search = Search::new(problem);
        let mut bases = Bases::new(problem);
        let mut excluded = 0;
        while let Some(basis) = bases.next() {
            if search.filter.excludes(basis) {
                assert!(cone::decide(&search.integers, basis).is_none(), "{basis} of {problem:?}");
                excluded += 1;
            }
        }
        (excluded, bases.count)
    }

    #[test]
    fn the_filter_excludes_nothing_that_has_a_solution() {
        let (mut excluded, mut count) = (0, 0);
        for class in Class::ALL {
            for seed in 0..60 {
                let p = random(class, 1 + seed as usize % 7, seed).unwrap();
                if p.n() <= 8 {
                    let (some, all) = compare((&p).into());
                    (excluded, count) = (excluded + some, count + all);
                }
            }
        }
        assert!(2 * excluded > count, "{excluded} of {count}");
    }

    /// Solutions planted at every basis of matrices that are nearly singular: z or w is zero in truth, and rounding decides.
    #[test]
    fn the_filter_knows_its_errors() {
        let mut rng = Rng::new(8);
        for trial in 0..200 {
            let n = 2 + trial % 4;
            let shift = rng.uniform();
            let hilbert = Matrix::from_fn(n, n, |i, j| 1.0 / (1.0 + shift + (i + j) as f64));
            let z: Vec<f64> = (0..n).map(|_| if rng.chance(0.5) { rng.uniform() } else { 0.0 }).collect();
            let mut q = vec![0.0; n];
            hilbert.mul_into(&z, &mut q);
            q.iter_mut().for_each(|x| *x = -*x);
            let p = Lcp::new(hilbert.clone(), q.clone()).unwrap();
            compare((&p).into());
            let sides: Vec<f64> = z.iter().map(|z| if rng.chance(0.5) { *z } else { 2.0 }).collect();
            let p = BoxLcp::new(hilbert, q, vec![0.0; n], sides).unwrap();
            compare((&p).into());
        }
    }

    #[test]
    fn all_bases_come_once() {
        let inf = f64::INFINITY;
        let p = BoxLcp::new(Matrix::identity(4), vec![0.0; 4], vec![0.0, -inf, -1.0, 2.0], vec![inf, 0.0, 1.0, 2.0])
            .unwrap();
        let mut bases = Bases::new((&p).into());
        let mut words = Vec::new();
        while let Some(basis) = bases.next() {
            words.push(basis.to_string());
        }
        assert_eq!(words.len() as u64, bases.count);
        assert_eq!(words[..3], ["wzww", "zzww", "wuww"]);
        words.sort();
        words.dedup();
        assert_eq!(words.len(), 2 * 2 * 3);
    }
}
