"""The comparison with other engines runs, and finds what it is known to find."""

import json
import pathlib
import subprocess
import sys

import pytest

PEERS = pathlib.Path(__file__).parents[2] / "benchmarks" / "peers"


def test_rest_is_exact_here_and_soft_there(tmp_path):
    pytest.importorskip("mujoco")
    command = [sys.executable, PEERS, "--engines", "Stiction,MuJoCo", "--scenes", "slope,grasp 2", "--turns", "1", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "results.json").read_text())
    runs = {(run["scene"], run["engine"], run["setting"]): run for run in document["runs"]}
    for scene in ("slope", "grasp 2"):
        ours = runs[scene, "Stiction", "default"]
        assert ours["steps"] == ours["of"] and ours["failure"] is None
        assert ours["error_m"] < 1e-12 and ours["overlap_m"] < 1e-12 and ours["certificate"] <= 1e-10
        assert runs[scene, "MuJoCo", "default"]["error_m"] > 1e-4
    assert "### slope" in done.stdout and document["engines"]["MuJoCo"]["version"]


def test_engines_and_scenes_that_do_not_exist_are_named(tmp_path):
    for option, word in (("--engines", "Unreal"), ("--scenes", "moon")):
        done = subprocess.run([sys.executable, PEERS, "--engines", "Stiction", option, word, "--out", tmp_path], capture_output=True, text=True)
        assert done.returncode == 2 and ("Unreal" in done.stderr or "no scene" in done.stderr)
