//! The constant side of a simulation: bodies, geoms, surfaces and motors, joined from descriptions, and the state they start from.

use std::collections::BTreeMap;
use std::sync::Arc;

use stiction_body::math::{Pose, Quat, Vec3};
use stiction_body::{
    CollisionRules, Coupling, CouplingTerm, Geom, JointKind, LinkSpec, LoopClosure, Mimic, Model, ModelBuilder,
    RedundantRows, RowSource,
};

use stiction_lcp::InputError;

use crate::actuation::{Actuator, Anchor, Driven, Tendon};
use crate::ambient::Ambient;
use crate::description::{Description, KeyframeSpec, Note, NoteKind};
use crate::equality::{self, Equality, Held};
use crate::error::SceneError;
use crate::looks::{Look, Rgba, Visual, default_color};
use crate::material::{Material, MaterialRule};
use crate::sensors::Sensor;
use crate::ties::{self, Tie};

/// Bodies, geoms, surfaces and motors.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Links and joints.
    pub model: Model,
    /// Collision geoms.
    pub geoms: Vec<Geom>,
    /// Surface of each geom.
    pub surfaces: Surfaces,
    /// Which geoms can touch.
    pub rules: CollisionRules,
    /// Motors.
    pub actuators: Vec<Actuator>,
    /// Tendons.
    pub tendons: Vec<Tendon>,
    /// Links whose joint's actuators have different limits in both directions, and these (N m or N).
    pub effort_ranges: Vec<(usize, [f64; 2])>,
    /// What acts on bodies by itself besides gravity.
    pub ambient: Ambient,
    /// What pulls bodies to others that are moved from outside.
    pub ties: Vec<Tie>,
    /// Those loops, ties and joints that can be switched on and off.
    pub equalities: Vec<Equality>,
    /// Sensors that robot files name.
    pub sensors: Vec<Sensor>,
    /// States that robot files tell by name.
    pub keyframes: Vec<Keyframe>,
    /// Control of each actuator at the start.
    pub control: Vec<f64>,
    /// Activation of each actuator at the start; 0 for those that have none.
    pub activation: Vec<f64>,
    /// Links of one tree that overlap at the start touch where they overlap by more than there; otherwise they never touch.
    pub allow_start_overlap: bool,
    /// Configuration at the start, nq.
    pub q: Vec<f64>,
    /// Velocities at the start, nv.
    pub v: Vec<f64>,
    /// The description each geom came from: two geoms of one description are of one model.
    pub geom_owner: Vec<usize>,
    /// How each geom is drawn.
    pub looks: Vec<Look>,
    /// What is only drawn. Shared by all copies of the world: meshes are large.
    pub visuals: Arc<Vec<Visual>>,
    /// What loaders left out or changed, by description.
    pub notes: Vec<(String, Vec<Note>)>,
}

/// A whole state by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Keyframe {
    /// Name; empty for none.
    pub name: String,
    /// Time (s).
    pub time: f64,
    /// Configuration, nq: what its file does not tell is as at the start.
    pub q: Vec<f64>,
    /// Velocities, nv.
    pub v: Vec<f64>,
    /// Control of each actuator.
    pub control: Vec<f64>,
    /// Activation of each actuator; 0 for those that have none.
    pub activation: Vec<f64>,
}

/// Surfaces of the geoms and how they combine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surfaces {
    /// The surface of each geom.
    pub of: Vec<Material>,
    /// The rule of the description each geom came from.
    pub rule_of: Vec<Option<MaterialRule>>,
    /// The rule for all others.
    pub rule: MaterialRule,
    /// Pairs of geoms (ascending) with a surface of their own.
    pub pairs: BTreeMap<(usize, usize), Material>,
}

