"""How often one address may ask Django for something or open a socket, and how often it may try to
sign in."""

import asyncio
from random import SystemRandom

from common.asgi import Application, Receive, Scope, Send
from common.client_ip import client_ip
from common.errors import TooManyRequests
from common.ratelimit import Limit, get_rate_limiter
from common.refuse import refuse

# Who may guess passwords and tokens must not be able to do so faster while Redis is away.
AUTHENTICATION_LIMIT = Limit(requests=100, window=60, without_redis=True)
GENERAL_LIMIT = Limit(requests=1_000, window=60)

# An insistent client waits for its refusals: most ask again only when they have been answered. Each
# request waits for another while, because a thousand connections in step would go on in waves.
DELAY_SECONDS = (0.5, 2.5)
_random = SystemRandom()


class ClientLimit:
    """Answers 429 for `application` where a client has asked too often in the last minute."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_ip(scope)
        # A handshake for a WebSocket has no method of its own.
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
    """Would a client's requests be refused for a second and more, as far as this process knows?
    Handshakes are among these requests, those that authenticate are not."""
    return get_rate_limiter().refused_for(_general(client_ip(scope))) > 1


def _general(client: str) -> str:
    return f"general:{client}"


def is_for_authentication(method: str, path: str) -> bool:
    """Can it be used to guess passwords or tokens? A preflight carries nothing to guess with, nor
    does asking for the admin's form."""
    if path.startswith("/api/auth/"):
        return method != "OPTIONS"
    return path == "/admin/login/" and method not in ("GET", "HEAD", "OPTIONS")
