//! A contact problem: inertia, velocities, forces, and the rows of everything that touches or holds.

use stiction_lcp::{InputError, Matrix};
use stiction_linalg::lanes::same_bits;

use crate::check;
use crate::islands::Island;
use crate::mass::{Layout, Mass};
use crate::rows::{RowBlocks, Rows};
use crate::twins::Twins;
use crate::whitened::separation_bias;

/// A contact whose gap is at most this fraction of its size touches.
pub const TOUCHING: f64 = 1e-9;

/// A speed of a contact, of separation, slip or spin, is rounding if it is at most this fraction of its terms. A contact that parts already is none at acceleration
/// level.
const SPEED_TOLERANCE: f64 = 1e-9;

/// Rows of a contact: its normal, two tangents, the spin about the normal, and rolling about two axes.
pub const CONTACT_ROWS: usize = 6;

/// Their names, in the order of [`Contacts::rows`].
const ROW_NAMES: [&str; CONTACT_ROWS] = ["normal", "tangent_s", "tangent_t", "spin", "roll_s", "roll_t"];

/// One contact, to be added to a [`ContactProblem`].
///
/// The rows map the velocities to the relative velocity of the two surfaces: along the normal (positive: separating), along two tangents
/// orthogonal to it and to each other, about the normal (for soft fingers), and about two axes orthogonal to it and to each other (for
/// resistance to rolling). A planar contact leaves `tangent_t` empty.
#[derive(Debug, Clone, Copy)]
pub struct Contact<'a> {
    /// Row of N: the separation speed is `N v` (m/s).
    pub normal: RowBlocks<'a>,
    /// Row of S: slip speed along the first tangent (m/s).
    pub tangent_s: RowBlocks<'a>,
    /// Row of T: slip speed along the second tangent (m/s).
    pub tangent_t: RowBlocks<'a>,
    /// Spin about the normal (rad/s), for contacts that resist it with a moment.
    pub spin: RowBlocks<'a>,
    /// Rolling about the first axis in the tangent plane (rad/s), for contacts that resist it with a moment.
    pub roll_s: RowBlocks<'a>,
    /// Rolling about the second axis (rad/s).
    pub roll_t: RowBlocks<'a>,
    /// Signed distance (m), positive apart. Overlap counts as touching.
    pub gap: f64,
    /// Seen ahead: a gap that is open now and may close within the step. If it does, the contact has friction
    /// within the step like one that touches; without this, an open gap has no friction. At velocity level only.
    pub predicted: bool,
    /// Size of the smaller body (m): a gap up to 1e-9 of it counts as touching.
    pub size: f64,
    /// Coulomb coefficient, 0 to infinity.
    pub mu: f64,
    /// Coefficient of the moment about the normal (m), 0 to infinity: |moment| ≤ mu_spin · normal force.
    pub mu_spin: f64,
    /// Coefficient of the moment against rolling (m), 0 or above and finite: √(m_s² + m_t²) ≤ mu_roll · normal force.
    pub mu_roll: f64,
    /// Viscous coefficient (N s/m), 0 to infinity.
    pub mu_viscous: f64,
    /// Velocity products `Ṅ v`, `Ṡ v`, `Ṫ v` (m/s²), for acceleration-level models.
    pub rate: [f64; 3],
    /// Least separation speed wanted after the step (m/s), for restitution and stabilization at velocity level:
    /// `N v⁺ ≥ bounce − max(gap, 0)/dt`. A predicted contact with a bounce above 0 closes its gap within the step
    /// and parts again: `N v⁺ ≥ bounce`.
    pub bounce: f64,
    /// Speed of the surfaces along the two tangents that is in no velocity, as of a conveyor belt (m/s): slip is `S v + surface[0]`.
    pub surface: [f64; 2],
}

impl<'a> Contact<'a> {
    /// A touching contact without friction; set what differs.
    pub fn new(normal: RowBlocks<'a>, tangent_s: RowBlocks<'a>, tangent_t: RowBlocks<'a>) -> Self {
        Self {
            normal,
            tangent_s,
            tangent_t,
            spin: &[],
            roll_s: &[],
            roll_t: &[],
            gap: 0.0,
            predicted: false,
            size: 1.0,
            mu: 0.0,
            mu_spin: 0.0,
            mu_roll: 0.0,
            mu_viscous: 0.0,
            rate: [0.0; 3],
            bounce: 0.0,
            surface: [0.0; 2],
        }
    }

    /// Friction needs rows to act along: a coefficient without them is an omission, not a contact
    /// without friction. Where no body can move, there are no rows at all.
    fn check_rows_of_friction(&self, name: impl Fn(&str) -> String) -> Result<(), InputError> {
        if self.normal.is_empty() {
            return Ok(());
        }
        let slips = !(self.tangent_s.is_empty() && self.tangent_t.is_empty());
        let rolls = !(self.roll_s.is_empty() && self.roll_t.is_empty());
        let coefficients = [
            ("mu", self.mu, slips, "0 without tangent rows"),
            ("mu_viscous", self.mu_viscous, slips, "0 without tangent rows"),
            ("mu_spin", self.mu_spin, !self.spin.is_empty(), "0 without a spin row"),
            ("mu_roll", self.mu_roll, rolls, "0 without rolling rows"),
        ];
        for (field, x, has_rows, expected) in coefficients {
            if x > 0.0 && !has_rows {
                return Err(InputError::OutOfRange { what: name(field), expected, found: x });
            }
        }
        Ok(())
    }
}

