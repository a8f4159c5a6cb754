"""A process that puts jobs in, with stores of its own choice.

`python -m work.jobs.tests.enqueuer`: for each line of its input, a kind of job, a line with the
job's id and the seconds that took.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from devserver.paths import PYTHONPATH
from simulator.process import RunningSimulator
from tests.environment import inherited


class Enqueuer:
    """Such a process, from outside."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def new_job(self, kind: str) -> tuple[UUID, float]:
        """Put a job in. Returns its id and the seconds that took."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{kind}\n")
        self._process.stdin.flush()
        job_id, seconds = self._process.stdout.readline().split()
        return UUID(job_id), float(seconds)


@contextmanager
def running_enqueuer(simulator: RunningSimulator, **environment: str) -> Iterator[Enqueuer]:
    """A process until the block ends."""
    from tests.service import environment_of_a_process

    process = subprocess.Popen(
        [sys.executable, "-m", "work.jobs.tests.enqueuer"],
        env={
            **inherited(),
            **environment_of_a_process(simulator),
            "PYTHONPATH": PYTHONPATH,
            **environment,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Enqueuer(process)
        assert process.stdin
        process.stdin.close()


def main() -> None:
    import django

    django.setup()

    from work.jobs.tests.queueing import new_job

    for line in sys.stdin:
        begun = time.monotonic()
        job_id = new_job(line.strip())
        sys.stdout.write(f"{job_id} {time.monotonic() - begun}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
