//! The constant part of a multibody system: links, joints, inertias. What changes is in the state: q, v and the time.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use stiction_linalg::InputError;

use crate::inertia::Inertia;
use crate::joint::JointKind;
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::range;
use crate::rigid_bodies::RigidBodies;

/// A quaternion or an axis may be this far from unit length.
const UNIT: f64 = 1e-9;

/// What a joint has besides its kind. Per velocity where it matters (all of a joint's velocities have the same numbers).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointProperties {
    /// Lower and upper limit of a revolute or prismatic joint (rad or m); infinite for none.
    /// Of a spherical joint, 0 (or −∞) and the largest angle of its rotation from the reference
    /// (rad); π or more for none.
    pub limits: [f64; 2],
    /// Viscous damping (N m s/rad or N s/m).
    pub damping: f64,
    /// Dry friction (N m or N).
    pub friction: f64,
    /// Rotor inertia seen at the joint (kg m² or kg), added to the diagonal of the inertia matrix.
    pub armature: f64,
    /// Largest effort a motor can give (N m or N); infinite for no limit.
    pub effort: f64,
    /// Spring towards `rest` (N m/rad or N/m), for revolute and prismatic joints.
    pub stiffness: f64,
    /// Where the spring is at rest (rad or m).
    pub rest: f64,
}

impl Default for JointProperties {
    fn default() -> Self {
        Self {
            limits: [f64::NEG_INFINITY, f64::INFINITY],
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            effort: f64::INFINITY,
            stiffness: 0.0,
            rest: 0.0,
        }
    }
}

/// A link and the joint that ties it to its parent, to be added to a [`ModelBuilder`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    /// Name, unique in the model.
    pub name: String,
    /// Name of the joint; empty for none.
    pub joint_name: String,
    /// The parent's number; `None` for the world.
    pub parent: Option<usize>,
    /// The joint's kind.
    pub kind: JointKind,
    /// `X_PJ`: the joint's frame in the parent.
    pub frame: Pose,
    /// The joint's other properties.
    pub properties: JointProperties,
    /// Inertia in the link's own frame.
    pub inertia: Inertia,
}

impl LinkSpec {
    /// A free body with the given inertia.
    pub fn free(name: impl Into<String>, inertia: Inertia) -> Self {
        Self {
            name: name.into(),
            joint_name: String::new(),
            parent: None,
            kind: JointKind::Free,
            frame: Pose::identity(),
            properties: JointProperties::default(),
            inertia,
        }
    }

    /// A link on a joint whose frame has the pose `frame` in the parent.
    pub fn on(name: impl Into<String>, parent: Option<usize>, kind: JointKind, frame: Pose, inertia: Inertia) -> Self {
        Self { parent, kind, frame, ..Self::free(name, inertia) }
    }
}

/// A joint that follows another: `q = multiplier · q_of + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mimic {
    /// The link whose joint follows.
    pub link: usize,
    /// The link whose joint it follows.
    pub of: usize,
    /// Ratio.
    pub multiplier: f64,
    /// Offset (rad or m).
    pub offset: f64,
}

/// Joints that keep a sum of polynomials of their coordinates: `Σᵢ Σₖ cᵢₖ (qᵢ − rᵢ)ᵏ = offset`, k from 1 to 4.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// The joints, on at most two trees.
    pub terms: Vec<CouplingTerm>,
    /// What the sum is.
    pub offset: f64,
}

/// The part of one joint in a [`Coupling`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CouplingTerm {
    /// The link whose joint it is; the joint has one velocity.
    pub link: usize,
    /// The coordinate r from which it is counted (rad or m).
    pub reference: f64,
    /// The coefficients c of the powers 1 to 4.
    pub coefficients: [f64; 4],
}

impl CouplingTerm {
    /// Its value and slope at a coordinate.
    pub fn at(&self, q: f64) -> [f64; 2] {
        let x = q - self.reference;
        let [a, b, c, d] = self.coefficients;
        [x * (a + x * (b + x * (c + x * d))), a + x * (2.0 * b + x * (3.0 * c + x * (4.0 * d)))]
    }

