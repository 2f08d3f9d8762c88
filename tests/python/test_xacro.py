"""Xacro files go through the package ``xacro``."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from xml.dom import minidom

import pytest

import stiction

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
<link name="base"><inertial><mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="package://arm/meshes/tetra.obj"/></geometry></collision></link></robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "arm" / "meshes" / "tetra.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    path = tmp_path / "arm" / "arm.urdf.xacro"
    path.write_text(ROBOT)
    return path


def test_without_the_package_one_error_says_what_to_do(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(stiction.SceneError, match="pip install xacro"):
        stiction.Scene.load(robot)


def test_the_package_expands_it(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def process_file(path: str, mappings: dict[str, str]) -> minidom.Document:
        text = Path(path).read_text().replace("$(arg mass)", mappings.get("mass", "1"))
        return minidom.parseString(text.replace('<xacro:arg name="mass" default="1"/>', ""))

    fake = types.ModuleType("xacro")
    fake.process_file = process_file  # type: ignore[attr-defined]
    if not _installed():
        monkeypatch.setitem(sys.modules, "xacro", fake)
    scene = stiction.Scene.load(robot, mass=3)
    assert scene.masses[0] == 3.0
    assert len(scene.geoms) == 1
    assert stiction.Simulation(scene).copy().scene.masses[0] == 3.0


def _installed() -> bool:
    try:
        import xacro  # noqa: F401
    except ImportError:
        return False
    return True
