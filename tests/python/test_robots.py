"""Actuators, tendons, sensors, keyframes and ambient forces of MJCF files, beside MuJoCo's numbers where that is installed."""

from __future__ import annotations

import pathlib
import pickle
import sys
import warnings

import numpy as np
import pytest

import stiction

BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"

BODIES = """<worldbody><site name="w0" pos="0 0 1.5"/><site name="w1" pos=".3 .1 1.2"/>
 <body name="a" pos="0 0 1" GA><joint name="x" axis="0 1 0" range="-90 90" JX/><geom type="capsule" size=".05" fromto="0 0 0 .3 0 0" mass="1"/>
  <site name="sa" pos=".1 0 .06" euler="10 20 30"/>
  <geom name="cylinder" type="cylinder" size=".06 .1" pos=".3 0 0" euler="90 0 0" contype="0" conaffinity="0" mass="0"/>
  <body name="b" pos=".3 0 0"><joint name="y" axis="0 1 0" stiffness="3" springref="20" damping=".3"/><joint name="z" axis="0 0 1" pos="0 .01 0"/>
   <geom type="capsule" size=".04" fromto="0 0 0 .3 0 0" mass=".7"/><site name="sb" pos=".2 .05 .08" euler="40 0 10"/><site name="sc" pos=".25 0 -.07"/>
   <site name="above" pos=".15 0 .3"/><site name="below" pos=".15 .05 -.2"/><site name="within" pos=".15 .01 0"/>
   <geom name="sphere" size=".07" pos=".15 0 0" contype="0" conaffinity="0" mass="0"/></body></body>
 <body name="f" pos="1 0 1"><freejoint name="free"/><geom type="box" size=".1 .07 .05" mass="2"/><site name="sf" pos=".1 .02 0" euler="30 10 0"/></body>
 <body name="q" pos="-1 0 1"><joint name="ball" type="ball" stiffness="3" damping=".2"/><geom type="box" size=".1 .07 .05" pos="0 0 -.2" mass="1.5"/></body>
 <body name="s" pos="-2 0 1"><joint name="slide" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/><site name="ss"/></body></worldbody>"""

PATH = '<tendon><spatial name="t"><site site="w0"/><site site="sa"/><site site="sb"/></spatial></tendon>'
WRAPPED = """<tendon><spatial name="t" stiffness="10" damping="1"><site site="w0"/><geom geom="G"/><site site="sb"/><pulley divisor="2"/><site site="w1"/>
 <geom geom="G"/><site site="sc"/></spatial></tendon><actuator><motor tendon="t" gear="3"/></actuator>"""

SIDES = """<tendon><spatial name="t" stiffness="10"><site site="w0"/><geom geom="G" sidesite="S"/><site site="sb"/></spatial><spatial name="u" stiffness="5"><site site="w1"/>
 <geom geom="G" sidesite="S"/><site site="sc"/></spatial></tendon><actuator><motor tendon="t" gear="3"/><motor tendon="u"/></actuator>
 <sensor><tendonpos name="1" tendon="t"/><tendonpos name="2" tendon="u"/></sensor>"""

