//! Where bodies touch: contact points with gap, normal and identity.
//!
//! [`Collision`] is built once from a model and its [`Geom`]s; [`Collision::find`] gives the contacts at a state. They are those of the state alone: from one call to
//! the next only what is the same to the last bit is kept.

mod advance;
mod apart_along_axis;
mod box_tree;
mod broad;
mod closest;
mod closest_points;
mod convex_hull;
mod ellipsoid;
mod frame;
mod margins;
mod pairs;
pub(crate) mod polytope;
mod rays;
mod rules;
mod sign_change;
mod simplex;
mod solid;
mod surface;
mod vector;

pub use advance::Overlap;
pub use closest_points::Separation;
pub use margins::Margin;
pub use rays::RayHit;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use stiction_linalg::{InputError, Threads};

use crate::collision::vector::Norm;
use crate::kinematics::{LinkMotion, Workspace};
use crate::math::{Pose, Vec3};
use crate::model::Model;
use crate::shape::Shape;
use broad::{Bounds, Broad};
use frame::{Apart, Drift, Frame, Query, Touch};
use margins::Margins;
use pairs::Member;
use rules::{Allowed, Group, place, rigid_groups};
use solid::{Solid, unsupported};

/// Most geoms: a million is far beyond what steps can be made of, and every file that asks for more
/// is an error.
const MOST_GEOMS: usize = 1 << 20;

/// Most contacts that are found at a time: a step with more would take gigabytes and minutes. There are
/// so many where a step is long beside the speeds, and everything comes to touch everything.
const MOST_CONTACTS: usize = 1 << 17;

/// Most entries of the rows of all contacts, which have one for each velocity of the articulated bodies that
/// touch, along three directions: steps keep a handful of copies, 134 MB each then.
const MOST_ROW_ENTRIES: usize = 1 << 24;

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
    /// Pairs of geoms that never touch.
    pub excluded_geoms: Vec<(usize, usize)>,
    /// Pairs of geoms that are always looked at, whatever the groups and links say.
    pub pairs: Vec<(usize, usize)>,
    /// Keep contacts of a pair of links that are exact duplicates (same point, same normal), and every seam and inner corner of a mesh or
    /// height field. Otherwise they are merged, which changes neither motion nor resultants.
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
    /// From `point` to the second geom's point that is to touch (m), across the normal; the first geom's is at `point − lead`.
    /// Zero but where they come to touch within the step while they move past each other.
    pub lead: Vec3,
}

/// Lengths below this fraction of the smaller geom's size are as good as zero: a contact is touching, an overlap of faces is an edge.
const TOUCH: f64 = 1e-9;

/// Duplicates agree to this fraction of the size (points) or of 1 (normals).
const DUPLICATE: f64 = 1e-12;

/// A geom made ready.
#[derive(Debug, Clone)]
struct Part {
    solid: Solid,
    link: Option<usize>,
    /// `X_LG`.
    pose: Pose,
    /// Centre and half sides of the bounding box, in the geom's frame.
    centre: Vec3,
    half: Vec3,
    /// Of the ball about the centre that holds the geom.
    radius: f64,
    size: f64,
    /// True if it never moves.
    fixed: bool,
    /// True if other geoms are on the same link.
    shared: bool,
}

/// Where a geom is and how it moves, for one call.
#[derive(Debug, Clone, Copy)]
struct Placed {
    frame: Frame,
    /// Centre of the bounding box in the world.
    centre: Vec3,
    /// Motion of the link, and its origin.
    motion: LinkMotion,
    origin: Vec3,
    /// Half sides of the box along the world's axes.
    extent: Vec3,
    /// Farthest way of a point within the step.
    reach: f64,
    finite: bool,
    /// The pose of the link that it was placed by.
    pose: Option<Pose>,
    /// True if it is where it was in the call before, and moves alike, to the bit.
    is_kept: bool,
}

