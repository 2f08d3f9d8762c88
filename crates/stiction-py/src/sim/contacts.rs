//! Contacts of a step as structured arrays, and their sums as wrenches.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use stiction_body::math::Vec3;
use stiction_contact::{ContactForces, Level, Mode};

use stiction_sim::World;

use super::core::Core;
use crate::arrays;

/// A contact of a step with its force.
pub(crate) struct Touch {
    /// Its bodies; −1 is the world.
    pub bodies: [i32; 2],
    /// Its geoms.
    pub geoms: [u32; 2],
    /// Which of the pair's features touch.
    pub feature: u64,
    /// Where (m).
    pub point: Vec3,
    /// Normal, from the first body to the second, and two tangents.
    pub frame: [Vec3; 3],
    /// Signed distance (m).
    pub gap: f64,
    /// Normal force (N).
    pub normal: f64,
    /// Friction force along the tangents (N).
    pub friction: [f64; 2],
    /// Moment about the normal (N m).
    pub spin: f64,
    /// Moments against rolling about the tangents (N m).
    pub rolling: [f64; 2],
    /// What it does.
    pub mode: Mode,
    /// Coulomb coefficients between its surfaces, along both tangents.
    pub mu: [f64; 2],
}

impl Touch {
    /// The force on the second body (N), world axes.
    fn force(&self) -> Vec3 {
        self.frame[0] * self.normal + self.frame[1] * self.friction[0] + self.frame[2] * self.friction[1]
    }
}

/// The contacts of the last step; forces are impulses over the step where the step has impulses.
fn touches(core: &Core) -> Vec<Touch> {
    let (sim, world) = (&core.sim, core.sim.world());
    let solution = sim.outcome().and_then(|o| o.answer());
    let scale = match solution.map(|s| s.level) {
        Some(Level::Acceleration) => 1.0,
        _ => 1.0 / sim.settings().dt,
    };
    let none = ContactForces::default();
    let p = solution.map_or(&none, |s| &s.forces);
    let at = |x: &[f64], i: usize| x.get(i).map_or(0.0, |x| scale * x);
    let known = p.normal.len() == sim.contacts().len();
    let body = |geom: u32| world.geoms[geom as usize].link.map_or(-1, |l| l as i32);
    let touch = |(i, f): (usize, &stiction_sim::ContactFrame)| Touch {
        bodies: f.key.geoms.map(body),
        geoms: f.key.geoms,
        feature: f.key.feature,
        point: f.point,
        frame: [f.normal, f.tangents[0], f.tangents[1]],
        gap: f.gap,
        normal: if known { at(&p.normal, i) } else { 0.0 },
        friction: if known { [at(&p.tangent_s, i), f.friction_ratio * at(&p.tangent_t, i)] } else { [0.0; 2] },
        spin: if known { at(&p.spin, i) } else { 0.0 },
        rolling: if known { [at(&p.roll_s, i), at(&p.roll_t, i)] } else { [0.0; 2] },
        mode: solution.filter(|_| known).and_then(|s| s.modes.get(i).copied()).unwrap_or_default(),
        mu: [f.material.mu, f.friction_ratio * f.material.mu],
    };
    sim.contacts().iter().enumerate().map(touch).collect()
}

/// The Coulomb coefficient between two geoms; 0 where one of them is not there.
pub(crate) fn friction_between(world: &World, [a, b]: [u32; 2]) -> f64 {
    let (a, b) = (a as usize, b as usize);
    if a.max(b) < world.geoms.len() { world.surfaces.between(a, b).mu } else { 0.0 }
}

/// The records of a structured array, byte by byte.
#[derive(Default)]
struct Records(Vec<u8>);

impl Records {
    fn integers(&mut self, x: &[i32]) {
        x.iter().for_each(|x| self.0.extend_from_slice(&x.to_ne_bytes()));
    }

    fn numbers(&mut self, x: &[f64]) {
        x.iter().for_each(|x| self.0.extend_from_slice(&x.to_ne_bytes()));
    }

    /// The array, with the dtype of that name.
    fn into_array<'py>(self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let dtype = dtypes(py)?.as_any().get_item(name)?;
        let bytes = self.0.into_pyarray(py);
        arrays::set_writable(&bytes, false);
        bytes.call_method1("view", (dtype,))
    }
}

/// The dtypes of `contacts` and `pairs`, packed as they are written here.
pub(crate) fn dtypes(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    static DTYPES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let made = DTYPES.get_or_try_init(py, || {
        let all = PyDict::new(py);
        let make = py.import("numpy")?.getattr("dtype")?;
        let one = |name: &str, of: &str| (name.to_string(), of.to_string());
        let contact = [
            one("body_a", "i4"),
            one("body_b", "i4"),
            one("geom_a", "i4"),
            one("geom_b", "i4"),
            one("feature", "u8"),
            one("point", "3f8"),
            one("frame", "(3,3)f8"),
            one("gap", "f8"),
            one("normal_force", "f8"),
            one("friction_force", "2f8"),
            one("spin_moment", "f8"),
            one("force", "3f8"),
            one("mode", "u1"),
            one("mu", "f8"),
            one("rolling_moment", "2f8"),
            one("mu_across", "f8"),
        ];
        let pair = [
            one("body_a", "i4"),
            one("body_b", "i4"),
            one("contacts", "i4"),
            one("force", "3f8"),
            one("moment", "3f8"),
        ];
        all.set_item("contact", make.call1((contact.to_vec(),))?)?;
        all.set_item("pair", make.call1((pair.to_vec(),))?)?;
        Ok::<_, PyErr>(all.unbind())
    })?;
    Ok(made.bind(py).clone())
}

