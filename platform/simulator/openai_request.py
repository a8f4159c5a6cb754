"""The body of OpenAI's `POST /v1/chat/completions`, read as tolerantly as the providers do."""

from typing import Annotated

import msgspec

from simulator import vendors
from simulator.exchange import Refused
from simulator.vendors import Vendor

TOKENS_PER_MESSAGE = 4


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
    def bound(self) -> int | None:
        """Tokens at most; the newer name wins where both are given."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def include_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    @property
    def question(self) -> str:
        """The last user message."""
        asked = [message.text for message in self.messages if message.role == "user"]
        return asked[-1] if asked else ""

    @property
    def prompt_tokens(self) -> int:
        """Words of all messages and a few tokens for each message's frame."""
        return sum(len(text.split()) + TOKENS_PER_MESSAGE for text in self.texts)


def read(body: bytes, vendor: Vendor) -> ChatBody:
    """Validate a body. Raises `Refused` with a 400 in the vendor's words."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        request = msgspec.json.decode(body, type=ChatBody)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(400, vendors.problem(400, f"Invalid body: {error}")) from error
    for name in sorted(vendor.refuses & fields.keys()):
        message = f"Unsupported parameter: '{name}' is not supported with this model."
        raise Refused(400, vendors.problem(400, message, "unsupported_parameter", name))
    return request
