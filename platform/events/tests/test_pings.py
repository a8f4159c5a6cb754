"""Pings: every socket hears that the service is there, about every 20 seconds."""

import json
import time
from datetime import UTC, datetime

import pytest
from django.conf import settings

from events.tests.sockets import next_frame, open_socket
from events.tests.streams import append, new_stream
from tests.personas import new_user
from tests.service import Web

pytestmark = pytest.mark.usefixtures("committed")


def test_pings_come_every_20_seconds_where_nobody_says_otherwise() -> None:
    assert settings.SOCKET_TICK_SECONDS == 20


def test_a_silent_socket_is_pinged_again_and_again(quick_web: Web) -> None:
    alice = new_user("alice")
    with open_socket(quick_web, alice, new_stream(alice)) as socket:
        pings = [json.loads(socket.recv(3)) for _ in range(3)]
    for ping in pings:
        assert ping.keys() == {"type", "ts"}
        assert ping["type"] == "ping"
        said_at = datetime.fromisoformat(ping["ts"])
        assert abs((datetime.now(UTC) - said_at).total_seconds()) < 5
    assert len({ping["ts"] for ping in pings}) == 3


def test_a_client_may_answer_with_any_text_or_not_at_all(quick_web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(quick_web, alice, stream_id) as socket:
        for answer in ("pong", "", '{"type":"pong"}', "{", "\u2028", "x" * 4096):
            socket.send(answer)
        time.sleep(1.5)
        append(stream_id, "still here")
        assert "still here" in next_frame(socket)
