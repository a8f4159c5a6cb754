"""How a worker's event loop starts."""

import subprocess
import sys

from devserver.paths import PYTHONPATH
from simulator.process import RunningSimulator
from tests.environment import inherited
from tests.service import environment_of_a_process

# No file can be opened any more, as a new event loop has to.
START = """
import resource
import django
django.setup()
from work.jobs.worker import Worker
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
Worker().start(["default"])
"""

# Rows that refer to each other become garbage, and nothing else would collect them.
COLLECTING = """
import gc, time, weakref
import django
django.setup()
from work.jobs import worker
worker.COLLECT_SECONDS = 0.05
running = worker.Worker()
running.start(["default"])
class Row: pass
row = Row()
row.itself, kept = row, weakref.ref(row)
del row
until = time.monotonic() + 10
while kept() is not None and time.monotonic() < until:
    time.sleep(0.05)
print("collected", kept() is None, "spared", gc.get_freeze_count() > 100_000)
running.stop()
"""


def run(program: str, simulator: RunningSimulator) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-c", program],
        env={**inherited(), **environment_of_a_process(simulator), "PYTHONPATH": PYTHONPATH},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_one_that_cannot_start_ends_at_once(
    django_db_setup: None, simulator: RunningSimulator
) -> None:
    ended = run(START, simulator)
    assert ended.returncode == 1
    assert "worker.not_started" in ended.stdout + ended.stderr


def test_it_collects_garbage_and_spares_the_loaded_code(
    django_db_setup: None, simulator: RunningSimulator
) -> None:
    assert "collected True spared True" in run(COLLECTING, simulator).stdout
