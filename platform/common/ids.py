"""Identifiers: UUIDv7, sortable by time of creation (RFC 9562, section 5.7); names of requests."""

import os
import re
import time
import uuid
from datetime import datetime

from common.redaction import redact

# What a caller's own `x-request-id` may be: harmless in logs and headers.
REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def request_id(sent: str | None) -> str:
    """The id that the caller sent where it is well formed and does not look like a credential,
    otherwise a new one."""
    if sent and REQUEST_ID.fullmatch(sent) and redact(sent) == sent:
        return sent
    return f"req_{uuid.uuid4().hex}"


def uuid7(at: datetime | None = None) -> uuid.UUID:
    """A new UUIDv7, of now or of that moment.

    48 bits of Unix milliseconds, then version, variant and 74 random bits.
    """
    milliseconds = time.time_ns() // 1_000_000 if at is None else int(at.timestamp() * 1000)
    value = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return uuid.UUID(int=value)


def as_uuid(value: uuid.UUID | str) -> uuid.UUID | None:
    """The UUID that a text is, if it is one."""
    try:
        return uuid.UUID(str(value))
    except ValueError:
        return None


def unix_seconds(value: uuid.UUID) -> int:
    """When that UUIDv7 was made."""
    return (value.int >> 80) // 1000


def least_of_day(days: int) -> uuid.UUID:
    """Not above any UUIDv7 of that UTC day or a later one, and above all earlier ones. Days are
    counted from 1970-01-01."""
    return uuid.UUID(int=max(0, days) * 86_400_000 << 80)
