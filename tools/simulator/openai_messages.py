"""The messages of OpenAI's `POST /v1/chat/completions`, and what is refused of them."""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from simulator import sights
from simulator.functions import FunctionCall
from simulator.provider import Problem, Refused
from simulator.sights import Sight
from simulator.turns import Turns
from simulator.vendors import Vendor

_MISTRAL_ID = re.compile(r"[A-Za-z0-9]{9}")


class ImageUrl(msgspec.Struct):
    url: str
    detail: Literal["auto", "low", "high", "original"] | None = None


class Part(msgspec.Struct):
    type: str
    text: str = ""
    image_url: ImageUrl | str | None = None

    @property
    def url(self) -> str:
        return self.image_url.url if isinstance(self.image_url, ImageUrl) else self.image_url or ""


class CalledFunction(msgspec.Struct):
    name: str
    arguments: str


class ToolCall(msgspec.Struct):
    id: str
    function: CalledFunction
    type: Literal["function"] = "function"


class Message(msgspec.Struct):
    role: str
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return " ".join(part.text for part in self.content or [] if part.type == "text")

    @property
    def calls(self) -> list[ToolCall]:
        return self.tool_calls or []

    @property
    def call_tokens(self) -> int:
        """The words of the arguments of its calls."""
        texts = (call.function.arguments for call in self.calls)
        return sum(len(FunctionCall.of("", text).arguments) for text in texts)

    @property
    def pictures(self) -> list[Part]:
        parts = self.content if isinstance(self.content, list) else []
        return [part for part in parts if part.type == "image_url"]


def heard(messages: Sequence[Message], *, has_tools: bool) -> tuple[Turns, list[Sight]]:
    """The open turns of a conversation, and all pictures in it. Raises `Refused`."""
    turns, seen = Turns(has_tools=has_tools), []
    for message in messages:
        looks = _looks(message)
        seen += looks
        if message.role == "user":
            turns.asked(message.text, looks)
        elif message.role == "tool":
            turns.answered(message.tool_call_id or "", message.text, looks)
        else:
            turns.said()
        for call in message.calls:
            turns.called(call.id, call.function.name)
    return turns, seen


def _looks(message: Message) -> list[Sight]:
    try:
        return [sights.see_url(part.url) for part in message.pictures]
    except sights.Unseen as error:
        raise Refused(Problem(400, str(error), "invalid_image_format", "messages")) from error


def check(messages: Sequence[Message], vendor: Vendor, *, thinks: bool) -> None:
    """Raises `Refused` where a call and its result do not belong together, and where a message
    has not what the vendor wants."""
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in open_ids:
                words = (
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'."
                )
                raise _refused(words, f"messages.[{index}].role")
            open_ids.remove(message.tool_call_id)
            continue
        _check_answered(open_ids, index)
        open_ids = [call.id for call in message.calls]
        _check_vendor(message, index, vendor, thinks=thinks)
    _check_answered(open_ids, len(messages))


def _check_answered(open_ids: list[str], index: int) -> None:
    if open_ids:
        words = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(open_ids)
        )
        raise _refused(words, f"messages.[{index}].role")


def _check_vendor(message: Message, index: int, vendor: Vendor, *, thinks: bool) -> None:
    if message.pictures and not vendor.sees:
        words = f"messages[{index}]: unknown variant `image_url`, expected `text`"
        raise _refused(words, "messages")
    if message.calls and message.reasoning_content is None and thinks and vendor.wants_reasoning:
        raise _refused(vendor.wants_reasoning.format(index=index), None)
    for number, call in enumerate(message.calls):
        if vendor.longest_id is not None and len(call.id) > vendor.longest_id:
            place = f"messages[{index}].tool_calls[{number}].id"
            words = (
                f"Invalid '{place}': string too long. Expected a string with maximum length "
                f"{vendor.longest_id}, but got a string with length {len(call.id)} instead."
            )
            raise _refused(words, place)
        if vendor.short_ids and not _MISTRAL_ID.fullmatch(call.id):
            words = f"Tool call id was {call.id} but must be a-z, A-Z, 0-9, with a length of 9."
            raise Refused(Problem(400, words, "3280"))


def _refused(words: str, param: str | None) -> Refused:
    return Refused(Problem(400, words, param=param))
