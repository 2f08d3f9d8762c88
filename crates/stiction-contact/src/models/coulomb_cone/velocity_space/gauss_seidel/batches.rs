//! Contacts between free bodies, several at a time. The pairs of bodies of a batch have no body in
//! common, so that their contacts may be solved at once: each is a lane of all numbers.

use super::super::super::law::Block;
use super::super::branches::{Branch, FREE_BODY};
use super::super::elements::{Elements, Group};

/// Pairs of bodies in a batch. Heaps have rarely more than five of a colour: with eight, a sweep over
/// 17 bodies takes 1.5 times as long.
const WIDTH: usize = 4;
/// Fewer pairs than this take less time one by one.
const FEWEST: usize = 2;

/// A number of each pair.
type Lanes = [f64; WIDTH];

/// Pairs of bodies without a body in common.
#[derive(Debug, Clone, Copy)]
struct Batch {
    /// First and last + 1 of its contacts.
    contacts: (usize, usize),
    /// Where the velocities of the first and of the second body of each pair start; where there is
    /// none, behind all others.
    bodies: [[usize; WIDTH]; 2],
}

/// A contact of each pair.
#[derive(Debug, Clone, Copy, Default)]
struct Contacts {
    /// Their elements, and how many of the pairs have one.
    elements: [usize; WIDTH],
    count: usize,
    rows: [[Lanes; 2 * FREE_BODY]; 3],
    bias: [Lanes; 3],
    /// 1 / w of the normal and of the tangents, 0 where w is.
    inverse: [Lanes; 2],
    coupling: [Lanes; 2],
    mu: Lanes,
}

/// All batches of an island.
#[derive(Debug, Clone, Default)]
pub(super) struct Batches {
    list: Vec<Batch>,
    contacts: Vec<Contacts>,
    /// Colours that pairs at each block of the island have.
    colours: Vec<u64>,
    /// Groups, each with its colour and minus the number of its contacts.
    coloured: Vec<(u32, isize, usize)>,
}

/// Rows of all elements, as [`super::GaussSeidel`] has them.
pub(super) struct Rows<'a> {
    pub groups: &'a [Group],
    pub parts: &'a [Branch],
    pub values: &'a [f64],
    pub starts: &'a [usize],
    pub inertia: &'a [[f64; 3]],
    pub coupling: &'a [[f64; 2]],
}

impl Rows<'_> {
    /// True if the elements of a group are contacts with friction of free bodies.
    fn are_of_free_bodies(&self, el: &Elements, group: &Group) -> bool {
        let is_contact = |e: usize| {
            let element = &el.list[e];
            element.rows == 3 && !element.is_moment() && matches!(element.law, Block::Coulomb { .. })
        };
        self.bodies(group).iter().all(|part| part.len == FREE_BODY && el.block_range(part.of).len() == FREE_BODY)
            && self.bodies(group).len() <= 2
            && (group.elements.0..group.elements.1).all(is_contact)
    }

    fn bodies(&self, group: &Group) -> &[Branch] {
        &self.parts[group.segments.0..group.segments.1]
    }
}

impl Batches {
    /// Takes the groups of contacts between free bodies over, where enough of them have no body in
    /// common; all others are left in `single`.
    pub(super) fn load(&mut self, el: &Elements, rows: &Rows, single: &mut Vec<usize>) {
        self.coloured.clear();
        self.colours.clear();
        self.colours.resize(el.blocks.len(), 0);
        single.clear();
        for (k, group) in rows.groups.iter().enumerate() {
            let bodies = rows.bodies(group);
            let taken = bodies.iter().fold(0, |taken, part| taken | self.colours[part.of]);
            let colour = taken.trailing_ones();
            if colour == u64::BITS || !rows.are_of_free_bodies(el, group) {
                single.push(k);
                continue;
            }
            bodies.iter().for_each(|part| self.colours[part.of] |= 1 << colour);
            self.coloured.push((colour, group.elements.0 as isize - group.elements.1 as isize, k));
        }
        self.coloured.sort_unstable();
        let coloured = std::mem::take(&mut self.coloured);
        for same in coloured.chunk_by(|a, b| a.0 == b.0) {
            for pairs in same.chunks(WIDTH) {
                match pairs.len() < FEWEST {
                    true => single.extend(pairs.iter().map(|pair| pair.2)),
                    false => self.push(el, rows, pairs.iter().map(|pair| &rows.groups[pair.2])),
                }
            }
        }
        single.sort_unstable();
        self.coloured = coloured;
    }

