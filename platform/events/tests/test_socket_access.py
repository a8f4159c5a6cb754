"""Who may open the socket of a stream, and what ends their right to it."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any
from uuid import UUID

import httpx
import jwt
import pytest
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from accounts import tokens
from accounts.models import User, UserSession
from accounts.services import users
from common.ids import uuid7
from devserver.ports import LOOPBACK
from events.tests.sockets import (
    TIMEOUT,
    close_code,
    next_frame,
    open_socket,
    refusal_of,
    token_of,
    url_of,
)
from events.tests.streams import append, new_stream
from server.client_limit import GENERAL_LIMIT
from server.rate_limit import MANY_REFUSALS
from server.tests.client import new_address
from server.tests.windows import use_up
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import Web, running_web
from tests.stopwatch import Stopwatch

pytestmark = pytest.mark.usefixtures("committed")

BEYOND_BIGINT = 2**63


def token_with(user: User, **changes: Any) -> str:
    """A token of the user's with other claims; None leaves one out."""
    claims = jwt.decode(token_of(user), options={"verify_signature": False}) | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, str(tokens._backends()[0].signing_key), algorithm="HS256")


def token_that_expires_in(seconds: float, user: User) -> str:
    return token_with(user, exp=time.time() + seconds)


def refresh_token_of(user: User) -> str:
    session = UserSession.objects.create(account=user)
    claims = tokens.RefreshClaims(user.pk, user.token_version, session.pk, session.current)
    return tokens.refresh_token(claims, timezone.now())


# --- By token -------------------------------------------------------------------------------------


def test_the_token_may_come_as_a_header(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    headers = {"Authorization": f"Bearer {token_of(alice)}"}
    with connect(url_of(web, stream_id), additional_headers=headers) as socket:
        append(stream_id, "hello")
        assert "hello" in next_frame(socket)


def test_the_header_wins_over_the_query(web: Web) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    stream_id = new_stream(alice)
    of_bob = url_of(web, stream_id, token=token_of(bob))
    headers = {"Authorization": f"Bearer {token_of(alice)}"}
    with connect(of_bob, additional_headers=headers) as socket:
        append(stream_id, "hello")
        assert "hello" in next_frame(socket)
    of_alice = url_of(web, stream_id, token=token_of(alice))
    assert refusal_of(of_alice, Authorization=f"Bearer {token_of(bob)}") == 4403


def test_another_scheme_is_no_token(web: Web) -> None:
    alice = new_user("alice")
    url = url_of(web, new_stream(alice), token=token_of(alice))
    with connect(url, additional_headers={"Authorization": "Basic YWxpY2U6cGFzc3dvcmQ="}) as socket:
        socket.ping().wait(5)


@pytest.mark.parametrize(
    "token",
    [
        lambda alice: "",
        lambda alice: "nonsense",
        lambda alice: "a" * 7_000,
        lambda alice: "%00%ff%F0%9F%98%80",
        lambda alice: token_of(alice)[:-2],
        lambda alice: token_of(alice) + "&token=",
        lambda alice: token_that_expires_in(-60, alice),
        lambda alice: token_with(alice, ver=alice.token_version + 1),
        lambda alice: token_with(alice, sub=str(uuid7())),
        lambda alice: token_with(alice, sid=str(uuid7())),
        lambda alice: token_with(
            alice, sid=str(UserSession.objects.create(account=new_user("bob")).pk)
        ),
        lambda alice: token_with(alice, sid=None),
        refresh_token_of,
    ],
    ids=[
        "empty",
        "nonsense",
        "long",
        "no text",
        "broken",
        "a second one",
        "expired",
        "revoked",
        "of nobody",
        "of no session",
        "of somebody else's session",
        "without a session",
        "refresh token",
    ],
)
def test_a_token_that_is_none_is_refused(web: Web, token: Callable[[User], str]) -> None:
    alice = new_user("alice")
    assert refusal_of(url_of(web, new_stream(alice), token=token(alice))) == 4401


def test_no_token_is_refused(web: Web) -> None:
    stream_id = new_stream(new_user("alice"))
    assert refusal_of(url_of(web, stream_id)) == 4401
    assert refusal_of(url_of(web, "nothing")) == 4401
    assert refusal_of(url_of(web, stream_id), Authorization="Bearer \xff") == 4401


def test_a_suspended_account_is_refused_and_a_deactivated_one_has_no_tokens(web: Web) -> None:
    for status, code in ((User.Status.SUSPENDED, 4403), (User.Status.DEACTIVATED, 4401)):
        alice = new_user("alice")
        stream_id = new_stream(alice)
        User.objects.filter(pk=alice.pk).update(status=status)
        assert refusal_of(url_of(web, stream_id, token=token_of(alice))) == code


# --- By stream ------------------------------------------------------------------------------------


def test_others_streams_other_kinds_missing_and_malformed_ones_are_not_told_apart(
    web: Web,
) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    ids: list[UUID | str] = [new_stream(bob), new_stream(alice, "project"), uuid7()]
    ids += ["nothing", "", "%00", "0" * 1_000, "..%2e"]
    codes = [refusal_of(url_of(web, stream_id, token=token_of(alice))) for stream_id in ids]
    assert codes == [4403] * len(ids)


@pytest.mark.parametrize("after_seq", ["-1", "", "ten", "1.5", "%D9%A3", BEYOND_BIGINT, "9" * 999])
def test_a_place_that_is_no_number_is_refused(web: Web, after_seq: str | int) -> None:
    alice = new_user("alice")
    url = url_of(web, new_stream(alice), token=token_of(alice), after_seq=after_seq)
    assert refusal_of(url) == 4422


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/council/ws", "/api/council/ws/a/b", "/v1/realtime", "/api/nothing"]
)
def test_an_unknown_path_is_no_socket(web: Web, path: str) -> None:
    with pytest.raises(InvalidStatus) as refused, connect(web.url.replace("http", "ws") + path):
        pass
    assert refused.value.response.status_code == 404
    assert refused.value.response.body.startswith(b'{"detail":')


