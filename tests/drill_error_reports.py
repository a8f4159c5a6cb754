"""Reports of errors, as Sentry receives them: what has failed and where, and nothing of what users
have sent."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from simulator.process import RunningSimulator
from studios.tests.artist import Artist, new_artist
from tests.collector import Sentry, new_trace, running_collector, running_sentry, silent_server
from tests.personas import access_token_of
from tests.service import database_url, run_to_its_end, running_web
from tests.worker import running_worker

PICTURES = "gpt-image-2.5-flare"
PROMPT = "the lighthouse of Alice's grandmother"
# A process in which something fails that nobody handles.
BROKEN = f"""
import asyncio, config.asgi
from observability.exporters import start
start("beat")
def fail(*_):
    raise ValueError({PROMPT!r})
async def fail_later():
    fail()
async def lose():
    # What asyncio says of it quotes the exception.
    asyncio.create_task(fail_later())
    await asyncio.sleep(0.1)
"""


@pytest.fixture
def sentry() -> Iterator[Sentry]:
    with running_sentry() as sentry:
        yield sentry


@contextmanager
def failing(table: str, act: str, quoted: str) -> Iterator[None]:
    """Each such statement fails, with a message that quotes what it was to write."""
    with psycopg.connect(database_url(), autocommit=True) as database:
        database.execute(
            "CREATE FUNCTION fail_on_purpose() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'broken: %', {quoted}; END $$"
        )
        database.execute(
            f"CREATE TRIGGER fail_on_purpose BEFORE {act} ON {table} FOR EACH ROW "
            "EXECUTE FUNCTION fail_on_purpose()"
        )
        try:
            yield
        finally:
            database.execute("DROP FUNCTION fail_on_purpose CASCADE")


def order(alice: Artist, **headers: str) -> httpx.Response:
    body = {"prompt": alice.prompt(PROMPT), "model": PICTURES}
    return alice.send("POST", "/api/images?word=in-the-query", json=body, headers=headers)


def check_that_nothing_of_users_is_in(sentry: Sentry, alice: Artist) -> None:
    for secret in (PROMPT, "lighthouse", "in-the-query", "Authorization", "Bearer", "example.com"):
        assert secret not in sentry.text, secret
    assert access_token_of(alice.user)[:20] not in sentry.text


def run(
    simulator: RunningSimulator, ending: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A process that fails by `ending`."""
    command = (sys.executable, "-c", f"{BROKEN}\n{ending}")
    return run_to_its_end(simulator, *command, **environment)


def frames_of(event: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        frame
        for exception in event["exception"]["values"]
        for frame in exception["stacktrace"]["frames"]
    ]


