"""The stopwatch by which tests hold bounds on time."""

import os
import subprocess

from tests.stopwatch import Stopwatch


def test_it_does_not_count_the_time_in_which_the_machine_stood_still() -> None:
    own = os.getpid()
    with Stopwatch() as watch:
        subprocess.run(["sh", "-c", f"kill -STOP {own}; sleep 0.5; kill -CONT {own}"], check=True)
        whole = watch.seconds + watch.lost
    assert watch.lost > 0.4
    assert watch.seconds < whole - 0.4
