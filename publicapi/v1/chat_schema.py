"""`POST /v1/chat/completions`: the body, the parts of it that go upstream, and the answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ai.catalog.types import Model
from ai.providers.types import FinishReason, Message, ReasoningEffort, Role
from common.titles import shows_something
from publicapi.v1.bodies import decode
from publicapi.v1.errors import InputTooLong, InvalidBody, InvalidMessages
from publicapi.v1.ignored import MAX_EXAMINED, ignored_fields, is_default

MAX_MESSAGES = 200
MAX_CHARACTERS = 400_000

_UPSTREAM_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_KNOWN_ROLES = frozenset({*_UPSTREAM_ROLES, "tool", "function"})
# Current SDKs send more words than the three of this product; an unknown one is ignored.
_EFFORTS: dict[str, ReasoningEffort] = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}


# --- The body -----------------------------------------------------------------------------------
# The bounds in `extra_json_schema` are checked below, with better messages than the decoder's.


# A field that is accepted and has no effect, whatever its value.
Unread = msgspec.Raw | UnsetType


class ContentPart(Struct):
    """One part of a message; only parts of type `text` are used, images are ignored."""

    type: str
    text: str | None = None


class ChatMessage(Struct):
    """One turn. Tool and function messages are accepted and count to the limits, but are not sent
    to the model; neither is any other field than these two."""

    role: Annotated[str, Meta(extra_json_schema={"enum": sorted(_KNOWN_ROLES)})]
    content: str | list[ContentPart] | None = None
    name: Unread = UNSET
    audio: Unread = UNSET
    function_call: Unread = UNSET
    refusal: Unread = UNSET
    tool_calls: Unread = UNSET

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content if part.text and part.type == "text")
        return self.content or ""


class StreamOptions(Struct):
    """The usage is always on the last chunk; with `include_usage` the others carry `null`."""

    include_usage: bool | None = None


OutputBound = Annotated[
    int | None,
    Meta(
        description="The most tokens that are generated, reasoning included: it bounds the bill.",
        extra_json_schema={"minimum": 1},
    ),
]


class ChatBody(Struct):
    """The fields that have a meaning here; every other one (temperature, tools, ...) is accepted
    and ignored."""

    model: Annotated[str, Meta(description="The id of a chat model, or a legacy alias.")]
    messages: Annotated[
        list[ChatMessage],
        Meta(
            description=f"The conversation, with text of the user in it; at most {MAX_CHARACTERS:,}"
            " characters in all.",
            extra_json_schema={"minItems": 1, "maxItems": MAX_MESSAGES},
        ),
    ]
    stream: Annotated[bool | None, Meta(description="Answer with server-sent events?")] = None
    stream_options: StreamOptions | None = None
    max_tokens: OutputBound = None
    max_completion_tokens: OutputBound = None
    reasoning_effort: Annotated[
        str | None,
        Meta(description="How much a reasoning model thinks: `low`, `medium` or `high`."),
    ] = None


# --- The answer ---------------------------------------------------------------------------------


class PromptTokensDetails(Struct):
    """`cached_tokens` is how many of the prompt's tokens the provider had in its cache."""

    cached_tokens: int


class CompletionTokensDetails(Struct):
    """`reasoning_tokens` is how many of the completion's tokens were spent on reasoning."""

    reasoning_tokens: int


class ChatUsage(Struct):
    """The tokens billed."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    completion_tokens_details: CompletionTokensDetails


class AssistantMessage(Struct, tag_field="role", tag="assistant", kw_only=True):
    """The model's text; `reasoning_content` where it shows its reasoning."""

    content: str
    refusal: None
    reasoning_content: str | UnsetType = UNSET


class Choice(Struct):
    """The one answer."""

    index: int
    message: AssistantMessage
    logprobs: None
    finish_reason: FinishReason


class Completion(Struct, tag_field="object", tag="chat.completion"):
    """A whole answer."""

    id: str
    created: Annotated[int, Meta(description="Unix seconds.")]
    model: Annotated[str, Meta(description="The model that answered: an alias is resolved.")]
    choices: list[Choice]
    usage: ChatUsage


class ChunkDelta(Struct, kw_only=True):
    """The added text; the first one carries the role, the last one nothing."""

    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    reasoning_content: str | UnsetType = UNSET


class ChunkChoice(Struct):
    """The one answer's part in this chunk."""

    index: int
    delta: ChunkDelta
    logprobs: None
    finish_reason: FinishReason | None


