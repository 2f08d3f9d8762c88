"""The command ``stiction``: that of ``cargo install``, and the subcommands that only Python has."""

from __future__ import annotations

import importlib
import json
import signal
import sys
import warnings

from ._stiction import _end_runs_on_ctrl_c, _main
from .errors import StictionError

#: Subcommands written in Python: the module, and its function that takes the arguments and returns the exit code.
_SUBCOMMANDS = {
    "view": ("stiction.view._command", "main"),
    "render": ("stiction._commands", "render"),
    "plot": ("stiction._commands", "plot"),
    "compare": ("stiction._commands", "compare"),
}

#: Exit code of bad input.
_BAD_INPUT = 2


def main() -> None:
    """Run the command with the arguments of the process."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in _SUBCOMMANDS:
        sys.exit(_python(arguments[0], arguments[1:]))
    # The engine does not look for Python's signals while it runs: the handler of the command itself, which ends a run with its summary.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _end_runs_on_ctrl_c()
    sys.exit(_main(["stiction", *arguments]))


def _python(command: str, arguments: list[str]) -> int:
    """A subcommand in Python: what is wrong is one line, as everywhere."""
    module, function = _SUBCOMMANDS[command]
    warnings.showwarning = lambda message, *_: print(f"note: {message}", file=sys.stderr)
    try:
        code: int = getattr(importlib.import_module(module), function)(arguments)
    except (StictionError, ImportError, OSError) as error:
        if "--json" in arguments:
            print(json.dumps({"error": str(error), "exit_code": _BAD_INPUT}))
        else:
            print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return code
