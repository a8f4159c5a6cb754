"""Inspects 3D models in the binary form of glTF 2.0 (Khronos, glTF 2.0 Specification, 4.4)."""

import os
from collections.abc import Iterator
from struct import unpack
from typing import IO, NamedTuple

import msgspec
from msgspec import Struct

from media.probe.errors import UnusableMedia
from media.probe.types import Facts, Inspected

_HEADER_BYTES = 12
_MAX_CHUNKS = 100
_MAX_JSON_BYTES = 32_000_000
_MIN_BYTES, _PADDING = 8, 4


class Chunk(NamedTuple):
    """`place` is where the chunk's data begin; `length` is their number of bytes."""

    kind: bytes
    place: int
    length: int


class _Asset(Struct):
    version: str


class _Source(Struct):
    """A buffer or an image: without `uri`, it is in the file itself."""

    byteLength: int = 0  # noqa: N815 - glTF's name
    uri: str | None = None


class _View(Struct):
    byteLength: int  # noqa: N815
    buffer: int = 0
    byteOffset: int = 0  # noqa: N815


class _Mesh(Struct):
    primitives: list[dict[str, msgspec.Raw]]


class _Document(Struct):
    """The parts of glTF's JSON that are checked."""

    asset: _Asset
    meshes: list[_Mesh] = []
    buffers: list[_Source] = []
    images: list[_Source] = []
    bufferViews: list[_View] = []  # noqa: N815


def load() -> None:
    """Nothing is imported lazily."""


def inspect(file: IO[bytes]) -> Inspected:
    """Check header, chunks, lengths and JSON of a GLB. Raises UnusableMedia."""
    chunks = list(_chunks(file, file.seek(0, os.SEEK_END)))
    if not chunks or chunks[0].kind != b"JSON":
        raise UnusableMedia("Its first chunk is no JSON.")
    binary = chunks[1].length if len(chunks) > 1 and chunks[1].kind == b"BIN\0" else 0
    _check_document(_document(file, chunks[0]), binary)
    return Inspected(Facts(media_type="model/gltf-binary"), None)


def _chunks(file: IO[bytes], size: int) -> Iterator[Chunk]:
    """The chunks of a file of `size` bytes, which they fill exactly."""
    file.seek(0)
    head = file.read(_HEADER_BYTES)
    if len(head) < _HEADER_BYTES or head[:4] != b"glTF":
        raise UnusableMedia("It is no GLB file.")
    version, length = unpack("<II", head[4:])
    if version != 2:
        raise UnusableMedia("It is not of version 2 of glTF.")
    if length != size:
        raise UnusableMedia("It is truncated, or longer than its header says.")
    place = _HEADER_BYTES
    for _ in range(_MAX_CHUNKS):
        if place == size:
            return
        file.seek(place)
        chunk = _chunk_at(place, file.read(_MIN_BYTES))
        place = chunk.place + chunk.length
        if place > size:
            raise UnusableMedia("A chunk has a wrong length.")
        yield chunk
    raise UnusableMedia("It has too many chunks.")


def _chunk_at(place: int, head: bytes) -> Chunk:
    if len(head) < _MIN_BYTES:
        raise UnusableMedia("It ends in the middle of a chunk.")
    length, kind = unpack("<I4s", head)
    if length % _PADDING:
        raise UnusableMedia("A chunk has a wrong length.")
    return Chunk(kind, place + _MIN_BYTES, length)


def _document(file: IO[bytes], chunk: Chunk) -> _Document:
    if chunk.length > _MAX_JSON_BYTES:
        raise UnusableMedia("Its JSON is too long.")
    file.seek(chunk.place)
    try:
        return msgspec.json.decode(file.read(chunk.length), type=_Document)
    except msgspec.DecodeError as error:
        raise UnusableMedia("Its JSON is not that of a 3D model.") from error


def _check_document(document: _Document, binary: int) -> None:
    """Check that the model is complete with a binary chunk of so many bytes, and names no other
    file: a viewer would load it."""
    if not document.asset.version.startswith("2."):
        raise UnusableMedia("It is not of version 2 of glTF.")
    if not any(mesh.primitives for mesh in document.meshes):
        raise UnusableMedia("It has no mesh.")
    for source in (*document.buffers, *document.images):
        if source.uri is not None and not source.uri.startswith("data:"):
            raise UnusableMedia("It needs another file.")
    for number, buffer in enumerate(document.buffers):
        is_within = number == 0 and buffer.uri is None
        # The chunk may be up to three bytes longer, which fill it up.
        if is_within and not buffer.byteLength <= binary < buffer.byteLength + _PADDING:
            raise UnusableMedia("Its binary chunk has a wrong length.")
        if number > 0 and buffer.uri is None:
            raise UnusableMedia("It needs another file.")
    _check_views(document)


def _check_views(document: _Document) -> None:
    for view in document.bufferViews:
        if not 0 <= view.buffer < len(document.buffers):
            raise UnusableMedia("A part of it is in no buffer.")
        end = view.byteOffset + view.byteLength
        if min(view.byteOffset, view.byteLength) < 0:
            raise UnusableMedia("A part of it has a negative length.")
        if end > document.buffers[view.buffer].byteLength:
            raise UnusableMedia("A part of it is outside of its buffer.")
