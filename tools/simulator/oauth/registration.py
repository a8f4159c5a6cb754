"""The one client that is registered with each authorization server."""

from simulator.oauth.exchange import Request

CLIENT_ID = "simulator"
CLIENT_SECRET = "simulator-secret"  # noqa: S105 - known to all, and good for nothing else


def is_authenticated(request: Request) -> bool:
    """Has the client shown its secret (RFC 6749, 2.3.1)? GitHub documents the body alone."""
    if request.host != "github" and request.basic is not None:
        return is_basic(request)
    form = request.form
    return (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)


def is_basic(request: Request) -> bool:
    """Has the client shown its secret with Basic authentication?"""
    return request.basic == (CLIENT_ID, CLIENT_SECRET)