impl Placed {
    /// True if it was placed by the same pose and motion of its link, to the bit.
    fn is_by(&self, pose: Option<&Pose>, motion: Option<&LinkMotion>) -> bool {
        let vector = |v: Vec3| v.to_array().map(f64::to_bits);
        let (Some(before), Some(pose), Some(motion)) = (&self.pose, pose, motion) else { return false };
        vector(before.translation) == vector(pose.translation)
            && before.rotation.to_array().map(f64::to_bits) == pose.rotation.to_array().map(f64::to_bits)
            && vector(self.motion.linear) == vector(motion.linear)
            && vector(self.motion.angular) == vector(motion.angular)
    }

    /// Velocity of the point of the geom's link at x.
    fn velocity(&self, x: Vec3) -> Vec3 {
        self.motion.linear + self.motion.angular.cross(x - self.origin)
    }
}

/// What finding the contacts of pairs needs.
#[derive(Debug, Clone, Default)]
struct PairWorkspace {
    scratch: pairs::Scratch,
    touches: Vec<Touch>,
}

/// Pairs that are worth a thread: to find their contacts takes several times as long as to wake it.
const GRAIN: usize = 100;

/// Chunks of pairs per thread, so that none waits long for another.
const CHUNKS: usize = 4;

/// Finds contacts between geoms.
///
/// ```
/// use stiction_body::math::{Pose, Vec3};
/// use stiction_body::{Collision, CollisionRules, Geom, Inertia, LinkMotion, LinkSpec, ModelBuilder, Shape, Workspace};
///
/// let mut builder = ModelBuilder::default();
/// builder.add(LinkSpec::free("box", Inertia::cuboid(1.0, Vec3::ONE)))?;
/// let (model, _) = builder.build()?;
/// let geoms = vec![
///     Geom::new("ground", None, Pose::identity(), Shape::half_space()),
///     Geom::new("box", Some(0), Pose::identity(), Shape::cuboid(Vec3::splat(0.5))?),
/// ];
/// let mut collision = Collision::new(&model, geoms, CollisionRules::default())?;
/// let mut work = Workspace::default();
/// work.update_positions(&model, &[0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]);
/// let contacts = collision.find(&model, &work, &[LinkMotion::ZERO], 1e-3, 0.0);
/// assert_eq!(contacts.len(), 4);
/// assert!(contacts.iter().all(|c| c.gap == 0.0 && c.normal == Vec3::Z));
/// # Ok::<(), stiction_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Collision {
    geoms: Vec<Geom>,
    parts: Vec<Part>,
    allowed: Allowed,
    keep_duplicates: bool,
    /// Pairs of geoms that may overlap, ascending, and by how much (m).
    overlaps_allowed: Vec<([usize; 2], f64)>,
    broad: Broad,
    margins: Margins,
    /// Size of the smallest geom (m).
    smallest: f64,
    /// Where the geoms are, and the step that their motion was taken for (s).
    placed: Vec<Placed>,
    placed_dt: f64,
    bounds: Vec<Bounds>,
    /// One per thread.
    workspaces: Vec<PairWorkspace>,
    apart: Vec<Apart>,
    threads: Threads,
    /// Contacts of some pairs each, in their order, before they are put together.
    chunks: Vec<Vec<ContactPoint>>,
    /// True if a pair of this call has links with other geoms.
    shared: bool,
    order: Vec<usize>,
    dropped: Vec<bool>,
    contacts: Vec<ContactPoint>,
    /// The contacts of the call before, and the pairs that were looked at for them.
    before: Vec<ContactPoint>,
    looked: Vec<(u32, u32)>,
    /// True if `contacts` are all of the pairs that [`Broad`] found last, where the geoms are placed now.
    is_complete: bool,
}

