//! Which separating axis two sharp shapes meet along.

use crate::collision::frame::{Query, Touch};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Overlap along an axis that is small beside the shapes: at most this fraction of the smaller one's size.
const SHALLOW: f64 = 1e-3;

/// Motion is slow along an axis if it is at most this fraction of the whole.
const SLOW: f64 = 0.1;

/// A later axis must be better than an earlier one by more than this fraction of the size, so that rounding does not choose between equals.
const PREFERENCE: f64 = 1e-9;

/// Whether an edge axis is so close to a face normal that the face speaks for it: cosine of 0.01 rad. The clipped faces hold the crossing
/// of the edges, with a gap that is wrong by this angle's square at most and right at zero.
pub(crate) const FACE_LIKE: f64 = 0.99995;

/// Squared sine below which two edges are parallel: faces then hold the axis.
pub(crate) const PARALLEL: f64 = 1e-8;

/// An edge is along a face if its sine against it is at most this: where it crosses an edge of the
/// face, a small turn lays it on the face.
pub(crate) const ALONG_FACE: f64 = 0.25;

/// Places closer together than this fraction of the size are one place.
const ONE_PLACE: f64 = 0.1;

/// Of the contacts from `start` on, between a face and an edge along it that crosses one of the
/// face's edges in the contact `crossing`, keeps those that a small turn closes: away from the
/// crossing, and hardly higher above the face.
pub(crate) fn keep_beside(crossing: &Touch, start: usize, query: &Query, out: &mut Vec<Touch>) {
    let mut k = 0;
    out.retain(|touch| {
        k += 1;
        let apart = (touch.point - crossing.point).norm();
        let rise = touch.gap - crossing.gap;
        k <= start || (apart > ONE_PLACE * query.size && rise.abs() <= ALONG_FACE * apart)
    });
}

/// Steps of a look for a separating axis.
const LOOKS: usize = 24;

/// Looks for a separating axis by Gilbert's method, which never looks at faces: of large shapes that are apart it finds one in a few steps. `ends` gives the first shape's highest and the
/// second's lowest point along an axis. The largest separation seen, with its axis; the search ends where it is more than `limit`.
pub(crate) fn look_for_axis(start: Vec3, limit: f64, mut ends: impl FnMut(Vec3) -> [Vec3; 2]) -> (f64, Vec3) {
    let mut nearest = start;
    let mut best = (f64::NEG_INFINITY, Vec3::Z);
    for _ in 0..LOOKS {
        let length = nearest.norm();
        if length == 0.0 {
            break;
        }
        let axis = nearest / length;
        let [high, low] = ends(axis);
        let separation = axis.dot(low - high);
        if separation > best.0 {
            best = (separation, axis);
        }
        if separation > limit {
            break;
        }
        // The point of the segment to the new corner of the difference that is nearest to the origin.
        let step = low - high - nearest;
        let square = step.length_squared();
        if square == 0.0 {
            break;
        }
        nearest += step * (-nearest.dot(step) / square).clamp(0.0, 1.0);
    }
    best
}

/// Ranks separating axes.
///
/// Shapes that are apart, or nearly so, meet along the axis on which they are still farthest apart (or overlap least) at the end of the
/// step's nominal motion: a box that slides over the joint of two level tiles stays on top of both. Shapes that overlap on every axis are
/// pushed out along the shallowest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranking {
    /// Overlap that is small beside the shapes (m).
    pub skin: f64,
    /// Overlap that the step's motion may have made, and that may be small beside it (m).
    pub shallow: f64,
    preference: f64,
    /// Motion along an axis that is slow beside the whole (m).
    slow: f64,
}

/// How good an axis is; compared by [`Ranking::better`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rank {
    /// Apart along the axis, or nearly so.
    pub apart: bool,
    key: f64,
}

impl Rank {
    /// Worse than every axis.
    pub(crate) const WORST: Self = Self { apart: false, key: f64::NEG_INFINITY };
}

impl Ranking {
    pub(crate) fn new(query: &Query, travel: f64) -> Self {
        let skin = SHALLOW * query.size;
        Self { skin, shallow: travel.min(skin) + query.touch, preference: PREFERENCE * query.size, slow: SLOW * travel }
    }

    /// The rank of an axis with the given separation now, which the motion changes by `change`.
    pub(crate) fn rank(&self, separation: f64, change: f64) -> Rank {
        let apart = separation >= -self.shallow;
        // What touches and hardly moves along the axis is held there: a box that slides on level tiles falls onto none of them.
        let held = separation <= self.shallow && change.abs() <= self.slow;
        let change = if held { 0.0 } else { change };
        Rank { apart, key: if apart { separation + change } else { separation } }
    }

    /// True if `new` beats `old`, which came first.
    pub(crate) fn better(&self, new: Rank, old: Rank) -> bool {
        if new.apart != old.apart { new.apart } else { new.key > old.key + self.preference }
    }
}
