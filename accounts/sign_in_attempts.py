"""Finds out, in front of Django, whose password a request has hashed, and whether the account knows
its client."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import psycopg

from accounts.authentication import read_claims
from accounts.errors import InvalidToken
from accounts.services.known_clients import KNOWN_FOR, digest
from common.batching import Batcher
from common.database import DatabaseUnavailable, get_database
from common.loop_local import LoopLocal
from common.set_up import is_missing
from server.asgi import Scope
from server.client_ip import client_ip
from server.hash_turns import Attempt
from server.sign_in_queue import MAX_READ_BYTES

_KNOWN = """
SELECT digest FROM accounts_knownclient WHERE digest = ANY (%s::bytea[]) AND seen_at > %s
"""
# No account has a longer address.
MAX_EMAIL = 254
# Admin and `/api` call the address of the account so.
_FIELDS = {"/admin/login/": "username"}


async def read_attempt(scope: Scope, body: bytes) -> Attempt:
    """The attempt that a request with this body makes.

    The holder of an access token is known. An account is called by its address as it was typed, so
    that attempts are the same whether the account exists or not.
    """
    address = client_ip(scope)
    try:
        claims = read_claims(scope["headers"])
    except InvalidToken:
        claims = None
    if claims is not None:
        return Attempt(address, str(claims.user_id), is_known=True)
    values = _values(scope["path"], body)
    email = _text(values, _FIELDS.get(scope["path"], "email")).strip().lower()[:MAX_EMAIL]
    if not email:
        return Attempt(address)
    clients = [address, _device_id(values)]
    digests = [digest(email, client) for client in clients if client]
    return Attempt(address, email, is_known=await _is_known(digests))


async def _is_known(digests: list[bytes]) -> bool:
    """Nobody is while the database is away or not set up: the request will learn that itself."""
    try:
        return await _lookups.get().run(digests)
    except DatabaseUnavailable:
        return False
    except psycopg.Error as error:
        if is_missing(error):
            return False
        raise


async def _are_known(batch: list[list[bytes]]) -> list[bool]:
    """One statement for all attempts that come at the same time: an honest one does not wait for
    those of hundreds of guesses."""
    everything = [digest for digests in batch for digest in digests]
    since = datetime.now(UTC) - KNOWN_FOR
    rows = await get_database().rows(_KNOWN, (everything, since))
    known = {bytes(digest) for (digest,) in rows}
    return [not known.isdisjoint(digests) for digests in batch]


_lookups = LoopLocal(lambda: Batcher(_are_known, size=100, name="clients"))


def _values(path: str, body: bytes) -> dict[str, Any]:
    """The fields of a body; none where it is malformed, which the view will say."""
    if len(body) > MAX_READ_BYTES:
        return {}
    try:
        if path in _FIELDS:
            return {name: values[-1] for name, values in parse_qs(body.decode()).items()}
        values = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _device_id(values: dict[str, Any]) -> str:
    try:
        return str(UUID(_text(values, "device_id")))
    except ValueError:
        return ""