/// The contacts of a problem, n of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Contacts {
    /// N, n × m: N v is the separation speed (m/s).
    pub normal: Rows,
    /// S, n × m: S v is the slip speed along the first tangent (m/s).
    pub tangent_s: Rows,
    /// T, n × m: T v is the slip speed along the second tangent (m/s).
    pub tangent_t: Rows,
    /// n × m: spin about the normal (rad/s).
    pub spin: Rows,
    /// n × m: rolling about the first axes in the tangent planes (rad/s).
    pub roll_s: Rows,
    /// n × m: rolling about the second axes (rad/s).
    pub roll_t: Rows,
    /// Signed distances (m).
    pub gap: Vec<f64>,
    /// Whether each is seen ahead, see [`Contact::predicted`].
    pub predicted: Vec<bool>,
    /// Sizes of the smaller bodies (m).
    pub size: Vec<f64>,
    /// Coulomb coefficients.
    pub mu: Vec<f64>,
    /// Coefficients of the moments about the normals (m).
    pub mu_spin: Vec<f64>,
    /// Coefficients of the moments against rolling (m).
    pub mu_roll: Vec<f64>,
    /// Viscous coefficients (N s/m).
    pub mu_viscous: Vec<f64>,
    /// `Ṅ v`, `Ṡ v`, `Ṫ v` (m/s²).
    pub rate: Vec<[f64; 3]>,
    /// Least separation speeds wanted (m/s).
    pub bounce: Vec<f64>,
    /// Surface speeds along the tangents (m/s).
    pub surface: Vec<[f64; 2]>,
    /// The first contact with the same rows, to the last bit; itself if there is none before it.
    pub twin: Vec<usize>,
    /// Where rows are found again.
    twins: Twins,
}

impl Contacts {
    fn new(layout: &Layout) -> Self {
        let rows = || Rows::new(layout);
        Self {
            normal: rows(),
            tangent_s: rows(),
            tangent_t: rows(),
            spin: rows(),
            roll_s: rows(),
            roll_t: rows(),
            gap: vec![],
            predicted: vec![],
            size: vec![],
            mu: vec![],
            mu_spin: vec![],
            mu_roll: vec![],
            mu_viscous: vec![],
            rate: vec![],
            bounce: vec![],
            surface: vec![],
            twin: vec![],
            twins: Twins::default(),
        }
    }

    /// Number of contacts, n.
    pub fn len(&self) -> usize {
        self.gap.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.gap.is_empty()
    }

    /// The rows of all contacts, kind by kind: normals, both tangents, spins, and rolling about both axes.
    pub fn rows(&self) -> [&Rows; CONTACT_ROWS] {
        [&self.normal, &self.tangent_s, &self.tangent_t, &self.spin, &self.roll_s, &self.roll_t]
    }

    /// The number of the first kinds of rows after which no kind has entries: most problems have no spin and no rolling.
    pub(crate) fn used_kinds(&self) -> usize {
        self.rows().iter().rposition(|rows| !rows.is_all_zero()).map_or(0, |last| last + 1)
    }

