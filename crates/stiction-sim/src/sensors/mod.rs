//! Sensors that robot files name: what they are, and what they read.
//!
//! Positions and velocities are those of the present state. Accelerations and forces are those of the last step, seen from where bodies were
//! at its start: velocity products as they are there, and contact impulses spread over the step; before the first step nothing accelerates
//! and nothing touches.

mod volume;

use stiction_body::math::{Pose, Quat, Vec3};
use stiction_body::{LinkMotion, Model, Workspace};
use stiction_contact::{CONTACT_ROWS, Mass};

use crate::actuation::{Actuator, Anchor, Transmission, clamp};
use crate::simulation::Simulation;
pub use volume::Volume;

/// What a frame sensor reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameQuantity {
    /// Position (m), in the reference frame.
    Position,
    /// Quaternion w, x, y, z, in the reference frame.
    Quaternion,
    /// An axis, 0 to 2, in the reference frame.
    Axis(usize),
    /// Linear velocity (m/s) against the reference frame, along its axes.
    LinearVelocity,
    /// Angular velocity (rad/s) against the reference frame, along its axes.
    AngularVelocity,
    /// Linear acceleration (m/s²) along world axes, against free fall.
    LinearAcceleration,
    /// Angular acceleration (rad/s²) along world axes.
    AngularAcceleration,
}

/// What a sensor of distances reads, where the distance is less than its cutoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceQuantity {
    /// The signed distance (m), otherwise the cutoff.
    Distance,
    /// The unit vector from the first to the second, in the world; otherwise zero.
    Normal,
    /// The closest points of both, in the world (m); otherwise zero.
    FromTo,
}

/// What a sensor reads.
#[derive(Debug, Clone, PartialEq)]
pub enum SensorKind {
    /// Configuration of a joint with one velocity (rad or m), by its link.
    JointPosition(usize),
    /// Velocity of a joint with one velocity (rad/s or m/s).
    JointVelocity(usize),
    /// Total effort of the actuators on a joint with one velocity (N m or N).
    JointActuatorForce(usize),
    /// Quaternion w, x, y, z of a spherical joint.
    BallQuaternion(usize),
    /// Angular velocity of a spherical joint along the axes of its link (rad/s).
    BallAngularVelocity(usize),
    /// Length of a tendon (m or rad).
    TendonPosition(usize),
    /// Its rate.
    TendonVelocity(usize),
    /// Total force of the actuators on a tendon (N or N m).
    TendonActuatorForce(usize),
    /// Length of an actuator's transmission.
    ActuatorPosition(usize),
    /// Its rate.
    ActuatorVelocity(usize),
    /// Force of an actuator (N or N m).
    ActuatorForce(usize),
    /// Acceleration against free fall along a site's axes (m/s²).
    Accelerometer(Anchor),
    /// Velocity along a site's axes (m/s).
    Velocimeter(Anchor),
    /// Angular velocity along a site's axes (rad/s).
    Gyro(Anchor),
    /// A constant field along a site's axes.
    Magnetometer(Anchor, Vec3),
    /// Force that a link's parent exerts on it, at a site along its axes (N).
    Force(Anchor),
    /// The moment of that (N m).
    Torque(Anchor),
    /// Sum of the normal forces of a link's contacts that lie in a volume or push along a ray that meets it (N).
    Touch(Anchor, Volume),
    /// Distance from a site along its z axis to the first geom of another body that can touch (m); −1 if there is none.
    Range(Anchor),
    /// Two sets of geoms where they are closest to each other.
    Distance {
        /// What of it.
        quantity: DistanceQuantity,
        /// The geoms of both sides.
        geoms: [Vec<usize>; 2],
    },
    /// A frame, in another one.
    Frame {
        /// What of it.
        quantity: FrameQuantity,
        /// The frame.
        of: Anchor,
        /// The frame it is seen from; `None` for the world.
        reference: Option<Anchor>,
    },
    /// Centre of mass of links: a body and all that hangs on it (m).
    SubtreeCentre(Vec<usize>),
    /// Velocity of that (m/s).
    SubtreeVelocity(Vec<usize>),
    /// Angular momentum about that (kg m²/s).
    SubtreeMomentum(Vec<usize>),
    /// Potential energy against gravity (J).
    PotentialEnergy,
    /// Kinetic energy (J).
    KineticEnergy,
    /// Time (s).
    Clock,
}

