//! Forces and motion of a solved contact problem.

use crate::certificate::PhysicalCertificate;
use crate::islands::Island;
use crate::model::{ContactStats, Level, Mode, WarmStart};
use crate::problem::{CONTACT_ROWS, ContactProblem};
use crate::rows::Rows;

/// Kinds of rows: those of contacts, bilateral rows, limits and bounded rows.
pub(crate) const FORCE_KINDS: usize = CONTACT_ROWS + 3;

/// One number per row: impulses (N s) at velocity level, forces (N) at acceleration level. Each acts along its row: the
/// generalized force is `Σ rowᵀ p`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContactForces {
    /// Along the normals, n; ≥ 0.
    pub normal: Vec<f64>,
    /// Along the first tangents, n.
    pub tangent_s: Vec<f64>,
    /// Along the second tangents, n.
    pub tangent_t: Vec<f64>,
    /// Moments about the normals (N m s or N m), n.
    pub spin: Vec<f64>,
    /// Moments against rolling about the first axes (N m s or N m), n.
    pub roll_s: Vec<f64>,
    /// Moments against rolling about the second axes (N m s or N m), n.
    pub roll_t: Vec<f64>,
    /// Of the bilateral rows.
    pub bilateral: Vec<f64>,
    /// Of the unilateral rows; ≥ 0.
    pub limit: Vec<f64>,
    /// Of the bounded rows.
    pub bounded: Vec<f64>,
}

impl ContactForces {
    /// All zero, in the sizes of `problem`.
    pub fn zeros(problem: &ContactProblem) -> Self {
        let mut forces = Self::default();
        forces.reset(problem);
        forces
    }

    /// Becomes all zero, in the sizes of `problem`, keeping its storage.
    pub fn reset(&mut self, problem: &ContactProblem) {
        let (n, j) = (problem.contacts().len(), problem.bilaterals().rows.len());
        let sizes = [n, n, n, n, n, n, j, problem.limits().rows.len(), problem.bounded().rows.len()];
        for (forces, size) in self.all_mut().into_iter().zip(sizes) {
            forces.clear();
            forces.resize(size, 0.0);
        }
    }

    /// Becomes a copy of `other`, keeping its storage.
    pub fn copy_from(&mut self, other: &Self) {
        self.all_mut().into_iter().zip(other.all()).for_each(|(own, other)| own.clone_from(other));
    }

    /// Becomes those of no rows, keeping the storage.
    pub(crate) fn clear(&mut self) {
        self.all_mut().into_iter().for_each(Vec::clear);
    }

    /// All forces, kind by kind.
    pub(crate) fn all(&self) -> [&Vec<f64>; FORCE_KINDS] {
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded } = self;
        [normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded]
    }

    /// The forces of contacts, kind by kind in the order of [`Contacts::rows`](crate::problem::Contacts::rows).
    pub fn contacts(&self) -> [&Vec<f64>; CONTACT_ROWS] {
        [&self.normal, &self.tangent_s, &self.tangent_t, &self.spin, &self.roll_s, &self.roll_t]
    }

    /// The same, to be changed.
    pub fn contacts_mut(&mut self) -> [&mut Vec<f64>; CONTACT_ROWS] {
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, .. } = self;
        [normal, tangent_s, tangent_t, spin, roll_s, roll_t]
    }

    /// The rows of an island, kind by kind.
    pub(crate) fn rows_of(island: &Island) -> [&[usize]; FORCE_KINDS] {
        let Island { contacts, bilaterals, limits, bounded, .. } = island;
        [contacts, contacts, contacts, contacts, contacts, contacts, bilaterals, limits, bounded]
    }

    /// Copies the forces of an island from `other`, which is of the same problem.
    pub(crate) fn copy_part(&mut self, other: &Self, island: &Island) {
        for ((own, other), of) in self.all_mut().into_iter().zip(other.all()).zip(Self::rows_of(island)) {
            of.iter().for_each(|&i| own[i] = other[i]);
        }
    }

    pub(crate) fn all_mut(&mut self) -> [&mut Vec<f64>; FORCE_KINDS] {
        let Self { normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded } = self;
        [normal, tangent_s, tangent_t, spin, roll_s, roll_t, bilateral, limit, bounded]
    }

    /// True if there is a force for every row of `problem`.
    pub fn fits(&self, problem: &ContactProblem) -> bool {
        self.with_rows(problem).iter().all(|(rows, forces)| rows.len() == forces.len())
    }

    /// The rows of `problem` beside the forces along them, kind by kind.
    pub fn with_rows<'a>(&'a self, problem: &'a ContactProblem) -> [(&'a Rows, &'a [f64]); FORCE_KINDS] {
        let contacts = problem.contacts();
        [
            (&contacts.normal, &self.normal),
            (&contacts.tangent_s, &self.tangent_s),
            (&contacts.tangent_t, &self.tangent_t),
            (&contacts.spin, &self.spin),
            (&contacts.roll_s, &self.roll_s),
            (&contacts.roll_t, &self.roll_t),
            (&problem.bilaterals().rows, &self.bilateral),
            (&problem.limits().rows, &self.limit),
            (&problem.bounded().rows, &self.bounded),
        ]
    }
}

