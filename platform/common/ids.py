"""Identifiers: UUIDv7, sortable by time of creation (RFC 9562, section 5.7); ids of requests."""

import os
import re
import time
import uuid
from datetime import datetime

from structlog.contextvars import get_contextvars

from common.redaction import redact

# The accepted form of a caller's `x-request-id`: harmless in logs and headers.
REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def request_id(sent: str | None) -> str:
    """The caller's id where it is well formed and does not look like a credential, otherwise a new
    one."""
    if sent and REQUEST_ID.fullmatch(sent) and redact(sent) == sent:
        return sent
    return f"req_{uuid.uuid4().hex}"


def current_request_id() -> str:
    """The id of the request that is carried out here, which the middleware notes for the log; empty
    outside of one."""
    return str(get_contextvars().get("request_id", ""))


def uuid7(at: datetime | None = None) -> uuid.UUID:
    """A new UUIDv7, of now or of `moment`. Those of one process sort in the order of their
    creation.

    48 bits of Unix milliseconds, 12 bits of a fraction of one (RFC 9562, section 6.2, method 3), 62
    random bits; version and variant between them.
    """
    nanoseconds = time.time_ns() if at is None else int(at.timestamp() * 1_000_000) * 1_000
    milliseconds, rest = divmod(nanoseconds, 1_000_000)
    random = int.from_bytes(os.urandom(8), "big") >> 2
    value = milliseconds << 80 | 0x7 << 76 | (rest << 12) // 1_000_000 << 64 | 0x2 << 62 | random
    return uuid.UUID(int=value)


def as_uuid(value: uuid.UUID | str) -> uuid.UUID | None:
    """The UUID that a text is, if it is one."""
    try:
        return uuid.UUID(str(value))
    except ValueError:
        return None


def unix_seconds(value: uuid.UUID) -> int:
    """The time of creation of that UUIDv7."""
    return (value.int >> 80) // 1000


def least_of_day(days: int) -> uuid.UUID:
    """A lower bound of the UUIDv7s of that UTC day and later ones, and above all earlier ones. Days
    are counted from 1970-01-01."""
    return uuid.UUID(int=max(0, days) * 86_400_000 << 80)
