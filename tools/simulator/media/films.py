"""Films that play in a browser: H.264 and AAC in an MP4 whose index comes first."""

import io
import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile

import av
from av.container import OutputContainer
from av.error import FFmpegError
from PIL import Image

from simulator.media.frames import FrameRenderer

FRAMES_PER_SECOND = 12
_MAX_SECONDS = 60
_SAMPLES_PER_SECOND = 16_000
_SAMPLES_PER_FRAME = 1024
# One period of 400 Hz.
_WAVE = [0.1 * math.sin(2 * math.pi * at / 40) for at in range(40)]
_KEPT = 32
# The shorter edge in pixels. Films are small, so that one costs little to make.
_EDGES = {"540p": 144, "720p": 180, "1080p": 216, "4k": 270}


class InvalidFilm(Exception):
    """The bytes are no film that can be continued."""


@dataclass(frozen=True, slots=True)
class Film:
    """A clip of `seconds`. Equal films have the same bytes.

    `before` is an MP4 that comes first, whole. The clock starts at `starts_at`; with `before`, it
    goes on where that film ends. `start` and `end` are pictures that the clip shows.
    """

    prompt: str
    seconds: int
    size: tuple[int, int]
    seed: str
    audio: bool = False
    starts_at: float = 0
    before: bytes | None = None
    start: bytes | None = None
    end: bytes | None = None

    def make_file(self, kind: str) -> bytes | None:
        """The MP4. Making it takes about a tenth of a second."""
        return _mp4(self) if kind == "mp4" else None


@dataclass(frozen=True, slots=True)
class Metadata:
    """What an MP4 says of itself: `seed` is that of a film of ours, or empty."""

    seconds: float
    size: tuple[int, int]
    seed: str
    audio: bool


def frame_size(resolution: str, aspect_ratio: str) -> tuple[int, int]:
    """Width and height, which H.264 needs to be even."""
    across, down = (int(part) for part in aspect_ratio.split(":"))
    short = _EDGES[resolution]
    return _even(short * max(1, across / down)), _even(short * max(1, down / across))


def read_metadata(data: bytes) -> Metadata:
    """Raises `InvalidFilm` for what is no MP4 of at most a minute."""
    try:
        with av.open(io.BytesIO(data), "r", format="mp4") as container:
            seconds = (container.duration or 0) / av.time_base
            (video,) = container.streams.video
            seed = container.metadata.get("comment", "")
            audio = bool(container.streams.audio)
            size = video.width, video.height
    except (FFmpegError, ValueError) as error:
        raise InvalidFilm(str(error)) from error
    if not 0 < seconds <= _MAX_SECONDS:
        raise InvalidFilm(f"It has {seconds:.1f} s.")
    return Metadata(seconds, size, seed, audio)


@lru_cache(maxsize=_KEPT)
def _mp4(film: Film) -> bytes:
    # FFmpeg opens the file a second time to move its index to the front.
    with NamedTemporaryFile(suffix=".mp4") as file:
        with av.open(file.name, "w", options={"movflags": "faststart"}) as container:
            container.metadata["comment"] = film.seed
            _write(film, container)
        return Path(file.name).read_bytes()


def _write(film: Film, container: OutputContainer) -> None:
    video = container.add_stream("libx264", rate=FRAMES_PER_SECOND)
    video.width, video.height = film.size
    video.pix_fmt = "yuv420p"
    video.options = {"preset": "ultrafast", "crf": "28", "g": str(FRAMES_PER_SECOND)}
    video.codec_context.thread_count = 1
    audio = container.add_stream("aac", rate=_SAMPLES_PER_SECOND) if film.audio else None
    total = 0
    for image in _images(film):
        frame = av.VideoFrame.from_image(image)  # type: ignore[no-untyped-call]
        frame.pts, frame.time_base = total, Fraction(1, FRAMES_PER_SECOND)
        container.mux(video.encode(frame))
        total += 1
    container.mux(video.encode())
    if audio is not None:
        for sound in _tone(total / FRAMES_PER_SECOND):
            container.mux(audio.encode(sound))
        container.mux(audio.encode())


def _images(film: Film) -> Iterator[Image.Image]:
    """All frames: those of the film before, and the new ones."""
    before = 0
    if film.before is not None:
        for image in _decoded(film.before, film.size):
            before += 1
            yield image
    starts_at = film.starts_at + before / FRAMES_PER_SECOND
    renderer = FrameRenderer(
        size=film.size,
        prompt=film.prompt,
        seed=film.seed,
        starts_at=starts_at,
        ends_at=starts_at + film.seconds,
        start=film.start,
        end=film.end,
    )
    for number in range(film.seconds * FRAMES_PER_SECOND):
        yield renderer.render(starts_at + number / FRAMES_PER_SECOND)


def _decoded(data: bytes, size: tuple[int, int]) -> Iterator[Image.Image]:
    with av.open(io.BytesIO(data), "r", format="mp4") as container:
        frames = container.decode(video=0)
        for frame in islice(frames, _MAX_SECONDS * FRAMES_PER_SECOND):
            yield frame.to_image(width=size[0], height=size[1])  # type: ignore[no-untyped-call]


def _tone(seconds: float) -> Iterator[av.AudioFrame]:
    """A quiet tone."""
    total = round(seconds * _SAMPLES_PER_SECOND)
    for first in range(0, total, _SAMPLES_PER_FRAME):
        count = min(_SAMPLES_PER_FRAME, total - first)
        frame = av.AudioFrame(format="fltp", layout="mono", samples=count)
        wave = array("f", (_WAVE[(first + at) % len(_WAVE)] for at in range(count)))
        frame.planes[0].update(wave.tobytes().ljust(frame.planes[0].buffer_size, b"\0"))
        frame.sample_rate = _SAMPLES_PER_SECOND
        frame.pts, frame.time_base = first, Fraction(1, _SAMPLES_PER_SECOND)
        yield frame


def _even(length: float) -> int:
    return round(length / 2) * 2