CASES = {
    "several on a joint": """<actuator><motor joint="x" gear="2" ctrlrange="-1 1"/><position joint="x" kp="50" kv="3" forcerange="-1 3"/>
        <velocity joint="y" kv="4" gear="-2"/><general joint="y" biastype="affine" gainprm="10" biasprm="3 -100 -5" ctrlrange="0 255"/>
        <damper joint="z" kv="2" ctrlrange="0 1"/><general joint="z" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="1 2 3"/></actuator>""",
    "activations": """<actuator><intvelocity joint="x" kp="5" kv="1" actrange="-1 1"/><cylinder joint="y" timeconst=".1" area="3" bias="1 -2 -3"/>
        <position joint="z" kp="3" timeconst=".05"/><general joint="x" dyntype="filter" dynprm=".2" actearly="true"/>
        <general joint="y" dyntype="integrator" actlimited="true" actrange="-1 1" actearly="true"/></actuator>""",
    "muscles": PATH + """<actuator><muscle tendon="t" lengthrange=".3 1.2"/><muscle tendon="t" lengthrange=".3 1.2" force="100" tausmooth=".2"/>
        <muscle joint="x" lengthrange="-1 1" range=".5 1.5"/></actuator>""",
    "damping ratio": '<actuator><position joint="x" kp="50" dampratio="1" gear="2"/><position joint="y" kp="50" dampratio=".5"/></actuator>',
    "sites": """<actuator><motor site="sf" gear="1 2 3 .1 .2 .3"/><motor site="sb" gear="1 2 3 .1 .2 .3"/>
        <position site="sb" refsite="sa" gear="1 .5 .2 0 0 0" kp="20"/><position site="sb" refsite="sf" gear="0 0 0 1 .5 .2" kp="20" kv="1"/>
        <motor site="sf" refsite="w0" gear="1 2 3 4 5 6"/></actuator>""",
    "ball and free joints": """<actuator><motor joint="free" gear="1 2 3 4 5 6"/><motor jointinparent="free" gear="1 2 3 4 5 6"/>
        <position joint="ball" gear="1 2 3" kp="3"/><position jointinparent="ball" gear="1 2 3" kp="3"/></actuator>""",
    "cranks": """<actuator><position cranksite="sb" slidersite="ss" cranklength="1.2" kp="3"/>
        <motor cranksite="sb" slidersite="ss" cranklength="4" gear="2"/></actuator>""",
    "fixed tendons": """<tendon><fixed name="t" stiffness="10" damping="2" springlength=".1 .3" frictionloss=".1" range="-1 1"><joint joint="x" coef=".5"/>
        <joint joint="slide" coef="-2"/></fixed><fixed name="u" stiffness="3"><joint joint="y" coef="1"/></fixed></tendon>
        <actuator><position tendon="t" kp="10" kv="1" gear="2"/></actuator>""",
    "around a sphere": WRAPPED.replace("G", "sphere"),
    "around a cylinder": WRAPPED.replace("G", "cylinder"),
    "a fluid": '<option density="1.2" viscosity=".3" wind="1 .5 .2"/>',
    "ellipsoids in a fluid": """<option density="1000" viscosity=".3" wind="1 .5 .2"/><worldbody><body pos="0 3 1"><freejoint/>
        <geom type="ellipsoid" size=".1 .2 .05" pos=".1 .02 0" euler="10 20 30" fluidshape="ellipsoid" fluidcoef=".4 .2 1.2 .9 .8"/><geom type="box" size=".1 .1 .3"/>
        <geom type="box" size=".1 .2 .05" mass="0" contype="0" conaffinity="0" fluidshape="ellipsoid" fluidcoef="1 0 0"/></body>
        <body pos="0 4 1"><joint type="ball"/><geom type="capsule" size=".05 .2" pos="0 0 .3" fluidshape="ellipsoid"/>
        <body pos="0 0 .6"><joint axis="1 2 3"/><geom size=".1" pos=".2 0 0" fluidshape="ellipsoid"/></body></body>
        <body pos="0 5 1"><freejoint/><geom type="cylinder" size=".1 .02" fluidshape="ellipsoid"/></body>
        </worldbody>""",
    "sensors": PATH + """<actuator><position name="p" joint="x" kp="5" kv="1"/><motor tendon="t"/></actuator><sensor><jointpos name="1" joint="x"/>
        <jointvel name="2" joint="x"/><ballquat name="3" joint="ball"/><ballangvel name="4" joint="ball"/><gyro name="5" site="sb"/>
        <velocimeter name="6" site="sb"/><magnetometer name="7" site="sf"/><framepos name="8" objtype="site" objname="sb"/>
        <framepos name="9" objtype="body" objname="b" reftype="site" refname="sf"/><framequat name="10" objtype="xbody" objname="b" reftype="site" refname="sf"/>
        <framexaxis name="11" objtype="site" objname="sb" reftype="xbody" refname="q"/><framelinvel name="12" objtype="site" objname="sb" reftype="xbody" refname="f"/>
        <frameangvel name="13" objtype="site" objname="sb" reftype="xbody" refname="f"/><framelinvel name="14" objtype="body" objname="a"/>
        <subtreecom name="16" body="a"/><subtreelinvel name="17" body="a"/><subtreeangmom name="18" body="a"/><tendonpos name="21" tendon="t"/>
        <tendonvel name="22" tendon="t"/><actuatorpos name="23" actuator="p"/><actuatorvel name="24" actuator="p"/><actuatorfrc name="25" actuator="p"/>
        <jointactuatorfrc name="26" joint="x"/><tendonactuatorfrc name="27" tendon="t"/></sensor>""",
}


