//! From the unbounded ray to an impact.
//!
//! With dynamic friction there may be no forces that satisfy the law: the contacts jam (Painlevé). The ray is the direction of an impulse. It acts until
//! one of the contacts that slip comes to rest: up to there friction keeps its direction and the conditions remain without a solution, beyond it the
//! direction would be wrong. What then still approaches is stopped by an inelastic impact with static friction: the same conditions with
//! velocities in place of accelerations, solved by the same method.
//!
//! Reference: [Baraff94, §6] for the direction. The paper says nothing of the strength; that and the second part are this project's choice.

use stiction_lcp::InputError;
use stiction_lcp::matrix::axpy;

use super::BaraffFriction;
use super::system::FrictionKind;
use crate::certificate::baraff::BaraffLaw;
use crate::model::{ContactOutcome, ContactRay, Level};
use crate::problem::{Contact, ContactProblem};
use crate::rows::Rows;
use crate::solution::ContactForces;

/// An impact that ends a jam.
#[derive(Debug, Clone, PartialEq)]
pub struct Impact {
    /// The ray's impulse is this times its direction (s, if the direction is in N).
    pub strength: f64,
    /// The contact that stops slipping then.
    pub stopped: usize,
    /// Velocities after the ray's impulse, m: contacts may approach.
    pub v_stopped: Vec<f64>,
    /// The inelastic impact that follows, at velocity level. Its motion is the velocity after all, its forces are the impulses of this second part;
    /// contacts that do not touch, and limits that are not reached, have none.
    pub outcome: ContactOutcome,
}

impl BaraffFriction {
    /// Turns the unbounded ray of `problem` into an impact. `None` if no slipping contact of the ray is slowed down by it: then it has no end.
    ///
    /// Joints keep their velocity; a force that is bounded gives no impulse, one without bound does.
    ///
    /// # Errors
    /// If `ray` has other sizes than `problem`, or the problem is not one for this model.
    pub fn impact(&mut self, problem: &ContactProblem, ray: &ContactRay) -> Result<Option<Impact>, InputError> {
        super::check(problem)?;
        check_sizes(problem, &ray.direction)?;
        let change = velocity_change(problem, &ray.direction);
        let Some((strength, stopped)) = strength(problem, &ray.direction, &change) else { return Ok(None) };
        let mut v_stopped = problem.v().to_vec();
        axpy(strength, &change, &mut v_stopped);
        let after = inelastic(problem, &v_stopped)?;
        let law = BaraffLaw { level: Level::Velocity };
        self.solver.begin(&after, Level::Velocity, &self.options);
        let solver = &mut self.solver;
        let outcome = self.by_island.solve(&after, &law, &self.options, None, |island, guess, forces, stats| {
            Ok(solver.solve(island, guess, forces, stats))
        })?;
        Ok(Some(Impact { strength, stopped, v_stopped, outcome }))
    }
}

fn check_sizes(problem: &ContactProblem, direction: &ContactForces) -> Result<(), InputError> {
    for (rows, p) in direction.with_rows(problem) {
        if rows.len() != p.len() {
            return Err(InputError::Size { what: "direction of the ray".into(), expected: rows.len(), found: p.len() });
        }
    }
    Ok(())
}

/// `M⁻¹ Σ rowᵀ p`, m.
fn velocity_change(problem: &ContactProblem, direction: &ContactForces) -> Vec<f64> {
    let mut change = vec![0.0; problem.m()];
    for (rows, p) in direction.with_rows(problem) {
        for (i, p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            rows.add_transposed(i, *p, &mut change);
        }
    }
    problem.mass().solve(&mut change);
    change
}

/// The least strength at which a slipping contact of the ray stops, and the contact.
fn strength(problem: &ContactProblem, direction: &ContactForces, change: &[f64]) -> Option<(f64, usize)> {
    let contacts = problem.contacts();
    let mut least: Option<(f64, usize)> = None;
    for i in (0..contacts.len()).filter(|&i| direction.normal[i] > 0.0 && contacts.mu[i] > 0.0) {
        let FrictionKind::Dynamic(against) = super::friction_kind(problem, i) else { continue };
        let along = |v: &[f64]| -against[0] * contacts.tangent_s.dot(i, v) - against[1] * contacts.tangent_t.dot(i, v);
        let surface = -against[0] * contacts.surface[i][0] - against[1] * contacts.surface[i][1];
        let (slip, rate) = (along(problem.v()) + surface, along(change));
        if rate < 0.0 && least.is_none_or(|(s, _)| slip / -rate < s) {
            least = Some((slip / -rate, i));
        }
    }
    least.filter(|(s, _)| s.is_finite())
}

/// The problem of an impact at velocities `v`: rows of contacts that close now, no forces.
fn inelastic(problem: &ContactProblem, v: &[f64]) -> Result<ContactProblem, InputError> {
    let mut after = ContactProblem::new(problem.mass().clone(), v.to_vec(), vec![0.0; problem.m()], problem.dt())?;
    let contacts = problem.contacts();
    for i in 0..contacts.len() {
        // A row without entries stands for a contact that does not touch.
        let row = |rows: &Rows| if contacts.touches(i) { owned(rows, i) } else { vec![] };
        let (n, s, t) = (row(&contacts.normal), row(&contacts.tangent_s), row(&contacts.tangent_t));
        after.add_contact(Contact {
            mu: contacts.mu[i],
            size: contacts.size[i],
            surface: if contacts.touches(i) { contacts.surface[i] } else { [0.0; 2] },
            ..Contact::new(&borrowed(&n), &borrowed(&s), &borrowed(&t))
        })?;
    }
    let joints = &problem.bilaterals().rows;
    for i in 0..joints.len() {
        after.add_bilateral(&borrowed(&owned(joints, i)), 0.0, joints.dot(i, problem.v()))?;
    }
    let limits = problem.limits();
    for i in 0..limits.rows.len() {
        let row = if limits.gap[i] <= 0.0 { owned(&limits.rows, i) } else { vec![] };
        after.add_limit(&borrowed(&row), 0.0, 0.0, 0.0)?;
    }
    let bounded = problem.bounded();
    for i in 0..bounded.rows.len() {
        let infinite_or_zero = |x: f64| if x.is_finite() { 0.0 } else { x };
        let (lo, hi) = (infinite_or_zero(bounded.lo[i]), infinite_or_zero(bounded.hi[i]));
        let target = bounded.rows.dot(i, problem.v());
        after.add_bounded(&borrowed(&owned(&bounded.rows, i)), lo, hi, 0.0, target)?;
    }
    Ok(after)
}

fn owned(rows: &Rows, i: usize) -> Vec<(usize, Vec<f64>)> {
    rows.row(i).map(|(b, x)| (b, x.to_vec())).collect()
}

fn borrowed(row: &[(usize, Vec<f64>)]) -> Vec<(usize, &[f64])> {
    row.iter().map(|(b, x)| (*b, &x[..])).collect()
}