impl World {
    /// What [`crate::actuation::Drives`] computes with.
    pub fn driven(&self) -> Driven<'_> {
        Driven { model: &self.model, tendons: &self.tendons, actuators: &self.actuators }
    }

    /// True if something acts along more than single velocities.
    pub(crate) fn couples_velocities(&self) -> bool {
        let single = |a: &Actuator| a.transmission.joint().is_some_and(|link| self.model.links()[link].v.len() == 1);
        !(self.tendons.is_empty() && self.ties.is_empty() && self.actuators.iter().all(single))
    }

    /// What a geom is called in messages: its own name, or its link's.
    pub fn geom_name(&self, geom: usize) -> String {
        let geom = &self.geoms[geom];
        self.name_or_link(&geom.name, geom.link)
    }

    /// A name, or that of the link where it is empty.
    pub fn name_or_link(&self, name: &str, link: Option<usize>) -> String {
        match link {
            _ if !name.is_empty() => name.into(),
            Some(link) => self.model.links()[link].spec.name.clone(),
            None => "the world".into(),
        }
    }

    /// The colour of a geom: its own, or that of its body.
    pub fn geom_color(&self, geom: usize) -> Rgba {
        self.looks[geom].rgba.unwrap_or_else(|| default_color(self.geoms[geom].link))
    }

    /// True if a geom can touch another one: by its groups, or because a pair names it.
    pub fn can_touch(&self, geom: usize) -> bool {
        let Geom { groups, collides_with, .. } = self.geoms[geom];
        groups | collides_with != 0 || self.rules.pairs.iter().any(|&(a, b)| a == geom || b == geom)
    }
}

impl Surfaces {
    /// Gives every surface, also those of single pairs, another Coulomb coefficient, the same in all directions, at rest and in motion.
    ///
    /// # Errors
    /// If it is below 0 or not a number.
    pub fn set_friction(&mut self, mu: f64) -> Result<(), InputError> {
        Material { mu, ..Material::default() }.check()?;
        self.of
            .iter_mut()
            .chain(self.pairs.values_mut())
            .for_each(|m| (m.mu, m.mu_across, m.mu_static) = (mu, None, None));
        Ok(())
    }

    /// True if some surface has another coefficient where it does not slide.
    pub(crate) fn have_static_friction(&self) -> bool {
        self.of.iter().chain(self.pairs.values()).any(|m| m.mu_static.is_some())
    }

    /// True if the friction of some surface depends on the direction of slip.
    pub(crate) fn have_directions(&self) -> bool {
        self.of.iter().chain(self.pairs.values()).any(|m| m.mu_across.is_some())
    }

    /// The surface that a pair of geoms has of its own.
    pub fn pair(&self, a: usize, b: usize) -> Option<&Material> {
        (!self.pairs.is_empty()).then(|| self.pairs.get(&(a.min(b), a.max(b)))).flatten()
    }

    /// How the surfaces of two geoms combine.
    pub fn rule_between(&self, a: usize, b: usize) -> MaterialRule {
        match (self.rule_of[a], self.rule_of[b]) {
            (Some(x), Some(y)) if x == y => x,
            _ => self.rule,
        }
    }

    /// The coefficients between two geoms; their surface velocities are not combined and stay 0 here. Where friction depends on
    /// the direction, the coefficients are those of surfaces whose directions agree.
    pub fn between(&self, a: usize, b: usize) -> Material {
        if let Some(material) = self.pair(a, b) {
            return *material;
        }
        let rule = self.rule_between(a, b);
        let (a, b) = (&self.of[a], &self.of[b]);
        let has_direction = a.mu_across.is_some() || b.mu_across.is_some();
        let across = |m: &Material| m.mu_across.unwrap_or(m.mu);
        let has_static = a.mu_static.is_some() || b.mu_static.is_some();
        let at_rest = |m: &Material| m.mu_static.unwrap_or(m.mu);
        Material {
            mu: rule.combine(a.mu, b.mu),
            mu_across: has_direction.then(|| rule.combine(across(a), across(b))),
            mu_static: has_static.then(|| rule.combine(at_rest(a), at_rest(b))),
            mu_direction: if a.mu_across.is_some() { a.mu_direction } else { b.mu_direction },
            mu_spin: rule.combine(a.mu_spin, b.mu_spin),
            mu_roll: rule.combine(a.mu_roll, b.mu_roll),
            mu_viscous: rule.combine(a.mu_viscous, b.mu_viscous),
            restitution: rule.combine(a.restitution, b.restitution),
            surface_velocity: Vec3::ZERO,
        }
    }
}

/// How a description's root hangs on the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Base {
    /// As the description says.
    #[default]
    AsDescribed,
    /// Fixed, whatever it says.
    Fixed,
    /// Free, whatever it says.
    Free,
}

