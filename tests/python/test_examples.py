"""The examples run and say what they should; their Rust twins say the same."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
#: What each must say.
SAYS = {
    "lcp": ["z1 + z2 = 1.000000, certified: True, exactly: proven"],
    "grasp": ["have sunk 0.000000000 m", "block3 on gripper2: 4 contacts, 300.000000 N along x, -14.715000 N up"],
    "urdf": ["3 bodies, 2 velocities, 2.500 kg", "after 8.000 s"],
    "capsule": ["38 times what holds it", "stiction: the capsule sinks 0.000 um in 2 s"],
    "friction_sweep": ["mu = 0.4: 0.508684 m, closed form 0.508684 m, 1500 steps certified"],
    "batch": ["copy 5: failed: v[0]", "copy 5: slid 0.158652 m"],
    "quadruped": ["every certificate is at most 1e-10: True"],
    "ray_sweep": ["10.00 N: 8 of 8 held"],
}


def run(name: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py"), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_tested_and_has_a_twin() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(SAYS)
    twins = {file.stem for file in (ROOT / "crates" / "stiction" / "examples").glob("*.rs")}
    # Ray is Python's.
    assert set(SAYS) - {"ray_sweep"} <= twins


@pytest.mark.parametrize("name", sorted(set(SAYS) - {"ray_sweep"}))
def test_examples(name: str) -> None:
    out = run(name)
    for words in SAYS[name]:
        assert words in out
    twins = os.environ.get("STICTION_TWINS")
    if twins is None:
        return
    twin = subprocess.run([str(Path(twins) / name)], capture_output=True, text=True, check=True).stdout.splitlines()
    ours = [line for line in out.splitlines() if not line.startswith("mujoco")]
    assert ours == twin


def test_ray_sweep(tmp_path: Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed: pip install 'stiction[ray]'")
    file = tmp_path / "results.jsonl"
    out = run("ray_sweep", str(file))
    assert all(words in out for words in SAYS["ray_sweep"]) and len(file.read_text().splitlines()) == 4


def test_the_command() -> None:
    command = Path(sys.executable).with_name("stiction")
    if not command.exists():
        pytest.skip("the package is not installed, only its sources are on the path")
    done = subprocess.run([str(command), "check", str(ROOT / "scenes" / "grasp.toml")], capture_output=True, text=True)
    assert done.returncode == 0 and "bodies" in done.stdout
    bad = subprocess.run([str(command), "run", "no-such.toml"], capture_output=True, text=True)
    assert bad.returncode == 2 and bad.stderr.startswith("error: no-such.toml")
    assert subprocess.run([str(command), "--version"], capture_output=True, text=True).stdout.startswith("stiction ")
