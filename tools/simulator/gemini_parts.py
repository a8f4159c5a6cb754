"""The parts of Gemini's contents, and what is refused of them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from simulator import sights, signatures
from simulator.functions import FunctionCall as Call
from simulator.sights import Sight
from simulator.turns import Turns

# Signatures for calls that another model asked for, or nobody.
_ACCEPTED = ("context_engineering_is_the_way_to_go", "skip_thought_signature_validator")
_SIGNED_MODELS = "gemini-3"


class Fields(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A message of Google's interface: camel case, no unknown fields."""


class Blob(Fields):
    """The bytes of a file as base64."""

    mime_type: str
    data: str


class FunctionCall(Fields):
    name: str
    id: str = ""
    args: dict[str, Any] = {}


class ResponsePart(Fields):
    inline_data: Blob


class FunctionResponse(Fields):
    name: str
    response: dict[str, Any]
    id: str = ""
    parts: list[ResponsePart] = []


class Part(Fields):
    text: str | None = None
    inline_data: Blob | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    thought: bool = False
    thought_signature: str | None = None

    @property
    def is_empty(self) -> bool:
        data = (self.text, self.inline_data, self.function_call, self.function_response)
        return all(each is None for each in data)


class Content(Fields):
    parts: Annotated[list[Part], Meta(min_length=1)]
    role: Literal["user", "model"] | None = None

    @property
    def text(self) -> str:
        """The texts, those of results too."""
        spoken = [part.text for part in self.parts if part.text]
        return " ".join([*spoken, *(_text_of(result) for result in self.results)])

    @property
    def calls(self) -> list[FunctionCall]:
        return [part.function_call for part in self.parts if part.function_call is not None]

    @property
    def results(self) -> list[FunctionResponse]:
        return [part.function_response for part in self.parts if part.function_response is not None]

    @property
    def call_tokens(self) -> int:
        """The words of the arguments of its calls."""
        return sum(len(Call.of(call.name, call.args).arguments) for call in self.calls)


def heard(contents: Sequence[Content], *, has_tools: bool) -> tuple[Turns, list[Sight]]:
    """The open turns of a conversation, and all pictures in it. Raises `Unseen`."""
    turns = Turns(has_tools=has_tools)
    seen: list[Sight] = []
    for content in contents:
        for result in content.results:
            looks = [_seen(part.inline_data) for part in result.parts]
            turns.answered(result.name, _text_of(result), looks)
            seen += looks
        looks = [_seen(part.inline_data) for part in content.parts if part.inline_data is not None]
        seen += looks
        text = " ".join(part.text or "" for part in content.parts if part.function_response is None)
        if content.role == "model":
            turns.said()
        elif text or looks or not content.results:
            turns.asked(text, looks)
        for call in content.calls:
            turns.called(call.name, call.name)
    return turns, seen


def complaint(contents: Sequence[Content], model: str) -> str | None:
    """What is wrong with the calls and the results of a conversation."""
    return next(_complaints(_turns(contents), model), None)


def _turns(contents: Sequence[Content]) -> list[Content]:
    """Neighbours of one role in one: clients send the chunks of a stream as they came."""
    groups = groupby(contents, key=lambda content: content.role)
    return [
        Content([part for content in group for part in content.parts], role)
        for role, group in groups
    ]


def _complaints(contents: Sequence[Content], model: str) -> Iterator[str]:
    for before, content in zip([None, *contents], [*contents, None], strict=True):
        called = len(before.calls) if before is not None and before.role == "model" else 0
        if called != (len(content.results) if content is not None else 0):
            yield (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        if content is not None and content.calls and (before is None or before.role == "model"):
            yield (
                "Please ensure that function call turn comes immediately after a user turn or "
                "after a function response turn."
            )
    for part in (part for content in contents for part in content.parts):
        signature = part.thought_signature
        if signature and signature not in _ACCEPTED and not signatures.is_valid(signature):
            yield "Corrupted thought signature."
    if model.startswith(_SIGNED_MODELS):
        yield from _unsigned(contents)


def _unsigned(contents: Sequence[Content]) -> Iterator[str]:
    """The current turn begins with what the user said last; the first call of each step in it has
    a signature."""
    asked = (at for at, each in enumerate(contents) if each.role != "model" and not each.results)
    begin = max(asked, default=0)
    for position, content in enumerate(contents):
        signed = [part.thought_signature for part in content.parts if part.function_call]
        if position >= begin and signed and not signed[0]:
            yield (
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to "
                "degraded model performance. Additional data, function call "
                f"`default_api:{content.calls[0].name}` , position {position + 1}."
            )


def _text_of(result: FunctionResponse) -> str:
    """The text of a result: a single value as it is, anything else as JSON."""
    values = list(result.response.values())
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return msgspec.json.encode(result.response).decode()


def _seen(blob: Blob) -> Sight:
    if not blob.mime_type.startswith("image/"):
        raise sights.Unseen(f"Unsupported MIME type: {blob.mime_type}")
    return sights.see(blob.data.translate(str.maketrans("-_", "+/")))
