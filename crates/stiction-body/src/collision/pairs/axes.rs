//! Which separating axis two sharp shapes meet along.

use crate::collision::frame::{Query, Touch};
use crate::collision::simplex::{Simplex, Vertex};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Overlap along an axis that is small beside the shapes: at most this fraction of the smaller one's size.
pub(crate) const SHALLOW: f64 = 1e-3;

/// Overlap along an axis that rounding and projection leave: at most this fraction of the smaller one's size.
const ROUNDED: f64 = 1e-5;

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
/// crossing, and hardly higher above the face. What is deeper below the face than the two overlap at
/// the crossing is just inside the face's edge, and leaves by it.
pub(crate) fn keep_beside(crossing: &Touch, start: usize, query: &Query, out: &mut Vec<Touch>) {
    let mut k = 0;
    out.retain(|touch| {
        k += 1;
        let apart = (touch.point - crossing.point).norm();
        let rise = touch.gap - crossing.gap;
        let is_deeper = touch.gap < crossing.gap.min(0.0) - query.touch;
        k <= start || !is_deeper && (apart > ONE_PLACE * query.size && rise.abs() <= ALONG_FACE * apart)
    });
}

/// Steps of a look for a separating axis.
const LOOKS: usize = 24;

/// A separation that is this part of the distance of the points seen so far, which is not less than that of the shapes, ends it.
const FOUND: f64 = 0.999;

/// Looks for a separating axis by the method of Gilbert, Johnson and Keerthi, which never looks at faces: of large shapes that are
/// apart it finds one in a few steps. `ends` gives the first shape's highest and the second's lowest point along an axis. The largest
/// separation seen, with its axis; the search ends where it is more than the `limit` along the axis.
pub(crate) fn look_for_axis(
    start: Vec3,
    limit: impl Fn(Vec3) -> f64,
    mut ends: impl FnMut(Vec3) -> [Vec3; 2],
) -> (f64, Vec3) {
    let mut nearest = start;
    let mut best = (f64::NEG_INFINITY, Vec3::Z);
    let mut simplex: Option<Simplex> = None;
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
        let found = simplex.is_some() && separation >= FOUND * length;
        if found || separation > limit(axis) {
            break;
        }
        let next = Vertex { w: low - high, a: high, b: low };
        let is_new = simplex.as_mut().is_none_or(|simplex| simplex.add(next));
        let simplex = simplex.get_or_insert_with(|| Simplex::new(next));
        if !is_new || simplex.is_full() {
            break;
        }
        nearest = simplex.nearest.w;
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
    rounded: f64,
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

/// How many axes are tried: the best one may have no overlap of faces that can meet within the step.
pub(crate) const TRIES: usize = 4;

/// The best keys so far of axes along which shapes are apart, in descending order: of as many axes as are tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaders {
    keys: [f64; TRIES],
}

impl Leaders {
    pub(crate) const NONE: Self = Self { keys: [f64::NEG_INFINITY; TRIES] };

    pub(crate) fn add(&mut self, rank: Rank) {
        let mut key = if rank.apart { rank.key } else { f64::NEG_INFINITY };
        for own in &mut self.keys {
            if key > *own {
                std::mem::swap(own, &mut key);
            }
        }
    }
}

impl Ranking {
    pub(crate) fn new(query: &Query, travel: f64) -> Self {
        let skin = SHALLOW * query.size;
        let (rounded, preference) = (ROUNDED * query.size, PREFERENCE * query.size);
        Self { skin, shallow: travel.min(skin) + query.touch, rounded, preference, slow: SLOW * travel }
    }

    /// The rank of an axis with the given separation now, which the motion changes by `change`.
    pub(crate) fn rank(&self, separation: f64, change: f64) -> Rank {
        let apart = separation >= -self.shallow;
        // What touches and hardly moves along the axis is held there: a box that slides on level tiles falls onto none of them.
        let held = separation <= self.shallow && change.abs() <= self.slow;
        let change = if held { 0.0 } else { change };
        Rank { apart, key: if apart { separation + change } else { separation } }
    }

    /// True if an axis whose key is at most `bound` ranks behind all leaders.
    pub(crate) fn is_behind(&self, bound: f64, leaders: &Leaders) -> bool {
        let last = leaders.keys[leaders.keys.len() - 1];
        // Closer together, motion may not count.
        last > self.shallow && bound < last - self.preference
    }

    /// True if shapes with this separation along an axis are kept apart by it, but for rounding.
    pub(crate) fn is_touching(&self, separation: f64) -> bool {
        separation >= -self.rounded
    }

    /// True if shapes without contacts along an axis with this separation are level with each other there, but for rounding: what comes over
    /// the other has come from the side of a neighbour, which holds it.
    pub(crate) fn is_level(&self, separation: f64) -> bool {
        separation.abs() <= self.rounded
    }

    /// True if `new` beats `old`, which came first.
    pub(crate) fn better(&self, new: Rank, old: Rank) -> bool {
        if new.apart != old.apart { new.apart } else { new.key > old.key + self.preference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::frame::Drift;

    #[test]
    fn what_is_deeper_than_the_crossing_is_not_beside_it() {
        let drift = Drift { linear: Vec3::ZERO, angular: Vec3::ZERO, about: Vec3::ZERO };
        let query = Query { reach: 1e-3, margin: 0.0, radius: 0.1, bend: 0.0, touch: 1e-10, size: 0.05, drift };
        let at = |x: f64, gap: f64| Touch::new(Vec3::new(x, 0.0, 0.0), Vec3::Z, gap, 0);
        for (crossing, kept) in [(-1e-5, [-5e-6, 1e-3]), (1e-5, [5e-6, 1e-3])] {
            let mut out = vec![at(0.0, crossing)];
            // Too near, too high, too deep, and two that a small turn closes.
            out.extend([at(1e-3, 1e-4), at(0.03, 1e-2), at(0.03, -5e-3), at(0.03, kept[0]), at(0.03, kept[1])]);
            let first = out[0];
            keep_beside(&first, 1, &query, &mut out);
            assert_eq!(out.iter().map(|touch| touch.gap).collect::<Vec<_>>(), [crossing, kept[0], kept[1]]);
        }
    }
}
