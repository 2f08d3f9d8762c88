"""Contacts on the page: points, forces as arrows coloured by mode, friction cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..sim import Mode
from ._follow import ROOT

__all__ = ["COLORS", "ContactStyle", "Contacts", "cones"]

Array = npt.NDArray[np.float64]

#: Red, green and blue by mode: breaking, sticking, sliding.
COLORS = {Mode.OPEN: (134, 142, 150), Mode.STICK: (26, 140, 92), Mode.SLIDE: (232, 98, 18)}
_BY_MODE = np.array([COLORS[Mode(k)] for k in range(3)], dtype=np.uint8)
#: A force that is larger than this part of all gives the arrows their scale: not the one impact among many contacts.
_LARGE = 0.9
#: How long it is, how long an arrow is at most, and at least to be drawn, in sizes of a body.
_LENGTH, _LONGEST, _SHORTEST = 1.6, 4.0, 0.02
#: The scale forgets this part of a larger force per update.
_FORGET = 0.02
#: Sides of a friction cone.
_CONE_SIDES = 24
#: Cones of an infinite coefficient are drawn as wide as this one.
_WIDEST_CONE = 3.0


@dataclass
class ContactStyle:
    """What is shown of contacts."""

    points: bool = True
    #: "force" (one arrow), "normal and friction" (two), "pairs" (one per pair of bodies) or "none".
    arrows: str = "force"
    cones: bool = False
    #: Lengthens arrows.
    scale: float = 1.0


class Contacts:
    """Draws contacts.

    Parameters
    ----------
    server
        Of viser.
    size : float
        Of a body (m): arrows are of about this length.
    """

    def __init__(self, server: Any, size: float) -> None:
        self.style = ContactStyle()
        self._size = size
        self._large = 0.0
        nowhere = np.zeros((1, 2, 3), dtype=np.float32)
        white = np.zeros((1, 3), dtype=np.uint8)
        self._arrows = server.scene.add_arrows(
            f"{ROOT}/contacts/forces", nowhere, white, shaft_radius=0.028 * size, head_radius=0.075 * size, head_length=0.17 * size, visible=False
        )
        self._points = server.scene.add_point_cloud(
            f"{ROOT}/contacts/points", nowhere[0], np.zeros((2, 3), dtype=np.uint8), point_size=0.075 * size, point_shape="circle", precision="float32",
            visible=False,
        )
        vertices, faces = _cone()
        self._cones = server.scene.add_batched_meshes_simple(
            f"{ROOT}/contacts/cones", vertices, faces, np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), batched_scales=np.ones((1, 3)), lod="off",
            batched_colors=white, opacity=0.28, side="double", cast_shadow=False, receive_shadow=False, visible=False,
        )
        self._pull = server.scene.add_arrows(
            f"{ROOT}/drag", nowhere, np.array([[190, 24, 120]], dtype=np.uint8), shaft_radius=0.04 * size, head_radius=0.11 * size,
            head_length=0.24 * size, visible=False,
        )

    def update(self, contacts: npt.NDArray[Any]) -> None:
        """Draw contacts: ``Simulation.contacts``."""
        sizes = np.linalg.norm(contacts["force"], axis=1)
        pushing = np.sort(sizes[sizes > 0.0])
        large = float(pushing[int(_LARGE * (len(pushing) - 1))]) if len(pushing) else 0.0
        self._large = max(large, (1.0 - _FORGET) * self._large)
        colors = _BY_MODE[np.clip(contacts["mode"], 0, 2)]
        show = self.style.points and len(contacts) > 0
        if show:
            self._points.points, self._points.colors = contacts["point"].astype(np.float32), colors
        _visible(self._points, show)
        self._update_arrows(contacts, colors)
        self._update_cones(contacts, colors)

    def _update_arrows(self, contacts: npt.NDArray[Any], colors: npt.NDArray[np.uint8]) -> None:
        starts, forces, colors = _arrows(self.style.arrows, contacts, colors)
        vectors = forces * (self.style.scale * _LENGTH * self._size / self._large if self._large > 0.0 else 0.0)
        lengths = np.linalg.norm(vectors, axis=1)
        longest = self.style.scale * _LONGEST * self._size
        vectors *= np.minimum(1.0, longest / np.maximum(lengths, 1e-300))[:, None]
        seen = lengths > _SHORTEST * self._size
        if seen.any():
            starts, vectors = starts[seen], vectors[seen]
            self._arrows.points = np.stack([starts, starts + vectors], axis=1).astype(np.float32)
            self._arrows.colors = colors[seen]
        _visible(self._arrows, bool(seen.any()))

    def _update_cones(self, contacts: npt.NDArray[Any], colors: npt.NDArray[np.uint8]) -> None:
        touching = (contacts["normal_force"] > 0.0) & (contacts["mu"] > 0.0)
        show = self.style.cones and bool(touching.any())
        if show:
            turns, scales = cones(contacts[touching], 0.8 * self._size)
            self._cones.batched_positions = contacts["point"][touching].astype(np.float32)
            self._cones.batched_wxyzs = turns.astype(np.float32)
            self._cones.batched_scales = scales.astype(np.float32)
            self._cones.batched_colors = colors[touching]
        _visible(self._cones, show)

    def pull(self, held: Array | None, target: Array | None) -> None:
        """Draw the spring with which somebody drags a body; None for nobody."""
        if held is not None and target is not None:
            self._pull.points = np.stack([held, target])[None].astype(np.float32)
        _visible(self._pull, held is not None)

    def remove(self) -> None:
        """Take everything off the page."""
        for node in (self._arrows, self._points, self._cones, self._pull):
            node.remove()


def _visible(node: Any, visible: bool) -> None:
    if node.visible != visible:
        node.visible = visible


def _arrows(kind: str, contacts: npt.NDArray[Any], colors: npt.NDArray[np.uint8]) -> tuple[Array, Array, npt.NDArray[np.uint8]]:
    """Where arrows start, the forces they show (N) and their colours."""
    points, forces = contacts["point"], contacts["force"]
    if kind == "none" or len(contacts) == 0:
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), dtype=np.uint8)
    if kind == "normal and friction":
        normal = contacts["normal_force"][:, None] * contacts["frame"][:, 0]
        pale = (0.45 * colors + 0.55 * 255).astype(np.uint8)
        return np.concatenate([points, points]), np.concatenate([normal, forces - normal]), np.concatenate([pale, colors])
    if kind == "pairs":
        pairs, which = np.unique(np.stack([contacts["body_a"], contacts["body_b"]], axis=1), axis=0, return_inverse=True)
        which = which.ravel()
        weights = contacts["normal_force"] + 1e-300
        total = np.zeros((len(pairs), 3))
        place = np.zeros((len(pairs), 3))
        weight = np.zeros(len(pairs))
        np.add.at(total, which, forces)
        np.add.at(place, which, weights[:, None] * points)
        np.add.at(weight, which, weights)
        mode = np.zeros(len(pairs), dtype=np.int64)
        np.maximum.at(mode, which, np.clip(contacts["mode"], 0, 2).astype(np.int64))
        return place / weight[:, None], total, _BY_MODE[mode]
    return points, forces, colors


def _cone() -> tuple[Array, npt.NDArray[np.int64]]:
    """A cone of height and radius 1 that opens along z, without a lid."""
    angle = 2.0 * np.pi * np.arange(_CONE_SIDES) / _CONE_SIDES
    rim = np.stack([np.cos(angle), np.sin(angle), np.ones(_CONE_SIDES)], axis=1)
    k = np.arange(_CONE_SIDES)
    return np.concatenate([np.zeros((1, 3)), rim]), np.stack([0 * k, 1 + (k + 1) % _CONE_SIDES, 1 + k], axis=1)


def cones(contacts: npt.NDArray[Any], height: float) -> tuple[Array, Array]:
    """Turns (quaternions w, x, y, z) and sizes along x, y and z of friction cones, (n, 4) and (n, 3).

    Their section is an ellipse where friction depends on the direction: x is along the first tangent, y along the second, z along the normal.
    """
    along, across = (height * np.minimum(contacts[name], _WIDEST_CONE) for name in ("mu", "mu_across"))
    normal, first, second = (contacts["frame"][:, k] for k in range(3))
    return _quaternions(np.stack([first, second, normal], axis=2)), np.stack([along, across, np.full(len(along), height)], axis=1)


def _quaternions(turns: Array) -> Array:
    """Matrices of turns, (n, 3, 3), as quaternions w, x, y, z, (n, 4)."""
    # Four times w², x², y² and z²; the largest is far from 0.
    trace = np.einsum("nii->n", turns)
    squares = 1.0 + np.stack([trace, *(2.0 * turns[:, k, k] - trace for k in range(3))], axis=1)
    largest = squares.argmax(axis=1)
    of = np.arange(len(turns))
    skew = np.stack([turns[:, (k + 2) % 3, (k + 1) % 3] - turns[:, (k + 1) % 3, (k + 2) % 3] for k in range(3)], axis=1)
    products = np.empty((len(turns), 4, 4))
    products[:, range(4), range(4)] = squares
    products[:, 0, 1:] = products[:, 1:, 0] = skew
    for i in range(3):
        for j in range(3):
            if i != j:
                products[:, 1 + i, 1 + j] = turns[:, i, j] + turns[:, j, i]
    rows: Array = products[of, largest]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows
