//! Where boxes and fingers are, and where they could touch.

use stiction_body::math::{Vec3, unit};
use stiction_lcp::generate::Rng;

/// Boxes on top of each other at most.
const STOREYS: usize = 3;
/// A box with sides along the axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cuboid {
    pub mass: f64,
    pub half: [f64; 3],
    pub centre: Vec3,
}

/// A chain of rods from a base joint to a tip on a face.
#[derive(Debug, Clone)]
pub(super) struct Finger {
    /// Where its joints are, from the base.
    pub joints: Vec<Vec3>,
    pub tip: Vec3,
    /// Normal of the face it touches, towards the finger.
    pub normal: Vec3,
    /// The box it touches.
    on: usize,
}

/// Points of one body (its vertices) that can touch a face of another.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// Number of the body of the points: boxes first, then the links of all fingers.
    pub vertex: usize,
    /// That of the face's body; `None` for the world.
    pub face: Option<usize>,
    /// From the face to the points' body.
    pub normal: Vec3,
    pub points: Vec<Vec3>,
}

/// Boxes, fingers and the patches between them.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    pub boxes: Vec<Cuboid>,
    pub fingers: Vec<Finger>,
    pub patches: Vec<Patch>,
    /// Whether there is a wall behind the row.
    backed: bool,
}

impl Layout {
    /// A random row of columns of boxes with fingers at free faces, for this many contacts and so many per box and per finger.
    pub(super) fn draw(contacts: usize, per_body: [usize; 2], rng: &mut Rng) -> Self {
        let mut layout = Self { backed: rng.chance(0.5), ..Self::default() };
        let mut columns: Vec<Vec<usize>> = Vec::new();
        for _ in 0..contacts.div_ceil(per_body[0]) {
            let room = columns.last().is_some_and(|column| column.len() < STOREYS);
            if room && rng.chance(0.5) {
                let below = columns.last().and_then(|column| column.last()).copied().unwrap_or(0);
                layout.put_on(below, rng);
                columns.last_mut().into_iter().for_each(|column| column.push(layout.boxes.len() - 1));
            } else {
                layout.put_beside(columns.last().map(|column| column[0]), rng);
                columns.push(vec![layout.boxes.len() - 1]);
            }
        }
        let tops: Vec<usize> = columns.iter().filter_map(|column| column.last()).copied().collect();
        let end = columns.last().map_or(0, |column| column[0]);
        for _ in 0..1 + contacts / per_body[1] {
            layout.add_finger(&tops, end, rng);
        }
        for k in 0..layout.fingers.len() {
            let Finger { tip, normal, on, .. } = layout.fingers[k];
            layout.patches.push(Patch { vertex: layout.tip(k), face: Some(on), normal, points: vec![tip] });
        }
        layout
    }

    /// Number of the body of a finger's tip.
    pub(super) fn tip(&self, k: usize) -> usize {
        self.boxes.len() + self.fingers[..=k].iter().map(|finger| finger.joints.len()).sum::<usize>() - 1
    }

    /// A box on the floor: at the wall if it is the first, else against the one before.
    fn put_beside(&mut self, neighbour: Option<usize>, rng: &mut Rng) {
        let half = [0, 1, 2].map(|_| 0.03 + 0.05 * rng.uniform());
        let (x, y) = match neighbour.map(|k| self.boxes[k]) {
            Some(left) => (left.centre.x + left.half[0] + half[0], left.centre.y + 0.03 * (2.0 * rng.uniform() - 1.0)),
            None => (half[0], 0.0),
        };
        let y = if self.backed { -half[1] } else { y };
        let own = Cuboid { mass: 0.2 + 1.8 * rng.uniform(), half, centre: Vec3::new(x, y, half[2]) };
        let vertex = self.boxes.len();
        self.patches.push(Patch { vertex, face: None, normal: Vec3::Z, points: own.corners(2) });
        let face = match neighbour {
            None => Patch { vertex, face: None, normal: Vec3::X, points: own.corners(0) },
            Some(k) => Patch { vertex, face: Some(k), normal: Vec3::X, points: own.shared(&self.boxes[k]) },
        };
        self.patches.push(face);
        if self.backed {
            let points = own.corners(1).into_iter().map(|p| p + Vec3::Y * (2.0 * half[1])).collect();
            self.patches.push(Patch { vertex, face: None, normal: Vec3::NEG_Y, points });
        }
        self.boxes.push(own);
    }

