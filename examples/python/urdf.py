"""Load a URDF, let the arm swing over a table until it rests, and see what was loaded."""

from pathlib import Path

import stiction

HERE = Path(__file__).resolve().parents[1]

builder = stiction.SceneBuilder("an arm over a table", directory=HERE, dt=0.002).ground("table")
scene = builder.robot("arm", "arm.urdf", joints={"shoulder": 1.0}).build()
print(f"{len(scene.bodies)} bodies, {scene.nv} velocities, {scene.masses.sum():.3f} kg")
for _, kind, element, text in scene.notes:
    print(f"{kind}: {element}: {text}")
simulation = stiction.Simulation(scene)
start = sum(simulation.energy())
simulation.run(4000)
shoulder, elbow = (simulation.q[scene.q_slice(f"arm/{joint}")][0] for joint in ("shoulder", "elbow"))
print(f"after {simulation.t:.3f} s: shoulder {shoulder:.4f} rad, elbow {elbow:.4f} rad, energy lost {start - sum(simulation.energy()):.4f} J")
