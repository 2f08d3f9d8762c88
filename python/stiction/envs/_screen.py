"""What environments look like: pictures, and a window that shows them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .task import Task

if TYPE_CHECKING:
    from ..render import Renderer

__all__ = ["MODES", "Screen", "checked"]

#: Render modes of one environment.
MODES = ("human", "rgb_array")


def checked(mode: str | None, modes: Sequence[str]) -> str | None:
    """A render mode that there is."""
    if mode is not None and mode not in modes:
        raise InputError(f"render_mode must be one of {', '.join(modes)}, found {mode!r}")
    return mode


class Screen:
    """Draws an environment; everything is made when it is first needed."""

    def __init__(self, task: Task, width: int, height: int) -> None:
        self._task, self._size = task, (width, height)
        self._renderer: Renderer | None = None
        self._window: Any = None
        self._clock: Any = None

    def picture(self, poses: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
        """A picture of these poses."""
        if self._renderer is None:
            from ..render import Camera, Renderer

            self._renderer = Renderer(self._task.scene, *self._size, camera=Camera(follow=self._task.follow))
        return self._renderer.render(poses)

    def show(self, poses: npt.NDArray[np.float64]) -> None:
        """Shows these poses in the window, in real time."""
        picture = self.picture(poses)
        try:
            os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
            import pygame
        except ImportError:
            raise ImportError("render_mode='human' needs pygame: pip install pygame") from None
        if self._window is None:
            try:
                pygame.display.init()
                self._window = pygame.display.set_mode(self._size)
            except pygame.error as error:
                raise InputError(f"render_mode='human' needs a display ({error}); without one render_mode='rgb_array' gives pictures") from None
            pygame.display.set_caption(self._task.scene.title)
            self._clock = pygame.time.Clock()
        pygame.surfarray.blit_array(self._window, picture.swapaxes(0, 1))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(1.0 / self._task.period)

    def close(self) -> None:
        """Closes the window, and gives back what pictures hold."""
        if self._window is not None:
            import pygame

            pygame.display.quit()
            self._window = None
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
