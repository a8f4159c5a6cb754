"""The answer of `POST /v1/chat/completions`: whole, or in chunks."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, json

from ai.inference.chat import ChatRunner
from ai.inference.types import ChatAnswer
from ai.providers.types import (
    Delta,
    FinishReason,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
)
from common.ids import unix_seconds


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


class FunctionCall(Struct):
    """The name of the function, and its arguments: JSON as the model wrote it."""

    name: str
    arguments: str


class MessageToolCall(Struct, tag_field="type", tag="function"):
    """A call that the model asks for. Send its result with this `id`, whole: it can be long, as it
    carries what the provider wants back."""

    id: str
    function: FunctionCall


class AssistantMessage(Struct, tag_field="role", tag="assistant", kw_only=True):
    """The model's text, null where it only asks for calls or refuses; `reasoning_content` where it
    shows its reasoning."""

    content: str | None
    refusal: str | None
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[MessageToolCall] | UnsetType = UNSET


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


class FunctionCallDelta(Struct, kw_only=True):
    """The name, in the first piece of a call, and a piece of the arguments."""

    name: str | UnsetType = UNSET
    arguments: str


class ToolCallChunk(Struct, kw_only=True):
    """A piece of the call with this index; the first one has `id` and `type`."""

    index: int
    id: str | UnsetType = UNSET
    type: Literal["function"] | UnsetType = UNSET
    function: FunctionCallDelta


class ChunkDelta(Struct, kw_only=True):
    """What is added; the first one carries the role, the last one nothing."""

    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType | None = UNSET
    reasoning_content: str | UnsetType = UNSET
    refusal: str | UnsetType = UNSET
    tool_calls: list[ToolCallChunk] | UnsetType = UNSET


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


# --- Encoding -----------------------------------------------------------------------------------


def completion(runner: ChatRunner, answer: ChatAnswer) -> bytes:
    """The whole answer of a call that has ended."""
    calls, refusal = runner.tool_calls, runner.refusal
    has_no_text = bool(calls or refusal)
    message = AssistantMessage(
        content=runner.text or (None if has_no_text else ""),
        refusal=refusal or None,
        reasoning_content=runner.reasoning or UNSET,
        tool_calls=[_whole(call) for call in calls] or UNSET,
    )
    return json.encode(
        Completion(
            id=_completion_id(runner),
            created=unix_seconds(runner.charge_id),
            model=runner.call.model.id,
            choices=[Choice(0, message, logprobs=None, finish_reason=_reason(runner, answer))],
            usage=_usage(answer),
        )
    )


class Chunks:
    """Encodes the chunks of one stream; all fields but the delta are encoded once."""

    def __init__(self, runner: ChatRunner, usage_on_every_chunk: bool) -> None:
        self._runner = runner
        self._choice = ChunkChoice(0, ChunkDelta(), logprobs=None, finish_reason=None)
        self._chunk = CompletionChunk(
            id=_completion_id(runner),
            created=unix_seconds(runner.charge_id),
            model=runner.call.model.id,
            choices=[self._choice],
            usage=None if usage_on_every_chunk else UNSET,
        )
        before, after = frame(json.encode(self._chunk)).split(b'"delta":{}')
        self._before, self._after = before + b'"delta":', after

    def first(self) -> bytes:
        """The role, and an empty text where the answer does not begin with a call."""
        events = self._runner.events
        begins_with_call = bool(events) and isinstance(events[0], ToolCallDelta)
        delta = ChunkDelta(role="assistant", content=None if begins_with_call else "")
        return self._before + json.encode(delta) + self._after

    def deltas(self, batch: list[Delta]) -> bytes:
        """One chunk for each delta."""
        before, after, encode = self._before, self._after, json.encode
        parts: list[bytes] = []
        for delta in batch:
            if type(delta) is TextDelta:
                parts += (before, b'{"content":', encode(delta.text), b"}", after)
            elif isinstance(delta, ToolCallDelta):
                parts += (before, encode(_piece(delta)), after)
            else:
                parts += (before, _FIELDS[type(delta)], encode(delta.text), b"}", after)
        return b"".join(parts)

    def last(self, answer: ChatAnswer) -> bytes:
        """The finish reason and the usage, on one chunk: the last before `[DONE]`."""
        self._choice.finish_reason = _reason(self._runner, answer)
        self._chunk.usage = _usage(answer)
        return frame(json.encode(self._chunk)) + DONE


# The fields of words that are no text.
_FIELDS: dict[type[Delta], bytes] = {
    ReasoningDelta: b'{"reasoning_content":',
    RefusalDelta: b'{"refusal":',
}


def frame(data: bytes) -> bytes:
    """A server-sent event."""
    return b"data: " + data + b"\n\n"


DONE = frame(b"[DONE]")


def _reason(runner: ChatRunner, answer: ChatAnswer) -> FinishReason:
    """Clients show a refusal where the answer has come to its end, as OpenAI's does; of one that
    was filtered they show nothing."""
    return "stop" if runner.call.output and runner.refusal else answer.finish_reason


def _whole(call: ToolCall) -> MessageToolCall:
    return MessageToolCall(call.id, FunctionCall(call.name, call.arguments))


def _piece(delta: ToolCallDelta) -> ChunkDelta:
    piece = ToolCallChunk(index=delta.index, function=FunctionCallDelta(arguments=delta.text))
    if delta.id:
        piece.id, piece.type, piece.function.name = delta.id, "function", delta.name
    return ChunkDelta(tool_calls=[piece])


def _completion_id(runner: ChatRunner) -> str:
    return f"chatcmpl-{runner.charge_id.hex}"


def _usage(answer: ChatAnswer) -> ChatUsage:
    usage = answer.usage
    return ChatUsage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        prompt_tokens_details=PromptTokensDetails(usage.cached_tokens),
        completion_tokens_details=CompletionTokensDetails(usage.reasoning_tokens),
    )
