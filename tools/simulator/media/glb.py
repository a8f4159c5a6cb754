"""3D models in the binary form of glTF 2.0: one textured mesh, and a picture of it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from struct import pack, unpack

from simulator.media import meshes, previews
from simulator.media.meshes import Mesh
from simulator.pictures import Picture
from simulator.provider import Json

_TEXTURE_EDGE = 128  # pixels
_KEPT = 32
_FLOAT, _UNSIGNED_SHORT = 5126, 5123
_ARRAY_BUFFER, _ELEMENT_ARRAY_BUFFER = 34962, 34963
_WRAP_REPEAT, _LINEAR = 10497, 9729


@dataclass(frozen=True, slots=True)
class Asset:
    """A 3D model; its texture is the picture that it was made of, or else has a tile for each word
    of the prompt. Equal models have the same bytes."""

    prompt: str
    seed: str
    is_textured: bool
    picture: bytes | None = None  # a PNG

    def make_file(self, kind: str) -> bytes | None:
        """The GLB, or a PNG that shows the model."""
        if kind == "glb":
            return _glb(self)
        return _png(self) if kind == "png" else None

    @property
    def texture(self) -> bytes | None:
        """A PNG; None of a model without one."""
        if not self.is_textured:
            return None
        if self.picture is not None:
            return self.picture
        return Picture(self.prompt, _TEXTURE_EDGE, _TEXTURE_EDGE, self.seed).png()


@lru_cache(maxsize=_KEPT)
def _png(asset: Asset) -> bytes:
    return previews.draw_preview(meshes.make_mesh(asset.seed), asset.texture)


@lru_cache(maxsize=_KEPT)
def _glb(asset: Asset) -> bytes:
    """The header and two chunks, JSON and binary (glTF 2.0, 4.4)."""
    mesh = meshes.make_mesh(asset.seed)
    texture = asset.texture
    parts = _buffers(mesh) + ([texture] if texture is not None else [])
    document = _document(asset, mesh, parts)
    described = _chunk(b"JSON", json.dumps(document, separators=(",", ":")).encode(), b" ")
    binary = _chunk(b"BIN\0", b"".join(_padded(part, b"\0") for part in parts), b"\0")
    return pack("<4sII", b"glTF", 2, 12 + len(described) + len(binary)) + described + binary


def _buffers(mesh: Mesh) -> list[bytes]:
    return [
        _packed("f", chain.from_iterable(mesh.positions)),
        _packed("f", chain.from_iterable(mesh.normals)),
        _packed("f", chain.from_iterable(mesh.places)),
        _packed("H", chain.from_iterable(mesh.triangles)),
    ]


def _document(asset: Asset, mesh: Mesh, parts: list[bytes]) -> Json:
    material: Json = {"name": "Surface", "pbrMetallicRoughness": {"metallicFactor": 0}}
    primitive = {
        "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2},
        "indices": 3,
        "material": 0,
    }
    document: Json = {
        "asset": {"version": "2.0", "generator": "simulator"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": asset.prompt or "Model"}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [material],
        "accessors": _accessors(mesh),
        "bufferViews": _views(parts),
        "buffers": [{"byteLength": sum(len(_padded(part, b"\0")) for part in parts)}],
    }
    if asset.is_textured:
        material["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
        sampler = dict.fromkeys(("magFilter", "minFilter"), _LINEAR)
        wrap = dict.fromkeys(("wrapS", "wrapT"), _WRAP_REPEAT)
        document["samplers"] = [sampler | wrap]
        document["images"] = [{"bufferView": 4, "mimeType": "image/png"}]
        document["textures"] = [{"sampler": 0, "source": 0}]
    return document


def _accessors(mesh: Mesh) -> list[Json]:
    vertices = len(mesh.positions)
    axes = list(zip(*mesh.positions, strict=True))
    # The bounds are those of the numbers as they are stored.
    bounds = {"min": [_single(min(axis)) for axis in axes]}
    bounds |= {"max": [_single(max(axis)) for axis in axes]}
    of_vertices: Json = {"componentType": _FLOAT, "count": vertices}
    indices = {"componentType": _UNSIGNED_SHORT, "count": 3 * len(mesh.triangles)}
    return [
        {"bufferView": 0, "type": "VEC3"} | of_vertices | bounds,
        {"bufferView": 1, "type": "VEC3"} | of_vertices,
        {"bufferView": 2, "type": "VEC2"} | of_vertices,
        {"bufferView": 3, "type": "SCALAR"} | indices,
    ]


def _views(parts: list[bytes]) -> list[Json]:
    """A view for each part of the buffer; the fourth has the indices, the fifth the texture."""
    views, offset = [], 0
    for number, part in enumerate(parts):
        view: Json = {"buffer": 0, "byteOffset": offset, "byteLength": len(part)}
        if number < 4:
            view["target"] = _ELEMENT_ARRAY_BUFFER if number == 3 else _ARRAY_BUFFER
        views.append(view)
        offset += len(_padded(part, b"\0"))
    return views


def _chunk(kind: bytes, data: bytes, filler: bytes) -> bytes:
    padded = _padded(data, filler)
    return pack("<I4s", len(padded), kind) + padded


def _padded(data: bytes, filler: bytes) -> bytes:
    return data + filler * (-len(data) % 4)


def _packed(form: str, values: Iterable[float]) -> bytes:
    numbers = list(values)
    return pack(f"<{len(numbers)}{form}", *numbers)


def _single(value: float) -> float:
    """The value with the precision of 32 bits."""
    (single,) = unpack("<f", pack("<f", value))
    return float(single)
