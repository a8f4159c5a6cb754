"""A long result is copied without holding it: the memory of a process that does it is measured."""

import os
import subprocess
import sys

import pytest

from media.files.models import StoredFile
from media.files.tests.bucket import Bucket
from simulator.process import RunningSimulator
from tests.environment import inherited
from tests.personas import new_user
from tests.service import environment_of_a_process

MOST = 30_000_000  # bytes
SIZE = 200_000_000


@pytest.mark.parametrize("place", ["folder", "bucket"])
def test_200_megabytes_take_less_than_30_more(
    committed: None, simulator: RunningSimulator, bucket: Bucket, place: str
) -> None:
    alice = new_user("alice")
    environment = {
        **inherited(),
        **environment_of_a_process(simulator),
        "OUTPUTS_DIR": os.environ["OUTPUTS_DIR"],
        "UPLOADS_DIR": os.environ["UPLOADS_DIR"],
        "OUTPUTS_BUCKET": "",
        **(bucket.environment if place == "bucket" else {}),
    }
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "media.files.tests.copying", str(alice.pk), str(SIZE)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    more = int(done.stdout.splitlines()[-1])
    assert StoredFile.objects.filter(account=alice, size=SIZE, media_type="video/mp4").exists()
    assert 0 <= more < MOST
