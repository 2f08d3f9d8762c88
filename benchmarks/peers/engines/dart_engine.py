"""DART: Dantzig's algorithm on the boxed LCP of all contacts."""

import importlib.metadata

import dartpy as dart
import numpy as np

VERSION = importlib.metadata.version("dartpy")
WHAT = "velocity-level friction pyramid as a boxed LCP by Dantzig's algorithm, O(n³) in the contacts"
SETTINGS = {"default": ""}


class Engine:
    """The scene in a world of its own."""

    def __init__(self, scene, setting):
        self.world = dart.simulation.World()
        self.world.setTimeStep(scene.dt)
        self.world.setGravity(scene.gravity)
        self.bodies, self.slides = [], []
        for k, body in enumerate(scene.bodies):
            skeleton = dart.dynamics.Skeleton(f"body{k}")
            if body.mass == 0.0:
                joint, node = skeleton.createWeldJointAndBodyNodePair()
                joint.setTransformFromParentBodyNode(self._frame(body))
            elif body.slides:
                joint, node = skeleton.createPrismaticJointAndBodyNodePair()
                joint.setAxis([1, 0, 0])
                joint.setTransformFromParentBodyNode(self._frame(body))
                self.slides.append((skeleton, body.force))
            else:
                joint, node = skeleton.createFreeJointAndBodyNodePair()
                joint.setTransform(self._frame(body))
                joint.setLinearVelocity(body.velocity)
            shape = node.createShapeNode(self._shape(body))
            shape.createCollisionAspect()
            shape.createDynamicsAspect().setFrictionCoeff(scene.friction)
            if body.mass:
                x, y, z = body.inertia()
                node.setInertia(dart.dynamics.Inertia(body.mass, [0, 0, 0], np.diag([x, y, z])))
                self.bodies.append(node)
            self.world.addSkeleton(skeleton)

    @staticmethod
    def _frame(body):
        frame = dart.math.Isometry3()
        frame.set_translation(body.position)
        frame.set_quaternion(dart.math.Quaternion(*body.quaternion))
        return frame

    @staticmethod
    def _shape(body):
        d = dart.dynamics
        if body.shape == "plane":
            return d.PlaneShape([0, 0, 1], 0.0)
        if body.shape == "box":
            return d.BoxShape([2 * s for s in body.size])
        if body.shape == "sphere":
            return d.SphereShape(body.size[0])
        kind = d.CapsuleShape if body.shape == "capsule" else d.CylinderShape
        return kind(body.size[0], 2 * body.size[1])

    def step(self, count):
        for _ in range(count):
            for skeleton, force in self.slides:
                skeleton.setForces([force])
            self.world.step()

    def poses(self):
        out = []
        for node in self.bodies:
            frame = node.getWorldTransform()
            q = frame.quaternion()
            out.append([*np.ravel(frame.translation()), q.w(), q.x(), q.y(), q.z()])
        return np.array(out)

    def certificate(self):
        return None


build = Engine
