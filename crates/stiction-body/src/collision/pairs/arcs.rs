//! Edges of two polytopes as arcs on the sphere of normals: those whose arcs cross have a common normal.

use crate::collision::pairs::axes::{FACE_LIKE, PARALLEL};
use crate::math::Vec3;

/// Squared sine below which the common normal of two edges has no correct digit.
const NO_DIRECTION: f64 = 1e-30;

/// Edges that are compared with another one in one go: the widest vectors have as many numbers.
pub(super) const LANES: usize = 8;

/// An edge: its direction, not of unit length, and normals of its faces, whose arc its own normals are on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub along: Vec3,
    pub sides: [Vec3; 2],
}

impl Arc {
    /// The common normal of two edges that cross, if it is a normal of both and, unless the search is complete, no face speaks for it.
    pub(super) fn common_normal(&self, other: &Self, complete: bool) -> Option<Vec3> {
        let cross = self.along.cross(other.along);
        let squared = cross.length_squared();
        let parallel = if complete { NO_DIRECTION } else { PARALLEL };
        if squared <= parallel * self.along.length_squared() * other.along.length_squared() {
            return None;
        }
        let normal = cross / squared.sqrt();
        let normal = if normal.dot(self.sides[0] + self.sides[1]) < 0.0 { -normal } else { normal };
        let outward = normal.dot(other.sides[0] + other.sides[1]) > 0.0;
        let face_like = |side: &Vec3| normal.dot(*side) >= FACE_LIKE;
        let plain = complete || !self.sides.iter().chain(&other.sides).any(face_like);
        (outward && plain).then_some(normal)
    }
}

/// Edges side by side, so that they are compared with another one in one go.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArcLanes {
    along: Lanes,
    sides: [Lanes; 2],
}

/// The coordinates of several vectors.
type Lanes = [[f64; LANES]; 3];

impl ArcLanes {
    /// Lanes that are left over are zero, which crosses nothing.
    pub(super) fn new(arcs: impl Iterator<Item = Arc>) -> Self {
        let mut lanes = Self { along: [[0.0; LANES]; 3], sides: [[[0.0; LANES]; 3]; 2] };
        for (k, arc) in arcs.enumerate() {
            let (along, sides) = (arc.along.to_array(), arc.sides.map(|side| side.to_array()));
            for axis in 0..3 {
                lanes.along[axis][k] = along[axis];
                lanes.sides[0][axis][k] = sides[0][axis];
                lanes.sides[1][axis][k] = sides[1][axis];
            }
        }
        lanes
    }
}

stiction_linalg::vectorized! {
    /// Finds the edges whose normals may have one in common with those of another polytope's edge, whose sides are the negative normals of
    /// its faces: the directions of each have the other's sides on both sides.
    pub(super) fn find_crossing(arcs: &'a [ArcLanes], other: &'a Arc, crossing: &'a mut Vec<u32>) = add_crossing(arcs, other, crossing)
}

#[inline(always)]
fn add_crossing(arcs: &[ArcLanes], other: &Arc, crossing: &mut Vec<u32>) {
    let Arc { along, sides: [one, two] } = *other;
    for (n, arcs) in arcs.iter().enumerate() {
        let mut crosses = [false; LANES];
        for k in 0..LANES {
            let dot = |lanes: &Lanes, v: Vec3| lanes[0][k] * v.x + lanes[1][k] * v.y + lanes[2][k] * v.z;
            let of_other = dot(&arcs.along, one) * dot(&arcs.along, two);
            let own = dot(&arcs.sides[0], along) * dot(&arcs.sides[1], along);
            crosses[k] = !((of_other >= 0.0) | (own >= 0.0));
        }
        if crosses != [false; LANES] {
            let first = (n * LANES) as u32;
            crossing.extend((0..LANES as u32).filter(|k| crosses[*k as usize]).map(|k| first + k));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_linalg::rng::Rng;

    #[test]
    fn edges_that_cross_are_found_among_all_in_order() {
        let mut rng = Rng::new(7);
        let mut draw = || Vec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5;
        for count in 0..40 {
            let mut arc = || Arc { along: draw(), sides: [draw(), draw()] };
            let all: Vec<Arc> = (0..count).map(|_| arc()).collect();
            let arcs: Vec<ArcLanes> = all.chunks(LANES).map(|arcs| ArcLanes::new(arcs.iter().copied())).collect();
            let other = arc();
            let straddles = |sides: [Vec3; 2], along: Vec3| sides[0].dot(along) * sides[1].dot(along) < 0.0;
            let crosses = |arc: &Arc| straddles(arc.sides, other.along) && straddles(other.sides, arc.along);
            let mut crossing = Vec::new();
            find_crossing(&arcs, &other, &mut crossing);
            assert!(crossing.iter().map(|k| *k as usize).eq((0..count).filter(|k| crosses(&all[*k]))));
        }
    }
}
