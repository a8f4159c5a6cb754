"""A process that parses the files of strangers has nothing that could be taken from it."""

import signal
import subprocess
import sys

import pytest

from common.confinement import SOURCE_ROOT, start

CONFINED = """
import os, socket, sys
from common.confinement import confine
confine(cpu_seconds=1, memory=256 * 1024 * 1024)
"""


def ended(attempt: str) -> int:
    """The exit status of a confined process that attempts something."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", CONFINED + attempt],
        env={"PYTHONPATH": str(SOURCE_ROOT)},
        capture_output=True,
        check=False,
    ).returncode


def test_a_confined_process_can_compute_and_write_to_its_output() -> None:
    assert ended("print(sum(range(1_000)))") == 0


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/passwd')",
        "socket.socket()",
        "os.listdir('/')",
        "os.system('true') == 0 or sys.exit(7)",
        "bytearray(1 << 29)",
    ],
)
def test_whoever_takes_it_over_can_do_nothing_with_it(attempt: str) -> None:
    assert ended(attempt) != 0


def test_that_it_has_used_up_its_time_is_told_from_a_kill() -> None:
    assert ended("while True: pass") == -signal.SIGXCPU


def test_it_is_given_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "a secret")
    with start("common.tests.telling", stdin=subprocess.DEVNULL) as process:
        told = process.communicate()[0].decode().split()
    assert set(told) - {"LC_CTYPE"} == {"PYTHONPATH"}
