"""Parameter sweeps and batched rollouts on Ray, on one machine or a cluster, with results that survive an interruption.

A sweep calls a function once per case. Each result is a line of a JSON file, written as soon as it is there; a sweep started again with the same file
computes only what is missing. Ray does the rest: scheduling, retries after lost machines, moving scenes (which pickle) to the workers.

Examples
--------
>>> from stiction.ray import grid
>>> grid(mu=[0.2, 0.4], n=[2])
[{'mu': 0.2, 'n': 2}, {'mu': 0.4, 'n': 2}]
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .errors import InputError

__all__ = ["Case", "Record", "grid", "load", "sweep"]

#: What a run is called with.
Case = dict[str, Any]
#: A finished case: ``case`` and ``result``, or ``case`` and ``error``.
Record = dict[str, Any]


def grid(**values: Iterable[Any]) -> list[Case]:
    """Every combination of the values, the last name varying fastest.

    Parameters
    ----------
    **values : iterable

    Returns
    -------
    list of dict
    """
    names = list(values)
    return [dict(zip(names, combination)) for combination in itertools.product(*values.values())]


def load(results: str | os.PathLike[str]) -> list[Record]:
    """The finished cases of a results file, in the order in which they were finished. A line cut off by an interruption is left out.

    Parameters
    ----------
    results : str or path

    Returns
    -------
    list of dict
        With ``case`` and ``result``.
    """
    return [record for record, _ in _lines(Path(results))]


def _lines(file: Path) -> list[tuple[Record, str]]:
    """The finished cases with their keys."""
    found = []
    for number, line in enumerate(_whole(file).splitlines(), 1):
        try:
            record = json.loads(line)
            found.append((record, _key(record["case"])))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"{file}:{number}: no result of a sweep") from error
    return found


def _whole(file: Path) -> str:
    """The lines of a file that were written to their end."""
    text = file.read_bytes() if file.exists() else b""
    return text[: text.rfind(b"\n") + 1].decode()


def _plain(value: Any) -> Any:
    """NumPy's values as Python's."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a case or result holds {type(value).__name__}; JSON takes numbers, text, lists, dictionaries and NumPy arrays")


def _dump(value: Any) -> str:
    return json.dumps(value, default=_plain, sort_keys=True)


def _key(case: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(case).encode()).hexdigest()


def sweep(
    run: Callable[[Case], Any],
    cases: Iterable[Case],
    results: str | os.PathLike[str],
    *,
    in_flight: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> list[Record]:
    """Call ``run(case)`` for every case that has no result yet, as Ray tasks.

    Parameters
    ----------
    run : callable
        Takes a case, returns numbers, text, lists, dictionaries or NumPy arrays. It runs in Ray's workers.
    cases : iterable of dict
        Such as `grid` makes.
    results : str or path
        A file of JSON lines; it is continued if it exists.
    in_flight : int, optional
        Most tasks at a time; default twice the processors of the cluster.
    progress : callable, optional
        Called with how many cases are finished and how many there are.
    **options
        For ``ray.remote``: ``num_cpus``, ``max_retries``, ...

    Returns
    -------
    list of dict
        One per case, in the order of the cases: ``case`` and ``result``. A case whose run raised has ``error`` instead; it is not in the file, and
        the next sweep tries it again.

    Notes
    -----
    ``ray.init()`` is called if Ray does not run yet; connect to a cluster before if you have one. A file is for one sweep at a time.
    """
    ray = _ray()

    wanted = [dict(case) for case in cases]
    keys = [_key(case) for case in wanted]
    file = Path(results)
    done: dict[str, Record] = {}
    for record, key in _lines(file):
        done[key] = record
    missing = list({key: case for key, case in zip(keys, wanted) if key not in done}.items())
    total, errors = len(set(keys)), {}
    if missing:
        if not ray.is_initialized():
            ray.init(configure_logging=False, include_dashboard=False)
        task = ray.remote(run) if not options else ray.remote(**options)(run)
        most = in_flight if in_flight is not None else max(1, 2 * int(ray.cluster_resources().get("CPU", 1)))
        waiting = iter(missing)
        running: dict[Any, tuple[str, Case]] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        with _open(file) as out:
            try:
                while True:
                    for key, case in itertools.islice(waiting, max(0, most - len(running))):
                        running[task.remote(case)] = (key, case)
                    if not running:
                        break
                    (ready,), _ = ray.wait(list(running), num_returns=1)
                    key, case = running.pop(ready)
                    try:
                        record = {"case": case, "result": json.loads(_dump(ray.get(ready)))}
                    except Exception as error:  # whatever the user's function raised
                        errors[key] = {"case": case, "error": str(error)}
                        continue
                    out.write(_dump(record) + "\n")
                    out.flush()
                    os.fsync(out.fileno())
                    done[key] = json.loads(_dump(record))
                    if progress is not None:
                        progress(sum(k in done for k in set(keys)), total)
            finally:
                # After Ctrl-C: nobody waits for these any more.
                for left in running:
                    ray.cancel(left)
    return [done.get(key) or errors[key] for key in keys]


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ImportError("stiction.ray needs Ray: pip install 'stiction[ray]'") from error


def _open(file: Path) -> TextIO:
    """The results file, without a line that was cut off."""
    if file.exists():
        os.truncate(file, len(_whole(file).encode()))
    return file.open("a", encoding="utf-8")
