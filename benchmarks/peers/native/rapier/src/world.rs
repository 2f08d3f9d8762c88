use rapier::prelude::*;

/// A world, and the bodies that move.
pub struct World {
    world: PhysicsWorld,
    moving: Vec<RigidBodyHandle>,
}

impl World {
    pub fn new(numbers: &[f64], bodies: &[Vec<f64>], accurate: bool) -> Self {
        let vector = |x: &[f64]| Vector::new(x[0] as Real, x[1] as Real, x[2] as Real);
        let mut world = PhysicsWorld::new();
        world.gravity = vector(&numbers[..3]);
        world.integration_parameters.dt = numbers[4] as Real;
        if accurate {
            let parameters = &mut world.integration_parameters;
            parameters.num_solver_iterations = 50;
            parameters.num_internal_pgs_iterations = 10;
            parameters.friction_model = FrictionModel::Coulomb;
            parameters.contact_softness = SpringCoefficients::new(1000.0, 1.0);
            parameters.static_contact_softness = SpringCoefficients::new(1000.0, 1.0);
            parameters.contact_recycling = false;
        }
        let mut moving = vec![];
        for b in bodies {
            let (size, mass, q) = (vector(&b[1..4]), b[4] as Real, &b[11..15]);
            // Its cylinders stand along y.
            let upright = Pose::from_parts(Vector::ZERO, Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2 as Real));
            let collider = match b[0] as usize {
                0 => ColliderBuilder::new(SharedShape::halfspace(Vector::Z)),
                1 => ColliderBuilder::cuboid(size.x, size.y, size.z),
                2 => ColliderBuilder::ball(size.x),
                3 => ColliderBuilder::capsule_z(size.y, size.x),
                _ => ColliderBuilder::cylinder(size.y, size.x).position(upright),
            };
            let collider = collider.friction(numbers[3] as Real).density(0.0);
            let turn = Rotation::from_xyzw(q[1] as Real, q[2] as Real, q[3] as Real, q[0] as Real);
            let pose = Pose::from_parts(vector(&b[8..11]), turn);
            if mass == 0.0 {
                world.insert(RigidBodyBuilder::fixed().pose(pose), collider);
                continue;
            }
            let inertia = MassProperties::new(Vector::ZERO, mass, vector(&b[5..8]));
            let mut body = RigidBodyBuilder::dynamic().pose(pose).linvel(vector(&b[15..18])).can_sleep(false);
            body = body.additional_mass_properties(inertia);
            if b[18] != 0.0 {
                let others = LockedAxes::TRANSLATION_LOCKED_Y | LockedAxes::TRANSLATION_LOCKED_Z | LockedAxes::ROTATION_LOCKED;
                body = body.locked_axes(others);
            }
            let (handle, _) = world.insert(body, collider);
            if b[18] != 0.0 {
                // Stays until it is reset.
                world.bodies[handle].add_force(Vector::new(b[19] as Real, 0.0, 0.0), true);
            }
            moving.push(handle);
        }
        Self { world, moving }
    }
}

impl super::Steps for World {
    fn step(&mut self) {
        self.world.step();
    }

    fn poses(&self) -> Vec<[f64; 7]> {
        let pose = |handle: &RigidBodyHandle| {
            let (t, q) = (self.world.bodies[*handle].translation(), self.world.bodies[*handle].rotation());
            [t.x, t.y, t.z, q.w, q.x, q.y, q.z].map(|x| x as f64)
        };
        self.moving.iter().map(pose).collect()
    }
}
