"""Each engine or solver in a process of its own, so that one that crashes ends alone."""

from __future__ import annotations

import importlib
import multiprocessing

import engines
import measure
import solvers


class Worker:
    """A process that runs one engine, or one solver of problems alone."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process = None

    def do(self, *task):
        """What the process answers; a dict with `failure` if it died."""
        if self.process is None or not self.process.is_alive():
            context = multiprocessing.get_context("spawn")
            self.pipe, far = context.Pipe()
            self.process = context.Process(target=serve, args=(self.name, far), daemon=True)
            self.process.start()
            far.close()
        try:
            self.pipe.send(task)
            return self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join()
            return {"failure": f"the process ended with {self.process.exitcode}"}


def serve(name: str, pipe) -> None:
    """The process of a worker."""
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            if task[0] == "load":
                module = engines.load(name)
                pipe.send({"version": module.VERSION, "what": module.WHAT, "settings": module.SETTINGS, "robots": getattr(module, "READS_MJCF", False)})
            elif task[0] == "load solver":
                module = importlib.import_module(f"solvers.{solvers.NAMES[name]}")
                about = {"version": module.VERSION, "what": module.WHAT, "settings": module.SETTINGS}
                pipe.send(about | {"tolerances": module.TOLERANCES, "groups": module.GROUPS})
            elif task[0] == "solve":
                pipe.send(measure.solve(name, *task[1:]))
            else:
                pipe.send(measure.run(name, *task[1:]))
        except ImportError as error:
            pipe.send({"missing": str(error)})
        except Exception as error:  # an engine's own error is a result
            pipe.send({"failure": f"{type(error).__name__}: {error}"})
