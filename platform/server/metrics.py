"""What is counted of requests, and of those that are refused in front of the applications."""

import time

from common.errors import DomainError
from observability.metrics.instruments import CALL_SECONDS, STEP_SECONDS, counter, gauge, histogram
from observability.metrics.labels import Declared, FirstSeen

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STATUSES = frozenset({"2xx", "3xx", "4xx", "5xx", "none"})
# Routes are those of the code. There are about 250.
ROUTES = FirstSeen(400)
QUEUES = frozenset({"requests", "anonymous", "orders", "sign_in"})

requests = counter(
    "platform_requests_total",
    "Requests that were answered, by the pattern of their route.",
    method=METHODS,
    route=ROUTES,
    status=STATUSES,
)
request_seconds = histogram(
    "platform_request_seconds",
    "From the arrival of a request to its answer, or to the end of a stream of /v1.",
    (0.005, *CALL_SECONDS),
    method=METHODS,
    route=ROUTES,
)
front_refusals = counter(
    "platform_front_refusals_total",
    "Requests and sockets that were refused in front of Django, by the code of the error.",
    code=Declared(DomainError, "code"),
)
limit_refusals = counter(
    "platform_limit_refusals_total",
    "Requests above a rate limit.",
    limit=frozenset({"authentication", "files", "general", "key"}),
)
turn_seconds = histogram(
    "platform_turn_wait_seconds",
    "Time that a request to Django waits for its turn.",
    STEP_SECONDS,
    queue=QUEUES,
)
turns_waiting = gauge("platform_turns_waiting", "Requests that wait for a turn.", queue=QUEUES)
open_streams = gauge(
    "platform_open_streams",
    "Responses that are being streamed.",
    interface=frozenset({"api", "v1"}),
)
v1_streams, api_streams = open_streams.labels("v1"), open_streams.labels("api")


def count_request(method: str, route: str, status: int | None, began_at: float) -> None:
    """A request was answered; `began_at` is of the monotonic clock. The status is None where the
    client had gone before."""
    requests.labels(method, route, f"{status // 100}xx" if status else "none").inc()
    request_seconds.labels(method, route).observe(time.monotonic() - began_at)
