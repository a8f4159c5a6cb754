"""The public keys of an identity provider (JSON Web Key Set, RFC 7517), fetched and kept."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jwt
import structlog

from accounts.errors import IdentityProviderUnavailable
from integrations.safe_http.client import Client
from integrations.safe_http.errors import OutboundError

# The only accepted algorithm, whatever a token's header names.
ALGORITHM = "RS256"

# Keys older than this are fetched again; until that works, older ones serve up to the limit.
REFRESH_AFTER = 3600.0
USABLE_FOR = 6 * 3600.0
# Seconds between two attempts: with keys, and without.
PAUSE = 30.0
PAUSE_WITHOUT_KEYS = 5.0

_MAX_BYTES = 64 * 1024

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _KeySet:
    """The keys by their ids, fetched at `since`; `tried` is the time of the last attempt."""

    keys: Mapping[str, jwt.PyJWK]
    since: float
    tried: float


class SigningKeys:
    """The signing keys of a provider, for all threads of the process.

    One thread at a time fetches, and not before the pause since the last attempt is over: unknown
    key ids do not make us ask the provider at will. `clock` gives seconds; `timeout` is the number
    of seconds that the whole answer may take.
    """

    def __init__(
        self, url: str, *, clock: Callable[[], float] = time.monotonic, timeout: float = 3.0
    ) -> None:
        self._url = url
        self._clock = clock
        self._timeout = timeout
        self._set = _KeySet({}, since=-math.inf, tried=-math.inf)
        self._fetching = threading.Lock()

    def find(self, name: str) -> jwt.PyJWK | None:
        """The key with that id, None if the provider has no such key. Raises
        IdentityProviderUnavailable if no keys are known."""
        if self._is_due(name):
            self._refresh(name)
        if not self._is_usable():
            raise IdentityProviderUnavailable(retry_after=int(PAUSE_WITHOUT_KEYS))
        return self._set.keys.get(name)

    def _refresh(self, name: str) -> None:
        """Fetch, or let another thread do so; a thread that has keys does not wait for it."""
        if not self._fetching.acquire(timeout=0 if self._is_usable() else self._timeout):
            return
        try:
            if self._is_due(name):
                self._set = self._fetched()
        finally:
            self._fetching.release()

    def _is_due(self, name: str) -> bool:
        age = self._clock() - self._set.since
        if name in self._set.keys and age <= REFRESH_AFTER:
            return False
        pause = PAUSE if self._is_usable() else PAUSE_WITHOUT_KEYS
        return self._clock() - self._set.tried >= pause

    def _is_usable(self) -> bool:
        return self._clock() - self._set.since <= USABLE_FOR

    def _fetched(self) -> _KeySet:
        """The provider's keys, or the known ones if the provider does not answer."""
        try:
            keys = _read_keys(_download(self._url, self._timeout))
        except (OutboundError, ValueError) as error:
            log.warning("identity_provider_unavailable", url=self._url, reason=repr(error))
            return replace(self._set, tried=self._clock())
        return _KeySet(keys, since=self._clock(), tried=self._clock())


@cache
def signing_keys(url: str) -> SigningKeys:
    """The keys at `url`, kept for the life of the process."""
    return SigningKeys(url)


def _download(url: str, seconds: float) -> object:
    """The key set, as parsed JSON. Raises OutboundError, or ValueError for another status than
    200."""
    with Client(url) as client:
        answer = client.request("GET", seconds=seconds, max_bytes=_MAX_BYTES, media_types=())
    if answer.status != 200:
        raise ValueError(f"status {answer.status}")
    return answer.json()


def _read_keys(document: object) -> dict[str, jwt.PyJWK]:
    """The RSA keys of a set that are for signatures. Raises ValueError if there is none."""
    listed = document.get("keys") if isinstance(document, dict) else None
    keys = {}
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and (key := _read_key(entry)) is not None:
            keys[key.key_id or ""] = key
    if not keys:
        raise ValueError("no keys")
    return keys


def _read_key(entry: Mapping[str, Any]) -> jwt.PyJWK | None:
    """The key, from the fields of its public half alone."""
    name = entry.get("kid")
    is_ours = entry.get("use", "sig") == "sig" and entry.get("alg", ALGORITHM) == ALGORITHM
    if not is_ours or not isinstance(name, str):
        return None
    try:
        public = {field: entry.get(field) for field in ("kty", "n", "e")}
        return jwt.PyJWK({**public, "kid": name}, ALGORITHM)
    except jwt.PyJWTError:
        return None
