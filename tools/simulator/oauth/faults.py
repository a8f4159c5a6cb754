"""Faults on request, and the log of what was asked. Neither knows a secret."""

import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from simulator.oauth.tokens import HostName

Endpoint = Literal[
    "authorize", "token", "refresh", "revoke", "about", "files", "file", "media", "export"
]
_KEPT = 10_000


class Fault(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What happens in place of an answer, or before it.

    It is for `times` requests to an endpoint of a server, after the first `skip` ones. `token` is
    the exchange of a code, `refresh` that of a refresh token; `authorize` is both the page and its
    form. A request has one fault, the oldest that is due. `when` it is `after`, the request is
    carried out, and its answer is lost.

    `status`, `html` and `body` are another answer; its status is 200 where none is given. Without a
    body it is an error in the server's own form, with the server's `code` of the error. `headers`
    and `retry_after` (seconds) go with it. `hang` and `drop` give no answer; `delay_ms` alone only
    takes time.
    """

    server: HostName
    endpoint: Endpoint
    times: Annotated[int, Meta(ge=1)] = 1
    skip: Annotated[int, Meta(ge=0)] = 0
    when: Literal["before", "after"] = "before"
    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    code: str | None = None
    body: Any = None
    html: str | None = None
    headers: dict[str, str] = {}
    retry_after: Annotated[int, Meta(ge=0)] | None = None
    hang: bool = False
    drop: bool = False
    delay_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0


@dataclass(slots=True)
class Asked:
    """A request in the log; `status` is 0 while there is no answer. `at` is in Unix seconds."""

    server: HostName
    endpoint: Endpoint
    method: str
    grant_type: str | None
    status: int = 0
    at: float = field(default_factory=time.time)


class Faults:
    """The faults that are to come, and the log."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._log: deque[Asked] = deque(maxlen=_KEPT)

    def add(self, faults: list[Fault]) -> None:
        self._faults += faults

    def clear(self) -> None:
        self._faults.clear()

    def record(self, asked: Asked) -> Fault | None:
        """Write a request to the log. Returns its fault: the oldest one that is due."""
        self._log.append(asked)
        due = None
        for fault in self._faults:
            if (fault.server, fault.endpoint) != (asked.server, asked.endpoint):
                continue
            if fault.skip > 0:
                fault.skip -= 1
            elif due is None:
                due = fault
                fault.times -= 1
        self._faults = [fault for fault in self._faults if fault.times > 0]
        return due

    def shown(self) -> list[dict[str, Any]]:
        """The log, oldest first."""
        return [asdict(asked) for asked in self._log]

    def forget(self) -> None:
        """Empty the log."""
        self._log.clear()
