"""How far a cube slides, over friction: beside the closed form v^2 / (2 mu g), which a step of symplectic Euler misses by half a step's way."""

import stiction
from stiction.scene import box

SPEED, GRAVITY, DT = 2.0, 9.81, 0.001

builder = stiction.SceneBuilder("a cube slides to rest", dt=DT).parameters(mu=0.5).material(friction="= mu").ground()
builder.body("cube", mass=1.0, position=[0, 0, 0.1], velocity=[SPEED, 0, 0], shape=box(0.2, 0.2, 0.2))
scene = builder.build()
for mu in (0.2, 0.4, 0.6, 0.8):
    simulation = stiction.Simulation(scene.with_parameters(mu=mu))
    report = simulation.run(1500)
    exact = SPEED**2 / (2 * mu * GRAVITY) - SPEED * DT / 2
    print(f"mu = {mu:.1f}: {simulation.q[0]:.6f} m, closed form {exact:.6f} m, {report.steps} steps certified")
