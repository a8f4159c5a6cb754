"""What the logs say of sockets: nothing, and least of all their tokens."""

import pytest

from events.tests.sockets import next_frame, open_socket, refusal_of, url_of
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import running_web

pytestmark = pytest.mark.usefixtures("committed")


@pytest.mark.parametrize("as_json", ["0", "1"])
def test_an_ordinary_socket_leaves_no_line(simulator: RunningSimulator, as_json: str) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with running_web(simulator, LOG_JSON=as_json) as web:
        with open_socket(web, alice, stream_id, after_seq=0) as socket:
            append(stream_id, "hello")
            next_frame(socket)
        refusal_of(url_of(web, stream_id, x="1", token="eyJhbGciOi.not-a-token.of-ours"))
        refusal_of(url_of(web, stream_id, token="another-secret"))
    written = web.process.report("wrote")
    assert "Application startup complete" in written
    assert "Shutting down" in written
    for word in ("WebSocket", "connection ", "/ws", "eyJ", "not-a-token", "another-secret"):
        assert word not in written