class CompletionChunk(Struct, tag_field="object", tag="chat.completion.chunk"):
    """A part of an answer; the last has the finish reason and the usage. `[DONE]` follows."""

    id: str
    created: Annotated[int, Meta(description="Unix seconds.")]
    model: Annotated[str, Meta(description="The model that answers: an alias is resolved.")]
    choices: list[ChunkChoice]
    usage: ChatUsage | UnsetType | None = UNSET


# --- Checks -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatInput:
    """A validated request. `max_output_tokens` is None where the client set no bound; `ignored` are
    the names of fields that have no effect."""

    model: str
    messages: tuple[Message, ...]
    stream: bool
    usage_on_every_chunk: bool
    max_output_tokens: int | None
    reasoning_effort: ReasoningEffort | None
    ignored: frozenset[str]

    def ignored_by(self, model: Model) -> frozenset[str]:
        """The names of fields that this model ignores."""
        is_read = model.reasoning or self.reasoning_effort is None
        return self.ignored if is_read else self.ignored | {"reasoning_effort"}


_FIELDS = frozenset(ChatBody.__struct_fields__)
_UNREAD = tuple(name for name in ChatMessage.__struct_fields__ if name not in ("role", "content"))
# Values of OpenAI's interface that are the defaults here.
_DEFAULTS: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "temperature": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "top_logprobs": (0,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "tool_choice": ("auto", "none"),
    "function_call": ("auto", "none"),
    "parallel_tool_calls": (True,),
    "service_tier": ("auto", "default"),
    "verbosity": ("medium",),
}

_decoder = msgspec.json.Decoder(ChatBody)


def parse(body: bytes) -> ChatInput:
    """Check a body. Raises InvalidBody, InvalidMessages or InputTooLong."""
    data = decode(_decoder, body)
    options = data.stream_options
    return ChatInput(
        model=data.model,
        messages=_messages(data.messages),
        stream=bool(data.stream),
        usage_on_every_chunk=bool(options and options.include_usage),
        max_output_tokens=_output_bound(data),
        reasoning_effort=_EFFORTS.get(data.reasoning_effort or ""),
        ignored=_ignored(data, body),
    )


def _output_bound(data: ChatBody) -> int | None:
    """The bound in force: the newer name wins."""
    bounds = {"max_completion_tokens": data.max_completion_tokens, "max_tokens": data.max_tokens}
    for name, bound in bounds.items():
        if bound is not None and bound < 1:
            raise InvalidBody(f"`{name}` must be at least 1.", param=name)
    return next((bound for bound in bounds.values() if bound is not None), None)


def _messages(sent: list[ChatMessage]) -> tuple[Message, ...]:
    """The messages for upstream: turns with text. Tool messages count to the limits and are
    dropped."""
    if len(sent) > MAX_MESSAGES:
        raise InvalidMessages(
            f"A request may hold at most {MAX_MESSAGES} messages; this one has {len(sent)}. "
            "Drop or summarise the oldest turns."
        )
    characters = 0
    messages = []
    for index, message in enumerate(sent):
        if message.role not in _KNOWN_ROLES:
            raise InvalidBody(
                "A message's `role` must be `system`, `developer`, `user`, `assistant` or `tool`.",
                param=f"messages[{index}].role",
            )
        text = message.text
        characters += len(text)
        if characters > MAX_CHARACTERS:
            raise InputTooLong
        if "\0" in text:
            raise InvalidBody(
                "A message holds a NUL character; remove it.", param=f"messages[{index}].content"
            )
        role = _UPSTREAM_ROLES.get(message.role)
        if role and text:
            messages.append(Message(role, text))
    if not any(message.role == "user" and shows_something(message.text) for message in messages):
        raise InvalidMessages
    return tuple(messages)


def _ignored(data: ChatBody, body: bytes) -> frozenset[str]:
    """The names of fields, of message fields and kinds of parts (`messages.image_url`), and of
    kinds of messages (`messages.tool`) that were sent and have no effect."""
    names = ignored_fields(body, _FIELDS, _DEFAULTS)
    if data.reasoning_effort and data.reasoning_effort not in _EFFORTS:
        names.add("reasoning_effort")
    for message in data.messages:
        if message.role in _UPSTREAM_ROLES:
            names |= {f"messages.{field}" for field in _UNREAD if _asks(getattr(message, field))}
        else:
            names.add(f"messages.{message.role}")
    names |= {f"messages.{part.type}" for part in _parts(data.messages) if part.type != "text"}
    return frozenset(names)


def _asks(value: Unread) -> bool:
    return value is not UNSET and not is_default(value)


def _parts(messages: list[ChatMessage]) -> Iterable[ContentPart]:
    """The parts that are searched for ignored fields."""
    lists = (message.content for message in messages if isinstance(message.content, list))
    return islice(chain.from_iterable(lists), MAX_EXAMINED)
