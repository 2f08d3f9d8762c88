"""Figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import stiction  # noqa: E402
from stiction import plot  # noqa: E402


@pytest.fixture
def run(scenes: Path) -> tuple[stiction.Simulation, stiction.Trajectory]:
    simulation = stiction.Simulation(scenes / "slide.toml")
    return simulation, stiction.record(simulation, 50)


def test_figures_show_the_numbers(run: tuple[stiction.Simulation, stiction.Trajectory]) -> None:
    simulation, trajectory = run
    body = simulation.scene.bodies[0]
    lines = plot.trajectory(trajectory, [body], axis="x").lines
    np.testing.assert_array_equal(lines[0].get_ydata(), trajectory.position(body)[:, 0])
    np.testing.assert_array_equal(plot.energy(trajectory).lines[2].get_ydata(), trajectory.energy)
    np.testing.assert_array_equal(plot.forces(trajectory).lines[0].get_ydata(), trajectory.normal_force[1:])
    certificates = plot.certificates(trajectory)
    assert certificates.get_yscale() == "log" and certificates.lines[1].get_ydata()[0] == simulation.scene.tolerance
    drawn = plot.contacts(simulation)
    assert sum(len(line.get_xdata()) for line in drawn.lines) == len(simulation.contacts)
    assert {t.get_text() for t in drawn.get_legend().get_texts()} <= {"open", "stick", "slide"}


def test_a_constant_force_is_drawn_as_one(run: tuple[stiction.Simulation, stiction.Trajectory]) -> None:
    low, high = plot.forces(run[1]).get_ylim()
    assert low == 0.0 and high > run[1].normal_force.max()


def test_summary(run: tuple[stiction.Simulation, stiction.Trajectory], tmp_path: Path) -> None:
    figure = plot.summary(run[1])
    figure.savefig(tmp_path / "summary.png")
    assert len(figure.axes) == 5 and (tmp_path / "summary.png").stat().st_size > 1000


def test_no_contacts_is_no_error() -> None:
    scene = stiction.SceneBuilder().body("ball", mass=1.0, shape=stiction.scene.sphere(0.1)).build()
    simulation = stiction.Simulation(scene)
    simulation.step()
    assert not plot.contacts(simulation).lines
