"""The blocks of content in Anthropic's messages, and what is refused of them."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from simulator import sights, signatures
from simulator.functions import FunctionCall
from simulator.sights import Sight
from simulator.turns import Turns

_ID = re.compile(r"[a-zA-Z0-9_-]+")


class Text(Struct, tag="text"):
    text: str
    cache_control: Raw = Raw()


class Source(Struct):
    type: Literal["base64", "url"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"] | None = None
    data: str = ""


class Picture(Struct, tag="image"):
    source: Source
    cache_control: Raw = Raw()

    def seen(self) -> Sight:
        """Raises `Unseen`."""
        if self.source.type == "url":
            raise sights.Unseen("The simulator fetches no pictures: send them in base64.")
        return sights.see(self.source.data)


class ToolUse(Struct, tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]
    cache_control: Raw = Raw()


class ToolResult(Struct, tag="tool_result"):
    tool_use_id: str
    content: str | list[Text | Picture] = ""
    is_error: bool = False
    cache_control: Raw = Raw()

    @property
    def text(self) -> str:
        return joined(self.content)

    @property
    def pictures(self) -> list[Picture]:
        return [] if isinstance(self.content, str) else _pictures(self.content)


class Thinking(Struct, tag="thinking"):
    thinking: str
    signature: str


class RedactedThinking(Struct, tag="redacted_thinking"):
    data: str


Block = Text | Picture | ToolUse | ToolResult | Thinking | RedactedThinking
_OF_ASSISTANT = (ToolUse, Thinking, RedactedThinking)
_OF_USER = (ToolResult, Picture)


class Turn(msgspec.Struct, forbid_unknown_fields=True):
    role: Literal["user", "assistant"]
    content: str | list[Block]

    @property
    def blocks(self) -> list[Block]:
        return [Text(self.content)] if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        """The texts of the turn, those of results too."""
        return " ".join(
            block.text for block in self.blocks if isinstance(block, (Text, ToolResult))
        )

    @property
    def calls(self) -> list[ToolUse]:
        return [block for block in self.blocks if isinstance(block, ToolUse)]

    @property
    def results(self) -> list[ToolResult]:
        return [block for block in self.blocks if isinstance(block, ToolResult)]

    @property
    def call_tokens(self) -> int:
        """The words of the arguments of its calls."""
        return sum(len(FunctionCall.of(call.name, call.input).arguments) for call in self.calls)

    @property
    def is_empty(self) -> bool:
        texts = [block.text for block in self.blocks if isinstance(block, Text)]
        return not self.blocks or not all(text.strip() for text in texts)


def joined(content: str | Sequence[Block]) -> str:
    """The texts of some content."""
    if isinstance(content, str):
        return content
    return " ".join(block.text for block in content if isinstance(block, Text))


def heard(messages: Sequence[Turn], *, has_tools: bool) -> tuple[Turns, list[Sight]]:
    """The open turns of a conversation, and all pictures in it. Raises `Unseen`."""
    turns = Turns(has_tools=has_tools)
    seen: list[Sight] = []
    for turn in messages:
        for result in turn.results:
            looks = [picture.seen() for picture in result.pictures]
            turns.answered(result.tool_use_id, result.text, looks)
            seen += looks
        looks = [picture.seen() for picture in _pictures(turn.blocks)]
        seen += looks
        texts = joined(turn.blocks)
        if turn.role == "assistant":
            turns.said()
        elif texts or looks or not turn.results:
            turns.asked(texts, looks)
        for call in turn.calls:
            turns.called(call.id, call.name)
    return turns, seen


def complaint(messages: Sequence[Turn], *, has_tools: bool) -> str | None:
    """What is wrong with the blocks of a conversation."""
    if not has_tools and any(turn.calls or turn.results for turn in messages):
        return "Requests which have `tool_use` or `tool_result` blocks must define tools."
    ids = [call.id for turn in messages for call in turn.calls]
    if len(set(ids)) < len(ids):
        return "messages: `tool_use` ids must be unique"
    previous: Turn | None = None
    for index, turn in enumerate([*messages, None]):
        found = _pairing(previous, turn, index)
        if found is None and turn is not None:
            found = next(_block_complaints(turn, index), None)
        if found is not None:
            return found
        previous = turn
    return None


def _pairing(previous: Turn | None, turn: Turn | None, index: int) -> str | None:
    """Do the results at the beginning of a turn belong to the calls of the turn before it?"""
    blocks = turn.blocks if turn is not None else []
    first = next((at for at, b in enumerate(blocks) if not isinstance(b, ToolResult)), len(blocks))
    answered = [block.tool_use_id for block in blocks[:first] if isinstance(block, ToolResult)]
    called = [call.id for call in previous.calls] if previous is not None else []
    missing = [call_id for call_id in called if call_id not in answered]
    if missing:
        return (
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
            "corresponding `tool_result` block in the next message."
        )
    for at, block in enumerate(blocks):
        if isinstance(block, ToolResult) and block.tool_use_id not in called:
            return (
                f"messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {block.tool_use_id}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )
    return None


def _block_complaints(turn: Turn, index: int) -> Iterator[str]:
    if turn.is_empty:
        yield f"messages.{index}.content: text must not be empty"
    strange = _OF_USER if turn.role == "assistant" else _OF_ASSISTANT
    for at, block in enumerate(turn.blocks):
        place = f"messages.{index}.content.{at}"
        if isinstance(block, strange):
            yield f"{place}: this type of block is not allowed in a message of the {turn.role}"
        if isinstance(block, ToolUse) and not _ID.fullmatch(block.id):
            yield f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        if isinstance(block, Thinking) and not signatures.is_valid(
            block.signature, block.thinking or None
        ):
            yield f"{place}: Invalid `signature` in `thinking` block"


def _pictures(content: Sequence[Block]) -> list[Picture]:
    return [block for block in content if isinstance(block, Picture)]
