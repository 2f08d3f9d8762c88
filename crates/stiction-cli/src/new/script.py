"""NAME from Python: steps, forces, and what can be changed while it runs."""

from pathlib import Path

import stiction

scene = stiction.Scene.load(Path(__file__).with_suffix(".toml"))
simulation = stiction.Simulation(scene)
cube, arm = simulation.body("cube"), simulation.joint("arm")

for _ in range(500):
    simulation.step()  # raises StepFailed if the step cannot be certified
print(f"t = {simulation.t:.3f} s: the cube is at {cube.position}, the arm at {arm.position:.3f} rad")
print(f"contacts push the cube with {cube.contact_wrench[:3]} N, the motor gives {arm.effort_applied:.3f} N m")

cube.friction = 0.1  # from the next step on
cube.apply_wrench(force=[3.0, 0.0, 0.0])
report = simulation.run(500)
print(f"all steps certified: {report.ok}; the cube moves with {cube.velocity} m/s")
