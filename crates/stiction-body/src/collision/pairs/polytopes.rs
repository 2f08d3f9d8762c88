//! Two convex polytopes: the separating axis they meet along, among the normals of faces and the common normals of edges that can touch; then
//! the overlap of two faces or the crossing of two edges.

use crate::collision::closest::between_segments;
use crate::collision::frame::{Apart, Drift, Frame, Query, Touch};
use crate::collision::pairs::arcs::{Arc, ArcLanes, LANES, find_crossing};
use crate::collision::pairs::axes::{ALONG_FACE, FACE_LIKE, Leaders, Rank, Ranking, TRIES, keep_beside, look_for_axis};
use crate::collision::pairs::clip::{self, Clip, Corner, Side, comes_in};
use crate::collision::pairs::face_plane::{Basis, incident_face};
use crate::collision::polytope::{Edge, Face, PolytopeRef, least};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// How much the depth of contacts may differ from the least translation, beside it: those of a face
/// stand for a crossing of edges that is within 0.01 rad of it.
const DEPTH_AGREEMENT: f64 = 1e-3;

/// Pairs of edges from which on each edge is looked at more closely before it is paired.
const MANY_PAIRS: usize = 1 << 14;

/// Corners of two polytopes from which on a separating axis is looked for before all of them are.
const MANY: usize = 48;

/// Bits of a feature that say what kind it is.
pub(crate) const KIND: u64 = 7 << 57;
const SECOND: u64 = 1 << 57;
const EDGES: u64 = 1 << 58;
pub(crate) const FACES: u64 = 1 << 59;
/// Where the numbers of faces start, after the corner's name.
const INCIDENT: u32 = 25;
const FACE: u32 = 41;

/// True if the feature is a corner of the second polytope's face on a face of the first.
pub(crate) fn is_incident_vertex(feature: u64) -> bool {
    on_first_face(feature) && clip::is_vertex((feature & ((1 << INCIDENT) - 1)) as u32)
}

/// True if the feature is on a face of the first polytope.
pub(crate) fn on_first_face(feature: u64) -> bool {
    feature & KIND == FACES
}

/// Scratch, reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    /// Corners of each polytope in the frame of the other.
    seen: [Vec<Vec3>; 2],
    /// Edges that are near the other polytope.
    near: [Vec<u32>; 2],
    axes: Vec<Axis>,
    /// The axes of faces, and the best axis known, from which a complete search goes on.
    faces: Vec<Axis>,
    known: Option<Known>,
    /// Faces that the other polytope's best corner is not deep behind, and of each face whether it is one.
    shallow: Vec<u32>,
    open: Vec<bool>,
    marks: Vec<u64>,
    /// The first polytope's `near` edges, those of them that cross an edge of the second.
    arcs: Vec<ArcLanes>,
    crossing: Vec<u32>,
    /// Faces that may be the incident one.
    facing: Vec<u32>,
    sides: Vec<Side>,
    clip: Clip,
    /// The polytopes have no contacts along an axis along which they are level with each other.
    level: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Feature {
    /// A face of one of the two.
    Face(usize, u32),
    /// An edge of each.
    Edges(u32, u32),
}

/// A separating axis in the first polytope's frame, from the first to the second.
#[derive(Debug, Clone, Copy)]
struct Axis {
    normal: Vec3,
    separation: f64,
    feature: Feature,
    rank: Rank,
}

/// Which axes are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// What touching polytopes need: edges near the other polytope, no common normals that are
    /// nearly those of faces.
    Near,
    /// Every axis that can be the best one, with the separation of all corners along it.
    Complete,
}

/// Two polytopes: the second is placed in the frame of the first.
pub(crate) struct Pair<'a, F> {
    pub polytopes: [PolytopeRef<'a>; 2],
    /// How many of the first polytope's faces are its own; the others only bound its edges' normals (triangles of a surface).
    pub own_faces: usize,
    /// False for a triangle: it has no inside, so only its face pushes out what is deep.
    pub solid: bool,
    /// True for a triangle that is even with its neighbours, or lower: only its face has contacts.
    pub smooth: bool,
    /// The second in the frame of the first.
    pub relative: Frame,
    /// Motion of the second in the first's frame.
    pub drift: Drift,
    pub query: &'a Query,
    /// Whether a normal may be one of the first polytope at that corner.
    pub allowed: F,
}

