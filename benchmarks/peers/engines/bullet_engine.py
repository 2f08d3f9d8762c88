"""Bullet, through PyBullet: sequential impulses, or Dantzig's algorithm on the boxed LCP."""

import importlib.metadata

import numpy as np
import pybullet as p

VERSION = importlib.metadata.version("pybullet")
WHAT = "velocity-level friction pyramid by 50 sweeps of sequential impulses; coefficients above 10 are cut to 10"
SETTINGS = {"default": "sequential impulses", "accurate": "Dantzig"}


class Engine:
    """The scene in a world of its own."""

    def __init__(self, scene, setting):
        self.client = p.connect(p.DIRECT)
        c = {"physicsClientId": self.client}
        p.setGravity(*scene.gravity, **c)
        p.setTimeStep(scene.dt, **c)
        if setting == "accurate":
            p.setPhysicsEngineParameter(constraintSolverType=p.CONSTRAINT_SOLVER_LCP_DANTZIG, globalCFM=1e-9, **c)
        self.bodies, self.slides = [], []
        for body in scene.bodies:
            shape = self._shape(body, c)
            x, y, z, w = *body.quaternion[1:], body.quaternion[0]
            if body.slides:
                # A fixed base, and a link that slides along x.
                made = p.createMultiBody(
                    0, -1, -1, body.position, (0, 0, 0, 1), linkMasses=[body.mass], linkCollisionShapeIndices=[shape], linkVisualShapeIndices=[-1],
                    linkPositions=[(0, 0, 0)], linkOrientations=[(x, y, z, w)], linkInertialFramePositions=[(0, 0, 0)],
                    linkInertialFrameOrientations=[(0, 0, 0, 1)], linkParentIndices=[0], linkJointTypes=[p.JOINT_PRISMATIC], linkJointAxis=[(1, 0, 0)], **c,
                )
                p.setJointMotorControl2(made, 0, p.VELOCITY_CONTROL, force=0, **c)
                self.slides.append((made, body.force))
            else:
                made = p.createMultiBody(body.mass, shape, -1, body.position, (x, y, z, w), **c)
            link = 0 if body.slides else -1
            # Coefficients of a pair are multiplied.
            p.changeDynamics(made, link, lateralFriction=scene.friction**0.5, linearDamping=0, angularDamping=0, jointDamping=0, **c)
            if body.mass:
                p.changeDynamics(made, link, localInertiaDiagonal=body.inertia(), **c)
                if any(body.velocity):
                    p.resetBaseVelocity(made, body.velocity, (0, 0, 0), **c)
                self.bodies.append((made, link))

    @staticmethod
    def _shape(body, c):
        if body.shape == "plane":
            return p.createCollisionShape(p.GEOM_PLANE, planeNormal=(0, 0, 1), **c)
        if body.shape == "box":
            return p.createCollisionShape(p.GEOM_BOX, halfExtents=body.size, **c)
        if body.shape == "sphere":
            return p.createCollisionShape(p.GEOM_SPHERE, radius=body.size[0], **c)
        kind = p.GEOM_CAPSULE if body.shape == "capsule" else p.GEOM_CYLINDER
        return p.createCollisionShape(kind, radius=body.size[0], height=2 * body.size[1], **c)

    def step(self, count):
        for _ in range(count):
            for body, force in self.slides:
                p.setJointMotorControl2(body, 0, p.TORQUE_CONTROL, force=force, physicsClientId=self.client)
            p.stepSimulation(physicsClientId=self.client)

    def poses(self):
        out = []
        for body, link in self.bodies:
            if link < 0:
                at, q = p.getBasePositionAndOrientation(body, physicsClientId=self.client)
            else:
                at, q = p.getLinkState(body, link, computeForwardKinematics=1, physicsClientId=self.client)[:2]
            out.append([*at, q[3], *q[:3]])
        return np.array(out)

    def certificate(self):
        return None

    def close(self):
        p.disconnect(self.client)


build = Engine