impl Collision {
    /// Makes geoms ready for collision.
    ///
    /// # Errors
    /// If there are more than 1,048,576 geoms, a geom or rule names a link or geom that is not there, a pose is not finite, a name is used twice, a half-space moves, or two
    /// shapes may meet that have no contacts with each other (two meshes or height fields).
    pub fn new(model: &Model, geoms: Vec<Geom>, rules: CollisionRules) -> Result<Self, InputError> {
        if geoms.len() > MOST_GEOMS {
            return Err(unsupported(format!("there are {} geoms, at most {MOST_GEOMS} can collide", geoms.len())));
        }
        let mut allowed = Allowed::new(model, &geoms, &rules)?;
        let groups = rigid_groups(model);
        let mut names = BTreeSet::new();
        let mut on_link: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        geoms.iter().for_each(|geom| *on_link.entry(geom.link).or_default() += 1);
        let mut parts = Vec::with_capacity(geoms.len());
        for (i, geom) in geoms.iter().enumerate() {
            if !geom.name.is_empty() && !names.insert(geom.name.as_str()) {
                return Err(InputError::Size { what: format!("geoms named \"{}\"", geom.name), expected: 1, found: 2 });
            }
            parts.push(Part::new(geom, i, &groups, on_link[&geom.link] > 1)?);
        }
        check_pairs(&geoms, &parts, &allowed)?;
        allowed.forbid(apart_along_axis::pairs(model, &parts, &groups, &allowed));
        let n = parts.len();
        let broad = Broad::new(&allowed, n);
        let smallest = parts.iter().map(|part| part.size).fold(f64::INFINITY, f64::min);
        Ok(Self {
            geoms,
            parts,
            allowed,
            keep_duplicates: rules.keep_duplicates,
            overlaps_allowed: Vec::new(),
            broad,
            margins: Margins::default(),
            smallest,
            placed: Vec::with_capacity(n),
            placed_dt: f64::NAN,
            bounds: Vec::with_capacity(n),
            workspaces: vec![PairWorkspace::default()],
            apart: Vec::new(),
            threads: Threads::default(),
            chunks: Vec::new(),
            shared: false,
            order: Vec::new(),
            dropped: Vec::new(),
            contacts: Vec::new(),
            before: Vec::new(),
            looked: Vec::new(),
            is_complete: false,
        })
    }

    /// The geoms.
    pub fn geoms(&self) -> &[Geom] {
        &self.geoms
    }

    /// Radius-like size of a geom (m): half of the smallest side of its bounding box, of a mesh or height field half of the largest; infinite for a
    /// half-space.
    pub fn size(&self, geom: usize) -> f64 {
        self.parts[geom].size
    }

    /// True if the two geoms may touch, by their links, groups and the rules.
    pub fn may_touch(&self, a: usize, b: usize) -> bool {
        self.allowed.get(a, b)
    }

    /// All contacts whose gap is at most what the two geoms can travel towards each other within `dt` (s) plus `margin`, with the
    /// poses in `work` and links that move as in `motion` (world axes, of the links' origins). Ordered by geoms, then by feature.
    ///
    /// A contact that is not touching yet is only given where the two features come to face each other within the step. Geoms on links
    /// whose pose or motion is not finite, or is missing, have no contacts.
    pub fn find(
        &mut self,
        model: &Model,
        work: &Workspace,
        motion: &[LinkMotion],
        dt: f64,
        margin: impl Into<Margin>,
    ) -> &[ContactPoint] {
        self.margins.start(model, motion, dt, margin.into());
        self.look(model, work, motion, dt, true);
        &self.contacts
    }

    /// The same contacts as [`Collision::find`] gives, with the margins of its last call, after links were moved since.
    pub fn find_again(&mut self, model: &Model, work: &Workspace, motion: &[LinkMotion], dt: f64) -> &[ContactPoint] {
        self.margins.keep();
        self.look(model, work, motion, dt, false);
        &self.contacts
    }