/// A sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Name.
    pub name: String,
    /// What it reads.
    pub kind: SensorKind,
    /// Readings are within plus and minus this; infinite for no bound.
    pub cutoff: f64,
}

impl Sensor {
    /// How many numbers it reads.
    pub fn size(&self) -> usize {
        match &self.kind {
            SensorKind::BallQuaternion(_) | SensorKind::Frame { quantity: FrameQuantity::Quaternion, .. } => 4,
            SensorKind::Distance { quantity: DistanceQuantity::FromTo, .. } => 6,
            SensorKind::Distance { quantity: DistanceQuantity::Normal, .. } => 3,
            SensorKind::Accelerometer(_)
            | SensorKind::Velocimeter(_)
            | SensorKind::Gyro(_)
            | SensorKind::Magnetometer(..)
            | SensorKind::Force(_)
            | SensorKind::Torque(_)
            | SensorKind::Frame { .. }
            | SensorKind::BallAngularVelocity(_)
            | SensorKind::SubtreeCentre(_)
            | SensorKind::SubtreeVelocity(_)
            | SensorKind::SubtreeMomentum(_) => 3,
            _ => 1,
        }
    }

    /// True if it needs what happened in the last step.
    fn needs_step(&self) -> bool {
        use FrameQuantity::{AngularAcceleration, LinearAcceleration};
        match &self.kind {
            SensorKind::Accelerometer(_) | SensorKind::Force(_) | SensorKind::Torque(_) | SensorKind::Touch(..) => true,
            SensorKind::Frame { quantity, .. } => matches!(quantity, LinearAcceleration | AngularAcceleration),
            _ => false,
        }
    }

    /// The same with the numbers of links, and those of the first tendon, actuator and geom, changed.
    pub(crate) fn with_links(
        &self,
        anchor: impl Fn(Anchor) -> Anchor,
        link: impl Fn(usize) -> usize,
        [tendons, actuators, first]: [usize; 3],
    ) -> Self {
        use SensorKind as K;
        let many = |links: &[usize]| links.iter().map(|l| link(*l)).collect();
        let kind = match &self.kind {
            K::JointPosition(l) => K::JointPosition(link(*l)),
            K::JointVelocity(l) => K::JointVelocity(link(*l)),
            K::JointActuatorForce(l) => K::JointActuatorForce(link(*l)),
            K::BallQuaternion(l) => K::BallQuaternion(link(*l)),
            K::BallAngularVelocity(l) => K::BallAngularVelocity(link(*l)),
            K::TendonPosition(t) => K::TendonPosition(t + tendons),
            K::TendonVelocity(t) => K::TendonVelocity(t + tendons),
            K::TendonActuatorForce(t) => K::TendonActuatorForce(t + tendons),
            K::ActuatorPosition(a) => K::ActuatorPosition(a + actuators),
            K::ActuatorVelocity(a) => K::ActuatorVelocity(a + actuators),
            K::ActuatorForce(a) => K::ActuatorForce(a + actuators),
            K::Accelerometer(a) => K::Accelerometer(anchor(*a)),
            K::Velocimeter(a) => K::Velocimeter(anchor(*a)),
            K::Gyro(a) => K::Gyro(anchor(*a)),
            K::Magnetometer(a, field) => K::Magnetometer(anchor(*a), *field),
            K::Force(a) => K::Force(anchor(*a)),
            K::Torque(a) => K::Torque(anchor(*a)),
            K::Touch(a, volume) => K::Touch(anchor(*a), *volume),
            K::Range(a) => K::Range(anchor(*a)),
            K::Distance { quantity, geoms } => {
                let moved = |all: &Vec<usize>| all.iter().map(|geom| geom + first).collect();
                K::Distance { quantity: *quantity, geoms: [moved(&geoms[0]), moved(&geoms[1])] }
            }
            K::Frame { quantity, of, reference } => {
                K::Frame { quantity: *quantity, of: anchor(*of), reference: reference.map(&anchor) }
            }
            K::SubtreeCentre(links) => K::SubtreeCentre(many(links)),
            K::SubtreeVelocity(links) => K::SubtreeVelocity(many(links)),
            K::SubtreeMomentum(links) => K::SubtreeMomentum(many(links)),
            K::PotentialEnergy | K::KineticEnergy | K::Clock => self.kind.clone(),
        };
        Self { kind, ..self.clone() }
    }
}