    /// Adds a batch of these groups, that of most contacts first.
    fn push<'a>(&mut self, el: &Elements, rows: &Rows, groups: impl Iterator<Item = &'a Group>) {
        let first = self.contacts.len();
        let mut bodies = [[el.m(); WIDTH]; 2];
        for (lane, group) in groups.enumerate() {
            for (side, part) in rows.bodies(group).iter().enumerate() {
                bodies[side][lane] = part.at;
            }
            for (k, e) in (group.elements.0..group.elements.1).enumerate() {
                if lane == 0 {
                    self.contacts.push(Contacts::default());
                }
                let (contacts, values) = (&mut self.contacts[first + k], &rows.values[rows.starts[e]..]);
                contacts.elements[lane] = e;
                contacts.count = lane + 1;
                for (r, row) in values.chunks_exact(group.stride).take(3).enumerate() {
                    row[..group.length].iter().enumerate().for_each(|(j, x)| contacts.rows[r][j][lane] = *x);
                    contacts.bias[r][lane] = el.list[e].bias[r];
                }
                let w = [rows.inertia[e][0], rows.inertia[e][1].max(rows.inertia[e][2])];
                for (r, w) in w.into_iter().enumerate() {
                    contacts.inverse[r][lane] = if w > 0.0 { 1.0 / w } else { 0.0 };
                    contacts.coupling[r][lane] = rows.coupling[e][r];
                }
                if let Block::Coulomb { mu, .. } = el.list[e].law {
                    contacts.mu[lane] = mu;
                }
            }
        }
        self.list.push(Batch { contacts: (first, self.contacts.len()), bodies });
    }

    /// Leaves none.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.contacts.clear();
    }

    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One sweep over all of them. Six numbers behind the velocities are for bodies that are not there.
    #[inline(always)]
    pub(super) fn relax(&self, z: &mut [f64], forces: &mut [[f64; 3]]) {
        for batch in &self.list {
            let mut local = [[0.0; WIDTH]; 2 * FREE_BODY];
            for (side, starts) in batch.bodies.iter().enumerate() {
                for (lane, &start) in starts.iter().enumerate() {
                    for (j, x) in z[start..start + FREE_BODY].iter().enumerate() {
                        local[side * FREE_BODY + j][lane] = *x;
                    }
                }
            }
            for contacts in &self.contacts[batch.contacts.0..batch.contacts.1] {
                let mut p = [[0.0; WIDTH]; 3];
                let elements = &contacts.elements[..contacts.count];
                for (lane, &e) in elements.iter().enumerate() {
                    (0..3).for_each(|r| p[r][lane] = forces[e][r]);
                }
                let next = contacts.relax(&p, &mut local);
                for (lane, &e) in elements.iter().enumerate() {
                    forces[e] = [0, 1, 2].map(|r| next[r][lane]);
                }
            }
            for (side, starts) in batch.bodies.iter().enumerate() {
                for (lane, &start) in starts.iter().enumerate() {
                    for (j, x) in z[start..start + FREE_BODY].iter_mut().enumerate() {
                        *x = local[side * FREE_BODY + j][lane];
                    }
                }
            }
        }
    }
}

impl Contacts {
    /// The forces that satisfy the law, as [`super::relax`] has them; `local` are the velocities.
    #[inline(always)]
    fn relax(&self, p: &[Lanes; 3], local: &mut [Lanes; 2 * FREE_BODY]) -> [Lanes; 3] {
        let mut u = self.bias;
        for (j, x) in local.iter().enumerate() {
            for r in 0..3 {
                for k in 0..WIDTH {
                    u[r][k] += self.rows[r][j][k] * x[k];
                }
            }
        }
        let mut next = [[0.0; WIDTH]; 3];
        let mut change = [[0.0; WIDTH]; 3];
        for k in 0..WIDTH {
            let normal = (p[0][k] - u[0][k] * self.inverse[0][k]).max(0.0);
            change[0][k] = normal - p[0][k];
            let [s, t] =
                [0, 1].map(|r| p[r + 1][k] - (u[r + 1][k] + self.coupling[r][k] * change[0][k]) * self.inverse[1][k]);
            let radius = if normal > 0.0 { self.mu[k] * normal } else { 0.0 };
            let square = s * s + t * t;
            let part = if square > radius * radius { radius / square.sqrt() } else { 1.0 };
            let force = [normal, part * s, part * t];
            for r in 0..3 {
                next[r][k] = force[r];
                change[r][k] = force[r] - p[r][k];
            }
        }
        for (j, x) in local.iter_mut().enumerate() {
            // All lanes are read before any is written: the compiler cannot know that x and rows are apart.
            let mut next = *x;
            for k in 0..WIDTH {
                next[k] = ((next[k] + change[0][k] * self.rows[0][j][k]) + change[1][k] * self.rows[1][j][k])
                    + change[2][k] * self.rows[2][j][k];
            }
            *x = next;
        }
        next
    }
}