    /// True if its slope is the same everywhere.
    pub fn is_linear(&self) -> bool {
        self.coefficients[1..] == [0.0; 3]
    }
}

/// How two links are tied where a loop closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// A point of one stays at a point of the other: 3 rows.
    Point,
    /// A point and the z axes of both frames stay together (a hinge about z): 5 rows.
    Hinge,
    /// The frames stay together: 6 rows.
    Weld,
}

impl LoopKind {
    /// How many rows it has.
    pub fn rows(self) -> usize {
        match self {
            Self::Point => 3,
            Self::Hinge => 5,
            Self::Weld => 6,
        }
    }
}

/// Two frames, one on each link (`None`: the world), that a closed loop keeps together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopClosure {
    /// The first link.
    pub a: Option<usize>,
    /// The second link.
    pub b: Option<usize>,
    /// The frame on the first link.
    pub frame_a: Pose,
    /// The frame on the second link.
    pub frame_b: Pose,
    /// What is kept together.
    pub kind: LoopKind,
}

/// The directions along which a loop's rows are taken, fixed in its first frame, and which of the
/// rows are used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopAxes {
    /// Directions of the rows of the point, as columns.
    pub point: Mat3,
    /// Directions of the rows of a weld's rotation.
    pub turn: Mat3,
    /// The rows that are used: of the point, then of the rotation.
    pub used: [bool; 6],
}

impl Default for LoopAxes {
    fn default() -> Self {
        Self { point: Mat3::IDENTITY, turn: Mat3::IDENTITY, used: [true; 6] }
    }
}

/// A link of a finished model.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What it was made from; `parent` numbers links of the model.
    pub spec: LinkSpec,
    /// Its configuration in q.
    pub q: Range<usize>,
    /// Its velocities in v.
    pub v: Range<usize>,
    /// The tree it belongs to.
    pub tree: usize,
}

impl Link {
    /// True of a free joint whose velocities are along the axes of the world.
    #[inline]
    pub(crate) fn moves_along_world_axes(&self) -> bool {
        let LinkSpec { kind, parent, frame, .. } = &self.spec;
        *kind == JointKind::Free && parent.is_none() && frame.rotation == Quat::IDENTITY
    }
}

/// Links that hang together: one block of the inertia matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Its links, parents before children.
    pub links: Range<usize>,
    /// Its velocities.
    pub v: Range<usize>,
    /// Its inertia matrix changes with its own motion, other than that of one rigid body about its
    /// centre or a fixed point.
    pub articulated: bool,
    /// The link on a free joint that everything that moves hangs on, if there is one.
    pub floating: Option<usize>,
}

/// A multibody system. Links are ordered tree by tree, parents before children, so that each tree's velocities are one range. Poses that
/// are set from outside come last in q.
#[derive(Clone, PartialEq)]
pub struct Model {
    links: Vec<Link>,
    trees: Vec<Tree>,
    mimics: Vec<Mimic>,
    loops: Vec<LoopClosure>,
    pub(crate) loop_axes: Vec<LoopAxes>,
    couplings: Vec<Coupling>,
    gravity: Vec3,
    nq: usize,
    nv: usize,
    /// What follows from the links.
    bodies: RigidBodies,
}

/// As it would be derived, but for couplings, which only stand there if there are some, and for what follows from the links: recordings tell models apart by this text.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { links, trees, mimics, loops, loop_axes, couplings, gravity, nq, nv, bodies: _ } = self;
        let mut out = f.debug_struct("Model");
        out.field("links", links).field("trees", trees).field("mimics", mimics).field("loops", loops);
        out.field("loop_axes", loop_axes);
        if !couplings.is_empty() {
            out.field("couplings", couplings);
        }
        out.field("gravity", gravity).field("nq", nq).field("nv", nv).finish()
    }
}