def write(folder: pathlib.Path, rest: str, bodies: str = BODIES) -> str:
    file = folder / "robot.xml"
    file.write_text(f"<mujoco>{bodies.replace('JX', '').replace('GA', '')}{rest}</mujoco>")
    return str(file)


def differences(file: str) -> dict[str, float]:
    pytest.importorskip("mujoco")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import robot_forces
    finally:
        sys.path.remove(str(BENCHMARKS))
    return robot_forces.compare(file, 20)


def check(file: str) -> None:
    found = differences(file)
    assert found
    for kind, difference in found.items():
        assert difference <= (1e-6 if kind.startswith("sensor") else 1e-9), (kind, difference)


CASES |= {f"around a {geom}, side {side}": SIDES.replace("G", geom).replace("S", side) for geom in ("sphere", "cylinder") for side in ("above", "below", "w0")}


@pytest.mark.parametrize("name", CASES)
def test_forces_are_those_of_mujoco(name: str, tmp_path: pathlib.Path) -> None:
    check(write(tmp_path, CASES[name]))


def test_meshes_in_a_fluid(tmp_path: pathlib.Path) -> None:
    """MuJoCo keeps the corners of meshes in single precision."""
    bodies = """<option density="1000" viscosity=".3"/><asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .4 0 0 0 .6 .1 .2 .3"/></asset><worldbody>
        <body><freejoint/><geom type="mesh" mesh="wedge" euler="30 0 10" pos=".1 0 0" fluidshape="ellipsoid"/></body>
        <body pos="1 0 0"><freejoint/><geom type="ellipsoid" mesh="wedge" fluidshape="ellipsoid"/></body></worldbody>"""
    found = differences(write(tmp_path, "", bodies))
    assert found and max(found.values()) < 1e-6, found


FRAMES = """<worldbody><body name="arm" pos="0 0 1"><joint name="x" axis="1 2 3"/><inertial pos=".1 0 0" mass="1" diaginertia="1 2 2.5" quat=".8 .6 0 0"/>
    <geom name="box" type="box" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/><geom name="capsule" type="capsule" size=".05" fromto="0 0 0 .1 .2 .3" contype="0" conaffinity="0"/>
    <body name="tip" pos=".3 0 0"><joint axis="0 1 0"/><geom name="egg" type="ellipsoid" size=".1 .2 .3" pos=".05 0 0" euler="40 0 70"/></body></body></worldbody><sensor>"""


def test_frames_of_geoms_of_inertia_and_of_the_world(tmp_path: pathlib.Path) -> None:
    objects = [("geom", "box"), ("geom", "capsule"), ("geom", "egg"), ("body", "arm"), ("body", "tip"), ("body", "world"), ("xbody", "world")]
    kinds = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
    every = [f'<{kind} name="{kind} {k}" objtype="{of}" objname="{name}"/>' for kind in kinds for k, (of, name) in enumerate(objects)]
    every += [f'<{kind} name="{kind} of {k}" objtype="body" objname="world" reftype="{of}" refname="{name}"/>' for kind in kinds for k, (of, name) in enumerate(objects)]
    file = write(tmp_path, "".join(every) + "</sensor>", FRAMES)
    assert len(stiction.Simulation(stiction.Scene.load(file), separate=True).sensors) == len(every)
    check(file)