/// A link's motion as that of a point fixed to it.
fn velocity_at(work: &Workspace, link: Option<usize>, point: Vec3) -> LinkMotion {
    link.map_or(LinkMotion::ZERO, |l| LinkMotion {
        angular: work.velocity[l].angular,
        linear: work.point_velocity(l, point),
    })
}

impl Simulation {
    /// The readings of all sensors of the world, one after the other, written to `out`.
    pub fn read_sensors(&mut self, out: &mut Vec<f64>) {
        out.clear();
        let world = self.world.clone();
        if world.sensors.is_empty() {
            return;
        }
        self.drives();
        let mut motors = std::mem::take(&mut self.scratch.motors);
        self.present_motor_forces(&mut motors);
        let step = world.sensors.iter().any(Sensor::needs_step).then(|| LastStep::new(self));
        for sensor in &world.sensors {
            let first = out.len();
            match &step {
                Some(step) if sensor.needs_step() => step.read(&sensor.kind, self, out),
                _ => match &sensor.kind {
                    SensorKind::Range(site) => out.push(self.range(site)),
                    SensorKind::Distance { quantity, geoms } => {
                        self.read_distance(*quantity, geoms, sensor.cutoff, out);
                    }
                    kind => self.read_present(kind, &motors, out),
                },
            }
            if sensor.cutoff.is_finite() && !matches!(sensor.kind, SensorKind::Distance { .. }) {
                out[first..].iter_mut().for_each(|x| *x = clamp(*x, [-sensor.cutoff, sensor.cutoff]));
            }
        }
        self.scratch.motors = motors;
    }

    /// The distance from a site along its z axis to the first geom that is not on its body (m); −1 if there is none.
    fn range(&mut self, site: &Anchor) -> f64 {
        let pose = site.world(&self.work);
        let world = self.world.clone();
        let ray = (pose.translation, pose.rotation * Vec3::Z);
        let own = |geom: usize| world.geoms[geom].link == site.link;
        let hit = self.cast_rays(&[ray], f64::INFINITY, own).ok().and_then(|hits| hits[0]);
        hit.map_or(-1.0, |hit| hit.distance)
    }

    /// What a sensor of distances reads.
    fn read_distance(&mut self, quantity: DistanceQuantity, geoms: &[Vec<usize>; 2], cutoff: f64, out: &mut Vec<f64>) {
        let nearest = self.nearest(&geoms[0], &geoms[1]).map(|found| found.separation);
        let nearest = nearest.filter(|found| found.distance < cutoff);
        match quantity {
            DistanceQuantity::Distance => out.push(nearest.map_or(cutoff, |found| found.distance)),
            DistanceQuantity::Normal => {
                out.extend(nearest.map_or(Vec3::ZERO, |found| found.normal).to_array());
            }
            DistanceQuantity::FromTo => {
                let [from, to] = nearest.map_or([Vec3::ZERO; 2], |found| found.points);
                out.extend(from.to_array().into_iter().chain(to.to_array()));
            }
        }
    }

