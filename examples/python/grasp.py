"""Grasp a row of cubes between two grippers, and read the forces."""

from pathlib import Path

import stiction

SCENES = Path(__file__).resolve().parents[2] / "scenes"

simulation = stiction.Simulation(stiction.Scene.load(SCENES / "grasp.toml", n=3))
bodies = simulation.scene.bodies
simulation.run(1000)
print(f"after {simulation.t:.3f} s the cubes have sunk {abs(simulation.q[2]):.9f} m")
for pair in simulation.contact_pairs:
    a, b, force = bodies[pair["body_a"]], bodies[pair["body_b"]], pair["force"]
    print(f"{a} on {b}: {pair['contacts']} contacts, {force[0]:.6f} N along x, {force[2]:.6f} N up")
