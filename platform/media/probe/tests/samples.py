"""Good files of each kind, and the looks that are taken at files."""

import io
import json
import struct
from tempfile import TemporaryFile
from typing import Any

import av
import pytest
from PIL import Image

from media.probe.errors import UnusableMedia
from media.probe.inspecting import inspect
from media.probe.types import Inspected, MediaKind
from simulator.media.films import Film
from simulator.media.glb import Asset


def picture(form: str, size: tuple[int, int] = (800, 600), mode: str = "RGB") -> bytes:
    """A picture in one colour."""
    file = io.BytesIO()
    Image.new(mode, size, 0 if mode == "P" else "teal").save(file, form)
    return file.getvalue()


def film(seconds: int = 2, *, audio: bool = False) -> bytes:
    """An MP4 of 320 x 180 pixels."""
    made = Film(prompt="The sea", seconds=seconds, size=(320, 180), seed="sea", audio=audio)
    data = made.make_file("mp4")
    assert data is not None
    return data


def film_with(
    codec: str = "libx264", size: tuple[int, int] = (64, 64), *, form: str = "mp4", tracks: int = 1
) -> bytes:
    """A film of twelve frames in one colour."""
    file = io.BytesIO()
    with av.open(file, "w", format=form) as container:
        streams = [container.add_stream(codec, rate=12) for _ in range(tracks)]
        for stream in streams:
            stream.width, stream.height = size  # type: ignore[union-attr]
            stream.pix_fmt = "yuv420p"  # type: ignore[union-attr]
        for number in range(12):
            for stream in streams:
                frame = av.VideoFrame(*size, "yuv420p")
                for plane in frame.planes:
                    plane.update(bytes(plane.buffer_size))
                frame.pts = number
                container.mux(stream.encode(frame))  # type: ignore[union-attr,arg-type]
        for stream in streams:
            container.mux(stream.encode(None))  # type: ignore[union-attr]
    return file.getvalue()


def model(*, is_textured: bool = True) -> bytes:
    """A GLB with one mesh."""
    data = Asset(prompt="A stone", seed="stone", is_textured=is_textured).make_file("glb")
    assert data is not None
    return data


def glb(document: dict[str, Any] | bytes, binary: bytes | None = b"") -> bytes:
    """A GLB of that JSON and, unless None, that binary chunk."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    chunks = [(b"JSON", text + b" " * (-len(text) % 4))]
    if binary is not None:
        chunks.append((b"BIN\0", binary + b"\0" * (-len(binary) % 4)))
    body = b"".join(struct.pack("<I4s", len(data), kind) + data for kind, data in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def box(kind: bytes, data: bytes = b"") -> bytes:
    """A box of an MP4."""
    return struct.pack(">I4s", 8 + len(data), kind) + data


async def inspected(data: bytes, kind: MediaKind) -> Inspected:
    with TemporaryFile() as file:
        file.write(data)
        file.flush()
        return await inspect(file, kind)


async def reason(data: bytes, kind: MediaKind) -> str:
    """Why a file cannot be used."""
    with pytest.raises(UnusableMedia) as refusal:
        await inspected(data, kind)
    return refusal.value.reason


def size_of(thumbnail: bytes | None) -> tuple[int, int]:
    """The size of a thumbnail, which has to be a WebP."""
    assert thumbnail is not None
    with Image.open(io.BytesIO(thumbnail), formats=["WEBP"]) as image:
        image.load()
        return image.size
