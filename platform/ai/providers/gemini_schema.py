"""The answer of Gemini's models, text or picture; a chunk of a stream has the same shape.

Protocol: Gemini API reference, "GenerateContentResponse". Fields that we do not read are left out.
"""

import msgspec
from msgspec import Raw, Struct


class InlineData(Struct):
    """`data` is a JSON string of base64, still encoded."""

    data: Raw = Raw()


class FunctionCall(Struct):
    """A whole call: `args` is an object, still encoded."""

    name: str | None = None
    id: str | None = None
    args: Raw = Raw()


class Part(Struct, rename="camel"):
    text: str | None = None
    inline_data: InlineData | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None
    thought_signature: str | None = None


class Content(Struct):
    parts: list[Part] | None = None


class Candidate(Struct, rename="camel"):
    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None

    @property
    def parts(self) -> list[Part]:
        return (self.content and self.content.parts) or []


class Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class Answer(Struct, rename="camel"):
    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: Raw = Raw()
    error: Raw = Raw()

    @property
    def is_blocked(self) -> bool:
        """Did moderation refuse the prompt?"""
        return bool(self.prompt_feedback and self.prompt_feedback.block_reason)


decode_answer = msgspec.json.Decoder(Answer).decode
