"""What is drawn, as actors of VTK: bodies, floors, arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkFiltersCore import vtkPolyDataNormals
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

from ._window import AMBIENT, DIFFUSE, shadowed

__all__ = ["actor", "arrows", "checker", "matrices", "place", "smooth", "surface"]

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Edges sharper than this are drawn as edges (degrees).
SHARP = 38.0
#: Sides of an arrow's shaft.
ARROW_SIDES = 16
#: Radius of an arrow's shaft, and radius and length of its head, in radii of the shaft.
HEAD_RADIUS, HEAD_LENGTH = 2.4, 6.0
#: Light and dark squares of a floor, relative to their mean.
CHECKER = 0.04
#: Highlights of surfaces.
SPECULAR, SPECULAR_POWER = 0.12, 25.0


def surface(vertices: Array, faces: Ints, colors: Array | None = None, normals: Array | None = None) -> Any:
    """Polygons; `faces` is (k, n) with n corners each, `colors` (vertices, 3 or 4) from 0 to 1."""
    data, points, cells = vtkPolyData(), vtkPoints(), vtkCellArray()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(vertices, np.float32), deep=True))
    corners = faces.shape[1]
    listed = np.hstack([np.full((len(faces), 1), corners, np.int64), faces]).ravel()
    cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(np.ascontiguousarray(listed), deep=True))
    data.SetPoints(points)
    data.SetPolys(cells)
    if colors is not None:
        data.GetPointData().SetScalars(numpy_to_vtk(np.ascontiguousarray(np.round(255 * np.clip(colors, 0, 1)), np.uint8), deep=True))
    if normals is not None:
        data.GetPointData().SetNormals(numpy_to_vtk(np.ascontiguousarray(normals, np.float32), deep=True))
    return data


def smooth(data: Any) -> Any:
    """The same surface with normals: smooth but for sharp edges."""
    of = vtkPolyDataNormals()
    of.SetInputData(data)
    of.SetFeatureAngle(SHARP)
    of.SplittingOn()
    of.ConsistencyOff()
    of.Update()
    return of.GetOutput()


def actor(data: Any, *, opacity: float = 1.0, shiny: bool = True) -> Any:
    """An actor of a surface."""
    made, mapper = vtkActor(), vtkPolyDataMapper()
    mapper.SetInputData(data)
    made.SetMapper(mapper)
    look = made.GetProperty()
    look.SetAmbient(AMBIENT)
    look.SetDiffuse(DIFFUSE)
    look.SetOpacity(opacity)
    if shiny:
        look.SetSpecular(SPECULAR)
        look.SetSpecularPower(SPECULAR_POWER)
    shadowed(made)
    return made


def matrices(poses: Array) -> Array:
    """Poses (position, quaternion w, x, y, z) as 4 × 4 matrices; (k, 7) to (k, 4, 4)."""
    w, x, y, z = poses[:, 3:].T / np.linalg.norm(poses[:, 3:], axis=1)
    out = np.zeros((len(poses), 4, 4))
    out[:, 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1)
    out[:, 1, :3] = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1)
    out[:, 2, :3] = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    out[:, :3, 3] = poses[:, :3]
    out[:, 3, 3] = 1.0
    return out


def place(thing: Any, matrix: Array) -> None:
    """Puts an actor where a matrix says."""
    made = vtkMatrix4x4()
    made.DeepCopy(matrix.ravel().tolist())
    thing.SetUserMatrix(made)


def checker(low: Ints, high: Ints, square: float, light: float, color: Sequence[float], fade: tuple[Array, float, float]) -> Any:
    """Squares of a floor in its own plane, from number `low` to `high` along both sides.

    `light` is how bright a white floor is; what is seen is `color`, with a pattern that fades between two radii about a point.
    """
    i, j = (axis.ravel() for axis in np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1]), indexing="ij"))
    corners = np.stack([np.stack([i + a, j + b], axis=1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))], axis=1).reshape(-1, 2) * square
    middle, near, far = fade
    away = np.clip((np.linalg.norm(corners - middle, axis=1) - near) / max(far - near, 1e-300), 0.0, 1.0)
    pattern = CHECKER * (1.0 - away * away * (3.0 - 2.0 * away)) * np.repeat(np.where((i + j) % 2, -1.0, 1.0), 4)
    # A color above 1 has nowhere to go: then all of the floor is darker than asked.
    colors = np.clip((1.0 + pattern)[:, None] * np.asarray(color)[None, :] / light, 0.0, 1.0)
    vertices = np.hstack([corners, np.zeros((len(corners), 1))])
    normals = np.tile([0.0, 0.0, 1.0], (len(corners), 1))
    return surface(vertices, np.arange(len(corners)).reshape(-1, 4), colors, normals)


def _arrow(radius: float) -> tuple[Array, Array, Array, Ints]:
    """An arrow along z: points, whether a point moves with the tip (1) or stays (0), normals, triangles. The head has its own size."""
    turn = np.linspace(0.0, 2 * np.pi, ARROW_SIDES, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(ARROW_SIDES)], axis=1)
    head, wide = HEAD_LENGTH * radius, HEAD_RADIUS * radius
    down = np.tile([0.0, 0.0, -1.0], (ARROW_SIDES, 1))
    slope = ring * head + np.array([0.0, 0.0, wide])
    slope /= np.linalg.norm(slope, axis=1, keepdims=True)
    rings = [
        (ring * radius, 0.0, down),
        (ring * radius, 0.0, ring),
        (ring * radius - [0, 0, head], 1.0, ring),
        (ring * radius - [0, 0, head], 1.0, down),
        (ring * wide - [0, 0, head], 1.0, down),
        (ring * wide - [0, 0, head], 1.0, slope),
        (ring * 0.0, 1.0, slope),
    ]
    k, n = np.arange(ARROW_SIDES), (np.arange(ARROW_SIDES) + 1) % ARROW_SIDES
    sides = []
    for a, b in ((1, 2), (3, 4), (5, 6)):
        lower, upper = a * ARROW_SIDES, b * ARROW_SIDES
        sides += [np.stack([lower + k, lower + n, upper + n], axis=1), np.stack([lower + k, upper + n, upper + k], axis=1)]
    sides.append(np.stack([np.zeros(ARROW_SIDES - 2, np.int64), k[2:], k[1:-1]], axis=1))
    moving = np.repeat([follows for _, follows, _ in rings], ARROW_SIDES)
    return np.concatenate([p for p, _, _ in rings]), moving, np.concatenate([m for _, _, m in rings]), np.concatenate(sides)


def arrows(start: Array, vector: Array, colors: Array, radius: float) -> Any:
    """Arrows as one surface: from `start`, along and as long as `vector` (m); (k, 3) each. Short ones are smaller as a whole."""
    length = np.linalg.norm(vector, axis=1)
    shown = length > 0.0
    start, vector, colors, length = start[shown], vector[shown], colors[shown], length[shown]
    if not len(start):
        return surface(np.zeros((0, 3)), np.zeros((0, 3), np.int64))
    points, moving, normals, triangles = _arrow(radius)
    z = vector / length[:, None]
    across = np.where(np.abs(z[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = np.cross(across, z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    turn = np.stack([x, np.cross(z, x), z], axis=1)
    whole = np.minimum(1.0, length / (1.5 * HEAD_LENGTH * radius))
    local = points[None] * whole[:, None, None]
    local[:, :, 2] += moving[None] * length[:, None]
    world = np.einsum("kpi,kij->kpj", local, turn) + start[:, None]
    facing = np.einsum("pi,kij->kpj", normals, turn)
    faces = (triangles[None] + len(points) * np.arange(len(start))[:, None, None]).reshape(-1, 3)
    return surface(world.reshape(-1, 3), faces, np.repeat(colors, len(points), axis=0), facing.reshape(-1, 3))
