"""A capsule pinched at many times the force that friction needs: it must not creep. Side by side with MuJoCo, where that is installed."""

import importlib.util
from pathlib import Path

import stiction

SCENES = Path(__file__).resolve().parents[2] / "scenes"
SECONDS = 2.0

simulation = stiction.Simulation(SCENES / "capsule.toml")
steps = round(SECONDS / simulation.scene.dt)
simulation.run(steps)
force, weight = simulation.scene.parameters["force"], simulation.scene.masses[0] * 9.81
print(f"pinched with {force:.1f} N, {2 * 0.7 * force / weight:.0f} times what holds it")
print(f"stiction: the capsule sinks {abs(simulation.q[2]) * 1e6:.3f} um in {SECONDS:.0f} s")

MJCF = """<mujoco><option timestep="0.001" cone="elliptic"/>
<default><geom friction="0.7"/></default>
<worldbody>
  <body><freejoint/><geom type="capsule" size="0.004 0.02" euler="90 0 0" mass="0.045"/></body>
  <body pos="-0.014 0 0"><joint name="a" type="slide" axis="1 0 0"/><geom type="box" size="0.01 0.03 0.03" mass="0.1"/></body>
  <body pos="0.014 0 0"><joint name="b" type="slide" axis="1 0 0"/><geom type="box" size="0.01 0.03 0.03" mass="0.1"/></body>
</worldbody>
<actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""

if importlib.util.find_spec("mujoco") is None:
    print("mujoco is not installed: pip install mujoco shows its side")
else:
    import mujoco

    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    data.ctrl[:] = [force, -force]
    for _ in range(steps):
        mujoco.mj_step(model, data)
    print(f"mujoco:   the capsule sinks {abs(data.qpos[2]) * 1e6:.3f} um in {SECONDS:.0f} s")