impl Model {
    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links that have a joint that can move, in order.
    pub fn joints(&self) -> impl Iterator<Item = &Link> {
        self.bodies.list.iter().map(|body| &self.links[body.link])
    }

    /// The trees.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The tree that has velocity `k`.
    pub fn tree_of(&self, k: usize) -> usize {
        self.trees.partition_point(|tree| tree.v.end <= k)
    }

    /// Links that are fixed to each other, as bodies.
    pub(crate) fn bodies(&self) -> &RigidBodies {
        &self.bodies
    }

    /// Pairs of different trees that a loop, or joints that follow others, tie together.
    pub(crate) fn tied_trees(&self) -> impl Iterator<Item = (usize, usize)> {
        let loops = self.loops.iter().filter_map(|closure| closure.a.zip(closure.b));
        let mimics = self.mimics.iter().map(|mimic| (mimic.link, mimic.of));
        let couplings = self.couplings.iter().flat_map(|c| c.terms.windows(2).map(|two| (two[0].link, two[1].link)));
        let trees = |(a, b): (usize, usize)| (self.links[a].tree, self.links[b].tree);
        loops.chain(mimics).chain(couplings).map(trees).filter(|(a, b)| a != b)
    }

    /// Joints that follow others.
    pub fn mimics(&self) -> &[Mimic] {
        &self.mimics
    }

    /// Joints that keep sums of polynomials.
    pub fn couplings(&self) -> &[Coupling] {
        &self.couplings
    }

    /// Closed loops.
    pub fn loops(&self) -> &[LoopClosure] {
        &self.loops
    }

    /// The rows of each loop.
    pub fn loop_axes(&self) -> &[LoopAxes] {
        &self.loop_axes
    }

    /// Gravity (m/s²).
    pub fn gravity(&self) -> Vec3 {
        self.gravity
    }

