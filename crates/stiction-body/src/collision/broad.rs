//! Which pairs of geoms are near each other.

use crate::collision::frame::Frame;
use crate::collision::rules::Allowed;
use crate::math::Vec3;

/// With at most this many allowed pairs all of them are looked at.
const BRUTE_FORCE: usize = 400;

/// Most pairs near each other: several times those of a dense heap of ten thousand bodies, and what memory has room for with all their contacts.
const MOST_PAIRS: usize = 1 << 18;

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
    pub const NOWHERE: Self = Self::Nowhere;

    pub fn new(centre: Vec3, half: Vec3) -> Self {
        Self::Aabb { centre, half }
    }

    pub fn half_space(frame: &Frame, grown: f64) -> Self {
        let normal = frame.rotation.z_axis;
        Self::HalfSpace { normal, offset: normal.dot(frame.origin) + grown }
    }

    pub fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Aabb { centre, half }, Self::Aabb { centre: c, half: h }) => {
                let apart = (*centre - *c).abs();
                let sum = *half + *h;
                apart.x <= sum.x && apart.y <= sum.y && apart.z <= sum.z
            }
            (Self::Aabb { centre, half }, Self::HalfSpace { normal, offset })
            | (Self::HalfSpace { normal, offset }, Self::Aabb { centre, half }) => {
                normal.dot(*centre) - (normal.abs()).dot(*half) <= *offset
            }
            _ => false,
        }
    }

    /// Lower and upper end along a coordinate; `None` where it has none.
    fn interval(&self, axis: usize) -> Option<[f64; 2]> {
        match self {
            Self::Aabb { centre, half } => Some([centre[axis] - half[axis], centre[axis] + half[axis]]),
            _ => None,
        }
    }
}

/// Sweep and prune along the coordinate in which the geoms are spread most, or all allowed pairs where there are few.
#[derive(Debug, Clone)]
pub(crate) struct Broad {
    /// All allowed pairs in order, where they are few.
    all: Option<Vec<(u32, u32)>>,
    /// Half-spaces.
    unbounded: Vec<u32>,
    /// Geoms by the lower end of their bounds.
    order: Vec<(f64, f64, u32)>,
    found: Vec<(u32, u32)>,
    crowded: bool,
}

impl Broad {
    pub fn new(allowed: &Allowed, unbounded: &[bool]) -> Self {
        let n = unbounded.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| allowed.get(i, j));
        let few = pairs.clone().take(BRUTE_FORCE + 1).count() <= BRUTE_FORCE;
        let all = few.then(|| pairs.map(|(i, j)| (i as u32, j as u32)).collect());
        let unbounded = (0..n).filter(|i| unbounded[*i]).map(|i| i as u32).collect();
        Self { all, unbounded, order: Vec::new(), found: Vec::new(), crowded: false }
    }

    /// Number of pairs that are near each other, for [`Broad::pair`].
    ///
    /// There are at most [`MOST_PAIRS`]; the sweep ends with one more.
    pub fn candidates(&mut self, bounds: &[Bounds], allowed: &Allowed) -> usize {
        self.found.clear();
        match &self.all {
            Some(all) => {
                let near = all.iter().filter(|(i, j)| bounds[*i as usize].meets(&bounds[*j as usize]));
                self.found.extend(near);
            }
            None => self.sweep(bounds, allowed),
        }
        self.crowded |= self.found.len() > MOST_PAIRS;
        self.found.len()
    }

    /// True if there were more pairs than [`MOST_PAIRS`] since this was asked last.
    pub fn take_crowded(&mut self) -> bool {
        std::mem::take(&mut self.crowded)
    }

    /// The k-th pair found, in ascending order.
    pub fn pair(&self, k: usize) -> (usize, usize) {
        let (i, j) = self.found[k];
        (i as usize, j as usize)
    }

    fn sweep(&mut self, bounds: &[Bounds], allowed: &Allowed) {
        self.order.clear();
        let axis = widest(bounds);
        let intervals = bounds.iter().enumerate();
        self.order.extend(intervals.filter_map(|(i, b)| b.interval(axis).map(|[low, high]| (low, high, i as u32))));
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        for (k, &(_, high, i)) in self.order.iter().enumerate() {
            if self.found.len() > MOST_PAIRS {
                break;
            }
            for &(_, _, j) in self.order[k + 1..].iter().take_while(|next| next.0 <= high) {
                let pair = (i.min(j), i.max(j));
                if allowed.get(i as usize, j as usize) && bounds[i as usize].meets(&bounds[j as usize]) {
                    self.found.push(pair);
                }
            }
        }
        for &i in &self.unbounded {
            for j in 0..bounds.len() as u32 {
                if allowed.get(i as usize, j as usize) && bounds[i as usize].meets(&bounds[j as usize]) {
                    self.found.push((i.min(j), i.max(j)));
                }
            }
        }
        self.found.truncate(MOST_PAIRS + 1);
        self.found.sort_unstable();
    }
}

/// The coordinate in which centres vary most.
fn widest(bounds: &[Bounds]) -> usize {
    let centres =
        || bounds.iter().filter_map(|b| if let Bounds::Aabb { centre, .. } = b { Some(*centre) } else { None });
    let n = centres().count().max(1) as f64;
    let mean = centres().sum::<Vec3>() / n;
    let spread = centres().fold(Vec3::ZERO, |sum, c| sum + (c - mean) * (c - mean));
    let mut axis = 0;
    (1..3).for_each(|k| axis = if spread[k] > spread[axis] { k } else { axis });
    axis
}
