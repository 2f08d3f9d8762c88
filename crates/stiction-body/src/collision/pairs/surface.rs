//! A surface of triangles with a convex shape, triangle by triangle, and what is left when the seams are taken out.

use crate::collision::frame::{Frame, Query, Touch};
use crate::collision::pairs::cylinder::{self, Cylinder};
use crate::collision::pairs::ellipsoid;
use crate::collision::pairs::polytopes::{self, Pair, to_world};
use crate::collision::pairs::round::{self, NearSegment, Spot};
use crate::collision::polytope::PolytopeRef;
use crate::collision::surface::{self, Surface, Tile};
use crate::collision::vector::Norm;
use crate::math::Vec3;

/// Normals that agree to this are those of one plane, and gaps that agree to this fraction of the size are equal.
const SAME: f64 = 1e-12;

/// Contacts of round shapes at one place whose normals agree to this are one: the face beside a seam, seen from both sides.
const SEAM: f64 = 1e-6;

/// Scratch, reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    near: Vec<u32>,
    group: Vec<Flat>,
    order: Vec<usize>,
    chain: Vec<usize>,
    keep: Vec<bool>,
}

/// A contact in its plane.
#[derive(Debug, Clone, Copy)]
struct Flat {
    at: usize,
    u: f64,
    v: f64,
}

/// A surface, and where the other shape's bounding box is in its frame.
pub(crate) struct Region<'a> {
    pub surface: &'a Surface,
    pub frame: &'a Frame,
    pub centre: Vec3,
    pub half: Vec3,
    pub query: &'a Query,
    /// Whether contacts at seams and inside flat parts are taken out.
    pub merge: bool,
}

