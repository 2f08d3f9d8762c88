"""Pictures of a scene, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .._drawn import checked
from .._stiction import Scene
from ..errors import InputError
from .._frames import Frame
from ._stage import Stage, roots
from ._view import Camera, View, fit, frame_of
from ._window import Image, Window

__all__ = ["Renderer"]

Array = npt.NDArray[np.float64]

#: Frames that are looked at to find a camera for a video.
LOOKED_AT = 40
#: What travels this many times its own size is followed.
TRAVEL = 2.5
#: Over how many seconds the track of a camera that follows what travels is smoothed.
SMOOTH = 1.0
#: How far that camera may be behind, in radii of the view.
BEHIND = 0.25
#: The camera goes around by these angles (degrees) where another side hides less of what moves, by this part of all, in this many frames.
SIDES, HIDES_LESS, SIDE_FRAMES = (90.0, -90.0, 60.0, -60.0, 30.0, -30.0), 0.3, 3
#: Of more bodies than this there is always one behind another.
MOST_FOR_SIDES = 24
#: Largest side of a picture (pixels): software renderers go no farther.
LARGEST = 8192


class Renderer:
    """Draws a scene again and again, and keeps its meshes and its camera in between.

    Parameters
    ----------
    scene : Scene
    width, height : int
        Of the pictures, in pixels.
    camera : Camera, optional
        Default: one that sees all that moves.
    forces : bool or float
        Whether contact forces are drawn as arrows; a number is the force of the longest one (N).
    shapes : str
        ``"visual"``: what the scene's files give to be looked at, and what touches where a body has nothing else; ``"collision"``: what
        touches; ``"both"``: the latter over the former, as glass.
    samples : int
        Samples per pixel, 8 at most: finer edges, for twice the time. Edges are smoothed without them, too.

    Examples
    --------
    >>> import stiction, stiction.render
    >>> scene = stiction.SceneBuilder().ground().body("cube", mass=1.0, position=[0, 0, 0.1], shape=stiction.scene.box(0.2, 0.2, 0.2)).build()
    >>> simulation = stiction.Simulation(scene)
    >>> renderer = stiction.render.Renderer(scene, 160, 120)
    >>> renderer.render(simulation.poses).shape
    (120, 160, 3)
    """

    def __init__(self, scene: Scene, width: int = 640, height: int = 480, *, camera: Camera | None = None, forces: bool | float = False,
                 shapes: str = "visual", samples: int = 0) -> None:
        for name, side in (("width", width), ("height", height)):
            if not 16 <= side <= LARGEST:
                raise InputError(f"{name} must be from 16 to {LARGEST} pixels, found {side}")
        self.scene = scene
        self.camera = Camera() if camera is None else camera
        self._follow = None if self.camera.follow is None else scene.body(self.camera.follow)
        self._forces = forces
        self._newtons = float(forces) if not isinstance(forces, bool) else 0.0
        self._axes = frame_of(scene.gravity)
        if not 0 <= samples <= 8:
            raise InputError(f"samples must be from 0 to 8, found {samples}")
        self._window = Window(int(width), int(height), samples)
        self._stage = Stage(scene, self._window, axes=self._axes, shapes=checked(shapes))
        self._view: View | None = None
        self._middle = np.zeros(3)
        self._travels = False

    @property
    def view(self) -> View:
        """Where the last picture was taken from; ``view.project(points, width, height)`` is where points are in it."""
        if self._view is None:
            raise InputError("there is no picture yet")
        return self._view

    def render(self, poses: npt.ArrayLike, contacts: npt.NDArray[np.void] | None = None) -> Image:
        """A picture. The camera found for the first one is kept.

        Parameters
        ----------
        poses : array_like, (bodies, 7)
            As ``Simulation.poses``.
        contacts : structured ndarray, optional
            As ``Simulation.contacts``.

        Returns
        -------
        ndarray of uint8, (height, width, 3)
            Red, green and blue.
        """
        placed = np.asarray(poses, float)
        if placed.shape != (len(self.scene.bodies), 7):
            raise InputError(f"poses must have shape {(len(self.scene.bodies), 7)}, found {placed.shape}")
        frame = Frame(0.0, placed, contacts)
        if self._view is None:
            self._look([frame])
        elif self._follow is not None:
            self._view = _moved(self._view, placed[self._follow, :3] - self._middle)
            self._middle = placed[self._follow, :3].copy()
        return self._draw(frame, self.view)

    def film(self, frames: Sequence[Frame], *, keep: bool = False) -> Iterator[Image]:
        """Pictures of frames with one camera for all of them, which goes along with what travels.

        Parameters
        ----------
        frames : sequence of Frame
        keep : bool
            Whether the camera found before stays.

        Yields
        ------
        ndarray of uint8, (height, width, 3)
        """
        if frames:
            if not (keep and self._view is not None):
                self._look(frames)
            track = self._track(frames)
            first = self.view
            for frame, shift in zip(frames, track, strict=True):
                self._view = _moved(first, shift)
                yield self._draw(frame, self._view)

    def look_at(self, frames: Sequence[Frame]) -> None:
        """Finds the camera for frames, and the scale of forces.

        Parameters
        ----------
        frames : sequence of Frame
        """
        self._look(frames)

    def take_camera(self, other: Renderer) -> None:
        """Takes the camera and the scale of forces that another renderer has found.

        Parameters
        ----------
        other : Renderer
        """
        self._view, self._middle, self._travels, self._newtons = other._view, other._middle, other._travels, other._newtons
        self._stage.clip(other.view)

    def close(self) -> None:
        """Gives back what is held of the graphics library."""
        self._window.close()

    def _aspect(self) -> float:
        return self._window.width / self._window.height

    def _some(self, frames: Sequence[Frame]) -> list[Frame]:
        return [frames[i] for i in np.unique(np.linspace(0, len(frames) - 1, LOOKED_AT).round().astype(int))]

    def _look(self, frames: Sequence[Frame]) -> None:
        """Finds the camera."""
        some = self._some(frames)
        if self._forces is True and self._newtons == 0.0:
            self._newtons = _usual_force(frames)
        self._aim(some, frames[0])
        self._choose_side(some, frames[0])
        self._stage.clip(self.view)
        self._stage.make_glass(self.view, some)

    def _aim(self, some: Sequence[Frame], first: Frame, azimuth: float | None = None) -> None:
        """Fits the camera to what is to be seen: of that side, if one is given."""
        camera = self.camera if azimuth is None else replace(self.camera, azimuth=azimuth)
        tree = None if self._follow is None else _tree(self.scene, self._follow)
        points = self._stage.seen(some, tree)
        self._travels = tree is None and _travels(points) and self.camera.target is None
        if self._follow is not None:
            middles = [frame.poses[self._follow, :3] for frame in some]
            self._middle = first.poses[self._follow, :3].copy()
        elif self._travels:
            middles = [self._stage.moving_middle(frame) for frame in some]
            self._middle = self._stage.moving_middle(first)
        else:
            middles = [np.zeros(3)] * len(some)
            self._middle = np.zeros(3)
        goes_along = np.zeros(3) if self._follow is not None or self._travels else None

        def fitted(points: Sequence[Array]) -> View:
            about = np.concatenate([p - m for p, m in zip(points, middles, strict=True)])
            return _moved(fit(camera, about, self._axes, self._aspect(), goes_along), self._middle)

        self._view = fitted(points)
        if self._forces and tree is None:
            # Arrows reach beyond what they act on.
            self._view = fitted([np.concatenate([p, self._stage.tips([frame], self._view, self._newtons)]) for p, frame in zip(points, some, strict=True)])

    def _choose_side(self, some: Sequence[Frame], first: Frame) -> None:
        """Goes around to a side that hides less, if the camera may choose."""
        if self.camera.azimuth is not None or len(self.scene.bodies) > MOST_FOR_SIDES:
            return
        seen = [some[i] for i in np.unique(np.linspace(0, len(some) - 1, SIDE_FRAMES).round().astype(int))]
        start = self.view.light
        best = self._stage.hidden(self.view, seen)
        for turn in SIDES:
            kept = self._view
            self._aim(some, first, start + turn)
            hidden = self._stage.hidden(self.view, seen)
            if hidden <= best - HIDES_LESS:
                best = hidden
            else:
                self._view = kept

    def _track(self, frames: Sequence[Frame]) -> Array:
        """Where the camera goes over time, from its first place."""
        if self._follow is not None:
            return np.array([frame.poses[self._follow, :3] - self._middle for frame in frames])
        if not self._travels:
            return np.zeros((len(frames), 3))
        middles = np.array([self._stage.moving_middle(frame) for frame in frames]) - self._middle
        apart = np.median(np.diff([frame.t for frame in frames])) if len(frames) > 1 else 1.0
        width = min(len(frames), 2 * round(SMOOTH / max(apart, 1e-9) / 2) + 1)
        padded = np.concatenate([np.repeat(middles[:1], width // 2, axis=0), middles, np.repeat(middles[-1:], width - 1 - width // 2, axis=0)])
        smooth = np.stack([np.convolve(padded[:, k], np.full(width, 1 / width), "valid") for k in range(3)], axis=1)
        # What is fast stays in the picture all the same.
        behind = smooth - middles
        far = np.linalg.norm(behind, axis=1, keepdims=True)
        track: Array = middles + behind * np.minimum(1.0, BEHIND * self.view.radius / np.maximum(far, 1e-300))
        return track

    def _draw(self, frame: Frame, view: View) -> Image:
        self._stage.pose(frame)
        self._stage.lay_floors(view, frame)
        if self._forces:
            if self._newtons == 0.0:
                self._newtons = _usual_force([frame])
            self._stage.show_forces(frame, view, self._newtons)
        return self._window.draw(view)


def _moved(view: View, by: Array) -> View:
    return View(view.position + by, view.target + by, view.up, view.fov, view.radius, view.light, view.axes)


def _tree(scene: Scene, body: int) -> list[int]:
    """All bodies that hang together with one."""
    root = roots(scene)
    return [i for i in range(len(root)) if root[i] == root[body]]


def _travels(points: Sequence[Array]) -> bool:
    """Whether what is seen goes much farther than it is large."""
    if len(points) < 2:
        return False
    own = float(np.median([np.ptp(p, axis=0).max() for p in points]))
    return bool(np.ptp(np.concatenate(points), axis=0).max() > (1.0 + TRAVEL) * own)


def _usual_force(frames: Sequence[Frame]) -> float:
    """A large contact force of most frames (N): neither an impact nor one contact of many makes all other arrows vanish."""
    sizes = [np.linalg.norm(f.contacts["force"], axis=1) for f in frames if f.contacts is not None]
    # The largest of few, one of the largest of many.
    large = [float(np.quantile(of[of > 0.0], 0.95, method="higher")) for of in sizes if (of > 0.0).any()]
    return float(np.quantile(large, 0.8)) if large else 0.0
