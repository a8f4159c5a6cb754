"""Authentication: an API key as a bearer token or in `x-api-key`. It is read from the database on
every request.

Nothing about a key is cached, so a revoked key fails from its next request on.
"""

from accounts import keys
from accounts.services.api_keys import rehash_key
from billing.errors import AccountDisabled, ApiAccessRequired, InvalidApiKey
from billing.selectors.api_keys import KeyHolder, find_key_holder
from common import request_line
from publicapi.v1.errors import MissingApiKey, RateLimitExceeded
from publicapi.v1.exchange import Exchange
from server import bodies
from server.rate_limit import Limit, get_rate_limiter

_WITHOUT_BEARER = "The word Bearer is missing: send `Authorization: Bearer mk_...`."
_NO_KEY = "This is no API key of this service: those begin with mk_. Copy it whole."
KEY_LIMIT = Limit(requests=120, window=60)


async def authenticate(exchange: Exchange) -> KeyHolder:
    """The holder of the key of an exchange; sets the rate headers of its answers. Raises, in this
    order: MissingApiKey, InvalidApiKey, RateLimitExceeded, AccountDisabled, ApiAccessRequired."""
    key = sent_key(exchange)
    if key is None:
        is_bare = keys.well_formed((exchange.header(b"authorization") or "").strip())
        raise MissingApiKey(_WITHOUT_BEARER if is_bare else None)
    digests = keys.digests(key) if keys.well_formed(key) else ()
    holder = await find_key_holder(digests) if digests else None
    if holder is None:
        raise InvalidApiKey(_mistake_in(key))
    line = request_line.current()
    line.api_key_id, line.account_id = holder.key_id, holder.account_id
    await _limit(exchange, holder)
    if holder.digest != digests[0]:
        await rehash_key(key_id=holder.key_id, raw=key)
    if not holder.active:
        raise AccountDisabled
    if not holder.api_access:
        raise ApiAccessRequired
    exchange.sender = bodies.user_of_long_ones(holder.account_id)
    return holder


def sent_key(exchange: Exchange) -> str | None:
    """The key that the client sent: a bearer token, or else `x-api-key`."""
    scheme, _, token = (exchange.header(b"authorization") or "").strip().partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    return bearer or (exchange.header(b"x-api-key") or "").strip() or None


def _mistake_in(key: str) -> str | None:
    """The sentence about a slip that people make when they copy a key; None where it is none."""
    if keys.well_formed(key):
        return None
    if keys.well_formed(key.strip("\"'`<> ")):
        return "The API key stands in quotes or brackets: send it without them."
    if key.lower().startswith("bearer"):
        return "The header says Bearer twice: send `Authorization: Bearer mk_...`."
    return _NO_KEY


async def _limit(exchange: Exchange, holder: KeyHolder) -> None:
    verdict = await get_rate_limiter().check(f"key:{holder.key_id}", KEY_LIMIT)
    exchange.headers += [
        (b"x-ratelimit-limit", str(KEY_LIMIT.requests).encode()),
        (b"x-ratelimit-remaining", str(verdict.remaining).encode()),
        (b"x-ratelimit-window", str(KEY_LIMIT.window).encode()),
    ]
    if not verdict.allowed:
        raise RateLimitExceeded(retry_after=max(1, verdict.retry_after))
