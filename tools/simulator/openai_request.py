"""The body of OpenAI's `POST /v1/chat/completions`, read as tolerantly as the providers do."""

from typing import Annotated

import msgspec

from simulator.chat_types import ChatRequest
from simulator.provider import Problem, Refused
from simulator.vendors import Vendor


class Part(msgspec.Struct):
    type: str
    text: str = ""


class Message(msgspec.Struct):
    role: str
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return " ".join(part.text for part in self.content or [] if part.type == "text")


class StreamOptions(msgspec.Struct):
    include_usage: bool = False


class ChatBody(msgspec.Struct):
    model: str
    messages: Annotated[list[Message], msgspec.Meta(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None

    @property
    def include_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    def chat_request(self) -> ChatRequest:
        """The newer name of the bound takes precedence."""
        questions = [message.text for message in self.messages if message.role == "user"]
        return ChatRequest(
            model=self.model,
            stream=bool(self.stream),
            texts=[message.text for message in self.messages],
            question=questions[-1] if questions else "",
            bound=self.max_completion_tokens or self.max_tokens,
        )


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
