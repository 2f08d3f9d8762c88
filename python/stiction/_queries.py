"""Rays, distances and overlap: what `Simulation.raycast`, `Simulation.distance` and `Simulation.overlapping` give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._stiction import Scene, Simulation
from .errors import InputError

__all__ = ["Distance", "RayHit", "RayHits", "distance", "overlapping", "raycast"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RayHit:
    """Where a ray meets a body.

    Attributes
    ----------
    distance : float
        From the origin of the ray (m).
    body : str
        Its name; of what is fixed that of the fixed body.
    geom : int
        The number of its geom in ``scene.geoms``.
    point : ndarray, (3,)
        In the world (m).
    normal : ndarray, (3,)
        Outward unit normal there.
    """

    distance: float
    body: str
    geom: int
    point: Array
    normal: Array


@dataclass(frozen=True)
class RayHits:
    """Where rays meet bodies, one row each.

    Attributes
    ----------
    distance : ndarray, (k,)
        From the origins (m); infinite where nothing is met.
    body : ndarray of int, (k,)
        Numbers in ``scene.bodies``; -1 for what is fixed, and for nothing.
    geom : ndarray of int, (k,)
        Numbers in ``scene.geoms``; -1 for nothing.
    point, normal : ndarray, (k, 3)
        In the world; NaN where nothing is met.
    """

    distance: Array
    body: npt.NDArray[np.int64]
    geom: npt.NDArray[np.int64]
    point: Array
    normal: Array

    @property
    def hit(self) -> npt.NDArray[np.bool_]:
        """Which rays meet something, (k,)."""
        return self.geom >= 0

    def __len__(self) -> int:
        return len(self.distance)


@dataclass(frozen=True)
class Distance:
    """Two things, and where they are closest.

    Attributes
    ----------
    distance : float
        Signed (m): negative where they overlap, then the depth.
    point_a, point_b : ndarray, (3,)
        The closest point of each, in the world (m); where they overlap, the deepest.
    normal : ndarray, (3,)
        Unit vector from the first to the second.
    geom_a, geom_b : int
        Numbers of their geoms in ``scene.geoms``; -1 for a point.
    """

    distance: float
    point_a: Array
    point_b: Array
    normal: Array
    geom_a: int
    geom_b: int


def raycast(
    simulation: Simulation,
    origin: npt.ArrayLike,
    direction: npt.ArrayLike,
    *,
    reach: float = np.inf,
    exclude: str | int | Sequence[str | int] = (),
) -> RayHit | RayHits | None:
    """See `Simulation.raycast`."""
    o, d = np.asarray(origin, dtype=float), np.asarray(direction, dtype=float)
    if o.shape[-1:] != (3,) or d.shape[-1:] != (3,) or max(o.ndim, d.ndim) > 2:
        raise InputError(f"origin and direction must be (3,) or (k, 3), found {o.shape} and {d.shape}")
    try:
        origins, directions = np.broadcast_arrays(np.atleast_2d(o), np.atleast_2d(d))
    except ValueError:
        raise InputError(f"there are {len(np.atleast_2d(o))} origins and {len(np.atleast_2d(d))} directions") from None
    named = [exclude] if isinstance(exclude, (str, int)) else list(exclude)
    bodies = [simulation.scene.body(name) if isinstance(name, str) else int(name) for name in named]
    far, body, geom, point, normal = simulation._raycast(origins, directions, float(reach), bodies)
    if max(o.ndim, d.ndim) == 2:
        return RayHits(far, body, geom, point, normal)
    if geom[0] < 0:
        return None
    return RayHit(float(far[0]), simulation._body_of_geom(int(geom[0])), int(geom[0]), point[0], normal[0])


def distance(simulation: Simulation, a: str | int, b: str | int | npt.ArrayLike) -> Distance:
    """See `Simulation.distance`."""
    found = simulation._distance(a, b)
    if found is None:
        raise InputError(f"{a!r} and {b!r} have no distance: two half-spaces, or a place that is not finite")
    far, (point_a, point_b, normal), (geom_a, geom_b) = found
    return Distance(far, point_a, point_b, normal, geom_a, geom_b)


def overlapping(
    simulation: Simulation,
    shape: dict[str, Any],
    position: Sequence[float] = (0.0, 0.0, 0.0),
    *,
    orientation: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    margin: float = 0.0,
) -> list[str]:
    """See `Simulation.overlapping`."""
    probe = Scene.from_dict({"bodies": [{"name": "shape", "fixed": True, "shape": shape}]})
    place, turn = [float(x) for x in position], [float(x) for x in orientation]
    if len(place) != 3 or len(turn) != 4:
        raise InputError(f"position must have 3 numbers and orientation 4, found {len(place)} and {len(turn)}")
    names = [simulation._body_of_geom(geom) for geom, _ in simulation._near_shape(probe, place, turn, float(margin))]
    return list(dict.fromkeys(names))
