"""Callers whose own calls fail: they are refused alone, and briefly.

A failure is a caller's own only where it is proven that the provider answers others: a call that
began after the failure was served to its end, or a probe was. So nobody is refused because a
provider is down; what is not proven within the window is forgotten, and what an open circuit
explains is forgiven.

A caller is refused at one model after some failures in a row there, and at all models after so many
in a window: the quota. Free accounts of one network share one.

This is the knowledge of one process; refusals and quotas are shared through Redis. Not safe for
threads: the board locks.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from uuid import UUID

from msgspec import Struct

from health.name import Name

# What a process remembers: streaks of callers, failures without a proof, refusals.
MAX_STREAKS = 10_000
MAX_UNPROVEN = 10_000
MAX_REFUSED = 10_000
LONGEST_PAUSE = 60.0  # seconds


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
    """What the other processes do not know yet: failures to count, by payer and whether it is free,
    and refusals with their ends."""

    failures: Counter[tuple[str, bool]]
    refused: dict[str, float]


class _Streak(Struct):
    """Failures in a row of a caller at a model; the first ended at `since`."""

    since: float
    failures: int = 0


class _Unproven(Struct, frozen=True):
    at: float
    name: Name
    payer: str
    is_free: bool


class Callers:
    """The callers that this process knows of. `sound_from(name)`: when the newest call began that
    the provider has served; times are of the clock that all processes share."""

    def __init__(self, rules: Callable[[], CallerRules]) -> None:
        self._rules = rules
        self._streaks: OrderedDict[tuple[UUID, Name], _Streak] = OrderedDict()
        self._unproven: deque[_Unproven] = deque(maxlen=MAX_UNPROVEN)
        self._refused: dict[str, float] = {}
        self._share = Share(Counter(), {})

    def wait(self, caller: Caller, name: Name, now: float) -> float:
        """Seconds for which a call is refused; 0 where it is let through."""
        if not self._refused:
            return 0.0
        keys = {caller.at(name), caller.payer}
        return max(0.0, *(self._refused.get(key, 0.0) - now for key in keys))

    @property
    def refused(self) -> int:
        """How many refusals this process knows of."""
        return len(self._refused)

    def failed(self, caller: Caller, name: Name, now: float, sound_from: float) -> None:
        """A call has failed."""
        rules, key = self._rules(), (caller.account_id, name)
        streak = self._streaks.pop(key, None) or _Streak(now)
        streak.failures += 1
        self._streaks[key] = streak
        while len(self._streaks) > MAX_STREAKS:
            self._streaks.popitem(last=False)
        self._unproven.append(_Unproven(now, name, caller.payer, caller.network is not None))
        beyond = streak.failures - rules.in_a_row + 1
        if beyond > 0 and sound_from > streak.since:
            until = now + min(rules.pause * beyond, LONGEST_PAUSE)
            self._refused[caller.at(name)] = self._share.refused[caller.at(name)] = until

    def served(self, caller: Caller, name: Name) -> None:
        """A call was served."""
        self._streaks.pop((caller.account_id, name), None)

    def forgive(self, name: Name) -> None:
        """The circuit of the model is open: what has failed there was no caller's fault."""
        for key in [key for key in self._streaks if key[1] == name]:
            del self._streaks[key]
        self._keep(lambda each: each.name != name)

    def prove(self, now: float, sound_from: Callable[[Name], float]) -> None:
        """Count the failures that are proven to be their callers' own, and forget old ones."""
        oldest = now - self._rules().window
        for each in self._unproven:
            if sound_from(each.name) > each.at:
                self._share.failures[each.payer, each.is_free] += 1
        self._keep(lambda each: each.at > oldest and sound_from(each.name) <= each.at)

    def take_share(self) -> Share:
        """What has to be told. It counts as told unless it is put back."""
        share, self._share = self._share, Share(Counter(), {})
        return share

    def put_back(self, share: Share) -> None:
        """What could not be told, for another attempt."""
        self._share.failures.update(share.failures)
        self._share.refused.update({**share.refused, **self._share.refused})

    def hear(self, refused: Mapping[str, float], now: float) -> None:
        """What all processes know together. What this one has not told yet comes on top."""
        known = {**refused, **self._share.refused}
        self._refused = {key: until for key, until in known.items() if until > now}

    def _keep(self, is_kept: Callable[[_Unproven], bool]) -> None:
        if self._unproven:
            self._unproven = deque(filter(is_kept, self._unproven), maxlen=MAX_UNPROVEN)
