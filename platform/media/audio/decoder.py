"""Decodes audio from standard input, in a confined process: see `common.confinement`.

`measure SECONDS` prints the format and the length; `pcm SECONDS` prints the samples, 16 kHz, mono,
signed 16 bits, little-endian. Both stop after that many seconds of audio. The exit status is 65
where the input is no audio, and another one where the decoder failed.
"""

import io
import sys
from collections import Counter
from collections.abc import Iterator

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.codec.context import Flags2
from av.container import InputContainer

from common.confinement import BAD_FILE, confine, load_package

# The exceptions that decoding raises because of the file's content.
FAULTS_OF_FILES = (
    av.FFmpegError,
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    ValueError,
)

# Two hours of Opus in stereo take a third of this.
CPU_SECONDS = 30
MAX_RATE = 192_000  # samples a second of each channel
MAX_CHANNELS = 8
MAX_SAMPLES = 7_200 * 100_000  # of all channels together: two hours in stereo, at 48 kHz
MEMORY = 768 * 1024 * 1024  # bytes of address space, a sixth of which Python and FFmpeg take

# FFmpeg's names. Formats that list other files, such as HLS, are left out.
FORMATS = {
    "flac": "flac",
    "mp3": "mp3",
    "mov,mp4,m4a,3gp,3g2,mj2": "mp4",
    "mpeg": "mpeg",
    "ogg": "ogg",
    "wav": "wav",
    "matroska,webm": "webm",
}
CODECS = (
    *("aac", "alac", "flac", "opus", "vorbis", "mp1", "mp2", "mp3float"),
    *("pcm_u8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le"),
    *("pcm_alaw", "pcm_mulaw", "adpcm_ms", "adpcm_ima_wav"),
)
OPTIONS = {
    "format_whitelist": ",".join(FORMATS),
    # For probing alone: `only_track` chooses the decoder.
    "codec_whitelist": ",".join(CODECS),
    # Samples that an edit list skips count too: players that ignore the list play them.
    "ignore_editlist": "1",
}


def main() -> None:
    mode, most = sys.argv[1], int(sys.argv[2])
    data = io.BytesIO(sys.stdin.buffer.read())
    load_package(av)
    confine(cpu_seconds=CPU_SECONDS, memory=MEMORY)
    try:
        with av.open(data, "r", options=OPTIONS, metadata_errors="replace") as container:
            if mode == "measure":
                print(FORMATS[container.format.name], length(container, most))  # noqa: T201
            else:
                write_samples(container, most)
    except FAULTS_OF_FILES:
        sys.exit(BAD_FILE)


def length(container: InputContainer, most: int) -> float:
    """Seconds of audio, counted in decoded samples, because headers may lie."""
    samples: Counter[int] = Counter()
    for frame in frames(container):
        samples[frame.sample_rate] += frame.samples
        if seconds(samples) > most:
            break
    return seconds(samples)


def seconds(samples: Counter[int]) -> float:
    """The length of the counted samples of each rate."""
    return sum(count / rate for rate, count in samples.items())


def write_samples(container: InputContainer, most: int) -> None:
    """Write at most `most` seconds of samples."""
    resampler = AudioResampler(format="s16", layout="mono", rate=16_000)
    left = most * 16_000
    for frame in frames(container):
        for piece in resampler.resample(frame):
            left -= piece.samples
            sys.stdout.buffer.write(bytes(piece.planes[0])[: 2 * piece.samples])
        if left <= 0:
            return


def frames(container: InputContainer) -> Iterator[AudioFrame]:
    """The frames of the only audio track. Raises ValueError where it has none that can be decoded,
    or too many samples."""
    stream = only_track(container)
    stream.codec_context.thread_count = 1
    # Samples that the file marks as skipped are counted too.
    stream.codec_context.flags2 |= Flags2.skip_manual
    good = bad = samples = 0
    for packet in container.demux(stream):
        try:
            for frame in packet.decode():
                good += 1
                samples += frame.samples * frame.layout.nb_channels
                check(frame, samples)
                yield frame
        except av.InvalidDataError:
            bad += 1
    if good <= bad:
        raise ValueError("Most of it cannot be decoded.")


def check(frame: AudioFrame, samples: int) -> None:
    """Raise ValueError for too many samples: few bytes may hold any number of them."""
    if frame.sample_rate > MAX_RATE or frame.layout.nb_channels > MAX_CHANNELS:
        raise ValueError("The sample rate or the number of channels is too high.")
    if samples > MAX_SAMPLES:
        raise ValueError("There are too many samples.")


def only_track(container: InputContainer) -> AudioStream:
    """The only audio track: of two tracks, players choose different ones. Raises ValueError where
    there is none, or no decoder that may be used."""
    if len(container.streams.audio) != 1:
        raise ValueError("There must be one audio track.")
    stream = container.streams.audio[0]
    # FFmpeg has no decoder where there is no context.
    if stream.codec_context is None or stream.codec_context.name not in CODECS:
        raise ValueError("The codec is not supported.")
    return stream


if __name__ == "__main__":
    main()
