"""A worker whose event loop cannot start."""

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


def test_it_ends_at_once(django_db_setup: None, simulator: RunningSimulator) -> None:
    ended = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-c", START],
        env={**inherited(), **environment_of_a_process(simulator), "PYTHONPATH": PYTHONPATH},
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert ended.returncode == 1
    assert "worker.not_started" in ended.stdout + ended.stderr
