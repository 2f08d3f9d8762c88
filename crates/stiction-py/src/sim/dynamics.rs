//! Inertia, Jacobians and inverse dynamics.

use std::sync::Arc;

use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use stiction_body::math::Vec3;
use stiction_contact::{Level, PhysicalCertificate};
use stiction_lcp::Matrix;
use stiction_sim::{Scene, Settings, Simulation, SimulatorKind, State};

use super::core::Core;
use super::report::StepReport;
use crate::prescribe::Prescribe;
use crate::{arrays, errors, interrupt};
use stiction_sim::inputs::Layout;

/// The inertia matrix by rows, nv × nv; kinematics must be up to date.
pub(crate) fn mass_matrix(core: &mut Core) -> Vec<f64> {
    let world = core.sim.world().clone();
    let nv = world.model.nv();
    let mut blocks: Vec<Matrix> = Vec::new();
    core.work.mass_blocks(&world.model, &mut blocks);
    let mut whole = vec![0.0; nv * nv];
    for (tree, block) in world.model.trees().iter().zip(&blocks) {
        let first = tree.v.start;
        for (i, j) in (0..block.rows()).flat_map(|i| (0..block.cols()).map(move |j| (i, j))) {
            whole[(first + i) * nv + first + j] = block[(i, j)];
        }
    }
    whole
}

/// The Jacobian of a point of a link by rows, 6 × nv; kinematics must be up to date.
pub(crate) fn jacobian(core: &Core, link: usize, point: Vec3) -> Vec<f64> {
    let (model, work) = (&core.sim.world().model, &core.work);
    let (nv, range) = (model.nv(), model.trees()[model.links()[link].tree].v.clone());
    let point = work.pose[link].transform_point(point);
    let mut rows = vec![0.0; 6 * nv];
    for (k, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
        let place = |k: usize| k * nv + range.start..k * nv + range.end;
        work.add_point_row(model, link, point, axis, 1.0, &mut rows[place(k)]);
        work.add_angular_row(model, link, axis, 1.0, &mut rows[place(k + 3)]);
    }
    rows
}

/// `J M⁻¹ Jᵀ` of a point of a link, by rows (1/kg).
pub(crate) fn mobility(core: &mut Core, link: usize, point: Vec3) -> Vec<f64> {
    let rows = jacobian(core, link, point);
    let world = core.sim.world().clone();
    let nv = world.model.nv();
    let (mut at_rest, mut pushed) = (vec![0.0; nv], vec![0.0; nv]);
    // The difference is linear in the force: gravity and velocity products are in both.
    core.work.forward_dynamics(&world.model, &vec![0.0; nv], &mut at_rest);
    let mut out = vec![0.0; 9];
    for j in 0..3 {
        core.work.forward_dynamics(&world.model, &rows[j * nv..(j + 1) * nv], &mut pushed);
        for i in 0..3 {
            let row = &rows[i * nv..(i + 1) * nv];
            out[3 * i + j] = row.iter().zip(pushed.iter().zip(&at_rest)).map(|(r, (a, b))| r * (a - b)).sum();
        }
    }
    out
}

/// What accelerations take.
pub(crate) struct Inverse {
    /// Efforts of the moved velocities (N, N m).
    pub effort: Vec<f64>,
    /// Accelerations of all velocities.
    pub acceleration: Vec<f64>,
    /// Of the contact problem.
    pub certificate: PhysicalCertificate,
    /// The simulation that made the step, for its contacts.
    pub core: Core,
}

/// Inverse dynamics with contact: one step in which the velocities `moved` get the accelerations `a`, whatever that takes.
pub(crate) fn with_contact(
    py: Python<'_>,
    scene: &Arc<Scene>,
    state: &State,
    a: &[f64],
    moved: &[bool],
) -> PyResult<Inverse> {
    let nv = state.v.len();
    let model = Some(scene.settings.model).filter(|kind| kind.has_level(Level::Velocity)).unwrap_or_default();
    let settings = Settings { simulator: SimulatorKind::TimeStepping, model, ..scene.settings.clone() };
    let dt = settings.dt;
    let velocities = (0..nv).map(|k| moved[k].then(|| state.v[k] + dt * a[k])).collect();
    let scene_error = |e| errors::from_scene(&e);
    let mut sim = Simulation::new(scene.world.clone(), settings).map_err(scene_error)?;
    sim.control(Box::new(Prescribe { velocities }));
    sim.set_state(&state.q, &state.v).map_err(|e| errors::from_input(&e))?;
    let mut core = Core::new(scene, &Arc::new(Layout::new(scene))).map_err(scene_error)?;
    core.sim = sim;
    if let Err(failure) = interrupt::detached(py, || core.sim.step())? {
        let report = Bound::new(py, StepReport::new(state.step, state.t, Err(failure)))?;
        let message = report.get().message().unwrap_or_default();
        return Err(errors::STEP_FAILED.raise(py, (message, report)));
    }
    let solution = core.sim.outcome().and_then(|o| o.answer());
    let solution = solution.ok_or_else(|| errors::input(py, "the step has no solution to read efforts from"))?;
    let acceleration = (0..nv).map(|k| (solution.motion[k] - state.v[k]) / dt).collect();
    // Rows of prescribed joints come last, in the order of the velocities.
    let order: Vec<usize> = scene.world.model.links().iter().flat_map(|l| l.v.clone()).filter(|k| moved[*k]).collect();
    let forces = &solution.forces.bilateral;
    let mut effort = vec![0.0; nv];
    for (k, p) in order.iter().zip(&forces[forces.len().saturating_sub(order.len())..]) {
        effort[*k] = p / dt;
    }
    let certificate = solution.certificate.clone();
    Ok(Inverse { effort, acceleration, certificate, core })
}

/// A vector of three finite numbers.
pub(crate) fn three(what: &str, x: &Bound<'_, PyAny>) -> PyResult<Vec3> {
    let x = arrays::finite(what, arrays::vector_of(what, 3, x)?, x.py())?;
    Ok(Vec3::new(x[0], x[1], x[2]))
}

/// Numbers by rows in the array given, or in a new one.
pub(crate) fn filled<'py>(
    py: Python<'py>,
    rows: usize,
    cols: usize,
    numbers: Vec<f64>,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else { return Ok(arrays::from_rows(py, rows, cols, numbers)?.into_any()) };
    arrays::check_out("out", &[rows, cols], &out)?;
    let target = out.cast::<PyArray2<f64>>()?;
    let mut target = target.readwrite();
    target.as_slice_mut()?.copy_from_slice(&numbers);
    drop(target);
    Ok(out)
}
