"""Tracing while it is off, while the collector is away, and at the end of a process."""

import time

import httpx
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import TraceFlags

from observability.tracing import spans
from publicapi.tests.v1.customer import new_customer
from simulator.process import RunningSimulator
from studios.tests.artist import new_artist
from studios.types import JOBS, Kind
from tests.collector import new_trace, recording, running_collector, silent_server
from tests.service import Web, running_web
from tests.worker import running_worker
from work.jobs.models import Job

PICTURES = "gpt-image-2.5-flare"
RUN = f"job {JOBS[Kind.IMAGE]}"


def test_without_a_collector_a_job_and_a_provider_are_told_of_no_trace(
    committed: None, web: Web, simulator: RunningSimulator
) -> None:
    _, header = new_trace()
    with httpx.Client(base_url=web.url, timeout=30) as http:
        alice = new_customer(http, web, simulator)
        assert alice.post(json=alice.body(), headers=header).status_code == 200
        [seen] = simulator.calls(alice.marker)
        assert "traceparent" not in seen["headers"]
        bob = new_artist(http, simulator, name="bob")
        body = {"prompt": bob.prompt(), "model": PICTURES}
        job = bob.send("POST", "/api/images", json=body, headers=header).json()
        assert Job.objects.get(pk=job["id"]).traceparent == ""
        with running_worker(simulator):
            assert bob.ended(job)["status"] == "completed"
        assert all("traceparent" not in call["headers"] for call in bob.calls())


def test_a_collector_that_never_answers_neither_delays_nor_fails_calls(
    committed: None, simulator: RunningSimulator
) -> None:
    with silent_server() as url:
        # A queue that is full at once.
        small = {"OTEL_BSP_MAX_QUEUE_SIZE": "4", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "2"}
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "10", **small}
        with (
            running_web(simulator, **environment) as web,
            httpx.Client(base_url=web.url, timeout=30) as http,
        ):
            alice = new_customer(http, web, simulator)
            alice.chat()
            seconds = []
            for _ in range(20):
                began_at = time.monotonic()
                assert alice.chat().status_code == 200
                seconds.append(time.monotonic() - began_at)
            # An export that hangs takes 10 s until it is given up.
            assert max(seconds) < 5
            stopping_at = time.monotonic()
        # The fixture has ended the process in order: the last spans are waited for, and not longer.
        assert time.monotonic() - stopping_at < 9


def test_what_a_process_has_not_exported_yet_is_exported_when_it_ends(
    committed: None, simulator: RunningSimulator
) -> None:
    trace_id, header = new_trace()
    with running_collector() as collector:
        later = {**collector.environment, "OTEL_BSP_SCHEDULE_DELAY": "600000"}
        with (
            running_web(simulator, **later) as web,
            running_worker(simulator, **later),
            httpx.Client(base_url=web.url, timeout=30) as http,
        ):
            bob = new_artist(http, simulator, name="bob")
            body = {"prompt": bob.prompt(), "model": PICTURES}
            bob.ended(bob.send("POST", "/api/images", json=body, headers=header).json())
            assert collector.spans() == []
        found = {(span.process, span.name) for span in collector.spans(trace_id)}
    assert {("web", "POST api/images"), ("worker", RUN), ("worker", "settle")} <= found


def test_of_a_trace_that_is_not_recorded_no_span_is_made_below_the_first() -> None:
    with recording(ALWAYS_OFF) as exporter, spans.span("POST", span_kind="server"):
        of_request = spans.traceparent()
        assert not int(of_request[-2:], 16) & TraceFlags.SAMPLED
        with spans.span("hold") as hold:
            assert hold is spans.NO_SPAN
            assert spans.traceparent() == of_request
        assert spans.fresh_context().run(spans.traceparent) == of_request
    assert exporter.get_finished_spans() == ()


def test_a_span_costs_next_to_nothing_while_tracing_is_off() -> None:
    """Calls of the service cost some 900 us; each has half a dozen spans."""
    rounds, best = 2_000, 1.0
    for _ in range(20):
        began_at = time.perf_counter()
        for _ in range(rounds):
            with spans.span("hold", charge_id="1"):
                pass
        best = min(best, (time.perf_counter() - began_at) / rounds)
    assert not spans.is_on()
    # Measured: 0.3 us.
    assert best < 3e-6
