"""The command ``stiction``: the same as that of ``cargo install``."""

from __future__ import annotations

import signal
import sys

from ._stiction import _main


def main() -> None:
    """Run the command with the arguments of the process."""
    # The engine does not look for Python's signals while it runs: the usual end on Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_main(["stiction", *sys.argv[1:]]))
