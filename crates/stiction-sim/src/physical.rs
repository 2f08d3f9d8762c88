//! Physical parameters that may change while a simulation runs: gravity, inertias, surfaces,
//! joints, actuators.
//!
//! They are one row of numbers, part after part ([`PhysicalLayout`]). What differs from the scene's
//! own numbers belongs to the snapshot: a saved state, a recording and a copy go on with it, bit
//! for bit.

use std::ops::Range;
use std::sync::Arc;

use stiction_body::math::{Mat3, Vec3};
use stiction_body::{Inertia, JointProperties};
use stiction_lcp::InputError;

use crate::actuation::{Actuator, Law};
use crate::material::Material;
use crate::simulation::Simulation;
use crate::world::World;

/// A number that is not the scene's own: its place in the row of all parameters, and its value.
pub type PhysicalChange = (u32, f64);

/// A kind of physical parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhysicalPart {
    /// Gravity (m/s²), 3.
    Gravity,
    /// Mass of each link (kg).
    Mass,
    /// Centre of mass of each link in its frame (m), 3 each.
    CenterOfMass,
    /// Rotational inertia of each link about its centre of mass, along its axes (kg m²), 3 × 3
    /// each.
    Inertia,
    /// Coulomb coefficient of each geom; where it depends on the direction, that along it, and the
    /// one across keeps its ratio.
    Friction,
    /// Torsional coefficient of each geom (m).
    TorsionalFriction,
    /// Rolling coefficient of each geom (m).
    RollingFriction,
    /// Viscous coefficient of each geom (N s/m).
    ViscousFriction,
    /// Restitution of each geom.
    Restitution,
    /// Coulomb coefficient of each pair of geoms with a surface of its own, ascending by geoms.
    PairFriction,
    /// Viscous damping per velocity (N m s/rad or N s/m).
    Damping,
    /// Dry friction per velocity (N m or N).
    JointFriction,
    /// Rotor inertia per velocity (kg m² or kg).
    Armature,
    /// Stiffness of the joint's spring per velocity (N m/rad or N/m).
    Stiffness,
    /// Where the spring is at rest, per velocity (rad or m).
    Rest,
    /// Least and largest position per velocity (rad or m), 2 each; infinite for none.
    JointLimits,
    /// Least and largest effort of all motors per velocity (N m or N), 2 each; infinite for none.
    EffortLimits,
    /// Gain of each actuator: constant, per length, per velocity.
    ActuatorGain,
    /// Bias of each actuator: constant, per length, per velocity.
    ActuatorBias,
    /// Least and largest control of each actuator; infinite for none.
    CtrlLimits,
    /// Least and largest force of each actuator (N or N m, before the gear); infinite for none.
    ForceLimits,
}

