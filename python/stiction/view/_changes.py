"""What the panel changes of a scene, while it runs."""

from __future__ import annotations

import threading
from typing import Any

from .._stiction import Scene
from ._runner import Runner

__all__ = ["Changes"]


class Changes:
    """Settings and parameters put over a scene.

    A slider asks for more changes than a large scene can follow: those that wait are made in one.

    Parameters
    ----------
    runner : Runner
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._lock = threading.Lock()
        self._waiting: list[tuple[dict[str, Any], dict[str, float]]] = []
        self.begin(runner.simulation.scene)

    def begin(self, scene: Scene) -> None:
        """Take a scene as it is."""
        with self._lock:
            self.scene = scene
            self._settings: dict[str, Any] = {}
            self._parameters: dict[str, float] = {}
            self._waiting = []

    def set(self, **settings: Any) -> None:
        """Change settings, as of ``Scene.with_settings``."""
        self._ask(settings, {})

    def set_parameter(self, name: str, value: float) -> None:
        """Change a parameter, which may change everything: what is on the page is drawn anew."""
        self._ask({}, {name: value})

    def _ask(self, settings: dict[str, Any], parameters: dict[str, float]) -> None:
        with self._lock:
            first = not self._waiting
            self._waiting.append((settings, parameters))
        if first:
            self._runner.do(self._make, at_once=True)

    def _make(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            settings, parameters = dict(self._settings), dict(self._parameters)
        for more_settings, more_parameters in waiting:
            settings.update(more_settings)
            parameters.update(more_parameters)
        scene = self.scene.with_parameters(**parameters) if parameters else self.scene
        same_shapes = not any(changed for _, changed in waiting)
        self._runner.replace(scene.with_settings(**settings), keep=True, same_shapes=same_shapes)
        # What cannot be is not kept.
        with self._lock:
            self._settings, self._parameters = settings, parameters
