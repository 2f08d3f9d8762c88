"""Whatever is passed, an exception says so: no panic, no hang. Calls are random but the same in every run."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stiction
from stiction import lcp
from stiction import contact as touch
from stiction.scene import box


pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


class Index:
    """A whole number of its own kind."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


class Broken:
    """No array, though it says so."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("no array")

    def __len__(self) -> int:
        return 3


SCENE = stiction.SceneBuilder().ground().body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2)).build()


def particle() -> touch.ContactProblem:
    problem = touch.ContactProblem(np.eye(3), [0.0, 0.0, -1.0], np.zeros(3), 0.1)
    problem.add_contacts([[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], mu=0.5)
    return problem


SHAPES = [(), (0,), (1,), (2,), (3,), (6,), (7,), (2, 2), (3, 3), (1, 3), (3, 0), (0, 3), (0, 0), (2, 3, 4), (6, 6), (3, 7)]
DTYPES = ["f4", "i4", "?", "c16", "O", "U3", "f2", ">f8", "longdouble", "u8", "M8[s]"]
NAMES = ["threads", "solver", "start", "tolerance", "max_pivots", "max_flops", "mu", "gap", "size", "out", "every", "lo", "hi", "free", "level", "M", "q", "rate"]
OTHERS: list[Any] = [
    None, 0, 1, -1, 7, 2**70, -(2**70), 0.5, -1.0, float("nan"), float("inf"), "", "auto", "lemke", "cube", "no-slip", "zw", "a\0b", b"", b"x",
    [], {}, (), [None], [[]], True, object(), Broken(), Index(-5), Index(2**80), slice(1), range(3), np.int64(1), np.float64(0.5),
    lcp.Lemke(), touch.NoSlip(), particle(), lcp.solve([[1.0]], [-1.0]), touch.solve(particle()), SCENE, stiction.Simulation(SCENE),
]  # fmt: skip


def junk(rng: random.Random) -> Any:
    """Something, often an array."""
    if rng.random() < 0.5:
        return rng.choice(OTHERS)
    array = np.random.default_rng(rng.randrange(2**32)).normal(size=rng.choice(SHAPES))
    if array.size and rng.random() < 0.2:
        array.flat[0] = rng.choice([np.nan, np.inf, 1e308, 5e-324])
    kinds: list[Callable[[], Any]] = [
        lambda: array, lambda: array.astype(rng.choice(DTYPES)), lambda: np.asfortranarray(array), lambda: array.tolist(),
        lambda: np.repeat(array, 2, axis=0)[::2] if array.ndim else array,
    ]  # fmt: skip
    return rng.choice(kinds)()


def survives(call: Callable[[], Any]) -> None:
    """Any refusal will do, but not that of a fault of the engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except stiction.InternalError:
            raise
        except Exception:
            pass


FUNCTIONS = [getattr(module, name) for module in (lcp, touch) for name in module.__all__ if callable(getattr(module, name))]
FUNCTIONS += [stiction.Simulation, stiction.BatchSimulation, stiction.inverse_dynamics]
FUNCTIONS += [stiction.Scene.load, stiction.Scene.parse, stiction.Scene.from_dict]
OBJECTS: list[Callable[[], Any]] = [
    lambda: stiction.Simulation(SCENE), lambda: stiction.BatchSimulation(SCENE, 2), lambda: SCENE, particle,
    lambda: lcp.solve([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0]), lambda: lcp.solve([[0.0]], [-1.0]), lambda: touch.solve(particle()),
    lcp.Lemke, touch.NoSlip,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_functions_survive_junk(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4000):
        arguments = [junk(rng) for _ in range(rng.randint(0, 4))]
        options = {rng.choice(NAMES): junk(rng) for _ in range(rng.choice([0, 0, 1]))}
        survives(lambda: rng.choice(FUNCTIONS)(*arguments, **options))


@pytest.mark.parametrize("seed", range(5))
def test_objects_survive_junk(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(1500):
        value = rng.choice(OBJECTS)()
        name = rng.choice([n for n in dir(value) if not n.startswith("_")])
        if name in ("run", "step"):
            survives(lambda: getattr(value, name)(rng.choice([None, 0, 3, -1, 2.5, "a", Index(-5), Index(2**80)])))
        elif rng.random() < 0.4:
            survives(lambda: setattr(value, name, junk(rng)))
            survives(lambda: value.step())
        else:
            survives(lambda: getattr(value, name)(*[junk(rng) for _ in range(rng.randint(0, 3))]))


def spoiled(rng: random.Random, x: Any) -> Any:
    """A pickle's state with one thing changed."""
    if isinstance(x, (tuple, list)) and x and rng.random() < 0.85:
        i = rng.randrange(len(x))
        return type(x)([*x[:i], spoiled(rng, x[i]), *x[i + 1 :]])
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        return rng.choice([x[:-1], np.append(x, 1.0), 0.0 * x, x + 1e-3, np.full_like(x, np.nan), x[None]])
    if isinstance(x, bytes) and x:
        i = rng.randrange(len(x))
        return rng.choice([x[:i] + bytes([x[i] ^ 1 << rng.randrange(8)]) + x[i + 1 :], x[:i], b""])
    if isinstance(x, str) and x:
        i = rng.randrange(len(x))
        return rng.choice([x[:i] + rng.choice('zwu09-,[]{}"e') + x[i + 1 :], x[:i], x + x])
    return rng.choice([None, 0, -1, 1, 10**6, 2**70, True, 0.5, float("nan"), "a", [], ()])


@pytest.mark.parametrize("seed", range(5))
def test_spoiled_pickles_are_refused_or_harmless(seed: int) -> None:
    rng = random.Random(seed)
    makers = [lambda: stiction.Simulation(SCENE), lambda: stiction.BatchSimulation(SCENE, 2), *OBJECTS]
    for _ in range(1500):
        restore, (kind, state) = rng.choice(makers)().__reduce__()

        def use() -> None:
            again = restore(kind, spoiled(rng, state))
            repr(again)
            if isinstance(again, touch.Solved):
                touch.solve(particle(), start=again)
            elif hasattr(again, "step"):
                again.step()

        survives(use)
