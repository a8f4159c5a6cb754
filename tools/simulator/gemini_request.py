"""The body of Gemini's `:generateContent`, refused where Gemini refuses it."""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from simulator import gemini_parts, gemini_tools, sights
from simulator.chat_types import ChatRequest
from simulator.functions import Schema, Task
from simulator.gemini_parts import Blob, Content, Fields
from simulator.gemini_tools import CallingConfig, Tool, ToolConfig
from simulator.provider import Problem, Refused

MAX_OUTPUT_TOKENS = 65_536
# The reasoning tokens of an answer that is not steered.
_THOUGHTS = {"MINIMAL": 2, "LOW": 4, "MEDIUM": 8, "HIGH": 12}
# Their values have names of their own.
_OPAQUE = (
    "args",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "responseSchema",
)
_NEVER_MINIMAL = ("gemini-3.1-pro", "gemini-3.7-flash", "gemini-3.8-flash")


class ThinkingConfig(Fields):
    thinking_level: str | None = None
    thinking_budget: int | None = None
    include_thoughts: bool = False


class ImageConfig(Fields):
    aspect_ratio: str = "1:1"
    image_size: str = "1K"


class GenerationConfig(Fields):
    max_output_tokens: Annotated[int, Meta(ge=1, le=MAX_OUTPUT_TOKENS)] | None = None
    thinking_config: ThinkingConfig | None = None
    response_modalities: list[Literal["TEXT", "IMAGE"]] | None = None
    image_config: ImageConfig | None = None
    response_mime_type: str | None = None
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None
    stop_sequences: list[str] | None = None
    candidate_count: Literal[1] = 1
    seed: int | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: float | None = None
    top_k: int | None = None

    @property
    def output(self) -> Schema | None:
        """The schema of the answer, an empty one for any object, None for prose."""
        if self.response_mime_type != "application/json":
            return None
        return self.response_json_schema or self.response_schema or {}

    def complaint(self) -> str | None:
        """What is wrong with the form of the answer."""
        if self.response_json_schema is not None and self.response_schema is not None:
            return "Only one of response_schema and response_json_schema can be set."
        has_schema = self.response_json_schema is not None or self.response_schema is not None
        if has_schema and self.response_mime_type != "application/json":
            return "A response schema is only supported with response_mime_type application/json."
        return gemini_tools.schema_complaint(self.response_json_schema)


class SafetySetting(Fields):
    category: str
    threshold: str


class GenerateBody(Fields):
    contents: Annotated[list[Content], Meta(min_length=1)]
    system_instruction: Content | None = None
    generation_config: GenerationConfig = msgspec.field(default_factory=GenerationConfig)
    safety_settings: list[SafetySetting] | None = None
    tools: list[Tool] | None = None
    tool_config: ToolConfig | None = None

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
        """Raises `Refused` for a picture that cannot be seen."""
        offer = gemini_tools.offered(self.tools, self._calling or CallingConfig())
        try:
            turns, seen = gemini_parts.heard(self.contents, has_tools=offer is not None)
        except sights.Unseen as error:
            raise Refused(Problem(400, str(error))) from error
        texts = [content.text for content in self.contents]
        if self.system_instruction is not None:
            texts.insert(0, self.system_instruction.text)
        functions = offer.functions if offer else ()
        return ChatRequest(
            model=model,
            stream=stream,
            texts=texts,
            question=turns.question,
            bound=self.generation_config.max_output_tokens,
            thoughts=_THOUGHTS.get((self.thinking.thinking_level or "").upper(), 0),
            task=Task(
                offer=offer,
                output=self.generation_config.output,
                results=tuple(turns.results),
                sights=tuple(turns.sights),
            ),
            other_tokens=sum(function.tokens for function in functions)
            + sum(sight.tokens for sight in seen)
            + sum(content.call_tokens for content in self.contents),
        )

    @property
    def _calling(self) -> CallingConfig | None:
        return self.tool_config.function_calling_config if self.tool_config else None

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
            if any(part.is_empty for part in content.parts):
                return "contents.parts: required oneof field 'data' must have one initialized field"
        if len(self.contents) > 1 and any(content.role is None for content in self.contents):
            return "Please use a valid role: user, model."
        return (
            gemini_tools.complaint(self.tools, self._calling)
            or self.generation_config.complaint()
            or gemini_parts.complaint(self.contents, model)
        )


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
    named = {
        re.sub("_([a-z])", lambda found: found[1].upper(), name): item
        for name, item in value.items()
    }
    return {name: item if name in _OPAQUE else _in_camel_case(item) for name, item in named.items()}
