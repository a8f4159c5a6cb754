"""Some lives of the campaign (docs/operations/campaign.md)."""

import os
import subprocess
import sys

import pytest

from devserver.paths import PYTHONPATH, ROOT
from tests.operations.blocks import run

LIVES, SECONDS = 20, 5


@pytest.mark.timeout(1800)
def test_lives_under_faults_go_well() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.campaign", f"--runs={LIVES}", f"--seconds={SECONDS}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    logged = [line for line in done.stdout.splitlines() if "[warning" in line or "[error" in line]
    assert logged == []


def test_a_seed_is_repeated_by_the_documented_command() -> None:
    assert "life 1 of 1, seed 17: all is well" in run("campaign.md#repeat")
