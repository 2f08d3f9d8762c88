"""Contact problems of Pinocchio's models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._stiction import ContactProblem
from .errors import InputError

__all__ = ["FrameContact", "from_pinocchio"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FrameContact:
    """Where a frame of a Pinocchio model touches the world, or another frame.

    Attributes
    ----------
    frame : str or int
        The frame, by name or number.
    point : sequence of 3 float
        Where it touches, in the frame (m).
    normal : sequence of 3 float
        Along world axes, from what it touches to the frame.
    mu : float
        Coulomb coefficient.
    gap : float
        Distance between the two (m), at least 0 unless they overlap.
    other : str or int, optional
        The frame that it touches; default: the world.
    """

    frame: str | int
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    mu: float = 0.5
    gap: float = 0.0
    other: str | int | None = None


def _frame(model: Any, frame: str | int) -> int:
    if isinstance(frame, str):
        if not model.existFrame(frame):
            names = ", ".join(f.name for f in model.frames)
            raise InputError(f"the model has no frame {frame!r}; it has {names}")
        return int(model.getFrameId(frame))
    if not 0 <= frame < model.nframes:
        raise InputError(f"there is no frame {frame}: the model has {model.nframes}")
    return int(frame)


def _tangents(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame with a unit normal."""
    least = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(normal, least)
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


class _Rows:
    """Velocities of points of a model as rows over its velocities."""

    def __init__(self, model: Any, data: Any, q: Array) -> None:
        import pinocchio

        self._pinocchio, self._model, self._data = pinocchio, model, data
        pinocchio.computeJointJacobians(model, data, q)
        pinocchio.updateFramePlacements(model, data)

    def world(self, frame: int, point: Array) -> Array:
        place: Array = self._data.oMf[frame].act(point)
        return place

    def joint_velocity(self, joint: int, point: Array) -> Array:
        """Of the point of a joint's body that is at a place in the world."""
        if joint == 0:
            return np.zeros((3, self._model.nv))
        jacobian = self._pinocchio.getJointJacobian(self._model, self._data, joint, self._pinocchio.LOCAL_WORLD_ALIGNED)
        rows: Array = jacobian[:3] - self._pinocchio.skew(point - self._data.oMi[joint].translation) @ jacobian[3:]
        return rows


def _listed(model: Any, rows: _Rows, contacts: Iterable[FrameContact]) -> list[tuple[Array, Array, float, float]]:
    found = []
    for i, contact in enumerate(contacts):
        normal = np.asarray(contact.normal, dtype=float)
        length = float(np.linalg.norm(normal))
        if normal.shape != (3,) or not 0 < length < np.inf:
            raise InputError(f"contact {i}: the normal must be three numbers that are not all 0, found {contact.normal}")
        frame = _frame(model, contact.frame)
        place = rows.world(frame, np.asarray(contact.point, dtype=float))
        velocity = rows.joint_velocity(model.frames[frame].parentJoint, place)
        if contact.other is not None:
            velocity = velocity - rows.joint_velocity(model.frames[_frame(model, contact.other)].parentJoint, place)
        found.append((velocity, normal / length, contact.gap, contact.mu))
    return found


def _colliding(model: Any, data: Any, q: Array, rows: _Rows, geometry: Any, margin: float, mu: float) -> list[tuple[Array, Array, float, float]]:
    """The nearest points of all collision pairs within the margin."""
    import pinocchio

    measured = pinocchio.GeometryData(geometry)
    pinocchio.computeDistances(model, data, geometry, measured, q)
    found = []
    for pair, result in zip(geometry.collisionPairs, measured.distanceResults, strict=True):
        if result.min_distance > margin:
            continue
        first, second = (geometry.geometryObjects[i].parentJoint for i in (pair.first, pair.second))
        a, b = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
        # From the first shape to the second: distances grow along it.
        normal = np.array(result.normal)
        middle = (a + b) / 2
        velocity = rows.joint_velocity(second, middle) - rows.joint_velocity(first, middle)
        found.append((velocity, normal / np.linalg.norm(normal), float(result.min_distance), mu))
    return found