    fn rows_mut(&mut self) -> [&mut Rows; CONTACT_ROWS] {
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, .. } = self;
        [normal, tangent_s, tangent_t, spin, roll_s, roll_t]
    }

    /// The numbers of all contacts but rates and surfaces, field by field.
    fn numbers(&self) -> [&Vec<f64>; 7] {
        [&self.gap, &self.size, &self.mu, &self.mu_spin, &self.mu_roll, &self.mu_viscous, &self.bounce]
    }

    fn numbers_mut(&mut self) -> [&mut Vec<f64>; 7] {
        let Self { gap, size, mu, mu_spin, mu_roll, mu_viscous, bounce, .. } = self;
        [gap, size, mu, mu_spin, mu_roll, mu_viscous, bounce]
    }

    /// True if contact `i` touches now.
    pub fn touches(&self, i: usize) -> bool {
        self.gap[i] <= TOUCHING * self.size[i]
    }

    /// True if contact `i` has friction at velocity level, should a force press it: it touches, or is seen ahead.
    pub fn has_friction(&self, i: usize) -> bool {
        self.predicted[i] || self.touches(i)
    }

    /// What contact `i` adds to its separation speed in Signorini's condition at velocity level (m/s):
    /// `0 ≤ p ⊥ N v⁺ + bias ≥ 0`.
    pub fn separation_bias(&self, i: usize, dt: f64) -> f64 {
        let rebounds = self.predicted[i] && self.bounce[i] > 0.0;
        separation_bias(if rebounds { 0.0 } else { self.gap[i] }, dt, self.bounce[i])
    }

    /// True if all of contacts `i` and `j` but their rows is equal.
    pub(crate) fn is_alike(&self, i: usize, j: usize) -> bool {
        self.numbers().iter().all(|x| x[i] == x[j])
            && self.predicted[i] == self.predicted[j]
            && self.rate[i] == self.rate[j]
            && self.surface[i] == self.surface[j]
    }

    /// Becomes the contacts of an island of `whole`.
    fn take_part(&mut self, whole: &Self, island: &Island, layout: &Layout, places: &Places) {
        let of = &island.contacts;
        for (own, rows) in self.rows_mut().into_iter().zip(whole.rows()) {
            own.take_rows(rows, of, layout, &places.blocks);
        }
        for (own, numbers) in self.numbers_mut().into_iter().zip(whole.numbers()) {
            take(own, numbers, of);
        }
        take(&mut self.predicted, &whole.predicted, of);
        take(&mut self.rate, &whole.rate, of);
        take(&mut self.surface, &whole.surface, of);
        // Twins have the same blocks, and so are in one island.
        self.twin.clear();
        self.twin.extend(of.iter().map(|&i| places.contacts[whole.twin[i]]));
        self.twins.clear();
    }

    /// True if these are the contacts of an island of `whole`, to the last bit.
    fn are_part_of(&self, whole: &Self, island: &Island, places: &Places) -> bool {
        let of = &island.contacts;
        self.numbers().into_iter().zip(whole.numbers()).all(|(own, all)| are_taken(own, all, of))
            && self.rows().into_iter().zip(whole.rows()).all(|(own, all)| own.are_rows_of(all, of, &places.blocks))
            && self.predicted.iter().eq(of.iter().map(|&i| &whole.predicted[i]))
            && arrays_are_taken(&self.rate, &whole.rate, of)
            && arrays_are_taken(&self.surface, &whole.surface, of)
    }

    /// Removes all, keeping the storage.
    fn clear(&mut self) {
        self.rows_mut().into_iter().for_each(Rows::clear);
        self.numbers_mut().into_iter().for_each(Vec::clear);
        self.predicted.clear();
        self.rate.clear();
        self.surface.clear();
        self.twin.clear();
        self.twins.clear();
    }

    /// Adds contact `i`, without its twin; on an error nothing is added.
    fn push(&mut self, i: usize, contact: Contact<'_>) -> Result<(), InputError> {
        let name = |field: &str| format!("contact {i}: {field}");
        check::finite(|| name("gap"), contact.gap)?;
        check::positive(|| name("size"), contact.size)?;
        check::coefficient(|| name("mu"), contact.mu)?;
        check::coefficient(|| name("mu_spin"), contact.mu_spin)?;
        check::coefficient(|| name("mu_roll"), contact.mu_roll)?;
        check::finite(|| name("mu_roll"), contact.mu_roll)?;
        check::coefficient(|| name("mu_viscous"), contact.mu_viscous)?;
        contact.check_rows_of_friction(name)?;
        for (k, x) in contact.rate.iter().enumerate() {
            check::finite(|| name(&format!("rate[{k}]")), *x)?;
        }
        check::finite(|| name("bounce"), contact.bounce)?;
        for (k, x) in contact.surface.iter().enumerate() {
            check::finite(|| name(&format!("surface[{k}]")), *x)?;
        }
        let Contact { normal, tangent_s, tangent_t, spin, roll_s, roll_t, .. } = contact;
        let rows = [normal, tangent_s, tangent_t, spin, roll_s, roll_t];
        for k in (0..CONTACT_ROWS).filter(|&k| !rows[k].is_empty()) {
            let what = format_args!("contact {i}: {}", ROW_NAMES[k]);
            if k == 0 { self.normal.check(what, normal)? } else { self.normal.check_like(what, rows[k], normal)? }
        }
        self.normal.push_checked(normal);
        self.tangent_s.push_checked(tangent_s);
        self.tangent_t.push_checked(tangent_t);
        self.spin.push_checked(spin);
        self.roll_s.push_checked(roll_s);
        self.roll_t.push_checked(roll_t);
        self.gap.push(contact.gap);
        self.size.push(contact.size);
        self.mu.push(contact.mu);
        self.mu_spin.push(contact.mu_spin);
        self.mu_roll.push(contact.mu_roll);
        self.mu_viscous.push(contact.mu_viscous);
        self.bounce.push(contact.bounce);
        self.predicted.push(contact.predicted);
        self.rate.push(contact.rate);
        self.surface.push(contact.surface);
        Ok(())
    }

    /// Adds the contacts of `other`, of the same layout, after these, without their twins.
    fn append(&mut self, other: &Self) {
        self.rows_mut().into_iter().zip(other.rows()).for_each(|(own, rows)| own.append(rows));
        self.numbers_mut().into_iter().zip(other.numbers()).for_each(|(own, x)| own.extend_from_slice(x));
        self.predicted.extend_from_slice(&other.predicted);
        self.rate.extend_from_slice(&other.rate);
        self.surface.extend_from_slice(&other.surface);
    }

    /// Finds the twin of the first contact that has none yet, given the key of its normal.
    fn find_twin(&mut self, key: u64) {
        let i = self.twin.len();
        let used = self.used_kinds();
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, twins, .. } = self;
        let kinds = [&*normal, tangent_s, tangent_t, spin, roll_s, roll_t];
        let twin = twins.find_or_enter(key, i, |j| kinds[..used].iter().all(|rows| rows.is_same(i, j)));
        self.twin.push(twin);
    }
}

/// `to ←` the numbers of `from` with the indices `of`.
fn take<X: Copy>(to: &mut Vec<X>, from: &[X], of: &[usize]) {
    to.clear();
    to.extend(of.iter().map(|&i| from[i]));
}

/// True if `own` is what [`take`] would make of it, to the last bit.
pub(crate) fn are_taken(own: &[f64], all: &[f64], of: &[usize]) -> bool {
    own.len() == of.len() && own.iter().zip(of).all(|(own, &i)| own.to_bits() == all[i].to_bits())
}

