"""The body of Anthropic's `POST /v1/messages`, with the refusals of its newer models."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw

from simulator.chat_types import ChatRequest
from simulator.provider import Problem, Refused

MAX_OUTPUT_TOKENS = 128_000
# The reasoning tokens of an answer that is not steered.
_THOUGHTS = {"low": 4, "medium": 8, "high": 12, "xhigh": 16, "max": 20}
_SAMPLING = ("temperature", "top_p", "top_k")


class Block(msgspec.Struct):
    type: Literal["text"]
    text: str
    cache_control: Raw = Raw()


class Turn(msgspec.Struct, forbid_unknown_fields=True):
    role: Literal["user", "assistant"]
    content: str | list[Block]

    @property
    def text(self) -> str:
        return _joined(self.content)

    @property
    def is_empty(self) -> bool:
        blocks = [self.content] if isinstance(self.content, str) else self._texts
        return not blocks or not all(block.strip() for block in blocks)

    @property
    def _texts(self) -> list[str]:
        return [block.text for block in self.content if isinstance(block, Block)]


class Thinking(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["enabled", "adaptive", "disabled"]
    budget_tokens: int | None = None
    display: Literal["summarized", "omitted"] = "omitted"


class OutputConfig(msgspec.Struct, forbid_unknown_fields=True):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: Raw = Raw()


class MessagesBody(msgspec.Struct, forbid_unknown_fields=True):
    model: str
    max_tokens: Annotated[int, Meta(ge=1, le=MAX_OUTPUT_TOKENS)]
    messages: Annotated[list[Turn], Meta(min_length=1, max_length=100_000)]
    system: str | list[Block] | None = None
    stream: bool = False
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    stop_sequences: list[str] | None = None
    metadata: Raw = Raw()
    service_tier: Literal["auto", "standard_only"] | None = None
    tools: Raw = Raw()
    tool_choice: Raw = Raw()
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None

    @property
    def shows_thoughts(self) -> bool:
        return self.thinking is not None and self.thinking.display == "summarized"

    def chat_request(self) -> ChatRequest:
        texts = [turn.text for turn in self.messages]
        if self.system:
            texts.insert(0, _joined(self.system))
        return ChatRequest(
            model=self.model,
            stream=self.stream,
            texts=texts,
            question=self.messages[-1].text,
            bound=self.max_tokens,
            thoughts=self._thoughts,
        )

    @property
    def _thoughts(self) -> int:
        if self.thinking is not None and self.thinking.type == "disabled":
            return 0
        if self.output_config is not None and self.output_config.effort is not None:
            return _THOUGHTS[self.output_config.effort]
        return _THOUGHTS["high"] if self.thinking is not None else 0

    def complaint(self) -> str | None:
        """The error of a body whose single fields are valid."""
        for name in _SAMPLING:
            if getattr(self, name) is not None:
                return f"{name}: this model does not take it any more"
        if self.thinking is not None and self.thinking.type == "enabled":
            return "thinking.type: this model takes no budget; use adaptive and effort"
        if self.messages[0].role != "user":
            return "messages.0.role: the first message must be of the user"
        if self.messages[-1].role != "user":
            return "messages: this model continues no assistant message; the last must be a user's"
        for index, turn in enumerate(self.messages):
            if turn.is_empty:
                return f"messages.{index}.content: text must not be empty"
        return None


def read(body: bytes) -> MessagesBody:
    """Validate a body. Raises `Refused` with a 400."""
    try:
        request = msgspec.json.decode(body, type=MessagesBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error
    if complaint := request.complaint():
        raise Refused(Problem(400, complaint))
    return request


def _joined(content: str | list[Block]) -> str:
    return content if isinstance(content, str) else " ".join(block.text for block in content)
