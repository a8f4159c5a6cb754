"""The web process: dispatches `/v1`, sockets, and Django's requests."""

import asyncio
import os
import re
import traceback
from io import BytesIO
from typing import Any

# The default settings refuse an unsafe start; `make run` chooses dev.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.prod")

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.urls import get_resolver

from server.handler import make_application

django_application = make_application()

from accounts.authentication import authenticate, is_signed_in
from accounts.hashers import AT_ONCE, WAIT_SECONDS
from accounts.sign_in_attempts import read_attempt
from ai.provider_health.services import get_started
from common.multipart import MAX_FORM_BYTES, TOO_LARGE
from config import health, metrics
from config.checks import refuse_unsafe_start
from config.draining import RequestsWithoutLifespan, begin_with_sigterm, close
from config.headers import SecurityHeaders
from config.https import RedirectToHttps, passed_proxy
from config.request_identity import sender_of, sender_of_file
from config.sockets import application as sockets
from config.web_app.pages import is_page
from config.web_app.serving import file_applications
from observability import exporters
from publicapi.v1.app import application as v1_application
from publicapi.v1.app import is_public, meant_by
from server.asgi import Application, Receive, Scope, Send, domain_of
from server.body_limit import BodyLimit
from server.client_limit import ClientLimit, is_for_authentication
from server.fair_admission import FairAdmission
from server.file_bodies import FileBodies
from server.memory import collect_garbage, spare_loaded_code
from server.request_lines import RequestLines
from server.request_queue import RequestQueue
from server.sign_in_queue import SignInQueue
from server.streaming_response import StreamingResponses
from server.traced_requests import TracedRequests

refuse_unsafe_start()

# Seconds between two garbage collections. An ended connection is garbage with cycles, and keeps its
# buffers: a thousand of them kept 40 MB.
COLLECT_SECONDS = 30.0

# The paths whose bodies bring a file (POST).
FILE_PATHS = frozenset({"/api/uploads", "/api/transcribe"})

# The paths of orders whose pictures are decoded (POST).
ORDER_PATHS = re.compile(r"/api/(images|videos|assets-3d/generate|jobs/[^/]+/retry)")

# The paths where a password is hashed (POST).
HASHING_PATHS = frozenset(
    {
        "/api/auth/signup",
        "/api/auth/login",
        "/api/auth/change-password",
        "/api/auth/reset-password",
        "/admin/login/",
        "/admin/password_change/",
    }
)