/// As [`are_taken`], for several numbers each.
fn arrays_are_taken<const N: usize>(own: &[[f64; N]], all: &[[f64; N]], of: &[usize]) -> bool {
    own.len() == of.len() && own.iter().zip(of).all(|(own, &i)| own.map(f64::to_bits) == all[i].map(f64::to_bits))
}

/// The number of each block and contact of a problem within its island.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    pub blocks: Vec<usize>,
    pub contacts: Vec<usize>,
}

/// Contacts of a problem that are made ready apart from it, such as in another thread, and added all at once.
#[derive(Debug, Clone)]
pub struct ContactBatch {
    contacts: Contacts,
    /// The keys of their normals, by which twins are found.
    keys: Vec<u64>,
    /// The number that its first contact will have in the problem.
    first: usize,
}

impl ContactBatch {
    /// An empty batch for problems of this layout.
    pub fn new(layout: &Layout) -> Self {
        Self { contacts: Contacts::new(layout), keys: vec![], first: 0 }
    }

    /// Removes all contacts, keeping the storage; the next one will have the number `first` in the problem, and in errors.
    pub fn restart(&mut self, first: usize) {
        self.contacts.clear();
        self.keys.clear();
        self.first = first;
    }

    /// Adds a contact, as [`ContactProblem::add_contact`] does.
    ///
    /// # Errors
    /// Those of [`ContactProblem::add_contact`].
    pub fn add_contact(&mut self, contact: Contact<'_>) -> Result<(), InputError> {
        let k = self.contacts.len();
        self.contacts.push(self.first + k, contact)?;
        self.keys.push(self.contacts.normal.key(k));
        Ok(())
    }
}

/// Bilateral rows: loops, mimic joints, prescribed motion. `J v⁺ = target`, or `J v̇ + rate = target`.
#[derive(Debug, Clone, PartialEq)]
pub struct Bilaterals {
    /// J, j × m.
    pub rows: Rows,
    /// `J̇ v`, for acceleration-level models.
    pub rate: Vec<f64>,
    /// The velocity (velocity level) or acceleration (acceleration level) wanted.
    pub target: Vec<f64>,
}

impl Bilaterals {
    fn clear(&mut self) {
        self.rows.clear();
        [&mut self.rate, &mut self.target].into_iter().for_each(Vec::clear);
    }
}

/// Frictionless unilateral rows, such as joint limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// One row per limit: positive moves away from it.
    pub rows: Rows,
    /// Signed distance to the limit (m or rad).
    pub gap: Vec<f64>,
    /// The row's rate times v, for acceleration-level models.
    pub rate: Vec<f64>,
    /// Least speed away from the limit wanted after the step.
    pub bounce: Vec<f64>,
}

impl Limits {
    fn clear(&mut self) {
        self.rows.clear();
        [&mut self.gap, &mut self.rate, &mut self.bounce].into_iter().for_each(Vec::clear);
    }
}

/// Rows whose force is bounded: joint dry friction, motors with effort limits.
///
/// The force f along the row brings `row v⁺ − target` to zero if it can: it is `hi` while that is negative and `lo` while it is positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    /// One row each.
    pub rows: Rows,
    /// Least force (N or N m), −∞ allowed.
    pub lo: Vec<f64>,
    /// Largest force, ∞ allowed.
    pub hi: Vec<f64>,
    /// The row's rate times v, for acceleration-level models.
    pub rate: Vec<f64>,
    /// The velocity or acceleration wanted.
    pub target: Vec<f64>,
}

impl Bounded {
    fn clear(&mut self) {
        self.rows.clear();
        [&mut self.lo, &mut self.hi, &mut self.rate, &mut self.target].into_iter().for_each(Vec::clear);
    }
}

/// What is known before a contact solve. Built row by row, and valid at every moment.
///
/// ```
/// use stiction_contact::{Contact, ContactProblem, Mass};
/// use stiction_lcp::Matrix;
///
/// // A particle of 2 kg on the floor, 1 ms steps: velocities (x, y, z).
/// let mass = Mass::new(vec![Matrix::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 0.0 })])?;
/// let mut problem = ContactProblem::new(mass, vec![0.1, 0.0, 0.0], vec![0.0, 0.0, -2.0 * 9.81], 1e-3)?;
/// let (n, s, t) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
/// problem.add_contact(Contact { mu: 0.5, ..Contact::new(&[(0, &n)], &[(0, &s)], &[(0, &t)]) })?;
/// assert_eq!(problem.contacts().len(), 1);
/// # Ok::<(), stiction_lcp::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ContactProblem {
    mass: Mass,
    v: Vec<f64>,
    force: Vec<f64>,
    dt: f64,
    contacts: Contacts,
    bilaterals: Bilaterals,
    limits: Limits,
    bounded: Bounded,
}

impl ContactProblem {
    /// A problem without rows: inertia, velocities `v` (m), forces (m; external, gyroscopic, everything but contact), step `dt` (s).
    ///
    /// # Errors
    /// Naming the field that has the wrong size, is not finite, or is no step.
    pub fn new(mass: Mass, v: Vec<f64>, force: Vec<f64>, dt: f64) -> Result<Self, InputError> {
        let (layout, m) = (mass.layout().clone(), mass.m());
        check::vector("v", m, &v)?;
        check::vector("force", m, &force)?;
        check::positive(|| "dt".into(), dt)?;
        let (rows, contacts) = (|| Rows::new(&layout), Contacts::new(&layout));
        let bilaterals = Bilaterals { rows: rows(), rate: vec![], target: vec![] };
        let limits = Limits { rows: rows(), gap: vec![], rate: vec![], bounce: vec![] };
        let bounded = Bounded { rows: rows(), lo: vec![], hi: vec![], rate: vec![], target: vec![] };
        Ok(Self { mass, v, force, dt, contacts, bilaterals, limits, bounded })
    }

