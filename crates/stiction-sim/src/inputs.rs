//! What a program asks of a step from outside: controls of motors, forces, efforts and servos, in one array. It is the memory of a controller, so
//! that snapshots hold it, and recordings what it was before each step.

use stiction_body::math::Vec3;
use stiction_linalg::lanes::same_bits;

use crate::control::{Commands, Controller, Signal, View};
use crate::error::SceneError;
use crate::scene::{Scene, SceneController};
use crate::simulation::Simulation;

/// The parts of the array in their order, each with its size: of the motors, of the velocities, or six numbers per body.
pub const PARTS: [&str; 8] = ["ctrl", "force", "effort", "kp", "kd", "target", "target_velocity", "wrench"];

/// The number of the part with a force and a moment per body.
pub const WRENCH: usize = 7;

/// Where the parts are, and what may stand in them.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Motors of robot files that the scene has no signal for.
    pub motors: Vec<Motor>,
    /// Per velocity its place in q, if its joint has no other velocity.
    q_of: Vec<Option<usize>>,
    /// Per velocity the name of its joint, for messages.
    joint_of: Vec<String>,
    /// Names of the bodies.
    bodies: Vec<String>,
    /// Velocities of joints that the scene moves as told.
    prescribed: Vec<bool>,
}

/// A motor of a robot file.
#[derive(Debug, Clone)]
pub struct Motor {
    /// Its number in the world.
    pub actuator: usize,
    /// Its name.
    pub name: String,
    /// Its control at the start.
    pub control: f64,
}

impl Layout {
    /// Of a scene.
    pub fn new(scene: &Scene) -> Self {
        let model = &scene.world.model;
        let world = &scene.world;
        let driven = |i: usize| scene.controllers.iter().any(|c| drives(c, i, world.control[i]));
        let motor = |i: usize| Motor { actuator: i, name: world.actuators[i].name.clone(), control: world.control[i] };
        let motors = (0..world.actuators.len()).filter(|i| !driven(*i)).map(motor).collect();
        let (mut q_of, mut names) = (vec![None; model.nv()], vec![String::new(); model.nv()]);
        for link in model.links() {
            for k in link.v.clone() {
                q_of[k] = (link.v.len() == 1).then_some(link.q.start);
                names[k].clone_from(&link.spec.name);
            }
        }
        let bodies = model.links().iter().map(|link| link.spec.name.clone()).collect();
        let mut prescribed = vec![false; model.nv()];
        for controller in &scene.controllers {
            if let SceneController::Motion(motion) = controller {
                prescribed[motion.joint.v] = true;
            }
        }
        Self { motors, q_of, joint_of: names, bodies, prescribed }
    }

    /// What the array holds at the start of the scene.
    pub fn at_start(&self) -> Vec<f64> {
        let mut inputs = vec![0.0; self.len()];
        inputs.iter_mut().zip(&self.motors).for_each(|(x, motor)| *x = motor.control);
        inputs
    }

    /// The range of part `i` in the array.
    pub fn range(&self, part: usize) -> std::ops::Range<usize> {
        let (nu, nv) = (self.motors.len(), self.q_of.len());
        match part {
            0 => 0..nu,
            WRENCH => nu + (part - 1) * nv..nu + (part - 1) * nv + 6 * self.bodies.len(),
            _ => nu + (part - 1) * nv..nu + part * nv,
        }
    }

