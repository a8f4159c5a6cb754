"""Limits per client address: requests to Django, sockets, and sign-in attempts."""

import asyncio
from random import SystemRandom

from common.errors import TooManyRequests
from server.asgi import Application, Receive, Scope, Send
from server.client_ip import client_ip
from server.rate_limit import Limit, get_rate_limiter
from server.refuse import refuse

# Guessing passwords and tokens must not become faster while Redis is away.
AUTHENTICATION_LIMIT = Limit(requests=100, window=60, without_redis=True)
GENERAL_LIMIT = Limit(requests=1_000, window=60)

# Refusals are delayed, because most clients ask again only when they are answered. The delay is
# random: a thousand connections with the same delay would come in waves.
DELAY_SECONDS = (0.5, 2.5)
_random = SystemRandom()


class ClientLimit:
    """Answers 429 for `application` where a client has asked too often in the last minute."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_ip(scope)
        # A WebSocket handshake has no method.
        if is_for_authentication(scope.get("method", "GET").upper(), scope["path"]):
            name, limit = f"authentication:{client}", AUTHENTICATION_LIMIT
        else:
            name, limit = _general(client), GENERAL_LIMIT
        verdict = await get_rate_limiter().check(name, limit)
        if verdict.allowed:
            await self._application(scope, receive, send)
            return
        if verdict.is_insistent:
            await asyncio.sleep(_random.uniform(*DELAY_SECONDS))
        await refuse(scope, send, TooManyRequests(retry_after=verdict.retry_after))


def is_refused_for_longer(scope: Scope) -> bool:
    """Will this process refuse the client's requests for a second or more? Handshakes are among
    these requests, sign-in attempts are not."""
    return get_rate_limiter().refused_for(_general(client_ip(scope))) > 1


def _general(client: str) -> str:
    return f"general:{client}"


def is_for_authentication(method: str, path: str) -> bool:
    """Can the request be used to guess passwords or tokens? A preflight and a GET of the admin's
    form cannot."""
    if path.startswith(("/api/auth/", "/api/teams/invites/")):
        return method != "OPTIONS"
    return path == "/admin/login/" and method not in ("GET", "HEAD", "OPTIONS")
