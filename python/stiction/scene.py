"""Scenes built in code."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from ._stiction import Scene, _shipped_scenes
from .errors import InputError

__all__ = ["Scene", "SceneBuilder", "box", "capsule", "cylinder", "ellipsoid", "hull", "mesh", "plane", "shipped", "shipped_names", "sphere"]

#: A number, or a formula of the scene's parameters: ``"= 2 * mu"``.
Number: TypeAlias = float | str
#: A number over time: constant, a formula of ``t``, or points ``[(t, value), ...]`` joined by lines.
Signal: TypeAlias = float | str | Sequence[Sequence[float]]
#: A shape, as `box` and its like make it.
Shape: TypeAlias = dict[str, Any]


def box(x: Number, y: Number, z: Number, **options: Any) -> Shape:
    """A box.

    Parameters
    ----------
    x, y, z : float or str
        Full sides (m).
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"box": [x, y, z], **options}


def sphere(radius: Number, **options: Any) -> Shape:
    """A sphere.

    Parameters
    ----------
    radius : float or str
        In metres.
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"sphere": radius, **options}


def capsule(radius: Number, length: Number, **options: Any) -> Shape:
    """A capsule along z.

    Parameters
    ----------
    radius : float or str
        In metres.
    length : float or str
        Without its ends (m).
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"capsule": [radius, length], **options}


def ellipsoid(x: Number, y: Number, z: Number, **options: Any) -> Shape:
    """An ellipsoid about its origin.

    Parameters
    ----------
    x, y, z : float or str
        Its half axes (m).
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"ellipsoid": [x, y, z], **options}


def cylinder(radius: Number, length: Number, **options: Any) -> Shape:
    """A cylinder along z.

    Parameters
    ----------
    radius, length : float or str
        In metres.
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"cylinder": [radius, length], **options}


