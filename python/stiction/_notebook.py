"""Small animations for notebooks: frames in one picture, a slider over them, a button that plays. They need nothing outside of themselves."""

from __future__ import annotations

import base64
import importlib.util
import time
from collections.abc import Sequence

import numpy as np

from ._frames import Frame, frames
from ._stiction import Recording, Scene, Simulation
from .errors import StictionError
from .sim import Trajectory

__all__ = ["animation"]

#: Of a frame, in pixels.
WIDTH, HEIGHT = 320, 240
#: Most frames of an animation: together they are one picture, whose sides have a limit of 16383 pixels.
MOST = 36
#: How far a simulation is shown ahead (s), and for how long that may be computed (s).
AHEAD, PATIENCE = 2.0, 2.0
#: How long an animation takes (s).
LASTS = 4.0
#: Of the picture, 0 to 100.
QUALITY = 70

# All handlers find their parts from the element they are on: a page may hold many animations.
_HTML = """<div style="display:inline-block;font:12px sans-serif">
<div style="width:{width}px;height:{height}px;background:url(data:image/webp;base64,{data}) 0 0/{columns}00% auto no-repeat"></div>
<div style="display:flex;gap:6px;align-items:center;width:{width}px">
<button style="width:2.4em" onclick="const b=this,s=b.nextElementSibling;if(b.timer){{clearInterval(b.timer);b.timer=0;b.textContent='▶'}}
else{{b.textContent='❚❚';b.timer=setInterval(()=>{{if(!b.isConnected)clearInterval(b.timer);s.value=(+s.value+1)%{count};s.oninput()}},{wait})}}">▶</button>
<input type="range" min="0" max="{last}" value="{start}" style="flex:1" oninput="const i=+this.value,c={columns};
this.parentNode.previousElementSibling.style.backgroundPosition=(-(i%c)*{width})+'px '+(-Math.floor(i/c)*{height})+'px';
this.nextElementSibling.textContent=[{times}][i]+' s'"><span style="min-width:4.5em;text-align:right">{shown} s</span></div>
<div style="width:{width}px;color:#777">{caption}</div></div>"""


def animation(value: Simulation | Recording | Trajectory) -> str:
    """An animation of a recording or trajectory, or of what a simulation would do next; empty where it cannot be drawn here."""
    if any(importlib.util.find_spec(name) is None for name in ("vtkmodules", "PIL", "imageio_ffmpeg")):
        return ""
    try:
        if isinstance(value, Simulation):
            scene, shown = _ahead(value.copy())
            caption = "what a copy of it would do next" if len(shown) > 1 else "now"
        else:
            rows = value.trajectory() if isinstance(value, Recording) else value
            length = float(rows.t[-1] - rows.t[0])
            scene, shown = frames(value, float(rows.t[0]), None, MOST / LASTS, max(length, 1e-9) / LASTS * (MOST / (MOST - 1)))
            caption = scene.title
        return _page(scene, shown[:MOST], caption)
    except StictionError:
        return ""


def _ahead(simulation: Simulation) -> tuple[Scene, list[Frame]]:
    """A simulation run on, as far as patience reaches."""
    simulation.raises = False
    scene, begun = simulation.scene, time.monotonic()
    shown = [Frame(simulation.t, simulation.poses.copy(), None)]
    steps = max(1, round(AHEAD / scene.dt / (MOST - 1)))
    while len(shown) < MOST and time.monotonic() - begun < PATIENCE:
        if simulation.run(steps).why:
            break
        shown.append(Frame(simulation.t, simulation.poses.copy(), None))
    return scene, shown


def _page(scene: Scene, shown: Sequence[Frame], caption: str) -> str:
    from html import escape

    from .render import Renderer
    from .render._files import encode_webp

    renderer = Renderer(scene, WIDTH, HEIGHT)
    try:
        pictures = list(renderer.film(shown))
    finally:
        renderer.close()
    columns = int(np.ceil(np.sqrt(len(pictures))))
    rows = -(-len(pictures) // columns)
    sheet = np.full((rows * HEIGHT, columns * WIDTH, 3), 255, np.uint8)
    for i, picture in enumerate(pictures):
        sheet[i // columns * HEIGHT :, i % columns * WIDTH :][:HEIGHT, :WIDTH] = picture
    data = base64.b64encode(encode_webp(sheet, QUALITY)).decode()
    times = ",".join(f"'{frame.t:.3g}'" for frame in shown)
    return _HTML.format(
        width=WIDTH, height=HEIGHT, data=data, columns=columns, count=len(shown), last=len(shown) - 1, start=0,
        wait=round(1000 * LASTS / MOST), times=times, shown=f"{shown[0].t:.3g}", caption=escape(caption),
    )
