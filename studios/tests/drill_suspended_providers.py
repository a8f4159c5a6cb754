"""Orders at a provider that is spared for a while, or switched off: those that wait go on."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from ai.operations.models import Operation
from ai.provider_health import switches
from ai.provider_health.exchange import SWITCHES_SECONDS
from ai.provider_health.models import Provider
from common.ids import uuid7
from simulator.process import RunningSimulator
from studios.tests.artist import STUDIOS, Artist, Job, new_artist
from tests.short_circuits import running_with_short_circuits
from work.jobs.models import Job as QueuedJob
from work.jobs.tests.queueing import wait_until

MODEL, PROVIDER = "meshy-6", "meshy"
# What no order can cause: it opens the circuit at once, and again for as long as it lasts.
REFUSED_KEY = {"fail": "before", "status": 401, "times": 1}
DOWN = {"fail": "before", "status": 503, "times": 3}
# Asks for more time than a test has: `hasten` ends the pause.
PATIENT = {"fail": "before", "status": 503, "retry_after": 200, "times": 1}


@pytest.fixture
def alice(
    committed: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path: Path,
) -> Iterator[Artist]:
    """With a web process and a worker whose circuits open soon."""
    with (
        running_with_short_circuits(simulator, tmp_path) as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield new_artist(http, simulator)
    Provider.objects.update(is_off=False, models_off=[])


def failures_of(job: Job) -> int:
    return Operation.objects.get(pk=job["id"]).failures


def hasten(job: Job) -> None:
    """Try again now, and not when the provider has asked for it."""
    scheduled = QueuedJob.objects.filter(pk=job["id"], status=QueuedJob.Status.SCHEDULED)
    assert scheduled.update(due_at=timezone.now()) == 1


def is_refused(bob: Artist) -> bool:
    """Is an order refused before its hold? What is accepted is cancelled."""
    answer = bob.post(MODEL)
    if answer.status_code == 202:
        bob.send("POST", f"/api/jobs/{answer.json()['id']}/cancel")
    return bool(answer.status_code == 503)


def test_an_order_waits_until_its_provider_is_back(alice: Artist) -> None:
    """No probe is made of 3D models: their circuit closes by itself."""
    bob = new_artist(alice.http, alice.simulator, name="bob")
    job = alice.order(MODEL, steering=PATIENT)
    wait_until(lambda: failures_of(job) == 1, seconds=60)
    refused = bob.order(MODEL, steering=REFUSED_KEY)
    assert bob.ended(refused)["status"] == "failed"
    wait_until(lambda: is_refused(bob), seconds=4)
    hasten(job)
    wait_until(lambda: failures_of(job) >= 2, seconds=60)
    assert len(alice.calls()) == 1

    assert alice.ended(job)["status"] == "completed"
    assert alice.submissions() == ["refused", "completed"]
    alice.check_money()


def test_the_failures_of_one_order_close_a_model_for_nobody(alice: Artist) -> None:
    bob = new_artist(alice.http, alice.simulator, name="bob")
    job = alice.order(MODEL, steering=DOWN)
    wait_until(lambda: len(alice.calls()) == 3, seconds=60)
    assert not is_refused(bob)
    assert alice.ended(job)["status"] == "completed"
    assert alice.submissions() == ["refused"] * 3 + ["completed"]
    alice.check_money()


def test_an_order_waits_until_its_provider_is_switched_on(alice: Artist) -> None:
    bob = new_artist(alice.http, alice.simulator, name="bob")
    job = alice.order(MODEL, steering=PATIENT)
    wait_until(lambda: failures_of(job) == 1, seconds=60)
    switches.switch_provider(name=PROVIDER, is_off=True)
    wait_until(lambda: is_refused(bob), seconds=8)
    assert "retry-after" not in bob.post(MODEL).headers
    time.sleep(SWITCHES_SECONDS)  # until the worker has read of it, too
    hasten(job)
    wait_until(lambda: failures_of(job) >= 2, seconds=60)
    assert len(alice.calls()) == 1

    switches.switch_provider(name=PROVIDER, is_off=False)
    assert alice.ended(job)["status"] == "completed"
    assert len(alice.calls()) == 2
    alice.check_money()


def test_an_order_that_is_sent_again_is_answered_while_its_provider_is_off(alice: Artist) -> None:
    bob = new_artist(alice.http, alice.simulator, name="bob")
    key = {"Idempotency-Key": uuid7().hex}
    body = {"model": MODEL, "prompt": alice.prompt()}
    first = alice.send("POST", STUDIOS["3d"], json=body, headers=key)
    assert first.status_code == 202
    switches.switch_provider(name=PROVIDER, is_off=True)
    wait_until(lambda: is_refused(bob), seconds=8)

    again = alice.send("POST", STUDIOS["3d"], json=body, headers=key)
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (202, "true")
    assert again.json()["id"] == first.json()["id"]

    switches.switch_provider(name=PROVIDER, is_off=False)
    assert alice.ended(first.json())["status"] == "completed"
    alice.check_money()
