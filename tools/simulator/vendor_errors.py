"""The error formats of the providers that share OpenAI's chat wire."""

from dataclasses import dataclass

from simulator.provider import Json, Problem


@dataclass(frozen=True, slots=True)
class _Usual:
    type: str
    code: str
    message: str


_USUAL = {
    400: _Usual("invalid_request_error", "invalid_value", "The request is not valid."),
    401: _Usual("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    402: _Usual("insufficient_balance", "insufficient_balance", "Insufficient balance."),
    403: _Usual("permission_error", "permission_denied", "You have no access to this resource."),
    404: _Usual("invalid_request_error", "model_not_found", "The model does not exist."),
    405: _Usual("invalid_request_error", "method_not_allowed", "This method is not allowed here."),
    413: _Usual("invalid_request_error", "request_too_large", "The request is too large."),
    429: _Usual("rate_limit_error", "rate_limit_exceeded", "Rate limit reached; slow down."),
    500: _Usual("server_error", "server_error", "The server had an error while processing."),
    503: _Usual("service_unavailable_error", "server_is_overloaded", "The engine is overloaded."),
}

# Z.ai's codes are numbers; a status without one gets the most usual code of its class.
_ZAI_CODES = {401: "1000", 402: "1113", 404: "1211", 429: "1302"}
_ZAI_WORDS = {"content_filter": "1301"}


def openai(problem: Problem) -> Json:
    """OpenAI's envelope, which most others use too."""
    return {"error": _fields(problem)}


def short(problem: Problem) -> Json:
    """Moonshot: one field where others have two."""
    fields = _fields(problem)
    return {"error": {"message": fields["message"], "type": fields["code"]}}


def without_param(problem: Problem) -> Json:
    """Groq and Qwen."""
    fields = _fields(problem)
    del fields["param"]
    return {"error": fields}


def flat(problem: Problem) -> Json:
    """Mistral: no envelope."""
    return {"object": "error"} | _fields(problem)


def xai(problem: Problem) -> Json:
    """xAI: the error is the sentence itself."""
    fields = _fields(problem)
    return {"code": fields["code"], "error": fields["message"]}


def zai(problem: Problem) -> Json:
    """Z.ai: a number of its own, as text."""
    fallback = "1234" if problem.status >= 500 else "1210"
    code = problem.code or _ZAI_CODES.get(problem.status, fallback)
    fields = {"code": _ZAI_WORDS.get(code, code), "message": _fields(problem)["message"]}
    return {"error": fields}


def with_status(problem: Problem) -> Json:
    """OpenRouter: the code is the status that the answer would have had."""
    named = {"provider_name": "Simulated", "error_type": _fields(problem)["code"]}
    message = _fields(problem)["message"]
    return {"error": {"code": problem.status, "message": message, "metadata": named}}


def vllm(problem: Problem) -> Json:
    """vLLM: the code is the status."""
    return {"error": _fields(problem) | {"code": problem.status}}


def _fields(problem: Problem) -> Json:
    usual = _USUAL.get(problem.status, _USUAL[500 if problem.status >= 500 else 400])
    return {
        "message": problem.message or usual.message,
        "type": problem.code if problem.code == "insufficient_quota" else usual.type,
        "param": problem.param,
        "code": problem.code or usual.code,
    }
