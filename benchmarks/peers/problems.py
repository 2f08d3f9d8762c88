"""Problems alone, without a simulation around them: contact problems of the scenes, and linear complementarity problems."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile
from collections.abc import Iterator

import numpy as np
from scenes import Scene, grasp, heap, mjcf, pyramid, tower


@dataclasses.dataclass(frozen=True)
class Contacts:
    """Impulses p of n contacts that obey Coulomb's law with the velocities `u = delassus p + free`.

    Rows of contact i are 3i, 3i + 1 and 3i + 2: along its normal, then along its two tangents. `free` has gap / dt
    in the rows of normals, so that `u_n >= 0` means that the contact stays open.
    """

    name: str
    delassus: np.ndarray
    free: np.ndarray
    friction: np.ndarray
    #: Contacts of bodies that hang together, as lists of their numbers.
    islands: tuple[np.ndarray, ...]
    #: The problem as Stiction has it: masses and rows of the contacts.
    json: str
    group: str = "contact problems"

    def residual(self, p: np.ndarray) -> float:
        """The natural map's error, relative to the largest impulse.

        With the bipotential's velocity `u + friction |u_t| n`, a solution is where a step against it and back to the cone of friction
        returns to the same impulses; the step of a contact is the inverse of its largest entry on the diagonal.
        """
        p = p.reshape(-1, 3)
        u = (self.delassus @ p.ravel() + self.free).reshape(-1, 3)
        u[:, 0] += self.friction * np.linalg.norm(u[:, 1:], axis=1)
        step = 1 / np.diag(self.delassus).reshape(-1, 3).max(axis=1, keepdims=True)
        largest = np.abs(p).max(initial=0.0)
        return float(np.abs(p - to_cone(p - step * u, self.friction)).max(initial=0.0) / (largest or 1.0))


def to_cone(p: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """The nearest points of the cones `|p_t| <= friction p_n`."""
    normal, length = p[:, 0], np.linalg.norm(p[:, 1:], axis=1)
    # The nearest point of the cone's surface, which counts outside of the cone and of its polar.
    on = np.maximum((normal + friction * length) / (1 + friction**2), 0.0)
    inside = length <= friction * normal
    part = np.where(length > 0.0, friction * on / np.where(length > 0.0, length, 1.0), 0.0)
    surface = np.column_stack([on, part[:, None] * p[:, 1:]])
    return np.where(inside[:, None], p, surface)


@dataclasses.dataclass(frozen=True)
class Lcp:
    """`w = matrix z + q`, `z >= 0`, `w >= 0`, `z * w = 0`."""

    name: str
    matrix: np.ndarray
    q: np.ndarray
    group: str = "LCPs"

    def residual(self, z: np.ndarray) -> float:
        """`max |min(z, w / scale)|`, relative to the largest entry of z; `scale` is the largest entry of the matrix."""
        scale = np.abs(self.matrix).max(initial=0.0)
        w = self.matrix @ z + self.q
        return float(np.abs(np.minimum(z, w / scale)).max(initial=0.0) / (np.abs(z).max(initial=0.0) or 1.0))


def contact_problems() -> Iterator[Contacts]:
    """Those of scenes at rest, and of heaps that still move."""
    for scene in (grasp(2), grasp(10), tower(10), tower(50), pyramid(10)):
        yield contacts_of(scene, 20)
    for scene in (heap("boxes", 27), heap("boxes", 60), heap("mixed", 60)):
        yield contacts_of(scene, 250)


def contacts_of(scene: Scene, steps: int) -> Contacts:
    """The contact problem of a scene after some steps of Stiction."""
    import stiction

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "scene.xml"
        file.write_text(mjcf(scene))
        simulation = stiction.Simulation(stiction.Scene.load(file).with_settings(sleeping=False))
    control = [body.force for body in scene.moving() if body.slides]
    if control:
        simulation.ctrl = np.array(control)
    for _ in range(steps):
        simulation.step()
    problem = simulation.problem()
    dense = lambda x: x.toarray() if hasattr(x, "toarray") else np.asarray(x)
    count = problem.contacts
    rows = np.stack([dense(problem.N), dense(problem.S), dense(problem.T)], axis=1).reshape(3 * count, -1)
    mass = dense(problem.mass)
    delassus = rows @ np.linalg.solve(mass, rows.T)
    free = rows @ (problem.v + problem.dt * np.linalg.solve(mass, problem.force))
    free[::3] += problem.gap / problem.dt
    return Contacts(scene.name, (delassus + delassus.T) / 2, free, np.array(problem.mu), islands_of(delassus), problem.to_json())


def islands_of(delassus: np.ndarray) -> tuple[np.ndarray, ...]:
    """Contacts that act on each other, directly or through others."""
    count = len(delassus) // 3
    tied = delassus.reshape(count, 3, count, 3).any(axis=(1, 3))
    seen, islands = np.zeros(count, bool), []
    for start in range(count):
        if seen[start]:
            continue
        island, seen[start] = [start], True
        for i in island:
            new = np.flatnonzero(tied[i] & ~seen)
            seen[new] = True
            island.extend(new.tolist())
        islands.append(np.sort(island))
    return tuple(islands)


def lcps() -> Iterator[Lcp]:
    """Semidefinite and copositive-plus matrices with a solution, and a box on the ground as Stewart and Trinkle have it."""
    families = (("semidefinite", semidefinite), ("semidefinite, skew part", skewed), ("copositive-plus", copositive_plus))
    for n in (24, 100, 400):
        for name, family in families:
            yield Lcp(f"{name} {n}", *family(n, np.random.default_rng([n, 7])))
    for contacts in (4, 16, 64):
        for case in BOX_VELOCITIES:
            yield Lcp(f"box, {contacts} contacts, {case}", *box(contacts, 4, case))


def semidefinite(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Of rank n/2, with a solution."""
    a = rng.standard_normal((n, n // 2))
    matrix = a @ a.T
    return matrix, matrix @ rng.standard_normal(n)


def skewed(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A semidefinite matrix and a skew one, with a solution."""
    a, k = rng.standard_normal((n, n // 2)), rng.standard_normal((n, n))
    matrix = a @ a.T + k - k.T
    return matrix, planted(matrix, rng)


def copositive_plus(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A semidefinite matrix and one with no negative entry, with a solution."""
    a, p = 0.3 * rng.standard_normal((n, n // 4 + 1)), 0.01 + rng.random((n, n))
    matrix = a @ a.T + (p + p.T) / 2
    return matrix, planted(matrix, rng)


def planted(matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """q for which a random complementary pair is a solution."""
    n = len(matrix)
    active = rng.random(n) < 0.5
    z = np.where(active, 0.1 + rng.random(n), 0.0)
    w = np.where(active, 0.0, 0.1 + rng.random(n))
    return w - matrix @ z


#: Velocities before the step, less than what gravity adds (m/s, rad/s).
BOX_VELOCITIES = {"rest": (0.0,) * 6, "slide": (1, 0.3, 0, 0, 0, 0.7), "impact": (0.5, -0.2, -2, 0.3, 0.4, -0.1)}


def box(contacts: int, directions: int, case: str, mu: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """A 1 x 0.6 x 0.4 m box of 1 kg on a plane: z = (normal, friction, slack) impulses."""
    size = np.array([1.0, 0.6, 0.4])
    inertia = (size @ size - size**2) / 12
    root = np.sqrt(np.concatenate([np.ones(3), inertia]))
    side = int(np.ceil(np.sqrt(contacts)))
    line = np.linspace(-0.5, 0.5, side)
    points = np.array([[x * size[0], y * size[1], -size[2] / 2] for x in line for y in line])[:contacts]
    angles = 2 * np.pi * np.arange(directions) / directions
    tangents = np.stack([np.cos(angles), np.sin(angles), np.zeros(directions)], 1)

    def wrench(point, direction):
        return np.concatenate([direction, np.cross(point, direction)]) / root

    normal = np.array([wrench(p, np.array([0, 0, 1.0])) for p in points])
    friction = np.array([wrench(p, t) for p in points for t in tangents])
    rows = np.vstack([normal, friction])
    v = np.array([0, 0, -0.0981, 0, 0, 0]) + BOX_VELOCITIES[case]
    each = np.kron(np.eye(contacts), np.ones((directions, 1)))
    above = np.hstack([rows @ rows.T, np.vstack([np.zeros((contacts, contacts)), each])])
    below = np.hstack([mu * np.eye(contacts), -each.T, np.zeros((contacts, contacts))])
    return np.vstack([above, below]), np.concatenate([rows @ (v * root), np.zeros(contacts)])
