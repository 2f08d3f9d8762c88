"""Scenes: from files, from text, from Python."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.scene import box, capsule, cylinder, hull, sphere

ROOT = Path(__file__).resolve().parents[2]

URDF = """<robot name="arm">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="50" velocity="10"/></joint>
</robot>"""

MJCF = """<mujoco model="slider">
  <option timestep="0.002" gravity="0 0 -1"/>
  <worldbody><body name="cart"><joint name="rail" type="slide" axis="1 0 0"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body></worldbody>
  <actuator><motor name="push" joint="rail" gear="2" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>"""


def test_what_a_scene_says(scenes: Path) -> None:
    scene = stiction.Scene.load(scenes / "grasp.toml", n=3)
    assert scene.bodies[:3] == ["block1", "block2", "block3"] and len(scene.bodies) == 5
    assert scene.parameters["n"] == 3 and scene.model == "coulomb-cone" and scene.dt == 0.001
    assert (scene.nq, scene.nv) == (23, 20) and scene.v_slice("gripper1") == slice(18, 19, 1)
    assert scene.body("gripper2") == 4 and scene.gravity == (0, 0, -9.81)


def test_settings_and_parameters_can_be_changed(scenes: Path) -> None:
    scene = stiction.Scene.load(scenes / "grasp.toml")
    other = scene.with_settings(dt=0.002, model="no-slip").with_parameters(n=4).with_settings(duration=1.0)
    assert (other.dt, other.model, other.steps, len(other.bodies)) == (0.002, "no-slip", 500, 6)
    assert (scene.dt, scene.model, len(scene.bodies)) == (0.001, "coulomb-cone", 4)
    assert stiction.Simulation(other).run(20)
    events = scene.with_settings(simulator="event-driven", on_failure="fallback")
    assert (events.simulator, events.on_failure) == ("event-driven", "fallback") and stiction.Simulation(events).run(5)


def test_threads_and_sleep_change_no_result(scenes: Path) -> None:
    scene, states = stiction.Scene.load(scenes / "stacks.toml", n=20), set()
    for other in (scene, scene.with_settings(threads=1), scene.with_settings(threads=3), scene.with_settings(sleeping=False)):
        simulation = stiction.Simulation(pickle.loads(pickle.dumps(other)))
        assert simulation.run(30)
        states.add(simulation.q.tobytes() + simulation.v.tobytes())
    assert len(states) == 1
    with pytest.raises(stiction.InputError, match="threads"):
        scene.with_settings(threads=0)


def test_built_in_code() -> None:
    builder = stiction.SceneBuilder("shapes", dt=0.01).parameters(mu=0.3).material(friction="= mu").ground()
    builder.body("a", mass=1.0, shape=sphere(0.1), position=np.array([0.0, 0, 1]))
    builder.body("b", mass=1, shape=capsule(0.1, 0.2), position=(1, 0, 1))
    builder.body("c", density=100.0, shape=cylinder(0.1, 0.2), position=[2, 0, 1])
    builder.body("d", mass=1.0, shape=hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), position=[4, 0, 1])
    builder.body("e", mass=1.0, shape=box(1, 1, "= mu"), position=[0, 0, 2], joint="spherical").pair("a", "b", collide=False)
    builder.body("f", mass=1.0, shape=box(1, 1, 1), position=[9, 0, 3], joint={"type": "revolute", "axis": [0, 1, 0]}).effort("f", "= sin(t)")
    builder.wrench("a", force=[1.0, 0.0, "= t"])
    scene = builder.build()
    assert scene.bodies == ["a", "b", "c", "d", "e", "f"] and scene.parameters == {"mu": 0.3}
    simulation = stiction.Simulation(scene)
    assert simulation.run(10) and simulation.v[scene.v_slice("a")][0] > 0.09


FLOOR = "[[bodies]]\nname = 'floor'\nfixed = true\nshape = { plane = true }"


@pytest.mark.parametrize(
    ("make", "message", "element"),
    [
        (lambda: stiction.SceneBuilder().body("x", mass=-1.0, shape=sphere(0.1)).build(), "mass", "mass"),
        (lambda: stiction.SceneBuilder().body("x", mass=1.0, frixtion=0.1, shape=sphere(0.1)).build(), 'did you mean "friction"', "frixtion"),
        (lambda: stiction.SceneBuilder(dt=0.0).build(), "dt.*must be above 0", "dt"),
        (lambda: stiction.SceneBuilder().ground().effort("knee", 1.0).build(), "knee", "joint"),
        (lambda: stiction.Scene.parse('dt = "soon"'), "1:6: dt", "dt"),
        (lambda: stiction.Scene.parse(FLOOR).with_settings(model="glue"), "glue", "model"),
        (lambda: stiction.Scene.parse(FLOOR).with_settings(simulator="magic"), '"time-stepping" or "event-driven", found "magic"', "simulator"),
        (lambda: stiction.Scene.parse("dt = 0.1", x=1.0), 'no parameter "x"', "parameters"),
    ],
)
def test_errors_name_the_key(make, message: str, element: str) -> None:
    with pytest.raises(stiction.SceneError, match=message) as error:
        make()
    assert element in error.value.element


def test_errors_of_files_have_their_place(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text("title = 'x'\n[[bodies]]\nname = 'a'\nmass = -1\nshape = { sphere = 1 }\n")
    with pytest.raises(stiction.SceneError) as error:
        stiction.Scene.load(file)
    assert error.value.file == str(file) and error.value.line == 4
    assert str(error.value).startswith(f"{file}:4:")
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.line, again.element) == (str(error.value), 4, error.value.element)


def test_values_that_are_none() -> None:
    with pytest.raises(stiction.InputError, match=r"bodies\[0\].mass: a scene holds numbers, text, .* found object"):
        stiction.Scene.from_dict({"bodies": [{"name": "a", "mass": object()}]})


def test_robot_files(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "slider.xml").write_text(MJCF)
    arm = stiction.Scene.load(tmp_path / "arm.urdf")
    assert "rod" in arm.bodies and arm.nv == 1 and arm.q_slice("hinge") == slice(0, 1, 1)
    slider = stiction.Scene.load(tmp_path / "slider.xml")
    assert slider.dt == 0.002 and slider.gravity == (0, 0, -1) and slider.actuators == ["push"]
    simulation = stiction.Simulation(slider)
    assert simulation.actuators == ["push"] and simulation.ctrl.shape == (1,)
    simulation.ctrl[0] = 5.0  # beyond its range of 1
    simulation.run(500)
    np.testing.assert_allclose(simulation.v[0], 2.0, rtol=1e-9)
    joined = stiction.SceneBuilder(directory=tmp_path).robot("r", "slider.xml", position=[0, 0, 1]).build()
    assert joined.actuators == ["r/push"]
    with pytest.raises(stiction.SceneError, match="robot file has none"):
        stiction.Scene.load(tmp_path / "arm.urdf", mu=1.0)


def test_scenes_pickle(scenes: Path, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    built = stiction.SceneBuilder("b").body("a", mass=1.0, shape=sphere(0.1)).build()
    for scene in (stiction.Scene.load(scenes / "grasp.toml", n=5).with_settings(dt=0.005), built, stiction.Scene.load(tmp_path / "arm.urdf")):
        again = pickle.loads(pickle.dumps(scene))
        assert repr(again) == repr(scene) and again.bodies == scene.bodies and again.parameters == scene.parameters


def test_html(scenes: Path) -> None:
    scene = stiction.Scene.load(scenes / "grasp.toml")
    simulation = stiction.Simulation(scene)
    report = simulation.step()
    for value in (scene, simulation, report, simulation.run(2), stiction.record(simulation, 2), stiction.BatchSimulation(scene, 2),
                  stiction.lcp.solve([[1.0]], [-1.0]), stiction.lcp.solve([[0.0]], [-1.0]), stiction.contact.solve(simulation.problem())):
        text = value._repr_html_()
        assert "<table>" in text and text.count("<tr>") >= 2
    assert "&lt;b&gt;" in stiction.SceneBuilder("<b>").body("a", mass=1.0, shape=sphere(1.0)).build()._repr_html_()


def test_what_a_scene_is_made_of() -> None:
    scene = stiction.Scene.load(ROOT / "examples" / "slider.xml")
    assert scene.joint_types == ["free", "prismatic"] and scene.parents.tolist() == [-1, 0]
    assert scene.geom_bodies.tolist() == [-1, 0, 1] and [g.name for g in scene.geoms] == ["ground", "cart", "weight"]
    assert scene.joint_limits.shape == (7, 2) and scene.joint_limits[6].tolist() == [-0.1, 0.1]
    assert np.isinf(scene.joint_limits[:6]).all() and np.isinf(scene.effort_limits).all()
    assert scene.ctrl_limits.tolist() == [[-10.0, 10.0]] and scene.actuators == ["lift"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s: s.with_settings(model=3), TypeError, "model must be a name or a stiction.contact.Model, found int"),
        (lambda s: s.with_settings(model="no-slipp"), stiction.SceneError, "no-slip"),
        (lambda s: s.with_settings(timestep=1.0), TypeError, "unexpected keyword argument 'timestep'"),
        (lambda s: s.with_parameters(lift="high"), TypeError, "parameter lift must be a number, found str"),
        (lambda s: s.body(-1), stiction.InputError, "there is no body -1; there are 2"),
        (lambda s: s.body(1.5), TypeError, "body must be a name or a number, found float"),
        (lambda s: s.q_slice("lfit"), stiction.InputError, 'there is no joint called "lfit"; did you mean "lift"'),
    ],
)
def test_messages_about_wrong_arguments(change, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        change(stiction.Scene.load(ROOT / "examples" / "slider.xml"))


def test_a_model_may_be_given_as_an_object() -> None:
    scene = stiction.Scene.load(ROOT / "examples" / "slider.xml")
    assert scene.with_settings(model=stiction.contact.NoSlip()).model == "no-slip"


def test_gravity_friction_and_solver_are_settings() -> None:
    scene = stiction.scene.shipped("slide")
    other = scene.with_settings(gravity=[0.0, 1.0, -2.0], friction=0.125, model="coulomb-polyhedral", solver="standard")
    assert other.gravity == (0.0, 1.0, -2.0) and {g.friction for g in other.geoms} == {0.125} and other.solver == "standard"
    again = pickle.loads(pickle.dumps(other))
    assert again.gravity == other.gravity and again.geoms[0].friction == 0.125 and again.solver == "standard"
    assert other.with_settings(model="coulomb-polyhedral").solver is None and scene.gravity == (0.0, 0.0, -9.81)
    simulation = stiction.Simulation(other)
    simulation.run(5)
    assert {float(c["mu"]) for c in simulation.contacts} == {0.125}
    for wrong, message in [({"gravity": [0, 0, float("nan")]}, "gravity"), ({"friction": -1.0}, "mu"), ({"solver": "no"}, "solver")]:
        with pytest.raises(stiction.SceneError, match=message):
            scene.with_settings(**wrong)


def test_a_simulation_goes_on_in_another_scene() -> None:
    scene = stiction.scene.shipped("slide")
    simulation = stiction.Simulation(scene)
    simulation.run(50)
    same, moon = simulation.with_scene(scene), simulation.with_scene(scene.with_settings(gravity=[0, 0, -1.62]))
    assert same.hash == simulation.hash == moon.hash and same.t == simulation.t
    for each in (simulation, same, moon):
        each.run(50)
    assert same.hash == simulation.hash != moon.hash and moon.v[0] > simulation.v[0]
    with pytest.raises(stiction.SceneError, match="saved state"):
        simulation.with_scene(stiction.scene.shipped("grasp"))
    with pytest.raises(stiction.InputError, match="there is no scene 'grap'; there are"):
        stiction.scene.shipped("grap")


def test_static_friction_without_effect_is_warned_of() -> None:
    body = {"name": "cube", "mass": 1.0, "shape": {"box": [0.5, 0.5, 0.5]}}
    with_static = {"model": "no-slip", "material": {"friction": 0.3, "static_friction": 0.5}, "bodies": [body]}
    with pytest.warns(stiction.StictionWarning, match="static_friction: has no effect under the model no-slip"):
        scene = stiction.Scene.from_dict(with_static)
    (note,) = [note for note in scene.notes if note[0] == "model"]
    assert note[1:3] == ("warning", "static_friction")
    for other in ({**with_static, "model": "coulomb-cone"}, {**with_static, "material": {"friction": 0.3}}):
        assert not [note for note in stiction.Scene.from_dict(other).notes if note[0] == "model"]
