//! Articulated rigid bodies in reduced coordinates, and where their shapes touch.
//!
//! A robot of n joints has n coordinates, not six per link and equations between them. A constant [`Model`] says how its
//! links hang together; a state is two slices, positions `q` and velocities `v`; a [`Workspace`], used again and again,
//! holds what follows from them: poses, velocities, forces, the inertia matrix by blocks. [`Collision`] finds the contact
//! points of the [`Geom`]s on the links. No solver is here: what contacts do is for `stiction-contact`.
//!
//! ```
//! use stiction_body::math::{Pose, Vec3};
//! use stiction_body::{Inertia, JointKind, LinkSpec, ModelBuilder, Workspace};
//!
//! // A pendulum: a ball of 2 kg at the end of a massless rod of 0.5 m, about the y axis.
//! let ball = Inertia::sphere(2.0, 0.1).transformed(&Pose::from_translation(Vec3::new(0.0, 0.0, -0.5)));
//! let hinge = JointKind::Revolute { axis: Vec3::Y };
//! let mut builder = ModelBuilder::default();
//! builder.gravity(Vec3::new(0.0, 0.0, -9.81));
//! builder.add(LinkSpec::on("pendulum", None, hinge, Pose::IDENTITY, ball))?;
//! let (model, _) = builder.build()?;
//!
//! // Held level, and let go: the torque of gravity over the inertia about the hinge.
//! let (q, v) = ([std::f64::consts::FRAC_PI_2], [0.0]);
//! let mut work = Workspace::default();
//! work.update_positions(&model, &q);
//! work.update_velocities(&model, &v);
//! let mut a = [0.0];
//! work.forward_dynamics(&model, &[0.0], &mut a);
//! let about_hinge = 0.4 * 2.0 * 0.1 * 0.1 + 2.0 * 0.5 * 0.5;
//! assert!((a[0].abs() - 2.0 * 9.81 * 0.5 / about_hinge).abs() < 1e-12);
//! # Ok::<(), stiction_linalg::InputError>(())
//! ```
//!
//! # Where things are
//!
//! [`model`], `joint` and `limits` say what there is, `kinematics` where it is and how it moves, [`dynamics`], `aba` and
//! `velocity_products` how it accelerates, `loops` closes what a tree cannot; [`shape`] and [`collision`] are geometry.
mod aba;
pub mod collision;
pub mod dynamics;
mod inertia;
mod joint;
mod kinematics;
mod limits;
mod loops;
pub mod math;
pub mod model;
pub mod range;
mod rigid_bodies;
pub mod shape;
mod velocity_products;

pub use collision::{Collision, CollisionRules, ContactPoint, Geom, Margin, Overlap, RayHit, Separation};
pub use inertia::Inertia;
pub use joint::{Column, JointKind};
pub use kinematics::{LinkMotion, Workspace};
pub use limits::JointLimit;
pub use loops::{LoopAction, LoopBlocks, LoopRows, RedundantRows, RowSource};
pub use model::{Coupling, CouplingTerm, JointProperties, LinkSpec, LoopClosure, LoopKind, Mimic, Model, ModelBuilder};
pub use shape::{Shape, ShapeKind, Triangulation};
