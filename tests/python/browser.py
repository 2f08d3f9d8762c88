"""A real browser for tests of pages: Debian's Chromium, headless, through Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

#: As it runs on a machine without a display or a graphics card.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync "
    "--use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
).split()
#: What a browser without a graphics card says of itself, and of how the page listens to the mouse.
_HARMLESS = ("GPU stall", "deprecated", "software", "WebGL", "preventDefault inside passive")


@contextmanager
def page(folder: Path, url: str) -> Iterator[tuple[Any, list[str]]]:
    """The page at an address in a browser of its own, and the errors on its console so far."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'stiction[dev]'")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    errors: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            str(folder / "browser"), executable_path=chromium, headless=True, args=FLAGS, viewport={"width": 1100, "height": 700}
        )
        opened = browser.pages[0]
        opened.on("pageerror", lambda error: errors.append(str(error)))

        def heard(message: Any) -> None:
            if message.type == "error" and not any(word in message.text for word in _HARMLESS):
                errors.append(message.text)

        opened.on("console", heard)
        opened.goto(url)
        opened.wait_for_selector("canvas")
        try:
            yield opened, errors
        finally:
            browser.close()


def until(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    """Wait for something to come true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s: {what}"
        time.sleep(0.02)
