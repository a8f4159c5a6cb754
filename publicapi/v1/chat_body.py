"""The body of `POST /v1/chat/completions`, as it is decoded for every key.

The bounds in `extra_json_schema` are checked later, with better messages than the decoder's. Fields
that need a feature of the key are decoded where the key has it (`publicapi.v1.chat_tools` and
others); for other keys they may hold anything.
"""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

MAX_MESSAGES = 200
MAX_CHARACTERS = 400_000

MESSAGE_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

# A field that is not decoded with the body: it has no effect, or needs a feature of the key.
Unread = msgspec.Raw | UnsetType


def _one(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(name: str) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": _one(name)}


class ContentPart(Struct):
    """One part of a message. Parts of type `text` are used, and with the feature `vision` those of
    type `image_url` in messages of the user and results of tools."""

    type: str
    text: str | None = None
    image_url: Annotated[Unread, Meta(extra_json_schema=_one("ImageUrl"))] = UNSET


class ChatMessage(Struct):
    """One turn. Without the feature `tools`, messages of role `tool` are accepted and count to the
    limits, but are not sent to the model, and neither are `tool_calls`; those of role `function`
    never are. Other fields have no effect."""

    role: Annotated[str, Meta(extra_json_schema={"enum": sorted(MESSAGE_ROLES)})]
    content: str | list[ContentPart] | None = None
    name: Unread = UNSET
    audio: Unread = UNSET
    function_call: Unread = UNSET
    refusal: Unread = UNSET
    tool_calls: Annotated[
        Unread,
        Meta(
            description="The calls that the model asked for in this turn, as they came.",
            extra_json_schema=_list("SentToolCall"),
        ),
    ] = UNSET
    tool_call_id: Annotated[
        Unread,
        Meta(
            description="The call that this message of role `tool` is the result of.",
            extra_json_schema={"type": ["string", "null"]},
        ),
    ] = UNSET

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
    """The fields that have a meaning here; every other one (temperature, n, ...) is accepted and
    ignored. `tools`, `tool_choice`, `parallel_tool_calls` and `response_format` are ignored as well
    where the key has not the feature."""

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
    tools: Annotated[
        Unread,
        Meta(
            description="With the feature `tools`: the functions that the model may ask for.",
            extra_json_schema=_list("SentTool"),
        ),
    ] = UNSET
    tool_choice: Annotated[
        Unread,
        Meta(
            description="With the feature `tools`: `auto`, `none`, `required`, or the function that"
            " the model has to ask for.",
            extra_json_schema={
                "anyOf": [
                    {"enum": ["auto", "none", "required", None]},
                    _one("SentToolChoice"),
                ]
            },
        ),
    ] = UNSET
    parallel_tool_calls: Annotated[
        Unread,
        Meta(
            description="With the feature `tools`: may the model ask for several calls at once?",
            extra_json_schema={"type": ["boolean", "null"]},
        ),
    ] = UNSET
    response_format: Annotated[
        Unread,
        Meta(
            description="With the feature `structured_outputs`: the form of the answer.",
            extra_json_schema={"anyOf": [_one("ResponseFormat"), {"type": "null"}]},
        ),
    ] = UNSET
