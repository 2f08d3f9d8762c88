"""Recordings as arrays, without a step made again."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction._stiction import _main


def recorded(scenes: Path, file: Path, name: str, *options: str) -> stiction.Recording:
    assert _main(["stiction", "run", str(scenes / name), "--record", str(file), *options]) in (0, 1)
    return stiction.Recording(file)


@pytest.mark.parametrize(
    ("name", "options"),
    [("slide.toml", []), ("grasp.toml", ["--model", "no-slip", "--set", "n=3"]), ("bounce.toml", ["--simulator", "event-driven"])],
)
def test_a_recording_is_the_trajectory_of_its_run(scenes: Path, tmp_path: Path, name: str, options: list[str]) -> None:
    recording = recorded(scenes, tmp_path / "a.rec", name, "--steps", "60", *options)
    kept = recording.trajectory()
    simulation = stiction.Simulation(recording.scene)
    same = stiction.record(simulation, 60)
    for field in ("t", "q", "v", "positions", "kinetic", "potential", "certificate", "accepted", "pivots", "factorizations", "contacts", "normal_force"):
        np.testing.assert_array_equal(getattr(kept, field), getattr(same, field), err_msg=field)
    assert (kept.report.steps, kept.report.ok, kept.report.certificate) == (60, True, same.report.certificate)
    assert kept.report.factorizations == kept.factorizations.sum()
    np.testing.assert_array_equal(recording.contacts(-1), simulation.contacts)
    assert recording.scene.model == simulation.scene.model and recording.scene.simulator == simulation.scene.simulator
    assert pickle.loads(pickle.dumps(recording.scene)).model == recording.scene.model


def test_slip_is_that_of_the_run(scenes: Path, tmp_path: Path) -> None:
    recording = recorded(scenes, tmp_path / "a.rec", "slide.toml", "--steps", "400")
    slip = stiction.record(stiction.Simulation(recording.scene), 400).slip
    np.testing.assert_allclose(recording.trajectory().slip, slip, rtol=1e-12, atol=1e-15)
    assert slip[10] > 1.0


def test_steps_that_are_not_recorded_are_rows_that_are_not_there(scenes: Path, tmp_path: Path) -> None:
    recording = recorded(scenes, tmp_path / "a.rec", "slide.toml", "--steps", "60", "--record-every", "20")
    kept = recording.trajectory()
    assert len(recording) == 3 and len(kept) == 4
    np.testing.assert_allclose(kept.t, [0.0, 0.02, 0.04, 0.06])
    assert len(recording.contacts(0)) == len(recording.contacts(2)) == 4
    for outside in (3, -4, 2**62):
        with pytest.raises(IndexError, match="there is no recorded step"):
            recording.contacts(outside)


def test_a_failed_run_says_so(scenes: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.rec"
    recorded(scenes, file, "slide.toml", "--steps", "300")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    report = stiction.Recording(file).trajectory().report
    assert not report.ok and "breaks off" in report.why and report.steps < 300
