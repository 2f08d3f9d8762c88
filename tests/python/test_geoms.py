"""Geometry in the open: shapes, places, looks and triangles of geoms."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
import stiction
from stiction.scene import box, capsule, cylinder, hull, mesh, sphere

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def one_of_every_kind(folder: Path) -> stiction.Scene:
    (folder / "tetrahedron.obj").write_text(TETRAHEDRON)
    builder = stiction.SceneBuilder(directory=folder).ground(friction=0.7)
    field = {"height_field": {"points": [3, 4], "size": [2.0, 3.0], "height": "= 0.1 * x"}}
    builder.body("field", fixed=True, position=[0, 0, -9], collides_with=2, groups=2, shape=field)
    shapes = [box(0.1, 0.2, 0.3), sphere(0.1), capsule(0.1, 0.2), cylinder(0.1, 0.2), hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
              mesh("tetrahedron.obj"), mesh("tetrahedron.obj", triangles=True)]
    for i, shape in enumerate(shapes):
        builder.body(f"b{i}", mass=1.0, position=[3.0 * i, 0, 2], shape=shape)
    return builder.build()


def test_every_shape_has_sizes_and_triangles(tmp_path: Path) -> None:
    scene = one_of_every_kind(tmp_path)
    geoms = scene.geoms
    assert [g.shape for g in geoms] == ["half-space", "height-field", "box", "sphere", "capsule", "cylinder", "hull", "hull", "mesh", "mesh"]
    assert [g.number for g in geoms] == list(range(10)) and [g.body for g in geoms] == scene.geom_bodies.tolist()
    assert geoms[0].friction == 0.7 and geoms[2].friction == 0.5 and geoms[2].restitution == 0.0
    assert geoms[2].size["sides"].tolist() == [0.1, 0.2, 0.3] and geoms[3].size == {"radius": 0.1}
    assert geoms[4].size == {"radius": 0.1, "length": 0.2} == geoms[5].size
    assert geoms[6].size["points"].shape == (4, 3) and geoms[1].size["heights"].shape == (3, 4)
    volumes = {2: 0.006, 3: np.pi * 4e-3 / 3, 4: np.pi * (2e-3 + 4e-3 / 3), 5: np.pi * 2e-3, 6: 1 / 6, 7: 1 / 6, 8: 1 / 6, 9: 1 / 6}
    for i, geom in enumerate(geoms):
        vertices, faces = geom.mesh(200, extent=2.0)
        assert vertices.dtype == np.float64 and faces.dtype == np.int64 and vertices.shape[1] == faces.shape[1] == 3
        assert faces.min() == 0 and faces.max() == len(vertices) - 1
        if i in volumes:
            assert volume(vertices, faces) == pytest.approx(volumes[i], rel=1e-3)
    assert geoms[0].mesh(extent=2.0)[0].max() == 2.0 and geoms[1].mesh()[0].shape == (12, 3)


def test_what_touches_comes_first_and_what_is_drawn_after(tmp_path: Path) -> None:
    scene = one_of_every_kind(tmp_path)
    geoms = scene.geoms
    assert [g.visual for g in geoms] == [False] * 9 + [True] and all(g.collides != g.visual for g in geoms)
    # The hull of a mesh is not drawn: the mesh is.
    assert [g.drawn for g in geoms] == [True] * 7 + [False, True, True]
    assert geoms[9].friction is None and geoms[9].name == "b5" == geoms[7].name
    ghost = stiction.SceneBuilder().body("g", shapes=[sphere(0.1, mass=1.0), sphere(0.2, mass=1.0, collide=False)]).build().geoms
    assert [(g.collides, g.visual, g.drawn) for g in ghost] == [(True, False, True), (False, False, True)]


def test_poses_follow_the_bodies(tmp_path: Path) -> None:
    builder = stiction.SceneBuilder().ground()
    builder.body("b", mass=1.0, position=[0, 0, 3], angular_velocity=[1, 2, 3], shape=box(0.1, 0.1, 0.1, position=[0.5, 0, 0], rpy=[0, 0, 0.3]))
    simulation = stiction.Simulation(builder.build())
    simulation.run(100)
    geom, (body, pose) = simulation.scene.geoms[1], (simulation.poses[0], simulation.geom_poses()[1])
    w, x, y, z = body[3:]
    turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    assert np.allclose(pose[:3], body[:3] + turn @ geom.position, atol=1e-14)
    assert geom.quaternion[0] == pytest.approx(np.cos(0.15)) and np.linalg.norm(pose[3:]) == pytest.approx(1.0)


def test_colors_are_the_files_or_by_body() -> None:
    builder = stiction.SceneBuilder().body("a", mass=1.0, color=[1, 0, 0], shape=sphere(0.1))
    builder.body("b", mass=1.0, position=[1, 0, 0], shape=sphere(0.1)).body("c", mass=1.0, position=[2, 0, 0], shape=sphere(0.1))
    colors = [g.color for g in builder.build().geoms]
    assert colors[0] == (1.0, 0.0, 0.0, 1.0) and colors[1] != colors[2] and all(0.0 <= x <= 1.0 for c in colors for x in c)


def test_a_robot_with_broken_visual_meshes_is_noted_and_runs(tmp_path: Path) -> None:
    (tmp_path / "broken.stl").write_bytes(b"solid nonsense")
    visuals = "".join(f"<visual><geometry><mesh filename='{name}'/></geometry></visual>" for name in ("broken.stl", "missing.dae", "what.xyz"))
    text = f"""<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>
        <collision><geometry><sphere radius='.1'/></geometry></collision>{visuals}
        <visual><geometry><cylinder radius='.1' length='.2'/></geometry><material name='m'><color rgba='0 0 1 .5'/></material></visual></link></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    scene = stiction.Scene.load(tmp_path / "r.urdf")
    assert [(g.shape, g.visual, g.drawn) for g in scene.geoms] == [("sphere", False, False), ("cylinder", True, True)]
    assert scene.geoms[1].color == (0.0, 0.0, 1.0, 0.5)
    notes = " ".join(text for _, kind, _, text in scene.notes if kind == "warning")
    assert all(name in notes for name in ("broken.stl", "missing.dae", "what.xyz"))
    assert stiction.Simulation(scene).run(3)


@pytest.mark.parametrize(("arguments", "error"), [
    ({"resolution": 2}, stiction.InputError), ({"resolution": 10**6}, stiction.InputError), ({"resolution": "x"}, TypeError),
    ({"extent": 0.0}, stiction.InputError), ({"extent": float("nan")}, stiction.InputError),
])
def test_bad_arguments_are_named(arguments: dict[str, object], error: type[Exception]) -> None:
    geom = stiction.SceneBuilder().ground().build().geoms[0]
    with pytest.raises(error, match=next(iter(arguments))):
        geom.mesh(**arguments)  # type: ignore[arg-type]


def test_geoms_are_pickled() -> None:
    geom = stiction.SceneBuilder().ground().body("a", mass=1.0, position=[0, 0, 1], shape=sphere(0.1)).build().geoms[1]
    for again in (pickle.loads(pickle.dumps(geom)), copy.deepcopy(geom)):
        assert repr(again) == repr(geom) == "Geom('a', sphere, body=0)"
