"""The ids of tool calls, which carry what a provider wants back with a call.

Some providers want back what a model thought before it asked for a call: Anthropic its signed
thinking blocks, Gemini its thought signatures, DeepSeek and Moonshot the reasoning itself.
OpenAI's interface has no field for it, and most clients keep nothing of a message but its text and
calls. All keep a call's id, as the result has to name it. So the `state` of a call is a part of its
id, and comes back with the conversation; nothing is stored here.

An id with state is `ID__K_STATE`: the provider's own id, a letter for the form of the state, and
the state, deflated, in base64url (RFC 4648, section 5).
"""

import base64
import binascii
import re
import zlib
from typing import Literal, NamedTuple

# Anthropic's blocks, Gemini's signature, reasoning as text, or OpenRouter's details of reasoning.
StateForm = Literal["a", "g", "r", "d"]

MAX_STATE = 200_000  # bytes of UTF-8, inflated
MAX_ID = 120_000  # characters
# Bytes that a byte may inflate to: who sends short ids cannot make us handle long states.
MAX_RATIO = 50

_ID = re.compile(r"(.*)__([agrd])_([A-Za-z0-9_-]+)", re.DOTALL)


class CallId(NamedTuple):
    """The parts of a call's id. `state` is empty where there is none of that form."""

    own: str
    state: str


def with_state(own: str, form: StateForm, state: str) -> str:
    """The provider's own id of a call with state. State that is too long is left out: the provider
    then answers without it."""
    if not state:
        return own
    data = state.encode("utf-8", "replace")
    encoded = base64.urlsafe_b64encode(_deflated(data)).rstrip(b"=").decode()
    marked = f"{own}__{form}_{encoded}"
    return marked if len(data) <= MAX_STATE and len(marked) <= MAX_ID else own


def own_id(text: str) -> str:
    """The provider's own id in an id: its state is not inflated."""
    found = _ID.fullmatch(text)
    return text if found is None else found[1]


def read_call_id(text: str, form: StateForm | None = None) -> CallId:
    """The parts of an id. State of another form than `form` belongs to another provider, and is
    left out; without a `form` any state is read. What cannot be decoded counts as no state."""
    found = _ID.fullmatch(text)
    if found is None:
        return CallId(text, "")
    is_wanted = form is None or form == found[2]
    return CallId(found[1], _inflated(found[3]) if is_wanted else "")


def _deflated(data: bytes) -> bytes:
    deflated = zlib.compress(data)
    return deflated if len(data) <= MAX_RATIO * len(deflated) else zlib.compress(data, level=0)


def _inflated(encoded: str) -> str:
    try:
        data = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        most = min(MAX_STATE, MAX_RATIO * len(data))
        inflating = zlib.decompressobj()
        state = inflating.decompress(data, most + 1)
        return state.decode() if inflating.eof and len(state) <= most else ""
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        return ""
