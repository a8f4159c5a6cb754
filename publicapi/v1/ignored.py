"""The header `x-ignored-parameters`: the parameters of a request that have no effect.

Clients send many parameters that have no meaning here, and are not refused for them. A value
without an effect anywhere (null, an empty list, the default of OpenAI's interface) is not listed.
"""

import re
from collections.abc import Collection, Mapping
from itertools import islice

import msgspec

from server.asgi import Headers

HEADER = "x-ignored-parameters"

MAX_NAMES = 32
# The most fields of a body, and parts of its messages, that are examined.
MAX_EXAMINED = 1000
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# The length of the header: names, and three dots where there are more.
PATTERN = f"^{_NAME.pattern}(, {_NAME.pattern}){{0,{MAX_NAMES}}}$"
# A longer value is no default.
_LONGEST_DEFAULT = 32  # bytes

Defaults = Mapping[str, Collection[object]]

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
# As bytes: in Python 0 and false are equal.
_NOTHING = frozenset({b"null", b"false", b'""', b"[]", b"{}"})


def ignored_fields(body: bytes, known: Collection[str], defaults: Defaults) -> set[str]:
    """The ignored fields of a body that has been decoded into a struct with the fields `known`.
    `defaults` are the default values of further fields."""
    return {
        name
        for name, value in islice(_decode_fields(body).items(), MAX_EXAMINED)
        if name not in known and not is_default(value, defaults.get(name, ()))
    }


def header(names: Collection[str]) -> Headers:
    """The header with the sorted names; none where there are no names. A name that cannot stand in
    a header is listed as `other`."""
    if not names:
        return []
    safe = sorted({name if _NAME.fullmatch(name) else "other" for name in names})
    shown = [*safe[:MAX_NAMES], "..."] if len(safe) > MAX_NAMES else safe
    return [(HEADER.encode(), ", ".join(shown).encode())]


def is_default(value: msgspec.Raw, defaults: Collection[object] = ()) -> bool:
    """Is this value the same as an absent field?"""
    if memoryview(value).nbytes > _LONGEST_DEFAULT:
        return False
    sent = bytes(value)
    return sent in _NOTHING or (bool(defaults) and _decoded(sent) in defaults)


def _decoded(sent: bytes) -> object:
    """The value; None for a number that is too large, which the decoder accepts in ignored
    fields."""
    try:
        return msgspec.json.decode(sent)
    except msgspec.DecodeError:
        return None
