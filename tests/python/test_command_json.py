"""Every subcommand with ``--json``: one object that the documented schema describes, errors too."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/command.schema.json").read_text())
KINDS: dict[str, Any] = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool, "null": type(None)}


def complaints(value: Any, schema: dict[str, Any], at: str = "$") -> list[str]:
    """What of a value is not as a schema says: the parts of JSON Schema that ours uses."""
    if "$ref" in schema:
        target: Any = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return complaints(value, target, at)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, KINDS[kind]) and (kind == "boolean") == isinstance(value, bool) for kind in kinds):
        return [f"{at}: {value!r} is no {' or '.join(kinds)}"]
    found = [f"{at}: {value!r} is none of {schema['enum']}"] if value not in schema.get("enum", [value]) else []
    if isinstance(value, (int, float)) and value < schema.get("minimum", value):
        found.append(f"{at}: {value} is below {schema['minimum']}")
    if isinstance(value, list):
        found += [line for i, item in enumerate(value) for line in complaints(item, schema.get("items", {}), f"{at}[{i}]")]
    if isinstance(value, dict):
        properties, other = schema.get("properties", {}), schema.get("additionalProperties", True)
        found += [f"{at}: {key} is missing" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            if key in properties:
                found += complaints(item, properties[key], f"{at}.{key}")
            elif other is False:
                found.append(f"{at}: {key} is not described")
            elif isinstance(other, dict):
                found += complaints(item, other, f"{at}.{key}")
    return found


def run(*arguments: str | Path, code: int = 0) -> Any:
    words = [str(argument) for argument in arguments]
    done = subprocess.run([sys.executable, "-m", "stiction", *words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    assert done.stdout.count("\n") == 1 or "extract" in words, done.stdout
    return json.loads(done.stdout)


def valid(command: str, found: Any) -> Any:
    assert not complaints(found, SCHEMA["$defs"][command]), complaints(found, SCHEMA["$defs"][command])
    return found


def subcommands() -> set[str]:
    done = subprocess.run([sys.executable, "-m", "stiction", "--help"], capture_output=True, text=True, check=True)
    listed = done.stdout.split("Commands:")[1].split("Options:")[0]
    return set(re.findall(r"^  (\w+)", listed, re.M)) - {"help"}


def test_the_schema_has_every_subcommand_and_each_key_once() -> None:
    commands = set(SCHEMA["$defs"]) - {"keys", "failure"}
    assert commands == subcommands()
    for name in [*commands, "failure"]:
        for key, schema in SCHEMA["$defs"][name]["properties"].items():
            assert schema == {"$ref": f"#/$defs/keys/{key}"}, (name, key)
    assert all(schema["description"] for schema in SCHEMA["$defs"]["keys"].values())


def test_the_check_of_schemas_complains() -> None:
    good = {"files": ["a"], "steps": 3, "notes": []}
    assert not complaints(good, SCHEMA["$defs"]["export"])
    bad: list[dict[str, Any]] = [{**good, "steps": -1}, {**good, "steps": True}, {**good, "files": [1]}, {**good, "more": 1}, {"files": [], "steps": 1}]
    assert all(len(complaints(x, SCHEMA["$defs"]["export"])) == 1 for x in bad)


def test_runs_and_recordings(tmp_path: Path) -> None:
    recording, problem = tmp_path / "a.rec", tmp_path / "step.json"
    made = valid("run", run("run", "scenes/grasp.toml", "--set", "n=1", "--steps", "1e2", "--record", recording, "--json"))
    assert made["steps"] == 100 and made["files"] == [str(recording)] and not made["interrupted"]
    robot = valid("run", run("run", "examples/slider.xml", "--steps", 5, "--json"))
    assert valid("run", run("run", "examples/arm.urdf", "--floor", "--separate", "--steps", 5, "--json"))["steps"] == 5
    assert set(robot["bodies"]) == set(valid("check", run("check", "examples/slider.xml", "--json"))["body_names"])
    assert valid("check", run("check", "scenes/grasp.toml", "--json"))["parameters"]
    assert valid("replay", run("replay", recording, "--json"))["identical"]
    assert valid("extract", run("extract", recording, "--step", 50, "--out", problem, "--json"))["step"] == 50
    assert run("extract", recording, "--step", 50, "--json") == json.loads(problem.read_text())
    assert valid("export", run("export", recording, "--npz", tmp_path / "a.npz", "--csv", tmp_path, "--json"))["steps"] == 100
    assert valid("solve", run("solve", problem, "--json"))["certificate"]["worst"] <= 1e-10


def test_problems_papers_and_measurements(tmp_path: Path) -> None:
    for example in ("many-contacts", "motor", "sliding-box", "tied-masses"):
        valid("solve", run("solve", f"examples/{example}.json", "--json"))
    (tmp_path / "lcp.json").write_text('{"M": [[2, 1], [1, 2]], "q": [-5, -6]}')
    assert valid("solve", run("solve", tmp_path / "lcp.json", "--exact", "--json"))["exact"]
    (tmp_path / "none.json").write_text('{"M": [[0]], "q": [-1]}')
    valid("solve", run("solve", tmp_path / "none.json", "--json", code=1))
    assert valid("solve", run("solve", "--list", "--json"))["solvers"]
    assert valid("paper", run("paper", "list", "--json"))["experiments"]
    assert valid("paper", run("paper", "baraff/friction", "--quick", "--out", tmp_path / "paper", "--json"))["claims"]
    assert len(valid("soak", run("soak", "--count", "1e1", "--class", "psd,any", "--json"))["tallies"]) == 2
    assert valid("soak", run("soak", "--count", 10, "--model", "no-slip", "--json"))["ok"]
    assert valid("bench", run("bench", "examples/slider.xml", "--steps", 3, "--turns", 2, "--warm-up", 1, "--json"))["turns"] == 2
    assert valid("bench", run("bench", "scenes/grasp.toml", "--steps", 3, "--turns", 1, "--json"))["model"] == "coulomb-cone"


def test_starters_and_shells(tmp_path: Path) -> None:
    files = valid("new", run("new", tmp_path / "first", "--json"))["files"]
    assert all(Path(file).exists() for file in files)
    assert "stiction" in valid("completions", run("completions", "bash", "--json"))["text"]
    assert valid("man", run("man", "--json"))["text"]
    pages = valid("man", run("man", "--out", tmp_path / "man", "--json"))["files"]
    assert {Path(page) for page in pages} == set((tmp_path / "man").iterdir())


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert valid("plot", run("plot", "scenes/slide.toml", "--out", tmp_path / "a.png", "--json"))["files"]
    pytest.importorskip("vtk")
    drawn = ["--size", "64x48", "--json"]
    assert valid("render", run("render", "scenes/slide.toml", "--out", tmp_path / "b.png", *drawn))["frames"] == 1
    video = ["--video", tmp_path / "c.gif", "--to", "0.1", "--fps", "10", *drawn]
    assert valid("compare", run("compare", "scenes/slide.toml", "--with", "no-slip", *video))["frames"] > 0


def test_the_viewer_says_where_it_is() -> None:
    pytest.importorskip("viser")
    process = subprocess.Popen([sys.executable, "-m", "stiction", "view", "slide", "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert valid("view", json.loads(process.stdout.readline()))["url"].startswith("http")
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("command", sorted(subcommands()))
def test_errors_are_objects_too(command: str) -> None:
    arguments = {"paper": ["no-such"], "completions": ["no-such"], "soak": ["--class", "no-such"], "man": ["--out", "/dev/null/no"], "new": ["/no/such/folder/a"]}
    if command == "compare":
        arguments["compare"] = ["no-such.toml", "--with", "no-slip", "--video", "a.gif"]
    if command in ("render", "plot"):
        arguments[command] = ["no-such.toml", "--out", "no-such.png"]
    found = valid("failure", run(command, *arguments.get(command, ["no-such.toml"]), "--json", code=2))
    assert found["exit_code"] == 2 and found["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_a_run_with_its_summary() -> None:
    words = [sys.executable, "-m", "stiction", "run", "scenes/slide.toml", "--steps", "1e9", "--sleeping", "off", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate()
    found = valid("run", json.loads(out))
    assert process.returncode == 130 and found["interrupted"] and found["steps"] > 0
