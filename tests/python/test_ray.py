"""Sweeps on a local Ray."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.ray import grid, load, sweep


def test_grids() -> None:
    assert grid(a=[1, 2], b=["x"]) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    assert grid() == [{}]


@pytest.fixture(scope="module")
def local_ray():
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'stiction[ray]'")
    ray.init(num_cpus=2, configure_logging=False, include_dashboard=False)
    yield ray
    ray.shutdown()


def test_a_sweep_of_friction_is_resumed(local_ray, tmp_path: Path) -> None:
    builder = stiction.SceneBuilder(dt=0.001).parameters(mu=0.5).material(friction="= mu").ground()
    scene = builder.body("cube", mass=1.0, position=[0, 0, 0.1], velocity=[1, 0, 0], shape=stiction.scene.box(0.2, 0.2, 0.2)).build()
    asked = tmp_path / "asked"
    asked.mkdir()

    def run(case: dict) -> dict:
        (asked / f"{case['mu']}-{len(list(asked.iterdir()))}").touch()
        simulation = stiction.Simulation(scene.with_parameters(mu=case["mu"]))
        simulation.run(50)
        return {"v": simulation.v[0], "q": simulation.q}

    cases, file = grid(mu=[0.2, 0.4, 0.6]), tmp_path / "out" / "results.jsonl"
    first = sweep(run, cases[:2], file)
    assert len(list(asked.iterdir())) == 2
    for record in first:
        np.testing.assert_allclose(record["result"]["v"], 1.0 - record["case"]["mu"] * 9.81 * 0.05, rtol=1e-9)
    # A line that was cut off, as by a lost machine, is computed again; whole ones are not.
    with file.open("a") as out:
        out.write('{"case": {"mu": 0.6}, "res')
    seen: list[tuple[int, int]] = []
    second = sweep(run, cases, file, progress=lambda done, all: seen.append((done, all)))
    assert len(list(asked.iterdir())) == 3 and seen == [(3, 3)]
    assert second[:2] == first and [r["case"] for r in second] == cases
    assert sorted(r["case"]["mu"] for r in load(file)) == [0.2, 0.4, 0.6]
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_a_case_that_fails_is_told_and_tried_again(local_ray, tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    def run(case: dict) -> int:
        if case["i"] == 1 and not marker.exists():
            raise ValueError("not yet")
        return 10 * case["i"]

    file = tmp_path / "results.jsonl"
    first = sweep(run, grid(i=[0, 1, 2]), file)
    assert [r.get("result") for r in first] == [0, None, 20] and "not yet" in first[1]["error"]
    marker.touch()
    assert [r["result"] for r in sweep(run, grid(i=[0, 1, 2]), file)] == [0, 10, 20]


KILLED = """
import pathlib, sys, time
from stiction.ray import grid, sweep

folder = pathlib.Path(sys.argv[1])

def run(case):
    with (folder / "asked").open("a") as asked:
        asked.write(f"{case['i']}\\n")
    while case["i"] >= 3 and not (folder / "go").exists():
        time.sleep(0.05)
    return case["i"] ** 2

results = sweep(run, grid(i=range(6)), folder / "results.jsonl", in_flight=2)
print([record["result"] for record in results])
"""


def test_a_killed_sweep_is_resumed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'stiction[ray]'")
    command, file = [sys.executable, "-c", KILLED, str(tmp_path)], tmp_path / "results.jsonl"
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and not (file.exists() and len(load(file)) >= 3):
        time.sleep(0.1)
    first.kill()
    first.wait()
    assert sorted(record["case"]["i"] for record in load(file)) == [0, 1, 2]
    (tmp_path / "go").touch()
    second = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "[0, 1, 4, 9, 16, 25]" in second.stdout
    asked = (tmp_path / "asked").read_text().split()
    assert all(asked.count(str(i)) == 1 for i in range(3)) and set(asked) == set("012345")


def test_files_that_are_no_results_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello\nworld\n")
    with pytest.raises(stiction.InputError, match="notes.txt:1: no result of a sweep"):
        load(file)