impl PhysicalPart {
    /// All of them, in the order of the row.
    pub const ALL: [Self; 21] = [
        Self::Gravity,
        Self::Mass,
        Self::CenterOfMass,
        Self::Inertia,
        Self::Friction,
        Self::TorsionalFriction,
        Self::RollingFriction,
        Self::ViscousFriction,
        Self::Restitution,
        Self::PairFriction,
        Self::Damping,
        Self::JointFriction,
        Self::Armature,
        Self::Stiffness,
        Self::Rest,
        Self::JointLimits,
        Self::EffortLimits,
        Self::ActuatorGain,
        Self::ActuatorBias,
        Self::CtrlLimits,
        Self::ForceLimits,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gravity => "gravity",
            Self::Mass => "mass",
            Self::CenterOfMass => "body_center_of_mass",
            Self::Inertia => "inertia",
            Self::Friction => "friction",
            Self::TorsionalFriction => "torsional_friction",
            Self::RollingFriction => "rolling_friction",
            Self::ViscousFriction => "viscous_friction",
            Self::Restitution => "restitution",
            Self::PairFriction => "pair_friction",
            Self::Damping => "damping",
            Self::JointFriction => "joint_friction",
            Self::Armature => "armature",
            Self::Stiffness => "stiffness",
            Self::Rest => "rest",
            Self::JointLimits => "joint_limits",
            Self::EffortLimits => "effort_limits",
            Self::ActuatorGain => "actuator_gain",
            Self::ActuatorBias => "actuator_bias",
            Self::CtrlLimits => "ctrl_limits",
            Self::ForceLimits => "force_limits",
        }
    }

    /// How many items it has numbers for, and the shape of an item's numbers.
    fn shape(self, world: &World) -> (Option<usize>, &'static [usize]) {
        let (nb, ng, nv, nu) = (world.model.links().len(), world.geoms.len(), world.model.nv(), world.actuators.len());
        match self {
            Self::Gravity => (None, &[3]),
            Self::Mass => (Some(nb), &[]),
            Self::CenterOfMass => (Some(nb), &[3]),
            Self::Inertia => (Some(nb), &[3, 3]),
            Self::Friction
            | Self::TorsionalFriction
            | Self::RollingFriction
            | Self::ViscousFriction
            | Self::Restitution => (Some(ng), &[]),
            Self::PairFriction => (Some(world.surfaces.pairs.len()), &[]),
            Self::Damping | Self::JointFriction | Self::Armature | Self::Stiffness | Self::Rest => (Some(nv), &[]),
            Self::JointLimits | Self::EffortLimits => (Some(nv), &[2]),
            Self::ActuatorGain | Self::ActuatorBias => (Some(nu), &[3]),
            Self::CtrlLimits | Self::ForceLimits => (Some(nu), &[2]),
        }
    }
}

/// Where the parts are in the row of all physical parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhysicalLayout {
    ranges: Vec<Range<usize>>,
    shapes: Vec<Vec<usize>>,
}

impl PhysicalLayout {
    /// Of a world.
    pub fn new(world: &World) -> Self {
        let (mut ranges, mut shapes) = (Vec::with_capacity(PhysicalPart::ALL.len()), Vec::new());
        let mut first = 0;
        for part in PhysicalPart::ALL {
            let (count, inner) = part.shape(world);
            let shape: Vec<usize> = count.into_iter().chain(inner.iter().copied()).collect();
            let size: usize = shape.iter().product();
            ranges.push(first..first + size);
            shapes.push(shape);
            first += size;
        }
        Self { ranges, shapes }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a part is.
    pub fn range(&self, part: PhysicalPart) -> Range<usize> {
        self.ranges[part as usize].clone()
    }

    /// The shape of a part, row by row.
    pub fn shape(&self, part: PhysicalPart) -> &[usize] {
        &self.shapes[part as usize]
    }

    fn of<'a>(&self, part: PhysicalPart, row: &'a [f64]) -> &'a [f64] {
        &row[self.range(part)]
    }
}

impl World {
    /// All physical parameters, in the order of [`PhysicalLayout`].
    pub fn physical(&self) -> Vec<f64> {
        let mut out = Vec::with_capacity(PhysicalLayout::new(self).len());
        let links = || self.model.links().iter();
        out.extend(self.model.gravity().to_array());
        out.extend(links().map(|l| l.spec.inertia.mass));
        out.extend(links().flat_map(|l| l.spec.inertia.com.to_array()));
        // Symmetric: by rows as by columns.
        out.extend(links().flat_map(|l| l.spec.inertia.about_com.to_cols_array()));
        let per_geom: [fn(&Material) -> f64; 5] =
            [|m| m.mu, |m| m.mu_spin, |m| m.mu_roll, |m| m.mu_viscous, |m| m.restitution];
        for of in per_geom {
            out.extend(self.surfaces.of.iter().map(of));
        }
        out.extend(self.surfaces.pairs.values().map(|m| m.mu));
        let per_velocity: [fn(&JointProperties) -> f64; 5] =
            [|p| p.damping, |p| p.friction, |p| p.armature, |p| p.stiffness, |p| p.rest];
        for of in per_velocity {
            out.extend(links().flat_map(|l| l.v.clone().map(move |_| of(&l.spec.properties))));
        }
        out.extend(links().flat_map(|l| l.v.clone().flat_map(move |_| l.spec.properties.limits)));
        for (number, link) in links().enumerate() {
            let range = self.effort_range(number);
            out.extend(link.v.clone().flat_map(|_| range));
        }
        let laws: [fn(&Actuator) -> Law; 2] = [|a| a.gain, |a| a.bias];
        for law in laws {
            out.extend(self.actuators.iter().flat_map(|a| affine(law(a)).unwrap_or_default()));
        }
        out.extend(self.actuators.iter().flat_map(|a| a.control));
        out.extend(self.actuators.iter().flat_map(|a| a.force));
        out
    }

