"""The differences between the providers that share OpenAI's chat wire."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from simulator import vendor_errors, vendor_usage
from simulator.chat_types import Dialect, Usage
from simulator.connection import Connection
from simulator.functions import Choice
from simulator.provider import Json, Problem, require_bearer

_USUAL_DIALECT = Dialect()


@dataclass(frozen=True, slots=True)
class Vendor:
    """One provider's differences. `refuses` are request fields that get a 400.

    `usage_chunk`: `own` is a last chunk without choices, sent only if `stream_options` asks for it;
    `finish` is the chunk with the finish reason, and `choice` the choice in that chunk, both sent
    always. `reasoning` is the field of a message with the reasoning; `content`: the reasoning is a
    part of the content. `error_with_choices`: an error in mid-stream is a chunk like the others.
    `outputs` are the forms of answers besides text, and `wants_the_word_json`: any object comes
    only where the prompt says JSON. `sees`: pictures are taken. `short_ids`: ids of calls have nine
    letters and digits, others at most `longest_id` characters. `declines`: where a form was asked
    for, a refusal stands in a field of its own, and the answer ends as usual.

    `thinks`: the model reasons before a call unless it is told not to. While it does, the choices
    `unforced` are refused with the error `unforced_words`. `wants_reasoning` is the error where a
    call comes back without its reasoning; empty where nobody wants it.
    """

    models: tuple[str, ...] = ("simulated-model",)
    keyless: bool = False
    refuses: frozenset[str] = frozenset()
    usage_chunk: Literal["own", "finish", "choice"] = "own"
    usage: Callable[[Usage], Json] = vendor_usage.openai
    problem: Callable[[Problem], Json] = vendor_errors.openai
    reasoning: str = "reasoning_content"
    filtered: str = "content_filter"
    x_groq: bool = False
    error_with_choices: bool = False
    dialect: Dialect = _USUAL_DIALECT
    retry_after_header: bool = True
    outputs: tuple[str, ...] = ("json_object", "json_schema")
    wants_the_word_json: bool = False
    sees: bool = True
    short_ids: bool = False
    longest_id: int | None = None
    declines: bool = False
    thinks: bool = False
    unforced: tuple[Choice, ...] = ()
    unforced_words: str = ""
    wants_reasoning: str = ""

    def require_key(self, connection: Connection) -> None:
        if not self.keyless:
            require_bearer(connection)

    def error(self, problem: Problem, request_id: str) -> Json:
        return self.problem(problem)

    def headers(self, request_id: str) -> dict[str, str]:
        return {"x-request-id": request_id}


_PLAIN = Vendor()
_VENDORS = {
    # The reasoning of OpenAI's models is billed and never shown; these models accept only the newer
    # bound.
    "openai": Vendor(
        models=("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-transcribe"),
        refuses=frozenset({"max_tokens"}),
        dialect=Dialect(shows_thoughts=False),
        wants_the_word_json=True,
        longest_id=40,
        declines=True,
    ),
    "xai": Vendor(
        models=("grok-4.7",),
        usage=vendor_usage.xai,
        problem=vendor_errors.xai,
        dialect=Dialect(plain_error_in_200=True),
    ),
    "deepseek": Vendor(
        models=("deepseek-v4-pro",),
        usage_chunk="finish",
        usage=vendor_usage.deepseek,
        outputs=("json_object",),
        wants_the_word_json=True,
        sees=False,
        thinks=True,
        unforced=("required", "named"),
        unforced_words="Thinking mode does not support this tool_choice",
        wants_reasoning="The reasoning_content in the thinking mode must be passed back to the "
        "API.",
    ),
    "mistral": Vendor(
        models=("mistral-medium-2604",),
        refuses=frozenset({"stream_options", "max_completion_tokens"}),
        usage_chunk="finish",
        usage=vendor_usage.mistral,
        problem=vendor_errors.flat,
        reasoning="content",
        short_ids=True,
    ),
    "qwen": Vendor(
        models=("qwen3.8-max",),
        usage=vendor_usage.detailed,
        problem=vendor_errors.without_param,
        wants_the_word_json=True,
        unforced=("required", "named"),
        unforced_words="The tool_choice parameter does not support being set to required or object "
        "in thinking mode",
    ),
    "moonshot": Vendor(
        models=("kimi-k3",),
        usage_chunk="choice",
        usage=vendor_usage.flat,
        problem=vendor_errors.short,
        thinks=True,
        unforced=("named",),
        unforced_words="tool_choice 'specified' is incompatible with thinking enabled",
        wants_reasoning="thinking is enabled but reasoning_content is missing in assistant tool "
        "call message at index {index}",
    ),
    "zai": Vendor(
        models=("glm-5.2",),
        usage_chunk="finish",
        usage=vendor_usage.detailed,
        problem=vendor_errors.zai,
        filtered="sensitive",
        outputs=("json_object",),
    ),
    "groq": Vendor(
        models=("openai/gpt-oss-120b", "whisper-large-v3-turbo"),
        usage_chunk="finish",
        usage=vendor_usage.groq,
        problem=vendor_errors.without_param,
        reasoning="reasoning",
        x_groq=True,
    ),
    "together": Vendor(usage_chunk="finish", usage=vendor_usage.flat, reasoning="reasoning"),
    "openrouter": Vendor(
        usage=vendor_usage.openrouter,
        problem=vendor_errors.with_status,
        reasoning="reasoning",
        error_with_choices=True,
        dialect=Dialect(comment="OPENROUTER PROCESSING", opens_with_comment=True),
    ),
    "local": Vendor(models=("smollm2-135m",), keyless=True),
    "ollama": Vendor(keyless=True, usage=vendor_usage.plain, reasoning="reasoning"),
    "vllm": Vendor(keyless=True, usage=vendor_usage.detailed, problem=vendor_errors.vllm),
}


def named(provider: str) -> Vendor:
    """The differences of a provider; an unknown one behaves like OpenAI."""
    return _VENDORS.get(provider, _PLAIN)
