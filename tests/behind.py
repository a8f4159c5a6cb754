"""The service's application on a machine whose clock began at the day BEHIND_SINCE, years ago.
`running_web(..., application="tests.behind:application", BEHIND_SINCE="1975-06-09")` serves it. It
is for a process of its own: whoever imports it lives then."""

import os
import time
from datetime import UTC, datetime

_since = datetime.fromisoformat(os.environ["BEHIND_SINCE"]).replace(tzinfo=UTC)
_real = time.time_ns
_behind = _real() - int(_since.timestamp()) * 10**9

time.time_ns = lambda: _real() - _behind
time.time = lambda: time.time_ns() / 10**9

from config.asgi import application  # noqa: E402 - it is imported by that clock

__all__ = ["application"]
