"""Forces and accelerations at an instant, beside closed forms and the figures of the Rust tests."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import stiction
from stiction import contact, lcp
from stiction.contact import ContactProblem, CoulombPyramid
from stiction.scene import box, sphere

G = 9.81
#: Sine and cosine of a 3-4-5 slope.
SIN, COS = 0.6, 0.8


def near(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def pusher(mu: float, speed: float, effort: float) -> ContactProblem:
    """A prismatic joint of 1 kg pushes a box of 4 kg, (x, y), along the floor."""
    problem = ContactProblem([4.0 * np.eye(2), np.eye(1)], v=[speed, 0.0, speed], force=[0.0, -4.0 * G, effort], dt=1e-3)
    problem.add_contacts([[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]], mu=mu)
    problem.add_contacts([[1.0, 0.0, -1.0]])
    return problem


def painleve(mu: float, b: float) -> ContactProblem:
    """A rod whose lower end slides against friction: its separation acceleration is A c + b, A = 1 + 3 cos (cos - mu sin)."""
    problem = ContactProblem(np.diag([1.0, 1.0, 1.0 / 3.0]), v=[-1.0, 0.0, 0.0], force=[0.0, -8.0, 0.0], dt=1e-3)
    problem.add_contacts([[0.0, 1.0, -COS]], [[1.0, 0.0, SIN]], mu=mu, rate=[[b + 8.0, 0.0, 0.0]])
    return problem


def painleve_a(mu: float) -> float:
    return 1.0 + 3.0 * COS * (COS - mu * SIN)


def test_a_joint_pushes_by_effort_or_by_acceleration() -> None:
    mu, drag, model = 0.25, 0.25 * 4.0 * G, CoulombPyramid()
    found = model.solve(pusher(mu, 1.0, 30.0)).require()
    a = (30.0 - drag) / 5.0
    near(found.motion, [a, 0.0, a])
    near(found.normal[1], 4.0 * a + drag)
    problem = pusher(mu, 1.0, 0.0)
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=a)
    near(model.solve(problem).require().bilateral, [30.0])
    # A joint that stops harder than friction stops the box leaves it behind.
    problem = pusher(mu, 1.0, 0.0)
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=-10.0)
    left = model.solve(problem).require()
    near(left.motion[0], -mu * G)
    assert left.modes[1] == "open"
    # A motor with a limit gives up at it.
    problem = pusher(mu, 1.0, 0.0)
    problem.add_bounded([[0.0, 0.0, 1.0]], -12.0, 12.0, target=3.0)
    weak = model.solve(problem).require()
    near((weak.bounded[0], weak.motion[0]), (12.0, (12.0 - drag) / 5.0))


@pytest.mark.parametrize(("torque", "spin", "moment"), [(0.9, 0.0, -0.9), (1.0, 0.0, -1.0), (2.0, 0.0, -1.0), (-3.0, 0.0, 1.0), (0.0, 2.0, -1.0), (0.5, -2.0, 1.0)])
def test_a_soft_finger_holds_a_torque_up_to_its_coefficient(torque: float, spin: float, moment: float) -> None:
    inertia = 0.1
    problem = ContactProblem(np.diag([1.0, inertia]), v=[0.0, spin], force=[-50.0, torque], dt=1e-3)
    problem.add_contacts([[1.0, 0.0]], spin=[[0.0, 1.0]], mu_spin=0.02)
    found = CoulombPyramid().solve(problem).require()
    near((found.spin[0], found.motion[1]), (moment, (torque + moment) / inertia))


def test_a_soft_finger_in_a_scene() -> None:
    """A ball pressed by its weight spins down with mu_spin m g / I, in time stepping and event-driven alike."""
    length, spin, inertia = 0.01, 20.0, 0.4 * 1.0 * 0.1**2
    builder = stiction.SceneBuilder(dt=0.001).material(friction=0.5, torsional_friction=length).ground()
    scene = builder.body("ball", mass=1.0, position=[0, 0, 0.1], angular_velocity=[0, 0, spin], shape=sphere(0.1)).build()
    for settings in ({"model": "coulomb-cone"}, {"simulator": "event-driven", "model": "coulomb-pyramid"}):
        simulation = stiction.Simulation(scene.with_settings(**settings))
        simulation.run(200)
        near(simulation.v[5], spin - 0.2 * length * G / inertia)


def test_quasistatic_pushing_balances_forces() -> None:
    mu, drag, model = 0.25, 0.25 * 4.0 * G, CoulombPyramid(quasistatic=True)
    problem = pusher(mu, 1.0, 0.0)
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=3.0)
    found = model.solve(problem).require()
    near((found.normal[1], found.bilateral[0], found.motion[0]), (drag, drag, 3.0))
    assert found.certificate.holds() and found.level == "acceleration"
    rest = model.solve(pusher(mu, 0.0, 0.0)).require()
    near(rest.normal, [4.0 * G, 0.0])
    # Nothing holds a body that is pulled off the floor.
    up = ContactProblem(np.eye(1), v=[0.0], force=[9.0], dt=1e-3)
    up.add_contacts([[1.0]])
    assert not model.solve(up)


def test_quasistatic_models_and_solutions_pickle() -> None:
    model = CoulombPyramid(quasistatic=True, tolerance=1e-9)
    again = pickle.loads(pickle.dumps(model))
    assert again == model != CoulombPyramid(tolerance=1e-9) and type(again) is CoulombPyramid
    assert repr(model) == "Model('coulomb-pyramid', level='acceleration', tolerance=1e-09, quasistatic=True)"
    problem = pusher(0.25, 1.0, 0.0)
    problem.add_bilateral([[0.0, 0.0, 1.0]], target=3.0)
    found = model.solve(problem).require()
    # It is certified again, by the law without inertia.
    near(pickle.loads(pickle.dumps(found)).normal, found.normal)
    lemke = contact.CoulombPyramid(solver="lemke")
    assert pickle.loads(pickle.dumps(lemke)).solver == "lemke" and lemke != CoulombPyramid()


def test_methods_of_a_model_agree_and_wrong_ones_are_refused() -> None:
    for solver in next(entry for entry in contact.catalog() if entry["name"] == "coulomb-pyramid")["solvers"]:
        near(CoulombPyramid(solver=solver).solve(pusher(0.25, 1.0, 30.0)).require().motion[0], (30.0 - G) / 5.0)
    assert contact.NoSlip(solver="lemke").solver == "lemke"
    with pytest.raises(stiction.InputError, match="coulomb-pyramid has auto, lemke, feasible-interior-point, found 'magic'"):
        CoulombPyramid(solver="magic")
    with pytest.raises(stiction.InputError, match="only coulomb-pyramid leaves inertia out, found 'no-slip'"):
        contact.Model("no-slip", quasistatic=True)
    with pytest.raises(stiction.InputError, match="its mixed problem has one solver"):
        CoulombPyramid(quasistatic=True, solver="lemke")


def test_painleves_rod_has_one_solution_none_or_two() -> None:
    model = CoulombPyramid()
    small = painleve(1.0, -2.0)
    near(model.solve(small).require().normal, [2.0 / painleve_a(1.0)])
    assert model.existence(small) == contact.Existence(True, None, "") and model.existence(small)
    one = model.all_solutions(small)
    assert one.complete and len(one) == 1 and one[0].certificate.holds()
    none = painleve(2.1, -2.0)
    assert painleve_a(2.0) > 0.0 > painleve_a(2.1)
    doubt = model.existence(none)
    assert not doubt and doubt.island == 0 and "positive definite" in doubt.why
    assert isinstance(model.solve(none), contact.NoSolution)
    assert model.all_solutions(none) == contact.AllSolutions([], True)
    two = model.all_solutions(painleve(2.1, 2.0))
    assert two.complete
    near(sorted(s.normal[0] for s in two), [0.0, -2.0 / painleve_a(2.1)])
    assert sorted(s.modes[0] for s in two) == ["open", "slide"]
    # They are solutions like any other: with forces, and pickled with their problem.
    near(pickle.loads(pickle.dumps(two))[1].motion, two[1].motion)


def test_existence_of_a_ladder_and_of_rows_that_close_in() -> None:
    model = CoulombPyramid()
    ladder = ContactProblem(np.diag([1.0, 1.0, 1.0 / 3.0]), v=np.zeros(3), force=[0.0, -G, 0.0], dt=1e-3)
    ladder.add_contacts([[0.0, 1.0, 0.6]], [[1.0, 0.0, 0.8]], mu=0.34)
    ladder.add_contacts([[1.0, 0.0, -0.8]], [[0.0, 1.0, -0.6]], mu=0.34)
    assert model.existence(ladder)
    near(model.solve(ladder).require().motion, np.zeros(3))
    # Floor and ceiling close in: no motion satisfies both.
    closing = ContactProblem(np.eye(2), v=np.zeros(2), force=[0.0, -G], dt=1e-3)
    closing.add_contacts([[0.0, 1.0], [0.0, -1.0]], [[1.0, 0.0], [1.0, 0.0]], mu=0.5, rate=[[-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert "gain from the velocity products" in model.existence(closing).why
    assert isinstance(model.solve(closing), contact.Infeasible)


def test_what_is_too_large_for_all_solutions_is_refused() -> None:
    problem = ContactProblem(np.eye(3), v=np.zeros(3), force=[0.0, 0.0, -G], dt=1e-3)
    for _ in range(3):
        problem.add_contacts([[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], mu=0.5)
    with pytest.raises(stiction.InputError, match="island 0 has 15 unknowns; all solutions are found up to 12"):
        CoulombPyramid().all_solutions(problem)
    with pytest.raises(stiction.InputError, match="for the dynamic model only"):
        CoulombPyramid(quasistatic=True).all_solutions(painleve(1.0, -2.0))


def test_friction_in_the_cone() -> None:
    """A particle pushed along a diagonal: the pyramid's edge has more friction than the cone, an axis as much."""
    def at_rest(x: float, y: float) -> contact.Solved:
        problem = ContactProblem(np.eye(3), v=np.zeros(3), force=[x, y, -10.0], dt=1e-3)
        problem.add_contacts([[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], mu=0.5)
        return CoulombPyramid().solve(problem).require()

    assert at_rest(5.0, 0.0).in_cone and at_rest(3.0, 3.0).in_cone
    held = at_rest(4.0, 4.0)
    assert not held.in_cone and held.modes == ["stick"]


def test_all_solutions_of_a_complementarity_problem() -> None:
    found = lcp.all_solutions([[0.0, -1.0], [-1.0, 0.0]], [1.0, 1.0])
    # z = 0, and z = (1, 1); with one of the two alone w is free of it: singular bases, without a solution.
    assert found.complete and sorted(s.z.tolist() for s in found) == [[0.0, 0.0], [1.0, 1.0]]
    assert all(s.certificate.holds() and s.verify_exact().verdict == "proven" for s in found)
    assert lcp.all_solutions([[-1.0]], [-1.0]) == lcp.AllSolutions([], True)
    # w = 0 for every z: one of infinitely many is found, and it says so.
    assert not lcp.all_solutions([[0.0]], [0.0]).complete
    with pytest.raises(stiction.InputError, match="enumeration is for small problems"):
        lcp.all_solutions(np.eye(4), -np.ones(4), max_order=3)


def test_accelerations_of_a_simulation() -> None:
    """A cube on a slope, at rest and sliding; and a pendulum whose effort and acceleration are each other's answer."""
    for mu, speed, expected in ((0.8, 0.0, 0.0), (0.5, 0.0, G * (SIN - 0.5 * COS)), (0.5, 1.0, G * (SIN - 0.5 * COS)), (0.5, -1.0, G * (SIN + 0.5 * COS))):
        builder = stiction.SceneBuilder(gravity=[G * SIN, 0, -G * COS]).material(friction=mu).ground()
        scene = builder.body("cube", mass=2.0, position=[0, 0, 0.1], velocity=[speed, 0, 0], shape=box(0.2, 0.2, 0.2)).build()
        simulation = stiction.Simulation(scene)
        before = simulation.save_state()
        for model in (CoulombPyramid(), contact.CoulombCone(level="acceleration")):
            found = model.solve(simulation.acceleration_problem()).require()
            np.testing.assert_allclose(found.motion, [expected, 0, 0, 0, 0, 0], atol=1e-9)
            np.testing.assert_allclose(found.normal.sum(), 2.0 * G * COS, rtol=1e-9)
        assert simulation.save_state() == before


def test_efforts_and_accelerations_of_a_joint_are_each_others_answer() -> None:
    joint = {"type": "revolute", "axis": [0, 1, 0]}
    scene = stiction.SceneBuilder().body("rod", mass=1.0, shape=box(0.05, 0.05, 0.5, position=[0, 0, -0.25]), joint=joint).build()
    simulation = stiction.Simulation(scene)
    simulation.q[:], simulation.v[:], simulation.effort[:] = 0.3, 2.0, 0.7
    inertia = simulation.mass_matrix()[0, 0]
    a = (0.7 - G * 0.25 * np.sin(0.3)) / inertia
    near(contact.solve(simulation.acceleration_problem(), CoulombPyramid()).require().motion, [a])
    simulation.effort[:] = 0.0
    problem = simulation.acceleration_problem()
    problem.add_bilateral([[1.0]], target=a)
    near(contact.solve(problem, CoulombPyramid()).require().bilateral, [0.7])
    near(simulation.inverse_dynamics([a]), [0.7])


def test_an_impact_comes_before_accelerations() -> None:
    scene = stiction.SceneBuilder().ground().body("ball", mass=1.0, position=[0, 0, 0.1], velocity=[0, 0, -1], shape=sphere(0.1)).build()
    with pytest.raises(stiction.InputError, match="there is an impact first"):
        stiction.Simulation(scene).acceleration_problem()


def test_event_driven_runs_say_what_they_did() -> None:
    """A ball that keeps half of its speed: impacts after 1, 2, 2.5, ... falls, until they are slower than restitution_speed."""
    fall, slowest = np.sqrt(2.0 / G), 0.01
    builder = stiction.SceneBuilder(dt=0.01, simulator="event-driven", restitution_speed=slowest).material(friction=0.5, restitution=0.5).ground()
    scene = builder.body("ball", mass=1.0, position=[0, 0, 1.1], shape=sphere(0.1)).build()
    simulation = stiction.Simulation(scene)
    reports = [simulation.step() for _ in range(200)]
    run = stiction.Simulation(scene).run(200)
    # Rebounds of v / 2, v / 4, ... down to the slowest that counts; the last impact does not bounce.
    bounces = int(np.floor(np.log2(G * fall / slowest)))
    assert run.impacts == sum(r.impacts for r in reports) == bounces + 1
    times = [r.t for r in reports if r.impacts][:3]
    assert [int(t / 0.01 + 0.5) for t in times] == [int(x * fall / 0.01) for x in (1.0, 2.0, 2.5)]
    assert run.substeps == sum(r.substeps for r in reports) >= 200 + run.impacts - 5
    assert run.stepped == sum(r.stepped for r in reports) == 0.0
    assert run.restitution_lowered == 0 and abs(simulation.q[2] - 0.1) < 1e-9
    stored = pickle.loads(pickle.dumps(run))
    assert (stored.impacts, stored.substeps, stored.stepped) == (run.impacts, run.substeps, run.stepped)
    stepping = stiction.Simulation(scene.with_settings(simulator="time-stepping")).run(10)
    assert (stepping.substeps, stepping.impacts) == (10, 0)