_django: Application = django_application
# More than a few at a time of one address would make the process no faster, and others slower.
_requests = RequestQueue(
    _django, turns=2 * settings.DATABASE_POOL_SIZE, each=max(1, settings.DATABASE_POOL_SIZE // 2)
)
# Requests without a token of ours run one at a time for each address, and then queue like all
# others.
_anonymous_requests = RequestQueue(
    _requests, turns=2 * settings.DATABASE_POOL_SIZE, each=1, name="anonymous"
)


# Pictures are decoded for seconds, without a connection: only other orders wait for that.
_orders = RequestQueue(
    _django,
    turns=settings.DATABASE_POOL_SIZE,
    each=max(1, settings.DATABASE_POOL_SIZE // 4),
    name="orders",
)


async def _in_turn(scope: Scope, receive: Receive, send: Send) -> None:
    if not is_signed_in(scope["headers"]):
        turns = _anonymous_requests
    elif scope["method"].upper() == "POST" and ORDER_PATHS.fullmatch(scope["path"]):
        turns = _orders
    else:
        turns = _requests
    await turns(scope, receive, send)


_queued = BodyLimit(_in_turn, sender_of)
# A request that waits for a hash, or for Google's keys, has no connection and needs no turn here.
_hashing = BodyLimit(
    SignInQueue(_django, turns=AT_ONCE, timeout=WAIT_SECONDS, read_attempt=read_attempt), sender_of
)
_authentication = BodyLimit(_django, sender_of)
_file_bodies = BodyLimit(
    FileBodies(_django, authenticate), sender_of_file, limit=MAX_FORM_BYTES, too_large=TOO_LARGE
)


async def _by_work(scope: Scope, receive: Receive, send: Send) -> None:
    method, path = scope["method"].upper(), scope["path"]
    if path in FILE_PATHS and method == "POST":
        await _file_bodies(scope, receive, send)
    elif path in HASHING_PATHS and method == "POST":
        await _hashing(scope, receive, send)
    elif is_for_authentication(method, path):
        await _authentication(scope, receive, send)
    else:
        await _queued(scope, receive, send)


# Rate limits come first: a refused request is not read.
limited_django_application = ClientLimit(StreamingResponses(_by_work))


_without_lifespan = RequestsWithoutLifespan()


async def _by_interface(scope: Scope, receive: Receive, send: Send) -> None:
    if is_for_v1(scope):
        await v1_application(scope, receive, send)
    else:
        await limited_django_application(scope, receive, send)


async def _probe(scope: Scope, receive: Receive, send: Send) -> None:
    """Who comes by the proxy is no probe, and is told nothing."""
    if passed_proxy(scope):
        await _by_interface(scope, receive, send)
    else:
        await health.application(scope, send)


# What is found by its whole path: probes, and the files of the web app.
_own_paths: dict[str, Application] = {
    **file_applications(otherwise=_by_interface),
    **dict.fromkeys(health.PATHS, _probe),
}


async def _route(scope: Scope, receive: Receive, send: Send) -> None:
    """Dispatch by kind, by the whole path, by host, and by the first segment of the path."""
    match scope["type"]:
        case "http" if own := _own_paths.get(scope["path"]):
            await own(scope, receive, send)
        case "http":
            await _by_interface(scope, receive, send)
        case "websocket":
            await sockets(scope, receive, send)


# Around the wait for a turn, too.
_traced = TracedRequests(
    FairAdmission(SecurityHeaders(RedirectToHttps(_route))), untraced=health.PATHS
)
_guarded = RequestLines(_traced, unlogged=health.PATHS)


async def application(scope: Scope, receive: Any, send: Any) -> None:
    """The ASGI application, for any server."""
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif _without_lifespan.are_expected:
        await _without_lifespan.run(_guarded(scope, receive, send))
    else:
        await _guarded(scope, receive, send)


def is_for_v1(scope: Scope) -> bool:
    """Paths under `/v1` on every host, all paths on the host of the API, and those of clients with
    a wrong base address, unless a browser opens a page there."""
    if is_public(scope["path"]):
        return True
    if settings.API_HOST and domain_of(scope["headers"]) == settings.API_HOST:
        return True
    is_meant = meant_by(scope["path"]) is not None
    return is_meant and not is_page(ASGIRequest(scope, BytesIO()))


async def lifespan(receive: Any, send: Any) -> None:
    """The lifespan protocol. Under a server without lifespan, the first call starts what calls
    need.

    A start that fails is said to the server, which ends the process. An error that left this would
    tell it that there is no lifespan here: it would serve, and never drain.
    """
    await receive()
    _without_lifespan.are_expected = False
    try:
        await _start()
    except (OSError, exporters.NotStarted) as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        return
    except Exception:
        await send({"type": "lifespan.startup.failed", "message": traceback.format_exc()})
        return
    collecting = asyncio.create_task(collect_garbage(COLLECT_SECONDS))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    collecting.cancel()
    await close()
    await asyncio.to_thread(exporters.stop)
    await send({"type": "lifespan.shutdown.complete"})


async def _start() -> None:
    metrics.start("web")
    exporters.start("web")
    await asyncio.to_thread(get_started)  # the first call does not wait for Redis
    _ = get_resolver().url_patterns  # imports all views
    spare_loaded_code()
    begin_with_sigterm()
