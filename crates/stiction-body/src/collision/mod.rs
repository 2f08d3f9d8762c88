//! Where bodies touch: contact points with gap, normal and identity, on parry's queries.

use crate::math::{Pose, Vec3};
use crate::shape::Shape;

/// A shape on a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Geom {
    /// Name, for messages and for pair rules; unique where not empty.
    pub name: String,
    /// The link it is fixed to; `None` for the world.
    pub link: Option<usize>,
    /// `X_LG`: the shape's frame in the link.
    pub pose: Pose,
    /// The shape.
    pub shape: Shape,
    /// Groups it belongs to: two geoms may touch if either's `groups` meets the other's `collides_with`.
    pub groups: u32,
    /// Groups it touches.
    pub collides_with: u32,
}

impl Geom {
    /// A shape fixed to a link (or the world), in the first group and touching it.
    pub fn new(name: impl Into<String>, link: Option<usize>, pose: Pose, shape: Shape) -> Self {
        Self { name: name.into(), link, pose, shape, groups: 1, collides_with: 1 }
    }
}

/// Which geoms can touch, besides their groups. Geoms of links that cannot move against each other (both fixed to the world, or joined by fixed
/// joints) never do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollisionRules {
    /// Links that may touch their parent although a joint connects them; all others may not. (A chain of fixed joints counts as one link.)
    pub touches_parent: Vec<usize>,
    /// Pairs of links (`None`: the world) that never touch.
    pub excluded: Vec<(Option<usize>, Option<usize>)>,
    /// Pairs of geoms that are always looked at, whatever the groups and links say.
    pub pairs: Vec<(usize, usize)>,
    /// Merge contacts of a pair of links that are exact duplicates: same point, same normal.
    pub keep_duplicates: bool,
}

/// A place where two geoms touch, or may touch within the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
    /// The geoms, ascending.
    pub geoms: [usize; 2],
    /// What tells this point from others of the same two geoms; the same in the next step for the same features.
    pub feature: u64,
    /// The point in the world (m), midway between the surfaces.
    pub point: Vec3,
    /// Unit normal in the world, from the first geom to the second: they part where `normal · (v₂ − v₁) > 0`.
    pub normal: Vec3,
    /// Signed distance (m), negative where they overlap.
    pub gap: f64,
}
