"""The state machine of a circuit: pure functions, without a clock, a store or a lock.

             too many calls of the window have failed
    CLOSED ───────────────────────────────────────────> OPEN <─────────┐
       ^                                                 │ `open_seconds`
       │                                                 v             │
       └────────────── the probe is answered ─────── HALF-OPEN ────────┘
                                                           the probe fails

While half-open a circuit lets one call through at a time: the probe. A process that dies with the
probe holds it no longer than `probe_seconds`, because it is renewed meanwhile. A call that takes
longer than `longest_probe` makes room for the next: nobody else waits for its end, but its outcome
still counts.

The calls of one caller alone do not open a circuit through which others are served: what one user
sends must not close a provider for all. Failures of our own (a key, a quota) are everybody's.

The pattern is that of Nygard, "Release It!", chapter 5. Times are seconds of one clock that all
processes share.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

SLOTS = 6  # in a window: what is older than the window is forgotten a slot at a time
MAX_CALLERS = 2  # of a slot that are remembered: one, or more than one
MAX_EARLIER = 30  # probes that have made room and still run

State = Literal["closed", "open", "half_open"]


class Rules(Struct, frozen=True):
    """A circuit opens when, of at least `min_calls` calls in the last `window` seconds, at least
    the `share` (0 to 1) has failed. It then refuses calls for `open_seconds`."""

    window: float
    min_calls: int
    share: float
    open_seconds: float
    probe_seconds: float = 5.0
    longest_probe: float = 30.0

    @property
    def slot_seconds(self) -> float:
        return self.window / SLOTS


class Tally(Struct, frozen=True, array_like=True):
    """Calls of one slot, and up to MAX_CALLERS callers that were served and that were failed.
    `ours` counts those failures that are no caller's: they are among `failed`."""

    slot: int
    served: int = 0
    failed: int = 0
    ours: int = 0
    served_callers: tuple[int, ...] = ()
    failed_callers: tuple[int, ...] = ()

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.slot,
            self.served + other.served,
            self.failed + other.failed,
            self.ours + other.ours,
            _some((*self.served_callers, *other.served_callers)),
            _some((*self.failed_callers, *other.failed_callers)),
        )


class Circuit(Struct, frozen=True, array_like=True):
    """A circuit. `open_until` is 0 while it is closed, and the end of its refusals otherwise;
    `probe` names the call that is let through, until `probe_until`, which is at most `probe_ends`;
    `earlier` are those that were let through before it and have not told their end."""

    tallies: tuple[Tally, ...] = ()
    open_until: float = 0.0
    probe: str = ""
    probe_until: float = 0.0
    probe_ends: float = 0.0
    earlier: tuple[str, ...] = ()

    def state(self, now: float) -> State:
        if not self.open_until:
            return "closed"
        return "open" if now < self.open_until else "half_open"

    def wait(self, now: float) -> float:
        """Seconds until a call may be let through; 0 where that is now."""
        if now < self.open_until:
            return self.open_until - now
        is_probed = self.open_until and self.probe and now < self.probe_until
        return self.probe_until - now if is_probed else 0.0

    def counted(self, now: float, rules: Rules) -> Tally:
        """The calls of the window."""
        oldest = int(now / rules.slot_seconds) - SLOTS + 1
        return _sum(each for each in self.tallies if each.slot >= oldest)


CLOSED = Circuit()


class Count(Struct, frozen=True):
    """Calls that have ended."""

    tally: Tally


class Claim(Struct, frozen=True):
    """A call asks to be the probe."""

    probe: str


class Renew(Struct, frozen=True):
    """The probe goes on."""

    probe: str


class Release(Struct, frozen=True):
    """The probe has ended, and says nothing: somebody else may be the next."""

    probe: str


class Answered(Struct, frozen=True):
    """The probe was answered."""

    probe: str


class Broken(Struct, frozen=True):
    """The probe has failed."""

    probe: str


Event = Count | Claim | Renew | Release | Answered | Broken


def after(circuit: Circuit, event: Event, now: float, rules: Rules) -> Circuit:
    """The circuit after an event. An event of a call that was no probe since the circuit opened
    last, or of a call that began before that, changes nothing."""
    match event:
        case Count(tally):
            return circuit if circuit.open_until else _count(circuit, tally, now, rules)
        case Claim(probe):
            if circuit.state(now) != "half_open" or circuit.wait(now):
                return circuit
            return replace(
                circuit,
                probe=probe,
                probe_until=now + rules.probe_seconds,
                probe_ends=now + rules.longest_probe,
                earlier=_probes(circuit)[-MAX_EARLIER:],
            )
        case _ if event.probe not in _probes(circuit):
            return circuit
        case Renew(probe):
            until = min(now + rules.probe_seconds, circuit.probe_ends)
            return replace(circuit, probe_until=until) if probe == circuit.probe else circuit
        case Release(probe) if probe == circuit.probe:
            return replace(circuit, probe="", probe_until=0.0, probe_ends=0.0)
        case Release(probe):
            left = tuple(each for each in circuit.earlier if each != probe)
            return replace(circuit, earlier=left)
        case Answered():
            return CLOSED
        case Broken():
            return Circuit(open_until=now + rules.open_seconds)


def _probes(circuit: Circuit) -> tuple[str, ...]:
    return (*circuit.earlier, circuit.probe) if circuit.probe else circuit.earlier


def _count(circuit: Circuit, tally: Tally, now: float, rules: Rules) -> Circuit:
    newest = int(now / rules.slot_seconds)
    oldest = newest - SLOTS + 1
    tallies = {each.slot: each for each in circuit.tallies if oldest <= each.slot <= newest}
    if oldest <= tally.slot <= newest:
        tallies[tally.slot] = tallies.get(tally.slot, Tally(tally.slot)) + tally
    if tally.failed and _is_broken(_sum(tallies.values()), rules):
        return Circuit(open_until=now + rules.open_seconds)
    return Circuit(tuple(tallies.values()))


def _is_broken(window: Tally, rules: Rules) -> bool:
    calls = window.served + window.failed
    if calls < rules.min_calls or window.failed < rules.share * calls:
        return False
    failed, served = set(window.failed_callers), set(window.served_callers)
    is_one_callers = not window.ours and len(failed) == 1 and bool(served - failed)
    return not is_one_callers


def _sum(tallies: Iterable[Tally]) -> Tally:
    return sum(tallies, Tally(0))


def _some(callers: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(callers))[:MAX_CALLERS]
