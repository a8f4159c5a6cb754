"""An outage of PostgreSQL: who notices it, how long callers wait, and what is logged meanwhile."""

import json
import subprocess
import sys
import time
from typing import Any

import psycopg
import pytest

from common.outages import (
    KNOWN_PATIENCE_SECONDS,
    PATIENCE_SECONDS,
    Outage,
    WatchedConnection,
    is_away,
)
from devserver.ports import LOOPBACK, free_port

Line = dict[str, Any]


def lines(statements: str) -> list[Line]:
    """What the statements log in a process, in which `away()` tries to reach a server that is not
    there, and `back()` one that is."""
    script = (
        "import logging, psycopg, structlog\n"
        "from contextlib import suppress\n"
        "from common.logging import configure\n"
        "from common.outages import OUTAGE, WatchedConnection\n"
        "configure(json=True)\n"
        "log = structlog.get_logger()\n"
        f"def away(): WatchedConnection.connect(host='{LOOPBACK}', port={free_port()})\n"
        "def back():\n"
        "    with OUTAGE.watched(): pass\n"
        f"{statements}\n"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, our own statements
        [sys.executable, "-c", script],
        env={"PYTHONPATH": "platform"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stderr.splitlines()]


CONTENDED = "try: raise psycopg.OperationalError\nexcept psycopg.Error: log.warning('a_lock')"
FAILURE = "try: away()\nexcept psycopg.OperationalError: log.{}('not_renewed')\n"


def test_an_outage_is_two_lines_however_often_it_is_met() -> None:
    away, back = lines(f"{FAILURE.format('warning') * 3}OUTAGE.count_refusal()\nback()\nback()")
    assert (away["event"], away["level"]) == ("database.away", "error")
    assert "Connection refused" in away["error"]
    assert (back["event"], back["level"]) == ("database.back", "warning")
    assert back["refused_requests"] == 1
    assert 0 <= back["seconds"] < 10


@pytest.mark.parametrize(
    "statements",
    [
        FAILURE.format("exception"),
        f"{FAILURE.format('info')}log.warning('of_something_else')",
        f"{FAILURE.format('info')}try: 1 / 0\nexcept ArithmeticError: log.warning('else')",
        f"{FAILURE.format('info')}back()\n{CONTENDED}",
    ],
    ids=["an error", "no exception", "another exception", "after the outage"],
)
def test_other_lines_are_written_meanwhile(statements: str) -> None:
    assert [line["event"] for line in lines(statements) if "database" not in line["event"]] != []


def test_a_periodic_task_that_fails_of_it_leaves_no_traceback() -> None:
    task = (
        "try: {}\n"
        "except Exception as error:\n"
        "    logging.getLogger('celery.app.trace').error('x', exc_info=error)"
    )
    [away] = lines(task.format("away()"))
    assert away["event"] == "database.away"
    _, failed = lines(f"{FAILURE.format('info')}{task.format('1 / 0')}")
    assert "ZeroDivisionError" in failed["exception"]


def test_callers_wait_for_a_short_outage_and_hardly_in_a_long_one() -> None:
    outage = Outage()
    assert outage.patience == PATIENCE_SECONDS
    with pytest.raises(psycopg.OperationalError), outage.watched():
        WatchedConnection.connect(host=LOOPBACK, port=free_port())
    time.sleep(0.5)
    assert KNOWN_PATIENCE_SECONDS < outage.patience < PATIENCE_SECONDS - 0.4
    time.sleep(PATIENCE_SECONDS - 0.5)
    assert outage.patience == KNOWN_PATIENCE_SECONDS
    with outage.watched():
        pass
    assert outage.patience == PATIENCE_SECONDS


def test_what_is_raised_for_an_error_of_the_connection_is_one() -> None:
    error = RuntimeError()
    error.__cause__ = psycopg.OperationalError()
    assert is_away(error)
    assert not is_away(psycopg.errors.UniqueViolation())
    assert not is_away(None)
