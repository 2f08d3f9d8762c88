//! Which pairs of geoms are near each other.

use stiction_linalg::Threads;

use crate::collision::frame::Frame;
use crate::collision::rules::Allowed;
use crate::math::Vec3;

/// With at most this many geoms all allowed pairs are looked at, if they are not more than the second: a comparison of bounds costs
/// a few hundredths of what a geom costs in the grids.
const FEW_GEOMS: usize = 400;
const FEW_PAIRS: usize = 1 << 13;

/// Slots for the cells of the grids: with as many most cells have a slot of their own.
const SLOTS_PER_GEOM: usize = 2;

/// Most pairs near each other: several times those of a dense heap of ten thousand bodies, and what memory has room for with all their contacts.
const MOST_PAIRS: usize = 1 << 18;

/// Geoms that are worth a thread: to find what is near them takes several times as long as to wake it.
const GRAIN: usize = 100;

/// Chunks of geoms per thread, so that none waits long for another.
const CHUNKS: usize = 4;

/// By how much bounds are larger when pairs are listed, beside the mean of their half sides. More makes the list longer, less lets it end sooner.
const SLACK: f64 = 0.2;

/// More than the rounding of a comparison of bounds.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Where a geom can be within the step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bounds {
    /// Not finite: touches nothing.
    Nowhere,
    /// A box along the world's axes.
    Aabb { centre: Vec3, half: Vec3 },
    /// Below the plane `normal · x = offset`.
    HalfSpace { normal: Vec3, offset: f64 },
}

impl Bounds {
    pub(super) const NOWHERE: Self = Self::Nowhere;

    pub(super) fn new(centre: Vec3, half: Vec3) -> Self {
        Self::Aabb { centre, half }
    }

    pub(super) fn half_space(frame: &Frame, grown: f64) -> Self {
        let normal = frame.rotation.z_axis;
        Self::HalfSpace { normal, offset: normal.dot(frame.origin) + grown }
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.meets_within(other, 0.0)
    }

    /// The same with bounds that reach less far towards each other by `less` (m), half of it each.
    pub(super) fn meets_within(&self, other: &Self, less: f64) -> bool {
        match (self, other) {
            (Self::Aabb { centre, half }, Self::Aabb { centre: c, half: h }) => meet(*centre - *c, *half + *h - less),
            (Self::Aabb { centre, half }, Self::HalfSpace { normal, offset })
            | (Self::HalfSpace { normal, offset }, Self::Aabb { centre, half }) => {
                normal.dot(*centre) - (normal.abs()).dot(*half - 0.5 * less) <= *offset - 0.5 * less
            }
            _ => false,
        }
    }

    /// Larger by this on every side (m).
    fn grown(&self, by: f64) -> Self {
        match *self {
            Self::Nowhere => Self::Nowhere,
            Self::Aabb { centre, half } => Self::Aabb { centre, half: half + by },
            Self::HalfSpace { normal, offset } => Self::HalfSpace { normal, offset: offset + by },
        }
    }

    /// By how much they are larger when pairs are listed (m); without size not at all.
    fn slack(&self) -> f64 {
        if let Self::Aabb { half, .. } = self { SLACK / 3.0 * half.element_sum() } else { 0.0 }
    }

    /// True if the other bounds lie within these by more than rounding.
    fn hold(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nowhere, Self::Nowhere) => true,
            (Self::Aabb { centre, half }, Self::Aabb { centre: c, half: h }) => {
                meet(*centre - *c, *half - *h - ROUNDING * (centre.abs() + *half))
            }
            (Self::HalfSpace { normal, offset }, Self::HalfSpace { normal: n, offset: o }) => {
                normal == n && *o <= *offset - ROUNDING * offset.abs()
            }
            _ => false,
        }
    }
}