impl<F: Fn(Vec3, usize) -> bool> Pair<'_, F> {
    /// Contacts in the first polytope's frame, normals from the first to the second. False if an axis keeps the polytopes farther apart
    /// than they can travel, or they are level with each other along one.
    pub(crate) fn contacts(&self, scratch: &mut Scratch, out: &mut Vec<Touch>) -> bool {
        let ranking = Ranking::new(self.query, self.drift.linear.norm());
        let start = out.len();
        let Some(overlap) = self.near_contacts(scratch, &ranking, out) else { return false };
        // A near search leaves axes out. Solids that overlap have a contact, and those that are said
        // to overlap by more than the motion explains do so along every axis.
        if self.solid && !self.smooth && overlap > ranking.shallow {
            self.complete_contacts(start, scratch, &ranking, out);
        }
        !scratch.level
    }

    /// Contacts along the best axis that has any; the overlap along that axis (m). Infinite if there is no
    /// contact although no axis keeps the two apart; `None` if one keeps them farther apart than they can travel.
    fn near_contacts(&self, scratch: &mut Scratch, ranking: &Ranking, out: &mut Vec<Touch>) -> Option<f64> {
        scratch.level = false;
        if !self.axes(Search::Near, scratch, ranking) {
            return None;
        }
        let start = out.len();
        let (mut held, mut apart, mut faced) = (false, false, false);
        for _ in 0..TRIES {
            let Some(best) = best_axis(&scratch.axes, ranking) else { break };
            let axis = scratch.axes.swap_remove(best);
            // Where an axis keeps them apart, no other can push them out.
            if held && !axis.rank.apart {
                break;
            }
            held |= axis.rank.apart && ranking.is_touching(axis.separation);
            apart |= axis.separation >= -self.query.touch;
            let found = match axis.feature {
                Feature::Face(which, face) => {
                    let (of, incident) = self.reference(which, face as usize, axis.normal);
                    self.faces(of, incident, axis.separation, scratch, out)
                }
                Feature::Edges(i, j) => self.edges(i, j, axis.normal, out),
            };
            faced |= found;
            if found {
                if let Feature::Edges(i, j) = axis.feature
                    && self.solid
                    && axis.separation >= -ranking.skin
                {
                    self.beside_crossing([i, j], start, scratch, out);
                }
                if out.len() > start {
                    return Some(deepest(&out[start..]).max(-axis.separation));
                }
                scratch.level = ranking.is_level(axis.separation);
                // What comes over a face that it is below now may be held by the face beside that one.
                if scratch.level || axis.separation >= -self.query.touch {
                    break;
                }
            }
        }
        // What hardly is apart without features that face each other may have edges that meet along an axis which a face speaks for.
        let hardly = !faced && scratch.known.is_some_and(|best| best.separation <= ranking.skin);
        Some(if apart && !hardly { 0.0 } else { f64::INFINITY })
    }

    /// Puts the contacts from `start` on right where they are not those of the best of all axes: a
    /// polytope that overlaps another does so along that one least, and there its features meet.
    fn complete_contacts(&self, start: usize, scratch: &mut Scratch, ranking: &Ranking, out: &mut Vec<Touch>) {
        if !self.axes(Search::Complete, scratch, ranking) {
            out.truncate(start);
            return;
        }
        let Some(axis) = self.best_of_all(scratch) else { return };
        let slack = DEPTH_AGREEMENT * axis.separation.abs() + self.query.touch;
        // As deep as the best axis says, along it or nearly so, or along another one that is as good.
        let agrees = |found: &[Touch], seen: &[Vec3]| {
            let along = |t: &Touch| {
                t.normal.dot(axis.normal) > FACE_LIKE || self.separation(seen, t.normal) >= axis.separation - slack
            };
            (deepest(found) + axis.separation).abs() <= slack && found.first().is_some_and(along)
        };
        if agrees(&out[start..], &scratch.seen[1]) {
            return;
        }
        let apart = out.len() == start && axis.separation >= -self.query.touch;
        out.truncate(start);
        match axis.feature {
            Feature::Edges(i, j) => _ = self.edges(i, j, axis.normal, out),
            Feature::Face(..) if apart => {}
            Feature::Face(which, face) => {
                _ = self.faces((which, face as usize), None, axis.separation, scratch, out);
            }
        }
        if !agrees(&out[start..], &scratch.seen[1]) {
            out.truncate(start);
            if !apart {
                out.push(self.touch_along(&axis, &scratch.seen[1]));
            }
        }
    }

    /// The axis with the greatest separation. That is asked of all corners once more: climbing over edges
    /// may leave out a corner that is hardly higher.
    fn best_of_all(&self, scratch: &mut Scratch) -> Option<Axis> {
        loop {
            let axes = &mut scratch.axes;
            let mut best: Option<usize> = None;
            for (k, axis) in axes.iter().enumerate() {
                if best.is_none_or(|b| axis.separation > axes[b].separation) {
                    best = Some(k);
                }
            }
            let axis = &mut axes[best?];
            let separation = self.separation(&scratch.seen[1], axis.normal);
            if separation >= axis.separation - 0.1 * self.query.touch {
                return Some(*axis);
            }
            axis.separation = separation;
        }
    }

    /// The separation of all corners along an axis.
    fn separation(&self, seen: &[Vec3], axis: Vec3) -> f64 {
        least(seen, axis) + self.polytopes[0].least(-axis, 0)
    }

    /// The least `n · p` of a polytope's corners, which are `points`, and which has it; looked for from a corner.
    fn lowest(&self, which: usize, points: &[Vec3], n: Vec3, from: usize) -> (f64, usize) {
        match self.polytopes[which].around {
            None => lowest(points, n),
            Some(around) => {
                let corner = around.farthest(points, -n, from as u32);
                (n.dot(points[corner]), corner)
            }
        }
    }

    /// How far a corner of a polytope lies above the other's face at least, and that corner; `None` if one lies deep behind it: then the face cannot be the best.
    fn above_face(
        &self,
        which: usize,
        points: &[Vec3],
        face: &Face,
        best: &Known,
        ranking: &Ranking,
    ) -> Option<(f64, usize)> {
        let Some(around) = self.polytopes[which].around.filter(|_| self.solid) else {
            let (low, corner) = self.lowest(which, points, face.normal, best.corners[which]);
            return Some((low - face.offset, corner));
        };
        let floor = best.separation.min(-ranking.skin);
        let corner = around.farther(points, -face.normal, best.corners[which] as u32, -(floor + face.offset));
        let separation = face.normal.dot(points[corner]) - face.offset;
        (separation >= floor).then_some((separation, corner))
    }

    /// The contact of an axis, at the features that are closest along it.
    fn touch_along(&self, axis: &Axis, seen: &[Vec3]) -> Touch {
        let [a, b] = self.polytopes;
        let (feature, ends) = match axis.feature {
            Feature::Face(which, face) => {
                let points = if which == 0 { seen } else { a.vertices };
                let n = if which == 0 { axis.normal } else { -axis.normal };
                let (_, corner) = lowest(points, n);
                let kind = FACES | if which == 1 { SECOND } else { 0 };
                let (p, up) = (points[corner], axis.normal * axis.separation);
                (u64::from(face) << FACE | corner as u64 | kind, if which == 0 { [p - up, p] } else { [p, p + up] })
            }
            Feature::Edges(i, j) => {
                let p = a.edges[i as usize].vertices.map(|v| a.vertices[v as usize]);
                let q = b.edges[j as usize].vertices.map(|v| seen[v as usize]);
                let [s, t] = between_segments(p, q);
                let ends = [p[0] + (p[1] - p[0]) * s, q[0] + (q[1] - q[0]) * t];
                (EDGES | u64::from(i) << INCIDENT | u64::from(j), ends)
            }
        };
        Touch::new(0.5 * (ends[0] + ends[1]), axis.normal, axis.separation, feature)
    }

    /// Where an edge is nearly along a face beside the edge that it crosses, the contacts of that
    /// face too: a turn within the step lays the edge on it, and the crossing alone would let its
    /// ends through.
    fn beside_crossing(&self, edges: [u32; 2], first: usize, scratch: &mut Scratch, out: &mut Vec<Touch>) {
        let Some(crossing) = out.get(first).copied() else { return };
        let pair = [0, 1].map(|k| self.polytopes[k].edges[edges[k] as usize]);
        let along = [0, 1].map(|k: usize| {
            let [p, q] = pair[k].vertices.map(|v| self.polytopes[k].vertices[v as usize]);
            (q - p).unit_or_zero()
        });
        let turn = &self.relative.rotation;
        let other = [turn.transpose() * along[0], *turn * along[1]];
        for which in 0..2 {
            let faces = if which == 0 { self.own_faces } else { self.polytopes[1].faces.len() };
            for face in pair[which].faces.map(|f| f as usize).into_iter().filter(|f| *f < faces) {
                let plane = self.polytopes[which].faces[face];
                // Of the first polytope's faces against the second's edge, and the other way round.
                let sine = plane.normal.dot(if which == 0 { other[1] } else { other[0] });
                if sine.abs() <= ALONG_FACE {
                    let start = out.len();
                    self.faces((which, face), None, 0.0, scratch, out);
                    keep_beside(&crossing, start, self.query, out);
                }
            }
        }
    }

    /// All axes; false as soon as one keeps the polytopes farther apart than they can travel. A complete search goes on from a near one
    /// of the same pair.
    fn axes(&self, search: Search, scratch: &mut Scratch, ranking: &Ranking) -> bool {
        let inside = Insides::new(self);
        if search == Search::Near && !self.look_at_faces(scratch, &inside, ranking) {
            return false;
        }
        let Scratch { axes, faces, known, .. } = scratch;
        let Some(best) = *known else { return true };
        if search == Search::Complete {
            axes.clone_from(faces);
        }
        self.smooth || self.edge_axes(search, scratch, &inside, &best, ranking)
    }

    /// Places all corners, and looks at the axes of faces; false as in [`Self::axes`].
    fn look_at_faces(&self, scratch: &mut Scratch, inside: &Insides, ranking: &Ranking) -> bool {
        let [a, b] = self.polytopes;
        let Scratch { seen, axes, faces, known, shallow, marks, .. } = scratch;
        axes.clear();
        *known = None;
        seen[1].clear();
        let many = a.vertices.len() + b.vertices.len() > MANY;
        let place = |v: &Vec3| self.relative.point_to_world(*v);
        if b.around.is_none() {
            seen[1].extend(b.vertices.iter().map(place));
        }
        let looked = many.then(|| self.look_for_axis(&seen[1]));
        if let Some((axis, ends, near)) = looked
            && axis.dot(ends[1] - ends[0]) > self.limit_along(axis)
            && self.is_beyond_reach(axis, near)
        {
            return false;
        }
        if b.around.is_some() {
            seen[1].extend(b.vertices.iter().map(place));
        }
        let mut best = Known { separation: f64::NEG_INFINITY, corners: [0, 0], leaders: Leaders::NONE };
        if let Some((axis, _, near)) = looked {
            let corners = self.closest_corners(&seen[1], axis, near);
            best = Known { separation: self.separation(&seen[1], axis), corners, ..best };
            if best.separation > self.limit_along(axis) {
                return false;
            }
            best.separation -= ranking.skin;
        }
        seen[0].clear();
        seen[0].extend(a.vertices.iter().map(|v| self.relative.point_to_local(*v)));
        let apart = !self.face_axes(seen, axes, (shallow, marks), inside, &mut best, ranking);
        faces.clone_from(axes);
        *known = Some(best);
        !apart
    }

    /// An axis that is looked for, the points that are closest along it, and corners there or nearby.
    fn look_for_axis(&self, seen: &[Vec3]) -> (Vec3, [Vec3; 2], [usize; 2]) {
        let [a, b] = self.polytopes;
        let mut corners = [0, 0];
        let mut ends = |axis: Vec3| {
            let other = match b.around {
                None => seen[lowest(seen, axis).1],
                Some(around) => {
                    let own = self.relative.direction_to_local(axis);
                    corners[1] = around.farthest(b.vertices, -own, corners[1] as u32);
                    self.relative.point_to_world(b.vertices[corners[1]])
                }
            };
            corners[0] = self.lowest(0, a.vertices, -axis, corners[0]).1;
            [a.vertices[corners[0]], other]
        };
        let between = self.relative.point_to_world(b.inside.centre) - a.inside.centre;
        let (_, axis) = look_for_axis(between, |axis| self.limit_along(axis), &mut ends);
        let ends = ends(axis);
        (axis, ends, corners)
    }

    /// The largest separation along an axis that can close within the step.
    fn limit_along(&self, axis: Vec3) -> f64 {
        self.query.limit_along(axis, &self.drift)
    }

    /// True if all corners, looked for from one of each, are farther apart along an axis than they can travel, by more than rounding.
    fn is_beyond_reach(&self, axis: Vec3, from: [usize; 2]) -> bool {
        let [a, b] = self.polytopes;
        let own = self.relative.direction_to_local(axis);
        let low = b.least(own, from[1]) + axis.dot(self.relative.origin);
        low + a.least(-axis, from[0]) > self.limit_along(axis) + self.query.touch
    }

    /// The corner of each that is closest to the other along an axis, looked for from corners.
    fn closest_corners(&self, seen: &[Vec3], axis: Vec3, from: [usize; 2]) -> [usize; 2] {
        [self.lowest(0, self.polytopes[0].vertices, -axis, from[0]).1, self.lowest(1, seen, axis, from[1]).1]
    }

    fn add(&self, axes: &mut Vec<Axis>, normal: Vec3, separation: f64, feature: Feature, ranking: &Ranking) -> Rank {
        let rank = ranking.rank(separation, normal.dot(self.drift.linear));
        if self.solid || separation >= -ranking.skin || matches!(feature, Feature::Face(0, _)) {
            axes.push(Axis { normal, separation, feature, rank });
        }
        rank
    }

    /// How far the other moves against each polytope, in its own frame.
    fn drifts(&self) -> [Vec3; 2] {
        [self.drift.linear, -self.relative.direction_to_local(self.drift.linear)]
    }

    /// Notes an axis that may be tried. Who asks for separations without a limit wants them all.
    fn note(&self, rank: Rank, best: &mut Known) {
        if self.solid && self.query.reach.is_finite() {
            best.leaders.add(rank);
        }
    }

    /// Normals of faces; false as in [`Self::axes`].
    fn face_axes(
        &self,
        seen: &[Vec<Vec3>; 2],
        axes: &mut Vec<Axis>,
        (shallow, marks): (&mut Vec<u32>, &mut Vec<u64>),
        inside: &Insides,
        best: &mut Known,
        ranking: &Ranking,
    ) -> bool {
        let [a, b] = self.polytopes;
        let drifts = self.drifts();
        // A face that the ball within the other, or a corner of it, is far behind cannot be the best, once a better one is known;
        // nor can one be tried that ranks behind all that are.
        let hopeless = |face: &Face, which: usize, best: &Known| {
            let to_ball = face.normal.dot(inside.seen[which]) - inside.radii[which] - face.offset;
            let behind = face.normal.dot(seen[which][best.corners[which]]) - face.offset;
            let bound = if self.solid { to_ball.min(behind) } else { to_ball };
            let key = bound + face.normal.dot(drifts[1 - which]);
            bound < best.separation.min(-ranking.skin)
                || bound < best.separation && ranking.is_behind(key, &best.leaders)
        };
        self.shallow_faces(0, self.own_faces, seen, best, ranking, (shallow, marks));
        for &i in &*shallow {
            let face = &a.faces[i as usize];
            if hopeless(face, 1, best) {
                continue;
            }
            let Some((separation, corner)) = self.above_face(1, &seen[1], face, best, ranking) else { continue };
            let limit = self.limit_along(face.normal);
            if separation > limit && least(&seen[1], face.normal) - face.offset > limit {
                return false;
            }
            if separation > best.separation {
                *best = Known { separation, corners: [a.loops[face.first as usize] as usize, corner], ..*best };
            }
            let rank = self.add(axes, face.normal, separation, Feature::Face(0, i), ranking);
            self.note(rank, best);
        }
        self.shallow_faces(1, if self.smooth { 0 } else { b.faces.len() }, seen, best, ranking, (shallow, marks));
        for &i in &*shallow {
            let face = &b.faces[i as usize];
            if hopeless(face, 0, best) {
                continue;
            }
            let Some((separation, corner)) = self.above_face(0, &seen[0], face, best, ranking) else { continue };
            let normal = -(self.relative.rotation * face.normal);
            let limit = self.limit_along(normal);
            if separation > limit && least(&seen[0], face.normal) - face.offset > limit {
                return false;
            }
            if (self.allowed)(normal, corner) {
                if separation > best.separation {
                    *best = Known { separation, corners: [corner, b.loops[face.first as usize] as usize], ..*best };
                }
                let rank = self.add(axes, normal, separation, Feature::Face(1, i), ranking);
                self.note(rank, best);
            }
        }
        true
    }

    /// Of a polytope's first faces those that may be the best: the other's corner that is closest along the best axis known is not deep behind them.
    fn shallow_faces(
        &self,
        which: usize,
        count: usize,
        seen: &[Vec<Vec3>; 2],
        best: &Known,
        ranking: &Ranking,
        (out, marks): (&mut Vec<u32>, &mut Vec<u64>),
    ) {
        match self.polytopes[which].planes {
            Some(planes) if self.solid && best.separation > f64::NEG_INFINITY => {
                let least = best.separation.min(-ranking.skin);
                planes.find(seen[1 - which][best.corners[1 - which]], least, out);
                put_in_order(out, marks);
            }
            _ => {
                out.clear();
                out.extend(0..count as u32);
            }
        }
    }

    /// Common normals of edges whose arcs on the sphere of normals cross; false as in [`Self::axes`].
    fn edge_axes(
        &self,
        search: Search,
        scratch: &mut Scratch,
        inside: &Insides,
        best: &Known,
        ranking: &Ranking,
    ) -> bool {
        self.choose_edges(search, scratch, inside, best, ranking);
        let [a, b] = self.polytopes;
        let Scratch { seen, near, axes, arcs, crossing, .. } = scratch;
        let arc = |i: u32| {
            let edge = &a.edges[i as usize];
            let [p, q] = edge.vertices.map(|v| a.vertices[v as usize]);
            Arc { along: q - p, sides: edge.faces.map(|f| a.faces[f as usize].normal) }
        };
        if near[1].is_empty() {
            return true;
        }
        arcs.clear();
        arcs.extend(near[0].chunks(LANES).map(|edges| ArcLanes::new(edges.iter().map(|i| arc(*i)))));
        for &j in &near[1] {
            let edge_b = b.edges[j as usize];
            let ends = edge_b.vertices.map(|v| seen[1][v as usize]);
            let along = ends[1] - ends[0];
            let sides = edge_b.faces.map(|f| -(self.relative.rotation * b.faces[f as usize].normal));
            let other = Arc { along, sides };
            crossing.clear();
            find_crossing(arcs, &other, crossing);
            for i in crossing.iter().map(|k| near[0][*k as usize]) {
                let Some(normal) = arc(i).common_normal(&other, search == Search::Complete) else { continue };
                let edge = a.edges[i as usize];
                let separation = match search {
                    Search::Near => normal.dot(ends[0] - a.vertices[edge.vertices[0] as usize]),
                    Search::Complete => {
                        self.lowest(1, &seen[1], normal, edge_b.vertices[0] as usize).0
                            + self.lowest(0, a.vertices, -normal, edge.vertices[0] as usize).0
                    }
                };
                let limit = self.limit_along(normal);
                if separation > limit && self.separation(&seen[1], normal) > limit {
                    return false;
                }
                self.add(axes, normal, separation, Feature::Edges(i, j), ranking);
            }
        }
        true
    }

    /// The edges of each whose common normals may be axes that matter.
    fn choose_edges(&self, search: Search, scratch: &mut Scratch, inside: &Insides, best: &Known, ranking: &Ranking) {
        let [a, b] = self.polytopes;
        let reach = scratch.axes.iter().map(|x| x.separation.abs()).fold(f64::INFINITY, f64::min);
        let reach = if search == Search::Near { reach.max(self.query.limit()) } else { f64::INFINITY };
        let Scratch { seen, near, shallow, open, marks, .. } = scratch;
        let bound = best.separation.min(-ranking.skin);
        let above = |which: usize, f: u32, x: Vec3| {
            let face = &self.polytopes[which].faces[f as usize];
            face.normal.dot(x) - face.offset
        };
        for (which, near) in near.iter_mut().enumerate() {
            let (edges, faces) = (self.polytopes[which].edges, self.polytopes[which].faces.len() as u32);
            near.clear();
            if !self.solid {
                near.extend(0..edges.len() as u32);
                continue;
            }
            // An edge cannot be the best if a point x of the other polytope is farther behind both its faces: a normal n between
            // theirs is a sum of them with weights that are not below 1 together, and the separation along it is at most n · (x − p)
            // with p on the edge.
            let x = seen[1 - which][best.corners[1 - which]];
            if let Some(planes) = self.polytopes[which].planes {
                planes.find(x, bound, shallow);
                for &f in shallow.iter().filter(|f| above(which, **f, x) >= bound) {
                    near.extend_from_slice(planes.edges_of(&self.polytopes[which].faces[f as usize]));
                }
                put_in_order(near, marks);
                continue;
            }
            open.clear();
            open.extend((0..faces).map(|f| above(which, f, x) >= bound));
            near.extend((0..edges.len() as u32).filter(|i| edges[*i as usize].faces.iter().any(|f| open[*f as usize])));
        }
        if search == Search::Near {
            // It cannot be tried if it ranks behind all that are: weights of the two normals sum up to at most the inverse cosine of half
            // the angle between them.
            let drifts = self.drifts();
            for (which, near) in near.iter_mut().enumerate() {
                let PolytopeRef { edges, faces, .. } = self.polytopes[which];
                let x = seen[1 - which][best.corners[1 - which]] + drifts[which];
                near.retain(|&i| {
                    let sides = edges[i as usize].faces;
                    let above = above(which, sides[0], x).max(above(which, sides[1], x));
                    let weights = || {
                        let [one, two] = sides.map(|f| faces[f as usize].normal);
                        (2.0 / (1.0 + one.dot(two))).max(1.0).sqrt()
                    };
                    !ranking.is_behind(above, &best.leaders)
                        || above > 0.0 && !ranking.is_behind(weights() * above, &best.leaders)
                });
            }
        }
        // Nor if its normals all let the balls within the two overlap more than the best axis does.
        let least = bound + inside.radii[0] + inside.radii[1];
        let between = inside.seen[1] - self.polytopes[0].inside.centre;
        let size = between.norm();
        let may = |normals: [Vec3; 2]| {
            let [one, two] = normals.map(|n| n.dot(between));
            one.max(two) + (normals[0] - normals[1]).norm() * size >= least
        };
        near[0].retain(|&i| may(a.edges[i as usize].faces.map(|f| a.faces[f as usize].normal)));
        let turned = |f: u32| -(self.relative.rotation * b.faces[f as usize].normal);
        near[1].retain(|&j| may(b.edges[j as usize].faces.map(turned)));
        if reach.is_finite() {
            keep_near(a.vertices, a.edges, &seen[1], reach, &mut near[0]);
            keep_near(&seen[1], b.edges, a.vertices, reach, &mut near[1]);
        }
        if !self.solid || near[0].len() * near[1].len() <= MANY_PAIRS {
            return;
        }
        // Among many, with the point of the other that is farthest behind one of its faces.
        for which in 0..2 {
            let (points, mut from) = (&seen[1 - which], best.corners[1 - which]);
            let edges = self.polytopes[which].edges;
            near[which].retain(|&i| {
                let [f, g] = edges[i as usize].faces;
                let normal = self.polytopes[which].faces[f as usize].normal;
                from = self.lowest(1 - which, points, normal, from).1;
                above(which, f, points[from]).max(above(which, g, points[from])) >= bound
            });
        }
    }

    /// Where faces are parallel, or nearly so, the first polytope's is the reference, whichever is the better axis: both tell the same,
    /// and the choice does not change with rounding. The face of the axis is the incident one then: others may look towards the reference too.
    fn reference(&self, which: usize, face: usize, normal: Vec3) -> ((usize, usize), Option<usize>) {
        let own = &self.polytopes[0].faces[..self.own_faces];
        match own.iter().position(|f| which == 1 && f.normal.dot(normal) > FACE_LIKE) {
            Some(first) => ((0, first), Some(face)),
            None => ((which, face), None),
        }
    }

    /// The overlap of a face of one polytope with one of the other: with that which looks towards it most at its nearest corner, if none is given.
    fn faces(
        &self,
        (which, face): (usize, usize),
        incident: Option<usize>,
        separation: f64,
        scratch: &mut Scratch,
        out: &mut Vec<Touch>,
    ) -> bool {
        let Scratch { seen, sides, clip, facing, .. } = scratch;
        let (own, other) = (self.polytopes[which], self.polytopes[1 - which]);
        // Everything in the frame of the face's polytope, where the other's corners are `seen`.
        let seen = &seen[1 - which];
        let (rotation, drift) = if which == 0 {
            (self.relative.rotation, self.drift)
        } else {
            (self.relative.rotation.transpose(), self.drift.seen_from(&self.relative).reversed())
        };
        let plane = own.faces[face];
        let faces = if which == 0 { other.faces.len() } else { self.own_faces };
        let turned = rotation.transpose() * plane.normal;
        let facing_most = || incident_face(other, faces, seen, [plane.normal, turned], self.query.touch, facing);
        let incident = incident.unwrap_or_else(facing_most);
        let basis = Basis::new(own, face);
        let corners = other.faces[incident];
        let loops = &other.loops[corners.first as usize..][..corners.count as usize];
        let load = |clip: &mut Clip| {
            clip.polygon.clear();
            clip.polygon.extend(loops.iter().enumerate().map(|(i, v)| {
                let p = seen[*v as usize];
                let [u, v] = basis.coordinates(p);
                Corner::vertex(u, v, plane.normal.dot(p) - plane.offset, i as u32)
            }));
        };
        load(clip);
        basis.sides(own, face, sides, |_| 0.0);
        if clip.overlap(sides, self.query.touch) {
            // Corners that are not over the face yet, but come to be.
            for (i, v) in loops.iter().enumerate() {
                let (p, d) = (seen[*v as usize], drift.at(seen[*v as usize]));
                let ([u, v], way) = (basis.coordinates(p), [basis.u.dot(d), basis.v.dot(d), plane.normal.dot(d)]);
                let corner = Corner::vertex(u, v, plane.normal.dot(p) - plane.offset, i as u32);
                if comes_in(&corner, sides, way, self.query.touch) {
                    clip.polygon.push(corner);
                }
            }
        } else {
            load(clip);
            let ways =
                |outward: Vec3| loops.iter().map(|v| -drift.at(seen[*v as usize]).dot(outward)).fold(0.0, f64::max);
            basis.sides(own, face, sides, ways);
            if !clip.overlap(sides, self.query.touch) {
                return false;
            }
            // What will be on the face but is below its plane now has come from the side of a neighbour, which holds it.
            if separation < -self.query.touch {
                return true;
            }
        }
        let kind = FACES | if which == 1 { SECOND } else { 0 };
        let code = (incident as u64) << INCIDENT | (face as u64) << FACE | kind;
        for corner in clip.polygon.iter().filter(|c| c.height <= self.query.limit()) {
            let foot = basis.point(corner.u, corner.v);
            let point = foot + plane.normal * (0.5 * corner.height);
            let (point, normal) = if which == 0 {
                (point, plane.normal)
            } else {
                (self.relative.point_to_world(point), -(self.relative.rotation * plane.normal))
            };
            out.push(Touch::new(point, normal, corner.height, u64::from(corner.name) | code));
        }
        true
    }

    /// The crossing of two edges.
    fn edges(&self, i: u32, j: u32, normal: Vec3, out: &mut Vec<Touch>) -> bool {
        let [a, b] = self.polytopes;
        let [p, p1] = a.edges[i as usize].vertices.map(|v| a.vertices[v as usize]);
        let [q, q1] = b.edges[j as usize].vertices.map(|v| self.relative.point_to_world(b.vertices[v as usize]));
        let (long_u, long_v) = ((p1 - p).norm(), (q1 - q).norm());
        let (u, v) = ((p1 - p) / long_u, (q1 - q) / long_v);
        // p + s u and q + t v are closest. Cross products keep their digits where the edges are nearly parallel.
        let (w, across) = (q - p, u.cross(v));
        let sin2 = across.length_squared();
        let (s, t) = (w.cross(v).dot(across) / sin2, w.cross(u).dot(across) / sin2);
        let gap = w.dot(normal);
        let travel = if gap > self.query.touch { self.drift.at(q + v * t).norm() } else { 0.0 } + self.query.touch;
        if s < -travel || s > long_u + travel || t < -travel || t > long_v + travel {
            return false;
        }
        if gap <= self.query.limit() {
            let feature = EDGES | u64::from(i) << INCIDENT | u64::from(j);
            out.push(Touch::new(0.5 * (p + u * s + q + v * t), normal, gap, feature));
        }
        true
    }
}