def test_an_unknown_host_is_no_socket(web: Web) -> None:
    alice = new_user("alice")
    url = url_of(web, new_stream(alice), token=token_of(alice)).replace("127.0.0.1", "localhost")
    with connect(url):
        pass
    url = url.replace("localhost", "evil.example.com")
    with pytest.raises(InvalidStatus) as refused, connect(url, address=(LOOPBACK, web.port)):
        pass
    assert refused.value.response.status_code == 400


def test_many_who_ask_at_once_are_each_answered_for_themselves(web: Web) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    hers, his = new_stream(alice), new_stream(bob)
    revoked = token_with(alice, ver=alice.token_version + 1)
    asked = [
        (hers, token_of(alice), 0),
        (his, token_of(alice), 4403),
        (his, token_of(bob), 0),
        (hers, revoked, 4401),
        (uuid7(), token_of(bob), 4403),
    ] * 8

    def answer(stream_id: UUID, token: str) -> int:
        with connect(url_of(web, stream_id, token=token)) as socket:
            return 0 if is_open(socket) else close_code(socket)

    with ThreadPoolExecutor(len(asked)) as pool:
        answers = list(pool.map(lambda each: answer(*each[:2]), asked))
    assert answers == [code for _, _, code in asked]


# --- In mid-stream --------------------------------------------------------------------------------


def test_signing_out_ends_the_socket(quick_web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(quick_web, alice, stream_id) as socket:
        append(stream_id, "hello")
        next_frame(socket)
        users.revoke_sessions(user=alice)
        assert close_code(socket, timeout=4) == 4401


def test_a_suspension_ends_the_socket(quick_web: Web) -> None:
    alice = new_user("alice")
    with open_socket(quick_web, alice, new_stream(alice)) as socket:
        users.suspend(user=alice)
        assert close_code(socket, timeout=4) == 4403


def test_a_token_that_expires_ends_the_socket(quick_web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    began = time.monotonic()
    url = url_of(quick_web, stream_id, token=token_that_expires_in(2, alice))
    with Stopwatch() as watch, connect(url) as socket:
        assert close_code(socket, timeout=6) == 4401
    assert time.monotonic() - began > 1
    assert watch.seconds < 5


def test_other_sockets_stay_when_one_is_ended(quick_web: Web) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    his = new_stream(bob)
    with (
        open_socket(quick_web, alice, new_stream(alice)) as of_alice,
        open_socket(quick_web, bob, his) as of_bob,
    ):
        users.revoke_sessions(user=alice)
        assert close_code(of_alice, timeout=4) == 4401
        append(his, "still here")
        assert "still here" in next_frame(of_bob)


# --- How many -------------------------------------------------------------------------------------


def is_open(socket: ClientConnection) -> bool:
    with suppress(ConnectionClosed):
        return socket.ping().wait(TIMEOUT)
    return False


def test_a_user_has_so_many_sockets_and_one_more_when_one_is_closed(
    simulator: RunningSimulator,
) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    hers, his = new_stream(alice), new_stream(bob)
    with (
        running_web(simulator, MAX_SOCKETS_PER_USER="3", MAX_SOCKETS="5") as web,
        ExitStack() as stack,
    ):
        sockets = [stack.enter_context(open_socket(web, alice, hers)) for _ in range(5)]
        assert [is_open(socket) for socket in sockets] == [True] * 3 + [False] * 2
        assert sockets[-1].close_code == 4429
        with open_socket(web, bob, his), open_socket(web, bob, his) as of_bob:
            assert is_open(of_bob)
            assert refusal_of(url_of(web, his, token=token_of(bob))) == 1013
        sockets[0].close()
        with open_socket(web, alice, hers) as socket:
            append(hers, "hello")
            assert "hello" in next_frame(socket)


def test_handshakes_count_to_the_limit_of_their_address(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    url = url_of(web, stream_id, token=token_of(alice))
    address = new_address()
    use_up(f"general:{address}", GENERAL_LIMIT, but=1)
    with connect(url, source_address=(address, 0)) as socket:
        assert is_open(socket)
    with pytest.raises(InvalidStatus) as refused, connect(url, source_address=(address, 0)):
        pass
    assert refused.value.response.status_code == 429
    assert 1 <= int(refused.value.response.headers["retry-after"]) <= 60


def test_handshakes_of_a_client_that_looks_at_no_refusal_are_refused_too(web: Web) -> None:
    """As requests: their connections are no WebSockets, and end."""
    address = new_address()
    use_up(f"general:{address}", GENERAL_LIMIT)
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=web.url, transport=transport) as client:
        for _ in range(MANY_REFUSALS):
            assert client.get("/api/keys").status_code == 429
    with pytest.raises(InvalidStatus) as refused:
        connect(url_of(web, uuid7()), source_address=(address, 0))
    answer = refused.value.response
    assert answer.status_code == 429
    assert answer.headers["connection"] == "close"
    assert json.loads(answer.body)["code"] == "rate_limit_exceeded"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
