"""A body that stays in the middle of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ROOT", "Follow"]

Array = npt.NDArray[np.float64]

#: The node that holds all of the scene.
ROOT = "/world"
#: What the menu says where no body is followed.
_NOTHING = "nothing"


class Follow:
    """Holds a body in its place by moving the scene under the camera.

    Each visitor's camera stays his own. It is not moved along: a page tells late where its camera is, so that one that is moved while somebody turns it
    jumps back and forth.

    Parameters
    ----------
    server
        Of viser.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._node = server.scene.add_frame(ROOT, show_axes=False)
        self._names: list[str] = []
        self._menu: Any = None
        self.body: int | None = None
        #: Where the body stays on the page (m).
        self._anchor = np.zeros(3)
        #: From places in the world to places on the page (m).
        self.shift = np.zeros(3)

    def begin(self, names: Sequence[str]) -> None:
        """Begin anew with other bodies; none of them is followed."""
        self._names = list(names)
        self.body = None
        self._move(np.zeros(3))
        if self._menu is not None:
            self._menu.options = (_NOTHING, *self._names)
            self._menu.value = _NOTHING

    def add_menu(self, gui: Any, changed: Callable[[str | None], None]) -> None:
        """A menu of bodies; says when a visitor has chosen another."""
        self._menu = gui.add_dropdown("Follow", (_NOTHING, *self._names), initial_value=_NOTHING, hint="keep a body in the middle")

        def chosen(event: Any) -> None:
            if event.client is not None:
                changed(None if self._menu.value == _NOTHING else self._menu.value)

        self._menu.on_update(chosen)

    def choose(self, body: int | None, bodies: Array) -> None:
        """Follow a body from where it is, in the middle of every page; None for none."""
        self.body = body
        name = _NOTHING if body is None else self._names[body]
        if self._menu is not None and self._menu.value != name:
            self._menu.value = name
        if body is None:
            return
        self._anchor = bodies[body] + self.shift
        for camera in [self._server.initial_camera, *(c.camera for c in self._server.get_clients().values())]:
            way = np.asarray(camera.position) - np.asarray(camera.look_at)
            camera.position, camera.look_at = self._anchor + way, self._anchor

    def update(self, bodies: Array) -> None:
        """Move the scene, with bodies at these positions, (bodies, 3)."""
        if self.body is not None and self.body < len(bodies):
            self._move(self._anchor - bodies[self.body])

    def _move(self, shift: Array) -> None:
        if not np.array_equal(shift, self.shift):
            self.shift = shift
            self._node.position = shift
