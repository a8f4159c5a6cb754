"""Inspects MP4 files, and makes posters of their first frames."""

import os
from itertools import islice
from typing import IO

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from PIL import Image

from common.confinement import load_package
from media.probe.bounds import THUMBNAIL_SIDE, check_size
from media.probe.boxes import check_boxes
from media.probe.errors import UnusableMedia
from media.probe.pictures import make_thumbnail
from media.probe.types import Facts, Inspected

# FFmpeg's names of what browsers play.
CODECS = ("av1", "h264", "hevc", "libdav1d", "vp9")
MAX_SECONDS = 3600
# The number of packets within which a frame has to come.
_MAX_PACKETS = 500


def load() -> None:
    """Import what PyAV and Pillow import lazily."""
    load_package(av)
    Image.init()


def inspect(file: IO[bytes]) -> Inspected:
    """Check the boxes of an MP4, and decode a frame. Raises UnusableMedia, and whatever PyAV raises
    for a broken file."""
    check_boxes(file, file.seek(0, os.SEEK_END))
    file.seek(0)
    options = {"codec_whitelist": ",".join(CODECS)}
    with av.open(file, "r", format="mp4", options=options, metadata_errors="replace") as film:
        return _inspect(film)


def _inspect(film: InputContainer) -> Inspected:
    stream = _video_stream(film)
    seconds = (film.duration or 0) / av.time_base
    if not 0 < seconds <= MAX_SECONDS:
        raise UnusableMedia(f"It is {seconds:,.1f} seconds long.")
    frame = _first_frame(film, stream)
    facts = Facts(
        media_type="video/mp4", width=frame.width, height=frame.height, seconds=round(seconds, 3)
    )
    return Inspected(facts, make_thumbnail(_small(frame)))


def _video_stream(film: InputContainer) -> VideoStream:
    """The only video track. Raises UnusableMedia where there is none with a codec that is
    listed."""
    if len(film.streams.video) != 1:
        raise UnusableMedia("It must have one video track.")
    stream = film.streams.video[0]
    # FFmpeg has no decoder where there is no context.
    context = stream.codec_context
    if context is None or context.name not in CODECS:
        raise UnusableMedia("Its codec is not supported.")
    check_size(context.width, context.height)
    context.thread_count = 1
    return stream


def _first_frame(film: InputContainer, stream: VideoStream) -> VideoFrame:
    for packet in islice(film.demux(stream), _MAX_PACKETS):
        for frame in packet.decode():
            check_size(frame.width, frame.height)
            return frame
    raise UnusableMedia("It has no frame that can be decoded.")


def _small(frame: VideoFrame) -> Image.Image:
    """The frame at most as large as a thumbnail: without a copy of all its pixels in RGB."""
    scale = min(1.0, THUMBNAIL_SIDE / max(frame.width, frame.height))
    width, height = max(1, round(frame.width * scale)), max(1, round(frame.height * scale))
    # A confined process cannot start threads.
    image: Image.Image = frame.to_image(width=width, height=height, threads=1)  # type: ignore[no-untyped-call]
    return image