/// Where and how a description is put into the world.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Put before the names of links, joints and geoms; empty for none.
    pub prefix: String,
    /// `X_WD`: the description's frame in the world.
    pub pose: Pose,
    /// How its roots hang on the world.
    pub base: Base,
    /// Links of this description never touch each other.
    pub no_self_collision: bool,
}

impl Default for Placement {
    fn default() -> Self {
        Self { prefix: String::new(), pose: Pose::identity(), base: Base::AsDescribed, no_self_collision: false }
    }
}

/// What [`WorldBuilder::add`] made of a description's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Number of each link of the description, before [`WorldBuilder::build`] may change it.
    pub links: Vec<usize>,
    /// Number of each geom.
    pub geoms: Vec<usize>,
}

/// Joins descriptions into a [`World`].
#[derive(Debug, Clone, Default)]
pub struct WorldBuilder {
    model: ModelBuilder,
    kinds: Vec<JointKind>,
    /// Links that are moved from outside, or fixed to such.
    placed: Vec<bool>,
    geom_owner: Vec<usize>,
    geoms: Vec<Geom>,
    looks: Vec<Look>,
    visuals: Vec<Visual>,
    surfaces: Surfaces,
    rules: CollisionRules,
    actuators: Vec<Actuator>,
    tendons: Vec<Tendon>,
    effort_ranges: Vec<(usize, [f64; 2])>,
    ties: Vec<Tie>,
    equalities: Vec<Equality>,
    /// Loops so far; mimics and couplings.
    loops: usize,
    followers: [usize; 2],
    ambient: Ambient,
    sensors: Vec<Sensor>,
    /// With links of the builder, and actuators from a number on.
    keyframes: Vec<(usize, KeyframeSpec)>,
    control: Vec<f64>,
    activation: Vec<f64>,
    allow_start_overlap: bool,
    initial: Vec<(usize, Vec<f64>)>,
    velocities: Vec<(usize, Vec<f64>)>,
    notes: Vec<(String, Vec<Note>)>,
}

impl WorldBuilder {
    /// An empty world with gravity along −z.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets gravity (m/s²).
    pub fn gravity(&mut self, gravity: Vec3) -> &mut Self {
        self.model.gravity(gravity);
        self
    }

    /// Sets how surfaces of different descriptions combine.
    pub fn material_rule(&mut self, rule: MaterialRule) -> &mut Self {
        self.surfaces.rule = rule;
        self
    }

    /// Keeps contacts that are exact duplicates.
    pub fn keep_duplicates(&mut self, keep: bool) -> &mut Self {
        self.rules.keep_duplicates = keep;
        self
    }

    /// Lets links of one tree that overlap at the start touch: they may overlap by as much as there, and not by more. By default they
    /// never touch.
    pub fn allow_start_overlap(&mut self, allow: bool) -> &mut Self {
        self.allow_start_overlap = allow;
        self
    }

    /// Puts a description into the world.
    ///
    /// # Errors
    /// Naming the link, geom or number that is wrong.
    pub fn add(&mut self, description: &Description, placement: &Placement) -> Result<Added, SceneError> {
        self.add_to(description, placement, None)
    }

