"""Updates per second of the viewer, counted by a plain websocket client: what a browser would get, without one.

    python benchmarks/viewer_rate.py [--seconds 10] [--browser]

Twice: at first, and after three times as long, when what falls has met. Also how many steps the simulation makes meanwhile, beside a client that does not read and alone, in turn, how much memory the former takes, and the
processor time of an update: that of all threads of the server but the one that simulates, which a busy machine disturbs least. With --browser
also how often Chromium, headless, draws the page, and how many steps the simulation makes meanwhile; it needs Playwright and Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import viser
import websockets
import zstandard

import stiction
from stiction.view import view
from stiction.view._follow import ROOT

#: Scene, parameters, least updates per second.
RUNS = [("quad-flat", {}, 30.0), ("quad-terrain", {}, 30.0), ("dominoes", {"n": 300.0}, 15.0), ("heap", {"n": 300.0}, 15.0)]


def updates(data: bytes) -> int:
    """How many times poses changed in a message of the server."""
    size, packed = (int.from_bytes(data[k : k + 8], "little") for k in (0, 8))
    inner = zstandard.ZstdDecompressor().decompress(data[16 : 16 + packed], max_output_size=size)
    messages = msgspec.msgpack.decode(inner)["messages"]
    return int(any("batched_positions" in m.get("updates", {}) and m.get("name", "").startswith(f"{ROOT}/geoms/") for m in messages))


async def counted(port: int, seconds: float) -> tuple[float, float]:
    """Updates per second, and bytes per second."""
    protocol = websockets.Subprotocol(f"viser-v{viser.__version__}")
    async with websockets.connect(f"ws://127.0.0.1:{port}", subprotocols=[protocol], max_size=None) as connection:
        await asyncio.wait_for(connection.recv(), 30)
        end = time.perf_counter() + 1.0
        while time.perf_counter() < end:  # the scene itself comes first
            await connection.recv()
        count, size, start = 0, 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            data = await asyncio.wait_for(connection.recv(), 30)
            count, size = count + updates(data), size + len(data)
        spent = time.perf_counter() - start
    return count / spent, size / spent


async def unread(port: int, seconds: float) -> None:
    """A client that connects and does not read."""
    protocol = websockets.Subprotocol(f"viser-v{viser.__version__}")
    async with websockets.connect(f"ws://127.0.0.1:{port}", subprotocols=[protocol], max_size=None, max_queue=1):
        await asyncio.sleep(seconds)


def steps_per_second(viewer: Any, meanwhile: Callable[[], None]) -> float:
    """Steps that the simulation makes in a second while something is done."""
    start, step = time.perf_counter(), viewer.frame.step
    meanwhile()
    return float(viewer.frame.step - step) / (time.perf_counter() - start)


#: Counts the pictures that a browser draws in so many milliseconds.
DRAWN = "ms => new Promise(done => { let n = 0; const start = performance.now(); (function next() { if (performance.now() - start > ms) done(n); else { n++; requestAnimationFrame(next) } })() })"


def drawn_per_second(url: str, seconds: float) -> float:
    """Pictures per second that a browser draws of the page."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))
    from browser import page

    with tempfile.TemporaryDirectory() as folder, page(Path(folder), url) as (opened, _):
        opened.wait_for_timeout(3000)  # the scene itself comes first
        return float(opened.evaluate(DRAWN, 1e3 * seconds)) / seconds


def server_seconds() -> float:
    """Processor time (s) of all threads that serve the page: neither the simulation's nor this one."""
    spent = 0.0
    for thread in threading.enumerate():
        if thread.name != "stiction-simulation" and thread is not threading.main_thread():
            with open(f"/proc/self/task/{thread.native_id}/stat") as stat:
                spent += sum(int(word) for word in stat.read().rsplit(")", 1)[1].split()[11:13])
    return spent / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    seconds = options.seconds
    print(f"{'scene':14} {'bodies':>6} {'updates/s':>10} {'later':>6} {'ms/update':>10} {'kB/s':>7} {'steps/s: read':>14} {'not read':>9} {'alone':>7} {'memory':>9}")
    for name, parameters, least in RUNS:
        scene = stiction.scene.shipped(name, **parameters)
        with view(scene, port=0) as viewer:
            port = int(viewer.url.rsplit(":", 1)[1])
            rate, size, spent = 0.0, 0.0, 0.0

            def read() -> None:
                nonlocal rate, size, spent
                start = server_seconds()
                rate, size = asyncio.run(counted(port, seconds))
                spent = server_seconds() - start

            steps = [steps_per_second(viewer, read)]
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            steps.append(steps_per_second(viewer, lambda: asyncio.run(unread(port, seconds))))
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            steps.append(steps_per_second(viewer, lambda: time.sleep(seconds)))
            later = asyncio.run(counted(port, seconds))[0]
            browser = 0.0

            def look() -> None:
                nonlocal browser
                browser = drawn_per_second(viewer.url, seconds)

            watched = steps_per_second(viewer, look) if options.browser else 0.0
        moving = len(np.unique(scene.geom_bodies[scene.geom_bodies >= 0]))
        word = "" if min(rate, later) >= least else f"  below {least:.0f}"
        made = f"{steps[0]:14.1f} {steps[1]:9.1f} {steps[2]:7.1f}"
        cost = 1e3 * spent / max(rate * (seconds + 1.0), 1.0)
        print(f"{name:14} {moving:6} {rate:10.1f} {later:6.1f} {cost:10.2f} {size / 1e3:7.0f} {made} {grown / 1e3:6.1f} MB{word}", flush=True)
        if options.browser:
            print(f"{'':14} the browser draws {browser:.1f} pictures/s, beside {watched:.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