/// All contacts of the last step.
pub(crate) fn contacts<'py>(py: Python<'py>, core: &Core) -> PyResult<Bound<'py, PyAny>> {
    array(py, touches(core).into_iter())
}

/// Contacts as a structured array.
pub(crate) fn array<'py>(py: Python<'py>, touches: impl Iterator<Item = Touch>) -> PyResult<Bound<'py, PyAny>> {
    let mut out = Records::default();
    for t in touches {
        out.integers(&[t.bodies[0], t.bodies[1], t.geoms[0] as i32, t.geoms[1] as i32]);
        out.0.extend_from_slice(&t.feature.to_ne_bytes());
        out.numbers(&t.point.to_array());
        t.frame.iter().for_each(|axis| out.numbers(&axis.to_array()));
        out.numbers(&[t.gap, t.normal, t.friction[0], t.friction[1], t.spin]);
        out.numbers(&t.force().to_array());
        out.0.push(t.mode as u8);
        out.numbers(&[t.mu[0], t.rolling[0], t.rolling[1], t.mu[1]]);
    }
    out.into_array(py, "contact")
}

/// Where the bodies' origins were when the last step found its contacts.
fn origins(core: &mut Core) -> Vec<Vec3> {
    let q = core.before().0.to_vec();
    let world = core.sim.world().clone();
    core.work.update_positions(&world.model, &q);
    core.work.pose.iter().map(|pose| pose.translation).collect()
}

/// Force and moment about its own origin on each body.
pub(crate) fn body_wrenches(core: &mut Core) -> Vec<[f64; 6]> {
    let origins = origins(core);
    let mut all = vec![[0.0; 6]; origins.len()];
    for t in touches(core) {
        for (body, sign) in [(t.bodies[0], -1.0), (t.bodies[1], 1.0)] {
            let Ok(body) = usize::try_from(body) else { continue };
            let (force, moment) = acting(&t, sign, origins[body]);
            add(&mut all[body], force, moment);
        }
    }
    all
}

/// What a contact does to a body with this origin; sign 1 for the second body, −1 for the first.
fn acting(t: &Touch, sign: f64, origin: Vec3) -> (Vec3, Vec3) {
    let force = t.force() * sign;
    let mut moment = (t.point - origin).cross(force) + t.frame[0] * (sign * t.spin);
    if t.rolling != [0.0; 2] {
        moment += (t.frame[1] * t.rolling[0] + t.frame[2] * t.rolling[1]) * sign;
    }
    (force, moment)
}

fn add(sum: &mut [f64; 6], force: Vec3, moment: Vec3) {
    let both = force.to_array().into_iter().chain(moment.to_array());
    sum.iter_mut().zip(both).for_each(|(sum, x)| *sum += x);
}

/// What the contacts between two bodies, given by their geoms, do to the second one, about its origin; of what is fixed about
/// the world's origin.
pub(crate) fn between(core: &mut Core, [a, b]: &[Vec<usize>; 2]) -> [f64; 6] {
    let origins = origins(core);
    let link = b.first().and_then(|geom| core.sim.world().geoms[*geom].link);
    let origin = link.map_or(Vec3::ZERO, |link| origins[link]);
    let mut sum = [0.0; 6];
    for t in touches(core) {
        let [first, second] = t.geoms.map(|geom| geom as usize);
        let sign = if a.contains(&first) && b.contains(&second) {
            1.0
        } else if a.contains(&second) && b.contains(&first) {
            -1.0
        } else {
            continue;
        };
        let (force, moment) = acting(&t, sign, origin);
        add(&mut sum, force, moment);
    }
    sum
}

/// Sums over the contacts of each pair of bodies: on the body with the larger number, about its origin.
pub(crate) fn pairs<'py>(py: Python<'py>, core: &mut Core) -> PyResult<Bound<'py, PyAny>> {
    let origins = origins(core);
    let mut all: Vec<([i32; 2], i32, [f64; 6])> = Vec::new();
    for t in touches(core) {
        let (pair, sign) = match t.bodies {
            [a, b] if a <= b => ([a, b], 1.0),
            [a, b] => ([b, a], -1.0),
        };
        let at = all.iter().position(|known| known.0 == pair).unwrap_or_else(|| {
            all.push((pair, 0, [0.0; 6]));
            all.len() - 1
        });
        let origin = usize::try_from(pair[1]).map_or(Vec3::ZERO, |b| origins[b]);
        let (force, moment) = acting(&t, sign, origin);
        all[at].1 += 1;
        add(&mut all[at].2, force, moment);
    }
    let mut out = Records::default();
    for (pair, count, wrench) in all {
        out.integers(&[pair[0], pair[1], count]);
        out.numbers(&wrench);
    }
    out.into_array(py, "pair")
}