/// Finds the pairs of geoms whose bounds meet: a grid for every size of geoms, or all allowed pairs
/// where there are few.
///
/// A geom lies in one cell of the grid whose cells are at least as large as its bounds, and at most
/// twice as large. What it meets among geoms of its own size or larger ones has its centre within
/// one cell of it in their grid, so the cost is linear in the geoms and the pairs found, whatever
/// the sizes.
///
/// The pairs are those of bounds that are a little larger, and are found again only when a geom has left these (Verlet's lists).
#[derive(Debug, Clone)]
pub(crate) struct Broad {
    /// All allowed pairs in order, where they are few.
    all: Option<Vec<(u32, u32)>>,
    /// Geoms without bounds: half-spaces, and what is larger than numbers are.
    unbounded: Vec<u32>,
    /// Sizes of cells there are, as exponents of 2, ascending.
    levels: Vec<i32>,
    /// Geoms by the slot of their cell, and where each slot's begin; a power of two of slots.
    entries: Vec<Entry>,
    slots: Vec<u32>,
    /// The cell of each geom, if it has one.
    cells: Vec<Option<Cell>>,
    /// Pairs as they are found, those of some geoms each, then in ascending order.
    pairs: Vec<Vec<(u32, u32)>>,
    found: Vec<(u32, u32)>,
    counts: Vec<u32>,
    /// Pairs of the larger bounds, and these.
    listed: Vec<(u32, u32)>,
    larger: Vec<Bounds>,
    crowded: bool,
}

/// A cell of a grid, by a number that hardly any two share.
#[derive(Debug, Clone, Copy)]
struct Cell {
    level: i32,
    key: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    centre: Vec3,
    half: Vec3,
    geom: u32,
}

impl Entry {
    const NONE: Self = Self { key: 0, centre: Vec3::ZERO, half: Vec3::ZERO, geom: 0 };
}

impl Broad {
    pub(super) fn new(allowed: &Allowed, geoms: usize) -> Self {
        let pairs = (0..geoms).flat_map(|i| (i + 1..geoms).map(move |j| (i, j))).filter(|&(i, j)| allowed.get(i, j));
        let few = geoms <= FEW_GEOMS && pairs.clone().take(FEW_PAIRS + 1).count() <= FEW_PAIRS;
        Self {
            all: few.then(|| pairs.map(|(i, j)| (i as u32, j as u32)).collect()),
            unbounded: Vec::new(),
            levels: Vec::new(),
            entries: Vec::new(),
            slots: Vec::new(),
            cells: Vec::new(),
            pairs: Vec::new(),
            found: Vec::new(),
            counts: Vec::new(),
            listed: Vec::new(),
            larger: Vec::new(),
            crowded: false,
        }
    }

    /// Number of pairs that are near each other, for [`Broad::pair`].
    ///
    /// There are at most [`MOST_PAIRS`]; the search ends with one more.
    pub(super) fn candidates(&mut self, bounds: &[Bounds], allowed: &Allowed, threads: Threads) -> usize {
        let holds = |(larger, bounds): (&Bounds, &Bounds)| larger.hold(bounds);
        if self.larger.len() != bounds.len() || !self.larger.iter().zip(bounds).all(holds) {
            let mut larger = std::mem::take(&mut self.larger);
            let most = bounds.iter().map(Bounds::slack).fold(0.0, f64::max);
            let slack =
                |bounds: &Bounds| if matches!(bounds, Bounds::HalfSpace { .. }) { most } else { bounds.slack() };
            larger.clear();
            larger.extend(bounds.iter().map(|bounds| bounds.grown(slack(bounds))));
            self.search_all(&larger, allowed, threads);
            std::mem::swap(&mut self.found, &mut self.listed);
            self.larger = larger;
        }
        if self.listed.len() > MOST_PAIRS {
            self.larger.clear();
            self.search_all(bounds, allowed, threads);
        } else {
            self.found.clear();
            let near = self.listed.iter().filter(|(i, j)| bounds[*i as usize].meets(&bounds[*j as usize]));
            self.found.extend(near);
        }
        self.crowded |= self.found.len() > MOST_PAIRS;
        self.found.len()
    }

    /// All pairs whose bounds meet, ascending.
    fn search_all(&mut self, bounds: &[Bounds], allowed: &Allowed, threads: Threads) {
        self.found.clear();
        match &self.all {
            Some(all) => {
                let near = all.iter().filter(|(i, j)| bounds[*i as usize].meets(&bounds[*j as usize]));
                self.found.extend(near);
            }
            None => {
                self.fill_grids(bounds);
                self.search(bounds, allowed, threads);
                self.put_in_order(bounds.len());
            }
        }
    }

    /// Keeps those pairs for which it is true; returns how many there are then.
    pub(super) fn keep(&mut self, is_near: impl Fn(usize, usize) -> bool) -> usize {
        self.found.retain(|(i, j)| is_near(*i as usize, *j as usize));
        self.found.len()
    }

