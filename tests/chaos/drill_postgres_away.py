"""PostgreSQL goes away for 45 seconds under running streams, and under a council."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from common.ids import uuid7
from devserver import postgres
from devserver.paths import PYTHONPATH, ROOT
from devserver.ports import free_port
from devserver.processes import Process
from simulator.process import RunningSimulator
from tests.chaos import calls
from tests.service import running_web
from tests.worker import running_worker

AWAY_SECONDS = 45
STREAMS, CARDS = 3, 2
# Longer than the outage, on both sides of it.
TOKENS, DELAY_MS = 120, 500
DATABASE = "away"


@pytest.mark.usefixtures("django_db_setup")
def test_running_calls_survive_it_and_are_settled_in_full(
    simulator: RunningSimulator, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing lapses: leases that ran out meanwhile get a minute to be renewed. And nothing is
    free: what the calls produced during the outage is told and settled after it."""
    data = Path(tmp_path_factory.mktemp("postgres")) / "data"
    let_others_in(data)
    port = free_port()
    with running_postgres(data, port) as server:
        database_url = postgres.url(port, DATABASE)
        environment = {"DATABASE_URL": database_url}
        postgres.create_database(port, DATABASE)
        key, token = prepare(environment)
        with (
            running_web(simulator, **environment) as web,
            running_worker(simulator, DATABASE_URL=database_url),
            httpx.Client(
                base_url=f"{web.url}/api/council",
                headers={"Authorization": f"Bearer {token}"},
                timeout=20,
            ) as councils,
            ThreadPoolExecutor(STREAMS) as threads,
        ):
            council, markers = uuid7().hex, [uuid7().hex for _ in range(STREAMS)]
            prompt = calls.body(council, tokens=TOKENS, delay_ms=DELAY_MS)["messages"][0]["content"]
            question = {"prompt": prompt, "models": [calls.MODEL] * CARDS}
            session = councils.post("/sessions", json=question).json()
            streams = [
                threads.submit(
                    calls.post,
                    web.url,
                    key,
                    calls.body(
                        marker, stream=True, max_tokens=200, tokens=TOKENS, delay_ms=DELAY_MS
                    ),
                )
                for marker in markers
            ]
            calls.wait_for(lambda: all(simulator.calls(marker) for marker in markers))
            calls.wait_for(lambda: len(simulator.calls(council)) == CARDS)
            server.stop()
            refused = calls.post(web.url, key, calls.body(uuid7().hex))
            time.sleep(AWAY_SECONDS)
            postgres.initialise(data)
            with running_postgres(data, port):
                with psycopg.connect(database_url) as connection:
                    assert connection.execute("SELECT * FROM lapsed_charges(10)").fetchall() == []
                    assert connection.execute("SELECT * FROM lapsed_jobs(10)").fetchall() == []
                answers = [stream.result(timeout=120) for stream in streams]
                charges = _wait_for_settlements(database_url)
                session = councils.get(f"/sessions/{session['id']}").json()
                texts = _streamed_texts(councils, session)
                _reconcile(environment)

    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "service_unavailable"
    assert all(answer.text.endswith("data: [DONE]\n\n") for answer in answers)
    assert [calls.emitted(simulator, marker) for marker in markers] == [TOKENS] * STREAMS
    assert charges == [("settled", TOKENS)] * (STREAMS + CARDS)
    assert session["status"] == "completed"
    assert texts == {card["id"]: card["content"] for card in session["cards"]}
    assert [len(text.split()) for text in texts.values()] == [TOKENS] * CARDS


@contextmanager
def running_postgres(data: Path, port: int) -> Iterator[Process]:
    postgres.initialise(data)
    process = Process(postgres.service(data, port))
    try:
        process.wait_until_ready(timeout=20)
        yield process
    finally:
        process.stop()


def let_others_in(folder: Path) -> None:
    """Where the tests run as root, PostgreSQL runs as somebody else, who must get to its files."""
    for parent in list(folder.parents)[:3]:
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(parent.stat().st_mode | 0o111)


def _streamed_texts(councils: httpx.Client, session: dict[str, Any]) -> dict[str, str]:
    """The text of each card, as its followers were told it."""
    texts = dict.fromkeys((card["id"] for card in session["cards"]), "")
    after = 0
    path = f"/sessions/{session['id']}/events"
    while events := councils.get(path, params={"after_seq": after}).json():
        for event in events:
            if event["type"] == "card.delta":
                assert event["data"]["offset"] == len(texts[event["data"]["card_id"]])
                texts[event["data"]["card_id"]] += event["data"]["text"]
        after = events[-1]["seq"]
    return texts


def prepare(environment: dict[str, str]) -> tuple[str, str]:
    """The schema, the seeds, and one account. Returns its key and an access token."""
    _manage(environment, "setup")
    script = (
        "from tests.personas import access_token_of, new_key, new_user;"
        "alice = new_user('alice', plan='max', balance_usd=50);"
        "print(new_key(alice)[1], access_token_of(alice))"
    )
    key, token = _manage(environment, "shell", "--verbosity", "0", "-c", script).split()
    return key, token


def _reconcile(environment: dict[str, str]) -> None:
    _manage(environment, "reconcile")


def _manage(environment: dict[str, str], *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        env={
            **os.environ,
            "PYTHONPATH": PYTHONPATH,
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def _wait_for_settlements(database_url: str) -> list[tuple[str, int]]:
    def resolved() -> list[tuple[str, int]] | None:
        with psycopg.connect(database_url) as connection:
            rows = connection.execute(
                "SELECT status, (units ->> 'tokens_out')::int FROM billing_charge"
            ).fetchall()
        return None if any(status == "held" for status, _ in rows) else rows

    return calls.wait_for(resolved, seconds=30)
