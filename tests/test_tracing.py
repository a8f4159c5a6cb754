"""Traces of the running service, as a collector receives them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from ai.operations.tests.ordering import end_of, order
from conversations.tests.speaker import new_speaker
from conversations.types import JOB as REPLY
from council.tests.owner import Owner, new_owner
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer, new_customer
from simulator.process import RunningSimulator
from studios.tests.artist import Artist, new_artist
from studios.types import JOBS, Kind
from tests.collector import Collector, SeenSpan, new_trace, running_collector
from tests.personas import authorization
from tests.service import Web, running_web
from tests.worker import running_worker
from work.jobs.models import Job
from work.jobs.tests.queueing import wait_until

PICTURES = "gpt-image-2.5-flare"
RUN = f"job {JOBS[Kind.IMAGE]}"
ANSWERED = "POST api/conversations/<uuid:conversation_id>/messages"


@dataclass
class Traced:
    """A web process and a worker whose spans a collector takes."""

    web: Web
    http: httpx.Client
    collector: Collector
    simulator: RunningSimulator
    log: Path


@pytest.fixture(scope="module")
def service(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Traced]:
    log = tmp_path_factory.mktemp("traced") / "web.log"
    with (
        django_db_blocker.unblock(),
        running_collector() as collector,
        running_web(simulator, log=str(log), **collector.environment) as web,
        running_worker(simulator, **collector.environment),
        httpx.Client(base_url=web.url, timeout=30) as http,
    ):
        yield Traced(web, http, collector, simulator, log)


@pytest.fixture
def alice(committed: None, service: Traced) -> Customer:
    return new_customer(service.http, service.web, service.simulator)


@pytest.fixture
def bob(committed: None, service: Traced) -> Artist:
    return new_artist(service.http, service.simulator, name="bob")


@pytest.fixture
def charlie(committed: None, service: Traced) -> Owner:
    return new_owner(service.http, service.web, service.simulator, name="charlie")


# --- One trace ----------------------------------------------------------------------------------


def test_a_picture_that_is_ordered_has_one_trace_from_the_request_to_the_settlement(
    service: Traced, bob: Artist
) -> None:
    trace_id, header = new_trace()
    body = {"prompt": bob.prompt("Bob's secret boat."), "model": PICTURES}
    answer = bob.send(
        "POST", "/api/images?secret=query", json=body, headers={**header, "X-Request-ID": "order-7"}
    )
    assert answer.status_code == 202, answer.text
    job = bob.ended(answer.json())
    assert job["status"] == "completed"

    submit, fetch = f"submit {PICTURES}", f"fetch {PICTURES}"
    trace = service.collector.trace(
        trace_id, "POST api/images", "hold", RUN, submit, fetch, "settle"
    )
    request, run = trace.one("POST api/images"), trace.one(RUN)
    assert (request.is_server, request.process, request.service) == (True, "web", "platform")
    assert f"00-{trace_id}-{request.parent_id}-01" == header["traceparent"]
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": "api/images",
        "http.response.status_code": 202,
        "platform.request_id": "order-7",
    }
    assert (run.is_consumer, run.process) == (True, "worker")
    assert run.attributes["platform.job_id"] == job["id"]
    assert {span.name: trace.parent_of(span) for span in trace.spans} == {
        "POST api/images": "",
        "hold": "POST api/images",
        RUN: "POST api/images",
        submit: RUN,
        fetch: RUN,
        "settle": RUN,
    }
    asked = trace.one(submit)
    assert asked.is_client
    assert asked.attributes["platform.provider"] == "openai"
    assert asked.attributes["platform.model"] == PICTURES
    assert trace.one("settle").attributes["platform.charge_id"] == job["id"]
    assert trace.one("settle").attributes["platform.status"] == "settled"
    assert not any(span.has_failed for span in trace.spans)
    assert "secret" not in service.collector.text


def test_a_call_takes_the_trace_of_its_client_and_passes_it_on_to_the_provider(
    service: Traced, alice: Customer
) -> None:
    trace_id, header = new_trace()
    others = {"tracestate": "alice=secret", "baggage": "alice=secret"}
    answer = alice.post(json=alice.body(), headers={**header, **others})
    assert answer.status_code == 200

    call = f"chat {IN_PLAN}"
    trace = service.collector.trace(trace_id, "POST /v1/chat/completions", "hold", call, "settle")
    assert {span.name: trace.parent_of(span) for span in trace.spans} == {
        "POST /v1/chat/completions": "",
        "hold": "POST /v1/chat/completions",
        call: "POST /v1/chat/completions",
        "settle": "POST /v1/chat/completions",
    }
    request_id = answer.headers["x-request-id"]
    for name in ("POST /v1/chat/completions", call):
        assert trace.one(name).attributes["platform.request_id"] == request_id
    [seen] = service.simulator.calls(alice.marker)
    assert seen["headers"]["traceparent"] == f"00-{trace_id}-{trace.one(call).span_id}-01"
    assert not {"tracestate", "baggage"} & set(seen["headers"])
    assert "secret" not in service.collector.text


def test_a_stream_is_in_the_trace_to_its_end(service: Traced, alice: Customer) -> None:
    trace_id, header = new_trace()
    body = alice.body(steer={"tokens": 5, "delay_ms": 20}, stream=True)
    assert alice.post(json=body, headers=header).status_code == 200
    trace = service.collector.trace(trace_id, "POST /v1/chat/completions", "settle")
    assert trace.parent_of(trace.one("settle")) == "POST /v1/chat/completions"


def test_each_attempt_of_a_call_has_a_span_with_the_code_of_its_error(
    service: Traced, alice: Customer
) -> None:
    trace_id, header = new_trace()
    body = alice.body(steer={"status": 500, "code": "secret_code"})
    assert alice.post(json=body, headers=header).status_code == 502
    trace = service.collector.trace(trace_id, "POST /v1/chat/completions", "settle")
    attempts = [span for span in trace.spans if span.is_client]
    assert [span.attributes["platform.attempt"] for span in attempts] == [1, 2, 3]
    for span in [*attempts, trace.one("POST /v1/chat/completions")]:
        assert span.has_failed
        assert span.attributes["error.type"] == "upstream_error"
    assert {span.attributes["http.response.status_code"] for span in attempts} == {500}
    assert trace.one("settle").attributes["platform.status"] == "released"
    seen = [call["headers"]["traceparent"] for call in service.simulator.calls(alice.marker)]
    assert seen == [f"00-{trace_id}-{span.span_id}-01" for span in attempts]
    assert "secret" not in service.collector.text


def test_a_refused_hold_has_its_code(service: Traced, alice: Customer) -> None:
    poor = new_customer(service.http, service.web, service.simulator, name="bob", balance_usd=0)
    trace_id, header = new_trace()
    refused = poor.post(json=poor.body(model=BALANCE_ONLY), headers=header)
    assert refused.status_code == 402
    trace = service.collector.trace(trace_id, "POST /v1/chat/completions", "hold")
    code = refused.json()["error"]["code"]
    assert trace.one("hold").attributes["error.type"] == code
    assert trace.one("hold").has_failed
    request = trace.one("POST /v1/chat/completions")
    # The client's error, and none of the service.
    assert (request.attributes["error.type"], request.has_failed) == (code, False)


def test_a_council_has_one_trace_from_its_request_to_the_calls_of_its_models(
    service: Traced, charlie: Owner
) -> None:
    trace_id, header = new_trace()
    charlie.http.headers.update(header)
    try:
        charlie.start(IN_PLAN, "claude-haiku-5-5")
    finally:
        del charlie.http.headers["traceparent"]
    calls = [f"chat {IN_PLAN}", "chat claude-haiku-5-5"]
    card = "job council.generation"
    trace = service.collector.trace(trace_id, "POST api/council/sessions", card, card, *calls)
    runs = [span for span in trace.spans if span.is_consumer]
    assert len(runs) == 2
    for run in runs:
        assert trace.parent_of(run) == "POST api/council/sessions"
    assert {trace.one(call).parent_id for call in calls} == {run.span_id for run in runs}


def test_a_reply_that_runs_in_the_process_of_its_request_is_in_its_trace(
    service: Traced, alice: Customer
) -> None:
    bob = new_speaker(service.http, service.simulator, name="bob")
    conversation = bob.begin()
    trace_id, header = new_trace()
    service.http.headers.update(header)
    try:
        bob.send(conversation)
    finally:
        del service.http.headers["traceparent"]
    names = (ANSWERED, f"job {REPLY}", f"chat {IN_PLAN}", "settle")
    trace = service.collector.trace(trace_id, *names)
    run = trace.one(f"job {REPLY}")
    assert run.process == "web"
    assert trace.one(f"chat {IN_PLAN}").parent_id == run.span_id
    assert trace.parent_of(run) == ANSWERED


@pytest.mark.parametrize(
    ("steering", "step", "status"),
    [
        ('"status": 503, "at": ["file"], "times": 1', "fetch", 503),
        ('"status": 500, "at": ["poll"], "times": 1', "poll", 500),
        # A 404 says that the provider knows no such operation.
        ('"status": 404, "at": ["poll"], "times": 1', "poll", None),
    ],
)
def test_a_step_that_has_brought_nothing_is_marked_as_failed(
    service: Traced, alice: Customer, steering: str, step: str, status: int | None
) -> None:
    trace_id, header = new_trace()
    with transaction.atomic():
        operation_id = order(alice.user, steering)
        Job.objects.filter(pk=operation_id).update(traceparent=header["traceparent"])
    assert end_of(operation_id)["status"] == "completed"

    trace = service.collector.trace(trace_id, "submit kimi-k3", "fetch kimi-k3", "settle")
    [failed] = [span for span in trace.spans if span.has_failed]
    assert failed.attributes["platform.step"] == step
    assert failed.attributes["error.type"] == "upstream_error"
    assert failed.attributes.get("http.response.status_code") == status


# --- What clients send --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        [("traceparent", "nonsense")],
        [("traceparent", f"00-{'0' * 32}-{'1' * 16}-01")],
        [("traceparent", f"00-{'a' * 32}-{'1' * 16}-01")] * 2,
        [("traceparent", f"01-{'a' * 32}-{'1' * 16}-01-{'x' * 600}")],
    ],
)
def test_a_malformed_traceparent_is_ignored(
    service: Traced, alice: Customer, sent: list[tuple[str, str]]
) -> None:
    request_id = f"malformed-{os.urandom(4).hex()}"
    headers = [*authorization(alice.user).items(), ("x-request-id", request_id), *sent]
    assert service.http.get("/api/auth/me", headers=headers).status_code == 200

    def found() -> list[SeenSpan]:
        return [
            span
            for span in service.collector.spans()
            if span.attributes.get("platform.request_id") == request_id
        ]

    wait_until(found, seconds=20)
    assert [(span.name, span.parent_id) for span in found()] == [("GET api/auth/me", "")]
    assert found()[0].trace_id != "a" * 32
    assert "traceparent" not in service.log.read_text()


def test_a_trace_that_its_client_does_not_record_is_passed_on_and_not_exported(
    service: Traced, alice: Customer
) -> None:
    trace_id = os.urandom(16).hex()
    header = {"traceparent": f"00-{trace_id}-{'b' * 16}-00"}
    assert alice.post(json=alice.body(), headers=header).status_code == 200
    [seen] = service.simulator.calls(alice.marker)
    assert seen["headers"]["traceparent"].startswith(f"00-{trace_id}-")
    assert seen["headers"]["traceparent"].endswith("-00")
    other, header = new_trace()
    assert alice.post(json=alice.body(), headers=header).status_code == 200
    service.collector.trace(other, "settle")
    assert service.collector.spans(trace_id) == []


def test_routes_are_patterns_and_health_checks_are_not_traced(
    service: Traced, alice: Customer
) -> None:
    trace_id, header = new_trace()
    headers = {**authorization(alice.user), **header}
    found = "/api/conversations/01980000-0000-7000-8000-000000000000"
    service.http.get("/readyz", headers=headers)
    service.http.get("/no/such/path", headers=headers)
    service.http.request("PROPFIND", "/v1/odd", headers=headers)
    assert service.http.get(found, headers=headers).status_code == 404
    wait_until(lambda: len(service.collector.spans(trace_id)) >= 3, seconds=20)
    [unknown, odd, route] = sorted(
        (span.name for span in service.collector.spans(trace_id)), key=len
    )[:3]
    assert {unknown, odd} == {"GET unknown", "_OTHER unknown"}
    assert route.startswith("GET api/conversations/<")
