"""A collector of traces, and a Sentry: real servers on a port of this machine, which keep what they
are sent."""

import gzip
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler

from devserver.ports import LOOPBACK
from observability.tracing import spans
from observability.tracing.otel import OpenTelemetry
from work.jobs.tests.queueing import wait_until

_SERVER, _CLIENT, _CONSUMER = 2, 3, 5


@dataclass(frozen=True)
class SeenSpan:
    """A span as it was exported."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    process: str
    service: str
    attributes: dict[str, Any]
    has_failed: bool

    @property
    def is_server(self) -> bool:
        return self.kind == _SERVER

    @property
    def is_client(self) -> bool:
        return self.kind == _CLIENT

    @property
    def is_consumer(self) -> bool:
        return self.kind == _CONSUMER


@dataclass
class _Server:
    """What a server was sent: the bodies of its POSTs, unpacked."""

    url: str
    bodies: list[bytes] = field(default_factory=list)
    # Paths and headers of all requests, as they came.
    heads: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All that was sent."""
        return "\n".join([*self.heads, *(body.decode(errors="replace") for body in self.bodies)])


class Collector(_Server):
    """A collector of OTLP over HTTP."""

    @property
    def environment(self) -> dict[str, Any]:
        """For a process that exports here, a moment after the end of each span."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}

    def spans(self, trace_id: str = "") -> list[SeenSpan]:
        """All spans so far, or those of one trace."""
        found = [span for body in list(self.bodies) for span in _seen(body)]
        return [span for span in found if not trace_id or span.trace_id == trace_id]

    def trace(self, trace_id: str, *names: str, seconds: float = 20) -> "Trace":
        """A trace that has spans of these names, one for each mention: they are waited for."""

        def is_whole() -> bool:
            return Counter(names) <= Counter(span.name for span in self.spans(trace_id))

        deadline = time.monotonic() + seconds
        while not is_whole() and time.monotonic() < deadline:
            time.sleep(0.05)
        trace = Trace(self.spans(trace_id))
        assert is_whole(), f"{names} in {[span.name for span in trace.spans]}"
        return trace


@dataclass(frozen=True)
class Trace:
    """The spans of one trace."""

    spans: list[SeenSpan]

    def one(self, name: str) -> SeenSpan:
        """The only span of that name."""
        [found] = [span for span in self.spans if span.name == name]
        return found

    def parent_of(self, span: SeenSpan) -> str:
        """The name of the span above; empty where it is not one of ours."""
        return next((each.name for each in self.spans if each.span_id == span.parent_id), "")


class Sentry(_Server):
    """A server that takes envelopes of Sentry."""

    @property
    def dsn(self) -> str:
        return self.url.replace("http://", "http://public@") + "/7"

    @property
    def environment(self) -> dict[str, Any]:
        """For a process that reports here."""
        return {"SENTRY_DSN": self.dsn}

    def events(self) -> list[dict[str, Any]]:
        """The events so far."""
        return [event for body in list(self.bodies) for event in _events(body)]

    def event(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first such event: it is waited for."""
        wait_until(lambda: any(map(is_it, self.events())), seconds=20)
        return next(filter(is_it, self.events()))


def new_trace() -> tuple[str, dict[str, str]]:
    """The id of a trace that a client has begun, and the header by which it goes on."""
    trace_id, span_id = os.urandom(16).hex(), os.urandom(8).hex()
    return trace_id, {"traceparent": f"00-{trace_id}-{span_id}-01"}


@contextmanager
def recording(sampler: Sampler = ALWAYS_ON) -> Iterator[InMemorySpanExporter]:
    """Traces this process until the block ends."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans.install(OpenTelemetry(provider))
    try:
        yield exporter
    finally:
        spans.install(None)


@contextmanager
def running_collector() -> Iterator[Collector]:
    """A collector until the block ends."""
    with _serving(lambda url: Collector(url)) as collector:
        yield collector


@contextmanager
def running_sentry() -> Iterator[Sentry]:
    """A Sentry until the block ends."""
    with _serving(lambda url: Sentry(url)) as sentry:
        yield sentry


@contextmanager
def silent_server() -> Iterator[str]:
    """The URL of a server that takes connections and never answers."""
    with ThreadingHTTPServer((LOOPBACK, 0), BaseHTTPRequestHandler) as server:
        # Nobody accepts: the system takes the connections.
        yield f"http://{LOOPBACK}:{server.server_port}"


@contextmanager
def _serving(make: Callable[[str], Any]) -> Iterator[Any]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            kept.heads.append(f"{self.path}\n{self.headers}")
            kept.bodies.append(body)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        kept = make(f"http://{LOOPBACK}:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield kept
        finally:
            server.shutdown()


def _seen(body: bytes) -> Iterator[SeenSpan]:
    for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = _attributes(of_resource.resource.attributes)
        for scope in of_resource.scope_spans:
            for span in scope.spans:
                assert not span.events, "messages and tracebacks of exceptions are not exported"
                assert not span.status.message, "it would be that of an exception"
                assert not span.trace_state, "it is a text of the client's"
                assert not span.links
                yield SeenSpan(
                    name=span.name,
                    kind=span.kind,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    process=resource.get("platform.process", ""),
                    service=resource["service.name"],
                    attributes=_attributes(span.attributes),
                    has_failed=span.status.code == Status.STATUS_CODE_ERROR,
                )


def _attributes(given: Any) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value"))
        for each in given
        if each.value.WhichOneof("value") in ("string_value", "int_value")
    }


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    """The events of an envelope: a line of JSON about each item, and a line for the item."""
    _, *lines = body.split(b"\n")
    for about, item in zip(lines[::2], lines[1::2], strict=False):
        if about and json.loads(about)["type"] == "event":
            yield json.loads(item)