MESHES = """<asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .4 0 0 0 .6 .1 .2 .3" refpos=".01 .02 .03" refquat=".9 .1 .2 .3"/>
    <mesh name="small" vertex="0 0 0 2 0 0 0 4 0 0 0 1 1 1 5" scale=".001 .002 -.003" inertia="convex"/></asset><worldbody>
    <camera name="room" pos="1 2 3" xyaxes="0 1 0 0 0 1"/><body name="arm" pos="0 0 1"><joint axis="1 2 3"/><camera name="eye" mode="fixed" pos=".1 .2 .3" euler="10 20 30"/>
    <geom name="wedge" type="mesh" mesh="wedge" pos=".1 .2 .3" euler="10 20 30"/><frame pos=".1 0 0" euler="0 30 0"><camera name="framed" pos="0 .1 0"/>
    <geom name="drawn" type="mesh" mesh="small" contype="0" conaffinity="0" mass="0"/><geom name="fitted" type="box" mesh="wedge" pos="1 0 0"/></frame>
    <body name="tip" pos=".3 0 0"><joint axis="0 1 0"/><geom name="tip" type="mesh" mesh="small" pos=".05 0 0" euler="40 0 70"/>
    <body name="full" pos=".2 0 0"><joint axis="1 0 0"/><inertial pos=".1 0 .1" mass="1" fullinertia="1 2 2.5 .1 .2 .3"/></body></body></body></worldbody><sensor>"""


