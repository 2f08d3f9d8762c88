"""A scene as actors, and what of it a camera is to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from vtkmodules.vtkCommonDataModel import vtkBox
from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkClipPolyData

from .._drawn import opacity
from .._stiction import Scene
from ..sim import Mode
from ._actors import actor, arrows, checker, matrices, place, smooth, surface
from .._frames import Frame
from ._view import View
from ._window import BACKGROUND, KEY_ELEVATION, KEY_SIDE, Window, floor_light

if TYPE_CHECKING:
    from .._stiction import Geom

__all__ = ["Stage", "roots"]

Array = npt.NDArray[np.float64]

#: Directions in which the outermost points of a shape are looked for.
_DIRECTIONS = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)], float)
#: A fixed shape larger than this many times all that moves is ground, and not what a picture is about.
LARGE = 3.0
#: Fixed shapes that hide this part of what moves are drawn as glass, of this opacity; all that hide anything, if together they hide that part.
HIDES, GLASS, HIDDEN = 0.06, 0.22, 0.25
#: Farther from the others than this many times the usual distance, a body is lost, and no picture waits for it.
LOST = 5.0
#: How far ground reaches, in radii of the view: with shadows; in all; and between which radii its pattern fades.
NEAR_GROUND, FAR_GROUND, FADE = 4.0, 14.0, (1.6, 8.0)
#: Ground is level if the cosine of its slope is above this: then it reaches to the horizon.
LEVEL = 0.999
#: Squares of a floor along the radius of the view, about.
SQUARES = 2.5
#: Length of the longest arrow, in radii of the view; radius of all, relative to that length, and at least, in radii of the view.
ARROW, ARROW_RADIUS, THINNEST = 0.45, 0.018, 0.003
#: The longest arrow is at most so many sizes of a body: arrows on many small ones hide all of them otherwise.
ARROW_SIZES = 1.0
#: An arrow of a larger force than the usual one is at most so much longer.
LONGEST = 1.5
#: Colors of arrows: what the contact does.
COLORS = {Mode.OPEN: (0.55, 0.55, 0.55), Mode.STICK: (0.05, 0.32, 0.72), Mode.SLIDE: (0.85, 0.16, 0.12)}
#: Colors of ground that has none of its own: here, and in MJCF.
_NO_COLOR = ((0.72, 0.73, 0.74, 1.0), (0.5, 0.5, 0.5, 1.0))


@dataclass
class _Part:
    """Shapes that move together: an actor per opacity, and their outermost points in their own frame."""

    body: int
    actors: list[Any]
    points: Array
    #: Ground by what it is: a height field.
    terrain: bool = False
    #: Something that touches: what is there to be looked at, as the torso of a robot, is no wall.
    wall: bool = True
    opacity: float = 1.0


@dataclass
class _Ground:
    """A half-space: its frame (rows: two axes in it, its normal; then its origin) and color."""

    axes: Array
    origin: Array
    color: tuple[float, float, float]


def _outermost(vertices: Array) -> Array:
    found: Array = vertices[np.unique((vertices @ _DIRECTIONS.T).argmax(axis=0))]
    return found


def _posed(geom: Geom) -> Array:
    pose: Array = matrices(np.concatenate([geom.position, geom.quaternion])[None])[0]
    return pose


def _placed(geom: Geom) -> tuple[Array, Any]:
    """Its triangles, in the frame of its body."""
    vertices, faces = geom.mesh()
    pose = _posed(geom)
    return vertices @ pose[:3, :3].T + pose[:3, 3], faces


class Stage:
    """All of a scene in a window."""

    def __init__(self, scene: Scene, window: Window, *, axes: Array, shapes: str) -> None:
        self.scene, self.window, self.axes, self._shapes = scene, window, axes, shapes
        self._moves = _moving(scene)
        self._roots = roots(scene)
        self.parts: list[_Part] = []
        self.grounds: list[_Ground] = []
        self._large: list[tuple[Any, Any]] = []
        self._floors: list[Any] = []
        self._floor_of: tuple[Any, ...] = ()
        self._arrows: Any = None
        by_body: dict[int, list[Geom]] = {}
        for geom in scene.geoms:
            if opacity(geom, shapes) == 0.0:
                continue
            if geom.shape == "half-space":
                self._add_ground(geom)
            else:
                by_body.setdefault(geom.body, []).append(geom)
        for body, geoms in by_body.items():
            self._add_part(body, geoms)
        sizes = [float(np.linalg.norm(np.ptp(p.points, axis=0))) for p in self.parts if p.body >= 0 and self._moves[p.body]]
        #: Of what moves, in the middle (m).
        self._body_size = float(np.median(sizes)) if sizes else 0.0
        if not self.grounds:
            window.shade_background()

    def _add_ground(self, geom: Geom) -> None:
        pose = _posed(geom)
        plain = any(np.allclose(geom.color, gray, atol=0.01) for gray in _NO_COLOR)
        color = BACKGROUND if plain else geom.color[:3]
        self.grounds.append(_Ground(pose[:3, :3].T, pose[:3, 3], color))
        if not plain and pose[:3, 2] @ self.axes[2] > LEVEL:
            self.window.ground.SetBackground(*color)

    def _add_part(self, body: int, geoms: Sequence[Geom]) -> None:
        joined: dict[float, Any] = {}
        points, fixed = [], body < 0 or not self._moves[body]
        meshes = [(geom, *_placed(geom)) for geom in geoms]
        for geom, vertices, faces in (mesh for mesh in meshes if len(mesh[2])):
            # Each fixed shape is a part of its own: some are ground, and some are what the picture is about.
            if fixed:
                self._add_fixed(body, geom, vertices, faces)
                continue
            data = smooth(surface(vertices, faces, np.tile(geom.color[:3], (len(vertices), 1))))
            joined.setdefault(opacity(geom, self._shapes), vtkAppendPolyData()).AddInputData(data)
            points.append(_outermost(vertices))
        if joined:
            self.parts.append(_Part(body, [self._show(joining, visible) for visible, joining in joined.items()], np.concatenate(points)))

    def _show(self, joining: Any, visible: float) -> Any:
        joining.Update()
        made = actor(joining.GetOutput(), opacity=visible)
        self.window.scene.AddActor(made)
        return made

    def _add_fixed(self, body: int, geom: Geom, vertices: Array, faces: Any) -> None:
        data = smooth(surface(vertices, faces, np.tile(geom.color[:3], (len(vertices), 1))))
        visible = opacity(geom, self._shapes)
        made = actor(data, opacity=visible)
        self.window.scene.AddActor(made)
        self._large.append((made, data))
        self.parts.append(_Part(body, [made], _outermost(vertices), geom.shape == "height-field", not geom.visual, visible))

    # What is to be seen

    def seen(self, frames: Sequence[Frame], bodies: Sequence[int] | None = None) -> list[Array]:
        """The points of each frame that a camera is to see: of all that moves, or of these bodies, and of fixed shapes that are not ground."""
        moving = [p for p in self.parts if p.body >= 0 and (self._moves[p.body] if bodies is None else p.body in bodies)]
        fixed = [p for p in self.parts if p not in moving]
        placed = [[_at(p, frame) for p in moving] for frame in frames]
        if moving and bodies is None:
            kept = _together(np.array([[q.mean(axis=0) for q in of] for of in placed]))
            placed = [[q for q, good in zip(of, row, strict=True) if good] for of, row in zip(placed, kept, strict=True)]
        out = [np.concatenate(of) if of else np.zeros((0, 3)) for of in placed]
        if bodies is not None:
            return out
        every = np.concatenate(out)
        still = [_at(p, frames[0]) for p in fixed]
        if len(every):
            low, high = every.min(axis=0), every.max(axis=0)
            size = max(float(np.linalg.norm(high - low)), 1e-9)
            close = [q for q, p in zip(still, fixed, strict=True) if not p.terrain and np.ptp(q, axis=0).max() <= LARGE * size and (np.abs(q.mean(axis=0) - (low + high) / 2) < LARGE * size).all()]
        else:
            close = still
        extra = np.concatenate(close) if close else np.zeros((0, 3))
        if not len(every) and not len(extra):
            extra = np.array([g.origin for g in self.grounds] or [np.zeros(3)]) + 0.5 * np.concatenate([np.zeros((1, 3)), np.eye(3), -np.eye(3)])[:, None].reshape(-1, 3)[:7]
        return [np.concatenate([of, extra]) for of in out]

    def moving_middle(self, frame: Frame) -> Array:
        """The middle of all that moves."""
        points = [_at(p, frame).mean(axis=0) for p in self.parts if p.body >= 0 and self._moves[p.body]]
        return np.median(points, axis=0) if points else np.zeros(3)

    def hidden(self, view: View, frames: Sequence[Frame]) -> float:
        """The part of all that moves whose middle is behind something else, from 0 to 1: by boxes about what is drawn.

        Of a robot one link is always behind another: only what does not hang together counts.
        """
        tree = np.array([self._roots[p.body] for p in self.parts if p.body >= 0 and self._moves[p.body] and p.opacity > 0.5])
        moving = [p for p in self.parts if p.body >= 0 and self._moves[p.body] and p.opacity > 0.5]
        count = 0
        for frame in frames:
            placed = [_at(p, frame) for p in moving]
            start = np.array([q.mean(axis=0) for q in placed]).reshape(-1, 3)
            behind = np.zeros(len(moving), dtype=bool)
            for k, points in enumerate(placed):
                crossed = _crosses(start, view.position - start, points.min(axis=0), points.max(axis=0))
                behind |= crossed & (tree != tree[k])
            count += int(behind.sum())
        return count / max(1, len(moving) * len(frames))

    # Drawing

    def clip(self, view: View) -> None:
        """Fixed shapes that reach far beyond the view are cut off: the shadow map covers all that is drawn."""
        reach = FAR_GROUND * view.radius
        for made, data in self._large:
            bounds = np.array(data.GetBounds()).reshape(3, 2)
            outside = (bounds[:, 0] < view.target - reach) | (bounds[:, 1] > view.target + reach)
            if outside.any():
                box, cut = vtkBox(), vtkClipPolyData()
                box.SetBounds(*np.stack([view.target - reach, view.target + reach], axis=1).ravel())
                cut.SetInputData(data)
                cut.SetClipFunction(box)
                cut.InsideOutOn()
                cut.Update()
                made.GetMapper().SetInputData(cut.GetOutput())

    def make_glass(self, view: View, frames: Sequence[Frame]) -> None:
        """What is fixed and stands between the camera and what moves is drawn as glass: the near walls of a bin."""
        centers = [_at(p, frame).mean(axis=0) for frame in frames for p in self.parts if p.body >= 0 and self._moves[p.body]]
        if not centers:
            return
        start = np.array(centers)
        ray = view.position - start
        fixed = [p for p in self.parts if p.wall and not (p.body >= 0 and self._moves[p.body] or p.terrain)]
        corners = [(points.min(axis=0), points.max(axis=0)) for points in (_at(p, frames[0]) for p in fixed)]
        hidden = np.array([_crosses(start, ray, *corner) for corner in corners]).reshape(len(fixed), len(start))
        # One wall hides much, or many hide much together.
        together = hidden.any(axis=0).mean() > HIDDEN
        for part, of in zip(fixed, hidden, strict=True):
            glass = of.mean() > HIDES or together and of.any()
            for one in part.actors:
                one.GetProperty().SetOpacity(part.opacity * (GLASS if glass else 1.0))

    def pose(self, frame: Frame) -> None:
        """Puts the bodies in their places."""
        of = matrices(frame.poses)
        for part in self.parts:
            if part.body >= 0:
                for one in part.actors:
                    place(one, of[part.body])

    def lay_floors(self, view: View, frame: Frame) -> None:
        """Ground around what is seen: near ground with shadows, far ground behind everything."""
        square = _nice(view.radius / SQUARES)
        plan = [self._plan(ground, view, frame, square) for ground in self.grounds]
        made = tuple((None if p is None else (tuple(p[0]), tuple(p[1])), square, view.light) for p in plan)
        if made == self._floor_of:
            return
        for layer, old in self._floors:
            layer.RemoveActor(old)
        self._floors, self._floor_of = [], made
        for ground, squares in zip(self.grounds, plan, strict=True):
            if squares is not None:
                self._lay(ground, view, square, *squares)

    def _plan(self, ground: _Ground, view: View, frame: Frame, square: float) -> tuple[Any, Any] | None:
        """Squares of the near ground; none where the camera looks from behind."""
        if (view.position - ground.origin) @ ground.axes[2] <= 0.0:
            return None
        toward = ground.axes @ view.toward(KEY_SIDE, KEY_ELEVATION)
        middle = ground.axes @ (view.target - ground.origin)
        points = np.concatenate([_at(p, frame) for p in self.parts] or [view.target[None]])
        points = (points - ground.origin) @ ground.axes.T
        points = np.concatenate([points, middle + view.radius * np.array([[1, 1, 0], [-1, -1, 0]])])
        fallen = points[:, :2] - points[:, 2:].clip(0.0) * toward[:2] / max(toward[2], 0.2)
        reach = NEAR_GROUND * view.radius
        flat = np.clip(np.concatenate([points[:, :2], fallen]), middle[:2] - reach, middle[:2] + reach)
        low, high = flat.min(axis=0) - 0.2 * view.radius, flat.max(axis=0) + 0.2 * view.radius
        return np.floor(low / square).astype(int), np.ceil(high / square).astype(int)

    def _lay(self, ground: _Ground, view: View, square: float, low: Any, high: Any) -> None:
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = ground.axes.T, ground.origin
        middle = ((view.target - ground.origin) @ ground.axes.T)[:2]
        light = floor_light(ground.axes[2], view)
        fade = (middle, FADE[0] * view.radius, FADE[1] * view.radius)
        level = ground.axes[2] @ self.axes[2] > LEVEL
        reach = int(np.ceil(FAR_GROUND * view.radius / square))
        first = np.round(middle / square).astype(int)
        layers = [(self.window.scene, checker(low, high, square, light, ground.color, fade))]
        if level:
            layers.append((self.window.ground, checker(first - reach, first + reach, square, light, ground.color, fade)))
        for layer, data in layers:
            made = actor(data, shiny=False)
            place(made, frame)
            layer.AddActor(made)
            self._floors.append((layer, made))

    def arrow_length(self, view: View) -> float:
        """Of a usual force (m)."""
        return min(ARROW * view.radius, ARROW_SIZES * self._body_size) if self._body_size > 0.0 else ARROW * view.radius

    def tips(self, frames: Sequence[Frame], view: View, newtons: float) -> Array:
        """Where the arrows of frames end, (k, 3)."""
        drawn = [self._vectors(frame.contacts, view, newtons) + frame.contacts["point"] for frame in frames if frame.contacts is not None]
        return np.concatenate([np.zeros((0, 3)), *drawn])

    def _vectors(self, contacts: npt.NDArray[Any], view: View, newtons: float) -> Array:
        """Arrows of contacts (m); one of `newtons` has the full length."""
        if newtons <= 0.0:
            return np.zeros((len(contacts), 3))
        full = self.arrow_length(view)
        # On the second body, or on the first where that is all that moves.
        sign = np.where([self._carries(body) for body in contacts["body_b"]], 1.0, -1.0)
        vector: Array = contacts["force"] * sign[:, None] * (full / newtons)
        length = np.linalg.norm(vector, axis=1, keepdims=True)
        vector *= np.minimum(1.0, LONGEST * full / np.maximum(length, 1e-300))
        return vector

    def show_forces(self, frame: Frame, view: View, newtons: float) -> None:
        """Arrows of the contact forces; one of `newtons` has the full length."""
        if self._arrows is not None:
            self.window.front.RemoveActor(self._arrows)
            self._arrows = None
        if frame.contacts is None or not len(frame.contacts) or newtons <= 0.0:
            return
        found = frame.contacts
        colors = np.array([COLORS[Mode(int(mode))] for mode in found["mode"]])
        radius = max(ARROW_RADIUS * self.arrow_length(view), THINNEST * view.radius)
        self._arrows = actor(arrows(found["point"], self._vectors(found, view, newtons), colors, radius))
        self.window.front.AddActor(self._arrows)

    def _carries(self, body: int) -> bool:
        return body >= 0 and bool(self._moves[body])


def _at(part: _Part, frame: Frame) -> Array:
    if part.body < 0:
        return part.points
    of = matrices(frame.poses[part.body][None])[0]
    moved: Array = part.points @ of[:3, :3].T + of[:3, 3]
    return moved


def _crosses(start: Array, ray: Array, low: Array, high: Array) -> npt.NDArray[np.bool_]:
    """Which rays from points to the camera go through a box."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (low - start) / ray, (high - start) / ray
    enters = np.nan_to_num(np.minimum(a, b), nan=-np.inf).max(axis=1)
    leaves = np.nan_to_num(np.maximum(a, b), nan=np.inf).min(axis=1)
    crossed: npt.NDArray[np.bool_] = (enters < leaves) & (leaves > 0.0) & (enters < 1.0) & (enters > 0.0)
    return crossed


def roots(scene: Scene) -> list[int]:
    """The first body of all that hang together with each body."""
    found = list(range(len(scene.bodies)))
    for i, parent in enumerate(scene.parents):
        found[i] = found[parent] if parent >= 0 else i
    return found


def _moving(scene: Scene) -> npt.NDArray[np.bool_]:
    """Which bodies can move: those on a joint, or on a body that can."""
    moves = np.array([kind != "fixed" for kind in scene.joint_types], bool)
    for body, parent in enumerate(scene.parents):
        if parent >= 0:
            moves[body] |= moves[parent]
    return moves


def _together(middles: Array) -> npt.NDArray[np.bool_]:
    """Which bodies of which frames are not lost; (frames, bodies, 3) to (frames, bodies)."""
    middle = np.median(middles, axis=1, keepdims=True)
    away = np.linalg.norm(middles - middle, axis=2)
    usual = np.quantile(away, 0.75)
    return away <= LOST * usual + 1e-12 if middles.shape[1] > 2 else np.ones(away.shape, bool)


def _nice(x: float) -> float:
    """1, 2 or 5 times a power of ten, near x."""
    power = 10.0 ** np.floor(np.log10(max(x, 1e-12)))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(np.log(k * power / max(x, 1e-12)))))