    /// Puts a description into the world, its roots on a link that is there already.
    ///
    /// # Errors
    /// Naming the link, geom or number that is wrong.
    pub fn add_to(
        &mut self,
        description: &Description,
        placement: &Placement,
        parent: Option<usize>,
    ) -> Result<Added, SceneError> {
        let name = |name: &str| if name.is_empty() { String::new() } else { format!("{}{name}", placement.prefix) };
        let mut links = Vec::with_capacity(description.links.len());
        for (i, spec) in description.links.iter().enumerate() {
            let own = description.initial.iter().find(|(link, _)| *link == i).map(|(_, q)| q.as_slice());
            let (mut spec, q) = placed(spec, own, placement);
            spec.name = name(&spec.name);
            spec.joint_name = name(&spec.joint_name);
            spec.parent = spec.parent.map_or(parent, |p| Some(links[p]));
            let (kind, element) = (spec.kind, spec.name.clone());
            let with_parent = kind == JointKind::Fixed && spec.parent.is_some_and(|p| self.placed[p]);
            let number = self.model.add(spec).map_err(|e| SceneError::input(element, &e))?;
            self.kinds.push(kind);
            self.placed.push(kind == JointKind::Mocap || with_parent);
            links.push(number);
            if let Some(q) = q {
                self.set_initial(number, q)?;
            }
        }
        let geoms = self.add_geoms(description, placement, &links)?;
        self.add_visuals(description, placement, &links);
        self.add_rules(description, placement, &links, &geoms);
        let element = |e| SceneError::input(description.name.as_str(), &e);
        for m in &description.mimics {
            self.model.mimic(Mimic { link: links[m.link], of: links[m.of], ..*m }).map_err(element)?;
        }
        for c in &description.couplings {
            let term = |t: &CouplingTerm| CouplingTerm { link: links[t.link], ..*t };
            let couple = Coupling { terms: c.terms.iter().map(term).collect(), offset: c.offset };
            self.model.couple(couple).map_err(element)?;
        }
        let mut loops = Vec::with_capacity(description.loops.len());
        for l in &description.loops {
            let (a, b) = (l.a.map(|a| links[a]), l.b.map(|b| links[b]));
            loops.push(self.close_loop(LoopClosure { a, b, ..*l })?);
        }
        let [mimics, couplings] = self.followers;
        self.followers = [mimics + description.mimics.len(), couplings + description.couplings.len()];
        for e in &description.equalities {
            let held = match e.held {
                Held::Rows(RowSource::Loop(i)) => loops[i],
                Held::Rows(RowSource::Mimic(i)) => Held::Rows(RowSource::Mimic(mimics + i)),
                Held::Rows(RowSource::Coupling(i)) => Held::Rows(RowSource::Coupling(couplings + i)),
                Held::Tie(i) => Held::Tie(self.ties.len() + i),
                Held::Nothing => Held::Nothing,
            };
            self.equalities.push(Equality { name: name(&e.name), held, ..e.clone() });
        }
        for t in &description.ties {
            let (a, b) = (t.closure.a.map(|a| links[a]), t.closure.b.map(|b| links[b]));
            self.ties.push(Tie { closure: LoopClosure { a, b, ..t.closure }, ..*t });
        }
        self.add_drives(description, placement, &links, geoms.first().copied().unwrap_or(0));
        self.notes.push((description.name.clone(), description.notes.clone()));
        Ok(Added { links, geoms })
    }

    /// Tendons, actuators, sensors and keyframes.
    fn add_drives(&mut self, description: &Description, placement: &Placement, links: &[usize], first_geom: usize) {
        let name = |name: &str| if name.is_empty() { String::new() } else { format!("{}{name}", placement.prefix) };
        let anchor = |a: Anchor| a.placed(links, &placement.pose);
        let (tendons, actuators) = (self.tendons.len(), self.actuators.len());
        for t in &description.tendons {
            self.tendons.push(Tendon { name: name(&t.name), ..t.with_links(anchor, |l| links[l]) });
        }
        for a in &description.actuators {
            let transmission = a.transmission.with_links(anchor, |l| links[l], tendons);
            self.actuators.push(Actuator { name: name(&a.name), transmission, ..a.clone() });
        }
        self.ambient.append(&description.ambient, |l| links[l], placement.pose.rotation);
        for s in &description.sensors {
            let own = s.with_links(anchor, |l| links[l], [tendons, actuators, first_geom]);
            self.sensors.push(Sensor { name: name(&s.name), ..own });
        }
        self.effort_ranges.extend(description.effort_ranges.iter().map(|&(l, range)| (links[l], range)));
        let renumber = |x: &[(usize, Vec<f64>)]| x.iter().map(|(l, x)| (links[*l], x.clone())).collect();
        for k in &description.keyframes {
            let q = k.q.iter().map(|(l, q)| (links[*l], placed_keyframe(&description.links[*l], q, placement)));
            let (q, v) = (q.collect(), renumber(&k.v));
            self.keyframes.push((actuators, KeyframeSpec { name: name(&k.name), q, v, ..k.clone() }));
        }
        let start = description.start.map(|i| &description.keyframes[i]);
        let of = |x: fn(&KeyframeSpec) -> &[f64]| {
            let own = start.map_or(&[][..], x).iter().copied();
            own.chain(std::iter::repeat(0.0)).take(description.actuators.len()).collect::<Vec<_>>()
        };
        self.control.extend(of(|k| &k.control));
        self.activation.extend(of(|k| &k.activation));
        if let Some(start) = start {
            self.velocities.extend(start.v.iter().map(|(l, v)| (links[*l], v.clone())));
        }
    }

