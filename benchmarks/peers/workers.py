"""Each engine in a process of its own, so that one that crashes ends alone."""

from __future__ import annotations

import multiprocessing

import engines
import measure


class Worker:
    """A process that runs one engine."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.process = None

    def do(self, *task):
        """What the process answers; a dict with `failure` if it died."""
        if self.process is None or not self.process.is_alive():
            context = multiprocessing.get_context("spawn")
            self.pipe, far = context.Pipe()
            self.process = context.Process(target=serve, args=(self.engine, far), daemon=True)
            self.process.start()
            far.close()
        try:
            self.pipe.send(task)
            return self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self.process.join()
            return {"failure": f"the process ended with {self.process.exitcode}"}


def serve(engine: str, pipe) -> None:
    """The process of a worker."""
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            if task[0] == "load":
                module = engines.load(engine)
                pipe.send({"version": module.VERSION, "what": module.WHAT, "settings": module.SETTINGS})
            else:
                pipe.send(measure.run(engine, *task[1:]))
        except ImportError as error:
            pipe.send({"missing": str(error)})
        except Exception as error:  # an engine's own error is a result
            pipe.send({"failure": f"{type(error).__name__}: {error}"})
