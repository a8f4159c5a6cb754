"""An outage of PostgreSQL: who notices it, how long callers wait, and what is logged meanwhile."""

import json
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from common.outages import (
    AFTERMATH_SECONDS,
    KNOWN_PATIENCE_SECONDS,
    PATIENCE_SECONDS,
    UNSERVED_SECONDS,
    Outage,
    is_away,
)
from common.watched_connections import WatchedConnection
from devserver.ports import LOOPBACK, free_port

Line = dict[str, Any]


def lines(statements: str) -> list[Line]:
    """What the statements log in a process, in which `away()` tries to reach a server that is not
    there, and `back()` one that is."""
    script = (
        "import logging, psycopg, structlog\n"
        "from contextlib import suppress\n"
        "from common.logging import configure\n"
        "from common.outages import OUTAGE, report\n"
        "from common.watched_connections import WatchedConnection\n"
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
SAID = "try: raise {}\nexcept Exception as error: report(error)\n"
FAILURE = "try: away()\nexcept psycopg.OperationalError: log.{}('not_renewed')\n"


def test_an_outage_is_two_lines_however_often_it_is_met() -> None:
    away, back = lines(f"{FAILURE.format('warning') * 3}OUTAGE.count_refusal()\nback()\nback()")
    assert (away["event"], away["level"]) == ("database.away", "error")
    assert "Connection refused" in away["error"]
    assert (back["event"], back["level"]) == ("database.back", "warning")
    assert back["refused_requests"] == 1
    assert 0 <= back["seconds"] < 10


def test_failed_attempts_beside_connections_that_work_are_no_outage() -> None:
    beside = f"OUTAGE.served()\n{FAILURE.format('warning') * 2}{CONTENDED}\n"
    events = [line["event"] for line in lines(beside * 3)]
    assert events == ["not_renewed", "not_renewed", "a_lock"] * 3


def test_an_outage_is_told_where_the_last_connection_was_a_moment_ago() -> None:
    met = f"{FAILURE.format('info')}import time\ntime.sleep({UNSERVED_SECONDS})\n"
    events = lines(f"OUTAGE.served()\n{met}{FAILURE.format('warning')}OUTAGE.served()")
    away, back = [line for line in events if line["event"].startswith("database")]
    assert (away["event"], back["event"]) == ("database.away", "database.back")
    assert back["seconds"] >= UNSERVED_SECONDS


def test_what_a_database_says_is_logged() -> None:
    [failed] = lines(SAID.format("psycopg.errors.DiskFull('no space')"))
    assert (failed["event"], failed["level"]) == ("database.failed", "warning")
    assert "no space" in failed["exception"]


def test_it_is_not_while_there_is_an_outage_nor_that_somebody_has_waited_in_vain() -> None:
    meanwhile = f"{FAILURE.format('warning')}{SAID.format('psycopg.OperationalError')}"
    assert [line["event"] for line in lines(meanwhile)] == ["database.away"]
    assert lines(SAID.format("TimeoutError")) == []


def test_who_learns_just_after_it_that_they_have_waited_in_vain_in_it_adds_nothing() -> None:
    vain = (
        "try: raise PoolTimeout\n"
        "except psycopg.OperationalError:\n"
        "    back()\n"
        "    log.warning('not_renewed')\n"
    )
    met = f"from psycopg_pool import PoolTimeout\n{FAILURE.format('info')}{vain}"
    assert [line["event"] for line in lines(met)] == ["database.away", "database.back"]
    later = f"import time\ntime.sleep({AFTERMATH_SECONDS})\n{vain}"
    assert lines(f"{met}{later}")[-1]["event"] == "not_renewed"


@pytest.mark.parametrize(
    ("message", "count"),
    [
        ("error connecting in %r: %s", 0),
        ("reconnection attempt in pool %r failed after %s sec", 0),
        ("rolling back returned connection: %s", 1),
    ],
)
def test_the_pools_warn_of_what_is_no_outage(message: str, count: int) -> None:
    values = ", 1" * message.count("%")
    assert len(lines(f"logging.getLogger('psycopg.pool').warning({message!r}{values})")) == count


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


def test_callers_wait_for_connections_that_work_although_there_are_no_more() -> None:
    outage = Outage()
    with pytest.raises(psycopg.OperationalError), outage.watched():
        raise psycopg.OperationalError("too many clients")
    outage.served()
    assert outage.patience == PATIENCE_SECONDS
    with suppress(psycopg.OperationalError), outage.watched():
        outage.served()
        raise psycopg.OperationalError("timeout expired")
    assert outage.patience == PATIENCE_SECONDS


def test_what_is_raised_for_an_error_of_the_connection_is_one() -> None:
    error = RuntimeError()
    error.__cause__ = psycopg.OperationalError()
    assert is_away(error)
    assert not is_away(psycopg.errors.UniqueViolation())
    assert not is_away(None)