    /// The same model under another gravity (m/s²).
    ///
    /// # Errors
    /// If a number is not finite or beyond what is computed with ([`range`]).
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), InputError> {
        gravity.to_array().into_iter().try_for_each(|x| range::check_coordinate("gravity", x))?;
        self.gravity = gravity;
        Ok(())
    }

    /// How many numbers of q are those of joints: what follows are the poses of [`JointKind::Mocap`] links, in the order of the links.
    pub fn jointed_nq(&self) -> usize {
        self.nq - self.links.iter().filter(|l| l.spec.kind == JointKind::Mocap).map(|l| l.q.len()).sum::<usize>()
    }

    /// Checks that [`Model::set_links`] can take these over: numbers in range, and every joint that moves has some inertia to
    /// move.
    ///
    /// # Errors
    /// Naming the link and the number.
    pub fn check_links(&self, numbers: &[(Inertia, JointProperties)]) -> Result<(), InputError> {
        if numbers.len() != self.links.len() {
            let (what, expected, found) = ("inertias of links".into(), self.links.len(), numbers.len());
            return Err(InputError::Size { what, expected, found });
        }
        for (link, (inertia, properties)) in self.links.iter().zip(numbers) {
            check_numbers(&link.spec, inertia, properties)?;
        }
        check_moved(self.links.iter().zip(numbers).map(|(link, (inertia, properties))| {
            (link.spec.name.as_str(), link.spec.parent, link.v.len(), inertia.mass, properties.armature)
        }))
    }

    /// Gives every link another inertia and its joint other properties.
    ///
    /// # Errors
    /// As [`Model::check_links`]; nothing is changed then.
    pub fn set_links(&mut self, numbers: &[(Inertia, JointProperties)]) -> Result<(), InputError> {
        self.check_links(numbers)?;
        for (link, (inertia, properties)) in self.links.iter_mut().zip(numbers) {
            (link.spec.inertia, link.spec.properties) = (*inertia, *properties);
        }
        self.bodies = RigidBodies::new(&self.links);
        Ok(())
    }

    /// Ties frames of two links together from now on.
    ///
    /// # Errors
    /// If a link does not exist or a frame is not finite.
    pub fn add_loop(&mut self, closure: LoopClosure) -> Result<(), InputError> {
        check_loop(&closure, self.links.len())?;
        self.loops.push(closure);
        self.loop_axes.push(LoopAxes::default());
        Ok(())
    }

    /// Size of the configuration q.
    pub fn nq(&self) -> usize {
        self.nq
    }

    /// Number of velocities.
    pub fn nv(&self) -> usize {
        self.nv
    }

    /// The link of that name.
    pub fn link(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|l| l.spec.name == name)
    }

    /// The link whose joint has that name.
    pub fn joint(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|l| l.spec.joint_name == name)
    }

    /// The configuration with every joint at its neutral position.
    pub fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.nq];
        self.links.iter().for_each(|l| q[l.q.clone()].copy_from_slice(l.spec.kind.neutral()));
        q
    }

    /// `q ← q ⊕ dt v`.
    pub fn integrate(&self, q: &mut [f64], v: &[f64], dt: f64) {
        for link in &self.links {
            link.spec.kind.integrate(&mut q[link.q.clone()], &v[link.v.clone()], dt);
        }
    }

    /// The velocity that goes from `a` to `b` in unit time, nv.
    pub fn difference(&self, a: &[f64], b: &[f64], v: &mut [f64]) {
        for link in &self.links {
            link.spec.kind.difference(&a[link.q.clone()], &b[link.q.clone()], &mut v[link.v.clone()]);
        }
    }

    /// Makes quaternions of `q` (nq) unit that are within 1e-3 of it; those that are unit up to rounding keep their bits. Of another size
    /// nothing is changed.
    pub fn normalize(&self, q: &mut [f64]) {
        /// Digits that a user writes down.
        const NEAR_UNIT: f64 = 1e-3;
        if q.len() != self.nq {
            return;
        }
        for link in &self.links {
            let Some(at) = link.spec.kind.quaternion_at() else { continue };
            let part = &mut q[link.q.start + at..link.q.start + at + 4];
            let length = part.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (length - 1.0).abs() > UNIT && (length - 1.0).abs() <= NEAR_UNIT {
                part.iter_mut().for_each(|x| *x /= length);
            }
        }
    }

    /// Checks a state: sizes, finite numbers, unit quaternions.
    ///
    /// # Errors
    /// Naming the entry of q or v, with its link.
    pub fn check_state(&self, q: &[f64], v: &[f64]) -> Result<(), InputError> {
        for (what, x, expected) in [("q", q, self.nq), ("v", v, self.nv)] {
            if x.len() != expected {
                return Err(InputError::Size { what: what.into(), expected, found: x.len() });
            }
            if let Some(i) = x.iter().position(|x| !x.is_finite()) {
                let of = |l: &Link| if what == "q" { l.q.contains(&i) } else { l.v.contains(&i) };
                let name = self.links.iter().find(|l| of(l)).map_or("", |l| &l.spec.name);
                return Err(InputError::NotFinite { what: format!("{what}[{i}] (link \"{name}\")"), value: x[i] });
            }
        }
        for link in &self.links {
            let Some(at) = link.spec.kind.quaternion_at() else { continue };
            let part = &q[link.q.start + at..link.q.start + at + 4];
            let length = part.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (length - 1.0).abs() > UNIT {
                let what = format!("length of the quaternion of link \"{}\"", link.spec.name);
                return Err(InputError::OutOfRange { what, expected: "1", found: length });
            }
        }
        Ok(())
    }
}

/// Collects links in any order of trees, and makes a [`Model`] of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelBuilder {
    specs: Vec<LinkSpec>,
    /// Names of the links.
    names: BTreeSet<String>,
    mimics: Vec<Mimic>,
    couplings: Vec<Coupling>,
    loops: Vec<LoopClosure>,
    gravity: Vec3,
}

impl Default for ModelBuilder {
    fn default() -> Self {
        Self {
            specs: Vec::new(),
            names: BTreeSet::new(),
            mimics: Vec::new(),
            couplings: Vec::new(),
            loops: Vec::new(),
            gravity: Vec3::new(0.0, 0.0, -9.81),
        }
    }
}

