"""The mesh of a 3D model: a sphere with bumps, whose form depends on what was ordered."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import shake_256

Vector = tuple[float, float, float]
Point = tuple[float, float]
_RINGS, _SEGMENTS = 24, 36
_BUMP = 0.15


@dataclass(frozen=True, slots=True)
class Mesh:
    """Vertices, each with its normal (a unit vector) and its place in the texture, and triangles of
    three vertices, counter-clockwise."""

    positions: tuple[Vector, ...]
    normals: tuple[Vector, ...]
    places: tuple[Point, ...]
    triangles: tuple[tuple[int, int, int], ...]


@lru_cache(maxsize=32)
def make_mesh(seed: str) -> Mesh:
    """The mesh of this seed. The vertices of its seam exist twice, for both ends of the texture."""
    waves = shake_256(seed.encode()).digest(2)
    across, along = 2 + waves[0] % 4, 1 + waves[1] % 3

    def vertex(ring: float, segment: float) -> Vector:
        polar, angle = math.pi * ring / _RINGS, 2 * math.pi * segment / _SEGMENTS
        bump = math.sin(across * angle) * math.sin(along * polar) * math.sin(polar)
        radius = 1 + _BUMP * bump
        around = radius * math.sin(polar)
        return around * math.cos(angle), radius * math.cos(polar), -around * math.sin(angle)

    grid = [(ring, segment) for ring in range(_RINGS + 1) for segment in range(_SEGMENTS + 1)]
    positions = tuple(vertex(*point) for point in grid)
    normals = tuple(
        _unit(_cross(_difference(vertex, ring, segment, 0), _difference(vertex, ring, segment, 1)))
        if 0 < ring < _RINGS
        else (0.0, 1.0 if ring == 0 else -1.0, 0.0)
        for ring, segment in grid
    )
    places = tuple((segment / _SEGMENTS, ring / _RINGS) for ring, segment in grid)
    return Mesh(positions, normals, places, tuple(_triangles()))


def _triangles() -> list[tuple[int, int, int]]:
    """Two for each field of the grid; one at the poles, where the other would have no area."""
    found = []
    for ring in range(_RINGS):
        for segment in range(_SEGMENTS):
            corner = ring * (_SEGMENTS + 1) + segment
            below = corner + _SEGMENTS + 1
            if ring > 0:
                found.append((corner, below, corner + 1))
            if ring < _RINGS - 1:
                found.append((corner + 1, below, below + 1))
    return found


def _difference(
    vertex: Callable[[float, float], Vector], ring: int, segment: int, axis: int
) -> Vector:
    """The direction of the surface along a ring (0) or a segment (1)."""
    step = 0.01
    across, along = (0.0, step) if axis == 1 else (step, 0.0)
    ahead = vertex(ring + across, segment + along)
    behind = vertex(ring - across, segment - along)
    return ahead[0] - behind[0], ahead[1] - behind[1], ahead[2] - behind[2]


def _cross(one: Vector, other: Vector) -> Vector:
    return (
        one[1] * other[2] - one[2] * other[1],
        one[2] * other[0] - one[0] * other[2],
        one[0] * other[1] - one[1] * other[0],
    )


def _unit(vector: Vector) -> Vector:
    length = math.hypot(*vector)
    return vector[0] / length, vector[1] / length, vector[2] / length