    /// A problem without bodies, to become another.
    pub(crate) fn empty() -> Self {
        Mass::new(vec![]).and_then(|mass| Self::new(mass, vec![], vec![], 1.0)).expect("nothing is out of range")
    }

    /// Removes all rows and starts the next step with velocities `v` (m), forces (m) and step `dt` (s), keeping the inertia and all storage: a problem that is
    /// built again and again allocates nothing once its sizes have settled. On an error nothing is changed.
    ///
    /// # Errors
    /// Naming the field that has the wrong size, is not finite, or is no step.
    pub fn reset(&mut self, v: &[f64], force: &[f64], dt: f64) -> Result<(), InputError> {
        check::positive(|| "dt".into(), dt)?;
        self.set_motion(v, force)?;
        self.dt = dt;
        self.contacts.clear();
        self.bilaterals.clear();
        self.limits.clear();
        self.bounded.clear();
        Ok(())
    }

    /// Becomes the part of `whole` that belongs to an island, with its blocks and rows in their order. Keeps its storage.
    ///
    /// It is to be solved, not to be added to: new contacts would not find their twins.
    pub(crate) fn take_part(&mut self, whole: &Self, island: &Island, places: &Places) {
        self.mass.take_blocks(&whole.mass, &island.blocks);
        self.dt = whole.dt;
        self.v.clear();
        self.force.clear();
        for &b in &island.blocks {
            let range = whole.layout().range(b);
            self.v.extend_from_slice(&whole.v[range.clone()]);
            self.force.extend_from_slice(&whole.force[range]);
        }
        let layout = self.mass.layout();
        self.contacts.take_part(&whole.contacts, island, layout, places);
        let (own, all, of) = (&mut self.bilaterals, &whole.bilaterals, &island.bilaterals);
        own.rows.take_rows(&all.rows, of, layout, &places.blocks);
        take(&mut own.rate, &all.rate, of);
        take(&mut own.target, &all.target, of);
        let (own, all, of) = (&mut self.limits, &whole.limits, &island.limits);
        own.rows.take_rows(&all.rows, of, layout, &places.blocks);
        take(&mut own.gap, &all.gap, of);
        take(&mut own.rate, &all.rate, of);
        take(&mut own.bounce, &all.bounce, of);
        let (own, all, of) = (&mut self.bounded, &whole.bounded, &island.bounded);
        own.rows.take_rows(&all.rows, of, layout, &places.blocks);
        take(&mut own.lo, &all.lo, of);
        take(&mut own.hi, &all.hi, of);
        take(&mut own.rate, &all.rate, of);
        take(&mut own.target, &all.target, of);
    }

    /// True if this is what [`ContactProblem::take_part`] would make of it, to the last bit.
    pub(crate) fn is_part_of(&self, whole: &Self, island: &Island, places: &Places) -> bool {
        let (own, all, numbers) = (self, whole, &places.blocks);
        let is_same = |own: &[f64], all: &[f64]| {
            let range = |(k, &b): (usize, &usize)| (self.layout().range(k), whole.layout().range(b));
            island.blocks.iter().enumerate().map(range).all(|(to, from)| same_bits(&own[to], &all[from]))
        };
        own.layout().blocks() == island.blocks.len()
            && is_same(&own.v, &all.v)
            && is_same(&own.force, &all.force)
            && own.dt.to_bits() == all.dt.to_bits()
            && own.contacts.are_part_of(&all.contacts, island, places)
            && own.bilaterals.rows.are_rows_of(&all.bilaterals.rows, &island.bilaterals, numbers)
            && are_taken(&own.bilaterals.rate, &all.bilaterals.rate, &island.bilaterals)
            && are_taken(&own.bilaterals.target, &all.bilaterals.target, &island.bilaterals)
            && own.limits.rows.are_rows_of(&all.limits.rows, &island.limits, numbers)
            && are_taken(&own.limits.gap, &all.limits.gap, &island.limits)
            && are_taken(&own.limits.rate, &all.limits.rate, &island.limits)
            && are_taken(&own.limits.bounce, &all.limits.bounce, &island.limits)
            && own.bounded.rows.are_rows_of(&all.bounded.rows, &island.bounded, numbers)
            && are_taken(&own.bounded.lo, &all.bounded.lo, &island.bounded)
            && are_taken(&own.bounded.hi, &all.bounded.hi, &island.bounded)
            && are_taken(&own.bounded.rate, &all.bounded.rate, &island.bounded)
            && are_taken(&own.bounded.target, &all.bounded.target, &island.bounded)
            && own.mass.has_blocks_of(&all.mass, &island.blocks)
    }

    /// The same problem with other mass blocks, as many and as large as the present ones. Allocates nothing after the first time; on an error nothing
    /// is changed.
    ///
    /// # Errors
    /// `InputError::Size` if the number or the size of the blocks is another; else naming the block that is not finite, symmetric and positive definite.
    pub fn set_mass(&mut self, blocks: &[Matrix]) -> Result<(), InputError> {
        self.mass.set(blocks)
    }

