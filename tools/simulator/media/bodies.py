"""Request bodies of the media wires: JSON, with known fields only."""

from typing import Any, TypeVar

import msgspec

from simulator.provider import Problem, Refused

T = TypeVar("T")


def decode(body: bytes, form: type[T], *, status: int = 400) -> T:
    """The body in this form. Raises `Refused`."""
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(status, f"Invalid body: {error}")) from error


def sent_fields(body: bytes) -> dict[str, Any]:
    """The fields of a body that was read, as they were sent."""
    fields: dict[str, Any] = msgspec.json.decode(body)
    return fields
