"""The scenes, in words that every engine's adapter can build from."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterable

GRAVITY = (0.0, 0.0, -9.81)


@dataclasses.dataclass(frozen=True)
class Body:
    """A rigid body of one shape.

    Sizes (m) are half sides of a box; the radius of a sphere; radius and half length along z, without the
    caps, of a capsule or cylinder; none of a plane, which is the half-space below z = 0.
    """

    shape: str
    size: tuple[float, ...]
    mass: float  # kg; 0 if it is fixed
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # w, x, y, z
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m/s
    slides: bool = False  # a slide along x carries it, else it is free
    force: float = 0.0  # along that slide (N)

    def inertia(self) -> tuple[float, float, float]:
        """Principal moments of inertia about the centre (kg m²)."""
        m = self.mass
        if self.shape == "box":
            x, y, z = (s * s for s in self.size)
            return m / 3 * (y + z), m / 3 * (x + z), m / 3 * (x + y)
        if self.shape == "sphere":
            return (0.4 * m * self.size[0] ** 2,) * 3
        r, h = self.size
        rod = m * (r * r / 4 + h * h / 3)
        if self.shape == "cylinder":
            return rod, rod, m * r * r / 2
        # A capsule: a cylinder, and two half balls at its ends.
        cylinder, ball = 2 * h, 4 / 3 * r
        share = cylinder / (cylinder + ball)
        mc, mb = m * share, m * (1 - share)
        across = mc * (r * r / 4 + h * h / 3) + mb * (0.4 * r * r + h * h + 0.75 * r * h)
        return across, across, mc * r * r / 2 + 0.4 * mb * r * r


@dataclasses.dataclass(frozen=True)
class Stays:
    """A point of a body that is at the end where it was after the warm-up, in another body or in the world."""

    body: str
    point: tuple[float, float, float]  # in the body's frame (m)
    holder: str | None = None


@dataclasses.dataclass(frozen=True)
class Scene:
    """Bodies, and how they are run."""

    name: str
    group: str  # resting, moving, growth or robots
    bodies: tuple[Body, ...] = ()
    friction: float = 0.5
    dt: float = 0.001  # s
    steps: int = 1000
    gravity: tuple[float, float, float] = GRAVITY
    #: Steps before time is taken: a start is no steady state.
    warm_up: int = 100
    #: Exact displacement of the last body along x at the end (m); None where only rest is exact.
    travel: float | None = None
    #: Robots are MJCF, for the engines that read it. The controls of their actuators are `control + sway sin(2 pi t)`.
    mjcf: str = ""
    control: tuple[float, ...] = ()
    sway: tuple[float, ...] = ()
    stays: tuple[Stays, ...] = ()
    #: In the group growth: what grows, and how large it is.
    family: str = ""
    size: int = 0

    def moving(self) -> list[Body]:
        """The bodies that are not fixed."""
        return [body for body in self.bodies if body.mass > 0.0]


GROUND = Body("plane", (), 0.0)


def cube(x: float, y: float, z: float, half: float = 0.05, mass: float = 1.0, **more) -> Body:
    """A cube."""
    return Body("box", (half, half, half), mass, (x, y, z), **more)


def grasp(n: int) -> Scene:
    """n cubes in a row between two that press."""
    row = [cube((i - (n + 1) / 2) * 0.1, 0, 0) for i in range(1, n + 1)]
    at = (n + 1) / 2 * 0.1
    grippers = [cube(side * at, 0, 0, slides=True, force=-side * 100.0 * n) for side in (-1.0, 1.0)]
    return Scene(f"grasp {n}", "resting", (*grippers, *row), friction=100.0)


def slope(mu: float, speed: float, name: str) -> Scene:
    """A cube on a slope of 20 degrees: gravity is tilted, the ground is not."""
    angle = math.radians(20.0)
    gravity = (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))
    body = cube(0, 0, 0.1, half=0.1, velocity=(speed, 0.0, 0.0))
    return Scene(name, "resting", (GROUND, body), friction=mu, gravity=gravity)


def slide() -> Scene:
    """A cube slides on flat ground until friction stops it."""
    mu, speed = 0.3, 3.0
    body = cube(0, 0, 0.1, half=0.1, velocity=(speed, 0.0, 0.0))
    travel = speed * speed / (2 * mu * 9.81)
    return Scene("sliding cube", "moving", (GROUND, body), friction=mu, steps=1500, warm_up=0, travel=travel)


def tower(n: int) -> Scene:
    """n cubes on each other."""
    return Scene(f"tower {n}", "resting", (GROUND, *(cube(0, 0, 0.05 + 0.1 * i) for i in range(n))))


def mass_ratio(ratio: float) -> Scene:
    """A cube under one that many times heavier."""
    return Scene(f"mass ratio {ratio:g}", "resting", (GROUND, cube(0, 0, 0.05), cube(0, 0, 0.15, mass=ratio)))


def pyramid(base: int) -> Scene:
    """Rows of boxes, one fewer in each."""
    bodies = [
        cube((i + (row - base) / 2 - 0.5) * 0.11, 0, (row - 0.5) * 0.1)
        for row in range(1, base + 1)
        for i in range(1, base + 2 - row)
    ]
    return Scene(f"pyramid {len(bodies)}", "resting", (GROUND, *bodies), steps=300, warm_up=50)


SHAPES = {
    "boxes": [("box", (0.05, 0.05, 0.05))],
    "planks": [("box", (0.08, 0.02, 0.01))],
    "capsules": [("capsule", (0.03, 0.04))],
    "mixed": [("box", (0.05, 0.05, 0.05)), ("sphere", (0.05,)), ("capsule", (0.03, 0.04)), ("cylinder", (0.04, 0.04))],
}


def volume(shape: str, size: tuple[float, ...]) -> float:
    """Volume of a shape (m³)."""
    if shape == "box":
        return 8 * size[0] * size[1] * size[2]
    if shape == "sphere":
        return 4 / 3 * math.pi * size[0] ** 3
    ends = 4 / 3 * math.pi * size[0] ** 3 if shape == "capsule" else 0.0
    return 2 * math.pi * size[0] ** 2 * size[1] + ends


def heap(kind: str, n: int, seed: int = 1, mu: float = 0.5) -> Scene:
    """n bodies tumble into a bin."""
    rng = random.Random(f"{kind} {n} {seed}")
    per = math.ceil((n / 3) ** (1 / 3))
    cell, thick = 0.185, 0.1
    width = per * cell
    layers = math.ceil(n / per**2)
    height = cell * (layers + 2)
    at = (width + thick) / 2
    walls = [
        Body("box", (thick / 2, width / 2 + thick, height / 2) if x else (width / 2 + thick, thick / 2, height / 2), 0.0, (x * at, y * at, height / 2))
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))
    ]
    bodies = []
    for i in range(n):
        shape, size = SHAPES[kind][i % len(SHAPES[kind])]
        near = lambda: rng.uniform(-0.005, 0.005)
        place = (
            cell * (i % per - (per - 1) / 2) + near(),
            cell * (i // per % per - (per - 1) / 2) + near(),
            cell * (i // per**2 + 0.6) + near(),
        )
        q = [rng.gauss(0, 1) for _ in range(4)]
        length = math.sqrt(sum(x * x for x in q))
        bodies.append(Body(shape, size, 1000.0 * volume(shape, size), place, tuple(x / length for x in q)))
    return Scene(f"{n} {kind}", "moving", (GROUND, *walls, *bodies), friction=mu, dt=0.002, warm_up=0)


def growing(scene: Scene, family: str, size: int) -> Scene:
    """The scene as a point of a plot of growth."""
    return dataclasses.replace(scene, name=f"{family}, {size}", group="growth", family=family, size=size, steps=300, warm_up=50)


def all_scenes() -> list[Scene]:
    """Every scene of the comparison."""
    import robots

    resting: Iterable[Scene] = (
        grasp(2), grasp(10), slope(0.5, 0.0, "slope"), tower(10), tower(50), mass_ratio(1000.0), pyramid(10),
    )
    moving: Iterable[Scene] = (
        slide(), heap("boxes", 27), heap("boxes", 60), heap("planks", 60), heap("capsules", 60), heap("mixed", 60), robots.ragdolls(6),
    )
    towers = (growing(tower(n), "cubes on each other", n) for n in (5, 10, 20, 40, 80))
    heaps = (growing(heap("boxes", n), "boxes that tumble into a bin", n) for n in (8, 27, 64, 125, 216))
    return [*resting, *moving, robots.quadruped(), robots.humanoid(), robots.gripper(), *towers, *heaps]


def numbers(*values: float) -> str:
    """Numbers of an XML attribute."""
    return " ".join(f"{x:.17g}" for x in values)


def mjcf(scene: Scene, option: str = "", geom: str = "") -> str:
    """The scene as MJCF, with more attributes of its `<option>` and of all geoms."""
    if scene.mjcf:
        text = scene.mjcf.replace("<option ", f"<option {option} ", 1)
        return text.replace("<default><geom ", f"<default><geom {geom} ", 1)
    world, motors = "", ""
    for k, body in enumerate(scene.bodies):
        size = body.size or (50.0, 50.0, 1.0)
        shape = f'<geom type="{body.shape}" size="{numbers(*size)}"'
        place = f'pos="{numbers(*body.position)}" quat="{numbers(*body.quaternion)}"'
        if body.mass == 0.0:
            world += f"{shape} {place}/>"
            continue
        joint = f'<joint name="slide{k}" type="slide" axis="1 0 0"/>' if body.slides else "<freejoint/>"
        inertial = f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{numbers(*body.inertia())}"/>'
        world += f'<body name="body{k}" {place}>{joint}{inertial}{shape} mass="{body.mass!r}"/></body>'
        if body.slides:
            motors += f'<motor joint="slide{k}"/>'
    return f"""<mujoco><option timestep="{scene.dt!r}" gravity="{numbers(*scene.gravity)}" {option}/>
<default><geom friction="{scene.friction!r} 0.005 0.0001" {geom}/></default>
<worldbody>{world}</worldbody><actuator>{motors}</actuator></mujoco>"""
