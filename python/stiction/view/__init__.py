"""Scenes, simulations and recordings in the browser: to look at, to push and to change while they run.

``view(target)`` serves a page on this machine and returns a `Viewer`; ``simulation.view()`` and ``recording.view()`` are the same, and
``stiction view FILE`` is the command. It needs viser: ``pip install 'stiction[view]'``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._stiction import Recording, Scene, Simulation
from ..errors import InputError
from ._target import is_robot, opened

if TYPE_CHECKING:
    from ._viewer import Viewer

__all__ = ["Viewer", "view"]


def view(
    target: Simulation | Scene | Recording | str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    run: bool | None = None,
    speed: float = 1.0,
    fixed: bool = False,
) -> Viewer:
    """Serve a page that shows a simulation, or a recording with a timeline.

    Parameters
    ----------
    target : Simulation, Scene, Recording, str or path
        A text is the file of a scene, robot or recording, or the name of a scene that comes with the package
        (`stiction.scene.shipped_names`). A simulation belongs to the viewer until it is closed; ``viewer.simulation`` is the current one.
    host : str
        Where to listen. Only this machine can connect unless it says otherwise, such as ``"0.0.0.0"``.
    port : int
        0 is any that is free.
    run : bool, optional
        Whether it starts at once. Default: a scene or recording does; a `Simulation` and a robot file wait.
    speed : float
        Simulated seconds per second.
    fixed : bool
        Of a robot file: whether its base is fixed, as that of an arm on a table.

    Returns
    -------
    Viewer
        It serves until ``close()``; ``wait()`` blocks until then, or Ctrl-C.

    Raises
    ------
    ImportError
        viser is not installed.
    InputError
        The port is in use, the speed is not above 0, or the target is none of these.
    SceneError
        The file is broken, with the place.

    Examples
    --------
    >>> import stiction
    >>> simulation = stiction.Simulation(stiction.scene.shipped("grasp"))
    >>> viewer = simulation.view(port=0)  # doctest: +SKIP
    >>> viewer.close()  # doctest: +SKIP
    """
    from ._live import LiveViewer
    from ._server import started, stopped
    from ._timeline import TimelineViewer

    if not speed > 0.0:
        raise InputError(f"the speed must be above 0, found {speed}")
    what = opened(target, fixed=fixed)
    running = run if run is not None else not (isinstance(target, Simulation) or is_robot(target))
    server = started(host, port)
    try:
        if isinstance(what, Recording):
            return TimelineViewer(server, what, run=running, speed=speed)
        return LiveViewer(server, what, run=running, speed=speed)
    except BaseException:
        stopped(server)
        raise


def __getattr__(name: str) -> Any:
    if name == "Viewer":
        from ._viewer import Viewer

        return Viewer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
