"""States of MuJoCo, problems of Pinocchio, and the logic of the ROS 2 node."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction

ROOT = Path(__file__).resolve().parents[2]
MODELS = {
    "free": "<body pos='0 0 1'><freejoint/><geom size='.1 .2 .3' type='box'/></body>",
    "ball": "<body pos='0 0 1'><joint type='ball'/><geom size='.1' pos='.3 0 0'/><body pos='.5 0 0'><joint type='ball'/><geom size='.1' pos='0 .2 0'/></body></body>",
    "floating arm": "<body pos='0 0 1'><freejoint/><geom size='.1'/><body pos='.2 0 0'><joint axis='0 1 0'/><geom size='.05' pos='.2 0 0'/>"
    "<body pos='.4 0 0'><joint type='ball'/><geom size='.05' pos='.1 0 0'/><body pos='.1 0 0'><joint type='slide' axis='1 0 0'/><geom size='.02'/></body></body></body></body>",
    "several joints": "<body><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint axis='0 0 1'/><geom size='.1'/></body>",
    "mocap": "<body name='hand' mocap='true' pos='2 0 1'><geom size='.1'/></body><body pos='0 0 1'><freejoint/><geom size='.1'/></body>",
}
ACTUATED = """<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><geom size='.1' pos='0 0 .3'/><body pos='0 0 .5'><joint name='b' axis='0 1 0'/><geom size='.1' pos='0 0 .3'/></body></body>
</worldbody><actuator><motor joint='a'/><general name='slow' joint='b' dyntype='filter' dynprm='.1'/><general joint='a' dyntype='integrator'/></actuator></mujoco>"""


def random_state(mujoco: Any, model: Any, seed: int) -> Any:
    data, random = mujoco.MjData(model), np.random.default_rng(seed)
    velocity = random.normal(size=model.nv)
    mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv), 1.0)
    data.qvel[:], data.act[:], data.ctrl[:] = velocity, random.normal(size=model.na), random.normal(size=model.nu)
    data.mocap_pos[:] = random.normal(size=(model.nmocap, 3))
    turns = random.normal(size=(model.nmocap, 4))
    data.mocap_quat[:] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize("name", MODELS)
def test_states_of_mujoco_and_back(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{MODELS[name]}</worldbody></mujoco>")
    for seed in range(5):
        data = random_state(mujoco, model, seed)
        simulation = stiction.from_mujoco(model, data)
        # The last link of each body is where MuJoCo has the body.
        places = {tuple(np.round(pose[:3], 9)): pose for pose in simulation.poses}
        velocities = {tuple(np.round(pose[:3], 9)): v for pose, v in zip(simulation.poses, simulation.body_velocities, strict=True)}
        for body in range(1, model.nbody):
            place = tuple(np.round(data.xpos[body], 9))
            assert place in places, (name, seed, body, list(places))
            if name != "several joints":
                same = abs(places[place][3:] @ data.xquat[body])
                assert abs(same - 1) < 1e-12
                moving = np.zeros(6)
                mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, moving, 0)
                np.testing.assert_allclose(velocities[place], [*moving[3:], *moving[:3]], atol=1e-12, err_msg=f"{name} {seed} {body}")
        other = mujoco.MjData(model)
        stiction.state_to_mujoco(simulation, model, other)
        for field in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            np.testing.assert_allclose(getattr(other, field), getattr(data, field), atol=1e-12, err_msg=field)


def test_activations_and_controls_of_mujoco(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    file.write_text(ACTUATED)
    model = mujoco.MjModel.from_xml_path(str(file))
    for seed in range(5):
        data = random_state(mujoco, model, seed)
        for simulation in (stiction.from_mujoco(model, data), stiction.from_mujoco(model, data, file=file)):
            np.testing.assert_array_equal(simulation.ctrl, data.ctrl)
            np.testing.assert_array_equal(simulation.act[1:], data.act)
            np.testing.assert_allclose(simulation.actuator_force, data.actuator_force, atol=1e-12)
            other = mujoco.MjData(model)
            stiction.state_to_mujoco(simulation, model, other)
            for field in ("qpos", "qvel", "act", "ctrl"):
                np.testing.assert_array_equal(getattr(other, field), getattr(data, field), err_msg=field)


def test_another_model_is_refused() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{MODELS['free']}</worldbody></mujoco>")
    with pytest.raises(stiction.InputError, match="the MuJoCo model nq 7"):
        stiction.state_from_mujoco(stiction.Simulation(ROOT / "examples/slider.xml"), model, mujoco.MjData(model))


def pinocchio_arm() -> tuple[Any, Any]:
    pinocchio = pytest.importorskip("pinocchio")
    return pinocchio, pinocchio.buildModelFromUrdf(str(ROOT / "examples/arm.urdf"))


def test_a_pinocchio_model_is_a_contact_problem_in_one_call() -> None:
    pinocchio, model = pinocchio_arm()
    q, v, dt = np.array([0.3, 0.9]), np.array([-0.5, -1.0]), 1e-3
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    center = data.oMf[model.getFrameId("lower")].act(np.array([0, 0, -0.4]))
    lowest = data.oMf[model.getFrameId("lower")].actInv(center - [0, 0, 0.05])
    problem = stiction.from_pinocchio(model, q, v, [stiction.FrameContact("lower", tuple(lowest), mu=0.5)], dt=dt)
    # The same arm in our own simulation.
    simulation = stiction.Simulation(ROOT / "examples/arm.urdf")
    simulation.q[:], simulation.v[:] = q, v
    np.testing.assert_allclose(problem.mass, simulation.mass_matrix(), atol=1e-14)
    np.testing.assert_allclose(problem.force, -simulation.inverse_dynamics(np.zeros(2)), atol=1e-12)
    point = simulation.body("lower").rotation.T @ (center - [0, 0, 0.05] - simulation.body("lower").position)
    rows = simulation.jacobian("lower", point)[:3]
    np.testing.assert_allclose(problem.N, rows[[2]], atol=1e-14)
    tangents = np.vstack([problem.S, problem.T])
    np.testing.assert_allclose(tangents.T @ tangents, rows[:2].T @ rows[:2], atol=1e-14)
    solved = stiction.contact.solve(problem).require()
    assert solved.normal[0] > 0 and abs(problem.N @ solved.motion)[0] < 1e-12 and solved.certificate.holds(1e-10)


def test_shapes_and_limits_of_pinocchio() -> None:
    pinocchio, model = pinocchio_arm()
    geometry = pinocchio.buildGeomFromUrdf(model, str(ROOT / "examples/arm.urdf"), pinocchio.GeometryType.COLLISION)
    coal = pytest.importorskip("coal")
    floor = pinocchio.GeometryObject("floor", 0, pinocchio.SE3(np.eye(3), np.array([0, 0, -0.5])), coal.Box(10, 10, 1))
    geometry.addGeometryObject(floor)
    geometry.addCollisionPair(pinocchio.CollisionPair(geometry.getGeometryId("floor"), 0))
    q, v = np.array([0.1, 0.0]), np.array([0.0, -1.0])
    far = stiction.from_pinocchio(model, q, v, geometry=geometry, dt=1e-3)
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    height = data.oMf[model.getFrameId("lower")].act(np.array([0, 0, -0.4]))[2] - 0.05
    assert far.contacts == int(height < 1e-3)
    near = stiction.from_pinocchio(model, q, v, geometry=geometry, margin=1.0)
    assert near.contacts == 1 and abs(near.gap[0] - height) < 1e-6
    np.testing.assert_allclose(near.N, stiction.from_pinocchio(model, q, v, [stiction.FrameContact("lower", (0, 0, -0.4))]).N, atol=0.06)
    # The elbow is at its lower limit, 0, and moves on.
    assert stiction.contact.solve(far).require().motion[1] >= -1e-12
    assert stiction.contact.solve(stiction.from_pinocchio(model, q, v, limits=False)).require().motion[1] < -0.5


def test_what_pinocchio_models_do_not_have_is_said() -> None:
    _, model = pinocchio_arm()
    with pytest.raises(stiction.InputError, match=r"q must have shape \(2,\)"):
        stiction.from_pinocchio(model, [0.0], [0.0, 0.0])
    with pytest.raises(stiction.InputError, match="no frame 'hand'; it has .*lower"):
        stiction.from_pinocchio(model, [0, 0], [0, 0], [stiction.FrameContact("hand")])
    with pytest.raises(stiction.InputError, match="the normal must be"):
        stiction.from_pinocchio(model, [0, 0], [0, 0], [stiction.FrameContact("lower", normal=(0, 0, 0))])


def node() -> Any:
    spec = importlib.util.spec_from_file_location("stiction_node", ROOT / "examples/ros2/stiction_node.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["stiction_node"] = module
    spec.loader.exec_module(module)
    return module


def test_the_node_follows_commands_and_says_where_joints_are() -> None:
    module = node()
    robot = module.Robot((ROOT / "examples/arm.urdf").read_text())
    assert robot.names == ["shoulder", "elbow"]
    robot.command(["elbow", "shoulder"], position=[0.5, 0.2])
    for _ in range(200):
        robot.advance(0.01)
    state = robot.state()
    assert state.name == ["shoulder", "elbow"] and abs(state.t - 2.0) < 1e-9
    assert abs(state.position[0] - 0.2) < 0.1 and abs(state.position[1] - 0.5) < 0.1 and max(map(abs, state.velocity)) < 1e-2
    robot.command(["elbow"], effort=[3.0])
    robot.advance(0.002)
    assert robot.state().effort[1] == 3.0 and robot.state().effort[0] != 0.0
    for arguments, message in [((["wrist"],), "no joint 'wrist'"), ((["elbow"], [1.0, 2.0]), "position has 2 numbers for 1")]:
        with pytest.raises(ValueError, match=message):
            robot.command(*arguments)


def test_the_node_s_robot_falls_to_its_floor_and_its_times() -> None:
    module = node()
    robot = module.Robot((ROOT / "examples/arm.urdf").read_text(), floor=True, height=0.5)
    before = robot.simulation.center_of_mass()[2]
    robot.advance(0.2)
    assert robot.simulation.center_of_mass()[2] < before and robot.names == ["shoulder", "elbow"]
    assert module.stamp(1.25) == (1, 250_000_000) and module.stamp(0.0) == (0, 0)
