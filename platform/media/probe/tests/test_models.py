"""3D models are GLB files whose lengths fit, and which need nothing else."""

import struct
from typing import Any

import pytest

from media.probe.tests.samples import film, glb, inspected, model, picture, reason
from media.probe.types import Facts

MODEL = model()
MESHES: dict[str, Any] = {"asset": {"version": "2.0"}, "meshes": [{"primitives": [{}]}]}


@pytest.mark.parametrize("is_textured", [True, False])
async def test_a_model_is_known_and_has_no_thumbnail(is_textured: bool) -> None:
    found = await inspected(model(is_textured=is_textured), "model")
    assert found.facts == Facts(media_type="model/gltf-binary")
    assert found.thumbnail is None


async def test_a_model_without_a_binary_chunk_is_one() -> None:
    assert (await inspected(glb(MESHES, None), "model")).thumbnail is None


async def test_chunks_of_extensions_are_skipped() -> None:
    more = struct.pack("<I4s", 4, b"EXTN") + bytes(4)
    data = MODEL[:8] + struct.pack("<I", len(MODEL) + len(more)) + MODEL[12:] + more
    assert (await inspected(data, "model")).thumbnail is None


@pytest.mark.parametrize(
    "data", [b"", b"glTF", b"<!doctype html>" + bytes(9), picture("PNG"), film()], ids=len
)
async def test_what_is_no_model_is_refused(data: bytes) -> None:
    assert await reason(data, "model") == "It is no GLB file."


async def test_version_1_is_refused() -> None:
    assert "version 2" in await reason(MODEL[:4] + struct.pack("<I", 1) + MODEL[8:], "model")
    assert "version 2" in await reason(glb(MESHES | {"asset": {"version": "1.0"}}), "model")


@pytest.mark.parametrize("length", [12, 100, len(MODEL) // 2, len(MODEL) - 4])
async def test_a_truncated_model_is_refused(length: int) -> None:
    assert "truncated" in await reason(MODEL[:length], "model")


def with_length(data: bytes, place: int, length: int) -> bytes:
    return data[:place] + struct.pack("<I", length) + data[place + 4 :]


async def test_wrong_lengths_are_refused() -> None:
    [of_json] = struct.unpack_from("<I", MODEL, 12)
    assert "truncated" in await reason(with_length(MODEL, 8, len(MODEL) + 4), "model")
    assert "truncated" in await reason(MODEL + bytes(4), "model")
    for wrong in (of_json + 1, 2**32 - 4, len(MODEL)):
        assert "wrong length" in await reason(with_length(MODEL, 12, wrong), "model")
    assert await reason(with_length(MODEL, 12, of_json + 4), "model")
    assert await reason(with_length(MODEL, 12, of_json - 4), "model")
    assert await reason(with_length(MODEL[:16], 8, 16), "model") == (
        "It ends in the middle of a chunk."
    )


async def test_a_model_begins_with_its_document() -> None:
    other = MODEL[:16] + b"BIN\0" + MODEL[20:]
    assert await reason(other, "model") == "Its first chunk is no JSON."
    assert await reason(struct.pack("<4sII", b"glTF", 2, 12), "model") == (
        "Its first chunk is no JSON."
    )


@pytest.mark.parametrize(
    "document",
    [b"", b"{", b"[]", b'{"asset": 2}', b'{"asset": {}}', b"\xff\xfe", b"[" * 100_000],
    ids=lambda document: str(document[:20]),
)
async def test_another_document_is_refused(document: bytes) -> None:
    assert await reason(glb(document), "model") in (
        "Its JSON is not that of a 3D model.",
        "It cannot be decoded.",
    )


async def test_a_model_without_a_mesh_is_refused() -> None:
    without: list[list[Any]] = [[], [{"primitives": []}]]
    for meshes in without:
        assert await reason(glb(MESHES | {"meshes": meshes}), "model") == "It has no mesh."


@pytest.mark.parametrize(
    "parts",
    [
        {"buffers": [{"byteLength": 4, "uri": "https://example.com/a.bin"}]},
        {"images": [{"uri": "file:///etc/passwd"}]},
        {"images": [{"uri": "texture.png"}]},
        {"buffers": [{"byteLength": 4}, {"byteLength": 4}]},
    ],
    ids=str,
)
async def test_a_model_that_needs_another_file_is_refused(parts: dict[str, Any]) -> None:
    assert await reason(glb(MESHES | parts, bytes(4)), "model") == "It needs another file."


@pytest.mark.parametrize("length", [0, 4, 12])
async def test_the_binary_chunk_is_as_long_as_its_buffer(length: int) -> None:
    data = glb(MESHES | {"buffers": [{"byteLength": 8}]}, bytes(length))
    assert await reason(data, "model") == "Its binary chunk has a wrong length."


@pytest.mark.parametrize(
    "view",
    [
        {"buffer": 0, "byteLength": 9},
        {"buffer": 0, "byteOffset": 8, "byteLength": 1},
        {"buffer": 1, "byteLength": 1},
        {"buffer": -1, "byteLength": 1},
        {"buffer": 0, "byteOffset": -4, "byteLength": 4},
        {"buffer": 0, "byteLength": -1},
    ],
    ids=str,
)
async def test_no_part_is_outside_of_its_buffer(view: dict[str, int]) -> None:
    document = MESHES | {"buffers": [{"byteLength": 8}], "bufferViews": [view]}
    assert (await reason(glb(document, bytes(8)), "model")).startswith("A part of it")