impl Region<'_> {
    /// Runs `contacts` for every triangle near the other shape, all of which is within `radius` of its centre; names each contact by its triangle.
    fn each(
        &self,
        radius: f64,
        scratch: &mut Scratch,
        out: &mut Vec<Touch>,
        mut contacts: impl FnMut(&Tile, &mut Vec<Touch>),
    ) {
        let reach = self.query.limit();
        let (low, high) = (self.centre - self.half - reach, self.centre + self.half + reach);
        self.surface.near(low, high, radius + reach, &mut scratch.near);
        for &triangle in &scratch.near {
            let (height, normal) = self.surface.plane(triangle, self.centre);
            let extent = (normal * self.half).abs().element_sum();
            if height - extent > reach || (height + extent < -reach && !self.surface.solid_below) {
                continue;
            }
            if self.surface.is_far(triangle, self.centre, radius + reach) {
                continue;
            }
            let start = out.len();
            contacts(&self.surface.tile(triangle, self.query.touch), out);
            out[start..].iter_mut().for_each(|t| t.feature = named(triangle, t.feature));
        }
    }

    pub(crate) fn sphere(&self, ball: &Frame, radius: f64, scratch: &mut Scratch, out: &mut Vec<Touch>) {
        let start = out.len();
        let behind = self.behind();
        self.each(radius, scratch, out, |tile, out| {
            round::sphere(self.frame, ball, radius, self.query, out, |p| tile.closest(p, behind));
        });
        if self.merge {
            drop_seams(self.query.size, scratch, out, start);
        }
    }

    pub(crate) fn ellipsoid(&self, frame: &Frame, radii: Vec3, scratch: &mut Scratch, out: &mut Vec<Touch>) {
        let start = out.len();
        let behind = self.behind();
        self.each(radii.max_element(), scratch, out, |tile, out| {
            ellipsoid::ellipsoid(self.frame, frame, radii, self.query, out, |body, p| {
                ellipsoid::to_tile(body, p, tile, behind)
            });
        });
        if self.merge {
            drop_seams(self.query.size, scratch, out, start);
        }
    }

    pub(crate) fn capsule(
        &self,
        capsule: &Frame,
        half_length: f64,
        radius: f64,
        (scratch, near): (&mut Scratch, &mut NearSegment),
        out: &mut Vec<Touch>,
    ) {
        let start = out.len();
        let behind = self.behind();
        self.each(f64::INFINITY, scratch, out, |tile, out| {
            let allowed = |n: Vec3, _: Vec3, spot: Spot| match spot {
                Spot::Corner(k) => tile.allowed(n, surface::Spot::Corner(k)),
                Spot::Edge(k) => tile.allowed(n, tile.side(k)),
            };
            let closest = |p: Vec3| tile.closest(p, behind);
            if tile.is_smooth() {
                return round::capsule_ends(self.frame, capsule, half_length, radius, self.query, out, closest);
            }
            round::polytope_capsule(
                self.frame,
                tile.view(),
                capsule,
                half_length,
                radius,
                self.query,
                out,
                closest,
                allowed,
                near,
            );
        });
        if self.merge {
            drop_seams(self.query.size, scratch, out, start);
        }
    }

    pub(crate) fn polytope(
        &self,
        frame: &Frame,
        polytope: PolytopeRef,
        scratch: &mut Scratch,
        work: &mut polytopes::Scratch,
        out: &mut Vec<Touch>,
    ) {
        let start = out.len();
        let relative = self.frame.relative(frame);
        let drift = self.query.drift.seen_from(self.frame);
        self.each(f64::INFINITY, scratch, out, |tile, out| {
            let local = relative.direction_to_local(tile.normal());
            let top = polytope.vertices.iter().map(|v| local.dot(*v)).fold(f64::NEG_INFINITY, f64::max);
            if !self.surface.solid_below && tile.height(relative.origin) + top <= self.query.touch {
                return;
            }
            let allowed = |n: Vec3, corner: usize| tile.allowed(n, surface::Spot::Corner(corner));
            let pair = Pair {
                polytopes: [tile.view(), polytope],
                own_faces: 1,
                solid: false,
                smooth: tile.is_smooth(),
                relative,
                drift,
                query: self.query,
                allowed,
            };
            pair.contacts(work, out);
        });
        if self.merge {
            keep_outlines(self.query.touch, scratch, out, start);
        }
        to_world(self.frame, &mut out[start..]);
    }

    pub(crate) fn cylinder(
        &self,
        frame: &Frame,
        half_length: f64,
        radius: f64,
        scratch: &mut Scratch,
        work: &mut cylinder::Scratch,
        out: &mut Vec<Touch>,
    ) {
        let start = out.len();
        let cylinder = Cylinder::new(&self.frame.relative(frame), half_length, radius);
        let drift = self.query.drift.seen_from(self.frame);
        self.each(f64::INFINITY, scratch, out, |tile, out| {
            if !self.surface.solid_below && tile.height(cylinder.lowest(-tile.normal())) <= self.query.touch {
                return;
            }
            let allowed = |n: Vec3, corner: usize| tile.allowed(n, surface::Spot::Corner(corner));
            let (polytope, query) = (tile.view(), self.query);
            cylinder::Pair {
                polytope,
                own_faces: 1,
                solid: false,
                smooth: tile.is_smooth(),
                cylinder,
                drift,
                query,
                allowed,
            }
            .contacts(work, out);
        });
        if self.merge {
            drop_seams(self.query.size, scratch, out, start);
        }
        to_world(self.frame, &mut out[start..]);
    }

    /// How far behind a triangle a ball's centre can be and still be pushed out by it.
    fn behind(&self) -> f64 {
        if self.surface.solid_below { f64::INFINITY } else { self.query.size }
    }
}

/// A corner of the other shape keeps its name over all triangles; other contacts are named by triangle and feature.
fn named(triangle: u32, feature: u64) -> u64 {
    if polytopes::is_incident_vertex(feature) {
        return feature;
    }
    // SplitMix64's finalizer: one to one for each triangle, and no two of the few contacts of a pair meet by chance.
    let mut z = feature ^ (u64::from(triangle) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) & !polytopes::KIND) | (feature & polytopes::KIND) | 1 << 63
}