    /// The same problem with the mass blocks of another one, and their factors.
    ///
    /// # Errors
    /// `InputError::Size` if the number or the size of the blocks is another.
    pub fn copy_mass(&mut self, other: &Self) -> Result<(), InputError> {
        self.mass.copy_from(&other.mass)
    }

    /// The same inertia and rows at another velocity and force.
    ///
    /// # Errors
    /// Naming the field that has the wrong size or is not finite.
    pub fn set_motion(&mut self, v: &[f64], force: &[f64]) -> Result<(), InputError> {
        check::vector("v", self.m(), v)?;
        check::vector("force", self.m(), force)?;
        self.v.copy_from_slice(v);
        self.force.copy_from_slice(force);
        Ok(())
    }

    /// Adds a contact; on an error nothing is added.
    ///
    /// # Errors
    /// Naming the contact, row and field: a number without a meaning, a row that does not fit, a
    /// coefficient of friction without rows to act along.
    pub fn add_contact(&mut self, contact: Contact<'_>) -> Result<(), InputError> {
        let i = self.contacts.len();
        self.contacts.push(i, contact)?;
        self.contacts.find_twin(self.contacts.normal.key(i));
        Ok(())
    }

    /// Adds the contacts of a batch, all in their order.
    pub fn add_batch(&mut self, batch: &ContactBatch) {
        self.contacts.append(&batch.contacts);
        batch.keys.iter().for_each(|key| self.contacts.find_twin(*key));
    }

    /// Asks contact `i` to part with at least the speed `bounce` (m/s) after the step, whatever its gap: it closes
    /// within the step and rebounds.
    ///
    /// # Errors
    /// `InputError::Size` if there is no such contact; else naming the field.
    pub fn set_bounce(&mut self, i: usize, bounce: f64) -> Result<(), InputError> {
        let all = &mut self.contacts;
        if i >= all.len() {
            return Err(InputError::Size { what: "contacts".into(), expected: i + 1, found: all.len() });
        }
        check::finite(|| format!("contact {i}: bounce"), bounce)?;
        all.predicted[i] |= bounce > 0.0 && !all.touches(i);
        all.bounce[i] = bounce;
        Ok(())
    }

    /// Gives contact `i` another gap (m), and says whether it is seen ahead, see [`Contact::predicted`].
    ///
    /// # Errors
    /// `InputError::Size` if there is no such contact; else naming the field.
    pub fn set_gap(&mut self, i: usize, gap: f64, predicted: bool) -> Result<(), InputError> {
        let all = &mut self.contacts;
        if i >= all.len() {
            return Err(InputError::Size { what: "contacts".into(), expected: i + 1, found: all.len() });
        }
        check::finite(|| format!("contact {i}: gap"), gap)?;
        (all.gap[i], all.predicted[i]) = (gap, predicted);
        Ok(())
    }

    /// Adds a bilateral row: `row v⁺ = target` at velocity level, `row v̇ + rate = target` at acceleration level.
    ///
    /// # Errors
    /// Naming the row and field.
    pub fn add_bilateral(&mut self, row: RowBlocks<'_>, rate: f64, target: f64) -> Result<(), InputError> {
        let i = self.bilaterals.rows.len();
        check::finite(|| format!("bilateral row {i}: rate"), rate)?;
        check::finite(|| format!("bilateral row {i}: target"), target)?;
        self.bilaterals.rows.push(format_args!("bilateral row {i}"), row)?;
        self.bilaterals.rate.push(rate);
        self.bilaterals.target.push(target);
        Ok(())
    }

    /// Adds a frictionless unilateral row: `row v⁺ ≥ bounce − max(gap, 0)/dt`, or `row v̇ + rate ≥ 0` where the gap is closed.
    ///
    /// # Errors
    /// Naming the row and field.
    pub fn add_limit(&mut self, row: RowBlocks<'_>, gap: f64, rate: f64, bounce: f64) -> Result<(), InputError> {
        let i = self.limits.rows.len();
        for (field, x) in [("gap", gap), ("rate", rate), ("bounce", bounce)] {
            check::finite(|| format!("limit {i}: {field}"), x)?;
        }
        self.limits.rows.push(format_args!("limit {i}"), row)?;
        self.limits.gap.push(gap);
        self.limits.rate.push(rate);
        self.limits.bounce.push(bounce);
        Ok(())
    }

    /// Adds a row whose force stays within `lo..=hi` (N or N m) and brings `row v⁺` (or `row v̇ + rate`) to `target` if it can.
    ///
    /// # Errors
    /// Naming the row and field.
    pub fn add_bounded(
        &mut self,
        row: RowBlocks<'_>,
        lo: f64,
        hi: f64,
        rate: f64,
        target: f64,
    ) -> Result<(), InputError> {
        let i = self.bounded.rows.len();
        if lo.is_nan() || hi.is_nan() || lo > hi || lo == f64::INFINITY || hi == f64::NEG_INFINITY {
            return Err(InputError::EmptyBounds { row: i, lo, hi });
        }
        check::finite(|| format!("bounded row {i}: rate"), rate)?;
        check::finite(|| format!("bounded row {i}: target"), target)?;
        self.bounded.rows.push(format_args!("bounded row {i}"), row)?;
        self.bounded.lo.push(lo);
        self.bounded.hi.push(hi);
        self.bounded.rate.push(rate);
        self.bounded.target.push(target);
        Ok(())
    }

    /// True if contact `i` parts already: its separation speed now is above rounding.
    pub fn parts(&self, i: usize) -> bool {
        self.contacts.normal.dot(i, &self.v) > SPEED_TOLERANCE * self.contacts.normal.terms(i, &self.v)
    }

