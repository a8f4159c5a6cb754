"""The body of OpenAI's `POST /v1/chat/completions`, read as tolerantly as the providers do."""

from typing import Annotated, Literal

import msgspec

from simulator import openai_messages
from simulator.chat_types import ChatRequest
from simulator.functions import Task
from simulator.openai_messages import Message
from simulator.openai_tools import NamedChoice, ResponseFormat, Tool, offered, output_of
from simulator.provider import Problem, Refused
from simulator.vendors import Vendor

_THOUGHTS = 8  # reasoning tokens before a call where the vendor wants them back


class StreamOptions(msgspec.Struct):
    include_usage: bool = False


class Thinking(msgspec.Struct):
    type: Literal["enabled", "disabled", "adaptive"] = "enabled"


class ChatBody(msgspec.Struct):
    model: str
    messages: Annotated[list[Message], msgspec.Meta(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    tools: list[Tool] | None = None
    tool_choice: str | NamedChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    thinking: Thinking | None = None
    enable_thinking: bool | None = None

    @property
    def include_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @property
    def has_form(self) -> bool:
        """Is the answer asked for in JSON?"""
        return self.response_format is not None and self.response_format.type != "text"

    def chat_request(self, vendor: Vendor) -> ChatRequest:
        """The newer name of the bound takes precedence. Raises `Refused`."""
        texts = [message.text for message in self.messages]
        offer = offered(self.tools, self.tool_choice, self.parallel_tool_calls, vendor)
        output = output_of(self.response_format, texts, vendor)
        thinks = self._thinks(vendor)
        if thinks and offer is not None and offer.choice in vendor.unforced:
            raise Refused(Problem(400, vendor.unforced_words, param="tool_choice"))
        openai_messages.check(self.messages, vendor, thinks=thinks)
        turns, seen = openai_messages.heard(self.messages, has_tools=offer is not None)
        functions = offer.functions if offer else ()
        return ChatRequest(
            model=self.model,
            stream=bool(self.stream),
            texts=texts,
            question=turns.question,
            bound=self.max_completion_tokens or self.max_tokens,
            task=Task(
                offer=offer,
                output=output,
                results=tuple(turns.results),
                sights=tuple(turns.sights),
                thoughts=_THOUGHTS if thinks else 0,
            ),
            other_tokens=sum(function.tokens for function in functions)
            + sum(sight.tokens for sight in seen)
            + sum(message.call_tokens for message in self.messages),
        )

    def _thinks(self, vendor: Vendor) -> bool:
        """Does the model reason before a call?"""
        if self.enable_thinking is not None:
            return self.enable_thinking
        is_off = self.thinking is not None and self.thinking.type == "disabled"
        return vendor.thinks and not is_off


def read(body: bytes, vendor: Vendor) -> ChatBody:
    """Validate a body. Raises `Refused` with a 400."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        request = msgspec.json.decode(body, type=ChatBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error
    for name in sorted(vendor.refuses & fields.keys()):
        message = f"Unsupported parameter: '{name}' is not supported with this model."
        raise Refused(Problem(400, message, "unsupported_parameter", name))
    return request
