"""Who sends messages that a provider fails on, again and again, is refused alone; free accounts of
one network share a quota."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from accounts.models import User
from conversations.tests.speaker import BALANCE_ONLY, FREE_MODEL, Speaker, new_speaker
from simulator.process import RunningSimulator
from tests.short_circuits import running_with_short_circuits
from work.jobs.tests.queueing import wait_until

DOWN = {"fail": "before", "status": 503}
QUOTA = 4


@pytest.fixture(scope="module")
def http(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[httpx.Client]:
    folder = Path(tmp_path_factory.mktemp("redis"))
    settings = {"FREE_FAILED_CALLS": str(QUOTA), "CALLER_FAILURES": str(2 * QUOTA)}
    with (
        django_db_blocker.unblock(),
        running_with_short_circuits(simulator, folder, **settings) as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield http


def free(http: httpx.Client, simulator: RunningSimulator, network: str) -> Speaker:
    """Somebody on the free plan whose account was created from this network."""
    speaker = new_speaker(http, simulator, plan="free", balance_usd=0)
    User.objects.filter(pk=speaker.user.pk).update(signup_network=network, email_verified=True)
    return speaker


def status(speaker: Speaker, **steering: Any) -> int:
    """Of the first answer to a message to a model that the free plan has."""
    content = speaker.words(**steering)
    path = f"/{speaker.begin(model=FREE_MODEL)}/messages"
    return speaker.ask("POST", path, content=content, stream=False).status_code


def test_free_accounts_of_a_network_share_a_small_quota_of_failed_calls(
    committed: None, http: httpx.Client, simulator: RunningSimulator
) -> None:
    attackers = [free(http, simulator, "192.0.2.0/24") for _ in range(3)]
    neighbour = free(http, simulator, "192.0.2.0/24")
    elsewhere = free(http, simulator, "198.51.100.0/24")
    paying = new_speaker(http, simulator)

    made = 0

    def is_refused() -> bool:
        nonlocal made
        made += 1
        return status(attackers[made % 3], **DOWN) == 429

    wait_until(is_refused, seconds=60)
    assert made >= QUOTA

    before = len(neighbour.calls())
    conversation = neighbour.begin(model=FREE_MODEL)
    answer = neighbour.ask("POST", f"/{conversation}/messages", content=neighbour.words())
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limit_exceeded")
    assert 1 <= int(answer.headers["retry-after"]) <= 600
    assert "Your own calls" in answer.json()["detail"]
    assert len(neighbour.calls()) == before, "before the provider is called"
    assert neighbour.charges() == []
    assert neighbour.detail(conversation)["messages"] == []

    assert status(elsewhere) == 200
    assert status(paying) == 200


def test_who_pays_is_refused_at_one_model_before_a_stream(
    committed: None, http: httpx.Client, simulator: RunningSimulator
) -> None:
    alice, bob = (new_speaker(http, simulator, name=name) for name in ("alice", "bob"))
    assert status(bob) == 200
    wait_until(lambda: status(alice, **DOWN) == 429, seconds=60)
    conversation = alice.begin(model=FREE_MODEL)
    answer = alice.ask("POST", f"/{conversation}/messages", content=alice.words())
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/json"
    other = alice.begin(model=BALANCE_ONLY)
    assert alice.send(other).finish
    assert status(bob) == 200
