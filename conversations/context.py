"""What a model is given of a conversation: as much as its window takes, the newest words last."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from msgspec import Struct

from catalog.types import Model
from common.prompt_delimiters import PromptDelimiters
from conversations.errors import MessageTooLong
from providers.turns import conversation
from providers.types import Message

# Of all that a model is given.
MAX_CHARACTERS: Final = 400_000
# A free message is paid for by the platform, and so is all that is sent along with it.
FREE_CONTEXT_TOKENS: Final = 8_192

_BYTES_PER_TOKEN: Final = 3  # fewer than ordinary text has: what fits shall fit for certain
_ENVELOPE: Final = 16  # tokens that a chat template may put around one message
_NOT_READABLE: Final = "This file is not readable here: no more than its name and kind is known."
_fence = PromptDelimiters(
    "conversation_instructions", "space_instructions", "user_instructions", "attachment"
)


class Length(NamedTuple):
    """Of a message: tokens as estimated, and characters."""

    tokens: int
    characters: int

    def fits(self, room: "Length") -> bool:
        """Is there room for it?"""
        return self.tokens <= room.tokens and self.characters <= room.characters

    def beside(self, other: "Length") -> "Length":
        """The room that is left of this one."""
        return Length(self.tokens - other.tokens, self.characters - other.characters)


class File(Struct, frozen=True):
    """A file that goes with a message. `text` is None where models cannot read it; `size` is in
    bytes."""

    id: UUID
    name: str
    media_type: str
    size: int
    text: str | None


class Turn(Struct, frozen=True):
    """A message as the model reads it, with its files in its text."""

    role: Literal["user", "assistant"]
    text: str
    files: tuple[File, ...] = ()


class Context(Struct, frozen=True):
    """What a call sends, and what the message tells of it: `{messages, omitted, input_tokens,
    attachments}`."""

    messages: tuple[Message, ...]
    report: dict[str, Any]


def room_of(model: Model, output_bound: int, *, is_free: bool) -> Length:
    """What fits into a model's window beside its answer."""
    window = min(model.context_window, FREE_CONTEXT_TOKENS) if is_free else model.context_window
    # Half of the window at most: a model may be allowed to answer as much as it can read.
    answer = min(output_bound, window // 2)
    return Length(window - answer - model.prompt_overhead_tokens, MAX_CHARACTERS)


def length_of(text: str) -> Length:
    """How long a message of that text is."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return Length(-(-size // _BYTES_PER_TOKEN) + _ENVELOPE, len(text))


def length_of_bytes(size: int) -> Length:
    """The least that UTF-8 text of so many bytes can be."""
    return Length(size // _BYTES_PER_TOKEN, size // 4)


def system_text(*, of_conversation: str, of_space: str, of_user: str) -> str:
    """The instructions of the conversation, of its space and of the user for this model; empty
    where there are none."""
    said = {"conversation": of_conversation, "space": of_space, "user": of_user}
    sections = [_fence(f"{of}_instructions", text) for of, text in said.items() if text.strip()]
    return "\n\n".join(sections)


def user_turn(content: str, files: Sequence[File] = ()) -> Turn:
    """What a user says, with the files that go with it after it; they may be all."""
    said = [content] if content else []
    return Turn("user", "\n\n".join([*said, *map(_attachment, files)]), tuple(files))


def check_fits(
    length: Length, room: Length, *, model: Model, files: Iterable[tuple[str, int]], is_free: bool
) -> None:
    """Raises MessageTooLong for a message, with the instructions, that no turn could be left out
    for. `files` are the names and sizes of those that models can read."""
    if length.fits(room):
        return
    by_tokens = length.tokens > room.tokens
    raise MessageTooLong.of_length(
        length=length.tokens if by_tokens else length.characters,
        limit=room.tokens if by_tokens else room.characters,
        unit="tokens" if by_tokens else "characters",
        model=model.display_name,
        largest=max(files, key=lambda file: file[1], default=None),
        is_free=is_free,
    )


def fitting(earlier: Iterable[Turn], room: Length) -> list[Turn]:
    """What there is room for of the turns before the last one, given the newest first: the newest
    of them, the oldest first, from a user's turn on. No more are asked for than are needed."""
    kept: list[Turn] = []
    exchange: list[Turn] = []
    for turn in earlier:
        length = length_of(turn.text)
        if not length.fits(room):
            break
        room = room.beside(length)
        exchange.append(turn)
        if turn.role == "user":
            kept += exchange
            exchange = []
    return kept[::-1]


def assemble(system: str, turns: Sequence[Turn], omitted: int) -> Context:
    """The context of these turns, the last of which is to be answered."""
    # Not every provider takes two turns of one role in a row, as a reply that failed leaves them.
    said = conversation([Message("system", system), *(Message(t.role, t.text) for t in turns)])
    messages = [Message("system", said.system)] if said.system else []
    messages += said.turns
    report = {
        "messages": len(turns),
        "omitted": omitted,
        "input_tokens": sum(length_of(message.text).tokens for message in messages),
        "attachments": [_described(file) for turn in turns for file in turn.files],
    }
    return Context(tuple(messages), report)


def _attachment(file: File) -> str:
    return _fence(
        "attachment",
        _NOT_READABLE if file.text is None else file.text,
        name=file.name,
        type=file.media_type,
        size=f"{file.size} bytes",
    )


def _described(file: File) -> dict[str, Any]:
    return {
        "id": str(file.id),
        "name": file.name,
        "mime": file.media_type,
        "size": file.size,
        "characters": None if file.text is None else len(file.text),
    }
