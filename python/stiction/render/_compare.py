"""Two runs of the same bodies side by side, with how far they are apart."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from .._frames import Frame, Source, frames, opened
from .._stiction import Scene
from ..errors import InputError
from ._files import write
from ._renderer import Renderer
from ._view import Camera
from ._window import Image

__all__ = ["Run", "beside", "compare", "page"]

Array = npt.NDArray[np.float64]

#: Height of the plot below the pictures, relative to theirs.
PLOT = 0.5
#: Height of the plot, at least (pixels).
LEAST_PLOT = 190
#: From this width on its legend is one line (pixels).
WIDE = 640
#: Colors of the two runs and of their difference, in the plot.
COLORS = ("#1f5fa8", "#c8442c", "#444444")
#: Largest side of what is left out: differences below this are rounding (m).
_UNITS = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))


@dataclass(frozen=True)
class Run:
    """A run to be compared: its name, its scene, and its frames.

    Attributes
    ----------
    label : str
    scene : Scene
    frames : list of Frame
    """

    label: str
    scene: Scene
    frames: list[Frame]

    def moved(self, bodies: Sequence[int]) -> Array:
        """How far the body that went farthest is from its start (m), per frame."""
        track = self._track(bodies)
        far: Array = np.linalg.norm(track - track[:1], axis=2).max(axis=1)
        return far

    def apart(self, other: Run, bodies: Sequence[int]) -> Array:
        """How far the body that differs most is from where it is in another run (m), per frame."""
        far: Array = np.linalg.norm(self._track(bodies) - other._track(bodies), axis=2).max(axis=1)
        return far

    def _track(self, bodies: Sequence[int]) -> Array:
        return np.array([frame.poses[list(bodies), :3] for frame in self.frames])


def compare(
    a: Source,
    b: Source,
    file: str | os.PathLike[str],
    *,
    labels: Sequence[str] = ("a", "b"),
    bodies: Sequence[str] | None = None,
    start: float = 0.0,
    end: float | None = None,
    fps: float = 30.0,
    speed: float = 1.0,
    width: int = 480,
    height: int = 360,
    camera: Camera | None = None,
    forces: bool | float = False,
) -> int:
    """Two runs of the same bodies side by side in a video, over a plot of how far they moved and how far apart they are.

    Parameters
    ----------
    a, b : Simulation, Scene, Recording, Trajectory, str or path
        With bodies of the same names.
    file : str or path
        A video (``.mp4``, ``.webm``, ``.gif``, ``.webp``), or a page that holds one (``.html``).
    labels : sequence of two str
        Names of the runs.
    bodies : sequence of str, optional
        Whose motion is plotted. Default: all.
    start, end, fps, speed
        As of `video`.
    width, height : int
        Of each of the two pictures, in pixels.
    camera, forces
        As of `picture`.

    Returns
    -------
    int
        The number of frames.
    """
    runs = []
    for source, label in zip((a, b), labels, strict=True):
        scene, shown = frames(opened(source), start, end, fps, speed)
        runs.append(Run(label, scene, shown))
    return beside(runs[0], runs[1], file, bodies=bodies, fps=fps, width=width, height=height, camera=camera, forces=forces)


def beside(
    a: Run, b: Run, file: str | os.PathLike[str], *, bodies: Sequence[str] | None, fps: float, width: int, height: int, camera: Camera | None, forces: bool | float
) -> int:
    """A video of two runs, or a page with one."""
    if a.scene.bodies != b.scene.bodies:
        raise InputError("the two runs must have the same bodies, in the same order")
    count = min(len(a.frames), len(b.frames))
    if count == 0:
        raise InputError("there is nothing to compare: a run has no frame")
    pair = (Run(a.label, a.scene, a.frames[:count]), Run(b.label, b.scene, b.frames[:count]))
    numbers = [a.scene.body(name) for name in (a.scene.bodies if bodies is None else bodies)]
    if Path(file).suffix.lower() != ".html":
        return write(_composed(pair, numbers, width, height, camera, forces), file, fps)
    with TemporaryDirectory() as directory:
        video = Path(directory) / "video.mp4"
        write(_composed(pair, numbers, width, height, camera, forces), video, fps)
        text = page(pair, numbers, video.read_bytes(), 2 * width)
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    return count


def _composed(pair: tuple[Run, Run], bodies: Sequence[int], width: int, height: int, camera: Camera | None, forces: bool | float) -> Iterator[Image]:
    """Frames: both pictures with their names, the plot below with a line at the time."""
    plot, column = _plot(pair, bodies, 2 * width, max(round(PLOT * height), LEAST_PLOT))
    renderers = [Renderer(run.scene, width, height, camera=camera, forces=forces) for run in pair]
    try:
        # One camera for both, which sees what either does.
        renderers[0].look_at([*pair[0].frames, *pair[1].frames])
        renderers[1].take_camera(renderers[0])
        films = [renderer.film(run.frames, keep=True) for renderer, run in zip(renderers, pair, strict=True)]
        for i, (left, right) in enumerate(zip(*films, strict=True)):
            whole = Pillow.fromarray(np.concatenate([np.concatenate([left, right], axis=1), plot], axis=0))
            draw = ImageDraw.Draw(whole)
            for k, run in enumerate(pair):
                draw.text((k * width + 10, 8), run.label, fill=COLORS[k], font=ImageFont.load_default(max(14, height // 18)))
            x = column(pair[0].frames[i].t)
            draw.line([(x[0], height + x[1]), (x[0], height + x[2])], fill="#888888")
            draw.line([(width, 0), (width, height)], fill="#ffffff", width=3)
            yield np.asarray(whole)
    finally:
        for renderer in renderers:
            renderer.close()


def length(metres: float) -> str:
    """A length in a unit that suits it."""
    for size, unit in _UNITS:
        if metres >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres:.1e} m" if metres > 0.0 else "0 m"


def _figure(pair: tuple[Run, Run], bodies: Sequence[int], width: int, height: int) -> tuple[Any, Any]:
    """The plot, as a figure of this size in pixels, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("comparisons need matplotlib: pip install 'stiction[plot]'") from error
    t = np.array([frame.t for frame in pair[0].frames])
    moved, apart = [run.moved(bodies) for run in pair], pair[0].apart(pair[1], bodies)
    largest = max(float(apart.max()), *(float(m.max()) for m in moved))
    size, unit = next(((s, u) for s, u in _UNITS if largest >= s), (1.0, "m"))
    figure = Figure(figsize=(width / 100, height / 100), dpi=100, layout="constrained")
    ax = figure.subplots()
    for run, track, color in zip(pair, moved, COLORS, strict=False):
        ax.plot(t, track / size, color=color, label=f"{run.label}: {length(float(track[-1]))} from its start")
    ax.plot(t, apart / size, "--", color=COLORS[2], linewidth=1, label=f"apart: {length(float(apart[-1]))}")
    ax.set_xlim(t[0], max(t[-1], t[0] + 1e-9))
    ax.set_xlabel("time (s)")
    ax.set_ylabel(f"distance ({unit})")
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3 if width >= WIDE else 1, frameon=False, borderaxespad=0.1, fontsize="small")
    return figure, ax


