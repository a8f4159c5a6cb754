"""What is counted of sockets and events."""

import time
from datetime import datetime

from events.types import Frame
from observability.metrics.instruments import STEP_SECONDS, gauge, histogram

open_sockets = gauge("platform_open_sockets", "Sockets that follow a stream.").labels()
delivery_seconds = histogram(
    "platform_event_delivery_seconds",
    "From the writing of an event to its delivery to a socket that was open already.",
    STEP_SECONDS,
).labels()

_CREATED_AT = '"created_at":"'
# 2026-01-31T12:00:00.000000Z
_LENGTH = 27


def written_at(frame: Frame) -> float:
    """When the event was written, in seconds since 1970."""
    begin = frame.text.index(_CREATED_AT) + len(_CREATED_AT)
    return datetime.fromisoformat(frame.text[begin : begin + _LENGTH]).timestamp()


def count_delivery(at: float) -> None:
    """An event was delivered that was written at that time, in seconds since 1970."""
    delivery_seconds.observe(max(0.0, time.time() - at))
