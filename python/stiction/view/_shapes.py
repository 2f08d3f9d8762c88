"""The geoms of a scene on the page, many alike in one node: an update is a few messages, whatever the number of bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._drawn import opacity
from .._stiction import Geom, Scene
from ._follow import ROOT
from ._meshes import creased

__all__ = ["Shapes", "body_size", "bounds"]

Array = npt.NDArray[np.float64]

#: Chords of a circle.
_RESOLUTION = 40
#: Shapes of the world that are seen through where they stand beside what moves, as the walls of a bin.
_WALLS = ("box", "cylinder", "capsule", "hull")
_WALL_OPACITY = 0.15
#: Shapes that are one mesh, stretched.
_UNIT = {"box": "box", "sphere": "ball", "ellipsoid": "ball", "cylinder": "cylinder"}


@dataclass
class _Batch:
    """Geoms that share a mesh."""

    vertices: Array
    faces: npt.NDArray[np.int64]
    geoms: list[Geom] = field(default_factory=list)
    scales: list[tuple[float, float, float]] = field(default_factory=list)
    handle: Any = None

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        return np.array([g.number for g in self.geoms])


class Shapes:
    """What is drawn of a scene.

    Parameters
    ----------
    server
        Of viser.
    scene : Scene
    poses : ndarray, (geoms, 7)
        Where geoms are: ``Simulation.geom_poses()``.
    shapes : str
        ``"visual"``, ``"collision"`` or ``"both"``.
    """

    def __init__(self, server: Any, scene: Scene, poses: Array, shapes: str = "visual") -> None:
        #: What is drawn: one of `stiction._drawn.SHAPES`.
        self.shapes = shapes
        self._moving: list[tuple[_Batch, npt.NDArray[np.int64]]] = []
        self._nodes: list[Any] = []
        middle, self.size = bounds(scene, poses)
        drawn = [g for g in scene.geoms if opacity(g, shapes) > 0.0]
        for geom in (g for g in drawn if g.shape == "half-space"):
            self._nodes.append(self._ground(server, geom, poses[geom.number]))
        for i, batch in enumerate(_batches(g for g in drawn if g.shape != "half-space")):
            self._add(server, f"{ROOT}/geoms/{i}", batch, poses, middle[2])

    def _add(self, server: Any, name: str, batch: _Batch, poses: Array, middle: float) -> None:
        numbers = batch.numbers
        colors = np.array([(*g.color[:3], opacity(g, self.shapes)) for g in batch.geoms])
        walls = [g.body < 0 and not g.visual and g.shape in _WALLS and highest_point(g, poses[g.number]) > middle for g in batch.geoms]
        colors[walls, 3] = np.minimum(colors[walls, 3], _WALL_OPACITY)
        opacities = colors[:, 3] if (colors[:, 3] < 1.0).any() else None
        batch.handle = server.scene.add_batched_meshes_simple(
            name, batch.vertices, batch.faces, poses[numbers, 3:], poses[numbers, :3], batched_scales=np.array(batch.scales), lod="off",
            batched_colors=(255.0 * colors[:, :3]).round().astype(np.uint8), batched_opacities=opacities,
            side="double" if batch.geoms[0].shape in ("mesh", "height-field") else "front",
            # What moves throws its shadow on what does not: a surface in its own shadow has stripes.
            cast_shadow=batch.geoms[0].body >= 0, receive_shadow=batch.geoms[0].body < 0,
        )
        self._nodes.append(batch.handle)
        if batch.geoms[0].body >= 0:
            self._moving.append((batch, numbers))

    def _ground(self, server: Any, geom: Geom, pose: Array) -> Any:
        """The plane of a half-space, with lines a round number of metres apart."""
        cell = 10.0 ** np.round(np.log10(max(self.size, 1e-6) / 3.0))
        return server.scene.add_grid(
            f"{ROOT}/ground/{geom.number}", plane="xy", infinite_grid=True, cell_size=cell, section_size=5.0 * cell, fade_distance=25.0 * self.size,
            cell_color=(214, 217, 222), section_color=(184, 189, 197), plane_color=(238, 240, 243), plane_opacity=1.0, shadow_opacity=0.25,
            position=pose[:3], wxyz=pose[3:],
        )

    def update(self, poses: Array) -> None:
        """Move what can move."""
        for batch, numbers in self._moving:
            batch.handle.batched_positions = poses[numbers, :3]
            batch.handle.batched_wxyzs = poses[numbers, 3:]

    def on_drag(self, callback: Callable[[int, Any], None]) -> None:
        """Call with the body and viser's event while somebody drags a body with the mouse."""
        for batch, _ in self._moving:
            bodies = [g.body for g in batch.geoms]

            # A coroutine: viser keeps the order of these, and of no others.
            async def dragged(event: Any, bodies: list[int] = bodies) -> None:
                if event.instance_index is not None and event.instance_index < len(bodies):
                    callback(bodies[event.instance_index], event)

            batch.handle.on_drag("left")(dragged)

    def remove(self) -> None:
        """Take everything off the page."""
        for node in self._nodes:
            node.remove()
        self._nodes, self._moving = [], []


