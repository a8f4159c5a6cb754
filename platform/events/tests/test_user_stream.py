"""A user's own stream: replay and socket deliver the same, and what is deleted is said to be."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.test import APIClient
from websockets.sync.client import ClientConnection, connect

from accounts import tokens
from accounts.models import User
from accounts.services import users
from common.batching import Batcher
from common.database import get_database
from common.ids import uuid7
from conftest import Persona
from events import services, sweeps
from events.errors import EventsPurged
from events.models import Event, Stream
from events.selectors import read_frames
from events.subscribers import Buffer, Socket, Subscriber
from events.tests.sockets import close_code, next_frame, next_frames, refusal_of, token_of
from events.tests.streams import append, append_user_events, new_stream, user_events
from events.types import NewEvent, ToUser
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import Web, database_url

PATH = "/api/events"


def get(client: APIClient, **query: Any) -> HttpResponse:
    response: HttpResponse = client.get(PATH, query)
    return response


def seqs(response: HttpResponse) -> list[int]:
    assert response.status_code == 200, response.content
    return [event["seq"] for event in json.loads(response.content)]


def url_of(web: Web, user: User, **query: Any) -> str:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{web.url.replace('http', 'ws')}/api/ws?token={token_of(user)}&{text}"


@pytest.fixture
def committed_alice(committed: None) -> User:
    return new_user("alice")


def open_own(web: Web, user: User, **query: Any) -> ClientConnection:
    return connect(url_of(web, user, **query))


# --- Replay ---------------------------------------------------------------------------------------


def test_everybody_has_one_from_the_moment_they_sign_up(alice: Persona) -> None:
    response = get(alice.client)
    assert (response.status_code, response.content) == (200, b"[]")
    assert response["X-Next-Seq"] == "0"
    assert response["Content-Type"] == "application/json"


def test_an_event_has_the_shape_of_all_events(alice: Persona) -> None:
    append_user_events(alice.user, "Gr\u00fc\u00dfe")
    [event] = json.loads(get(alice.client, after_seq=0).content)
    assert list(event) == ["seq", "type", "session_id", "created_at", "actor", "data"]
    assert (event["seq"], event["type"]) == (1, "conversation.updated")
    assert (event["session_id"], event["data"]) == (
        str(alice.user.pk),
        {"value": "Gr\u00fc\u00dfe"},
    )


def test_without_a_place_there_is_nothing_but_how_far_it_has_come(alice: Persona) -> None:
    append_user_events(alice.user, *range(5))
    response = get(alice.client)
    assert (response.content, response["X-Next-Seq"]) == (b"[]", "5")


def test_pages_lead_on(alice: Persona) -> None:
    append_user_events(alice.user, *range(5))
    response = get(alice.client, after_seq=1, limit=3)
    assert (seqs(response), response["X-Next-Seq"]) == ([2, 3, 4], "4")
    assert seqs(get(alice.client, after_seq=4)) == [5]


@pytest.mark.parametrize("parameter", ["after_seq", "limit"])
def test_what_is_no_number_is_refused(alice: Persona, parameter: str) -> None:
    response = get(alice.client, **{"after_seq": 0, parameter: "ten"})
    assert response.status_code == 422
    assert json.loads(response.content)["errors"][0]["loc"] == [parameter]


def test_a_limit_of_nothing_is_refused_wherever_one_begins(alice: Persona) -> None:
    for query in ({"after_seq": 0, "limit": 0}, {"limit": 0}):
        assert get(alice.client, **query).status_code == 422


def test_nobody_reads_anothers(alice: Persona, bob: Persona) -> None:
    append_user_events(alice.user, "hers")
    assert seqs(get(bob.client, after_seq=0)) == []
    path = f"/api/council/sessions/{alice.user.pk}/events"
    assert alice.client.get(path).status_code == bob.client.get(path).status_code == 404


def test_who_is_not_signed_in_reads_none(visitor: APIClient) -> None:
    assert get(visitor).status_code == 401


# --- Writing --------------------------------------------------------------------------------------


def test_one_statement_writes_to_a_session_and_to_its_user(alice: Persona) -> None:
    stream_id = new_stream(alice.user)
    event = NewEvent("council.updated", {})
    with transaction.atomic():
        to_user = ToUser(alice.user.pk, [event, event])
        assert services.append(stream_id=stream_id, events=[event], to_users=[to_user]) == 1
    assert Event.objects.filter(stream=stream_id).count() == 1
    assert len(user_events(alice.user)) == 2


def test_what_is_rolled_back_is_not_told(alice: Persona) -> None:
    with transaction.atomic():
        append_user_events(alice.user, "hello")
        services.open_stream(
            stream_id=uuid7(),
            kind="reply",
            account=alice.user,
            to_users=[ToUser(alice.user.pk, [NewEvent("conversation.replied", {})])],
        )
        transaction.set_rollback(True)
    assert user_events(alice.user) == []


def test_nothing_is_told_outside_of_a_transaction(committed_alice: User) -> None:
    alice = committed_alice
    to_user = ToUser(alice.pk, [NewEvent("council.updated", {})])
    with pytest.raises(RuntimeError, match="in the transaction"):
        services.append_to_user(user_id=alice.pk, events=to_user.events)
    with pytest.raises(RuntimeError, match="in the transaction"):
        services.open_stream(stream_id=uuid7(), kind="reply", account=alice, to_users=[to_user])
    assert user_events(alice) == []


def test_numbers_have_no_gaps_however_many_write(committed_alice: User) -> None:
    alice = committed_alice
    streams = [new_stream(alice) for _ in range(4)]

    def write(number: int) -> None:
        event = NewEvent("council.updated", {"n": number})
        with transaction.atomic():
            to_user = ToUser(alice.pk, [event])
            services.append(stream_id=streams[number % 4], events=[event], to_users=[to_user])
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(80)))
    log = Event.objects.filter(stream=alice.pk).order_by("seq")
    assert list(log.values_list("seq", flat=True)) == list(range(1, 81))
    assert sorted(data["n"] for _, data in user_events(alice)) == list(range(80))


def test_a_sessions_stream_is_taken_before_its_users(committed_alice: User) -> None:
    """All who write to both take them in this order, so that none waits for another in a circle."""
    alice = committed_alice
    stream_id = new_stream(alice)
    event = NewEvent("council.updated", {})

    def write() -> None:
        with transaction.atomic():
            to_user = ToUser(alice.pk, [event])
            services.append(stream_id=stream_id, events=[event], to_users=[to_user])
        connection.close()

    lock = "SELECT FROM events_stream WHERE id = %s FOR UPDATE NOWAIT"
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute(lock, (alice.pk,))
        writing = pool.submit(write)
        wait_until_blocked(holder)
        with (
            psycopg.connect(database_url()) as other,
            pytest.raises(psycopg.errors.LockNotAvailable),
        ):
            other.execute(lock, (stream_id,))
        holder.rollback()
        writing.result()
    assert len(user_events(alice)) == 1


# --- The socket -----------------------------------------------------------------------------------


def test_the_socket_delivers_exactly_what_replay_returns(web: Web, committed_alice: User) -> None:
    alice = committed_alice
    append_user_events(alice, "before")
    with open_own(web, alice) as socket, open_own(web, alice, after_seq=0) as from_start:
        append_user_events(alice, "one", "two")
        frames = next_frames(socket, 2)
        assert [next_frame(from_start) for _ in range(3)][1:] == frames
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {token_of(alice)}")
    page = get(client, after_seq=1)
    assert page.content.decode() == f"[{','.join(frames)}]"


def test_a_socket_is_its_token_bearers(web: Web, committed_alice: User) -> None:
    bob = new_user("bob")
    with open_own(web, bob) as socket:
        append_user_events(committed_alice, "hers")
        append_user_events(bob, "his")
        assert json.loads(next_frame(socket))["data"] == {"value": "his"}


def test_who_may_not_open_it_is_told_as_on_all_sockets(web: Web, committed_alice: User) -> None:
    alice = committed_alice
    url = f"{web.url.replace('http', 'ws')}/api/ws"
    assert refusal_of(url) == refusal_of(f"{url}?token=nonsense") == 4401
    assert refusal_of(url_of(web, alice, after_seq="ten")) == 4422
    User.objects.filter(pk=alice.pk).update(status=User.Status.SUSPENDED)
    assert refusal_of(url_of(web, alice)) == 4403
    User.objects.filter(pk=alice.pk).update(status=User.Status.DEACTIVATED)
    assert refusal_of(url_of(web, alice)) == 4401


def test_signing_out_ends_it(quick_web: Web, committed_alice: User) -> None:
    with open_own(quick_web, committed_alice) as socket:
        users.revoke_sessions(user=committed_alice)
        assert close_code(socket, timeout=4) == 4401


# --- What is old ----------------------------------------------------------------------------------


def age(user: User, *seqs: int, days: int = 8) -> None:
    long_ago = timezone.now() - timedelta(days=days)
    Event.objects.filter(stream=user.pk, seq__in=seqs).update(created_at=long_ago)


def kept(user: User) -> list[int]:
    events = Event.objects.filter(stream=user.pk).order_by("seq")
    return list(events.values_list("seq", flat=True))


def test_events_go_after_7_days_and_numbers_go_on(alice: Persona, bob: Persona) -> None:
    append_user_events(alice.user, *range(5))
    append_user_events(bob.user, *range(2))
    age(alice.user, 1, 2, 3)
    age(bob.user, 1, 2, days=6)
    assert sweeps.purge_user_events(limit=1) == 3
    assert (kept(alice.user), kept(bob.user)) == ([4, 5], [1, 2])
    append_user_events(alice.user, "next")
    assert kept(alice.user) == [4, 5, 6]
    assert sweeps.purge_user_events() == 0


def test_all_may_go(alice: Persona) -> None:
    append_user_events(alice.user, *range(3))
    age(alice.user, 1, 2, 3)
    assert sweeps.purge_user_events() == 3
    assert seqs(get(alice.client, after_seq=3)) == []
    assert get(alice.client)["X-Next-Seq"] == "3"


def test_the_newest_are_kept_only(alice: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweeps.KEPT_EVENTS == 10_000
    monkeypatch.setattr(sweeps, "KEPT_EVENTS", 3)
    append_user_events(alice.user, *range(10))
    assert sweeps.purge_user_events() == 7
    assert kept(alice.user) == [8, 9, 10]


def test_sessions_keep_theirs(alice: Persona) -> None:
    stream_id = new_stream(alice.user, events=2)
    Event.objects.filter(stream=stream_id).update(created_at=timezone.now() - timedelta(days=99))
    assert sweeps.purge_user_events() == 0
    assert Event.objects.filter(stream=stream_id).count() == 2


def test_who_asks_for_deleted_ones_is_told_to_load_anew(alice: Persona) -> None:
    append_user_events(alice.user, *range(5))
    age(alice.user, 1, 2, 3)
    sweeps.purge_user_events()
    for after_seq in (0, 2):
        response = get(alice.client, after_seq=after_seq)
        body = json.loads(response.content)
        assert (response.status_code, body["code"]) == (410, "events_purged")
        assert body["next_seq"] == 5
        assert body["detail"] == EventsPurged.message
    assert seqs(get(alice.client, after_seq=3)) == [4, 5]


def test_a_socket_from_before_is_closed_with_4410(web: Web, committed_alice: User) -> None:
    alice = committed_alice
    append_user_events(alice, *range(5))
    age(alice, 1, 2, 3)
    sweeps.purge_user_events()
    assert refusal_of(url_of(web, alice, after_seq=2)) == 4410
    with open_own(web, alice, after_seq=3) as socket:
        assert [json.loads(frame)["seq"] for frame in next_frames(socket, 2)] == [4, 5]


def test_a_stream_that_is_deleted_closes_its_sockets(web: Web, committed_alice: User) -> None:
    alice = committed_alice
    stream_id: UUID = new_stream(alice)
    url = f"{web.url.replace('http', 'ws')}/api/council/ws/{stream_id}?token={token_of(alice)}"
    with connect(url) as socket:
        with transaction.atomic():
            deleted = ToUser(alice.pk, [NewEvent("council.deleted", {})])
            services.delete_stream(stream_id=stream_id, to_user=deleted)
        assert close_code(socket, timeout=4) == 4403
    assert not Stream.objects.filter(pk=stream_id).exists()
    assert [kind for kind, _ in user_events(alice)] == ["council.deleted"]


def test_a_stream_is_deleted_while_an_event_is_written(committed_alice: User) -> None:
    alice = committed_alice
    stream_id = new_stream(alice, events=1)

    def delete() -> None:
        with transaction.atomic():
            services.delete_stream(stream_id=stream_id, to_user=ToUser(alice.pk, []))
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            append(stream_id, 1)
            deleting = pool.submit(delete)
            wait_until_blocked(connection.connection)
        deleting.result()
    assert not Stream.objects.filter(pk=stream_id).exists()


def code_of_one_behind(user: User, stream_id: UUID, seq: int, head: int) -> int:
    """What a socket is closed with that has come to `seq` of a stream whose head was read."""
    claims = tokens.read_access(token_of(user))

    async def follow() -> int:
        closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def send(text: str) -> None:
            raise AssertionError(text)

        async def close(code: int) -> None:
            closed.set_result(code)

        read = partial(read_frames, get_database().lane())
        buffer = Buffer(stream_id, head)
        Subscriber(buffer, seq, claims, Socket(send, close), Batcher(read)).open()
        try:
            async with asyncio.timeout(5):
                return await closed
        finally:
            await get_database().close()

    return asyncio.run(follow())


@pytest.mark.parametrize("gone", [3, 5], ids=["some", "all"])
def test_a_socket_that_is_far_behind_when_they_go_is_closed_too(
    committed_alice: User, gone: int
) -> None:
    alice = committed_alice
    append_user_events(alice, *range(5))
    age(alice, *range(1, gone + 1))
    sweeps.purge_user_events()
    assert code_of_one_behind(alice, alice.pk, seq=1, head=5) == 4410
    assert code_of_one_behind(alice, uuid7(), seq=1, head=5) == 4403