    /// Takes the pairs found last away, in exchange for storage.
    pub(super) fn take_pairs(&mut self, pairs: &mut Vec<(u32, u32)>) {
        pairs.clear();
        std::mem::swap(&mut self.found, pairs);
    }

    /// There are more contacts than can be solved for.
    pub(super) fn set_crowded(&mut self) {
        self.crowded = true;
    }

    /// True if there were more pairs than [`MOST_PAIRS`], or more contacts than there can be, since this was asked last.
    pub(super) fn take_crowded(&mut self) -> bool {
        std::mem::take(&mut self.crowded)
    }

    /// The k-th pair found, in ascending order.
    pub(super) fn pair(&self, k: usize) -> (usize, usize) {
        let (i, j) = self.found[k];
        (i as usize, j as usize)
    }

    /// Puts every geom into its cell.
    fn fill_grids(&mut self, bounds: &[Bounds]) {
        self.unbounded.clear();
        self.levels.clear();
        self.cells.clear();
        for (i, bounds) in bounds.iter().enumerate() {
            let cell = match bounds {
                Bounds::Nowhere => None,
                Bounds::HalfSpace { .. } => {
                    self.unbounded.push(i as u32);
                    None
                }
                Bounds::Aabb { centre, half } => {
                    let cell = Cell::of(*centre, *half);
                    if cell.is_none() {
                        self.unbounded.push(i as u32);
                    }
                    cell
                }
            };
            if let Some(Cell { level, .. }) = cell
                && let Err(at) = self.levels.binary_search(&level)
            {
                self.levels.insert(at, level);
            }
            self.cells.push(cell);
        }
        let slots = (SLOTS_PER_GEOM * bounds.len()).next_power_of_two();
        self.slots.clear();
        self.slots.resize(slots + 1, 0);
        self.cells.iter().flatten().for_each(|cell| self.slots[slot(cell.key, slots)] += 1);
        let mut end = 0;
        for count in &mut self.slots {
            end += *count;
            *count = end;
        }
        self.entries.clear();
        self.entries.resize(end as usize, Entry::NONE);
        // Filled from their ends, so that each slot's place ends up at its beginning.
        for (i, (bounds, cell)) in bounds.iter().zip(&self.cells).enumerate().rev() {
            if let (Bounds::Aabb { centre, half }, Some(cell)) = (bounds, cell) {
                let end = &mut self.slots[slot(cell.key, slots)];
                *end -= 1;
                self.entries[*end as usize] = Entry { key: cell.key, centre: *centre, half: *half, geom: i as u32 };
            }
        }
    }

    /// Every pair whose bounds meet, in no order; a pair may be there twice.
    fn search(&mut self, bounds: &[Bounds], allowed: &Allowed, threads: Threads) {
        let count = threads.worth(bounds.len() / 2, GRAIN);
        let length = bounds.len().div_ceil(if count == 1 { 1 } else { count * CHUNKS }).max(1);
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.resize_with(bounds.len().div_ceil(length).max(1), Vec::new);
        pairs.iter_mut().for_each(Vec::clear);
        let geoms = (0..bounds.len()).step_by(length).map(|first| first..bounds.len().min(first + length));
        threads.share(&mut vec![(); count], geoms.zip(&mut pairs), |(), (geoms, pairs)| {
            geoms.for_each(|i| self.search_near(i, bounds, allowed, pairs));
        });
        for (k, &i) in self.unbounded.iter().enumerate() {
            for j in 0..bounds.len() {
                let once = !self.unbounded[..k].contains(&(j as u32));
                if once && bounds[i as usize].meets(&bounds[j]) && allowed.get(i as usize, j) {
                    pairs[0].push((i.min(j as u32), i.max(j as u32)));
                }
            }
        }
        let mut left = MOST_PAIRS + 1;
        for pairs in &mut pairs {
            pairs.truncate(left);
            left -= pairs.len();
        }
        self.pairs = pairs;
    }

    /// The pairs of geom `i` with others of its own level behind it, and with those of larger ones.
    fn search_near(&self, i: usize, bounds: &[Bounds], allowed: &Allowed, pairs: &mut Vec<(u32, u32)>) {
        let (Bounds::Aabb { centre, half }, Some(cell)) = (&bounds[i], &self.cells[i]) else { return };
        if pairs.len() > MOST_PAIRS {
            return;
        }
        let slots = self.slots.len() - 1;
        for &level in self.levels.iter().filter(|level| **level >= cell.level) {
            for key in near_cells(*centre, *half, level) {
                let at = slot(key, slots);
                for other in &self.entries[self.slots[at] as usize..self.slots[at + 1] as usize] {
                    let j = other.geom as usize;
                    // Geoms of one level find each other: the first finds the second.
                    let once = level > cell.level || j > i;
                    if other.key == key && once && meet(*centre - other.centre, *half + other.half) && allowed.get(i, j)
                    {
                        pairs.push((i.min(j) as u32, i.max(j) as u32));
                    }
                }
            }
        }
    }