    /// A smaller box on top of another.
    fn put_on(&mut self, below: usize, rng: &mut Rng) {
        let base = self.boxes[below];
        let shrink = [0, 1].map(|_| 0.6 + 0.35 * rng.uniform());
        let half = [base.half[0] * shrink[0], base.half[1] * shrink[1], 0.03 + 0.05 * rng.uniform()];
        let shift = |k: usize, rng: &mut Rng| (base.half[k] - half[k]) * (2.0 * rng.uniform() - 1.0);
        let (x, y) = (base.centre.x + shift(0, rng), base.centre.y + shift(1, rng));
        let centre = Vec3::new(x, y, base.centre.z + base.half[2] + half[2]);
        let own = Cuboid { mass: 0.2 + 1.8 * rng.uniform(), half, centre };
        self.patches.push(Patch {
            vertex: self.boxes.len(),
            face: Some(below),
            normal: Vec3::Z,
            points: own.corners(2),
        });
        self.boxes.push(own);
    }

    /// A finger of two to four joints: on the top of a column, on the right of the last, or on the front or the free back of any box.
    fn add_finger(&mut self, tops: &[usize], last: usize, rng: &mut Rng) {
        let (on, normal) = match rng.below(3) {
            0 => (tops[rng.below(tops.len())], Vec3::Z),
            1 => (last, Vec3::X),
            _ => (rng.below(self.boxes.len()), if self.backed || rng.chance(0.5) { Vec3::NEG_Y } else { Vec3::Y }),
        };
        let own = &self.boxes[on];
        let mut inside = || 0.9 * (2.0 * rng.uniform() - 1.0);
        let half = Vec3::from_array(own.half);
        let across = Vec3::new(inside(), inside(), inside()) * (Vec3::ONE - normal.abs());
        let tip = own.centre + half * (across + normal);
        let out = unit(normal + Vec3::new(rng.normal(), rng.normal(), rng.normal().abs()) * 0.4);
        let count = 2 + rng.below(3);
        let base = tip + out * (0.08 * count as f64);
        let joints = (0..count)
            .map(|j| {
                let wobble = Vec3::new(rng.normal(), rng.normal(), rng.normal()) * 0.015;
                base + (tip - base) * (j as f64 / count as f64) + wobble
            })
            .collect();
        self.fingers.push(Finger { joints, tip, normal, on });
    }
}

impl Cuboid {
    /// The corners of the face against axis `k`, on its lower side.
    fn corners(&self, k: usize) -> Vec<Vec3> {
        [(1.0, 1.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0)]
            .into_iter()
            .map(|(a, b)| {
                let mut at = [0.0; 3];
                (at[k], at[(k + 1) % 3], at[(k + 2) % 3]) = (-1.0, a, b);
                self.centre + Vec3::from_array(self.half) * Vec3::from_array(at)
            })
            .collect()
    }

    /// The corners of the part of its left face that a box on the same floor covers.
    fn shared(&self, left: &Cuboid) -> Vec<Vec3> {
        let x = self.centre.x - self.half[0];
        let lo = (self.centre.y - self.half[1]).max(left.centre.y - left.half[1]);
        let hi = (self.centre.y + self.half[1]).min(left.centre.y + left.half[1]);
        let top = 2.0 * self.half[2].min(left.half[2]);
        // Not at the floor, where the corners touch that.
        let low = 0.1 * top;
        [(lo, low), (hi, top), (lo, top), (hi, low)].into_iter().map(|(y, z)| Vec3::new(x, y, z)).collect()
    }
}
