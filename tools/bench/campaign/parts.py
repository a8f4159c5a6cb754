"""The processes of a life: each is started again when it has ended, as a supervisor does it."""

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from common.shutdown import GRACE_SECONDS
from devserver.parts import web_command, worker_answers, worker_command
from devserver.ports import answers, free_port
from devserver.processes import Process
from devserver.service import Service
from tests.forked import ForkedProcess

DRAIN_SECONDS = 5
_PAUSE = 0.7
_LOOK = 0.1


class Part:
    """One of them. `endings` are exit codes that nobody has caused."""

    def __init__(self, service: Service, logs: Path) -> None:
        self.service = service
        self.endings: list[int] = []
        self.starts = 0
        self._logs = logs
        self._was_killed = False
        self.process: Process
        self.start()

    def start(self) -> None:
        self.starts += 1
        log = self._logs / f"{self.service.name}.{self.starts}.log"
        self.process = Process(self.service, log=log, start=ForkedProcess)
        self._was_killed = False

    def is_ready(self) -> bool:
        return self.process.exit_code is None and self.service.is_ready()

    def kill(self) -> None:
        """kill -9."""
        self._was_killed = True
        self.send(signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended: its id may be somebody else's by now."""
        if self.process.exit_code is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def tend(self) -> None:
        """Start it again where it has ended."""
        if self.process.exit_code is None:
            return
        if not self._was_killed:
            self.endings.append(self.process.exit_code)
        time.sleep(_PAUSE)
        self.start()


class Parts:
    """All of them, tended until they are stopped."""

    def __init__(self, environment: Mapping[str, str], folder: Path, broker: str) -> None:
        logs = folder / "logs"
        logs.mkdir(parents=True)
        self.web_ports = [free_port()]
        self.web_ports.append(free_port(but=self.web_ports))
        unpooled = {**environment, "DATABASE_POOL": "0"}
        self.webs = [
            Part(_web(number, port, {**environment, "PUBLIC_BASE_URL": self.urls[0]}), logs)
            for number, port in enumerate(self.web_ports)
        ]
        self.workers = [Part(_worker(number, unpooled, broker), logs) for number in range(2)]
        self.beat = Part(_beat(unpooled, folder), logs)
        self._is_over = threading.Event()
        self._tending = threading.Thread(target=self._tend, daemon=True)

    @property
    def all(self) -> list[Part]:
        return [*self.webs, *self.workers, self.beat]

    @property
    def urls(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.web_ports]

    def wait_until_ready(self, seconds: float) -> None:
        """Raises LocalError."""
        for part in self.all:
            part.process.wait_until_ready(timeout=seconds)

    def begin_tending(self) -> None:
        self._tending.start()

    def wait_until(self, what: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not what():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK)
        return True

    def stop(self) -> list[str]:
        """Ask all to end, and wait. Returns what is wrong with how they have ended."""
        self._is_over.set()
        if self._tending.is_alive():
            self._tending.join()
        for part in self.all:
            part.send(signal.SIGCONT)
            part.process.ask_to_stop()
        wrong = []
        for part in self.all:
            ended_before = part.process.exit_code is not None
            if not part.process.wait_stopped() and not ended_before:
                wrong.append(f"{part.service.name} did not end in order on SIGTERM")
        return wrong

    def unexpected_endings(self) -> Counter[str]:
        """Of web processes and beat. A worker ends itself when it takes no messages."""
        return Counter(
            f"{part.service.name} ended by itself with {code}"
            for part in (*self.webs, self.beat)
            for code in part.endings
        )

    def _tend(self) -> None:
        while not self._is_over.wait(_LOOK):
            for part in self.all:
                part.tend()


def _web(number: int, port: int, environment: Mapping[str, str]) -> Service:
    return Service(
        name=f"web-{number}",
        command=web_command(port),
        env=environment,
        is_ready=lambda: answers(port, "/v1/models"),
        grace=DRAIN_SECONDS + GRACE_SECONDS,
    )


def _worker(number: int, environment: Mapping[str, str], broker: str) -> Service:
    name = f"worker@campaign-{number}"
    return Service(
        name=f"worker-{number}",
        command=worker_command(name),
        env=environment,
        is_ready=lambda: worker_answers(name, broker),
        grace=DRAIN_SECONDS + GRACE_SECONDS,
    )


def _beat(environment: Mapping[str, str], folder: Path) -> Service:
    command = [sys.executable, "-m", "celery", "-A", "config", "--quiet", "beat"]
    command += [f"--schedule={folder / 'beat-schedule'}", "--pidfile="]
    return Service(name="beat", command=tuple(command), env=environment)