def test_frames_of_cameras_and_meshes(tmp_path: pathlib.Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    objects = [("geom", name) for name in ("wedge", "drawn", "fitted", "tip")] + [("camera", name) for name in ("room", "eye", "framed")]
    objects += [("body", "arm"), ("body", "tip"), ("body", "full")]
    kinds = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
    every = [f'<{kind} name="{kind} {k}" objtype="{of}" objname="{name}"/>' for kind in kinds for k, (of, name) in enumerate(objects)]
    of, to = 'objtype="camera" objname="eye"', 'reftype="{}" refname="{}"'
    every += [f'<{kind} name="{kind} in {k}" {of} {to.format(*other)}/>' for kind in kinds for k, other in enumerate(objects)]
    file = write(tmp_path, "".join(every) + "</sensor>", MESHES)
    assert len(stiction.Simulation(stiction.Scene.load(file), separate=True).sensors) == len(every)
    check(file)
    every = [f'<{kind} name="{kind} {k}" objtype="{of}" objname="{name}"/>' for kind in ("framelinacc", "frameangacc") for k, (of, name) in enumerate(objects)]
    file = write(tmp_path, "".join(every) + "</sensor>", MESHES)
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    simulation = stiction.Simulation(file, separate=True)
    data.qvel[:] = simulation.v[:] = [1.0, -2.0, 0.5]
    mujoco.mj_step(model, data)
    simulation.step()
    for k in range(model.nsensor):
        name = model.sensor(k).name
        assert simulation.sensors[name] == pytest.approx(data.sensor(name).data, rel=0, abs=1e-6), name


def test_frames_of_cameras_that_turn_by_themselves_are_left_out(tmp_path: pathlib.Path) -> None:
    cameras = """<default><default class="follows"><camera mode="trackcom"/></default></default><worldbody><body name="a"><freejoint/><geom size=".1"/>
        <camera name="still"/><camera name="turns" class="follows"/></body></worldbody><sensor>"""
    sensors = "".join(f'<framepos name="{name}" objtype="camera" objname="{name}"/>' for name in ("still", "turns"))
    scene = stiction.Scene.load(write(tmp_path, sensors + "</sensor>", cameras))
    assert scene.sensors == ["still"]
    assert [kind for _, kind, element, _ in scene.notes if "framepos" in element] == ["not yet"]


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ('<framepos objtype="geom" objname="bux"/>', 'objname.*there is no geom "bux".*did you mean "box"'),
        ('<framepos objtype="camera" objname="eye"/>', 'objname.*there is no camera "eye"'),
        ('<framequat objtype="geom" objname="box" reftype="body" refname="world2"/>', 'refname.*there is no body "world2"'),
        ('<framequat objtype="geom" objname="box" refname="box"/>', "reftype"),
        ('<framepos objtype="joint" objname="x"/>', 'objtype.*expected body, xbody, geom, site or camera, found "joint"'),
        ('<distance geom1="box" geom2="none" cutoff="1"/>', 'geom2.*there is no geom "none"'),
    ],
)
def test_sensors_of_what_is_not_there_are_refused(sensor: str, message: str, tmp_path: pathlib.Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = write(tmp_path, sensor + "</sensor>", FRAMES)
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_path(file)
    with pytest.raises(stiction.SceneError, match="robot.xml.*" + message):
        stiction.Scene.load(file)


@pytest.mark.parametrize("geom", ["sphere", "cylinder"])
def test_tendons_along_the_inside(geom: str, tmp_path: pathlib.Path) -> None:
    """MuJoCo ends its iteration for the point of touch early."""
    found = differences(write(tmp_path, SIDES.replace("G", geom).replace("S", "within")))
    assert found and max(found.values()) < 1e-6, found


def test_gravity_compensation_and_limits_of_joints(tmp_path: pathlib.Path) -> None:
    bodies = BODIES.replace("GA", 'gravcomp=".7"').replace("JX", 'actuatorfrcrange="-.3 1"')
    check(write(tmp_path, '<actuator><motor joint="x"/><motor joint="x" gear="3"/><position joint="y" kp="30"/></actuator>', bodies))


HINGE = """<option gravity="0 0 0" timestep="0.001"/><worldbody><body><joint name="j" axis="0 0 1"/><geom size=".1" pos=".2 0 0" mass="1"/>
    <site name="s" pos=".2 0 0"/></body></worldbody>"""


@pytest.mark.parametrize(
    ("actuators", "ctrl"),
    [
        ('<motor joint="j" forcerange="-1 1"/><motor joint="j" forcerange="-1 1"/>', [1, 1]),
        ('<motor joint="j" forcerange="-1 1"/><motor joint="j" forcerange="-3 3"/>', [1, 3]),
        ('<position joint="j" kp="100" forcerange="-1 3"/>', [-1]),
        ('<position joint="j" kp="100" forcerange="-1 3"/>', [1]),
        ('<general joint="j" dyntype="filterexact" dynprm=".01" gainprm="2"/>', [1]),
    ],
)
def test_motion_is_that_of_mujoco(actuators: str, ctrl: list[float], tmp_path: pathlib.Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = write(tmp_path, f"<actuator>{actuators}</actuator>", HINGE)
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    simulation = stiction.Simulation(file)
    data.ctrl[:] = simulation.ctrl[:] = ctrl
    for _ in range(10):
        mujoco.mj_step(model, data)
        simulation.step()
    assert simulation.v[0] == pytest.approx(data.qvel[0], rel=1e-9)
    assert simulation.act[simulation.act != 0] == pytest.approx(data.act, rel=1e-12)


def test_ball_joints_hang_at_their_limit_as_in_mujoco(tmp_path: pathlib.Path) -> None:
    """MuJoCo's limits are soft: it hangs a little lower."""
    mujoco = pytest.importorskip("mujoco")
    bodies = """<compiler angle="radian"/><option timestep="0.001"/><worldbody><body><joint type="ball" range="0 .4" damping=".5"/>
        <geom size=".1" pos=".4 .3 0" mass="2"/></body></worldbody>"""
    file = write(tmp_path, "", bodies)
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    simulation = stiction.Simulation(file)
    assert simulation.joint_limits.tolist() == [[0, 0.4]] * 3
    for _ in range(5000):
        mujoco.mj_step(model, data)
        simulation.step()
    mujoco.mj_forward(model, data)
    assert 2 * np.arccos(simulation.q[0]) == pytest.approx(0.4, abs=1e-9)
    assert simulation.q == pytest.approx(data.qpos, abs=4e-3) and np.abs(simulation.v).max() < 1e-6
    # Torques are along the axis of the rotation, which the body shares with its reference.
    assert simulation.limit_force == pytest.approx(data.qfrc_constraint, abs=0.05)


def test_inertial_sensors_read_the_last_step(tmp_path: pathlib.Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    kinds = "accelerometer gyro force torque".split()
    sensors = "".join(f'<{kind} name="{kind}" site="s"/>' for kind in kinds)
    bodies = HINGE.replace("0 0 0", "1 -2 -9").replace('axis="0 0 1"', 'axis="0 1 .3"')
    file = write(tmp_path, f'<actuator><motor joint="j"/></actuator><sensor>{sensors}</sensor>', bodies)
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    simulation = stiction.Simulation(file)
    data.qvel[:] = simulation.v[:] = 2.0
    data.ctrl[:] = simulation.ctrl[:] = 0.7
    readings = simulation.sensors
    mujoco.mj_step(model, data)
    simulation.step()
    # Of the velocity, the reading is that after the step; of all else, that of the step.
    for kind in ("accelerometer", "force", "torque"):
        theirs = data.sensor(kind).data
        assert readings[kind] == pytest.approx(theirs, abs=2e-2 * np.abs(theirs).max()), kind
    mujoco.mj_forward(model, data)
    assert readings["gyro"] == pytest.approx(data.sensor("gyro").data, rel=1e-3)


RAYS = """<worldbody><geom name="floor" type="plane" size="0 0 .1"/><geom name="wall" type="box" size=".1 1 1" pos="1.5 0 .5"/>
 <body name="a" pos="0 0 1"><freejoint/><geom name="ball" size=".1"/><site name="down" zaxis=".1 .2 -1"/><site name="ahead" zaxis="1 0 .1"/>
  <site name="up" zaxis="0 0 1"/></body>
 <body name="b" pos=".6 .2 1.2" euler="10 20 30"><freejoint/><geom name="box" type="box" size=".1 .2 .05"/><geom name="rod" type="capsule" size=".03 .2" pos="0 .3 0"/></body>
 </worldbody><sensor><rangefinder name="r1" site="down"/><rangefinder name="r2" site="ahead" cutoff=".9"/><rangefinder name="r3" site="up"/>
 <distance name="d1" geom1="ball" geom2="box" cutoff="2"/><normal name="n1" geom1="ball" geom2="box" cutoff="2"/><fromto name="f1" geom1="ball" geom2="box" cutoff="2"/>
 <distance name="d2" body1="a" body2="b" cutoff="2"/><distance name="d3" geom1="ball" geom2="box" cutoff=".1"/><fromto name="f3" geom1="ball" geom2="box" cutoff=".1"/>
 <distance name="d4" geom1="ball" geom2="box"/></sensor>"""


def test_rays_and_distances_are_those_of_mujoco(tmp_path: pathlib.Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "rays.xml"
    file.write_text(f"<mujoco>{RAYS}</mujoco>")
    scene = stiction.Scene.load(file)
    assert not [note for note in scene.notes if note[1] == "not yet"]
    simulation = stiction.Simulation(scene)
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    rng, seen = np.random.default_rng(3), set()
    for _ in range(40):
        q = np.array(model.qpos0)
        q[:3] += rng.uniform(-0.3, 0.3, 3)
        q[7:10] += rng.uniform(-0.3, 0.3, 3)
        for at in (3, 10):
            q[at : at + 4] = rng.normal(size=4)
            q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        data.qpos[:] = simulation.q[:] = q
        mujoco.mj_forward(model, data)
        if data.sensor("d1").data[0] < 1e-3:
            continue
        for name in ("r1", "r2", "r3", "d1", "n1", "f1", "d2", "d3", "f3", "d4"):
            theirs, ours = data.sensor(name).data, simulation.sensors[name]
            assert np.allclose(ours, theirs, rtol=0, atol=2e-6), (name, ours, theirs)
            seen.add((name, bool(theirs[0] > 0)))
    assert {("r1", True), ("r3", False), ("d1", True), ("d2", True), ("f1", True)} <= seen


def test_a_touch_sensor_reads_the_weight(tmp_path: pathlib.Path) -> None:
    bodies = """<worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/>
        <site name="s" type="box" size=".2 .2 .2"/></body></worldbody>"""
    file = write(tmp_path, '<sensor><touch name="touch" site="s"/><accelerometer name="imu" site="s"/></sensor>', bodies)
    simulation = stiction.Simulation(file)
    simulation.run(5)
    assert simulation.sensors["touch"][0] == pytest.approx(2 * 9.81, rel=1e-9)
    assert simulation.sensors["imu"] == pytest.approx([0, 0, 9.81], abs=1e-9)
    batch = stiction.BatchSimulation(stiction.Scene.load(file), 3)
    batch.step(5)
    assert batch.sensors["touch"].shape == (3, 1) and batch.sensors["touch"][:, 0] == pytest.approx([2 * 9.81] * 3, rel=1e-9)


def test_keyframes_by_name_and_number(tmp_path: pathlib.Path) -> None:
    keys = """<actuator><position name="p" joint="j" kp="3"/><general joint="j" dyntype="integrator"/></actuator>
        <keyframe><key name="up" qpos=".5" qvel=".1" ctrl=".4 0" act=".2"/><key qpos="-.5"/></keyframe>"""
    file = write(tmp_path, keys, HINGE)
    scene = stiction.Scene.load(file)
    assert scene.keyframes == ["up", ""]
    simulation = stiction.Simulation(scene)
    state = lambda: (simulation.q[0], simulation.v[0], simulation.ctrl.tolist(), simulation.act.tolist())  # noqa: E731
    up = (0.5, 0.1, [0.4, 0.0], [0.0, 0.2])
    assert state() == up
    simulation.run(3)
    simulation.reset(keyframe=1)
    assert state() == (-0.5, 0.0, [0.0, 0.0], [0.0, 0.0])
    simulation.reset(keyframe="up")
    assert state() == up
    assert stiction.Simulation(stiction.Scene.load(file, keyframe=1)).q[0] == -0.5
    assert stiction.Simulation(stiction.Scene.load(file, keyframe=-1)).q[0] == 0.0
    robot = {"file": file, "name": "r", "keyframe": 1}
    assert stiction.Simulation(stiction.Scene.from_dict({"robots": [robot]})).q[0] == -0.5
    with pytest.raises(stiction.StictionError):
        simulation.reset(keyframe="down")
    with pytest.raises(stiction.SceneError, match="no keyframe"):
        stiction.Scene.load(file, keyframe=7)


def test_activations_are_part_of_saved_states(tmp_path: pathlib.Path) -> None:
    file = write(tmp_path, '<actuator><general joint="j" dyntype="integrator"/></actuator>', HINGE)
    simulation = stiction.Simulation(file)
    simulation.ctrl[:] = 2.0
    simulation.run(10)
    assert simulation.act[0] == pytest.approx(0.02)
    state, copy = simulation.save_state(), simulation.copy()
    simulation.run(10)
    copy.run(10)
    assert copy.hash == simulation.hash and copy.act[0] == simulation.act[0] == pytest.approx(0.04)
    simulation.load_state(state)
    assert simulation.act[0] == pytest.approx(0.02)


MOCAP = """<mujoco><worldbody><body name="hand" mocap="true" pos="0 0 1"/>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody>
  <equality><weld body1="hand" body2="ball"/></equality></mujoco>"""


def test_bodies_are_moved_from_outside(tmp_path):
    file = tmp_path / "mocap.xml"
    file.write_text(MOCAP)
    scene = stiction.Scene.load(file)
    assert scene.mocap_bodies == ["hand"] and scene.joint_types[scene.body("hand")] == "mocap"
    simulation = stiction.Simulation(scene)
    simulation.set_mocap("hand", [0.1, 0, 1])
    simulation.set_mocap("hand", quaternion=[0, 0, 0, 2])
    np.testing.assert_array_equal(simulation.q[-7:], [0.1, 0, 1, 0, 0, 0, 1])
    position, quaternion = simulation.mocap("hand")
    np.testing.assert_array_equal([*position, *quaternion], simulation.q[-7:])
    simulation.run(1000)
    np.testing.assert_allclose(simulation.q[:3], [0.1, 0, 1], atol=1e-3)
    simulation.q[-7:-4] = [0, 0, 2]
    simulation.run(1000)
    np.testing.assert_allclose(simulation.q[:3], [0, 0, 2], atol=1e-3)
    with pytest.raises(stiction.InputError, match="did you mean \"hand\""):
        simulation.set_mocap("hnad", [0, 0, 0])
    with pytest.raises(stiction.InputError, match="position"):
        simulation.set_mocap("hand", [0, 0])


def test_what_is_left_out_is_warned_of_once_per_file(tmp_path):
    file = tmp_path / "left_out.xml"
    file.write_text("<mujoco><extension/><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    with pytest.warns(stiction.StictionWarning, match="left_out.xml: 1 thing is not used as written .1 left out.*scene.notes"):
        scene = stiction.Scene.load(file)
    assert [kind for _, kind, _, _ in scene.notes if kind != "ignored"] == ["not yet"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stiction.Scene.load(file)


def test_parts_that_overlap_at_the_start_are_named_and_can_touch(tmp_path):
    file = tmp_path / "overlap.xml"
    file.write_text("""<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide" axis="1 0 0"/><geom name="a" size=".1"/>
      <body><joint type="slide" axis="1 0 0"/><geom size=".01" contype="0" conaffinity="0"/>
      <body pos=".15 0 0"><joint type="slide" axis="1 0 0"/><geom name="b" size=".1"/></body></body></body></worldbody></mujoco>""")
    scene = stiction.Scene.load(file)
    (note,) = [n for n in scene.notes if n[0] == "start"]
    assert note[1] == "changed" and note[2] == '"a" and "b"' and "never touch" in note[3]
    touching = pickle.loads(pickle.dumps(scene.with_settings(allow_start_overlap=True)))
    assert "overlap by more" in [n for n in touching.notes if n[0] == "start"][0][3]
    ends = []
    for own in (scene, touching):
        simulation = stiction.Simulation(own)
        simulation.v[2] = -1
        simulation.run(round(0.4 / own.dt))
        ends.append(simulation.q[1] + simulation.q[2])
    assert ends[0] < -0.1 and ends[1] > -1e-9


SWITCHED = """<mujoco><option timestep="0.001"/><worldbody>
 <body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
 <equality><weld name="w" body1="world" body2="box" active="false"/></equality></mujoco>"""


def test_equalities_are_switched_on_and_off(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "switched.xml"
    file.write_text(SWITCHED)
    scene = stiction.Scene.load(file)
    assert scene.equalities == ["w"]
    simulation = stiction.Simulation(scene)
    assert simulation.equality_active.tolist() == [False]
    simulation.q[0] = 0.05
    simulation.set_equality("w", True)
    assert simulation.equality_active.tolist() == [True]
    simulation.run(300)
    assert abs(simulation.q[:3] - [0, 0, 1]).max() < 1e-12
    again = pickle.loads(pickle.dumps(simulation))
    assert again.equality_active.tolist() == [True]
    simulation.reset()
    assert simulation.equality_active.tolist() == [False]
    with pytest.raises(stiction.InputError, match="did you mean"):
        simulation.set_equality("W", True)
    with pytest.raises(stiction.InputError, match="shape"):
        simulation.equality_active = [True, False]
    for wrong in ("1", 1, ["yes"], None):
        with pytest.raises(TypeError, match="equality_active must"):
            simulation.equality_active = wrong  # type: ignore[assignment]
    batch = stiction.BatchSimulation(scene, 2)
    for wrong in ("10", 1, ["1", "0"]):
        with pytest.raises(TypeError, match="equality_active must"):
            batch.equality_active = wrong  # type: ignore[assignment]
    batch.equality_active = [[True], [False]]
    batch.step()
    assert batch.equality_active.tolist() == [[True], [False]]
    assert abs(batch.v[0, 2]) < 1e-12 and batch.v[1, 2] < -1e-3
    events = stiction.BatchSimulation(scene.with_settings(simulator="event-driven"), 2)
    events.q[1, 0] = 0.05
    with pytest.raises(stiction.InputError, match="is open by more"):
        events.equality_active = [[True], [True]]
    assert events.equality_active.tolist() == [[False], [False]], "none is switched if one is refused"
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    stiction.state_to_mujoco(again, model, data)
    assert data.eq_active.tolist() == [1]
    data.eq_active[0] = 0
    stiction.state_from_mujoco(again, model, data)
    assert again.equality_active.tolist() == [False]
