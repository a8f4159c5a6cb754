"""The SDK of OpenTelemetry behind `observability.tracing.spans`. Imported only where tracing is on.

Spans are exported by a thread, out of a bounded queue: a collector that is slow or away costs
spans, and never time.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from observability.tracing import spans
from observability.tracing.spans import Kind, Span, Value, code_of

# Where the environment gives the service no name of its own.
SERVICE_NAME = "platform"

# What attributes are called in a trace: the semantic conventions of OpenTelemetry where these are
# stable. All others begin with `platform.`.
ATTRIBUTES = {
    "method": "http.request.method",
    "route": "http.route",
    "http_status": "http.response.status_code",
    "code": "error.type",
}
_KINDS: Mapping[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "consumer": SpanKind.CONSUMER,
}
_w3c = TraceContextTextMapPropagator()


def _named(attributes: Mapping[str, Value]) -> dict[str, str | int]:
    return {
        ATTRIBUTES.get(name) or f"platform.{name}": value
        for name, value in attributes.items()
        if value is not None
    }


def _is_dropped() -> bool:
    """Is the current trace one that is not recorded? A span below its first would cost what a
    recorded one costs, and be dropped."""
    current = trace.get_current_span().get_span_context()
    return current.is_valid and not current.trace_flags.sampled


class _Span:
    """An `observability.tracing.spans.Span`."""

    __slots__ = ("_span", "has_failed")

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self.has_failed = False

    def set(self, **attributes: Value) -> None:
        self._span.set_attributes(_named(attributes))

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, code: str = "") -> None:
        if self.has_failed:
            return
        self.has_failed = True
        if code:
            self.set(code=code)
        self._span.set_status(Status(StatusCode.ERROR))


class OpenTelemetry:
    """An `observability.tracing.spans.Tracing`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("platform")

    def span(
        self, name: str, kind: Kind, parent: str, attributes: Mapping[str, Value]
    ) -> AbstractContextManager[Span]:
        if not parent and _is_dropped():
            return spans.NO_SPAN
        return self._span(name, kind, parent, attributes)

    @contextmanager
    def _span(
        self, name: str, kind: Kind, parent: str, attributes: Mapping[str, Value]
    ) -> Iterator[Span]:
        above = _w3c.extract({"traceparent": parent}) if parent else None
        started = self._tracer.start_span(
            name, above, kind=_KINDS[kind], attributes=_named(attributes)
        )
        span = _Span(started)
        token = contexts.attach(trace.set_span_in_context(started))
        try:
            yield span
        except Exception as error:
            span.fail(code_of(error))
            raise
        finally:
            contexts.detach(token)
            started.end()

    def current_span(self) -> Span:
        return _Span(trace.get_current_span())

    def traceparent(self) -> str:
        carrier: dict[str, str] = {}
        # `tracestate` is not passed on: it is a text of whoever has sent the request.
        _w3c.inject(carrier)
        return carrier.get("traceparent", "")

    def trace_id(self) -> str:
        of_span = trace.get_current_span().get_span_context()
        return trace.format_trace_id(of_span.trace_id) if of_span.is_valid else ""

    def fresh_context(self) -> Context:
        # Not the span itself, which would be kept with all of its attributes.
        parent = trace.NonRecordingSpan(trace.get_current_span().get_span_context())
        fresh = Context()
        fresh.run(contexts.attach, trace.set_span_in_context(parent, contexts.Context()))
        return fresh

    def shut_down(self, *, seconds: float) -> None:
        """Export what waits, for at most so many seconds."""
        # The SDK's own limit is 30 s, and an export that hangs goes on after it.
        closing = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        closing.start()
        closing.join(seconds)


def start(process: str) -> OpenTelemetry:
    """Trace this process, which is a `web` process or a `worker`. The standard variables of
    OpenTelemetry say where to, and how much."""
    resource = Resource.create({"platform.process": process})
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": SERVICE_NAME}))
    # It is shut down in `stop`, within a limit; the SDK's own hook has none.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracing = OpenTelemetry(provider)
    spans.install(tracing)
    return tracing


def stop(tracing: OpenTelemetry, *, seconds: float) -> None:
    """Trace this process no more, and export what waits."""
    spans.install(None)
    tracing.shut_down(seconds=seconds)
