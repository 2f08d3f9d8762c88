"""Figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import stiction  # noqa: E402
from stiction import plot  # noqa: E402


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    matplotlib.pyplot.close("all")


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
    pivots, factorizations = plot.work(trajectory).lines
    np.testing.assert_array_equal(pivots.get_ydata(), trajectory.pivots[1:])
    np.testing.assert_array_equal(factorizations.get_ydata(), trajectory.factorizations[1:])
    assert trajectory.factorizations.sum() == trajectory.report.factorizations > 0
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
    assert len(figure.axes) == 9 and (tmp_path / "summary.png").stat().st_size > 1000


def test_no_contacts_is_no_error() -> None:
    scene = stiction.SceneBuilder().body("ball", mass=1.0, shape=stiction.scene.sphere(0.1)).build()
    simulation = stiction.Simulation(scene)
    simulation.step()
    assert not plot.contacts(simulation).lines


@pytest.mark.parametrize("draw", [plot.trajectory, plot.forces, plot.energy, plot.slip, plot.certificates, plot.work])
def test_legends_do_not_cover_data(run: tuple[stiction.Simulation, stiction.Trajectory], draw: Any) -> None:
    ax = draw(run[1])
    ax.figure.canvas.draw()
    legend, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.y0 >= inside.y1 - 1.0


@pytest.mark.parametrize("plane", ["xz", "xy", "yz"])
def test_arrows_of_contacts_are_inside(scenes: Path, plane: str) -> None:
    simulation = stiction.Simulation(scenes / "stack.toml")
    simulation.run(20)
    ax = plot.contacts(simulation, plane=plane, scale=20.0)
    ax.figure.canvas.draw()
    found = simulation.contacts
    axes = ["xyz".index(letter) for letter in plane]
    tips = found["point"][:, axes] + found["force"][:, axes] / 20.0
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    # Arrows that would be cut off if points alone counted.
    assert (tips.max(axis=0) > 1.2 * found["point"][:, axes].max(axis=0)).any()
    assert (tips[:, 0] >= left).all() and (tips[:, 0] <= right).all() and (tips[:, 1] >= low).all() and (tips[:, 1] <= high).all()


def test_slip_and_difference(run: tuple[stiction.Simulation, stiction.Trajectory]) -> None:
    np.testing.assert_array_equal(plot.slip(run[1]).lines[0].get_ydata(), run[1].slip[1:])
    other = stiction.record(stiction.Simulation(run[1].scene.with_settings(model="frictionless")), 50)
    lines = plot.difference(run[1], other, labels=("rough", "smooth")).lines
    apart = np.linalg.norm(run[1].position(0) - other.position(0), axis=1)
    np.testing.assert_allclose(lines[2].get_ydata(), apart, atol=1e-15)
    assert apart[-1] > 1e-4


def test_many_bodies_have_a_legend_of_axes(scenes: Path) -> None:
    ax = plot.trajectory(stiction.record(stiction.Simulation(scenes / "pyramid.toml"), 2))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y", "z"]
