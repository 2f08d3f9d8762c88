//! Complementarity solvers that prove their answers.
//!
//! The linear complementarity problem asks, for a matrix M (n × n) and a vector q (n), for
//!
//! ```text
//! w = M z + q,    z ≥ 0,    w ≥ 0,    zᵢ wᵢ = 0 for every i.
//! ```
//!
//! Rigid contact is of this kind: a contact either pushes or parts. Beside the plain [`Lcp`] there are the mixed problem with equations and free
//! variables ([`Mlcp`]), the one with bounds ([`BoxLcp`]), and the one with `M = Gᵀ G` never formed ([`FactoredLcp`]).
//!
//! A solve ends in an [`Outcome`]: a solution with its [`Certificate`], a proof that there is none, a ray, or the reason why it stopped. A solution
//! cannot be reached unless its certificate, computed from the problem and z alone, holds.
//!
//! ```
//! use stiction_lcp::{Auto, Lcp, Matrix, Options, Outcome, Solver};
//!
//! let m = Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]])?;
//! let problem = Lcp::new(m, vec![-5.0, -6.0])?;
//! let mut solver = Auto::new(Options::default());
//! match solver.solve(&problem)? {
//!     Outcome::Solved(solved) => {
//!         assert_eq!(solved.basis.to_string(), "zz");
//!         assert!((solved.z[0] - 4.0 / 3.0).abs() < 1e-15);
//!         println!("z = {:?}, {}", solved.z, solved.certificate);
//!         // The next problem is often like this one: its basis is the start for that.
//!         let again = solver.solve_from((&problem).into(), Some(&solved.basis))?;
//!         assert_eq!(again.stats().pivots, 0);
//!     }
//!     Outcome::Unsolvable(found) => println!("no solution: {}", found.proof),
//!     Outcome::Ray(ray) => println!("a ray: {}", ray.claim),
//!     Outcome::Stopped(stopped) => println!("stopped: {}, {}", stopped.why, stopped.certificate),
//! }
//! # Ok::<(), stiction_lcp::InputError>(())
//! ```
//!
//! # Solvers
//!
//! | solver | what it is | for |
//! |---|---|---|
//! | [`Auto`] | picks, verifies, falls back | everything, unless you know better |
//! | [`Lemke`] | Lemke's complementary pivoting | any matrix; Coulomb friction |
//! | [`Dantzig`] | the driving method of Dantzig and Baraff | symmetric positive semidefinite M |
//! | [`Nnls`] | active-set least squares on a factor | factored problems; symmetric positive semidefinite M |
//! | [`ModifiedPpm`] | principal pivoting on a factor | many contacts on few degrees of freedom |
//! | [`PrincipalPivot`] | Murty's least-index rule | P-matrices; starts from a good basis |
//! | [`InteriorPoint`] | predictor–corrector, then crossover | large monotone problems |
//! | [`FeasibleInteriorPoint`] | the method of Trinkle and others | comparison with the literature |
//! | [`ProjectedGaussSeidel`] | the iteration of most physics engines | comparison with them |
//! | [`Enumerate`] | every basis in exact arithmetic | small problems; proofs that there is no solution |
//!
//! [`catalog`] has the same table for programs, and makes a solver from its name.
//!
//! # Where things are
//!
//! [`problem`], [`outcome`], [`certificate`], [`basis`] and [`solver`] are the types above. [`exact`] checks and pivots in rational
//! arithmetic, [`classify`] finds the class of a matrix, [`reduce`] turns every kind of problem into an LCP and its solution back, [`finish`] turns
//! a basis into numbers. [`io`] reads and writes files; [`generate`] makes seeded hard problems.
//!
//! # Features
//!
//! All are on by default. With `default-features = false` the solvers need nothing but [`stiction_linalg`] and thiserror.
//!
//! | feature | what it adds | without it |
//! |---|---|---|
//! | `exact` | [`exact`], [`Enumerate`], [`classify_exact`](classify::classify_exact) | rays are not turned into proofs; a row that only whole numbers decide counts as not certified |
//! | `io` | [`io`]: Siconos text, `.npz`, JSON | problems come from code |
//! | `threads` | a pool behind [`Threads`] | one thread |
pub mod auto;
pub mod basis;
mod branch;
pub mod catalog;
pub mod certificate;
pub mod classify;
pub mod dantzig;
#[cfg(feature = "exact")]
pub mod enumerate;
#[cfg(feature = "exact")]
pub mod exact;
#[cfg(not(feature = "exact"))]
#[path = "without_exact.rs"]
mod exact;
pub mod finish;
pub mod generate;
pub mod interior_point;
#[cfg(feature = "io")]
pub mod io;
pub mod lemke;
pub mod nnls;
pub mod outcome;
pub mod principal_pivot;
pub mod problem;
pub mod projected_gauss_seidel;
pub mod reduce;
pub mod solver;
pub mod tolerances;
mod work;

pub use auto::Auto;
pub use basis::{Basis, Position};
pub use certificate::{Certificate, certify, certify_to};
pub use dantzig::Dantzig;
#[cfg(feature = "exact")]
pub use enumerate::Enumerate;
pub use interior_point::{FeasibleInteriorPoint, InteriorPoint};
pub use lemke::Lemke;
pub use nnls::Nnls;
pub use outcome::{MatrixClass, Outcome, Proof, Ray, Solved, Stats, StopReason, Stopped, Unsolvable};
pub use principal_pivot::{ModifiedPpm, PrincipalPivot};
pub use problem::{BoxLcp, FactoredLcp, Lcp, Mlcp, Problem, ProblemRef};
pub use projected_gauss_seidel::ProjectedGaussSeidel;
pub use solver::{DEFAULT_TOLERANCE, Options, Solver};
/// What problems are made of, and how a solve is ended early or shared by threads: of [`stiction_linalg`].
pub use stiction_linalg::{InputError, Matrix, Threads, error, interrupt, matrix, threads};
pub use tolerances::Tolerances;
