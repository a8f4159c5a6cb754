"""Who reads a reply by a session that is ended reads no further; the reply goes on without them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from accounts import tokens
from accounts.models import User, UserSession
from accounts.services import users
from accounts.services.sessions import end_other_sessions, end_session
from billing.models import Charge
from conversations.models import Message
from conversations.tests.conftest import NewSpeaker
from conversations.tests.speaker import EndOfStream, Speaker, Stream
from simulator.process import RunningSimulator
from tests.service import running_web

# A reply of three seconds.
STEERING: dict[str, Any] = {"tokens": 60, "delay_ms": 50}


@pytest.fixture(scope="module")
def http(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[httpx.Client]:
    """A service that looks at all tokens once an hour: whoever is ended here, is so by the end of
    the session."""
    with (
        django_db_blocker.unblock(),
        running_web(simulator, SOCKET_TICK_SECONDS="3600") as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield http


def new_session(user: User) -> tuple[UserSession, dict[str, str]]:
    """Another session, and the header of its requests."""
    session = UserSession.objects.create(account=user)
    claims = tokens.Claims(user.pk, user.token_version, session.pk)
    return session, {"Authorization": f"Bearer {tokens.access_token(claims)}"}


def sign_out(user: User) -> None:
    users.revoke_sessions(user=user)


def end_each(user: User) -> None:
    for session in user.sessions.all():
        end_session(user=user, session_id=session.pk)


def suspend(user: User) -> None:
    users.suspend(user=user)


def assert_ends_early(stream: Stream) -> None:
    with pytest.raises(EndOfStream):
        stream.until("[DONE]")


def assert_completed_and_billed_once(person: Speaker, *, payer: Speaker | None = None) -> None:
    """The only reply in conversations of that person's was written, and paid by `payer`, who is the
    same person if nobody is named."""
    payer = payer or person
    deadline = time.monotonic() + 20
    replies = Message.objects.filter(conversation__account=person.user, role="assistant")
    while (reply := replies.get()).status == Message.Status.RUNNING:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert reply.status == Message.Status.COMPLETED
    charge = payer.charge(str(reply.pk))
    assert (charge.account, charge.status) == (payer.user, Charge.Status.SETTLED)
    assert len(payer.calls()) == 1


def begin(person: Speaker) -> str:
    """A conversation whose title is not asked of a model."""
    return person.begin(title="The sea")


@pytest.mark.parametrize("end", [sign_out, end_each, suspend])
def test_all_readers_stop_and_the_reply_goes_on(
    speaker: NewSpeaker, end: Callable[[User], None]
) -> None:
    alice = speaker()
    path = f"/{begin(alice)}"
    content = alice.words(**STEERING)
    with ExitStack() as stack:
        asked = stack.enter_context(alice.stream("POST", f"{path}/messages", content=content))
        asked.until("text-delta")
        came_back = stack.enter_context(alice.stream("GET", f"{path}/stream"))
        came_back.until("text-delta")
        end(alice.user)
        assert_ends_early(asked)
        assert_ends_early(came_back)
    assert_completed_and_billed_once(alice)


def test_who_waits_for_one_json_gets_none(speaker: NewSpeaker) -> None:
    alice = speaker()
    url = f"/api/conversations/{begin(alice)}/messages"
    body = {"content": alice.words(**STEERING), "stream": False}
    with alice.http.stream("POST", url, json=body, headers=alice.headers) as answer:
        sign_out(alice.user)
        with pytest.raises(json.JSONDecodeError):
            json.loads(answer.read())
    assert_completed_and_billed_once(alice)


def test_readers_of_other_sessions_read_on(speaker: NewSpeaker) -> None:
    alice = speaker()
    _, here = new_session(alice.user)
    elsewhere, there = new_session(alice.user)
    path = f"/{begin(alice)}"
    content = alice.words(**STEERING)
    with (
        alice.stream("POST", f"{path}/messages", here, content=content) as kept,
        alice.stream("GET", f"{path}/stream", there) as ended,
    ):
        ended.until("text-delta")
        end_session(user=alice.user, session_id=elsewhere.pk)
        assert_ends_early(ended)
        kept.to_the_end()
    assert_completed_and_billed_once(alice)


def test_the_session_that_ends_the_others_reads_on(speaker: NewSpeaker) -> None:
    alice = speaker()
    mine, here = new_session(alice.user)
    _, there = new_session(alice.user)
    path = f"/{begin(alice)}"
    content = alice.words(**STEERING)
    with (
        alice.stream("POST", f"{path}/messages", there, content=content) as ended,
        alice.stream("GET", f"{path}/stream", here) as kept,
    ):
        kept.until("text-delta")
        end_other_sessions(user=alice.user, session_id=mine.pk)
        assert_ends_early(ended)
        kept.to_the_end()


def test_a_stolen_refresh_token_that_is_seen_twice_ends_the_readers_of_its_session(
    speaker: NewSpeaker, http: httpx.Client
) -> None:
    alice = speaker()
    session, headers = new_session(alice.user)
    claims = tokens.RefreshClaims(
        alice.user.pk, alice.user.token_version, session.pk, session.previous or session.pk
    )
    stolen = tokens.refresh_token(claims, session.rotated_at)
    content = alice.words(**STEERING)
    with alice.stream("POST", f"/{begin(alice)}/messages", headers, content=content) as stream:
        stream.until("text-delta")
        answer = http.post("/api/auth/refresh", json={"refresh_token": stolen})
        assert answer.status_code == 401
        assert_ends_early(stream)
    assert_completed_and_billed_once(alice)
