"""Callers whose own calls fail: they are refused alone, and briefly.

A failure is a caller's own only where it is proven that the provider answers others: a call that
began after the first failure of the row was served to its end, or a probe was. So nobody is refused
because a provider is down; what is not proven within the window is forgotten, and what an open
circuit explains is forgiven.

A caller is refused at one model after some failures in a row there, and at all models after so many
in a window: the quota. Free accounts of one network share one.

This is what one process knows. What is proven is counted in Redis, for all processes, which say who
is refused. Not safe for threads: the status cache locks.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from ai.provider_health.name import Name

# What a process remembers: callers with rows of failures, failures without a proof, refusals.
MAX_ROWS = 10_000
MAX_UNPROVEN = 10_000
MAX_REFUSED = 10_000
# Seconds: the longest refusal because of a row, and after how long without a failure a row is over.
LONGEST_PAUSE = 60.0
ROW_SECONDS = 60.0


class CallerRules(Struct, frozen=True):
    """After `in_a_row` failures in a row a caller is refused at the model for `pause` seconds, and
    for as much longer with each further one, to LONGEST_PAUSE. `quota` failures in `window` seconds
    are a caller's limit, `free_quota` that of a network of free accounts."""

    in_a_row: int
    pause: float
    window: float
    quota: int
    free_quota: int


class Caller(Struct, frozen=True):
    """Whose call it is. `network` is that of a free account, empty where it is not known, and None
    for other accounts."""

    account_id: UUID
    network: str | None = None

    @property
    def payer(self) -> str:
        """Whose quota a failed call counts against."""
        return f"network:{self.network}" if self.network else f"account:{self.account_id.hex}"

    def at(self, name: Name) -> str:
        """The caller at one model."""
        return f"account:{self.account_id.hex}@{name}"


class Share(Struct, frozen=True):
    """What is to be counted for all processes: failures of payers (and whether they are free), and
    of callers at a model in a row; and the callers whose rows a served call has ended, before those
    failures."""

    failures: Counter[tuple[str, bool]]
    rows: Counter[str]
    served: set[str]

    @property
    def is_empty(self) -> bool:
        return not (self.failures or self.served)


class _Row(Struct):
    """Failures of a caller at a model in this process, without a served call between them."""

    since: float
    last: float


class _Unproven(Struct, frozen=True):
    """A failure of a row that began at `since`; `row` is empty where it is over."""

    at: float
    since: float
    name: Name
    row: str
    payer: str
    is_free: bool


class Callers:
    """The callers that this process knows of. Times are of the clock that all processes share."""

    def __init__(self, rules: Callable[[], CallerRules]) -> None:
        self._rules = rules
        self._rows: OrderedDict[str, _Row] = OrderedDict()
        self._unproven: deque[_Unproven] = deque(maxlen=MAX_UNPROVEN)
        self._refused: dict[str, float] = {}
        # Are there rows of other processes that a served call may end?
        self._are_others = False
        self._share = _nothing()

    def wait(self, caller: Caller, name: Name, now: float) -> float:
        """Seconds for which a call is refused; 0 where it is let through."""
        if not self._refused:
            return 0.0
        keys = {caller.at(name), caller.payer}
        return max(0.0, *(self._refused.get(key, 0.0) - now for key in keys))

    def failed(self, caller: Caller, name: Name, now: float) -> None:
        """A call has failed."""
        key = caller.at(name)
        row = self._rows.pop(key, None)
        if row is None or row.last < now - ROW_SECONDS:
            row = _Row(now, now)
        row.last = now
        self._rows[key] = row
        while len(self._rows) > MAX_ROWS:
            self._rows.popitem(last=False)
        is_free = caller.network is not None
        self._unproven.append(_Unproven(now, row.since, name, key, caller.payer, is_free))

    def served(self, caller: Caller, name: Name) -> None:
        """A call was served: the row is over."""
        if not (self._rows or self._are_others):
            return
        key = caller.at(name)
        self._share.rows.pop(key, None)
        self._share.served.add(key)
        if self._rows.pop(key, None):
            ended = (replace(each, row="") if each.row == key else each for each in self._unproven)
            self._unproven = deque(ended, maxlen=MAX_UNPROVEN)

    def forgive(self, name: Name) -> None:
        """The circuit of the model is open: what has failed there was no caller's fault."""
        if any(each.name == name for each in self._unproven):
            for key in {each.row for each in self._unproven if each.name == name}:
                self._rows.pop(key, None)
            self._keep(lambda each: each.name != name)

    def prove(self, now: float, sound_from: Callable[[Name], float]) -> None:
        """Count the failures that are proven to be their callers' own, and forget old ones.
        `sound_from` says when the newest call began that the provider has served."""
        oldest = now - self._rules().window
        for each in self._unproven:
            if sound_from(each.name) > each.since:
                self._share.failures[each.payer, each.is_free] += 1
                if each.row:
                    self._share.rows[each.row] += 1
        self._keep(lambda each: each.at > oldest and sound_from(each.name) <= each.since)

    def take_share(self) -> Share:
        """What has to be told. It counts as told unless it is put back."""
        share, self._share = self._share, _nothing()
        return share

    def put_back(self, share: Share) -> None:
        """What could not be told, for another attempt; where it is too much, it is forgotten."""
        if len(share.failures) + len(share.served) < MAX_UNPROVEN:
            self._share.failures.update(share.failures)
            over = self._share.served
            self._share.rows.update({key: n for key, n in share.rows.items() if key not in over})
            self._share.served.update(share.served)

    def hear(self, refused: Mapping[str, float], are_rows: bool, now: float) -> None:
        """What all processes know together: who is refused, until when; are there any rows?"""
        self._refused = {key: until for key, until in refused.items() if until > now}
        self._are_others = are_rows

    def _keep(self, is_kept: Callable[[_Unproven], bool]) -> None:
        if self._unproven:
            self._unproven = deque(filter(is_kept, self._unproven), maxlen=MAX_UNPROVEN)


def _nothing() -> Share:
    return Share(Counter(), Counter(), set())
