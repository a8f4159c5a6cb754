"""The line of a request that ends by an exception."""

import pytest
from uvicorn.protocols.utils import ClientDisconnected

from server.asgi import Application, Message, Receive, Scope, Send
from server.request_lines import RequestLines


def streaming(failure: Exception) -> Application:
    """An application whose answer has begun when it fails."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise failure

    return application


async def line_after(failure: Exception, capsys: pytest.CaptureFixture[str]) -> str:
    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        pass

    lines = RequestLines(streaming(failure), unlogged=())
    with pytest.raises(type(failure)):
        await lines({"type": "http", "method": "GET", "path": "/"}, receive, send)
    return capsys.readouterr().err


async def test_a_stream_that_we_break_is_a_warning_with_the_class_of_the_exception(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = await line_after(KeyError("secret"), capsys)
    assert "[warning" in line
    assert "status=200 code=internal_error cause=KeyError" in line
    assert "secret" not in line


async def test_a_client_that_has_gone_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    line = await line_after(ClientDisconnected(), capsys)
    assert "[info" in line
    assert "code=None cause=None" in line