def _batches(geoms: Any) -> list[_Batch]:
    """Geoms that look alike but for size, colour and place; those that move apart from those that do not."""
    found: dict[Any, _Batch] = {}
    for geom in geoms:
        unit = _UNIT.get(geom.shape)
        key: Any = (unit, geom.body >= 0)
        if unit is None:
            vertices, faces = geom.mesh(_RESOLUTION)
            if len(faces) == 0:
                continue
            key = (vertices.tobytes(), faces.tobytes(), geom.body >= 0)
        if key not in found:
            found[key] = _Batch(*(_unit_mesh(geom) if unit else creased(vertices, faces)))
        found[key].geoms.append(geom)
        found[key].scales.append(_scale(geom))
    return list(found.values())


def _scale(geom: Geom) -> tuple[float, float, float]:
    size = geom.size
    if geom.shape == "box":
        return tuple(size["sides"])
    if geom.shape == "sphere":
        return (size["radius"],) * 3
    if geom.shape == "ellipsoid":
        return tuple(size["radii"])
    if geom.shape == "cylinder":
        return size["radius"], size["radius"], size["length"]
    return 1.0, 1.0, 1.0


def _unit_mesh(geom: Geom) -> tuple[Array, npt.NDArray[np.int64]]:
    vertices, faces = geom.mesh(_RESOLUTION)
    return creased(vertices / np.array(_scale(geom)), faces)


def bounds(scene: Scene, poses: Array) -> tuple[Array, float]:
    """Middle and size (m) of what moves, or of everything that has bounds."""
    geoms = [g for g in scene.geoms if g.shape != "half-space"]
    moving = [g for g in geoms if g.body >= 0] or geoms
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for geom in moving:
        vertices, _ = geom.mesh(8)
        radius = float(np.linalg.norm(vertices, axis=1).max()) if len(vertices) else 0.0
        low, high = np.minimum(low, poses[geom.number, :3] - radius), np.maximum(high, poses[geom.number, :3] + radius)
    if not np.isfinite(low).all():
        return np.zeros(3), 1.0
    return 0.5 * (low + high), max(float(np.linalg.norm(high - low)) / 2.0, 1e-6)


def highest_point(geom: Geom, pose: Array) -> float:
    """The largest height of a geom at a pose (m)."""
    w, x, y, z = pose[3:]
    up = np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
    return float((geom.mesh(8)[0] @ up).max() + pose[2])


def body_size(scene: Scene) -> float:
    """How large a body is, about (m): the middle of the radii of all geoms that move."""
    moving = [g for g in scene.geoms if g.shape != "half-space" and g.body >= 0]
    sizes = [float(np.ptp(vertices, axis=0).max()) / 2.0 for vertices, _ in (g.mesh(8) for g in moving) if len(vertices)]
    return max(float(np.median(sizes)), 1e-6) if sizes else 0.1