impl ModelBuilder {
    /// Sets gravity (m/s²); default 9.81 along −z.
    pub fn gravity(&mut self, gravity: Vec3) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// Adds a link; returns its number for use as a parent. [`ModelBuilder::build`] may number links anew.
    ///
    /// # Errors
    /// If the parent does not exist, the name is taken, or a property is out of range.
    pub fn add(&mut self, spec: LinkSpec) -> Result<usize, InputError> {
        let name = |field: &str| format!("link \"{}\": {field}", spec.name);
        if self.names.contains(&spec.name) {
            return Err(InputError::Size { what: format!("links named \"{}\"", spec.name), expected: 1, found: 2 });
        }
        if let Some(parent) = spec.parent.filter(|p| *p >= self.specs.len()) {
            return Err(InputError::Size { what: name("parent, below"), expected: self.specs.len(), found: parent });
        }
        check_axis(&spec)?;
        for x in spec.frame.translation.to_array() {
            range::check_coordinate(name("position"), x)?;
        }
        if !spec.frame.is_finite() {
            return Err(InputError::NotFinite { what: name("frame"), value: f64::NAN });
        }
        check_numbers(&spec, &spec.inertia, &spec.properties)?;
        self.names.insert(spec.name.clone());
        self.specs.push(spec);
        Ok(self.specs.len() - 1)
    }

    /// Makes a joint follow another; both must have one velocity.
    ///
    /// # Errors
    /// If a link does not exist or its joint has not just one velocity, or a number is not finite.
    pub fn mimic(&mut self, mimic: Mimic) -> Result<(), InputError> {
        for link in [mimic.link, mimic.of] {
            let nv = self.specs.get(link).map_or(0, |s| s.kind.nv());
            if nv != 1 {
                return Err(InputError::Size {
                    what: format!("velocities of mimic joint of link {link}"),
                    expected: 1,
                    found: nv,
                });
            }
        }
        if !(mimic.multiplier.is_finite() && mimic.offset.is_finite()) {
            return Err(InputError::NotFinite { what: "mimic multiplier or offset".into(), value: f64::NAN });
        }
        self.mimics.push(mimic);
        Ok(())
    }

    /// Couples joints that have one velocity each.
    ///
    /// # Errors
    /// If a link does not exist or its joint has not just one velocity, a number is not finite, or the joints are on more than two trees.
    pub fn couple(&mut self, coupling: Coupling) -> Result<(), InputError> {
        let mut roots = BTreeSet::new();
        for term in &coupling.terms {
            let nv = self.specs.get(term.link).map_or(0, |s| s.kind.nv());
            if nv != 1 {
                let what = format!("velocities of the coupled joint of link {}", term.link);
                return Err(InputError::Size { what, expected: 1, found: nv });
            }
            if let Some(x) = term.coefficients.iter().chain([&term.reference]).find(|x| !x.is_finite()) {
                return Err(InputError::NotFinite { what: "coefficient of a coupling".into(), value: *x });
            }
            let root = std::iter::successors(Some(term.link), |&l| self.specs[l].parent).last();
            roots.insert(root);
        }
        if !coupling.offset.is_finite() {
            return Err(InputError::NotFinite { what: "offset of a coupling".into(), value: coupling.offset });
        }
        if roots.len() > 2 {
            return Err(InputError::Size {
                what: "trees of a coupling, at most".into(),
                expected: 2,
                found: roots.len(),
            });
        }
        self.couplings.push(coupling);
        Ok(())
    }

    /// Closes a loop.
    ///
    /// # Errors
    /// If a link does not exist or a frame is not finite.
    pub fn close_loop(&mut self, closure: LoopClosure) -> Result<(), InputError> {
        check_loop(&closure, self.specs.len())?;
        self.loops.push(closure);
        Ok(())
    }