    /// Entries of the rows of all contacts along three directions.
    fn row_entries(&self, model: &Model) -> usize {
        let tree = |geom: usize| self.parts[geom].link.map(|link| model.links()[link].tree);
        let velocities = |tree: Option<usize>| tree.map_or(0, |tree| model.trees()[tree].v.len());
        let of_contact = |contact: &ContactPoint| {
            let [a, b] = contact.geoms.map(tree);
            3 * (velocities(a) + if a == b { 0 } else { velocities(b) })
        };
        self.contacts.iter().map(of_contact).sum()
    }

    fn look(&mut self, model: &Model, work: &Workspace, motion: &[LinkMotion], dt: f64, share_margins: bool) {
        std::mem::swap(&mut self.contacts, &mut self.before);
        self.contacts.clear();
        self.broad.take_pairs(&mut self.looked);
        if !std::mem::take(&mut self.is_complete) {
            self.looked.clear();
        }
        let margin = self.margins.largest;
        if !(dt >= 0.0 && margin >= 0.0 && dt.is_finite() && margin.is_finite()) {
            return;
        }
        self.place(model, work, motion, dt, margin);
        let count = self.broad.candidates(&self.bounds, &self.allowed, self.threads);
        let Self { parts, placed, broad, margins, bounds, before, looked, contacts, smallest, .. } = self;
        let tree = |geom: usize| parts[geom].link.and_then(|link| model.links().get(link)).map(|link| link.tree);
        if share_margins {
            margins.share(model, (broad, count), bounds, tree, *smallest);
        }
        let count = broad.keep(|i, j| {
            let less = margin - margins.of([i, j].map(tree));
            less == 0.0 || bounds[i].meets_within(&bounds[j], less)
        });
        let Self { workspaces, chunks, threads, overlaps_allowed, .. } = self;
        let keep_duplicates = self.keep_duplicates;
        let margin = |i: usize, j: usize| margins.of([i, j].map(tree));
        let is_kept = |i: usize| placed[i].is_kept && tree(i).is_none_or(|tree| margins.is_kept(tree));
        let pairs =
            Pairs { parts, placed, broad, before, looked, overlaps_allowed, keep_duplicates, dt, margin, is_kept };
        let of_threads = threads.worth(count / 2, GRAIN);
        if of_threads == 1 {
            pairs.find(0..count, &mut workspaces[0], contacts);
        } else {
            workspaces.resize_with(of_threads.max(workspaces.len()), PairWorkspace::default);
            let length = count.div_ceil(of_threads * CHUNKS);
            let ranges = (0..count).step_by(length).map(|first| first..count.min(first + length));
            chunks.resize_with(ranges.len(), Vec::new);
            threads.share(&mut workspaces[..of_threads], ranges.zip(&mut *chunks), |workspace, (range, chunk)| {
                chunk.clear();
                pairs.find(range, workspace, chunk);
            });
            chunks.iter().for_each(|chunk| contacts.extend_from_slice(chunk));
        }
        self.is_complete = self.contacts.len() <= MOST_CONTACTS && self.row_entries(model) <= MOST_ROW_ENTRIES;
        if !self.is_complete {
            self.contacts.clear();
            self.broad.set_crowded();
        }
        self.shared = (0..count).any(|k| {
            let (i, j) = self.broad.pair(k);
            self.parts[i].shared || self.parts[j].shared
        });
        if self.shared && !self.keep_duplicates {
            self.merge_geoms();
        }
    }

    /// Lets pairs of geoms, the first before the second, overlap by a depth (m) from now on: their gaps are larger by that.
    pub fn allow_overlaps(&mut self, mut pairs: Vec<([usize; 2], f64)>) {
        pairs.sort_by_key(|(geoms, _)| *geoms);
        self.overlaps_allowed = pairs;
        self.is_complete = false;
    }

    /// Shares the pairs among threads from now on, where there are enough of them.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// True if since this was asked last more pairs of geoms were near each other than can be looked at, or had more contacts than can be
    /// solved for: contacts are missing then.
    pub fn take_crowded(&mut self) -> bool {
        self.broad.take_crowded()
    }

