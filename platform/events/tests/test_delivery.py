"""Delivery: a socket gets what replay returns and what the log has, in order, once."""

import json
import time

import pytest

from events.tests.sockets import next_frame, open_socket
from events.tests.streams import append, new_stream
from tests.personas import new_user
from tests.service import Web

pytestmark = pytest.mark.usefixtures("committed")


def test_what_is_committed_is_delivered_at_once(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as socket:
        began = time.monotonic()
        append(stream_id, "hello")
        event = json.loads(next_frame(socket))
        assert time.monotonic() - began < 1
    assert (event["seq"], event["data"]) == (1, {"value": "hello"})
