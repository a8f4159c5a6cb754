"""What a request asked for and does not get: named in the header `x-ignored-parameters`.

Clients send many parameters that mean nothing here, and are not refused for it. A value that asks
for nothing (null, an empty list, the default of OpenAI's interface) is not named.
"""

import re
from collections.abc import Collection, Mapping
from itertools import islice

import msgspec

from common.asgi import Headers

HEADER = "x-ignored-parameters"

MAX_NAMES = 32
# Of the fields of a body, and of the parts of its messages: so many are looked at.
MAX_LOOKED_AT = 1000
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Of the header: names, and three dots where there are more.
PATTERN = f"^{_NAME.pattern}(, {_NAME.pattern}){{0,{MAX_NAMES}}}$"
# A longer value is no default.
_LONGEST_DEFAULT = 32  # bytes

Defaults = Mapping[str, Collection[object]]

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
# As bytes: to Python 0 and false are equal.
_NOTHING = frozenset({b"null", b"false", b'""', b"[]", b"{}"})


def ignored_fields(body: bytes, known: Collection[str], defaults: Defaults) -> set[str]:
    """The fields of a body that has been decoded into a struct with the fields `known`, which are
    none of them. `defaults` are the values of further fields that ask for nothing."""
    return {
        name
        for name, value in islice(_decode_fields(body).items(), MAX_LOOKED_AT)
        if name not in known and not asks_nothing(value, defaults.get(name, ()))
    }


def header(names: Collection[str]) -> Headers:
    """The header that names them, sorted; none where there is nothing to name. A name that could
    not stand in a header is told as `other`."""
    if not names:
        return []
    safe = sorted({name if _NAME.fullmatch(name) else "other" for name in names})
    shown = [*safe[:MAX_NAMES], "..."] if len(safe) > MAX_NAMES else safe
    return [(HEADER.encode(), ", ".join(shown).encode())]


def asks_nothing(value: msgspec.Raw, defaults: Collection[object] = ()) -> bool:
    """Is this the value of a field that was as good as not sent?"""
    if memoryview(value).nbytes > _LONGEST_DEFAULT:
        return False
    sent = bytes(value)
    return sent in _NOTHING or (bool(defaults) and _decoded(sent) in defaults)


def _decoded(sent: bytes) -> object:
    """The value; None for a number that is too large: whoever skips a field does not read it."""
    try:
        return msgspec.json.decode(sent)
    except msgspec.DecodeError:
        return None
