//! What pulls bodies to others that are moved from outside: soft, because such a body may be put where nothing can follow.
//!
//! Each row of a tie with error φ and inverse inertia a has MuJoCo's law: its force f satisfies `φ̈ + r f = −b φ̇ − k d φ`, where the impedance d
//! (below 1) rises with the error, `r = a (1 − d)/d`, and k and b are those of a time constant and a damping ratio. In a step of Δt that is a damper
//! of strength 1/(Δt r) that acts implicitly, so a tie never fails: what is out of reach is pulled at.

use std::ops::Range;

use stiction_body::math::Vec3;
use stiction_body::{JointKind, LoopClosure, LoopKind, LoopRows, Model, Workspace};

use crate::actuation::Drive;

/// A tie to a body that is moved from outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tie {
    /// What is to be together: first the frame that is moved from outside. Then the speeds of its rows are those of the other frame's
    /// origin, however far the two are apart.
    pub closure: LoopClosure,
    /// How it pulls.
    pub softness: Softness,
}

/// How a tie pulls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Softness {
    /// Time constant (s) and damping ratio; if not positive, stiffness (1/s²) and damping (1/s) with the opposite sign.
    pub reference: [f64; 2],
    /// Impedance at no error and at a large one, the error that is large, and midpoint and power of the curve between them.
    pub impedance: [f64; 5],
    /// Length that an angle is compared with (m).
    pub torque_scale: f64,
    /// Inverse inertia along the rows of the point (1/kg) and of the rotation (1/(kg m²)); `None` for that of the link at the start.
    pub inverse_inertia: Option<[f64; 2]>,
}

impl Default for Softness {
    fn default() -> Self {
        Self {
            reference: [0.02, 1.0],
            impedance: [0.9, 0.95, 0.001, 0.5, 2.0],
            torque_scale: 1.0,
            inverse_inertia: None,
        }
    }
}

/// Impedances are kept this far from 0 and 1.
const IMPEDANCE_MARGIN: f64 = 1e-4;

/// Widths and inverse inertias below this are none.
const SMALLEST: f64 = 1e-15;

impl Tie {
    /// With the usual softness; `second` if the second frame is the one that is moved from outside.
    pub fn new(closure: LoopClosure, second: bool) -> Self {
        let LoopClosure { a, b, frame_a, frame_b, kind } = closure;
        let turned = LoopClosure { a: b, b: a, frame_a: frame_b, frame_b: frame_a, kind };
        Self { closure: if second { turned } else { closure }, softness: Softness::default() }
    }
}

impl Softness {
    /// Impedance at an error (m): rises from the first to the second along a curve of two powers.
    fn impedance_at(&self, error: f64) -> f64 {
        let [low, high, width, middle, power] = self.impedance;
        let inside = |x: f64| x.clamp(IMPEDANCE_MARGIN, 1.0 - IMPEDANCE_MARGIN);
        let (low, high, middle, power) = (inside(low), inside(high), inside(middle), power.max(1.0));
        if low == high || width <= SMALLEST {
            return 0.5 * (low + high);
        }
        let x = (error.abs() / width).min(1.0);
        let share = if power == 1.0 {
            x
        } else if x <= middle {
            libm::pow(x, power) / libm::pow(middle, power - 1.0)
        } else {
            1.0 - libm::pow(1.0 - x, power) / libm::pow(1.0 - middle, power - 1.0)
        };
        low + share * (high - low)
    }

    /// Stiffness (1/s²) and damping (1/s) in steps of `dt` (s), which a time constant has at least two of.
    fn stiffness_and_damping(&self, dt: f64) -> [f64; 2] {
        let [time, ratio] = self.reference;
        let most = self.impedance[1].clamp(IMPEDANCE_MARGIN, 1.0 - IMPEDANCE_MARGIN);
        if time <= 0.0 {
            return [-time / (most * most), -ratio / most];
        }
        let time = time.max(2.0 * dt);
        [1.0 / (most * most * time * time * ratio * ratio), 2.0 / (most * time)]
    }

    /// How much a row's value counts as an error (m): `part` is that of [`LoopRows::part`], and `kind` that of its loop, if it is one.
    pub(crate) fn scale(&self, part: usize, kind: Option<LoopKind>) -> f64 {
        match (part, kind) {
            // The error of a weld's rotation is the sine of half the angle.
            (3.., Some(LoopKind::Weld)) => 0.5 * self.torque_scale,
            (3.., _) => self.torque_scale,
            _ => 1.0,
        }
    }

    /// The law of all rows of an equality at their error together, in steps of `dt` (s).
    pub(crate) fn law(&self, dt: f64, error: f64) -> SoftLaw {
        let d = self.impedance_at(error);
        let [k, b] = self.stiffness_and_damping(dt);
        let compliance = |inverse: f64| (inverse * (1.0 - d) / d).max(SMALLEST);
        let compliances = self.inverse_inertia.unwrap_or([1.0; 2]).map(compliance);
        SoftLaw { stiffness: k * d, damping: b, compliances }
    }

    /// The error of some rows together (m).
    pub(crate) fn error(&self, rows: &LoopRows, own: Range<usize>, kind: Option<LoopKind>) -> f64 {
        own.map(|i| self.scale(rows.part(i), kind) * rows.value(i)).map(|x| x * x).sum::<f64>().sqrt()
    }
}

