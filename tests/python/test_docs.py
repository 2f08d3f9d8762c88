"""Stubs, docstrings and types: what is said is so."""

from __future__ import annotations

import dataclasses
import doctest
import enum
import importlib
import importlib.metadata
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stiction

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {"stiction.envs": "gymnasium", "stiction.plot": "matplotlib", "stiction.render": "vtkmodules"}


def modules() -> list[str]:
    found = [m.name for m in pkgutil.walk_packages(stiction.__path__, "stiction.")]
    return ["stiction", *(name for name in found if not name.split(".")[-1].startswith("_"))]


def load(name: str) -> ModuleType:
    for prefix, package in NEEDS.items():
        if name.startswith(prefix):
            pytest.importorskip(package)
    return importlib.import_module(name)


def public(module: ModuleType) -> list[tuple[str, Any]]:
    """Everything public of a module, and the public members of its classes."""
    found: list[tuple[str, Any]] = [(module.__name__, module)]
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value) or not (inspect.isclass(value) or callable(value)):
            continue
        found.append((f"{module.__name__}.{name}", value))
        if inspect.isclass(value):
            members = [(k, v) for k, v in vars(value).items() if not k.startswith("_")]
            found += [(f"{module.__name__}.{name}.{k}", v) for k, v in members if callable(v) or hasattr(v, "__doc__") and hasattr(v, "__get__")]
    return found


@pytest.mark.parametrize("name", modules())
def test_everything_public_has_a_docstring(name: str) -> None:
    bare = [place for place, value in public(load(name)) if not inspect.getdoc(value)]
    assert not bare


def described(place: str, value: Any) -> str:
    """The docstring, or that of the method it overrides."""
    owner = getattr(importlib.import_module(place.rsplit(".", 2)[0]), place.rsplit(".", 2)[1], None) if place.count(".") > 1 else None
    above = [getattr(base, place.rsplit(".", 1)[1], None) for base in getattr(owner, "__mro__", ())]
    return "\n".join(inspect.getdoc(method) or "" for method in (value, *above))


@pytest.mark.parametrize("name", modules())
def test_parameters_are_described(name: str) -> None:
    """NumPy's style: a section in which every argument has its line. Errors, enumerations and records have attributes instead."""
    bare = []
    for place, value in public(load(name)):
        plain = inspect.isclass(value) and (issubclass(value, (Exception, enum.Enum)) or dataclasses.is_dataclass(value))
        if plain or not callable(value):
            continue
        try:
            names = [n for n in inspect.signature(value).parameters if n not in ("self", "cls")]
        except ValueError:
            continue
        section = described(place, value).partition("Parameters\n----------\n")[2]
        bare += [f"{place}: {n}" for n in names if not re.search(rf"^(.*, )?[*]*{n}(, .*)?( : .*)?$", section, re.M)]
    assert not bare


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name: str) -> None:
    module = load(name)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for place, value in public(module):
        if inspect.isclass(value) or callable(value) or inspect.ismodule(value):
            test = parser.get_doctest(inspect.getdoc(value) or "", {}, place, None, 0)
            runner.run(test)
    assert runner.failures == 0, f"{runner.failures} of {runner.tries} examples"


def test_examples_are_there_and_run() -> None:
    """The runner above sees the examples of the extension module too."""
    text = inspect.getdoc(stiction.lcp.solve) or ""
    assert len(doctest.DocTestParser().get_examples(text)) >= 2


def test_wrong_keyword_names_are_refused_and_the_right_ones_taken() -> None:
    assert stiction.lcp.solve(M=[[1.0]], q=[-1.0], solver="lemke").basis == "z"
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        stiction.lcp.solve(A=[[1.0]], q=[-1.0])


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    # Away from the sources, so that the installed package is what is looked at.
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=ROOT / "tests")


def test_stubs_say_what_the_module_has() -> None:
    done = mypy("mypy.stubtest", "stiction._stiction")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_and_the_examples_are_typed() -> None:
    package = ROOT / "python" / "stiction"
    folders = [ROOT / "examples" / "python", ROOT / "examples" / "learning"]
    examples = [str(file) for folder in folders for file in sorted(folder.glob("*.py"))]
    done = mypy("mypy", "--config-file", str(ROOT / "pyproject.toml"), str(package), *examples)
    assert examples and done.returncode == 0, done.stdout + done.stderr


