"""The length and the samples of audio, decoded in a process of its own, within bounds.

FFmpeg reads many formats, and attackers make files to break it: `common.confinement` says what the
decoder's process may do.
"""

import signal
import subprocess
import threading
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Literal, cast

import structlog

from common.confinement import BAD_FILE, start
from common.errors import ServiceUnavailable, ValidationFailed
from common.places import Places

log = structlog.get_logger(__name__)

AudioFormat = Literal["flac", "mp3", "mp4", "mpeg", "ogg", "wav", "webm"]

MAX_SECONDS = 2 * 3600

# The decoder found no audio, or needed more processor time than it has.
_FORESEEN = (BAD_FILE, -signal.SIGXCPU)
# Two hours of audio take some seconds, if a processor is free.
DECODING_SECONDS = 120.0
_LONGEST_LINE = 100  # bytes
# The number of files that are measured at the same time, and the seconds that others wait.
_MAX_BUSY = 2
_TIMEOUT = 60.0


class InvalidAudio(ValidationFailed):
    """The file holds no audio that can be heard, or more than is accepted."""

    code = "invalid_audio"
    message = "The file is not audio in a supported format, or longer than two hours."


@dataclass(frozen=True, slots=True)
class Measured:
    """The length of audio in seconds, and its format."""

    seconds: float
    format: AudioFormat


_places = Places(_MAX_BUSY, seconds=_TIMEOUT)


def measure(audio: bytes, *, owner: Hashable, timeout: float = DECODING_SECONDS) -> Measured:
    """Decode the whole file and count its seconds, one file of an owner at a time. Blocks for
    seconds where the file is long.

    Raises InvalidAudio, and ServiceUnavailable where no place becomes free, the machine is so busy
    that it takes more than `timeout` seconds, or nothing can be decoded on this machine.
    """
    with _places.acquire(owner):
        deadline = time.monotonic() + timeout
        with _decoder(audio, "measure", MAX_SECONDS, timeout=timeout) as process:
            line = cast(IO[bytes], process.stdout).read(_LONGEST_LINE)
    check_end(process.returncode, is_late=time.monotonic() >= deadline)
    name, seconds = line.decode().split()
    if float(seconds) > MAX_SECONDS:
        raise InvalidAudio.of("file", f"Audio is at most {MAX_SECONDS:,} seconds long.")
    return Measured(float(seconds), cast(AudioFormat, name))


def check_end(status: int, *, is_late: bool) -> None:
    """Check the exit status of a decoder that measured a file.

    Raises InvalidAudio where the file is to blame, also where a signal ended the decoder;
    ServiceUnavailable where it was killed, after its time limit or by the system, or failed at
    something else.
    """
    if status == 0:
        return
    if status == -signal.SIGKILL or (status < 0 and is_late):
        raise ServiceUnavailable
    if status not in _FORESEEN:
        log.error("audio.decoder_broke", status=status)
    if status > 0 and status != BAD_FILE:
        raise ServiceUnavailable
    raise InvalidAudio.of("file", "This is not audio in a supported format.")


@contextmanager
def samples(audio: bytes, *, seconds: int) -> Iterator[IO[bytes]]:
    """A stream of the samples of at most that many seconds: 16 kHz, mono, signed 16 bits. It is
    empty where the file is no audio."""
    with _decoder(audio, "pcm", seconds) as process:
        yield cast(IO[bytes], process.stdout)


@contextmanager
def _decoder(
    audio: bytes, mode: str, seconds: int, *, timeout: float = DECODING_SECONDS
) -> Iterator["subprocess.Popen[bytes]"]:
    """A decoder process that has read `audio`. It has ended after the block, or is killed after its
    time limit."""
    with start("media.audio.decoder", mode, str(seconds)) as process:
        deadline = threading.Timer(timeout, process.kill)
        deadline.start()
        try:
            stdin = cast(IO[bytes], process.stdin)
            with suppress(BrokenPipeError):
                stdin.write(audio)
            with suppress(BrokenPipeError):
                stdin.close()
            yield process
            # The decoder's output is not wanted any more.
            cast(IO[bytes], process.stdout).close()
            process.wait()
        finally:
            process.kill()
            deadline.cancel()
