"""A quadruped trots: servos follow sines, diagonal legs together. Where it got, and what its feet did."""

import math
from pathlib import Path

import stiction

SCENES = Path(__file__).resolve().parents[2] / "scenes"
STRIDE, LIFT, FREQUENCY = 0.25, 0.5, 2.0

scene = stiction.Scene.load(SCENES / "quad-flat.toml", push=0.0, kp=0.0, kd=0.0)
simulation = stiction.Simulation(scene)
legs = [(i, j) for i in (1, 2) for j in (1, 2)]
places = {f"{part}{i}{j}": scene.v_slice(f"{part}{i}{j}").start for i, j in legs for part in ("hip", "thigh", "shank")}
for k in places.values():
    simulation.kp[k], simulation.kd[k] = 20.0, 0.5
worst, slip = 0.0, 0.0
for _ in range(3000):
    for i, j in legs:
        phase = 2 * math.pi * FREQUENCY * simulation.t + math.pi * ((i + j) % 2)
        simulation.target[places[f"thigh{i}{j}"]] = STRIDE * math.cos(phase)
        simulation.target[places[f"shank{i}{j}"]] = -LIFT * max(math.sin(phase), 0.0)
    report = simulation.step()
    worst, slip = max(worst, report.certificate), slip + report.slip * scene.dt
print(f"in {simulation.t:.3f} s the trunk went {simulation.q[0]:.4f} m forward and is {simulation.q[2]:.4f} m high")
print(f"feet slipped {slip:.4f} m in all; every certificate is at most 1e-10: {worst <= 1e-10}")