    fn add_geoms(
        &mut self,
        description: &Description,
        placement: &Placement,
        links: &[usize],
    ) -> Result<Vec<usize>, SceneError> {
        let mut geoms = Vec::with_capacity(description.geoms.len());
        for spec in &description.geoms {
            let mut geom = spec.geom.clone();
            if !geom.name.is_empty() {
                geom.name = format!("{}{}", placement.prefix, geom.name);
            }
            match geom.link {
                Some(link) => geom.link = Some(links[link]),
                None => geom.pose = placement.pose * geom.pose,
            }
            spec.material.check().map_err(|e| SceneError::input(geom.name.as_str(), &e))?;
            geoms.push(self.geoms.len());
            self.geoms.push(geom);
            self.looks.push(spec.look);
            self.geom_owner.push(self.notes.len());
            self.surfaces.of.push(spec.material);
            self.surfaces.rule_of.push(description.rule);
        }
        Ok(geoms)
    }

    fn add_visuals(&mut self, description: &Description, placement: &Placement, links: &[usize]) {
        for visual in &description.visuals {
            let mut visual = visual.clone();
            if !visual.name.is_empty() {
                visual.name = format!("{}{}", placement.prefix, visual.name);
            }
            match visual.link {
                Some(link) => visual.link = Some(links[link]),
                None => visual.pose = placement.pose * visual.pose,
            }
            self.visuals.push(visual);
        }
    }

    fn add_rules(&mut self, description: &Description, placement: &Placement, links: &[usize], geoms: &[usize]) {
        let renumber = |link: Option<usize>| link.map(|l| links[l]);
        self.rules.touches_parent.extend(description.touches_parent.iter().map(|&l| links[l]));
        self.rules.excluded.extend(description.excluded.iter().map(|&(a, b)| (renumber(a), renumber(b))));
        for pair in &description.pairs {
            let (a, b) = (geoms[pair.geoms.0], geoms[pair.geoms.1]);
            self.pair(a, b, pair.material);
        }
        if placement.no_self_collision {
            for (i, &a) in links.iter().enumerate() {
                self.rules.excluded.extend(links[..i].iter().map(|&b| (Some(b), Some(a))));
            }
        }
    }

    /// Two geoms that are always looked at, with a surface of their own if given.
    pub fn pair(&mut self, a: usize, b: usize, material: Option<Material>) {
        self.rules.pairs.push((a.min(b), a.max(b)));
        if let Some(material) = material {
            self.pair_surface(a, b, material);
        }
    }

    /// A surface for a pair of geoms.
    pub fn pair_surface(&mut self, a: usize, b: usize, material: Material) {
        self.surfaces.pairs.insert((a.min(b), a.max(b)), material);
    }

    /// Two geoms that never touch.
    pub fn exclude_geoms(&mut self, a: usize, b: usize) {
        self.rules.excluded_geoms.push((a, b));
    }

    /// Ties frames of two links together. What is tied to a link that is moved from outside is pulled to it instead ([`Tie`]): it may
    /// be put where nothing can follow. Returns what holds them.
    ///
    /// # Errors
    /// If a link does not exist or a frame is not finite.
    pub fn close_loop(&mut self, closure: LoopClosure) -> Result<Held, SceneError> {
        let placed = |link: Option<usize>| link.is_some_and(|l| self.placed.get(l) == Some(&true));
        if placed(closure.a) || placed(closure.b) {
            self.ties.push(Tie::new(closure, placed(closure.b)));
            return Ok(Held::Tie(self.ties.len() - 1));
        }
        self.model.close_loop(closure).map_err(|e| SceneError::input("loop", &e))?;
        self.loops += 1;
        Ok(Held::Rows(RowSource::Loop(self.loops - 1)))
    }

    /// Lets something that is held be switched on and off.
    pub fn add_equality(&mut self, equality: Equality) {
        self.equalities.push(equality);
    }

    /// Adds a motor.
    pub fn add_actuator(&mut self, actuator: Actuator) {
        self.actuators.push(actuator);
        self.control.push(0.0);
        self.activation.push(0.0);
    }

