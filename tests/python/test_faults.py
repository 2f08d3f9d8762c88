"""What goes wrong in the engine itself: panics, places of objects in memory, and Ctrl-C in the middle of a solve or a step."""

from __future__ import annotations

import copy
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction import _stiction, contact, lcp
from stiction.scene import box

ROOT = Path(__file__).resolve().parents[2]

EQUALITY = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="left" pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body>
    <body name="right" pos="0 0.5 1"><joint name="b" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body>
  </worldbody>
  <equality><joint joint1="a" joint2="b" polycoef="0 1 0 0 0"/></equality>
</mujoco>
"""

# Python's allocator places a large object on any multiple of 16 bytes. Blocks of other sizes in between, enough to fill the
# holes that building a simulation leaves, lead it to those that are no multiple of 64.
EVERYWHERE = """
import random, sys, stiction
scene = stiction.Scene.load(sys.argv[1])
if len(sys.argv) > 2:
    scene = scene.with_settings(simulator=sys.argv[2])
met, kept, rng = set(), [], random.Random(0)
for i in range(2000):
    kept.extend(bytearray(600 + 16 * rng.randrange(64)) for _ in range(20))
    simulation = stiction.Simulation(scene, raises=False)
    kept.append(simulation)
    met.add(id(simulation) % 64)
    simulation.run(3)
    if i >= 40 and met >= {16, 32, 48}:
        break
assert met >= {16, 32, 48}, met
print("survived")
"""


@pytest.mark.parametrize("allocator", ["default", "malloc", "malloc_debug"])
@pytest.mark.parametrize("file", ["four-bar", "equality"])
def test_simulations_run_wherever_python_places_them(tmp_path: Path, file: str, allocator: str) -> None:
    path = ROOT / "scenes" / "four-bar.toml"
    if file == "equality":
        path = tmp_path / "equality.xml"
        path.write_text(EQUALITY)
    environment = {**os.environ, "PYTHONMALLOC": allocator}
    for simulator in ([], ["event-driven"]):
        command = [sys.executable, "-c", EVERYWHERE, str(path), *simulator]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert run.stdout == "survived\n", (run.returncode, run.stdout, run.stderr)


def test_no_class_asks_for_more_alignment_than_python_gives() -> None:
    sources = (ROOT / "crates" / "stiction-py" / "src").rglob("*.rs")
    declared = re.compile(r"#\[pyclass\b.*?\bstruct (\w+)", re.DOTALL)
    classes = {name for source in sources for name in declared.findall(source.read_text())}
    assert len(classes) > 20
    assert {name.rsplit("::")[-1].strip() for name in _stiction._alignments} == classes
    assert all(alignment <= 16 for alignment in _stiction._alignments.values())


def test_a_fault_of_the_engine_is_an_ordinary_error() -> None:
    with pytest.raises(stiction.InternalError, match="^internal error: index out of bounds; please report it") as error:
        _stiction._panic("index out of bounds")
    assert isinstance(error.value, stiction.StictionError) and isinstance(error.value, Exception)
    try:
        _stiction._panic("once more")
    except Exception as caught:
        assert type(caught).__name__ == "InternalError" and type(caught).__module__ == "stiction.errors"
        for other in (pickle.loads(pickle.dumps(caught)), copy.copy(caught)):
            assert type(other) is stiction.InternalError and str(other) == str(caught)
    else:
        pytest.fail("nothing was raised")


@pytest.mark.parametrize("simulator", ["time-stepping", "event-driven"])
@pytest.mark.parametrize("name", ["stack", "four-bar"])
def test_a_fault_in_a_step_leaves_the_state_before_it(name: str, simulator: str) -> None:
    scene = stiction.Scene.load(ROOT / "scenes" / f"{name}.toml").with_settings(simulator=simulator)
    simulation, other = stiction.Simulation(scene), stiction.Simulation(scene)
    simulation.run(5), other.run(5)
    with pytest.raises(stiction.InternalError, match="a step that was made: true"):
        simulation._panic_in_step()
    assert simulation.q.flags.writeable and simulation.v.flags.writeable
    assert simulation.steps == 5 and simulation.hash == other.hash
    simulation.run(5), other.run(5)
    assert simulation.hash == other.hash


@contextmanager
def ctrl_c(after: float) -> Iterator[None]:
    """Ctrl-C after so many seconds."""
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def dense(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric positive definite problem so large that a single factorization of it takes its time."""
    square = np.random.default_rng(0).normal(size=(n, n))
    return square + square.T + 4.0 * np.sqrt(n) * np.eye(n), -np.ones(n)