USER = """
from typing import assert_type

import numpy as np
import numpy.typing as npt

import stiction
from stiction import contact, lcp

Array = npt.NDArray[np.float64]


def solve(M: Array, q: list[float]) -> float:
    match lcp.solve(M, q, lcp.Lemke(tolerance=1e-9), start="zz"):
        case lcp.Solved(z, w) as solved:
            assert_type(z, Array)
            assert_type(solved.certificate.worst, float)
            return float(z.sum() + w.sum())
        case lcp.Unsolvable(proof):
            assert_type(proof, str)
        case lcp.Ray(direction, claim):
            assert_type(direction, Array)
        case lcp.Stopped(why, reason="limit"):
            assert_type(why, str)
    return 0.0


def touch(problem: contact.ContactProblem) -> Array:
    outcome: contact.Outcome = contact.solve(problem, contact.NoSlip())
    match outcome:
        case contact.Solved(motion, normal):
            assert_type(motion, Array)
        case contact.Infeasible(speed):
            assert_type(speed, float)
        case contact.NoSolution(proof) | contact.Failed(proof):
            assert_type(proof, str)
        case contact.Ray():
            pass
    return outcome.require().motion


def simulate(scene: stiction.Scene) -> stiction.Trajectory:
    simulation = stiction.Simulation(scene.with_settings(model=contact.NoSlip()), raises=False)
    simulation.q[:3] = 0.0
    simulation.v = np.zeros(6)
    batch = stiction.BatchSimulation("scene.toml", 3, threads=2)
    batch.force = 0.0
    batch.reset(~batch.step(10))
    assert_type(batch.simulation(-1), stiction.Simulation)
    return stiction.record(simulation, 10)
"""


def test_a_users_script_is_typed_strictly(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(USER.replace("from typing import", "from typing_extensions import"))
    done = mypy("mypy", "--strict", str(script))
    assert done.returncode == 0, done.stdout
    script.write_text(script.read_text() + "\nlcp.solve([[1.0]], [1.0]).z\n")
    done = mypy("mypy", "--strict", str(script))
    assert done.returncode == 1 and 'has no attribute "z"' in done.stdout


def test_py_typed_is_there() -> None:
    package = Path(stiction.__file__).parent
    assert (package / "py.typed").exists() and (package / "_stiction.pyi").exists()


def test_version() -> None:
    cargo = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.+)"$', cargo, re.M)
    assert version and stiction.__version__ == version[1]


DOCS = ROOT / "docs"


def pages(language: str) -> list[str]:
    """The pages with blocks of a language."""
    return sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if f"```{language}\n" in page.read_text())


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)


def test_pages_have_their_blocks() -> None:
    """That the pattern finds them."""
    least = {"python.md": 8, "pictures.md": 4, "viewer.md": 3, "index.md": 1, "tutorials/grasp.md": 4, "tutorials/robot.md": 5}
    assert {page: len(blocks(page, "python")) >= n for page, n in least.items()} == dict.fromkeys(least, True)
    assert len(pages("python")) >= 12 and len(pages("sh")) >= 4


@pytest.mark.parametrize("page", pages("python"))
def test_python_in_the_docs_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block that is marked as Python, one after the other; those of other packages only where these are there.

    Blocks of a page of the reference stand alone; those of a tutorial go on from one to the next."""
    monkeypatch.chdir(ROOT)
    shared: dict[str, Any] = {"__name__": "docs"}
    for block in blocks(page, "python"):
        needed = re.findall(r"^import (mujoco|gymnasium|matplotlib|pinocchio|ray|rerun)\b", block, re.M)
        if "render" in block:
            needed.append("vtkmodules")
        if ".view(" in block:
            needed.append("viser")
        if "from ppo" in block:
            needed.append("autograd")
        if "stiction.envs" in block:
            needed.append("gymnasium")
        if "import stiction.ray" in block or "from stiction.ray" in block:
            needed.append("ray")
        code = compile(block, f"docs/{page}", "exec")
        if all(importlib.util.find_spec(name) is not None for name in needed) and "ray" not in needed:
            exec(code, shared if "/" in page else {"__name__": "docs"})


@pytest.mark.parametrize("page", pages("sh"))
def test_commands_in_the_docs_run(page: str, tmp_path: Path) -> None:
    """Every line of the blocks marked as commands, in a folder of its own with the scenes and examples in it."""
    for folder in ("scenes", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert lines
    for line in lines:
        words = line.partition("#")[0].split()
        command = {"stiction": ["-m", "stiction"], "python": []}[words[0]]
        done = subprocess.run([sys.executable, *command, *words[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_pages_of_the_site_are_all_in_its_navigation() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_the_command_comes_with_the_package() -> None:
    as_module = subprocess.run([sys.executable, "-m", "stiction", "--version"], capture_output=True, text=True)
    assert as_module.stdout == f"stiction {stiction.__version__}\n" and as_module.returncode == 0
    wrong = subprocess.run([sys.executable, "-m", "stiction", "check", "no-such.toml"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "no-such.toml" in wrong.stderr
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="stiction") or [None]
    assert script is None or script.value == "stiction._cli:main"