/// The best axis known: its separation, and the corners of the two that are closest along it, or nearly so. And the leaders of the ranking.
#[derive(Debug, Clone, Copy)]
struct Known {
    separation: f64,
    corners: [usize; 2],
    leaders: Leaders,
}

/// Balls within the two polytopes.
struct Insides {
    radii: [f64; 2],
    /// The centre of each in the frame of the other; the first's is that of all axes.
    seen: [Vec3; 2],
}

impl Insides {
    fn new<F>(pair: &Pair<'_, F>) -> Self {
        let [a, b] = pair.polytopes.map(|p| p.inside);
        let seen = [pair.relative.point_to_local(a.centre), pair.relative.point_to_world(b.centre)];
        Self { radii: [a.radius, b.radius], seen }
    }
}

/// Two solid polytopes.
pub(crate) fn polytopes(
    frames: [&Frame; 2],
    polytopes: [PolytopeRef; 2],
    query: &Query,
    scratch: &mut Scratch,
    out: &mut Vec<Touch>,
) -> bool {
    let start = out.len();
    let near = solids(frames, polytopes, query).contacts(scratch, out);
    to_world(frames[0], &mut out[start..]);
    near
}

/// The separations of two solid polytopes.
pub(crate) fn polytopes_apart(
    frames: [&Frame; 2],
    polytopes: [PolytopeRef; 2],
    query: &Query,
    scratch: &mut Scratch,
    out: &mut Vec<Apart>,
) {
    solids(frames, polytopes, query).axes(Search::Near, scratch, &Ranking::new(query, 0.0));
    let to_world = |a: &Axis| Apart { normal: frames[0].rotation * a.normal, separation: a.separation };
    out.extend(scratch.axes.iter().map(to_world));
}

