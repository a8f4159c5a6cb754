"""The body of Gemini's `:generateContent`, refused where Gemini refuses it."""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from simulator.chat_types import ChatRequest
from simulator.provider import Problem, Refused

MAX_OUTPUT_TOKENS = 65_536
# The reasoning tokens of an answer that is not steered.
_THOUGHTS = {"MINIMAL": 2, "LOW": 4, "MEDIUM": 8, "HIGH": 12}
_NEVER_MINIMAL = ("gemini-3.1-pro", "gemini-3.7-flash", "gemini-3.8-flash")


class _Fields(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A message of Google's interface: camel case, no unknown fields."""


class Blob(_Fields):
    """The bytes of a file as base64."""

    mime_type: str
    data: str


class Part(_Fields):
    text: str | None = None
    inline_data: Blob | None = None
    thought: bool = False
    thought_signature: str | None = None


class Content(_Fields):
    parts: Annotated[list[Part], Meta(min_length=1)]
    role: Literal["user", "model"] | None = None

    @property
    def text(self) -> str:
        return " ".join(part.text or "" for part in self.parts)


class ThinkingConfig(_Fields):
    thinking_level: str | None = None
    thinking_budget: int | None = None
    include_thoughts: bool = False


class ImageConfig(_Fields):
    aspect_ratio: str = "1:1"
    image_size: str = "1K"


class GenerationConfig(_Fields):
    max_output_tokens: Annotated[int, Meta(ge=1, le=MAX_OUTPUT_TOKENS)] | None = None
    thinking_config: ThinkingConfig | None = None
    response_modalities: list[Literal["TEXT", "IMAGE"]] | None = None
    image_config: ImageConfig | None = None
    response_mime_type: str | None = None
    stop_sequences: list[str] | None = None
    candidate_count: Literal[1] = 1
    seed: int | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: float | None = None
    top_k: int | None = None


class SafetySetting(_Fields):
    category: str
    threshold: str


class GenerateBody(_Fields):
    contents: Annotated[list[Content], Meta(min_length=1)]
    system_instruction: Content | None = None
    generation_config: GenerationConfig = msgspec.field(default_factory=GenerationConfig)
    safety_settings: list[SafetySetting] | None = None

    @property
    def thinking(self) -> ThinkingConfig:
        return self.generation_config.thinking_config or ThinkingConfig()

    @property
    def images(self) -> list[Blob]:
        """The pictures that come with the question."""
        parts = [part for content in self.contents for part in content.parts]
        return [part.inline_data for part in parts if part.inline_data is not None]

    @property
    def wants_image(self) -> bool:
        return "IMAGE" in (self.generation_config.response_modalities or ())

    def chat_request(self, model: str, *, stream: bool) -> ChatRequest:
        texts = [content.text for content in self.contents]
        if self.system_instruction is not None:
            texts.insert(0, self.system_instruction.text)
        questions = [content.text for content in self.contents if content.role != "model"]
        return ChatRequest(
            model=model,
            stream=stream,
            texts=texts,
            question=questions[-1] if questions else "",
            bound=self.generation_config.max_output_tokens,
            thoughts=_THOUGHTS.get((self.thinking.thinking_level or "").upper(), 0),
        )

    def complaint(self, model: str) -> str | None:
        """The error of a body whose single fields are valid."""
        level = self.thinking.thinking_level
        if level is not None and level.upper() not in _THOUGHTS:
            return f"Invalid value at 'generation_config.thinking_config.thinking_level': {level}"
        if level is not None and self.thinking.thinking_budget is not None:
            return "You can only set one of thinking budget and thinking level."
        if (level or "").upper() == "MINIMAL" and model.startswith(_NEVER_MINIMAL):
            return f"Thinking level MINIMAL is not supported by {model}."
        for content in (*self.contents, *filter(None, (self.system_instruction,))):
            if any(part.text is None and part.inline_data is None for part in content.parts):
                return "contents.parts: required oneof field 'data' must have one initialized field"
        if len(self.contents) > 1 and any(content.role is None for content in self.contents):
            return "Please use a valid role: user, model."
        return None


def read(body: bytes, model: str) -> GenerateBody:
    """Validate a body. Raises `Refused` with a 400."""
    try:
        request = msgspec.convert(_in_camel_case(msgspec.json.decode(body)), GenerateBody)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid JSON payload received. {error}")) from error
    if complaint := request.complaint(model):
        raise Refused(Problem(400, complaint))
    return request


def _in_camel_case(value: Any) -> Any:
    """The same JSON with names in camel case. Google also accepts its own names in snake case."""
    if isinstance(value, list):
        return [_in_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub("_([a-z])", lambda found: found[1].upper(), name): _in_camel_case(item)
        for name, item in value.items()
    }
