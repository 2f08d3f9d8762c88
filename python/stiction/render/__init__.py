"""Pictures and videos without a browser or a display, by VTK: with the extra ``[render]``.

Examples
--------
>>> import stiction, stiction.render
>>> scene = stiction.SceneBuilder().ground().body("cube", mass=1.0, position=[0, 0, 0.1], shape=stiction.scene.box(0.2, 0.2, 0.2)).build()
>>> stiction.render.picture(scene, width=160, height=120).shape
(120, 160, 3)
"""

from __future__ import annotations

import os

from .._frames import Source, frame, frames, opened
from ._compare import compare
from ._files import save, write
from ._renderer import Renderer
from ._view import Camera, View
from ._window import Image

#: Samples per pixel of single pictures.
SAMPLES = 8

__all__ = ["Camera", "Renderer", "View", "compare", "picture", "save", "video"]


def picture(
    source: Source, *, at: float | None = None, width: int = 640, height: int = 480, camera: Camera | None = None, forces: bool | float = False,
    shapes: str = "visual",
) -> Image:
    """A picture of a simulation, scene, robot, recording or trajectory.

    Parameters
    ----------
    source : Simulation, Scene, Recording, Trajectory, str or path
        A path leads to a scene, a robot file or a recording.
    at : float, optional
        The time (s): a scene is simulated up to there, and so is a copy of a simulation. Default: now, for a simulation; the start of a scene;
        the end of a recording.
    width, height : int
        In pixels.
    camera : Camera, optional
        Default: one that sees all that moves.
    forces : bool or float
        Whether contact forces are drawn as arrows; a number is the force of the longest one (N).
    shapes : str
        ``"visual"``, ``"collision"`` or ``"both"``, as of `Renderer`.

    Returns
    -------
    ndarray of uint8, (height, width, 3)
        Red, green and blue.

    Raises
    ------
    InputError
        No such time, body or size.
    StictionError
        The simulation ends before that time, or there is no OpenGL here.
    """
    scene, shown = frame(opened(source), at)
    renderer = Renderer(scene, width, height, camera=camera, forces=forces, shapes=shapes, samples=SAMPLES)
    try:
        return renderer.render(shown.poses, shown.contacts)
    finally:
        renderer.close()


def video(
    source: Source,
    file: str | os.PathLike[str],
    *,
    start: float = 0.0,
    end: float | None = None,
    fps: float = 30.0,
    speed: float = 1.0,
    width: int = 640,
    height: int = 480,
    camera: Camera | None = None,
    forces: bool | float = False,
    shapes: str = "visual",
) -> int:
    """A video of a run: ``.mp4``, ``.webm``, ``.gif`` or ``.webp``.

    Parameters
    ----------
    source : Simulation, Scene, Recording, Trajectory, str or path
        As of `picture`. A simulation is run on.
    file : str or path
    start, end : float, optional
        From when to when (s). Default: all of a recording; the duration of a scene.
    fps : float
        Frames per second.
    speed : float
        1 is real time, 0.1 slow motion.
    width, height, camera, forces, shapes
        As of `picture`.

    Returns
    -------
    int
        The number of frames. A run that fails ends the video.
    """
    scene, shown = frames(opened(source), start, end, fps, speed)
    renderer = Renderer(scene, width, height, camera=camera, forces=forces, shapes=shapes)
    try:
        return write(renderer.film(shown), file, fps)
    finally:
        renderer.close()
