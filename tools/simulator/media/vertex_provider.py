"""Google's sign-in of service accounts, and errors, on Vertex AI.

A service account signs an assertion (RFC 7523) and gets an access token for it, which is the bearer
of the calls. The query of its `token_uri` steers the token's end and failures: `expires_in` in
seconds, and `status`.
"""

import time
from dataclasses import dataclass
from urllib.parse import parse_qsl
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives import serialization

from simulator.connection import Connection
from simulator.exchange import Arrival
from simulator.google_provider import Google
from simulator.provider import WRONG_KEY, Problem, Refused
from simulator.signing_keys import SigningKey

PROJECT = "simulated-project"
_EMAIL = f"studio@{PROJECT}.iam.gserviceaccount.com"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
# Google's own client names this audience, whatever the address of the token endpoint is.
_AUDIENCE = "https://oauth2.googleapis.com/token"
_PREFIX = "ya29."
_LIFETIME = 3600  # seconds


@dataclass(frozen=True, slots=True)
class AccessToken:
    """Its end, in seconds of the monotonic clock."""

    ends_at: float


async def service_account(arrival: Arrival) -> str:
    """The key file of the one service account, as the console of Google Cloud makes it."""
    key = await _key(arrival)
    pem = key.private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "project_id": PROJECT,
        "private_key_id": key.kid,
        "private_key": pem.decode(),
        "client_email": _EMAIL,
        "client_id": "100000000000000000001",
        "token_uri": f"{arrival.connection.origin}/vertex/token",
        "universe_domain": "googleapis.com",
    }
    await arrival.connection.send_json(200, account)
    return "completed"


async def token(arrival: Arrival) -> str:
    """An access token for an assertion. Its errors are those of RFC 6749, 5.2."""
    query = arrival.connection.query
    fields = dict(parse_qsl(arrival.body.decode("latin-1")))
    error = None
    if "status" in query:
        error = {"error": "internal_failure", "error_description": "Steered by the query."}
    elif fields.get("grant_type") != _GRANT:
        error = {"error": "unsupported_grant_type", "error_description": "Invalid grant_type."}
    elif complaint := await _complaint(arrival, fields.get("assertion", "")):
        error = {"error": "invalid_grant", "error_description": complaint}
    if error is not None:
        await arrival.connection.send_json(int(query.get("status", "400")), error)
        return "refused"
    expires_in = int(query.get("expires_in", _LIFETIME))
    value = _PREFIX + uuid4().hex
    arrival.memory.access_tokens.keep(value, AccessToken(time.monotonic() + expires_in))
    answer = {"access_token": value, "expires_in": expires_in, "token_type": "Bearer"}
    await arrival.connection.send_json(200, answer)
    return "completed"


async def _complaint(arrival: Arrival, assertion: str) -> str | None:
    """What is wrong with an assertion."""
    key = await _key(arrival)
    own = f"{arrival.connection.origin}/vertex/token"
    try:
        claims = jwt.decode(
            assertion,
            key.private.public_key(),
            algorithms=["RS256"],
            audience=[_AUDIENCE, own],
            issuer=_EMAIL,
            options={"require": ["iss", "aud", "iat", "exp"]},
        )
    except jwt.PyJWTError as error:
        return f"Invalid JWT: {error}"
    if claims["exp"] - claims["iat"] > _LIFETIME:
        return "Invalid JWT: Token must be a short-lived token (60 minutes)."
    if _SCOPE not in str(claims.get("scope", "")).split():
        return "Invalid JWT: the scope is missing."
    return None


async def _key(arrival: Arrival) -> SigningKey:
    return (await arrival.memory.service_account.keys())[0]


def require_current_token(arrival: Arrival) -> None:
    """Raises `Refused` for a token of ours that has ended; other tokens and keys are accepted."""
    value = arrival.connection.headers["authorization"].partition(" ")[2].strip()
    if not value.startswith(_PREFIX):
        return
    found = arrival.memory.access_tokens.get(value)
    if found is None or found.ends_at <= time.monotonic():
        message = "Request had invalid authentication credentials."
        raise Refused(Problem(401, message, "ACCESS_TOKEN_EXPIRED"))


class Vertex(Google):
    """Google's errors; the access token, or a key, comes as the bearer."""

    def require_key(self, connection: Connection) -> None:
        scheme, _, value = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or value.strip() in ("", WRONG_KEY):
            raise Refused(Problem(401, code="CREDENTIALS_MISSING"))
