"""Drake: compliant point contact, or hydroelastic contact of pressure fields."""

import importlib.metadata

import numpy as np
from pydrake.geometry import AddCompliantHydroelasticProperties, AddContactMaterial, AddRigidHydroelasticProperties, Box, Capsule, Cylinder, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction
from pydrake.multibody.tree import PrismaticJoint, SpatialInertia, UnitInertia
from pydrake.multibody.math import SpatialVelocity
from pydrake.common.eigen_geometry import Quaternion
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

VERSION = importlib.metadata.version("drake")
WHAT = "compliant contact, one point per pair by default; hydroelastic pressure fields as the accurate setting"
SETTINGS = {"default": "point", "accurate": "hydroelastic"}
MODULUS = 1e9  # Pa, hydroelastic


class Engine:
    """The scene in a plant of its own."""

    def __init__(self, scene, setting):
        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlantSceneGraph(builder, scene.dt)
        hydroelastic = setting == "accurate"
        plant.set_contact_model(ContactModel.kHydroelasticWithFallback if hydroelastic else ContactModel.kPoint)
        plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
        self.nodes, actuators, starts = [], [], []
        for k, body in enumerate(scene.bodies):
            properties = ProximityProperties()
            AddContactMaterial(friction=CoulombFriction(scene.friction, scene.friction), properties=properties)
            frame = RigidTransform(Quaternion(np.array(body.quaternion)), body.position)
            shape = self._shape(body)
            if hydroelastic:
                if body.size:
                    AddCompliantHydroelasticProperties(min(body.size) / 2, MODULUS, properties)
                else:
                    AddRigidHydroelasticProperties(properties)
            if body.mass == 0.0:
                plant.RegisterCollisionGeometry(plant.world_body(), frame, shape, f"body{k}", properties)
                continue
            x, y, z = (i / body.mass for i in body.inertia())
            node = plant.AddRigidBody(f"body{k}", SpatialInertia(body.mass, [0, 0, 0], UnitInertia(x, y, z)))
            plant.RegisterCollisionGeometry(node, RigidTransform(), shape, f"body{k}", properties)
            self.nodes.append(node)
            if body.slides:
                joint = plant.AddJoint(PrismaticJoint(f"slide{k}", plant.world_frame(), node.body_frame(), [1, 0, 0]))
                actuators.append((plant.AddJointActuator(f"motor{k}", joint), body.force))
                starts.append((joint, body, None))
            else:
                starts.append((None, body, node))
        plant.Finalize()
        diagram = builder.Build()
        self.simulator = Simulator(diagram)
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        for joint, body, node in starts:
            if joint is not None:
                joint.set_translation(self.context, body.position[0])
            else:
                plant.SetFreeBodyPose(self.context, node, RigidTransform(Quaternion(np.array(body.quaternion)), body.position))
                plant.SetFreeBodySpatialVelocity(self.context, node, SpatialVelocity(np.zeros(3), np.array(body.velocity)))
        if actuators:
            plant.get_actuation_input_port().FixValue(self.context, np.array([force for _, force in actuators]))
        self.plant, self.dt, self.made = plant, scene.dt, 0
        self.simulator.Initialize()

    @staticmethod
    def _shape(body):
        if body.shape == "plane":
            return HalfSpace()
        if body.shape == "box":
            return Box(*(2 * s for s in body.size))
        if body.shape == "sphere":
            return Sphere(body.size[0])
        return (Capsule if body.shape == "capsule" else Cylinder)(body.size[0], 2 * body.size[1])

    def step(self, count):
        self.made += count
        self.simulator.AdvanceTo(self.made * self.dt)

    def poses(self):
        out = []
        for node in self.nodes:
            pose = self.plant.EvalBodyPoseInWorld(self.context, node)
            out.append([*pose.translation(), *pose.rotation().ToQuaternion().wxyz()])
        return np.array(out)

    def certificate(self):
        return None


build = Engine
