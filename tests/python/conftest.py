"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def scenes() -> Path:
    """The folder of scenes."""
    return ROOT / "scenes"
