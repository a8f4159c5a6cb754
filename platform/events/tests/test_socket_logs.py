"""What the logs say of sockets: a line at the end of each, without its stream and its token."""

import pytest

from events.tests.sockets import next_frame, open_socket, refusal_of, url_of
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import running_web

pytestmark = pytest.mark.usefixtures("committed")


@pytest.mark.parametrize("as_json", ["0", "1"])
def test_a_socket_leaves_one_line_without_secrets(
    simulator: RunningSimulator, as_json: str
) -> None:
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
    assert written.count("WEBSOCKET") == written.count("/ws") == 3
    for word in ("WebSocket", "connection ", stream_id.hex, str(stream_id), "token="):
        assert word not in written
    for secret in ("eyJ", "not-a-token", "another-secret"):
        assert secret not in written