    /// The slip of contact `i` now, along both tangents (m/s, with the speed of the surface) and about the normal (rad/s). A component that is
    /// rounding beside its terms is 0, so the contact slides exactly if one of the first two is not.
    pub fn slip(&self, i: usize) -> [f64; 3] {
        let all = &self.contacts;
        let axis = |rows: &Rows, surface: f64| {
            // A direction of slip is as exact as its components, which may be small beside their terms.
            let (speed, size) = (rows.accurate_dot(surface, i, &self.v), surface.abs() + rows.terms(i, &self.v));
            if speed.abs() > SPEED_TOLERANCE * size { speed } else { 0.0 }
        };
        let (mut s, mut t) = (axis(&all.tangent_s, all.surface[i][0]), axis(&all.tangent_t, all.surface[i][1]));
        // A component too small to turn the direction of slip is none.
        if s.abs() <= f64::EPSILON * t.abs() {
            s = 0.0;
        } else if t.abs() <= f64::EPSILON * s.abs() {
            t = 0.0;
        }
        [s, t, axis(&all.spin, 0.0)]
    }

    /// Number of velocities, m.
    pub fn m(&self) -> usize {
        self.v.len()
    }

    /// The inertia.
    pub fn mass(&self) -> &Mass {
        &self.mass
    }

    /// Where the blocks of the inertia are.
    pub fn layout(&self) -> &Layout {
        self.mass.layout()
    }

    /// Velocities before the step, m.
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// Forces other than those of the rows, m.
    pub fn force(&self) -> &[f64] {
        &self.force
    }

    /// The step (s).
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// The contacts.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// The bilateral rows.
    pub fn bilaterals(&self) -> &Bilaterals {
        &self.bilaterals
    }

