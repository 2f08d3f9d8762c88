//! Tendons: lengths that depend on the configuration, and what acts along them.

use stiction_body::math::{Pose, Vec3};
use stiction_body::{Model, Workspace};

use super::row::TreeRow;
use super::wrap::{self, WrapKind};

/// A point on a link; `None` is the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// The link.
    pub link: Option<usize>,
    /// Its pose on the link.
    pub pose: Pose,
}

impl Anchor {
    /// Its pose in the world.
    pub fn world(&self, work: &Workspace) -> Pose {
        self.link.map_or(self.pose, |link| work.pose[link] * self.pose)
    }

    /// The same with the numbers of links changed.
    pub(crate) fn renumbered(self, number: &[usize]) -> Self {
        Self { link: self.link.map(|l| number[l]), ..self }
    }

    /// The same in a description put at a pose in the world.
    pub(crate) fn placed(self, links: &[usize], at: &Pose) -> Self {
        match self.link {
            Some(link) => Self { link: Some(links[link]), ..self },
            None => Self { link: None, pose: *at * self.pose },
        }
    }
}

/// What a spatial tendon runs through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Via {
    /// A point.
    Site(Anchor),
    /// Around a sphere or cylinder, between two points.
    Wrap {
        /// Its frame.
        anchor: Anchor,
        /// Its radius (m).
        radius: f64,
        /// What it is.
        kind: WrapKind,
        /// A point on the side that the path takes.
        side: Option<Anchor>,
    },
    /// A pulley: what follows, up to the next one, counts with this divisor.
    Pulley(f64),
}

/// How a tendon's length comes about.
#[derive(Debug, Clone, PartialEq)]
pub enum TendonPath {
    /// `Σ coefficient · q` over joints with one velocity: links and coefficients.
    Joints(Vec<(usize, f64)>),
    /// The shortest path through points and around surfaces.
    Through(Vec<Via>),
}

/// A tendon.
#[derive(Debug, Clone, PartialEq)]
pub struct Tendon {
    /// Name.
    pub name: String,
    /// Its length.
    pub path: TendonPath,
    /// Stiffness of its spring (N/m, or N m/rad).
    pub stiffness: f64,
    /// The spring pulls beyond the second length and pushes below the first (m or rad).
    pub rest: [f64; 2],
    /// Viscous damping (N s/m, or N m s/rad).
    pub damping: f64,
    /// Dry friction (N or N m).
    pub friction: f64,
    /// Inertia along the tendon (kg or kg m²).
    pub armature: f64,
    /// Least and largest length (m or rad); infinite for none.
    pub limits: [f64; 2],
    /// Least and largest total force of its actuators (N or N m); infinite for none.
    pub effort: [f64; 2],
}

impl Tendon {
    /// Computes the length, and the row of its rate, at kinematics that are up to date.
    pub fn measure(&self, model: &Model, work: &Workspace, q: &[f64], row: &mut TreeRow) -> f64 {
        row.clear();
        match &self.path {
            TendonPath::Joints(joints) => joints.iter().fold(0.0, |length, &(link, coefficient)| {
                let link = &model.links()[link];
                row.add(model, link.v.start, coefficient);
                length + coefficient * q[link.q.start]
            }),
            TendonPath::Through(path) => through(path, model, work, row),
        }
    }

    /// The same with the numbers of links changed.
    pub(crate) fn with_links(&self, anchor: impl Fn(Anchor) -> Anchor, link: impl Fn(usize) -> usize) -> Self {
        let via = |via: &Via| match *via {
            Via::Site(a) => Via::Site(anchor(a)),
            Via::Wrap { anchor: a, radius, kind, side } => {
                Via::Wrap { anchor: anchor(a), radius, kind, side: side.map(&anchor) }
            }
            Via::Pulley(divisor) => Via::Pulley(divisor),
        };
        let path = match &self.path {
            TendonPath::Joints(joints) => TendonPath::Joints(joints.iter().map(|&(l, c)| (link(l), c)).collect()),
            TendonPath::Through(path) => TendonPath::Through(path.iter().map(via).collect()),
        };
        Self { path, ..self.clone() }
    }

    /// Force of its spring at a length (N or N m): it shortens the tendon where it is negative.
    pub fn spring(&self, length: f64) -> f64 {
        self.stiffness * (length.max(self.rest[0]).min(self.rest[1]) - length)
    }
}

/// The length of a path, and its row.
fn through(path: &[Via], model: &Model, work: &Workspace, row: &mut TreeRow) -> f64 {
    let (mut length, mut divisor, mut before) = (0.0, 1.0, None);
    let mut around = None;
    for via in path {
        match via {
            Via::Pulley(by) => {
                divisor = *by;
                (before, around) = (None, None);
            }
            Via::Wrap { .. } => around = Some(via),
            Via::Site(site) => {
                let to = (site.link, site.world(work).translation);
                if let Some(from) = before {
                    length += stretch(from, to, around.take(), model, work, 1.0 / divisor, row);
                }
                before = Some(to);
            }
        }
    }
    length
}

type Point = (Option<usize>, Vec3);

/// The length from one point to the next, around an object if there is one, times a factor.
fn stretch(
    from: Point,
    to: Point,
    around: Option<&Via>,
    model: &Model,
    work: &Workspace,
    factor: f64,
    row: &mut TreeRow,
) -> f64 {
    let mut straight = |from: Point, to: Point| {
        let way = to.1 - from.1;
        let length = way.length();
        if from.0 != to.0 && length > 0.0 {
            let direction = way / length;
            add_point(model, work, to, direction, factor, row);
            add_point(model, work, from, direction, -factor, row);
        }
        length * factor
    };
    if let Some(Via::Wrap { anchor, radius, kind, side }) = around {
        let (frame, side) = (anchor.world(work), side.map(|s| s.world(work).translation));
        if let Some(wrapped) = wrap::wrap([from.1, to.1], &frame, *radius, *kind, side) {
            let [a, b] = wrapped.points.map(|point| (anchor.link, point));
            return straight(from, a) + wrapped.length * factor + straight(b, to);
        }
    }
    straight(from, to)
}

/// Adds the row of a point's speed along a direction.
pub(super) fn add_point(
    model: &Model,
    work: &Workspace,
    (link, point): Point,
    direction: Vec3,
    scale: f64,
    row: &mut TreeRow,
) {
    let Some(link) = link else { return };
    let tree = model.links()[link].tree;
    work.add_point_row(model, link, point, direction, scale, row.tree_mut(model, tree));
}
