"""Triangles as a page wants them: corners split where a surface has an edge."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["creased"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: Faces that meet at a larger angle than this have an edge between them (rad).
_EDGE_ANGLE = np.radians(35.0)


def creased(vertices: Array, faces: Indices) -> tuple[Array, Indices]:
    """The same triangles with vertices of their own on both sides of an edge, so that smooth shading keeps it.

    Corners of triangles at one vertex stay together where a chain of triangles around it joins them without an edge.
    """
    if len(faces) == 0:
        return vertices, faces
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)
    # Sides of triangles, sorted so that the two of an edge stand one after the other.
    first, second = faces[:, [0, 1, 2]].ravel(), faces[:, [1, 2, 0]].ravel()
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    here, there = order[:-1], order[1:]
    shared = (low[here] == low[there]) & (high[here] == high[there])
    here, there = here[shared], there[shared]
    smooth = np.einsum("ij,ij->i", normals[here // 3], normals[there // 3]) > np.cos(_EDGE_ANGLE)
    here, there = here[smooth], there[smooth]
    # Corner 3 f + k is that of faces[f, k]; side 3 f + k goes from it to the next corner.
    end_here, end_there = (side - side % 3 + (side + 1) % 3 for side in (here, there))
    same = first[here] == first[there]
    pairs = np.concatenate([
        np.stack([here, np.where(same, there, end_there)], axis=1),
        np.stack([end_here, np.where(same, end_there, there)], axis=1),
    ])
    label = _components(len(first), pairs)
    kept, corner = np.unique(label, return_inverse=True)
    return vertices[first[kept]], corner.reshape(-1, 3)


def _components(count: int, pairs: Indices) -> Indices:
    """The least number that each of ``count`` nodes is joined to by pairs."""
    label = np.arange(count)
    while True:
        before = label.copy()
        np.minimum.at(label, pairs[:, 0], label[pairs[:, 1]])
        np.minimum.at(label, pairs[:, 1], label[pairs[:, 0]])
        label = label[label]
        if np.array_equal(label, before):
            return label
