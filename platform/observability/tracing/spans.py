"""Spans, set by hand at the few places that matter.

While tracing is off, nothing of OpenTelemetry is imported here, and all spans are one object that
does nothing.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import Context
from typing import Literal, Protocol

Kind = Literal["internal", "server", "client", "consumer"]
# Ids, names and numbers of ours: never a text of users, a key, a query string or a message.
Value = str | int | None


class Span(Protocol):
    """A span that has begun."""

    def set(self, **attributes: Value) -> None:
        """Add attributes; one that is None is left out. `otel.ATTRIBUTES` has their names in the
        trace."""
        ...

    def rename(self, name: str) -> None:
        """Give the span its final name."""
        ...

    def fail(self, code: str = "") -> None:
        """Mark the span as failed, by the code of an error. The first one counts."""
        ...


class Tracing(Protocol):
    """What makes spans while tracing is on (`observability.tracing.otel`)."""

    def span(
        self, name: str, kind: Kind, parent: str, attributes: Mapping[str, Value]
    ) -> AbstractContextManager[Span]: ...

    def current_span(self) -> Span: ...

    def traceparent(self) -> str: ...

    def trace_id(self) -> str: ...

    def fresh_context(self) -> Context: ...


class _NoSpan:
    """The span of a process that is not traced."""

    __slots__ = ()

    def __enter__(self) -> "_NoSpan":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def set(self, **attributes: Value) -> None:
        pass

    def rename(self, name: str) -> None:
        pass

    def fail(self, code: str = "") -> None:
        pass


NO_SPAN = _NoSpan()
_tracing: Tracing | None = None


def install(tracing: Tracing | None) -> None:
    """Trace this process from now on, or not any more."""
    global _tracing  # noqa: PLW0603 - set when the process starts and ends
    _tracing = tracing


def is_on() -> bool:
    """Is this process traced?"""
    return _tracing is not None


def span(
    name: str, *, span_kind: Kind = "internal", parent: str = "", **attributes: Value
) -> AbstractContextManager[Span]:
    """A span around a block, under the current one or under `parent`, a `traceparent`; a malformed
    one is ignored.

    An error that leaves the block marks the span with its code, or its class, and never with its
    message.
    """
    if _tracing is None:
        return NO_SPAN
    return _tracing.span(name, span_kind, parent, attributes)


def current_span() -> Span:
    """The span around the caller."""
    return NO_SPAN if _tracing is None else _tracing.current_span()


def traceparent() -> str:
    """The current span as others continue it (W3C Trace Context); empty where there is none."""
    return "" if _tracing is None else _tracing.traceparent()


def trace_id() -> str:
    """The id of the current trace, in 32 hexadecimal digits; empty where there is none."""
    return "" if _tracing is None else _tracing.trace_id()


def fresh_context() -> Context:
    """A context for a task that outlives its request: nothing is in it but the current span, as the
    parent of the task's spans."""
    return Context() if _tracing is None else _tracing.fresh_context()


def code_of(error: Exception) -> str:
    """The code that the class of an error declares (`common.errors.DomainError`), or the name of
    the class."""
    code = getattr(type(error), "code", None)
    return code if isinstance(code, str) else type(error).__name__


def with_traceparent(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers of a request to a provider, with `traceparent` while there is a trace."""
    if _tracing is None or not (own := _tracing.traceparent()):
        return headers
    return {**headers, "traceparent": own}
