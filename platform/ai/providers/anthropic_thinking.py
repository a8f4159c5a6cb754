"""The thinking blocks of Anthropic's models, which they want back with the calls that follow them.

Protocol: Anthropic's guides "Extended thinking", "Preserving thinking blocks", and "Preserved
thinking". The API refuses a block that is not exactly as it came, so a block is kept whole. The
blocks before a call travel in the call's id, as the form "a" of `ai.providers.call_ids`.
"""

import msgspec
from msgspec import Struct

from ai.providers.surrogates import join_halves, unmark_halves


class Thinking(Struct, tag="thinking"):
    """`thinking` is empty where the model shows nothing of it; the signature has it all."""

    thinking: str
    signature: str


class RedactedThinking(Struct, tag="redacted_thinking"):
    data: str


Thought = Thinking | RedactedThinking

_decode_thoughts = msgspec.json.Decoder(list[Thought]).decode


def read_thoughts(state: str) -> list[Thought]:
    """The blocks of a state; none where a client has sent something else."""
    try:
        return _decode_thoughts(state) if state else []
    except (msgspec.DecodeError, UnicodeEncodeError):
        return []


class Thoughts:
    """The blocks of an answer that no call carries yet."""

    __slots__ = ("_done", "_signature", "_text")

    def __init__(self) -> None:
        self._done: list[Thought] = []
        self._text: list[str] = []
        self._signature: list[str] = []

    def add(self, *, text: str = "", signature: str = "") -> None:
        """Add to the block that is open."""
        if text:
            self._text.append(text)
        if signature:
            self._signature.append(signature)

    def add_redacted(self, data: str) -> None:
        """Add a whole block that shows nothing."""
        self._done.append(RedactedThinking(data))

    def end_block(self) -> None:
        """Nothing more comes for the block that is open, if one is. A block without a signature is
        of no use to the provider."""
        if self._signature:
            text = join_halves(unmark_halves("".join(self._text)))
            self._done.append(Thinking(text, "".join(self._signature)))
        self._text, self._signature = [], []

    def take_state(self) -> str:
        """The state with the blocks so far, which are then gone; empty where there are none."""
        self.end_block()
        done, self._done = self._done, []
        return msgspec.json.encode(done).decode() if done else ""
