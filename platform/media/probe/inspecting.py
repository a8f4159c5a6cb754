"""Inspects files in processes of their own, within bounds of time, memory and output."""

import asyncio
import signal
import subprocess
from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import IO, cast

import msgspec
import structlog

from common.confined_answers import ended_after
from common.confinement import BAD_FILE, start
from common.errors import ServiceUnavailable
from common.loop_local import LoopLocal
from common.places import LoopPlaces, Places
from media.probe.errors import UnusableMedia, UnusablePicture
from media.probe.types import LENGTH_BYTES, Facts, Inspected, MediaKind

log = structlog.get_logger(__name__)

# A second is enough for a large file, if a processor is free.
INSPECTION_SECONDS = 60.0
# The number of files that an event loop has inspected at the same time; others wait.
_MAX_BUSY = 2
# A thumbnail takes a tenth of this.
_MAX_OUTPUT = 2_000_000  # bytes
# The inspector refused the file, or needed more processor time than it has.
_FORESEEN = (BAD_FILE, -signal.SIGXCPU)
_UNDECODABLE = "It cannot be decoded."

_places = LoopLocal(lambda: asyncio.Semaphore(_MAX_BUSY))
# Those of users' own files, and the seconds that others wait: nobody's uploads delay results.
_places_of_users = Places(_MAX_BUSY, seconds=5.0)
# Those of pictures in requests, whose senders wait for an answer of some seconds anyway.
_places_of_requests = LoopLocal(lambda: LoopPlaces(_MAX_BUSY, seconds=15.0))
# Less than others wait: on a busy machine too, two expensive requests keep no third one out.
STILLS_SECONDS = 12.0
_LONGEST_LINE = 200  # bytes
_decode_facts = msgspec.json.Decoder(Facts).decode


async def inspect(
    file: IO[bytes], kind: MediaKind, *, timeout: float = INSPECTION_SECONDS
) -> Inspected:
    """Inspect a file, which the operating system has to know: it is handed over as it is open.

    Raises UnusableMedia, and ServiceUnavailable where the machine is so busy that it takes more
    than `timeout` seconds, or nothing can be inspected on this machine. The position in the file is
    another one afterwards.
    """
    async with _places.get():
        process = start("media.probe.inspector", kind, stdin=file)
        try:
            return await asyncio.to_thread(_outcome, process, timeout)
        finally:
            # Also where the caller is cancelled; the thread then ends too.
            process.kill()


def inspect_upload(
    file: IO[bytes], kind: MediaKind, *, owner: Hashable, timeout: float = INSPECTION_SECONDS
) -> Inspected:
    """The same for a file of a user's, one of an `owner` at a time; it blocks. Raises
    ServiceUnavailable also where no place becomes free."""
    with _places_of_users.acquire(owner):
        process = start("media.probe.inspector", kind, stdin=file)
        try:
            return _outcome(process, timeout)
        finally:
            process.kill()


async def inspect_stills(
    stills: Sequence[bytes], *, owner: Hashable, timeout: float = STILLS_SECONDS
) -> None:
    """Decode pictures of one request of an `owner`, one request of an owner at a time.

    Raises UnusablePicture for the first that is no PNG, JPEG, WebP or GIF which can be decoded, or
    is animated; ServiceUnavailable as `inspect` does, and where no place becomes free.
    """
    async with _places_of_requests.get().acquire(owner):
        process = start("media.probe.still_inspector")
        try:
            await asyncio.to_thread(_check_stills, process, stills, timeout)
        finally:
            process.kill()


def _check_stills(
    process: "subprocess.Popen[bytes]", stills: Sequence[bytes], seconds: float
) -> None:
    with ended_after(process, seconds) as is_late:
        for index, data in enumerate(stills):
            answer = _answer(process, data)
            if not answer:
                break
            if reason := answer.decode().strip():
                raise UnusablePicture(index, reason)
        else:
            return
    try:
        check_end(process.returncode, b"", is_late=is_late.is_set())
    except UnusableMedia as error:
        raise UnusablePicture(index, error.reason) from None
    raise ServiceUnavailable


def _answer(process: "subprocess.Popen[bytes]", data: bytes) -> bytes:
    """The line about a picture; empty where the process has ended."""
    stdin = cast(IO[bytes], process.stdin)
    with suppress(BrokenPipeError):
        stdin.write(len(data).to_bytes(LENGTH_BYTES))
        stdin.write(data)
        stdin.flush()
    return cast(IO[bytes], process.stdout).readline(_LONGEST_LINE)


def _outcome(process: "subprocess.Popen[bytes]", seconds: float) -> Inspected:
    with ended_after(process, seconds) as is_late:
        output = cast(IO[bytes], process.stdout).read(_MAX_OUTPUT)
    check_end(process.returncode, output, is_late=is_late.is_set())
    return _read(output)


def check_end(status: int, output: bytes, *, is_late: bool) -> None:
    """Check the exit status of an inspector.

    Raises UnusableMedia where the file is to blame, also where a signal ended the inspector;
    ServiceUnavailable where it was killed, after its time limit or by the system, or failed at
    something else.
    """
    if status == 0:
        return
    if status == -signal.SIGKILL or (status < 0 and is_late):
        raise ServiceUnavailable
    if status not in _FORESEEN:
        log.error("inspection.inspector_broke", status=status)
    if status > 0 and status != BAD_FILE:
        raise ServiceUnavailable
    raise UnusableMedia(output.decode().strip() if status == BAD_FILE else _UNDECODABLE)


def _read(output: bytes) -> Inspected:
    line, _, thumbnail = output.partition(b"\n")
    try:
        return Inspected(_decode_facts(line), thumbnail or None)
    except msgspec.DecodeError as error:
        log.exception("inspection.inspector_broke", status=0)
        raise UnusableMedia(_UNDECODABLE) from error
