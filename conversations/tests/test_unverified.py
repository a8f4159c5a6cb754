"""Once the share of unverified accounts is used up, those who send are asked to verify."""

from collections.abc import Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from accounts.models import User
from conversations.tests.speaker import FREE_MODEL, Shape, Speaker, new_speaker
from simulator.process import RunningSimulator
from tests.service import running_web


@pytest.fixture(scope="module")
def nothing_left(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[httpx.Client]:
    """A service that has nothing for unverified accounts."""
    with (
        django_db_blocker.unblock(),
        running_web(simulator, FREE_UNVERIFIED_PERCENT="0") as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield http


@pytest.fixture
def charlie(committed: None, nothing_left: httpx.Client, simulator: RunningSimulator) -> Speaker:
    return new_speaker(nothing_left, simulator, name="charlie", plan="free", balance_usd=0)


def must_verify(person: Speaker) -> bool:
    answer = person.http.get("/api/users/me/entitlements", headers=person.headers)
    return bool(answer.json()["verify_email"])


@pytest.mark.parametrize("stream", [True, False])
def test_who_sends_is_told_and_sends_once_the_address_is_verified(
    charlie: Speaker, stream: bool
) -> None:
    conversation = charlie.begin()
    message: Shape = {"content": charlie.words(), "model": FREE_MODEL, "stream": stream}

    refused = charlie.ask("POST", f"/{conversation}/messages", **message)

    detail = refused.json()["detail"]
    assert (refused.status_code, detail["code"]) == (402, "verify_email")
    assert (detail["model_key"], detail["plan"]) == (FREE_MODEL, "free")
    assert charlie.detail(conversation)["messages"] == []
    assert charlie.charges() == []
    assert charlie.calls() == []
    assert must_verify(charlie)

    User.objects.filter(pk=charlie.user.pk).update(email_verified=True)

    assert not must_verify(charlie)
    assert charlie.ask("POST", f"/{conversation}/messages", **message).status_code == 200