    /// Size of the array.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.range(PARTS.len() - 1).end
    }

    /// Inputs of a scene with other bodies, taken over for all motors, joints and bodies of the same name; the rest are as in `own`.
    pub fn carried(&self, own: &[f64], other: &Self, inputs: &[f64]) -> Vec<f64> {
        let mut out = own.to_vec();
        for (i, motor) in self.motors.iter().enumerate() {
            if let Some(j) = other.motors.iter().position(|m| m.name == motor.name) {
                out[i] = inputs[j];
            }
        }
        let mut first = 0;
        while first < self.joint_of.len() {
            let name = &self.joint_of[first];
            let size = self.joint_of[first..].iter().take_while(|n| *n == name).count();
            if let Some(from) = other.joint_of.iter().position(|n| n == name) {
                let same = other.joint_of[from..].iter().take_while(|n| *n == name).count() == size;
                for part in (1..WRENCH).filter(|_| same) {
                    let (to, at) = (self.range(part).start + first, other.range(part).start + from);
                    out[to..to + size].copy_from_slice(&inputs[at..at + size]);
                }
            }
            first += size;
        }
        for (i, name) in self.bodies.iter().enumerate() {
            if let Some(j) = other.bodies.iter().position(|n| n == name) {
                let (to, at) = (self.range(WRENCH).start + 6 * i, other.range(WRENCH).start + 6 * j);
                out[to..to + 6].copy_from_slice(&inputs[at..at + 6]);
            }
        }
        out
    }

    /// Says what is wrong with inputs, if anything is; parts that are as `before` were right. Both have [`Layout::len`] numbers.
    ///
    /// # Errors
    /// In words, with the place.
    pub fn check(&self, inputs: &[f64], before: &[f64]) -> Result<(), String> {
        for (part, name) in PARTS.into_iter().enumerate() {
            if same_bits(&inputs[self.range(part)], &before[self.range(part)]) {
                continue;
            }
            let gain = matches!(name, "kp" | "kd");
            let servo = gain || name == "effort";
            for (k, x) in inputs[self.range(part)].iter().enumerate().filter(|(_, x)| **x != 0.0) {
                if !x.is_finite() || gain && *x < 0.0 {
                    let range = if gain { "at least 0 and finite" } else { "finite" };
                    return Err(format!("{name}[{k}] is {x}; it must be {range}"));
                }
                if servo && self.prescribed[k] {
                    let joint = &self.joint_of[k];
                    return Err(format!(
                        "{name}[{k}] must be 0: the joint of \"{joint}\" moves as a controller of the scene (motion) says"
                    ));
                }
                if name == "kp" && *x > 0.0 && self.q_of[k].is_none() {
                    let joint = &self.joint_of[k];
                    return Err(format!(
                        "kp[{k}] must be 0: the joint of \"{joint}\" has several velocities, and servos act along one"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A simulation of the scene whose last controller takes these inputs.
    ///
    /// # Errors
    /// As [`Scene::simulation`].
    pub fn simulation(&self, scene: &Scene) -> Result<Simulation, SceneError> {
        let mut simulation = Simulation::new(scene.world.clone(), scene.settings.clone())?;
        for controller in scene.controllers.iter().filter(|c| !self.replaces(c)) {
            simulation.control(controller.build());
        }
        simulation.control(Box::new(Inputs::new(self.clone())));
        Ok(simulation)
    }

    /// The number of the controller that takes the inputs.
    pub fn controller(&self, scene: &Scene) -> usize {
        scene.controllers.iter().filter(|c| !self.replaces(c)).count()
    }

    /// True for the controllers that hold motors of robot files at the control of the start, which is what the inputs' controls begin with.
    fn replaces(&self, controller: &SceneController) -> bool {
        matches!(controller, SceneController::Actuator(a) if self.motors.iter().any(|m| m.actuator == a.actuator))
    }
}

/// True if the scene has a signal of its own for the motor.
fn drives(controller: &SceneController, actuator: usize, start: f64) -> bool {
    matches!(controller, SceneController::Actuator(a) if a.actuator == actuator && a.control != Signal::constant(start))
}

/// The controller that does what the array says.
struct Inputs {
    layout: Layout,
    values: Vec<f64>,
    /// Velocities with an input that is not zero: a step costs what is asked of it.
    asked: Vec<Asked>,
    /// Bodies that are pushed: their numbers, forces and moments about their origins.
    pushed: Vec<(usize, Vec3, Vec3)>,
}

/// What is asked of one velocity.
struct Asked {
    k: usize,
    force: f64,
    effort: f64,
    kp: f64,
    kd: f64,
    target: f64,
    target_velocity: f64,
}

impl Inputs {
    fn new(layout: Layout) -> Self {
        let values = layout.at_start();
        Self { layout, values, asked: vec![], pushed: vec![] }
    }
}

impl Controller for Inputs {
    fn command(&mut self, view: &View<'_>, commands: &mut Commands) {
        for (body, force, moment) in &self.pushed {
            commands.push(view, *body, view.work.pose[*body].translation, *force, *moment);
        }
        for (motor, x) in self.layout.motors.iter().zip(&self.values) {
            commands.control[motor.actuator] = *x;
        }
        for a in &self.asked {
            commands.force[a.k] += a.force;
            commands.effort[a.k] += a.effort;
            if a.kp > 0.0 || a.kd > 0.0 {
                commands.servo(a.k, a.kp, a.target, a.kd, a.target_velocity);
            }
        }
    }

    fn memory(&self) -> &[f64] {
        &self.values
    }

    /// States saved by earlier versions have no wrenches.
    fn takes_memory(&self, count: usize) -> bool {
        count == self.values.len() || count == self.layout.range(WRENCH).start
    }

    fn set_memory(&mut self, memory: &[f64]) {
        let controls = self.layout.motors.len();
        if same_bits(&self.values[controls..], &memory[controls..]) {
            return self.values[..controls].copy_from_slice(&memory[..controls]);
        }
        self.values.fill(0.0);
        self.values[..memory.len()].copy_from_slice(memory);
        let memory = &self.values;
        self.pushed.clear();
        let wrenches = memory[self.layout.range(WRENCH)].chunks_exact(6).enumerate();
        let pushed = wrenches.filter(|(_, w)| w.iter().any(|x| *x != 0.0));
        self.pushed.extend(pushed.map(|(body, w)| (body, Vec3::from_slice(w), Vec3::from_slice(&w[3..]))));
        self.asked.clear();
        let layout = &self.layout;
        let at = |part: usize, k: usize| memory[layout.range(part)][k];
        let all = (0..layout.q_of.len()).map(|k| Asked {
            k,
            force: at(1, k),
            effort: at(2, k),
            kp: at(3, k),
            kd: at(4, k),
            target: at(5, k),
            target_velocity: at(6, k),
        });
        self.asked.extend(all.filter(|a| [a.force, a.effort, a.kp, a.kd].iter().any(|x| *x != 0.0)));
    }
}