    /// The contacts found last.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.contacts
    }

    /// Frames, motions and bounds of all geoms.
    fn place(&mut self, model: &Model, work: &Workspace, motion: &[LinkMotion], dt: f64, margin: f64) {
        self.bounds.clear();
        let known = model.links().len();
        let same_dt = self.placed_dt.to_bits() == dt.to_bits();
        self.placed_dt = dt;
        for (k, part) in self.parts.iter().enumerate() {
            let at = part.link.filter(|l| *l < known);
            let pose = at.and_then(|l| work.pose.get(l));
            let motion = at.and_then(|l| motion.get(l)).map(|m| if part.fixed { &LinkMotion::ZERO } else { m });
            match self.placed.get_mut(k) {
                Some(placed) if same_dt && (part.link.is_none() || placed.is_by(pose, motion)) => placed.is_kept = true,
                Some(placed) => *placed = part.placed(pose, motion, dt),
                None => self.placed.push(part.placed(pose, motion, dt)),
            }
            self.bounds.push(part.bounds(&self.placed[k], margin));
        }
    }

    /// Merges contacts of the same two links that other geoms of theirs have at the same place; the first stays.
    fn merge_geoms(&mut self) {
        let Self { contacts, parts, order, dropped, .. } = self;
        // The links in ascending order, and the sign of the normal in that order.
        let links = |c: &ContactPoint| {
            let [a, b] = c.geoms.map(|g| parts[g].link);
            if a <= b { ([a, b], 1.0) } else { ([b, a], -1.0) }
        };
        order.clear();
        order.extend(0..contacts.len());
        order.sort_unstable_by(|&a, &b| {
            let (p, q) = (&contacts[a], &contacts[b]);
            links(p).0.cmp(&links(q).0).then(p.point.x.total_cmp(&q.point.x)).then(a.cmp(&b))
        });
        dropped.clear();
        dropped.resize(contacts.len(), false);
        for (k, &a) in order.iter().enumerate() {
            let first = &contacts[a];
            let size = first.geoms.map(|g| parts[g].size).into_iter().fold(f64::INFINITY, f64::min);
            let (between, sign) = links(first);
            for &b in &order[k + 1..] {
                let other = &contacts[b];
                let (others, turned) = links(other);
                if others != between || other.point.x - first.point.x > DUPLICATE * size {
                    break;
                }
                if same(first, other, sign * turned, DUPLICATE * size) {
                    dropped[a.max(b)] = true;
                }
            }
        }
        let mut k = 0;
        contacts.retain(|_| {
            k += 1;
            !dropped[k - 1]
        });
    }
}

/// What the contacts of all pairs are found from.
struct Pairs<'a, M, K> {
    parts: &'a [Part],
    placed: &'a [Placed],
    broad: &'a Broad,
    /// The contacts of the call before, and the pairs that were looked at for them, both ascending.
    before: &'a [ContactPoint],
    looked: &'a [(u32, u32)],
    overlaps_allowed: &'a [([usize; 2], f64)],
    keep_duplicates: bool,
    dt: f64,
    /// The margin of two geoms (m).
    margin: M,
    /// True if a geom is where it was in the call before, moves alike and has the same margin, to the bit.
    is_kept: K,
}

