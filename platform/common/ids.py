"""Identifiers: UUIDv7, sortable by time of creation (RFC 9562, section 5.7)."""

import os
import time
import uuid


def uuid7() -> uuid.UUID:
    """A new UUIDv7: 48 bits of Unix milliseconds, then version, variant and 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return uuid.UUID(int=value)


def unix_seconds(value: uuid.UUID) -> int:
    """When that UUIDv7 was made."""
    return (value.int >> 80) // 1000
