"""Faults of the hosts on request, and the log of what they were asked."""

import time
from collections import deque
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

_KEPT = 20_000


class Fault(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What happens in place of an answer, or beside it.

    It is for an `operation` ("*" for any), of one host and one repository (`path`) where these are
    given: for `times` requests, after the first `skip` ones. `when` it is `after`, the operation is
    carried out before. A `status` is the host's own error with this `message`; `html` is a page in
    the place of JSON; `hang` and `drop` give no answer; `truncate` half of it; `rate_limited` are
    seconds; `delay_ms` only takes time. `commit` is a commit of somebody else, as in
    `/_githost/commits`, and the operation goes on.
    """

    operation: str
    host: str | None = None
    path: str | None = None
    times: Annotated[int, Meta(ge=1)] = 1
    skip: Annotated[int, Meta(ge=0)] = 0
    when: Literal["before", "after"] = "before"
    status: Annotated[int, Meta(ge=400, le=599)] | None = None
    message: str = "The request has failed."
    headers: dict[str, str] = {}
    html: bool = False
    hang: bool = False
    drop: bool = False
    truncate: bool = False
    rate_limited: int | None = None
    delay_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    commit: dict[str, Any] | None = None


@dataclass(slots=True)
class Asked:
    """A request in the log; `status` is 0 while there is no answer."""

    host: str
    operation: str
    method: str
    path: str
    login: str
    status: int = 0
    at: float = field(default_factory=time.time)


class Faults:
    """The faults that are due, and the log."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self.log: deque[Asked] = deque(maxlen=_KEPT)

    def add(self, faults: list[Fault]) -> None:
        self._faults += faults

    def clear(self) -> None:
        self._faults.clear()

    def take(self, asked: Asked, paths: Collection[str]) -> list[Fault]:
        """The faults of a request, which count it; `paths` are those of its repository."""
        due = []
        for fault in [*self._faults]:
            fits = fault.operation in ("*", asked.operation)
            fits = fits and fault.host in (None, asked.host)
            if not fits or fault.path not in (None, *paths):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times == 0:
                self._faults.remove(fault)
            due.append(fault)
        return due

    def shown(self) -> list[dict[str, Any]]:
        # Other threads append meanwhile.
        return [asdict(each) for each in self.log.copy()]