    /// A reading that the present state tells.
    fn read_present(&self, kind: &SensorKind, motors: &[f64], out: &mut Vec<f64>) {
        let Self { world, state, work, drives, .. } = self;
        let links = world.model.links();
        let push = |out: &mut Vec<f64>, x: Vec3| out.extend(x.to_array());
        match kind {
            SensorKind::JointPosition(l) => out.push(state.q[links[*l].q.start]),
            SensorKind::JointVelocity(l) => out.push(state.v[links[*l].v.start]),
            SensorKind::JointActuatorForce(l) => out.push(motors[links[*l].v.start]),
            SensorKind::BallQuaternion(l) => out.extend_from_slice(&state.q[links[*l].q.clone()]),
            SensorKind::BallAngularVelocity(l) => {
                let (link, v) = (&links[*l], links[*l].v.start);
                let rotation = link.spec.kind.pose(&state.q[link.q.clone()]).rotation;
                push(out, rotation.inverse() * Vec3::new(state.v[v], state.v[v + 1], state.v[v + 2]));
            }
            SensorKind::TendonPosition(t) => out.push(drives.tendons[*t].0),
            SensorKind::TendonVelocity(t) => out.push(drives.tendons[*t].1.dot(&world.model, &state.v)),
            SensorKind::TendonActuatorForce(t) => {
                let acts = |a: &Actuator| a.transmission == Transmission::Tendon(*t);
                let own = world.actuators.iter().zip(&drives.motors).filter(|(a, _)| acts(a));
                out.push(own.map(|(_, drive)| drive.present_force()).sum());
            }
            SensorKind::ActuatorPosition(a) => out.push(drives.motors[*a].length),
            SensorKind::ActuatorVelocity(a) => out.push(drives.motors[*a].velocity),
            SensorKind::ActuatorForce(a) => out.push(drives.motors[*a].present_force()),
            SensorKind::Velocimeter(site) => {
                let pose = site.world(work);
                push(out, pose.rotation.inverse() * velocity_at(work, site.link, pose.translation).linear);
            }
            SensorKind::Gyro(site) => {
                let pose = site.world(work);
                push(out, pose.rotation.inverse() * velocity_at(work, site.link, pose.translation).angular);
            }
            SensorKind::Magnetometer(site, field) => push(out, site.world(work).rotation.inverse() * *field),
            SensorKind::Frame { quantity, of, reference } => frame(work, *quantity, of, reference.as_ref(), out),
            SensorKind::SubtreeCentre(all) => push(out, centre(&world.model, work, all).1),
            SensorKind::SubtreeVelocity(all) => push(out, centre_velocity(&world.model, work, all)),
            SensorKind::SubtreeMomentum(all) => push(out, momentum(&world.model, work, all)),
            SensorKind::PotentialEnergy => out.push(self.present_energy().1),
            SensorKind::KineticEnergy => out.push(self.present_energy().0),
            SensorKind::Clock => out.push(state.t),
            SensorKind::Accelerometer(_)
            | SensorKind::Force(_)
            | SensorKind::Torque(_)
            | SensorKind::Touch(..)
            | SensorKind::Range(_)
            | SensorKind::Distance { .. } => {}
        }
    }
}

/// What a frame sensor reads of positions and velocities.
fn frame(work: &Workspace, quantity: FrameQuantity, of: &Anchor, reference: Option<&Anchor>, out: &mut Vec<f64>) {
    let (own, from) = (of.world(work), reference.map_or(Pose::identity(), |r| r.world(work)));
    let back = from.rotation.inverse();
    let offset = own.translation - from.translation;
    let motion = velocity_at(work, of.link, own.translation);
    let base = velocity_at(work, reference.and_then(|r| r.link), from.translation);
    match quantity {
        FrameQuantity::Position => out.extend((back * offset).to_array()),
        FrameQuantity::Quaternion => {
            let Quat { x, y, z, w } = (back * own.rotation).normalize();
            out.extend([w, x, y, z]);
        }
        FrameQuantity::Axis(k) => out.extend((back * (own.rotation * [Vec3::X, Vec3::Y, Vec3::Z][k])).to_array()),
        FrameQuantity::LinearVelocity => {
            out.extend((back * (motion.linear - base.linear - base.angular.cross(offset))).to_array());
        }
        FrameQuantity::AngularVelocity => out.extend((back * (motion.angular - base.angular)).to_array()),
        FrameQuantity::LinearAcceleration | FrameQuantity::AngularAcceleration => {}
    }
}

