"""What reaches the logs, and what must not."""

import json
import subprocess
import sys

import pytest

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"


def log(statements: str, *, as_json: bool, level: str = "INFO") -> str:
    """What the statements write to stderr in a process with our logging."""
    script = (
        "import logging, structlog\n"
        "from common.logging import CallLine, configure\n"
        f"configure(json={as_json}, level={level!r})\n"
        f"{statements}\n"
    )
    return subprocess.run(  # noqa: S603 - this interpreter, our own statements
        [sys.executable, "-c", script],
        env={"PYTHONPATH": "platform"},
        capture_output=True,
        text=True,
        check=True,
    ).stderr


def test_production_logs_are_one_json_object_a_line() -> None:
    lines = log(
        "structlog.contextvars.bind_contextvars(request_id='req_1')\n"
        "structlog.get_logger('a').info('hold.placed', amount=5)\n"
        "logging.getLogger('b').warning('%s left', 3)",
        as_json=True,
    ).splitlines()
    ours, theirs = (json.loads(line) for line in lines)
    assert (ours["event"], ours["amount"], ours["level"]) == ("hold.placed", 5, "info")
    assert (theirs["event"], theirs["logger"], theirs["level"]) == ("3 left", "b", "warning")
    assert ours["request_id"] == theirs["request_id"] == "req_1"


@pytest.mark.parametrize("as_json", [True, False])
def test_no_secret_gets_through_by_argument_field_or_traceback(as_json: bool) -> None:
    key = "mk_" + "a1B2" * 11
    written = log(
        f"logging.getLogger().warning('called with %s', {key!r})\n"
        f"structlog.get_logger().warning('called', key={key!r}, header='Bearer {JWT}')\n"
        f"try: raise ValueError('/ws?token={JWT}')\n"
        "except ValueError: structlog.get_logger().exception('failed')\n"
        f"logging.getLogger('uvicorn.error').info('/ws?token={JWT}')\n"
        f"logging.getLogger('uvicorn.websocket').error('%s failed', '/ws?token={JWT}')\n"
        "logging.getLogger().error('cannot reach %s', 'redis://:hunter2@localhost:6379/0')\n"
        "structlog.get_logger().info('sent', reset_token='hunter3', link='/?reset_token=hunter4')",
        as_json=as_json,
    )
    assert key not in written
    assert JWT not in written
    assert "hunter" not in written
    assert written.count("[redacted]") >= 9


def test_a_redacted_line_is_still_json() -> None:
    line = log(f"structlog.get_logger().warning('x', header='Bearer {JWT}')", as_json=True)
    assert json.loads(line)["header"] == "Bearer [redacted]"


@pytest.mark.parametrize("as_json", [True, False])
def test_what_django_calls_suspicious_is_a_line_without_a_traceback(as_json: bool) -> None:
    written = log(
        "try: raise ValueError('too many fields')\n"
        "except ValueError as error:\n"
        "    logging.getLogger('django.security.X').error(str(error), exc_info=error)",
        as_json=as_json,
    )
    assert written.count("\n") == 1
    assert "too many fields" in written
    assert "warning" in written


A_CALL = (
    "class Ended(CallLine, tag_field='event', tag='call.ended'): tokens: int; code: str | None\n"
    "Ended(tokens=5, code=None).write()\n"
)


def test_the_line_of_a_call_looks_like_any_other() -> None:
    line = json.loads(log(A_CALL, as_json=True))
    assert line.pop("timestamp").endswith("Z")
    assert line == {"level": "info", "event": "call.ended", "tokens": 5, "code": None}
    readable = log(A_CALL, as_json=False)
    assert "[info     ] call.ended" in readable
    assert "tokens=5 code=None" in readable


@pytest.mark.parametrize(("level", "count"), [("DEBUG", 3), ("INFO", 3), ("ERROR", 1)])
def test_lines_below_the_level_are_not_written(level: str, count: int) -> None:
    statements = "structlog.get_logger().info('a')\n" + A_CALL + "structlog.get_logger().error('b')"
    assert len(log(statements, as_json=True, level=level).splitlines()) == count