/// The sum of all contact forces between one pair of blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Resultant {
    /// The blocks, ascending: one for contact with the world, two for a pair.
    pub blocks: Vec<usize>,
    /// Its contacts.
    pub contacts: Vec<usize>,
    /// The generalized force (or impulse) on each of the blocks: for a free body force and moment about its origin.
    pub on: Vec<Vec<f64>>,
}

/// Forces and motion with their certificate: a certified solution ([`ContactOutcome::Solved`](crate::ContactOutcome)), or the
/// best answer of a solve that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactSolution {
    /// Whether `forces` and `motion` are impulses and velocities, or forces and accelerations.
    pub level: Level,
    /// Forces or impulses, per row.
    pub forces: ContactForces,
    /// Velocities after the step, or accelerations, m.
    pub motion: Vec<f64>,
    /// What each contact does, n.
    pub modes: Vec<Mode>,
    /// How well the forces and the motion satisfy the law, from the problem alone.
    pub certificate: PhysicalCertificate,
    /// What was done.
    pub stats: ContactStats,
    /// The start for the next problem like this one.
    pub warm_start: WarmStart,
}

impl ContactSolution {
    /// One to be filled in.
    pub(crate) fn empty(level: Level) -> Self {
        Self {
            level,
            forces: ContactForces::default(),
            motion: Vec::new(),
            modes: Vec::new(),
            certificate: PhysicalCertificate::default(),
            stats: ContactStats::default(),
            warm_start: WarmStart::default(),
        }
    }

    /// Number of contacts with a normal force.
    pub fn active_contacts(&self) -> usize {
        self.forces.normal.iter().filter(|p| **p > 0.0).count()
    }

    /// Resultants per pair of blocks, in the order of each pair's first contact. Unlike the forces of single contacts of a
    /// redundant support, they are what the motion depends on.
    pub fn resultants(&self, problem: &ContactProblem) -> Vec<Resultant> {
        let (contacts, layout) = (problem.contacts(), problem.layout());
        let (rows, forces) = (contacts.rows(), self.forces.contacts());
        let kinds: [_; CONTACT_ROWS] = std::array::from_fn(|k| (rows[k], forces[k]));
        let mut all: Vec<Resultant> = Vec::new();
        for i in 0..contacts.len() {
            let mut blocks: Vec<usize> = kinds.iter().flat_map(|(rows, _)| rows.row(i).map(|(b, _)| b)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            let at = all.iter().position(|r| r.blocks == blocks).unwrap_or_else(|| {
                let on = blocks.iter().map(|&b| vec![0.0; layout.size(b)]).collect();
                all.push(Resultant { blocks, contacts: vec![], on });
                all.len() - 1
            });
            let resultant = &mut all[at];
            resultant.contacts.push(i);
            for (rows, forces) in kinds {
                for (block, row) in rows.row(i) {
                    let which = resultant.blocks.iter().position(|b| *b == block).expect("listed above");
                    resultant.on[which].iter_mut().zip(row).for_each(|(sum, x)| *sum += x * forces[i]);
                }
            }
        }
        all
    }
}