/// Mass (kg) and centre of mass (m) of links.
pub(crate) fn centre(model: &Model, work: &Workspace, links: &[usize]) -> (f64, Vec3) {
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    for &l in links {
        let inertia = &model.links()[l].spec.inertia;
        mass += inertia.mass;
        moment += work.pose[l].transform_point(inertia.com) * inertia.mass;
    }
    (mass, if mass > 0.0 { moment / mass } else { Vec3::ZERO })
}

pub(crate) fn centre_velocity(model: &Model, work: &Workspace, links: &[usize]) -> Vec3 {
    let (mass, mut sum) = (centre(model, work, links).0, Vec3::ZERO);
    for &l in links {
        let inertia = &model.links()[l].spec.inertia;
        sum += work.point_velocity(l, work.pose[l].transform_point(inertia.com)) * inertia.mass;
    }
    if mass > 0.0 { sum / mass } else { Vec3::ZERO }
}

/// Angular momentum of links about their common centre of mass.
pub(crate) fn momentum(model: &Model, work: &Workspace, links: &[usize]) -> Vec3 {
    let ((_, middle), drift) = (centre(model, work, links), centre_velocity(model, work, links));
    let mut sum = Vec3::ZERO;
    for &l in links {
        let inertia = &model.links()[l].spec.inertia;
        let (rotation, com) = (work.pose[l].rotation, work.pose[l].transform_point(inertia.com));
        let local = rotation.inverse() * work.velocity[l].angular;
        sum += rotation * (inertia.about_com * local);
        sum += (com - middle).cross((work.point_velocity(l, com) - drift) * inertia.mass);
    }
    sum
}

/// What happened in the last step: accelerations, and what links push on each other with.
pub(crate) struct LastStep {
    /// Kinematics at its start.
    pub work: Workspace,
    /// Accelerations of the links' origins, against free fall.
    pub acceleration: Vec<LinkMotion>,
    /// What each link's parent exerts on it: force, and moment about its origin.
    pub carried: Vec<(Vec3, Vec3)>,
}

impl LastStep {
    pub(crate) fn new(sim: &Simulation) -> Self {
        let (model, dt) = (&sim.world.model, sim.settings.dt);
        let after = &sim.before.v_after;
        let made = !after.is_empty() && after.len() == model.nv();
        let (q, v) = if made { (&sim.before.q, &sim.before.v) } else { (&sim.state.q, &sim.state.v) };
        let mut work = Workspace::default();
        work.update_positions(model, q);
        work.update_velocities(model, v);
        let mut rates: Vec<f64> = (0..v.len()).map(|k| if made { (after[k] - v[k]) / dt } else { 0.0 }).collect();
        if made && sim.events.is_none() {
            add_products_at_start(model, &mut work, (q, v), dt, &mut rates);
        }
        let acceleration = accelerations(model, &work, &rates);
        let mut carried: Vec<(Vec3, Vec3)> =
            (0..model.links().len()).map(|l| inertial(model, &work, &acceleration, l)).collect();
        if made {
            outside(sim, &work, &mut carried);
        }
        for (l, link) in model.links().iter().enumerate().rev() {
            if let Some(parent) = link.spec.parent {
                let arm = work.pose[l].translation - work.pose[parent].translation;
                let (force, moment) = carried[l];
                carried[parent].0 += force;
                carried[parent].1 += moment + arm.cross(force);
            }
        }
        Self { work, acceleration, carried }
    }

