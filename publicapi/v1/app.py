"""The ASGI application of `/v1`: routing, CORS preflight, and the outermost error handler."""

from collections.abc import Awaitable, Callable
from functools import lru_cache

import structlog
from django.conf import settings
from django.http.request import validate_host

from common import request_line
from common.errors import DomainError, NotSetUp, UnknownHost
from common.set_up import is_missing, report_missing
from observability.metrics.instruments import counter
from observability.metrics.labels import Declared
from observability.tracing import spans
from publicapi.v1 import chat, errors
from publicapi.v1.embeddings import create_embeddings
from publicapi.v1.exchange import Exchange
from publicapi.v1.images import create_images
from publicapi.v1.models import MODEL_PREFIX, get_model, list_models
from publicapi.v1.usage import report_usage
from server.asgi import Headers, Receive, Scope, Send, domain_of
from server.metrics import count_request
from server.traced_requests import name_request

log = structlog.get_logger(__name__)

Handler = Callable[[Exchange], Awaitable[None]]

Methods = dict[str, Handler]

ROUTES: dict[str, Methods] = {
    "/v1/models": {"GET": list_models, "HEAD": list_models},
    chat.PATH: {"POST": chat.create_completion},
    "/v1/embeddings": {"POST": create_embeddings},
    "/v1/images/generations": {"POST": create_images},
    "/v1/usage": {"GET": report_usage, "HEAD": report_usage},
}
refusals = counter(
    "platform_v1_refusals_total",
    "Requests under /v1 that were answered with an error, by its code.",
    code=Declared(DomainError, "code"),
)
MODEL_ROUTE: Methods = {"GET": get_model, "HEAD": get_model}

# Paths of other interfaces that clients call, and the advice for them.
HINTS = {
    "/v1/responses": (
        "Use `POST /v1/chat/completions` (in pydantic-ai: `OpenAIChatModel`, not "
        "`OpenAIResponsesModel`; in openai-agents: `OpenAIChatCompletionsModel`, or "
        '`set_default_openai_api("chat_completions")`; in the Vercel AI SDK: `.chat(id)`; in '
        "LangChain: `use_responses_api=False`)."
    ),
    "/v1/completions": (
        "Use `POST /v1/chat/completions` (in LlamaIndex: `OpenAILike(is_chat_model=True)`)."
    ),
    "/v1/messages": "Use `POST /v1/chat/completions`.",
    "/v1/images/edits": "Use `POST /v1/images/generations`.",
    "/v1/images/variations": "Use `POST /v1/images/generations`.",
}


# What follows `/v1` in the paths of endpoints.
_ENDPOINTS = {route.removeprefix("/v1"): route for route in ROUTES}


def is_public(path: str) -> bool:
    """Is a path part of `/v1`? On a host of its own the application receives all others too."""
    return path == "/v1" or path.startswith("/v1/")


def meant_by(path: str) -> str | None:
    """The endpoint that a client means whose base address lacks `/v1`, has it twice or has another
    prefix; None where it means none."""
    end = next((end for end in _ENDPOINTS if path.endswith(end)), None)
    if end is None or path in ROUTES or path.startswith(("/api/", "/admin/", "/files/")):
        return None
    prefix = path.removesuffix(end)
    is_base = not is_public(path) or prefix.endswith("/v1") or prefix in ROUTES
    return _ENDPOINTS[end] if is_base else None


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one HTTP request under `/v1`. No exception of a handler leaves this function."""
    exchange = Exchange(scope, receive, send)
    route = _route(exchange.path)
    name_request(exchange.method, route)
    spans.current_span().set(request_id=exchange.request_id)
    line = request_line.current()
    line.request_id = exchange.request_id
    line.route = exchange.path if exchange.path in HINTS else route
    code = None
    try:
        _check_host(scope)
        await _handle(exchange)
    except DomainError as error:
        code = error.code
        line.note(error)
        await exchange.refuse(error)
    except Exception as failure:
        refusal = _refusal_of(exchange, failure)
        code = refusal.code
        line.note(refusal, failure)
        if exchange.started:
            raise  # the server cuts the connection, so the client sees an incomplete answer
        await exchange.refuse(refusal)
    finally:
        count_request(exchange.method, route, exchange.status, exchange.began_at)
        if code is not None:
            spans.current_span().set(code=code)
            refusals.labels(code).inc()


def _refusal_of(exchange: Exchange, failure: Exception) -> DomainError:
    """The answer to an exception that no handler has expected. Logs it."""
    if is_missing(failure):
        report_missing(failure)
        return NotSetUp()
    log.exception("v1.failed", request_id=exchange.request_id, path=exchange.path)
    return errors.InternalError()


def _route(path: str) -> str:
    """The name of a path in the metrics."""
    if path in ROUTES:
        return path
    return f"{MODEL_PREFIX}{{model}}" if path.startswith(MODEL_PREFIX) else "unknown"


async def _handle(exchange: Exchange) -> None:
    if exchange.method == "OPTIONS":
        await _preflight(exchange)
        return
    methods = _methods(exchange.path)
    handler = methods.get(exchange.method)
    if handler is None:
        allowed = ", ".join([*methods, "OPTIONS"])
        exchange.headers.append((b"allow", allowed.encode()))
        raise errors.MethodNotAllowed(f"This endpoint takes {allowed}.")
    await handler(exchange)


def _methods(path: str) -> Methods:
    if path in ROUTES:
        return ROUTES[path]
    if path.startswith(MODEL_PREFIX) and path != MODEL_PREFIX:
        return MODEL_ROUTE
    if meant := meant_by(path):
        method = next(iter(ROUTES[meant]))
        raise errors.UnknownPath(
            f"Use `{method} {meant}`: the base address of a client ends with `/v1`."
        )
    if not is_public(path):
        raise errors.UnknownPath("This host serves `/v1` and nothing else: try `GET /v1/models`.")
    hint = HINTS.get(path)
    raise errors.UnknownPath(f"There is no such endpoint. {hint}" if hint else None)


def _check_host(scope: Scope) -> None:
    if not is_served(domain_of(scope["headers"])):
        raise UnknownHost


@lru_cache(maxsize=256)
def is_served(domain: str) -> bool:
    """Is it one of our hosts? `domain` is in the form of `server.asgi.domain_of`."""
    known = domain == settings.API_HOST or validate_host(domain, settings.ALLOWED_HOSTS)
    return bool(domain) and known


async def _preflight(exchange: Exchange) -> None:
    """Any origin, no credentials, and any headers of a browser's SDK.

    The same for every path, so that a browser lets its script read the error of an unknown one.
    """
    extra: Headers = [
        (b"access-control-allow-methods", b"GET, HEAD, POST, OPTIONS"),
        (b"access-control-max-age", b"600"),
        (b"vary", b"Access-Control-Request-Headers"),
    ]
    wanted = exchange.header(b"access-control-request-headers")
    if wanted is not None:
        extra.append((b"access-control-allow-headers", wanted.encode("latin-1")))
    await exchange.no_content(extra)
