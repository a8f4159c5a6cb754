"""What `make run` shows of the lines of its parts."""

import json

import pytest
from django.core.mail import EmailMessage

from devserver.lines import LONGEST, QUIET_SECONDS, NotableLines
from devserver.mails import summary


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def text(level: str, rest: str) -> str:
    return f"2026-11-28T07:23:16.356476Z [{level:<9}] {rest}"


@pytest.mark.parametrize("level", ["warning", "error", "critical"])
def test_warnings_and_errors_are_shown_in_one_line(level: str) -> None:
    line = text(level, "email.not_sent                 [accounts.services.emails] attempt=1 id=7")
    assert NotableLines().notable(line) == f"{level} email.not_sent attempt=1 id=7"


@pytest.mark.parametrize(
    "line",
    [
        text("info", "call.ended                     status=200"),
        text(
            "info", "Discarding revoked task: work.jobs.tasks.record_heartbeat[1] [celery.worker]"
        ),
        text("debug", "a [error] in a text"),
        "Traceback (most recent call last):",
        '  File "a.py", line 1',
        "",
        "{",
        '{"level": "info", "event": "call.ended"}',
        "[]",
    ],
)
def test_everything_else_is_for_the_log_alone(line: str) -> None:
    assert NotableLines().notable(line) is None


def test_a_log_in_json_is_read_too() -> None:
    record = {
        "timestamp": "2026-11-28T07:23:16Z",
        "level": "error",
        "event": "jobs.failed",
        "logger": "jobs",
        "id": 7,
        "exception": "Traceback\n  File",
    }
    assert NotableLines().notable(json.dumps(record)) == "error jobs.failed id=7"


def test_a_long_line_is_cut() -> None:
    shown = NotableLines().notable(text("error", f"a.b text={'x' * 10_000}"))
    assert shown is not None
    assert len(shown) == LONGEST
    assert shown.endswith("...")


def test_what_comes_again_and_again_is_counted() -> None:
    clock = Clock()
    lines = NotableLines(clock)
    outage = [lines.notable(text("warning", f"database.away attempt={n}")) for n in range(1, 43)]
    assert outage == ["warning database.away attempt=1", *[None] * 41]
    assert lines.notable(text("error", "jobs.failed id=7")) == "error jobs.failed id=7"
    clock.now = QUIET_SECONDS
    again = lines.notable(text("warning", "database.away attempt=43"))
    assert again == "warning database.away attempt=43 (and 41 more like it)"
    clock.now *= 2
    assert lines.notable(text("warning", "database.away attempt=44")) == (
        "warning database.away attempt=44"
    )


def test_sentences_that_differ_by_a_number_are_of_one_kind() -> None:
    lines = NotableLines()
    first = text("error", "Service Unavailable: /api/keys/1 [django.request] status_code=503")
    assert lines.notable(first) is not None
    assert lines.notable(first.replace("keys/1", "keys/2")) is None


def test_a_mail_is_a_line_with_its_link() -> None:
    body = "Open this address:\n\nhttp://127.0.0.1:8000/verify-email?token=abc\n\nBye."
    mail = EmailMessage("Confirm your address", body, to=["alice@example.com"])
    line = "Mail to alice@example.com: Confirm your address: "
    assert summary(mail) == f"{line}http://127.0.0.1:8000/verify-email?token=abc"
    assert NotableLines().notable(summary(mail)) == summary(mail)
    without = EmailMessage("Your password was changed", "Was it you?", to=["bob@example.com"])
    assert summary(without) == "Mail to bob@example.com: Your password was changed"
