"""What the tests share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

# Started in the background of a shell, Python ignores Ctrl-C; the tests of it want it as a user has it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def scenes() -> Path:
    """The folder of scenes."""
    return ROOT / "scenes"
