"""Services as child processes."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO, Protocol

import psutil

from devserver.errors import LocalError
from devserver.logs import Log
from devserver.service import Service

_POLL = 0.02


def command_of(pid: int) -> tuple[str, ...]:
    """The command line of a live process; empty when there is none, or we may not read it."""
    try:
        return tuple(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ()


def end(pid: int, *, first: signal.Signals, grace: float) -> None:
    """End a process that need not be our child: by SIGTERM, and after `grace` seconds by
    SIGKILL."""
    for number in (first, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline:
            if not command_of(pid):
                return
            time.sleep(_POLL)


class Child(Protocol):
    """What is used of a `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...

    @property
    def stdout(self) -> IO[str] | None: ...

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


class Process:
    """One run of a service, in a session of its own.

    Every line it prints is appended to `log` and goes to `on_line`; the last ones are kept. `start`
    takes the arguments of `subprocess.Popen`.
    """

    def __init__(
        self,
        service: Service,
        *,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
        start: Callable[..., Child] = subprocess.Popen,
    ) -> None:
        self.service = service
        self._tail: deque[str] = deque(maxlen=15)
        self.on_line = on_line
        self._child = start(
            [*service.launcher, *service.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **service.env},
            user=service.user,
            group=service.group,
            extra_groups=None if service.user is None else [],
            start_new_session=True,
            text=True,
            errors="replace",
        )
        assert self._child.stdout is not None  # noqa: S101 - asked for above
        streams = (self._child.stdout, Log(log or Path(os.devnull)))
        self._reader = threading.Thread(target=self._read, args=streams, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._child.poll()

    def wait_until_ready(self, *, timeout: float, unless: threading.Event | None = None) -> None:
        """Return when the service is ready, or when `unless` is set. Raises LocalError when it
        ends, or is not ready within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not (unless and unless.is_set()):
            if self.has_started():
                return
            if time.monotonic() > deadline:
                raise LocalError(self.report(f"was not ready within {timeout:.0f} seconds"))
            time.sleep(_POLL)

    def has_started(self) -> bool:
        """Is it ready, or has it ended well where it runs once? Raises LocalError when it has ended
        otherwise. The process is checked before the probe: on a busy port another server would
        answer in its place."""
        if self.exit_code is None:
            return not self.service.runs_once and self.service.is_ready()
        if self.service.runs_once and self.exit_code == 0:
            return True
        raise LocalError(self.report(f"ended while starting (exit {self.exit_code})"))

    def ask_to_stop(self) -> None:
        if self.exit_code is None:
            os.kill(self.pid, self.service.stop_signal)

    def wait_stopped(self, *, hurry: threading.Event | None = None) -> bool:
        """Wait for the end; SIGKILL after the grace, or in a `hurry`. Did it end in order?

        Servers that drain and then raise the signal again (uvicorn does) ended in order.
        """
        deadline = time.monotonic() + self.service.grace
        while self.exit_code is None:
            hastened = hurry is not None and hurry.is_set() and not self.service.must_finish
            if hastened or time.monotonic() > deadline:
                self.kill()
            time.sleep(_POLL)
        self._reader.join(timeout=1)
        number = self.service.stop_signal
        return self.exit_code in (0, -number, 128 + number)

    def kill(self) -> None:
        """Kill the process, with its children."""
        os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()

    def stop(self) -> None:
        self.ask_to_stop()
        self.wait_stopped()

    def report(self, what: str) -> str:
        """A sentence about this service, with its last lines below."""
        self._reader.join(timeout=0.2)
        lines = "".join(f"\n    {line}" for line in self._tail)
        return f"{self.service.name} {what}.{' Its last lines:' if lines else ''}{lines}"

    def last_line(self) -> str:
        self._reader.join(timeout=0.2)
        return self._tail[-1] if self._tail else ""

    def _read(self, stdout: IO[str], log: Log) -> None:
        with stdout, closing(log):
            for line in stdout:
                log.write(line)
                self._tail.append(line.rstrip())
                if self.on_line:
                    self.on_line(line.rstrip())