    /// The start configuration of a link's joint.
    ///
    /// # Errors
    /// If it has the wrong size, or is not finite.
    pub fn set_initial(&mut self, link: usize, q: Vec<f64>) -> Result<(), SceneError> {
        self.check_size("start configuration", link, q.len(), self.kinds[link].nq(), &q)?;
        self.initial.push((link, q));
        Ok(())
    }

    /// The start velocity of a link's joint.
    ///
    /// # Errors
    /// If it has the wrong size, or is not finite.
    pub fn set_velocity(&mut self, link: usize, v: Vec<f64>) -> Result<(), SceneError> {
        self.check_size("start velocity", link, v.len(), self.kinds[link].nv(), &v)?;
        self.velocities.push((link, v));
        Ok(())
    }

    fn check_size(&self, what: &str, link: usize, found: usize, expected: usize, x: &[f64]) -> Result<(), SceneError> {
        if found != expected {
            return Err(SceneError::new(
                format!("link {link}"),
                format!("{what} has {found} numbers, expected {expected}"),
            ));
        }
        match x.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(SceneError::new(format!("link {link}"), format!("{what} is {x}"))),
            None => Ok(()),
        }
    }

    /// The finished world, and the final number of each link in the order they were added.
    ///
    /// # Errors
    /// If a joint moves no inertia.
    pub fn build(mut self) -> Result<(World, Vec<usize>), SceneError> {
        let (mut model, number) = self.model.build().map_err(|e| SceneError::input("", &e))?;
        let link = |l: &mut Option<usize>| *l = l.map(|l| number[l]);
        self.geoms.iter_mut().for_each(|g| link(&mut g.link));
        self.visuals.iter_mut().for_each(|v| link(&mut v.link));
        self.rules.touches_parent.iter_mut().for_each(|l| *l = number[*l]);
        self.rules.excluded.iter_mut().for_each(|(a, b)| {
            link(a);
            link(b);
        });
        let anchor = |a: Anchor| a.renumbered(&number);
        for a in &mut self.actuators {
            a.transmission = a.transmission.with_links(anchor, |l| number[l], 0);
        }
        self.tendons.iter_mut().for_each(|t| *t = t.with_links(anchor, |l| number[l]));
        self.effort_ranges.iter_mut().for_each(|(l, _)| *l = number[*l]);
        let mut ambient = Ambient::default();
        ambient.append(&self.ambient, |l| number[l], Quat::IDENTITY);
        self.sensors.iter_mut().for_each(|s| *s = s.with_links(anchor, |l| number[l], [0; 3]));
        let (mut q, mut v) = (model.neutral(), vec![0.0; model.nv()]);
        for (l, x) in &self.initial {
            q[model.links()[number[*l]].q.clone()].copy_from_slice(x);
        }
        for (l, x) in &self.velocities {
            v[model.links()[number[*l]].v.clone()].copy_from_slice(x);
        }
        for m in model.mimics() {
            let (of, own) = (model.links()[m.of].q.start, model.links()[m.link].q.start);
            q[own] = m.multiplier * q[of] + m.offset;
        }
        model.check_state(&q, &v).map_err(|e| SceneError::input("start", &e))?;
        for tie in &mut self.ties {
            link(&mut tie.closure.a);
            link(&mut tie.closure.b);
        }
        ties::find_inverse_inertias(&mut self.ties, &model, &q);
        let keyframes = self.keyframes.iter().map(|(first, spec)| {
            let mut key = Keyframe { name: spec.name.clone(), time: spec.time, q: q.clone(), ..Keyframe::default() };
            key.v.resize(model.nv(), 0.0);
            for (l, x) in &spec.q {
                let range = model.links()[number[*l]].q.clone();
                if range.len() == x.len() {
                    key.q[range].copy_from_slice(x);
                }
            }
            for (l, x) in &spec.v {
                let range = model.links()[number[*l]].v.clone();
                if range.len() == x.len() {
                    key.v[range].copy_from_slice(x);
                }
            }
            (key.control, key.activation) = (self.control.clone(), self.activation.clone());
            key.control[*first..*first + spec.control.len()].copy_from_slice(&spec.control);
            key.activation[*first..*first + spec.activation.len()].copy_from_slice(&spec.activation);
            key
        });
        let keyframes = keyframes.collect();
        equality::find_inverse_inertias(&mut self.equalities, &model, &q);
        let redundant = redundant_rows(&mut model, &q, &self.equalities);
        if !redundant.is_empty() {
            self.notes.push(("closed loops".into(), redundant));
        }
        let world = World {
            model,
            geoms: self.geoms,
            surfaces: self.surfaces,
            rules: self.rules,
            actuators: self.actuators,
            tendons: self.tendons,
            effort_ranges: self.effort_ranges,
            ambient,
            ties: self.ties,
            equalities: self.equalities,
            sensors: self.sensors,
            keyframes,
            control: self.control,
            activation: self.activation,
            allow_start_overlap: self.allow_start_overlap,
            q,
            v,
            geom_owner: self.geom_owner,
            looks: self.looks,
            visuals: Arc::new(self.visuals),
            notes: self.notes,
        };
        Ok((world, number))
    }
}

