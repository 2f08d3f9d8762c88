"""Sweeps on a local Ray."""

from __future__ import annotations

import json
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


def test_files_that_are_no_results_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello\nworld\n")
    with pytest.raises(stiction.InputError, match="notes.txt:1: no result of a sweep"):
        load(file)
