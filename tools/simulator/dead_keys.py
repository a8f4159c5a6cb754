"""Keys that a provider refuses from some moment on: revoked, or with a quota that is exhausted."""

import hashlib
from collections.abc import Mapping

import msgspec

from simulator.exchange import Arrival
from simulator.provider import Problem

_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "x-key")


class DeadKey(msgspec.Struct, frozen=True):
    """The body of `PUT /_keys`: calls with `key` are refused with this error."""

    key: str
    status: int = 401
    code: str | None = None
    retry_after: int | None = None


_decode = msgspec.json.Decoder(DeadKey).decode


def key_in(headers: Mapping[str, str]) -> str:
    """The key of a request, "" where it has none in its headers."""
    sent = next((headers[name] for name in _HEADERS if name in headers), "")
    return sent.rpartition(" ")[2]


def fingerprint_of(key: str) -> str:
    """What the journal shows of a key."""
    return hashlib.sha256(key.encode()).hexdigest()[:8] if key else ""


def problem_of(dead: Mapping[str, DeadKey], key: str) -> Problem | None:
    """The error for a dead key, None for any other."""
    found = dead.get(key)
    if found is None:
        return None
    return Problem(found.status, code=found.code, retry_after=found.retry_after)


async def let_die(arrival: Arrival) -> str:
    """Refuse a key from now on."""
    dead = _decode(arrival.body)
    arrival.memory.dead_keys[dead.key] = dead
    await arrival.connection.send_json(200, {})
    return "completed"


async def revive(arrival: Arrival) -> str:
    """Accept all keys again."""
    arrival.memory.dead_keys.clear()
    await arrival.connection.send_json(200, {})
    return "completed"