def hull(points: Any, **options: Any) -> Shape:
    """The convex hull of points.

    Parameters
    ----------
    points : array_like, (k, 3)
        In metres.
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"hull": points, **options}


def mesh(file: str | os.PathLike[str], *, triangles: bool = False, **options: Any) -> Shape:
    """A mesh file: its convex hull, or its triangles.

    Parameters
    ----------
    file : str or path
    triangles : bool
        Whether its triangles count, not their hull.
    **options
        ``position``, ``orientation`` or ``rpy``, ``mass``, ``friction``, ``collide`` and the other keys of shapes in ``docs/scenes.md``.

    Returns
    -------
    dict
    """
    return {"mesh": os.fspath(file), "triangles": triangles, **options}


def plane(**options: Any) -> Shape:
    """Everything below z = 0, for fixed bodies.

    Parameters
    ----------
    **options
        As of `box`.

    Returns
    -------
    dict
    """
    return {"plane": True, **options}


def shipped_names() -> list[str]:
    """Names of the scenes that come with the package.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import stiction
    >>> "grasp" in stiction.scene.shipped_names()
    True
    """
    return sorted(_shipped_scenes)


def shipped(name: str, **parameters: float) -> Scene:
    """A scene that comes with the package.

    Parameters
    ----------
    name : str
        One of `shipped_names`.
    **parameters : float
        Other values for numbers of its ``[parameters]``.

    Returns
    -------
    Scene

    Raises
    ------
    InputError
        There is no such scene.

    Examples
    --------
    >>> import stiction
    >>> stiction.scene.shipped("grasp", n=3).parameters["n"]
    3.0
    """
    if name not in _shipped_scenes:
        raise InputError(f"there is no scene {name!r}; there are {', '.join(shipped_names())}")
    return Scene.parse(_shipped_scenes[name], ".", **parameters)


class SceneBuilder:
    """Collects bodies, robots and controllers, and makes a `Scene` of them.

    Every method takes the keys of the TOML format (``docs/scenes.md``) by their names, and returns the builder.

    Parameters
    ----------
    title : str
    directory : str or path
        Where mesh and robot files are looked for.
    **settings
        Keys of the top level: ``dt``, ``duration``, ``gravity``, ``model``, ``simulator``, ``tolerance``, ``on_failure``, ...

    Examples
    --------
    >>> import stiction
    >>> from stiction.scene import box
    >>> builder = stiction.SceneBuilder("a cube on the ground", dt=0.001)
    >>> scene = builder.material(friction=0.5).ground().body("cube", mass=1.0, position=[0, 0, 0.1], shape=box(0.2, 0.2, 0.2)).build()
    >>> simulation = stiction.Simulation(scene)
    >>> simulation.run(10).contacts
    4
    """

    def __init__(self, title: str = "", *, directory: str | os.PathLike[str] = ".", **settings: Any) -> None:
        self._directory = directory
        self._scene: dict[str, Any] = {"title": title, **settings}

    def _add(self, key: str, table: dict[str, Any]) -> SceneBuilder:
        self._scene.setdefault(key, []).append({k: v for k, v in table.items() if v is not None})
        return self

    def parameters(self, **parameters: Number) -> SceneBuilder:
        """Numbers that formulas may use, and `Scene.with_parameters` can change.

        Parameters
        ----------
        **parameters : float or str
        """
        self._scene.setdefault("parameters", {}).update(parameters)
        return self

    def material(self, **surface: Any) -> SceneBuilder:
        """The default surface.

        Parameters
        ----------
        **surface
            ``friction``, ``torsional_friction``, ``viscous_friction``, ``restitution``.
        """
        self._scene.setdefault("material", {}).update(surface)
        return self

    def ground(self, name: str = "ground", **options: Any) -> SceneBuilder:
        """The plane z = 0.

        Parameters
        ----------
        name : str
        **options
            As of `body`.
        """
        return self._add("bodies", {"name": name, "fixed": True, "shape": plane(), **options})

    def body(self, name: str, *, shape: Shape | None = None, joint: str | dict[str, Any] | None = None, **options: Any) -> SceneBuilder:
        """A body; without a joint it is free, or fixed to its parent if it has one.

        Parameters
        ----------
        name : str
        shape : dict, optional
            `box`, `sphere`, ...; several: ``shapes=[...]``.
        joint : str or dict, optional
            ``"revolute"`` or ``{"type": "revolute", "axis": [0, 1, 0], "limits": [-1, 1]}``.
        **options
            ``mass``, ``position``, ``rpy``, ``velocity``, ``parent``, ``fixed``, ``friction``, ...
        """
        tied = {"type": joint} if isinstance(joint, str) else joint
        return self._add("bodies", {"name": name, "shape": shape, "joint": tied, **options})

    def robot(self, name: str, file: str | os.PathLike[str], **options: Any) -> SceneBuilder:
        """A URDF or MJCF file.

        Parameters
        ----------
        name : str
            Goes before the names in the file: ``name/joint``.
        file : str or path
        **options
            ``base``, ``position``, ``joints={...}``, ``self_collision``, ...
        """
        return self._add("robots", {"name": name, "file": os.fspath(file), **options})

    def pair(self, a: str, b: str, **options: Any) -> SceneBuilder:
        """A surface for two bodies alone, or none.

        Parameters
        ----------
        a, b : str
            Names of bodies.
        **options
            ``friction`` and the like, or ``collide=False``.
        """
        return self._add("pairs", {"a": a, "b": b, **options})

    def loop(self, kind: str, a: str, b: str, at: Sequence[Number], **options: Any) -> SceneBuilder:
        """Ties two bodies at a place in the world.

        Parameters
        ----------
        kind : {"point", "hinge", "weld"}
        a, b : str
            Names of bodies.
        at : sequence of 3 float or str
            In metres.
        **options
            ``axis`` of a hinge.
        """
        return self._add("loops", {"type": kind, "a": a, "b": b, "at": list(at), **options})

    def servo(self, joint: str, *, kp: Number = 0.0, kd: Number = 0.0, target: Signal | None = None, **options: Any) -> SceneBuilder:
        """A servo on a joint, implicit in the step.

        Parameters
        ----------
        joint : str
        kp, kd : float or str
            Stiffness and damping.
        target : float or str or points, optional
            Where it pulls (rad or m), over time.
        **options
            ``velocity`` (of the target), ``ki``.
        """
        return self._add("controllers", {"type": "servo", "joint": joint, "kp": kp, "kd": kd, "target": target, **options})

    def effort(self, joint: str, effort: Signal) -> SceneBuilder:
        """A force or torque on a joint.

        Parameters
        ----------
        joint : str
        effort : float or str or points
            Over time (N or N m).
        """
        return self._add("controllers", {"type": "effort", "joint": joint, "effort": effort})

    def motion(self, joint: str, position: Signal) -> SceneBuilder:
        """A joint that moves as told.

        Parameters
        ----------
        joint : str
        position : float or str or points
            Over time (rad or m).
        """
        return self._add("controllers", {"type": "motion", "joint": joint, "position": position})

    def wrench(self, body: str, *, force: Sequence[Signal] | None = None, torque: Sequence[Signal] | None = None, **options: Any) -> SceneBuilder:
        """A force and a moment on a body, along world axes.

        Parameters
        ----------
        body : str
        force, torque : sequence of 3 float or str or points, optional
            Over time (N, N m).
        **options
            ``point``: where, in the frame of the body (m).
        """
        return self._add("controllers", {"type": "wrench", "body": body, "force": force, "torque": torque, **options})

    def to_dict(self) -> dict[str, Any]:
        """What `Scene.from_dict` takes.

        Returns
        -------
        dict
        """
        return copy.deepcopy(self._scene)

    def build(self) -> Scene:
        """The scene.

        Returns
        -------
        Scene

        Raises
        ------
        SceneError
            The first thing that is wrong, with the key it is in.
        """
        return Scene.from_dict(self._scene, self._directory)
