"""Signs of life: the heartbeats, and the check that misses them."""

import socket
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from devserver.parts import QUEUES
from devserver.paths import ROOT
from devserver.ports import LOOPBACK
from simulator.process import RunningSimulator
from tests.environment import inherited
from tests.worker import running_worker
from work.jobs import tasks
from work.jobs.models import Job, QueueHeartbeat
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
def silence(committed: None) -> None:
    """No heartbeat is there, whatever other tests left. No worker outlives its test here: a
    message that another test sent may bring one at any time."""
    QueueHeartbeat.objects.all().delete()


def test_it_passes_where_every_queue_is_served(simulator: RunningSimulator) -> None:
    with running_worker(simulator):
        for queue in Job.Queue:
            tasks.record_heartbeat.apply_async((queue,), queue=queue)
        wait_until(lambda: QueueHeartbeat.objects.count() == len(Job.Queue))

        call_command("check_workers")


def test_it_names_the_queues_that_nobody_serves() -> None:
    now = timezone.now()
    QueueHeartbeat.objects.create(queue="interactive", seen_at=now - timedelta(seconds=61))
    QueueHeartbeat.objects.create(queue="default", seen_at=now)

    with pytest.raises(CommandError, match="interactive, media"):
        call_command("check_workers")


def test_it_looks_at_the_queues_that_are_named_alone() -> None:
    QueueHeartbeat.objects.create(queue="media", seen_at=timezone.now())

    call_command("check_workers", "media")
    with pytest.raises(CommandError, match="from: default"):
        call_command("check_workers", "media", "default")
    with pytest.raises(CommandError, match="There is no queue video"):
        call_command("check_workers", "video")


@pytest.mark.parametrize("is_frozen", [False, True], ids=["away", "frozen"])
def test_it_says_in_a_sentence_that_the_database_cannot_be_reached(is_frozen: bool) -> None:
    with socket.socket() as server:
        server.bind((LOOPBACK, 0))
        if is_frozen:  # it takes connections, and says nothing
            server.listen()
        ended = run_against(f"postgres://platform@{LOOPBACK}:{server.getsockname()[1]}/platform")

    assert ended.returncode == 1
    told, said = ended.stderr.splitlines()
    assert "database.away" in told
    assert said == "CommandError: The database cannot be reached."


def run_against(database_url: str) -> subprocess.CompletedProcess[str]:
    """The command as a probe runs it, which does not wait for long."""
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, ROOT / "manage.py", "check_workers"],
        env={
            **inherited(),
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "DATABASE_POOL": "0",
            "DATABASE_URL": database_url,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_heartbeat_is_put_into_every_queue_that_there_is() -> None:
    schedule: list[dict[str, Any]] = list(settings.CELERY_BEAT_SCHEDULE.values())
    heartbeats = [entry for entry in schedule if entry["task"] == tasks.record_heartbeat.name]
    recorded = {entry["args"] for entry in heartbeats}
    into = {entry["options"]["queue"] for entry in heartbeats}
    assert recorded == {(queue,) for queue in Job.Queue.values}
    assert into == set(Job.Queue.values)
    assert set(QUEUES.split(",")) == into
