"""One tree of exceptions.

``StictionError``
    everything below
``InputError``
    an argument that cannot be used as it is: a wrong shape, a NaN, an unknown name (also a ``ValueError``)
``SceneError``
    a scene or robot file that cannot be used as it is, with its place (also a ``ValueError``)
``SceneNotFound``
    a ``SceneError`` of a file that is not there (also a ``FileNotFoundError``)
``NotSolved``
    there is no certified answer; ``outcome`` says why
``StepFailed``
    a step could not be certified (a ``NotSolved``)
``StepInterrupted``
    a step was told to end by ``Simulation.interrupt``
``BusyError``
    one simulation used by two threads at once (also a ``RuntimeError``)
``InternalError``
    a fault of the engine itself; please report it

``StictionWarning``
    a file of which something is not used as it stands there (a ``UserWarning``, no error)

An array of the wrong dtype is a plain ``TypeError``.
"""

from __future__ import annotations

import errno
from typing import Any

__all__ = ["BusyError", "InputError", "InternalError", "NotSolved", "SceneError", "SceneNotFound", "StepFailed", "StepInterrupted", "StictionError", "StictionWarning"]


class StictionError(Exception):
    """The root of all errors of this package."""

    # Of the layout of ``Exception`` itself: see `InternalError`.
    __slots__ = ()


class StictionWarning(UserWarning):
    """A scene or robot file of which something is left out or changed: ``scene.notes`` has all of it. Given once per file."""


class InputError(StictionError, ValueError):
    """An argument that cannot be used as it is."""


class SceneError(StictionError, ValueError):
    """A scene or robot file that cannot be used as it is.

    Attributes
    ----------
    file : str or None
        The file.
    line, column : int or None
        The place in it, from 1.
    element : str
        The element: a key of a scene (``bodies.block1.mass``) or an element of XML.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        element: str = "",
    ) -> None:
        super().__init__(message, file, line, column, element)
        self.file = file
        self.line = line
        self.column = column
        self.element = element

    def __str__(self) -> str:
        return str(self.args[0])


class SceneNotFound(SceneError, FileNotFoundError):
    """A scene or robot file, or a file that one of them names, that is not there."""

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        element: str = "",
    ) -> None:
        super().__init__(message, file, line, column, element)
        self.errno, self.filename = errno.ENOENT, file


class NotSolved(StictionError):
    """There is no certified answer.

    Attributes
    ----------
    outcome : object
        What the solve came to, with its proof or reason.
    """

    def __init__(self, message: str, outcome: Any = None) -> None:
        super().__init__(message, outcome)
        self.outcome = outcome

    def __str__(self) -> str:
        return str(self.args[0])


class StepFailed(NotSolved):
    """A step could not be certified; the state is that before it.

    Attributes
    ----------
    report : StepReport
        The step, its time and the reason.
    """

    def __init__(self, message: str, report: Any = None) -> None:
        super().__init__(message, report)
        self.report = report


class StepInterrupted(StictionError):
    """A step was told to end by ``Simulation.interrupt``; the state is that before it."""


class BusyError(StictionError, RuntimeError):
    """A simulation is being stepped by another thread."""


class InternalError(StictionError):
    """A fault of the engine itself, never of what it was given: please report it.

    What was called has no effect: a simulation is in the state before the step, and everything may be used on.
    """

    # The engine makes this the base of the class that its own faults are raised as, which takes the layout of ``BaseException``.
    __slots__ = ()

    def __str__(self) -> str:
        what = super().__str__()
        return f"internal error: {what}; please report it, with what led to it and the lines about it on standard error"

    def __reduce__(self) -> tuple[type[InternalError], tuple[Any, ...]]:
        return InternalError, self.args
