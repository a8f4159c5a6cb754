"""Reads a film as a player would."""

import io
from dataclasses import dataclass

import av
from PIL import Image

from simulator.media import frames


@dataclass(frozen=True)
class Seen:
    """A film: its length in seconds, its frames, and whether it has sound."""

    seconds: float
    images: list[Image.Image]
    has_sound: bool

    @property
    def clock(self) -> list[float]:
        """What the clock shows in each frame, in seconds."""
        return [_time(image) for image in self.images]


def watch(data: bytes) -> Seen:
    """Read a film to its end; fails if it is not sound, or if its index does not come first."""
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    with av.open(io.BytesIO(data), "r") as container:
        (video,) = container.streams.video
        assert (video.codec_context.name, video.pix_fmt) == ("h264", "yuv420p")
        frames = container.decode(video)
        images = [frame.to_image() for frame in frames]  # type: ignore[no-untyped-call]
        seconds = (container.duration or 0) / av.time_base
        has_sound = [stream.codec_context.name for stream in container.streams.audio] == ["aac"]
    return Seen(seconds, images, has_sound)


def colour(image: Image.Image, place: tuple[int, int]) -> tuple[int, int, int]:
    """Red, green and blue of a pixel."""
    left, top = place
    red, green, blue = image.crop((left, top, left + 1, top + 1)).convert("RGB").tobytes()
    return red, green, blue


def _time(image: Image.Image) -> float:
    tenths = 0
    for bit, (left, top, right, bottom) in enumerate(frames.time_code_boxes(image.size)):
        middle = (left + right) // 2, (top + bottom) // 2
        tenths |= (colour(image, middle)[0] > 127) << bit
    return tenths / 10