/// Of contacts at one place with almost the same normal, keeps the nearest; of equally near ones that of a corner of the other shape, then
/// the first.
fn drop_seams(size: f64, scratch: &mut Scratch, out: &mut Vec<Touch>, start: usize) {
    let keep = &mut scratch.keep;
    keep.clear();
    keep.resize(out.len() - start, true);
    for i in 1..keep.len() {
        for j in 0..i {
            let (a, b) = (&out[start + i], &out[start + j]);
            let turned = (a.normal - b.normal).abs().max_element() > SEAM;
            if !keep[i] || !keep[j] || turned || (a.point - b.point).abs().max_element() > SEAM * size {
                continue;
            }
            let equal = (a.gap - b.gap).abs() <= SAME * size;
            let corner = |t: &Touch| polytopes::is_incident_vertex(t.feature);
            let later = if equal { corner(a) && !corner(b) } else { a.gap < b.gap };
            keep[if later { j } else { i }] = false;
        }
    }
    retain(keep, out, start);
}

fn retain(keep: &[bool], out: &mut Vec<Touch>, start: usize) {
    let mut to = start;
    for (k, kept) in keep.iter().enumerate() {
        if *kept {
            out[to] = out[start + k];
            to += 1;
        }
    }
    out.truncate(to);
}

/// Of contacts of one flat part of the surface with one face, keeps the corners of their outline. The others are convex combinations of
/// those, in place and gap: they change neither the motions nor the forces and torques that are possible.
fn keep_outlines(touch: f64, scratch: &mut Scratch, out: &mut Vec<Touch>, start: usize) {
    let Scratch { group, order, chain, keep, .. } = scratch;
    keep.clear();
    keep.resize(out.len() - start, true);
    order.clear();
    order.extend((start..out.len()).filter(|k| polytopes::on_first_face(out[*k].feature)));
    // `order` holds what is in no group yet.
    while let Some(&seed) = order.first() {
        let first = out[seed];
        let level = |t: &Touch| first.normal.dot(t.point) - 0.5 * t.gap;
        let (u, v) = slanted(first.normal);
        group.clear();
        order.retain(|&k| {
            let t = &out[k];
            let one =
                (t.normal - first.normal).abs().max_element() <= SAME && (level(t) - level(&first)).abs() <= touch;
            if one {
                group.push(Flat { at: k, u: u.dot(t.point - first.point), v: v.dot(t.point - first.point) });
            }
            !one
        });
        outline(touch, group, chain);
        for f in group.iter() {
            keep[f.at - start] = false;
        }
        for &k in chain.iter() {
            keep[group[k].at - start] = true;
        }
    }
    retain(keep, out, start);
}

/// Two unit vectors across n that are askew to grids, so that no two corners have the same coordinate but for rounding.
fn slanted(n: Vec3) -> (Vec3, Vec3) {
    let s = n.any_orthogonal_vector().unit_or_zero();
    let t = n.cross(s);
    ((s * 3.0 + t * 2.0).unit_or_zero(), (t * 3.0 - s * 2.0).unit_or_zero())
}

/// Corners of the convex hull of points in a plane, by the monotone chain; points within `touch` of it are left out.
fn outline(touch: f64, points: &mut [Flat], chain: &mut Vec<usize>) {
    points.sort_unstable_by(|a, b| a.u.total_cmp(&b.u).then(a.v.total_cmp(&b.v)).then(a.at.cmp(&b.at)));
    chain.clear();
    let left_of = |a: &Flat, b: &Flat, c: &Flat| {
        let (bu, bv) = (b.u - a.u, b.v - a.v);
        let (cu, cv) = (c.u - a.u, c.v - a.v);
        bu * cv - bv * cu > touch * (cu * cu + cv * cv).sqrt()
    };
    let n = points.len();
    for (lower, range) in [(true, 0..n), (false, 0..n)] {
        let floor = chain.len().max(1);
        for i in range {
            let k = if lower { i } else { n - 1 - i };
            while chain.len() > floor
                && !left_of(&points[chain[chain.len() - 2]], &points[chain[chain.len() - 1]], &points[k])
            {
                chain.pop();
            }
            let last = chain.last().map(|&l| &points[l]);
            let apart = last.is_none_or(|l| (l.u - points[k].u).abs().max((l.v - points[k].v).abs()) > touch);
            if apart {
                chain.push(k);
            }
        }
    }
    let closes = |a: &Flat, b: &Flat| (a.u - b.u).abs().max((a.v - b.v).abs()) <= touch;
    if chain.len() > 1 && closes(&points[chain[0]], &points[chain[chain.len() - 1]]) {
        chain.pop();
    }
}
