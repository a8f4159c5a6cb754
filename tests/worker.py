"""Background work as in production: real Celery workers and beat over the test's own stores."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from common.shutdown import DEFAULT_DRAIN_SECONDS, GRACE_SECONDS
from devserver.parts import QUEUES, worker_answers, worker_command
from devserver.processes import Process
from devserver.service import Service
from simulator.process import RunningSimulator
from tests.forked import ForkedProcess
from tests.freezing import freeze
from tests.service import environment_of_a_process


@dataclass
class Worker:
    """One running worker. Beat does not run: a test calls the sweeps it wants."""

    name: str
    process: Process
    was_killed: bool = False

    def kill(self) -> None:
        """kill -9: no drain, no last word."""
        self.was_killed = True
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait_stopped()

    def freeze(self) -> None:
        """It stands still and does not know it, until it is thawed."""
        freeze(self.process.pid)

    def thaw(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """SIGTERM: it drains."""
        self.process.ask_to_stop()


@contextmanager
def running_worker(
    simulator: RunningSimulator,
    *,
    queues: str = QUEUES,
    takes_messages: bool = True,
    log: str | None = None,
    **environment: str,
) -> Iterator[Worker]:
    """A worker process until the block ends, which is waited for until it `takes_messages`. What it
    prints goes to the file `log`. Raises AssertionError when it does not end in order, unless it
    was killed."""
    name = f"worker@{uuid4().hex}"
    broker = environment.get("REDIS_URL", settings.REDIS_URL)
    service = Service(
        name="worker",
        command=worker_command(name, queues=queues),
        is_ready=lambda: not takes_messages or worker_answers(name, broker),
        env={**environment_of_a_process(simulator), "DATABASE_POOL": "0", **environment},
        grace=DEFAULT_DRAIN_SECONDS + GRACE_SECONDS,
    )
    process = Process(service, log=Path(log) if log else None, start=ForkedProcess)
    worker = Worker(name, process)
    try:
        process.wait_until_ready(timeout=30)
        yield worker
    finally:
        worker.thaw()
        worker.ask_to_stop()
        ended_well = process.wait_stopped()
        assert ended_well or worker.was_killed, process.report("did not end in order")


@contextmanager
def running_beat(
    simulator: RunningSimulator, folder: Path, *, log: str | None = None, **environment: str
) -> Iterator[Process]:
    """Beat until the block ends; it keeps its schedule in `folder`. What it prints goes to the file
    `log`."""
    command = [sys.executable, "-m", "celery", "-A", "config", "beat"]
    command += [f"--schedule={folder / 'beat-schedule'}", "--pidfile="]
    settings_of_beat = {**environment_of_a_process(simulator), "DATABASE_POOL": "0", **environment}
    process = Process(
        Service(name="beat", command=tuple(command), env=settings_of_beat),
        log=Path(log) if log else None,
    )
    try:
        yield process
    finally:
        process.stop()
