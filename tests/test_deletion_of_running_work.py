"""The data of an account is deleted while everything of it runs: it is stopped first, and billed as
usual."""

import time
from datetime import timedelta

import httpx
import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from accounts.models import User
from billing.models import Charge
from council.models import Session
from council.tests.owner import Owner
from media.files.models import StoredFile, Upload
from media.files.services import uploads
from privacy.models import Deletion, Export
from privacy.services import deletions
from privacy.tests.exporting import ask
from projects.models import Run
from projects.tests.principal import Principal
from simulator.process import RunningSimulator
from studios.models import Generation
from studios.tests.artist import Artist
from tests.personas import new_user
from tests.service import Web
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed")


def ended(user: User) -> bool:
    """Sweep until the deletion has ended, or for half a minute."""
    Deletion.objects.filter(pk=user.pk).update(requested_at=timezone.now() - timedelta(minutes=5))
    for _ in range(60):
        deletions.go_on_with_all()
        if Deletion.objects.get(pk=user.pk).ended_at is not None:
            return True
        time.sleep(0.5)
    return False


def test_what_runs_is_stopped_and_then_deleted(web: Web, simulator: RunningSimulator) -> None:
    alice = new_user("alice", plan="max", balance_usd=20)
    with httpx.Client(base_url=web.url, timeout=30) as http, running_worker(simulator):
        owner = Owner(alice, 0, "", http, web, simulator)
        # Texts that take a minute.
        owner.start(prompt=owner.text(tokens=600, delay_ms=100))
        principal = Principal(alice, 0, "", http, web, simulator)
        principal.start(goal=principal.goal(plan={"tokens": 600, "delay_ms": 100}))
        artist = Artist(alice, 0, "", http, simulator)
        artist.order("gen4.5", steering={"ttft_ms": 3000})
        held = Charge.objects.filter(account=alice, status="held")
        wait_until(lambda: held.count() == 4)  # two cards, a plan, a clip

        deletions.request(user=alice)
        assert ended(alice), Deletion.objects.get(pk=alice.pk).waits_for

    for model in (Session, Run, Generation):
        assert not model._base_manager.filter(account=alice).exists()
    assert not Job.objects.filter(account=alice, ended_at=None).exists()
    assert not Charge.objects.filter(account=alice, status="held").exists()


def test_an_export_that_runs_is_stopped_and_leaves_no_file(
    web: Web, simulator: RunningSimulator
) -> None:
    alice = new_user("alice")
    for number in range(40):
        file = ContentFile(bytes(1_000_000), name="big")
        uploads.store(user=alice, name=f"{number}", file=file)
    with running_worker(simulator):
        export = Job.objects.get(pk=ask(web, alice)["id"])
        running = Job.objects.filter(pk=export.pk, status=Job.Status.RUNNING)
        wait_until(running.exists)
        deletions.request(user=alice)
        assert ended(alice), Deletion.objects.get(pk=alice.pk).waits_for

    for model in (Export, StoredFile, Upload):
        assert not model._base_manager.filter(account=alice).exists()
    export.refresh_from_db()
    assert export.ended_at is not None
