"""The command ``stiction``: that of ``cargo install``, and what only the package can do."""

from __future__ import annotations

import importlib
import signal
import sys

from ._stiction import _main
from .errors import StictionError

#: Commands in Python, by the module that has a function of that name.
_COMMANDS = {"render": "stiction._commands", "plot": "stiction._commands", "compare": "stiction._commands"}

#: Exit code of bad input.
_BAD_INPUT = 2


def main() -> None:
    """Run the command with the arguments of the process."""
    # The engine does not look for Python's signals while it runs: the usual end on Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    arguments = sys.argv[1:]
    if arguments and arguments[0] in _COMMANDS:
        sys.exit(_python(arguments[0], arguments[1:]))
    sys.exit(_main(["stiction", *arguments]))


def _python(command: str, arguments: list[str]) -> int:
    """A command of the package: what is wrong is one line, as everywhere."""
    try:
        code: int = getattr(importlib.import_module(_COMMANDS[command]), command)(arguments)
    except (StictionError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except BrokenPipeError:
        return 0
    return code
