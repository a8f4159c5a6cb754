"""How long a process may take to end after SIGTERM. DRAIN_SECONDS rules all of it:

a web process still takes connections NOTICE_SECONDS, of the drain, while /readyz says 503
idle connections may bring a request  LINGER_SECONDS more, at most until the drain is over
running calls end by themselves       DRAIN_SECONDS, then they are stopped and settled
the server sends what they end with   SERVER_SECONDS more, then it cuts connections
a supervisor waits                    GRACE_SECONDS more than the drain, then it kills
"""

from collections.abc import Mapping

DEFAULT_DRAIN_SECONDS = 30
DEFAULT_NOTICE_SECONDS = 0
# Longer than the proxy keeps an idle connection to us (deploy/nginx): it is then the proxy that
# closes it, and no request is lost that it sends just when we do.
LINGER_SECONDS = 4
SERVER_SECONDS = 5
GRACE_SECONDS = 15


def drain_seconds(environ: Mapping[str, str]) -> int:
    """The seconds of DRAIN_SECONDS. Raises ValueError for what is no such number."""
    return _seconds(environ, "DRAIN_SECONDS", DEFAULT_DRAIN_SECONDS)


def notice_seconds(environ: Mapping[str, str]) -> int:
    """The seconds of NOTICE_SECONDS. Raises ValueError for what is no such number, and where no
    time would be left of the drain."""
    notice = _seconds(environ, "NOTICE_SECONDS", DEFAULT_NOTICE_SECONDS)
    if notice and notice >= (drain := drain_seconds(environ)):
        raise ValueError(
            f"NOTICE_SECONDS ({notice}) must be less than DRAIN_SECONDS ({drain}), which it is a "
            "part of."
        )
    return notice


def _seconds(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not text.isdecimal():
        raise ValueError(f"{name} must be a whole number of seconds, not {text!r}.")
    return int(text)