    /// The finished model, and the new number of each link in the order they were added.
    ///
    /// # Errors
    /// If a tree can move without inertia: the place is named.
    pub fn build(self) -> Result<(Model, Vec<usize>), InputError> {
        check_moved(
            self.specs.iter().map(|s| (s.name.as_str(), s.parent, s.kind.nv(), s.inertia.mass, s.properties.armature)),
        )?;
        let order = self.tree_order();
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| number[old] = new);
        let (mut links, mut trees): (Vec<Link>, Vec<Tree>) = (Vec::new(), Vec::new());
        let (mut nq, mut nv) = (0, 0);
        for &old in &order {
            let mut spec = self.specs[old].clone();
            spec.parent = spec.parent.map(|p| number[p]);
            let own = if spec.kind == JointKind::Mocap { 0 } else { spec.kind.nq() };
            let (q, v) = (nq..nq + own, nv..nv + spec.kind.nv());
            (nq, nv) = (q.end, v.end);
            if spec.parent.is_none() {
                let (none, at) = (links.len()..links.len(), v.start..v.start);
                trees.push(Tree { links: none, v: at, articulated: false, floating: None });
            }
            let tree = trees.len() - 1;
            trees[tree].links.end += 1;
            trees[tree].v.end = v.end;
            links.push(Link { spec, q, v, tree });
        }
        for link in links.iter_mut().filter(|l| l.spec.kind == JointKind::Mocap) {
            link.q = nq..nq + link.spec.kind.nq();
            nq = link.q.end;
        }
        for tree in &mut trees {
            tree.articulated = is_articulated(&links[tree.links.clone()]);
            tree.floating = floating(&links, tree);
        }
        let mimics = self.mimics.iter().map(|m| Mimic { link: number[m.link], of: number[m.of], ..*m }).collect();
        let term = |t: &CouplingTerm| CouplingTerm { link: number[t.link], ..*t };
        let couple = |c: &Coupling| Coupling { terms: c.terms.iter().map(term).collect(), offset: c.offset };
        let couplings = self.couplings.iter().map(couple).collect();
        let renumber = |l: &LoopClosure| LoopClosure { a: l.a.map(|a| number[a]), b: l.b.map(|b| number[b]), ..*l };
        let loops: Vec<LoopClosure> = self.loops.iter().map(renumber).collect();
        let loop_axes = vec![LoopAxes::default(); loops.len()];
        let (bodies, gravity) = (RigidBodies::new(&links), self.gravity);
        Ok((Model { links, trees, mimics, loops, loop_axes, couplings, gravity, nq, nv, bodies }, number))
    }

    /// Links tree by tree, in the order of the roots, otherwise as added: parents stay before children.
    fn tree_order(&self) -> Vec<usize> {
        let mut root: Vec<usize> = Vec::with_capacity(self.specs.len());
        for (i, spec) in self.specs.iter().enumerate() {
            root.push(spec.parent.map_or(i, |p| root[p]));
        }
        let mut order: Vec<usize> = (0..self.specs.len()).collect();
        order.sort_by_key(|&i| (root[i], i));
        order
    }
}

/// True if the inertia matrix of a tree is not that of one body about a point fixed in it.
fn is_articulated(links: &[Link]) -> bool {
    let kinds = || links.iter().map(|l| l.spec.kind).filter(|kind| kind.nv() > 0);
    let turns = |kind: JointKind| !matches!(kind, JointKind::Prismatic { .. });
    let planar = |kind: JointKind| matches!(kind, JointKind::Planar { .. });
    kinds().any(turns) && (kinds().count() > 1 || kinds().any(planar))
}

/// The link on a free joint that all moving links of a tree hang on.
fn floating(links: &[Link], tree: &Tree) -> Option<usize> {
    let base = tree.links.clone().find(|&i| !links[i].v.is_empty())?;
    let hangs = |i: usize| {
        links[i].v.is_empty() || std::iter::successors(Some(i), |&i| links[i].spec.parent).any(|i| i == base)
    };
    (links[base].spec.kind == JointKind::Free && tree.links.clone().all(hangs)).then_some(base)
}

