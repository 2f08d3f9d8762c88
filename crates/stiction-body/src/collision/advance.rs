//! How long nothing new can touch: conservative advancement for event-driven simulation, and checks of a start.

use super::frame::{Apart, Query};
use super::{Collision, PairWorkspace, Part, Placed, pairs, query};
use crate::collision::vector::Norm;
use crate::kinematics::{LinkMotion, Workspace};
use crate::model::Model;

/// Two geoms that overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// The geoms, ascending.
    pub geoms: [usize; 2],
    /// How deep (m).
    pub depth: f64,
    /// The same beside the size of the smaller geom, see [`Collision::size`].
    pub relative: f64,
}

/// Bounds on how a gap between two geoms can close: `gap(t) ≥ gap(0) − speed t − ½ bend t²`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closing {
    /// How fast a point turns away from the motion of the smaller geom's centre (m/s).
    turn: f64,
    /// Bound on second derivatives (m/s²).
    pub bend: f64,
}

impl Collision {
    /// Pairs that may touch and overlap by more than `tolerance` times the size of the smaller geom, in ascending order.
    pub fn overlaps(&mut self, model: &Model, work: &Workspace, tolerance: f64) -> Vec<Overlap> {
        let still = vec![LinkMotion::ZERO; model.links().len()];
        self.find(model, work, &still, 0.0, 0.0);
        let mut found: Vec<Overlap> = Vec::new();
        for contact in &self.contacts {
            let size = contact.geoms.map(|g| self.parts[g].size).into_iter().fold(f64::INFINITY, f64::min);
            let overlap = Overlap { geoms: contact.geoms, depth: -contact.gap, relative: -contact.gap / size };
            match found.last_mut().filter(|last| last.geoms == contact.geoms) {
                Some(last) if last.depth < overlap.depth => *last = overlap,
                Some(_) => {}
                None => found.push(overlap),
            }
        }
        found.retain(|o| o.relative > tolerance);
        found
    }

    /// Signed distance (m) of two geoms, whether or not they may touch: exact where they touch or are round, otherwise the separation
    /// along the best of the axes that faces and edges have, which is never more than the distance. With a mesh or height field the least
    /// gap of its contacts within `within` (m). `None` if there is none, or a pose is not finite.
    pub fn distance(&mut self, model: &Model, work: &Workspace, geoms: [usize; 2], within: f64) -> Option<f64> {
        let [i, j] = geoms;
        let parts = [self.parts.get(i)?, self.parts.get(j)?];
        let pose = |p: &Part| p.link.filter(|l| *l < model.links().len()).and_then(|l| work.pose.get(l));
        let placed = parts.map(|p| p.placed(pose(p), Some(&LinkMotion::ZERO), 0.0));
        if !(placed[0].finite && placed[1].finite && within >= 0.0) {
            return None;
        }
        let question = query(parts, [&placed[0], &placed[1]], 0.0, within);
        let members = [parts[0].member(&placed[0]), parts[1].member(&placed[1])];
        let PairWorkspace { scratch, touches } = &mut self.workspaces[0];
        self.apart.clear();
        pairs::separations(members, &question.everywhere(), scratch, &mut self.apart);
        let best = self.apart.iter().map(|a| a.separation).fold(f64::NEG_INFINITY, f64::max);
        if best > f64::NEG_INFINITY {
            return Some(best);
        }
        touches.clear();
        pairs::contacts(members, &question, true, scratch, touches);
        touches.iter().map(|t| t.gap).reduce(f64::min)
    }

    /// A time (s), at most `dt`, in which nothing new comes to touch, if every link keeps its angular velocity and the velocity of its
    /// origin: no pair that is apart by more than touching (1e-9 of the smaller geom's size), and no further point of a pair that touches.
    /// Repeated, it leads to the time of the next impact: for round shapes, and where little rotates, in a few steps.
    ///
    /// Contacts with meshes and height fields are those that [`Collision::find`] foresees.
    pub fn safe_time(&mut self, model: &Model, work: &Workspace, motion: &[LinkMotion], dt: f64) -> f64 {
        if !(dt > 0.0 && dt.is_finite()) {
            return 0.0;
        }
        self.is_complete = false;
        self.place(model, work, motion, dt, 0.0);
        let mut time = dt;
        for k in 0..self.broad.candidates(&self.bounds, &self.allowed, self.threads) {
            let (i, j) = self.broad.pair(k);
            time = time.min(self.safe_time_of(i, j, dt));
        }
        time
    }

    fn safe_time_of(&mut self, i: usize, j: usize, dt: f64) -> f64 {
        let (parts, placed) = ([&self.parts[i], &self.parts[j]], [&self.placed[i], &self.placed[j]]);
        let question = query(parts, placed, dt, 0.0);
        let closing = closing(parts, placed);
        let members = [parts[0].member(placed[0]), parts[1].member(placed[1])];
        let PairWorkspace { scratch, touches } = &mut self.workspaces[0];
        self.apart.clear();
        pairs::separations(members, &question.everywhere(), scratch, &mut self.apart);
        let apart = self.apart.iter().map(|a| a.separation).fold(f64::NEG_INFINITY, f64::max);
        if apart > question.touch {
            // Any axis that stays open keeps them apart.
            let open = |a: &Apart| closing.time(a.separation, -a.normal.dot(question.drift.linear) / dt + closing.turn);
            return self.apart.iter().filter(|a| a.separation > question.touch).map(open).fold(0.0, f64::max);
        }
        touches.clear();
        pairs::contacts(members, &question, true, scratch, touches);
        let next = touches.iter().filter(|t| t.gap > question.touch);
        next.map(|t| closing.time(t.gap, -t.normal.dot(question.drift.at(t.point)) / dt)).fold(f64::INFINITY, f64::min)
    }
}

impl Closing {
    /// Time until a gap that closes with `speed` now can be closed.
    fn time(&self, gap: f64, speed: f64) -> f64 {
        let root = (speed * speed + 2.0 * self.bend * gap).sqrt();
        if speed > 0.0 {
            2.0 * gap / (speed + root)
        } else if self.bend > 0.0 {
            (root - speed) / self.bend
        } else {
            f64::INFINITY
        }
    }
}

/// How fast gaps change, seen from the larger geom: the smaller one's centre moves with w against it, and its points turn about that. In
/// the larger one's frame, which turns with ω, the change of that velocity is at most `2 |ω| |w| + |ω|² a + |ω′|² (a′ + r)`, where a, a′ are the
/// distances of the centre from the links' origins, ω′ the smaller one's angular velocity, and r its radius.
pub(super) fn closing(parts: [&Part; 2], placed: [&Placed; 2]) -> Closing {
    let small = if parts[0].radius < parts[1].radius { 0 } else { 1 };
    let (own, other) = (placed[small], placed[1 - small]);
    let (centre, radius) = (own.centre, parts[small].radius);
    let w = (own.velocity(centre) - other.velocity(centre)).norm();
    let (turning, spin) = (other.motion.angular.norm(), own.motion.angular.norm());
    let relative = (own.motion.angular - other.motion.angular).norm();
    let arms = [(centre - other.origin).norm(), (centre - own.origin).norm()];
    Closing {
        turn: relative * radius,
        bend: 2.0 * turning * w
            + turning * turning * arms[0]
            + spin * spin * arms[1]
            + relative * (relative + turning) * radius,
    }
}

impl Query {
    /// The same question without a limit to the gap.
    fn everywhere(&self) -> Self {
        Self { reach: f64::INFINITY, bend: f64::INFINITY, ..*self }
    }
}
