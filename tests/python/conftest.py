"""What the tests share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

# Started in the background of a shell, Python ignores Ctrl-C; the tests of it want it as a user has it.
signal.signal(signal.SIGINT, signal.default_int_handler)



def need_pictures() -> None:
    """Skips what draws where that cannot be: says what is missing."""
    for name in ("vtkmodules", "PIL", "imageio_ffmpeg"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install 'stiction[render]'")
    from stiction.errors import StictionError
    from stiction.render._window import _open

    try:
        _open()
    except StictionError as error:
        pytest.skip(str(error), allow_module_level=True)


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def scenes() -> Path:
    """The folder of scenes."""
    return ROOT / "scenes"
