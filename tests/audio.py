"""Audio for tests: tones of any length and format, and a sentence that somebody has read."""

import io
import math
from array import array
from pathlib import Path
from typing import cast

import av
from av.audio.frame import AudioFrame
from av.audio.layout import AudioLayout
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream

RATE = 16_000
# By format: the muxer, the codec.
FORMATS = {
    "flac": ("flac", "flac"),
    "mp3": ("mp3", "libmp3lame"),
    "m4a": ("ipod", "aac"),
    "mp4": ("mp4", "aac"),
    "ogg": ("ogg", "libopus"),
    "wav": ("wav", "pcm_s16le"),
    "webm": ("webm", "libopus"),
    "mpga": ("mp2", "mp2"),
    "mpeg": ("mpeg", "mp2"),
}

_SPEECH = Path(__file__).parent / "recordings" / "he_might_even_have_been_made_amiable_himself.flac"


def tone(seconds: float, form: str = "wav", *, title: str = "") -> bytes:
    """A tone of that length; `title` is a tag, which may steer the simulator."""
    wave = (int(8_000 * math.sin(step / 6)) for step in range(int(seconds * RATE)))
    return encoded(array("h", wave), form, title=title)


def speech(form: str = "flac") -> bytes:
    """The sentence of 3.29 seconds."""
    if form == "flac":
        return _SPEECH.read_bytes()
    resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
    samples = array("h")
    with av.open(str(_SPEECH)) as container:
        for frame in container.decode(audio=0):
            for piece in resampler.resample(frame):
                samples.frombytes(bytes(piece.planes[0])[: 2 * piece.samples])
    return encoded(samples, form)


def encoded(samples: "array[int]", form: str, *, title: str = "") -> bytes:
    """Those samples (16 kHz, mono, 16 bits) as a file of that format."""
    muxer, codec = FORMATS[form]
    file = io.BytesIO()
    with av.open(file, "w", format=muxer) as container:
        if title:
            container.metadata["title"] = title
        rate = 48_000 if codec == "libopus" else RATE
        stream = cast(AudioStream, container.add_stream(codec, rate=rate))
        stream.layout, stream.bit_rate = AudioLayout("mono"), 64_000
        context = stream.codec_context
        resampler = AudioResampler(context.format, "mono", rate, context.frame_size or None)
        for frame in [*resampler.resample(_frame(samples)), *resampler.resample(None)]:
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def _frame(samples: "array[int]") -> AudioFrame:
    frame = AudioFrame(format="s16", layout="mono", samples=len(samples))
    frame.sample_rate, frame.pts = RATE, 0
    frame.planes[0].update(
        samples.tobytes() + bytes(frame.planes[0].buffer_size - 2 * len(samples))
    )
    return frame
