"""Celery's beat as it runs in production: the sweeps, done by whatever worker there is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.processes import Process
from local.service import Service
from simulator.process import RunningSimulator
from tests.service import environment_of_a_process


@contextmanager
def running_beat(simulator: RunningSimulator, folder: Path) -> Iterator[None]:
    """Beat until the block ends; it keeps its schedule in `folder`."""
    command = [sys.executable, "-m", "celery", "-A", "config", "--quiet", "beat"]
    command += [f"--schedule={folder / 'beat-schedule'}", "--pidfile="]
    environment = {**environment_of_a_process(simulator), "DATABASE_POOL": "0"}
    process = Process(Service(name="beat", command=tuple(command), env=environment))
    try:
        yield
    finally:
        process.stop()