/// The law of an equality's rows, each with its own value and speed.
pub(crate) struct SoftLaw {
    /// Times the impedance (1/s²).
    stiffness: f64,
    /// Damping (1/s).
    damping: f64,
    /// Of the rows of the point, and of the rotation.
    compliances: [f64; 2],
}

impl SoftLaw {
    /// The acceleration that is asked of a row.
    pub(crate) fn acceleration(&self, value: f64, speed: f64) -> f64 {
        -self.damping * speed - self.stiffness * value
    }

    /// By how much a force falls short of it; `part` is that of [`LoopRows::part`].
    pub(crate) fn compliance(&self, part: usize) -> f64 {
        self.compliances[usize::from(part > 2)]
    }
}

/// The rows of all ties. Keeps its storage.
#[derive(Debug, Clone)]
pub(crate) struct Ties {
    rows: LoopRows,
    /// Which of them are on.
    on: Vec<bool>,
}

impl Ties {
    pub(crate) fn new(model: &Model, ties: &[Tie], on: Vec<bool>) -> Self {
        Self { rows: LoopRows::of_ties(model, ties.iter().map(|t| &t.closure)), on }
    }

    /// Switches ties on and off.
    pub(crate) fn switch(&mut self, on: Vec<bool>) {
        self.on = on;
    }

    /// The forces of all rows at velocities `v`, for a step of `dt` (s); the kinematics of `work` must be up to date.
    pub(crate) fn update(
        &mut self,
        (model, ties): (&Model, &[Tie]),
        work: &Workspace,
        v: &[f64],
        dt: f64,
        out: &mut Vec<Drive>,
    ) {
        self.rows.update_ties(model, work, ties.iter().map(|t| &t.closure));
        let (mut first, mut count) = (0, 0);
        for (Tie { closure, softness }, on) in ties.iter().zip(&self.on) {
            let own = first..first + closure.kind.rows();
            first = own.end;
            if !on {
                continue;
            }
            let law = softness.law(dt, softness.error(&self.rows, own.clone(), Some(closure.kind)));
            out.resize_with(out.len().max(count + own.len()), Drive::default);
            for (i, drive) in own.zip(&mut out[count..]) {
                let scale = softness.scale(self.rows.part(i), Some(closure.kind));
                drive.row.clear();
                for (tree, values) in self.rows.blocks(i).iter() {
                    drive.row.tree_mut(model, *tree).copy_from_slice(values);
                }
                drive.row.scale(scale);
                drive.length = scale * self.rows.value(i);
                drive.velocity = drive.row.dot(model, v);
                let compliance = law.compliance(self.rows.part(i));
                drive.force = law.acceleration(drive.length, drive.velocity) / compliance;
                drive.damping = 1.0 / (dt * compliance);
                count += 1;
            }
        }
        out.truncate(count);
    }
}

/// Gives ties that do not say it the inverse inertia that they have at a configuration.
pub(crate) fn find_inverse_inertias(ties: &mut [Tie], model: &Model, q: &[f64]) {
    if ties.iter().all(|t| t.softness.inverse_inertia.is_some()) {
        return;
    }
    let mut work = Workspace::default();
    work.update_positions(model, q);
    work.update_velocities(model, &vec![0.0; model.nv()]);
    for tie in ties.iter_mut().filter(|t| t.softness.inverse_inertia.is_none()) {
        let of = |link: Option<usize>| link.map_or([0.0; 2], |l| inverse_inertia(model, &mut work.clone(), l));
        let (a, b) = (of(tie.closure.a), of(tie.closure.b));
        tie.softness.inverse_inertia = Some([a[0] + b[0], a[1] + b[1]]);
    }
}

/// Mean inverse inertia of a link's centre of mass (1/kg) and of its rotation (1/(kg m²)) over the three axes, at kinematics that are
/// up to date; 0 where it cannot move.
pub(crate) fn inverse_inertia(model: &Model, work: &mut Workspace, link: usize) -> [f64; 2] {
    let range = model.trees()[model.links()[link].tree].v.clone();
    if range.is_empty() || is_placed(model, link) {
        return [0.0; 2];
    }
    let centre = work.pose[link].transform_point(model.links()[link].spec.inertia.com);
    let (mut rest, mut pushed) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
    work.forward_dynamics(model, &vec![0.0; model.nv()], &mut rest);
    let mut out = [0.0; 2];
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        for (turn, sum) in out.iter_mut().enumerate() {
            let mut force = vec![0.0; model.nv()];
            match turn {
                0 => work.add_point_row(model, link, centre, axis, 1.0, &mut force[range.clone()]),
                _ => work.add_angular_row(model, link, axis, 1.0, &mut force[range.clone()]),
            }
            work.forward_dynamics(model, &force, &mut pushed);
            let answers = pushed.iter().zip(&rest).map(|(a, b)| a - b);
            *sum += force.iter().zip(answers).map(|(f, a)| f * a).sum::<f64>() / 3.0;
        }
    }
    // What can only turn, or only move, is as stiff in both.
    match out {
        [linear, turning] if linear < SMALLEST => [turning; 2],
        [linear, turning] if turning < SMALLEST => [linear; 2],
        _ => out,
    }
}

/// True if no joint moves a link.
fn is_placed(model: &Model, link: usize) -> bool {
    let up = std::iter::successors(Some(link), |&l| model.links()[l].spec.parent);
    up.map(|l| model.links()[l].spec.kind).all(|kind| matches!(kind, JointKind::Fixed | JointKind::Mocap))
}