/// Leaves rows of loops out that are redundant but for the rounding of a file, and notes those that
/// are not zero to begin with.
fn redundant_rows(model: &mut Model, q: &[f64], equalities: &[Equality]) -> Vec<Note> {
    /// Rows that joints move by less than this (m or rad per rad) are rounding of doubles, and not
    /// worth a note.
    const WORTH_A_NOTE: f64 = 1e-12;
    let is_off = |source| equalities.iter().any(|e| !e.active && e.held == Held::Rows(source));
    let found = model.leave_out_redundant_rows(q, |source| !is_off(source));
    let name = |link: Option<usize>| link.map_or("the world", |l| model.links()[l].spec.name.as_str());
    let note = |f: &RedundantRows| {
        let closure = &model.loops()[f.closure];
        let (count, rows) = (f.count, if f.count == 1 { "row" } else { "rows" });
        Note {
            kind: NoteKind::Changed,
            element: format!("loop between \"{}\" and \"{}\"", name(closure.a), name(closure.b)),
            text: format!(
                "{count} {rows} left out as redundant but for rounding: joints move it by {:.1e} per radian, and it cannot be closed beyond {:.1e}",
                f.sensitivity, f.closure_error
            ),
        }
    };
    found.iter().filter(|f| f.sensitivity > WORTH_A_NOTE).map(note).collect()
}

/// A link at its place: roots are moved by the placement. A free joint keeps the world's axes and starts where the link is put.
fn placed(spec: &LinkSpec, initial: Option<&[f64]>, placement: &Placement) -> (LinkSpec, Option<Vec<f64>>) {
    let mut spec = spec.clone();
    if spec.parent.is_some() {
        return (spec, initial.map(<[f64]>::to_vec));
    }
    let start = initial.unwrap_or(spec.kind.neutral());
    match (placement.base, spec.kind) {
        (_, JointKind::Mocap) => {
            let pose = placement.pose * spec.frame * spec.kind.pose(start);
            spec.frame = Pose::identity();
            (spec, Some(free_configuration(&pose)))
        }
        (Base::Fixed, kind) => {
            spec.frame = placement.pose * spec.frame * kind.pose(start);
            spec.kind = JointKind::Fixed;
            (spec, None)
        }
        (Base::AsDescribed, JointKind::Free) | (Base::Free, _) => {
            let pose = placement.pose * spec.frame * spec.kind.pose(start);
            spec.frame = Pose::identity();
            spec.kind = JointKind::Free;
            (spec, Some(free_configuration(&pose)))
        }
        (Base::AsDescribed, _) => {
            spec.frame = placement.pose * spec.frame;
            (spec, initial.map(<[f64]>::to_vec))
        }
    }
}

/// What a keyframe says of a link, at the link's place.
fn placed_keyframe(spec: &LinkSpec, q: &[f64], placement: &Placement) -> Vec<f64> {
    let in_world = spec.parent.is_none() && matches!(spec.kind, JointKind::Free | JointKind::Mocap);
    match in_world && placement.pose != Pose::identity() {
        true => free_configuration(&(placement.pose * spec.frame * spec.kind.pose(q))),
        false => q.to_vec(),
    }
}

/// The configuration of a free joint at a pose: position, quaternion w, x, y, z.
pub(crate) fn free_configuration(pose: &Pose) -> Vec<f64> {
    let (p, Quat { x, y, z, w }) = (pose.translation, pose.rotation.normalize());
    vec![p.x, p.y, p.z, w, x, y, z]
}