    /// The pairs in ascending order, each once: sorted by their first geom by counting, then each
    /// geom's few.
    fn put_in_order(&mut self, geoms: usize) {
        self.counts.clear();
        self.counts.resize(geoms + 1, 0);
        self.pairs.iter().flatten().for_each(|(i, _)| self.counts[*i as usize] += 1);
        let mut end = 0;
        for count in &mut self.counts {
            end += *count;
            *count = end;
        }
        self.found.resize(self.pairs.iter().map(Vec::len).sum(), (0, 0));
        for pair in self.pairs.iter().flatten().rev() {
            let end = &mut self.counts[pair.0 as usize];
            *end -= 1;
            self.found[*end as usize] = *pair;
        }
        for i in 0..geoms {
            self.found[self.counts[i] as usize..self.counts[i + 1] as usize].sort_unstable();
        }
        self.found.dedup();
    }
}

impl Cell {
    /// The cell of bounds; `None` if they have no size that is a number.
    fn of(centre: Vec3, half: Vec3) -> Option<Self> {
        let size = 2.0 * half.max_element();
        if !(size.is_finite() && centre.is_finite()) {
            return None;
        }
        let level = exponent(size) + 1;
        let at = (centre * inverse_cell(level)).floor();
        Some(Self { level, key: key(level, at) })
    }
}

/// Keys of the cells in which geoms of a level can have their centres that meet bounds no larger
/// than the level's cells.
fn near_cells(centre: Vec3, half: Vec3, level: i32) -> impl Iterator<Item = u64> {
    let inverse = inverse_cell(level);
    let reach = half * inverse + (0.5 + ROUNDING) + centre.abs() * (inverse * ROUNDING);
    let (low, high) = ((centre * inverse - reach).floor(), (centre * inverse + reach).floor());
    let count = (high - low + 1.0).min(Vec3::splat(MOST_CELLS));
    let [nx, ny, nz] = [count.x as u32, count.y as u32, count.z as u32];
    (0..nx).flat_map(move |x| {
        (0..ny).flat_map(move |y| {
            (0..nz).map(move |z| key(level, low + Vec3::new(f64::from(x), f64::from(y), f64::from(z))))
        })
    })
}

/// Cells along a coordinate that bounds no larger than a cell can reach.
const MOST_CELLS: f64 = 4.0;

/// A number for a cell.
fn key(level: i32, at: Vec3) -> u64 {
    /// Odd numbers without a pattern.
    const ODD: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    // Whole numbers; those beyond 64 bits are all alike, which costs time only.
    let [x, y, z] = [at.x as i64 as u64, at.y as i64 as u64, at.z as i64 as u64];
    let mut key = x.wrapping_mul(ODD[0]) ^ (x >> 29);
    key = (key.rotate_left(23) ^ y).wrapping_mul(ODD[1]);
    key = (key.rotate_left(23) ^ z).wrapping_mul(ODD[2]);
    (key.rotate_left(23) ^ level as u64).wrapping_mul(ODD[3])
}

/// The slot of a cell; the last bits of a product are its poorest.
fn slot(key: u64, slots: usize) -> usize {
    (key >> 24) as usize & (slots - 1)
}

/// e with 2^e ≤ x < 2^(e + 1), for normal x; not below [`LEAST_LEVEL`].
fn exponent(x: f64) -> i32 {
    (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(LEAST_LEVEL)
}

/// Cells are not smaller than 2 to this (m): their inverses are numbers.
const LEAST_LEVEL: i32 = -1000;

/// One over the size of a level's cells.
fn inverse_cell(level: i32) -> f64 {
    f64::from_bits(((1023 - level).clamp(1, 2046) as u64) << 52)
}

pub(super) fn meet(apart: Vec3, sum: Vec3) -> bool {
    let apart = apart.abs();
    apart.x <= sum.x && apart.y <= sum.y && apart.z <= sum.z
}