def heap(n: int, *, spins: bool = True) -> contact.ContactProblem:
    """n bodies, as many contacts as velocities, and every contact touches all of them."""
    rng = np.random.default_rng(0)
    mass = [np.diag(rng.uniform(0.5, 2.0, 6)) for _ in range(n)]
    problem = contact.ContactProblem(mass, rng.normal(size=6 * n), -9.81 * np.ones(6 * n), 0.01)
    rows = rng.normal(size=(4, 6 * n, 6 * n))
    if spins:
        problem.add_contacts(*rows[:3], mu=0.7, spin=rows[3], mu_spin=0.1)
    else:
        problem.add_contacts(*rows[:3], mu=0.7)
    return problem


def chain(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Masses in a row, of which each moves its neighbours: sweeps over the rows converge slowly."""
    return 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1), -np.ones(n)


def without_solution(n: int) -> tuple[np.ndarray, np.ndarray]:
    """w = q − B z with B > 0 and q < 0: every basis has to be looked at."""
    return -1.0 - np.random.default_rng(0).uniform(size=(n, n)), -np.ones(n)


# Each takes many seconds if nobody ends it.
LONG: dict[str, Callable[[], Callable[[], object]]] = {
    "auto": lambda: partial(lcp.solve, *dense(4000), "auto"),
    "lemke": lambda: partial(lcp.solve, *dense(2500), "lemke"),
    "nnls": lambda: partial(lcp.solve, *dense(2500), "nnls"),
    "dantzig": lambda: partial(lcp.solve, *dense(4000), "dantzig"),
    "modified-ppm": lambda: partial(lcp.solve, *dense(2500), "modified-ppm"),
    "principal-pivot": lambda: partial(lcp.solve, *dense(2500), "principal-pivot"),
    "interior-point": lambda: partial(lcp.solve, *dense(2500), "interior-point"),
    "feasible-interior-point": lambda: partial(lcp.solve, *dense(2500), "feasible-interior-point"),
    "projected-gauss-seidel": lambda: partial(lcp.solve, *chain(2500), "projected-gauss-seidel"),
    "enumerate": lambda: partial(lcp.solve, *without_solution(20), "enumerate"),
    "two in a batch": lambda: partial(lcp.solve_batch, [dense(2500)[0]] * 2, [dense(2500)[1]] * 2, "lemke"),
    "exact": lambda: partial(lcp.classify, dense(400)[0], exact=True),
    "coulomb-cone": lambda: partial(contact.solve, heap(100)),
    "no-slip": lambda: partial(contact.solve, heap(300, spins=False), "no-slip"),
    "coulomb-polyhedral": lambda: partial(contact.solve, heap(60, spins=False), "coulomb-polyhedral"),
    "drumwright-shell": lambda: partial(contact.solve, heap(60, spins=False), "drumwright-shell"),
}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_a_long_solve(name: str) -> None:
    solve = LONG[name]()
    with ctrl_c(0.3), pytest.raises(KeyboardInterrupt):
        solve()
        pytest.fail("Ctrl-C was not heard during the solve")
    assert lcp.solve([[1.0]], [-1.0]).z == [1.0]


def test_ctrl_c_within_a_step_leaves_the_state_before_it() -> None:
    scene = stiction.Scene.load(ROOT / "scenes" / "pyramid.toml").with_settings(simulator="event-driven")
    simulation = stiction.Simulation(scene)
    states = [simulation.save_state()]
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        while True:
            simulation.step()
            states.append(simulation.save_state())
    # It may also come between a step and the note of it.
    assert simulation.save_state() in states[-1:] or simulation.steps == len(states)
    assert simulation.q.flags.writeable and simulation.v.flags.writeable


def test_interrupt_ends_a_step_and_leaves_the_state_before_it() -> None:
    simulation = stiction.Simulation(stiction.Scene.load(ROOT / "scenes" / "pyramid.toml").with_settings(simulator="event-driven"))
    asked: list[int] = []
    simulation.interrupt = lambda: asked.append(simulation.q.flags.writeable) or len(asked) == 3
    with pytest.raises(stiction.StepInterrupted, match="the state before the step"):
        simulation.run(10**9)
    assert asked == [False] * 3 and simulation.q.flags.writeable
    other = stiction.Simulation(simulation.scene)
    other.run(simulation.steps)
    assert simulation.save_state() == other.save_state()
    # An error of the callable is the error of the step; without it, steps are made.
    simulation.interrupt = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        simulation.run(10**9)
    assert simulation.copy().interrupt is None
    simulation.interrupt = None
    again = stiction.Simulation(simulation.scene)
    again.load_state(simulation.save_state())
    assert simulation.step().ok and again.step().ok and simulation.hash == again.hash
    with pytest.raises(TypeError, match="callable"):
        simulation.interrupt = 3  # type: ignore[assignment]


def test_a_step_after_ctrl_c_is_as_if_there_had_been_none() -> None:
    scene = stiction.Scene.load(ROOT / "scenes" / "stack.toml")
    simulation, other = stiction.Simulation(scene), stiction.Simulation(scene)
    with ctrl_c(0.2), pytest.raises(KeyboardInterrupt):
        while True:
            simulation.step()
    other.run(simulation.steps)
    assert simulation.hash == other.hash
    simulation.run(5), other.run(5)
    assert simulation.hash == other.hash


def test_ctrl_c_within_the_steps_of_a_batch_leaves_states_between_steps() -> None:
    scene = stiction.Scene.load(ROOT / "scenes" / "pyramid.toml").with_settings(simulator="event-driven")
    batch = stiction.BatchSimulation(scene, 2, threads=2)
    with ctrl_c(0.5), pytest.raises(KeyboardInterrupt):
        batch.step(10**6)
    assert not batch.failed.any()
    for i in range(2):
        alone = stiction.Simulation(scene)
        alone.run(round(batch.t[i] / scene.dt))
        assert alone.q.tobytes() == batch.q[i].tobytes() and alone.hash == batch.simulation(i).hash


def test_a_handler_that_raises_something_else_is_heard() -> None:
    def handler(*_: object) -> None:
        assert lcp.solve([[1.0]], [-1.0])
        raise TimeoutError("that is enough")

    earlier = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(TimeoutError, match="that is enough"):
            lcp.solve(*dense(2500), "lemke")
            pytest.fail("the signal was not heard during the solve")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, earlier)


def overlapping(depth: float = 0.05) -> stiction.Scene:
    builder = stiction.SceneBuilder("deep").ground()
    return builder.body("cube", mass=1.0, position=[0, 0, 0.1 - depth], shape=box(0.2, 0.2, 0.2)).build()


def test_bodies_that_overlap_at_the_start_are_refused_as_by_the_command(tmp_path: Path) -> None:
    message = r'"ground" and "cube" overlap by 5.000e-2 m at the start; separate=True takes them apart'
    for make in (stiction.Simulation, lambda scene: stiction.BatchSimulation(scene, 2)):
        with pytest.raises(stiction.SceneError, match=message):
            make(overlapping())
    text = 'dt = 0.001\n[[bodies]]\nname = "floor"\nfixed = true\nshape = { plane = true }\n'
    for name, x in (("a", 0.0), ("b", 0.05)):
        text += f'[[bodies]]\nname = "{name}"\nmass = 1\nposition = [{x}, 0, 0.1]\nshape = {{ box = [0.2, 0.2, 0.2] }}\n'
    file = tmp_path / "two.toml"
    file.write_text(text)
    with pytest.raises(stiction.SceneError) as error:
        stiction.Simulation(file)
    assert error.value.file == str(file)
    command = subprocess.run([sys.executable, "-m", "stiction", "run", str(file)], capture_output=True, text=True, check=False)
    assert command.returncode == 2
    assert str(error.value).removesuffix("separate=True takes them apart") in command.stderr


def test_bodies_that_overlap_at_the_start_are_taken_apart_on_demand() -> None:
    scene = overlapping()
    simulation = stiction.Simulation(scene, separate=True)
    assert simulation.q[2] == pytest.approx(0.1) and not simulation.overlaps()
    simulation.run(10)
    start = simulation.q[2]
    for other in (simulation.copy(), pickle.loads(pickle.dumps(simulation))):
        assert other.hash == simulation.hash
        other.reset()
        assert other.q[2] == pytest.approx(0.1)
    batch = stiction.BatchSimulation(scene, 3, separate=True)
    assert np.allclose(batch.q[:, 2], 0.1) and batch.step(10).all()
    assert np.allclose(batch.q[:, 2], start)
    again = pickle.loads(pickle.dumps(batch))
    again.reset()
    assert np.allclose(again.q[:, 2], 0.1) and again.simulation(1).q[2] == pytest.approx(0.1)


def test_friction_without_rows_to_act_along_is_refused() -> None:
    problem = contact.ContactProblem(np.eye(3), [1.0, 0.0, 0.0], [0.0, 0.0, -9.81], 0.01)
    up, along = [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]]
    for wrong in ({"mu": 0.5}, {"mu": np.inf}, {"mu_viscous": 0.1}, {"mu_spin": 0.1}, {"mu_spin": 0.1, "S": along}):
        with pytest.raises(stiction.InputError, match=r"contact 0: mu\w* must be 0 without"):
            problem.add_contacts(up, **wrong)
    with pytest.raises(stiction.InputError, match="contact 1: mu"):
        problem.add_contacts(up * 2, mu=[0.0, 0.5])
    assert problem.contacts == 0
    problem.add_contacts(up, mu=0.0)
    problem.add_contacts(up, along, mu=0.5)
    problem.add_contacts(up, T=along, mu=0.5)
    # A contact that cannot slip says so by rows of zeros.
    problem.add_contacts(up, np.zeros((1, 3)), np.zeros((1, 3)), mu=0.5)
    assert contact.ContactProblem.from_json(problem.to_json()) == problem
    assert contact.solve(problem).motion[0] < 1.0
