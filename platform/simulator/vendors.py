"""How the providers that share OpenAI's chat wire differ on it: usage, reasoning and errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one answer; `text` and `reasoning` do not overlap."""

    prompt: int
    text: int
    reasoning: int


def openai_usage(spent: Spent) -> Json:
    completion = spent.text + spent.reasoning
    return {
        "prompt_tokens": spent.prompt,
        "completion_tokens": completion,
        "total_tokens": spent.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": spent.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _xai_usage(spent: Spent) -> Json:
    """xAI counts reasoning beside the completion, not in it."""
    return openai_usage(spent) | {"completion_tokens": spent.text, "num_sources_used": 0}


def _deepseek_usage(spent: Spent) -> Json:
    return _plain_usage(spent) | {
        "prompt_cache_hit_tokens": 0,
        "prompt_cache_miss_tokens": spent.prompt,
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
    }


def _moonshot_usage(spent: Spent) -> Json:
    return _plain_usage(spent) | {"cached_tokens": 0}


def _groq_usage(spent: Spent) -> Json:
    return _plain_usage(spent) | {
        "queue_time": 0.001,
        "prompt_time": 0.001,
        "completion_time": 0.01,
        "total_time": 0.012,
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
    }


def _plain_usage(spent: Spent) -> Json:
    completion = spent.text + spent.reasoning
    return {
        "prompt_tokens": spent.prompt,
        "completion_tokens": completion,
        "total_tokens": spent.prompt + completion,
    }


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as OpenAI names it; a vendor puts it into its own shape."""

    message: str
    type: str
    code: str | None
    param: str | None = None


def _openai_error(problem: Problem) -> Json:
    return {
        "error": {
            "message": problem.message,
            "type": problem.type,
            "param": problem.param,
            "code": problem.code,
        }
    }


def _short_error(problem: Problem) -> Json:
    return {"error": {"message": problem.message, "type": problem.code or problem.type}}


def _flat_error(problem: Problem) -> Json:
    return {
        "object": "error",
        "message": problem.message,
        "type": problem.type,
        "param": problem.param,
        "code": problem.code,
    }


def _xai_error(problem: Problem) -> Json:
    return {"code": problem.code or problem.type, "error": problem.message}


@dataclass(frozen=True, slots=True)
class Vendor:
    """One provider's habits. `refuses` are request fields that it answers with a 400.

    `usage_chunk`: `own` is a last chunk without choices, sent only if `stream_options` asks for it;
    `finish` is the chunk that carries the finish reason, sent always. `plain_error_in_200`: a
    streamed call that fails late is answered with 200 and plain JSON instead of an event.
    """

    models: tuple[str, ...] = ("simulated-model",)
    keyless: bool = False
    refuses: frozenset[str] = frozenset()
    usage_chunk: Literal["own", "finish"] = "own"
    usage: Callable[[Spent], Json] = openai_usage
    error: Callable[[Problem], Json] = _openai_error
    reasoning_field: str | None = "reasoning_content"
    x_groq: bool = False
    plain_error_in_200: bool = False


_PLAIN = Vendor()
_VENDORS = {
    # The reasoning of OpenAI's models is billed and never shown; they know only the newer bound.
    "openai": Vendor(
        models=("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna"),
        refuses=frozenset({"max_tokens"}),
        reasoning_field=None,
    ),
    "xai": Vendor(
        models=("grok-4.7",), usage=_xai_usage, error=_xai_error, plain_error_in_200=True
    ),
    "deepseek": Vendor(models=("deepseek-v4-pro",), usage_chunk="finish", usage=_deepseek_usage),
    "mistral": Vendor(
        models=("mistral-medium-2604",),
        refuses=frozenset({"stream_options", "max_completion_tokens"}),
        usage_chunk="finish",
        usage=_plain_usage,
        error=_flat_error,
    ),
    "moonshot": Vendor(
        models=("kimi-k3",), usage_chunk="finish", usage=_moonshot_usage, error=_short_error
    ),
    "groq": Vendor(
        models=("openai/gpt-oss-120b",),
        usage_chunk="finish",
        usage=_groq_usage,
        reasoning_field="reasoning",
        x_groq=True,
    ),
    "local": Vendor(models=("smollm2-135m",), keyless=True),
    "ollama": Vendor(keyless=True, reasoning_field="reasoning"),
    "vllm": Vendor(keyless=True),
}


def named(provider: str) -> Vendor:
    """The habits of a provider; one that is not known speaks as OpenAI does."""
    return _VENDORS.get(provider, _PLAIN)


_PROBLEMS = {
    400: ("invalid_request_error", "invalid_value", "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    402: ("insufficient_balance", "insufficient_balance", "Insufficient balance."),
    403: ("permission_error", "permission_denied", "You have no access to this resource."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    405: ("invalid_request_error", "method_not_allowed", "This method is not allowed here."),
    413: ("invalid_request_error", "request_too_large", "The request is too large."),
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached; slow down."),
    500: ("server_error", "server_error", "The server had an error while processing."),
    503: ("service_unavailable_error", "server_is_overloaded", "The engine is overloaded."),
}


def problem(
    status: int, message: str | None = None, code: str | None = None, param: str | None = None
) -> Problem:
    """What a provider says with an HTTP status; message and code can be given instead."""
    fallback = _PROBLEMS[500 if status >= 500 else 400]
    kind, usual_code, usual_message = _PROBLEMS.get(status, fallback)
    if code == "insufficient_quota":
        kind = code
    return Problem(message or usual_message, kind, code or usual_code, param)
