//! Bodies that are carried: what sticks to a link of an arm, to a turntable, or to a body that does.
//!
//! Symplectic Euler moves a joint along its velocity, and with it the links along arcs; a body on a free joint goes along its velocity too, which is a
//! straight line. At the end of a step the two differ by Δt²/2 J̇v, although they had the same velocity all the time: a box in a gripper that turns
//! with ω at a distance r would creep outwards by ω² r Δt/2 in every second, and a box on a turntable too. So a body that sticks is moved by
//! the difference: as much farther than its velocity takes it as its carrier, extended to the body's place, went farther than its own velocity. Then
//! what sticks keeps its place to rounding.

use stiction_body::math::{Pose, axis_angle, rotation_vector};
use stiction_body::model::Tree;
use stiction_body::{LinkMotion, Model, Workspace};
use stiction_contact::Mode;

use crate::simulation::Memory;
use crate::world::World;

/// Ways and turns that are rounding, relative to the places they are computed from and to a radian.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What the present step carries. Keeps its storage.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carried {
    /// Links that stick to each other, and the impulse that presses them together (N s); `None` is the world.
    pairs: Vec<([Option<usize>; 2], f64)>,
    /// Of each link at the start of the step, and its motion over it.
    poses: Vec<Pose>,
    motions: Vec<LinkMotion>,
    /// What each tree was moved by, once that is known, and `Some(None)` if it was not.
    moved: Vec<Option<Option<Pose>>>,
    /// What is found to hold each tree in this round, with its impulse.
    supports: Vec<Option<(Option<usize>, f64)>>,
}

impl Carried {
    /// Looks, before the step is taken, which contacts stick, and how links would move under the velocities `v` after it.
    /// Those without friction hold nothing.
    pub(crate) fn begin(
        &mut self,
        world: &World,
        work: &Workspace,
        memory: &Memory,
        v: &[f64],
        has_friction: impl Fn(usize) -> bool,
    ) {
        self.pairs.clear();
        let model = &world.model;
        let trees = model.trees();
        if !trees.iter().any(|tree| tree.floating.is_some()) || !trees.iter().any(carries) {
            return;
        }
        let contacts = memory.keys.iter().zip(&memory.start.modes).zip(&memory.start.forces.normal);
        for (i, ((key, mode), normal)) in contacts.enumerate() {
            if *mode != Mode::Stick || *normal <= 0.0 || !has_friction(i) {
                continue;
            }
            let moves = |link: &usize| !trees[model.links()[*link].tree].v.is_empty();
            let links = key.geoms.map(|geom| world.geoms[geom as usize].link.filter(moves));
            match self.pairs.last_mut() {
                Some((last, sum)) if *last == links => *sum += normal,
                _ if tree_of(model, links[0]) != tree_of(model, links[1]) => self.pairs.push((links, *normal)),
                _ => {}
            }
        }
        if !self.pairs.iter().any(|(links, _)| links.iter().all(Option::is_some)) {
            self.pairs.clear();
            return;
        }
        work.link_velocities(model, v, &mut self.motions);
        let turns = |link: usize| carries(&trees[model.links()[link].tree]) && self.motions[link] != LinkMotion::ZERO;
        if self.pairs.iter().flat_map(|(links, _)| links.iter().flatten()).any(|link| turns(*link)) {
            self.poses.clone_from(&work.pose);
        } else {
            self.pairs.clear();
        }
    }

    /// Moves what is carried, after a step of length `dt`; positions must be up to date. True if anything was moved.
    pub(crate) fn finish(&mut self, world: &World, work: &Workspace, q: &mut [f64], dt: f64) -> bool {
        if self.pairs.is_empty() {
            return false;
        }
        let model = &world.model;
        self.moved.clear();
        self.moved.extend(model.trees().iter().map(|tree| tree.floating.is_none().then_some(None)));
        while self.find_supports(model) {
            for t in 0..self.supports.len() {
                if let Some((support, _)) = self.supports[t] {
                    self.moved[t] = Some(support.and_then(|link| self.carry(model, work, t, link, q, dt)));
                }
            }
        }
        self.pairs.clear();
        self.moved.iter().flatten().any(Option::is_some)
    }

    /// The link, or the world, by which each tree is held most among those whose motion is known. Where there is none, the first robot on a free
    /// joint is held by nothing. False if all is known.
    fn find_supports(&mut self, model: &Model) -> bool {
        self.supports.clear();
        self.supports.resize(model.trees().len(), None);
        for (links, impulse) in &self.pairs {
            let trees = links.map(|link| tree_of(model, link));
            for (t, other, support) in [(trees[0], trees[1], links[1]), (trees[1], trees[0], links[0])] {
                let Some(t) = t.filter(|t| self.moved[*t].is_none()) else { continue };
                let is_known = other.is_none_or(|other| self.moved[other].is_some());
                if is_known && self.supports[t].is_none_or(|(_, most)| *impulse > most) {
                    self.supports[t] = Some((support, *impulse));
                }
            }
        }
        if self.supports.iter().all(Option::is_none) {
            let trees = self.pairs.iter().flat_map(|(links, _)| links.map(|link| tree_of(model, link)));
            let robot = trees.flatten().find(|t| self.moved[*t].is_none() && carries(&model.trees()[*t]));
            let Some(robot) = robot else { return false };
            self.supports[robot] = Some((None, 0.0));
        }
        true
    }

    /// Moves tree `t` with link `on`; what it is moved by, in the world.
    fn carry(&self, model: &Model, work: &Workspace, t: usize, on: usize, q: &mut [f64], dt: f64) -> Option<Pose> {
        let root = model.trees()[t].floating?;
        let (before, motion) = (self.poses[on], self.motions[on]);
        let moved = self.moved[model.links()[on].tree].flatten();
        if motion == LinkMotion::ZERO && moved.is_none() {
            return None;
        }
        let after = moved.map_or(work.pose[on], |moved| moved * work.pose[on]);
        let turned = after.rotation * before.rotation.inverse();
        let (origin, arm) = (self.poses[root].translation, self.poses[root].translation - before.translation);
        let went = (after.translation - before.translation) + (turned * arm - arm);
        let by = went - (motion.linear + motion.angular.cross(arm)) * dt;
        let turn = rotation_vector(turned * axis_angle(motion.angular * dt).inverse());
        let reach = origin.length() + before.translation.length();
        if by.length() <= ROUNDING * reach && turn.length() <= ROUNDING {
            return None;
        }
        work.displace(model, root, by, turn, q);
        let (about, rotation) = (work.pose[root].translation, axis_angle(turn));
        Some(Pose::from_parts(about + by - rotation * about, rotation))
    }
}

/// True if links of the tree move on arcs: it has other joints than one free joint.
fn carries(tree: &Tree) -> bool {
    !tree.v.is_empty() && (tree.floating.is_none() || tree.v.len() > 6)
}

fn tree_of(model: &Model, link: Option<usize>) -> Option<usize> {
    link.map(|link| model.links()[link].tree)
}
