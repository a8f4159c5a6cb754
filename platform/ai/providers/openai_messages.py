"""The messages of `POST /chat/completions`: turns with tool calls, their results, and pictures."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ai.providers.call_ids import StateForm, own_id, read_call_id
from ai.providers.config import Flags, ReasoningField
from ai.providers.instructions import ONE_CALL
from ai.providers.types import ChatRequest, InputImage, JsonOutput, Message, ToolCall

_CALL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,40}")  # OpenAI takes no longer ones
_SHORT_CALL_ID = re.compile(r"[A-Za-z0-9]{9}")
# For a provider that refuses a turn with calls but without its reasoning, and an empty one.
_NO_REASONING = " "
_RESULTS = "Pictures of the results:"
_ANSWER_WITH_JSON = "Answer with JSON alone."
_FOLLOW_THE_SCHEMA = "Answer with JSON alone, which matches the JSON Schema below."

STATE_FORMS: Mapping[ReasoningField, StateForm] = {
    "reasoning_content": "r",
    "reasoning": "r",
    "reasoning_details": "d",
}


def encode_messages(request: ChatRequest, flags: Flags) -> list[dict[str, Any]]:
    """The messages of a request, as JSON."""
    messages = list(_encoded(request.messages, flags))
    if flags.default_system_message and all(m["role"] != "system" for m in messages):
        messages.insert(0, {"role": "system", "content": flags.default_system_message})
    if request.output and (instruction := _instruction(request.output, request.messages, flags)):
        messages.insert(0, {"role": "system", "content": instruction})
    if request.tools and not request.tools.parallel and flags.parallel_calls == "fixed":
        messages.insert(0, {"role": "system", "content": ONE_CALL})
    return messages


def _encoded(messages: tuple[Message, ...], flags: Flags) -> Iterator[dict[str, Any]]:
    # Results follow their calls without a turn in between, so that their pictures come after all.
    waiting: list[InputImage] = []
    for message in messages:
        if waiting and message.role != "tool":
            yield _pictures_of_results(waiting)
            waiting = []
        if message.role == "tool":
            yield _result(message, flags)
            waiting += [] if flags.results_have_pictures else message.images
        elif message.tool_calls:
            yield _turn_with_calls(message, flags)
        else:
            yield {"role": message.role, "content": _content(message)}
    if waiting:
        yield _pictures_of_results(waiting)


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.parts:
        return message.text
    return [
        _picture(part) if isinstance(part, InputImage) else _text(part) for part in message.parts
    ]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture(image: InputImage) -> dict[str, Any]:
    url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
    detail = {} if image.detail == "auto" else {"detail": image.detail}
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def _turn_with_calls(message: Message, flags: Flags) -> dict[str, Any]:
    turn: dict[str, Any] = {
        "role": "assistant",
        "content": _content(message) or None,
        "tool_calls": [
            {
                "id": _call_id(call.id, flags),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ],
    }
    if flags.reasoning_back:
        turn |= _reasoning(message.tool_calls, flags.reasoning_back)
        if flags.needs_reasoning_back:
            turn.setdefault(flags.reasoning_back, _NO_REASONING)
    return turn


def _reasoning(calls: tuple[ToolCall, ...], field: ReasoningField) -> dict[str, Any]:
    """The reasoning that came with calls, in its field; nothing where none came."""
    state = next(
        filter(None, (read_call_id(call.id, STATE_FORMS[field]).state for call in calls)), ""
    )
    if not state:
        return {}
    if field != "reasoning_details":
        return {field: state}
    try:
        return {field: msgspec.json.decode(state, type=list[dict[str, Any]])}
    except msgspec.DecodeError:
        return {}


def _result(message: Message, flags: Flags) -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": _call_id(message.tool_call_id, flags),
        "content": _content(message) if flags.results_have_pictures else message.text,
    }


def _pictures_of_results(images: list[InputImage]) -> dict[str, Any]:
    return {"role": "user", "content": [_text(_RESULTS), *map(_picture, images)]}


def _call_id(text: str, flags: Flags) -> str:
    """A call's id as the provider takes it: its own, or always the same one for another's."""
    own = own_id(text)
    form, length = (_SHORT_CALL_ID, 9) if flags.short_call_ids else (_CALL_ID, 32)
    return (
        own
        if form.fullmatch(own)
        else hashlib.sha256(own.encode("utf-8", "surrogatepass")).hexdigest()[:length]
    )


def _instruction(output: JsonOutput, messages: tuple[Message, ...], flags: Flags) -> str:
    """What a model has to be told of the form: a schema that its provider does not enforce. Where
    nobody speaks of JSON, most providers refuse to enforce it, and the others answer with blanks
    without end."""
    if output.schema is not None:
        if flags.enforces_schemas:
            return ""
        return f"{_FOLLOW_THE_SCHEMA}\n{msgspec.json.encode(output.schema).decode()}"
    is_told = any("json" in message.text.lower() for message in messages)
    return "" if is_told else _ANSWER_WITH_JSON