def test_a_crash_of_a_request_is_reported_with_its_request_id_and_without_its_content(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    environment = {**sentry.environment, "SENTRY_ENVIRONMENT": "staging"}
    with (
        running_web(simulator, **environment) as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        alice = new_artist(http, simulator)
        with failing("studios_generation", "INSERT", "NEW.prompt"):
            answer = order(alice, **{"X-Request-ID": "order-of-alice"})
        assert answer.status_code == 500
        event = sentry.event(lambda each: "exception" in each)

    assert len(sentry.events()) == 1
    assert event["tags"] == {"process": "web", "request_id": "order-of-alice"}
    assert (event["level"], event["logger"]) == ("error", "common.api")
    assert event["logentry"]["message"] == "unhandled_exception"
    assert event["environment"] == "staging"
    assert event["release"].startswith("multi-model-ai-platform@")
    assert {each["type"] for each in event["exception"]["values"]} >= {"RaiseException"}
    assert {each["value"] for each in event["exception"]["values"]} == {""}
    frames = frames_of(event)
    assert "studios.services.ordering" in {frame["module"] for frame in frames}
    assert all("vars" not in frame and "context_line" not in frame for frame in frames)
    # A library adds to reports what is not asked for here.
    allowed = {"event_id", "timestamp", "platform", "level", "logger", "logentry", "exception"}
    assert set(event) <= allowed | {"tags", "release", "environment", "server_name", "sdk"}
    check_that_nothing_of_users_is_in(sentry, alice)


def test_a_crash_of_a_page_of_the_admin_is_reported_with_its_request_id(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    """Django logs it itself, and not with fields as we do."""
    with (
        running_web(simulator, **sentry.environment) as web,
        httpx.Client(base_url=web.url, timeout=30) as http,
        psycopg.connect(database_url()) as database,
    ):
        database.execute("ALTER TABLE django_session RENAME session_data TO lost_data")
        database.commit()
        try:
            headers = {"X-Request-ID": "visit-of-bob", "Cookie": f"sessionid={'s' * 32}"}
            assert http.get("/admin/?word=in-the-query", headers=headers).status_code == 500
        finally:
            database.execute("ALTER TABLE django_session RENAME lost_data TO session_data")
            database.commit()
        event = sentry.event(lambda each: each["logger"] == "django.request")

    assert event["tags"] == {"process": "web", "request_id": "visit-of-bob", "status_code": "500"}
    assert event["logentry"]["message"] == "%s: %s"
    assert "in-the-query" not in sentry.text
    assert "s" * 32 not in sentry.text


def test_a_crash_of_a_job_is_reported_with_the_id_of_the_job(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    with (
        running_web(simulator) as web,
        running_worker(simulator, **sentry.environment),
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        alice = new_artist(http, simulator)
        with failing("operations_operation", "UPDATE", "NEW.request"):
            job = order(alice).json()
            event = sentry.event(lambda each: each["logentry"]["message"] == "job.crashed")
        assert alice.ended(job)["status"] == "completed"

    assert event["tags"] == {"process": "worker", "job_id": job["id"], "kind": "studios.image"}
    assert "ai.operations.handler" in {frame["module"] for frame in frames_of(event)}
    check_that_nothing_of_users_is_in(sentry, alice)


def test_a_crash_of_a_job_is_reported_with_its_trace(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    trace_id, header = new_trace()
    with (
        running_collector() as collector,
        running_web(simulator, **collector.environment) as web,
        running_worker(simulator, **collector.environment, **sentry.environment),
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        alice = new_artist(http, simulator)
        with failing("operations_operation", "UPDATE", "NEW.request"):
            job = order(alice, **header).json()
            event = sentry.event(lambda each: each["logentry"]["message"] == "job.crashed")
        assert alice.ended(job)["status"] == "completed"
        trace = collector.trace(trace_id, "job studios.image", "job studios.image")

    assert event["tags"]["trace_id"] == trace_id
    [crashed] = [span for span in trace.spans if span.is_consumer and span.has_failed]
    assert crashed.attributes["error.type"] == "RaiseException"
    check_that_nothing_of_users_is_in(sentry, alice)


def test_a_line_of_the_level_error_is_reported_without_an_exception(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    with (
        running_web(simulator, **sentry.environment) as web,
        running_worker(simulator, **sentry.environment),
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        alice = new_artist(http, simulator)
        alice.made(PICTURES, steering={"status": 401})
        event = sentry.event(lambda each: each["logentry"]["message"] == "provider.key_refused")

    assert "exception" not in event
    assert event["tags"]["provider"] == "openai"
    assert event["tags"]["model"] == PICTURES
    check_that_nothing_of_users_is_in(sentry, alice)


@pytest.mark.parametrize(
    "ending",
    [
        "fail()",
        "import threading; thread = threading.Thread(target=fail); thread.start(); thread.join()",
        "asyncio.run(lose()); import gc; gc.collect()",
    ],
)
def test_an_error_that_nobody_handles_is_reported_without_its_message(
    committed: None, sentry: Sentry, simulator: RunningSimulator, ending: str
) -> None:
    done = run(simulator, ending, **sentry.environment)
    assert PROMPT in done.stderr
    [event] = sentry.events()
    [exception] = event["exception"]["values"]
    assert (exception["type"], exception["value"]) == ("ValueError", "")
    assert event["tags"] == {"process": "beat"}
    assert "lighthouse" not in sentry.text


def test_a_thread_that_ends_itself_is_no_error(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    ending = "import threading; thread = threading.Thread(target=exit); thread.start()"
    done = run(simulator, f"{ending}; thread.join()", **sentry.environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert sentry.events() == []


def test_the_environment_opens_no_second_way_out(
    committed: None, sentry: Sentry, simulator: RunningSimulator
) -> None:
    with running_sentry() as other:
        spotlight = {"SENTRY_SPOTLIGHT": f"{other.url}/stream"}
        run(simulator, "fail()", **sentry.environment, **spotlight)
        assert len(sentry.events()) == 1
        assert other.bodies == []


def test_a_sentry_that_never_answers_does_not_delay_requests(
    committed: None, simulator: RunningSimulator
) -> None:
    with silent_server() as url:
        dsn = url.replace("http://", "http://public@") + "/7"
        with (
            running_web(simulator, SENTRY_DSN=dsn) as web,
            httpx.Client(base_url=web.url, timeout=30) as http,
        ):
            alice = new_artist(http, simulator)
            with failing("studios_generation", "INSERT", "NEW.prompt"):
                began_at = time.monotonic()
                assert [order(alice).status_code for _ in range(5)] == [500] * 5
                assert time.monotonic() - began_at < 10
            stopping_at = time.monotonic()
        assert time.monotonic() - stopping_at < 9
