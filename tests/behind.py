"""The service's application on a machine whose clock is in another month, years ago, of which no
charge has a partition. `running_web(..., application="tests.behind:application")` serves it."""

import time
from datetime import UTC, date, datetime

MONTH = date(1975, 6, 1)
_real = time.time_ns
_behind = _real() - int(datetime(MONTH.year, MONTH.month, 9, tzinfo=UTC).timestamp()) * 10**9

time.time_ns = lambda: _real() - _behind
time.time = lambda: time.time_ns() / 10**9

from config.asgi import application  # noqa: E402 - it is imported by that clock

__all__ = ["application"]
