"""Builds a model's input from a conversation: as much as its window takes, the newest messages
last."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from msgspec import Struct

from ai.catalog.types import Model
from ai.providers.turns import conversation
from ai.providers.types import Message
from billing.selectors.entitlements import context_in_plan
from common.prompt_delimiters import PromptDelimiters
from conversations.errors import MessageTooLong

# The limit of a model's whole input.
MAX_CHARACTERS: Final = 400_000

_BYTES_PER_TOKEN: Final = 3  # fewer than ordinary text has: an estimate that fits is sure to fit
_ENVELOPE: Final = 16  # tokens that a chat template may put around one message
_NOT_READABLE: Final = "This file is not readable here: no more than its name and kind is known."
_fence = PromptDelimiters(
    "conversation_instructions", "space_instructions", "user_instructions", "attachment"
)


class Length(NamedTuple):
    """The length of a message: tokens as estimated, and characters."""

    tokens: int
    characters: int

    def fits(self, room: "Length") -> bool:
        """Is there room for it?"""
        return self.tokens <= room.tokens and self.characters <= room.characters

    def beside(self, other: "Length") -> "Length":
        """The rest of this room beside a message of `other`'s length."""
        return Length(self.tokens - other.tokens, self.characters - other.characters)


class File(Struct, frozen=True):
    """A file of a message. `text` is None where models cannot read it; `size` is in bytes."""

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
    """The input of a call, and its summary in the message: `{messages, omitted, input_tokens,
    attachments}`."""

    messages: tuple[Message, ...]
    report: dict[str, Any]


def room_of(model: Model, output_bound: int, *, is_free: bool) -> Length:
    """The room of a model's window beside its answer."""
    window = context_in_plan(model, is_free=is_free)
    # The answer gets at most half of the window: its own bound may be the whole window.
    answer = min(output_bound, window // 2)
    return Length(window - answer - model.prompt_overhead_tokens, MAX_CHARACTERS)


def length_of(text: str) -> Length:
    """The length of a message with that text."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return Length(-(-size // _BYTES_PER_TOKEN) + _ENVELOPE, len(text))


def length_of_bytes(size: int) -> Length:
    """The least length of UTF-8 text with that many bytes."""
    return Length(size // _BYTES_PER_TOKEN, size // 4)


def system_text(*, of_conversation: str, of_space: str, of_user: str) -> str:
    """The instructions of the conversation, of its space and of the user for this model; may be
    empty."""
    instructions = {"conversation": of_conversation, "space": of_space, "user": of_user}
    sections = [
        _fence(f"{of}_instructions", text) for of, text in instructions.items() if text.strip()
    ]
    return "\n\n".join(sections)


def user_turn(content: str, files: Sequence[File] = ()) -> Turn:
    """A user's message, followed by its files; it may consist of files alone."""
    parts = [content] if content else []
    return Turn("user", "\n\n".join([*parts, *map(_attachment, files)]), tuple(files))


def check_fits(
    length: Length, room: Length, *, model: Model, files: Iterable[tuple[str, int]], is_free: bool
) -> None:
    """Raises MessageTooLong for a message that does not fit with its instructions, even without
    earlier turns. `files` are the names and sizes of the files that models can read."""
    if length.fits(room):
        return
    by_tokens = length.tokens > room.tokens
    window = context_in_plan(model, is_free=is_free)
    raise MessageTooLong.of_length(
        length=length.tokens if by_tokens else length.characters,
        limit=room.tokens if by_tokens else room.characters,
        unit="tokens" if by_tokens else "characters",
        model=model.display_name,
        largest=max(files, key=lambda file: file[1], default=None),
        by_plan=by_tokens and window < model.context_window,
    )


def fitting(earlier: Iterable[Turn], room: Length) -> list[Turn]:
    """The newest of the earlier turns that fit, from a user's turn on, in the order of time.
    `turns` are in the opposite order, and only as many as needed are read."""
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
    """The context of these turns, the last of which is answered."""
    # Not every provider accepts two turns of one role in a row, as a failed reply leaves them.
    prompt = conversation([Message("system", system), *(Message(t.role, t.text) for t in turns)])
    messages = [Message("system", prompt.system)] if prompt.system else []
    messages += prompt.turns
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
