"""Asks a module of ours, in a process without any power (`common.confinement`), about one text of
strangers after the other.

A question comes as its length, four bytes with the highest first, and its bytes. The answer is a
line. A text that breaks the process has no answer; those after it are asked of another process.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Final, cast

from common.confinement import start

_LENGTH_BYTES: Final = 4
_MAX_ANSWER: Final = 100_000  # bytes of a line
# A stranger's texts that each break a process are not all tried.
_MAX_PROCESSES: Final = 4
# The processes at the same time; other threads wait.
_places = threading.BoundedSemaphore(2)


def ask(
    module: str, arguments: Sequence[str], questions: Sequence[bytes], *, seconds: float
) -> list[bytes | None]:
    """The answer to each question, in their order; None where there is none within so many seconds
    for all of them, or the process broke at it. Blocks."""
    until = time.monotonic() + seconds
    answers: list[bytes | None] = []
    if not questions or not _places.acquire(timeout=seconds):
        return [None] * len(questions)
    try:
        for _ in range(_MAX_PROCESSES):
            answers += _answers(module, arguments, questions[len(answers) :], until)
            if len(answers) == len(questions) or time.monotonic() > until:
                break
            answers.append(None)
    finally:
        _places.release()
    return [*answers, *[None] * (len(questions) - len(answers))][: len(questions)]


def serve(answer: Callable[[bytes], bytes]) -> None:
    """Answer the questions on standard input, in the process that is asked."""
    while head := sys.stdin.buffer.read(_LENGTH_BYTES):
        found = answer(sys.stdin.buffer.read(int.from_bytes(head)))
        sys.stdout.buffer.write(found + b"\n")
        sys.stdout.buffer.flush()


@contextmanager
def ended_after(process: "subprocess.Popen[bytes]", seconds: float) -> Iterator[threading.Event]:
    """A block with a process that has ended after it. After so many `seconds` it is killed, and the
    event set."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        process.kill()

    deadline = threading.Timer(seconds, end)
    deadline.start()
    try:
        # What it has not read may be left.
        with suppress(BrokenPipeError), process:
            yield is_late
    finally:
        deadline.cancel()


def _answers(
    module: str, arguments: Sequence[str], questions: Sequence[bytes], until: float
) -> list[bytes | None]:
    """The answers of one process, until it ends."""
    found: list[bytes | None] = []
    process = start(module, *arguments)
    with ended_after(process, until - time.monotonic()):
        stdin, stdout = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        for question in questions:
            stdin.write(len(question).to_bytes(_LENGTH_BYTES) + question)
            stdin.flush()
            line = stdout.readline(_MAX_ANSWER)
            if not line.endswith(b"\n"):
                process.kill()
                break
            found.append(line[:-1])
    return found