def _limits(model: Any, problem: ContactProblem, q: Array) -> None:
    """Adds the limits of the joints with one velocity."""
    rows, gaps = [], []
    for joint in model.joints:
        if (joint.nq, joint.nv) != (1, 1):
            continue
        row = np.eye(model.nv)[joint.idx_v]
        for sign, limit in ((1.0, model.lowerPositionLimit[joint.idx_q]), (-1.0, model.upperPositionLimit[joint.idx_q])):
            if np.isfinite(limit) and abs(limit) < 1e300:
                rows.append(sign * row)
                gaps.append(sign * (q[joint.idx_q] - limit))
    if rows:
        problem.add_limits(np.array(rows), gap=np.array(gaps))


def from_pinocchio(
    model: Any,
    q: npt.ArrayLike,
    v: npt.ArrayLike,
    contacts: Iterable[FrameContact] = (),
    *,
    tau: npt.ArrayLike = 0.0,
    dt: float = 1e-3,
    geometry: Any = None,
    margin: float = 1e-3,
    mu: float = 0.5,
    limits: bool = True,
) -> ContactProblem:
    """The contact problem of one step of a Pinocchio model.

    Parameters
    ----------
    model : pinocchio.Model
    q : array_like, (nq,)
    v : array_like, (nv,)
        Velocities as Pinocchio has them: those of a free flyer along its own axes. So are the answer's, and ``pinocchio.integrate(model, q, dt *
        motion)`` is the next configuration.
    contacts : iterable of FrameContact
    tau : array_like, (nv,), or float
        Generalized forces of motors and from outside; gravity and velocity products are added. Damping and friction of the joints are not: put them
        in here, or add rows by ``problem.add_bounded``.
    dt : float
        The step (s).
    geometry : pinocchio.GeometryModel, optional
        The nearest points of its collision pairs are contacts, too.
    margin : float
        Pairs that are farther apart than this (m) are left out.
    mu : float
        Coulomb coefficient of these contacts.
    limits : bool
        Whether the limits of joints with one velocity are in it.

    Returns
    -------
    contact.ContactProblem
        For `contact.solve`; contacts in the order given, then those of `geometry`.

    Raises
    ------
    InputError
        A size is wrong, or there is no such frame.

    Examples
    --------
    >>> import numpy, pinocchio, stiction  # doctest: +SKIP
    >>> model = pinocchio.buildModelFromUrdf("examples/arm.urdf")  # doctest: +SKIP
    >>> tip = stiction.FrameContact("lower", point=(0, 0, -0.45), mu=0.5)  # doctest: +SKIP
    >>> problem = stiction.from_pinocchio(model, numpy.array([0.3, 0.9]), numpy.array([-0.5, -1.0]), [tip])  # doctest: +SKIP
    >>> stiction.contact.solve(problem).require().normal  # doctest: +SKIP
    """
    import pinocchio

    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    for name, array, size in (("q", q, model.nq), ("v", v, model.nv)):
        if array.shape != (size,):
            raise InputError(f"{name} must have shape ({size},), found {array.shape}")
    data = model.createData()
    mass = pinocchio.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    force = np.broadcast_to(np.asarray(tau, dtype=float), (model.nv,)) - pinocchio.rnea(model, data, q, v, np.zeros(model.nv))
    problem = ContactProblem(mass, v, force, dt)
    rows = _Rows(model, data, q)
    found = _listed(model, rows, contacts)
    if geometry is not None:
        found += _colliding(model, data, q, rows, geometry, margin, mu)
    if found:
        axes = [(normal, *_tangents(normal)) for _, normal, _, _ in found]
        along = [np.array([axis[k] @ velocity for axis, (velocity, *_) in zip(axes, found, strict=True)]) for k in range(3)]
        problem.add_contacts(*along, gap=np.array([gap for *_, gap, _ in found]), mu=np.array([mu for *_, mu in found]))
    if limits:
        _limits(model, problem, q)
    return problem
