"""An identity provider like Google (OpenID Connect Core 1.0) that signs in any user.

`GET /identity/jwks` returns the keys that verify its ID tokens. `POST /identity/token` makes a
token, an invalid one on request. `/identity/authorize` is the page to which a web app sends its
users: its form signs them in with the name and address that they enter, and sends them back with a
token.
"""

import hashlib
import time
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import msgspec

from simulator import identity_page, jws
from simulator.connection import Connection
from simulator.exchange import Arrival
from simulator.provider import Json, Problem, Refused
from simulator.signing_keys import KeyRing, SigningKey

ISSUER = "https://identity.simulator.test"
CLIENT_ID = "simulator"
_LIFETIME = 3600  # seconds
# Google's set is cached for hours. Ours must be revalidated, because its keys change with each
# restart.
_CACHE = {"cache-control": "public, max-age=3600, must-revalidate, no-transform"}
_NOT_CACHED = {"cache-control": "no-store"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class TokenOptions(msgspec.Struct, forbid_unknown_fields=True):
    """The differences of a token from the usual one. `claims` and `header` replace the usual
    values; null leaves one out. `key` is the current key, the previous one, or one that is in no
    set."""

    claims: dict[str, Any] = {}
    header: dict[str, Any] = {}
    key: Literal["current", "previous", "foreign"] = "current"


async def jwks(arrival: Arrival) -> str:
    """The JSON Web Key Set (RFC 7517): the current key and the previous one."""
    keys = await arrival.memory.keys.keys()
    await arrival.connection.send_json(200, {"keys": [key.public for key in keys]}, _CACHE)
    return "completed"


async def rotate(arrival: Arrival) -> str:
    """Sign with a new key from now on. The current key stays in the set until the next rotation."""
    keys = await arrival.memory.keys.rotate()
    await arrival.connection.send_json(200, {"kid": keys[0].kid}, _NOT_CACHED)
    return "completed"


async def token(arrival: Arrival) -> str:
    """`{claims, header, key}`, all optional, see `TokenOptions`. Returns `{id_token}`."""
    try:
        options = msgspec.json.decode(arrival.body or b"{}", type=TokenOptions)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error
    key = await _key(arrival.memory.keys, options.key)
    id_token = _token(key, options.claims, options.header)
    await arrival.connection.send_json(200, {"id_token": id_token}, _NOT_CACHED)
    return "completed"


async def show_form(arrival: Arrival) -> str:
    """The sign-in form (OpenID Connect Core, 3.2: the implicit flow). The web app's query has
    `redirect_uri`, `client_id`, `nonce` and `state`."""
    query = arrival.connection.query
    await _send_page(arrival, identity_page.form(query))
    return "completed"


async def sign_in(arrival: Arrival) -> str:
    """Send the user back with `#id_token=...&state=...`, or show the token without a
    `redirect_uri`. The `redirect_uri` must be on this machine."""
    fields = dict(parse_qsl(arrival.body.decode("latin-1")))
    claims = {name: fields[name] for name in ("email", "name", "nonce") if name in fields}
    client = fields.get("client_id", CLIENT_ID)
    key = await _key(arrival.memory.keys, "current")
    id_token = _token(key, {"aud": client, "azp": client, **claims}, {})
    if target := fields.get("redirect_uri"):
        state = {"state": fields["state"]} if "state" in fields else {}
        fragment = urlencode({"id_token": id_token, **state})
        location = f"{on_this_machine(target)}#{fragment}"
        await arrival.connection.start(303, {"location": location, "content-length": "0"})
        await arrival.connection.end()
    else:
        await _send_page(arrival, identity_page.token(id_token))
    return "completed"


async def _key(ring: KeyRing, which: str) -> SigningKey:
    keys = await ring.keys()
    if which == "foreign":
        stranger = (await KeyRing().keys())[0]
        return SigningKey(keys[0].kid, stranger.private)
    if which == "previous" and len(keys) == 1:
        raise Refused(Problem(400, "There is no previous key before the first rotation."))
    return keys[0] if which == "current" else keys[1]


def _token(key: SigningKey, claims: Json, header: Json) -> str:
    """Raises `Refused` for an unknown algorithm."""
    usual = _usual_claims(str(claims.get("email", "alice@example.com")))
    header = _merged({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, header)
    try:
        return jws.sign(header, _merged(usual, claims), key.private)
    except KeyError as error:
        raise Refused(Problem(400, "`alg` is RS256, RS384, RS512, HS256 or none.")) from error


def _usual_claims(email: str) -> Json:
    """The claims that Google's tokens have. The subject is derived from the address."""
    now = int(time.time())
    return {
        "iss": ISSUER,
        "aud": CLIENT_ID,
        "azp": CLIENT_ID,
        "sub": str(int(hashlib.sha256(email.encode()).hexdigest(), 16))[:21],
        "email": email,
        "email_verified": True,
        "name": email.partition("@")[0].title(),
        "iat": now,
        "nbf": now,
        "exp": now + _LIFETIME,
        "jti": uuid4().hex,
    }


def _merged(usual: Json, special: Json) -> Json:
    return {name: value for name, value in (usual | special).items() if value is not None}


def on_this_machine(url: str) -> str:
    """`url` without its fragment. Raises `Refused` if it leads to another machine: tokens stay
    here."""
    try:
        parts = urlsplit(url)
        is_ours = parts.scheme in ("http", "https") and parts.hostname in _LOOPBACK
    except ValueError:
        is_ours = False
    # Browsers read a backslash as a slash, and so take another part for the host.
    if not is_ours or not url.isascii() or not url.isprintable() or "\\" in url:
        raise Refused(Problem(400, "The URL must be on this machine."))
    return parts._replace(fragment="").geturl()


async def _send_page(arrival: Arrival, page: str) -> None:
    headers = {"content-type": "text/html; charset=utf-8", **_NOT_CACHED}
    await arrival.connection.send_body(200, page.encode(errors="replace"), headers)


class IdentityProvider:
    """Its routes need no key: it serves one machine."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        """Accepts every request."""

    def error(self, problem: Problem, request_id: str) -> Json:
        """The error in the form of OAuth 2 (RFC 6749, 5.2)."""
        return {
            "error": problem.code or "invalid_request",
            "error_description": problem.message or f"HTTP status {problem.status}",
        }

    def headers(self, request_id: str) -> dict[str, str]:
        return {}
