"""What is known of an inspected file."""

from typing import Literal

from msgspec import Struct

MediaKind = Literal["image", "video", "model"]

# Of the length that is in front of each picture for `media.probe.still_inspector`.
LENGTH_BYTES = 4


class Facts(Struct, frozen=True, kw_only=True):
    """`width` and `height` are in pixels; a 3D model has none. `seconds` is the length of a
    video."""

    media_type: str
    width: int | None = None
    height: int | None = None
    seconds: float | None = None


class Inspected(Struct, frozen=True):
    """`thumbnail` is a WebP of at most 512 pixels a side: of a picture, or of the first frame of a
    video. A 3D model has none."""

    facts: Facts
    thumbnail: bytes | None