    fn read(&self, kind: &SensorKind, sim: &Simulation, out: &mut Vec<f64>) {
        let push = |out: &mut Vec<f64>, x: Vec3| out.extend(x.to_array());
        match kind {
            SensorKind::Accelerometer(site) => {
                let pose = site.world(&self.work);
                push(out, pose.rotation.inverse() * self.linear(sim, site.link, pose.translation));
            }
            SensorKind::Frame { quantity: FrameQuantity::AngularAcceleration, of, .. } => {
                push(out, of.link.map_or(Vec3::ZERO, |l| self.acceleration[l].angular));
            }
            SensorKind::Frame { of, .. } => {
                push(out, self.linear(sim, of.link, of.world(&self.work).translation));
            }
            SensorKind::Force(site) | SensorKind::Torque(site) => {
                let pose = site.world(&self.work);
                let (force, moment) = site.link.map_or((Vec3::ZERO, Vec3::ZERO), |l| {
                    let arm = self.work.pose[l].translation - pose.translation;
                    (self.carried[l].0, self.carried[l].1 + arm.cross(self.carried[l].0))
                });
                let is_force = matches!(kind, SensorKind::Force(_));
                push(out, pose.rotation.inverse() * if is_force { force } else { moment });
            }
            SensorKind::Touch(site, volume) => out.push(self.touch(sim, site, volume)),
            _ => {}
        }
    }

    /// Acceleration of a point against free fall (m/s²).
    fn linear(&self, sim: &Simulation, link: Option<usize>, point: Vec3) -> Vec3 {
        let Some(l) = link else { return -sim.world.model.gravity() };
        let (arm, omega) = (point - self.work.pose[l].translation, self.work.velocity[l].angular);
        let a = self.acceleration[l];
        a.linear + a.angular.cross(arm) + omega.cross(omega.cross(arm))
    }

    /// Normal forces of a link's contacts at a volume (N).
    fn touch(&self, sim: &Simulation, site: &Anchor, volume: &Volume) -> f64 {
        let (pose, scale) = (site.world(&self.work), sim.force_scale());
        let Some(forces) = sim.impulses().filter(|_| sim.state.step > 0) else { return 0.0 };
        let mut sum = 0.0;
        for (frame, impulse) in sim.contacts().iter().zip(&forces.normal).filter(|(_, p)| **p > 0.0) {
            let own = |side: usize| sim.world.geoms[frame.key.geoms[side] as usize].link == site.link;
            for (side, ray) in [(0, frame.normal), (1, -frame.normal)] {
                let local = |x: Vec3| pose.rotation.inverse() * x;
                if own(side) && volume.is_met(local(frame.point - pose.translation), local(ray)) {
                    sum += impulse * scale;
                }
            }
        }
        sum
    }
}

/// A step takes the velocity products as they are on its way: makes mean accelerations over it those at its start.
fn add_products_at_start(model: &Model, work: &mut Workspace, at: (&[f64], &[f64]), dt: f64, rates: &mut [f64]) {
    let (mut blocks, mut over, mut start) = (vec![], vec![0.0; rates.len()], vec![0.0; rates.len()]);
    work.mass_blocks(model, &mut blocks);
    work.passive_forces_over_step(model, at, &blocks, dt, &mut over);
    work.passive_forces(model, &mut start);
    start.iter_mut().zip(&over).for_each(|(start, over)| *start -= over);
    if let Ok(mass) = Mass::new(blocks) {
        mass.solve(&mut start);
        rates.iter_mut().zip(&start).for_each(|(rate, x)| *rate += x);
    }
}

