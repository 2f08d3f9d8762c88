"""The viewer in a real browser: it loads, moves, pauses, is pushed and changed, and scrubs, without an error on the console."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from browser import page, until
from stiction._stiction import _main
from stiction.scene import box
from stiction.view import view

pytest.importorskip("viser", reason="needs viser: pip install 'stiction[view]'")


def cube() -> stiction.Scene:
    builder = stiction.SceneBuilder("a cube on the ground", dt=0.002).ground()
    return builder.body("cube", mass=1.0, position=[0, 0, 0.1], velocity=[0.3, 0, 0], shape=box(0.2, 0.2, 0.2)).build()


def on_page(browser: Any, viewer: Any, point: np.ndarray) -> tuple[float, float]:
    """Where a point of the world is on the page (pixels)."""
    camera = viewer._server.initial_camera
    ahead = camera.look_at - camera.position
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right = right / np.linalg.norm(right)
    up, way = np.cross(right, ahead), point - camera.position
    width, height = browser.viewport_size["width"], browser.viewport_size["height"]
    scale = 0.5 * height / np.tan(0.5 * camera.fov) / (way @ ahead)
    return 0.5 * width + scale * float(way @ right), 0.5 * height - scale * float(way @ up)


def drag(browser: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    browser.mouse.move(*start)
    browser.mouse.down()
    for k in range(1, 9):
        browser.mouse.move(*(s + (e - s) * k / 8 for s, e in zip(start, end)))
        browser.wait_for_timeout(30)


def test_a_simulation_runs_is_pushed_and_changed(tmp_path: Path) -> None:
    with view(cube(), port=0, run=False) as viewer, page(tmp_path, viewer.url) as (browser, errors):
        browser.get_by_role("button", name="Run").click()
        until(lambda: viewer.frame.t > 0.2, "it runs")
        assert viewer.frame.verdict == "certified" and len(viewer.frame.contacts) == 4
        until(lambda: "certified" in browser.locator("#stiction-light").inner_text(), "the light is on")

        browser.get_by_role("button", name="Pause").click()
        until(lambda: not viewer.running, "it pauses")
        viewer.pause()
        step = viewer.simulation.steps
        browser.get_by_role("button", name="Step", exact=True).click()
        until(lambda: viewer.frame.step == step + 1, "a single step")
        assert viewer.simulation.steps == step + 1
        browser.get_by_role("button", name="Reset").click()
        until(lambda: viewer.frame.step == 0, "it is back at the start")

        viewer.run()
        x, y = on_page(browser, viewer, viewer.frame.poses[1, :3])
        drag(browser, (x, y), (x, y - 230))
        until(lambda: viewer.frame.pull is not None and viewer.frame.poses[1, 2] > 0.15, "a drag lifts the cube")
        pull = viewer.frame.pull
        assert pull is not None and viewer._contacts._pull.visible and np.linalg.norm(pull.force) > 5.0
        browser.mouse.up()
        until(lambda: viewer.frame.pull is None and viewer.frame.poses[1, 2] < 0.11, "it falls when let go")
        assert viewer.frame.verdict == "certified" and not viewer._contacts._pull.visible

        browser.get_by_label("Follow").first.click()
        browser.get_by_role("option", name="cube").click()
        until(lambda: viewer._follow.body == 0, "the camera follows")
        x, y = on_page(browser, viewer, viewer.frame.poses[1, :3] + viewer._follow.shift)
        assert abs(x - 550.0) < 1.0 and abs(y - 350.0) < 1.0, "what is followed is in the middle"
        drag(browser, (x, y), (x - 150, y))
        until(lambda: np.linalg.norm(viewer._follow.shift) > 0.1, "the scene moves instead of the cube")
        browser.mouse.up()
        until(lambda: viewer.frame.pull is None, "it is let go")
        browser.get_by_label("Shapes").first.click()
        browser.get_by_role("option", name="both").click()
        until(lambda: viewer._shapes.shapes == "both", "all shapes are drawn")

        browser.get_by_role("tab", name="Contact").click()
        browser.get_by_label("Model").first.click()
        browser.get_by_role("option", name="no-slip").click()
        until(lambda: viewer.frame.scene.model == "no-slip", "the model is another")
        browser.get_by_role("tab", name="Plots").click()
        until(lambda: browser.locator(".uplot canvas").count() == 6, "there are plots")
        assert viewer.running and viewer.frame.verdict == "certified"
        assert errors == []
    assert viewer.simulation.step().ok, "the simulation is left in order"


def test_a_recording_scrubs_and_jumps(scenes: Path, tmp_path: Path) -> None:
    assert _main(["stiction", "run", str(scenes / "slide.toml"), "--steps", "300", "--record", str(tmp_path / "a.rec")]) == 0
    with view(tmp_path / "a.rec", port=0, run=False) as viewer, page(tmp_path, viewer.url) as (browser, errors):
        until(lambda: viewer.frames > 0, "it is drawn")
        browser.get_by_role("button", name="largest force").click()
        row = int(np.argmax(viewer._trajectory.normal_force))
        until(lambda: viewer.frame.step == row, "it jumps")
        slider = browser.get_by_role("slider").first
        until(lambda: slider.get_attribute("aria-valuenow") == str(row), "the slider follows")
        slider.focus()
        browser.keyboard.press("ArrowRight")
        until(lambda: viewer.frame.step == row + 1, "it scrubs")
        browser.get_by_role("button", name="Play").click()
        until(lambda: viewer.frame.step > row + 20, "it plays")
        until(lambda: viewer.frame.step == 300 and not viewer.playing, "it ends")
        assert errors == []
