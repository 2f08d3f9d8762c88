"""The command ``stiction``: that of ``cargo install``, and the subcommands that only Python has."""

from __future__ import annotations

import importlib
import signal
import sys

from ._stiction import _main

#: Subcommands written in Python: the module whose ``main(arguments)`` returns the exit code.
_SUBCOMMANDS = {"view": "stiction.view.command"}


def main() -> None:
    """Run the command with the arguments of the process."""
    module = _SUBCOMMANDS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if module is not None:
        sys.exit(importlib.import_module(module).main(sys.argv[2:]))
    # The engine does not look for Python's signals while it runs: the usual end on Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_main(["stiction", *sys.argv[1:]]))
