"""What all viewers share: a page, something drawn on it, and an end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._drawn import SHAPES
from .._stiction import Scene
from ..errors import InputError
from ._contacts import Contacts
from ._follow import Follow
from ._frame import Frame
from ._server import stopped
from ._shapes import Shapes, body_size, bounds

__all__ = ["Viewer"]

Array = npt.NDArray[np.float64]

#: Where the camera stands, seen from the middle of the scene.
_FROM = np.array([1.0, -1.6, 0.85]) / np.linalg.norm([1.0, -1.6, 0.85])
#: Half the opening angle of the camera takes in a ball of this many sizes of the scene.
_ROOM = 1.25
#: The panel covers the right of the page: the scene is this many of its sizes to the left of the middle.
_BESIDE_PANEL = 0.25
#: Vertical opening angle of the camera (rad).
_FIELD_OF_VIEW = np.radians(40.0)


class Viewer:
    """A page that shows a simulation or a recording; made by `view`.

    Parameters
    ----------
    server
        Of viser.

    Attributes
    ----------
    url : str
        Where the page is.
    frame : Frame
        What it shows.
    frames : int
        How many were drawn so far.
    """

    frame: Frame

    def __init__(self, server: Any) -> None:
        self._server = server
        self._closed = threading.Event()
        self.frames = 0
        host = server.get_host()
        shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
        self.url = f"http://{shown}:{server.get_port()}"
        self._shapes: Shapes | None = None
        self._contacts: Contacts | None = None
        self._follow = Follow(server)
        self._chosen_shapes = "visual"

    def follow(self, body: str | int | None) -> None:
        """Keep a body in the middle of every page while it moves.

        Parameters
        ----------
        body : str or int or None
            None follows none, and stays where it is.

        Raises
        ------
        InputError
            There is no such body.
        """
        self._follow.choose(None if body is None else self.frame.scene.body(body), self.frame.bodies)

    def close(self) -> None:
        """Take the page down; a simulation is left in order."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait until the viewer is closed, or for Ctrl-C, which closes it."""
        try:
            # Not one long wait: Ctrl-C must get through.
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed.is_set() else self.url
        return f"{type(self).__name__}({state})"

    def _repr_html_(self) -> str:
        return f"<a href='{self.url}'>{self.url}</a><br><iframe src='{self.url}' style='width:100%;height:520px;border:0'></iframe>"

    # For those who draw.

    def _stop_server(self) -> None:
        stopped(self._server)

    def _draw_scene(self, scene: Scene, poses: Array) -> None:
        """Replace what is on the page by another scene."""
        style = None if self._contacts is None else self._contacts.style
        if self._contacts is not None:
            self._contacts.remove()
        self._draw_shapes(scene, poses)
        self._contacts = Contacts(self._server, body_size(scene))
        if style is not None:
            self._contacts.style = style
        self._follow.begin(scene.bodies)
        self._look_at(scene, poses)

    def _draw_shapes(self, scene: Scene, poses: Array) -> None:
        if self._shapes is not None:
            self._shapes.remove()
        self._shapes = Shapes(self._server, scene, poses, self._chosen_shapes)

    def _add_view_menus(self, gui: Any, changed: Callable[[], None]) -> None:
        """Menus of what is drawn and what the camera follows; says when a frame must be drawn again."""
        self._follow.add_menu(gui, self._follow_chosen)
        hint = "visual: what the file gives to be looked at, and what touches where there is nothing else; collision: what touches"
        menu = gui.add_dropdown("Shapes", SHAPES, initial_value=self._chosen_shapes, hint=hint)

        def chosen(_: Any) -> None:
            self._chosen_shapes = menu.value
            changed()

        menu.on_update(chosen)

    def _follow_chosen(self, body: str | None) -> None:
        # A menu may be a moment behind a scene that was changed.
        with contextlib.suppress(InputError):
            self.follow(body)

    def _look_at(self, scene: Scene, poses: Array) -> None:
        middle, size = bounds(scene, poses)
        middle = middle + self._follow.shift
        distance = _ROOM * size / np.tan(0.5 * _FIELD_OF_VIEW)
        right = np.cross([0.0, 0.0, 1.0], _FROM)
        middle = middle + _BESIDE_PANEL * size * right / np.linalg.norm(right)
        cameras = [self._server.initial_camera, *(c.camera for c in self._server.get_clients().values())]
        for camera in cameras:
            camera.fov = _FIELD_OF_VIEW
            camera.near, camera.far = 1e-3 * distance, 1e3 * distance
            camera.position = middle + distance * _FROM
            camera.look_at = middle

    def _draw(self, frame: Frame, poses: Array | None = None, bodies: Array | None = None) -> None:
        """Show a frame, all of it in one message; its geoms and bodies at other poses, if these are given."""
        assert self._contacts is not None and self._shapes is not None
        with self._server.atomic():
            if self._shapes.shapes != self._chosen_shapes:
                self._draw_shapes(frame.scene, frame.poses)
            self._move(frame.poses if poses is None else poses, frame.bodies if bodies is None else bodies)
            self._contacts.update(frame.contacts)
            pull = frame.pull
            self._contacts.pull(None if pull is None else pull.held, None if pull is None else pull.target)
        self.frame = frame
        self.frames += 1

    def _move(self, poses: Array, bodies: Array) -> None:
        """Show geoms and bodies elsewhere."""
        assert self._shapes is not None
        with self._server.atomic():
            self._shapes.update(poses)
            self._follow.update(bodies)


class Pace:
    """Simulated seconds per second, over the last second."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, float]] = []

    def add(self, t: float) -> float | None:
        """The pace now that the simulation is at time t (s)."""
        now = time.perf_counter()
        if self._seen and t < self._seen[-1][1]:
            self._seen.clear()
        self._seen = [(wall, at) for wall, at in self._seen if now - wall < 1.0] + [(now, t)]
        (first, start), (last, end) = self._seen[0], self._seen[-1]
        return (end - start) / (last - first) if last - first > 0.2 else None