/// Accelerations of the links under rates of the velocities, against free fall.
fn accelerations(model: &Model, work: &Workspace, rates: &[f64]) -> Vec<LinkMotion> {
    let mut out: Vec<LinkMotion> = Vec::with_capacity(model.links().len());
    for (l, link) in model.links().iter().enumerate() {
        // What the rates add to the velocity products, from the root on.
        let (added, arm) = match link.spec.parent {
            Some(p) => {
                let (angular, linear) = (out[p].angular - work.bias[p].angular, out[p].linear - work.bias[p].linear);
                (LinkMotion { angular, linear }, work.pose[l].translation - work.pose[p].translation)
            }
            None => (LinkMotion { angular: Vec3::ZERO, linear: -model.gravity() }, Vec3::ZERO),
        };
        let (mut angular, mut linear) = (added.angular, added.linear + added.angular.cross(arm));
        for k in link.v.clone() {
            angular += work.columns[k].angular * rates[k];
            linear += work.columns[k].linear * rates[k];
        }
        out.push(LinkMotion { angular: work.bias[l].angular + angular, linear: work.bias[l].linear + linear });
    }
    out
}

/// Force and moment about its origin that a link's own acceleration takes.
fn inertial(model: &Model, work: &Workspace, acceleration: &[LinkMotion], l: usize) -> (Vec3, Vec3) {
    let inertia = &model.links()[l].spec.inertia;
    let (a, omega, rotation) = (acceleration[l], work.velocity[l].angular, work.pose[l].rotation);
    let c = rotation * inertia.com;
    let force = (a.linear + a.angular.cross(c) + omega.cross(omega.cross(c))) * inertia.mass;
    let turn = |x: Vec3| rotation * (inertia.about_com * (rotation.inverse() * x));
    (force, turn(a.angular) + omega.cross(turn(omega)) + c.cross(force))
}

/// Takes away what pushed on links from outside in the last step: contacts, closed loops, and wrenches that were asked for.
fn outside(sim: &Simulation, work: &Workspace, carried: &mut [(Vec3, Vec3)]) {
    for push in &sim.before.wrenches {
        carried[push.link].0 -= push.force;
        carried[push.link].1 -= push.moment;
    }
    let Some(forces) = sim.impulses() else { return };
    loops(sim, work, carried);
    let (scale, rows) = (sim.force_scale(), forces.contacts());
    for (i, frame) in sim.contacts().iter().enumerate() {
        let at = |k: usize| rows[k].get(i).copied().unwrap_or(0.0) * scale;
        let [s, t] = frame.tangents;
        let adhesion = sim.scratch.adhesion.get(i).copied().unwrap_or(0.0);
        let force = frame.normal * (at(0) - adhesion) + s * at(1) + t * (at(2) * frame.friction_ratio);
        let mut moment = Vec3::ZERO;
        for (k, axis) in (3..CONTACT_ROWS).zip([frame.normal, s, t]) {
            moment += axis * at(k);
        }
        // The second geom's body is pushed along the normal, the first one's against it.
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(l) = sim.world.geoms[frame.key.geoms[side] as usize].link {
                carried[l].0 -= force * sign;
                let arm = frame.point - work.pose[l].translation;
                carried[l].1 -= (arm.cross(force) + moment) * sign;
            }
        }
    }
}

/// Takes away what closed loops of the last step gave.
fn loops(sim: &Simulation, work: &Workspace, carried: &mut [(Vec3, Vec3)]) {
    let model = &sim.world.model;
    let (scale, Some(forces)) = (sim.force_scale(), sim.impulses().filter(|_| !model.loops().is_empty())) else {
        return;
    };
    let mut rows = sim.loops.clone();
    rows.update(model, work, &sim.before.q);
    // Rows that nothing moves are left out of the problem.
    let used = (0..rows.len()).filter(|&i| rows.blocks(i).iter().any(|(_, row)| row.iter().any(|x| *x != 0.0)));
    for (i, impulse) in used.zip(&forces.bilateral) {
        let Some(action) = rows.action(model, work, i) else { continue };
        for (link, sign) in action.links.into_iter().zip([-1.0, 1.0]) {
            let Some(l) = link else { continue };
            let push = action.axis * (sign * scale * impulse);
            match action.at {
                Some(at) => {
                    carried[l].0 -= push;
                    carried[l].1 -= (at - work.pose[l].translation).cross(push);
                }
                None => carried[l].1 -= push,
            }
        }
    }
}
