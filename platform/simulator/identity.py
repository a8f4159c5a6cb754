"""An identity provider as Google is one (OpenID Connect Core 1.0), for anybody one cares to be.

`GET /identity/jwks` tells the keys that its ID tokens are signed with. `POST /identity/token` makes
a token on the spot, a wrong one if asked to. `/identity/authorize` is the page that a web app sends
its users to: its form signs them in as whom they say, and sends them back with a token.
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
# Google's set is cached for hours; ours may have to be fetched again after every restart.
_CACHE = {"cache-control": "public, max-age=3600, must-revalidate, no-transform"}
_NOT_CACHED = {"cache-control": "no-store"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """What is to be special about a token. `claims` and `header` replace the usual ones, null
    leaves one out. `key` is the one in use, the one before it, or one that is in no set."""

    claims: dict[str, Any] = {}
    header: dict[str, Any] = {}
    key: Literal["current", "previous", "foreign"] = "current"


async def jwks(arrival: Arrival) -> str:
    """The JSON Web Key Set (RFC 7517): the key in use and the one before it."""
    keys = await arrival.memory.keys.keys()
    await arrival.connection.send_json(200, {"keys": [key.public for key in keys]}, _CACHE)
    return "completed"


async def rotate(arrival: Arrival) -> str:
    """Signs with a new key from now on; the one in use stays in the set until the next rotation."""
    keys = await arrival.memory.keys.rotate()
    await arrival.connection.send_json(200, {"kid": keys[0].kid}, _NOT_CACHED)
    return "completed"


async def token(arrival: Arrival) -> str:
    """`{claims, header, key}`, all optional, see `Wish`. Answers `{id_token}`."""
    try:
        wish = msgspec.json.decode(arrival.body or b"{}", type=Wish)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Refused(Problem(400, f"Invalid body: {error}")) from error
    key = await _key(arrival.memory.keys, wish.key)
    made = _token(key, wish.claims, wish.header)
    await arrival.connection.send_json(200, {"id_token": made}, _NOT_CACHED)
    return "completed"


async def show_form(arrival: Arrival) -> str:
    """Asks who is to be signed in (OpenID Connect Core, 3.2: the implicit flow). The query is that
    of a web app: `redirect_uri`, `client_id`, `nonce`, `state`."""
    query = arrival.connection.query
    await _send_page(arrival, identity_page.form(query))
    return "completed"


async def sign_in(arrival: Arrival) -> str:
    """Sends the user back with `#id_token=...&state=...`, or shows the token if there is no
    `redirect_uri`. It has to lie on this machine."""
    fields = dict(parse_qsl(arrival.body.decode("latin-1")))
    claims = {name: fields[name] for name in ("email", "name", "nonce") if name in fields}
    client = fields.get("client_id", CLIENT_ID)
    key = await _key(arrival.memory.keys, "current")
    made = _token(key, {"aud": client, "azp": client, **claims}, {})
    if target := fields.get("redirect_uri"):
        state = {"state": fields["state"]} if "state" in fields else {}
        fragment = urlencode({"id_token": made, **state})
        location = f"{_on_this_machine(target)}#{fragment}"
        await arrival.connection.start(303, {"location": location, "content-length": "0"})
        await arrival.connection.end()
    else:
        await _send_page(arrival, identity_page.token(made))
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
    """Raises `Refused` for an algorithm that is not known."""
    usual = _usual_claims(str(claims.get("email", "alice@example.com")))
    header = _merged({"alg": "RS256", "kid": key.kid, "typ": "JWT"}, header)
    try:
        return jws.sign(header, _merged(usual, claims), key.private)
    except KeyError as error:
        raise Refused(Problem(400, "`alg` is RS256, RS384, RS512, HS256 or none.")) from error


def _usual_claims(email: str) -> Json:
    """Those that Google's tokens have. The subject belongs to the address."""
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


def _on_this_machine(url: str) -> str:
    """`url` without its fragment. Raises `Refused` if it is another machine's: tokens stay here."""
    try:
        parts = urlsplit(url)
        is_ours = parts.scheme in ("http", "https") and parts.hostname in _LOOPBACK
    except ValueError:
        is_ours = False
    # Browsers take a backslash for a slash, and so another part for the host.
    if not is_ours or not url.isascii() or not url.isprintable() or "\\" in url:
        raise Refused(Problem(400, "`redirect_uri` must be a URL on this machine."))
    return parts._replace(fragment="").geturl()


async def _send_page(arrival: Arrival, page: str) -> None:
    headers = {"content-type": "text/html; charset=utf-8", **_NOT_CACHED}
    await arrival.connection.send_body(200, page.encode(errors="replace"), headers)


class IdentityProvider:
    """Its own routes are open to all: it is for one machine."""

    retry_after_header = True

    def require_key(self, connection: Connection) -> None:
        """None is asked for."""

    def error(self, problem: Problem, request_id: str) -> Json:
        """As OAuth 2 has it (RFC 6749, 5.2)."""
        return {
            "error": problem.code or "invalid_request",
            "error_description": problem.message or f"HTTP status {problem.status}",
        }

    def headers(self, request_id: str) -> dict[str, str]:
        return {}
