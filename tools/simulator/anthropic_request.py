"""The body of Anthropic's `POST /v1/messages`, with the refusals of its newer models."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw

from simulator import anthropic_blocks, anthropic_tools, sights
from simulator.anthropic_blocks import Block, Turn, joined
from simulator.anthropic_tools import Format, Tool, ToolChoice
from simulator.chat_types import ChatRequest
from simulator.functions import Task
from simulator.provider import Problem, Refused

MAX_OUTPUT_TOKENS = 128_000
# The reasoning tokens of an answer that is not steered.
_THOUGHTS = {"low": 4, "medium": 8, "high": 12, "xhigh": 16, "max": 20}
_SAMPLING = ("temperature", "top_p", "top_k")


class Thinking(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["enabled", "adaptive", "disabled"]
    budget_tokens: int | None = None
    display: Literal["summarized", "omitted"] = "omitted"
    block_binding: Raw = Raw()


class OutputConfig(msgspec.Struct, forbid_unknown_fields=True):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: Format | None = None


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
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None

    @property
    def shows_thoughts(self) -> bool:
        return self.thinking is not None and self.thinking.display == "summarized"

    @property
    def binds_thinking(self) -> bool:
        """Does it say what happens to thoughts before which something was changed?"""
        return self.thinking is not None and bool(bytes(self.thinking.block_binding))

    def chat_request(self) -> ChatRequest:
        """Raises `Refused` for a picture that cannot be seen."""
        offer = anthropic_tools.offered(self.tools, self.tool_choice)
        try:
            turns, seen = anthropic_blocks.heard(self.messages, has_tools=offer is not None)
        except sights.Unseen as error:
            raise Refused(Problem(400, f"messages: {error}")) from error
        texts = [turn.text for turn in self.messages]
        if self.system:
            texts.insert(0, joined(self.system))
        functions = offer.functions if offer else ()
        return ChatRequest(
            model=self.model,
            stream=self.stream,
            texts=texts,
            question=turns.question,
            bound=self.max_tokens,
            thoughts=self._thoughts,
            task=Task(
                offer=offer,
                output=self._format.schema if self._format else None,
                results=tuple(turns.results),
                sights=tuple(turns.sights),
                speaks_first=True,
            ),
            other_tokens=sum(function.tokens for function in functions)
            + sum(sight.tokens for sight in seen)
            + sum(turn.call_tokens for turn in self.messages),
        )

    @property
    def _format(self) -> Format | None:
        return self.output_config.format if self.output_config else None

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
        thinks = self.thinking is not None and self.thinking.type != "disabled"
        return (
            anthropic_tools.complaint(self.tools, self.tool_choice, model=self.model, thinks=thinks)
            or anthropic_tools.format_complaint(self._format)
            or anthropic_blocks.complaint(self.messages, has_tools=bool(self.tools))
        )


def read(body: bytes) -> MessagesBody:
    """Validate a body. Raises `Refused` with a 400."""
    try:
        request = msgspec.json.decode(body, type=MessagesBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error
    if complaint := request.complaint():
        raise Refused(Problem(400, complaint))
    return request
