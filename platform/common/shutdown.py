"""How long a process may take to end after SIGTERM. DRAIN_SECONDS rules all of it:

running calls end by themselves     DRAIN_SECONDS, then they are stopped and settled
the server sends what they end with  SERVER_SECONDS more, then it cuts connections
a supervisor waits                  GRACE_SECONDS more than the drain, then it kills
"""

from collections.abc import Mapping

DEFAULT_DRAIN_SECONDS = 30
SERVER_SECONDS = 5
GRACE_SECONDS = 15


def drain_seconds(environ: Mapping[str, str]) -> int:
    """The seconds of DRAIN_SECONDS. Raises ValueError for what is no such number."""
    text = environ.get("DRAIN_SECONDS") or str(DEFAULT_DRAIN_SECONDS)
    if not text.isdecimal():
        raise ValueError(f"DRAIN_SECONDS must be a whole number of seconds, not {text!r}.")
    return int(text)
