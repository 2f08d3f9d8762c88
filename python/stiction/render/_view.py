"""Where a picture is taken from, and how that is found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..errors import InputError

__all__ = ["Camera", "View", "fit", "frame_of"]

Array = npt.NDArray[np.float64]

#: The camera's height above the horizon, if nothing is said (degrees).
ELEVATION = 22.0
#: The camera is turned this much from the face of what is long (degrees).
TURN = 28.0
#: Longer than wide by this ratio, a scene has a face.
LONG = 1.35
#: Room around what is in the picture, relative to its size.
MARGIN = 1.12
#: Nearest and farthest that is drawn, in distances of the camera.
NEAREST, FARTHEST = 0.02, 60.0


@dataclass(frozen=True)
class Camera:
    """Where a picture is taken from. What is not given is found: the camera sees all that moves.

    Attributes
    ----------
    azimuth : float, optional
        The side it is taken from, in degrees about the vertical: 0 from +x, -90 from -y.
    elevation : float, optional
        Above the horizon, in degrees.
    distance : float, optional
        From the target (m).
    target : sequence of 3 float, optional
        What is in the middle of the picture (m).
    follow : str, optional
        A body that stays in the middle of the picture.
    zoom : float
        2 is twice as near.
    fov : float
        Angle of view from the lower to the upper edge, in degrees.
    """

    azimuth: float | None = None
    elevation: float | None = None
    distance: float | None = None
    target: tuple[float, float, float] | None = None
    follow: str | None = None
    zoom: float = 1.0
    fov: float = 30.0

    def __post_init__(self) -> None:
        for name in ("azimuth", "elevation", "distance", "zoom", "fov"):
            value = getattr(self, name)
            if value is not None and not np.isfinite(value):
                raise InputError(f"camera: {name} must be finite, found {value}")
        if not 0.0 < self.fov < 170.0:
            raise InputError(f"camera: fov must be above 0 and below 170 degrees, found {self.fov}")
        if not (self.zoom > 0.0 and (self.distance is None or self.distance > 0.0)):
            raise InputError("camera: zoom and distance must be above 0")
        if self.target is not None and (len(self.target) != 3 or not np.isfinite(self.target).all()):
            raise InputError("camera: target must be three finite numbers")


@dataclass(frozen=True)
class View:
    """A camera that was found.

    Attributes
    ----------
    position, target : ndarray, (3,)
        Where it is, and what is in the middle of the picture (m).
    up : ndarray, (3,)
        Upward direction.
    fov : float
        Angle of view from the lower to the upper edge, in degrees.
    radius : float
        Of what it is about (m).
    light : float
        The azimuth that the light keeps to, in degrees.
    axes : ndarray, (3, 3)
        Axes of the horizon and the vertical, as rows.
    """

    position: Array
    target: Array
    up: Array
    fov: float
    radius: float
    light: float
    axes: Array = field(repr=False)

    @property
    def clipping(self) -> tuple[float, float]:
        """Nearest and farthest that is drawn (m)."""
        distance = float(np.linalg.norm(self.position - self.target))
        return NEAREST * min(distance, self.radius), FARTHEST * max(distance, self.radius)

    def toward(self, side: float, elevation: float) -> Array:
        """A direction.

        Parameters
        ----------
        side : float
            To the left of the camera, in degrees.
        elevation : float
            Above the horizon, in degrees.

        Returns
        -------
        ndarray, (3,)
            A unit vector.
        """
        return direction(self.axes, self.light - side, elevation)

    def project(self, points: npt.ArrayLike, width: int, height: int) -> Array:
        """Where points are in a picture.

        Parameters
        ----------
        points : array_like, (k, 3) or (3,)
            In metres.
        width, height : int
            Of the picture, in pixels.

        Returns
        -------
        ndarray, (k, 3)
            Column and row, from the upper left corner, and the distance from the camera along its axis (m).
        """
        forward = self.target - self.position
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, self.up)
        right /= np.linalg.norm(right)
        upward = np.cross(right, forward)
        rays = np.atleast_2d(np.asarray(points, float)) - self.position
        depth = rays @ forward
        scale = height / 2 / np.tan(np.radians(self.fov) / 2) / depth
        return np.stack([width / 2 + scale * (rays @ right), height / 2 - scale * (rays @ upward), depth], axis=1)


def frame_of(gravity: npt.ArrayLike) -> Array:
    """Axes of the horizon and the vertical, as rows: z is up unless gravity says otherwise."""
    g = np.asarray(gravity, float)
    length = float(np.linalg.norm(g))
    up = -g / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    # A slope made by tilting gravity is still drawn level.
    if up[2] > 0.5 or length == 0.0:
        return np.eye(3)
    across = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = across - up * (across @ up)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(up, x), up])


def direction(axes: Array, azimuth: float, elevation: float) -> Array:
    """The unit vector to that azimuth and elevation (degrees)."""
    a, e = np.radians(azimuth), np.radians(elevation)
    toward: Array = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]) @ axes
    return toward


def face(points: Array, axes: Array) -> float:
    """The azimuth (degrees) from which a scene shows its long side, turned a little; from -y if it has none."""
    flat = (points - points.mean(axis=0)) @ axes[:2].T
    if len(flat) > 1:
        values, vectors = np.linalg.eigh(flat.T @ flat / len(flat))
        if values[1] > LONG**2 * max(values[0], 1e-300):
            along = np.degrees(np.arctan2(*vectors[::-1, 1]))
            # Of the two faces the one nearer to -y, and of both turns the one to the left.
            side = min((along - 90.0, along + 90.0), key=lambda a: abs((a + 90.0 + 180.0) % 360.0 - 180.0))
            return float(side + TURN)
    return -90.0 + TURN


def fit(camera: Camera, points: Array, axes: Array, aspect: float, middle: Array | None = None) -> View:
    """The view of a camera on points that are to be seen, with `middle` in its middle if given; `aspect` is width over height."""
    azimuth = face(points, axes) if camera.azimuth is None else camera.azimuth
    elevation = ELEVATION if camera.elevation is None else camera.elevation
    back = direction(axes, azimuth, elevation)
    # Straight from above, the upper edge of the picture is away from the camera's side.
    up = axes[2] if abs(elevation) < 89.0 else -direction(axes, azimuth, 0.0) * np.sign(elevation)
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    upward = np.cross(back, right)
    tangent = np.tan(np.radians(camera.fov) / 2)
    tangents = np.array([tangent * aspect, tangent])
    center = np.asarray(camera.target if camera.target is not None else middle if middle is not None else (points.min(axis=0) + points.max(axis=0)) / 2, float)
    radius = max(float(np.linalg.norm(points - center, axis=1).max(initial=0.0)), 1e-9)
    flat, depth = (points - center) @ np.stack([right, upward]).T, (points - center) @ back
    # A point at x beside the axis and z before the target is seen from distance d if |x − c| ≤ (d − z) tan; both edges at once.
    high, low = (flat + np.outer(depth, tangents)).max(axis=0), (flat - np.outer(depth, tangents)).min(axis=0)
    if camera.target is None and middle is None:
        shift = (high + low) / 2
        distance = float(((high - low) / (2 * tangents)).max())
    else:
        shift = np.zeros(2)
        distance = float((np.maximum(high, -low) / tangents).max())
    distance = MARGIN * max(distance, radius * 1e-3) if camera.distance is None else camera.distance
    target = center + shift @ np.stack([right, upward])
    return View(target + back * distance / camera.zoom, target, up, camera.fov, radius, azimuth, axes)