def _plot(pair: tuple[Run, Run], bodies: Sequence[int], width: int, height: int) -> tuple[Image, Any]:
    """The plot as pixels, and where a time is in it: column, upper and lower end of the axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure, ax = _figure(pair, bodies, width, height)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels: Image = np.asarray(canvas.buffer_rgba())[:height, :width, :3].copy()
    box = ax.get_window_extent()

    def column(t: float) -> tuple[float, float, float]:
        x = float(ax.transData.transform((t, 0.0))[0])
        return x, height - float(box.y1), height - float(box.y0)

    return pixels, column


_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body{{font:15px/1.5 sans-serif;max-width:{width}px;margin:2em auto;padding:0 1em;color:#222}}video{{width:100%}}td,th{{padding:.2em 1em .2em 0;text-align:left}}
@media (prefers-color-scheme:dark){{body{{background:#15181c;color:#ddd}}}}</style></head><body>
<h1>{title}</h1><video controls loop autoplay muted playsinline src="data:video/mp4;base64,{video}"></video>
<table><tr><th></th><th>from its start, at {t:g} s</th><th>at most</th></tr>{rows}</table>
<p>Of the body that went farthest; the difference is that of the body that differs most.</p></body></html>"""


def page(pair: tuple[Run, Run], bodies: Sequence[int], video: bytes, width: int) -> str:
    """A page that holds the video and the numbers, and needs nothing else."""
    values = [(run.label, run.moved(bodies)) for run in pair] + [("difference", pair[0].apart(pair[1], bodies))]
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{length(float(x[-1]))}</td><td>{length(float(x.max()))}</td></tr>" for name, x in values)
    title = escape(f"{pair[0].scene.title}: {pair[0].label} and {pair[1].label}")
    return _PAGE.format(title=title, video=base64.b64encode(video).decode(), rows=rows, t=pair[0].frames[-1].t, width=width)
