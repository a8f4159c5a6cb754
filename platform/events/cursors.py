"""Parameters for a place in a stream."""

from common.errors import ValidationFailed

MAX_SEQ = 2**63 - 1


def read_after_seq(text: str | None) -> int | None:
    """The client's `after_seq`; None where it sends none. Raises ValidationFailed."""
    if text is None:
        return None
    seq = _digits(text)
    if seq is None or seq > MAX_SEQ:
        raise ValidationFailed.of("after_seq", f"This is a whole number from 0 to {MAX_SEQ}.")
    return seq


def read_limit(text: str | None, most: int) -> int:
    """The number of events that a client asks for, at most `most`. Raises ValidationFailed."""
    if text is None:
        return most
    limit = _digits(text)
    if not limit:
        raise ValidationFailed.of("limit", f"A limit is a whole number from 1 to {most}.")
    return min(limit, most)


def _digits(text: str) -> int | None:
    """None for a malformed number, or one with too many digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 100 else None