    /// Least and largest effort of all motors on a link's joint together.
    fn effort_range(&self, link: usize) -> [f64; 2] {
        let own = self.effort_ranges.iter().find(|(l, _)| *l == link).map(|(_, range)| *range);
        let effort = self.model.links()[link].spec.properties.effort;
        own.unwrap_or([-effort, effort])
    }
}

/// The numbers of a law that is affine in length and velocity.
fn affine(law: Law) -> Option<[f64; 3]> {
    match law {
        Law::Affine(numbers) => Some(numbers),
        _ => None,
    }
}

/// Everything that a row of physical parameters says, checked.
struct Changed {
    gravity: Vec3,
    links: Vec<(Inertia, JointProperties)>,
    effort_ranges: Vec<(usize, [f64; 2])>,
    surfaces: Vec<Material>,
    pairs: Vec<Material>,
    actuators: Vec<Actuator>,
}

impl Changed {
    /// # Errors
    /// Naming the part and place of a number that cannot be.
    fn new(world: &World, row: &[f64]) -> Result<Self, InputError> {
        use PhysicalPart as P;
        let layout = PhysicalLayout::new(world);
        if row.len() != layout.len() {
            let (what, expected) = ("physical parameters".into(), layout.len());
            return Err(InputError::Size { what, expected, found: row.len() });
        }
        let of = |part: P| layout.of(part, row);
        check_finite(&layout, row)?;
        let gravity = Vec3::from_slice(of(P::Gravity));
        let old = |l: usize| &world.model.links()[l].spec;
        let mut links = Vec::with_capacity(world.model.links().len());
        for (l, link) in world.model.links().iter().enumerate() {
            let (mass, com) = (of(P::Mass)[l], Vec3::from_slice(&of(P::CenterOfMass)[3 * l..]));
            let about_com = Mat3::from_cols_slice(&of(P::Inertia)[9 * l..]);
            let unchanged = old(l).inertia == Inertia { mass, com, about_com };
            let named = |e: InputError| InputError::Unsupported {
                solver: "inertia",
                reason: format!("of body \"{}\": {e}", link.spec.name),
            };
            let inertia = if unchanged { old(l).inertia } else { Inertia::new(mass, com, about_com).map_err(named)? };
            links.push((inertia, joint(&layout, row, &link.spec.name, link.v.clone(), &old(l).properties)?));
        }
        world.model.check_links(&links)?;
        let mut effort_ranges = world.effort_ranges.clone();
        for (l, link) in world.model.links().iter().enumerate().filter(|(_, link)| !link.v.is_empty()) {
            let k = 2 * link.v.start;
            let range = [of(P::EffortLimits)[k], of(P::EffortLimits)[k + 1]];
            match effort_ranges.iter_mut().find(|(other, _)| *other == l) {
                Some(own) => own.1 = range,
                None if range[0] != -range[1] => effort_ranges.push((l, range)),
                None => {}
            }
        }
        let mut surfaces = world.surfaces.of.clone();
        for (g, surface) in surfaces.iter_mut().enumerate() {
            set_friction(surface, of(P::Friction)[g]);
            surface.mu_spin = of(P::TorsionalFriction)[g];
            surface.mu_roll = of(P::RollingFriction)[g];
            surface.mu_viscous = of(P::ViscousFriction)[g];
            surface.restitution = of(P::Restitution)[g];
            surface.check().map_err(|e| named_surface(&world.geom_name(g), &e))?;
        }
        let mut pairs: Vec<Material> = world.surfaces.pairs.values().copied().collect();
        for (i, surface) in pairs.iter_mut().enumerate() {
            set_friction(surface, of(P::PairFriction)[i]);
            surface.check().map_err(|e| named_surface(&format!("pair {i}"), &e))?;
        }
        let actuators = actuators(world, &layout, row)?;
        Ok(Self { gravity, links, effort_ranges, surfaces, pairs, actuators })
    }

