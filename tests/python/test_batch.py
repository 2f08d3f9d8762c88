"""Many copies at once."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.scene import sphere


@pytest.fixture
def grasp(scenes: Path) -> stiction.Scene:
    return stiction.Scene.load(scenes / "grasp.toml")


def test_copies_are_simulations_whatever_the_threads(grasp: stiction.Scene) -> None:
    speeds = np.linspace(-0.5, 0.5, 9)
    alone = []
    for speed in speeds:
        simulation = stiction.Simulation(grasp)
        simulation.v[2] = speed
        simulation.effort[12] = 3.0
        simulation.run(60)
        alone.append((simulation.q.copy(), simulation.v.copy()))
    for threads in (1, 2, 4, None):
        batch = stiction.BatchSimulation(grasp, 9, threads=threads)
        batch.v[:, 2] = speeds
        batch.effort[:, 12] = 3.0
        for _ in range(3):
            assert batch.step(20).all()
        for i, (q, v) in enumerate(alone):
            assert batch.q[i].tobytes() == q.tobytes() and batch.v[i].tobytes() == v.tobytes()
    assert (batch.certificate <= 1e-10).all() and batch.contacts.min() > 0
    np.testing.assert_allclose(batch.t, 0.06)


def test_shapes(grasp: stiction.Scene) -> None:
    batch = stiction.BatchSimulation(grasp, 4, threads=2)
    assert batch.q.shape == (4, grasp.nq) and batch.v.shape == batch.force.shape == (4, grasp.nv) and batch.ctrl.shape == (4, 0)
    assert batch.q.flags.c_contiguous and batch.q is batch.q and len(batch) == batch.n == 4 and batch.threads == 2


def test_one_bad_copy_never_kills_the_batch(grasp: stiction.Scene) -> None:
    batch, good = stiction.BatchSimulation(grasp, 4), stiction.BatchSimulation(grasp, 4)
    batch.q[1, 0] = np.nan
    batch.kd[2, 3] = -1.0
    assert batch.step(10).tolist() == [True, False, False, True]
    good.step(10)
    assert batch.failed.tolist() == [False, True, True, False]
    assert "q[0]" in batch.messages[1] and "kd[3]" in batch.messages[2] and not batch.messages[0]
    np.testing.assert_array_equal(batch.q[[0, 3]], good.q[[0, 3]])
    # A failed copy is left alone until it is reset.
    batch.q[1] = good.q[1]
    assert batch.step().tolist() == [True, False, False, True]
    batch.reset([1, 2])
    assert not batch.failed.any() and batch.t[1] == 0 and not batch.kd.any()
    assert batch.step(10).all()
    np.testing.assert_array_equal(batch.q[1], good.q[0])


def test_steps_that_fail_keep_the_state_before(scenes: Path) -> None:
    builder = stiction.SceneBuilder(gravity=[0, 0, 0]).body("block", mass=1.0, shape=stiction.scene.box(0.1, 0.1, 0.1))
    for name, side in (("left", -1.0), ("right", 1.0)):
        shape, joint = stiction.scene.box(0.1, 0.1, 0.1), {"type": "prismatic", "axis": [1, 0, 0]}
        builder.body(name, mass=1.0, position=[0.1 * side, 0, 0], shape=shape, joint=joint)
        builder.motion(name, [[0, 0], [0.01, 0], [0.02, -0.05 * side]])
    batch = stiction.BatchSimulation(builder.build(), 2)
    batch.q[1, 1] = 5.0  # out of the vice
    assert batch.step(15).tolist() == [False, True]
    assert "step" in batch.messages[0] and batch.t[0] < batch.t[1]
    assert np.isfinite(batch.q).all()


@pytest.mark.parametrize("which", [2, [2], np.array([2]), [False, False, True], np.array([False, False, True])])
def test_resets(grasp: stiction.Scene, which) -> None:
    batch = stiction.BatchSimulation(grasp, 3)
    batch.force[:, 0] = 1.0
    batch.step(5)
    batch.reset(which)
    assert (batch.t == 0).tolist() == [False, False, True] and batch.force[:, 0].tolist() == [1.0, 1.0, 0.0]
    batch.reset()
    assert not batch.t.any() and not batch.force.any()


def test_a_reset_copy_is_a_new_one(grasp: stiction.Scene) -> None:
    batch = stiction.BatchSimulation(grasp, 2)
    batch.v[:, 2], batch.force[:, 0] = 0.3, 1.0
    batch.step(50)
    batch.q[1] = np.nan
    assert batch.step(3).tolist() == [True, False]
    batch.reset()
    new = stiction.BatchSimulation(grasp, 2)
    assert batch.save_state(0) == batch.save_state(1) == new.save_state(0)
    assert not batch.failed.any() and not batch.contacts.any() and not batch.certificate.any()
    batch.step(50), new.step(50)
    assert batch.q.tobytes() == new.q.tobytes() and batch.v.tobytes() == new.v.tobytes()


def test_saved_states_go_between_batches_and_simulations(grasp: stiction.Scene) -> None:
    batch, simulation = stiction.BatchSimulation(grasp, 2), stiction.Simulation(grasp)
    batch.v[1, 2] = 0.3
    batch.step(7)
    simulation.load_state(batch.save_state(1))
    batch.step(7), simulation.run(7)
    assert simulation.q.tobytes() == batch.q[1].tobytes()
    batch.load_state(0, simulation.save_state())
    assert batch.q[0].tobytes() == simulation.q.tobytes()
    again = pickle.loads(pickle.dumps(batch))
    again.step(5), batch.step(5)
    assert again.q.tobytes() == batch.q.tobytes()


def test_two_threads_raise(grasp: stiction.Scene) -> None:
    batch, ended, refused = stiction.BatchSimulation(grasp.with_settings(sleeping=False), 8), threading.Event(), 0

    def run() -> None:
        while not ended.is_set():
            try:
                batch.step(3000)
                ended.set()
            except stiction.BusyError:  # the other thread was first
                pass

    thread = threading.Thread(target=run)
    thread.start()
    while not ended.is_set() and not refused:
        try:
            batch.step()
        except stiction.BusyError:
            refused += 1
    thread.join()
    assert refused and batch.step().all()


def test_batches_in_two_threads_do_not_wait_for_each_other(grasp: stiction.Scene) -> None:
    awake = grasp.with_settings(sleeping=False)
    long, short = (stiction.BatchSimulation(awake, 4, threads=1) for _ in range(2))

    def run() -> None:
        while True:
            try:
                long.step(20_000)
                return
            except stiction.BusyError:  # the other thread was looking
                pass

    thread, busy = threading.Thread(target=run), False
    thread.start()
    while thread.is_alive() and not busy:
        try:
            long.t  # noqa: B018
            time.sleep(0.001)
        except stiction.BusyError:  # it has begun
            busy = True
    assert busy
    for _ in range(10):
        short.step()
    with pytest.raises(stiction.BusyError):  # and goes on still
        long.t  # noqa: B018
    thread.join()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: stiction.BatchSimulation(s, 0), stiction.InputError, "n must be at least 1, found 0"),
        (lambda s: stiction.BatchSimulation(s, 2, threads=0), stiction.InputError, "threads must be at least 1, found 0"),
        (lambda s: stiction.BatchSimulation(s, 2).reset(2), stiction.InputError, "there is no copy 2; there are 2"),
        (lambda s: stiction.BatchSimulation(s, 2).reset([True]), stiction.InputError, "which must have 2 entries, found 1"),
        (lambda s: stiction.BatchSimulation(s, 2).reset("all"), TypeError, "which must be a number, a list of numbers or a mask of 2 booleans"),
        (lambda s: stiction.BatchSimulation(s, 2).save_state(5), stiction.InputError, "there is no copy 5"),
        (lambda s: stiction.BatchSimulation(s, 2).save_state(-3), stiction.InputError, "there is no copy -3; there are 2"),
        (lambda s: stiction.BatchSimulation(s, 2).save_state("0"), TypeError, "the number of a copy must be a whole number, found str"),
        (lambda s: stiction.BatchSimulation(s, 2).reset([0, 5]), stiction.InputError, "there is no copy 5; there are 2"),
        (lambda s: stiction.BatchSimulation(s, 2).step(-1), stiction.InputError, "steps must be at least 0, found -1"),
        (lambda s: stiction.BatchSimulation(s, 2.0), TypeError, "n must be a whole number, found float"),
        (lambda s: setattr(stiction.BatchSimulation(s, 2), "v", np.zeros((3, 4))), stiction.InputError, r"v must have shape \(2, \d+\) or broadcast"),
    ],
)
def test_messages(grasp: stiction.Scene, call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(grasp)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(grasp: stiction.Scene) -> None:
    batch = stiction.BatchSimulation(grasp, 4, threads=2)
    batch.step(5)
    child = os.fork()
    if child == 0:
        os._exit(0 if batch.step(5).all() and batch.t[0] > 0.009 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert batch.step(5).all()


def test_views_outlive_their_batch() -> None:
    scene = stiction.SceneBuilder().body("ball", mass=1.0, shape=sphere(0.1)).build()
    q = stiction.BatchSimulation(scene, 3).q
    q[1, 0] = 4.0
    assert q.sum() == 4.0 + 3.0


def test_arrays_can_be_assigned(grasp: stiction.Scene) -> None:
    batch = stiction.BatchSimulation(grasp, 3)
    v = batch.v
    batch.v = np.arange(3.0)[:, None]
    assert v is batch.v and (v == np.arange(3.0)[:, None]).all()
    batch.force = 0.5
    assert (batch.force == 0.5).all()


def test_copies_count_from_the_end_and_become_simulations(grasp: stiction.Scene) -> None:
    batch = stiction.BatchSimulation(grasp, 3)
    batch.v[2, 2] = 0.2
    batch.step(9)
    assert batch.save_state(-1) == batch.save_state(2)
    alone = batch.simulation(-1)
    assert alone.q.tobytes() == batch.q[2].tobytes() and alone.steps == 9
    alone.run(5), batch.step(5)
    assert alone.q.tobytes() == batch.q[2].tobytes() and len(alone.contacts) == batch.simulation(2).run(1).contacts
    batch.reset(-1)
    assert (batch.t == 0).tolist() == [False, False, True]


def test_state_cannot_be_written_while_a_step_runs_elsewhere(grasp: stiction.Scene) -> None:
    batch, locked = stiction.BatchSimulation(grasp.with_settings(sleeping=False), 4), False
    thread = threading.Thread(target=lambda: batch.step(10000))
    thread.start()
    while thread.is_alive() and not locked:
        locked = not batch.q.flags.writeable and not batch.v.flags.writeable
    thread.join()
    assert locked and batch.q.flags.writeable and batch.v.flags.writeable


def test_ctrl_c_ends_a_batch_soon_and_leaves_it_valid(grasp: stiction.Scene) -> None:
    batch = stiction.BatchSimulation(grasp, 8, threads=2)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        batch.step(10**9)
    assert not batch.failed.any() and 0 < batch.t.min()
    steps = np.rint(batch.t / grasp.dt).astype(int)
    for i in (0, 7):
        alone = stiction.Simulation(grasp)
        alone.run(steps[i])
        assert alone.q.tobytes() == batch.q[i].tobytes()
    assert batch.step().all()


def test_ctrl_c_ends_a_batch_of_problems_soon() -> None:
    M = np.broadcast_to(np.eye(40) + 0.01, (20000, 40, 40))
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            stiction.lcp.solve_batch(M, -np.ones((20000, 40)), "lemke")