impl<M: Fn(usize, usize) -> f64, K: Fn(usize) -> bool> Pairs<'_, M, K> {
    /// Adds the contacts of a range of the pairs that are near each other; those of two geoms that are kept are the ones of before.
    fn find(&self, range: Range<usize>, workspace: &mut PairWorkspace, contacts: &mut Vec<ContactPoint>) {
        let (mut before, mut looked) = (self.before, self.looked);
        for k in range {
            if contacts.len() > MOST_CONTACTS {
                return;
            }
            let (i, j) = self.broad.pair(k);
            if (self.is_kept)(i) && (self.is_kept)(j) {
                let pair = (i as u32, j as u32);
                looked = &looked[looked.partition_point(|other| *other < pair)..];
                if looked.first() == Some(&pair) {
                    before = &before[before.partition_point(|c| c.geoms < [i, j])..];
                    contacts.extend(before.iter().take_while(|c| c.geoms == [i, j]));
                    continue;
                }
            }
            self.contacts_of(i, j, workspace, contacts);
        }
    }

    /// Adds the contacts of two geoms.
    fn contacts_of(&self, i: usize, j: usize, workspace: &mut PairWorkspace, contacts: &mut Vec<ContactPoint>) {
        let PairWorkspace { scratch, touches } = workspace;
        let (a, b) = (&self.parts[i], &self.parts[j]);
        let placed = [&self.placed[i], &self.placed[j]];
        let query = query([a, b], placed, self.dt, (self.margin)(i, j));
        if are_apart([a, b], placed, query.reach + query.touch) {
            return;
        }
        touches.clear();
        let merge = !self.keep_duplicates;
        let members = [a.member(&self.placed[i]), b.member(&self.placed[j])];
        pairs::contacts(members, &query, merge, scratch, touches);
        if touches.len() > 1 {
            touches.sort_unstable_by_key(|t| t.feature);
        }
        // Only shapes with several kinds of features can have one place twice.
        let plain = |s: &Solid| {
            matches!(s, Solid::HalfSpace | Solid::Cuboid { .. } | Solid::Sphere { .. } | Solid::Ellipsoid { .. })
        };
        let twice = merge && !(plain(&a.solid) && plain(&b.solid));
        let (start, length) = (contacts.len(), DUPLICATE * query.size);
        let own = self.overlaps_allowed.binary_search_by_key(&[i, j], |(geoms, _)| *geoms);
        let allowed = own.map_or(0.0, |k| self.overlaps_allowed[k].1);
        for touch in touches {
            let Touch { point, normal, mut gap, feature, lead } = *touch;
            gap += allowed;
            let contact = ContactPoint { geoms: [i, j], feature, point, normal, gap, lead };
            if !(twice && contacts[start..].iter().any(|c| same(c, &contact, 1.0, length))) {
                contacts.push(contact);
            }
        }
    }
}

/// True if two contacts are at the same place with the same normal (`turned` −1: with the opposite one).
fn same(a: &ContactPoint, b: &ContactPoint, turned: f64, length: f64) -> bool {
    (a.point - b.point).abs().max_element() <= length && (a.normal - b.normal * turned).abs().max_element() <= DUPLICATE
}

/// True if the boxes of two geoms are farther apart than `reach` (m). The bounds of [`Broad`] allow for the motion of each, which may be the same.
fn are_apart(parts: [&Part; 2], placed: [&Placed; 2], reach: f64) -> bool {
    let bounded = parts.iter().all(|part| !matches!(part.solid, Solid::HalfSpace));
    bounded && !broad::meet(placed[0].centre - placed[1].centre, placed[0].extent + placed[1].extent + reach)
}

/// What a pair is asked, from the motion of both.
fn query(parts: [&Part; 2], placed: [&Placed; 2], dt: f64, margin: f64) -> Query {
    let small = if parts[0].radius < parts[1].radius { 0 } else { 1 };
    let (about, radius) = (placed[small].centre, parts[small].radius);
    let linear = (placed[1].velocity(about) - placed[0].velocity(about)) * dt;
    let angular = (placed[1].motion.angular - placed[0].motion.angular) * dt;
    let size = parts[0].size.min(parts[1].size);
    let travel = (linear.norm() + angular.norm() * radius).min(placed[0].reach + placed[1].reach);
    // Asked for by hulls and triangles alone.
    let bends = parts.iter().any(|part| matches!(part.solid, Solid::Hull(_) | Solid::Surface(_)));
    let bend = if bends { 0.5 * dt * dt * advance::closing(parts, placed).bend } else { f64::INFINITY };
    let drift = Drift { linear, angular, about };
    Query { reach: travel + margin, margin, radius, bend, touch: TOUCH * size, size, drift }
}