    fn apply(self, world: &mut World) -> Result<(), InputError> {
        world.model.set_gravity(self.gravity)?;
        world.model.set_links(&self.links)?;
        world.effort_ranges = self.effort_ranges;
        world.surfaces.of = self.surfaces;
        world.surfaces.pairs.values_mut().zip(self.pairs).for_each(|(old, new)| *old = new);
        world.actuators = self.actuators;
        Ok(())
    }
}

fn named_surface(name: &str, e: &InputError) -> InputError {
    InputError::Unsupported { solver: "surface", reason: format!("of \"{name}\": {e}") }
}

/// Limits may be infinite; everything else is finite.
fn check_finite(layout: &PhysicalLayout, row: &[f64]) -> Result<(), InputError> {
    for part in PhysicalPart::ALL {
        let unbounded = matches!(
            part,
            PhysicalPart::JointLimits
                | PhysicalPart::EffortLimits
                | PhysicalPart::CtrlLimits
                | PhysicalPart::ForceLimits
                | PhysicalPart::Friction
                | PhysicalPart::PairFriction
                | PhysicalPart::TorsionalFriction
        );
        let bad = |x: &f64| if unbounded { x.is_nan() } else { !x.is_finite() };
        if let Some(i) = layout.of(part, row).iter().position(bad) {
            let what = format!("{}[{i}]", part.name());
            return Err(InputError::NotFinite { what, value: layout.of(part, row)[i] });
        }
    }
    Ok(())
}

/// Another Coulomb coefficient; where it depends on the direction, or is another at rest, the ratio of both stays.
fn set_friction(surface: &mut Material, mu: f64) {
    if mu.to_bits() != surface.mu.to_bits() {
        let (before, ratio) = (surface.mu, mu / surface.mu);
        let scaled = |x: f64| (before > 0.0).then_some(x * ratio);
        surface.mu_across = surface.mu_across.and_then(scaled);
        surface.mu_static = surface.mu_static.and_then(scaled).map(|x| x.max(mu));
    }
    surface.mu = mu;
}

/// The properties of a joint, which all of its velocities must agree on.
fn joint(
    layout: &PhysicalLayout,
    row: &[f64],
    name: &str,
    v: Range<usize>,
    old: &JointProperties,
) -> Result<JointProperties, InputError> {
    use PhysicalPart as P;
    let Some(first) = v.clone().next() else { return Ok(*old) };
    let mut new = *old;
    for (part, to) in [
        (P::Damping, &mut new.damping),
        (P::JointFriction, &mut new.friction),
        (P::Armature, &mut new.armature),
        (P::Stiffness, &mut new.stiffness),
        (P::Rest, &mut new.rest),
    ] {
        let values = layout.of(part, row);
        *to = values[first];
        if let Some(k) = v.clone().find(|k| values[*k] != values[first]) {
            let what = format!("{}[{k}]: the joint of \"{name}\" has one value for all its velocities", part.name());
            return Err(InputError::OutOfRange { what, expected: "the same", found: values[k] });
        }
    }
    let pair = |part: P, k: usize| [layout.of(part, row)[2 * k], layout.of(part, row)[2 * k + 1]];
    for part in [P::JointLimits, P::EffortLimits] {
        if let Some(k) = v.clone().find(|k| pair(part, *k) != pair(part, first)) {
            let what = format!("{}[{k}]: the joint of \"{name}\" has one range for all its velocities", part.name());
            return Err(InputError::OutOfRange { what, expected: "the same", found: pair(part, k)[0] });
        }
    }
    new.limits = pair(P::JointLimits, first);
    let [least, most] = pair(P::EffortLimits, first);
    if least.is_nan() || most.is_nan() || least > most {
        let what = format!("effort_limits[{first}] (joint of \"{name}\")");
        return Err(InputError::OutOfRange { what, expected: "at most the upper", found: least });
    }
    if least == -most {
        new.effort = most;
    }
    Ok(new)
}

