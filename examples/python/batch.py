"""Sixteen cubes thrown at different speeds, stepped over all cores; one has a bad state, which is its own affair."""

import numpy as np

import stiction
from stiction.scene import box

builder = stiction.SceneBuilder("a thrown cube", dt=0.001).material(friction=0.5).ground()
scene = builder.body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2)).build()

batch = stiction.BatchSimulation(scene, 16)
batch.v[:, 0] = 0.25 * np.arange(16)
batch.v[5, 0] = np.nan
well = batch.step(1000)
for i in range(0, 16, 5):
    print(f"copy {i}: " + (f"slid {batch.q[i, 0]:.6f} m" if well[i] else f"failed: {batch.messages[i]}"))
batch.reset(5)
batch.v[5, 0] = 1.25
batch.step(1000)
print(f"copy 5: slid {batch.q[5, 0]:.6f} m")
