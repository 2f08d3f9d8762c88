//! Contact with viscous friction alone.

use stiction_lcp::InputError;
use stiction_lcp::matrix::dot;

use crate::by_island::{ByIsland, IslandEnd, IslandForces};
use crate::certificate::viscous::ViscousLaw;
use crate::model::{ContactModel, ContactOutcome, Level, WarmStart};
use crate::models::catalog::ModelKind;
use crate::models::normal_problem::{NormalOptions, NormalProblem, Row};
use crate::models::unsupported::{Values, refuse};
use crate::problem::ContactProblem;
use crate::whitened::Whitened;

/// Drag so strong that the slip it leaves, at most `1/(W c)` of the terms of the slip speed, is below their rounding: no slip.
const RIGID_DRAG: f64 = 1e16;

/// Contact with purely viscous friction: a tangential force `−mu_v` times the slip speed at every touching contact.
///
/// *Acceleration level* is the paper's model: the drag is that of the present velocity, `M v̇ = f − Sᵀ mu_v S v − Tᵀ mu_v T v + Jᵀ f_j + Nᵀ f_n`. It is
/// explicit: with a large mu_v an integrator needs small steps, and an infinite one is an error.
///
/// *Velocity level* is implicit in the new velocity: `M v⁺ = M v + dt f + Jᵀ p_j + Nᵀ p_n − dt Σ mu_v (SᵀS + TᵀT) v⁺`. It is stable at any step, takes
/// energy at any step, and tends to no slip as mu_v grows; an infinite mu_v means no slip at that contact. A body that arrives stops along
/// the normal (unless a bounce is asked for) and is dragged along the tangents: an inelastic impact with viscous friction.
///
/// Viscous drag does not depend on the normal force: it also acts on a touching contact that carries no load, or separates in this step. A contact that
/// is only predicted has none. Coulomb coefficients (mu, mu_spin, mu_roll) have no meaning here and are not looked at: the same scene can be solved under
/// several models.
///
/// Reference: [Drumwright15, §IV].
#[derive(Debug, Clone)]
pub struct Viscous {
    level: Level,
    normals: NormalProblem,
    by_island: ByIsland,
}

impl Viscous {
    /// The model at `level`.
    pub fn new(level: Level, options: NormalOptions) -> Self {
        let normals = NormalProblem::new(options);
        Self { level, normals, by_island: ByIsland::default() }
    }
}

impl ContactModel for Viscous {
    fn kind(&self) -> ModelKind {
        ModelKind::Viscous
    }

    fn level(&self) -> Level {
        self.level
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        Some(Box::new(self.clone()))
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        if self.level == Level::Acceleration {
            // Drag is a force that is known here, so it must be finite.
            let all = problem.contacts().mu_viscous.as_slice();
            let why = ", which has a meaning at velocity level only";
            refuse(self.kind(), &[("mu_viscous", all, Values::Infinite, why)])?;
        }
        let level = self.level;
        let law = ViscousLaw { level };
        self.normals.solve_problem(
            &mut self.by_island,
            problem,
            &law,
            start,
            false,
            |normals, island, guess, forces, stats| {
                normals.begin(island);
                match level {
                    Level::Velocity => add_implicit_drag(island, normals),
                    Level::Acceleration => add_present_drag(island, normals),
                }
                let end = normals.solve(island, level, guess.basis, forces, stats);
                if level == Level::Acceleration && end == IslandEnd::Solved {
                    write_present_drag(island, forces);
                }
                end
            },
        )
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        self.by_island.recycle(outcome);
    }
}

/// The tangents of the contacts that touch.
fn tangents(island: &Whitened) -> impl Iterator<Item = (usize, [Row; 2])> {
    (0..island.contacts()).filter(|&k| island.touching[k]).map(|k| (k, [Row::TangentS(k), Row::TangentT(k)]))
}

/// `p = −dt mu_v (S v⁺ + surface)`, or no slip where mu_v is infinite or as good as that.
fn add_implicit_drag(island: &Whitened, normals: &mut NormalProblem) {
    for (k, rows) in tangents(island) {
        let c = island.dt * island.mu_viscous[k];
        for row in rows {
            let g = row.g(island);
            if c == f64::INFINITY || c * dot(g, g) >= RIGID_DRAG {
                normals.hold(row);
            } else if c > 0.0 {
                normals.add_drag(island, row, c);
            }
        }
    }
}

/// The known drag `−mu_v (S v + surface)`, as a part of the free motion.
fn add_present_drag(island: &Whitened, normals: &mut NormalProblem) {
    for (k, rows) in tangents(island) {
        for (row, slip) in rows.into_iter().zip(island.slip[k]) {
            normals.add_force(island, row, -island.mu_viscous[k] * slip);
        }
    }
}

fn write_present_drag(island: &Whitened, forces: &mut IslandForces) {
    for (k, rows) in tangents(island) {
        for (row, slip) in rows.into_iter().zip(island.slip[k]) {
            *row.force(forces) = -island.mu_viscous[k] * slip;
        }
    }
}