fn actuators(world: &World, layout: &PhysicalLayout, row: &[f64]) -> Result<Vec<Actuator>, InputError> {
    use PhysicalPart as P;
    let mut all = world.actuators.clone();
    for (i, actuator) in all.iter_mut().enumerate() {
        let name = actuator.name.clone();
        for (part, law) in [(P::ActuatorGain, &mut actuator.gain), (P::ActuatorBias, &mut actuator.bias)] {
            let values = &layout.of(part, row)[3 * i..3 * i + 3];
            match law {
                Law::Affine(numbers) => numbers.copy_from_slice(values),
                _ if values.iter().all(|x| *x == 0.0) => {}
                _ => {
                    let what = format!("{} of \"{name}\", a muscle", part.name());
                    return Err(InputError::OutOfRange {
                        what,
                        expected: "0: it has a law of its own",
                        found: values[0],
                    });
                }
            }
        }
        for (part, range) in [(P::CtrlLimits, &mut actuator.control), (P::ForceLimits, &mut actuator.force)] {
            let values = &layout.of(part, row)[2 * i..2 * i + 2];
            if values[0] > values[1] {
                let what = format!("lower end of {} of \"{name}\"", part.name());
                return Err(InputError::OutOfRange { what, expected: "at most the upper", found: values[0] });
            }
            range.copy_from_slice(values);
        }
    }
    Ok(all)
}

impl Simulation {
    /// All physical parameters as they are now, in the order of [`PhysicalLayout`].
    pub fn physical(&self) -> Vec<f64> {
        self.world.physical()
    }

    /// Sets all physical parameters; state, memory and controllers stay, and what rests wakes.
    ///
    /// # Errors
    /// Naming the part and place of a number that cannot be; nothing is changed then.
    pub fn set_physical(&mut self, row: &[f64]) -> Result<(), InputError> {
        let own = self.own_world.physical();
        let differs = |(i, (a, b)): (usize, (&f64, &f64))| (a.to_bits() != b.to_bits()).then_some((i as u32, *b));
        let changed = Changed::new(&self.own_world, row)?;
        let changes = own.iter().zip(row).enumerate().filter_map(differs).collect::<Vec<_>>();
        if changes.is_empty() {
            self.world = self.own_world.clone();
        } else {
            changed.apply(Arc::make_mut(&mut self.world))?;
        }
        self.physical_changes = changes;
        self.kinematics_at_state = false;
        self.sleep.wake();
        Ok(())
    }

    /// The parameters that differ from the scene's own.
    pub fn physical_changes(&self) -> &[PhysicalChange] {
        &self.physical_changes
    }

    /// Sets the parameters that differ from the scene's own; all others are the scene's.
    ///
    /// # Errors
    /// If a place does not exist, or as [`Simulation::set_physical`].
    pub fn set_physical_changes(&mut self, changes: &[PhysicalChange]) -> Result<(), InputError> {
        let same = |(a, b): (&PhysicalChange, &PhysicalChange)| a.0 == b.0 && a.1.to_bits() == b.1.to_bits();
        if changes.len() == self.physical_changes.len() && changes.iter().zip(&self.physical_changes).all(same) {
            return Ok(());
        }
        let mut row = self.own_world.physical();
        for (place, value) in changes {
            let size = row.len();
            let Some(x) = row.get_mut(*place as usize) else {
                let what = "physical parameters, more than".into();
                return Err(InputError::Size { what, expected: size, found: *place as usize });
            };
            *x = *value;
        }
        self.set_physical(&row)
    }
}
