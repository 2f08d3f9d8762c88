"""Bodies and joints of a simulation by name: `Simulation.body`, `Simulation.joint`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._stiction import Simulation
from .errors import InputError

__all__ = ["Body", "Joint"]

Array = npt.NDArray[np.float64]


def _matrix(q: npt.ArrayLike) -> Array:
    """The rotation matrix of a quaternion w, x, y, z."""
    w, x, y, z = np.asarray(q, dtype=float)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion(m: Array) -> Array:
    """The quaternion w, x, y, z of a rotation matrix."""
    # The largest eigenvector of Bar-Itzhack's matrix: for rotations up to rounding, the nearest.
    k = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [0, m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [0, 0, m[1, 1] - m[0, 0] - m[2, 2], m[1, 2] + m[2, 1]],
            [0, 0, 0, m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    q: Array = np.linalg.eigh(k, UPLO="U")[1][:, -1]
    return q if q[0] >= 0 else -q


def _vector(name: str, x: npt.ArrayLike, size: int) -> Array:
    out = np.asarray(x, dtype=float)
    if out.shape != (size,) or not np.isfinite(out).all():
        raise InputError(f"{name} must be {size} finite numbers, found {x!r}")
    return out


class Body:
    """A body of a simulation: where it is, how it moves, what it is made of.

    What is read is of the present state; accelerations and forces are of the last step. ``position``, ``rotation``, ``quaternion``, ``velocity`` and
    ``angular_velocity`` of a free body can be set; of a body that hangs on a joint they are refused, because the joints say where it is.

    Parameters
    ----------
    simulation : Simulation
    name : str or int
        In ``scene.bodies``.

    Examples
    --------
    >>> import stiction
    >>> simulation = stiction.Simulation(stiction.scene.shipped("slide"))
    >>> cube = simulation.body(simulation.scene.bodies[0])
    >>> cube.velocity = [0.5, 0.0, 0.0]
    >>> _ = simulation.run(5)
    >>> bool(cube.acceleration[0] < 0)
    True
    """

    def __init__(self, simulation: Simulation, name: str | int) -> None:
        scene = simulation.scene
        self._simulation = simulation
        self._number = scene.body(name) if isinstance(name, str) else int(name)
        if not 0 <= self._number < len(scene.bodies):
            raise InputError(f"there is no body {name}; there are {len(scene.bodies)}")

    def __repr__(self) -> str:
        return f"Body({self.name!r}, position={self.position.tolist()})"

    @property
    def name(self) -> str:
        """Its name."""
        return self._simulation.scene.bodies[self._number]

    @property
    def number(self) -> int:
        """Its number in ``scene.bodies``."""
        return self._number

    @property
    def is_free(self) -> bool:
        """Whether it moves by itself, and not on a joint."""
        return self._simulation.scene.joint_types[self._number] == "free"

    def _slices(self, what: str) -> tuple[slice, slice]:
        scene = self._simulation.scene
        if not self.is_free:
            kind = scene.joint_types[self._number]
            how = "it cannot move" if kind == "fixed" else f"set the joint: simulation.joint({scene.joints[self._number]!r}).position = ..."
            raise InputError(f"{what} of {self.name!r} cannot be set: it hangs on a {kind} joint; {how}")
        return scene.q_slice(self.name), scene.v_slice(self.name)

    def _read(self, array: Array) -> Array:
        out: Array = array[self._number].copy()
        out.flags.writeable = False
        return out

    def _part(self, array: Array, part: slice) -> Array:
        out: Array = self._read(array)[part]
        return out

    @property
    def position(self) -> Array:
        """Of its origin, in the world (m), (3,). Of a free body it can be set."""
        return self._part(self._simulation.poses, slice(0, 3))

    @position.setter
    def position(self, x: npt.ArrayLike) -> None:
        q, _ = self._slices("the position")
        self._simulation.q[q][:3] = _vector("position", x, 3)

    @property
    def quaternion(self) -> Array:
        """Its orientation as a quaternion w, x, y, z, (4,). Of a free body it can be set; it is made of unit length."""
        return self._part(self._simulation.poses, slice(3, 7))

    @quaternion.setter
    def quaternion(self, x: npt.ArrayLike) -> None:
        q, _ = self._slices("the quaternion")
        given = _vector("quaternion", x, 4)
        length = np.linalg.norm(given)
        if not length > 0:
            raise InputError("the quaternion 0, 0, 0, 0 is no rotation")
        self._simulation.q[q][3:] = given / length

    @property
    def rotation(self) -> Array:
        """Its orientation as a matrix, (3, 3): columns are its axes in the world. Of a free body it can be set, by a matrix or a quaternion."""
        out = _matrix(self.quaternion)
        out.flags.writeable = False
        return out

    @rotation.setter
    def rotation(self, x: npt.ArrayLike) -> None:
        given = np.asarray(x, dtype=float)
        if given.shape == (4,):
            self.quaternion = given
            return
        if given.shape != (3, 3) or not np.allclose(given @ given.T, np.eye(3), atol=1e-3) or np.linalg.det(given) < 0:
            raise InputError(f"rotation must be a rotation matrix (3, 3) or a quaternion (4,), found {x!r}")
        self.quaternion = _quaternion(given)

    @property
    def velocity(self) -> Array:
        """Of its origin, world axes (m/s), (3,). Of a free body it can be set."""
        return self._part(self._simulation.body_velocities, slice(0, 3))

    @velocity.setter
    def velocity(self, x: npt.ArrayLike) -> None:
        _, v = self._slices("the velocity")
        self._simulation.v[v][:3] = _vector("velocity", x, 3)

    @property
    def angular_velocity(self) -> Array:
        """World axes (rad/s), (3,). Of a free body it can be set."""
        return self._part(self._simulation.body_velocities, slice(3, 6))

    @angular_velocity.setter
    def angular_velocity(self, x: npt.ArrayLike) -> None:
        _, v = self._slices("the angular velocity")
        self._simulation.v[v][3:] = _vector("angular_velocity", x, 3)

    @property
    def acceleration(self) -> Array:
        """Of its origin in the last step, world axes (m/s²), (3,)."""
        return self._part(self._simulation.body_accelerations, slice(0, 3))

    @property
    def angular_acceleration(self) -> Array:
        """In the last step, world axes (rad/s²), (3,)."""
        return self._part(self._simulation.body_accelerations, slice(3, 6))

    @property
    def contact_wrench(self) -> Array:
        """What contacts did to it in the last step, (6,): force (N), and moment about its origin (N m), world axes."""
        return self._read(self._simulation.contact_wrenches)

    @property
    def center_of_mass(self) -> Array:
        """In the world (m), (3,)."""
        return self._simulation.center_of_mass(self._number)

    @property
    def wrench(self) -> Array:
        """What pushes it from outside, (6,): a force and a moment about its origin, world axes. It can be written to, and holds until then."""
        row: Array = self._simulation.wrench[self._number]
        return row

    @wrench.setter
    def wrench(self, x: npt.ArrayLike) -> None:
        self._simulation.wrench[self._number] = _vector("wrench", x, 6)

    def apply_wrench(
        self,
        force: npt.ArrayLike = (0.0, 0.0, 0.0),
        torque: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        point: npt.ArrayLike | None = None,
    ) -> None:
        """Pushes the body from outside, from the next step on until this is called again: ``apply_wrench()`` ends it.

        Parameters
        ----------
        force : array_like, (3,)
            World axes (N).
        torque : array_like, (3,)
            World axes (N m).
        point : array_like, (3,), optional
            Where the force acts, in the body's frame (m); default its origin. What moment that is about the origin is found now, and
            held along world axes.
        """
        f, moment = _vector("force", force, 3), _vector("torque", torque, 3)
        if point is not None:
            moment = moment + np.cross(self.rotation @ _vector("point", point, 3), f)
        self.wrench = np.concatenate([f, moment])

    @property
    def mass(self) -> float:
        """In kg. It can be set, and its rotational inertia stays; see `set_mass`."""
        return float(self._simulation.mass[self._number])

    @mass.setter
    def mass(self, x: float) -> None:
        self._simulation.mass[self._number] = x

    def set_mass(self, mass: float) -> None:
        """Another density: its mass and, in proportion, its rotational inertia.

        Parameters
        ----------
        mass : float
            In kg.
        """
        if not self.mass > 0:
            raise InputError(f"{self.name!r} has no mass to scale: set mass and inertia")
        self.inertia = self.inertia * (mass / self.mass)
        self.mass = mass

    @property
    def inertia(self) -> Array:
        """Rotational inertia about its centre of mass, along its axes (kg m²), (3, 3). It can be written to."""
        row: Array = self._simulation.inertia[self._number]
        return row

    @inertia.setter
    def inertia(self, x: npt.ArrayLike) -> None:
        self._simulation.inertia[self._number] = x

    @property
    def geoms(self) -> list[int]:
        """Numbers of its geoms that can touch, in ``scene.geoms``."""
        bodies = self._simulation.scene.geom_bodies[: len(self._simulation.friction)]
        return [i for i, body in enumerate(bodies) if body == self._number]

    @property
    def friction(self) -> Array:
        """Coulomb coefficients of its geoms. They can be set, all at once or one by one."""
        out: Array = self._simulation.friction[self.geoms]
        out.flags.writeable = False
        return out

    @friction.setter
    def friction(self, x: npt.ArrayLike) -> None:
        self._simulation.friction[self.geoms] = x

    def jacobian(self, point: npt.ArrayLike | None = None) -> Array:
        """The Jacobian of a point of it, (6, nv): see `Simulation.jacobian`.

        Parameters
        ----------
        point : array_like, (3,), optional
            In its frame (m); default its origin.

        Returns
        -------
        ndarray, (6, nv)
        """
        return self._simulation.jacobian(self._number, point)


def _input(name: str, meaning: str) -> Any:
    def get(joint: Joint) -> Any:
        return joint._get(getattr(joint._simulation, name), joint._v)

    def put(joint: Joint, x: npt.ArrayLike) -> None:
        getattr(joint._simulation, name)[joint._v] = x

    return property(get, put, doc=meaning)


class Joint:
    """A joint of a simulation: where it is, and what moves it.

    Of a joint with one velocity ``position``, ``velocity`` and the inputs are numbers; of others they are arrays.

    Parameters
    ----------
    simulation : Simulation
    name : str
        Of the joint, or of its body.

    Examples
    --------
    >>> import stiction
    >>> simulation = stiction.Simulation(stiction.scene.shipped("quad-flat"))
    >>> knee = simulation.joint("shank11")
    >>> knee.kp, knee.target = 5.0, 0.1
    >>> _ = simulation.run(10)
    >>> bool(knee.effort_applied != 0.0)
    True
    """

    def __init__(self, simulation: Simulation, name: str) -> None:
        scene = simulation.scene
        object.__setattr__(self, "_simulation", simulation)
        object.__setattr__(self, "_q", scene.q_slice(name))
        object.__setattr__(self, "_v", scene.v_slice(name))
        names = list(scene.joints)
        object.__setattr__(self, "_body", names.index(name) if name in names else scene.body(name))
        if self._v.stop == self._v.start:
            raise InputError(f"the joint {name!r} is fixed: there is nothing to move")

    _simulation: Simulation
    _q: slice
    _v: slice
    _body: int
    target: Any = _input("target", "Where its servo pulls (rad or m). It can be set; so can ``kp`` and ``kd``, without which nothing pulls.")
    target_velocity: Any = _input("target_velocity", "How fast its servo wants to move (rad/s or m/s). It can be set.")
    kp: Any = _input("kp", "Stiffness of its servo. It can be set.")
    kd: Any = _input("kd", "Damping of its servo. It can be set.")
    effort: Any = _input("effort", "Effort of its motor (N m or N). It can be set.")
    damping: Any = _input("damping", "Viscous damping (N m s/rad or N s/m). It can be set.")
    armature: Any = _input("armature", "Rotor inertia (kg m² or kg). It can be set.")
    stiffness: Any = _input("stiffness", "Stiffness of its own spring. It can be set.")
    joint_friction: Any = _input("joint_friction", "Dry friction (N m or N). It can be set.")

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(getattr(type(self), name, None), property):
            known = [n for n in vars(type(self)) if isinstance(vars(type(self))[n], property) and vars(type(self))[n].fset]
            raise AttributeError(f"a joint has no {name!r} to set; there are {', '.join(known)}")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, position={self.position})"

    @property
    def name(self) -> str:
        """Its name, or that of its body."""
        return self._simulation.scene.joints[self._body] or self._simulation.scene.bodies[self._body]

    @property
    def body(self) -> Body:
        """The body that it moves."""
        return Body(self._simulation, self._body)

    @property
    def type(self) -> str:
        """``"revolute"``, ``"prismatic"``, ``"free"``, ..."""
        return self._simulation.scene.joint_types[self._body]

    def _get(self, array: Array, part: slice) -> Any:
        found = array[part]
        return float(found[0]) if found.shape == (1,) else found

    @property
    def position(self) -> Any:
        """Where it is (rad or m). It can be set."""
        return self._get(self._simulation.q, self._q)

    @position.setter
    def position(self, x: npt.ArrayLike) -> None:
        self._simulation.q[self._q] = x

    @property
    def velocity(self) -> Any:
        """How fast it moves (rad/s or m/s). It can be set."""
        return self._get(self._simulation.v, self._v)

    @velocity.setter
    def velocity(self, x: npt.ArrayLike) -> None:
        self._simulation.v[self._v] = x

    @property
    def acceleration(self) -> Any:
        """In the last step (rad/s² or m/s²)."""
        return self._get(self._simulation.acceleration, self._v)

    @property
    def effort_applied(self) -> Any:
        """What motors and servos gave in the last step (N m or N)."""
        return self._get(self._simulation.applied_effort, self._v)

    @property
    def limit_force(self) -> Any:
        """What its limits gave in the last step (N m or N)."""
        return self._get(self._simulation.limit_force, self._v)

    @property
    def friction_force(self) -> Any:
        """What its dry friction gave in the last step (N m or N)."""
        return self._get(self._simulation.friction_force, self._v)

    @property
    def reaction(self) -> Array:
        """What it carried in the last step, (6,): force (N), and moment about the body's origin (N m), on the body, world axes."""
        out: Array = self._simulation.joint_wrenches[self._body]
        return out

    @property
    def limits(self) -> Array:
        """Least and largest position (rad or m). They can be set; infinite for none."""
        row: Array = self._simulation.joint_limits[self._v.start]
        return row

    @limits.setter
    def limits(self, x: npt.ArrayLike) -> None:
        self._simulation.joint_limits[self._v] = x


def bodies(simulation: Simulation) -> dict[str, Body]:
    """See `Simulation.bodies`."""
    return {name: Body(simulation, name) for name in simulation.scene.bodies}


def joints(simulation: Simulation) -> dict[str, Joint]:
    """See `Simulation.joints`."""
    scene = simulation.scene
    moving = [name for name, kind in zip(scene.joints, scene.joint_types, strict=True) if kind not in ("fixed", "mocap")]
    return {name: Joint(simulation, name) for name in moving}
