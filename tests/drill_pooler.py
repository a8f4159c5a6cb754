"""Behind a pooler that gives one session to many transactions, everything works as without it."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from common.ids import uuid7
from devserver.paths import ROOT
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.chaos.councils import Council, customer
from tests.environment import inherited
from tests.personas import new_key
from tests.pgbouncer import needs_pgbouncer, running_pgbouncer
from tests.service import running_web
from tests.talk import Talk
from tests.worker import running_worker

pytestmark = [pytest.mark.usefixtures("committed"), needs_pgbouncer]

# Fewer sessions than clients, so that sessions are shared.
SESSIONS = "default_pool_size = 3"


def manage(*arguments: str, url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", *arguments],
        env={
            **inherited(),
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "DATABASE_URL": url,
            "REDIS_URL": os.environ["REDIS_URL"],
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_calls_replies_and_councils_work_on_shared_sessions(simulator: RunningSimulator) -> None:
    alice = customer("alice")
    _, key = new_key(alice)
    talk = Talk(alice)
    with running_pgbouncer(SESSIONS) as url:
        pooled: dict[str, Any] = {"DATABASE_URL": url, "DATABASE_POOLER": "transaction"}
        with (
            running_web(simulator, **pooled) as web,
            running_worker(simulator, **pooled),
            ThreadPoolExecutor(8) as threads,
        ):
            council = Council(alice, tokens=20, delay_ms=20)
            requests = [calls.body(uuid7().hex, stream=n % 2 == 0, tokens=5) for n in range(60)]
            answers = list(threads.map(lambda each: calls.post(web.url, key, each), requests))
            reading = talk.say(web.url, tokens=20, delay_ms=10)
            calls.wait_for(lambda: council.has_ended, seconds=30)
            with psycopg.connect(url.replace("/platform", "/pgbouncer"), autocommit=True) as admin:
                pools = admin.execute("SHOW SERVERS", prepare=False).fetchall()

    assert {answer.status_code for answer in answers} == {200}
    assert reading.ended
    assert council.ending == ("completed", None)
    assert len(pools) <= 3


def test_a_pooler_that_was_not_announced_is_refused_with_a_sentence() -> None:
    with running_pgbouncer() as url:
        refused = manage("check_connections", url=url)
    assert refused.returncode == 1
    assert "DATABASE_POOLER=transaction" in refused.stderr


def test_a_pooler_that_does_not_set_the_options_is_refused_with_a_sentence() -> None:
    with running_pgbouncer() as url:
        accepted = manage("check_connections", url=url, DATABASE_POOLER="transaction")
    with running_pgbouncer(sets_options=False) as url:
        refused = manage("check_connections", url=url, DATABASE_POOLER="transaction")
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert refused.returncode == 1
    assert "plan_cache_mode" in refused.stderr


def test_a_pooler_that_drops_our_options_unsaid_is_refused_with_a_sentence() -> None:
    drops = "ignore_startup_parameters = options, extra_float_digits"
    with running_pgbouncer(drops, sets_options=False) as url:
        refused = manage("check_connections", url=url)
    assert refused.returncode == 1
    assert "DATABASE_POOLER=transaction" in refused.stderr
