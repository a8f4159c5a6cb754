"""Reads the body of `POST /v1/chat/completions`: what of it counts, and what is ignored."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

import msgspec
from msgspec import UNSET

from accounts.features import KeyFeature
from ai.catalog.types import Model
from ai.providers.types import JsonOutput, ReasoningEffort, Tools
from publicapi.v1.bodies import decode
from publicapi.v1.chat_body import ChatBody, ChatMessage, Unread
from publicapi.v1.chat_messages import (
    UPSTREAM_ROLES,
    Conversation,
    read_messages,
    roles_that_show,
)
from publicapi.v1.chat_output import read_output
from publicapi.v1.chat_tools import read_tools
from publicapi.v1.definitions import size_of
from publicapi.v1.errors import InvalidBody
from publicapi.v1.ignored import MAX_EXAMINED, ignored_fields, is_default

Features = frozenset[KeyFeature]

# Current SDKs send more words than the three of this product; an unknown one is ignored.
_EFFORTS: dict[str, ReasoningEffort] = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}


@dataclass(frozen=True, slots=True)
class ChatInput:
    """A validated request. `max_output_tokens` is None where the client set no bound; `ignored` are
    the names of fields that have no effect."""

    model: str
    conversation: Conversation
    stream: bool
    usage_on_every_chunk: bool
    max_output_tokens: int | None
    reasoning_effort: ReasoningEffort | None
    tools: Tools | None
    output: JsonOutput | None
    ignored: frozenset[str]

    def ignored_by(self, model: Model) -> frozenset[str]:
        """The names of fields that this model ignores."""
        is_read = model.reasoning or self.reasoning_effort is None
        return self.ignored if is_read else self.ignored | {"reasoning_effort"}


_FIELDS_OF_FEATURES: dict[KeyFeature, frozenset[str]] = {
    "tools": frozenset({"tools", "tool_choice", "parallel_tool_calls"}),
    "structured_outputs": frozenset({"response_format"}),
    "vision": frozenset(),
}
_FIELDS = frozenset(ChatBody.__struct_fields__).difference(*_FIELDS_OF_FEATURES.values())
_UNREAD = ("name", "audio", "function_call", "refusal")
_UNREAD_OF_TEXT = (*_UNREAD, "tool_calls")
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


def parse(body: bytes, features: Features) -> ChatInput:
    """Check a body; what needs a feature that the key has not is ignored. Raises InvalidBody,
    InvalidMessages or InputTooLong."""
    data = decode(_decoder, body)
    tools = read_tools(data) if "tools" in features else None
    output = read_output(data.response_format) if "structured_outputs" in features else None
    definitions = size_of(data.tools) if tools else 0
    definitions += size_of(data.response_format) if output else 0
    options = data.stream_options
    return ChatInput(
        model=data.model,
        conversation=read_messages(data.messages, features, definitions),
        stream=bool(data.stream),
        usage_on_every_chunk=bool(options and options.include_usage),
        max_output_tokens=_output_bound(data),
        reasoning_effort=_EFFORTS.get(data.reasoning_effort or ""),
        tools=tools,
        output=output,
        ignored=_ignored(data, body, features),
    )


def _output_bound(data: ChatBody) -> int | None:
    """The bound in force: the newer name wins."""
    bounds = {"max_completion_tokens": data.max_completion_tokens, "max_tokens": data.max_tokens}
    for name, bound in bounds.items():
        if bound is not None and bound < 1:
            raise InvalidBody(f"`{name}` must be at least 1.", param=name)
    return next((bound for bound in bounds.values() if bound is not None), None)


def _ignored(data: ChatBody, body: bytes, features: Features) -> frozenset[str]:
    """The names of fields, of message fields and kinds of parts (`messages.image_url`), and of
    kinds of messages (`messages.tool`) that were sent and have no effect."""
    names = ignored_fields(body, _known(features), _DEFAULTS)
    if data.reasoning_effort and data.reasoning_effort not in _EFFORTS:
        names.add("reasoning_effort")
    has_tools = "tools" in features
    caller = "assistant" if has_tools else None
    for message in data.messages:
        if message.role in UPSTREAM_ROLES:
            unread = _UNREAD if message.role == caller else _UNREAD_OF_TEXT
            names |= {f"messages.{field}" for field in unread if _asks(getattr(message, field))}
        elif not (has_tools and message.role == "tool"):
            names.add(f"messages.{message.role}")
    kinds = _kinds_of_parts(data.messages)
    if shows := roles_that_show(features):
        others = (message for message in data.messages if message.role not in shows)
        kinds -= {"image_url"} - _kinds_of_parts(others)
    return frozenset(names | {f"messages.{kind}" for kind in kinds})


@lru_cache(maxsize=8)
def _known(features: Features) -> frozenset[str]:
    """The fields that have an effect for a key with these features."""
    return _FIELDS.union(*(_FIELDS_OF_FEATURES[feature] for feature in features))


def _asks(value: Unread) -> bool:
    return value is not UNSET and not is_default(value)


def _kinds_of_parts(messages: Iterable[ChatMessage]) -> set[str]:
    """The types of the parts that are examined, without text."""
    lists = (message.content for message in messages if isinstance(message.content, list))
    parts = islice(chain.from_iterable(lists), MAX_EXAMINED)
    return {part.type for part in parts if part.type != "text"}