/// Two surfaces have no contacts with each other.
fn check_pairs(geoms: &[Geom], parts: &[Part], allowed: &Allowed) -> Result<(), InputError> {
    let surfaces = || parts.iter().enumerate().filter(|(_, p)| matches!(p.solid, Solid::Surface(_))).map(|(i, _)| i);
    for i in surfaces() {
        if let Some(j) = surfaces().find(|&j| j > i && allowed.get(i, j)) {
            let names = format!("{} and {}", place(i, &geoms[i]), place(j, &geoms[j]));
            let advice = "two meshes or height fields have no contacts with each other; make one convex, or let them not collide";
            return Err(unsupported(format!("{names}: {advice}")));
        }
    }
    Ok(())
}

impl Part {
    fn new(geom: &Geom, number: usize, groups: &[Group], shared: bool) -> Result<Self, InputError> {
        let place = place(number, geom);
        if !geom.pose.is_finite() {
            return Err(InputError::NotFinite { what: format!("{place}: pose"), value: f64::NAN });
        }
        let solid = Solid::new(&geom.shape, &place)?;
        let fixed = geom.link.is_none_or(|l| !matches!(groups[l], Group::Moving(_)));
        if geom.shape.is_unbounded() && !fixed {
            let reason =
                format!("{place}: a half-space has no bounds and must belong to the world, not to a link that moves");
            return Err(InputError::Unsupported { solver: "collision", reason });
        }
        let [low, high] = solid.bounds();
        let unbounded = geom.shape.is_unbounded();
        let centre = if unbounded { Vec3::ZERO } else { 0.5 * (low + high) };
        let half = 0.5 * (high - low);
        let radius = match solid {
            Solid::Sphere { radius } => radius,
            Solid::Ellipsoid { radii } => radii.max_element(),
            _ => half.norm(),
        };
        Ok(Self {
            size: solid.size(half),
            solid,
            link: geom.link,
            pose: geom.pose,
            centre,
            half,
            radius,
            fixed,
            shared,
        })
    }

    /// Where the geom is with its link at `pose`, moving with `motion`; nowhere if one of them is missing or not finite.
    fn placed(&self, pose: Option<&Pose>, motion: Option<&LinkMotion>, dt: f64) -> Placed {
        let still = |frame: Frame, origin: Vec3, finite: bool| {
            let r = &frame.rotation;
            Placed {
                centre: frame.point_to_world(self.centre),
                extent: r.x_axis.abs() * self.half.x + r.y_axis.abs() * self.half.y + r.z_axis.abs() * self.half.z,
                frame,
                motion: LinkMotion::ZERO,
                origin,
                reach: 0.0,
                finite,
                pose: pose.copied(),
                is_kept: false,
            }
        };
        if self.link.is_none() {
            return still(Frame::new(&self.pose), Vec3::ZERO, true);
        }
        let (Some(pose), Some(motion)) = (pose, motion) else { return still(Frame::IDENTITY, Vec3::ZERO, false) };
        let frame = Frame::new(&(*pose * self.pose));
        let mut placed = still(frame, pose.translation, frame.is_finite());
        if !self.fixed {
            placed.motion = *motion;
            placed.reach = dt * (placed.velocity(placed.centre).norm() + placed.motion.angular.norm() * self.radius);
            placed.finite &= placed.reach.is_finite();
        }
        placed
    }

    fn member<'a>(&'a self, placed: &'a Placed) -> Member<'a> {
        Member { solid: &self.solid, frame: &placed.frame, centre: self.centre, half: self.half }
    }

    fn bounds(&self, placed: &Placed, margin: f64) -> Bounds {
        if !placed.finite {
            return Bounds::NOWHERE;
        }
        if matches!(self.solid, Solid::HalfSpace) {
            return Bounds::half_space(&placed.frame, 0.5 * margin);
        }
        Bounds::new(placed.centre, placed.extent + (placed.reach + 0.5 * margin + TOUCH * self.size))
    }
}