/// Checks the links and frames of a loop.
fn check_loop(closure: &LoopClosure, links: usize) -> Result<(), InputError> {
    if let Some(link) = [closure.a, closure.b].into_iter().flatten().find(|l| *l >= links) {
        return Err(InputError::Size { what: "link of a loop, below".into(), expected: links, found: link });
    }
    if !closure.frame_a.is_finite() || !closure.frame_b.is_finite() {
        return Err(InputError::NotFinite { what: "frame of a loop".into(), value: f64::NAN });
    }
    Ok(())
}

/// Checks that inertia and properties of a link are numbers that can be computed with.
fn check_numbers(link: &LinkSpec, inertia: &Inertia, p: &JointProperties) -> Result<(), InputError> {
    let name = |field: &str| format!("link \"{}\": {field}", link.name);
    inertia.check_range(&name(""))?;
    for (field, x) in
        [("damping", p.damping), ("friction", p.friction), ("armature", p.armature), ("stiffness", p.stiffness)]
    {
        if x != 0.0 && !range::is_in_range(x) {
            return Err(InputError::OutOfRange { what: name(field), expected: "0, or from 1e-50 to 1e50", found: x });
        }
    }
    if p.effort.is_nan() || p.effort < 0.0 {
        return Err(InputError::OutOfRange { what: name("effort"), expected: "at least 0", found: p.effort });
    }
    if p.limits.iter().any(|x| x.is_nan()) || p.limits[0] > p.limits[1] {
        return Err(InputError::OutOfRange {
            what: name("lower limit"),
            expected: "at most the upper",
            found: p.limits[0],
        });
    }
    if link.kind == JointKind::Spherical {
        check_angle_limits(name, p.limits)?;
    }
    if !p.rest.is_finite() {
        return Err(InputError::NotFinite { what: name("rest"), value: p.rest });
    }
    Ok(())
}

/// Checks the limits of a spherical joint: of its angle, which is never negative.
fn check_angle_limits(name: impl Fn(&str) -> String, [lower, upper]: [f64; 2]) -> Result<(), InputError> {
    if lower != 0.0 && lower != f64::NEG_INFINITY {
        let what = name("lower limit of a spherical joint");
        return Err(InputError::OutOfRange { what, expected: "0, as it is of an angle", found: lower });
    }
    if upper < 0.0 {
        let what = name("upper limit of a spherical joint");
        return Err(InputError::OutOfRange { what, expected: "at least 0", found: upper });
    }
    Ok(())
}

/// Checks that every joint that can move moves some inertia (its own, its descendants', or armature): per link, parents
/// before children, its parent, number of velocities, mass and armature.
fn check_moved<'a>(
    links: impl DoubleEndedIterator<Item = (&'a str, Option<usize>, usize, f64, f64)> + ExactSizeIterator + Clone,
) -> Result<(), InputError> {
    let mut carried: Vec<f64> = links.clone().map(|(_, _, _, mass, _)| mass).collect();
    for (i, (_, parent, ..)) in links.clone().enumerate().rev() {
        if let Some(parent) = parent {
            carried[parent] += carried[i];
        }
    }
    for ((name, _, nv, _, armature), carried) in links.zip(carried) {
        if nv > 0 && carried <= 0.0 && armature <= 0.0 {
            let what = format!("mass moved by the joint of link \"{name}\"");
            return Err(InputError::OutOfRange { what, expected: "above 0", found: carried });
        }
    }
    Ok(())
}

fn check_axis(spec: &LinkSpec) -> Result<(), InputError> {
    let axis = match spec.kind {
        JointKind::Revolute { axis } | JointKind::Continuous { axis } | JointKind::Prismatic { axis } => axis,
        JointKind::Planar { normal } => normal,
        _ => return Ok(()),
    };
    let length = axis.length();
    if (length - 1.0).abs() <= UNIT {
        return Ok(());
    }
    Err(InputError::OutOfRange {
        what: format!("link \"{}\": length of the joint's axis", spec.name),
        expected: "1",
        found: length,
    })
}
