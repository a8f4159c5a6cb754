"""Access tokens of Google's service accounts.

Protocol: RFC 7523, as in Google's "Using OAuth 2.0 for server to server applications": an assertion
that the account's key signs is exchanged for a token, which is the bearer of calls.
"""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar
from urllib.parse import urlencode

import jwt
import msgspec
from msgspec import Struct

from ai.providers.config import SIMULATED_KEY
from ai.providers.errors import ProviderUnavailable, RequestRefused, UpstreamError
from ai.providers.http_calls import HttpCall
from ai.providers.rest_calls import RestCalls
from common.http import UpstreamClient
from common.loop_local import LoopLocal

T = TypeVar("T")

_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_ASSERTION_SECONDS = 3600
_RENEWED_BEFORE_END = 300.0  # seconds


class ServiceAccount(Struct, frozen=True):
    """What is needed of the key file of a service account."""

    client_email: str
    private_key: str
    project_id: str
    token_uri: str


class _Answer(Struct):
    access_token: str
    expires_in: float


class _Token(Struct, frozen=True):
    """`renew_at` is a time of the monotonic clock."""

    value: str
    renew_at: float


_decode_account = msgspec.json.Decoder(ServiceAccount).decode
_decode_answer = msgspec.json.Decoder(_Answer).decode


def read_service_account(key: str) -> ServiceAccount | None:
    """The service account of a key file in JSON, or in base64 of that; None for anything else."""
    try:
        is_json = key.startswith("{")
        text = key.encode() if is_json else base64.b64decode("".join(key.split()), validate=True)
        return _decode_account(text)
    except ValueError:
        return None


class AccessTokens:
    """The access token of one service account, renewed before it ends.

    A key that is no service account's makes every call a ProviderUnavailable, but for that of the
    simulator, which takes its key as the token.
    """

    def __init__(self, key: str, client: UpstreamClient) -> None:
        self._account = read_service_account(key)
        self._client = client
        self._token = _Token(SIMULATED_KEY, float("inf")) if key == SIMULATED_KEY else None
        self._renewing = LoopLocal(asyncio.Lock)

    async def call(self, make: Callable[[Mapping[str, str]], Awaitable[T]], *, seconds: float) -> T:
        """What `make` brings, which gets the headers with the token; `seconds` are for the token
        alone.

        Where Google refuses the token, it has begun nothing: the call is made once more, with a new
        one. Raises ProviderErrors; an UpstreamError of the token itself is `retryable`.
        """
        token = await self._current(seconds)
        try:
            return await make(_headers(token))
        except ProviderUnavailable as error:
            if error.status != 401:
                raise
        if self._token is token:
            self._token = None
        return await make(_headers(await self._current(seconds)))

    async def _current(self, seconds: float) -> _Token:
        async with self._renewing.get():
            token = self._token
            if token is None or token.renew_at <= time.monotonic():
                token = self._token = await self._renew(seconds)
            return token

    async def _renew(self, seconds: float) -> _Token:
        account = self._account
        if account is None:
            raise ProviderUnavailable("key", turned_away=True, is_certain=True)
        fields = {"grant_type": _GRANT, "assertion": _assertion(account)}
        call = HttpCall(account.token_uri, _FORM, urlencode(fields).encode())
        asked_at = time.monotonic()
        try:
            answer = await RestCalls(self._client, seconds=seconds).post(call, _decode_answer)
        except (RequestRefused, ProviderUnavailable) as error:
            raise ProviderUnavailable("key", turned_away=True, is_certain=True) from error
        except UpstreamError as error:
            error.retryable = True
            raise
        return _Token(answer.access_token, asked_at + answer.expires_in - _RENEWED_BEFORE_END)


def _assertion(account: ServiceAccount) -> str:
    now = int(time.time())
    claims = {
        "iss": account.client_email,
        "scope": _SCOPE,
        "aud": account.token_uri,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
    }
    try:
        return jwt.encode(claims, account.private_key, "RS256")
    except (ValueError, TypeError, jwt.PyJWTError):
        raise ProviderUnavailable("key", turned_away=True, is_certain=True) from None


def _headers(token: _Token) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.value}"}
