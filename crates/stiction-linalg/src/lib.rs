//! Dense linear algebra with a fixed order of additions: the same bits at every optimisation level and
//! vector width. It knows neither physics nor solvers; every other crate of Stiction stands on it.
//!
//! [`matrix`] has the dense matrix and its kernels, [`lanes`] those for short rows, [`doubled`] sums in twice the working precision,
//! [`simd`] wide vectors chosen at run time, [`power`] exact scaling by powers of two and [`equilibration`] what to scale by. The factorizations:
//!
//! | factorization | for |
//! |---|---|
//! | [`lu::Lu`] | square matrices, with partial pivoting |
//! | [`cholesky`] | symmetric positive definite matrices; with pivoting, semidefinite ones |
//! | [`branched_cholesky`] | those of trees, whose zeros it keeps; [`block_factor`] takes this one or the plain one |
//! | [`elimination`] | one step of Gauss–Jordan, for tableaus |
//! | [`active_qr::ActiveQr`] | columns that come and go; which of them are independent |
//! | [`incremental_factor::IncrementalFactor`] | `L D U` of an index set that grows and shrinks |
//!
//! [`conjugate`] has directions that sweeps over rows follow. Beside it stands what computations of any kind share: [`InputError`], the ending of a long
//! computation ([`interrupt`]), [`Threads`], and seeded random numbers ([`rng`]).
//!
//! ```
//! use stiction_linalg::Matrix;
//! use stiction_linalg::lu::Lu;
//!
//! let a = Matrix::from_rows(&[[0.0, 2.0], [4.0, 1.0]])?;
//! let mut lu = Lu::default();
//! lu.factor(&a);
//! let mut x = [6.0, 7.0];
//! lu.solve(&mut x);
//! assert_eq!(x, [1.0, 3.0]);
//! # Ok::<(), stiction_linalg::InputError>(())
//! ```
pub mod active_qr;
pub mod block_factor;
pub mod branched_cholesky;
pub mod cholesky;
pub mod conjugate;
pub mod doubled;
pub mod elimination;
pub mod equilibration;
pub mod error;
pub mod incremental_factor;
pub mod interrupt;
pub mod lanes;
pub mod lu;
pub mod matrix;
pub mod power;
pub mod rng;
#[allow(unsafe_code)]
pub mod simd;
pub mod threads;

pub use error::{InputError, Number};
pub use matrix::Matrix;
pub use threads::Threads;
