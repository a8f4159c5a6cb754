"""Reads a GLB as a viewer would, checking what holds it together."""

import json
import struct
from dataclasses import dataclass
from typing import Any

_SIZES = {5126: 4, 5123: 2}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}


@dataclass(frozen=True)
class Seen:
    """A model: its document, and the numbers of each accessor."""

    document: dict[str, Any]
    accessors: list[tuple[float, ...]]
    texture: bytes | None


def view(data: bytes) -> Seen:
    """Read a GLB; fails if it is not sound."""
    magic, version, length = struct.unpack("<4sII", data[:12])
    assert (magic, version, length) == (b"glTF", 2, len(data))
    chunks = _chunks(data[12:])
    assert [kind for kind, _ in chunks] == [b"JSON", b"BIN\0"]
    document: dict[str, Any] = json.loads(chunks[0][1])
    binary = chunks[1][1]
    assert document["buffers"] == [{"byteLength": len(binary)}]
    accessors = [_numbers(document, binary, accessor) for accessor in document["accessors"]]
    images = document.get("images", [])
    texture = _slice(document, binary, images[0]["bufferView"]) if images else None
    return Seen(document, accessors, texture)


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    while data:
        length, kind = struct.unpack("<I4s", data[:8])
        assert length % 4 == 0
        assert len(data) >= 8 + length
        found.append((kind, data[8 : 8 + length]))
        data = data[8 + length :]
    return found


def _slice(document: dict[str, Any], binary: bytes, number: int) -> bytes:
    found = document["bufferViews"][number]
    assert found["byteOffset"] % 4 == 0
    part = binary[found["byteOffset"] : found["byteOffset"] + found["byteLength"]]
    assert len(part) == found["byteLength"]
    return part


def _numbers(
    document: dict[str, Any], binary: bytes, accessor: dict[str, Any]
) -> tuple[float, ...]:
    part = _slice(document, binary, accessor["bufferView"])
    count = accessor["count"] * _WIDTHS[accessor["type"]]
    assert len(part) == count * _SIZES[accessor["componentType"]]
    form = "f" if accessor["componentType"] == 5126 else "H"
    return struct.unpack(f"<{count}{form}", part)