    /// The frictionless unilateral rows.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The rows with bounded force.
    pub fn bounded(&self) -> &Bounded {
        &self.bounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn particle() -> ContactProblem {
        ContactProblem::new(Mass::new(vec![Matrix::identity(3)]).unwrap(), vec![0.0; 3], vec![0.0; 3], 0.01).unwrap()
    }

    #[test]
    fn friction_needs_rows_to_act_along() {
        let mut problem = particle();
        let (n, s) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]);
        let normal: [(usize, &[f64]); 1] = [(0, &n)];
        let tangent: [(usize, &[f64]); 1] = [(0, &s)];
        let bare = Contact::new(&normal, &[], &[]);
        let mut refusal = |contact| problem.add_contact(contact).unwrap_err().to_string();
        assert_eq!(refusal(Contact { mu: 0.5, ..bare }), "contact 0: mu must be 0 without tangent rows, found 0.5");
        assert!(refusal(Contact { mu: f64::INFINITY, ..bare }).contains("mu"));
        assert!(refusal(Contact { mu_viscous: 1.0, ..bare }).contains("mu_viscous"));
        assert!(refusal(Contact { mu_spin: 1.0, ..bare }).contains("mu_spin"));
        assert_eq!(
            refusal(Contact { mu_roll: 0.1, ..bare }),
            "contact 0: mu_roll must be 0 without rolling rows, found 0.1"
        );
        let rolls = Contact { roll_t: &tangent, ..bare };
        assert!(refusal(Contact { mu_roll: f64::INFINITY, ..rolls }).contains("mu_roll"));
        let one_tangent = Contact::new(&normal, &tangent, &[]);
        let still: [(usize, &[f64]); 1] = [(0, &[0.0; 3])];
        for contact in [
            bare,
            Contact { mu: 0.5, mu_viscous: 1.0, ..one_tangent },
            Contact { mu: 0.5, ..Contact::new(&normal, &[], &tangent) },
            // It cannot slip, which is said by a row of zeros.
            Contact { mu: 0.5, ..Contact::new(&normal, &still, &still) },
            // Nothing can move.
            Contact { mu: 0.5, mu_spin: 1.0, mu_roll: 0.1, ..Contact::new(&[], &[], &[]) },
            Contact { mu_roll: 0.1, ..rolls },
        ] {
            problem.add_contact(contact).unwrap();
        }
        assert_eq!(problem.contacts().len(), 6);
    }

    #[test]
    fn bad_fields_are_named_and_leave_no_trace() {
        let mut problem = particle();
        let row = [0.0, 0.0, 1.0];
        let blocks: [(usize, &[f64]); 1] = [(0, &row)];
        let good = Contact::new(&blocks, &blocks, &[]);
        problem.add_contact(good).unwrap();
        let before = problem.clone();
        let mut refuse = |contact: Contact<'_>, text: &str| {
            let message = problem.add_contact(contact).unwrap_err().to_string();
            assert!(message.starts_with("contact 1: ") && message.contains(text), "{message}");
        };
        refuse(Contact { gap: f64::NAN, ..good }, "gap");
        refuse(Contact { mu: -1.0, ..good }, "mu");
        refuse(Contact { mu: f64::NAN, ..good }, "mu");
        refuse(Contact { size: 0.0, ..good }, "size");
        refuse(Contact { normal: &[(0, &[1.0])], ..good }, "normal");
        refuse(Contact { tangent_t: &[(1, &[1.0])], ..good }, "tangent_t");
        refuse(Contact { rate: [0.0, f64::INFINITY, 0.0], ..good }, "rate[1]");
        refuse(Contact { surface: [0.0, f64::NAN], ..good }, "surface[1]");
        assert!(problem.add_bilateral(&[(0, &row)], f64::NAN, 0.0).is_err());
        assert!(problem.add_limit(&[(3, &row)], 0.0, 0.0, 0.0).unwrap_err().to_string().contains("limit 0"));
        assert!(problem.add_bounded(&[(0, &row)], 1.0, -1.0, 0.0, 0.0).is_err());
        assert!(problem.add_bounded(&[(0, &row)], f64::NAN, 1.0, 0.0, 0.0).is_err());
        assert!(problem.set_motion(&[0.0; 2], &[0.0; 3]).is_err());
        assert_eq!(problem, before);
    }

    #[test]
    fn steps_and_motions_are_checked() {
        let mass = || Mass::new(vec![Matrix::identity(1)]).unwrap();
        for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(ContactProblem::new(mass(), vec![0.0], vec![0.0], dt).unwrap_err().to_string().starts_with("dt"));
        }
        assert!(
            ContactProblem::new(mass(), vec![f64::NAN], vec![0.0], 1.0).unwrap_err().to_string().starts_with("v[0]")
        );
        assert!(
            ContactProblem::new(mass(), vec![0.0], vec![0.0; 2], 1.0).unwrap_err().to_string().starts_with("force")
        );
    }

    #[test]
    fn a_problem_that_was_reset_is_a_new_one() {
        let mut problem = particle();
        let row = [0.0, 0.0, 1.0];
        problem.add_contact(Contact { mu: 0.3, ..Contact::new(&[(0, &row)], &[(0, &row)], &[]) }).unwrap();
        problem.add_bilateral(&[(0, &row)], 1.0, 2.0).unwrap();
        problem.add_limit(&[(0, &row)], 1.0, 2.0, 3.0).unwrap();
        problem.add_bounded(&[(0, &row)], -1.0, 1.0, 2.0, 3.0).unwrap();
        let before = problem.clone();
        assert!(problem.reset(&[1.0; 2], &[2.0; 3], 0.1).unwrap_err().to_string().starts_with('v'));
        assert!(problem.reset(&[1.0; 3], &[f64::NAN; 3], 0.1).unwrap_err().to_string().starts_with("force"));
        assert!(problem.reset(&[1.0; 3], &[2.0; 3], 0.0).unwrap_err().to_string().starts_with("dt"));
        assert!(problem.set_mass(&[Matrix::identity(2)]).is_err());
        assert_eq!(problem, before);
        let heavy = Matrix::from_fn(3, 3, |i, j| if i == j { 4.0 } else { 0.0 });
        problem.reset(&[1.0; 3], &[2.0; 3], 0.1).unwrap();
        problem.set_mass(std::slice::from_ref(&heavy)).unwrap();
        let mass = Mass::new(vec![heavy]).unwrap();
        assert_eq!(problem, ContactProblem::new(mass, vec![1.0; 3], vec![2.0; 3], 0.1).unwrap());
    }

    #[test]
    fn contacts_with_the_same_rows_are_twins() {
        let mut problem = particle();
        let (a, b, c) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -0.0, 1.0]);
        let rows = [(&a, &b), (&a, &a), (&a, &b), (&c, &b), (&a, &a), (&b, &b), (&a, &b)];
        for _ in 0..2 {
            problem.reset(&[0.0; 3], &[0.0; 3], 1.0).unwrap();
            for (k, (n, s)) in rows.iter().enumerate() {
                problem.add_contact(Contact { gap: k as f64, ..Contact::new(&[(0, *n)], &[(0, *s)], &[]) }).unwrap();
            }
            assert_eq!(problem.contacts().twin, [0, 1, 0, 3, 1, 5, 0]);
        }
    }

    #[test]
    fn contacts_added_in_batches_are_the_same() {
        let (mut one_by_one, mut in_batches) = (particle(), particle());
        let mut batch = ContactBatch::new(one_by_one.layout());
        let rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for first in [0, 3] {
            batch.restart(first);
            for k in first..first + 3 {
                let normal: [(usize, &[f64]); 1] = [(0, &rows[k % 2])];
                let tangent: [(usize, &[f64]); 1] = [(0, &rows[2])];
                let contact = Contact { gap: k as f64, ..Contact::new(&normal, &tangent, &[]) };
                one_by_one.add_contact(contact).unwrap();
                batch.add_contact(contact).unwrap();
            }
            in_batches.add_batch(&batch);
        }
        assert_eq!(in_batches, one_by_one);
        assert_eq!(in_batches.contacts().twin, [0, 1, 0, 1, 0, 1]);
        let bad = Contact { gap: f64::NAN, ..Contact::new(&[], &[], &[]) };
        assert!(batch.add_contact(bad).unwrap_err().to_string().starts_with("contact 6: gap"));
    }

    #[test]
    fn touching_is_relative_to_the_body() {
        let mut problem = particle();
        let row = [0.0, 0.0, 1.0];
        for (gap, size) in [(0.0, 1.0), (-0.1, 1.0), (1e-9, 1.0), (1e-8, 1.0), (1e-8, 100.0), (1e-9, 0.01)] {
            problem.add_contact(Contact { gap, size, ..Contact::new(&[(0, &row)], &[], &[]) }).unwrap();
        }
        let touches: Vec<bool> = (0..6).map(|i| problem.contacts().touches(i)).collect();
        assert_eq!(touches, [true, true, true, false, true, false]);
    }
}