fn solids<'a>(
    frames: [&Frame; 2],
    polytopes: [PolytopeRef<'a>; 2],
    query: &'a Query,
) -> Pair<'a, impl Fn(Vec3, usize) -> bool + use<'a>> {
    Pair {
        polytopes,
        own_faces: polytopes[0].faces.len(),
        solid: true,
        smooth: false,
        relative: frames[0].relative(frames[1]),
        drift: query.drift.seen_from(frames[0]),
        query,
        allowed: |_, _| true,
    }
}

/// Contacts from a frame to the world.
pub(crate) fn to_world(frame: &Frame, touches: &mut [Touch]) {
    for touch in touches {
        touch.point = frame.point_to_world(touch.point);
        touch.normal = frame.rotation * touch.normal;
    }
}

/// Puts numbers in ascending order, each once, by marking them.
fn put_in_order(numbers: &mut Vec<u32>, marks: &mut Vec<u64>) {
    const BITS: u32 = u64::BITS;
    marks.clear();
    for &k in &*numbers {
        let at = (k / BITS) as usize;
        if at >= marks.len() {
            marks.resize(at + 1, 0);
        }
        marks[at] |= 1 << (k % BITS);
    }
    numbers.clear();
    for (at, mut rest) in marks.iter().copied().enumerate() {
        while rest != 0 {
            numbers.push(at as u32 * BITS + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}

/// The depth of the deepest contact (m); negative where all are apart.
fn deepest(touches: &[Touch]) -> f64 {
    touches.iter().map(|t| -t.gap).fold(f64::NEG_INFINITY, f64::max)
}

fn best_axis(axes: &[Axis], ranking: &Ranking) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (k, axis) in axes.iter().enumerate() {
        if best.is_none_or(|b| ranking.better(axis.rank, axes[b].rank)) {
            best = Some(k);
        }
    }
    best
}

/// The least `n · p`, and which point has it.
fn lowest(points: &[Vec3], n: Vec3) -> (f64, usize) {
    let mut best = (f64::INFINITY, 0);
    for (k, p) in points.iter().enumerate() {
        let height = n.dot(*p);
        if height < best.0 {
            best = (height, k);
        }
    }
    best
}

/// Keeps edges whose bounds, grown by `reach`, meet those of the other points: edges touch at a distance of at most that.
fn keep_near(vertices: &[Vec3], edges: &[Edge], others: &[Vec3], reach: f64, near: &mut Vec<u32>) {
    if near.is_empty() {
        return;
    }
    let low = others.iter().fold(Vec3::INFINITY, |a, p| a.min(*p)) - reach;
    let high = others.iter().fold(Vec3::NEG_INFINITY, |a, p| a.max(*p)) + reach;
    near.retain(|&k| {
        let [p, q] = edges[k as usize].vertices.map(|v| vertices[v as usize]);
        p.max(q).cmpge(low).all() && p.min(q).cmple(high).all()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::polytope::Polytope;
    use stiction_linalg::rng::Rng;

    /// A hull of points about a centre.
    fn random_hull(rng: &mut Rng, count: usize, centre: Vec3) -> Polytope {
        let mut draw = || Vec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5;
        let points: Vec<Vec3> =
            (0..count).map(|_| centre + draw().unit_or(Vec3::X) * Vec3::new(0.1, 0.15, 0.2)).collect();
        Polytope::hull(&points).unwrap()
    }

    #[test]
    fn hulls_have_contacts_where_the_motion_closes_the_gap_between_them() {
        let mut rng = Rng::new(17);
        let hulls = [Vec3::ZERO, Vec3::new(0.0, 0.0, 0.45)].map(|at| random_hull(&mut rng, 80, at));
        let contacts = |linear: Vec3, angular: Vec3, margin: f64| {
            let drift = Drift { linear, angular, about: Vec3::new(0.0, 0.0, 0.45) };
            let reach = linear.norm() + 0.2 * angular.norm() + margin;
            let query = Query { reach, margin, radius: 0.2, bend: 0.0, touch: 1e-10, size: 0.1, drift };
            let mut out = Vec::new();
            let frames = [&Frame::IDENTITY; 2];
            polytopes(frames, hulls.each_ref().map(|h| h.view()), &query, &mut Scratch::default(), &mut out);
            out.len()
        };
        // A gap of about 50 mm, along z.
        assert!(contacts(Vec3::Z * -0.1, Vec3::ZERO, 1e-3) > 0);
        assert_eq!(contacts(Vec3::Z * 0.1, Vec3::ZERO, 1e-3), 0);
        assert_eq!(contacts(Vec3::X * 0.1, Vec3::ZERO, 1e-3), 0);
        assert_eq!(contacts(Vec3::ZERO, Vec3::Z * 0.5, 1e-3), 0);
        assert!(contacts(Vec3::Z * 0.1, Vec3::ZERO, 0.1) > 0, "a hit may turn it round");
        assert!(contacts(Vec3::ZERO, Vec3::ZERO, 0.1) > 0);
    }

    #[test]
    fn axes_that_are_left_out_rank_behind_all_that_are_tried() {
        let mut rng = Rng::new(11);
        let (mut pairs, mut left_out) = (0, 0);
        for k in 0..300 {
            let count = 30 + (k % 3) * 40;
            let hulls = [Vec3::ZERO, Vec3::new(0.35, 0.05, 0.02)].map(|at| random_hull(&mut rng, count, at));
            let mut draw = || (Vec3::new(rng.uniform(), rng.uniform(), rng.uniform()) - 0.5) * 0.2;
            let (linear, angular) = (draw(), draw());
            let drift = Drift { linear, angular, about: Vec3::new(0.35, 0.05, 0.02) };
            let reach = linear.norm() + 0.2 * angular.norm() + 0.25;
            let query = Query { reach, margin: 0.25, radius: 0.2, bend: 0.0, touch: 1e-10, size: 0.1, drift };
            let frames = [&Frame::IDENTITY; 2];
            let ranking = Ranking::new(&query, linear.norm());
            let pair = solids(frames, [hulls[0].view(), hulls[1].view()], &query);
            let inside = Insides::new(&pair);
            let mut scratch = Scratch::default();
            if !pair.look_at_faces(&mut scratch, &inside, &ranking) {
                continue;
            }
            let known = scratch.known.unwrap();
            if !pair.edge_axes(Search::Near, &mut scratch, &inside, &known, &ranking) {
                continue;
            }
            let chosen = scratch.axes.clone();
            // The same without leaders: all faces, and the edges of a search that knows of none.
            let all = Query { reach: f64::INFINITY, bend: f64::INFINITY, ..query };
            let all = Pair { query: &all, ..solids(frames, [hulls[0].view(), hulls[1].view()], &query) };
            assert!(all.look_at_faces(&mut scratch, &inside, &ranking));
            let none = Known { leaders: Leaders::NONE, ..known };
            assert!(pair.edge_axes(Search::Near, &mut scratch, &inside, &none, &ranking));
            left_out += scratch.axes.len() - chosen.len();
            let tried = |mut axes: Vec<Axis>| -> Vec<Feature> {
                let tries = (0..TRIES).map_while(|_| best_axis(&axes, &ranking).map(|best| axes.swap_remove(best)));
                tries.filter(|axis| axis.rank.apart).map(|axis| axis.feature).collect()
            };
            assert_eq!(tried(chosen), tried(scratch.axes.clone()), "pair {k}");
            pairs += 1;
        }
        assert!(pairs > 100 && left_out > 1000, "{pairs} pairs, {left_out} left out");
    }
}
